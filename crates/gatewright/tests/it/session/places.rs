//! Which venture a place belongs to, and where the others are.

use serde_json::{Value, json};

use super::{ok, repository, sod};

const VENTURES: &str = "[ventures.ac]\nname = \"Acme\"\norganisation = \"acme\"\ncapabilities = [\"api\"]\n\
    [ventures.labs]\nrepositories = [\"github.com/acme-labs/tool\"]\n";

#[test]
fn ventures_are_listed_with_their_checkouts_and_a_day_says_where_another_is() {
    let bench = repository("git@github.com:acme/app.git");
    let elsewhere = bench.place.root().parent().unwrap().join("tool");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git").args(args).current_dir(&elsewhere).status().unwrap();
        assert!(done.success());
    };
    bench.place.configure(VENTURES);
    let mut session = bench.serve();
    let listed = ok(&mut session, "ventures", json!({}));
    assert_eq!(
        (&listed["from"], listed["ventures"].as_array().unwrap().len()),
        (&json!("configuration"), 2),
        "{listed:#}"
    );
    let venture = |listed: &Value, code: &str| {
        listed["ventures"].as_array().unwrap().iter().find(|v| v["code"] == code).unwrap().clone()
    };
    assert_eq!(
        (&venture(&listed, "ac")["checked_out"], &venture(&listed, "labs")["checked_out"]),
        (&json!(true), &json!(false)),
        "{listed:#}"
    );
    assert_eq!(ok(&mut session, "ventures", json!({ "limit": 1 }))["ventures"].as_array().unwrap().len(), 1);

    let day = sod(&mut session);
    assert_eq!((&day["session"]["venture"], &day["session"]["venture_name"]), (&json!("ac"), &json!("Acme")));
    let clone = ok(&mut session, "sod", json!({ "venture": "labs" }));
    assert_eq!((&clone["day"], &clone["success"]), (&json!("needs_clone"), &json!(false)), "{clone:#}");
    assert!(clone["next"].as_str().unwrap().contains("git clone https://github.com/acme-labs/tool.git"));
    assert!(clone.get("session").is_none());
    git(&["init", "--quiet"]);
    git(&["remote", "add", "origin", "https://user:secret@github.com/Acme-Labs/tool.git"]);
    let there = ok(&mut session, "sod", json!({ "venture": "labs" }));
    assert_eq!(there["day"], "needs_navigation", "{there:#}");
    assert!(there["next"].as_str().unwrap().contains("/tool"), "{there:#}");
    assert!(!there.to_string().contains("secret"), "{there:#}");
    assert!(
        venture(&ok(&mut session, "ventures", json!({})), "labs")["checkouts"][0]["place"]
            .as_str()
            .unwrap()
            .ends_with("/tool")
    );
    let unknown = session.fails("sod", json!({ "venture": "nobody" }));
    assert_eq!(unknown["code"], "not_found", "{unknown:#}");
    assert!(unknown["suggestions"][0].as_str().unwrap().contains("ac, labs"), "{unknown:#}");
}

#[test]
fn a_repository_of_no_venture_begins_no_day() {
    let bench = repository("git@github.com:notacme/app.git");
    bench.place.configure(VENTURES);
    let mut session = bench.serve();
    let context = ok(&mut session, "context", json!({}));
    assert_eq!(
        (&context["known"], &context["repository"]),
        (&json!(false), &json!("github.com/notacme/app")),
        "{context:#}"
    );
    let day = ok(&mut session, "sod", json!({}));
    assert_eq!(
        (&day["day"], day["ventures"].as_array().unwrap().len()),
        (&json!("select_venture"), 2),
        "{day:#}"
    );
    let over = session.fails("handoff", json!({ "summary": "x", "status": "done" }));
    assert_eq!(over["code"], "not_found", "{over:#}");
}

#[test]
fn preflight_says_of_each_check_what_to_do() {
    let bench = repository("git@github.com:acme/app.git");
    let mut session = bench.serve();
    let checked = ok(&mut session, "preflight", json!({}));
    assert_eq!(
        (&checked["has_critical_failure"], &checked["using"]["store"]),
        (&json!(false), &json!("sqlite")),
        "{checked:#}"
    );
    let names: Vec<&str> =
        checked["checks"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["context_key", "github_cli", "git_repository", "context_health"]);
    let of = |checked: &Value, at: usize| checked["checks"][at]["status"].as_str().unwrap().to_owned();
    assert_eq!(
        (of(&checked, 0), of(&checked, 2), of(&checked, 3)),
        ("pass".into(), "pass".into(), "pass".into()),
        "{checked:#}"
    );
    std::fs::remove_dir_all(bench.place.root().join(".git")).unwrap();
    let warned = ok(&mut session, "preflight", json!({}));
    assert_eq!((of(&warned, 2), &warned["all_passed"]), ("warn".into(), &json!(false)), "{warned:#}");
    // A store that is something else: no day can begin.
    let store = bench.place.scratch.path().join("state/gatewright/store");
    std::fs::remove_dir_all(&store).unwrap_or_default();
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(
        store.join("store.db"),
        "no database, but long enough to be looked at as if it were one".repeat(40),
    )
    .unwrap();
    let mut session = bench.serve();
    let broken = ok(&mut session, "preflight", json!({}));
    assert_eq!(
        (&broken["has_critical_failure"], &broken["success"]),
        (&json!(true), &json!(false)),
        "{broken:#}"
    );
    let day = ok(&mut session, "sod", json!({}));
    assert_eq!((&day["day"], &day["success"]), (&json!("error"), &json!(false)), "{day:#}");
}

#[test]
fn a_document_that_is_not_there_is_not_found() {
    let bench = repository("git@github.com:acme/app.git");
    let mut session = bench.serve();
    let none = session.fails("doc", json!({ "scope": "global", "doc_name": "guide.md" }));
    assert_eq!(none["code"], "not_found", "{none:#}");
}
