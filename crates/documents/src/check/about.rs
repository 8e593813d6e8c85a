//! What a document is about, by its path: claims about other times, other versions and other people's projects are not held
//! against this repository.

use crate::claims::{Claim, ClaimKind};
use crate::ground::Ground;

/// Folders and names of documents about what was, will be or might be.
const OTHER_TIMES: [&str; 20] = [
    "blog",
    "versioned_docs",
    "archive",
    "archived",
    "changelog",
    "changes",
    "history",
    "releases",
    "news",
    "rfcs",
    "rfc",
    "adr",
    "proposals",
    "plans",
    "vendor",
    "third_party",
    "migration",
    "migrating",
    "upgrading",
    "roadmap",
];

/// Folders of sites for those who use what is made here.
const SITES: [&str; 3] = ["content", "website", "site"];

/// Names of documents for those who build it, and folders of such.
const BUILDERS: [&str; 16] = [
    "readme",
    "contributing",
    "contribute",
    "agents",
    "claude",
    "gemini",
    "build",
    "building",
    "install",
    "installation",
    "develop",
    "development",
    "developing",
    "dev",
    "hacking",
    "setup",
];

/// Whether a claim of a document at `path` is about this repository as it is.
pub(super) fn is_ours(ground: &Ground<'_>, path: &str, claim: &Claim) -> bool {
    let is_a_link = ground.tree.is_closed(path);
    let path = path.to_lowercase();
    let has = |words: &[&str]| path.split(['/', '.', '-', ' ']).any(|part| words.contains(&part));
    match claim.kind {
        // Links of a template lead from where it is filled in, those of a symbolic link from elsewhere.
        ClaimKind::Link(_) => !path.contains("_template") && !is_a_link,
        ClaimKind::Runtime { .. } => {
            !has(&OTHER_TIMES) && !has(&SITES) && (!path.contains('/') || has(&BUILDERS))
        }
        _ => !has(&OTHER_TIMES) && !has(&SITES),
    }
}
