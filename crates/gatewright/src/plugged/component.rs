//! Plugins that have code: a component in WebAssembly, which runs in a process of its own that is killed. Here is what is known
//! of one without running it, and its tools at their desks.
//!
//! What it offers is asked of it once for each content: in its process, with no function of the host at hand. It is kept in the
//! state folder, so that a server with approved components starts no process and compiles nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use components::{Call, Grants, Limits, limits};
use contract::text::visible;
use contract::{Code, Digest, Fault, ToolName};
use exec::{Root, StateDir};
use kit::desk::ForeignDesk;
use kit::erased::{Boxed, Tool};
use kit::{Answer, Definition, Guest, Means, RunDesk};
use plugins::{Manifest, RESERVED};
use serde_json::{Map, Value, json};

use super::{Origin, identities};
use crate::compose;
use crate::config::Config;

mod desk;
mod kept;
mod worker;

use desk::Desk;
use kept::Kept;
use worker::Workers;

/// A component, and how it is used here.
#[derive(Debug, Clone)]
pub struct Component(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    manifest: Manifest,
    origin: Origin,
    settings: Map<String, Value>,
    root: Option<PathBuf>,
    tools: Vec<components::Tool>,
    names: Vec<ToolName>,
    workers: Workers,
    kept: Kept,
}

impl Component {
    /// The component beside `file`, whose digest is the one that the manifest says.
    pub fn open(
        manifest: Manifest,
        file: &Path,
        origin: Origin,
        settings: Map<String, Value>,
        root: Option<&Root>,
        config: &Config,
    ) -> Result<Self, String> {
        let bytes = read(&manifest, file)?;
        let section = &manifest.file.component;
        let grants = Grants {
            reads: !section.reads.is_empty(),
            writes: !section.writes.is_empty(),
            programs: !section.programs.is_empty(),
            state: section.state,
        };
        let limits = Limits {
            fuel: section.fuel,
            memory: (section.memory_mb as usize) << 20,
            milliseconds: section.timeout * 1_000,
        };
        let said = |fault: Fault| fault.message;
        let state = compose::state(root).map_err(said)?;
        let kept = Kept::new(state.path().join("plugins").join(format!("{}.json", manifest.name())));
        let workers = Workers::new(state, config.security.confinement.level(), bytes, grants, limits);
        let key = json!([section.sha256, grants, limits, components::WORLD, env!("CARGO_PKG_VERSION")]);
        let tools = described(&workers, &Digest::of(&contract::canonical::of(&key)))?;
        let mut names = Vec::new();
        for tool in &tools {
            let whole = format!("{}_{}", manifest.toolset(), tool.name);
            names.push(ToolName::new(&whole).map_err(|why| format!("{whole}: {why}"))?);
            let schema = schema(tool);
            let own = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
            if let Some(taken) = own.clone().find(|key| RESERVED.contains(&key.as_str())) {
                return Err(format!("{whole}: {taken:?} is an argument of gatewright's own"));
            }
        }
        let root = root.map(|root| root.path().to_owned());
        Ok(Self(Arc::new(Inner { manifest, origin, settings, root, tools, names, workers, kept })))
    }

    /// What its file says.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// Its tools.
    pub fn tools(&self) -> Vec<Tool> {
        (0..self.0.tools.len()).map(|place| Tool::guest(Arc::new(OneTool(self.clone(), place)))).collect()
    }

    /// What it may do, in words, and what it says of its tools: models read that.
    pub fn told(&self) -> Vec<String> {
        let mut lines = self.0.manifest.told();
        for (tool, name) in self.0.tools.iter().zip(&self.0.names) {
            let does = if tool.kind == "run" { "proposes changes" } else { "only looks" };
            lines.push(format!("{name} ({does}): {}. {}", tool.title, tool.description));
        }
        lines
    }

    fn identity(&self, place: usize) -> Result<Value, String> {
        let inner = &self.0;
        let programs = identities(&inner.manifest.file.plugin.required_commands, inner.root.as_deref())?;
        Ok(self.identity_with(place, &programs))
    }

    fn identity_with(&self, place: usize, programs: &BTreeMap<String, Value>) -> Value {
        let inner = &self.0;
        let name = inner.names.get(place).map(ToString::to_string).unwrap_or_default();
        let described = serde_json::to_value(inner.tools.get(place)).unwrap_or_default();
        inner.manifest.identity(&name, inner.origin.word(), &described, programs)
    }

    /// Calls a tool. Blocking.
    fn call(
        &self,
        place: usize,
        arguments: &Value,
        desk: &Desk<'_>,
    ) -> Result<Answer<Map<String, Value>>, Fault> {
        let inner = &self.0;
        let (Some(tool), Some(name)) = (inner.tools.get(place), inner.names.get(place)) else {
            return Err(Fault::internal("a tool that the component does not have"));
        };
        let call = Call {
            tool: tool.name.clone(),
            arguments: arguments.to_string(),
            config: Value::Object(inner.settings.clone()).to_string(),
        };
        let ended = inner.workers.call(call, desk)?;
        let json = ended
            .result
            .map_err(|why| Fault::new(Code::ToolExecutionFailed, format!("{name}: {}", visible(&why))))?;
        desk.keep()?;
        let value: Value = serde_json::from_str(&json).map_err(|e| Fault::internal(e.to_string()))?;
        let mut message = format!("{}: done in {} steps.", tool.title, ended.fuel);
        for (level, text) in &ended.log {
            message.push_str(&format!("\n- {level}: {text}"));
        }
        if ended.log_cut {
            message.push_str("\n- (what it logged besides is left out)");
        }
        let log: Vec<Value> =
            ended.log.iter().map(|(level, text)| json!({ "level": level, "text": text })).collect();
        let output = [("value", cleaned(value)), ("log", log.into()), ("steps", ended.fuel.into())];
        Ok(Answer::new(message, output.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()))
    }
}

/// The component's bytes: a regular file beside its manifest, and the one that the manifest means.
fn read(manifest: &Manifest, file: &Path) -> Result<Vec<u8>, String> {
    let section = &manifest.file.component;
    let place = file.parent().unwrap_or(Path::new(".")).join(&section.file);
    let there = std::fs::symlink_metadata(&place).map_err(|e| format!("{}: {e}", section.file))?;
    if !there.is_file() {
        return Err(format!("{}: it is no regular file, and links are not followed", section.file));
    }
    if there.len() > limits::COMPONENT_BYTES as u64 {
        return Err(format!("{}: it has {} bytes, at most 8 MiB are taken", section.file, there.len()));
    }
    let bytes = std::fs::read(&place).map_err(|e| format!("{}: {e}", section.file))?;
    let digest = hex(&bytes);
    if digest != section.sha256 {
        return Err(format!(
            "{}: its SHA-256 is {digest}, and the file says {}",
            section.file, section.sha256
        ));
    }
    Ok(bytes)
}

/// A digest as `sha256sum` prints it.
fn hex(bytes: &[u8]) -> String {
    let text = Digest::of(bytes).to_string();
    text.rsplit_once(':').map_or(text.clone(), |(_, hex)| hex.to_owned())
}

/// What a component offers, from what was kept when it was last asked.
fn described(workers: &Workers, key: &Digest) -> Result<Vec<components::Tool>, String> {
    let said = |fault: Fault| fault.message;
    let folder = StateDir::base().map_err(said)?.join("components");
    let name = key.to_string().replace(':', "-");
    let file = folder.join(format!("{name}.json"));
    let known = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(tools) = known {
        return Ok(tools);
    }
    let tools = workers.describe().map_err(said)?;
    // Where it cannot be kept, it is asked again.
    if let Ok(bytes) = serde_json::to_vec(&tools) {
        let _ = kept::write(&file, &bytes);
    }
    Ok(tools)
}

fn schema(tool: &components::Tool) -> Value {
    serde_json::from_str(&tool.input_schema).unwrap_or_else(|_| json!({ "type": "object" }))
}

/// Nothing that is not seen, and nothing that turns what is.
fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(visible(&text)),
        Value::Array(items) => items.into_iter().map(cleaned).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (visible(&key), cleaned(value))).collect(),
        other => other,
    }
}

/// One tool of a component.
struct OneTool(Component, usize);

impl OneTool {
    fn inner(&self) -> &Inner {
        &self.0.0
    }
}

impl Guest for OneTool {
    fn definition(&self) -> Definition {
        let (inner, tool) = (self.inner(), &self.inner().tools[self.1]);
        let seconds = inner.manifest.file.component.timeout;
        Definition {
            name: inner.names[self.1].clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            toolset: inner.manifest.toolset(),
            input_schema: schema(tool),
            output_schema: None,
            limits: kit::limits::Limits {
                timeout: Duration::from_secs(seconds + 30),
                ..kit::limits::Limits::DEFAULT
            },
            identity: self
                .0
                .identity(self.1)
                .unwrap_or_else(|_| self.0.identity_with(self.1, &BTreeMap::new())),
            asks: false,
            // It reads the root, and reaches nobody.
            labels: vec![kit::Label::Private],
        }
    }

    fn means(&self) -> Means {
        let (inner, tool) = (self.inner(), &self.inner().tools[self.1]);
        Means {
            cloning: None,
            programs: inner.manifest.file.plugin.required_commands.clone(),
            proposes: (tool.kind == "run").then(|| inner.manifest.file.component.writes.clone()),
            persists: Vec::new(),
            idempotent: false,
            open_world: false,
        }
    }

    fn current(&self, _: ForeignDesk) -> Boxed<Result<Value, Fault>> {
        let (component, place) = (self.0.clone(), self.1);
        Box::pin(async move {
            let now = tokio::task::spawn_blocking(move || {
                component.identity(place).map_err(|why| {
                    let name = component.manifest().name();
                    Fault::new(Code::ToolExecutionFailed, format!("the plugin {name} is unhealthy: {why}"))
                        .suggest("`gatewright plugin list` says what it needs.")
                })
            });
            now.await.map_err(|e| Fault::internal(e.to_string()))?
        })
    }

    fn run(&self, arguments: Value, desk: RunDesk) -> Boxed<Result<Answer<Map<String, Value>>, Fault>> {
        let (component, place) = (self.0.clone(), self.1);
        Box::pin(async move {
            let runtime = tokio::runtime::Handle::current();
            let work = move || {
                let desk = Desk::new(&component.0.manifest, desk, runtime, &component.0.kept)?;
                component.call(place, &arguments, &desk)
            };
            tokio::task::spawn_blocking(work).await.map_err(|e| Fault::internal(e.to_string()))?
        })
    }
}
