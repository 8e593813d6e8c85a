//! How much a run may be given, and what a refusal says.

use gatewright_grammar::{Grammar, MAX_ARGUMENTS, MAX_BYTES, Place, Why};

fn refusal(program: &str, args: &[&str]) -> String {
    let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
    Grammar::of(program).unwrap().check(&args, &Place::root()).unwrap_err().to_string()
}

#[test]
fn x12_a_million_arguments_and_one_of_megabytes_are_refused_with_the_limit() {
    let eslint = Grammar::of("eslint").unwrap();
    let many = vec!["a.js".to_owned(); 1_000_000];
    let refused = eslint.check(&many, &Place::root()).unwrap_err();
    assert_eq!(*refused.why, Why::TooMany(1_000_000));
    assert!(refused.to_string().contains("more than 1000"), "{refused}");
    let long = vec!["a".repeat(3 << 20)];
    let refused = eslint.check(&long, &Place::root()).unwrap_err();
    assert!(matches!(*refused.why, Why::TooLong(_)) && refused.to_string().len() < 300, "{refused}");
    assert!(eslint.check(&vec!["a.js".to_owned(); MAX_ARGUMENTS], &Place::root()).is_ok());
    let words = "x".repeat(MAX_BYTES / MAX_ARGUMENTS);
    assert!(eslint.check(&vec![words; MAX_ARGUMENTS], &Place::root()).is_err());
}

#[test]
fn a_refusal_says_which_argument_why_and_what_to_write_instead() {
    let said = refusal("git", &["diff", "--output=/tmp/x"]);
    assert_eq!(
        said,
        "git diff is not run: argument 2 `--output=/tmp/x`: `--output` is refused: it writes a file; the output of a run is kept"
    );
    assert!(refusal("go", &["test", "-verbos"]).contains("no such flag"));
    assert!(refusal("ruff", &["check", "--statistcs"]).contains("did you mean `--statistics`?"));
    assert!(refusal("git", &["statsu"]).contains("did you mean `status`?"));
    assert!(refusal("jest", &["--cover"]).contains("write `--coverage`"));
    assert!(refusal("go", &["mod"]).contains("`mod tidy`"));
    assert!(refusal("vitest", &["run", "-t", "--x"]).contains("join it"));
}

#[test]
fn x04_what_is_shown_of_an_argument_hides_nothing() {
    let said = refusal("git", &["diff", "--out\u{200b}put=x\u{202e}"]);
    assert!(said.contains("\\u{200b}") && said.contains("\\u{202e}"), "{said}");
    assert!(said.contains("invisible"), "{said}");
    assert!(refusal("git", &["log", "\u{2014}output=x"]).contains("looks like `-`"));
}

#[test]
fn what_is_written_is_reported_from_the_root() {
    let place = Place::at(contract::RelPath::new("packages/web").unwrap());
    let writes = |program: &str, args: &[&str]| {
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        let accepted = Grammar::of(program).unwrap().check(&args, &place).unwrap();
        assert_eq!(accepted.args, args);
        accepted.writes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(writes("eslint", &["-o", "../reports/a.json", "."]), ["packages/reports/a.json"]);
    assert_eq!(
        writes("pytest", &["--cov-report=xml:cov.xml", "--junitxml=j.xml"]),
        ["packages/web/cov.xml", "packages/web/j.xml"]
    );
    assert_eq!(writes("python", &["-m", "pytest", "--junitxml=j.xml"]), ["packages/web/j.xml"]);
    assert_eq!(writes("go", &["build", "-o", "/dev/null", "./..."]), Vec::<String>::new());
    assert_eq!(writes("python", &["-m", "venv", ".venv"]), ["packages/web/.venv"]);
}
