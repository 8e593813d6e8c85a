//! What confining a run costs: starting nothing at all (`overhead`), and reading and writing files (`files`). Each way of
//! starting a program takes its turn in every round; a figure is one line of JSON, in milliseconds.
//! `cargo xtask bench runs` builds it, names the launcher that is shipped, and makes a table of what it says.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench starts programs, prints, and may fail loudly"
)]

mod files;
mod overhead;
mod ways;

use std::time::Duration;

use serde_json::json;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|word| word == name);
    if is_asked("overhead") {
        overhead::measure();
    }
    if is_asked("files") {
        files::measure();
    }
}

fn say(part: &str, work: &str, way: &str, times: &[Duration]) {
    let millis: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    println!("{}", json!({ "part": part, "work": work, "way": way, "millis": millis }));
}
