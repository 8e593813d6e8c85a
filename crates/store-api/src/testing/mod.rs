//! The conformance suite: what every driver must do, through the traits alone.
#![allow(
    clippy::missing_panics_doc,
    reason = "a driver that does not conform panics: that is what it is for"
)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

pub mod context;
pub mod documents;
pub mod handoffs;
pub mod history;
pub mod index;
pub mod machines;
pub mod notes;
pub mod once;
pub mod outbox;
pub mod search;
pub mod server;
pub mod sessions;
pub mod table;
pub mod upkeep;
pub mod uses;

pub use context::{Watch, context};
pub use index::indexes;
pub use outbox::outbox;
pub use server::server;
pub use upkeep::upkeep;
pub use uses::uses;

use crate::{FailureKind, FailureSeen, Failures, Outcome, RunOutcome, TestSeen, Timestamp};

/// Holds a driver to all of it. `name` becomes a part of the names of roots, so that a database that others use too can
/// be tried. The database must not be used by anybody else while [`history::old_things_are_forgotten`] runs: that
/// forgets in all roots.
pub async fn failures(store: &dyn Failures, name: &str) {
    table::every_row_holds(store, name).await;
    history::pages_show_everything_once(store, name).await;
    history::conditions_narrow(store, name).await;
    history::a_history_says_what_became_of_a_failure(store, name).await;
    history::answers_are_kept_for_the_last_runs(store, name).await;
    history::roots_know_nothing_of_each_other(store, name).await;
    history::texts_come_back_as_they_were(store, name).await;
    history::what_does_not_fit_is_refused_and_changes_nothing(store, name).await;
    history::a_large_run_is_taken_whole(store, name).await;
    history::old_things_are_forgotten(store, name).await;
}

/// A run of nothing, complete, clean, of a transcript that is not named.
#[must_use]
pub fn run(root: &str, branch: Option<&str>, commit: Option<&str>) -> RunOutcome {
    RunOutcome {
        root: root.to_owned(),
        tool: "go_test".to_owned(),
        scope: "./...".to_owned(),
        commit: commit.map(str::to_owned),
        dirty: false,
        branch: branch.map(str::to_owned),
        at: Timestamp::from_millis(1_750_000_000_000),
        transcript: None,
        ran: Vec::new(),
        failures: Vec::new(),
        complete: true,
    }
}

/// A test with an outcome.
#[must_use]
pub fn test(id: &str, outcome: Outcome) -> TestSeen {
    TestSeen {
        id: id.to_owned(),
        name: format!("Test {id}"),
        suite: Some("pkg".to_owned()),
        outcome,
        duration: Some(3),
    }
}

/// A failure.
#[must_use]
pub fn failure(id: &str, kind: FailureKind) -> FailureSeen {
    FailureSeen {
        id: id.to_owned(),
        kind,
        name: format!("Test {id}"),
        suite: Some("pkg".to_owned()),
        file: Some("pkg/x_test.go".to_owned()),
        line: Some(7),
        message: format!("{id} went wrong"),
    }
}
