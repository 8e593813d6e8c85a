//! Plugins: what a person reads before their tools are called.

use std::sync::Arc;

use contract::text::spelled_out;
use kit::lock::Lock;
use kit::registry::Registered;
use serde_json::Value;

use super::looked::Looked;
use crate::plugged::{Found, Hosting};
use crate::term::{BOLD, DIM, NOTE};

/// What stands before the names of plugins where they are named beside tools.
pub const PLUGIN: &str = "plugin:";

/// The tools of a plugin, as they are offered.
pub fn tools(looked: &Looked, plugin: &Found) -> Vec<Arc<Registered>> {
    let names = plugin.hosted().map(Hosting::names).unwrap_or_default();
    names.iter().filter_map(|name| looked.registry.resolve(name)).map(Arc::clone).collect()
}

/// Shows all of it: what it may do in words, its programs, then the file itself with nothing hidden in it.
pub fn print(looked: &Looked, plugin: &Found) {
    let Some(hosted) = plugin.hosted() else { return };
    say!(
        "{BOLD}{PLUGIN}{}{BOLD:#} {DIM}{} ({}){DIM:#}",
        plugin.name,
        plugin.file.display(),
        plugin.origin.word()
    );
    for line in hosted.told() {
        say!("  {NOTE}{}{NOTE:#}", spelled_out(&line));
    }
    let first = tools(looked, plugin).into_iter().next();
    let programs =
        first.as_ref().and_then(|tool| tool.tool.identity()).and_then(|identity| identity.get("programs"));
    for (program, identity) in programs.and_then(Value::as_object).into_iter().flatten() {
        say!("  {program}: {}", spelled_out(&identity.to_string()));
    }
    say!("");
    for line in plugin.text.lines() {
        say!("    {}", spelled_out(line));
    }
}

/// Whether what was accepted is a tool of a plugin.
pub fn is_of_one(definition: Option<&Value>) -> bool {
    definition.and_then(|definition| definition.get("kind")).and_then(Value::as_str) == Some("plugin")
}

/// The tools of a plugin that are approved, whether or not it is there.
pub fn approved(own: &Lock, plugin: &str) -> Vec<String> {
    let of_it = |definition: &Value| {
        is_of_one(Some(definition))
            && definition.pointer("/file/plugin/name").and_then(Value::as_str) == Some(plugin)
    };
    own.iter().filter(|(_, definition)| of_it(definition)).map(|(name, _)| name.to_owned()).collect()
}
