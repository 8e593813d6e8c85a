//! What is required held against what is there.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::check::{Finding, check};
use crate::claims::claims;
use crate::generate::{Made, generate};
use crate::ground::Ground;
use crate::ground::tree::There;
use crate::mark::{self, Mark, Origin, Source};
use crate::requirement::{Level, Requirement};

/// Longest document that is looked into, in bytes: 1 MiB.
pub const MAX_AUDITED: usize = 1024 * 1024;

/// How a document stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// There is none.
    Missing,
    /// Something that it says is not so, its sources say more now, or it is old.
    Stale,
    /// It was generated, and would be generated so again.
    Fresh,
    /// Somebody wrote it, and nothing speaks against it.
    HandWritten,
}

/// Who wrote a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Somebody.
    Hand,
    /// It was generated, and then somebody edited it.
    Edited,
    /// Gatewright.
    Generated,
}

/// Why a document stands as it does, the strongest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Reason {
    /// It is at none of these places.
    NotThere {
        /// Where it was looked for.
        paths: Vec<String>,
    },
    /// It cannot be looked into.
    Unreadable,
    /// So many of its claims are not so.
    NotSo {
        /// How many.
        findings: usize,
    },
    /// It would be generated otherwise now.
    Outdated {
        /// Sources that are other than they were, gone or new; none where something else made the difference.
        sources: Vec<String>,
    },
    /// Files that it tells of changed since.
    SourcesChanged {
        /// Which.
        sources: Vec<String>,
    },
    /// It was generated and edited: it is somebody's now.
    Edited,
    /// Nobody looked at it for long.
    Old {
        /// Days since it was changed.
        days: u32,
    },
}

impl Reason {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::NotThere { paths } if paths.is_empty() => "there is none in the context store".to_owned(),
            Self::NotThere { paths } => format!("there is no {}", paths.join(" and no ")),
            Self::Unreadable => format!("it is longer than {} KiB, or not UTF-8", MAX_AUDITED / 1024),
            Self::NotSo { findings: 1 } => "one thing that it says is not so".to_owned(),
            Self::NotSo { findings } => format!("{findings} things that it says are not so"),
            Self::Outdated { sources } if sources.is_empty() => {
                "the repository says something else now".to_owned()
            }
            Self::Outdated { sources } | Self::SourcesChanged { sources } => {
                let shown: Vec<&str> = sources.iter().take(5).map(String::as_str).collect();
                let more = sources.len().saturating_sub(shown.len());
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                format!("changed since: {}{more}", shown.join(", "))
            }
            Self::Edited => "it was generated and then edited; it is not written again".to_owned(),
            Self::Old { days } => format!("not looked at for {days} days"),
        }
    }
}

/// A document that is there.
#[derive(Debug, Clone, Copy)]
pub struct Held<'d> {
    /// Its path in the repository; `None` for one of the context store.
    pub path: Option<&'d str>,
    /// Its text.
    pub text: &'d str,
    /// Days since it was changed, where known.
    pub age_days: Option<u32>,
    /// What it was made from, where the store remembers it.
    pub sources: &'d [Source],
}

/// What an audit says of one requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audited {
    /// The requirement.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// Whether it must be there.
    #[serde(serialize_with = "level")]
    pub level: Level,
    /// Where it is, or would be made.
    pub path: Option<String>,
    /// How it stands.
    pub state: State,
    /// Who wrote it; `None`: nobody yet.
    pub by: Option<By>,
    /// Why, the strongest first.
    pub reasons: Vec<Reason>,
    /// What of it is not so.
    pub findings: Vec<Finding>,
    /// Whether it can be healed: it is missing or stale, nobody's words are in it, and something makes it.
    pub heals: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn level<S: serde::Serializer>(level: &Level, serializer: S) -> Result<S::Ok, S::Error> {
    level.serialize(serializer)
}

/// Holds every requirement that is asked for here against the repository. `capabilities` are those of the venture and of
/// [`crate::capabilities`]; `age` gives days since a file was changed. Requirements without a path are kept elsewhere:
/// [`judge`] them with what is there.
pub fn audit(
    ground: &Ground<'_>,
    requirements: &[Requirement],
    capabilities: &BTreeSet<String>,
    age: &dyn Fn(&str) -> Option<u32>,
) -> Vec<Audited> {
    let asked = requirements.iter().filter(|r| !r.paths.is_empty() && r.is_asked(capabilities));
    asked.map(|requirement| here(ground, requirement, age)).collect()
}

impl Requirement {
    /// Whether it is asked for where there are these capabilities.
    pub fn is_asked(&self, capabilities: &BTreeSet<String>) -> bool {
        self.level != Level::Off && self.when.as_ref().is_none_or(|when| capabilities.contains(when))
    }
}

fn here(ground: &Ground<'_>, requirement: &Requirement, age: &dyn Fn(&str) -> Option<u32>) -> Audited {
    let Some(path) = requirement.paths.iter().find(|path| ground.tree.there(path) == There::Yes) else {
        return judge(ground, requirement, None);
    };
    match ground.text(path).filter(|text| text.len() <= MAX_AUDITED) {
        Some(text) => {
            let held = Held { path: Some(path), text: &text, age_days: age(path), sources: &[] };
            judge(ground, requirement, Some(&held))
        }
        None => Audited {
            path: Some(path.clone()),
            state: State::Stale,
            by: Some(By::Hand),
            reasons: vec![Reason::Unreadable],
            ..blank(requirement)
        },
    }
}

fn blank(requirement: &Requirement) -> Audited {
    Audited {
        name: requirement.name.clone(),
        title: requirement.title.clone(),
        level: requirement.level,
        path: requirement.paths.first().cloned(),
        state: State::Missing,
        by: None,
        reasons: Vec::new(),
        findings: Vec::new(),
        heals: false,
    }
}

/// Holds one requirement against the document that is there for it, wherever that is kept.
pub fn judge(ground: &Ground<'_>, requirement: &Requirement, held: Option<&Held<'_>>) -> Audited {
    let mut said = blank(requirement);
    let Some(held) = held else {
        said.reasons.push(Reason::NotThere { paths: requirement.paths.clone() });
        said.heals = generate(ground, requirement).is_ok();
        return said;
    };
    said.path = held.path.map(str::to_owned);
    let made =
        |mark: &Mark| (mark.name == requirement.name).then(|| generate(ground, requirement).ok()).flatten();
    let mut is_ours = false;
    match mark::read(held.text) {
        Origin::Generated(mark) => {
            said.by = Some(By::Generated);
            said.state = State::Fresh;
            if let Some(made) = made(&mark) {
                is_ours = true;
                if body(&made.text) != body(held.text) {
                    said.reasons.push(Reason::Outdated { sources: changed(&mark.sources, &made.sources) });
                    said.heals = true;
                }
            }
        }
        Origin::Edited(_) => {
            said.by = Some(By::Edited);
            said.state = State::HandWritten;
            said.reasons.push(Reason::Edited);
        }
        Origin::Written => {
            said.by = Some(By::Hand);
            said.state = State::HandWritten;
        }
    }
    // What would be made again was compared whole.
    if !is_ours {
        said.findings = check(ground, &claims(held.text), held.path.unwrap_or_default());
    }
    if !said.findings.is_empty() {
        said.reasons.push(Reason::NotSo { findings: said.findings.len() });
    }
    if !held.sources.is_empty() && said.by != Some(By::Generated) {
        let now: Vec<Source> =
            ground.sources(&ground.matching(&requirement.sources)).into_iter().map(|(s, _)| s).collect();
        let sources = changed(held.sources, &now);
        if !sources.is_empty() {
            said.reasons.push(Reason::SourcesChanged { sources });
        }
    }
    // What is generated is not looked at by people: it is as young as its sources.
    if let Some(days) =
        held.age_days.filter(|days| requirement.max_age_days > 0 && *days >= requirement.max_age_days)
        && said.by != Some(By::Generated)
    {
        said.reasons.push(Reason::Old { days });
    }
    said.reasons.sort();
    if said.reasons.iter().any(|reason| *reason != Reason::Edited) {
        said.state = State::Stale;
    }
    said
}

/// The bytes that healing would write for what an audit found, and where; `None` for everything that is somebody's, is as it would
/// be made, or cannot be made.
pub fn heal(
    ground: &Ground<'_>,
    requirement: &Requirement,
    said: &Audited,
) -> Option<(Option<String>, Made)> {
    if !said.heals || said.name != requirement.name || !matches!(said.by, None | Some(By::Generated)) {
        return None;
    }
    Some((said.path.clone(), generate(ground, requirement).ok()?))
}

/// Without the mark and differences of line ends.
fn body(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split_once('\n').map_or("", |(_, body)| body).replace("\r\n", "\n")
}

/// Sources that are not the same in both lists, sorted.
fn changed(before: &[Source], now: &[Source]) -> Vec<String> {
    let named = |source: &&Source| source.path != mark::REST;
    let before_named: BTreeSet<&Source> = before.iter().filter(named).collect();
    // Beyond those that are named only all of them together are known.
    let is_open = before_named.len() < before.len();
    let now: BTreeSet<&Source> =
        if is_open { now.iter().take(mark::MAX_NAMED).collect() } else { now.iter().collect() };
    let all: BTreeSet<String> =
        before_named.symmetric_difference(&now).map(|source| source.path.clone()).collect();
    all.into_iter().collect()
}
