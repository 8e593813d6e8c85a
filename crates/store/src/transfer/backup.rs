//! A copy of the database's file.

use std::path::Path;

use super::TransferError;
use crate::{Database, Store};

impl Store {
    /// Copies the store into `file`, which is made (0600) where it is not there and must be empty otherwise. Whoever writes meanwhile
    /// is not held up; the copy is as the store was when it began, and is on disk when this returns. One that was cut off is no
    /// database. PostgreSQL has a program of its own ([`TransferError::NoBackup`]).
    pub async fn backup(&self, file: &Path) -> Result<(), TransferError> {
        match &self.database {
            Database::Lite(sqlite) => sqlite.backup(file).await,
            Database::Pg(_) => Err(TransferError::NoBackup),
        }
    }
}
