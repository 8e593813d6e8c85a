//! One call, as every front door makes it, and what came of it.

use std::sync::Arc;

pub use audit::Anchor;
use contract::{CallId, Fault, Metadata, Principal, Reply};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::choice::Choice;
use crate::consent::{Consent, Question};
use crate::cost::Session;
use crate::engine::Engine;
use crate::inquiry::Inquiries;

/// Told how far a call has come. Cheap; called from any thread.
pub type Progress = Arc<dyn Fn(Step) + Send + Sync>;

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Units done.
    pub done: f64,
    /// Units in all, where known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: String,
}

/// The token that a caller came with, for those who may exchange it. It does not show itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Bearer(Arc<Zeroizing<String>>);

impl Bearer {
    /// Keeps `token` until nobody needs it.
    #[must_use]
    pub fn new(token: &str) -> Self {
        Self(Arc::new(Zeroizing::new(token.to_owned())))
    }

    /// The token itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Bearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bearer(…)")
    }
}

/// The program that calls, as it names itself: it is believed nothing but that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
}

impl ClientInfo {
    /// Most characters of a name or version.
    const MAX: usize = 64;

    /// What a client says of itself, where that is a name: 1 to 64 letters, digits, `.`, `_` and `-`, spaces becoming `-`.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Option<Self> {
        let fits = |text: &str| {
            let is_of_it = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            (1..=Self::MAX).contains(&text.len()) && text.chars().all(is_of_it)
        };
        let name = name.trim().replace([' ', '/'], "-");
        fits(&name).then(|| Self { name, version: fits(version).then(|| version.to_owned()) })
    }
}

/// One call.
#[derive(Clone)]
pub struct Call {
    /// What the caller names it.
    pub id: CallId,
    /// The tool's name or alias, as the caller wrote it.
    pub tool: String,
    /// The arguments: an object.
    pub arguments: Value,
    /// Who calls.
    pub principal: Principal,
    /// The token that says so, where it came with one.
    pub bearer: Option<Bearer>,
    /// The program that makes it, where it says its name.
    pub client: Option<ClientInfo>,
    /// The engine of the root that it came from, where it is made over a library: said by the house alone.
    pub from: Option<Arc<Engine>>,
    /// The conversation that it is of, where there is one: then its answer's cost is on record.
    pub session: Option<Session>,
    /// What the caller's user said, where it was asked.
    pub consent: Consent,
    /// The way to whoever asks the user what a tool of others wants to know; `None` where nobody can.
    pub inquiries: Option<Inquiries>,
    /// Whether it may go on as a job where it takes long; otherwise its end is waited for.
    pub detach: bool,
    /// Cancels it.
    pub cancel: CancellationToken,
    /// Hears how far it has come.
    pub progress: Progress,
}

impl Call {
    /// What stands for a call where somebody looks without making one.
    pub(crate) fn of_nothing(principal: Principal) -> Self {
        Self {
            id: CallId(String::new()),
            tool: String::new(),
            arguments: serde_json::json!({}),
            principal,
            bearer: None,
            client: None,
            from: None,
            session: None,
            consent: Consent::Unasked { can_ask: false },
            inquiries: None,
            detach: false,
            cancel: CancellationToken::new(),
            progress: Arc::new(|_| {}),
        }
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Call({} {})", self.tool, self.id.0)
    }
}

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Done {
    /// The result or what went wrong.
    pub result: Result<Reply, Fault>,
    /// About the call; the same object stands in a reply.
    pub metadata: Metadata,
    /// The ledger's anchor after this call was recorded: whoever keeps it is a witness.
    pub anchor: Option<Anchor>,
    /// Whether the name is that of no tool: a protocol error, not a tool's.
    pub unknown_tool: bool,
    /// What the caller's user may be asked, where the call was refused for want of consent.
    pub question: Option<Question>,
    /// What the caller's user may choose from, where the answer offers something.
    pub choice: Option<Choice>,
}

impl Done {
    /// The object that a client gets: a reply's, or `{ success: false, error, metadata }`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match &self.result {
            Ok(reply) => reply.to_value().unwrap_or_else(|e| unwritten(&e)),
            Err(fault) => serde_json::to_value(self.failed(fault)).unwrap_or_else(|e| unwritten(&e)),
        }
    }

    const fn failed<'a>(&'a self, fault: &'a Fault) -> Failed<'a> {
        Failed { success: false, error: fault, metadata: &self.metadata }
    }
}

/// As [`Done::to_value`] has it, without a value between; what the call came to is first.
impl Serialize for Done {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.result {
            Ok(reply) => reply.serialize(serializer),
            Err(fault) => self.failed(fault).serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct Failed<'a> {
    success: bool,
    error: &'a Fault,
    metadata: &'a Metadata,
}

fn unwritten(error: &serde_json::Error) -> Value {
    json!({ "success": false, "message": error.to_string() })
}
