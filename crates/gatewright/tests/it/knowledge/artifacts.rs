//! What earlier sessions left: found, read and measured, from real files.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{Bench, Session};

const POLICIES: &str = "# Row policies\n\n## Session Summary\n\nTenants are kept apart by **row level security** in PostgreSQL.\n\n\
    ## Key Decisions\n\n- Use RLS on every table\n  because it holds in every query\n- No ORM filters\n\n\
    ## Implementation\n\nA policy for each table.\n\n## Blockers\n\n- `pg_dump` skips policies\n\n## Next steps\n\n- [ ] measure\n\n\
    ```sql title=\"policy.sql\"\ncreate policy tenant on orders using (tenant_id = current_tenant());\n```\n\n\
    ```ts\nexport const withTenant = (id: string) => id;\n```\n";
const PACK: &str = r#"{ "title": "Card redesign", "summary": "Cards look alike everywhere.", "decisions": [{ "decision": "One shadow", "rationale": "two were noise" }],
    "nextSteps": ["tokens"], "codeBlocks": [{ "language": "css", "code": ".card { color: red }", "file": "card.css" }],
    "compression": { "ratio": 0.9, "tokensBeforeFinalization": 2000 } }"#;

/// Three sessions, one of each layout.
fn bench() -> Bench {
    Bench::new(&[
        ("README.md", "# App\n"),
        (".agent-artifacts/2025-11-05-rls-policies.md", POLICIES),
        (
            ".agent-artifacts/2025-11-05-rls-policies.metrics.json",
            r#"{ "tokens": { "original": 1000, "compressed": 13 } }"#,
        ),
        (".agent-artifacts/2025-12-01-cards/finalization-pack.json", PACK),
        (".agent-artifacts/2025-12-01-cards/notes.md", "no session\n"),
        (
            ".agent-artifacts/early/session-summary.md",
            "Only words about a *checkout*.\n\npassword=hunter2hunter2\n",
        ),
        (".agent-artifacts/early/finalization-pack.md", "never read beside a summary: zebra\n"),
        (".agent-artifacts/early/run.jsonl", &"{\"event\":\"äö\"}\n".repeat(40)),
        (".agent-artifacts/README.md", "# no session, zebra\n"),
    ])
}

fn ids(found: &Value) -> Vec<&str> {
    found["data"].as_array().unwrap().iter().map(|one| one["sessionId"].as_str().unwrap()).collect()
}

fn one(id: &str) -> Value {
    json!({ "project": "root", "sessionId": id })
}

fn search(session: &mut Session, keyword: &str) -> Value {
    session.ok("search_artifacts", json!({ "keyword": keyword }))
}

#[test]
fn sessions_are_listed_newest_first_and_found_by_what_they_say_with_why() {
    let bench = bench();
    let mut session = bench.serve();
    let all = session.ok("search_artifacts", json!({}));
    assert_eq!(ids(&all), ["2025-12-01-cards", "2025-11-05-rls-policies", "early"], "{all:#}");
    assert_eq!((&all["index"]["sessions"], &all["index"]["leftOut"]), (&json!(3), &json!(0)));
    assert_eq!(
        all["data"][1],
        json!({ "sessionId": "2025-11-05-rls-policies", "date": "2025-11-05", "project": "root", "title": "Row policies",
            "summary": "Tenants are kept apart by **row level security** in PostgreSQL.", "hasCode": true })
    );
    // Without a title and a date the id stands for the one, and nothing for the other.
    assert_eq!(
        (&all["data"][2]["title"], all["data"][2].get("date"), &all["data"][2]["hasCode"]),
        (&json!("early"), None, &json!(false))
    );
    for (keyword, id) in [
        ("tenant isolation", "2025-11-05-rls-policies"),
        ("withTenant", "2025-11-05-rls-policies"),
        ("shadow noise", "2025-12-01-cards"),
        ("chekout", "early"),
    ] {
        let found = search(&mut session, keyword);
        assert_eq!(ids(&found)[0], id, "{keyword}: {found:#}");
        assert!(!found["data"][0]["why"].as_array().unwrap().is_empty(), "{found:#}");
    }
    let found = search(&mut session, "tenant");
    assert_eq!((&found["data"][0]["why"][0]["word"], ids(&found).len()), (&json!("tenant"), 1), "{found:#}");
    assert!(
        ids(&search(&mut session, "zebra")).is_empty(),
        "neither a README nor what a summary stands before"
    );
    assert!(!ids(&search(&mut session, "hunter2hunter2")).contains(&"early"), "a secret is not to be found");
    assert_eq!(ids(&search(&mut session, "policy -security")), [""; 0]);

    let page = session.ok("searchArtifacts", json!({ "limit": 2, "project": "root" }));
    assert_eq!((ids(&page), &page["truncated"]["total"]), (ids(&all)[..2].to_vec(), &json!(3)), "{page:#}");
    let rest = session.ok(
        "search_artifacts",
        json!({ "limit": 2, "project": "root", "cursor": page["truncated"]["next"] }),
    );
    assert_eq!(ids(&rest), ["early"], "{rest:#}");
    for bad in [
        json!({ "keyword": "" }),
        json!({ "keyword": "…" }),
        json!({ "keyword": "x".repeat(257) }),
        json!({ "limit": 201 }),
        json!({ "project": "../elsewhere" }),
    ] {
        assert_eq!(session.fails("search_artifacts", bad.clone())["code"], "invalid_argument", "{bad}");
    }
}

#[test]
fn what_changes_on_disk_is_found_as_it_is_at_the_next_question() {
    let bench = bench();
    let mut session = bench.serve();
    assert!(ids(&search(&mut session, "giraffe")).is_empty());
    bench.put(".agent-artifacts/2026-01-01-new.md", "# Giraffe\n\nA long neck.\n");
    assert_eq!(ids(&search(&mut session, "giraffe")), ["2026-01-01-new"]);
    bench.put(".agent-artifacts/2026-01-01-new.md", "# Okapi\n\nA short one.\n");
    assert!(ids(&search(&mut session, "giraffe")).is_empty());
    assert_eq!(ids(&search(&mut session, "okapi")), ["2026-01-01-new"]);
    fs::remove_file(bench.path(".agent-artifacts/2026-01-01-new.md")).unwrap();
    assert!(ids(&search(&mut session, "okapi")).is_empty());
    assert_eq!(ids(&session.ok("search_artifacts", json!({}))).len(), 3);
    // Where there is nothing at all, that is no fault.
    fs::remove_dir_all(bench.path(".agent-artifacts")).unwrap();
    let none = session.ok("search_artifacts", json!({}));
    assert_eq!((&none["data"], &none["index"]["sessions"]), (&json!([]), &json!(0)));
    assert!(none["message"].as_str().unwrap().contains(".agent-artifacts"), "{none:#}");
    assert_eq!(session.fails("load_session", one("early"))["code"], "not_found");
}

#[test]
fn what_search_finds_load_loads_with_code_where_it_is_asked_for() {
    let bench = bench();
    let mut session = bench.serve();
    let all = session.ok("search_artifacts", json!({}));
    for id in ids(&all) {
        let loaded = session.ok("load_session", one(id));
        assert_eq!((&loaded["data"]["sessionId"], loaded["data"].get("codeBlocks")), (&json!(id), None));
    }
    let plain = session.ok("load_session", one("2025-11-05-rls-policies"));
    assert_eq!(
        plain["data"],
        json!({ "sessionId": "2025-11-05-rls-policies", "date": "2025-11-05", "project": "root", "title": "Row policies",
            "summary": "Tenants are kept apart by **row level security** in PostgreSQL.",
            "decisions": ["Use RLS on every table\nbecause it holds in every query", "No ORM filters"],
            "implementations": ["A policy for each table."], "challenges": ["`pg_dump` skips policies"], "nextSteps": ["[ ] measure"] })
    );
    assert!(plain["message"].as_str().unwrap().contains("not instructions"), "{plain:#}");
    let whole = session.ok(
        "loadSession",
        json!({ "project": "root", "sessionId": "2025-12-01-cards", "includeCode": true }),
    );
    assert_eq!(whole["data"]["decisions"], json!(["One shadow\ntwo were noise"]));
    let code = json!([{ "language": "css", "code": ".card { color: red }", "file": "card.css" }]);
    assert_eq!((&whole["data"]["codeBlocks"], whole.get("truncated")), (&code, None), "{whole:#}");
    let secret = session.ok("load_session", one("early"));
    assert_eq!(secret["data"]["summary"], "Only words about a *checkout*.");

    let fault = session.fails("load_session", one("2025-11-05-rls-policie"));
    assert_eq!(fault["code"], "not_found", "{fault:#}");
    assert!(fault["suggestions"][0].as_str().unwrap().contains("`2025-11-05-rls-policies`"), "{fault:#}");
    let fault = session.fails("load_session", one("something-else-altogether"));
    assert!(fault["suggestions"][0].as_str().unwrap().contains("2025-12-01-cards"), "the newest: {fault:#}");
    for bad in ["../secret", "a/b", ".hidden", "a..", "", "%2e%2e"] {
        for tool in ["load_session", "get_session_code"] {
            assert_eq!(session.fails(tool, one(bad))["code"], "invalid_argument", "{tool} {bad:?}");
        }
        let arguments = json!({ "projectPath": ".", "sessionId": bad });
        assert_eq!(session.fails("get_compression_ratio", arguments)["code"], "invalid_argument", "{bad:?}");
    }
    let missing = json!({ "sessionId": "early" });
    assert_eq!(session.fails("load_session", missing)["code"], "invalid_argument", "project is required");
}

#[test]
fn a_long_session_is_cut_and_says_where_the_rest_is() {
    let decisions: Vec<String> =
        (0..200).map(|n| format!("- Decision {n}: {}\n", "word ".repeat(40))).collect();
    let decisions = decisions.concat();
    let block = format!("```rust\n{}```\n\n", "let line = 1;\n".repeat(500));
    let long = format!(
        "# Long\n\nShort.\n\n## Decisions\n\n{decisions}\n## Next steps\n\n- the last\n\n{}",
        block.repeat(5)
    );
    let bench = Bench::new(&[("README.md", "# App\n"), (".agent-artifacts/long.md", &long)]);
    let mut session = bench.serve();
    let loaded = session.ok("load_session", one("long"));
    let decisions = loaded["data"]["decisions"].as_array().unwrap();
    assert!((50..200).contains(&decisions.len()), "{}", decisions.len());
    assert_eq!(
        (&loaded["data"]["summary"], &loaded["data"]["nextSteps"]),
        (&json!("Short."), &json!(["the last"]))
    );
    assert_eq!(loaded["truncated"]["next"], "the file .agent-artifacts/long.md", "{loaded:#}");
    let used = |answer: &Value| answer["metadata"]["tokensUsed"].as_u64().unwrap();
    assert!(used(&loaded) <= 9_000, "{}", used(&loaded));
    let with =
        session.ok("load_session", json!({ "project": "root", "sessionId": "long", "includeCode": true }));
    assert_eq!(with["data"]["codeBlocks"].as_array().unwrap().len(), 1);
    assert!(used(&with) <= 9_000, "{}", used(&with));

    // All of it is in the list, page by page.
    let (mut all, mut cursor) = (0, Value::Null);
    loop {
        let mut arguments = one("long");
        if !cursor.is_null() {
            arguments["cursor"] = cursor;
        }
        let page = session.ok("get_session_code", arguments);
        for code in page["data"].as_array().unwrap() {
            all += 1;
            assert_eq!((code["code"].as_str().unwrap().lines().count(), code.get("isCut")), (500, None));
        }
        cursor = page["truncated"]["next"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(all, 5);
    bench.put(".agent-artifacts/large.md", &format!("# L\n\n{}", "a line of text\n".repeat(80_000)));
    let fault = session.fails("load_session", one("large"));
    assert_eq!(
        (&fault["code"], &fault["affectedFiles"][0]),
        (&json!("too_large"), &json!(".agent-artifacts/large.md"))
    );
    let found = session.ok("search_artifacts", json!({}));
    assert_eq!((ids(&found), &found["problems"][0]["file"]), (vec!["long"], &json!("large.md")), "{found:#}");
}

#[test]
fn code_of_a_session_comes_in_order_with_its_place_and_by_language() {
    let bench = bench();
    let mut session = bench.serve();
    let all = session.ok("get_session_code", one("2025-11-05-rls-policies"));
    assert_eq!(
        all["data"],
        json!([
            { "language": "sql", "code": "create policy tenant on orders using (tenant_id = current_tenant());", "file": "policy.sql", "line": 25 },
            { "language": "typescript", "code": "export const withTenant = (id: string) => id;", "line": 29 }
        ]),
        "{all:#}"
    );
    let mut arguments = one("2025-11-05-rls-policies");
    arguments["language"] = json!("TS");
    let typescript = session.ok("getSessionCode", arguments.clone());
    assert_eq!(
        (typescript["data"].as_array().unwrap().len(), &typescript["data"][0]["language"]),
        (1, &json!("typescript"))
    );
    arguments["language"] = json!("cobol");
    let none = session.ok("get_session_code", arguments.clone());
    assert_eq!(none["data"], json!([]));
    assert!(none["message"].as_str().unwrap().contains("sql, typescript"), "{none:#}");
    arguments["language"] = json!("a b");
    assert_eq!(session.fails("get_session_code", arguments)["code"], "invalid_argument");
    assert_eq!(session.fails("get_session_code", one("nowhere"))["code"], "not_found");
    let pack = session.ok("get_session_code", one("2025-12-01-cards"));
    assert_eq!(pack["data"][0].get("line"), None, "a pack has no lines: {pack:#}");
    bench.put(".agent-artifacts/torn/finalization-pack.json", "{ \"summary\": \"x\",\n oops");
    let fault = session.fails("get_session_code", one("torn"));
    assert_eq!(fault["code"], "invalid_source", "{fault:#}");
    assert!(fault["message"].as_str().unwrap().contains("finalization-pack.json:2"), "{fault:#}");
    assert_eq!(
        session.ok("search_artifacts", json!({}))["problems"][0]["file"],
        "torn/finalization-pack.json"
    );
}

#[test]
fn a_ratio_says_what_it_was_computed_from() {
    let bench = bench();
    let mut session = bench.serve();
    let found = session.ok("get_compression_ratio", json!({ "projectPath": "." }));
    let sessions = found["data"]["sessions"].as_array().unwrap();
    assert_eq!(
        sessions[..2],
        [
            json!({ "sessionId": "2025-12-01-cards", "project": "root", "date": "2025-12-01", "originalTokens": 2000, "compressedTokens": 200,
                "compressionRatio": 90.0, "savings": 1800, "computedFrom": "pack" }),
            json!({ "sessionId": "2025-11-05-rls-policies", "project": "root", "date": "2025-11-05", "originalTokens": 1000,
                "compressedTokens": 13, "compressionRatio": 98.7, "savings": 987, "computedFrom": "metrics" }),
        ],
        "{found:#}"
    );
    // 40 lines of 15 characters and a line's end against 56 of the summary: 11 of 40 of each, rounded up.
    let (raw, summary) = ((40_u64 * 15 * 11).div_ceil(40), (56_u64 * 11).div_ceil(40));
    let early = &sessions[2];
    assert_eq!(
        (&early["originalTokens"], &early["compressedTokens"], &early["computedFrom"]),
        (&json!(raw), &json!(summary), &json!("files")),
        "{early:#}"
    );
    let mut arguments = json!({ "projectPath": ".", "sessionId": "2025-12-01-cards" });
    let one = session.ok("getCompressionRatio", arguments.clone());
    assert_eq!(one["data"], json!({ "sessions": [sessions[0]] }), "{one:#}");
    let together = session.ok("get_compression_ratio", json!({ "projectPath": ".", "aggregate": true }));
    let aggregate = &together["data"]["aggregate"];
    assert_eq!(together["data"].get("sessions"), None);
    let saved = 1800 + 987 + raw - summary;
    assert_eq!(
        (&aggregate["totalSessions"], &aggregate["totalTokensSaved"]),
        (&json!(3), &json!(saved)),
        "{together:#}"
    );
    assert_eq!(
        aggregate["best"],
        json!({ "sessionId": "2025-11-05-rls-policies", "compressionRatio": 98.7 })
    );
    assert_eq!(
        (&aggregate["worst"]["sessionId"], &aggregate["worst"]["compressionRatio"]),
        (&json!("2025-12-01-cards"), &json!(90.0))
    );
    let mean = aggregate["avgCompressionRatio"].as_f64().unwrap();
    let sum: f64 = sessions.iter().map(|one| one["compressionRatio"].as_f64().unwrap()).sum();
    assert!((mean - sum / 3.0).abs() < 0.011, "{mean} {sum}");

    arguments["aggregate"] = json!(true);
    assert_eq!(session.fails("get_compression_ratio", arguments)["code"], "invalid_argument");
    let unknown = json!({ "projectPath": ".", "sessionId": "nowhere" });
    assert_eq!(session.fails("get_compression_ratio", unknown)["code"], "not_found");
    assert_eq!(
        session.fails("get_compression_ratio", json!({ "projectPath": "nowhere" }))["code"],
        "not_found"
    );
    assert_eq!(
        session.fails("get_compression_ratio", json!({ "projectPath": "../x" }))["code"],
        "path_not_allowed"
    );
    assert_eq!(
        session.fails("get_compression_ratio", json!({ "sessionId": "early" }))["code"],
        "invalid_argument"
    );
}

#[test]
fn without_figures_there_is_no_ratio_but_a_reason_and_a_project_is_a_folder() {
    let at = "services/api/.agent-artifacts";
    let bench = Bench::new(&[
        ("README.md", "# App\n"),
        (&format!("{at}/bare.md"), "# Bare\n\nWords.\n"),
        (&format!("{at}/zero.md"), "# Zero\n"),
        (&format!("{at}/zero.metrics.json"), r#"{ "tokens": { "original": 0, "compressed": 0 } }"#),
        (&format!("{at}/torn.md"), "# Torn\n"),
        (&format!("{at}/torn.metrics.json"), "{\n{"),
        (&format!("{at}/grown/session-summary.md"), &"words ".repeat(100)),
        (&format!("{at}/grown/run.log"), "short\n"),
    ]);
    let mut session = bench.serve();
    let found = session.ok("get_compression_ratio", json!({ "projectPath": bench.path("services/api") }));
    let sessions = found["data"]["sessions"].as_array().unwrap();
    assert_eq!(
        (sessions.len(), &sessions[0]["sessionId"], &sessions[0]["project"]),
        (1, &json!("grown"), &json!("api"))
    );
    assert!(
        sessions[0]["compressionRatio"].as_f64().unwrap() < 0.0
            && sessions[0]["savings"].as_i64().unwrap() < 0
    );
    let why = |found: &Value, id: &str| {
        let all = found["unmeasured"].as_array().unwrap();
        all.iter().find(|one| one["sessionId"] == id).unwrap()["why"].as_str().unwrap().to_owned()
    };
    assert!(
        why(&found, "bare").contains("metrics.json") && why(&found, "zero").contains("more than none"),
        "{found:#}"
    );
    assert_eq!(
        (&found["problems"][0]["file"], found["problems"].as_array().unwrap().len()),
        (&json!("torn.metrics.json"), 1)
    );
    assert!(!why(&found, "torn").is_empty());
    let one =
        session.ok("get_compression_ratio", json!({ "projectPath": "services/api", "sessionId": "bare" }));
    assert_eq!(one["data"]["sessions"], json!([]));
    assert!(one["message"].as_str().unwrap().contains("no ratio"), "{one:#}");
    let none = session.ok("get_compression_ratio", json!({ "projectPath": ".", "aggregate": true }));
    assert_eq!(
        none["data"]["aggregate"],
        json!({ "totalSessions": 0, "avgCompressionRatio": 0.0, "totalTokensSaved": 0 }),
        "the root has no sessions of its own: {none:#}"
    );
}

#[test]
fn links_that_leave_are_refused_and_told() {
    let bench = bench();
    let secret = bench.path("../secret.md");
    fs::write(&secret, "# canary\n\ncanary\n\n```sh\ncanary\n```\n").unwrap();
    let outside = bench.path("../outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("session-summary.md"), "# canary\n").unwrap();
    symlink(&secret, bench.path(".agent-artifacts/2026-02-02-file.md")).unwrap();
    symlink(&outside, bench.path(".agent-artifacts/2026-02-02-folder")).unwrap();
    bench.put(".agent-artifacts/2026-02-02-figures.md", "# Figures\n");
    symlink(&secret, bench.path(".agent-artifacts/2026-02-02-figures.metrics.json")).unwrap();
    bench.put(".agent-artifacts/2026-02-02-raw/session-summary.md", "# Raw\n");
    symlink(&secret, bench.path(".agent-artifacts/2026-02-02-raw/run.log")).unwrap();
    symlink(&secret, bench.path(".agent-artifacts/early/of-no-concern")).unwrap();
    // A link that stays inside is a file like any other.
    symlink("../README.md", bench.path(".agent-artifacts/2026-02-02-inside.md")).unwrap();
    let mut session = bench.serve();
    for id in ["2026-02-02-file", "2026-02-02-folder"] {
        for tool in ["load_session", "get_session_code"] {
            let fault = session.fails(tool, one(id));
            assert_eq!(fault["code"], "path_not_allowed", "{tool} {id}: {fault:#}");
        }
    }
    for id in ["2026-02-02-file", "2026-02-02-folder", "2026-02-02-figures", "2026-02-02-raw"] {
        let fault = session.fails("get_compression_ratio", json!({ "projectPath": ".", "sessionId": id }));
        assert_eq!(fault["code"], "path_not_allowed", "{id}: {fault:#}");
    }
    assert_eq!(session.ok("load_session", one("2026-02-02-inside"))["data"]["title"], "App");
    let found = session.ok("search_artifacts", json!({}));
    assert!(
        !ids(&found).contains(&"2026-02-02-file") && ids(&found).contains(&"2026-02-02-inside"),
        "{found:#}"
    );
    assert_eq!(found["problems"].as_array().unwrap().len(), 4, "{found:#}");
    assert!(ids(&search(&mut session, "canary")).is_empty());
    let ratios = session.ok("get_compression_ratio", json!({ "projectPath": "." }));
    assert!(!ratios.to_string().contains("canary"), "{ratios:#}");

    // The whole folder elsewhere.
    fs::remove_dir_all(bench.path(".agent-artifacts")).unwrap();
    symlink(&outside, bench.path(".agent-artifacts")).unwrap();
    for (tool, arguments) in [
        ("search_artifacts", json!({})),
        ("load_session", one("early")),
        ("get_session_code", one("early")),
        ("get_compression_ratio", json!({ "projectPath": "." })),
    ] {
        assert_eq!(session.fails(tool, arguments)["code"], "path_not_allowed", "{tool}");
    }
}

#[test]
fn a_project_is_the_root_of_the_call_by_its_name_or_its_folders() {
    let bench = bench();
    let other = bench.path("../library");
    fs::create_dir_all(other.join(".agent-artifacts")).unwrap();
    fs::write(other.join(".agent-artifacts/2026-03-03-there.md"), "# There\n\nElsewhere.\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewright"));
    bench.place.home(&mut command);
    command.args(["--root", &format!("web={}", bench.place.root().display())]);
    command.args(["--root", &format!("books={}", other.display())]);
    let mut session = Session::over(&mut command);
    let here = session.ok("search_artifacts", json!({}));
    assert_eq!((ids(&here).len(), &here["data"][0]["project"]), (3, &json!("web")), "{here:#}");
    for project in ["web", "root"] {
        let arguments = json!({ "project": project, "sessionId": "early" });
        assert_eq!(session.ok("load_session", arguments)["data"]["project"], "web");
    }
    // A call sees one root: another one is given as `root`.
    for project in ["books", "library", "Web"] {
        let arguments = json!({ "project": project, "sessionId": "2026-03-03-there" });
        for (tool, arguments) in [
            ("search_artifacts", json!({ "project": project })),
            ("load_session", arguments.clone()),
            ("get_session_code", arguments),
        ] {
            let fault = session.fails(tool, arguments);
            assert_eq!(fault["code"], "not_found", "{tool} {project}: {fault:#}");
            assert!(fault["suggestions"][0].as_str().unwrap().contains("`root`"), "{fault:#}");
        }
    }
    for project in ["books", "library"] {
        let arguments = json!({ "root": "books", "project": project });
        let there = session.ok("search_artifacts", arguments);
        assert_eq!((ids(&there), &there["data"][0]["project"]), (vec!["2026-03-03-there"], &json!("books")));
    }
    // What is known of the one root is not taken for the other's.
    assert_eq!(ids(&session.ok("search_artifacts", json!({ "keyword": "elsewhere" }))), [""; 0]);
    let ratio =
        session.ok("get_compression_ratio", json!({ "projectPath": bench.place.root(), "aggregate": true }));
    assert_eq!(ratio["data"]["aggregate"]["totalSessions"], 3);
}
