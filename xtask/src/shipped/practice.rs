//! What an instrumented gatewright is put through, so that rustc knows which of its ways are gone often: work of every kind that is
//! waited for, over both transports, in both eras. It asks other questions than the benches do, of a library that is made of other texts
//! by other dice.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::speech::{Call, Watched, begun, handshake, over_http, stateless};
use crate::bench::design::projects;
use crate::bench::generated;
use crate::bench::knowledge::compose::{Library, Sources};
use crate::session::{Place, Session};
use crate::sh::{Done, step, top};

/// Where the dice of the library begin.
const SEED: u64 = 0x7072_6163;

/// How much of everything.
pub(super) struct Extent {
    patterns: usize,
    questions: usize,
    /// Tokens that are built.
    tokens: usize,
    /// Times that each of a session's usual calls is made.
    times: usize,
    /// Servers that are only started and asked what there is.
    starts: usize,
}

/// As much as makes a profile.
pub(super) const WHOLE: Extent =
    Extent { patterns: 3_000, questions: 400, tokens: 5_000, times: 1_000, starts: 20 };
/// Enough to see that all of it still goes.
pub(super) const BRIEF: Extent = Extent { patterns: 60, questions: 5, tokens: 100, times: 2, starts: 1 };

/// What is done, in this order; each counts for itself.
pub(super) const PARTS: [&str; 4] = ["commands", "library", "input", "http"];

/// Where an instrumented program is told to write what it has counted (LLVM's own variable).
pub(super) const COUNTS: &str = "LLVM_PROFILE_FILE";

/// Puts `program` through all of it: what it counts comes into `counts`, a file or some of each part, and what is made on the way is
/// below `scratch`.
pub(super) fn with(program: &Path, scratch: &Path, counts: &Path, extent: &Extent) -> Done {
    let _ = fs::remove_dir_all(scratch);
    let root = scratch.join("root");
    repository(&root, extent.tokens)?;
    let library = Sources::own(SEED)?.library(&scratch.join("library"), extent.patterns)?;
    let place = Place::new(program, &root, scratch, &scratch.join("state"))?;
    place.configured(&format!("[library]\nuser = {:?}\n", library.folder.display().to_string()))?;
    for part in PARTS {
        let file = counts.join(format!("{part}-%m.profraw")).display().to_string();
        let place = place.clone().with_variables([(COUNTS, file)]);
        match part {
            "commands" => commands(&place)?,
            "library" => learned(&place, &library, extent)?,
            "input" => over_input(&place, extent)?,
            _ => {
                let calls = usual(extent.times);
                let serve = |address: &str| served(&place, &["--http", address, "--insecure-loopback"]);
                over_http(serve, &[handshake(&calls), stateless(&calls)])?;
            }
        }
    }
    let _ = fs::remove_dir_all(scratch);
    Ok(())
}

/// A repository with tokens, documents, a commit, and something changed since.
fn repository(root: &Path, tokens: usize) -> Done {
    projects::put(root, "tokens.json", &generated(tokens))?;
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        fs::copy(top().join(name), root.join(name)).map_err(|e| format!("{name}: {e}"))?;
    }
    projects::repository(root, "first")?;
    projects::put(root, "README.md", "# Another\n")?;
    projects::put(root, "src/new.js", "export const answer = 42;\n")
}

/// What people type.
fn commands(place: &Place) -> Done {
    const BUILD: [&str; 7] =
        ["call", "tokens_build", "--source", "tokens.json", "--platforms", "css,js", "--apply"];
    for args in [&["quickstart"][..], &BUILD, &["audit", "verify"]] {
        step("gatewright", place.command(args).stdout(Stdio::null()), args)?;
    }
    Ok(())
}

/// Has a library looked through, asked, loaded from and changed.
fn learned(place: &Place, library: &Library, extent: &Extent) -> Done {
    let mut session: Session = place.serve_as_usual()?;
    session.call("index_pattern_library", json!({}))?;
    for question in library.questions(extent.questions)? {
        let given = session.call("find_patterns", json!({ "query": question }))?;
        session.call("find_patterns", json!({ "query": question, "mode": "comprehensive" }))?;
        if let Some(id) = given["data"][0]["id"].as_str() {
            session.call("load_skill", json!({ "skillId": id }))?;
        }
    }
    library.edit(extent.patterns / 50, 1)?;
    session.call("index_pattern_library", json!({}))?;
    session.finish()
}

/// Starts, and sessions of both eras, over standard input and output.
fn over_input(place: &Place, extent: &Extent) -> Done {
    for _ in 0..extent.starts {
        served(place, &[])?.talk(begun())?;
    }
    let calls = usual(extent.times);
    served(place, &[])?.talk(handshake(&calls))?;
    served(place, &[])?.talk(stateless(&calls))
}

/// A session's usual calls with something of its own each: those that are done in no time most often, so that what surrounds every
/// call is seen as often as it is gone through.
fn usual(times: usize) -> Vec<Call> {
    const WORDS: [&str; 8] =
        ["undo", "git", "tokens", "run the tests", "note", "pattern", "build", "lint go"];
    let one = |round: usize| -> Vec<Call> {
        let word = WORDS[round % WORDS.len()];
        let mut all = vec![
            ("tools_search", json!({ "query": word })),
            ("get_current_datetime", json!({})),
            ("tool_read", json!({ "tool": "tools_search", "arguments": { "query": word } })),
            ("tools_search", json!({ "query": format!("xyzzy {round}") })),
        ];
        if round.is_multiple_of(40) {
            let (title, content) = (format!("{word} {round}"), format!("About {word}."));
            all.extend([
                ("git_status", json!({})),
                ("git_log", json!({ "limit": 5 })),
                ("git_diff", json!({})),
                ("detect_project", json!({})),
                ("note", json!({ "action": "create", "title": title, "content": content })),
                ("notes", json!({ "q": word })),
                ("sod", json!({})),
                ("search_patterns", json!({ "keyword": word })),
            ]);
        }
        all
    };
    (0..times).flat_map(one).collect()
}

fn served(place: &Place, more: &[&str]) -> Done<Watched> {
    Watched::start(&mut place.command(&[&["serve"], more].concat()))
}
