//! What was answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Issue {
    /// Its number.
    pub number: u64,
    /// Its title, as somebody wrote it.
    pub title: String,
    /// Where it is read.
    pub url: String,
    /// When it was changed last, RFC 3339.
    pub updated: String,
    /// Who works on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assignees: Vec<String>,
}

/// The issues that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// How many there are.
    pub total: u64,
    /// Whether the search ended before it had looked at all.
    pub incomplete: bool,
    /// The first of them.
    pub issues: Vec<Issue>,
}

/// Why an answer is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// It is not what GitHub answers.
    #[error("the answer is not one of GitHub's: {0}")]
    Unreadable(String),
    /// The credentials are not accepted.
    #[error("GitHub does not accept the credentials: sign in again (`gh auth login`), or renew the token")]
    Unauthorized,
    /// The caller may not, or asked too often.
    #[error("GitHub refuses: {0}")]
    Forbidden(String),
    /// There is no such repository for this caller.
    #[error("GitHub knows no such repository, or does not show it to this account")]
    Unknown,
    /// Something else.
    #[error("GitHub answered {status}: {message}")]
    Other {
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
}

#[derive(Deserialize)]
struct Wire {
    total_count: u64,
    #[serde(default)]
    incomplete_results: bool,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    number: u64,
    title: String,
    html_url: String,
    updated_at: String,
    #[serde(default)]
    assignees: Option<Vec<Login>>,
    #[serde(default)]
    pull_request: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Login {
    login: String,
}

#[derive(Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
}

/// Reads what was answered with a good status.
pub fn read(body: &[u8]) -> Result<Found, AnswerError> {
    let wire: Wire = serde_json::from_slice(body).map_err(|e| AnswerError::Unreadable(e.to_string()))?;
    let issues = wire.items.into_iter().filter(|item| item.pull_request.is_none()).map(|item| Issue {
        number: item.number,
        title: item.title,
        url: item.html_url,
        updated: item.updated_at,
        assignees: item.assignees.unwrap_or_default().into_iter().map(|login| login.login).collect(),
    });
    Ok(Found { total: wire.total_count, incomplete: wire.incomplete_results, issues: issues.collect() })
}

/// What a status that is not good means, with what was said along with it.
#[must_use]
pub fn refused(status: u16, body: &[u8]) -> AnswerError {
    let message = serde_json::from_slice::<Refusal>(body).unwrap_or_default().message;
    let message: String = message.chars().take(200).collect();
    match status {
        401 => AnswerError::Unauthorized,
        403 | 429 if message.is_empty() => {
            AnswerError::Forbidden("the rate limit is used up: wait a minute".to_owned())
        }
        403 | 429 => AnswerError::Forbidden(message),
        404 | 422 => AnswerError::Unknown,
        _ => AnswerError::Other { status, message },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_are_read_and_pull_requests_are_none() {
        let body = r#"{"total_count":12,"incomplete_results":true,"items":[
            {"number":7,"title":"$(touch x) `y`","html_url":"https://github.com/a/b/issues/7","updated_at":"2026-11-01T00:00:00Z","assignees":[{"login":"ana","id":1}],"labels":[]},
            {"number":8,"title":"pr","html_url":"u","updated_at":"t","pull_request":{}},
            {"number":9,"title":"none","html_url":"u","updated_at":"t","assignees":null}]}"#;
        let found = read(body.as_bytes()).unwrap();
        assert_eq!((found.total, found.incomplete, found.issues.len()), (12, true, 2));
        assert_eq!(
            (found.issues[0].title.as_str(), found.issues[0].assignees.as_slice()),
            ("$(touch x) `y`", &["ana".to_owned()][..])
        );
        for bad in ["", "[]", r#"{"items":[]}"#, r#"{"total_count":-1,"items":[]}"#] {
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        assert_eq!(refused(401, b"{}"), AnswerError::Unauthorized);
        assert!(
            refused(403, br#"{"message":"API rate limit exceeded"}"#)
                .to_string()
                .contains("rate limit exceeded")
        );
        assert!(refused(429, b"<html>").to_string().contains("wait a minute"));
        assert_eq!(refused(404, b""), AnswerError::Unknown);
        assert_eq!(refused(500, br#"{"message":"boom"}"#).to_string(), "GitHub answered 500: boom");
    }
}
