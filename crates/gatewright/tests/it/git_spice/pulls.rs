//! Pull requests of a stack, at a GitHub of this machine that keeps what it is sent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Bench, Session, bench, effects, id, ok, remote, stacked};

/// What is nobody's token.
const TOKEN: &str = "pat-of-nobody-0123456789";

/// What a GitHub has: the repository, its pull requests, and what it was asked.
#[derive(Default)]
struct Kept {
    folder: String,
    pulls: Vec<Value>,
    asked: Vec<String>,
    /// What it answers to whoever opens something.
    refuses: Option<u16>,
}

/// It answers until the process ends.
#[derive(Clone)]
struct GitHub {
    host: String,
    kept: Arc<Mutex<Kept>>,
}

impl GitHub {
    fn serve() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let this = Self { host: listener.local_addr().unwrap().to_string(), kept: Arc::default() };
        let kept = Arc::clone(&this.kept);
        std::thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                converse(caller, &kept);
            }
        });
        this
    }

    /// What was asked since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.kept.lock().unwrap().asked)
    }

    fn pulls(&self) -> Vec<Value> {
        self.kept.lock().unwrap().pulls.clone()
    }
}

fn converse(stream: TcpStream, kept: &Mutex<Kept>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let mut words = head.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let mut kept = kept.lock().unwrap();
    kept.asked.push(format!("{method} {path}"));
    let (status, answer) = if header("authorization") == Some(format!("Bearer {TOKEN}")) {
        kept.answer(method, path, &body)
    } else {
        (401, json!({ "message": "Bad credentials" }))
    };
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    stream.get_mut().write_all(format!("{head}{answer}").as_bytes()).ok()
}

impl Kept {
    /// Its branches, and where they are.
    fn branches(&self) -> Vec<(String, String)> {
        let args = ["-C", &self.folder, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"];
        let out = std::process::Command::new("git").args(args).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        text.lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .collect()
    }

    /// A pull request as it is now: that of a branch which goes on goes with it.
    fn shown(&self, pull: &Value) -> Value {
        let mut pull = pull.clone();
        let name = format!("refs/heads/{}", pull["head"]["ref"].as_str().unwrap());
        if let Some((_, id)) = self.branches().iter().find(|(own, _)| *own == name && pull["state"] == "open")
        {
            pull["head"]["sha"] = json!(id);
        }
        pull
    }

    fn answer(&mut self, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
        let sent: Value = serde_json::from_slice(body).unwrap_or_default();
        if let Some(name) = path.strip_prefix("/repos/acme/shop/git/matching-refs/heads/") {
            let front = format!("refs/heads/{name}");
            let all = self.branches().into_iter().filter(|(own, _)| own.starts_with(&front));
            return (
                200,
                all.map(|(name, id)| json!({ "ref": name, "object": { "sha": id, "type": "commit" } }))
                    .collect(),
            );
        }
        match (method, path.strip_prefix("/repos/acme/shop/pulls")) {
            ("GET", Some(query)) => {
                let head = query.split("head=acme%3A").nth(1).unwrap().split('&').next().unwrap();
                let own = self.pulls.iter().filter(|pull| pull["head"]["ref"] == head);
                (200, own.map(|pull| self.shown(pull)).collect())
            }
            ("POST", Some("")) if self.refuses.is_some() => {
                (self.refuses.unwrap(), json!({ "message": "Validation Failed" }))
            }
            ("POST", Some("")) => {
                let number = self.pulls.len() + 1;
                let side =
                    |name: &Value| json!({ "ref": name, "sha": "", "repo": { "full_name": "Acme/shop" } });
                self.pulls.push(json!({
                    "number": number,
                    "html_url": format!("https://forge.test/acme/shop/pull/{number}"),
                    "state": "open", "merged_at": null,
                    "title": sent["title"], "body": sent["body"], "draft": sent["draft"],
                    "head": side(&sent["head"]), "base": side(&sent["base"]),
                }));
                (201, self.shown(&self.pulls[number - 1]))
            }
            ("PATCH", Some(number)) => {
                let number: usize = number.trim_start_matches('/').parse().unwrap();
                self.pulls[number - 1]["base"]["ref"] = sent["base"].clone();
                (200, self.shown(&self.pulls[number - 1]))
            }
            _ => (404, json!({ "message": "Not Found" })),
        }
    }
}

/// A repository whose remote is at the forge, which the user's own git finds in a folder of this machine.
fn at_forge(github: &GitHub, hosts: &[&str]) -> Bench {
    let bench = bench();
    let folder = remote(&bench);
    github.kept.lock().unwrap().folder.clone_from(&folder);
    bench.git(&["remote", "set-url", "origin", "https://forge.test/Acme/shop.git"]);
    let own = format!(
        "[url \"{folder}\"]\n\tinsteadOf = https://forge.test/Acme/shop.git\n[user]\n\tname = Test\n\temail = test@example.com\n"
    );
    std::fs::write(bench.place.scratch.path().join(".gitconfig"), own).unwrap();
    bench.place.configure(&format!(
        "[egress]\nhosts = {hosts:?}\nallow-private = true\n[github]\nhost = 'forge.test'\napi = 'http://{}'\ntoken-env = 'SHOP_TOKEN'\ngh = false\n",
        github.host
    ));
    bench
}

fn states(answer: &Value) -> Vec<(String, String)> {
    let rows = answer["result"]["pullRequests"]["branches"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.iter().map(|row| (text(&row["branch"]), text(&row["state"]))).collect()
}

fn is(answer: &Value, one: &str, two: &str) {
    let want = [("one".to_owned(), one.to_owned()), ("two".to_owned(), two.to_owned())];
    assert_eq!(states(answer), want, "{answer:#}");
}

fn submit(session: &mut Session, given: Value) -> Value {
    session.ok("git_spice_stack_submit", given)
}

#[test]
fn each_call_opens_one_pull_request_of_a_stack_that_was_pushed_the_lowest_first() {
    let github = GitHub::serve();
    let bench = at_forge(&github, &["forge.test", &github.host])
        .telling("SHOP_TOKEN", std::path::PathBuf::from(TOKEN));
    let mut session = stacked(&bench);
    // First the branches: nothing is asked for what is nowhere yet.
    let pushed = submit(&mut session, json!({ "fill": true, "apply": true }));
    assert!(effects(&pushed)[1].starts_with("push to origin ("), "{pushed:#}");
    assert_eq!(pushed["result"]["pullRequests"], json!({ "after": "push" }));
    assert!(github.asked().is_empty() && github.pulls().is_empty());
    let plain = submit(&mut session, json!({}));
    assert!(plain["result"].get("pullRequests").is_none() && github.asked().is_empty(), "{plain:#}");
    // A rehearsal only asks.
    let post = format!("POST http://{}/repos/acme/shop/pulls", github.host);
    let shown = submit(&mut session, json!({ "fill": true }));
    is(&shown, "opens", "waits");
    assert_eq!(shown["result"]["pullRequests"]["left"], 1);
    assert_eq!(effects(&shown).last(), Some(&post.as_str()), "{shown:#}");
    let diff = shown["plan"]["diff"].as_str().unwrap();
    assert!(diff.contains("  title: one\n") && diff.contains("  base: main\n"), "{diff}");
    assert!(github.asked().iter().all(|ask| ask.starts_with("GET ")) && github.pulls().is_empty());
    let same = json!({ "fill": true, "plan": shown["plan"]["id"], "apply": true });
    let opened = submit(&mut session, same.clone());
    assert_eq!(opened["status"], "completed", "{opened:#}");
    github.asked();
    // Applied once more it has happened already, wherever its ref of git-spice's has gone since.
    let again = session.call("git_spice_stack_submit", same);
    assert!(
        github.pulls().len() == 1 && github.asked().iter().all(|ask| ask.starts_with("GET ")),
        "{again:#}"
    );
    let first = &github.pulls()[0];
    assert_eq!(
        (&first["title"], &first["head"]["ref"], &first["base"]["ref"]),
        (&json!("one"), &json!("one"), &json!("main"))
    );
    assert_eq!((&first["draft"], &first["body"]), (&json!(false), &json!("")));
    // The next, a draft, with a text from several commits.
    bench.git(&["switch", "--quiet", "two"]);
    bench.put("more.txt", "more\n");
    bench.commit("two: more\n\nwhy");
    bench.git(&["switch", "--quiet", "main"]);
    submit(&mut session, json!({ "apply": true }));
    let drafted = submit(&mut session, json!({ "fill": true, "draft": true, "apply": true }));
    is(&drafted, "open", "opens");
    let second = &github.pulls()[1];
    assert_eq!((&second["base"]["ref"], &second["draft"]), (&json!("one"), &json!(true)));
    assert_eq!((&second["title"], &second["body"]), (&json!("two"), &json!("- two\n- two: more")));
    github.asked();
    let done = submit(&mut session, json!({ "fill": true }));
    is(&done, "open", "open");
    assert_eq!(done["result"]["pullRequests"]["branches"][1]["number"], 2);
    assert!(done["message"].as_str().unwrap().contains("https://forge.test/acme/shop/pull/2"), "{done:#}");
    assert!(effects(&done).iter().all(|effect| effect.starts_with("refs: ")), "{done:#}");
    // What a branch was merged or closed with is not opened again, and nothing is put onto it.
    for (merged, state) in [(json!("2026-11-27T00:00:00Z"), "merged"), (Value::Null, "closed")] {
        let ended = |pull: &mut Value| {
            pull["head"]["sha"] = json!(id(&bench, pull["head"]["ref"].as_str().unwrap()));
            (pull["state"], pull["merged_at"]) = (json!("closed"), merged.clone());
        };
        github.kept.lock().unwrap().pulls.iter_mut().take(1).for_each(ended);
        let done = submit(&mut session, json!({ "fill": true, "apply": true }));
        is(&done, state, "open");
        github.kept.lock().unwrap().pulls[1]["base"]["ref"] = json!("main");
        let left = submit(&mut session, json!({ "fill": true, "apply": true }));
        is(&left, state, "unbased");
        assert_eq!(github.pulls().len(), 2, "{left:#}");
        github.kept.lock().unwrap().pulls[1]["base"]["ref"] = json!("one");
    }
    github.kept.lock().unwrap().pulls[0]["state"] = json!("open");
    // One that is onto another base is moved, as long as the branch is where it was seen.
    github.kept.lock().unwrap().pulls[1]["base"]["ref"] = json!("main");
    let planned = submit(&mut session, json!({ "fill": true }));
    let two = id(&bench, "two");
    bench.git(&["update-ref", "refs/heads/two", "two^"]);
    let moved = json!({ "fill": true, "plan": planned["plan"]["id"], "apply": true });
    let error = session.fails("git_spice_stack_submit", moved);
    assert!(
        error["code"] == "conflict" && error["message"].as_str().unwrap().contains("refs/heads/two"),
        "{error:#}"
    );
    bench.git(&["update-ref", "refs/heads/two", &two]);
    assert_eq!(github.pulls()[1]["base"]["ref"], "main");
    github.kept.lock().unwrap().pulls[1]["base"]["ref"] = json!("main");
    let moved = submit(&mut session, json!({ "fill": true, "apply": true }));
    is(&moved, "open", "moves");
    assert_eq!(github.pulls()[1]["base"]["ref"], "one");
    // The token went to one host, and is written nowhere.
    let state = bench.place.scratch.path().join("state");
    let found = std::process::Command::new("grep").args(["-rl", TOKEN]).arg(&state).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    ok(&bench, &["audit", "verify"]);
}

#[test]
fn a_pull_request_that_cannot_be_opened_says_why_and_what_is_no_longer_ours_is_left() {
    let github = GitHub::serve();
    let token = std::path::PathBuf::from(TOKEN);
    let fill = || json!({ "fill": true, "apply": true });
    let said = |error: &Value| error["message"].as_str().unwrap().to_owned();
    let bench = at_forge(&github, &["forge.test"]).telling("SHOP_TOKEN", token);
    let mut session = stacked(&bench);
    submit(&mut session, json!({ "apply": true }));
    let error = session.fails("git_spice_stack_submit", json!({ "fill": true }));
    assert!(
        error["code"] == "forbidden" && said(&error).contains(&format!("{} is not allowed", github.host)),
        "{error:#}"
    );
    assert!(github.asked().is_empty(), "nobody is asked where nothing could be sent");
    drop(session);
    let own = bench.place.scratch.path().join("config/gatewright/config.toml");
    let allowed = std::fs::read_to_string(&own).unwrap();
    let allowed = allowed.replace("[\"forge.test\"]", &format!("[\"forge.test\", {:?}]", github.host));
    std::fs::write(&own, &allowed).unwrap();
    let mut session = bench.serve();
    github.kept.lock().unwrap().refuses = Some(422);
    let error = session.fails("git_spice_stack_submit", fill());
    assert!(error["code"] == "tool_execution_failed" && said(&error).contains("answered 422"), "{error:#}");
    assert!(said(&error).contains("Validation Failed") && !said(&error).contains(TOKEN), "{error:#}");
    // A repository that has moved: a redirect is not followed, and nothing was opened by it.
    github.kept.lock().unwrap().refuses = Some(307);
    let error = session.fails("git_spice_stack_submit", fill());
    assert!(
        said(&error).contains("answered 307") && error["suggestions"].to_string().contains("set-url"),
        "{error:#}"
    );
    github.kept.lock().unwrap().refuses = None;
    // What a repository says of its remote is its own word, and GitHub is asked, too.
    let (one, folder) = (id(&bench, "one"), github.kept.lock().unwrap().folder.clone());
    bench.git(&["-C", &folder, "update-ref", "refs/heads/one", "main"]);
    is(&submit(&mut session, json!({ "fill": true })), "elsewhere", "unbased");
    bench.git(&["-C", &folder, "update-ref", "refs/heads/one", &one]);
    // Somebody else pushed: what stands there is not this branch, and nothing is put onto it.
    bench.git(&["update-ref", "refs/remotes/origin/one", "main"]);
    std::fs::write(bench.place.scratch.path().join("recorder/no-push"), "").unwrap();
    let left = submit(&mut session, json!({ "fill": true }));
    is(&left, "elsewhere", "unbased");
    assert!(effects(&left).iter().all(|effect| effect.starts_with("refs: ")), "{left:#}");
    drop(session);
    // Credentials that are not accepted, and none at all.
    let bench = at_forge(&github, &["forge.test", &github.host]).telling("SHOP_TOKEN", "other".into());
    let mut session = stacked(&bench);
    submit(&mut session, json!({ "apply": true }));
    let error = session.fails("git_spice_stack_submit", fill());
    assert!(said(&error).contains("does not accept the credentials"), "{error:#}");
    let bench = at_forge(&github, &["forge.test", &github.host]);
    let mut session = stacked(&bench);
    submit(&mut session, json!({ "apply": true }));
    let error = session.fails("git_spice_stack_submit", fill());
    assert!(said(&error).contains("no pull request can be opened: there is no token"), "{error:#}");
    drop(session);
    // Which of two repositories is meant is nobody's guess.
    let bench = at_forge(&github, &["forge.test", &github.host]).telling("SHOP_TOKEN", TOKEN.into());
    let mut session = stacked(&bench);
    submit(&mut session, json!({ "apply": true }));
    bench.git(&["remote", "add", "upstream", "git@forge.test:theirs/shop.git"]);
    let none = submit(&mut session, json!({ "fill": true }));
    let why = none["result"]["pullRequests"]["none"].as_str().unwrap();
    assert!(why.contains("forge.test/acme/shop and forge.test/theirs/shop"), "{none:#}");
    drop(session);
    let bench = super::bench();
    let folder = remote(&bench);
    super::allow(&bench, &folder);
    let mut session = stacked(&bench);
    submit(&mut session, json!({ "apply": true }));
    let none = submit(&mut session, fill());
    assert_eq!(none["result"]["pullRequests"], json!({ "none": "origin is a folder, and no forge" }));
}
