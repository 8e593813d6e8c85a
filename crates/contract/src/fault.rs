//! What went wrong, in a form that a program can act on and a person can follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who can do something about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The caller: fix the arguments, then retry.
    User,
    /// A person must decide: stop.
    Policy,
    /// Not the caller's fault: do not hammer.
    System,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing was lost and a retry will do.
    Low,
    /// The call did not do what was asked.
    Medium,
    /// Something needs a person's attention.
    High,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $kind:ident, $retryable:literal, $severity:ident;)*) => {
        /// What went wrong: a closed list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code, for the reference.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as it is spelled on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Who can do something about it.
            #[must_use]
            pub const fn kind(self) -> FaultKind {
                match self { $(Self::$variant => FaultKind::$kind,)* }
            }

            /// Whether the same call may succeed later, unchanged.
            #[must_use]
            pub const fn is_retryable(self) -> bool {
                match self { $(Self::$variant => $retryable,)* }
            }

            /// How bad it is.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// The arguments do not fit the tool's schema, or contradict each other. `VALIDATION_ERROR` is the documented alias.
    InvalidArgument = "invalid_argument", User, false, Low;
    /// A file, plan, handle or record that was named does not exist, has expired or belongs to someone else.
    NotFound = "not_found", User, false, Low;
    /// There is no root to work in.
    NoRoot = "no_root", User, false, Low;
    /// What the plan was computed from has moved; nothing was changed.
    Conflict = "conflict", User, true, Medium;
    /// No library has a pattern or skill of that id.
    PatternNotFound = "pattern_not_found", User, false, Low;
    /// No library has a category of that name.
    CategoryInvalid = "category_invalid", User, false, Low;
    /// A skill's own code failed, or does not do what a skill must.
    SkillExecutionFailed = "skill_execution_failed", User, false, Medium;
    /// The sources have errors; nothing was written.
    InvalidSource = "invalid_source", User, false, Medium;
    /// The path leaves the root, is protected, or is not a regular file.
    PathNotAllowed = "path_not_allowed", Policy, false, High;
    /// Policy forbids the call.
    Forbidden = "forbidden", Policy, false, High;
    /// Too many calls; the message says when to try again.
    RateLimited = "rate_limited", Policy, true, Low;
    /// The tool's definition changed since it was approved.
    ApprovalRequired = "approval_required", Policy, false, High;
    /// Policy wants a person's consent: apply the reviewed plan by its id.
    ConfirmationRequired = "confirmation_required", Policy, false, Low;
    /// This machine cannot confine the run as policy requires.
    ConfinementUnavailable = "confinement_unavailable", Policy, false, High;
    /// A file, plan or output is larger than the limit.
    TooLarge = "too_large", User, false, Low;
    /// A program used more than it may: disk, processes or memory.
    ResourceExhausted = "resource_exhausted", System, false, Medium;
    /// The call took longer than it may.
    Timeout = "timeout", System, true, Medium;
    /// The caller cancelled.
    Cancelled = "cancelled", User, true, Low;
    /// A program could not start, crashed or timed out.
    ToolExecutionFailed = "tool_execution_failed", System, false, Medium;
    /// The ledger cannot be written, so the call was refused.
    LedgerUnavailable = "ledger_unavailable", System, true, High;
    /// The file system gave an error that is not about the arguments.
    FilesystemError = "filesystem_error", System, true, Medium;
    /// A defect of ours, a panic among them.
    Internal = "internal", System, false, High;
}

/// Why a call did not succeed. It is data, not text: every front door shows the same fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Who can do something about it.
    #[serde(rename = "type")]
    pub kind: FaultKind,
    /// What went wrong.
    pub code: Code,
    /// What happened and the exact next step.
    pub message: String,
    /// Whether the same call may succeed later, unchanged.
    pub retryable: bool,
    /// Next steps, most useful first.
    pub suggestions: Vec<String>,
    /// Root-relative paths that the fault is about.
    pub affected_files: Vec<String>,
    /// How bad it is.
    pub severity: Severity,
    /// Seconds after which a retry makes sense, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

impl Fault {
    /// A fault with the defaults of its code.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            kind: code.kind(),
            code,
            message: message.into(),
            retryable: code.is_retryable(),
            suggestions: Vec::new(),
            affected_files: Vec::new(),
            severity: code.severity(),
            retry_after: None,
        }
    }

    /// Adds a next step.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestions.push(suggestion.into());
        self
    }

    /// Says after how many seconds a retry makes sense.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Adds a path that the fault is about.
    #[must_use]
    pub fn about(mut self, path: impl Into<String>) -> Self {
        self.affected_files.push(path.into());
        self
    }

    /// Arguments that do not fit.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// A defect of ours.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message).suggest(
            "This is a defect in gatewright: report it with the transcript that `metadata.transcript` names.",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_spelling_is_the_serialised_one() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn a_fault_has_the_seven_fields_of_the_design() {
        let value = serde_json::to_value(Fault::invalid("x").about("a").suggest("b")).unwrap();
        let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            ["affectedFiles", "code", "message", "retryable", "severity", "suggestions", "type"]
        );
        assert_eq!(value["type"], "user");
        let value = serde_json::to_value(Fault::new(Code::RateLimited, "x").retry_after(2)).unwrap();
        assert_eq!(value["retryAfter"], 2);
    }
}
