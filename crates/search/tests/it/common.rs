//! Documents and questions for tests.
#![allow(clippy::unwrap_used, reason = "tests")]

use gatewright_search::{
    Analysed, Answer, Document, Filters, Hit, Memory, Mode, Order, Query, SearchError, Tuning, analyse,
};

#[derive(Debug, Clone, Default)]
pub(crate) struct Doc {
    pub(crate) id: String,
    pub(crate) quality: Option<u8>,
    pub(crate) executable: bool,
    pub(crate) verified: bool,
    pub(crate) title: String,
    pub(crate) tags: Vec<String>,
    pub(crate) description: String,
    pub(crate) headings: Vec<String>,
    pub(crate) code: String,
    pub(crate) body: String,
}

impl Doc {
    pub(crate) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    pub(crate) fn body(id: &str, body: &str) -> Self {
        Self { body: body.to_owned(), ..Self::new(id) }
    }

    pub(crate) fn title(id: &str, title: &str) -> Self {
        Self { title: title.to_owned(), ..Self::new(id) }
    }

    pub(crate) fn analysed(&self) -> Analysed {
        let (category, name) = self.id.split_once('/').unwrap_or(("", &self.id));
        let tags: Vec<&str> = self.tags.iter().map(String::as_str).collect();
        let headings: Vec<&str> = self.headings.iter().map(String::as_str).collect();
        analyse(&Document {
            id: &self.id,
            category,
            quality: self.quality,
            executable: self.executable,
            verified: self.verified,
            name,
            title: &self.title,
            tags: &tags,
            description: &self.description,
            headings: &headings,
            code: &self.code,
            body: &self.body,
        })
    }
}

pub(crate) fn memory(docs: &[Doc]) -> Memory {
    Memory::build(docs.iter().map(Doc::analysed)).unwrap()
}

pub(crate) fn query(text: &str, mode: Mode) -> Query {
    Query::parse(text, mode, Filters::default()).unwrap()
}

/// Ids in order; every score is computed again from its reasons.
pub(crate) fn ids(memory: &Memory, text: &str, mode: Mode) -> Vec<String> {
    let answer = memory.search(&query(text, mode), Order::Score, 50).unwrap();
    answer.hits.iter().for_each(holds);
    answer.hits.into_iter().map(|hit| hit.id).collect()
}

pub(crate) fn fast(memory: &Memory, text: &str) -> Vec<String> {
    ids(memory, text, Mode::Fast)
}

pub(crate) fn first(memory: &Memory, text: &str) -> Hit {
    memory.search(&query(text, Mode::Fast), Order::Score, 1).unwrap().hits.into_iter().next().unwrap()
}

/// That a hit's reasons make its score, and its shares a hundred.
pub(crate) fn holds(hit: &Hit) {
    assert_eq!(hit.why.score(&Tuning::DEFAULT), hit.score, "{hit:#?}");
    if hit.score > 0 {
        let shares: i32 = hit.why.found.iter().map(|found| found.share).sum();
        assert_eq!(shares + hit.why.quality_share, 100, "{hit:#?}");
    }
}

/// What of an answer must not depend on how it was come by.
pub(crate) fn told(answer: &Result<Answer, SearchError>) -> (usize, Vec<(String, u32, String)>) {
    let answer = answer.as_ref().unwrap();
    let hits = answer.hits.iter().map(|hit| (hit.id.clone(), hit.score, hit.why.sentence()));
    (answer.total, hits.collect())
}
