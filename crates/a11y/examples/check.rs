//! What the rules say of files: `check [--all] file.html …` prints, for each, rows of rule, kind and path as JSON.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example reads its files itself")]

use std::collections::BTreeMap;

use gatewright_a11y::{Finding, check};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let all = flags.iter().any(|flag| flag == "--all");
    let mut out: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for file in files {
        let html = std::fs::read_to_string(&file)?;
        let found = check(&html, &|_, _, is_default| all || is_default);
        let rows = |list: &[Finding], kind: &str| -> Vec<Value> {
            let row =
                |f: &Finding, path: &[String]| json!({"rule": f.rule, "kind": kind, "path": path.join(" ")});
            list.iter().flat_map(|f| f.nodes.iter().map(move |node| row(f, &node.target))).collect()
        };
        out.insert(
            file,
            [rows(&found.violations, "violation"), rows(&found.incomplete, "incomplete")].concat(),
        );
    }
    println!("{}", serde_json::to_string(&out)?);
    Ok(())
}
