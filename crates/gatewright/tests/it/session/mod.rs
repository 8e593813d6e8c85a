//! The working day, through the protocol and the command line, over the real store and real repositories.

mod context;
mod day;
mod documents;
mod issues;
mod messages;
mod notes;
mod places;
mod shared;

use serde_json::{Value, json};

use super::bench::{Bench, Session};

/// A repository with a remote, and a commit on `main`.
fn repository(remote: &str) -> Bench {
    let bench = Bench::new(&[("src/lib.rs", "pub fn one() {}\n"), ("README.md", "# App\n")]);
    bench.git(&["remote", "add", "origin", remote]);
    bench
}

/// A call that succeeds, and what it says.
fn ok(session: &mut Session, tool: &str, arguments: Value) -> Value {
    session.ok(tool, arguments)
}

/// A day that began here.
fn sod(session: &mut Session) -> Value {
    let day = ok(session, "sod", json!({}));
    assert_eq!((&day["day"], &day["success"]), (&json!("valid"), &json!(true)), "{day:#}");
    day
}
