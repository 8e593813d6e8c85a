//! What axe-core answers, read. Its version decides what is in it: members that are not known are left alone.

use serde::Deserialize;

use crate::finding::{Finding, Findings, Impact, Node, criteria};

/// Why an answer is not understood.
#[derive(Debug, thiserror::Error)]
#[error("axe-core's answer is not understood: {0}")]
pub struct EngineError(#[from] serde_json::Error);

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
