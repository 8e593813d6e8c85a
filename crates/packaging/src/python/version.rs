//! Versions of Python's packages ([PEP 440](https://peps.python.org/pep-0440/)) and the SemVer versions that releases are asked
//! for by.

use std::str::FromStr as _;

use pep440_rs::{Prerelease, PrereleaseKind};
pub use pep440_rs::{Version, VersionSpecifiers};

/// The longest text that is read as a version.
const MAX: usize = 200;

/// Reads a version; `None` when it is none.
pub fn parse(text: &str) -> Option<Version> {
    if text.len() > MAX { None } else { Version::from_str(text.trim()).ok() }
}

/// Reads ranges of versions (`>=3.9, <4`); `None` when they are none.
pub fn specifiers(text: &str) -> Option<VersionSpecifiers> {
    if text.len() > 10 * MAX { None } else { VersionSpecifiers::from_str(text.trim()).ok() }
}

/// What Python calls a SemVer version: `1.2.0-rc.1` is `1.2.0rc1`. `None` when its pre-release says something that Python has no
/// word for, or numbers that are none.
pub fn of_semver(version: &semver::Version) -> Option<Version> {
    let mut text = format!("{}.{}.{}", version.major, version.minor, version.patch);
    if !version.pre.is_empty() {
        let pre = version.pre.as_str().to_ascii_lowercase();
        let digits = pre.find(|c: char| c.is_ascii_digit()).unwrap_or(pre.len());
        let (word, number) = pre.split_at_checked(digits)?;
        let word = word.trim_end_matches(['.', '-']);
        if !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number = if number.is_empty() { "0" } else { number };
        match word {
            "a" | "alpha" => text.push_str(&format!("a{number}")),
            "b" | "beta" => text.push_str(&format!("b{number}")),
            "c" | "rc" | "pre" | "preview" => text.push_str(&format!("rc{number}")),
            "dev" => text.push_str(&format!(".dev{number}")),
            "post" => text.push_str(&format!(".post{number}")),
            _ => return None,
        }
    }
    if !version.build.is_empty() {
        text.push_str(&format!("+{}", version.build));
    }
    parse(&text)
}

/// The SemVer version of a Python one, where there is one: without an epoch, with at most three numbers, and nothing but a
/// pre-release or a development release behind them.
pub fn to_semver(version: &Version) -> Option<semver::Version> {
    let release: Vec<u64> = version.release().to_vec();
    if version.epoch() != 0 || release.len() > 3 || version.post().is_some() {
        return None;
    }
    let at = |i: usize| release.get(i).copied().unwrap_or(0);
    let pre = match (version.pre(), version.dev()) {
        (None, None) => String::new(),
        (Some(Prerelease { kind, number }), None) => {
            let word = match kind {
                PrereleaseKind::Alpha => "alpha",
                PrereleaseKind::Beta => "beta",
                PrereleaseKind::Rc => "rc",
            };
            format!("-{word}.{number}")
        }
        (None, Some(dev)) => format!("-dev.{dev}"),
        (Some(_), Some(_)) => return None,
    };
    semver::Version::parse(&format!("{}.{}.{}{pre}", at(0), at(1), at(2))).ok()
}

/// Whether a text says the version that is asked for: `1.2` says 1.2.0.
pub fn says(text: &str, asked: &semver::Version) -> bool {
    match (parse(text), of_semver(asked)) {
        (Some(said), Some(asked)) => said == asked,
        _ => text.trim() == asked.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semver_and_python_say_the_same_in_other_words() {
        for (semver, python) in [
            ("1.2.0", "1.2.0"),
            ("1.2.0-rc.1", "1.2.0rc1"),
            ("1.2.0-alpha.2", "1.2.0a2"),
            ("1.2.0-beta", "1.2.0b0"),
            ("1.2.0-b3", "1.2.0b3"),
            ("1.2.0-dev.4", "1.2.0.dev4"),
            ("2.0.0-post.1", "2.0.0.post1"),
        ] {
            let asked = semver::Version::parse(semver).unwrap();
            assert_eq!(of_semver(&asked).unwrap().to_string(), python);
            assert!(says(python, &asked), "{semver}");
        }
        let asked = semver::Version::parse("1.2.0").unwrap();
        assert!(
            says("1.2", &asked)
                && says("v1.2.0", &asked)
                && !says("1.2.1", &asked)
                && !says("1.2.0rc1", &asked)
                && !says("x", &asked)
        );
        assert_eq!(of_semver(&semver::Version::parse("1.0.0-next.1").unwrap()), None);
        assert_eq!(of_semver(&semver::Version::parse("1.0.0-rc.1.2").unwrap()), None);
        for (python, semver) in [
            ("1.2", Some("1.2.0")),
            ("1.2.3rc1", Some("1.2.3-rc.1")),
            ("1!1.0", None),
            ("1.2.3.4", None),
            ("1.0.post1", None),
            ("1.0.dev3", Some("1.0.0-dev.3")),
        ] {
            assert_eq!(
                to_semver(&parse(python).unwrap()).map(|v| v.to_string()).as_deref(),
                semver,
                "{python}"
            );
        }
        assert_eq!(parse(&"1.".repeat(1000)), None);
    }
}
