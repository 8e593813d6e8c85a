//! What edits do, and what they leave alone.

use std::collections::BTreeSet;

use design_tokens::Options;
use design_tokens::lint::{Level, fix};
use proptest::prelude::*;

use super::{Case, Files};

#[test]
fn older_spellings_are_brought_up_to_date_and_everything_else_stays() {
    let text = "\u{feff}// Colours first.\n{\r\n  \"a\": { // one\r\n    \"$type\": \"color\",\r\n    \"ink\": { \"$value\": \"#111\" }, /* dark */\r\n  },\r\n  \"b\": { \"$type\": \"spacing\", \"s\": { \"$value\": \"4px\" }, \"m\": { \"$value\": \"{b.s}\" }, \"wide\": { \"$value\": \"2em\" } }\r\n}\r\n";
    let (after, fixed) = Case::new(&[("t.jsonc", text)]).fixed();
    let new = &after.files["t.jsonc"];
    let expected = text
        .replace(
            "\"#111\"",
            r##"{ "colorSpace": "srgb", "components": [0.06667, 0.06667, 0.06667], "hex": "#111111" }"##,
        )
        .replace("\"4px\"", r#"{ "value": 4, "unit": "px" }"#)
        .replace("\"spacing\"", "\"dimension\"");
    assert_eq!(new, &expected);
    let left: Vec<_> =
        fixed.report.findings.iter().filter(|f| !f.is_fixed).map(|f| (f.code, f.token.clone())).collect();
    assert_eq!(left, [("legacy-value", Some("b.wide".to_owned()))], "the format has no em");
    assert_eq!(fixed.report.fixed(), 3);
}

#[test]
fn a_rule_that_is_off_fixes_nothing() {
    let text = r##"{ "ink": { "$type": "color", "$value": "#111" } }"##;
    assert_eq!(Case::one(text).at(&[("legacy-value", Level::Off)]).fix().texts, Files::new());
    assert_eq!(Case::one(text).fix().texts.len(), 1);
}

#[test]
fn missing_types_are_put_in_where_they_are_certain() {
    let text = r##"{
  "ink": {
    "$value": "#111111"
  },
  "gap": { "$value": "16px" },
  "weight": {
    "a": { "$type": "fontWeight", "$value": 400 },
    "b": { "$value": 700 }
  },
  "what": { "$value": 3 }
}
"##;
    let case = Case::one(text);
    assert_eq!(case.found("missing-type"), ["2:3 ink", "5:3 gap", "8:5 weight.b", "10:3 what"]);
    assert_eq!(case.lint().count(Level::Error), 4, "there is no output");
    let (after, fixed) = case.fixed();
    let new = &after.files["t.json"];
    assert!(new.contains("\n    \"$type\": \"color\",\n    \"$value\": { \"colorSpace\""), "{new}");
    assert!(
        new.contains(r#""gap": { "$type": "dimension", "$value": { "value": 16, "unit": "px" } }"#),
        "{new}"
    );
    assert!(new.contains(r#""b": { "$type": "fontWeight", "$value": 700 }"#), "{new}");
    assert_eq!(
        (fixed.report.count(Level::Error), after.found("missing-type")),
        (1, vec!["11:3 what".to_owned()])
    );
}

#[test]
fn what_only_shows_once_the_files_compile_is_told() {
    let text = r##"{ "c": { "on-a": { "$value": "#777777" }, "a": { "$value": "#888888" } } }"##;
    let (_, fixed) = Case::one(text).fixed();
    let left: Vec<_> = fixed.report.findings.iter().filter(|f| !f.is_fixed).map(|f| f.code).collect();
    assert_eq!(left, ["contrast"]);
}

const OLDER: &str = r##"{
  // Style Dictionary
  "color": {
    "base": { "red": { "value": "#ff0000", "comment": "Loud" } },
    "accent": { "value": "{color.base.red.value}", "type": "color" }
  },
  "size": { "type": "sizing", "s": { "value": "4px" }, "m": { "value": "{size.s.value}" } },
  "time": { "value": "200ms", "type": "time" }
}
"##;

#[test]
fn an_older_dialect_becomes_the_stable_one_in_all_files_at_once() {
    let more = r#"{ "size": { "l": { "value": "8px" } } }"#;
    let case = Case::new(&[("a.jsonc", OLDER), ("b.json", more)]);
    assert_eq!(case.found("legacy-value").len(), 6);
    assert_eq!(case.found("legacy-type"), ["5:60 color.accent", "8:39 time"]);
    assert_eq!(case.found("missing-type"), ["4:15 color.base.red"]);
    let (after, fixed) = case.fixed();
    assert_eq!(
        after.files["a.jsonc"],
        r##"{
  // Style Dictionary
  "color": {
    "base": { "red": { "$type": "color", "$value": { "colorSpace": "srgb", "components": [1, 0, 0], "hex": "#ff0000" }, "$description": "Loud" } },
    "accent": { "$value": "{color.base.red}", "$type": "color" }
  },
  "size": { "$type": "dimension", "s": { "$value": { "value": 4, "unit": "px" } }, "m": { "$value": "{size.s}" } },
  "time": { "$value": { "value": 200, "unit": "ms" }, "$type": "duration" }
}
"##
    );
    assert_eq!(after.files["b.json"], r#"{ "size": { "l": { "$value": { "value": 8, "unit": "px" } } } }"#);
    assert_eq!(fixed.report.count(Level::Warning), 0, "{:#?}", fixed.report);
}

#[test]
fn an_older_dialect_that_says_more_than_the_stable_one_can_stays() {
    for extra in [
        r#""themeable": true"#,
        r#""attributes": { "category": "x" }"#,
        r#""deprecated": true, "deprecated_comment": "old""#,
        r#""description": "twice""#,
    ] {
        let text = OLDER.replace("\"comment\": \"Loud\"", &format!("\"comment\": \"Loud\", {extra}"));
        let (after, fixed) = Case::new(&[("a.jsonc", &text)]).fixed();
        assert_eq!((fixed.report.fixed(), &after.files["a.jsonc"]), (0, &text), "{extra}");
    }
    let unitless = r#"{ "a": { "value": 16, "type": "dimension" } }"#;
    let (_, fixed) = Case::one(unitless).fixed();
    assert_eq!(fixed.report.fixed(), 0, "16 there is no length, and would be one");
}

const NAMED: &str = r##"{
  "brandColors": {
    "$type": "number",
    "darkRed": { "$value": 1 },
    "light-red": { "$value": "{brandColors.darkRed}" }
  },
  "role": { "a": { "$value": "{ brandColors.darkRed }" }, "b": { "$type": "number", "$value": { "$ref": "#/brandColors/darkRed/$value" } },
    "c": { "$extends": "{brandColors}", "$description": "as {brandColors.darkRed}" } }
}"##;

#[test]
fn names_are_spelled_anew_with_all_that_refers_to_them() {
    let dark = r#"{ "brandColors": { "darkRed": { "$type": "number", "$value": 7 } } }"#;
    let case = Case::new(&[("t.json", NAMED), ("dark.json", dark)]).modes(&[("dark", "dark.json")]);
    assert_eq!(case.found("naming").len(), 4);
    let renames = case.lint().renames;
    assert_eq!(
        renames.iter().map(String::as_str).collect::<Vec<_>>(),
        ["brandColors.darkRed", "brandColors.light-red"]
    );
    let (after, fixed) = case.fixed();
    let rest = |text: &str| text.replace("brandColors", "brand-colors").replace("darkRed", "dark-red");
    let expected = rest(NAMED).replace("as {brand-colors.dark-red}", "as {brandColors.darkRed}");
    assert_eq!((&after.files["t.json"], &after.files["dark.json"]), (&expected, &rest(dark)));
    assert_eq!(fixed.report.fixed(), 4);
}

#[test]
fn names_stay_where_another_spelling_is_not_safe() {
    let same = |case: Case, why: &str| {
        let (_, fixed) = case.fixed();
        assert!(fixed.texts.is_empty(), "{why}: {:?}", fixed.texts);
        assert!(fixed.report.findings.iter().any(|finding| finding.code == "naming"), "{why}");
    };
    let number = |names: &[&str]| {
        let tokens: Vec<String> =
            names.iter().map(|name| format!(r#""{name}": {{ "$value": 1 }}"#)).collect();
        format!(r#"{{ "$type": "number", {} }}"#, tokens.join(", "))
    };
    let off = [("duplicate-value", Level::Off)];
    let preserve = |options: &mut Options| options.naming = design_tokens::Naming::Preserve;
    same(Case::one(&number(&["redOne", "red-one"])).with(preserve).at(&off), "the name is taken");
    same(Case::one(&number(&["redOne", "red_one"])).with(preserve).at(&off), "two would have it");
    same(Case::one(&number(&["redOne"])).with(preserve), "output would be called otherwise");
    let escaped = r#"{ "redOne": { "$type": "number", "$value": 1 }, "b": { "$value": "{red\u004fne}" } }"#;
    same(Case::one(escaped), "a reference is written with an escape");
    let pair = |options: &mut Options| {
        options.contrast.push(design_tokens::Contrast { foreground: "redOne".into(), ..<_>::default() });
    };
    same(Case::one(&number(&["redOne"])).with(pair).at(&[("contrast-pair", Level::Off)]), "settings name it");
    let resolver = r##"{ "version": "2025.10", "sets": { "a": { "sources": [{ "$ref": "t.json" }] } }, "resolutionOrder": [{ "$ref": "#/sets/a" }] }"##;
    let mut case = Case::new(&[("r.json", resolver), ("t.json", &number(&["redOne"]))]);
    case.sources.truncate(1);
    same(case, "other contexts may refer to it");
    let case = Case::one(&number(&["redOne"]));
    let frozen = BTreeSet::from(["redOne".to_owned()]);
    assert_eq!(fix(case.task(), &frozen).texts, Files::new());
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("#123456".to_owned()),
        "#[0-9a-f]{3}",
        "[0-9]{1,3}(px|rem|em|ms|s|)",
        Just("rgb(1 2 3 / 0.5)".to_owned()),
        Just("{a.fooBar}".to_owned()),
        Just("{b.x_y.value}".to_owned()),
        Just("calc({a.fooBar} * 2)".to_owned()),
        Just("ease-in".to_owned()),
        Just("4px 8px".to_owned()),
        "\\PC{0,6}",
    ]
    .prop_map(|text| serde_json::Value::String(text).to_string())
}

fn token(plain: bool) -> impl Strategy<Value = String> {
    let ty = prop_oneof![
        Just(None),
        Just(Some("color")),
        Just(Some("dimension")),
        Just(Some("spacing")),
        Just(Some("duration")),
        Just(Some("time")),
        Just(Some("string")),
        Just(Some("number")),
    ];
    let sign = if plain { "" } else { "$" };
    (ty, prop_oneof![value(), "[0-9]{1,3}"]).prop_map(move |(ty, value)| {
        let ty = ty.map_or_else(String::new, |ty| format!("\"{sign}type\": \"{ty}\",\n      "));
        format!("{{ {ty}\"{sign}value\": {value} /* é */ }}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever stands in the files: what compiled compiles to the same, nothing is changed twice, and comments stay.
    #[test]
    fn fixes_change_no_token_and_are_done_at_once(
        plain in any::<bool>(),
        tokens in prop::collection::vec((token(false), token(true)), 4),
    ) {
        let pick = |number: usize| if plain { &tokens[number].1 } else { &tokens[number].0 };
        let a = format!("{{ \"a\": {{ \"fooBar\": {}, // one\n \"two\": {} }} }}", pick(0), pick(1));
        let b = format!("{{ \"b\": {{ \"x_y\": {},\n \"B c\": {} }} }}", pick(2), pick(3));
        let case = Case::new(&[("a.jsonc", &a), ("b.jsonc", &b)]);
        let (after, _) = case.fixed();
        prop_assert_eq!(after.files["a.jsonc"].matches("/* é */").count(), 2);
    }

    #[test]
    fn no_text_makes_the_linter_panic(text in "\\PC{0,200}|[\\[\\]{}\":,$a-z0-9. #/]{0,200}") {
        let case = Case::one(&text);
        let _ = case.lint();
        let _ = case.fix();
    }
}
