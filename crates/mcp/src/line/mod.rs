//! Newline-delimited JSON-RPC over any pair of streams.
//!
//! Lines are checked before rmcp sees them: what is not JSON, has a key twice, is a batch, or has parameters of the wrong
//! shape is answered here with the error that JSON-RPC 2.0 names. Until a lifecycle is chosen,
//! anything but a request is dropped: rmcp would end the process. An id that waits for its answer cannot be used again:
//! rmcp would answer one of the two. Calls that are as plain as most are never get as far as rmcp (`plain`).

mod checks;
mod plain;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::conversation::{Admitted, Conversation};
use crate::server::Server;
use checks::too_long;
pub(crate) use checks::{
    Refusal, check, empty, object, refuse, shown, understood, unserved, without_handshake,
};
use plain::Plain;

/// Longest line, in bytes.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// How long the end of a server waits for what was said to be taken away: whoever does not read does not hold it.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A line that waits to be written, and who wants to know when it is.
type Line = (Vec<u8>, Option<oneshot::Sender<io::Result<()>>>);

/// The transport. One task reads, one writes; neither is ever cut off in the middle of a line.
pub struct LineTransport {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: Option<mpsc::UnboundedSender<Line>>,
    writer: Option<JoinHandle<()>>,
    reader: JoinHandle<()>,
    conversation: Arc<Conversation>,
    plain: Plain,
}

impl LineTransport {
    /// Reads requests from `input` and writes answers to `output`. Plain calls are made by `server`.
    pub(crate) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        server: Server,
    ) -> Self {
        let (outgoing, queue) = mpsc::unbounded_channel();
        let (deliver, incoming) = mpsc::channel(64);
        let writer = tokio::spawn(write(output, queue));
        let conversation = Arc::new(Conversation::default());
        let plain = Plain::new(server, Arc::clone(&conversation));
        let hears = Hears {
            deliver,
            answers: outgoing.clone().downgrade(),
            conversation: Arc::clone(&conversation),
            plain: plain.clone(),
        };
        let reader = tokio::spawn(hears.read(input));
        Self { incoming, outgoing: Some(outgoing), writer: Some(writer), reader, conversation, plain }
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
            JsonRpcMessage::Response(response) => drop(self.conversation.answers(&response.id)),
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.conversation.answers(id);
                }
            }
            _ => {}
        }
        async move {
            let line = line(&item)?;
            let (written, done) = oneshot::channel();
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            outgoing.ok_or_else(gone)?.send((line, Some(written))).map_err(|_| gone())?;
            // Resolves once it is written, so that progress comes before the answer.
            done.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.reader.abort();
        self.plain.end().await;
        self.outgoing = None;
        if let Some(mut writer) = self.writer.take()
            && tokio::time::timeout(LAST_WORDS, &mut writer).await.is_err()
        {
            writer.abort();
        }
        Ok(())
    }
}

/// `message` as it goes over the wire.
fn line(message: &ServerJsonRpcMessage) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// How many lines of a few that are there are heard before what they ask for is gone on with: calls that only look are recorded and
/// answered together, and their client would wait for the last one meanwhile.
const AT_ONCE_OF_FEW: usize = 8;

/// So many lines are not few: there, sharing a record's costs saves more.
const BURST: usize = 24;

/// How often such calls step aside before they are answered: once for their group, once for the writer.
const STEPS: usize = 2;

/// Most answers that are written at once.
const AT_ONCE: usize = 64;

/// Writes all that waits with one call.
async fn write(mut output: impl AsyncWrite + Unpin, mut queue: mpsc::UnboundedReceiver<Line>) {
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
        for written in waiting.drain(..).filter_map(|(_, written)| written) {
            // Nobody may be waiting any more.
            let _ = written.send(failed.map_or(Ok(()), |kind| Err(kind.into())));
        }
        if failed.is_some() {
            return;
        }
    }
}

/// What happens to a line that was read.
struct Hears {
    deliver: mpsc::Sender<ClientJsonRpcMessage>,
    answers: mpsc::WeakUnboundedSender<Line>,
    conversation: Arc<Conversation>,
    plain: Plain,
}

impl Hears {
    async fn read(self, input: impl AsyncRead + Unpin) {
        let mut reader = BufReader::with_capacity(64 * 1024, input);
        let mut line = Vec::new();
        let (mut taken, mut at_once) = (0, 0);
        loop {
            if reader.buffer().is_empty() {
                let Ok(there) = reader.fill_buf().await else { return };
                if there.is_empty() {
                    // It has ended; a terminal would be asked once more.
                    return;
                }
                (taken, at_once) = (0, if are_few(there) { AT_ONCE_OF_FEW } else { usize::MAX });
            } else if taken == at_once && !are_few(reader.buffer()) {
                // More has come since.
                at_once = usize::MAX;
            } else if taken == at_once {
                taken = 0;
                for _ in 0..STEPS {
                    tokio::task::yield_now().await;
                }
            }
            taken += 1;
            line.clear();
            let Ok(Some(whole)) = next_line(&mut reader, &mut line).await else { return };
            let heard = if whole { self.heard(&line) } else { Err(too_long()) };
            let goes_on = match heard {
                Ok(None) => true,
                Ok(Some(message)) => self.deliver.send(*message).await.is_ok(),
                Err(refusal) => self.answer(&refusal),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// What of `line` rmcp is to see.
    fn heard(&self, line: &[u8]) -> Result<Option<Box<ClientJsonRpcMessage>>, Refusal> {
        let Some(object) = object(line)? else { return Ok(None) };
        let object = match self.answers.upgrade() {
            None => Some(object),
            Some(answers) => self.plain.take(object, answers)?,
        };
        let Some(object) = object else { return Ok(None) };
        let Some(message) = understood(object)? else { return Ok(None) };
        match self.conversation.admit(&message) {
            Admitted::Yes => Ok(Some(message)),
            Admitted::No => Ok(None),
            Admitted::Refused(refusal) => Err(refusal),
        }
    }

    /// Answers in rmcp's place; says whether anybody can still be answered.
    fn answer(&self, refusal: &ServerJsonRpcMessage) -> bool {
        let Some(answers) = self.answers.upgrade() else { return false };
        // Nobody waits for it to be written.
        line(refusal).is_ok_and(|line| answers.send((line, None)).is_ok())
    }
}

/// Whether few lines are there, as far as they were read.
fn are_few(there: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', there).nth(BURST - 1).is_none()
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
