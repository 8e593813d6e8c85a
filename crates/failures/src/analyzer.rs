//! A failed run in, what went wrong out.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use aho_corasick::AhoCorasick;

use crate::{
    analysis::{AFFECTED_FILES, Analysis, Cut, Finding, MATCHES, PLACES, Stream},
    builtin,
    output::Output,
    pattern::{Category, PatternError, PatternSpec, Priority, Severity, ToolCall},
    place::Place,
    read::{Found, Reader},
    rule::{OWN_PATTERNS, Rule, check},
    suggestion::{Lookup, SUGGESTIONS, Suggestion, There, fill, ranked},
};

/// A run that failed. Everything but the program may be left at its default.
#[derive(Debug, Clone, Copy, Default)]
pub struct FailedRun<'a> {
    /// The program's name.
    pub program: &'a str,
    /// Its arguments.
    pub args: &'a [String],
    /// How it ended, unless by a signal.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was stopped because its time was over.
    pub timed_out: bool,
    /// What it said.
    pub stdout: &'a str,
    /// What it complained about.
    pub stderr: &'a str,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// The handle by which the whole output can be read again.
    pub run: Option<&'a str>,
    /// The root's absolute path, so that files below it are said relative to it. Other absolute paths never are
    /// affected files.
    pub root: Option<&'a str>,
    /// The root-relative folder where it ran: the relative paths that it says begin there.
    pub dir: Option<&'a str>,
    /// Tools that work in the folder that their `directory` names: a call of one is suggested where the run was.
    pub placed: &'a [String],
    /// Root-relative paths that are known: a program that says only a file's name then still tells which it is.
    pub files: &'a [String],
}

impl FailedRun<'_> {
    fn command(&self) -> String {
        let mut command = self.program.to_owned();
        for arg in self.args {
            command.push(' ');
            command.push_str(arg);
        }
        command
    }
}

/// The patterns, ready.
#[derive(Debug)]
pub struct Analyzer {
    own: Vec<PatternSpec>,
    /// Made with the first failure: most processes meet none.
    rules: OnceLock<Vec<Rule>>,
    index: OnceLock<Index>,
}

/// Which expressions a line is tried with.
#[derive(Debug)]
struct Index {
    /// Finds literals; none where it could not be built, and every line is tried with everything.
    literals: Option<AhoCorasick>,
    /// By literal: the expression as (rule, expression).
    of_literal: Vec<(usize, usize)>,
    /// Expressions without literals.
    always: Vec<(usize, usize)>,
}

impl Analyzer {
    /// The built-in patterns and a project's own, which are tried first.
    pub fn new(own: &[PatternSpec]) -> Result<Self, PatternError> {
        if own.len() > OWN_PATTERNS {
            return Err(PatternError::TooMany { given: own.len(), limit: OWN_PATTERNS });
        }
        let built_in = if own.is_empty() { Vec::new() } else { builtin::patterns() };
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for spec in own {
            check(spec)?;
            if built_in.iter().any(|other| other.id == spec.id) {
                return Err(PatternError::BuiltIn { id: spec.id.clone() });
            }
            if !seen.insert(&spec.id) {
                return Err(PatternError::Twice { id: spec.id.clone() });
            }
        }
        Ok(Self { own: own.to_vec(), rules: OnceLock::new(), index: OnceLock::new() })
    }

    /// The patterns, the project's own first.
    pub(crate) fn rules(&self) -> &[Rule] {
        self.rules.get_or_init(|| {
            let own = self.own.iter().map(|spec| Rule::new(spec.clone(), true));
            own.chain(builtin::patterns().into_iter().map(|spec| Rule::new(spec, false))).collect()
        })
    }

    /// Why the run failed. Linear in the output; of each stream [`crate::ANALYSED_BYTES`] are looked at.
    #[must_use]
    pub fn analyze(&self, run: &FailedRun<'_>) -> Analysis {
        let command = run.command();
        let mut found = vec![Found::default(); self.rules().len()];
        let mut analysed = 0;
        for (stream, said) in [(Stream::Stdout, run.stdout), (Stream::Stderr, run.stderr)] {
            let output = Output::new(said);
            analysed += output.analysed;
            self.read(&output, stream, run, &command, &mut found);
        }
        for (rule, found) in self.rules().iter().zip(&mut found) {
            found.outcome = outcome(rule, run, &command);
        }
        let total = run.stdout.len() + run.stderr.len();
        let cut = (analysed < total).then_some(Cut { analysed_bytes: analysed, total_bytes: total });
        self.conclude(run, &command, found, cut)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let (mut literals, mut of_literal, mut always) = (Vec::new(), Vec::new(), Vec::new());
            for (r, rule) in self.rules().iter().enumerate() {
                for (e, expression) in rule.expressions.iter().enumerate() {
                    if expression.literals.is_empty() {
                        always.push((r, e));
                    }
                    for literal in &expression.literals {
                        literals.push(literal.as_str());
                        of_literal.push((r, e));
                    }
                }
            }
            let built = AhoCorasick::new(&literals).ok();
            if built.is_none() {
                always.append(&mut of_literal);
                always.sort_unstable();
                always.dedup();
            }
            Index { literals: built, of_literal, always }
        })
    }

    fn read(
        &self,
        output: &Output<'_>,
        stream: Stream,
        run: &FailedRun<'_>,
        command: &str,
        found: &mut [Found],
    ) {
        let index = self.index();
        let mut reader =
            Reader { rules: self.rules(), output, stream, run, command, allowed: BTreeMap::new(), found };
        let mut wanted: BTreeSet<(usize, usize)> = BTreeSet::new();
        if index.always.is_empty() {
            let mut line = 0;
            for hit in index
                .literals
                .iter()
                .flat_map(|literals| literals.find_overlapping_iter(output.text.as_ref()))
            {
                let here = output.index_of(hit.start(), line);
                if here != line {
                    reader.line(line, &wanted);
                    wanted.clear();
                    line = here;
                }
                wanted.extend(index.of_literal.get(hit.pattern().as_usize()));
            }
            reader.line(line, &wanted);
            return;
        }
        for line in 0..output.len() {
            wanted.clear();
            wanted.extend(&index.always);
            for hit in
                index.literals.iter().flat_map(|literals| literals.find_overlapping_iter(output.line(line)))
            {
                wanted.extend(index.of_literal.get(hit.pattern().as_usize()));
            }
            reader.line(line, &wanted);
        }
    }

    fn conclude(&self, run: &FailedRun<'_>, command: &str, found: Vec<Found>, cut: Option<Cut>) -> Analysis {
        let mut hits: Vec<(&Rule, Found)> =
            self.rules().iter().zip(found).filter(|(_, found)| found.count > 0 || found.outcome).collect();
        hits.sort_by_key(|(rule, _)| std::cmp::Reverse(rule.spec.severity));
        let severities: Vec<Severity> = hits.iter().map(|(rule, _)| rule.spec.severity).collect();
        let long = run.stdout.chars().chain(run.stderr.chars()).nth(LONG_OUTPUT_CHARS).is_some();
        let confidence = confidence(hits.len(), severities.contains(&Severity::High), long);
        let always = Always {
            run: run.run,
            program: run.program,
            command,
            seconds: (run.duration_ms / 1_000).to_string(),
        };
        let dir = run.dir.map(|dir| dir.trim_matches('/')).filter(|dir| !dir.is_empty() && *dir != ".");
        let mut suggestions = Vec::new();
        let mut files: Vec<String> = Vec::new();
        for (rule, found) in &hits {
            let values = Values { always: &always, places: &found.places };
            let places: Vec<Place> = found.places.iter().filter_map(|place| Some(place.from(dir?))).collect();
            let there = Values { always: &always, places: &places };
            let there = dir.map(|dir| There { dir, placed: run.placed, values: &there });
            let specs = rule.spec.suggestions.iter();
            suggestions.extend(specs.filter_map(|spec| fill(spec, &values, there.as_ref(), confidence)));
            for file in &found.files {
                if files.len() < AFFECTED_FILES && !files.contains(file) {
                    files.push(file.clone());
                }
            }
        }
        suggestions.extend(general(run, hits.is_empty(), confidence));
        Analysis {
            category: hits.first().map_or(Category::General, |(rule, _)| rule.spec.category),
            severity: severities.into_iter().max().unwrap_or(Severity::Medium),
            confidence,
            explained: !hits.is_empty(),
            findings: hits
                .iter()
                .map(|(rule, found)| Finding {
                    pattern: rule.spec.id.clone(),
                    category: rule.spec.category,
                    severity: rule.spec.severity,
                    title: rule.spec.title.clone(),
                    explanation: rule.spec.explanation.clone(),
                    count: found.count,
                })
                .collect(),
            matches: hits
                .iter()
                .flat_map(|(rule, found)| {
                    found.places.iter().take(PLACES).map(|place| place.said(&rule.spec.id))
                })
                .take(MATCHES)
                .collect(),
            suggestions: ranked(suggestions, SUGGESTIONS),
            affected_files: files,
            cut,
        }
    }
}

const LONG_OUTPUT_CHARS: usize = 5_000;

/// The catalogue's figure, computed in thousandths so that rounding (half up) does not depend on doubles.
fn confidence(findings: usize, any_high: bool, long_output: bool) -> f64 {
    if findings == 0 {
        return 0.3;
    }
    let mut thousandths = 500 + (150 * findings.min(2)) + if any_high { 100 } else { 0 };
    if long_output {
        thousandths = thousandths * 9 / 10;
    }
    let hundredths = u32::try_from((thousandths.min(1_000) + 5) / 10).unwrap_or(100);
    f64::from(hundredths) / 100.0
}

/// Rounded to two digits.
pub(crate) fn two_digits(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// What can be done whatever went wrong.
fn general(run: &FailedRun<'_>, unexplained: bool, confidence: f64) -> Vec<Suggestion> {
    let make = |text: String, priority, tool: Option<(&str, serde_json::Value)>| Suggestion {
        text,
        priority,
        confidence: two_digits(confidence * 0.8),
        tool: tool.map(|(name, arguments)| ToolCall {
            name: name.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        }),
    };
    let mut suggestions = Vec::new();
    if unexplained && run.timed_out {
        let text = "The run was stopped because its time was over: give it more (`timeout`) or less to do.";
        suggestions.push(make(text.to_owned(), Priority::High, None));
    }
    if unexplained && run.exit_code == Some(127) {
        let text = format!(
            "Exit code 127: `{}` or a program that it starts was not found; install it.",
            run.program
        );
        suggestions.push(make(text, Priority::High, None));
    }
    if let Some(handle) = run.run {
        let priority = if unexplained { Priority::Medium } else { Priority::Low };
        let call = serde_json::json!({ "run": handle, "aroundFailure": true });
        suggestions.push(make(
            "Read the output around the first failure.".to_owned(),
            priority,
            Some(("run_output", call)),
        ));
    }
    suggestions
}

fn outcome(rule: &Rule, run: &FailedRun<'_>, command: &str) -> bool {
    rule.spec.outcomes.iter().zip(&rule.commands).any(|(spec, only)| {
        spec.exit_code.is_none_or(|code| run.exit_code == Some(code))
            && spec.signal.is_none_or(|signal| run.signal == Some(signal))
            && spec.timed_out.is_none_or(|timed_out| run.timed_out == timed_out)
            && only.as_ref().is_none_or(|only| only.get().is_some_and(|regex| regex.is_match(command)))
    })
}

struct Always<'a> {
    run: Option<&'a str>,
    program: &'a str,
    command: &'a str,
    seconds: String,
}

struct Values<'a> {
    always: &'a Always<'a>,
    places: &'a [Place],
}

impl Lookup for Values<'_> {
    fn first(&self, name: &str) -> Option<&str> {
        match name {
            "run" => self.always.run,
            "program" => Some(self.always.program),
            "command" => Some(self.always.command),
            "seconds" => Some(&self.always.seconds),
            _ => self.places.iter().find_map(|place| place.captures.get(name)).map(String::as_str),
        }
    }

    fn all(&self, name: &str) -> Vec<&str> {
        self.places.iter().filter_map(|place| place.captures.get(name)).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_the_catalogues_figure() {
        for (findings, any_high, long, expected) in [
            (0, false, false, 0.3),
            (0, false, true, 0.3),
            (1, false, false, 0.65),
            (1, true, false, 0.75),
            (2, false, false, 0.8),
            (2, true, false, 0.9),
            (3, true, false, 0.9),
            (9, false, false, 0.8),
            (1, false, true, 0.59),
            (1, true, true, 0.68),
            (2, false, true, 0.72),
            (2, true, true, 0.81),
            (27, true, true, 0.81),
        ] {
            let given = confidence(findings, any_high, long);
            assert!((given - expected).abs() < f64::EPSILON, "{findings} {any_high} {long}");
        }
    }
}
