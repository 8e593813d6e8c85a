//! What must hold of the front door.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests name their own crate's folder")]

use std::path::Path;
use std::sync::Arc;

use contract::{Code, FileMode, Kind, RelPath, Toolset};
use gatewright_tools_front::{FAMILY, FRONT};
use kit::call::Done;
use kit::testing::{Bench, laws};
use kit::{Answer, Change, ChangeDesk, Define, Doc, Entry, Family, House, menu};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the other tool takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to write.
    text: String,
}

/// What it answers.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// How many bytes.
    bytes: usize,
}

/// A tool of another family.
#[derive(Default)]
struct WriteNote;

impl Define for WriteNote {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "write_note";
    const TOOLSET: Toolset = Toolset("others");
    const DOC: Doc = Doc { title: "Write a note", description: "Puts a text into the file called note." };

    fn examples() -> Vec<Value> {
        vec![json!({ "text": "x" })]
    }
}

impl Change for WriteNote {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, contract::Fault> {
        let path = RelPath::new("note").unwrap();
        let bytes = input.text.len();
        desk.put(&path, input.text.into_bytes(), FileMode::Regular)?;
        Ok(Answer::new("written".into(), Output { bytes }))
    }
}

static OTHERS: Family = Family {
    name: "others",
    guide: "Notes: write_note.",
    shelves: &[],
    markers: &["*.note"],
    toolsets: &[Toolset("others")],
    tools: &[Entry::change::<WriteNote>()],
    sections: &[],
};

fn bench() -> Bench {
    Bench::new(&[&FAMILY, &OTHERS], &[("a.note", "x")])
}

/// Makes a call through the house, which unwraps.
fn call(bench: &Bench, tool: &str, arguments: Value) -> Done {
    let house = House::of(Arc::clone(&bench.engine));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(house.call(bench.request(tool, arguments)))
}

#[test]
fn the_family_keeps_the_laws() {
    laws::check(&[&FAMILY], Path::new(env!("CARGO_MANIFEST_DIR")));
}

#[test]
fn tools_are_found_by_what_they_do_with_all_it_takes_to_call_them() {
    let bench = bench();
    let reply = bench.reply("tools_search", json!({ "query": "put some text in a file" }));
    let first = &reply.output["tools"][0];
    assert_eq!((&first["name"], &first["kind"]), (&json!("write_note"), &json!("change")));
    assert_eq!(first["inputSchema"]["required"], json!(["text"]));
    assert_eq!(reply.envelope.metadata.results_count, Some(1));
    let none = bench.reply("tools_search", json!({ "query": "zebra" }));
    assert!(none.output["tools"].as_array().unwrap().is_empty() && none.envelope.message.contains("No tool"));
    assert_eq!(bench.fault("tools_search", json!({ "query": "" })).code, Code::InvalidArgument);
    let limited = bench.reply("tools_search", json!({ "query": "text", "limit": 1 }));
    assert_eq!(limited.output["tools"].as_array().unwrap().len(), 1);
}

#[test]
fn a_wrapped_call_is_the_inner_tools_own() {
    let bench = bench();
    let inner = json!({ "text": "hello", "apply": true });
    let done = call(&bench, "tool_call", json!({ "tool": "write_note", "arguments": inner }));
    assert_eq!(done.result.unwrap().output["bytes"], 5);
    assert_eq!(std::fs::read_to_string(bench.root().join("note")).unwrap(), "hello");
    let searched = json!({ "tool": "tools_search", "arguments": { "query": "note" } });
    let done = call(&bench, "tool_read", searched);
    assert_eq!(done.result.unwrap().output["tools"][0]["name"], "write_note");
    let records = bench.transcripts();
    assert_eq!(records[0].tool_name, "write_note", "one transcript, and it is the inner tool's");
    assert_eq!(records.len(), 2);
}

#[test]
fn what_is_not_unwrapped_says_why() {
    let bench = bench();
    let fault = |tool: &str, arguments: Value| call(&bench, tool, arguments).result.unwrap_err();
    let write = json!({ "tool": "write_note", "arguments": { "text": "x", "apply": true } });
    let refused = fault("tool_read", write);
    assert!(refused.code == Code::Forbidden && refused.suggestions[0].contains("tool_call"), "{refused:?}");
    assert!(!bench.root().join("note").exists());
    let unknown = fault("tool_call", json!({ "tool": "write_nte", "arguments": {} }));
    assert!(unknown.code == Code::NotFound && unknown.suggestions[0].contains("write_note"), "{unknown:?}");
    assert_eq!(
        fault("tool_call", json!({ "tool": "tool_call", "arguments": {} })).code,
        Code::InvalidArgument
    );
    assert_eq!(
        fault("tool_call", json!({ "tool": "write_note", "arguments": 1 })).code,
        Code::InvalidArgument
    );
    assert_eq!(fault("tool_call", json!({ "tool": "write_note", "more": 1 })).code, Code::InvalidArgument);
    assert_eq!(
        fault("tool_call", json!({ "tool": "write_note" })).code,
        Code::InvalidArgument,
        "its own schema"
    );
    assert_eq!(bench.transcripts().len(), 6, "each refusal is on record");
}

#[test]
fn hints_say_what_a_wrapper_may_do() {
    let bench = bench();
    let spec = |name: &str| bench.engine.registry().resolve(name).unwrap().head().clone();
    assert!(spec("tool_read").annotations.read_only_hint && spec("tool_read").kind == Kind::Read);
    let any = spec("tool_call").annotations;
    assert!(!any.read_only_hint && any.destructive_hint && any.open_world_hint);
}

#[test]
fn a_menu_has_the_front_door_first_then_what_the_project_has_and_fits() {
    let bench = bench();
    let registry = bench.engine.registry();
    let detected = menu::detected(&[&FAMILY, &OTHERS], bench.engine.root().map(|r| &**r));
    assert_eq!(detected, ["others"]);
    let listed = menu::chosen(&registry, FRONT.0, &detected);
    let names: Vec<&str> = listed.iter().map(|t| t.head().name.as_str()).collect();
    assert_eq!(names, ["tool_call", "tool_read", "tools_search", "write_note"]);
    let tokens: u64 = listed.iter().map(|t| menu::cost(t)).sum();
    assert!(tokens <= menu::MAX_TOKENS, "{tokens}");
}
