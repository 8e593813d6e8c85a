use proptest::prelude::*;

use super::*;

const TEXT: &str = "---\ntitle: x\n---\n# One\n\n[![b](c)](d)\n**Key:** v\n\nFirst *line*\nand second.\n\n```sh\n# no heading\n**No:** key\n| a | b |\n```\n\n<!-- ## hidden\n**Hidden:** x\n-->\n\nTwo\nlines\n---\n\n~~~~\n```\n## not\n~~~\n~~~~\n\n## 2. **Input**\n\n| Name | Type |\n|---|---|\n| a | b |\n\n### Deep\n\nx\n\n## Last ##\n";

#[test]
fn nothing_inside_fences_comments_and_front_matter_is_seen() {
    let read = Markdown::of(TEXT);
    let seen: Vec<_> = read.headings().iter().map(|h| (h.level, read.title_of(h), h.line)).collect();
    assert_eq!(
        seen,
        [(1, "One", 4), (2, "Two\nlines", 22), (2, "2. **Input**", 32), (3, "Deep", 38), (2, "Last", 42)]
    );
    let keys: Vec<_> = read.keys().map(|k| (k.name, k.value, k.line)).collect();
    assert_eq!(keys, [("Key", "v", 7)]);
    assert_eq!(read.fences().len(), 2);
    assert_eq!(read.slice(&read.fences()[1].body), "```\n## not\n~~~\n");
    assert_eq!(read.paragraph(&read.body()).as_deref(), Some("First *line* and second."));
    assert_eq!(read.title().as_deref(), Some("One"));
}

#[test]
fn a_section_is_found_by_its_name_and_ends_at_the_next_of_its_level() {
    let read = Markdown::of(TEXT);
    let section = read.section(&["Parameters", "INPUT"]).unwrap();
    assert!(
        read.slice(&section.body).starts_with("\n| Name")
            && read.slice(&section.body).ends_with("### Deep\n\nx\n\n")
    );
    let tables = read.tables(&section.body);
    assert_eq!(tables.len(), 1);
    let cells: Vec<_> = tables[0].rows[0].cells.iter().map(|at| read.slice(at)).collect();
    assert_eq!((cells, tables[0].rows[0].line), (vec!["a", "b"], 36));
    assert!(read.section(&["hidden"]).is_none() && read.section(&["no heading"]).is_none());
}

#[test]
fn a_line_ends_as_it_ends() {
    let read = Markdown::of("# A\r\n\r\n**K:** v \r\nText\r\n====\r\n");
    assert_eq!(read.keys().next().map(|k| (k.value, k.at)), Some(("v", 14..15)));
    assert_eq!(read.title_of(&read.headings()[1]), "Text");
    assert_eq!(read.place(14), Place { line: 3, column: Some(8) });
}

#[test]
fn a_rule_below_a_key_a_list_or_a_table_makes_no_heading() {
    for text in ["**Author:** x\n---\n", "- a\n---\n", "> a\n---\n", "| a |\n---\n", "---\n", "a\n\n---\n"] {
        assert!(Markdown::of(text).headings().is_empty(), "{text:?}");
    }
    assert_eq!(Markdown::of("a\n-\n").headings().len(), 1);
}

#[test]
fn fences_in_lists_are_fences_and_an_unclosed_one_goes_on_to_the_end() {
    let text = "1. step\n\n   ```sh\n   # no\n   ```\n   - deep\n\n     ~~~\n     # no\n     ~~~\n\nafter\n\n    ```\n# yes\n```\n# no\n";
    let read = Markdown::of(text);
    let titles: Vec<_> = read.headings().iter().map(|h| read.title_of(h)).collect();
    assert_eq!(titles, ["yes"]);
    assert_eq!(
        read.fences().iter().map(|f| (f.line, f.is_closed)).collect::<Vec<_>>(),
        [(3, true), (8, true), (16, false)]
    );
    assert_eq!(read.slice(&read.fences()[2].body), "# no\n");
}

#[test]
fn a_document_is_cut_at_a_heading_where_there_is_one() {
    let text = "# A\n\nintro\n\n## B\n\nb b b\n\n## C\n\nc\n";
    let read = Markdown::of(text);
    let cut = read.cut(&read.body(), 24);
    assert_eq!((cut.text, cut.next, cut.is_cut), ("# A\n\nintro\n\n", Some("B"), true));
    assert_eq!(read.cut(&read.body(), 25).next, Some("C"));
    let section = read.section(&["b"]).unwrap();
    let cut = read.cut(&section.whole, 9);
    assert_eq!((cut.text, cut.next), ("## B\n\n", None));
    let all = read.cut(&read.body(), 1_000);
    assert_eq!((all.text, all.is_cut), (text, false));
    let one = "é".repeat(50);
    assert_eq!(Markdown::of(&one).cut(&(0..100), 51).text.len(), 50);
}

#[test]
fn what_is_too_long_is_cut_on_a_character() {
    let text = "é".repeat(MAX_DOCUMENT);
    let read = Markdown::of(&text);
    assert!(read.is_cut() && read.text().len() <= MAX_DOCUMENT);
}

proptest! {
    #[test]
    fn any_text_is_read_and_every_place_is_one(
        text in "(\\PC|[#`~|\\-=*_:<!>\t\r\n ]|\\*\\*Key:\\*\\* |```|---\n|- ){0,200}",
    ) {
        let read = Markdown::of(&text);
        let mut at = 0;
        for line in &read.lines {
            prop_assert!(line.at.start >= at);
            prop_assert!(text.get(line.at.clone()).is_some());
            at = line.at.end;
        }
        for heading in read.headings() {
            prop_assert!(text.get(heading.title.clone()).is_some() && text.get(heading.at.clone()).is_some());
        }
        for fence in read.fences() {
            prop_assert!(text.get(fence.body.clone()).is_some() && text.get(fence.info.clone()).is_some());
        }
        for key in read.keys() {
            prop_assert_eq!(text.get(key.at.clone()), Some(key.value));
        }
        for table in read.tables(&(0..text.len())) {
            for cell in table.rows.iter().chain([&table.head]).flat_map(|r| &r.cells) {
                prop_assert!(text.get(cell.clone()).is_some());
            }
        }
        for most in [0, 1, 10, 50] {
            let cut = read.cut(&(0..text.len()), most);
            prop_assert!(cut.text.len() <= most && text.starts_with(cut.text));
        }
        let _ = read.paragraph(&read.body());
    }
}
