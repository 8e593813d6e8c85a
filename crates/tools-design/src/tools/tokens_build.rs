//! Build design tokens.
//!
//! Compiles design tokens (DTCG 2025.10, resolver documents and older dialects) to CSS, SCSS and JavaScript under
//! `artifacts/current-state/`. Returns the artifacts, what is added, changed and removed since the last build, and
//! warnings; errors come all at once with file and line. Rehearses unless `apply` is true or a rehearsed `plan` is
//! named: use it whenever token files change.

use contract::text::counted;
use contract::{Code, Digest, Fault, FileMode, RelPath, Toolset};
use design_tokens::{Compiled, Diagnostic, Options, Output as File, Platform};
use exec::View;
use kit::limits::Limits;
use kit::{Answer, Change, ChangeDesk, Define, Doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::artifacts;
use crate::tokens::changes::{Changes, Manifest, compare, values};
use crate::tokens::{self, LISTED, TokensSection};

/// How many warnings the message spells out.
const SHOWN: usize = 5;

/// What to build for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Custom properties.
    Css,
    /// An ES module with types.
    Js,
    /// Variables and maps.
    Scss,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Token file, folder, glob or resolver document, relative.
    #[schemars(length(min = 1))]
    source: String,
    /// Outputs to build.
    #[schemars(length(min = 1))]
    platforms: Vec<Target>,
    /// Also write a swatch page.
    #[serde(default)]
    preview: bool,
}

/// One file that the build writes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Artifact {
    /// `css`, `js`, `scss`, or what else the file is for.
    platform: String,
    /// Relative to the root.
    path: String,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// What is written.
    artifacts: Vec<Artifact>,
    /// How many tokens there are.
    token_count: u64,
    /// The modes, the default first.
    modes: Vec<String>,
    /// What differs from the last build.
    changes: Changes,
    /// What is worth changing: `file:line:column: warning[code]: message (fix)`.
    warnings: Vec<String>,
    /// How many warnings there are in all.
    warning_count: u64,
}

/// The tool.
#[derive(Debug, Default)]
pub struct TokensBuild;

impl Define for TokensBuild {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "tokens_build";
    const TOOLSET: Toolset = crate::DESIGN;
    const DOC: Doc = kit::doc!("tokens_build.rs");
    const ALIASES: &'static [&'static str] = &["tokens.build"];
    const LIMITS: Limits = Limits::WRITER;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "source": "tokens/colors.json", "platforms": ["css"] }),
            json!({ "source": "tokens", "platforms": ["css", "scss", "js"], "preview": true }),
        ]
    }
}

impl Change for TokensBuild {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| build(&input, desk)).await
    }
}

fn build(input: &Input, desk: &ChangeDesk) -> Result<Answer<Output>, Fault> {
    let TokensSection(options) = desk.settings()?;
    desk.progress(0.0, Some(2.0), "compiling");
    let compiled = tokens::read(&input.source, desk.view(), &options)?;
    desk.check()?;
    desk.progress(1.0, Some(2.0), "comparing");
    let files = emit(input, &compiled, &options)?;
    let manifest = Manifest { source: input.source.clone(), tokens: values(&compiled) };
    let previous = previous(&input.source, desk.view())?;
    let changes = compare(previous.as_ref(), &manifest);
    let folder = put(&files, &manifest, desk)?;
    let artifacts = files
        .iter()
        .map(|(platform, file)| Artifact {
            platform: platform.clone(),
            path: format!("{folder}/{}", file.name),
        })
        .collect();
    Ok(answer(artifacts, &compiled, changes, previous.is_some()))
}

fn emit(input: &Input, compiled: &Compiled, options: &Options) -> Result<Vec<(String, File)>, Fault> {
    let mut targets = input.platforms.clone();
    targets.sort_unstable();
    targets.dedup();
    let platforms: Vec<Platform> = targets
        .into_iter()
        .map(|target| match target {
            Target::Css => Platform::Css,
            Target::Js => Platform::Js,
            Target::Scss => Platform::Scss,
        })
        .collect();
    let outputs = compiled.emit_all(&platforms, options).map_err(Fault::internal)?;
    let mut files: Vec<(String, File)> =
        outputs.into_iter().map(|(platform, file)| (platform.name().to_owned(), file)).collect();
    if input.preview {
        let text = design_tokens::preview(compiled, &input.source);
        files.push(("preview".into(), File { name: "preview.html".into(), text }));
    }
    Ok(files)
}

/// The manifest of the latest build of the same source.
fn previous(source: &str, view: &View) -> Result<Option<Manifest>, Fault> {
    let base = artifacts::base()?;
    let days = match view.list(Some(&base)) {
        Ok(days) => days,
        Err(fault) if fault.code == Code::NotFound => return Ok(None),
        Err(fault) => return Err(fault),
    };
    for day in days.iter().rev().filter(|d| d.is_dir) {
        let Ok(day) = base.join(&day.name) else { continue };
        for build in view.list(Some(&day))?.iter().filter(|b| b.is_dir && b.name.starts_with("tokens-")) {
            let Ok(path) = day.join(&format!("{}/manifest.json", build.name)) else { continue };
            let Some(bytes) = view.read_optional(&path)? else { continue };
            // A manifest that does not read is another tool's, or damaged: nothing to compare with.
            let Ok(manifest) = serde_json::from_slice::<Manifest>(&bytes) else { continue };
            if manifest.source == source {
                return Ok(Some(manifest));
            }
        }
    }
    Ok(None)
}

/// Drafts the files. The folder is named by what is in it, so that the same build lands in the same place.
fn put(files: &[(String, File)], manifest: &Manifest, desk: &ChangeDesk) -> Result<RelPath, Fault> {
    let mut manifest = serde_json::to_string_pretty(manifest).map_err(|e| Fault::internal(e.to_string()))?;
    manifest.push('\n');
    let mut content = manifest.clone();
    for (_, file) in files {
        content.push_str(&format!("\0{}\0{}", file.name, file.text));
    }
    let name = format!("tokens-{}", Digest::of(content.as_bytes()).short(12));
    let folder = artifacts::today()?.join(&name).map_err(|e| Fault::internal(e.to_string()))?;
    let place = |name: &str| {
        folder.join(name).map_err(|why| {
            Fault::invalid(format!("[tokens] file in gatewright.toml: {name:?}: {why}"))
                .about("gatewright.toml")
        })
    };
    for (_, file) in files {
        desk.put(&place(&file.name)?, file.text.clone().into_bytes(), FileMode::Regular)?;
    }
    desk.put(&place("manifest.json")?, manifest.into_bytes(), FileMode::Regular)?;
    Ok(folder)
}

fn answer(artifacts: Vec<Artifact>, compiled: &Compiled, changes: Changes, compared: bool) -> Answer<Output> {
    let modes: Vec<String> = compiled
        .permutations()
        .map(|(mode, _)| if mode.is_empty() { "default".to_owned() } else { mode.to_owned() })
        .collect();
    let warning_count = compiled.warnings.len() as u64;
    // What a reader of the page would notice comes before what only the file's spelling is about.
    let mut sorted: Vec<&Diagnostic> = compiled.warnings.iter().collect();
    sorted.sort_by_key(|w| match w.code {
        "contrast" | "contrast-pair" | "mode-only" | "redefined" => 0,
        "legacy-value" | "legacy-type" | "unused-primitive" => 2,
        _ => 1,
    });
    let warnings: Vec<String> = sorted.iter().take(LISTED).map(ToString::to_string).collect();
    let mut message = format!(
        "**{}**, {} in {}: {}.",
        counted(compiled.tokens.len(), "token"),
        if modes.len() == 1 { "1 mode".to_owned() } else { format!("{} modes", modes.len()) },
        if artifacts.len() == 1 { "1 file".to_owned() } else { format!("{} files", artifacts.len()) },
        artifacts.iter().map(|a| format!("`{}`", a.path)).collect::<Vec<_>>().join(", ")
    );
    if compared {
        let Changes { added_count, changed_count, removed_count, .. } = changes;
        message.push_str(&format!(
            "\n\nAgainst the last build: {added_count} added, {changed_count} changed, {removed_count} removed."
        ));
        for change in changes.changed.iter().take(10) {
            message.push_str(&format!("\n- `{}`: {} → {}", change.id, change.before, change.after));
        }
        if changed_count > 10 {
            message.push_str(&format!("\n- … showing 10 of {changed_count} changed"));
        }
    }
    if !warnings.is_empty() {
        let shown = warnings.len().min(SHOWN);
        message.push_str(&format!("\n\nWarnings (showing {shown} of {warning_count}):"));
        for warning in warnings.iter().take(SHOWN) {
            message.push_str(&format!("\n- {warning}"));
        }
    }
    let token_count = compiled.tokens.len() as u64;
    let mut answer =
        Answer::new(message, Output { artifacts, token_count, modes, changes, warnings, warning_count });
    answer.results = Some(token_count);
    answer
}
