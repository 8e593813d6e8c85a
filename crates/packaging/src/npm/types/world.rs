//! What TypeScript would see: the packed files below `/node_modules/NAME/`, and nothing else (§3.1).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::path::ancestors;
use super::{Error, MAX_NAME_BYTES, MAX_STEPS};
use crate::Packed;
use crate::npm::types::json::Json;

/// The packed files as a file system. Its paths are absolute.
pub(super) struct World<'a> {
    packed: &'a Packed,
    /// The package's name.
    pub(super) name: String,
    /// `/node_modules/NAME`.
    pub(super) root: String,
    /// The root manifest.
    pub(super) manifest: Rc<Json>,
    steps: Cell<u64>,
}

impl<'a> World<'a> {
    pub(super) fn new(packed: &'a Packed) -> Result<Self, Error> {
        let bytes = packed.get("package.json").ok_or(Error::NoManifest)?;
        let manifest = Json::parse(bytes).map_err(|fault| Error::BadManifest { why: fault.to_string() })?;
        if !matches!(manifest, Json::Object(_)) {
            return Err(Error::BadManifest { why: "it is no object".to_owned() });
        }
        let name = manifest.get("name").and_then(Json::text).unwrap_or_default().to_owned();
        let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        let parts = name.split('/').count();
        let scoped = name.starts_with('@') && parts == 2;
        if name.len() > MAX_NAME_BYTES
            || name.contains('\\')
            || !name.split('/').all(plain)
            || !(scoped || (parts == 1 && !name.starts_with('@')))
        {
            return Err(Error::BadName { name });
        }
        let root = format!("/node_modules/{name}");
        Ok(Self { packed, name, root, manifest: Rc::new(manifest), steps: Cell::new(0) })
    }

    /// The packed path of an absolute one; `None` outside of the package.
    pub(super) fn packed_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.root.as_str())?.strip_prefix('/')
    }

    /// The absolute path of a packed one.
    pub(super) fn absolute(&self, packed: &str) -> String {
        format!("{}/{packed}", self.root)
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.step(1);
        self.packed_path(path).is_some_and(|path| self.packed.has(path))
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.step(1);
        let path = path.trim_end_matches('/');
        // The folders above the package are there by the package.
        super::path::within(path, &self.root)
            || self.packed_path(path).is_some_and(|path| self.packed.has_folder(path))
    }

    pub(super) fn read(&self, path: &str) -> Option<&'a [u8]> {
        self.packed.get(self.packed_path(path)?)
    }

    /// The packed paths, sorted.
    pub(super) fn files(&self) -> impl Iterator<Item = &'a str> {
        self.packed.iter().map(|(path, _)| path)
    }

    /// Counts work, so that a package made for it cannot keep it going.
    pub(super) fn step(&self, count: u64) {
        self.steps.set(self.steps.get().saturating_add(count));
    }

    /// Whether the work allowed for is done. What asks stops and answers with what it has; the whole is then refused.
    pub(super) fn exhausted(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }
}

/// A package.json that was found.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// The folder it is in.
    pub(super) folder: String,
    /// Empty when it cannot be read.
    pub(super) manifest: Rc<Json>,
}

/// The package.json files that were looked for.
///
/// TypeScript remembers them under their path in lower case, found or not, and what asks first decides what others get
/// to know: a nested package.json below a folder with capitals may so never be found (§3.5). This does the same.
#[derive(Default)]
pub(super) struct Manifests {
    known: RefCell<BTreeMap<String, Option<Rc<Json>>>>,
}

impl Manifests {
    /// The package.json right in a folder.
    pub(super) fn at(&self, world: &World<'_>, folder: &str) -> Option<Scope> {
        let key = folder.to_lowercase();
        let known = self.known.borrow().get(&key).cloned();
        let manifest = known.unwrap_or_else(|| {
            let path = format!("{}/package.json", folder.trim_end_matches('/'));
            let read = if !world.has_file(&path) {
                None
            } else if folder == world.root {
                Some(Rc::clone(&world.manifest))
            } else {
                world.read(&path).map(|bytes| Rc::new(Json::parse(bytes).unwrap_or(Json::Null)))
            };
            self.known.borrow_mut().insert(key, read.clone());
            read
        })?;
        Some(Scope { folder: folder.to_owned(), manifest })
    }

    /// The nearest package.json at a path or above.
    pub(super) fn nearest(&self, world: &World<'_>, path: &str) -> Option<Scope> {
        ancestors(path).find_map(|folder| self.at(world, folder))
    }
}
