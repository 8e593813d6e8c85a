//! Load over HTTP: any number of connections that are kept alive, one call in flight on each.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use gatewright_peers::Error;
use memchr::memmem::Finder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::process::Process;
use crate::wire::{self, Era, Request, Spell, Talk};

/// Longest that a server may take for its first answers, and for its last.
const LONGEST: Duration = Duration::from_secs(20);

/// A server at an address of its own.
pub struct Web {
    /// Its process.
    pub process: Process,
    address: SocketAddr,
    talk: Talk,
    runtime: Runtime,
    connections: Vec<Connection>,
}

/// A place that nobody listens at.
fn free() -> Result<SocketAddr, Error> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

impl Web {
    /// Starts `words`, in which `{address}` is replaced, and asks for its tools.
    pub fn start(words: &[String], talk: &Talk) -> Result<Self, Error> {
        let address = free()?;
        let words: Vec<String> = words.iter().map(|w| w.replace("{address}", &address.to_string())).collect();
        let process = Process::start(&words, false)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut web = Self { process, address, talk: talk.clone(), runtime, connections: Vec::new() };
        let began = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            if began.elapsed() > LONGEST {
                return Err(format!("nobody listens at {address}: {}", words.join(" ")).into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let first =
            web.runtime.block_on(async { timeout(LONGEST, Connection::open(address, talk)).await })??;
        web.connections.push(first);
        Ok(web)
    }

    /// Keeps one call in flight on each of `awaited` connections for `spell`.
    pub fn load(&mut self, awaited: usize, spell: Duration) -> Result<Spell, Error> {
        let (address, talk, connections) = (self.address, &self.talk, &mut self.connections);
        self.runtime.block_on(async {
            while connections.len() < awaited {
                connections.push(timeout(LONGEST, Connection::open(address, talk)).await??);
            }
            let mut tasks = JoinSet::new();
            let began = Instant::now();
            for mut connection in connections.drain(..awaited) {
                tasks.spawn(async move {
                    let took = timeout(spell + LONGEST, connection.calls(began, spell)).await??;
                    Ok::<_, Error>((connection, took))
                });
            }
            let mut given = Spell::default();
            while let Some(ended) = tasks.join_next().await {
                let (connection, took) = ended??;
                given.answer = connection.answer;
                given.took.extend(took);
                connections.push(connection);
            }
            given.elapsed = began.elapsed();
            Ok(given)
        })
    }
}

/// One connection, in the older era with a session of its own.
struct Connection {
    stream: TcpStream,
    call: Request,
    buffer: Vec<u8>,
    answer: usize,
    ends: Finder<'static>,
}

/// What is known of an answer from its head.
struct Head {
    /// Where the body begins.
    body: usize,
    status: u16,
    /// How long the body is; `None` when it comes in chunks.
    length: Option<usize>,
    session: Option<String>,
}

impl Connection {
    async fn open(address: SocketAddr, talk: &Talk) -> Result<Self, Error> {
        let host = address.to_string();
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let call = talk.post(&host, None)?;
        let mut new = Self { stream, call, buffer: Vec::new(), answer: 0, ends: Finder::new(b"\r\n\r\n") };
        let mut session = None;
        if talk.era == Era::Session {
            let body = talk.initialize();
            let head = talk.head(&host, None, "initialize", body.len());
            let head = new.exchange(&[head.into_bytes(), body].concat()).await?;
            wire::check(&new.buffer[head.body..])?;
            session = head.session;
            let body = talk.initialized();
            let last = talk.head(&host, session.as_deref(), "notifications/initialized", body.len());
            new.exchange(&[last.into_bytes(), body].concat()).await?;
            new.call = talk.post(&host, session.as_deref())?;
        }
        let body = talk.list();
        let list = talk.head(&host, session.as_deref(), "tools/list", body.len());
        let head = new.exchange(&[list.into_bytes(), body].concat()).await?;
        wire::check(&new.buffer[head.body..])?;
        Ok(new)
    }

    /// Calls, one after another, until `spell` is over.
    async fn calls(&mut self, began: Instant, spell: Duration) -> Result<Vec<Duration>, Error> {
        let mut took = Vec::new();
        let mut asked = Instant::now();
        loop {
            self.stream.write_all(self.call.next().0).await?;
            let head = self.answered().await?;
            let now = Instant::now();
            took.push(now - asked);
            let body = &self.buffer[head.body..];
            if head.status != 200 {
                return Err(format!("{}: {}", head.status, String::from_utf8_lossy(body)).into());
            }
            wire::check(body)?;
            self.answer = body.len();
            if now - began >= spell {
                return Ok(took);
            }
            asked = now;
        }
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<Head, Error> {
        self.stream.write_all(request).await?;
        self.answered().await
    }

    /// Reads one whole answer into the buffer.
    async fn answered(&mut self) -> Result<Head, Error> {
        self.buffer.clear();
        let mut head: Option<Head> = None;
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the server closed the connection".into());
            }
            if head.is_none()
                && let Some(end) = self.ends.find(&self.buffer)
            {
                head = Some(parse(&self.buffer[..end])?);
            }
            if let Some(found) = &head {
                let whole = match found.length {
                    Some(length) => self.buffer.len() >= found.body + length,
                    None => self.buffer.ends_with(b"0\r\n\r\n"),
                };
                if whole && let Some(head) = head.take() {
                    return Ok(head);
                }
            }
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Head, Error> {
    let text = std::str::from_utf8(bytes)?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).ok_or("no status")?.parse()?;
    let mut head = Head { body: bytes.len() + 4, status, length: None, session: None };
    let mut chunked = false;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            head.length = Some(value.trim().parse()?);
        } else if name.eq_ignore_ascii_case("mcp-session-id") {
            head.session = Some(value.trim().to_owned());
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = true;
        }
    }
    // An answer with neither has no body: those that are waited for are acknowledgements.
    if !chunked {
        head.length.get_or_insert(0);
    }
    Ok(head)
}
