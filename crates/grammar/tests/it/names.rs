//! Which word names a program, and what is said of the programs.

use gatewright_grammar::{Grammar, ProgramRefusal, describe, program_of, programs};

#[test]
fn x10_only_a_plain_name_with_a_grammar_is_a_program() {
    for program in programs() {
        assert_eq!(program_of(program).unwrap(), program);
    }
    assert_eq!(program_of("python3").unwrap(), "python3");
    for bad in [
        "/tmp/git",
        "./git",
        "../git",
        "git.exe",
        "GIT",
        "Git",
        "gıt",
        "g\u{200b}it",
        "git ",
        " git",
        "git\n",
        "mygit",
        "gitt",
        "bash",
        "sh",
        "busybox",
        "npx",
        "tsx",
        "C:\\git.exe",
        "~/git",
        "",
        "-c",
        "script",
        "sets",
        "git\0",
        "ɡit",
        "node.exe",
        "curl",
        "env",
    ] {
        assert!(program_of(bad).is_err(), "{bad:?}");
        assert!(Grammar::of(bad).is_none(), "{bad:?}");
    }
    assert!(matches!(program_of("/usr/bin/git"), Err(ProgramRefusal::Path(_))));
    assert!(matches!(program_of("git.exe"), Err(ProgramRefusal::LooksLike(_, "git"))));
    assert!(matches!(program_of("GIT"), Err(ProgramRefusal::LooksLike(_, "git"))));
    assert!(program_of("npx").unwrap_err().to_string().contains("call the program by its own name"));
}

#[test]
fn every_program_is_described_and_its_other_names_are_those_of_its_file() {
    for program in programs() {
        let text = describe(program).unwrap();
        assert!(text.lines().count() >= 2 && text.starts_with(program), "{text}");
        let grammar = Grammar::of(program).unwrap();
        assert_eq!(grammar.program(), program);
        assert!(!grammar.follows().is_empty());
        for other in grammar.also() {
            assert_eq!(Grammar::of(other).map(Grammar::program), Some(program), "{other}");
        }
    }
    assert!(describe("git").unwrap().contains("not push: it opens the network"));
    assert!(describe("sh").is_none());
}
