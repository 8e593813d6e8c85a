//! For programs: a proxy (`CONNECT`, RFC 9110 §9.3.6) to the hosts that the tool declares. It passes bytes on and reads none of
//! them but the first: those must be a TLS greeting that names the same host, or the servers of many that share an address
//! would answer for one.
//!
//! A name is looked up here, once, and the address that was checked is the one that is connected to. Addresses of this
//! machine, of private networks and of clouds' metadata are refused whatever name leads to them.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::server::Acceptor;

use super::{Manner, PATIENCE, Refusal, connected, head, refuse};
use crate::address::{TLS, is_named, place, resolved};
use crate::run::Outside;

/// Most hosts that are told to have been refused.
const MAX_REFUSED: usize = 20;

/// Largest head of a request.
const MAX_HEAD: usize = 8 * 1024;

/// Largest TLS greeting.
const MAX_GREETING: usize = 64 * 1024;

/// Connects to a host that is allowed, or says with which status and why not.
type Dial = Box<dyn Fn(&str, u16) -> Result<TcpStream, Refusal> + Send + Sync>;

/// Lets connections through to the hosts that it was told. Whatever the port, TLS alone is spoken.
pub(crate) struct Hosts {
    names: Vec<(String, u16)>,
    dial: Dial,
    asked: Mutex<Asked>,
}

/// The hosts that somebody asked for.
#[derive(Default)]
struct Asked {
    reached: BTreeSet<String>,
    refused: BTreeSet<String>,
}

impl Hosts {
    /// Lets connections through to `hosts`, at the addresses that hosts outside may be at.
    pub(crate) fn new(hosts: &[String], outside: Arc<Outside>) -> Self {
        Self::with(hosts, Box::new(move |host, port| dialled(host, port, &outside)))
    }

    fn with(hosts: &[String], dial: Dial) -> Self {
        Self { names: hosts.iter().map(|named| place(named)).collect(), dial, asked: Mutex::default() }
    }

    /// The hosts that were reached, and those that were asked for and not let through.
    pub(crate) fn asked_for(&self) -> (Vec<String>, Vec<String>) {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        (asked.reached.iter().cloned().collect(), asked.refused.iter().cloned().collect())
    }

    fn names(&self, host: &str, port: u16) -> bool {
        self.names.iter().any(|(named, at)| *at == port && is_named(named, host))
    }

    fn note(&self, host: &str, port: u16, is_reached: bool) {
        let told = if port == TLS { host.to_owned() } else { format!("{host}:{port}") };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if is_reached {
            asked.reached.insert(told);
        } else if asked.refused.len() < MAX_REFUSED {
            asked.refused.insert(told);
        }
    }
}

impl Manner for Hosts {
    const MOST: usize = 64;

    fn serve(&self, caller: TcpStream) -> std::io::Result<()> {
        serve(caller, self)
    }
}

fn serve(mut caller: TcpStream, rules: &Hosts) -> std::io::Result<()> {
    caller.set_nonblocking(false)?;
    caller.set_read_timeout(Some(PATIENCE))?;
    caller.set_write_timeout(Some(PATIENCE))?;
    let head = head(&mut caller, MAX_HEAD)?;
    let mut refuse = |status: &str, why: &str| refuse(&mut caller, (status, why));
    let Some((host, port)) = asked(&head) else {
        return refuse(
            "405 Method Not Allowed",
            "gatewright: only CONNECT to a host by TLS is let through\n",
        );
    };
    if !rules.names(&host, port) {
        rules.note(&host, port, false);
        return refuse(
            "403 Forbidden",
            &format!("gatewright: {host}:{port} is not a host that this tool may reach\n"),
        );
    }
    let mut upstream = match (rules.dial)(&host, port) {
        Ok(upstream) => upstream,
        Err((status, why)) => {
            rules.note(&host, port, false);
            return refuse(status, &format!("gatewright: {host} {why}\n"));
        }
    };
    caller.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let Some(greeting) = greeting(&mut caller, &host)? else { return caller.shutdown(Shutdown::Both) };
    rules.note(&host, port, true);
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

/// Connects to an address that was checked.
fn dialled(host: &str, port: u16, outside: &Outside) -> Result<TcpStream, Refusal> {
    let all = resolved(host, port).map_err(|_| ("502 Bad Gateway", "was not found"))?;
    connected(all.into_iter().filter(|address| outside.reach().allows(host, address.ip())))
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Arc;

    use super::super::Doorkeeper;
    use super::*;

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
    fn echo(_: &str, _: u16) -> Result<TcpStream, Refusal> {
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
        let named = ["proxy.golang.org".to_owned(), "packages.corp.example:8443".to_owned()];
        let door = Doorkeeper::stand(listener, Hosts::with(&named, Box::new(echo)));
        let reached = || door.manner().asked_for().0;
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
        assert!(reached().is_empty());
        let said = ask(connect, &hello("proxy.golang.org"));
        assert!(said.starts_with("HTTP/1.1 200 ") && said.ends_with("hello and goodbye"), "{said}");
        assert_eq!(reached(), ["proxy.golang.org"]);
        for (line, status) in [
            ("CONNECT evil.example:443 HTTP/1.1", "403"),
            ("CONNECT proxy.golang.org:80 HTTP/1.1", "403"),
            ("CONNECT proxy.golang.org:8443 HTTP/1.1", "403"),
            ("CONNECT packages.corp.example:443 HTTP/1.1", "403"),
            ("GET https://proxy.golang.org/ HTTP/1.1", "405"),
        ] {
            let said = ask(line, b"");
            assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {said}");
        }
        assert_eq!(reached(), ["proxy.golang.org"], "what was refused was not reached");
        let refused =
            ["evil.example", "packages.corp.example", "proxy.golang.org:80", "proxy.golang.org:8443"];
        assert_eq!(door.manner().asked_for().1, refused);
        let said = ask("CONNECT packages.corp.example:8443 HTTP/1.1", &hello("packages.corp.example"));
        assert!(said.ends_with("hello and goodbye"), "{said}");
        // The real one looks a name up and lets no address of this machine's through, unless the user names the host.
        let (public, named) = (Outside::default(), Outside::new(vec!["localhost".into()], None));
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(dialled("localhost", port, &public).unwrap_err().0, "403 Forbidden");
        assert!(dialled("localhost", port, &named).is_ok());
        assert_eq!(dialled("nowhere.invalid", 443, &public).unwrap_err().0, "502 Bad Gateway");
    }
}
