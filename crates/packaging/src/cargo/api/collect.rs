//! The public items of a library, each by every path that leads to it.

use std::collections::{BTreeMap, BTreeSet};

use syn::ImplItem;

use super::attrs::{Attrs, Makes, plain};
use super::modules::{Modules, What, is_public};
use super::scope::{Scope, Space, Target};
use super::shape::{Parameters, Shape};
use super::signature::{Here, Items, Piece, Signature, Writer, elsewhere, shown};
use super::{Api, Entry, Error, Key, MAX_NAMES, Named};

/// Public modules within public modules.
const MAX_DEPTH: usize = 32;

/// Traits that `#[derive]` implements; others are named by the last part of their path.
const DERIVED: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

pub(super) fn collect(modules: &Modules, is_2015: bool) -> Result<Api, Error> {
    let mut collector = Collector {
        scope: Scope::new(modules, is_2015),
        items: Items::default(),
        api: Api { undecided: modules.undecided.clone(), ..Api::default() },
        paths: BTreeMap::new(),
        names: 0,
    };
    collector.walk(0, "", &mut Vec::new())?;
    collector.describe()?;
    collector.implementations()?;
    collector.macros();
    Ok(collector.finish())
}

struct Collector<'m> {
    scope: Scope<'m>,
    items: Items,
    api: Api,
    /// Public paths of items.
    paths: BTreeMap<(usize, usize), BTreeSet<(usize, String)>>,
    names: usize,
}

fn key(path: &str, space: Space) -> Key {
    (path.to_owned(), space == Space::Value)
}

impl<'m> Collector<'m> {
    fn modules(&self) -> &'m Modules {
        self.scope.modules
    }

    fn add(&mut self, key: Key, shape: Shape, gate: Option<String>) -> Result<(), Error> {
        self.names += 1;
        if self.names > MAX_NAMES {
            return Err(Error::TooMany);
        }
        self.api.entries.entry(key).or_default().push(Entry { shape, gate });
        Ok(())
    }

    fn walk(&mut self, module: usize, prefix: &str, above: &mut Vec<usize>) -> Result<(), Error> {
        if above.contains(&module) || above.len() >= MAX_DEPTH {
            return Ok(());
        }
        above.push(module);
        for (name, space, target) in self.scope.public(module)? {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}::{name}") };
            match target {
                // A module within itself is nobody's path.
                Target::Module(id) if above.contains(&id) => {}
                Target::Module(id) => {
                    let gate =
                        self.modules().all.iter().flat_map(|m| &m.defined).find_map(|d| match d.what {
                            What::Module(of) if of == id => Some(d.attrs.gate.clone()),
                            _ => None,
                        });
                    self.add(key(&path, space), Shape::Module, gate.flatten())?;
                    self.walk(id, &path, above)?;
                }
                Target::Item(m, i) => {
                    let hidden = self
                        .modules()
                        .all
                        .get(m)
                        .and_then(|m| m.defined.get(i))
                        .is_none_or(|d| d.attrs.hidden);
                    if !hidden {
                        self.names += 1;
                        if self.names > MAX_NAMES {
                            return Err(Error::TooMany);
                        }
                        self.paths.entry((m, i)).or_default().insert((path.matches("::").count(), path));
                    }
                }
                Target::Variant(m, i, variant) => {
                    let of = self.modules().all.get(m).and_then(|m| m.defined.get(i));
                    let text = format!("{}::{variant}", of.map(|d| d.name.as_str()).unwrap_or_default());
                    self.add(key(&path, space), Shape::Elsewhere(text), None)?;
                }
                Target::Elsewhere(text) => {
                    self.add(key(&path, space), Shape::Elsewhere(shown(&elsewhere(&text)).to_owned()), None)?;
                }
            }
        }
        above.pop();
        Ok(())
    }

    fn primary(&self, item: (usize, usize)) -> Option<&str> {
        self.paths.get(&item).and_then(|paths| paths.first()).map(|(_, path)| path.as_str())
    }

    fn describe(&mut self) -> Result<(), Error> {
        let modules = self.modules();
        let known: BTreeSet<(usize, usize)> = self.paths.keys().copied().collect();
        for ((m, i), paths) in self.paths.clone() {
            let Some(defined) = modules.all.get(m).and_then(|m| m.defined.get(i)) else { continue };
            let here = Here { module: m, ..Here::default() };
            let mut writer = Writer { scope: &mut self.scope, items: &mut self.items };
            let shape = match &defined.what {
                What::Item(item) => {
                    // Whether a trait is sealed is told by what has been met while it was read.
                    let met = std::cell::RefCell::new(Vec::new());
                    let first = writer.item(item, &defined.attrs, &here, &|number| {
                        met.borrow_mut().push(number);
                        true
                    })?;
                    let private = met
                        .into_inner()
                        .into_iter()
                        .any(|number| writer.items.all.get(number).is_some_and(|item| !known.contains(item)));
                    match first {
                        Some(Shape::Trait { parameters, above, is_unsafe, members, .. }) => {
                            Some(Shape::Trait { parameters, above, is_unsafe, is_sealed: private, members })
                        }
                        other => other,
                    }
                }
                What::Foreign(abi, item) => writer.foreign(abi, item, &defined.attrs, &here)?,
                What::Module(_) => None,
            };
            let Some(shape) = shape else { continue };
            let space = match &shape {
                Shape::Function(_) => Space::Value,
                Shape::Plain { word: "the constant" | "the static", .. } => Space::Value,
                _ => Space::Type,
            };
            let mut paths = paths.into_iter().map(|(_, path)| path);
            let Some(primary) = paths.next() else { continue };
            for path in paths {
                self.add(key(&path, space), Shape::Alias(primary.clone()), None)?;
            }
            if let Some(Makes::Derive(name)) = &defined.attrs.makes {
                let name = format!("{name} (derive)");
                self.add(key(&name, space), shape, defined.attrs.gate.clone())?;
                continue;
            }
            let number = self.items.number(m, i);
            self.derived(number, &defined.attrs, m)?;
            if !defined.attrs.others.is_empty() {
                self.api.attributes.insert(primary.clone(), defined.attrs.others.clone());
            }
            self.add(key(&primary, space), shape, defined.attrs.gate.clone())?;
        }
        Ok(())
    }

    fn derived(&mut self, number: usize, attrs: &Attrs, module: usize) -> Result<(), Error> {
        for path in &attrs.derives {
            let Some(name) = path.last() else { continue };
            let found = self.scope.resolve(module, path, false)?;
            let standard = DERIVED.contains(&name.as_str());
            let text = match found.into_iter().next() {
                Some((_, Target::Elsewhere(text), _)) if !standard => elsewhere(&text),
                _ if standard => name.clone(),
                _ => path.join("::"),
            };
            let implemented = Signature::of(shown(&elsewhere(&text)))
                .then(&Signature::of("for"))
                .then(&Signature(vec![Piece::Item(number)]));
            self.api.implemented.entry(implemented).or_default().derived = true;
        }
        Ok(())
    }

    fn implementations(&mut self) -> Result<(), Error> {
        for (m, module) in self.modules().all.iter().enumerate() {
            for (attrs, item) in &module.impls {
                if !attrs.hidden {
                    self.implementation(m, attrs, item)?;
                }
            }
        }
        Ok(())
    }

    fn implementation(&mut self, module: usize, attrs: &Attrs, item: &syn::ItemImpl) -> Result<(), Error> {
        let mut here = Here { module, ..Here::default() };
        let mut writer = Writer { scope: &mut self.scope, items: &mut self.items };
        // What parameters are called must be known to say what `Self` is, and that to say what is asked of them.
        writer.parameters(&item.generics, 'S', &mut here)?;
        let own = writer.of(&item.self_ty, &here)?;
        here.own = Some(own.clone());
        let parameters = writer.parameters(&item.generics, 'S', &mut here)?;
        let of_trait = item.trait_.as_ref().map(|(path, _)| writer.of(path, &here)).transpose()?;
        let is_private =
            |signature: &Signature,
             items: &Items,
             paths: &BTreeMap<(usize, usize), BTreeSet<(usize, String)>>| {
                signature.0.iter().any(|piece| match piece {
                    Piece::Item(i) => items.all.get(*i).is_none_or(|item| !paths.contains_key(item)),
                    Piece::Text(_) => false,
                })
            };
        if is_private(&own, &self.items, &self.paths) {
            return Ok(());
        }
        match of_trait {
            Some(of_trait) => {
                if is_private(&of_trait, &self.items, &self.paths) || item.modifiers.polarity.is_some() {
                    return Ok(());
                }
                let mut types = BTreeMap::new();
                for item in &item.items {
                    if let ImplItem::Type(t) = item {
                        let mut writer = Writer { scope: &mut self.scope, items: &mut self.items };
                        let mut inner = here.clone();
                        writer.parameters(&t.generics, 'U', &mut inner)?;
                        types.insert(t.ident.to_string(), writer.of(&t.ty, &inner)?);
                    }
                }
                let is_blanket = matches!(own.0.as_slice(), [Piece::Text(text)] if text.starts_with('S') && text[1..].bytes().all(|b| b.is_ascii_digit()));
                let implemented = of_trait.then(&Signature::of("for")).then(&own);
                let found = self.api.implemented.entry(implemented).or_default();
                found.bounds.extend(parameters.bounds);
                found.types = types;
                found.is_blanket |= is_blanket;
            }
            None => self.inherent(&here, attrs, item, &own, &parameters)?,
        }
        Ok(())
    }

    fn inherent(
        &mut self,
        here: &Here,
        attrs: &Attrs,
        item: &syn::ItemImpl,
        own: &Signature,
        parameters: &Parameters,
    ) -> Result<(), Error> {
        let Some(Piece::Item(number)) = own.0.first() else { return Ok(()) };
        let Some(primary) =
            self.items.all.get(*number).and_then(|item| self.primary(*item)).map(str::to_owned)
        else {
            return Ok(());
        };
        for member in &item.items {
            let (name, public, member_attrs) = match member {
                ImplItem::Fn(f) => (&f.sig.ident, is_public(&f.vis), &f.attrs),
                ImplItem::Const(c) => (&c.ident, is_public(&c.vis), &c.attrs),
                ImplItem::Type(t) => (&t.ident, is_public(&t.vis), &t.attrs),
                ImplItem::Macro(m) => {
                    let text = plain(&quote::ToTokens::to_token_stream(&m.mac));
                    self.api.invoked.insert((format!("impl {primary}"), text));
                    continue;
                }
                _ => continue,
            };
            let read = Attrs::read(member_attrs);
            if !public || read.hidden || read.test_only {
                continue;
            }
            let mut writer = Writer { scope: &mut self.scope, items: &mut self.items };
            let shape = match member {
                ImplItem::Fn(f) => writer.function(&f.sig, &read, here, Some(own), Some(parameters))?,
                ImplItem::Const(c) => Shape::Plain {
                    word: "the constant",
                    parameters: parameters.clone(),
                    text: writer.of(&c.ty, here)?,
                },
                ImplItem::Type(t) => Shape::Plain {
                    word: "the type",
                    parameters: parameters.clone(),
                    text: writer.of(&t.ty, here)?,
                },
                _ => continue,
            };
            let gate = match (&attrs.gate, &read.gate) {
                (Some(outer), Some(inner)) => Some(format!("{outer} and {inner}")),
                (outer, inner) => outer.clone().or_else(|| inner.clone()),
            };
            let name = name.to_string();
            self.add((format!("{primary}::{}", name.trim_start_matches("r#")), true), shape, gate)?;
        }
        Ok(())
    }

    fn macros(&mut self) {
        for (attrs, item) in &self.modules().macros {
            if attrs.hidden {
                continue;
            }
            let name = item.ident.as_ref().map(ToString::to_string).unwrap_or_default();
            let entry = Entry { shape: Shape::Macro(arms(&item.mac.tokens)), gate: attrs.gate.clone() };
            self.api.entries.entry((format!("{name}!"), false)).or_default().push(entry);
        }
        self.api.invoked.extend(self.modules().invoked.iter().cloned());
        self.api.no_std = self.modules().attrs.iter().any(|attr| {
            let text = plain(&quote::ToTokens::to_token_stream(&attr.meta));
            text == "no_std" || text.starts_with("cfg_attr(") && text.ends_with(",no_std)")
        });
    }

    fn finish(mut self) -> Api {
        for item in &self.items.all {
            let of = self.modules().all.get(item.0);
            let name = of.and_then(|m| m.defined.get(item.1)).map(|d| d.name.clone()).unwrap_or_default();
            let mut path = of.map(|m| m.path.clone()).unwrap_or_default();
            path.push(name);
            let public = self.paths.get(item).map(|p| p.iter().map(|(_, path)| path.clone()).collect());
            self.api.items.push(Named { place: path.join("::"), public: public.unwrap_or_default() });
        }
        for entries in self.api.entries.values_mut() {
            entries.sort_by(|a, b| a.gate.cmp(&b.gate));
        }
        self.api
    }
}

/// What the rules of a macro take: the brackets before each `=>`.
fn arms(tokens: &proc_macro2::TokenStream) -> Vec<String> {
    let mut arms = Vec::new();
    let mut takes = true;
    for token in tokens.clone() {
        match token {
            proc_macro2::TokenTree::Group(group) => {
                if takes {
                    arms.push(plain(&group.stream()));
                }
                takes = !takes;
            }
            proc_macro2::TokenTree::Punct(p) if p.as_char() == ';' => takes = true,
            _ => {}
        }
    }
    arms
}
