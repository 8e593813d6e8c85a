//! What must hold for any documents, changes and questions.

use gatewright_search::{
    Analysed, Columns, Delta, Filters, Memory, Mode, Order, Query, Tuning, Vocabulary, build,
};
use proptest::prelude::*;

use crate::common::{Doc, holds, told};

/// Few words, so that they meet: forms, identifiers, near misspellings, pairs.
const WORDS: [&str; 28] = [
    "auth",
    "token",
    "tokens",
    "tokne",
    "useAuthToken",
    "rotate",
    "rotation",
    "policy",
    "policies",
    "row",
    "level",
    "security",
    "oauth2",
    "the",
    "of",
    "cache",
    "cached",
    "cashed",
    "configuration",
    "configuraton",
    "retry",
    "retries",
    "base64url",
    "データ",
    "café",
    "service",
    "services",
    "HTTPServer",
];

fn text(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(WORDS.to_vec()), 0..most).prop_map(|w| w.join(" "))
}

fn doc() -> impl Strategy<Value = Doc> {
    let id = (0u8..3, 0u8..12).prop_map(|(c, n)| format!("{}/n{n}", ["db", "web", "api"][usize::from(c)]));
    let facts = (proptest::option::of(0u8..=100), any::<bool>(), any::<bool>());
    let texts = (text(4), proptest::collection::vec(text(3), 0..3), text(8), text(4), text(14));
    (id, facts, texts).prop_map(
        |(id, (quality, executable, verified), (title, tags, description, code, body))| Doc {
            id,
            quality,
            executable,
            verified,
            title,
            headings: tags.clone(),
            tags,
            description,
            code,
            body,
        },
    )
}

fn asked() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => proptest::sample::select(WORDS.to_vec()).prop_map(str::to_owned),
        1 => proptest::sample::select(vec!["tok", "confi", "serv", "tkoen", "securty", "polici"]).prop_map(str::to_owned),
        1 => text(3).prop_map(|t| format!("\"{t}\"")),
        1 => proptest::sample::select(WORDS.to_vec()).prop_map(|w| format!("-{w}")),
    ];
    proptest::collection::vec(word, 1..5).prop_map(|words| words.join(" "))
}

#[derive(Debug, Clone)]
enum Change {
    Put(Doc),
    Remove(String),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![3 => doc().prop_map(Change::Put), 1 => doc().prop_map(|d| Change::Remove(d.id))];
    proptest::collection::vec(change, 0..16)
}

fn questions() -> impl Strategy<Value = Vec<(String, bool, Filters)>> {
    let filters = (proptest::option::of(0u8..3), proptest::option::of(0u8..80), any::<[bool; 2]>());
    let filters = filters.prop_map(|(category, minimum_quality, [a, b])| Filters {
        category: category.map(|c| ["db", "web", "none"][usize::from(c)].to_owned()),
        minimum_quality,
        verified_only: a && b,
        executable_only: a && !b,
    });
    let filters = prop_oneof![3 => Just(Filters::default()), 1 => filters];
    proptest::collection::vec((asked(), any::<bool>(), filters), 1..6)
}

fn mode(hard: bool) -> Mode {
    if hard { Mode::Comprehensive } else { Mode::Fast }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn the_first_hits_are_the_first_of_all_hits(
        some in proptest::collection::vec(doc(), 1..8),
        qualities in proptest::collection::vec(proptest::option::of(0u8..=100), 1..40),
        questions in questions(),
        most in 1usize..30,
    ) {
        // So many that what cannot be among the best is passed over, in a base with dead documents and in its delta.
        let doc = |n: usize| {
            let one = &some[n * 31 % some.len()];
            let quality = qualities[n * 17 % qualities.len()];
            Doc { id: format!("db/n{n}"), quality, verified: n.is_multiple_of(7), ..one.clone() }
        };
        let mut index = Memory::build((0..700).map(|n| doc(n).analysed())).unwrap();
        for n in (0..1_300).filter(|n: &usize| *n >= 700 || n.is_multiple_of(11)) {
            index.put(doc(n).analysed()).unwrap();
        }
        for n in (0..1_300).step_by(13) {
            index.remove(&doc(n).id).unwrap();
        }
        for (text, hard, filters) in questions {
            let query = Query::parse(&text, mode(hard), filters).unwrap();
            for order in [Order::Score, Order::Quality] {
                let all = index.search(&query, order, usize::MAX).unwrap();
                let first = index.search(&query, order, most).unwrap();
                prop_assert_eq!(all.total, all.hits.len());
                prop_assert_eq!(first.total, all.total);
                let none = index.search(&query, order, 0).unwrap();
                prop_assert_eq!((none.total, none.hits.len()), (all.total, 0));
                prop_assert_eq!(&first.hits[..], &all.hits[..most.min(all.total)], "{} {:?}", &text, order);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn changes_give_the_same_as_a_build_from_nothing(
        first in proptest::collection::vec(doc(), 0..14),
        changes in changes(),
        questions in questions(),
        most in 1usize..12,
    ) {
        let mut index = Memory::build(first.iter().map(Doc::analysed)).unwrap();
        let mut now: std::collections::BTreeMap<String, Doc> = first.into_iter().map(|d| (d.id.clone(), d)).collect();
        for change in changes {
            match change {
                Change::Put(doc) => {
                    index.put(doc.analysed()).unwrap();
                    now.insert(doc.id.clone(), doc);
                }
                Change::Remove(id) => {
                    prop_assert_eq!(index.remove(&id).unwrap(), now.remove(&id).is_some());
                }
            }
        }
        // The delta as it would be stored, too.
        let stored = Delta::decode(&index.delta().encode()).unwrap();
        prop_assert_eq!(stored.encode(), index.delta().encode());
        let new = Memory::build(now.values().rev().map(Doc::analysed)).unwrap();
        prop_assert_eq!(index.documents(), new.documents());
        for (text, hard, filters) in questions {
            let query = Query::parse(&text, mode(hard), filters).unwrap();
            for order in [Order::Score, Order::Quality] {
                let (one, other) = (index.search(&query, order, most), new.search(&query, order, most));
                prop_assert_eq!(told(&one), told(&other), "{} {:?}", &text, order);
            }
        }
    }

    #[test]
    fn libraries_give_the_same_as_one(
        docs in proptest::collection::btree_map(0u8..40, doc(), 0..16),
        questions in questions(),
    ) {
        let docs: Vec<Doc> = docs.into_iter().map(|(n, d)| Doc { id: format!("{}-{n}", d.id), ..d }).collect();
        let all = Memory::build(docs.iter().map(Doc::analysed)).unwrap();
        let (even, odd): (Vec<_>, Vec<_>) = docs.iter().enumerate().partition(|(i, _)| i % 2 == 0);
        let of = |docs: Vec<(usize, &Doc)>| Memory::build(docs.into_iter().map(|(_, d)| d.analysed())).unwrap();
        let (even, odd) = (of(even), of(odd));
        for (text, hard, filters) in questions {
            let query = Query::parse(&text, mode(hard), filters).unwrap();
            let one = all.search(&query, Order::Score, 9);
            let two = Memory::search_all(&[&odd, &even], &query, Order::Score, 9);
            prop_assert_eq!(told(&one), told(&two), "{}", &text);
        }
    }

    #[test]
    fn reasons_make_the_score(docs in proptest::collection::vec(doc(), 1..20), questions in questions()) {
        let index = Memory::build(docs.iter().map(Doc::analysed)).unwrap();
        for (text, hard, filters) in questions {
            let query = Query::parse(&text, mode(hard), filters).unwrap();
            let answer = index.search(&query, Order::Score, 50).unwrap();
            prop_assert!(answer.hits.is_sorted_by(|a, b| a.score >= b.score));
            prop_assert_eq!(answer.total, answer.hits.len());
            answer.hits.iter().for_each(holds);
        }
    }

    #[test]
    fn every_word_of_a_document_finds_it(doc in doc()) {
        let index = Memory::build([doc.analysed()]).unwrap();
        for word in doc.body.split_whitespace().chain(doc.title.split_whitespace()) {
            let query = Query::parse(word, Mode::Fast, Filters::default()).unwrap();
            prop_assert_eq!(index.search(&query, Order::Score, 1).unwrap().total, 1, "{}", word);
        }
    }

    #[test]
    fn any_text_is_a_question(text in any::<String>(), hard in any::<bool>()) {
        let index = Memory::build([Doc::body("a/b", "some text").analysed()]).unwrap();
        let limited: String = text.chars().take(256).collect();
        let query = Query::parse(&limited, mode(hard), Filters::default()).unwrap();
        prop_assert!(query.words().count() <= 16);
        let answer = index.search(&query, Order::Score, 3).unwrap();
        answer.hits.iter().for_each(holds);
    }

    #[test]
    fn quotes_and_dashes_never_go_on_for_ever(text in "[\"\\- a_.]{0,60}") {
        Query::parse(&text, Mode::Fast, Filters::default()).unwrap();
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = bytes;
        for versioned in [false, true] {
            if versioned && let Some(first) = bytes.first_mut() {
                *first = 1;
            }
            let _ = Analysed::decode(&bytes);
            let _ = Vocabulary::decode(&bytes);
            let _ = Columns::decode(&bytes);
            let _ = Delta::decode(&bytes);
        }
    }

    #[test]
    fn damaged_encodings_are_refused_or_read_and_never_panic(
        docs in proptest::collection::vec(doc(), 1..6),
        at in any::<proptest::sample::Index>(),
        to in any::<u8>(),
    ) {
        let analysed: Vec<Analysed> = docs.iter().map(Doc::analysed).collect();
        let mut delta = Delta::new();
        for document in &analysed {
            delta.put(document.clone());
        }
        let index = Memory::build(analysed.clone()).unwrap();
        let mut sorted = analysed;
        sorted.sort_by(|a, b| a.id().cmp(b.id()));
        sorted.dedup_by(|a, b| a.id() == b.id());
        let encoded = build(sorted.clone()).unwrap();
        let damaged = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let at = at.index(bytes.len());
            bytes[at] = to;
            bytes
        };
        if let Ok(other) = Analysed::decode(&damaged(&sorted[0].encode())) {
            let other = Memory::build([other]).unwrap();
            let query = Query::parse("auth \"token rotation\"", Mode::Comprehensive, Filters::default()).unwrap();
            let _ = other.search(&query, Order::Score, 5);
        }
        let _ = Delta::decode(&damaged(&delta.encode()));
        let (vocabulary, columns) = (damaged(encoded.vocabulary()), damaged(encoded.columns()));
        if let (Ok(vocabulary), Ok(columns)) = (Vocabulary::decode(&vocabulary), Columns::decode(&columns)) {
            let view = gatewright_search::LibraryView { vocabulary: &vocabulary, columns: &columns, delta: &Delta::new() };
            let query = Query::parse("auth token", Mode::Fast, Filters::default()).unwrap();
            let plan = gatewright_search::Plan::new(&query, &[view]);
            let blobs = index.blobs(&plan, 0);
            let _ = gatewright_search::answer(&[view], &plan, &[blobs], Order::Score, 5);
        }
        let _ = Tuning::default();
    }
}
