//! What make takes: targets, and the variables that a recipe may be given.

use super::word::{MAX_NAME, plain};
use super::{Fits, Unfit, path};
use crate::place::Place;

/// A target: a name or a path inside.
pub(super) fn target(value: &str, place: &Place) -> Fits {
    if let Some(c) = value.chars().find(|c| !c.is_alphanumeric() && !"_.@+/-%".contains(*c)) {
        return Err(Unfit::Character(c));
    }
    path::path(value, place).map(|_| ())
}

/// Variables that choose make's own conduct or a program, or that programs read from their environment to load code: make
/// gives what stands on its command line to every recipe's environment.
const NAMES: [&str; 60] = [
    "SHELL",
    "MAKE",
    "MAKEFLAGS",
    "MFLAGS",
    "GNUMAKEFLAGS",
    "MAKEFILES",
    "MAKEOVERRIDES",
    "MAKEFILE_LIST",
    "VPATH",
    "CURDIR",
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "AS",
    "NM",
    "FC",
    "PC",
    "RM",
    "LEX",
    "YACC",
    "LINT",
    "TEX",
    "WEAVE",
    "TANGLE",
    "CO",
    "GET",
    "M2C",
    "F77",
    "RANLIB",
    "STRIP",
    "OBJCOPY",
    "INSTALL",
    "GO",
    "GOCMD",
    "GOFLAGS",
    "PYTHON",
    "PYTHON3",
    "PIP",
    "NODE",
    "NPM",
    "NPX",
    "YARN",
    "PNPM",
    "CARGO",
    "RUSTC",
    "JAVA",
    "DOCKER",
    "SUDO",
    "PATH",
    "HOME",
    "IFS",
    "ENV",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "TMPDIR",
    "PWD",
];

/// Beginnings of such names.
const PREFIXES: [&str; 19] = [
    "LD_", "DYLD_", "BASH_", "GIT_", "SSH_", "GO", "CGO_", "NODE_", "NPM_", "npm_", "PYTHON", "PIP_", "UV_",
    "PERL", "RUBY", "CARGO_", "RUST", "MAKE", "JAVA_",
];

/// Endings of such names.
const SUFFIXES: [&str; 10] =
    ["FLAGS", "_WRAPPER", "_RUNNER", "_SHELL", "_CMD", "_COMMAND", "_EXEC", "_PROXY", "_proxy", "_OPTIONS"];

/// Names with such a beginning or ending that are safe: what they take is checked like every value, and says for what, how much
/// or how loudly, never what is run.
const SAFE: [&str; 25] = [
    "GOOS",
    "GOARCH",
    "GOARM",
    "GOAMD64",
    "GOEXPERIMENT",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "GOTRACEBACK",
    "CGO_ENABLED",
    "CARGO_INCREMENTAL",
    "CARGO_TERM_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONUNBUFFERED",
    "TESTFLAGS",
    "TEST_FLAGS",
    "TESTOPTS",
    "BUILDFLAGS",
    "GO_TEST_FLAGS",
    "GOTEST_FLAGS",
    "GOTESTFLAGS",
    "NODE_ENV",
    "RUST_BACKTRACE",
    "RUST_LOG",
];

/// Flags that a variable may hand to a program: they choose or print, they load and start nothing.
const WORDS: [&str; 34] = [
    "-v",
    "-vv",
    "-q",
    "-s",
    "-x",
    "-k",
    "-n",
    "-m",
    "-short",
    "-race",
    "-cover",
    "-failfast",
    "-benchmem",
    "-json",
    "-run",
    "-bench",
    "-count",
    "-timeout",
    "-tags",
    "-skip",
    "-parallel",
    "--verbose",
    "--quiet",
    "--fix",
    "--check",
    "--coverage",
    "--no-color",
    "--color",
    "--release",
    "--all",
    "--bail",
    "--silent",
    "--nocapture",
    "--lf",
];

/// Whether a variable of this name chooses a program, or what one loads or connects to: a recipe is not given it, and no run is.
#[must_use]
pub fn variable_chooses(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let named = NAMES.contains(&upper.as_str())
        || PREFIXES.iter().any(|prefix| upper.starts_with(&prefix.to_ascii_uppercase()))
        || SUFFIXES.iter().any(|suffix| upper.ends_with(&suffix.to_ascii_uppercase()));
    named && !SAFE.contains(&name)
}

/// `NAME=value` for a recipe, which hands it to a shell: a name that chooses nothing, and words without anything that a
/// shell acts on, none of them a path that leaves or a flag beyond [`WORDS`].
pub(super) fn assignment(value: &str, place: &Place) -> Fits {
    let (name, set) = value.split_once('=').ok_or(Unfit::Form("is not `NAME=value`"))?;
    let name = name.strip_suffix([':', '?', '+']).unwrap_or(name);
    let named = !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && !name.starts_with('-');
    if !named {
        return Err(Unfit::Form("is not a variable's name followed by `=`"));
    }
    if variable_chooses(name) {
        return Err(Unfit::Word {
            word: name.to_owned(),
            reason: "is a variable that chooses a program or what it loads",
        });
    }
    plain(set)?;
    if let Some(c) = set.chars().find(|c| !c.is_alphanumeric() && !"_.,/:+@%= -".contains(*c)) {
        return Err(Unfit::Character(c));
    }
    set.split(' ').filter(|word| !word.is_empty()).try_for_each(|word| piece(word, place))
}

/// One word of a variable's value.
fn piece(word: &str, place: &Place) -> Fits {
    if !word.starts_with('-') {
        return path::path(
            word.split_once('=').map_or(word, |(_, value)| if value.is_empty() { word } else { value }),
            place,
        )
        .map(|_| ());
    }
    let (flag, value) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
    if !WORDS.contains(&flag) {
        let reason = "is not among the flags that a variable may hand on";
        return Err(Unfit::Word { word: word.chars().take(60).collect(), reason });
    }
    value.filter(|v| !v.is_empty()).map_or(Ok(()), |value| path::path(value, place).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_choose_no_program_and_hold_nothing_that_a_shell_acts_on() {
        let root = Place::root();
        for good in [
            "V=1",
            "VERSION=1.2.3-rc.1",
            "ARGS=-v ./...",
            "TESTARGS=-run=TestX -count=1",
            "GOOS=linux",
            "IMAGE=app:1.2",
            "PKG=./cmd/x",
            "DEBUG=",
            "NODE_ENV=test",
            "pkg:=./x",
            "TEST=tests/test_a.py",
        ] {
            assert!(assignment(good, &root).is_ok(), "{good}: {:?}", assignment(good, &root));
        }
        for bad in [
            "SHELL=/tmp/x",
            "shell=x",
            "MAKEFLAGS=--eval=x",
            ".SHELLFLAGS=-c",
            "CC=x",
            "X=$(shell id)",
            "X=`id`",
            "X=a;b",
            "X=a&&b",
            "X=a|b",
            "X=/etc/passwd",
            "X=../../x",
            "X=-exec=x",
            "ARGS=--config x",
            "LD_PRELOAD=x",
            "GOFLAGS=-toolexec=x",
            "X='a'",
            "X=a\nb",
            "X=>y",
            "=x",
            "1X=y",
            "A B=c",
            "PATH=x",
            "X={a,b}",
            "X=~",
            "X=https://x",
            "CFLAGS=-fplugin=x",
            "X=*",
            "X=k=/etc",
            "X!=id",
            "NPM_CONFIG_PREFIX=x",
            "HTTP_PROXY=x",
        ] {
            assert!(assignment(bad, &root).is_err(), "{bad}");
        }
        for (value, fits) in [
            ("test", true),
            ("build/out.o", true),
            ("lint-fix", true),
            ("/etc/x", false),
            ("../x", false),
            ("a;b", false),
            ("$(x)", false),
            ("", false),
            ("%.o", true),
        ] {
            assert_eq!(target(value, &root).is_ok(), fits, "{value}");
        }
    }
}
