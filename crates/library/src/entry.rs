//! A pattern as it is told: what its files say together.

use jiff::civil::Date;
use serde_json::{Map, Value};

use crate::category::Category;
use crate::folder::{self, Skill};
use crate::front;
use crate::grants::Asks;
use crate::id::{IdError, PatternId};
use crate::markdown::{MAX_DOCUMENT, Markdown};
use crate::meta::{self, Meta};
use crate::pattern::Found;
use crate::problem::{Code, Place, Problem, Problems};
use crate::quality::{Criteria, Score};
use crate::schema::{Declared, declared};
use crate::text::{description, plain, shown};

/// Most tags that are kept.
pub const MAX_TAGS: usize = 50;

/// What a pattern's files say.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// In its library.
    pub id: PatternId,
    /// The documentation's first heading, else the name.
    pub title: String,
    /// At most 200 characters, cut on a word; empty where there is no text at all.
    pub description: String,
    /// In lower case, each once.
    pub tags: Vec<String>,
    /// As stated.
    pub language: Option<String>,
    /// The stated score, else the mean of all five criteria.
    pub quality: Option<Score>,
    /// As far as they are stated.
    pub criteria: Criteria,
    /// As stated.
    pub last_verified: Option<Date>,
    /// As stated in the files; recorded uses are not among them.
    pub reuse_count: u64,
    /// As stated. What counts are the uses.
    pub stated_verified: Option<bool>,
    /// As stated.
    pub dependencies: Vec<String>,
    /// What its code asks for.
    pub asks: Asks,
    /// What it takes.
    pub schema: Option<Declared>,
    /// `SKILL.md`, of an Agent Skill.
    pub skill: Option<Skill>,
}

/// An entry, where there is one, and what is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// None where the files cannot be one; why is among the problems.
    pub entry: Option<Entry>,
    /// Of all its files.
    pub problems: Vec<Problem>,
}

/// A file's path and text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// As problems name it.
    pub file: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// Reads a pattern of three files: its document, and its `-SKILL.md` where there is one.
pub fn of_files(found: &Found, document: Text<'_>, metadata: Option<Text<'_>>) -> Read {
    let mut problems = Problems::of(document.file);
    let mut told = Vec::new();
    let id = match found.id(None) {
        Ok(id) => id,
        Err(error) => return refused(problems, &error),
    };
    if document.text.len() > MAX_DOCUMENT {
        problems.whole(Code::TooLarge, "a pattern's document has at most 1 MiB: split it");
        return Read { entry: None, problems: problems.into_found() };
    }
    let front = match front::read(document.text) {
        Ok(front) => front.unwrap_or_default(),
        Err(error) => {
            problems.at(error.place, Code::FrontMatterInvalid, error.to_string());
            return Read { entry: None, problems: problems.into_found() };
        }
    };
    let body = Markdown::of(document.text);
    let mut beside = Meta::default();
    let mut summary = None;
    if let Some(metadata) = metadata {
        let mut found = Problems::of(metadata.file);
        let read = Markdown::of(metadata.text);
        if read.is_cut() {
            found.whole(Code::TooLarge, "a metadata file has at most 1 MiB: what is behind is not read");
        }
        beside = meta::read_document(&read, &mut found);
        if let Some(stated) = &beside.category
            && !stated.eq_ignore_ascii_case(id.category())
        {
            let line = read.keys().find(|k| k.name.eq_ignore_ascii_case("category")).map_or(1, |k| k.line);
            let why = format!(
                "the category is the folder's, `{}`, and `{}` is stated",
                id.category(),
                shown(stated)
            );
            found.at(Place::line(line), Code::IdMismatch, why);
        }
        summary = overview(&read);
        told.extend(found.into_found());
    }
    let stated = Stated::of(&front, &id, document.text, &mut problems);
    let schema = declared(&body, &mut problems);
    let schema = schema.or_else(|| {
        let mut found = Problems::of(metadata?.file);
        let schema = declared(&Markdown::of(metadata?.text), &mut found);
        told.extend(found.into_found());
        schema
    });
    let text =
        stated.description.or(summary).or_else(|| overview(&body)).or_else(|| body.paragraph(&body.body()));
    let entry = Entry {
        title: stated.title.or_else(|| body.title()).unwrap_or_else(|| found.name.clone()),
        description: text.as_deref().map(description).unwrap_or_default(),
        tags: stated.tags,
        language: beside.language.clone().or(stated.language),
        quality: beside.quality().or(stated.quality),
        criteria: beside.criteria,
        last_verified: beside.last_verified,
        reuse_count: beside.reuse_count.or(stated.reuse_count).unwrap_or(0),
        stated_verified: beside.verified,
        dependencies: beside.dependencies,
        asks: beside.asks,
        schema,
        skill: None,
        id,
    };
    let mut all = problems.into_found();
    all.extend(told);
    Read { entry: Some(entry), problems: all }
}

/// Reads an Agent Skill by its `SKILL.md`.
pub fn of_folder(found: &Found, text: Text<'_>) -> Read {
    let mut problems = Problems::of(text.file);
    let Some(skill) = folder::read(text.text, &found.name, &mut problems) else {
        return Read { entry: None, problems: problems.into_found() };
    };
    let id = match found.id(skill.category.as_deref()) {
        Ok(id) => id,
        Err(error) => return refused(problems, &error),
    };
    let body = Markdown::of(text.text);
    let schema = declared(&body, &mut problems);
    let number =
        |key: &str| skill.metadata.get(key).or_else(|| skill.metadata.get(&format!("{}{key}", folder::OURS)));
    let entry = Entry {
        title: body.title().unwrap_or_else(|| found.name.clone()),
        description: description(&skill.description),
        tags: tags(
            skill.other.get("tags").or(skill.metadata.get("tags").map(|t| Value::from(t.as_str())).as_ref()),
        ),
        language: number("language").cloned(),
        quality: number("quality").and_then(|text| Score::parse(text).ok()),
        criteria: Criteria::default(),
        last_verified: None,
        reuse_count: 0,
        stated_verified: None,
        dependencies: Vec::new(),
        asks: skill.asks.clone(),
        schema,
        skill: Some(skill),
        id,
    };
    Read { entry: Some(entry), problems: problems.into_found() }
}

fn refused(mut problems: Problems, error: &IdError) -> Read {
    problems.whole(Code::NameInvalid, error.to_string());
    Read { entry: None, problems: problems.into_found() }
}

/// The first paragraph of a section that says what a pattern is for.
fn overview(document: &Markdown<'_>) -> Option<String> {
    let section = document.section(&["Overview", "Problem", "Description", "Summary"])?;
    document.paragraph(&section.body)
}

/// What front matter says of a pattern of three files.
#[derive(Default)]
struct Stated {
    title: Option<String>,
    description: Option<String>,
    tags: Vec<String>,
    language: Option<String>,
    quality: Option<Score>,
    reuse_count: Option<u64>,
}

impl Stated {
    fn of(front: &Map<String, Value>, id: &PatternId, source: &str, problems: &mut Problems) -> Self {
        let place = |key: &str| {
            let at = source.lines().position(|line| line.trim_start().starts_with(key)).unwrap_or(0);
            Place::line(u32::try_from(at + 1).unwrap_or(1))
        };
        let text = |keys: &[&str]| {
            let found = keys.iter().find_map(|key| front.get(*key)?.as_str()).map(str::trim);
            found.filter(|text| !text.is_empty()).map(plain)
        };
        if let Some(stated) = front.get("id") {
            let is_own = stated.as_str().is_some_and(|stated| stated == id.short() || stated == id.name());
            if !is_own {
                let why =
                    format!("the id is the file's own, `{}`: write that, or leave `id` out", id.short());
                problems.at(place("id"), Code::IdMismatch, why);
            }
        }
        if let Some(stated) = front.get("category")
            && stated.as_str() != Some(id.category())
        {
            let why = format!(
                "the category is the folder's, `{}`: write that, or leave `category` out",
                id.category()
            );
            problems.at(place("category"), Code::IdMismatch, why);
        }
        let mut quality = None;
        let key = ["quality_score", "quality"]
            .into_iter()
            .find(|key| front.get(*key).is_some_and(|v| !v.is_null()));
        if let Some((key, value)) = key.and_then(|key| Some((key, front.get(key)?))) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match Score::parse(&text) {
                Ok(score) => quality = Some(score),
                Err(error) => {
                    problems.at(place(key), Code::QualityInvalid, format!("`{}`: {error}", shown(&text)));
                }
            }
        }
        Self {
            title: text(&["title", "name"]),
            description: text(&["description", "summary"]),
            tags: tags(front.get("tags")),
            language: text(&["language"]),
            quality,
            reuse_count: front.get("reuse_count").and_then(Value::as_u64),
        }
    }
}

/// A list of texts, or a text with commas.
fn tags(value: Option<&Value>) -> Vec<String> {
    let mut found: Vec<String> = match value {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_lowercase).collect(),
        Some(Value::String(text)) => text.split(',').map(str::to_lowercase).collect(),
        _ => Vec::new(),
    };
    for tag in &mut found {
        *tag = tag.trim().to_owned();
    }
    found.retain(|tag| !tag.is_empty() && tag.chars().count() <= 60);
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|tag| seen.insert(tag.clone()));
    found.truncate(MAX_TAGS);
    found
}

/// Whether an id's category is one of the seven.
pub fn is_known(id: &PatternId) -> bool {
    id.category().parse::<Category>().is_ok()
}
