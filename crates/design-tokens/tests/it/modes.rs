//! Modes and resolver documents.

use std::collections::BTreeMap;

use design_tokens::{Contrast, ModeOptions, Options, Platform, References};

use super::{css, errors, files};

const BASE: &str = r##"{"p":{"$type":"color","a":{"$value":"#ffffff"},"b":{"$value":"#000000"}},
  "bg":{"$value":"{p.a}"},"card":{"$value":"{bg}"},"space":{"$type":"number","$value":4}}"##;
const DARK: &str = r#"{"bg":{"$type":"color","$value":"{p.b}"}}"#;

fn dark(change: impl FnOnce(&mut ModeOptions)) -> Options {
    let mut mode =
        ModeOptions { name: "dark".into(), sources: vec!["dark.json".into()], ..ModeOptions::default() };
    change(&mut mode);
    Options { modes: vec![mode], ..Options::default() }
}

fn build(options: &Options) -> String {
    css(&files(&[("t.json", BASE), ("dark.json", DARK)], options).unwrap(), options)
}

fn block<'t>(text: &'t str, head: &str) -> &'t str {
    text.split(head).nth(1).unwrap_or_else(|| panic!("{head}: {text}")).split('}').next().unwrap()
}

#[test]
fn a_mode_has_only_what_changed() {
    let media = build(&dark(|m| m.media = Some("(prefers-color-scheme: dark)".into())));
    let inside = block(&media, "@media (prefers-color-scheme: dark)");
    assert!(
        inside.contains("--bg: var(--p-b);") && !inside.contains("--card") && !inside.contains("--space"),
        "{media}"
    );
    // Under a selector of its own, what depends on the change is declared again: it is computed where it is declared.
    let selector = build(&dark(|_| {}));
    let inside = block(&selector, "[data-theme=\"dark\"] {");
    assert!(inside.contains("--bg: var(--p-b);") && inside.contains("--card: var(--bg);"), "{selector}");
    assert!(!inside.contains("--space") && !inside.contains("--p-a"), "{selector}");
}

#[test]
fn references_can_be_resolved() {
    let out = build(&Options { references: References::Resolved, ..dark(|_| {}) });
    assert!(!out.contains("var(") && block(&out, "[data-theme").contains("--card: #000000;"), "{out}");
}

#[test]
fn light_dark_switches_by_the_scheme() {
    let options = dark(|m| {
        m.light_dark = true;
        m.color_scheme = Some("dark".into());
    });
    let options = Options { references: References::Resolved, color_scheme: Some("light".into()), ..options };
    let out = build(&options);
    assert!(
        out.contains("color-scheme: light dark;") && out.contains("--bg: light-dark(#ffffff, #000000);"),
        "{out}"
    );
    assert!(block(&out, "[data-theme=\"dark\"] {").contains("color-scheme: dark;"), "{out}");
    let wrong = Options { color_scheme: Some("dark".into()), ..options };
    assert_eq!(errors(files(&[("t.json", BASE), ("dark.json", DARK)], &wrong)), ["options"]);
}

#[test]
fn slips_of_the_pen_in_a_theme_are_noticed() {
    let slip = r##"{"bgg":{"$type":"color","$value":"#000000"}}"##;
    let compiled = files(&[("t.json", BASE), ("dark.json", slip)], &dark(|_| {})).unwrap();
    let found: Vec<&str> =
        compiled.warnings.iter().filter(|w| w.code == "mode-only").map(|w| w.fix.as_str()).collect();
    assert_eq!(found, ["did you mean bg?"]);
    let loader =
        BTreeMap::from([("a.json".to_owned(), BASE.to_owned()), ("b.json".to_owned(), DARK.to_owned())]);
    let both =
        design_tokens::compile(&["a.json".into(), "b.json".into()], &loader, &Options::default()).unwrap();
    assert!(
        both.warnings.iter().any(|w| w.code == "redefined" && w.message.contains("bg stands in a.json:2")),
        "{:?}",
        both.warnings
    );
}

#[test]
fn contrast_is_checked_in_every_mode() {
    let pair = Contrast { foreground: "p.b".into(), background: "bg".into(), minimum: 4.5 };
    let options = Options { contrast: vec![pair], ..dark(|_| {}) };
    let compiled = files(&[("t.json", BASE), ("dark.json", DARK)], &options).unwrap();
    let found: Vec<&str> =
        compiled.warnings.iter().filter(|w| w.code == "contrast").map(|w| w.message.as_str()).collect();
    assert_eq!(found, ["p.b on bg in mode dark has contrast 1.00, below 4.5"]);
}

#[test]
fn javascript_has_modes_and_its_types() {
    let options = Options { json: true, ..dark(|_| {}) };
    let compiled = files(&[("t.json", BASE), ("dark.json", DARK)], &options).unwrap();
    let outputs = compiled.emit(Platform::Js, &options).unwrap();
    let names: Vec<&str> = outputs.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["tokens.js", "tokens.d.ts", "tokens.json"]);
    assert!(outputs[1].text.contains("export type Mode = \"dark\";"));
    let json: serde_json::Value = serde_json::from_str(&outputs[2].text).unwrap();
    assert_eq!((&json["bg"]["alias"], &json["bg"]["type"]), (&"p.a".into(), &"color".into()));
    assert!(json["card"]["modes"]["dark"].is_object());
}

const RESOLVER: &str = r##"{"version":"2025.10","sets":{"base":{"sources":[{"$ref":"base.json"},{"x":{"$type":"number","$value":1}}]}},
  "modifiers":{"theme":{"contexts":{"light":[],"dark":[{"$ref":"dark.json"}]},"default":"light"}},
  "resolutionOrder":[{"$ref":"#/sets/base"},{"$ref":"#/modifiers/theme"},
    {"name":"last","type":"set","sources":[{"x":{"$type":"number","$value":2}}]}]}"##;

#[test]
fn resolver_documents_merge_in_order_and_follow_their_inputs() {
    let all = [("r.resolver.json", RESOLVER), ("base.json", BASE), ("dark.json", DARK)];
    let mut options = Options::default();
    options.modes.push(ModeOptions {
        name: "dark".into(),
        contexts: BTreeMap::from([("Theme".to_owned(), "DARK".to_owned())]),
        ..ModeOptions::default()
    });
    let compiled = files(&all, &options).unwrap();
    let out = css(&compiled, &options);
    assert!(out.contains("--x: 2;") && out.contains("--bg: var(--p-a);"), "{out}");
    assert!(block(&out, "[data-theme=\"dark\"]").contains("--bg: var(--p-b);"), "{out}");
}

#[test]
fn mistakes_in_resolver_documents_are_named() {
    for (change, code) in [
        (("\"2025.10\"", "\"2025-10-01\""), "resolver-version"),
        (("\"default\":\"light\"", "\"default\":\"dim\""), "resolver-default"),
        (("#/sets/base", "#/sets/nope"), "resolver-reference"),
        (("base.json", "nope.json"), "resolver-file"),
        (("base.json", "../../etc/passwd"), "resolver-file"),
        (("\"name\":\"last\",", ""), "resolver-inline"),
        ((",\"default\":\"light\"", ""), "resolver-input"),
        (("{\"light\":[],\"dark\":[{\"$ref\":\"dark.json\"}]}", "{}"), "resolver-contexts"),
        (
            ("\"sources\":[{\"$ref\":\"base.json\"}", "\"sources\":[{\"$ref\":\"#/modifiers/theme\"}"),
            "resolver-reference",
        ),
        (
            ("\"sources\":[{\"$ref\":\"base.json\"}", "\"sources\":[{\"$ref\":\"#/sets/base\"}"),
            "resolver-cycle",
        ),
    ] {
        let text = RESOLVER.replace(change.0, change.1);
        assert_ne!(text, RESOLVER);
        let all = [("r.resolver.json", text.as_str()), ("base.json", BASE), ("dark.json", DARK)];
        let found = errors(files(&all, &Options::default()));
        assert!(found.contains(&code), "{}: {found:?}", change.1);
    }
}

#[test]
fn a_file_that_is_drawn_in_is_about_itself() {
    let outer = r##"{"version":"2025.10","resolutionOrder":[{"$ref":"#/sets/all"}],
      "sets":{"all":{"sources":[{"$ref":"inner/set.json"}]},"shared":{"sources":[{"wrong":{"$type":"number","$value":0}}]}}}"##;
    let inner = r##"{"sources":[{"$ref":"#/$defs/tokens"},{"$ref":"./more.json#/part"}],
      "$defs":{"tokens":{"a":{"$type":"number","$value":1}}}}"##;
    let more = r#"{"part":{"b":{"$type":"number","$value":2}}}"#;
    let all = [("t.resolver.json", outer), ("inner/set.json", inner), ("inner/more.json", more)];
    let text = css(&files(&all, &Options::default()).unwrap(), &Options::default());
    assert!(text.contains("--a: 1;") && text.contains("--b: 2;"), "{text}");
    let circle = inner.replace("./more.json#/part", "set.json");
    let all = [("t.resolver.json", outer), ("inner/set.json", &*circle)];
    assert_eq!(errors(files(&all, &Options::default())), ["resolver-cycle"]);
}

#[test]
fn what_nobody_chose_is_checked_too() {
    let document = |sets: &str, modifiers: &str, order: &str| {
        format!(
            r##"{{"version":"2025.10","resolutionOrder":[{{"$ref":"#/sets/base"}}{order}],
            "sets":{{"base":{{"sources":[{{"a":{{"$type":"number","$value":1}}}}]}}{sets}}},"modifiers":{{{modifiers}}}}}"##
        )
    };
    let codes = |sets: &str, modifiers: &str, order: &str| {
        errors(files(&[("t.resolver.json", &document(sets, modifiers, order))], &Options::default()))
    };
    assert!(codes("", "", "").is_empty());
    assert_eq!(codes("", r#""m":{"contexts":{}}"#, ""), ["resolver-contexts"]);
    assert_eq!(codes(r#","s":{"sources":[{"$ref":"missing.json"}]}"#, "", ""), ["resolver-file"]);
    assert_eq!(codes(r##","s":{"$ref":"#/sets/nowhere"}"##, "", ""), ["resolver-reference"]);
    assert!(codes(r##","s":{"$ref":"#/sets/base"}"##, "", r##",{"$ref":"#/sets/s"}"##).is_empty());
    let modifier = r##""m":{"default":"x","contexts":{"x":[],"y":[{"$ref":"#/sets/nowhere"}]}}"##;
    assert_eq!(codes("", modifier, r##",{"$ref":"#/modifiers/m"}"##), ["resolver-reference"]);
    let twice = r#",{"type":"set","name":"n","sources":[]},{"type":"modifier","name":"n","contexts":{"a":[],"b":[]},"default":"a"}"#;
    assert_eq!(codes("", "", twice), ["resolver-duplicate"]);
    let options = Options { contexts: BTreeMap::from([("m".into(), "x".into())]), ..Options::default() };
    let plain = files(&[("t.resolver.json", &document("", "", ""))], &options);
    assert_eq!(errors(plain), ["resolver-input"]);
}
