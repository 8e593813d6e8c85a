//! What is listed now, and telling clients when that changes: in the older era by a notification to each session, in the
//! newer one to whoever listens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use kit::menu::{self, Choose};
use kit::{House, Registered, Registry};
use rmcp::RoleServer;
use rmcp::model::{
    JsonObject, MetaObject, PromptListChangedNotification, ResourceListChangedNotification,
    ServerNotification, SubscriptionFilter, Tool, ToolAnnotations, ToolListChangedNotification,
};
use rmcp::service::{Peer, SubscriptionContext};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How often it is looked whether a session that hears of changes has ended.
const LOOK: Duration = Duration::from_mins(1);

/// Tools as they go over the wire, made at most once for each state of the registry.
pub(crate) struct Shown {
    registry: Arc<Registry>,
    /// Those that somebody asked for by name.
    known: Mutex<BTreeMap<String, Tool>>,
    listed: Vec<Tool>,
    /// What the menu costs whoever gets it.
    tokens: OnceLock<u64>,
}

impl Shown {
    fn of(registry: Arc<Registry>, choose: &Choose) -> Self {
        let menu = choose(&registry);
        let named = menu.iter().filter_map(|name| registry.resolve(name));
        let listed = named.map(|registered| tool(registered)).collect();
        Self { registry, known: Mutex::default(), listed, tokens: OnceLock::new() }
    }

    /// The menu.
    pub(crate) fn listed(&self) -> &[Tool] {
        &self.listed
    }

    /// Tokens of the menu, by the integer rule: of what models are given of it. Output schemas and hints are for clients.
    pub(crate) fn tokens(&self) -> u64 {
        *self.tokens.get_or_init(|| {
            let known = self.listed.iter().filter_map(|tool| self.registry.resolve(&tool.name));
            known.map(|registered| menu::cost(registered)).sum()
        })
    }

    /// The tool that answers to `name`, listed or not.
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        let registered = self.registry.resolve(name)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let name = registered.head().name.to_string();
        Some(known.entry(name).or_insert_with(|| tool(registered)).clone())
    }
}

/// What is listed, remade when the registry is another one.
#[derive(Clone)]
pub(crate) struct Listing {
    choose: Choose,
    last: Arc<RwLock<Arc<Shown>>>,
}

impl Listing {
    pub(crate) fn new(house: &House, choose: Choose) -> Self {
        let shown = Shown::of(house.registry(), &choose);
        Self { choose, last: Arc::new(RwLock::new(Arc::new(shown))) }
    }

    pub(crate) fn now(&self, house: &House) -> Arc<Shown> {
        let registry = house.registry();
        let last = Arc::clone(&self.last.read().unwrap_or_else(PoisonError::into_inner));
        if Arc::ptr_eq(&last.registry, &registry) {
            return last;
        }
        let shown = Arc::new(Shown::of(registry, &self.choose));
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&shown);
        shown
    }
}

fn object(value: &Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn tool(registered: &Registered) -> Tool {
    let head = registered.head();
    let hints = head.annotations;
    let annotations = ToolAnnotations::from_raw(
        None,
        Some(hints.read_only_hint),
        Some(hints.destructive_hint),
        Some(hints.idempotent_hint),
        Some(hints.open_world_hint),
    );
    let mut meta = MetaObject::new();
    meta.0.insert("anthropic/alwaysLoad".into(), json!(true));
    if let Some(budget) = registered.tool.own_budget() {
        // Clients cut results that are longer than they expect.
        meta.0.insert("anthropic/maxResultSizeChars".into(), json!(kit::shape::chars(budget)));
    }
    let output = match registered.tool.output_schema() {
        Value::Object(output) => output,
        _ => JsonObject::new(),
    };
    Tool::new(head.name.to_string(), head.description.clone(), object(registered.input_schema()))
        .with_title(head.title.clone())
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotations)
        .with_meta(meta)
}

/// What others offer beside tools, so that whoever hears of changes hears of those.
struct Beside(Vec<String>, Vec<String>);

impl Beside {
    fn of(house: &House) -> Self {
        let (resources, prompts) = house.outside();
        Self(resources, prompts)
    }

    /// What there is to say of a change: of tools always, of the others where they are others now.
    fn news(&mut self, house: &House) -> Vec<ServerNotification> {
        let now = Self::of(house);
        let mut news =
            vec![ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default())];
        if now.0 != self.0 {
            let note = ResourceListChangedNotification::default();
            news.push(ServerNotification::ResourceListChangedNotification(note));
        }
        if now.1 != self.1 {
            let note = PromptListChangedNotification::default();
            news.push(ServerNotification::PromptListChangedNotification(note));
        }
        *self = now;
        news
    }
}

/// Whether a listener asked to hear of this.
fn wants(filter: &SubscriptionFilter, note: &ServerNotification) -> bool {
    let asked = match note {
        ServerNotification::ToolListChangedNotification(_) => filter.tools_list_changed,
        ServerNotification::ResourceListChangedNotification(_) => filter.resources_list_changed,
        ServerNotification::PromptListChangedNotification(_) => filter.prompts_list_changed,
        _ => None,
    };
    asked == Some(true)
}

/// Tells a session of every change until it ends, or `stop` is cancelled.
pub(crate) fn tell(
    session: Peer<RoleServer>,
    house: Arc<House>,
    mut changes: watch::Receiver<u64>,
    stop: CancellationToken,
) {
    let mut last = Beside::of(&house);
    tokio::spawn(async move {
        while !session.is_transport_closed() {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK) => {}
                word = changes.changed() => {
                    if word.is_err() {
                        return;
                    }
                    for note in last.news(&house) {
                        if session.send_notification(note).await.is_err() {
                            return;
                        }
                    }
                }
            }
        }
    });
}

/// Tells a listener of every change that it wants to hear of until it stops listening, or `stop` is cancelled.
pub(crate) async fn serve_listener(
    listener: SubscriptionContext,
    house: &House,
    mut changes: watch::Receiver<u64>,
    stop: CancellationToken,
) {
    let mut last = Beside::of(house);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = listener.cancelled() => return,
            word = changes.changed() => {
                if word.is_err() {
                    return;
                }
                let wanted = listener.sink().accepted().clone();
                for note in last.news(house).into_iter().filter(|note| wants(&wanted, note)) {
                    if listener.sink().send(note).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}
