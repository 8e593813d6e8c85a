//! Packages that the user chooses: asked by forms in both eras and at the terminal, before anything moves.

use serde_json::{Value, json};

use super::packages::{Shelf, of_registry, project, served};
use super::{Bench, python_deps};
use crate::Place;
use crate::confirm::{at_terminal, round};
use crate::remote::Remote;
use crate::secure::Secure;
use crate::wire::Wire;

/// Two packages of which there are newer versions, locked and installed.
fn shop() -> (Bench, Secure, Place) {
    let place = Place::new();
    let all =
        [("left", "1.0.0"), ("left", "1.0.1"), ("right", "1.0.0"), ("right", "1.1.0"), ("right", "2.0.0")];
    let server =
        served(&place, Shelf(all.map(|(name, version)| (name, version, json!({}))).to_vec()), |_| None);
    let manifest = |range: &str| {
        format!(
            "{{ \"name\": \"shop\", \"version\": \"1.0.0\", \"dependencies\": {{ \"left\": \"{range}1.0.0\", \"right\": \"{range}1.0.0\" }} }}\n"
        )
    };
    let bench = project(&manifest(""));
    of_registry(&bench, &server);
    let locked = bench.serve().ok("nodejs_install_deps", json!({ "apply": true }));
    assert_eq!(locked["success"], true, "{locked:#}");
    // Now the manifest allows more than the lock has.
    bench.put("package.json", &manifest("^"));
    (bench, server, place)
}

fn locked(bench: &Bench, name: &str) -> String {
    let lock: Value = serde_json::from_str(&bench.read("package-lock.json").unwrap()).unwrap();
    lock["packages"][format!("node_modules/{name}")]["version"].as_str().unwrap().to_owned()
}

/// What an answer of the newer era asks with, and the state that goes along.
pub(super) fn asked(answer: &Value) -> (&Value, &Value) {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer:#}");
    let form = &answer["result"]["inputRequests"]["confirm"]["params"];
    (&form["requestedSchema"]["properties"], &answer["result"]["requestState"])
}

pub(super) fn sent(state: &Value, action: &str, content: &Value) -> Value {
    json!({ "requestState": state, "inputResponses": { "confirm": { "action": action, "content": content } } })
}

/// A client of the older era that can ask its user, which answers its one question so.
fn older(bench: &Bench, tool: &str, arguments: &Value, answer: &Value) -> (Value, Value) {
    let mut command = bench.command();
    let mut wire = Wire::greeted(command.args(["serve", "--toolsets", "all"]), &json!({ "elicitation": {} }));
    let params = json!({ "name": tool, "arguments": arguments });
    wire.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string());
    let question = wire.receive();
    assert_eq!(question["method"], "elicitation/create", "{question:#}");
    wire.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
    let result = wire.receive();
    (
        question["params"]["requestedSchema"]["properties"].clone(),
        result["result"]["structuredContent"].clone(),
    )
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|entry| entry["name"].as_str()).collect()
}

#[test]
fn the_packages_of_node_that_the_user_ticks_move_and_no_others_in_both_eras_and_at_the_terminal() {
    let (bench, _server, _place) = shop();
    let remote = Remote::start(&bench.place);
    let arguments = json!({ "interactive": true, "apply": true });
    let ask =
        |arguments: &Value, back: &Value| round(&remote, "nodejs_update_deps", arguments, back).message();
    let first = ask(&arguments, &json!({}));
    let (boxes, state) = asked(&first);
    assert_eq!(boxes["left"]["title"], "left: 1.0.0 to 1.0.1, patch", "{boxes}");
    assert_eq!(
        (&boxes["right"]["title"], &boxes["right"]["default"]),
        (&json!("right: 1.0.0 to 1.1.0"), &json!(true))
    );
    let declined = ask(&arguments, &sent(state, "decline", &json!({})));
    let told = &declined["result"]["structuredContent"];
    assert_eq!(
        (names(&told["outdated"]), &told["plan"]["effects"]),
        (vec!["left", "right"], &json!([])),
        "{declined:#}"
    );
    assert!(
        told["installed"].is_null() && told["message"].as_str().unwrap().contains("Nothing was changed"),
        "{told:#}"
    );
    // Beyond the ranges a major version is ticked by nobody but the user.
    let beyond = ask(&json!({ "interactive": true, "latest": true }), &json!({}));
    let (boxes, _) = asked(&beyond);
    assert_eq!(
        (&boxes["right"]["default"], &boxes["left"]["default"]),
        (&json!(false), &json!(true)),
        "{boxes}"
    );

    let first = ask(&arguments, &json!({}));
    let moved = ask(&arguments, &sent(asked(&first).1, "accept", &json!({ "left": false, "right": true })));
    let told = &moved["result"]["structuredContent"];
    assert_eq!(
        (&told["status"], names(&told["lock"]["changed"])),
        (&json!("completed"), vec!["right"]),
        "{moved:#}"
    );
    assert_eq!((locked(&bench, "left"), locked(&bench, "right")), ("1.0.0".to_owned(), "1.1.0".to_owned()));
    assert!(bench.read("node_modules/right/package.json").unwrap().contains("1.1.0"), "{told:#}");
    remote.finish();

    let accept = json!({ "action": "accept", "content": { "left": true } });
    let (boxes, told) = older(&bench, "nodejs_update_deps", &json!({ "interactive": true }), &accept);
    assert!(
        boxes["left"]["type"] == "boolean" && boxes["right"].is_null(),
        "what is at its newest is not offered: {boxes}"
    );
    assert_eq!(
        (&told["status"], names(&told["lock"]["changed"])),
        (&json!("proposed"), vec!["left"]),
        "{told:#}"
    );

    let words = ["call", "nodejs_update_deps", "--interactive"];
    let Some(shown) = at_terminal(&bench.place, &words, "1\n") else { return };
    assert!(
        shown.contains("Which packages are to move?") && shown.contains("left: 1.0.0 to 1.0.1"),
        "{shown}"
    );
    assert!(shown.contains("package-lock.json"), "what it would write: {shown}");
    let shown = at_terminal(&bench.place, &words, "99\n").unwrap();
    assert!(shown.contains("Nothing was changed"), "{shown}");
    assert_eq!(locked(&bench, "left"), "1.0.0");
}

#[test]
fn the_packages_of_python_that_the_user_ticks_move_and_no_others_in_both_eras() {
    let pinned = python_deps::PROJECT
        .replace("six>=1.15,<1.17", "six==1.15.0")
        .replace("iniconfig==2.0.0", "iniconfig==1.1.1");
    let Some((bench, mut session)) = python_deps::serve(&[("pyproject.toml", &pinned)]) else { return };
    let locked = session.ok("python_install_deps", json!({ "packageManager": "uv", "apply": true }));
    if !python_deps::reached(&locked) {
        return;
    }
    bench.put(
        "pyproject.toml",
        &pinned
            .replace("six==1.15.0", "six>=1.15,<1.17")
            .replace("iniconfig==1.1.1", "iniconfig>=1.1.1,<2.1"),
    );
    let arguments = json!({ "interactive": true });
    // Nobody to ask: the choices.
    let told = session.ok("python_update_deps", arguments.clone());
    assert_eq!(
        (names(&told["outdated"]), &told["plan"]["effects"]),
        (vec!["iniconfig", "six"], &json!([])),
        "{told:#}"
    );

    let accept = json!({ "action": "accept", "content": { "iniconfig": false } });
    let (boxes, told) = older(&bench, "python_update_deps", &arguments, &accept);
    assert_eq!(boxes["six"]["title"], "six: 1.15.0 to 1.16.0, minor", "{boxes}");
    assert_eq!(
        (&told["status"], names(&told["lock"]["changed"])),
        (&json!("proposed"), vec!["six"]),
        "{told:#}"
    );

    let remote =
        Remote::with(bench.command().args(["serve", "--http", "127.0.0.1:0", "--insecure-loopback"]));
    let ask = |back: &Value| round(&remote, "python_update_deps", &arguments, back).message();
    let first = ask(&json!({}));
    let answer = ask(&sent(asked(&first).1, "accept", &json!({ "six": false })));
    let told = &answer["result"]["structuredContent"];
    assert_eq!(
        (&told["status"], names(&told["lock"]["changed"])),
        (&json!("proposed"), vec!["iniconfig"]),
        "{answer:#}"
    );
    // Only to be looked at: nobody is asked.
    let dry =
        round(&remote, "python_update_deps", &json!({ "interactive": true, "dryRun": true }), &json!({}))
            .message();
    assert_eq!(names(&dry["result"]["structuredContent"]["outdated"]), ["iniconfig", "six"], "{dry:#}");
    remote.finish();
}
