//! Statements that define.

use super::tokens::{Kind, Statements, Token, written};
use super::{Column, Database, MAX_COLUMNS, MAX_TABLES, Table};

/// Takes a file's statements in their order.
pub(in crate::generate) fn run(text: &str, database: &mut Database) {
    for (tokens, is_whole) in Statements::of(text) {
        let line = tokens.first().map_or(1, |t| t.line);
        let mut words = Words { tokens: &tokens };
        if statement(&mut words, is_whole, database).is_none() {
            let shown: Vec<&str> = tokens.iter().take(6).map(|t| t.raw).collect();
            database.unread.push((line, shown.join(" ")));
        }
    }
}

/// The rest of a statement.
struct Words<'s, 't> {
    tokens: &'s [Token<'t>],
}

impl<'s, 't> Words<'s, 't> {
    fn take(&mut self) -> Option<Token<'t>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    /// Takes a word where it is the next one.
    fn eat(&mut self, word: &str) -> bool {
        let is_next = self.tokens.first().is_some_and(|t| t.is(word));
        if is_next {
            self.take();
        }
        is_next
    }

    fn eat_all(&mut self, words: &[&str]) {
        for word in words {
            self.eat(word);
        }
    }

    /// A name with what it is in; the schemas that everything is in by default are left out.
    fn name(&mut self) -> Option<String> {
        let mut parts = Vec::new();
        loop {
            let token = self.take().filter(|t| matches!(t.kind, Kind::Word | Kind::Name))?;
            parts.push(token.name());
            if !self.tokens.first().is_some_and(|t| t.is_sign('.')) {
                break;
            }
            self.take();
        }
        if parts.len() > 1
            && parts.first().is_some_and(|p| ["public", "main", "dbo"].contains(&p.to_lowercase().as_str()))
        {
            parts.remove(0);
        }
        Some(parts.join("."))
    }

    /// What is in the parentheses that come next, by the commas outside of inner ones; the rest stays.
    fn list(&mut self) -> Option<Vec<&'s [Token<'t>]>> {
        if !self.tokens.first()?.is_sign('(') {
            return None;
        }
        let mut depth = 0_usize;
        let end = self.tokens.iter().position(|token| {
            depth += usize::from(token.is_sign('('));
            depth -= usize::from(token.is_sign(')'));
            depth == 0
        })?;
        let inside = self.tokens.get(1..end)?;
        self.tokens = self.tokens.get(end + 1..)?;
        Some(apart(inside))
    }
}

/// Tokens by commas outside of parentheses.
fn apart<'s, 't>(tokens: &'s [Token<'t>]) -> Vec<&'s [Token<'t>]> {
    let mut depth = 0_usize;
    let parts = tokens.split(|token| {
        depth += usize::from(token.is_sign('('));
        depth = depth.saturating_sub(usize::from(token.is_sign(')')));
        depth == 0 && token.is_sign(',')
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// `None`: it defines something, and cannot be read.
fn statement(words: &mut Words<'_, '_>, is_whole: bool, database: &mut Database) -> Option<()> {
    if words.eat("create") {
        words.eat_all(&[
            "or",
            "replace",
            "global",
            "local",
            "temp",
            "temporary",
            "unlogged",
            "foreign",
            "materialized",
        ]);
        if words.eat("virtual") {
            return words.eat("table").then(|| virtual_table(words, database)).flatten();
        }
        if words.eat("table") {
            return create_table(words, is_whole, database);
        }
        let is_unique = words.eat("unique");
        words.eat_all(&["clustered", "nonclustered"]);
        if words.eat("index") {
            return index(words, is_unique, database);
        }
        if words.eat("view") {
            words.eat_all(&["if", "not", "exists"]);
            let name = words.name()?;
            database.views.insert(name.to_lowercase(), name);
        } else if words.eat("type") {
            let name = words.name()?;
            if words.eat("as") && words.eat("enum") {
                let values = words.list()?;
                let values = values.iter().filter_map(|v| v.first()).map(|t| t.name().to_owned()).collect();
                database.enums.insert(name, values);
            }
        }
        return Some(());
    }
    if words.eat("alter") {
        if words.eat("type") {
            let name = words.name()?;
            if words.eat("add") && words.eat("value") {
                words.eat_all(&["if", "not", "exists"]);
                let value = words.take()?.name().to_owned();
                database.enums.get_mut(&name)?.push(value);
            }
            return Some(());
        }
        return if words.eat("table") { alter_table(words, database) } else { Some(()) };
    }
    if words.eat("drop") {
        drop(words, database);
    }
    Some(())
}

fn drop(words: &mut Words<'_, '_>, database: &mut Database) {
    words.eat("materialized");
    let what = words.take();
    let is = |word: &str| what.is_some_and(|t| t.is(word));
    words.eat_all(&["concurrently", "if", "exists"]);
    for part in apart(words.tokens) {
        let Some(name) = (Words { tokens: part }).name() else { continue };
        if is("table") {
            database.tables.remove(&name.to_lowercase());
        } else if is("view") {
            database.views.remove(&name.to_lowercase());
        } else if is("type") {
            database.enums.remove(&name);
        } else if is("index") {
            for table in database.tables.values_mut() {
                table.indexes.retain(|(index, _)| !index.eq_ignore_ascii_case(&name));
            }
        }
    }
}

fn create_table(words: &mut Words<'_, '_>, is_whole: bool, database: &mut Database) -> Option<()> {
    words.eat_all(&["if", "not", "exists"]);
    let name = words.name()?;
    if !is_whole && words.tokens.is_empty() {
        return None;
    }
    let mut table = Table { name: name.clone(), ..Table::default() };
    if words.eat("partition") && words.eat("of") {
        let of = words.name()?;
        table.note = format!("a partition of {of}");
    } else {
        for part in words.list()? {
            define(&mut table, part)?;
        }
    }
    if database.tables.len() < MAX_TABLES {
        // `IF NOT EXISTS` keeps what is there.
        database.tables.entry(name.to_lowercase()).or_insert(table);
    }
    Some(())
}

fn virtual_table(words: &mut Words<'_, '_>, database: &mut Database) -> Option<()> {
    words.eat_all(&["if", "not", "exists"]);
    let name = words.name()?;
    if !words.eat("using") {
        return None;
    }
    let module = words.name()?;
    let mut table =
        Table { name: name.clone(), note: format!("a virtual table of {module}"), ..Table::default() };
    for part in words.list().unwrap_or_default() {
        match part {
            [only] => table.columns.push(Column { name: only.name().to_owned(), ..Column::default() }),
            more => table.rules.push(written(more)),
        }
    }
    if database.tables.len() < MAX_TABLES {
        database.tables.entry(name.to_lowercase()).or_insert(table);
    }
    Some(())
}

/// Words that begin a rule of a table and not a column.
const RULES: [&str; 11] = [
    "constraint",
    "primary",
    "unique",
    "foreign",
    "check",
    "key",
    "index",
    "fulltext",
    "spatial",
    "exclude",
    "period",
];

/// Words that end a column's type.
const ENDS: [&str; 19] = [
    "not",
    "null",
    "primary",
    "unique",
    "default",
    "references",
    "check",
    "collate",
    "generated",
    "auto_increment",
    "autoincrement",
    "constraint",
    "comment",
    "on",
    "identity",
    "as",
    "encode",
    "compression",
    "stored",
];

fn is_one_of(token: &Token<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| token.is(word))
}

/// A column or a rule.
fn define(table: &mut Table, part: &[Token<'_>]) -> Option<()> {
    let first = part.first()?;
    if is_one_of(first, &RULES) && part.len() > 1 || first.is("like") {
        table.rules.push(written(part));
    } else {
        let column = column(part)?;
        table.columns.retain(|c| !c.name.eq_ignore_ascii_case(&column.name));
        if table.columns.len() < MAX_COLUMNS {
            table.columns.push(column);
        }
    }
    Some(())
}

fn column(part: &[Token<'_>]) -> Option<Column> {
    let (first, rest) = part.split_first().filter(|(t, _)| matches!(t.kind, Kind::Word | Kind::Name))?;
    let end = rest.iter().position(|t| is_one_of(t, &ENDS)).unwrap_or(rest.len());
    let (kind, rules) = rest.split_at_checked(end)?;
    Some(Column { name: first.name().to_owned(), kind: written(kind), rules: written(rules) })
}

fn index(words: &mut Words<'_, '_>, is_unique: bool, database: &mut Database) -> Option<()> {
    words.eat_all(&["concurrently", "if", "not", "exists"]);
    let name = if words.tokens.first().is_some_and(|t| t.is("on")) { String::new() } else { words.name()? };
    if !words.eat("on") {
        return None;
    }
    words.eat("only");
    let on = words.name()?;
    let rest = written(words.tokens);
    let table = database.tables.get_mut(&on.to_lowercase())?;
    if table.indexes.len() < MAX_COLUMNS {
        table.indexes.push((name, if is_unique { format!("unique, {rest}") } else { rest }));
    }
    Some(())
}

fn alter_table(words: &mut Words<'_, '_>, database: &mut Database) -> Option<()> {
    words.eat_all(&["if", "exists", "only"]);
    let mut key = words.name()?.to_lowercase();
    for action in apart(words.tokens) {
        let mut words = Words { tokens: action };
        if words.eat("rename") {
            if words.eat("to") {
                let mut table = database.tables.remove(&key)?;
                table.name = words.name()?;
                key = table.name.to_lowercase();
                database.tables.insert(key.clone(), table);
                continue;
            }
            words.eat("column");
            if let (Some(old), true) = (words.name(), words.eat("to")) {
                let new = words.name()?;
                database.tables.get_mut(&key)?.column(&old)?.name = new;
            }
            continue;
        }
        change(database.tables.get_mut(&key)?, &mut words)?;
    }
    Some(())
}

impl Table {
    fn column(&mut self, name: &str) -> Option<&mut Column> {
        self.columns.iter_mut().find(|c| c.name.eq_ignore_ascii_case(name))
    }
}

fn change(table: &mut Table, words: &mut Words<'_, '_>) -> Option<()> {
    if words.eat("add") {
        words.eat("column");
        words.eat_all(&["if", "not", "exists"]);
        if words.tokens.first().is_some_and(|t| t.is_sign('(')) {
            return words.list()?.into_iter().try_for_each(|part| define(table, part));
        }
        return define(table, words.tokens);
    }
    if words.eat("drop") {
        let is_rule =
            words.eat("constraint") || words.eat("index") || words.eat("key") || words.eat("foreign");
        words.eat_all(&["key", "column", "if", "exists"]);
        let Some(name) = words.name() else { return Some(()) };
        if is_rule {
            table
                .rules
                .retain(|rule| !rule.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == name));
        } else {
            table.columns.retain(|c| !c.name.eq_ignore_ascii_case(&name));
        }
        return Some(());
    }
    let is_change = words.eat("change");
    if is_change || words.eat("modify") {
        words.eat("column");
        let old = if is_change { Some(words.name()?) } else { None };
        let new = column(words.tokens)?;
        *table.column(old.as_deref().unwrap_or(&new.name))? = new.clone();
        return Some(());
    }
    if words.eat("alter") {
        words.eat("column");
        let name = words.name()?;
        return alter_column(table.column(&name)?, words);
    }
    // Owners, triggers, storage: nothing that a reader of the schema asks for.
    Some(())
}

fn alter_column(column: &mut Column, words: &mut Words<'_, '_>) -> Option<()> {
    let without = |rules: &str, word: &str| match rules.to_lowercase().find(word) {
        Some(at) => {
            let (before, rest) = rules.split_at_checked(at).unwrap_or((rules, ""));
            let rest = rest.get(word.len()..).unwrap_or_default().trim_start();
            // The value of a default goes with it: one word, or what is in quotes or parentheses.
            let rest =
                if word == "default" { rest.split_once(' ').map_or("", |(_, rest)| rest) } else { rest };
            format!("{} {}", before.trim_end(), rest).trim().to_owned()
        }
        None => rules.to_owned(),
    };
    let add = |rules: &str, more: &str| format!("{rules} {more}").trim().to_owned();
    let is_drop = words.eat("drop");
    let is_set = !is_drop && words.eat("set");
    words.eat("data");
    if words.eat("type") {
        let end = words.tokens.iter().position(|t| t.is("using")).unwrap_or(words.tokens.len());
        column.kind = written(words.tokens.get(..end)?);
    } else if words.eat("not") {
        column.rules = without(&column.rules, "not null");
        if is_set {
            column.rules = add(&column.rules, "NOT NULL");
        }
    } else if words.eat("default") {
        column.rules = without(&column.rules, "default");
        if is_set {
            column.rules = add(&column.rules, &format!("DEFAULT {}", written(words.tokens)));
        }
    } else if !is_set && !is_drop && !words.tokens.is_empty() {
        // SQL Server: the whole definition again.
        let end = words.tokens.iter().position(|t| is_one_of(t, &ENDS)).unwrap_or(words.tokens.len());
        let (kind, rules) = words.tokens.split_at_checked(end)?;
        (column.kind, column.rules) = (written(kind), written(rules));
    }
    Some(())
}
