//! `SKILL.md`: an Agent Skill's front matter (agentskills.io, the specification of the format).

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::front;
use crate::grants::Asks;
use crate::markdown::MAX_DOCUMENT;
use crate::problem::{Code, MAX_PROBLEMS, Place, Problems};
use crate::text::shown;

/// Longest name, in characters.
pub const MAX_NAME: usize = 64;
/// Longest description, in characters.
pub const MAX_SKILL_DESCRIPTION: usize = 1_024;
/// Longest note on compatibility, in characters.
pub const MAX_COMPATIBILITY: usize = 500;
/// What keys of `metadata` begin with that are ours.
pub const OURS: &str = "gatewright-";

/// A skill's `SKILL.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// As stated; the folder's name where [`Skill::conforms`].
    pub name: String,
    /// 1 to 1,024 characters, as stated.
    pub description: String,
    /// As stated.
    pub license: Option<String>,
    /// 1 to 500 characters, as stated.
    pub compatibility: Option<String>,
    /// Texts by key. Numbers and switches are kept as texts, and told.
    pub metadata: BTreeMap<String, String>,
    /// Shown, and never honoured: a file that was cloned grants nothing.
    pub allowed_tools: Vec<String>,
    /// What it asks for by `gatewright-*` keys.
    pub asks: Asks,
    /// `metadata.gatewright-category`, else `metadata.category`, as stated.
    pub category: Option<String>,
    /// All other keys, as they are.
    pub other: Map<String, Value>,
    /// The instructions, in bytes.
    pub body: Range<usize>,
    /// Whether everything is as the specification has it: only such a skill is served to others.
    pub conforms: bool,
}

/// Whether a name is one by the specification: lower-case letters and digits, single hyphens between them, at most 64.
pub fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME && crate::id::is_category(text)
}

/// Reads a `SKILL.md` that stands in a folder of this name. None where it has no name or description to be known by; what
/// else is wrong is told, and the rest holds.
pub fn read(text: &str, folder: &str, problems: &mut Problems) -> Option<Skill> {
    if text.len() > MAX_DOCUMENT {
        problems.whole(Code::TooLarge, "a SKILL.md has at most 1 MiB: move what is long into references/");
        return None;
    }
    let split = front::split(text);
    let Some(yaml) = split.yaml else {
        let why = if split.is_unclosed {
            "the front matter is never closed: end it with a line of ---"
        } else {
            "a SKILL.md begins with front matter: a line of ---, name, description, a line of ---"
        };
        problems.at(Place::line(1), Code::FrontMatterInvalid, why);
        return None;
    };
    let source = text.get(yaml).unwrap_or_default();
    let mut fields = match front::parse(source, split.line) {
        Ok(fields) => fields,
        Err(error) => {
            problems.at(error.place, Code::FrontMatterInvalid, error.to_string());
            return None;
        }
    };
    // Looked at by the mapping: a line `name:` may be another mapping's.
    let missing: Vec<&str> =
        ["name", "description"].into_iter().filter(|key| !fields.contains_key(*key)).collect();
    let before = problems.found().len() + problems.more();
    let mut reader = Reader { source, line: split.line, problems };
    let name = reader.text(&mut fields, "name", MAX_NAME);
    let description = reader.text(&mut fields, "description", MAX_SKILL_DESCRIPTION);
    if let Some(name) = &name {
        if !is_name(name) {
            reader.say(
                "name",
                "a name is lower-case letters, digits and single hyphens between them, at most 64 characters",
            );
        } else if name != folder {
            reader.say("name", &format!("the name is the folder's: `{}`", shown(folder)));
        }
    }
    for key in missing {
        let why = format!("`{key}` is missing: a skill has a name and a description");
        reader.problems.at(Place::line(1), Code::FieldInvalid, why);
    }
    let license = reader.text(&mut fields, "license", usize::MAX);
    let compatibility = reader.text(&mut fields, "compatibility", MAX_COMPATIBILITY);
    let metadata = reader.metadata(fields.remove("metadata"));
    let allowed_tools = reader.tools(fields.remove("allowed-tools"));
    let (asks, category) = reader.asks(&metadata);
    let conforms = problems.found().len() + problems.more() == before;
    Some(Skill {
        name: name?,
        description: description?,
        license,
        compatibility,
        metadata,
        allowed_tools,
        asks,
        category,
        other: fields,
        body: split.body,
        conforms,
    })
}

struct Reader<'a> {
    source: &'a str,
    line: u32,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    /// The line of a key: the first that begins with it, at any indent.
    fn place(&self, key: &str) -> Option<Place> {
        let at = self.source.lines().position(|line| {
            let rest = line.trim_start().trim_start_matches(['"', '\'']);
            rest.strip_prefix(key)
                .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
        })?;
        Some(Place::line(self.line.saturating_add(u32::try_from(at).ok()?)))
    }

    fn say(&mut self, key: &str, why: &str) {
        // Looking for the line of what is not told would be quadratic.
        let is_told = self.problems.found().len() < MAX_PROBLEMS;
        let place = if is_told { self.place(key) } else { None }.unwrap_or(Place::line(1));
        self.problems.at(place, Code::FieldInvalid, format!("`{key}`: {why}"));
    }

    /// A text of 1 to `most` characters. A longer one is told and kept; another type is told and left out.
    fn text(&mut self, fields: &mut Map<String, Value>, key: &str, most: usize) -> Option<String> {
        match fields.remove(key)? {
            Value::String(text) if text.trim().is_empty() => {
                self.say(key, "it is empty: write something, or leave the key out");
                None
            }
            Value::String(text) => {
                if text.chars().count() > most {
                    self.say(key, &format!("it has more than {most} characters: shorten it"));
                }
                Some(text)
            }
            Value::Null => {
                self.say(key, "it is empty: write something, or leave the key out");
                None
            }
            _ => {
                self.say(key, "it is a text: put it into quotes");
                None
            }
        }
    }

    fn metadata(&mut self, value: Option<Value>) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        match value {
            None | Some(Value::Null) => {}
            Some(Value::Object(map)) => {
                for (key, value) in map {
                    let text = match value {
                        Value::String(text) => text,
                        Value::Object(_) | Value::Array(_) => {
                            self.say(&shown(&key), "values of metadata are texts: flatten it");
                            continue;
                        }
                        other => {
                            self.say(&shown(&key), "values of metadata are texts: put it into quotes");
                            other.to_string()
                        }
                    };
                    found.insert(key, text);
                }
            }
            Some(_) => self.say("metadata", "it is a mapping of texts, as `author: me` on a line below it"),
        }
        found
    }

    fn tools(&mut self, value: Option<Value>) -> Vec<String> {
        match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => {
                text.split([' ', ',']).filter(|t| !t.is_empty()).map(str::to_owned).collect()
            }
            Some(Value::Array(list)) if list.iter().all(Value::is_string) => {
                list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(_) => {
                self.say(
                    "allowed-tools",
                    "it is a text of names with spaces between them, or a list of names",
                );
                Vec::new()
            }
        }
    }

    fn asks(&mut self, metadata: &BTreeMap<String, String>) -> (Asks, Option<String>) {
        let mut asks = Asks::default();
        for (key, value) in metadata {
            let Some(ours) = key.strip_prefix(OURS) else { continue };
            let place = self.place(key).unwrap_or(Place::line(1));
            if ours != "category" && !asks.take(ours, value, place, self.problems) {
                let why = "gatewright knows no such key: it is one of category, entry, runtime, reads, clock, random, network, timeout, memory";
                self.say(&shown(key), why);
            }
        }
        let category = metadata.get("gatewright-category").or_else(|| metadata.get("category"));
        (asks, category.cloned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Told = Vec<(Option<u32>, Code, String)>;

    fn skill(text: &str, folder: &str) -> (Option<Skill>, Told) {
        let mut problems = Problems::of("x/SKILL.md");
        let found = read(text, folder, &mut problems);
        (found, problems.found().iter().map(|p| (p.line, p.code, p.message.clone())).collect())
    }

    #[test]
    fn a_whole_front_matter_is_read() {
        let text = "---\nname: pdf-forms\ndescription: >-\n  Fills forms.\n  Use it for PDF.\nlicense: Apache-2.0\ncompatibility: Needs git\nmetadata:\n  author: me\n  version: \"1.0\"\n  category: ui\n  gatewright-category: backend\n  gatewright-reads: forms/*.json\nallowed-tools: Bash(git:*) Read\nicon: x.png\n---\n# Do\n---\n";
        let (found, problems) = skill(text, "pdf-forms");
        let found = found.unwrap();
        assert_eq!(problems, []);
        assert_eq!(found.description, "Fills forms. Use it for PDF.");
        assert_eq!(found.metadata.get("version").map(String::as_str), Some("1.0"));
        assert_eq!(found.category.as_deref(), Some("backend"));
        assert_eq!(found.asks.reads, ["forms/*.json"]);
        assert_eq!(found.allowed_tools, ["Bash(git:*)", "Read"]);
        assert_eq!(found.other.get("icon"), Some(&Value::from("x.png")));
        assert_eq!(&text[found.body.clone()], "# Do\n---\n");
        assert!(found.conforms);
    }

    #[test]
    fn the_limits_of_the_specification_are_held_with_lines() {
        let long = "x".repeat(1_025);
        let text = format!(
            "---\nname: Bad--Name\ndescription: {long}\ncompatibility: {long}\nmetadata:\n  n: 1\n  l: [a]\n  gatewright-x: y\n  gatewright-timeout: \"5\"\nallowed-tools: {{}}\nlicense: 3\n---\n"
        );
        let (found, problems) = skill(&text, "bad-name");
        assert!(!found.unwrap().conforms);
        let lines: Vec<_> = problems.iter().map(|(line, code, _)| (line.unwrap(), *code)).collect();
        let field = Code::FieldInvalid;
        assert_eq!(
            lines,
            [
                (3, field),
                (2, field),
                (11, field),
                (4, field),
                (7, field),
                (6, field),
                (10, field),
                (9, Code::GrantInvalid),
                (8, field)
            ]
        );
        let (found, problems) = skill("---\nname: a\ndescription: b\n---\n", "c");
        assert!(!found.unwrap().conforms && problems[0].2.contains("the folder's: `c`"));
        for (name, is) in [
            ("a", true),
            ("a-1", true),
            ("-a", false),
            ("a-", false),
            ("a--b", false),
            ("A", false),
            ("", false),
        ] {
            assert_eq!(is_name(name), is, "{name}");
        }
        assert!(is_name(&"a".repeat(64)) && !is_name(&"a".repeat(65)));
    }

    #[test]
    fn without_a_name_and_a_description_there_is_no_skill() {
        for (text, line, part) in [
            ("# X\n", 1, "begins with front matter"),
            ("---\nname: a\n", 1, "never closed"),
            ("---\nname: a\n---\n", 1, "`description` is missing"),
            ("---\nname: a\nmetadata:\n  description: b\n---\n", 1, "`description` is missing"),
            ("---\nname: a\ndescription: ''\n---\n", 3, "empty"),
            ("---\nname: 1\ndescription: x\n---\n", 2, "quotes"),
            ("---\nname: *a\n---\n", 2, ""),
            ("---\nname: [\n---\n", 2, ""),
        ] {
            let (found, problems) = skill(text, "a");
            assert!(found.is_none(), "{text}");
            assert!(problems[0].2.contains(part), "{problems:?}");
            assert!(problems[0].0.is_some_and(|l| (line..=line + 1).contains(&l)), "{text}: {problems:?}");
        }
        assert_eq!(skill(&"x".repeat(MAX_DOCUMENT + 1), "a").1[0].1, Code::TooLarge);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_told(text in "(---\n)?((name|description|metadata|allowed-tools|license): \\PC{0,20}\n){0,6}(---\n)?\\PC{0,30}") {
            let (found, problems) = skill(&text, "a");
            prop_assert!(found.is_some() || !problems.is_empty());
        }
    }
}
