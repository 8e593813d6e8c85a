//! `{name}-SKILL.md`: what is said of a pattern in `**Key:** value` lines and a table of criteria.
//!
//! The file belongs to people: it is edited in place. A change replaces the characters of the values that it names, or adds
//! lines for those that are not there; every other byte stays: line ends, order, comments, white space.

use std::ops::Range;

use jiff::civil::Date;

use crate::grants::{self, Asks};
use crate::markdown::{Key, Markdown};
use crate::problem::{Code, Place, Problems};
use crate::quality::{Criteria, Criterion, Score, contradiction, overall};
use crate::text::{bare, folded, plain, shown};

/// Most dependencies that are kept.
pub const MAX_DEPENDENCIES: usize = 100;

/// What a `-SKILL.md` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    /// `**Category:**`, as it stands.
    pub category: Option<String>,
    /// `**Language:**`.
    pub language: Option<String>,
    /// The first of `**Quality:**`, `**Quality Score:**`, `**Overall Score:**`.
    pub stated: Option<Score>,
    /// The table of criteria, as far as it is there.
    pub criteria: Criteria,
    /// `**Last Verified:**`.
    pub last_verified: Option<Date>,
    /// `**Reuse Count:**`.
    pub reuse_count: Option<u64>,
    /// `**Dependencies:**`: a list below it, or words between commas.
    pub dependencies: Vec<String>,
    /// `**Verified:**`, as it is stated. What counts are the uses.
    pub verified: Option<bool>,
    /// What the skill asks for.
    pub asks: Asks,
}

impl Meta {
    /// The score that counts: the stated one, else the mean of all five criteria.
    pub fn quality(&self) -> Option<Score> {
        overall(self.stated, &self.criteria)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Category,
    Language,
    Quality,
    LastVerified,
    ReuseCount,
    Dependencies,
    Verified,
    Ask,
}

fn field(name: &str) -> Option<Field> {
    Some(match folded(name).as_str() {
        "category" => Field::Category,
        "language" => Field::Language,
        "quality" | "quality score" | "overall score" | "overall" => Field::Quality,
        "last verified" => Field::LastVerified,
        "reuse count" => Field::ReuseCount,
        "dependencies" => Field::Dependencies,
        "verified" => Field::Verified,
        "runtime" | "entry" | "reads" | "clock" | "random" | "network" | "timeout" | "memory" => Field::Ask,
        _ => return None,
    })
}

/// A cell with a score: its criterion, where it is, its line.
struct Scored {
    criterion: Criterion,
    at: Range<usize>,
    line: u32,
}

fn scored(document: &Markdown<'_>) -> Vec<Scored> {
    let mut found: Vec<Scored> = Vec::new();
    for table in document.tables(&(0..document.text().len())) {
        let head: Vec<String> = table.head.cells.iter().map(|at| folded(document.slice(at))).collect();
        let place = |names: &[&str]| head.iter().position(|cell| names.contains(&cell.as_str()));
        let (Some(name), Some(score)) = (place(&["criterion", "criteria"]), place(&["score", "rating"]))
        else {
            continue;
        };
        for row in &table.rows {
            let (Some(name), Some(at)) = (row.cells.get(name), row.cells.get(score)) else { continue };
            if let Some(criterion) = Criterion::named(document.slice(name))
                && found.iter().all(|scored| scored.criterion != criterion)
            {
                found.push(Scored { criterion, at: at.clone(), line: row.line });
            }
        }
    }
    found
}

/// The start of a value behind its emphasis, and the run of characters there that fit.
fn run(value: &str, fits: fn(char) -> bool) -> Range<usize> {
    let begin = value.len() - value.trim_start_matches(['*', '_', '`']).len();
    let rest = value.get(begin..).unwrap_or_default();
    begin..begin + rest.find(|c| !fits(c)).unwrap_or(rest.len())
}

fn count(value: &str) -> Option<u64> {
    let at = run(value, |c| c.is_ascii_digit());
    let behind = value.get(at.end..)?.trim_start_matches(['*', '_', '`']);
    let ends = behind.is_empty() || behind.starts_with([' ', '\t', '(']);
    if ends { value.get(at)?.parse().ok() } else { None }
}

fn date(value: &str) -> Option<Date> {
    let at = run(value, |c| c.is_ascii_digit() || c == '-');
    let text = value.get(at)?;
    if text.len() == 10 { text.parse().ok() } else { None }
}

/// Reads a file. Whatever cannot be read is a problem with its line, and as if it were not there.
pub fn read(text: &str, problems: &mut Problems) -> Meta {
    let document = Markdown::of(text);
    read_document(&document, problems)
}

/// As [`read`], of a document that was read before.
pub fn read_document(document: &Markdown<'_>, problems: &mut Problems) -> Meta {
    let mut meta = Meta::default();
    let mut seen: Vec<(String, &str)> = Vec::new();
    for key in document.keys() {
        let Some(field) = field(key.name) else { continue };
        let place = document.place(key.at.start);
        // One name for what is one thing.
        let name = if field == Field::Quality { "quality".to_owned() } else { folded(key.name) };
        if let Some((_, first)) = seen.iter().find(|(seen, _)| *seen == name) {
            if bare(first) != bare(key.value) {
                let why =
                    format!("`{}` is there twice, with other values: the first is taken", shown(key.name));
                problems.at(place, Code::Ambiguous, why);
            }
            continue;
        }
        seen.push((name, key.value));
        take(&mut meta, field, &key, document, place, problems);
    }
    for scored in scored(document) {
        match Score::parse(document.slice(&scored.at)) {
            Ok(score) => meta.criteria.set(scored.criterion, score),
            Err(error) => {
                let why = format!(
                    "the score of {} cannot be read: {error}",
                    scored.criterion.title().to_lowercase()
                );
                problems.at(Place { line: scored.line, column: None }, Code::QualityInvalid, why);
            }
        }
    }
    if let Some((stated, mean)) = contradiction(meta.stated, &meta.criteria) {
        let line = document.keys().find(|k| field(k.name) == Some(Field::Quality)).map_or(1, |k| k.line);
        let why = format!("{stated} is stated, and the mean of the criteria is {mean}: correct one of them");
        problems.at(Place::line(line), Code::QualityMismatch, why);
    }
    meta
}

fn take(
    meta: &mut Meta,
    field: Field,
    key: &Key<'_>,
    document: &Markdown<'_>,
    place: Place,
    problems: &mut Problems,
) {
    let value = bare(key.value);
    let text = || if value.is_empty() { None } else { Some(plain(value)) };
    match field {
        Field::Category => meta.category = text(),
        Field::Language => meta.language = text(),
        Field::Quality => match Score::parse(key.value) {
            Ok(score) => meta.stated = Some(score),
            Err(error) => {
                problems.at(place, Code::QualityInvalid, format!("`{}`: {error}", shown(value)));
            }
        },
        Field::LastVerified => {
            meta.last_verified = date(key.value);
            if meta.last_verified.is_none() && !value.is_empty() {
                let why = format!("`{}` is no date: write it as 2025-11-05", shown(value));
                problems.at(place, Code::FieldInvalid, why);
            }
        }
        Field::ReuseCount => {
            meta.reuse_count = count(key.value);
            if meta.reuse_count.is_none() && !value.is_empty() {
                let why = format!("`{}` is no count: write a whole number, as 12", shown(value));
                problems.at(place, Code::FieldInvalid, why);
            }
        }
        Field::Dependencies => {
            let items: Vec<&str> =
                if value.is_empty() { document.items_below(key.line) } else { value.split(',').collect() };
            let items = items.into_iter().map(|item| plain(bare(item))).filter(|item| {
                !matches!(item.to_ascii_lowercase().as_str(), "" | "none" | "n/a" | "-" | "–" | "—")
            });
            meta.dependencies = items.take(MAX_DEPENDENCIES).collect();
        }
        Field::Verified => match grants::switch(key.value.trim_matches(['✅', '✓', '❌', ' '])) {
            Ok(verified) => meta.verified = Some(verified || key.value.contains(['✅', '✓'])),
            Err(error) => problems.at(place, Code::FieldInvalid, error.to_string()),
        },
        Field::Ask => {
            meta.asks.take(&folded(key.name), key.value, place, problems);
        }
    }
}

/// Values that are to be written; none stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Every line that states the score.
    pub quality: Option<Score>,
    /// `**Last Verified:**`.
    pub last_verified: Option<Date>,
    /// `**Reuse Count:**`.
    pub reuse_count: Option<u64>,
    /// `**Verified:**`.
    pub verified: Option<bool>,
    /// The cells of the criteria that are set here.
    pub criteria: Criteria,
}

impl Changes {
    /// The new value of a line, its name, and the part of the old one that is exchanged.
    fn of(&self, field: Field, old: &str) -> Option<(String, &'static str, Range<usize>)> {
        let whole = 0..old.len();
        Some(match field {
            Field::Quality => {
                let score = self.quality?;
                match Score::parse(old) {
                    Ok(_) => {
                        (score.to_string(), "Quality Score", run(old, |c| c.is_ascii_digit() || c == '.'))
                    }
                    Err(_) => (format!("{score}/10"), "Quality Score", whole),
                }
            }
            Field::LastVerified => {
                let at =
                    if date(old).is_some() { run(old, |c| c.is_ascii_digit() || c == '-') } else { whole };
                (self.last_verified?.to_string(), "Last Verified", at)
            }
            Field::ReuseCount => {
                let at = if count(old).is_some() { run(old, |c| c.is_ascii_digit()) } else { whole };
                (self.reuse_count?.to_string(), "Reuse Count", at)
            }
            Field::Verified => {
                let verified = self.verified?;
                let word = run(old, char::is_alphabetic);
                let word_is = old.get(word.clone()).unwrap_or_default().to_ascii_lowercase();
                let (yes, no) = if matches!(word_is.as_str(), "true" | "false") {
                    ("true", "false")
                } else {
                    ("yes", "no")
                };
                // Of a value in other words nothing may be left that says the opposite.
                let plain = word_is == bare(old).to_ascii_lowercase() && !word_is.is_empty();
                let at = if plain { word } else { whole };
                (if verified { yes } else { no }.to_owned(), "Verified", at)
            }
            _ => return None,
        })
    }
}

/// The same file with other values. Lines that are not there are added behind the last known line that has a value; in a file
/// without such lines below its title, else at its beginning. Criteria without a row come as a table at the end.
pub fn edit(text: &str, changes: &Changes) -> String {
    let document = Markdown::of(text);
    let mut splices: Vec<(Range<usize>, String)> = Vec::new();
    let known: Vec<(Field, Key<'_>)> =
        document.keys().filter_map(|key| Some((field(key.name)?, key))).collect();
    for (field, key) in &known {
        if let Some((mut value, _, part)) = changes.of(*field, key.value) {
            let at = key.at.start + part.start..key.at.start + part.end;
            let before = text.get(..at.start).and_then(|t| t.chars().next_back());
            if key.value.is_empty() && before.is_some_and(|c| !c.is_whitespace()) {
                value.insert(0, ' ');
            }
            splices.push((at, value));
        }
    }
    let rows = scored(&document);
    let mut without_row = Criteria::default();
    for criterion in Criterion::ALL {
        let Some(score) = changes.criteria.get(criterion) else { continue };
        match rows.iter().find(|row| row.criterion == criterion) {
            None => without_row.set(criterion, score),
            Some(row) => {
                let old = document.slice(&row.at);
                let (part, value) = match Score::parse(old) {
                    Ok(_) => (run(old, |c| c.is_ascii_digit() || c == '.'), in_cell(score)),
                    Err(_) => (0..old.len(), format!("{}/10", in_cell(score))),
                };
                splices.push((row.at.start + part.start..row.at.start + part.end, value));
            }
        }
    }
    let missing: Vec<String> = [Field::Quality, Field::LastVerified, Field::ReuseCount, Field::Verified]
        .into_iter()
        .filter(|wanted| known.iter().all(|(field, _)| field != wanted))
        .filter_map(|wanted| changes.of(wanted, "").map(|(value, name, _)| format!("**{name}:** {value}")))
        .collect();
    let newline = if text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) {
        "\r\n"
    } else {
        "\n"
    };
    if !missing.is_empty() {
        splices.push(added(&document, &known, &missing, newline));
    }
    if !without_row.is_empty() {
        let mut table = String::new();
        if !text.is_empty() {
            table.push_str(if text.ends_with('\n') { newline } else { "\n\n" });
        }
        table.push_str(&criteria_table(&without_row, newline));
        splices.push((text.len()..text.len(), table));
    }
    splices.sort_by_key(|(at, _)| (at.start, at.end));
    let mut out = String::with_capacity(text.len() + 200);
    let mut from = 0;
    for (at, value) in splices {
        out.push_str(text.get(from..at.start).unwrap_or_default());
        out.push_str(&value);
        from = at.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Where the missing lines go, and with which lines around them.
fn added(
    document: &Markdown<'_>,
    known: &[(Field, Key<'_>)],
    missing: &[String],
    newline: &str,
) -> (Range<usize>, String) {
    // Behind one without a value its list may follow.
    if let Some((_, last)) = known.iter().rev().find(|(_, key)| !key.value.is_empty()) {
        let lead = format!("{newline}{}", last.lead);
        return (last.end..last.end, missing.iter().flat_map(|line| [&*lead, line]).collect());
    }
    let lines: String = missing.iter().flat_map(|line| [line, newline]).collect();
    if let Some((_, first)) = known.first() {
        let start = document.text().get(..first.at.start).and_then(|t| t.rfind('\n')).map_or(0, |at| at + 1);
        return (start..start, lines);
    }
    let title = document.headings().iter().find(|h| h.level == 1);
    if let Some(title) = title {
        let end = title.at.end;
        let broken = document.slice(&title.at).ends_with('\n');
        let before = if broken { newline.to_owned() } else { newline.repeat(2) };
        return (end..end, format!("{before}{lines}"));
    }
    let body = document.body().start;
    let mark = if body == 0 && document.text().starts_with('\u{feff}') { 3 } else { 0 };
    // The line that closes front matter may be the file's last, without a break.
    let broken = document.text().get(..body).is_none_or(|before| before.is_empty() || before.ends_with('\n'));
    let before = if broken { "" } else { newline };
    (body + mark..body + mark, format!("{before}{lines}{newline}"))
}

/// Whole points without a decimal, as people write them.
fn in_cell(score: Score) -> String {
    if score.tenths().is_multiple_of(10) { (score.tenths() / 10).to_string() } else { score.to_string() }
}

fn criteria_table(criteria: &Criteria, newline: &str) -> String {
    let mut out = format!(
        "## Quality Breakdown{newline}{newline}| Criterion | Score | Notes |{newline}|---|---|---|{newline}"
    );
    for criterion in Criterion::ALL {
        if let Some(score) = criteria.get(criterion) {
            out.push_str(&format!("| {} | {}/10 | |{newline}", criterion.title(), in_cell(score)));
        }
    }
    out
}

/// A new file, read back as the same (proptest). Values are put into one line.
pub fn create(title: &str, meta: &Meta) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = format!("# Skill: {}\n\n", line(title));
    let mut push = |key: &str, value: String| {
        if !value.is_empty() {
            out.push_str(&format!("**{key}:** {value}\n"));
        }
    };
    push("Category", meta.category.as_deref().map(line).unwrap_or_default());
    push("Language", meta.language.as_deref().map(line).unwrap_or_default());
    push("Quality Score", meta.quality().map(|s| format!("{s}/10")).unwrap_or_default());
    push("Last Verified", meta.last_verified.map(|d| d.to_string()).unwrap_or_default());
    push("Reuse Count", meta.reuse_count.map(|n| n.to_string()).unwrap_or_default());
    push("Verified", meta.verified.map(|v| if v { "yes" } else { "no" }.to_owned()).unwrap_or_default());
    push("Dependencies", meta.dependencies.iter().map(|d| line(d)).collect::<Vec<_>>().join(", "));
    if !meta.criteria.is_empty() {
        out.push('\n');
        out.push_str(&criteria_table(&meta.criteria, "\n"));
    }
    out
}

#[cfg(test)]
mod tests;
