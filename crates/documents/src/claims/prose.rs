//! What sentences ask for, and what headings are about.

use super::ClaimKind;
use crate::ground::{Runtime, numbers};

/// Words of headings whose sections are about what was, or what may be.
const ELSEWHERE: [&str; 22] = [
    "changelog",
    "change log",
    "changes",
    "history",
    "release",
    "migrat",
    "upgrad",
    "what's new",
    "news",
    "roadmap",
    "todo",
    "to do",
    "planned",
    "future",
    "unreleased",
    "breaking",
    "deprecat",
    "previous",
    "comparison",
    "alternatives",
    "benchmark",
    "credits",
];

/// Whether a section says nothing of the present.
pub(super) fn is_elsewhere(heading: &str) -> bool {
    let heading = heading.trim().to_lowercase();
    let first = heading.trim_start_matches(['[', '`']);
    let first = first.strip_prefix('v').or(first.strip_prefix("version ")).unwrap_or(first);
    let is_version = first.starts_with(|c: char| c.is_ascii_digit())
        && first
            .split([' ', ']', '`'])
            .next()
            .is_some_and(|word| word.contains('.') && numbers(word).is_some_and(|n| n.len() > 1))
        && !first.contains(". ");
    is_version || ELSEWHERE.iter().any(|word| heading.contains(word))
}

const RUNTIMES: [(&str, Runtime); 8] = [
    ("node.js", Runtime::Node),
    ("nodejs", Runtime::Node),
    ("node", Runtime::Node),
    ("rust", Runtime::Rust),
    ("rustc", Runtime::Rust),
    ("go", Runtime::Go),
    ("golang", Runtime::Go),
    ("python", Runtime::Python),
];

/// Words that make a version one that is asked for.
const ASKING: [&str; 16] = [
    "require",
    "need",
    "minimum",
    "at least",
    "or later",
    "or newer",
    "or higher",
    "or above",
    "or greater",
    "msrv",
    "prerequisite",
    "minimal",
    "and up",
    "and above",
    "and later",
    "supported rust version",
];

/// Words that make it another one.
const OTHERWISE: [&str; 28] = [
    "since",
    "before",
    "until",
    "prior",
    "older",
    "drop",
    " was ",
    "were ",
    "bump",
    "previous",
    "no longer",
    "tested",
    "prior to",
    "up to",
    "example",
    " if ",
    "feature",
    "stabili",
    "for ",
    "below",
    "with the",
    "in case",
    "are using",
    "engine",
    "browser",
    "end of life",
    "deprecat",
    "ancient",
];

/// Versions of runtimes that a paragraph asks for, with the byte where their sentence names them.
pub(super) fn read(paragraph: &str) -> Vec<(usize, ClaimKind, String)> {
    let mut found = Vec::new();
    let mut begin = 0;
    while let Some(rest) = paragraph.get(begin..).filter(|rest| !rest.is_empty()) {
        let is_end = |pair: &[u8]| matches!(pair, [b'.' | b'!' | b'?', b' ']);
        let end = rest.as_bytes().windows(2).position(is_end).map_or(rest.len(), |at| at + 2);
        let sentence = rest.get(..end).unwrap_or(rest);
        for (kind, text) in asked(sentence) {
            let version = text.rsplit(' ').next().unwrap_or_default();
            found.push((begin + sentence.find(version).unwrap_or_default(), kind, text));
        }
        begin += end;
    }
    found
}

fn asked(sentence: &str) -> Vec<(ClaimKind, String)> {
    if sentence.len() > 2_000 {
        return Vec::new();
    }
    let lower = format!(" {} ", sentence.to_lowercase());
    if OTHERWISE.iter().any(|word| lower.contains(word)) {
        return Vec::new();
    }
    let asks = ASKING.iter().any(|word| lower.contains(word));
    let mut found = Vec::new();
    let words: Vec<&str> = lower.split([' ', '\t', '(', ')', ',', ';']).filter(|w| !w.is_empty()).collect();
    for (i, word) in words.iter().enumerate() {
        let name = word.trim_matches(|c: char| matches!(c, '*' | '`' | '"' | ':' | '_'));
        let Some((_, runtime)) = RUNTIMES.iter().find(|(known, _)| *known == name) else { continue };
        let mut at = i + 1;
        let mut asked = asks;
        while let Some(word) = words.get(at) {
            match *word {
                ">=" | "≥" | "=>" => asked = true,
                "version" | "versions" | "v" | "compiler" | "toolchain" | "is" | "of" => {}
                "msrv" | "minimum" => asked = true,
                _ => break,
            }
            at += 1;
        }
        let Some(word) = words.get(at).filter(|_| at <= i + 5) else { continue };
        let bare = word.trim_start_matches(['`', '*', 'v', '≥', '>', '=', '^', '~', '"']);
        let is_least = asked
            || word.starts_with(['≥', '>', '^'])
            || bare.trim_end_matches(['.', '`', '*']).ends_with('+');
        let Some(version) = numbers(bare).filter(|_| bare.starts_with(|c: char| c.is_ascii_digit())) else {
            continue;
        };
        // What follows a version may be no end of it: 3.x, 1.75-nightly, 2021.
        let rest = bare.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_plain = rest.chars().all(|c| matches!(c, '+' | '`' | '*' | '.' | '!' | '"' | ':' | 'x' | ')'));
        if is_least && is_plain && version.first().is_some_and(|major| *major < 1_000) {
            found.push((
                ClaimKind::Runtime { runtime: *runtime, version },
                format!("{} {}", runtime.name(), bare.trim_end_matches(['.', '`', '*', '!', '"', ':'])),
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_tell_of_other_times() {
        for heading in [
            "Changelog",
            "1.2.0",
            "[v1.2.3] - 2026-01-01",
            "v0.3",
            "Roadmap",
            "Upgrading from 1.x",
            "Release notes",
        ] {
            assert!(is_elsewhere(heading), "{heading}");
        }
        for heading in ["Usage", "1. Install", "2.1. Install", "Version", "Rust 1.85"] {
            assert!(!is_elsewhere(heading), "{heading}");
        }
    }

    #[test]
    fn versions_that_are_asked_for_are_read() {
        for (line, expected) in [
            ("Requires Node.js 18.12 or later", Some((Runtime::Node, vec![18, 12]))),
            ("Node >= 20", Some((Runtime::Node, vec![20]))),
            ("You need Rust 1.85+ and time.", Some((Runtime::Rust, vec![1, 85]))),
            ("Python 3.10+", Some((Runtime::Python, vec![3, 10]))),
            ("The minimum supported Rust version is 1.63.", Some((Runtime::Rust, vec![1, 63]))),
            ("Go (version 1.22 or newer)", Some((Runtime::Go, vec![1, 22]))),
            ("Rust 1.63", None),
            ("Requires the 2021 edition of Rust 2021", None),
            ("Since Rust 1.39 async is required", None),
            ("If you need Rust 1.20, use 0.3", None),
            ("Go 3 steps further, at least", None),
            ("go to 3", None),
            ("needs node-sass 4", None),
        ] {
            let found = read(line).into_iter().next().map(|(_, kind, _)| match kind {
                ClaimKind::Runtime { runtime, version } => (runtime, version),
                _ => panic!(),
            });
            // "Go 3 steps" is a version to nobody but a parser; the manifest decides.
            assert_eq!(found.filter(|(r, v)| !(*r == Runtime::Go && v == &[3])), expected, "{line}");
        }
    }
}
