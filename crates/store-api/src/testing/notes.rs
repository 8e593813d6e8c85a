//! Notes that a team keeps.

use std::collections::BTreeSet;

use super::context::{MINUTE, Watch, next, refused};
use crate::history::MAX_PAGE;
use crate::id::NoteId;
use crate::note::{
    EXCERPT, MAX_NOTE, MAX_TAG, MAX_TAGS, MIN_CUT, NewNote, Note, NotePage, NotePatch, NoteQuery, NoteScope,
};
use crate::{Context, StoreError};

pub(super) async fn all(store: &dyn Context, watch: &Watch, name: &str) {
    a_note_comes_back_as_it_was(store, watch, name).await;
    changes_are_of_a_version(store, watch, name).await;
    lists_are_narrowed(store, watch, name).await;
    pages_of_notes_show_everything_once(store, watch, name).await;
    ten_newer_notes_of_others_do_not_push_out_the_ventures_own(store, watch, name).await;
    a_day_takes_so_many_characters(store, watch, name).await;
    what_does_not_fit_is_refused(store, watch, name).await;
}

/// A note with an id of its own.
#[must_use]
pub fn note(watch: &Watch, venture: Option<&str>, title: &str, content: &str) -> NewNote {
    NewNote {
        id: NoteId::new(watch.now(), next()),
        venture: venture.map(str::to_owned),
        title: title.to_owned(),
        content: content.to_owned(),
        tags: Vec::new(),
        by: "local".to_owned(),
    }
}

pub(super) async fn add(store: &dyn Context, note: NewNote) -> Note {
    store.add_note(note, None).await.expect("a note is kept").value
}

pub(super) fn of(venture: &str, limit: u32) -> NoteQuery {
    NoteQuery { scope: NoteScope::Venture(venture.to_owned()), limit, ..NoteQuery::default() }
}

fn titles(page: &NotePage) -> Vec<&str> {
    page.items.iter().map(|note| note.title.as_str()).collect()
}

fn tags(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

/// Tags sorted and each once, the rest as it is; lists show its beginning.
pub async fn a_note_comes_back_as_it_was(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-kept");
    let content = format!("'; DROP TABLE notes; -- \u{1f600}\r\n{}", "\u{4e16}\u{754c} ".repeat(200));
    let mut new = note(watch, Some(&venture), "It's \"quoted\" \\ %_", &content);
    new.tags = tags(&["z", " a b ", "z", "Z"]);
    let kept = add(store, new.clone()).await;
    assert_eq!((&kept.title, &kept.content, &kept.tags), (&new.title, &content, &tags(&["Z", "a b", "z"])));
    assert_eq!(
        (kept.version, kept.archived, kept.created, kept.updated),
        (1, false, watch.now(), watch.now())
    );
    assert_eq!((kept.venture.as_deref(), kept.by.as_str()), (Some(venture.as_str()), "local"));
    assert_eq!(store.note(kept.id.clone()).await.unwrap(), Some(kept.clone()));
    watch.turn(MINUTE);
    assert_eq!(add(store, NewNote { title: "another".to_owned(), ..new }).await, kept, "an id is one note");
    let page = store.notes(of(&venture, 5)).await.unwrap();
    let hit = page.items.first().expect("it is listed");
    let begins: String = content.chars().take(EXCERPT).collect();
    assert_eq!((&hit.excerpt, hit.characters), (&begins, content.chars().count() as u64));
    assert_eq!((&hit.id, &hit.tags, hit.snippet.as_deref()), (&kept.id, &kept.tags, None));
    assert_eq!((page.total, page.next, page.ranked), (1, None, None));
    assert_eq!(store.note(NoteId::new(watch.now(), next())).await.unwrap(), None);
    let empty = add(store, note(watch, Some(&venture), "empty", "")).await;
    assert_eq!(store.note(empty.id.clone()).await.unwrap(), Some(empty));
}

/// What is stale changes nothing; what changes nothing is no change.
pub async fn changes_are_of_a_version(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-changes");
    let mut new = note(watch, Some(&venture), "one", "text");
    new.tags = tags(&["a"]);
    let first = add(store, new).await;
    watch.turn(MINUTE);
    let nothing = NotePatch::of(first.id.clone(), "other");
    assert_eq!(store.change_note(nothing.clone(), None).await.unwrap().value, first);
    let patch = NotePatch {
        expected: Some(1),
        content: Some("other text".to_owned()),
        tags: Some(tags(&["c", "b"])),
        ..nothing.clone()
    };
    let second = store.change_note(patch.clone(), None).await.unwrap().value;
    let expected = Note {
        content: "other text".to_owned(),
        tags: tags(&["b", "c"]),
        version: 2,
        updated: watch.now(),
        by: "other".to_owned(),
        ..first.clone()
    };
    assert_eq!(second, expected);
    let stale = store.change_note(NotePatch { title: Some("x".to_owned()), ..patch }, None).await;
    assert!(matches!(stale, Err(StoreError::Stale { found: 2, expected: 1 })), "{stale:?}");
    assert_eq!(store.note(first.id.clone()).await.unwrap(), Some(expected));
    let moved = NotePatch { venture: Some(None), archived: Some(true), ..nothing.clone() };
    let moved = store.change_note(moved, None).await.unwrap().value;
    assert_eq!((moved.venture, moved.archived, moved.version), (None, true, 3));
    assert_eq!(store.notes(of(&venture, 5)).await.unwrap().total, 0);
    let unknown = NotePatch { id: NoteId::new(watch.now(), next()), ..nothing };
    assert!(matches!(store.change_note(unknown, None).await, Err(StoreError::NotFound { .. })));
}

/// By venture, tag and what is put away; a tag is one whatever its case.
pub async fn lists_are_narrowed(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-narrow");
    for (title, whose, of) in [
        ("a", Some(&venture), &["ui", "auth"][..]),
        ("b", Some(&venture), &["UI"]),
        ("c", Some(&venture), &[]),
        ("d", None, &["ui"]),
    ] {
        let mut new = note(watch, whose.map(String::as_str), title, "text");
        new.tags = tags(of);
        new.tags.push(name.to_owned());
        add(store, new).await;
    }
    let asked = async |scope: NoteScope, tag: Option<&str>, archived: bool| {
        let tag = tag.map(str::to_owned);
        let query = NoteQuery { scope, tag, archived, limit: 9, ..NoteQuery::default() };
        let page = store.notes(query).await.unwrap();
        assert_eq!(page.total, page.items.len() as u64);
        titles(&page).join("")
    };
    let here = || NoteScope::Venture(venture.clone());
    assert_eq!(asked(here(), None, false).await, "cba", "what was changed last comes first");
    assert_eq!(asked(here(), Some("ui"), false).await, "ba");
    assert_eq!(asked(here(), Some("Auth"), false).await, "a");
    assert_eq!(asked(here(), Some("u"), false).await, "");
    assert_eq!(asked(NoteScope::Any, Some(name), false).await, "dcba");
    assert_eq!(asked(NoteScope::Global, Some(name), false).await, "d");
    let query = NoteQuery { tag: Some("auth".to_owned()), ..of(&venture, 1) };
    let first = store.notes(query).await.unwrap().items.remove(0).id;
    let put_away = NotePatch { archived: Some(true), ..NotePatch::of(first.clone(), "x") };
    store.change_note(put_away, None).await.unwrap();
    assert_eq!(asked(here(), None, false).await, "cb");
    assert_eq!(asked(here(), Some("ui"), true).await, "a");
    let back = NotePatch { archived: Some(false), tags: Some(Vec::new()), ..NotePatch::of(first, "x") };
    store.change_note(back, None).await.unwrap();
    assert_eq!(asked(here(), None, false).await, "acb");
    assert_eq!(asked(here(), Some("ui"), false).await, "b");
}

/// Also while others write: what changes meanwhile goes to the front, which was shown.
pub async fn pages_of_notes_show_everything_once(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-note-pages");
    let mut all = BTreeSet::new();
    for n in 0..11 {
        all.insert(add(store, note(watch, Some(&venture), &n.to_string(), "text")).await.id);
    }
    // Times say nothing of the order.
    watch.turn(-MINUTE);
    let mut query = of(&venture, 4);
    let (mut seen, mut pages) = (Vec::new(), 0);
    loop {
        let page = store.notes(query.clone()).await.unwrap();
        pages += 1;
        seen.extend(page.items.iter().map(|note| note.id.clone()));
        if pages == 1 {
            assert_eq!((page.total, titles(&page)), (11, vec!["10", "9", "8", "7"]));
            let patch = NotePatch { title: Some("x".to_owned()), ..NotePatch::of(seen[1].clone(), "x") };
            store.change_note(patch, None).await.unwrap();
            add(store, note(watch, Some(&venture), "late", "text")).await;
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    assert_eq!((pages, seen.len()), (3, 11));
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), all);
    watch.turn(MINUTE);
    let first = store.notes(of(&venture, 2)).await.unwrap();
    assert_eq!(titles(&first), ["late", "x"]);
}

/// Own ones first, then those of nobody, then others', and only then are ten taken. (In the original ten were taken first.)
pub async fn ten_newer_notes_of_others_do_not_push_out_the_ventures_own(
    store: &dyn Context,
    watch: &Watch,
    name: &str,
) {
    let venture = format!("{name}-day");
    for n in 0..3 {
        watch.turn(1);
        add(store, note(watch, Some(&venture), &format!("own {n}"), "text")).await;
    }
    add(store, note(watch, None, "for all", "text")).await;
    let other = format!("{name}-day-other");
    for n in 0..12 {
        watch.turn(MINUTE);
        add(store, note(watch, Some(&other), &format!("other {n}"), "text")).await;
    }
    let day = store.for_day(venture.clone(), 10, 12_000).await.unwrap();
    let shown: Vec<_> = day.notes.iter().map(|note| note.title.as_str()).collect();
    assert_eq!(shown[..4], ["own 2", "own 1", "own 0", "for all"], "{shown:?}");
    assert_eq!((shown.len(), day.cut), (10, false));
    assert!(day.total >= 16, "{}", day.total);
    let is_other = |title: &&str| title.starts_with("other");
    let others: Vec<_> = shown.iter().copied().filter(is_other).collect();
    assert!(others.starts_with(&["other 11"]) || others.is_empty(), "{shown:?}");
    let put_away = NotePatch { archived: Some(true), ..NotePatch::of(day.notes[0].id.clone(), "x") };
    store.change_note(put_away, None).await.unwrap();
    let day = store.for_day(venture, 2, 12_000).await.unwrap();
    let shown: Vec<_> = day.notes.iter().map(|note| note.title.as_str()).collect();
    assert_eq!(shown, ["own 1", "own 0"]);
}

/// What fits whole, the beginning of the one that does not, and nothing behind it.
pub async fn a_day_takes_so_many_characters(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-day-long");
    let line = "\u{e9}".repeat(99);
    add(store, note(watch, Some(&venture), "small", "behind")).await;
    add(store, note(watch, Some(&venture), "large", &format!("{line}\n").repeat(2_500))).await;
    add(store, note(watch, Some(&venture), "first", &"x".repeat(995))).await;
    let day = store.for_day(venture.clone(), 10, 12_000).await.unwrap();
    let shown: Vec<_> =
        day.notes.iter().map(|note| (note.title.as_str(), note.content.chars().count())).collect();
    assert_eq!(shown, [("first", 995), ("large", 10_900)], "whole lines of what there is room for");
    assert_eq!((day.cut, day.characters), (true, 1_000 + 5 + 10_900));
    // No room for a part that is worth it.
    let little = store.for_day(venture.clone(), 10, 1_000 + 5 + MIN_CUT - 1).await.unwrap();
    assert_eq!((little.notes.len(), little.cut, little.characters), (1, false, 1_000));
    let least = store.for_day(venture.clone(), 10, 1_000 + 5 + MIN_CUT).await.unwrap();
    assert_eq!((least.notes.len(), least.cut, least.characters), (2, true, 1_000 + 5 + 500));
    let none = store.for_day(venture.clone(), 0, 12_000).await.unwrap();
    assert!(none.notes.is_empty() && none.total >= 3);
    let one_line = format!("{venture}-2");
    add(store, note(watch, Some(&one_line), "wall", &"w".repeat(MAX_NOTE))).await;
    let day = store.for_day(one_line, 1, 12_000).await.unwrap();
    assert_eq!((day.notes[0].content.len(), day.cut), (12_000 - 4, true));
}

/// At the limit it fits, one over it does not, and nothing is kept of it.
pub async fn what_does_not_fit_is_refused(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-note-refused");
    let fine = || note(watch, Some(&venture), "t", "text");
    let many = |n: usize| (0..n).map(|n| format!("tag {n}")).collect::<Vec<_>>();
    let cases = [
        NewNote { title: " ".to_owned(), ..fine() },
        NewNote { title: "x".repeat(301), ..fine() },
        NewNote { content: "a\0b".to_owned(), ..fine() },
        NewNote { content: "x".repeat(MAX_NOTE + 1), ..fine() },
        NewNote { venture: Some(String::new()), ..fine() },
        NewNote { tags: many(MAX_TAGS + 1), ..fine() },
        NewNote { tags: vec!["\u{1f600}".repeat(MAX_TAG + 1)], ..fine() },
        NewNote { tags: vec![" ".to_owned()], ..fine() },
        NewNote { tags: vec!["a\0".to_owned()], ..fine() },
    ];
    for case in cases {
        refused(store.add_note(case, None).await, "a note");
    }
    assert_eq!(store.notes(of(&venture, 1)).await.unwrap().total, 0);
    let mut most = NewNote { content: "x".repeat(MAX_NOTE), tags: many(MAX_TAGS), ..fine() };
    most.tags[0] = "\u{1f600}".repeat(MAX_TAG);
    let kept = add(store, most).await;
    assert_eq!((kept.content.len(), kept.tags.len()), (MAX_NOTE, MAX_TAGS));
    let patch = NotePatch { content: Some("y".repeat(MAX_NOTE + 1)), ..NotePatch::of(kept.id.clone(), "x") };
    refused(store.change_note(patch, None).await, "a change");
    assert_eq!(store.note(kept.id).await.unwrap().unwrap().version, 1);
    for limit in [0, MAX_PAGE + 1] {
        refused(store.notes(of(&venture, limit)).await, "a limit");
    }
}
