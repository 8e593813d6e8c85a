//! Notes are kept, changed and found.

use serde_json::{Value, json};

use super::{ok, repository, sod};

fn titles(found: &Value) -> Vec<&str> {
    found["notes"].as_array().unwrap().iter().map(|note| note["title"].as_str().unwrap()).collect()
}

#[test]
fn notes_are_kept_changed_and_found_by_words_tags_and_ventures() {
    let bench = repository("git@github.com:acme/app.git");
    let mut session = bench.serve();
    let own = sod(&mut session)["session"]["venture"].clone();
    let add = |title: &str, content: &str, more: Value| {
        let mut all = json!({ "action": "create", "title": title, "content": content });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let vpn = ok(
        &mut session,
        "note",
        add(
            "Staging needs a VPN",
            "Ask ops for `useAuthToken` first.",
            json!({ "tags": ["staging", "ops"] }),
        ),
    );
    let id = vpn["note"]["id"].clone();
    assert_eq!(
        (&vpn["note"]["version"], &vpn["redacted"], &vpn["replayed"]),
        (&json!(1), &json!(0), &json!(false)),
        "{vpn:#}"
    );
    ok(
        &mut session,
        "note",
        add("Deploys on Friday", "Never. Password: password=hunter2hunter2", json!({ "venture": own })),
    );
    ok(&mut session, "note", add("Of others", "Their VPN.", json!({ "venture": "other", "tags": ["ops"] })));

    assert_eq!(
        titles(&ok(&mut session, "notes", json!({}))),
        ["Of others", "Deploys on Friday", "Staging needs a VPN"]
    );
    let found = ok(&mut session, "notes", json!({ "q": "vpn" }));
    assert_eq!(
        (titles(&found), &found["ranked"]),
        (vec!["Staging needs a VPN", "Of others"], &json!("all")),
        "a title counts more: {found:#}"
    );
    assert!(found["notes"][1]["snippet"].as_str().unwrap().contains("**VPN**"), "{found:#}");
    assert_eq!(
        titles(&ok(&mut session, "notes", json!({ "q": "token" }))),
        ["Staging needs a VPN"],
        "a part of a name"
    );
    assert_eq!(titles(&ok(&mut session, "notes", json!({ "q": "vpn -staging" }))), ["Of others"]);
    assert_eq!(
        titles(&ok(&mut session, "notes", json!({ "tag": "ops", "venture": "other" }))),
        ["Of others"]
    );
    assert_eq!(titles(&ok(&mut session, "notes", json!({ "venture": "none" }))), ["Staging needs a VPN"]);
    let paged = ok(&mut session, "notes", json!({ "limit": 1 }));
    assert_eq!((titles(&paged), &paged["truncated"]["total"]), (vec!["Of others"], &json!(3)), "{paged:#}");
    let rest = ok(&mut session, "notes", json!({ "limit": 2, "cursor": paged["truncated"]["next"] }));
    assert_eq!(titles(&rest), ["Deploys on Friday", "Staging needs a VPN"], "{rest:#}");

    let changed = ok(
        &mut session,
        "note",
        json!({ "action": "update", "id": id, "content": "No longer.", "version": 1 }),
    );
    assert_eq!(
        (&changed["note"]["version"], &changed["note"]["title"]),
        (&json!(2), &json!("Staging needs a VPN"))
    );
    let stale =
        session.fails("note", json!({ "action": "update", "id": id, "content": "late", "version": 1 }));
    assert_eq!(stale["code"], "conflict", "{stale:#}");
    let one = ok(&mut session, "notes", json!({ "id": id }));
    assert_eq!(
        (&one["notes"][0]["content"], &one["notes"][0]["tags"]),
        (&json!("No longer."), &json!(["ops", "staging"])),
        "{one:#}"
    );
    let tagged =
        ok(&mut session, "note", json!({ "action": "update", "id": id, "tags": [], "venture": own }));
    assert_eq!((&tagged["note"]["tags"], &tagged["note"]["venture"]), (&json!([]), &own));

    let day = sod(&mut session);
    let own: Vec<&str> =
        day["notes"]["items"].as_array().unwrap().iter().map(|n| n["title"].as_str().unwrap()).collect();
    assert_eq!(
        own,
        ["Staging needs a VPN", "Deploys on Friday", "Of others"],
        "the own venture's first: {day:#}"
    );
    let message = day["message"].as_str().unwrap();
    assert!(message.contains("> No longer.") && !message.contains("hunter2hunter2"), "{message}");
}

#[test]
fn a_long_note_comes_in_parts_and_a_day_shows_what_fits() {
    let bench = repository("git@github.com:acme/app.git");
    let mut session = bench.serve();
    let own = sod(&mut session)["session"]["venture"].clone();
    let line = "All work and no play makes a long note.\n";
    let content = line.repeat(500);
    let kept = ok(
        &mut session,
        "note",
        json!({ "action": "create", "title": "Long", "content": content, "venture": own }),
    );
    let id = kept["note"]["id"].as_str().unwrap();
    assert_eq!(kept["note"]["characters"], json!(content.len()));
    let mut whole = String::new();
    let mut from = 0;
    loop {
        let part = ok(&mut session, "notes", json!({ "id": id, "from": from }));
        whole.push_str(part["notes"][0]["content"].as_str().unwrap());
        match part["notes"][0]["more_from"].as_u64() {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(whole, content);
    let day = sod(&mut session);
    assert_eq!(
        (&day["notes"]["items"][0]["cut"], &day["notes"]["total"]),
        (&json!(true), &json!(1)),
        "{}",
        day["notes"]
    );
    assert!(day["notes"]["characters"].as_u64().unwrap() <= 12_000);
}

#[test]
fn ten_newer_notes_of_others_do_not_push_out_the_ventures_own() {
    let bench = repository("git@github.com:acme/app.git");
    let mut session = bench.serve();
    let own = sod(&mut session)["session"]["venture"].clone();
    ok(&mut session, "note", json!({ "action": "create", "title": "Own", "content": "x", "venture": own }));
    for at in 0..12 {
        ok(
            &mut session,
            "note",
            json!({ "action": "create", "title": format!("Other {at}"), "content": "x", "venture": "other" }),
        );
    }
    let day = sod(&mut session);
    assert_eq!(
        (&day["notes"]["items"][0]["title"], &day["notes"]["shown"], &day["notes"]["total"]),
        (&json!("Own"), &json!(10), &json!(13)),
        "{day:#}"
    );
}

#[test]
fn a_note_that_does_not_fit_says_what_to_do() {
    let bench = repository("git@github.com:acme/app.git");
    let mut session = bench.serve();
    let unknown = "note_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for (arguments, code, says) in [
        (json!({ "action": "create", "title": "t" }), "invalid_argument", "content"),
        (
            json!({ "action": "create", "title": "t", "content": "c", "id": unknown }),
            "invalid_argument",
            "id of its own",
        ),
        (
            json!({ "action": "create", "title": "t", "content": "c", "version": 1 }),
            "invalid_argument",
            "version",
        ),
        (json!({ "action": "update", "content": "c" }), "invalid_argument", "which note"),
        (json!({ "action": "update", "id": unknown }), "invalid_argument", "nothing is to be changed"),
        (json!({ "action": "update", "id": unknown, "content": "c" }), "not_found", unknown),
        (
            json!({ "action": "create", "title": "t", "content": "c", "tags": ["x".repeat(51)] }),
            "too_large",
            "tag",
        ),
        (json!({ "action": "create", "title": "t", "content": "x".repeat(512_001) }), "too_large", "content"),
    ] {
        let told = session.fails("note", arguments);
        assert_eq!(told["code"], code, "{told:#}");
        assert!(told["message"].as_str().unwrap().contains(says), "{says}: {told:#}");
    }
    for (arguments, code) in [
        (json!({ "id": unknown }), "not_found"),
        (json!({ "id": unknown, "q": "x" }), "invalid_argument"),
        (json!({ "from": 3 }), "invalid_argument"),
        (json!({ "q": "-only" }), "invalid_argument"),
    ] {
        assert_eq!(session.fails("notes", arguments)["code"], code);
    }
}
