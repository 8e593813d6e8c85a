//! What both sides say in full: ours from the examples of the library, publint's from its API, since its command prints sentences.

use std::process::Command;

use serde_json::Value;

use super::archives::Package;
use crate::bench::design::peers::{Packages, ran};
use crate::sh::{Done, top};

/// What is said of one package.
pub(super) struct Exact {
    /// Our list of files.
    pub(super) listed: Value,
    /// Our messages in the form of publint's.
    pub(super) lint: Value,
    /// Our problems in the form of are-the-types-wrong's.
    pub(super) types: Value,
    /// publint's messages.
    pub(super) publint: Value,
}

/// Asks all of them, each once for all packages.
pub(super) fn asked(tools: &Packages, packages: &[Package], npm: &str) -> Done<Vec<Exact>> {
    let archives: Vec<String> =
        packages.iter().map(|package| package.archive.display().to_string()).collect();
    let mut folders = vec![format!("--npm={npm}")];
    folders.extend(packages.iter().map(|package| package.folder.display().to_string()));
    let listed = lines(&example("list", &folders)?)?;
    let lint = lines(&example("lint", &archives)?)?;
    let types = example("types", &archives)?;
    let types: Value = serde_json::from_str(&types).map_err(|e| format!("types: {e}"))?;
    let words = [tools.node("publint.mjs"), archives.clone()].concat();
    let publint = lines(&ran(&words, &top(), &[0])?.printed)?;
    if [listed.len(), lint.len(), publint.len()] != [packages.len(); 3] {
        return Err("an answer is missing: list, lint or publint.mjs gave another number of lines".to_owned());
    }
    let all = listed.into_iter().zip(lint).zip(publint).zip(&archives);
    Ok(all
        .map(|(((listed, lint), publint), archive)| Exact {
            listed,
            lint,
            types: types[archive].clone(),
            publint,
        })
        .collect())
}

fn lines(text: &str) -> Done<Vec<Value>> {
    text.lines().map(|line| serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))).collect()
}

/// Runs an example of our library.
fn example(name: &str, args: &[String]) -> Done<String> {
    let flags = ["run", "--quiet", "-p", "gatewright-packaging", "--example", name, "--"];
    println!("\n▶ cargo {} … ({} arguments)", flags.join(" "), args.len());
    let out = Command::new("cargo")
        .args(flags)
        .args(args)
        .current_dir(top())
        .output()
        .map_err(|e| format!("cargo could not be started: {e}"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    Err(format!("✗ cargo {} ({})\n{}", flags.join(" "), out.status, String::from_utf8_lossy(&out.stderr)))
}
