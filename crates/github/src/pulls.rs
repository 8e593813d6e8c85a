//! Pull requests: which is open for a branch, and what is sent to open one or to move it onto another base.
//!
//! Follows GitHub's REST API, version 2022-11-28: `GET` and `POST /repos/{owner}/{repo}/pulls`, `PATCH …/pulls/{number}`,
//! `GET …/git/matching-refs/heads/{branch}`
//! (<https://docs.github.com/rest/pulls/pulls>).

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answer::AnswerError;
use crate::question::{QuestionError, encoded, is_repository};

/// Most characters of a title.
pub const MAX_TITLE: usize = 256;
/// Most characters of a text.
pub const MAX_BODY: usize = 65_536;

/// How a pull request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is open.
    Open,
    /// It was merged.
    Merged,
    /// It was closed, and nothing merged.
    Closed,
}

/// A pull request of a branch.
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
    /// How it stands.
    pub standing: Standing,
    /// The commit that its branch is at, or was at when it ended.
    pub head: String,
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

/// The question which pull requests a branch of the repository itself has, ended ones too: the path and query below the API's address.
pub fn of_branch(repository: &str, branch: &str) -> Result<String, QuestionError> {
    let owner = repository.split('/').next().unwrap_or_default();
    let head = encoded(&format!("{owner}:{branch}"));
    Ok(format!("{}?state=all&head={head}&per_page=30", pulls(repository)?))
}

/// The question where branches are whose names begin with this one's: the path below the API's address. Read by [`read_tip`].
pub fn tip(repository: &str, branch: &str) -> Result<String, QuestionError> {
    pulls(repository)?;
    let branch: Vec<String> = branch.split('/').map(encoded).collect();
    Ok(format!("repos/{repository}/git/matching-refs/heads/{}", branch.join("/")))
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
    state: String,
    #[serde(default)]
    merged_at: Option<String>,
}

#[derive(Deserialize)]
struct Side {
    r#ref: String,
    sha: String,
    /// None of a fork that is gone.
    repo: Option<Repository>,
}

#[derive(Deserialize, PartialEq)]
struct Repository {
    full_name: String,
}

/// The pull requests of a branch of the repository itself in what was answered to [`of_branch`], the newest first.
pub fn read_pulls(body: &[u8], branch: &str) -> Result<Vec<Pull>, AnswerError> {
    let all: Vec<Wire> =
        serde_json::from_slice(body).map_err(|error| AnswerError::Unreadable(error.to_string()))?;
    // Forks have branches of the same name, also below the same owner; and a filter that a server does not know is no filter.
    let own = all.into_iter().filter(|pull| {
        pull.head.r#ref == branch && pull.head.repo.is_some() && pull.head.repo == pull.base.repo
    });
    let mut own: Vec<Pull> = own
        .map(|pull| Pull {
            number: pull.number,
            url: pull.html_url,
            base: pull.base.r#ref,
            draft: pull.draft,
            standing: match (pull.state.as_str(), pull.merged_at) {
                ("open", _) => Standing::Open,
                (_, Some(_)) => Standing::Merged,
                (_, None) => Standing::Closed,
            },
            head: pull.head.sha,
        })
        .collect();
    own.sort_by_key(|pull| std::cmp::Reverse(pull.number));
    Ok(own)
}

#[derive(Deserialize)]
struct Ref {
    r#ref: String,
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    sha: String,
}

/// The commit that a branch is at, in what was answered to [`tip`]; nothing where there is no such branch.
pub fn read_tip(body: &[u8], branch: &str) -> Result<Option<String>, AnswerError> {
    let all: Vec<Ref> =
        serde_json::from_slice(body).map_err(|error| AnswerError::Unreadable(error.to_string()))?;
    let name = format!("refs/heads/{branch}");
    Ok(all.into_iter().find(|one| one.r#ref == name).map(|one| one.object.sha))
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
        let query = "state=all&head=acme%3Aa%26b%3Dc%2F%C3%BC%23%3F&per_page=30";
        assert_eq!(asked, format!("repos/acme/shop/pulls?{query}"));
        let asked = tip("acme/shop", "a&b/../%c").unwrap();
        assert_eq!(asked, "repos/acme/shop/git/matching-refs/heads/a%26b/../%25c");
    }

    #[test]
    fn pull_requests_of_a_branch_are_found_among_others() {
        let side = |name: &str, of: &str| json!({ "ref": name, "sha": "1", "repo": { "full_name": of } });
        let row = |number: u64, name: &str, of: &str, state: &str, merged: Option<&str>| {
            json!({ "number": number, "html_url": "u", "title": "x", "state": state, "merged_at": merged, "draft": number == 9,
                "head": side(name, of), "base": side("main", "Acme/shop") })
        };
        let mut gone = row(7, "one", "x", "open", None);
        gone["head"]["repo"] = serde_json::Value::Null;
        let body = json!([
            row(4, "one", "Acme/shop", "closed", Some("2026-01-01T00:00:00Z")),
            row(5, "one", "Acme/shop", "closed", None),
            row(9, "one", "Acme/shop", "open", None),
            row(3, "one", "Acme/fork", "open", None),
            row(1, "two", "Acme/shop", "open", None),
            gone,
        ])
        .to_string();
        let found = read_pulls(body.as_bytes(), "one").unwrap();
        let told: Vec<(u64, Standing, bool)> =
            found.iter().map(|pull| (pull.number, pull.standing, pull.draft)).collect();
        assert_eq!(
            told,
            [(9, Standing::Open, true), (5, Standing::Closed, false), (4, Standing::Merged, false)]
        );
        assert_eq!(read_pulls(body.as_bytes(), "three"), Ok(Vec::new()));
        for bad in ["", "{}", r#"[{"number":1}]"#] {
            assert!(read_pulls(bad.as_bytes(), "one").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_branch_is_found_among_those_that_begin_as_it_does() {
        let body = r#"[{"ref":"refs/heads/one-2","object":{"sha":"2"}},{"ref":"refs/heads/one","object":{"sha":"1"}}]"#;
        assert_eq!(read_tip(body.as_bytes(), "one"), Ok(Some("1".to_owned())));
        assert_eq!(read_tip(body.as_bytes(), "on"), Ok(None));
        assert!(read_tip(b"{}", "one").is_err());
    }
}
