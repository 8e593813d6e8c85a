//! Finding the files of a package's entry points, for what reads more of them than the checks do.

use std::rc::Rc;

use super::entries::{EntryOptions, entries};
use super::library::Library;
use super::path::{folder, is_javascript, is_typescript};
use super::resolve::{Format, ResolutionOption, Resolver};
use super::script::Script;
use super::world::World;
use super::{Error, ResolutionKind};
use crate::Packed;
use crate::npm::syntax::{Unreadable, text_of, with_stack};

/// The files of a package.
pub(in crate::npm) struct Lookup<'w> {
    world: &'w World<'w>,
    library: &'w Library<'w>,
    resolvers: [Resolver<'w>; 3],
}

/// Runs something that looks up files, on a stack that reading sources can have.
pub(in crate::npm) fn lookup<T: Send>(
    packed: &Packed,
    run: impl FnOnce(&Lookup<'_>) -> T + Send,
) -> Result<T, Error> {
    let inner = || {
        let world = World::new(packed)?;
        let library = Library::new(&world);
        let resolvers = [ResolutionOption::Bundler, ResolutionOption::Node16, ResolutionOption::Node10];
        let resolvers = resolvers.map(|option| Resolver::new(&world, option));
        let done = run(&Lookup { world: &world, library: &library, resolvers });
        if world.exhausted() { Err(Error::TooMuch) } else { Ok(done) }
    };
    with_stack(inner).unwrap_or(Err(Error::NoThread))
}

impl Lookup<'_> {
    /// The package's name.
    pub(in crate::npm) fn name(&self) -> &str {
        &self.world.name
    }

    /// Each entry point without a star, and the file with its types, else the script that runs.
    pub(in crate::npm) fn entries(&self) -> Vec<(String, Option<String>)> {
        let found = entries(self.world, &EntryOptions::default());
        let file = |subpath: &String| {
            let specifier = format!("{}{}", self.world.name, subpath.get(1..).unwrap_or_default());
            let kinds = [
                ResolutionKind::Bundler,
                ResolutionKind::Node16Esm,
                ResolutionKind::Node16Cjs,
                ResolutionKind::Node10,
            ];
            let found: Vec<String> = kinds
                .iter()
                .filter_map(|kind| self.resolver(*kind).types(&specifier, "/", kind.mode()).file)
                .collect();
            let typed = found.iter().find(|path| is_typescript(path));
            typed.or_else(|| found.iter().find(|path| is_javascript(path))).cloned()
        };
        found
            .into_iter()
            .filter(|subpath| !subpath.contains('*'))
            .map(|subpath| (subpath.clone(), file(&subpath)))
            .collect()
    }

    fn resolver(&self, kind: ResolutionKind) -> &Resolver<'_> {
        let [bundler, node16, node10] = &self.resolvers;
        match kind.option() {
            ResolutionOption::Bundler => bundler,
            ResolutionOption::Node16 => node16,
            ResolutionOption::Node10 => node10,
        }
    }

    /// Where an import of a file leads within the package, whichever resolution finds it.
    pub(in crate::npm) fn import(&self, path: &str, specifier: &str) -> Option<String> {
        let modes = [Some(Format::Esm), Some(Format::Cjs)];
        let all = self.resolvers.iter().flat_map(|resolver| modes.iter().map(move |mode| (resolver, *mode)));
        let found = all.filter_map(|(resolver, mode)| resolver.import(specifier, folder(path), mode));
        let found: Vec<String> = found.collect();
        found.iter().find(|path| is_typescript(path)).or_else(|| found.first()).cloned()
    }

    /// The text of a file.
    pub(in crate::npm) fn text(&self, path: &str) -> String {
        text_of(self.world.read(path).unwrap_or_default())
    }

    /// A path as it is packed.
    pub(in crate::npm) fn packed(&self, path: &str) -> String {
        self.world.packed_path(path).unwrap_or(path).to_owned()
    }

    /// What TypeScript's binder says of a script.
    pub(in crate::npm) fn script(&self, path: &str) -> Result<Rc<Script>, Unreadable> {
        self.library.script(path)
    }

    /// Counts work. Whether more of it is allowed.
    pub(in crate::npm) fn step(&self, count: usize) -> bool {
        self.world.step(count as u64);
        !self.world.exhausted()
    }
}
