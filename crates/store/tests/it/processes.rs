//! Several processes on one file, and processes that are killed in the middle of a write. Each writes down what was
//! acknowledged to it, after it was; all of that must be there.

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gatewright_store::Store;
use store_api::id::{NoteId, SessionId};
use store_api::note::{NewNote, NoteQuery};
use store_api::session::{Begin, LiveQuery};
use store_api::testing::context::{Watch, begin, key, once};
use store_api::testing::notes::note;
use store_api::testing::{failure, run, test};
use store_api::{FailureKind, Failures, HistoryQuery, Notes, Outcome, RunOutcome, Sessions};

use crate::behind::alone;
use crate::{Place, runtime};

const CHILD: &str = "GATEWRIGHT_STORE_CHILD";
const WRITER: &str = "GATEWRIGHT_STORE_WRITER";
const URL: &str = "GATEWRIGHT_STORE_CHILD_URL";
const TIMES: &str = "GATEWRIGHT_STORE_TIMES";

fn random_below(n: u64) -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_le_bytes(bytes) % n
}

/// A run that fails in one test of its own and one that all share, and passes a few hundred.
fn seen(id: &str) -> RunOutcome {
    RunOutcome {
        failures: vec![failure(id, FailureKind::Test), failure("shared", FailureKind::Test)],
        ran: (0..300).map(|n| test(&format!("pass {n}"), Outcome::Passed)).collect(),
        ..run("root", Some("main"), Some(id))
    }
}

/// A note of two tables and an index, tagged and titled by an id.
fn told(id: &str) -> NewNote {
    let watch = Watch::at(0);
    let random = u128::from(random_below(u64::MAX)) << 32 | u128::from(random_below(u64::MAX));
    let id_of_it = NoteId::new(watch.now(), random);
    let tags = vec![id.to_owned()];
    NewNote { id: id_of_it, tags, ..note(&watch, None, id, &format!("text of {id}")) }
}

/// A session of a key that all share, with an id of its own.
fn same_session() -> Begin {
    let now = jiff::Timestamp::now().into();
    let random = u128::from(random_below(u64::MAX)) << 32 | u128::from(random_below(u64::MAX));
    Begin { id: SessionId::new(now, random), ..begin(&Watch::at(0), &key("shared", "a", "")) }
}

/// How many notes have a tag, and how many are found by it as a word: their rows, their tags and their words.
async fn notes_of(store: &Store, id: &str) -> (u64, u64) {
    let query = NoteQuery { tag: Some(id.to_owned()), limit: 1, ..NoteQuery::default() };
    let listed = store.notes(query.clone()).await.unwrap().total;
    let found = store.notes(NoteQuery { q: Some("text".to_owned()), ..query }).await.unwrap().total;
    (listed, found)
}

/// Not a test of its own: what the processes run. Records until it is killed, or as often as it was told.
#[test]
fn writing_child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let folder = Path::new(&folder);
    let writer = std::env::var(WRITER).unwrap();
    let times: u64 = std::env::var(TIMES).unwrap().parse().unwrap();
    let mut acknowledged = OpenOptions::new()
        .append(true)
        .create(true)
        .open(folder.join(format!("acknowledged-{writer}")))
        .unwrap();
    runtime().block_on(async {
        let store = match std::env::var(URL) {
            Ok(url) => Store::connect(&url).unwrap(),
            Err(_) => Store::open(&folder.join("store/store.db")).unwrap(),
        };
        for n in 0..times {
            let id = format!("{writer}-{n}");
            if n % 10 == 0 {
                let session = store.begin(same_session(), None).await.unwrap().value.session.id;
                fs::write(folder.join(format!("session-{writer}")), session.as_str()).unwrap();
            }
            store.record(seen(&id)).await.unwrap();
            store.add_note(told(&id), Some(once("process", &id, &id))).await.unwrap();
            writeln!(acknowledged, "{id}").unwrap();
        }
        store.close().await;
    });
}

fn start(place: &Place, writer: &str, times: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    if let Some(url) = &place.url {
        command.env(URL, url);
    }
    command
        .args(["--exact", "processes::writing_child", "--nocapture", "--test-threads", "1"])
        .env(CHILD, place.folder.path())
        .env(WRITER, writer)
        .env(TIMES, times.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Ids that were acknowledged to a writer. A line that was cut by the kill was acknowledged to nobody.
fn acknowledged(place: &Place, writer: &str) -> Vec<String> {
    let Ok(file) = fs::File::open(place.folder.path().join(format!("acknowledged-{writer}"))) else {
        return Vec::new();
    };
    BufReader::new(file).lines().map(Result::unwrap).collect()
}

async fn runs_of(store: &Store, id: &str) -> Option<u64> {
    let query = HistoryQuery { ids: vec![id.to_owned()], ..HistoryQuery::of("root") };
    let page = store.history(query).await.unwrap();
    page.items.first().map(|entry| entry.branches.iter().map(|branch| branch.failed).sum())
}

#[test]
fn processes_that_start_and_write_together_lose_nothing_and_are_never_told_that_it_is_busy() {
    const WRITERS: u64 = 4;
    const EACH: u64 = 40;
    for place in Place::all() {
        write_together(&place, WRITERS, EACH);
    }
}

fn write_together(place: &Place, writers: u64, each: u64) {
    let children: Vec<Child> = (0..writers).map(|n| start(place, &format!("w{n}"), each)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    runtime().block_on(async {
        let store = place.store();
        assert_eq!(runs_of(&store, "shared").await, Some(writers * each), "each write counted once");
        let total = store.history(HistoryQuery::of("root")).await.unwrap().total;
        assert_eq!(total, writers * each + 1);
        let live = store.live(LiveQuery::all(10)).await.unwrap();
        assert_eq!(live.total, 1, "one session, whoever began it");
        for n in 0..writers {
            let told = fs::read_to_string(place.folder.path().join(format!("session-w{n}"))).unwrap();
            assert_eq!(told, live.items[0].id.as_str());
        }
        let query = NoteQuery { limit: 1, ..NoteQuery::default() };
        assert_eq!(store.notes(query).await.unwrap().total, writers * each);
    });
}

#[test]
fn stores_of_one_process_share_a_file_while_it_is_read() {
    for place in Place::all() {
        runtime().block_on(share(&place));
    }
}

async fn share(place: &Place) {
    let stores: Vec<Store> = (0..4).map(|_| place.store()).collect();
    let mut tasks = Vec::new();
    for (n, store) in stores.iter().cloned().enumerate() {
        tasks.push(tokio::spawn(async move {
            for i in 0..25 {
                store.record(seen(&format!("{n}-{i}"))).await.unwrap();
                assert!(
                    runs_of(&store, &format!("{n}-{i}")).await == Some(1),
                    "a read sees what was answered"
                );
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(runs_of(&stores[0], "shared").await, Some(100));
}

#[test]
fn a_fresh_file_is_made_once_by_however_many_come_first() {
    let fresh = |round: u32| [Some(Place::new()), (round < 5).then(Place::in_postgres).flatten()];
    runtime().block_on(async {
        for (round, place) in (0..40).flat_map(|round| fresh(round).map(|place| (round, place))) {
            let Some(place) = place else { continue };
            let tasks: Vec<_> = (0..6)
                .map(|n| {
                    let store = place.store();
                    tokio::spawn(async move { store.record(seen(&format!("{n}"))).await })
                })
                .collect();
            for task in tasks {
                task.await.unwrap().unwrap();
            }
            assert_eq!(runs_of(&place.store(), "shared").await, Some(6), "round {round}");
        }
    });
}

#[test]
fn a_process_killed_while_writing_leaves_every_acknowledged_write() {
    let rounds: u32 = std::env::var("GATEWRIGHT_KILL_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(20);
    for place in Place::all() {
        kill(&place, rounds);
    }
}

fn kill(place: &Place, rounds: u32) {
    let (mut all, mut cut) = (0, 0);
    for round in 0..rounds {
        let writer = format!("r{round}");
        let mut child = start(place, &writer, u64::MAX);
        // One in four while it starts and opens, the others in the middle of one of many writes: waited for, because
        // how long a start takes is the machine's affair.
        if round % 4 == 0 {
            std::thread::sleep(Duration::from_micros(20_000 + random_below(150_000)));
        } else {
            writes(place, &writer, 1 + usize::try_from(random_below(12)).unwrap(), &mut child);
            std::thread::sleep(Duration::from_micros(random_below(15_000)));
        }
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success(), "it was killed: {}", String::from_utf8_lossy(&output.stderr));
        let acknowledged = acknowledged(place, &writer);
        all += acknowledged.len() as u64;
        runtime().block_on(async {
            if let Some(url) = &place.url {
                alone(url).await;
            }
            let store = place.store();
            for id in &acknowledged {
                assert_eq!(runs_of(&store, id).await, Some(1), "round {round}");
                assert_eq!(notes_of(&store, id).await, (1, 1), "round {round}");
                let again = store.add_note(told(id), Some(once("process", id, id))).await.unwrap();
                assert!(again.replayed, "its key is as lasting as the note: round {round}");
            }
            // At most the write that was under way when it was killed is there without having been acknowledged.
            let next = format!("{writer}-{}", acknowledged.len());
            cut += runs_of(&store, &next).await.unwrap_or(0);
            let (listed, found) = notes_of(&store, &next).await;
            assert!(listed == found && listed <= 1, "round {round}: a note is whole or not there");
            assert_eq!(
                runs_of(&store, "shared").await.unwrap_or(0),
                all + cut,
                "round {round}: writes are whole"
            );
            store.close().await;
            if place.url.is_none() {
                whole(&place.path()).await;
            }
        });
    }
    assert!(all >= u64::from(rounds / 2), "{rounds} kills: {all} writes acknowledged, {cut} there without");
}

/// Waits until so many writes were acknowledged to a writer.
fn writes(place: &Place, writer: &str, many: usize, child: &mut Child) {
    let patience = Instant::now() + Duration::from_mins(1);
    while acknowledged(place, writer).len() < many {
        assert!(child.try_wait().unwrap().is_none(), "{writer} ended by itself");
        assert!(Instant::now() < patience, "{writer} came to {many} writes within a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// SQLite's own look at the whole file.
async fn whole(path: &Path) {
    use sqlx::{ConnectOptions as _, Connection as _};
    let mut connection = sqlx::sqlite::SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    let said: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
    assert_eq!(said, "ok");
    let broken = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut connection).await.unwrap();
    assert!(broken.is_empty());
    connection.close().await.unwrap();
}
