//! Lists of tools as they came over the wire. The library's types drop every key that they do not know, and an approval
//! must cover those, too.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::{Digest, canonical};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::tls::TlsInfo;
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::Value;
use sse_stream::{Sse, SseStream};

use crate::pin;

/// Largest page of a list.
const MAX_PAGE: usize = 2 * 1024 * 1024;

/// Largest event of a stream, in bytes.
pub(crate) const MAX_EVENT: usize = 8 * 1024 * 1024;

/// How many messages a second an upstream may send unasked; what is more is dropped.
pub(crate) const UNASKED: u32 = 20;

/// Longest message that is looked at for being unasked: a longer one is an answer.
const LOOKED_AT: usize = 64 * 1024;

const SESSION: &str = "mcp-session-id";

type Failure = StreamableHttpError<reqwest::Error>;
#[expect(clippy::disallowed_types, reason = "the library's own signature; nothing is said in its order")]
type Headers = std::collections::HashMap<HeaderName, HeaderValue>;

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    /// Its tools.
    pub(crate) tools: Vec<Value>,
    /// The digest of the TLS key of whoever sent it (the `SubjectPublicKeyInfo`, RFC 7469 §2.4).
    pub(crate) key: Option<Digest>,
    /// The name and version of whoever sent it, where it says so.
    pub(crate) server: Option<(String, String)>,
    /// How long it was.
    pub(crate) bytes: usize,
}

/// The pages that came, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Pages(Mutex<VecDeque<Page>>, Mutex<Option<String>>);

impl Pages {
    /// Forgets what nobody took.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The next page.
    pub(crate) fn take(&self) -> Option<Page> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Why the last one was not taken, said once.
    pub(crate) fn refused(&self) -> Option<String> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes why one is not taken.
    pub(crate) fn refuse(&self, why: String) {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    pub(crate) fn keep(&self, page: Page) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(page);
    }
}

/// An HTTP client that reads lists of tools itself, and leaves all else to the library's.
#[derive(Clone)]
pub(crate) struct Tap {
    pub(crate) client: reqwest::Client,
    pub(crate) pages: Arc<Pages>,
}

impl Tap {
    async fn listed(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        id: &RequestId,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut request = self.client.post(uri).header(ACCEPT, "text/event-stream, application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let in_session = session.is_some();
        if let Some(session) = session {
            request = request.header(SESSION, session.as_ref());
        }
        let response = request.json(message).send().await?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(ToOwned::to_owned)
        };
        match response.status() {
            StatusCode::NOT_FOUND if in_session => return Err(Failure::SessionExpired),
            StatusCode::UNAUTHORIZED => {
                let challenge = header(WWW_AUTHENTICATE.as_str()).unwrap_or_default();
                return Err(Failure::AuthRequired(AuthRequiredError::new(challenge)));
            }
            status if !status.is_success() => return Err(unexpected(format!("HTTP {status}"))),
            _ => {}
        }
        let (session, key) = (header(SESSION), key_of(&response));
        let kind = header(CONTENT_TYPE.as_str()).unwrap_or_default();
        let (answer, bytes) = if kind.starts_with("text/event-stream") {
            answer_in_stream(response, id).await?
        } else if kind.starts_with("application/json") {
            let body = whole(response).await?;
            (strict(&body)?, body.len())
        } else {
            return Err(Failure::UnexpectedContentType(Some(kind)));
        };
        if let Some(Value::Array(tools)) = answer.pointer("/result/tools") {
            self.pages.keep(Page { tools: tools.clone(), key, server: server_of(&answer), bytes });
        }
        let message = serde_json::from_value::<ServerJsonRpcMessage>(answer).map_err(Failure::Deserialize)?;
        Ok(StreamableHttpPostResponse::Json(message, session))
    }
}

/// The digest of the key that the answer came under.
fn key_of(response: &Response) -> Option<Digest> {
    pin::key_of(response.extensions().get::<TlsInfo>()?.peer_certificate()?)
}

/// Who an answer of the newer era says that it is from.
pub(crate) fn server_of(answer: &Value) -> Option<(String, String)> {
    let server = answer.pointer("/result/_meta/io.modelcontextprotocol~1serverInfo")?;
    let text = |field: &str| server.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some((text("name"), text("version")))
}

/// A stream without the messages that nobody asked for, beyond a few a second: each would be answered, and answers wait
/// for an upstream that reads them.
fn tamed(events: BoxStream<'static, Result<Sse, SseError>>) -> BoxStream<'static, Result<Sse, SseError>> {
    let (mut since, mut count) = (Instant::now(), 0);
    let wanted = move |event: &Result<Sse, SseError>| {
        let data = event.as_ref().ok().and_then(|event| event.data.as_deref()).unwrap_or_default();
        if data.len() > LOOKED_AT || !data.contains("\"method\"") {
            return true;
        }
        if since.elapsed() >= Duration::from_secs(1) {
            (since, count) = (Instant::now(), 0);
        }
        count += 1;
        count <= UNASKED
    };
    let mut wanted = wanted;
    events.filter(move |event| std::future::ready(wanted(event))).boxed()
}

/// The same for what a request is answered with.
fn tamed_answer(answer: StreamableHttpPostResponse) -> StreamableHttpPostResponse {
    match answer {
        StreamableHttpPostResponse::Sse(events, session) => {
            StreamableHttpPostResponse::Sse(tamed(events), session)
        }
        other => other,
    }
}

fn unexpected(why: String) -> Failure {
    Failure::UnexpectedServerResponse(why.into())
}

/// JSON in which no key stands twice: of two, one reader would believe the first and another the last.
fn strict(bytes: &[u8]) -> Result<Value, Failure> {
    canonical::parse_strict(bytes)
        .map_err(|e| unexpected(format!("a list of tools is not acceptable JSON: {e}")))
}

async fn whole(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_PAGE {
            return Err(unexpected(format!("a list of tools is larger than {MAX_PAGE} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The answer to `id` in a stream of events; what else comes before it is not for a list.
async fn answer_in_stream(response: Response, id: &RequestId) -> Result<(Value, usize), Failure> {
    let mut read = 0_usize;
    let bytes = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(|e| std::io::Error::other(e.to_string()))?;
        read += chunk.len();
        if read > MAX_PAGE {
            return Err(std::io::Error::other(format!("a list of tools is larger than {MAX_PAGE} bytes")));
        }
        Ok(chunk)
    });
    let mut events = SseStream::from_bytes_stream(bytes.boxed());
    let wanted = serde_json::to_value(id).map_err(Failure::Deserialize)?;
    while let Some(event) = events.next().await {
        let event = event.map_err(|e| unexpected(e.to_string()))?;
        let Some(data) = event.data.filter(|data| !data.trim().is_empty()) else { continue };
        let message = strict(data.as_bytes())?;
        if message.get("id") == Some(&wanted) && message.get("method").is_none() {
            return Ok((message, data.len()));
        }
    }
    Err(unexpected("the stream ended before the list of tools".to_owned()))
}

/// Whether a request is for a list of tools.
pub(crate) const fn is_listing(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::ListToolsRequest(_))
}

/// The id of a request for a list of tools.
fn listing(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) if is_listing(&request.request) => Some(&request.id),
        _ => None,
    }
}

impl StreamableHttpClient for Tap {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, MAX_EVENT).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        match listing(&message) {
            Some(id) => self.listed(&uri, &message, id, session, token, headers).await,
            None => self
                .client
                .post_message_with_max_sse_event_size(uri, message, session, token, headers, most)
                .await
                .map(tamed_answer),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.client.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        self.get_stream_with_max_sse_event_size(uri, session, last, token, headers, MAX_EVENT).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let events = self.client.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most);
        events.await.map(tamed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_asked_for_is_let_through_a_few_times_a_second_and_answers_always() {
        let event = |data: &str| Ok(Sse { data: Some(data.to_owned()), ..Sse::default() });
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let flood = (0..1_000).flat_map(|_| [event(ping), event(answer)]);
        let events = tamed(futures_util::stream::iter(flood.collect::<Vec<_>>()).boxed());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let through: Vec<_> = runtime.block_on(events.collect());
        let pings = through.iter().filter(|e| e.as_ref().unwrap().data.as_deref() == Some(ping)).count();
        assert!(pings >= UNASKED as usize && pings < 200, "{pings}");
        assert_eq!(through.len() - pings, 1_000);
    }
}
