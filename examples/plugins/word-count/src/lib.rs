//! Words of files, counted: an example of a plugin in Rust.
//!
//! It needs no standard library: `core` and `alloc` are enough, so it imports nothing but what `gatewright:plugin/host` offers.
#![no_std]

extern crate alloc;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

wit_bindgen::generate!({ path: "../../../crates/components/wit", world: "plugin" });

use gatewright::plugin::host::{self, Effect, File, Level};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// `[plugins.word-count]` of the user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    /// Words shorter than this are not counted.
    #[serde(rename = "shortest")]
    shortest: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { shortest: 1 }
    }
}

/// What every tool here takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    files: String,
}

#[derive(Serialize)]
struct Counted {
    path: String,
    words: usize,
    lines: usize,
}

#[derive(Serialize)]
struct Output {
    files: Vec<Counted>,
    words: usize,
    /// How often this was called in this root.
    calls: u64,
}

/// `wc` about one file.
#[derive(Serialize)]
struct Compared {
    path: String,
    ours: usize,
    wc: usize,
}

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": { "files": { "type": "string", "description": "Glob of the files, such as docs/**/*.md" } },
  "required": ["files"],
  "additionalProperties": false
}"#;


struct WordCount;

impl Guest for WordCount {
    fn describe() -> Vec<Tool> {
        let tool = |name: &str, title: &str, description: &str, kind: &str| Tool {
            name: name.to_string(),
            title: title.to_string(),
            description: description.to_string(),
            input_schema: SCHEMA.to_string(),
            kind: kind.to_string(),
        };
        vec![
            tool("count", "Count words", "Counts the words and lines of text files.", "read"),
            tool("compare", "Compare with wc", "Counts words, and compares with what `wc -w` says.", "read"),
            tool("report", "Report words", "Proposes WORDS.md, a table of the words of each file.", "run"),
        ]
    }

    fn configure(config: String) -> Result<(), String> {
        let config: Config = serde_json::from_str(&config).map_err(|error| error.to_string())?;
        if config.shortest > 50 {
            return Err("`shortest` is at most 50".to_string());
        }
        CONFIGURED.set(config.shortest);
        Ok(())
    }

    fn call(tool: String, arguments: String) -> Result<String, String> {
        let input: Input = serde_json::from_str(&arguments).map_err(|error| error.to_string())?;
        let files = count(&input.files)?;
        let json = match tool.as_str() {
            "count" => {
                let words = files.iter().map(|file| file.words).sum();
                let calls = 1 + host::get("calls")
                    .and_then(|bytes| String::from_utf8(bytes).ok()?.parse::<u64>().ok())
                    .unwrap_or(0);
                host::set("calls", calls.to_string().as_bytes())?;
                serde_json::to_string(&Output { files, words, calls })
            }
            "compare" => serde_json::to_string(&compare(files)?),
            "report" => {
                let mut text = String::from("# Words\n\n| file | words | lines |\n|---|---|---|\n");
                for file in &files {
                    text.push_str(&format!("| {} | {} | {} |\n", file.path, file.words, file.lines));
                }
                host::plan(&Effect::Put(("WORDS.md".to_string(), text.into_bytes())))?;
                host::plan(&Effect::Append(("CHANGELOG.md".to_string(), "- Words were counted.".to_string())))?;
                serde_json::to_string(&files)
            }
            _ => return Err(format!("there is no tool {tool}")),
        };
        json.map_err(|error| error.to_string())
    }
}

/// What `configure` left for `call`: a store lives for one call, and so does this.
static CONFIGURED: Shortest = Shortest(core::sync::atomic::AtomicUsize::new(1));

struct Shortest(core::sync::atomic::AtomicUsize);

impl Shortest {
    fn set(&self, value: usize) {
        self.0.store(value, core::sync::atomic::Ordering::Relaxed);
    }

    fn get(&self) -> usize {
        self.0.load(core::sync::atomic::Ordering::Relaxed)
    }
}

fn count(pattern: &str) -> Result<Vec<Counted>, String> {
    let mut counted = Vec::new();
    for path in host::glob(pattern)? {
        let bytes = match host::read(&path)? {
            File::Bytes(bytes) => bytes,
            File::Link(to) => {
                host::log(Level::Debug, &format!("{path} is a link to {to}"));
                continue;
            }
            File::Absent => continue,
        };
        let Ok(text) = core::str::from_utf8(&bytes) else {
            host::log(Level::Warn, &format!("{path} is no text, and not counted"));
            continue;
        };
        let words = text.split_whitespace().filter(|word| word.chars().count() >= CONFIGURED.get()).count();
        counted.push(Counted { path, words, lines: text.lines().count() });
    }
    host::log(Level::Info, &format!("{} files counted", counted.len()));
    Ok(counted)
}

fn compare(files: Vec<Counted>) -> Result<Vec<Compared>, String> {
    let mut compared = Vec::new();
    for file in files {
        let args = ["-w".to_string(), "--".to_string(), file.path.clone()];
        let ran = host::run("wc", &args)?;
        if ran.code != 0 {
            return Err(format!("wc ended with {}: {}", ran.code, String::from_utf8_lossy(&ran.stderr)));
        }
        let said = String::from_utf8_lossy(&ran.stdout);
        let wc = said.split_whitespace().next().and_then(|word| word.parse().ok());
        let wc = wc.ok_or_else(|| format!("wc said {said:?}"))?;
        compared.push(Compared { path: file.path, ours: file.words, wc });
    }
    Ok(compared)
}

export!(WordCount);
