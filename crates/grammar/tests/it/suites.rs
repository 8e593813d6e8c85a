//! The two published suites: what people write is accepted without exception, what attacks is refused without exception.

use std::collections::BTreeMap;

use contract::RelPath;
use gatewright_grammar::{Grammar, Place};
use serde::Deserialize;

#[derive(Deserialize)]
struct Suite {
    placed: Vec<Placed>,
    #[serde(flatten)]
    programs: BTreeMap<String, Vec<Vec<String>>>,
}

#[derive(Deserialize)]
struct Placed {
    #[serde(default)]
    id: String,
    program: String,
    dir: String,
    args: Vec<String>,
}

/// One vector: its attack case, program, place and arguments.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) program: String,
    pub(crate) place: Place,
    pub(crate) args: Vec<String>,
}

impl Case {
    fn said(&self) -> String {
        format!("{} {} {:?}", self.id, self.program, self.args)
    }
}

fn cases(text: &str, ids: bool) -> Vec<Case> {
    let suite: Suite = toml::from_str(text).unwrap();
    let mut all = Vec::new();
    for (program, vectors) in suite.programs {
        for mut args in vectors {
            let id = if ids { args.remove(0) } else { String::new() };
            all.push(Case { id, program: program.clone(), place: Place::root(), args });
        }
    }
    for Placed { id, program, dir, args } in suite.placed {
        all.push(Case { id, program, place: Place::at(RelPath::new(&dir).unwrap()), args });
    }
    all
}

pub(crate) fn legitimate() -> Vec<Case> {
    cases(include_str!("../legitimate.toml"), false)
}

pub(crate) fn hostile() -> Vec<Case> {
    cases(include_str!("../hostile.toml"), true)
}

#[test]
fn x02_what_people_write_is_accepted_without_exception() {
    let all = legitimate();
    assert!(all.len() >= 400, "{}", all.len());
    let refused: Vec<String> = all
        .iter()
        .filter_map(|case| {
            let grammar = Grammar::of(&case.program).expect(&case.program);
            grammar.check(&case.args, &case.place).err().map(|e| format!("{}: {e}", case.said()))
        })
        .collect();
    assert!(refused.is_empty(), "{} of {} refused:\n{}", refused.len(), all.len(), refused.join("\n"));
}

#[test]
fn x04_x06_x08_g04_g08_g10_g16_p20_what_attacks_is_refused_without_exception() {
    let all = hostile();
    assert!(all.len() >= 300, "{}", all.len());
    let passed: Vec<String> = all
        .iter()
        .filter(|case| {
            Grammar::of(&case.program).expect(&case.program).check(&case.args, &case.place).is_ok()
        })
        .map(Case::said)
        .collect();
    assert!(passed.is_empty(), "{} of {} passed:\n{}", passed.len(), all.len(), passed.join("\n"));
    for id in ["X04", "X06", "X08", "G04", "G08", "G10", "G16", "P20"] {
        assert!(all.iter().any(|case| case.id == id), "no case of {id}");
    }
}

#[test]
fn every_program_has_both_kinds_of_cases() {
    for program in gatewright_grammar::programs() {
        assert!(legitimate().iter().any(|case| case.program == program), "{program} has no legitimate case");
        assert!(hostile().iter().any(|case| case.program == program), "{program} has no hostile case");
    }
}

/// The seed's list of substrings (001, "Argument Sanitization").
const SEED_LIST: [&str; 13] =
    [";", "&&", "||", "|", ">", "<", "`", "$(", "../", "~/", "/etc/", "/var/", "/usr/"];

#[test]
fn x02_the_seeds_block_list_refuses_a_twentieth_of_the_suite_and_a_fifth_of_what_carries_text_paths_or_patterns()
 {
    let all = legitimate();
    let blocked = |case: &&Case| case.args.iter().any(|arg| SEED_LIST.iter().any(|bad| arg.contains(bad)));
    let refused = all.iter().filter(blocked).count();
    // Bare flags and names (`status -s`) have nothing that a substring could find.
    let carrying: Vec<&Case> =
        all.iter().filter(|case| case.args.iter().any(|arg| arg.contains([' ', '/', '|', '$']))).collect();
    let of_those = carrying.iter().copied().filter(blocked).count();
    println!("the seed's list refuses {refused} of {} legitimate vectors", all.len());
    println!("and {of_those} of the {} with a blank, `/`, `|` or `$`", carrying.len());
    assert!(refused * 100 > all.len() * 5, "{refused} of {}", all.len());
    assert!(of_those * 100 > carrying.len() * 20, "{of_those} of {}", carrying.len());
}
