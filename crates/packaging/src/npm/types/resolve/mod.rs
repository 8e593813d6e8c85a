//! How TypeScript 5.6 finds what a specifier means (§3.3 and §3.4).

mod exports;
mod files;
mod folder;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::path::{absolute, ancestors, base, extension, join, relative};
use super::world::{Manifests, World};
use crate::npm::types::json::Json;

/// How often `imports` may lead on to another bare name. TypeScript has no bound; Node stops at one.
const MAX_REDIRECTS: u8 = 8;

/// TypeScript's `moduleResolution`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResolutionOption {
    /// `node10`, formerly `node`.
    Node10,
    /// `node16`.
    Node16,
    /// `bundler`.
    Bundler,
}

impl ResolutionOption {
    /// All, in the order in which they are asked.
    pub const ALL: [Self; 3] = [Self::Node10, Self::Node16, Self::Bundler];

    /// As it is written in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node10 => "node10",
            Self::Node16 => "node16",
            Self::Bundler => "bundler",
        }
    }
}

/// Whether a file, or an import, is one of ES modules or of `CommonJS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// An ES module, or `import`.
    Esm,
    /// `CommonJS`, or `require`.
    Cjs,
}

/// Sets of extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wanted(u8);

impl Wanted {
    const SOURCES: Self = Self(1);
    const SCRIPTS: Self = Self(2);
    const DECLARATIONS: Self = Self(4);
    const JSON: Self = Self(8);
    /// What types are taken from.
    const TYPES: Self = Self(1 | 4);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The part that types are taken from, and the rest: the second is only looked at when the first leads nowhere.
    fn passes(self) -> impl Iterator<Item = Self> {
        [Self(self.0 & Self::TYPES.0), Self(self.0 & !Self::TYPES.0)].into_iter().filter(|part| part.0 != 0)
    }
}

/// What happened at a conditional object: only this is asked of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Enter,
    Failed,
    Resolved,
    Exit,
}

/// What a specifier led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolution {
    /// The absolute path.
    pub(super) file: Option<String>,
    /// Whether a condition that fits failed and a later one of the same object resolved (§3.6, `FallbackCondition`).
    pub(super) fallback: bool,
}

/// One of TypeScript's module resolutions, with what it remembers.
/// From which file, what, and in which format.
type Asked = (String, String, Option<Format>);

pub(super) struct Resolver<'w> {
    pub(super) world: &'w World<'w>,
    pub(super) option: ResolutionOption,
    /// The package.json files seen while types were looked for.
    pub(super) manifests: Manifests,
    /// Those seen while implementations were looked for: TypeScript keeps them apart.
    implementation_manifests: Manifests,
    resolved: RefCell<BTreeMap<Asked, Option<String>>>,
}

impl<'w> Resolver<'w> {
    pub(super) fn new(world: &'w World<'w>, option: ResolutionOption) -> Self {
        Self {
            world,
            option,
            manifests: Manifests::default(),
            implementation_manifests: Manifests::default(),
            resolved: RefCell::default(),
        }
    }

    /// Where types for an import come from.
    pub(super) fn import(&self, specifier: &str, folder: &str, mode: Option<Format>) -> Option<String> {
        let key = (folder.to_owned(), specifier.to_owned(), mode);
        if let Some(known) = self.resolved.borrow().get(&key) {
            return known.clone();
        }
        let found = self.types(specifier, folder, mode).file;
        self.resolved.borrow_mut().insert(key, found.clone());
        found
    }

    /// Where types come from, with the trace looked at.
    pub(super) fn types(&self, specifier: &str, folder: &str, mode: Option<Format>) -> Resolution {
        self.ask(specifier, folder, mode, false)
    }

    /// Which file runs.
    pub(super) fn implementation(
        &self,
        specifier: &str,
        folder: &str,
        mode: Option<Format>,
    ) -> Option<String> {
        self.ask(specifier, folder, mode, true).file
    }

    /// Where a `/// <reference types="…" />` leads: declarations only.
    pub(super) fn type_reference(&self, name: &str, folder: &str, mode: Option<Format>) -> Option<String> {
        let trace = RefCell::default();
        let ask = self.request(&trace, mode, false);
        if relative(name) {
            ask.relative(Wanted::DECLARATIONS, &join(folder, name), true)
        } else {
            ask.nearest(Wanted::DECLARATIONS, name, folder)
        }
    }

    fn request<'r>(
        &'r self,
        trace: &'r RefCell<Vec<Event>>,
        mode: Option<Format>,
        implementation: bool,
    ) -> Ask<'r> {
        let cjs = mode == Some(Format::Cjs);
        let conditions: &'static [&'static str] = match (self.option, cjs, implementation) {
            (ResolutionOption::Node10, ..) => &[],
            (ResolutionOption::Node16, ..) if mode != Some(Format::Esm) && implementation => {
                &["require", "node"]
            }
            (ResolutionOption::Node16, ..) if mode != Some(Format::Esm) => &["require", "types", "node"],
            (ResolutionOption::Node16, _, true) => &["import", "node"],
            (ResolutionOption::Node16, _, false) => &["import", "types", "node"],
            (ResolutionOption::Bundler, true, true) => &["require"],
            (ResolutionOption::Bundler, true, false) => &["require", "types"],
            (ResolutionOption::Bundler, false, true) => &["import"],
            (ResolutionOption::Bundler, false, false) => &["import", "types"],
        };
        Ask {
            world: self.world,
            manifests: if implementation { &self.implementation_manifests } else { &self.manifests },
            trace,
            modern: self.option != ResolutionOption::Node10,
            esm: self.option == ResolutionOption::Node16 && mode == Some(Format::Esm),
            conditions,
            found_package: Cell::new(false),
        }
    }

    fn ask(&self, specifier: &str, folder: &str, mode: Option<Format>, implementation: bool) -> Resolution {
        let trace = RefCell::default();
        let ask = self.request(&trace, mode, implementation);
        let all = if implementation {
            Wanted(Wanted::SOURCES.0 | Wanted::SCRIPTS.0 | Wanted::JSON.0)
        } else {
            Wanted(Wanted::TYPES.0 | Wanted::SCRIPTS.0 | Wanted::JSON.0)
        };
        let file = if self.option == ResolutionOption::Node10 {
            let file = all.passes().find_map(|wanted| ask.specifier(wanted, specifier, folder, 0));
            let typed = file
                .as_deref()
                .and_then(extension)
                .is_some_and(|end| !matches!(end, ".js" | ".jsx" | ".mjs" | ".cjs" | ".json"));
            if ask.found_package.get() && !typed && !(relative(specifier) || absolute(specifier)) {
                // TypeScript asks the bundler's way as well, to give advice; its steps are in the same trace.
                let advice = Ask { modern: true, conditions: &["import", "types"], ..ask };
                advice.specifier(Wanted(all.0 & Wanted::TYPES.0), specifier, folder, 0);
            }
            file
        } else {
            ask.specifier(all, specifier, folder, 0)
        };
        Resolution { file, fallback: fallback(&trace.borrow()) }
    }
}

/// One question: what is in force while it is answered.
#[derive(Clone)]
struct Ask<'r> {
    world: &'r World<'r>,
    manifests: &'r Manifests,
    trace: &'r RefCell<Vec<Event>>,
    /// Whether `exports`, `imports` and a package's own name are in force.
    modern: bool,
    /// Whether the strict rules for ES modules are: nothing is appended, no folder is looked into.
    esm: bool,
    conditions: &'static [&'static str],
    /// Whether the package that is named was found.
    found_package: Cell<bool>,
}

impl Ask<'_> {
    fn specifier(&self, wanted: Wanted, specifier: &str, folder: &str, redirects: u8) -> Option<String> {
        if self.world.exhausted() {
            return None;
        }
        if relative(specifier) || absolute(specifier) {
            let mut path = join(folder, specifier);
            if matches!(base(specifier), "." | "..") && !path.ends_with('/') {
                path.push('/');
            }
            return self.relative(wanted, &path, true);
        }
        let own = || {
            let from_imports = (self.modern && specifier.starts_with('#'))
                .then(|| self.imports(wanted, specifier, folder, redirects))
                .flatten();
            from_imports.or_else(|| self.modern.then(|| self.self_name(wanted, specifier, folder)).flatten())
        };
        own().or_else(|| {
            if specifier.contains(':') {
                return None;
            }
            wanted.passes().find_map(|wanted| self.nearest(wanted, specifier, folder))
        })
    }

    /// A bare name in the folders `node_modules` at a folder and above.
    fn nearest(&self, wanted: Wanted, specifier: &str, folder: &str) -> Option<String> {
        ancestors(folder).filter(|above| base(above) != "node_modules").find_map(|above| {
            let modules = format!("{}/node_modules", above.trim_end_matches('/'));
            if !self.world.has_folder(&modules) {
                return None;
            }
            self.package(wanted, specifier, &modules).or_else(|| {
                let types = format!("{modules}/@types");
                if !wanted.has(Wanted::DECLARATIONS) || !self.world.has_folder(&types) {
                    return None;
                }
                let mangled = match specifier.strip_prefix('@') {
                    Some(scoped) => scoped.replacen('/', "__", 1),
                    None => specifier.to_owned(),
                };
                self.package(Wanted::DECLARATIONS, &mangled, &types)
            })
        })
    }

    /// A package by its own name, from inside it.
    fn self_name(&self, wanted: Wanted, specifier: &str, folder: &str) -> Option<String> {
        let scope = self.manifests.nearest(self.world, folder)?;
        scope.manifest.get("exports").filter(|exports| exports.truthy())?;
        let name = scope.manifest.get("name").and_then(Json::text)?;
        let rest = specifier.strip_prefix(name)?;
        let subpath = match rest.strip_prefix('/') {
            Some(rest) if !rest.is_empty() => format!("./{}", rest.trim_end_matches('/')),
            None if !rest.is_empty() => return None,
            _ => ".".to_owned(),
        };
        wanted.passes().find_map(|wanted| self.exports(wanted, &scope, &subpath))
    }

    fn mark(&self, event: Event) {
        self.trace.borrow_mut().push(event);
    }
}

/// Whether, within one conditional object, a condition failed before one resolved.
fn fallback(trace: &[Event]) -> bool {
    let mut failed: Vec<bool> = Vec::new();
    for event in trace {
        match event {
            Event::Enter => failed.push(false),
            Event::Exit => {
                failed.pop();
            }
            Event::Failed => {
                if let Some(last) = failed.last_mut() {
                    *last = true;
                }
            }
            Event::Resolved if failed.last() == Some(&true) => return true,
            Event::Resolved => {}
        }
    }
    false
}
