//! Claims held against the repository. What cannot be decided from files alone is no finding.

mod about;
mod commands;
mod flags;
mod paths;
mod versions;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::claims::{Claim, ClaimKind};
use crate::ground::Ground;
use crate::ground::tree::parent;

/// Most findings of one document.
pub const MAX_FINDINGS: usize = 100;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A file or folder is not there.
    Path,
    /// A link leads nowhere.
    Link,
    /// A command is not defined.
    Command,
    /// A program does not know a flag.
    Flag,
    /// A version is another.
    Version,
}

/// Something that a document says and that is not so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The line of the document, from 1.
    pub line: u32,
    /// What it is about.
    pub kind: FindingKind,
    /// As it is written there.
    pub text: String,
    /// What is so.
    pub why: String,
}

/// Holds a document's claims against its repository; `document` is its path there, empty for one that is kept elsewhere. Findings
/// in order of lines, at most [`MAX_FINDINGS`], each thing once.
#[must_use]
pub fn check(ground: &Ground<'_>, claims: &[Claim], document: &str) -> Vec<Finding> {
    let dir = parent(document);
    let mut found = BTreeSet::new();
    let mut said = BTreeSet::new();
    let mut asked: Vec<(&Claim, &str, &str)> = Vec::new();
    for claim in claims.iter().filter(|claim| about::is_ours(ground, document, claim)) {
        let why = match &claim.kind {
            ClaimKind::Path(path) => paths::span(ground, dir, path).map(|why| (FindingKind::Path, why)),
            ClaimKind::Link(path) => paths::link(ground, document, path).map(|why| (FindingKind::Link, why)),
            ClaimKind::Run { path, folder } => {
                paths::run(ground, dir, path, folder).map(|why| (FindingKind::Path, why))
            }
            ClaimKind::Command { command, folder } => {
                commands::check(ground, dir, command, folder).map(|why| (FindingKind::Command, why))
            }
            ClaimKind::Flag { program, flag } => {
                asked.push((claim, program, flag));
                None
            }
            ClaimKind::Runtime { runtime, version } => {
                versions::runtime(ground, *runtime, version).map(|why| (FindingKind::Version, why))
            }
            ClaimKind::Dependency { name, version } => {
                versions::dependency(ground, name, version).map(|why| (FindingKind::Version, why))
            }
            ClaimKind::Snippet { name, version } => {
                versions::snippet(ground, name, version).map(|why| (FindingKind::Version, why))
            }
        };
        if let Some((kind, why)) = why
            && said.insert((kind, claim.text.clone(), why.clone()))
        {
            found.insert(Finding { line: claim.line, kind, text: claim.text.clone(), why });
        }
    }
    let unknown =
        flags::unknown(ground, &asked.iter().map(|(_, program, flag)| (*program, *flag)).collect::<Vec<_>>());
    for (claim, program, flag) in asked {
        if let Some(why) = unknown.get(&(program, flag))
            && said.insert((FindingKind::Flag, flag.to_owned(), why.clone()))
        {
            found.insert(Finding {
                line: claim.line,
                kind: FindingKind::Flag,
                text: claim.text.clone(),
                why: why.clone(),
            });
        }
    }
    found.into_iter().take(MAX_FINDINGS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::claims;
    use crate::testing::Files;

    fn files() -> Files {
        Files::new(&[
            (
                "Cargo.toml",
                "[package]\nname = \"acme\"\nversion = \"0.4.2\"\nrust-version = \"1.85\"\n[features]\nfast = []\n",
            ),
            ("src/main.rs", "const FLAGS: [&str; 1] = [\"--listen-on\"]; struct A { dry_run: bool }"),
            ("src/words/split.rs", ""),
            ("examples/demo.rs", ""),
            ("Makefile", ".PHONY: test\ntest:\n\ttrue\n"),
            (
                "package.json",
                "{\"scripts\":{\"build\":\"x\"},\"engines\":{\"node\":\">=20.1\"},\"dependencies\":{\"react\":\"^18.2.0\"}}",
            ),
            ("justfile", "all:\n  true\n"),
            ("go.mod", "module x\n\ngo 1.22\n"),
            (".nvmrc", "22\n"),
            (".gitignore", "/gen\n"),
            ("scripts/x.sh", ""),
            ("docs/guide.md", ""),
            ("docs/Setup.md", ""),
            ("web/Makefile", "dev:\n\ttrue\n"),
            ("target/debug/x", ""),
        ])
    }

    fn found(document: &str, text: &str) -> Vec<String> {
        let files = files();
        let ground = Ground::survey(&files).unwrap();
        check(&ground, &claims(text), document)
            .into_iter()
            .map(|f| format!("{} {:?} {}", f.line, f.kind, f.why))
            .collect()
    }

    #[test]
    fn what_is_so_is_no_finding() {
        let text = "`src/words/split.rs` `words/split.rs` `src/words/` [a](docs/guide.md) `docs/guide.md:3` `gen/x.rs` `target/x/y` `none/x.rs`\n\
            `make test` `cargo test --features fast` `cargo run --example demo` `just all` `npm run build` `react@18` `serde/derive`\n\n\
            Requires Rust 1.85+, Node 20+.\n\n```sh\n./scripts/x.sh\ncd web\nmake dev\ncd ../nowhere\nmake nothing\n```\n\n\
            ```sh\ncargo run -- --listen-on x --dry-run --help\nacme --listen-on=1\nother --unheard-of\n./target/debug/acme --listen-on\n```\n\n```toml\nacme = \"0.4\"\nserde = \"1\"\n```\n";
        assert_eq!(found("README.md", text), [] as [String; 0]);
        assert_eq!(
            found(
                "docs/guide.md",
                "[a](Setup.md) [b](../src/main.rs) [c](../../elsewhere.md) [d](labels/x) [e](../kit/hooks) `guide.md` `words/split.rs`"
            ),
            [] as [String; 0]
        );
    }

    #[test]
    fn what_is_not_so_is_said_with_what_is() {
        for (text, expected) in [
            ("`src/split.rs`", "1 Path there is no src/split.rs; there is src/words/split.rs"),
            ("`src/nothing.rs`", "1 Path there is no src/nothing.rs"),
            ("`docs/setup.md`", "1 Path there is no docs/setup.md; there is docs/Setup.md"),
            ("[a](docs/none.md)", "1 Link there is no docs/none.md"),
            ("[a](docs/none)", "1 Link there is no docs/none"),
            ("[b](LICENSE)", "1 Link there is no LICENSE"),
            ("[a](nowhere/none.md)", "1 Link there is no nowhere/none.md"),
            ("`make tset`", "1 Command the Makefile has no target tset; it has test"),
            ("```sh\ncd web\nmake test\n```", "3 Command web/Makefile has no target test; it has dev"),
            ("`npm run biuld`", "1 Command no package.json has a script biuld; there is build"),
            ("`just nothing`", "1 Command the justfile has no recipe nothing"),
            ("`cargo xtask test`", "1 Command cargo has no alias xtask here"),
            ("`cargo test -p acmee`", "1 Command there is no crate acmee; there is acme"),
            ("`cargo run --example dmo`", "1 Command there is no example dmo; there is demo"),
            ("`cargo test --features slow`", "1 Command no crate has a feature slow"),
            ("```sh\nbash scripts/y.sh\n```", "2 Path there is no scripts/y.sh"),
            ("`cargo run -- --listen-to`", "1 Flag no source names --listen-to"),
            ("```sh\nacme --unheard-of\n```", "2 Flag no source names --unheard-of"),
            ("Needs Rust 1.70 or later.", "1 Version Cargo.toml asks for Rust 1.85"),
            ("Needs Node 18+.", "1 Version package.json asks for Node.js 20.1"),
            ("Needs Node 23+.", "1 Version .nvmrc uses Node.js 22"),
            ("Needs Go 1.20+", "1 Version go.mod asks for Go 1.22"),
            ("`react@17`", "1 Version package.json asks for react ^18.2.0"),
            ("```toml\nacme = \"0.3\"\n```", "2 Version acme is at 0.4.2"),
        ] {
            assert_eq!(found("README.md", text), [expected], "{text}");
        }
    }

    #[test]
    fn documents_about_something_else_are_not_held_to_this() {
        for document in ["docs/blog/x.md", "docs/migration-guide.md", "CHANGELOG.md"] {
            assert_eq!(found(document, "`src/nothing.rs` Needs Node 8+."), [] as [String; 0], "{document}");
        }
        assert_eq!(found("docs/guide.md", "[a](none.md)").len(), 1);
        assert_eq!(
            found("docs/guide.md", "Needs Node 8+."),
            [] as [String; 0],
            "what users need is not what builders need"
        );
        assert_eq!(found("docs/development.md", "Needs Node 8+.").len(), 1);
    }

    #[test]
    fn findings_are_few_and_each_is_said_once() {
        let many: String =
            (0..200).map(|n| format!("`src/a{n}.rs` `src/a{n}.rs`\n")).collect::<Vec<_>>().concat();
        assert_eq!(found("README.md", &many).len(), MAX_FINDINGS);
        assert_eq!(found("README.md", "`src/x.rs`\n\n`src/x.rs`").len(), 1);
    }

    #[test]
    fn where_make_may_know_more_nothing_is_found() {
        for (path, text) in [
            ("Makefile", "%.x:\n\ttrue\n"),
            ("Makefile", "$(ALL):\n\ttrue\n"),
            ("Makefile", "include $(X)\na:\n"),
            ("Makefile", ".DEFAULT:\n\ttrue\na:\n"),
        ] {
            let files = files().with(path, text);
            let ground = Ground::survey(&files).unwrap();
            assert!(check(&ground, &claims("`make nothing`"), "README.md").is_empty(), "{text}");
        }
    }
}
