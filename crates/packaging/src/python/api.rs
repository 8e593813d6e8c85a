//! The public names of a wheel, and how they differ between two releases.
//!
//! The files are parsed by Python itself: [`SCRIPT`] is run over a wheel (in a confined run; nothing of the wheel is executed), and what
//! it prints is read here. Public is what has no underscore in front, in modules that have none; where a module says `__all__`, that;
//! imports count where they are relative in a package's `__init__`, or say `as` with the same name
//! ([typing's rules](https://typing.python.org/en/latest/spec/distributing.html#library-interface-public-and-private-symbols)).
//! Types are not compared, and what decorators, metaclasses, `__getattr__` and native modules make is not known.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

pub use crate::difference::{ApiChange, Difference, What, bump};
use crate::version::Bump;

/// What is run over a wheel: `python -I -X utf8 -c SCRIPT WHEEL`. It prints JSON, for [`read`]. Runs on Python 3.9 and later.
pub const SCRIPT: &str = include_str!("api.py");

/// Most names that are read, and imports that lead to imports.
const MAX_NAMES: usize = 200_000;
const MAX_DEPTH: usize = 32;

/// Arguments after the interpreter's name that run [`SCRIPT`] over a wheel.
pub fn arguments(wheel: &str) -> Vec<String> {
    ["-I", "-X", "utf8", "-c", SCRIPT, wheel].map(str::to_owned).to_vec()
}

/// Why the names of a wheel are not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The script printed something else.
    #[error("what Python printed cannot be read: {0}")]
    Format(String),
    /// There are more names than are read.
    #[error("the wheel has more than {MAX_NAMES} public names")]
    TooMany,
}

#[derive(Debug, Clone, Deserialize)]
struct Dump {
    modules: BTreeMap<String, Module>,
    native: Vec<String>,
    unread: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Module {
    package: bool,
    stub: bool,
    names: BTreeMap<String, Name>,
    stars: Vec<String>,
    all: Option<Vec<String>>,
    dynamic: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Argument {
    name: String,
    kind: Kind,
    default: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Positional,
    Either,
    Rest,
    Keyword,
    Keywords,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
enum Name {
    Value,
    Import {
        from: String,
        #[serde(default)]
        named: bool,
        #[serde(default)]
        relative: bool,
    },
    Function {
        arguments: Vec<Argument>,
        #[serde(rename = "async")]
        is_async: bool,
        decorators: Vec<String>,
        #[serde(default)]
        overloaded: bool,
    },
    Class {
        bases: Vec<String>,
        decorators: Vec<String>,
        members: BTreeMap<String, Name>,
    },
}

/// How a function is called.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Function {
    arguments: Vec<Argument>,
    is_async: bool,
    /// `staticmethod`, `classmethod` or nothing.
    binding: &'static str,
    is_abstract: bool,
    overloaded: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Module,
    /// Of another distribution, or not found.
    Elsewhere(String),
    Value,
    Function(Function),
    Class {
        bases: BTreeSet<String>,
        /// Its own members and those of its bases, as far as they are in the wheel.
        members: BTreeMap<String, Self>,
        /// Whether members may come from bases or decorators that are not known.
        is_open: bool,
    },
}

/// The public names of a wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Api {
    names: BTreeMap<String, Item>,
    undecided: Vec<String>,
}

impl Api {
    /// Dotted names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// What could not be told, in sentences.
    pub fn undecided(&self) -> &[String] {
        &self.undecided
    }
}

/// Reads what [`SCRIPT`] printed.
pub fn read(printed: &[u8]) -> Result<Api, ApiError> {
    let dump: Dump = serde_json::from_slice(printed).map_err(|e| ApiError::Format(e.to_string()))?;
    let reader = Reader { dump: &dump };
    let mut api = Api::default();
    for (module, why) in &dump.unread {
        api.undecided.push(format!("the module {module} cannot be read ({why}): its names are unknown"));
    }
    let stubbed = |module: &String| dump.modules.get(module).is_some_and(|m| m.stub);
    for module in dump.native.iter().filter(|module| is_public_module(module) && !stubbed(module)) {
        api.undecided.push(format!("the module {module} is native: its names are unknown"));
        api.names.insert(module.clone(), Item::Module);
    }
    for (path, module) in dump.modules.iter().filter(|(path, _)| is_public_module(path)) {
        api.names.insert(path.clone(), Item::Module);
        if module.dynamic {
            api.undecided.push(format!("`__all__` of {path} is computed: what is public there is not known"));
        }
        if module.names.contains_key("__getattr__") {
            api.undecided.push(format!("{path} has `__getattr__`: what it gives is not known"));
        }
        for name in reader.public(path, 0) {
            if api.names.len() >= MAX_NAMES {
                return Err(ApiError::TooMany);
            }
            let item =
                reader.resolve(path, &name, 0).unwrap_or_else(|| Item::Elsewhere(format!("{path}.{name}")));
            api.names.insert(format!("{path}.{name}"), item);
        }
    }
    api.undecided.sort();
    Ok(api)
}

fn is_public_module(path: &str) -> bool {
    path.split('.').all(|part| !part.starts_with('_') && !matches!(part, "tests" | "test" | "conftest"))
}

/// Bases that bring nothing that callers use by name.
const PLAIN_BASES: [&str; 14] = [
    "object",
    "ABC",
    "Generic",
    "Protocol",
    "NamedTuple",
    "TypedDict",
    "Exception",
    "BaseException",
    "ValueError",
    "TypeError",
    "RuntimeError",
    "KeyError",
    "OSError",
    "Enum",
];

struct Reader<'d> {
    dump: &'d Dump,
}

impl Reader<'_> {
    /// The public names of a module.
    fn public(&self, path: &str, depth: usize) -> BTreeSet<String> {
        let Some(module) = self.dump.modules.get(path) else { return BTreeSet::new() };
        if let Some(all) = &module.all
            && !module.dynamic
        {
            return all.iter().cloned().collect();
        }
        let mut names: BTreeSet<String> = module
            .names
            .iter()
            .filter(|(name, what)| {
                let shown = match what {
                    Name::Import { named, relative, .. } => {
                        *named || (*relative && module.package && !module.stub)
                    }
                    _ => true,
                };
                shown && !name.starts_with('_')
            })
            .map(|(name, _)| name.clone())
            .collect();
        names.extend(module.all.iter().flatten().cloned());
        if depth < MAX_DEPTH {
            for star in &module.stars {
                names.extend(self.public(star, depth + 1));
            }
        }
        names
    }

    /// What a name of a module is.
    fn resolve(&self, path: &str, name: &str, depth: usize) -> Option<Item> {
        if depth > MAX_DEPTH {
            return None;
        }
        let whole = format!("{path}.{name}");
        let module = self.dump.modules.get(path)?;
        match module.names.get(name) {
            Some(Name::Import { from, .. }) => {
                // A package's own module of that name, brought in for its effects.
                if *from == whole && self.dump.modules.contains_key(from) {
                    return Some(Item::Module);
                }
                Some(self.dotted(from, depth + 1))
            }
            Some(found) => Some(self.item(path, found, depth)),
            None => {
                for star in &module.stars {
                    if let Some(item) = self.resolve(star, name, depth + 1) {
                        return Some(item);
                    }
                }
                self.dump.modules.contains_key(&whole).then_some(Item::Module)
            }
        }
    }

    /// What an absolute dotted name is.
    fn dotted(&self, from: &str, depth: usize) -> Item {
        if let Some((path, name)) = from.rsplit_once('.')
            && let Some(item) = self.resolve(path, name, depth)
        {
            return item;
        }
        if self.dump.modules.contains_key(from) { Item::Module } else { Item::Elsewhere(from.to_owned()) }
    }

    fn item(&self, path: &str, name: &Name, depth: usize) -> Item {
        match name {
            Name::Value => Item::Value,
            Name::Import { from, .. } => self.dotted(from, depth + 1),
            Name::Function { arguments, is_async, decorators, overloaded } => {
                let last =
                    |d: &str| d.split('(').next().unwrap_or(d).rsplit('.').next().unwrap_or(d).to_owned();
                let says: BTreeSet<String> = decorators.iter().map(|d| last(d)).collect();
                if ["property", "cached_property", "abstractproperty", "setter"]
                    .iter()
                    .any(|d| says.contains(*d))
                {
                    return Item::Value;
                }
                let binding =
                    ["staticmethod", "classmethod"].into_iter().find(|d| says.contains(*d)).unwrap_or("");
                Item::Function(Function {
                    arguments: arguments.clone(),
                    is_async: *is_async,
                    binding,
                    is_abstract: says.contains("abstractmethod"),
                    overloaded: *overloaded || says.contains("overload"),
                })
            }
            Name::Class { bases, decorators, members } => {
                let mut all = BTreeMap::new();
                let mut is_open = !decorators.is_empty();
                let mut resolved = BTreeSet::new();
                for base in bases {
                    let text = base.split('[').next().unwrap_or(base);
                    match self.base(path, text, depth + 1) {
                        Some((named, Item::Class { members, is_open: base_open, .. })) => {
                            is_open |= base_open;
                            resolved.insert(named);
                            for (name, item) in members {
                                all.entry(name).or_insert(item);
                            }
                        }
                        _ => {
                            let last = text.rsplit('.').next().unwrap_or(text);
                            is_open |= !PLAIN_BASES.contains(&last);
                            resolved.insert(last.to_owned());
                        }
                    }
                }
                for (name, member) in members {
                    let is_kept = !name.starts_with('_')
                        || matches!(name.as_str(), "__init__" | "__new__" | "__call__");
                    if is_kept && depth < MAX_DEPTH {
                        all.insert(name.clone(), self.item(path, member, depth + 1));
                    }
                }
                Item::Class { bases: resolved, members: all, is_open }
            }
        }
    }

    /// A base by its text, as it stands in a module: its last name and what it is.
    fn base(&self, path: &str, text: &str, depth: usize) -> Option<(String, Item)> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (first, rest) = text.split_once('.').unwrap_or((text, ""));
        let last = text.rsplit('.').next().unwrap_or(text).to_owned();
        if rest.is_empty() {
            return Some((last, self.resolve(path, first, depth)?));
        }
        let Some(Name::Import { from, .. }) = self.dump.modules.get(path)?.names.get(first) else {
            return None;
        };
        Some((last, self.dotted(&format!("{from}.{rest}"), depth)))
    }
}

/// The differences between two releases.
pub fn compare(before: &Api, after: &Api) -> Difference {
    let mut found = Difference::default();
    for side in [before, after] {
        found.undecided.extend(side.undecided.iter().cloned());
    }
    for (path, was) in &before.names {
        match after.names.get(path) {
            Some(is) => items(path, was, is, &mut found),
            None => {
                let of = path.rsplit_once('.').map_or("", |(of, _)| of);
                // What is in a module that went is told of with it.
                let with_its_module =
                    before.names.get(of) == Some(&Item::Module) && !after.names.contains_key(of);
                let unknown = after.undecided.iter().any(|why| why.contains(&format!(" {of} ")));
                if unknown {
                    found.undecided.push(format!("{path} is not written out any more"));
                } else if !with_its_module {
                    found.changes.push(ApiChange::new(path.clone(), What::Removed, Bump::Major));
                }
            }
        }
    }
    for path in after.names.keys().filter(|path| !before.names.contains_key(*path)) {
        let of = path.rsplit_once('.').map_or("", |(of, _)| of);
        let with_its_module = after.names.get(of) == Some(&Item::Module) && !before.names.contains_key(of);
        if !with_its_module {
            found.changes.push(ApiChange::new(path.clone(), What::Added, Bump::Minor));
        }
    }
    found.undecided.sort();
    found.undecided.dedup();
    found
}

fn items(path: &str, was: &Item, is: &Item, found: &mut Difference) {
    let mut how: Vec<(Bump, String)> = Vec::new();
    match (was, is) {
        (Item::Function(was), Item::Function(is)) => functions(was, is, &mut how),
        (
            Item::Class { bases: b1, members: m1, is_open: o1 },
            Item::Class { bases: b2, members: m2, is_open: o2 },
        ) => {
            for base in b1.difference(b2) {
                how.push((Bump::Major, format!("it no longer is a {base}")));
            }
            for (name, was) in m1 {
                match m2.get(name) {
                    Some(is) => items(&format!("{path}.{name}"), was, is, found),
                    None if *o2 => found.undecided.push(format!(
                        "{path}.{name} is not written out any more: a base or decorator may give it"
                    )),
                    // Without one of its own it is made as its base is.
                    None if matches!(name.as_str(), "__init__" | "__new__") => {
                        found.undecided.push(format!("{path} is made otherwise: it has no {name} any more"));
                    }
                    None => found.changes.push(ApiChange::new(
                        format!("{path}.{name}"),
                        What::Removed,
                        Bump::Major,
                    )),
                }
            }
            for (name, is) in m2.iter().filter(|(name, _)| !m1.contains_key(*name)) {
                let path = format!("{path}.{name}");
                match is {
                    Item::Function(f) if f.is_abstract => {
                        let how =
                            vec!["it is new, and whoever derives from the class must have it".to_owned()];
                        found.changes.push(ApiChange::new(path, What::Changed { how }, Bump::Major));
                    }
                    _ if *o1 || name.starts_with("__") => {}
                    _ => found.changes.push(ApiChange::new(path, What::Added, Bump::Minor)),
                }
            }
        }
        (Item::Elsewhere(was), Item::Elsewhere(is)) => {
            if was != is {
                found.undecided.push(format!("{path} was {was} and is {is}"));
            }
        }
        (Item::Module, Item::Module) | (Item::Value, Item::Value) => {}
        // A function may be made by a call, a class by a function, and nobody who calls it notices.
        (Item::Value | Item::Elsewhere(_), _)
        | (_, Item::Value | Item::Elsewhere(_))
        | (Item::Function(_), Item::Class { .. }) => {
            found.undecided.push(format!("{path} was {} and is {}", word(was), word(is)));
        }
        _ => how.push((Bump::Major, format!("it was {} and is {}", word(was), word(is)))),
    }
    let unknown = |f: &Item| matches!(f, Item::Function(f) if f.overloaded);
    if let Some(asks) = how.iter().map(|(bump, _)| *bump).max() {
        if unknown(was) || unknown(is) {
            found.undecided.push(format!("{path} has overloads, which are written otherwise"));
            return;
        }
        let how = how.into_iter().map(|(_, why)| why).collect();
        found.changes.push(ApiChange::new(path.to_owned(), What::Changed { how }, asks));
    }
}

const fn word(item: &Item) -> &'static str {
    match item {
        Item::Module => "a module",
        Item::Elsewhere(_) => "something of another package",
        Item::Value => "a value",
        Item::Function(_) => "a function",
        Item::Class { .. } => "a class",
    }
}

fn functions(was: &Function, is: &Function, how: &mut Vec<(Bump, String)>) {
    if was.is_async != is.is_async {
        how.push((Bump::Major, format!("it is {} async", if is.is_async { "now" } else { "no longer" })));
    }
    if was.binding != is.binding {
        how.push((Bump::Major, "it is bound otherwise (static, of the class, of the object)".to_owned()));
    }
    let has = |f: &Function, kind: Kind| f.arguments.iter().any(|a| a.kind == kind);
    let placed = |f: &Function| -> Vec<Argument> {
        f.arguments.iter().filter(|a| matches!(a.kind, Kind::Positional | Kind::Either)).cloned().collect()
    };
    let (old, new) = (placed(was), placed(is));
    let (rest, keywords) = (has(is, Kind::Rest), has(is, Kind::Keywords));
    for (kind, text) in [(Kind::Rest, "any number of values"), (Kind::Keywords, "any names")] {
        match (has(was, kind), has(is, kind)) {
            (true, false) => how.push((Bump::Major, format!("it no longer takes {text}"))),
            (false, true) => how.push((Bump::Minor, format!("it takes {text} now"))),
            _ => {}
        }
    }
    let by_name = |name: &str| {
        is.arguments.iter().find(|a| a.name == name && matches!(a.kind, Kind::Either | Kind::Keyword))
    };
    for (at, argument) in old.iter().enumerate() {
        let name = &argument.name;
        // The first one of methods has no name to anybody else.
        let nameless =
            argument.kind == Kind::Positional || at == 0 && matches!(name.as_str(), "self" | "cls" | "mcs");
        match new.get(at) {
            Some(now) if nameless || now.name == *name => {
                if !nameless && now.kind == Kind::Positional {
                    how.push((Bump::Major, format!("{name} can be given by its place alone now")));
                }
                defaults(argument, now, how);
            }
            None if rest && (nameless || keywords) => {}
            _ => match by_name(name) {
                Some(now) if now.kind == Kind::Keyword => {
                    how.push((Bump::Major, format!("{name} can be given by name alone now")));
                    defaults(argument, now, how);
                }
                Some(_) => how.push((Bump::Major, format!("{name} has another place"))),
                None => how.push((Bump::Major, format!("{name} is gone"))),
            },
        }
    }
    for argument in was.arguments.iter().filter(|a| a.kind == Kind::Keyword) {
        match by_name(&argument.name) {
            Some(now) => defaults(argument, now, how),
            None if keywords => {}
            None => how.push((Bump::Major, format!("{} is gone", argument.name))),
        }
    }
    let had_rest = has(was, Kind::Rest);
    for argument in &is.arguments {
        let known = was.arguments.iter().any(|a| a.name == argument.name)
            || matches!(argument.kind, Kind::Rest | Kind::Keywords);
        let nameless = |at: usize| {
            argument.kind == Kind::Positional
                || at == 0 && old.first().is_some_and(|a| matches!(a.name.as_str(), "self" | "cls" | "mcs"))
        };
        let replaces =
            new.iter().position(|a| a == argument).is_some_and(|at| at < old.len() && nameless(at));
        if known || replaces {
            continue;
        }
        let takes_a_place = argument.kind != Kind::Keyword && had_rest;
        let bump = if !argument.default || takes_a_place { Bump::Major } else { Bump::Minor };
        let said = if argument.default { "is new" } else { "is new and must be given" };
        how.push((bump, format!("{} {said}", argument.name)));
    }
}

fn defaults(was: &Argument, is: &Argument, how: &mut Vec<(Bump, String)>) {
    if was.default && !is.default {
        how.push((Bump::Major, format!("{} must be given now", was.name)));
    } else if !was.default && is.default {
        how.push((Bump::Minor, format!("{} can be left out now", was.name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn arguments_of(list: &str) -> Value {
        let mut all = Vec::new();
        for part in list.split_whitespace() {
            let (name, default) = part.strip_suffix('?').map_or((part, false), |name| (name, true));
            let (kind, name) = match name.chars().next() {
                Some('/') => ("positional", &name[1..]),
                Some('*') => ("rest", &name[1..]),
                Some('!') => ("keyword", &name[1..]),
                Some('%') => ("keywords", &name[1..]),
                _ => ("either", name),
            };
            all.push(json!({ "name": name, "kind": kind, "default": default || kind == "rest" || kind == "keywords" }));
        }
        Value::Array(all)
    }

    fn function(list: &str) -> Value {
        json!({ "what": "function", "arguments": arguments_of(list), "async": false, "decorators": [] })
    }

    fn api(names: Value) -> Api {
        let printed = json!({ "modules": { "m": { "package": true, "stub": false, "names": names, "stars": [], "all": null, "dynamic": false } },
            "native": [], "unread": {} });
        read(printed.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn what_a_function_takes_is_compared_as_callers_see_it() {
        use Bump::{Major, Minor, None};
        for (before, after, wanted) in [
            ("a b?", "a b?", None),
            ("a", "a b?", Minor),
            ("a", "a b", Major),
            ("a b", "a", Major),
            ("a b", "b a", Major),
            ("a", "x", Major),
            ("/a", "/x", None),
            ("a", "/a", Major),
            ("a", "!a", Major),
            ("!a", "a", None),
            ("a?", "a", Major),
            ("a", "a?", Minor),
            ("a", "a *rest", Minor),
            ("a *rest", "a", Major),
            ("a *rest", "a b? *rest", Major),
            ("!k?", "%kw", Minor),
            ("a %kw", "a", Major),
            ("a", "a !k", Major),
            ("a", "a !k?", Minor),
            ("self a", "this a", None),
            ("a b", "a *rest %kw", Minor),
        ] {
            let difference =
                compare(&api(json!({ "f": function(before) })), &api(json!({ "f": function(after) })));
            assert_eq!(
                bump(&difference.changes).unwrap_or_default(),
                wanted,
                "{before} -> {after}: {:?}",
                difference.changes
            );
        }
    }

    #[test]
    fn classes_and_names_are_compared() {
        let class = |bases: &[&str], members: Value| json!({ "what": "class", "bases": bases, "decorators": [], "members": members });
        let said = |before: Value, after: Value| {
            let difference = compare(&api(before), &api(after));
            (bump(&difference.changes).unwrap_or_default(), difference.undecided.len())
        };
        let value = json!({ "what": "value" });
        let method = function("self");
        let property = json!({ "what": "function", "arguments": arguments_of("self"), "async": false, "decorators": ["property"] });
        let needed = json!({ "what": "function", "arguments": arguments_of("self"), "async": false, "decorators": ["abc.abstractmethod"] });
        assert_eq!(said(json!({ "a": value, "_b": value }), json!({ "a": value })), (Bump::None, 0));
        assert_eq!(said(json!({ "a": value }), json!({})), (Bump::Major, 0));
        assert_eq!(said(json!({}), json!({ "a": value })), (Bump::Minor, 0));
        assert_eq!(
            said(json!({ "C": class(&[], json!({ "x": method })) }), json!({ "C": class(&[], json!({})) })),
            (Bump::Major, 0)
        );
        assert_eq!(
            said(
                json!({ "C": class(&[], json!({ "x": method })) }),
                json!({ "C": class(&["other.Base"], json!({})) })
            ),
            (Bump::None, 1)
        );
        assert_eq!(
            said(json!({ "C": class(&["B"], json!({})) }), json!({ "C": class(&[], json!({})) })).0,
            Bump::Major
        );
        assert_eq!(
            said(json!({ "C": class(&[], json!({})) }), json!({ "C": class(&[], json!({ "x": needed })) })),
            (Bump::Major, 0)
        );
        assert_eq!(
            said(
                json!({ "C": class(&[], json!({ "x": value })) }),
                json!({ "C": class(&[], json!({ "x": property })) })
            ),
            (Bump::None, 0)
        );
        // A method that moved to a base is still there.
        let base = json!({ "B": class(&[], json!({ "x": method })), "C": class(&["B"], json!({})) });
        assert_eq!(
            said(json!({ "B": class(&[], json!({})), "C": class(&["B"], json!({ "x": method })) }), base).0,
            Bump::Minor
        );
    }

    #[test]
    fn names_are_followed_through_imports_and_stars() {
        let printed = json!({ "native": ["m.fast", "m._c"], "unread": { "m.bad": "SyntaxError" }, "modules": {
            "m": { "package": true, "stub": false, "all": null, "dynamic": false, "stars": ["m._star"], "names": {
                "f": { "what": "import", "from": "m._impl.f", "named": false, "relative": true },
                "os": { "what": "import", "from": "os" }, "g": { "what": "import", "from": "m._impl.f", "named": true } } },
            "m._impl": { "package": false, "stub": false, "all": null, "dynamic": false, "stars": [], "names": { "f": function("a"), "hidden": { "what": "value" } } },
            "m._star": { "package": false, "stub": false, "all": ["s"], "dynamic": false, "stars": [], "names": { "s": { "what": "value" }, "t": { "what": "value" } } },
            "m.circle": { "package": false, "stub": false, "all": ["x"], "dynamic": false, "stars": ["m.circle"], "names": {} },
        }});
        let api = read(printed.to_string().as_bytes()).unwrap();
        assert_eq!(
            api.names().collect::<Vec<_>>(),
            ["m", "m.circle", "m.circle.x", "m.f", "m.fast", "m.g", "m.s"]
        );
        assert!(matches!(api.names["m.g"], Item::Function(_)) && matches!(api.names["m.s"], Item::Value));
        assert_eq!(api.undecided.len(), 2);
        assert!(matches!(read(b"{"), Err(ApiError::Format(_))));
    }
}
