//! For a browser: a proxy (`CONNECT`, and requests in absolute form, RFC 9112 §3.2.2) to every address that its owner may reach.
//!
//! A name is looked up here, once for each connection, every address that it has must be allowed, and one that was checked is
//! the one that is connected to: a name that means something else the next time is checked the next time. A request in
//! absolute form has a connection of its own, which ends with its answer, so that no second one goes where the first did.

use std::collections::VecDeque;
use std::io::{Read, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Manner, PATIENCE, connected, head, refuse};
use crate::address::{Reach, resolved};

/// Largest head of a request or an answer.
const MAX_HEAD: usize = 256 * 1024;

/// Most bytes of one connection's answer.
const MAX_ANSWER: u64 = 64 << 20;

/// Most bytes of all that one door lets in, between two calls of [`Web::begin`].
const MAX_ALL: u64 = 256 << 20;

/// Most refusals that are remembered.
const MAX_REFUSED: usize = 200;

/// Looks a name up.
pub type Resolve = dyn Fn(&str, u16) -> std::io::Result<Vec<SocketAddr>> + Send + Sync;

/// Why a connection was not let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shut {
    /// What is to be said of the host.
    pub why: &'static str,
    /// Whether it may not be, rather than could not.
    pub is_refused: bool,
}

/// Whom a browser may reach.
pub struct Web {
    reach: Reach,
    resolve: Box<Resolve>,
    /// Where to (`host:port`), and why not.
    refused: Mutex<VecDeque<(String, Shut)>>,
    let_in: AtomicU64,
}

impl std::fmt::Debug for Web {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Web").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl Web {
    /// Lets through whatever `reach` allows, names looked up by the system.
    #[must_use]
    pub fn new(reach: Reach) -> Self {
        Self::resolving(reach, Box::new(resolved))
    }

    /// The same, names looked up by `resolve`.
    #[must_use]
    pub fn resolving(reach: Reach, resolve: Box<Resolve>) -> Self {
        Self { reach, resolve, refused: Mutex::default(), let_in: AtomicU64::new(0) }
    }

    /// What may be reached.
    #[must_use]
    pub const fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Counts what is let in from nothing again.
    pub fn begin(&self) {
        self.let_in.store(0, Ordering::Relaxed);
    }

    /// Why a connection to `host:port` was last refused, if it was.
    #[must_use]
    pub fn refusal(&self, to: &str) -> Option<Shut> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().rev().find(|(other, _)| other == to).map(|(_, shut)| *shut)
    }

    fn refused(&self, host: &str, port: u16, shut: Shut) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= MAX_REFUSED {
            refused.pop_front();
        }
        refused.push_back((format!("{host}:{port}"), shut));
    }

    /// What was said of a host that answers now is not said any more.
    fn reached(&self, host: &str, port: u16) {
        let to = format!("{host}:{port}");
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| *other != to);
    }

    /// Connects where it may.
    fn dial(&self, host: &str, port: u16) -> Result<TcpStream, super::Refusal> {
        const NOWHERE: super::Refusal = ("403 Forbidden", "is a name that leads to no machine");
        const PRIVATE: super::Refusal = ("403 Forbidden", "leads to an address that may not be reached");
        let bare = host.trim_end_matches('.');
        let literal = bare.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let is_short = !bare.contains('.') && bare != "localhost" && literal.is_none();
        if bare.rsplit('.').next() == Some("invalid") || (is_short && !self.reach.names(bare)) {
            return Err(NOWHERE);
        }
        // Looking a name up already tells it to somebody: what may not be reached is not even asked for.
        let is_local = bare == "localhost" || bare.ends_with(".localhost");
        if literal.is_none() && !is_local && !self.reach.is_wide() && !self.reach.names(bare) {
            return Err(PRIVATE);
        }
        let addresses = match literal {
            Some(ip) => vec![SocketAddr::new(ip, port)],
            None => (self.resolve)(bare, port).map_err(|_| ("502 Bad Gateway", "was not found"))?,
        };
        // One that may not be reached among those that may: whoever answers so is not to be trusted with the choice.
        if addresses.iter().any(|address| !self.reach.allows(bare, address.ip())) {
            return Err(PRIVATE);
        }
        connected(addresses.into_iter())
    }

    /// Passes on what `from` says, until it says no more or too much.
    fn pass(&self, from: &mut impl Read, to: &mut TcpStream, mut left: u64) -> std::io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = from.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|b| !b.is_empty()) else { return Ok(()) };
            let all = self.let_in.fetch_add(read as u64, Ordering::Relaxed);
            left = left.checked_sub(read as u64).ok_or(std::io::ErrorKind::FileTooLarge)?;
            if all > MAX_ALL {
                return Err(std::io::ErrorKind::FileTooLarge.into());
            }
            to.write_all(bytes)?;
        }
    }

    fn tunnel(&self, caller: &mut TcpStream, mut upstream: TcpStream) -> std::io::Result<()> {
        caller.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        let (mut there, mut back) = (caller.try_clone()?, upstream.try_clone()?);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _ = std::io::copy(&mut there, &mut back);
                let _ = back.shutdown(Shutdown::Write);
            });
            let passed = self.pass(&mut upstream, caller, MAX_ANSWER);
            let how = if passed.is_ok() { Shutdown::Write } else { Shutdown::Both };
            let _ = caller.shutdown(how);
            let _ = upstream.shutdown(Shutdown::Both);
        });
        let _ = caller.shutdown(Shutdown::Both);
        Ok(())
    }

    /// Passes one request on, and its answer back.
    fn exchange(
        &self,
        caller: &mut TcpStream,
        mut upstream: TcpStream,
        asked: &Asked,
    ) -> std::io::Result<()> {
        upstream.write_all(asked.head.as_bytes())?;
        let body = std::io::copy(&mut Read::by_ref(caller).take(asked.body), &mut upstream)?;
        if body < asked.body {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        // Interim answers come before the one that counts (RFC 9110 §15.2).
        loop {
            let said = head(&mut upstream, MAX_HEAD)?;
            let status = said.split(' ').nth(1).and_then(|code| code.parse::<u16>().ok()).unwrap_or(0);
            if status == 101 || status == 0 {
                return Err(std::io::ErrorKind::InvalidData.into());
            }
            if (100..200).contains(&status) {
                caller.write_all(said.as_bytes())?;
                continue;
            }
            caller.write_all(closing(&said).as_bytes())?;
            self.pass(&mut upstream, caller, MAX_ANSWER)?;
            return caller.shutdown(Shutdown::Both);
        }
    }
}

impl Manner for Arc<Web> {
    const MOST: usize = 256;

    fn serve(&self, mut caller: TcpStream) -> std::io::Result<()> {
        caller.set_nonblocking(false)?;
        caller.set_read_timeout(Some(PATIENCE))?;
        caller.set_write_timeout(Some(PATIENCE))?;
        let said = head(&mut caller, MAX_HEAD)?;
        let Some(asked) = Asked::read(&said) else {
            return refuse(
                &mut caller,
                ("400 Bad Request", "gatewright: not a request that a proxy passes on\n"),
            );
        };
        let upstream = match self.dial(&asked.host, asked.port) {
            Ok(upstream) => upstream,
            Err((status, why)) => {
                let is_refused = status.starts_with("403");
                self.refused(&asked.host, asked.port, Shut { why, is_refused });
                return refuse(&mut caller, (status, &format!("gatewright: {} {why}\n", asked.host)));
            }
        };
        upstream.set_read_timeout(Some(PATIENCE))?;
        upstream.set_write_timeout(Some(PATIENCE))?;
        self.reached(&asked.host, asked.port);
        if asked.is_tunnel {
            self.tunnel(&mut caller, upstream)
        } else {
            self.exchange(&mut caller, upstream, &asked)
        }
    }
}

/// What a browser asks of a proxy.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    host: String,
    port: u16,
    is_tunnel: bool,
    /// What is passed on as the head.
    head: String,
    /// Bytes of the body that follows.
    body: u64,
}

impl Asked {
    fn read(said: &str) -> Option<Self> {
        let mut lines = said.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if !version.starts_with("HTTP/1.") || words.next().is_some() || method.is_empty() {
            return None;
        }
        if method == "CONNECT" {
            let (host, port) = authority(target, None)?;
            return Some(Self { host, port, is_tunnel: true, head: String::new(), body: 0 });
        }
        let rest = target.strip_prefix("http://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (named, path) = rest.split_at(end);
        let (host, port) = authority(named, Some(80))?;
        let mut head =
            format!("{method} {}{path} {version}\r\n", if path.starts_with('/') { "" } else { "/" });
        let mut body = 0;
        for line in lines.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':')?;
            match name.to_ascii_lowercase().as_str() {
                // The length of a body must be known beforehand, and only once: else where one request ends is a guess.
                "transfer-encoding" => return None,
                "content-length" if body != 0 => return None,
                "content-length" => body = value.trim().parse().ok()?,
                "connection" | "keep-alive" | "proxy-connection" | "proxy-authorization" | "upgrade" => {
                    continue;
                }
                _ => {}
            }
            head.push_str(line);
            head.push_str("\r\n");
        }
        head.push_str("Connection: close\r\n\r\n");
        Some(Self { host, port, is_tunnel: false, head, body })
    }
}

/// The host and port of `host:port`; no user names.
fn authority(text: &str, usual: Option<u16>) -> Option<(String, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (text, usual),
    };
    let inner = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let is_v6 = inner.is_some_and(|h| h.parse::<std::net::Ipv6Addr>().is_ok());
    let is_name = !host.is_empty()
        && host.len() <= 253
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
    (is_v6 || is_name).then(|| Some((host.to_ascii_lowercase(), port?)))?
}

/// An answer's head, which says that the connection ends with it.
fn closing(said: &str) -> String {
    let mut out = String::with_capacity(said.len() + 24);
    for line in said.split("\r\n").filter(|line| !line.is_empty()) {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        if !matches!(name.as_str(), "connection" | "keep-alive" | "proxy-connection") {
            out.push_str(line);
            out.push_str("\r\n");
        }
    }
    out.push_str("Connection: close\r\n\r\n");
    out
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::Doorkeeper;
    use super::*;

    fn asked(line: &str) -> Option<(String, u16, bool)> {
        let read = Asked::read(&format!("{line}\r\nHost: x\r\n\r\n"))?;
        Some((read.host, read.port, read.is_tunnel))
    }

    #[test]
    fn requests_that_could_be_understood_in_two_ways_are_not_understood() {
        assert_eq!(asked("CONNECT Example.com:8443 HTTP/1.1"), Some(("example.com".into(), 8443, true)));
        assert_eq!(asked("CONNECT [::1]:443 HTTP/1.1"), Some(("[::1]".into(), 443, true)));
        assert_eq!(asked("GET http://a.example/x?y HTTP/1.1"), Some(("a.example".into(), 80, false)));
        assert_eq!(asked("POST http://a.example:81?y HTTP/1.1"), Some(("a.example".into(), 81, false)));
        for not in [
            "GET / HTTP/1.1",
            "GET https://a.example/ HTTP/1.1",
            "GET http://u@a.example/ HTTP/1.1",
            "GET http:///x HTTP/1.1",
            "GET http://a.example/ b HTTP/1.1",
            "CONNECT a.example HTTP/1.1",
            "CONNECT a.example:99999 HTTP/1.1",
            "GET http://[::1/ HTTP/1.1",
            "",
        ] {
            assert_eq!(asked(not), None, "{not}");
        }
        for head in [
            "POST http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
            "POST http://a/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\nno colon\r\n\r\n",
        ] {
            assert_eq!(Asked::read(head), None, "{head}");
        }
        let read = Asked::read(
            "GET http://a:81/p HTTP/1.1\r\nHost: a:81\r\nProxy-Connection: keep-alive\r\nUpgrade: x\r\n\r\n",
        );
        assert_eq!(read.unwrap().head, "GET /p HTTP/1.1\r\nHost: a:81\r\nConnection: close\r\n\r\n");
    }

    /// A server that answers every connection with how many requests it has seen on it.
    fn server() -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for caller in listener.incoming() {
                let mut caller = caller.unwrap();
                std::thread::spawn(move || {
                    let mut seen = 0;
                    while let Ok(said) = head(&mut caller, 4096) {
                        seen += 1;
                        let path = said.split(' ').nth(1).unwrap_or("").to_owned();
                        let body = format!("{seen} {path}");
                        let answer = format!(
                            "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: {}\r\n\r\n{body}",
                            body.len()
                        );
                        if caller.write_all(answer.as_bytes()).is_err() || said.contains("close") {
                            return;
                        }
                    }
                });
            }
        });
        address
    }

    fn door(web: Web) -> (Doorkeeper<Arc<Web>>, SocketAddr) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        (Doorkeeper::stand(listener, Arc::new(web)), address)
    }

    fn say(to: SocketAddr, text: &str) -> String {
        let mut caller = TcpStream::connect(to).unwrap();
        caller.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        caller.write_all(text.as_bytes()).unwrap();
        let mut said = Vec::new();
        let _ = caller.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    }

    #[test]
    fn a_second_request_does_not_go_where_the_first_was_let_through() {
        let upstream = server();
        let (_door, address) = door(Web::new(Reach::public().with_loopback()));
        let one = format!("GET http://{upstream}/one HTTP/1.1\r\nHost: {upstream}\r\n\r\n");
        let said = say(address, &format!("{one}GET http://10.0.0.1/two HTTP/1.1\r\nHost: x\r\n\r\n"));
        assert!(said.ends_with("\r\n\r\n1 /one"), "{said}");
        assert!(said.contains("Connection: close") && !said.contains("keep-alive"), "{said}");
        let tunnel = say(
            address,
            &format!("CONNECT {upstream} HTTP/1.1\r\n\r\nGET /in HTTP/1.1\r\nConnection: close\r\n\r\n"),
        );
        assert!(tunnel.starts_with("HTTP/1.1 200 Connection") && tunnel.ends_with("1 /in"), "{tunnel}");
    }

    #[test]
    fn n10_what_a_page_is_sent_without_end_is_cut_off() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let upstream = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for caller in listener.incoming() {
                let mut caller = caller.unwrap();
                std::thread::spawn(move || {
                    let _ = head(&mut caller, 4096);
                    let _ = caller.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
                    let part = vec![0; 1 << 20];
                    while caller.write_all(&part).is_ok() {}
                });
            }
        });
        let (keeper, address) = door(Web::new(Reach::public().with_loopback()));
        let sent = |first: &str| say(address, first).len() as u64;
        let asks = format!("GET http://{upstream}/ HTTP/1.1\r\n\r\n");
        let one = sent(&asks);
        assert!((MAX_ANSWER - (1 << 20)..=MAX_ANSWER + 4096).contains(&one), "{one}");
        let tunnel = sent(&format!("CONNECT {upstream} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"));
        assert!(tunnel <= MAX_ANSWER + 4096, "{tunnel}");
        let all: u64 = (0..4).map(|_| sent(&asks)).sum::<u64>() + one + tunnel;
        assert!(all <= MAX_ALL + (2 << 20), "{all}");
        keeper.manner().begin();
        assert!(sent(&asks) > 1 << 20, "a new count");
    }

    #[test]
    fn n02_n04_addresses_are_checked_after_they_were_looked_up_and_every_time_anew() {
        let upstream = server();
        let times = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&times);
        // First a public address, then this machine's: what rebinding does.
        let rebinding = move |_: &str, port: u16| {
            let first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            let ip: IpAddr = if first { "192.0.2.1".parse().unwrap() } else { "127.0.0.1".parse().unwrap() };
            Ok(vec![SocketAddr::new(ip, port)])
        };
        let (keeper, address) = door(Web::resolving(Reach::public(), Box::new(rebinding)));
        for _ in 0..2 {
            let said =
                say(address, &format!("GET http://evil.example:{}/ HTTP/1.1\r\n\r\n", upstream.port()));
            assert!(
                said.starts_with("HTTP/1.1 403"),
                "documentation addresses are not public either: {said}"
            );
        }
        assert_eq!(times.load(Ordering::Relaxed), 2, "each connection looks it up");
        assert!(keeper.manner().refusal(&format!("evil.example:{}", upstream.port())).is_some());
        // A name that may not be reached is not looked up: that would tell it to whoever answers.
        let asked = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&asked);
        let counting = move |_: &str, _: u16| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(Vec::new())
        };
        let (_keeper, address) = door(Web::resolving(Reach::nothing(), Box::new(counting)));
        assert!(
            say(address, "CONNECT secret.attacker.example:443 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403")
        );
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        // A name that leads to loopback is not loopback, where that is given.
        let inward = |_: &str, port: u16| Ok(vec![SocketAddr::new("127.0.0.1".parse().unwrap(), port)]);
        let (_keeper, address) = door(Web::resolving(Reach::public().with_loopback(), Box::new(inward)));
        let rebound = say(address, &format!("GET http://evil.example:{}/ HTTP/1.1\r\n\r\n", upstream.port()));
        assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
        let mixed = |_: &str, port: u16| {
            Ok(["1.1.1.1", "127.0.0.1"].map(|ip| SocketAddr::new(ip.parse().unwrap(), port)).to_vec())
        };
        let (_keeper, address) = door(Web::resolving(Reach::public(), Box::new(mixed)));
        assert!(say(address, "CONNECT mixed.example:443 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403"));
        let (_keeper, address) = door(Web::new(Reach::public()));
        for to in [
            "127.0.0.1:80",
            "[::1]:80",
            "localhost:80",
            "localhost.:80",
            "169.254.169.254:80",
            "10.0.0.1:443",
            "[::ffff:127.0.0.1]:80",
            "[fd00:ec2::254]:80",
            "root.invalid:443",
            "intranet:80",
            "0.0.0.0:80",
        ] {
            let said = say(address, &format!("CONNECT {to} HTTP/1.1\r\n\r\n"));
            assert!(said.starts_with("HTTP/1.1 403"), "{to}: {said}");
        }
        // Where loopback is given, metadata and private networks are not.
        let (_keeper, address) = door(Web::new(Reach::public().with_loopback()));
        for to in ["169.254.169.254:80", "10.0.0.1:443", "[fd00:ec2::254]:80", "192.168.0.1:80"] {
            assert!(
                say(address, &format!("CONNECT {to} HTTP/1.1\r\n\r\n")).starts_with("HTTP/1.1 403"),
                "{to}"
            );
        }
    }
}
