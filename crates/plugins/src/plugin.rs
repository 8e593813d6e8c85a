//! A plugin that was understood: its names, its inputs, its templates; its examples and refusals hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::time::Duration;

use contract::{Digest, RelPath, ToolName};
use globset::Glob;
use grammar::{Grammar, Place, ProgramRefusal, program_of};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::SCHEMA;
use crate::file::{About, File, Health, Input, Kind, Parser, ToolFile};
use crate::git;
use crate::input::{self, Checked, Inputs, visible};
use crate::template::Template;

/// Largest file of a plugin.
pub const MAX_FILE: u64 = 256 * 1024;

/// Most tools of a plugin.
const MAX_TOOLS: usize = 40;

/// Names of inputs that are the engine's.
pub const RESERVED: &[&str] = &["apply", "plan", "directory", "root", "args", "timeout", "limit", "cursor"];

/// Why a plugin is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct BadPlugin {
    /// Where in the file.
    pub place: String,
    /// What is wrong.
    pub why: String,
}

pub(crate) fn bad(place: impl Into<String>, why: impl Into<String>) -> BadPlugin {
    BadPlugin { place: place.into(), why: why.into() }
}

/// A plugin.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// Its file, as it was read.
    pub file: File,
    /// Its tools, in the file's order.
    pub tools: Vec<Tool>,
    /// What is known of its program's rightness: the pattern of `health`.
    pub healthy: Option<Matches>,
    /// What is run first in a repository that its program does not know yet.
    begin: Option<Template>,
    config: Inputs,
    text: String,
    /// The file as JSON, made when somebody asks who its tools are.
    canonical: OnceLock<Value>,
    digest: Digest,
}

/// What the program of `health` says where it is the right one.
#[derive(Debug, Clone)]
pub struct Matches {
    pattern: String,
    /// Built when it is first needed.
    built: OnceLock<Option<Regex>>,
}

impl Matches {
    fn of(pattern: &str) -> Self {
        Self { pattern: pattern.to_owned(), built: OnceLock::new() }
    }

    fn build(&self) -> Result<Regex, regex::Error> {
        regex::RegexBuilder::new(&self.pattern).multi_line(true).size_limit(1 << 20).build()
    }

    /// Whether `said` has it. What is no pattern is in nothing.
    #[must_use]
    pub fn is_match(&self, said: &str) -> bool {
        let built = self.built.get_or_init(|| self.build().ok());
        built.as_ref().is_some_and(|built| built.is_match(said))
    }
}

/// One of its tools.
#[derive(Debug, Clone)]
pub struct Tool {
    /// As it stands in the file.
    pub file: ToolFile,
    /// Its whole name.
    pub name: ToolName,
    /// How what it says is read.
    pub parser: Parser,
    inputs: Inputs,
    template: Template,
}

impl Plugin {
    /// Understands a file's text. `server` is the version of gatewright.
    pub fn read(text: &str, server: &str) -> Result<Self, BadPlugin> {
        let plugin = Self::pinned(text, server)?;
        if let Some(matches) = &plugin.healthy {
            let built = matches.build();
            built.map_err(|e| bad("plugin.health", format!("`matches` is no pattern: {e}")))?;
        }
        for tool in &plugin.tools {
            tool.check_globs()?;
            tool.hold_examples(&plugin.config)?;
        }
        Ok(plugin)
    }

    /// The same of a text that is a part of the program, and was read whole by its tests: no start tries its patterns and examples
    /// again. The pattern of `health` is built when its program is asked.
    pub fn pinned(text: &str, server: &str) -> Result<Self, BadPlugin> {
        if text.len() as u64 > MAX_FILE {
            return Err(bad("file", format!("it has {} bytes, at most {MAX_FILE} are taken", text.len())));
        }
        let line_of = |error: &toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            format!("line {}", text.get(..start).unwrap_or_default().matches('\n').count() + 1)
        };
        let file: File = toml::from_str(text).map_err(|e| bad(line_of(&e), with_nearest(e.message())))?;
        if file.schema != SCHEMA {
            return Err(bad("schema", format!("it is {}, this gatewright reads {SCHEMA}", file.schema)));
        }
        check_about(&file.plugin, server, 1)?;
        let config = inputs("config", &file.config)?;
        let healthy = file.plugin.health.as_ref().map(|health| check_health(&file, health)).transpose()?;
        if file.tool.is_empty() || file.tool.len() > MAX_TOOLS {
            return Err(bad("tool", format!("1 to {MAX_TOOLS} tools are taken")));
        }
        let begin = git::begin(&file, &config)?;
        let mut names = BTreeSet::new();
        let mut tools = Vec::new();
        for tool in &file.tool {
            let tool = Tool::of(tool, &file, &config)?;
            if !names.insert(tool.name.to_string()) {
                return Err(bad(&tool.file.name, "another tool has this name"));
            }
            tools.push(tool);
        }
        let digest = Digest::of(text.as_bytes());
        let (text, canonical) = (text.to_owned(), OnceLock::new());
        Ok(Self { file, tools, healthy, begin, config, text, canonical, digest })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file.plugin.name
    }

    /// The toolset of its tools: what their names begin with.
    #[must_use]
    pub fn toolset(&self) -> String {
        self.name().replace('-', "_")
    }

    /// Holds what a user configures for it to what it declares; the answer has its defaults.
    pub fn configured(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        input::held(&self.config, given, None)
    }

    /// What is run first where the ref that `[git] begin` names is not there: that ref, and the argument list.
    pub fn begin(&self, config: &Map<String, Value>) -> Option<Result<(&str, Vec<String>), String>> {
        let unless = self.file.git.begin.as_ref()?.unless.as_str();
        let words = self.begin.as_ref()?.words(&Map::new(), config);
        Some(words.map(|words| (unless, words)))
    }

    /// The hosts that it would reach, in order.
    #[must_use]
    pub fn hosts(&self) -> BTreeSet<&str> {
        self.tools.iter().flat_map(|tool| tool.file.network.hosts.iter().map(String::as_str)).collect()
    }

    /// What an approval of `tool` is bound to: the whole file, and which programs those are.
    #[must_use]
    pub fn identity(&self, tool: &Tool, origin: &str, programs: &BTreeMap<String, Value>) -> Value {
        json!({
            "kind": "plugin",
            "schema": SCHEMA,
            "origin": origin,
            "toolName": tool.name,
            "file": self.canonical(),
            "sha256": self.digest,
            "programs": programs,
        })
    }

    fn canonical(&self) -> &Value {
        self.canonical.get_or_init(|| {
            // It was read before: what is bound is the text's digest, too.
            let table = toml::from_str::<toml::Table>(&self.text).ok();
            table.and_then(|table| serde_json::to_value(table).ok()).unwrap_or_default()
        })
    }

    /// What it may do, in words: what a person reads before the file.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let about = &self.file.plugin;
        let mut lines = vec![format!("{} {}: {}", about.name, about.version, about.description)];
        lines.push(format!("It runs {}.", about.required_commands.join(", ")));
        for tool in &self.tools {
            let writes = match tool.file.kind {
                Kind::Read => "what its program writes is thrown away".to_owned(),
                Kind::Run if tool.file.git.is_some() => git::told(&tool.file),
                Kind::Run => format!("it proposes changes of {}", tool.file.writes.paths.join(", ")),
            };
            lines.push(format!("{} runs {}: {writes}.", tool.name, tool.file.program));
            if !tool.file.writes.persists.is_empty() {
                let persists = tool.file.writes.persists.join(", ");
                lines.push(format!(
                    "{} leaves {persists} without a plan, where the project ignores them.",
                    tool.name
                ));
            }
        }
        let hosts: Vec<&str> = self.hosts().into_iter().collect();
        lines.push(match hosts.as_slice() {
            [] => "It wants no network.".to_owned(),
            hosts => format!(
                "It wants to reach {}; your [plugins.{}] network = true grants that.",
                hosts.join(", "),
                about.name
            ),
        });
        lines
    }
}

/// The nearest known key, where serde names an unknown one and the known.
pub(crate) fn with_nearest(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let Some(unknown) = names.next().filter(|_| message.starts_with("unknown field")) else {
        return message.to_owned();
    };
    let scored = names.map(|known| (strsim::jaro_winkler(unknown, known), known));
    match scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.7) {
        Some((_, close)) => format!("unknown key `{unknown}`: did you mean `{close}`?"),
        None => message.to_owned(),
    }
}

fn is_name(name: &str, most: usize, also: char) -> bool {
    let parts_hold = name
        .split(also)
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
    parts_hold && name.len() <= most && name.starts_with(|c: char| c.is_ascii_lowercase())
}

pub(crate) fn check_about(about: &About, server: &str, least: usize) -> Result<(), BadPlugin> {
    let at = |key: &str| format!("plugin.{key}");
    if !is_name(&about.name, 24, '-') {
        return Err(bad(
            at("name"),
            "a name has lower-case letters and digits, with single `-` between, 24 at most",
        ));
    }
    semver::Version::parse(&about.version)
        .map_err(|e| bad(at("version"), format!("it is no SemVer: {e}")))?;
    visible("description", &about.description, 400).map_err(|why| bad(at("description"), why))?;
    if about.homepage.as_deref().is_some_and(|page| !page.starts_with("https://")) {
        return Err(bad(at("homepage"), "it is no https URL"));
    }
    if about.tags.len() > 20 {
        return Err(bad(at("tags"), "at most 20 are taken"));
    }
    let told = about.author.iter().chain(&about.homepage).chain(&about.license).chain(&about.tags);
    for text in told {
        visible("text", text, 200).map_err(|why| bad("plugin", why))?;
    }
    if let Some(wanted) = &about.required_server_version {
        let wanted_is = semver::VersionReq::parse(wanted)
            .map_err(|e| bad(at("required-server-version"), format!("it is no range: {e}")))?;
        let server_is = semver::Version::parse(server).map_err(|e| bad("server", e.to_string()))?;
        if !wanted_is.matches(&server_is) {
            return Err(bad(
                at("required-server-version"),
                format!("it wants gatewright {wanted}, and this is {server}"),
            ));
        }
    }
    if !(least..=10).contains(&about.required_commands.len()) {
        return Err(bad(at("required-commands"), format!("{least} to 10 programs are taken")));
    }
    for program in &about.required_commands {
        check_program(program).map_err(|why| bad(at("required-commands"), why))?;
    }
    Ok(())
}

/// Fails unless `program` is a plain name that may be run at all.
fn check_program(program: &str) -> Result<(), String> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+');
    if program.is_empty()
        || program.len() > 64
        || program.starts_with(['-', '.'])
        || !program.bytes().all(is_plain)
    {
        return Err(format!("{program:?} is no plain name of a program"));
    }
    match program_of(program) {
        Err(refusal @ (ProgramRefusal::Never(..) | ProgramRefusal::Path(..))) => Err(refusal.to_string()),
        _ => Ok(()),
    }
}

fn check_health(file: &File, health: &Health) -> Result<Matches, BadPlugin> {
    if !file.plugin.required_commands.contains(&health.program) {
        return Err(bad("plugin.health", format!("{} is none of required-commands", health.program)));
    }
    if health.args.len() > 10 {
        return Err(bad("plugin.health", "at most 10 arguments are taken"));
    }
    held(&health.program, &health.args, None).map_err(|why| bad("plugin.health", why))?;
    Ok(Matches::of(&health.matches))
}

pub(crate) fn inputs(place: &str, given: &BTreeMap<String, Input>) -> Result<Inputs, BadPlugin> {
    if given.len() > 40 {
        return Err(bad(place, "at most 40 are taken"));
    }
    let mut all = Inputs::new();
    for (name, input) in given {
        let at = || format!("{place}.{name}");
        let is_word = name.len() <= 40
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_word {
            return Err(bad(at(), "a name has letters, digits and `_`, 40 at most"));
        }
        if RESERVED.contains(&name.as_str()) || (place == "config" && name == "network") {
            return Err(bad(at(), "this name is gatewright's own"));
        }
        all.insert(name.clone(), Checked::of(input).map_err(|why| bad(at(), why))?);
    }
    Ok(all)
}

/// Holds an argument list to the program's own grammar, where there is one.
pub(crate) fn held(program: &str, args: &[String], dir: Option<&RelPath>) -> Result<(), String> {
    let Some(grammar) = Grammar::of(program) else { return Ok(()) };
    let place = dir.map_or_else(Place::root, |dir| Place::at(dir.clone()));
    grammar.check(args, &place).map(drop).map_err(|refusal| refusal.to_string())
}

impl Tool {
    fn of(file: &ToolFile, plugin: &File, config: &Inputs) -> Result<Self, BadPlugin> {
        let at = |key: &str| format!("tool {}: {key}", file.name);
        if !is_name(&file.name, 40, '_') {
            return Err(bad(
                at("name"),
                "a name has lower-case letters and digits, with single `_` between, 40 at most",
            ));
        }
        let whole = format!("{}_{}", plugin.plugin.name.replace('-', "_"), file.name);
        let name = ToolName::new(&whole).map_err(|e| bad(at("name"), format!("{whole}: {e}")))?;
        visible("title", &file.title, 100).map_err(|why| bad(at("title"), why))?;
        visible("description", &file.description, 600).map_err(|why| bad(at("description"), why))?;
        if !plugin.plugin.required_commands.contains(&file.program) {
            return Err(bad(at("program"), format!("{} is none of required-commands", file.program)));
        }
        if !(1..=600).contains(&file.timeout) {
            return Err(bad(at("timeout"), "1 to 600 seconds are taken"));
        }
        for (variable, value) in &file.env {
            let is_name = variable.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            if !is_name || variable.is_empty() || grammar::variable_chooses(variable) || value.contains('\0')
            {
                return Err(bad(
                    at("env"),
                    format!("{variable:?} cannot be set: it may choose what is run or loaded"),
                ));
            }
        }
        let parser = parser(&file.output.parser).map_err(|why| bad(at("output"), why))?;
        if file.output.findings_exit.iter().any(|code| !(1..=255).contains(code)) {
            return Err(bad(at("output"), "findings-exit has codes from 1 to 255"));
        }
        git::check(file).map_err(|why| bad(at("git"), why))?;
        match (file.kind, file.writes.paths.is_empty()) {
            (Kind::Run, true) if file.git.is_none() => {
                return Err(bad(at("writes"), "a tool of the kind `run` says in `paths` what it may write"));
            }
            (Kind::Read, false) => {
                return Err(bad(at("writes"), "a tool of the kind `read` proposes nothing"));
            }
            (Kind::Read, true) if !file.writes.persists.is_empty() => {
                return Err(bad(at("writes"), "a tool of the kind `read` leaves nothing"));
            }
            _ => {}
        }
        if let Some(host) = file.network.hosts.iter().find(|host| !is_host(host)) {
            return Err(bad(at("network"), format!("{host:?} is no host's name")));
        }
        let inputs = inputs(&format!("tool {}: input", file.name), &file.input)?;
        let template = Template::of(&file.args, &inputs, config).map_err(|why| bad(at("args"), why))?;
        let used = template.uses();
        if let Some(unused) = inputs.keys().find(|name| !used.contains(&name.as_str())) {
            return Err(bad(at("input"), format!("{unused} is not used in args")));
        }
        Ok(Self { file: file.clone(), name, parser, inputs, template })
    }

    /// What it may write is said in globs of paths below the root.
    fn check_globs(&self) -> Result<(), BadPlugin> {
        let writes = &self.file.writes;
        for glob in writes.paths.iter().chain(&writes.persists) {
            let is_below = !glob.starts_with('/') && !glob.split('/').any(|part| part == "..");
            if !is_below || Glob::new(glob).is_err() {
                let place = format!("tool {}: writes", self.file.name);
                return Err(bad(place, format!("{glob:?} is no glob of paths below the root")));
            }
        }
        Ok(())
    }

    /// Its examples make the lists that they say, and its refusals are refused for the reason that they say.
    fn hold_examples(&self, config: &Inputs) -> Result<(), BadPlugin> {
        let at = |what: &str, i: usize| format!("tool {}: {what} {}", self.file.name, i + 1);
        if self.file.example.is_empty() {
            return Err(bad(format!("tool {}", self.file.name), "it has no example"));
        }
        let defaults: Map<String, Value> = config
            .iter()
            .filter_map(|(key, input)| Some((key.clone(), input.input.default.clone()?)))
            .collect();
        for (i, example) in self.file.example.iter().enumerate() {
            let argv =
                self.argv(&example.input, &defaults, None).map_err(|why| bad(at("example", i), why))?;
            if argv != example.argv {
                let why = format!("it makes {argv:?}, and says {:?}", example.argv);
                return Err(bad(at("example", i), why));
            }
        }
        for (i, refusal) in self.file.refuses.iter().enumerate() {
            match self.argv(&refusal.input, &defaults, None) {
                Ok(argv) => {
                    return Err(bad(at("refusal", i), format!("it is not refused: it makes {argv:?}")));
                }
                Err(why) if refusal.why.trim().is_empty() || !why.contains(&refusal.why) => {
                    let why = format!("it is refused for another reason than {:?}: {why}", refusal.why);
                    return Err(bad(at("refusal", i), why));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// The argument list that `given` makes, with the plugin's configuration; `dir` is where the program runs.
    pub fn argv(
        &self,
        given: &Map<String, Value>,
        config: &Map<String, Value>,
        dir: Option<&RelPath>,
    ) -> Result<Vec<String>, String> {
        let values = input::held(&self.inputs, given, dir)?;
        let words = self.template.words(&values, config)?;
        held(&self.file.program, &words, dir)?;
        Ok(words)
    }

    /// Whether a boolean input is true in `given`, or where it is not given by its default.
    #[must_use]
    pub fn is_set(&self, name: &str, given: &Map<String, Value>) -> bool {
        let value = given.get(name).or_else(|| self.file.input.get(name)?.default.as_ref());
        value == Some(&Value::Bool(true))
    }

    /// How long a run may take.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        Duration::from_secs(self.file.timeout)
    }

    /// JSON Schema of its inputs.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut properties = Map::new();
        if self.file.directory {
            let directory = json!({ "type": "string", "description": "Folder below the root to work in." });
            properties.insert("directory".to_owned(), directory);
        }
        properties.extend(self.inputs.iter().map(|(name, input)| (name.clone(), input.schema())));
        let required: Vec<&String> =
            self.inputs.iter().filter(|(_, input)| input.input.required).map(|(name, _)| name).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }
}

fn is_host(host: &str) -> bool {
    let name = host.strip_prefix("*.").unwrap_or(host);
    let (name, port) = name.split_once(':').map_or((name, None), |(name, port)| (name, Some(port)));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    host.len() <= 253 && name.split('.').all(plain) && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

fn parser(name: &str) -> Result<Parser, String> {
    Ok(match name {
        "text" => Parser::Text,
        "lines" => Parser::Lines,
        "json" => Parser::Json,
        "json-lines" => Parser::JsonLines,
        other => Parser::Report(other.parse().map_err(|e: reports::UnknownFormat| {
            format!("{e}; besides, there are text, lines, json, json-lines")
        })?),
    })
}
