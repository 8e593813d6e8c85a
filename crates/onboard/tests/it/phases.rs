//! The seven phases, and the score.

use gatewright_onboard::clients::Start;
use gatewright_onboard::{Check, Client, Facts, Options, PhaseName, Seen, State, score, wizard};
use projects::Project;

fn facts() -> Facts {
    Facts {
        project: Project { programs: vec!["npm".to_owned()], ..Project::default() },
        configuration: Seen::Absent,
        misunderstood: None,
        old: Seen::Absent,
        clients: vec![
            (Client::ClaudeCode, Seen::Absent),
            (Client::Generic, Seen::Absent),
            (Client::Cursor, Seen::Absent),
        ],
        start: Start { command: "gatewright".to_owned(), args: vec!["serve".to_owned()] },
        installed: vec!["npm".to_owned()],
    }
}

fn state(checks: &[Check], name: &str) -> State {
    checks.iter().find(|check| check.name.contains(name)).unwrap().state
}

#[test]
fn a_bare_repository_gets_its_configuration_and_one_entry_for_each_file() {
    let outcome = wizard(&facts(), Options::default());
    let names: Vec<&str> = outcome.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["gatewright.toml", ".mcp.json", ".cursor/mcp.json"]);
    let phases: Vec<PhaseName> = outcome.phases.iter().map(|phase| phase.name).collect();
    use PhaseName::{Backup, Detect, Generate, Review, Validate, Verify, Write};
    assert_eq!(phases, [Detect, Generate, Review, Backup, Verify, Write, Validate]);
    assert_eq!(outcome.score, 100);
    let _: toml::Table = std::str::from_utf8(&outcome.files[0].bytes).unwrap().parse().unwrap();
}

#[test]
fn a_second_time_nothing_is_to_be_written() {
    let first = wizard(&facts(), Options::default());
    let mut again = facts();
    again.configuration = Seen::Bytes(first.files[0].bytes.clone());
    for (client, seen) in &mut again.clients {
        let file = first.files.iter().find(|file| file.path == client.file()).unwrap();
        *seen = Seen::Bytes(file.bytes.clone());
    }
    let second = wizard(&again, Options::default());
    assert_eq!((second.files, second.score), (Vec::new(), 100));
}

#[test]
fn what_is_wrong_is_a_check_with_what_to_do_and_never_the_end() {
    let mut facts = facts();
    facts.configuration = Seen::Unfit("it is a link".to_owned());
    facts.clients = vec![
        (Client::ClaudeCode, Seen::Bytes(b"{".to_vec())),
        (Client::Cursor, Seen::Unfit("it is a folder".to_owned())),
        (Client::Vscode, Seen::Bytes(b"{\"servers\":{\"gatewright\":{\"command\":\"x\"}}}".to_vec())),
    ];
    facts.installed.clear();
    let outcome = wizard(&facts, Options::default());
    assert!(outcome.files.is_empty());
    for (name, wanted) in [
        ("gatewright.toml", State::Error),
        (".mcp.json", State::Error),
        (".cursor", State::Error),
        (".vscode", State::Warning),
        ("npm", State::Warning),
    ] {
        assert_eq!(state(&outcome.checks, name), wanted, "{name}");
    }
    assert!(outcome.checks.iter().all(|check| check.fix.is_some()));
    assert_eq!(outcome.score, 0);
}

#[test]
fn each_option_leaves_its_phase_out() {
    let all = Options { generate: false, back_up: false, verify: false, validate: false, propose: true };
    let outcome = wizard(&facts(), all);
    let skipped: Vec<PhaseName> =
        outcome.phases.iter().filter(|phase| phase.state == State::Skipped).map(|phase| phase.name).collect();
    use PhaseName::{Backup, Generate, Validate, Verify};
    assert_eq!(skipped, [Generate, Backup, Verify, Validate]);
    assert!(outcome.files.iter().all(|file| file.path != "gatewright.toml"));
    assert!(outcome.checks.iter().all(|check| check.name != "npm"));
}

#[test]
fn what_is_not_to_be_proposed_is_told_as_missing() {
    let outcome = wizard(&facts(), Options { propose: false, ..Options::default() });
    assert!(outcome.files.is_empty());
    assert_eq!(state(&outcome.checks, "gatewright.toml"), State::Warning);
    assert_eq!(
        (state(&outcome.checks, ".mcp.json"), state(&outcome.checks, ".cursor")),
        (State::Error, State::Error)
    );
}

#[test]
fn the_score_is_the_share_that_passed_less_what_is_wrong() {
    let checks = |ok: usize, warnings: usize, errors: usize| {
        let one = |state| Check { name: String::new(), state, said: String::new(), fix: None };
        let mut all = vec![one(State::Ok); ok];
        all.extend(vec![one(State::Warning); warnings]);
        all.extend(vec![one(State::Error); errors]);
        score(&all)
    };
    assert_eq!(
        (checks(0, 0, 0), checks(4, 0, 0), checks(3, 1, 0), checks(3, 0, 1), checks(1, 1, 1)),
        (100, 100, 73, 65, 21)
    );
    assert_eq!((checks(2, 1, 0), checks(0, 0, 1)), (64, 0));
}

#[test]
fn the_old_programs_configuration_is_taken_over() {
    let mut facts = facts();
    facts.old = Seen::Bytes(b"{\"timeout\": 5000, \"cache\": {}}".to_vec());
    let outcome = wizard(&facts, Options::default());
    let text = std::str::from_utf8(&outcome.files[0].bytes).unwrap();
    assert!(text.contains("[devtools]\ntimeout = 5000\n"), "{text}");
    assert_eq!(outcome.notes.len(), 1, "{:?}", outcome.notes);
}
