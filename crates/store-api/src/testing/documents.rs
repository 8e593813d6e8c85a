//! Documents that a team keeps.

use super::context::{MINUTE, Watch, refused, together};
use crate::document::{Document, GLOBAL, MAX_DOCUMENT, MAX_SOURCES, NewDocument, Origin, Source};
use crate::history::MAX_PAGE;
use crate::{Context, StoreError};

pub(super) async fn all(store: &dyn Context, watch: &Watch, name: &str) {
    a_document_comes_back_as_it_was(store, watch, name).await;
    what_is_generated_never_replaces_what_was_written(store, watch, name).await;
    a_change_of_another_version_changes_nothing(store, watch, name).await;
    an_index_is_cut_and_counts_all(store, name).await;
    what_does_not_fit_is_refused(store, name).await;
}

/// A document that somebody wrote.
#[must_use]
pub fn document(scope: &str, name: &str, content: &str) -> NewDocument {
    NewDocument {
        scope: scope.to_owned(),
        name: name.to_owned(),
        title: format!("About {name}"),
        content: content.to_owned(),
        origin: Origin::Written,
        sources: Vec::new(),
        expected: None,
    }
}

async fn put(store: &dyn Context, document: NewDocument) -> Document {
    store.put(document).await.expect("a document is kept")
}

async fn get(store: &dyn Context, scope: &str, name: &str) -> Option<Document> {
    store.document(scope.to_owned(), name.to_owned()).await.expect("it is read")
}

/// By scope and name; the same again is no change.
pub async fn a_document_comes_back_as_it_was(store: &dyn Context, watch: &Watch, name: &str) {
    let scope = format!("{name}-kept");
    assert_eq!(get(store, &scope, "api.md").await, None);
    let new = NewDocument {
        sources: vec![Source { path: "a/\u{e9}'\".rs".to_owned(), sha256: "9d".repeat(32).into() }],
        ..document(&scope, "api.md", "# '; DROP TABLE documents; --\r\n\u{1f600}\n")
    };
    let kept = put(store, new.clone()).await;
    assert_eq!((&kept.content, &kept.sources, &kept.row.title), (&new.content, &new.sources, &new.title));
    assert_eq!((&kept.row.sha256, kept.row.version), (&new.digest().to_string(), 1));
    assert_eq!((kept.row.origin, kept.row.updated), (Origin::Written, watch.now()));
    assert_eq!(get(store, &scope, "api.md").await.as_ref(), Some(&kept));
    watch.turn(MINUTE);
    assert_eq!(put(store, new.clone()).await, kept);
    let changed = put(store, NewDocument { title: "Other".to_owned(), ..new }).await;
    assert_eq!((changed.row.version, changed.row.updated), (2, watch.now()));
    assert_eq!(get(store, &scope, "API.md").await, None, "names differ by case");
    assert!(store.remove(scope.clone(), "api.md".to_owned()).await.unwrap());
    assert!(!store.remove(scope.clone(), "api.md".to_owned()).await.unwrap());
    assert_eq!(get(store, &scope, "api.md").await, None);
}

/// What was written replaces anything.
pub async fn what_is_generated_never_replaces_what_was_written(
    store: &dyn Context,
    watch: &Watch,
    name: &str,
) {
    let scope = format!("{name}-origin");
    let written = put(store, document(&scope, "hand", "mine")).await;
    let generated =
        |name: &str| NewDocument { origin: Origin::Generated, ..document(&scope, name, "generated") };
    let refused = store.put(generated("hand")).await;
    assert!(matches!(refused, Err(StoreError::Exists { what: "document" })), "{refused:?}");
    assert_eq!(get(store, &scope, "hand").await, Some(written));
    assert_eq!(put(store, generated("made")).await.row.origin, Origin::Generated);
    watch.turn(MINUTE);
    let again = NewDocument { content: "generated anew".to_owned(), ..generated("made") };
    assert_eq!(put(store, again).await.row.version, 2);
    let taken = put(store, document(&scope, "made", "generated anew")).await.row;
    assert_eq!((taken.origin, taken.version), (Origin::Written, 3), "the same words, but somebody's");
}

/// None is version 0.
pub async fn a_change_of_another_version_changes_nothing(store: &dyn Context, _: &Watch, name: &str) {
    let scope = format!("{name}-expected");
    let of = |content: &str, expected| NewDocument { expected, ..document(&scope, "d", content) };
    let stale = store.put(of("one", Some(1))).await;
    assert!(matches!(stale, Err(StoreError::Stale { found: 0, expected: 1 })), "{stale:?}");
    assert_eq!(put(store, of("one", Some(0))).await.row.version, 1);
    let stale = store.put(of("two", Some(0))).await;
    assert!(matches!(stale, Err(StoreError::Stale { found: 1, expected: 0 })), "{stale:?}");
    assert_eq!(put(store, of("two", Some(1))).await.row.version, 2);
    assert_eq!(get(store, &scope, "d").await.unwrap().content, "two");
    let first = |n: i32| NewDocument { expected: Some(0), ..document(&scope, "race", &n.to_string()) };
    let all = together((0..10).map(|n| store.put(first(n))).collect()).await;
    assert_eq!(all.iter().filter(|put| put.is_ok()).count(), 1, "one of ten was first");
    assert_eq!(get(store, &scope, "race").await.unwrap().row.version, 1);
}

/// By scope and name, as bytes compare.
pub async fn an_index_is_cut_and_counts_all(store: &dyn Context, name: &str) {
    let (one, other) = (format!("{name}-index"), format!("{name}-index-2"));
    for n in 0..40 {
        put(store, document(&one, &format!("d{n:02}"), "text")).await;
    }
    for name in ["b", "B", "a-b", "a_b"] {
        put(store, document(&other, name, "text")).await;
    }
    let names = async |scopes: &[&String], limit| {
        let scopes = scopes.iter().map(|scope| (*scope).clone()).collect();
        let index = store.index(scopes, limit).await.expect("the index is read");
        let names: Vec<_> = index.rows.iter().map(|row| row.name.clone()).collect();
        (names.join(" "), index.total)
    };
    assert_eq!(names(&[&other], 30).await, ("B a-b a_b b".to_owned(), 4));
    let (shown, total) = names(&[&other, &one], 30).await;
    assert!(shown.starts_with("d00 d01 ") && shown.ends_with(" d29") && total == 44, "{shown} {total}");
    assert_eq!(names(&[], 30).await, (String::new(), 0));
    let most = store.index(vec![one.clone(), other], 44).await.unwrap();
    assert_eq!(most.rows.len(), 44);
    for limit in [0, MAX_PAGE + 1] {
        refused(store.index(vec![one.clone()], limit).await, "a limit");
    }
}

/// Names, sizes, NUL.
pub async fn what_does_not_fit_is_refused(store: &dyn Context, name: &str) {
    let scope = format!("{name}-doc-refused");
    let fine = || document(&scope, "d", "text");
    let source = |path: &str| Source { path: path.to_owned(), sha256: "0".into() };
    let cases = [
        NewDocument { name: "../etc".to_owned(), ..fine() },
        NewDocument { name: ".hidden".to_owned(), ..fine() },
        NewDocument { name: "n".repeat(121), ..fine() },
        NewDocument { scope: String::new(), ..fine() },
        NewDocument { scope: "a/b".to_owned(), ..fine() },
        NewDocument { content: "a\0b".to_owned(), ..fine() },
        NewDocument { content: "x".repeat(MAX_DOCUMENT + 1), ..fine() },
        NewDocument { title: "t".repeat(301), ..fine() },
        NewDocument { sources: vec![source("a"); MAX_SOURCES + 1], ..fine() },
        NewDocument { sources: vec![source("")], ..fine() },
    ];
    for case in cases {
        refused(store.put(case).await, "a document");
    }
    assert_eq!(store.index(vec![scope.clone()], 1).await.unwrap().total, 0);
    let most = NewDocument { content: "\u{e9}".repeat(MAX_DOCUMENT / 2), ..fine() };
    assert_eq!(put(store, most).await.content.len(), MAX_DOCUMENT);
    refused(store.document(GLOBAL.to_owned(), "a/b".to_owned()).await, "a name");
    refused(store.remove(scope, "'".to_owned()).await, "a name");
}
