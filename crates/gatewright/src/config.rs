//! The configuration: the user's (`$XDG_CONFIG_HOME/gatewright/config.toml`), and over it the project's
//! (`gatewright.toml` at the root's top), which may choose and narrow but never widen.

use std::path::{Path, PathBuf};

use exec::run::Level;
use kit::Settings;
use kit::settings::SectionEntry;
use policy::Rules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tools_devtools::registries::RegistriesSection;
use tools_knowledge::settings::{LibrarySection, SkillsSection};
use tools_session::settings::{GithubSection, SessionSection, VenturesSection};

use crate::families;
use crate::oauth::OAuthSection;
use crate::plugged::PluginsSection;
use crate::roots::RootsSection;
use crate::trusted::{self, Item, Standing};
use crate::upstreams::UpstreamsSection;

/// `[limits]`: the user's alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct LimitsSection {
    /// Whether calls are counted and queued. Benches turn it off and say so.
    pub enabled: bool,
    /// What a result may cost by default, in tokens.
    pub result_tokens: u64,
    /// Seconds after which a call that still works goes on as a job.
    pub detach_after: u64,
    /// Days that pre-images and receipts are kept, one at least; undo reaches back as far.
    pub keep_days: u32,
}

impl Default for LimitsSection {
    fn default() -> Self {
        Self {
            enabled: true,
            result_tokens: kit::shape::BUDGET,
            detach_after: kit::jobs::DETACH_AFTER.as_secs(),
            keep_days: 30,
        }
    }
}

/// `[egress]`: the user's alone. Without it nothing is sent anywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct EgressSection {
    /// Hosts that a plan's request or push may go to, with a port where it is not the scheme's; the whole path of a git repository on
    /// this machine lets that one be pushed to and fetched from.
    pub hosts: Vec<String>,
    /// Whether those hosts may have private addresses.
    pub allow_private: bool,
}

/// How far runs are confined, at least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// Programs may run with all rights of whoever runs gatewright, where the machine offers nothing else.
    None,
    /// Landlock and a filter of system calls.
    #[default]
    Filters,
    /// Namespaces and a root of their own, and the filters within.
    Full,
}

impl Confinement {
    /// The level that it stands for.
    pub const fn level(self) -> Level {
        match self {
            Self::None => Level::None,
            Self::Filters => Level::Filters,
            Self::Full => Level::Full,
        }
    }
}

/// `[security]`: the user's alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SecuritySection {
    /// How far runs must be confined; those that a machine confines less are refused.
    pub confinement: Confinement,
    /// Hosts that confined programs may reach at private addresses, where a tool lets them reach these hosts at all, such as a registry
    /// of one's own; `*.example.com` is those below one.
    pub private_hosts: Vec<String>,
    /// A file of certificates (PEM) that programs trust instead of the system's.
    pub ca_file: Option<PathBuf>,
}

/// `[browser]`: the user's alone. A repository does not choose what is started, nor what it may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct BrowserSection {
    /// Chromium's program, where it is not where systems put it.
    pub program: Option<PathBuf>,
    /// axe-core's `axe.min.js`, where it is neither the project's own nor set up.
    pub axe: Option<PathBuf>,
    /// Hosts that pages may reach although they are private, and that pages of a root may reach at all; `*.example.com` is
    /// those below one.
    pub hosts: Vec<String>,
}

/// `[store]`: the user's alone. Where what is remembered is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct StoreSection {
    /// A PostgreSQL database, such as `postgres://user@host/database?sslmode=verify-full`; without, a file of this machine. Passwords are in
    /// `PGPASSWORD` or `~/.pgpass`, never here. `GATEWRIGHT_STORE_URL` goes before it.
    pub url: Option<String>,
    /// Days that ended sessions with their handoffs, and archived notes, are kept. 0, as without it: for ever.
    pub keep_days: u32,
}

/// `[context]`: the user's alone. Where a team's context is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ContextSection {
    /// The address of a server (`gatewright context serve`), such as `https://context.example.com`; http on this machine alone. Its key is in
    /// `GATEWRIGHT_CONTEXT_KEY` or in the keyring (`gatewright context login`), never here. `GATEWRIGHT_CONTEXT_URL` goes before it.
    pub url: Option<String>,
}

/// `[secrets]`: the user's alone. What pages are given by the name of a secret; where nothing binds it to a place, whoever calls
/// could send it anywhere.
pub type SecretsSection = std::collections::BTreeMap<String, SecretEntry>;

/// One secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SecretEntry {
    /// The environment variable that has it.
    pub env: String,
    /// The origins that may get it, such as `https://staging.example.com`.
    pub origins: Vec<String>,
}

/// `[failures]`: the user's alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct FailuresSection {
    /// Patterns besides those that are built in.
    pub patterns: Vec<failures::PatternSpec>,
}

/// Puts a section where it is kept.
type Put = fn(&mut Config, &Value) -> Result<(), String>;

/// A section that the binary reads itself.
struct Own {
    name: &'static str,
    schema: fn() -> Value,
    /// The user's.
    put: Put,
    /// The project's, where a project may say it.
    put_of_project: Option<Put>,
}

/// Sections by name, with the fields of [`Config`] that they are kept in: what is understood is read.
macro_rules! own {
    ($($name:literal => $($field:ident).+: $section:ty $(, of a project => $($project:ident).+)?;)+) => {
        &[$(Own {
            name: $name,
            schema: kit::schema::plain::<$section>,
            put: |config, value| {
                config.$($field).+ = <$section>::deserialize(value).map_err(|e| e.to_string())?;
                Ok(())
            },
            put_of_project: own!(@project $section $(, $($project).+)?),
        }),+]
    };
    (@project $section:ty) => { None };
    (@project $section:ty, $($project:ident).+) => {
        Some(|config, value| {
            config.$($project).+ = <$section>::deserialize(value).map_err(|e| e.to_string())?;
            Ok(())
        })
    };
}

/// The sections that the binary reads itself.
const OWN: &[Own] = own! {
    "policy" => policy.user: Rules, of a project => policy.project;
    "limits" => limits: LimitsSection;
    "egress" => egress: EgressSection;
    "security" => security: SecuritySection;
    "failures" => failures: FailuresSection;
    "browser" => browser: BrowserSection;
    "secrets" => secrets: SecretsSection;
    "cache" => cache: cache::Settings;
    "roots" => roots: RootsSection;
    "oauth" => oauth: OAuthSection;
    "upstreams" => upstreams: UpstreamsSection;
    "session" => session: SessionSection;
    "ventures" => ventures: VenturesSection;
    "github" => github: GithubSection;
    "store" => store: StoreSection;
    "context" => context: ContextSection;
    "library" => library: LibrarySection;
    "skills" => skills: SkillsSection;
    "registries" => registries: RegistriesSection;
    "plugins" => plugins: PluginsSection;
};

/// The configuration in force.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The user's rules and the project's.
    pub policy: policy::Policy,
    /// The user's limits.
    pub limits: LimitsSection,
    /// The user's egress.
    pub egress: EgressSection,
    /// How far the user wants runs confined.
    pub security: SecuritySection,
    /// What else the user wants recognised in what programs say.
    pub failures: FailuresSection,
    /// The user's browser.
    pub browser: BrowserSection,
    /// The user's secrets.
    pub secrets: SecretsSection,
    /// How long answers are kept.
    pub cache: cache::Settings,
    /// The user's further roots.
    pub roots: RootsSection,
    /// Whose tokens the user accepts.
    pub oauth: OAuthSection,
    /// Other servers whose tools the user wants offered.
    pub upstreams: UpstreamsSection,
    /// How the user's sessions are called.
    pub session: SessionSection,
    /// What the user works on.
    pub ventures: VenturesSection,
    /// Where the user's issues are.
    pub github: GithubSection,
    /// Where the user's store is.
    pub store: StoreSection,
    /// Where the user's team shares its work.
    pub context: ContextSection,
    /// Where the user's patterns and skills are.
    pub library: LibrarySection,
    /// What the user grants code of skills.
    pub skills: SkillsSection,
    /// Where the user's packages come from.
    pub registries: RegistriesSection,
    /// Which plugins the user wants, and how.
    pub plugins: PluginsSection,
    /// The user's sections for tools; the project's are read by each call, through its view.
    pub settings: Settings,
    /// The project's sections for tools, for showing them; calls read them for themselves.
    pub project: Settings,
    /// Sections of the project that are inert, because only the user may say them.
    pub inert: Vec<String>,
    /// Of those, how the ones differ from what the user trusted that once were.
    pub changed: Vec<(String, Vec<String>)>,
    /// Sections of the project that only the user may say, and that are in force because a person trusts them as they are.
    pub trusted: Vec<String>,
}

/// Sections that no trust puts in force: how runs are confined, who calls, where records are, and which folders there are is
/// the user's own.
const NEVER_TRUSTED: &[&str] = &["security", "oauth", "roots", "store", "limits"];

/// What the project's own file asks for that only a person may say.
pub fn asked_for(root: &Path) -> Result<Vec<Item>, ConfigError> {
    let Some(table) = of_root(&root.join("gatewright.toml"))? else { return Ok(Vec::new()) };
    let asked = OWN.iter().filter(|own| own.put_of_project.is_none());
    let asked = asked.filter_map(|own| Some((own.name, table.value.get(own.name)?)));
    Ok(asked
        .map(|(name, value)| Item { kind: "section", name: name.to_owned(), value: value.clone() })
        .collect())
}

/// Whether a person can put this section of a project in force at all.
pub fn can_be_trusted(section: &str) -> bool {
    !NEVER_TRUSTED.contains(&section)
}

/// Largest configuration file.
const MAX_FILE: u64 = 1024 * 1024;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{file}: {message}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong, and what was probably meant.
        message: String,
    },
}

fn sections() -> impl Iterator<Item = &'static SectionEntry> {
    families::ALL.iter().flat_map(|family| family.sections)
}

/// The JSON Schema of `gatewright.toml`.
pub fn schema() -> Value {
    let mut properties = Map::new();
    for own in OWN {
        properties.insert(own.name.into(), (own.schema)());
    }
    for section in sections() {
        properties.insert(section.name.into(), (section.schema)());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gatewright.toml",
        "description": "Configuration of gatewright: the user's, and over it the project's.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// The user's configuration file.
pub fn user_path() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(base.join("gatewright/config.toml"))
}

/// Reads both files.
pub fn load(root: Option<&Path>) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    let mut of_user = Map::new();
    if let Some(table) = user_path().map(|path| read(&path)).transpose()?.flatten() {
        put(&mut config, &table, |own| Some(own.put))?;
        of_user.clone_from(&table.value);
        let own = |key: &String| OWN.iter().any(|o| o.name == key);
        let rest: Map<String, Value> = table.value.into_iter().filter(|(k, _)| !own(k)).collect();
        config.settings = Settings::new(rest);
    }
    if let Some(table) = root.map(|root| of_root(&root.join("gatewright.toml"))).transpose()?.flatten() {
        put(&mut config, &table, |own| own.put_of_project)?;
        if let Some(root) = root {
            trust(&mut config, root, &table, &of_user)?;
        }
        let own = |key: &String| OWN.iter().any(|o| o.name == key);
        config.project = Settings::new(table.value.into_iter().filter(|(k, _)| !own(k)).collect());
    }
    Ok(config)
}

/// Puts in force what a person trusts of what only a person may say; the rest is inert, and named.
fn trust(
    config: &mut Config,
    root: &Path,
    table: &Table,
    of_user: &Map<String, Value>,
) -> Result<(), ConfigError> {
    let mut known = None;
    for own in OWN.iter().filter(|own| own.put_of_project.is_none()) {
        let Some(value) = table.value.get(own.name) else { continue };
        let item = Item { kind: "section", name: own.name.to_owned(), value: value.clone() };
        let known = known.get_or_insert_with(|| trusted::of(root));
        match known.standing(&item) {
            Standing::Trusted if can_be_trusted(own.name) => {
                // The user's own word goes before the repository's.
                let merged =
                    of_user.get(own.name).map_or_else(|| value.clone(), |user| trusted::joined(value, user));
                (own.put)(config, &merged).map_err(|message| ConfigError::Invalid {
                    file: table.file.clone(),
                    message: format!("[{}]: {message}", own.name),
                })?;
                config.trusted.push(own.name.to_owned());
                continue;
            }
            Standing::Changed(how) => config.changed.push((own.name.to_owned(), how)),
            Standing::Trusted | Standing::Inert => {}
        }
        config.inert.push(own.name.to_owned());
    }
    Ok(())
}

struct Table {
    file: String,
    value: Map<String, Value>,
}

/// The root's own file. A link is not followed: a repository does not choose which file of this machine is read.
fn of_root(path: &Path) -> Result<Option<Table>, ConfigError> {
    if std::fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink()) {
        let message = "it is a link, which is not followed: put the file itself there".to_owned();
        return Err(ConfigError::Invalid { file: "gatewright.toml".to_owned(), message });
    }
    read(path)
}

fn read(path: &Path) -> Result<Option<Table>, ConfigError> {
    let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let text = match std::fs::metadata(path).and_then(|m| {
        if m.len() > MAX_FILE {
            Err(std::io::ErrorKind::FileTooLarge.into())
        } else if !m.is_file() {
            // Reading a FIFO would wait for whoever writes it.
            Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file"))
        } else {
            std::fs::read_to_string(path)
        }
    }) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ConfigError::Unreadable { file, source }),
    };
    check(&file, &text).map(|value| Some(Table { file, value }))
}

/// Parses `text` and checks every section; what is unknown is refused with what was probably meant.
pub fn check(file: &str, text: &str) -> Result<Map<String, Value>, ConfigError> {
    let invalid = |message: String| ConfigError::Invalid { file: file.to_owned(), message };
    let table: toml::Table = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        invalid(format!("line {line}: {}", e.message()))
    })?;
    let value = match serde_json::to_value(table) {
        Ok(Value::Object(map)) => map,
        Ok(_) => Map::new(),
        Err(error) => return Err(invalid(error.to_string())),
    };
    let known: Vec<&str> = OWN.iter().map(|o| o.name).chain(sections().map(|s| s.name)).collect();
    for (name, section) in &value {
        if !known.contains(&name.as_str()) {
            return Err(invalid(format!("unknown section [{name}]{}", suggestion(name, &known))));
        }
        let own = OWN.iter().find(|o| o.name == name).map(|o| (o.put)(&mut Config::default(), section));
        let checked =
            own.unwrap_or_else(|| sections().find(|s| s.name == name).map_or(Ok(()), |s| (s.check)(section)));
        checked.map_err(|message| invalid(format!("[{name}]: {}", with_suggestion(&message))))?;
    }
    Ok(value)
}

/// Puts the sections of a file where they are kept.
fn put(config: &mut Config, table: &Table, whose: impl Fn(&Own) -> Option<Put>) -> Result<(), ConfigError> {
    for own in OWN {
        let (Some(put), Some(section)) = (whose(own), table.value.get(own.name)) else { continue };
        put(config, section).map_err(|message| ConfigError::Invalid {
            file: table.file.clone(),
            message: format!("[{}]: {message}", own.name),
        })?;
    }
    Ok(())
}

pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    let scored = known.iter().map(|k| (strsim::jaro_winkler(name, k), *k));
    match scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.7) {
        Some((_, close)) => format!(": did you mean `{close}`?"),
        None => format!("; known are {}", known.join(", ")),
    }
}

/// serde names the fields that it knows; the closest is what was probably meant.
pub(crate) fn with_suggestion(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    match names.next() {
        Some(unknown) if message.starts_with("unknown field") => {
            let known: Vec<&str> = names.collect();
            format!("unknown key `{unknown}`{}", suggestion(unknown, &known))
        }
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        check("gatewright.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn unknown_keys_are_refused_with_what_was_meant() {
        assert!(message("[token]\n").contains("did you mean `tokens`?"));
        assert!(message("[tokens]\nprefx = 'x'\n").contains("unknown key `prefx`: did you mean `prefix`?"));
        assert!(
            message("[policy]\nrules = [{ tool = ['x'], decision = 'allow' }]\n")
                .contains("did you mean `tools`?")
        );
        assert!(message("[tokens\n").contains("line 1"));
    }

    #[test]
    fn every_section_of_the_schema_is_read() {
        let schema = schema();
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(
            names,
            [
                "a11y",
                "browser",
                "cache",
                "context",
                "devtools",
                "documents",
                "egress",
                "failures",
                "github",
                "issues",
                "library",
                "limits",
                "oauth",
                "plugins",
                "policy",
                "registries",
                "review",
                "roots",
                "secrets",
                "security",
                "session",
                "skills",
                "store",
                "tokens",
                "upstreams",
                "ventures",
            ]
        );
        let text = "[a11y]\ntags = ['wcag2aa']\n[browser]\nhosts = []\n[secrets.x]\nenv = 'X'\norigins = []\n[tokens]\nprefix = 'ds'\n[limits]\nenabled = false\n[security]\nconfinement = 'full'\n[failures]\npatterns = []\n[cache]\nenabled = true\n[devtools]\ntimeout = 5000\n[egress]\nhosts = []\n[review]\nport = 7420\n[policy]\nrules = []\n\
                    [roots.lib]\npath = '/srv'\n[oauth]\nresource = ''\n[upstreams.docs]\nurl = 'https://docs.example/mcp'\n";
        assert_eq!(check("x", text).unwrap().len(), 15);
        assert!(message("[roots.lib]\npth = '/srv'\n").contains("did you mean `path`?"));
    }

    #[test]
    fn what_a_file_says_is_in_force_and_what_a_project_may_not_say_is_not() {
        let text =
            "[context]\nurl = 'https://context.example'\n[limits]\nenabled = false\n[policy]\nrules = []\n";
        let table = Table { file: "x".to_owned(), value: check("x", text).unwrap() };
        let mut config = Config::default();
        put(&mut config, &table, |own| Some(own.put)).unwrap();
        assert_eq!(config.context.url.as_deref(), Some("https://context.example"));
        assert!(!config.limits.enabled);
        let mut config = Config::default();
        put(&mut config, &table, |own| own.put_of_project).unwrap();
        assert_eq!((config.context, config.limits.enabled), (ContextSection::default(), true));
    }
}
