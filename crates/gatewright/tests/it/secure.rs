//! A server of this machine behind TLS: what a registry or a service of one's own is for programs that run confined.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::Place;
use crate::tls::issue;

/// What it is called: Go asks no proxy for `localhost` itself.
pub(crate) const NAME: &str = "packages.localhost";

/// What is asked: the method, the path with its query, the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// A status, a kind of content, and the content.
pub(crate) type Answer = (u16, &'static str, Vec<u8>);

/// It answers until it is dropped with the process.
pub(crate) struct Secure {
    /// Its name and its port.
    pub(crate) host: String,
    /// The certificate of its authority.
    pub(crate) authority: PathBuf,
    asked: Arc<Mutex<Vec<Ask>>>,
}

impl Secure {
    pub(crate) fn serve(place: &Place, answer: impl Fn(&Ask) -> Answer + Send + Sync + 'static) -> Self {
        let issued = issue(place, "secure");
        let chain = CertificateDer::pem_file_iter(&issued.chain).unwrap().map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(&issued.key).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let (config, answer) = (Arc::new(config), Arc::new(answer));
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let host = format!("{NAME}:{}", listener.local_addr().unwrap().port());
        let asked = Arc::new(Mutex::default());
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for caller in listener.incoming().map_while(Result::ok) {
                let (config, answer, kept) = (Arc::clone(&config), Arc::clone(&answer), Arc::clone(&kept));
                std::thread::spawn(move || converse(caller, config, &*answer, &kept));
            }
        });
        Self { host, authority: issued.authority, asked }
    }

    /// What it was asked until now.
    pub(crate) fn asked(&self) -> Vec<Ask> {
        self.asked.lock().unwrap().clone()
    }

    /// What lets confined programs come here.
    pub(crate) fn configuration(&self) -> String {
        format!("[security]\nprivate-hosts = [\"{NAME}\"]\nca-file = \"{}\"\n", self.authority.display())
    }
}

/// Answers until the caller says no more.
fn converse(
    caller: TcpStream,
    config: Arc<ServerConfig>,
    answer: &dyn Fn(&Ask) -> Answer,
    kept: &Mutex<Vec<Ask>>,
) -> Option<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(config).ok()?, caller);
    loop {
        let ask = heard(&mut stream)?;
        let (status, kind, body) = answer(&ask);
        kept.lock().unwrap().push(ask);
        let head =
            format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&body).ok()?;
        stream.flush().ok()?;
    }
}

fn heard(stream: &mut StreamOwned<ServerConnection, TcpStream>) -> Option<Ask> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(Ask { method, path, body })
}
