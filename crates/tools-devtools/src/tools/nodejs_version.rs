//! Versions of Node's programs.
//!
//! Says which versions of node, npm, yarn, pnpm and bun run here: of this machine, or installed in the project. Says until when the line
//! of Node is maintained, and which are missing.

use contract::{Fault, RelPath, Toolset};
use exec::run::{Cache, Command};
use jiff::civil::Date;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use std::time::Duration;

use crate::families::NODE;
use crate::node::{self, releases};
use crate::running::{self, ALL_CACHES};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Which program.
    #[serde(default)]
    pub tool: Which,
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

/// A program, or all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Which {
    Node,
    Npm,
    Yarn,
    Pnpm,
    Bun,
    #[default]
    All,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The programs that were asked for.
    pub tools: Vec<Tool>,
    /// Day of the schedule that ends come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_of: Option<String>,
}

/// A program.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the project has it installed itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// Why there is no version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Last day on which its line is maintained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_of_life: Option<String>,
    /// Whether that day is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
}

/// How long one may take to say its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// Most characters of why one is missing.
const MAX_WHY: usize = 300;

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsVersion;

impl Define for NodejsVersion {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_version";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_version.rs");

    const PROGRAMS: &'static [&'static str] = &["node", "npm", "yarn", "pnpm", "bun"];
    const CACHES: &'static [Cache] = ALL_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "tool": "node", "directory": "web" })]
    }
}

impl Which {
    const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["node"],
            Self::Npm => &["npm"],
            Self::Yarn => &["yarn"],
            Self::Pnpm => &["pnpm"],
            Self::Bun => &["bun"],
            Self::All => &["node", "npm", "yarn", "pnpm", "bun"],
        }
    }
}

impl Read for NodejsVersion {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let dir = running::directory(input.directory.as_deref())?;
        let mut tools = versions(&desk, dir.as_ref(), input.tool.programs()).await?;
        let today = jiff::Zoned::now().date();
        for tool in &mut tools {
            let end = tool.version.as_deref().filter(|_| tool.name == "node").and_then(releases::end_of);
            tool.end_of_life = end.map(|end| end.to_string());
            tool.ended = end.map(|end| end < today);
        }
        let lines: Vec<String> = tools.iter().map(|tool| line(tool, today)).collect();
        let schedule_of =
            tools.iter().any(|tool| tool.end_of_life.is_some()).then(|| releases::AS_OF.to_owned());
        Ok(Answer::new(lines.join("\n"), Output { tools, schedule_of }))
    }
}

fn line(tool: &Tool, today: Date) -> String {
    let Some(version) = &tool.version else { return format!("- {}: not here", tool.name) };
    let own = if tool.own { ", installed in the project" } else { "" };
    let end = match (&tool.end_of_life, tool.ended) {
        (Some(end), Some(true)) => {
            format!("; its line ended on {end} and gets no more fixes (today is {today})")
        }
        (Some(end), _) => format!("; its line is maintained until {end}"),
        _ => String::new(),
    };
    format!("- {}: {version}{own}{end}", tool.name)
}

/// What `programs` say of themselves in `dir`: those that the project has installed go before the machine's.
pub(crate) async fn versions(
    desk: &ReadDesk,
    dir: Option<&RelPath>,
    programs: &[&'static str],
) -> Result<Vec<Tool>, Fault> {
    let at = dir.cloned();
    desk.blocking(move |desk| running::is_there(desk, at.as_ref())).await?;
    let workshop = desk.workshop().await?;
    let mut tools = Vec::new();
    for program in programs {
        let (at, name) = (dir.cloned(), *program);
        let is_manager = matches!(name, "yarn" | "pnpm" | "bun");
        let own = desk
            .blocking(move |desk| running::installed(desk, name, at.as_ref()))
            .await?
            .filter(|_| is_manager);
        let mut command = Command::new(if own.is_some() { "node" } else { name }, &["--version"]);
        if let Some(script) = &own {
            command.args.insert(0, script.clone());
        }
        command.dir = dir.cloned();
        command.timeout = PATIENCE;
        node::as_it_is(&mut command);
        let mut tool = Tool { name: name.to_owned(), own: own.is_some(), ..Tool::default() };
        match desk.run_in(&workshop, command).await {
            Ok(ran) if ran.is_success() => {
                let said = ran.stdout.text();
                let version = said.lines().last().map(|line| line.trim().trim_start_matches('v').to_owned());
                tool.version = version.filter(|version| !version.is_empty());
            }
            Ok(ran) => {
                let said = ran.stderr.text();
                tool.missing = Some(said.trim().chars().take(MAX_WHY).collect());
            }
            Err(fault) => tool.missing = Some(fault.message),
        }
        tools.push(tool);
    }
    Ok(tools)
}
