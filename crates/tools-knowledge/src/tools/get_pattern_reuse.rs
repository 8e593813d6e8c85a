//! How often patterns were used.
//!
//! By the uses that were recorded and by what their files say: which ones carry, and which ones nobody needs.

use contract::text::counted;
use contract::{Fault, Toolset};
use kit::kinds::List;
use kit::markdown::text;
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::PatternId;
use library::quality::{Score, is_verified};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store_api::Timestamp;
use store_api::uses::Used;

use crate::libraries::{Libraries, Looked, Opened, service, used};
use crate::stock::{Again, used_of};

/// What comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SortBy {
    /// What was used most.
    #[default]
    ReuseCount,
    /// What was used last.
    Recent,
    /// By category and name.
    Category,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// One pattern.
    #[serde(default)]
    pattern_id: Option<PatternId>,
    /// Those that were used as often, or more.
    #[serde(default = "one")]
    min_reuse_count: u64,
    /// What comes first.
    #[serde(default)]
    sort_by: SortBy,
}

const fn one() -> u64 {
    1
}

/// A pattern and its uses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reused {
    /// Its id.
    pattern_id: String,
    /// The library that has it.
    library: String,
    /// What it is filed under.
    category: String,
    /// How often it was used.
    reuse_count: u64,
    /// How often of that was recorded here.
    recorded: u64,
    /// Where, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    projects: Vec<String>,
    /// When the first use was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_used: Option<Timestamp>,
    /// When the last use was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used: Option<Timestamp>,
    /// 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<f64>,
    /// Whether it was used three times or more.
    verified: bool,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The patterns.
    data: Vec<Reused>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GetPatternReuse;

impl Define for GetPatternReuse {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_pattern_reuse";
    const TOOLSET: Toolset = crate::METRICS;
    const DOC: kit::Doc = doc!("get_pattern_reuse.rs");
    const ALIASES: &'static [&'static str] = &["getPatternReuse"];
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("data");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "minReuseCount": 3, "sortBy": "recent" })]
    }
}

impl Read for GetPatternReuse {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let (libraries, used) = (service(&desk)?, used(&desk).await?);
        desk.blocking(move |desk| {
            let rows = uses(desk, &libraries, &used, &input)?;
            let (total, page) = (rows.all.len() as u64, desk.page());
            let offset = page.offset.min(total);
            let shown = rows.all.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX));
            let shown = shown.take(usize::try_from(page.limit).unwrap_or(usize::MAX));
            let data = shown.map(|row| rows.shown(row)).collect::<Result<Vec<_>, _>>()?;
            let mut message = format!("{}.\n", counted(total, "pattern"));
            for one in data.iter().take(20) {
                let verified = if one.verified { ", verified" } else { "" };
                message.push_str(&format!(
                    "- **{}**: used {} times{verified}\n",
                    text(&one.pattern_id),
                    one.reuse_count
                ));
            }
            let mut answer = Answer::new(message, Output { data });
            answer.results = Some(total);
            answer.list = Some(List { field: "data".to_owned(), total, offset });
            Ok(answer)
        })
        .await
    }
}

/// A pattern with as many uses as were asked for.
struct Row {
    /// Which library.
    library: usize,
    id: String,
    count: u64,
    last: Option<Timestamp>,
}

/// What is asked for, in its order.
struct Rows<'u> {
    looked: Looked,
    used: &'u [Used],
    all: Vec<Row>,
}

fn uses<'u>(
    desk: &ReadDesk,
    libraries: &Libraries,
    used: &'u [Used],
    input: &Input,
) -> Result<Rows<'u>, Fault> {
    let looked = libraries.look(desk, used, Again::Changed)?;
    let mut rows = Vec::new();
    if let Some(id) = &input.pattern_id {
        let (opened, item) = looked.resolve(id)?;
        let library = looked.libraries.iter().position(|one| one.library.name == opened.library.name);
        // Of a pattern that is asked for by its id, also that it was never used.
        rows.push(row(opened, library.unwrap_or_default(), item.id.short(), item.stated, used));
    } else {
        for (at, opened) in looked.libraries.iter().enumerate() {
            let each = opened.stock.each(&opened.snapshot, |known| {
                let row = row(opened, at, &known.id, known.stated, used);
                if row.count >= input.min_reuse_count {
                    rows.push(row);
                }
            });
            opened.told(each)?;
        }
    }
    rows.sort_by(|a, b| {
        let first = match input.sort_by {
            SortBy::ReuseCount => b.count.cmp(&a.count),
            SortBy::Recent => b.last.cmp(&a.last),
            SortBy::Category => std::cmp::Ordering::Equal,
        };
        let name = |row: &Row| looked.libraries.get(row.library).map(|opened| opened.library.name.clone());
        first.then_with(|| a.id.cmp(&b.id)).then_with(|| name(a).cmp(&name(b)))
    });
    Ok(Rows { looked, used, all: rows })
}

fn row(opened: &Opened, library: usize, id: &str, stated: u64, used: &[Used]) -> Row {
    let recorded = used_of(used, opened.library.name.as_str(), id);
    let count = recorded.map_or(stated, |used| used.count(stated));
    Row { library, id: id.to_owned(), count, last: recorded.map(|used| used.last) }
}

impl Rows<'_> {
    fn shown(&self, row: &Row) -> Result<Reused, Fault> {
        let opened = self.looked.libraries.get(row.library);
        let opened = opened.ok_or_else(|| Fault::internal("a pattern of no library"))?;
        let name = opened.library.name.as_str();
        let item = opened.items(std::slice::from_ref(&row.id))?.pop();
        let recorded = used_of(self.used, name, &row.id);
        Ok(Reused {
            pattern_id: row.id.clone(),
            library: name.to_owned(),
            category: row.id.split_once('/').map_or_else(String::new, |(category, _)| category.to_owned()),
            reuse_count: row.count,
            recorded: recorded.map_or(0, |used| used.recorded),
            projects: recorded.map(|used| used.projects.clone()).unwrap_or_default(),
            first_used: recorded.map(|used| used.first),
            last_used: recorded.map(|used| used.last),
            quality: item.and_then(|item| item.quality).map(Score::points),
            verified: is_verified(row.count),
        })
    }
}
