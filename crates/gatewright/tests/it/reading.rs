//! Resources, prompts and completion: a caller's own, in both eras.

use serde_json::{Value, json};

use super::remote::{Answer, Remote};
use super::wire::Wire;
use super::{Place, exists};

/// A request of the newer era.
fn ask(remote: &Remote, method: &str, name: Option<&str>, mut params: Value) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    headers.extend(name.map(|name| ("mcp-name", name)));
    remote.post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
}

fn rehearse(wire: &mut Wire) -> String {
    let arguments = json!({ "source": "tokens", "platforms": ["css"] });
    let rehearsed = wire.request("tools/call", json!({ "name": "tokens_build", "arguments": arguments }));
    rehearsed["result"]["structuredContent"]["plan"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn recipe_003_passive_context_is_a_resource_and_no_tool() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let plan = rehearse(&mut wire);
    let listed = wire.request("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert!(
        uris.contains(&format!("plan://{plan}").as_str())
            && uris.iter().any(|u| u.starts_with("transcript://"))
    );
    // What is read by its URI changes nothing, and no tool has to be called for it.
    let tools = wire.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(!name.contains("transcript") && !name.contains("plan"), "{name} would be a passive read");
    }
    wire.finish();
}

/// What is listed besides the skills that are part of the program.
fn own(wire: &mut Wire) -> Vec<Value> {
    let listed = wire.request("resources/list", json!({}))["result"]["resources"].clone();
    let mut listed = listed.as_array().unwrap().clone();
    let before = listed.len();
    listed.retain(|one| !one["uri"].as_str().unwrap().starts_with("skill://gatewright/"));
    assert_eq!(before - listed.len(), 4, "they are always there");
    listed
}

#[test]
fn plans_and_records_are_read_by_their_names() {
    let place = Place::new();
    let mut wire = Wire::initialized_by(&place, &json!({}));
    let templates = wire.request("resources/templates/list", json!({}));
    let uris: Vec<&str> = templates["result"]["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "doc://{+id}",
            "kit://{+id}",
            "pattern://{+id}",
            "plan://{id}",
            "report://{+id}",
            "run://{id}",
            "session://{id}",
            "skill://{+id}",
            "transcript://{id}"
        ]
    );
    assert_eq!(own(&mut wire), Vec::<Value>::new());
    let plan = rehearse(&mut wire);
    let listed = own(&mut wire);
    assert_eq!(listed.len(), 2, "a plan and the record of its call: {listed:?}");
    let read = |wire: &mut Wire, uri: &str| wire.request("resources/read", json!({ "uri": uri }));
    for one in &listed {
        let uri = one["uri"].as_str().unwrap();
        let contents = read(&mut wire, uri)["result"]["contents"][0].clone();
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&one["uri"], &one["mimeType"]));
        let text = contents["text"].as_str().unwrap();
        if uri.starts_with("plan://") {
            assert_eq!(uri, format!("plan://{plan}"));
            assert!(text.contains("- create artifacts/") && text.contains("```diff\n"), "{text}");
            assert!(text.contains("+  --space-s: 4px;"), "every line: {text}");
        } else {
            let record: Value = serde_json::from_str(text).unwrap();
            assert_eq!(record["toolName"], "tokens_build", "{record}");
            assert_eq!(record["planId"], json!(plan));
        }
    }
    let root = place.root().display().to_string();
    assert!(!read(&mut wire, &format!("plan://{plan}")).to_string().contains(&root), "no absolute paths");
    for unknown in [
        "plan://plan_0",
        "plan://",
        "transcript://x",
        "file:///etc/passwd",
        "nothing",
        "plan://../../../etc/passwd",
    ] {
        let refused = read(&mut wire, unknown);
        assert_eq!(refused["error"]["code"], -32002, "{unknown}: {refused}");
    }
    assert_eq!(wire.request("resources/list", json!({ "cursor": "x" }))["error"]["code"], -32602);
    assert_eq!(wire.request("resources/read", json!({}))["error"]["code"], -32602);
    drop(wire);
    // Reads are on record, too; those that found nothing as well.
    let records = place.json(&["audit", "tail", "--output", "json"]).to_string();
    assert_eq!(records.matches("\"resources/read\"").count(), 9, "{records}");
    place.ok(&["audit", "verify"]);
}

#[test]
fn long_lists_have_pages() {
    let place = Place::new();
    let mut wire = Wire::initialized_by(&place, &json!({}));
    for n in 0..57 {
        let arguments = json!({ "query": format!("q{n}") });
        wire.request("tools/call", json!({ "name": "tools_search", "arguments": arguments }));
    }
    let first = wire.request("resources/list", json!({}))["result"].clone();
    let second = wire.request("resources/list", json!({ "cursor": first["nextCursor"] }))["result"].clone();
    let uris = |page: &Value| -> Vec<String> {
        page["resources"].as_array().unwrap().iter().map(|r| r["uri"].to_string()).collect()
    };
    let mut all = [uris(&first), uris(&second)].concat();
    assert_eq!((uris(&first).len(), uris(&second).len(), second.get("nextCursor")), (50, 11, None));
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 61, "each once, and four skills");
    assert!(
        uris(&second).iter().rev().take(4).all(|uri| uri.contains("skill://")),
        "what is built in is the oldest"
    );
}

#[test]
fn a_change_is_reviewed_by_a_prompt_whose_argument_completes() {
    let place = Place::new();
    let mut wire = Wire::initialized_by(&place, &json!({}));
    let prompts = wire.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = prompts.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["hand_off", "release_check", "review_change", "review_kit", "start_of_day"]);
    assert_eq!(
        prompts[2]["arguments"][0],
        json!({ "name": "plan", "description": "The id of a rehearsed plan.", "required": true })
    );
    let plan = rehearse(&mut wire);
    let complete = |wire: &mut Wire, reference: Value, name: &str, value: &str| {
        wire.request(
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": name, "value": value } }),
        )
    };
    let prompt = json!({ "type": "ref/prompt", "name": "review_change" });
    let resource = json!({ "type": "ref/resource", "uri": "plan://{id}" });
    for (reference, name) in [(&prompt, "plan"), (&resource, "id")] {
        let found = complete(&mut wire, reference.clone(), name, "plan_")["result"]["completion"].clone();
        assert_eq!(
            (&found["values"], &found["total"], &found["hasMore"]),
            (&json!([plan]), &json!(1), &json!(false))
        );
        assert_eq!(
            complete(&mut wire, reference.clone(), name, "zz")["result"]["completion"]["values"],
            json!([])
        );
    }
    let odd = json!({ "type": "ref/prompt", "name": "no_such" });
    assert_eq!(complete(&mut wire, odd, "plan", "")["error"]["code"], -32602);
    assert_eq!(complete(&mut wire, prompt, "color", "")["error"]["code"], -32602);
    let get = |wire: &mut Wire, name: &str, arguments: Value| {
        wire.request("prompts/get", json!({ "name": name, "arguments": arguments }))
    };
    let said = get(&mut wire, "review_change", json!({ "plan": plan }))["result"]["messages"].clone();
    assert!(
        said[0]["content"]["text"].as_str().unwrap().contains(&format!("\"plan\": \"{plan}\"")),
        "{said}"
    );
    assert_eq!(said[1]["content"]["resource"]["uri"], format!("plan://{plan}"));
    assert!(said[1]["content"]["resource"]["text"].as_str().unwrap().contains("--space-s"), "{said}");
    let said = get(&mut wire, "release_check", json!({ "version": "1.4.0" }))["result"]["messages"].clone();
    assert_eq!(said.as_array().unwrap().len(), 1, "there is nothing to show yet: {said}");
    assert!(said[0]["content"]["text"].as_str().unwrap().contains("\"version\": \"1.4.0\""), "{said}");
    for (name, arguments, code) in [
        ("release_check", json!({ "package": "." }), -32602),
        ("review_kit", json!({ "kit": "none" }), -32002),
        ("review_change", json!({}), -32602),
        ("review_change", json!({ "plan": plan, "more": "x" }), -32602),
        ("review_change", json!({ "plan": "plan_0" }), -32002),
        ("no_such", json!({}), -32602),
    ] {
        let refused = get(&mut wire, name, arguments.clone());
        assert_eq!(refused["error"]["code"], code, "{name} {arguments}: {refused}");
    }
    assert!(!exists(&place.root().join("artifacts")));
}

#[test]
fn m22_the_newer_era_is_told_what_may_be_kept_and_by_whom() {
    let place = Place::new();
    let remote = Remote::start(&place);
    for (method, steady) in [
        ("tools/list", true),
        ("prompts/list", true),
        ("resources/templates/list", true),
        ("resources/list", false),
    ] {
        let result = ask(&remote, method, None, json!({})).message()["result"].clone();
        assert_eq!(result["cacheScope"], "private", "{method}: {result}");
        assert_eq!(result["ttlMs"].as_u64().unwrap() > 0, steady, "{method}");
    }
    let missing = ask(&remote, "resources/read", Some("plan://x"), json!({ "uri": "plan://x" }));
    assert_eq!(missing.message()["error"]["code"], -32602, "{}", missing.body);
    remote.finish();
}
