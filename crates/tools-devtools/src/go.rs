//! What the tools of Go have in common: package patterns, tags, and where modules come from.

use cache::Namespace;
use contract::RelPath;
use exec::run::Command;
use kit::ReadDesk;
use projects::{GoUse, go_modules};

use crate::registries::registries;
use crate::window::looked;

/// Every package below the directory.
const EVERYTHING: &str = "./...";

/// Where known vulnerabilities are listed.
const VULNERABILITY_HOSTS: &[&str] = &["vuln.go.dev"];

/// The package pattern, every package where none is named.
pub(crate) fn package(named: Option<&String>) -> String {
    named.filter(|named| !named.is_empty()).map_or_else(|| EVERYTHING.to_owned(), Clone::clone)
}

/// `-tags=a,b`, where there are any.
pub(crate) fn tags(tags: &[String]) -> Option<String> {
    (!tags.is_empty()).then(|| format!("-tags={}", tags.join(",")))
}

/// Whether a line that a program says is the name of a source file.
pub(crate) fn is_source(line: &str) -> bool {
    line.rsplit_once('.').is_some_and(|(_, end)| end == "go")
}

/// The modules of the go command that runs in `dir`, each with its folder from the root. It blocks.
pub(crate) fn modules(desk: &ReadDesk, dir: Option<&RelPath>) -> Vec<GoUse> {
    let dir = dir.map_or("", RelPath::as_str);
    let question = ["modules".to_owned(), dir.to_owned()];
    let found = looked(desk, Namespace::GoProjectInfo, None, &question, |look| Ok(go_modules(look, dir)));
    // Without them, files are told as Go says them: no reason to tell nothing.
    found.map(|found| found.as_ref().clone()).unwrap_or_default()
}

/// A flag where it is wanted.
pub(crate) fn flag(wanted: bool, flag: &str) -> Option<String> {
    wanted.then(|| flag.to_owned())
}

/// A Go command that looks nothing up: neither toolchains nor modules.
pub(crate) fn offline(mut command: Command) -> Command {
    for (name, value) in [("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("GOTELEMETRY", "off")] {
        command.env.insert(name.into(), value.into());
    }
    command
}

/// A Go command that may fetch modules.
pub(crate) fn with_modules(desk: &ReadDesk, mut command: Command) -> Command {
    let registry = registries(desk).go;
    command.env.insert("GOTOOLCHAIN".into(), "local".into());
    command.env.insert("GOTELEMETRY".into(), "off".into());
    if let Some(url) = &registry.url {
        // The public list of checksums knows nothing of what a registry of one's own holds.
        command.env.insert("GOPROXY".into(), url.to_string());
        command.env.insert("GONOSUMDB".into(), "*".into());
    }
    registry.reached_by(command)
}

/// A Go command that may ask for known vulnerabilities, and for modules.
pub(crate) fn with_vulnerabilities(desk: &ReadDesk, command: Command) -> Command {
    let mut command = with_modules(desk, command);
    command.hosts.extend(VULNERABILITY_HOSTS.iter().map(|host| (*host).to_owned()));
    command
}
