//! The tables that SQL statements leave behind, whatever database they are for: what defines tables is read, types and rules are
//! kept as they are written. What looks like a definition and is none to this reader is named, never guessed.

mod read;
mod tokens;

use std::collections::BTreeMap;

pub(super) use read::run;

/// Most tables, columns of one, and indexes.
const MAX_TABLES: usize = 1_000;
const MAX_COLUMNS: usize = 1_000;

/// A database as statements leave it.
#[derive(Debug, Default)]
pub(super) struct Database {
    /// By name in lower case.
    pub(super) tables: BTreeMap<String, Table>,
    /// Enumerations and their values.
    pub(super) enums: BTreeMap<String, Vec<String>>,
    pub(super) views: BTreeMap<String, String>,
    /// What could not be read: a line and what is there.
    pub(super) unread: Vec<(usize, String)>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// Keys and checks of the table, as written.
    pub(super) rules: Vec<String>,
    /// Name and the rest of the definition.
    pub(super) indexes: Vec<(String, String)>,
    /// What it is, where it is no ordinary table.
    pub(super) note: String,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) rules: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(texts: &[&str]) -> (Database, String) {
        let mut database = Database::default();
        for text in texts {
            run(text, &mut database);
        }
        let mut out = String::new();
        for table in database.tables.values() {
            let columns: Vec<String> = table
                .columns
                .iter()
                .map(|c| format!("{} {} {}", c.name, c.kind, c.rules).trim().to_owned())
                .collect();
            out.push_str(&format!("{}: {}", table.name, columns.join(", ")));
            for rule in &table.rules {
                out.push_str(&format!("; {rule}"));
            }
            for (name, index) in &table.indexes {
                out.push_str(&format!("; index {name} {index}"));
            }
            out.push('\n');
        }
        (database, out)
    }

    #[test]
    fn tables_are_read_in_every_dialect() {
        let (database, out) = shown(&[r#"
            -- a comment; with a semicolon
            CREATE TABLE IF NOT EXISTS "public"."users" (
                id bigserial PRIMARY KEY,  -- the key
                "full name" varchar(20) NOT NULL DEFAULT 'a, b; c''d',
                price numeric(10, 2) CHECK (price > 0),
                at timestamp with time zone DEFAULT now(),
                tags text[],
                CONSTRAINT users_price UNIQUE (price, at),
                FOREIGN KEY (id) REFERENCES other (id) ON DELETE CASCADE
            );
            CREATE TABLE `orders` (`id` int(11) unsigned NOT NULL AUTO_INCREMENT, KEY `by_id` (`id`)) ENGINE=InnoDB;
            create table [dbo].[Lines] ([Id] int identity(1,1) not null);
            CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS by_name ON users USING btree (lower("full name")) WHERE price > 1;
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE OR REPLACE VIEW v AS SELECT 1;
            CREATE VIRTUAL TABLE words USING fts5(title, body, content='');
            INSERT INTO users VALUES (1, 'CREATE TABLE no (x int);');
            CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN CREATE TABLE no2 (x int); END; $$ LANGUAGE plpgsql;
            /* CREATE TABLE no3 (x int); */
        "#]);
        assert_eq!(
            out,
            "Lines: Id int identity(1,1) not null\n\
             orders: id int(11) unsigned NOT NULL AUTO_INCREMENT; KEY `by_id` (`id`)\n\
             users: id bigserial PRIMARY KEY, full name varchar(20) NOT NULL DEFAULT 'a, b; c''d', price numeric(10, 2) CHECK (price > 0), \
             at timestamp with time zone DEFAULT now(), tags text[]; CONSTRAINT users_price UNIQUE (price, at); \
             FOREIGN KEY (id) REFERENCES other (id) ON DELETE CASCADE; index by_name unique, USING btree (lower(\"full name\")) WHERE price > 1\n\
             words: title, body; content=''\n"
        );
        assert_eq!(database.enums.get("mood").unwrap(), &["sad", "ok"]);
        assert_eq!(database.views.keys().collect::<Vec<_>>(), ["v"]);
        assert_eq!(database.unread, []);
    }

    #[test]
    fn migrations_change_what_others_made() {
        let (database, out) = shown(&[
            "CREATE TABLE a (id int, old text, gone int); CREATE TABLE b (x int); CREATE INDEX i ON a (old);",
            "ALTER TABLE a ADD COLUMN IF NOT EXISTS n text NOT NULL, DROP COLUMN gone, ALTER COLUMN id TYPE bigint USING id::bigint;
             ALTER TABLE ONLY a RENAME COLUMN old TO new; ALTER TABLE a ADD CONSTRAINT k CHECK (n <> '');
             ALTER TABLE a ALTER n DROP NOT NULL; ALTER TABLE a ALTER n SET DEFAULT 'x';
             DROP TABLE IF EXISTS b CASCADE; DROP INDEX i;",
            "ALTER TABLE a RENAME TO c; CREATE TYPE t AS ENUM ('x'); ALTER TYPE t ADD VALUE 'y' AFTER 'x'; ALTER TABLE c OWNER TO me;
             ALTER TABLE c MODIFY COLUMN n varchar(3) NULL; ALTER TABLE c ADD (d int, e int);",
        ]);
        assert_eq!(
            out,
            "c: id bigint, new text, n varchar(3) NULL, d int, e int; CONSTRAINT k CHECK (n <> '')\n"
        );
        assert_eq!(database.enums.get("t").unwrap(), &["x", "y"]);
        assert_eq!(database.unread, []);
    }

    #[test]
    fn what_is_undone_by_a_tool_is_not_read() {
        let (_, out) = shown(&[
            "-- +goose Up\nCREATE TABLE a (id int);\n-- +goose Down\nDROP TABLE a;\n",
            "-- migrate:up\nCREATE TABLE b (id int);\n-- migrate:down\nDROP TABLE b;\n",
        ]);
        assert_eq!(out, "a: id int\nb: id int\n");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let (database, out) = shown(&[
            "CREATE TABLE x AS SELECT 1;\n\nCREATE TABLE;\nALTER TABLE nobody ADD COLUMN a int;\nCREATE TABLE open (a int",
        ]);
        assert_eq!(out, "");
        let lines: Vec<usize> = database.unread.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 4, 5]);
    }
}
