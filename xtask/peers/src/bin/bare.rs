//! The limit: a loop that finds a request's id and answers with bytes that were ready before. No protocol is left out of
//! it that a client under load would notice, and none is in it.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use gatewright_peers::{Error, address, answer};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use memchr::memmem::Finder;
use serde_json::json;
use tokio::net::TcpListener;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An answer but for its id.
struct Canned {
    before: Vec<u8>,
    after: Vec<u8>,
    id: Finder<'static>,
}

impl Canned {
    fn new() -> Self {
        let value = answer();
        let result = json!({
            "content": [{ "type": "text", "text": value.to_string() }],
            "structuredContent": value,
            "isError": false,
        });
        Self {
            before: br#"{"jsonrpc":"2.0","id":"#.to_vec(),
            after: format!(",\"result\":{result}}}").into_bytes(),
            id: Finder::new(br#""id":"#),
        }
    }

    /// Answers `request`; nothing where it has no id.
    fn answer(&self, request: &[u8], out: &mut Vec<u8>) {
        let Some(at) = self.id.find(request) else { return };
        let rest = &request[at + self.id.needle().len()..];
        let end = rest.iter().position(|b| matches!(b, b',' | b'}')).unwrap_or(rest.len());
        out.extend_from_slice(&self.before);
        out.extend_from_slice(&rest[..end]);
        out.extend_from_slice(&self.after);
    }
}

fn over_stdio() -> Result<(), Error> {
    let (canned, mut input, mut output) = (Canned::new(), std::io::stdin().lock(), std::io::stdout().lock());
    let (mut buffer, mut chunk, mut out) = (Vec::new(), vec![0; 64 * 1024], Vec::new());
    loop {
        let read = input.read(&mut chunk)?;
        if read == 0 {
            return Ok(());
        }
        buffer.extend_from_slice(&chunk[..read]);
        let mut used = 0;
        for end in memchr::memchr_iter(b'\n', &buffer) {
            let before = out.len();
            canned.answer(&buffer[used..end], &mut out);
            if out.len() > before {
                out.push(b'\n');
            }
            used = end + 1;
        }
        buffer.drain(..used);
        // Standard output holds back what follows the last newline, and there is nothing.
        output.write_all(&out)?;
        output.flush()?;
        out.clear();
    }
}

async fn over_http(address: SocketAddr) -> Result<(), Error> {
    let (canned, listener) = (Arc::new(Canned::new()), TcpListener::bind(address).await?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let canned = Arc::clone(&canned);
        let service = service_fn(move |request: Request<Incoming>| {
            let canned = Arc::clone(&canned);
            async move {
                let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
                let mut out = Vec::with_capacity(1024);
                canned.answer(&body.unwrap_or_default(), &mut out);
                let mut response = Response::new(Full::new(Bytes::from(out)));
                let json = hyper::header::HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
                Ok::<_, Infallible>(response)
            }
        });
        tokio::spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match address(&args)? {
        None => over_stdio(),
        Some(address) => {
            tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(over_http(address))
        }
    }
}
