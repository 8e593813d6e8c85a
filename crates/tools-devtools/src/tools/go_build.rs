//! Build Go packages.
//!
//! Compiles packages and says what does not compile, with file, line and column. Binaries that the project ignores persist;
//! any other file is part of the plan.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::Format;
use serde::Serialize;

use crate::families::GO;
use crate::findings::{self, Findings};
use crate::go;
use crate::running::{Asked, GO_CACHES, WHATEVER_IS_IGNORED, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Package pattern.
    #[serde(default)]
    pub package: Option<String>,
    /// Where the binary goes.
    #[serde(default)]
    pub output: Option<String>,
    /// Flags for the linker.
    #[serde(default)]
    pub ldflags: Option<String>,
    /// More flags of go build.
    #[serde(default)]
    pub build_flags: Vec<String>,
    /// Target system, such as linux.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[a-z0-9]{1,20}$"))]
    pub goos: Option<String>,
    /// Target processor, such as arm64.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[a-z0-9]{1,20}$"))]
    pub goarch: Option<String>,
    /// Name the packages that are compiled.
    #[serde(default)]
    pub verbose: bool,
    /// Build in the race detector.
    #[serde(default)]
    pub race: bool,
    /// Build tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// Most packages that are named.
const MAX_PACKAGES: usize = 200;

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Packages that were compiled, when asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoBuild;

impl Define for GoBuild {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "go_build";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_build.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["go"];
    const CACHES: &'static [Cache] = GO_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "package": "./cmd/app", "output": "bin/app", "ldflags": "-s -w", "goos": "linux", "goarch": "arm64" }),
        ]
    }
}

impl Run for GoBuild {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags = vec!["build".to_owned()];
        if let Some(output) = &input.output {
            flags.extend(["-o".to_owned(), output.clone()]);
        }
        flags.extend(input.ldflags.as_ref().map(|ldflags| format!("-ldflags={ldflags}")));
        flags.extend(go::flag(input.verbose, "-v"));
        flags.extend(go::flag(input.race, "-race"));
        flags.extend(go::tags(&input.tags));
        flags.extend(input.build_flags.iter().cloned());
        let package = go::package(input.package.as_ref());
        let mut command = go::offline(asked.command("go", flags, vec![package.clone()])?);
        for (name, value) in [("GOOS", &input.goos), ("GOARCH", &input.goarch)] {
            if let Some(value) = value {
                command.env.insert(name.into(), value.clone());
            }
        }
        let (ran, report) = reported(&desk, command, Format::GoBuild).await?;
        // With `-v` it names the packages that it compiles, one a line.
        let compiled = ran.stderr.text();
        let compiled = compiled.lines().filter(|line| input.verbose && !line.contains([' ', ':', '#']));
        let packages: Vec<String> = compiled.map(str::to_owned).take(MAX_PACKAGES).collect();
        let answer = findings::answer(&format!("`go build {package}`"), &ran, report, false);
        Ok(answer.map(|findings| Output { packages, findings }))
    }
}
