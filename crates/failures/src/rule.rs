//! Patterns made ready: checked, and compiled where they are first needed.

use std::{collections::BTreeSet, sync::OnceLock};

use regex::{Regex, RegexBuilder};

use crate::{
    pattern::{ExpressionSpec, PatternError, PatternSpec},
    suggestion::placeholders,
};

/// The largest number of own patterns.
pub const OWN_PATTERNS: usize = 200;
/// The longest expression, in characters.
pub const EXPRESSION_CHARS: usize = 1_000;
/// The largest compiled expression, in bytes.
const COMPILED_BYTES: usize = 1 << 20;
const EXPRESSIONS: usize = 20;
const CONTEXTS: usize = 4;
const CONTEXT_LINES: u8 = 20;
const SUGGESTIONS: usize = 5;
const TEXT_CHARS: usize = 1_000;
const LITERALS: usize = 20;
/// Captures that every run has.
pub(crate) const ALWAYS: &[&str] = &["run", "program", "command", "seconds"];

/// An expression that is compiled when it is first used.
#[derive(Debug)]
pub(crate) struct Lazy {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Lazy {
    fn new(source: &str) -> Self {
        Self { source: source.to_owned(), compiled: OnceLock::new() }
    }

    /// The expression; none where it does not compile, which a check rules out before.
    pub(crate) fn get(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(&self.source).ok()).as_ref()
    }
}

fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).size_limit(COMPILED_BYTES).build()
}

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) find: Lazy,
    pub(crate) after: usize,
    pub(crate) before: usize,
    pub(crate) required: bool,
}

#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) find: Lazy,
    pub(crate) literals: Vec<String>,
    pub(crate) context: Vec<Context>,
    pub(crate) command: Option<Lazy>,
}

impl Expression {
    fn new(spec: &ExpressionSpec) -> Self {
        Self {
            find: Lazy::new(&spec.find),
            literals: spec.literals.clone(),
            context: spec
                .context
                .iter()
                .map(|context| Context {
                    find: Lazy::new(&context.find),
                    after: usize::from(context.after),
                    before: usize::from(context.before),
                    required: context.required,
                })
                .collect(),
            command: spec.command.as_deref().map(Lazy::new),
        }
    }
}

/// A pattern made ready.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) spec: PatternSpec,
    pub(crate) own: bool,
    pub(crate) expressions: Vec<Expression>,
    /// The `command` of each outcome.
    pub(crate) commands: Vec<Option<Lazy>>,
}

impl Rule {
    pub(crate) fn new(spec: PatternSpec, own: bool) -> Self {
        let expressions = spec.expressions.iter().map(Expression::new).collect();
        let commands =
            spec.outcomes.iter().map(|outcome| outcome.command.as_deref().map(Lazy::new)).collect();
        Self { spec, own, expressions, commands }
    }
}

/// Whether a pattern can be used; built-in ones are held to the same by a test.
pub(crate) fn check(spec: &PatternSpec) -> Result<(), PatternError> {
    let shape = |ok: bool, reason: &str| {
        if ok {
            return Ok(());
        }
        Err(PatternError::Shape { id: spec.id.chars().take(64).collect(), reason: reason.to_owned() })
    };
    let named = (1..=64).contains(&spec.id.len())
        && spec.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    shape(named, "an id has 1 to 64 lower-case letters, digits and hyphens")?;
    shape(!spec.title.trim().is_empty(), "it needs a title")?;
    let short = |text: &str| text.chars().take(TEXT_CHARS + 1).count() <= TEXT_CHARS;
    shape(
        short(&spec.title) && short(&spec.explanation),
        "title and explanation have at most 1,000 characters",
    )?;
    shape(
        !spec.expressions.is_empty() || !spec.outcomes.is_empty(),
        "it needs an expression or an outcome, or it never matches",
    )?;
    shape(spec.expressions.len() <= EXPRESSIONS, "at most 20 expressions")?;
    shape(spec.outcomes.len() <= EXPRESSIONS, "at most 20 outcomes")?;
    shape(spec.suggestions.len() <= SUGGESTIONS, "at most 5 suggestions")?;
    let mut known: BTreeSet<String> = ALWAYS.iter().map(|&name| name.to_owned()).collect();
    for expression in &spec.expressions {
        let regex = usable(spec, &expression.find)?;
        if regex.is_match("") {
            return Err(wrong(spec, &expression.find, "it matches an empty line, and so every line"));
        }
        known.extend(regex.capture_names().flatten().map(str::to_owned));
        shape(expression.literals.len() <= LITERALS, "an expression has at most 20 literals")?;
        shape(
            expression.literals.iter().all(|l| !l.is_empty() && short(l) && !l.contains('\n')),
            "a literal is not empty and stands on one line",
        )?;
        shape(expression.context.len() <= CONTEXTS, "an expression has at most 4 contexts")?;
        for context in &expression.context {
            known.extend(usable(spec, &context.find)?.capture_names().flatten().map(str::to_owned));
            let near = context.after <= CONTEXT_LINES && context.before <= CONTEXT_LINES;
            shape(near && context.after + context.before > 0, "a context looks at 1 to 20 lines each way")?;
        }
        if let Some(command) = &expression.command {
            usable(spec, command)?;
        }
    }
    for outcome in &spec.outcomes {
        let given = outcome.exit_code.is_some() || outcome.signal.is_some() || outcome.timed_out.is_some();
        shape(given, "an outcome needs an exit_code, a signal or timed_out")?;
        if let Some(command) = &outcome.command {
            usable(spec, command)?;
        }
    }
    for suggestion in &spec.suggestions {
        shape(short(&suggestion.text), "a suggestion has at most 1,000 characters")?;
        shape((0.0..=1.0).contains(&suggestion.confidence), "a confidence is between 0 and 1")?;
        if let Some(capture) = placeholders(suggestion).into_iter().find(|name| !known.contains(name)) {
            return Err(PatternError::Capture { id: spec.id.clone(), capture });
        }
    }
    Ok(())
}

fn usable(spec: &PatternSpec, source: &str) -> Result<Regex, PatternError> {
    if source.chars().take(EXPRESSION_CHARS + 1).count() > EXPRESSION_CHARS {
        return Err(wrong(spec, source, "it is longer than 1,000 characters"));
    }
    compile(source).map_err(|error| {
        // The reader draws a picture over several lines; its last line is the reason.
        let said = error.to_string();
        wrong(spec, source, said.lines().last().unwrap_or_default().trim_start_matches("error: "))
    })
}

fn wrong(spec: &PatternSpec, source: &str, reason: &str) -> PatternError {
    PatternError::Expression {
        id: spec.id.clone(),
        expression: source.chars().take(200).collect(),
        reason: reason.to_owned(),
    }
}
