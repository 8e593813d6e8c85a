//! The document of databases.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::Body;
use super::sql::{Database, Table};
use crate::ground::tree::parent;
use crate::mark::Source;
use crate::md::{code, head, row, text};

/// Most databases of one document.
const MAX_DATABASES: usize = 16;

pub(super) fn body(sources: &[(Source, String)]) -> Body {
    // What lies in one folder makes one database.
    let mut databases: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (source, content) in sources {
        if let Some(place) = database(&source.path) {
            databases.entry(place).or_default().push((&source.path, content));
        }
    }
    let mut out = String::from("# Database schema\n\n");
    let (mut left_out, mut says) = (Vec::new(), false);
    for (count, (place, mut files)) in databases.into_iter().enumerate() {
        if count >= MAX_DATABASES {
            left_out.push(format!("{place}: only {MAX_DATABASES} databases are shown"));
            continue;
        }
        files.sort_by(|a, b| naturally(a.0, b.0));
        let mut made = Database::default();
        for (path, content) in &files {
            let before = made.unread.len();
            if path.to_lowercase().ends_with(".prisma") {
                super::prisma::run(content, &mut made);
            } else {
                super::sql::run(content, &mut made);
            }
            left_out
                .extend(made.unread.iter().skip(before).map(|(line, what)| format!("{path}:{line}: {what}")));
        }
        if made.tables.is_empty() && made.enums.is_empty() && made.views.is_empty() {
            continue;
        }
        says = true;
        let from = if files.len() == 1 { "one file" } else { "the files in it, in their order" };
        out.push_str(&format!("## {}\n\nFrom {from}.\n\n", code(&place)));
        write(&made, &mut out);
    }
    Body { says, text: out, left_out }
}

/// The folder whose files make a database; one folder up where each migration has its own. `None`: what undoes a migration.
fn database(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let undoes = name == "down.sql"
        || name.ends_with(".down.sql")
        || name.ends_with("_down.sql")
        || name.ends_with(".undo.sql")
        || (name.starts_with('u')
            && name.get(1..2).is_some_and(|c| c.bytes().all(|b| b.is_ascii_digit()))
            && name.contains("__"));
    if undoes {
        return None;
    }
    let folder = parent(path);
    Some(match name.as_str() {
        "up.sql" | "migration.sql" => parent(folder).to_owned(),
        "schema.sql" | "schema.prisma" => path.to_owned(),
        _ => folder.to_owned(),
    })
}

/// Numbers by their value: migrations 2 and 10 as they are run.
fn naturally(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.chars().peekable(), b.chars().peekable());
    loop {
        let (Some(x), Some(y)) = (a.peek().copied(), b.peek().copied()) else {
            return a.peek().is_some().cmp(&b.peek().is_some());
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let number = |of: &mut std::iter::Peekable<std::str::Chars<'_>>| {
                let mut digits = String::new();
                while let Some(digit) = of.next_if(char::is_ascii_digit) {
                    if !(digits.is_empty() && digit == '0') {
                        digits.push(digit);
                    }
                }
                digits
            };
            let (x, y) = (number(&mut a), number(&mut b));
            x.len().cmp(&y.len()).then(x.cmp(&y))
        } else {
            a.next();
            b.next();
            x.cmp(&y)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn write(database: &Database, out: &mut String) {
    for table in database.tables.values() {
        one(table, out);
    }
    if !database.enums.is_empty() {
        out.push_str("### Enumerations\n\n");
        for (name, values) in &database.enums {
            let values: Vec<String> = values.iter().take(100).map(|v| code(v)).collect();
            out.push_str(&format!("- {}: {}\n", code(name), values.join(", ")));
        }
        out.push('\n');
    }
    if !database.views.is_empty() {
        let views: Vec<String> = database.views.values().map(|v| code(v)).collect();
        out.push_str(&format!("### Views\n\n{}\n\n", views.join(", ")));
    }
}

fn one(table: &Table, out: &mut String) {
    out.push_str(&format!("### {}\n\n", code(&table.name)));
    if !table.note.is_empty() {
        out.push_str(&format!("It is {}.\n\n", text(&table.note, 200)));
    }
    if !table.columns.is_empty() {
        out.push_str(&head(&["column", "type", "rules"]));
        for column in &table.columns {
            out.push_str(&row(&[code(&column.name), code(&column.kind), code(&column.rules)]));
        }
        out.push('\n');
    }
    let rules = table.rules.iter().map(|rule| format!("- {}\n", code(rule)));
    let indexes = table.indexes.iter().map(|(name, rest)| {
        let name = if name.is_empty() { String::new() } else { format!(" {}", code(name)) };
        format!("- index{name}: {}\n", code(rest))
    });
    let lines: String = rules.chain(indexes).collect();
    if !lines.is_empty() {
        out.push_str(&lines);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_run_by_their_numbers() {
        let mut names = ["10_b.sql", "2_a.sql", "0001_x.sql", "2_a10.sql", "2_a9.sql", "2_a.sql2"];
        names.sort_by(|a, b| naturally(a, b));
        assert_eq!(names, ["0001_x.sql", "2_a.sql", "2_a.sql2", "2_a9.sql", "2_a10.sql", "10_b.sql"]);
    }

    #[test]
    fn folders_are_databases() {
        for (path, place) in [
            ("m/1.sql", Some("m")),
            ("migrations/2020_x/up.sql", Some("migrations")),
            ("migrations/2020_x/down.sql", None),
            ("m/1_x.down.sql", None),
            ("m/U2__x.sql", None),
            ("m/users.sql", Some("m")),
            ("db/schema.sql", Some("db/schema.sql")),
        ] {
            assert_eq!(database(path).as_deref(), place, "{path}");
        }
    }
}
