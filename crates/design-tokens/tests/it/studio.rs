//! Tokens Studio: mathematics, themes, modified colours.

use design_tokens::{ModeOptions, Options, Platform, References};

use super::{css, errors, files, one, scss};

const MATHS: &str = r##"{
  "dim": { "base": {"value":"16px","type":"spacing"}, "half": {"value":"{dim.base} / 2","type":"spacing"},
    "num": {"value":"8 / 4 * 7px","type":"sizing"}, "neg": {"value":"-{dim.base}","type":"spacing"},
    "mixed": {"value":"{dim.base} + 1rem","type":"spacing"}, "pair": {"value":"{dim.base} {dim.half}","type":"spacing"} },
  "lh": {"value":"24px","type":"lineHeights"}, "ratio": {"value":"{lh} / {dim.base}","type":"lineHeights"},
  "type": {"type":"typography","value":{"fontFamily":"Inter","fontWeight":"Bold","lineHeight":"{lh}",
    "fontSize":"{dim.base} * 1.5","letterSpacing":"-5%","textCase":"uppercase"}},
  "leading": {"type":"typography","value":{"fontFamily":"Inter","fontSize":"{dim.half}","lineHeight":"{lh} * 2"}},
  "c": {"type":"color","value":"#ff0000"},
  "shadow": {"type":"boxShadow","value":[{"x":"0","y":"{dim.half}","blur":"{dim.base} * 2","spread":"-{dim.half}","color":"{c}"}]},
  "line": {"type":"border","value":{"color":"{c}","width":"{dim.base} / 8","style":"solid"}}
}"##;

#[test]
fn mathematics_is_worked_out_wherever_a_length_or_number_stands() {
    let compiled = one(MATHS).unwrap();
    let text = css(&compiled, &Options::default());
    for line in [
        "--dim-half: 8px;",
        "--dim-num: 14px;",
        "--dim-neg: -16px;",
        "--dim-mixed: calc(var(--dim-base) + 1rem);",
        "--dim-pair: var(--dim-base) var(--dim-half);",
        "--lh: 24px;",
        "--ratio: 1.5;",
        "--type-font-size: 24px;",
        "--type-line-height: var(--lh);",
        "--leading-font-size: var(--dim-half);",
        "--leading-line-height: 48px;",
        "--shadow: 0px var(--dim-half) 32px -8px var(--c);",
        "--line: 2px solid var(--c);",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(scss(&compiled, &Options::default())["dim-half"], "8px");
    // A minus before a reference that cannot be worked out is a product, as CSS wants it.
    let text = css(
        &one(r#"{"a":{"value":"10%","type":"other"},"b":{"value":"-{a}","type":"spacing"}}"#).unwrap(),
        &Options::default(),
    );
    assert!(text.contains("--b: calc(-1 * var(--a));"), "{text}");
}

#[test]
fn what_mathematics_gives_follows_the_mode() {
    let mode = ModeOptions { name: "large".into(), sources: vec!["l.json".into()], ..ModeOptions::default() };
    let options = Options { modes: vec![mode], ..Options::default() };
    let large = r#"{"dim":{"base":{"value":"20px","type":"spacing"}}}"#;
    let text = css(&files(&[("t.json", MATHS), ("l.json", large)], &options).unwrap(), &options);
    let inside = text.split("[data-theme=\"large\"]").nth(1).unwrap();
    assert!(inside.contains("--dim-half: 10px;") && inside.contains("--type-font-size: 30px;"), "{text}");
}

#[test]
fn colours_are_modified_and_no_longer_follow_what_they_were_made_from() {
    let modified = |modify: &str| {
        one(&format!(
            r##"{{"c":{{"type":"color","value":"#3366cc"}},"y":{{"type":"color","value":"#ffcc00"}},
            "m":{{"type":"color","value":"{{c}}","$extensions":{{"studio.tokens":{{"modify":{modify}}}}}}}}}"##
        ))
    };
    let text = |modify: &str| {
        let text = css(&modified(modify).unwrap(), &Options::default());
        text.lines().find_map(|l| l.trim().strip_prefix("--m: ")).unwrap().to_owned()
    };
    assert_eq!(text(r#"{"type":"lighten","value":"0.25","space":"hsl"}"#), "hsl(220 60% 62.5%);");
    assert_eq!(text(r#"{"type":"darken","value":0.25,"space":"srgb"}"#), "color(srgb 0.15 0.3 0.6);");
    assert_eq!(
        text(r#"{"type":"mix","value":"1/4","space":"srgb","color":"{y}"}"#),
        "color(srgb 0.4 0.5 0.6);"
    );
    assert_eq!(text(r#"{"type":"alpha","value":"0.5","space":"srgb"}"#), "rgb(51 102 204 / 0.5);");
    assert_eq!(errors(modified(r#"{"type":"shine","value":"0.5"}"#)), ["studio-modify"]);
    assert_eq!(errors(modified(r#"{"type":"mix","value":"0.5","space":"srgb"}"#)), ["missing-member"]);
    assert_eq!(errors(modified(r#"{"type":"lighten","value":"much","space":"srgb"}"#)), ["value-type"]);
}

const CORE: &str =
    r##"{"white":{"value":"#ffffff","type":"color"},"black":{"value":"#000000","type":"color"}}"##;
const THEMES: &str = r#"[
  {"id":"1","name":"Light","group":"Mode","selectedTokenSets":{"core":"source","mode/light":"enabled","mode/dark":"disabled"}},
  {"id":"2","name":"Dark","group":"Mode","selectedTokenSets":{"core":"source","mode/dark":"enabled"}},
  {"id":"3","name":"Acme","group":"Brand","selectedTokenSets":{"brand":"enabled"}}]"#;
const LIGHT: &str = r#"{"bg":{"value":"{white}","type":"color"}}"#;
const DARK: &str = r#"{"bg":{"value":"{black}","type":"color"}}"#;
const BRAND: &str = r#"{"logo":{"value":"acme.svg","type":"asset"}}"#;

fn themed(choose: &[(&str, &str)]) -> Options {
    let contexts = choose.iter().map(|(g, t)| ((*g).to_owned(), (*t).to_owned())).collect();
    let mode = ModeOptions { name: "dark".into(), contexts, ..ModeOptions::default() };
    Options { modes: vec![mode], references: References::Resolved, ..Options::default() }
}

#[test]
fn a_theme_of_each_group_is_in_force_and_modes_choose_others() {
    let single = format!(
        r#"{{"core":{CORE},"mode/dark":{DARK},"mode/light":{LIGHT},"brand":{BRAND},"$themes":{THEMES},
        "$metadata":{{"tokenSetOrder":["core","mode/light","mode/dark","brand"]}}}}"#
    );
    let folder = [
        ("t/$themes.json", THEMES),
        ("t/$metadata.json", r#"{"tokenSetOrder":["core","mode/light","mode/dark","brand"]}"#),
        ("t/core.json", CORE),
        ("t/mode/light.json", LIGHT),
        ("t/mode/dark.json", DARK),
        ("t/brand.json", BRAND),
    ];
    let options = themed(&[("mode", "dark")]);
    let one_file = files(&[("t.json", &single)], &options).unwrap();
    let many_files = files(&folder, &options).unwrap();
    let text = css(&one_file, &options);
    assert_eq!(text, css(&many_files, &options));
    assert!(text.contains("--bg: #ffffff;") && text.contains("--logo:"), "{text}");
    let dark = text.split("[data-theme=\"dark\"]").nth(1).unwrap();
    assert!(
        dark.contains("--bg: #000000;") && !dark.contains("--white") && !dark.contains("--logo"),
        "{text}"
    );

    assert_eq!(errors(files(&folder, &themed(&[("mode", "dusk")]))), ["studio-theme"]);
    assert_eq!(errors(files(&folder, &themed(&[("model", "dark")]))), ["studio-theme"]);
    assert_eq!(errors(files(&folder[..5], &themed(&[]))), ["studio-set"]);
    assert_eq!(errors(files(&[("t.json", CORE)], &themed(&[("mode", "dark")]))), ["contexts"]);
    assert!(one_file.emit(Platform::Js, &options).unwrap()[0].text.contains("[\"dark\"]"));
}
