//! The one way to the network: a proxy at the door of a world, whose listening socket came out of it.
//!
//! - [`hosts`]: for programs, to the hosts that a tool declares, by TLS alone.
//! - [`web`]: for a browser, to whatever its owner may reach.

pub(crate) mod hosts;
pub(crate) mod web;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(30);

/// A status line's code and word, and why nothing was let through.
type Refusal = (&'static str, &'static str);

/// Whom a door lets through.
pub(crate) trait Manner: Send + Sync + 'static {
    /// Most connections at a time.
    const MOST: usize;

    /// Serves one connection to its end.
    fn serve(&self, caller: TcpStream) -> std::io::Result<()>;
}

/// Stands at the door until it is dropped.
pub(crate) struct Doorkeeper<M> {
    manner: Arc<M>,
    closed: Arc<AtomicBool>,
}

impl<M: Manner> Doorkeeper<M> {
    /// Stands at `listener`.
    pub(crate) fn stand(listener: TcpListener, manner: M) -> Self {
        let (manner, closed) = (Arc::new(manner), Arc::new(AtomicBool::new(false)));
        let (kept, over) = (Arc::clone(&manner), Arc::clone(&closed));
        std::thread::spawn(move || keep(&listener, &kept, &over));
        Self { manner, closed }
    }

    /// What it goes by.
    pub(crate) fn manner(&self) -> &Arc<M> {
        &self.manner
    }
}

impl<M> Drop for Doorkeeper<M> {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

fn keep<M: Manner>(listener: &TcpListener, manner: &Arc<M>, closed: &AtomicBool) {
    // The listener lives in the run's network: nobody out here can wake it, so it looks up now and then.
    if listener.set_nonblocking(true).is_err() {
        return;
    }
    let open = Arc::new(AtomicUsize::new(0));
    while !closed.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((caller, _)) => {
                if open.fetch_add(1, Ordering::Relaxed) >= M::MOST {
                    open.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let (manner, open) = (Arc::clone(manner), Arc::clone(&open));
                std::thread::spawn(move || {
                    let _ = manner.serve(caller);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(_) => return,
        }
    }
}

/// Answers that nothing is let through, and why: to people in the text, to a browser's owner in a field of the head.
fn refuse(caller: &mut TcpStream, (status, why): (&str, &str)) -> std::io::Result<()> {
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{why}",
        why.len()
    );
    caller.write_all(answer.as_bytes())
}

/// Most addresses of one host that are tried.
const MAX_TRIED: usize = 4;

const UNREACHED: Refusal = ("504 Gateway Timeout", "could not be reached");

/// Connects to the first address that answers, each given its share of the time: one family may lead nowhere.
fn connected(addresses: impl Iterator<Item = SocketAddr>) -> Result<TcpStream, Refusal> {
    let addresses: Vec<SocketAddr> = addresses.take(MAX_TRIED).collect();
    let Ok(many) = u32::try_from(addresses.len()) else { return Err(UNREACHED) };
    if many == 0 {
        return Err(("403 Forbidden", "is at no address that may be reached"));
    }
    addresses
        .iter()
        .find_map(|address| TcpStream::connect_timeout(address, PATIENCE / many).ok())
        .ok_or(UNREACHED)
}

/// The head of a request, to its empty line: byte by byte, since what follows it is not for us.
fn head(caller: &mut TcpStream, most: usize) -> std::io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= most || caller.read(&mut byte)? == 0 {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).map_err(|_| std::io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_leads_nowhere_does_not_hide_one_that_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let answers = listener.local_addr().unwrap();
        assert_eq!(connected([closed, answers].into_iter()).unwrap().peer_addr().unwrap(), answers);
        assert_eq!(connected([closed].into_iter()).unwrap_err(), UNREACHED);
        assert_eq!(connected(std::iter::empty()).unwrap_err().0, "403 Forbidden");
    }
}
