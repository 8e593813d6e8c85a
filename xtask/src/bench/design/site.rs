//! A folder served on this machine's loopback: as two origins, for pages with frames of another one.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sh::Done;

/// Most bytes of a request's head.
const MAX_HEAD: usize = 64 << 10;

/// How long a connection may say nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder that is served for as long as the program runs.
pub(super) struct Site {
    folder: PathBuf,
    port: u16,
}

impl Site {
    pub(super) fn open(folder: &Path) -> Done<Self> {
        let failed = |e: std::io::Error| format!("serving pages on this machine: {e}");
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let port = first.local_addr().map_err(failed)?.port();
        // `localhost` may lead to this one first; a machine without IPv6 does without.
        let second = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).ok();
        for listener in std::iter::once(first).chain(second) {
            let folder = folder.to_owned();
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let folder = folder.clone();
                    // Whoever goes away before its answer has no answer.
                    std::thread::spawn(move || answer(stream, &folder).ok());
                }
            });
        }
        Ok(Self { folder: folder.to_owned(), port })
    }

    /// Where a file of the folder is.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// The origin that the same folder has besides: another site for a browser.
    pub(super) fn other_origin(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Writes a file of it.
    pub(super) fn put(&self, path: &str, bytes: &[u8]) -> Done {
        let file = self.folder.join(path);
        let failed = |e: std::io::Error| format!("{}: {e}", file.display());
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&file, bytes).map_err(failed)
    }
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let (mut head, mut part) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = stream.read(&mut part)?;
        if read == 0 || head.len() > MAX_HEAD {
            return Ok(());
        }
        head.extend_from_slice(part.get(..read).unwrap_or_default());
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split_whitespace().nth(1).unwrap_or("/");
    let path = path.split(['?', '#']).next().unwrap_or(path).trim_start_matches('/');
    let is_plain = !path.split('/').any(|part| part == "..") && !path.contains('%');
    let body = is_plain.then(|| std::fs::read(folder.join(path)).ok()).flatten();
    let (status, mime, body) = match body {
        Some(body) => ("200 OK", mime(path), body),
        None => ("404 Not Found", "text/plain", b"no such file".to_vec()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {mime}\r\ncontent-length: {length}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

fn mime(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
