//! The modules of a library, by `mod` and the files that it leads to
//! ([Module Source Filenames](https://doc.rust-lang.org/reference/items/modules.html#module-source-filenames)).

use syn::{Attribute, Item, Meta, UseTree, Visibility};

use super::attrs::{self, Attrs};
use super::source;
use super::{Error, MAX_FILES, MAX_ITEMS};
use crate::tree::Tree;

/// Modules within modules.
const MAX_DEPTH: usize = 64;

/// A module.
pub(super) struct Module {
    /// Names from the crate's top down; empty for the top.
    pub(super) path: Vec<String>,
    pub(super) parent: Option<usize>,
    pub(super) defined: Vec<Defined>,
    pub(super) imports: Vec<Import>,
    pub(super) impls: Vec<(Attrs, syn::ItemImpl)>,
}

/// Something with a name.
pub(super) struct Defined {
    pub(super) name: String,
    pub(super) public: bool,
    pub(super) attrs: Attrs,
    pub(super) what: What,
}

pub(super) enum What {
    Module(usize),
    Item(Item),
    /// Of `extern { … }`: its ABI.
    Foreign(String, syn::ForeignItem),
}

/// A name that is brought in.
#[derive(Debug, Clone)]
pub(super) struct Import {
    pub(super) path: Vec<String>,
    /// Whether it begins with `::`.
    pub(super) absolute: bool,
    /// `None` for `*`.
    pub(super) name: Option<String>,
    pub(super) public: bool,
    pub(super) attrs: Attrs,
}

/// All that was loaded.
#[derive(Default)]
pub(super) struct Modules {
    pub(super) all: Vec<Module>,
    /// Macros that are exported at the crate's top, wherever they are defined.
    pub(super) macros: Vec<(Attrs, syn::ItemMacro)>,
    /// Invocations of macros where items stand: the module and the text.
    pub(super) invoked: Vec<(String, String)>,
    /// What stays unknown whatever it is compared with.
    pub(super) undecided: Vec<String>,
    /// Inner attributes of the crate.
    pub(super) attrs: Vec<Attribute>,
    items: usize,
    files: usize,
}

struct Place<'a> {
    module: usize,
    /// The file, and the folder that its modules' files are in.
    file: &'a str,
    folder: String,
}

impl Modules {
    /// Loads a library from its file.
    pub(super) fn load(tree: &dyn Tree, library: &str) -> Result<Self, Error> {
        let mut modules = Self::default();
        modules.all.push(Module::new(Vec::new(), None));
        let bytes = tree.read(library)?.ok_or_else(|| Error::NoLibrary(library.to_owned()))?;
        let file = modules.parsed(library, &bytes)?;
        modules.attrs = file.attrs;
        let folder = library.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        modules.take(tree, &Place { module: 0, file: library, folder }, file.items)?;
        Ok(modules)
    }

    fn parsed(&mut self, path: &str, bytes: &[u8]) -> Result<syn::File, Error> {
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(Error::TooMany);
        }
        source::parse(bytes).map_err(|why| Error::Unread { file: path.to_owned(), why })
    }

    fn take(&mut self, tree: &dyn Tree, place: &Place<'_>, items: Vec<Item>) -> Result<(), Error> {
        for item in items {
            self.items += 1;
            if self.items > MAX_ITEMS {
                return Err(Error::TooMany);
            }
            let attrs = Attrs::read(attrs::of(&item));
            if attrs.test_only {
                continue;
            }
            match item {
                Item::Mod(module) => self.module(tree, place, module, attrs)?,
                Item::Use(item) => {
                    let mut found = Vec::new();
                    flatten(&item.tree, &mut Vec::new(), &mut found);
                    let (public, absolute) = (is_public(&item.vis), item.leading_colon.is_some());
                    let imports = found.into_iter().map(|(path, name)| Import {
                        path,
                        absolute,
                        name,
                        public,
                        attrs: attrs.clone(),
                    });
                    self.at(place.module, |m| m.imports.extend(imports));
                }
                Item::ExternCrate(item) => {
                    let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name).to_string();
                    let import = Import {
                        path: vec![item.ident.to_string()],
                        absolute: true,
                        name: Some(name),
                        public: is_public(&item.vis),
                        attrs,
                    };
                    self.at(place.module, |m| m.imports.push(import));
                }
                Item::Impl(item) => self.at(place.module, |m| m.impls.push((attrs, item))),
                Item::Macro(item) => self.invocation(place.module, attrs, item),
                Item::ForeignMod(block) => {
                    let abi = block.abi.name.as_ref().map_or_else(|| "C".to_owned(), syn::LitStr::value);
                    for item in block.items {
                        self.foreign(place.module, &abi, item);
                    }
                }
                Item::Verbatim(_) => {
                    let path = self.path(place.module);
                    self.undecided.push(format!("{path} has syntax that is not known here"));
                }
                item => {
                    if let Some((name, public)) = named(&item) {
                        let defined = Defined { name, public, attrs, what: What::Item(item) };
                        self.at(place.module, |m| m.defined.push(defined));
                    }
                }
            }
        }
        Ok(())
    }

    fn at(&mut self, module: usize, change: impl FnOnce(&mut Module)) {
        if let Some(module) = self.all.get_mut(module) {
            change(module);
        }
    }

    fn path(&self, module: usize) -> String {
        let path = self.all.get(module).map(|m| m.path.join("::")).unwrap_or_default();
        if path.is_empty() { "the crate's top".to_owned() } else { path }
    }

    fn foreign(&mut self, module: usize, abi: &str, item: syn::ForeignItem) {
        let (attrs, name, public) = match &item {
            syn::ForeignItem::Fn(f) => (&f.attrs, f.sig.ident.to_string(), is_public(&f.vis)),
            syn::ForeignItem::Static(s) => (&s.attrs, s.ident.to_string(), is_public(&s.vis)),
            syn::ForeignItem::Type(t) => (&t.attrs, t.ident.to_string(), is_public(&t.vis)),
            _ => return,
        };
        let attrs = Attrs::read(attrs);
        let what = What::Foreign(abi.to_owned(), item);
        self.at(module, |m| m.defined.push(Defined { name, public, attrs, what }));
    }

    fn invocation(&mut self, module: usize, attrs: Attrs, item: syn::ItemMacro) {
        let name = item.mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if name == "macro_rules" {
            if attrs.macro_export {
                self.macros.push((attrs, item));
            }
            return;
        }
        let place = self.path(module);
        if name == "include" {
            self.undecided.push(format!("`include!` in {place}: what it brings is not read"));
        }
        let text = format!("{name}!{}", item.mac.tokens);
        self.invoked.push((place, text));
    }

    fn module(
        &mut self,
        tree: &dyn Tree,
        place: &Place<'_>,
        item: syn::ItemMod,
        attrs: Attrs,
    ) -> Result<(), Error> {
        let name = item.ident.to_string().trim_start_matches("r#").to_owned();
        let Some(mut path) = self.all.get(place.module).map(|m| m.path.clone()) else { return Ok(()) };
        path.push(name.clone());
        if path.len() > MAX_DEPTH {
            return Err(Error::TooMany);
        }
        let named_file = path_attribute(&item.attrs);
        let gated = attrs.gate.is_some();
        let new = self.all.len();
        let defined =
            Defined { name: name.clone(), public: is_public(&item.vis), attrs, what: What::Module(new) };
        self.all.push(Module::new(path, Some(place.module)));
        self.at(place.module, |m| m.defined.push(defined));
        if let Some((_, items)) = item.content {
            let folder = join(&place.folder, named_file.as_deref().unwrap_or(&name));
            return self.take(tree, &Place { module: new, file: place.file, folder }, items);
        }
        let candidates = match &named_file {
            // Relative to the file that says so, whatever it is called.
            Some(named) => {
                let beside = place.file.rsplit_once('/').map_or("", |(folder, _)| folder);
                vec![crate::cargo::manifest::tidy(&join(beside, named))]
            }
            None => vec![
                join(&place.folder, &format!("{name}.rs")),
                join(&place.folder, &format!("{name}/mod.rs")),
            ],
        };
        for file in candidates {
            if let Some(bytes) = tree.read(&file)? {
                let parsed = self.parsed(&file, &bytes)?;
                let folder = if named_file.is_some() || file.ends_with("/mod.rs") {
                    file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
                } else {
                    join(&place.folder, &name)
                };
                if !Attrs::read(&parsed.attrs).test_only {
                    self.take(tree, &Place { module: new, file: &file, folder }, parsed.items)?;
                }
                return Ok(());
            }
        }
        if !gated {
            let place = self.path(new);
            self.undecided
                .push(format!("the file of the module {place} is not there: its names are unknown"));
        }
        Ok(())
    }
}

impl Module {
    const fn new(path: Vec<String>, parent: Option<usize>) -> Self {
        Self { path, parent, defined: Vec::new(), imports: Vec::new(), impls: Vec::new() }
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

pub(super) const fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

fn path_attribute(attrs: &[Attribute]) -> Option<String> {
    attrs.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

fn named(item: &Item) -> Option<(String, bool)> {
    let (ident, vis) = match item {
        Item::Const(i) => (&i.ident, &i.vis),
        Item::Enum(i) => (&i.ident, &i.vis),
        Item::Fn(i) => (&i.sig.ident, &i.vis),
        Item::Static(i) => (&i.ident, &i.vis),
        Item::Struct(i) => (&i.ident, &i.vis),
        Item::Trait(i) => (&i.ident, &i.vis),
        Item::TraitAlias(i) => (&i.ident, &i.vis),
        Item::Type(i) => (&i.ident, &i.vis),
        Item::Union(i) => (&i.ident, &i.vis),
        _ => return None,
    };
    Some((ident.to_string().trim_start_matches("r#").to_owned(), is_public(vis)))
}

/// The names of a `use`, each with its whole path. Trees nest no deeper than the parser was allowed to.
fn flatten(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, Option<String>)>) {
    let plain = |ident: &proc_macro2::Ident| ident.to_string().trim_start_matches("r#").to_owned();
    match tree {
        UseTree::Path(part) => {
            path.push(plain(&part.ident));
            flatten(&part.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) => {
            let name = plain(&name.ident);
            let mut whole = path.clone();
            if name == "self" {
                let last = path.last().cloned();
                found.push((whole, last));
            } else {
                whole.push(name.clone());
                found.push((whole, Some(name)));
            }
        }
        UseTree::Rename(rename) => {
            let mut whole = path.clone();
            let name = plain(&rename.ident);
            if name != "self" {
                whole.push(name);
            }
            found.push((whole, Some(plain(&rename.rename))));
        }
        UseTree::Glob(_) => found.push((path.clone(), None)),
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, path, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MapTree;

    #[test]
    fn files_are_found_as_rust_finds_them() {
        let tree = MapTree::new()
            .with("src/lib.rs", "mod a; pub mod b { mod c; } #[path = \"odd.rs\"] mod o; #[cfg(test)] mod t; #[cfg(unix)] mod gone; mod lost;")
            .with("src/a.rs", "mod d; pub fn in_a() {}")
            .with("src/a/d.rs", "pub fn in_d() {}")
            .with("src/b/c/mod.rs", "mod e; pub fn in_c() {}")
            .with("src/b/c/e.rs", "pub fn in_e() {}")
            .with("src/odd.rs", "mod f;")
            .with("src/f.rs", "pub fn in_f() {}");
        let modules = Modules::load(&tree, "src/lib.rs").unwrap();
        let mut names: Vec<String> = modules
            .all
            .iter()
            .flat_map(|m| m.defined.iter().map(|d| format!("{}::{}", m.path.join("::"), d.name)))
            .filter(|n| n.contains("in_"))
            .collect();
        names.sort();
        assert_eq!(names, ["a::d::in_d", "a::in_a", "b::c::e::in_e", "b::c::in_c", "o::f::in_f"]);
        assert_eq!(modules.undecided, ["the file of the module lost is not there: its names are unknown"]);
        assert!(matches!(Modules::load(&tree, "src/none.rs"), Err(Error::NoLibrary(_))));
    }

    #[test]
    fn a_use_is_many_names() {
        let tree = MapTree::new()
            .with("src/lib.rs", "pub use a::{self, b as c, d::*, e::{f}}; extern crate alloc as x;");
        let modules = Modules::load(&tree, "src/lib.rs").unwrap();
        let said: Vec<(String, Option<&str>)> =
            modules.all[0].imports.iter().map(|i| (i.path.join("::"), i.name.as_deref())).collect();
        assert_eq!(
            said,
            [
                ("a".into(), Some("a")),
                ("a::b".into(), Some("c")),
                ("a::d".into(), None),
                ("a::e::f".into(), Some("f")),
                ("alloc".into(), Some("x"))
            ]
        );
    }
}
