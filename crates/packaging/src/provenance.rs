//! Where a package comes from, as an [in-toto Statement v1](https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md) with
//! an [SLSA provenance v1](https://slsa.dev/spec/v1.0/provenance) predicate. It is not signed: whoever signs it says that it is so.

use serde_json::{Value, json};

/// What kind of build it was: the packing of what is in a work tree, without scripts.
pub const BUILD_TYPE: &str = "https://github.com/gatewright/gatewright/release-pack/v1";

/// Who built it.
pub const BUILDER: &str = "https://github.com/gatewright/gatewright";

/// A file that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// SHA-512 in hexadecimal, where it is known.
    pub sha512: Option<String>,
}

/// What it was made of and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// `npm`, `cargo` or `python`.
    pub ecosystem: String,
    /// The package's name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Its folder in the repository; empty for the top.
    pub folder: String,
    /// The repository's address, where the manifest or the remote says it.
    pub repository: Option<String>,
    /// The commit that was packed; `None` when the tree is not as a commit has it.
    pub commit: Option<String>,
    /// Packed files that the commit does not hold as they were packed: those that were built.
    pub built: Vec<String>,
    /// This program's version.
    pub tool: String,
}

/// The statement.
pub fn statement(subjects: &[Subject], origin: &Origin) -> Value {
    let subjects: Vec<Value> = subjects
        .iter()
        .map(|subject| {
            let mut digest = json!({ "sha256": subject.sha256 });
            if let (Some(map), Some(sha512)) = (digest.as_object_mut(), &subject.sha512) {
                map.insert("sha512".into(), json!(sha512));
            }
            json!({ "name": subject.name, "digest": digest })
        })
        .collect();
    let sources: Vec<Value> = origin
        .commit
        .iter()
        .map(|commit| {
            let uri = origin.repository.as_deref().map_or_else(|| "git+local".to_owned(), address);
            json!({ "uri": uri, "digest": { "gitCommit": commit } })
        })
        .collect();
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "ecosystem": origin.ecosystem,
                    "package": origin.package,
                    "version": origin.version,
                    "folder": origin.folder,
                },
                "internalParameters": { "notInCommit": origin.built },
                "resolvedDependencies": sources,
            },
            "runDetails": { "builder": { "id": BUILDER, "version": { "gatewright": origin.tool } } },
        },
    })
}

fn address(repository: &str) -> String {
    if repository.starts_with("git+") { repository.to_owned() } else { format!("git+{repository}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_names_what_was_made_and_from_which_commit() {
        let subject =
            Subject { name: "acme-ui-1.0.0.tgz".into(), sha256: "ab".into(), sha512: Some("cd".into()) };
        let mut origin = Origin {
            ecosystem: "npm".into(),
            package: "@acme/ui".into(),
            version: "1.0.0".into(),
            repository: Some("https://example.com/acme/ui.git".into()),
            commit: Some("0123".into()),
            ..Origin::default()
        };
        let made = statement(std::slice::from_ref(&subject), &origin);
        assert_eq!(made["subject"][0]["digest"]["sha512"], "cd");
        let source = &made["predicate"]["buildDefinition"]["resolvedDependencies"][0];
        assert_eq!(source["uri"], "git+https://example.com/acme/ui.git");
        assert_eq!(source["digest"]["gitCommit"], "0123");
        origin.commit = None;
        let made = statement(&[subject], &origin);
        assert_eq!(made["predicate"]["buildDefinition"]["resolvedDependencies"], json!([]));
    }
}
