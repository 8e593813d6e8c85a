//! Upstreams that are programs: the reference servers of npm, one of Python's, and one that is careless or hostile, each in
//! a world of its own.
#![allow(clippy::unnecessary_debug_formatting, reason = "a path in TOML or Python, with its quotes")]

mod asking;
mod beside;
mod hostile;
mod progress;
mod real;
mod rules;
mod stands;
mod story;

use std::path::PathBuf;

use serde_json::{Value, json};

use super::wire::Wire;
use super::{Place, exists, skip};

/// Whether programs are started in worlds here; else that is said loudly.
pub(crate) fn possible() -> bool {
    if !exists("/usr/bin/python3".as_ref()) {
        skip("upstreams that are programs (no /usr/bin/python3)");
        return false;
    }
    let place = Place::new();
    let said = place.run(&["doctor"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let is_full = said.lines().any(|line| line.contains("confinement") && line.contains("namespaces"));
    if !is_full {
        skip("upstreams that are programs (no namespaces here)");
    }
    is_full
}

/// A server that is as careless or hostile as it is told.
pub(crate) struct Careless {
    pub(crate) place: Place,
}

impl Careless {
    /// One that is called `docs`; `more` is said besides in its table.
    pub(crate) fn new(more: &str) -> Option<Self> {
        if !possible() {
            return None;
        }
        let it = Self { place: Place::new() };
        let scratch = it.place.scratch.path();
        for folder in ["server", "told"] {
            std::fs::create_dir_all(scratch.join(folder)).unwrap();
        }
        std::fs::write(it.script(), include_str!("server.py")).unwrap();
        it.configure(more);
        it.set(&json!({}));
        Some(it)
    }

    pub(crate) fn script(&self) -> PathBuf {
        self.place.scratch.path().join("server/server.py")
    }

    pub(crate) fn configure(&self, more: &str) {
        let told = self.place.scratch.path().join("told");
        let table = format!(
            "[upstreams.docs]\ncommand = \"/usr/bin/python3\"\nargs = [{:?}, {:?}]\nreads = [{:?}]\n{more}\n",
            self.script(),
            told.join("state.json"),
            told,
        );
        self.place.configure(&table);
    }

    /// Has it behave so from now on.
    pub(crate) fn set(&self, what: &Value) {
        let mut state = json!({ "tools": tools() });
        for (key, value) in what.as_object().unwrap() {
            state[key] = value.clone();
        }
        let told = self.place.scratch.path().join("told");
        std::fs::write(told.join("next.json"), state.to_string()).unwrap();
        std::fs::rename(told.join("next.json"), told.join("state.json")).unwrap();
    }
}

fn tool(name: &str, annotations: &Value) -> Value {
    json!({ "name": name, "description": format!("Does {name}."), "inputSchema": { "type": "object" }, "annotations": annotations })
}

pub(crate) fn tools() -> Value {
    let reads = json!({ "readOnlyHint": true });
    let names = ["probe", "wait", "show", "echo", "steps"];
    Value::Array(names.map(|name| tool(name, &reads)).into())
}

/// Has a person look, and approve what they saw.
pub(crate) fn approve(place: &Place, names: &[&str]) {
    place.ok(&["approvals", "diff"]);
    place.ok(&[&["approvals", "accept"], names].concat());
}

pub(crate) fn call(wire: &mut Wire, name: &str, arguments: &Value) -> Value {
    wire.request("tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone()
}

/// What a call that worked says.
pub(crate) fn said(wire: &mut Wire, name: &str, arguments: &Value) -> String {
    let result = call(wire, name, arguments);
    assert_eq!(result["structuredContent"]["success"], true, "{name} {arguments}: {result}");
    result["structuredContent"]["message"].as_str().unwrap().to_owned()
}

pub(crate) fn error(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    text["error"].clone()
}
