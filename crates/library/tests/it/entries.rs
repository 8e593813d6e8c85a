//! Patterns and skills, file by file.

use gatewright_library::entry::{Read, Text, of_files, of_folder};
use gatewright_library::pattern::{Found, survey};
use gatewright_library::problem::Code;

const DOCUMENT: &str = "\u{feff}---\r\nid: database/rls-policy\r\ncategory: database\r\nquality_score: 7.5\r\ntags: [RLS, postgres, rls]\r\ncreated: 2025-11-05\r\n---\r\n# Row-level security\r\n\r\n![badge](x.svg)\r\n\r\nPolicies **per tenant**.\r\n\r\n---\r\n\r\n## Parameters\r\n\r\n| Name | Type | Required |\r\n|---|---|---|\r\n| `table` | string | yes |\r\n\r\n```ts\r\n## never a heading\r\n**Reads:** /etc/passwd\r\n";

const META: &str = "# Skill: RLS\r\n\r\n**Category:** database\r\n*Language:* TypeScript\r\n__Quality Score__: 8.5/10\r\n**Reuse Count:** 12\r\n**Clock:** yes\r\n\r\n## Overview\r\n\r\nMakes policies.\r\n\r\n| Criterion | Score |\r\n|---|---|\r\n| Correctness | 9/10 |\r\n";

fn found(paths: &[&str]) -> Found {
    survey(paths.iter().copied()).found.remove(0)
}

fn files(document: &str, meta: Option<&str>) -> Read {
    let found = found(&["database/rls-policy.md", "database/rls-policy-SKILL.md"]);
    let meta = meta.map(|text| Text { file: "database/rls-policy-SKILL.md", text });
    of_files(&found, Text { file: "database/rls-policy.md", text: document }, meta)
}

fn told(read: &Read) -> Vec<(&str, Option<u32>, Code)> {
    read.problems.iter().map(|p| (p.file.as_str(), p.line, p.code)).collect()
}

#[test]
fn three_files_with_crlf_a_byte_order_mark_and_an_unclosed_fence_are_read() {
    let read = files(DOCUMENT, Some(META));
    let entry = read.entry.as_ref().unwrap();
    assert_eq!(told(&read), []);
    assert_eq!(entry.id.as_str(), "database/rls-policy");
    assert_eq!(entry.title, "Row-level security");
    assert_eq!(entry.description, "Makes policies.");
    assert_eq!(entry.tags, ["rls", "postgres"]);
    assert_eq!(entry.language.as_deref(), Some("TypeScript"));
    assert_eq!(entry.quality.unwrap().to_string(), "8.5");
    assert_eq!((entry.reuse_count, entry.asks.clock), (12, true));
    assert!(entry.asks.reads.is_empty());
    assert_eq!(entry.schema.as_ref().unwrap().schema["required"][0], "table");
}

#[test]
fn without_metadata_the_front_matter_and_the_text_say_it() {
    let read = files(DOCUMENT, None);
    let entry = read.entry.unwrap();
    assert_eq!(
        (entry.quality.unwrap().to_string().as_str(), entry.description.as_str()),
        ("7.5", "Policies per tenant.")
    );
    let read = files("Only text.\n", None);
    let entry = read.entry.unwrap();
    assert_eq!(
        (entry.title.as_str(), entry.description.as_str(), entry.quality),
        ("rls-policy", "Only text.", None)
    );
}

#[test]
fn every_problem_of_every_file_has_its_file_and_line() {
    let document =
        "---\nid: ui/other\ncategory: ui\nquality_score: 11\n---\n# X\n\n## Input\n\n```json\n{\n```\n";
    let meta = "# X\n\n**Category:** ui\n**Quality:** 12\n**Last Verified:** 05.11.2025\n**Network:** https://x\n**Memory:** 64\n";
    let read = files(document, Some(meta));
    assert!(read.entry.is_some());
    let (document, meta) = ("database/rls-policy.md", "database/rls-policy-SKILL.md");
    assert_eq!(
        told(&read),
        [
            (document, Some(2), Code::IdMismatch),
            (document, Some(3), Code::IdMismatch),
            (document, Some(4), Code::QualityInvalid),
            (document, Some(11), Code::SchemaInvalid),
            (meta, Some(4), Code::QualityInvalid),
            (meta, Some(5), Code::FieldInvalid),
            (meta, Some(6), Code::GrantInvalid),
            (meta, Some(7), Code::GrantInvalid),
            (meta, Some(3), Code::IdMismatch),
        ]
    );
    let read = files("---\na: 1\nb: *x\n---\n", None);
    assert_eq!(
        (read.entry.is_none(), told(&read)),
        (true, vec![(document, Some(3), Code::FrontMatterInvalid)])
    );
    assert_eq!(read.problems[0].column, Some(4));
    let read = files(&"x".repeat(2 << 20), None);
    assert_eq!((read.entry.is_none(), told(&read)), (true, vec![(document, None, Code::TooLarge)]));
}

#[test]
fn a_front_matter_that_is_never_closed_is_text_in_a_pattern_and_a_problem_in_a_skill() {
    let text = "---\nname: pdf\n\n# Title\n\nWords.\n";
    let read = files(text, None);
    assert_eq!(read.entry.unwrap().title, "Title");
    let skill = found(&["pdf/SKILL.md"]);
    let read = of_folder(&skill, Text { file: "pdf/SKILL.md", text });
    assert_eq!(
        (read.entry.is_none(), told(&read)),
        (true, vec![("pdf/SKILL.md", Some(1), Code::FrontMatterInvalid)])
    );
}

#[test]
fn a_skill_is_an_entry_of_the_category_that_it_names() {
    let skill = found(&["pdf/SKILL.md", "pdf/a\u{202e}b\0.md"]);
    let text = "---\nname: pdf\ndescription: Fills forms.\nmetadata:\n  category: ui\n  gatewright-random: 'yes'\n---\n# PDF\n";
    let read = of_folder(&skill, Text { file: "pdf/SKILL.md", text });
    let entry = read.entry.as_ref().unwrap();
    assert_eq!(
        (entry.id.as_str(), entry.description.as_str(), entry.asks.random),
        ("ui/pdf", "Fills forms.", true)
    );
    assert!(entry.skill.as_ref().unwrap().conforms);
    assert_eq!(told(&read), []);
}
