//! Values for which there are tokens, and what takes their place.

mod codemod;
mod finds;
mod forms;

use std::collections::BTreeMap;

use design_tokens::usage::{Index, Scan, Usage, settle};
use design_tokens::{Compiled, ModeOptions, Options, compile};

/// Tokens of every kind that is looked for.
const TOKENS: &str = r##"{
  "color": { "$type": "color",
    "red": { "$value": "#ff0000" }, "ink": { "$value": "#111111" }, "sky": { "$value": "#0088ff" },
    "haze": { "$value": "rgba(0, 0, 0, 0.5)" }, "mint": { "$value": "oklch(0.8 0.1 160)" } },
  "text": { "danger": { "$value": "{color.red}" } },
  "surface": { "page": { "$type": "color", "$value": "#fafafa" } },
  "border": { "danger": { "$value": "{color.red}" }, "width": { "thin": { "$type": "dimension", "$value": "1px" } } },
  "space": { "$type": "dimension", "none": { "$value": "0px" }, "s": { "$value": "4px" }, "m": { "$value": "1rem" },
    "old": { "$value": "24px", "$deprecated": true } },
  "radius": { "$type": "dimension", "s": { "$value": "4px" } },
  "size": { "$type": "dimension", "100": { "$value": "40px" } },
  "font": {
    "size": { "$type": "dimension", "m": { "$value": "18px" } },
    "weight": { "$type": "fontWeight", "bold": { "$value": 700 } },
    "family": { "body": { "$type": "fontFamily", "$value": ["Inter", "Helvetica Neue", "sans-serif"] } },
    "line-height": { "tight": { "$type": "number", "$value": 1.2 } } },
  "opacity": { "half": { "$type": "number", "$value": 0.5 } },
  "motion": { "fast": { "$type": "duration", "$value": "200ms" },
    "out": { "$type": "cubicBezier", "$value": [0, 0, 0.2, 1] } },
  "shadow": { "card": { "$type": "shadow", "$value": { "color": "#00000080", "offsetX": "0px", "offsetY": "2px", "blur": "4px", "spread": "0px" } } }
}"##;

fn compiled(files: &[(&str, &str)], options: &Options) -> Compiled {
    let all: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    compile(&[files[0].0.to_owned()], &all, options).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn index() -> Index {
    let options = Options::default();
    Index::new(&compiled(&[("t.json", TOKENS)], &options), &options)
}

/// Tokens of which one is another colour in the dark.
fn with_modes() -> Index {
    let dark = r##"{ "color": { "ink": { "$type": "color", "$value": "#eeeeee" } } }"##;
    let mode = |name: &str, media: Option<&str>| ModeOptions {
        name: name.into(),
        sources: vec!["dark.json".into()],
        media: media.map(str::to_owned),
        ..ModeOptions::default()
    };
    let modes = vec![mode("dark", None), mode("print", Some("print"))];
    let options = Options { modes, ..Options::default() };
    Index::new(&compiled(&[("t.json", TOKENS), ("dark.json", dark)], &options), &options)
}

/// What is found in files, by a tolerance.
fn usages(index: &Index, files: &[(&str, &str)], tolerance: f64) -> Vec<Vec<Usage>> {
    let scans: Vec<Scan> =
        files.iter().map(|(path, text)| index.scan(path, text, tolerance).unwrap()).collect();
    settle(index, &scans.iter().collect::<Vec<_>>())
}

/// `value -> replacement` of each, with why it is kept.
fn shown(all: &[Usage]) -> Vec<String> {
    let one = |usage: &Usage| {
        let kept = usage.kept.map_or_else(String::new, |kept| format!(" ({kept:?})"));
        format!("{} -> {}{kept}", usage.value, usage.replacement)
    };
    all.iter().map(one).collect()
}

/// What is found in one file.
fn found(path: &str, text: &str) -> Vec<String> {
    shown(&usages(&index(), &[(path, text)], 0.0)[0])
}

/// What is found in a style sheet of one rule.
fn css(declarations: &str) -> Vec<String> {
    found("a.css", &format!("a {{ {declarations} }}"))
}
