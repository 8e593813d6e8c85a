//! Packages from a registry of the user's own, inside a company: through the door, by the real programs.

use std::io::{Cursor, Write as _};

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::go::toolchain;
use super::{Bench, Session};
use crate::Place;
use crate::secure::{Answer, Ask, Secure};

const MODULE: &str = "module example.com/greet\n\ngo 1.21\n";

/// A module proxy (go.dev/ref/mod#goproxy-protocol) that has one module in one version.
fn modules(ask: &Ask) -> Answer {
    let text = |text: &str| (200, "text/plain", text.as_bytes().to_vec());
    match ask.path.as_str() {
        "/go/example.com/greet/@v/list" => text("v1.0.0\n"),
        "/go/example.com/greet/@v/v1.0.0.info" => {
            text("{\"Version\":\"v1.0.0\",\"Time\":\"2026-01-02T03:04:05Z\"}")
        }
        "/go/example.com/greet/@v/v1.0.0.mod" => text(MODULE),
        "/go/example.com/greet/@v/v1.0.0.zip" => (200, "application/zip", archive()),
        _ => (404, "text/plain", b"not found".to_vec()),
    }
}

fn archive() -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [("go.mod", MODULE), ("greet.go", "package greet\n\nconst Hello = \"hello\"\n")] {
        archive.start_file(format!("example.com/greet@v1.0.0/{name}"), SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A module that needs the other one.
fn bench() -> Option<Bench> {
    let files = [
        ("go.mod", "module example.com/shop\n\ngo 1.21\n"),
        ("shop.go", "package shop\n\nimport _ \"example.com/greet\"\n"),
    ];
    Some(Bench::new(&files).with(toolchain()?).patient())
}

fn tidied(session: &mut Session) -> serde_json::Value {
    session.ok("go_mod_tidy", json!({ "timeout": 300_000 }))
}

#[test]
fn modules_come_from_the_registry_that_the_user_names_and_go_mod_is_a_plan() {
    let Some(bench) = bench() else { return };
    let place = Place::new();
    let server = Secure::serve(&place, modules);
    let registry = format!("[registries]\ngo = {{ url = \"https://{}/go\" }}\n", server.host);
    bench.place.configure(&format!("{}{registry}", server.configuration()));
    let mut session = bench.serve();
    let tidy = tidied(&mut session);
    assert_eq!(tidy["success"], true, "{tidy:#}");
    assert_eq!(tidy["runs"][0]["reached"], json!([server.host]), "{tidy:#}");
    assert_eq!(tidy["runs"][0]["refused"].as_array().map_or(0, Vec::len), 0, "{tidy:#}");
    let effects = tidy["plan"]["effects"].to_string();
    assert!(effects.contains("go.mod") && effects.contains("go.sum"), "{tidy:#}");
    assert!(server.asked().iter().any(|ask| ask.path.ends_with("v1.0.0.zip")), "{:?}", server.asked());
}

#[test]
fn a_registry_at_a_private_address_is_refused_until_the_user_says_that_it_is_one() {
    let Some(bench) = bench() else { return };
    let place = Place::new();
    let server = Secure::serve(&place, modules);
    let registry = format!("[registries]\ngo = {{ url = \"https://{}/go\" }}\n", server.host);
    bench.place.configure(&registry);
    let tidy = tidied(&mut bench.serve());
    assert_eq!(tidy["success"], false, "{tidy:#}");
    assert_eq!(tidy["runs"][0]["refused"], json!([server.host]), "{tidy:#}");
    assert!(server.asked().is_empty(), "{:?}", server.asked());
    // Its name may be reached, its certificate is of nobody whom the machine knows.
    bench.place.configure(&format!("[security]\nprivate-hosts = [\"*.localhost\"]\n{registry}"));
    let tidy = tidied(&mut bench.serve());
    assert_eq!((&tidy["success"], server.asked().is_empty()), (&json!(false), true), "{tidy:#}");
}

#[test]
fn what_is_wrong_with_a_registry_is_said_at_the_start() {
    let bench = Bench::new(&[]);
    for (text, said) in [
        ("[registries]\nnpm = { url = \"http://npm.example/\" }\n", "[registries.npm]"),
        ("[registries]\ncargo = { uri = \"https://crates.example/\" }\n", "uri"),
        ("[security]\nca-file = \"/nowhere/ca.pem\"\n", "ca-file /nowhere/ca.pem is no file"),
    ] {
        bench.place.configure(text);
        let (_, error) = bench.place.fails(&["call", "go_test"]);
        assert!(error.contains(said), "{text}: {error}");
    }
}
