//! Flags of the repository's own programs: one that no source names, in any spelling that parsers of arguments make flags from, is
//! not known.

use std::collections::{BTreeMap, BTreeSet};

use crate::ground::Ground;

/// Most sources that are read, and bytes of all of them: beyond that nothing is found.
const MAX_FILES: usize = 3_000;
const MAX_BYTES: usize = 24 * 1024 * 1024;

/// Endings of sources.
const SOURCES: [&str; 24] = [
    ".rs", ".go", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".rb", ".java", ".kt",
    ".c", ".cc", ".cpp", ".h", ".cs", ".swift", ".sh", ".toml", ".json", ".zig",
];

/// Flags that libraries bring.
const BROUGHT: [&str; 12] = [
    "help",
    "version",
    "verbose",
    "quiet",
    "color",
    "colour",
    "no-color",
    "debug",
    "silent",
    "nocapture",
    "test-threads",
    "completions",
];

/// Of flags of own programs, those that no source names, and why that is said.
pub(super) fn unknown<'c>(
    ground: &Ground<'_>,
    asked: &[(&'c str, &'c str)],
) -> BTreeMap<(&'c str, &'c str), String> {
    let own: BTreeSet<&str> = ground
        .crates
        .iter()
        .flat_map(|c| &c.bins)
        .chain(ground.packages.iter().flat_map(|p| &p.bins))
        .map(String::as_str)
        .collect();
    // What `cargo run` starts is one of the crates' programs.
    let is_own = |program: &str| {
        if program.is_empty() {
            ground.crates.iter().any(|c| !c.bins.is_empty())
        } else {
            own.contains(program)
        }
    };
    let mut left: Vec<((&str, &str), [String; 4])> = asked
        .iter()
        .filter(|(program, flag)| is_own(program) && !BROUGHT.contains(&flag.trim_start_matches('-')))
        .map(|asked| (*asked, spellings(asked.1.trim_start_matches('-'))))
        .collect();
    left.dedup_by(|a, b| a.0 == b.0);
    if left.is_empty() {
        return BTreeMap::new();
    }
    let (mut files, mut bytes) = (0, 0);
    for path in ground.tree.files().filter(|path| SOURCES.iter().any(|ending| path.ends_with(ending))) {
        if left.is_empty() {
            break;
        }
        let Some(text) = ground.text(path) else { return BTreeMap::new() };
        files += 1;
        bytes += text.len();
        if files > MAX_FILES || bytes > MAX_BYTES {
            return BTreeMap::new();
        }
        left.retain(|(_, spellings)| !spellings.iter().any(|spelling| text.contains(spelling.as_str())));
    }
    if files == 0 {
        return BTreeMap::new();
    }
    left.into_iter().map(|(asked, _)| (asked, format!("no source names {}", asked.1))).collect()
}

/// `dry-run`, `dry_run`, `dryRun`, and without the `no-` that is made for switches.
fn spellings(flag: &str) -> [String; 4] {
    let bare = flag.strip_prefix("no-").unwrap_or(flag);
    let mut camel = String::new();
    let mut is_next = false;
    for c in bare.chars() {
        if c == '-' || c == '_' {
            is_next = true;
        } else {
            camel.push(if is_next { c.to_ascii_uppercase() } else { c });
            is_next = false;
        }
    }
    [flag.to_owned(), bare.replace('_', "-"), bare.replace('-', "_"), camel]
}
