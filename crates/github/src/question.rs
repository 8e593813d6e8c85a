//! What is asked.

/// Most issues that are asked for at once.
pub const MAX_SHOWN: u32 = 50;
/// Most characters of a label.
const MAX_LABEL: usize = 100;

/// The open issues of a repository that have one of some labels, the ones changed last first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question<'q> {
    /// `owner/name`.
    pub repository: &'q str,
    /// The labels: one of them is enough.
    pub labels: &'q [String],
    /// Most issues, from 1 to 50.
    pub most: u32,
}

/// Why something cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// The repository has another name than GitHub gives.
    #[error("{0:?} is no repository of GitHub: owner and name, of letters, digits, `.`, `_` and `-`")]
    Repository(String),
    /// The label cannot be quoted.
    #[error(
        "the label {0:?} cannot be searched for: it is empty, has a quote or a control character, or is longer than 100 characters"
    )]
    Label(String),
    /// There is no label.
    #[error("no label is named to search for")]
    NoLabel,
}

impl Question<'_> {
    /// The path and query below the API's address: nothing of it is anything but text, wherever it is passed.
    pub fn endpoint(&self) -> Result<String, QuestionError> {
        if !is_repository(self.repository) {
            return Err(QuestionError::Repository(self.repository.chars().take(200).collect()));
        }
        if self.labels.is_empty() {
            return Err(QuestionError::NoLabel);
        }
        let mut labels = Vec::new();
        for label in self.labels {
            let is_fine = !label.trim().is_empty()
                && label.chars().count() <= MAX_LABEL
                && !label.chars().any(|c| c == '"' || c.is_control());
            if !is_fine {
                return Err(QuestionError::Label(label.chars().take(MAX_LABEL).collect()));
            }
            labels.push(format!("\"{label}\""));
        }
        let q = format!("repo:{} is:issue is:open label:{}", self.repository, labels.join(","));
        let most = self.most.clamp(1, MAX_SHOWN);
        Ok(format!("search/issues?q={}&per_page={most}&sort=updated&order=desc", encoded(&q)))
    }
}

/// The address of a host's API: that of github.com, or of a server of one's own.
#[must_use]
pub fn api(host: &str) -> String {
    if host.eq_ignore_ascii_case("github.com") {
        "https://api.github.com".to_owned()
    } else {
        format!("https://{host}/api/v3")
    }
}

/// Whether it is `owner/name`, as GitHub gives names.
pub(crate) fn is_repository(repository: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.len() <= 100
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    repository.split('/').count() == 2 && repository.split('/').all(is_part)
}

/// As a query has it (RFC 3986 §2.1): all that is not unreserved as bytes.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(repository: &str, labels: &[&str]) -> Result<String, QuestionError> {
        let labels: Vec<String> = labels.iter().map(|l| (*l).to_owned()).collect();
        Question { repository, labels: &labels, most: 10 }.endpoint()
    }

    #[test]
    fn a_question_is_one_word_without_anything_that_a_shell_or_url_knows() {
        let asked = endpoint("acme/app.js", &["prio:P0", "it's $(x) `y` & ; | 日"]).unwrap();
        let query = asked.strip_prefix("search/issues?q=").unwrap();
        assert!(
            query
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '%' | '.' | '_' | '~' | '=' | '&' | '-')),
            "{query}"
        );
        assert!(
            query.starts_with(
                "repo%3Aacme%2Fapp.js%20is%3Aissue%20is%3Aopen%20label%3A%22prio%3AP0%22%2C%22it%27s"
            ),
            "{query}"
        );
        assert_eq!(query.matches('&').count(), 3);
    }

    #[test]
    fn what_cannot_be_quoted_is_refused() {
        for repository in ["acme", "acme/app/x", "acme/", "../app", "acme/a pp", "acme/app\n", "-f/app?x"] {
            let told = endpoint(repository, &["x"]);
            if repository == "../app" {
                // Dots alone are names that GitHub does not give, and lead nowhere in a query.
                assert!(told.is_ok());
            } else {
                assert!(matches!(told, Err(QuestionError::Repository(_))), "{repository}");
            }
        }
        for label in ["", " ", "a\"; rm", "a\nb", &"x".repeat(101)] {
            assert!(matches!(endpoint("a/b", &[label]), Err(QuestionError::Label(_))), "{label}");
        }
        assert_eq!(endpoint("a/b", &[]), Err(QuestionError::NoLabel));
    }

    #[test]
    fn a_server_of_ones_own_has_its_api_below_it() {
        assert_eq!(api("GitHub.com"), "https://api.github.com");
        assert_eq!(api("git.acme.io"), "https://git.acme.io/api/v3");
    }
}
