//! The one way that every call takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use audit::record::ExecutionMode;
use contract::{Code, Principal, Status};
use gatewright_kit as kit;
use kit::desk::Services;
use kit::testing::Bench;
use kit::testing::bench::Setup;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::kinds::{FAMILY, InMemory, Notes};

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
    call.principal = token(&["specimens"]);
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
fn too_many_calls_are_refused_and_the_refusals_are_one_record_a_minute() {
    let bench = Bench::with(&[&FAMILY], &[("file", "x")], Setup { limited: true, ..Setup::default() });
    let refused = (0..64).filter(|_| {
        bench
            .call("looks", json!({}))
            .result
            .is_err_and(|f| f.code == Code::RateLimited && f.message.contains("try again"))
    });
    assert!((1..=4).contains(&refused.count()));
    assert_eq!(bench.transcripts().len(), 61, "sixty calls and one refusal");
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
