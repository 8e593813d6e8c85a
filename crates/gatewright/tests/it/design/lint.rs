//! What is worth changing in token files.

use serde_json::{Value, json};

use super::Bench;

const TOKENS: &str = r##"{
  // Primitives
  "color": {
    "$type": "color",
    "deepRed": { "$value": "#990000" },
    "ink": { "$value": "#111111", "$deprecated": "use color.deepRed" }
  },
  "role": {
    "danger": { "$value": "{color.deepRed}" },
    "text": { "$value": "{color.ink}" }
  },
  "space": { "s": { "$type": "dimension", "$value": { "value": 4, "unit": "px" } }, "m": { "$value": "8px" } }
}
"##;

fn codes(answer: &Value) -> Vec<(&str, bool)> {
    let findings = answer["findings"].as_array().unwrap();
    findings.iter().map(|f| (f["code"].as_str().unwrap(), f["fixed"].as_bool().unwrap())).collect()
}

#[test]
fn tokens_lint_finds_rehearses_fixes_and_then_has_nothing_left_to_fix() {
    let bench = Bench::new(&[("tokens/base.jsonc", TOKENS)]);
    let mut session = bench.serve();
    let found = session.ok("tokens_lint", json!({ "source": "tokens" }));
    assert_eq!(
        codes(&found),
        [("missing-type", false), ("naming", false), ("legacy-value", false), ("legacy-value", false)],
        "what is not resolved is not looked at further: {found}"
    );
    assert_eq!(
        (&found["success"], &found["errorCount"], &found["warningCount"], &found["fixedCount"]),
        (&json!(false), &json!(1), &json!(3), &json!(0))
    );
    let error = &found["findings"][0];
    assert_eq!(
        (
            &error["severity"],
            &error["file"],
            &error["line"],
            &error["column"],
            &error["tokenId"],
            &error["fix"]
        ),
        (
            &json!("error"),
            &json!("tokens/base.jsonc"),
            &json!(12),
            &json!(85),
            &json!("space.m"),
            &json!("add `$type`")
        )
    );

    let planned = session.ok("tokens_lint", json!({ "source": "tokens", "fix": true }));
    assert_eq!((&planned["status"], &planned["fixedCount"]), (&json!("proposed"), &json!(4)), "{planned}");
    assert!(
        codes(&planned).contains(&("deprecated-use", false)),
        "it shows once the files compile: {planned}"
    );
    assert_eq!(bench.dirt(), "", "a rehearsal changes nothing");
    let applied = session.ok(
        "tokens_lint",
        json!({ "source": "tokens", "fix": true, "apply": true, "plan": planned["plan"]["id"] }),
    );
    assert_eq!((&applied["status"], &applied["success"]), (&json!("completed"), &json!(true)), "{applied}");
    let text = bench.read("tokens/base.jsonc").unwrap();
    assert!(text.contains("  // Primitives\n"), "{text}");
    assert!(text.contains(r#""deep-red": { "$value": { "colorSpace": "srgb""#), "{text}");
    assert!(text.contains(r#""danger": { "$value": "{color.deep-red}" }"#), "{text}");
    assert!(
        text.contains(r#""m": { "$type": "dimension", "$value": { "value": 8, "unit": "px" } }"#),
        "{text}"
    );
    let again = session.ok("tokens_lint", json!({ "source": "tokens", "fix": true, "apply": true }));
    assert_eq!(
        (codes(&again), &again["fixedCount"]),
        (vec![("deprecated-use", false)], &json!(0)),
        "{again}"
    );
    assert_eq!(bench.read("tokens/base.jsonc").unwrap(), text);
}

#[test]
fn tokens_lint_is_held_to_the_levels_of_the_project_and_the_call() {
    let settings = "[tokens]\nlint = { missing-description = \"error\" }\nlint-naming = \"camel\"\nlint-alias-depth = 0\n";
    let bench = Bench::new(&[
        (
            "tokens/base.json",
            r#"{ "n": { "$type": "number", "a": { "$value": 1 }, "b-c": { "$value": "{n.a}" } } }"#,
        ),
        ("gatewright.toml", settings),
    ]);
    let mut session = bench.serve();
    let found = session.ok("tokens_lint", json!({ "source": "tokens/base.json" }));
    assert_eq!(
        codes(&found).iter().map(|(code, _)| *code).collect::<Vec<_>>(),
        ["missing-description", "missing-description", "alias-depth", "naming"],
        "{found}"
    );
    assert_eq!(found["success"], false);
    let rules = json!({ "missing-description": "off", "alias-depth": "off", "naming": "error" });
    let strict = session.ok("tokens_lint", json!({ "source": "tokens", "rules": rules }));
    assert_eq!((codes(&strict), &strict["errorCount"]), (vec![("naming", false)], &json!(1)), "{strict}");
    let page = session.ok("tokens_lint", json!({ "source": "tokens", "limit": 1 }));
    assert_eq!((page["findings"].as_array().unwrap().len(), &page["truncated"]["total"]), (1, &json!(4)));
}

#[test]
fn tokens_lint_says_what_is_wrong_with_files_and_arguments() {
    let bench = Bench::new(&[("broken.json", "{ \"a\": "), ("tokens/base.jsonc", TOKENS)]);
    let mut session = bench.serve();
    let broken = session.ok("tokens_lint", json!({ "source": "broken.json", "fix": true, "apply": true }));
    assert_eq!(
        (&broken["success"], &broken["findings"][0]["code"], &broken["findings"][0]["file"]),
        (&json!(false), &json!("syntax"), &json!("broken.json")),
        "{broken}"
    );
    assert_eq!(bench.dirt(), "");
    for (arguments, code) in [
        (json!({ "source": "none" }), "not_found"),
        (json!({ "source": "../x" }), "path_not_allowed"),
        (json!({ "source": "tokens", "rules": { "naming": "fatal" } }), "invalid_argument"),
        (json!({ "source": "tokens", "rules": { "nameing": "off" } }), "invalid_argument"),
        (json!({ "source": "tokens", "fix": "yes" }), "invalid_argument"),
    ] {
        assert_eq!(session.fails("tokens_lint", arguments.clone())["code"], code, "{arguments}");
    }
}
