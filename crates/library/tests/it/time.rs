//! Hostile files cost no more than their size: what is quadratic would take minutes here.

use std::time::{Duration, Instant};

use gatewright_library::markdown::Markdown;
use gatewright_library::notes;
use gatewright_library::problem::Problems;
use gatewright_library::{code, folder, front, meta, schema, session};

fn within(name: &str, most: u64, run: impl FnOnce()) {
    let began = Instant::now();
    run();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(most), "{name:?}: {took:?}");
}

fn filled(part: &str, most: usize) -> String {
    part.repeat(most / part.len())
}

#[test]
fn no_markdown_is_slow() {
    for part in [
        "#\n",
        "## Decisions\n",
        "## Decisions\n### x\n",
        "- ",
        "- a\n",
        "  ",
        "```\n",
        "> ",
        "a\n---\n",
        "|",
        "|a|\n|-|\n",
        "[a](",
        "*",
        "**K:** v\n",
        "**Reuse Count:** 1\n",
        "**Dependencies:**\n- a\n",
        "<!--",
        "\\",
        "`",
        "## Input\n",
        "- - ",
        "1. ",
        "a\n\n",
        "| Criterion | Score |\n|--|--|\n| Performance | 1 |\n",
    ] {
        let text = filled(part, 128 << 10);
        within(part, 10, || {
            let read = Markdown::of(&text);
            let _ = (read.title(), read.paragraph(&read.body()), read.cut(&read.body(), 1000).next.is_some());
            let _ = schema::declared(&read, &mut Problems::of("x"));
            let _ = code::blocks(&read);
            let _ = meta::read_document(&read, &mut Problems::of("x"));
            let changes = meta::Changes { reuse_count: Some(1), ..meta::Changes::default() };
            let _ = meta::edit(&text, &changes);
            let _ = session::render(&session::read(&text));
        });
    }
}

#[test]
fn no_front_matter_is_slow() {
    for part in [
        "a: 1\n",
        "- ",
        "? ",
        "[",
        "{a,",
        "{a: b, ",
        "&a ",
        "!a ",
        "*a ",
        "# c\n",
        "\"",
        "'",
        "\"\\n",
        "a: |\n  x\n",
        "a\n",
        "a: ",
        ": ",
        "%TAG ! x\n",
        "\t",
        "a: >\n",
        "? a\n: b\n",
        "[a,",
        "\u{85}",
        "...\n",
        "{\n",
        ",",
        "a:\n ",
        "&a [",
        "!!str ",
        "|\n",
        "- - a\n",
    ] {
        let yaml = filled(part, front::MAX_FRONT);
        within(part, 10, || {
            let _ = front::parse(&yaml, 1);
            let numbered = (0..yaml.len() / 12).fold(String::new(), |text, n| text + &format!("k{n}: {n}\n"));
            let text = format!(
                "---\nname: a\ndescription: b\nmetadata:\n  {}\n---\n",
                numbered.trim_end().replace('\n', "\n  ")
            );
            let _ = folder::read(&text, "a", &mut Problems::of("x"));
        });
    }
}

#[test]
fn no_notes_are_slow() {
    for part in [
        "{}\n",
        "\n",
        "{\"type\":\"decision\",\"content\":\"",
        "\\ud800",
        "[",
        "{\"type\":\"a\",\"content\":\"b\",\"timestamp\":\"c\"}\n",
    ] {
        let text = filled(part, 512 << 10);
        within(part, 10, || {
            let _ = notes::read(&text, "n.jsonl");
        });
    }
}
