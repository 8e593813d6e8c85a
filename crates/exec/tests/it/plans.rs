//! Plans: all or nothing, conflicts, repetition, undo.

use std::fs;

use contract::{Code, FileMode, TranscriptId};
use gatewright_exec::apply::{plan_undo, undo};
use gatewright_exec::state::Durable;
use proptest::prelude::*;

use super::{Place, path, put};

fn take_back(place: &Place, applied: &gatewright_exec::Applied) -> Result<(), contract::Fault> {
    let proposal = plan_undo(&place.root, &place.state, applied)?;
    for (digest, bytes) in &proposal.blobs {
        place.state.put_blob(digest, bytes, Durable::Yes)?;
    }
    undo(&place.root, &place.state, applied, &proposal.plan, &TranscriptId::random().unwrap()).map(|_| ())
}

#[test]
fn every_file_effect_lands_and_is_taken_back() {
    let place = Place::new(&[("old", "1"), ("gone", "2"), ("log", "a\n")]);
    let plan = place
        .plan(|draft, view| {
            put(draft, view, "old", "one")?;
            put(draft, view, "new/deep/er", "three")?;
            draft.remove(view, &path("gone"))?;
            draft.append(view, &path("log"), "b")?;
            draft.symlink(view, &path("new/link"), "../old")
        })
        .unwrap();
    assert_eq!(plan.effects.len(), 5);
    let applied = place.apply(&plan).unwrap();
    assert_eq!(place.read("old").as_deref(), Some("one"));
    assert_eq!(place.read("new/deep/er").as_deref(), Some("three"));
    assert_eq!((place.read("gone"), place.read("log").as_deref()), (None, Some("a\nb\n")));
    assert_eq!(place.read("new/link").as_deref(), Some("one"));
    place.assert_tidy();
    take_back(&place, &applied).unwrap();
    assert_eq!((place.read("old").as_deref(), place.read("gone").as_deref()), (Some("1"), Some("2")));
    assert_eq!(place.read("log").as_deref(), Some("a\n"));
    assert!(!place.path("new").exists(), "directories go with their files");
    place.assert_tidy();
}

#[test]
fn when_one_effect_cannot_land_none_does() {
    let place = Place::new(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let plan = place
        .plan(|draft, view| {
            put(draft, view, "a", "x")?;
            put(draft, view, "new/file", "x")?;
            put(draft, view, "c", "x")
        })
        .unwrap();
    fs::remove_file(place.path("c")).unwrap();
    let fault = place.apply(&plan).unwrap_err();
    assert_eq!((fault.code, fault.affected_files.as_slice()), (Code::Conflict, &["c".to_owned()][..]));
    assert_eq!((place.read("a").as_deref(), place.path("new").exists()), (Some("1"), false));
    place.assert_tidy();
}

#[test]
fn what_was_only_read_is_held_to_as_well() {
    let place = Place::new(&[("source", "1"), ("dir/x", "")]);
    let make = || {
        place.plan(|draft, view| {
            view.read(&path("source"))?;
            view.list(Some(&path("dir")))?;
            put(draft, view, "out", "x")
        })
    };
    let plan = make().unwrap();
    fs::write(place.path("source"), "2").unwrap();
    assert_eq!(place.apply(&plan).unwrap_err().affected_files, ["source"]);
    let plan = make().unwrap();
    fs::write(place.path("dir/y"), "").unwrap();
    assert_eq!(place.apply(&plan).unwrap_err().affected_files, ["dir"]);
    assert_eq!(place.read("out"), None);
}

#[test]
fn applying_the_same_plan_again_is_a_no_op() {
    let place = Place::new(&[]);
    let plan = place.plan(|draft, view| put(draft, view, "a", "1")).unwrap();
    assert_eq!(place.apply(&plan).unwrap().receipt.effects.len(), 1);
    assert_eq!(place.apply(&plan).unwrap().receipt.effects.len(), 0);
    assert_eq!(place.read("a").as_deref(), Some("1"));
}

#[test]
fn undo_refuses_where_later_work_is_in_the_way_and_changes_nothing() {
    let place = Place::new(&[("a", "1"), ("b", "1")]);
    let plan = place
        .plan(|draft, view| {
            put(draft, view, "a", "2")?;
            put(draft, view, "b", "2")
        })
        .unwrap();
    let applied = place.apply(&plan).unwrap();
    fs::write(place.path("b"), "later").unwrap();
    let fault = take_back(&place, &applied).unwrap_err();
    assert_eq!((fault.code, fault.affected_files.as_slice()), (Code::Conflict, &["b".to_owned()][..]));
    assert_eq!((place.read("a").as_deref(), place.read("b").as_deref()), (Some("2"), Some("later")));
}

#[test]
fn a_plan_belongs_to_its_principal_and_its_root() {
    let place = Place::new(&[]);
    let plan = place.plan(|draft, view| put(draft, view, "a", "1")).unwrap();
    let id = plan.id().unwrap();
    assert!(place.state.plan(&id, &contract::Principal::Local { uid: 0 }).is_ok());
    let other = place.state.plan(&id, &contract::Principal::Local { uid: 1 });
    assert_eq!(other.unwrap_err().code, Code::NotFound);
    let elsewhere = Place::new(&[]);
    assert_eq!(elsewhere.apply(&plan).unwrap_err().code, Code::Conflict);
}

#[test]
fn what_a_plan_read_in_another_root_must_hold_too() {
    let (place, source) = (Place::new(&[]), Place::new(&[("from", "1")]));
    let plan = place.plan(|draft, view| put(draft, view, "to", "1")).unwrap();
    let seen = source.view();
    seen.read_text(&path("from")).unwrap();
    let source_of = contract::Source { root: source.root.id().to_owned(), observed: seen.observed() };
    let plan = contract::Plan { source: Some(source_of), ..plan };
    let apply = |from: Option<&gatewright_exec::Root>| {
        let (transcript, cancel) =
            (TranscriptId::random().unwrap(), tokio_util::sync::CancellationToken::new());
        gatewright_exec::apply_from(from, &place.root, &place.state, &plan, &transcript, None, &cancel)
    };
    for other in [None, Some(&*place.root)] {
        assert_eq!(apply(other).unwrap_err().code, Code::Conflict, "it is another root's");
    }
    fs::write(source.path("from"), "2").unwrap();
    let moved = apply(Some(&source.root)).unwrap_err();
    assert_eq!((moved.code, moved.affected_files.as_slice()), (Code::Conflict, &["from".to_owned()][..]));
    assert_eq!(place.read("to"), None);
    fs::write(source.path("from"), "1").unwrap();
    apply(Some(&source.root)).unwrap();
    assert_eq!(place.read("to").as_deref(), Some("1"));
    place.assert_tidy();
}

#[test]
fn a_cancelled_apply_changes_nothing() {
    let place = Place::new(&[("a", "1")]);
    let plan = place.plan(|draft, view| put(draft, view, "a", "2")).unwrap();
    let cancel = tokio_util::sync::CancellationToken::new();
    cancel.cancel();
    let transcript = TranscriptId::random().unwrap();
    let fault =
        gatewright_exec::apply(&place.root, &place.state, &plan, &transcript, None, &cancel).unwrap_err();
    assert_eq!((fault.code, place.read("a").as_deref()), (Code::Cancelled, Some("1")));
    place.assert_tidy();
}

#[test]
fn state_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new(&[("a", "secret")]);
    let plan = place.plan(|draft, view| put(draft, view, "a", "2")).unwrap();
    place.apply(&plan).unwrap();
    let mut open = vec![place.outside().join("state")];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o077;
            assert_eq!(mode, 0, "{:?}", entry.path());
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever a plan does to a small tree, undo restores the tree.
    #[test]
    fn undo_is_the_inverse_of_apply(ops in prop::collection::vec((0u8..6, 0u8..4, "[a-z]{0,6}"), 1..7)) {
        let place = Place::new(&[("f0", "zero"), ("f1", "one"), ("d/f2", "two")]);
        let names = ["f0", "f1", "d/f2", "d/new", "e/f/g", "f5"];
        let before: Vec<_> = names.iter().map(|n| place.read(n)).collect();
        let mut used = std::collections::BTreeSet::new();
        let plan = place.plan(|draft, view| {
            for (file, op, text) in &ops {
                let name = names[usize::from(*file)];
                if !used.insert(name) {
                    continue;
                }
                match op {
                    0 => draft.remove(view, &path(name))?,
                    1 => draft.append(view, &path(name), text)?,
                    2 => draft.put(view, &path(name), text.clone().into_bytes(), FileMode::Executable)?,
                    _ => put(draft, view, name, text)?,
                }
            }
            Ok(())
        }).unwrap();
        let applied = place.apply(&plan).unwrap();
        if !plan.effects.is_empty() {
            take_back(&place, &applied).unwrap();
        }
        let after: Vec<_> = names.iter().map(|n| place.read(n)).collect();
        prop_assert_eq!(before, after);
        prop_assert!(!place.path("e").exists());
        place.assert_tidy();
    }
}

/// The plan has happened, what it displaced is gone, and the journal says that it was not committed: as when a crash is
/// followed by `git clean`, or when recovery itself is interrupted.
fn interrupted(
    place: &Place,
    plan: &contract::Plan,
    spoil: impl FnOnce(&Place),
) -> gatewright_exec::apply::Recovered {
    place.apply(plan).unwrap();
    let transcript = TranscriptId::random().unwrap();
    let steps: Vec<_> = plan
        .effects
        .iter()
        .filter_map(contract::Effect::change)
        .enumerate()
        .map(|(i, c)| {
            let temporary = format!(".gatewright-tmp-test-{i}");
            serde_json::json!({ "path": c.path, "before": c.before, "after": c.after, "temporary": temporary })
        })
        .collect();
    let journal = serde_json::json!({
        "transcript": transcript, "plan": plan, "steps": steps, "directories": [], "staged": true, "branches": [],
        "key": contract::Key::random().unwrap(), "sending": false,
    });
    let file = place.outside().join("state/journal").join(format!("{transcript}.json"));
    fs::write(file, journal.to_string()).unwrap();
    spoil(place);
    gatewright_exec::recover(&place.root, &place.state).unwrap()
}

#[test]
fn recovery_restores_from_the_pre_image_when_what_was_displaced_is_gone() {
    // The temporary names went with `git clean`; the plan's outcome stands; the journal says: not committed.
    let place = Place::new(&[("a", "old"), ("gone", "old")]);
    let plan = place
        .plan(|draft, view| {
            put(draft, view, "a", "new")?;
            draft.remove(view, &path("gone"))
        })
        .unwrap();
    let recovered = interrupted(&place, &plan, |_| {});
    assert_eq!((recovered.taken_back.len(), recovered.blocked.as_slice()), (1, &[][..]));
    assert_eq!(place.read("a").as_deref(), Some("old"));
    assert_eq!(place.read("gone").as_deref(), Some("old"));
    place.assert_tidy();
    assert!(gatewright_exec::recover(&place.root, &place.state).unwrap().taken_back.is_empty());
}

#[test]
fn one_path_in_the_way_of_recovery_does_not_keep_the_others_from_being_taken_back() {
    let place = Place::new(&[("a", "old"), ("d/b", "old")]);
    let plan = place
        .plan(|draft, view| {
            put(draft, view, "a", "new")?;
            put(draft, view, "d/b", "new")
        })
        .unwrap();
    let recovered = interrupted(&place, &plan, |place| {
        fs::rename(place.path("d"), place.path("e")).unwrap();
        std::os::unix::fs::symlink("e", place.path("d")).unwrap();
    });
    assert_eq!(place.read("a").as_deref(), Some("old"));
    assert_eq!(recovered.blocked.iter().map(|b| b.path.as_str()).collect::<Vec<_>>(), ["d/b"]);
    let another = place.plan(|draft, view| put(draft, view, "c", "x")).unwrap();
    assert_eq!(place.apply(&another).unwrap_err().code, Code::Conflict, "until a person has looked");
    gatewright_exec::apply::accept_blocked(&place.state).unwrap();
    place.apply(&another).unwrap();
}

#[test]
fn the_diff_of_a_large_new_file_is_counted_whole_and_shows_no_secret_where_it_is_cut() {
    let place = Place::new(&[]);
    let secret = "-----BEGIN KEY-----\nxyzzy\nxyzzy\n-----END KEY-----\n";
    let clean = |text: &str| {
        let mut text = text.to_owned();
        while let (Some(from), Some(to)) = (text.find("-----BEGIN"), text.find("END KEY-----")) {
            text.replace_range(from..to + 12, "[redacted]");
        }
        text
    };
    let line = "a line of plain text\n";
    for before in [1, 10, 46, 47, 48, 49, 50, 51, 200] {
        let text = line.repeat(before) + secret + &line.repeat(100_000);
        let plan = place.plan(|draft, view| put(draft, view, "large", &text)).unwrap();
        let blobs = [(contract::Digest::of(text.as_bytes()), text.clone().into_bytes())].into();
        let diff = gatewright_exec::diff::of(&place.root, &plan.effects, &blobs, 1_000, &clean);
        assert!(diff.text.len() <= 1_000 && !diff.text.contains("xyzzy"), "{before}: {}", diff.text);
        assert!(diff.text.starts_with("--- /dev/null\n+++ b/large\n@@ -0,0 +1,"), "{}", diff.text);
        assert_eq!(diff.text.lines().count() as u64, diff.shown);
        // The secret's four lines are one.
        assert_eq!(diff.added, (before + 100_001) as u64, "every line is counted");
    }
    let plan = place.plan(|draft, view| put(draft, view, "empty", "")).unwrap();
    let blobs = [(contract::Digest::of(b""), Vec::new())].into();
    let diff = gatewright_exec::diff::of(&place.root, &plan.effects, &blobs, usize::MAX, &clean);
    assert!(diff.text.ends_with("an empty file\n"), "{}", diff.text);
}
