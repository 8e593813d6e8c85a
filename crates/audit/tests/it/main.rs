//! What must hold of the ledger: the A-cases of the attack suite, by their ids, and crashes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests attack the files from outside")]

mod attacks;
mod gain;
mod groups;
mod killed;

use std::path::Path;

use contract::{CallId, PlanId, TranscriptId};
use gatewright_audit::ledger::KeyFile;
use gatewright_audit::record::{Body, ExecutionMode, Intent, Transcript};
use gatewright_audit::verify::{Finding, Gravity, Report, With, verify};
use gatewright_audit::{Anchor, Durability, Ledger};
use serde_json::json;

fn transcript(n: u64) -> Body {
    Body::Transcript(Box::new(Transcript {
        id: TranscriptId::random().unwrap(),
        tool_call_id: CallId(n.to_string()),
        timestamp_start: "2026-01-01T00:00:00.000Z".into(),
        timestamp_end: "2026-01-01T00:00:00.001Z".into(),
        tool_name: "test".into(),
        tool_args: json!({ "n": n }),
        execution_mode: ExecutionMode::DryRun,
        exit_code: None,
        stdout: "x".repeat(usize::try_from(n % 97).unwrap()),
        stderr: String::new(),
        artifacts: vec![],
        redactions: vec![],
        principal: "local:0".into(),
        decision: "allow (default)".into(),
        plan_id: None,
        definition_hash: None,
        confinement: "none".into(),
        error: None,
        root: None,
        reached: Vec::new(),
        refused: Vec::new(),
        effects: vec![],
        diff: String::new(),
        upstream: None,
        labels: Vec::new(),
        cost: None,
    }))
}

fn intent() -> Body {
    Body::Intent(Intent {
        id: TranscriptId::random().unwrap(),
        tool_name: "test".into(),
        plan_id: Some(PlanId::from_digest(contract::Digest::ZERO)),
        principal: "local:0".into(),
        timestamp: "2026-01-01T00:00:00.000Z".into(),
    })
}

/// A ledger of `n` transcripts in `dir`; returns the anchor of the last.
fn filled(dir: &Path, n: u64) -> Anchor {
    let ledger = Ledger::open(dir).unwrap();
    let anchors: Vec<Anchor> =
        (0..n).map(|i| ledger.append(&transcript(i), Durability::Now).unwrap()).collect();
    anchors.last().cloned().unwrap()
}

fn with_key(dir: &Path) -> With {
    With { initial_key: KeyFile::read(&dir.join("initial.key")).ok(), ..With::default() }
}

fn check(dir: &Path) -> Report {
    verify(dir, &with_key(dir), |_| {}).unwrap()
}

/// A ledger of before costs were recorded, and of before MACs were of hashes, where it can be written.
fn old_ledger() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/before-cost");
    std::fs::create_dir(dir.path().join("segments")).unwrap();
    for name in
        ["checkpoints.jsonl", "head", "initial.key", "signing.key", "tag.key", "segments/000001.jsonl"]
    {
        std::fs::copy(from.join(name), dir.path().join(name)).unwrap();
    }
    dir
}

fn broken(report: &Report) -> Vec<&str> {
    let is_broken = |f: &&Finding| f.gravity == Gravity::Broken;
    report.findings.iter().filter(is_broken).map(|f| f.code.as_str()).collect()
}

#[test]
fn what_was_appended_verifies_and_every_field_of_the_seed_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = filled(dir.path(), 5);
    let report = check(dir.path());
    assert!(report.intact && report.macs_checked, "{:?}", report.findings);
    assert_eq!((report.records, report.transcripts, report.root), (6, 5, anchor.root));
    let line = std::fs::read_to_string(dir.path().join("segments/000001.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(line.lines().last().unwrap()).unwrap();
    for field in [
        "id",
        "toolCallId",
        "timestamp_start",
        "timestamp_end",
        "toolName",
        "toolArgs",
        "executionMode",
        "exitCode",
        "stdout",
        "stderr",
        "artifacts",
        "redactions",
        "integrityHash",
        "seq",
        "prevHash",
        "principal",
        "decision",
        "planId",
        "definitionHash",
        "confinement",
        "error",
    ] {
        assert!(last.get(field).is_some(), "{field}");
    }
}

#[test]
fn several_processes_worth_of_handles_append_to_one_chain() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    Ledger::open(path).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            scope.spawn(move || {
                let ledger = Ledger::open(path).unwrap();
                for i in 0..50 {
                    let durability = if i % 10 == 0 { Durability::Now } else { Durability::Soon };
                    ledger.append(&transcript(worker * 50 + i), durability).unwrap();
                }
            });
        }
    });
    let report = check(path);
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(report.transcripts, 200);
}

#[test]
fn rotation_and_rekeying_keep_the_chain() {
    let dir = tempfile::tempdir().unwrap();
    let first = filled(dir.path(), 3);
    let ledger = Ledger::open_with(dir.path(), 600).unwrap();
    for i in 0..10 {
        ledger.append(&transcript(i), Durability::Now).unwrap();
    }
    ledger.rekey().unwrap();
    let last = filled(dir.path(), 3);
    let with = With { anchors: vec![first, last], ..with_key(dir.path()) };
    let report = verify(dir.path(), &with, |_| {}).unwrap();
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(report.anchors, 2);
    assert!(std::fs::read_dir(dir.path().join("segments")).unwrap().count() > 3);
}

#[test]
fn an_intent_without_a_transcript_is_evidence_of_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    Ledger::open(dir.path()).unwrap().append(&intent(), Durability::Now).unwrap();
    let report = check(dir.path());
    assert!(report.intact);
    assert!(report.findings.iter().any(|f| f.code == "orphan_intent" && f.gravity == Gravity::Warning));
}

#[test]
fn without_the_first_key_the_chain_is_checked_and_macs_are_said_not_to_be() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), 3);
    std::fs::remove_file(dir.path().join("initial.key")).unwrap();
    let report = check(dir.path());
    assert!(report.intact && !report.macs_checked);
    assert!(report.findings.iter().any(|f| f.code == "mac_unchecked"));
    Ledger::open(dir.path()).unwrap().append(&transcript(9), Durability::Now).unwrap();
    assert_eq!(check(dir.path()).transcripts, 4, "the ledger goes on without it");
}

#[test]
fn a_proof_holds_without_the_ledger_and_for_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let early = filled(dir.path(), 4);
    filled(dir.path(), 9);
    let mut ids = Vec::new();
    verify(dir.path(), &With::default(), |e| {
        if let Body::Transcript(t) = &e.body {
            ids.push(t.id.clone());
        }
    })
    .unwrap();
    let proof = gatewright_audit::proof::prove(dir.path(), &ids[2], Some(&early)).unwrap();
    assert!(proof.holds());
    let mut other = proof.clone();
    other.record = other.record.replace("\"n\":2", "\"n\":3");
    assert!(!other.holds());
    let mut moved = proof.clone();
    moved.seq += 1;
    assert!(!moved.holds());
    let mut forked = proof;
    forked.since.as_mut().unwrap().anchor.root = contract::Digest::ZERO;
    assert!(!forked.holds());
}

#[test]
fn the_html_report_is_one_file_and_cannot_be_broken_out_of() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let Body::Transcript(mut hostile) = transcript(1) else { unreachable!() };
    hostile.tool_name = "</script><script>alert(1)</script>".into();
    hostile.diff = "+<img src=x onerror=alert(1)>\n".into();
    ledger.append(&Body::Transcript(hostile), Durability::Now).unwrap();
    let mut entries = Vec::new();
    let report = verify(dir.path(), &with_key(dir.path()), |e| entries.push(e.clone())).unwrap();
    let page = gatewright_audit::report::page(&entries, &report, "now");
    assert!(!page.contains("<script>alert") && !page.contains("<img"), "escaped");
    assert!(page.contains("unanchored") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn a_record_of_each_type_is_sealed_as_serde_has_it() {
    use gatewright_audit::chain::RatchetKey;
    use gatewright_audit::record::{Recovery, Rekey, Segment, open, seal};
    let text = || "x".to_owned();
    let all = [
        transcript(1),
        Body::Intent(Intent {
            id: TranscriptId::random().unwrap(),
            tool_name: text(),
            plan_id: None,
            principal: text(),
            timestamp: text(),
        }),
        Body::Segment(Segment {
            ledger: text(),
            segment: 1,
            public_key: text(),
            frontier: Vec::new(),
            timestamp: text(),
        }),
        Body::Recovery(Recovery {
            reason: text(),
            adopted: 1,
            torn_bytes: 0,
            torn_digest: None,
            timestamp: text(),
        }),
        Body::Rekey(Rekey { public_key: text(), signature: text(), timestamp: text() }),
    ];
    for body in all {
        let sealed = seal(&body, 7, contract::Digest::ZERO, &RatchetKey::from_bytes([7; 32])).unwrap();
        let opened = open(&sealed.line).unwrap();
        assert_eq!((opened.entry.seq, &opened.entry.body), (7, &body));
        let mut value: serde_json::Value = serde_json::from_slice(&sealed.line).unwrap();
        let own = value.as_object_mut().unwrap();
        own.retain(|key, _| !matches!(key.as_str(), "seq" | "prevHash" | "hmac" | "integrityHash"));
        assert_eq!(value, serde_json::to_value(&body).unwrap());
    }
}
