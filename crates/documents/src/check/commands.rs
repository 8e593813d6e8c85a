//! Commands.

use std::collections::BTreeSet;

use crate::claims::{Command, Folder};
use crate::ground::Ground;
use crate::ground::cargo::Crate;
use crate::ground::tree::{There, join, resolve};

pub(super) fn check(ground: &Ground<'_>, dir: &str, command: &Command, folder: &Folder) -> Option<String> {
    let folder = match folder {
        Folder::Top => "",
        Folder::In(folder) => folder,
        Folder::Unknown => return None,
    };
    // Seen from the top and from where the document is; what is neither is somewhere else.
    let mut places: Vec<String> = ["", dir].iter().filter_map(|base| resolve(base, folder)).collect();
    places.retain(|place| ground.tree.is_folder(place));
    places.dedup();
    if places.is_empty() {
        return None;
    }
    match command {
        Command::Make(target) => make(ground, &places, target),
        Command::Script(name) => script(ground, &places, name),
        Command::Recipe(name) => {
            let recipes = ground.recipes.as_ref().filter(|r| !r.is_open && !r.names.contains(name))?;
            Some(format!("the {} has no recipe {name}{}", recipes.file, near(name, &recipes.names)))
        }
        Command::Alias(name) => {
            let plugin = format!("cargo-{name}");
            let is_there = ground.aliases.contains(name)
                || ground.crates.iter().any(|c| c.name == plugin || c.bins.contains(&plugin));
            (!ground.crates.is_empty() && !is_there).then(|| format!("cargo has no alias {name} here"))
        }
        Command::Crate(name) => {
            let names: BTreeSet<String> = ground.crates.iter().map(|c| c.name.clone()).collect();
            let is_there = names.contains(name) || ground.locked.contains(name);
            (!names.is_empty() && !is_there)
                .then(|| format!("there is no crate {name}{}", near(name, &names)))
        }
        Command::Target(kind, name) => {
            let of = |c: &Crate| match *kind {
                "bin" => c.bins.clone(),
                "example" => c.examples.clone(),
                "test" => c.tests.clone(),
                _ => c.benches.clone(),
            };
            let names: BTreeSet<String> = ground.crates.iter().flat_map(of).collect();
            (!ground.crates.is_empty() && !names.contains(name))
                .then(|| format!("there is no {kind} {name}{}", near(name, &names)))
        }
        Command::Feature(name) => {
            let names: BTreeSet<String> =
                ground.crates.iter().flat_map(|c| c.features.iter().cloned()).collect();
            let is_others = name.contains('/');
            (!ground.crates.is_empty() && !is_others && !names.contains(name))
                .then(|| format!("no crate has a feature {name}{}", near(name, &names)))
        }
    }
}

fn make(ground: &Ground<'_>, places: &[String], target: &str) -> Option<String> {
    let known: Vec<_> = places.iter().filter_map(|place| Some((place, ground.makefile(place)?))).collect();
    if known.is_empty() {
        // One that a program writes, or one elsewhere, may be meant.
        return None;
    }
    let mut names = BTreeSet::new();
    for (place, makefile) in &known {
        let may_know_more = makefile.truncated
            || makefile.unexpanded > 0
            || !makefile.not_included.is_empty()
            || makefile
                .files
                .iter()
                .any(|file| ground.text(&join(place, file)).is_none_or(|text| has_open_rules(&text)));
        // Make is content with a file of that name.
        let is_file = ground.tree.there(&join(place, target)) != There::No;
        if may_know_more || is_file || makefile.targets.iter().any(|t| t.name == target) {
            return None;
        }
        names.extend(makefile.targets.iter().map(|t| t.name.clone()).filter(|n| !n.contains(['/', '.'])));
    }
    let file = match known.first() {
        Some((place, makefile)) if !place.is_empty() => {
            join(place, makefile.files.first().map_or("Makefile", String::as_str))
        }
        _ => "the Makefile".to_owned(),
    };
    let has = near(target, &names).replace("; there is ", "; it has ");
    let has = if has.is_empty() && names.len() == 1 {
        names.first().map(|n| format!("; it has {n}")).unwrap_or_default()
    } else {
        has
    };
    Some(format!("{file} has no target {target}{has}"))
}

/// Whether there are rules that build what they do not name: patterns, `.DEFAULT`, `$(eval …)`.
fn has_open_rules(text: &str) -> bool {
    text.lines().filter(|line| !line.starts_with(['\t', '#'])).any(|line| {
        let rule = line.split(':').next().unwrap_or_default();
        (line.contains(':') && rule.contains('%') && !rule.contains('='))
            || line.starts_with(".DEFAULT:")
            || line.contains("$(eval")
    })
}

fn script(ground: &Ground<'_>, places: &[String], name: &str) -> Option<String> {
    let here: Vec<_> = ground
        .packages
        .iter()
        .filter(|p| places.iter().any(|place| join(place, "package.json") == p.path))
        .collect();
    // Nothing where the command is run: a workspace's, or nobody's.
    if here.is_empty() || ground.packages.iter().any(|p| p.scripts.contains(name)) {
        return None;
    }
    let names: BTreeSet<String> = ground.packages.iter().flat_map(|p| p.scripts.iter().cloned()).collect();
    Some(format!("no package.json has a script {name}{}", near(name, &names)))
}

/// What may have been meant.
fn near(name: &str, names: &BTreeSet<String>) -> String {
    let best = names.iter().take(1_000).map(|known| (strsim::osa_distance(known, name), known)).min();
    match best {
        Some((distance, known)) if distance <= 1 + name.chars().count() / 5 => format!("; there is {known}"),
        _ => String::new(),
    }
}
