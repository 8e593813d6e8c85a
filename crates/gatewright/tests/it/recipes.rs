//! The vectors of an MCP server's recipe, and its edge cases, each by its id. Those of authorization are in `oauth`, of
//! transports in `http`, of a tool that lies in the engine's own tests.

use kit::schema::Compiled;
use serde_json::{Value, json};

use super::wire::{Wire, line};
use super::{Place, exists};

fn tools(wire: &mut Wire) -> Vec<Value> {
    wire.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

/// What a call that is a tool's error says.
fn error(answer: &Value) -> Value {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer["result"].get("structuredContent").is_none(), "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    serde_json::from_str::<Value>(text).unwrap()["error"].clone()
}

#[test]
fn recipe_001_a_revision_is_agreed_on_and_tools_are_declared_and_listed() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let begun = wire.request("initialize", params);
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    assert!(begun["result"]["capabilities"]["tools"].is_object(), "{begun}");
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let tools = tools(&mut wire);
    assert!(!tools.is_empty());
    for tool in &tools {
        assert!(tool["name"].as_str().is_some_and(|n| !n.is_empty()), "{tool}");
        assert!(tool["description"].as_str().is_some_and(|d| d.len() > 40), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        let hints = tool["annotations"].as_object().unwrap();
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{tool}");
        }
    }
    wire.finish();
}

#[test]
fn recipe_004_what_a_tool_answers_fits_the_schema_that_it_declares_and_stands_in_a_text_as_well() {
    let place = Place::new();
    std::fs::write(place.root().join("page.html"), "<title>t</title><p style='gap: 4px'><img src=x>")
        .unwrap();
    std::fs::write(place.root().join("package.json"), r#"{ "name": "x", "version": "1.0.0" }"#).unwrap();
    place.commit();
    let mut wire = Wire::greeted(place.command().args(["serve", "--toolsets", "design"]), &json!({}));
    let build = json!({ "source": "tokens", "platforms": ["css", "js", "scss"] });
    let mut applied = build.clone();
    applied["apply"] = json!(true);
    let calls = [
        ("tokens_build", build.clone()),
        ("tokens_build", applied),
        ("tokens_diff", json!({ "source": "tokens" })),
        ("tokens_lint", json!({ "source": "tokens", "rules": { "missing-description": "error" } })),
        ("tokens_usage", json!({ "source": "tokens" })),
        ("a11y_scan", json!({ "url": "root:page.html", "mode": "static" })),
        ("visual_diff", json!({ "url": "root:page.html" })),
        ("release_pack_verify", json!({ "version": "1.0.0" })),
        ("review_kit_create", json!({ "featureName": "x", "ticketId": "A-1" })),
        ("tools_search", json!({ "query": "design tokens" })),
        ("tool_read", json!({ "tool": "tools_search", "arguments": { "query": "css" } })),
        ("tool_call", json!({ "tool": "tokens_build", "arguments": build })),
    ];
    let listed = tools(&mut wire);
    for tool in &listed {
        let schema = Compiled::new(&tool["outputSchema"]).unwrap();
        let name = tool["name"].as_str().unwrap();
        if name == "visual_diff"
            && !std::path::Path::new("/usr/lib/chromium/chromium-headless-shell").exists()
        {
            super::skip("what visual_diff answers (chromium-headless-shell is not installed)");
            continue;
        }
        let mut called = 0;
        for (_, arguments) in calls.iter().filter(|(n, _)| *n == name) {
            let answer = wire.request("tools/call", json!({ "name": name, "arguments": arguments }));
            let content = &answer["result"]["structuredContent"];
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            assert_eq!(schema.errors(content, 8), Vec::<String>::new(), "{name}: {content}");
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), content);
            called += 1;
        }
        assert!(called > 0, "{name} is on the menu and was not called");
    }
    wire.finish();
}

#[test]
fn recipe_006_on_standard_input_nothing_listens() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    wire.call(json!({ "source": "tokens", "platforms": ["css"] }));
    let sockets = |pid: u32| -> Vec<String> {
        let all = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        let links = all.filter_map(|e| std::fs::read_link(e.unwrap().path()).ok());
        let named = links.map(|l| l.display().to_string());
        named.filter_map(|l| Some(l.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect()
    };
    let has_network = |inodes: &[String]| {
        ["tcp", "tcp6", "udp", "udp6"].iter().any(|table| {
            let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
            text.lines().any(|l| l.split_whitespace().nth(9).is_some_and(|i| inodes.iter().any(|o| o == i)))
        })
    };
    assert!(!has_network(&sockets(wire.child.id())));
    wire.finish();
    // The same look sees the listener of a server over HTTP.
    let remote = super::remote::Remote::start(&place);
    assert!(has_network(&sockets(remote.child.id())));
    remote.finish();
}

#[test]
fn recipe_013_arguments_that_do_not_fit_reach_no_tool() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let mut calls = 0;
    for tool in tools(&mut wire) {
        let name = tool["name"].as_str().unwrap();
        for (property, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let wrong = match schema["type"].as_str() {
                Some("object") | None => json!(5),
                Some(_) => json!({ "not": "that" }),
            };
            let arguments = json!({ property: wrong, "apply": true });
            let answer = wire.request("tools/call", json!({ "name": name, "arguments": arguments }));
            assert_eq!(error(&answer)["code"], "invalid_argument", "{name}.{property}: {answer}");
            calls += 1;
        }
        let required = tool["inputSchema"]["required"].as_array().map_or(0, Vec::len);
        if required > 0 {
            let answer = wire.request("tools/call", json!({ "name": name, "arguments": {} }));
            assert_eq!(error(&answer)["code"], "invalid_argument", "{name}: {answer}");
            calls += 1;
        }
    }
    assert!(calls > 10);
    wire.finish();
    assert!(!exists(&place.root().join("artifacts")));
    let records = place.json(&["audit", "tail", "-n", "1000", "--output", "json"]);
    assert_eq!(records.as_array().unwrap().len(), calls, "each refusal is on record");
}

#[test]
fn a_server_without_tools_does_not_start() {
    let place = Place::new();
    let (code, message) = place.fails(&["serve", "--toolsets", "lint", "--read-only"]);
    assert!(code == 2 && message.contains("no tool is left to offer"), "{message}");
}

#[test]
fn what_is_not_declared_is_not_served_and_what_is_declared_is() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    // `initialized` checks what is declared; here that it is served, and nothing else.
    assert!(!tools(&mut wire).is_empty());
    for (method, field) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert!(wire.request(method, json!({}))["result"][field].is_array(), "{method}");
    }
    for method in
        ["resources/subscribe", "resources/unsubscribe", "logging/setLevel", "tasks/list", "tasks/get"]
    {
        assert_eq!(wire.request(method, json!({}))["error"]["code"], -32601, "{method}");
    }
    wire.finish();
}

#[test]
fn a_handle_that_is_unknown_is_a_tools_error_that_says_how_to_get_another() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let made_up = format!("plan_{}", "0".repeat(64));
    let arguments = json!({ "source": "tokens", "platforms": ["css"], "apply": true, "plan": made_up });
    let answer = wire.request("tools/call", json!({ "name": "tokens_build", "arguments": arguments }));
    let error = error(&answer);
    assert_eq!(error["code"], "not_found", "{error}");
    assert!(!error["suggestions"].as_array().unwrap().is_empty(), "{error}");
    // And the session goes on.
    wire.send(&line(&json!("after"), "ping", &json!({})));
    assert_eq!(wire.receive()["id"], "after");
    wire.finish();
    assert!(!exists(&place.root().join("artifacts")));
}
