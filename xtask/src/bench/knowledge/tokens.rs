//! How far the integer rule for tokens is off from real tokenizers, over texts that this machine has. What comes out is kept in a
//! file of which `gatewright gain` and the page both are made: there is no second copy of a figure.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::sh::{Done, output, step, target, top};
use crate::token_rule;

/// Most texts of each kind: of more, every so manieth by its path.
const MOST: usize = 400;

/// Bytes of a text that is taken: the rule is about answers, not about words or archives.
const SIZES: std::ops::RangeInclusive<u64> = 200..=400_000;

/// Calls whose answers are measured: a folder of this repository, a tool, its arguments.
const CALLS: [(&str, &str, &str); 34] = [
    (".", "git_status", "{}"),
    (".", "git_log", "{}"),
    (".", "git_log", r#"{"limit":100}"#),
    (".", "git_diff", r#"{"from":"HEAD~1","to":"HEAD"}"#),
    (".", "git_diff", r#"{"from":"HEAD~2","to":"HEAD"}"#),
    (".", "project_status", "{}"),
    (".", "recommend_mcp_servers", "{}"),
    (".", "code_review", "{}"),
    (".", "generate_pr_message", "{}"),
    (".", "get_knowledge_base_stats", "{}"),
    (".", "analyze_command", r#"{"command":"cargo test -p nothing"}"#),
    (
        ".",
        "analyze_result",
        r#"{"command":"make","exitCode":2,"stderr":"make: *** No rule to make target 'all'.  Stop."}"#,
    ),
    (".", "tools_search", r#"{"query":"run the tests"}"#),
    (".", "tools_search", r#"{"query":"accessibility of a page"}"#),
    (".", "tools_search", r#"{"query":"design tokens"}"#),
    (".", "sod", "{}"),
    (".", "doc_audit", "{}"),
    (".", "status", "{}"),
    (".", "preflight", "{}"),
    (".", "no_such_tool", "{}"),
    (".", "git_log", r#"{"limit":-1}"#),
    ("examples/harbor", "tokens_lint", r#"{"source":"tokens"}"#),
    ("examples/harbor", "tokens_build", r#"{"source":"tokens","platforms":["css"]}"#),
    ("examples/harbor", "tokens_build", r#"{"source":"tokens","platforms":["css","scss","js"]}"#),
    ("examples/harbor", "tokens_usage", r#"{"source":"tokens"}"#),
    ("examples/harbor", "project_status", "{}"),
    ("examples/tides", "go_project_info", "{}"),
    ("examples/tides", "go_test", "{}"),
    ("examples/tides", "go_vet", "{}"),
    ("examples/tides", "project_status", "{}"),
    ("examples/tides", "run_output", r#"{"run":"run_00000000000000000000000000000000"}"#),
    ("examples/patterns", "project_status", "{}"),
    ("examples/patterns", "doc_audit", "{}"),
    ("examples/patterns", "sod", "{}"),
];

/// What is asked of the example library.
const QUESTIONS: [&str; 12] = [
    "row level security",
    "oauth pkce",
    "retry with backoff",
    "accessible dialog",
    "rate limiting",
    "cache stampede",
    "fixtures of a database",
    "idempotency keys",
    "event sourcing",
    "input validation",
    "mcp tool schema",
    "useAuthToken",
];

/// Texts of one kind.
struct Kind {
    name: &'static str,
    what: String,
    files: Vec<PathBuf>,
}

/// Measures, prints, and keeps what came out.
pub(super) fn run(program: &Path) -> Done {
    let scratch = target().join("bench-token-rule");
    let _ = fs::remove_dir_all(&scratch);
    let kinds = kinds(program, &scratch)?;
    let counter = counter()?;
    let mut rows = Vec::new();
    for kind in &kinds {
        if kind.files.len() < 20 {
            return Err(format!("{}: only {} texts ({})", kind.name, kind.files.len(), kind.what));
        }
        rows.push(measured(kind, &counter)?);
    }
    let _ = fs::remove_dir_all(&scratch);
    let day = output("date", &["-u", "+%Y-%m-%d"])?;
    let all = json!({ "measured": day.trim(), "tokenizers": token_rule::TOKENIZERS, "kinds": rows });
    let text = serde_json::to_string_pretty(&all).map_err(|e| e.to_string())? + "\n";
    token_rule::keep(&text)?;
    println!("\n{}", token_rule::table(&all)?);
    println!("kept in {}, told in {}", token_rule::DATA, token_rule::PAGE);
    Ok(())
}

/// Builds what counts.
fn counter() -> Done<PathBuf> {
    let manifest = top().join("xtask/peers/tokens/Cargo.toml").display().to_string();
    let place = target().join("peers");
    let at = place.display().to_string();
    let args = ["build", "--locked", "--release", "--manifest-path", &manifest, "--target-dir", &at];
    step("cargo", Command::new("cargo").args(args).current_dir(top()), &args)?;
    Ok(place.join("release/gatewright-tokens"))
}

fn kinds(program: &Path, scratch: &Path) -> Done<Vec<Kind>> {
    let npm = target().join("npm");
    let of_npm = |name: &'static str, ends: &str| {
        let files = found(std::slice::from_ref(&npm), &[ends]);
        let what = format!("{} of the npm packages that the tests install", plural(name));
        Kind { name, what, files }
    };
    let own = |name: &str| top().join(name);
    let said = found(
        &[own("crates/failures/tests/fixtures"), own("crates/reports/fixtures")],
        &["txt", "json", "stderr", "xml", "tap", "sarif", "ndjson", "jsonl", "log"],
    );
    Ok(vec![
        of_npm("markdown", "md"),
        of_npm("json", "json"),
        of_npm("typescript", "ts"),
        Kind { name: "rust", what: "our own Rust".into(), files: found(&[own("crates")], &["rs"]) },
        Kind {
            name: "output",
            what: "what programs said: captured by our tests, and git and ls here".into(),
            files: [said, live(scratch)?].concat(),
        },
        results(program, scratch)?,
        menu(program, scratch)?,
    ])
}

fn plural(kind: &str) -> &'static str {
    match kind {
        "markdown" => "Markdown",
        "json" => "JSON",
        _ => "TypeScript",
    }
}

/// Files below `folders` whose names end so, at most [`MOST`] of them, spread over all.
fn found(folders: &[PathBuf], ends: &[&str]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in folders {
        walk(folder, ends, &mut all);
    }
    all.sort();
    let step = all.len().div_ceil(MOST).max(1);
    all.into_iter().step_by(step).collect()
}

fn walk(folder: &Path, ends: &[&str], all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
        if about.is_dir() {
            walk(&path, ends, all);
        } else if about.is_file() && SIZES.contains(&about.len()) {
            let fits = path.extension().and_then(|e| e.to_str()).is_some_and(|e| ends.contains(&e));
            if fits && fs::read(&path).is_ok_and(|bytes| std::str::from_utf8(&bytes).is_ok()) {
                all.push(path);
            }
        }
    }
}

/// Writes `texts` into a folder of `scratch`; those that are too short are left out.
fn written(scratch: &Path, name: &str, texts: &[String]) -> Done<Vec<PathBuf>> {
    let folder = scratch.join(name);
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let mut files = Vec::new();
    for (number, text) in texts.iter().enumerate().filter(|(_, text)| text.len() as u64 >= *SIZES.start()) {
        let file = folder.join(format!("{number:03}"));
        fs::write(&file, text).map_err(|e| e.to_string())?;
        files.push(file);
    }
    Ok(files)
}

/// What programs say here.
fn live(scratch: &Path) -> Done<Vec<PathBuf>> {
    let commands: [&[&str]; 10] = [
        &["git", "log", "-n", "100"],
        &["git", "log", "--stat", "-n", "30"],
        &["git", "log", "--oneline", "-n", "300"],
        &["git", "show", "--stat", "HEAD"],
        &["git", "show", "HEAD", "--", "docs"],
        &["git", "ls-files", "crates"],
        &["ls", "-lR", "crates/kit"],
        &["ls", "-l", "crates"],
        &["cargo", "--list"],
        &["grep", "-rn", "fn main", "crates", "--include=*.rs"],
    ];
    let said = commands.map(|words| output(words[0], &words[1..]).unwrap_or_default());
    // Agents are shown so much of a command's output at most.
    let cut = said.map(|text| text.chars().take(30_000).collect::<String>());
    written(scratch, "live", &cut)
}

/// What the program says on its standard output, whatever its exit code is.
fn told(program: &Path, scratch: &Path, root: &str, args: &[&str]) -> Done<String> {
    let out = Command::new(program)
        .args(["--root", &top().join(root).display().to_string()])
        .args(args)
        .env("XDG_STATE_HOME", scratch.join("state"))
        .env("XDG_CONFIG_HOME", scratch.join("config"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    Ok(String::from_utf8_lossy(&out.stdout).trim_end().to_owned())
}

/// Answers of ours, as they go out.
fn results(program: &Path, scratch: &Path) -> Done<Kind> {
    let config = scratch.join("config/gatewright");
    fs::create_dir_all(&config).map_err(|e| e.to_string())?;
    let library = format!(
        "[library]\nuser = {:?}\n[limits]\nenabled = false\n",
        top().join("examples/patterns").display().to_string()
    );
    fs::write(config.join("config.toml"), library).map_err(|e| e.to_string())?;
    let mut texts = Vec::new();
    let mut call = |root: &str, tool: &str, arguments: &str| {
        let args = ["call", tool, "--json", arguments, "--output", "json"];
        told(program, scratch, root, &args).map(|said| texts.push(said))
    };
    for (root, tool, arguments) in CALLS {
        call(root, tool, arguments)?;
    }
    for question in QUESTIONS {
        let asked = json!({ "query": question }).to_string();
        call(".", "find_patterns", &asked)?;
        call(".", "tools_search", &asked)?;
    }
    for category in ["database", "security", "ui", "backend", "testing", "architecture"] {
        call(".", "search_patterns", &json!({ "category": category }).to_string())?;
    }
    let what = "answers of gatewright's own tools over this repository and its examples, errors included";
    Ok(Kind { name: "results", what: what.into(), files: written(scratch, "results", &texts)? })
}

/// Tools as models are told of them.
fn menu(program: &Path, scratch: &Path) -> Done<Kind> {
    let all: Value = serde_json::from_str(&told(program, scratch, ".", &["tools", "--output", "json"])?)
        .map_err(|e| format!("gatewright tools: {e}"))?;
    let texts: Vec<String> =
        all.as_array().into_iter().flatten().map(|entry| given(&entry["tool"])).collect();
    Ok(Kind {
        name: "menu",
        what: "names, descriptions and input schemas of gatewright's own tools".into(),
        files: written(scratch, "menu", &texts)?,
    })
}

/// What models are given of a tool.
fn given(tool: &Value) -> String {
    json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] })
        .to_string()
}

/// Counts one kind's texts.
fn measured(kind: &Kind, counter: &Path) -> Done<Value> {
    let mut child = Command::new(counter)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", counter.display()))?;
    let names: Vec<String> = kind.files.iter().map(|file| file.display().to_string()).collect();
    let names = names.join("\n");
    let input = child.stdin.take();
    // Written beside reading: both pipes are short.
    let writing = std::thread::spawn(move || input.map(|mut input| input.write_all(names.as_bytes())));
    let out = child.wait_with_output().map_err(|e| e.to_string())?;
    let _ = writing.join();
    if !out.status.success() {
        return Err(format!("{}: {}", kind.name, out.status));
    }
    let said = String::from_utf8_lossy(&out.stdout);
    let rows: Vec<Vec<u64>> =
        said.lines().map(|line| line.split('\t').filter_map(|n| n.parse().ok()).collect()).collect();
    if rows.len() != kind.files.len() || rows.iter().any(|row| row.len() != 1 + token_rule::TOKENIZERS.len())
    {
        return Err(format!("{}: {} lines for {} files", kind.name, rows.len(), kind.files.len()));
    }
    Ok(token_rule::row(kind.name, &kind.what, &rows))
}
