//! Newline-delimited JSON-RPC over any pair of streams.
//!
//! Lines are checked before rmcp sees them: what is not JSON, has a key twice, is a batch, or has parameters of the wrong
//! shape is answered here with the error that JSON-RPC 2.0 names. Until a lifecycle is chosen,
//! anything but a request is dropped: rmcp would end the process. An id that waits for its answer cannot be used again:
//! rmcp would answer one of the two.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use contract::{canonical, text};
use kit::shape;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, GetMeta as _, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Longest line, in bytes.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// How long the end of a server waits for what was said to be taken away: whoever does not read does not hold it.
const LAST_WORDS: Duration = Duration::from_secs(2);

type Written = oneshot::Sender<io::Result<()>>;

/// The transport. One task reads, one writes; neither is ever cut off in the middle of a line.
pub struct LineTransport {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: Option<mpsc::UnboundedSender<(Vec<u8>, Written)>>,
    writer: Option<JoinHandle<()>>,
    reader: JoinHandle<()>,
    lifecycle: Lifecycle,
    /// The ids of the requests that wait for their answers. One that is cancelled gets none, and stays.
    waiting: BTreeSet<String>,
}

/// Which era the client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lifecycle {
    /// It has not said.
    Open,
    /// The older: it began with `initialize`.
    Session,
    /// The newer: every request stands for itself.
    Stateless,
}

impl LineTransport {
    /// Reads requests from `input` and writes answers to `output`.
    pub fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (outgoing, queue) = mpsc::unbounded_channel();
        let (deliver, incoming) = mpsc::channel(64);
        let writer = tokio::spawn(write(output, queue));
        let answers = outgoing.clone().downgrade();
        let reader = tokio::spawn(read(input, deliver, answers));
        Self {
            incoming,
            outgoing: Some(outgoing),
            writer: Some(writer),
            reader,
            lifecycle: Lifecycle::Open,
            waiting: BTreeSet::new(),
        }
    }

    /// What of `message` rmcp is to see.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        let JsonRpcMessage::Request(request) = &message else {
            if self.lifecycle == Lifecycle::Open {
                tracing::debug!("a message before the lifecycle was dropped");
                return None;
            }
            return Some(message);
        };
        let id = key(&request.id);
        let begins = matches!(request.request, ClientRequest::InitializeRequest(_));
        let refusal = if self.waiting.contains(&id) {
            // Without the id: with it, the first of the two would be taken to be answered.
            let twice = format!("the id {} waits for its answer: use another", shown(&id));
            Some(refuse(ErrorData::invalid_request(twice, None), None))
        } else if begins && self.lifecycle != Lifecycle::Open {
            let again = ErrorData::invalid_request("the lifecycle was chosen by an earlier request", None);
            Some(refuse(again, Some(request.id.clone())))
        } else {
            let in_session = self.lifecycle == Lifecycle::Session;
            unserved(&message).or_else(|| without_handshake(&message).filter(|_| !in_session))
        };
        if let Some(refusal) = refusal {
            self.answer(&refusal);
            return None;
        }
        if self.lifecycle == Lifecycle::Open {
            self.lifecycle = chosen(&request.request);
        }
        self.waiting.insert(id);
        Some(message)
    }

    /// Answers in rmcp's place.
    fn answer(&self, refusal: &ServerJsonRpcMessage) {
        if let (Some(outgoing), Ok(mut line)) = (&self.outgoing, serde_json::to_vec(refusal)) {
            line.push(b'\n');
            // Nobody waits for it to be written.
            let _ = outgoing.send((line, oneshot::channel().0));
        }
    }
}

/// An id as JSON: a number is no string.
fn key(id: &RequestId) -> String {
    serde_json::to_string(id).unwrap_or_default()
}

/// The lifecycle that `request` chooses, by rmcp's own rule.
fn chosen(request: &ClientRequest) -> Lifecycle {
    match request {
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => Lifecycle::Open,
        ClientRequest::InitializeRequest(_) => Lifecycle::Session,
        other => {
            let meta = other.get_meta();
            let whole = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
            let known = meta.protocol_version().is_some_and(|v| ProtocolVersion::KNOWN_VERSIONS.contains(&v));
            if whole && known { Lifecycle::Stateless } else { Lifecycle::Open }
        }
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        match &item {
            JsonRpcMessage::Response(response) => drop(self.waiting.remove(&key(&response.id))),
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.waiting.remove(&key(id));
                }
            }
            _ => {}
        }
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let (written, done) = oneshot::channel();
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            outgoing.ok_or_else(gone)?.send((line, written)).map_err(|_| gone())?;
            // Resolves once it is written, so that progress comes before the answer.
            done.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.incoming.recv().await?;
            if let Some(message) = self.admit(message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.reader.abort();
        self.outgoing = None;
        if let Some(mut writer) = self.writer.take()
            && tokio::time::timeout(LAST_WORDS, &mut writer).await.is_err()
        {
            writer.abort();
        }
        Ok(())
    }
}

/// Most answers that are written at once.
const AT_ONCE: usize = 64;

/// Writes all that waits with one call.
async fn write(mut output: impl AsyncWrite + Unpin, mut queue: mpsc::UnboundedReceiver<(Vec<u8>, Written)>) {
    let mut waiting = Vec::with_capacity(AT_ONCE);
    while queue.recv_many(&mut waiting, AT_ONCE).await > 0 {
        let mut lines = Vec::new();
        for (line, _) in &mut waiting {
            if lines.is_empty() {
                lines = std::mem::take(line);
            } else {
                lines.extend_from_slice(line);
            }
        }
        let result = match output.write_all(&lines).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        let failed = result.as_ref().err().map(io::Error::kind);
        for (_, written) in waiting.drain(..) {
            // Nobody may be waiting any more.
            let _ = written.send(failed.map_or(Ok(()), |kind| Err(kind.into())));
        }
        if failed.is_some() {
            return;
        }
    }
}

async fn read(
    input: impl AsyncRead + Unpin,
    deliver: mpsc::Sender<ClientJsonRpcMessage>,
    answers: mpsc::WeakUnboundedSender<(Vec<u8>, Written)>,
) {
    let mut reader = BufReader::with_capacity(64 * 1024, input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let Ok(Some(whole)) = next_line(&mut reader, &mut line).await else { return };
        let checked = if whole { check(&line) } else { Err(too_long()) };
        match checked {
            Ok(Some(message)) => {
                if deliver.send(*message).await.is_err() {
                    return;
                }
            }
            Ok(None) => {}
            Err(refusal) => {
                let Some(answers) = answers.upgrade() else { return };
                let Ok(mut bytes) = serde_json::to_vec(&*refusal) else { continue };
                bytes.push(b'\n');
                let (written, _) = oneshot::channel();
                if answers.send((bytes, written)).is_err() {
                    return;
                }
            }
        }
    }
}

/// Reads one line; `Some(false)` when it was longer than [`MAX_LINE`] and was passed over. A last line without a newline
/// counts.
async fn next_line<R: AsyncRead + Unpin>(
    reader: &mut BufReader<R>,
    line: &mut Vec<u8>,
) -> io::Result<Option<bool>> {
    let mut fits = true;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok((!line.is_empty()).then_some(fits));
        }
        let end = available.iter().position(|b| *b == b'\n');
        let taken = end.map_or(available.len(), |n| n + 1);
        if line.len() + taken > MAX_LINE {
            fits = false;
            line.truncate(1);
        } else if fits {
            line.extend_from_slice(&available[..taken]);
        }
        reader.consume(taken);
        if end.is_some() {
            return Ok(Some(fits));
        }
    }
}

/// The error that answers what is no message.
pub(crate) type Refusal = Box<ServerJsonRpcMessage>;

fn refuse(error: ErrorData, id: Option<RequestId>) -> Refusal {
    Box::new(ServerJsonRpcMessage::error(error, id))
}

fn too_long() -> Refusal {
    refuse(ErrorData::invalid_request(format!("a message of more than {MAX_LINE} bytes"), None), None)
}

/// Nothing where a message should be.
pub(crate) fn empty() -> Refusal {
    refuse(ErrorData::invalid_request("a message is one object", None), None)
}

/// What a client said, as an error may repeat it: short, and nothing hidden in it.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    text::spelled_name(&shape::bounded(text, LONGEST))
}

/// The revision that a request names, with the request's id.
fn revision(message: &ClientJsonRpcMessage) -> Option<(ProtocolVersion, RequestId)> {
    let JsonRpcMessage::Request(request) = message else { return None };
    Some((request.request.get_meta().protocol_version()?, request.id.clone()))
}

fn unsupported(
    why: String,
    (named, id): (ProtocolVersion, RequestId),
    served: Vec<&ProtocolVersion>,
) -> Refusal {
    let data = json!({ "requested": shown(named.as_str()), "supported": served });
    refuse(ErrorData::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, why, Some(data)), Some(id))
}

/// Refuses a request that names a revision which is not served: rmcp would repeat the name as it is.
fn unserved(message: &ClientJsonRpcMessage) -> Option<Refusal> {
    let known = ProtocolVersion::KNOWN_VERSIONS;
    let named = revision(message).filter(|(named, _)| !known.contains(named))?;
    Some(unsupported("Unsupported protocol version".into(), named, known.iter().collect()))
}

/// Refuses a call outside of a session that names a revision whose calls need one: naming an older revision is no way
/// around its handshake.
pub(crate) fn without_handshake(message: &ClientJsonRpcMessage) -> Option<Refusal> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let needs_none = matches!(
        request.request,
        ClientRequest::InitializeRequest(_)
            | ClientRequest::PingRequest(_)
            | ClientRequest::DiscoverRequest(_)
    );
    let (older, stateless): (Vec<_>, Vec<_>) =
        ProtocolVersion::KNOWN_VERSIONS.iter().partition(|version| version.has_initialize());
    let named = revision(message).filter(|(named, _)| !needs_none && older.contains(&named))?;
    let why = format!("{} begins with `initialize`: no call is made without it", named.0);
    Some(unsupported(why, named, stateless))
}

/// The message in `line`; `None` for an empty line, and for a notification or an answer that cannot be understood.
pub(crate) fn check(line: &[u8]) -> Result<Option<Box<ClientJsonRpcMessage>>, Refusal> {
    match object(line)? {
        None => Ok(None),
        Some(object) => understood(object),
    }
}

/// The object in `line`; `None` for an empty line.
pub(crate) fn object(line: &[u8]) -> Result<Option<Map<String, Value>>, Refusal> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    match canonical::parse_strict(line.trim_ascii()) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(refuse(
            ErrorData::invalid_request("a message is one object; batches are not supported", None),
            None,
        )),
        Err(error) => {
            Err(refuse(ErrorData::parse_error(format!("not acceptable JSON: {error}"), None), None))
        }
    }
}

/// The call of a tool in a message that is nothing else: by its method, without trying the others. Anything that does not
/// fit is left to whoever says what is wrong with it.
fn call(object: &Map<String, Value>) -> Option<ClientJsonRpcMessage> {
    let known = |key: &String| matches!(key.as_str(), "jsonrpc" | "id" | "method" | "params");
    let is_call = object.get("method")? == "tools/call" && object.get("jsonrpc")? == "2.0";
    if !is_call || !object.get("params")?.is_object() || !object.keys().all(known) {
        return None;
    }
    let id = RequestId::deserialize(object.get("id")?).ok()?;
    let request = CallToolRequest::deserialize(object).ok()?;
    Some(ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
}

/// The message in `object`; `None` for a notification or an answer that cannot be understood.
pub(crate) fn understood(object: Map<String, Value>) -> Result<Option<Box<ClientJsonRpcMessage>>, Refusal> {
    if let Some(call) = call(&object) {
        return Ok(Some(Box::new(call)));
    }
    let asks = object.get("method").is_some_and(Value::is_string);
    let answers = object.contains_key("result") || object.contains_key("error");
    if answers && !object.contains_key("method") {
        // Nothing was asked that it could answer, and an answer is never answered.
        return Ok(serde_json::from_value(Value::Object(object)).ok());
    }
    let id = object.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    if object.contains_key("id") && id.is_none() {
        return Err(refuse(ErrorData::invalid_request("an id is a string or an integer", None), None));
    }
    let params = object.get("params");
    if params.is_some_and(|p| !p.is_object()) {
        return match id {
            Some(_) => Err(refuse(ErrorData::invalid_params("params is an object", None), id)),
            None => Ok(None),
        };
    }
    let cursor = params.and_then(|p| p.get("cursor"));
    if cursor.is_some_and(|c| !c.is_string() && !c.is_null()) {
        return Err(refuse(ErrorData::invalid_params("cursor is a string", None), id));
    }
    let is_request = asks && !answers && object.get("jsonrpc").is_some_and(|v| v == "2.0");
    match serde_json::from_value::<ClientJsonRpcMessage>(Value::Object(object)) {
        Ok(message) => Ok(Some(Box::new(message))),
        // All else is as it should be.
        Err(_) if is_request && id.is_some() => {
            Err(refuse(ErrorData::invalid_params("the parameters do not fit", None), id))
        }
        Err(_) if asks && id.is_none() => Ok(None),
        Err(_) => Err(refuse(ErrorData::invalid_request("not a JSON-RPC 2.0 message", None), id)),
    }
}
