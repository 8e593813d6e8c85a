//! The refs effect on real repositories, with packs that git itself made.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use contract::{Code, Fault, Plan, RefMove, TranscriptId};
use gatewright_exec::apply::plan_undo;
use proptest::prelude::*;

use super::Place;
use super::branches::{fingerprint, git, repository};

/// A clone of a place's repository, in which things happen that are then proposed.
struct Elsewhere<'a>(&'a Place);

impl Elsewhere<'_> {
    fn of(place: &Place) -> Elsewhere<'_> {
        git(place, &["clone", "-q", ".", "../elsewhere"]);
        Elsewhere(place)
    }

    fn git(&self, args: &[&str]) -> String {
        let all: Vec<&str> = ["-C", "../elsewhere"].into_iter().chain(args.iter().copied()).collect();
        git(self.0, &all)
    }

    /// A commit on a new branch, with a file in a folder; its id.
    fn commit(&self, branch: &str, on: &str) -> String {
        self.git(&["checkout", "-q", "-B", branch, on]);
        let file = self.0.outside().join("elsewhere/new").join(branch.replace('/', "-"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, branch).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "-qm", &format!("feat: {branch} (made elsewhere)")]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// The pack of what `tips` have and `without` has not, whole.
    fn pack(&self, tips: &[&str], without: &str, more: &[&str]) -> Vec<u8> {
        let mut child = Command::new("git")
            .args(["pack-objects", "--revs", "--stdout", "-q"])
            .args(more)
            .current_dir(self.0.outside().join("elsewhere"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut revs = tips.join("\n");
        revs.push_str(&format!("\n^{without}\n"));
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), revs.as_bytes()).unwrap();
        child.wait_with_output().unwrap().stdout
    }

    fn whole(&self, tips: &[&str], without: &str) -> Vec<u8> {
        self.pack(tips, without, &["--window=0", "--no-reuse-delta"])
    }
}

fn to(name: &str, before: Option<&str>, after: Option<&str>) -> RefMove {
    RefMove { name: name.into(), before: before.map(Into::into), after: after.map(Into::into) }
}

fn plan(place: &Place, pack: Option<Vec<u8>>, moves: &[RefMove]) -> Result<Plan, Fault> {
    place.plan(|draft, view| draft.refs(view, pack, moves.to_vec()))
}

/// All refs, as git has them.
fn refs(place: &Place) -> String {
    git(place, &["for-each-ref", "--format=%(refname) %(objectname)"])
}

#[test]
fn refs_move_together_with_the_objects_that_come_with_them_and_back() {
    let place = repository();
    let main = git(&place, &["rev-parse", "HEAD"]);
    git(&place, &["branch", "old"]);
    git(&place, &["branch", "topic"]);
    git(&place, &["pack-refs", "--all"]);
    let elsewhere = Elsewhere::of(&place);
    let (topic, new) = (elsewhere.commit("topic", "origin/topic"), elsewhere.commit("a/b", "origin/main"));
    let pack = elsewhere.whole(&[&topic, &new], &main);
    let before = (fingerprint(&place), refs(&place));
    let moves = [
        to("refs/heads/topic", Some(&main), Some(&topic)),
        to("refs/heads/a/b", None, Some(&new)),
        to("refs/heads/old", Some(&main), None),
        to("refs/spice/data", None, Some(&new)),
    ];
    let planned = plan(&place, Some(pack.clone()), &moves).unwrap();
    assert_eq!(
        planned.effects.iter().map(contract::Effect::summary).collect::<Vec<_>>(),
        ["refs: move topic, create a/b, delete old, create refs/spice/data"]
    );
    let blobs = BTreeMap::from([(planned.effects[0].blobs()[0], pack)]);
    let shown =
        gatewright_exec::diff::of(&place.root, &planned.effects, &blobs, 4000, &|text| text.to_owned());
    for line in [
        &format!("  topic from {} to {}", &main[..12], &topic[..12]),
        "+ a/b at ",
        "- old, which was at ",
        &format!("commit {} feat: topic (made elsewhere)", &topic[..12]),
        "+ new/topic",
        "+ new/a-b",
    ] {
        assert!(shown.text.contains(line), "{line}: {}", shown.text);
    }
    assert_eq!(refs(&place), before.1, "a plan moves nothing");
    let applied = place.apply(&planned).unwrap();
    assert_eq!(
        refs(&place),
        format!(
            "refs/heads/a/b {new}\nrefs/heads/main {main}\nrefs/heads/topic {topic}\nrefs/spice/data {new}"
        )
    );
    assert_eq!(git(&place, &["show", "a/b:new/a-b"]), "a/b");
    assert_eq!(fingerprint(&place), before.0);
    git(&place, &["fsck", "--strict", "--full"]);
    let again = place.apply(&planned).unwrap();
    assert!(again.receipt.effects.is_empty(), "what stands already is not done again");
    place.undo(&applied).unwrap();
    assert_eq!((fingerprint(&place), refs(&place)), before);
    git(&place, &["fsck", "--strict"]);
    place.assert_tidy();
}

#[test]
fn what_moved_meanwhile_or_is_checked_out_is_a_conflict_and_nothing_moves() {
    let place = repository();
    let main = git(&place, &["rev-parse", "HEAD"]);
    for branch in ["one", "two", "linked"] {
        git(&place, &["branch", branch]);
    }
    git(&place, &["worktree", "add", "-q", "../linked", "linked"]);
    let elsewhere = Elsewhere::of(&place);
    let new = elsewhere.commit("new", "origin/main");
    let pack = elsewhere.whole(&[&new], &main);
    for name in ["refs/heads/main", "refs/heads/linked"] {
        let fault = plan(&place, Some(pack.clone()), &[to(name, Some(&main), Some(&new))]).unwrap_err();
        assert_eq!(fault.code, Code::Conflict);
        assert!(
            fault.message.contains("is checked out") && fault.suggestions[0].contains("git switch"),
            "{fault:?}"
        );
    }
    let both = [to("refs/heads/one", Some(&main), Some(&new)), to("refs/heads/two", Some(&main), None)];
    let planned = plan(&place, Some(pack.clone()), &both).unwrap();
    git(&place, &["commit", "-q", "--allow-empty", "-m", "later"]);
    git(&place, &["branch", "-f", "two"]);
    let before = refs(&place);
    let fault = place.apply(&planned).unwrap_err();
    assert_eq!((fault.code, refs(&place)), (Code::Conflict, before));
    assert_eq!(fault.affected_files, ["refs/heads/two"]);
    // Checked out between the plan and its apply.
    let planned = plan(&place, Some(pack), &both[..1]).unwrap();
    git(&place, &["checkout", "-q", "one"]);
    assert!(place.apply(&planned).unwrap_err().message.contains("one is checked out"));
    git(&place, &["checkout", "-q", "main"]);
    // Git at work: its lock holds.
    fs::write(place.path(".git/refs/heads/one.lock"), "").unwrap();
    let fault = place.apply(&planned).unwrap_err();
    assert!(fault.code == Code::Conflict && fault.message.contains("lock"), "{fault:?}");
    fs::remove_file(place.path(".git/refs/heads/one.lock")).unwrap();
    let applied = place.apply(&planned).unwrap();
    // Later work is not undone.
    let later = elsewhere.commit("later", &new);
    git(&place, &["fetch", "-q", "../elsewhere", "later:one"]);
    let fault = plan_undo(&place.root, &place.state, &applied).unwrap_err();
    assert!(fault.code == Code::Conflict && fault.message.contains("refs/heads/one is at"), "{fault:?}");
    assert_eq!(git(&place, &["rev-parse", "one"]), later);
    place.assert_tidy();
}

#[test]
fn objects_that_are_not_whole_or_lead_nowhere_are_refused_before_any_is_written() {
    let place = repository();
    let main = git(&place, &["rev-parse", "HEAD"]);
    let elsewhere = Elsewhere::of(&place);
    let first = elsewhere.commit("first", "origin/main");
    let second = elsewhere.commit("second", &first);
    let blob = elsewhere.git(&["rev-parse", "second:kept"]);
    let lines = (0..2_000).fold(String::new(), |text, line| text + &format!("line {line} of a long text\n"));
    for (name, more) in [("similar", ""), ("likewise", "and one more\n")] {
        fs::write(place.outside().join("elsewhere/new").join(name), format!("{lines}{more}")).unwrap();
    }
    let similar = elsewhere.commit("similar-texts", &second);
    let delta = elsewhere.pack(&[&similar], &main, &["--delta-base-offset", "--window=50"]);
    let objects = git(&place, &["count-objects", "-v"]);
    let all = elsewhere.whole(&[&second], &main);
    let mut spoilt = all.clone();
    let middle = spoilt.len() / 2;
    spoilt[middle] ^= 1;
    let cases: [(&str, Vec<u8>, &str, &str); 6] = [
        ("a parent is missing", elsewhere.whole(&[&second], &first), &second, "nowhere"),
        ("spoilt", spoilt, &second, "not whole"),
        ("no pack at all", b"nothing".to_vec(), &second, "not whole"),
        ("a delta", delta, &similar, "does not stand in it whole"),
        (
            "the commit is not among them",
            elsewhere.whole(&[&first], &main),
            &second,
            "is not in the repository",
        ),
        ("a blob is no commit", all.clone(), &blob, "would lead to a blob"),
    ];
    for (what, pack, after, why) in cases {
        let planned = plan(&place, Some(pack), &[to("refs/heads/new", None, Some(after))]).unwrap();
        let fault = place.apply(&planned).unwrap_err();
        assert!(fault.message.contains(why), "{what}: {fault:?}");
        assert_eq!(git(&place, &["branch", "--list", "new"]), "", "{what}");
        assert_eq!(git(&place, &["count-objects", "-v"]), objects, "{what}: nothing of it was written");
    }
    let good = plan(&place, Some(all), &[to("refs/heads/new", None, Some(&second))]).unwrap();
    place.apply(&good).unwrap();
    for (name, before, after) in [
        ("HEAD", None, Some(&second)),
        ("refs/tags/v1", None, Some(&second)),
        ("refs/heads/../x", None, Some(&second)),
        ("refs/heads/a.lock", None, Some(&second)),
    ] {
        let refused = plan(&place, None, &[to(name, before, after.map(String::as_str))]).unwrap_err();
        assert_eq!(refused.code, Code::PathNotAllowed, "{name}");
    }
}

#[test]
fn a_crash_between_the_moves_and_the_commit_is_taken_back_and_what_others_moved_stays() {
    let place = repository();
    let main = git(&place, &["rev-parse", "HEAD"]);
    git(&place, &["branch", "old"]);
    let elsewhere = Elsewhere::of(&place);
    let new = elsewhere.commit("new", "origin/main");
    let moves = [to("refs/heads/new", None, Some(&new)), to("refs/heads/old", Some(&main), None)];
    let before = refs(&place);
    let crash = |spoil: &dyn Fn()| {
        let pack = elsewhere.whole(&[&new], &main);
        let planned = plan(&place, Some(pack), &moves).unwrap();
        place.apply(&planned).unwrap();
        // As it stands when the power goes before the journal is renamed.
        let transcript = TranscriptId::random().unwrap();
        let journal = serde_json::json!({
            "transcript": transcript, "plan": planned, "steps": [], "directories": [], "staged": true, "branches": [],
            "moves": moves, "key": contract::Key::random().unwrap(), "sending": false,
        });
        let file = place.outside().join("state/journal").join(format!("{transcript}.json"));
        fs::write(file, journal.to_string()).unwrap();
        spoil();
        gatewright_exec::recover(&place.root, &place.state).unwrap()
    };
    let recovered = crash(&|| {});
    assert_eq!((recovered.taken_back.len(), recovered.blocked.len(), refs(&place)), (1, 0, before.clone()));
    let recovered = crash(&|| {
        git(&place, &["update-ref", "refs/heads/new", &main]);
    });
    let [blocked] = recovered.blocked.as_slice() else { panic!("{recovered:?}") };
    assert_eq!(
        (blocked.path.as_str(), blocked.why.as_str()),
        ("refs/heads/new", "someone moved it after the plan had")
    );
    let main_line = before.lines().next().unwrap();
    let want = format!("{main_line}\nrefs/heads/new {main}\nrefs/heads/old {main}");
    assert_eq!(refs(&place), want);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn undoing_moves_of_refs_gives_back_every_ref(ops in prop::collection::vec((0_usize..5, 0_usize..4), 1..6), packed in any::<bool>()) {
        let place = repository();
        let main = git(&place, &["rev-parse", "HEAD"]);
        let names = ["refs/heads/a", "refs/heads/b/c", "refs/heads/b/d", "refs/spice/data", "refs/remotes/origin/x"];
        git(&place, &["update-ref", names[0], &main]);
        git(&place, &["update-ref", names[3], &main]);
        let elsewhere = Elsewhere::of(&place);
        let mut tips = vec![main.clone()];
        for i in 0..3 {
            tips.push(elsewhere.commit(&format!("t{i}"), tips.last().unwrap()));
        }
        if packed {
            git(&place, &["pack-refs", "--all"]);
        }
        let mut now: BTreeMap<&str, String> = BTreeMap::from([(names[0], main.clone()), (names[3], main.clone())]);
        let mut moves: BTreeMap<&str, RefMove> = BTreeMap::new();
        for (name, tip) in ops {
            let before = now.get(names[name]).cloned();
            let after = tips.get(tip + 1).cloned();
            if before != after && !moves.contains_key(names[name]) {
                moves.insert(names[name], to(names[name], before.as_deref(), after.as_deref()));
            }
        }
        prop_assume!(!moves.is_empty());
        let pack = elsewhere.whole(&[tips.last().unwrap()], &main);
        let before = refs(&place);
        let planned = plan(&place, Some(pack), &moves.values().cloned().collect::<Vec<_>>()).unwrap();
        let applied = place.apply(&planned).unwrap();
        for one in moves.values() {
            match &one.after {
                Some(after) => now.insert(names.iter().find(|name| **name == one.name).unwrap(), after.clone()),
                None => now.remove(one.name.as_str()),
            };
        }
        let want: Vec<String> = now.iter().map(|(name, id)| format!("{name} {id}")).collect();
        let there: Vec<String> = refs(&place).lines().filter(|line| !line.starts_with("refs/heads/main ")).map(str::to_owned).collect();
        prop_assert_eq!(there, want);
        place.undo(&applied).unwrap();
        prop_assert_eq!(refs(&place), before);
    }
}
