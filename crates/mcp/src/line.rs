//! Newline-delimited JSON-RPC over any pair of streams.
//!
//! Lines are checked before rmcp sees them: what is not JSON, has a key twice, is a batch, or has parameters of the wrong
//! shape is answered here with the error that JSON-RPC 2.0 names. Until a lifecycle is chosen,
//! anything but a request is dropped: rmcp would end the process.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use contract::canonical;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta as _, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Longest line, in bytes.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

type Written = oneshot::Sender<io::Result<()>>;

/// The transport. One task reads, one writes; neither is ever cut off in the middle of a line.
pub struct LineTransport {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: Option<mpsc::UnboundedSender<(Vec<u8>, Written)>>,
    writer: Option<JoinHandle<()>>,
    reader: JoinHandle<()>,
    chosen: Arc<Mutex<bool>>,
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
        let chosen = Arc::new(Mutex::new(false));
        Self { incoming, outgoing: Some(outgoing), writer: Some(writer), reader, chosen }
    }

    fn is_chosen(&self) -> bool {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `request` chooses the lifecycle, by rmcp's own rule.
fn chooses(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        ClientRequest::InitializeRequest(_) => true,
        other => {
            let meta = other.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(|v| ProtocolVersion::KNOWN_VERSIONS.contains(&v))
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
            if self.is_chosen() {
                return Some(message);
            }
            match &message {
                JsonRpcMessage::Request(request) => {
                    *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = chooses(&request.request);
                    return Some(message);
                }
                _ => tracing::debug!("a message before the lifecycle was dropped"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.reader.abort();
        self.outgoing = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.await;
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

fn too_long() -> Refusal {
    let message = format!("a message of more than {MAX_LINE} bytes");
    Box::new(ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), None))
}

/// Nothing where a message should be.
pub(crate) fn empty() -> Refusal {
    let error = ErrorData::invalid_request("a message is one object", None);
    Box::new(ServerJsonRpcMessage::error(error, None))
}

/// The message in `line`; `None` for an empty line or a notification that cannot be understood.
pub(crate) fn check(line: &[u8]) -> Result<Option<Box<ClientJsonRpcMessage>>, Refusal> {
    let refuse = |error: ErrorData, id: Option<RequestId>| Box::new(ServerJsonRpcMessage::error(error, id));
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let value = match canonical::parse_strict(line.trim_ascii()) {
        Ok(value) => value,
        Err(error) => {
            return Err(refuse(ErrorData::parse_error(format!("not acceptable JSON: {error}"), None), None));
        }
    };
    let Value::Object(object) = &value else {
        return Err(refuse(
            ErrorData::invalid_request("a message is one object; batches are not supported", None),
            None,
        ));
    };
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
    match serde_json::from_value::<ClientJsonRpcMessage>(value) {
        Ok(message) => Ok(Some(Box::new(message))),
        Err(_) if id.is_none() => Ok(None),
        Err(_) => Err(refuse(ErrorData::invalid_request("not a JSON-RPC 2.0 message", None), id)),
    }
}
