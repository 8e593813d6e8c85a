//! Find values that should be tokens.
//!
//! Finds values in style sheets, pages and scripts that a token has; how much is covered, and which tokens are unused.
//! `fix` proposes a codemod of what is exact and unambiguous. Use it to bring a project to its tokens.

use std::collections::BTreeMap;

use contract::text::counted;
use contract::{Fault, FileMode, Toolset};
use design_tokens::usage::{Index, Kept, Usage, replaced};
use kit::limits::Limits;
use kit::{Answer, Change, ChangeDesk, Define, Doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::consumers::Searched;
use crate::tokens::{self, LISTED, TokensSection};
use crate::usage::{Found, look};

/// How many usages the message spells out.
const SHOWN: usize = 5;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Token file, folder, glob or resolver document, relative.
    #[schemars(length(min = 1))]
    source: String,
    /// Files, folders or globs to look at.
    #[serde(default)]
    paths: Vec<String>,
    /// How far off: ΔE OK × 100, or px.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10.0))]
    tolerance: f64,
    /// Propose the codemod.
    #[serde(default)]
    fix: bool,
}

/// Why a value is no part of the codemod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LeftOut {
    /// Several tokens have it.
    Ambiguous,
    /// The token's value is another.
    Inexact,
    /// The project gives the token's name another value.
    Redefined,
    /// The file does not load the tokens.
    Unloaded,
    /// Sass or Less computes with it.
    Mathematics,
    /// The name does not fit into the string.
    Name,
}

/// A value for which there is a token.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Relative to the root.
    path: String,
    /// From 1.
    line: u32,
    /// From 1, in characters.
    column: u32,
    /// Whose value it is.
    property: String,
    /// As it is written.
    value: String,
    /// The token's path.
    token_id: String,
    /// What takes its place.
    replacement: String,
    /// How far apart: ΔE OK × 100, or px; 0 where they are equal.
    distance: f64,
    /// Tokens that are as good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ambiguous: Vec<String>,
    /// Why it is no part of the codemod.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
}

/// How declarations that tokens are for get their values.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Coverage {
    /// From tokens.
    tokens: u64,
    /// From values that tokens have.
    hardcoded: u64,
    /// From values that no token has.
    unknown: u64,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Values for which there is a token, by place.
    usages: Vec<Place>,
    /// How many there are.
    usage_count: u64,
    /// How many the plan replaces.
    replaced_count: u64,
    /// How declarations get their values.
    coverage: Coverage,
    /// Tokens that nothing in the project uses: the first forty.
    unused_tokens: Vec<String>,
    /// How many there are.
    unused_count: u64,
    /// The files that were looked at.
    searched: Searched,
}

/// The tool.
#[derive(Debug, Default)]
pub struct TokensUsage;

impl Define for TokensUsage {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "tokens_usage";
    const TOOLSET: Toolset = crate::DESIGN;
    const DOC: Doc = kit::doc!("tokens_usage.rs");
    const ALIASES: &'static [&'static str] = &["tokens.usage"];
    const LIMITS: Limits = Limits::WRITER;
    const LIST: Option<&'static str> = Some("usages");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "source": "tokens" }),
            json!({ "source": "tokens", "paths": ["src/**/*.scss", "web"], "tolerance": 2.0, "fix": true }),
        ]
    }
}

impl Change for TokensUsage {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| find(&input, desk)).await
    }
}

fn find(input: &Input, desk: &ChangeDesk) -> Result<Answer<Output>, Fault> {
    let TokensSection(options) = desk.settings()?;
    let compiled = tokens::read(&input.source, desk.view(), &options)?;
    let sources = tokens::named(&input.source, desk.view(), &options)?;
    desk.check()?;
    let index = Index::new(&compiled, &options);
    let found = look(&compiled, &index, &sources, &input.paths, input.tolerance, desk)?;
    if input.fix {
        for file in &found.files {
            if file.usages.iter().any(|usage| usage.kept.is_none()) {
                let text = replaced(&file.text, &file.usages);
                desk.put(&file.path, text.into_bytes(), FileMode::Regular)?;
            }
        }
    }
    Ok(answer(found, input.fix))
}

fn answer(found: Found, fix: bool) -> Answer<Output> {
    let files = found.files.len();
    let mut left_out: BTreeMap<LeftOut, usize> = BTreeMap::new();
    let mut usages = Vec::new();
    for file in found.files {
        for usage in file.usages {
            let place = shown(file.path.to_string(), usage);
            if let Some(why) = place.left_out {
                *left_out.entry(why).or_default() += 1;
            }
            usages.push(place);
        }
    }
    let exact = usages.len() - left_out.values().sum::<usize>();
    let coverage = found.coverage;
    let mut message = if usages.is_empty() {
        format!("No value in {} has a token.", counted(found.searched.files, "file"))
    } else {
        let verb = if usages.len() == 1 { "has" } else { "have" };
        let of =
            format!("**{}** in {} {verb} a token", counted(usages.len(), "value"), counted(files, "file"));
        match (fix, exact) {
            (true, exact) => format!("{of}; the plan replaces {exact}."),
            (false, 0) => format!("{of}."),
            (false, exact) => format!("{of}; with `fix`, {exact} would be replaced."),
        }
    };
    for (why, count) in &left_out {
        let why = match why {
            LeftOut::Ambiguous => "several tokens have the value",
            LeftOut::Inexact => "the value is near, not equal",
            LeftOut::Redefined => "the project gives the token's name another value",
            LeftOut::Unloaded => "the file does not load the tokens: add `@use` of them",
            LeftOut::Mathematics => "Sass or Less computes with it",
            LeftOut::Name => "the token's name does not fit into the string",
        };
        message.push_str(&format!("\n{count} left out: {why}."));
    }
    message.push_str(&format!(
        "\nOf the declarations that tokens are for, {} use one, {} could, {} have a value that no token has.",
        coverage.tokens, coverage.hardcoded, coverage.unknown
    ));
    if !found.unused.is_empty() {
        message.push_str(&format!(" {} nothing uses.", counted(found.unused.len(), "token")));
    }
    for place in usages.iter().take(SHOWN) {
        let Place { path, line, column, property, value, replacement, .. } = place;
        message.push_str(&format!("\n- {path}:{line}:{column}: {property}: `{value}` → `{replacement}`"));
    }
    if usages.len() > SHOWN {
        message.push_str(&format!("\n- … showing {SHOWN} of {}", usages.len()));
    }
    let output = Output {
        usage_count: usages.len() as u64,
        replaced_count: if fix { exact as u64 } else { 0 },
        usages,
        coverage: Coverage {
            tokens: coverage.tokens as u64,
            hardcoded: coverage.hardcoded as u64,
            unknown: coverage.unknown as u64,
        },
        unused_count: found.unused.len() as u64,
        unused_tokens: found.unused.into_iter().take(LISTED).collect(),
        searched: found.searched,
    };
    Answer::new(message, output)
}

fn shown(path: String, usage: Usage) -> Place {
    Place {
        path,
        line: usage.line,
        column: usage.column,
        property: usage.property,
        value: usage.value,
        token_id: usage.token,
        replacement: usage.replacement,
        distance: usage.distance,
        ambiguous: usage.ambiguous,
        left_out: usage.kept.map(|kept| match kept {
            Kept::Ambiguous => LeftOut::Ambiguous,
            Kept::Inexact => LeftOut::Inexact,
            Kept::Redefined => LeftOut::Redefined,
            Kept::NotLoaded => LeftOut::Unloaded,
            Kept::Mathematics => LeftOut::Mathematics,
            Kept::Name => LeftOut::Name,
        }),
    }
}
