//! Laws that hold for every grammar and any argument.

use contract::RelPath;
use gatewright_grammar::{Grammar, Place, join, programs, split};
use proptest::prelude::*;

use crate::suites::legitimate;

/// What no grammar has in any place before `--`, whatever else it accepts.
const HOSTILE: [&str; 19] = [
    "--exec-path=/tmp/x",
    "--upload-pack=sh",
    "--ext-diff",
    "--textconv",
    "--toolexec=/tmp/x",
    "-toolexec=/tmp/x",
    "-overlay=/tmp/x",
    "--eval=system(1)",
    "--script-shell=/tmp/x",
    "--node-options=--require=/tmp/x",
    "--rulesdir=/tmp/x",
    "--globalSetup=/tmp/x.js",
    "--rootdir=/",
    "--output=/tmp/x",
    "--config=/tmp/x",
    "--out\u{200b}put=x",
    "---",
    "--no-such-flag",
    "--\u{43e}utput=x",
];

/// What only looks like a flag; as a value it would be text, so it is put at the end.
const ALIKE: [&str; 3] = ["\u{2014}output=x", "\u{2212}\u{2212}exec=x", "\u{200b}--output=x"];

#[test]
fn x04_a_hostile_flag_put_anywhere_into_a_legitimate_vector_is_refused() {
    let mut passed = Vec::new();
    for case in legitimate() {
        let grammar = Grammar::of(&case.program).unwrap();
        let end = case.args.iter().position(|arg| arg == "--").unwrap_or(case.args.len());
        let anywhere = HOSTILE.into_iter().flat_map(|hostile| (0..=end).map(move |at| (hostile, at)));
        for (hostile, at) in anywhere.chain(ALIKE.into_iter().map(|alike| (alike, end))) {
            let mut args = case.args.clone();
            args.insert(at, hostile.to_owned());
            if grammar.check(&args, &case.place).is_ok() {
                passed.push(format!("{} {args:?}", case.program));
            }
        }
    }
    assert!(passed.is_empty(), "{} passed:\n{}", passed.len(), passed.join("\n"));
}

#[test]
fn flags_are_never_abbreviated() {
    // Every long flag of every legitimate vector, shortened by one letter, is another flag of that grammar or refused.
    for case in legitimate() {
        let grammar = Grammar::of(&case.program).unwrap();
        let known = gatewright_grammar::describe(&case.program).unwrap();
        for (at, arg) in
            case.args.iter().enumerate().filter(|(_, arg)| arg.starts_with("--") && arg.len() > 5)
        {
            let name = arg.split('=').next().unwrap();
            let short = &name[..name.len() - 1];
            let is_flag = known.split([' ', '|', ':', '\n']).any(|word| word == short);
            let mut args = case.args.clone();
            args[at] = arg.replacen(name, short, 1);
            assert!(is_flag || grammar.check(&args, &case.place).is_err(), "{} {args:?}", case.program);
        }
    }
}

fn any_argument() -> impl Strategy<Value = String> {
    let known: Vec<String> = legitimate().into_iter().flat_map(|case| case.args).collect();
    prop_oneof![
        any::<String>(),
        "[-]{0,3}[a-zA-Z@=:.~^/{}*,_ -]{0,12}",
        proptest::sample::select(known.clone()),
        (proptest::sample::select(known), any::<char>(), any::<prop::sample::Index>()).prop_map(
            |(text, c, at)| {
                let mut chars: Vec<char> = text.chars().collect();
                let at = at.index(chars.len() + 1);
                chars.insert(at, c);
                chars.into_iter().collect()
            }
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_check_never_panics_says_the_same_twice_and_changes_no_argument(
        which in any::<prop::sample::Index>(),
        args in prop::collection::vec(any_argument(), 0..8),
        below in any::<bool>(),
    ) {
        let all: Vec<&str> = programs().collect();
        let grammar = Grammar::of(all[which.index(all.len())]).unwrap();
        let place = if below { Place::at(RelPath::new("a/b").unwrap()) } else { Place::root() };
        let first = grammar.check(&args, &place);
        prop_assert_eq!(&first, &grammar.check(&args, &place));
        match first {
            Ok(accepted) => {
                prop_assert_eq!(&accepted.args, &args);
                prop_assert!(args.iter().all(|arg| !arg.contains('\0')));
            }
            Err(refusal) => {
                prop_assert!(refusal.index <= args.len());
                let hides = refusal.to_string().chars().any(|c| c.is_control() || contract::text::is_deceptive(c));
                prop_assert!(!hides, "{}", refusal);
            }
        }
    }

    #[test]
    fn no_accepted_argument_leaves_the_root_as_a_path(
        depth in 0usize..4,
        climb in 1usize..6,
        name in "[a-z]{1,6}",
    ) {
        let dir: Vec<String> = (0..depth).map(|i| format!("d{i}")).collect();
        let place = if depth == 0 { Place::root() } else { Place::at(RelPath::new(&dir.join("/")).unwrap()) };
        let path = format!("{}{name}", "../".repeat(climb));
        for (program, front) in [("eslint", vec![]), ("prettier", vec!["--check"]), ("go", vec!["vet"]), ("black", vec![]), ("gofmt", vec!["-l"])] {
            let args: Vec<String> = front.iter().map(|a| (*a).to_owned()).chain([path.clone()]).collect();
            prop_assert_eq!(Grammar::of(program).unwrap().check(&args, &place).is_ok(), climb <= depth, "{} {:?}", program, args);
        }
    }

    #[test]
    fn splitting_undoes_joining(args in prop::collection::vec("[^\0]{0,20}", 0..6)) {
        let words: Vec<String> = std::iter::once("git".to_owned()).chain(args).collect();
        prop_assert_eq!(split(&join(&words).unwrap()), Ok(words));
    }

    #[test]
    fn splitting_never_panics_and_lets_no_operator_through(text in "[ -~\n\t'\"\\\\$`;&|<>#~é]{0,60}") {
        if let Ok(words) = split(&text) {
            let unquoted = !text.contains(['\'', '"', '\\']);
            prop_assert!(!unquoted || !words.iter().any(|w| w.contains([';', '&', '|', '<', '>', '`', '\n', '(', ')'])), "{:?}", text);
        }
    }
}
