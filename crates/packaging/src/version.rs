//! Versions, the tags that name them, and the bump that a change asks for ([SemVer 2.0.0](https://semver.org/spec/v2.0.0.html)).

use semver::Version;
use serde::Serialize;

use crate::python::{name, version as python};

/// How the packages of a registry write versions, and which of their names are one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scheme {
    /// npm and Cargo: SemVer, and names as they are.
    #[default]
    SemVer,
    /// Python: [PEP 440](https://peps.python.org/pep-0440/), and names as PEP 503 compares them.
    Python,
}

impl Scheme {
    /// Reads a version as tags and headings have it, with or without a `v`. `None` when it is none, or one that SemVer has no word
    /// for; of Python, one number alone is none: `v1` is a name that moves.
    pub fn read(self, text: &str) -> Option<Version> {
        let text = text.strip_prefix('v').unwrap_or(text);
        match self {
            Self::Python if !text.contains('.') => None,
            Self::Python => match python::parse(text) {
                Some(version) => python::to_semver(&version),
                None => Version::parse(text).ok(),
            },
            Self::SemVer => Version::parse(text).ok(),
        }
    }

    /// The version as [`Scheme::read`] has it: in Python `1.2.0-rc1` and `1.2.0-rc.1` are one.
    #[must_use]
    pub fn plain(self, version: &Version) -> Version {
        let other = match self {
            Self::Python => python::of_semver(version).and_then(|version| python::to_semver(&version)),
            Self::SemVer => None,
        };
        other.unwrap_or_else(|| version.clone())
    }

    /// The version as the registry writes it.
    pub fn write(self, version: &Version) -> String {
        match (self, python::of_semver(version)) {
            (Self::Python, Some(version)) => version.to_string(),
            _ => version.to_string(),
        }
    }

    /// What stands behind a package's name and a `@`, `-` or `/`.
    pub(crate) fn behind<'t>(self, text: &'t str, package: &str) -> Option<&'t str> {
        if package.is_empty() {
            return None;
        }
        match self {
            Self::SemVer => {
                let of = |name: &str| text.strip_prefix(name)?.strip_prefix(['@', '-', '/']);
                of(package).or_else(|| of(package.rsplit('/').next()?))
            }
            Self::Python => {
                let wanted = name::normal(package);
                let mut ends = text.match_indices(['@', '-', '/']).map(|(at, _)| at);
                let at = ends.find(|at| text.get(..*at).is_some_and(|name| name::normal(name) == wanted))?;
                text.get(at + 1..)
            }
        }
    }
}

/// How far a release goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    /// Nothing that users see.
    #[default]
    None,
    /// What was wrong is right.
    Patch,
    /// More than before.
    Minor,
    /// Something that users rely on is gone or other.
    Major,
}

impl Bump {
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }

    /// What this is on top of `from`: below 1.0.0 a breaking change is a minor release and a feature a patch, as npm's `^` and
    /// Cargo read versions; below 0.1.0 everything may break.
    #[must_use]
    pub fn above(self, from: &Version) -> Self {
        match (self, from.major, from.minor) {
            (bump, 1.., _) => bump,
            (Self::Major, 0, 1..) => Self::Minor,
            (Self::Minor | Self::Major, 0, _) => Self::Patch,
            (bump, ..) => bump,
        }
    }
}

/// How far it is from one version to a later one. A release of what was a pre-release before goes as far as that one went.
pub fn declared(from: &Version, to: &Version) -> Bump {
    if to.cmp_precedence(from).is_le() {
        return Bump::None;
    }
    let core = |v: &Version| (v.major, v.minor, v.patch);
    if to.major != from.major {
        Bump::Major
    } else if to.minor != from.minor {
        Bump::Minor
    } else if to.patch != from.patch {
        Bump::Patch
    } else {
        // 2.0.0-rc.1 → 2.0.0-rc.2 or 2.0.0: what the zeros say.
        match core(to) {
            (_, 0, 0) => Bump::Major,
            (_, _, 0) => Bump::Minor,
            _ => Bump::Patch,
        }
    }
}

/// Releases by tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagged {
    /// What it says.
    pub version: Version,
    /// The tag.
    pub tag: String,
}

/// The releases that tags name, the newest first: `1.2.3`, `v1.2.3`, and of a package `NAME@1.2.3`, `NAME-v1.2.3`, `NAME-1.2.3`,
/// `NAME/v1.2.3` and `NAME/1.2.3`, with a scoped name's last part too. Where the package has tags of its own, only those count: in
/// a monorepo the plain ones are somebody else's.
pub fn releases<'t>(tags: impl IntoIterator<Item = &'t str>, package: &str, scheme: Scheme) -> Vec<Tagged> {
    let (mut own, mut plain) = (Vec::new(), Vec::new());
    for tag in tags {
        if let Some(version) = scheme.read(tag) {
            plain.push(Tagged { version, tag: tag.to_owned() });
        } else if let Some(version) = scheme.behind(tag, package).and_then(|rest| scheme.read(rest)) {
            own.push(Tagged { version, tag: tag.to_owned() });
        }
    }
    let mut found = if own.is_empty() { plain } else { own };
    found.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.tag.cmp(&b.tag)));
    found
}

/// The release that `version` follows: the greatest below it that is no pre-release. A pre-release is no release to be compared
/// with: what broke in the first one would be fine in the second.
pub fn before<'t>(releases: &'t [Tagged], version: &Version) -> Option<&'t Tagged> {
    releases.iter().find(|r| r.version.pre.is_empty() && r.version.cmp_precedence(version).is_lt())
}

/// Whether two versions are the same release: what follows a `+` does not make another (SemVer 2.0.0, section 10).
#[must_use]
pub fn is_same(one: &Version, other: &Version) -> bool {
    one.cmp_precedence(other).is_eq()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn a_bump_is_read_from_two_versions() {
        for (from, to, bump) in [
            ("1.2.3", "1.2.4", Bump::Patch),
            ("1.2.3", "1.3.0", Bump::Minor),
            ("1.2.3", "2.0.0-rc.1", Bump::Major),
            ("2.0.0-rc.1", "2.0.0", Bump::Major),
            ("2.1.0-rc.1", "2.1.0-rc.2", Bump::Minor),
            ("2.1.1-rc.1", "2.1.1", Bump::Patch),
            ("1.2.3", "1.2.3", Bump::None),
            ("1.2.3", "1.2.2", Bump::None),
            ("1.2.3", "1.2.3+build.5", Bump::None),
        ] {
            assert_eq!(declared(&v(from), &v(to)), bump, "{from} {to}");
        }
    }

    #[test]
    fn below_one_a_break_is_a_minor_release() {
        assert_eq!(Bump::Major.above(&v("1.0.0")), Bump::Major);
        assert_eq!(Bump::Major.above(&v("0.3.1")), Bump::Minor);
        assert_eq!(Bump::Minor.above(&v("0.3.1")), Bump::Patch);
        assert_eq!(Bump::Major.above(&v("0.0.4")), Bump::Patch);
        assert_eq!(Bump::None.above(&v("0.3.1")), Bump::None);
    }

    #[test]
    fn tags_of_a_package_beat_plain_ones() {
        let tags =
            ["v1.0.0", "1.1.0", "ui@2.0.0", "@acme/ui@2.1.0", "other@9.0.0", "ui-v2.0.5", "latest", "v1"];
        let of =
            |package| releases(tags, package, Scheme::SemVer).into_iter().map(|t| t.tag).collect::<Vec<_>>();
        assert_eq!(of("@acme/ui"), ["@acme/ui@2.1.0", "ui-v2.0.5", "ui@2.0.0"]);
        assert_eq!(of("alone"), ["1.1.0", "v1.0.0"]);
        assert_eq!(of(""), ["1.1.0", "v1.0.0"]);
    }

    #[test]
    fn tags_of_python_are_read_as_python_writes_versions() {
        let of = |tags: &[&str], package| -> Vec<(String, String)> {
            let found = releases(tags.iter().copied(), package, Scheme::Python);
            found.into_iter().map(|t| (t.tag, t.version.to_string())).collect()
        };
        let pair = |tag: &str, version: &str| (tag.to_owned(), version.to_owned());
        assert_eq!(
            of(
                &["v1.2.0rc1", "1.1", "v1", "1.0.post1", "v1.1.1-next.1", "2!1.0", "1.2.0-rc.2", "latest"],
                "acme"
            ),
            [
                pair("1.2.0-rc.2", "1.2.0-rc.2"),
                pair("v1.2.0rc1", "1.2.0-rc.1"),
                pair("v1.1.1-next.1", "1.1.1-next.1"),
                pair("1.1", "1.1.0")
            ]
        );
        let tags = ["acme_ui-1.2.0", "acme-ui@v1.1.0", "Acme.UI/1.0", "acme-uix-3.0.0", "v9.0.0", "acme-9.0"];
        assert_eq!(
            of(&tags, "Acme-UI"),
            [pair("acme_ui-1.2.0", "1.2.0"), pair("acme-ui@v1.1.0", "1.1.0"), pair("Acme.UI/1.0", "1.0.0")]
        );
        let asked = v("1.2.0-rc1");
        assert_eq!(
            (Scheme::Python.plain(&asked), Scheme::Python.write(&asked)),
            (v("1.2.0-rc.1"), "1.2.0rc1".to_owned())
        );
        assert_eq!(
            (Scheme::SemVer.plain(&asked), Scheme::SemVer.write(&asked)),
            (asked.clone(), asked.to_string())
        );
    }

    #[test]
    fn a_release_follows_the_greatest_final_one_below_it() {
        let all = releases(["v1.0.0", "v1.1.0", "v2.0.0-rc.1", "v2.0.0-rc.2", "v3.0.0"], "x", Scheme::SemVer);
        let before = |of: &str| before(&all, &v(of)).map(|t| t.tag.as_str());
        assert_eq!(before("2.0.0"), Some("v1.1.0"));
        assert_eq!(before("2.0.0-rc.3"), Some("v1.1.0"));
        assert_eq!(before("1.1.0+x"), Some("v1.0.0"));
        assert_eq!(before("1.0.0"), None);
        assert!(is_same(&v("1.0.0+a"), &v("1.0.0")) && !is_same(&v("1.0.0-a"), &v("1.0.0")));
    }
}
