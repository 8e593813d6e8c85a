//! What axe-core answers, read. Its version decides what is in it: members that are not known are left alone.

use serde::Deserialize;

use crate::finding::{Finding, Findings, Impact, Node, criteria};

/// Why an answer is not understood.
#[derive(Debug, thiserror::Error)]
#[error("axe-core's answer is not understood: {0}")]
pub struct EngineError(#[from] serde_json::Error);

/// axe-core's releases by the SHA-256 of their `axe.min.js`, the newest first: what a project has is taken where it is one of
/// these, so that no repository makes itself pass.
const RELEASES: &[(&str, &str)] = &[
    ("29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c", "4.14.1"),
    ("20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878", "4.14.0"),
    ("c24f097bd2f451d4f933e8bc7d8d539f8672a2ebcb5cc9f9f3eec8ca9470a0c1", "4.13.0"),
    ("66a8aaa95a8b044a7fd74a5435873bf04ff65a1ca75567c921b7509742085a14", "4.12.1"),
    ("a0afc408abecbe06ff7675033e7ea2c4046618162167aaa4ce1030b10963dece", "4.12.0"),
    ("fb83a4378d978ecb7d2dae48a3a3778a84c971ac692f3afd45d714fba89c0f0d", "4.11.4"),
    ("056547ef045ff50ede49a54c99a356890ff8940c5416a54a9c910086c54533dd", "4.11.3"),
    ("75a700788807cdd9299675e50bae9f627a9f9f368e9296fea717f7123adecb1a", "4.11.2"),
    ("7dbfabdfc6062936d79c873ddbb5f811a1219fca3928bd8cc9dd81f1e65f4720", "4.11.1"),
    ("e9e5863c33a874f09bc01acd9234b7e3c871479f5eef8802fa582544465e6d01", "4.11.0"),
    ("880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb", "4.10.3"),
    ("b511cd9dec01c76f4b2ad1723b66b6db37d4c2eb4ed199076e1829d9ee7b75e3", "4.10.2"),
    ("3815dfdf753d9fea828f4988f4c2e4895c82d670b369b0e79a8a63caebf5819e", "4.10.1"),
    ("483a4fed4b2fe56cfd94a58565020c863983f8415e2827f3481dce35e70effb5", "4.10.0"),
];

/// The newest release that is known here.
pub const NEWEST: &str = "4.14.1";

/// Which release of axe-core a script is, by its SHA-256 in hexadecimal digits; whatever stands before a colon is left out.
#[must_use]
pub fn release(sha256: &str) -> Option<&'static str> {
    let digits = sha256.rsplit(':').next().unwrap_or(sha256);
    RELEASES.iter().find(|(own, _)| *own == digits).map(|(_, version)| *version)
}

#[derive(Deserialize)]
struct Results {
    #[serde(default)]
    violations: Vec<Rule>,
    #[serde(default)]
    incomplete: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    impact: Option<Impact>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    help: String,
    #[serde(default)]
    help_url: String,
    #[serde(default)]
    nodes: Vec<RuleNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleNode {
    impact: Option<Impact>,
    #[serde(default)]
    target: Vec<Selector>,
    #[serde(default)]
    html: String,
    #[serde(default)]
    any: Vec<Check>,
    #[serde(default)]
    all: Vec<Check>,
    #[serde(default)]
    none: Vec<Check>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Selector {
    Plain(String),
    /// Within shadow trees: the hosts' first.
    Shadow(Vec<String>),
}

#[derive(Deserialize)]
struct Check {
    #[serde(default)]
    message: String,
}

/// Reads what `axe.run` or `axe.finishRun` gave, as JSON.
pub fn read(json: &str) -> Result<Findings, EngineError> {
    let results: Results = serde_json::from_str(json)?;
    let of = |rules: Vec<Rule>| rules.into_iter().filter(|r| !r.nodes.is_empty()).map(finding).collect();
    Ok(Findings { violations: of(results.violations), incomplete: of(results.incomplete) })
}

fn finding(rule: Rule) -> Finding {
    // A rule that some nodes break gravely and others lightly has the gravest.
    let impact = rule.impact.or_else(|| rule.nodes.iter().filter_map(|n| n.impact).max());
    Finding {
        criteria: criteria(&rule.tags),
        rule: rule.id,
        impact: impact.unwrap_or(Impact::Minor),
        help: rule.help,
        help_url: rule.help_url,
        tags: rule.tags,
        nodes: rule.nodes.into_iter().map(node).collect(),
    }
}

fn node(node: RuleNode) -> Node {
    let target = node
        .target
        .into_iter()
        .map(|selector| match selector {
            Selector::Plain(selector) => selector,
            Selector::Shadow(hosts) => hosts.join(" >>> "),
        })
        .collect();
    let mut why: Vec<String> = Vec::new();
    for check in node.any.into_iter().chain(node.all).chain(node.none) {
        let message = check.message.split_whitespace().collect::<Vec<_>>().join(" ");
        if !message.is_empty() && !why.contains(&message) {
            why.push(message);
        }
    }
    Node { target, html: node.html, line: None, area: None, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_a_release_by_its_digest() {
        assert_eq!(release(&format!("sha256:{}", RELEASES[0].0)), Some(NEWEST));
        assert_eq!(release("sha256:00"), None);
    }

    #[test]
    fn an_answer_is_read_with_frames_shadows_and_reasons() {
        let json = r##"{"violations":[{"id":"image-alt","impact":"critical","tags":["wcag2a","wcag111"],"description":"d","help":"Images need text",
            "helpUrl":"https://x/","nodes":[{"impact":"critical","html":"<img>","target":["#frame",["#host","img"]],
            "any":[{"id":"has-alt","message":"no  alt\n here"}],"all":[],"none":[{"id":"n","message":"no alt here"}]}]},
            {"id":"empty","impact":null,"nodes":[]}],"incomplete":[{"id":"color-contrast","impact":null,
            "nodes":[{"impact":"serious","html":"<p>","target":["p"]}]}],"passes":[],"toolOptions":{}}"##;
        let found = read(json).unwrap();
        assert_eq!(found.violations.len(), 1);
        let first = &found.violations[0];
        assert_eq!((first.impact, &*first.criteria), (Impact::Critical, &["1.1.1".to_owned()][..]));
        assert_eq!(first.nodes[0].target, ["#frame", "#host >>> img"]);
        assert_eq!(first.nodes[0].why, ["no alt here"]);
        assert_eq!(found.incomplete[0].impact, Impact::Serious);
        assert!(read("{\"violations\":1}").is_err() && read("{}").unwrap() == Findings::default());
    }
}
