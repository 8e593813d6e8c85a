//! `cargo xtask soak kills`: servers killed at random moments, with runs under way. Nobody of a run may live on, no answer
//! may have been given for a call that the record does not have, and the record must verify after the next start.

mod left;
mod record;
mod round;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::dice::Dice;
use crate::session::Place;
use crate::sh::{Done, target};
use record::Record;
use round::{Moment, Round};

/// Rounds in one place, at most; then it begins anew in another, with nothing recorded.
const ROUNDS_PER_PLACE: u64 = 25;

/// Places, at least: half of them have their state on another file system.
const PLACES: u64 = 4;

/// Places at once.
const AT_ONCE: usize = 2;

/// A file system in memory: another one than the root's. With the state there, layers lie beside the root.
const ELSEWHERE: &str = "/dev/shm";

/// What all rounds came to.
#[derive(Debug, Default)]
struct Tally {
    rounds: u64,
    starting: u64,
    calling: u64,
    running: u64,
    alive: usize,
    survivors: Vec<String>,
    acknowledged: usize,
    lost: BTreeSet<String>,
    wrong: Vec<String>,
    recoveries: usize,
    adopted: usize,
    torn: usize,
    half_done: usize,
    scratch: usize,
    beside: usize,
    beside_rounds: u64,
    gone: Vec<Duration>,
}

/// Kills servers of `program`, `rounds` times; prints what came of it, and fails where anything was left or lost.
pub(crate) fn run(program: &Path, rounds: u64) -> Done {
    println!("\n▶ {rounds} kill rounds");
    let began = Instant::now();
    let (next, stop, tally) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::new(Tally::default()));
    let each = rounds.div_ceil(PLACES).clamp(1, ROUNDS_PER_PLACE);
    let worker = || -> Done {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let first = place * each;
            if first >= rounds || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let numbers = first..rounds.min(first + each);
            let done = Ground::new(program, place)?.rounds(numbers, &tally);
            done.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        }
    };
    let results: Vec<Done> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(worker)).collect();
        let died = |_| Err("a worker died".to_owned());
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(died)).collect()
    });
    let tally = tally.into_inner().map_err(|e| e.to_string())?;
    tally.print(began.elapsed());
    tally.verdict(results.into_iter().filter_map(Result::err).collect())
}

/// A repository and a state, in which rounds follow each other.
struct Ground {
    place: Place,
    scratch: PathBuf,
    elsewhere: Option<PathBuf>,
}

impl Ground {
    fn new(program: &Path, number: u64) -> Done<Self> {
        let name = format!("soak-kills-{}-{number}", std::process::id());
        let scratch = target().join(&name);
        let io = |e: std::io::Error| format!("{}: {e}", scratch.display());
        fs::create_dir_all(&scratch).map_err(io)?;
        // A program of its own, by which its processes are known.
        let own = scratch.join("gatewright");
        fs::copy(program, &own).map_err(|e| format!("{}: {e}", program.display()))?;
        round::repository(&scratch.join("root"))?;
        let elsewhere = Some(Path::new(ELSEWHERE).join(&name)).filter(|_| number % 2 == 1);
        let elsewhere = elsewhere.filter(|place| fs::create_dir_all(place).is_ok());
        let state = elsewhere.clone().unwrap_or_else(|| scratch.join("state"));
        let place = Place::new(&own, &scratch.join("root"), &scratch, &state)?;
        Ok(Self { place, scratch, elsewhere })
    }

    fn rounds(&self, numbers: std::ops::Range<u64>, tally: &Mutex<Tally>) -> Done {
        let (mut dice, mut acknowledged) = (Dice::new(), BTreeSet::new());
        let mut last = Record::default();
        for number in numbers {
            // A time that `sleep` takes, and that nobody else sleeps.
            let mark = format!("3600.{:07}{number:06}", std::process::id());
            let round = round::round(&self.place, number, mark, &mut dice)?;
            acknowledged.extend(round.acknowledged.iter().cloned());
            self.started_again().map_err(|why| format!("round {number}: {why}"))?;
            let half_done = record::journals(&self.place);
            let left = (record::scratch(&self.place), record::beside(&self.place));
            let record = Record::verified(&self.place);
            let mut tally = tally.lock().map_err(|e| e.to_string())?;
            match record {
                Ok(record) => {
                    tally.lost.extend(acknowledged.difference(&record.transcripts).cloned());
                    last = record;
                }
                Err(why) => tally.wrong.push(format!("round {number}: {why}")),
            }
            tally.half_done += half_done;
            tally.scratch += left.0;
            tally.beside += left.1;
            tally.beside_rounds += u64::from(self.elsewhere.is_some());
            tally.add(number, round);
        }
        let mut tally = tally.lock().map_err(|e| e.to_string())?;
        tally.recoveries += last.recoveries;
        tally.adopted += last.adopted;
        tally.torn += last.torn;
        Ok(())
    }

    /// The next start: it settles what was left, works, and ends cleanly.
    fn started_again(&self) -> Done {
        let mut session = self.place.serve()?;
        session.call("git_status", json!({}))?;
        session.finish()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        for place in [Some(&self.scratch), self.elsewhere.as_ref()].into_iter().flatten() {
            let _ = fs::remove_dir_all(place);
        }
    }
}

impl Tally {
    fn add(&mut self, number: u64, round: Round) {
        self.rounds += 1;
        match round.moment {
            Moment::Starting => self.starting += 1,
            Moment::Calling => self.calling += 1,
            Moment::Running => self.running += 1,
        }
        self.alive += round.alive;
        self.acknowledged += round.acknowledged.len();
        self.survivors.extend(round.survivors.iter().map(|line| format!("round {number}: {line}")));
        self.gone.push(round.gone);
    }

    fn print(&self, took: Duration) {
        let mut gone: Vec<f64> = self.gone.iter().map(|gone| gone.as_secs_f64() * 1e3).collect();
        gone.sort_by(f64::total_cmp);
        let at = |share: usize| gone.get((gone.len() * share / 100).min(gone.len().saturating_sub(1)));
        let [half, most, worst] = [50, 99, 100].map(|share| at(share).copied().unwrap_or(f64::NAN));
        println!(
            "kill rounds      {} in {:.0} s, {AT_ONCE} at a time: {} around the start, {} among calls, {} with a run up; \
             {} processes lived when their server was killed",
            self.rounds,
            took.as_secs_f64(),
            self.starting,
            self.calling,
            self.running,
            self.alive
        );
        println!("survivors        {} after 2 s", self.survivors.len());
        println!(
            "lost             {} of {} transcripts that answers had named",
            self.lost.len(),
            self.acknowledged
        );
        println!(
            "record           {} times not as it should be; {} recoveries: {} adopted whole records, {} moved a torn tail \
             aside; {} plans half done after the next start",
            self.wrong.len(),
            self.recoveries,
            self.adopted,
            self.torn,
            self.half_done
        );
        println!(
            "left on disk     after the next start: {} scratch folders in the state; {} layers beside the root, of {} rounds \
             with the state on another file system",
            self.scratch, self.beside, self.beside_rounds
        );
        println!(
            "last process     gone after {half:.0} ms (median), {most:.0} ms (p99), {worst:.0} ms (worst)"
        );
    }

    fn verdict(&self, mut wrong: Vec<String>) -> Done {
        wrong.extend(self.wrong.iter().cloned());
        wrong.extend(self.survivors.iter().map(|line| format!("survived: {line}")));
        wrong.extend(self.lost.iter().map(|id| format!("answered, and not in the record: {id}")));
        if self.scratch + self.beside > 0 {
            let left = self.scratch + self.beside;
            wrong.push(format!("{left} scratch folders and layers were there after the next start"));
        }
        if self.half_done > 0 {
            wrong.push(format!("{} plans were half done after the next start", self.half_done));
        }
        if wrong.is_empty() { Ok(()) } else { Err(format!("✗ kill rounds\n  {}", wrong.join("\n  "))) }
    }
}
