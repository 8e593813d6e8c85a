//! What holds of every plugin and every value.

use gatewright_plugins::Plugin;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{read, with};

fn of_type(of: &str) -> Plugin {
    let (more, sample) = match of {
        "enum" => (", values = ['a', 'b']", "a"),
        "url" => ("", "https://x"),
        "date" => ("", "2026-11-24"),
        "version" => ("", "1.2.3"),
        _ => ("", "a"),
    };
    let text = with(
        "['first', '{value}', '--of={value}', 'last']",
        &format!(
            "input.value = {{ type = '{of}', description = 'V.'{more} }}\n\
             example = [{{ input = {{ value = '{sample}' }}, argv = ['first', '{sample}', '--of={sample}', 'last'] }}]\n"
        ),
    );
    read(&text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_is_one_word_or_refused(value in ".{0,40}|[-;|&$`(){} a-z./]{0,30}", of in prop::sample::select(&["text", "line", "word", "identifier", "ref", "path", "glob", "url", "version", "date", "enum"][..])) {
        let plugin = of_type(of);
        let given = json!({ "value": value });
        if let Ok(argv) = plugin.tools[0].argv(given.as_object().unwrap(), &Map::new(), None) {
            prop_assert_eq!(argv.len(), 4);
            prop_assert_eq!(&argv[1], &value);
            prop_assert_eq!(&argv[2], &format!("--of={value}"));
            prop_assert!(!argv[1].starts_with('-') && !argv[1].contains('\0'));
            if of != "text" {
                prop_assert!(!argv[1].chars().any(char::is_control));
            }
        }
    }

    #[test]
    fn whatever_stands_in_a_file_is_answered(text in ".{0,400}") {
        let _ = Plugin::read(&text, "0.1.0");
    }

    #[test]
    fn a_change_of_any_byte_is_another_identity(at in 0usize..2000, byte in 32u8..127) {
        let text = include_str!("../../../../examples/plugins/ruff.toml");
        let first = read(text).unwrap();
        let at = at % text.len();
        let mut changed = text.as_bytes().to_vec();
        prop_assume!(text.is_char_boundary(at) && changed[at] != byte && changed[at].is_ascii());
        changed[at] = byte;
        let Ok(second) = read(&String::from_utf8(changed).unwrap()) else { return Ok(()) };
        let identity = |plugin: &Plugin| plugin.identity(&plugin.tools[0], "user", &std::collections::BTreeMap::new());
        prop_assert_ne!(identity(&first), identity(&second));
    }

    #[test]
    fn values_of_other_kinds_of_json_are_refused(value in prop::sample::select(vec![Value::Null, json!(1), json!(true), json!([]), json!({})])) {
        let plugin = of_type("line");
        let refused = plugin.tools[0].argv(json!({ "value": value }).as_object().unwrap(), &Map::new(), None).is_err();
        prop_assert!(refused);
    }
}
