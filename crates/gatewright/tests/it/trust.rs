//! What a repository asks for that only a person may say: without effect before it is accepted, in force after, inert again
//! once it differs by anything.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bench::{Bench, Session};

/// A command of the line: whether it was a success, and what it said.
pub(crate) fn cli(bench: &Bench, args: &[&str]) -> (bool, String) {
    let out = bench.command().args(args).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    (out.status.success(), said)
}

pub(crate) fn ok(bench: &Bench, args: &[&str]) -> String {
    let (is_success, said) = cli(bench, args);
    assert!(is_success, "{args:?}: {said}");
    said
}

pub(crate) fn fails(bench: &Bench, args: &[&str]) -> String {
    let (is_success, said) = cli(bench, args);
    assert!(!is_success, "{args:?}: {said}");
    said
}

fn shown(bench: &Bench) -> Value {
    let out = bench.command().args(["config", "show"]).output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Waits until `holds`, which a running server may take a few seconds for.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_mins(1), "never: {what}");
        std::thread::sleep(Duration::from_millis(300));
    }
}

pub(crate) fn names(session: &mut Session) -> Vec<String> {
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let listed = session.0.request("tools/list", params);
        let tools = listed["result"]["tools"].as_array().unwrap();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match listed["result"]["nextCursor"].as_str() {
            Some(next) => params = json!({ "cursor": next }),
            None => return names,
        }
    }
}

const EGRESS: &str = "[egress]\nhosts = ['api.example.com']\n";

#[test]
fn a_section_is_inert_until_it_is_accepted_and_again_once_it_changes_by_a_byte() {
    let bench = Bench::new(&[("gatewright.toml", EGRESS)]);
    bench.place.configure("[egress]\nhosts = ['mine.example.com']\nallow-private = false\n");
    let before = shown(&bench);
    assert_eq!(
        (&before["egress"]["hosts"], &before["inert"]),
        (&json!(["mine.example.com"]), &json!(["egress"]))
    );

    // What was not shown is not accepted: it is shown then.
    let said = fails(&bench, &["trust", "accept", "section:egress"]);
    assert!(said.contains("api.example.com") && said.contains("was not shown to you"), "{said}");
    assert_eq!(shown(&bench)["inert"], json!(["egress"]));
    let said = ok(&bench, &["trust", "accept", "section:egress"]);
    assert!(said.contains("Trusted section:egress"), "{said}");
    let after = shown(&bench);
    assert_eq!(after["egress"]["hosts"], json!(["mine.example.com", "api.example.com"]));
    assert_eq!((&after["inert"], &after["trusted"]), (&json!([]), &json!(["egress"])));

    // The file is the user's alone, and names the root.
    let kept = bench.place.scratch.path().join("state/gatewright/trusted.json");
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);

    bench.put("gatewright.toml", &EGRESS.replace("api", "apj"));
    let changed = shown(&bench);
    assert_eq!(
        (&changed["egress"]["hosts"], &changed["inert"]),
        (&json!(["mine.example.com"]), &json!(["egress"]))
    );
    let said = ok(&bench, &["trust"]);
    assert!(said.contains("changed since you trusted it") && said.contains("apj.example.com"), "{said}");
    assert!(said.contains("became"), "the difference: {said}");
    // As it was, it is in force as it was.
    bench.put("gatewright.toml", EGRESS);
    assert_eq!(shown(&bench)["inert"], json!([]));
    ok(&bench, &["trust", "revoke", "section:egress"]);
    assert_eq!(shown(&bench)["inert"], json!(["egress"]));
    assert!(fails(&bench, &["trust", "revoke", "section:egress"]).contains("not trusted here"));
}

#[test]
fn what_is_the_users_alone_is_never_in_force() {
    let bench = Bench::new(&[(
        "gatewright.toml",
        "[security]\nconfinement = 'none'\n[store]\nurl = 'postgres://evil/x'\n",
    )]);
    let said = ok(&bench, &["trust"]);
    assert!(said.contains("yours alone"), "{said}");
    let said = fails(&bench, &["trust", "accept", "section:security"]);
    assert!(said.contains("yours alone"), "{said}");
    ok(&bench, &["trust", "accept", "--all"]);
    assert_eq!(shown(&bench)["inert"], json!(["security", "store"]));
    // Nor by a file that says so.
    let file = bench.place.scratch.path().join("state/gatewright/trusted.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &file,
        text.replace(
            "\"accepted\": {",
            "\"accepted\": { \"section:security\": { \"hash\": \"0\", \"value\": {} },",
        ),
    )
    .unwrap();
    assert_eq!(shown(&bench)["inert"], json!(["security", "store"]));
}

#[test]
fn trust_is_of_one_place_and_of_what_a_person_can_read() {
    let bench = Bench::new(&[("gatewright.toml", "[egress]\nhosts = [\"a\\u202eb.example\"]\n")]);
    let said = ok(&bench, &["trust"]);
    assert!(!said.contains('\u{202e}') && said.contains("u202e"), "{said}");
    ok(&bench, &["trust", "accept", "--all"]);
    assert_eq!(shown(&bench)["inert"], json!([]));
    // Another clone of the same repository is another place.
    let other = bench.place.scratch.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(bench.path("gatewright.toml"), other.join("gatewright.toml")).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gatewright"));
    let command = bench.place.home(&mut command).args(["config", "show", "--root", other.to_str().unwrap()]);
    let out = command.output().unwrap();
    let shown: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(shown["inert"], json!(["egress"]));
    assert!(fails(&bench, &["trust", "accept", "section:nothing"]).contains("does not ask for"));
}
