//! Tools that have their user choose: by the client's forms in both eras, at the terminal, and without anybody to ask.

use serde_json::{Value, json};

use super::bench::Bench;
use super::confirm::{at_terminal, round};
use super::exists;
use super::remote::Remote;
use super::wire::Wire;

fn bench() -> Bench {
    Bench::new(&[("CLAUDE.md", "# Shop\n")])
}

fn sent(state: &str, action: &str, content: &Value) -> Value {
    json!({ "requestState": state, "inputResponses": { "confirm": { "action": action, "content": content } } })
}

/// What an answer that asks shows, and the state that goes along.
fn asked(answer: &Value) -> (&Value, &str) {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    let form = &answer["result"]["inputRequests"]["confirm"]["params"];
    (form, answer["result"]["requestState"].as_str().unwrap())
}

#[test]
fn what_the_user_chooses_becomes_an_argument_in_the_newer_era() {
    let bench = bench();
    let remote = Remote::start(&bench.place);
    let arguments = json!({ "interactive": true, "apply": true });
    let ask = |back: &Value| round(&remote, "onboarding_wizard", &arguments, back).message();
    let first = ask(&json!({}));
    let (form, state) = asked(&first);
    let boxes = &form["requestedSchema"]["properties"];
    assert_eq!(
        (&boxes["claude-code"]["default"], &boxes["cursor"]["default"], &boxes["codex"]),
        (&json!(true), &json!(false), &json!(null)),
        "what it shows traces of, and the repository's files alone: {form}"
    );
    let chosen = ask(&sent(state, "accept", &json!({ "claude-code": false, "cursor": true })));
    // It was to be applied: whether it may is asked next, and the choice goes along.
    let (form, state) = asked(&chosen);
    let text = form["message"].as_str().unwrap();
    assert!(text.contains(".cursor/mcp.json") && !text.contains("create .mcp.json"), "{text}");
    assert!(!exists(&bench.path(".cursor/mcp.json")));
    let applied = ask(&sent(state, "accept", &json!({})));
    assert_eq!(applied["result"]["structuredContent"]["status"], "completed", "{applied}");
    assert!(exists(&bench.path(".cursor/mcp.json")) && !exists(&bench.path(".mcp.json")));
    remote.finish();
}

#[test]
fn who_declines_or_unticks_everything_gets_the_choices() {
    let bench = bench();
    let remote = Remote::start(&bench.place);
    let arguments = json!({ "interactive": true });
    for (action, content) in
        [("decline", json!({})), ("cancel", json!({})), ("accept", json!({ "claude-code": false }))]
    {
        let first = round(&remote, "onboarding_wizard", &arguments, &json!({})).message();
        let back = sent(asked(&first).1, action, &content);
        let answer = round(&remote, "onboarding_wizard", &arguments, &back).message();
        let result = &answer["result"]["structuredContent"];
        assert_eq!(result["choices"][0], "claude-code", "{action}: {answer}");
        assert!(result["plan"]["effects"].as_array().is_none_or(Vec::is_empty), "{action}: {answer}");
    }
    remote.finish();
}

#[test]
fn what_the_user_chooses_becomes_an_argument_in_the_older_era() {
    let bench = bench();
    let mut wire = Wire::initialized_by(&bench.place, &json!({ "elicitation": {} }));
    let params = json!({ "name": "onboarding_wizard", "arguments": { "interactive": true } });
    wire.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string());
    let question = wire.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(
        question["params"]["requestedSchema"]["properties"]["vscode"]["type"], "boolean",
        "{question}"
    );
    let answer = json!({ "action": "accept", "content": { "vscode": true, "claude-code": false } });
    wire.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
    let result = wire.receive();
    let plan = result["result"]["structuredContent"]["plan"]["effects"].to_string();
    assert!(plan.contains(".vscode/mcp.json") && !plan.contains(" .mcp.json"), "{result}");
}

#[test]
fn who_cannot_be_asked_reads_what_can_be_chosen() {
    let bench = bench();
    let mut wire = Wire::initialized_by(&bench.place, &json!({}));
    let params = json!({ "name": "onboarding_wizard", "arguments": { "interactive": true } });
    let result = wire.request("tools/call", params);
    let content = &result["result"]["structuredContent"];
    assert_eq!(content["choices"].as_array().unwrap().len(), 6, "{result}");
    assert!(content["message"].as_str().unwrap().contains("without `interactive`"), "{result}");
}

#[test]
fn whoever_sits_at_the_terminal_chooses_by_numbers() {
    let bench = bench();
    let words = ["call", "onboarding_wizard", "--interactive"];
    for (typed, planned, not) in
        [("2\n", ".cursor/mcp.json", "create .mcp.json"), ("\n", "create .mcp.json", ".cursor/mcp.json")]
    {
        let Some(shown) = at_terminal(&bench.place, &words, typed) else { return };
        assert!(shown.contains("Which clients") && shown.contains("cursor (.cursor/mcp.json)"), "{shown}");
        let would = shown.split("Would").nth(1).unwrap_or_default();
        assert!(would.contains(planned) && !would.contains(not), "{typed:?}: {shown}");
    }
    let shown = at_terminal(&bench.place, &words, "99\n").unwrap();
    assert!(shown.contains("without `interactive`") && !shown.contains("Would"), "{shown}");
}
