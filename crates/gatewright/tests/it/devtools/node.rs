//! The tools of Node, with the programs that a project has installed.

mod checks;
mod measures;
mod projects;
mod runners;

use super::{Bench, Session};

/// A project of npm's that has `files` and what these tests have installed.
fn bench(files: &[(&str, &str)]) -> Option<Bench> {
    let mut all = vec![(".gitignore", "node_modules\ncoverage/\ndist/\n")];
    all.extend_from_slice(files);
    Bench::new(&all).patient().with_node_modules()
}

fn command(result: &serde_json::Value) -> &str {
    result["runs"][0]["command"].as_str().unwrap()
}

/// What a session says of a call, and of its fault.
fn text(value: &serde_json::Value) -> &str {
    value["message"].as_str().unwrap()
}

fn serve(bench: &Bench) -> Session {
    bench.serve()
}
