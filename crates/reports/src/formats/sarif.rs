//! SARIF 2.1.0.
//!
//! Source: the OASIS standard. Of `serde-sarif` only the types would serve, all of them, and they refuse what writers
//! leave out; the parts that are read are these.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::text::lines;

#[derive(Deserialize)]
struct Log {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Run {
    tool: Tool,
    results: Option<Vec<Found>>,
    artifacts: Vec<Artifact>,
    original_uri_base_ids: BTreeMap<String, Address>,
    invocations: Vec<Invocation>,
    #[serde(skip)]
    by_id: BTreeMap<String, usize>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tool {
    driver: Driver,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Driver {
    name: String,
    rules: Vec<Rule>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Rule {
    id: String,
    default_configuration: Configuration,
    message_strings: BTreeMap<String, Text>,
    help: Text,
    short_description: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Configuration {
    level: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Text {
    text: Option<String>,
    id: Option<String>,
    arguments: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Invocation {
    execution_successful: Option<bool>,
    tool_execution_notifications: Vec<Found>,
    tool_configuration_notifications: Vec<Found>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Found {
    rule_id: Option<String>,
    rule_index: Option<i64>,
    rule: Option<Reference>,
    kind: Option<String>,
    level: Option<String>,
    message: Option<Text>,
    locations: Vec<Location>,
    fixes: Vec<Value>,
    suppressions: Option<Vec<Value>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reference {
    id: Option<String>,
    index: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Location {
    physical_location: Physical,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Physical {
    artifact_location: Address,
    region: Region,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Address {
    uri: Option<String>,
    uri_base_id: Option<String>,
    index: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Artifact {
    location: Address,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Region {
    #[serde(default, deserialize_with = "json::position")]
    start_line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    start_column: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    end_line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    end_column: Option<u32>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let log: Option<Log> = json::document(input.stdout, draft);
    if log.is_none() {
        lines(input.stdout).for_each(|line| draft.unread(&line));
    }
    lines(input.stderr).for_each(|line| draft.unread(&line));
    let runs = log.map(|log| log.runs).unwrap_or_default();
    if let [run] = runs.as_slice()
        && !run.tool.driver.name.is_empty()
    {
        draft.say_source(&run.tool.driver.name);
    }
    for mut run in runs {
        let ids = run.tool.driver.rules.iter().enumerate().map(|(at, rule)| (rule.id.clone(), at));
        run.by_id = ids.collect();
        let mut broken = false;
        for invocation in std::mem::take(&mut run.invocations) {
            broken |= invocation.execution_successful == Some(false);
            let notices =
                [invocation.tool_execution_notifications, invocation.tool_configuration_notifications];
            notices.into_iter().flatten().for_each(|notice| run.take(notice, draft));
        }
        for found in run.results.take().unwrap_or_default() {
            run.take(found, draft);
        }
        if broken {
            draft.disagree("the tool says that it did not run to its end".to_owned());
        }
    }
}

impl Run {
    fn take(&self, found: Found, draft: &mut Draft<'_>) {
        // What holds, does not apply or is suppressed is no finding.
        let kind = found.kind.as_deref().unwrap_or("fail");
        if matches!(kind, "pass" | "notApplicable")
            || found.suppressions.as_ref().is_some_and(|list| !list.is_empty())
        {
            return;
        }
        let reference = found.rule.unwrap_or_default();
        let index = found.rule_index.or(reference.index).and_then(|index| usize::try_from(index).ok());
        let id = found.rule_id.or(reference.id);
        let rules = &self.tool.driver.rules;
        let rule = index.and_then(|index| rules.get(index));
        let rule = rule.or_else(|| rules.get(*self.by_id.get(id.as_ref()?)?));
        let Some(message) = found.message.and_then(|message| message.of(rule)) else {
            draft.unread_lines(1);
            return;
        };
        let level = found.level.or_else(|| rule.and_then(|rule| rule.default_configuration.level.clone()));
        let level = match level.as_deref() {
            Some("error") => Level::Error,
            Some("note" | "none") => Level::Note,
            _ => Level::Warning,
        };
        let physical = found.locations.into_iter().next().unwrap_or_default().physical_location;
        let place = self.uri(&physical.artifact_location, 0).map(|uri| draft.context.place(&uri));
        let region = physical.region;
        let help =
            rule.and_then(|rule| rule.short_description.text.clone().or_else(|| rule.help.text.clone()));
        draft.find(Finding {
            place,
            line: region.start_line,
            column: region.start_column,
            end_line: region.end_line,
            end_column: region.end_column,
            level: Some(level),
            rule: id.or_else(|| rule.map(|rule| rule.id.clone())),
            help: help.filter(|help| *help != message).unwrap_or_default(),
            message,
            fix: !found.fixes.is_empty(),
            source: Some(self.tool.driver.name.clone()).filter(|name| !name.is_empty()),
        });
    }

    /// The address with the addresses that it is relative to before it.
    fn uri(&self, address: &Address, depth: usize) -> Option<String> {
        let listed = address.index.and_then(|index| self.artifacts.get(usize::try_from(index).ok()?));
        let uri = address.uri.as_ref().or_else(|| listed.and_then(|listed| listed.location.uri.as_ref()))?;
        let base = address.uri_base_id.as_ref().and_then(|id| self.original_uri_base_ids.get(id));
        // Bases may be relative to bases; a circle of them ends here.
        let base =
            base.filter(|_| depth < 8 && !uri.contains("://")).and_then(|base| self.uri(base, depth + 1));
        Some(format!("{}{uri}", base.unwrap_or_default()))
    }
}

impl Text {
    fn of(&self, rule: Option<&Rule>) -> Option<String> {
        let known = || rule?.message_strings.get(self.id.as_ref()?)?.text.as_ref();
        let text = self.text.as_ref().or_else(known)?;
        if self.arguments.is_empty() || text.len() > crate::MAX_DETAIL {
            return Some(text.clone());
        }
        let put = |text: String, (nth, argument): (usize, &String)| {
            text.replace(&format!("{{{nth}}}"), crate::text::head(argument, crate::MAX_NAME))
        };
        let cut = |text: String| crate::text::clip(&text, 2 * crate::MAX_DETAIL);
        Some(
            self.arguments
                .iter()
                .take(20)
                .enumerate()
                .fold(text.clone(), |text, argument| cut(put(text, argument))),
        )
    }
}
