//! Update Node packages.
//!
//! Lists which packages have newer versions, and how far they lie, and moves them in the lock: within the manifest's ranges, or beyond
//! them with `latest`. The change is the plan; once it is applied, the packages are installed without code of theirs.

use std::collections::BTreeMap;

use contract::{Fault, Toolset};
use deps::{Ecosystem, Lister, outdated};
use exec::run::{Cache, Command};
use kit::choice::{Choice, MOST, Offered};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::families::NODE;
use crate::node::{self, Manager};
use crate::packages::berry;
use crate::packages::installing::{Installed, Scripts, Wish, install};
use crate::packages::locked::{Changed, locked};
use crate::packages::{self, Chosen, Failure, Packages, reached};
use crate::running::{configured, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Have the user choose; else answer with the choices.
    #[serde(default)]
    pub interactive: bool,
    /// Beyond the manifest's ranges.
    #[serde(default)]
    pub latest: bool,
    /// Packages to update; else all.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Only development dependencies.
    #[serde(default)]
    pub dev: bool,
}

/// A package of which there is a newer version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Newer {
    /// Its name.
    pub name: String,
    /// What the project needs it for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The locked version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// The newest that the manifest admits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// The newest.
    pub latest: String,
    /// How far the newest is: patch, minor, major, prerelease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether the newest is deprecated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The package manager.
    pub manager: Chosen,
    /// Packages with newer versions, before the update.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<Newer>,
    /// What changes of the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Changed>,
    /// The manager's code of its failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What was installed, after an apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<Installed>,
    /// What became of install scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<Scripts>,
    /// Hosts that were reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<String>,
    /// What is worth knowing besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsUpdateDeps;

impl Define for NodejsUpdateDeps {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_update_deps";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_update_deps.rs");
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = packages::PROGRAMS;
    const CACHES: &'static [Cache] = packages::CACHES;
    const SETTLES: &'static [&'static str] = packages::SETTLES;
    const ASKED: &'static [&'static str] = packages::ASKED;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "packages": ["is-odd"], "latest": true }), json!({ "interactive": true })]
    }
}

/// Dependencies of the manifest, each with the group that names it.
type Groups = BTreeMap<String, &'static str>;

impl Run for NodejsUpdateDeps {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let packages = Packages::of(&desk, None).await?;
        let groups = groups(&desk).await?;
        let named: Vec<String> = if input.packages.is_empty() {
            let of_development = |group: &str| group == "devDependencies";
            groups
                .iter()
                .filter(|(_, g)| !input.dev || of_development(g))
                .map(|(name, _)| name.clone())
                .collect()
        } else {
            input.packages.clone()
        };
        if let Some(unknown) = named.iter().find(|name| !groups.contains_key(*name)) {
            return Err(Fault::invalid(format!("packages: package.json does not ask for {unknown:?}"))
                .suggest("Name packages of package.json; others move with those that bring them."));
        }
        let mut output = Output {
            manager: packages.chosen.clone(),
            outdated: Vec::new(),
            lock: None,
            code: None,
            installed: None,
            scripts: None,
            reached: Vec::new(),
            notes: packages.notes.clone(),
        };
        if named.is_empty() {
            let message = "The project asks for no packages of that kind: nothing to update.".to_owned();
            return Ok(Answer::new(message, output));
        }
        let listed = listed(&desk, &packages, &named, &groups).await?;
        output.reached = listed.reached;
        let Some(rows) = listed.rows else {
            output.code = listed.failure.code;
            let message = format!("Not known: {}", listed.failure.why);
            return Ok(Answer { success: false, ..Answer::new(message, output) });
        };
        let (many, told) = (rows.len(), in_words(&rows));
        output.outdated = rows;
        if input.interactive {
            let message = format!(
                "{told} Nothing was changed: name your choice in `packages`, with `latest` for what lies beyond the ranges."
            );
            let choice = choice(&output.outdated, input.latest);
            return Ok(Answer { choice, ..Answer::new(message, output) });
        }
        let wanted: Vec<&Newer> = output.outdated.iter().filter(|row| named.contains(&row.name)).collect();
        let moving = if packages.berry {
            moving_berry(&input, &named, &wanted)
        } else {
            moving(packages.manager, &input, &named, &wanted, &groups)
        };
        if many == 0 || moving.is_empty() {
            return Ok(Answer::new(told, output));
        }
        for args in moving {
            let command = packages.locking(&desk, args)?;
            let ran = desk.run(configured(&desk, command).await?).await?;
            output.reached.extend(reached([&ran]));
            if !ran.is_success() {
                let failure = Failure::of(&ran);
                output.code = failure.code;
                let message = format!("{told} They could not be updated: {}", failure.why);
                return Ok(Answer { success: false, ..Answer::new(message, output) });
            }
        }
        output.reached.sort();
        output.reached.dedup();
        let locked = locked(&desk, &packages).await?;
        let mut message = format!("{told} {}", locked.in_words());
        let refused = locked.refused();
        let success = refused.is_none();
        message.extend(refused.map(|refused| format!(" {refused}")));
        if !input.latest {
            let held = output.outdated.iter().filter(|row| row.wanted.as_ref() != Some(&row.latest)).count();
            if held > 0 {
                output.notes.push(format!(
                    "{held} have newer versions beyond the manifest's ranges; `latest` takes them."
                ));
            }
        }
        if let Some(why) = berry::unlinked(&desk, &packages).await? {
            output.notes.push(format!("Nothing is installed: {why}."));
        }
        if let Some(why) = desk.unkept(&packages.modules()?).await? {
            output.notes.push(format!("Nothing can be installed: {why}."));
        }
        output.lock = Some(locked.changed);
        Ok(Answer { success, ..Answer::new(message, output) })
    }

    async fn settle(&self, _: Input, desk: RunDesk) -> Result<Option<Answer<Output>>, Fault> {
        let packages = Packages::of(&desk, None).await?;
        let came = install(&desk, &packages, Wish::default()).await?;
        Ok(Some(came.answer(|came| Output {
            manager: packages.chosen,
            outdated: Vec::new(),
            lock: None,
            code: came.code,
            installed: came.installed,
            scripts: Some(came.scripts),
            reached: came.reached,
            notes: Vec::new(),
        })))
    }
}

/// What the manifest where the call works asks for.
async fn groups(desk: &RunDesk) -> Result<Groups, Fault> {
    let named = desk.asked().directory.clone();
    desk.blocking(move |desk| {
        let dir = crate::running::directory(named.as_deref())?;
        let manifest = node::manifest(desk, dir.as_ref())?.ok_or_else(node::no_manifest)?;
        let mut groups = Groups::new();
        for (group, entries) in node::dependencies(&manifest) {
            for (name, _) in entries.into_iter().filter(|_| group != "peerDependencies") {
                groups.entry(name).or_insert(group);
            }
        }
        Ok(groups)
    })
    .await
}

/// What the manager lists.
struct Listed {
    rows: Option<Vec<Newer>>,
    failure: Failure,
    reached: Vec<String>,
}

async fn listed(
    desk: &RunDesk,
    packages: &Packages,
    named: &[String],
    groups: &Groups,
) -> Result<Listed, Fault> {
    // Yarn 2 and later, and bun, list nothing that is read: npm asks the same registry about the same manifest.
    if packages.berry || packages.manager == Manager::Bun {
        return listed_by(desk, packages, named, groups, Lister::Npm, packages.of_npm(desk)?).await;
    }
    let (lister, args) = match packages.manager {
        Manager::Npm => (Lister::Npm, &["outdated", "--json"][..]),
        Manager::Pnpm => (Lister::Pnpm, &["outdated", "--format", "json"][..]),
        Manager::Yarn | Manager::Bun => (Lister::Yarn, &["outdated", "--json"][..]),
    };
    let command = packages.fetching(desk, words(args))?;
    let mut newer = listed_by(desk, packages, named, groups, lister, command).await?;
    if let (Manager::Pnpm, Some(rows)) = (packages.manager, &mut newer.rows) {
        // pnpm calls wanted what is locked. What the ranges admit it says when it is asked for nothing else.
        let args = words(&["outdated", "--compatible", "--format", "json"]);
        let ran = desk.run(configured(desk, packages.fetching(desk, args)?).await?).await?;
        let within = outdated(lister, &ran.stdout.bytes).unwrap_or_default();
        for row in rows {
            let newest = within.iter().find(|one| one.name == row.name).map(|one| one.latest.clone());
            row.wanted = newest.or_else(|| row.current.clone());
        }
    }
    Ok(newer)
}

async fn listed_by(
    desk: &RunDesk,
    packages: &Packages,
    named: &[String],
    groups: &Groups,
    lister: Lister,
    command: Command,
) -> Result<Listed, Fault> {
    let ran = desk.run(configured(desk, command).await?).await?;
    // They end with 1 where there is something to tell.
    let rows = outdated(lister, &ran.stdout.bytes).filter(|rows| !rows.is_empty() || ran.is_success());
    let lock = locked(desk, packages).await?.after;
    let current = |name: &str| {
        let there = lock.as_ref()?.packages.iter().find(|package| {
            let top = format!("node_modules/{name}");
            package.name == name && package.place.as_ref().is_none_or(|place| *place == top)
        });
        there?.version.clone()
    };
    let rows = rows.map(|rows| {
        let newer = |mut row: deps::Outdated| {
            // What the manager calls current is what is unpacked; what counts is the lock.
            row.current = current(&row.name).or(row.current);
            row.measure(Ecosystem::Npm);
            Newer {
                group: groups.get(&row.name).map(|group| (*group).to_owned()).or(row.group),
                name: row.name,
                current: row.current,
                wanted: row.wanted,
                latest: row.latest,
                kind: row.kind.map(|kind| format!("{kind:?}").to_lowercase()),
                deprecated: row.deprecated,
            }
        };
        let mut rows: Vec<Newer> = rows.into_iter().map(newer).collect();
        rows.retain(|row| named.contains(&row.name) && row.current.as_ref() != Some(&row.latest));
        rows
    });
    Ok(Listed { rows, failure: Failure::of(&ran), reached: reached([&ran]) })
}

/// The commands that move packages in the lock, and beyond the ranges in the manifest.
fn moving(
    manager: Manager,
    input: &Input,
    named: &[String],
    rows: &[&Newer],
    groups: &Groups,
) -> Vec<Vec<String>> {
    let with = |flags: &[&str], names: Vec<String>| {
        let mut args = words(flags);
        args.extend(names);
        args
    };
    let all = || named.to_vec();
    match (manager, input.latest) {
        (Manager::Npm, false) => vec![with(&["update", "--package-lock-only", "--ignore-scripts"], all())],
        (Manager::Npm, true) => {
            let by = |group: &str, flag: &str| {
                let beyond: Vec<String> = rows
                    .iter()
                    .filter(|row| groups.get(&row.name).is_some_and(|of| *of == group))
                    .map(|row| format!("{}@{}", row.name, row.latest))
                    .collect();
                (!beyond.is_empty())
                    .then(|| with(&["install", flag, "--package-lock-only", "--ignore-scripts"], beyond))
            };
            let kinds = [
                ("dependencies", "--save-prod"),
                ("devDependencies", "--save-dev"),
                ("optionalDependencies", "--save-optional"),
            ];
            kinds.iter().filter_map(|(group, flag)| by(group, flag)).collect()
        }
        (Manager::Pnpm, latest) => {
            let flags = ["update", "--lockfile-only", "--ignore-scripts"];
            let mut args = words(&flags);
            args.extend(latest.then(|| "--latest".to_owned()));
            args.extend(all());
            vec![args]
        }
        (Manager::Bun, latest) => {
            let mut args = words(&["update", "--lockfile-only", "--ignore-scripts"]);
            args.extend(latest.then(|| "--latest".to_owned()));
            args.extend(all());
            vec![args]
        }
        (Manager::Yarn, latest) => {
            let mut args = words(&["upgrade", "--ignore-scripts", "--non-interactive"]);
            args.extend(latest.then(|| "--latest".to_owned()));
            args.extend(all());
            vec![args]
        }
    }
}

/// The same of yarn 2 and later.
fn moving_berry(input: &Input, named: &[String], rows: &[&Newer]) -> Vec<Vec<String>> {
    let mut args = words(&["up", "--mode=update-lockfile"]);
    if input.latest {
        args.extend(rows.iter().map(|row| format!("{}@^{}", row.name, row.latest)));
    } else {
        // What is resolved anew keeps the manifest's ranges.
        args.push("--recursive".to_owned());
        args.extend(named.iter().cloned());
    }
    vec![args]
}

/// What could move, for the user to choose from: beyond the ranges with `latest`, where a major version is not chosen unless they do.
fn choice(rows: &[Newer], latest: bool) -> Option<Choice> {
    let offered = |row: &Newer| {
        let target = if latest { Some(&row.latest) } else { row.wanted.as_ref() };
        let to = target.filter(|to| row.current.as_ref() != Some(to))?;
        let kind = row.kind.as_deref().filter(|_| *to == row.latest);
        let from = row.current.as_deref().unwrap_or("none");
        let title = kind.map_or(format!("{from} to {to}"), |kind| format!("{from} to {to}, {kind}"));
        let chosen = kind != Some("major");
        Some(Offered { name: row.name.clone(), title: format!("{}: {title}", row.name), chosen })
    };
    let options: Vec<Offered> = rows.iter().filter_map(offered).collect();
    let rest = match options.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" {more} more are not offered: name them in `packages`."),
    };
    (!options.is_empty()).then(|| Choice {
        text: format!("Which packages are to move?{rest}"),
        options,
        argument: "packages".to_owned(),
        instead_of: "interactive".to_owned(),
        besides: Map::new(),
    })
}

fn in_words(rows: &[Newer]) -> String {
    if rows.is_empty() {
        return "Nothing newer: everything is at its newest version.".to_owned();
    }
    let majors = rows.iter().filter(|row| row.kind.as_deref() == Some("major")).count();
    let of_majors = if majors > 0 { format!(", {majors} of them by a major version") } else { String::new() };
    let is = if rows.len() == 1 { "1 package has a newer version" } else { "packages have newer versions" };
    let many = if rows.len() == 1 { String::new() } else { format!("{} ", rows.len()) };
    format!("{many}{is}{of_majors}.")
}
