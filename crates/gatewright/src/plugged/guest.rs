//! A plugin's tool at its desk: inputs become an argument list, the program runs as every program does, what it says is read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::text::{counted, visible};
use contract::{Code, Fault, RelPath, Truncated};
use exec::run::{Command, Ran};
use exec::workshop::Cloning;
use kit::Label;
use kit::desk::ForeignDesk;
use kit::erased::{Boxed, Tool};
use kit::limits::Limits;
use kit::{Answer, Definition, Guest, Means, RunDesk};
use plugins::{Kind, Parser, Plugin, Pushes};
use serde_json::{Map, Value, json};

use super::footing::{Footing, Of};
use super::{Origin, identities, pulls};

/// Most characters of what a program said that a result shows.
const MOST_TEXT: usize = 20_000;

/// Most lines, or values, that a result shows.
const MOST_LINES: usize = 500;

/// For how long a program that was asked whether it is the right one is believed.
const HEALTHY_FOR: Duration = Duration::from_mins(5);

/// A plugin, and how it is used here.
#[derive(Debug, Clone)]
pub struct Hosted(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    plugin: Plugin,
    origin: Origin,
    settings: Map<String, Value>,
    network: bool,
    root: Option<PathBuf>,
    /// When its program was last asked, and what was wrong.
    health: Mutex<Option<(Instant, Option<String>)>>,
}

impl Hosted {
    /// `plugin` with the user's settings, which fit.
    pub fn new(
        plugin: Plugin,
        origin: Origin,
        settings: Map<String, Value>,
        network: bool,
        root: Option<PathBuf>,
    ) -> Self {
        Self(Arc::new(Inner { plugin, origin, settings, network, root, health: Mutex::default() }))
    }

    /// The plugin.
    pub fn plugin(&self) -> &Plugin {
        &self.0.plugin
    }

    /// Its tools.
    pub fn tools(&self) -> Vec<Tool> {
        let all = 0..self.0.plugin.tools.len();
        all.map(|place| Tool::guest(Arc::new(OneTool { hosted: self.clone(), place }))).collect()
    }

    fn identity(&self, tool: &plugins::Tool) -> Value {
        let programs = identities(&self.0.plugin.file.plugin.required_commands, self.0.root.as_deref())
            .unwrap_or_default();
        self.0.plugin.identity(tool, self.0.origin.word(), &programs)
    }

    /// Fails where its program is not there; otherwise says what is wrong with it, where something is. It is asked at the first
    /// use, and again after a while.
    async fn health(&self, desk: &RunDesk) -> Result<Option<String>, Fault> {
        let inner = &self.0;
        let (Some(health), Some(matches)) = (&inner.plugin.file.plugin.health, &inner.plugin.healthy) else {
            return Ok(None);
        };
        let known = inner.health.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, wrong)) = known.filter(|(asked, _)| asked.elapsed() < HEALTHY_FOR) {
            return Ok(wrong);
        }
        let mut command = Command::new(health.program.as_str(), &[]);
        command.args.clone_from(&health.args);
        command.timeout = Duration::from_secs(20);
        let ran = desk.afresh().run(command).await?;
        let said = String::from_utf8_lossy(&ran.stdout.bytes);
        let wrong = (!ran.is_success() || !matches.is_match(&said)).then(|| {
            format!(
                "its program is not what the plugin expects: `{}` did not say {}",
                ran.line.join(" "),
                health.matches
            )
        });
        *inner.health.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), wrong.clone()));
        Ok(wrong)
    }

    async fn run(
        self,
        place: usize,
        mut arguments: Map<String, Value>,
        desk: RunDesk,
    ) -> Result<Answer<Map<String, Value>>, Fault> {
        let Some(tool) = self.0.plugin.tools.get(place) else {
            return Err(Fault::internal("a tool that the plugin does not have"));
        };
        if self.0.origin == Origin::BuiltIn {
            // Nobody asks who they are, of a plugin that needs no approval: whether they are there at all is asked here.
            let inner = Arc::clone(&self.0);
            let wanted = move || programs_of(&inner).map(drop);
            tokio::task::spawn_blocking(wanted).await.map_err(|e| Fault::internal(e.to_string()))??;
        }
        let dir = match arguments.remove("directory").as_ref().and_then(Value::as_str) {
            None | Some("" | "." | "./") => None,
            Some(named) => Some(exec::view::path_argument(named.trim_end_matches('/'))?),
        };
        if let Some(dir) = dir.as_ref().filter(|dir| !desk.view().is_folder(dir)) {
            return Err(Fault::new(Code::NotFound, format!("{dir}: there is no such folder"))
                .suggest("`directory` is relative to the root: name a folder that is there."));
        }
        let args = tool
            .argv(&arguments, &self.0.settings, dir.as_ref())
            .map_err(|why| Fault::invalid(format!("{}: {why}", tool.name)))?;
        let degraded = self.health(&desk).await?;
        let mut command = Command::new(tool.file.program.as_str(), &[]);
        command.args = args;
        command.dir.clone_from(&dir);
        command.env.clone_from(&tool.file.env);
        command.timeout = tool.timeout();
        let wants = !tool.file.network.hosts.is_empty();
        if self.0.network {
            command.hosts.clone_from(&tool.file.network.hosts);
        }
        let footing = match &tool.file.git {
            Some(git) => {
                let inner = &self.0;
                let (program, settings) = (tool.file.program.as_str(), &inner.settings);
                Some(Footing::take(Of { plugin: &inner.plugin, git, program, settings }, &desk).await?)
            }
            None => None,
        };
        let ran = desk.run(command).await?;
        let is_finding = ran.code().is_some_and(|code| tool.file.output.findings_exit.contains(&code));
        if !ran.is_success() && !is_finding {
            return Err(self.failed(&ran, wants));
        }
        let root = desk.view().root().path().display().to_string();
        let mut answer = read(tool.parser, &ran, &root, dir.as_ref())?;
        answer.success = ran.is_success();
        if let (Some(footing), Some(git)) = (footing, &tool.file.git) {
            if let Some(wish) = git.pulls.as_ref().filter(|wish| tool.is_set(&wish.when, &arguments)) {
                let drafts = wish.draft.as_ref().is_some_and(|name| tool.is_set(name, &arguments));
                pulls::propose(wish, &tool.file.program, drafts, &desk, &mut answer).await?;
            }
            footing.leave(&desk, &mut answer).await?;
        }
        if let Some(wrong) = degraded {
            answer.message.push_str(&format!("\n\nThe plugin is degraded: {wrong}."));
            answer.output.insert("degraded".to_owned(), wrong.into());
        }
        Ok(answer)
    }

    fn failed(&self, ran: &Ran, wants: bool) -> Fault {
        let said = if ran.stderr.bytes.is_empty() { &ran.stdout.bytes } else { &ran.stderr.bytes };
        let said = visible(&String::from_utf8_lossy(said));
        let (said, _) = cut(said.trim(), 2_000);
        let ended = match ran.code() {
            Some(code) => format!("failed with exit code {code}"),
            None => "was ended by a signal".to_owned(),
        };
        let fault =
            Fault::new(Code::ToolExecutionFailed, format!("`{}` {ended}: {said}", ran.line.join(" ")));
        let fault = match &ran.handle {
            Some(handle) => {
                fault.suggest(format!("`run_output {{ \"run\": \"{handle}\" }}` has all that it said."))
            }
            None => fault,
        };
        if wants && !self.0.network {
            let name = self.0.plugin.name();
            return fault.suggest(format!(
                "It ran without network: a person's [plugins.{name}] network = true grants its hosts."
            ));
        }
        fault
    }
}

/// Which programs a plugin's are now; the fault of an unhealthy one says which is missing.
fn programs_of(inner: &Inner) -> Result<BTreeMap<String, Value>, Fault> {
    identities(&inner.plugin.file.plugin.required_commands, inner.root.as_deref()).map_err(|why| {
        Fault::new(
            Code::ToolExecutionFailed,
            format!("the plugin {} is unhealthy: {why}", inner.plugin.name()),
        )
        .suggest("`gatewright plugin list` says what it needs.")
    })
}

/// The first `most` characters, and whether there are more.
fn cut(text: &str, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        None => (text.to_owned(), false),
        Some((end, _)) => (text[..end].to_owned(), true),
    }
}

/// What a program said, as the plugin says that it is to be read.
fn read(
    parser: Parser,
    ran: &Ran,
    root: &str,
    dir: Option<&RelPath>,
) -> Result<Answer<Map<String, Value>>, Fault> {
    let text = String::from_utf8_lossy(&ran.stdout.bytes);
    let ended = ran.code().map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
    let mut message = format!("`{}` ended with {ended}.", ran.line.join(" "));
    let mut output = Map::new();
    output.insert("exitCode".to_owned(), json!(ran.code()));
    let mut hidden = 0u64;
    let mut shown = 0u64;
    let unread = |why: String| {
        Fault::new(
            Code::ToolExecutionFailed,
            format!("`{}`: its output is not what the plugin says: {why}", ran.line.join(" ")),
        )
        .suggest("A person can correct `output.parser` in the plugin's file.")
    };
    match parser {
        Parser::Text => {
            let (text, is_cut) = cut(&visible(&text), MOST_TEXT);
            (shown, hidden) = (1, u64::from(is_cut));
            message.push_str(&format!("\n\n{text}"));
            output.insert("text".to_owned(), text.into());
        }
        Parser::Lines => {
            let all: Vec<String> = text.lines().map(visible).collect();
            (shown, hidden) = (all.len().min(MOST_LINES) as u64, all.len().saturating_sub(MOST_LINES) as u64);
            message.push_str(&format!(" {}.", counted(all.len(), "line")));
            output.insert("total".to_owned(), all.len().into());
            output.insert("lines".to_owned(), all.into_iter().take(MOST_LINES).collect::<Vec<_>>().into());
        }
        Parser::Json => {
            let value: Value = serde_json::from_str(&text).map_err(|e| unread(e.to_string()))?;
            output.insert("value".to_owned(), value);
        }
        Parser::JsonLines => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let all: Vec<Value> = lines
                .map(serde_json::from_str)
                .collect::<Result<_, _>>()
                .map_err(|e| unread(e.to_string()))?;
            (shown, hidden) = (all.len().min(MOST_LINES) as u64, all.len().saturating_sub(MOST_LINES) as u64);
            message.push_str(&format!(" {}.", counted(all.len(), "value")));
            output.insert("total".to_owned(), all.len().into());
            output.insert("values".to_owned(), all.into_iter().take(MOST_LINES).collect::<Vec<_>>().into());
        }
        Parser::Report(format) => {
            let context = reports::Context { root, dir: dir.map_or("", RelPath::as_str), modules: &[] };
            let mut report =
                reports::read(format, &ran.stdout.bytes, &ran.stderr.bytes, ran.code(), &context);
            let levels = report.levels;
            message.push_str(&format!(
                " {}, {}.",
                counted(levels.errors, "error"),
                counted(levels.warnings, "warning")
            ));
            message.push_str(&first(&report));
            hidden = report.left_out() + report.diagnostics.len().saturating_sub(MOST_LINES) as u64;
            report.diagnostics.truncate(MOST_LINES);
            shown = (report.diagnostics.len() + report.tests.len()) as u64;
            if let Value::Object(fields) =
                serde_json::to_value(report).map_err(|e| Fault::internal(e.to_string()))?
            {
                output.extend(fields);
            }
        }
    }
    let mut answer = Answer::new(message, output);
    if hidden > 0 {
        let handle = ran.handle.as_ref().map(ToString::to_string).unwrap_or_default();
        let next = format!("run_output {{ \"run\": \"{handle}\" }}");
        answer.truncated = Some(Truncated { shown, total: shown + hidden, next });
    }
    Ok(answer)
}

/// The first of what was found, in words.
fn first(report: &reports::Report) -> String {
    let place = |file: Option<&str>, line: Option<u32>| match (file, line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        _ => String::new(),
    };
    match report.first_failure() {
        Some(reports::Failure::Test(test)) => {
            format!("\n\nFirst: `{}`{}", visible(&test.name), place(test.file.as_deref(), test.line))
        }
        Some(reports::Failure::Diagnostic(found)) => {
            let rule = found.rule.as_deref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
            format!(
                "\n\nFirst{}{rule}: {}",
                place(found.file.as_deref(), found.line),
                visible(&found.message)
            )
        }
        None => String::new(),
    }
}

/// One tool of a plugin.
struct OneTool {
    hosted: Hosted,
    place: usize,
}

impl OneTool {
    fn tool(&self) -> &plugins::Tool {
        &self.hosted.0.plugin.tools[self.place]
    }
}

impl Guest for OneTool {
    fn definition(&self) -> Definition {
        let tool = self.tool();
        let fetches = tool.file.git.as_ref().is_some_and(|git| git.fetch);
        Definition {
            name: tool.name.clone(),
            title: tool.file.title.clone(),
            description: tool.file.description.clone(),
            toolset: self.hosted.0.plugin.toolset(),
            input_schema: tool.schema(),
            output_schema: None,
            limits: Limits::RUNS,
            identity: if self.is_ours() { Value::Null } else { self.hosted.identity(tool) },
            asks: false,
            // Its programs work over the root; those with hosts, or with what was fetched, hear from outside, and tell.
            labels: if tool.file.network.hosts.is_empty() && !fetches {
                vec![Label::Private]
            } else {
                vec![Label::Private, Label::Untrusted, Label::Egress]
            },
        }
    }

    fn means(&self) -> Means {
        let tool = self.tool();
        let file = &self.hosted.0.plugin.file;
        let mut programs = file.plugin.required_commands.clone();
        let cloning = tool.file.git.as_ref().map(|git| {
            // What goes to the branch where the plugin stands.
            programs.push("git".to_owned());
            Cloning {
                sections: file.git.sections.clone(),
                refs: git.refs.clone(),
                pushes: git.push == Pushes::Request,
                sets: file.git.settings.clone().into_iter().collect(),
            }
        });
        let reaches = tool.file.git.as_ref().is_some_and(|git| git.fetch || git.push == Pushes::Request);
        Means {
            programs,
            cloning,
            proposes: (tool.file.kind == Kind::Run).then(|| tool.file.writes.paths.clone()),
            persists: tool.file.writes.persists.clone(),
            idempotent: tool.file.idempotent,
            open_world: reaches || !tool.file.network.hosts.is_empty(),
        }
    }

    fn is_ours(&self) -> bool {
        self.hosted.0.origin == Origin::BuiltIn
    }

    fn current(&self, _: ForeignDesk) -> Boxed<Result<Value, Fault>> {
        let (hosted, place) = (self.hosted.clone(), self.place);
        Box::pin(async move {
            let now = tokio::task::spawn_blocking(move || {
                let inner = &hosted.0;
                let programs = programs_of(inner)?;
                Ok(inner.plugin.identity(&inner.plugin.tools[place], inner.origin.word(), &programs))
            });
            now.await.map_err(|e| Fault::internal(e.to_string()))?
        })
    }

    fn run(&self, arguments: Value, desk: RunDesk) -> Boxed<Result<Answer<Map<String, Value>>, Fault>> {
        let (hosted, place) = (self.hosted.clone(), self.place);
        Box::pin(async move {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            hosted.run(place, arguments, desk).await
        })
    }
}
