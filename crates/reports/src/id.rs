//! One identity for one failure, across runs and machines.
//!
//! A test is (source, suite, name). A diagnostic is (source, rule, file, message without what differs from run to run,
//! how many equal ones came before). Lines and columns do not enter, so an edit above a finding does not make it a new
//! one; the root and the place of tools do not enter, because files are relative to the root and absolute paths are
//! taken out of messages.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The stable identity of a failure: 16 hexadecimal digits, the beginning of a SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct FailureId(String);

/// A text that is no identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a failure id is 16 hexadecimal digits in lower case")]
pub struct NotAnId;

impl FailureId {
    /// The identity of a test.
    pub fn test(source: &str, suite: Option<&str>, name: &str) -> Self {
        Self::of(&["test", source, suite.unwrap_or_default(), name])
    }

    /// The identity of a diagnostic. `file` is relative to the root; `occurrence` counts equal ones from 0.
    pub fn diagnostic(
        source: &str,
        rule: Option<&str>,
        file: Option<&str>,
        message: &str,
        occurrence: u32,
    ) -> Self {
        Self::stable(source, rule, file, &normal(message), occurrence)
    }

    /// As [`Self::diagnostic`], of a message that is normal already.
    pub(crate) fn stable(
        source: &str,
        rule: Option<&str>,
        file: Option<&str>,
        normal: &str,
        occurrence: u32,
    ) -> Self {
        let nth = occurrence.to_string();
        Self::of(&["diagnostic", source, rule.unwrap_or_default(), file.unwrap_or_default(), normal, &nth])
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    // Each part is preceded by its length, so that no two lists of parts are the same bytes.
    fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let first = hash.finalize().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        Self(format!("{first:016x}"))
    }
}

impl fmt::Display for FailureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for FailureId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if hex && text.len() == 16 { Ok(Self(text.to_owned())) } else { Err(NotAnId) }
    }
}

impl TryFrom<String> for FailureId {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        text.parse()
    }
}

impl From<FailureId> for String {
    fn from(id: FailureId) -> Self {
        id.0
    }
}

static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Absolute paths; addresses; durations; numbers. Each where no word is under way before it, so that `utf8`,
    // `int32` and `src/a` stay what they are.
    Regex::new(concat!(
        r"(^|[^\w./\\@~+-])(?:",
        r"(?P<path>(?:file://|[A-Za-z]:)?(?:[/\\][\w.@~+-]+){2,}[/\\]?)",
        r"|(?P<address>0x[0-9a-fA-F]+\b)",
        r"|(?P<time>(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+\b)",
        r"|(?P<number>\d+(?:[.,:]\d+)*)",
        r")"
    ))
    .ok()
});

/// A message without what differs between two runs of the same program over the same fault: absolute paths, memory
/// addresses, durations and numbers. Space is made single.
pub fn normal(message: &str) -> String {
    let single = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(variable) = VARIABLE.as_ref() else { return single };
    let put = |found: &Captures<'_>| {
        let before = found.get(1).map_or("", |group| group.as_str());
        let sign = [("path", "<path>"), ("address", "<address>"), ("time", "<time>"), ("number", "<number>")];
        let sign = sign.iter().find(|(group, _)| found.name(group).is_some());
        format!("{before}{}", sign.map_or("", |(_, sign)| sign))
    };
    variable.replace_all(&single, put).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_runs_is_taken_out() {
        let got = normal(
            "read at 0x00c0000180f8 after 1.5s,\n 12 of /srv/a/b.go:3 in utf8 and src/a at 3m2.1s (7)",
        );
        let want = "read at <address> after <time>, <number> of <path>:<number> in utf8 and src/a at <time> (<number>)";
        assert_eq!(got, want);
    }

    #[test]
    fn an_id_is_read_back_and_nothing_else_is() {
        let id = FailureId::test("go test", Some("shop/cart"), "TestTotal");
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        assert_eq!("ABCDEF0123456789".parse::<FailureId>(), Err(NotAnId));
        assert_eq!("abc".parse::<FailureId>(), Err(NotAnId));
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(FailureId::test("a", Some("b"), "c"), FailureId::test("a", Some("bc"), ""));
        assert_ne!(FailureId::test("a", None, "bc"), FailureId::test("ab", None, "c"));
    }
}
