//! Going through a package's folders (`npm-packing.md` §1.2).
//!
//! Each folder has rules of its own, in an order. A name is asked about from the top down: what the folders above say is where the
//! folder's own rules begin. A folder that those above would have left out, save for what is in it, is walked, but its rules bring
//! nothing back.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::manifest::{Manifest, resolved};
use super::rules::{DEFAULTS, STRICT, of_manifest};
use super::snapshot::{Snapshot, join};
use super::{ListError, Listed, MAX_DEPTH, Rules};
use crate::npm::pattern::{Pattern, PatternError, Segment, Subject};
use crate::tree::{Entry, Kind};

/// Files by their paths below the package.
pub(super) type Found = BTreeMap<String, Listed>;

type RuleSet = Rc<[Pattern]>;

/// What all walks have in common.
pub(super) struct Common<'a> {
    pub(super) snapshot: &'a Snapshot<'a>,
    pub(super) rules: Rules,
    defaults: RuleSet,
    strict: RuleSet,
}

impl<'a> Common<'a> {
    pub(super) fn new(snapshot: &'a Snapshot<'a>, rules: Rules) -> Result<Self, ListError> {
        let defaults = snapshot.rules(DEFAULTS, "")?;
        Ok(Self { snapshot, rules, defaults, strict: snapshot.rules(STRICT, "")? })
    }
}

/// What a package is to the one that is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageKind {
    /// It is that one.
    Root,
    /// It is bundled: at its top, neither the usual rules nor ignore files are asked.
    Bundled,
    /// It is bundled and linked to: they are.
    Linked,
}

/// A package whose files are looked for.
pub(super) struct Package<'a> {
    /// Where it is below the package that is packed.
    pub(super) path: String,
    /// Where its files are in the tree.
    pub(super) source: String,
    pub(super) manifest: &'a Manifest,
    pub(super) kind: PackageKind,
    /// Whether it has workspaces: then manifests in its folders are read as ignore files.
    pub(super) has_workspaces: bool,
    /// More rules like the usual ones, as texts.
    pub(super) extra: Vec<String>,
    /// npm's global ignore file.
    pub(super) global: Option<String>,
}

/// A folder's rules.
struct Level {
    /// In the order in which they are asked.
    sets: Vec<RuleSet>,
    /// Whether the rules above let the folder itself in, so that its own rules may bring files back.
    exact: bool,
    /// Files that are required of this folder.
    required: Vec<String>,
}

impl Package<'_> {
    /// Adds the package's files.
    pub(super) fn walk(&self, common: &Common<'_>, found: &mut Found) -> Result<(), ListError> {
        let top = self.top(common)?;
        let mut walk =
            Walk { common, package: self, found, levels: vec![top], names: Vec::new(), path: String::new() };
        walk.folder()
    }

    /// The rules of the package's own folder.
    fn top(&self, common: &Common<'_>) -> Result<Level, ListError> {
        let snapshot = common.snapshot;
        let entries = snapshot.entries(&self.source)?;
        let mut level = Level { sets: Vec::new(), exact: false, required: Vec::new() };
        let manifest_path = join(&self.source, "package.json");
        if self.kind != PackageKind::Bundled {
            level.sets.push(Rc::clone(&common.defaults));
            for text in &self.extra {
                level.sets.push(snapshot.rules(text, "the ignore files above the workspace")?);
            }
        }
        if let Some(text) = &self.global {
            level.sets.push(snapshot.rules(text, "the global ignore file")?);
        }
        let made = if entries.iter().any(|entry| entry.name == "package.json") {
            Some(of_manifest(snapshot, &self.source, self.manifest, common.rules, self.kind)?)
        } else {
            None
        };
        let files = made.as_ref().and_then(|made| made.files.as_deref());
        let ignores: &[&str] =
            if self.kind == PackageKind::Bundled { &[] } else { &[".npmignore", ".gitignore"] };
        let own = own_rules(snapshot, &self.source, &entries, ignores, files.is_none())?;
        match files {
            Some(text) => level.sets.push(snapshot.rules(text, &manifest_path)?),
            None => level.sets.extend(own),
        }
        if let Some(made) = made {
            level.sets.push(snapshot.rules(&made.strict, &manifest_path)?);
            level.required = made.required;
        }
        Ok(level)
    }
}

/// The rules of the first of some ignore files that is there. All are read, as npm reads them, so that errors are its errors.
fn own_rules(
    snapshot: &Snapshot<'_>,
    folder: &str,
    entries: &[Entry],
    names: &[&str],
    in_force: bool,
) -> Result<Option<RuleSet>, ListError> {
    let mut own = None;
    let mut decided = !in_force;
    for name in names {
        let Some(entry) = entries.iter().find(|entry| entry.name == *name) else { continue };
        let path = join(folder, name);
        match entry.kind {
            Kind::Folder => return Err(ListError::RulesAreFolder { path }),
            Kind::Link | Kind::Other if !decided => return Err(ListError::RulesAreLink { path }),
            Kind::Link | Kind::Other => {}
            Kind::File { .. } => {
                let bytes = snapshot.read(&path)?.unwrap_or_default();
                let rules = snapshot.rules(&String::from_utf8_lossy(&bytes), &path)?;
                if !decided {
                    own = Some(rules);
                }
            }
        }
        decided = true;
    }
    Ok(own)
}

struct Walk<'a, 'b> {
    common: &'a Common<'a>,
    package: &'a Package<'a>,
    found: &'b mut Found,
    /// From the package's folder to this one.
    levels: Vec<Level>,
    /// The names of the folders below the package's.
    names: Vec<Rc<Segment>>,
    /// The same as a path.
    path: String,
}

impl Walk<'_, '_> {
    /// Looks through the folder that the walk is in.
    fn folder(&mut self) -> Result<(), ListError> {
        if self.levels.len() > MAX_DEPTH {
            return Err(ListError::TooMany);
        }
        let source = join(&self.package.source, &self.path);
        let entries = self.common.snapshot.entries(&source)?;
        for entry in entries.iter().filter(|entry| !entry.name.contains('*')) {
            let mut names = self.names.clone();
            names.push(Rc::new(Segment::new(&entry.name)));
            match entry.kind {
                Kind::File { executable } => {
                    if self.verdict(&names, false, false)? {
                        let below = join(&self.path, &entry.name);
                        let path = join(&self.package.path, &below);
                        let listed =
                            Listed { path: path.clone(), source: join(&source, &entry.name), executable };
                        self.found.insert(path, listed);
                    }
                }
                Kind::Folder => {
                    if self.verdict(&names, true, false)? {
                        let exact =
                            self.verdict(&names, false, false)? || self.verdict(&names, false, true)?;
                        self.enter(&entry.name, &join(&source, &entry.name), names, exact)?;
                    }
                }
                Kind::Link | Kind::Other => {}
            }
        }
        Ok(())
    }

    /// Goes into a folder and comes back.
    fn enter(
        &mut self,
        name: &str,
        source: &str,
        names: Vec<Rc<Segment>>,
        exact: bool,
    ) -> Result<(), ListError> {
        if name.contains('\\') {
            return Err(ListError::Backslash { path: source.to_owned() });
        }
        let snapshot = self.common.snapshot;
        let entries = snapshot.entries(source)?;
        let ignores: &[&str] = if self.package.has_workspaces {
            &["package.json", ".npmignore", ".gitignore"]
        } else {
            &[".npmignore", ".gitignore"]
        };
        let mut sets = vec![Rc::clone(&self.common.defaults)];
        sets.extend(own_rules(snapshot, source, &entries, ignores, true)?);
        let required = self.levels.last().map_or(Vec::new(), |level| required_below(&level.required, name));
        if required.is_empty() {
            sets.push(Rc::clone(&self.common.strict));
        } else {
            let lines: String = required.iter().flat_map(|file| ["!", file.as_str(), "\n"]).collect();
            sets.push(snapshot.rules(&format!("{STRICT}{lines}"), source)?);
        }
        self.levels.push(Level { sets, exact, required });
        let outer = (std::mem::replace(&mut self.names, names), self.path.clone());
        self.path = join(&self.path, name);
        self.folder()?;
        (self.names, self.path) = outer;
        self.levels.pop();
        Ok(())
    }

    /// Whether a name in this folder is let in. `names` leads to it from the package's folder. `partial`: as what may be a folder;
    /// `trail`: with a slash behind it.
    fn verdict(&self, names: &[Rc<Segment>], partial: bool, trail: bool) -> Result<bool, ListError> {
        let mut included = true;
        let deepest = self.levels.len() - 1;
        for (depth, level) in self.levels.iter().enumerate() {
            if depth > 0 && !included && !level.exact {
                continue;
            }
            let asked = Asked {
                path: names.get(depth..).unwrap_or_default(),
                base: if depth < deepest { names.get(deepest..) } else { None },
                partial,
                trail,
            };
            for rule in level.sets.iter().flat_map(|set| set.iter()) {
                // Only a rule that would change something is asked.
                if rule.is_negated() != included && self.fits(rule, &asked)? {
                    included = rule.is_negated();
                }
            }
        }
        Ok(included)
    }

    fn fits(&self, rule: &Pattern, asked: &Asked<'_>) -> Result<bool, ListError> {
        asked.fits(rule, self.common).map_err(|why| ListError::Pattern { path: self.path.clone(), why })
    }
}

/// What a rule is asked.
struct Asked<'a> {
    /// Names from the rule's folder on.
    path: &'a [Rc<Segment>],
    /// The last name, in folders above the one that it is in.
    base: Option<&'a [Rc<Segment>]>,
    partial: bool,
    trail: bool,
}

impl Asked<'_> {
    fn fits(&self, rule: &Pattern, common: &Common<'_>) -> Result<bool, PatternError> {
        let meter = common.snapshot.meter;
        let either = |subject: Subject<'_>| -> Result<bool, PatternError> {
            Ok(rule.matches(subject.lead(true), meter)? || rule.matches(subject, meter)?)
        };
        let may_be_folder = |subject: Subject<'_>| -> Result<bool, PatternError> {
            Ok(either(subject.trail(true))?
                || (rule.is_negated()
                    && (rule.begins(subject.lead(true), meter)? || rule.begins(subject, meter)?)))
        };
        let subject = Subject::new(self.path).trail(self.trail);
        if either(subject)? {
            return Ok(true);
        }
        if !self.partial {
            return Ok(false);
        }
        let base = self.base.filter(|_| rule.is_relative());
        Ok(may_be_folder(subject)? || base.map_or(Ok(false), |base| may_be_folder(Subject::new(base)))?)
    }
}

/// Of required files, those that are directly in a folder, as names in it.
fn required_below(required: &[String], folder: &str) -> Vec<String> {
    let below = required.iter().filter(|file| !file.starts_with('/')).filter_map(|file| {
        match resolved(file).as_slice() {
            [parent, name] if *parent == folder => Some((*name).to_owned()),
            _ => None,
        }
    });
    below.collect()
}
