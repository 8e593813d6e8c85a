//! Our own skills: found like any other, and true.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::patterns::bench;
use super::serving::skill;

#[test]
fn our_skills_are_found_and_loaded_like_any_other_after_all_others() {
    let bench = bench(&[("README.md", "# App\n")]);
    let mut session = bench.serve();
    for (query, id) in [
        ("rehearse a change and apply the plan", "skills/gatewright-rehearse-apply"),
        ("remember decisions across sessions", "skills/gatewright-keep-memory"),
        ("why did a test fail flaky", "skills/gatewright-read-failures"),
    ] {
        let found = session.ok("find_patterns", json!({ "query": query }));
        assert_eq!(
            (&found["data"][0]["id"], &found["data"][0]["library"]),
            (&json!(id), &json!("gatewright"))
        );
        let loaded = session.ok("load_skill", json!({ "skillId": id }));
        assert_eq!(loaded["data"]["library"], "gatewright");
        assert_eq!(loaded["data"]["files"].as_array().unwrap().len(), 2, "{loaded:#}");
    }
    let id = "gatewright:skills/gatewright-find-and-run-patterns";
    let text = session.ok("load_skill", json!({ "skillId": id }))["data"]["documentation"].clone();
    assert!(text.as_str().unwrap().contains("## Judge what you find"), "{text}");
    let none = session.fails("execute_skill", json!({ "skillId": id, "input": {} }));
    assert_eq!(none["code"], "skill_execution_failed", "it has no code: {none:#}");
    // Whoever has one of the same id reads that.
    bench.put(".claude/skills/gatewright-keep-memory/SKILL.md", &skill("gatewright-keep-memory"));
    let mine = session.ok("load_skill", json!({ "skillId": "skills/gatewright-keep-memory" }));
    assert_eq!(mine["data"]["library"], "project", "{mine:#}");
    let list = bench.place.json(&["library", "list", "--output", "json"]);
    let ours = list.as_array().unwrap().last().unwrap();
    assert_eq!((&ours["library"], &ours["patterns"]), (&json!("gatewright"), &json!(4)), "{list:#}");
}

/// Names of fields and their values, however deep.
fn words(schema: &Value, all: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("properties", Value::Object(fields)) => all.extend(fields.keys().cloned()),
                    ("enum", Value::Array(values)) => {
                        all.extend(values.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    ("const", Value::String(value)) => all.push(value.clone()),
                    _ => {}
                }
                words(value, all);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, all)),
        _ => {}
    }
}

#[test]
fn our_skills_name_only_tools_arguments_fields_codes_and_commands_that_there_are() {
    let bench = bench(&[("README.md", "# App\n")]);
    let mut session = bench.serve();
    let tools = session.0.request("tools/list", json!({}))["result"]["tools"].clone();
    let tools: BTreeMap<String, Value> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone()))
        .collect();
    let mut known: Vec<String> = tools.keys().cloned().collect();
    for tool in tools.values() {
        words(&tool["inputSchema"], &mut known);
        words(&tool["outputSchema"], &mut known);
    }
    known.extend(contract::Code::ALL.iter().map(|code| code.as_str().to_owned()));
    let fault = serde_json::to_value(contract::Fault::invalid("x").retry_after(1)).unwrap();
    known.extend(fault.as_object().unwrap().keys().cloned());
    // Libraries, and what ids, plans and files look like.
    known.extend(["user", "project", "gatewright", "category/name", "Read", "30d", "."].map(str::to_owned));
    let is_known = |word: &str| known.iter().any(|known| known == word);

    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
    let (mut calls, mut commands) = (0, 0);
    for folder in fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()) {
        let references: Vec<_> =
            fs::read_dir(folder.join("references")).unwrap().map(|entry| entry.unwrap().path()).collect();
        for file in references.iter().chain([&folder.join("SKILL.md")]) {
            let text = fs::read_to_string(file).unwrap();
            let shown = file.display();
            // Blocks are calls that fit their tools' schemas.
            let (mut prose, mut block) = (String::new(), None::<String>);
            for line in text.lines() {
                match (&mut block, line.trim()) {
                    (None, "```json") => block = Some(String::new()),
                    (Some(_), "```") => {
                        let call: Value = serde_json::from_str(&block.take().unwrap()).unwrap();
                        let tool = &tools[call["tool"].as_str().unwrap()];
                        let validator = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
                        let wrong: Vec<String> = validator
                            .iter_errors(&call["arguments"])
                            .map(|error| error.to_string())
                            .collect();
                        assert!(wrong.is_empty(), "{shown}: {call}: {wrong:?}");
                        calls += 1;
                    }
                    (Some(block), line) => block.push_str(line),
                    (None, line) => {
                        prose.push_str(line);
                        prose.push('\n');
                    }
                }
            }
            assert!(block.is_none(), "{shown}: a block is not closed");
            for span in prose.split('`').skip(1).step_by(2) {
                if let Some(command) = span.strip_prefix("gatewright ") {
                    let mut command: Vec<&str> = command.split(' ').collect();
                    command.push("--help");
                    assert!(
                        bench.command().args(&command).output().unwrap().status.success(),
                        "{shown}: {span}"
                    );
                    commands += 1;
                } else if span.starts_with('"') {
                    let pair: Value = serde_json::from_str(&format!("{{{span}}}")).unwrap();
                    let (key, value) = pair.as_object().unwrap().iter().next().unwrap();
                    assert!(is_known(key) && value.as_str().is_none_or(is_known), "{shown}: {span}");
                } else if let Some((scheme, _)) = span.split_once("://") {
                    assert!(["plan", "skill", "pattern"].contains(&scheme), "{shown}: {span}");
                } else if span.contains('/') {
                    let is_id = library::PatternId::new(span).is_ok();
                    assert!(is_id || span == ".agent-memory/session-notes.jsonl", "{shown}: {span}");
                } else {
                    // Such as `plan.effects` and `runs[0].run`.
                    let plain = span.replace("[0]", "");
                    let parts: Vec<&str> = plain.split('.').collect();
                    let fits = is_known(span) || parts.iter().all(|part| is_known(part));
                    assert!(fits, "{shown}: nothing is called `{span}`");
                }
            }
            for word in text.split_whitespace().filter_map(|word| word.strip_prefix("references/")) {
                let word = word.trim_end_matches(['.', ',']);
                assert!(folder.join("references").join(word).is_file(), "{shown}: references/{word}");
            }
        }
    }
    assert!(calls >= 10 && commands >= 8, "{calls} calls, {commands} commands");
}
