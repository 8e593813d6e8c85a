//! The laws. A family's test calls [`check`] once, and [`change`] once per changing tool with a fixture of its own.

use std::collections::BTreeSet;
use std::path::Path;

use contract::{Kind, Spec, Status};
use policy::{Decision, Policy, Rule, Rules};
use serde_json::{Value, json};

use crate::family::Family;
use crate::registry::Registry;
use crate::schema::Compiled;
use crate::testing::bench::{Bench, Setup};

/// Checks everything that can be said about a crate's families without running their tools. `crate_dir` is the crate.
///
/// With `GATEWRIGHT_BLESS=1` contract files are written instead of compared.
pub fn check(families: &[&Family], crate_dir: &Path) {
    let registry = Registry::new(families, |_| true).expect("names are unique and schemas compile");
    assert_eq!(registry.len(), families.iter().map(|family| family.tools.len()).sum::<usize>());
    let mut known = BTreeSet::new();
    for registered in registry.iter() {
        let spec = &registered.spec();
        known.insert(spec.head.name.to_string());
        assert_eq!(registered.tool.head(), registered.head(), "what is said before it is made is what it is");
        let family = families.iter().find(|family| family.toolsets.iter().any(|t| t.0 == spec.head.toolset));
        let shadowed: Vec<&str> = registered.shadowed().collect();
        assert!(shadowed.is_empty(), "{}: {shadowed:?} are the engine's", spec.head.name);
        one(spec, family.unwrap_or_else(|| panic!("{}: its toolset is no family's", spec.head.name)));
        contract_is_current(spec, crate_dir);
        for example in registered.tool.examples() {
            let misfits = registered.misfits(&example, 8).expect("the input schema compiles");
            assert!(misfits.is_empty(), "{}: {example}: {misfits:?}", spec.head.name);
        }
        assert!(!registered.tool.examples().is_empty(), "{} has no example", spec.head.name);
        assert!(
            crate_dir.join(format!("src/tools/{}.rs", spec.head.name)).is_file(),
            "{}: one tool, one file",
            spec.head.name
        );
    }
    for file in names(&crate_dir.join("src/tools"), ".rs").iter().filter(|n| *n != "mod") {
        assert!(known.contains(file), "src/tools/{file}.rs is not registered in the family");
    }
    for file in names(&crate_dir.join("contracts"), ".json") {
        assert!(known.contains(&file), "contracts/{file}.json belongs to no tool");
    }
}

fn names(dir: &Path, suffix: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|e| {
            e.unwrap().file_name().to_str().and_then(|n| n.strip_suffix(suffix)).map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

fn one(spec: &Spec, family: &Family) {
    let name = &spec.head.name;
    assert!(
        family.toolsets.iter().any(|t| t.0 == spec.head.toolset),
        "{name}: its toolset is not the family's"
    );
    assert!(
        !spec.head.title.is_empty() && spec.head.title.len() <= 60,
        "{name}: title {:?}",
        spec.head.title
    );
    let words = spec.head.description.split_whitespace().count();
    assert!((12..=70).contains(&words), "{name}: the description has {words} words");
    assert_ne!(name.as_str(), "badly_named", "a tool's name does not fit the grammar");
    for (which, schema) in [("input", &spec.input_schema), ("output", &spec.output_schema)] {
        assert_eq!(schema["type"], "object", "{name}: {which}");
        for combinator in ["anyOf", "oneOf", "allOf", "not", "if"] {
            assert!(schema.get(combinator).is_none(), "{name}: {which} has a top-level {combinator}");
        }
        described(name.as_str(), which, schema);
    }
    assert_eq!(spec.input_schema["additionalProperties"], false, "{name}");
    assert_eq!(spec.output_schema["required"], json!(["success", "message", "metadata"]), "{name}");
    let rehearsed = spec.head.kind.is_rehearsed();
    assert_eq!(spec.input_schema["properties"].get("apply").is_some(), rehearsed, "{name}: apply");
    assert_eq!(
        spec.head.annotations.read_only_hint,
        spec.head.kind == Kind::Read,
        "{name}: hints follow the kind"
    );
}

fn described(name: &str, path: &str, schema: &Value) {
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        assert!(
            property["description"].as_str().is_some_and(|d| !d.is_empty()),
            "{name}: {path} is not described"
        );
        described(name, &path, property);
        described(name, &format!("{path}[]"), &property["items"]);
    }
}

fn contract_is_current(spec: &Spec, crate_dir: &Path) {
    let path = crate_dir.join(format!("contracts/{}.json", spec.head.name));
    let mut current = serde_json::to_string_pretty(spec).unwrap();
    current.push('\n');
    if std::env::var_os("GATEWRIGHT_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, current).unwrap();
        return;
    }
    let pinned = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        pinned, current,
        "{} has another contract than is pinned: GATEWRIGHT_BLESS=1 writes it",
        spec.head.name
    );
}

/// Runs a changing tool on a fixture and checks what must hold of every change.
pub fn change(family: &Family, tool: &str, files: &[(&str, &str)], arguments: &Value) {
    let bench = Bench::new(&[family], files);
    let registered = bench.engine.registry();
    let registered = registered.resolve(tool).expect("registered");
    let spec = registered.spec();
    let before = bench.snapshot();

    let rehearsed = bench.reply(tool, arguments.clone());
    assert_eq!(bench.snapshot(), before, "a rehearsal changes nothing");
    assert_eq!(rehearsed.envelope.status, Status::Proposed);
    let plan = rehearsed.envelope.plan.clone().expect("a plan");
    assert!(!plan.effects.is_empty(), "the fixture must make the tool change something");
    let again = bench.reply(tool, arguments.clone());
    assert_eq!(
        again.envelope.plan.as_ref().map(|p| p.id),
        Some(plan.id),
        "the same rehearsal has the same plan id"
    );

    let mut with_plan = arguments.clone();
    with_plan["apply"] = json!(true);
    with_plan["plan"] = json!(plan.id.to_string());
    let applied = bench.call(tool, with_plan);
    let reply = applied.result.clone().expect("applies");
    assert_eq!(reply.envelope.status, Status::Completed);
    let value = reply.to_value().unwrap();
    for field in &spec.required_when_completed {
        assert!(value.get(field).is_some(), "{tool}: {field} is missing from a completed reply");
    }
    let output = Compiled::new(&spec.output_schema).expect("the output schema compiles");
    let invalid = output.errors(&value, 8);
    assert!(invalid.is_empty(), "{tool}: the reply does not fit its schema: {invalid:?}");
    let after = bench.snapshot();
    for (path, bytes) in &after {
        if before.get(path) != Some(bytes) && !path.ends_with('/') {
            assert!(
                plan.effects.iter().any(|e| e.contains(path.as_str())),
                "{path} changed and is not in the plan"
            );
        }
    }
    let transcripts = bench.transcripts();
    assert_eq!(transcripts.len(), 3, "every call leaves exactly one transcript");

    if spec.head.annotations.idempotent_hint {
        let mut repeat = arguments.clone();
        repeat["apply"] = json!(true);
        let repeated = bench.reply(tool, repeat);
        assert!(repeated.envelope.plan.unwrap().effects.is_empty(), "repeating an apply is a no-op");
        assert_eq!(bench.snapshot(), after);
    }

    let target = applied.metadata.transcript.expect("a transcript");
    let principal = contract::Principal::Local { uid: 0 };
    crate::undo::undo(&bench.engine, &target, &principal, true).expect("undoes");
    assert_eq!(bench.snapshot(), before, "undo restores the bytes, and the directories");

    denied(family, tool, files, arguments);
}

fn denied(family: &Family, tool: &str, files: &[(&str, &str)], arguments: &Value) {
    let rule = Rule {
        tools: vec![tool.to_owned()],
        toolsets: vec![],
        apply: Some(true),
        foreign_code: None,
        decision: Decision::Forbid,
    };
    let policy = Policy { user: Rules { rules: vec![rule], ..Rules::default() }, project: Rules::default() };
    let bench = Bench::with(&[family], files, Setup { policy, ..Setup::default() });
    let before = bench.snapshot();
    let mut apply = arguments.clone();
    apply["apply"] = json!(true);
    assert_eq!(bench.fault(tool, apply).code, contract::Code::Forbidden);
    assert_eq!(bench.snapshot(), before, "a denied call has no effect");
    let transcripts = bench.transcripts();
    assert_eq!(transcripts.len(), 1);
    assert!(transcripts[0].decision.starts_with("forbid"), "{}", transcripts[0].decision);
}
