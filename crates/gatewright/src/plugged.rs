//! `[plugins]` and plugins' files: what is found, why what is not offered is not, and what keeps that up to date.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use contract::text::spelled_out;
use contract::{Code, Digest, Fault, Head};
use exec::Root;
use kit::Registry;
use kit::erased::Tool;
use kit::lock::Lock;
use plugins::{MAX_FILE, Manifest, Plugin};
use rustix::fs::{Mode, OFlags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::config::{self, Config};
use crate::trusted::{self, Item, Standing};

mod built_in;
#[cfg(feature = "wasm")]
mod component;
mod footing;
mod guest;
mod programs;
mod pulls;

pub use guest::Hosted;
pub use programs::identities;

/// `[plugins]`: the user's alone. Which plugins are enabled, and in `[plugins.NAME]` what the plugin declares, and `network`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct PluginsSection {
    /// Plugins that are enabled although they say that they are not.
    pub enabled: Vec<String>,
    /// Plugins that are not.
    pub disabled: Vec<String>,
    /// What each is told, by its name: the keys that it declares, and `network`, which grants it the hosts that it wants.
    #[serde(flatten)]
    pub of: BTreeMap<String, Map<String, Value>>,
}

/// Most files of one folder that are looked at.
const MOST: usize = 100;

/// Where a plugin comes from, in the order in which they go before each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A part of this program: approved as our own tools are, since it cannot change by itself.
    BuiltIn,
    /// The user's own folder.
    User,
    /// The project's, which is inert until a person trusts it.
    Project,
}

impl Origin {
    /// The word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A plugin that can be used.
#[derive(Debug, Clone)]
pub enum Hosting {
    /// Its file says all of it.
    Declared(Hosted),
    /// The same of one of ours that cannot be used here.
    Unread(built_in::Unread),
    /// It has code.
    #[cfg(feature = "wasm")]
    Component(component::Component),
}

impl Hosting {
    /// The toolset of its tools: what their names begin with.
    pub fn toolset(&self) -> String {
        match self {
            Self::Declared(hosted) => hosted.plugin().toolset(),
            Self::Unread(unread) => unread.toolset(),
            #[cfg(feature = "wasm")]
            Self::Component(component) => component.manifest().toolset(),
        }
    }

    /// Its tools.
    pub fn tools(&self) -> Vec<Tool> {
        match self {
            Self::Declared(hosted) => hosted.tools(),
            Self::Unread(unread) => unread.hosted().map(Hosted::tools).unwrap_or_default(),
            #[cfg(feature = "wasm")]
            Self::Component(component) => component.tools(),
        }
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.tools().iter().map(|tool| tool.head().name.to_string()).collect()
    }

    /// What it may do, in words.
    pub fn told(&self) -> Vec<String> {
        match self {
            Self::Declared(hosted) => hosted.plugin().told(),
            Self::Unread(unread) => unread.hosted().map(|hosted| hosted.plugin().told()).unwrap_or_default(),
            #[cfg(feature = "wasm")]
            Self::Component(component) => component.told(),
        }
    }
}

/// What a file became.
#[derive(Debug, Clone)]
pub enum State {
    /// It is offered, once it is approved.
    Ready(Hosting),
    /// A program is missing: its tools are on no list, and say why.
    Unhealthy(Hosting, String),
    /// It is switched off.
    Disabled(&'static str),
    /// It is the project's, and nobody trusts it as it is.
    Inert(Vec<String>),
    /// Another of its name goes before it.
    Shadowed(Origin),
    /// It cannot be used.
    Faulty(String),
}

/// A plugin's file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The plugin's name, or the file's where it cannot be read.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The file.
    pub file: PathBuf,
    /// What it became.
    pub state: State,
    /// Its text, as it was read.
    pub text: String,
}

impl Found {
    /// The plugin, where it can be used.
    pub const fn hosted(&self) -> Option<&Hosting> {
        match &self.state {
            State::Ready(hosted) | State::Unhealthy(hosted, _) => Some(hosted),
            _ => None,
        }
    }
}

/// The folder of the user's plugins.
pub fn user_folder() -> Option<PathBuf> {
    config::user_path().and_then(|file| Some(file.parent()?.join("plugins")))
}

/// The folder of a project's.
pub fn project_folder(root: &Path) -> PathBuf {
    root.join(".gatewright/plugins")
}

/// The files of a folder, by name; each its text, or why it has none. A link is not followed.
fn files(folder: &Path) -> Vec<(PathBuf, Result<String, String>)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let named = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(named).collect();
    all.sort();
    all.truncate(MOST);
    all.into_iter().map(|path| (read(&path), path)).map(|(text, path)| (path, text)).collect()
}

/// A file's text. It is opened as it is looked at: nobody puts a link or a FIFO in its place in between.
fn read(path: &Path) -> Result<String, String> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags | OFlags::RDONLY, Mode::empty()).map_err(|error| {
        if error == rustix::io::Errno::LOOP {
            "it is a link, and links are not followed".to_owned()
        } else {
            error.to_string()
        }
    })?;
    let file = std::fs::File::from(file);
    if !file.metadata().is_ok_and(|there| there.is_file()) {
        return Err("it is no regular file".to_owned());
    }
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_FILE {
        return Err(format!("it has more than {MAX_FILE} bytes"));
    }
    Ok(text)
}

/// The same of a project: a folder that is a link is none of the project's.
fn files_of_project(root: &Path) -> Vec<(PathBuf, Result<String, String>)> {
    let is_folder = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|there| there.is_dir());
    let folder = project_folder(root);
    if !is_folder(&root.join(".gatewright")) || !is_folder(&folder) {
        return Vec::new();
    }
    files(&folder)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// What a project's plugin is, for whoever is to trust it.
fn item(path: &Path, text: &str) -> Item {
    let table = toml::from_str::<toml::Table>(text).ok().and_then(|table| serde_json::to_value(table).ok());
    let value = json!({ "sha256": Digest::of(text.as_bytes()), "file": table });
    Item { kind: "plugin", name: stem(path), value }
}

/// The plugins that a project asks for, with their texts.
pub fn asked_for(root: &Path) -> Vec<(Item, String)> {
    let read = files_of_project(root).into_iter();
    read.filter_map(|(path, text)| Some((item(&path, text.as_ref().ok()?), text.ok()?))).collect()
}

/// Looks at every plugin: those of this program, the user's, then the project's. What does not read is there as such.
pub fn discover(root: Option<&Root>, config: &Config) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for built_in in &built_in::ALL {
        let file = PathBuf::from(format!("{}.toml", built_in.name));
        let (name, state) = of_built_in(built_in, root, config).unwrap_or_else(|| {
            of_file(&file, built_in.text, Origin::BuiltIn, Standing::Trusted, root, config, &found)
        });
        found.push(Found { name, origin: Origin::BuiltIn, file, state, text: built_in.text.to_owned() });
    }
    let of_user = user_folder().map(|folder| files(&folder)).unwrap_or_default();
    let of_project = root.map(|root| files_of_project(root.path())).unwrap_or_default();
    let known = root.filter(|_| !of_project.is_empty()).map(|root| trusted::of(root.path()));
    let all = of_user.into_iter().map(|file| (Origin::User, file));
    let all = all.chain(of_project.into_iter().map(|file| (Origin::Project, file)));
    for (origin, (file, text)) in all {
        let (name, state, text) = match text {
            Err(why) => (stem(&file), State::Faulty(why), String::new()),
            Ok(text) => {
                let standing = match (&known, origin) {
                    (Some(known), Origin::Project) => known.standing(&item(&file, &text)),
                    _ => Standing::Trusted,
                };
                let (name, state) = of_file(&file, &text, origin, standing, root, config, &found);
                (name, state, text)
            }
        };
        found.push(Found { name, origin, file, state, text });
    }
    found
}

/// What one of ours became whose program is missing, where the user says nothing of it: every start would read the text otherwise to
/// offer nothing of it.
fn of_built_in(
    built_in: &'static built_in::BuiltIn,
    root: Option<&Root>,
    config: &Config,
) -> Option<(String, State)> {
    let section = &config.plugins;
    if section.of.contains_key(built_in.name) || section.disabled.iter().any(|name| name == built_in.name) {
        return None;
    }
    let missing = programs::missing(built_in.programs, root.map(Root::path))?;
    let unread = Hosting::Unread(built_in::Unread::new(built_in, root));
    Some((built_in.name.to_owned(), State::Unhealthy(unread, missing)))
}

fn of_file(
    file: &Path,
    text: &str,
    origin: Origin,
    standing: Standing,
    root: Option<&Root>,
    config: &Config,
    before: &[Found],
) -> (String, State) {
    match standing {
        Standing::Trusted => {}
        Standing::Inert => return (stem(file), State::Inert(Vec::new())),
        Standing::Changed(how) => return (stem(file), State::Inert(how)),
    }
    if Manifest::is_one(text) {
        return of_component(file, text, origin, root, config, before);
    }
    let read = if origin == Origin::BuiltIn { Plugin::pinned } else { Plugin::read };
    let plugin = match read(text, env!("CARGO_PKG_VERSION")) {
        Ok(plugin) => plugin,
        Err(bad) => return (stem(file), State::Faulty(bad.to_string())),
    };
    let name = plugin.name().to_owned();
    if let Some(state) = left_out(&name, plugin.file.plugin.default_enabled, config, before) {
        return (name, state);
    }
    let section = &config.plugins;
    let mut given = section.of.get(&name).cloned().unwrap_or_default();
    let network = match given.remove("network") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(_) => {
            return (
                name.clone(),
                State::Faulty(format!("[plugins.{name}] network: it is neither true nor false")),
            );
        }
    };
    let settings = match plugin.configured(&given) {
        Ok(settings) => settings,
        Err(why) => return (name.clone(), State::Faulty(format!("[plugins.{name}] {why}"))),
    };
    let programs = identities(&plugin.file.plugin.required_commands, root.map(Root::path));
    let hosted = Hosted::new(plugin, origin, settings, network, root.map(|root| root.path().to_owned()));
    let hosted = Hosting::Declared(hosted);
    match programs {
        Ok(_) => (name, State::Ready(hosted)),
        Err(why) => (name, State::Unhealthy(hosted, why)),
    }
}

/// Why a plugin that reads well is not used: another goes before it, or it is switched off.
fn left_out(name: &str, is_enabled: bool, config: &Config, before: &[Found]) -> Option<State> {
    let is_same = |found: &&Found| found.name == name && found.hosted().is_some();
    let section = &config.plugins;
    let names = |all: &[String]| all.iter().any(|other| other == name);
    if let Some(other) = before.iter().find(is_same) {
        return Some(State::Shadowed(other.origin));
    }
    if names(&section.disabled) {
        return Some(State::Disabled("[plugins] disabled names it"));
    }
    if !is_enabled && !names(&section.enabled) {
        return Some(State::Disabled("it is enabled only where [plugins] enabled names it"));
    }
    None
}

/// What a component's file became. What it offers is asked of its code, once for these bytes: see [`component`].
#[cfg(feature = "wasm")]
fn of_component(
    file: &Path,
    text: &str,
    origin: Origin,
    root: Option<&Root>,
    config: &Config,
    before: &[Found],
) -> (String, State) {
    let manifest = match Manifest::read(text, env!("CARGO_PKG_VERSION")) {
        Ok(manifest) => manifest,
        Err(bad) => return (stem(file), State::Faulty(bad.to_string())),
    };
    let name = manifest.name().to_owned();
    if let Some(state) = left_out(&name, manifest.file.plugin.default_enabled, config, before) {
        return (name, state);
    }
    let given = config.plugins.of.get(&name).cloned().unwrap_or_default();
    let settings = match manifest.configured(&given) {
        Ok(settings) => settings,
        Err(why) => return (name.clone(), State::Faulty(format!("[plugins.{name}] {why}"))),
    };
    let programs = identities(&manifest.file.plugin.required_commands, root.map(Root::path));
    let hosted = match component::Component::open(manifest, file, origin, settings, root, config) {
        Ok(component) => Hosting::Component(component),
        Err(why) => return (name, State::Faulty(why)),
    };
    match programs {
        Ok(_) => (name, State::Ready(hosted)),
        Err(why) => (name, State::Unhealthy(hosted, why)),
    }
}

#[cfg(not(feature = "wasm"))]
fn of_component(
    file: &Path,
    _: &str,
    _: Origin,
    _: Option<&Root>,
    _: &Config,
    _: &[Found],
) -> (String, State) {
    without_webassembly(file)
}

/// What a component is to a gatewright that cannot run it.
#[cfg(any(test, not(feature = "wasm")))]
fn without_webassembly(file: &Path) -> (String, State) {
    let why = "it is a component, and this gatewright is built without WebAssembly (build it with `--features wasm`)";
    (stem(file), State::Faulty(why.to_owned()))
}

/// Adds the tools of `found` to `registry`, as far as `wanted` says yes, and gives the names of those that are on no list:
/// what nobody has approved is read by nobody, and what cannot work is not offered.
pub fn add(
    registry: &mut Registry,
    found: &[Found],
    taken: &[&str],
    approved: &Lock,
    wanted: impl Fn(&Head) -> bool,
) -> Vec<String> {
    let mut held_back = Vec::new();
    for plugin in found {
        let Some(hosted) = plugin.hosted() else { continue };
        let toolset = hosted.toolset();
        if taken.contains(&toolset.as_str()) || registry.has_toolset(&toolset) {
            tracing::warn!("the plugin {} is refused: {toolset} is a toolset that is there", plugin.name);
            continue;
        }
        if let Hosting::Unread(unread) = hosted {
            if unread.are_wanted(&wanted) {
                let unread = unread.clone();
                let tools = move || {
                    unread.hosted().map(Hosted::tools).unwrap_or_default().into_iter().map(Arc::new).collect()
                };
                registry.add_late(toolset, tools);
            }
            continue;
        }
        let tools = hosted.tools();
        if let Some(twice) = tools.iter().find(|tool| registry.resolve(tool.head().name.as_str()).is_some()) {
            tracing::warn!(
                "the plugin {} is refused: there is a tool {} already",
                plugin.name,
                twice.head().name
            );
            continue;
        }
        let is_healthy = matches!(plugin.state, State::Ready(_));
        for tool in tools.into_iter().filter(|tool| wanted(tool.head())) {
            let name = tool.head().name.to_string();
            let is_built_in = plugin.origin == Origin::BuiltIn;
            let is_approved = is_built_in
                || approved.definition(&name).is_some() && approved.definition(&name) == tool.identity();
            let tool = Arc::new(tool);
            let added = if is_built_in { registry.add_built_in(tool) } else { registry.add(tool) };
            if let Err(error) = added {
                tracing::warn!("a tool of a plugin is not offered: {}", spelled_out(&error.to_string()));
                continue;
            }
            if !is_approved || !is_healthy {
                held_back.push(name);
            }
        }
    }
    held_back
}

/// Names in `[plugins]` that no plugin has.
pub fn unknown<'a>(found: &[Found], section: &'a PluginsSection) -> Vec<&'a str> {
    let named = section.enabled.iter().chain(&section.disabled).chain(section.of.keys());
    let mut unknown: Vec<&str> =
        named.map(String::as_str).filter(|name| !found.iter().any(|plugin| plugin.name == *name)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    unknown
}

/// Says what is not offered, and why.
pub fn warn(found: &[Found], section: &PluginsSection) {
    for name in unknown(found, section) {
        let known: Vec<&str> = found.iter().map(|plugin| plugin.name.as_str()).collect();
        let close = if known.is_empty() { String::new() } else { config::suggestion(name, &known) };
        tracing::warn!(
            "[plugins] names {}, and there is no such plugin{}",
            spelled_out(name),
            spelled_out(&close)
        );
    }
    for plugin in found {
        let why = match &plugin.state {
            State::Ready(_) | State::Disabled(_) => continue,
            // Nobody asked for it: `plugin list` and the tools themselves say what it needs.
            State::Unhealthy(..) if plugin.origin == Origin::BuiltIn => continue,
            State::Unhealthy(_, why) => format!("is not offered: {why}"),
            State::Inert(how) if how.is_empty() => {
                "is the repository's, and inert: `gatewright trust` shows it".to_owned()
            }
            State::Inert(_) => {
                "has changed since you trusted it, and is inert: `gatewright trust` shows how".to_owned()
            }
            State::Shadowed(by) => format!("is shadowed by the {}'s", by.word()),
            State::Faulty(why) => format!("is skipped: {why}"),
        };
        tracing::warn!(
            "the plugin {} ({}) {}",
            spelled_out(&plugin.name),
            plugin.origin.word(),
            spelled_out(&why)
        );
    }
}

/// The plugin of a name, of those that can be used.
pub fn named<'a>(found: &'a [Found], name: &str) -> Result<&'a Found, Fault> {
    let of_name = || found.iter().filter(|plugin| plugin.name == name);
    of_name().find(|plugin| plugin.hosted().is_some()).ok_or_else(|| match of_name().next() {
        None => Fault::new(Code::NotFound, format!("there is no plugin {name:?}"))
            .suggest("`gatewright plugin list` names them all."),
        Some(_) => Fault::new(Code::NotFound, format!("the plugin {name} cannot be used"))
            .suggest("`gatewright plugin list` says why."),
    })
}

/// What decides which plugins there are, as it was last written: their files, and what is configured, trusted and approved.
pub fn stamp(root: Option<&Path>) -> Vec<(PathBuf, Option<SystemTime>, u64)> {
    let folders = user_folder().into_iter().chain(root.map(project_folder));
    let mut all: Vec<PathBuf> = folders
        .flat_map(|folder| {
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
        })
        .collect();
    all.sort();
    all.extend([trusted::file(), crate::approved::file()].into_iter().flatten());
    all.extend(config::user_path());
    all.extend(root.map(|root| root.join("gatewright.toml")));
    let look = |path: PathBuf| {
        let there = std::fs::symlink_metadata(&path).ok();
        let size = there.as_ref().map_or(u64::MAX, std::fs::Metadata::len);
        (path, there.and_then(|there| there.modified().ok()), size)
    };
    all.into_iter().map(look).collect()
}

/// Whether plugins may come and go here: there is a place for them, whether or not a folder is there yet. A client is told at the start
/// whether it will hear of changes, and never again.
pub fn may_change(root: Option<&Path>) -> bool {
    user_folder().is_some() || root.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_is_held_to_what_every_tool_from_elsewhere_is() {
        let found = discover(None, &Config::default());
        let built_in: Vec<_> = found.iter().filter(|plugin| plugin.origin == Origin::BuiltIn).collect();
        assert_eq!(built_in.len(), built_in::ALL.len());
        for plugin in built_in {
            let mut registry = Registry::default();
            let tools = plugin.hosted().unwrap().tools();
            assert!(!tools.is_empty());
            for tool in tools {
                registry.add(Arc::new(tool)).unwrap();
            }
        }
    }

    #[test]
    fn where_no_tool_of_it_is_wanted_what_is_built_in_is_nothing_that_a_token_could_be_for() {
        let found = discover(None, &Config::default());
        let with = |wanted: &dyn Fn(&Head) -> bool| {
            let mut registry = Registry::default();
            add(&mut registry, &found, &[], &Lock::default(), wanted);
            (registry.has_toolset("git_spice"), registry.len())
        };
        assert_eq!(with(&|head| head.annotations.read_only_hint), (false, 0));
        assert_eq!(with(&|head| head.toolset != "git_spice"), (false, 0));
        assert_eq!(with(&|_| true), (true, 6));
    }

    #[test]
    fn a_build_without_webassembly_names_a_component_and_skips_it() {
        let (name, state) = without_webassembly(Path::new("plugins/word-count.toml"));
        assert_eq!(name, "word-count");
        let State::Faulty(why) = &state else { panic!("{state:?}") };
        assert!(why.contains("built without WebAssembly") && why.contains("--features wasm"), "{why}");
        let found = Found {
            name: name.clone(),
            origin: Origin::User,
            file: PathBuf::from("plugins/word-count.toml"),
            state,
            text: String::new(),
        };
        assert!(found.hosted().is_none());
        let section = PluginsSection { enabled: vec![name], ..PluginsSection::default() };
        assert!(unknown(std::slice::from_ref(&found), &section).is_empty(), "it is known by its name");
        let mut registry = Registry::new(&[], |_| true).unwrap();
        assert!(add(&mut registry, &[found], &[], &Lock::default(), |_| true).is_empty());
        assert!(registry.iter().next().is_none());
    }
}
