//! Agents of the `OpenAI` Agents SDK, with a model that a script plays: they rehearse, and apply what they were shown.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::oauth::{Issuer, serve};
use super::remote::{Remote, request};
use super::scripts::{Peer, Scripts, ended, http, nobody_left, node, stdio, top};
use super::{Place, exists};

/// A model that rehearses, applies exactly what it was shown, and says how that went.
fn rehearse_and_apply() -> Value {
    let arguments = json!({ "source": "tokens", "platforms": ["css"] });
    let mut apply = arguments.clone();
    apply["apply"] = json!(true);
    apply["plan"] = json!("{{plan.id}}");
    json!([
        { "call": { "name": "tokens_build", "arguments": arguments } },
        { "call": { "name": "tokens_build", "arguments": apply } },
        { "text": "{{status}}: {{message}}" },
    ])
}

fn run(node: &Scripts, place: &Place, script: &Value, more: &[&str], server: &[String]) -> Value {
    let script = script.to_string();
    let mut args = vec![script.as_str()];
    args.extend_from_slice(more);
    args.extend(server.iter().map(String::as_str));
    node.run(place, "agents.mjs", &args)
}

fn output(answer: &Value, turn: usize) -> Value {
    let text = answer["requests"][turn]["output"].as_str().unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {answer}"))
}

/// What was rehearsed was applied: on disk, and in the record.
fn applied(place: &Place, answer: &Value) {
    let (rehearsed, done) = (output(answer, 1), output(answer, 2));
    let plan = rehearsed["plan"]["id"].as_str().unwrap();
    assert_eq!((&rehearsed["status"], &done["status"]), (&json!("proposed"), &json!("completed")));
    assert_eq!(done["plan"]["id"], plan, "exactly what was shown");
    let css = place.root().join(done["artifacts"][0]["path"].as_str().unwrap());
    assert!(std::fs::read_to_string(&css).unwrap().contains("--space-s: 4px;"));
    let mut records = place.json(&["audit", "tail", "--output", "json"]);
    let records = records.as_array_mut().unwrap();
    records.sort_by_key(|record| record["seq"].as_u64());
    let seen: Vec<_> = records.iter().map(|r| (&r["toolName"], &r["executionMode"])).collect();
    let (tool, dry, apply) = (json!("tokens_build"), json!("dry-run"), json!("apply"));
    assert_eq!(seen, [(&tool, &dry), (&tool, &apply)]);
    let [rehearsal, change] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((&rehearsal["planId"], &change["planId"]), (&json!(plan), &json!(plan)));
    assert_eq!(change["artifacts"].as_array().unwrap().len(), 2, "{change}");
    assert_eq!(change["id"], done["metadata"]["transcript"]);
    place.ok(&["audit", "verify"]);
    place.ok(&["undo", "last"]);
    assert!(!exists(&css));
}

#[test]
fn an_agent_applies_the_plan_that_it_was_shown() {
    let Some(node) = node() else { return };
    for over in ["stdio", "http"] {
        for more in [&[][..], &["--structured"]] {
            let place = Place::new();
            let remote = (over == "http").then(|| Remote::start(&place));
            let server = remote.as_ref().map_or_else(|| stdio(&place), |remote| http(remote, None));
            let answer = run(&node, &place, &rehearse_and_apply(), more, &server);
            let says = answer["final"].as_str().unwrap_or_else(|| panic!("{answer}"));
            assert!(
                says.starts_with("completed: **1 token**, 1 mode in 1 file"),
                "{over} {more:?}: {answer}"
            );
            assert_eq!((&answer["protocol"], &answer["warnings"]), (&json!("2026-07-28"), &json!([])));
            assert_eq!(answer["server"]["name"], "gatewright");
            assert_eq!(answer["requests"].as_array().unwrap().len(), 3);
            let tools = json!(super::MENU);
            assert_eq!(
                (&answer["requests"][0]["tools"], &answer["requests"][0]["strict"]),
                (&tools, &json!([]))
            );
            if let Some(remote) = remote {
                remote.finish();
            }
            nobody_left(&place);
            applied(&place, &answer);
        }
    }
}

#[test]
fn an_agent_is_told_what_was_wrong_and_how_to_go_on() {
    let Some(node) = node() else { return };
    let place = Place::new();
    let script = json!([
        { "call": { "name": "tokens_build", "arguments": { "source": "tokens" } } },
        { "call": { "name": "tools_search", "arguments": { "query": "css from design tokens" } } },
        { "call": { "name": "tool_call", "arguments":
            { "tool": "tokens_build", "arguments": { "source": "tokens", "platforms": ["css"] } } } },
        { "text": "{{status}}" },
    ]);
    let answer = run(&node, &place, &script, &[], &stdio(&place));
    let error = &output(&answer, 1)["error"];
    assert_eq!((&error["code"], &error["type"]), (&json!("invalid_argument"), &json!("user")), "{answer}");
    assert!(error["suggestions"][0].as_str().unwrap().contains("input schema"), "{answer}");
    let found = &output(&answer, 2)["tools"][0];
    assert_eq!((&found["name"], &found["inputSchema"]["type"]), (&json!("tokens_build"), &json!("object")));
    assert_eq!((&answer["final"], &answer["warnings"]), (&json!("proposed"), &json!([])), "{answer}");
    assert!(!exists(&place.root().join("artifacts")));
    nobody_left(&place);
}

#[test]
fn over_http_a_token_decides_what_an_agent_may() {
    let (Some(node), Some(issuer)) = (node(), Issuer::start("RS256")) else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let mut script = rehearse_and_apply();
    script[2] = json!({ "text": "{{output}}" });
    let with = |token: Option<&str>| run(&node, &place, &script, &[], &http(&remote, token));
    for refused in [with(None), with(Some(&issuer.mint("expired", "alice", &["design:apply"])))] {
        let error = &refused["error"];
        assert_eq!(
            (&error["status"], &error["code"]),
            (&json!(401), &json!("CLIENT_HTTP_AUTHENTICATION")),
            "{refused}"
        );
    }
    // The SDK keeps a refusal by status from its model; that nothing happened is what counts.
    let answer = with(Some(&issuer.mint("good", "alice", &["design:read"])));
    assert_eq!(output(&answer, 1)["status"], "proposed", "{answer}");
    assert!(answer["final"].as_str().unwrap().contains("error"), "{answer}");
    assert!(!exists(&place.root().join("artifacts")));
    let answer = with(Some(&issuer.mint("good", "alice", &["design:apply"])));
    assert_eq!(output(&answer, 2)["status"], "completed", "{answer}");
    assert_eq!(answer["warnings"], json!([]));
    let css = place.root().join(output(&answer, 2)["artifacts"][0]["path"].as_str().unwrap());
    assert!(std::fs::read_to_string(css).unwrap().contains("--space-s: 4px;"));
    remote.finish();
    let records = place.json(&["audit", "tail", "--output", "json"]);
    let who = format!("token:alice@{}", issuer.text("issuer"));
    assert!(records.as_array().unwrap().iter().all(|record| record["principal"] == who), "{records}");
}

/// Runs the example as its README says, with the model on loopback; gives how it ended, and what the model was sent.
fn example(node: &Scripts, place: &Place, script: &Value) -> (Output, Value) {
    let model = Peer::start(node, &["model.mjs", &script.to_string()]);
    // The packages of the tests are the example's own: the same version, and nothing is installed twice.
    let dir = place.scratch.path().join("example");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::copy(top().join("examples/openai-agents/agent.mjs"), dir.join("agent.mjs")).unwrap();
    let packages = dir.join("node_modules");
    if !exists(&packages) {
        std::os::unix::fs::symlink(node.dir.canonicalize().unwrap().join("node_modules"), packages).unwrap();
    }
    let url = model.ready["base_url"].as_str().unwrap();
    let mut command = Command::new(&node.program);
    place
        .home(&mut command)
        .current_dir(&dir)
        .args([Path::new("agent.mjs"), &place.root()])
        .env("PATH", path())
        .env("OPENAI_BASE_URL", url)
        .env("OPENAI_API_KEY", "none")
        .env("OPENAI_AGENTS_DISABLE_TRACING", "1");
    let out = ended(&mut command);
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");
    let seen = request(address, "GET", "/seen", &[], "");
    (out, serde_json::from_str(&seen.body).unwrap())
}

/// What the example says when all goes well: its answer, and nothing of its own on standard error.
fn said(out: &Output) -> String {
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{errors}");
    assert!(errors.lines().all(|line| line.starts_with(" INFO gatewright::")), "{errors}");
    String::from_utf8(out.stdout.clone()).unwrap()
}

/// `PATH` with the program that is tested first.
pub(crate) fn path() -> std::ffi::OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_gatewright"));
    let before = std::env::var_os("PATH").unwrap_or_default();
    let dirs = [program.parent().unwrap().to_owned()].into_iter().chain(std::env::split_paths(&before));
    std::env::join_paths(dirs).unwrap()
}

#[test]
fn the_example_rehearses_applies_and_leaves_nobody_behind() {
    let Some(node) = node() else { return };
    let package = |path: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(top().join(path)).unwrap()).unwrap()
    };
    let tested = &package("xtask/npm/clients/package.json")["dependencies"]["@openai/agents"];
    assert_eq!(&package("examples/openai-agents/package.json")["dependencies"]["@openai/agents"], tested);
    let place = Place::new();
    let mut script = rehearse_and_apply();
    script.as_array_mut().unwrap().remove(1);
    script[1] = json!({ "text": "Nothing is written yet: {{status}}." });
    let (out, seen) = example(&node, &place, &script);
    assert_eq!(said(&out), "Nothing is written yet: proposed.\n");
    assert!(seen[0]["instructions"].as_str().unwrap().contains("apply it only when you were told to"));
    assert!(seen[1]["output"].as_str().unwrap().contains("--space-s: 4px"), "{seen}");
    nobody_left(&place);
    assert!(!exists(&place.root().join("artifacts")));
    let (out, _) = example(&node, &place, &rehearse_and_apply());
    assert!(said(&out).starts_with("completed: **1 token**"), "{}", said(&out));
    nobody_left(&place);
    assert!(exists(&place.root().join("artifacts")));
    // The SDK hands on `HOME` and not `XDG_STATE_HOME`: what its server keeps is there.
    assert!(exists(&place.scratch.path().join(".local/state/gatewright")));
    assert!(!exists(&place.scratch.path().join("state")));
    let undone = place.command().env_remove("XDG_STATE_HOME").args(["undo", "last"]).output().unwrap();
    assert!(undone.status.success() && !exists(&place.root().join("artifacts")));
}

#[test]
fn the_example_leaves_nobody_behind_when_its_model_fails() {
    let Some(node) = node() else { return };
    let place = Place::new();
    let mut script = rehearse_and_apply();
    script.as_array_mut().unwrap().truncate(1);
    let (out, seen) = example(&node, &place, &script);
    assert_eq!((out.status.code(), seen.as_array().unwrap().len()), (Some(1), 2), "{seen}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("the script has 1 steps"));
    nobody_left(&place);
    assert!(!exists(&place.root().join("artifacts")));
}
