//! The attacks on the ledger, by their ids.

use std::fs;
use std::path::Path;

use contract::{Digest, canonical};
use gatewright_audit::chain::RatchetKey;
use gatewright_audit::checkpoint::Checkpoint;
use gatewright_audit::proof::{Proof, prove};
use gatewright_audit::verify::{With, verify};
use gatewright_audit::{Body, Durability, Ledger};
use gatewright_audit::{merkle, record};
use serde_json::{Map, Value};

use super::{broken, check, filled, old_ledger, transcript, with_key};

fn segment(dir: &Path) -> std::path::PathBuf {
    dir.join("segments/000001.jsonl")
}

fn lines(dir: &Path) -> Vec<String> {
    fs::read_to_string(segment(dir)).unwrap().lines().map(str::to_owned).collect()
}

fn put(dir: &Path, lines: &[String]) {
    fs::write(segment(dir), lines.join("\n") + "\n").unwrap();
}

#[test]
fn a02_an_edit_with_recomputed_hashes_is_detected_by_the_mac() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 4);
    let mut all = lines(dir.path());
    // Everything that is unkeyed is recomputed to the end: only the MAC, the checkpoints and the head are left.
    let mut prev: Option<String> = None;
    for (i, line) in all.iter_mut().enumerate() {
        let Value::Object(mut object) = serde_json::from_str(line).unwrap() else { panic!() };
        if i == 2 {
            object.insert("stdout".into(), "forged".into());
        }
        if i >= 3 {
            object.insert("prevHash".into(), prev.clone().unwrap().into());
        }
        let hmac = object.remove("hmac").unwrap();
        object.remove("integrityHash");
        let hash = Digest::of(&canonical::to_vec(&object).unwrap()).to_string();
        object.insert("integrityHash".into(), hash.clone().into());
        object.insert("hmac".into(), hmac);
        prev = Some(hash);
        *line = String::from_utf8(canonical::to_vec(&object).unwrap()).unwrap();
    }
    put(dir.path(), &all);
    fs::remove_file(dir.path().join("checkpoints.jsonl")).unwrap();
    let report = check(dir.path());
    assert!(broken(&report).contains(&"mac"), "{:?}", report.findings);
}

#[test]
fn a04_deleting_reordering_duplicating_and_splicing_are_detected() {
    let other = tempfile::tempdir().unwrap();
    filled(other.path(), 4);
    let foreign = lines(other.path());
    type Edit = fn(&mut Vec<String>, &[String]);
    let edits: [(&str, Edit); 4] = [
        ("delete", |all, _| drop(all.remove(2))),
        ("reorder", |all, _| all.swap(2, 3)),
        ("duplicate", |all, _| all.insert(2, all[2].clone())),
        ("splice", |all, foreign| all[2] = foreign[2].clone()),
    ];
    for (name, edit) in edits {
        let dir = tempfile::tempdir().unwrap();
        filled(dir.path(), 4);
        let mut all = lines(dir.path());
        edit(&mut all, &foreign);
        put(dir.path(), &all);
        let report = check(dir.path());
        assert!(!report.intact, "{name}");
        assert!(
            broken(&report).iter().any(|c| matches!(*c, "sequence" | "chain" | "mac")),
            "{name}: {report:?}"
        );
    }
}

#[test]
fn a05_cutting_the_end_is_detected_by_head_checkpoints_and_anchor() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = filled(dir.path(), 6);
    let mut all = lines(dir.path());
    all.truncate(3);
    put(dir.path(), &all);
    assert!(broken(&check(dir.path())).contains(&"truncated"));
    // Even with everything beside the segment gone, an anchor kept outside tells.
    fs::remove_file(dir.path().join("checkpoints.jsonl")).unwrap();
    fs::remove_file(dir.path().join("head")).unwrap();
    assert!(check(dir.path()).intact, "invisible without an anchor, as SECURITY.md says");
    let with = With { anchors: vec![anchor], ..with_key(dir.path()) };
    assert_eq!(broken(&verify(dir.path(), &with, |_| {}).unwrap()), ["anchor"]);
}

#[test]
fn a06_rolling_the_whole_directory_back_is_detected_by_a_later_anchor() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 2);
    let old = tempfile::tempdir().unwrap();
    copy(dir.path(), old.path());
    let anchor = filled(dir.path(), 3);
    assert!(check(old.path()).intact);
    let with = With { anchors: vec![anchor], ..with_key(old.path()) };
    let report = verify(old.path(), &with, |_| {}).unwrap();
    assert_eq!(broken(&report), ["anchor"]);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn a08_two_spellings_with_one_canonical_form_are_told_apart() {
    for (from, to) in [
        ("\"n\":2", "\"n\":2.0"),
        ("\"n\":2", "\"n\":2,\"n\":2"),
        ("\"n\":2", "\"\\u006e\":2"),
        ("{\"n\":2}", "{ \"n\":2}"),
        ("\"n\":2", "\"n\":9007199254740993"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        filled(dir.path(), 4);
        let mut all = lines(dir.path());
        let at = all.iter().position(|l| l.contains("{\"n\":2}")).unwrap();
        all[at] = all[at].replace(from, to);
        put(dir.path(), &all);
        assert!(broken(&check(dir.path())).contains(&"hash"), "{to}");
    }
}

#[test]
fn a10_a_torn_last_line_is_moved_aside_and_nothing_acknowledged_is_lost() {
    for torn in [1, 40, 200, 9_999] {
        let dir = tempfile::tempdir().unwrap();
        filled(dir.path(), 3);
        let mut bytes = fs::read(segment(dir.path())).unwrap();
        let last = bytes.clone();
        bytes.extend_from_slice(&last[last.len() - 400.min(last.len() - 1)..last.len() - 1]);
        bytes.truncate(last.len() + torn.min(bytes.len() - last.len()));
        fs::write(segment(dir.path()), &bytes).unwrap();
        filled(dir.path(), 1);
        let report = check(dir.path());
        assert!(report.intact, "{torn}: {:?}", report.findings);
        assert_eq!(report.transcripts, 4);
        assert!(report.findings.iter().any(|f| f.code == "recovery"));
        assert_eq!(fs::read_dir(dir.path().join("quarantine")).unwrap().count(), 1);
    }
}

#[test]
fn a10_a_record_written_but_not_counted_is_adopted() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 3);
    let head = fs::read(dir.path().join("head")).unwrap();
    filled(dir.path(), 1);
    // As if the process had been killed between writing the record and counting it.
    fs::write(dir.path().join("head"), head).unwrap();
    filled(dir.path(), 1);
    let report = check(dir.path());
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(report.transcripts, 5);
}

#[test]
fn a14_time_is_advisory() {
    let dir = tempfile::tempdir().unwrap();
    // Every transcript here has the same times, and all are earlier than the segment's own.
    filled(dir.path(), 4);
    assert!(check(dir.path()).intact);
}

#[test]
fn a16_a_missing_middle_segment_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open_with(dir.path(), 500).unwrap();
    for i in 0..8 {
        ledger.append(&transcript(i), Durability::Now).unwrap();
    }
    drop(ledger);
    assert!(check(dir.path()).intact);
    fs::remove_file(dir.path().join("segments/000003.jsonl")).unwrap();
    let report = check(dir.path());
    assert!(broken(&report).contains(&"segment") && broken(&report).contains(&"sequence"), "{report:?}");
}

#[test]
fn a18_a_forged_checkpoint_and_a_swapped_key_are_detected() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = filled(dir.path(), 3);
    let thief = ed25519_dalek::SigningKey::from_bytes(&[5; 32]);
    let note = Checkpoint { ledger: anchor.ledger, size: 4, root: Digest::of(b"forged") }.sign(&thief);
    let line = serde_json::json!({ "size": 4, "note": note }).to_string();
    let path = dir.path().join("checkpoints.jsonl");
    let honest = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{honest}{line}\n")).unwrap();
    assert_eq!(broken(&check(dir.path())), ["checkpoint"]);
    fs::write(&path, honest).unwrap();
    let expected = With { public_key: Some(thief.verifying_key()), ..with_key(dir.path()) };
    let report = verify(dir.path(), &expected, |_| {}).unwrap();
    assert!(broken(&report).contains(&"key"), "{report:?}");
}

#[test]
fn a_mac_that_was_changed_is_detected_without_its_key() {
    for key in ["hmac", "mac"] {
        // The MAC of a record of before is part of what its hash is of.
        let old = old_ledger();
        let new = tempfile::tempdir().unwrap();
        filled(new.path(), 4);
        let dir = if key == "mac" { old.path() } else { new.path() };
        let mut all = lines(dir);
        let Value::Object(mut object) = serde_json::from_str(&all[2]).unwrap() else { panic!() };
        assert!(object.insert(key.into(), Digest::of(b"another").to_string().into()).is_some());
        all[2] = String::from_utf8(canonical::to_vec(&object).unwrap()).unwrap();
        put(dir, &all);
        let found = verify(dir, &With::default(), |_| {}).unwrap();
        assert!(broken(&found).contains(if key == "mac" { &"hash" } else { &"checkpoint" }), "{found:?}");
        assert!(broken(&check(dir)).contains(if key == "mac" { &"hash" } else { &"mac" }));
    }
}

#[test]
fn a_record_of_before_and_one_of_now_are_proved_by_one_root_and_neither_passes_for_the_other() {
    let dir = old_ledger();
    filled(dir.path(), 2);
    let all = lines(dir.path());
    let [before, now] = [1, all.len() - 1].map(|at| record::open(all[at].as_bytes()).unwrap());
    assert!(matches!((before.entry.mac, now.entry.mac), (record::Mac::OfText(_), record::Mac::OfHash(_))));
    for opened in [&before, &now] {
        let Body::Transcript(transcript) = &opened.entry.body else { panic!() };
        let proved = prove(dir.path(), &transcript.id, None).unwrap();
        assert!(proved.holds());
        // A MAC by the other name is no MAC: the hash covers what is not `hmac`.
        let (own, other) = if proved.record.contains("\"hmac\"") { ("hmac", "mac") } else { ("mac", "hmac") };
        let Value::Object(mut object) = serde_json::from_str(&proved.record).unwrap() else { panic!() };
        let mac = object.remove(own).unwrap();
        object.insert(other.into(), mac);
        let record = String::from_utf8(canonical::to_vec(&object).unwrap()).unwrap();
        assert!(!Proof { record, ..proved }.holds());
    }
}

/// The ratchet key of a ledger's record `seq`.
fn key_of(dir: &Path, seq: u64) -> RatchetKey {
    let initial: Digest = fs::read_to_string(dir.join("initial.key")).unwrap().trim_end().parse().unwrap();
    (0..seq).fold(RatchetKey::from_bytes(*initial.as_bytes()), |key, _| key.next())
}

fn written(object: &Map<String, Value>) -> Vec<u8> {
    canonical::to_vec(object).unwrap()
}

#[test]
fn a_record_has_one_mac_and_binds_what_a_reader_does_not_know() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 3);
    let Value::Object(mut object) = serde_json::from_str(&lines(dir.path())[2]).unwrap() else { panic!() };
    object.remove("integrityHash");
    object.remove("hmac");
    let sealed = |mut object: Map<String, Value>| {
        let hash = Digest::of(&written(&object));
        let hmac = key_of(dir.path(), 2).mac(hash.as_bytes());
        object.insert("integrityHash".into(), hash.to_string().into());
        object.insert("hmac".into(), hmac.to_string().into());
        (written(&object), [*hash.as_bytes(), *hmac.as_bytes()].concat())
    };
    let (honest, _) = sealed(object.clone());
    assert_eq!(honest, lines(dir.path())[2].as_bytes(), "as the ledger seals it");
    // With the MAC of before beside it, a reader might check either.
    let mut both = object.clone();
    both.insert("mac".into(), Digest::of(b"another").to_string().into());
    assert!(matches!(record::open(&sealed(both).0), Err(record::NotIntact::Mac)));
    let Value::Object(none) = serde_json::from_slice(&written(&object)).unwrap() else { panic!() };
    let hash = Digest::of(&written(&none)).to_string();
    let none = none.into_iter().chain([("integrityHash".to_owned(), hash.into())]).collect();
    assert!(matches!(record::open(&written(&none)), Err(record::NotIntact::Mac)));
    object.insert("type".into(), "of the future".into());
    let (future, leaf) = sealed(object);
    assert!(matches!(record::open(&future), Err(record::NotIntact::Shape(_))));
    assert_eq!(record::leaf_of(&future), merkle::leaf(&leaf), "what it binds is known all the same");
}

#[test]
fn a_record_of_before_that_was_not_counted_is_adopted() {
    let dir = old_ledger();
    let all = lines(dir.path());
    let last = record::open(all[all.len() - 1].as_bytes()).unwrap().entry;
    let Value::Object(mut object) = serde_json::from_str(&all[2]).unwrap() else { panic!() };
    object.insert("seq".into(), (last.seq + 1).into());
    object.insert("prevHash".into(), last.integrity_hash.to_string().into());
    object.remove("integrityHash");
    object.remove("mac");
    let mac = key_of(dir.path(), last.seq + 1).mac(&written(&object));
    object.insert("mac".into(), mac.to_string().into());
    let hash = Digest::of(&written(&object));
    object.insert("integrityHash".into(), hash.to_string().into());
    let line = String::from_utf8(written(&object)).unwrap();
    put(dir.path(), &[all.clone(), vec![line]].concat());
    let before = check(dir.path()).transcripts;
    Ledger::open(dir.path()).unwrap().append(&transcript(1), Durability::Now).unwrap();
    let report = check(dir.path());
    assert!(report.intact && report.macs_checked, "{:?}", report.findings);
    assert_eq!(report.transcripts, before + 2, "it, and the one after it");
    // Both kinds are one ledger over segments, too.
    let ledger = Ledger::open(dir.path()).unwrap();
    ledger.rotate().unwrap();
    let anchor = ledger.append(&transcript(2), Durability::Now).unwrap();
    drop(ledger);
    let report = verify(dir.path(), &With { anchors: vec![anchor], ..with_key(dir.path()) }, |_| {}).unwrap();
    assert!(report.intact && report.anchors == 1, "{:?}", report.findings);
}

#[test]
fn a_stolen_key_cannot_rewrite_the_past() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 4);
    // The thief has today's ratchet key, and forges an old record with it.
    let file = fs::File::open(dir.path().join("head")).unwrap();
    let stolen: RatchetKey = gatewright_audit::ledger::Head::read(&file).unwrap().key;
    let all = lines(dir.path());
    let opened = record::open(all[2].as_bytes()).unwrap();
    let forged = record::seal(&transcript(77), 2, opened.entry.prev_hash, &stolen).unwrap();
    let mut edited = all;
    edited[2] = String::from_utf8(forged.line).unwrap();
    put(dir.path(), &edited);
    assert!(broken(&check(dir.path())).contains(&"mac"));
}

#[test]
fn d08_a_full_or_read_only_disk_is_an_error_and_not_a_loss() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 2);
    // A record larger than the ledger takes is refused whole.
    let ledger = Ledger::open(dir.path()).unwrap();
    let Body::Transcript(mut huge) = transcript(1) else { unreachable!() };
    huge.stdout = "x".repeat(gatewright_audit::ledger::MAX_RECORD);
    assert!(ledger.append(&Body::Transcript(huge), Durability::Now).is_err());
    ledger.append(&transcript(3), Durability::Now).unwrap();
    assert!(check(dir.path()).intact);
    // `/dev/full` in the place of the next segment: every write says that the disk is full.
    std::os::unix::fs::symlink("/dev/full", dir.path().join("segments/000002.jsonl")).unwrap();
    assert!(ledger.rotate().is_err(), "and a link in its place is not followed");
}
