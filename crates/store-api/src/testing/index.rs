//! Indexes of libraries.

use super::context::{MINUTE, Watch};
use crate::StoreError;
use crate::index::{
    Changes, Document, Facts, Head, Indexes, Known, LISTED_AT_ONCE, MAX_AT_ONCE, Piece, Span, Term, Wanted,
    Whose,
};

/// Holds a driver to all of it.
pub async fn indexes(store: &dyn Indexes, watch: &Watch) {
    a_generation_is_seen_when_it_is_finished(store).await;
    changes_go_by_the_epoch(store).await;
    who_comes_second_finds_what_the_first_made(store).await;
    libraries_know_nothing_of_each_other(store).await;
    what_is_listed_comes_in_pages(store).await;
    what_was_left_unfinished_is_let_go_of(store, watch).await;
    what_does_not_fit_is_refused(store).await;
}

fn whose(name: &str) -> Whose {
    Whose { place: "/home/me/library".to_owned(), name: name.to_owned() }
}

fn facts(format: u32) -> Facts {
    Facts { format, vocabulary: vec![1, 0, 255], columns: vec![], notes: format!("notes {format}") }
}

fn document(id: &str, wrong: u32) -> Document {
    let known = Known {
        id: id.to_owned(),
        main: format!("{id}.md"),
        state: "as it was".to_owned(),
        stated: 2,
        verified: wrong == 0,
        wrong,
    };
    // A store takes any text.
    Document { known, facts: format!("{{\"id\":\"{id}\"}} '\\\u{1}\t\u{1f600}") }
}

fn term(number: u32) -> Term {
    Term { number, postings: vec![0, number.to_le_bytes()[0]], positions: vec![number.to_le_bytes()[0]; 3] }
}

fn whole(numbers: &[u32]) -> Vec<Wanted> {
    numbers.iter().map(|number| Wanted { number: *number, positions: true }).collect()
}

fn span(number: u32) -> Span {
    Span { number, terms: vec![7; number as usize] }
}

/// A generation with three documents, and its epoch.
async fn made(store: &dyn Indexes, name: &str, expected: Option<i64>) -> (i64, i64) {
    let generation = store.begin().await.unwrap();
    let documents = ["a/one", "a/two", "b/three"].map(|id| document(id, u32::from(id == "a/two")));
    store.put(generation, Piece::Documents(documents.into())).await.unwrap();
    store.put(generation, Piece::Terms(vec![term(0), term(1), term(u32::MAX)])).await.unwrap();
    store.put(generation, Piece::Spans(vec![span(0), span(1), span(2)])).await.unwrap();
    let epoch = store.finish(whose(name), expected, generation, facts(3)).await.unwrap();
    (generation, epoch)
}

/// Nobody sees half of one.
pub async fn a_generation_is_seen_when_it_is_finished(store: &dyn Indexes) {
    let own = whose("first");
    assert_eq!(store.epoch(own.clone()).await.unwrap(), None);
    assert_eq!(store.head(own.clone()).await.unwrap(), None);
    let (generation, epoch) = made(store, "first", None).await;
    let expected = Head { generation, epoch, facts: facts(3), dead: Vec::new(), changed: Vec::new() };
    assert_eq!(store.head(own.clone()).await.unwrap(), Some(expected));
    assert_eq!(store.epoch(own).await.unwrap(), Some(epoch));
    let terms = store.terms(generation, whole(&[u32::MAX, 1, 9])).await.unwrap();
    assert_eq!(terms, [term(1), term(u32::MAX)], "those that are there, in order");
    let some = vec![Wanted { number: 1, positions: false }, Wanted { number: 0, positions: true }];
    let postings_only = Term { positions: Vec::new(), ..term(1) };
    assert_eq!(store.terms(generation, some).await.unwrap(), [term(0), postings_only]);
    assert_eq!(store.spans(generation, vec![2, 0]).await.unwrap(), [span(0), span(2)]);
    let some = store.documents(generation, vec!["b/three".to_owned(), "c/none".to_owned()]).await.unwrap();
    assert_eq!(some, [document("b/three", 0)]);
    let all = ["b/three", "a/two", "a/one"].map(str::to_owned);
    let all = store.documents(generation, all.to_vec()).await.unwrap();
    let ids: Vec<&str> = all.iter().map(|document| document.known.id.as_str()).collect();
    assert_eq!(ids, ["a/one", "a/two", "b/three"], "in order");
    assert_eq!(store.documents(generation, Vec::new()).await.unwrap(), []);
    assert_eq!(store.wrong(generation, 9).await.unwrap(), [document("a/two", 1)]);
    assert_eq!(store.wrong(generation, 0).await.unwrap(), []);
}

/// Who goes by another state than the one that is there changes nothing.
pub async fn changes_go_by_the_epoch(store: &dyn Indexes) {
    let own = whose("changed");
    let (generation, epoch) = made(store, "changed", None).await;
    let changes = Changes {
        put: vec![
            (document("a/one", 3), Some(vec![1])),
            (document("a/two", 0), None),
            (document("c/four", 0), Some(vec![4])),
        ],
        gone: vec!["b/three".to_owned(), "never/there".to_owned()],
        dead: vec![span(0), span(2)],
        notes: "changed".to_owned(),
    };
    let next = store.change(own.clone(), epoch, changes.clone()).await.unwrap();
    assert!(next > epoch);
    let head = store.head(own.clone()).await.unwrap().unwrap();
    assert_eq!(
        head,
        Head {
            generation,
            epoch: next,
            facts: Facts { notes: "changed".to_owned(), ..facts(3) },
            dead: vec![span(0), span(2)],
            changed: vec![vec![1], vec![4]],
        }
    );
    let known: Vec<String> =
        store.known(generation, None).await.unwrap().into_iter().map(|known| known.id).collect();
    assert_eq!(known, ["a/one", "a/two", "c/four"]);
    let again = store.change(own.clone(), epoch, changes).await;
    assert!(
        matches!(again, Err(StoreError::Stale { found, expected }) if (found, expected) == (next, epoch))
    );
    let only = Changes { gone: vec!["a/one".to_owned()], dead: vec![span(0)], ..Changes::default() };
    let last = store.change(own.clone(), next, only).await.unwrap();
    let head = store.head(own.clone()).await.unwrap().unwrap();
    assert_eq!((head.epoch, head.changed), (last, vec![vec![4]]), "what is gone has no words");
    assert_eq!(head.dead, [span(0), span(2)], "each once");
    store.forget(own.clone()).await.unwrap();
    assert_eq!(store.head(own.clone()).await.unwrap(), None);
    assert_eq!(store.known(generation, None).await.unwrap(), []);
    store.forget(own.clone()).await.unwrap();
    let none = store.change(own, last, Changes::default()).await;
    assert!(matches!(none, Err(StoreError::Stale { found: 0, .. })));
}

/// Two that make the same index: the second one's work is let go of.
pub async fn who_comes_second_finds_what_the_first_made(store: &dyn Indexes) {
    let own = whose("twice");
    let slow = store.begin().await.unwrap();
    store.put(slow, Piece::Terms(vec![term(5)])).await.unwrap();
    let (first, epoch) = made(store, "twice", None).await;
    let late = store.finish(own.clone(), None, slow, facts(3)).await;
    assert!(matches!(late, Err(StoreError::Stale { found, .. }) if found == epoch));
    assert_eq!(store.terms(slow, whole(&[5])).await.unwrap(), []);
    let (second, later) = made(store, "twice", Some(epoch)).await;
    assert!(second != first && later > epoch);
    assert_eq!(store.terms(first, whole(&[0, 1])).await.unwrap(), [], "the one before is let go of");
    assert_eq!(store.terms(second, whole(&[0, 1])).await.unwrap(), [term(0), term(1)]);
}

/// The same name elsewhere is another library.
pub async fn libraries_know_nothing_of_each_other(store: &dyn Indexes) {
    let (of_it, _) = made(store, "mine", None).await;
    let other = Whose { place: "/elsewhere".to_owned(), ..whose("mine") };
    assert_eq!(store.head(other.clone()).await.unwrap(), None);
    store.forget(other).await.unwrap();
    assert_eq!(store.spans(of_it, vec![1]).await.unwrap(), [span(1)]);
}

/// Each page goes on behind the one before.
pub async fn what_is_listed_comes_in_pages(store: &dyn Indexes) {
    let generation = store.begin().await.unwrap();
    let id = |number: usize| format!("a/{number:06}");
    for from in [0, LISTED_AT_ONCE] {
        let some = (from..from + LISTED_AT_ONCE).map(|number| document(&id(number), 0)).collect();
        store.put(generation, Piece::Documents(some)).await.unwrap();
    }
    store.put(generation, Piece::Documents(vec![document("z", 0)])).await.unwrap();
    store.finish(whose("long"), None, generation, facts(1)).await.unwrap();
    let (mut after, mut all) = (None, Vec::new());
    loop {
        let page = store.known(generation, after).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= LISTED_AT_ONCE);
        after = Some(last.id.clone());
        all.extend(page.into_iter().map(|known| known.id));
    }
    let expected: Vec<String> = (0..2 * LISTED_AT_ONCE).map(id).chain(["z".to_owned()]).collect();
    assert_eq!(all, expected);
    store.forget(whose("long")).await.unwrap();
}

/// A process that was killed while it made an index leaves nothing for ever.
pub async fn what_was_left_unfinished_is_let_go_of(store: &dyn Indexes, watch: &Watch) {
    let left = store.begin().await.unwrap();
    store.put(left, Piece::Spans(vec![span(1)])).await.unwrap();
    watch.turn(59 * MINUTE);
    store.put(left, Piece::Spans(vec![span(2)])).await.unwrap();
    watch.turn(59 * MINUTE);
    store.begin().await.unwrap();
    assert_eq!(store.spans(left, vec![1, 2]).await.unwrap().len(), 2, "it is being worked at");
    watch.turn(2 * MINUTE);
    store.begin().await.unwrap();
    assert_eq!(store.spans(left, vec![1, 2]).await.unwrap(), []);
    let late = store.put(left, Piece::Spans(vec![span(3)])).await;
    assert!(matches!(late, Err(StoreError::NotFound { .. })));
}

/// Before anything is written.
pub async fn what_does_not_fit_is_refused(store: &dyn Indexes) {
    let generation = store.begin().await.unwrap();
    let many = Piece::Spans((0..=u32::try_from(MAX_AT_ONCE).unwrap()).map(|n| span(n % 2)).collect());
    assert!(matches!(store.put(generation, many).await, Err(StoreError::TooLarge { .. })));
    let unnamed = Whose { name: String::new(), ..whose("") };
    let done = store.finish(unnamed, None, generation, facts(1)).await;
    assert!(matches!(done, Err(StoreError::Invalid { .. })));
    let (finished, _) = made(store, "closed", None).await;
    let late = store.put(finished, Piece::Spans(vec![span(9)])).await;
    assert!(matches!(late, Err(StoreError::NotFound { .. })), "what is finished does not change");
}
