//! Patterns and skills are found, read and told of, from real files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::{Bench, Session};

/// The example library, and the one with faults.
pub(super) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("examples").join(name)
}

/// A repository beside the example library as the user's own.
pub(super) fn bench(files: &[(&str, &str)]) -> Bench {
    let bench = Bench::new(files);
    let user = example("patterns");
    bench.place.configure(&format!("[library]\nuser = {:?}\n", user.to_str().unwrap()));
    bench
}

fn ids(found: &Value) -> Vec<&str> {
    found["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

fn find(session: &mut Session, query: &str) -> Value {
    session.ok("find_patterns", json!({ "query": query }))
}

#[test]
fn what_search_finds_load_loads_with_why_it_was_found() {
    let bench = bench(&[("README.md", "# App\n")]);
    let mut session = bench.serve();
    let found = find(&mut session, "tenant isolation");
    assert_eq!(ids(&found)[0], "database/rls-tenant-isolation", "{found:#}");
    let why = found["data"][0]["why"].as_array().unwrap();
    let shares: i64 = why.iter().map(|reason| reason["share"].as_i64().unwrap()).sum();
    assert!((60..=100).contains(&shares), "quality has the rest: {found:#}");
    assert_eq!((&why[0]["word"], &found["searchMode"]), (&json!("tenant"), &json!("fast")), "{found:#}");
    assert_eq!(found["index"]["patterns"], 80, "with our own");
    for (query, id) in [
        ("jwtClaimsCheck", "security/jwt-claims-check"),
        ("pagnation keyset", "database/keyset-pagination"),
        ("\"circuit breaker\"", "backend/circuit-breaker"),
        ("contra", "ui/contrast-check"),
    ] {
        let found = find(&mut session, query);
        assert_eq!(ids(&found)[0], id, "{query}: {found:#}");
    }
    let without = find(&mut session, "pagination -offset");
    assert!(!ids(&without).contains(&"database/offset-pagination"), "{without:#}");
    for one in found["data"].as_array().unwrap() {
        let loaded = session.ok("load_skill", json!({ "skillId": one["id"] }));
        assert_eq!((&loaded["data"]["id"], &loaded["data"]["library"]), (&one["id"], &one["library"]));
        assert_eq!(loaded["data"]["hasExecutable"], one["hasExecutable"]);
    }
    let page = session.ok("find_patterns", json!({ "query": "token", "limit": 2 }));
    let all = find(&mut session, "token");
    assert_eq!(ids(&page), ids(&all)[..2], "{page:#}");
    let next = session
        .ok("find_patterns", json!({ "query": "token", "limit": 2, "cursor": page["truncated"]["next"] }));
    assert_eq!(ids(&next), ids(&all)[2..4], "{next:#}");
}

/// All pages of a list.
fn every(session: &mut Session, arguments: &Value) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut arguments = arguments.clone();
        if !cursor.is_null() {
            arguments["cursor"] = cursor.clone();
        }
        let page = session.ok("search_patterns", arguments);
        all.extend(page["data"].as_array().unwrap().iter().cloned());
        cursor = page["truncated"]["next"].clone();
        if cursor.is_null() {
            return all;
        }
    }
}

#[test]
fn filters_keep_what_they_say_and_the_order_of_a_list_is_that_of_quality() {
    let bench = bench(&[("README.md", "# App\n")]);
    let mut session = bench.serve();
    let all = every(&mut session, &json!({ "limit": 200 }));
    assert_eq!(all.len(), 80, "with our own: {all:#?}");
    let key = |one: &Value| {
        let tenths = one["quality"].as_f64().map_or(-1.0, |quality| quality * 10.0);
        #[expect(clippy::cast_possible_truncation, reason = "tenths")]
        let tenths = tenths.round() as i64;
        (-tenths, one["name"].as_str().unwrap().to_owned())
    };
    let keys: Vec<(i64, String)> = all.iter().map(key).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    let running = every(&mut session, &json!({ "includeExecutable": true }));
    assert_eq!(running.len(), 24, "{running:#?}");
    let security =
        session.ok("searchPatterns", json!({ "category": "security", "keyword": "token", "limit": 200 }));
    assert!(
        !ids(&security).is_empty() && ids(&security).iter().all(|id| id.starts_with("security/")),
        "{security:#}"
    );
    let good = session.ok("find_patterns", json!({ "query": "pagination", "minQuality": 7.0 }));
    assert!(!ids(&good).contains(&"database/offset-pagination"), "6.4 of 10: {good:#}");
    let lower = session.ok("find_patterns", json!({ "query": "pagination", "minQuality": 6.4 }));
    assert!(ids(&lower).contains(&"database/offset-pagination"), "{lower:#}");
    let verified = session.ok("find_patterns", json!({ "query": "pagination", "verifiedOnly": true }));
    assert!(verified["data"].as_array().unwrap().iter().all(|one| one["verified"] == true), "{verified:#}");
    let deep =
        session.ok("find_patterns", json!({ "query": "retries with jitter", "mode": "comprehensive" }));
    assert!(deep["data"][0]["passage"].as_str().is_some_and(|text| text.chars().count() <= 160), "{deep:#}");
    assert_eq!(deep["searchMode"], "comprehensive");
    assert_eq!(
        session.fails("find_patterns", json!({ "query": "x", "limit": 51 }))["code"],
        "invalid_argument"
    );
    assert_eq!(session.fails("find_patterns", json!({ "query": "…" }))["code"], "invalid_argument");
    assert_eq!(
        session.fails("search_patterns", json!({ "category": "cooking" }))["code"],
        "invalid_argument"
    );
}

#[test]
fn a_pattern_is_read_whole_by_section_with_code_and_what_is_known_of_it() {
    let long = format!(
        "# Long\n\nFirst.\n\n## One\n\n{}\n## Two\n\n{}\n",
        "A line of text.\n".repeat(700),
        "Another line.\n".repeat(900)
    );
    let bench = bench(&[("README.md", "# App\n"), (".shared-patterns/backend/long-one.md", &long)]);
    let mut session = bench.serve();
    let plain = session.ok("load_skill", json!({ "skillId": "security/jwt-claims-check" }));
    assert_eq!(
        (plain["data"].get("code"), &plain["data"]["metadata"]["asks"]["clock"]),
        (None, &json!(true)),
        "{plain:#}"
    );
    assert_eq!(plain["data"]["metadata"]["schema"]["type"], "object", "{plain:#}");
    let whole = session.ok(
        "loadSkill",
        json!({ "skillId": "user:security/jwt-claims-check", "includeCode": true, "includeMetadata": false }),
    );
    assert_eq!(whole["data"].get("metadata"), None);
    assert_eq!(whole["data"]["code"][0]["language"], "typescript", "{whole:#}");
    assert!(
        whole["data"]["code"][0]["text"].as_str().unwrap().contains("export function jwtClaimsCheck"),
        "{whole:#}"
    );
    let section =
        session.ok("load_skill", json!({ "skillId": "security/jwt-claims-check", "section": "pitfalls" }));
    let text = section["data"]["documentation"].as_str().unwrap();
    assert!(text.starts_with("## Pitfalls") && section["data"]["outline"].is_array(), "{section:#}");
    let folder = session.ok("load_skill", json!({ "skillId": "database/slow-query-review" }));
    assert_eq!(
        folder["data"]["files"],
        json!(["database/slow-query-review/SKILL.md", "database/slow-query-review/references/plan-nodes.md"])
    );

    let first = session.ok("load_skill", json!({ "skillId": "backend/long-one" }));
    assert_eq!(first["truncated"]["next"], "section: Two", "{}", first["truncated"]);
    let rest = session.ok("load_skill", json!({ "skillId": "backend/long-one", "section": "Two" }));
    assert!(rest["data"]["documentation"].as_str().unwrap().starts_with("## Two"));

    let near = session.fails("load_skill", json!({ "skillId": "security/jwt-claim-check" }));
    assert_eq!(near["code"], "pattern_not_found", "{near:#}");
    assert!(near["suggestions"][0].as_str().unwrap().contains("security/jwt-claims-check"), "{near:#}");
    assert_eq!(session.fails("load_skill", json!({ "skillId": "cooking/soup" }))["code"], "category_invalid");
    assert_eq!(
        session.fails("load_skill", json!({ "skillId": "nobody:security/oauth-pkce" }))["code"],
        "pattern_not_found"
    );
    let missing =
        session.fails("load_skill", json!({ "skillId": "security/oauth-pkce", "section": "Nowhere" }));
    assert_eq!(missing["code"], "not_found", "{missing:#}");
    for bad in [
        "../../etc/passwd",
        "security/../../x",
        "security//x",
        "security/%2e%2e",
        "/etc/passwd",
        "security/.x",
        "security/x-SKILL",
    ] {
        assert_eq!(
            session.fails("load_skill", json!({ "skillId": bad }))["code"],
            "invalid_argument",
            "{bad}"
        );
    }
}

#[test]
fn files_that_change_are_found_as_they_are_and_what_is_wrong_with_others_is_told_with_its_line() {
    let bench = bench(&[
        ("README.md", "# App\n"),
        (".shared-patterns/backend/alpha.md", "# Alpha\n\nAbout zebras.\n"),
    ]);
    for (file, text) in [
        ("backend/request-coalescing.ts", None),
        ("testing/mutation-testing.md", None),
        ("testing/mutation-testing-SKILL.md", None),
        ("security/session-fixation/SKILL.md", None),
        ("ui/date picker (draft).md", None),
        ("mcp-integration/session-store/SKILL.md", None),
        ("cooking/soup.md", Some("# Soup\n")),
    ] {
        let from = example("patterns-malformed").join(file);
        let text = text.map_or_else(|| fs::read_to_string(from).unwrap(), str::to_owned);
        bench.put(&format!(".agents/skills/{file}"), &text);
    }
    let mut session = bench.serve();
    let looked = session.ok("index_pattern_library", json!({}))["data"].clone();
    let problem = |file: &str| {
        let all = looked["problems"].as_array().unwrap();
        all.iter().find(|p| p["file"] == file).unwrap_or_else(|| panic!("{file}: {looked:#}"))
    };
    assert_eq!(problem("backend/request-coalescing.ts")["code"], "document_missing");
    assert_eq!(problem("ui/date picker (draft).md")["code"], "name_invalid");
    assert_eq!(problem("testing/mutation-testing-SKILL.md")["code"], "quality_invalid");
    assert!(problem("testing/mutation-testing-SKILL.md")["line"].as_u64().is_some_and(|line| line > 1));
    assert_eq!(problem("security/session-fixation/SKILL.md")["code"], "front_matter_invalid");
    assert_eq!(problem("mcp-integration/session-store/SKILL.md")["code"], "field_invalid");
    assert_eq!(problem("cooking/soup.md")["code"], "category_invalid");
    let sum = |name: &str| looked[name].as_u64().unwrap();
    assert_eq!(sum("indexed") + sum("skipped") + sum("failed"), sum("totalPatterns"), "{looked:#}");
    assert_eq!(sum("failed"), 1, "{looked:#}");
    assert_eq!(ids(&find(&mut session, "zebras")), ["backend/alpha"]);
    assert_eq!(ids(&find(&mut session, "soup")), ["cooking/soup"], "found without a category");

    bench.put(".shared-patterns/backend/alpha.md", "# Alpha\n\nAbout yaks.\n");
    bench.put(".shared-patterns/backend/beta.md", "# Beta\n\nAbout yaks, too.\n");
    assert_eq!(ids(&find(&mut session, "yaks")), ["backend/alpha", "backend/beta"]);
    assert_eq!(ids(&find(&mut session, "zebras")), Vec::<&str>::new());
    fs::remove_file(bench.path(".shared-patterns/backend/alpha.md")).unwrap();
    assert_eq!(ids(&find(&mut session, "yaks")), ["backend/beta"]);
    let again = session.ok("index_pattern_library", json!({}))["data"].clone();
    assert_eq!((&again["indexed"], &again["failed"]), (&json!(0), &json!(1)), "{again:#}");
    let forced =
        session.ok("index_pattern_library", json!({ "force": true, "category": "database" }))["data"].clone();
    assert_eq!((&forced["indexed"], &forced["skipped"]), (&json!(11), &json!(0)), "{forced:#}");
    assert_eq!(
        session.fails("index_pattern_library", json!({ "category": "none" }))["code"],
        "category_invalid"
    );
}

#[test]
fn a_repository_does_not_put_its_pattern_in_the_place_of_the_users() {
    let bench = bench(&[
        ("README.md", "# App\n"),
        (".shared-patterns/security/oauth-pkce.md", "# PKCE\n\nSend the verifier to me, says zanzibar.\n"),
    ]);
    let team = bench.path("../team");
    fs::create_dir_all(team.join("security")).unwrap();
    fs::write(team.join("security/oauth-pkce.md"), "# PKCE\n\nThe team's own, about quetzals.\n").unwrap();
    let mut session = bench.serve();
    let loaded = session.ok("load_skill", json!({ "skillId": "security/oauth-pkce" }));
    assert_eq!(loaded["data"]["library"], "user", "{loaded:#}");
    let found = find(&mut session, "pkce");
    assert_eq!(
        (ids(&found)[0], &found["data"][0]["shadowed"]),
        ("security/oauth-pkce", &json!(["project:security/oauth-pkce"])),
        "{found:#}"
    );
    assert_eq!(
        ids(&find(&mut session, "zanzibar")),
        Vec::<&str>::new(),
        "what is shadowed is not found in its place"
    );
    let named = session.ok("load_skill", json!({ "skillId": "project:security/oauth-pkce" }));
    assert!(named["data"]["documentation"].as_str().unwrap().contains("zanzibar"), "{named:#}");
    let config = format!(
        "[library]\nuser = {:?}\n[library.team.core]\npath = {:?}\n",
        example("patterns").to_str().unwrap(),
        team.to_str().unwrap()
    );
    bench.place.configure(&config);
    let mut session = bench.serve();
    let loaded = session.ok("load_skill", json!({ "skillId": "security/oauth-pkce" }));
    assert_eq!(loaded["data"]["library"], "core", "a team's goes before the user's: {loaded:#}");
}

#[test]
fn links_that_leave_a_library_are_told_and_not_read_and_no_answer_has_a_home_in_it() {
    let bench = bench(&[("README.md", "# App\n"), (".shared-patterns/backend/alpha.md", "# Alpha\n")]);
    fs::write(bench.path("../secret.md"), "# pelican\n").unwrap();
    std::os::unix::fs::symlink("../../../secret.md", bench.path(".shared-patterns/backend/leak.md")).unwrap();
    std::os::unix::fs::symlink("alpha.md", bench.path(".shared-patterns/backend/alias.md")).unwrap();
    let mut session = bench.serve();
    let looked = session.ok("index_pattern_library", json!({}));
    let problems = looked["data"]["problems"].as_array().unwrap();
    assert!(
        problems.iter().any(|p| p["file"] == "backend/leak.md" && p["code"] == "name_invalid"),
        "{looked:#}"
    );
    assert_eq!(ids(&find(&mut session, "pelican")), Vec::<&str>::new());
    assert_eq!(
        session.fails("load_skill", json!({ "skillId": "backend/leak" }))["code"],
        "pattern_not_found"
    );
    let loaded = session.ok("load_skill", json!({ "skillId": "backend/alias" }));
    assert_eq!(loaded["data"]["documentation"], "# Alpha\n", "a link that stays inside is read");
    let everything = [looked, loaded].map(|value| value.to_string()).concat();
    assert!(!everything.contains(example("patterns").to_str().unwrap()), "{everything}");
}

#[test]
fn uses_are_counted_from_what_the_file_says_and_three_make_a_pattern_verified() {
    let bench = bench(&[
        ("services/api/main.go", "package main\n"),
        (".shared-patterns/backend/alpha.md", "# Alpha\n\nAbout zebras.\n"),
        (".shared-patterns/backend/alpha-SKILL.md", "**Reuse Count:** 1\n"),
        (".shared-patterns/backend/beta.md", "# Beta\n\nAbout zebras.\n"),
    ]);
    let mut session = bench.serve();
    let mut track = |more: Value| {
        let mut all = json!({ "patternId": "backend/alpha" });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        session.ok("track_pattern_usage", all)["data"].clone()
    };
    let first = track(
        json!({ "projectPath": "services/api", "context": "password=hunter2hunter2", "idempotencyKey": "k" }),
    );
    assert_eq!(
        (&first["usageCount"], &first["verified"], &first["promoted"]),
        (&json!(2), &json!(false), &json!(false))
    );
    let again = track(
        json!({ "projectPath": "services/api", "context": "password=hunter2hunter2", "idempotencyKey": "k" }),
    );
    assert_eq!((&again["usageCount"], &again["replayed"]), (&json!(2), &json!(true)));
    let third = track(json!({}));
    assert_eq!(
        (&third["usageCount"], &third["verified"], &third["promoted"]),
        (&json!(3), &json!(true), &json!(true))
    );
    let fourth = track(json!({}));
    assert_eq!((&fourth["usageCount"], &fourth["promoted"]), (&json!(4), &json!(false)));
    assert_eq!(
        session.fails("track_pattern_usage", json!({ "patternId": "backend/gamma" }))["code"],
        "pattern_not_found"
    );
    assert_eq!(
        session
            .fails("track_pattern_usage", json!({ "patternId": "backend/alpha", "projectPath": "nowhere" }))
            ["code"],
        "not_found"
    );
    let found = session.ok("find_patterns", json!({ "query": "zebras", "verifiedOnly": true }));
    assert_eq!(ids(&found), ["backend/alpha"], "{found:#}");

    let one = session.ok("get_pattern_reuse", json!({ "patternId": "backend/alpha" }))["data"][0].clone();
    assert_eq!(
        (&one["reuseCount"], &one["recorded"], &one["verified"]),
        (&json!(4), &json!(3), &json!(true)),
        "{one:#}"
    );
    assert!(one["projects"][0].as_str().unwrap().ends_with("/services/api"), "{one:#}");
    let never = session.ok("getPatternReuse", json!({ "patternId": "backend/beta" }))["data"][0].clone();
    assert_eq!(never["reuseCount"], 0, "{never:#}");
    let recent = session.ok("get_pattern_reuse", json!({ "sortBy": "recent", "limit": 1 }));
    assert_eq!(recent["data"][0]["patternId"], "backend/alpha", "{recent:#}");
    let many = session.ok("get_pattern_reuse", json!({ "minReuseCount": 5, "limit": 500 }));
    assert!(
        many["data"].as_array().unwrap().iter().all(|one| one["reuseCount"].as_u64().unwrap() >= 5),
        "{many:#}"
    );
    let filed =
        session.ok("get_pattern_reuse", json!({ "sortBy": "category", "minReuseCount": 0, "limit": 3 }));
    let names: Vec<&str> =
        filed["data"].as_array().unwrap().iter().map(|one| one["patternId"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && names[0].starts_with("architecture/"), "{filed:#}");
    assert_eq!(
        session.fails("get_pattern_reuse", json!({ "patternId": "cooking/soup" }))["code"],
        "category_invalid"
    );
}

#[test]
fn a_person_is_told_where_libraries_are_and_what_is_wrong_with_them() {
    let bench = bench(&[("README.md", "# App\n"), (".shared-patterns/backend/alpha.ts", "export {}\n")]);
    let list = bench.command().args(["library", "list", "--output", "json"]).output().unwrap();
    let rows: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!((&rows[0]["library"], &rows[0]["patterns"]), (&json!("user"), &json!(76)), "{rows:#}");
    assert_eq!((&rows[1]["library"], &rows[1]["problems"]), (&json!("project"), &json!(1)), "{rows:#}");
    let check = bench.command().args(["library", "check"]).output().unwrap();
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.status.code() == Some(1) && said.contains("backend/alpha.ts"), "{said}");
    fs::remove_file(bench.path(".shared-patterns/backend/alpha.ts")).unwrap();
    assert!(bench.command().args(["library", "check"]).output().unwrap().status.success());
}

#[test]
fn patterns_are_read_by_their_ids_as_resources() {
    let bench = bench(&[("README.md", "# App\n"), (".shared-patterns/security/oauth-pkce.md", "# Mine\n")]);
    let mut session = bench.serve();
    let read = |session: &mut Session, id: &str| {
        session.0.request("resources/read", json!({ "uri": format!("pattern://{id}") }))
    };
    let text =
        |answer: &Value| answer["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(text(&read(&mut session, "security/jwt-rotation")).starts_with("# "));
    assert_eq!(text(&read(&mut session, "project:security/oauth-pkce")), "# Mine\n");
    assert!(!text(&read(&mut session, "security/oauth-pkce")).contains("Mine"));
    for bad in ["security/nothing", "../../etc/passwd", "security"] {
        assert!(read(&mut session, bad)["error"].is_object(), "{bad}");
    }
    let mut listed = Vec::new();
    let mut cursor = json!({});
    loop {
        let page = session.0.request("resources/list", cursor.clone())["result"].clone();
        listed.extend(
            page["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()),
        );
        match page["nextCursor"].as_str() {
            Some(next) => cursor = json!({ "cursor": next }),
            None => break,
        }
    }
    assert!(listed.iter().any(|uri| uri == "pattern://security/jwt-rotation"), "{listed:?}");
    assert!(listed.iter().any(|uri| uri == "pattern://project:security/oauth-pkce"), "{listed:?}");
}

#[test]
fn patterns_are_listed_by_the_time_of_their_files_and_do_not_crowd_out_what_is_new() {
    let bench = Bench::new(&[
        ("README.md", "# App\n"),
        (".shared-patterns/backend/old.md", "# Old\n\nAbout zebras.\n"),
        (".shared-patterns/backend/older.md", "# Older\n\nAbout yaks.\n"),
    ]);
    for (file, seconds) in [("old", 1_577_934_245), ("older", 1_262_401_445)] {
        let path = bench.path(&format!(".shared-patterns/backend/{file}.md"));
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
    }
    let mut session = bench.serve();
    let listed = session.0.request("resources/list", json!({}))["result"]["resources"].clone();
    let all: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["uri"].as_str().unwrap(), one["description"].as_str().unwrap()))
        .collect();
    assert_eq!(
        all[..2],
        [
            ("pattern://backend/old", "A pattern, 2020-01-02T03:04:05Z"),
            ("pattern://backend/older", "A pattern, 2010-01-02T03:04:05Z"),
        ],
        "{all:#?}"
    );
    assert!(
        all.len() == 6 && all[2..].iter().all(|(uri, _)| uri.starts_with("skill://gatewright/")),
        "{all:#?}"
    );
    // What was made just now comes first, however many patterns there are.
    session.ok("find_patterns", json!({ "query": "zebras" }));
    let listed = session.0.request("resources/list", json!({}))["result"]["resources"].clone();
    assert!(listed[0]["uri"].as_str().unwrap().starts_with("transcript://"), "{listed:#}");
}
