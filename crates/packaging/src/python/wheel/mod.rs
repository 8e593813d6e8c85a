//! Wheels ([the binary distribution format](https://packaging.python.org/en/latest/specifications/binary-distribution-format/)):
//! read, and held against what they say of themselves.

mod record;

use std::collections::BTreeSet;

use pep440_rs::Version;

use self::record::record;
use super::archive::{self, ArchiveError, LIMITS};
use super::metadata::Fields;
use super::{name, version};
use crate::check::{Check, Severity};
use crate::packed::Packed;
use crate::paths::NAMED;

/// The parts of a wheel's file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName {
    /// The distribution, as it is spelled.
    pub distribution: String,
    /// The version, as it is spelled.
    pub version: String,
    /// The build number, where there is one.
    pub build: Option<String>,
    /// Tags for Pythons, ABIs and platforms, each by dots.
    pub python: String,
    /// See `python`.
    pub abi: String,
    /// See `python`.
    pub platform: String,
}

/// A wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wheel {
    /// What its name says.
    pub file: FileName,
    /// Its files.
    pub packed: Packed,
    /// The folder `NAME-VERSION.dist-info`.
    pub dist_info: String,
    /// `METADATA`.
    pub metadata: Fields,
    /// `WHEEL`.
    pub about: Fields,
}

/// Why a wheel could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WheelError {
    /// Its name is no wheel's.
    #[error("{0:?} is no name of a wheel: it is NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl")]
    Name(String),
    /// The archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// What every wheel has is missing.
    #[error("the wheel has no {0}, or it cannot be read")]
    Missing(String),
    /// There are several `.dist-info` folders.
    #[error("the wheel has several .dist-info folders: {0}")]
    Several(String),
}

/// Reads a file name.
pub fn file_name(text: &str) -> Option<FileName> {
    let stem = text.strip_suffix(".whl")?;
    let parts: Vec<&str> = stem.split('-').collect();
    let (distribution, version, build, [python, abi, platform]) = match parts.as_slice() {
        [name, version, python, abi, platform] => (name, version, None, [python, abi, platform]),
        [name, version, build, python, abi, platform] => {
            (name, version, Some(build), [python, abi, platform])
        }
        _ => return None,
    };
    let tag = |text: &str| {
        !text.is_empty()
            && text
                .split('.')
                .all(|t| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    };
    let fits = name::is_name(distribution)
        && version::parse(version).is_some()
        && build.is_none_or(|b| b.starts_with(|c: char| c.is_ascii_digit()))
        && [python, abi, platform].iter().all(|t| tag(t));
    fits.then(|| FileName {
        distribution: (*distribution).to_owned(),
        version: (*version).to_owned(),
        build: build.map(|b| (*b).to_owned()),
        python: (*python).to_owned(),
        abi: (*abi).to_owned(),
        platform: (*platform).to_owned(),
    })
}

impl FileName {
    /// The tags that it stands for: `py2.py3-none-any` is two.
    pub fn tags(&self) -> BTreeSet<String> {
        let mut tags = BTreeSet::new();
        for python in self.python.split('.') {
            for abi in self.abi.split('.') {
                for platform in self.platform.split('.') {
                    tags.insert(format!("{python}-{abi}-{platform}"));
                }
            }
        }
        tags
    }
}

/// Reads a wheel.
pub fn read(file: &str, bytes: &[u8]) -> Result<Wheel, WheelError> {
    let parts = file_name(file).ok_or_else(|| WheelError::Name(file.chars().take(200).collect()))?;
    let packed = archive::read(bytes, &LIMITS)?;
    let folders: BTreeSet<&str> = packed
        .iter()
        .filter_map(|(path, _)| path.split_once('/').map(|(top, _)| top))
        .filter(|top| top.ends_with(".dist-info"))
        .collect();
    let mut all = folders.iter();
    let dist_info = match (all.next(), all.next()) {
        (Some(one), None) => (*one).to_owned(),
        (None, _) => return Err(WheelError::Missing(".dist-info folder".to_owned())),
        _ => return Err(WheelError::Several(folders.into_iter().collect::<Vec<_>>().join(", "))),
    };
    let fields = |of: &str| {
        let path = format!("{dist_info}/{of}");
        packed.get(&path).and_then(Fields::read).ok_or(WheelError::Missing(path))
    };
    let (metadata, about) = (fields("METADATA")?, fields("WHEEL")?);
    Ok(Wheel { file: parts, dist_info: dist_info.clone(), metadata, about, packed })
}

fn failed(id: &str, severity: Severity, detail: impl Into<String>, fix: &str) -> Check {
    Check::failed(id, severity, detail).fix(fix)
}

fn about(mut check: Check, files: impl IntoIterator<Item = String>) -> Check {
    check.files = files.into_iter().take(NAMED).collect();
    check
}

/// Checks what a wheel says of itself.
pub fn check(wheel: &Wheel) -> Vec<Check> {
    vec![
        named(wheel),
        record(wheel),
        tags(wheel),
        data(wheel),
        top_level(wheel),
        typed(wheel),
        entry_points(wheel),
    ]
}

fn same_version(one: &str, other: &str) -> bool {
    match (version::parse(one), version::parse(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

fn named(wheel: &Wheel) -> Check {
    const ID: &str = "python.wheel.name";
    let FileName { distribution, version: said, .. } = &wheel.file;
    let stem = wheel.dist_info.trim_end_matches(".dist-info");
    let (inner, inner_version) = stem.rsplit_once('-').unwrap_or((stem, ""));
    if name::normal(inner) != name::normal(distribution) || !same_version(inner_version, said) {
        return failed(
            ID,
            Severity::Error,
            format!("the wheel is called {distribution}-{said}, and its folder {}", wheel.dist_info),
            "Build it again: installers refuse it as it is.",
        );
    }
    let plain = said.parse::<Version>().map_or_else(|_| said.clone(), |v| v.to_string());
    if *distribution != name::in_file(distribution) || *said != plain {
        return failed(
            ID,
            Severity::Warning,
            format!(
                "the wheel is called {distribution}-{said}, and should be {}-{plain}",
                name::in_file(distribution)
            ),
            "Use a newer build backend: indexes have begun to refuse names that are not normal.",
        );
    }
    Check::passed(ID, format!("it is called {distribution}-{said} in all places"))
}

/// Files that run on one platform alone.
pub(crate) fn is_native(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".so", ".pyd", ".dylib", ".dll"].iter().any(|end| name.ends_with(end)) || name.contains(".so.")
}

fn tags(wheel: &Wheel) -> Check {
    const ID: &str = "python.wheel.tags";
    const FIX: &str = "Build the wheel again with its backend; of wheels for Linux, auditwheel or cibuildwheel gives the platform.";
    let format = wheel.about.get("Wheel-Version").unwrap_or_default();
    if format.split('.').next() != Some("1") {
        return failed(
            ID,
            Severity::Error,
            format!("WHEEL says version {format:?} of the format; 1.0 is known"),
            FIX,
        );
    }
    let said: BTreeSet<String> = wheel.about.all("Tag").map(str::to_owned).collect();
    let named = wheel.file.tags();
    if said != named {
        let list = |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let detail = format!("the name stands for {}, and WHEEL says {}", list(&named), list(&said));
        return failed(ID, Severity::Error, detail, FIX);
    }
    let build = wheel.about.text("Build").map(str::to_owned);
    if build != wheel.file.build {
        return failed(ID, Severity::Error, "the build number of the name is not the one in WHEEL", FIX);
    }
    let is_any = wheel.file.platform == "any";
    let native: Vec<String> =
        wheel.packed.iter().map(|(path, _)| path).filter(|p| is_native(p)).map(str::to_owned).collect();
    if is_any && !native.is_empty() {
        return about(
            failed(
                ID,
                Severity::Error,
                "it says that it runs anywhere, and holds files for one platform",
                FIX,
            ),
            native,
        );
    }
    let pure = wheel.about.get("Root-Is-Purelib").unwrap_or_default();
    if !["true", "false"].contains(&pure.to_lowercase().as_str()) {
        return failed(
            ID,
            Severity::Error,
            "WHEEL does not say where it is installed (Root-Is-Purelib)",
            FIX,
        );
    }
    // No backend names another by itself, and the source distribution beside it is fine.
    if let Some(platform) = wheel.file.platform.split('.').find(|p| p.starts_with("linux_")) {
        return failed(
            ID,
            Severity::Warning,
            format!(
                "PyPI refuses wheels for {platform}: it does not say for which Linux. The source distribution can be published, this wheel cannot"
            ),
            "Publish wheels that cibuildwheel builds, or let auditwheel repair this one (`auditwheel repair`).",
        );
    }
    Check::passed(ID, format!("it is for {}-{}-{}", wheel.file.python, wheel.file.abi, wheel.file.platform))
}

/// Folders of `NAME-VERSION.data` that installers know.
const KINDS: [&str; 5] = ["purelib", "platlib", "headers", "scripts", "data"];

fn data(wheel: &Wheel) -> Check {
    const ID: &str = "python.wheel.data";
    let own = format!("{}.data", wheel.dist_info.trim_end_matches(".dist-info"));
    let mut bad = Vec::new();
    for (path, _) in wheel.packed.iter() {
        let mut parts = path.split('/');
        let (top, kind) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if top.ends_with(".data") && (top != own || !KINDS.contains(&kind)) {
            bad.push(path.to_owned());
        }
    }
    if bad.is_empty() {
        return Check::passed(ID, "every file has a place where it is installed");
    }
    let detail = format!("{} files are in `.data` folders that installers do not know", bad.len());
    about(
        failed(
            ID,
            Severity::Error,
            detail,
            "Their folder is NAME-VERSION.data, and in it purelib, platlib, headers, scripts or data.",
        ),
        bad,
    )
}

/// The names that an import can begin with: packages and modules at the wheel's top.
pub fn top_names(packed: &Packed) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (path, _) in packed.iter() {
        match path.split_once('/') {
            Some((top, rest)) => {
                let is_code = [".py", ".pyi", ".so", ".pyd"].iter().any(|end| rest.ends_with(end));
                if is_code && !top.ends_with(".dist-info") && !top.ends_with(".data") {
                    names.insert(top.to_owned());
                }
            }
            None => {
                let stem = path.split('.').next().unwrap_or(path);
                if [".py", ".pyi", ".so", ".pyd"].iter().any(|end| path.ends_with(end)) {
                    names.insert(stem.to_owned());
                }
            }
        }
    }
    names
}

fn top_level(wheel: &Wheel) -> Check {
    const ID: &str = "python.wheel.top-level";
    let names = top_names(&wheel.packed);
    let of = |words: &[&str]| -> Vec<String> {
        names.iter().filter(|n| words.contains(&n.as_str())).cloned().collect()
    };
    let stray = of(&[
        "test",
        "tests",
        "testing",
        "doc",
        "docs",
        "example",
        "examples",
        "benchmarks",
        "scripts",
        "build",
        "dist",
        "tools",
    ]);
    let src = of(&["src", "setup", "conftest"]);
    if !src.is_empty() {
        return about(
            failed(
                ID,
                Severity::Error,
                format!("it installs {} beside all other packages of its users", src.join(", ")),
                "Tell the backend where the packages are (`where = [\"src\"]`), and leave out what builds and tests.",
            ),
            src,
        );
    }
    if !stray.is_empty() && stray.len() < names.len() {
        return about(
            failed(
                ID,
                Severity::Warning,
                format!("it installs {} beside all other packages of its users", stray.join(", ")),
                "Name the packages that are to be installed: others with such a package overwrite these files.",
            ),
            stray,
        );
    }
    if names.is_empty() {
        return failed(
            ID,
            Severity::Note,
            "nothing in it can be imported",
            "Nothing, if it is only there for what it needs or for its programs; else tell the backend where the packages are.",
        );
    }
    Check::passed(ID, format!("it gives {}", names.into_iter().take(NAMED).collect::<Vec<_>>().join(", ")))
}

fn typed(wheel: &Wheel) -> Check {
    const ID: &str = "python.wheel.typed";
    let mut untyped = BTreeSet::new();
    for (path, _) in wheel.packed.iter() {
        let Some((top, rest)) = path.split_once('/') else { continue };
        // Packages of stubs alone say so by their name (PEP 561).
        if !rest.ends_with(".pyi")
            || top.ends_with("-stubs")
            || top.ends_with(".dist-info")
            || top.ends_with(".data")
        {
            continue;
        }
        let marked = path.match_indices('/').any(|(at, _)| {
            path.get(..at).is_some_and(|folder| wheel.packed.has(&format!("{folder}/py.typed")))
        });
        if !marked {
            untyped.insert(top.to_owned());
        }
    }
    if untyped.is_empty() {
        return Check::passed(ID, "types are where checkers look for them");
    }
    let names: Vec<String> = untyped.into_iter().collect();
    about(
        failed(
            ID,
            Severity::Warning,
            format!("type checkers ignore the types of {}: there is no py.typed", names.join(", ")),
            "Add an empty file `py.typed` to the package, and pack it (PEP 561).",
        ),
        names,
    )
}

/// The entries of `entry_points.txt`: group, name, target.
pub fn entries(wheel: &Wheel) -> Vec<(String, String, String)> {
    let text = wheel.packed.text(&format!("{}/entry_points.txt", wheel.dist_info)).unwrap_or_default();
    let (mut group, mut found) = (String::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.trim().clone_into(&mut group);
        } else if let Some((name, target)) = line.split_once('=') {
            found.push((group.clone(), name.trim().to_owned(), target.trim().to_owned()));
        }
    }
    found
}

/// Whether a module is in the wheel, as far as its files tell.
pub fn has_module(packed: &Packed, module: &str) -> bool {
    let path = module.replace('.', "/");
    let starts = format!("{path}.");
    packed.has_folder(&path)
        || packed.below(&starts).any(|(file, _)| {
            let rest = file.get(starts.len()..).unwrap_or_default();
            !rest.contains('/')
                && ["py", "so", "pyd", "pyi"]
                    .iter()
                    .any(|end| rest == *end || rest.ends_with(&format!(".{end}")))
        })
}

fn entry_points(wheel: &Wheel) -> Check {
    const ID: &str = "python.wheel.entry-points";
    let tops = top_names(&wheel.packed);
    let mut bad = Vec::new();
    let entries = entries(wheel);
    for (_, name, target) in &entries {
        let module = target.split(['[', ':']).next().unwrap_or_default().trim();
        let top = module.split('.').next().unwrap_or_default();
        let is_word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
        // What is another distribution's is not in here.
        let lost = tops.contains(top) && !has_module(&wheel.packed, module);
        if !module.split('.').all(is_word) || lost {
            bad.push(format!("{name} = {target}"));
        }
    }
    if bad.is_empty() {
        return Check::passed(ID, format!("{} entry points lead to modules", entries.len()));
    }
    let detail = format!("entry points lead nowhere: {}", bad.join(", "));
    failed(ID, Severity::Error, detail, "Write `package.module:function`, of a module that is packed.")
}

#[cfg(test)]
pub(crate) mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use sha2::Digest as _;

    use super::*;
    use crate::python::archive::tests::zipped;

    pub(crate) fn wheel_of(
        file: &str,
        files: &[(&str, &str)],
        more_record: &str,
    ) -> Result<Wheel, WheelError> {
        let info = "acme_ui-1.2.3.dist-info";
        let mut all: Vec<(String, String)> =
            files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
        let mut default = |name: &str, text: &str| {
            let path = format!("{info}/{name}");
            if !all.iter().any(|(p, _)| *p == path) {
                all.push((path, text.to_owned()));
            }
        };
        default("METADATA", "Metadata-Version: 2.4\nName: acme-ui\nVersion: 1.2.3\n\nWords\n");
        default("WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
        let mut record = String::new();
        for (path, text) in &all {
            let digest = BASE64_URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(text.as_bytes()));
            record.push_str(&format!("{path},sha256={digest},{}\n", text.len()));
        }
        record.push_str(&format!("{info}/RECORD,,\n{more_record}"));
        all.push((format!("{info}/RECORD"), record));
        let borrowed: Vec<(&str, &[u8])> = all.iter().map(|(p, t)| (p.as_str(), t.as_bytes())).collect();
        read(file, &zipped(&borrowed))
    }

    const FILE: &str = "acme_ui-1.2.3-py3-none-any.whl";

    fn failures(wheel: &Wheel) -> Vec<(String, Severity)> {
        check(wheel).into_iter().filter(|c| !c.passed).map(|c| (c.id, c.severity)).collect()
    }

    #[test]
    fn a_good_wheel_has_nothing_wrong() {
        let wheel = wheel_of(FILE, &[("acme_ui/__init__.py", "x = 1"), ("acme_ui/a,b.txt", "")], "").unwrap();
        // A comma in a name needs quotes, which the helper above does not write.
        assert_eq!(failures(&wheel), [("python.wheel.record".to_owned(), Severity::Error)]);
        let wheel = wheel_of(
            FILE,
            &[("acme_ui/__init__.py", "x = 1"), ("acme_ui/py.typed", ""), ("acme_ui/a.pyi", "")],
            "",
        )
        .unwrap();
        assert_eq!(failures(&wheel), []);
    }

    #[test]
    fn names_are_read_as_they_are_specified() {
        let name = file_name("distribution-1.0-1-py27.py3-none-any.whl").unwrap();
        assert_eq!((name.build.as_deref(), name.tags().len()), (Some("1"), 2));
        for bad in [
            "a.whl",
            "a-1-py3-none-any.zip",
            "a-x-py3-none-any.whl",
            "a-1-b-py3-none-any.whl",
            "a-1-py3--any.whl",
            "a b-1-py3-none-any.whl",
        ] {
            assert_eq!(file_name(bad), None, "{bad}");
        }
    }

    #[test]
    fn each_kind_of_wrong_wheel_is_found() {
        use Severity::{Error, Note, Warning};
        let module = ("acme_ui/__init__.py", "");
        let info = "acme_ui-1.2.3.dist-info";
        let whl = format!("{info}/WHEEL");
        let points = format!("{info}/entry_points.txt");
        type Case<'c> = (&'c str, Vec<(&'c str, &'c str)>, &'c str, &'c str, Severity);
        let cases: Vec<Case<'_>> = vec![
            ("acme_ui-1.2.4-py3-none-any.whl", vec![module], "", "python.wheel.name", Error),
            ("other-1.2.3-py3-none-any.whl", vec![module], "", "python.wheel.name", Error),
            ("Acme.UI-1.2.3-py3-none-any.whl", vec![module], "", "python.wheel.name", Warning),
            (FILE, vec![module], "gone.py,sha256=x,1\n", "python.wheel.record", Error),
            (FILE, vec![module], "acme_ui/__init__.py,sha256=x,0\n", "python.wheel.record", Error),
            (FILE, vec![module], "one,two\n", "python.wheel.record", Error),
            (
                FILE,
                vec![module, (&whl, "Wheel-Version: 2.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")],
                "",
                "python.wheel.tags",
                Error,
            ),
            (
                FILE,
                vec![module, (&whl, "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py2-none-any\n")],
                "",
                "python.wheel.tags",
                Error,
            ),
            (
                FILE,
                vec![module, ("acme_ui/x.cpython-311-x86_64-linux-gnu.so", "")],
                "",
                "python.wheel.tags",
                Error,
            ),
            (FILE, vec![module, ("acme_ui-1.2.3.data/odd/x", "")], "", "python.wheel.data", Error),
            (FILE, vec![module, ("tests/__init__.py", "")], "", "python.wheel.top-level", Warning),
            (FILE, vec![("src/acme_ui/__init__.py", "")], "", "python.wheel.top-level", Error),
            (FILE, vec![], "", "python.wheel.top-level", Note),
            (FILE, vec![module, ("acme_ui/a.pyi", "")], "", "python.wheel.typed", Warning),
            (
                FILE,
                vec![module, (&points, "[console_scripts]\na = acme_ui.cli:main\n")],
                "",
                "python.wheel.entry-points",
                Error,
            ),
        ];
        for (file, files, record, id, severity) in cases {
            let wheel = wheel_of(file, &files, record).unwrap();
            assert_eq!(failures(&wheel), [(id.to_owned(), severity)], "{file} {files:?} {record}");
        }
        let fine = wheel_of(
            FILE,
            &[
                module,
                ("acme_ui/cli.py", ""),
                (&points, "[console_scripts]\na = acme_ui.cli:main [x]\n[pytest11]\nb = other.plugin\n"),
            ],
            "",
        )
        .unwrap();
        assert_eq!(failures(&fine), []);
    }

    #[test]
    fn what_is_no_wheel_is_said() {
        assert!(matches!(read("x.whl", b""), Err(WheelError::Name(_))));
        assert!(matches!(read(FILE, b"PK"), Err(WheelError::Archive(_))));
        assert!(matches!(read(FILE, &zipped(&[("a.py", b"")])), Err(WheelError::Missing(_))));
        let two = zipped(&[("a-1.dist-info/METADATA", b""), ("b-1.dist-info/METADATA", b"")]);
        assert!(matches!(read(FILE, &two), Err(WheelError::Several(_))));
    }
}
