//! What is no message, or one that nobody should send (M16, M18): it is refused, and the server goes on.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::wire::{Wire, line};
use super::{Place, exists, many_tokens};

/// Whether the server still does what it is asked.
fn goes_on(wire: &mut Wire) {
    let pong = wire.request("ping", json!({}));
    assert_eq!(pong["result"], json!({}), "{pong}");
}

/// The one answer to a line, and that it has this code and id.
fn refused(wire: &mut Wire, bytes: &[u8], code: i64, id: &Value) {
    wire.bytes(bytes);
    wire.bytes(b"\n");
    let answer = wire.receive();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(120)]);
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), id), "{shown}: {answer}");
    goes_on(wire);
}

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{{"name":"tokens_build","arguments":{arguments}}}}}"#
    )
}

#[test]
fn m18_what_is_no_json_is_a_parse_error_and_the_server_goes_on() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_arguments = call(&format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200)));
    for bytes in [
        &b"{ not json"[..],
        b"{}{}",
        b"\"\xff\xfe\"",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xc3\x28\"}",
        b"\0\0",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\0\"method\":\"ping\"}",
        br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
        br#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#,
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        deep.as_bytes(),
        deep_arguments.as_bytes(),
    ] {
        refused(&mut wire, bytes, -32700, &Value::Null);
    }
    // Blank lines and a carriage return before the end of a line are nothing.
    wire.bytes(b"\n \t\r\n");
    wire.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\r\n");
    assert_eq!(wire.receive(), json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
    wire.finish();
}

#[test]
fn m18_a_line_longer_than_is_taken_is_passed_over_and_the_next_is_answered() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    // It looks like a call that applies, at either end.
    let front = call(r#"{"source":"tokens","platforms":["css"],"apply":true}"#);
    wire.bytes(front.as_bytes());
    let block = vec![b' '; 1024 * 1024];
    for _ in 0..17 {
        wire.bytes(&block);
    }
    wire.bytes(front.as_bytes());
    wire.bytes(b"\n");
    wire.send(&line(&json!("after"), "ping", &json!({})));
    let refusal = wire.receive();
    assert_eq!((&refusal["error"]["code"], &refusal["id"]), (&json!(-32600), &Value::Null), "{refusal}");
    assert_eq!(wire.receive()["id"], "after");
    assert!(!exists(&place.root().join("artifacts")));
    wire.finish();
}

#[test]
fn m18_what_is_json_and_no_message_is_an_invalid_request() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut cases: Vec<(String, Value)> = vec![
        ("[]".into(), Value::Null),
        (format!("[{ping}]"), Value::Null),
        (format!("[{ping},{ping}]"), Value::Null),
        ("5".into(), Value::Null),
        ("null".into(), Value::Null),
        (format!("{ping:?}"), Value::Null),
        ("{}".into(), Value::Null),
        (r#"{"id":1,"method":"ping"}"#.into(), json!(1)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.into(), json!(1)),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#.into(), json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#.into(), json!(1)),
        (r#"{"jsonrpc":"2.0","id":1}"#.into(), json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#.into(), json!(1)),
        (r#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#.into(), json!(1)),
    ];
    for id in ["null", "1.5", "true", "[]", "{}"] {
        cases.push((format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), Value::Null));
    }
    for (text, id) in cases {
        refused(&mut wire, text.as_bytes(), -32600, &id);
    }
    wire.finish();
}

#[test]
fn m18_ids_of_every_kind_that_is_allowed_come_back_as_they_were() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let long = "x".repeat(100_000);
    for id in [
        json!(0),
        json!(-1),
        json!(9_007_199_254_740_991_i64),
        json!(""),
        json!("1"),
        json!("\u{0}\u{202e}\u{1b}"),
        json!("👩\u{200d}💻"),
        json!(long),
    ] {
        wire.send(&line(&id, "ping", &json!({})));
        assert_eq!(wire.receive(), json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }
    wire.finish();
}

#[test]
fn m18_an_id_that_waits_for_its_answer_is_not_used_again() {
    let place = Place::new();
    many_tokens(&place, 2_000);
    let mut wire = Wire::initialized(&place);
    let call = |apply: bool| json!({ "name": "tokens_build", "arguments": { "source": "tokens", "platforms": ["css"], "apply": apply } });
    wire.send(&line(&json!(5), "tools/call", &call(false)));
    // The text is another id than the number; the number again is refused, and nothing of it is done.
    wire.send(&line(&json!("5"), "tools/call", &call(false)));
    wire.send(&line(&json!(5), "tools/call", &call(true)));
    let mut answers: Vec<Value> = (0..3).map(|_| wire.receive()).collect();
    let refusal = answers.remove(answers.iter().position(|a| a["error"].is_object()).unwrap());
    assert_eq!((&refusal["error"]["code"], &refusal["id"]), (&json!(-32600), &Value::Null), "{refusal}");
    let ids: BTreeSet<String> = answers.iter().map(|a| a["id"].to_string()).collect();
    assert_eq!(ids, BTreeSet::from(["5".to_owned(), "\"5\"".to_owned()]));
    assert!(answers.iter().all(|a| a["result"]["structuredContent"]["status"] == "proposed"));
    // Once it is answered, the id is free.
    wire.send(&line(&json!(5), "ping", &json!({})));
    assert_eq!(wire.receive()["id"], 5);
    wire.finish();
    assert!(!exists(&place.root().join("artifacts")));
    assert_eq!(place.json(&["audit", "tail", "--output", "json"]).as_array().unwrap().len(), 2);
}

#[test]
fn m16_arguments_that_smuggle_reach_no_tool() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let with = |more: &str| call(&format!(r#"{{"source":"tokens","platforms":["css"],{more}}}"#));
    for more in [
        r#""apply":"true""#,
        r#""apply":1"#,
        r#""apply":[true]"#,
        r#""apply":null"#,
        r#""Apply":true"#,
        r#""APPLY":true"#,
        r#""apply ":true"#,
        r#""ap\u200bply":true"#,
        r#""\uff41pply":true"#,
        r#""__proto__":{"apply":true}"#,
        r#""constructor":{"prototype":{"apply":true}}"#,
        r#""dryRun":false"#,
        r#""surprise":1"#,
    ] {
        wire.send(&with(more));
        let answer = wire.receive();
        assert_eq!(answer["result"]["isError"], true, "{more}: {answer}");
        let error: Value =
            serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(error["error"]["code"], "invalid_argument", "{more}: {error}");
    }
    // A key that stands twice, however it is spelled and however deep, is no message at all.
    for more in [
        r#""apply":false,"apply":true"#,
        r#""apply":true,"apply":false"#,
        r#""apply":false,"\u0061pply":true"#,
        r#""x":[{"y":{"a":1,"a":1}}]"#,
    ] {
        refused(&mut wire, with(more).as_bytes(), -32700, &Value::Null);
    }
    // What stands beside the arguments is no argument.
    let beside = json!({ "name": "tokens_build", "apply": true, "Arguments": { "apply": true }, "arguments": { "source": "tokens", "platforms": ["css"] } });
    let answer = wire.request("tools/call", beside);
    assert_eq!(answer["result"]["structuredContent"]["status"], "proposed", "{answer}");
    wire.finish();
    assert!(!exists(&place.root().join("artifacts")), "nothing was applied");
}

#[test]
fn g4_parameters_of_the_wrong_shape_are_said_to_be_wrong_and_not_their_method() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    for (method, params) in [
        ("tools/call", r"[]"),
        ("tools/call", r#""x""#),
        ("tools/call", r"5"),
        ("tools/call", r"{}"),
        ("tools/call", r#"{"name":5}"#),
        ("tools/call", r#"{"name":null,"arguments":{}}"#),
        ("tools/call", r#"{"Name":"tokens_build"}"#),
        ("tools/call", r#"{"name":"tokens_build","arguments":"{}"}"#),
        ("tools/call", r#"{"name":"tokens_build","arguments":[]}"#),
        ("tools/list", r#"{"cursor":5}"#),
        ("tools/list", r#"{"_meta":"x"}"#),
        ("tools/list", r#"{"_meta":[]}"#),
        ("resources/read", r"{}"),
        ("prompts/get", r#"{"name":5}"#),
        ("completion/complete", r#"{"ref":5}"#),
        ("initialize", r"{}"),
        ("initialize", r#"{"protocolVersion":5,"capabilities":{},"clientInfo":{}}"#),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{method}","params":{params}}}"#);
        refused(&mut wire, text.as_bytes(), -32602, &json!(9));
    }
    // Methods that are not served are not found, whatever their parameters.
    for method in ["tasks/get", "logging/setLevel", "sampling/createMessage", "resources/subscribe"] {
        for params in [json!({}), json!({ "name": 5, "uri": 5, "level": 5, "taskId": 5 })] {
            let answer = wire.request(method, params);
            assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        }
    }
    for method in ["", "tools/Call", "tools/call ", "no/such"] {
        assert_eq!(wire.request(method, json!({}))["error"]["code"], -32601, "{method:?}");
    }
    wire.finish();
}

#[test]
fn m18_answers_and_notifications_that_nobody_asked_for_are_ignored() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    let apply = call(r#"{"source":"tokens","platforms":["css"],"apply":true}"#).replace(r#""id":50,"#, "");
    for text in [
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":[],"result":5}"#,
        r#"{"jsonrpc":"2.0","error":"x"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/made_up","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[5]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        // A call without an id is none.
        apply.as_str(),
    ] {
        wire.send(text);
    }
    // Whatever answers there were would come first.
    wire.send(&line(&json!("last"), "ping", &json!({})));
    assert_eq!(wire.receive()["id"], "last");
    wire.finish();
    assert!(!exists(&place.root().join("artifacts")));
}

#[test]
fn many_calls_at_once_are_answered_each_with_its_own_answer() {
    let place = Place::new();
    for n in 0..40 {
        let text = super::TOKENS.replace("\"s\"", &format!("\"own{n}\""));
        std::fs::write(place.root().join(format!("tokens/{n}.json")), text).unwrap();
    }
    let mut wire = Wire::initialized(&place);
    let mut open = BTreeSet::new();
    for n in 0..120 {
        let id = if n % 2 == 0 { json!(1_000 + n) } else { json!(format!("call {n}")) };
        let arguments = json!({ "source": format!("tokens/{}.json", n % 40), "platforms": ["css"] });
        let (method, params) = match n % 3 {
            0 => ("tools/list", json!({})),
            _ => ("tools/call", json!({ "name": "tokens_build", "arguments": arguments })),
        };
        wire.send(&line(&id, method, &params));
        open.insert(id.to_string());
    }
    let mut own = 0;
    while !open.is_empty() {
        let answer = wire.receive();
        let id = &answer["id"];
        assert!(open.remove(&id.to_string()), "asked for, and answered once: {id}");
        let n = id.as_u64().map_or_else(|| id.as_str().unwrap()[5..].parse().unwrap(), |n| n - 1_000);
        let result = &answer["result"];
        if n.is_multiple_of(3) {
            assert!(result["tools"].is_array(), "{answer}");
            continue;
        }
        let diff = result["structuredContent"]["plan"]["diff"].as_str();
        match diff {
            Some(diff) => {
                own += 1;
                assert!(diff.contains(&format!("own{}:", n % 40)), "{id} has another's answer: {diff}");
            }
            // More at once than are let in.
            None => assert!(result.to_string().contains("rate_limited"), "{answer}"),
        }
    }
    assert!(own >= 20, "{own} calls had an answer of their own");
    wire.finish();
}
