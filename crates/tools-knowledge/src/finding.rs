//! Finding patterns by what they are about: what both searches have in common.

use contract::text::counted;
use contract::{Code, Fault};
use kit::kinds::List;
use kit::markdown::{code, text};
use kit::{Answer, ReadDesk};
use library::Category;
use schemars::JsonSchema;
use search::{Filters, Memory, Mode, Order, Query};
use serde::{Deserialize, Serialize};

use crate::libraries::{Held, Library, service, used};
use crate::stock::{Again, Item, Stock, read};

/// Hits that are looked at for a passage.
const MOST_PASSAGES: u64 = 50;

/// What a pattern is filed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Filed {
    /// Databases.
    Database,
    /// Security.
    Security,
    /// User interfaces.
    Ui,
    /// Servers.
    Backend,
    /// Tests.
    Testing,
    /// Architecture.
    Architecture,
    /// The Model Context Protocol.
    McpIntegration,
}

impl From<Filed> for Category {
    fn from(filed: Filed) -> Self {
        match filed {
            Filed::Database => Self::Database,
            Filed::Security => Self::Security,
            Filed::Ui => Self::Ui,
            Filed::Backend => Self::Backend,
            Filed::Testing => Self::Testing,
            Filed::Architecture => Self::Architecture,
            Filed::McpIntegration => Self::McpIntegration,
        }
    }
}

/// How something of a question was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The word itself.
    Exact,
    /// Another form of the word.
    Stem,
    /// A part of an identifier.
    Part,
    /// An identifier as one word.
    Whole,
    /// A longer word that begins so.
    Prefix,
    /// A word that it may be a misspelling of.
    Typo,
    /// Words beside each other.
    Phrase,
}

impl From<search::How> for How {
    fn from(how: search::How) -> Self {
        match how {
            search::How::Exact => Self::Exact,
            search::How::Stem => Self::Stem,
            search::How::Part => Self::Part,
            search::How::Whole => Self::Whole,
            search::How::Prefix => Self::Prefix,
            search::How::Typo => Self::Typo,
            search::How::Phrase => Self::Phrase,
        }
    }
}

/// Why a pattern or session was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reason {
    /// What was asked for.
    word: String,
    /// What is there.
    found: String,
    /// How they belong together.
    how: How,
    /// Where.
    fields: Vec<String>,
    /// Its part of the score, in percent.
    share: i32,
}

impl From<&search::Found> for Reason {
    fn from(found: &search::Found) -> Self {
        Self {
            word: found.word.clone(),
            found: found.found.clone(),
            how: found.how.into(),
            fields: found.fields.iter().map(|field| field.word().to_owned()).collect(),
            share: found.share,
        }
    }
}

/// A pattern that was found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// What `load_skill` and `execute_skill` take.
    id: String,
    /// Its name.
    name: String,
    /// What it is filed under.
    category: String,
    /// 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<f64>,
    /// Whether it has code that can be run.
    has_executable: bool,
    /// What it is.
    description: String,
    /// Whether it was used three times or more.
    verified: bool,
    /// The library that has it.
    library: String,
    /// Patterns of the same id in libraries behind that one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shadowed: Vec<String>,
    /// Higher is better, within one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<u32>,
    /// Why it was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<Reason>,
    /// Where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    passage: Option<String>,
}

/// What was looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Index {
    /// Patterns in all libraries.
    patterns: u64,
    /// Files with something wrong: `index_pattern_library` says what.
    problems: u64,
}

/// A question.
pub(crate) struct Asked {
    /// Nothing, where every pattern is as good.
    pub(crate) text: Option<String>,
    pub(crate) mode: Mode,
    pub(crate) filters: Filters,
    pub(crate) order: Order,
    /// Whether each hit says why it was found.
    pub(crate) explains: bool,
}

/// What was found.
pub(crate) struct Found {
    pub(crate) shown: Vec<Shown>,
    pub(crate) total: u64,
    pub(crate) offset: u64,
    pub(crate) index: Index,
    ignored: Vec<String>,
}

/// Looks, and looks again where a file of a hit has changed since it was looked through: nothing is found that is not there.
pub(crate) async fn find(desk: &ReadDesk, asked: Asked) -> Result<Found, Fault> {
    let (libraries, used) = (service(desk)?, used(desk).await?);
    desk.blocking(move |desk| {
        let text = asked.text.as_deref().unwrap_or_default();
        let query = Query::parse(text, asked.mode, asked.filters.clone())
            .map_err(|e| Fault::invalid(format!("the question: {e}")))?;
        if asked.text.is_some() && query.is_empty() {
            return Err(Fault::new(Code::InvalidArgument, "nothing is asked for that could be found")
                .suggest("Give words, \"phrases in quotes\", or -words that must not be there."));
        }
        let mut again = Again::Changed;
        loop {
            let looked = libraries.look(desk, &used, again)?;
            let held = looked.hold();
            let (found, is_fresh) = hits(desk, &held, &query, &asked)?;
            if is_fresh || again == Again::Looked {
                return Ok(found);
            }
            again = Again::Looked;
        }
    })
    .await
}

/// The page of hits, and whether their files are as they were.
fn hits(desk: &ReadDesk, held: &Held<'_>, query: &Query, asked: &Asked) -> Result<(Found, bool), Fault> {
    let indexes: Vec<&Memory> = held.stocks.iter().map(|stock| &stock.index).collect();
    let page = desk.page();
    let until = usize::try_from(page.offset.saturating_add(page.limit)).unwrap_or(usize::MAX);
    // Where libraries have the same ids, those behind are not counted: then all hits are looked at.
    let is_shadowing = is_shadowing(held);
    let most = if is_shadowing { usize::MAX } else { until };
    let answer =
        Memory::search_all(&indexes, query, asked.order, most).map_err(|e| Fault::internal(e.to_string()))?;
    let is_first = |hit: &search::Hit| !is_shadowing || held.owners(&hit.id).first() == Some(&hit.library);
    let hits: Vec<search::Hit> = answer.hits.into_iter().filter(is_first).collect();
    let total = if is_shadowing { hits.len() } else { answer.total } as u64;
    let mut is_fresh = true;
    let mut shown = Vec::new();
    for (hit, at) in hits.into_iter().zip(0_u64..) {
        if at < page.offset || shown.len() as u64 >= page.limit {
            continue;
        }
        let Some((library, stock)) = held.iter().nth(hit.library) else { continue };
        is_fresh &= stock.is_fresh(library, &hit.id);
        let with_passage = asked.mode == Mode::Comprehensive && at < MOST_PASSAGES;
        shown.extend(show(held, (library, stock), &hit, (asked.explains, with_passage), query));
    }
    let index = Index {
        patterns: held.stocks.iter().map(|stock| stock.items.len() as u64).sum(),
        problems: held.problems().len() as u64,
    };
    let found =
        Found { shown, total, offset: page.offset.min(total), index, ignored: query.ignored().to_vec() };
    Ok((found, is_fresh))
}

fn is_shadowing(held: &Held<'_>) -> bool {
    held.stocks.iter().enumerate().any(|(at, stock)| {
        let behind = held.stocks.get(at + 1..).unwrap_or_default();
        behind.iter().any(|other| {
            let (few, many) =
                if stock.items.len() < other.items.len() { (stock, other) } else { (other, stock) };
            few.items.keys().any(|id| many.items.contains_key(id))
        })
    })
}

fn show(
    held: &Held<'_>,
    (library, stock): (&Library, &Stock),
    hit: &search::Hit,
    (explains, with_passage): (bool, bool),
    query: &Query,
) -> Option<Shown> {
    let item = stock.items.get(&hit.id)?;
    let shadowed = held.owners(&hit.id).into_iter().skip(1);
    let shadowed = shadowed.filter_map(|at| Some(item.id.within(&held.libraries.get(at)?.name).to_string()));
    Some(Shown {
        id: item.id.short().to_owned(),
        name: item.id.name().to_owned(),
        category: item.id.category().to_owned(),
        quality: item.quality.map(|score| f64::from(score.tenths()) / 10.0),
        has_executable: item.executable.is_some(),
        description: item.description.clone(),
        verified: item.verified,
        library: library.name.to_string(),
        shadowed: shadowed.collect(),
        score: explains.then_some(hit.score),
        why: if explains { hit.why.found.iter().map(Reason::from).collect() } else { Vec::new() },
        passage: if with_passage { passage(library, item, query) } else { None },
    })
}

/// Where a pattern says so.
fn passage(library: &Library, item: &Item, query: &Query) -> Option<String> {
    let (_, texts) = read(library, &item.found, item.base.as_ref()).ok()?;
    search::passage(&texts.document, query)
}

/// The answer of a list of patterns.
pub(crate) fn answered<T>(
    found: Found,
    asked: Option<&str>,
    output: impl FnOnce(Vec<Shown>, Index) -> T,
) -> Answer<T> {
    let message = said(&found, asked);
    let (total, offset) = (found.total, found.offset);
    let mut answer = Answer::new(message, output(found.shown, found.index));
    answer.results = Some(total);
    answer.list = Some(List { field: "data".to_owned(), total, offset });
    answer
}

fn said(found: &Found, asked: Option<&str>) -> String {
    let many = counted(found.total, "pattern");
    let mut message = match asked {
        Some(asked) => format!("{many} for {}.", code(asked)),
        None => format!("{many}."),
    };
    if found.index.patterns == 0 {
        message
            .push_str(" No library here has any: `gatewright library list` says where they are looked for.");
    }
    if !found.ignored.is_empty() {
        let words: Vec<String> = found.ignored.iter().map(|word| code(word)).collect();
        message.push_str(&format!(" Passed over: {}.", words.join(", ")));
    }
    message.push('\n');
    for shown in &found.shown {
        let quality = shown.quality.map(|quality| format!(" {quality:.1}")).unwrap_or_default();
        let runs = if shown.has_executable { ", runs" } else { "" };
        let verified = if shown.verified { ", verified" } else { "" };
        message.push_str(&format!(
            "- **{}**{quality}{runs}{verified}: {}\n",
            text(&shown.id),
            text(&shown.description)
        ));
        if let Some(passage) = &shown.passage {
            message.push_str(&format!("  “{}”\n", text(passage)));
        }
        if !shown.shadowed.is_empty() {
            message.push_str(&format!(
                "  from {}; it is also {}\n",
                text(&shown.library),
                shown.shadowed.join(", ")
            ));
        }
    }
    message
}
