//! Time grows with what is read and no faster.

use std::time::{Duration, Instant};

use gatewright_words::{MAX_TEXT, Query, Weight, analyze, fts5_text, snippet_of, tsvector_literal};

/// Texts that are known to be hard for somebody: splitters, normalisers, stemmers.
fn hard(size: usize) -> Vec<(&'static str, String)> {
    let fill = |piece: &str| piece.repeat(size / piece.len() + 1);
    vec![
        ("one letter", fill("a")),
        ("one letter and spaces", fill("a ")),
        ("hyphens", fill("a-")),
        ("underscores", fill("a_")),
        ("apostrophes", fill("a'")),
        ("capitals", fill("aB")),
        ("digits", fill("a1")),
        ("accents on one letter", format!("a{}", fill("\u{301}"))),
        ("accents out of order", format!("a{}", fill("\u{301}\u{323}"))),
        ("Han", fill("日")),
        ("Thai", fill("ดี")),
        ("flags", fill("🇩🇪")),
        ("joiners", fill("👩\u{200d}")),
        ("one ligature of eighteen letters", fill("ﷺ")),
        ("quotes", fill("א\"")),
        ("commas", fill("1,")),
        ("no words", fill("-_'\" ")),
    ]
}

#[test]
fn a_megabyte_of_anything_is_soon_done() {
    let query = Query::parse("a* \"a a a a a a a a a a a a\" 日 \"日日日日日日\" b -c");
    for (name, text) in hard(1024 * 1024) {
        let began = Instant::now();
        let tokens = analyze(&text);
        let analysed = began.elapsed();
        let indexed = fts5_text(&tokens).len() + tsvector_literal(&[(Weight::A, &tokens)], &[]).literal.len();
        let shown = snippet_of(&text, &tokens, &query);
        // Unoptimised on a busy machine this takes a second at most; what is quadratic takes minutes.
        assert!(began.elapsed() < Duration::from_secs(20), "{name}: {analysed:?}, {:?}", began.elapsed());
        assert!(tokens.is_cut() && tokens.analysed() <= MAX_TEXT, "{name}");
        assert!(indexed < 4 * MAX_TEXT && shown.text.len() < 1_000, "{name}: {indexed}");
    }
}

#[test]
fn a_megabyte_of_question_is_soon_read() {
    for (name, text) in hard(1024 * 1024) {
        let began = Instant::now();
        let query = Query::parse(&text);
        assert!(began.elapsed() < Duration::from_secs(5), "{name}: {:?}", began.elapsed());
        assert!(query.is_cut(), "{name}");
    }
}
