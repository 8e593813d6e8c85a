//! Paths beneath a root, as tools name them.
//!
//! A [`RelPath`] is a *name*, checked for what no operating system should be asked to interpret. Where it leads is
//! decided by `exec`, beneath an open directory handle; nothing here or there compares path prefixes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::is_deceptive;

/// Longest path in bytes (Linux `PATH_MAX` less the terminator).
pub const MAX_PATH: usize = 4095;

/// Longest component in bytes.
pub const MAX_COMPONENT: usize = 255;

/// A relative path beneath a root: `/`-separated, normalised, never empty components, never `.` or `..`.
///
/// The same names are refused on every operating system, so that a plan means the same on all of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

/// Why a text is not a path beneath a root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    /// The empty path names nothing.
    #[error("the path is empty")]
    Empty,
    /// Absolute, or with a scheme, drive or device prefix.
    #[error("the path is absolute; name it relative to the root")]
    Absolute,
    /// A `..` component.
    #[error("the path climbs with `..`; name it from the root down")]
    Climbs,
    /// Longer than [`MAX_PATH`], or a component longer than [`MAX_COMPONENT`].
    #[error("the path or one of its components is too long")]
    TooLong,
    /// NUL, another control character, or one that is invisible or reorders text.
    #[error("the path has a control, invisible or bidirectional character ({0})")]
    Character(String),
    /// A backslash or a colon: separators, drives and streams elsewhere.
    #[error("the path has {0:?}, which other systems interpret; use `/` and plain names")]
    Separator(char),
    /// A component that another system reads as something else: a device name, a trailing dot or space, a short name.
    #[error("the component {0:?} is a device or an alias on other systems")]
    Alias(String),
    /// The git directory, under any spelling that some file system folds to it.
    #[error("the component {0:?} is git's own directory")]
    Git(String),
}

impl RelPath {
    /// Checks and normalises `text`: `.` components and repeated or trailing slashes go, everything else must fit.
    pub fn new(text: &str) -> Result<Self, PathRefusal> {
        if text.is_empty() {
            return Err(PathRefusal::Empty);
        }
        if text.len() > MAX_PATH {
            return Err(PathRefusal::TooLong);
        }
        if text.starts_with(['/', '\\']) || has_scheme_or_drive(text) {
            return Err(PathRefusal::Absolute);
        }
        let mut kept = Vec::new();
        for component in text.split('/') {
            match component {
                "" | "." => {}
                ".." => return Err(PathRefusal::Climbs),
                other => {
                    check_component(other)?;
                    kept.push(other);
                }
            }
        }
        if kept.is_empty() { Err(PathRefusal::Empty) } else { Ok(Self(kept.join("/"))) }
    }

    /// The normalised text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The components, outermost first.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The last component.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The part after the last dot of the file name, when there is one and it is not the first character.
    #[must_use]
    pub fn extension(&self) -> Option<&str> {
        self.file_name().rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ext)| ext)
    }

    /// The directory that holds it; `None` at the top of the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }

    /// Every directory above it, outermost first.
    #[must_use]
    pub fn ancestors(&self) -> Vec<Self> {
        self.0.match_indices('/').map(|(i, _)| Self(self.0[..i].to_owned())).collect()
    }

    /// This path with `name` (one or more components) below it.
    pub fn join(&self, name: &str) -> Result<Self, PathRefusal> {
        Self::new(&format!("{}/{name}", self.0))
    }

    /// Where a link at this path that holds `target` leads. A way up after a way down is refused: what lies there may be
    /// a link itself, and up from it is elsewhere.
    pub fn resolve_link(&self, target: &str) -> Result<Self, PathRefusal> {
        let mut down = false;
        for part in target.split('/') {
            if part == ".." && down {
                return Err(PathRefusal::Climbs);
            }
            down |= !matches!(part, "" | "." | "..");
        }
        self.resolve_reference(target)
    }

    /// Resolves `reference` as a relative reference from this *file*: `..` may climb, but not out of the root.
    pub fn resolve_reference(&self, reference: &str) -> Result<Self, PathRefusal> {
        if reference.starts_with('/') || has_scheme_or_drive(reference) {
            return Err(PathRefusal::Absolute);
        }
        let mut parts: Vec<&str> = self.components().collect();
        parts.pop();
        for component in reference.split('/') {
            match component {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(PathRefusal::Climbs)?;
                }
                other => parts.push(other),
            }
        }
        Self::new(&parts.join("/"))
    }

    /// Whether it is `other` or lies below it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.strip_prefix(&other.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// `C:`, `file:`, `https:`: anything before a colon in the first component.
fn has_scheme_or_drive(text: &str) -> bool {
    text.split('/').next().is_some_and(|first| {
        first.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        })
    })
}

fn check_component(component: &str) -> Result<(), PathRefusal> {
    if component.len() > MAX_COMPONENT {
        return Err(PathRefusal::TooLong);
    }
    if let Some(c) = component.chars().find(|c| c.is_control() || is_deceptive(*c)) {
        return Err(PathRefusal::Character(format!("U+{:04X}", u32::from(c))));
    }
    if let Some(c) = component.chars().find(|c| matches!(c, '\\' | ':')) {
        return Err(PathRefusal::Separator(c));
    }
    let lower = component.to_lowercase();
    if lower.chars().filter(|c| !is_ignored(*c)).eq(".git".chars()) {
        return Err(PathRefusal::Git(component.to_owned()));
    }
    if component.ends_with(['.', ' ']) || is_device(&lower) || is_short_name(&lower) {
        return Err(PathRefusal::Alias(component.to_owned()));
    }
    Ok(())
}

/// Whether a file system that folds case takes a name with `c` for the one without it: Unicode's `Default_Ignorable_Code_Point`, as far
/// as it is not [deceptive](is_deceptive) and refused anyway.
const fn is_ignored(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
}

/// Windows device names, with any extension and with the superscript digits that Windows folds (CVE-2024-51756).
fn is_device(lower: &str) -> bool {
    let stem = lower.split('.').next().unwrap_or_default().trim_end_matches(' ');
    if matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$") {
        return true;
    }
    ["com", "lpt"].iter().any(|prefix| {
        stem.strip_prefix(prefix).is_some_and(|digit| {
            let mut chars = digit.chars();
            matches!((chars.next(), chars.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
        })
    })
}

/// An 8.3 alias such as `git~1`: at most eight characters with `~` and a digit, at most three of extension.
fn is_short_name(lower: &str) -> bool {
    let (stem, extension) = lower.split_once('.').unwrap_or((lower, ""));
    stem.len() <= 8
        && extension.len() <= 3
        && stem.rsplit_once('~').is_some_and(|(name, number)| {
            !name.is_empty() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        })
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for RelPath {
    type Error = PathRefusal;

    fn try_from(text: String) -> Result<Self, PathRefusal> {
        Self::new(&text)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_link_goes_up_before_it_goes_down_or_not_at_all() {
        let link = RelPath::new("b/1/2/link").unwrap();
        assert_eq!(link.resolve_link("../../a").unwrap().as_str(), "b/a");
        assert_eq!(link.resolve_link("./sub/a").unwrap().as_str(), "b/1/2/sub/a");
        for target in ["sub/../../x", "./sub/../x", "../../../../x", "/x"] {
            assert!(link.resolve_link(target).is_err(), "{target}");
        }
    }

    #[test]
    fn ordinary_names_pass_and_are_normalised() {
        for (text, expected) in [
            ("tokens/colors.json", "tokens/colors.json"),
            ("./a//b/./c/", "a/b/c"),
            ("-rf", "-rf"),
            ("~", "~"),
            ("$HOME/x", "$HOME/x"),
            ("%2e%2e%2fetc", "%2e%2e%2fetc"),
            ("docs/etc/passwd", "docs/etc/passwd"),
            ("．．／x", "．．／x"),
            ("a..b/...x", "a..b/...x"),
            ("caf\u{e9}/cafe\u{301}", "caf\u{e9}/cafe\u{301}"),
            ("backup~/notes~1.md.txt", "backup~/notes~1.md.txt"),
            ("console.log", "console.log"),
            (".github/workflows", ".github/workflows"),
            ("x.git", "x.git"),
        ] {
            assert_eq!(RelPath::new(text).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn what_other_systems_interpret_is_refused_everywhere() {
        for bad in [
            "",
            "/",
            ".",
            "/etc/passwd",
            "//etc/passwd",
            "file:///etc/passwd",
            "..",
            "a/../b",
            "a\0b",
            "a\nb",
            "C:\\x",
            "c:/x",
            "\\\\?\\C:\\x",
            "\\\\server\\share",
            "CON",
            "nul.txt",
            "COM¹",
            "lpt3.log",
            "a.txt:ads",
            "x.",
            "x ",
            "GIT~1",
            "a/git~2",
            "PROGRA~1",
            ".git",
            ".GIT/config",
            ".g\u{fe0f}it/config",
            "a/.git\u{fff0}",
            "a/.Git/x",
            ".g\u{200c}it/x",
            "a\u{202e}gpj.exe",
            "a\u{2066}b",
            "\u{feff}a",
        ] {
            assert!(RelPath::new(bad).is_err(), "{bad:?}");
        }
        assert!(RelPath::new(&"a".repeat(256)).is_err());
        assert!(RelPath::new(&"a/".repeat(2100)).is_err());
    }

    #[test]
    fn references_climb_within_the_root_only() {
        let from = RelPath::new("tokens/themes/dark.json").unwrap();
        assert_eq!(from.resolve_reference("../base.json").unwrap().as_str(), "tokens/base.json");
        assert_eq!(from.resolve_reference("../../../x"), Err(PathRefusal::Climbs));
        assert_eq!(from.resolve_reference("file:///x"), Err(PathRefusal::Absolute));
    }

    #[test]
    fn within_compares_components_not_characters() {
        let root = RelPath::new("artifacts").unwrap();
        assert!(RelPath::new("artifacts/x").unwrap().is_within(&root));
        assert!(!RelPath::new("artifacts-evil/x").unwrap().is_within(&root));
    }

    proptest! {
        #[test]
        fn whatever_passes_has_only_plain_components(text in "\\PC{0,40}|[./a~:\\\\ ]{0,12}") {
            if let Ok(path) = RelPath::new(&text) {
                prop_assert!(!path.as_str().starts_with('/'));
                prop_assert!(path.components().all(|c| !c.is_empty() && c != "." && c != ".."));
                prop_assert_eq!(RelPath::new(path.as_str()), Ok(path.clone()));
            }
        }
    }
}
