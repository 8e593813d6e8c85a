//! What names mean: definitions, imports and globs of modules followed within the crate
//! ([Names](https://doc.rust-lang.org/reference/names.html)).

use std::collections::{BTreeMap, BTreeSet};

use super::Error;
use super::modules::{Import, Modules, What};
use syn::Item;

/// Most names that are looked up for a crate.
const MAX_STEPS: usize = 3_000_000;

/// Imports that lead to imports.
const MAX_DEPTH: usize = 64;

/// One kind of name does not hide another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Space {
    Type,
    Value,
}

/// What a name leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Module(usize),
    /// The module and the place among what it defines.
    Item(usize, usize),
    /// A variant of an enumeration.
    Variant(usize, usize, String),
    /// Something of another crate, by its path.
    Elsewhere(String),
}

pub(super) struct Scope<'m> {
    pub(super) modules: &'m Modules,
    /// Definitions of each module by name.
    defined: Vec<BTreeMap<&'m str, Vec<usize>>>,
    found: BTreeMap<(usize, String), Vec<(Space, Target)>>,
    open: BTreeSet<(usize, String)>,
    steps: usize,
    /// How often a name led back to itself.
    circles: usize,
    /// In edition 2015 the paths of imports begin at the crate's top.
    is_2015: bool,
}

impl<'m> Scope<'m> {
    pub(super) fn new(modules: &'m Modules, is_2015: bool) -> Self {
        let defined = modules
            .all
            .iter()
            .map(|module| {
                let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
                for (i, defined) in module.defined.iter().enumerate() {
                    by_name.entry(defined.name.as_str()).or_default().push(i);
                }
                by_name
            })
            .collect();
        Self {
            modules,
            defined,
            found: BTreeMap::new(),
            open: BTreeSet::new(),
            steps: 0,
            circles: 0,
            is_2015,
        }
    }

    fn step(&mut self) -> Result<(), Error> {
        self.steps += 1;
        if self.steps > MAX_STEPS { Err(Error::TooMany) } else { Ok(()) }
    }

    /// What a path means as it stands in a module, and how many of its parts that took: the rest are names within an item.
    pub(super) fn resolve(
        &mut self,
        module: usize,
        path: &[String],
        absolute: bool,
    ) -> Result<Vec<(Space, Target, usize)>, Error> {
        self.resolve_at(module, path, absolute, 0)
    }

    fn resolve_at(
        &mut self,
        module: usize,
        path: &[String],
        absolute: bool,
        depth: usize,
    ) -> Result<Vec<(Space, Target, usize)>, Error> {
        self.step()?;
        let elsewhere = || vec![(Space::Type, Target::Elsewhere(path.join("::")), path.len())];
        if (absolute && !self.is_2015) || depth > MAX_DEPTH {
            return Ok(elsewhere());
        }
        let mut at = if absolute { 0 } else { module };
        let mut used = 0;
        let mut anchored = absolute;
        while let Some(part) = path.get(used) {
            match part.as_str() {
                "crate" | "$crate" => at = 0,
                "self" => {}
                "super" => at = self.modules.all.get(at).and_then(|m| m.parent).unwrap_or(0),
                _ => break,
            }
            anchored = true;
            used += 1;
        }
        let mut current = vec![(Space::Type, Target::Module(at))];
        let start = used;
        while let Some(part) = path.get(used) {
            let mut next = Vec::new();
            for (_, target) in &current {
                match target {
                    Target::Module(id) => next.extend(self.lookup(*id, part, depth)?),
                    Target::Item(m, i) => {
                        if self.is_enum_with(*m, *i, part) {
                            next.push((Space::Type, Target::Variant(*m, *i, part.clone())));
                        }
                    }
                    Target::Elsewhere(at) => {
                        next.push((Space::Type, Target::Elsewhere(format!("{at}::{part}"))));
                    }
                    Target::Variant(..) => {}
                }
            }
            if next.is_empty() {
                break;
            }
            current = next;
            used += 1;
        }
        if used == start && start < path.len() {
            if anchored || start > 0 {
                return Ok(Vec::new());
            }
            return Ok(elsewhere());
        }
        Ok(current.into_iter().map(|(space, target)| (space, target, used)).collect())
    }

    fn is_enum_with(&self, module: usize, item: usize, name: &str) -> bool {
        let defined = self.modules.all.get(module).and_then(|m| m.defined.get(item));
        let Some(What::Item(Item::Enum(item))) = defined.map(|d| &d.what) else { return false };
        item.variants.iter().any(|v| v.ident == name)
    }

    /// What a name means in a module, whoever may see it.
    fn lookup(&mut self, module: usize, name: &str, depth: usize) -> Result<Vec<(Space, Target)>, Error> {
        self.step()?;
        let key = (module, name.to_owned());
        if let Some(found) = self.found.get(&key) {
            return Ok(found.clone());
        }
        if depth > MAX_DEPTH || !self.open.insert(key.clone()) {
            self.circles += 1;
            return Ok(Vec::new());
        }
        let circles = self.circles;
        let modules = self.modules;
        let mut found: Vec<(Space, Target)> = Vec::new();
        let places = self.defined.get(module).and_then(|d| d.get(name)).cloned().unwrap_or_default();
        for i in places {
            found.extend(self.own(module, i));
        }
        let imports = modules.all.get(module).map(|m| m.imports.as_slice()).unwrap_or_default();
        for import in imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
            // `use x::x` means another crate's `x`, not itself.
            let is_itself = import.path.first().is_some_and(|first| first == name) && !self.is_2015;
            let absolute = import.absolute || is_itself && found.is_empty() && import.path.len() == 1;
            for (space, target, used) in
                self.resolve_at(module, &import.path, absolute || self.is_2015, depth + 1)?
            {
                if used == import.path.len() && !found.iter().any(|(s, _)| *s == space) {
                    found.push((space, target));
                }
            }
        }
        if found.is_empty() {
            for import in imports.iter().filter(|import| import.name.is_none()) {
                for (_, target, used) in
                    self.resolve_at(module, &import.path, import.absolute || self.is_2015, depth + 1)?
                {
                    if used != import.path.len() {
                        continue;
                    }
                    match target {
                        Target::Module(id) if id != module => {
                            found.extend(self.lookup(id, name, depth + 1)?);
                        }
                        Target::Item(m, i) if self.is_enum_with(m, i, name) => {
                            found.push((Space::Type, Target::Variant(m, i, name.to_owned())));
                        }
                        _ => {}
                    }
                }
                if !found.is_empty() {
                    break;
                }
            }
        }
        self.open.remove(&key);
        // What was looked up on the way through a circle may lack names: it is kept only from the outside.
        if self.open.is_empty() || !found.is_empty() || circles == self.circles {
            self.found.insert(key, found.clone());
        }
        Ok(found)
    }

    /// A definition by space.
    fn own(&self, module: usize, i: usize) -> Vec<(Space, Target)> {
        let Some(defined) = self.modules.all.get(module).and_then(|m| m.defined.get(i)) else {
            return Vec::new();
        };
        match &defined.what {
            What::Module(id) => vec![(Space::Type, Target::Module(*id))],
            What::Item(Item::Const(_) | Item::Static(_) | Item::Fn(_)) => {
                vec![(Space::Value, Target::Item(module, i))]
            }
            What::Foreign(_, syn::ForeignItem::Fn(_) | syn::ForeignItem::Static(_)) => {
                vec![(Space::Value, Target::Item(module, i))]
            }
            _ => vec![(Space::Type, Target::Item(module, i))],
        }
    }

    /// The public names of a module, imports that are public among them; with each the attributes that stand where it is made
    /// public. Items of one name (under different conditions) are all in the list.
    pub(super) fn public(&mut self, module: usize) -> Result<Vec<(String, Space, Target)>, Error> {
        let mut names: BTreeMap<(Space, String), Vec<Target>> = BTreeMap::new();
        self.public_into(module, &mut BTreeSet::new(), &mut names)?;
        Ok(names
            .into_iter()
            .flat_map(|((space, name), targets)| targets.into_iter().map(move |t| (name.clone(), space, t)))
            .collect())
    }

    fn public_into(
        &mut self,
        module: usize,
        seen: &mut BTreeSet<usize>,
        names: &mut BTreeMap<(Space, String), Vec<Target>>,
    ) -> Result<(), Error> {
        if !seen.insert(module) || seen.len() > 4 * MAX_DEPTH {
            return Ok(());
        }
        let modules = self.modules;
        let Some(of) = modules.all.get(module) else { return Ok(()) };
        let outer: BTreeSet<(Space, String)> = names.keys().cloned().collect();
        let mut add = |space: Space, name: &str, target: Target| {
            let key = (space, name.to_owned());
            // A glob does not replace what is named nearer to the top.
            if !outer.contains(&key) {
                let known = names.entry(key).or_default();
                if !known.contains(&target) {
                    known.push(target);
                }
            }
        };
        for (i, defined) in of.defined.iter().enumerate() {
            if defined.public && !defined.attrs.hidden {
                for (space, target) in self.own(module, i) {
                    add(space, &defined.name, target);
                }
            }
        }
        let visible = |import: &&Import| import.public && !import.attrs.hidden;
        for import in of.imports.iter().filter(visible) {
            let Some(name) = &import.name else { continue };
            if name == "_" {
                continue;
            }
            for (space, target, used) in
                self.resolve_at(module, &import.path, import.absolute || self.is_2015, 0)?
            {
                if used == import.path.len() {
                    add(space, name, target);
                }
            }
        }
        for import in of.imports.iter().filter(visible).filter(|import| import.name.is_none()) {
            for (_, target, used) in
                self.resolve_at(module, &import.path, import.absolute || self.is_2015, 0)?
            {
                if used != import.path.len() {
                    continue;
                }
                match target {
                    Target::Module(id) => self.public_into(id, seen, names)?,
                    Target::Item(m, i) => {
                        let defined = modules.all.get(m).and_then(|m| m.defined.get(i));
                        let Some(What::Item(Item::Enum(item))) = defined.map(|d| &d.what) else { continue };
                        for variant in &item.variants {
                            let name = variant.ident.to_string();
                            let known = names.entry((Space::Type, name.clone())).or_default();
                            if known.is_empty() {
                                known.push(Target::Variant(m, i, name));
                            }
                        }
                    }
                    Target::Elsewhere(path) => {
                        let known = names.entry((Space::Type, format!("*{path}"))).or_default();
                        if known.is_empty() {
                            known.push(Target::Elsewhere(format!("{path}::*")));
                        }
                    }
                    Target::Variant(..) => {}
                }
            }
        }
        Ok(())
    }
}
