//! Policy wants a person's consent: the client's user is asked, in both eras; who cannot ask gets the next call.

use serde_json::{Value, json};

use super::remote::{Answer, Remote};
use super::wire::Wire;
use super::{Place, exists};

/// A place whose user wants to be asked before anything is applied.
fn asking() -> Place {
    let place = Place::new();
    let dir = place.scratch.path().join("config/gatewright");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), "[policy]\nrules = [{ apply = true, decision = \"confirm\" }]\n")
        .unwrap();
    place
}

fn arguments() -> Value {
    json!({ "source": "tokens", "platforms": ["css"], "apply": true })
}

/// One round of the newer era, by a client that can ask its user.
pub(crate) fn round(remote: &Remote, name: &str, arguments: &Value, back: &Value) -> Answer {
    round_as(remote, "", name, arguments, back)
}

/// The same, with a token.
fn round_as(remote: &Remote, token: &str, name: &str, arguments: &Value, back: &Value) -> Answer {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let mut params = json!({ "_meta": meta, "name": name, "arguments": arguments });
    for (key, value) in back.as_object().unwrap() {
        params[key] = value.clone();
    }
    let bearer = format!("Bearer {token}");
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", name),
        ("authorization", &bearer),
    ];
    remote.post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
}

/// Asks, and returns the state that goes along with the question.
fn asked(remote: &Remote) -> String {
    let question = round(remote, "tokens_build", &arguments(), &json!({})).message();
    let result = &question["result"];
    assert_eq!(result["resultType"], "input_required", "{question}");
    let form = &result["inputRequests"]["confirm"];
    assert_eq!(form["method"], "elicitation/create");
    let text = form["params"]["message"].as_str().unwrap();
    assert!(
        text.contains("tokens_build") && text.contains("create artifacts/"),
        "the effects are named: {text}"
    );
    result["requestState"].as_str().unwrap().to_owned()
}

pub(crate) fn answer(state: &str, action: &str) -> Value {
    json!({ "requestState": state, "inputResponses": { "confirm": { "action": action, "content": {} } } })
}

#[test]
fn the_user_is_asked_by_an_answer_in_the_newer_era() {
    let place = asking();
    let remote = Remote::start(&place);
    let declined =
        round(&remote, "tokens_build", &arguments(), &answer(&asked(&remote), "decline")).message();
    assert!(declined.to_string().contains("said no"), "{declined}");
    // Who closes the form without an answer gets what a client without forms gets.
    let closed = round(&remote, "tokens_build", &arguments(), &answer(&asked(&remote), "cancel")).message();
    let error: Value =
        serde_json::from_str(closed["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "confirmation_required");
    assert!(error["error"]["suggestions"][0].as_str().unwrap().contains("\"plan\": \"plan_"), "{error}");
    assert!(!exists(&place.root().join("artifacts")));
    let accepted = round(&remote, "tokens_build", &arguments(), &answer(&asked(&remote), "accept")).message();
    assert_eq!(accepted["result"]["structuredContent"]["status"], "completed", "{accepted}");
    assert!(exists(&place.root().join("artifacts")));
    remote.finish();
    let records = place.json(&["audit", "tail", "--output", "json"]);
    let last = &records.as_array().unwrap().last().unwrap();
    assert!(last.to_string().contains("user rule 1, the user agreed"), "{last}");
}

#[test]
fn m20_an_answer_holds_for_its_own_call_once_and_unchanged() {
    let place = asking();
    let remote = Remote::start(&place);
    let refused = |answer: &Answer| {
        let message = answer.message();
        assert_eq!(message["error"]["code"], -32602, "{message}");
        assert!(!exists(&place.root().join("artifacts")), "nothing happened");
    };
    let state = asked(&remote);
    // Another tool, other arguments, another state.
    let inner = json!({ "tool": "tokens_build", "arguments": arguments() });
    refused(&round(&remote, "tool_call", &inner, &answer(&state, "accept")));
    let mut more = arguments();
    more["platforms"] = json!(["css", "js"]);
    refused(&round(&remote, "tokens_build", &more, &answer(&state, "accept")));
    for at in [0, state.len() / 2, state.len() - 1] {
        let mut bytes = state.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        refused(&round(
            &remote,
            "tokens_build",
            &arguments(),
            &answer(&String::from_utf8(bytes).unwrap(), "accept"),
        ));
    }
    refused(&round(&remote, "tokens_build", &arguments(), &answer("", "accept")));
    // An answer without a question is none.
    let bare = json!({ "inputResponses": { "confirm": { "action": "accept", "content": {} } } });
    let question = round(&remote, "tokens_build", &arguments(), &bare).message();
    assert_eq!(question["result"]["resultType"], "input_required", "{question}");
    // Once.
    assert!(
        round(&remote, "tokens_build", &arguments(), &answer(&state, "decline"))
            .message()
            .to_string()
            .contains("said no")
    );
    refused(&round(&remote, "tokens_build", &arguments(), &answer(&state, "accept")));
    // What lay there changed between question and answer: the plan that was agreed to is no more.
    let state = asked(&remote);
    std::fs::write(place.root().join("tokens/base.json"), super::TOKENS.replace('4', "5")).unwrap();
    let late = round(&remote, "tokens_build", &arguments(), &answer(&state, "accept")).message();
    assert!(late.to_string().contains("conflict"), "{late}");
    assert!(!exists(&place.root().join("artifacts")));
    remote.finish();
}

fn call() -> String {
    let params = json!({ "name": "tokens_build", "arguments": arguments() });
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string()
}

#[test]
fn the_user_is_asked_by_a_request_in_the_older_era() {
    let place = asking();
    for (action, expected) in
        [("decline", "said no"), ("cancel", "confirmation_required"), ("accept", "completed")]
    {
        let mut wire = Wire::initialized_by(&place, &json!({ "elicitation": {} }));
        wire.send(&call());
        let question = wire.receive();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert!(question["params"]["message"].as_str().unwrap().contains("create artifacts/"), "{question}");
        assert!(!exists(&place.root().join("artifacts")), "it waits for the answer");
        let answer = json!({ "action": action, "content": {} });
        wire.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
        let result = wire.receive();
        assert_eq!(result["id"], 7);
        assert!(result["result"].to_string().contains(expected), "{action}: {result}");
    }
    assert!(exists(&place.root().join("artifacts")));
}

#[test]
fn a_client_that_cannot_ask_gets_the_plan_and_the_next_call() {
    let place = asking();
    let mut wire = Wire::initialized_by(&place, &json!({}));
    wire.send(&call());
    let refused = wire.receive();
    let error: Value =
        serde_json::from_str(refused["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "confirmation_required", "{refused}");
    assert_eq!(error["error"]["type"], "policy");
}

/// What a command prints at a terminal of its own where somebody types this; nothing where no terminal can be had.
pub(crate) fn at_terminal(place: &Place, words: &[&str], typed: &str) -> Option<String> {
    // From the util-linux program that records sessions.
    if std::process::Command::new("script").arg("--version").output().is_err() {
        super::skip("questions at the terminal (no `script`; Debian: apt-get install bsdutils)");
        return None;
    }
    let ours = place.command();
    let args = ours.get_args().map(|arg| arg.to_str().unwrap().to_owned());
    let all: Vec<String> = args.chain(words.iter().map(ToString::to_string)).collect();
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &format!("{} {}", ours.get_program().display(), all.join(" ")), "/dev/null"]);
    for (name, value) in ours.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let mut child =
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, typed.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    drop(stdin);
    Some(String::from_utf8_lossy(&out.stdout).into_owned())
}

#[test]
fn whoever_sits_at_the_terminal_is_asked() {
    let place = asking();
    let words = ["call", "tokens_build", "--source", "tokens", "--platforms", "css", "--apply"];
    for (typed, expected, applied) in [("n\n", "said no", false), ("y\n", "Done", true)] {
        let Some(shown) = at_terminal(&place, &words, typed) else { return };
        assert!(shown.contains("create artifacts/") && shown.contains(expected), "{shown}");
        assert_eq!(exists(&place.root().join("artifacts")), applied, "{shown}");
    }
    // Without a terminal, and for programs that read JSON, nobody is asked.
    let (code, message) = Place::fails(&asking(), &words);
    assert!(code == 1 && message.contains("wants the plan reviewed"), "{message}");
}

#[test]
fn naming_the_plan_is_no_consent_where_the_user_can_be_asked_or_said_no() {
    let place = asking();
    let remote = Remote::start(&place);
    let rehearsal = json!({ "source": "tokens", "platforms": ["css"] });
    let rehearsed = round(&remote, "tokens_build", &rehearsal, &json!({})).message();
    let plan = rehearsed["result"]["structuredContent"]["plan"]["id"].clone();
    let mut naming = arguments();
    naming["plan"] = plan.clone();
    let asks = |arguments: &Value| {
        let answer = round(&remote, "tokens_build", arguments, &json!({})).message();
        assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
        answer["result"]["requestState"].as_str().unwrap().to_owned()
    };
    // The user is asked although the plan is named, says no, and is asked again when it is tried again.
    let state = asks(&naming);
    let declined = round(&remote, "tokens_build", &naming, &answer(&state, "decline")).message();
    assert!(declined.to_string().contains("said no"), "{declined}");
    asks(&naming);
    // Nor does a client that cannot ask get by with it: not in the older era, and not after rehearsing the same again.
    let mut wire = Wire::initialized_by(&place, &json!({}));
    for arguments in [&naming, &rehearsal, &naming] {
        let answer =
            wire.request("tools/call", json!({ "name": "tokens_build", "arguments": arguments }))["result"]
                .clone();
        if arguments.get("apply").is_some() {
            assert!(answer.to_string().contains("confirmation_required"), "{answer}");
        }
    }
    assert!(!exists(&place.root().join("artifacts")));
    // Whoever changes their mind says so when asked.
    let agreed = round(&remote, "tokens_build", &naming, &answer(&asks(&naming), "accept")).message();
    assert_eq!(agreed["result"]["structuredContent"]["status"], "completed", "{agreed}");
    remote.finish();
}

#[test]
fn where_nobody_answers_the_reviewed_plan_can_be_named() {
    let place = asking();
    let remote = Remote::start(&place);
    let closed = round(&remote, "tokens_build", &arguments(), &answer(&asked(&remote), "cancel")).message();
    let text = closed["result"]["content"][0]["text"].as_str().unwrap();
    let plan = text.split("plan_").nth(1).unwrap().get(..64).unwrap();
    let mut naming = arguments();
    naming["plan"] = json!(format!("plan_{plan}"));
    let applied = round(&remote, "tokens_build", &naming, &json!({})).message();
    assert_eq!(applied["result"]["structuredContent"]["status"], "completed", "{applied}");
    remote.finish();
    let records = place.json(&["audit", "tail", "--output", "json"]).to_string();
    assert!(records.contains("reviewed plan, nobody answered"), "{records}");
}

#[test]
fn m20_a_question_is_answered_by_whom_it_was_asked() {
    let Some(issuer) = super::oauth::Issuer::start("ES256") else { return };
    let place = asking();
    let both = issuer.config("").replace("[\"alice\"]", "[\"alice\", \"bob\"]");
    let policy = "[policy]\nrules = [{ apply = true, decision = \"confirm\" }]\n";
    let remote = super::oauth::serve(&place, &format!("{policy}{both}"));
    let [alice, bob] = ["alice", "bob"].map(|who| issuer.mint("good", who, &["gatewright:apply"]));
    let question = round_as(&remote, &alice, "tokens_build", &arguments(), &json!({})).message();
    let state = question["result"]["requestState"].as_str().unwrap().to_owned();
    let stolen = round_as(&remote, &bob, "tokens_build", &arguments(), &answer(&state, "accept")).message();
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    assert!(!exists(&place.root().join("artifacts")));
    // A fresh token of the same person will do.
    let again = issuer.mint("good", "alice", &["design:apply"]);
    let agreed = round_as(&remote, &again, "tokens_build", &arguments(), &answer(&state, "accept")).message();
    assert_eq!(agreed["result"]["structuredContent"]["status"], "completed", "{agreed}");
    remote.finish();
}
