//! The messages of a program's standard input and output: one a line, bounded, held to the protocol. What is none of its
//! messages is counted and dropped, and so is an answer that nobody waits for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::canonical;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::tap::{Page, Pages, UNASKED, is_listing, server_of};

/// Longest line, in bytes.
pub(crate) const MAX_LINE: usize = 4 * 1024 * 1024;

/// How long a program may take to read what it is told.
const WRITE: Duration = Duration::from_secs(10);

/// What was heard of a program besides its messages.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Lines that were no messages, and messages that nobody waited for.
    noise: AtomicU64,
    why: Mutex<Option<String>>,
}

impl Heard {
    /// How many lines were dropped.
    pub(crate) fn noise(&self) -> u64 {
        self.noise.load(Ordering::Relaxed)
    }

    /// Why the stream was given up, where it was.
    pub(crate) fn why(&self) -> Option<String> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What waits for an answer, by its id: whether it is a list of tools.
type Waiting = Arc<Mutex<BTreeMap<String, bool>>>;

/// A program's messages.
pub(crate) struct Lines {
    read: BufReader<OwnedReadHalf>,
    write: Arc<tokio::sync::Mutex<OwnedWriteHalf>>,
    line: Vec<u8>,
    waiting: Waiting,
    pages: Arc<Pages>,
    heard: Arc<Heard>,
    unasked: (Instant, u32),
}

impl Lines {
    /// The messages that go over `socket`; lists of tools are kept in `pages` as they came.
    pub(crate) fn new(
        socket: std::os::unix::net::UnixStream,
        pages: Arc<Pages>,
        heard: Arc<Heard>,
    ) -> std::io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (read, write) = UnixStream::from_std(socket)?.into_split();
        Ok(Self {
            read: BufReader::new(read),
            write: Arc::new(tokio::sync::Mutex::new(write)),
            line: Vec::new(),
            waiting: Waiting::default(),
            pages,
            heard,
            unasked: (Instant::now(), 0),
        })
    }

    /// The next line, without its end. What was read of one is kept when this is dropped.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let Ok(read) = self.read.fill_buf().await else { return None };
            if read.is_empty() {
                return None;
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(read.len());
            if self.line.len() + taken > MAX_LINE {
                let why = format!("it sent a line of more than {MAX_LINE} bytes");
                *self.heard.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                return None;
            }
            self.line.extend_from_slice(read.get(..taken).unwrap_or_default());
            self.read.consume(end.map_or(taken, |end| end + 1));
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    /// The message that a line is, if it is one that may be heard.
    fn message(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let said: Value = serde_json::from_slice(line).ok()?;
        // A batch is an array: the protocol has none.
        let object = said.as_object().filter(|said| said.get("jsonrpc") == Some(&json!("2.0")))?;
        if object.contains_key("method") {
            if self.unasked.0.elapsed() >= Duration::from_secs(1) {
                self.unasked = (Instant::now(), 0);
            }
            self.unasked.1 += 1;
            return (self.unasked.1 <= UNASKED).then(|| serde_json::from_value(said).ok())?;
        }
        let id = object.get("id").filter(|id| id.is_string() || id.is_number())?.clone();
        let is_list = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.remove(&id.to_string())?
        };
        let said = if is_list && said.get("result").is_some() {
            match canonical::parse_strict(line) {
                Ok(said) => {
                    if let Some(Value::Array(tools)) = said.pointer("/result/tools") {
                        let (tools, server, bytes) = (tools.clone(), server_of(&said), line.len());
                        self.pages.keep(Page { tools, key: None, server, bytes });
                    }
                    said
                }
                Err(e) => {
                    self.pages.refuse(format!("a list of tools is not acceptable JSON: {e}"));
                    return failed(&id);
                }
            }
        } else {
            said
        };
        // Whoever waits is told, rather than left waiting.
        serde_json::from_value(said).ok().or_else(|| failed(&id))
    }
}

/// The answer of whoever does not answer as the protocol says.
fn failed(id: &Value) -> Option<ServerJsonRpcMessage> {
    let error = json!({ "code": -32_603, "message": "its answer is not what the protocol says" });
    serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "error": error })).ok()
}

fn key(id: &RequestId) -> String {
    serde_json::to_value(id).unwrap_or_default().to_string()
}

impl Transport<RoleClient> for Lines {
    type Error = std::io::Error;

    fn name() -> Cow<'static, str> {
        "a program's streams".into()
    }

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            match &message {
                JsonRpcMessage::Request(request) => {
                    waiting.insert(key(&request.id), is_listing(&request.request));
                }
                JsonRpcMessage::Notification(told) => {
                    if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                        && let Ok(params) = serde_json::to_value(&cancelled.params)
                        && let Some(id) = params.get("requestId")
                    {
                        waiting.remove(&id.to_string());
                    }
                }
                _ => {}
            }
        }
        let (line, write) = (serde_json::to_vec(&message), Arc::clone(&self.write));
        async move {
            let mut line = line.map_err(std::io::Error::other)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let written = async {
                write.write_all(&line).await?;
                write.flush().await
            };
            tokio::time::timeout(WRITE, written).await.map_err(|_| std::io::ErrorKind::TimedOut)?
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = self.next().await?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Some(message) = self.message(&line) {
                return Some(message);
            }
            self.heard.noise.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.write.lock().await.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, Write as _};

    use rmcp::model::{ClientRequest, ListToolsRequest, NumberOrString};

    use super::*;

    fn lines() -> (Lines, std::os::unix::net::UnixStream, Arc<Pages>, Arc<Heard>) {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let (pages, heard) = (Arc::new(Pages::default()), Arc::new(Heard::default()));
        (Lines::new(ours, Arc::clone(&pages), Arc::clone(&heard)).unwrap(), theirs, pages, heard)
    }

    fn run(work: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
    }

    fn list(id: i64) -> ClientJsonRpcMessage {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::default());
        JsonRpcMessage::request(request, NumberOrString::Number(id))
    }

    #[test]
    fn m18_noise_batches_and_answers_that_nobody_waits_for_are_counted_and_dropped() {
        run(async {
            let (mut lines, mut theirs, pages, heard) = lines();
            lines.send(list(1)).await.unwrap();
            let mut asked = String::new();
            std::io::BufReader::new(theirs.try_clone().unwrap()).read_line(&mut asked).unwrap();
            assert!(asked.contains("tools/list"), "{asked}");
            for noise in [
                "Listening on stdio",
                "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}]",
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}",
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{\"tools\":[]}}",
                "{\"id\":1,\"result\":{\"tools\":[]}}",
                "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"tools\":[]}}",
            ] {
                writeln!(theirs, "{noise}").unwrap();
            }
            writeln!(theirs).unwrap();
            let tool = r#"{"name":"a","inputSchema":{"type":"object"},"x-own":1}"#;
            let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tool}]}}}}"#);
            writeln!(theirs, "{answer}").unwrap();
            let message = lines.receive().await.unwrap();
            assert!(matches!(message, JsonRpcMessage::Response(_)), "{message:?}");
            assert_eq!(pages.take().unwrap().tools[0]["x-own"], 1, "as it came");
            // The same answer again is nobody's.
            writeln!(theirs, "{answer}").unwrap();
            drop(theirs);
            assert!(lines.receive().await.is_none());
            assert_eq!((heard.noise(), heard.why()), (7, None));
        });
    }

    #[test]
    fn a_list_in_which_a_key_stands_twice_is_refused_and_a_line_without_end_ends_it() {
        run(async {
            let (mut lines, mut theirs, pages, heard) = lines();
            lines.send(list(1)).await.unwrap();
            writeln!(
                theirs,
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"a","name":"b"}}]}}}}"#
            )
            .unwrap();
            assert!(matches!(lines.receive().await.unwrap(), JsonRpcMessage::Error(_)));
            assert!(pages.refused().unwrap().contains("not acceptable JSON") && pages.take().is_none());
            let writing = std::thread::spawn(move || {
                let part = [b'x'; 8 * 1024];
                while theirs.write_all(&part).is_ok() {}
            });
            assert!(lines.receive().await.is_none());
            assert!(heard.why().unwrap().contains("more than"));
            drop(lines);
            writing.join().unwrap();
        });
    }
}
