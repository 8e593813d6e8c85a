//! Source distributions ([the format](https://packaging.python.org/en/latest/specifications/source-distribution-format/), PEP 625).

use super::archive::LIMITS;
use super::metadata::Fields;
use super::{name, version};
use crate::check::{Check, Severity};
use crate::packed::Packed;
use crate::targz::{self, ArchiveError};

/// A source distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sdist {
    /// The distribution, as its file name spells it.
    pub distribution: String,
    /// The version, as its file name spells it.
    pub version: String,
    /// The folder that all is in.
    pub folder: String,
    /// Its files, without that folder.
    pub packed: Packed,
    /// `PKG-INFO`, where there is one that can be read.
    pub metadata: Option<Fields>,
}

/// Why a source distribution could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SdistError {
    /// Its name is no source distribution's.
    #[error("{0:?} is no name of a source distribution: it is NAME-VERSION.tar.gz")]
    Name(String),
    /// The archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// Name and version of a file name: the version is what follows the last dash and is one.
pub fn file_name(text: &str) -> Option<(&str, &str)> {
    let (distribution, said) = text.strip_suffix(".tar.gz")?.rsplit_once('-')?;
    (name::is_name(distribution) && version::parse(said).is_some()).then_some((distribution, said))
}

/// Reads a source distribution.
pub fn read(file: &str, bytes: &[u8]) -> Result<Sdist, SdistError> {
    let (distribution, said) =
        file_name(file).ok_or_else(|| SdistError::Name(file.chars().take(200).collect()))?;
    let (folder, packed) = targz::read(bytes, None, &LIMITS)?;
    let metadata = packed.get("PKG-INFO").and_then(Fields::read);
    Ok(Sdist { distribution: distribution.to_owned(), version: said.to_owned(), folder, packed, metadata })
}

/// Checks what a source distribution says of itself.
pub fn check(sdist: &Sdist) -> Vec<Check> {
    vec![named(sdist), metadata(sdist)]
}

fn named(sdist: &Sdist) -> Check {
    const ID: &str = "python.sdist.name";
    let whole = format!("{}-{}", sdist.distribution, sdist.version);
    if sdist.folder != whole {
        return Check::failed(
            ID,
            Severity::Error,
            format!("the archive is called {whole}, and its folder {}", sdist.folder),
        )
        .fix("Build it again: installers look for the folder by the archive's name.");
    }
    let plain = version::parse(&sdist.version).map_or_else(|| sdist.version.clone(), |v| v.to_string());
    if sdist.distribution != name::in_file(&sdist.distribution) || sdist.version != plain {
        return Check::failed(
            ID,
            Severity::Warning,
            format!(
                "the archive is called {whole}, and should be {}-{plain}",
                name::in_file(&sdist.distribution)
            ),
        )
        .fix("Use a newer build backend: PyPI has begun to refuse names that are not normal (PEP 625).");
    }
    Check::passed(ID, format!("it is called {whole} in all places"))
}

fn metadata(sdist: &Sdist) -> Check {
    const ID: &str = "python.sdist.metadata";
    let failed = |detail: &str, fix: &str| Check::failed(ID, Severity::Error, detail).fix(fix);
    if sdist.metadata.is_none() {
        return failed(
            "there is no PKG-INFO, or it cannot be read",
            "Build it with its backend: `python -m build --sdist`.",
        );
    }
    if sdist.packed.has("pyproject.toml") {
        return Check::passed(ID, "PKG-INFO and pyproject.toml are there");
    }
    if sdist.packed.has("setup.py") {
        return Check::failed(
            ID,
            Severity::Warning,
            "there is no pyproject.toml: it is built with whatever setuptools is there",
        )
        .fix("Add one with a `[build-system]` that says what builds it (PEP 518).");
    }
    failed(
        "there is neither pyproject.toml nor setup.py: nobody can build it",
        "Pack them: see the backend's list of what it takes.",
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::targz::tests::archive;

    pub(crate) const INFO: &[u8] = b"Metadata-Version: 2.4\nName: acme-ui\nVersion: 1.2.3\n";

    fn failures(file: &str, files: &[(&str, &[u8])]) -> Vec<(String, Severity)> {
        let sdist = read(file, &archive(files)).unwrap();
        check(&sdist).into_iter().filter(|c| !c.passed).map(|c| (c.id, c.severity)).collect()
    }

    #[test]
    fn each_kind_of_wrong_source_distribution_is_found() {
        use Severity::{Error, Warning};
        let file = "acme_ui-1.2.3.tar.gz";
        let info = ("acme_ui-1.2.3/PKG-INFO", INFO);
        let toml = ("acme_ui-1.2.3/pyproject.toml", &b""[..]);
        assert_eq!(failures(file, &[info, toml]), []);
        assert_eq!(failures(file, &[toml]), [("python.sdist.metadata".to_owned(), Error)]);
        assert_eq!(failures(file, &[info]), [("python.sdist.metadata".to_owned(), Error)]);
        assert_eq!(
            failures(file, &[info, ("acme_ui-1.2.3/setup.py", b"")]),
            [("python.sdist.metadata".to_owned(), Warning)]
        );
        assert_eq!(
            failures("acme_ui-1.2.4.tar.gz", &[info, toml])[0],
            ("python.sdist.name".to_owned(), Error)
        );
        let odd = [("Acme-UI-1.2.3/PKG-INFO", INFO), ("Acme-UI-1.2.3/pyproject.toml", b"")];
        assert_eq!(failures("Acme-UI-1.2.3.tar.gz", &odd), [("python.sdist.name".to_owned(), Warning)]);
        assert!(matches!(read("x.zip", b""), Err(SdistError::Name(_))));
        assert!(matches!(read(file, b"no"), Err(SdistError::Archive(_))));
    }
}
