//! Notes by words: every driver finds the same.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Watch;
use super::notes::{add, note, of};
use crate::id::NoteId;
use crate::note::{MAX_NOTE, NewNote, NoteHit, NotePatch, NoteQuery, NoteScope, Ranked};
use crate::{Context, StoreError};

pub(super) async fn all(store: &dyn Context, watch: &Watch, name: &str) {
    questions_find_the_same_notes(store, watch, name).await;
    words_within_a_scope(store, watch, name).await;
    what_is_changed_is_found_by_its_new_words_alone(store, watch, name).await;
    pages_of_matches_show_everything_once(store, watch, name).await;
    a_note_of_any_words_is_kept_and_found_by_its_beginning(store, watch, name).await;
}

/// Notes by a letter: title, tags, text.
const NOTES: &[(char, &str, &[&str], &str)] = &[
    ('a', "Token rotation", &[], "Refresh tokens are rotated every hour."),
    ('b', "Weekly plan", &[], "The useAuthToken hook was renamed to useSession in src/auth/hooks.rs."),
    (
        'c',
        "Jos\u{e9}'s caf\u{e9} list",
        &[],
        "Cr\u{e8}me br\u{fb}l\u{e9}e at the cafe\u{301}; na\u{ef}ve e-mail to jose@example.org",
    ),
    (
        'd',
        "\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{30e1}\u{30e2}",
        &[],
        "\u{691c}\u{7d22}\u{306f}\u{65e5}\u{672c}\u{8a9e}\u{3067}\u{3082}\u{52d5}\u{304d}\u{307e}\u{3059}\u{3002}",
    ),
    (
        'e',
        "Migration",
        &["database", "release notes"],
        "Run the database migration before deploying; OAuth2 tokens stay valid.\n100% of rows, a_b and C:\\temp, it's 'quoted' \"twice\"",
    ),
    ('f', "Deploy", &[], "deploying deploys deployment: token"),
    ('i', "kebab-case and snake_case", &[], "HTTPServer parses utf8 strings; version 2.10.3"),
];

/// Questions and what they find. What stands before a `|` comes before what stands behind it; `!` is no question.
const QUESTIONS: &[(&str, &str)] = &[
    ("token", "a|bef"),
    ("tokens", "a|bef"),
    ("TOKEN", "a|bef"),
    ("rotate", "a"),
    ("useAuthToken", "b"),
    ("useauthtoken", "b"),
    ("auth", "be"),
    ("oauth", "e"),
    ("oauth2", "e"),
    ("session", "b"),
    ("hooks.rs", "b"),
    ("src/auth", "b"),
    ("hook rename", "b"),
    ("jose", "c"),
    ("Jos\u{e9}", "c"),
    ("JOSE", "c"),
    ("cafe", "c"),
    ("caf\u{e9}", "c"),
    ("cafes", "c"),
    ("naive", "c"),
    ("email", "c"),
    ("e-mail", "c"),
    ("brulee creme", "c"),
    ("\u{65e5}\u{672c}", "d"),
    ("\u{65e5}\u{672c}\u{8a9e}", "d"),
    ("\u{691c}\u{7d22}", "d"),
    ("\u{672c}", "d"),
    ("\u{8a9e}\u{3067}", "d"),
    ("\u{672c}\u{65e5}", ""),
    ("database", "e"),
    ("tag:database", "e"),
    ("tag:DATABASE", "e"),
    ("tag:\"release notes\"", "e"),
    ("tag:data", ""),
    ("release", "e"),
    ("tag:database token", "e"),
    ("-tag:database token", "a|bf"),
    ("migration deploy", "e"),
    ("deploy", "f|e"),
    ("deployment", "f|e"),
    ("deploy -migration", "f"),
    ("deploy -token", ""),
    ("token -\"refresh tokens\"", "bef"),
    ("\"refresh tokens\"", "a"),
    ("\"tokens refresh\"", ""),
    ("\"the database migration\"", "e"),
    ("\"migration run\"", ""),
    // Tags are one text, in their order.
    ("\"database release\"", "e"),
    ("rot*", "a"),
    ("dep*", "ef"),
    ("useA*", "b"),
    ("the", "bce"),
    ("AND", "ei"),
    ("token AND deploy", "e"),
    ("OR", ""),
    ("NOT token", ""),
    ("NEAR(token deploy)", ""),
    ("title:token", ""),
    ("token:*", "a|bef"),
    ("' OR 1=1 --", ""),
    ("100%", "e"),
    ("a_b", "e"),
    ("C:\\temp", "e"),
    ("it's", "e"),
    ("'quoted'", "e"),
    ("http server", "i"),
    ("httpserver", "i"),
    ("utf", "i"),
    ("kebab case", "i"),
    ("snakecase", "i"),
    ("snake_case", "i"),
    ("2.10", "i"),
    ("nothing", ""),
    ("token nothing", ""),
    ("", "!"),
    (" \t", "!"),
    ("%", "!"),
    ("_", "!"),
    ("'", "!"),
    ("\"\"", "!"),
    ("\\", "!"),
    ("*", "!"),
    ("-token", "!"),
    ("& | ! ( ) :* <->", "!"),
];

/// Whatever is asked.
pub async fn questions_find_the_same_notes(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-words");
    let mut letters: BTreeMap<NoteId, char> = BTreeMap::new();
    for (letter, title, tags, content) in NOTES {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let new = NewNote { tags, ..note(watch, Some(&venture), title, content) };
        letters.insert(add(store, new).await.id, *letter);
    }
    // Neither of them is asked for.
    let away = add(store, note(watch, Some(&venture), "Token", "token deploy nothing")).await.id;
    let patch = NotePatch { archived: Some(true), ..NotePatch::of(away, "x") };
    store.change_note(patch, None).await.unwrap();
    add(store, note(watch, Some(&format!("{venture}2")), "Token", "token deploy nothing")).await;
    let mut wrong = Vec::new();
    for (question, expected) in QUESTIONS {
        let query = NoteQuery { q: Some((*question).to_owned()), ..of(&venture, 20) };
        let found = match store.notes(query).await {
            Ok(page) => {
                assert_eq!((page.total, page.ranked), (page.items.len() as u64, Some(Ranked::All)));
                page.items.iter().map(|hit| letters.get(&hit.id).copied().unwrap_or('?')).collect()
            }
            Err(StoreError::Query(_)) => "!".to_owned(),
            Err(error) => panic!("{question:?}: {error}"),
        };
        if !is_ordered(&found, expected) {
            wrong.push(format!("{question:?} found {found:?} and not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let long = NoteQuery { q: Some("word ".repeat(1_000)), ..of(&venture, 1) };
    assert!(matches!(store.notes(long).await, Err(StoreError::Query(_))));
}

/// Whether what was found is in the groups that are expected, each in any order.
fn is_ordered(found: &str, expected: &str) -> bool {
    let mut rest = found.chars();
    let groups = expected.split('|').all(|group| {
        let taken: BTreeSet<char> = rest.by_ref().take(group.chars().count()).collect();
        taken == group.chars().collect()
    });
    groups && rest.next().is_none()
}

async fn found(store: &dyn Context, query: NoteQuery) -> Vec<NoteHit> {
    store.notes(query).await.expect("it is a question").items
}

/// A venture's, nobody's, everybody's; by tag; of what is put away.
pub async fn words_within_a_scope(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-scope");
    let word = format!("zebra{}", name.chars().filter(char::is_ascii_alphanumeric).collect::<String>());
    let mut own = note(watch, Some(&venture), "own", &format!("a line\nand the {word}; more of it"));
    own.tags = vec!["Some Tag".to_owned()];
    add(store, own).await;
    // Codes that differ by case, or are longer than any word may be.
    add(store, note(watch, Some(&venture.to_uppercase()), "upper", &word)).await;
    let long = format!("{venture}{}", "x".repeat(150));
    add(store, note(watch, Some(&long), "long", &word)).await;
    add(store, note(watch, None, "nobody's", &word)).await;
    let away = add(store, note(watch, None, "away", &word)).await.id;
    let patch = NotePatch { archived: Some(true), ..NotePatch::of(away, "x") };
    store.change_note(patch, None).await.unwrap();
    let asked = async |scope: NoteScope, tag: Option<&str>, archived: bool| {
        let tag = tag.map(str::to_owned);
        let query = NoteQuery { scope, tag, archived, q: Some(word.clone()), limit: 9, after: None };
        let titles: BTreeSet<_> = found(store, query).await.into_iter().map(|hit| hit.title).collect();
        titles.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(asked(NoteScope::Venture(venture.clone()), None, false).await, "own");
    assert_eq!(asked(NoteScope::Venture(long), None, false).await, "long");
    assert_eq!(asked(NoteScope::Global, None, false).await, "nobody's");
    assert_eq!(asked(NoteScope::Any, None, false).await, "long nobody's own upper");
    assert_eq!(asked(NoteScope::Any, Some("some tag"), false).await, "own");
    assert_eq!(asked(NoteScope::Any, Some("some"), false).await, "");
    assert_eq!(asked(NoteScope::Any, None, true).await, "away");
    let query = NoteQuery { q: Some(word.clone()), ..of(&venture, 1) };
    let hit = found(store, query).await.remove(0);
    assert_eq!(hit.snippet, Some(format!("a line and the **{word}**; more of it")));
    let query = NoteQuery { q: Some("own".to_owned()), ..of(&venture, 1) };
    assert_eq!(found(store, query).await[0].snippet, None, "its text says nothing of it");
}

/// Also when only its tags were changed, and when it was moved.
pub async fn what_is_changed_is_found_by_its_new_words_alone(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-rewords");
    let id = add(store, note(watch, Some(&venture), "first title", "first text")).await.id;
    let count = async |venture: &str, q: &str| {
        found(store, NoteQuery { q: Some(q.to_owned()), ..of(venture, 5) }).await.len()
    };
    let change = async |patch: NotePatch| store.change_note(patch, None).await.expect("it is changed");
    let base = NotePatch::of(id, "x");
    change(NotePatch { content: Some("second words".to_owned()), ..base.clone() }).await;
    assert_eq!((count(&venture, "text").await, count(&venture, "second").await), (0, 1));
    assert_eq!(count(&venture, "title").await, 1);
    change(NotePatch { tags: Some(vec!["gamma".to_owned()]), ..base.clone() }).await;
    assert_eq!((count(&venture, "tag:gamma second").await, count(&venture, "gamma").await), (1, 1));
    let other = format!("{venture}-2");
    change(NotePatch { venture: Some(Some(other.clone())), tags: Some(Vec::new()), ..base }).await;
    assert_eq!((count(&venture, "second").await, count(&other, "second").await), (0, 1));
    assert_eq!(count(&other, "gamma").await, 0);
}

/// Also when others come meanwhile.
pub async fn pages_of_matches_show_everything_once(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-matches");
    let mut all = BTreeSet::new();
    for n in 0..10 {
        let text = format!("{} {}", "ibex ".repeat(n % 3 + 1), "other words ".repeat(n));
        all.insert(add(store, note(watch, Some(&venture), &n.to_string(), &text)).await.id);
    }
    for q in ["ibex", "tag:none ibex", "-ibexes ibex"] {
        let mut query = NoteQuery { q: Some(q.to_owned()), ..of(&venture, 4) };
        let (mut seen, mut pages) = (Vec::new(), 0);
        loop {
            let page = store.notes(query.clone()).await.unwrap();
            pages += 1;
            seen.extend(page.items.iter().map(|hit| hit.id.clone()));
            if q == "ibex" {
                add(store, note(watch, Some(&format!("{venture}-2")), "ibex", "ibex")).await;
            }
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        if q == "ibex" {
            assert_eq!((pages, seen.len()), (3, 10));
            assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), all);
        } else {
            assert!(seen.is_empty(), "{q}");
        }
    }
}

/// As many different words as a note can hold: what is far behind cannot be found, and nothing is refused for it.
pub async fn a_note_of_any_words_is_kept_and_found_by_its_beginning(
    store: &dyn Context,
    watch: &Watch,
    name: &str,
) {
    let venture = format!("{name}-long");
    let words: Vec<String> = (0..80_000).map(|n| format!("w{n:x}")).collect();
    let text = words.join(" ") + " omega";
    assert!(text.len() > MAX_NOTE * 9 / 10 && text.len() <= MAX_NOTE, "{}", text.len());
    let kept = add(store, note(watch, Some(&venture), "Endless", &text)).await;
    for (q, expected) in [("w0", 1), ("w1000", 1), ("\"w10 w11 w12\"", 1), ("endless", 1), ("omega", 0)] {
        let query = NoteQuery { q: Some(q.to_owned()), ..of(&venture, 5) };
        assert_eq!(found(store, query).await.len(), expected, "{q}");
    }
    assert_eq!(store.note(kept.id).await.unwrap().unwrap().content, text);
}
