//! Resources and prompts of upstreams as the protocol's own, to clients of both eras.

use serde_json::{Map, Value, json};

use super::super::wire::{Wire, line, meta};
use super::asking::everything;

const BOTH: &str = "resources = true\nprompts = true";

/// A request in the words of an era.
fn ask(wire: &mut Wire, is_current: bool, method: &str, params: Value) -> Value {
    let mut params = params;
    if is_current {
        params["_meta"] = meta("2026-07-28");
    }
    wire.request(method, params)
}

/// Every entry of a list, page by page.
fn all(wire: &mut Wire, is_current: bool, method: &str, field: &str) -> Vec<Value> {
    let (mut all, mut params) = (Vec::new(), json!({}));
    loop {
        let page = ask(wire, is_current, method, params.clone())["result"].clone();
        all.extend(page[field].as_array().unwrap_or_else(|| panic!("{method}: {page}")).clone());
        match page.get("nextCursor") {
            None => return all,
            Some(cursor) => params["cursor"] = cursor.clone(),
        }
    }
}

#[test]
fn resources_templates_and_prompts_of_an_upstream_are_listed_and_read_as_the_protocols_own() {
    let Some(place) = everything(BOTH) else { return };
    let theirs = |list: &[Value], key: &str| {
        let own = list.iter().filter(|one| {
            let name = one[key].as_str().unwrap();
            name.starts_with("upstream://every/") || name.starts_with("every__")
        });
        own.cloned().collect::<Vec<Value>>()
    };
    place.ok(&["approvals", "diff"]);
    // What nobody approved is on no list.
    let mut wire = Wire::initialized(&place);
    assert!(theirs(&all(&mut wire, false, "resources/list", "resources"), "uri").is_empty());
    assert!(theirs(&all(&mut wire, false, "prompts/list", "prompts"), "name").is_empty());
    wire.finish();
    place.ok(&["approvals", "accept", "every__resource_read", "every__prompt_get"]);
    for is_current in [false, true] {
        let mut wire = if is_current { Wire::start(&place) } else { Wire::initialized(&place) };
        let resources = theirs(&all(&mut wire, is_current, "resources/list", "resources"), "uri");
        assert!(resources.len() >= 3, "{resources:?}");
        let uri = resources[0]["uri"].as_str().unwrap();
        assert!(uri.starts_with("upstream://every/demo%3A%2F%2F"), "{uri}");
        let read = ask(&mut wire, is_current, "resources/read", json!({ "uri": uri }))["result"].clone();
        assert_eq!(read["contents"][0]["uri"], uri, "{read}");
        assert!(read["contents"][0]["text"].as_str().unwrap().len() > 20, "{read}");
        let templates = all(&mut wire, is_current, "resources/templates/list", "resourceTemplates");
        let templates = theirs(&templates, "uriTemplate");
        let template =
            templates.iter().find(|t| t["uriTemplate"].as_str().unwrap().contains("text")).unwrap();
        let filled = template["uriTemplate"].as_str().unwrap().replace("{resourceId}", "7");
        let read = ask(&mut wire, is_current, "resources/read", json!({ "uri": filled }))["result"].clone();
        assert!(read["contents"][0]["text"].as_str().unwrap().contains('7'), "{read}");
        // Text that comes as bytes is text, and cleaned as such.
        let blob = filled.replace("text", "blob");
        let read = ask(&mut wire, is_current, "resources/read", json!({ "uri": blob }))["result"].clone();
        assert_eq!(read["contents"][0]["mimeType"], "text/plain", "{read}");
        assert!(read["contents"][0]["text"].as_str().unwrap().contains("Resource 7"), "{read}");
        for other in
            ["upstream://every/file%3A%2F%2F%2Fetc%2Fpasswd", "upstream://nobody/x", "upstream://every"]
        {
            let refused = ask(&mut wire, is_current, "resources/read", json!({ "uri": other }));
            assert!(refused["error"]["data"]["error"]["code"] == "not_found", "{other}: {refused}");
        }
        let prompts = theirs(&all(&mut wire, is_current, "prompts/list", "prompts"), "name");
        let named = |name: &str| prompts.iter().find(|prompt| prompt["name"] == name).unwrap();
        assert_eq!(named("every__args_prompt")["arguments"][0]["name"], "city", "{prompts:?}");
        let mut get = |name: &str, arguments: Value| {
            ask(&mut wire, is_current, "prompts/get", json!({ "name": name, "arguments": arguments }))
        };
        let said = get("every__args_prompt", json!({ "city": "Bern" }))["result"].clone();
        assert_eq!(said["messages"][0]["role"], "user", "{said}");
        assert!(said["messages"][0]["content"]["text"].as_str().unwrap().contains("Bern"), "{said}");
        let none = get("every__no_prompt", json!({}));
        assert_eq!(none["error"]["code"], -32602, "{none}");
        wire.finish();
    }
    // They are calls of the two tools, and on record as such.
    let records = place.json(&["audit", "tail", "-n", "100", "--output", "json"]);
    let of = |name: &str| records.as_array().unwrap().iter().filter(|r| r["toolName"] == name).count();
    assert!(of("every__resource_read") >= 8 && of("every__prompt_get") >= 2, "{records}");
    let one = records.as_array().unwrap().iter().find(|r| r["toolName"] == "every__prompt_get").unwrap();
    assert_eq!(one["upstream"]["name"], "every", "{one}");
}

#[test]
fn policy_and_what_changed_hold_for_them_as_for_the_two_tools() {
    let rule = "[[policy.rules]]\ntools = [\"every__resource_read\"]\ndecision = \"forbid\"";
    let Some(place) = everything(&format!("{BOTH}\n{rule}")) else { return };
    place.ok(&["approvals", "diff"]);
    place.ok(&["approvals", "accept", "every__resource_read"]);
    let mut wire = Wire::initialized(&place);
    let listed = all(&mut wire, false, "resources/list", "resources");
    let uri =
        listed.iter().find_map(|r| r["uri"].as_str().filter(|uri| uri.starts_with("upstream://"))).unwrap();
    let refused = wire.request("resources/read", json!({ "uri": uri }));
    assert_eq!(refused["error"]["data"]["error"]["code"], "forbidden", "{refused}");
    wire.finish();
}

#[test]
fn clients_of_both_eras_hear_that_there_are_others_resources_and_prompts() {
    let Some(place) = everything(BOTH) else { return };
    place.ok(&["approvals", "diff"]);
    let mut older = Wire::initialized(&place);
    let mut newer = Wire::start(&place);
    let wanted = json!({ "resourcesListChanged": true, "promptsListChanged": true });
    let listen = json!({ "_meta": meta("2026-07-28"), "notifications": wanted });
    newer.send(&line(&json!("sub"), "subscriptions/listen", &listen));
    assert_eq!(newer.receive()["params"]["notifications"], wanted);
    older.request("tools/list", json!({}));
    place.ok(&["approvals", "accept", "every__resource_read", "every__prompt_get"]);
    let mut told: Vec<String> =
        (0..3).map(|_| older.receive()["method"].as_str().unwrap().to_owned()).collect();
    told.sort();
    let of = |list: &str| format!("notifications/{list}/list_changed");
    assert_eq!(told, [of("prompts"), of("resources"), of("tools")]);
    for list in ["resources", "prompts"] {
        assert_eq!(newer.receive()["method"], json!(of(list)), "what it did not ask for is not told");
    }
    older.finish();
    newer.finish();
}

#[test]
fn a_tool_that_is_only_a_task_is_refused_with_the_reason() {
    let Some(place) = everything("") else { return };
    let out = place.run(&["approvals", "diff"]);
    let said = [String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr)].concat();
    assert!(!said.contains("+ every__simulate_research_query"), "{said}");
    let why = "every__simulate_research_query: it can only be called as a task";
    assert!(said.contains(why), "{said}");
    let mut wire = Wire::initialized(&place);
    let none = wire
        .request("tools/call", json!({ "name": "every__simulate_research_query", "arguments": Map::new() }));
    assert_eq!(none["error"]["code"], -32602, "{none}");
    wire.finish();
}
