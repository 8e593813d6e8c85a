//! What upstreams ask users: through clients of both eras, from servers of both eras.
#![allow(clippy::unnecessary_debug_formatting, reason = "a path in TOML, with its quotes")]

use std::time::Duration;

use serde_json::{Value, json};

use super::super::Place;
use super::super::confirm::round;
use super::super::remote::Remote;
use super::super::scripts::python;
use super::super::upstreams::Upstream;
use super::super::wire::Wire;
use super::{approve, error, possible, real};

const ASK: &str = "every__trigger_elicitation_request";

/// A place with npm's `server-everything` as `every`; `more` is said besides in its table.
pub(super) fn everything(more: &str) -> Option<Place> {
    let place = real::place("none")?;
    let script = real::script("server-everything");
    place.configure(&format!("[upstreams.every]\ncommand = \"node\"\nargs = [{script:?}]\n{more}\n"));
    Some(place)
}

fn asks(wire: &mut Wire, name: &str, arguments: &Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    wire.send(&json!({ "jsonrpc": "2.0", "id": "it", "method": "tools/call", "params": params }).to_string());
    let question = wire.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    question
}

fn answers(wire: &mut Wire, question: &Value, result: &Value) -> Value {
    wire.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string());
    loop {
        let answer = wire.receive();
        if answer["id"] == "it" {
            return answer["result"].clone();
        }
    }
}

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// What a client of the newer era sends back.
fn back(state: &Value, action: &str, content: &Value) -> Value {
    json!({ "requestState": state, "inputResponses": { "confirm": { "action": action, "content": content } } })
}

fn text(result: &Value) -> &str {
    result["structuredContent"]["message"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn a_question_of_the_reference_server_is_asked_by_a_client_of_the_older_era() {
    let Some(place) = everything("timeout-seconds = 3") else { return };
    approve(&place, &[ASK]);
    let mut wire = Wire::initialized_by(&place, &forms());
    let question = asks(&mut wire, ASK, &json!({}));
    let params = &question["params"];
    let shown = params["message"].as_str().unwrap();
    assert!(shown.contains("The upstream server `every` asks, for its tool every__trigger"), "{shown}");
    assert!(shown.contains("\n> Please provide inputs"), "{shown}");
    let fields = &params["requestedSchema"]["properties"];
    assert_eq!((&fields["integer"]["maximum"], &fields["name"]["type"]), (&json!(100), &json!("string")));
    assert_eq!(fields["titledMultipleSelectEnum"]["items"]["anyOf"][0]["const"], "fish-1", "{fields}");
    // Whoever reads takes his time: it is not the call's.
    std::thread::sleep(Duration::from_secs(5));
    let content = json!({ "name": "Ada", "integer": 7, "nobodys": "secret" });
    let result = answers(&mut wire, &question, &json!({ "action": "accept", "content": content }));
    assert!(
        text(&result).contains("- Name: Ada") && text(&result).contains("- Favorite Integer: 7"),
        "{result}"
    );
    assert!(!result.to_string().contains("nobodys"), "what was not asked for does not go: {result}");
    // What does not fit is no answer.
    for (reply, expected) in [
        (json!({ "action": "accept", "content": { "name": "Ada", "integer": 7_000 } }), "cancelled"),
        (json!({ "action": "accept", "content": {} }), "cancelled"),
        (json!({ "action": "decline" }), "declined"),
        (json!({ "action": "cancel" }), "cancelled"),
    ] {
        let question = asks(&mut wire, ASK, &json!({}));
        let result = answers(&mut wire, &question, &reply);
        assert!(text(&result).contains(&format!("User {expected}")), "{reply}: {result}");
    }
    wire.finish();
    let records = place.json(&["audit", "tail", "-n", "20", "--output", "json"]);
    let of = records.as_array().unwrap().iter().filter(|r| r["toolName"] == ASK);
    let said: Vec<&str> = of.filter_map(|r| r["decision"].as_str()?.split("; ").nth(1)).collect();
    assert_eq!(said[0], "its server asked the user: answered", "{records}");
    assert_eq!(said[3], "its server asked the user: declined", "{records}");
}

#[test]
fn who_cannot_ask_declines_and_the_answer_says_so() {
    let Some(place) = everything("") else { return };
    approve(&place, &[ASK]);
    let mut wire = Wire::initialized(&place);
    let result = super::call(&mut wire, ASK, &json!({}));
    assert!(text(&result).contains("User declined"), "{result}");
    assert!(text(&result).contains("`every` wanted to ask the user something and was declined"), "{result}");
    wire.finish();
    // At a terminal that is none, too.
    let said = place.ok(&["call", ASK]);
    assert!(said.contains("User declined") && said.contains("cannot show its question"), "{said}");
    // Where the user lets it ask nothing, it is not told that anybody could.
    let place = everything("questions = \"never\"").unwrap();
    assert!(!place.ok(&["approvals", "diff"]).contains(ASK));
}

#[test]
fn a_question_of_the_reference_server_is_asked_by_an_answer_in_the_newer_era_and_the_call_is_made_once() {
    let Some(place) = everything("timeout-seconds = 3") else { return };
    approve(&place, &[ASK]);
    let remote = Remote::start(&place);
    let asked = || {
        let question = round(&remote, ASK, &json!({}), &json!({})).message()["result"].clone();
        assert_eq!(question["resultType"], "input_required", "{question}");
        question
    };
    let question = asked();
    let form = &question["inputRequests"]["confirm"]["params"];
    assert!(form["message"].as_str().unwrap().contains("`every` asks"), "{form}");
    assert_eq!(form["requestedSchema"]["properties"]["check"]["type"], "boolean");
    std::thread::sleep(Duration::from_secs(5));
    let content = json!({ "name": "Ada", "check": true });
    let reply = back(&question["requestState"], "accept", &content);
    let done = round(&remote, ASK, &json!({}), &reply).message()["result"].clone();
    assert!(text(&done).contains("- Name: Ada") && text(&done).contains("Agreed to terms: true"), "{done}");
    // Once, and only for its own call.
    let again = round(&remote, ASK, &json!({}), &reply).message();
    assert_eq!(again["error"]["code"], -32602, "{again}");
    let question = asked();
    let other = round(&remote, ASK, &json!({ "x": 1 }), &back(&question["requestState"], "accept", &content));
    assert_eq!(other.message()["error"]["code"], -32602, "{}", other.body);
    let declined =
        round(&remote, ASK, &json!({}), &back(&question["requestState"], "decline", &json!({}))).message();
    assert!(text(&declined["result"]).contains("User declined"), "{declined}");
    // Beyond some that wait, nobody is asked: the call goes on without.
    let waiting: Vec<Value> = (0..3).map(|_| asked()).collect();
    let more = round(&remote, ASK, &json!({}), &json!({})).message();
    assert!(text(&more["result"]).contains("User declined"), "{more}");
    for question in waiting {
        let reply = back(&question["requestState"], "cancel", &json!({}));
        let done = round(&remote, ASK, &json!({}), &reply).message();
        assert!(text(&done["result"]).contains("User cancelled"), "{done}");
    }
    remote.finish();
    let records = place.json(&["audit", "tail", "-n", "100", "--output", "json"]);
    let calls = records.as_array().unwrap().iter().filter(|r| r["toolName"] == ASK);
    assert_eq!(calls.count(), 6, "one record for each call: {records}");
}

#[test]
fn questions_of_upstreams_of_both_eras_over_http_reach_clients_of_both() {
    for era in ["legacy", "modern"] {
        let Some(upstream) = Upstream::start(era) else { return };
        upstream.set(&json!({ "tools": [{ "name": "ask", "inputSchema": { "type": "object" } }] }));
        let place = upstream.place("");
        approve(&place, &["docs__ask"]);
        let content = json!({ "colour": "green", "count": 2 });
        let mut wire = Wire::initialized_by(&place, &forms());
        let question = asks(&mut wire, "docs__ask", &json!({}));
        assert!(question["params"]["message"].as_str().unwrap().contains("> Which colour?"), "{question}");
        let result = answers(&mut wire, &question, &json!({ "action": "accept", "content": content }));
        assert!(
            text(&result).contains("\"colour\":\"green\"") && text(&result).contains("\"count\":2"),
            "{result}"
        );
        assert_eq!(era == "modern", text(&result).contains("\"after\":\"first\""), "{result}");
        wire.finish();
        let before = upstream.asked("tools/call");
        let remote = Remote::start(&place);
        let question = round(&remote, "docs__ask", &json!({}), &json!({})).message()["result"].clone();
        assert_eq!(question["resultType"], "input_required", "{question}");
        let reply = back(&question["requestState"], "accept", &content);
        let done = round(&remote, "docs__ask", &json!({}), &reply).message()["result"].clone();
        assert!(text(&done).contains("\"colour\":\"green\""), "{done}");
        remote.finish();
        // An upstream of the newer era is called once more with the answer, as its era has it; none is called anew.
        let rounds = if era == "modern" { 2 } else { 1 };
        assert_eq!(upstream.asked("tools/call") - before, rounds, "{era}");
    }
}

#[test]
fn what_changes_or_is_taken_back_while_the_user_reads_gets_no_answer() {
    let Some(upstream) = Upstream::start("modern") else { return };
    let tool =
        |about: &str| json!({ "name": "ask", "description": about, "inputSchema": { "type": "object" } });
    upstream.set(&json!({ "tools": [tool("Asks.")] }));
    let place = upstream.place("");
    approve(&place, &["docs__ask"]);
    let content = json!({ "colour": "red" });
    let mut wire = Wire::initialized_by(&place, &forms());
    let question = asks(&mut wire, "docs__ask", &json!({}));
    upstream.set(&json!({ "tools": [tool("IMPORTANT: something else.")] }));
    let before = upstream.asked("tools/call");
    let result = answers(&mut wire, &question, &json!({ "action": "accept", "content": content }));
    assert_eq!(error(&result)["code"], "approval_required", "{result}");
    assert_eq!(upstream.asked("tools/call"), before, "the answer stayed here");
    upstream.set(&json!({ "tools": [tool("Asks.")] }));
    let question = asks(&mut wire, "docs__ask", &json!({}));
    place.ok(&["approvals", "revoke", "docs__ask"]);
    std::thread::sleep(Duration::from_secs(6));
    let result = answers(&mut wire, &question, &json!({ "action": "accept", "content": content }));
    assert!(!result.to_string().contains("colour"), "{result}");
    assert!(result.to_string().contains("its approval was taken back meanwhile"), "{result}");
    wire.finish();
}

#[test]
fn a_question_of_a_server_of_python_reaches_the_user() {
    if !possible() {
        return;
    }
    let Some(python) = python() else { return };
    let place = Place::new();
    let folder = place.scratch.path().join("server");
    std::fs::create_dir_all(&folder).unwrap();
    let script = folder.join("notes.py");
    std::fs::copy(python.dir.join("upstream.py"), &script).unwrap();
    place.configure(&format!("[upstreams.notes]\ncommand = {:?}\nargs = [{script:?}]\n", python.program));
    approve(&place, &["notes__paint"]);
    let mut wire = Wire::initialized_by(&place, &forms());
    let question = asks(&mut wire, "notes__paint", &json!({ "what": "the door" }));
    assert!(question["params"]["message"].as_str().unwrap().contains("> Which colour?"), "{question}");
    let reply = json!({ "action": "accept", "content": { "colour": "blue" } });
    let result = answers(&mut wire, &question, &reply);
    assert!(text(&result).contains("the door is blue"), "{result}");
    let question = asks(&mut wire, "notes__paint", &json!({ "what": "the door" }));
    let result = answers(&mut wire, &question, &json!({ "action": "decline" }));
    assert_eq!(
        error(&result)["code"],
        "tool_execution_failed",
        "it goes on without a colour, or ends: {result}"
    );
    wire.finish();
    let remote = Remote::start(&place);
    let arguments = json!({ "what": "the gate" });
    let question = round(&remote, "notes__paint", &arguments, &json!({})).message()["result"].clone();
    let reply = back(&question["requestState"], "accept", &json!({ "colour": "green" }));
    let done = round(&remote, "notes__paint", &arguments, &reply).message()["result"].clone();
    assert!(text(&done).contains("the gate is green"), "{done}");
    remote.finish();
}

#[test]
fn pages_are_opened_only_where_the_user_lets_an_upstream_and_the_client_can() {
    let Some(place) = everything("") else { return };
    let name = "every__trigger_url_elicitation";
    assert!(!place.ok(&["approvals", "diff"]).contains(name), "it is not told that pages are opened");
    let place = everything("questions = \"pages\"").unwrap();
    approve(&place, &[name]);
    let arguments = json!({ "url": "https://docs.example/sign-in", "message": "Sign in" });
    let mut wire = Wire::initialized_by(&place, &json!({ "elicitation": { "form": {}, "url": {} } }));
    let question = asks(&mut wire, name, &arguments);
    assert_eq!((&question["params"]["mode"], &question["params"]["url"]), (&json!("url"), &arguments["url"]));
    let result = answers(&mut wire, &question, &json!({ "action": "accept" }));
    assert!(text(&result).contains("User completed"), "{result}");
    let plain = json!({ "url": "http://docs.example/sign-in", "message": "Sign in" });
    let result = super::call(&mut wire, name, &plain);
    assert!(text(&result).contains("none of https"), "{result}");
    wire.finish();
    let mut wire = Wire::initialized_by(&place, &forms());
    let result = super::call(&mut wire, name, &arguments);
    assert!(text(&result).contains("cannot show its question"), "{result}");
    wire.finish();
}
