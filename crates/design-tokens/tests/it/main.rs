//! What must hold of the compiler, rule by rule, and of its output as other programs read it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]

mod differences;
mod generated;
mod lint;
mod modes;
mod real;
mod rules;
mod snapshots;
mod studio;
mod usage;

use std::collections::BTreeMap;

use design_tokens::{Compiled, Diagnostic, Options, Platform, Severity, compile};

/// Compiles files; the first is the source.
fn files(all: &[(&str, &str)], options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    let loader: BTreeMap<String, String> =
        all.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
    compile(&[all[0].0.to_owned()], &loader, options)
}

fn one(text: &str) -> Result<Compiled, Vec<Diagnostic>> {
    files(&[("t.json", text)], &Options::default())
}

/// The stylesheet, which lightningcss must read without a complaint.
fn css(compiled: &Compiled, options: &Options) -> String {
    let text = compiled.emit(Platform::Css, options).unwrap().remove(0).text;
    let parser = lightningcss::stylesheet::ParserOptions::default();
    let complaint = lightningcss::stylesheet::StyleSheet::parse(&text, parser).err().map(|e| e.to_string());
    assert_eq!(complaint, None, "{text}");
    text
}

/// The SCSS, compiled by grass with one rule that uses everything.
fn scss(compiled: &Compiled, options: &Options) -> BTreeMap<String, String> {
    let mut text = compiled.emit(Platform::Scss, options).unwrap().remove(0).text;
    text.push_str("\n@each $k, $v in $tokens { .t { --out: #{inspect($k)} | #{$v}; } }\n");
    let out = grass::from_string(text.clone(), &grass::Options::default().fs(&grass::NullFs));
    let out = out.unwrap_or_else(|e| panic!("{e}\n{text}"));
    out.lines()
        .filter_map(|l| l.trim().strip_prefix("--out: ")?.strip_suffix(';')?.split_once(" | "))
        .map(|(k, v)| (k.trim_matches('"').to_owned(), v.to_owned()))
        .collect()
}

/// The codes of the errors.
fn errors(result: Result<Compiled, Vec<Diagnostic>>) -> Vec<&'static str> {
    match result {
        Ok(_) => Vec::new(),
        Err(all) => {
            let mut codes: Vec<_> =
                all.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect();
            codes.sort_unstable();
            codes.dedup();
            codes
        }
    }
}
