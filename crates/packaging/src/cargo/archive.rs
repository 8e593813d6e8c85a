//! Cargo's archives: read, and held against what Cargo and git say of them.
//!
//! `cargo package` writes the same bytes whenever it is run over the same files: entries sorted, owners 0, every time 24 July 2006,
//! modes 644 or 755, no time in the gzip header (measured with 1.95, files touched and their modes changed in between; it is so
//! since 1.52). So packing twice and comparing bytes decides, and a difference means that what is packed is not the same.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::{Check, Severity};
use crate::packed::Packed;
use crate::paths::NAMED;
pub use crate::targz::ArchiveError;
use crate::targz::{self, Limits};

use super::manifest::Manifest;

/// Most bytes that an archive may hold once it is inflated: 256 MiB. Most files: 50,000.
pub const LIMITS: Limits = Limits { bytes: 256 << 20, files: 50_000 };

/// Most bytes of an archive that crates.io takes, where nobody asked it for more: 10 MiB.
pub const CRATES_IO_BYTES: u64 = 10 << 20;

/// What Cargo itself adds to a package.
pub const ADDED: [&str; 4] = ["Cargo.toml", "Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json"];

/// What Cargo calls the archive of a package.
pub fn file_name(name: &str, version: &str) -> String {
    format!("{name}-{version}.crate")
}

/// Reads the archive of the package `name` at `version`: its files without `NAME-VERSION/`. Refused are links and devices, paths
/// that lead elsewhere or lie outside of that folder, and a path that is there twice.
pub fn read(bytes: &[u8], name: &str, version: &str) -> Result<Packed, ArchiveError> {
    targz::read(bytes, Some(&format!("{name}-{version}")), &LIMITS).map(|(_, packed)| packed)
}

/// Reads an archive whose name and version are not known: also gives its folder, `NAME-VERSION`.
pub fn read_any(bytes: &[u8]) -> Result<(String, Packed), ArchiveError> {
    targz::read(bytes, None, &LIMITS)
}

/// What `cargo package --list` printed, sorted, `/` between components.
pub fn list(stdout: &str) -> Vec<String> {
    let mut files: Vec<String> = stdout
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .map(|line| line.replace('\\', "/"))
        .collect();
    files.sort_unstable();
    files.dedup();
    files
}

fn named(mut check: Check, files: impl IntoIterator<Item = String>) -> Check {
    check.files = files.into_iter().take(NAMED).collect();
    check
}

/// Whether the archive holds what Cargo lists.
pub fn agrees(packed: &Packed, listed: &[String]) -> Check {
    const ID: &str = "cargo.files.equal";
    let ours: BTreeSet<&str> = packed.iter().map(|(path, _)| path).collect();
    let theirs: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    if ours == theirs {
        return Check::passed(ID, format!("cargo package --list names the same {} files", ours.len()));
    }
    let differ: Vec<String> = ours.symmetric_difference(&theirs).map(ToString::to_string).collect();
    let detail = format!(
        "the archive holds {} files and cargo package --list names {}: {} differ",
        ours.len(),
        theirs.len(),
        differ.len()
    );
    let check = Check::failed(ID, Severity::Error, detail).fix(
        "Something writes to the package's folder meanwhile, or the archive is an older one: pack again.",
    );
    named(check, differ)
}

/// Whether two archives of the same files are the same bytes.
pub fn twice(first: &[u8], second: &[u8]) -> Check {
    const ID: &str = "cargo.pack.twice";
    if first == second {
        return Check::passed(ID, format!("packed twice, the same bytes: sha256 {}", crate::sha256(first)));
    }
    let check = Check::failed(ID, Severity::Error, "packed twice, it was not the same").fix(
        "Cargo packs the same files to the same bytes: stop what writes to the package's folder meanwhile.",
    );
    let (Ok((_, first)), Ok((_, second))) = (read_any(first), read_any(second)) else { return check };
    let paths: BTreeSet<&str> = first.iter().chain(second.iter()).map(|(path, _)| path).collect();
    named(check, paths.into_iter().filter(|path| first.get(path) != second.get(path)).map(str::to_owned))
}

/// Whether the archive names the commit that is released, with nothing changed since. `commit` is the one that is checked out,
/// in full; `folder` the package's in the repository. Without a commit there is nothing to decide.
pub fn vcs(packed: &Packed, commit: Option<&str>, folder: &str) -> Option<Check> {
    const ID: &str = "cargo.vcs";
    const FILE: &str = ".cargo_vcs_info.json";
    let failed =
        |severity, detail: String, fix: &str| Some(Check::failed(ID, severity, detail).fix(fix).about(FILE));
    let commit = commit?;
    let Some(info) = packed.get(FILE) else {
        return failed(
            Severity::Warning,
            format!("the archive does not say which commit it is of: there is no {FILE}"),
            "Commit Cargo.toml, and pack inside the repository, so that users can find the source.",
        );
    };
    let Ok(info) = serde_json::from_slice::<Value>(info) else {
        return failed(Severity::Error, format!("{FILE} is no JSON"), "Pack again with `cargo package`.");
    };
    let git = info.get("git");
    let said = git.and_then(|git| git.get("sha1")).and_then(Value::as_str).unwrap_or_default();
    if git.and_then(|git| git.get("dirty")) == Some(&Value::Bool(true)) {
        return failed(
            Severity::Error,
            "the archive says that it was packed from a work tree with changes".to_owned(),
            "Commit them, and pack without --allow-dirty.",
        );
    }
    if said != commit {
        let said: String = said.chars().take(40).collect();
        return failed(
            Severity::Error,
            format!("the archive says that it is of commit {said:?}, and {commit} is checked out"),
            "Pack again, of what is checked out.",
        );
    }
    let place = info.get("path_in_vcs").and_then(Value::as_str).unwrap_or_default();
    if place.trim_matches('/') != folder {
        return failed(
            Severity::Warning,
            format!("the archive says that it is of the folder {place:?}; it is of {folder:?}"),
            "Pack in the package's own folder.",
        );
    }
    Some(Check::passed(ID, format!("the archive says that it is of {}", commit.get(..7).unwrap_or(commit))))
}

/// Whether the Cargo.toml that Cargo wrote into the archive is of the package that is released, and the author's is beside it.
pub fn normalized(packed: &Packed, name: &str, version: &str) -> Check {
    const ID: &str = "cargo.manifest.normalized";
    let failed = |detail: String| {
        Check::failed(ID, Severity::Error, detail).fix("Pack again with `cargo package`.").about("Cargo.toml")
    };
    let Some(bytes) = packed.get("Cargo.toml") else {
        return failed("the archive has no Cargo.toml".to_owned());
    };
    let manifest = match Manifest::read(bytes, None) {
        Ok(manifest) => manifest,
        Err(error) => return failed(format!("the archive's {error}")),
    };
    if (manifest.name(), manifest.version()) != (name, version) {
        return failed(format!(
            "the archive's Cargo.toml is of {} {}, and {name} {version} is released",
            manifest.name(),
            manifest.version()
        ));
    }
    if !packed.has("Cargo.toml.orig") {
        return failed(
            "the archive has no Cargo.toml.orig: it was not written by `cargo package`".to_owned(),
        );
    }
    // Cargo writes all that it packs into a manifest that needs no other file; a path here would be looked for at the user's.
    let outside: Vec<&str> =
        manifest.dependencies().iter().filter(|d| d.path.is_some()).map(|d| d.name.as_str()).collect();
    if outside.is_empty() {
        return Check::passed(ID, "the archive's Cargo.toml stands for itself");
    }
    failed(format!("the archive's Cargo.toml names folders for {}", outside.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "35e444c9d4bb5a77edef7d344120bc57b357a19d";

    fn packed(info: &str) -> Packed {
        Packed::new().with("src/lib.rs", "").with(".cargo_vcs_info.json", info)
    }

    #[test]
    fn a_list_is_read_as_cargo_prints_it() {
        assert_eq!(list("src/lib.rs\nCargo.toml\r\n\nsrc\\a.rs\n"), ["Cargo.toml", "src/a.rs", "src/lib.rs"]);
        let packed = Packed::new().with("a", "").with("b", "");
        assert!(agrees(&packed, &list("b\na\n")).passed);
        let check = agrees(&packed, &list("b\nc\n"));
        assert_eq!((check.passed, check.files), (false, vec!["a".to_owned(), "c".to_owned()]));
    }

    #[test]
    fn the_commit_that_is_named_must_be_the_one_released() {
        let good = format!(r#"{{"git":{{"sha1":"{COMMIT}"}},"path_in_vcs":"crates/b"}}"#);
        assert!(vcs(&packed(&good), Some(COMMIT), "crates/b").unwrap().passed);
        assert_eq!(vcs(&packed(&good), None, ""), None);
        let dirty = format!(r#"{{"git":{{"sha1":"{COMMIT}","dirty":true}},"path_in_vcs":""}}"#);
        for (info, folder, severity) in [
            (dirty.as_str(), "", Severity::Error),
            (r#"{"git":{"sha1":"0"},"path_in_vcs":""}"#, "", Severity::Error),
            ("{", "", Severity::Error),
            (&good, "crates/c", Severity::Warning),
        ] {
            let check = vcs(&packed(info), Some(COMMIT), folder).unwrap();
            assert_eq!((check.passed, check.severity), (false, severity), "{info}");
        }
        let none = vcs(&Packed::new(), Some(COMMIT), "").unwrap();
        assert_eq!((none.passed, none.severity), (false, Severity::Warning));
    }

    #[test]
    fn the_archives_manifest_is_of_the_release() {
        let packed = |text: &str| Packed::new().with("Cargo.toml", text).with("Cargo.toml.orig", "");
        let good = "[package]\nname='a'\nversion='1.0.0'\n[dependencies]\nb={version='1'}";
        assert!(normalized(&packed(good), "a", "1.0.0").passed);
        assert!(!normalized(&packed(good), "a", "1.0.1").passed);
        assert!(!normalized(&Packed::new().with("Cargo.toml", good), "a", "1.0.0").passed);
        assert!(
            !normalized(
                &packed("[package]\nname='a'\nversion='1.0.0'\n[dependencies]\nb={path='../b'}"),
                "a",
                "1.0.0"
            )
            .passed
        );
    }

    #[test]
    fn archives_that_differ_name_the_files() {
        let one = targz::tests::archive(&[("a-1/x", b"1"), ("a-1/y", b"1")]);
        let other = targz::tests::archive(&[("a-1/x", b"1"), ("a-1/y", b"2")]);
        assert!(twice(&one, &one).passed);
        assert_eq!(twice(&one, &other).files, ["y"]);
    }
}
