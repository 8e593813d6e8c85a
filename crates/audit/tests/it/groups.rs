//! Records that wait are written together, and whoever waits is answered.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex};

use gatewright_audit::ledger::{Flushed, Lot, Written};
use gatewright_audit::verify::{With, verify};
use gatewright_audit::{Anchor, Body, Durability, Ledger, LedgerError};

use super::{check, transcript, with_key};

/// A record that waits.
struct Waiting {
    lot: Lot,
    written: Receiver<Written>,
}

impl Waiting {
    fn is_written(&self) -> bool {
        self.written.try_recv().unwrap().is_ok()
    }
}

fn enqueue(ledger: &Ledger, body: Body) -> Waiting {
    let (sender, written) = channel();
    let lot = ledger.enqueue(&body, move |outcome| drop(sender.send(outcome)));
    Waiting { lot, written }
}

/// A record nested deeper than the ledger reads.
fn unreadable() -> Body {
    let Body::Transcript(mut body) = transcript(0) else { panic!() };
    body.tool_args = (0..200).fold(body.tool_args, |inner, _| serde_json::Value::Array(vec![inner]));
    Body::Transcript(body)
}

#[test]
fn a_group_is_one_chain_in_the_order_in_which_its_records_came_and_each_has_an_anchor_that_covers_it() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let waiting: Vec<_> = (0..600).map(|i| enqueue(&ledger, transcript(i))).collect();
    assert_eq!(ledger.try_flush(waiting[0].lot), Flushed::Done);
    let anchors: Vec<Anchor> = waiting.iter().map(|w| w.written.try_recv().unwrap().unwrap()).collect();
    // Sixty-four are written at once, and the anchor of the last is that of all.
    for (i, anchor) in (1u64..).zip(&anchors) {
        assert_eq!(anchor.seq, i.next_multiple_of(64).min(600), "record {i}");
    }
    let mut order = Vec::new();
    let with = With { anchors, ..with_key(dir.path()) };
    let report = verify(dir.path(), &with, |entry| {
        if let Body::Transcript(transcript) = &entry.body {
            order.push((entry.seq, transcript.tool_call_id.0.clone()));
        }
    })
    .unwrap();
    assert!(report.intact && report.macs_checked && report.anchors == 600, "{:?}", report.findings);
    assert_eq!(order, (0..600).map(|i| (i + 1, i.to_string())).collect::<Vec<_>>());
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
    assert_eq!(ledger.try_leave(waiting.lot), Flushed::Waits);
    assert_eq!(waiting.written.try_recv().unwrap_err(), TryRecvError::Empty);
    lock.unlock().unwrap();
    // Whoever appends takes it along.
    ledger.append(&transcript(2), Durability::Now).unwrap();
    assert!(waiting.is_written());
    // What another process wrote is seen.
    Ledger::open(dir.path()).unwrap().append(&transcript(3), Durability::Soon).unwrap();
    let waiting = enqueue(&ledger, transcript(4));
    assert!(ledger.try_flush(waiting.lot) == Flushed::Done && waiting.is_written());
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
        let one = enqueue(&ledger, transcript(0));
        let flushed = ledger.try_flush(one.lot);
        waiting.push(one);
        if flushed == Flushed::Waits {
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
    assert!(waiting.iter().all(Waiting::is_written));
    let report = check(dir.path());
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(report.transcripts, waiting.len() as u64);
}

#[test]
fn a_record_that_cannot_be_written_fails_alone_and_a_ledger_that_cannot_fails_all() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let waiting = [transcript(1), unreadable(), transcript(2)].map(|body| enqueue(&ledger, body));
    assert_eq!(ledger.try_flush(waiting[0].lot), Flushed::Done);
    assert_eq!(waiting.map(|w| w.is_written()), [true, false, true]);
    assert!(check(dir.path()).intact);
    // One of nothing but such leaves everything as it was.
    let alone = enqueue(&ledger, unreadable());
    assert!(ledger.try_flush(alone.lot) == Flushed::Done && !alone.is_written());
    std::fs::write(dir.path().join("head"), b"damaged").unwrap();
    let waiting = [1, 2, 3].map(|i| enqueue(&ledger, transcript(i)));
    assert_eq!(ledger.try_flush(waiting[0].lot), Flushed::Waits);
    ledger.flush();
    assert!(waiting.iter().all(|w| !w.is_written()));
}

#[test]
fn what_waits_when_the_ledger_is_closed_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let waiting = enqueue(&ledger, transcript(1));
    drop(ledger);
    assert!(waiting.is_written());
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
                    if ledger.try_leave(waiting.lot) == Flushed::Waits {
                        let ledger = Arc::clone(ledger);
                        std::thread::spawn(move || ledger.flush());
                    }
                    // Nobody flushes for it any more: whoever had hold of the ledger must.
                    let written = waiting.written.recv_timeout(std::time::Duration::from_secs(20));
                    anchors.lock().unwrap().push(written.unwrap().unwrap());
                }
            });
        }
    });
    let with = With { anchors: anchors.into_inner().unwrap(), ..with_key(dir.path()) };
    let answered = with.anchors.len() as u64;
    let mut places = BTreeSet::new();
    let report = verify(dir.path(), &with, |entry| {
        if let Body::Transcript(transcript) = &entry.body {
            places.insert(transcript.id.clone());
        }
    })
    .unwrap();
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!((report.transcripts, places.len() as u64, report.anchors), (6 * EACH, 6 * EACH, answered));
}

#[test]
fn a_thread_writes_its_own_records_and_those_that_others_have_left() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let own = enqueue(&ledger, transcript(1));
    let (theirs, left) = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let lock = std::fs::File::open(dir.path().join("lock")).unwrap();
            lock.lock().unwrap();
            let left = enqueue(&ledger, transcript(2));
            assert_eq!(ledger.try_leave(left.lot), Flushed::Waits);
            (enqueue(&ledger, transcript(3)), left)
        });
        other.join().unwrap()
    });
    assert_eq!(ledger.try_flush(own.lot), Flushed::Done);
    assert!(own.is_written() && left.is_written());
    assert_eq!(theirs.written.try_recv().unwrap_err(), TryRecvError::Empty, "it is of another lot");
    assert_eq!(ledger.try_flush(theirs.lot), Flushed::Done);
    assert!(theirs.is_written(), "a lot is written by whoever names it");
    assert!(check(dir.path()).intact);
}

#[test]
fn a_lot_that_is_left_to_whoever_is_writing_is_written_without_another_call() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    let lock = std::fs::File::open(dir.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let theirs = enqueue(&ledger, transcript(1));
    std::thread::scope(|scope| {
        // It has hold of this handle, and waits for the other process.
        let writer = scope.spawn(|| ledger.flush());
        let own = scope.spawn(|| {
            let own = enqueue(&ledger, transcript(2));
            let began = std::time::Instant::now();
            while ledger.try_flush(own.lot) != Flushed::Busy {
                assert!(began.elapsed().as_secs() < 20, "the writer never began");
                std::thread::yield_now();
            }
            assert_eq!(own.written.try_recv().unwrap_err(), TryRecvError::Empty);
            assert_eq!(ledger.try_leave(own.lot), Flushed::Done, "it is the writer's now");
            own
        });
        let own = own.join().unwrap();
        lock.unlock().unwrap();
        for waiting in [&theirs, &own] {
            let written = waiting.written.recv_timeout(std::time::Duration::from_secs(20));
            assert!(written.unwrap().is_ok());
        }
        writer.join().unwrap();
    });
    assert!(check(dir.path()).intact);
}

#[test]
fn a_segment_that_was_begun_and_not_counted_is_seen_before_a_group_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    ledger.append(&transcript(1), Durability::Now).unwrap();
    let head = std::fs::read(dir.path().join("head")).unwrap();
    let checkpoints = std::fs::read(dir.path().join("checkpoints.jsonl")).unwrap();
    Ledger::open(dir.path()).unwrap().rotate().unwrap();
    // As if that process had been killed before it said so.
    std::fs::write(dir.path().join("head"), head).unwrap();
    std::fs::write(dir.path().join("checkpoints.jsonl"), checkpoints).unwrap();
    let waiting = enqueue(&ledger, transcript(2));
    assert_eq!(ledger.try_flush(waiting.lot), Flushed::Waits);
    ledger.flush();
    assert!(waiting.is_written());
    let report = check(dir.path());
    assert!(report.intact, "{:?}", report.findings);
    assert_eq!(report.transcripts, 2);
}

#[test]
fn a_ledger_in_place_of_the_one_that_is_open_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let (dir, aside) = (place.path().join("ledger"), place.path().join("aside"));
    let old = Ledger::open(&dir).unwrap();
    old.append(&transcript(1), Durability::Now).unwrap();
    std::fs::rename(&dir, &aside).unwrap();
    let gone = old.append(&transcript(2), Durability::Soon);
    assert!(matches!(gone, Err(LedgerError::Replaced)), "nothing is there");
    let new = Ledger::open(&dir).unwrap();
    new.append(&transcript(3), Durability::Now).unwrap();
    assert!(matches!(old.append(&transcript(4), Durability::Now), Err(LedgerError::Replaced)));
    // Until something is to be done by a name, records go on into the folder that is open, wherever it is.
    let waiting: Vec<Waiting> = (0..600).map(|i| enqueue(&old, transcript(i))).collect();
    let _ = old.try_flush(waiting[0].lot);
    old.flush();
    let written = waiting.iter().filter(|waiting| waiting.is_written()).count();
    assert!((1..600).contains(&written), "{written}: a checkpoint is due in between");
    drop(old);
    new.append(&transcript(5), Durability::Now).unwrap();
    for (dir, is_written) in [(&dir, 2), (&aside, 1)] {
        let report = check(dir);
        assert!(report.intact, "{:?}", report.findings);
        assert!(report.transcripts >= is_written);
    }
}

#[test]
fn a_ledger_is_found_intact_while_others_append_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open_with(dir.path(), 64 * 1024).unwrap();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0.. {
                if is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    return;
                }
                let waiting = enqueue(&ledger, transcript(i));
                if ledger.try_leave(waiting.lot) == Flushed::Waits {
                    ledger.flush();
                }
            }
        });
        let reports: Vec<_> = (0..40).map(|_| check(dir.path())).collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        let broken: Vec<_> = reports.iter().filter(|report| !report.intact).collect();
        assert!(broken.is_empty(), "{} of {}: {:?}", broken.len(), reports.len(), broken[0].findings);
    });
}
