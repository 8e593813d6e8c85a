//! What is recorded of patterns, written into their files; and new patterns of what sessions left.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::promote::{apply, bench, beside, fails, files, plan, with};
use crate::bench::{Bench, Session};

const META: &str = ".shared-patterns/backend/retry-SKILL.md";

fn used(session: &mut Session, id: &str, times: usize) {
    for _ in 0..times {
        session.ok("track_pattern_usage", json!({ "patternId": id }));
    }
}

fn write_back(id: &str) -> Value {
    json!({ "action": "write_back", "patternId": id })
}

#[test]
fn uses_and_criteria_are_written_into_known_lines_and_every_other_byte_stays() {
    let before = "\u{feff}# Retry\r\n\r\n<!-- by hand: **Reuse Count:** is ours -->\r\n- **quality score:** **6.9/10** (old)\r\n- **Reuse Count:** 1 \
                  (team)\r\n- **Owner:** Ada\r\n\r\n| Criterion | Score | Notes |\r\n|---|---|---|\r\n| Correctness | 7/10 | é |\r\n\
                  | Reusability | 7/10 | |\r\n| Documentation | 7/10 | |\r\n| Test Coverage | 6/10 | |\r\n| Performance | 7.5/10 | |\r\n\r\nEnd";
    let bench = bench(&[(".shared-patterns/backend/retry.md", "# Retry\r\n"), (META, before)]);
    let mut session = bench.serve();
    used(&mut session, "backend/retry", 1);
    let call = write_back("backend/retry");
    let first = plan(&mut session, &call);
    assert_eq!(
        first["data"],
        json!({ "id": "backend/retry", "library": "project", "quality": 6.9, "files": [META], "usageCount": 2, "verified": false })
    );
    // Another use is another plan; what was reviewed is what is applied.
    used(&mut session, "backend/retry", 2);
    apply(&mut session, &with(&call, json!({ "plan": first["plan"]["id"] })));
    let line = "- **Reuse Count:** 2 (team)\r\n- **Owner:** Ada\r\n- **Verified:** no\r\n";
    let wanted = before.replace("- **Reuse Count:** 1 (team)\r\n- **Owner:** Ada\r\n", line);
    let found = bench.read(META).unwrap();
    // Where a missing line goes is the editor's: behind the last known one.
    assert_eq!(
        found.replace("- **Verified:** no\r\n", ""),
        wanted.replace("- **Verified:** no\r\n", ""),
        "{found:?}"
    );
    assert!(found.contains("\r\n- **Verified:** no\r\n"), "{found:?}");
    let counted = apply(&mut session, &call);
    assert_eq!(
        (&counted["data"]["usageCount"], &counted["data"]["verified"]),
        (&json!(4), &json!(true)),
        "{counted:#}"
    );
    let again = apply(&mut session, &call);
    assert_eq!(again["plan"]["effects"], json!([]), "{again:#}");
    let judged = with(&call, json!({ "criteria": { "testCoverage": 9.56, "correctness": 8 } }));
    let judged = apply(&mut session, &judged);
    // (8 + 7 + 7 + 9.5 + 7.5) / 5
    assert_eq!(judged["data"]["quality"], 7.8, "{judged:#}");
    let found = bench.read(META).unwrap();
    let undone = found
        .replace("**7.8/10** (old)", "**6.9/10** (old)")
        .replace("| Correctness | 8/10 |", "| Correctness | 7/10 |")
        .replace("| Test Coverage | 9.5/10 |", "| Test Coverage | 6/10 |")
        .replace("**Reuse Count:** 4 (team)", "**Reuse Count:** 1 (team)")
        .replace("- **Verified:** yes\r\n", "");
    assert_eq!(undone, before, "{found:?}");
    // What is written counts: it is not counted again.
    let reuse = session.ok("get_pattern_reuse", json!({ "patternId": "backend/retry" }));
    assert_eq!(reuse["data"][0]["reuseCount"], 4, "{reuse:#}");
    drop(session);
    bench.place.ok(&["undo", judged["metadata"]["transcript"].as_str().unwrap()]);
    assert_eq!(
        bench.read(META).unwrap(),
        found
            .replace("**7.8/10** (old)", "**6.9/10** (old)")
            .replace("| 8/10 |", "| 7/10 |")
            .replace("9.5/10", "6/10")
    );
    bench.put(META, before);
    let mut session = bench.serve();
    let id = plan(&mut session, &call)["plan"]["id"].clone();
    bench.put(META, &before.replace("Ada", "Grace"));
    let moved = fails(&mut session, &with(&call, json!({ "plan": id })));
    assert_eq!((&moved["code"], &moved["affectedFiles"]), (&json!("conflict"), &json!([META])), "{moved:#}");
    assert_eq!(bench.read(META).unwrap(), before.replace("Ada", "Grace"));
}

#[test]
fn a_file_is_made_where_there_is_none_in_the_library_that_is_meant() {
    let bench = bench(&[
        (".shared-patterns/backend/retry.md", "# Retry\n"),
        (".shared-patterns/backend/retry.js", "export {};\n"),
        (".shared-patterns/ui/card/SKILL.md", "---\nname: card\ndescription: Cards.\n---\n"),
    ]);
    let mine = beside(&bench, "mine");
    fs::create_dir(mine.join("backend")).unwrap();
    fs::write(mine.join("backend/retry.md"), "# Mine\n").unwrap();
    fs::write(mine.join("backend/only.md"), "# Only\n").unwrap();
    let mut session = bench.serve();
    let nothing = session.ok("promote_pattern", write_back("project:backend/retry"));
    assert_eq!(
        (&nothing["plan"]["effects"], &nothing["data"]["files"]),
        (&json!([]), &json!([])),
        "{nothing:#}"
    );
    used(&mut session, "backend/retry", 3);
    // Uses are of the user's, which stands before the repository's.
    let which = fails(&mut session, &write_back("backend/retry"));
    assert_eq!(which["code"], "invalid_argument", "{which:#}");
    assert!(which["suggestions"].to_string().contains("`library: user` or `library: project`"), "{which:#}");
    assert_eq!(fails(&mut session, &write_back("backend/only"))["code"], "invalid_argument");
    assert_eq!(fails(&mut session, &write_back("backend/none"))["code"], "pattern_not_found");
    assert_eq!(fails(&mut session, &write_back("core:backend/retry"))["code"], "pattern_not_found");
    let done = apply(&mut session, &write_back("user:backend/retry"));
    assert_eq!(
        (&done["data"]["library"], &done["data"]["verified"]),
        (&json!("user"), &json!(true)),
        "{done:#}"
    );
    assert_eq!(
        files(&mine)["backend/retry-SKILL.md"],
        "# Skill: Mine\n\n**Category:** backend\n**Reuse Count:** 3\n**Verified:** yes\n"
    );
    let own =
        with(&write_back("backend/retry"), json!({ "library": "project", "criteria": { "performance": 9 } }));
    apply(&mut session, &own);
    assert_eq!(
        bench.read(META).unwrap(),
        "# Skill: Retry\n\n**Category:** backend\n**Language:** javascript\n**Reuse Count:** 0\n**Verified:** no\n\n\
         ## Quality Breakdown\n\n| Criterion | Score | Notes |\n|---|---|---|\n| Performance | 9/10 | |\n"
    );
    let skill = fails(&mut session, &write_back("ui/card"));
    assert!(
        skill["code"] == "invalid_argument" && skill["message"].as_str().unwrap().contains("Agent Skill"),
        "{skill:#}"
    );
    std::os::unix::fs::symlink("retry.md", mine.join("backend/only-SKILL.md")).unwrap();
    let link = fails(
        &mut session,
        &with(&write_back("user:backend/only"), json!({ "criteria": { "performance": 9 } })),
    );
    assert_eq!(link["code"], "path_not_allowed", "{link:#}");
    drop(session);
    bench.place.ok(&["undo", done["metadata"]["transcript"].as_str().unwrap()]);
    assert!(!files(&mine).contains_key("backend/retry-SKILL.md"));
}

const SESSION: &str = "# Row policies\n\n## Summary\n\nTenants are kept apart; password=hunter2hunter2\n\n## Decisions\n\n- # Not a heading\n\n\
    ```sql title=\"policy.sql\"\ncreate policy tenant on orders;\n```\n\n```ts\nexport const withTenant = (id: string) => id;\n```\n\n\
    ```ts\nexport const token = 'CREDENTIAL';\n```\n";
const FILE: &str = ".agent-artifacts/2025-11-05-rls.md";

fn extract(block: u32, name: &str, points: [f64; 5]) -> Value {
    let [correctness, reusability, documentation, coverage, performance] = points;
    json!({ "action": "extract", "from": { "project": "root", "sessionId": "2025-11-05-rls", "block": block },
        "name": name, "category": "database", "criteria": { "correctness": correctness, "reusability": reusability,
        "documentation": documentation, "testCoverage": coverage, "performance": performance } })
}

const GOOD: [f64; 5] = [9.0, 8.0, 7.0, 7.0, 7.0];

fn sessions() -> Bench {
    bench(&[(FILE, &session_text())])
}

/// With what looks like a credential, put together here so that no file of ours holds one.
fn session_text() -> String {
    SESSION.replace("CREDENTIAL", &format!("ghp_{}", "a1B2c3D4e5F6".repeat(3)))
}

#[test]
fn code_and_text_of_a_session_become_a_pattern_of_three_files() {
    let bench = sessions();
    let mut session = bench.serve();
    let call = extract(2, "with-tenant", GOOD);
    let proposed = plan(&mut session, &call);
    let names = ["with-tenant.md", "with-tenant.ts", "with-tenant-SKILL.md"]
        .map(|n| format!(".shared-patterns/database/{n}"));
    assert_eq!(
        proposed["data"],
        json!({ "id": "database/with-tenant", "library": "project", "quality": 7.6, "files": names })
    );
    // The session goes on: what was reviewed is not what it says now.
    bench.put(FILE, &session_text().replace("kept apart", "mixed"));
    let reviewed = with(&call, json!({ "plan": proposed["plan"]["id"] }));
    assert_eq!(fails(&mut session, &reviewed)["code"], "conflict");
    assert_eq!(bench.read(&names[0]), None);
    bench.put(FILE, &session_text());
    let done = session.ok("promote_pattern", reviewed);
    assert_eq!(done["status"], "completed", "{done:#}");
    assert_eq!(bench.read(&names[1]).unwrap(), "export const withTenant = (id: string) => id;\n");
    let document = bench.read(&names[0]).unwrap();
    assert!(document.starts_with("# With tenant\n\n## Summary\n\nTenants are kept apart"), "{document}");
    assert!(!document.contains("hunter2"), "{document}");
    assert!(
        document.contains("- \\# Not a heading")
            && document.contains("The session `2025-11-05-rls` of root, block 2"),
        "{document}"
    );
    assert_eq!(
        bench.read(&names[2]).unwrap().lines().take(7).collect::<Vec<_>>(),
        [
            "# Skill: With tenant",
            "",
            "**Category:** database",
            "**Language:** typescript",
            "**Quality Score:** 7.6/10",
            "**Reuse Count:** 0",
            "**Verified:** no"
        ]
    );
    let found = session.ok("find_patterns", json!({ "query": "tenants apart" }));
    assert_eq!(
        (&found["data"][0]["id"], &found["data"][0]["hasExecutable"]),
        (&json!("database/with-tenant"), &json!(true))
    );
    let again = apply(&mut session, &call);
    assert_eq!(again["plan"]["effects"], json!([]), "{again:#}");
    let other = fails(&mut session, &extract(1, "with-tenant", GOOD));
    assert_eq!(other["code"], "invalid_argument", "another block by the same name: {other:#}");
    // Code that nothing here runs stands in the document; into a library without a way by the repository.
    let sql = apply(&mut session, &with(&extract(1, "policy", GOOD), json!({ "library": "user" })));
    assert_eq!(sql["data"]["files"], json!(["database/policy.md", "database/policy-SKILL.md"]), "{sql:#}");
    let there = files(&beside(&bench, "mine"));
    assert!(
        there["database/policy.md"]
            .contains("```sql title=\"policy.sql\"\ncreate policy tenant on orders;\n```"),
        "{there:#?}"
    );
    drop(session);
    bench.place.ok(&["undo", done["metadata"]["transcript"].as_str().unwrap()]);
    assert!(!bench.path(".shared-patterns").exists());
    bench.place.ok(&["undo", sql["metadata"]["transcript"].as_str().unwrap()]);
    assert_eq!(files(&beside(&bench, "mine")), BTreeMap::new());
}

#[test]
fn what_is_extracted_is_scored_by_all_five_and_comes_from_a_block_that_there_is() {
    let bench = sessions();
    let mut session = bench.serve();
    let low = fails(&mut session, &extract(2, "x", [7.0, 7.0, 6.99, 6.9, 6.7]));
    assert_eq!(low["code"], "forbidden", "{low:#}");
    assert!(
        low["message"].as_str().unwrap().contains("6.9 of 10")
            && low["message"].as_str().unwrap().contains("performance with 6.7"),
        "{low:#}"
    );
    assert_eq!(plan(&mut session, &extract(2, "x", [7.0; 5]))["data"]["quality"], 7.0);
    let secret = fails(&mut session, &extract(3, "x", GOOD));
    assert!(
        secret["code"] == "forbidden" && secret["message"].as_str().unwrap().ends_with("database/x.ts:1"),
        "{secret:#}"
    );
    let mut four = extract(2, "x", GOOD);
    four["criteria"].as_object_mut().unwrap().remove("testCoverage");
    let missing = fails(&mut session, &four);
    assert!(missing["message"].as_str().unwrap().contains("missing: testCoverage"), "{missing:#}");
    for (change, code) in [
        (json!({ "from": { "project": "root", "sessionId": "2025-11-05-rls", "block": 4 } }), "not_found"),
        (json!({ "from": { "project": "root", "sessionId": "nothing", "block": 1 } }), "not_found"),
        (
            json!({ "from": { "project": "elsewhere", "sessionId": "2025-11-05-rls", "block": 1 } }),
            "not_found",
        ),
        (
            json!({ "from": { "project": "root", "sessionId": "2025-11-05-rls", "block": 0 } }),
            "invalid_argument",
        ),
        (json!({ "name": "readme" }), "invalid_argument"),
        (json!({ "name": "a/b" }), "invalid_argument"),
        (json!({ "name": "x-SKILL" }), "invalid_argument"),
        (json!({ "category": "cooking" }), "invalid_argument"),
        (json!({ "criteria": { "performance": 11 } }), "invalid_argument"),
        (json!({ "library": "frozen" }), "forbidden"),
    ] {
        let refused = fails(
            &mut session,
            &with(&with(&extract(2, "x", GOOD), change.clone()), json!({ "apply": true })),
        );
        assert_eq!(refused["code"], code, "{change}: {refused:#}");
    }
    assert_eq!(bench.dirt(), "");
}
