//! Issues: by the real `gh` over a socket, and by the REST API, of a GitHub that answers what it is told to.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ok, repository, sod};
use crate::skip;

/// A part of the question; the status, the body, how long it takes.
type Answer = (&'static str, u16, Value, Duration);

/// What was asked, with its headers; and what is answered.
#[derive(Clone, Default)]
struct GitHub {
    asked: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<Vec<Answer>>>,
}

fn issues(total: u64, titles: &[&str]) -> Value {
    let items: Vec<Value> = titles
        .iter()
        .zip(1..)
        .map(|(title, number)| {
            json!({ "number": number, "title": title, "html_url": format!("https://github.com/acme/app/issues/{number}"),
                "updated_at": "2026-11-20T10:00:00Z", "assignees": [{ "login": "ana" }], "body": "x".repeat(2_000) })
        })
        .collect();
    json!({ "total_count": total, "incomplete_results": false, "items": items })
}

impl GitHub {
    fn says(&self, part: &'static str, status: u16, body: Value) {
        self.answers.lock().unwrap().insert(0, (part, status, body, Duration::ZERO));
    }

    fn says_late(&self, part: &'static str, after: Duration) {
        self.answers.lock().unwrap().insert(0, (part, 200, issues(0, &[]), after));
    }

    fn serve(&self, stream: impl Read + Write) {
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        self.asked.lock().unwrap().push(head.clone());
        let found = self.answers.lock().unwrap().iter().find(|(part, ..)| head.contains(part)).cloned();
        let (_, status, body, after) = found.unwrap_or(("", 200, issues(0, &[]), Duration::ZERO));
        std::thread::sleep(after);
        let body = body.to_string();
        let answer = format!(
            "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.get_mut().write_all(answer.as_bytes());
    }

    /// Answers at a socket; gives the folder of `gh`'s own configuration, signed in.
    fn for_gh(&self, dir: &Path) -> PathBuf {
        let socket = dir.join("gh.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let config = dir.join("gh");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(
            config.join("config.yml"),
            format!("version: \"1\"\nhttp_unix_socket: {}\n", socket.display()),
        )
        .unwrap();
        std::fs::write(config.join("hosts.yml"), "github.com:\n    oauth_token: gho_0123456789abcdefghijABCDEFGHIJ012345\n    user: ana\n    git_protocol: https\n").unwrap();
        let this = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let this = this.clone();
                std::thread::spawn(move || this.serve(stream));
            }
        });
        config
    }

    /// Answers on loopback; gives the address.
    fn for_rest(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let this = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let this = this.clone();
                std::thread::spawn(move || this.serve(stream));
            }
        });
        address
    }
}

fn has_gh() -> bool {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|dir| dir.join("gh").is_file());
    if !found {
        skip("issues by gh (gh is not installed)");
    }
    found
}

#[test]
fn an_issue_title_with_shell_words_is_text() {
    if !has_gh() {
        return;
    }
    let github = GitHub::default();
    let dir = tempfile::tempdir().unwrap();
    let canary = dir.path().join("canary");
    let title = format!("$(touch {0}) `touch {0}`; touch {0} && \"x\" | [a](b)", canary.display());
    github.says("prio%3AP0", 200, issues(23, &[&title]));
    github.says("status%3Aready", 200, issues(1, &["Ready"]));
    github.says("status%3Atriage", 422, json!({ "message": "Validation Failed" }));
    let bench = repository("git@github.com:acme/app.git").telling("GH_CONFIG_DIR", github.for_gh(dir.path()));
    let mut session = bench.serve();
    let told = ok(&mut session, "status", json!({}));
    assert_eq!((&told["via"], &told["repository"]), (&json!("gh"), &json!("acme/app")), "{told:#}");
    assert_eq!(
        (&told["p0"]["issues"][0]["title"], &told["p0"]["shown"], &told["p0"]["total"]),
        (&json!(title), &json!(1), &json!(23))
    );
    assert_eq!(
        (&told["ready"]["issues"][0]["assignees"], &told["blocked"]["total"]),
        (&json!(["ana"]), &json!(0))
    );
    assert_eq!(
        (&told["left_out"][0]["list"], &told["success"]),
        (&json!("Triage"), &json!(false)),
        "{told:#}"
    );
    assert!(told["message"].as_str().unwrap().contains("**First** (1 of 23)"), "{told:#}");
    assert!(!canary.exists(), "no shell saw the title");
    let asked = github.asked.lock().unwrap().clone();
    assert_eq!(asked.iter().filter(|head| head.starts_with("GET /search/issues?q=repo%3Aacme%2Fapp%20is%3Aissue%20is%3Aopen")).count(), 5, "{asked:?}");
    assert!(asked.iter().any(|head| head.contains("triage") && head.contains("per_page=5")), "{asked:?}");

    let day = sod(&mut session);
    assert_eq!((&day["p0"]["total"], &day["p0"]["issues"][0]["number"]), (&json!(23), &json!(1)), "{day:#}");
    let checked = ok(&mut session, "preflight", json!({}));
    assert_eq!(
        (&checked["checks"][1]["status"], &checked["all_passed"]),
        (&json!("pass"), &json!(true)),
        "{checked:#}"
    );
    drop(session);
    let state = std::process::Command::new("grep")
        .args(["-r", "gho_0123", "."])
        .current_dir(bench.place.scratch.path().join("state"))
        .output();
    assert!(state.unwrap().stdout.is_empty(), "the token is nowhere in what is kept");
}

/// The programs that run now and were told of the folder of settings for `gh`: other tests run
/// `gh` at the same time, with folders of their own.
fn told_of(settings: &Path) -> Vec<String> {
    let told = format!("GH_CONFIG_DIR={}", settings.display());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|name| name.starts_with(told.as_bytes()))
        })
        .map(|process| std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default())
        .filter(|line| line.split('\0').any(|word| word == "api"))
        .collect()
}

#[test]
fn a_github_that_is_slow_or_refuses_is_left_out_of_a_day_and_named() {
    if !has_gh() {
        return;
    }
    let github = GitHub::default();
    let dir = tempfile::tempdir().unwrap();
    github.says_late("search/issues", Duration::from_secs(20));
    let bench = repository("git@github.com:acme/app.git").telling("GH_CONFIG_DIR", github.for_gh(dir.path()));
    let mut session = bench.serve();
    let begun = Instant::now();
    let settings = dir.path().to_owned();
    let seen = std::thread::spawn(move || {
        let until = Instant::now() + Duration::from_secs(8);
        while told_of(&settings).is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        !told_of(&settings).is_empty()
    });
    let day = sod(&mut session);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert!(seen.join().unwrap(), "gh was run");
    let left = &day["left_out"][0];
    assert_eq!(
        (&left["source"], &left["after_ms"], day.get("p0")),
        (&json!("issues"), &json!(1300), None),
        "{day:#}"
    );
    assert!(
        day["message"].as_str().unwrap().starts_with("Left out: issues: it took longer than 1300 ms."),
        "{day:#}"
    );
    let until = Instant::now() + Duration::from_secs(3);
    while !told_of(dir.path()).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(told_of(dir.path()), [] as [String; 0], "whoever was not waited for is ended");
    github.says("search/issues", 401, json!({ "message": "Bad credentials" }));
    let refused = session.fails("status", json!({}));
    assert!(refused["message"].as_str().unwrap().contains("gh auth login"), "{refused:#}");
}

#[test]
fn without_gh_the_rest_api_is_asked_with_a_token_that_is_nowhere_kept() {
    let github = GitHub::default();
    let token = "ghp_9876543210zyxwvutsrqZYXWVUTSRQ987654";
    github.says("prio%3AP0", 200, issues(2, &["One", "Two"]));
    github.says("label%3A%22bug%22%2C%22urgent", 200, issues(1, &["Own label"]));
    let bench = repository("https://github.com/acme/app").telling("MY_TOKEN", PathBuf::from(token));
    bench.place.configure(&format!(
        "[github]\napi = \"{}\"\ngh = false\ntoken-env = \"MY_TOKEN\"\n",
        github.for_rest()
    ));
    let mut session = bench.serve();
    let told = ok(&mut session, "status", json!({}));
    assert_eq!(
        (&told["via"], &told["p0"]["total"], &told["success"]),
        (&json!("rest"), &json!(2), &json!(true)),
        "{told:#}"
    );
    let asked = github.asked.lock().unwrap().clone();
    assert!(
        asked.iter().all(|head| head
            .to_lowercase()
            .contains(&format!("authorization: bearer {}", token.to_lowercase()))),
        "{asked:?}"
    );
    bench.put("gatewright.toml", "[issues.p0]\nlabels = [\"bug\", \"urgent & $(x)\"]\nmost = 3\n");
    let own = ok(&mut session, "status", json!({}));
    assert_eq!(
        (&own["p0"]["issues"][0]["title"], &own["p0"]["labels"][0]),
        (&json!("Own label"), &json!("bug")),
        "{own:#}"
    );
    assert!(github.asked.lock().unwrap().iter().any(|head| head.contains("per_page=3")));
    bench.put("gatewright.toml", "[issues.p0]\nlabels = [\"\\\"; rm\"]\nmost = 3\n");
    let odd = ok(&mut session, "status", json!({}));
    assert!(odd["left_out"][0]["why"].as_str().unwrap().contains("cannot be searched for"), "{odd:#}");
    drop(session);
    let state = std::process::Command::new("grep")
        .args(["-r", "ghp_9876", "."])
        .current_dir(bench.place.scratch.path().join("state"))
        .output();
    assert!(state.unwrap().stdout.is_empty(), "the token is nowhere in what is kept");
}

#[test]
fn a_repository_that_is_elsewhere_has_no_issues_there() {
    let bench = repository("git@gitlab.com:acme/app.git");
    let mut session = bench.serve();
    let told = session.fails("status", json!({}));
    assert!(
        told["message"].as_str().unwrap().contains("gitlab.com/acme/app is not at github.com"),
        "{told:#}"
    );
    let day = sod(&mut session);
    assert_eq!((day.get("p0"), &day["left_out"]), (None, &json!([])), "{day:#}");
}
