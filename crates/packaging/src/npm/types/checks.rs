//! The checks, in are-the-types-wrong's order (§3.6).
//!
//! A check is made once for what it depends on; where the same comes up again, the problem is only noted there too. Two
//! things follow from that and from the order: which of several entry points a problem is found at first, and that a
//! script only counts as `CommonJS` once it was looked at together with types.

use std::collections::{BTreeMap, BTreeSet};

use super::entries::{EntryOptions, entries};
use super::library::Library;
use super::path::{extension, is_javascript, is_typescript, relative};
use super::program::{Files, Host};
use super::resolve::{Format, ResolutionOption};
use super::script::Script;
use super::world::World;
use super::{Analysis, EntryPoint, EntryResolution, Error, ModuleKind, Problem, ResolutionKind, Target};
use crate::Packed;

pub(super) fn run(packed: &Packed, options: &EntryOptions) -> Result<Analysis, Error> {
    let world = World::new(packed)?;
    if !world.files().any(is_typescript) {
        let none = Analysis {
            has_types: false,
            entries: Vec::new(),
            problems: Vec::new(),
            undecided: Vec::new(),
            unread: Vec::new(),
        };
        return Ok(none);
    }
    let library = Library::new(&world);
    let hosts = ResolutionOption::ALL.map(|option| Host::new(&library, option));
    let mut checks = Checks {
        world: &world,
        library: &library,
        hosts: &hosts,
        kinds: BTreeMap::new(),
        known: BTreeMap::new(),
        problems: Vec::new(),
        undecided: BTreeSet::new(),
        loaded: BTreeSet::new(),
        bound: BTreeSet::new(),
    };
    let found: Vec<Found> =
        entries(&world, options).into_iter().map(|subpath| checks.find(subpath)).collect();
    checks.note_kinds(&found);
    let entries = found.iter().map(|found| checks.entry(found)).collect();
    if world.exhausted() {
        return Err(Error::TooMuch);
    }
    Ok(Analysis {
        has_types: true,
        entries,
        problems: checks.problems,
        undecided: checks.undecided.into_iter().collect(),
        unread: library.unread(),
    })
}

/// An entry point with what it leads to: absolute paths.
struct Found {
    subpath: String,
    ways: Vec<Way>,
}

struct Way {
    kind: ResolutionKind,
    types: Option<String>,
    fallback: bool,
    implementation: Option<String>,
    files: Files,
}

/// What a check depends on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Resolution(String, ResolutionKind),
    Kinds(Option<String>, Option<String>, bool),
    Defaults(Option<(Option<String>, Option<String>)>),
    OnlyDefault(Option<String>, ResolutionKind),
    Syntax(String, bool),
    Imports(ResolutionOption, String),
}

struct Checks<'w> {
    world: &'w World<'w>,
    library: &'w Library<'w>,
    /// In the order of [`ResolutionOption::ALL`].
    hosts: &'w [Host<'w>; 3],
    /// The formats of the files that Node is concerned with.
    kinds: BTreeMap<String, Option<ModuleKind>>,
    known: BTreeMap<Key, Vec<usize>>,
    problems: Vec<Problem>,
    undecided: BTreeSet<&'static str>,
    /// Scripts that a host has read, and those that it has bound.
    loaded: BTreeSet<(ResolutionOption, String)>,
    bound: BTreeSet<(ResolutionOption, String)>,
}

impl Checks<'_> {
    fn host(&self, option: ResolutionOption) -> &Host<'_> {
        match option {
            ResolutionOption::Node10 => &self.hosts[0],
            ResolutionOption::Node16 => &self.hosts[1],
            ResolutionOption::Bundler => &self.hosts[2],
        }
    }

    fn find(&self, subpath: String) -> Found {
        if subpath.contains('*') {
            return Found { subpath, ways: Vec::new() };
        }
        let specifier = format!("{}{}", self.world.name, subpath.get(1..).unwrap_or_default());
        let way = |kind: ResolutionKind| {
            let host = self.host(kind.option());
            let types = host.resolver.types(&specifier, "/", kind.mode());
            let implementation = host.resolver.implementation(&specifier, "/", kind.mode());
            let files = types.file.as_deref().map(|file| host.program(file)).unwrap_or_default();
            Way { kind, types: types.file, fallback: types.fallback, implementation, files }
        };
        let ways = ResolutionKind::ALL.into_iter().map(way).collect();
        Found { subpath, ways }
    }

    /// Looks up the formats, in TypeScript's order.
    fn note_kinds(&mut self, found: &[Found]) {
        for kind in [ResolutionKind::Node16Cjs, ResolutionKind::Node16Esm] {
            for way in found.iter().flat_map(|found| &found.ways).filter(|way| way.kind == kind) {
                let files = way.files.iter().map(AsRef::as_ref).chain(way.implementation.as_deref());
                for file in files {
                    if !self.kinds.get(file).is_some_and(Option::is_some) {
                        let kind = self.host(ResolutionOption::Node16).module_kind(file);
                        self.kinds.insert(file.to_owned(), kind);
                    }
                }
            }
        }
    }

    fn kind(&self, way: &Way, file: Option<&str>) -> Option<&ModuleKind> {
        if way.kind.option() != ResolutionOption::Node16 {
            return None;
        }
        self.kinds.get(file?)?.as_ref()
    }

    fn entry(&mut self, found: &Found) -> EntryPoint {
        let resolutions = found.ways.iter().map(|way| self.resolution(&found.subpath, way)).collect();
        EntryPoint { subpath: found.subpath.clone(), wildcard: found.subpath.contains('*'), resolutions }
    }

    fn resolution(&mut self, subpath: &str, way: &Way) -> EntryResolution {
        let mut problems = Vec::new();
        let (types, implementation) = (way.types.as_deref(), way.implementation.as_deref());
        let (types_kind, kind) = (self.kind(way, types).cloned(), self.kind(way, implementation).cloned());
        let owned = |path: Option<&str>| path.map(str::to_owned);

        self.check(&mut problems, Key::Resolution(subpath.to_owned(), way.kind), |checks| {
            checks.entry_resolution(subpath, way)
        });
        self.check(
            &mut problems,
            Key::Kinds(owned(types), owned(implementation), kind.is_some()),
            |checks| {
                checks
                    .disagreement(types, implementation, types_kind.as_ref(), kind.as_ref())
                    .into_iter()
                    .collect()
            },
        );
        let esm = |kind: &Option<ModuleKind>| kind.as_ref().is_some_and(|kind| kind.format == Format::Esm);
        let pair =
            if esm(&types_kind) || esm(&kind) { None } else { Some((owned(types), owned(implementation))) };
        self.check(&mut problems, Key::Defaults(pair.clone()), |checks| match pair {
            Some((Some(types), Some(implementation))) => checks.defaults(&types, &implementation),
            _ => Vec::new(),
        });
        let cjs = |kind: &Option<ModuleKind>| kind.as_ref().is_some_and(|kind| kind.format == Format::Cjs);
        if way.kind == ResolutionKind::Node16Esm
            && types.is_some_and(is_typescript)
            && cjs(&types_kind)
            && cjs(&kind)
        {
            self.undecided.insert("NamedExports");
        }
        self.check(&mut problems, Key::OnlyDefault(owned(implementation), way.kind), |checks| {
            checks.only_default(implementation, way.kind).into_iter().collect()
        });
        for file in way.files.iter().map(AsRef::as_ref).chain(implementation) {
            let kind = self.kind(way, Some(file)).cloned();
            self.check(&mut problems, Key::Syntax(file.to_owned(), kind.is_some()), |checks| {
                checks.syntax(file, kind).into_iter().collect()
            });
        }
        for file in way.files.iter().map(AsRef::as_ref).chain(implementation) {
            let option = way.kind.option();
            self.check(&mut problems, Key::Imports(option, file.to_owned()), |checks| {
                checks.imports(option, file)
            });
        }
        let target = |path: Option<&str>, module: Option<ModuleKind>| {
            path.map(|path| Target {
                file: self.packed(path),
                is_typescript: is_typescript(path),
                is_json: extension(path) == Some(".json"),
                module,
            })
        };
        let (types, implementation) = (target(types, types_kind), target(implementation, kind));
        EntryResolution { kind: way.kind, types, implementation, problems }
    }

    fn packed(&self, path: &str) -> String {
        self.world.packed_path(path).unwrap_or(path).to_owned()
    }

    /// Makes a check, unless it was made before, and notes what it found here.
    fn check(&mut self, here: &mut Vec<usize>, key: Key, make: impl FnOnce(&mut Self) -> Vec<Problem>) {
        if !self.known.contains_key(&key) {
            self.world.step(1);
            let found = if self.world.exhausted() { Vec::new() } else { make(self) };
            let from = self.problems.len();
            self.problems.extend(found);
            self.known.insert(key.clone(), (from..self.problems.len()).collect());
        }
        if let Some(known) = self.known.get(&key) {
            self.world.step(known.len() as u64);
            here.extend(known);
        }
    }

    fn entry_resolution(&self, subpath: &str, way: &Way) -> Vec<Problem> {
        let (entry, kind) = (subpath.to_owned(), way.kind);
        let mut problems = Vec::new();
        match way.types.as_deref() {
            None => problems.push(Problem::NoResolution { entry: entry.clone(), kind }),
            Some(types) if !is_typescript(types) && extension(types) != Some(".json") => {
                problems.push(Problem::UntypedResolution { entry: entry.clone(), kind });
            }
            Some(_) => {}
        }
        let runs = way.implementation.as_deref().or(way.types.as_deref());
        let esm = self.kind(way, runs).is_some_and(|kind| kind.format == Format::Esm);
        if way.kind == ResolutionKind::Node16Cjs && esm {
            problems.push(Problem::CJSResolvesToESM { entry: entry.clone(), kind });
        }
        if way.types.is_some() && way.fallback {
            problems.push(Problem::FallbackCondition { entry, kind });
        }
        problems
    }

    fn disagreement(
        &self,
        types: Option<&str>,
        implementation: Option<&str>,
        types_kind: Option<&ModuleKind>,
        kind: Option<&ModuleKind>,
    ) -> Option<Problem> {
        let (types_kind, implementation_kind) = (types_kind?.clone(), kind?.clone());
        let (types, implementation) = (self.packed(types?), self.packed(implementation?));
        match (types_kind.format, implementation_kind.format) {
            (Format::Esm, Format::Cjs) => {
                Some(Problem::FalseESM { types, implementation, types_kind, implementation_kind })
            }
            (Format::Cjs, Format::Esm) => {
                Some(Problem::FalseCJS { types, implementation, types_kind, implementation_kind })
            }
            _ => None,
        }
    }

    /// `FalseExportDefault` and `MissingExportEquals`.
    fn defaults(&mut self, types: &str, implementation: &str) -> Vec<Problem> {
        if !is_typescript(types) {
            return Vec::new();
        }
        let Ok(declared) = self.library.declared(types) else {
            self.undecided.extend(["FalseExportDefault", "MissingExportEquals"]);
            return Vec::new();
        };
        let option = ResolutionOption::ALL.into_iter().find(|option| self.host(*option).has(types));
        let option = option.unwrap_or(ResolutionOption::Bundler);
        if !declared.module {
            return Vec::new();
        }
        self.loaded.insert((option, implementation.to_owned()));
        self.bound.insert((option, implementation.to_owned()));
        if !is_javascript(implementation) {
            return Vec::new();
        }
        let Ok(script) = self.library.script(implementation) else {
            self.undecided.extend(["FalseExportDefault", "MissingExportEquals"]);
            return Vec::new();
        };
        if script.esm.is_some() || !script.is_module() {
            return Vec::new();
        }
        let (types, implementation) = (self.packed(types), self.packed(implementation));
        let Some(default) = declared.shapes.default else { return Vec::new() };
        if !script.is_analyzable() {
            return Vec::new();
        }
        match script.has_default() {
            None => {
                self.undecided.extend(["FalseExportDefault", "MissingExportEquals"]);
                return Vec::new();
            }
            Some(false) => return vec![Problem::FalseExportDefault { types, implementation }],
            Some(true) => {}
        }
        let shapes = &declared.shapes;
        let whole = (!shapes.equals && !script.assigned.is_empty())
            .then(|| either(both(Some(script.same), default.callable), module_callable(&script)));
        let lone = both(
            shapes.other_values.map(|others| !others),
            both(default.object, default.callable.map(|is| !is)),
        );
        let lone = if script.has_other_names() { lone } else { Some(false) };
        match either(whole.unwrap_or(Some(false)), lone) {
            Some(true) => vec![Problem::MissingExportEquals { types, implementation }],
            Some(false) => Vec::new(),
            None => {
                self.undecided.insert("MissingExportEquals");
                Vec::new()
            }
        }
    }

    /// The first host that has read a script; the bundler's reads it otherwise. And whether it was bound there.
    fn bound(&mut self, file: &str) -> bool {
        let mut all = ResolutionOption::ALL.into_iter();
        let option = all.find(|option| self.loaded.contains(&(*option, file.to_owned())));
        let option = option.unwrap_or(ResolutionOption::Bundler);
        self.loaded.insert((option, file.to_owned()));
        self.bound.contains(&(option, file.to_owned()))
    }

    fn only_default(&mut self, implementation: Option<&str>, kind: ResolutionKind) -> Option<Problem> {
        let file = implementation?;
        if !matches!(kind, ResolutionKind::Node16Esm | ResolutionKind::Bundler) {
            return None;
        }
        let bound = self.bound(file);
        if !bound || !is_javascript(file) {
            return None;
        }
        let Ok(script) = self.library.script(file) else {
            self.undecided.insert("CJSOnlyExportsDefault");
            return None;
        };
        let span = script.default.filter(|_| {
            script.cjs.is_some() && script.exports.contains("__esModule") && script.assigned.is_empty()
        })?;
        Some(Problem::CJSOnlyExportsDefault { file: self.packed(file), kind, span })
    }

    fn syntax(&mut self, file: &str, kind: Option<ModuleKind>) -> Option<Problem> {
        let kind = kind?;
        if !is_javascript(file) {
            return None;
        }
        let bound = self.bound(file);
        let Ok(script) = self.library.script(file) else {
            self.undecided.insert("UnexpectedModuleSyntax");
            return None;
        };
        let (syntax, span) = match (script.esm, script.cjs) {
            (Some(span), _) => (Format::Esm, span),
            (None, Some(span)) if bound => (Format::Cjs, span),
            _ => return None,
        };
        (syntax != kind.format).then(|| Problem::UnexpectedModuleSyntax {
            file: self.packed(file),
            kind,
            syntax,
            span,
        })
    }

    fn imports(&mut self, option: ResolutionOption, file: &str) -> Vec<Problem> {
        if !is_typescript(file) || !self.host(option).has(file) {
            return Vec::new();
        }
        let Ok(declared) = self.library.declared(file) else {
            self.undecided.insert("InternalResolutionError");
            return Vec::new();
        };
        let inside = |specifier: &str| {
            let rest = specifier.strip_prefix(self.world.name.as_str());
            specifier.starts_with('#')
                || relative(specifier)
                || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let host = self.host(option);
        let lost = declared.imports.iter().filter(|import| inside(&import.specifier));
        lost.filter(|import| host.resolve(file, &declared, import).is_none())
            .map(|import| Problem::InternalResolutionError {
                option,
                file: self.packed(file),
                specifier: import.specifier.clone(),
                span: import.span,
                mode: host.mode(file, import),
            })
            .collect()
    }
}

/// Whether `module.exports` can be called. Where it is `any` because it is assigned from `exports.default`, that counts.
fn module_callable(script: &Script) -> Option<bool> {
    let kind = if script.value.any && script.same { script.default_value } else { script.value };
    kind.callable
}

fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    both(a.map(|is| !is), b.map(|is| !is)).map(|is| !is)
}
