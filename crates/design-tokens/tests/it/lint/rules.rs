//! What each rule finds, and what it leaves alone.

use std::collections::BTreeSet;

use design_tokens::lint::Level;

use super::Case;

const PRIMITIVES: &str = r#"{
  "color": {
    "$type": "color",
    "red": { "$value": { "colorSpace": "srgb", "components": [1, 0, 0] } },
    "blue": { "$value": { "colorSpace": "srgb", "components": [0, 0, 1] } },
    "ruby": { "$value": { "colorSpace": "srgb", "components": [1, 0, 0] } }
  },
  "role": { "primary": { "$value": "{color.red}" } }
}"#;

#[test]
fn a_source_without_fault_has_no_findings() {
    let case = Case::one(
        r#"{ "color": { "$type": "color", "red": { "$value": { "colorSpace": "srgb", "components": [1, 0, 0] } } } }"#,
    );
    assert_eq!(case.lint().findings, []);
    assert_eq!(case.lint().files, ["t.json"]);
}

#[test]
fn primitives_that_nothing_refers_to_and_values_that_stand_twice_are_found() {
    let case = Case::one(PRIMITIVES);
    assert_eq!(case.found("unused"), ["5:5 color.blue", "6:5 color.ruby"]);
    assert_eq!(case.found("duplicate-value"), ["6:5 color.ruby"]);
    let other = PRIMITIVES.replace(
        "\"ruby\": { \"$value\": { \"colorSpace\": \"srgb\", \"components\": [1, 0, 0] } }",
        "\"ruby\": { \"$value\": \"{color.red}\" }",
    );
    let case = Case::one(&other);
    assert_eq!(case.found("duplicate-value"), [""; 0], "an alias says why");
    // The same in one mode, and not in another.
    let dark = r#"{ "color": { "$type": "color", "ruby": { "$value": { "colorSpace": "srgb", "components": [0, 1, 0] } } } }"#;
    let case = Case::new(&[("t.json", PRIMITIVES), ("dark.json", dark)]).modes(&[("dark", "dark.json")]);
    assert_eq!(case.found("duplicate-value"), [""; 0]);
    let apart = r#"{ "space": { "$type": "dimension", "s": { "$value": { "value": 4, "unit": "px" } } },
        "radius": { "$type": "dimension", "s": { "$value": { "value": 4, "unit": "px" } } } }"#;
    assert_eq!(Case::one(apart).found("duplicate-value"), [""; 0], "other groups mean other things");
}

#[test]
fn chains_of_aliases_are_measured() {
    let chain = |last: &str| {
        format!(
            r#"{{ "n": {{ "$type": "number", "a": {{ "$value": 1 }}, "b": {{ "$value": "{{n.a}}" }}, "c": {{ "$value": "{{n.b}}" }},
            "d": {{ "$value": "{{n.c}}" }}, "e": {{ "$value": "{{n.{last}}}" }} }} }}"#
        )
    };
    assert_eq!(Case::one(&chain("d")).found("alias-depth"), ["2:41 n.e"]);
    assert_eq!(Case::one(&chain("c")).found("alias-depth"), [""; 0]);
    let strict = Case::one(&chain("c")).with(|options| options.lint_alias_depth = 2);
    assert_eq!(strict.found("alias-depth"), ["2:13 n.d", "2:41 n.e"]);
    let message = &strict.lint().findings.into_iter().find(|f| f.code == "alias-depth").unwrap().message;
    assert_eq!(message, "n.d is 3 aliases away from its value: n.d → n.c → n.b → n.a");
}

#[test]
fn references_to_deprecated_tokens_are_found_and_the_reason_is_told() {
    let text = r#"{ "n": { "$type": "number",
      "old": { "$value": 1, "$deprecated": "use n.new" },
      "new": { "$value": 2 },
      "a": { "$value": "{n.old}" },
      "b": { "$value": "{n.new}" },
      "c": { "$value": "{n.old}", "$deprecated": true } } }"#;
    let case = Case::one(text);
    assert_eq!(case.found("deprecated-use"), ["4:7 n.a"]);
    let report = case.lint();
    let found = report.findings.iter().find(|finding| finding.code == "deprecated-use").unwrap();
    assert_eq!(found.message, "n.a refers to n.old, which is deprecated: use n.new");
    assert!(!found.is_fixable, "what takes its place is not guessed");
}

#[test]
fn a_value_that_one_of_several_modes_lacks_is_found() {
    let base = r#"{ "n": { "$type": "number", "a": { "$value": 1 }, "b": { "$value": 2 } }, "m": { "x": { "$type": "number", "$value": 3 } } }"#;
    let both = r#"{ "n": { "$type": "number", "a": { "$value": 3 }, "b": { "$value": 4 } } }"#;
    let half = r#"{ "n": { "$type": "number", "a": { "$value": 5 } } }"#;
    let none = r#"{ "m": { "x": { "$type": "number", "$value": 9 } } }"#;
    let files = |second: &str| {
        Case::new(&[("t.json", base), ("dark.json", both), ("dim.json", second)])
            .modes(&[("dark", "dark.json"), ("dim", "dim.json")])
    };
    let case = files(half);
    assert_eq!(case.found("mode-missing"), ["1:51 n.b"]);
    assert!(case.lint().findings.iter().any(|f| f.message.contains("of its own in dark, and none in dim")));
    assert_eq!(files(both).found("mode-missing"), [""; 0]);
    assert_eq!(files(none).found("mode-missing"), [""; 0], "a mode that is about something else");
}

#[test]
fn descriptions_are_asked_for_where_somebody_wants_them() {
    let text = r#"{ "n": { "$type": "number", "a": { "$value": 1, "$description": "One." }, "b": { "$value": 2, "$description": " " } } }"#;
    assert_eq!(Case::one(text).found("missing-description"), [""; 0], "off by default");
    let case = Case::one(text).at(&[("missing-description", Level::Warning)]);
    assert_eq!(case.found("missing-description"), ["1:75 n.b"]);
}

#[test]
fn what_the_compiler_says_is_found_under_its_codes_and_levels() {
    let text = r##"{ "text": { "$type": "color", "on-page": { "$value": "#777777" }, "page": { "$value": "#888888" } } }"##;
    let case = Case::one(text);
    assert_eq!(case.found("contrast"), ["1:31 text.on-page"]);
    let report = Case::one(text).at(&[("contrast", Level::Error), ("legacy-value", Level::Off)]).lint();
    assert_eq!((report.count(Level::Error), report.findings.len()), (1, 1), "{report:#?}");
    let broken =
        Case::one("{ \"a\": { \"$type\": \"number\", \"$value\": \"{b}\" } }").at(&[("naming", Level::Off)]);
    assert_eq!(broken.found("dangling-reference"), ["1:39 a"]);
    assert_eq!(broken.lint().count(Level::Error), 1);
    assert_eq!(Case::one("{").found("syntax").len(), 1);
}

#[test]
fn names_are_held_to_the_style_that_is_chosen() {
    use design_tokens::lint::Style;
    let text = r#"{ "brandColors": { "$type": "number", "dark-red": { "$value": 1 }, "x_small": { "$value": 2 } } }"#;
    let style = |style| Case::one(text).with(|options| options.lint_naming = style).found("naming");
    assert_eq!(style(Style::Kebab), ["1:3 -", "1:68 brandColors.x_small"]);
    assert_eq!(style(Style::Camel), ["1:39 brandColors.dark-red", "1:68 brandColors.x_small"]);
    assert_eq!(style(Style::Snake), ["1:3 -", "1:39 brandColors.dark-red"]);
    assert_eq!(style(Style::Any), [""; 0]);
    let more = text.replace("x_small", "xSmall");
    let consistent = Case::one(&more).with(|options| options.lint_naming = Style::Consistent);
    assert_eq!(consistent.found("naming"), ["1:39 brandColors.dark-red"]);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the sources are looked at, not the project of a user")]
fn every_warning_of_the_compiler_is_a_rule_of_the_linter() {
    fn codes(dir: &std::path::Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                codes(&entry, found);
                continue;
            }
            let text = std::fs::read_to_string(&entry).unwrap();
            for call in text.split("warn(").skip(1) {
                // The code is the first word in quotes that stands alone.
                let code = call.split('"').skip(1).step_by(2).next().unwrap_or_default();
                if !code.is_empty() && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
                    found.insert(code.to_owned());
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    codes(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found.remove("unused-primitive");
    assert!(found.len() > 15, "{found:?}");
    let rules: BTreeSet<String> =
        design_tokens::lint::RULES.iter().map(|rule| rule.code.to_owned()).collect();
    assert_eq!(found.difference(&rules).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn the_guide_names_every_rule_with_its_level() {
    let page = include_str!("../../../../../docs/guide/tokens.md");
    for rule in design_tokens::lint::RULES {
        let level = format!("{:?}", rule.default).to_lowercase();
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", rule.code)));
        assert!(row.is_some_and(|row| row.contains(&format!("| {level} |"))), "{}: {level}", rule.code);
    }
}
