//! Any text gives terms that both databases take as they are; what is in a text is found by itself.

use gatewright_words::{
    Columns, Form, Label, MAX_ITEMS, MAX_SNIPPET, MAX_TERM, Query, Weight, analyze, fts5_match, fts5_text,
    snippet, tsquery_literal, tsvector_literal,
};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

/// Pieces that mean something to somebody, so that texts are more than noise.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "useAuthToken", "snake_case_name", "kebab-case", "HTTPServer2", "running", "tests", "don't", "l’amour", "a", "I",
            "Straße", "ΣΊΣΥΦΟΣ", "cafe\u{301}", "José", "ﬁle", "İ", "日本語", "テスト", "か\u{3099}", "한국어", "สวัสดี", "हिन्दी", "שָׁלוֹם",
            "مُحَمَّد", "Łódź", "1,000.50", "v1.2.3", "2026-11-22", "a1b2c3d4e5f6a7", "ﷺ", "½", "①", "𝔘𝔫𝔦", "\u{1100}\u{1161}",
            "'", "\"", "\\", "&", "|", "!", "(", ")", ":*", "<->", "*", "^", "{", "}", "+", "-", "--", "AND", "OR", "NOT", "NEAR(",
            "tag:", "tag:x", "\"two words\"", "-not", "__", "\u{0}", "\n", "\r\n", "\t", "…", "🙂", "👩\u{200d}💻", "1\u{fe0f}\u{20e3}",
            "\u{ad}", "\u{200d}", "\u{feff}", "\u{202e}", "\u{301}", "\u{3000}", "/", ".", ",", "_",
        ]).prop_map(str::to_owned),
        4 => Just(" ".to_owned()),
        1 => any::<String>(),
        1 => "[a-zA-Z0-9_-]{1,80}",
        1 => "\\PC{1,12}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn is_of_the_alphabet(c: char) -> bool {
    c.is_ascii_digit() || c.is_ascii_lowercase() || (!c.is_ascii() && (c.is_alphanumeric() || is_mark(c)))
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// What is left of a question for FTS5 when everything in quotes is taken away.
fn bare(question: &str, quote: char) -> String {
    question.split(quote).step_by(2).collect()
}

const COLUMNS: Columns<'_> = Columns { words: &["title", "body"], labels: "scope" };

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn terms_are_of_the_alphabet_and_lie_within_the_text(text in text()) {
        let tokens = analyze(&text);
        let mut words = 0;
        for token in tokens.tokens() {
            prop_assert!(text.get(token.at.clone()).is_some_and(|there| !there.is_empty()), "{token:?}");
            prop_assert!(token.term().len() <= MAX_TERM);
            let spelling = match token.form {
                Form::Word => {
                    words += 1;
                    token.term()
                }
                _ => token.term().strip_prefix('_').unwrap(),
            };
            prop_assert_eq!(token.position, words);
            prop_assert!(!spelling.is_empty() && spelling.chars().all(is_of_the_alphabet), "{token:?}");
        }
        prop_assert_eq!(words, tokens.words());
        prop_assert_eq!(tokens.analysed(), text.len());
        prop_assert_eq!(analyze(&text), tokens, "the same again");
    }

    #[test]
    fn an_index_holds_every_term(text in text()) {
        let tokens = analyze(&text);
        let indexed = fts5_text(&tokens);
        let in_fts5: std::collections::BTreeSet<&str> = indexed.split(' ').collect();
        let vector = tsvector_literal(&[(Weight::A, &tokens)], &[]);
        prop_assert_eq!(vector.left_out, 0);
        for token in tokens.tokens() {
            prop_assert!(in_fts5.contains(token.term()));
            let entry = format!("'{}':", token.term());
            prop_assert!(vector.literal.starts_with(&entry) || vector.literal.contains(&[" ", &entry].concat()));
        }
        prop_assert!(bare(&vector.literal, '\'').chars().all(|c| c.is_ascii_digit() || ":,A ".contains(c)));
    }

    #[test]
    fn no_question_reaches_a_database_as_an_operator(text in text()) {
        let query = Query::parse(&text);
        let (fts5, tsquery) = (fts5_match(&query, &COLUMNS), tsquery_literal(&query));
        prop_assert_eq!((fts5.is_none(), tsquery.is_none()), (query.is_empty(), query.is_empty()));
        let (fts5, tsquery) = (fts5.unwrap_or_default(), tsquery.unwrap_or_default());
        let left = bare(&fts5, '"').replace(" OR ", "").replace(" AND ", "").replace(" NOT ", "");
        prop_assert!(left.chars().all(|c| "(){}:* ".contains(c)), "{left}");
        prop_assert!(bare(&tsquery, '\'').chars().all(|c| "()&|!:*<-> ".contains(c)), "{tsquery}");
        for quoted in fts5.split('"').skip(1).step_by(2).chain(tsquery.split('\'').skip(1).step_by(2)) {
            prop_assert!(quoted.chars().all(|c| is_of_the_alphabet(c) || c == '_' || c == ' '), "{quoted}");
            prop_assert!(!quoted.split(' ').any(|term| term.is_empty() || term == "_"), "{quoted}");
        }
        prop_assert!(fts5.matches(" AND ").count() < 3 * MAX_ITEMS);
        prop_assert_eq!(fts5.matches('(').count(), fts5.matches(')').count());
        prop_assert_eq!(tsquery.matches('(').count(), tsquery.matches(')').count());
    }

    #[test]
    fn what_is_in_a_text_is_found_by_itself(text in text()) {
        let tokens = analyze(&text);
        // `tag:` asks for something else.
        for word in text.unicode_words().filter(|word| !word.to_lowercase().starts_with("tag:")) {
            let query = Query::parse(word);
            prop_assert!(query.is_empty() || query.is_answered_by(&[&tokens], &[]), "{word:?} of {text:?}: {query:?}");
            // Beyond ASCII some letters have no way back (ŉ, ǰ).
            for other in [word.to_ascii_uppercase(), word.to_ascii_lowercase()] {
                let query = Query::parse(&other);
                let is_found = query.is_empty() || query.is_answered_by(&[&tokens], &[]);
                prop_assert!(is_found, "{other:?} of {text:?}");
            }
            if word.is_ascii() && !word.contains(['.', ':']) && word.len() <= 60 {
                prop_assert!(Query::parse(&format!("{word}*")).is_answered_by(&[&tokens], &[]), "{word}*");
            }
            let not = Query::parse(&format!("-{word}")).with(Label::new('x', "").unwrap());
            if word.starts_with(char::is_alphanumeric) && !query.is_empty() {
                prop_assert!(!not.is_answered_by(&[&tokens], &[Label::new('x', "").unwrap()]), "-{word}");
            }
        }
    }

    #[test]
    fn words_beside_each_other_are_a_phrase(words in prop::collection::vec("[a-z]{2,9}|[A-Z][a-z]{1,5}[A-Z][a-z]{1,5}|日本語|[a-z]{2,4}[-_][a-z]{2,4}", 2..12), from in 0_usize..10, count in 2_usize..4) {
        let tokens = analyze(&words.join(" "));
        let from = from.min(words.len() - 2);
        let some = words[from..(from + count).min(words.len())].join(" ");
        prop_assert!(Query::parse(&format!("\"{some}\"")).is_answered_by(&[&tokens], &[]), "{some}");
        prop_assert!(Query::parse(&some).is_answered_by(&[&tokens], &[]), "{some}");
        let other = format!("\"{some} zzzzzzzzzzz\"");
        prop_assert!(!Query::parse(&other).is_answered_by(&[&tokens], &[]));
    }

    #[test]
    fn a_part_of_a_text_without_spaces_is_found(from in 0_usize..20, count in 1_usize..12) {
        let text = "全文検索では単語の間に空白がない言語も扱う必要がある";
        let chars: Vec<char> = text.chars().collect();
        let part: String = chars.iter().skip(from).take(count).collect();
        let tokens = analyze(&format!("前置き、{text}。"));
        prop_assert!(Query::parse(&part).is_answered_by(&[&tokens], &[]), "{part}");
        prop_assert!(Query::parse(&format!("\"{part}\"")).is_answered_by(&[&tokens], &[]), "{part}");
        prop_assert!(!Query::parse(&format!("{part}猫")).is_answered_by(&[&tokens], &[]), "{part}");
    }

    #[test]
    fn snippets_are_short_and_their_hits_lie_within(text in prop::collection::vec(text(), 0..6).prop_map(|t| t.join(" ")), question in text()) {
        let query = Query::parse(&question);
        let shown = snippet(&text, &query);
        prop_assert!(shown.text.chars().count() <= MAX_SNIPPET);
        prop_assert!(!shown.text.contains(|c: char| c.is_control()));
        prop_assert!(text.is_char_boundary(shown.from));
        let mut end = 0;
        for hit in &shown.hits {
            prop_assert!(hit.start >= end && hit.end > hit.start, "{shown:?}");
            prop_assert!(shown.text.get(hit.clone()).is_some(), "{shown:?}");
            end = hit.end;
        }
        if query.has_words() && query.is_answered_by(&[&analyze(&text)], &[]) {
            prop_assert!(!shown.hits.is_empty(), "{shown:?}");
        }
        prop_assert_eq!(snippet(&text, &query), shown);
    }
}
