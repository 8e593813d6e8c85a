//! Paths, globs and the places of tests. Lexical only: where a name leads (a link) is for the confinement of the run.

use contract::{RelPath, path::MAX_PATH};

use super::word::plain;
use super::{Fits, Unfit};
use crate::place::Place;

/// The path from the root that `value` names from the run's directory: without `.` and `..`; empty for the root itself.
pub(super) fn path(value: &str, place: &Place) -> Result<String, Unfit> {
    if value.is_empty() {
        return Err(Unfit::Empty);
    }
    if value.len() > MAX_PATH {
        return Err(Unfit::TooLong(MAX_PATH));
    }
    plain(value)?;
    if value.contains('\\') {
        return Err(Unfit::Character('\\'));
    }
    walk(value, place)
}

fn walk(value: &str, place: &Place) -> Result<String, Unfit> {
    if value.starts_with('/') || value.contains("://") || is_drive(value) {
        return Err(Unfit::Absolute);
    }
    let mut parts = place.components();
    for part in value.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(Unfit::Leaves)?;
            }
            other if is_git(other) => return Err(Unfit::GitDirectory),
            other => parts.push(other),
        }
    }
    Ok(parts.join("/"))
}

/// `C:` and `file:`: a letter or a known scheme before a colon.
fn is_drive(value: &str) -> bool {
    value.split_once(':').is_some_and(|(front, _)| {
        (front.len() == 1 && front.starts_with(|c: char| c.is_ascii_alphabetic()))
            || ["file", "data", "http", "https", "ftp", "ssh", "git", "node"]
                .contains(&front.to_lowercase().as_str())
    })
}

/// Git's directory under the spellings that some file system folds to it.
fn is_git(component: &str) -> bool {
    let folded = component.trim_end_matches(['.', ' ']).to_lowercase();
    folded == ".git" || folded == "git~1"
}

/// A path that no program takes for something else than a path: JSON, TOML, a setting.
pub(super) fn file(value: &str, place: &Place) -> Fits {
    match value.chars().find(|c| "={}[]\"'`$;&|<>".contains(*c)) {
        Some(c) => Err(Unfit::Character(c)),
        None => path(value, place).map(|_| ()),
    }
}

/// A regular expression that selects files by their paths, where a program might also take it for a path.
pub(super) fn filter(value: &str, place: &Place) -> Fits {
    super::word::regex(value)?;
    walk(value, place).map(|_| ())
}

/// What may be written: `None` is `/dev/null`.
pub(super) fn output(value: &str, place: &Place) -> Result<Option<RelPath>, Unfit> {
    if value == "/dev/null" {
        return Ok(None);
    }
    let inside = path(value, place)?;
    RelPath::new(&inside).map(Some).map_err(|refusal| Unfit::NotWritable(refusal.to_string()))
}

/// A path whose components may be patterns. What no pattern may hide: a climb, a root, or the git directory between
/// braces or behind a backslash.
pub(super) fn glob(value: &str, place: &Place) -> Fits {
    if value.is_empty() {
        return Err(Unfit::Empty);
    }
    if value.len() > MAX_PATH {
        return Err(Unfit::TooLong(MAX_PATH));
    }
    plain(value)?;
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        // A backslash before anything but a wildcard would spell a plain character in another way.
        if c == '\\' && !chars.next().is_some_and(|c| "*?[]{}()!+@$#".contains(c)) {
            return Err(Unfit::Character('\\'));
        }
    }
    let value = value.trim_start_matches('!');
    if value.contains(['{', '(']) {
        let alternatives = |c: char| "{}(),|".contains(c);
        let mut before = ' ';
        for c in value.chars() {
            if c == '/' && "{(,|".contains(before) {
                return Err(Unfit::Absolute);
            }
            before = c;
        }
        for part in value.split(|c| c == '/' || alternatives(c)) {
            if part == ".." {
                return Err(Unfit::Leaves);
            }
            if is_git(part) {
                return Err(Unfit::GitDirectory);
            }
        }
        // Braces may also put one together: `.{.,x}/`, `{.,a}{.,b}/`.
        if value.split('/').any(|part| part.contains(['{', '(']) && put_together(part)) {
            return Err(Unfit::Leaves);
        }
    }
    walk(value, place).map(|_| ())
}

/// Whether the alternatives of one component could make up `..`: two dots that only pattern characters stand between.
fn put_together(component: &str) -> bool {
    let mut alone = component.split(|c: char| "{}(),|@?*+!".contains(c)).filter(|piece| !piece.is_empty());
    let dots = alone.clone().filter(|piece| *piece == ".").count();
    dots >= 2 || (dots == 1 && alone.any(|piece| piece.starts_with("..")))
}

/// `tests/test_a.py::TestA::test_b[x-1]`, `src/a.test.ts:12`: what stands behind the path is free, on one line.
pub(super) fn test_id(value: &str, place: &Place) -> Fits {
    let (file, name) = match value.split_once("::") {
        Some((file, name)) => (file, name),
        None => match value.rsplit_once(':') {
            Some((file, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) => (file, ""),
            _ => (value, ""),
        },
    };
    plain(name)?;
    path(file, place).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app() -> Place {
        Place::at(RelPath::new("apps/web").unwrap())
    }

    #[test]
    fn a_path_may_climb_inside_the_root_and_not_out_of_it() {
        assert_eq!(path("../../shared/./a.ts", &app()).unwrap(), "shared/a.ts");
        assert_eq!(path("../..", &app()).unwrap(), "");
        assert_eq!(path("docs/etc/x.md", &Place::root()).unwrap(), "docs/etc/x.md");
        for bad in ["../../../x", "a/../../../../x", "..//../../x"] {
            assert_eq!(path(bad, &app()), Err(Unfit::Leaves), "{bad}");
        }
        assert_eq!(path("../shared", &Place::root()), Err(Unfit::Leaves));
    }

    #[test]
    fn p20_nothing_is_expanded_and_what_another_would_expand_is_literal_or_refused() {
        for literal in ["~", "$HOME/x", "%2e%2e%2fx", "a b", "a&&b", "~root/x", "a;b", "drivers/aux.c"] {
            assert!(path(literal, &Place::root()).is_ok(), "{literal}");
        }
        for bad in [
            "/etc/passwd",
            "C:/x",
            "c:x",
            "file:///etc/passwd",
            "a\\..\\b",
            "a\u{202e}b",
            "a\nb",
            "",
            ".git/config",
            "x/.GIT/y",
            ".git./x",
        ] {
            assert!(path(bad, &Place::root()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_written_is_named_from_the_root() {
        assert_eq!(output("../out/a.xml", &app()).unwrap().unwrap().as_str(), "apps/out/a.xml");
        assert_eq!(output("/dev/null", &app()).unwrap(), None);
        for bad in ["/dev/stdout", "/tmp/x", "../..", "nul", "../../.git/hooks/x"] {
            assert!(output(bad, &app()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_glob_hides_no_climb() {
        for good in [
            "src/**/*.{ts,tsx}",
            "!dist/**",
            "test/[a-z]*.js",
            "**/?(*.)+(spec|test).js",
            "../*.md",
            "a\\[b\\].ts",
            "{src,test}/.*rc",
        ] {
            assert!(glob(good, &app()).is_ok(), "{good}");
        }
        for bad in [
            "/etc/*",
            "{../../..,x}/y",
            "{/etc,/x}/passwd",
            ".{.,x}/../../..",
            "{.,a}{.,b}/x",
            "\\.\\./x",
            "(..|a)/x",
            "{.git,x}/config",
            "../../../*",
            "!/etc/*",
            "@(.)@(.)/x",
            "*\u{200b}",
        ] {
            assert!(glob(bad, &app()).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_place_of_a_test_begins_with_a_path() {
        for good in ["tests/test_a.py::TestA::test_b[a/b-;|]", "src/a.test.ts:12", "tests", "a.py::t"] {
            assert!(test_id(good, &Place::root()).is_ok(), "{good}");
        }
        for bad in ["/x.py::t", "../x.py::t", "::t", "https://x/y:1"] {
            assert!(test_id(bad, &Place::root()).is_err(), "{bad}");
        }
    }
}
