//! What verifying a release of any ecosystem has in common.

pub(crate) mod cargo;
pub(crate) mod changes;
pub(crate) mod found;
mod looking;
pub(crate) mod npm;
pub(crate) mod past;
pub(crate) mod python;
pub(crate) mod secrets;
pub(crate) mod smoke;
pub(crate) mod theirs;
pub(crate) mod told;
pub(crate) mod tree;

use std::collections::BTreeMap;

use contract::{Digest, Fault, FileMode, RelPath};
use exec::draft::BranchFile;
use packaging::provenance::{Origin, Subject, statement};
use packaging::sbom::{self, Component};
use packaging::version::Bump;
use packaging::{Check, Severity};
use semver::Version;

/// What is asked of a release.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) version: Version,
    /// The tag or commit to compare with, instead of the last release's tag.
    pub(crate) base: Option<String>,
    /// The last release's archive.
    pub(crate) previous: Option<RelPath>,
    /// Where the tokens are, if not where they are found.
    pub(crate) tokens: Option<String>,
    /// Most bytes that the archive may have.
    pub(crate) budget: Option<u64>,
    /// Whether it is tried out.
    pub(crate) smoke: bool,
}

/// An archive that was made.
#[derive(Debug, Clone)]
pub(crate) struct Archive {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) files: u64,
    pub(crate) unpacked: u64,
    pub(crate) sha256: String,
    pub(crate) sha512: Option<String>,
    /// As registries write it.
    pub(crate) integrity: Option<String>,
}

/// How far the release must go, and why.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asks {
    pub(crate) required: Bump,
    pub(crate) because: Vec<String>,
    /// The release that it follows.
    pub(crate) from: Option<Version>,
}

/// A package that was looked at.
pub(crate) struct Verified {
    pub(crate) ecosystem: &'static str,
    pub(crate) name: String,
    pub(crate) folder: String,
    pub(crate) checks: Vec<Check>,
    /// What could not be decided, and why.
    pub(crate) undecided: Vec<String>,
    /// None when it could not even be packed; a Python package has two.
    pub(crate) archives: Vec<Archive>,
    pub(crate) bill: (Component, Vec<Component>),
    pub(crate) asks: Asks,
    pub(crate) repository: Option<String>,
    /// The commit that was packed, when the tree is as it has it.
    pub(crate) commit: Option<String>,
    /// Packed files that the commit does not hold as they were packed.
    pub(crate) built: Vec<String>,
}

impl Verified {
    /// Whether a check failed that must not.
    pub(crate) fn is_blocked(&self) -> bool {
        self.archives.is_empty() || self.checks.iter().any(|c| !c.passed && c.severity == Severity::Error)
    }

    /// What the release leaves beside the archive, by name.
    pub(crate) fn artifacts(&self, version: &Version) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let Some(first) = self.archives.first() else { return files };
        let tool = env!("CARGO_PKG_VERSION");
        let pretty = |value: &serde_json::Value| format!("{value:#}\n").into_bytes();
        let mut package = self.bill.0.clone();
        package.hash = Some(("SHA-256", first.sha256.clone()));
        files.insert("sbom.cdx.json".to_owned(), pretty(&sbom::document(&package, &self.bill.1, tool)));
        let origin = Origin {
            ecosystem: self.ecosystem.to_owned(),
            package: self.name.clone(),
            version: version.to_string(),
            folder: self.folder.clone(),
            repository: self.repository.clone(),
            commit: self.commit.clone(),
            built: self.built.clone(),
            tool: tool.to_owned(),
        };
        let subject = |archive: &Archive| Subject {
            name: archive.name.clone(),
            sha256: archive.sha256.clone(),
            sha512: archive.sha512.clone(),
        };
        let subjects: Vec<Subject> = self.archives.iter().map(subject).collect();
        files.insert("provenance.intoto.json".to_owned(), pretty(&statement(&subjects, &origin)));
        files.extend(self.archives.iter().map(|archive| (archive.name.clone(), archive.bytes.clone())));
        let mut sums = String::new();
        for (name, bytes) in &files {
            sums.push_str(&format!("{}  {name}\n", packaging::sha256(bytes)));
        }
        files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
        files
    }
}

/// The files of a release's branch.
pub(crate) fn branch_files(verified: &[Verified], version: &Version) -> Result<Vec<BranchFile>, Fault> {
    let mut files = Vec::new();
    for (i, package) in verified.iter().enumerate() {
        let mut named = plain(&package.name);
        // `@acme/ui` and `acme-ui` are two packages.
        if verified.iter().enumerate().any(|(j, other)| i != j && plain(&other.name) == named) {
            let whole = format!("{} {}", package.ecosystem, package.name);
            named = format!("{named}-{}", Digest::of(whole.as_bytes()).short(6));
        }
        let folder = format!("releases/{named}-{version}");
        for (name, bytes) in package.artifacts(version) {
            let path =
                RelPath::new(&format!("{folder}/{name}")).map_err(|e| Fault::internal(e.to_string()))?;
            files.push((path, Some((bytes, FileMode::Regular))));
        }
    }
    Ok(files)
}

/// A name as paths and branches have it: `@acme/ui` is `acme-ui`.
pub(crate) fn plain(name: &str) -> String {
    let kept: String =
        name.trim_start_matches('@')
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c.to_ascii_lowercase() } else { '-' }
            })
            .collect();
    let kept = kept.trim_matches(['.', '-', '_']);
    if kept.is_empty() { "package".to_owned() } else { kept.to_owned() }
}

/// The branch of a release: by its name, its version and what is in it.
pub(crate) fn branch_name(name: &str, version: &Version, digest: &str) -> String {
    let mut stem = format!("release-{}-{}", plain(name), plain(&version.to_string()));
    stem.truncate(70);
    let stem = stem.replace("..", "-");
    format!("sbx/{}-{}", stem.trim_end_matches(['.', '-']), digest.get(..8).unwrap_or(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_have_names_that_branches_may_have() {
        let version = Version::parse("1.2.3-rc.1+Build.5").unwrap();
        for name in ["@acme/ui", "..", "Ünïcode", "a".repeat(200).as_str(), "x.lock", "-x"] {
            let name = branch_name(name, &version, "0123456789abcdef");
            exec::branch::check_name(&name).unwrap_or_else(|e| panic!("{name}: {}", e.message));
        }
        assert_eq!(
            branch_name("@acme/ui", &Version::new(1, 2, 3), "0123456789abcdef"),
            "sbx/release-acme-ui-1.2.3-01234567"
        );
    }
}
