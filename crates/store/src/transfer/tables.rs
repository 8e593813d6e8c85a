//! The tables that are written out and read in, once, as data. A test compares them with what the databases have: a migration
//! that adds a table or a column is not forgotten here.

use super::row::{Cell, Row};
use super::rows;
use crate::sql::Sql;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A whole number of 64 bits.
    Int,
    /// A text without NUL.
    Text,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// Whether it may hold nothing.
    pub maybe: bool,
    /// The schema that it came with. Exports of older ones do not have it.
    pub since: i64,
}

/// A table.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The schema that it came with. Exports of older ones do not have it.
    pub since: i64,
    /// Its columns, in the order of an export's rows.
    pub columns: &'static [Column],
    /// Its primary key, which rows are ordered by.
    pub key: &'static [&'static str],
    /// Whether a row is one that a write of this program could have left.
    pub(super) check: fn(&Row<'_>) -> rows::Checked,
    /// All of it, in the order of an export.
    pub(super) all: Sql,
    /// Takes the rows of a JSON list in.
    pub(super) take: Sql,
    /// How many rows it has.
    pub(super) count: Sql,
    /// In PostgreSQL: the numbers that are given from now on are beyond those that are there.
    pub(super) number_on: Option<&'static str>,
}

impl Table {
    /// The table of a name, of those that a schema had, and which one it is.
    pub(super) fn of(name: &str, schema: i64) -> Option<(usize, &'static Self)> {
        TABLES.iter().enumerate().find(|(_, table)| table.name == name && table.since <= schema)
    }

    /// Its columns in a schema.
    pub(super) fn columns_of(&self, schema: i64) -> impl Iterator<Item = (usize, &'static Column)> {
        self.columns.iter().enumerate().filter(move |(_, column)| column.since <= schema)
    }

    /// What a row is ordered by.
    pub(super) fn key_of(&self, cells: &[Cell]) -> Vec<Cell> {
        let of = |name: &str| {
            let at = self.columns.iter().position(|column| column.name == name);
            at.and_then(|at| cells.get(at)).cloned().unwrap_or(Cell::Nothing)
        };
        self.key.iter().map(|name| of(name)).collect()
    }
}

/// Tables that are not written out, and why. What is derived is made again when a file is read in.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("note_tags", "derived from the notes' tags"),
    ("note_words", "derived from the notes by the crate words"),
    ("request_log", "what a server was asked, for a week"),
    ("rate", "counts of the current minute"),
    ("mirror", "copies of another server's answers"),
    ("leases", "who does what for the next minutes"),
];

macro_rules! column {
    ($name:ident $kind:ident $since:literal => $later:literal) => {
        column!($name $kind $later)
    };
    ($name:ident int $since:literal) => {
        Column { name: stringify!($name), holds: Holds::Int, maybe: false, since: $since }
    };
    ($name:ident maybe_int $since:literal) => {
        Column { name: stringify!($name), holds: Holds::Int, maybe: true, since: $since }
    };
    ($name:ident text $since:literal) => {
        Column { name: stringify!($name), holds: Holds::Text, maybe: false, since: $since }
    };
    ($name:ident maybe_text $since:literal) => {
        Column { name: stringify!($name), holds: Holds::Text, maybe: true, since: $since }
    };
}

/// A column of a row that stands in a JSON list.
macro_rules! taken {
    ($name:ident int) => {
        concat!("CAST(j.value ->> '", stringify!($name), "' AS BIGINT)")
    };
    ($name:ident maybe_int) => {
        taken!($name int)
    };
    ($name:ident text) => {
        concat!("j.value ->> '", stringify!($name), "'")
    };
    ($name:ident maybe_text) => {
        taken!($name text)
    };
}

macro_rules! numbered {
    ($table:ident) => {
        None
    };
    ($table:ident $number:ident) => {
        Some(concat!(
            "SELECT setval(pg_get_serial_sequence('",
            stringify!($table),
            "', '",
            stringify!($number),
            "'), (SELECT max(",
            stringify!($number),
            ") FROM ",
            stringify!($table),
            "))"
        ))
    };
}

/// A table: since which schema, by which key, with which column that the database numbers, as what its rows are checked.
macro_rules! tables {
    ($(
        $table:ident since $since:literal by ($key:ident $(, $keys:ident)*) $(numbers $number:ident)? as $check:path {
            $first:ident: $first_kind:ident,
            $($column:ident: $kind:ident $(since $later:literal)?,)*
        }
    )*) => {
        /// The tables that are written out, in the order of an export: what others refer to stands before them.
        pub const TABLES: &[Table] = &[$(Table {
            name: stringify!($table),
            since: $since,
            columns: &[
                column!($first $first_kind $since),
                $(column!($column $kind $since $(=> $later)?)),*
            ],
            key: &[stringify!($key) $(, stringify!($keys))*],
            check: $check,
            all: Sql::both(concat!(
                "SELECT ", stringify!($first), $(", ", stringify!($column),)* " FROM ", stringify!($table),
                " ORDER BY ", stringify!($key) $(, ", ", stringify!($keys))*
            )),
            take: Sql::new(
                concat!(
                    "INSERT INTO ", stringify!($table), " (", stringify!($first), $(", ", stringify!($column),)*
                    ") SELECT ", taken!($first $first_kind), $(", ", taken!($column $kind),)*
                    " FROM json_each($1) AS j"
                ),
                concat!(
                    "INSERT INTO ", stringify!($table), " (", stringify!($first), $(", ", stringify!($column),)*
                    ") SELECT ", taken!($first $first_kind), $(", ", taken!($column $kind),)*
                    " FROM json_array_elements($1::json) AS j(value)"
                ),
            ),
            count: Sql::both(concat!("SELECT count(*) FROM ", stringify!($table))),
            number_on: numbered!($table $($number)?),
        }),*];
    };
}

tables! {
    runs since 1 by (number) numbers number as rows::run {
        number: int,
        root: text,
        tool: text,
        scope: text,
        revision: maybe_text,
        dirty: int,
        branch: maybe_text,
        at: int,
        transcript: maybe_text,
        verdicts: maybe_text,
    }
    tests since 1 by (root, id) as rows::test {
        root: text,
        id: text,
        revision: text,
        branch: maybe_text,
        at: int,
    }
    failures since 1 by (entry) numbers entry as rows::failure {
        entry: int,
        root: text,
        id: text,
        report: text,
        failed_run: int,
    }
    lines since 1 by (entry, branch) as rows::line {
        entry: int,
        branch: text,
        state: text,
        tool: maybe_text,
        scope: maybe_text,
        latest: int,
        memory: text,
    }
    sessions since 2 by (number) numbers number as rows::session {
        number: int,
        id: text,
        agent: text,
        venture: text,
        repo: text,
        track: text,
        status: text,
        client: maybe_text,
        client_version: maybe_text,
        machine: maybe_text,
        branch: maybe_text,
        commit_id: maybe_text,
        issue: maybe_int,
        started: int,
        heartbeat: int,
        ended: maybe_int,
        reason: maybe_text,
        version: int,
        principal: text,
        started_commit: maybe_text since 3,
    }
    handoffs since 2 by (number) numbers number as rows::handoff {
        number: int,
        id: text,
        session: text,
        venture: text,
        repo: text,
        track: text,
        agent: text,
        machine: maybe_text,
        summary: text,
        status: text,
        issue: maybe_int,
        anchor: maybe_text,
        payload: maybe_text,
        at: int,
    }
    checkpoints since 2 by (number) numbers number as rows::checkpoint {
        number: int,
        id: text,
        session: text,
        ordinal: int,
        summary: text,
        anchor: maybe_text,
        payload: maybe_text,
        at: int,
    }
    notes since 2 by (number) numbers number as rows::note {
        number: int,
        id: text,
        place: int,
        venture: maybe_text,
        title: text,
        tags: text,
        version: int,
        archived: int,
        created: int,
        updated: int,
        principal: text,
        characters: int,
        content: text,
    }
    documents since 2 by (scope, name) as rows::document {
        scope: text,
        name: text,
        title: text,
        version: int,
        origin: text,
        sha256: text,
        updated: int,
        sources: text,
        content: text,
    }
    machines since 2 by (id) as rows::machine {
        id: text,
        name: text,
        os: text,
        arch: text,
        version: text,
        build: text,
        registered: int,
        seen: int,
    }
    idempotency since 2 by (owner, key) as rows::answer {
        owner: text,
        key: text,
        request: text,
        answer: text,
        created: int,
        expires: int,
    }
    api_keys since 3 by (id) as rows::api_key {
        id: text,
        name: text,
        admin: int,
        hash: text,
        created: int,
        used: maybe_int,
        revoked: maybe_int,
    }
    texts since 3 by (kind, name) as rows::text {
        kind: text,
        name: text,
        version: int,
        sha256: text,
        updated: int,
        content: text,
    }
    outbox since 3 by (number) numbers number as rows::letter {
        number: int,
        key: text,
        request: text,
        context: text,
        path: text,
        body: text,
        made: int,
        why: maybe_text,
    }
    renamed since 3 by (id) as rows::renamed {
        id: text,
        becomes: text,
    }
    used_patterns since 4 by (library, pattern) as rows::used {
        library: text,
        pattern: text,
        stated: int,
        recorded: int,
        first: int,
        last: int,
    }
    pattern_uses since 4 by (number) numbers number as rows::pattern_use {
        number: int,
        library: text,
        pattern: text,
        project: maybe_text,
        context: text,
        at: int,
    }
}
