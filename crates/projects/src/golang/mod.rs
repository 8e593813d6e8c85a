//! What `go_project_info` says: the module, its workspace, and its packages, without the go command.

pub(crate) mod gomod;
pub(crate) mod gowork;
mod lines;
mod source;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::look::{EntryKind, Look, LookError};
use crate::markers::fits;
use crate::paths;
use crate::project::{MAX_PROBLEMS, Problem};
use gomod::GoMod;

/// Most packages returned.
pub const MAX_GO_PACKAGES: usize = 500;

/// Most Go files looked into.
pub const MAX_GO_FILES: usize = 5_000;

/// Most folders looked into.
const MAX_FOLDERS: usize = 2_000;

/// How much of a Go file is read first, in bytes; the clause seldom stands further down.
const HEAD: usize = 8 * 1024;

/// How much is read where it does.
const LONG_HEAD: usize = 1024 * 1024;

/// A Go module or workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoModule {
    /// The module file, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<GoMod>,
    /// Modules required directly.
    pub direct: usize,
    /// Modules that only dependencies need.
    pub indirect: usize,
    /// Whether there is a go.sum.
    pub sum: bool,
    /// Whether dependencies are vendored.
    pub vendored: bool,
    /// Modules of go.work, when there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspace: Vec<GoUse>,
    /// Packages, by folder.
    pub packages: Vec<GoPackage>,
    /// Import paths of its commands.
    pub commands: Vec<String>,
    /// Build tags that its files speak of.
    pub build_tags: Vec<String>,
    /// What could not be understood.
    pub problems: Vec<Problem>,
    /// Whether a limit cut it short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A module of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoUse {
    /// Its folder.
    pub dir: String,
    /// Its module path, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
}

/// A Go package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoPackage {
    /// Its folder; empty is the top.
    pub dir: String,
    /// Its import path, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import_path: Option<String>,
    /// Its name.
    pub name: String,
    /// Its Go files, tests left out.
    pub files: usize,
    /// Its test files.
    pub test_files: usize,
    /// Build tags that its files speak of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build_tags: Vec<String>,
}

/// Looks at the module or workspace at the top of `look`. `None`: there is neither `go.mod` nor `go.work`.
///
/// Folders are left out as the go command leaves them out of `./...`: `vendor`, `testdata`, names that begin with `.`
/// or `_`, modules within, and what `ignore` names. Tags are those that file names and constraints mention; whether a
/// file is built is not decided. At most [`MAX_GO_FILES`] files are looked into and [`MAX_GO_PACKAGES`] packages given.
pub fn go_module(look: &dyn Look) -> Result<Option<GoModule>, LookError> {
    let mut found = GoModule::default();
    let root = module(look, "", &mut found.problems)?;
    let work = look.read("go.work")?;
    if root.is_none() && work.is_none() {
        return Ok(None);
    }
    let mut modules: BTreeMap<String, Option<GoMod>> = BTreeMap::new();
    if let Some(bytes) = work {
        let work = gowork::parse("go.work", &String::from_utf8_lossy(&bytes), &mut found.problems);
        for dir in work.uses.iter().take(MAX_GO_PACKAGES) {
            let Some(dir) = paths::resolve("", dir) else {
                let message = format!("use {dir} leads out of the root and is left out");
                found.problems.push(Problem::new("go.work", None, message));
                continue;
            };
            let part = if dir.is_empty() { root.clone() } else { module(look, &dir, &mut found.problems)? };
            found
                .workspace
                .push(GoUse { dir: dir.clone(), module: part.as_ref().and_then(|m| m.module.clone()) });
            modules.insert(dir, part);
        }
    }
    if root.is_some() {
        modules.insert(String::new(), root.clone());
    }
    for part in modules.values().flatten() {
        found.indirect += part.requires.iter().filter(|r| r.indirect).count();
        found.direct += part.requires.iter().filter(|r| !r.indirect).count();
    }
    found.sum = look.read("go.sum").is_ok_and(|f| f.is_some());
    found.vendored = look.read("vendor/modules.txt").is_ok_and(|f| f.is_some());
    let mut walk = Walk { look, modules: &modules, files: 0, folders: 0, tags: BTreeSet::new() };
    for (dir, part) in &modules {
        walk.module(dir, part.as_ref(), &mut found);
    }
    found.build_tags = walk.tags.into_iter().collect();
    found.packages.sort_by(|a, b| (&a.dir, &a.name).cmp(&(&b.dir, &b.name)));
    found.commands = found
        .packages
        .iter()
        .filter(|p| p.name == "main" && p.files > 0)
        .map(|p| p.import_path.clone().unwrap_or_else(|| format!("./{}", p.dir)))
        .collect();
    found.module = root;
    Ok(Some(found))
}

/// The modules whose packages the go command works with in `dir`: the one at or above it, and those of the workspace at or above
/// it. One that cannot be read is without its name.
pub fn go_modules(look: &dyn Look, dir: &str) -> Vec<GoUse> {
    let above = || std::iter::successors(Some(dir), |dir| (!dir.is_empty()).then(|| paths::split(dir).0));
    let read = |dir: &&str, name: &str| look.read(&paths::join(dir, name)).ok().flatten();
    let mut problems = Vec::new();
    let own = above().find(|dir| read(dir, "go.mod").is_some());
    let mut dirs: BTreeSet<String> = own.into_iter().map(str::to_owned).collect();
    if let Some((dir, bytes)) = above().find_map(|dir| Some((dir, read(&dir, "go.work")?))) {
        let work = gowork::parse("go.work", &String::from_utf8_lossy(&bytes), &mut problems);
        let uses = work.uses.iter().take(MAX_GO_PACKAGES);
        dirs.extend(uses.filter_map(|used| paths::resolve(dir, used)));
    }
    let mut named = |dir: String| {
        let file = module(look, &dir, &mut problems).ok().flatten();
        GoUse { dir, module: file.and_then(|file| file.module) }
    };
    dirs.into_iter().map(&mut named).collect()
}

fn module(look: &dyn Look, dir: &str, problems: &mut Vec<Problem>) -> Result<Option<GoMod>, LookError> {
    let file = paths::join(dir, "go.mod");
    let read = look.read(&file);
    let bytes = match read {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            if !dir.is_empty() {
                problems.push(Problem::new("go.work", None, format!("{dir} has no go.mod")));
            }
            return Ok(None);
        }
        Err(error) if dir.is_empty() => return Err(error),
        Err(error) => {
            problems.push(Problem::new(file, None, error.to_string()));
            return Ok(None);
        }
    };
    Ok(Some(gomod::parse(&file, &String::from_utf8_lossy(&bytes), problems)))
}

struct Walk<'a> {
    look: &'a dyn Look,
    modules: &'a BTreeMap<String, Option<GoMod>>,
    files: usize,
    folders: usize,
    tags: BTreeSet<String>,
}

impl Walk<'_> {
    fn module(&mut self, top: &str, module: Option<&GoMod>, found: &mut GoModule) {
        let mut folders = VecDeque::from([top.to_owned()]);
        while let Some(dir) = folders.pop_front() {
            if self.folders == MAX_FOLDERS {
                found.truncated = true;
                return;
            }
            self.folders += 1;
            let mut entries = match self.look.list(&dir) {
                Ok(entries) => entries,
                Err(error) => {
                    problem(found, &dir, error.to_string());
                    continue;
                }
            };
            entries.sort();
            // A module within belongs to itself.
            if dir != top && entries.iter().any(|e| e.name == "go.mod" && e.kind == EntryKind::File) {
                continue;
            }
            let mut packages: BTreeMap<String, GoPackage> = BTreeMap::new();
            for entry in &entries {
                let path = paths::join(&dir, &entry.name);
                let hidden = entry.name.starts_with(['.', '_']);
                match entry.kind {
                    EntryKind::Folder => {
                        let left_out = hidden
                            || matches!(entry.name.as_str(), "vendor" | "testdata")
                            || self.modules.contains_key(&path)
                            || module.is_some_and(|m| ignored(m, top, &path));
                        // Not lawful in an import path, but usual in the folders of other languages.
                        if !left_out && entry.name != "node_modules" {
                            folders.push_back(path);
                        }
                    }
                    EntryKind::File | EntryKind::Link if !hidden && fits("*.go", &entry.name) => {
                        if self.files == MAX_GO_FILES {
                            found.truncated = true;
                            break;
                        }
                        self.files += 1;
                        self.file(&dir, &entry.name, &mut packages, found);
                    }
                    _ => {}
                }
            }
            let import = module.and_then(|m| m.module.as_deref()).map(|m| {
                let below = dir.strip_prefix(top).unwrap_or(&dir).trim_start_matches('/');
                paths::join(m, below)
            });
            for (_, mut package) in packages {
                if found.packages.len() == MAX_GO_PACKAGES {
                    found.truncated = true;
                    return;
                }
                package.import_path.clone_from(&import);
                package.build_tags.sort();
                package.build_tags.dedup();
                self.tags.extend(package.build_tags.iter().cloned());
                found.packages.push(package);
            }
        }
    }

    fn file(&self, dir: &str, name: &str, packages: &mut BTreeMap<String, GoPackage>, found: &mut GoModule) {
        let path = paths::join(dir, name);
        let read = |limit: usize| -> Result<Option<(source::Head, bool)>, LookError> {
            let Some(bytes) = self.look.head(&path, limit)? else { return Ok(None) };
            let whole = bytes.len() < limit;
            Ok(source::head(&String::from_utf8_lossy(&bytes))
                .map_or_else(|| Some((source::Head::default(), whole)), |head| Some((head, true))))
        };
        let head = match read(HEAD) {
            Ok(Some((_, false))) => read(LONG_HEAD),
            other => other,
        };
        let head = match head {
            Ok(Some((head, _))) => head,
            Ok(None) => return,
            Err(error) => return problem(found, &path, error.to_string()),
        };
        if head.package.is_empty() {
            return problem(found, &path, "no package clause".to_owned());
        }
        let test = name.ends_with("_test.go");
        if head.ignored || (head.package == "documentation" && !test) {
            return;
        }
        // `x_test` in a test file is the outside half of the package `x`.
        let package =
            if test { head.package.strip_suffix("_test").unwrap_or(&head.package) } else { &head.package };
        let package = packages.entry(package.to_owned()).or_insert_with(|| GoPackage {
            dir: dir.to_owned(),
            import_path: None,
            name: package.to_owned(),
            files: 0,
            test_files: 0,
            build_tags: Vec::new(),
        });
        if test {
            package.test_files += 1;
        } else {
            package.files += 1;
        }
        package.build_tags.extend(head.tags);
        package.build_tags.extend(source::name_tags(name));
    }
}

fn problem(found: &mut GoModule, file: &str, message: String) {
    if found.problems.len() < MAX_PROBLEMS {
        found.problems.push(Problem::new(file, None, message));
    }
}

/// Whether `ignore` of the module names the folder: `./x` there, `x` anywhere.
fn ignored(module: &GoMod, top: &str, path: &str) -> bool {
    let below = path.strip_prefix(top).unwrap_or(path).trim_start_matches('/');
    module.ignores.iter().any(|ignore| match ignore.strip_prefix("./") {
        Some(exact) => below == exact.trim_end_matches('/'),
        None => below == ignore.as_str() || below.ends_with(&format!("/{}", ignore.trim_matches('/'))),
    })
}
