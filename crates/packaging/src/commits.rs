//! What commits say of a release ([Conventional Commits 1.0.0](https://www.conventionalcommits.org/en/v1.0.0/)).

use git_conventional::{Commit as Parsed, Type};

use crate::version::Bump;

/// A commit as it is read here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Which section of the notes it belongs to.
    pub part: Part,
    /// What it is about, when it says so.
    pub scope: Option<String>,
    /// What it does: its description, or its first line where it follows no convention.
    pub text: String,
    /// Whether it breaks something for users.
    pub breaking: bool,
    /// What breaks, where a footer says so.
    pub what_breaks: Option<String>,
    /// Whether it follows the convention.
    pub conventional: bool,
}

/// A section of release notes, in the order in which people read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// `feat`.
    Features,
    /// `fix`.
    Fixes,
    /// `perf`.
    Performance,
    /// `revert`.
    Reverts,
    /// `docs`.
    Documentation,
    /// Everything else: `chore`, `refactor`, `test`, `build`, `ci`, `style`, and what follows no convention.
    Other,
}

impl Part {
    /// Its heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Features => "Features",
            Self::Fixes => "Fixes",
            Self::Performance => "Performance",
            Self::Reverts => "Reverts",
            Self::Documentation => "Documentation",
            Self::Other => "Other changes",
        }
    }
}

/// Reads a commit's message.
pub fn read(message: &str) -> Said {
    let message = message.trim();
    let Ok(commit) = Parsed::parse(message) else {
        let text = message.lines().next().unwrap_or_default().trim().to_owned();
        return Said {
            part: Part::Other,
            scope: None,
            text,
            breaking: false,
            what_breaks: None,
            conventional: false,
        };
    };
    let kind = commit.type_();
    let parts = [
        (Type::FEAT, Part::Features),
        (Type::FIX, Part::Fixes),
        (Type::PERF, Part::Performance),
        (Type::REVERT, Part::Reverts),
        (Type::DOCS, Part::Documentation),
    ];
    let part = parts.into_iter().find(|(of, _)| *of == kind).map_or(Part::Other, |(_, part)| part);
    let what_breaks =
        commit.breaking_description().map(str::trim).filter(|what| *what != commit.description());
    Said {
        part,
        scope: commit.scope().map(|scope| scope.to_string()),
        text: commit.description().trim().to_owned(),
        breaking: commit.breaking(),
        what_breaks: what_breaks.map(str::to_owned),
        conventional: true,
    }
}

impl Said {
    /// The bump that it asks for.
    pub const fn bump(&self) -> Bump {
        match self.part {
            _ if self.breaking => Bump::Major,
            Part::Features => Bump::Minor,
            Part::Fixes | Part::Performance | Part::Reverts => Bump::Patch,
            Part::Documentation | Part::Other => Bump::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_says_where_it_belongs_and_what_it_asks_for() {
        for (message, part, scope, text, bump) in [
            ("feat(button): a loading state", Part::Features, Some("button"), "a loading state", Bump::Minor),
            ("fix: the focus ring is seen", Part::Fixes, None, "the focus ring is seen", Bump::Patch),
            ("feat!: no more `size`", Part::Features, None, "no more `size`", Bump::Major),
            ("chore: tidy", Part::Other, None, "tidy", Bump::None),
            ("Merge branch 'x'", Part::Other, None, "Merge branch 'x'", Bump::None),
            ("perf(css): half of it", Part::Performance, Some("css"), "half of it", Bump::Patch),
        ] {
            let said = read(message);
            assert_eq!(
                (said.part, said.scope.as_deref(), said.text.as_str(), said.bump()),
                (part, scope, text, bump),
                "{message}"
            );
        }
    }

    #[test]
    fn a_footer_breaks_too() {
        let said = read(
            "refactor: tokens in groups\n\nLong words.\n\nBREAKING CHANGE: `color.red` is `color.danger`\n",
        );
        assert!(said.breaking && said.conventional);
        assert_eq!(said.what_breaks.as_deref(), Some("`color.red` is `color.danger`"));
        assert_eq!(said.bump(), Bump::Major);
        assert!(!read("").conventional);
    }
}
