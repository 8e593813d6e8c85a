//! TLS that ends here: who verifies it is served, who does not is not, and what cannot be served with is said at the
//! start.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::json;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

use super::Place;
use super::remote::Remote;
use super::wire::{line, meta};

/// An authority, and a certificate of its with its key, as PEM files.
pub(crate) struct Issued {
    pub(crate) root: CertificateDer<'static>,
    pub(crate) chain: PathBuf,
    pub(crate) key: PathBuf,
    /// The authority's own certificate.
    pub(crate) authority: PathBuf,
}

pub(crate) fn issue(place: &Place, called: &str) -> Issued {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // Of another name than what it signs, which OpenSSL would otherwise take for self-signed.
    authority.distinguished_name.push(DnType::CommonName, "authority of a test");
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), crate::secure::NAME.to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    let file = |end: &str, text: &str| {
        let path = place.scratch.path().join(format!("{called}.{end}"));
        std::fs::write(&path, text).unwrap();
        path
    };
    Issued {
        root: authority.der().clone(),
        authority: file("ca", &authority.pem()),
        chain: file("crt", &(certificate.pem() + &authority.pem())),
        key: file("key", &key.serialize_pem()),
    }
}

pub(crate) fn serve(place: &Place, issued: &Issued) -> Remote {
    let mut command = place.command();
    command.args(["serve", "--http", "127.0.0.1:0", "--insecure-loopback", "--tls-cert"]);
    Remote::with(command.arg(&issued.chain).arg("--tls-key").arg(&issued.key))
}

/// What is answered to one who trusts `root` alone, asks for `name` and speaks `version`.
fn ask(
    remote: &Remote,
    root: &CertificateDer<'static>,
    name: &'static str,
    version: &'static SupportedProtocolVersion,
    request: &str,
) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let client = ClientConnection::new(Arc::new(config), ServerName::try_from(name).unwrap()).unwrap();
    let socket = TcpStream::connect(&remote.address)?;
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut stream = StreamOwned::new(client, socket);
    stream.write_all(request.as_bytes())?;
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

fn call(remote: &Remote, apply: bool) -> String {
    let arguments = json!({ "source": "tokens", "platforms": ["css"], "apply": apply });
    let params = json!({ "_meta": meta("2026-07-28"), "name": "tokens_build", "arguments": arguments });
    let body = line(&json!(1), "tools/call", &params);
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: tokens_build\r\ncontent-length: {}\r\n\r\n{body}",
        remote.address,
        body.len()
    )
}

#[test]
fn whoever_verifies_the_certificate_is_served_and_nobody_else_is() {
    let place = Place::new();
    let (ours, other) = (issue(&place, "ours"), issue(&place, "other"));
    let remote = serve(&place, &ours);
    for version in [&TLS13, &TLS12] {
        for name in ["localhost", "127.0.0.1"] {
            let answer = ask(&remote, &ours.root, name, version, &call(&remote, false)).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            assert!(answer.contains("\"proposed\""), "{answer}");
        }
    }
    // A client that trusts somebody else, or wants another server, finds out.
    assert!(ask(&remote, &other.root, "localhost", &TLS13, &call(&remote, false)).is_err());
    assert!(ask(&remote, &ours.root, "tools.example", &TLS13, &call(&remote, false)).is_err());
    // Nothing is said without TLS, and what is no handshake holds nobody up.
    let plain = super::remote::raw(&remote.address, call(&remote, false).as_bytes());
    assert_eq!((plain.status, plain.body.as_str()), (0, ""));
    let silent: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&remote.address).unwrap()).collect();
    assert!(ask(&remote, &ours.root, "localhost", &TLS13, &call(&remote, false)).unwrap().contains("200 OK"));
    remote.finish();
    drop(silent);
    let records = place.json(&["audit", "tail", "--output", "json"]);
    assert_eq!(records.as_array().unwrap().len(), 5, "those who were not served called nothing");
}

#[test]
fn a_call_that_a_signal_cuts_short_is_answered_by_tls_as_well() {
    let place = Place::new();
    super::many_tokens(&place, 6_000);
    let issued = issue(&place, "ours");
    let mut remote = serve(&place, &issued);
    let size = || -> u64 {
        let segments = std::fs::read_dir(place.ledger().join("segments")).unwrap();
        segments.map(|e| e.unwrap().metadata().unwrap().len()).sum()
    };
    let before = size();
    let answer = std::thread::scope(|scope| {
        let asked =
            scope.spawn(|| ask(&remote, &issued.root, "localhost", &TLS13, &call(&remote, true)).unwrap());
        // Its intent is on record: it is being made.
        while size() == before {
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = remote.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        asked.join().unwrap()
    });
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"result\""), "{answer}");
    assert!(remote.child.wait().unwrap().success());
}

#[test]
fn a_certificate_that_cannot_be_served_with_is_said_at_the_start() {
    let place = Place::new();
    let (ours, other) = (issue(&place, "ours"), issue(&place, "other"));
    let file = |name: &str, text: &str| {
        let path = place.scratch.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let garbage = file("garbage.pem", "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n");
    let (empty, text) = (file("empty.pem", ""), file("text.pem", "no PEM\n"));
    let key = std::fs::read_to_string(&ours.key).unwrap();
    let cut = file("cut.key", &key[..key.len() / 2]);
    let mangled = file("mangled.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    let missing = place.scratch.path().join("missing.pem");
    let folder = place.scratch.path().to_owned();
    for (chain, key, expected) in [
        (&missing, &ours.key, "missing.pem cannot be read"),
        (&ours.chain, &missing, "missing.pem cannot be read"),
        (&folder, &ours.key, "cannot be read"),
        (&garbage, &ours.key, "the certificate"),
        (&empty, &ours.key, "the certificate's file holds none"),
        (&text, &ours.key, "the certificate's file holds none"),
        // The key where the certificate should be, and the other way round.
        (&ours.key, &ours.key, "the certificate's file holds none"),
        (&ours.chain, &ours.chain, "the private key"),
        (&ours.chain, &empty, "the private key"),
        (&ours.chain, &cut, "the private key"),
        (&ours.chain, &mangled, "--tls-key"),
        (&ours.chain, &other.key, "the certificate cannot be used"),
    ] {
        let (chain, key) = (chain.to_str().unwrap(), key.to_str().unwrap());
        let args =
            ["serve", "--http", "127.0.0.1:0", "--insecure-loopback", "--tls-cert", chain, "--tls-key", key];
        let (code, message) = place.fails(&args);
        assert!(message.contains(expected), "{chain} {key}: {message}");
        assert!((1..=2).contains(&code), "{code}: {message}");
        assert!(!message.contains("panicked") && !message.contains("BEGIN"), "{message}");
    }
    // One without the other, and either without HTTP, is a mistake on the command line.
    let (chain, key) = (ours.chain.to_str().unwrap(), ours.key.to_str().unwrap());
    let http = ["serve", "--http", "127.0.0.1:0", "--insecure-loopback"];
    assert_eq!(place.fails(&[&http[..], &["--tls-cert", chain]].concat()).0, 2);
    assert_eq!(place.fails(&[&http[..], &["--tls-key", key]].concat()).0, 2);
    assert_eq!(place.fails(&["serve", "--tls-cert", chain, "--tls-key", key]).0, 2);
}
