//! `gatewright store`.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::store::Store;
use ::store::transfer::{TransferError, Transferred};
use contract::text::counted;
use contract::{Code, Fault};
use serde_json::{Map, Value, json};
use store_api::{Swept, Upkeep as _};
use tempfile::NamedTempFile;

use super::{CommandError, CommandResult, print_json, runtime};
use crate::cli::{Format, StoreCommand};
use crate::config::{self, StoreSection};
use crate::remembered;
use crate::term::{BOLD, DIM, GOOD};

pub fn run(command: StoreCommand) -> CommandResult {
    let config = config::load(None).map_err(|e| CommandError::Usage(e.to_string()))?;
    let (store, _) = remembered::store(&config.store)?;
    let runtime = runtime()?;
    runtime.block_on(async {
        let done = done(&store, &config.store, command).await;
        store.close().await;
        done
    })
}

async fn done(store: &Store, section: &StoreSection, command: StoreCommand) -> CommandResult {
    match command {
        StoreCommand::Export { file, force } => export(store, file, force).await?,
        StoreCommand::Import { file } => import(store, &file).await?,
        StoreCommand::Backup { file, force } => backup(store, &file, force).await?,
        StoreCommand::Sweep { output } => sweep(store, section, output).await?,
        StoreCommand::Status { output } => status(store, section, output).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Why a store was not written out, read in or copied, as a command says it.
fn fault(error: TransferError) -> CommandError {
    let code = match error {
        // A reader that has gone away ends the command quietly.
        TransferError::Write(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            return CommandError::Io(error);
        }
        TransferError::Store(error) => return Fault::from(error).into(),
        TransferError::Write(_) | TransferError::Read(_) => Code::FilesystemError,
        TransferError::NotEmpty { .. } | TransferError::BackupExists => Code::Conflict,
        _ => Code::InvalidSource,
    };
    Fault::new(code, error.to_string()).into()
}

async fn export(store: &Store, file: Option<PathBuf>, force: bool) -> Result<(), CommandError> {
    let Some(file) = file.filter(|file| file.as_os_str() != "-") else {
        let mut out = BufWriter::new(std::io::stdout());
        let told = store.export(&mut out).await.map_err(fault)?;
        anstream::eprintln!("{GOOD}Exported{GOOD:#} {}", rows(&told));
        return Ok(());
    };
    let fresh = Fresh::beside(&file, force)?;
    let mut out = BufWriter::new(fresh.temporary.as_file());
    let told = store.export(&mut out).await.map_err(fault)?;
    drop(out);
    fresh.keep(&file, force)?;
    anstream::eprintln!("{GOOD}Exported{GOOD:#} {} to {}", rows(&told), file.display());
    Ok(())
}

async fn import(store: &Store, file: &Path) -> Result<(), CommandError> {
    let unreadable = |why: String| {
        Fault::new(Code::NotFound, format!("{}: {why}", file.display()))
            .suggest("Name a file that `gatewright store export` wrote.")
    };
    let opened = File::open(file).map_err(|e| unreadable(e.to_string()))?;
    if !opened.metadata().is_ok_and(|found| found.is_file()) {
        return Err(unreadable("it is no regular file, and it is read twice".to_owned()).into());
    }
    let told = store.import(&mut BufReader::new(opened)).await.map_err(fault)?;
    anstream::eprintln!("{GOOD}Imported{GOOD:#} {} into {}", rows(&told), store.place());
    Ok(())
}

async fn backup(store: &Store, file: &Path, force: bool) -> Result<(), CommandError> {
    if store.kind() == "postgresql" {
        return Err(fault(TransferError::NoBackup));
    }
    let fresh = Fresh::beside(file, force)?;
    store.backup(&std::path::absolute(fresh.temporary.path())?).await.map_err(fault)?;
    fresh.keep(file, force)?;
    anstream::eprintln!("{GOOD}Copied{GOOD:#} the store to {}", file.display());
    Ok(())
}

async fn sweep(store: &Store, section: &StoreSection, output: Format) -> Result<(), CommandError> {
    let swept = store.sweep(Some(section.keep_days)).await.map_err(Fault::from)?;
    if output == Format::Json {
        let value = serde_json::to_value(swept).map_err(|e| Fault::internal(e.to_string()))?;
        return print_json(&value).map(|_| ());
    }
    if swept.is_nothing() {
        say!("{GOOD}Nothing{GOOD:#} was over.");
    }
    for (number, what) in told(&swept).into_iter().filter(|(number, _)| *number > 0) {
        say!("{number:>8} {what}");
    }
    if section.keep_days == 0 {
        say!(
            "{DIM}Ended sessions and archived notes are kept for ever: `[store] keep-days` says otherwise.{DIM:#}"
        );
    }
    Ok(())
}

/// What was let go of, in words.
fn told(swept: &Swept) -> [(u64, &'static str); 10] {
    let Swept { answers, abandoned, failures, sessions, handoffs, checkpoints, notes, requests } = *swept;
    [
        (answers, "answers to writes that can no longer be sent again"),
        (abandoned, "sessions that fell silent: abandoned, and still there"),
        (failures.runs, "runs of more than 90 days ago"),
        (failures.failures, "failures that were last seen more than 90 days ago"),
        (failures.tests, "tests that last passed more than 90 days ago"),
        (sessions, "sessions that ended too long ago"),
        (handoffs, "handoffs of theirs"),
        (checkpoints, "checkpoints of theirs"),
        (notes, "notes that were archived too long ago"),
        (requests, "requests of more than a week ago"),
    ]
}

async fn status(store: &Store, section: &StoreSection, output: Format) -> Result<(), CommandError> {
    let status = store.status().await.map_err(fault)?;
    if output == Format::Json {
        let rows: Map<String, Value> =
            status.rows.iter().map(|(table, rows)| ((*table).to_owned(), json!(rows))).collect();
        let value = json!({
            "kind": status.kind,
            "place": status.place,
            "schema": status.schema,
            "bytes": status.bytes,
            "rows": rows,
            "keepDays": section.keep_days,
        });
        return print_json(&value).map(|_| ());
    }
    say!("{BOLD}{}{BOLD:#} {}", status.kind, status.place);
    say!("schema {}, {} KiB", status.schema, status.bytes.div_ceil(1_024));
    for (table, rows) in &status.rows {
        say!("{rows:>10} {table}");
    }
    match section.keep_days {
        0 => say!("{DIM}Ended sessions and archived notes are kept for ever.{DIM:#}"),
        days => say!("{DIM}Ended sessions and archived notes are kept for {days} days.{DIM:#}"),
    }
    Ok(())
}

fn rows(told: &Transferred) -> String {
    let total = told.total();
    format!("{} (SHA-256 {})", counted(total, "row"), told.sha256)
}

/// A file that is written beside where it is to stand, for nobody else's eyes, and gets its name when it is whole.
struct Fresh {
    temporary: NamedTempFile,
    folder: PathBuf,
}

impl Fresh {
    fn beside(file: &Path, force: bool) -> Result<Self, CommandError> {
        if !force && std::fs::symlink_metadata(file).is_ok() {
            return Err(exists(file).into());
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new(".")).to_owned();
        let temporary = tempfile::Builder::new().prefix(".gatewright-store-").tempfile_in(&folder);
        let temporary = temporary.map_err(|e| unwritten(file, &e))?;
        Ok(Self { temporary, folder })
    }

    fn keep(self, file: &Path, force: bool) -> Result<(), CommandError> {
        let Self { temporary, folder } = self;
        temporary.as_file().sync_all().map_err(|e| unwritten(file, &e))?;
        let kept = if force { temporary.persist(file) } else { temporary.persist_noclobber(file) };
        match kept {
            Ok(_) => {}
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(exists(file).into());
            }
            Err(error) => return Err(unwritten(file, &error.error).into()),
        }
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| unwritten(file, &e))?;
        Ok(())
    }
}

fn exists(file: &Path) -> Fault {
    Fault::new(Code::Conflict, format!("{} is there already", file.display()))
        .suggest("Name another file, or say --force to replace it.")
}

fn unwritten(file: &Path, error: &std::io::Error) -> Fault {
    Fault::new(Code::FilesystemError, format!("{} cannot be written: {error}", file.display()))
        .suggest("Name a file in a folder that is there and yours, with enough space.")
}
