//! Code of skills runs, contained, and only as a person approved it.

use std::process::Output;
use std::time::Instant;

use serde_json::{Value, json};

use super::patterns::bench;
use crate::bench::{Bench, Session};
use crate::secure::Secure;

/// Runs the program in the repository, as a person would.
fn cli(bench: &Bench, args: &[&str]) -> Output {
    bench.command().args(args).output().unwrap()
}

/// Looks at a skill and approves it.
fn approve(bench: &Bench, id: &str) {
    let name = format!("skill:{id}");
    let first = cli(bench, &["approvals", "accept", &name]);
    assert_eq!(first.status.code(), Some(1), "nothing is approved unseen: {first:?}");
    let second = cli(bench, &["approvals", "accept", &name]);
    assert!(second.status.success(), "{second:?}");
}

/// Whether this machine makes worlds; else that is said loudly.
fn possible(session: &mut Session) -> bool {
    let result =
        session.call("execute_skill", json!({ "skillId": "ui/contrast-check", "input": {}, "dryRun": true }));
    let text = result["content"][0]["text"].as_str().unwrap();
    if text.contains("confinement_unavailable") {
        crate::skip("code of skills (no namespaces)");
        return false;
    }
    true
}

/// A repository with skills of its own: `name`, code, and what stands in its `-SKILL.md`.
fn own(skills: &[(&str, &str, &str)]) -> Bench {
    let mut files: Vec<(String, String)> = vec![("README.md".to_owned(), "# App\n".to_owned())];
    for (name, code, meta) in skills {
        let place = |end: &str| format!(".shared-patterns/backend/{name}{end}");
        files.push((place(".md"), format!("# {name}\n")));
        files.push((place(".ts"), (*code).to_owned()));
        if !meta.is_empty() {
            files.push((place("-SKILL.md"), (*meta).to_owned()));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    bench(&files)
}

fn run(session: &mut Session, id: &str, input: Value) -> Value {
    let ran = session.ok("execute_skill", json!({ "skillId": id, "input": input }));
    // What only computes proposes nothing, so that there is no plan to pass back.
    assert!(ran.get("plan").is_none(), "{ran:#}");
    ran["data"].clone()
}

fn fails(session: &mut Session, id: &str, input: Value) -> Value {
    session.fails("execute_skill", json!({ "skillId": id, "input": input }))
}

#[test]
fn a_skill_runs_once_it_was_approved_and_asks_again_when_its_code_changes() {
    let code = "export function greet(input: { name: string }) { console.log('hello', input.name); return { said: `Hello, ${input.name}.` }; }\n";
    let bench = own(&[("greet", code, "")]);
    let mut session = bench.serve();
    if !possible(&mut session) {
        return;
    }
    let refused = fails(&mut session, "backend/greet", json!({ "name": "Ada" }));
    assert_eq!(refused["code"], "approval_required", "{refused:#}");
    assert!(
        refused["suggestions"][0].as_str().unwrap().contains("approvals accept skill:project:backend/greet"),
        "{refused:#}"
    );
    let dry = session.ok("execute_skill", json!({ "skillId": "backend/greet", "input": {}, "dryRun": true }))
        ["data"]
        .clone();
    assert_eq!(
        (&dry["wouldRun"]["approved"], &dry["wouldRun"]["function"], dry.get("result")),
        (&json!(false), &json!("greet"), None),
        "{dry:#}"
    );
    let shown = cli(&bench, &["approvals", "show", "skill:project:backend/greet"]);
    let said = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        said.contains("asks for nothing but computing") && said.contains("Hello, ${input.name}"),
        "{said}"
    );
    let accepted = cli(&bench, &["approvals", "accept", "skill:backend/greet"]);
    assert!(accepted.status.success(), "it was shown: {accepted:?}");
    let ran = run(&mut session, "backend/greet", json!({ "name": "Ada" }));
    assert_eq!(
        (&ran["result"], &ran["logs"], &ran["mode"]),
        (&json!({ "said": "Hello, Ada." }), &json!(["hello Ada"]), &json!("embedded")),
        "{ran:#}"
    );
    let listed = String::from_utf8_lossy(&cli(&bench, &["approvals", "list"]).stdout).into_owned();
    assert!(listed.contains("skill:project:backend/greet"), "{listed}");

    bench.put(".shared-patterns/backend/greet.ts", &code.replace("Hello", "Bye"));
    let changed = fails(&mut session, "backend/greet", json!({ "name": "Ada" }));
    assert_eq!(changed["code"], "approval_required", "{changed:#}");
    let diff = String::from_utf8_lossy(&cli(&bench, &["approvals", "diff"]).stdout).into_owned();
    assert!(diff.contains("skill:project:backend/greet") && diff.contains("backend/greet.ts"), "{diff}");
    approve(&bench, "project:backend/greet");
    assert_eq!(run(&mut session, "backend/greet", json!({ "name": "Ada" }))["result"]["said"], "Bye, Ada.");
    assert!(cli(&bench, &["approvals", "revoke", "skill:project:backend/greet"]).status.success());
    assert_eq!(fails(&mut session, "backend/greet", json!({ "name": "Ada" }))["code"], "approval_required");
    assert_eq!(bench.dirt().lines().count(), 1, "only what the test changed: {}", bench.dirt());
}

/// The schema that an example declares: answers have no tokens in them, not even those of examples.
fn declared(file: &str) -> Value {
    let text =
        std::fs::read_to_string(super::patterns::example("patterns").join(format!("{file}.md"))).unwrap();
    let block = text.split("```json").nth(1).unwrap().split("```").next().unwrap();
    serde_json::from_str(block).unwrap()
}

#[test]
fn the_examples_run_with_what_they_ask_for_and_their_inputs_are_held_to_their_schemas() {
    let bench = bench(&[
        (
            "docs/adr/0001-use-postgres.md",
            "# 1. Use PostgreSQL\n\nDate: 2025-03-01\n\n## Status\n\nAccepted\n",
        ),
        ("docs/.env", "SECRET=1\n"),
        ("README.md", "# App\n"),
    ]);
    let mut session = bench.serve();
    if !possible(&mut session) {
        return;
    }
    for id in
        ["user:security/jwt-claims-check", "user:architecture/adr-index", "user:backend/deadline-budget"]
    {
        approve(&bench, id);
    }
    let example = declared("security/jwt-claims-check-SKILL")["examples"][0].clone();
    let ran = run(&mut session, "security/jwt-claims-check", example);
    assert!(
        ran["result"].is_object() && ran["granted"] == json!(["clock"]),
        "it imports a file beside it: {ran:#}"
    );
    let bad = fails(&mut session, "security/jwt-claims-check", json!({ "token": 7 }));
    assert_eq!(bad["code"], "invalid_argument", "{bad:#}");
    let dry = session.ok(
        "execute_skill",
        json!({ "skillId": "security/jwt-claims-check", "input": { "token": 7 }, "dryRun": true }),
    );
    assert!(dry["data"]["wouldRun"]["misfits"][0].is_string(), "{dry:#}");
    let index = run(&mut session, "architecture/adr-index", json!({}));
    assert!(index["result"].to_string().contains("0001-use-postgres"), "{index:#}");
    assert_eq!(index["granted"], json!(["read docs/**/*.md"]));

    bench.place.configure(&format!(
        "[library]\nuser = {:?}\n[skills]\nclock = false\nreads = false\n",
        super::patterns::example("patterns").to_str().unwrap()
    ));
    let mut session = bench.serve();
    let dry = session
        .ok("execute_skill", json!({ "skillId": "security/jwt-claims-check", "input": {}, "dryRun": true }));
    assert_eq!(dry["data"]["wouldRun"]["granted"]["refused"], json!(["clock"]), "{dry:#}");
}

#[test]
fn hostile_skills_are_contained() {
    let skills = [
        ("endless", "export function endless() { for (;;) {} }\n"),
        ("native", "export function native() { Array.prototype.sort.call({ length: 2 ** 53 - 1 }); }\n"),
        ("bomb", "export function bomb() { const a = []; for (;;) a.push(new Array(1e6).fill(7)); }\n"),
        ("deep", "export function deep() { return deep(); }\n"),
        ("lies", "export function lies() { Object.prototype.toJSON = () => 'mine'; return {}; }\n"),
        (
            "proto",
            "export function proto(input) { return { own: Object.keys(input), polluted: ({}).polluted ?? null }; }\n",
        ),
        (
            "ambient",
            "export function ambient() { let read = 'nothing'; try { gatewright.read('README.md'); } catch (e) { read = e.name; } return [typeof Date, typeof process, typeof require, typeof fetch, typeof setTimeout, read === 'nothing' ? read : 'undefined', typeof Math.random]; }\n",
        ),
        ("dynamic", "export async function dynamic(input) { return await import(input.what); }\n"),
        ("large", "export function large() { return 'x'.repeat(1e9); }\n"),
        ("medium", "export function medium() { return 'x'.repeat(60_000); }\n"),
        (
            "throws",
            "export function throws() {\n  const inner = () => {\n    throw new TypeError('boom /etc/passwd');\n  };\n  return inner();\n}\n",
        ),
        ("refused", "export enum Kind { A }\nexport function refused() { return Kind.A; }\n"),
        ("nothing", "export const other = 1;\n"),
        ("pending", "export function pending() { return new Promise(() => {}); }\n"),
    ];
    let all: Vec<(&str, &str, &str)> =
        skills.iter().map(|(name, code)| (*name, *code, "**Timeout:** 400ms\n")).collect();
    let bench = own(&all);
    let mut session = bench.serve();
    if !possible(&mut session) {
        return;
    }
    for (name, _) in skills.iter().filter(|(name, _)| *name != "refused") {
        approve(&bench, &format!("project:backend/{name}"));
    }
    let mut code = |name: &str, input: Value| {
        let began = Instant::now();
        let fault = fails(&mut session, &format!("backend/{name}"), input);
        assert!(began.elapsed().as_secs() < 30, "{name} took {:?}", began.elapsed());
        (fault["code"].as_str().unwrap().to_owned(), fault)
    };
    assert_eq!(code("endless", json!({})).0, "timeout");
    assert_eq!(code("native", json!({})).0, "timeout", "the process is killed: nothing within could end it");
    let bomb = code("bomb", json!({}));
    assert!(["resource_exhausted", "timeout"].contains(&bomb.0.as_str()), "{bomb:?}");
    assert_eq!(code("deep", json!({})).0, "skill_execution_failed");
    assert_eq!(code("dynamic", json!({ "what": "node:fs" })).0, "skill_execution_failed");
    assert_eq!(code("dynamic", json!({ "what": "../../../../../etc/passwd" })).0, "skill_execution_failed");
    let large = code("large", json!({}));
    assert!(["resource_exhausted", "skill_execution_failed"].contains(&large.0.as_str()), "{large:?}");
    assert_eq!(code("nothing", json!({})).0, "skill_execution_failed");
    assert_eq!(code("pending", json!({})).0, "skill_execution_failed");
    let refused = code("refused", json!({}));
    assert_eq!(refused.0, "invalid_source");
    assert!(refused.1["message"].as_str().unwrap().contains("refused.ts:1:1"), "{refused:?}");
    let throws = code("throws", json!({}));
    let message = throws.1["message"].as_str().unwrap();
    assert!(
        message.starts_with("TypeError: boom /etc/passwd at ") && message.ends_with("throws.ts:3:15"),
        "{throws:?}"
    );
    assert_eq!(throws.1["suggestions"].as_array().unwrap().len(), 2, "{throws:?}");

    let lies = run(&mut session, "backend/lies", json!({}));
    assert_eq!(lies["result"], "mine", "of itself a skill may say anything");
    let input: Value = serde_json::from_str(r#"{ "__proto__": { "polluted": true }, "a": 1 }"#).unwrap();
    let proto = run(&mut session, "backend/proto", input);
    assert_eq!(proto["result"], json!({ "own": ["__proto__", "a"], "polluted": null }), "{proto:#}");
    let ambient = run(&mut session, "backend/ambient", json!({}));
    assert_eq!(
        ambient["result"],
        json!(["undefined", "undefined", "undefined", "undefined", "undefined", "undefined", "undefined"]),
        "{ambient:#}"
    );
    let medium = run(&mut session, "backend/medium", json!({}));
    let report = medium["resultReport"].as_str().unwrap().to_owned();
    assert_eq!(medium.get("result"), None);
    let read = session.0.request("resources/read", json!({ "uri": report }));
    assert!(read["error"].is_null(), "{read:#}");
    for bad in ["../backend/endless", "backend/../../x", "backend//endless"] {
        assert_eq!(fails(&mut session, bad, json!({}))["code"], "invalid_argument", "{bad}");
    }
    assert_eq!(
        fails(&mut session, "database/rls-tenant-isolation", json!({}))["code"],
        "skill_execution_failed",
        "it has no code"
    );
    assert_eq!(fails(&mut session, "database/rls-polisy", json!({}))["code"], "pattern_not_found");
    assert_eq!(bench.dirt(), "");
}

#[test]
fn a_skill_that_imports_packages_runs_in_node_over_the_project_and_what_is_missing_is_named() {
    let bench = bench(&[
        ("README.md", "# App\n"),
        ("package.json", "{\"name\":\"app\"}\n"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n"),
        (
            "node_modules/tiny/package.json",
            "{\"name\":\"tiny\",\"version\":\"1.0.0\",\"main\":\"index.js\"}\n",
        ),
        ("node_modules/tiny/index.js", "module.exports = (text) => text + '!';\n"),
        (".shared-patterns/backend/shout.md", "# Shout\n"),
        (
            ".shared-patterns/backend/shout.ts",
            "import tiny from \"tiny\";\nimport { readFileSync, writeFileSync } from \"node:fs\";\nimport { twice } from \"./helper\";\nexport function shout(input: { text: string; fail?: boolean }) {\n  console.log(\"said\");\n  if (input.fail) throw new RangeError(\"no\");\n  writeFileSync(\"made.txt\", input.text);\n  return { text: twice(tiny(input.text)), readme: readFileSync(\"README.md\", \"utf8\") };\n}\n",
        ),
        (
            ".shared-patterns/backend/helper.ts",
            "export const twice = (text: string): string => text + text;\n",
        ),
        (".shared-patterns/backend/helper.md", "# Helper\n"),
    ]);
    let mut session = bench.serve();
    if !possible(&mut session) {
        return;
    }
    approve(&bench, "project:backend/shout");
    let call = json!({ "skillId": "backend/shout", "input": { "text": "hey" } });
    let ran = session.ok("execute_skill", call);
    let data = &ran["data"];
    assert_eq!(
        (&data["mode"], &data["result"]["text"], &data["result"]["readme"]),
        (&json!("process"), &json!("hey!hey!"), &json!("# App\n")),
        "{ran:#}"
    );
    assert_eq!(data["logs"], json!(["said"]), "{ran:#}");
    assert_eq!(ran["status"], "proposed", "what it wrote is a proposal: {ran:#}");
    assert_eq!(bench.read("made.txt"), None);
    let plan = ran["plan"]["id"].clone();
    session
        .ok("execute_skill", json!({ "skillId": "backend/shout", "input": { "text": "hey" }, "plan": plan }));
    assert_eq!(bench.read("made.txt").as_deref(), Some("hey"));
    let failed = fails(&mut session, "backend/shout", json!({ "text": "x", "fail": true }));
    assert_eq!(failed["code"], "skill_execution_failed", "{failed:#}");
    assert!(failed["message"].as_str().unwrap().starts_with("RangeError: no"), "{failed:#}");
    assert!(failed["suggestions"][0].as_str().unwrap().contains("shout.ts:6:"), "{failed:#}");

    let dry = session.ok(
        "execute_skill",
        json!({ "skillId": "architecture/semver-range-audit", "input": {}, "dryRun": true }),
    );
    assert_eq!(
        (&dry["data"]["mode"], &dry["data"]["wouldRun"]["packages"]),
        (&json!("process"), &json!(["semver"])),
        "{dry:#}"
    );
    approve(&bench, "user:architecture/semver-range-audit");
    let input = declared("architecture/semver-range-audit-SKILL")["examples"][0].clone();
    let missing = fails(&mut session, "architecture/semver-range-audit", input);
    assert!(missing["message"].as_str().unwrap().contains("semver"), "{missing:#}");
    assert_eq!(missing["suggestions"][0], "`pnpm add semver`", "{missing:#}");
}

#[test]
fn what_was_granted_is_not_left_by_links_and_no_schema_runs_before_it_was_approved() {
    let link = "export function links(input) { const out = {}; for (const p of input.paths) { try { out[p] = gatewright.read(p); } catch (e) { out[p] = 'denied'; } } return out; }\n";
    let both = |n: u32| {
        let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
        (format!("a{n}"), json!({ "allOf": [next.clone(), next] }))
    };
    let levels: serde_json::Map<String, Value> =
        (0..34).map(both).chain([("a34".to_owned(), json!({ "type": "object" }))]).collect();
    let schema = json!({ "$ref": "#/$defs/a0", "$defs": levels });
    let bomb = format!("# Bomb\n\n## Parameters\n\n```json\n{schema}\n```\n");
    let bench = own(&[
        ("links", link, "**Reads:** docs/**\n"),
        ("bomb", "export function bomb() { return 1; }\n", ""),
    ]);
    bench.put(".shared-patterns/backend/bomb.md", &bomb);
    bench.put("docs/open.md", "open");
    bench.put(".env", "SECRET=canary");
    bench.put("top.txt", "top");
    for (target, name) in [("../.env", "docs/env.md"), ("../top.txt", "docs/top.md"), ("..", "docs/up")] {
        std::os::unix::fs::symlink(target, bench.path(name)).unwrap();
    }
    let mut session = bench.serve();
    if !possible(&mut session) {
        return;
    }
    approve(&bench, "project:backend/links");
    let paths = ["docs/open.md", "docs/env.md", "docs/top.md", "docs/up/top.txt", "docs/../top.txt", ".env"];
    let ran = run(&mut session, "backend/links", json!({ "paths": paths }))["result"].clone();
    assert_eq!(ran["docs/open.md"], "open", "{ran:#}");
    assert!(paths[1..].iter().all(|path| ran[*path] == "denied"), "{ran:#}");

    let began = Instant::now();
    let dry = session.ok("execute_skill", json!({ "skillId": "backend/bomb", "input": {}, "dryRun": true }));
    assert_eq!(dry["data"]["wouldRun"].get("misfits"), None, "{dry:#}");
    approve(&bench, "project:backend/bomb");
    assert_eq!(fails(&mut session, "backend/bomb", json!({}))["code"], "invalid_source");
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

#[test]
fn a_skill_reaches_the_hosts_that_it_asks_for_and_the_user_grants_and_no_others() {
    let code = "import https from \"node:https\";\nexport async function ask(input) {\n  const told = {};\n  for (const url of input.urls) {\n    try {\n      const answer = await fetch(url);\n      told[url] = (await answer.json()).name;\n    } catch (error) {\n      told[url] = String(error.cause?.message ?? error.message);\n    }\n  }\n  told.https = await new Promise((done) => {\n    https.get(input.urls[0], (answer) => { let all = \"\"; answer.on(\"data\", (part) => (all += part)); answer.on(\"end\", () => done(JSON.parse(all).name)); }).on(\"error\", (error) => done(error.message));\n  });\n  return told;\n}\n";
    let place = crate::Place::new();
    let server = Secure::serve(&place, |ask| {
        let name = format!("{} {}", ask.method, ask.path);
        (200, "application/json", json!({ "name": name }).to_string().into_bytes())
    });
    let wish = format!("**Network:** {}, other.example\n", server.host);
    let bench = own(&[("ask", code, &wish), ("embedded", code, &format!("{wish}**Runtime:** embedded\n"))]);
    let urls =
        [format!("https://{}/a", server.host), "https://other.example/".into(), "http://localhost/".into()];
    let input = json!({ "urls": urls });
    let of_skills = format!("[skills]\nnetwork = [\"{}\"]\n", server.host);
    bench.place.configure(&format!("{}{of_skills}", server.configuration()));
    let mut session = bench.serve();
    if !possible(&mut session) {
        return;
    }
    let dry =
        session.ok("execute_skill", json!({ "skillId": "backend/ask", "input": input, "dryRun": true }));
    let would = &dry["data"]["wouldRun"];
    assert_eq!(
        (&dry["data"]["mode"], &would["granted"]["network"], &would["granted"]["refused"]),
        (&json!("process"), &json!([server.host]), &json!(["network other.example"])),
        "{dry:#}"
    );
    approve(&bench, "project:backend/ask");
    let ran = session.ok("execute_skill", json!({ "skillId": "backend/ask", "input": input }));
    let result = &ran["data"]["result"];
    assert_eq!((&result[&urls[0]], &result["https"]), (&json!("GET /a"), &json!("GET /a")), "{ran:#}");
    let refused = result[&urls[1]].as_str().unwrap();
    assert!(refused.contains("other.example:443 is not a host that this tool may reach"), "{ran:#}");
    assert!(result[&urls[2]].as_str().unwrap().contains("by https alone"), "{ran:#}");
    assert_eq!(
        ran["data"]["granted"],
        json!(["node", "package node:https", format!("network {}", server.host)])
    );
    assert_eq!(server.asked().len(), 2);
    let id = ran["metadata"]["transcript"].as_str().unwrap();
    let record = bench.place.json(&["audit", "show", id, "--output", "json"]);
    assert_eq!(
        (&record["reached"], &record["refused"]),
        (&json!([server.host]), &json!(["other.example"])),
        "{record:#}"
    );

    // The engine that is built in has no network, whoever grants it.
    let embedded =
        session.ok("execute_skill", json!({ "skillId": "backend/embedded", "input": input, "dryRun": true }));
    assert_eq!(embedded["data"]["wouldRun"]["granted"]["network"], Value::Null, "{embedded:#}");

    // Who grants nothing lets nothing through, and the same approval does not change that.
    bench.place.configure(&server.configuration());
    let mut session = bench.serve();
    let alone = session.ok("execute_skill", json!({ "skillId": "backend/ask", "input": input }));
    assert_ne!(alone["data"]["result"][&urls[0]], "GET /a", "{alone:#}");
    assert_eq!(server.asked().len(), 2, "{alone:#}");
}
