//! The servers that stand in a client's file, as upstreams: what is theirs is read, and no value of a secret is.

use std::collections::BTreeSet;

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::clients::{Form, NAME};
use crate::edit::MAX_BYTES;

/// Longest name of an upstream.
const MAX_NAME: usize = 24;

/// Programs that fetch what they run.
const FETCHES: &[&str] =
    &["bunx", "docker", "npm", "npx", "pipx", "pnpm", "pnpx", "podman", "uv", "uvx", "yarn"];

/// A server of a client's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is called there.
    pub there: String,
    /// What it can be called here.
    pub name: String,
    /// Its table of the user's configuration.
    pub table: String,
    /// What is to be done by hand.
    pub notes: Vec<String>,
}

/// The servers in a file of this form; our own is not one of them. `taken` are names that are not to be had, and `is_secret`
/// says of an argument or a URL whether it holds a secret: such a server is told and not taken.
pub fn servers(
    form: Form,
    text: &str,
    taken: &BTreeSet<String>,
    is_secret: &dyn Fn(&str) -> bool,
) -> Result<Vec<Found>, String> {
    if text.len() > MAX_BYTES {
        return Err("it is too large".to_owned());
    }
    let text = text.trim_start_matches('\u{feff}');
    let (whole, key) = match form {
        Form::Json { servers, .. } => (json(text)?, servers),
        Form::Toml { servers } => {
            let table: toml::Table = text.parse().map_err(|e: toml::de::Error| e.message().to_owned())?;
            (serde_json::to_value(table).map_err(|e| e.to_string())?, servers)
        }
    };
    let Some(Value::Object(table)) = whole.get(key) else { return Ok(Vec::new()) };
    let mut taken = taken.clone();
    let mut found = Vec::new();
    for (there, server) in table {
        let Value::Object(server) = server else { continue };
        if there == NAME {
            continue;
        }
        let name = free(there, &taken);
        taken.insert(name.clone());
        found.push(one(there, name, server, is_secret));
    }
    Ok(found)
}

fn one(there: &str, name: String, server: &Map<String, Value>, is_secret: &dyn Fn(&str) -> bool) -> Found {
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let text = |field: &str| server.get(field).and_then(Value::as_str);
    let url = text("url").or_else(|| text("serverUrl"));
    let args: Vec<&str> = server
        .get("args")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let said: Vec<&str> = url.into_iter().chain(text("command")).chain(args.iter().copied()).collect();
    if said.iter().any(|said| is_secret(said) || said.contains('?') && url == Some(said)) {
        notes.push(
            "left out: its command or URL holds what looks like a secret; name it by a variable".to_owned(),
        );
        return Found { there: there.to_owned(), name, table: String::new(), notes };
    }
    match (url, text("command")) {
        (Some(url), _) => {
            lines.push(format!("url = {}", quoted(url)));
            let headers = named(server.get("headers"));
            let (own, others): (Vec<_>, Vec<_>) =
                headers.into_iter().partition(|header| header.eq_ignore_ascii_case("authorization"));
            if !own.is_empty() {
                let variable = variable(&name, "TOKEN");
                notes.push(format!("put its bearer token into the variable {variable}"));
                lines.push(format!("token-env = {}", quoted(&variable)));
            }
            if !others.is_empty() {
                let pairs = others.iter().map(|header| {
                    let variable = variable(&name, header);
                    notes.push(format!("put the value of its header {header} into the variable {variable}"));
                    format!("{} = {}", quoted(header), quoted(&variable))
                });
                lines.push(format!("headers-env = {{ {} }}", pairs.collect::<Vec<_>>().join(", ")));
            }
        }
        (None, Some(command)) => {
            lines.push(format!("command = {}", quoted(command)));
            if !args.is_empty() {
                let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
                lines.push(format!("args = [{}]", args.join(", ")));
            }
            let variables = named(server.get("env"));
            if !variables.is_empty() {
                let pairs = variables.iter().map(|name| {
                    notes.push(format!("set the variable {name} where gatewright is started"));
                    format!("{} = {}", quoted(name), quoted(name))
                });
                lines.push(format!("env-from = {{ {} }}", pairs.collect::<Vec<_>>().join(", ")));
            }
            let program = command.rsplit('/').next().unwrap_or(command);
            if FETCHES.contains(&program) {
                lines.push("enabled = false".to_owned());
                notes.push(format!(
                    "{program} fetches what it runs each time: install the server, name its program here, and take out `enabled`"
                ));
            }
            notes.push(
                "say what it may see: root, reads, writes, hosts; without them it sees nothing".to_owned(),
            );
        }
        (None, None) => {
            notes.push("left out: it has neither a command nor a url".to_owned());
            return Found { there: there.to_owned(), name, table: String::new(), notes };
        }
    }
    let table = format!("[upstreams.{name}]\n{}\n", lines.join("\n"));
    Found { there: there.to_owned(), name, table, notes }
}

/// The names of what a table has; their values are nobody's here.
fn named(table: Option<&Value>) -> Vec<String> {
    table.and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect()
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn variable(name: &str, what: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("{name}_{what}").chars().map(plain).collect()
}

/// A name that an upstream may have, and nobody has yet.
fn free(there: &str, taken: &BTreeSet<String>) -> String {
    let mut name = String::new();
    for c in there.chars().map(|c| c.to_ascii_lowercase()) {
        match c {
            'a'..='z' | '0'..='9' => name.push(c),
            _ if !name.is_empty() && !name.ends_with('_') => name.push('_'),
            _ => {}
        }
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name = format!("server_{name}");
    }
    name.truncate(MAX_NAME - 3);
    let name = name.trim_end_matches('_').to_owned();
    let numbered = (2..100).map(|n| format!("{name}_{n}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name)
}

/// JSON as clients write it, with comments and commas too many.
fn json(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    if text.bytes().filter(|byte| b"{[".contains(byte)).count() > 100_000 {
        return Err("it nests too deep".to_owned());
    }
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|e| e.to_string())?;
    Ok(parsed.value.as_ref().map_or(Value::Null, |value| plain(value, 0)))
}

fn plain(value: &ast::Value<'_>, depth: usize) -> Value {
    // No client's file nests like this: what lies deeper is none of ours.
    if depth > 20 {
        return Value::Null;
    }
    match value {
        ast::Value::StringLit(text) => Value::String(text.value.to_string()),
        ast::Value::Array(array) => array.elements.iter().map(|item| plain(item, depth + 1)).collect(),
        ast::Value::Object(object) => object
            .properties
            .iter()
            .map(|property| (property.name.as_str().to_owned(), plain(&property.value, depth + 1)))
            .collect(),
        ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: Form = Form::Json { servers: "mcpServers", is_typed: true };

    fn of(text: &str) -> Vec<Found> {
        servers(JSON, text, &BTreeSet::from(["git_hub".to_owned()]), &|said| said.contains("sk-")).unwrap()
    }

    #[test]
    fn servers_of_every_kind_become_tables_without_any_value_of_theirs() {
        let found = of(r#"{ // mine
            "mcpServers": {
                "gatewright": { "command": "gatewright" },
                "Git Hub": { "command": "/opt/bin/server", "args": ["--x", "a\"b"], "env": { "TOKEN": "s3cr3t" } },
                "docs": { "type": "http", "url": "https://docs.example/mcp", "headers": { "Authorization": "Bearer s3cr3t", "X-Key": "s3cr3t" } },
                "fetched": { "command": "npx", "args": ["-y", "@a/b"] },
                "leaky": { "command": "server", "args": ["--key", "sk-123"] },
                "asked": { "url": "https://docs.example/mcp?key=1" },
                "nothing": {},
            },
        }"#);
        let mut names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["asked", "docs", "fetched", "git_hub_2", "leaky", "nothing"]);
        let all: String = found.iter().map(|found| found.table.as_str()).collect();
        assert!(!all.contains("s3cr3t") && !all.contains("sk-123"), "{all}");
        let read: toml::Table = all.parse().unwrap();
        let upstreams = &read["upstreams"];
        assert_eq!(upstreams["git_hub_2"]["args"][1].as_str(), Some("a\"b"));
        assert_eq!(upstreams["git_hub_2"]["env-from"]["TOKEN"].as_str(), Some("TOKEN"));
        assert_eq!(upstreams["docs"]["token-env"].as_str(), Some("DOCS_TOKEN"));
        assert_eq!(upstreams["docs"]["headers-env"]["X-Key"].as_str(), Some("DOCS_X_KEY"));
        assert_eq!(upstreams["fetched"]["enabled"].as_bool(), Some(false));
        for left_out in
            found.iter().filter(|found| ["asked", "leaky", "nothing"].contains(&found.name.as_str()))
        {
            assert!(left_out.table.is_empty() && left_out.notes[0].starts_with("left out"), "{left_out:?}");
        }
    }

    #[test]
    fn files_without_servers_and_files_that_are_none() {
        assert!(of("").is_empty() && of("{}").is_empty() && of(r#"{"mcpServers": 7}"#).is_empty());
        assert!(servers(JSON, "{", &BTreeSet::new(), &|_| false).is_err());
        let toml = servers(
            Form::Toml { servers: "mcp_servers" },
            "[mcp_servers.a]\ncommand = \"x\"\n",
            &BTreeSet::new(),
            &|_| false,
        );
        assert_eq!(toml.unwrap()[0].table, "[upstreams.a]\ncommand = \"x\"\n");
    }
}
