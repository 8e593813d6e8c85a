//! Generated trees: whatever is put in, the output is read by others and says the same everywhere.

use design_tokens::{Naming, Options};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{css, errors, one, scss};

fn value() -> impl Strategy<Value = (&'static str, Value)> {
    let unit = 0.0..=1.0f64;
    prop_oneof![
        (unit.clone(), unit.clone(), unit.clone(), unit).prop_map(|(r, g, b, a)| (
            "color",
            json!({ "colorSpace": "srgb", "components": [r, g, b], "alpha": a })
        )),
        (0.0..1.0f64, 0.0..0.4f64, 0.0..359.9f64)
            .prop_map(|(l, c, h)| ("color", json!({ "colorSpace": "oklch", "components": [l, c, h] }))),
        (-1e6..1e6f64).prop_map(|n| ("dimension", json!({ "value": n, "unit": "px" }))),
        (-1e9..1e9f64).prop_map(|n| ("number", json!(n))),
        "\\PC{1,12}"
            .prop_filter("a font's name", |s| !s.contains(['{', '}', '"', '\'', ',']) && !s.trim().is_empty())
            .prop_map(|s| ("fontFamily", json!([s]))),
        (0u32..5_000).prop_map(|n| ("duration", json!({ "value": n, "unit": "ms" }))),
        (1u32..=1_000).prop_map(|n| ("fontWeight", json!(n))),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,6}", "[A-Za-z0-9 _/~-]{1,8}", "\\PC{1,6}"].prop_filter("names of the format", |s| {
        !s.starts_with('$') && !s.contains(['{', '}', '.']) && !s.trim().is_empty()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_compiles_is_css_and_scss_with_one_name_per_token(
        tokens in prop::collection::vec((name(), name(), value()), 1..12),
        alias in any::<prop::sample::Index>(),
    ) {
        let mut root: Map<String, Value> = Map::new();
        let mut last = None;
        for (group, token, (ty, value)) in &tokens {
            let entry = root.entry(group.clone()).or_insert_with(|| json!({}));
            entry[token] = json!({ "$type": ty, "$value": value });
            last = Some((group, token));
        }
        let (group, token) = last.unwrap();
        let place = alias.index(tokens.len());
        root.insert(format!("alias{place}"), json!({ "$value": format!("{{{group}.{token}}}") }));
        let text = Value::Object(root).to_string();
        let compiled = match one(&text) {
            Ok(compiled) => compiled,
            // The one thing that may be wrong with such a file.
            Err(found) => {
                prop_assert_eq!(errors(Err(found)), vec!["name-collision"]);
                return Ok(());
            }
        };
        let options = Options { naming: Naming::Kebab, ..Options::default() };
        let sheet = css(&compiled, &options);
        prop_assert_eq!(sheet.matches("\n  --").count(), compiled.tokens.len(), "{}", sheet);
        prop_assert_eq!(scss(&compiled, &options).len(), compiled.tokens.len());
        prop_assert_eq!(css(&one(&text).unwrap(), &options), sheet, "byte-stable");
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}|[\\[\\]{}\":,$a-z0-9. #/]{0,200}") {
        let _ = one(&text);
    }
}
