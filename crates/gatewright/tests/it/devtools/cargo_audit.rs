//! Crates held against a database of advisories by the real cargo-audit.

use std::path::Path;

use serde_json::json;

use super::{Bench, Session, installed};

fn lock(crates: &[(&str, &str)]) -> String {
    let mut text = "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n".to_owned();
    for (name, version) in crates {
        text.push_str(&format!(
            "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"{}\"\n",
            "0".repeat(64)
        ));
    }
    text
}

/// An advisory as the Rust project's database has them: a page that begins with TOML.
fn advise(home: &Path, id: &str, package: &str, more: &str, title: &str) {
    let folder = home.join("advisory-db/crates").join(package);
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "```toml\n[advisory]\nid = \"{id}\"\npackage = \"{package}\"\ndate = \"2026-01-02\"\nurl = \"https://advisories.example/{id}\"\n{more}```\n\n# {title}\n\nDo not.\n"
    );
    std::fs::write(folder.join(format!("{id}.md")), text).unwrap();
}

/// A bench over a lock, whose cargo keeps its things in a home of its own.
fn bench() -> Option<Bench> {
    let programs = installed("cargo-audit", "tools/cargo-audit")?;
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let bad = lock(&[("left", "1.0.0"), ("right", "2.0.0"), ("old", "0.3.0")]);
    let good = lock(&[("left", "1.0.1"), ("right", "2.0.0")]);
    let other = "[database]\npath = \"mine\"\n";
    let bench = Bench::new(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", "\n"),
        ("Cargo.lock", &bad),
        ("good/Cargo.toml", manifest),
        ("good/Cargo.lock", &good),
        ("ignores/Cargo.lock", &bad),
        ("ignores/.cargo/audit.toml", "[advisories]\nignore = [\"RUSTSEC-2026-0001\"]\n"),
        ("other/Cargo.lock", &bad),
        ("other/.cargo/audit.toml", other),
        ("unlocked/Cargo.toml", manifest),
    ]);
    let home = bench.place.scratch.path().join("cargo");
    std::fs::create_dir_all(&home).unwrap();
    let bench = bench.with(programs).telling("CARGO_HOME", home);
    // Toolchains are found by the home of whoever serves; the one of these tests is empty.
    Some(match std::env::home_dir() {
        Some(home) => bench.telling("HOME", home),
        None => bench,
    })
}

#[test]
fn cargo_audit_names_what_is_vulnerable_and_what_nobody_maintains() {
    let Some(bench) = bench() else { return };
    let home = bench.place.scratch.path().join("cargo");
    let mut session: Session = bench.serve();

    // No database: nothing is known, and how to get one is said.
    let none = session.ok("cargo_audit", json!({}));
    assert_eq!((&none["success"], &none["data"]["state"]), (&json!(false), &json!("none")), "{none:#}");
    assert!(none["data"]["why"].as_str().unwrap().contains("cargo audit fetch"), "{none:#}");
    // One that has nothing in it says nothing, either.
    std::fs::create_dir_all(home.join("advisory-db/crates")).unwrap();
    let empty = session.ok("cargo_audit", json!({}));
    assert_eq!((&empty["success"], &empty["data"]["state"]), (&json!(false), &json!("none")), "{empty:#}");

    let patched = "aliases = [\"CVE-2026-0001\"]\n\n[versions]\npatched = [\">= 1.0.1\"]\n";
    advise(&home, "RUSTSEC-2026-0001", "left", patched, "Left is wrong");
    let unmaintained = "informational = \"unmaintained\"\n\n[versions]\npatched = []\n";
    advise(&home, "RUSTSEC-2026-0002", "old", unmaintained, "Nobody minds old");
    let found = session.ok("cargo_audit", json!({}));
    assert_eq!(
        (&found["success"], &found["data"]["state"]),
        (&json!(false), &json!("complete")),
        "{found:#}"
    );
    assert_eq!(
        found["advisories"],
        json!([{
            "package": "left", "installed": ["1.0.0"], "ids": ["RUSTSEC-2026-0001", "CVE-2026-0001"],
            "fixedIn": [">=1.0.1"], "title": "Left is wrong", "url": "https://advisories.example/RUSTSEC-2026-0001",
        }]),
        "{found:#}"
    );
    assert_eq!(
        found["warnings"],
        json!(["old 0.3.0: unmaintained (RUSTSEC-2026-0002: Nobody minds old)"]),
        "{found:#}"
    );
    assert_eq!(found["data"]["packages"], 4, "{found:#}");
    assert!(
        found["message"].as_str().unwrap().contains("1 crate is yanked, unmaintained or unsound"),
        "{found:#}"
    );

    let clean = session.ok("cargo_audit", json!({ "directory": "good" }));
    assert_eq!(
        (&clean["success"], &clean["message"]),
        (&json!(true), &json!("No known vulnerability.")),
        "{clean:#}"
    );
    assert!(clean["runs"][0]["reached"].is_null() && bench.dirt().is_empty(), "{clean:#}");

    // What the repository leaves out is said, and it does not choose what it is held against.
    let ignores = session.ok("cargo_audit", json!({ "directory": "ignores" }));
    assert_eq!(
        (&ignores["success"], &ignores["data"]["state"]),
        (&json!(false), &json!("partial")),
        "{ignores:#}"
    );
    assert_eq!(ignores["data"]["skipped"], json!(["RUSTSEC-2026-0001: ignored"]), "{ignores:#}");
    let other = session.ok("cargo_audit", json!({ "directory": "other" }));
    assert_eq!((&other["success"], &other["data"]["state"]), (&json!(false), &json!("none")), "{other:#}");
    assert!(other["message"].as_str().unwrap().contains("names another database"), "{other:#}");
    let unlocked = session.ok("cargo_audit", json!({ "directory": "unlocked" }));
    assert_eq!(
        (&unlocked["success"], &unlocked["data"]["state"]),
        (&json!(false), &json!("none")),
        "{unlocked:#}"
    );
}
