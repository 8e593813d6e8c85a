//! Finding out what a large repository is: the first call of a fresh server, and those after it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::repositories::{IGNORED, KEPT, monorepo};
use crate::bench::samples::{Samples, timed};
use crate::session::Place;
use crate::sh::Done;

/// Fresh servers for each tool.
const SERVERS: usize = 7;

/// Calls of each after the first; the last of them after a manifest was edited.
const AFTER: usize = 5;

const GIT: [&str; 3] = ["git", "status", "--porcelain=v2"];

/// A program that ends at once: what is measured is choosing its files.
const STAND_IN: &str = "yamllint";

/// What is asked, one for each kind of answer that is kept, and one that is not.
fn questions() -> [(&'static str, &'static str, Value); 6] {
    let line = "ok  \tgithub.com/example/shop/store\t0.012s\n";
    let log = line.repeat((1 << 20) / line.len()) + "--- FAIL: TestTotal (0.00s)\n";
    [
        ("project_status: what the project is", "project_status", json!({})),
        ("test_status: that, and whether programs are there", "test_status", json!({})),
        ("go_project_info of one module", "go_project_info", json!({ "directory": "services/p1" })),
        ("yamllint, a stand-in: which files it is given", STAND_IN, json!({})),
        (
            "analyze_result of 1 MiB",
            "analyze_result",
            json!({ "command": "go test ./...", "exitCode": 1, "stdout": log }),
        ),
        ("git_status, never kept", "git_status", json!({})),
    ]
}

/// The calls of a tool.
#[derive(Default)]
struct Calls {
    first: Vec<Duration>,
    warm: Vec<Duration>,
    edited: Vec<Duration>,
    answer: Value,
}

impl Calls {
    fn of_a_server(&mut self, place: &Place, tool: &str, asked: &Value, edit: &dyn Fn() -> Done) -> Done {
        let mut session = place.serve()?;
        self.first.push(session.timed(tool, asked)?.0);
        for _ in 1..AFTER {
            self.warm.push(session.timed(tool, asked)?.0);
        }
        edit()?;
        let (last, answer) = session.timed(tool, asked)?;
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
    let programs = scratch.join("programs");
    stand_in(&programs).map_err(|e| format!("{}: {e}", programs.display()))?;
    let place = super::place(ours, &root, scratch)?.with_programs(&programs);
    let edited = root.join("services/p1/go.mod");
    let mut peer = Vec::new();
    let questions = questions();
    let mut calls: [Calls; 6] = Default::default();
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
        for ((_, tool, asked), calls) in questions.iter().zip(&mut calls) {
            calls.of_a_server(&place, tool, asked, &edit)?;
        }
        peer.push(timed(&root, &GIT)?.0);
    }
    let said = calls[0].answer["message"].as_str().unwrap_or_default();
    println!(
        "\ndetection over {} files, ms, medians of {SERVERS} fresh servers (files in the page cache; answers are kept, as by default); project_status says: {said}",
        KEPT + IGNORED
    );
    println!("{:<52} {:>10} {:>10} {:>16}", "", "first call", "later", "manifest edited");
    for ((what, ..), calls) in questions.iter().zip(&calls) {
        let [first, warm, edited] =
            [&calls.first, &calls.warm, &calls.edited].map(|times| Samples::of(times).median());
        println!("{what:<52} {first:>10.1} {warm:>10.1} {edited:>16.1}");
    }
    println!("{:<52} {:>10.1}", GIT.join(" "), Samples::of(&peer).median());
    Ok(())
}

fn stand_in(programs: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(programs)?;
    let file = programs.join(STAND_IN);
    fs::write(&file, "#!/bin/sh\n")?;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}
