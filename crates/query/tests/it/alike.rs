//! Filters that this engine and the jq of this machine answer alike, and those that they do not.

use std::io::Write as _;
use std::process::{Command, Stdio};

use gatewright_query::Answer;
use serde_json::{Value, json};

use super::asked;

const JQ: &str = "/usr/bin/jq";

/// The shop that most filters look at.
fn shop() -> Value {
    json!({
        "name": "Zoë's shop", "open": true, "none": null,
        "tags": ["b", "a", "c", "a"],
        "numbers": [3, 1, 2, 10, -5, 2.5, 0],
        "items": [
            { "id": 1, "name": "nut", "price": 2.5, "tags": ["food"], "stock": { "here": 4, "there": 0 } },
            { "id": 2, "name": "bolt", "price": 0.1, "tags": [], "stock": { "here": 0, "there": 12 } },
            { "id": 3, "name": "jam", "price": 4, "tags": ["food", "sweet"], "stock": { "here": 9, "there": 1 } }
        ],
        "text": "The quick brown fox, the lazy dog", "when": "2015-03-05T23:51:47Z",
        "nested": { "a": { "b": { "c": [1, [2, [3]]] } } }, "odd key": 1, "empty": {}
    })
}

/// What jq says: the values that it gave, and whether it failed then. Nothing, where there is no jq.
fn of_jq(filter: &str, input: &Value) -> (Vec<Value>, bool) {
    let mut jq = Command::new(JQ)
        .args(["-c", filter])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It closes its input where the filter cannot be read.
    let _ = jq.stdin.take().unwrap().write_all(input.to_string().as_bytes());
    let output = jq.wait_with_output().unwrap();
    let values =
        serde_json::Deserializer::from_slice(&output.stdout).into_iter().map(Result::unwrap).collect();
    (values, !output.status.success())
}

fn of_ours(filter: &str, input: &Value) -> (Vec<Value>, bool) {
    match asked(filter, input, None) {
        Answer::Done { results, error, .. } => (results, error.is_some()),
        Answer::Failed(_) => (Vec::new(), true),
    }
}

/// Whole numbers and fractions of the same size are the same value to jq.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn filters(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn filters_give_what_the_jq_of_this_machine_gives() {
    if !std::path::Path::new(JQ).exists() {
        return super::skip("filters held against jq (there is no /usr/bin/jq)");
    }
    let (input, alike) = (shop(), filters(include_str!("alike.txt")));
    assert!(alike.len() >= 120, "{}", alike.len());
    let mut wrong = Vec::new();
    for filter in &alike {
        let (theirs, ours) = (of_jq(filter, &input), of_ours(filter, &input));
        if !agree(&theirs, &ours) {
            wrong.push(format!(
                "{filter}\n  jq:   {theirs:?}\n  ours: {ours:?} {:?}",
                asked(filter, &input, None)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), alike.len(), wrong.join("\n"));
}

#[test]
fn what_the_jq_of_this_machine_answers_otherwise_is_listed_and_nothing_else_is() {
    if !std::path::Path::new(JQ).exists() {
        return super::skip("filters that jq answers otherwise (there is no /usr/bin/jq)");
    }
    let input = shop();
    for filter in filters(include_str!("otherwise.txt")) {
        let (theirs, ours) = (of_jq(filter, &input), of_ours(filter, &input));
        assert!(!agree(&theirs, &ours), "{filter} is answered alike by now: move it to alike.txt");
    }
}

fn agree(theirs: &(Vec<Value>, bool), ours: &(Vec<Value>, bool)) -> bool {
    theirs.1 == ours.1
        && theirs.0.len() == ours.0.len()
        && theirs.0.iter().zip(&ours.0).all(|(theirs, ours)| same(theirs, ours))
}
