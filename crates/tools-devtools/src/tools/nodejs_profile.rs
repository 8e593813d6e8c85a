//! Profile a script of a Node project.
//!
//! Has the package manager run a script of package.json and samples every process of Node that it starts. Returns the functions that took
//! most time, or allocated most, with file and line; the profiles are a plan. Ends a script that goes on after `duration`.

use contract::text::counted;
use contract::{Fault, RelPath, State, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::{Context, Profile, Spot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::node;
use crate::running::{self, ALL_CACHES, Asked, configured};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Script of package.json.
    #[serde(default = "start")]
    pub script: String,
    /// Seconds after which it is ended.
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = 300))]
    pub duration: u32,
    /// Sample where time goes; the default.
    #[serde(default)]
    pub cpu_profile: Option<bool>,
    /// Sample what is allocated.
    #[serde(default)]
    pub heap_profile: bool,
    /// Folder that gets the profiles.
    #[serde(default = "profiles")]
    pub output_dir: String,
}

fn start() -> String {
    "start".to_owned()
}

const fn usual() -> u32 {
    10
}

fn profiles() -> String {
    "profiles".to_owned()
}

/// Most functions in one result.
const MAX_SPOTS: usize = 20;

/// Most profiles of each kind: what `profiling.mjs` keeps.
const MAX_FILES: u32 = 20;

/// Most characters of what a script says that leaves no profile.
const MAX_SAID: usize = 600;

/// What is loaded into each process.
const LOADED: &str = include_str!("../node/profiling.mjs");

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The script that ran.
    pub script: String,
    /// Its exit code, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Where time went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// What was allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap: Option<Heap>,
    /// The profiles, one for each process.
    pub files: Vec<String>,
}

/// Where time went.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cpu {
    /// Milliseconds of all functions.
    pub total_ms: f64,
    /// Functions, the slowest first.
    pub top: Vec<Slow>,
}

/// A function and its time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Slow {
    /// Its name.
    pub function: String,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Milliseconds in itself.
    pub self_ms: f64,
    /// Share of all, in per cent.
    pub percent: f64,
}

/// What was allocated.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heap {
    /// Bytes that all functions allocated.
    pub total_bytes: f64,
    /// Functions, the largest first.
    pub top: Vec<Large>,
}

/// A function and its bytes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Large {
    /// Its name.
    pub function: String,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Bytes in itself.
    pub self_bytes: f64,
    /// Share of all, in per cent.
    pub percent: f64,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsProfile;

impl Define for NodejsProfile {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_profile";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_profile.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = node::MANAGERS;
    const CACHES: &'static [Cache] = ALL_CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "script": "build", "duration": 30, "cpuProfile": true, "heapProfile": true, "outputDir": "prof" }),
        ]
    }
}

impl Run for NodejsProfile {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        // Heap alone where it alone is asked for.
        let cpu = input.cpu_profile.unwrap_or(!input.heap_profile);
        if !cpu && !input.heap_profile {
            return Err(Fault::invalid("cpuProfile and heapProfile: nothing is left to sample")
                .suggest("Leave one of them on."));
        }
        let asked = Asked::of(&desk);
        let out = exec::view::path_argument(input.output_dir.trim_end_matches('/'))?;
        let folder = exec::view::path_argument(&asked.below(out.as_str()))?;
        let wanted = node::script(&desk, &asked, &input.script).await?;
        let mut command = configured(&desk, wanted.command).await?;
        let told = json!({ "cpu": cpu, "heap": input.heap_profile, "millis": u64::from(input.duration) * 1_000, "out": out.as_str() });
        command
            .env
            .insert("NODE_OPTIONS".into(), format!("--import data:text/javascript,{}", escaped(LOADED)));
        command.env.insert("GATEWRIGHT_PROFILE".into(), told.to_string());
        let at = folder.clone();
        let before =
            desk.blocking(move |desk| Ok(names(&at).filter(|path| is_there(desk, path)).collect())).await?;
        let ran = desk.run(command).await?;
        let (cpu, heap, files) = profiled(&desk, &folder, before).await?;
        let mut message = format!("`{}`: {}.", wanted.line, counted(files.len() as u64, "profile"));
        if files.is_empty() {
            let said = ran.stderr.text();
            let said: String = said.trim().chars().take(MAX_SAID).collect();
            message
                .push_str(" Only processes of Node 20.6 and newer are sampled, and none that a signal ends.");
            message.push_str(&if said.is_empty() { String::new() } else { format!("\n\nIt said: {said}") });
        }
        if let Some(first) = cpu.as_ref().and_then(|cpu| cpu.top.first()) {
            let place = place(first.file.as_deref(), first.line);
            message.push_str(&format!(
                "\n\nMost time: `{}`{place}, {:.0} ms in itself ({:.0} %).",
                first.function, first.self_ms, first.percent
            ));
        }
        if let Some(first) = heap.as_ref().and_then(|heap| heap.top.first()) {
            let place = place(first.file.as_deref(), first.line);
            message.push_str(&format!(
                "\n\nMost memory: `{}`{place}, {:.0} bytes in itself ({:.0} %).",
                first.function, first.self_bytes, first.percent
            ));
        }
        let (exit_code, has_any) = (ran.code(), !files.is_empty());
        let mut answer = Answer::new(message, Output { script: input.script, exit_code, cpu, heap, files });
        answer.success = ran.is_success() && has_any;
        Ok(answer)
    }
}

fn place(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        _ => String::new(),
    }
}

/// `code` as an address of the scheme `data:` has it: a variable of options is taken apart at spaces.
fn escaped(code: &str) -> String {
    let mut text = String::with_capacity(code.len() * 2);
    for byte in code.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// What profiles in `folder` are called.
fn names(folder: &RelPath) -> impl Iterator<Item = RelPath> {
    let kinds = [("cpu", "cpuprofile"), ("heap", "heapprofile")];
    let all = kinds.into_iter().flat_map(|(name, ending)| {
        (1..=MAX_FILES).filter_map(move |number| folder.join(&format!("{name}-{number}.{ending}")).ok())
    });
    all.collect::<Vec<_>>().into_iter()
}

fn is_there(desk: &kit::ReadDesk, path: &RelPath) -> bool {
    !matches!(desk.view().state(path), Ok(State::Absent))
}

/// What the run left in `folder`, read: processes of one run together.
async fn profiled(
    desk: &RunDesk,
    folder: &RelPath,
    before: Vec<RelPath>,
) -> Result<(Option<Cpu>, Option<Heap>, Vec<String>), Fault> {
    let Some(workshop) = desk.workshop().cloned() else { return Ok((None, None, Vec::new())) };
    let root = desk.view().root().path().display().to_string();
    let (folder, dir) = (folder.clone(), desk.asked().directory.clone());
    desk.blocking(move |_| {
        let dir = running::directory(dir.as_deref())?;
        let dir = dir.as_ref().map_or("", RelPath::as_str);
        let context = Context { root: &root, dir, modules: &[] };
        let (mut cpu, mut heap, mut files) = (None::<Profile>, None::<Profile>, Vec::new());
        for path in names(&folder).filter(|path| !before.contains(path)) {
            let Ok(bytes) = workshop.read(&path) else { continue };
            let is_cpu = path.as_str().ends_with(".cpuprofile");
            let read = if is_cpu {
                reports::cpu_profile(&bytes, &context)
            } else {
                reports::heap_profile(&bytes, &context)
            };
            let Some(read) = read else { continue };
            let kept = if is_cpu { &mut cpu } else { &mut heap };
            *kept = Some(match kept.take() {
                Some(others) => others.and(read),
                None => read,
            });
            files.push(path.to_string());
        }
        Ok((cpu.map(slow), heap.map(large), files))
    })
    .await
}

fn slow(profile: Profile) -> Cpu {
    let total = profile.total;
    let of = |spot: Spot| {
        let (self_ms, percent) = (rounded(spot.own), share(spot.own, total));
        Slow { function: spot.function, file: spot.file, line: spot.line, self_ms, percent }
    };
    Cpu { total_ms: rounded(total), top: profile.spots.into_iter().take(MAX_SPOTS).map(of).collect() }
}

fn large(profile: Profile) -> Heap {
    let total = profile.total;
    let of = |spot: Spot| {
        let percent = share(spot.own, total);
        Large { function: spot.function, file: spot.file, line: spot.line, self_bytes: spot.own, percent }
    };
    Heap { total_bytes: total, top: profile.spots.into_iter().take(MAX_SPOTS).map(of).collect() }
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn share(own: f64, total: f64) -> f64 {
    if total > 0.0 { rounded(own * 100.0 / total) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_loaded_is_one_word_of_the_options() {
        let text = escaped(LOADED);
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~%".contains(&byte)));
        assert_eq!(escaped("a b\n'é"), "a%20b%0A%27%C3%A9");
        // A variable may hold no more than this.
        assert!(text.len() < 64 * 1024);
    }

    #[test]
    fn shares_are_of_all() {
        let spot = |name: &str, own: f64| Spot { function: name.to_owned(), file: None, line: None, own };
        let told = slow(Profile { total: 8.0, spots: vec![spot("hot", 6.04), spot("cold", 1.96)] });
        assert!((told.top[0].percent - 75.5).abs() < 0.01 && (told.top[0].self_ms - 6.0).abs() < 0.01);
        assert!(share(1.0, 0.0).abs() < f64::EPSILON);
    }
}
