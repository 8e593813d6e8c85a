//! What is judged of a project and of what was built of it before an index does.

use std::collections::BTreeSet;

use super::metadata::{Fields, VERSIONS};
use super::project::{License, Project, Source};
use super::sdist::Sdist;
use super::wheel::{Wheel, is_native, top_names};
use super::{archive, name, version};
use crate::check::{Check, Severity};
use crate::packed::Packed;
use crate::paths::NAMED;
use crate::spdx;
use crate::tree::{Kind, Tree, TreeError};

/// Most folders and files of a project that are looked at, and how deep.
const MAX_ENTRIES: usize = 100_000;
const MAX_DEPTH: usize = 64;

/// Words in pyproject.toml that are not PEP 621's.
const FIX_TABLE: &str = "Move it to `[project]` in pyproject.toml (PEP 621): every tool reads that.";

struct Judge<'p> {
    project: &'p Project,
}

impl Judge<'_> {
    fn failed(
        &self,
        id: &str,
        severity: Severity,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Check {
        Check::failed(id, severity, detail).fix(fix).about(self.project.source.file())
    }

    fn name(&self) -> Check {
        const ID: &str = "python.project.name";
        let said = &self.project.name;
        if self.project.is_dynamic("name") {
            return Check::passed(ID, "setup.py says the name");
        }
        if name::is_name(said) {
            return Check::passed(ID, format!("indexes take the name {said} (as {})", name::normal(said)));
        }
        self.failed(
            ID,
            Severity::Error,
            format!("indexes do not take the name {:?}", said.chars().take(80).collect::<String>()),
            "Name it in ASCII letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.",
        )
    }

    fn version(&self, asked: &semver::Version) -> Check {
        const ID: &str = "python.version.manifest";
        let wanted = version::of_semver(asked).map_or_else(|| asked.to_string(), |v| v.to_string());
        if version::of_semver(asked).is_none() {
            return self.failed(
                ID,
                Severity::Error,
                format!("{asked} is no version that Python has words for"),
                "Name pre-releases alpha, beta or rc with one number: 1.2.0-rc.1 is 1.2.0rc1 there (PEP 440).",
            );
        }
        if !asked.build.is_empty() {
            return self.failed(
                ID,
                Severity::Error,
                format!("PyPI refuses versions with a local part: {wanted}"),
                "Release it without what follows the `+`.",
            );
        }
        match &self.project.version {
            Some(said) if version::says(said, asked) => Check::passed(ID, format!("the project says {said}")),
            Some(said) => self.failed(
                ID,
                Severity::Error,
                format!(
                    "the project says {:?}; the release is {wanted}",
                    said.chars().take(80).collect::<String>()
                ),
                format!("Set `version` to {wanted}."),
            ),
            None if self.project.is_dynamic("version") => {
                Check::passed(ID, "the version is found out when it is built: what was built says it")
            }
            None => self.failed(
                ID,
                Severity::Error,
                "the project has no version, and does not say that its backend finds it out",
                format!("Set `version` to {wanted}, or name it in `dynamic`."),
            ),
        }
    }

    fn private(&self) -> Check {
        const ID: &str = "python.project.private";
        match self.project.classifiers.iter().find(|c| c.starts_with("Private ::")) {
            Some(classifier) => self.failed(
                ID,
                Severity::Error,
                format!("the project says `{classifier}`: PyPI refuses it"),
                "Take the classifier out, if it is to be published after all.",
            ),
            None => Check::passed(ID, "the project may be published"),
        }
    }

    fn license(&self, wheel: Option<&Wheel>) -> Check {
        const ID: &str = "python.project.license";
        let built = wheel.and_then(|w| w.metadata.text("License-Expression"));
        let classified: Vec<&String> =
            self.project.classifiers.iter().filter(|c| c.starts_with("License ::")).collect();
        let expression = match (&self.project.license, built) {
            (Some(License::Expression(text)), _) => Some(text.as_str()),
            (None, Some(text)) => Some(text),
            _ => None,
        };
        if let Some(text) = expression {
            if let Err(why) = spdx::check(text) {
                return self.failed(
                    ID,
                    Severity::Error,
                    format!("the licence {text:?} is no SPDX expression: {why}"),
                    "Write it as one, such as `MIT` or `MIT OR Apache-2.0` (PEP 639); other licences are `LicenseRef-…`.",
                );
            }
            if let Some(classifier) = classified.first() {
                return self.failed(
                    ID,
                    Severity::Warning,
                    format!("the licence is an expression ({text}), and there is the classifier `{classifier}` too"),
                    "Take the classifier out: setuptools stops at both (PEP 639).",
                );
            }
        }
        let has_text = wheel.is_none_or(|w| {
            w.packed.iter().any(|(path, _)| {
                let low = path.rsplit('/').next().unwrap_or(path).to_lowercase();
                path.starts_with(&w.dist_info)
                    && ["licen", "copying", "notice", "authors"].iter().any(|n| low.starts_with(n))
            })
        });
        if !has_text {
            return self.failed(
                ID,
                Severity::Note,
                "the text of the licence is not in the wheel",
                "Add a LICENSE file, and name it in `license-files`.",
            );
        }
        match (&self.project.license, expression) {
            (_, Some(text)) => Check::passed(ID, format!("the licence is {text}")),
            (Some(License::Words(text)), _) if spdx::check(text).is_ok() => {
                Check::passed(ID, format!("the licence is {text}"))
            }
            (Some(_), _) => Check::passed(ID, "the licence is said in words or a file"),
            (None, _) if !classified.is_empty() || self.project.is_dynamic("license") => {
                Check::passed(ID, "the licence is said by a classifier, or when it is built")
            }
            (None, _) => self.failed(
                ID,
                Severity::Warning,
                "there is no licence: nobody may use the package",
                "Say it in `license` as an SPDX expression, such as MIT.",
            ),
        }
    }

    fn described(&self, wheel: Option<&Wheel>) -> Check {
        const ID: &str = "python.project.described";
        let built = |field: &str| wheel.is_some_and(|w| w.metadata.text(field).is_some());
        let mut missing = Vec::new();
        if self.project.description.is_none() && !built("Summary") {
            missing.push("`description`");
        }
        let has_words = wheel.is_some_and(|w| !w.metadata.body.trim().is_empty()) || built("Description");
        if self.project.readme.is_none() && !has_words {
            missing.push("`readme`");
        }
        if self.project.repository().is_none() && !built("Project-URL") && !built("Home-page") {
            missing.push("an address in `urls`");
        }
        if missing.is_empty() {
            return Check::passed(ID, "people can see what it is and where it comes from");
        }
        self.failed(
            ID,
            Severity::Note,
            format!("the project's page will lack {}", missing.join(", ")),
            "Add what is missing: people decide by it, and provenance needs the repository.",
        )
    }

    fn requires_python(&self) -> Check {
        const ID: &str = "python.project.requires-python";
        match self.project.requires_python.as_deref() {
            Some(text) => match version::specifiers(text) {
                Some(ranges) if ranges.iter().any(|r| r.to_string().starts_with('<')) => self.failed(
                    ID,
                    Severity::Note,
                    format!("`requires-python` ends ({text}): on a newer Python people get an older release, or none"),
                    "Leave out the upper end: what breaks can be said when it is known.",
                ),
                Some(_) => Check::passed(ID, format!("it takes Python {text}")),
                None => self.failed(
                    ID,
                    Severity::Error,
                    format!("`requires-python` is no range of versions: {text:?}"),
                    "Write one as in `>=3.10` (PEP 440).",
                ),
            },
            None if self.project.is_dynamic("requires-python") || self.project.source != Source::Project => {
                Check::passed(ID, "which Pythons it takes is known when it is built")
            }
            None => self.failed(
                ID,
                Severity::Warning,
                "`requires-python` does not say which Pythons it takes: installers try it on all",
                "Say it, as in `>=3.10`.",
            ),
        }
    }

    fn dependencies(&self) -> Vec<Check> {
        const ADDRESSES: &str = "python.dependencies.addresses";
        const NAMES: &str = "python.dependencies.names";
        let (mut addresses, mut broken) = (Vec::new(), Vec::new());
        for (text, _) in &self.project.dependencies {
            let shown: String = text.chars().take(120).collect();
            match name::of_requirement(text) {
                None => broken.push(shown),
                Some((_, rest)) => {
                    let rest = rest
                        .strip_prefix('[')
                        .and_then(|r| r.split_once(']'))
                        .map_or(rest, |(_, r)| r.trim_start());
                    if rest.starts_with('@') {
                        addresses.push(shown);
                    } else if !(rest.is_empty() || rest.starts_with(['<', '>', '=', '!', '~', ';', '('])) {
                        broken.push(shown);
                    } else {
                        let range =
                            rest.split(';').next().unwrap_or_default().trim().trim_matches(['(', ')']);
                        if !range.is_empty() && !range.contains("===") && version::specifiers(range).is_none()
                        {
                            broken.push(shown);
                        }
                    }
                }
            }
        }
        let addresses = if addresses.is_empty() {
            Check::passed(ADDRESSES, "every dependency is asked for by name")
        } else {
            self.failed(
                ADDRESSES,
                Severity::Error,
                format!("PyPI refuses dependencies by address: {}", addresses.join(", ")),
                "Name a version of the index, and keep addresses to groups that are not published (PEP 735).",
            )
        };
        let broken = if broken.is_empty() {
            Check::passed(NAMES, "every dependency is written as installers read it")
        } else {
            self.failed(
                NAMES,
                Severity::Error,
                format!("these are no requirements: {}", broken.join(", ")),
                "Write a name and a range, as in `httpx>=0.27` (PEP 508).",
            )
        };
        vec![addresses, broken]
    }

    fn backend(&self) -> Check {
        const ID: &str = "python.project.backend";
        match (&self.project.requires, &self.project.backend) {
            (Some(_), Some(backend)) => Check::passed(ID, format!("{backend} builds it")),
            (Some(_), None) => self.failed(
                ID,
                Severity::Warning,
                "`[build-system]` names no build-backend: the old one of setuptools is taken",
                "Name it, as in `build-backend = \"setuptools.build_meta\"` (PEP 517).",
            ),
            _ => self.failed(
                ID,
                Severity::Warning,
                "there is no `[build-system]`: it is built with whatever setuptools is there",
                "Say in pyproject.toml what builds it (PEP 518).",
            ),
        }
    }

    fn table(&self) -> Check {
        const ID: &str = "python.project.table";
        match self.project.source {
            Source::Project => {
                let both: Vec<&str> = [
                    ("version", self.project.version.is_some()),
                    ("description", self.project.description.is_some()),
                    ("readme", self.project.readme.is_some()),
                    ("requires-python", self.project.requires_python.is_some()),
                    ("license", self.project.license.is_some()),
                    ("classifiers", !self.project.classifiers.is_empty()),
                ]
                .into_iter()
                .filter(|(field, said)| *said && self.project.is_dynamic(field))
                .map(|(field, _)| field)
                .collect();
                if both.is_empty() && !self.project.is_dynamic("name") {
                    return Check::passed(ID, "pyproject.toml says it as PEP 621 has it");
                }
                self.failed(
                    ID,
                    Severity::Error,
                    format!(
                        "said and named in `dynamic` too: {}",
                        if both.is_empty() { "name".to_owned() } else { both.join(", ") }
                    ),
                    "Take the field out of `dynamic`: backends refuse both.",
                )
            }
            Source::SetupPy => self.failed(
                ID,
                Severity::Note,
                "setup.py alone says what it is, and is a program: only what it builds is looked at",
                FIX_TABLE,
            ),
            Source::Poetry | Source::SetupCfg => self.failed(
                ID,
                Severity::Note,
                format!("{} says what it is in words of one tool", self.project.source.file()),
                FIX_TABLE,
            ),
        }
    }
}

/// Checks what a project says of itself, to be released as `asked`; with its wheel, where one was built.
pub fn project(project: &Project, wheel: Option<&Wheel>, asked: &semver::Version) -> Vec<Check> {
    let judge = Judge { project };
    let mut checks = vec![
        judge.table(),
        judge.name(),
        judge.version(asked),
        judge.private(),
        judge.license(wheel),
        judge.described(wheel),
        judge.requires_python(),
        judge.backend(),
    ];
    checks.extend(judge.dependencies());
    checks
}

/// Checks the metadata of what was built (`METADATA` of a wheel, `PKG-INFO` of a source distribution) against the project. `of` is
/// `wheel` or `sdist`.
pub fn metadata(of: &str, fields: &Fields, project: &Project, asked: &semver::Version) -> Check {
    let id = format!("python.{of}.says");
    let mut wrong = Vec::new();
    let get = |field: &str| fields.get(field).unwrap_or_default();
    let format = get("Metadata-Version");
    if !VERSIONS.contains(&format) {
        wrong.push(format!("version {format:?} of the format is not known"));
    }
    let said = get("Name");
    if !name::is_name(said) || (!project.name.is_empty() && name::normal(said) != name::normal(&project.name))
    {
        wrong.push(format!("it is called {said:?}, and the project {:?}", project.name));
    }
    if !version::says(get("Version"), asked) {
        let wanted = version::of_semver(asked).map_or_else(|| asked.to_string(), |v| v.to_string());
        wrong.push(format!("it says version {:?}, and the release is {wanted}", get("Version")));
    }
    if let (Some(project), Some(built)) = (&project.requires_python, fields.text("Requires-Python")) {
        let same = version::specifiers(project).zip(version::specifiers(built)).is_some_and(|(a, b)| {
            let set =
                |s: &version::VersionSpecifiers| s.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
            set(&a) == set(&b)
        });
        if !same {
            wrong.push(format!("it takes Python {built}, and the project {project}"));
        }
    }
    let addressed: Vec<&str> = fields
        .all("Requires-Dist")
        .filter(|text| {
            name::of_requirement(text).is_some_and(|(_, rest)| {
                let rest = rest
                    .strip_prefix('[')
                    .and_then(|r| r.split_once(']'))
                    .map_or(rest, |(_, r)| r.trim_start());
                rest.starts_with('@')
            })
        })
        .collect();
    if !addressed.is_empty() {
        wrong.push(format!("it asks for addresses, which PyPI refuses: {}", addressed.join(", ")));
    }
    if let Some(expression) = fields.text("License-Expression")
        && let Err(why) = spdx::check(expression)
    {
        wrong.push(format!("its licence {expression:?} is no SPDX expression: {why}"));
    }
    if wrong.is_empty() {
        return Check::passed(id, format!("it says that it is {said} {}", get("Version")));
    }
    Check::failed(id, Severity::Error, wrong.join("; "))
        .fix("Build it again from what is released, and mend the project where it says so.")
}

/// The Python files below a folder of the project.
fn sources(tree: &dyn Tree, folder: &str) -> Result<BTreeSet<String>, TreeError> {
    let (mut found, mut seen) = (BTreeSet::new(), 0_usize);
    let mut open = vec![(folder.to_owned(), 0_usize)];
    while let Some((folder, depth)) = open.pop() {
        for entry in tree.entries(&folder)? {
            seen += 1;
            if seen > MAX_ENTRIES {
                return Err(TreeError {
                    path: folder,
                    why: format!("there are more than {MAX_ENTRIES} files"),
                });
            }
            let path =
                if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
            match entry.kind {
                Kind::Folder
                    if depth < MAX_DEPTH && entry.name != "__pycache__" && !entry.name.starts_with('.') =>
                {
                    open.push((path, depth + 1));
                }
                Kind::File { .. } if is_module(&entry.name) => {
                    found.insert(path);
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

fn is_module(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && matches!(end, "py" | "pyi"))
}

/// Where projects keep their packages.
const ROOTS: [&str; 4] = ["src", "", "lib", "python"];

/// Whether the wheel's modules are the project's: those of the tree that are not packed are a warning, as are those of the wheel
/// that the source distribution lacks; what only the wheel has was generated.
pub fn modules(tree: &dyn Tree, wheel: &Wheel, sdist: Option<&Sdist>) -> Result<Vec<Check>, TreeError> {
    const ID: &str = "python.wheel.modules";
    let (mut lost, mut generated, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for top in top_names(&wheel.packed) {
        let join =
            |root: &str, name: &str| if root.is_empty() { name.to_owned() } else { format!("{root}/{name}") };
        let mut place = None;
        for root in ROOTS {
            let (folder, file) = (join(root, &top), join(root, &format!("{top}.py")));
            if tree.kind(&folder)? == Some(Kind::Folder) && !sources(tree, &folder)?.is_empty()
                || tree.read(&file)?.is_some()
            {
                place = Some(root);
                break;
            }
        }
        let Some(root) = place else {
            unknown.push(top);
            continue;
        };
        let strip = |path: String| {
            if root.is_empty() {
                path
            } else {
                path.trim_start_matches(root).trim_start_matches('/').to_owned()
            }
        };
        let ours: BTreeSet<String> = sources(tree, &join(root, &top))?.into_iter().map(strip).collect();
        let packed: BTreeSet<String> = packed_modules(&wheel.packed, &top);
        let is_test = |path: &String| {
            path.split('/').any(|part| matches!(part, "tests" | "test" | "testing" | "conftest.py"))
        };
        lost.extend(ours.difference(&packed).filter(|path| !is_test(path)).cloned());
        for path in packed.difference(&ours) {
            if tree.read(&join(root, path))?.is_none() {
                generated.push(path.clone());
            }
        }
    }
    let mut check = if lost.is_empty() {
        let mut said = format!(
            "every module of {} is packed",
            top_names(&wheel.packed).into_iter().take(NAMED).collect::<Vec<_>>().join(", ")
        );
        if !generated.is_empty() {
            said.push_str(&format!(
                "; {} were made by the build: {}",
                generated.len(),
                shortened(&generated)
            ));
        }
        if !unknown.is_empty() {
            said.push_str(&format!("; where {} come from was not found", shortened(&unknown)));
        }
        Check::passed(ID, said)
    } else {
        Check::failed(ID, Severity::Warning, format!("{} modules of the project are not in the wheel", lost.len())).fix(
            "Tell the backend of them: packages without `__init__.py`, and those that are named one by one, are forgotten easily.",
        )
    };
    check.files = lost.into_iter().take(NAMED).collect();
    let mut checks = vec![check];
    if let Some(sdist) = sdist {
        checks.push(rebuilt(wheel, sdist, &generated));
    }
    Ok(checks)
}

fn shortened(list: &[String]) -> String {
    list.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn packed_modules(packed: &Packed, top: &str) -> BTreeSet<String> {
    let inside = format!("{top}/");
    packed.below(&inside).map(|(path, _)| path).filter(|path| is_module(path)).map(str::to_owned).collect()
}

/// Whether the source distribution has what the wheel is made of.
fn rebuilt(wheel: &Wheel, sdist: &Sdist, generated: &[String]) -> Check {
    const ID: &str = "python.sdist.modules";
    let there: BTreeSet<&str> = sdist.packed.iter().map(|(path, _)| path).collect();
    let has = |path: &str| {
        ROOTS.iter().any(|root| {
            let whole = if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") };
            there.contains(whole.as_str())
        }) || there.iter().any(|own| own.ends_with(&format!("/{path}")))
    };
    let lost: Vec<String> = wheel
        .packed
        .iter()
        .map(|(path, _)| path)
        .filter(|path| is_module(path) && !path.contains(".dist-info/") && !path.contains(".data/"))
        .filter(|path| !has(path) && !generated.iter().any(|own| own == path))
        .map(str::to_owned)
        .collect();
    if lost.is_empty() {
        return Check::passed(ID, "the source distribution has what the wheel is made of");
    }
    let mut check = Check::failed(
        ID,
        Severity::Warning,
        format!("{} modules of the wheel are not in the source distribution", lost.len()),
    )
    .fix("Pack them: who builds from source gets another package otherwise.");
    check.files = lost.into_iter().take(NAMED).collect();
    check
}

/// Whether two builds gave the same bytes; `of` is `wheel` or `sdist`. Backends may put times into archives: with
/// [`super::build::ENVIRONMENT`] set none should.
pub fn twice(of: &str, first: &[u8], second: &[u8]) -> Check {
    let id = format!("python.{of}.twice");
    if first == second {
        return Check::passed(id, format!("built twice, the same bytes: sha256 {}", crate::sha256(first)));
    }
    let read = |bytes: &[u8]| -> Option<Packed> {
        if of == "wheel" {
            archive::read(bytes, &archive::LIMITS).ok()
        } else {
            crate::targz::read(bytes, None, &archive::LIMITS).ok().map(|(_, packed)| packed)
        }
    };
    let differ: Vec<String> = match (read(first), read(second)) {
        (Some(first), Some(second)) => {
            let paths: BTreeSet<&str> = first.iter().chain(second.iter()).map(|(path, _)| path).collect();
            paths
                .into_iter()
                .filter(|path| first.file(path) != second.file(path))
                .map(str::to_owned)
                .collect()
        }
        _ => vec!["the archive".to_owned()],
    };
    const FIX: &str = "Use a backend that keeps to SOURCE_DATE_EPOCH, and let what is generated have no times and no order of chance.";
    const NATIVE: &str = "Build what is published once, by cibuildwheel or with auditwheel behind it; the same bytes again need flags of the compiler such as `-ffile-prefix-map`.";
    // RECORD has the digest of every other file.
    let is_record = |path: &String| path.ends_with(".dist-info/RECORD");
    let native = differ.iter().filter(|path| is_native(path)).count();
    let (severity, detail, fix) = if differ.is_empty() {
        let detail = "built twice, the files are the same, and their times or their order are not";
        (Severity::Warning, detail.to_owned(), FIX)
    } else if of == "wheel" && native > 0 && differ.iter().all(|path| is_native(path) || is_record(path)) {
        let detail = format!("built twice, {native} files of a compiler were not the same");
        (Severity::Warning, detail, NATIVE)
    } else {
        (Severity::Error, format!("built twice, {} files were not the same", differ.len()), FIX)
    };
    let mut check = Check::failed(id, severity, detail).fix(fix);
    check.files = differ.into_iter().take(NAMED).collect();
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::archive::tests::zipped;
    use crate::python::project::read;
    use crate::python::wheel::tests::wheel_of;
    use crate::tree::MapTree;

    const GOOD: &str = "[build-system]\nrequires=['hatchling']\nbuild-backend='hatchling.build'\n[project]\nname='acme-ui'\nversion='1.2.3'\ndescription='d'\n\
        readme='README.md'\nlicense='MIT'\nrequires-python='>=3.10'\ndependencies=['httpx>=0.27']\n[project.urls]\nRepository='https://example.com/x'\n";

    fn asked() -> semver::Version {
        semver::Version::new(1, 2, 3)
    }

    fn failures(text: &str) -> Vec<(String, Severity)> {
        let read = read(&MapTree::new().with("pyproject.toml", text)).unwrap();
        project(&read, None, &asked()).into_iter().filter(|c| !c.passed).map(|c| (c.id, c.severity)).collect()
    }

    #[test]
    fn each_field_that_hurts_users_is_found() {
        use Severity::{Error, Note, Warning};
        assert_eq!(failures(GOOD), []);
        for (from, to, id, severity) in [
            ("name='acme-ui'", "name='-x'", "python.project.name", Error),
            ("version='1.2.3'", "version='1.2.4'", "python.version.manifest", Error),
            ("version='1.2.3'", "", "python.version.manifest", Error),
            ("version='1.2.3'", "version='1.2.3'\ndynamic=['version']", "python.project.table", Error),
            ("license='MIT'", "", "python.project.license", Warning),
            ("license='MIT'", "license='MITT'", "python.project.license", Error),
            (
                "license='MIT'",
                "license='MIT'\nclassifiers=['License :: OSI Approved :: MIT License']",
                "python.project.license",
                Warning,
            ),
            (
                "license='MIT'",
                "license='MIT'\nclassifiers=['Private :: Do Not Upload']",
                "python.project.private",
                Error,
            ),
            ("description='d'", "", "python.project.described", Note),
            ("requires-python='>=3.10'", "", "python.project.requires-python", Warning),
            (
                "requires-python='>=3.10'",
                "requires-python='3.10 up'",
                "python.project.requires-python",
                Error,
            ),
            (
                "requires-python='>=3.10'",
                "requires-python='>=3.10,<4'",
                "python.project.requires-python",
                Note,
            ),
            (
                "['httpx>=0.27']",
                "['httpx @ git+https://example.com/x']",
                "python.dependencies.addresses",
                Error,
            ),
            (
                "['httpx>=0.27']",
                "['httpx[a] @ https://example.com/x']",
                "python.dependencies.addresses",
                Error,
            ),
            ("['httpx>=0.27']", "['httpx 0.27']", "python.dependencies.names", Error),
            ("['httpx>=0.27']", "['-e .']", "python.dependencies.names", Error),
            ("['httpx>=0.27']", "['httpx>=x']", "python.dependencies.names", Error),
            ("build-backend='hatchling.build'", "", "python.project.backend", Warning),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            assert_eq!(failures(&text), [(id.to_owned(), severity)], "{to}");
        }
        for fine in
            ["['a']", "['a>=1,<2; python_version<\"3\"']", "['a[b,c]~=1.0']", "['a (>=1)']", "['a===odd']"]
        {
            assert_eq!(failures(&GOOD.replace("['httpx>=0.27']", fine)), [], "{fine}");
        }
        assert_eq!(failures(&GOOD.replace("version='1.2.3'", "dynamic=['version']")), []);
    }

    #[test]
    fn what_was_built_says_what_the_project_says() {
        let project = read(&MapTree::new().with("pyproject.toml", GOOD)).unwrap();
        let says =
            |text: &str| metadata("wheel", &Fields::read(text.as_bytes()).unwrap(), &project, &asked());
        assert!(
            says("Metadata-Version: 2.4\nName: Acme_UI\nVersion: 1.2.3\nRequires-Python: >=3.10\n").passed
        );
        for bad in [
            "Metadata-Version: 9\nName: acme-ui\nVersion: 1.2.3\n",
            "Metadata-Version: 2.4\nName: other\nVersion: 1.2.3\n",
            "Metadata-Version: 2.4\nName: acme-ui\nVersion: 1.2.4\n",
            "Metadata-Version: 2.4\nName: acme-ui\nVersion: 1.2.3\nRequires-Python: >=3.9\n",
            "Metadata-Version: 2.4\nName: acme-ui\nVersion: 1.2.3\nRequires-Dist: a @ https://x\n",
            "Metadata-Version: 2.4\nName: acme-ui\nVersion: 1.2.3\nLicense-Expression: MITT\n",
        ] {
            assert!(!says(bad).passed, "{bad}");
        }
    }

    #[test]
    fn modules_that_were_forgotten_are_found() {
        let wheel = wheel_of(
            "acme_ui-1.2.3-py3-none-any.whl",
            &[("acme_ui/__init__.py", ""), ("acme_ui/_version.py", "")],
            "",
        )
        .unwrap();
        let tree = MapTree::new()
            .with("src/acme_ui/__init__.py", "")
            .with("src/acme_ui/deep/one.py", "")
            .with("src/acme_ui/tests/t.py", "");
        let found = modules(&tree, &wheel, None).unwrap();
        assert_eq!(
            (found[0].passed, found[0].files.as_slice()),
            (false, &["acme_ui/deep/one.py".to_owned()][..])
        );
        let tree = MapTree::new().with("acme_ui/__init__.py", "");
        let sdist = crate::python::sdist::read(
            "acme_ui-1.2.3.tar.gz",
            &crate::targz::tests::archive(&[
                ("acme_ui-1.2.3/PKG-INFO", b""),
                ("acme_ui-1.2.3/acme_ui/other.py", b""),
            ]),
        )
        .unwrap();
        let found = modules(&tree, &wheel, Some(&sdist)).unwrap();
        assert!(found[0].passed && found[0].detail.contains("_version.py"), "{found:?}");
        assert_eq!(found[1].files, ["acme_ui/__init__.py"]);
    }

    #[test]
    fn builds_that_differ_say_where() {
        let (one, other) = (zipped(&[("a", b"1"), ("b", b"1")]), zipped(&[("a", b"1"), ("b", b"2")]));
        assert!(twice("wheel", &one, &one).passed);
        assert_eq!(twice("wheel", &one, &other).files, ["b"]);
        let built = |code: &[u8], python: &[u8]| {
            zipped(&[("a/_c.so", code), ("a/__init__.py", python), ("a-1.dist-info/RECORD", code)])
        };
        let found = twice("wheel", &built(b"1", b""), &built(b"2", b""));
        assert_eq!((found.severity, found.files.len()), (Severity::Warning, 2));
        assert!(found.fix.is_some_and(|fix| fix.contains("auditwheel") && fix.contains("cibuildwheel")));
        assert_eq!(twice("wheel", &built(b"1", b"1"), &built(b"2", b"2")).severity, Severity::Error);
        let record = |text: &[u8]| zipped(&[("a/_c.so", b""), ("a-1.dist-info/RECORD", text)]);
        assert_eq!(
            twice("wheel", &record(b"1"), &record(b"2")).severity,
            Severity::Error,
            "none of a compiler"
        );
        let turned = zipped(&[("b", b"1"), ("a", b"1")]);
        assert_eq!(twice("wheel", &one, &turned).severity, Severity::Warning);
    }
}
