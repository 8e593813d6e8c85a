//! SARIF 2.1.0 (OASIS), as code scanning services read it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Looker, PageFindings};
use crate::finding::{Finding, Impact, Node};

/// The findings of all pages. What could not be decided is `review`.
#[must_use]
pub fn sarif(pages: &[PageFindings<'_>], looker: Looker<'_>) -> Value {
    let mut rules: BTreeMap<&str, &Finding> = BTreeMap::new();
    for page in pages {
        for finding in page.findings.violations.iter().chain(&page.findings.incomplete) {
            rules.entry(&finding.rule).or_insert(finding);
        }
    }
    let index: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(at, id)| (*id, at)).collect();
    let described: Vec<Value> = rules
        .values()
        .map(|finding| {
            json!({
                "id": finding.rule,
                "shortDescription": { "text": finding.help },
                "helpUri": finding.help_url,
                "properties": { "tags": finding.tags, "criteria": finding.criteria },
            })
        })
        .collect();
    let mut results = Vec::new();
    for page in pages {
        let lists = [(&page.findings.violations, "fail"), (&page.findings.incomplete, "review")];
        for (list, kind) in lists {
            for finding in list {
                for node in &finding.nodes {
                    results.push(result(page.page, finding, node, kind, index.get(finding.rule.as_str())));
                }
            }
        }
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": looker.name,
                "version": looker.version,
                "informationUri": "https://dequeuniversity.com/rules/axe/",
                "rules": described,
            } },
            "results": results,
        }],
    })
}

fn result(page: &str, finding: &Finding, node: &Node, kind: &str, index: Option<&usize>) -> Value {
    let level = match (kind, finding.impact) {
        // Only what fails has a level (§3.27.10).
        ("review", _) => "none",
        (_, Impact::Critical | Impact::Serious) => "error",
        (_, Impact::Moderate) => "warning",
        (_, Impact::Minor) => "note",
    };
    let artifact = match page.strip_prefix("root:") {
        Some(path) => json!({ "uri": encoded(path), "uriBaseId": "%SRCROOT%" }),
        None => json!({ "uri": page }),
    };
    let mut place = json!({ "artifactLocation": artifact });
    if let (Some(line), Some(object)) = (node.line, place.as_object_mut()) {
        object.insert("region".into(), json!({ "startLine": line, "snippet": { "text": node.html } }));
    }
    let why = if node.why.is_empty() { finding.help.clone() } else { node.why.join(" ") };
    json!({
        "ruleId": finding.rule,
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": { "text": why },
        "locations": [{
            "physicalLocation": place,
            "logicalLocations": [{ "fullyQualifiedName": node.target.join(" | "), "kind": "element" }],
        }],
    })
}

/// A path as a URI (RFC 3986): what it may not have is written as bytes.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
