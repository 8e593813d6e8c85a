//! Records that wait are written together, and whoever waits is answered.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex};

use gatewright_audit::ledger::Written;
use gatewright_audit::{Body, Durability, Ledger};

use super::{check, transcript};

fn enqueue(ledger: &Ledger, body: Body) -> Receiver<Written> {
    let (sender, receiver) = channel();
    ledger.enqueue(body, move |written| drop(sender.send(written)));
    receiver
}

/// A record nested deeper than the ledger reads.
fn unreadable() -> Body {
    let Body::Transcript(mut body) = transcript(0) else { panic!() };
    body.tool_args = (0..200).fold(body.tool_args, |inner, _| serde_json::Value::Array(vec![inner]));
    Body::Transcript(body)
}

#[test]
fn a_group_is_one_chain_and_each_of_it_has_its_anchor() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let waiting: Vec<_> = (0..600).map(|i| enqueue(&ledger, transcript(i))).collect();
    assert!(ledger.try_flush());
    let seqs: Vec<u64> = waiting.iter().map(|w| w.try_recv().unwrap().unwrap().seq).collect();
    assert_eq!(seqs, (1..=600).collect::<Vec<u64>>(), "in the order in which they came");
    let report = check(dir.path());
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(
        (report.transcripts, report.checkpoints),
        (600, 2),
        "every 256 records, as if written one by one"
    );
}

#[test]
fn trying_never_waits_for_another_process_and_nothing_is_lost_by_it() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let lock = std::fs::File::open(dir.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let waiting = enqueue(&ledger, transcript(1));
    assert!(!ledger.try_flush());
    assert_eq!(waiting.try_recv().unwrap_err(), TryRecvError::Empty);
    lock.unlock().unwrap();
    // Whoever appends takes it along.
    ledger.append(&transcript(2), Durability::Now).unwrap();
    assert!(waiting.try_recv().unwrap().is_ok());
    // What another process wrote is seen.
    Ledger::open(dir.path()).unwrap().append(&transcript(3), Durability::Soon).unwrap();
    let waiting = enqueue(&ledger, transcript(4));
    assert!(ledger.try_flush() && waiting.try_recv().unwrap().is_ok());
    let report = check(dir.path());
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(report.transcripts, 4);
}

#[test]
fn what_must_be_synced_first_is_left_to_a_caller_that_can_wait() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open_with(dir.path(), 600).unwrap();
    let mut waiting = Vec::new();
    let mut tried = |torn: bool| loop {
        waiting.push(enqueue(&ledger, transcript(0)));
        if !ledger.try_flush() {
            ledger.flush();
            return;
        }
        assert!(!torn);
    };
    // The segment is full: another is begun by a flush that may wait.
    tried(false);
    let path = dir.path().join("segments/000002.jsonl");
    let mut torn = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut torn, b"{\"torn").unwrap();
    // Bytes that nobody counted: recovery syncs.
    tried(true);
    assert!(waiting.iter().all(|w| w.try_recv().unwrap().is_ok()));
    let report = check(dir.path());
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(report.transcripts, waiting.len() as u64);
}

#[test]
fn a_record_that_cannot_be_written_fails_alone_and_a_ledger_that_cannot_fails_all() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let waiting = [transcript(1), unreadable(), transcript(2)].map(|body| enqueue(&ledger, body));
    assert!(ledger.try_flush());
    assert_eq!(waiting.map(|w| w.try_recv().unwrap().is_ok()), [true, false, true]);
    assert!(check(dir.path()).intact);
    // One of nothing but such leaves everything as it was.
    let alone = enqueue(&ledger, unreadable());
    assert!(ledger.try_flush() && alone.try_recv().unwrap().is_err());
    std::fs::write(dir.path().join("head"), b"damaged").unwrap();
    let waiting = [1, 2, 3].map(|i| enqueue(&ledger, transcript(i)));
    assert!(!ledger.try_flush());
    ledger.flush();
    assert!(waiting.iter().all(|w| w.try_recv().unwrap().is_err()));
}

#[test]
fn what_waits_when_the_ledger_is_closed_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let waiting = enqueue(&ledger, transcript(1));
    drop(ledger);
    assert!(waiting.try_recv().unwrap().is_ok());
    assert_eq!(check(dir.path()).transcripts, 1);
}

#[test]
fn threads_and_handles_that_try_at_once_are_all_answered() {
    const EACH: u64 = 300;
    let dir = tempfile::tempdir().unwrap();
    let ledgers = [0, 1].map(|_| Arc::new(Ledger::open(dir.path()).unwrap()));
    let anchors = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let (ledger, anchors) = (&ledgers[worker % 2], &anchors);
            scope.spawn(move || {
                for i in 0..EACH {
                    if i % 50 == 0 {
                        ledger.append(&transcript(i), Durability::Now).unwrap();
                        continue;
                    }
                    let waiting = enqueue(ledger, transcript(i));
                    if !ledger.try_flush() {
                        let ledger = Arc::clone(ledger);
                        std::thread::spawn(move || ledger.flush());
                    }
                    // Nobody flushes for it any more: whoever had hold of the ledger must.
                    let written = waiting.recv_timeout(std::time::Duration::from_secs(20));
                    anchors.lock().unwrap().push(written.unwrap().unwrap().seq);
                }
            });
        }
    });
    let report = check(dir.path());
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(report.transcripts, 6 * EACH);
    let mut seqs = anchors.into_inner().unwrap();
    let count = seqs.len();
    seqs.sort_unstable();
    seqs.dedup();
    assert_eq!(seqs.len(), count, "each has a place of its own");
}
