//! How far one version lies from another, by the rules of the ecosystem that they belong to.

use std::str::FromStr;

use serde::Serialize;

/// Whose rules versions follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ecosystem {
    /// npm's registry: `SemVer` as node-semver reads it.
    Npm,
    /// `PyPI`: PEP 440.
    Python,
    /// crates.io: `SemVer` 2.
    Cargo,
}

/// The leftmost part of a version that a change moves. It is a position, not a promise: in `0.x` a minor step may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The third number or one further right, a post-release or build metadata.
    Patch,
    /// The second number.
    Minor,
    /// The first number, or Python's epoch.
    Major,
    /// Towards a pre-release, or between a pre-release and what has the same numbers.
    Prerelease,
}

/// The numbers of a version with what matters beside them.
struct Parts {
    /// Python's epoch first, nought elsewhere; no zeros at the end.
    numbers: Vec<u64>,
    /// Alpha, beta, candidate or development release.
    pre: bool,
}

/// The step from one version to another; none where one of them is no version of that ecosystem (a URL, a branch) or
/// both say the same.
pub fn step(ecosystem: Ecosystem, from: &str, to: &str) -> Option<Step> {
    if from == to {
        return None;
    }
    let (before, after) = (parts(ecosystem, from)?, parts(ecosystem, to)?);
    if before.numbers == after.numbers {
        return Some(if before.pre || after.pre { Step::Prerelease } else { Step::Patch });
    }
    if after.pre {
        return Some(Step::Prerelease);
    }
    let length = before.numbers.len().max(after.numbers.len());
    let at = |parts: &Parts, index: usize| parts.numbers.get(index).copied().unwrap_or(0);
    let moved = (0..length).find(|&index| at(&before, index) != at(&after, index))?;
    Some(match moved {
        0 | 1 => Step::Major,
        2 => Step::Minor,
        _ => Step::Patch,
    })
}

/// Whether a range of versions (PEP 440) admits `version`; none where one of them is not understood.
pub fn python_fits(range: &str, version: &str) -> Option<bool> {
    let range = pep440_rs::VersionSpecifiers::from_str(range.trim()).ok()?;
    Some(range.contains(&pep440_rs::Version::from_str(version.trim()).ok()?))
}

/// Whether `version` comes after `than` (PEP 440); none where one of them is not understood.
pub fn python_follows(version: &str, than: &str) -> Option<bool> {
    let read = |text: &str| pep440_rs::Version::from_str(text.trim()).ok();
    Some(read(version)? > read(than)?)
}

/// Whether a range of Pythons (PEP 440, as `requires-python` has it) admits `version`; none where one of them is not understood. A
/// version of two parts stands for its newest release.
pub fn python_admits(range: &str, version: &str) -> Option<bool> {
    let range = pep440_rs::VersionSpecifiers::from_str(range.trim()).ok()?;
    let version = pep440_rs::Version::from_str(version.trim()).ok()?;
    if range.contains(&version) {
        return Some(true);
    }
    let newest = match version.release() {
        [major, minor] => pep440_rs::Version::new([*major, *minor, 999]),
        _ => return Some(false),
    };
    Some(range.contains(&newest))
}

fn parts(ecosystem: Ecosystem, version: &str) -> Option<Parts> {
    let (mut numbers, pre) = match ecosystem {
        Ecosystem::Npm => {
            let read = nodejs_semver::Version::parse(version).ok()?;
            (vec![0, read.major(), read.minor(), read.patch()], !read.pre_release().is_empty())
        }
        Ecosystem::Cargo => {
            let read = semver::Version::parse(version).ok()?;
            (vec![0, read.major, read.minor, read.patch], !read.pre.is_empty())
        }
        Ecosystem::Python => {
            let read = pep440_rs::Version::from_str(version).ok()?;
            let numbers = std::iter::once(read.epoch()).chain(read.release().iter().copied()).collect();
            (numbers, read.any_prerelease())
        }
    };
    // 1.0 and 1.0.0 are one version in Python.
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(Parts { numbers, pre })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_python_are_ordered_and_held_against_ranges() {
        assert_eq!(python_follows("2.0", "2.0rc1"), Some(true));
        assert_eq!(python_follows("1.10", "1.9"), Some(true));
        assert_eq!(python_follows("1.0.0", "1.0"), Some(false));
        assert_eq!(python_follows("main", "1.0"), None);
        assert_eq!(python_fits(">=1.17,<1.16", "1.16"), Some(false));
        assert_eq!(python_fits("==0.6.2", "0.6.2"), Some(true));
        assert_eq!(python_fits("", "3"), Some(true));
        assert_eq!(python_fits("@ file:///x", "3"), None);
    }

    #[test]
    fn a_range_of_pythons_admits_versions_of_two_parts_by_their_newest_release() {
        for (range, version, admits) in [
            (">=3.9", "3.11.7", Some(true)),
            (">=3.9", "3.8", Some(false)),
            (">=3.9.2", "3.9", Some(true)),
            (">=3.9,<3.12", "3.12", Some(false)),
            ("!=3.0.*,>=2.7", "3.0", Some(false)),
            ("~=3.8", "3.14", Some(true)),
            ("", "3.8", Some(true)),
            ("python3", "3.8", None),
            (">=3.8", "any", None),
        ] {
            assert_eq!(python_admits(range, version), admits, "{range} of {version}");
        }
    }
}
