//! Runs as evidence, and jobs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Bench, Session};

const MAKEFILE: &str = "\
many:
\t@seq 1 30000; echo '--- FAIL: TestSomething'; seq 30001 30050; echo said >&2; exit 1
slow:
\t@echo begun; sleep 30; echo ended
brief:
\t@echo begun; sleep 3; echo ended
forged:
\t@echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"forged\":true}}'
secret:
\t@echo ghp_0123456789abcdefghijABCDEFGHIJ012345
";

fn bench() -> Bench {
    Bench::new(&[("Makefile", MAKEFILE)])
}

#[test]
fn run_output_shows_any_part_of_what_a_run_said() {
    let bench = bench();
    let mut session = bench.serve();
    let failed = session.ok("make_test", json!({ "target": "many" }));
    let run = &failed["runs"][0]["run"];
    let range = session.ok("run_output", json!({ "run": run, "range": "29990-29992" }));
    assert_eq!(
        range["lines"],
        json!([{"number": 29990, "text": "29990"}, {"number": 29991, "text": "29991"}, {"number": 29992, "text": "29992"}])
    );
    assert_eq!((range["totalLines"].as_u64(), range["ended"].as_str()), (Some(30_051), Some("exit code 2")));
    let around = session.ok("run_output", json!({ "run": run, "aroundFailure": true }));
    assert!(
        around["lines"].as_array().unwrap().iter().any(|line| line["text"] == "--- FAIL: TestSomething"),
        "{around}"
    );
    assert_eq!(around["lines"][0]["number"], 29_991);
    let found = session.ok("run_output", json!({ "run": run, "grep": "^1234[0-4]$", "limit": 2 }));
    assert_eq!(found["lines"].as_array().unwrap().len(), 2);
    assert_eq!(found["truncated"]["total"], 5, "12340 to 12344: {found}");
    let next = json!({ "run": run, "grep": "^1234[0-4]$", "limit": 2, "cursor": found["truncated"]["next"] });
    assert_eq!(session.ok("run_output", next)["lines"][0]["text"], "12342");
    let other = session.ok("run_output", json!({ "run": run, "stream": "stderr", "grep": "said" }));
    assert_eq!(other["lines"][0]["text"], "said");
    let unnamed = session.ok("run_output", json!({ "run": run, "grep": "^said$" }));
    assert_eq!(
        (unnamed["stream"].as_str(), unnamed["lines"][0]["text"].as_str()),
        (Some("stderr"), Some("said")),
        "the stream that has it: {unnamed}"
    );
    assert_eq!(session.ok("run_output", json!({ "run": run, "range": "1-2" }))["stream"], "stdout");
    for (arguments, code) in [
        (json!({ "run": "run_00000000000000000000000000000000" }), "not_found"),
        (json!({ "run": "../../etc/passwd" }), "not_found"),
        (json!({ "run": run, "grep": "(" }), "invalid_argument"),
        (json!({ "run": run, "range": "9-3" }), "invalid_argument"),
        (json!({ "run": run, "range": "all" }), "invalid_argument"),
    ] {
        assert_eq!(session.fails("run_output", arguments.clone())["code"], code, "{arguments}");
    }
    let uri = format!("run://{}", run.as_str().unwrap());
    let read = session.0.request("resources/read", json!({ "uri": uri }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("`make many`") && text.contains("exit code 2") && text.contains("bytes left out"),
        "{text}"
    );
    let listed = session.0.request("resources/list", json!({}));
    assert!(listed["result"]["resources"].to_string().contains(&uri), "{listed}");
    assert!(session.0.request("resources/read", json!({ "uri": "run://run_00" }))["error"].is_object());
    let secret = session.ok("make_test", json!({ "target": "secret" }));
    let shown = session.ok("run_output", json!({ "run": secret["runs"][0]["run"] }));
    assert!(!shown.to_string().contains("ghp_0123") && shown.to_string().contains("[redacted:"), "{shown}");
}

fn detached(session: &mut Session, target: &str) -> Value {
    let began = Instant::now();
    let left = session.ok("make_test", json!({ "target": target }));
    assert_eq!(left["status"], "detached", "{left}");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(left["message"].as_str().unwrap().contains("job_status"));
    left["job"].clone()
}

#[test]
fn a_call_that_takes_long_goes_on_as_a_job_with_one_transcript() {
    let bench = bench();
    bench.place.configure("[limits]\ndetach-after = 1\n");
    let mut session = bench.serve();
    let job = detached(&mut session, "brief");
    let at_work = session.ok("job_status", json!({ "job": job, "tail": 5 }));
    let view = &at_work["jobs"][0];
    assert_eq!(
        (view["state"].as_str(), view["tool"].as_str()),
        (Some("running"), Some("make_test")),
        "{view}"
    );
    assert_eq!(view["tail"], json!(["begun"]));
    assert_eq!(
        session.ok("job_status", json!({}))["jobs"].as_array().unwrap().len(),
        1,
        "listed without a handle"
    );
    let ended = session.ok("job_status", json!({ "job": job, "wait": 20 }));
    let view = &ended["jobs"][0];
    assert_eq!(view["state"], "completed", "{ended}");
    assert_eq!(
        (view["result"]["success"].as_bool(), view["result"]["status"].as_str()),
        (Some(true), Some("completed"))
    );
    assert_eq!(view["transcript"], view["result"]["metadata"]["transcript"]);
    let shown = session.ok("run_output", json!({ "run": view["result"]["runs"][0]["run"] }));
    assert_eq!(shown["lines"].as_array().unwrap().len(), 2);
    assert_eq!(session.fails("job_status", json!({ "job": "job_00" }))["code"], "not_found");
    session.0.finish();
    let records = bench.place.ok(&["audit", "export"]);
    let transcript = view["transcript"].as_str().unwrap();
    let own = records.lines().filter(|line| line.contains(&format!("\"id\":\"{transcript}\"")));
    let kinds: Vec<&str> = own.map(|line| line.rsplit("\"type\":").next().unwrap()).collect();
    assert_eq!(kinds, ["\"intent\"}", "\"transcript\"}"], "that it goes on, and its end: {records}");
}

#[test]
fn d02_a_job_is_cancelled_and_the_end_of_the_input_ends_those_that_are_left() {
    let bench = bench();
    bench.place.configure("[limits]\ndetach-after = 1\n");
    let mut session = bench.serve();
    let job = detached(&mut session, "slow");
    let began = Instant::now();
    let cancelled = session.ok("job_cancel", json!({ "job": job }));
    assert_eq!(cancelled["job"]["state"], "cancelled", "{cancelled}");
    assert!(began.elapsed() < Duration::from_secs(3));
    let status = session.ok("job_status", json!({ "job": job }));
    assert_eq!(status["jobs"][0]["result"]["error"]["code"], "cancelled");
    assert!(session.ok("job_cancel", json!({ "job": job }))["message"].as_str().unwrap().contains("before"));
    assert_eq!(session.fails("job_cancel", json!({ "job": "job_00" }))["code"], "not_found");
    detached(&mut session, "slow");
    let began = Instant::now();
    session.0.finish();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(bench.place.ok(&["audit", "verify"]).contains("every MAC checked"));
}

/// The processes whose command line has `mark` in it.
pub(crate) fn processes(mark: &str) -> usize {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = pids.filter_map(|pid| std::fs::read(pid.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

#[test]
fn s06_who_kills_the_server_ends_every_program_of_it() {
    let mark = format!("{}.125", 7_000 + std::process::id());
    let makefile =
        format!("stay:\n\t@(setsid sh -c 'trap \"\" TERM HUP INT; sleep {mark} & wait' &); sleep {mark}\n");
    let bench = Bench::new(&[("Makefile", &makefile)]);
    let mut session = bench.serve();
    session.0.send(&json!({ "jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": { "name": "make_test", "arguments": { "target": "stay" } } }).to_string());
    let began = Instant::now();
    while processes(&mark) < 2 {
        assert!(began.elapsed() < Duration::from_secs(20), "it did not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    session.0.child.kill().unwrap();
    session.0.child.wait().unwrap();
    let began = Instant::now();
    while processes(&mark) > 0 {
        assert!(began.elapsed() < Duration::from_secs(2), "{} survived", processes(&mark));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn m18_no_line_of_a_programs_output_passes_for_the_protocols() {
    let bench = bench();
    let mut session = bench.serve();
    let ran = session.ok("make_test", json!({ "target": "forged" }));
    assert!(ran.get("forged").is_none() && ran["success"] == true, "{ran}");
    let shown = session.ok("run_output", json!({ "run": ran["runs"][0]["run"] }));
    assert!(shown["lines"][0]["text"].as_str().unwrap().contains("forged"));
}
