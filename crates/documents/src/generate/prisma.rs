//! Models of a Prisma schema (Prisma's reference, "Prisma schema"): blocks of lines.

use super::sql::{Column, Database, Table};

/// Most lines of a block.
const MAX_LINES: usize = 1_000;

/// Takes a file's models as tables and its enumerations.
pub(super) fn run(text: &str, database: &mut Database) {
    let mut open: Option<(Block, usize)> = None;
    for (number, line) in text.lines().enumerate() {
        let line = uncommented(line).trim();
        if line.is_empty() {
            continue;
        }
        let Some((block, begun)) = &mut open else {
            let mut words = line.split_whitespace();
            let (Some(kind), Some(name), Some("{")) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let block = match kind {
                "model" | "view" | "type" => Block::Table(Table {
                    name: name.to_owned(),
                    note: if kind == "model" { String::new() } else { format!("a {kind}") },
                    ..Table::default()
                }),
                "enum" => Block::Enum(name.to_owned(), Vec::new()),
                _ => Block::Other,
            };
            open = Some((block, number + 1));
            continue;
        };
        if line != "}" {
            block.line(line, number - *begun);
            continue;
        }
        match open.take() {
            Some((Block::Table(table), _)) => {
                database.tables.insert(table.name.to_lowercase(), table);
            }
            Some((Block::Enum(name, values), _)) => {
                database.enums.insert(name, values);
            }
            _ => {}
        }
    }
    if let Some((_, begun)) = open {
        database.unread.push((begun, "a block that is never closed".to_owned()));
    }
}

enum Block {
    Table(Table),
    Enum(String, Vec<String>),
    Other,
}

impl Block {
    fn line(&mut self, line: &str, number: usize) {
        if number > MAX_LINES {
            return;
        }
        match self {
            Self::Table(table) if line.starts_with("@@") => table.rules.push(line.to_owned()),
            Self::Table(table) => {
                let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                let rest = rest.trim_start();
                let (kind, rules) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                table.columns.push(Column {
                    name: name.to_owned(),
                    kind: kind.to_owned(),
                    rules: rules.trim_start().to_owned(),
                });
            }
            Self::Enum(_, values) => values
                .extend(line.split_whitespace().next().filter(|v| !v.starts_with("@@")).map(str::to_owned)),
            Self::Other => {}
        }
    }
}

/// Without its comment; `//` in a text is none.
fn uncommented(line: &str) -> &str {
    let mut is_text = false;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match c {
            '"' if before != '\\' => is_text = !is_text,
            '/' if !is_text && line.get(at..).is_some_and(|rest| rest.starts_with("//")) => {
                return line.get(..at).unwrap_or(line);
            }
            _ => {}
        }
        before = c;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read() {
        let mut database = Database::default();
        run(
            "datasource db {\n  provider = \"postgresql\"\n  url = \"postgres://x\" // c\n}\n\nmodel User {\n  id    Int     @id @default(autoincrement())\n  \
             /// documented\n  posts Post[]\n  site  String? @default(\"http://x\") // why\n  @@index([site])\n}\nenum Role {\n  ADMIN\n  USER @map(\"u\")\n}\nmodel Open {\n",
            &mut database,
        );
        let user = database.tables.get("user").unwrap();
        let columns: Vec<_> =
            user.columns.iter().map(|c| (c.name.as_str(), c.kind.as_str(), c.rules.as_str())).collect();
        assert_eq!(
            columns,
            [
                ("id", "Int", "@id @default(autoincrement())"),
                ("posts", "Post[]", ""),
                ("site", "String?", "@default(\"http://x\")")
            ]
        );
        assert_eq!(user.rules, ["@@index([site])"]);
        assert_eq!(database.enums.get("Role").unwrap(), &["ADMIN", "USER"]);
        assert_eq!(database.tables.len(), 1);
        assert_eq!(database.unread.len(), 1);
    }
}
