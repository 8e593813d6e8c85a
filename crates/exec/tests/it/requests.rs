//! The request effect against a real server on loopback.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::thread;

use contract::{Code, TranscriptId};
use gatewright_exec::request::{Egress, Outcome};
use tokio_util::sync::CancellationToken;

use super::{Place, put};

/// Answers each connection with the next of `answers`; hands over what was asked.
fn server(answers: &'static [&'static str]) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let (asked, heard) = mpsc::channel();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = vec![0; 64 * 1024];
            let mut n = stream.read(&mut bytes).unwrap();
            while !String::from_utf8_lossy(&bytes[..n]).contains("{\"hello\"") {
                let more = stream.read(&mut bytes[n..]).unwrap();
                if more == 0 {
                    break;
                }
                n += more;
            }
            let _ = asked.send(String::from_utf8_lossy(&bytes[..n]).into_owned());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (host, heard)
}

fn plan(place: &Place, host: &str) -> contract::Plan {
    place
        .plan(|draft, view| {
            put(draft, view, "file", "x")?;
            let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
            draft.request("POST", &format!("http://{host}/kits"), headers, b"{\"hello\":1}".to_vec())
        })
        .unwrap()
}

fn apply(
    place: &Place,
    plan: &contract::Plan,
    egress: &Egress,
) -> Result<gatewright_exec::Applied, contract::Fault> {
    let (transcript, cancel) = (TranscriptId::random().unwrap(), CancellationToken::new());
    gatewright_exec::apply(&place.root, &place.state, plan, &transcript, Some(egress), &cancel)
}

#[test]
fn a_request_goes_out_last_with_a_uuid_v4_as_its_idempotency_key() {
    let (host, heard) = server(&["HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok"]);
    let place = Place::new(&[]);
    let plan = plan(&place, &host);
    assert_eq!(
        plan.effects.last().map(contract::Effect::reverse),
        Some(contract::effect::Reverse::Irreversible)
    );
    let egress = Egress::new(vec![host.clone()], true).with_credential(
        &host,
        "authorization",
        Arc::new(|| Some("Bearer ours".to_owned())),
    );
    let applied = apply(&place, &plan, &egress).unwrap();
    let Some(Outcome::Answered { status, key, body }) = applied.request else { panic!("{applied:?}") };
    assert_eq!((status, body.as_str()), (201, "ok"));
    let asked = heard.recv().unwrap();
    assert!(asked.contains(&format!("idempotency-key: {key}")), "{asked}");
    assert_eq!(key.as_str().as_bytes()[14], b'4');
    assert!(asked.contains("authorization: Bearer ours") && asked.starts_with("POST /kits "));
    let kept = std::fs::read_to_string(
        place.outside().join("state/applied").join(format!("{}.json", applied.receipt.transcript)),
    );
    assert!(!kept.unwrap().contains("Bearer ours"), "credentials are added at the door and never kept");
}

#[test]
fn a_request_that_was_taken_is_not_sent_again_by_the_same_plan_and_one_that_was_refused_is() {
    const TAKEN: &str = "HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n";
    let (host, heard) = server(&["HTTP/1.1 307 Moved\r\ncontent-length: 0\r\n\r\n", TAKEN, TAKEN]);
    let place = Place::new(&[]);
    let headers = Vec::new();
    let plan = place.plan(|draft, _| {
        draft.request("POST", &format!("http://{host}/x"), headers, b"{\"hello\":1}".to_vec())
    });
    let (plan, egress) = (plan.unwrap(), Egress::new(vec![host.clone()], true));
    let refused = apply(&place, &plan, &egress).unwrap().request.unwrap();
    assert!(!refused.is_success() && heard.recv().is_ok(), "a redirect is no success");
    assert!(apply(&place, &plan, &egress).unwrap().request.unwrap().is_success());
    assert!(heard.recv().is_ok());
    let again = apply(&place, &plan, &egress).unwrap();
    assert_eq!(again.request, None);
    assert!(heard.recv_timeout(std::time::Duration::from_millis(300)).is_err(), "sent once");
}

#[test]
fn a_refusal_by_the_other_side_is_said_and_the_files_stay() {
    let (host, _heard) = server(&["HTTP/1.1 422 No\r\ncontent-length: 0\r\n\r\n"]);
    let place = Place::new(&[]);
    let plan = plan(&place, &host);
    let applied = apply(&place, &plan, &Egress::new(vec![host], true)).unwrap();
    let fault = applied.request.unwrap().into_fault();
    assert_eq!(fault.code, Code::ToolExecutionFailed);
    assert!(fault.message.contains("answered 422"), "{}", fault.message);
    assert_eq!(place.read("file").as_deref(), Some("x"));
    place.assert_tidy();
}

#[test]
fn an_answer_that_nobody_heard_is_unknown_and_not_sent_again() {
    let (host, heard) = server(&["", ""]);
    let place = Place::new(&[]);
    let plan = plan(&place, &host);
    let applied = apply(&place, &plan, &Egress::new(vec![host], true)).unwrap();
    let fault = applied.request.unwrap().into_fault();
    assert!(fault.message.contains("unknown"), "{}", fault.message);
    assert!(heard.recv().is_ok());
    assert!(heard.recv_timeout(std::time::Duration::from_millis(300)).is_err(), "sent once");
}

#[test]
fn n04_n06_hosts_that_are_not_allowed_redirects_and_proxies_are_not_followed() {
    let place = Place::new(&[]);
    let denied = plan(&place, "127.0.0.1:9");
    let applied = apply(&place, &denied, &Egress::new(vec![], true)).unwrap();
    let fault = applied.request.unwrap().into_fault();
    assert!(fault.message.contains("not allowed"), "{}", fault.message);
    let (host, heard) =
        server(&["HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"]);
    let place = Place::new(&[]);
    let redirected = plan(&place, &host);
    let applied = apply(&place, &redirected, &Egress::new(vec![host], true)).unwrap();
    assert!(matches!(applied.request, Some(Outcome::Answered { status: 302, .. })));
    assert!(heard.recv().unwrap().starts_with("POST /kits"), "asked the host itself, not a proxy");
}

/// Refuses the first two connections, and keeps the keys that it saw.
struct Flaky(std::sync::Mutex<Vec<String>>);

impl gatewright_exec::request::Sender for Flaky {
    fn send(
        &self,
        _request: &contract::effect::Request,
        _body: &[u8],
        key: &contract::Key,
    ) -> Result<(u16, String), gatewright_exec::request::SendError> {
        let mut keys = self.0.lock().unwrap();
        keys.push(key.to_string());
        if keys.len() < 3 {
            return Err(gatewright_exec::request::SendError::NotSent("connection refused".into()));
        }
        Ok((200, String::new()))
    }
}

#[test]
fn a_retry_has_the_same_idempotency_key_and_another_call_has_another() {
    let place = Place::new(&[]);
    let sender = Flaky(std::sync::Mutex::default());
    for file in ["one", "two"] {
        let plan = place.plan(|draft, view| {
            put(draft, view, file, "x")?;
            draft.request("POST", "http://127.0.0.1:9/kits", vec![], vec![])
        });
        let (transcript, cancel) = (TranscriptId::random().unwrap(), CancellationToken::new());
        let applied = gatewright_exec::apply(
            &place.root,
            &place.state,
            &plan.unwrap(),
            &transcript,
            Some(&sender),
            &cancel,
        )
        .unwrap();
        assert!(applied.request.unwrap().is_success());
    }
    let keys = sender.0.lock().unwrap();
    assert_eq!(keys.len(), 4);
    assert!(keys[0] == keys[1] && keys[1] == keys[2] && keys[2] != keys[3], "{keys:?}");
}

#[test]
fn n10_an_answer_without_end_is_bounded() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = vec![0; 64 * 1024];
        let _ = stream.read(&mut bytes);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n");
        // Until the other side has had enough.
        while stream.write_all(&bytes).is_ok() {}
    });
    let place = Place::new(&[]);
    let plan = plan(&place, &host);
    let applied = apply(&place, &plan, &Egress::new(vec![host], true)).unwrap();
    let Some(Outcome::Answered { status: 200, body, .. }) = applied.request else { panic!("{applied:?}") };
    assert!(body.len() as u64 <= gatewright_exec::request::MAX_ANSWER);
    assert_eq!(place.read("file").as_deref(), Some("x"));
}
