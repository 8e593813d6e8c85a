//! How far an upstream's call is, told to clients of both eras.

#![allow(clippy::unnecessary_debug_formatting, reason = "a path in TOML, with its quotes")]

use serde_json::{Value, json};

use super::super::Place;
use super::super::scripts::python;
use super::super::wire::{Wire, meta};
use super::real::place;
use super::{Careless, approve, possible};

/// Calls with a progress token in the words of an era; what was told meanwhile, and the answer.
fn told(wire: &mut Wire, is_current: bool, name: &str, arguments: &Value) -> (Vec<Value>, Value) {
    let mut meta = if is_current { meta("2026-07-28") } else { json!({}) };
    meta["progressToken"] = json!("far");
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    let request = json!({ "jsonrpc": "2.0", "id": "it", "method": "tools/call", "params": params });
    wire.send(&request.to_string());
    let mut steps = Vec::new();
    loop {
        let said = wire.receive();
        if said["id"] == "it" {
            return (steps, said["result"].clone());
        }
        if said["method"] == "notifications/progress" {
            assert_eq!(said["params"]["progressToken"], "far", "{said}");
            steps.push(said["params"].clone());
        }
    }
}

fn rises(steps: &[Value]) -> bool {
    steps.windows(2).all(|two| two[0]["progress"].as_f64() < two[1]["progress"].as_f64())
}

#[test]
fn how_far_an_upstreams_call_is_reaches_clients_of_both_eras() {
    let Some(place) = place("read") else { return };
    let name = "every__trigger_long_running_operation";
    approve(&place, &[name]);
    for is_current in [false, true] {
        let mut wire = if is_current { Wire::start(&place) } else { Wire::initialized(&place) };
        let (steps, answer) = told(&mut wire, is_current, name, &json!({ "duration": 2, "steps": 4 }));
        assert_eq!(answer["structuredContent"]["success"], true, "{answer}");
        let theirs: Vec<&Value> = steps.iter().filter(|step| step["total"] == json!(4.0)).collect();
        assert!(rises(&steps) && theirs.len() >= 3, "{is_current}: {steps:?}");
        assert_eq!((&theirs[0]["progress"], &theirs[0]["message"]), (&json!(1.0), &json!("every")));
        // Without a token nothing is told.
        let plain = if is_current { json!({ "_meta": meta("2026-07-28") }) } else { json!({}) };
        let mut params = json!({ "name": name, "arguments": { "duration": 1, "steps": 2 } });
        params.as_object_mut().unwrap().extend(plain.as_object().unwrap().clone());
        let request = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params });
        wire.send(&request.to_string());
        let first = wire.receive();
        assert!(first["id"] == 9 && first["result"]["isError"] != true, "{first}");
        wire.finish();
    }
}

#[test]
fn how_far_a_call_of_the_newer_era_is_reaches_clients_of_both() {
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
    approve(&place, &["notes__walk"]);
    let listed = place.json(&["upstreams", "list", "--output", "json"]);
    assert_eq!(listed[0]["health"]["era"], "current", "{listed}");
    for is_current in [false, true] {
        let mut wire = if is_current { Wire::start(&place) } else { Wire::initialized(&place) };
        let (steps, answer) = told(&mut wire, is_current, "notes__walk", &json!({ "steps": 4 }));
        assert_eq!(answer["structuredContent"]["success"], true, "{answer}");
        let theirs: Vec<&Value> = steps.iter().filter(|step| step["total"] == json!(4.0)).collect();
        assert!(rises(&steps) && theirs.len() >= 3, "{is_current}: {steps:?}");
        assert_eq!(theirs[0]["message"], "notes: step 1", "{steps:?}");
        wire.finish();
    }
}

#[test]
fn m18_progress_that_floods_or_hides_something_is_thinned_and_cleaned() {
    let Some(it) = Careless::new("") else { return };
    approve(&it.place, &["docs__steps"]);
    let mut wire = Wire::initialized(&it.place);
    let text = format!("half\u{200b} way\u{1b}[2J {}", "x".repeat(5_000));
    let (steps, answer) = told(&mut wire, false, "docs__steps", &json!({ "count": 500, "text": text }));
    assert_eq!(answer["structuredContent"]["success"], true);
    let theirs: Vec<&Value> = steps.iter().filter(|step| step["progress"] != json!(0.0)).collect();
    assert!((1..60).contains(&theirs.len()) && rises(&steps), "{}", steps.len());
    for step in theirs {
        let said = step["message"].as_str().unwrap();
        assert!(said.starts_with("docs: half way[2J xxx") && said.len() < 300, "{said:?}");
    }
    wire.finish();
}
