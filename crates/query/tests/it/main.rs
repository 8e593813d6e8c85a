//! The engine, held against jq, and its worker, held to its limits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests start jq and the worker")]

mod alike;
mod talk;
mod worker;

use gatewright_query::{Answer, Question, Style, run};
use serde_json::Value;

/// What a filter gives, run on a thread with the stack of a worker.
fn asked(filter: &str, input: &Value, style: Option<Style>) -> Answer {
    let question = Question { filter: filter.to_owned(), input: input.clone(), style };
    let stack = gatewright_query::limits::STACK;
    std::thread::Builder::new().stack_size(stack).spawn(move || run(&question)).unwrap().join().unwrap()
}

/// Says loudly that a part was left out, where the summary of `cargo xtask test` counts it.
fn skip(part: &str) {
    eprintln!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{part}").unwrap();
    }
}
