//! Documents that there must be: held against the repository, made where nobody wrote them.

use serde_json::{Value, json};

use super::{ok, repository, sod};

const MANIFEST: &str =
    "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"1.90\"\n";

fn document<'v>(audit: &'v Value, name: &str) -> &'v Value {
    audit["ventures"][0]["documents"].as_array().unwrap().iter().find(|d| d["name"] == name).unwrap()
}

#[test]
fn a_day_proposes_the_documents_that_are_missing_and_applying_makes_exactly_what_doc_audit_rehearses() {
    let bench = repository("git@github.com:acme/app.git");
    bench.put("Cargo.toml", MANIFEST);
    bench.put("openapi.yaml", "openapi: 3.1.0\ninfo: { title: Tides, version: '1' }\npaths:\n  /tides:\n    get:\n      operationId: listTides\n      responses: { '200': { description: All tides } }\n");
    bench.commit("manifest");
    let mut session = bench.serve();
    let day = sod(&mut session);
    assert_eq!(day["audit"]["missing"], json!(["docs/api.md", "AGENTS.md"]), "{day:#}");
    assert_eq!(bench.dirt(), "", "a day changes nothing in the repository");
    let plan = &day["audit"]["plan"];
    assert_eq!(
        (&plan["tool"], &plan["arguments"]),
        (&json!("doc_audit"), &json!({ "fix": true })),
        "{plan:#}"
    );

    let audit = ok(&mut session, "doc_audit", json!({}));
    assert_eq!(
        (&audit["success"], &audit["counts"]["missing"], &audit["generated"]),
        (&json!(false), &json!(2), &json!([])),
        "{audit:#}"
    );
    assert_eq!(
        (&document(&audit, "api")["state"], &document(&audit, "api")["generates"]),
        (&json!("missing"), &json!(true))
    );
    let rehearsed = ok(&mut session, "doc_audit", json!({ "fix": true }));
    assert_eq!(rehearsed["plan"]["id"], plan["id"], "the same plan: {rehearsed:#}");
    assert_eq!(rehearsed["generated"], json!(["docs/api.md", "AGENTS.md"]));
    let applied = ok(&mut session, "doc_audit", json!({ "fix": true, "apply": true, "plan": plan["id"] }));
    assert_eq!(applied["status"], "completed", "{applied:#}");
    assert!(bench.read("docs/api.md").unwrap().contains("listTides"));
    assert!(
        bench.read("AGENTS.md").unwrap().starts_with("<!-- gatewright:generated project-instructions 1 ")
    );

    let fine = ok(&mut session, "doc_audit", json!({}));
    assert_eq!((&fine["success"], &fine["counts"]["present"]), (&json!(true), &json!(2)), "{fine:#}");
    let again = ok(&mut session, "doc_audit", json!({ "fix": true }));
    assert_eq!(again["plan"]["effects"], json!([]), "nothing to do: {again:#}");
    let day = sod(&mut session);
    assert_eq!((&day["audit"]["present"], day["audit"].get("plan")), (&json!(2), None), "{day:#}");

    // Its source says more now: it is made again, and only that.
    let openapi = bench.read("openapi.yaml").unwrap().replace("listTides", "allTides");
    bench.put("openapi.yaml", &openapi);
    let stale = ok(&mut session, "doc_audit", json!({ "fix": true }));
    assert_eq!(
        (&document(&stale, "api")["state"], &stale["generated"]),
        (&json!("stale"), &json!(["docs/api.md"])),
        "{stale:#}"
    );
}

#[test]
fn what_somebody_wrote_is_reported_and_never_written_over() {
    let bench = repository("git@github.com:acme/app.git");
    bench.put("Cargo.toml", MANIFEST);
    bench.put("AGENTS.md", "# For agents\n\nRun `make deploy`, then look at `src/gone.rs`.\n");
    bench.put("Makefile", "test:\n\tcargo test\n");
    bench.commit("written");
    let mut session = bench.serve();
    let audit = ok(&mut session, "doc_audit", json!({ "fix": true }));
    let own = document(&audit, "project-instructions");
    assert_eq!(
        (&own["state"], &own["generates"], &own["path"]),
        (&json!("stale"), &json!(false), &json!("AGENTS.md")),
        "{audit:#}"
    );
    let told: Vec<&str> =
        own["findings"].as_array().unwrap().iter().map(|f| f["text"].as_str().unwrap()).collect();
    assert!(
        told.iter().any(|text| text.contains("make deploy"))
            && told.iter().any(|text| text.contains("src/gone.rs")),
        "{own:#}"
    );
    assert!(own["findings"].as_array().unwrap().iter().all(|f| f["line"] == 3), "{own:#}");
    assert_eq!((&audit["generated"], &audit["reported"]), (&json!([]), &json!(["AGENTS.md"])), "{audit:#}");
    let day = sod(&mut session);
    assert_eq!((&day["audit"]["stale"], day["audit"].get("plan")), (&json!(["AGENTS.md"]), None), "{day:#}");
    bench.put("AGENTS.md", "# For agents\n\nRun `make test`.\n");
    let fine = ok(&mut session, "doc_audit", json!({}));
    assert_eq!(
        (&document(&fine, "project-instructions")["state"], &fine["success"]),
        (&json!("hand_written"), &json!(true)),
        "{fine:#}"
    );
}

#[test]
fn a_document_of_the_store_is_made_by_a_day_and_read_by_doc() {
    let bench = repository("git@github.com:acme/app.git");
    bench.put("Cargo.toml", MANIFEST);
    bench.put("AGENTS.md", "# For agents\n");
    let tables =
        (0..400).map(|at| format!("CREATE TABLE t{at} (id integer primary key, name text not null);"));
    let long = tables.collect::<Vec<_>>().join("\n");
    bench.put("db/schema.sql", &long);
    bench.put("gatewright.toml", "[documents.requirements.schema]\npath = []\nsources = [\"db/schema.sql\"]\n[documents.requirements.api]\nlevel = \"off\"\n");
    bench.commit("schema");
    let mut session = bench.serve();
    let missing = ok(&mut session, "doc_audit", json!({}));
    assert_eq!(
        (&document(&missing, "schema")["where"], &document(&missing, "schema")["state"]),
        (&json!("store"), &json!("missing")),
        "{missing:#}"
    );
    let day = sod(&mut session);
    let own = day["session"]["venture"].clone();
    assert_eq!(
        (&day["audit"]["healed"], &day["audit"]["missing"]),
        (&json!(["schema"]), &json!([])),
        "{day:#}"
    );
    let day = sod(&mut session);
    assert_eq!(
        (&day["audit"]["healed"], &day["documents"]["rows"][0]["name"]),
        (&json!([]), &json!("schema")),
        "{day:#}"
    );
    let mut whole = String::new();
    let mut from = 0_usize;
    loop {
        let part = ok(&mut session, "doc", json!({ "scope": own, "doc_name": "schema", "from": from }));
        assert_eq!(
            (&part["origin"], &part["version"], &part["stale"]),
            (&json!("generated"), &json!(1), &json!(false))
        );
        let content = part["content"].as_str().unwrap();
        whole.push_str(content);
        from += content.chars().count();
        if part.get("truncated").is_none() {
            break;
        }
    }
    assert!(whole.contains("t399") && whole.len() > 9_000, "{}", whole.len());
    let other = session.fails("doc", json!({ "scope": own, "doc_name": "none" }));
    assert!(other["suggestions"][0].as_str().unwrap().contains("/schema"), "{other:#}");
}

#[test]
fn ventures_that_are_elsewhere_are_audited_as_far_as_the_store_has_them() {
    let bench = repository("git@github.com:acme/app.git");
    bench
        .place
        .configure("[ventures.ac]\norganisation = \"acme\"\n[ventures.labs]\norganisation = \"labs\"\n");
    let mut session = bench.serve();
    let all = ok(&mut session, "doc_audit", json!({ "all": true }));
    let codes: Vec<&str> =
        all["ventures"].as_array().unwrap().iter().map(|v| v["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["ac", "labs"], "{all:#}");
    let one = ok(&mut session, "doc_audit", json!({ "venture": "labs" }));
    assert_eq!(
        (&one["ventures"][0]["code"], &one["ventures"][0]["documents"]),
        (&json!("labs"), &json!([])),
        "{one:#}"
    );
    for (arguments, code) in [
        (json!({ "venture": "nobody" }), "not_found"),
        (json!({ "venture": "labs", "all": true }), "invalid_argument"),
        (json!({ "venture": "labs", "fix": true }), "invalid_argument"),
    ] {
        assert_eq!(session.fails("doc_audit", arguments)["code"], code);
    }
    bench.put("gatewright.toml", "[documents.requirements.x]\npath = [\"../x.md\"]\n");
    assert_eq!(session.fails("doc_audit", json!({}))["code"], "invalid_argument");
}

#[test]
fn documents_the_plan_and_sessions_are_read_by_their_names() {
    let bench = repository("git@github.com:acme/app.git");
    bench.put(
        "docs/planning/WEEKLY_PLAN.md",
        "# Week of 2026-11-16\n\n## Priorities\n\nShip it. <b>now</b>\n",
    );
    let mut session = bench.serve();
    let day = sod(&mut session);
    let id = day["session"]["id"].as_str().unwrap().to_owned();
    let listed = session.0.request("resources/list", json!({}))["result"]["resources"].clone();
    let has = |uri: &str| listed.as_array().unwrap().iter().any(|one| one["uri"] == uri);
    assert!(has("plan://weekly") && has(&format!("session://{id}")), "{listed:#}");
    let mut read = |uri: &str| session.0.request("resources/read", json!({ "uri": uri }));
    let weekly = read("plan://weekly")["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(weekly.contains("### Priorities") && weekly.contains("> Ship it. \\<b>now"), "{weekly}");
    let told = read(&format!("session://{id}"))["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(told.contains("- active by") && told.contains("github.com/acme/app"), "{told}");
    for uri in [
        "doc://global/none",
        "doc://global",
        "doc://../x",
        "session://sess_00000000000000000000000000",
        "session://x",
        "plan://monthly",
    ] {
        let answer = read(uri);
        assert!(
            answer["error"]["message"].as_str().is_some_and(|m| m.contains("there is no")),
            "{uri}: {answer}"
        );
    }
    session.ok("handoff", json!({ "summary": "# Do as I say", "status": "blocked", "issue_number": 7 }));
    let told = session.0.request("resources/read", json!({ "uri": format!("session://{id}") }));
    let told = told["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(told.contains("not an instruction") && told.contains("\n> # Do as I say"), "{told}");
    // Whoever may not call the tool does not read what it would.
    bench.place.configure("[policy]\nrules = [{ tools = ['context', 'doc'], decision = 'forbid' }]\n");
    let mut session = bench.serve();
    let refused = session.0.request("resources/read", json!({ "uri": format!("session://{id}") }));
    assert!(refused["error"]["message"].as_str().is_some_and(|m| m.contains("policy")), "{refused}");
    let listed = session.0.request("resources/list", json!({}))["result"]["resources"].to_string();
    assert!(!listed.contains("session://") && listed.contains("plan://weekly"), "{listed}");
}
