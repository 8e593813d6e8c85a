//! `gatewright gain` over records that the real program left: what it says is the arithmetic over what went out, to the token.

use std::path::Path;

use serde_json::{Value, json};

use super::Place;
use super::bench::{Bench, Session};
use super::remote::Remote;
use super::wire::meta;

/// What shells of agents show of an output at most, by the rule.
const CAP: i64 = 8_250;

const MAKEFILE: &str = "\
many:
\t@seq 1 30000
few:
\t@seq 1 3000
silent:
\t@true
";

/// The rule, once more: `ceil(characters × 11 / 40)`.
fn rule(characters: usize) -> i64 {
    i64::try_from((characters * 11).div_ceil(40)).unwrap()
}

fn tokens(text: &str) -> i64 {
    rule(text.chars().count())
}

/// Calls a tool: its fields, and what the answer costs as it goes out.
fn call(session: &mut Session, tool: &str, arguments: Value) -> (Value, i64) {
    let result = session.call(tool, arguments);
    let text = result["content"][0]["text"].as_str().unwrap();
    (serde_json::from_str(text).unwrap(), tokens(text))
}

/// What a menu costs: of each tool what models are given of it.
fn of_menu(result: &Value) -> i64 {
    let given = |tool: &Value| json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] });
    result["tools"].as_array().unwrap().iter().map(|tool| tokens(&given(tool).to_string())).sum()
}

fn menu(session: &mut Session) -> i64 {
    of_menu(&session.0.request("tools/list", json!({}))["result"])
}

fn line(gain: &Value, name: &str) -> (i64, i64) {
    let line = &gain["minus"][name];
    (line["tokens"].as_i64().unwrap(), line["calls"].as_i64().unwrap())
}

/// A file of so many tokens that each have a fault.
fn faulty(count: usize) -> String {
    let one =
        |n: usize| format!(r#""t{n:03}": {{ "$type": "number", "$value": "{{missing.number{n:03}}}" }}"#);
    format!("{{{}}}", (0..count).map(one).collect::<Vec<_>>().join(","))
}

#[test]
fn what_is_said_is_the_arithmetic_over_what_went_out() {
    let bench = Bench::new(&[("Makefile", MAKEFILE), ("tokens/faulty.json", &faulty(150))]);
    let mut session = bench.serve();
    let menus = menu(&mut session) + menu(&mut session);
    // A run that says far more than anybody reads, and one of which all counts: 9 + 90 + 900 + 2,001 numbers, a line each.
    let (many, many_shown) = call(&mut session, "make_test", json!({ "target": "many" }));
    let said = rule(9 * 2 + 90 * 3 + 900 * 4 + 2_001 * 5);
    let (few, few_shown) = call(&mut session, "make_test", json!({ "target": "few" }));
    assert!(many_shown < said && few_shown < said, "{many_shown} {few_shown} of {said}");
    // Read again: a part by its tool, the beginning and the end as a resource.
    let run = many["runs"][0]["run"].as_str().unwrap().to_owned();
    let (_, part) = call(&mut session, "run_output", json!({ "run": run, "range": "100-140" }));
    let read = session.0.request("resources/read", json!({ "uri": format!("run://{run}") }));
    let whole = tokens(read["result"]["contents"][0]["text"].as_str().unwrap());
    // The same call again.
    let (_, again) = call(&mut session, "make_test", json!({ "target": "few" }));
    // One that says nothing.
    let (_, silent) = call(&mut session, "make_test", json!({ "target": "silent" }));
    // A list that is cut, and its other pages.
    let (mut page, list_shown) = call(&mut session, "tokens_lint", json!({ "source": "tokens" }));
    let entries = |page: &Value| {
        page["findings"].as_array().unwrap().iter().map(|f| f.to_string().chars().count() + 1).sum::<usize>()
    };
    let (mut rest, mut pages, mut turned) = (0, 0, 0);
    while let Some(next) = page["truncated"]["next"].as_str().map(str::to_owned) {
        let (following, shown) =
            call(&mut session, "tokens_lint", json!({ "source": "tokens", "cursor": next }));
        rest += entries(&following);
        (pages, turned, page) = (pages + shown, turned + 1, following);
    }
    assert!(turned > 0 && rest > 1_000, "{page}");
    // Errors, a search for tools, and one that claims nothing.
    let (_, failed) =
        call(&mut session, "run_output", json!({ "run": "run_00000000000000000000000000000000" }));
    let (_, lookup) = call(&mut session, "tools_search", json!({ "query": "commit" }));
    let (_, status) = call(&mut session, "git_status", json!({}));
    drop(session);

    let gain = bench.place.json(&["gain", "--json"]);
    assert_eq!(gain["state"], "measured", "{gain}");
    let list_whole = {
        // The record has the sum in characters; tokens are rounded once.
        let records = bench.place.json(&["audit", "tail", "-n", "50", "--output", "json"]);
        let records = records.as_array().unwrap();
        let lint = records.iter().find(|record| record["toolName"] == "tokens_lint").unwrap();
        let cost = &lint["cost"];
        assert_eq!(
            (cost["basis"].as_str(), cost["shown"].as_i64()),
            (Some("cut"), Some(list_shown)),
            "{lint}"
        );
        cost["whole"].as_i64().unwrap()
    };
    assert!(
        (list_whole - list_shown - rule(rest)).abs() <= 1,
        "{list_whole}: {list_shown} and {}",
        rule(rest)
    );
    let list = list_whole.min(CAP) - list_shown;
    let saved = (CAP - many_shown) + (said - few_shown) + (said - again) + list;
    assert_eq!(gain["saved"], json!({ "tokens": saved, "calls": 4 }), "{gain}");
    assert_eq!(line(&gain, "menus"), (menus, 2));
    assert_eq!(line(&gain, "rereads"), (part + whole + pages, 2 + turned));
    assert_eq!(line(&gain, "reruns"), (again, 1));
    assert_eq!(line(&gain, "takenBack"), (said - few_shown, 1));
    assert_eq!(line(&gain, "errors"), (failed, 1));
    assert_eq!(line(&gain, "lookups"), (lookup, 1));
    assert_eq!(line(&gain, "longer"), (silent, 1));
    assert_eq!(line(&gain, "polls"), (0, 0));
    let taken_off = menus + part + whole + pages + again + (said - few_shown) + failed + lookup + silent;
    assert_eq!(gain["net"].as_i64().unwrap(), saved - taken_off);
    assert_eq!(gain["notCounted"], json!([{ "tool": "git_status", "calls": 1, "shown": status }]));
    assert_eq!((gain["sessions"].as_i64(), gain["cap"].as_i64()), (Some(1), Some(CAP)));
    let calls = 10 + turned;
    assert_eq!(gain["records"], json!({ "calls": calls, "measured": calls, "notMeasured": 0, "damaged": 0 }));
    // By tool: what reading again costs is laid to the tool that left it out.
    let own = gain["tools"].as_array().unwrap().iter().find(|tool| tool["tool"] == "make_test").unwrap();
    let taken = part + whole + again + (said - few_shown) + silent;
    assert_eq!((own["calls"].as_i64(), own["minus"].as_i64()), (Some(4), Some(taken)), "{own}");
    assert_eq!(few["runs"].as_array().unwrap().len(), 1, "one program ran: {few}");
    // Another cap is another figure, and the text says what the JSON says.
    let low = bench.place.json(&["gain", "--json", "--cap", "1000"]);
    assert!(low["net"].as_i64() < gain["net"].as_i64(), "{low}");
    assert_eq!(low["minus"]["menus"], gain["minus"]["menus"]);
    let text = bench.place.ok(&["gain"]);
    for word in [
        "tokens net, estimated",
        "taken back for those",
        "Method",
        "Not seen",
        "git_status: 1 call",
        "prompt caching",
        "o200k_base",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(bench.place.json(&["audit", "verify", "--output", "json"])["intact"], true);
}

#[test]
fn a_conversation_is_a_connection_a_session_or_a_callers_hour() {
    let place = Place::new();
    let remote = Remote::start(&place);
    let of_session = |session: &str| {
        let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
        let ask = |id: u64, method: &str, params: Value| {
            let answer = remote
                .post(&headers, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            assert_eq!(answer.status, 200, "{}", answer.body);
            answer.message()["result"].clone()
        };
        let menu = of_menu(&ask(2, "tools/list", json!({})));
        ask(3, "tools/call", json!({ "name": "tools_search", "arguments": { "query": "lint" } }));
        ask(4, "tools/call", json!({ "name": "tools_search", "arguments": { "query": "css" } }));
        menu
    };
    let menus = of_session(&remote.session()) + of_session(&remote.session());
    let ask = |method: &str, name: &[(&str, &str)], mut params: Value| {
        params["_meta"] = meta("2026-07-28");
        let headers = [&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)], name].concat();
        let answer =
            remote.post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.message()["result"].clone()
    };
    let newer = of_menu(&ask("tools/list", &[], json!({})));
    let search = json!({ "name": "tools_search", "arguments": { "query": "lint" } });
    ask("tools/call", &[("mcp-name", "tools_search")], search);
    remote.finish();
    let gain = place.json(&["gain", "--json"]);
    // An hour may have ended between the menu and the call: then that menu is of a conversation without one.
    assert_eq!(gain["sessions"], 3, "{gain}");
    let (counted, answers) = line(&gain, "menus");
    assert!((counted, answers) == (menus + newer, 3) || (counted, answers) == (menus, 2), "{gain}");
    assert_eq!(line(&gain, "lookups").1, 5);
    assert!(gain["net"].as_i64().unwrap() < 0, "nothing was saved: {gain}");
    assert!(place.ok(&["gain"]).starts_with('−'), "it says so first");
}

#[test]
fn what_was_not_measured_and_what_cannot_be_asked_is_said() {
    let place = Place::new();
    let empty = place.json(&["gain", "--json"]);
    assert_eq!(
        (empty["state"].as_str(), empty["net"].as_i64(), &empty["from"]),
        (Some("empty"), Some(0), &Value::Null)
    );
    assert!(place.ok(&["gain"]).contains("The record of this root is empty"));
    // A person's own commands are nobody's tokens.
    place.ok(&["call", "tools_search", "--query", "css"]);
    let own = place.json(&["gain", "--json"]);
    assert_eq!(
        (own["state"].as_str(), own["records"]["notMeasured"].as_i64()),
        (Some("not_measured"), Some(1))
    );
    assert!(place.ok(&["gain"]).contains("1 call on record, of none of which the answer was measured"));
    assert!(place.ok(&["gain", "--since", "1m"]).contains("1 call"));
    assert!(place.ok(&["gain", "--since", "0m"]).contains("No call is on record since"));
    for (args, word) in [
        (["gain", "--since", "yesterday"], "give a day (2026-11-01)"),
        (["gain", "--since", "2999-01-01"], "has not come yet"),
        (["gain", "--cap", "0"], "1..=275000"),
        (["gain", "--cap", "300000"], "1..=275000"),
        (["gain", "--cap", "many"], "invalid digit"),
    ] {
        let (code, said) = place.fails(&args);
        assert!(code == 2 && said.contains(word), "{args:?}: {code} {said}");
    }
}

#[test]
fn a_record_of_before_answers_were_measured_is_read_and_goes_on() {
    let place = Place::new();
    place.ok(&["call", "tools_search", "--query", "css"]);
    let ledger = place.ledger();
    std::fs::remove_dir_all(&ledger).unwrap();
    std::fs::create_dir_all(ledger.join("segments")).unwrap();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("../audit/tests/fixtures/before-cost");
    for name in
        ["checkpoints.jsonl", "head", "initial.key", "signing.key", "tag.key", "segments/000001.jsonl"]
    {
        std::fs::copy(old.join(name), ledger.join(name)).unwrap();
    }
    let before = place.json(&["gain", "--json"]);
    assert_eq!(
        (before["state"].as_str(), before["records"]["notMeasured"].as_i64()),
        (Some("not_measured"), Some(3))
    );
    let mut session = Session::over(&mut place.command());
    session.ok("tools_search", json!({ "query": "css" }));
    drop(session);
    let after = place.json(&["gain", "--json"]);
    assert_eq!(
        after["records"],
        json!({ "calls": 4, "measured": 1, "notMeasured": 3, "damaged": 0 }),
        "{after}"
    );
    let verified = place.json(&["audit", "verify", "--output", "json"]);
    assert_eq!(
        (verified["intact"].as_bool(), verified["transcripts"].as_u64()),
        (Some(true), Some(4)),
        "{verified}"
    );
}
