//! What stands out in a changed file: patterns on the lines that were added, and no judgement beyond them.

use std::sync::OnceLock;

use exec::history::DiffFile;
use failures::{Category, Severity, analyze_diff};
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longer lines are a concern, in characters.
const LONG_LINE: usize = 200;

/// Most characters of a line that are shown.
const MAX_EXCERPT: usize = 160;

/// What to look for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Focus {
    /// Secrets, injection, code from text.
    Security,
    /// Loops within loops.
    Performance,
    /// Long lines, leftovers.
    Maintainability,
    /// Everything.
    #[default]
    All,
}

impl Focus {
    /// Whether a category is wanted.
    pub(crate) fn wants(self, category: Category) -> bool {
        match self {
            Self::All => true,
            Self::Security => category == Category::Security,
            Self::Performance => category == Category::Performance,
            Self::Maintainability => category == Category::Maintainability,
        }
    }
}

/// Something that stands out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Concern {
    /// How bad it is.
    pub severity: Severity,
    /// Its category.
    pub category: Category,
    /// The pattern that found it.
    pub rule: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What it is.
    pub message: String,
    /// The line's text, secrets masked.
    pub excerpt: String,
}

/// Whether a path is a test's, by the customs of the languages.
pub(crate) fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let folders = path.split('/').rev().skip(1);
    let of_folder =
        |folder: &str| matches!(folder, "test" | "tests" | "__tests__" | "testdata" | "spec" | "fixtures");
    folders.into_iter().any(of_folder)
        || name.contains("_test.")
        || name.contains(".test.")
        || name.contains(".spec.")
        || name.starts_with("test_")
}

struct Rule {
    id: &'static str,
    severity: Severity,
    category: Category,
    message: &'static str,
    expression: &'static str,
}

/// What is looked for besides what the failure analysis knows of source.
const RULES: &[Rule] = &[
    Rule {
        id: "code-from-text",
        severity: Severity::High,
        category: Category::Security,
        message: "code or a command is made from text",
        expression: r#"\b(eval|exec|execSync|system|popen|shell_exec|new\s+Function)\s*\(|shell\s*=\s*True|\binnerHTML\s*=|dangerouslySetInnerHTML|exec\.Command\(\s*"(sh|bash)""#,
    },
    Rule {
        id: "leftover-note",
        severity: Severity::Low,
        category: Category::Maintainability,
        message: "a note says that something is left to do",
        expression: r"\b(TODO|FIXME|XXX|HACK)\b",
    },
    Rule {
        id: "leftover-debugging",
        severity: Severity::Low,
        category: Category::Maintainability,
        message: "it looks like debugging that was left",
        expression: r#"\bconsole\.(log|debug)\(|\bdebugger\s*;|\bdbg!\(|\bbreakpoint\(\)|\bpdb\.set_trace\(|^\s*print\(|\bfmt\.Print(ln|f)?\("(DEBUG|debug|here)"#,
    },
    Rule {
        id: "conflict-marker",
        severity: Severity::High,
        category: Category::Maintainability,
        message: "a merge was not finished",
        expression: r"^(<{7}|>{7})\s",
    },
];

fn rules() -> &'static [(&'static Rule, Regex)] {
    static COMPILED: OnceLock<Vec<(&'static Rule, Regex)>> = OnceLock::new();
    COMPILED.get_or_init(|| {
        RULES.iter().filter_map(|rule| Some((rule, Regex::new(rule.expression).ok()?))).collect()
    })
}

/// What stands out in the lines that were added to a file.
pub(crate) fn concerns(file: &DiffFile) -> Vec<Concern> {
    let path = &file.path;
    let text = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{}", file.hunks);
    let known = analyze_diff(&text).matches.into_iter().map(|found| Concern {
        severity: found.severity,
        category: found.category,
        message: match found.pattern.as_str() {
            "sec-hardcoded-secrets" => "a secret stands in the source".to_owned(),
            "sec-sql-injection" => "a query is made from text".to_owned(),
            "perf-nested-loops" => "a loop runs within a loop".to_owned(),
            other => other.to_owned(),
        },
        rule: found.pattern,
        file: path.clone(),
        line: found.line,
        excerpt: shortened(&found.excerpt),
    });
    let mut all: Vec<Concern> = known.collect();
    for (line, text) in added(&file.hunks) {
        let concern = |rule: &str, severity, category, message: String| Concern {
            severity,
            category,
            rule: rule.to_owned(),
            file: path.clone(),
            line,
            message,
            excerpt: shortened(text),
        };
        for (rule, expression) in rules() {
            if expression.is_match(text) {
                all.push(concern(rule.id, rule.severity, rule.category, rule.message.to_owned()));
            }
        }
        let length = text.chars().count();
        if length > LONG_LINE {
            let message = format!("the line has {length} characters");
            all.push(concern("long-line", Severity::Low, Category::Maintainability, message));
        }
    }
    all
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_EXCERPT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The lines that hunks add, with their numbers in the new file.
fn added(hunks: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut number = 0;
    hunks.lines().filter_map(move |line| {
        if let Some(head) = line.strip_prefix("@@ ") {
            let new = head.split(' ').nth(1).and_then(|new| new.trim_start_matches('+').split(',').next());
            number = new.and_then(|new| new.parse().ok()).unwrap_or(1);
            return None;
        }
        if let Some(text) = line.strip_prefix('+') {
            number += 1;
            return Some((number - 1, text));
        }
        if line.starts_with(' ') {
            number += 1;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_added_are_numbered_as_in_the_new_file() {
        let hunks = "@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n@@ -9 +10 @@\n-x\n+y\n";
        assert_eq!(added(hunks).collect::<Vec<_>>(), [(2, "2"), (3, "3"), (10, "y")]);
    }

    #[test]
    fn every_rule_compiles_and_tests_are_told_by_their_names() {
        assert_eq!(rules().len(), RULES.len());
        for path in ["a/tests/x.rs", "x_test.go", "web/a.test.ts", "test_x.py", "__tests__/a.js"] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/contest.rs", "latest.go", "src/testing.md"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
