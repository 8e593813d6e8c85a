//! What the sources of a package say: each is read once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::declared::Declared;
use super::script::Script;
use super::world::World;
use crate::npm::syntax::{self, Dialect, Unreadable};

type Read<T> = RefCell<BTreeMap<String, Result<Rc<T>, Unreadable>>>;

/// The sources by absolute path.
pub(super) struct Library<'w> {
    pub(super) world: &'w World<'w>,
    declared: Read<Declared>,
    scripts: Read<Script>,
}

impl<'w> Library<'w> {
    pub(super) fn new(world: &'w World<'w>) -> Self {
        Self { world, declared: RefCell::default(), scripts: RefCell::default() }
    }

    /// A file with one of TypeScript's extensions.
    pub(super) fn declared(&self, path: &str) -> Result<Rc<Declared>, Unreadable> {
        self.once(&self.declared, path, |text, dialect| syntax::read(text, dialect, Declared::of))
    }

    /// A file with one of JavaScript's extensions.
    pub(super) fn script(&self, path: &str) -> Result<Rc<Script>, Unreadable> {
        self.once(&self.scripts, path, |text, dialect| syntax::read(text, dialect, Script::of))
    }

    fn once<T>(
        &self,
        read: &Read<T>,
        path: &str,
        make: impl FnOnce(&str, Dialect) -> Result<T, Unreadable>,
    ) -> Result<Rc<T>, Unreadable> {
        if let Some(known) = read.borrow().get(path) {
            return known.clone();
        }
        let bytes = self.world.read(path).unwrap_or_default();
        self.world.step(bytes.len() as u64 / 64);
        let dialect = Dialect::of(path).unwrap_or(Dialect::JavaScript);
        let made = if self.world.exhausted() {
            Err(Unreadable::Long)
        } else {
            make(&syntax::text_of(bytes), dialect).map(Rc::new)
        };
        read.borrow_mut().insert(path.to_owned(), made.clone());
        made
    }

    /// What could not be read, by packed path.
    pub(super) fn unread(&self) -> Vec<(String, Unreadable)> {
        let (declared, scripts) = (self.declared.borrow(), self.scripts.borrow());
        let faults = declared.iter().map(|(path, read)| (path, read.as_ref().err()));
        let faults = faults.chain(scripts.iter().map(|(path, read)| (path, read.as_ref().err())));
        let mut unread: Vec<_> = faults
            .filter_map(|(path, fault)| Some((self.world.packed_path(path)?.to_owned(), *fault?)))
            .collect();
        unread.sort();
        unread
    }
}
