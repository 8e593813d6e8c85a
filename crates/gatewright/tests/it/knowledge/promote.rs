//! Patterns of a repository taken into libraries: rehearsed, applied, on record, taken back; and what is not taken.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::{Bench, Session};

/// With line ends and a comment of their own: what is promoted is promoted to the byte.
const META: &str = "# Skill: RLS\r\n\r\n<!-- keep -->\r\n**Quality Score:** 8.2/10\r\n**Reuse Count:** 2\r\n";
const SKILL: &str =
    "---\nname: triage\ndescription: Sorts what is reported.\nmetadata:\n  quality: \"9.1\"\n---\n# Triage\n";

fn scores(points: [f64; 5]) -> Value {
    let [correctness, reusability, documentation, coverage, performance] = points;
    json!({ "correctness": correctness, "reusability": reusability, "documentation": documentation, "testCoverage": coverage,
        "performance": performance })
}

/// A file with five criteria, no score stated.
fn criteria(tenths: [u8; 5]) -> String {
    let names = ["Correctness", "Reusability", "Documentation", "Test Coverage", "Performance"];
    let row = |(name, tenths): (&&str, u8)| format!("| {name} | {}.{}/10 |", tenths / 10, tenths % 10);
    let rows: Vec<String> = names.iter().zip(tenths).map(row).collect();
    format!("| Criterion | Score |\n|---|---|\n{}\n", rows.join("\n"))
}

/// A place beside the repository.
pub(super) fn beside(bench: &Bench, name: &str) -> PathBuf {
    bench.place.scratch.path().join(name)
}

/// A repository with `files`; `mine` is the user's library, `core` a team's that may be changed, `frozen` one that may not, `absent` one
/// without a folder.
pub(super) fn bench(files: &[(&str, &str)]) -> Bench {
    let mut all = vec![("README.md", "# App\n")];
    all.extend(files);
    let bench = Bench::new(&all);
    let at = |name: &str| format!("{:?}", beside(&bench, name).to_str().unwrap());
    for name in ["mine", "core", "frozen"] {
        fs::create_dir(beside(&bench, name)).unwrap();
    }
    bench.place.configure(&format!(
        "[library]\nuser = {}\n[library.team.core]\npath = {}\nwrite = true\n[library.team.frozen]\npath = {}\n\
         [library.team.absent]\npath = {}\nwrite = true\n",
        at("mine"),
        at("core"),
        at("frozen"),
        at("absent")
    ));
    bench
}

fn good() -> Bench {
    bench(&[
        (".shared-patterns/database/rls-policy.md", "# RLS\n\nTenants apart.\n"),
        (".shared-patterns/database/rls-policy.ts", "export const rlsPolicy = () => 1;\n"),
        (".shared-patterns/database/rls-policy-SKILL.md", META),
    ])
}

/// Every file below a folder, with its text; links by where they lead.
pub(super) fn files(below: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![below.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
                continue;
            }
            let text = if path.is_symlink() { "link".to_owned() } else { fs::read_to_string(&path).unwrap() };
            found.insert(path.strip_prefix(below).unwrap().to_str().unwrap().to_owned(), text);
        }
    }
    found
}

fn promote(id: &str, library: &str) -> Value {
    json!({ "action": "promote", "patternId": id, "library": library })
}

/// The same call, with more said.
pub(super) fn with(arguments: &Value, more: Value) -> Value {
    let mut all = arguments.clone();
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

pub(super) fn plan(session: &mut Session, arguments: &Value) -> Value {
    let rehearsed = session.ok("promote_pattern", arguments.clone());
    assert_eq!(rehearsed["status"], "proposed", "{rehearsed:#}");
    rehearsed
}

pub(super) fn apply(session: &mut Session, arguments: &Value) -> Value {
    let applied = session.ok("promote_pattern", with(arguments, json!({ "apply": true })));
    assert_eq!(applied["status"], "completed", "{applied:#}");
    applied
}

pub(super) fn fails(session: &mut Session, arguments: &Value) -> Value {
    session.fails("promote_pattern", arguments.clone())
}

fn uris(session: &mut Session) -> Vec<String> {
    let listed = session.0.request("resources/list", json!({}))["result"]["resources"].clone();
    listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_pattern_is_promoted_to_the_byte_by_a_plan_that_is_on_record_and_taken_back() {
    let bench = good();
    let mine = beside(&bench, "mine");
    let mut session = bench.serve();
    // Without `library` it is the user's own.
    let call = json!({ "action": "promote", "patternId": "database/rls-policy" });
    let rehearsed = plan(&mut session, &call);
    assert_eq!(
        rehearsed["data"],
        json!({ "id": "database/rls-policy", "library": "user", "quality": 8.2,
            "files": ["database/rls-policy.md", "database/rls-policy.ts", "database/rls-policy-SKILL.md"] })
    );
    assert_eq!(rehearsed["plan"]["effects"].as_array().unwrap().len(), 3, "{rehearsed:#}");
    assert!(rehearsed["plan"]["diff"].as_str().unwrap().contains("+export const rlsPolicy"), "{rehearsed:#}");
    assert_eq!(files(&mine), BTreeMap::new(), "a rehearsal changes nothing");
    let id = rehearsed["plan"]["id"].as_str().unwrap().to_owned();
    assert_eq!(plan(&mut session, &call)["plan"]["id"], id);
    assert!(uris(&mut session).contains(&format!("plan://{id}")));
    let read = session.0.request("resources/read", json!({ "uri": format!("plan://{id}") }));
    assert!(
        read["result"]["contents"][0]["text"].as_str().unwrap().contains("database/rls-policy.ts"),
        "{read}"
    );
    let shown = bench.place.ok(&["plan", "show", &id]);
    assert!(shown.contains("rls-policy-SKILL.md"), "{shown}");

    let applied = session.ok("promotePattern", with(&call, json!({ "plan": id, "apply": true })));
    assert_eq!((&applied["status"], &applied["data"]), (&json!("completed"), &rehearsed["data"]));
    let there = files(&mine);
    assert_eq!(there["database/rls-policy-SKILL.md"], META);
    assert_eq!(there.len(), 3, "{there:?}");
    assert_eq!(
        there["database/rls-policy.ts"],
        bench.read(".shared-patterns/database/rls-policy.ts").unwrap()
    );
    let loaded = session.ok("load_skill", json!({ "skillId": "database/rls-policy" }));
    assert_eq!(loaded["data"]["library"], "user", "{loaded:#}");
    let again = apply(&mut session, &call);
    assert_eq!(again["plan"]["effects"], json!([]), "what stands already stays: {again:#}");
    assert_eq!(bench.dirt(), "", "nothing of the repository is changed");

    let transcript = applied["metadata"]["transcript"].as_str().unwrap().to_owned();
    assert!(uris(&mut session).contains(&format!("transcript://{transcript}")));
    let record = session.0.request("resources/read", json!({ "uri": format!("transcript://{transcript}") }));
    let record: Value =
        serde_json::from_str(record["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    let body = record.to_string();
    assert!(body.contains("promote_pattern") && body.contains("\"root\":\"user\""), "{record:#}");
    drop(session);
    // The record is the library's, and holds.
    let of_library = ["--root", mine.to_str().unwrap(), "audit", "verify", "--output", "json"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gatewright"));
    let verified = bench.place.home(&mut command).args(of_library).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
    let own = bench.place.ok(&["audit", "tail", "--output", "json"]);
    assert!(!own.contains("\"promote_pattern\""), "one call, one record: {own}");

    let undone = bench.place.ok(&["undo", &transcript]);
    assert!(undone.contains("Taken back"), "{undone}");
    assert_eq!(files(&mine), BTreeMap::new());
    assert!(!mine.join("database").exists(), "nor is its folder left");
    let again = bench.place.fails(&["undo", &transcript]);
    assert_eq!(again.0, 1, "{again:?}");
}

#[test]
fn a_library_takes_seven_of_ten_and_better_and_says_what_is_weakest() {
    let (low, enough) = (criteria([70, 70, 69, 69, 67]), criteria([70, 70, 70, 70, 68]));
    let bench = bench(&[
        (".shared-patterns/ui/low.md", "# Low\n"),
        (".shared-patterns/ui/low-SKILL.md", &low),
        (".shared-patterns/ui/enough.md", "# Enough\n"),
        (".shared-patterns/ui/enough-SKILL.md", &enough),
        (".shared-patterns/ui/stated.md", "---\nquality_score: 6.9\n---\n# Stated\n"),
        (".shared-patterns/ui/unscored.md", "# Unscored\n"),
        (".shared-patterns/ui/boasts.md", "# Boasts\n"),
        (".shared-patterns/ui/boasts-SKILL.md", &format!("**Quality:** 9/10\n\n{}", criteria([50; 5]))),
    ]);
    let mut session = bench.serve();
    let refused = fails(&mut session, &promote("ui/low", "core"));
    let message = refused["message"].as_str().unwrap();
    assert_eq!(refused["code"], "forbidden", "{refused:#}");
    assert!(message.contains("6.9 of 10; the library takes 7.0 and better"), "{message}");
    assert!(message.contains("weakest: performance with 6.7"), "{message}");
    for (id, code, word) in [
        ("ui/stated", "forbidden", "6.9 of 10"),
        ("ui/unscored", "forbidden", "no quality is stated"),
        ("ui/boasts", "invalid_source", "states 9.0, and its criteria make 5.0"),
        ("ui/nothing", "pattern_not_found", "ui/nothing"),
    ] {
        let refused = fails(&mut session, &with(&promote(id, "core"), json!({ "apply": true })));
        assert_eq!(refused["code"], code, "{id}: {refused:#}");
        assert!(refused["message"].as_str().unwrap().contains(word), "{id}: {refused:#}");
    }
    assert_eq!(files(&beside(&bench, "core")), BTreeMap::new());
    let taken = apply(&mut session, &promote("ui/enough", "core"));
    assert_eq!(
        (&taken["data"]["quality"], &taken["data"]["library"]),
        (&json!(7.0), &json!("core")),
        "{taken:#}"
    );
    assert_eq!(files(&beside(&bench, "core"))["ui/enough-SKILL.md"], enough);
}

#[test]
fn a_plan_holds_only_while_both_the_repository_and_the_library_are_as_they_were() {
    let bench = good();
    let (mine, call) = (beside(&bench, "mine"), promote("database/rls-policy", "user"));
    let mut session = bench.serve();
    let id = plan(&mut session, &call)["plan"]["id"].clone();
    let named = with(&call, json!({ "plan": id }));
    bench.put(".shared-patterns/database/rls-policy.ts", "export const rlsPolicy = () => 2;\n");
    let moved = fails(&mut session, &named);
    assert_eq!(moved["code"], "conflict", "{moved:#}");
    assert_eq!(moved["affectedFiles"], json!([".shared-patterns/database/rls-policy.ts"]), "{moved:#}");
    bench.put(".shared-patterns/database/rls-policy.ts", "export const rlsPolicy = () => 1;\n");
    // What came to be beside it is a file of it, too.
    fs::remove_file(bench.path(".shared-patterns/database/rls-policy-SKILL.md")).unwrap();
    assert_eq!(fails(&mut session, &named)["code"], "conflict");
    bench.put(".shared-patterns/database/rls-policy-SKILL.md", META);
    assert_eq!(files(&mine), BTreeMap::new());
    fs::create_dir(mine.join("database")).unwrap();
    fs::write(mine.join("database/rls-policy.md"), "# Another\n").unwrap();
    assert_eq!(fails(&mut session, &named)["code"], "conflict");
    // A new plan does not put anything over it either.
    let refused = fails(&mut session, &call);
    assert_eq!(
        (&refused["code"], &refused["affectedFiles"]),
        (&json!("invalid_argument"), &json!(["database/rls-policy.md"])),
        "{refused:#}"
    );
    fs::remove_file(mine.join("database/rls-policy.md")).unwrap();
    fs::write(mine.join("database/rls-policy.js"), "// alone\n").unwrap();
    assert_eq!(
        fails(&mut session, &call)["affectedFiles"],
        json!(["database/rls-policy.js"]),
        "none of its files"
    );
    fs::remove_file(mine.join("database/rls-policy.js")).unwrap();
    fs::create_dir_all(mine.join("patterns/database")).unwrap();
    fs::write(mine.join("patterns/database/rls-policy.md"), "# Where the format's later version has it\n")
        .unwrap();
    assert_eq!(fails(&mut session, &call)["affectedFiles"], json!(["patterns/database/rls-policy.md"]));
    fs::remove_dir_all(mine.join("patterns")).unwrap();
    let done = session.ok("promote_pattern", named);
    assert_eq!(done["status"], "completed", "as it was reviewed: {done:#}");
    // Undone only as long as nobody went on.
    fs::write(mine.join("database/rls-policy.md"), "# Later work\n").unwrap();
    let (_, said) = bench.place.fails(&["undo", done["metadata"]["transcript"].as_str().unwrap()]);
    assert!(said.contains("later work"), "{said}");
    assert_eq!(files(&mine).len(), 3);
}

#[test]
fn links_are_neither_taken_nor_followed() {
    let bench = good();
    let (mine, call) = (beside(&bench, "mine"), promote("database/rls-policy", "user"));
    fs::write(beside(&bench, "secret.ts"), "pelican\n").unwrap();
    let code = bench.path(".shared-patterns/database/rls-policy.ts");
    let mut session = bench.serve();
    let refused = |session: &mut Session, file: &str| {
        let fault = fails(session, &with(&call, json!({ "apply": true })));
        assert_eq!(fault["code"], "path_not_allowed", "{file}: {fault:#}");
        assert!(fault["affectedFiles"].to_string().contains(file), "{file}: {fault:#}");
    };
    for target in ["../../../secret.ts", "rls-policy.md", "nowhere"] {
        fs::remove_file(&code).unwrap();
        symlink(target, &code).unwrap();
        refused(&mut session, ".shared-patterns/database/rls-policy.ts");
    }
    fs::remove_file(&code).unwrap();
    bench.put(".shared-patterns/database/rls-policy.ts", "export const rlsPolicy = () => 1;\n");
    // A category of the library that leads out of it, and a file that does.
    let elsewhere = beside(&bench, "elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, mine.join("database")).unwrap();
    refused(&mut session, "database/");
    fs::remove_file(mine.join("database")).unwrap();
    fs::create_dir(mine.join("database")).unwrap();
    symlink(elsewhere.join("new.md"), mine.join("database/rls-policy.md")).unwrap();
    refused(&mut session, "database/rls-policy.md");
    assert_eq!(files(&elsewhere), BTreeMap::new(), "nothing came to be there");
    assert_eq!(files(&mine)["database/rls-policy.md"], "link");
}

#[test]
fn a_skill_goes_with_its_whole_folder_and_a_link_in_it_keeps_it() {
    let bench = bench(&[
        (".claude/skills/triage/SKILL.md", SKILL),
        (".claude/skills/triage/scripts/run.sh", "echo\n"),
        (".claude/skills/triage/.env", "KEY=1\n"),
    ]);
    let core = beside(&bench, "core");
    let script = bench.path(".claude/skills/triage/scripts/run.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut session = bench.serve();
    let call = promote("skills/triage", "core");
    symlink("/etc/hostname", bench.path(".claude/skills/triage/scripts/host")).unwrap();
    assert_eq!(fails(&mut session, &call)["code"], "path_not_allowed");
    fs::remove_file(bench.path(".claude/skills/triage/scripts/host")).unwrap();
    let id = plan(&mut session, &call)["plan"]["id"].clone();
    bench.put(".claude/skills/triage/scripts/more.sh", "echo more\n");
    assert_eq!(fails(&mut session, &with(&call, json!({ "plan": id })))["code"], "conflict", "a file more");
    fs::remove_file(bench.path(".claude/skills/triage/scripts/more.sh")).unwrap();
    let done = apply(&mut session, &call);
    assert_eq!(
        done["data"]["files"],
        json!(["skills/triage/SKILL.md", "skills/triage/scripts/run.sh"]),
        "{done:#}"
    );
    assert_eq!(
        files(&core).keys().collect::<Vec<_>>(),
        ["skills/triage/SKILL.md", "skills/triage/scripts/run.sh"]
    );
    let mode = fs::metadata(core.join("skills/triage/scripts/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "{mode:o}");
    let loaded = session.ok("load_skill", json!({ "skillId": "core:skills/triage" }));
    assert_eq!(loaded["data"]["metadata"]["quality"], 9.1, "{loaded:#}");
    fs::write(core.join("skills/triage/own.md"), "theirs\n").unwrap();
    assert_eq!(fails(&mut session, &call)["affectedFiles"], json!(["skills/triage/own.md"]));
}

#[test]
fn only_libraries_that_a_person_granted_are_changed_and_no_call_names_them_as_its_root() {
    let bench = good();
    let mut session = bench.serve();
    for (library, code, word, next) in [
        ("frozen", "forbidden", "may not change the library frozen", "[library.team.frozen] write = true"),
        ("absent", "not_found", "absent has no folder yet", "[library.team.absent] path"),
        ("nobody", "not_found", "there are: absent, core, frozen, user, project", ""),
        ("gatewright", "not_found", "there is no library", ""),
    ] {
        let refused = fails(&mut session, &promote("database/rls-policy", library));
        assert_eq!(refused["code"], code, "{library}: {refused:#}");
        assert!(refused["message"].as_str().unwrap().contains(word), "{library}: {refused:#}");
        assert!(refused["suggestions"].to_string().contains(next), "{library}: {refused:#}");
        assert!(!refused.to_string().contains(bench.place.scratch.path().to_str().unwrap()), "{refused:#}");
    }
    // Made meanwhile: the server need not be started anew.
    fs::create_dir(beside(&bench, "absent")).unwrap();
    assert_eq!(apply(&mut session, &promote("database/rls-policy", "absent"))["data"]["library"], "absent");
    // Put in its place meanwhile: what is written is written where people look.
    fs::remove_dir_all(beside(&bench, "absent")).unwrap();
    fs::create_dir(beside(&bench, "absent")).unwrap();
    apply(&mut session, &promote("database/rls-policy", "absent"));
    assert_eq!(files(&beside(&bench, "absent")).len(), 3);
    let listed = session.0.request("tools/list", json!({}))["result"]["tools"].clone();
    let tool = listed.as_array().unwrap().iter().find(|tool| tool["name"] == "promote_pattern").unwrap();
    assert_eq!(tool["inputSchema"]["properties"].get("root"), None, "{tool:#}");
    assert_eq!(tool["annotations"]["readOnlyHint"], false, "{tool:#}");
    drop(session);
    let other = beside(&bench, "other");
    fs::create_dir_all(other.join(".shared-patterns/ui")).unwrap();
    fs::write(other.join(".shared-patterns/ui/card.md"), "---\nquality: 8\n---\n# Card\n").unwrap();
    let mut session = Session::over(bench.command().args(["--root", &format!("other={}", other.display())]));
    let listed = session.0.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in listed.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["properties"]["root"]["enum"], json!(["root", "other"]), "{tool:#}");
    }
    let call = promote("ui/card", "core");
    assert_eq!(fails(&mut session, &call)["code"], "category_invalid", "it is another root's");
    let from = with(&call, json!({ "root": "other" }));
    let id = plan(&mut session, &from)["plan"]["id"].clone();
    let elsewhere = fails(&mut session, &with(&call, json!({ "plan": id })));
    assert_eq!(elsewhere["code"], "conflict", "a plan is of the root that it was made from: {elsewhere:#}");
    assert_eq!(session.ok("promote_pattern", with(&from, json!({ "plan": id })))["status"], "completed");
    let config = format!("[library]\nuser = {:?}\nuser-write = false\n", beside(&bench, "mine"));
    bench.place.configure(&config);
    let refused = fails(&mut bench.serve(), &promote("database/rls-policy", "user"));
    assert!(refused["suggestions"].to_string().contains("[library] user-write = true"), "{refused:#}");
}

#[test]
fn what_looks_like_a_credential_stays_out() {
    let bench = good();
    let mut session = bench.serve();
    let secret = format!("export const key = \"ghp_{}\";\n", "a1B2c3D4e5F6".repeat(3));
    bench.put(".shared-patterns/database/rls-policy.ts", &format!("\n{secret}"));
    let refused = fails(&mut session, &promote("database/rls-policy", "core"));
    assert_eq!(refused["code"], "forbidden", "{refused:#}");
    assert!(refused["message"].as_str().unwrap().ends_with("database/rls-policy.ts:2"), "{refused:#}");
    bench.put(".shared-patterns/database/rls-policy.ts", "export {};\n");
    apply(&mut session, &promote("database/rls-policy", "core"));
}

#[test]
fn what_a_project_forbids_is_not_done_in_a_library_either_and_every_input_is_observed() {
    let bench = good();
    let mut session = bench.serve();
    let call = promote("database/rls-policy", "core");
    for (more, word) in [
        (json!({ "name": "x" }), "name: `promote` does not take it"),
        (json!({ "category": "ui" }), "category: `promote` does not take it"),
        (json!({ "criteria": { "performance": 9 } }), "criteria: `promote` does not take it"),
        (
            json!({ "from": { "project": "root", "sessionId": "s", "block": 1 } }),
            "from: `promote` does not take it",
        ),
        (json!({ "patternId": "user:database/rls-policy" }), "not those of user"),
        (json!({ "library": "project" }), "promoted into another"),
        (
            json!({ "action": "write_back", "patternId": "user:database/rls-policy" }),
            "the id says user, `library` core",
        ),
        (json!({ "action": "write_back", "name": "x" }), "name: `write_back` does not take it"),
        (json!({ "action": "extract" }), "patternId: `extract` does not take it"),
        (json!({ "library": "../core" }), "library"),
        (json!({ "patternId": "database/../x" }), "patternId"),
        (json!({ "action": "publish" }), "action"),
        (json!({ "dryRun": true }), "dryRun"),
    ] {
        let refused = fails(&mut session, &with(&call, more.clone()));
        assert_eq!(refused["code"], "invalid_argument", "{more}: {refused:#}");
        assert!(refused["message"].as_str().unwrap().contains(word), "{more}: {refused:#}");
    }
    for (arguments, word) in [
        (json!({ "action": "promote" }), "patternId: `promote` needs it"),
        (
            json!({ "action": "extract", "name": "x", "category": "ui", "criteria": scores([9.0; 5]) }),
            "from: `extract` needs it",
        ),
    ] {
        let refused = fails(&mut session, &arguments);
        assert!(refused["message"].as_str().unwrap().contains(word), "{refused:#}");
    }
    drop(session);
    bench.put(
        "gatewright.toml",
        "[[policy.rules]]\ntools = [\"promote_pattern\"]\napply = true\ndecision = \"forbid\"\n",
    );
    let mut session = bench.serve();
    plan(&mut session, &call);
    let refused = fails(&mut session, &with(&call, json!({ "apply": true })));
    assert_eq!(refused["code"], "forbidden", "{refused:#}");
    assert!(refused["message"].as_str().unwrap().contains("project rule 1 of the root root"), "{refused:#}");
    assert_eq!(files(&beside(&bench, "core")), BTreeMap::new());
    let record = fs::read_dir(bench.place.scratch.path().join("state/gatewright")).unwrap().flatten();
    let kept = record.filter(|entry| entry.file_name().to_string_lossy().starts_with("core-")).count();
    assert_eq!(kept, 1, "a library has a state of its own");
}

#[test]
fn a_library_that_is_a_link_is_changed_where_it_leads_now_and_two_layouts_are_not_one_pattern() {
    let bench = bench(&[
        (".shared-patterns/ui/one.md", "---\nquality: 8\n---\n# One\n"),
        (".shared-patterns/ui/two.md", "---\nquality: 8\n---\n# Two\n"),
        (".shared-patterns/ui/three.md", "---\nquality: 8\n---\n# Three\n"),
    ]);
    let (core, v1, v2) = (beside(&bench, "core"), beside(&bench, "v1"), beside(&bench, "v2"));
    fs::remove_dir(&core).unwrap();
    for version in [&v1, &v2] {
        fs::create_dir(version).unwrap();
    }
    symlink(&v1, &core).unwrap();
    let mut session = bench.serve();
    let promote = |id: &str, apply: bool| json!({ "action": "promote", "patternId": id, "library": "core", "apply": apply });
    session.ok("promote_pattern", promote("ui/one", true));
    assert!(v1.join("ui/one.md").exists());
    fs::remove_file(&core).unwrap();
    symlink(&v2, &core).unwrap();
    session.ok("promote_pattern", promote("ui/two", true));
    assert!(v2.join("ui/two.md").exists() && !v1.join("ui/two.md").exists());
    assert_eq!(session.ok("load_skill", json!({ "skillId": "core:ui/two" }))["data"]["library"], "core");
    // Between the plan and its doing a skill of the same id came.
    let plan = session.ok("promote_pattern", promote("ui/three", false))["plan"]["id"].clone();
    fs::create_dir_all(v2.join("ui/three")).unwrap();
    fs::write(v2.join("ui/three/SKILL.md"), "---\nname: three\ndescription: Another.\n---\n# Three\n")
        .unwrap();
    let mut doing = promote("ui/three", true);
    doing["plan"] = plan;
    let refused = session.fails("promote_pattern", doing);
    assert_eq!(refused["code"], "conflict", "{refused:#}");
    assert!(!v2.join("ui/three.md").exists());
}
