//! `tokens_lint`, called as a tool.

use contract::Code;
use gatewright_tools_design::FAMILY;
use kit::testing::{Bench, laws};
use serde_json::{Value, json};

const OLD: &str = r##"{
  // Colours
  "color": {
    "$type": "color",
    "ink": { "$value": "#111111" },
    "on-page": { "$value": "#777777" },
    "page": { "$value": "#888888" }
  }
}
"##;

fn codes(value: &Value) -> Vec<&str> {
    value["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect()
}

#[test]
fn tokens_lint_keeps_the_laws_of_change() {
    let arguments = json!({ "source": "tokens", "fix": true });
    laws::change(&FAMILY, "tokens_lint", &[("tokens/base.jsonc", OLD)], &arguments);
}

#[test]
fn findings_have_places_and_levels_and_a_plan_only_where_it_is_asked_for() {
    let bench = Bench::new(&[&FAMILY], &[("tokens/base.jsonc", OLD)]);
    let lint = |arguments: Value| bench.reply("tokens.lint", arguments).to_value().unwrap();
    let found = lint(json!({ "source": "tokens" }));
    assert_eq!(codes(&found), ["legacy-value", "contrast", "legacy-value", "legacy-value"]);
    assert_eq!(
        (&found["errorCount"], &found["warningCount"], &found["fixedCount"], &found["success"]),
        (&json!(0), &json!(4), &json!(0), &json!(true))
    );
    let first = &found["findings"][0];
    assert_eq!(
        (
            &first["file"],
            &first["line"],
            &first["column"],
            &first["tokenId"],
            &first["severity"],
            &first["fixed"]
        ),
        (
            &json!("tokens/base.jsonc"),
            &json!(5),
            &json!(24),
            &json!("color.ink"),
            &json!("warning"),
            &json!(false)
        )
    );
    assert!(found["plan"]["effects"].as_array().is_none_or(Vec::is_empty), "{found}");
    let strict = lint(
        json!({ "source": "tokens", "rules": { "contrast": "error", "legacy-value": "off" }, "fix": true }),
    );
    assert_eq!((codes(&strict), &strict["success"]), (vec!["contrast"], &json!(false)));
    assert!(strict["plan"]["effects"].as_array().unwrap().is_empty(), "a rule that is off fixes nothing");
    let fixed = lint(json!({ "source": "tokens", "fix": true, "apply": true }));
    assert_eq!((&fixed["warningCount"], &fixed["fixedCount"]), (&json!(1), &json!(3)), "{fixed}");
    let text = std::fs::read_to_string(bench.root().join("tokens/base.jsonc")).unwrap();
    assert!(text.contains("// Colours") && text.contains(r##""hex": "#111111" }"##), "{text}");
    assert_eq!(codes(&lint(json!({ "source": "tokens" }))), ["contrast"]);
}

#[test]
fn levels_come_from_the_project_and_the_call_wins() {
    let options = "[tokens]\nlint = { legacy-value = 'off', contrast = 'error' }\nlint-naming = 'camel'\n";
    let bench = Bench::new(&[&FAMILY], &[("tokens/base.jsonc", OLD), ("gatewright.toml", options)]);
    let lint = |arguments: Value| bench.reply("tokens_lint", arguments).to_value().unwrap();
    assert_eq!(codes(&lint(json!({ "source": "tokens" }))), ["contrast", "naming"]);
    let rules = json!({ "naming": "off", "contrast": "off", "missing-description": "error" });
    assert_eq!(codes(&lint(json!({ "source": "tokens", "rules": rules }))), ["missing-description"; 3]);
    let fault = bench.fault("tokens_lint", json!({ "source": "tokens", "rules": { "contrst": "off" } }));
    assert_eq!(fault.code, Code::InvalidArgument);
    assert!(fault.message.contains("did you mean \"contrast\"?"), "{}", fault.message);
    assert!(fault.suggestions[0].contains("alias-depth"), "{:?}", fault.suggestions);
    std::fs::write(bench.root().join("gatewright.toml"), "[tokens]\nlint = { nonsense = 'off' }\n").unwrap();
    let fault = bench.fault("tokens_lint", json!({ "source": "tokens" }));
    assert!(fault.message.starts_with("[tokens] lint in gatewright.toml"), "{}", fault.message);
    assert_eq!(fault.affected_files, ["gatewright.toml"]);
}

#[test]
fn what_does_not_compile_is_found_and_not_a_fault() {
    let bench = Bench::new(
        &[&FAMILY],
        &[("t.json", r#"{ "a": { "$value": "{b}" }, "c": { "$value": 1 } }"#), ("u.json", "{")],
    );
    let lint = |source: &str| bench.reply("tokens_lint", json!({ "source": source })).to_value().unwrap();
    let found = lint("t.json");
    assert_eq!(
        (codes(&found), &found["success"]),
        (vec!["dangling-reference", "missing-type"], &json!(false))
    );
    assert_eq!(codes(&lint("u.json")), ["syntax"]);
    assert_eq!(bench.fault("tokens_lint", json!({ "source": "none" })).code, Code::NotFound);
    assert_eq!(bench.fault("tokens_lint", json!({ "source": "../x" })).code, Code::PathNotAllowed);
    std::fs::write(bench.root().join("gatewright.toml"), "[tokens]\npx-per-rem = -1\n").unwrap();
    let settings = lint("t.json");
    assert!(
        settings["findings"].as_array().unwrap().iter().any(|f| f["file"] == "gatewright.toml"),
        "{settings}"
    );
}

#[test]
fn a_name_that_another_file_says_stays() {
    let tokens = r#"{ "brandRed": { "$type": "number", "$value": 1 }, "brandBlue": { "$type": "number", "$value": 2 } }"#;
    let files = [("tokens/t.json", tokens), ("src/a.ts", "token('brandRed'); token('brandBlueish');\n")];
    let bench = Bench::new(&[&FAMILY], &files);
    let fixed = bench
        .reply("tokens_lint", json!({ "source": "tokens", "fix": true, "apply": true }))
        .to_value()
        .unwrap();
    assert_eq!((&fixed["fixedCount"], &fixed["warningCount"]), (&json!(1), &json!(1)), "{fixed}");
    let text = std::fs::read_to_string(bench.root().join("tokens/t.json")).unwrap();
    assert_eq!(text, tokens.replace("brandBlue", "brand-blue"));
}

#[test]
fn many_findings_are_paged_with_exact_counts_and_leave_room_for_the_diff() {
    let tokens: Vec<String> = (0..600).map(|n| format!("\"t{n}\": {{ \"$value\": \"{n}.5px\" }}")).collect();
    let text = format!("{{ \"$type\": \"dimension\",\n{} }}", tokens.join(",\n"));
    let bench = Bench::new(&[&FAMILY], &[("t.json", &text)]);
    let lint = |arguments: Value| bench.reply("tokens_lint", arguments);
    let reply = lint(json!({ "source": "t.json", "fix": true }));
    assert!(reply.envelope.metadata.tokens_used <= 4_000, "{}", reply.envelope.metadata.tokens_used);
    let diff = &reply.envelope.plan.as_ref().unwrap().diff;
    assert!(diff.lines().count() > 20, "{diff}");
    let value = reply.to_value().unwrap();
    assert_eq!((&value["fixedCount"], &value["truncated"]["total"]), (&json!(600), &json!(600)));
    let shown = value["findings"].as_array().unwrap().len();
    assert!(shown > 5 && shown < 600, "{shown}");
    let next =
        lint(json!({ "source": "t.json", "fix": true, "cursor": value["truncated"]["next"], "limit": 2 }));
    let next = next.to_value().unwrap();
    assert_eq!(
        (next["findings"].as_array().unwrap().len(), &next["findings"][0]["line"]),
        (2, &json!(2 + shown))
    );
}
