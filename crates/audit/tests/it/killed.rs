//! Processes that append to one ledger and are killed at random moments.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gatewright_audit::ledger::{Flushed, Lot, Written};
use gatewright_audit::{Durability, Ledger, LedgerError};

use super::{check, transcript};

const CHILD: &str = "GATEWRIGHT_LEDGER_CHILD";

/// Not a test of its own: what the killed processes run.
#[test]
fn killed_child() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let ledger = Ledger::open(Path::new(&dir)).unwrap();
    for i in 0.. {
        // Acknowledged: whoever reads such a line may rely on the record.
        if i % 4 == 3 {
            // A group; one of its lines may be torn.
            let ack = |written: Written| println!("ack {}", written.unwrap().seq);
            let lots: Vec<Lot> = (0..20).map(|n| ledger.enqueue(&transcript(i + n), ack)).collect();
            if ledger.try_leave(lots[0]) == Flushed::Waits {
                ledger.flush();
            }
            continue;
        }
        let durability = if i % 3 == 0 { Durability::Now } else { Durability::Soon };
        let anchor = ledger.append(&transcript(i), durability).unwrap();
        println!("ack {}", anchor.seq);
    }
}

fn spawn(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::killed_child", "--nocapture", "--test-threads", "1"])
        .env(CHILD, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a child says was acknowledged to it. The harness writes its own words before the first; a torn last line is
/// no acknowledgement.
fn acknowledgements(child: &mut Child) -> impl Iterator<Item = u64> + use<> {
    BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.rsplit_once("ack ").and_then(|(_, n)| n.trim().parse().ok()))
}

fn random_below(n: u64) -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_le_bytes(bytes) % n
}

#[test]
fn four_processes_killed_at_random_lose_nothing_acknowledged_and_leave_a_chain_that_verifies() {
    let rounds: u32 = std::env::var("GATEWRIGHT_KILL_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(12);
    let dir = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut kills) = (0, 0);
    for _ in 0..rounds {
        let mut children: Vec<Child> = (0..4).map(|_| spawn(dir.path())).collect();
        let mut acks: Vec<_> = children.iter_mut().map(acknowledgements).collect();
        // Some are killed while they start; one at least has come to write.
        let first = acks[0].next().expect("it ended by itself");
        std::thread::sleep(Duration::from_micros(random_below(60_000)));
        for child in &mut children {
            child.kill().unwrap();
            kills += 1;
            std::thread::sleep(Duration::from_micros(random_below(3_000)));
        }
        acknowledged = acks.into_iter().flatten().fold(acknowledged.max(first), u64::max);
        for mut child in children {
            child.wait().unwrap();
        }
        Ledger::open(dir.path()).unwrap();
        let report = check(dir.path());
        assert!(report.intact, "{:?}", report.findings);
        assert!(report.records > acknowledged, "{} records, {acknowledged} acknowledged", report.records);
    }
    let report = check(dir.path());
    let recoveries = report.findings.iter().filter(|f| f.code == "recovery").count();
    println!(
        "{rounds} rounds, {kills} kills: {} records, {recoveries} recoveries, none lost",
        report.records
    );
}

#[test]
fn a_beginning_that_was_killed_is_begun_again_and_records_without_a_head_are_not_begun_over() {
    let whole = tempfile::tempdir().unwrap();
    Ledger::open(whole.path()).unwrap();
    let begun = ["signing.key", "tag.key", "initial.key"];
    for came_to in 0..=begun.len() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("segments")).unwrap();
        for name in ["head", "lock"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        for name in &begun[..came_to] {
            std::fs::copy(whole.path().join(name), dir.path().join(name)).unwrap();
        }
        if let Some(next) = begun.get(came_to) {
            std::fs::write(dir.path().join(format!("{next}.new")), "torn").unwrap();
        }
        let ledger = Ledger::open(dir.path()).unwrap();
        ledger.append(&transcript(0), Durability::Now).unwrap();
        assert!(check(dir.path()).intact, "after {came_to} keys");
        drop(ledger);
        std::fs::write(dir.path().join("head"), "").unwrap();
        assert!(matches!(Ledger::open(dir.path()), Err(LedgerError::DamagedHead)), "records are there");
    }
}
