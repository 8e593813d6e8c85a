//! Finding out what a large repository is: the first call of a fresh server, and those after it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::repositories::{IGNORED, KEPT, monorepo};
use super::samples::{Samples, timed};
use crate::session::Place;
use crate::sh::Done;

/// Fresh servers for each tool.
const SERVERS: usize = 7;

/// Calls of each after the first; the last of them after a manifest was edited.
const AFTER: usize = 5;

const GIT: [&str; 3] = ["git", "status", "--porcelain=v2"];

/// The calls of a tool.
#[derive(Default)]
struct Calls {
    first: Vec<Duration>,
    warm: Vec<Duration>,
    edited: Vec<Duration>,
    answer: Value,
}

impl Calls {
    fn of_a_server(&mut self, place: &Place, tool: &str, edit: &dyn Fn() -> Done) -> Done {
        let mut session = place.serve()?;
        let none = json!({});
        self.first.push(session.timed(tool, &none)?.0);
        for _ in 1..AFTER {
            self.warm.push(session.timed(tool, &none)?.0);
        }
        edit()?;
        let (last, answer) = session.timed(tool, &none)?;
        self.edited.push(last);
        self.answer = answer;
        session.finish()
    }
}

pub(super) fn measure(ours: &Path, scratch: &Path) -> Done {
    let root = scratch.join("root");
    fs::create_dir_all(&root).map_err(|e| format!("{}: {e}", root.display()))?;
    println!("\n▶ a repository of {KEPT} files, and {IGNORED} that it ignores");
    monorepo(&root)?;
    let place = super::place(ours, &root, scratch)?;
    let edited = root.join("services/p1/go.mod");
    let mut peer = Vec::new();
    let tools = ["project_status", "git_status"];
    let mut calls: [Calls; 2] = Default::default();
    // One round more goes before, so that the files are in memory for whoever comes first.
    for round in 0..=SERVERS {
        let edit = || {
            let text = format!("module example.com/p1\n\ngo 1.23.{round}\n");
            fs::write(&edited, text).map_err(|e| format!("{}: {e}", edited.display()))
        };
        if round == 1 {
            calls = Default::default();
            peer.clear();
        }
        for (tool, calls) in tools.iter().zip(&mut calls) {
            calls.of_a_server(&place, tool, &edit)?;
        }
        peer.push(timed(&root, &GIT)?.0);
    }
    let said = calls[0].answer["message"].as_str().unwrap_or_default();
    println!(
        "\ndetection over {} files, ms, medians of {SERVERS} fresh servers (files in the page cache; answers are kept, as by default); project_status says: {said}",
        KEPT + IGNORED
    );
    println!("{:<44} {:>10} {:>10} {:>16}", "", "first call", "later", "manifest edited");
    for (tool, calls) in tools.iter().zip(&calls) {
        let [first, warm, edited] =
            [&calls.first, &calls.warm, &calls.edited].map(|times| Samples::of(times).median());
        println!("{tool:<44} {first:>10.1} {warm:>10.1} {edited:>16.1}");
    }
    println!("{:<44} {:>10.1}", GIT.join(" "), Samples::of(&peer).median());
    Ok(())
}
