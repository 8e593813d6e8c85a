//! Why a run failed, from what it said: known patterns, how sure that is, and the calls to make next.
//!
//! It has no I/O. [`Analyzer::analyze`] reads a run's output, [`analyze_source`] and [`analyze_diff`] read code,
//! [`Analyzer::knowledge`] says what is known, [`recommend`] which MCP servers help with something. Everything that
//! leaves is bounded, and secrets in it are masked; but output is not to be trusted, and what was captured from it
//! must go through the same checks as any other argument.
//!
//! ```
//! use gatewright_failures::{Analyzer, FailedRun};
//!
//! let analyzer = Analyzer::new(&[]).unwrap();
//! let analysis = analyzer.analyze(&FailedRun {
//!     program: "go",
//!     args: &["build".to_owned()],
//!     exit_code: Some(1),
//!     stderr: "main.go:6:2: no required module provides package github.com/google/uuid; to add it:\n",
//!     ..FailedRun::default()
//! });
//! assert_eq!(analysis.findings[0].pattern, "go-missing-dep");
//! assert_eq!(analysis.affected_files, ["main.go"]);
//! assert_eq!(analysis.suggestions[0].tool.as_ref().unwrap().name, "go_mod_tidy");
//! ```

mod analysis;
mod analyzer;
mod builtin;
mod knowledge;
mod output;
mod pattern;
mod place;
mod read;
mod rule;
mod servers;
mod source;
mod suggestion;

pub use analysis::{AFFECTED_FILES, Analysis, Cut, Finding, MATCHES, Match, PLACES, Stream};
pub use analyzer::{Analyzer, FailedRun};
pub use knowledge::{KnowledgeBase, Known};
pub use output::ANALYSED_BYTES;
pub use pattern::{
    Category, ContextSpec, ExpressionSpec, Language, OutcomeSpec, PatternError, PatternSpec, Priority,
    Severity, SuggestionSpec, ToolCall,
};
pub use place::EXCERPT_CHARS;
pub use rule::{EXPRESSION_CHARS, OWN_PATTERNS};
pub use servers::{Recommendation, Registry, ServerQuery, ServerTopic, recommend};
pub use source::{SOURCE_BYTES, SOURCE_MATCHES, SourceAnalysis, SourceMatch, analyze_diff, analyze_source};
pub use suggestion::{MERGED_SUGGESTIONS, Merged, SUGGESTIONS, Suggestion, merge};
