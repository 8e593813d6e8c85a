//! Which well-known public MCP servers help with something.

mod list;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use list::SERVERS;

use crate::pattern::Priority;

/// What a server is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerTopic {
    /// Files and directories.
    Files,
    /// Version control.
    VersionControl,
    /// The web, read as text.
    Web,
    /// A browser that is driven.
    Browser,
    /// Documentation of libraries and services.
    Documentation,
    /// Databases.
    Database,
    /// What is remembered between sessions.
    Memory,
    /// Ways to think.
    Reasoning,
    /// Linters.
    Quality,
    /// Design tools.
    Design,
    /// Notes and plans.
    Planning,
    /// Small helpers, and servers to test clients with.
    Helpers,
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    /// registry.npmjs.org; started with `npx`.
    Npm,
    /// pypi.org; started with `uvx`.
    Pypi,
}

/// What is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServerQuery<'a> {
    /// Only of this topic.
    pub topic: Option<ServerTopic>,
    /// Only of this priority.
    pub priority: Option<Priority>,
    /// What it is for, in words. Only the first 1,000 characters count.
    pub use_case: Option<&'a str>,
    /// Whether the configuration is wanted too.
    pub include_config: bool,
}

/// A server that may help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recommendation {
    /// What it is called in a configuration.
    pub name: String,
    /// The package.
    pub package: String,
    /// Where the package comes from.
    pub registry: Registry,
    /// The version that was there when it was looked up.
    pub checked: String,
    /// What it is about.
    pub category: ServerTopic,
    /// How often it is useful beside this server.
    pub priority: Priority,
    /// What it does.
    pub purpose: String,
    /// Why one would want it.
    pub why: String,
    /// The words of the use case that it was found by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<String>,
    /// An `mcpServers` entry. Words in capitals are to be replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<serde_json::Map<String, Value>>,
}

struct Server {
    name: &'static str,
    package: &'static str,
    registry: Registry,
    checked: &'static str,
    topic: ServerTopic,
    priority: Priority,
    purpose: &'static str,
    why: &'static str,
    /// Further words that it is found by.
    words: &'static str,
    /// Behind the package's name.
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
}

/// Servers that fit, those that share the most words with the use case first; then by priority, then in the order of
/// the list. With a use case, servers that share no word with it are left out.
#[must_use]
pub fn recommend(query: &ServerQuery<'_>) -> Vec<Recommendation> {
    let wanted =
        query.use_case.map(|said| words(said.get(..said.floor_char_boundary(1_000)).unwrap_or_default()));
    let mut found: Vec<(usize, Recommendation)> = SERVERS
        .iter()
        .filter(|server| query.topic.is_none_or(|topic| topic == server.topic))
        .filter(|server| query.priority.is_none_or(|priority| priority == server.priority))
        .filter_map(|server| {
            let Some(wanted) = &wanted else { return Some((0, server.recommendation(query, Vec::new()))) };
            let own = words(&format!("{} {} {} {}", server.name, server.purpose, server.why, server.words));
            let name = words(server.name);
            let matched: Vec<String> = wanted.intersection(&own).cloned().collect();
            // Its name is worth more than any word about it.
            let score = matched.len() + 3 * wanted.intersection(&name).count();
            (score > 0).then(|| (score, server.recommendation(query, matched)))
        })
        .collect();
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then(one.priority.cmp(&other.priority)));
    found.into_iter().map(|(_, recommendation)| recommendation).collect()
}

impl Server {
    fn recommendation(&self, query: &ServerQuery<'_>, matched: Vec<String>) -> Recommendation {
        Recommendation {
            name: self.name.to_owned(),
            package: self.package.to_owned(),
            registry: self.registry,
            checked: self.checked.to_owned(),
            category: self.topic,
            priority: self.priority,
            purpose: self.purpose.to_owned(),
            why: self.why.to_owned(),
            matched,
            configuration: query.include_config.then(|| self.configuration().as_object().cloned()).flatten(),
        }
    }

    fn configuration(&self) -> Value {
        let (command, mut args) = match self.registry {
            Registry::Npm => ("npx", vec!["-y", self.package]),
            Registry::Pypi => ("uvx", vec![self.package]),
        };
        args.extend(self.args);
        let mut entry = json!({ "command": command, "args": args });
        if let (false, Some(entry)) = (self.env.is_empty(), entry.as_object_mut()) {
            let env = self.env.iter().map(|&(name, value)| (name.to_owned(), Value::from(value))).collect();
            entry.insert("env".to_owned(), Value::Object(env));
        }
        json!({ "mcpServers": { self.name: entry } })
    }
}

/// Words that say nothing about what is wanted.
const EMPTY: &[&str] = &[
    "and", "the", "for", "with", "from", "that", "this", "are", "not", "can", "its", "own", "server", "want",
    "need", "where",
];

/// Words of at least three letters, in lower case, the plural as the singular.
fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
        .map(|word| match word.strip_suffix('s') {
            Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
            _ => word,
        })
        .filter(|word| !EMPTY.contains(&word.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(query: &ServerQuery<'_>) -> Vec<String> {
        recommend(query).into_iter().map(|found| found.name).collect()
    }

    #[test]
    fn the_use_case_ranks_and_the_filters_hold() {
        let query = ServerQuery {
            use_case: Some("Why is this web page slow? I want a performance trace"),
            ..ServerQuery::default()
        };
        assert_eq!(names(&query).first().map(String::as_str), Some("chrome-devtools"));
        let query = ServerQuery { use_case: Some("query MongoDB"), ..ServerQuery::default() };
        assert_eq!(names(&query).first().map(String::as_str), Some("mongodb"));
        let query = ServerQuery { topic: Some(ServerTopic::Browser), ..ServerQuery::default() };
        assert_eq!(names(&query), ["playwright", "chrome-devtools"]);
        let query = ServerQuery { priority: Some(Priority::High), ..ServerQuery::default() };
        assert_eq!(names(&query), ["context7", "playwright"]);
        let query = ServerQuery { use_case: Some("zyx"), ..ServerQuery::default() };
        assert_eq!(names(&query), [""; 0]);
    }

    #[test]
    fn configuration_is_given_when_it_is_wanted_and_holds_no_secret() {
        let query = ServerQuery { include_config: true, ..ServerQuery::default() };
        let all = recommend(&query);
        assert_eq!(all.len(), SERVERS.len());
        for server in &all {
            let configuration = server.configuration.as_ref().unwrap();
            let entry = &configuration["mcpServers"][&server.name];
            assert!(entry["args"].as_array().unwrap().contains(&Value::from(server.package.as_str())));
            assert!(entry["command"].is_string());
        }
        assert!(recommend(&ServerQuery::default()).iter().all(|server| server.configuration.is_none()));
    }

    #[test]
    fn names_and_packages_are_there_once() {
        let names: BTreeSet<_> = SERVERS.iter().map(|server| server.name).collect();
        let packages: BTreeSet<_> = SERVERS.iter().map(|server| server.package).collect();
        assert_eq!((names.len(), packages.len()), (SERVERS.len(), SERVERS.len()));
    }
}
