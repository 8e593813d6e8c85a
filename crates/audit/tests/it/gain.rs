//! What answers saved: the arithmetic, by hand and as laws, and ledgers that know nothing of it.

use std::collections::BTreeSet;

use contract::{Code, Fault};
use gatewright_audit::gain::{Book, Errors, Gain, Rules, Seen, book::CAP, of_ledger};
use gatewright_audit::record::{Basis, Body, Cost, ExecutionMode, Transcript};
use gatewright_audit::verify::verify;
use gatewright_audit::{Durability, Ledger, recent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{check, old_ledger, transcript, with_key};

const MINUTE: i64 = 60_000;

fn rules() -> Rules {
    Rules { cap: CAP, since: None, errors: Errors::none() }
}

fn cost(session: &str, basis: Basis, whole: u64, shown: u64) -> Cost {
    Cost { shown, whole, basis, session: session.into(), menus: 0, menu: 0, runs: Vec::new() }
}

/// A call at minute `at` that takes no time.
fn seen(at: i64, tool: &str, arguments: &Value, cost: Cost) -> Seen {
    Seen {
        id: format!("call-{tool}-{at}"),
        began: at * MINUTE,
        ended: at * MINUTE,
        tool: tool.into(),
        arguments: arguments.to_string(),
        plan: None,
        failed: false,
        applied: false,
        cost: Some(cost),
    }
}

fn gain_of(all: &[Seen], rules: Rules) -> Gain {
    let mut book = Book::new(rules);
    for seen in all {
        book.take(seen);
    }
    book.gain()
}

fn net(all: &[Seen]) -> i64 {
    let gain = gain_of(all, rules());
    assert_eq!(gain.net, gain.saved.tokens - gain.minus.tokens(), "{gain:?}");
    gain.net
}

fn run(at: i64, whole: u64, shown: u64, runs: &[&str]) -> Seen {
    let runs = runs.iter().map(|run| (*run).to_owned()).collect();
    seen(at, "make_test", &json!({}), Cost { runs, ..cost("s", Basis::Output, whole, shown) })
}

#[test]
fn a_run_saves_what_it_said_up_to_the_cap_less_what_was_shown() {
    assert_eq!(net(&[run(0, 1_000, 300, &[])]), 700);
    assert_eq!(net(&[run(0, 100_000, 300, &[])]), 8_250 - 300);
    let more = gain_of(&[run(0, 100_000, 300, &[])], Rules { cap: 20_000, ..rules() });
    assert_eq!((more.net, more.saved.tokens, more.saved.calls), (19_700, 19_700, 1));
    // One that says less than we do costs.
    let longer = gain_of(&[run(0, 100, 300, &[])], rules());
    assert_eq!((longer.net, longer.minus.longer.tokens, longer.saved.tokens), (-200, 200, 0));
    // What has nothing to be compared with neither saves nor costs, and is told.
    let none = gain_of(&[seen(0, "git_status", &json!({}), cost("s", Basis::None, 0, 500))], rules());
    assert_eq!((none.net, none.not_counted.len(), none.not_counted[0].shown), (0, 1, 500));
    for tool in ["find_patterns", "load_skill", "execute_skill", "search_patterns", "notes"] {
        let claims = [seen(0, tool, &json!({}), cost("s", Basis::Cut, 9_000, 500))];
        assert_eq!(net(&claims), 0, "{tool}");
    }
}

#[test]
fn menus_lookups_polls_and_errors_are_taken_off_and_the_sum_may_be_negative() {
    let menu = Seen {
        cost: Some(Cost { menus: 2, menu: 5_000, ..cost("s", Basis::None, 0, 10) }),
        ..run(0, 0, 0, &[])
    };
    let lookup = seen(1, "tools_search", &json!({ "query": "x" }), cost("s", Basis::Cut, 9_000, 400));
    let poll = seen(2, "job_status", &json!({ "job": "job_1" }), cost("s", Basis::None, 0, 70));
    let failed = Seen { failed: true, ..seen(3, "make_test", &json!({}), cost("s", Basis::None, 0, 120)) };
    let gain = gain_of(&[menu, lookup, poll, failed], rules());
    let minus = gain.minus;
    assert_eq!((minus.menus.tokens, minus.menus.calls), (5_000, 2));
    assert_eq!(
        [minus.lookups, minus.polls, minus.errors].map(|line| (line.tokens, line.calls)),
        [(400, 1), (70, 1), (120, 1)]
    );
    assert_eq!(gain.net, -5_590);
}

#[test]
fn reading_again_is_taken_off_within_an_hour_and_in_the_same_conversation() {
    let handle = "run_0123456789abcdef0123456789abcdef";
    let first = run(0, 5_000, 500, &["01234567"]);
    let read = |at: i64, tool: &str, arguments: &Value, session: &str| {
        net(&[first.clone(), seen(at, tool, arguments, cost(session, Basis::None, 0, 900))])
    };
    let (run_output, uri) = (json!({ "run": handle }), json!({ "uri": format!("run://{handle}") }));
    assert_eq!(read(60, "run_output", &run_output, "s"), 4_500 - 900);
    assert_eq!(read(61, "run_output", &run_output, "s"), 4_500);
    assert_eq!(read(5, "run_output", &run_output, "another"), 4_500);
    assert_eq!(read(5, "run_output", &json!({ "run": "run_ffffffffffffffffffffffffffffffff" }), "s"), 4_500);
    assert_eq!(read(5, "resources/read", &uri, "s"), 4_500 - 900);
    assert_eq!(read(5, "resources/read", &json!({ "uri": "doc://a/b" }), "s"), 4_500);
    assert_eq!(
        read(5, "resources/read", &json!({ "uri": "transcript://call-make_test-0" }), "s"),
        4_500 - 900
    );
    // It is laid to the tool whose answer left it out.
    let both = [first.clone(), seen(5, "run_output", &run_output, cost("s", Basis::None, 0, 900))];
    let gain = gain_of(&both, rules());
    assert_eq!((gain.tools.len(), gain.tools[0].tool.as_str(), gain.tools[0].net), (1, "make_test", 3_600));
    // A list that goes on, and a plan that is read whole.
    let list = seen(0, "tokens_lint", &json!({ "source": "t" }), cost("s", Basis::Cut, 6_000, 1_000));
    let next = json!({ "source": "t", "cursor": "cursor_1", "limit": 20 });
    let page = |arguments: &Value| seen(1, "tokens_lint", arguments, cost("s", Basis::Cut, 5_000, 1_000));
    assert_eq!(net(&[list.clone(), page(&next)]), 5_000 - 1_000, "the next page claims nothing");
    assert_eq!(net(&[list, page(&json!({ "source": "u", "cursor": "cursor_1" }))]), 5_000, "of another list");
    let planned = Seen {
        plan: Some("plan_1".into()),
        ..seen(0, "tokens_build", &json!({}), cost("s", Basis::Cut, 6_000, 4_000))
    };
    let plan = seen(1, "resources/read", &json!({ "uri": "plan://plan_1" }), cost("s", Basis::None, 0, 700));
    assert_eq!(net(&[planned, plan]), 2_000 - 700);
}

#[test]
fn the_same_call_again_takes_back_what_was_counted() {
    let again =
        |at: i64, arguments: &Value| seen(at, "make_test", arguments, cost("s", Basis::Output, 5_000, 500));
    let first = again(0, &json!({ "target": "a" }));
    let pair = |second: Seen| net(&[first.clone(), second]);
    // Once what was said, less both answers.
    assert_eq!(pair(again(30, &json!({ "target": "a" }))), 5_000 - 500 - 500);
    assert_eq!(pair(again(10, &json!({ "target": "a", "limit": 5 }))), 4_000, "another part of the same");
    assert_eq!(pair(again(31, &json!({ "target": "a" }))), 9_000);
    assert_eq!(pair(again(10, &json!({ "target": "b" }))), 9_000);
    let gain = gain_of(&[first.clone(), again(1, &json!({ "target": "a" }))], rules());
    assert_eq!(
        [gain.minus.reruns.tokens, gain.minus.taken_back.tokens, gain.saved.tokens],
        [500, 4_500, 9_000]
    );
    // Something was applied between.
    let applied =
        Seen { applied: true, ..seen(5, "tokens_build", &json!({}), cost("s", Basis::None, 0, 10)) };
    assert_eq!(net(&[first.clone(), applied, again(10, &json!({ "target": "a" }))]), 9_000);
    // The first answer left nothing out.
    let whole = seen(0, "make_test", &json!({}), cost("s", Basis::Output, 100, 100));
    assert_eq!(net(&[whole, seen(1, "make_test", &json!({}), cost("s", Basis::Output, 300, 100))]), 200);
    // Before the time that is asked about, nothing was counted that could be taken back.
    let since = Rules { since: Some(5 * MINUTE), ..rules() };
    let gain = gain_of(&[first, again(10, &json!({ "target": "a" }))], since);
    assert_eq!((gain.net, gain.minus.reruns.tokens, gain.minus.taken_back.tokens), (4_500 - 500, 500, 0));
    assert_eq!((gain.records.calls, gain.records.measured), (1, 1));
}

#[test]
fn what_was_not_measured_is_said_and_claims_nothing() {
    let old = Seen { cost: None, ..run(0, 0, 0, &[]) };
    let gain = gain_of(&[old, run(1, 1_000, 300, &[])], rules());
    assert_eq!(
        (gain.net, gain.records.calls, gain.records.measured, gain.records.not_measured),
        (700, 2, 1, 1)
    );
    assert_eq!((gain.from, gain.to, gain.sessions), (Some(MINUTE), Some(MINUTE), 1));
    assert_eq!(gain_of(&[], rules()), Gain::default());
}

#[test]
fn the_band_is_the_figure_without_the_measured_errors() {
    let all = [run(0, 5_000, 500, &[])];
    let gain = gain_of(&all, Rules { errors: Errors::measured().unwrap(), ..rules() });
    assert_eq!(gain.net, 4_500, "the figure itself is the rule's");
    assert!(gain.band.low < gain.band.likely && gain.band.likely < gain.band.high, "{:?}", gain.band);
}

prop_compose! {
    fn any_call()(
        at in 0_i64..200,
        took in 0_i64..5,
        tool in prop::sample::select(vec!["make_test", "tokens_lint", "run_output", "resources/read", "tools_search", "job_status", "find_patterns"]),
        arguments in prop::sample::select(vec![
            json!({}), json!({ "target": "a" }), json!({ "cursor": "c" }), json!({ "run": "run_aaaaaaaa0000" }),
            json!({ "uri": "run://run_bbbbbbbb0000" }), json!({ "target": "a", "cursor": "d" }), json!({ "uri": "plan://plan_x" }),
        ]),
        basis in prop::sample::select(vec![Basis::Output, Basis::Cut, Basis::None]),
        whole in 0_u64..20_000,
        shown in 0_u64..9_000,
        session in 0_u8..4,
        menus in 0_u64..2,
        runs in prop::sample::subsequence(vec!["aaaaaaaa".to_owned(), "bbbbbbbb".to_owned()], 0..=2),
        flags in (any::<bool>(), 0_u8..8, 0_u8..8),
    ) -> Seen {
        let cost = Cost { menus, menu: menus * 2_000, runs, ..cost(&session.to_string(), basis, whole, shown) };
        Seen {
            ended: (at + took) * MINUTE,
            plan: flags.0.then(|| "plan_x".to_owned()),
            failed: flags.1 == 0,
            applied: flags.2 == 0 && flags.1 != 0,
            ..seen(at, tool, &arguments, cost)
        }
    }
}

proptest! {
    #[test]
    fn the_whole_is_the_sum_of_its_conversations_and_of_its_tools(
        mut all in prop::collection::vec(any_call(), 0..60),
        cap in 1_u64..20_000,
        since in prop::option::of(0_i64..200),
    ) {
        all.sort_by_key(|seen| seen.ended);
        let rules = || Rules { cap, since: since.map(|at| at * MINUTE), errors: Errors::measured().unwrap() };
        let whole = gain_of(&all, rules());
        let session = |seen: &Seen| seen.cost.as_ref().map(|cost| cost.session.clone());
        let sessions: BTreeSet<_> = all.iter().map(session).collect();
        let parts: Vec<Gain> = sessions
            .iter()
            .map(|one| gain_of(&all.iter().filter(|seen| &session(seen) == one).cloned().collect::<Vec<_>>(), rules()))
            .collect();
        let sum = |of: &dyn Fn(&Gain) -> i64| parts.iter().map(of).sum::<i64>();
        prop_assert_eq!(whole.net, sum(&|gain| gain.net));
        prop_assert_eq!(whole.band.low, sum(&|gain| gain.band.low));
        prop_assert_eq!(whole.band.likely, sum(&|gain| gain.band.likely));
        prop_assert_eq!(whole.band.high, sum(&|gain| gain.band.high));
        prop_assert_eq!(whole.saved.tokens, sum(&|gain| gain.saved.tokens));
        prop_assert_eq!(whole.minus.tokens(), sum(&|gain| gain.minus.tokens()));
        prop_assert_eq!(whole.sessions, parts.iter().map(|gain| gain.sessions).sum::<u64>());
        prop_assert_eq!(whole.net, whole.saved.tokens - whole.minus.tokens());
        let by_tool: i64 = whole.tools.iter().map(|tool| tool.net).sum();
        prop_assert_eq!(whole.net, by_tool - whole.minus.menus.tokens);
    }

    #[test]
    fn whatever_a_record_says_is_added_up_without_a_panic(
        shown in any::<u64>(), whole in any::<u64>(), menu in any::<u64>(), began in any::<i64>(), ended in any::<i64>(), text in ".{0,60}",
    ) {
        let cost = Cost { menus: u64::MAX, menu, ..cost(&text, Basis::Output, whole, shown) };
        let one = Seen { began, ended, arguments: text, ..seen(0, "make_test", &json!({}), cost) };
        let gain = gain_of(&[one.clone(), one.clone(), one], Rules { cap: u64::MAX, ..rules() });
        prop_assert_eq!(gain.records.measured, 3);
    }
}

fn measured(number: u64) -> Body {
    let Body::Transcript(mut transcript) = transcript(number) else { unreachable!() };
    transcript.cost = Some(cost("0123456789abcdef", Basis::Output, 1_000, 300));
    Body::Transcript(transcript)
}

#[test]
fn a_ledger_of_before_verifies_reads_and_goes_on() {
    let dir = old_ledger();
    let report = check(dir.path());
    assert!(report.intact && report.macs_checked, "{:?}", report.findings);
    let gain = of_ledger(dir.path(), rules()).unwrap();
    assert_eq!((gain.records.calls, gain.records.not_measured, gain.records.damaged, gain.net), (3, 3, 0, 0));
    // It goes on with records that have a cost, and is one ledger.
    let ledger = Ledger::open(dir.path()).unwrap();
    ledger.append(&measured(1), Durability::Now).unwrap();
    drop(ledger);
    let mut costs = Vec::new();
    let report = verify(dir.path(), &with_key(dir.path()), |entry| {
        if let Body::Transcript(transcript) = &entry.body {
            costs.push(transcript.cost.as_ref().map(|cost| cost.shown));
        }
    })
    .unwrap();
    assert!(report.intact && report.macs_checked, "{:?}", report.findings);
    assert_eq!(costs, [None, None, None, Some(300)]);
    let gain = of_ledger(dir.path(), rules()).unwrap();
    assert_eq!((gain.records.calls, gain.records.not_measured, gain.net), (4, 3, 700));
}

#[test]
fn a_record_without_a_cost_has_no_such_field() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path()).unwrap();
    ledger.append(&transcript(1), Durability::Now).unwrap();
    ledger.append(&measured(2), Durability::Now).unwrap();
    let text = std::fs::read_to_string(dir.path().join("segments/000001.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let costs: Vec<&Value> =
        lines.iter().filter(|line| line["type"] == "transcript").map(|line| &line["cost"]).collect();
    let cost = json!({ "shown": 300, "whole": 1_000, "basis": "output", "session": "0123456789abcdef" });
    assert_eq!(costs, [&Value::Null, &cost]);
}

#[test]
fn a_ledger_is_read_as_it_stands_and_what_is_no_record_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(of_ledger(dir.path(), rules()).unwrap(), Gain::default(), "there is none");
    let ledger = Ledger::open(dir.path()).unwrap();
    let failed = |number| {
        let Body::Transcript(mut transcript) = measured(number) else { unreachable!() };
        transcript.error = Some(Fault::new(Code::Timeout, "it took too long"));
        Body::Transcript(transcript)
    };
    ledger.append(&measured(1), Durability::Now).unwrap();
    ledger.append(&super::intent(), Durability::Now).unwrap();
    ledger.append(&failed(2), Durability::Now).unwrap();
    let applied = |number| {
        let Body::Transcript(transcript) = measured(number) else { unreachable!() };
        let transcript = Transcript {
            execution_mode: ExecutionMode::Apply,
            effects: vec!["create x".into()],
            ..*transcript
        };
        Body::Transcript(Box::new(transcript))
    };
    ledger.append(&applied(3), Durability::Now).unwrap();
    drop(ledger);
    let segment = dir.path().join("segments/000001.jsonl");
    let whole = std::fs::read(&segment).unwrap();
    let read = || {
        let mut all = Vec::new();
        let damaged =
            recent::seen(dir.path(), |seen| all.push((seen.tool, seen.failed, seen.applied))).unwrap();
        (all, damaged)
    };
    let there = vec![
        ("test".to_owned(), false, false),
        ("test".to_owned(), true, false),
        ("test".to_owned(), false, true),
    ];
    assert_eq!(read(), (there.clone(), 0));
    // Lines that are none, one of them longer than is held; and one that is being written.
    let more = [
        b"{}\nno record\n\xff\xfe\n".to_vec(),
        vec![b'x'; 17 * 1024 * 1024],
        b"\n{\"type\":\"trans".to_vec(),
    ]
    .concat();
    std::fs::write(&segment, [whole, more].concat()).unwrap();
    assert_eq!(read(), (there, 4));
}
