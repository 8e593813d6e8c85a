//! The field `repository`, by the forms that npm's documentation has (package.json, "repository") and git's addresses (git-clone,
//! "GIT URLS").

use std::sync::LazyLock;

use regex::Regex;

use super::Lint;
use super::code::Code;
use super::json::Json;
use super::message::{Args, Repository};
use crate::check::Severity;

static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\A(?:(?P<protocol>(?:git\+)?https?|(?:git\+)?ssh|git)://)?(?:[^@/]+@)?",
        r"(?P<host>[0-9A-Za-z_.-]+)(?::[0-9A-Za-z_-]+)?(?P<path>/[^?#]+)\z",
    ))
    .ok()
});

impl Lint<'_> {
    pub(super) fn repository(&mut self) {
        let field = self.field("repository");
        match field.value {
            // `null` is no fault worth a word; publint fails on it.
            None => {}
            Some(Json::String(text)) if !is_short_form(text) => {
                self.repository_is(Repository::InvalidStringShorthand, None, &["repository"]);
            }
            Some(Json::String(_) | Json::Array(_)) => {}
            Some(value @ Json::Object(_)) => {
                let kind = value.get("type").filter(|kind| **kind != Json::Null);
                let url = value.get("url").filter(|url| url.truthy());
                if let (None | Some("git"), Some(url)) = (kind.map(|kind| kind.text().unwrap_or("")), url)
                    && let Some((what, instead)) = judge(url.text().unwrap_or_default())
                {
                    self.repository_is(what, instead, &["repository", "url"]);
                }
            }
            Some(other) => self.wrong_kind(other.kind(), &["string", "object"], &field.at),
        }
    }

    fn repository_is(&mut self, what: Repository, suggest_value: Option<String>, at: &[&str]) {
        let severity = match what {
            Repository::InvalidStringShorthand | Repository::InvalidGitUrl => Severity::Warning,
            Repository::DeprecatedGithubGitProtocol | Repository::ShorthandGitSites => Severity::Note,
        };
        let args = Args::Repository { r#type: what, suggest_value };
        self.say(Code::InvalidRepositoryValue, severity, at, &[], args);
    }
}

/// `owner/name`, or one with the name of a site before it.
fn is_short_form(text: &str) -> bool {
    let is_line = |rest: &str| !rest.is_empty() && !rest.contains(['\n', '\r', '\u{2028}', '\u{2029}']);
    if text.strip_prefix("gist:").is_some_and(is_line) {
        return true;
    }
    let site = ["github:", "gitlab:", "bitbucket:"].iter().find_map(|site| text.strip_prefix(site));
    if site
        .and_then(|rest| rest.split_once('/'))
        .is_some_and(|(owner, name)| !owner.is_empty() && is_line(name))
    {
        return true;
    }
    text.split_once('/')
        .is_some_and(|(owner, name)| !owner.is_empty() && !name.is_empty() && !name.contains('/'))
}

/// What is wrong with an address, and what to write instead where that is known.
fn judge(url: &str) -> Option<(Repository, Option<String>)> {
    let invalid = Some((Repository::InvalidGitUrl, None));
    if !url.contains("://") && !url.contains('@') {
        return invalid;
    }
    let Some(found) = ADDRESS.as_ref().and_then(|address| address.captures(url)) else { return invalid };
    let part = |name| found.name(name).map_or("", |part| part.as_str());
    let (protocol, host) = (part("protocol"), part("host"));
    if protocol == "git" && host.contains("github") {
        return Some((Repository::DeprecatedGithubGitProtocol, None));
    }
    let known = host.contains("github") || host.contains("gitlab");
    if !known || (url.starts_with("git+") && part("path").ends_with(".git")) {
        return None;
    }
    let mut full = if url.contains("://") {
        url.to_owned()
    } else {
        // `git@host:path`, as scp has it.
        format!("git+ssh://{}", url.replacen(':', "/", 1))
    };
    if full.ends_with('/') {
        full.pop();
    }
    if !full.starts_with("git+") {
        full.insert_str(0, "git+");
    }
    if !full.ends_with(".git") {
        full.push_str(".git");
    }
    Some((Repository::ShorthandGitSites, Some(full)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expression_compiles() {
        assert!(ADDRESS.is_some());
    }

    #[test]
    fn addresses_are_judged() {
        let shorthand = |full: &str| Some((Repository::ShorthandGitSites, Some(full.to_owned())));
        let invalid = Some((Repository::InvalidGitUrl, None));
        for (url, expected) in [
            ("git+https://github.com/u/r.git", None),
            ("git@github.com:u/r", shorthand("git+ssh://git@github.com/u/r.git")),
            ("git+ssh://git@github.com/u/r", shorthand("git+ssh://git@github.com/u/r.git")),
            ("https://gitlab.example:8080/u/r/", shorthand("git+https://gitlab.example:8080/u/r.git")),
            ("git+https://github.com/u/r.git/", shorthand("git+https://github.com/u/r.git")),
            ("git://github.com/u/r", Some((Repository::DeprecatedGithubGitProtocol, None))),
            ("git://example.com/u/r", None),
            ("file:///u/r", invalid.clone()),
            ("https://github.com", invalid.clone()),
            ("https://github.com/u?r", invalid.clone()),
            ("", invalid),
        ] {
            assert_eq!(judge(url), expected, "{url}");
        }
    }
}
