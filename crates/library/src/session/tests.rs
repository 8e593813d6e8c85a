use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::problem::Problems;

const TEXT: &str = "# Row policies\r\n\r\n**Date:** 2025-11-05\r\n\r\n## 1. Session Summary\r\n\r\nTenants are *apart*\r\nnow.\r\n\r\nSecond.\r\n\r\n## Key Decisions\r\n\r\nWe decided:\r\n\r\n- Use RLS\r\n  because it holds\r\n\r\n  ```sql\r\n  select 1\r\n  ```\r\n\r\n  always\r\n  - nested\r\n* No ORM\r\nlazy\r\n1. Third\r\n\r\nAfter.\r\n\r\n### Implementation\r\n\r\nFirst one.\r\nStill.\r\n\r\nSecond one.\r\n\r\n## Blockers\r\n\r\n### `pg` is old\r\n\r\nUpgrade it.\r\n\r\n- soon\r\n\r\n### Time\r\n\r\n## Next steps\r\n\r\n- [ ] test\r\n\r\n```ts src/a.ts\r\nlet a = 1;\r\n```\r\n";

#[test]
fn a_session_is_read_as_people_write_it() {
    let found = read(TEXT);
    assert_eq!(found.title.as_deref(), Some("Row policies"));
    assert_eq!(found.summary, "Tenants are *apart*\nnow.\n\nSecond.");
    assert_eq!(found.decisions, ["Use RLS\nbecause it holds\n\n\nalways\n- nested", "No ORM\nlazy", "Third"]);
    assert_eq!(found.implementations, ["First one.\nStill.", "Second one."]);
    assert_eq!(found.challenges, ["`pg` is old\nUpgrade it.\n\n- soon", "Time"]);
    assert_eq!(found.next_steps, ["[ ] test"]);
    let code: Vec<_> =
        found.code_blocks.iter().map(|b| (b.language.as_str(), b.file.as_deref(), b.code.as_str())).collect();
    assert_eq!(code, [("sql", None, "select 1"), ("typescript", Some("src/a.ts"), "let a = 1;")]);
    assert_eq!(found.short(), "Tenants are *apart* now. Second.");
}

#[test]
fn without_sections_the_first_paragraph_is_the_summary() {
    let found = read("# T\n\n**Date:** x\n\nWords.\n\nMore.\n");
    assert_eq!((found.title.as_deref(), found.summary.as_str()), (Some("T"), "Words."));
    let found = read("# Summary\n\nS.\n\n# Decisions\n\n- d\n");
    assert_eq!((found.title, found.summary.as_str(), found.decisions), (None, "S.", vec!["d".to_owned()]));
    assert_eq!(read(""), Session::default());
}

#[test]
fn what_looks_like_markdown_is_escaped_and_nothing_else() {
    let session = Session {
        title: Some("C# # #".into()),
        summary: "# no heading\n\n---\n`code` *stays*\n\\# back".into(),
        decisions: vec!["- - -\n```\n1. x".into(), "<!-- x".into()],
        ..Session::default()
    };
    let text = render(&session);
    assert_eq!(
        text,
        "# C#\n\n## Summary\n\n\\# no heading\n\n\\---\n`code` *stays*\n\\\\# back\n\n## Decisions\n\n- \\- - -\n  \\```\n  1. x\n- \\<!-- x\n"
    );
    assert_eq!(read(&text), Session { title: Some("C#".into()), ..session });
}

#[test]
fn a_pack_is_read_with_texts_and_objects() {
    let mut problems = Problems::of("finalization-pack.json");
    let text = r#"{"summary": "S", "decisions": ["a", {"decision": "b", "rationale": "c"}, 5, null, {}], "next_steps": "one",
        "codeBlocks": [{"language": "TS", "code": "x", "file": "a.ts"}, {"code": " "}], "compression": {"ratio": 0.9}}"#;
    let (found, pack) = read_pack(text, &mut problems).unwrap();
    assert_eq!(found.decisions, ["a", "b\nc", "5"]);
    assert_eq!((found.next_steps, found.code_blocks.len()), (vec!["one".to_owned()], 1));
    assert_eq!(found.code_blocks[0].language, "typescript");
    assert_eq!(pack["compression"]["ratio"], 0.9);
    assert!(read_pack("{\n\"a\": }", &mut problems).is_none() && read_pack("[]", &mut problems).is_none());
    assert!(read_pack(&" ".repeat(MAX_PACK + 1), &mut problems).is_none());
    let told: Vec<_> = problems.found().iter().map(|p| p.line).collect();
    assert_eq!(told, [Some(2), Some(1), None]);
}

#[test]
fn a_ratio_is_of_the_first_that_there_is() {
    let metrics = json!({"tokens": {"original": 1000, "compressed": 13}});
    let pack = json!({"compression": {"ratio": 0.75, "tokensBeforeFinalization": 800}});
    let found = compression(Some(&metrics), Some(&pack), Some((10, 5))).unwrap();
    assert_eq!(
        (found.compression_ratio, found.savings, found.computed_from),
        (98.7, Some(987), ComputedFrom::Metrics)
    );
    let found = compression(None, Some(&pack), Some((10, 5))).unwrap();
    assert_eq!(
        (
            found.compression_ratio,
            found.original_tokens,
            found.compressed_tokens,
            found.savings,
            found.computed_from
        ),
        (75.0, Some(800), Some(200), Some(600), ComputedFrom::Pack)
    );
    let percent = json!({"compression": {"ratio": 92.5}});
    let found = compression(Some(&json!({})), Some(&percent), None).unwrap();
    assert_eq!((found.compression_ratio, found.original_tokens), (92.5, None));
    let found = compression(None, None, Some((10, 15))).unwrap();
    assert_eq!(
        (found.compression_ratio, found.savings, found.computed_from),
        (-50.0, Some(-5), ComputedFrom::Files)
    );
    assert_eq!(compression(None, None, None), Err(NoRatio::Nothing));
    let none = json!({"tokens": {"original": 0, "compressed": 0}});
    assert_eq!(compression(Some(&none), None, None), Err(NoRatio::Figures));
}

#[test]
fn sessions_are_taken_together() {
    let all: Vec<Compression> = [(100, 50), (100, 10), (100, 150), (100, 10)]
        .map(|c| compression(None, None, Some(c)).unwrap())
        .to_vec();
    let found = aggregate(&all);
    assert_eq!((found.total_sessions, found.total_tokens_saved), (4, 180));
    assert_eq!((found.best, found.worst, found.avg_compression_ratio), (Some(1), Some(2), 45.0));
    assert_eq!((aggregate(&[]).best, aggregate(&[]).avg_compression_ratio), (None, 0.0));
}

#[test]
fn files_of_a_session_are_found_by_their_names() {
    let found = sessions([
        "2025-11-05-a.md",
        "2025-11-05-a.metrics.json",
        "2025-11-05-a/metrics.json",
        "2025-11-05-a/b.log",
        "2025-11-05-a/a.jsonl",
        "2025-11-05-a/deep/c.log",
        "b/finalization-pack.json",
        "b/metrics.json",
        "c/finalization-pack.json",
        "c/session-summary.md",
        "only.metrics.json",
        "README.md",
        "bad\u{202e}name.md",
        "-x/session-summary.md",
    ]);
    let ids: Vec<_> = found.found.iter().map(|f| f.id.as_str()).collect();
    assert_eq!(ids, ["2025-11-05-a", "b", "c"]);
    assert_eq!(found.found[0].metrics.as_deref(), Some("2025-11-05-a.metrics.json"));
    assert_eq!(found.found[0].raw, ["2025-11-05-a/a.jsonl", "2025-11-05-a/b.log"]);
    assert_eq!(found.found[1].main, Main::Pack("b/finalization-pack.json".into()));
    assert_eq!(found.found[2].main, Main::Markdown("c/session-summary.md".into()));
    assert_eq!(found.found[2].pack.as_deref(), Some("c/finalization-pack.json"));
    let told: Vec<_> = found.problems.iter().map(|p| p.file.as_str()).collect();
    assert_eq!(told, ["-x/session-summary.md", "bad\\u{202e}name.md"]);
}

const ANY: &str = "(\\PC|[#`~\\-=*_:<!>|\\\\.\t\r\n ]|```|---|\\*\\*K:\\*\\* |\n- |\n1\\. |\n  |## Decisions\n|<!--|-->|\u{a0}|\u{2028}|\u{feff}){0,24}";

prop_compose! {
    fn block()(language in "[A-Za-z0-9+#.{}= -]{0,8}|\\PC{0,4}", code in ANY, file in proptest::option::of("[a-z ./'\"`{}=]{0,12}|\\PC{0,6}")) -> Block {
        Block { language, code, file, line: None }
    }
}

prop_compose! {
    fn session()(
        title in proptest::option::of(ANY),
        summary in ANY,
        decisions in proptest::collection::vec(ANY, 0..4),
        implementations in proptest::collection::vec(ANY, 0..3),
        challenges in proptest::collection::vec(ANY, 0..3),
        next_steps in proptest::collection::vec(ANY, 0..3),
        code_blocks in proptest::collection::vec(block(), 0..3),
    ) -> Session {
        Session { title, summary, decisions, implementations, challenges, next_steps, code_blocks }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_the_same(session in session()) {
        let normal = session.clone().normal();
        prop_assert_eq!(normal.clone().normal(), normal.clone(), "normal is normal");
        let text = render(&session);
        let mut found = read(&text);
        found.code_blocks.iter_mut().for_each(|block| block.line = None);
        prop_assert_eq!(found, normal, "{}", text);
        prop_assert_eq!(render(&read(&text)), text);
    }

    #[test]
    fn a_line_is_unescaped_as_it_was(line in "[ \t]{0,3}([\\\\#`~=*_<!-]|a| ){0,6}") {
        prop_assert_eq!(unescaped(&escaped(&line)), line);
    }

    #[test]
    fn any_text_is_a_session(text in ANY, pack in "\\PC{0,20}|\\{\"(decisions|codeBlocks|summary)\": ?(\\[\\{\\}\\]|\"a\"|null|5)\\}") {
        let _ = read(&text);
        let _ = read_pack(&pack, &mut Problems::of("x"));
    }
}
