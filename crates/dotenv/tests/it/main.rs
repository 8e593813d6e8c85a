//! The reader, held against npm's dotenv, and to what must hold of any text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests start node")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gatewright_dotenv::{Trouble, parse};
use proptest::prelude::*;

/// Texts that both read alike.
const ALIKE: &[&str] = &[
    "",
    "\n\n",
    "A=1",
    "A=1\nB=2",
    "A=1\r\nB=2\r\n",
    "A=1\rB=2",
    "A =1",
    "A= 1",
    "A = 1 ",
    "  A=1",
    "\tA=1\t",
    "export A=1",
    "export  A=1",
    "  export A = 1",
    "export=1",
    "exportA=1",
    "A=",
    "A=\nB=1",
    "A=   \nB=1",
    "# comment",
    "  # comment\nA=1",
    "A=1 # comment",
    "A=1#comment",
    "A=#comment",
    "A=# \nB=2",
    "A='1'",
    "A=\"1\"",
    "A=`1`",
    "A=' 1 '",
    "A=\" 1 \"",
    "A=' 1 ' # c",
    "A='#'",
    "A=\"a # b\" # c",
    "A=`a # b`",
    "A='it\"s'",
    "A=\"it's\"",
    "A=`it's \"it\"`",
    "A='a\\'b'",
    "A=\"a\\\"b\"",
    "A=\"a\\nb\"",
    "A='a\\nb'",
    "A=`a\\nb`",
    "A=a\\nb",
    "A=\"a\\r\\nb\"",
    "A=\"a\\tb\"",
    "A=\"one\ntwo\"\nB=1",
    "A='one\ntwo'\nB=1",
    "A=`one\n\ntwo`",
    "A=\"one\r\ntwo\"",
    "A=\"unclosed",
    "A='unclosed\nB=1",
    "A=`unclosed",
    "A=\"",
    "A='",
    "A=''",
    "A=\"\"",
    "A=``",
    "A=a=b",
    "A==",
    "A=a b c",
    "A=a 'b' c",
    "A='a' b",
    "A='a' 'b'",
    "A=\"a\" b # c",
    "A=\"a\"b\"",
    "A.B=1",
    "A-B=1",
    "1A=1",
    "_=1",
    "a=1",
    "A=1\nA=2",
    "A",
    "A B=1",
    "=1",
    "A+=1",
    "A: 1",
    "A:1",
    "A : 1",
    "A:  'x'",
    "A=${B}",
    "A=$B",
    "A=\"${B}\"",
    "A=\\$B",
    "A=ünï",
    "Ü=1",
    "A=\u{a0}1\u{a0}",
    "\u{feff}A=1",
    "A=1\n\n\n# x\n\nB=2",
    "A={\"a\": 1}",
    "A='{\"a\": 1}'",
    "A=https://x.example/?a=b&c=d",
    "A=p#ss",
    "A='p#ss'",
    "A=\"multi # not\nline\" # yes",
    "A='a\\'",
    "A=\"a\\\"\nB=\"c\"",
    "export A='x'\nexport B",
    "export",
    "A=x\\",
    "A=\"x\\\\\"",
    "A=\\\"x\\\"",
    "A=-1",
    "A=\" \"",
    "-----BEGIN-----\nA=1",
    "A=\"-----BEGIN KEY-----\nabc==\n-----END KEY-----\"\nB=1",
];

/// What npm's dotenv reads across the end of a line, which nobody writes on purpose: each is read here as its lines are.
const OTHERWISE: &[&str] = &["A\n=1", "A=\n'b'", "A:\nB=1"];

fn ours(text: &str) -> BTreeMap<String, String> {
    parse(text).variables.into_iter().map(|variable| (variable.name, variable.value)).collect()
}

fn installed() -> Option<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| top.join("target"), PathBuf::from);
    let tried = [target.join("npm/devtools"), top.join("target/npm/devtools")];
    tried.into_iter().find(|place| place.join("node_modules/dotenv").exists())
}

fn of_npm(place: &Path, texts: &[&str]) -> Vec<BTreeMap<String, String>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/npm.mjs");
    let mut node = Command::new("node")
        .arg(script)
        .arg(place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    node.stdin.take().unwrap().write_all(&serde_json::to_vec(texts).unwrap()).unwrap();
    let output = node.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn files_are_read_as_npms_dotenv_reads_them() {
    let Some(place) = installed() else {
        return skip("npm's dotenv (`cargo xtask test` installs it into target/)");
    };
    assert!(ALIKE.len() >= 60);
    let theirs = of_npm(&place, ALIKE);
    assert_eq!(theirs.len(), ALIKE.len());
    let wrong: Vec<String> = ALIKE
        .iter()
        .zip(&theirs)
        .filter(|(text, theirs)| ours(text) != **theirs)
        .map(|(text, theirs)| format!("{text:?}\n  npm:  {theirs:?}\n  ours: {:?}", ours(text)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ALIKE.len(), wrong.join("\n"));
    for (text, theirs) in OTHERWISE.iter().zip(of_npm(&place, OTHERWISE)) {
        assert_ne!(ours(text), theirs, "{text:?} is read alike by now");
    }
}

#[test]
fn what_is_hardly_meant_is_told_with_its_line() {
    let told =
        |text: &str| parse(text).problems.into_iter().map(|one| (one.line, one.what)).collect::<Vec<_>>();
    assert_eq!(told("A=1\nwhat\n# x\nB=2\n"), [(2, Trouble::NoAssignment)]);
    assert_eq!(told("A=1\n\nB=\"x\nC=2"), [(3, Trouble::Unclosed)]);
    assert_eq!(told("A='x' y"), [(1, Trouble::AfterQuote)]);
    assert_eq!(told("A=1\nB=\"x\ny\"\nA=2"), [(4, Trouble::Twice)]);
    assert_eq!(told("export A=1\n  # c\nB=`x`\n"), []);
}

#[test]
fn no_file_takes_long() {
    let since = std::time::Instant::now();
    for line in ["A='\\'", "\\'", "A=\"x\n", "A_\n", "$A", "A='b\n", "`"] {
        let text = format!("A='{}", line.repeat(1_000_000 / line.len()));
        assert!(parse(&text).variables.len() <= 1_000_000);
    }
    let many = (0..150_000).map(|at| format!("$N{at}")).collect::<Vec<_>>().concat();
    assert_eq!(parse(&format!("A={many}")).variables[0].references.len(), 100);
    let names = (0..100_000).map(|at| format!("N{at}=1\n")).collect::<Vec<_>>().concat();
    assert_eq!((parse(&names).variables.len(), parse(&names).problems.len()), (100_000, 0));
    assert!(since.elapsed() < std::time::Duration::from_secs(20), "{:?}", since.elapsed());
}

#[test]
fn references_are_named_and_never_followed() {
    let of = |text: &str| {
        let variable = parse(text).variables.remove(0);
        (variable.value, variable.references)
    };
    assert_eq!(
        of("A=$HOME/${X:-y}/$HOME"),
        ("$HOME/${X:-y}/$HOME".to_owned(), vec!["HOME".to_owned(), "X".to_owned()])
    );
    assert_eq!(of("A='$HOME'").1, Vec::<String>::new());
    assert_eq!(of("A=\\$HOME $1 $$").1, Vec::<String>::new());
}

/// Says loudly that a part was left out, where the summary of `cargo xtask test` counts it.
fn skip(part: &str) {
    eprintln!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{part}").unwrap();
    }
}

proptest! {
    #[test]
    fn any_text_is_read_and_every_line_is_one_of_it(text in "\\PC*|[A-C=#'\"`\\\\ \n\r$:x.]{0,60}") {
        let file = parse(&text);
        let lines = text.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count() + 1;
        for line in file.variables.iter().map(|one| one.line).chain(file.problems.iter().map(|one| one.line)) {
            prop_assert!((1..=lines).contains(&line));
        }
        for variable in &file.variables {
            prop_assert!(!variable.name.is_empty() && variable.name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)));
        }
    }

    #[test]
    fn what_is_written_in_quotes_is_read_as_it_was(
        entries in proptest::collection::btree_map("[A-Z][A-Z0-9_.-]{0,8}", "[^'\\\\\r\u{0}]{0,40}", 0..8)
    ) {
        let lines: Vec<String> = entries.iter().map(|(name, value)| format!("{name}='{value}' # kept\n")).collect();
        let text = lines.concat();
        let file = parse(&text);
        prop_assert_eq!(&file.problems, &vec![]);
        let read: BTreeMap<_, _> = file.variables.into_iter().map(|one| (one.name, one.value)).collect();
        prop_assert_eq!(read, entries);
    }

    #[test]
    fn the_form_of_line_ends_changes_nothing(text in "[A-C=#'\" \nx]{0,60}") {
        prop_assert_eq!(parse(&text), parse(&text.replace('\n', "\r\n")));
    }
}
