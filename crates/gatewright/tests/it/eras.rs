//! Two eras of one protocol, begun in whatever way, mixed, and downgraded (H18, G1).

use serde_json::{Value, json};

use super::wire::{Wire, line, meta};
use super::{Place, exists};

fn initialize(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } })
}

fn build(meta: Option<&Value>, apply: bool) -> Value {
    let mut params = json!({ "name": "tokens_build", "arguments": { "source": "tokens", "platforms": ["css"], "apply": apply } });
    if let Some(meta) = meta {
        params["_meta"] = meta.clone();
    }
    params
}

/// Every revision that is served, oldest first; the last has no handshake.
const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// What is no revision: drafts are forecasts.
const DRAFTS: [&str; 7] =
    ["DRAFT-2026-v1", "draft", "2026-07-28-rc", "2026-08-01", "2099-01-01", "2024-10-07", "2025-11-25 "];

#[test]
fn g1_nothing_before_the_lifecycle_ends_the_process() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/made_up"}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"x"}}"#,
        "",
    ] {
        wire.send(text);
    }
    for text in ["{ not json", "[]", "{}"] {
        wire.send(text);
        assert!(wire.receive()["error"]["code"].is_i64(), "{text}");
    }
    // A probe that its client gave up on, as clients of both eras do it.
    wire.send(&line(&json!("probe"), "server/discover", &json!({ "_meta": meta("2026-07-28") })));
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"probe"}}"#);
    assert_eq!(wire.receive()["id"], "probe");
    assert_eq!(wire.request("ping", json!({}))["result"], json!({}));
    let begun = wire.request("initialize", initialize("2025-11-25"));
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    assert!(wire.request("tools/list", json!({}))["result"]["tools"].is_array());
    wire.finish();
}

#[test]
fn h18_every_older_revision_is_served_after_its_handshake_and_never_without() {
    for version in &REVISIONS[..4] {
        let place = Place::new();
        let mut wire = Wire::start(&place);
        // Naming the revision is no handshake.
        for (method, params) in [
            ("tools/call", build(Some(&meta(version)), true)),
            ("tools/list", json!({ "_meta": meta(version) })),
        ] {
            let refused = wire.request(method, params);
            assert_eq!(refused["error"]["code"], -32022, "{version}: {refused}");
            assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]), "{refused}");
        }
        assert!(!exists(&place.root().join("artifacts")));
        let begun = wire.request("initialize", initialize(version));
        assert_eq!(begun["result"]["protocolVersion"], *version, "{begun}");
        let called = wire.request("tools/call", build(None, false));
        assert_eq!(called["result"]["structuredContent"]["status"], "proposed", "{called}");
        wire.finish();
        let records = place.json(&["audit", "tail", "--output", "json"]);
        assert_eq!(records.as_array().unwrap().len(), 1, "what was refused reached no tool");
    }
}

#[test]
fn h18_drafts_and_unknown_revisions_are_not_served() {
    for version in DRAFTS {
        let place = Place::new();
        let mut wire = Wire::start(&place);
        for method in ["server/discover", "tools/list"] {
            let refused = wire.request(method, json!({ "_meta": meta(version) }));
            assert_eq!(refused["error"]["code"], -32022, "{version:?}: {refused}");
            assert_eq!(refused["error"]["data"]["supported"], json!(REVISIONS), "{refused}");
        }
        // A handshake offers what is served instead; whoever cannot speak that leaves.
        let begun = wire.request("initialize", initialize(version));
        assert_eq!(begun["result"]["protocolVersion"], "2025-11-25", "{version:?}: {begun}");
        wire.finish();
    }
}

#[test]
fn the_newer_revision_cannot_be_had_by_a_handshake() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    let begun = wire.request("initialize", initialize("2026-07-28"));
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25", "{begun}");
    let listed = wire.request("tools/list", json!({}));
    assert!(listed["result"].get("resultType").is_none(), "the session is of the older era: {listed}");
    wire.finish();
}

#[test]
fn discover_comes_before_anything_and_chooses_nothing() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    for _ in 0..2 {
        let found = wire.request("server/discover", json!({ "_meta": meta("2026-07-28") }));
        assert_eq!(found["result"]["supportedVersions"], json!(REVISIONS), "{found}");
        let skills = json!({ "directoryRead": true });
        let extensions =
            json!({ "io.modelcontextprotocol/skills": skills, "io.modelcontextprotocol/tasks": {} });
        let capabilities = json!({ "completions": {}, "extensions": extensions, "prompts": { "listChanged": true }, "resources": { "listChanged": true }, "tools": { "listChanged": true } });
        assert_eq!(found["result"]["capabilities"], capabilities, "{found}");
    }
    let bare = wire.request("server/discover", json!({}));
    assert_eq!(bare["error"]["code"], -32602, "{bare}");
    assert_eq!(
        wire.request("initialize", initialize("2025-06-18"))["result"]["protocolVersion"],
        "2025-06-18"
    );
    wire.finish();
}

#[test]
fn a_request_of_the_newer_era_in_a_session_is_answered_as_it_asks() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let modern = wire.request("tools/call", build(Some(&meta("2026-07-28")), false));
    assert_eq!(modern["result"]["resultType"], "complete", "{modern}");
    let draft = wire.request("tools/list", json!({ "_meta": meta("2027-01-01") }));
    assert_eq!(draft["error"]["code"], -32022, "{draft}");
    // The session goes on, and is not begun again as another.
    let again = wire.request("initialize", initialize("2024-11-05"));
    assert_eq!(again["error"]["code"], -32600, "{again}");
    let called = wire.request("tools/call", build(None, false));
    assert!(called["result"].get("resultType").is_none() && called["result"]["isError"] == false, "{called}");
    wire.finish();
}

#[test]
fn a_request_of_the_older_era_among_newer_ones_is_refused() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    let listed = wire.request("tools/list", json!({ "_meta": meta("2026-07-28") }));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    for (params, code) in [
        (build(None, true), -32602),
        (build(Some(&json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" })), true), -32602),
        (build(Some(&meta("2025-11-25")), true), -32022),
        (build(Some(&meta("2024-11-05")), true), -32022),
        (build(Some(&meta("2099-01-01")), true), -32022),
    ] {
        let refused = wire.request("tools/call", params);
        assert_eq!(refused["error"]["code"], code, "{refused}");
    }
    let begun = wire.request("initialize", initialize("2025-11-25"));
    assert_eq!(begun["error"]["code"], -32600, "{begun}");
    let called = wire.request("tools/call", build(Some(&meta("2026-07-28")), false));
    assert_eq!(called["result"]["structuredContent"]["status"], "proposed", "{called}");
    wire.finish();
    assert!(!exists(&place.root().join("artifacts")));
    let records = place.json(&["audit", "tail", "--output", "json"]);
    assert_eq!(records.as_array().unwrap().len(), 1, "what was refused reached no tool");
}

#[test]
fn methods_that_the_newer_era_took_away_are_not_found_on_standard_input_either() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    wire.request("tools/list", json!({ "_meta": meta("2026-07-28") }));
    for method in ["ping", "logging/setLevel", "resources/subscribe", "no/such"] {
        let refused = wire.request(method, json!({ "_meta": meta("2026-07-28") }));
        assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
    }
    wire.finish();
}

#[test]
fn g5_a_client_of_either_era_that_declares_tasks_gets_the_result_itself() {
    let place = Place::new();
    let tasks = json!({
        "tasks": { "requests": { "tools": { "call": {} } } },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    let mut older = Wire::initialized_by(&place, &tasks);
    let answer = older.request("tools/call", build(None, false));
    assert_eq!(answer["result"]["structuredContent"]["status"], "proposed", "{answer}");
    assert!(
        answer["result"].get("task").is_none() && answer["result"].get("resultType").is_none(),
        "{answer}"
    );
    older.finish();
    let mut newer = Wire::start(&place);
    let mut meta = meta("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = tasks;
    let answer = newer.request("tools/call", build(Some(&meta), false));
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    newer.finish();
}
