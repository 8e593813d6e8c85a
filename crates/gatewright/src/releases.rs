//! The definitions of the built-in tools, as each release had them: what an upgrade changes is told from these.
//!
//! `cargo xtask gen` writes the file of the version that is being made; those of earlier versions stay as they are.

use contract::{Code, Fault};
use kit::lock::Lock;

/// Versions and their definitions, the oldest first.
static RELEASES: [(&str, &str); 1] = [("0.1.0", include_str!("../releases/0.1.0.lock"))];

/// The definitions of `version`.
pub fn definitions(version: &str) -> Result<Lock, Fault> {
    let wanted = version.strip_prefix('v').unwrap_or(version);
    let Some((_, text)) = RELEASES.iter().find(|(known, _)| *known == wanted) else {
        let known: Vec<&str> = RELEASES.iter().map(|(known, _)| *known).collect();
        return Err(Fault::new(Code::NotFound, format!("there is no release {version:?}"))
            .suggest(format!("The releases are {}.", known.join(", "))));
    };
    Lock::read(text).map_err(|e| Fault::internal(format!("the definitions of {version}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_release_reads_and_the_one_being_made_is_among_them() {
        for (version, _) in RELEASES {
            definitions(version).unwrap();
        }
        definitions(env!("CARGO_PKG_VERSION")).unwrap();
        assert!(definitions("9.9.9").unwrap_err().suggestions[0].contains("0.1.0"));
    }
}
