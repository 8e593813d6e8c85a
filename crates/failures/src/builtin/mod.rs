//! The built-in patterns. Their order is their rank among equally severe ones: causes come before what follows from
//! them (a package that is missing before the build that fails without it).

mod cpp;
mod general;
mod go;
mod java;
mod javascript;
mod python;
mod rust;

use serde_json::Value;

use crate::pattern::{
    Category, ContextSpec, ExpressionSpec, Language, OutcomeSpec, PatternSpec, Priority, Severity,
    SuggestionSpec, ToolCall,
};

/// The pattern that is looked for in sources, never in output.
pub(crate) const NESTED_LOOPS: &str = "perf-nested-loops";
/// Secrets, in sources and in output.
pub(crate) const SECRETS: &str = "sec-hardcoded-secrets";
/// SQL put together from values, in sources and in output.
pub(crate) const SQL: &str = "sec-sql-injection";

/// Every built-in pattern.
pub(crate) fn patterns() -> Vec<PatternSpec> {
    let mut all = general::first();
    all.extend(go::patterns());
    all.extend(javascript::patterns());
    all.extend(python::patterns());
    all.extend(rust::patterns());
    all.extend(java::patterns());
    all.extend(cpp::patterns());
    all.extend(general::last());
    all
}

/// A pattern in the making.
struct Draft(PatternSpec);

fn draft(id: &str, category: Category, severity: Severity, languages: &[Language], title: &str) -> Draft {
    Draft(PatternSpec {
        id: id.to_owned(),
        category,
        severity,
        title: title.to_owned(),
        explanation: String::new(),
        languages: languages.to_vec(),
        expressions: Vec::new(),
        outcomes: Vec::new(),
        suggestions: Vec::new(),
    })
}

impl Draft {
    fn because(mut self, explanation: &str) -> Self {
        explanation.clone_into(&mut self.0.explanation);
        self
    }

    /// Another expression; one of the literals is in every line that it matches.
    fn find(mut self, literals: &[&str], find: &str) -> Self {
        self.0.expressions.push(ExpressionSpec {
            find: find.to_owned(),
            literals: literals.iter().map(|&literal| literal.to_owned()).collect(),
            ..ExpressionSpec::default()
        });
        self
    }

    /// What the lines before and after the last expression's match say.
    fn near(self, before: u8, after: u8, find: &str) -> Self {
        self.context(ContextSpec { find: find.to_owned(), after, before, required: false })
    }

    /// What they must say.
    fn need(self, before: u8, after: u8, find: &str) -> Self {
        self.context(ContextSpec { find: find.to_owned(), after, before, required: true })
    }

    fn context(mut self, context: ContextSpec) -> Self {
        if let Some(expression) = self.0.expressions.last_mut() {
            expression.context.push(context);
        }
        self
    }

    fn outcome(mut self, outcome: OutcomeSpec) -> Self {
        self.0.outcomes.push(outcome);
        self
    }

    fn say(mut self, priority: Priority, confidence: f64, text: &str) -> Self {
        self.0.suggestions.push(SuggestionSpec { text: text.to_owned(), priority, confidence, tool: None });
        self
    }

    /// The call that the last suggestion makes; the arguments are a JSON object.
    fn call(mut self, name: &str, arguments: Value) -> Self {
        if let Some(suggestion) = self.0.suggestions.last_mut() {
            let arguments = match arguments {
                Value::Object(arguments) => arguments,
                _ => serde_json::Map::new(),
            };
            suggestion.tool = Some(ToolCall { name: name.to_owned(), arguments });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rule::check;

    #[test]
    fn every_pattern_of_the_catalogue_is_there_with_its_severity() {
        let expected = [
            ("go-missing-dep", "high"),
            ("go-test-fail", "high"),
            ("go-race-condition", "high"),
            ("go-lint-issues", "medium"),
            ("go-build-fail", "high"),
            ("js-module-not-found", "high"),
            ("js-typescript-error", "medium"),
            ("js-eslint-errors", "medium"),
            ("python-import-error", "high"),
            ("rust-borrow-checker", "high"),
            ("rust-lifetime-error", "high"),
            ("rust-async-error", "medium"),
            ("rust-cargo-dependency", "high"),
            ("java-null-pointer", "high"),
            ("java-class-not-found", "high"),
            ("java-compilation-error", "high"),
            ("java-maven-dependency", "high"),
            ("cpp-segfault", "high"),
            ("cpp-linker-error", "high"),
            ("cpp-memory-leak", "high"),
            ("cpp-compilation-error", "high"),
            ("sec-hardcoded-secrets", "high"),
            ("sec-sql-injection", "high"),
            ("perf-nested-loops", "low"),
            ("config-missing-env", "medium"),
            ("test-timeout", "medium"),
            ("build-out-of-memory", "high"),
        ];
        let all = patterns();
        let found: BTreeMap<&str, &str> = all.iter().map(|p| (p.id.as_str(), p.severity.as_str())).collect();
        assert_eq!(found, BTreeMap::from(expected));
        assert_eq!(all.len(), expected.len());
    }

    #[test]
    fn built_in_patterns_keep_the_rules_for_own_ones() {
        for pattern in patterns() {
            assert!(!pattern.explanation.is_empty() && !pattern.suggestions.is_empty(), "{}", pattern.id);
            if pattern.id != NESTED_LOOPS {
                assert_eq!(check(&pattern), Ok(()), "{}", pattern.id);
                assert!(pattern.expressions.iter().all(|e| !e.literals.is_empty()), "{}", pattern.id);
            }
        }
    }
}
