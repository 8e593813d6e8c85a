//! A pull request's message, from the commits and files of its branch (Conventional Commits 1.0.0).

use exec::history::{Commit, Diff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::generate_pr_message::Output;

/// Longest title, in characters.
const MAX_TITLE: usize = 72;

/// Most changes that are listed.
const MAX_CHANGES: usize = 10;

/// The type of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the convention's")]
pub enum Type {
    Feat,
    Fix,
    Docs,
    Style,
    Refactor,
    Perf,
    Test,
    Chore,
}

impl Type {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Feat, "feat"),
        (Self::Fix, "fix"),
        (Self::Docs, "docs"),
        (Self::Style, "style"),
        (Self::Refactor, "refactor"),
        (Self::Perf, "perf"),
        (Self::Test, "test"),
        (Self::Chore, "chore"),
    ];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("chore", |(_, word)| word)
    }
}

/// What the caller says of it.
pub(crate) struct Wish {
    pub(crate) kind: Option<Type>,
    pub(crate) scope: Option<String>,
    pub(crate) breaking: bool,
    pub(crate) issue: Option<String>,
}

/// A commit's first line, taken apart.
struct Subject<'a> {
    kind: Option<Type>,
    scope: Option<&'a str>,
    breaks: bool,
    text: &'a str,
}

fn subject(summary: &str) -> Subject<'_> {
    let plain = Subject { kind: None, scope: None, breaks: false, text: summary };
    let Some((head, text)) = summary.split_once(": ") else { return plain };
    let (head, breaks) = head.strip_suffix('!').map_or((head, false), |head| (head, true));
    let (word, scope) = match head.split_once('(') {
        Some((word, rest)) => (word, rest.strip_suffix(')')),
        None => (head, None),
    };
    match Type::ALL.iter().find(|(_, known)| *known == word) {
        Some((kind, _)) => Subject { kind: Some(*kind), scope, breaks, text },
        None => plain,
    }
}

/// The message of `commits`, newest first, which changed `diff`.
pub(crate) fn of(commits: &[Commit], diff: &Diff, wish: &Wish, template: Option<(String, String)>) -> Output {
    let subjects: Vec<Subject<'_>> = commits.iter().map(|commit| subject(&commit.summary)).collect();
    let kind = wish.kind.unwrap_or_else(|| kind(&subjects, diff));
    let scope = wish.scope.clone().or_else(|| {
        let mut scopes: Vec<&str> = subjects.iter().filter_map(|subject| subject.scope).collect();
        scopes.dedup();
        // One that all share.
        (scopes.len() == 1).then(|| scopes[0].to_owned())
    });
    let breaking = breaking(commits, &subjects);
    let mark = if wish.breaking && !breaking.is_empty() { "!" } else { "" };
    // The oldest commit began it, and mostly says what it is for.
    let text =
        subjects.iter().rev().find(|s| s.kind == Some(kind)).or(subjects.last()).map_or("", |s| s.text);
    let scope = scope.map(|scope| format!("({scope})")).unwrap_or_default();
    let title = shortened(&format!("{}{scope}{mark}: {text}", kind.word()), MAX_TITLE);
    let mut changes: Vec<String> =
        subjects.iter().rev().map(|subject| format!("- {}", subject.text)).collect();
    changes.dedup();
    let more = changes.len().saturating_sub(MAX_CHANGES);
    changes.truncate(MAX_CHANGES);
    if more > 0 {
        changes.push(format!("- … and {more} more"));
    }
    let stats = diff.stats;
    let mut body = String::new();
    let summary = format!(
        "{}\n\n{} files, +{} −{}.",
        changes.join("\n"),
        stats.files,
        stats.additions,
        stats.deletions
    );
    let place = template.as_ref().map(|(place, _)| place.clone());
    match template {
        Some((_, text)) => body.push_str(&filled(&text, &summary)),
        None => body.push_str(&format!("## Changes\n\n{summary}\n")),
    }
    if wish.breaking && !breaking.is_empty() {
        let listed: Vec<String> = breaking.iter().map(|what| format!("- {what}")).collect();
        body.push_str(&format!("\n## Breaking changes\n\n{}\n", listed.join("\n")));
    }
    if let Some(issue) = &wish.issue {
        let issue = issue.trim_start_matches('#');
        body.push_str(&format!("\nCloses #{issue}\n"));
    }
    Output { title, body, r#type: kind, commits: commits.len(), breaking, template: place }
}

/// What most commits say they are; else what the files say.
fn kind(subjects: &[Subject<'_>], diff: &Diff) -> Type {
    let count = |kind: Type| subjects.iter().filter(|subject| subject.kind == Some(kind)).count();
    let said = Type::ALL.iter().map(|(kind, _)| *kind).filter(|kind| count(*kind) > 0);
    // Of equals the first in the list.
    if let Some(kind) = said.rev().max_by_key(|kind| count(*kind)) {
        return kind;
    }
    let all =
        |is: &dyn Fn(&str) -> bool| !diff.files.is_empty() && diff.files.iter().all(|file| is(&file.path));
    let ends = |path: &str, endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
    if all(&|path| ends(path, &[".md", ".txt", ".rst", ".adoc"]) || path.starts_with("docs/")) {
        Type::Docs
    } else if all(&crate::review::is_test) {
        Type::Test
    } else if subjects.iter().any(|s| s.text.to_ascii_lowercase().starts_with("fix")) {
        Type::Fix
    } else if diff.files.iter().any(|file| file.kind == exec::history::Kind::Added) {
        Type::Feat
    } else {
        Type::Chore
    }
}

fn breaking(commits: &[Commit], subjects: &[Subject<'_>]) -> Vec<String> {
    let mut all = Vec::new();
    for (commit, subject) in commits.iter().zip(subjects) {
        let said = commit.body.lines().find_map(|line| {
            line.strip_prefix("BREAKING CHANGE: ").or_else(|| line.strip_prefix("BREAKING-CHANGE: "))
        });
        match said {
            Some(said) => all.push(said.to_owned()),
            None if subject.breaks => all.push(subject.text.to_owned()),
            None => {}
        }
    }
    all
}

/// The template with the summary below its first heading, or before everything where it has none.
fn filled(template: &str, summary: &str) -> String {
    let mut lines: Vec<&str> = template.lines().collect();
    let heading = lines.iter().position(|line| line.starts_with('#'));
    let at = heading.map_or(0, |heading| heading + 1);
    lines.splice(at..at, ["", summary, ""]);
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most - 1).collect();
    let whole = cut.rfind(' ').filter(|at| *at > most / 2).map_or(cut.as_str(), |at| &cut[..at]);
    format!("{}…", whole.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_taken_apart_as_the_convention_says() {
        let taken = subject("feat(store)!: forget at once");
        assert_eq!(
            (taken.kind, taken.scope, taken.breaks, taken.text),
            (Some(Type::Feat), Some("store"), true, "forget at once")
        );
        let plain = subject("Merge: something");
        assert_eq!((plain.kind, plain.text), (None, "Merge: something"));
    }

    #[test]
    fn a_title_is_cut_at_a_word_and_a_template_keeps_its_lines() {
        let long = format!("feat: {}", "word ".repeat(30));
        let cut = shortened(long.trim(), MAX_TITLE);
        assert!(cut.chars().count() <= MAX_TITLE && cut.ends_with("word…"), "{cut}");
        assert_eq!(filled("# What\n\n<!-- why -->\n", "S"), "# What\n\nS\n\n\n<!-- why -->\n");
    }
}
