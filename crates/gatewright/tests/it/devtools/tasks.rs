//! Jobs as tasks, to clients of the newer era that declare the extension.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Bench;
use crate::wire::{Wire, meta};

/// A client of the newer era, which declares what it takes in every request.
struct Client {
    wire: Wire,
    meta: Value,
}

impl Client {
    fn of(bench: &Bench, takes_tasks: bool) -> Self {
        let mut meta = meta("2026-07-28");
        if takes_tasks {
            let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
            meta["io.modelcontextprotocol/clientCapabilities"] = tasks;
        }
        Self { wire: Wire::with(bench.command().args(["serve", "--toolsets", "all"])), meta }
    }

    fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = self.meta.clone();
        self.wire.request(method, params)
    }

    fn make(&mut self, target: &str) -> Value {
        let arguments = json!({ "target": target });
        self.request("tools/call", json!({ "name": "make_test", "arguments": arguments }))["result"].clone()
    }

    fn task(&mut self, id: &Value) -> Value {
        self.request("tasks/get", json!({ "taskId": id }))["result"].clone()
    }
}

fn bench() -> Bench {
    let makefile = "brief:\n\t@echo begun; sleep 2; echo done\nslow:\n\t@echo begun; sleep 60\nquick:\n\t@true\n\
                    bad:\n\t@sleep 2; exit 3\n";
    let bench = Bench::new(&[("Makefile", makefile)]);
    bench.place.configure("[limits]\ndetach-after = 1\n");
    bench
}

fn until(client: &mut Client, id: &Value, wanted: &str) -> Value {
    let began = Instant::now();
    loop {
        let task = client.task(id);
        if task["status"] == wanted {
            return task;
        }
        assert_eq!(task["status"], "working", "{task}");
        assert!(began.elapsed() < Duration::from_secs(30), "{task}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_call_that_goes_on_is_a_task_to_whoever_declares_them() {
    let bench = bench();
    let mut client = Client::of(&bench, true);
    assert_eq!(client.make("quick")["resultType"], "complete", "what is over soon is no task");
    let begun = client.make("brief");
    assert_eq!((&begun["resultType"], &begun["status"]), (&json!("task"), &json!("working")), "{begun}");
    assert_eq!(begun["ttlMs"], 86_400_000, "{begun}");
    assert!(begun["pollIntervalMs"].as_u64().is_some(), "{begun}");
    let id = begun["taskId"].clone();
    assert_eq!(client.task(&id)["createdAt"], begun["createdAt"]);
    let listed = client.request("tools/call", json!({ "name": "job_status", "arguments": {} }));
    let jobs = &listed["result"]["structuredContent"]["jobs"];
    assert_eq!(jobs[0]["job"], id, "a task is a job, and a job a task: {listed}");
    let ended = until(&mut client, &id, "completed");
    let result = &ended["result"]["structuredContent"];
    assert_eq!((&result["success"], &result["status"]), (&json!(true), &json!("completed")), "{ended}");
    assert!(ended["lastUpdatedAt"].as_str() > ended["createdAt"].as_str(), "{ended}");
    assert_eq!(client.task(&id), ended, "its result stays");
    // A program that reports findings has come to its end.
    let bad = client.make("bad")["taskId"].clone();
    assert_eq!(until(&mut client, &bad, "completed")["result"]["structuredContent"]["success"], false);
    client.wire.finish();
}

#[test]
fn a_task_is_cancelled_and_none_is_made_up() {
    let bench = bench();
    let mut client = Client::of(&bench, true);
    let id = client.make("slow")["taskId"].clone();
    let acknowledged = client.request("tasks/cancel", json!({ "taskId": id }));
    assert!(acknowledged.get("error").is_none(), "{acknowledged}");
    until(&mut client, &id, "cancelled");
    let nothing = client.request("tasks/update", json!({ "taskId": id, "inputResponses": {} }));
    assert!(nothing.get("error").is_none(), "{nothing}");
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let unknown = client.request(method, json!({ "taskId": "job_00", "inputResponses": {} }));
        assert_eq!(unknown["error"]["code"], -32602, "{method}: {unknown}");
        let bad = client.request(method, json!({ "taskId": 5 }));
        assert_eq!(bad["error"]["code"], -32602, "{method}: {bad}");
    }
    client.wire.finish();
}

#[test]
fn g5_nobody_else_gets_a_task() {
    let bench = bench();
    let mut plain = Client::of(&bench, false);
    let detached = plain.make("brief");
    assert_eq!(detached["structuredContent"]["status"], "detached", "{detached}");
    let job = detached["structuredContent"]["job"].clone();
    let refused = plain.request("tasks/get", json!({ "taskId": job }));
    assert_eq!(refused["error"]["code"], -32021, "a capability that was not declared: {refused}");
    plain.wire.finish();
    // In the older era tasks were another thing under the same name.
    let extensions = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} }, "tasks": {} });
    let mut older = Wire::greeted(bench.command().args(["serve", "--toolsets", "all"]), &extensions);
    let params = json!({ "name": "make_test", "arguments": { "target": "brief" } });
    let detached = older.request("tools/call", params);
    assert_eq!(detached["result"]["structuredContent"]["status"], "detached", "{detached}");
    let job = detached["result"]["structuredContent"]["job"].clone();
    let unknown = older.request("tasks/get", json!({ "taskId": job }));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    older.finish();
}
