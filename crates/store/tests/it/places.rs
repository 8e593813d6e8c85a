//! The store's file: private, checked before it is written, followed when it is moved.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use gatewright_store::Store;
use store_api::testing::{failure, run};
use store_api::{FailureKind, Failures, HistoryQuery, RunOutcome, StoreError, Verdict};

use crate::{Place, runtime};

fn seen() -> RunOutcome {
    RunOutcome { failures: vec![failure("t", FailureKind::Test)], ..run("root", Some("main"), Some("c1")) }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Changes the file behind the store's back.
pub(crate) async fn pragma(path: &Path, statement: &'static str) {
    use sqlx::{ConnectOptions as _, Connection as _};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[test]
fn nothing_is_made_before_the_first_call_and_then_only_for_its_owner() {
    runtime().block_on(async {
        let place = Place::new();
        let store = place.store();
        assert!(!place.path().parent().unwrap().exists());
        store.record(seen()).await.unwrap();
        assert_eq!(mode(place.path().parent().unwrap()), 0o700);
        let files: Vec<_> =
            fs::read_dir(place.path().parent().unwrap()).unwrap().map(|f| f.unwrap().path()).collect();
        assert_eq!(files.len(), 3, "the database, its log and the log's index: {files:?}");
        assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
        store.close().await;
        let left = fs::read_dir(place.path().parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "the last one folds the log in");
    });
}

#[test]
fn a_folder_and_a_file_that_others_may_look_into_are_closed() {
    runtime().block_on(async {
        let place = Place::new();
        fs::create_dir(place.path().parent().unwrap()).unwrap();
        fs::write(place.path(), b"").unwrap();
        fs::set_permissions(place.path().parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o644)).unwrap();
        place.store().record(seen()).await.unwrap();
        assert_eq!((mode(place.path().parent().unwrap()), mode(&place.path())), (0o700, 0o600));
    });
}

#[test]
fn a_link_a_folder_or_a_relative_path_is_no_place() {
    runtime().block_on(async {
        let place = Place::new();
        fs::create_dir(place.path().parent().unwrap()).unwrap();
        let elsewhere = place.folder.path().join("elsewhere");
        symlink(&elsewhere, place.path()).unwrap();
        let refused = place.store().record(seen()).await;
        assert!(matches!(refused, Err(StoreError::Place { .. })), "{refused:?}");
        assert!(!elsewhere.exists());
        fs::remove_file(place.path()).unwrap();
        fs::create_dir(place.path()).unwrap();
        assert!(matches!(place.store().record(seen()).await, Err(StoreError::Place { .. })));
        for path in ["store.db", "", "/", ":memory:"] {
            assert!(matches!(Store::open(Path::new(path)), Err(StoreError::Invalid { .. })), "{path}");
        }
    });
}

#[test]
fn a_newer_schema_is_refused_and_left_as_it_is() {
    runtime().block_on(async {
        let place = Place::new();
        let running = place.store();
        running.record(seen()).await.unwrap();
        pragma(&place.path(), "PRAGMA user_version = 5").await;
        let newer = |error: &StoreError| matches!(error, StoreError::NewerSchema { found: 5, known: 4 });
        let error = running.record(seen()).await.unwrap_err();
        assert!(newer(&error), "one that was open when it came: {error}");
        assert!(newer(&running.history(HistoryQuery::of("root")).await.unwrap_err()));
        running.close().await;
        let before = fs::read(place.path()).unwrap();
        let error = place.store().record(seen()).await.unwrap_err();
        assert!(newer(&error), "{error}");
        assert!(error.to_string().contains("update this one"), "{error}");
        assert_eq!(fs::read(place.path()).unwrap(), before);
    });
}

#[test]
fn a_database_of_something_else_is_refused_and_left_as_it_is() {
    runtime().block_on(async {
        let place = Place::new();
        fs::create_dir(place.path().parent().unwrap()).unwrap();
        pragma(&place.path(), "CREATE TABLE notes (text)").await;
        let before = fs::read(place.path()).unwrap();
        assert!(matches!(place.store().record(seen()).await, Err(StoreError::Foreign)));
        assert_eq!(fs::read(place.path()).unwrap(), before);
    });
}

#[test]
fn a_damaged_file_is_an_error_that_says_what_to_do() {
    runtime().block_on(async {
        let place = Place::new();
        fs::create_dir(place.path().parent().unwrap()).unwrap();
        fs::write(place.path(), "no database at all, but long enough to be read as one".repeat(40)).unwrap();
        let error = place.store().record(seen()).await.unwrap_err();
        assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
        assert!(error.to_string().contains("aside"), "{error}");
        assert!(!error.to_string().contains(place.folder.path().to_str().unwrap()), "{error}");
    });
}

#[test]
fn a_store_that_was_moved_away_is_made_anew_and_nothing_is_written_into_the_old_one() {
    runtime().block_on(async {
        let place = Place::new();
        let store = place.store();
        store.record(seen()).await.unwrap();
        let aside = place.folder.path().join("aside");
        fs::rename(place.path().parent().unwrap(), &aside).unwrap();
        let verdicts = store.record(seen()).await.unwrap();
        assert_eq!(verdicts.of("t"), Some(&Verdict::New));
        store.close().await;
        let old = Store::open(&aside.join("store.db")).unwrap();
        assert!(matches!(old.record(seen()).await.unwrap().of("t"), Some(Verdict::Known { runs: 2, .. })));
    });
}

#[test]
fn what_was_recorded_is_there_for_the_next_process() {
    let place = Place::new();
    runtime().block_on(async { place.store().record(seen()).await.unwrap() });
    let verdicts = runtime().block_on(async { place.store().record(seen()).await.unwrap() });
    assert!(matches!(verdicts.of("t"), Some(Verdict::Known { runs: 2, .. })));
}

#[test]
fn a_call_that_nobody_waits_for_any_more_holds_up_no_other() {
    for place in Place::all() {
        runtime().block_on(async {
            let store = place.store();
            store.record(seen()).await.unwrap();
            for micros in (0..3_000).step_by(50) {
                let given_up = store.record(seen());
                let _ = tokio::time::timeout(std::time::Duration::from_micros(micros), given_up).await;
            }
            let soon = tokio::time::timeout(std::time::Duration::from_secs(5), store.record(seen())).await;
            assert!(matches!(soon.unwrap().unwrap().of("t"), Some(Verdict::Known { .. })));
        });
    }
}
