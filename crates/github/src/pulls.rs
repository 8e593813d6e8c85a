//! Pull requests: which is open for a branch, and what is sent to open one or to move it onto another base.
//!
//! Follows GitHub's REST API, version 2022-11-28: `GET` and `POST /repos/{owner}/{repo}/pulls`, `PATCH …/pulls/{number}`
//! (<https://docs.github.com/rest/pulls/pulls>).

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answer::AnswerError;
use crate::question::{QuestionError, encoded, is_repository};

/// Most characters of a title.
pub const MAX_TITLE: usize = 256;
/// Most characters of a text.
pub const MAX_BODY: usize = 65_536;

/// An open pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// Where it is read.
    pub url: String,
    /// The branch that it is merged into.
    pub base: String,
    /// Whether it is a draft.
    pub draft: bool,
}

/// What is sent: below the API's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// The method.
    pub method: &'static str,
    /// The path.
    pub endpoint: String,
    /// The body, JSON.
    pub body: String,
}

/// A pull request that is to be opened, within one repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening<'o> {
    /// `owner/name`.
    pub repository: &'o str,
    /// The branch with the changes.
    pub head: &'o str,
    /// The branch that they are for.
    pub base: &'o str,
    /// Its title: the first [`MAX_TITLE`] characters are taken.
    pub title: &'o str,
    /// Its text, in Markdown: the first [`MAX_BODY`] characters are taken.
    pub body: &'o str,
    /// Whether it is a draft.
    pub draft: bool,
}

impl Opening<'_> {
    /// What opens it.
    pub fn sending(&self) -> Result<Sending, QuestionError> {
        let cut = |text: &str, most| text.chars().take(most).collect::<String>();
        Ok(Sending {
            method: "POST",
            endpoint: pulls(self.repository)?,
            body: json!({
                "title": cut(self.title, MAX_TITLE),
                "head": self.head,
                "base": self.base,
                "body": cut(self.body, MAX_BODY),
                "draft": self.draft,
            })
            .to_string(),
        })
    }
}

/// What moves an open pull request onto another base.
pub fn onto(repository: &str, number: u64, base: &str) -> Result<Sending, QuestionError> {
    let endpoint = format!("{}/{number}", pulls(repository)?);
    Ok(Sending { method: "PATCH", endpoint, body: json!({ "base": base }).to_string() })
}

/// The question which pull request is open for a branch of the repository itself: the path and query below the API's address.
pub fn of_branch(repository: &str, branch: &str) -> Result<String, QuestionError> {
    let owner = repository.split('/').next().unwrap_or_default();
    let head = encoded(&format!("{owner}:{branch}"));
    Ok(format!("{}?state=open&head={head}&per_page=10", pulls(repository)?))
}

fn pulls(repository: &str) -> Result<String, QuestionError> {
    if is_repository(repository) && !repository.split('/').any(|part| part.chars().all(|c| c == '.')) {
        return Ok(format!("repos/{repository}/pulls"));
    }
    Err(QuestionError::Repository(repository.chars().take(200).collect()))
}

#[derive(Deserialize)]
struct Wire {
    number: u64,
    html_url: String,
    base: Side,
    head: Side,
    #[serde(default)]
    draft: bool,
}

#[derive(Deserialize)]
struct Side {
    r#ref: String,
    /// `owner:branch`.
    #[serde(default)]
    label: String,
}

/// The open pull request of a branch of the repository itself in what was answered to [`of_branch`]; the oldest, where there are several.
pub fn read_pulls(body: &[u8], repository: &str, branch: &str) -> Result<Option<Pull>, AnswerError> {
    let all: Vec<Wire> =
        serde_json::from_slice(body).map_err(|error| AnswerError::Unreadable(error.to_string()))?;
    let owner = repository.split('/').next().unwrap_or_default();
    // A filter that a server does not know is no filter: branches of others have the same names.
    let is_own = |head: &Side| {
        let of = head.label.strip_suffix(branch).and_then(|front| front.strip_suffix(':'));
        head.r#ref == branch && of.is_some_and(|of| of.eq_ignore_ascii_case(owner))
    };
    let own = all.into_iter().filter(|pull| is_own(&pull.head));
    Ok(own.min_by_key(|pull| pull.number).map(|pull| Pull {
        number: pull.number,
        url: pull.html_url,
        base: pull.base.r#ref,
        draft: pull.draft,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_opened_with_what_it_says_and_no_more_than_is_taken() {
        let title = "t".repeat(300);
        let opening = Opening {
            repository: "acme/shop",
            head: "feat/one",
            base: "main",
            title: &title,
            body: "a \"b\"\n$(c)",
            draft: true,
        };
        let sent = opening.sending().unwrap();
        assert_eq!((sent.method, sent.endpoint.as_str()), ("POST", "repos/acme/shop/pulls"));
        let body: serde_json::Value = serde_json::from_str(&sent.body).unwrap();
        assert_eq!(body["title"].as_str().map(str::len), Some(MAX_TITLE));
        assert_eq!((&body["head"], &body["base"]), (&json!("feat/one"), &json!("main")));
        assert_eq!((&body["body"], &body["draft"]), (&json!("a \"b\"\n$(c)"), &json!(true)));
        let moved = onto("acme/shop", 7, "feat/zero").unwrap();
        assert_eq!((moved.method, moved.endpoint.as_str()), ("PATCH", "repos/acme/shop/pulls/7"));
        assert_eq!(moved.body, r#"{"base":"feat/zero"}"#);
        for repository in ["acme", "../shop", "acme/..", "acme/shop/x", "a b/c", ""] {
            assert!(onto(repository, 1, "main").is_err(), "{repository}");
            assert!(of_branch(repository, "main").is_err(), "{repository}");
        }
    }

    #[test]
    fn a_branchs_name_stays_within_the_question() {
        let asked = of_branch("acme/shop", "a&b=c/ü#?").unwrap();
        assert_eq!(
            asked,
            "repos/acme/shop/pulls?state=open&head=acme%3Aa%26b%3Dc%2F%C3%BC%23%3F&per_page=10"
        );
    }

    #[test]
    fn the_pull_request_of_a_branch_is_found_among_others() {
        let body = r#"[
            {"number":9,"html_url":"u9","head":{"ref":"one","label":"Acme:one"},"base":{"ref":"main","label":"Acme:main"},"draft":true,"title":"x"},
            {"number":4,"html_url":"u4","head":{"ref":"one","label":"Acme:one"},"base":{"ref":"dev"}},
            {"number":3,"html_url":"u3","head":{"ref":"one","label":"mallory:one"},"base":{"ref":"main"}},
            {"number":1,"html_url":"u1","head":{"ref":"two","label":"Acme:two"},"base":{"ref":"main"}}]"#;
        let found = read_pulls(body.as_bytes(), "acme/shop", "one").unwrap();
        assert_eq!(found, Some(Pull { number: 4, url: "u4".into(), base: "dev".into(), draft: false }));
        assert_eq!(read_pulls(body.as_bytes(), "acme/shop", "three"), Ok(None));
        for bad in ["", "{}", r#"[{"number":1}]"#] {
            assert!(read_pulls(bad.as_bytes(), "acme/shop", "one").is_err(), "{bad}");
        }
    }
}
