//! The index of a library is kept: who begins reads what has changed, and whatever becomes of the index, files are the truth.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::patterns::bench;
use crate::bench::{Bench, Session};

fn ids(found: &Value) -> Vec<&str> {
    found["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

fn find(session: &mut Session, query: &str) -> Value {
    session.ok("find_patterns", json!({ "query": query, "limit": 50 }))
}

fn looked(session: &mut Session, arguments: Value) -> [u64; 4] {
    let told = session.ok("index_pattern_library", arguments);
    ["indexed", "skipped", "failed", "removed"].map(|field| told["data"][field].as_u64().unwrap())
}

fn database(bench: &Bench) -> PathBuf {
    bench.place.scratch.path().join("state/gatewright/store/library.db")
}

/// A repository with `count` patterns of its own. Four of gatewright's are counted with them.
fn repository(count: usize) -> Bench {
    let bench = Bench::new(&[("README.md", "# App\n")]);
    for number in 0..count {
        let text = format!("# Pattern {number}\n\nThe marmot {} keeps its burrow.\n", number % 7);
        bench.put(&format!(".shared-patterns/database/p{number:05}.md"), &text);
    }
    bench
}

#[test]
fn a_process_that_begins_reads_what_has_changed_and_nothing_else() {
    let bench =
        bench(&[("README.md", "# App\n"), (".shared-patterns/ui/burrow.md", "# Burrow\n\nA marmot.\n")]);
    assert_eq!(looked(&mut bench.serve(), json!({})), [81, 0, 0, 0]);
    let mut session = bench.serve();
    let before = find(&mut session, "marmot tenant isolation");
    assert_eq!(looked(&mut session, json!({})), [0, 81, 0, 0]);
    bench.put(".shared-patterns/ui/burrow.md", "# Burrow\n\nA groundhog.\n");
    bench.put(".shared-patterns/ui/den.md", "# Den\n\nA badger.\n");
    bench.put(".shared-patterns/ui/torn.md", "---\nname: [\n---\n# Torn\n");
    let mut session = bench.serve();
    assert_eq!(looked(&mut session, json!({})), [2, 80, 1, 0]);
    assert_eq!(ids(&find(&mut session, "groundhog")), ["ui/burrow"]);
    assert_eq!(ids(&find(&mut session, "badger")), ["ui/den"]);
    assert_eq!(find(&mut session, "marmot")["data"], json!([]));
    // What cannot be read is not read again for that, and told again all the same.
    let told = bench.serve().ok("index_pattern_library", json!({}));
    assert_eq!((&told["data"]["failed"], &told["data"]["indexed"]), (&json!(1), &json!(0)), "{told:#}");
    assert_eq!(told["data"]["problems"][0]["code"], "front_matter_invalid", "{told:#}");
    fs::remove_file(bench.path(".shared-patterns/ui/den.md")).unwrap();
    fs::remove_file(bench.path(".shared-patterns/ui/torn.md")).unwrap();
    let mut session = bench.serve();
    assert_eq!(looked(&mut session, json!({})), [0, 81, 0, 1]);
    assert_eq!(find(&mut session, "badger")["data"], json!([]));
    // A file that was written again as it was has not changed.
    bench.put(".shared-patterns/ui/burrow.md", "# Burrow\n\nA groundhog.\n");
    assert_eq!(looked(&mut session, json!({})), [0, 81, 0, 0]);
    // Anew, and of one category: the same answers.
    bench.put(".shared-patterns/ui/burrow.md", "# Burrow\n\nA marmot.\n");
    assert_eq!(looked(&mut session, json!({ "force": true, "category": "ui" }))[2..], [0, 0]);
    assert_eq!(find(&mut session, "marmot tenant isolation")["data"], before["data"]);
    assert_eq!(looked(&mut session, json!({ "force": true })), [81, 0, 0, 0]);
    assert_eq!(find(&mut session, "marmot tenant isolation")["data"], before["data"]);
}

#[test]
fn an_index_that_is_gone_damaged_or_of_another_program_is_no_loss() {
    let bench = bench(&[("README.md", "# App\n")]);
    // By a server that has ended: one that is still closing the index would write over what is done to it here.
    let found_by_one = |query: &str| {
        let mut session = bench.serve();
        let found = find(&mut session, query)["data"].clone();
        session.0.finish();
        found
    };
    let expected = found_by_one("tenant isolation");
    let sql = |statement: &str| {
        // A server that has just ended may still be closing it.
        let patient = ["-cmd", ".timeout 20000"];
        let done = Command::new("sqlite3").args(patient).arg(database(&bench)).arg(statement).output();
        done.is_ok_and(|done| done.status.success())
    };
    if sql("SELECT 1") {
        for damage in [
            "UPDATE libraries SET format = 999",
            "UPDATE libraries SET vocabulary = x'00ff'",
            "UPDATE libraries SET notes = 'no notes'",
            "DELETE FROM terms",
            "DELETE FROM documents",
            "PRAGMA user_version = 99",
        ] {
            assert!(sql(damage), "{damage}");
            assert_eq!(found_by_one("tenant isolation"), expected, "{damage}");
        }
    } else {
        crate::skip("damage to single tables of an index (sqlite3 is not installed)");
    }
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", database(&bench).display()));
    }
    assert_eq!(found_by_one("tenant isolation"), expected);
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", database(&bench).display()));
    }
    fs::write(database(&bench), "no database\n".repeat(1_000)).unwrap();
    assert_eq!(found_by_one("tenant isolation"), expected);
}

#[test]
fn an_index_that_is_moved_aside_under_a_server_answers_nothing_wrong() {
    let bench = Bench::new(&[(".shared-patterns/ui/a.md", "# Zebra\n\nStripes.\n")]);
    let mut session = bench.serve();
    assert_eq!(ids(&find(&mut session, "zebra")), ["ui/a"]);
    for end in ["", "-wal", "-shm"] {
        let file = format!("{}{end}", database(&bench).display());
        let _ = fs::rename(&file, format!("{file}.aside"));
    }
    bench.put(".shared-patterns/ui/c.md", "# Hippo\n\nMud.\n");
    assert_eq!(ids(&find(&mut session, "hippo")), ["ui/c"]);
    assert_eq!(ids(&find(&mut session, "zebra")), ["ui/a"]);
}

#[test]
fn servers_that_index_the_same_library_at_once_give_the_same_answers() {
    let bench = repository(300);
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let servers: Vec<_> = (0..4)
            .map(|server| {
                let bench = &bench;
                scope.spawn(move || {
                    let mut session = bench.serve();
                    for round in 0..3 {
                        let own = format!(".shared-patterns/ui/s{server}-{round}.md");
                        bench.put(&own, &format!("# Own\n\nThe chipmunk of {server}.\n"));
                        find(&mut session, "chipmunk");
                        if server == 3 && round == 1 {
                            // Whatever it was writing, nobody else is kept from it.
                            session.0.child.kill().unwrap();
                            session.0.child.wait().unwrap();
                            session = bench.serve();
                        }
                    }
                    session
                })
            })
            .collect();
        let mut sessions: Vec<Session> = servers.into_iter().map(|server| server.join().unwrap()).collect();
        sessions.iter_mut().map(|session| find(session, "chipmunk")["data"].clone()).collect()
    });
    assert_eq!(answers[0].as_array().unwrap().len(), 12, "{:#}", answers[0]);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let mut session = bench.serve();
    assert_eq!(looked(&mut session, json!({}))[1..], [316, 0, 0], "nothing of it is read again");
}

#[test]
fn every_change_is_found_at_the_next_question_however_often_it_was_asked_before() {
    let bench = repository(40);
    let mut session = bench.serve();
    let place = |name: &str| format!(".shared-patterns/{name}.md");
    // From the third question on the machine tells of changes.
    for _ in 0..4 {
        assert_eq!(ids(&find(&mut session, "marmot")).len(), 40);
    }
    for round in 0..3 {
        bench.put(&place(&format!("database/new{round}")), &format!("# New\n\nA weasel {round}.\n"));
        assert_eq!(ids(&find(&mut session, "weasel")).len(), 1, "new");
        bench.put(&place(&format!("database/new{round}")), "# New\n\nA stoat.\n");
        assert_eq!(find(&mut session, "weasel")["data"], json!([]), "changed");
        assert_eq!(ids(&find(&mut session, "stoat")).len(), 1);
        let away = bench.path(&place("database/p00001"));
        fs::rename(&away, bench.path("kept.md")).unwrap();
        assert_eq!(ids(&find(&mut session, "marmot")).len(), 39, "away");
        fs::rename(bench.path("kept.md"), &away).unwrap();
        assert_eq!(ids(&find(&mut session, "marmot")).len(), 40, "back");
        fs::remove_file(bench.path(&place(&format!("database/new{round}")))).unwrap();
        assert_eq!(find(&mut session, "stoat")["data"], json!([]), "removed");
        // In a folder that was not there.
        let folder = ["ui", "testing", "security"][round];
        bench.put(&place(&format!("{folder}/ermine")), "# Ermine\n\nIt is white in winter.\n");
        assert_eq!(ids(&find(&mut session, "ermine")).len(), round + 1, "{folder}");
        bench.put(&place(&format!("{folder}/ermine")), "# Ermine\n\nIt is brown in summer.\n");
        assert_eq!(ids(&find(&mut session, "ermine brown")).first(), Some(&&*format!("{folder}/ermine")));
    }
    // The folder itself goes, and comes again.
    let (all, away) = (bench.path(".shared-patterns"), bench.path("away"));
    fs::rename(&all, &away).unwrap();
    assert_eq!(find(&mut session, "marmot")["data"], json!([]));
    fs::rename(&away, &all).unwrap();
    assert_eq!(ids(&find(&mut session, "marmot")).len(), 40);
    // One that is watched goes and comes again in its place, and what is in it changes then.
    for _ in 0..2 {
        let folder = bench.path(".shared-patterns/ui");
        fs::remove_dir_all(&folder).unwrap();
        bench.put(&place("ui/ermine"), "# Ermine\n\nIt is asleep.\n");
        assert_eq!(ids(&find(&mut session, "ermine asleep"))[0], "ui/ermine");
        for word in ["awake", "hungry", "fed"] {
            find(&mut session, "marmot");
            bench.put(&place("ui/ermine"), &format!("# Ermine\n\nIt is {word}.\n"));
            assert_eq!(ids(&find(&mut session, &format!("\"is {word}\""))), ["ui/ermine"]);
        }
    }
    let loaded = session.ok("load_skill", json!({ "skillId": "database/p00000" }));
    assert!(loaded.to_string().contains("marmot 0"), "{loaded:#}");
}

#[test]
fn a_large_library_is_looked_through_beside_the_answer_and_no_hit_is_stale() {
    let bench = repository(2_100);
    let mut session = bench.serve();
    let first = session.ok("find_patterns", json!({ "query": "pattern 1234" }));
    assert_eq!((ids(&first)[0], &first["index"]["patterns"]), ("database/p01234", &json!(2_104)));
    // A hit whose file has changed is what it is now, at once.
    bench.put(".shared-patterns/database/p01234.md", "# Pattern 1234\n\nNo longer any burrow, a lodge.\n");
    let again = session.ok("find_patterns", json!({ "query": "pattern 1234" }));
    assert_eq!(ids(&again)[0], "database/p01234");
    assert!(again["data"][0]["description"].as_str().unwrap().contains("lodge"), "{again:#}");
    fs::remove_file(bench.path(".shared-patterns/database/p01234.md")).unwrap();
    let gone = session.ok("find_patterns", json!({ "query": "lodge" }));
    assert!(ids(&gone).iter().all(|id| id.starts_with("skills/gatewright-")), "{gone:#}");
    let fault = session.fails("load_skill", json!({ "skillId": "database/p01234" }));
    assert_eq!(fault["code"], "pattern_not_found");
    // What is away for a moment is found again, though it is as it was.
    let (there, away) = (bench.path(".shared-patterns/database"), bench.path("away"));
    fs::rename(&there, &away).unwrap();
    assert_eq!(session.ok("find_patterns", json!({ "query": "pattern 77" }))["data"], json!([]));
    fs::rename(&away, &there).unwrap();
    let began = std::time::Instant::now();
    while ids(&find(&mut session, "pattern 77")).first() != Some(&"database/p00077") {
        assert!(began.elapsed().as_secs() < 60, "it is never found again");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    // What is new is found after a while, or at once where somebody asks by its name.
    bench.put(".shared-patterns/database/beaver.md", "# Beaver\n\nA dam.\n");
    let began = std::time::Instant::now();
    while find(&mut session, "beaver")["data"] == json!([]) {
        assert!(began.elapsed().as_secs() < 60, "it is never found");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    bench.put(".shared-patterns/database/otter.md", "# Otter\n\nA holt.\n");
    let loaded = session.ok("load_skill", json!({ "skillId": "database/otter" }));
    assert_eq!(loaded["data"]["name"], "otter");
    assert_eq!(ids(&find(&mut session, "holt")), ["database/otter"]);
}

#[test]
fn a_server_whose_large_library_another_one_has_brought_up_to_date_leaves_nothing_out() {
    let bench = repository(2_100);
    let (mut one, mut other) = (bench.serve(), bench.serve());
    assert_eq!(ids(&find(&mut one, "pattern 1234"))[0], "database/p01234");
    bench.put(".shared-patterns/database/p01234.md", "# Pattern 1234\n\nA lodge.\n");
    bench.put(".shared-patterns/database/p01235.md", "# Pattern 1235\n\nA holt.\n");
    // Whoever begins looks through all of it.
    assert_eq!(ids(&find(&mut other, "lodge")), ["database/p01234"]);
    // That file alone would be looked at again, had nobody else been there.
    let changed = find(&mut one, "pattern 1234");
    assert!(changed["data"][0]["description"].as_str().unwrap().contains("lodge"), "{changed:#}");
    assert_eq!(ids(&find(&mut one, "holt")), ["database/p01235"]);
}

#[test]
fn secrets_of_patterns_are_not_in_the_index() {
    let secret = ["ghp_", "0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    let text = format!("# Deploy {secret}\n\nThe token is {secret}, said once.\n");
    let bench = Bench::new(&[(".shared-patterns/security/deploy.md", &text)]);
    let mut session = bench.serve();
    assert_eq!(ids(&find(&mut session, "deploy token"))[0], "security/deploy");
    drop(session);
    for end in ["", "-wal"] {
        let bytes = fs::read(format!("{}{end}", database(&bench).display())).unwrap_or_default();
        for part in [secret.as_str(), "0123456789abcdefghij"] {
            assert!(!bytes.windows(part.len()).any(|window| window == part.as_bytes()), "{end}: {part}");
        }
    }
}
