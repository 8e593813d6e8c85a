//! The protocol over standard input and output: what a client does with it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::wire::Wire;
use super::{Place, exists};

#[test]
fn dry_run_plan_apply_and_undo_over_stdio() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let tools = wire.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "tokens_build").unwrap();
    assert_eq!(
        (&tool["name"], &tool["annotations"]["readOnlyHint"]),
        (&json!("tokens_build"), &json!(false))
    );
    assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true);
    let arguments = json!({ "source": "tokens", "platforms": ["css"] });
    let rehearsed = wire.call(arguments.clone());
    let content = &rehearsed["structuredContent"];
    assert_eq!((&content["status"], &rehearsed["isError"]), (&json!("proposed"), &json!(false)));
    let text: Value = serde_json::from_str(rehearsed["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, content, "one text block holds the same");
    assert!(!exists(&place.root().join("artifacts")));
    let mut apply = arguments;
    apply["apply"] = json!(true);
    apply["plan"] = content["plan"]["id"].clone();
    let applied = wire.call(apply);
    assert_eq!(applied["structuredContent"]["status"], "completed");
    let anchor = &applied["_meta"]["gatewright/anchor"];
    assert!(anchor["root"].as_str().is_some_and(|r| r.len() == 64));
    wire.finish();
    let anchored = format!("{}:{}", anchor["seq"], anchor["root"].as_str().unwrap());
    assert!(place.ok(&["audit", "verify", "--anchor", &anchored]).starts_with("verified"));
    place.ok(&["undo", "last"]);
    assert!(!exists(&place.root().join("artifacts")));
}

#[test]
fn faults_are_tool_errors_with_text_alone_and_unknown_tools_are_protocol_errors() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let failed = wire.call(json!({ "source": "/etc/passwd", "platforms": ["css"] }));
    assert_eq!((&failed["isError"], failed.get("structuredContent")), (&json!(true), None));
    let error: Value = serde_json::from_str(failed["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&error["success"], &error["error"]["type"]), (&json!(false), &json!("policy")));
    assert_eq!(error["error"]["code"], "path_not_allowed");
    assert!(error["metadata"]["transcript"].is_string());
    let misspelt = wire.call(json!({ "source": "tokens", "platform": ["css"] }));
    let error: Value = serde_json::from_str(misspelt["content"][0]["text"].as_str().unwrap()).unwrap();
    let first = &error["error"]["suggestions"][0];
    assert_eq!(first, "Did you mean `platforms` where it says `platform`?", "{error}");
    let invalid = wire.call(json!({ "source": "tokens" }));
    let error: Value = serde_json::from_str(invalid["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "invalid_argument");
    let unknown = wire.request("tools/call", json!({ "name": "tokens_bild", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602);
    let aliased = wire.request(
        "tools/call",
        json!({ "name": "tokens.build", "arguments": { "source": "tokens", "platforms": ["js"] } }),
    );
    assert_eq!(aliased["result"]["structuredContent"]["success"], true);
    wire.finish();
    let records = place.json(&["audit", "tail", "--output", "json"]);
    assert_eq!(records.as_array().unwrap().len(), 5, "every call leaves exactly one transcript: {records}");
}

#[test]
fn g1_what_comes_before_the_lifecycle_does_not_end_the_process() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    wire.send(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    assert_eq!(wire.request("initialize", params)["result"]["protocolVersion"], "2025-06-18");
    wire.finish();
}

#[test]
fn recipe_002_a_call_before_initialisation_is_refused() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    let refused = wire.request("tools/call", json!({ "name": "tokens_build", "arguments": {} }));
    assert!(refused["error"]["code"].is_i64(), "{refused}");
    wire.finish();
}

#[test]
fn the_stateless_era_works_without_a_handshake() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discovered = wire.request("server/discover", json!({ "_meta": meta }));
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")),
        "{discovered}"
    );
    let arguments = json!({ "source": "tokens", "platforms": ["css"] });
    let called =
        wire.request("tools/call", json!({ "_meta": meta, "name": "tokens_build", "arguments": arguments }));
    assert_eq!(called["result"]["structuredContent"]["status"], "proposed", "{called}");
    wire.finish();
}

#[test]
fn m16_m18_malformed_lines_are_answered_and_the_server_goes_on() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{{"name":"tokens_build","arguments":{arguments}}}}}"#
        )
    };
    let list =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":50,"method":"tools/list","params":{params}}}"#);
    let twice = call(r#"{"source":"tokens","platforms":["css"],"apply":false,"apply":true}"#);
    for (line, code) in [
        ("{ not json", -32700),
        (twice.as_str(), -32700),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":50,"method":"tools/call"}"#, -32602),
        (&call("[]"), -32602),
        (&list(r#"{"cursor":5}"#), -32602),
        (&list("[]"), -32602),
        (&list(r#"{"cursor":"made-up"}"#), -32602),
        (r#"{"jsonrpc":"2.0","id":50,"method":"no/such"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":50,"method":"prompts/get"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":50,"method":"logging/setLevel","params":{"level":"debug"}}"#, -32601),
    ] {
        wire.send(line);
        let answer = wire.receive();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    wire.send("");
    wire.send(&"x".repeat(17 * 1024 * 1024));
    assert_eq!(wire.receive()["error"]["code"], -32600);
    assert!(!exists(&place.root().join("artifacts")), "the second `apply` did not win");
    assert!(wire.request("tools/list", json!({}))["result"]["tools"].is_array());
    wire.finish();
}

#[test]
fn progress_comes_before_the_answer_when_it_is_asked_for() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let arguments = json!({ "source": "tokens", "platforms": ["css"] });
    let params = json!({ "name": "tokens_build", "arguments": arguments, "_meta": { "progressToken": "p" } });
    wire.send(&json!({ "jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params }).to_string());
    let mut steps = Vec::new();
    loop {
        let message = wire.receive();
        if message["id"] == 99 {
            break;
        }
        assert_eq!(
            (&message["method"], &message["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("p"))
        );
        steps.push(message["params"]["progress"].as_f64().unwrap());
    }
    assert!(steps.windows(2).all(|w| w[0] < w[1]), "{steps:?}");
    wire.finish();
}

#[test]
fn a_signal_ends_the_server_cleanly() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    wire.call(json!({ "source": "tokens", "platforms": ["css"] }));
    let pid = wire.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(wire.child.wait().unwrap().success());
    assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"));
}

#[test]
fn the_menu_is_byte_identical_across_runs() {
    let place = Place::new();
    let list = || {
        let mut wire = Wire::initialized(&place);
        let tools = wire.request("tools/list", json!({}))["result"].to_string();
        wire.finish();
        tools
    };
    assert_eq!(list(), list());
}

#[test]
fn d02_a_storm_of_cancellations_and_a_disconnect_leave_a_whole_record_and_nobody_behind() {
    let place = Place::new();
    let tokens: Vec<String> =
        (0..4_000).map(|n| format!(r#""t{n}":{{"$type":"number","$value":{n}}}"#)).collect();
    std::fs::write(place.root().join("tokens/many.json"), format!("{{{}}}", tokens.join(","))).unwrap();
    let mut wire = Wire::initialized(&place);
    let arguments = json!({ "source": "tokens", "platforms": ["css", "js", "scss"], "apply": true });
    for id in 100..130 {
        let params = json!({ "name": "tokens_build", "arguments": arguments });
        wire.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string(),
        );
        if id % 3 != 0 {
            let cancel = json!({ "requestId": id, "reason": "enough" });
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
            wire.send(&note.to_string());
        }
    }
    // Gone in the middle of it.
    let (stdin, pid) = (wire.stdin.take(), wire.child.id());
    drop(stdin);
    assert!(wire.child.wait().unwrap().success());
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    assert_eq!(children, "");
    assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"), "every record that is there is whole");
    // A build lands whole or not at all.
    let mut folders = Vec::new();
    let artifacts = place.root().join("artifacts/current-state");
    for day in std::fs::read_dir(&artifacts).into_iter().flatten() {
        folders.extend(std::fs::read_dir(day.unwrap().path()).unwrap().map(|e| e.unwrap().path()));
    }
    for folder in folders {
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 5, "{}", folder.display());
    }
    let journal = place.ledger().parent().unwrap().join("journal");
    assert_eq!(std::fs::read_dir(journal).unwrap().count(), 0);
}

#[test]
fn the_front_door_finds_and_calls_over_the_protocol() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let listed = wire.request("tools/list", json!({}));
    let names: Vec<&str> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, super::MENU);
    let found = wire.request(
        "tools/call",
        json!({ "name": "tools_search", "arguments": { "query": "css from design tokens" } }),
    );
    assert_eq!(found["result"]["structuredContent"]["tools"][0]["name"], "tokens_build", "{found}");
    let inner = json!({ "source": "tokens", "platforms": ["css"] });
    let called = wire.request(
        "tools/call",
        json!({ "name": "tool_call", "arguments": { "tool": "tokens_build", "arguments": inner } }),
    );
    assert_eq!(called["result"]["structuredContent"]["status"], "proposed", "{called}");
    let refused = wire.request(
        "tools/call",
        json!({ "name": "tool_read", "arguments": { "tool": "tokens_build", "arguments": inner } }),
    );
    let error: Value =
        serde_json::from_str(refused["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "forbidden");
    let unknown = wire.request("tools/call", json!({ "name": "tokens_bild", "arguments": {} }));
    assert!(
        unknown["error"]["message"].as_str().unwrap().contains("Did you mean `tokens_build`?"),
        "{unknown}"
    );
    wire.finish();
}

#[test]
fn the_menu_fits_a_models_window() {
    let place = Place::new();
    let text = place.ok(&["tools", "--tokens"]);
    let menu = text.lines().find(|l| l.contains("on the menu")).unwrap();
    let tokens: u64 = menu.split_whitespace().next().unwrap().parse().unwrap();
    assert!(tokens <= 2_500, "{menu}");
}

#[test]
fn no_tool_grows_on_the_wire_unnoticed() {
    // Bytes of the whole object as `tools/list` sends it. Raise a pin only for what is worth its cost to every model.
    // `GATEWRIGHT_BLESS=1` writes them.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wire-sizes.json");
    let pins: BTreeMap<String, usize> =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap_or_else(|_| "{}".into())).unwrap();
    let place = Place::new();
    let mut wire = Wire::greeted(place.command().args(["serve", "--toolsets", "all"]), &json!({}));
    let tools = wire.request("tools/list", json!({}))["result"]["tools"].clone();
    let (mut grown, mut sizes) = (Vec::new(), BTreeMap::new());
    for tool in tools.as_array().unwrap() {
        let (name, size) = (tool["name"].as_str().unwrap(), tool.to_string().len());
        let pin = pins.get(name).copied().unwrap_or_default();
        sizes.insert(name.to_owned(), size);
        if size > pin {
            grown.push(format!("{name} has {size} bytes, pinned at {pin}"));
        }
    }
    if std::env::var_os("GATEWRIGHT_BLESS").is_some() {
        std::fs::write(&file, format!("{}\n", serde_json::to_string_pretty(&sizes).unwrap())).unwrap();
        return;
    }
    assert!(grown.is_empty(), "{grown:?}");
    assert!(pins.keys().all(|name| sizes.contains_key(name)), "a pin of a tool that is gone");
}
