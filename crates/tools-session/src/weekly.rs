//! The plan of the week: where it is, how old, and what is in it.

use contract::{Fault, RelPath};
use exec::history::LogQuery;
use jiff::civil::Date;
use kit::ReadDesk;
use kit::desk::git;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use schemars::JsonSchema;
use serde::Serialize;
use store_api::Timestamp;

use crate::age;
use crate::settings::DocumentsSection;

/// Most sections that are told.
const MAX_SECTIONS: usize = 50;
/// Words of a heading under which priorities stand.
const PRIORITY: [&str; 4] = ["priority", "priorities", "goal", "focus"];

/// How a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// It is of this week.
    Valid,
    /// It is older.
    Stale,
    /// There is none.
    Missing,
}

impl Freshness {
    /// As it is shown.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Stale => "stale",
            Self::Missing => "missing",
        }
    }
}

/// What a plan's date is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatedBy {
    /// Its front matter or first heading names a day.
    Heading,
    /// The last commit that touched it.
    Commit,
    /// The file's own time: no commit has it.
    File,
}

/// A part of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Section {
    /// The heading's level, from 1; 0 before the first.
    pub level: u8,
    /// The heading.
    pub heading: String,
    /// What stands below it, in Markdown.
    pub text: String,
}

/// The plan of the week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Weekly {
    pub(crate) freshness: Freshness,
    pub(crate) path: String,
    pub(crate) age_days: Option<i64>,
    pub(crate) dated_by: Option<DatedBy>,
    pub(crate) sections: Vec<Section>,
}

impl Weekly {
    /// Looks for it and reads it.
    pub(crate) async fn look(desk: &ReadDesk, now: Timestamp) -> Result<Self, Fault> {
        let settings = desk.settings::<DocumentsSection>()?;
        let path: RelPath = exec::view::path_argument(&settings.weekly_plan)?;
        let at = path.clone();
        let found = desk
            .blocking(move |desk| {
                let text =
                    desk.view().read_optional(&at)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                Ok(text.map(|text| (text, desk.view().modified(&at))))
            })
            .await?;
        let mut weekly = Self {
            freshness: Freshness::Missing,
            path: path.to_string(),
            age_days: None,
            dated_by: None,
            sections: Vec::new(),
        };
        let Some((text, modified)) = found else { return Ok(weekly) };
        weekly.sections = sections(&text);
        let written = match day(&text) {
            Some(day) => Some((millis(day), DatedBy::Heading)),
            None => match committed(desk, &path).await {
                Some(at) => Some((at, DatedBy::Commit)),
                None => modified.map(|at| (at, DatedBy::File)),
            },
        };
        let age = written.map(|(at, _)| age::days(at, now).max(0));
        weekly.age_days = age;
        weekly.dated_by = written.map(|(_, by)| by);
        let is_stale = age.is_some_and(|age| age >= i64::from(settings.weekly_plan_days));
        weekly.freshness = if is_stale { Freshness::Stale } else { Freshness::Valid };
        Ok(weekly)
    }

    /// What is most important, where a heading says so.
    pub(crate) fn priority(&self) -> Option<&Section> {
        let is_one = |section: &&Section| {
            let heading = section.heading.to_lowercase();
            PRIORITY.iter().any(|word| heading.contains(word)) && !section.text.trim().is_empty()
        };
        self.sections.iter().find(is_one)
    }
}

/// When the last commit touched a file: a fresh clone does not make an old plan young.
async fn committed(desk: &ReadDesk, path: &RelPath) -> Option<i64> {
    let query = LogQuery { limit: 1, paths: vec![path.to_string()], ..LogQuery::new("HEAD") };
    let log = git::read(desk, move |repo, limits, cancel| repo.log(&query, limits, cancel)).await.ok()?;
    let at: jiff::Timestamp = log.commits.first()?.time.parse().ok()?;
    Some(at.as_millisecond())
}

/// The beginning of a day in UTC, in milliseconds.
fn millis(day: Date) -> i64 {
    day.to_zoned(jiff::tz::TimeZone::UTC).map_or(0, |zoned| zoned.timestamp().as_millisecond())
}

/// The day that a plan's front matter or first heading names, as ISO 8601 writes it.
fn day(text: &str) -> Option<Date> {
    let body = match text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")) {
        Some((front, body)) => {
            let found =
                front.lines().filter(|line| line.contains("date") || line.contains("week")).find_map(iso);
            if found.is_some() {
                return found;
            }
            body
        }
        None => text,
    };
    sections(body).iter().find(|section| section.level > 0).and_then(|section| iso(&section.heading))
}

/// The first `YYYY-MM-DD` of a line.
fn iso(line: &str) -> Option<Date> {
    let bytes = line.as_bytes();
    (0..bytes.len().saturating_sub(9)).find_map(|at| {
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let stands_alone = (at == 0 || !is_digit(at - 1)) && !is_digit(at + 10);
        let text = line.get(at..at + 10)?;
        let is_shaped = text
            .bytes()
            .enumerate()
            .all(|(i, b)| if matches!(i, 4 | 7) { b == b'-' } else { b.is_ascii_digit() });
        if stands_alone && is_shaped { text.parse().ok() } else { None }
    })
}

/// The parts of a text by its headings.
pub(crate) fn sections(text: &str) -> Vec<Section> {
    let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS | Options::ENABLE_TABLES;
    let mut all: Vec<Section> = Vec::new();
    let (mut begins, mut heading, mut within) = (0, None::<(u8, String)>, false);
    let mut front = 0;
    let mut close = |heading: Option<(u8, String)>, body: &str| {
        let (level, heading) = heading.unwrap_or_default();
        if level > 0 || !body.trim().is_empty() {
            all.push(Section { level, heading, text: body.trim().to_owned() });
        }
    };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::End(TagEnd::MetadataBlock(_)) => {
                front = range.end;
                begins = begins.max(front);
            }
            Event::Start(Tag::Heading { level, .. }) => {
                close(heading.take(), text.get(begins.max(front)..range.start).unwrap_or_default());
                heading = Some((number(level), String::new()));
                begins = range.end;
                within = true;
            }
            Event::End(TagEnd::Heading(_)) => within = false,
            Event::Text(words) | Event::Code(words) if within => {
                if let Some((_, heading)) = &mut heading {
                    heading.push_str(&words);
                }
            }
            _ => {}
        }
    }
    close(heading, text.get(begins..).unwrap_or_default());
    all.truncate(MAX_SECTIONS);
    all
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_the_parts_of_its_headings() {
        let text = "---\ndate: 2026-11-16\n---\nBefore.\n\n# Week of 2026-11-09\n\n## Priorities\n\n1. Ship `x`\n\n```\n# no heading\n```\n\n## Later\n";
        let parts: Vec<_> = sections(text).into_iter().map(|s| (s.level, s.heading, s.text)).collect();
        assert_eq!(
            parts,
            [
                (0, String::new(), "Before.".to_owned()),
                (1, "Week of 2026-11-09".to_owned(), String::new()),
                (2, "Priorities".to_owned(), "1. Ship `x`\n\n```\n# no heading\n```".to_owned()),
                (2, "Later".to_owned(), String::new()),
            ]
        );
        assert_eq!(day(text).unwrap().to_string(), "2026-11-16", "front matter goes before a heading");
    }

    #[test]
    fn a_day_is_one_that_a_calendar_has() {
        assert_eq!(iso("Week of 2026-11-09 to 2026-11-13").unwrap().to_string(), "2026-11-09");
        for line in ["", "2026-13-01", "12026-01-011", "2026/11/09", "ä2026-1-1", "build 2026-02-30"] {
            assert_eq!(iso(line), None, "{line}");
        }
        assert_eq!(day("# Plan\n\n2026-11-09"), None);
    }
}
