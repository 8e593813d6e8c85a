//! What databases are given and what they must answer, as JSON lines: `cargo run -p gatewright-words --example asked <
//! TEXTS`. One text a line; `?` first: a question. For trials with real databases beside the tests of the store.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example")]

use std::io::BufRead as _;

use gatewright_words::{
    Columns, Query, Tokens, Weight, analyze, fts5_match, fts5_text, tsquery_literal, tsquery_rank,
    tsvector_literal,
};

fn main() {
    let lines: Vec<String> = std::io::stdin().lock().lines().map(Result::unwrap).collect();
    let texts: Vec<Tokens> = lines.iter().filter(|l| !l.starts_with('?')).map(|l| analyze(l)).collect();
    for text in &texts {
        println!("T\t{}\t{}", fts5_text(text), tsvector_literal(&[(Weight::D, text)], &[]).literal);
    }
    let columns = Columns { words: &["body"], labels: "scope" };
    for question in lines.iter().filter_map(|l| l.strip_prefix('?')) {
        let query = Query::parse(question);
        let Some(fts5) = fts5_match(&query, &columns) else { continue };
        let found = texts.iter().enumerate().filter(|(_, t)| query.is_answered_by(&[t], &[]));
        let found: Vec<String> = found.map(|(i, _)| i.to_string()).collect();
        let (asked, rank) = (tsquery_literal(&query).unwrap(), tsquery_rank(&query).unwrap_or_default());
        println!("Q\t{fts5}\t{asked}\t{rank}\t{}", found.join(","));
    }
}
