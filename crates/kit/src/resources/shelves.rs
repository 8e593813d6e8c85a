//! What families keep, read by URI: documents of a team, its sessions.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use contract::{Code, Fault, Kind, Principal};
use policy::{Decision, Facts};
use serde_json::json;

use super::{Body, Content, Listed, MAX_LISTED, Template, unknown};
use crate::authorise::authorise;
use crate::call::Call;
use crate::course::Course;
use crate::desk::ReadDesk;
use crate::engine::Engine;

/// What a shelf gives, later.
pub type Reading<T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>;

/// Things of one kind that a family keeps.
pub trait Shelf: std::fmt::Debug + Send + Sync {
    /// What they have in common. A scheme may be one that there is already: then its things are found there too.
    fn template(&self) -> Template;

    /// The tool that reads the same: who may not call it reads nothing here.
    fn tool(&self) -> &'static str;

    /// What there is: names, titles and dates (RFC 3339), the newest first.
    fn list(&self, desk: ReadDesk) -> Reading<Vec<(String, String, String)>>;

    /// The text of one; `not_found` where there is none of that name.
    fn read(&self, desk: ReadDesk, id: String) -> Reading<String>;
}

/// The desk at which things of a scheme are read that the tool `name` reads, too: none where the caller may not call it.
pub(crate) fn desk(
    engine: &Arc<Engine>,
    name: &'static str,
    scheme: &str,
    call: &Call,
) -> Result<ReadDesk, Fault> {
    let registry = engine.registry();
    let tool = registry.resolve(name).ok_or_else(|| unknown(scheme))?;
    authorise(tool, &Call { tool: name.to_owned(), arguments: json!({}), ..call.clone() }, &registry)?;
    let facts = Facts {
        tool: name,
        toolset: &tool.head().toolset,
        kind: Kind::Read,
        apply: false,
        foreign_code: false,
        consent: None,
    };
    let decided = engine.parts.policy.decide(&facts);
    if decided.decision != Decision::Allow {
        return Err(Fault::new(Code::Forbidden, format!("{name}: policy forbids it ({})", decided.because))
            .suggest("A person can change the policy in the configuration."));
    }
    ReadDesk::of(engine.setting(tool, call, call.cancel.child_token(), &Course::default()), false)
}

/// Within the time that the tool `name` has.
pub(crate) async fn bounded<T>(engine: &Engine, name: &str, reading: Reading<T>) -> Result<T, Fault> {
    let registry = engine.registry();
    let longest = registry.resolve(name).map(|tool| tool.tool.limits().timeout).unwrap_or_default();
    tokio::time::timeout(longest, reading)
        .await
        .unwrap_or_else(|_| Err(Fault::new(Code::Timeout, "it took too long to read")))
}

/// What is on the shelves, as far as this caller may know. A shelf that cannot be read is left out.
pub(super) async fn listed(
    engine: &Arc<Engine>,
    owner: &Principal,
    of: &impl Fn(&Template) -> bool,
) -> Result<Vec<Listed>, Fault> {
    let (registry, call) = (engine.registry(), Call::of_nothing(owner.clone()));
    let mut all = Vec::new();
    for shelf in registry.shelves().iter().filter(|shelf| of(&shelf.template())) {
        let scheme = shelf.template().scheme;
        let Ok(desk) = desk(engine, shelf.tool(), scheme, &call) else { continue };
        let found = match bounded(engine, shelf.tool(), shelf.list(desk)).await {
            Ok(found) => found,
            Err(fault) => {
                tracing::warn!("{}:// was not listed: {}", shelf.template().scheme, fault.message);
                continue;
            }
        };
        let template = shelf.template();
        let cleaner = engine.cleaner();
        all.extend(found.into_iter().take(MAX_LISTED).map(|(id, title, since)| Listed {
            uri: format!("{}://{id}", template.scheme),
            template,
            title: cleaner.text(&title),
            since,
            named: None,
        }));
    }
    Ok(all)
}

/// What a shelf has of that name.
pub(super) async fn read(engine: &Arc<Engine>, uri: &str, call: &Call) -> Result<Content, Fault> {
    let (scheme, id) = uri.split_once("://").unwrap_or((uri, ""));
    let registry = engine.registry();
    for shelf in registry.shelves().iter().filter(|shelf| shelf.template().scheme == scheme) {
        let desk = desk(engine, shelf.tool(), scheme, call)?;
        match bounded(engine, shelf.tool(), shelf.read(desk, id.to_owned())).await {
            Err(fault) if fault.code == Code::NotFound => {}
            Err(fault) => return Err(fault),
            Ok(text) => {
                let (mime, body) = (shelf.template().mime.to_owned(), engine.cleaner().text(&text));
                return Ok(Content { mime, body: Body::Text(body) });
            }
        }
    }
    Err(unknown(uri))
}
