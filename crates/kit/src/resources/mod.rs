//! What is read by URI: things that belong to a caller and have a name of their own, as `plan://…`.
//!
//! A URI stands for one thing in whichever root has it. For anyone but its owner it does not exist.

mod kits;
pub mod outside;
mod plans;
mod reports;
mod runs;
mod shelves;
mod transcripts;

use std::sync::Arc;

use contract::reply::Envelope;
use contract::{Code, Fault, Principal, Reply, Status, TranscriptId};
use serde_json::{Map, Value, json};

use crate::authorise::authorise_reading;
use crate::call::Call;
use crate::course::Course;
use crate::engine::Engine;
use crate::house::House;
use crate::limits::Limits;
use crate::shape;
use crate::skills;
pub use shelves::{Reading, Shelf};
pub(crate) use shelves::{bounded, desk};

/// What a read is called in the record.
pub const READ: &str = "resources/read";

/// How lists and completions are counted.
const LIST: &str = "resources/list";

/// Most entries on a page of a list.
pub const PAGE: usize = 50;

/// Most entries that a list has in all, of one kind in one root; the newest are kept.
pub(crate) const MAX_LISTED: usize = 500;

/// A read costs little: four times a tool's rate.
const LIMITS: Limits = Limits { per_minute: 240, ..Limits::DEFAULT };

/// What things of one kind have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// The URI's scheme; what follows `://` names the thing.
    pub scheme: &'static str,
    /// What people call them.
    pub title: &'static str,
    /// One sentence for models: what one holds, and when to read it.
    pub description: &'static str,
    /// The media type of their text.
    pub mime: &'static str,
    /// Whether its parts are read by their paths below it: then slashes belong to what is put into the template.
    pub has_parts: bool,
}

impl Template {
    /// As RFC 6570 writes it.
    #[must_use]
    pub fn uri(&self) -> String {
        let expression = if self.has_parts { "{+id}" } else { "{id}" };
        format!("{}://{expression}", self.scheme)
    }
}

/// What a URI stands for, as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Its media type.
    pub mime: String,
    /// What is in it.
    pub body: Body,
}

/// Text, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// For reading.
    Text(String),
    /// For programs.
    Bytes(Vec<u8>),
}

/// One thing on a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its URI.
    pub uri: String,
    /// Its kind.
    pub template: Template,
    /// What it is, in a few words.
    pub title: String,
    /// When it came to be: RFC 3339.
    pub since: String,
    /// What it calls itself and says of itself, where it does.
    pub named: Option<(String, String)>,
}

/// Things of one kind.
trait Resource: Send + Sync {
    fn template(&self) -> Template;

    /// The caller's own, with a title and a date each, the newest first. Blocking.
    fn list(&self, engine: &Engine, owner: &Principal) -> Result<Vec<(String, String, String)>, Fault>;

    /// The text of one, without secrets; `not_found` where this root has none of that name. Blocking.
    fn read(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<String, Fault>;

    /// What `id` names, where that may be more than the text of one. Blocking.
    fn content(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<Content, Fault> {
        let text = self.read(engine, owner, id)?;
        Ok(Content { mime: self.template().mime.to_owned(), body: Body::Text(text) })
    }
}

/// One line per kind.
static ALL: [&dyn Resource; 5] =
    [&kits::Kits, &plans::Plans, &reports::Reports, &runs::Runs, &transcripts::Transcripts];

/// A fence that `text` does not close.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn unknown(uri: &str) -> Fault {
    Fault::new(Code::NotFound, format!("there is no {uri}: it expired, or never was"))
        .suggest("List the resources to see those that there are.")
}

impl House {
    /// The kinds of things that can be read, by their schemes.
    #[must_use]
    pub fn templates(&self) -> Vec<Template> {
        let mut all: Vec<Template> = ALL.iter().map(|kind| kind.template()).collect();
        for shelf in self.registry().shelves() {
            let template = shelf.template();
            if all.iter().all(|known| known.scheme != template.scheme) {
                all.push(template);
            }
        }
        if self.serves_skills() {
            all.push(skills::TEMPLATE);
        }
        all.sort_by_key(|template| template.scheme);
        all
    }

    /// A page of what `owner` can read here, the newest first, from the `offset`th on; where the next page begins; and how many
    /// there are in all.
    pub async fn resources(
        &self,
        owner: &Principal,
        offset: usize,
    ) -> Result<(Vec<Listed>, Option<usize>, usize), Fault> {
        self.may_list(owner)?;
        let mut all = self.listed(owner, |_| true).await?;
        all.sort_by(|a, b| b.since.cmp(&a.since).then_with(|| a.uri.cmp(&b.uri)));
        // What is not of a root is on the list of each.
        all.dedup_by(|a, b| a.uri == b.uri);
        let total = all.len();
        let page: Vec<Listed> = all.into_iter().skip(offset).take(PAGE).collect();
        let next = offset + page.len();
        Ok((page, (next < total).then_some(next), total))
    }

    /// The names of `owner`'s things of the kind `scheme` that begin with `start`, the newest first.
    pub async fn names(&self, owner: &Principal, scheme: &str, start: &str) -> Result<Vec<String>, Fault> {
        self.may_list(owner)?;
        let mut all = self.listed(owner, |template| template.scheme == scheme).await?;
        all.sort_by(|a, b| b.since.cmp(&a.since).then_with(|| a.uri.cmp(&b.uri)));
        all.dedup_by(|a, b| a.uri == b.uri);
        let names = all.into_iter().filter_map(|l| l.uri.split_once("://").map(|(_, id)| id.to_owned()));
        Ok(names.filter(|id| id.starts_with(start)).collect())
    }

    /// Lists are counted, though they leave no record: they show nothing that a read would not.
    pub(crate) fn may_list(&self, owner: &Principal) -> Result<(), Fault> {
        authorise_reading(owner, &self.registry())?;
        let limiter = &self.first().parts.limiter;
        limiter.count(|| owner.key(), LIST, LIMITS).map_err(|refused| refused.fault)
    }

    async fn listed(&self, owner: &Principal, of: impl Fn(&Template) -> bool) -> Result<Vec<Listed>, Fault> {
        let mut all = Vec::new();
        let libraries: Vec<Arc<Engine>> = self.annexed(owner).collect();
        for engine in self.open_to(owner).chain(&libraries) {
            for kind in ALL.iter().filter(|kind| of(&kind.template())) {
                let (engine, owner) = (Arc::clone(engine), owner.clone());
                let found = crate::running::blocking(move || kind.list(&engine, &owner)).await?;
                let template = kind.template();
                all.extend(found.into_iter().map(|(id, title, since)| Listed {
                    uri: format!("{}://{id}", template.scheme),
                    template,
                    title,
                    since,
                    named: None,
                }));
            }
        }
        // What families keep is of the roots that calls are made in.
        for engine in self.open_to(owner) {
            all.extend(shelves::listed(engine, owner, &of).await?);
        }
        if of(&skills::TEMPLATE) {
            all.extend(self.skills_listed(owner).await);
        }
        Ok(all)
    }

    /// Reads what `uri` names. `call` says who asks; the read is on record as a call of [`READ`].
    pub async fn read(&self, uri: &str, call: Call) -> Result<Content, Fault> {
        let call = Call { tool: READ.to_owned(), arguments: json!({ "uri": uri }), ..call };
        let asked = self.usual(&call.principal);
        let id = TranscriptId::random().map_err(|e| Fault::internal(e.to_string()))?;
        let mut notes = asked.notes(&call, id, Course::default());
        // Before anything is looked for: looking costs more than saying no.
        let admitted = asked
            .admit(&call, READ, LIMITS, &mut notes)
            .and_then(|()| authorise_reading(&call.principal, &self.registry()));
        let outcome = match admitted {
            Ok(()) => {
                notes.decision = "allow (their own)".into();
                let _place = asked.parts.limiter.enter(READ, LIMITS).await;
                self.found(uri, &call).await
            }
            Err(fault) => Err(fault),
        };
        let outcome = outcome.map_err(|fault| asked.cleaner().fault(fault));
        if let Ok(Content { body: Body::Text(text), .. }) = &outcome {
            // What is no text is not measured: nobody knows what a client makes of it.
            notes.measured.shown = Some(text.chars().count() as u64);
        }
        let reply = outcome.as_ref().map(|_| empty()).map_err(Clone::clone);
        let done = asked.close(&call, notes, reply).await;
        done.result.and(outcome)
    }

    /// What `uri` names, in whichever of the owner's roots has it.
    async fn found(&self, uri: &str, call: &Call) -> Result<Content, Fault> {
        if uri.starts_with("skill://") && self.serves_skills() {
            return self.skill_file(uri, call).await;
        }
        for engine in self.open_to(&call.principal) {
            match look(engine, uri, &call.principal).await {
                Err(fault) if fault.code == Code::NotFound => {}
                there => return there,
            }
            match shelves::read(engine, uri, call).await {
                Err(fault) if fault.code == Code::NotFound => {}
                there => return there,
            }
        }
        let libraries: Vec<Arc<Engine>> = self.annexed(&call.principal).collect();
        for engine in &libraries {
            match look(engine, uri, &call.principal).await {
                Err(fault) if fault.code == Code::NotFound => {}
                there => return there,
            }
        }
        Err(unknown(&shape::bounded(uri, 256)))
    }
}

async fn look(engine: &Arc<Engine>, uri: &str, owner: &Principal) -> Result<Content, Fault> {
    let (scheme, id) = uri.split_once("://").unwrap_or((uri, ""));
    let Some(kind) = ALL.iter().find(|kind| kind.template().scheme == scheme) else {
        return Err(unknown(&shape::bounded(uri, 256)));
    };
    let (engine, owner, id, uri) = (Arc::clone(engine), owner.clone(), id.to_owned(), uri.to_owned());
    crate::running::blocking(move || {
        kind.content(&engine, &owner, &id).map_err(|fault| match fault.code {
            Code::NotFound => unknown(&shape::bounded(&uri, 256)),
            _ => fault,
        })
    })
    .await
}

/// What the record shows of a read: that it was.
fn empty() -> Reply {
    let envelope = Envelope::new(true, Status::Completed, String::new(), shape::metadata());
    Reply { envelope, output: Map::<String, Value>::new(), media: Vec::new() }
}
