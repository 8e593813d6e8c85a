//! What the go command takes: packages, linker and compiler flags.

use super::word::{duration, plain};
use super::{Fits, Unfit, path};
use crate::place::Place;

/// `./...`, `std`, `example.com/m/v2/...`, `example.com/m@v1.2.3`, a file, or a directory.
pub(super) fn package(value: &str, place: &Place) -> Fits {
    if value.is_empty() {
        return Err(Unfit::Empty);
    }
    plain(value)?;
    if value.starts_with('.') || value.strip_suffix(".go").is_some() {
        return path::path(value, place).map(|_| ());
    }
    if value.starts_with('/') || value.contains(':') {
        return Err(Unfit::Absolute);
    }
    let (import, version) =
        value.split_once('@').map_or((value, None), |(import, version)| (import, Some(version)));
    if let Some(c) = import.chars().find(|c| !c.is_ascii_alphanumeric() && !"-._~/+".contains(*c)) {
        return Err(Unfit::Character(c));
    }
    if import.split('/').any(|part| part == ".." || part.is_empty() || part.starts_with('-')) {
        return Err(Unfit::Form("is not an import path or pattern such as `./...`"));
    }
    let fits = |v: &str| {
        !v.is_empty()
            && !v.starts_with('-')
            && v.chars().all(|c| c.is_ascii_alphanumeric() || "-._+/".contains(c))
    };
    if version.is_some_and(|version| !fits(version)) {
        return Err(Unfit::Form("has no version behind `@`"));
    }
    Ok(())
}

/// Splits as go does: blanks separate, quotes hold together and have no escapes.
fn quoted(value: &str) -> Result<Vec<String>, Unfit> {
    let mut words = Vec::new();
    let mut rest = value.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = if matches!(first, '\'' | '"') {
            rest.get(1..)
                .and_then(|r| r.split_once(first))
                .ok_or(Unfit::Form("has a quote that is not closed"))?
        } else {
            rest.split_at_checked(rest.find(char::is_whitespace).unwrap_or(rest.len())).unwrap_or((rest, ""))
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Ok(words)
}

/// Drops one of the two dashes that Go's flags may have.
fn bare(word: &str) -> Option<&str> {
    word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|name| !name.is_empty())
}

fn refused(word: &str, reason: &'static str) -> Unfit {
    Unfit::Word { word: word.chars().take(60).collect(), reason }
}

/// The linker's flags: those that set variables or leave things out. `-extld`, `-extldflags`, `-linkmode=external` and the
/// like start or steer another linker.
pub(super) fn ldflags(value: &str) -> Fits {
    plain(value)?;
    let words = quoted(value)?;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = bare(word).ok_or_else(|| refused(word, "is not a flag of the linker"))?;
        match name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value))) {
            (
                "s" | "w" | "v" | "race" | "msan" | "asan" | "compressdwarf" | "dumpdep",
                None | Some("true" | "false"),
            )
            | ("buildid", Some(""))
            | ("linkmode", Some("internal" | "auto")) => {}
            ("buildid", Some(id)) if id.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)) => {}
            ("X", Some(set)) => variable(set)?,
            ("X", None) => {
                let set = words.next().ok_or_else(|| refused(word, "needs `import/path.name=value`"))?;
                variable(set)?;
            }
            _ => {
                return Err(refused(
                    word,
                    "is none of `-X`, `-s`, `-w`, `-buildid=`: others start or steer other programs",
                ));
            }
        }
    }
    Ok(())
}

/// `import/path.name=value`.
fn variable(set: &str) -> Fits {
    let (name, _) = set.split_once('=').ok_or_else(|| refused(set, "is not `import/path.name=value`"))?;
    let fits = name.contains('.')
        && !name.starts_with('-')
        && name.chars().all(|c| c.is_alphanumeric() || "-._~/".contains(c));
    if fits { Ok(()) } else { Err(refused(set, "is not `import/path.name=value`")) }
}

/// The compiler's flags, perhaps behind `pattern=`: those that print or that leave optimisations out.
pub(super) fn gcflags(value: &str) -> Fits {
    plain(value)?;
    let flags = match value.split_once('=') {
        Some((pattern, flags)) if !pattern.starts_with('-') && !pattern.contains(' ') => {
            package(pattern, &Place::root())?;
            flags
        }
        _ => value,
    };
    for word in quoted(flags)? {
        let name = bare(&word).ok_or_else(|| refused(&word, "is not a flag of the compiler"))?;
        let small = |v: &str| v.len() == 1 && v.bytes().all(|b| b.is_ascii_digit());
        match name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value))) {
            ("N" | "l" | "m" | "S" | "e" | "B" | "w" | "race", None) => {}
            ("l" | "m" | "c", Some(level)) if small(level) => {}
            ("lang", Some(version)) if super::word::version(version).is_ok() => {}
            _ => return Err(refused(&word, "is none of `-N`, `-l`, `-m`, `-S`, `-e`, `-B`, `-lang=`")),
        }
    }
    Ok(())
}

/// A duration, or a number of times (`100x`).
pub(super) fn benchtime(value: &str) -> Fits {
    match value.strip_suffix('x') {
        Some(count) => super::word::int(count, &(1..=1_000_000_000)),
        None => duration(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x06_linker_flags_set_variables_and_start_nothing() {
        for good in [
            "-s -w",
            "-X main.version=1.2.3",
            "-X=main.a=b -s",
            "-X 'main.date=2024-01-01 10:00; x'",
            "-w -X \"a/b.c=d e\"",
            "-buildid=",
            "",
        ] {
            assert!(ldflags(good).is_ok(), "{good}");
        }
        for bad in [
            "-extld=/tmp/x",
            "-extld /tmp/x",
            "-s -extldflags=-static",
            "--extldflags '-B/x'",
            "-X",
            "-X main",
            "-linkmode=external",
            "-X main.a=b -tmpdir=/x",
            "@file",
            "-o /x",
            "'-s",
            "-I/x",
            "-r /x",
            "-pluginpath=x",
            "x",
        ] {
            assert!(ldflags(bad).is_err(), "{bad}");
        }
        for good in ["-N -l", "all=-N -l", "-m=2", "./...=-m", "-m -m"] {
            assert!(gcflags(good).is_ok(), "{good}");
        }
        for bad in [
            "-d=ssa/x/dump",
            "-o=/x",
            "-embedcfg=/x",
            "all=-importcfg=x",
            "@f",
            "-trimpath=/x",
            "-asmhdr x",
            "-linkobj=x",
            "/x=-N",
        ] {
            assert!(gcflags(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn packages_are_patterns_import_paths_or_files_inside() {
        let root = Place::root();
        for good in [
            "./...",
            ".",
            "./cmd/x",
            "std",
            "all",
            "...",
            "github.com/a/b/...",
            "example.com/m@v1.2.3",
            "example.com/m@latest",
            "main.go",
            "cmd/x/main.go",
            "gopkg.in/yaml.v3",
        ] {
            assert!(package(good, &root).is_ok(), "{good}");
        }
        for bad in [
            "../x",
            "/etc/...",
            "-x",
            "a/../../b",
            "https://x/y",
            "a;b",
            "a b",
            "",
            "x@",
            "x@-y",
            "a//b",
            "/x/main.go",
            "а/b",
        ] {
            assert!(package(bad, &root).is_err(), "{bad}");
        }
        for (value, fits) in [("100x", true), ("2s", true), ("x", false), ("-1x", false), ("1y", false)] {
            assert_eq!(benchtime(value).is_ok(), fits, "{value}");
        }
    }
}
