//! Two machines over one database: what one does the other knows.

use serde_json::json;

use super::super::cluster;
use super::{ok, repository, sod};

#[test]
fn two_machines_share_a_day_through_one_database() {
    let Some(url) = cluster::database() else { return };
    let url = std::path::PathBuf::from(url);
    let one = repository("git@github.com:acme/app.git").telling("GATEWRIGHT_STORE_URL", url.clone());
    let other = repository("https://github.com/acme/app").telling("GATEWRIGHT_STORE_URL", url.clone());
    one.put("src/three.rs", "pub fn three() {}\n");
    one.commit("three");
    let (mut here, mut there) = (one.serve(), other.serve());
    let mine = sod(&mut here);
    let theirs = sod(&mut there);
    assert_ne!(
        mine["session"]["agent"], theirs["session"]["agent"],
        "two machines of one host name: {theirs:#}"
    );
    assert_eq!(theirs["sessions"][0]["id"], mine["session"]["id"], "{theirs:#}");
    assert_eq!(ok(&mut here, "context", json!({}))["using"], "postgres");
    assert_eq!(ok(&mut here, "preflight", json!({}))["checks"][3]["status"], "pass");

    ok(
        &mut here,
        "note",
        json!({ "action": "create", "title": "Staging needs a VPN", "content": "Ask ops for `useAuthToken`." }),
    );
    let found = ok(&mut there, "notes", json!({ "q": "token" }));
    assert_eq!(
        (&found["notes"][0]["title"], &found["ranked"]),
        (&json!("Staging needs a VPN"), &json!("all")),
        "{found:#}"
    );
    ok(&mut here, "handoff", json!({ "summary": "Over to you.", "status": "in_progress" }));
    let day = sod(&mut there);
    let told = &day["handoffs"][0];
    assert_eq!(
        (&told["summary"], &told["grade"]),
        (&json!("Over to you."), &json!("contradicted")),
        "another history: {day:#}"
    );
    assert_eq!((&day["sessions"], &day["notes"]["total"]), (&json!([]), &json!(1)), "{day:#}");
    // A third process by the configuration, without the variable; and one whose database is gone.
    let third = repository("git@github.com:acme/app.git");
    third.place.configure(&format!("[store]\nurl = \"{}\"\n", url.display()));
    let mut third_session = third.serve();
    assert_eq!(ok(&mut third_session, "notes", json!({}))["notes"].as_array().unwrap().len(), 1);
    let gone = repository("git@github.com:acme/app.git")
        .telling("GATEWRIGHT_STORE_URL", "postgres://gw:hunter2hunter2@127.0.0.1:1/none".into());
    let mut session = gone.serve();
    let day = ok(&mut session, "sod", json!({}));
    assert_eq!((&day["day"], &day["success"]), (&json!("error"), &json!(false)), "{day:#}");
    assert!(!day.to_string().contains("hunter2"), "{day:#}");
    third.place.configure("[store]\nurl = \"postgres://gw:secret@127.0.0.1:1/none\"\n");
    let (_, told) = third.place.fails(&["call", "notes"]);
    assert!(told.contains(".pgpass") && !told.contains("secret@"), "{told}");
}
