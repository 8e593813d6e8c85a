//! Strings that a model reads or a terminal shows: names that look alike (M08), characters that hide or command (M10),
//! and what a definition may not carry (M22, M30).

use serde_json::{Value, json};

use super::wire::{Wire, line, meta};
use super::{Place, exists};

/// Every kind of character that hides, reorders or commands: a clipboard write, a link, a clear screen in C1, a
/// right-to-left override, tags, a zero-width space, a byte order mark and a deletion.
const HIDDEN: &str = "\u{1b}]52;c;aGk=\u{7}\u{1b}]8;;http://x\u{1b}\\\u{9b}2J\u{202e}\u{2066}\u{e0041}\u{e007f}\u{200b}\u{feff}\u{7f}";

/// Whether text, once every escape of JSON in it is undone, has none of them.
fn is_plain(text: &str) -> bool {
    let hides = |c: char| {
        (c.is_control() && c != '\n' && c != '\t') || HIDDEN.chars().any(|h| h == c && !h.is_ascii())
    };
    fn strings(value: &Value, all: &mut Vec<String>) {
        match value {
            Value::String(text) => all.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|v| strings(v, all)),
            Value::Object(map) => map.iter().for_each(|(k, v)| {
                all.push(k.clone());
                strings(v, all);
            }),
            _ => {}
        }
    }
    let mut all = vec![text.to_owned()];
    while let Some(text) = all.pop() {
        if text.chars().any(hides) {
            return false;
        }
        // What looks like JSON inside a string is read as such, as a client would.
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(&text) {
            strings(&value, &mut all);
        }
    }
    true
}

#[test]
fn the_look_for_hidden_characters_sees_them_at_any_depth() {
    assert!(is_plain(r#"{"a":["é 漢 👍\n"]}"#));
    for c in HIDDEN.chars().filter(|c| c.is_control() || !c.is_ascii()) {
        let inner = json!({ "message": format!("a{c}b") }).to_string();
        assert!(!is_plain(&json!({ "result": [{ "text": inner }] }).to_string()), "{c:?}");
        assert!(!is_plain(&json!({ format!("k{c}"): 1 }).to_string()), "{c:?}");
    }
}

#[test]
fn m10_hidden_characters_come_out_of_no_answer_whatever_brought_them_in() {
    let place = Place::new();
    // In the content of a file: token names, descriptions and values; and in the name of a file.
    let name = HIDDEN.replace('/', "");
    let file = json!({
        format!("na{name}me"): { "$type": "dimension", "$description": format!("says {HIDDEN}"), "$value": { "value": 4, "unit": "px" } },
        format!("al{HIDDEN}so"): { "$type": "fontFamily", "$value": format!("Font {HIDDEN}") },
    });
    std::fs::write(place.root().join("tokens/odd.json"), file.to_string()).unwrap();
    std::fs::write(place.root().join(format!("tokens/f{name}.json")), super::TOKENS).unwrap();
    std::fs::create_dir(place.root().join("plain")).unwrap();
    std::fs::write(
        place.root().join("plain/odd.json"),
        json!({ "x": { "$type": format!("dim{HIDDEN}"), "$value": HIDDEN } }).to_string(),
    )
    .unwrap();
    let mut wire = Wire::initialized(&place);
    let build = |source: &str| json!({ "source": source, "platforms": ["css", "js", "scss"] });
    let calls = [
        ("tokens_build", build("tokens")),
        ("tokens_build", build("tokens/odd.json")),
        ("tokens_build", build("plain")),
        ("tokens_build", build(&format!("tokens/f{name}.json"))),
        ("tokens_build", build(HIDDEN)),
        ("tokens_build", json!({ "source": "tokens", "platforms": [HIDDEN] })),
        ("tokens_build", json!({ "source": "tokens", "platforms": ["css"], HIDDEN: 1 })),
        ("tokens_build", json!({ "source": "tokens", "platforms": ["css"], "plan": HIDDEN })),
        ("tools_search", json!({ "query": HIDDEN })),
        ("tool_read", json!({ "tool": HIDDEN, "arguments": {} })),
        ("tool_call", json!({ "tool": HIDDEN, "arguments": { HIDDEN: HIDDEN } })),
        (HIDDEN, json!({})),
    ];
    for (tool, arguments) in &calls {
        let answer = wire.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(is_plain(&answer.to_string()), "{tool:?} {arguments}: {answer:?}");
    }
    // What the protocol's own errors repeat.
    for text in [
        line(&json!(1), HIDDEN, &json!({})),
        format!(r#"{{"jsonrpc":"2.0","id":1,{0}:1,{0}:2}}"#, json!(HIDDEN)),
        line(&json!(1), "tools/list", &json!({ "cursor": HIDDEN })),
        line(&json!(1), "tools/list", &json!({ "_meta": meta(HIDDEN) })),
        line(&json!(1), "server/discover", &json!({ "_meta": meta(HIDDEN) })),
        line(&json!(1), "tools/call", &json!({ "name": HIDDEN, "arguments": HIDDEN })),
    ] {
        wire.send(&text);
        let answer = wire.receive();
        assert!(answer["error"].is_object() && is_plain(&answer.to_string()), "{text}: {answer:?}");
    }
    wire.finish();
    // On the terminal there is none either; in the record they stand written out, or escaped.
    let listed = place.json(&["audit", "tail", "-n", "1000", "--output", "json"]);
    assert!(listed.to_string().contains('\u{202e}'), "what was asked is on record as it was");
    let raw = |args: &[&str]| {
        let out = place.run(args);
        let text = [out.stdout, out.stderr].concat();
        String::from_utf8(text).unwrap().chars().all(|c| c == '\n' || c == '\t' || is_plain(&c.to_string()))
    };
    assert!(
        raw(&["audit", "tail", "-n", "1000", "--output", "json"]) && raw(&["audit", "tail", "-n", "1000"])
    );
    let ids = listed.to_string();
    let ids: std::collections::BTreeSet<&str> =
        ids.split('"').filter(|w| w.len() == 36 && w.matches('-').count() == 4).collect();
    assert!(ids.len() >= calls.len(), "{ids:?}");
    for id in ids {
        assert!(raw(&["audit", "show", id]), "{id}");
        assert!(raw(&["audit", "show", id, "--output", "json"]), "{id}");
    }
    assert!(raw(&["call", "tokens_build", "--source", "tokens", "--platforms", "css"]));
    assert!(raw(&["call", "tokens_build", "--source", "tokens", "--platforms", "css", "--output", "json"]));
    assert!(raw(&["call", "tokens_build", "--source", HIDDEN, "--platforms", "css"]));
    assert!(raw(&["call", HIDDEN]) && raw(&["tools", HIDDEN]) && raw(&["undo", HIDDEN]));
    assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"));
}

#[test]
fn m08_names_that_look_like_a_tools_are_no_tools_and_are_told_apart_in_the_record() {
    let place = Place::new();
    let mut wire = Wire::initialized(&place);
    for tool in wire.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{name}");
    }
    let lookalikes = [
        "tokens_bu\u{456}ld",
        "t\u{43e}kens_build",
        "\u{ff54}okens_build",
        "tokens_build\u{200b}",
        "\u{feff}tokens_build",
        "tokens\u{2060}_build",
        "tokens_build\u{301}",
        "TOKENS_BUILD",
        "Tokens_build",
        "tokens_bui1d",
        "tokens-build",
        " tokens_build",
        "tokens_build\n",
        "tokens_build\0",
        "",
    ];
    let arguments = json!({ "source": "tokens", "platforms": ["css"], "apply": true });
    for name in lookalikes {
        let answer = wire.request("tools/call", json!({ "name": name, "arguments": arguments }));
        assert_eq!(answer["error"]["code"], -32602, "{name:?}: {answer}");
        let inner = json!({ "name": "tool_call", "arguments": { "tool": name, "arguments": arguments } });
        let answer = wire.request("tools/call", inner);
        assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{name:?}: {answer}");
    }
    wire.finish();
    assert!(!exists(&place.root().join("artifacts")));
    let shown = place.ok(&["audit", "tail", "-n", "1000"]);
    assert!(shown.contains("tokens_build<U+200B>") && shown.contains("tokens_bu<U+0456>ld"), "{shown}");
    let passes = shown.lines().filter(|l| l.ends_with(" tokens_build")).count();
    assert_eq!(passes, 0, "no lookalike is recorded as the tool that it looks like: {shown}");
}

#[test]
fn m22_what_is_listed_is_its_callers_and_no_cache_shares_it() {
    let place = Place::new();
    let meta = meta("2026-07-28");
    let mut wire = Wire::start(&place);
    let listed = wire.request("tools/list", json!({ "_meta": meta }));
    assert_eq!(listed["result"]["cacheScope"], "private", "{listed}");
    wire.finish();
    // Nor does one on the way.
    let remote = super::remote::Remote::start(&place);
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let answer =
        remote.post(&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")], &request);
    assert_eq!(answer.message()["result"]["cacheScope"], "private", "{}", answer.body);
    assert!(answer.header("cache-control").is_none_or(|v| v.contains("no-store")), "{}", answer.head);
    assert!(answer.header("etag").is_none() && answer.header("expires").is_none(), "{}", answer.head);
    remote.finish();
}

#[test]
fn m30_no_definition_of_ours_carries_an_image_or_anything_that_is_fetched() {
    let place = Place::new();
    let mut wire = Wire::start(&place);
    let meta = meta("2026-07-28");
    for method in ["server/discover", "tools/list"] {
        let answer = wire.request(method, json!({ "_meta": meta }));
        let text = answer["result"].to_string();
        assert!(answer["result"].is_object(), "{answer}");
        for carried in ["\"icons\"", "data:", "<svg", "http:", "https://", "javascript:"] {
            let schema = text.replace("https://json-schema.org/draft/2020-12/schema", "");
            assert!(!schema.contains(carried), "{method}: {carried}");
        }
        assert!(is_plain(&text));
    }
    wire.finish();
}
