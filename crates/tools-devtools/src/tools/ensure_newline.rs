//! Ensure files end with a newline.
//!
//! Finds text files without a line's end at their end. `check` lists them, `validate` fails on them, `fix` proposes what they
//! lack, CRLF where the file has it. Use it after generating or editing files.

use contract::text::counted;
use contract::{Fault, FileMode, RelPath, State, Toolset};
use exec::history::Ignores;
use exec::view::{Pattern, is_pattern};
use kit::desk::unread;
use kit::{Answer, Change, ChangeDesk, Define, Doc, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::FILES;
use crate::newline::{is_binary, lacking};
use crate::settings::DevtoolsSection;
use crate::{files, running};

/// How many files the message names.
const NAMED: usize = 5;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Files or globs below `cwd`.
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 500)))]
    pub patterns: Vec<String>,
    /// `check` lists, `validate` fails, `fix` proposes.
    pub mode: Mode,
    /// Globs below `cwd` to leave out.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 500)))]
    pub exclude: Vec<String>,
    /// Only files with these endings, such as `md`.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 50)))]
    pub file_types: Vec<String>,
    /// Folder that patterns begin in, below `directory`.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Folder below the root.
    #[serde(default)]
    pub directory: Option<String>,
    /// Leave out files that are no text.
    #[serde(default = "yes")]
    pub skip_binary: bool,
    /// Leave out files over so many megabytes (of 10⁶ bytes).
    #[serde(default = "ten", rename = "maxFileSizeMB")]
    #[schemars(range(min = 0.001, max = 60))]
    pub max_file_size_mb: f64,
}

const fn yes() -> bool {
    true
}

const fn ten() -> f64 {
    10.0
}

/// What to do about files that lack their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the tool's input says it")]
pub enum Mode {
    Check,
    Fix,
    Validate,
}

/// How a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Its last line has no end.
    Missing,
    /// The plan adds the end.
    Fixed,
    /// It cannot be read.
    Unreadable,
}

/// A file that is not as it should be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// Relative to the root.
    path: String,
    /// How it stands.
    state: Standing,
    /// What it lacks, or why it cannot be read.
    detail: String,
}

/// What was left out.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Skipped {
    /// Files that are no text.
    binary: u64,
    /// Files over the size.
    large: u64,
    /// Files that git ignores; those that are named without a glob are looked at.
    ignored: u64,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// 0: every file is fine or fixed by the plan; 1: some lack their end; 2: some cannot be read.
    exit_code: u8,
    /// How many files were looked at.
    checked: u64,
    /// Those that are not as they should be.
    files: Vec<Found>,
    /// What was left out.
    skipped: Skipped,
}

/// The tool.
#[derive(Debug, Default)]
pub struct EnsureNewline;

impl Define for EnsureNewline {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "ensure_newline";
    const TOOLSET: Toolset = FILES;
    const DOC: Doc = doc!("ensure_newline.rs");
    const LIST: Option<&'static str> = Some("files");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "patterns": ["**/*.md"], "mode": "check" }),
            json!({ "patterns": ["src/**"], "mode": "fix", "exclude": ["**/generated/**"], "fileTypes": ["rs", "toml"] }),
        ]
    }
}

impl Change for EnsureNewline {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn plan(&self, mut input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let told = desk.settings::<DevtoolsSection>()?.file_validation;
        if input.file_types.is_empty() {
            input.file_types = told.file_types;
        }
        #[expect(clippy::float_cmp, reason = "the default itself")]
        if let (Some(most), true) = (told.max_file_size_mb, input.max_file_size_mb == ten()) {
            input.max_file_size_mb = most.into();
        }
        desk.blocking(move |desk| look(&input, &told.exclude, desk)).await
    }
}

fn look(input: &Input, exclude: &[String], desk: &ChangeDesk) -> Result<Answer<Output>, Fault> {
    let mut output = Output { exit_code: 0, checked: 0, files: Vec::new(), skipped: Skipped::default() };
    for path in chosen(input, exclude, desk, &mut output.skipped)? {
        desk.check()?;
        one(input, desk, &path, &mut output)?;
    }
    let has = |state| output.files.iter().any(|file| file.state == state);
    output.exit_code = match (has(Standing::Unreadable), has(Standing::Missing)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    };
    Ok(answered(input.mode, output))
}

/// The files that are meant, each once and in order.
fn chosen(
    input: &Input,
    exclude: &[String],
    desk: &ChangeDesk,
    skipped: &mut Skipped,
) -> Result<Vec<RelPath>, Fault> {
    let base =
        match (running::directory(input.directory.as_deref())?, running::directory(input.cwd.as_deref())?) {
            (Some(directory), Some(cwd)) => Some(
                directory.join(cwd.as_str()).map_err(|why| Fault::invalid(format!("cwd: {cwd}: {why}")))?,
            ),
            (directory, cwd) => directory.or(cwd),
        };
    if let Some(base) = &base {
        // A folder that is not there is no folder without files.
        desk.view().list(Some(base))?;
    }
    let below =
        |pattern: &String| base.as_ref().map_or_else(|| pattern.clone(), |base| format!("{base}/{pattern}"));
    let excluded = input.exclude.iter().map(below).chain(exclude.iter().cloned());
    let excluded = excluded.map(|one| Pattern::new(&one)).collect::<Result<Vec<_>, _>>()?;
    let ends = |path: &RelPath| {
        input.file_types.is_empty()
            || input.file_types.iter().any(|ending| {
                path.as_str().rsplit_once('.').is_some_and(|(_, own)| own == ending.trim_start_matches('.'))
            })
    };
    let ignores = files::ignores(desk)?;
    let is_ignored = |ignores: &Option<Ignores>, path: &RelPath| {
        ignores.as_ref().map_or(Ok(false), |rules| rules.is_ignored(path.as_str(), false).map_err(unread))
    };
    let mut all = Vec::new();
    for pattern in &input.patterns {
        for path in desk.view().glob(&below(pattern))? {
            if excluded.iter().any(|pattern| pattern.finds(path.as_str())) || !ends(&path) {
                continue;
            }
            if is_pattern(pattern) && is_ignored(&ignores, &path)? {
                skipped.ignored += 1;
            } else {
                all.push(path);
            }
        }
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// Looks at one file, and proposes what it lacks.
fn one(input: &Input, desk: &ChangeDesk, path: &RelPath, output: &mut Output) -> Result<(), Fault> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the schema has it from 0.001 to 60"
    )]
    let most = (input.max_file_size_mb * 1e6) as u64;
    if desk.view().size(path).is_some_and(|size| size > most) {
        output.skipped.large += 1;
        return Ok(());
    }
    let unreadable = |output: &mut Output, why: String| {
        output.checked += 1;
        output.files.push(Found { path: path.to_string(), state: Standing::Unreadable, detail: why });
    };
    let bytes = match desk.view().read(path) {
        Ok(bytes) => bytes,
        Err(fault) => {
            unreadable(output, fault.message);
            return Ok(());
        }
    };
    if input.skip_binary && is_binary(&bytes) {
        output.skipped.binary += 1;
        return Ok(());
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        unreadable(output, "UTF-16: save it as UTF-8".to_owned());
        return Ok(());
    }
    output.checked += 1;
    let Some(lacks) = lacking(&bytes) else { return Ok(()) };
    let state = if input.mode == Mode::Fix { Standing::Fixed } else { Standing::Missing };
    if state == Standing::Fixed {
        let is_executable =
            matches!(desk.view().state(path)?, State::File { mode, .. } if mode.is_executable());
        let mode = if is_executable { FileMode::Executable } else { FileMode::Regular };
        desk.put(path, [&bytes, lacks].concat(), mode)?;
    }
    let detail = if lacks == b"\r\n" { "CRLF" } else { "LF" }.to_owned();
    output.files.push(Found { path: path.to_string(), state, detail });
    Ok(())
}

fn answered(mode: Mode, output: Output) -> Answer<Output> {
    let count = |state| output.files.iter().filter(|file| file.state == state).count() as u64;
    let (missing, fixed, unreadable) =
        (count(Standing::Missing), count(Standing::Fixed), count(Standing::Unreadable));
    let checked = counted(output.checked, "file");
    let mut message = match (missing, fixed) {
        (0, 0) if unreadable == 0 => format!("All of {checked} end with a newline."),
        (0, 0) => format!("{checked} looked at."),
        (0, fixed) => format!("The plan ends {} of {checked}.", counted(fixed, "file")),
        (missing, _) => {
            format!("**{}** of {checked} without a newline at the end.", counted(missing, "file"))
        }
    };
    if unreadable > 0 {
        message.push_str(&format!(" {} cannot be read.", counted(unreadable, "file")));
    }
    for file in output.files.iter().take(NAMED) {
        message.push_str(&format!("\n- {}: {}", file.path, file.detail));
    }
    if output.files.len() > NAMED {
        message.push_str(&format!("\n- … showing {NAMED} of {}", output.files.len()));
    }
    let success = match mode {
        Mode::Validate => output.exit_code == 0,
        Mode::Check | Mode::Fix => output.exit_code < 2,
    };
    let mut answer = Answer::new(message, output);
    answer.success = success;
    answer
}
