//! Programs: the files that TypeScript reads from one on, in each of its module resolutions.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::declared::{Declared, Form, Import, Reference};
use super::library::Library;
use super::path::{base, extension, folder, is_typescript, join};
use super::resolve::{Format, ResolutionOption, Resolver};
use super::world::{Manifests, Scope};
use super::{ModuleKind, Reason};
use crate::npm::types::json::Json;

/// The files of a program, each behind those it imports.
pub(super) type Files = Rc<Vec<Rc<str>>>;

/// One module resolution and the programs made with it.
pub(super) struct Host<'w> {
    pub(super) resolver: Resolver<'w>,
    library: &'w Library<'w>,
    programs: RefCell<BTreeMap<String, Files>>,
    /// The format of each file, looked up when it was first read.
    formats: RefCell<BTreeMap<String, Option<Format>>>,
    /// The files of all programs.
    loaded: RefCell<BTreeSet<Rc<str>>>,
    /// What bundlers ask: package.json files by their true paths.
    scopes: Manifests,
}

impl<'w> Host<'w> {
    pub(super) fn new(library: &'w Library<'w>, option: ResolutionOption) -> Self {
        Self {
            resolver: Resolver::new(library.world, option),
            library,
            programs: RefCell::default(),
            formats: RefCell::default(),
            loaded: RefCell::default(),
            scopes: Manifests::default(),
        }
    }

    /// Whether a file is part of a program here.
    pub(super) fn has(&self, path: &str) -> bool {
        self.loaded.borrow().contains(path)
    }

    /// The program that starts at a file. JavaScript is not part of programs.
    pub(super) fn program(&self, root: &str) -> Files {
        if let Some(known) = self.programs.borrow().get(root) {
            return Rc::clone(known);
        }
        let mut files = Vec::new();
        if is_typescript(root) || extension(root) == Some(".json") {
            let mut seen = BTreeSet::from([root.to_owned()]);
            let mut open = vec![(Rc::<str>::from(root), self.follow(root).into_iter())];
            while let Some((_, next)) = open.last_mut() {
                if let Some(path) = next.next() {
                    if !self.library.world.exhausted() && seen.insert(path.clone()) {
                        let following = self.follow(&path).into_iter();
                        open.push((Rc::from(path), following));
                    }
                } else if let Some((done, _)) = open.pop() {
                    self.loaded.borrow_mut().insert(Rc::clone(&done));
                    files.push(done);
                }
            }
        }
        let files: Files = Rc::new(files);
        self.programs.borrow_mut().insert(root.to_owned(), Rc::clone(&files));
        files
    }

    /// The files that one leads to: references first, then imports.
    fn follow(&self, path: &str) -> Vec<String> {
        self.library.world.step(1);
        self.format(path);
        if !is_typescript(path) {
            return Vec::new();
        }
        let Ok(declared) = self.library.declared(path) else { return Vec::new() };
        let references = declared.references.iter().filter_map(|reference| self.referenced(path, reference));
        let imports = declared.imports.iter().filter_map(|import| {
            let found = self.resolve(path, &declared, import)?;
            let followed = !found.ends_with(".tsx") && (is_typescript(&found) || found.ends_with(".json"));
            followed.then_some(found)
        });
        references.chain(imports).collect()
    }

    fn referenced(&self, path: &str, reference: &Reference) -> Option<String> {
        match reference {
            Reference::Types(name, mode) => {
                let mode = mode.or_else(|| {
                    self.format(path).filter(|_| self.resolver.option == ResolutionOption::Node16)
                });
                self.resolver.type_reference(name, folder(path), mode)
            }
            Reference::Path(written) => {
                let found = join(folder(path), written);
                if base(&found).contains('.') {
                    let known = is_typescript(&found) || found.ends_with(".json");
                    (known && self.library.world.has_file(&found)).then_some(found)
                } else {
                    let with = |end| format!("{found}{end}");
                    [".ts", ".tsx", ".d.ts"]
                        .map(with)
                        .into_iter()
                        .find(|path| self.library.world.has_file(path))
                }
            }
        }
    }

    /// Where an import of a file leads.
    pub(super) fn resolve(&self, path: &str, declared: &Declared, import: &Import) -> Option<String> {
        if declared.ambient.contains(&import.specifier) {
            return None;
        }
        self.resolver.import(&import.specifier, folder(path), self.mode(path, import))
    }

    /// Whether an import counts as `import` or as `require` (§3.6, `InternalResolutionError`).
    pub(super) fn mode(&self, path: &str, import: &Import) -> Option<Format> {
        if import.mode.is_some() {
            return import.mode;
        }
        match (self.resolver.option, import.form) {
            (ResolutionOption::Node10, _) => None,
            (_, Form::Require) => Some(Format::Cjs),
            (ResolutionOption::Node16, Form::Dynamic) => Some(Format::Esm),
            (ResolutionOption::Node16, Form::Statement | Form::Type) => self.format(path),
            (ResolutionOption::Bundler, _) => {
                // Only what says so is CommonJS to a bundler; that a package.json has no type does not.
                let cjs = [".cjs", ".cts"].iter().any(|end| path.ends_with(end))
                    || (self.format(path) == Some(Format::Cjs)
                        && !path.ends_with(".json")
                        && self.type_of(folder(path)).as_deref() == Some("commonjs"));
                Some(if cjs { Format::Cjs } else { Format::Esm })
            }
        }
    }

    fn type_of(&self, folder: &str) -> Option<String> {
        let scope = self.scopes.nearest(self.library.world, folder)?;
        scope.manifest.get("type").and_then(Json::text).map(str::to_owned)
    }

    /// The format of a file, by its extension or its package.json. The path is looked up in lower case, as
    /// TypeScript does where case does not count (§3.5).
    pub(super) fn format(&self, path: &str) -> Option<Format> {
        if let Some(known) = self.formats.borrow().get(path) {
            return *known;
        }
        let lower = path.to_lowercase();
        let ends = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
        let format = if ends(&[".mts", ".mjs"]) {
            Some(Format::Esm)
        } else if ends(&[".cts", ".cjs"]) {
            Some(Format::Cjs)
        } else if ends(&[".ts", ".tsx", ".js", ".jsx"]) {
            let scope = self.resolver.manifests.nearest(self.library.world, folder(&lower));
            let modules =
                scope.is_some_and(|scope| scope.manifest.get("type").and_then(Json::text) == Some("module"));
            Some(if modules { Format::Esm } else { Format::Cjs })
        } else {
            None
        };
        self.formats.borrow_mut().insert(path.to_owned(), format);
        format
    }

    /// The format of a file and what decided it.
    pub(super) fn module_kind(&self, path: &str) -> Option<ModuleKind> {
        let format = self.format(path)?;
        let packed = |path: &str| self.library.world.packed_path(path).unwrap_or(path).to_owned();
        if [".mts", ".mjs", ".cts", ".cjs"].iter().any(|end| path.ends_with(end)) {
            return Some(ModuleKind { format, reason: Reason::Extension, reason_file: packed(path) });
        }
        let scope = self.resolver.manifests.nearest(self.library.world, path);
        let typed = |scope: &Scope| scope.manifest.get("type").is_some_and(Json::truthy);
        let reason = if scope.as_ref().is_some_and(typed) { Reason::Type } else { Reason::NoType };
        let file = scope.map_or_else(|| path.to_owned(), |scope| format!("{}/package.json", scope.folder));
        Some(ModuleKind { format, reason, reason_file: packed(&file) })
    }
}
