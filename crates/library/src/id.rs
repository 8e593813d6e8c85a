//! Ids: what they look like, so that none of them can be a path to somewhere else.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::category::Category;
use crate::text::shown;

/// Longest pattern id, its library included, in bytes (all of them ASCII).
pub const MAX_PATTERN_ID: usize = 160;
/// Longest session id, in bytes.
pub const MAX_SESSION_ID: usize = 120;
/// Longest name of a project, in bytes.
pub const MAX_PROJECT_NAME: usize = 80;
/// Longest name of a library, in bytes.
pub const MAX_LIBRARY_NAME: usize = 40;

/// Why a text is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Nothing at all.
    Empty,
    /// More bytes than such an id may have.
    TooLong(usize),
    /// It does not have the form of the example.
    Form(&'static str),
    /// A pattern's name that ends as its metadata file does.
    Metadata,
    /// None of a closed list.
    NotListed,
}

/// A text that is not what it should be, and what is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct IdError {
    what: &'static str,
    text: String,
    why: Why,
}

impl IdError {
    pub(crate) fn of(what: &'static str, text: &str, why: Why) -> Self {
        Self { what, text: shown(text), why }
    }

    /// Why it is none.
    pub fn why(&self) -> Why {
        self.why
    }
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, text, why } = self;
        match why {
            Why::Empty => write!(f, "a {what} cannot be empty"),
            Why::TooLong(most) => write!(f, "`{text}` is no {what}: it has more than {most} characters"),
            Why::Form(form) => write!(f, "`{text}` is no {what}: {form}"),
            Why::Metadata => write!(
                f,
                "`{text}` is no {what}: names do not end in -SKILL, which is how a pattern's metadata is named; leave it out"
            ),
            Why::NotListed => write!(f, "`{text}` is no {what}: it is one of {}", Category::list()),
        }
    }
}

/// Runs of letters and digits, `joints` between them; a run of joints only where `many` says so.
fn joined(text: &str, joints: &[u8], many: bool, letter: fn(u8) -> bool) -> bool {
    let mut last_is_letter = false;
    for byte in text.bytes() {
        if letter(byte) {
            last_is_letter = true;
        } else if joints.contains(&byte) && (last_is_letter || many) {
            last_is_letter = false;
        } else {
            return false;
        }
    }
    // With `many` a joint may follow a joint, never begin.
    last_is_letter && text.bytes().next().is_some_and(letter)
}

fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn any(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// A folder of a library as an id has it: words of lower-case letters and digits, joined by `-`.
pub(crate) fn is_category(text: &str) -> bool {
    text.len() <= MAX_PATTERN_ID && joined(text, b"-", false, lower)
}

/// The name of a pattern.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= MAX_PATTERN_ID && joined(text, b"._-", false, any) && !text.ends_with("-SKILL")
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $least:literal..=$most:ident, $pattern:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// As it is written.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The grammar as a regular expression for JSON Schema (ECMA 262, anchored). Length is bounded apart.
            pub const fn pattern() -> &'static str {
                $pattern
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "minLength": $least, "maxLength": $most, "pattern": Self::pattern() })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                Self::new(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// `category/name`, or `library:category/name`: a pattern or a skill.
    PatternId,
    "pattern id",
    3..=MAX_PATTERN_ID,
    "^(?:[a-z][a-z0-9-]{0,39}:)?[a-z0-9]+(?:-[a-z0-9]+)*/[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$"
}

id! {
    /// A session's id: its file's name without the ending.
    SessionId,
    "session id",
    1..=MAX_SESSION_ID,
    "^[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*$"
}

id! {
    /// A project: a root's name, or its folder's.
    ProjectName,
    "project name",
    1..=MAX_PROJECT_NAME,
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
}

id! {
    /// A library: `user`, `project`, `gatewright`, or the name of a team's.
    LibraryName,
    "library name",
    1..=MAX_LIBRARY_NAME,
    "^[a-z][a-z0-9-]{0,39}$"
}

const PATTERN_FORM: &str = "it is written category/name, as database/rls-policy, with the library before it where several have it \
     (user:database/rls-policy): a category of lower-case letters, digits and single hyphens, a name of letters, digits and \
     single `.`, `_` or `-` between them";

impl PatternId {
    /// Only the grammar is looked at; whether there is such a pattern is another question.
    pub fn new(text: &str) -> Result<Self, IdError> {
        let no = |why| Err(IdError::of("pattern id", text, why));
        if text.is_empty() {
            return no(Why::Empty);
        }
        if text.len() > MAX_PATTERN_ID {
            return no(Why::TooLong(MAX_PATTERN_ID));
        }
        let (library, id) = text.split_once(':').map_or((None, text), |(library, id)| (Some(library), id));
        let Some((category, name)) = id.split_once('/') else { return no(Why::Form(PATTERN_FORM)) };
        if !library.is_none_or(is_library) || !is_category(category) {
            return no(Why::Form(PATTERN_FORM));
        }
        if !joined(name, b"._-", false, any) {
            return no(Why::Form(PATTERN_FORM));
        }
        if name.ends_with("-SKILL") {
            return no(Why::Metadata);
        }
        Ok(Self(text.into()))
    }

    /// From its parts.
    pub fn from_parts(library: Option<&LibraryName>, category: &str, name: &str) -> Result<Self, IdError> {
        let short = format!("{category}/{name}");
        match library {
            // Said of the short one: a category with a colon must not become a library.
            None if short.contains(':') => Err(IdError::of("pattern id", &short, Why::Form(PATTERN_FORM))),
            None => Self::new(&short),
            Some(library) if short.contains(':') => {
                Err(IdError::of("pattern id", &format!("{library}:{short}"), Why::Form(PATTERN_FORM)))
            }
            Some(library) => Self::new(&format!("{library}:{short}")),
        }
    }

    /// The library that it names.
    pub fn library(&self) -> Option<LibraryName> {
        self.0.split_once(':').map(|(library, _)| LibraryName(library.into()))
    }

    /// Without the library.
    pub fn short(&self) -> &str {
        self.0.split_once(':').map_or(&*self.0, |(_, id)| id)
    }

    /// The folder: one of [`Category`], or another that a library has.
    pub fn category(&self) -> &str {
        self.short().split_once('/').map_or("", |(category, _)| category)
    }

    /// The name in its category.
    pub fn name(&self) -> &str {
        self.short().split_once('/').map_or("", |(_, name)| name)
    }

    /// The same pattern, of this library.
    #[must_use]
    pub fn within(&self, library: &LibraryName) -> Self {
        Self(format!("{library}:{}", self.short()).into())
    }
}

impl SessionId {
    /// Only the grammar is looked at.
    pub fn new(text: &str) -> Result<Self, IdError> {
        let no = |why| Err(IdError::of("session id", text, why));
        if text.is_empty() {
            return no(Why::Empty);
        }
        if text.len() > MAX_SESSION_ID {
            return no(Why::TooLong(MAX_SESSION_ID));
        }
        if !joined(text, b"._-", true, any) {
            return no(Why::Form(
                "it is the name of the session's file without .md, as 2025-11-05-rls-policies: letters and digits, `.`, `_` and \
                 `-` between them",
            ));
        }
        Ok(Self(text.into()))
    }

    /// Its first ten characters, when they are a date (`YYYY-MM-DD`, a day that there is).
    pub fn date(&self) -> Option<jiff::civil::Date> {
        let text = self.0.get(..10)?;
        let shaped = text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
        if shaped { text.parse().ok() } else { None }
    }
}

impl ProjectName {
    /// Only the grammar is looked at.
    pub fn new(text: &str) -> Result<Self, IdError> {
        let no = |why| Err(IdError::of("project name", text, why));
        let Some(first) = text.bytes().next() else { return no(Why::Empty) };
        if text.len() > MAX_PROJECT_NAME {
            return no(Why::TooLong(MAX_PROJECT_NAME));
        }
        let within = |byte: u8| any(byte) || matches!(byte, b'.' | b'_' | b'-');
        if !any(first) || !text.bytes().all(within) {
            return no(Why::Form(
                "it is a root's name or its folder's, as web-app: letters, digits, `.`, `_` and `-`, the first a letter or digit",
            ));
        }
        Ok(Self(text.into()))
    }
}

fn is_library(text: &str) -> bool {
    text.len() <= MAX_LIBRARY_NAME
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
        && text.bytes().all(|byte| lower(byte) || byte == b'-')
}

impl LibraryName {
    /// Only the grammar is looked at.
    pub fn new(text: &str) -> Result<Self, IdError> {
        let no = |why| Err(IdError::of("library name", text, why));
        if text.is_empty() {
            return no(Why::Empty);
        }
        if text.len() > MAX_LIBRARY_NAME {
            return no(Why::TooLong(MAX_LIBRARY_NAME));
        }
        if !is_library(text) {
            return no(Why::Form(
                "it is lower-case letters, digits and `-`, the first a letter, as user or platform-team",
            ));
        }
        Ok(Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pattern_id_has_its_parts() {
        let id = PatternId::new("platform-team:mcp-integration/http.Server_v2").unwrap();
        assert_eq!(id.library().unwrap().as_str(), "platform-team");
        assert_eq!((id.category(), id.name()), ("mcp-integration", "http.Server_v2"));
        assert_eq!(id.short(), "mcp-integration/http.Server_v2");
        let user = LibraryName::new("user").unwrap();
        assert_eq!(id.within(&user).as_str(), "user:mcp-integration/http.Server_v2");
        assert_eq!(PatternId::from_parts(Some(&user), "ui", "x").unwrap().as_str(), "user:ui/x");
        assert!(PatternId::from_parts(None, "user:ui", "x").is_err());
    }

    #[test]
    fn what_could_be_a_path_is_no_id() {
        for text in [
            "",
            "a",
            "/",
            "a/",
            "/a",
            "../a",
            "a/..",
            "a/../b",
            "a//b",
            "a/b/c",
            "a/.b",
            "a/b.",
            "a/%2e%2e",
            "a/b\0",
            "a/b\n",
            "A/b",
            "a_b/c",
            "a/b c",
            "a/b..c",
            "a\\b",
            "a:b",
            ":a/b",
            "1a:b/c",
            "a:b:c/d",
            "a/b\u{202e}",
            "C:/x",
            "a/é",
        ] {
            assert!(PatternId::new(text).is_err(), "{text:?}");
        }
        assert_eq!(PatternId::new("a/rls-SKILL").unwrap_err().why(), Why::Metadata);
        assert!(PatternId::new(&format!("a/{}", "b".repeat(158))).is_ok());
        assert_eq!(PatternId::new(&format!("a/{}", "b".repeat(159))).unwrap_err().why(), Why::TooLong(160));
    }

    #[test]
    fn an_error_says_what_was_given_visibly_and_what_would_do() {
        let said = PatternId::new("data\u{202e}base").unwrap_err().to_string();
        assert!(said.contains("data\\u{202e}base") && said.contains("database/rls-policy"), "{said}");
    }

    #[test]
    fn a_session_has_a_date_only_when_it_is_one() {
        let date = |text: &str| SessionId::new(text).unwrap().date().map(|d| d.to_string());
        assert_eq!(date("2025-11-05-rls").as_deref(), Some("2025-11-05"));
        assert_eq!(date("2025-11-05").as_deref(), Some("2025-11-05"));
        assert_eq!(date("2025-02-30-x"), None);
        assert_eq!(date("20251105T12-x"), None);
        assert_eq!(date("notes"), None);
        assert!(SessionId::new("a--b").is_ok());
        assert!(
            SessionId::new("-a").is_err() && SessionId::new("a-").is_err() && SessionId::new("a/b").is_err()
        );
    }

    #[test]
    fn ids_are_refused_when_they_are_read_as_json() {
        assert!(serde_json::from_str::<PatternId>(r#""database/rls-policy""#).is_ok());
        let said = serde_json::from_str::<PatternId>(r#""../etc""#).unwrap_err().to_string();
        assert!(said.contains("category/name"), "{said}");
        assert!(serde_json::from_str::<ProjectName>(r#"".git""#).is_err());
        assert!(serde_json::from_str::<LibraryName>(r#""User""#).is_err());
    }

    proptest! {
        #[test]
        fn the_grammars_are_their_regular_expressions(
            text in "[aB1:/._%-]{0,12}|[a-z]{1,3}:?[a-z-]{1,5}/[A-Za-z._-]{1,8}|(a-)?[a-z]/[a-z]-SKILL|\\PC{0,8}",
        ) {
            let fits = |pattern: &str| regex::Regex::new(pattern).unwrap().is_match(&text);
            let metadata = text.ends_with("-SKILL");
            prop_assert_eq!(PatternId::new(&text).is_ok(), fits(PatternId::pattern()) && !metadata);
            prop_assert_eq!(SessionId::new(&text).is_ok(), fits(SessionId::pattern()));
            prop_assert_eq!(ProjectName::new(&text).is_ok(), fits(ProjectName::pattern()));
            prop_assert_eq!(LibraryName::new(&text).is_ok(), fits(LibraryName::pattern()));
        }
    }
}
