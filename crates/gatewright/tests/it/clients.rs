//! Real clients, over both transports and in every era that each of them has.

use contract::tokens_used;
use serde_json::{Value, json};

use super::MENU;
use super::oauth::{Issuer, serve};
use super::remote::Remote;
use super::scripts::{Scripts, http, nobody_left, node, python, stdio};
use super::{Place, exists};

const OLDER: &str = "2025-11-25";
const NEWER: &str = "2026-07-28";

/// A call that works.
const GOOD: &str = r#"{"name":"tokens_build","arguments":{"source":"tokens","platforms":["css"]}}"#;

/// A call that lacks an argument.
const BAD: &str = r#"{"name":"tokens_build","arguments":{"source":"tokens"}}"#;

/// A call that needs more than the right to look.
const APPLY: &str =
    r#"{"name":"tokens_build","arguments":{"source":"tokens","platforms":["css"],"apply":true}}"#;

fn run(scripts: &Scripts, place: &Place, script: &str, first: &[&str], server: &[String]) -> Value {
    let args: Vec<&str> = first.iter().copied().chain(server.iter().map(String::as_str)).collect();
    scripts.run(place, script, &args)
}

/// Over both transports, in each era: the same answers, and nobody left behind. `check` looks at what one client has
/// besides.
fn everywhere(scripts: &Scripts, script: &str, eras: &[&str], check: impl Fn(&str, &Value)) {
    let place = Place::new();
    let remote = Remote::start(&place);
    let mut last = Value::Null;
    for server in [stdio(&place), http(&remote, None)] {
        for era in eras {
            let answer = run(scripts, &place, script, &[era, GOOD, BAD], &server);
            let what = format!("{script} {era} {}: {answer}", server[0]);
            for quiet in ["error", "errors", "warnings"] {
                let said = &answer[quiet];
                assert!(said.is_null() || said.as_array().is_some_and(Vec::is_empty), "{quiet}: {what}");
            }
            worked(&answer["ok"], &what);
            failed(&answer["bad"], &what);
            check(era, &answer);
            last = answer["bad"]["meta"]["gatewright/anchor"].clone();
        }
    }
    remote.finish();
    nobody_left(&place);
    let records = place.json(&["audit", "tail", "-n", "100", "--output", "json"]);
    assert_eq!(records.as_array().unwrap().len(), 2 * 2 * eras.len(), "{records}");
    let anchor = format!("{}:{}", last["seq"], last["root"].as_str().unwrap());
    assert!(
        place.ok(&["audit", "verify", "--anchor", &anchor]).starts_with("verified"),
        "clients are witnesses"
    );
}

/// What the one block of text says, with the estimate in it held against the rest.
fn said(outcome: &Value, what: &str) -> Value {
    let text = outcome["text"].as_array().unwrap_or_else(|| panic!("{what}"));
    assert_eq!(text.len(), 1, "{what}");
    let mut value: Value = serde_json::from_str(text[0].as_str().unwrap()).unwrap();
    let whole = value.clone();
    let metadata = value.as_object_mut().unwrap().remove("metadata").unwrap();
    assert_eq!(metadata["tokensUsed"], tokens_used(value.to_string().chars().count() as u64), "{what}");
    assert!(metadata["duration"].is_u64(), "{what}");
    assert!(metadata["transcript"].as_str().is_some_and(|id| id.len() == 36), "{what}");
    whole
}

fn worked(outcome: &Value, what: &str) {
    let got = &outcome["structured"];
    assert_eq!(outcome["isError"], false, "{what}");
    assert_eq!((&got["success"], &got["status"]), (&json!(true), &json!("proposed")), "{what}");
    assert_eq!((&got["tokenCount"], &got["modes"]), (&json!(1), &json!(["default"])), "{what}");
    assert_eq!(got["artifacts"][0]["platform"], "css", "{what}");
    assert!(got["artifacts"][0]["path"].as_str().unwrap().ends_with("/tokens.css"), "{what}");
    assert!(got["plan"]["id"].as_str().is_some_and(|id| id.len() == 5 + 64), "{what}");
    assert!(got["plan"]["diff"].as_str().unwrap().contains("--space-s: 4px"), "{what}");
    assert_eq!(&said(outcome, what), got, "the text says the same: {what}");
}

fn failed(outcome: &Value, what: &str) {
    assert_eq!((&outcome["isError"], &outcome["code"]), (&json!(true), &json!("invalid_argument")), "{what}");
    assert!(outcome["structured"].is_null(), "text alone: {what}");
    let said = said(outcome, what);
    assert_eq!((&said["success"], &said["error"]["type"]), (&json!(false), &json!("user")), "{what}");
    assert!(said["error"]["message"].as_str().unwrap().contains("\"platforms\" is a required"), "{what}");
    assert!(said["error"]["suggestions"].as_array().is_some_and(|s| !s.is_empty()), "{what}");
}

/// What a client says of the server, where it asked.
fn introduced(answer: &Value, protocol: &str) {
    introduced_with(answer, protocol, &MENU);
}

/// The same, where this is listed.
fn introduced_with(answer: &Value, protocol: &str, menu: &[&str]) {
    assert_eq!((&answer["protocol"], &answer["tools"]), (&json!(protocol), &json!(menu)), "{answer}");
    let server = json!({ "name": "gatewright", "title": "Gatewright", "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(answer["server"], server, "{answer}");
    assert!(answer["instructions"].as_str().unwrap().contains("rehearse"), "{answer}");
}

#[test]
fn the_typescript_clients_work() {
    let Some(node) = node() else { return };
    everywhere(&node, "typescript.mjs", &["legacy", "modern", "auto", "v1"], |era, answer| {
        introduced(answer, if matches!(era, "legacy" | "v1") { OLDER } else { NEWER });
    });
}

#[test]
fn the_python_client_works() {
    let Some(python) = python() else { return };
    everywhere(&python, "mcp_client.py", &["legacy", "modern", "auto"], pythonic);
}

#[test]
fn fastmcp_works_and_reads_results_by_their_schema() {
    let Some(python) = python() else { return };
    everywhere(&python, "fastmcp_client.py", &["legacy", "modern", "auto"], |era, answer| {
        pythonic(era, answer);
        assert_eq!(answer["ok"]["typed"], true, "{answer}");
    });
}

/// Told to speak the newer revision, the Python clients do so without asking who is there.
fn pythonic(era: &str, answer: &Value) {
    if era == "modern" {
        assert_eq!((&answer["protocol"], &answer["tools"]), (&json!(NEWER), &json!(MENU)), "{answer}");
        return;
    }
    introduced(answer, if era == "legacy" { OLDER } else { NEWER });
}

#[test]
fn the_strict_inspector_finds_nothing_in_any_tool() {
    let Some(node) = node() else { return };
    everywhere(&node, "inspector.mjs", &["legacy", "modern", "auto"], |era, answer| {
        let (list, ok, bad) = (&answer["list"], &answer["ok"], &answer["bad"]);
        assert_eq!((&answer["era"], &list["tools"]), (&json!(era), &json!(MENU)), "{answer}");
        assert_eq!(list["findings"], json!([]), "schemas that clients can use");
        assert_eq!((&list["exit"], &ok["exit"], &bad["exit"]), (&json!(0), &json!(0), &json!(5)), "{answer}");
        assert_eq!(bad["inspector"]["code"], "tool_is_error", "{answer}");
        // Over standard input and output the server's log is there too.
        for stderr in [&list["stderr"], &ok["stderr"]] {
            let mut lines = stderr.as_str().unwrap().lines();
            assert!(lines.all(|line| line.starts_with(" INFO gatewright::")), "{stderr}");
        }
    });
}

#[test]
fn the_strict_inspector_finds_nothing_in_tools_that_the_menu_leaves_out() {
    let Some(node) = node() else { return };
    let place = Place::new();
    let mut server = stdio(&place);
    server.extend(["--toolsets", "all"].map(str::to_owned));
    let answer = run(&node, &place, "inspector.mjs", &["modern", GOOD, BAD], &server);
    assert_eq!((&answer["list"]["exit"], &answer["list"]["findings"]), (&json!(0), &json!([])), "{answer}");
    assert!(answer["list"]["tools"].as_array().unwrap().len() >= MENU.len(), "{answer}");
    nobody_left(&place);
}

#[test]
fn over_http_a_token_decides_what_the_typescript_clients_may() {
    let (Some(node), Some(issuer)) = (node(), Issuer::start("RS256")) else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let reader = issuer.mint("good", "alice", &["design:read"]);
    let expired = issuer.mint("expired", "alice", &["design:apply"]);
    let writer = issuer.mint("good", "alice", &["design:apply"]);
    for era in ["legacy", "modern", "auto", "v1"] {
        let with = |token: Option<&str>| {
            run(&node, &place, "typescript.mjs", &[era, GOOD, APPLY], &http(&remote, token))
        };
        for refused in [with(None), with(Some(&expired))] {
            let error = &refused["error"];
            let status = if era == "v1" { &error["code"] } else { &error["status"] };
            assert_eq!(status, 401, "{era}: {refused}");
            // Those that probe say it in their own words.
            let message = error["message"].as_str().unwrap();
            let told = ["server requires authorization", "the WWW-Authenticate header says why"];
            assert!(told.iter().any(|words| message.contains(words)), "{era}: {refused}");
        }
        let answer = with(Some(&reader));
        worked(&answer["ok"], era);
        let bad = &answer["bad"];
        assert_eq!(bad["isError"], true, "{era}: {answer}");
        if era == "v1" {
            assert_eq!(bad["code"], 403, "{answer}");
        } else {
            let needs = "Insufficient scope: required \"design:apply design:read\"";
            assert_eq!((&bad["thrown"], &bad["message"]), (&json!("InsufficientScopeError"), &json!(needs)));
        }
        assert!(bad["message"].as_str().unwrap().contains("design:apply"), "{era}: {answer}");
        let protocol = if matches!(era, "legacy" | "v1") { OLDER } else { NEWER };
        introduced_with(&answer, protocol, &MENU);
    }
    assert!(!exists(&place.root().join("artifacts")));
    let answer = run(&node, &place, "typescript.mjs", &["auto", APPLY, BAD], &http(&remote, Some(&writer)));
    assert_eq!(answer["ok"]["structured"]["status"], "completed", "{answer}");
    failed(&answer["bad"], "with a token");
    assert_eq!((&answer["errors"], &answer["warnings"]), (&json!([]), &json!([])), "{answer}");
    assert!(exists(&place.root().join("artifacts")));
    remote.finish();
    let record = place.ok(&["audit", "tail", "-n", "100", "--output", "json"]);
    assert!(![reader, expired, writer].iter().any(|token| record.contains(token.as_str())));
}
