//! The reference servers of npm, and one of Python's own package.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::super::scripts::{nobody_left, python, top};
use super::super::wire::{Wire, meta};
use super::super::{Place, exists, skip};
use super::{approve, call, error, possible, said};

/// The script of one of npm's servers.
pub(super) fn script(name: &str) -> PathBuf {
    top().join("target/npm/upstreams/node_modules/@modelcontextprotocol").join(name).join("dist/index.js")
}

/// A place whose user has both reference servers.
pub(super) fn place(root: &str) -> Option<Place> {
    let servers = top().join("target/npm/upstreams/node_modules/@modelcontextprotocol");
    if !possible() {
        return None;
    }
    if !exists(&servers) {
        skip("the reference servers of npm (no packages in target; `cargo xtask test` installs them)");
        return None;
    }
    let place = Place::new();
    let script = |name: &str| servers.join(name).join("dist/index.js");
    place.configure(&format!(
        "[upstreams.disk]\ncommand = \"node\"\nargs = [{:?}, \"{{root}}\"]\nroot = \"{root}\"\nconfirm = \"never\"\n\n[upstreams.every]\ncommand = \"node\"\nargs = [{:?}]\n",
        script("server-filesystem"),
        script("server-everything"),
    ));
    Some(place)
}

#[test]
fn the_reference_servers_of_npm_are_started_when_they_are_called_and_see_what_they_may() {
    let Some(place) = place("read") else { return };
    approve(
        &place,
        &["disk__read_text_file", "disk__write_file", "every__echo", "every__get_env", "every__get_sum"],
    );
    let mut wire = Wire::initialized(&place);
    let listed = wire.request("tools/list", json!({}));
    assert!(listed.to_string().contains("disk__read_text_file"), "{listed}");
    assert_eq!(said(&mut wire, "every__echo", &json!({ "message": "hello" })), "Echo: hello");
    assert!(said(&mut wire, "every__get_sum", &json!({ "a": 2, "b": 3 })).contains('5'));
    let base = place.root().join("tokens/base.json").display().to_string();
    assert!(said(&mut wire, "disk__read_text_file", &json!({ "path": base })).contains("dimension"));
    // What it answers with as an error is one.
    let outside = error(&call(&mut wire, "disk__read_text_file", &json!({ "path": "/etc/passwd" })));
    assert_eq!(outside["code"], "tool_execution_failed", "{outside}");
    // It may read the root and no more, whatever it says.
    let new = place.root().join("new.txt").display().to_string();
    let refused = error(&call(&mut wire, "disk__write_file", &json!({ "path": new, "content": "x" })));
    assert!(refused["message"].as_str().unwrap().contains("EROFS"), "{refused}");
    let variables = said(&mut wire, "every__get_env", &json!({}));
    assert!(variables.contains("\"HOME\": \"/tmp\"") && !variables.contains("XDG"), "{variables}");
    wire.finish();
    nobody_left(&place);
    // The record says whose tools they were.
    let records = place.json(&["audit", "tail", "-n", "100", "--output", "json"]);
    let of = |name: &str| records.as_array().unwrap().iter().find(|r| r["toolName"] == name).unwrap().clone();
    let upstream = of("every__echo")["upstream"].clone();
    assert_eq!(upstream["name"], "every", "{records}");
    assert!(upstream["at"].as_str().unwrap().ends_with("/node"), "{upstream}");
    assert!(upstream["server"].as_str().unwrap().contains("everything"), "{upstream}");
}

#[test]
fn a_picture_of_a_server_reaches_clients_of_both_eras_as_it_is_unless_it_is_not_wanted() {
    let script = script("server-everything");
    for passes in [true, false] {
        let Some(place) = place("none") else { return };
        place.configure(&format!(
            "[upstreams.every]\ncommand = \"node\"\nargs = [{script:?}]\nmedia = {passes}\n"
        ));
        approve(&place, &["every__get_tiny_image"]);
        for is_current in [false, true] {
            let mut wire = if is_current { Wire::start(&place) } else { Wire::initialized(&place) };
            let mut params = json!({ "name": "every__get_tiny_image", "arguments": {} });
            if is_current {
                params["_meta"] = meta("2026-07-28");
            }
            let result = wire.request("tools/call", params)["result"].clone();
            let told = result["structuredContent"]["result"]["content"][0].clone();
            assert_eq!(
                (&told["type"], &told["mimeType"]),
                (&json!("image"), &json!("image/png")),
                "{result}"
            );
            if !passes {
                assert!(told["omitted"].as_str().unwrap().contains("not passed on"), "{result}");
                assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
                continue;
            }
            let shown = &result["content"][1];
            assert_eq!(
                (&shown["type"], &shown["mimeType"]),
                (&json!("image"), &json!("image/png")),
                "{result}"
            );
            let bytes = STANDARD.decode(shown["data"].as_str().unwrap()).unwrap();
            assert!(bytes.starts_with(b"\x89PNG") && told["bytes"] == bytes.len(), "{told}");
            assert_eq!((&told["attached"], told["sha256"].as_str().map(str::len)), (&json!(0), Some(64)));
        }
    }
}

#[test]
fn a_server_that_may_write_the_root_writes_all_of_it_but_what_says_what_is_allowed() {
    let Some(place) = place("write") else { return };
    place.commit();
    approve(&place, &["disk__write_file"]);
    let mut wire = Wire::initialized(&place);
    let at = |name: &str| place.root().join(name).display().to_string();
    said(&mut wire, "disk__write_file", &json!({ "path": at("new.txt"), "content": "x" }));
    assert_eq!(std::fs::read_to_string(place.root().join("new.txt")).unwrap(), "x");
    for kept in [".git/config", ".git/hooks/pre-commit"] {
        let refused = call(&mut wire, "disk__write_file", &json!({ "path": at(kept), "content": "x" }));
        assert_eq!(refused["isError"], true, "{kept}: {refused}");
    }
    wire.finish();
}

#[test]
fn upstreams_list_says_how_each_is() {
    let Some(place) = place("none") else { return };
    // `{root}` without a root is a mistake of the configuration's.
    assert!(place.fails(&["upstreams", "list"]).1.contains("{root}"));
    let servers = top().join("target/npm/upstreams/node_modules/@modelcontextprotocol");
    let script = servers.join("server-everything/dist/index.js");
    place.configure(&format!(
        "[upstreams.every]\ncommand = \"node\"\nargs = [{script:?}]\ndeny = [\"toggle_*\", \"toggle-*\"]\n\n[upstreams.off]\nurl = \"https://docs.example/mcp\"\nenabled = false\n\n[upstreams.unset]\nurl = \"https://docs.example/mcp\"\ntoken-env = \"NOT_SET_ANYWHERE\"\n\n[upstreams.gone]\ncommand = \"/usr/bin/false\"\n\n[upstreams.fetched]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\n"
    ));
    let out = place.run(&["upstreams", "list", "--output", "json"]);
    assert_eq!(out.status.code(), Some(1), "not all are well");
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let of = |name: &str| told.as_array().unwrap().iter().find(|t| t["name"] == name).unwrap().clone();
    let every = of("every");
    assert_eq!((&every["state"], &every["health"]["era"]), (&json!("well"), &json!("older")), "{every}");
    assert!(
        every["health"]["leftOut"].as_u64().unwrap() >= 1 && every["health"]["tools"].as_u64().unwrap() > 3
    );
    assert_eq!((&of("off")["state"], &of("unset")["state"]), (&json!("off"), &json!("unset")));
    assert!(of("gone")["message"].as_str().unwrap().contains("ended with code 1"), "{told}");
    assert!(of("fetched")["message"].as_str().unwrap().contains("fetches what it runs"), "{told}");
    let said = String::from_utf8(place.run(&["upstreams", "list"]).stdout).unwrap();
    assert!(said.contains("✓ every") && said.contains("✗ gone") && said.contains("- off"), "{said}");
}

#[test]
fn a_server_of_python_is_called_and_known_by_its_environment() {
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
    approve(&place, &["notes__add"]);
    let mut wire = Wire::initialized(&place);
    let result = call(&mut wire, "notes__add", &json!({ "a": 2, "b": 40 }));
    assert_eq!(result["structuredContent"]["result"]["result"], 42, "{result}");
    wire.finish();
    // Another line of its script is another program.
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, format!("{text}\n# more\n")).unwrap();
    let mut wire = Wire::initialized(&place);
    let refused = error(&call(&mut wire, "notes__add", &json!({ "a": 2, "b": 40 })));
    assert_eq!(refused["code"], "approval_required", "{refused}");
    wire.finish();
}

#[test]
fn m28_resources_and_prompts_are_approved_as_they_are_said_and_read_as_far_as_they_were_approved() {
    let Some(place) = place("read") else { return };
    let servers = top().join("target/npm/upstreams/node_modules/@modelcontextprotocol");
    let script = servers.join("server-everything/dist/index.js");
    let table = |more: &str| format!("[upstreams.every]\ncommand = \"node\"\nargs = [{script:?}]\n{more}\n");
    place.configure(&table(""));
    assert!(!place.ok(&["approvals", "diff"]).contains("every__resource_read"), "where they are wanted");
    place.configure(&table("resources = true\nprompts = true"));
    let diff = place.ok(&["approvals", "diff"]);
    assert!(diff.contains("+ every__resource_read") && diff.contains("+ every__prompt_get"), "{diff}");
    assert!(diff.contains("instructions"), "a person sees those: {diff}");
    place.ok(&["approvals", "accept", "every__resource_read", "every__prompt_get"]);
    let mut wire = Wire::initialized(&place);
    let listed = wire.request("tools/list", json!({}))["result"]["tools"].clone();
    let read =
        listed.as_array().unwrap().iter().find(|t| t["name"] == "every__resource_read").unwrap().clone();
    let uri = read["description"].as_str().unwrap().lines().find_map(|l| l.strip_prefix("- ")).unwrap();
    let uri = uri.split(": ").next().unwrap().to_owned();
    let result = call(&mut wire, "every__resource_read", &json!({ "uri": uri }));
    assert_eq!(result["structuredContent"]["success"], true, "{uri}: {result}");
    assert!(result["structuredContent"]["result"]["contents"][0].is_object(), "{result}");
    for other in ["file:///etc/passwd", "demo://nothing/of/this"] {
        let refused = error(&call(&mut wire, "every__resource_read", &json!({ "uri": other })));
        assert_eq!(refused["code"], "not_found", "{refused}");
    }
    let prompt = said(&mut wire, "every__prompt_get", &json!({ "name": "simple-prompt" }));
    assert!(!prompt.is_empty());
    let refused = error(&call(&mut wire, "every__prompt_get", &json!({ "name": "no-such" })));
    assert_eq!(refused["code"], "not_found", "{refused}");
    wire.finish();
}
