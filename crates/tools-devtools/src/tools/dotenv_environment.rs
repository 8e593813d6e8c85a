//! Read a .env file.
//!
//! Says which variables a `.env` file sets, with the values of secrets masked, what refers to what, and which lines are odd.
//! Nothing is set or substituted. Use it to see what a program is configured with.

use std::collections::BTreeMap;

use contract::text::counted;
use contract::{Code, Fault, Principal, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::FILES;
use crate::running;

/// Most bytes of a file.
const MAX_BYTES: u64 = 1_000_000;

/// Most variables of a file.
const MAX_VARIABLES: usize = 10_000;

/// What stands for a value that is not shown: the same for all, so that nothing of one is told.
const MASK: &str = "****";

/// Words of a name that make its value a secret.
const SECRETS: &[&str] = &["PASSWORD", "SECRET", "TOKEN", "KEY", "PRIVATE", "CREDENTIAL", "AUTH"];

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The file, below `directory`.
    #[serde(default = "usual")]
    pub file: String,
    /// Folder below the root.
    #[serde(default)]
    pub directory: Option<String>,
    /// Mask values whose names say that they are secrets. What is recognised as a secret by itself is never shown.
    #[serde(default = "yes")]
    pub mask: bool,
    /// Further names to mask: regular expressions, in whatever case.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
    pub mask_patterns: Vec<String>,
    /// Name the variables of the server's own environment as well, without their values.
    #[serde(default)]
    pub include_process_env: bool,
}

fn usual() -> String {
    ".env".to_owned()
}

const fn yes() -> bool {
    true
}

/// A variable.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Variable {
    /// Its name.
    name: String,
    /// Its value, or `****`.
    value: String,
    /// Whether the value is masked.
    masked: bool,
    /// Where it is set, from 1.
    line: u64,
    /// Names that the value refers to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    references: Vec<String>,
    /// Whether the server's environment has the name too: most programs leave that value alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    shadowed: Option<bool>,
}

/// An odd line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Odd {
    /// From 1.
    line: u64,
    /// What is odd.
    message: String,
}

/// The file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The file, relative to the root.
    file: String,
    /// What it sets, in its order; of a name that is set twice, the last.
    variables: Vec<Variable>,
    /// Lines that are hardly meant so.
    problems: Vec<Odd>,
    /// Names of the server's own environment, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    process_env: Option<Vec<String>>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct DotenvEnvironment;

impl Define for DotenvEnvironment {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "dotenv_environment";
    const TOOLSET: Toolset = FILES;
    const DOC: Doc = doc!("dotenv_environment.rs");
    const LIST: Option<&'static str> = Some("variables");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "file": ".env.test", "directory": "web", "maskPatterns": ["^DB_"] })]
    }
}

impl Read for DotenvEnvironment {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| look(&input, desk)).await
    }
}

fn look(input: &Input, desk: &ReadDesk) -> Result<Answer<Output>, Fault> {
    if input.include_process_env && !matches!(desk.principal(), Principal::Local { .. }) {
        return Err(Fault::new(
            Code::Forbidden,
            "includeProcessEnv: the server's environment is its own user's affair",
        )
        .suggest("Leave it out."));
    }
    let patterns = input.mask_patterns.iter().map(|one| pattern(one)).collect::<Result<Vec<_>, _>>()?;
    let file = exec::view::path_argument(&input.file)?;
    let path = match running::directory(input.directory.as_deref())? {
        None => file,
        Some(dir) => dir.join(file.as_str()).map_err(|why| Fault::invalid(format!("file: {file}: {why}")))?,
    };
    if desk.view().size(&path).is_some_and(|size| size > MAX_BYTES) {
        let message = format!("{path} is larger than 1 MB");
        return Err(Fault::new(Code::TooLarge, message)
            .about(path.as_str())
            .suggest("Files of variables are small: name the one that is meant with `file`."));
    }
    let read = dotenv::parse(&desk.view().read_text(&path)?);
    let own = input.include_process_env.then(names);
    if read.variables.len() > MAX_VARIABLES {
        let message = format!("{path} sets more than {MAX_VARIABLES} variables");
        return Err(Fault::new(Code::TooLarge, message)
            .about(path.as_str())
            .suggest("Name a smaller file with `file`."));
    }
    // The last one counts, where it stands.
    let last: BTreeMap<String, usize> =
        read.variables.iter().enumerate().map(|(at, one)| (one.name.clone(), at)).collect();
    let mut variables: Vec<Variable> = Vec::new();
    for (at, one) in read.variables.into_iter().enumerate() {
        if last.get(&one.name) != Some(&at) {
            continue;
        }
        let masked = !one.value.is_empty()
            && (patterns.iter().any(|pattern| pattern.is_match(&one.name))
                || (input.mask && is_secret(&one.name))
                || is_known(desk, &one.name, &one.value));
        variables.push(Variable {
            shadowed: own.as_ref().map(|own| own.contains(&one.name)),
            value: if masked { MASK.to_owned() } else { one.value },
            masked,
            line: one.line as u64,
            references: one.references,
            name: one.name,
        });
    }
    let problems: Vec<Odd> = read
        .problems
        .iter()
        .map(|problem| Odd { line: problem.line as u64, message: problem.what.to_string() })
        .collect();
    let hidden = variables.iter().filter(|variable| variable.masked).count() as u64;
    let mut message =
        format!("{path} sets {}; {hidden} masked.", counted(variables.len() as u64, "variable"));
    for odd in problems.iter().take(5) {
        message.push_str(&format!("\n- {path}:{}: {}", odd.line, odd.message));
    }
    let output = Output { file: path.to_string(), variables, problems, process_env: own };
    Ok(Answer::new(message, output))
}

fn pattern(text: &str) -> Result<Regex, Fault> {
    RegexBuilder::new(text).case_insensitive(true).size_limit(1 << 20).build().map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default();
        Fault::invalid(format!("maskPatterns: {text:?} is no regular expression: {why}"))
            .suggest("Write names as they are, such as `DB_HOST`, or `^DB_` for all that begin so.")
    })
}

fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRETS.iter().any(|word| upper.contains(word))
}

/// Whether the value is recognised as a secret wherever it stands: that is never shown.
fn is_known(desk: &ReadDesk, name: &str, value: &str) -> bool {
    let shown = json!({ name: value });
    desk.redactor().value(&shown).value != shown
}

/// The names of this process's environment; its values are nobody's to know.
fn names() -> Vec<String> {
    let mut names: Vec<String> =
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort();
    names
}
