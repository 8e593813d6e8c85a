//! Why a store was not written out or read in.

use store_api::StoreError;

/// Why a store was not written out, read in or copied. Where it was read in, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The export could not be written.
    #[error("the export cannot be written: {0}")]
    Write(std::io::Error),
    /// The file could not be read.
    #[error("the file cannot be read: {0}")]
    Read(std::io::Error),
    /// It is something else.
    #[error("this is no export of a store: `gatewright store export FILE` writes one")]
    NotAnExport,
    /// A newer program wrote it.
    #[error(
        "it is in format {found}, and this program reads format {known}: a newer gatewright wrote it; update this one"
    )]
    NewerFormat {
        /// Its format.
        found: i64,
        /// The one that this program knows.
        known: i64,
    },
    /// A newer program wrote it.
    #[error(
        "it is of a store with schema {found}, and this program knows schemas up to {known}: a newer gatewright wrote it; \
         update this one"
    )]
    NewerSchema {
        /// Its schema.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// Its end is missing.
    #[error(
        "it ends after line {lines}, without the line that ends an export: it was cut off. Copy it again, or export again"
    )]
    CutOff {
        /// The lines that are there.
        lines: u64,
    },
    /// A line is not what an export has.
    #[error("line {line}: {why}. The file was changed or damaged: take the export as it was written")]
    Line {
        /// Which one, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Its contents are not what its last line says.
    #[error("{why}. The file was changed or damaged: take the export as it was written")]
    Contents {
        /// What differs.
        why: String,
    },
    /// There is something in the store already.
    #[error(
        "the store is not empty: there are rows in {table}. An export goes into a fresh store: name another database \
         (GATEWRIGHT_STORE_URL, or `[store] url`), or move the store's file aside after a `gatewright store backup`"
    )]
    NotEmpty {
        /// A table with rows.
        table: &'static str,
    },
    /// The database did not take its rows.
    #[error("the export's rows contradict each other, and nothing was taken in: {0}")]
    Contradiction(String),
    /// PostgreSQL is copied by its own programs.
    #[error(
        "a PostgreSQL database is backed up by its own program: `pg_dump --schema=gatewright --file=FILE DATABASE`. \
         `gatewright store export FILE` writes what the store holds, for either database"
    )]
    NoBackup,
    /// The copy's file is not empty.
    #[error("the backup's file has something in it already: name another one")]
    BackupExists,
}
