//! Which functions a program comes to: callgrind's list, of servers that are started, asked what there is, and called a few times.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::speech::{Call, Watched, begun, handshake, over_http, stateless};
use crate::sh::Done;

/// Calls that every session begins with, or soon comes to.
fn calls() -> [Call; 3] {
    [
        ("tools_search", json!({ "query": "zebra" })),
        ("git_status", json!({})),
        ("find_patterns", json!({ "query": "retry" })),
    ]
}

fn io(error: std::io::Error) -> String {
    error.to_string()
}

/// The functions that `program` comes to, by the linker's names, those of a start first. `place` is for what is made on the way.
pub(super) fn functions(program: &Path, place: &Path) -> Done<Vec<String>> {
    let scratch = place.join("traced");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(scratch.join("root")).map_err(io)?;
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(scratch.join("root")).status();
    git.map_err(io)?;
    let calls = calls();
    for (name, messages) in [("old", handshake(&calls)), ("new", stateless(&calls)), ("start", begun())] {
        start(program, &scratch, &scratch.join(name), &[])?.talk(messages)?;
    }
    let http = |address: &str| {
        start(program, &scratch, &scratch.join("http"), &["--http", address, "--insecure-loopback"])
    };
    over_http(http, &[stateless(&calls)])?;
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    // What only starts, where others have been before, and is asked what there is, comes first: a server that waits for work has
    // nothing else in memory.
    for name in ["start", "old", "new", "http"] {
        let traced = scratch.join(name);
        let text = fs::read_to_string(&traced).map_err(|e| format!("{}: {e}", traced.display()))?;
        all.extend(named(&text).filter(|name| seen.insert((*name).to_owned())).map(str::to_owned));
    }
    let _ = fs::remove_dir_all(&scratch);
    Ok(all)
}

fn start(program: &Path, scratch: &Path, traced: &Path, more: &[&str]) -> Done<Watched> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--demangle=no", "--quiet"])
        .arg(format!("--callgrind-out-file={}", traced.display()))
        .arg(program)
        .arg("--root")
        .arg(scratch.join("root"))
        .arg("serve")
        .args(more)
        .env("XDG_STATE_HOME", scratch.join("state"))
        .env("XDG_CONFIG_HOME", scratch.join("config"))
        .env_remove("LOG_LEVEL");
    Watched::start(&mut command)
}

/// The functions that callgrind names, in its order.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="))?;
        // `(number) name` where it is named first, and `'n` behind it where it calls itself.
        let (_, name) = rest.split_once(") ")?;
        let name = name.rsplit_once('\'').filter(|(_, n)| n.parse::<u32>().is_ok()).map_or(name, |(n, _)| n);
        (!name.starts_with("0x") && !name.contains([' ', '('])).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn functions_are_named_once_without_what_callgrind_adds() {
        let text = "events: Ir\nfn=(1) _ZN3abc17h0123456789abcdefE\n16 3\ncfn=(2) main'2\ncalls=1 0\n\
                    fn=(1)\nfn=(3) 0x000000000001ab70\nfn=(4) (below main)\ncob=(1) /lib/ld.so\n";
        assert_eq!(named(text).collect::<Vec<_>>(), ["_ZN3abc17h0123456789abcdefE", "main"]);
    }
}
