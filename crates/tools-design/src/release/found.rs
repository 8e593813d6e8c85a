//! Which packages a call means.

use std::collections::BTreeSet;

use contract::{Code, Fault, RelPath};
use exec::view::Pattern;
use kit::ReadDesk;
use packaging::python::version::says;
use schemars::JsonSchema;
use semver::Version;
use serde::Deserialize;

use super::{Asked, cargo, npm, python};

/// Most packages that one call verifies.
const MAX_PACKAGES: usize = 30;

/// Whose rules a package follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ecosystem {
    /// Whatever is there.
    #[default]
    Auto,
    /// package.json.
    Npm,
    /// Cargo.toml.
    Cargo,
    /// pyproject.toml.
    Python,
}

/// The packages that a call means.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    pub(crate) npm: Vec<npm::Found>,
    pub(crate) cargo: Vec<cargo::Found>,
    pub(crate) python: Vec<python::Found>,
    /// Folders whose manifest cannot be read, and why.
    pub(crate) broken: Vec<(String, String)>,
    /// What could not be decided, and why.
    pub(crate) undecided: Vec<String>,
    /// Those that are left out, as they have another version: name and version.
    pub(crate) others: Vec<(String, String)>,
}

impl Packages {
    fn folders(&self) -> impl Iterator<Item = &str> {
        let npm = self.npm.iter().map(|found| found.folder.as_str());
        let cargo = self.cargo.iter().map(|found| found.folder.as_str());
        npm.chain(cargo).chain(self.python.iter().map(|found| found.folder.as_str()))
    }

    /// Leaves out what has another version, where any package has the one that is asked for: packages with versions of their own are
    /// released one by one. Where none has it, it was forgotten in all.
    fn leave_out(&mut self, version: &Version) {
        let wanted = version.to_string();
        let of_python = |found: &python::Found| found.project.version.clone().unwrap_or_default();
        let is_asked = |said: &str| says(said, version);
        let has_it = self.npm.iter().any(|found| found.manifest.version() == wanted)
            || self.cargo.iter().any(|found| found.manifest.version() == wanted)
            || self.python.iter().any(|found| is_asked(&of_python(found)));
        if !has_it {
            return;
        }
        let mut others = Vec::new();
        // One without a version may have it, or must be told so.
        let mut keep = |name: &str, said: &str, is_it: bool| {
            let stays = is_it || said.is_empty();
            if !stays {
                others.push((name.to_owned(), said.to_owned()));
            }
            stays
        };
        self.npm.retain(|found| {
            let said = found.manifest.version();
            keep(found.manifest.name(), said, said == wanted)
        });
        self.cargo.retain(|found| {
            let said = found.manifest.version();
            keep(found.manifest.name(), said, said == wanted)
        });
        self.python.retain(|found| {
            let said = of_python(found);
            keep(&found.project.name, &said, is_asked(&said))
        });
        self.others = others;
    }
}

/// The folders that patterns of workspaces mean and that hold a `manifest`, sorted. `!` begins a pattern of what is left out.
pub(super) fn members(
    desk: &ReadDesk,
    patterns: &[String],
    manifest: &str,
    undecided: &mut Vec<String>,
) -> Result<BTreeSet<String>, Fault> {
    let mut folders = BTreeSet::new();
    for pattern in patterns {
        if let Err(fault) = Pattern::new(pattern.trim_start_matches('!')) {
            undecided.push(format!("{manifest}: the member {pattern} was passed over: {}", fault.message));
            continue;
        }
        if let Some(without) = pattern.strip_prefix('!') {
            let (text, without) = (without, Pattern::new(without)?);
            folders.retain(|folder: &String| folder != text && !without.finds(folder));
            continue;
        }
        for found in desk.view().glob(&format!("{pattern}/{manifest}"))? {
            let folder = found.as_str().trim_end_matches(manifest).trim_end_matches('/');
            if !folder.split('/').any(|part| part == "node_modules") {
                folders.insert(folder.to_owned());
            }
        }
    }
    Ok(folders)
}

/// The packages in the folder that is named, else those of the root and of its workspaces that may be published: of them those that have
/// the version. With a last release's archive, there may be one only.
pub(crate) fn packages(
    desk: &ReadDesk,
    named: Option<&str>,
    ecosystem: Ecosystem,
    asked: &Asked,
) -> Result<Packages, Fault> {
    let named: Option<RelPath> = named.filter(|n| *n != ".").map(exec::view::path_argument).transpose()?;
    let folder = named.as_ref().map(RelPath::as_str);
    let mut all = Packages::default();
    let mut unread: Vec<Fault> = Vec::new();
    if matches!(ecosystem, Ecosystem::Auto | Ecosystem::Npm) {
        match npm::packages(desk, folder) {
            Ok(npm::Packages { found, broken, undecided }) => {
                (all.npm, all.broken, all.undecided) = (found, broken, undecided);
            }
            Err(fault) => unread.push(fault),
        }
    }
    if matches!(ecosystem, Ecosystem::Auto | Ecosystem::Cargo) {
        match cargo::packages(desk, folder) {
            Ok((found, broken)) => {
                all.cargo = found;
                all.broken.extend(broken);
            }
            Err(fault) => unread.push(fault),
        }
    }
    if matches!(ecosystem, Ecosystem::Auto | Ecosystem::Python) {
        let is_alone = ecosystem == Ecosystem::Python || all.folders().next().is_none();
        match python::packages(desk, folder, is_alone) {
            Ok(python::Packages { found, broken, undecided }) => {
                all.python = found;
                all.broken.extend(broken);
                all.undecided.extend(undecided);
            }
            Err(fault) => unread.push(fault),
        }
    }
    all.leave_out(&asked.version);
    let count = all.folders().count();
    for fault in unread {
        // What cannot be read is a package that stands in the way, beside others; alone there is nothing else to say.
        if fault.code != Code::InvalidSource || count == 0 {
            return Err(fault);
        }
        all.broken.push((folder.unwrap_or(".").to_owned(), fault.message));
    }
    if count == 0 && all.broken.is_empty() {
        let place = folder.unwrap_or("the root");
        return Err(Fault::new(Code::NotFound, format!("{place}: no package that may be published")).suggest(
            "Name the package's folder as `package`; a package.json with `private: true` and a Cargo.toml with `publish = false` are not released, and a pyproject.toml needs a `[project]` with a name.",
        ));
    }
    let few: Vec<&str> = all.folders().filter(|folder| !folder.is_empty()).take(5).collect();
    let name_one = if few.is_empty() {
        "Name the `ecosystem`.".to_owned()
    } else {
        format!("Name one as `package`, such as {}.", few.join(", "))
    };
    if count > MAX_PACKAGES {
        let message = format!(
            "{count} packages may be published here, and at most {MAX_PACKAGES} are verified at once"
        );
        return Err(Fault::new(Code::TooLarge, message).suggest(name_one));
    }
    if asked.previous.is_some() && count > 1 {
        let message = format!("previous: it is the archive of one package, and {count} are meant");
        return Err(Fault::invalid(message).suggest(name_one));
    }
    Ok(all)
}
