//! The one way that every call takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use audit::record::{Basis, ExecutionMode};
use contract::{Code, Principal, Status};
use gatewright_kit as kit;
use kit::Call;
use kit::desk::Services;
use kit::testing::Bench;
use kit::testing::bench::Setup;
use policy::{Decision, Policy, Rule, Rules};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::kinds::{FAMILY, InMemory, Notes, Stranger, Upstream};

fn bench() -> Bench {
    Bench::new(&[&FAMILY], &[("file", "content")])
}

#[test]
fn every_call_leaves_exactly_one_transcript_whatever_becomes_of_it() {
    let bench = bench();
    let calls = [
        ("looks", json!({}), None),
        ("looks", json!({ "path": "missing" }), Some(Code::NotFound)),
        ("looks", json!({ "surprise": 1 }), Some(Code::InvalidArgument)),
        ("looks", json!({ "how": "panic" }), Some(Code::Internal)),
        ("looks", json!({ "how": "block" }), Some(Code::Internal)),
        ("looks", json!({ "how": "large" }), Some(Code::TooLarge)),
        ("nothing", json!({}), Some(Code::NotFound)),
        ("remembers", json!({}), Some(Code::Internal)),
        ("changes", json!({ "how": "new", "apply": true }), None),
    ];
    for (tool, arguments, expected) in &calls {
        let done = bench.call(tool, arguments.clone());
        assert_eq!(done.result.as_ref().err().map(|f| f.code), *expected, "{tool} {arguments}");
        assert!(done.anchor.is_some() && done.metadata.transcript.is_some());
    }
    let transcripts = bench.transcripts();
    assert_eq!(transcripts.len(), calls.len());
    for (transcript, (_, _, expected)) in transcripts.iter().zip(&calls) {
        assert_eq!(transcript.error.as_ref().map(|f| f.code), *expected);
    }
    let last = transcripts.last().unwrap();
    assert_eq!(
        (last.execution_mode, last.artifacts.as_slice()),
        (ExecutionMode::Apply, &["file".to_owned()][..])
    );
    let text = serde_json::to_string(&transcripts).unwrap();
    assert!(!text.contains("/home/somebody"), "a panic's message stays in the log");
}

#[test]
fn what_a_result_costs_is_said_of_errors_too() {
    let bench = bench();
    for (tool, arguments) in
        [("looks", json!({})), ("looks", json!({ "path": "missing" })), ("nothing", json!({}))]
    {
        bench.session.listed(70);
        let mut value = bench.call(tool, arguments.clone()).to_value();
        let whole = value.to_string().chars().count() as u64;
        let metadata = value.as_object_mut().unwrap().remove("metadata").unwrap();
        let chars = value.to_string().chars().count() as u64;
        assert_eq!(metadata["tokensUsed"], contract::tokens_used(chars), "{tool} {arguments}: {value}");
        // The record has it as it went out, and the menu that came before it, once.
        let cost = bench.transcripts().pop().unwrap().cost.unwrap();
        assert_eq!(cost.shown, contract::tokens_used(whole), "{tool} {arguments}: {cost:?}");
        assert_eq!((cost.basis, cost.whole, cost.menus, cost.menu), (Basis::None, 0, 1, 70), "{cost:?}");
        assert_eq!(cost.session, bench.session.id());
    }
    bench.call("looks", json!({}));
    assert_eq!(bench.transcripts().pop().unwrap().cost.unwrap().menus, 0, "it was counted");
    let unknown = Call { session: None, ..bench.request("looks", json!({})) };
    bench.make(unknown);
    assert_eq!(bench.transcripts().pop().unwrap().cost, None, "who reads it is not known");
}

#[test]
fn a_cancelled_call_answers_at_once_and_is_recorded() {
    let bench = bench();
    let mut call = bench.request("looks", json!({ "how": "wait" }));
    let cancel = CancellationToken::new();
    call.cancel = cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        cancel.cancel();
    });
    assert_eq!(bench.make(call).result.unwrap_err().code, Code::Cancelled);
    assert_eq!(bench.transcripts().len(), 1);
}

#[test]
fn secrets_and_deceptive_characters_leave_before_anything_is_returned_or_written() {
    let bench = bench();
    let reply = bench.reply("looks", json!({ "how": "secret" })).to_value().unwrap();
    let text = reply.to_string();
    assert!(text.contains("[redacted:github:"), "{text}");
    assert!(!text.contains("ghp_0123") && !text.contains("\\u001b") && !text.contains('\u{202e}'), "{text}");
    let path = "password=hunter2hunter2";
    let fault = bench.fault("looks", json!({ "path": path }));
    assert!(!fault.message.contains("hunter2"), "{}", fault.message);
    let recorded = serde_json::to_string(&bench.transcripts()).unwrap();
    assert!(!recorded.contains("hunter2") && !recorded.contains("ghp_0123"), "{recorded}");
    assert_eq!(bench.transcripts()[1].redactions, ["path"]);
}

#[test]
fn a_store_is_injected_by_its_type() {
    let services = Services::default().with::<dyn Notes>(Arc::new(InMemory::default()));
    let bench = Bench::with(&[&FAMILY], &[], Setup { services, ..Setup::default() });
    assert_eq!(bench.reply("remembers", json!({ "how": "one" })).output["text"], "1");
    assert_eq!(bench.reply("remembers", json!({ "how": "two" })).output["text"], "2");
    assert_eq!(bench.reply("remembers", json!({})).envelope.status, Status::Completed);
}

#[test]
fn plans_belong_to_the_principal_and_tokens_need_their_scope() {
    let bench = bench();
    let plan = bench.reply("changes", json!({ "how": "new" })).envelope.plan.unwrap();
    let token = |scopes: &[&str]| Principal::Token {
        issuer: "i".into(),
        subject: "s".into(),
        scopes: scopes.iter().map(|s| (*s).to_owned()).collect(),
    };
    let mut call = bench.request("changes", json!({ "how": "new", "plan": plan.id.to_string() }));
    call.principal = token(&[]);
    assert_eq!(bench.make(call.clone()).result.unwrap_err().code, Code::Forbidden);
    // To look at it is not to do it, and another toolset's right is none.
    for scopes in [&["specimens:read"][..], &["specimens:run"], &["design:apply"], &["specimens"]] {
        call.principal = token(scopes);
        let fault = bench.make(call.clone()).result.unwrap_err();
        assert_eq!(fault.code, Code::Forbidden, "{scopes:?}");
        assert!(fault.message.contains("specimens:apply"), "{}", fault.message);
    }
    let mut rehearsal = bench.request("changes", json!({ "how": "new" }));
    rehearsal.principal = token(&["specimens:read"]);
    assert_eq!(bench.make(rehearsal).result.unwrap().envelope.status, Status::Proposed);
    call.principal = token(&["specimens:apply"]);
    assert_eq!(
        bench.make(call.clone()).result.unwrap_err().code,
        Code::NotFound,
        "another's plan does not exist"
    );
    call.principal = Principal::Local { uid: 0 };
    assert!(bench.make(call).result.is_ok());
}

#[test]
fn apply_false_with_a_plan_shows_it_again() {
    let bench = bench();
    let plan = bench.reply("changes", json!({ "how": "new" })).envelope.plan.unwrap();
    let shown = bench.reply("changes", json!({ "how": "new", "apply": false, "plan": plan.id.to_string() }));
    assert_eq!((shown.envelope.status, shown.envelope.plan.unwrap()), (Status::Proposed, plan));
    assert_eq!(std::fs::read_to_string(bench.root().join("file")).unwrap(), "content");
}

#[test]
fn a_request_without_permission_to_connect_is_not_sent() {
    let bench = bench();
    let fault = bench.fault("changes", json!({ "how": "request", "apply": true }));
    assert!(fault.message.contains("not sent"), "{}", fault.message);
}

#[test]
fn m26_a_plan_that_tells_somebody_outside_is_asked_about_in_a_session_that_saw_both() {
    let policy = Policy { user: Rules { taint: true, ..Rules::default() }, project: Rules::default() };
    let services = Services::default().with::<kit::taint::Taints>(Arc::default());
    let setup = Setup { foreign: vec![Arc::new(Stranger)], policy, services, ..Setup::default() };
    let bench = Bench::with(&[&FAMILY], &[("file", "content")], setup);
    let sends = |more: serde_json::Value| {
        let mut arguments = json!({ "how": "request" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    // Who saw nothing of others tells whom he likes; here nobody connects.
    assert!(bench.fault("changes", sends(json!({ "apply": true }))).message.contains("not sent"));
    bench.reply("upstream_echo", json!({ "say": "x" }));
    bench.reply("looks", json!({}));
    // Rehearsing tells nobody.
    let plan = bench.reply("changes", sends(json!({}))).envelope.plan.unwrap();
    let applies = sends(json!({ "apply": true, "plan": plan.id.to_string() }));
    let fault = bench.fault("changes", applies.clone());
    assert_eq!(fault.code, Code::ConfirmationRequired, "{}", fault.message);
    let decision = bench.transcripts().last().unwrap().decision.clone();
    assert!(decision.contains("taint") && decision.contains("upstream_echo"), "{decision}");
    // Without a request in it a plan is applied.
    bench.reply("changes", json!({ "how": "new", "apply": true }));
    let mut call = bench.request("changes", applies);
    call.consent = kit::consent::Consent::Given(Some(plan.id));
    let done = bench.make(call);
    assert!(done.result.unwrap_err().message.contains("not sent"), "whoever was asked and agreed goes on");
}

/// How many calls the limit of sixty a minute may have admitted: one more for every second that a slow machine took.
fn admitted_since(began: Instant) -> std::ops::RangeInclusive<usize> {
    60..=60 + usize::try_from(began.elapsed().as_secs()).unwrap() + 1
}

#[test]
fn too_many_calls_are_refused_and_the_refusals_are_one_record_a_minute() {
    let bench = Bench::with(&[&FAMILY], &[("file", "x")], Setup { limited: true, ..Setup::default() });
    let began = Instant::now();
    let refused = (0..80).filter(|_| {
        bench
            .call("looks", json!({}))
            .result
            .is_err_and(|f| f.code == Code::RateLimited && f.message.contains("try again"))
    });
    let refused = refused.count();
    let admitted = 80 - refused;
    assert!(admitted_since(began).contains(&admitted), "{admitted} admitted");
    assert_eq!(bench.transcripts().len(), admitted + 1, "every call and one refusal");
}

#[test]
fn progress_is_heard() {
    let bench = bench();
    let heard = Arc::new(AtomicUsize::new(0));
    let mut call = bench.request("looks", json!({}));
    let count = Arc::clone(&heard);
    call.progress = Arc::new(move |step| {
        assert_eq!((step.done, step.total), (1.0, Some(2.0)));
        count.fetch_add(1, Ordering::Relaxed);
    });
    assert!(bench.make(call).result.is_ok());
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}

#[test]
fn the_ledger_that_cannot_be_written_refuses_the_call() {
    let bench = bench();
    // The records are gone from under the server, and nothing can be put in their place.
    let segments = bench.engine.ledger().dir().join("segments");
    std::fs::remove_dir_all(&segments).unwrap();
    std::fs::write(&segments, "not a folder").unwrap();
    let fault = bench.fault("changes", json!({ "how": "new", "apply": true }));
    assert_eq!(fault.code, Code::LedgerUnavailable);
    assert_eq!(std::fs::read_to_string(bench.root().join("file")).unwrap(), "content", "nothing was applied");
}

#[test]
fn what_programs_write_is_a_proposal_and_never_the_root() {
    let bench = Bench::new(&[&FAMILY], &[("file", "old\n"), ("gone", "x"), ("kept", "k")]);
    let before = bench.snapshot();
    let reply = bench.reply("runs", json!({}));
    assert_eq!(bench.snapshot(), before);
    assert_eq!(
        reply.envelope.plan.unwrap().effects,
        ["replace file (4 bytes)", "remove gone", "create made (4 bytes)"]
    );
    let findings = bench.reply("runs", json!({ "how": "echo red >&2; exit 3" }));
    assert!(!findings.envelope.success && findings.envelope.message.contains("Code(3) red"));
    assert!(findings.envelope.plan.unwrap().effects.is_empty());
    let outside = bench.root().join("../outside");
    assert_eq!(bench.fault("runs", json!({ "how": "undeclared" })).code, Code::Internal);
    for how in ["mkfifo pipe", "mkdir -p sub/.git && echo x > sub/.git/config", "ln -s ../../outside out"] {
        let rehearsed = bench.reply("runs", json!({ "how": how })).envelope;
        assert!(rehearsed.plan.is_none() && rehearsed.blocked.len() == 1, "{how}: {rehearsed:?}");
        let fault = bench.fault("runs", json!({ "how": how, "apply": true }));
        assert_eq!((fault.code, fault.affected_files.len()), (Code::PathNotAllowed, 1), "{how}");
    }
    assert!(!outside.exists());
    assert_eq!(bench.snapshot(), before);
    let scratch = bench.engine.state().path().join("scratch");
    assert_eq!(std::fs::read_dir(scratch).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_program_gets_an_environment_of_its_own_and_dies_with_its_call() {
    let bench = bench();
    let shown = bench.reply("runs", json!({ "how": "env | cut -d= -f1 | sort | tr '\\n' ' '" }));
    // Besides, those that say where this machine has its toolchains.
    let toolchains = [
        "CARGO_HOME",
        "GOROOT",
        "JAVA_HOME",
        "NODE_ENV",
        "NVM_DIR",
        "PYENV_",
        "RUSTUP_",
        "GOTOOLCHAIN",
        "VOLTA_HOME",
    ];
    let is_own = |name: &&str| !toolchains.iter().any(|place| name.starts_with(place));
    let names: Vec<&str> = shown.envelope.message.split_whitespace().skip(1).filter(is_own).collect();
    assert_eq!(
        names,
        [
            "GIT_CEILING_DIRECTORIES",
            "GIT_CONFIG_NOSYSTEM",
            "GIT_OPTIONAL_LOCKS",
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "LANG",
            "NO_COLOR",
            "PATH",
            "PWD",
            "TERM",
            "TMPDIR",
            "TZ"
        ]
    );
    let mut call = bench.request("runs", json!({ "how": "sleep 30 & sleep 30" }));
    let cancel = CancellationToken::new();
    call.cancel = cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        cancel.cancel();
    });
    let began = Instant::now();
    assert_eq!(bench.make(call).result.unwrap_err().code, Code::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_file_that_changes_under_a_run_is_a_conflict() {
    let bench = bench();
    let call = bench.request("runs", json!({ "how": "sleep 1; echo mine > file", "apply": true }));
    let file = bench.root().join("file");
    let writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        std::fs::write(file, "theirs").unwrap();
    });
    assert_eq!(bench.make(call).result.unwrap_err().code, Code::Conflict);
    writer.join().unwrap();
    assert_eq!(std::fs::read_to_string(bench.root().join("file")).unwrap(), "theirs");
}

#[test]
fn a_foreign_tool_is_held_to_its_own_schema_and_cannot_pass_for_ours() {
    let setup = Setup { foreign: vec![Arc::new(Upstream)], ..Setup::default() };
    let bench = Bench::with(&[&FAMILY], &[], setup);
    let reply = bench.reply("upstream_echo", json!({ "say": "hello" }));
    assert_eq!(reply.output["result"]["said"], "hello");
    assert!(reply.envelope.success, "its own `success` stands in its result");
    assert_eq!(reply.to_value().unwrap().get("plan"), None, "and so does its `plan`");
    assert_eq!(bench.fault("upstream_echo", json!({ "say": 1 })).code, Code::InvalidArgument);
    assert_eq!(
        bench.fault("upstream_echo", json!({ "say": "x", "apply": true })).code,
        Code::InvalidArgument
    );
    let spec = bench.engine.registry().resolve("upstream_echo").unwrap().spec().clone();
    assert!(!spec.head.annotations.read_only_hint && spec.head.annotations.open_world_hint);
    assert_eq!(bench.transcripts().len(), 3);
}

#[test]
fn a_list_is_paged_and_a_cursor_belongs_to_its_call() {
    let bench = bench();
    let first = bench.reply("lists", json!({ "limit": 30 }));
    assert_eq!(first.output["entries"].as_array().unwrap().len(), 30);
    assert_eq!(first.envelope.metadata.results_count, Some(100));
    let (mut cut, mut seen) = (first.envelope.truncated, 30);
    while let Some(truncated) = cut {
        assert_eq!(truncated.total, 100);
        let next = bench.reply("lists", json!({ "limit": 30, "cursor": truncated.next }));
        assert_eq!(next.output["entries"][0], format!("{seen}"));
        seen += next.output["entries"].as_array().unwrap().len();
        cut = next.envelope.truncated;
    }
    assert_eq!(seen, 100);
    let wide = bench.reply("lists", json!({ "how": "wide" }));
    assert!(wide.envelope.metadata.tokens_used <= kit::shape::BUDGET);
    let truncated = wide.envelope.truncated.unwrap();
    assert_eq!(truncated.shown, wide.output["entries"].as_array().unwrap().len() as u64);
    assert!((5..50).contains(&truncated.shown));
    let stale = bench.fault("lists", json!({ "how": "other", "cursor": truncated.next }));
    assert!(stale.code == Code::NotFound && stale.message.contains("came from another"), "{stale:?}");
    let unknown = bench.fault("lists", json!({ "cursor": format!("cursor_{}", "0".repeat(32)) }));
    assert!(unknown.code == Code::NotFound && unknown.suggestions[1].contains("without `cursor`"));
    assert_eq!(bench.fault("lists", json!({ "limit": 0 })).code, Code::InvalidArgument);
}

#[test]
fn no_more_calls_of_a_tool_run_at_once_than_its_limit_says() {
    let bench = Bench::with(&[&FAMILY], &[("file", "x")], Setup { limited: true, ..Setup::default() });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let most = usize::try_from(kit::limits::Limits::DEFAULT.at_once).unwrap();
    runtime.block_on(async {
        let cancel = CancellationToken::new();
        let waiting: Vec<_> = (0..most)
            .map(|_| {
                let mut call = bench.request("looks", json!({ "how": "wait" }));
                call.cancel = cancel.clone();
                let engine = Arc::clone(&bench.engine);
                tokio::spawn(async move { engine.call(call).await })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(300)).await;
        let engine = Arc::clone(&bench.engine);
        let mut next = tokio::spawn({
            let call = bench.request("looks", json!({}));
            async move { engine.call(call).await }
        });
        let early = tokio::time::timeout(Duration::from_millis(300), &mut next).await;
        assert!(early.is_err(), "one more than the limit waits");
        // A call that waits for its turn can be cancelled.
        let mut queued = bench.request("looks", json!({}));
        queued.cancel = CancellationToken::new();
        queued.cancel.cancel();
        assert_eq!(bench.engine.call(queued).await.result.unwrap_err().code, Code::Cancelled);
        cancel.cancel();
        for call in waiting {
            assert_eq!(call.await.unwrap().result.unwrap_err().code, Code::Cancelled);
        }
        assert!(next.await.unwrap().result.is_ok(), "its turn comes");
    });
}

#[test]
fn a_program_that_leaves_another_behind_does_not_hold_its_call() {
    let bench = bench();
    let began = Instant::now();
    let reply = bench.reply("runs", json!({ "how": "echo said; setsid sleep 20 & exit 0" }));
    assert!(reply.envelope.message.contains("said") && began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_link_leads_programs_nowhere_but_into_what_they_work_over() {
    let files = [("dir/file", "old\n"), ("secret", "s"), ("large", "")];
    let copied = kit::testing::launcher();
    let copied = Arc::new(exec::run::Launcher::clone(&copied).at_most(exec::run::Level::Filters));
    for launcher in [None, Some(copied)] {
        let bench = Bench::with(&[&FAMILY], &files, Setup { launcher, ..Setup::default() });
        let root = bench.root();
        std::os::unix::fs::symlink(root.join("dir"), root.join("current")).unwrap();
        std::os::unix::fs::symlink("/etc", root.join("away")).unwrap();
        std::fs::write(root.join(".git"), "gitdir: /somewhere/else\n").unwrap();
        std::fs::write(root.join("large"), vec![0; 70 * 1024 * 1024]).unwrap();
        let before = bench.snapshot();
        let how = "echo new > current/file; cat away/shadow away/gshadow 2>/dev/null | wc -l; (umask 077; echo k > key); \
                   chmod 0600 secret; pwd";
        let reply = bench.reply("runs", json!({ "how": how, "apply": false }));
        assert_eq!(bench.snapshot(), before, "the link of the root leads into the layer or copy");
        let plan = reply.envelope.plan.unwrap();
        assert_eq!(
            plan.effects,
            ["replace dir/file (4 bytes)", "create key (2 bytes)", "replace secret (1 byte)"]
        );
        assert!(reply.envelope.message.contains(" 0\n<root>\n"), "{}", reply.envelope.message);
        bench.reply("runs", json!({ "how": how, "apply": true, "plan": plan.id.to_string() }));
        let after = bench.snapshot();
        assert_eq!(after["key"], b"0600\nk\n");
        assert_eq!(after["secret"], b"0600\ns");
        let replaced = bench.reply("runs", json!({ "how": "rm -r dir && echo x > dir" })).envelope;
        assert_eq!(replaced.blocked.len(), 1, "no plan replaces a folder: {:?}", replaced.blocked);
    }
}

#[test]
fn foreign_and_recording_tools_perform_and_policy_knows_it() {
    let rule = |tool: &str, decision| Rule {
        tools: vec![tool.to_owned()],
        toolsets: vec![],
        apply: Some(true),
        foreign_code: None,
        decision,
    };
    let rules = vec![rule("upstream_echo", Decision::Confirm), rule("remembers", Decision::Forbid)];
    let policy = Policy { user: Rules { rules, ..Rules::default() }, project: Rules::default() };
    let services = Services::default().with::<dyn Notes>(Arc::new(InMemory::default()));
    let setup = Setup { foreign: vec![Arc::new(Upstream)], policy, services, ..Setup::default() };
    let bench = Bench::with(&[&FAMILY], &[], setup);
    assert_eq!(bench.fault("upstream_echo", json!({ "say": "x" })).code, Code::ConfirmationRequired);
    assert_eq!(bench.fault("remembers", json!({})).code, Code::Forbidden);

    let setup = Setup { foreign: vec![Arc::new(Upstream)], ..Setup::default() };
    let bench = Bench::with(&[&FAMILY], &[], setup);
    bench.reply("upstream_echo", json!({ "say": "x" }));
    assert_eq!(bench.transcripts()[0].execution_mode, ExecutionMode::Apply);
    let mut intents = 0;
    audit::verify::verify(bench.engine.ledger().dir(), &audit::verify::With::default(), |entry| {
        intents += usize::from(matches!(entry.body, audit::Body::Intent(_)));
    })
    .unwrap();
    assert_eq!(intents, 1, "it was on record before it was done");
}

#[test]
fn a_definition_of_others_is_called_only_as_it_was_approved() {
    let setup = Setup { foreign: vec![Arc::new(Upstream)], unapproved: true, ..Setup::default() };
    let bench = Bench::with(&[&FAMILY], &[("file", "x")], setup);
    let fault = bench.fault("upstream_echo", json!({ "say": "x" }));
    assert!(fault.code == Code::ApprovalRequired && fault.message.contains("nobody"), "{fault:?}");
    assert_eq!(bench.transcripts().len(), 1, "the refusal is on record");
    bench.reply("looks", json!({}));
}

#[test]
fn recipe_005_an_output_that_does_not_fit_its_schema_is_an_error_and_nothing_is_applied() {
    let bench = bench();
    for apply in [false, true] {
        let done = bench.call("lies", json!({ "apply": apply }));
        let fault = done.result.as_ref().unwrap_err();
        assert!(
            fault.code == Code::Internal && fault.message.contains("does not fit its schema"),
            "{fault:?}"
        );
        assert!(!done.to_value().to_string().contains("as promised"), "no malformed output is given");
    }
    assert!(!bench.root().join("lie").exists());
}

#[test]
fn refusals_are_counted_before_they_are_recorded_and_keep_no_large_arguments() {
    let bench = Bench::with(&[&FAMILY], &[("file", "x")], Setup { limited: true, ..Setup::default() });
    let large = "x".repeat(100_000);
    for tool in ["looks", "no_such_tool"] {
        let before = bench.transcripts().len();
        let began = Instant::now();
        for _ in 0..80 {
            let mut call = bench.request(tool, json!({ "how": large }));
            call.principal = Principal::Token {
                issuer: "i".into(),
                subject: "s".into(),
                scopes: vec!["other:read".into()],
            };
            assert!(bench.make(call).result.is_err());
        }
        let records = bench.transcripts();
        let kept = records.len() - before;
        assert!(
            admitted_since(began).contains(&(kept - 1)),
            "{tool}: {kept}: sixty, and one that there were more"
        );
        for record in &records[before..] {
            assert!(record.tool_args.to_string().len() < 1_000, "{tool}: {}", record.tool_args["omitted"]);
        }
    }
}

#[test]
fn the_record_of_a_call_that_ends_with_its_runtime_is_not_left_behind() {
    let bench = bench();
    for steps in 0..20 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let call = bench.request("looks", json!({}));
        let engine = Arc::clone(&bench.engine);
        runtime.block_on(async {
            tokio::spawn(async move { engine.call(call).await });
            for _ in 0..steps {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        let ledger = format!("{:?}", bench.engine.ledger());
        assert!(ledger.contains("Queue(0 waiting)"), "after {steps} steps: {ledger}");
    }
    assert!(!bench.transcripts().is_empty());
}
