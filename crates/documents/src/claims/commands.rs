//! What programs are told to do, as far as a repository defines it.

use super::{ClaimKind, Command, spans};

/// A name that stands for itself.
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'))
        && !spans::is_placeholder(word)
}

/// Targets.
pub(super) fn make(arguments: &[String]) -> Vec<Command> {
    // Elsewhere, by another file, or only shown: not this Makefile's targets.
    if arguments.iter().any(|a| {
        a.starts_with("-C") || a.starts_with("-f") || a.starts_with("--directory") || a.starts_with("--file")
    }) {
        return Vec::new();
    }
    let mut targets = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "-j" | "-l" | "-o" | "-W" | "-I") {
            words.next();
        } else if is_name(word) && !word.contains('=') && !word.chars().all(|c| c.is_ascii_digit()) {
            targets.push(Command::Make(word.clone()));
        } else if !word.starts_with('-') && !word.contains('=') {
            break;
        }
    }
    // `make sure that it works` in a code span is no command.
    if targets.len() > 3 { Vec::new() } else { targets }
}

/// Scripts of package.json.
pub(super) fn scripts(manager: &str, arguments: &[String]) -> Vec<Command> {
    let mut words = arguments.iter().filter(|a| !a.starts_with('-'));
    // Flags with values (`--prefix web`) would be taken for the command.
    let has_value = |a: &String| {
        matches!(a.as_str(), "--prefix" | "-C" | "--dir" | "--cwd" | "--workspace" | "-w" | "--filter" | "-F")
    };
    if arguments.iter().any(has_value) {
        return Vec::new();
    }
    let script = match (words.next().map(String::as_str), manager) {
        (Some("run" | "run-script"), _) => words.next().map(String::as_str),
        (Some("test" | "t"), "npm" | "pnpm") => Some("test"),
        (Some("start"), "npm" | "pnpm") => Some("start"),
        _ => None,
    };
    script
        .filter(|name| is_name(name) && !name.contains('/'))
        .map(|name| Command::Script(name.to_owned()))
        .into_iter()
        .collect()
}

/// Commands of cargo that work on crates here.
const OWN: [&str; 16] = [
    "build", "b", "test", "t", "run", "r", "check", "c", "clippy", "bench", "doc", "d", "rustc", "fix",
    "nextest", "fmt",
];

/// What cargo is told to work on; flags for what it runs are put to `found`.
pub(super) fn cargo(arguments: &[String], found: &mut Vec<ClaimKind>) -> Vec<Command> {
    let mut words = arguments.iter().filter(|a| !a.starts_with('+'));
    let Some(command) = words.next() else { return Vec::new() };
    if command == "xtask" {
        return vec![Command::Alias(command.clone())];
    }
    let rest: Vec<&String> = words.collect();
    if !OWN.contains(&command.as_str()) || rest.iter().any(|a| a.starts_with("--manifest-path")) {
        return Vec::new();
    }
    let mut commands = Vec::new();
    let mut at = 0;
    let mut is_named = false;
    while let Some(word) = rest.get(at) {
        at += 1;
        if *word == "--" {
            // What `run` starts gets the rest.
            if matches!(command.as_str(), "run" | "r") && !is_named {
                let own: Vec<String> = rest.iter().skip(at).map(|w| (*w).clone()).collect();
                flags("", &own, found);
            }
            break;
        }
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v.to_owned())));
        let kind = match name {
            "-p" | "--package" => "package",
            "--bin" => "bin",
            "--example" => "example",
            "--test" => "test",
            "--bench" => "bench",
            "-F" | "--features" => "features",
            _ => continue,
        };
        let value = value.or_else(|| {
            at += 1;
            rest.get(at - 1).map(|w| (*w).clone())
        });
        let Some(value) = value else { break };
        is_named = is_named || matches!(kind, "package" | "bin" | "example");
        let names = value.split([',', ' ']).filter(|name| kind == "features" || is_name(name));
        for name in names.filter(|name| is_name(name)) {
            commands.push(match kind {
                "package" => Command::Crate(name.to_owned()),
                "features" => Command::Feature(name.to_owned()),
                kind => Command::Target(kind, name.to_owned()),
            });
        }
    }
    commands
}

/// Long flags of a program, up to `--`.
pub(super) fn flags(program: &str, arguments: &[String], found: &mut Vec<ClaimKind>) {
    for argument in arguments.iter().take_while(|a| *a != "--") {
        let flag = argument.split('=').next().unwrap_or_default();
        let is_flag = flag.strip_prefix("--").is_some_and(|name| {
            name.len() > 1
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        });
        if is_flag {
            found.push(ClaimKind::Flag { program: program.to_owned(), flag: flag.to_owned() });
        }
    }
}
