//! Time grows with what is read and no faster.

use std::time::{Duration, Instant};

use gatewright_words::{MAX_TEXT, Query, Weight, analyze, fts5_text, snippet_of, tsvector_literal};

/// How long this thread has worked, as Linux counts it: what others do beside it makes no difference.
fn worked() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}

/// Where nobody counts, the clock does.
static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

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
        let began = worked();
        let tokens = analyze(&text);
        let analysed = worked().saturating_sub(began);
        let indexed = fts5_text(&tokens).len() + tsvector_literal(&[(Weight::A, &tokens)], &[]).literal.len();
        let shown = snippet_of(&text, &tokens, &query);
        // Unoptimised this takes a second at most; what is quadratic takes minutes.
        let took = worked().saturating_sub(began);
        assert!(took < Duration::from_secs(10), "{name}: {analysed:?}, {took:?}");
        assert!(tokens.is_cut() && tokens.analysed() <= MAX_TEXT, "{name}");
        assert!(indexed < 4 * MAX_TEXT && shown.text.len() < 1_000, "{name}: {indexed}");
    }
}

#[test]
fn a_megabyte_of_question_is_soon_read() {
    for (name, text) in hard(1024 * 1024) {
        let began = worked();
        let query = Query::parse(&text);
        let took = worked().saturating_sub(began);
        assert!(took < Duration::from_secs(5), "{name}: {took:?}");
        assert!(query.is_cut(), "{name}");
    }
}
