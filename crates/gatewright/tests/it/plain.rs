//! Calls over standard input that are answered without the protocol library: nobody can tell.

use serde_json::{Value, json};

use super::Place;
use super::wire::Wire;

/// What every request of the newer era carries.
fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
    })
}

/// A server whose client speaks the newer era.
fn stateless(place: &Place) -> Wire {
    let mut wire = Wire::start(place);
    let listed = wire.request("tools/list", json!({ "_meta": meta(&json!({})) }));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    wire
}

/// The answer to a call, without what is about this one call. Whoever asks for progress is answered by the library.
fn answer(wire: &mut Wire, mut params: Value, by_the_library: bool) -> Value {
    if by_the_library {
        params["_meta"]["progressToken"] = json!("p");
    }
    let mut message = wire.request("tools/call", params);
    message.as_object_mut().unwrap().remove("id");
    if let Some(text) = message["result"]["content"][0]["text"].as_str() {
        // Whoever reads no further than its beginning knows what the call came to.
        assert!(text.starts_with(r#"{"success":"#), "{text}");
        let mut said: Value = serde_json::from_str(text).unwrap();
        assert!(said.as_object_mut().unwrap().remove("metadata").is_some());
        message["result"]["content"][0]["text"] = said;
    }
    for (object, own) in [("_meta", "gatewright/anchor"), ("structuredContent", "metadata")] {
        if let Some(object) = message.pointer_mut(&format!("/result/{object}")).and_then(Value::as_object_mut)
        {
            assert!(object.remove(own).is_some(), "{object:?}");
        }
    }
    message
}

#[test]
fn a_plain_call_over_standard_input_is_answered_as_the_library_would_answer_it() {
    let place = Place::new();
    let good = json!({ "source": "tokens", "platforms": ["css"] });
    let calls = [
        json!({ "name": "tokens_build", "arguments": good }),
        json!({ "name": "tokens.build", "arguments": good }),
        json!({ "name": "tokens_build", "arguments": { "source": "tokens" } }),
        json!({ "name": "tokens_build", "arguments": { "source": "../x", "platforms": ["css"] } }),
        json!({ "name": "tokens_build" }),
        json!({ "name": "tool_call", "arguments": { "tool": "nothing", "arguments": {} } }),
        json!({ "name": "no_such_tool", "arguments": {} }),
        json!({ "name": "tokens_build", "arguments": [] }),
        json!({ "name": 5, "arguments": {} }),
        json!({ "name": "tokens_build", "arguments": good, "besides": 1 }),
    ];
    for can in [json!({}), json!({ "elicitation": {} }), json!({ "elicitation": { "url": {} } })] {
        let mut newer = stateless(&place);
        let mut older = Wire::initialized_by(&place, &can);
        for call in &calls {
            let mut of_now = call.clone();
            of_now["_meta"] = meta(&can);
            let [here, there] = [false, true].map(|way| answer(&mut newer, of_now.clone(), way));
            assert_eq!(here, there, "{call}");
            if here.get("result").is_some() {
                assert_eq!(here["result"]["resultType"], "complete", "{here}");
            }
            let [here, there] = [false, true].map(|way| answer(&mut older, call.clone(), way));
            assert_eq!(here, there, "{call}");
            assert_eq!(here["result"].get("resultType"), None, "{here}");
        }
        newer.finish();
        older.finish();
    }
}

#[test]
fn of_a_few_calls_that_come_at_once_the_first_are_recorded_before_the_last_are_begun() {
    let place = Place::new();
    for few in [true, false] {
        let mut wire = Wire::initialized(&place);
        // A first call makes what all of them need.
        let params = json!({ "name": "tools_search", "arguments": { "query": "zebra" } });
        wire.request("tools/call", params.clone());
        // As much as a pipe takes whole.
        let last = if few { 116 } else { 148 };
        let calls: Vec<String> = (100..last)
            .map(|id| {
                let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
                call.to_string() + "\n"
            })
            .collect();
        wire.bytes(calls.concat().as_bytes());
        let mut anchors: Vec<(u64, u64)> = (100..last)
            .map(|_| {
                let answer = wire.receive();
                let anchor = &answer["result"]["_meta"]["gatewright/anchor"]["seq"];
                (answer["id"].as_u64().unwrap(), anchor.as_u64().unwrap())
            })
            .collect();
        anchors.sort_unstable();
        let (first, last) = anchors.split_at(8);
        if few {
            let latest = first.iter().map(|(_, seq)| seq).max();
            assert!(latest < last.iter().map(|(_, seq)| seq).min(), "{anchors:?}");
        }
        // An anchor covers its own record, and is of a group.
        assert!(anchors.windows(2).all(|two| two[0].1 <= two[1].1), "{anchors:?}");
        assert!(anchors.iter().any(|(_, seq)| anchors.iter().filter(|(_, own)| own == seq).count() > 1));
        wire.finish();
    }
}

#[test]
fn a_plain_call_keeps_the_rules_of_the_others() {
    let place = Place::new();
    let slow = "all:\n\t@echo begun > begun; sleep 30\n";
    std::fs::write(place.root().join("Makefile"), slow).unwrap();
    let call = |id: u32, era: &str| {
        let arguments = json!({ "target": "all" });
        let mut params = json!({ "name": "make_build", "arguments": arguments });
        if era == "newer" {
            params["_meta"] = meta(&json!({}));
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    for era in ["newer", "older"] {
        let mut wire = if era == "newer" { stateless(&place) } else { Wire::initialized(&place) };
        // An id that waits for its answer is refused, whichever way the second one would take.
        wire.send(&call(70, era));
        wire.send(&call(70, era));
        let refused = wire.receive();
        assert_eq!(
            (&refused["error"]["code"], refused.get("id")),
            (&json!(-32600), None),
            "{era}: {refused}"
        );
        // Whoever is cancelled is not answered, and its run is over.
        let cancel = json!({ "requestId": 70, "reason": "enough" });
        wire.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }).to_string(),
        );
        wire.send(&call(71, era));
        let cancel = json!({ "requestId": 71 });
        wire.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }).to_string(),
        );
        let mut params = json!({ "name": "tools_search", "arguments": { "query": "make" } });
        if era == "newer" {
            params["_meta"] = meta(&json!({}));
        }
        let found = wire.request("tools/call", params);
        assert_eq!(found["result"]["isError"], false, "{era}: {found}");
        let began = std::time::Instant::now();
        // What is being made when the input ends is answered.
        let mut params =
            json!({ "name": "tokens_build", "arguments": { "source": "tokens", "platforms": ["css"] } });
        if era == "newer" {
            params["_meta"] = meta(&json!({}));
        }
        wire.send(
            &json!({ "jsonrpc": "2.0", "id": 72, "method": "tools/call", "params": params }).to_string(),
        );
        drop(wire.stdin.take());
        let rest = wire.rest();
        assert_eq!(rest.len(), 1, "{era}: {rest:#?}");
        assert_eq!((&rest[0]["id"], &rest[0]["result"]["isError"]), (&json!(72), &json!(false)), "{rest:#?}");
        assert!(wire.child.wait().unwrap().success());
        assert!(began.elapsed().as_secs() < 20, "the cancelled ones did not hold it");
    }
    let records = place.json(&["audit", "tail", "--output", "json"]);
    let records = records.as_array().unwrap();
    assert_eq!(records.len(), 8, "every call leaves one transcript: {records:#?}");
}
