//! What `Cargo.toml` says, with what it takes from its workspace
//! ([The Manifest Format](https://doc.rust-lang.org/cargo/reference/manifest.html),
//! [Workspaces](https://doc.rust-lang.org/cargo/reference/workspaces.html)).

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::dependency::{self, Dependency};
use crate::tree::{Kind, Tree, TreeError};

/// Most bytes of a manifest that are read: 4 MiB.
pub const MAX_BYTES: usize = 4 << 20;

/// A manifest that was read; what it inherits is in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    top: Table,
    package: Option<Table>,
    /// Fields of `package` that came from the workspace: paths in them are the workspace's.
    inherited: BTreeSet<String>,
    dependencies: Vec<Dependency>,
    replaced: Vec<String>,
}

/// What a workspace's top gives to its members: `[workspace.package]` and `[workspace.dependencies]`, and what it replaces for all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shared {
    package: Table,
    dependencies: Table,
    replaced: Vec<String>,
}

/// Why a manifest could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It is no TOML.
    #[error("Cargo.toml: {0}")]
    Syntax(String),
    /// It is larger than is read.
    #[error("Cargo.toml has more than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// It takes a field from its workspace, which has none, or there is no workspace.
    #[error(
        "Cargo.toml: `{0}.workspace = true`, and the workspace's top does not say it: add it to `[workspace]` there"
    )]
    NotInherited(String),
}

/// Where a crate's parts are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Targets {
    /// The library: its name as code says it, and its file.
    pub library: Option<(String, String)>,
    /// Whether the library is a procedural macro.
    pub is_proc_macro: bool,
    /// Programs: name and file.
    pub programs: Vec<(String, String)>,
}

/// Where a package may be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Publish {
    /// Anywhere.
    Anywhere,
    /// Nowhere.
    Nowhere,
    /// To these registries.
    Only(Vec<String>),
}

fn table(bytes: &[u8]) -> Result<Table, ManifestError> {
    if bytes.len() > MAX_BYTES {
        return Err(ManifestError::TooLarge);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|e| ManifestError::Syntax(e.to_string()))?;
    text.parse().map_err(|e: toml::de::Error| ManifestError::Syntax(e.message().to_owned()))
}

impl Shared {
    /// What the manifest of a workspace's top gives; nothing when it has no `[workspace]`.
    pub fn read(bytes: &[u8]) -> Result<Self, ManifestError> {
        let top = table(bytes)?;
        let below = |key: &str| {
            top.get("workspace")
                .and_then(|w| w.get(key))
                .and_then(Value::as_table)
                .cloned()
                .unwrap_or_default()
        };
        let (package, dependencies) = (below("package"), below("dependencies"));
        Ok(Self { package, dependencies, replaced: replaced(&top) })
    }
}

/// The packages of `[patch]` and `[replace]`, each with the table that names it.
fn replaced(top: &Table) -> Vec<String> {
    let within = |table: &str, value: Option<&Value>| -> Vec<String> {
        let names = value.and_then(Value::as_table).into_iter().flat_map(Table::keys);
        names.map(|name| format!("[{table}] {name}")).collect()
    };
    let mut found = Vec::new();
    for (of, value) in top.get("patch").and_then(Value::as_table).into_iter().flatten() {
        found.extend(within(&format!("patch.{of}"), Some(value)));
    }
    found.extend(within("replace", top.get("replace")));
    found
}

impl Manifest {
    /// Reads the bytes of a Cargo.toml. `shared` is of the workspace that it belongs to; a manifest with a `[workspace]` of its
    /// own uses that.
    pub fn read(bytes: &[u8], shared: Option<&Shared>) -> Result<Self, ManifestError> {
        let top = table(bytes)?;
        let own = if top.contains_key("workspace") { Some(Shared::read(bytes)?) } else { None };
        let shared = own.as_ref().or(shared);
        let mut inherited = BTreeSet::new();
        let mut package =
            top.get("package").or_else(|| top.get("project")).and_then(Value::as_table).cloned();
        for (key, value) in package.iter_mut().flatten() {
            if value.get("workspace") == Some(&Value::Boolean(true)) {
                let given = shared.and_then(|s| s.package.get(key));
                *value =
                    given.cloned().ok_or_else(|| ManifestError::NotInherited(format!("package.{key}")))?;
                inherited.insert(key.to_owned());
            }
        }
        let nothing = Table::new();
        let dependencies = dependency::all(&top, shared.map_or(&nothing, |s| &s.dependencies))?;
        // Cargo passes over what a member replaces: the workspace's top counts.
        let replaced = shared.map_or_else(|| replaced(&top), |shared| shared.replaced.clone());
        Ok(Self { top, package, inherited, dependencies, replaced })
    }

    /// Whether there is a `[package]`: the top of a workspace may have none.
    pub const fn is_package(&self) -> bool {
        self.package.is_some()
    }

    /// Whether there is a `[workspace]`.
    pub fn is_workspace(&self) -> bool {
        self.top.contains_key("workspace")
    }

    /// A table or value outside of `[package]`.
    pub fn section(&self, name: &str) -> Option<&Value> {
        self.top.get(name)
    }

    /// A field of `[package]`.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.package.as_ref().and_then(|package| package.get(field))
    }

    /// A field of `[package]` that is text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.get(field).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Texts of a list in `[package]`.
    pub fn list(&self, field: &str) -> Vec<&str> {
        self.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Whether a field came from the workspace: a path in it is relative to the workspace's top.
    pub fn is_inherited(&self, field: &str) -> bool {
        self.inherited.contains(field)
    }

    /// The name; empty when there is none.
    pub fn name(&self) -> &str {
        self.text("name").unwrap_or_default()
    }

    /// The version; empty when there is none (Cargo takes 0.0.0 then, and publishes nothing).
    pub fn version(&self) -> &str {
        self.text("version").unwrap_or_default()
    }

    /// The edition; 2015 when it says none.
    pub fn edition(&self) -> &str {
        self.text("edition").unwrap_or("2015")
    }

    /// Where it may be published.
    pub fn publish(&self) -> Publish {
        match self.get("publish") {
            Some(Value::Boolean(false)) => Publish::Nowhere,
            Some(Value::Array(names)) if names.is_empty() => Publish::Nowhere,
            Some(Value::Array(names)) => {
                Publish::Only(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            None if self.version().is_empty() => Publish::Nowhere,
            _ => Publish::Anywhere,
        }
    }

    /// Whether crates.io is among the places where it may be published.
    pub fn is_for_crates_io(&self) -> bool {
        match self.publish() {
            Publish::Anywhere => true,
            Publish::Nowhere => false,
            Publish::Only(names) => names.iter().any(|name| name == "crates-io"),
        }
    }

    /// What it needs, of all kinds and for all targets, in the order of the file.
    pub fn dependencies(&self) -> &[Dependency] {
        &self.dependencies
    }

    /// What is replaced where it is built here (`[patch]`, `[replace]`): each package behind the table that names it.
    pub fn replaced(&self) -> &[String] {
        &self.replaced
    }

    /// The build script's file, where there is one.
    pub fn build_script(&self, tree: &dyn Tree) -> Result<Option<String>, TreeError> {
        match self.get("build") {
            Some(Value::Boolean(false)) => Ok(None),
            Some(Value::String(path)) => Ok(Some(path.clone())),
            // A list of scripts is unstable; the first one says that there are any.
            Some(Value::Array(paths)) => Ok(paths.first().and_then(Value::as_str).map(str::to_owned)),
            _ => Ok(is_file(tree, "build.rs")?.then(|| "build.rs".to_owned())),
        }
    }

    /// What it builds; `tree` is the package's folder.
    pub fn targets(&self, tree: &dyn Tree) -> Result<Targets, TreeError> {
        let mut targets = Targets::default();
        let code_name = self.name().replace('-', "_");
        let lib = self.top.get("lib").and_then(Value::as_table);
        let of_lib = |key: &str| lib.and_then(|lib| lib.get(key));
        let auto = |key: &str| self.get(key).and_then(Value::as_bool).unwrap_or(true);
        let path = match of_lib("path").and_then(Value::as_str) {
            Some(path) => Some(tidy(path)),
            None if lib.is_some() => Some("src/lib.rs".to_owned()),
            None => (auto("autolib") && is_file(tree, "src/lib.rs")?).then(|| "src/lib.rs".to_owned()),
        };
        if let Some(path) = path {
            let name = of_lib("name").and_then(Value::as_str).unwrap_or(&code_name).to_owned();
            targets.is_proc_macro = ["proc-macro", "proc_macro"]
                .iter()
                .any(|key| of_lib(key).and_then(Value::as_bool) == Some(true));
            targets.library = Some((name, path));
        }
        for bin in self.top.get("bin").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| bin.get(key).and_then(Value::as_str);
            let Some(name) = text("name") else { continue };
            let path = match text("path") {
                Some(path) => tidy(path),
                None => program_file(tree, self.name(), name)?,
            };
            targets.programs.push((name.to_owned(), path));
        }
        if auto("autobins") {
            self.found_programs(tree, &mut targets.programs)?;
        }
        Ok(targets)
    }

    fn found_programs(&self, tree: &dyn Tree, programs: &mut Vec<(String, String)>) -> Result<(), TreeError> {
        let mut found = Vec::new();
        if is_file(tree, "src/main.rs")? {
            found.push((self.name().to_owned(), "src/main.rs".to_owned()));
        }
        let mut entries = tree.entries("src/bin")?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        for entry in entries {
            match entry.kind {
                Kind::File { .. } => {
                    if let Some(name) = entry.name.strip_suffix(".rs") {
                        found.push((name.to_owned(), format!("src/bin/{}", entry.name)));
                    }
                }
                Kind::Folder => {
                    let path = format!("src/bin/{}/main.rs", entry.name);
                    if is_file(tree, &path)? {
                        found.push((entry.name, path));
                    }
                }
                _ => {}
            }
        }
        found.retain(|(name, path)| !programs.iter().any(|(n, p)| n == name || p == path));
        programs.extend(found);
        Ok(())
    }

    /// Features and what each switches on; optional dependencies that are features by their name are among them
    /// ([Features](https://doc.rust-lang.org/cargo/reference/features.html#optional-dependencies)).
    pub fn features(&self) -> std::collections::BTreeMap<String, Vec<String>> {
        let mut features: std::collections::BTreeMap<String, Vec<String>> = self
            .top
            .get("features")
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
            .map(|(name, on)| {
                let on = on.as_array().into_iter().flatten().filter_map(Value::as_str);
                (name.clone(), on.map(str::to_owned).collect())
            })
            .collect();
        let named: BTreeSet<String> =
            features.values().flatten().filter_map(|on| on.strip_prefix("dep:")).map(str::to_owned).collect();
        for dependency in self.dependencies.iter().filter(|d| d.optional) {
            if !named.contains(&dependency.key) && !features.contains_key(&dependency.key) {
                features.insert(dependency.key.clone(), vec![format!("dep:{}", dependency.key)]);
            }
        }
        features
    }
}

fn is_file(tree: &dyn Tree, path: &str) -> Result<bool, TreeError> {
    Ok(matches!(tree.kind(path)?, Some(Kind::File { .. })))
}

/// Where Cargo looks for a program that names no file.
fn program_file(tree: &dyn Tree, package: &str, name: &str) -> Result<String, TreeError> {
    for path in [format!("src/bin/{name}.rs"), format!("src/bin/{name}/main.rs")] {
        if is_file(tree, &path)? {
            return Ok(path);
        }
    }
    let main = "src/main.rs".to_owned();
    Ok(if name == package || is_file(tree, &main)? { main } else { format!("src/bin/{name}.rs") })
}

/// A path as packages have it: `/` between parts, none that stays where it is, and `..` taken back where it can be.
pub(super) fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::MapTree;

    const TOP: &[u8] =
        b"[workspace]\n[workspace.package]\nversion='1.2.3'\nlicense='MIT'\nreadme='README.md'\n\
        [workspace.dependencies]\nb={path='b',version='1'}\nc='2'\n";

    #[test]
    fn a_member_says_what_its_workspace_says() {
        let shared = Shared::read(TOP).unwrap();
        let text = b"[package]\nname='a'\nversion.workspace=true\nlicense={workspace=true}\nreadme.workspace=true\nedition='2021'\n\
            [dependencies]\nb.workspace=true\nc={workspace=true,optional=true,features=['x']}\nd='3'\n";
        let manifest = Manifest::read(text, Some(&shared)).unwrap();
        assert_eq!(
            (manifest.name(), manifest.version(), manifest.text("license")),
            ("a", "1.2.3", Some("MIT"))
        );
        assert!(manifest.is_inherited("readme") && !manifest.is_inherited("edition"));
        let said: Vec<_> = manifest
            .dependencies()
            .iter()
            .map(|d| (d.name.as_str(), d.version.as_deref(), d.path.as_deref(), d.optional))
            .collect();
        assert_eq!(
            said,
            [("b", Some("1"), Some("b"), false), ("c", Some("2"), None, true), ("d", Some("3"), None, false)]
        );
        assert!(manifest.dependencies()[0].is_path_of_workspace);
        assert_eq!(manifest.features().keys().collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn what_the_workspace_does_not_say_is_an_error_that_names_it() {
        let read = |text: &[u8]| Manifest::read(text, Some(&Shared::read(TOP).unwrap()));
        assert_eq!(
            read(b"[package]\nname='a'\nhomepage.workspace=true"),
            Err(ManifestError::NotInherited("package.homepage".into()))
        );
        assert_eq!(
            read(b"[package]\nname='a'\n[dependencies]\nz.workspace=true"),
            Err(ManifestError::NotInherited("dependencies.z".into()))
        );
        assert!(matches!(read(b"[package"), Err(ManifestError::Syntax(_))));
    }

    #[test]
    fn what_is_replaced_is_what_the_top_of_the_workspace_replaces() {
        const PATCH: &str = "[patch.crates-io]\na={path='a'}\nb={path='b'}\n[patch.'https://x']\nc={path='c'}\n[replace]\n'd:1.0.0'={path='d'}\n";
        let read = |text: &str, shared| Manifest::read(text.as_bytes(), shared).unwrap().replaced().to_vec();
        let all = ["[patch.crates-io] a", "[patch.crates-io] b", "[patch.https://x] c", "[replace] d:1.0.0"];
        let member = "[package]\nname='m'\n";
        assert_eq!(read(&format!("{member}{PATCH}"), None), all);
        assert_eq!(read(&format!("{member}{PATCH}[workspace]\n"), None), all);
        let top = Shared::read(format!("[workspace]\n{PATCH}").as_bytes()).unwrap();
        assert_eq!(read(member, Some(&top)), all);
        let other = Shared::read(b"[workspace]\n").unwrap();
        assert_eq!(
            read(&format!("{member}{PATCH}"), Some(&other)),
            Vec::<String>::new(),
            "a member's own counts for nothing"
        );
    }

    #[test]
    fn publishing_is_read_as_cargo_reads_it() {
        let read = |more: &str| {
            Manifest::read(format!("[package]\nname='a'\n{more}").as_bytes(), None).unwrap().publish()
        };
        assert_eq!(read("version='1.0.0'"), Publish::Anywhere);
        assert_eq!(read("version='1.0.0'\npublish=true"), Publish::Anywhere);
        assert_eq!(read("version='1.0.0'\npublish=[]"), Publish::Nowhere);
        assert_eq!(read(""), Publish::Nowhere);
        assert_eq!(read("publish=['x']"), Publish::Only(vec!["x".into()]));
    }

    #[test]
    fn targets_are_found_as_cargo_finds_them() {
        let tree = MapTree::new()
            .with("src/lib.rs", "")
            .with("src/main.rs", "")
            .with("src/bin/one.rs", "")
            .with("src/bin/two/main.rs", "")
            .with("src/bin/none/other.rs", "");
        let of = |text: &str| Manifest::read(text.as_bytes(), None).unwrap().targets(&tree).unwrap();
        let targets = of("[package]\nname='a-b'");
        assert_eq!(targets.library, Some(("a_b".into(), "src/lib.rs".into())));
        let names = |t: &Targets| t.programs.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
        assert_eq!(names(&targets), ["a-b", "one", "two"]);
        let targets =
            of("[package]\nname='a'\nautobins=false\nautolib=false\n[[bin]]\nname='x'\npath='./src/main.rs'");
        assert_eq!((targets.library.clone(), names(&targets)), (None, vec!["x".to_owned()]));
        let targets = of("[package]\nname='a'\n[lib]\nname='z'\npath='src/z.rs'\nproc-macro=true");
        assert_eq!((targets.library, targets.is_proc_macro), (Some(("z".into(), "src/z.rs".into())), true));
    }

    #[test]
    fn features_are_those_that_can_be_asked_for() {
        let text = "[package]\nname='a'\n[features]\ndefault=['x']\nx=['dep:serde']\n[dependencies]\nserde={version='1',optional=true}\nlog={version='1',optional=true}";
        let features = Manifest::read(text.as_bytes(), None).unwrap().features();
        assert_eq!(features.keys().collect::<Vec<_>>(), ["default", "log", "x"]);
    }

    #[test]
    fn nesting_without_end_is_refused() {
        let deep = format!("a={}", "[".repeat(200_000));
        assert!(matches!(Manifest::read(deep.as_bytes(), None), Err(ManifestError::Syntax(_))));
        let keys = format!("{}a=1", "a.".repeat(200_000));
        assert!(Manifest::read(keys.as_bytes(), None).is_err());
    }
}
