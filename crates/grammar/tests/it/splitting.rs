//! One string into words, and everything that only a shell would do refused by name and place.

use gatewright_grammar::{SplitError, join, split};

#[test]
fn quotes_and_backslashes_are_posix_and_nothing_is_expanded() {
    for (command, words) in [
        ("git log --grep 'fix: a && b > c'", vec!["git", "log", "--grep", "fix: a && b > c"]),
        ("go test -run 'TestA|TestB/sub$' ./...", vec!["go", "test", "-run", "TestA|TestB/sub$", "./..."]),
        ("eslint src/**/*.{ts,tsx} !dist", vec!["eslint", "src/**/*.{ts,tsx}", "!dist"]),
        (r#"a "b c" 'd"e' f\ g "h\"i" """#, vec!["a", "b c", "d\"e", "f g", "h\"i", ""]),
        ("a\tb   c", vec!["a", "b", "c"]),
        ("pytest -k x$", vec!["pytest", "-k", "x$"]),
        ("jest a#b -t 'x;y'\n", vec!["jest", "a#b", "-t", "x;y"]),
        ("make X=1 test", vec!["make", "X=1", "test"]),
        ("prettier a~b HEAD~1", vec!["prettier", "a~b", "HEAD~1"]),
        ("a 'b\nc'", vec!["a", "b\nc"]),
        (r"a \$HOME \; \&", vec!["a", "$HOME", ";", "&"]),
    ] {
        assert_eq!(split(command).unwrap(), words, "{command}");
    }
}

#[test]
fn x02_what_only_a_shell_acts_on_is_refused_by_name_and_place() {
    for (command, name, at) in [
        ("make test; id", "`;`", 9),
        ("make test && id", "`&&`", 10),
        ("make test || id", "`||`", 10),
        ("make test | sh", "`|`", 10),
        ("make > out", "`>`", 5),
        ("make >> out", "`>>`", 5),
        ("make < in", "`<`", 5),
        ("make 2>&1", "`>`", 6),
        ("make &", "`&`", 5),
        ("make `id`", "a backtick", 5),
        ("make \"`id`\"", "a backtick", 6),
        ("make $(id)", "`$(`", 5),
        ("make \"$(id)\"", "`$(`", 6),
        ("make $HOME", "`$`", 5),
        ("make \"$HOME\"", "`$`", 6),
        ("make ${X}", "`${`", 5),
        ("make $'a'", "`$` before a quote", 5),
        ("make $1", "`$`", 5),
        ("make\nid", "a newline", 4),
        ("make \\\nid", "a newline", 5),
        ("make\rid", "a newline", 4),
        ("CC=x make", "`NAME=value`", 0),
        ("  A=b C=d make", "`NAME=value`", 2),
        ("X+=1 make", "`NAME=value`", 0),
        ("make ~/x", "`~`", 5),
        ("~/bin/make", "`~`", 0),
        ("make # x", "`#`", 5),
        ("(make)", "`(`", 0),
        ("make <(id)", "`<`", 5),
    ] {
        match split(command) {
            Err(SplitError::Operator { operator, position, .. }) => {
                assert_eq!((operator.as_str(), position), (name, at), "{command}");
            }
            other => panic!("{command}: {other:?}"),
        }
    }
    assert!(matches!(split("make 'x"), Err(SplitError::Unclosed { what: "quote", position: 5 })));
    assert!(matches!(split("make \"x"), Err(SplitError::Unclosed { what: "quote", position: 5 })));
    assert!(matches!(split("make x\\"), Err(SplitError::Unclosed { what: "backslash", position: 6 })));
    assert!(matches!(split("  "), Err(SplitError::Empty)));
    assert!(matches!(split("a\0b"), Err(SplitError::Nul(1))));
    assert!(matches!(split(&"x".repeat(1 << 20)), Err(SplitError::TooLong)));
    let said = split("make test && id").unwrap_err().to_string();
    assert_eq!(
        said,
        "`&&` at byte 10 would run another command when this one succeeds; there is no shell here: give one command per call"
    );
}

#[test]
fn every_vector_of_both_suites_splits_back_to_itself() {
    for case in crate::suites::legitimate().into_iter().chain(crate::suites::hostile()) {
        let mut words = vec![case.program];
        words.extend(case.args);
        if let Some(command) = join(&words) {
            assert_eq!(split(&command).unwrap_or_else(|e| panic!("{words:?} as {command:?}: {e}")), words);
        }
    }
}
