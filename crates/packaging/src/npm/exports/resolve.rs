//! What each entry point exports: names followed from file to file, within the package.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::collect::{Declared, Export, Import, Module, collect};
use super::{Error, ExportKind, Exported, Exports, MAX_NAMES, MAX_NAMESPACES};
use crate::npm::syntax::{self, Dialect};
use crate::npm::types::Lookup;

/// How many files a name may be passed on through.
const MAX_HOPS: u32 = 64;

/// What is exported from the files found.
pub(super) fn exports(lookup: &Lookup<'_>) -> Result<Exports, Error> {
    let walker = Walker { lookup, modules: RefCell::default(), left: RefCell::new(MAX_NAMES) };
    let mut exports = Exports::new();
    for (subpath, file) in lookup.entries() {
        let names = match file {
            Some(file) => walker.entry(&subpath, &file)?,
            None => BTreeMap::new(),
        };
        exports.insert(subpath, names);
    }
    Ok(exports)
}

/// A place where names have a meaning: a file, and the namespaces that are around.
#[derive(Clone)]
struct At {
    file: Rc<str>,
    /// The file's own, then those of the namespaces.
    scopes: Vec<Rc<Module>>,
    /// The names of the namespaces.
    path: String,
}

/// What an exported name leads to.
enum Found {
    /// Declarations, and the name that they have there.
    Declared(At, String, Vec<Declared>),
    /// All of a file, as a namespace.
    Whole(At),
    /// Something that is not in the package: as it is written.
    Elsewhere(String),
}

type Names = BTreeMap<String, Exported>;
/// A declaration: its file, and its name with the namespaces around it.
type Id = (Rc<str>, String);

struct Walker<'l> {
    lookup: &'l Lookup<'l>,
    modules: RefCell<BTreeMap<String, Rc<Module>>>,
    /// How many names may be added.
    left: RefCell<usize>,
}

/// What is gathered of one entry point.
#[derive(Default)]
struct Gathered {
    names: Names,
    exported: BTreeSet<Id>,
    /// Declarations whose parts are to be looked at.
    open: Vec<(At, Declared)>,
    /// Files that are listed as namespaces around the current one.
    around: Vec<Rc<str>>,
}

impl Walker<'_> {
    fn entry(&self, subpath: &str, file: &str) -> Result<Names, Error> {
        let mut gathered = Gathered::default();
        let at = self.at(file)?;
        let Some(module) = at.scopes.last().cloned() else { return Ok(gathered.names) };
        if Dialect::of(file) == Some(Dialect::JavaScript) && !module.is_module {
            for name in self.assigned(file, &mut BTreeSet::new())? {
                self.add(&mut gathered, name, ExportKind::Value, String::new())?;
            }
            return Ok(gathered.names);
        }
        let at = if module.is_module {
            at
        } else {
            // A file that is no module may declare one by name.
            let specifier = format!("{}{}", self.lookup.name(), subpath.get(1..).unwrap_or_default());
            match module.ambient.get(&specifier) {
                Some(ambient) => At { scopes: vec![Rc::clone(&module), Rc::clone(ambient)], ..at },
                None => return Ok(gathered.names),
            }
        };
        self.list(&at, "", &mut gathered)?;
        self.hidden(&mut gathered)?;
        Ok(gathered.names)
    }

    fn at(&self, file: &str) -> Result<At, Error> {
        let module = self.module(file)?;
        Ok(At { file: Rc::from(file), scopes: vec![module], path: String::new() })
    }

    fn module(&self, file: &str) -> Result<Rc<Module>, Error> {
        if let Some(known) = self.modules.borrow().get(file) {
            return Ok(Rc::clone(known));
        }
        let module = match Dialect::of(file) {
            None => Module::default(),
            Some(dialect) => {
                let text = self.lookup.text(file);
                let read =
                    syntax::read(&text, dialect, |program| collect(program, dialect == Dialect::JavaScript));
                read.map_err(|why| Error::Unread { file: self.lookup.packed(file), why })?
            }
        };
        let module = Rc::new(module);
        self.modules.borrow_mut().insert(file.to_owned(), Rc::clone(&module));
        Ok(module)
    }

    /// The names on `exports` of a script, and of those that it passes on.
    fn assigned(&self, file: &str, seen: &mut BTreeSet<String>) -> Result<BTreeSet<String>, Error> {
        let mut names = BTreeSet::new();
        let mut open = vec![file.to_owned()];
        while let Some(file) = open.pop() {
            if Dialect::of(&file) != Some(Dialect::JavaScript)
                || !seen.insert(file.clone())
                || !self.lookup.step(1)
            {
                continue;
            }
            let script = self.lookup.script(&file);
            let script = script.map_err(|why| Error::Unread { file: self.lookup.packed(&file), why })?;
            names.extend(script.names());
            open.extend(script.passed_on().filter_map(|specifier| self.lookup.import(&file, specifier)));
        }
        Ok(names)
    }

    /// Lists the names of a place with a prefix.
    fn list(&self, at: &At, prefix: &str, gathered: &mut Gathered) -> Result<(), Error> {
        for (name, (from, export)) in self.names(at)? {
            let found = match export {
                Some(export) => self.found(&from, &export, MAX_HOPS)?,
                None => Found::Elsewhere(name.clone()),
            };
            let full = format!("{prefix}{name}");
            match found {
                Found::Elsewhere(text) => self.add(gathered, full, ExportKind::Elsewhere, text)?,
                Found::Whole(whole) => {
                    self.add(gathered, full.clone(), ExportKind::Namespace, String::new())?;
                    if !gathered.around.contains(&whole.file) {
                        self.nested(&whole, &format!("{full}."), gathered)?;
                    }
                }
                Found::Declared(there, local, declared) => {
                    gathered.exported.insert((Rc::clone(&there.file), format!("{}{local}", there.path)));
                    let kind =
                        declared.iter().map(|declared| declared.kind).min().unwrap_or(ExportKind::Value);
                    let script = Dialect::of(&there.file) == Some(Dialect::JavaScript);
                    let kind = if script { ExportKind::Value } else { kind };
                    self.add(gathered, full.clone(), kind, signature(&declared))?;
                    // What `export =` gives can be imported by the names in it.
                    let inner = if name == "export=" { prefix.to_owned() } else { format!("{full}.") };
                    for declared in declared {
                        if let Some(module) = &declared.inner {
                            self.nested(&there.within(&local, module), &inner, gathered)?;
                        }
                        gathered.open.push((there.clone(), declared));
                    }
                }
            }
        }
        Ok(())
    }

    fn nested(&self, at: &At, prefix: &str, gathered: &mut Gathered) -> Result<(), Error> {
        if gathered.around.len() >= MAX_NAMESPACES {
            return Ok(());
        }
        gathered.around.push(Rc::clone(&at.file));
        let done = self.list(at, prefix, gathered);
        gathered.around.pop();
        done
    }

    fn add(
        &self,
        gathered: &mut Gathered,
        name: String,
        kind: ExportKind,
        signature: String,
    ) -> Result<(), Error> {
        let mut left = self.left.borrow_mut();
        *left = left.checked_sub(1).ok_or(Error::TooMany)?;
        gathered.names.entry(name).or_insert(Exported { kind, signature });
        Ok(())
    }

    /// The names of a place, those of `export *` included; `None` stands for all names of another package.
    fn names(&self, at: &At) -> Result<BTreeMap<String, (At, Option<Export>)>, Error> {
        let mut names: BTreeMap<String, (At, Option<Export>)> = BTreeMap::new();
        let mut seen = BTreeSet::from([at.file.to_string()]);
        let mut open = vec![at.clone()];
        let mut first = true;
        while let Some(at) = open.pop() {
            let Some(module) = at.scopes.last().cloned() else { continue };
            if !self.lookup.step(1 + module.exports.len()) {
                break;
            }
            for (name, export) in &module.exports {
                if first || name != "default" {
                    names.entry(name.clone()).or_insert_with(|| (at.clone(), Some(export.clone())));
                }
            }
            first = false;
            let mut inner = Vec::new();
            for specifier in &module.stars {
                match self.lookup.import(&at.file, specifier) {
                    Some(file) if seen.insert(file.clone()) => inner.push(self.at(&file)?),
                    Some(_) => {}
                    None => {
                        names.insert(format!("* from {specifier}"), (at.clone(), None));
                    }
                }
            }
            // The first is looked at next: what is nearer hides what is farther.
            open.extend(inner.into_iter().rev());
        }
        Ok(names)
    }

    fn found(&self, at: &At, export: &Export, hops: u32) -> Result<Found, Error> {
        match export {
            Export::Inline(declared) => {
                Ok(Found::Declared(at.clone(), "default".to_owned(), vec![declared.clone()]))
            }
            Export::From(import) => self.follow(at, import, hops),
            Export::Local(name) => self.local(at, name, hops),
        }
    }

    /// What a name means at a place.
    fn local(&self, at: &At, name: &str, hops: u32) -> Result<Found, Error> {
        for depth in (0..at.scopes.len()).rev() {
            let Some(scope) = at.scopes.get(depth) else { continue };
            if let Some(declared) = scope.declared.get(name) {
                return Ok(Found::Declared(at.outer(depth), name.to_owned(), declared.clone()));
            }
            if let Some(import) = scope.imports.get(name) {
                return self.follow(at, import, hops);
            }
        }
        Ok(Found::Elsewhere(name.to_owned()))
    }

    fn follow(&self, at: &At, import: &Import, hops: u32) -> Result<Found, Error> {
        let elsewhere = || Ok(Found::Elsewhere(format!("{} from \"{}\"", import.name, import.specifier)));
        let Some(hops) = hops.checked_sub(1) else { return elsewhere() };
        if !self.lookup.step(1) {
            return elsewhere();
        }
        let Some(file) = self.lookup.import(&at.file, &import.specifier) else { return elsewhere() };
        if Dialect::of(&file).is_none() {
            return elsewhere();
        }
        let there = self.at(&file)?;
        let Some(module) = there.scopes.last().cloned() else { return elsewhere() };
        if let Some(export) = module.exports.get(&import.name) {
            return self.found(&there, export, hops);
        }
        match (import.name.as_str(), module.exports.get("export=")) {
            ("*" | "export=", None) => return Ok(Found::Whole(there)),
            ("*" | "default", Some(export)) => return self.found(&there, export, hops),
            _ => {}
        }
        let mut names = self.names(&there)?;
        if let Some((there, Some(export))) = names.remove(&import.name) {
            return self.found(&there, &export, hops);
        }
        // A name in a namespace that `export =` gives.
        if let Some(export) = module.exports.get("export=")
            && let Found::Declared(there, local, declared) = self.found(&there, export, hops)?
        {
            for inner in declared.iter().filter_map(|declared| declared.inner.as_ref()) {
                if let Some(export) = inner.exports.get(&import.name) {
                    return self.found(&there.within(&local, inner), export, hops);
                }
            }
        }
        elsewhere()
    }

    /// Adds what exported names are declared with and that has no exported name itself.
    fn hidden(&self, gathered: &mut Gathered) -> Result<(), Error> {
        let mut hidden: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut seen = gathered.exported.clone();
        let mut open = std::mem::take(&mut gathered.open);
        while let Some((at, declared)) = open.pop() {
            if !self.lookup.step(1 + declared.names.len() + declared.imports.len()) {
                break;
            }
            let mut parts = Vec::new();
            for name in &declared.names {
                parts.push(self.local(&at, name, MAX_HOPS)?);
            }
            for (specifier, name) in &declared.imports {
                let import = Import { specifier: specifier.clone(), name: name.clone() };
                parts.push(self.follow(&at, &import, MAX_HOPS)?);
            }
            if let Some(module) = &declared.inner {
                // What a namespace holds without exporting it is reached by the names in what it exports.
                let inner = at.within("", module);
                for name in module.declared.keys() {
                    parts.push(self.local(&inner, name, MAX_HOPS)?);
                }
            }
            for part in parts {
                let Found::Declared(there, local, declared) = part else { continue };
                let name = format!("{}{local}", there.path);
                if !seen.insert((Rc::clone(&there.file), name.clone())) {
                    continue;
                }
                let text = signature(&declared);
                if !text.is_empty() {
                    hidden.entry(format!("#{name}")).or_default().insert(text);
                }
                open.extend(declared.into_iter().map(|declared| (there.clone(), declared)));
            }
        }
        for (name, texts) in hidden {
            let texts: Vec<String> = texts.into_iter().collect();
            self.add(gathered, name, ExportKind::Hidden, texts.join(";"))?;
        }
        Ok(())
    }
}

impl At {
    /// The place in a namespace.
    fn within(&self, name: &str, module: &Rc<Module>) -> Self {
        let mut inner = self.clone();
        inner.scopes.push(Rc::clone(module));
        inner.path = format!("{}{name}.", self.path);
        inner
    }

    /// The place with fewer namespaces around: the one where the scope of this depth is the last.
    fn outer(&self, depth: usize) -> Self {
        let mut outer = self.clone();
        outer.scopes.truncate(depth + 1);
        outer.path = self.path.split_inclusive('.').take(depth).collect();
        outer
    }
}

fn signature(declared: &[Declared]) -> String {
    let texts: Vec<&str> = declared
        .iter()
        .filter(|declared| declared.inner.is_none())
        .map(|declared| declared.text.as_str())
        .collect();
    texts.join(";")
}
