//! The rules that are always there, and those that a manifest makes.

use super::manifest::{Manifest, resolved};
use super::snapshot::{Snapshot, join};
use super::walk::PackageKind;
use super::{ListError, Rules, glob};
use crate::npm::pattern::{Dialect, Pattern, PatternError};
use crate::tree::Kind;

/// Left out of every folder unless rules of that folder say otherwise.
pub(super) const DEFAULTS: &str = "\
.npmignore
.gitignore
**/.git
**/.svn
**/.hg
**/CVS
**/.git/**
**/.svn/**
**/.hg/**
**/CVS/**
/.lock-wscript
/.wafpickle-*
/build/config.gypi
npm-debug.log
**/.npmrc
.*.swp
.DS_Store
**/.DS_Store/**
._*
**/._*/**
*.orig
/archived-packages/**
";

/// Left out of every folder, last.
pub(super) const STRICT: &str = "/.git\n";

/// At the top of a package, after everything else; later rules win.
const PACKAGE: &str = "\
!/package.json
!/readme{,.*[^~$]}
!/copying{,.*[^~$]}
!/license{,.*[^~$]}
!/licence{,.*[^~$]}
/.git
/node_modules
.npmrc
";

/// What a manifest says about its package.
#[derive(Debug, Default)]
pub(super) struct FromManifest {
    /// In the place of ignore files, where there is a `files`.
    pub(super) files: Option<String>,
    /// After everything else.
    pub(super) strict: String,
    /// Files of `files` that folders of theirs must not leave out.
    pub(super) required: Vec<String>,
}

/// Makes rules of a manifest.
pub(super) fn of_manifest(
    snapshot: &Snapshot<'_>,
    folder: &str,
    manifest: &Manifest,
    rules: Rules,
    kind: PackageKind,
) -> Result<FromManifest, ListError> {
    let mut made = FromManifest::default();
    let mut first = Vec::new();
    if let Some(files) = &manifest.files {
        let mut lines = vec!["*".to_owned()];
        for entry in files {
            match rules {
                Rules::V10 => {
                    exact_or_pattern(snapshot, folder, entry, &mut lines, &mut first, &mut made.required)?;
                }
                Rules::V11 => expanded(snapshot, folder, entry, kind, &mut lines)?,
            }
        }
        made.files = Some(lines.join("\n"));
    }
    // Of two files in `files`, the earlier one's rule comes later, and wins.
    let mut strict: Vec<String> = first.into_iter().rev().collect();
    strict.push(format!("{STRICT}{PACKAGE}"));
    strict.push(
        match rules {
            Rules::V10 => "/package-lock.json\n/yarn.lock\n/pnpm-lock.yaml\n/bun.lockb",
            Rules::V11 => {
                "/package-lock.json\n/npm-shrinkwrap.json\n/yarn.lock\n/pnpm-lock.yaml\n/bun.lockb\n/bun.lock\n\
                 /.npm-extension.mjs\n/.npm-extension.cjs"
            }
        }
        .to_owned(),
    );
    strict.extend(manifest.required.iter().chain(&manifest.bins).map(|path| format!("!/{path}")));
    strict.extend(commands_of_folder(snapshot, folder, manifest)?.iter().map(|path| format!("!/{path}")));
    if rules == Rules::V11 && kind == PackageKind::Root {
        strict.extend(manifest.patches.iter().map(|path| format!("/{path}")));
    }
    made.strict = strict.join("\n");
    Ok(made)
}

/// An entry of `files` up to npm 11: a file that is there is required, a folder is taken whole, anything else is a pattern.
fn exact_or_pattern(
    snapshot: &Snapshot<'_>,
    folder: &str,
    entry: &str,
    lines: &mut Vec<String>,
    first: &mut Vec<String>,
    required: &mut Vec<String>,
) -> Result<(), ListError> {
    let entry = entry.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(entry);
    let star = if entry.ends_with("/*") { "*" } else { "" };
    let entry = format!("{entry}{star}");
    let rule = format!("!{entry}");
    let named = entry.trim_start_matches('!').replace('\\', "/");
    let outside = leads_out(&named);
    let kind = if outside { None } else { snapshot.kind(&join(folder, &resolved(&named).join("/")))? };
    match kind {
        Some(Kind::File { .. }) if !named.ends_with('/') => {
            first.push(rule);
            required.push(entry.strip_prefix('/').unwrap_or(&entry).to_owned());
        }
        Some(Kind::Folder) => {
            lines.push(rule.clone());
            lines.push(format!("{rule}/**"));
        }
        Some(Kind::Link | Kind::Other) => {}
        _ => lines.push(rule),
    }
    Ok(())
}

/// Whether a path leads out of the folder that it starts in.
fn leads_out(path: &str) -> bool {
    let mut depth = 0_usize;
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

/// An entry of `files` since npm 12: a pattern, replaced by what it finds.
fn expanded(
    snapshot: &Snapshot<'_>,
    folder: &str,
    entry: &str,
    kind: PackageKind,
    lines: &mut Vec<String>,
) -> Result<(), ListError> {
    let negated = entry.starts_with('!');
    let pattern = entry.trim_start_matches('!');
    let pattern = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/')).unwrap_or(pattern);
    let pattern = pattern.trim_end_matches('/');
    if pattern.is_empty() {
        return Ok(());
    }
    let path = join(folder, "package.json");
    let pattern = match Pattern::new(pattern, Dialect::FILES, snapshot.meter) {
        Ok(pattern) => pattern,
        // Entries that no pattern can be made of are dropped without a word.
        Err(PatternError::Unreadable | PatternError::TooLong) => return Ok(()),
        Err(why) => return Err(ListError::Pattern { path, why }),
    };
    let mark = if negated { "" } else { "!" };
    for (path, kind) in glob::expand(snapshot, folder, &pattern, kind == PackageKind::Linked)? {
        match kind {
            // The package itself selects nothing.
            Kind::Folder if path.is_empty() => {}
            Kind::Folder => lines.extend([format!("{mark}/{path}"), format!("{mark}/{path}/**")]),
            Kind::File { .. } => lines.push(format!("{mark}/{path}")),
            Kind::Link | Kind::Other => {}
        }
    }
    Ok(())
}

/// What `directories.bin` makes commands of: everything below it that has no dot in front. Of two of one name the deeper one is left.
fn commands_of_folder(
    snapshot: &Snapshot<'_>,
    folder: &str,
    manifest: &Manifest,
) -> Result<Vec<String>, ListError> {
    let Some(below) = &manifest.bin_folder else { return Ok(Vec::new()) };
    let path = join(folder, "package.json");
    let pattern =
        Pattern::new("**", Dialect::PLAIN, snapshot.meter).map_err(|why| ListError::Pattern { path, why })?;
    let top = resolved(below).join("/");
    let found = glob::expand(snapshot, &join(folder, &top), &pattern, false)?;
    let mut by_depth: Vec<&String> = found.keys().filter(|path| !path.is_empty()).collect();
    by_depth.sort_by_key(|path| path.matches('/').count());
    let mut commands = std::collections::BTreeMap::new();
    for path in by_depth {
        commands.insert(super::manifest::base(path), format!("{below}/{path}"));
    }
    Ok(commands.into_values().collect())
}
