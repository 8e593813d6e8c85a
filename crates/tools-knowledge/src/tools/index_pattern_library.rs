//! Look through the libraries anew.
//!
//! Says what is in them and what is wrong with which file and line. Searches do so by themselves whenever files change: ask for this to
//! see the problems, or with `force` to read everything again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use contract::text::counted;
use contract::{Fault, Toolset};
use kit::limits::Limits;
use kit::markdown::{code, text};
use kit::{Answer, Define, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::libraries::{category_invalid, service, used};
use crate::stock::{Again, Counts};

/// Most problems that are told.
const MOST: usize = 50;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Read again what has not changed.
    #[serde(default)]
    force: bool,
    /// Only that of this category, with `force`; the counts are of it.
    #[serde(default)]
    #[schemars(regex(pattern = r"^[a-z0-9-]{1,64}$"))]
    category: Option<String>,
}

/// Something wrong in a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Wrong {
    /// The library.
    library: String,
    /// The file in it.
    file: String,
    /// The line, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// Where in the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    /// What kind of problem it is.
    code: String,
    /// What is wrong, and what to do about it.
    message: String,
}

/// What was looked through.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Looked {
    /// Patterns, with those that cannot be read.
    total_patterns: u64,
    /// Those that were read.
    indexed: u64,
    /// Those that are as they were.
    skipped: u64,
    /// Those that cannot be read.
    failed: u64,
    /// Those that are no more.
    removed: u64,
    /// Patterns by category.
    categories: BTreeMap<String, u64>,
    /// What is wrong, by file.
    problems: Vec<Wrong>,
    /// How long it took.
    milliseconds: u64,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What was looked through.
    data: Looked,
}

/// The tool.
#[derive(Debug, Default)]
pub struct IndexPatternLibrary;

impl Define for IndexPatternLibrary {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "index_pattern_library";
    const TOOLSET: Toolset = crate::PATTERNS;
    const DOC: kit::Doc = doc!("index_pattern_library.rs");
    const ALIASES: &'static [&'static str] = &["indexPatternLibrary"];
    const NEEDS_ROOT: bool = false;
    // An index is made whole or not at all: of a million patterns in eleven minutes.
    const LIMITS: Limits = Limits { timeout: Duration::from_hours(1), ..Limits::DEFAULT };

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "force": true, "category": "database" })]
    }
}

impl Read for IndexPatternLibrary {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let (libraries, used) = (service(&desk)?, used(&desk).await?);
        let data = desk
            .blocking(move |desk| {
                let began = Instant::now();
                let only = input.category.as_deref();
                let again = if input.force { Again::All(only) } else { Again::Looked };
                let looked = libraries.look(desk, &used, again)?;
                let mut categories = looked.categories();
                if let Some(category) = only
                    && !categories.contains_key(category)
                {
                    return Err(category_invalid(category, categories.keys().map(String::as_str)));
                }
                categories.retain(|category, _| only.is_none_or(|only| only == category));
                let reports = looked.reports.iter().map(|report| report.sum(only));
                let sum = reports.fold(Counts::default(), Counts::and);
                let is_of_it = |file: &str| only.is_none_or(|only| file.split('/').any(|part| part == only));
                let mut problems = Vec::new();
                for opened in &looked.libraries {
                    let room = MOST.saturating_sub(problems.len());
                    let found = opened.problems()?.into_iter().filter(|problem| is_of_it(&problem.file));
                    problems.extend(found.take(room).map(|problem| Wrong {
                        library: opened.library.name.to_string(),
                        file: problem.file,
                        line: problem.line,
                        column: problem.column,
                        code: problem.code.as_str().to_owned(),
                        message: problem.message,
                    }));
                }
                Ok(Looked {
                    total_patterns: sum.indexed + sum.skipped + sum.failed,
                    indexed: sum.indexed,
                    skipped: sum.skipped,
                    failed: sum.failed,
                    removed: sum.removed,
                    categories,
                    problems,
                    milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                })
            })
            .await?;
        Ok(Answer::new(said(&data), Output { data }))
    }
}

fn said(data: &Looked) -> String {
    let mut message = format!(
        "{}: {} read, {} as they were, {} that cannot be read, {} gone.\n",
        counted(data.total_patterns, "pattern"),
        data.indexed,
        data.skipped,
        data.failed,
        data.removed
    );
    for (category, count) in &data.categories {
        message.push_str(&format!("- {}: {count}\n", text(category)));
    }
    for problem in &data.problems {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = format!("{}{line}", problem.file);
        message.push_str(&format!(
            "\n{} in {}: {}\n",
            code(&place),
            text(&problem.library),
            text(&problem.message)
        ));
    }
    message
}
