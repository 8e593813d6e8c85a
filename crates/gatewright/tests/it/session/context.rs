//! A context over HTTP: real servers, real machines, one of them out of reach for a while.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use context::Remote;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use store_api::id::{NoteId, SessionId};
use store_api::note::{NewNote, NoteQuery};
use store_api::session::{Begin, SessionKey, Speaker, Standing};
use store_api::{Notes as _, Sessions as _, Timestamp};

use super::super::bench::Bench;
use super::super::{Place, cluster};
use super::{ok, repository, sod};

/// Where servers are set up: their configuration and, without PostgreSQL, their store.
struct Office {
    place: Place,
    url: Option<String>,
}

impl Office {
    fn new(url: Option<String>) -> Self {
        let place = Place::new();
        place.configure(
            "[ventures.acme]\nname = \"Acme\"\norganisation = \"github.com/acme\"\ncapabilities = [\"api\"]\n",
        );
        Self { place, url }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatewright"));
        self.place.home(&mut command).arg("context").args(args);
        if let Some(url) = &self.url {
            command.env("GATEWRIGHT_STORE_URL", url);
        }
        command
    }

    fn ok(&self, args: &[&str]) -> String {
        let out = self.command(args).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    fn key(&self, name: &str) -> String {
        self.ok(&["key", "add", name]).trim().to_owned()
    }

    /// A server on a port; any where none is named.
    fn serve(&self, port: u16) -> Server {
        let listen = format!("127.0.0.1:{port}");
        let mut child = self
            .command(&["serve", "--listen", &listen, "--per-minute", "1000000"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("serving the context on http://") {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "the server ended");
        }
        let port = line.trim().rsplit(':').next().unwrap().parse().unwrap();
        let rest = std::thread::spawn(move || {
            let mut rest = String::new();
            said.read_to_string(&mut rest).unwrap();
            rest
        });
        Server { child, port, rest: Some(rest) }
    }
}

struct Server {
    child: Child,
    port: u16,
    rest: Option<std::thread::JoinHandle<String>>,
}

impl Server {
    fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it in good order; what it said.
    fn end(mut self) -> String {
        self.signal(Signal::TERM);
        assert!(self.child.wait().unwrap().success());
        self.rest.take().unwrap().join().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn machine(base: &str, key: &str) -> Bench {
    repository("git@github.com:acme/app.git")
        .telling("GATEWRIGHT_CONTEXT_URL", PathBuf::from(base))
        .telling("GATEWRIGHT_CONTEXT_KEY", PathBuf::from(key))
}

/// Standard output of a command on a machine, and whether it succeeded.
fn on(machine: &Bench, args: &[&str]) -> (bool, String) {
    let out = machine.command().args(args).output().unwrap();
    (out.status.success(), String::from_utf8(out.stdout).unwrap())
}

fn check<'v>(preflight: &'v Value, name: &str) -> &'v Value {
    preflight["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
}

#[test]
fn two_machines_share_a_day_through_one_context_and_one_is_offline_in_the_middle() {
    let office = Office::new(cluster::database());
    let server = office.serve(0);
    let port = server.port;
    let (here_key, there_key) = (office.key("here"), office.key("there"));
    let (one, other) = (machine(&server.base(), &here_key), machine(&server.base(), &there_key));
    let (mut here, mut there) = (one.serve(), other.serve());
    let mine = sod(&mut here);
    assert_eq!(
        (&mine["session"]["venture"], &mine["context"]["online"]),
        (&json!("acme"), &json!(true)),
        "ventures are the context's: {mine:#}"
    );
    let theirs = sod(&mut there);
    assert_eq!(theirs["sessions"][0]["id"], mine["session"]["id"], "{theirs:#}");
    assert_eq!(ok(&mut here, "ventures", json!({}))["from"], "context");
    let preflight = ok(&mut here, "preflight", json!({}));
    assert_eq!(
        (&preflight["using"]["store"], &preflight["using"]["online"]),
        (&json!("remote"), &json!(true))
    );
    for name in ["context_key", "context_health"] {
        assert_eq!(check(&preflight, name)["status"], "pass", "{preflight:#}");
    }
    let note = ok(
        &mut here,
        "note",
        json!({ "action": "create", "title": "VPN", "content": "ask ops", "venture": "acme" }),
    );
    assert_eq!(note["queued"], false);
    assert_eq!(ok(&mut there, "notes", json!({ "q": "ops" }))["notes"][0]["title"], "VPN");
    sod(&mut here);
    sod(&mut there);

    // The server goes; both go on.
    assert!(!server.end().contains("gwk_"), "no key is logged");
    let began = Instant::now();
    let day = sod(&mut here);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(day["session"]["id"], mine["session"]["id"], "{day:#}");
    assert_eq!(
        (&day["context"]["online"], &day["notes"]["items"][0]["title"]),
        (&json!(false), &json!("VPN")),
        "{day:#}"
    );
    assert!(day["warnings"].to_string().contains("what is written waits here"), "{day:#}");
    let preflight = ok(&mut here, "preflight", json!({}));
    assert_eq!(check(&preflight, "context_health")["status"], "warn", "{preflight:#}");
    assert_eq!(preflight["has_critical_failure"], false);
    let note = ok(
        &mut here,
        "note",
        json!({ "action": "create", "title": "Found offline", "content": "a lake", "venture": "acme" }),
    );
    assert_eq!(note["queued"], true, "{note:#}");
    let over = ok(&mut here, "handoff", json!({ "summary": "Written on a train.", "status": "in_progress" }));
    assert_eq!((&over["queued"], &over["session"]["status"]), (&json!(true), &json!("ended")), "{over:#}");
    let day = sod(&mut here);
    assert_eq!(day["handoffs"][0]["summary"], "Written on a train.", "{day:#}");
    assert_ne!(day["session"]["id"], mine["session"]["id"]);
    // What waits outlives the process.
    drop(here);
    let (fine, listed) = on(&one, &["context", "outbox", "list"]);
    assert!(fine && listed.contains("/notes") && listed.contains("/eod"), "{listed}");
    let (fine, status) = on(&one, &["context", "status"]);
    assert!(!fine && status.contains("waiting for it"), "{status}");
    let offline = ok(&mut there, "sod", json!({}));
    assert_eq!(offline["handoffs"], json!([]), "nobody else knows yet");

    // It is back.
    let _server = office.serve(port);
    let (fine, told) = on(&one, &["context", "outbox", "retry"]);
    assert!(fine && told.contains("0 wait, 0 refused"), "{told}");
    let mut here = one.serve();
    std::thread::sleep(Duration::from_millis(5_100));
    let theirs = sod(&mut there);
    assert_eq!(theirs["handoffs"][0]["summary"], "Written on a train.", "{theirs:#}");
    assert_eq!(
        theirs["sessions"][0]["id"], day["session"]["id"],
        "the session that began offline: {theirs:#}"
    );
    assert_eq!(theirs["notes"]["total"], 2);
    let again = sod(&mut here);
    assert_eq!(
        (&again["session"]["id"], &again["session"]["resumed"]),
        (&day["session"]["id"], &json!(true)),
        "{again:#}"
    );
    let (fine, status) = on(&one, &["context", "status"]);
    assert!(fine && status.contains("answers, and takes the key"), "{status}");
    // Nothing of a key is where it could be read.
    for text in [again.to_string(), one.place.ok(&["audit", "show", "last"])] {
        assert!(!text.contains(&here_key), "{text}");
    }
}

#[test]
fn a_key_that_is_revoked_or_not_there_is_told_with_what_to_do() {
    let office = Office::new(None);
    let server = office.serve(0);
    let key = office.key("here");
    office.key("there");
    let bench = machine(&server.base(), &key);
    let mut here = bench.serve();
    sod(&mut here);
    let id = office
        .ok(&["key", "list"])
        .lines()
        .find(|line| line.contains("  here  "))
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned();
    office.ok(&["key", "revoke", &id]);
    std::thread::sleep(Duration::from_millis(5_100));
    let preflight = here.call("preflight", json!({}));
    assert!(preflight.to_string().contains("gatewright context login"), "{preflight:#}");
    let unknown =
        repository("git@github.com:acme/app.git").telling("GATEWRIGHT_CONTEXT_URL", server.base().into());
    let preflight = unknown.serve().call("preflight", json!({}))["structuredContent"].clone();
    assert_eq!(check(&preflight, "context_key")["status"], "fail", "{preflight:#}");
    assert_eq!(preflight["has_critical_failure"], true);
    let both = repository("git@github.com:acme/app.git")
        .telling("GATEWRIGHT_CONTEXT_URL", server.base().into())
        .telling("GATEWRIGHT_STORE_URL", "postgres://gw@127.0.0.1:1/none".into());
    let out = both.command().args(["call", "notes"]).output().unwrap();
    assert!(!out.status.success() && String::from_utf8_lossy(&out.stderr).contains("one of them"));
    let (code, said) = {
        let out = office.command(&["key", "revoke", &id]).output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    assert!(code == Some(1) && said.contains("key list"), "{said}");
}

fn remote(server: &Server, key: &str) -> Remote {
    Remote::new(&server.base(), Some(key.to_owned()), None).unwrap()
}

static NUMBER: AtomicUsize = AtomicUsize::new(1);

fn random() -> u128 {
    NUMBER.fetch_add(1, Ordering::Relaxed) as u128
}

fn now() -> Timestamp {
    jiff::Timestamp::now().into()
}

fn begin(agent: &str) -> Begin {
    let text = str::to_owned;
    Begin {
        id: SessionId::new(now(), random()),
        key: SessionKey {
            agent: text(agent),
            venture: text("acme"),
            repo: text("github.com/acme/app"),
            track: text(""),
        },
        speaker: Speaker::default(),
        standing: Standing::default(),
        by: text("test"),
    }
}

#[test]
fn servers_over_one_database_behave_as_one_and_one_that_is_killed_loses_nothing() {
    let Some(url) = cluster::database() else { return };
    let office = Office::new(Some(url));
    let (first, second) = (office.serve(0), office.serve(0));
    let key = office.key("writers");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        let remotes = [remote(&first, &key), remote(&second, &key)];
        // Fifty that begin at once, half of them at each server, are one.
        let mut begins = tokio::task::JoinSet::new();
        for n in 0..50 {
            let remote = remotes[n % 2].clone();
            begins.spawn(async move { remote.begin(begin("one"), None).await.unwrap().value.session.id });
        }
        let ids: std::collections::BTreeSet<SessionId> = begins.join_all().await.into_iter().collect();
        assert_eq!(ids.len(), 1, "{ids:?}");

        // Four write at both, one is killed in the middle: whoever wrote there goes on at the other with the same write.
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..4 {
            let remotes = remotes.clone();
            writers.spawn(async move {
                let mut kept = Vec::new();
                for n in 0..60 {
                    let id = NoteId::new(now(), random());
                    let note = NewNote {
                        id: id.clone(),
                        venture: None,
                        title: format!("{writer} {n}"),
                        content: "text".to_owned(),
                        tags: Vec::new(),
                        by: "test".to_owned(),
                    };
                    let mut done = false;
                    for at in 0..2 {
                        if remotes[(writer + n + at) % 2].add_note(note.clone(), None).await.is_ok() {
                            done = true;
                            break;
                        }
                    }
                    assert!(done, "one of them lives");
                    kept.push(id);
                }
                kept
            });
        }
        tokio::time::sleep(Duration::from_millis(400)).await;
        first.signal(Signal::KILL);
        let kept: Vec<NoteId> = writers.join_all().await.into_iter().flatten().collect();
        let there = &remotes[1];
        let total = there.notes(NoteQuery { limit: 1, ..NoteQuery::default() }).await.unwrap().total;
        assert_eq!(total, 240, "each is there once, however often it was sent");
        for id in kept.iter().step_by(17) {
            assert!(there.note(id.clone()).await.unwrap().is_some(), "{id}");
        }
        assert!(there.current(begin("one").key).await.unwrap().is_some());
    });
    second.end();
}
