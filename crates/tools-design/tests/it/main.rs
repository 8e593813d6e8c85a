//! What must hold of the design family.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests look at the disk from outside, and say what they skip"
)]

mod lint;
mod usage;

use std::path::Path;

use contract::{Code, Status};
use gatewright_tools_design::FAMILY;
use kit::testing::{Bench, laws};
use serde_json::{Value, json};

const TOKENS: &str = r#"{
  "color": {
    "$type": "color",
    "red": { "$value": { "colorSpace": "srgb", "components": [1, 0, 0] } },
    "primary": { "$value": "{color.red}", "$description": "What matters */" }
  },
  "space": { "$type": "dimension", "s": { "$value": { "value": 4, "unit": "px" } } }
}
"#;

fn bench() -> Bench {
    Bench::new(&[&FAMILY], &[("tokens/base.json", TOKENS)])
}

fn artifact(bench: &Bench, value: &Value, platform: &str) -> String {
    let artifacts = value["artifacts"].as_array().unwrap();
    let path =
        artifacts.iter().find(|a| a["platform"] == platform).unwrap()["path"].as_str().unwrap().to_owned();
    std::fs::read_to_string(bench.root().join(path)).unwrap()
}

#[test]
fn the_family_keeps_the_laws() {
    laws::check(&[&FAMILY], Path::new(env!("CARGO_MANIFEST_DIR")));
}

#[test]
fn tokens_build_keeps_the_laws_of_change() {
    let arguments = json!({ "source": "tokens", "platforms": ["css", "scss", "js"], "preview": true });
    laws::change(&FAMILY, "tokens_build", &[("tokens/base.json", TOKENS)], &arguments);
}

#[test]
fn an_apply_writes_under_the_dated_folder_and_nowhere_else() {
    let bench = bench();
    let reply = bench
        .reply("tokens.build", json!({ "source": "tokens/base.json", "platforms": ["css"], "apply": true }));
    let value = reply.to_value().unwrap();
    assert_eq!(
        (&value["success"], &value["status"], &value["tokenCount"]),
        (&json!(true), &json!("completed"), &json!(3))
    );
    let css = artifact(&bench, &value, "css");
    assert!(
        css.contains("--color-red: #ff0000;") && css.contains("--color-primary: var(--color-red);"),
        "{css}"
    );
    assert!(css.contains("--space-s: 4px;"));
    assert_eq!(css.matches("*/").count(), 2, "a description cannot close its comment: {css}");
    for path in bench.snapshot().keys().filter(|p| !p.starts_with("tokens")) {
        assert!(
            "artifacts/current-state/".starts_with(path.as_str())
                || path.starts_with("artifacts/current-state/2"),
            "{path}"
        );
    }
}

#[test]
fn every_input_changes_something() {
    let bench = bench();
    let build = |arguments: Value| bench.reply("tokens_build", arguments).to_value().unwrap();
    let platforms = |value: &Value| -> Vec<String> {
        value["artifacts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["platform"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(platforms(&build(json!({ "source": "tokens", "platforms": ["css"] }))), ["css"]);
    assert_eq!(
        platforms(&build(json!({ "source": "tokens", "platforms": ["scss", "js"] }))),
        ["js", "js", "scss"]
    );
    let shown =
        build(json!({ "source": "tokens/**/*.json", "platforms": ["css"], "preview": true, "apply": true }));
    assert_eq!(platforms(&shown), ["css", "preview"]);
    assert!(artifact(&bench, &shown, "preview").contains("color.primary"));
}

#[test]
fn errors_come_all_at_once_with_places_and_nothing_is_written() {
    let bad = r#"{
  "a": { "$type": "color", "x": { "$value": "{a.y}" }, "y": { "$value": "{a.x}" } },
  "b": { "$value": 1 },
  "c": { "$type": "dimension", "$value": { "value": 1, "unit": "parsec" } }
}"#;
    let bench = Bench::new(&[&FAMILY], &[("tokens.json", bad)]);
    let before = bench.snapshot();
    let fault =
        bench.fault("tokens_build", json!({ "source": "tokens.json", "platforms": ["css"], "apply": true }));
    assert_eq!(
        (fault.code, fault.affected_files.as_slice()),
        (Code::InvalidSource, &["tokens.json".to_owned()][..])
    );
    for expected in
        ["tokens.json:2:28: error[alias-cycle]", "error[no-type]", "tokens.json:4:", "error[unit]"]
    {
        assert!(fault.message.contains(expected), "{expected}: {}", fault.message);
    }
    assert_eq!(bench.snapshot(), before);
}

#[test]
fn a_changed_source_makes_the_reviewed_plan_a_conflict() {
    let bench = bench();
    let arguments = json!({ "source": "tokens", "platforms": ["css"] });
    let plan = bench.reply("tokens_build", arguments.clone()).envelope.plan.unwrap();
    std::fs::write(bench.root().join("tokens/base.json"), TOKENS.replace('4', "8")).unwrap();
    let before = bench.snapshot();
    let mut apply = arguments;
    apply["plan"] = json!(plan.id.to_string());
    let fault = bench.fault("tokens_build", apply);
    assert_eq!(fault.code, Code::Conflict);
    assert_eq!(fault.affected_files, ["tokens/base.json"]);
    assert_eq!(bench.snapshot(), before);
}

#[test]
fn a_new_file_in_the_folder_is_a_conflict_too() {
    let bench = bench();
    let arguments = json!({ "source": "tokens", "platforms": ["css"] });
    let plan = bench.reply("tokens_build", arguments.clone()).envelope.plan.unwrap();
    std::fs::write(bench.root().join("tokens/more.json"), "{}").unwrap();
    let mut apply = arguments;
    apply["plan"] = json!(plan.id.to_string());
    assert_eq!(bench.fault("tokens_build", apply).code, Code::Conflict);
}

#[test]
fn a_plan_is_for_its_own_arguments_only() {
    let bench = bench();
    let plan = bench
        .reply("tokens_build", json!({ "source": "tokens", "platforms": ["css"] }))
        .envelope
        .plan
        .unwrap();
    let other = json!({ "source": "tokens", "platforms": ["scss"], "plan": plan.id.to_string() });
    assert_eq!(bench.fault("tokens_build", other).code, Code::InvalidArgument);
    let unknown = format!("plan_{}", "0".repeat(64));
    let missing = json!({ "source": "tokens", "platforms": ["css"], "plan": unknown });
    assert_eq!(bench.fault("tokens_build", missing).code, Code::NotFound);
}

#[test]
fn the_second_build_says_what_changed() {
    let bench = bench();
    let arguments = json!({ "source": "tokens", "platforms": ["css"], "apply": true });
    bench.reply("tokens_build", arguments.clone());
    let edited = TOKENS.replace("[1, 0, 0]", "[0, 0, 1]").replace("\"s\":", "\"m\":");
    std::fs::write(bench.root().join("tokens/base.json"), edited).unwrap();
    let value = bench.reply("tokens_build", arguments).to_value().unwrap();
    let changes = &value["changes"];
    assert_eq!((&changes["addedCount"], &changes["removedCount"]), (&json!(1), &json!(1)));
    assert_eq!((&changes["added"], &changes["removed"]), (&json!(["space.m"]), &json!(["space.s"])));
    assert_eq!(changes["changedCount"], 2, "the alias changes with its target: {changes}");
    assert!(value["message"].as_str().unwrap().contains("`color.red`: #ff0000 → #0000ff"));
}

#[test]
fn options_come_from_the_project_and_mistakes_in_them_are_explained() {
    let options = "[tokens]\nprefix = 'ds'\nnaming = 'camel'\nreferences = 'resolved'\nfile = 'brand'\n";
    let files = [("tokens/base.json", TOKENS), ("gatewright.toml", options)];
    let bench = Bench::new(&[&FAMILY], &files);
    let value = bench
        .reply("tokens_build", json!({ "source": "tokens", "platforms": ["css"], "apply": true }))
        .to_value()
        .unwrap();
    let css = artifact(&bench, &value, "css");
    assert!(css.contains("--dsColorPrimary: #ff0000;"), "{css}");
    assert!(value["artifacts"][0]["path"].as_str().unwrap().ends_with("/brand.css"));
    std::fs::write(bench.root().join("gatewright.toml"), "[tokens]\nprefx = 'ds'\n").unwrap();
    let fault = bench.fault("tokens_build", json!({ "source": "tokens", "platforms": ["css"] }));
    assert!(fault.message.contains("prefx"), "{}", fault.message);
}

#[test]
fn paths_that_leave_are_refused_and_arguments_that_do_not_fit_never_reach_the_tool() {
    let bench = bench();
    for path in
        ["/etc/passwd", "../x", "tokens/../../x", "C:\\x", ".git/config", "file:///etc/passwd", "a\u{0}b"]
    {
        let fault = bench.fault("tokens_build", json!({ "source": path, "platforms": ["css"] }));
        assert_eq!(fault.code, Code::PathNotAllowed, "{path}");
        assert!(!fault.message.contains(bench.root().to_str().unwrap()));
    }
    for arguments in [
        json!({ "source": "tokens", "platforms": [] }),
        json!({ "source": "tokens", "platforms": ["ios"] }),
        json!({ "source": "tokens", "platforms": ["css"], "surprise": 1 }),
        json!({ "source": "tokens", "platforms": ["css"], "apply": "true" }),
        json!({ "Source": "tokens", "platforms": ["css"] }),
        json!({ "source": "tokens", "platforms": ["css"], "__proto__": {} }),
        json!([]),
    ] {
        assert_eq!(bench.fault("tokens_build", arguments.clone()).code, Code::InvalidArgument, "{arguments}");
    }
    let missing = bench.fault("tokens_build", json!({ "source": "nothing", "platforms": ["css"] }));
    assert_eq!((missing.code, missing.affected_files.len()), (Code::NotFound, 1));
}

#[test]
fn a_large_result_is_cut_to_its_budget_and_says_so() {
    let tokens: Vec<String> = (0..3_000).map(|i| format!(r#""t{i}": {{ "$value": {i} }}"#)).collect();
    let text = format!(r#"{{ "$type": "number", {} }}"#, tokens.join(", "));
    let bench = Bench::new(&[&FAMILY], &[("tokens.json", &text)]);
    let reply = bench.reply("tokens_build", json!({ "source": "tokens.json", "platforms": ["css", "js"] }));
    assert_eq!(reply.envelope.status, Status::Proposed);
    assert!(reply.envelope.metadata.tokens_used <= 4_000, "{}", reply.envelope.metadata.tokens_used);
    let truncated = reply.envelope.truncated.unwrap();
    assert!(truncated.shown < truncated.total && truncated.next.starts_with("gatewright plan show plan_"));
}

/// Node's reading of the module: every token's value, in the default and in a mode.
#[test]
fn the_javascript_says_the_same_as_the_css_when_node_imports_it() {
    let dark = r#"{ "color": { "$type": "color", "primary": { "$value": { "colorSpace": "srgb", "components": [0, 0, 1] } } } }"#;
    let options = "[[tokens.modes]]\nname = 'dark'\nsources = ['dark.json']\n";
    let files = [("tokens/base.json", TOKENS), ("dark.json", dark), ("gatewright.toml", options)];
    let bench = Bench::new(&[&FAMILY], &files);
    let value = bench
        .reply("tokens_build", json!({ "source": "tokens", "platforms": ["js"], "apply": true }))
        .to_value()
        .unwrap();
    let module = bench.root().join(value["artifacts"][0]["path"].as_str().unwrap());
    let script = format!(
        "import tokens, {{ token }} from {};\
         console.log(JSON.stringify([tokens['color.red'], token('color.primary'), token('color.primary', 'dark'),\
           token('space.s', 'dark'), token('constructor'), token('toString', 'dark')]));",
        json!(format!("file://{}", module.display()))
    );
    let out = std::process::Command::new("node").args(["--input-type=module", "-e", &script]).output();
    let Ok(out) = out else {
        println!("SKIPPED: node is not installed");
        return;
    };
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let read: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(read, json!(["#ff0000", "#ff0000", "#0000ff", "4px", null, null]));
}

#[test]
fn every_way_to_name_a_source_gives_the_same_tokens() {
    let files = [
        ("plain/base.json", TOKENS),
        ("dotted/brand.tokens", TOKENS),
        (
            "five/base.json5",
            "// JSON5\n{ space: { $type: 'dimension', s: { $value: { value: +4, unit: 'px' } } } }",
        ),
        (
            "doc/all.resolver.json",
            r##"{ "version": "2025.10", "sets": { "a": { "sources": [{ "$ref": "../plain/base.json" }] } }, "resolutionOrder": [{ "$ref": "#/sets/a" }] }"##,
        ),
    ];
    let bench = Bench::new(&[&FAMILY], &files);
    for source in [
        "plain/base.json",
        "plain",
        "plain/*.json",
        "dotted/brand.tokens",
        "dotted",
        "five",
        "doc",
        "doc/all.resolver.json",
    ] {
        let value = bench
            .reply("tokens_build", json!({ "source": source, "platforms": ["css"] }))
            .to_value()
            .unwrap();
        let diff = value["plan"]["diff"].as_str().unwrap();
        assert!(diff.contains("+  --space-s: 4px;"), "{source}: {diff}");
    }
}
