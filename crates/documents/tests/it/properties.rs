//! Any repository and any Markdown.

use gatewright_documents::{
    Ground, MAX_CLAIMS, MAX_FINDINGS, State, check, claims, defaults, generate, mark,
};
use proptest::prelude::*;

use crate::{Files, audited, healed};

const PATHS: [&str; 16] = [
    "README.md",
    "AGENTS.md",
    "CLAUDE.md",
    "Makefile",
    "package.json",
    "Cargo.toml",
    "justfile",
    "go.mod",
    "docs/api.md",
    "docs/schema.md",
    "openapi.yaml",
    "x/openapi.json",
    "db/migrations/1_a.sql",
    "db/migrations/2_b.sql",
    "schema.prisma",
    ".gitignore",
];

/// Pieces of all that is read here.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "# ", "## 1.0\n", "\n", "\n\n", "```sh\n", "```\n", "```toml\n", "~~~json\n", "`src/a.rs`", "`make x`", "`npm run y`", "[a](b.md)",
            "![](c/d.png)", "[x]: ../y.md\n", "<!-- ", " -->", "<b>", "| a | b |\n|---|---|\n", "- ", "> ", "    ", "---\n", "$ ", "make all && ",
            "cd x; ", "git clone y\n", "cargo test -p z --features a,b -- --c\n", "npm i x\n", "x = \"1.2\"\n", "Requires Rust 1.2+. ", "react@18 ",
            "CREATE TABLE t (a int, b text DEFAULT ';');", "ALTER TABLE t ADD c int;", "ALTER TABLE t RENAME TO u;", "DROP TABLE t;", "CREATE",
            " INDEX i ON t (", "(", ")", "$$", "$a$", "'", "\"", "`", "[", "]", "{", "}", ",", ";", ":", "--", "/*", "*/", "\\", "openapi: 3.1.0\n",
            "paths:\n", "  /a:\n", "    get:\n", "{\"openapi\":\"3.0.0\",\"paths\":{\"/a\":{\"get\":{}}}}", "&a", "*a", "model A {\n", "enum B {\n", "}\n",
            "  id Int @id\n", "all:\n\ttrue\n", "%.o:\n", "## help\n", "[package]\nname = \"p\"\n", "{\"scripts\":{\"y\":\"z\"}}", "go 1.22\n", "*.log\n",
            "<!-- gatewright:generated api 1 sources= body=", "gatewright:generated", "\u{0}", "\r\n", "é", "🙂", "\u{feff}", "%20", "%zz", "..", "/",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z/._-]{1,20}",
    ];
    prop::collection::vec(piece, 0..50).prop_map(|pieces| pieces.concat())
}

fn repository() -> impl Strategy<Value = Files> {
    prop::collection::vec((0..PATHS.len(), text()), 0..7)
        .prop_map(|files| Files(files.into_iter().map(|(at, text)| (PATHS[at].to_owned(), text)).collect()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_markdown_is_too_odd(text in text(), files in repository()) {
        let found = claims(&text);
        prop_assert!(found.len() <= MAX_CLAIMS);
        let lines = u32::try_from(text.matches('\n').count() + 1).unwrap();
        prop_assert!(found.iter().all(|claim| claim.line >= 1 && claim.line <= lines), "{found:?}");
        prop_assert_eq!(&claims(&text), &found);
        let ground = Ground::survey(&files).unwrap();
        for document in ["README.md", "docs/api.md", ""] {
            let findings = check(&ground, &found, document);
            prop_assert!(findings.len() <= MAX_FINDINGS);
            prop_assert_eq!(check(&ground, &found, document), findings);
        }
    }

    #[test]
    fn what_is_made_is_fresh_and_made_once(mut files in repository()) {
        let written = healed(&mut files);
        let all = audited(&files);
        for path in &written {
            let said = all.iter().find(|said| said.path.as_ref() == Some(path)).unwrap();
            prop_assert_eq!(said.state, State::Fresh, "{:?}\n{}", said, files.0[path]);
        }
        let again = healed(&mut files);
        prop_assert!(again.is_empty(), "{again:?}");
        for requirement in defaults() {
            let ground = Ground::survey(&files).unwrap();
            if let Ok(made) = generate(&ground, &requirement) {
                prop_assert!(matches!(mark::read(&made.text), mark::Origin::Generated(_)), "{}", made.text);
                prop_assert_eq!(generate(&ground, &requirement).unwrap(), made);
            }
        }
    }

    #[test]
    fn what_somebody_wrote_is_never_changed(mut files in repository(), edit in text(), at in 0_usize..3) {
        let path = ["AGENTS.md", "docs/api.md", "docs/schema.md"][at];
        healed(&mut files);
        // Whatever is there, with something more in it; a first line that is no mark is nobody's but its writer's.
        let before = files.0.get(path).cloned().unwrap_or_default();
        let after = format!("{before}{edit}");
        let is_edited = before.replace("\r\n", "\n") != after.replace("\r\n", "\n") && !after.is_empty();
        files.0.insert(path.to_owned(), after.clone());
        let written = healed(&mut files);
        if is_edited {
            prop_assert!(!written.contains(&path.to_owned()), "{after}");
            prop_assert_eq!(&files.0[path], &after);
        }
    }
}
