//! Every type and rule of the specification, as it is written today: a change shows as a change of a file.

use design_tokens::{ModeOptions, Options, Platform};

use super::{css, files, scss};

fn fixture(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures").join(name);
    #[expect(clippy::disallowed_methods, reason = "a fixture of the test's own")]
    std::fs::read_to_string(path).unwrap()
}

fn snapshot(name: &str, options: &Options, more: &[(&str, &str)]) {
    let text = fixture(&format!("{name}.json"));
    let all: Vec<(&str, &str)> =
        std::iter::once(("t.json", text.as_str())).chain(more.iter().copied()).collect();
    let compiled = files(&all, options).unwrap_or_else(|e| panic!("{name}: {e:#?}"));
    // Read by others before it is believed.
    css(&compiled, options);
    scss(&compiled, options);
    let mut shown = String::new();
    for platform in [Platform::Css, Platform::Scss, Platform::Js] {
        for output in compiled.emit(platform, options).unwrap() {
            shown.push_str(&format!("=== {}\n{}\n", output.name, output.text));
        }
    }
    shown.push_str("=== warnings\n");
    compiled.warnings.iter().for_each(|w| shown.push_str(&format!("{w}\n")));
    insta::assert_snapshot!(name, shown);
}

#[test]
fn every_type_is_written_as_it_was() {
    snapshot("types", &Options { json: true, ..Options::default() }, &[]);
}

#[test]
fn every_rule_of_groups_and_references_is_followed_as_it_was() {
    let mode = ModeOptions {
        name: "dark".into(),
        sources: vec!["dark.json".into()],
        media: Some("(prefers-color-scheme: dark)".into()),
        color_scheme: Some("dark".into()),
        ..ModeOptions::default()
    };
    let options = Options { modes: vec![mode], prefix: "ds".into(), ..Options::default() };
    let dark = r#"{"brand":{"$type":"color","500":{"$value":{"colorSpace":"srgb","components":[0.4,0,0]}}}}"#;
    snapshot("rules", &options, &[("dark.json", dark)]);
}

#[test]
fn older_dialects_are_written_as_they_were() {
    snapshot("plain", &Options::default(), &[]);
}

#[test]
fn errors_say_what_they_said() {
    let text = fixture("errors.json");
    let errors = files(&[("errors.json", &text)], &Options::default()).unwrap_err();
    let shown: String = errors.iter().fold(String::new(), |all, e| all + &format!("{e}\n"));
    insta::assert_snapshot!("errors", shown);
}
