//! Places in stack traces: which of the frames is the caller's own.

use std::sync::LazyLock;

use crate::Context;
use crate::context::Place;
use crate::formats::{Pattern, matched, number, part};

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) place: Place,
    pub(crate) line: u32,
}

static GO: Pattern = LazyLock::new(|| regex::Regex::new(r"^\s+(?P<file>/\S+\.go):(?P<line>\d+)").ok());
static NODE: Pattern = LazyLock::new(|| {
    regex::Regex::new(
        r"^\s*(?:at\s|❯\s)?.*?(?P<file>(?:file://)?[^\s()]+\.[a-z]{1,4}):(?P<line>\d+):\d+\)?\s*$",
    )
    .ok()
});
static RUST: Pattern =
    LazyLock::new(|| regex::Regex::new(r"panicked at (?P<file>[^\s:']+):(?P<line>\d+):\d+:?$").ok());

static PYTHON: Pattern = LazyLock::new(|| {
    regex::Regex::new(r#"^(?:\s*File ")?(?P<file>[^\s:"]+\.py)(?:", line |:)(?P<line>\d+)(?:: |, in |$)"#)
        .ok()
});

/// The last frame of a pytest or Python trace that lies below the root: where it was raised.
pub(crate) fn python(text: &str, context: &Context<'_>) -> Option<Spot> {
    let own = |line: &&str| first(&PYTHON, line, context);
    text.lines().rev().find_map(|line| own(&line))
}

/// The first frame of a Go trace that lies below the root.
pub(crate) fn go(text: &str, context: &Context<'_>) -> Option<Spot> {
    first(&GO, text, context)
}

/// The first frame of a Node trace that lies below the root, outside `node_modules`.
pub(crate) fn node(text: &str, context: &Context<'_>) -> Option<Spot> {
    first(&NODE, text, context)
}

/// Where a Rust test panicked.
pub(crate) fn rust(text: &str, context: &Context<'_>) -> Option<Spot> {
    first(&RUST, text, context)
}

fn first(pattern: &Pattern, text: &str, context: &Context<'_>) -> Option<Spot> {
    text.lines().map(|line| crate::text::head(line, 1_000)).find_map(|line| {
        let groups = matched(pattern, line)?;
        let file = part(&groups, "file");
        let place = context.place(file);
        // A frame of the runtime (`node:internal/…`) has no path.
        let own = !place.outside && !file.starts_with("node:") && !place.file.contains("node_modules/");
        own.then_some(())?;
        Some(Spot { place, line: number(&groups, "line")? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_below_the_root_is_taken() {
        let context = Context { root: "/srv/shop", ..Context::default() };
        let at = |spot: Option<Spot>| spot.map(|spot| (spot.place.file, spot.line));
        let node_text = "Error: no\n    at f (node:internal/x.js:1:2)\n    at g (/srv/shop/node_modules/a/b.js:1:2)\n    \
                         at h (file:///srv/shop/src/a.js:7:32)\n";
        assert_eq!(at(node(node_text, &context)), Some(("src/a.js".to_owned(), 7)));
        let go_text = "\t/usr/local/go/src/testing/testing.go:2 +0x1\n\t/srv/shop/a_test.go:9 +0x28\n";
        assert_eq!(at(go(go_text, &context)), Some(("a_test.go".to_owned(), 9)));
        assert_eq!(
            at(rust("thread 'a' (1) panicked at src/lib.rs:44:9:\n", &context)),
            Some(("src/lib.rs".into(), 44))
        );
    }
}
