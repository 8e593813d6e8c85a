//! Whether all of it works on a machine, as the machine says it itself.

use std::process::Output;

use serde_json::{Value, json};

use super::{Place, cluster};

const NAMES: [&str; 12] = [
    "configuration",
    "scratch",
    "server",
    "tools",
    "rehearsal",
    "apply",
    "day",
    "record",
    "undo",
    "confinement",
    "store",
    "machine",
];

fn selftest(place: &Place, store: Option<&str>) -> (Option<i32>, Value) {
    let mut command = place.command();
    let temporary = place.scratch.path().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    command
        .env("TMPDIR", &temporary)
        .env_remove("GATEWRIGHT_STORE_URL")
        .args(["selftest", "--output", "json"]);
    if let Some(url) = store {
        command.env("GATEWRIGHT_STORE_URL", url);
    }
    let Output { status, stdout, stderr } = command.output().unwrap();
    let report = serde_json::from_slice(&stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&stderr)));
    let left: Vec<_> =
        std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "it left {left:?}");
    (status.code(), report)
}

fn check<'r>(report: &'r Value, name: &str) -> &'r Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {report:#}"))
}

#[test]
fn a_machine_that_works_says_so_and_keeps_nothing_of_it() {
    let place = Place::new();
    let (code, report) = selftest(&place, None);
    assert_eq!((code, &report["passed"]), (Some(0), &json!(true)), "{report:#}");
    let names: Vec<&str> =
        report["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, NAMES);
    for name in NAMES.iter().take(9) {
        assert_eq!(check(&report, name)["status"], "pass", "{report:#}");
    }
    assert_eq!(check(&report, "machine")["status"], "skip", "no store of a team is configured");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    let state = place.scratch.path().join("state/gatewright");
    let id = std::fs::read_to_string(state.join("machine")).unwrap();
    assert_eq!(report["machine"]["id"], id.trim());
    assert!(!super::exists(&place.root().join("artifacts")));
    let mut kept: Vec<_> = std::fs::read_dir(state)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    kept.sort();
    assert_eq!(kept, ["machine", "store"], "its record is not the user's");
    let text = place.ok(&["selftest"]);
    assert!(text.contains("✓ undo") && text.contains("all of it works"), "{text}");
}

#[test]
fn a_configuration_that_is_not_understood_fails_it_and_the_rest_is_still_tried() {
    let place = Place::new();
    place.configure("[stroe]\nurl = 'x'\n");
    let (code, report) = selftest(&place, None);
    assert_eq!((code, &report["passed"]), (Some(1), &json!(false)), "{report:#}");
    let configuration = check(&report, "configuration");
    assert_eq!(configuration["status"], "fail");
    assert!(
        configuration["message"].as_str().unwrap().contains("did you mean `store`?"),
        "{configuration:#}"
    );
    assert!(configuration["fix"].is_string());
    assert_eq!(
        (&check(&report, "undo")["status"], &check(&report, "store")["status"]),
        (&json!("pass"), &json!("skip"))
    );
    let (code, _) = place.fails(&["selftest"]);
    assert_eq!(code, 1);
}

#[test]
fn a_store_that_does_not_answer_fails_it_and_the_server_that_is_tried_never_asks_it() {
    let place = Place::new();
    let (code, report) = selftest(&place, Some("postgres://gw:hunter2-hunter2@127.0.0.1:1/none"));
    assert_eq!((code, &check(&report, "store")["status"]), (Some(1), &json!("fail")), "{report:#}");
    assert_eq!(check(&report, "day")["status"], "pass", "its store is its own: {report:#}");
    let machine = check(&report, "machine");
    assert_eq!(machine["status"], "skip");
    assert!(machine["message"].as_str().unwrap().contains("is not registered"), "{machine:#}");
    assert!(!report.to_string().contains("hunter2"), "{report:#}");
}

#[test]
fn a_machine_registers_itself_where_a_teams_store_is_configured() {
    let Some(database) = cluster::database() else { return };
    let place = Place::new();
    for _ in 0..2 {
        let (code, report) = selftest(&place, Some(&database));
        assert_eq!((code, &check(&report, "machine")["status"]), (Some(0), &json!("pass")), "{report:#}");
    }
    let (_, report) = selftest(&place, Some(&database));
    let store = check(&report, "store")["message"].as_str().unwrap();
    assert!(store.contains("with 1 machine"), "the same machine is one: {store}");
    let other = Place::new();
    other.configure("[stroe]\n");
    let (code, report) = selftest(&other, Some(&database));
    assert_eq!((code, &check(&report, "machine")["status"]), (Some(1), &json!("skip")), "{report:#}");
    other.configure("");
    let (_, report) = selftest(&other, Some(&database));
    let store = check(&report, "store")["message"].as_str().unwrap();
    assert!(store.contains("with 1 machine"), "one on which something failed is not among them: {store}");
}
