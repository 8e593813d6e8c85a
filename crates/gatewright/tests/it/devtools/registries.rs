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

/// A sparse registry of crates (cargo's reference, "Registry Index") that has one crate in one version.
fn crates(host: &str, ask: &Ask) -> Answer {
    let body = match ask.path.as_str() {
        "/index/config.json" => {
            json!({ "dl": format!("https://{host}/crates/{{crate}}-{{version}}.crate") }).to_string()
        }
        "/index/gr/ee/greet" => {
            let digest = contract::Digest::of(&packed()).to_string();
            let digest = digest.trim_start_matches("sha256:");
            json!({ "name": "greet", "vers": "1.2.0", "deps": [], "cksum": digest, "features": {}, "yanked": false }).to_string()
        }
        "/crates/greet-1.2.0.crate" => return (200, "application/x-tar", packed()),
        _ => return (404, "text/plain", b"not found".to_vec()),
    };
    (200, "application/json", body.into_bytes())
}

fn packed() -> Vec<u8> {
    let mut archive =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, text) in [
        ("Cargo.toml", "[package]\nname = \"greet\"\nversion = \"1.2.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub fn hello() -> &'static str {\n    \"hello\"\n}\n"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, format!("greet-1.2.0/{name}"), text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

fn needs(dependency: &str) -> Option<Bench> {
    if std::process::Command::new("cargo").arg("--version").output().is_err() {
        crate::skip("cargo of this machine (https://rustup.rs)");
        return None;
    }
    let manifest = format!(
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n{dependency}\n"
    );
    let bench =
        Bench::new(&[(".gitignore", "target/\n"), ("Cargo.toml", &manifest), ("src/lib.rs", "\n")]).patient();
    Some(match std::env::home_dir() {
        Some(home) => bench.telling("HOME", home),
        None => bench,
    })
}

#[test]
fn crates_come_from_the_registry_that_the_user_names_and_stay_at_hand_for_the_root() {
    let Some(bench) = needs("greet = \"1\"") else { return };
    let place = Place::new();
    let host = std::sync::Arc::new(std::sync::OnceLock::new());
    let at = std::sync::Arc::clone(&host);
    let server = Secure::serve(&place, move |ask| crates(at.get().map_or("", String::as_str), ask));
    host.set(server.host.clone()).unwrap();
    let registry = format!("[registries]\ncargo = {{ url = \"https://{}/index/\" }}\n", server.host);
    bench.place.configure(&format!("{}{registry}", server.configuration()));
    let mut session = bench.serve();
    let without = session.ok("cargo_check", json!({}));
    assert_eq!((&without["success"], &without["missing"]), (&json!(false), &json!(["greet"])), "{without:#}");
    assert!(server.asked().is_empty(), "nobody asked for it to be fetched");
    let fetched = session.ok("cargo_check", json!({ "fetch": true, "apply": true }));
    assert_eq!(fetched["success"], true, "{fetched:#}");
    assert_eq!(fetched["runs"][0]["reached"], json!([server.host]), "{fetched:#}");
    assert!(fetched["runs"][1]["reached"].is_null(), "what runs code of others has no network: {fetched:#}");
    assert!(bench.read("Cargo.lock").unwrap().contains("greet"), "{fetched:#}");
    let asked = server.asked().len();
    for tool in ["cargo_check", "cargo_build", "cargo_clippy", "cargo_test"] {
        let again = session.ok(tool, json!({}));
        assert_eq!(again["success"], true, "{tool}: {again:#}");
    }
    assert_eq!(server.asked().len(), asked, "what was fetched is at hand");
}

#[test]
fn a_crate_is_fetched_from_crates_io() {
    let Some(bench) = needs("matches = \"=0.1.10\"") else { return };
    // Registries of some machines are mirrors at addresses that are not public.
    bench.place.configure("[security]\nprivate-hosts = [\"*.crates.io\"]\n");
    let fetched = bench.serve().ok("cargo_build", json!({ "fetch": true }));
    let reached = fetched["runs"][0]["reached"].as_array().map_or(0, Vec::len);
    if reached == 0 {
        crate::skip("crates.io (a network)");
        return;
    }
    assert_eq!(fetched["success"], true, "{fetched:#}");
    assert_eq!(fetched["runs"][0]["reached"][0], "index.crates.io", "{fetched:#}");
    assert_eq!(fetched["plan"]["effects"].as_array().unwrap().len(), 1, "the lock file: {fetched:#}");
}
