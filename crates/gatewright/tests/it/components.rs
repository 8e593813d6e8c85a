//! Plugins in WebAssembly: a guest built from Rust, and hostile ones in the text format, through the protocol.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::bench::Bench;
use super::trust::{cli, fails, names, ok};

const MANIFEST: &str = include_str!("../../../../examples/plugins/word-count/word-count.toml");

/// The component that `cargo xtask guests` builds.
fn word_count() -> Option<Vec<u8>> {
    let top = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| top.join("target"), PathBuf::from);
    let file = target.join("plugins/word-count.wasm");
    let bytes = std::fs::read(&file).ok();
    if bytes.is_none() {
        super::skip("a plugin in WebAssembly that is built from Rust (`cargo xtask guests`)");
    }
    bytes
}

/// Puts a component and its file where the user's plugins are.
pub(crate) fn put(bench: &Bench, name: &str, manifest: &str, component: &[u8]) {
    let folder = bench.place.scratch.path().join("config/gatewright/plugins");
    std::fs::create_dir_all(&folder).unwrap();
    let digest = contract::Digest::of(component).to_string();
    let digest = digest.rsplit(':').next().unwrap();
    std::fs::write(folder.join(format!("{name}.wasm")), component).unwrap();
    std::fs::write(folder.join(format!("{name}.toml")), manifest.replace(&"0".repeat(64), digest)).unwrap();
}

/// A manifest that declares nothing but what `more` says.
pub(crate) fn manifest(name: &str, more: &str) -> String {
    format!(
        "schema = 1\n[plugin]\nname = \"{name}\"\nversion = \"0.1.0\"\ndescription = \"A guest.\"\n[component]\nfile = \"{name}.wasm\"\nsha256 = \"{}\"\n{more}\n",
        "0".repeat(64)
    )
}

/// A component without imports whose tool does what `body` says.
pub(crate) fn guest(tool: &str, body: &str) -> Vec<u8> {
    let texts = [tool, "A title", "A description.", "{\"type\": \"object\"}", "run"];
    let (mut data, mut record) = (String::new(), String::new());
    for text in texts {
        let place = u32::try_from(1024 + data.len()).unwrap();
        data.push_str(text);
        let length = u32::try_from(text.len()).unwrap();
        for byte in place.to_le_bytes().into_iter().chain(length.to_le_bytes()) {
            record.push_str(&format!("\\{byte:02x}"));
        }
    }
    let options = "(memory (core memory $guest \"memory\")) (realloc (core func $guest \"realloc\"))";
    let text = format!(
        "(component
  (type $t (record (field \"name\" string) (field \"title\" string) (field \"description\" string) (field \"input-schema\" string) (field \"kind\" string)))
  (import \"tool\" (type $tool (eq $t)))
  (core module $Guest
    (memory (export \"memory\") 1)
    (global $top (mut i32) (i32.const 16384))
    (func (export \"realloc\") (param i32 i32 i32 i32) (result i32)
      (global.get $top) (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get 3)) (i32.const 15)) (i32.const -8))))
    (data (i32.const 256) \"\\00\\02\\00\\00\\01\\00\\00\\00\") (data (i32.const 512) \"{record}\") (data (i32.const 1024) \"{}\")
    (func (export \"describe\") (result i32) (i32.const 256))
    (func (export \"configure\") (param i32 i32) (result i32) (i32.const 128))
    (func (export \"call\") (param i32 i32 i32 i32) (result i32) {body}))
  (core instance $guest (instantiate $Guest))
  (func (export \"describe\") (result (list $tool)) (canon lift (core func $guest \"describe\") {options}))
  (func (export \"configure\") (param \"config\" string) (result (result (error string))) (canon lift (core func $guest \"configure\") {options}))
  (func (export \"call\") (param \"tool\" string) (param \"arguments\" string) (result (result string (error string)))
    (canon lift (core func $guest \"call\") {options})))",
        data.replace('"', "\\\"")
    );
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The plugins that are not built in.
fn list(bench: &Bench) -> Value {
    let out = bench.command().args(["plugin", "list", "--output", "json"]).output().unwrap();
    let mut rows: Vec<Value> = serde_json::from_slice(&out.stdout).unwrap();
    rows.retain(|row| row["origin"] != "built-in");
    Value::Array(rows)
}

#[test]
fn a_component_in_rust_is_approved_reads_plans_runs_and_keeps() {
    let Some(component) = word_count() else { return };
    let bench = Bench::new(&[
        ("a.md", "one two three\n"),
        ("docs/b.md", "four five\n"),
        ("secret.key", "six\n"),
        (".env.md", "seven\n"),
        ("CHANGELOG.md", "# Changes\n"),
    ]);
    put(&bench, "word-count", MANIFEST, &component);
    let shown = fails(&bench, &["approvals", "accept", "plugin:word-count"]);
    for said in [
        "It is code (WebAssembly)",
        "It reads **/*.md",
        "It runs wc -w -- {path}",
        "word_count_report (proposes changes)",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let mut session = bench.serve();
    assert!(!names(&mut session).contains(&"word_count_count".to_owned()), "before approval");
    assert_eq!(session.fails("word_count_count", json!({ "files": "**/*" }))["code"], "approval_required");
    drop(session);
    ok(&bench, &["approvals", "accept", "plugin:word-count"]);

    let mut session = bench.serve();
    assert!(names(&mut session).contains(&"word_count_count".to_owned()));
    let counted = session.ok("word_count_count", json!({ "files": "**/*" }));
    let value = &counted["result"]["value"];
    let paths: Vec<&str> =
        value["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["CHANGELOG.md", "a.md", "docs/b.md"], "only what is declared, and no .env: {counted}");
    assert_eq!((&value["words"], &value["calls"]), (&json!(7), &json!(1)), "{counted}");
    assert_eq!(counted["result"]["log"][0]["text"], "3 files counted", "{counted}");
    assert!(counted["result"]["steps"].as_u64().unwrap() > 1_000, "{counted}");
    let again = session.ok("word_count_count", json!({ "files": "a.md" }));
    assert_eq!(again["result"]["value"]["calls"], 2, "it keeps how often: {again}");

    let compared = session.ok("word_count_compare", json!({ "files": "docs/*" }));
    assert_eq!(
        compared["result"]["value"],
        json!([{ "path": "docs/b.md", "ours": 2, "wc": 2 }]),
        "{compared}"
    );
    assert_eq!(compared["runs"][0]["exitCode"], 0, "{compared}");

    let planned = session.ok("word_count_report", json!({ "files": "a.md" }));
    let diff = planned["plan"]["diff"].as_str().unwrap();
    assert!(diff.contains("+| a.md | 3 | 1 |") && diff.contains("+- Words were counted."), "{planned}");
    assert_eq!(bench.read("WORDS.md"), None, "a rehearsal changes nothing");
    let plan = planned["plan"]["id"].as_str().unwrap().to_owned();
    session.ok("word_count_report", json!({ "files": "a.md", "apply": true, "plan": plan }));
    assert!(bench.read("WORDS.md").unwrap().contains("| a.md | 3 | 1 |"));
    let error = session.fails("word_count_count", json!({ "file": "a.md" }));
    assert_eq!(error["code"], "invalid_argument", "{error}");
    drop(session);
    ok(&bench, &["undo", "last"]);
    assert_eq!(bench.read("WORDS.md"), None);
    let said = cli(&bench, &["call", "word_count_count", "--files", "a.md"]);
    assert!(said.0 && said.1.contains("1 files counted"), "{said:?}");
}

#[test]
fn a_component_of_other_bytes_is_skipped_and_named_and_a_changed_file_is_approved_anew() {
    let component = guest(
        "answers",
        "(i32.store (i32.const 68) (local.get 2)) (i32.store (i32.const 72) (local.get 3)) (i32.const 64)",
    );
    let bench = Bench::new(&[("a.md", "a\n")]);
    put(&bench, "other", &manifest("other", ""), &component);
    fails(&bench, &["approvals", "accept", "plugin:other"]);
    ok(&bench, &["approvals", "accept", "plugin:other"]);
    let mut session = bench.serve();
    let answer = session.ok("other_answers", json!({ "a": [1, "\u{202e}b"] }));
    assert_eq!(answer["result"]["value"]["a"][0], 1, "{answer}");
    assert!(!answer.to_string().contains('\u{202e}'), "{answer}");
    drop(session);
    // More of what it may: another file, another approval.
    put(&bench, "other", &manifest("other", "reads = [\"**\"]"), &component);
    let mut session = bench.serve();
    assert_eq!(session.fails("other_answers", json!({}))["code"], "approval_required");
    drop(session);
    let file = bench.place.scratch.path().join("config/gatewright/plugins/other.wasm");
    std::fs::write(&file, guest("answers", "unreachable")).unwrap();
    let listed = list(&bench);
    assert_eq!(listed[0]["state"], "faulty", "{listed}");
    assert!(listed[0]["why"].as_str().unwrap().contains("SHA-256"), "{listed}");
}

#[test]
fn p_components_that_loop_grow_or_trap_are_ended_and_the_server_goes_on() {
    let bench = Bench::new(&[("a.md", "a\n")]);
    let grow = "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    for (name, body, more, code) in [
        ("loops", "(loop $l (br $l)) (i32.const 64)", "", "resource_exhausted"),
        ("hangs", "(loop $l (br $l)) (i32.const 64)", "fuel = 1000000000000\ntimeout = 1", "timeout"),
        ("grows", grow, "", "resource_exhausted"),
        ("traps", "unreachable", "", "tool_execution_failed"),
        (
            "lies",
            "(i32.store (i32.const 68) (i32.const 1024)) (i32.store (i32.const 72) (i32.const 3)) (i32.const 64)",
            "",
            "tool_execution_failed",
        ),
    ] {
        put(&bench, name, &manifest(name, more), &guest("work", body));
        fails(&bench, &["approvals", "accept", &format!("plugin:{name}")]);
        ok(&bench, &["approvals", "accept", &format!("plugin:{name}")]);
        let mut session = bench.serve();
        let error = session.fails(&format!("{name}_work"), json!({}));
        assert_eq!(error["code"], code, "{name}: {error}");
        let error = session.fails(&format!("{name}_work"), json!({}));
        assert_eq!(error["code"], code, "the next call finds the same: {name}: {error}");
    }
}

#[test]
fn p_a_component_that_imports_wasi_is_skipped_and_the_import_is_named() {
    let bench = Bench::new(&[("a.md", "a\n")]);
    let text = "(component (import \"wasi:cli/environment@0.2.6\" (instance (export \"initial-cwd\" (func (result (option string)))))))";
    put(&bench, "ambient", &manifest("ambient", ""), &wat::parse_str(text).unwrap());
    let listed = list(&bench);
    assert_eq!(listed[0]["state"], "faulty", "{listed}");
    assert!(listed[0]["why"].as_str().unwrap().contains("`wasi:cli/environment@0.2.6`"), "{listed}");
}
