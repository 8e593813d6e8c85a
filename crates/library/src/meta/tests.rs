use proptest::prelude::*;

use super::*;

const FILE: &str = "# Skill: Row policies\r\n\r\n**Category:** database  \r\n__Language__: TypeScript\r\n- **Quality Score:** **8.5/10** <!-- kept -->\r\n*Last Verified:* 2025-11-05\r\n**REUSE COUNT:** 12 uses\r\n**Dependencies:**\r\n- `pg`\r\n- zod\r\n\r\n**Reads:** migrations/*.sql\r\n\r\n```\r\n**Reuse Count:** 99\r\n```\r\n\r\n| Criterion | Score | Notes |\r\n|---|---|---|\r\n| **Correctness** | 9/10 | sql |\r\n| Reusability | 9/10 | |\r\n| Documentation | 8/10 |\r\n| Test Coverage | 8/10 | \t|\r\n| Performance | 9/10 | <50ms |\r\n\r\n**Overall Score:** 8.5/10";

fn score(tenths: u8) -> Score {
    Score::from_tenths(tenths).unwrap()
}

fn meta(text: &str) -> (Meta, Vec<(Option<u32>, Code)>) {
    let mut problems = Problems::of("x-SKILL.md");
    let found = read(text, &mut problems);
    (found, problems.found().iter().map(|p| (p.line, p.code)).collect())
}

#[test]
fn every_line_is_read_however_it_is_emphasised() {
    let (found, problems) = meta(FILE);
    assert_eq!(found.category.as_deref(), Some("database"));
    assert_eq!(found.language.as_deref(), Some("TypeScript"));
    assert_eq!(found.last_verified.map(|d| d.to_string()).as_deref(), Some("2025-11-05"));
    assert_eq!(found.reuse_count, Some(12));
    assert_eq!(found.dependencies, ["pg", "zod"]);
    assert_eq!(found.asks.reads, ["migrations/*.sql"]);
    assert_eq!(found.criteria.mean(), Some(score(86)));
    // The comment makes it no score; the one below the table is another spelling of the same line.
    assert_eq!(problems, [(Some(5), Code::QualityInvalid), (Some(26), Code::Ambiguous)]);
    let (found, problems) = meta(&FILE.replace(" <!-- kept -->", ""));
    assert_eq!((found.stated, found.quality(), problems), (Some(score(85)), Some(score(85)), vec![]));
}

#[test]
fn what_cannot_be_read_is_told_with_its_line_and_column() {
    let mut problems = Problems::of("x-SKILL.md");
    let text = "# X\n\n**Quality:** great\n**Last Verified:** yesterday\n**Reuse Count:** many\n**Verified:** perhaps\n**Timeout:** 5\n| Criterion | Score |\n|--|--|\n| Performance | 11/10 |\n";
    assert_eq!(read(text, &mut problems), Meta::default());
    let told: Vec<_> = problems.found().iter().map(|p| (p.line.unwrap(), p.column, p.code)).collect();
    assert_eq!(
        told,
        [
            (3, Some(14), Code::QualityInvalid),
            (4, Some(20), Code::FieldInvalid),
            (5, Some(18), Code::FieldInvalid),
            (6, Some(15), Code::FieldInvalid),
            (7, Some(14), Code::GrantInvalid),
            (10, None, Code::QualityInvalid),
        ]
    );
    let far = "**Quality:** 9.5\n\n| Criteria | Rating |\n|--|--|\n| Correctness | 8 |\n| Reusability | 8 |\n| Documentation | 8 |\n| Test Coverage | 8 |\n| Performance | 8 |\n";
    assert_eq!(meta(far).1, [(Some(1), Code::QualityMismatch)]);
}

#[test]
fn an_edit_changes_the_characters_of_the_values_alone() {
    let text = FILE.replace(" <!-- kept -->", "");
    let changes = Changes {
        quality: Some(score(90)),
        last_verified: Some("2026-11-23".parse().unwrap()),
        reuse_count: Some(13),
        verified: None,
        criteria: Criteria { performance: Some(score(95)), ..Criteria::default() },
    };
    let expected = text
        .replace("**8.5/10**", "**9.0/10**")
        .replace("Score:** 8.5/10", "Score:** 9.0/10")
        .replace("2025-11-05", "2026-11-23")
        .replace("12 uses", "13 uses")
        .replace("| Performance | 9/10", "| Performance | 9.5/10");
    assert_eq!(edit(&text, &changes), expected);
    assert_eq!(edit(&text, &Changes::default()), text);
}

#[test]
fn missing_lines_come_behind_the_last_one_with_a_value() {
    let changes = Changes { reuse_count: Some(3), verified: Some(true), ..Changes::default() };
    let after = |text: &str| edit(text, &changes);
    assert_eq!(
        after("# X\r\n\r\n- **Category:** ui\r\n\r\nText\r\n"),
        "# X\r\n\r\n- **Category:** ui\r\n- **Reuse Count:** 3\r\n- **Verified:** yes\r\n\r\nText\r\n"
    );
    assert_eq!(after("**Category:** ui"), "**Category:** ui\n**Reuse Count:** 3\n**Verified:** yes");
    assert_eq!(
        after("**Dependencies:**\n- a\n"),
        "**Reuse Count:** 3\n**Verified:** yes\n**Dependencies:**\n- a\n"
    );
    assert_eq!(after("# X\n\nText\n"), "# X\n\n**Reuse Count:** 3\n**Verified:** yes\n\nText\n");
    assert_eq!(after("# X"), "# X\n\n**Reuse Count:** 3\n**Verified:** yes\n");
    assert_eq!(after("\u{feff}Text"), "\u{feff}**Reuse Count:** 3\n**Verified:** yes\n\nText");
    assert_eq!(
        after("---\na: 1\n---\nText"),
        "---\na: 1\n---\n**Reuse Count:** 3\n**Verified:** yes\n\nText"
    );
    assert_eq!(
        after("**Reuse Count:**\n**Verified:** no <!-- x -->\n"),
        "**Reuse Count:** 3\n**Verified:** yes\n"
    );
    assert_eq!(
        after("**Reuse Count:** `2`\n**Verified:** *false*\n"),
        "**Reuse Count:** `3`\n**Verified:** *true*\n"
    );
}

#[test]
fn criteria_without_a_row_come_as_a_table() {
    let changes = Changes {
        criteria: Criteria { correctness: Some(score(80)), ..Criteria::default() },
        ..Changes::default()
    };
    let text = edit("# X\n", &changes);
    assert_eq!(
        text,
        "# X\n\n## Quality Breakdown\n\n| Criterion | Score | Notes |\n|---|---|---|\n| Correctness | 8/10 | |\n"
    );
    assert_eq!(meta(&text).0.criteria.correctness, Some(score(80)));
}

const LINE: &str = "\\*\\*Reuse Count:\\*\\* ?[0-9a-z`]{0,4}|- __quality__: [0-9./]{0,6} ?|\\*Last Verified:\\* (2025-11-05|soon)?|\\*\\*Verified:\\*\\* (yes|no|TRUE|so so)|\\| Criterion \\| Score \\|\n\\|--\\|--\\||\\| Performance \\| [0-9/]{0,5} \\||```|~~~~|# T|<!--|-->|---|===|- |\\*\\*Dependencies:\\*\\*|\\PC{0,12}|\t";

proptest! {
    #[test]
    fn an_edit_is_read_back_and_touches_nothing_else(
        lines in proptest::collection::vec(LINE, 0..14),
        ends in "\n|\r\n",
        tail in any::<bool>(),
        uses in any::<u32>(),
        tenths in 0_u8..=100,
        verified in any::<bool>(),
    ) {
        let mut text = lines.join(&ends);
        if tail {
            text.push_str(&ends);
        }
        let changes = Changes {
            quality: Some(score(tenths)),
            last_verified: Some("2026-01-02".parse().unwrap()),
            reuse_count: Some(u64::from(uses)),
            verified: Some(verified),
            criteria: Criteria::default(),
        };
        let after = edit(&text, &changes);
        let found = meta(&after).0;
        prop_assert_eq!(found.reuse_count, changes.reuse_count, "{:?} -> {:?}", text, after);
        prop_assert_eq!(found.stated, changes.quality, "{:?} -> {:?}", text, after);
        prop_assert_eq!(found.last_verified, changes.last_verified);
        prop_assert_eq!(found.verified, changes.verified);
        // A second time changes nothing.
        prop_assert_eq!(edit(&after, &changes), after.clone());
        // Lines that state nothing of it are there as they were, in their order.
        let is_named = |line: &str| Markdown::of(line).keys().any(|k| {
            matches!(field(k.name), Some(Field::Quality | Field::LastVerified | Field::ReuseCount | Field::Verified))
        });
        let rest = |text: &str| text.split_inclusive('\n').filter(|l| !is_named(l)).map(str::trim_end).filter(|l| !l.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(rest(&text), rest(&after));
    }

    #[test]
    fn a_new_file_is_read_back_the_same(
        language in "[A-Z][a-z]{0,8}",
        stated in 0_u8..=100,
        uses in any::<u64>(),
        verified in any::<bool>(),
        dependencies in proptest::collection::vec("[a-z@/]{1,4}[a-z-]{0,4}[a-z]", 0..4),
    ) {
        let dependencies: Vec<String> = dependencies.into_iter().filter(|d| d != "none" && d != "n/a").collect();
        let written = Meta {
            category: Some("database".into()),
            language: Some(language),
            stated: Some(score(stated)),
            last_verified: Some("2026-01-02".parse().unwrap()),
            reuse_count: Some(uses),
            verified: Some(verified),
            dependencies,
            ..Meta::default()
        };
        prop_assert_eq!(meta(&create("X", &written)).0, written);
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}|(\\*\\*[A-Z][a-z ]{0,8}:\\*\\* \\PC{0,10}\r?\n){0,10}") {
        let _ = meta(&text);
    }
}
