//! Well-known public MCP servers, and which of them help with something.
//!
//! Every package was looked up in its registry (`npm view`, `npm pack`, `pip download`) on 2026-11-22; `checked` is
//! the version that was there, and the configuration is what that version's own README gives. Listed means that it
//! exists and what it says it is for; it is no review of its code. Servers whose package could not be looked up that
//! day (those that come as images or remote addresses only) are not listed.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
    pub configuration: Option<Value>,
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

const SERVERS: &[Server] = &[
    Server {
        name: "context7",
        package: "@upstash/context7-mcp",
        registry: Registry::Npm,
        checked: "4.1.1",
        topic: ServerTopic::Documentation,
        priority: Priority::High,
        purpose: "Current documentation and examples of libraries, by version.",
        why: "Answers from the documentation of the version in use rather than from memory.",
        words: "api reference docs library framework upgrade migration deprecated",
        args: &["--api-key", "YOUR_API_KEY"],
        env: &[],
    },
    Server {
        name: "playwright",
        package: "@playwright/mcp",
        registry: Registry::Npm,
        checked: "0.0.83",
        topic: ServerTopic::Browser,
        priority: Priority::High,
        purpose: "Drives a browser through its accessibility tree: opens pages, clicks, fills forms, takes screenshots.",
        why: "Tries a web interface end to end and writes the test for it.",
        words: "e2e test frontend ui web page click form screenshot automation",
        args: &[],
        env: &[],
    },
    Server {
        name: "git",
        package: "mcp-server-git",
        registry: Registry::Pypi,
        checked: "2026.10.19",
        topic: ServerTopic::VersionControl,
        priority: Priority::Medium,
        purpose: "Reads, searches and changes a git repository. A reference server.",
        why: "Commits and branches where this server only reads.",
        words: "commit branch diff history checkout repository",
        args: &["--repository", "PATH_TO_THE_REPOSITORY"],
        env: &[],
    },
    Server {
        name: "filesystem",
        package: "@modelcontextprotocol/server-filesystem",
        registry: Registry::Npm,
        checked: "2026.8.31",
        topic: ServerTopic::Files,
        priority: Priority::Medium,
        purpose: "Reads and writes files within the directories that it is given. A reference server.",
        why: "Reaches directories outside the project, for clients that have no file tools of their own.",
        words: "file folder directory read write edit search move",
        args: &["PATH_TO_A_DIRECTORY"],
        env: &[],
    },
    Server {
        name: "fetch",
        package: "mcp-server-fetch",
        registry: Registry::Pypi,
        checked: "2026.10.24",
        topic: ServerTopic::Web,
        priority: Priority::Medium,
        purpose: "Fetches a web page and turns it into Markdown. A reference server.",
        why: "Reads an issue, an article or a changelog without a browser.",
        words: "http url page markdown download article changelog read",
        args: &[],
        env: &[],
    },
    Server {
        name: "memory",
        package: "@modelcontextprotocol/server-memory",
        registry: Registry::Npm,
        checked: "2026.8.31",
        topic: ServerTopic::Memory,
        priority: Priority::Medium,
        purpose: "Keeps entities and their relations in a local knowledge graph. A reference server.",
        why: "Remembers people, systems and decisions between sessions.",
        words: "remember knowledge graph notes persist session context",
        args: &[],
        env: &[],
    },
    Server {
        name: "sequential-thinking",
        package: "@modelcontextprotocol/server-sequential-thinking",
        registry: Registry::Npm,
        checked: "2026.8.31",
        topic: ServerTopic::Reasoning,
        priority: Priority::Medium,
        purpose: "Writes thoughts down step by step, with revisions and branches. A reference server.",
        why: "Keeps a long plan or a search for a cause in order.",
        words: "plan think reason steps problem solving debug design architecture",
        args: &[],
        env: &[],
    },
    Server {
        name: "chrome-devtools",
        package: "chrome-devtools-mcp",
        registry: Registry::Npm,
        checked: "1.11.0",
        topic: ServerTopic::Browser,
        priority: Priority::Medium,
        purpose: "Inspects a running Chrome: console, network, performance traces, snapshots of pages.",
        why: "Finds why a page is slow or broken.",
        words: "performance profile trace network console debug frontend web slow page",
        args: &[],
        env: &[],
    },
    Server {
        name: "eslint",
        package: "@eslint/mcp",
        registry: Registry::Npm,
        checked: "0.3.13",
        topic: ServerTopic::Quality,
        priority: Priority::Medium,
        purpose: "Runs the project's ESLint on files. By the ESLint team.",
        why: "Lints JavaScript in clients that have no lint tools.",
        words: "lint javascript typescript style rules code quality",
        args: &[],
        env: &[],
    },
    Server {
        name: "mongodb",
        package: "mongodb-mcp-server",
        registry: Registry::Npm,
        checked: "3.0.4",
        topic: ServerTopic::Database,
        priority: Priority::Low,
        purpose: "Queries MongoDB databases and manages Atlas clusters. By MongoDB.",
        why: "Looks at the data that a failing query works on; configured read-only here.",
        words: "nosql document query schema collection index data",
        args: &["--readOnly"],
        env: &[("MDB_MCP_CONNECTION_STRING", "YOUR_CONNECTION_STRING")],
    },
    Server {
        name: "duckdb",
        package: "mcp-server-motherduck",
        registry: Registry::Pypi,
        checked: "1.1.0",
        topic: ServerTopic::Database,
        priority: Priority::Low,
        purpose: "Queries DuckDB files and MotherDuck in SQL. By MotherDuck.",
        why: "Analyses CSV, JSON and Parquet files in SQL.",
        words: "sql analytics csv parquet json query data",
        args: &["--db-path", "PATH_TO_A_DATABASE"],
        env: &[],
    },
    Server {
        name: "qdrant",
        package: "mcp-server-qdrant",
        registry: Registry::Pypi,
        checked: "0.8.1",
        topic: ServerTopic::Memory,
        priority: Priority::Low,
        purpose: "Stores and finds texts by meaning in a Qdrant collection. By Qdrant.",
        why: "Finds notes or snippets that say the same in other words.",
        words: "vector semantic search embedding similarity snippets",
        args: &[],
        env: &[
            ("QDRANT_URL", "YOUR_URL"),
            ("QDRANT_API_KEY", "YOUR_API_KEY"),
            ("COLLECTION_NAME", "YOUR_COLLECTION"),
        ],
    },
    Server {
        name: "aws-documentation",
        package: "awslabs.aws-documentation-mcp-server",
        registry: Registry::Pypi,
        checked: "1.2.3",
        topic: ServerTopic::Documentation,
        priority: Priority::Low,
        purpose: "Searches and reads the AWS documentation. By AWS Labs.",
        why: "Looks limits, permissions and parameters of AWS services up.",
        words: "aws amazon cloud infrastructure docs deploy lambda",
        args: &[],
        env: &[("AWS_DOCUMENTATION_PARTITION", "aws")],
    },
    Server {
        name: "figma",
        package: "figma-developer-mcp",
        registry: Registry::Npm,
        checked: "0.13.2",
        topic: ServerTopic::Design,
        priority: Priority::Low,
        purpose: "Reads layout and styles of Figma files for code. By Framelink, not by Figma.",
        why: "Builds a component from its design.",
        words: "design component layout css tokens frontend ui mockup",
        args: &["--figma-api-key=YOUR_KEY", "--stdio"],
        env: &[],
    },
    Server {
        name: "notion",
        package: "@notionhq/notion-mcp-server",
        registry: Registry::Npm,
        checked: "2.5.2",
        topic: ServerTopic::Planning,
        priority: Priority::Low,
        purpose: "Reads and writes Notion pages and databases. By Notion.",
        why: "Keeps plans and minutes where the team has them.",
        words: "notes wiki pages tasks project documents team",
        args: &[],
        env: &[("NOTION_TOKEN", "YOUR_TOKEN")],
    },
    Server {
        name: "time",
        package: "mcp-server-time",
        registry: Registry::Pypi,
        checked: "2026.10.19",
        topic: ServerTopic::Helpers,
        priority: Priority::Low,
        purpose: "The current time, and conversion between time zones. A reference server.",
        why: "Models do not know what time it is.",
        words: "date clock timezone schedule calendar",
        args: &[],
        env: &[],
    },
    Server {
        name: "everything",
        package: "@modelcontextprotocol/server-everything",
        registry: Registry::Npm,
        checked: "2026.8.31",
        topic: ServerTopic::Helpers,
        priority: Priority::Low,
        purpose: "Has every feature of the protocol. A reference server.",
        why: "Tests an MCP client.",
        words: "test protocol client debug mcp sample",
        args: &[],
        env: &[],
    },
];

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
            configuration: query.include_config.then(|| self.configuration()),
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
