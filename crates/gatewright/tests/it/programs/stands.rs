//! What `doctor` says of upstreams, and what a program upstream reaches and is given.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::Place;
use super::super::secure::{NAME, Secure};
use super::super::wire::Wire;
use super::{Careless, approve, said, tools};

/// The check of that name.
fn doctor(place: &Place) -> Value {
    let out = place.run(&["doctor", "--json"]);
    let told: Value = serde_json::from_slice(&out.stdout).unwrap();
    told["checks"].as_array().unwrap().iter().find(|check| check["id"] == "upstreams").unwrap().clone()
}

#[test]
fn doctor_asks_upstreams_and_starts_none_that_nobody_approved() {
    let Some(it) = Careless::new("") else { return };
    let server = std::fs::read_to_string(it.script()).unwrap();
    // Whoever started this would wait for it.
    std::fs::write(it.script(), "import time\ntime.sleep(100)\n").unwrap();
    let began = Instant::now();
    let check = doctor(&it.place);
    assert_eq!(check["state"], "warn", "{check}");
    assert!(
        check["said"].as_str().unwrap().contains("docs: nothing is approved, so it was not started"),
        "{check}"
    );
    std::fs::write(it.script(), &server).unwrap();
    approve(&it.place, &["docs__echo"]);
    let check = doctor(&it.place);
    assert_eq!(check["state"], "ok", "{check}");
    assert!(check["said"].as_str().unwrap().contains("docs: 1 tool approved, answers in "), "{check}");
    // Other code is not started, though something of the upstream is approved.
    std::fs::write(it.script(), "import time\ntime.sleep(100)\n").unwrap();
    let check = doctor(&it.place);
    assert_eq!(check["state"], "warn", "{check}");
    assert!(check["said"].as_str().unwrap().contains("not what was approved: it was not started"), "{check}");
    assert!(began.elapsed() < Duration::from_mins(1), "nobody waited for it");
    std::fs::write(it.script(), &server).unwrap();
    let mut all = tools();
    all[3]["description"] = json!("Something else.");
    it.set(&json!({ "tools": all }));
    let check = doctor(&it.place);
    assert_eq!(
        (&check["state"], &check["said"]),
        (&json!("warn"), &json!("docs__echo: not as approved, or gone"))
    );
    it.set(&json!({ "die": "list" }));
    let check = doctor(&it.place);
    assert_eq!(check["state"], "fail", "{check}");
    assert!(check["said"].as_str().unwrap().contains("its program is gone"), "{check}");
    it.place.configure("[upstreams.docs]\ncommand = \"/opt/nothing/here\"\n[upstreams.wiki]\nurl = \"https://wiki.example/mcp\"");
    let check = doctor(&it.place);
    assert_eq!(check["state"], "fail", "{check}");
    let told = check["said"].as_str().unwrap();
    assert!(told.contains("docs: ") && told.contains("wiki: nothing is approved"), "{check}");
}

#[test]
fn a_program_upstream_reaches_the_hosts_that_are_named_with_a_secret_that_no_answer_repeats() {
    let Some(it) = Careless::new("") else { return };
    approve(&it.place, &["docs__probe"]);
    let server = Secure::serve(&it.place, |_| (200, "text/plain", b"reached".to_vec()));
    let elsewhere = Place::new();
    let other = Secure::serve(&elsewhere, |_| (200, "text/plain", b"reached".to_vec()));
    it.configure(&format!(
        "hosts = [\"{}\"]\nenv-from = {{ KEY = \"KEY_OF_A_TEST\" }}\n{}",
        NAME,
        server.configuration()
    ));
    let mut command = it.place.command();
    command.arg("serve").env("KEY_OF_A_TEST", "s3cr3t-of-ours");
    let mut wire = Wire::greeted(&mut command, &json!({}));
    let get = |host: &str| {
        format!(
            "urllib.request.urlopen('https://{host}/?key=' + os.environ['KEY'], timeout=9).read().decode()"
        )
    };
    assert_eq!(said(&mut wire, "docs__probe", &json!({ "what": get(&server.host) })), "reached");
    assert_eq!(server.asked()[0].path, "/?key=s3cr3t-of-ours");
    let refused =
        said(&mut wire, "docs__probe", &json!({ "what": get(&other.host.replace(NAME, "localhost")) }));
    assert!(refused.starts_with("URLError"), "{refused}");
    assert!(other.asked().is_empty());
    let told = said(&mut wire, "docs__probe", &json!({ "what": "os.environ['KEY']" }));
    assert_eq!(told, "[credential]");
    wire.finish();
    let records = it.place.ok(&["audit", "tail", "-n", "20", "--output", "json"]);
    assert!(!records.contains("s3cr3t-of-ours"), "{records}");
}
