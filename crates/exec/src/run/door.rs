//! The one way to the network: a proxy (`CONNECT`, RFC 9110 §9.3.6) at the door of a run's world, for hosts that the tool
//! declares. It passes bytes on and reads none of them but the first: those must be a TLS greeting that names the same host, or
//! the servers of many that share an address would answer for one.
//!
//! A name is looked up here, once, and the address that was checked is the one that is connected to. Addresses of this
//! machine, of private networks and of clouds' metadata are refused whatever name leads to them.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::server::Acceptor;

use crate::address::is_public;

/// The port that is connected to: TLS alone.
const PORT: u16 = 443;

/// Most connections of one run at a time.
const MAX_CONNECTIONS: usize = 64;

/// Largest head of a request.
const MAX_HEAD: usize = 8 * 1024;

/// Largest TLS greeting.
const MAX_GREETING: usize = 64 * 1024;

/// How long a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(30);

/// Stands at the door until it is dropped.
pub(crate) struct Doorkeeper(Arc<Rules>);

/// Connects to a host that is allowed, or says with which status and why not.
type Dial = fn(&str) -> Result<TcpStream, (&'static str, &'static str)>;

struct Rules {
    hosts: Vec<String>,
    dial: Dial,
    reached: Mutex<BTreeSet<String>>,
    open: AtomicUsize,
    closed: AtomicBool,
}

impl Doorkeeper {
    /// Lets connections through to `hosts`.
    pub(crate) fn stand(listener: TcpListener, hosts: Vec<String>) -> Self {
        Self::with(listener, hosts, dialled)
    }

    fn with(listener: TcpListener, hosts: Vec<String>, dial: Dial) -> Self {
        let rules = Arc::new(Rules {
            hosts,
            dial,
            reached: Mutex::default(),
            open: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let kept = Arc::clone(&rules);
        std::thread::spawn(move || keep(&listener, &kept));
        Self(rules)
    }

    /// The hosts that were reached.
    pub(crate) fn reached(&self) -> Vec<String> {
        self.0.reached.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Drop for Doorkeeper {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Relaxed);
    }
}

fn keep(listener: &TcpListener, rules: &Arc<Rules>) {
    // The listener lives in the run's network: nobody out here can wake it, so it looks up now and then.
    if listener.set_nonblocking(true).is_err() {
        return;
    }
    while !rules.closed.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((caller, _)) => {
                if rules.open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                    rules.open.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let rules = Arc::clone(rules);
                std::thread::spawn(move || {
                    let _ = serve(caller, &rules);
                    rules.open.fetch_sub(1, Ordering::Relaxed);
                });
            }
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(_) => return,
        }
    }
}

fn serve(mut caller: TcpStream, rules: &Rules) -> std::io::Result<()> {
    caller.set_nonblocking(false)?;
    caller.set_read_timeout(Some(PATIENCE))?;
    caller.set_write_timeout(Some(PATIENCE))?;
    let head = head(&mut caller)?;
    let mut refuse = |status: &str, why: &str| {
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{why}",
            why.len()
        );
        caller.write_all(answer.as_bytes())
    };
    let Some((host, port)) = asked(&head) else {
        return refuse(
            "405 Method Not Allowed",
            "gatewright: only CONNECT to a host by TLS is let through\n",
        );
    };
    if port != PORT || !rules.hosts.iter().any(|allowed| is_allowed(allowed, &host)) {
        return refuse(
            "403 Forbidden",
            &format!("gatewright: {host}:{port} is not a host that this tool may reach\n"),
        );
    }
    let mut upstream = match (rules.dial)(&host) {
        Ok(upstream) => upstream,
        Err((status, why)) => return refuse(status, &format!("gatewright: {host} {why}\n")),
    };
    caller.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let Some(greeting) = greeting(&mut caller, &host)? else { return caller.shutdown(Shutdown::Both) };
    rules.reached.lock().unwrap_or_else(PoisonError::into_inner).insert(host);
    upstream.write_all(&greeting)?;
    // From here on either side may be silent for as long as the run lasts: who downloads says nothing meanwhile.
    caller.set_read_timeout(None)?;
    let (mut there, mut back) = (caller.try_clone()?, upstream.try_clone()?);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = std::io::copy(&mut there, &mut back);
            let _ = back.shutdown(Shutdown::Write);
        });
        let _ = std::io::copy(&mut upstream, &mut caller);
        let _ = caller.shutdown(Shutdown::Both);
    });
    Ok(())
}

/// Most addresses of one host that are tried.
const MAX_TRIED: usize = 4;

const UNREACHED: (&str, &str) = ("504 Gateway Timeout", "could not be reached");

/// Connects to an address that was checked.
fn dialled(host: &str) -> Result<TcpStream, (&'static str, &'static str)> {
    let all = (host, PORT).to_socket_addrs().map_err(|_| ("502 Bad Gateway", "was not found"))?;
    connected(all.filter(|address| is_public(address.ip())))
}

/// Connects to the first address that answers, each given its share of the time: one family may lead nowhere.
fn connected(addresses: impl Iterator<Item = SocketAddr>) -> Result<TcpStream, (&'static str, &'static str)> {
    let addresses: Vec<SocketAddr> = addresses.take(MAX_TRIED).collect();
    let Ok(many) = u32::try_from(addresses.len()) else { return Err(UNREACHED) };
    if many == 0 {
        return Err(("403 Forbidden", "is at no public address"));
    }
    addresses
        .iter()
        .find_map(|address| TcpStream::connect_timeout(address, PATIENCE / many).ok())
        .ok_or(UNREACHED)
}

/// The head of a request, to its empty line: byte by byte, since what follows it is not for us.
fn head(caller: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_HEAD || caller.read(&mut byte)? == 0 {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).map_err(|_| std::io::ErrorKind::InvalidData.into())
}

/// The first bytes of a connection, if they are a TLS greeting (RFC 8446 §4.1.2) for `host` (RFC 6066 §3).
fn greeting(caller: &mut TcpStream, host: &str) -> std::io::Result<Option<Vec<u8>>> {
    let (mut acceptor, mut bytes, mut part) = (Acceptor::default(), Vec::new(), [0; 4096]);
    while bytes.len() < MAX_GREETING {
        let read = caller.read(&mut part)?;
        let fresh = part.get(..read).unwrap_or_default();
        if fresh.is_empty() {
            return Ok(None);
        }
        bytes.extend_from_slice(fresh);
        let mut left = fresh;
        while !left.is_empty() {
            acceptor.read_tls(&mut left)?;
        }
        match acceptor.accept() {
            Ok(None) => {}
            Ok(Some(accepted)) => {
                let named =
                    accepted.client_hello().server_name().is_some_and(|n| n.eq_ignore_ascii_case(host));
                return Ok(named.then_some(bytes));
            }
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// The host and port of a `CONNECT`.
fn asked(head: &str) -> Option<(String, u16)> {
    let mut words = head.lines().next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let (host, port) = target.rsplit_once(':')?;
    let is_name = !host.is_empty()
        && host.len() <= 253
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
    (method == "CONNECT" && version.starts_with("HTTP/1.") && is_name && words.next().is_none())
        .then(|| Some((host.to_ascii_lowercase(), port.parse().ok()?)))?
}

fn is_allowed(allowed: &str, host: &str) -> bool {
    match allowed.strip_prefix("*.") {
        Some(domain) => {
            host.strip_suffix(domain).is_some_and(|below| below.ends_with('.') && below.len() > 1)
        }
        None => allowed == host,
    }
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

    #[test]
    fn only_a_connect_to_a_name_is_understood() {
        let asks = |line: &str| asked(&format!("{line}\r\n\r\n"));
        assert_eq!(asks("CONNECT proxy.golang.org:443 HTTP/1.1"), Some(("proxy.golang.org".into(), 443)));
        assert_eq!(asks("CONNECT Proxy.Golang.ORG:443 HTTP/1.1"), Some(("proxy.golang.org".into(), 443)));
        for not in [
            "GET http://x/ HTTP/1.1",
            "CONNECT x HTTP/1.1",
            "CONNECT [::1]:443 HTTP/1.1",
            "CONNECT x:443 HTTP/1.1 y",
            "CONNECT :443 HTTP/1.1",
            "CONNECT x:99999 HTTP/1.1",
            "CONNECT x@y:443 HTTP/1.1",
            "",
        ] {
            assert_eq!(asks(not), None, "{not}");
        }
    }

    /// What a client says first to `host`, and something after it that is no greeting.
    fn hello(host: &'static str) -> Vec<u8> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let mut client = rustls::ClientConnection::new(Arc::new(config), host.try_into().unwrap()).unwrap();
        let mut said = Vec::new();
        client.write_tls(&mut said).unwrap();
        said.extend_from_slice(b"hello");
        said
    }

    /// Dials a server of this machine's, which says what it hears, and goodbye when there is no more.
    #[expect(clippy::unnecessary_wraps, reason = "it stands for one that may fail")]
    fn echo(_: &str) -> Result<TcpStream, (&'static str, &'static str)> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut caller, _) = listener.accept().unwrap();
            let mut heard = Vec::new();
            caller.read_to_end(&mut heard).unwrap();
            heard.extend_from_slice(b" and goodbye");
            caller.write_all(&heard).unwrap();
        });
        Ok(TcpStream::connect(address).unwrap())
    }

    #[test]
    fn bytes_pass_both_ways_through_a_door_that_is_open_and_what_was_reached_is_told() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let door = Doorkeeper::with(listener, vec!["proxy.golang.org".into()], echo);
        let ask = |line: &str, then: &[u8]| {
            let mut caller = TcpStream::connect(address).unwrap();
            caller.write_all(format!("{line}\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
            caller.write_all(then).unwrap();
            caller.shutdown(Shutdown::Write).unwrap();
            let mut said = Vec::new();
            caller.read_to_end(&mut said).unwrap();
            String::from_utf8_lossy(&said).into_owned()
        };
        let connect = "CONNECT Proxy.golang.org:443 HTTP/1.1";
        // One door, many houses behind it: the name inside is the one that counts.
        for other in
            [&hello("drive.google.com")[..], b"GET / HTTP/1.1\r\nHost: proxy.golang.org\r\n\r\n", b""]
        {
            assert!(ask(connect, other).ends_with("\r\n\r\n"), "nothing comes back");
        }
        assert!(door.reached().is_empty());
        let said = ask(connect, &hello("proxy.golang.org"));
        assert!(said.starts_with("HTTP/1.1 200 ") && said.ends_with("hello and goodbye"), "{said}");
        assert_eq!(door.reached(), ["proxy.golang.org"]);
        for (line, status) in [
            ("CONNECT evil.example:443 HTTP/1.1", "403"),
            ("CONNECT proxy.golang.org:80 HTTP/1.1", "403"),
            ("GET https://proxy.golang.org/ HTTP/1.1", "405"),
        ] {
            let said = ask(line, b"");
            assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {said}");
        }
        assert_eq!(door.reached(), ["proxy.golang.org"], "what was refused was not reached");
        // The real one looks a name up and lets no address of this machine's through.
        assert_eq!(dialled("localhost").unwrap_err().0, "403 Forbidden");
        assert_eq!(dialled("nowhere.invalid").unwrap_err().0, "502 Bad Gateway");
    }

    #[test]
    fn hosts_are_allowed_by_name_and_below_a_domain() {
        assert!(
            is_allowed("proxy.golang.org", "proxy.golang.org")
                && is_allowed("*.npmjs.org", "registry.npmjs.org")
        );
        for host in ["npmjs.org", "evilnpmjs.org", ".npmjs.org", "registry.npmjs.org.evil.example"] {
            assert!(!is_allowed("*.npmjs.org", host), "{host}");
        }
    }
}
