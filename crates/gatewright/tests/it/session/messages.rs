//! What people read of each tool, word for word. `GATEWRIGHT_BLESS=1` writes it anew.

use std::path::Path;

use serde_json::{Value, json};

use super::repository;

/// Letters of an id behind its prefix.
const ID: usize = 26;
/// Prefixes of ids.
const PREFIXES: [&str; 7] = ["sess_", "ho_", "cp_", "note_", "mach_", "key_", "plan_"];

/// The text with what differs from run to run named instead: ids, times, commits, this machine.
fn named(text: &str, machine: &str, commits: &[String]) -> String {
    let mut text = text.replace(machine, "MACHINE");
    for commit in commits {
        text = text.replace(commit.as_str(), "COMMIT").replace(&commit[..8], "COMMIT");
    }
    for prefix in PREFIXES {
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(prefix) {
            let (before, found) = rest.split_at(at + prefix.len());
            let length = found.chars().take_while(char::is_ascii_alphanumeric).count();
            out.push_str(before);
            rest = if length >= ID {
                out.push_str("ID");
                &found[length..]
            } else {
                found
            };
        }
        out.push_str(rest);
        text = out;
    }
    days(&times(&text))
}

/// How many days it is since a day that stays where it is.
fn days(text: &str) -> String {
    const OLD: &str = " days old";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(OLD) {
        let (before, found) = rest.split_at(at);
        out.push_str(before.trim_end_matches(|c: char| c.is_ascii_digit()));
        out.push('N');
        out.push_str(OLD);
        rest = &found[OLD.len()..];
    }
    out.push_str(rest);
    out
}

/// `2026-11-23T02:15:02.123Z` and `2026-11-23 02:15` as `TIME`.
fn times(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("20") {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let length = found.bytes().take_while(|b| b.is_ascii_digit() || b"-T:. Z".contains(b)).count();
        let time = found[..length].trim_end_matches([' ', '.', ':', '-']);
        let is_time = time.len() >= 16
            && time.as_bytes().get(4) == Some(&b'-')
            && time.as_bytes().get(7) == Some(&b'-');
        if is_time {
            out.push_str("TIME");
            rest = &found[time.len()..];
        } else {
            out.push_str(&found[..2]);
            rest = &found[2..];
        }
    }
    out.push_str(rest);
    out
}

#[test]
fn what_each_tool_of_the_day_says_is_as_it_was() {
    let bench = repository("git@github.com:acme/app.git");
    bench.put(
        "docs/planning/WEEKLY_PLAN.md",
        "# Week of 2024-01-01\n\n## Priorities\n\nShip the login.\n\n## Later\n\nThe rest.\n",
    );
    bench.put("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    bench.commit("a plan");
    bench.place.configure(
        "[ventures.acme]\nname = \"Acme\"\nrepositories = [\"github.com/acme/app\"]\n[ventures.other]\nname = \"Other *one*\"\n[github]\nhost = \"git.example\"\ngh = false\n",
    );
    let mut session = bench.serve();
    let mut pages = String::from("# What the tools of the working day say\n");
    let mut say = |session: &mut super::Session, title: &str, tool: &str, arguments: Value| {
        let result = session.call(tool, arguments);
        let said = &result["structuredContent"]["message"];
        let text = said.as_str().unwrap_or_else(|| panic!("{tool}: {result:#}")).to_owned();
        pages.push_str(&format!("\n## {title}\n\n{text}\n"));
        result["structuredContent"].clone()
    };
    say(&mut session, "preflight", "preflight", json!({}));
    say(&mut session, "ventures", "ventures", json!({}));
    say(&mut session, "sod, of a venture that is elsewhere", "sod", json!({ "venture": "other" }));
    say(&mut session, "sod", "sod", json!({}));
    let context = say(&mut session, "context", "context", json!({}));
    say(&mut session, "plan", "plan", json!({}));
    say(&mut session, "doc_audit", "doc_audit", json!({}));
    say(&mut session, "doc_audit, rehearsed", "doc_audit", json!({ "fix": true }));
    let note = say(
        &mut session,
        "note, a new one",
        "note",
        json!({ "action": "create", "title": "Staging needs a VPN", "content": "Ask ops.\n\n# Not a heading of ours", "tags": ["staging"], "venture": "acme" }),
    );
    let id = note["note"]["id"].clone();
    say(
        &mut session,
        "note, changed",
        "note",
        json!({ "action": "update", "id": id, "content": "Ask ops for an account." }),
    );
    say(&mut session, "notes", "notes", json!({}));
    say(&mut session, "notes, by words", "notes", json!({ "q": "account" }));
    say(&mut session, "notes, one of them", "notes", json!({ "id": id }));
    bench.put("README.md", "# App, changed\n");
    say(
        &mut session,
        "handoff",
        "handoff",
        json!({ "summary": "Login works.\n\n- tests are missing", "status": "in_progress", "issue_number": 41 }),
    );
    say(&mut session, "sod, the next", "sod", json!({}));
    let machine = context["machine"].as_str().unwrap().to_owned();
    let commits: Vec<String> = bench.git(&["rev-list", "--all"]).lines().map(str::to_owned).collect();
    let pages = named(&pages, &machine, &commits);
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/session/messages.md");
    if std::env::var_os("GATEWRIGHT_BLESS").is_some() {
        std::fs::write(&place, &pages).unwrap();
    }
    let kept = std::fs::read_to_string(&place).unwrap();
    assert!(kept == pages, "messages.md has another text: look at the difference, then bless it\n{pages}");
}
