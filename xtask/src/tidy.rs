//! `cargo xtask tidy`: what the design says about the house, checked (DESIGN §3).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::sh::{Done, output, top};

/// Crates that must stay free of the asynchronous runtime.
const WITHOUT_TOKIO: &[&str] = &[
    "gatewright-contract",
    "gatewright-policy",
    "gatewright-audit",
    "gatewright-grammar",
    "gatewright-reports",
    "gatewright-deps",
    "gatewright-failures",
    "gatewright-projects",
    "gatewright-store-api",
    "gatewright-words",
    "gatewright-documents",
    "gatewright-library",
    "gatewright-search",
    "gatewright-skills",
    "gatewright-query",
    "gatewright-components",
    "gatewright-dotenv",
    "gatewright-onboard",
    "gatewright-plugins",
];

/// Who may name rmcp. The binary speaks as a client in its demonstration.
const WITH_RMCP: [&str; 3] = ["gatewright-mcp", "gatewright-gateway", "gatewright"];

/// The only one that names wasmtime: lean builds leave it out whole.
const WITH_WASMTIME: &str = "gatewright-components";

/// Which crates of ours a crate may use outside its tests; the binary may use all.
const MAY_USE: &[(&str, &[&str])] = &[
    ("gatewright-onboard", &["gatewright-projects"]),
    (
        "gatewright-tools-setup",
        &[
            "gatewright-contract",
            "gatewright-exec",
            "gatewright-kit",
            "gatewright-onboard",
            "gatewright-projects",
        ],
    ),
    ("gatewright-plugins", &["gatewright-contract", "gatewright-grammar", "gatewright-reports"]),
    ("gatewright-query", &[]),
    ("gatewright-components", &[]),
    ("gatewright-dotenv", &[]),
    ("gatewright-library", &[]),
    ("gatewright-kits", &[]),
    ("gatewright-skills", &[]),
    ("gatewright-words", &[]),
    ("gatewright-search", &[]),
    ("gatewright-documents", &["gatewright-projects"]),
    ("gatewright-packaging", &[]),
    ("gatewright-pictures", &[]),
    ("gatewright-browser", &["gatewright-contract", "gatewright-exec"]),
    ("gatewright-a11y", &[]),
    ("gatewright-contract", &[]),
    ("gatewright-policy", &["gatewright-contract"]),
    ("gatewright-audit", &["gatewright-contract"]),
    ("gatewright-grammar", &["gatewright-contract"]),
    ("gatewright-launcher", &[]),
    ("gatewright-history", &[]),
    ("gatewright-reports", &[]),
    ("gatewright-deps", &[]),
    ("gatewright-failures", &[]),
    ("gatewright-projects", &[]),
    ("gatewright-cache", &[]),
    ("gatewright-store-api", &["gatewright-contract"]),
    ("gatewright-store", &["gatewright-contract", "gatewright-store-api", "gatewright-words"]),
    (
        "gatewright-exec",
        &["gatewright-contract", "gatewright-cache", "gatewright-history", "gatewright-launcher"],
    ),
    (
        "gatewright-kit",
        &[
            "gatewright-contract",
            "gatewright-policy",
            "gatewright-audit",
            "gatewright-exec",
            "gatewright-cache",
            "gatewright-failures",
            "gatewright-projects",
        ],
    ),
    ("design-tokens", &[]),
    ("gatewright-gateway", &["gatewright-contract", "gatewright-exec", "gatewright-kit"]),
    ("gatewright-listen", &[]),
    (
        "gatewright-context",
        &["gatewright-contract", "gatewright-exec", "gatewright-listen", "gatewright-store-api"],
    ),
    ("gatewright-mcp", &["gatewright-contract", "gatewright-exec", "gatewright-kit", "gatewright-listen"]),
    ("gatewright-github", &[]),
    (
        "gatewright-tools-knowledge",
        &[
            "gatewright-contract",
            "gatewright-exec",
            "gatewright-kit",
            "gatewright-library",
            "gatewright-search",
            "gatewright-skills",
            "gatewright-store-api",
        ],
    ),
    (
        "gatewright-tools-session",
        &[
            "gatewright-contract",
            "gatewright-documents",
            "gatewright-exec",
            "gatewright-github",
            "gatewright-kit",
            "gatewright-projects",
            "gatewright-store-api",
        ],
    ),
    ("gatewright-tools-front", &["gatewright-contract", "gatewright-exec", "gatewright-kit"]),
    (
        "gatewright-tools-design",
        &[
            "gatewright-contract",
            "gatewright-exec",
            "gatewright-kit",
            "design-tokens",
            "gatewright-a11y",
            "gatewright-browser",
            "gatewright-kits",
            "gatewright-packaging",
            "gatewright-pictures",
        ],
    ),
    (
        "gatewright-tools-devtools",
        &[
            "gatewright-contract",
            "gatewright-exec",
            "gatewright-kit",
            "gatewright-cache",
            "gatewright-deps",
            "gatewright-dotenv",
            "gatewright-failures",
            "gatewright-grammar",
            "gatewright-projects",
            "gatewright-query",
            "gatewright-reports",
            "gatewright-store-api",
        ],
    ),
    (
        "gatewright-fuzz",
        &[
            "gatewright-contract",
            "gatewright-audit",
            "gatewright-deps",
            "gatewright-dotenv",
            "gatewright-library",
            "gatewright-plugins",
            "gatewright-search",
            "gatewright-skills",
            "design-tokens",
        ],
    ),
    ("xtask", &["gatewright-pictures", "gatewright-search"]),
];

/// A file longer than this wants a better shape.
const LONG: usize = 500;

pub(crate) fn run() -> Done {
    println!("\n▶ tidy");
    let metadata: Value =
        serde_json::from_str(&output("cargo", &["metadata", "--format-version", "1", "--locked"])?)
            .map_err(|e| e.to_string())?;
    let mut wrong = edges(&metadata);
    wrong.extend(lengths()?);
    wrong.extend(crate::attacks::check()?);
    if wrong.is_empty() { Ok(()) } else { Err(format!("✗ tidy\n  {}", wrong.join("\n  "))) }
}

/// Normal dependencies by package id, over the whole graph.
fn graph(metadata: &Value) -> (BTreeMap<String, String>, BTreeMap<String, Vec<String>>) {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let names = list(&metadata["packages"]).iter().map(|p| (text(&p["id"]), text(&p["name"]))).collect();
    let mut edges = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let normal = list(&node["deps"])
            .iter()
            .filter(|d| list(&d["dep_kinds"]).iter().any(|k| k["kind"].is_null()))
            .map(|d| text(&d["pkg"]))
            .collect();
        edges.insert(text(&node["id"]), normal);
    }
    (names, edges)
}

fn edges(metadata: &Value) -> Vec<String> {
    let (names, edges) = graph(metadata);
    let members: Vec<String> = metadata["workspace_members"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|m| m.as_str().map(str::to_owned))
        .collect();
    let empty = Vec::new();
    let direct = |id: &String| -> BTreeSet<&str> {
        edges.get(id).unwrap_or(&empty).iter().filter_map(|d| names.get(d)).map(String::as_str).collect()
    };
    let mut wrong = Vec::new();
    for member in &members {
        let name = names.get(member).map(String::as_str).unwrap_or_default();
        if name.contains("common") || name.contains("utils") {
            wrong.push(format!("{name}: there is no `common` or `utils` crate"));
        }
        if WITHOUT_TOKIO.contains(&name) && reaches(member, "tokio", &names, &edges) {
            wrong.push(format!("{name} reaches tokio"));
        }
        if direct(member).contains("rmcp") && !WITH_RMCP.contains(&name) {
            wrong.push(format!("{name} names rmcp; only {} may", WITH_RMCP.join(", ")));
        }
        if direct(member).contains("wasmtime") && name != WITH_WASMTIME {
            wrong.push(format!("{name} names wasmtime; only {WITH_WASMTIME} may"));
        }
        if let Some((_, allowed)) = MAY_USE.iter().find(|(n, _)| *n == name) {
            let ours = |other: &str| members.iter().any(|m| names.get(m).is_some_and(|n| n == other));
            for other in direct(member) {
                if ours(other) && other != name && !allowed.contains(&other) {
                    wrong.push(format!("{name} uses {other}, which it must not know"));
                }
            }
        }
        if name.starts_with("gatewright-tools-") {
            for other in direct(member) {
                let family = other.starts_with("gatewright-tools-") || other == "gatewright-mcp";
                if family || matches!(other, "rusqlite" | "sqlx" | "tokio-postgres" | "gatewright-store") {
                    wrong.push(format!(
                        "{name} depends on {other}: families know neither each other nor a driver"
                    ));
                }
            }
        }
    }
    wrong
}

fn reaches(
    from: &str,
    wanted: &str,
    names: &BTreeMap<String, String>,
    edges: &BTreeMap<String, Vec<String>>,
) -> bool {
    let (mut open, mut seen) = (vec![from.to_owned()], BTreeSet::new());
    while let Some(id) = open.pop() {
        if names.get(&id).is_some_and(|n| n == wanted) {
            return true;
        }
        if seen.insert(id.clone()) {
            open.extend(edges.get(&id).cloned().unwrap_or_default());
        }
    }
    false
}

fn lengths() -> Done<Vec<String>> {
    let mut wrong = Vec::new();
    for file in output("git", &["ls-files", "*.rs"])?.lines().filter(|f| !f.contains("/tests/")) {
        let Ok(text) = std::fs::read_to_string(top().join(file)) else { continue };
        let lines = text.lines().count();
        // Tests beside the code are part of a file's shape, but not of its length.
        let tests = ["#[cfg(test)]\nmod tests", "#[cfg(test)]\npub(crate) mod tests"];
        let begin = tests.iter().find_map(|tests| text.find(tests));
        let code = begin.map_or(lines, |at| text[..at].lines().count());
        if code > LONG + LONG / 4 {
            wrong.push(format!("{file} has {code} lines: it wants a better shape"));
        }
    }
    Ok(wrong)
}
