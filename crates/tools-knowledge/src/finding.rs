//! Finding patterns by what they are about: what both searches have in common.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use contract::text::counted;
use contract::{Code, Fault};
use kit::kinds::List;
use kit::markdown::{code, text};
use kit::{Answer, ReadDesk};
use library::quality::Score;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use search::{Filters, Hit, Mode, Order, Passages, Query};
use serde::{Serialize, Serializer};

use crate::libraries::{Looked, Opened, Using, service};
use crate::stock::{Again, Item, Unkept, document};

/// Hits that are looked at for a passage.
const MOST_PASSAGES: u64 = 50;

/// How something of a question was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct How(search::How);

impl Serialize for How {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.word())
    }
}

impl JsonSchema for How {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "How".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": search::How::ALL.map(search::How::word) })
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
            how: How(found.how),
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
    /// Whether a large library is being looked through: what has changed in it just now may not be found yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    checking: bool,
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

/// Times that it is looked again for what is changed while it is looked for.
const TRIES: usize = 4;

/// Looks, and looks again where a file of a hit has changed since it was looked through: nothing is found that is not there.
pub(crate) async fn find(desk: &ReadDesk, asked: Asked) -> Result<Found, Fault> {
    let (libraries, using) = (service(desk)?, Using::of(desk).await?);
    desk.blocking(move |desk| {
        let text = asked.text.as_deref().unwrap_or_default();
        let query = Query::parse(text, asked.mode, asked.filters.clone())
            .map_err(|e| Fault::invalid(format!("the question: {e}")))?;
        if asked.text.is_some() && query.is_empty() {
            return Err(Fault::new(Code::InvalidArgument, "nothing is asked for that could be found")
                .suggest("Give words, \"phrases in quotes\", or -words that must not be there."));
        }
        let (mut looked, used) = libraries.look_with(desk, using)?;
        for left in (0..TRIES).rev() {
            match hits(desk, &looked, &query, &asked) {
                Ok((found, changed)) if changed.is_empty() || left == 0 => return Ok(found),
                Ok((_, changed)) => {
                    changed.iter().try_for_each(|(opened, items)| opened.look_at(desk, &used, items))?;
                }
                Err(Unkept::Fault(fault)) => return Err(fault),
                Err(Unkept::Gone) => {}
            }
            looked = libraries.look(desk, &used, Again::Changed)?;
        }
        Err(Fault::new(Code::Conflict, "the libraries were indexed anew all the time").suggest("Ask again."))
    })
    .await
}

/// What has changed since it was read, by library.
type Stale<'l> = Vec<(&'l Opened, Vec<Arc<Item>>)>;

/// The page of hits, and those of them whose files are not as they were.
fn hits<'l>(
    desk: &ReadDesk,
    looked: &'l Looked,
    query: &Query,
    asked: &Asked,
) -> Result<(Found, Stale<'l>), Unkept> {
    let page = desk.page();
    let until = usize::try_from(page.offset.saturating_add(page.limit)).unwrap_or(usize::MAX);
    // Where libraries have the same ids, those behind are not counted: then all hits are looked at.
    let is_shadowing = looked.is_shadowing();
    let most = if is_shadowing { usize::MAX } else { until };
    let answer = looked.search(query, asked.order, most)?;
    let is_first = |hit: &Hit| !is_shadowing || looked.owners(&hit.id).first() == Some(&hit.library);
    let hits: Vec<Hit> = answer.hits.into_iter().filter(is_first).collect();
    let total = if is_shadowing { hits.len() } else { answer.total } as u64;
    let from = usize::try_from(page.offset).unwrap_or(usize::MAX).min(hits.len());
    let hits = hits.get(from..until.min(hits.len())).unwrap_or_default();
    let mut items: BTreeMap<(usize, String), Arc<Item>> = BTreeMap::new();
    for (at, Opened { stock, snapshot, .. }) in looked.libraries.iter().enumerate() {
        let ids = hits.iter().filter(|hit| hit.library == at).map(|hit| hit.id.clone());
        let found = stock.items(snapshot, &ids.collect::<Vec<_>>()).inspect_err(|_| stock.forget())?;
        items.extend(found.into_iter().map(|item| ((at, item.id.short().to_owned()), item)));
    }
    let mut passages = (asked.mode == Mode::Comprehensive).then(|| Passages::new(query));
    let (mut shown, mut stale) = (Vec::new(), BTreeMap::<usize, Vec<Arc<Item>>>::new());
    for (hit, at) in hits.iter().zip(page.offset..) {
        let Some(opened) = looked.libraries.get(hit.library) else { continue };
        let Some(item) = items.remove(&(hit.library, hit.id.clone())) else {
            // Another process has taken it away.
            opened.stock.forget();
            return Err(Unkept::Gone);
        };
        if !opened.is_fresh(&item) {
            stale.entry(hit.library).or_default().push(item);
            continue;
        }
        let passages = passages.as_mut().filter(|_| at < MOST_PASSAGES);
        shown.push(show(looked, (opened, &item), hit, asked.explains, passages));
    }
    let index = Index {
        patterns: looked.views().iter().map(|view| u64::from(view.documents())).sum(),
        problems: looked.libraries.iter().map(|opened| opened.snapshot.wrong()).sum(),
        checking: looked.libraries.iter().any(|opened| opened.stock.is_checking()),
    };
    let stale = stale.into_iter().filter_map(|(at, items)| Some((looked.libraries.get(at)?, items)));
    let found =
        Found { shown, total, offset: page.offset.min(total), index, ignored: query.ignored().to_vec() };
    Ok((found, stale.collect()))
}

fn show(
    looked: &Looked,
    (opened, item): (&Opened, &Item),
    hit: &Hit,
    explains: bool,
    passages: Option<&mut Passages<'_>>,
) -> Shown {
    let shadowed = looked.owners(&hit.id).into_iter().skip(1);
    let shadowed = shadowed.filter_map(|at| looked.libraries.get(at));
    let shadowed = shadowed.map(|behind| item.id.within(&behind.library.name).to_string());
    Shown {
        id: item.id.short().to_owned(),
        name: item.id.name().to_owned(),
        category: item.id.category().to_owned(),
        quality: item.quality.map(Score::points),
        has_executable: item.executable.is_some(),
        description: item.description.clone(),
        verified: item.verified,
        library: opened.library.name.to_string(),
        shadowed: shadowed.collect(),
        score: explains.then_some(hit.score),
        why: if explains { hit.why.found.iter().map(Reason::from).collect() } else { Vec::new() },
        passage: passages
            .and_then(|passages| passages.of(&document(&opened.library, &item.found, item.base.as_ref())?)),
    }
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
