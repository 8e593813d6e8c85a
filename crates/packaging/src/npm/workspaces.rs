//! Which folders a workspace's top says are its packages: `workspaces` of package.json (npm, yarn, bun), `packages` of
//! pnpm-workspace.yaml.

use saphyr_parser::{Event, Parser};
use serde_json::Value;

use super::manifest::Manifest;

/// Most patterns that are read.
const MAX_PATTERNS: usize = 1_000;

/// Most events of a YAML file, and its most bytes.
const MAX_EVENTS: usize = 50_000;
const MAX_BYTES: usize = 1 << 20;

/// Patterns of folders relative to the top, in their order; `!` begins those that leave out. A byte that is no YAML ends the
/// reading: what came before counts.
pub fn patterns(manifest: Option<&Manifest>, pnpm: Option<&[u8]>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(workspaces) = manifest.and_then(|m| m.get("workspaces")) {
        let list = workspaces.as_array().or_else(|| workspaces.get("packages").and_then(Value::as_array));
        found.extend(list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    }
    if let Some(text) = pnpm.and_then(|bytes| std::str::from_utf8(bytes).ok()) {
        found.extend(packages(text));
    }
    let tidy = |pattern: String| {
        let (mark, rest) = pattern.strip_prefix('!').map_or(("", pattern.as_str()), |rest| ("!", rest));
        format!("{mark}{}", rest.trim_start_matches("./").trim_end_matches('/'))
    };
    let mut found: Vec<String> = found.into_iter().take(MAX_PATTERNS).map(tidy).collect();
    found.retain(|pattern| !matches!(pattern.as_str(), "" | "!" | "."));
    found
}

/// The texts of the list `packages` at the top of a YAML document.
fn packages(text: &str) -> Vec<String> {
    let (mut depth, mut is_key, mut inside, mut found) = (0_usize, true, false, Vec::new());
    // Whoever lists folders opens no brackets by the hundred: the parser is not to be led down there.
    if text.len() > MAX_BYTES || text.bytes().filter(|b| matches!(b, b'[' | b'{')).count() > MAX_PATTERNS {
        return found;
    }
    for event in Parser::new_from_str(text).take(MAX_EVENTS) {
        let Ok((event, _)) = event else { break };
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                if depth == 1 {
                    (is_key, inside) = (true, false);
                }
            }
            Event::Scalar(value, ..) if depth == 1 => {
                inside = is_key && value == "packages";
                is_key = !is_key;
            }
            Event::Scalar(value, ..) if depth == 2 && inside => found.push(value.into_owned()),
            Event::Alias(_) if depth == 1 => is_key = !is_key,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_in_which_workspaces_are_declared_are_read() {
        let read = |json: &str| patterns(Some(&Manifest::read(json.as_bytes()).unwrap()), None);
        assert_eq!(
            read(r#"{"workspaces":["packages/*","!packages/x/","./apps/web"]}"#),
            ["packages/*", "!packages/x", "apps/web"]
        );
        assert_eq!(read(r#"{"workspaces":{"packages":["a"],"nohoist":["b"]}}"#), ["a"]);
        assert_eq!(read(r#"{"name":"x"}"#), Vec::<String>::new());
        let yaml =
            "catalog:\n  packages: [no]\npackages:\n  - 'packages/*'\n  - \"!**/test/**\"\nonly:\n  - z\n";
        assert_eq!(patterns(None, Some(yaml.as_bytes())), ["packages/*", "!**/test/**"]);
        assert_eq!(patterns(None, Some(b"packages: [a, b]\n{")), ["a", "b"]);
        assert_eq!(patterns(None, Some(b"- packages\n- a\n")), Vec::<String>::new());
    }
}
