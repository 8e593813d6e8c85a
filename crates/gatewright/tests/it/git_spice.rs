//! git-spice, built in, through the protocol. The real program cannot be had on the machines that test this: a recorder stands for it,
//! which says its arguments and then does with the real git what the reference says. Clone, plans, undo and pushes are the real ones.

mod pulls;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::bench::{Bench, Session};
use super::trust::{fails, ok};
use super::wire::Wire;

/// A repository of two files, where git-spice is installed.
fn bench() -> Bench {
    let bench = Bench::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    bench.git(&["config", "user.name", "Test"]);
    bench.git(&["config", "user.email", "test@example.com"]);
    let folder = bench.place.scratch.path().join("recorder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("git-spice"), include_str!("git_spice/git-spice.py")).unwrap();
    std::fs::set_permissions(folder.join("git-spice"), std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.with(folder)
}

/// The bare repository that is `origin`, which has `main`; its path.
fn remote(bench: &Bench) -> String {
    let scratch = std::fs::canonicalize(bench.place.scratch.path()).unwrap();
    let url = scratch.join("origin.git").display().to_string();
    bench.git(&["init", "--quiet", "--bare", "--initial-branch=main", &url]);
    bench.git(&["remote", "add", "origin", &url]);
    bench.git(&["push", "--quiet", "origin", "main"]);
    bench.git(&["fetch", "--quiet", "origin"]);
    url
}

fn allow(bench: &Bench, url: &str) {
    bench.place.configure(&format!("[egress]\nhosts = [{url:?}]\n"));
}

fn id(bench: &Bench, what: &str) -> String {
    bench.git(&["rev-parse", what]).trim().to_owned()
}

fn refs(bench: &Bench) -> String {
    bench.git(&["for-each-ref", "--format=%(refname) %(objectname)"])
}

/// HEAD, what is staged, and the work tree.
fn own(bench: &Bench) -> String {
    bench.git(&["symbolic-ref", "HEAD"])
        + &bench.git(&["status", "--porcelain"])
        + &bench.git(&["diff", "--cached"])
}

/// The argument list that a call made.
fn argv(answer: &Value) -> Value {
    let result = &answer["result"];
    match result["values"].get(0) {
        Some(value) => value["argv"].clone(),
        None => {
            let first = result["text"].as_str().unwrap().lines().next().unwrap();
            serde_json::from_str::<Value>(first).unwrap()["argv"].clone()
        }
    }
}

fn effects(answer: &Value) -> Vec<&str> {
    answer["plan"]["effects"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn without_git_spice_its_tools_are_on_no_list_and_say_what_is_missing_until_it_is_there() {
    let bench = bench();
    let recorder = bench.place.scratch.path().join("recorder");
    let away = bench.place.scratch.path().join("away");
    std::fs::rename(recorder.join("git-spice"), &away).unwrap();
    let mut session = bench.serve();
    let found = session.ok("tools_search", json!({ "query": "stacked branches git-spice" }));
    let found = found["tools"].as_array().unwrap();
    assert!(found.iter().all(|tool| tool["toolset"] != "git_spice"), "{found:?}");
    let error = session.fails("git_spice_log_short", json!({}));
    let message = error["message"].as_str().unwrap();
    assert_eq!(error["code"], "tool_execution_failed", "{error}");
    assert!(message.contains("unhealthy") && message.contains("\"git-spice\" is not installed"), "{message}");
    let error = session.fails("git_spice_log_short", json!({ "all": 1 }));
    assert_eq!(error["code"], "invalid_argument", "{error}");
    // It is installed while the server runs.
    std::fs::rename(&away, recorder.join("git-spice")).unwrap();
    assert_eq!(session.ok("git_spice_log_short", json!({}))["success"], true);
    drop(session);
    std::fs::rename(recorder.join("git-spice"), &away).unwrap();
    // Those of its toolset alone are still a server that says why.
    let mut only = bench.command();
    let wire = Wire::greeted(only.args(["serve", "--toolsets", "git_spice"]), &json!({}));
    let error = Session(wire).fails("git_spice_repo_sync", json!({}));
    assert_eq!(error["code"], "tool_execution_failed", "{error}");
    let none = bench.command().args(["serve", "--toolsets", "git_spice", "--read-only"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2), "none of them only looks");
    assert!(String::from_utf8_lossy(&none.stderr).contains("no tool is left to offer"));
    let listed = ok(&bench, &["tools"]);
    assert!(listed.contains("git_spice_log_short") && listed.contains("git_spice_repo_sync"), "{listed}");
    let plugins = ok(&bench, &["plugin", "list"]);
    assert!(plugins.contains("git-spice") && plugins.contains("is not installed"), "{plugins}");
}

#[test]
fn the_six_tools_of_git_spice_make_exactly_these_argument_lists() {
    let bench = bench();
    remote(&bench);
    allow(&bench, bench.git(&["remote", "get-url", "origin"]).trim());
    let longest = format!("{}/{}", "n".repeat(54), "n".repeat(195));
    for branch in ["other", &longest] {
        bench.git(&["branch", branch]);
    }
    bench.git(&["push", "--quiet", "origin", "other"]);
    let mut session = bench.serve();
    let create = ["branch", "create", "--no-prompt"];
    let cases: Vec<(&str, Value, Vec<&str>)> = vec![
        ("branch_create", json!({ "name": "a" }), [&create[..], &["--no-commit", "--", "a"]].concat()),
        (
            "branch_create",
            json!({ "name": "a", "base": "main" }),
            [&create[..], &["--target=main", "--no-commit", "--", "a"]].concat(),
        ),
        (
            "branch_create",
            json!({ "name": "x/y", "message": "feat(api): a (b) \"c\" $(id); `d` && e" }),
            [&create[..], &["--message=feat(api): a (b) \"c\" $(id); `d` && e", "--", "x/y"]].concat(),
        ),
        (
            "branch_create",
            json!({ "name": "a", "message": "one\n\ntwo" }),
            [&create[..], &["--message=one\n\ntwo", "--", "a"]].concat(),
        ),
        (
            "branch_create",
            json!({ "name": "a", "message": "--amend" }),
            [&create[..], &["--message=--amend", "--", "a"]].concat(),
        ),
        ("stack_submit", json!({}), vec!["stack", "submit", "--no-prompt"]),
        (
            "stack_submit",
            json!({ "fill": true, "draft": true }),
            vec!["stack", "submit", "--no-prompt", "--fill", "--draft"],
        ),
        (
            "stack_submit",
            json!({ "fill": false, "draft": false }),
            vec!["stack", "submit", "--no-prompt", "--no-draft"],
        ),
        ("stack_restack", json!({}), vec!["stack", "restack", "--no-prompt"]),
        ("log_short", json!({}), vec!["log", "short", "--no-prompt", "--json", "--no-cr-status"]),
        ("repo_sync", json!({}), vec!["repo", "sync", "--no-prompt"]),
        (
            "branch_checkout",
            json!({ "name": longest }),
            vec!["branch", "checkout", "--no-prompt", "--", &longest],
        ),
    ];
    for (tool, given, want) in cases {
        let answer = session.ok(&format!("git_spice_{tool}"), given.clone());
        assert_eq!(argv(&answer), json!(want), "{tool} {given}: {answer}");
    }
    for (tool, given) in [
        ("branch_create", json!({ "name": "-x" })),
        ("branch_create", json!({ "name": "a..b" })),
        ("branch_create", json!({ "name": "a b" })),
        ("branch_checkout", json!({ "name": "n".repeat(256) })),
        ("branch_checkout", json!({})),
        ("repo_sync", json!({ "autoRestack": "all" })),
        ("stack_submit", json!({ "fill": "yes" })),
    ] {
        let error = session.fails(&format!("git_spice_{tool}"), given.clone());
        assert_eq!(error["code"], "invalid_argument", "{tool} {given}: {error}");
    }
    let url = bench.git(&["remote", "get-url", "origin"]);
    bench.place.configure(&format!(
        "[egress]\nhosts = [{:?}]\n[plugins.git-spice]\nautoRestack = 'aboves'\ndefaultBranch = 'other'\n",
        url.trim()
    ));
    let mut session = bench.serve();
    let answer = session.ok("git_spice_repo_sync", json!({}));
    assert_eq!(argv(&answer), json!(["repo", "sync", "--no-prompt", "--restack=aboves"]), "{answer}");
    let notes = answer["result"]["notes"].to_string();
    assert!(notes.contains("git-spice repo init --no-prompt --trunk=other"), "{notes}");
}

#[test]
fn branches_are_stacked_in_a_clone_applied_as_refs_and_taken_back() {
    let bench = bench();
    let scratch = std::fs::canonicalize(bench.place.scratch.path()).unwrap();
    // What a repository may say of programs: none of it is heard.
    let mark = scratch.join("mark");
    let hooks = bench.path(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-checkout", "pre-commit", "reference-transaction", "post-commit"] {
        std::fs::write(hooks.join(hook), format!("#!/bin/sh\ntouch {}\nexit 1\n", mark.display())).unwrap();
        std::fs::set_permissions(hooks.join(hook), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    bench.put("a.txt", "staged\n");
    bench.put("b.txt", "not staged\n");
    bench.git(&["add", "a.txt"]);
    bench.git(&["config", "core.fsmonitor", &format!("touch {}", mark.display())]);
    std::fs::rename(bench.path(".git/config"), bench.path(".git/config.kept")).unwrap();
    std::fs::copy(bench.path(".git/config.kept"), bench.path(".git/config")).unwrap();
    let mut session = bench.serve();
    let given = json!({ "name": "feat/one", "message": "feat: one (1) \"x\"" });
    let rehearsed = session.ok("git_spice_branch_create", given.clone());
    std::fs::remove_dir_all(&hooks).unwrap();
    bench.git(&["config", "--unset", "core.fsmonitor"]);
    let (before, standing) = (refs(&bench), own(&bench));
    assert_eq!(rehearsed["status"], "proposed", "{rehearsed}");
    assert_eq!(effects(&rehearsed), ["refs: create feat/one, create refs/spice/data"]);
    assert_eq!(rehearsed["result"]["branch"], "feat/one");
    let diff = rehearsed["plan"]["diff"].as_str().unwrap();
    assert!(
        diff.contains("feat: one (1) \"x\"") && diff.contains("  a.txt") && !diff.contains("b.txt"),
        "{diff}"
    );
    let notes = rehearsed["result"]["notes"].to_string();
    assert!(notes.contains("repo init") && notes.contains("git switch feat/one"), "{notes}");
    assert!(!before.contains("feat/one"), "a rehearsal moves nothing");
    let plan = rehearsed["plan"]["id"].clone();
    let applied = session.ok(
        "git_spice_branch_create",
        json!({ "plan": plan, "apply": true, "name": "feat/one", "message": "feat: one (1) \"x\"" }),
    );
    assert_eq!(applied["status"], "completed", "{applied}");
    assert_eq!(own(&bench), standing, "HEAD, what is staged and the work tree are the user's");
    assert_eq!(bench.git(&["log", "-1", "--format=%B%an", "feat/one"]).trim(), "feat: one (1) \"x\"\nTest");
    assert_eq!(bench.git(&["show", "feat/one:a.txt"]), "staged\n");
    assert_eq!(id(&bench, "feat/one^"), id(&bench, "main"));
    assert!(refs(&bench).contains("refs/spice/data "));
    bench.git(&["fsck", "--strict"]);
    // It stands there now, and the user does not.
    bench.git(&["reset", "--quiet", "--hard"]);
    let log = session.ok("git_spice_log_short", json!({}));
    assert_eq!(
        log["result"]["values"][2],
        json!({ "name": "feat/one", "current": true, "down": { "name": "main", "needsRestack": false } })
    );
    assert!(log.get("plan").is_none() && log["result"]["branch"] == "feat/one", "{log}");
    let second = session
        .ok("git_spice_branch_create", json!({ "name": "feat/two", "message": "feat: two", "apply": true }));
    assert_eq!(id(&bench, "feat/two^"), id(&bench, "feat/one"), "{second}");
    let standing = own(&bench);
    // Going back, by name; nothing of the repository moves.
    let gone = session.ok("git_spice_branch_checkout", json!({ "name": "feat/one" }));
    assert_eq!((effects(&gone).len(), &gone["result"]["branch"]), (0, &json!("feat/one")), "{gone}");
    let back = session.ok("git_spice_branch_checkout", json!({ "name": "main" }));
    assert_eq!(back["result"]["branch"], "main");
    assert_eq!(own(&bench), standing);
    // What cannot be done is said in its words, with nothing changed.
    let before = refs(&bench);
    for (tool, given, why) in [
        (
            "git_spice_branch_create",
            json!({ "name": "feat/one", "apply": true }),
            "branch already exists: feat/one",
        ),
        ("git_spice_branch_create", json!({ "name": "c", "base": "nowhere" }), "branch not tracked: nowhere"),
        ("git_spice_branch_checkout", json!({ "name": "nowhere" }), "does not exist"),
    ] {
        let error = session.fails(tool, given);
        assert_eq!(error["code"], "tool_execution_failed", "{error}");
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
    }
    assert_eq!(refs(&bench), before);
    // Taken back: the newest first.
    let undone = ok(&bench, &["undo", "last"]);
    assert!(undone.contains("delete feat/two"), "{undone}");
    assert!(!refs(&bench).contains("feat/two") && refs(&bench).contains("feat/one"));
    bench.git(&["update-ref", "refs/heads/feat/one", "main"]);
    let transcript = applied["metadata"]["transcript"].as_str().unwrap();
    let refused = fails(&bench, &["undo", transcript]);
    assert!(
        refused.contains("refs/heads/feat/one is at") || refused.contains("refs/spice/data is at"),
        "{refused}"
    );
    assert!(!mark.exists(), "no hook and no monitor of the repository ran");
    ok(&bench, &["audit", "verify"]);
}

#[test]
fn a_stack_is_rebased_but_never_under_the_users_work_tree() {
    let bench = bench();
    let mut session = bench.serve();
    for name in ["one", "two"] {
        bench.put(&format!("{name}.txt"), name);
        bench.git(&["add", "--all"]);
        session.ok("git_spice_branch_create", json!({ "name": name, "message": name, "apply": true }));
        bench.git(&["reset", "--quiet", "--hard"]);
    }
    bench.put("later.txt", "later\n");
    bench.commit("later");
    let log = session.ok("git_spice_log_short", json!({}));
    assert_eq!(log["result"]["values"][2]["down"], json!({ "name": "main", "needsRestack": true }), "{log}");
    // The user works on one of them.
    bench.git(&["switch", "--quiet", "one"]);
    let standing = (own(&bench), refs(&bench));
    let shown = session.ok("git_spice_stack_restack", json!({}));
    assert_eq!(shown["success"], true);
    let error = session.fails("git_spice_stack_restack", json!({ "apply": true }));
    assert!(
        error["message"].as_str().unwrap().contains("refs/heads/one: it is checked out")
            && error["message"].as_str().unwrap().contains("git switch"),
        "{error}"
    );
    assert_eq!((own(&bench), refs(&bench)), standing);
    bench.git(&["switch", "--quiet", "main"]);
    let restacked = session.ok("git_spice_stack_restack", json!({ "apply": true }));
    assert_eq!(effects(&restacked), ["refs: move one, move two, move refs/spice/data"]);
    assert_eq!((id(&bench, "one^"), id(&bench, "two^")), (id(&bench, "main"), id(&bench, "one")));
    assert_eq!(bench.git(&["ls-tree", "--name-only", "two"]), "a.txt\nb.txt\nlater.txt\none.txt\ntwo.txt\n");
    assert_eq!(bench.dirt(), "");
    // A rebase of the user's that is not over.
    std::fs::create_dir(bench.path(".git/rebase-merge")).unwrap();
    let error = session.fails("git_spice_log_short", json!({}));
    assert_eq!(error["code"], "conflict", "{error}");
}

/// A stack of two on `main`, in a server that may reach the remote.
fn stacked(bench: &Bench) -> Session {
    let mut session = bench.serve();
    for name in ["one", "two"] {
        bench.put(&format!("{name}.txt"), name);
        bench.git(&["add", "--all"]);
        session.ok("git_spice_branch_create", json!({ "name": name, "message": name, "apply": true }));
        bench.git(&["reset", "--quiet", "--hard"]);
    }
    session
}

#[test]
fn a_stack_is_pushed_in_one_request_with_leases_where_the_user_allows_the_remote() {
    let bench = bench();
    let url = remote(&bench);
    let there = || bench.git(&["ls-remote", "--heads", &url]);
    let before = there();
    let mut session = stacked(&bench);
    let shown = session.ok("git_spice_stack_submit", json!({}));
    let [refs, push] = effects(&shown)[..] else { panic!("{shown}") };
    assert_eq!(refs, "refs: move refs/spice/data");
    assert!(push.starts_with("push to origin (") && push.ends_with("): create one, create two"), "{push}");
    let error = session.fails("git_spice_stack_submit", json!({ "apply": true }));
    assert!(error["message"].as_str().unwrap().contains("not sent: no connections are allowed"), "{error}");
    assert_eq!(there(), before);
    drop(session);
    allow(&bench, &url);
    let mut session = bench.serve();
    let pushed = session.ok("git_spice_stack_submit", json!({ "apply": true }));
    assert_eq!(pushed["status"], "completed", "{pushed}");
    let (one, two) = (id(&bench, "one"), id(&bench, "two"));
    for (name, id) in [("one", &one), ("two", &two)] {
        assert!(there().contains(&format!("{id}\trefs/heads/{name}")), "{}", there());
    }
    assert_eq!(id(&bench, "refs/remotes/origin/two"), two);
    // Nothing is left to push.
    let again = session.ok("git_spice_stack_submit", json!({}));
    assert!(effects(&again).iter().all(|effect| !effect.starts_with("push")), "{again}");
    // The stack moves, and so does the remote, by somebody else.
    bench.put("later.txt", "later\n");
    bench.commit("later");
    session.ok("git_spice_stack_restack", json!({ "apply": true }));
    bench.git(&["-C", &url, "update-ref", "refs/heads/two", &one]);
    let moved = there();
    let error = session.fails("git_spice_stack_submit", json!({ "apply": true }));
    assert!(
        error["message"].as_str().unwrap().contains("nothing was pushed")
            && error["message"].as_str().unwrap().contains("stale info"),
        "{error}"
    );
    assert_eq!(there(), moved, "not one of them is pushed");
    bench.git(&["fetch", "--quiet", "origin"]);
    session.ok("git_spice_stack_submit", json!({ "apply": true }));
    assert!(there().contains(&format!("{}\trefs/heads/two", id(&bench, "two"))));
    ok(&bench, &["audit", "verify"]);
}

#[test]
fn a_sync_fetches_through_the_users_git_and_deletes_what_was_merged() {
    let bench = bench();
    let url = remote(&bench);
    allow(&bench, &url);
    let mut session = stacked(&bench);
    session.ok("git_spice_stack_submit", json!({ "apply": true }));
    // Merged on the other side, and gone on with.
    let elsewhere = bench.place.scratch.path().join("elsewhere").display().to_string();
    bench.git(&["clone", "--quiet", &url, &elsewhere]);
    bench.git(&["-C", &elsewhere, "merge", "--quiet", "--no-edit", "origin/one"]);
    bench.git(&["-C", &elsewhere, "commit", "--quiet", "--allow-empty", "--message", "theirs"]);
    bench.git(&["-C", &elsewhere, "push", "--quiet", "origin", "main"]);
    let theirs = bench.git(&["-C", &elsewhere, "rev-parse", "main"]).trim().to_owned();
    let before = refs(&bench);
    let error = session.fails("git_spice_repo_sync", json!({ "apply": true }));
    assert!(error["message"].as_str().unwrap().contains("refs/heads/main: it is checked out"), "{error}");
    assert_eq!(refs(&bench), before);
    bench.git(&["switch", "--quiet", "--detach"]);
    let shown = session.ok("git_spice_repo_sync", json!({}));
    assert_eq!(effects(&shown), ["refs: move main, delete one, move refs/spice/data"], "{shown}");
    assert!(shown["result"]["notes"].to_string().contains("What origin has now was fetched."), "{shown}");
    assert_eq!(refs(&bench), before);
    let synced = session.ok("git_spice_repo_sync", json!({ "plan": shown["plan"]["id"], "apply": true }));
    assert_eq!(id(&bench, "main"), theirs, "{synced}");
    assert_eq!(bench.git(&["branch", "--list", "one"]), "");
    bench.git(&["fsck", "--strict"]);
    ok(&bench, &["undo", "last"]);
    assert_eq!(refs(&bench), before);
    drop(session);
    // Without the user's word nothing is connected to.
    bench.place.configure("");
    let error = bench.serve().fails("git_spice_repo_sync", json!({}));
    assert!(error["code"] == "forbidden" && error["suggestions"].to_string().contains("[egress]"), "{error}");
}

#[test]
fn without_the_program_its_tools_are_on_no_list_and_say_why() {
    let bench = Bench::new(&[("a.txt", "a\n")]);
    let mut session = bench.serve();
    let listed = session.0.request("tools/list", json!({})).to_string();
    assert!(!listed.contains("git_spice"), "it is not installed here");
    let error = session.fails("git_spice_log_short", json!({}));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("git-spice is unhealthy") && message.contains("git-spice"), "{error}");
    let rows: Value = serde_json::from_str(&ok(&bench, &["plugin", "list", "--output", "json"])).unwrap();
    assert_eq!(
        (&rows[0]["name"], &rows[0]["origin"], &rows[0]["state"]),
        (&json!("git-spice"), &json!("built-in"), &json!("unhealthy"))
    );
    bench.place.configure("[plugins]\ndisabled = ['git-spice']\n");
    let rows: Value = serde_json::from_str(&ok(&bench, &["plugin", "list", "--output", "json"])).unwrap();
    assert_eq!(rows[0]["state"], "disabled");
    let installed = self::bench();
    let rows: Value = serde_json::from_str(&ok(&installed, &["plugin", "list", "--output", "json"])).unwrap();
    assert_eq!(rows[0]["state"], "ready", "nobody has to approve what is a part of this program");
    let mut session = installed.serve();
    let listed = session.0.request("tools/list", json!({})).to_string();
    assert!(listed.contains("git_spice_branch_create"), "{}", &listed[..500]);
}
