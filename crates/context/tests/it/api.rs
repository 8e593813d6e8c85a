//! The API by hand: what is refused and in which words, keys, limits, what is answered twice, the log, its own description.

use std::collections::BTreeMap;

use exec::fetch::{Ask, Fetcher, Told};
use gatewright_context::serve::openapi;
use gatewright_context::wire::key::Key;
use serde_json::{Value, json};
use store_api::{Keys, Traffic};

use crate::{Place, Running, key, runtime};

/// Somebody who asks by hand.
struct Hand {
    base: String,
    key: Option<String>,
    admin: Option<String>,
}

impl Hand {
    fn new(running: &Running, key: &Key, admin: Option<&Key>) -> Self {
        Self { base: running.base(), key: Some(key.reveal()), admin: admin.map(Key::reveal) }
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Value>, more: &[(&str, &str)]) -> Told {
        let body = body.map(|body| body.to_string().into_bytes());
        self.raw(method, path, body, more).await
    }

    async fn raw(&self, method: &str, path: &str, body: Option<Vec<u8>>, more: &[(&str, &str)]) -> Told {
        let mut headers: Vec<(String, String)> =
            more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut add = |name: &str, value: &Option<String>| {
            if let Some(value) = value {
                headers.push((name.to_owned(), value.clone()));
            }
        };
        add("x-context-key", &self.key);
        add("x-admin-key", &self.admin);
        if body.is_some() && !more.iter().any(|(name, _)| *name == "content-type") {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        let (method, url) = (method.to_owned(), format!("{}{path}", self.base));
        tokio::task::spawn_blocking(move || {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let ask = Ask {
                method: &method,
                url: &url,
                headers: &headers,
                body: body.as_deref(),
                connecting: std::time::Duration::from_secs(5),
                timeout: std::time::Duration::from_secs(20),
                most: 16 << 20,
            };
            Fetcher::default().ask(&ask).unwrap()
        })
        .await
        .unwrap()
    }
}

fn json_of(told: &Told) -> Value {
    serde_json::from_slice(&told.body).unwrap_or(Value::Null)
}

/// Status and code of an error, which names its correlation id and says something.
fn error(told: &Told) -> (u16, String) {
    let body = json_of(told);
    let error = &body["error"];
    assert_eq!(error["correlation_id"].as_str(), told.header("x-correlation-id"), "{body}");
    assert!(error["message"].as_str().is_some_and(|message| message.len() > 8), "{body}");
    assert_eq!(error["retryable"].as_bool(), Some(matches!(told.status, 429 | 500 | 503)), "{body}");
    (told.status, error["code"].as_str().unwrap_or_default().to_owned())
}

fn sod(agent: &str) -> Value {
    json!({ "schema_version": "1.0", "agent": agent, "venture": "acme", "repo": "github.com/acme/app" })
}

fn with(mut value: Value, more: Value) -> Value {
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

#[test]
fn who_has_no_key_that_counts_is_let_nowhere_and_told_why() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, 1_000).await;
        let (own, admin) = (key(&place, "own", false).await, key(&place, "admin", true).await);
        let other = Key::new(own.id.clone(), &[9; 32]);
        let hand = |key: Option<String>, admin: Option<String>| Hand { base: running.base(), key, admin };
        for bad in [None, Some("x".to_owned()), Some(other.reveal()), Some(admin.reveal()[..40].to_owned())] {
            let told = hand(bad, None).ask("GET", "/machines", None, &[]).await;
            assert_eq!(error(&told), (401, "unauthorized".to_owned()));
        }
        let good = hand(Some(own.reveal()), None);
        assert_eq!(good.ask("GET", "/machines", None, &[]).await.status, 200);
        let twice = good.ask("GET", "/machines", None, &[("x-context-key", &own.reveal())]).await;
        assert_eq!(error(&twice), (400, "invalid_request".to_owned()), "two keys");
        let in_query = good.ask("GET", &format!("/machines?key={}", own.reveal()), None, &[]).await;
        assert_eq!(error(&in_query), (400, "invalid_request".to_owned()));
        assert!(!String::from_utf8_lossy(&in_query.body).contains(&own.reveal()));
        let told = good.ask("GET", "/admin/scripts", None, &[]).await;
        assert_eq!(error(&told), (401, "unauthorized".to_owned()), "a context's key administers nothing");
        let told = hand(None, Some(own.reveal())).ask("GET", "/admin/scripts", None, &[]).await;
        assert_eq!(error(&told), (403, "admin_required".to_owned()));
        let told = hand(None, Some(admin.reveal())).ask("GET", "/admin/scripts", None, &[]).await;
        assert_eq!(told.status, 200);
        for (path, status) in [("/health", 200), ("/ready", 200), ("/openapi.json", 200)] {
            assert_eq!(hand(None, None).ask("GET", path, None, &[]).await.status, status, "{path}");
        }
        place.store.revoke(own.id.clone()).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(5_100)).await;
        let told = good.ask("GET", "/machines", None, &[]).await;
        assert_eq!(error(&told), (401, "unauthorized".to_owned()), "revoked");
        running.end().await;
    });
}

#[test]
fn what_is_no_request_is_refused_in_words_and_changes_nothing() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, 1_000).await;
        let own = key(&place, "own", false).await;
        let hand = Hand::new(&running, &own, None);
        let body = |value: &Value| Some(value.to_string().into_bytes());
        let large = with(sod("a"), json!({ "branch": "x".repeat(1_100_000) }));
        type Case = (
            &'static str,
            &'static str,
            Option<Vec<u8>>,
            Vec<(&'static str, &'static str)>,
            u16,
            &'static str,
        );
        let cases: Vec<Case> = vec![
            ("POST", "/sod", Some(b"{".to_vec()), vec![], 400, "invalid_request"),
            ("POST", "/sod", Some(b"[]".to_vec()), vec![], 400, "invalid_request"),
            ("POST", "/sod", Some(br#"{"agent":"a","agent":"b"}"#.to_vec()), vec![], 400, "invalid_request"),
            ("POST", "/sod", body(&json!({ "agent": "a" })), vec![], 400, "schema_version_unsupported"),
            (
                "POST",
                "/sod",
                body(&with(sod("a"), json!({ "schema_version": "9" }))),
                vec![],
                400,
                "schema_version_unsupported",
            ),
            ("POST", "/sod", body(&with(sod("a"), json!({ "surprise": 1 }))), vec![], 400, "invalid_request"),
            (
                "POST",
                "/sod",
                body(&with(sod("a"), json!({ "issue": "seven" }))),
                vec![],
                400,
                "invalid_request",
            ),
            ("POST", "/sod", body(&with(sod(""), json!({}))), vec![], 400, "invalid_request"),
            (
                "POST",
                "/sod",
                body(&with(sod("a"), json!({ "branch": "a\0b" }))),
                vec![],
                400,
                "invalid_request",
            ),
            ("POST", "/sod", body(&large), vec![], 413, "too_large"),
            (
                "POST",
                "/sod",
                body(&sod("a")),
                vec![("content-type", "text/plain")],
                415,
                "unsupported_media_type",
            ),
            ("POST", "/sod", body(&sod("a")), vec![("idempotency-key", "a b")], 400, "invalid_request"),
            ("POST", "/sod", body(&sod("a")), vec![("host", "evil.example")], 400, "invalid_request"),
            ("GET", "/sod", None, vec![], 405, "method_not_allowed"),
            ("GET", "/nothing", None, vec![], 404, "not_found"),
            ("GET", "/notes?cursor=x", None, vec![], 400, "cursor_invalid"),
            ("GET", "/notes?limit=101", None, vec![], 400, "invalid_request"),
            ("GET", "/notes?limit=1&limit=2", None, vec![], 400, "invalid_request"),
            ("GET", "/notes?q=%22", None, vec![], 400, "invalid_request"),
            ("GET", "/notes/note_x", None, vec![], 400, "invalid_request"),
            ("GET", "/siblings?session_id=sess_00000000000000000000000000", None, vec![], 404, "not_found"),
        ];
        for (method, path, body, headers, status, code) in cases {
            let told = hand.raw(method, path, body, &headers).await;
            assert_eq!(error(&told), (status, code.to_owned()), "{method} {path} {headers:?}");
        }
        let live = hand.ask("GET", "/active", None, &[]).await;
        assert_eq!(json_of(&live)["total"], 0, "nothing began");
        let named = hand.ask("GET", "/machines", None, &[("x-correlation-id", "my-request-1")]).await;
        assert_eq!(named.header("x-correlation-id"), Some("my-request-1"));
        let named = hand.ask("GET", "/machines", None, &[("x-correlation-id", "no/name")]).await;
        assert!(named.header("x-correlation-id").is_some_and(|id| id.starts_with("corr_")));
        running.end().await;
    });
}

#[test]
fn a_day_over_the_wire_begins_goes_on_and_is_handed_over_once() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, 1_000).await;
        let (own, admin) = (key(&place, "own", false).await, key(&place, "admin", true).await);
        let hand = Hand::new(&running, &own, Some(&admin));
        let requirement = json!({ "schema_version": "1.0", "title": "How we work", "capability": "api" });
        assert_eq!(
            hand.ask("PUT", "/admin/doc-requirements/work.md", Some(requirement), &[]).await.status,
            200
        );
        let once = [("idempotency-key", "monday-1")];
        let first = hand.ask("POST", "/sod", Some(sod("a")), &once).await;
        let day = json_of(&first);
        assert_eq!((first.status, &day["resumed"]), (200, &json!(false)), "{day}");
        assert_eq!(day["morning"]["doc_audit"]["missing"], json!(["work.md"]));
        let again = hand.ask("POST", "/sod", Some(sod("a")), &once).await;
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(json_of(&again)["session"], day["session"]);
        let other = hand.ask("POST", "/sod", Some(sod("b")), &once).await;
        assert_eq!(error(&other), (409, "idempotency_reused".to_owned()));
        let id = &day["session"]["id"];
        let update =
            json!({ "schema_version": "1.0", "session_id": id, "branch": "topic", "expected_version": 9 });
        assert_eq!(
            error(&hand.ask("POST", "/update", Some(update), &[]).await),
            (409, "version_conflict".to_owned())
        );
        let beat = json!({ "schema_version": "1.0", "session_id": id });
        let alive = json_of(&hand.ask("POST", "/heartbeat", Some(beat.clone()), &[]).await);
        assert_eq!(alive["next_heartbeat_at"], "2026-11-22T00:10:00.000Z");
        let eod = json!({ "schema_version": "1.0", "session_id": id,
            "handoff": { "summary": "Half of it works.", "status": "in_progress", "issue": 7 } });
        let ended = json_of(&hand.ask("POST", "/eod", Some(eod), &[]).await);
        assert_eq!(
            (&ended["session"]["status"], &ended["handoff"]["issue"]),
            (&json!("ended"), &json!(7)),
            "{ended}"
        );
        let closed = hand.ask("POST", "/heartbeat", Some(beat), &[]).await;
        assert_eq!(error(&closed), (409, "session_closed".to_owned()));
        assert_eq!(json_of(&closed)["error"]["details"]["status"], "ended");
        let latest = "/handoffs/latest?venture=acme&repo=github.com/acme/app&track=";
        let latest = json_of(&hand.ask("GET", latest, None, &[]).await);
        assert_eq!(latest["handoff"]["id"], ended["handoff"]["id"]);
        running.end().await;
    });
}

#[test]
fn documents_are_written_by_administrators_generated_by_anyone_and_read_with_an_etag() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, 1_000).await;
        let (own, admin) = (key(&place, "own", false).await, key(&place, "admin", true).await);
        let hand = Hand::new(&running, &own, Some(&admin));
        let doc = |text: &str| Some(json!({ "schema_version": "1.0", "title": "API", "content": text }));
        assert_eq!(hand.ask("PUT", "/docs/acme/api.md", doc("made"), &[]).await.status, 200);
        assert_eq!(hand.ask("PUT", "/admin/docs/acme/api.md", doc("written"), &[]).await.status, 200);
        let told = hand.ask("PUT", "/docs/acme/api.md", doc("made again"), &[]).await;
        assert_eq!(error(&told), (409, "exists".to_owned()), "what was written stays");
        let read = hand.ask("GET", "/docs/acme/api.md", None, &[]).await;
        assert_eq!(json_of(&read)["document"]["content"], "written");
        let etag = read.header("etag").unwrap().to_owned();
        let same = hand.ask("GET", "/docs/acme/api.md", None, &[("if-none-match", &etag)]).await;
        assert_eq!((same.status, same.body.len()), (304, 0));
        assert_eq!(json_of(&hand.ask("GET", "/docs?scope=acme,global", None, &[]).await)["total"], 1);
        let large = hand.ask("PUT", "/admin/docs/global/large.md", doc(&"\n".repeat(1_000_000)), &[]).await;
        assert_eq!(large.status, 200, "a document of 1 MB, twice as long in JSON");
        let script = json!({ "schema_version": "1.0", "content": "echo hi" });
        assert_eq!(hand.ask("PUT", "/admin/scripts/setup.sh", Some(script), &[]).await.status, 200);
        let script = json_of(&hand.ask("GET", "/admin/scripts/setup.sh", None, &[]).await);
        assert_eq!(script["script"]["version"], 1);
        assert_eq!(json_of(&hand.ask("DELETE", "/admin/scripts/setup.sh", None, &[]).await)["done"], true);
        assert_eq!(json_of(&hand.ask("DELETE", "/admin/docs/acme/api.md", None, &[]).await)["done"], true);
        assert_eq!(json_of(&hand.ask("GET", "/docs/acme/api.md", None, &[]).await), json!({}));
        assert_eq!(json_of(&hand.ask("GET", "/ventures", None, &[]).await)["ventures"][0]["code"], "acme");
        running.end().await;
    });
}

#[test]
fn requests_are_limited_by_key_and_minute_over_all_servers_and_logged_without_what_was_asked() {
    for place in Place::all() {
        runtime().block_on(async {
            let (one, two) = (Running::start(&place, 5).await, Running::start(&place, 5).await);
            let (own, other) = (key(&place, "own", false).await, key(&place, "other", false).await);
            let both = [Hand::new(&one, &own, None), Hand::new(&two, &own, None)];
            let shared = place.store.is_server();
            let mut statuses = BTreeMap::new();
            for n in 0..12 {
                let told = both[n % 2].ask("GET", "/notes?q=confidential", None, &[]).await;
                *statuses.entry(told.status).or_insert(0) += 1;
                if told.status == 429 {
                    assert_eq!(error(&told).1, "rate_limited");
                    assert_eq!(told.header("retry-after"), Some("60"));
                }
            }
            // Over one file the counts are those of the process, which both are in here.
            assert_eq!(statuses, BTreeMap::from([(200, 5), (429, 7)]), "{} {shared}", place.kind);
            let hand = Hand::new(&one, &other, None);
            assert_eq!(hand.ask("GET", "/notes", None, &[]).await.status, 200, "keys do not meet");
            place.watch.turn(60_000);
            assert_eq!(both[0].ask("GET", "/notes", None, &[]).await.status, 200, "another minute");
            one.end().await;
            two.end().await;
            let log = place.store.logged(100).await.unwrap();
            assert_eq!(log.len(), 14, "every request is there when a server has ended");
            assert!(log.iter().all(|line| line.route == "/notes" && line.key.is_some()));
            assert!(!format!("{log:?}").contains("confidential"));
            let kept = place.store.key(own.id.clone()).await.unwrap().unwrap();
            assert!(kept.used.is_some());
        });
    }
}

#[test]
fn the_description_is_one_and_every_route_answers_as_it_says() {
    let document = openapi("1.2.3");
    assert_eq!(document["openapi"], "3.1.0");
    let schema = |at: &Value| {
        let mut schema = at.clone();
        schema["components"] = document["components"].clone();
        jsonschema::validator_for(&schema).unwrap()
    };
    let mut operations = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            operations += 1;
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{method} {path}");
            for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                let parameters = operation["parameters"].as_array().unwrap();
                let is_it = |p: &&Value| p["name"] == name && p["in"] == "path" && p["required"] == true;
                assert!(parameters.iter().any(|p| is_it(&p)), "{method} {path} {name}");
            }
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            assert_eq!(body.is_null(), !matches!(method.as_str(), "post" | "put"), "{method} {path}");
            if !body.is_null() {
                schema(body);
            }
        }
    }
    assert!(operations >= 35, "{operations}");
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, 1_000).await;
        let (own, admin) = (key(&place, "own", false).await, key(&place, "admin", true).await);
        let hand = Hand::new(&running, &own, Some(&admin));
        let day = json_of(&hand.ask("POST", "/sod", Some(sod("a")), &[]).await);
        let session = day["session"]["id"].as_str().unwrap().to_owned();
        let note = json!({ "schema_version": "1.0", "title": "t", "content": "some words", "tags": ["x"], "venture": "acme" });
        let note = json_of(&hand.ask("POST", "/notes", Some(note), &[]).await)["note"]["id"].as_str().unwrap().to_owned();
        let beat = json!({ "schema_version": "1.0", "session_id": session });
        let asked: Vec<(&str, &str, String, Option<Value>)> = vec![
            ("post", "/sod", "/sod".to_owned(), Some(sod("a"))),
            ("post", "/heartbeat", "/heartbeat".to_owned(), Some(beat)),
            ("post", "/checkpoint", "/checkpoint".to_owned(), Some(json!({ "schema_version": "1.0", "session_id": session, "summary": "so far" }))),
            ("get", "/checkpoints", format!("/checkpoints?session_id={session}"), None),
            ("get", "/sessions/{session_id}", format!("/sessions/{session}"), None),
            ("get", "/current", "/current?agent=a&venture=acme&repo=github.com/acme/app".to_owned(), None),
            ("get", "/siblings", format!("/siblings?session_id={session}&limit=5"), None),
            ("get", "/active", "/active?venture=acme".to_owned(), None),
            ("get", "/handoffs", "/handoffs?venture=acme&since=2026-01-01T00:00:00Z".to_owned(), None),
            ("get", "/docs", "/docs?scope=acme".to_owned(), None),
            ("get", "/docs/audit", "/docs/audit?venture=acme".to_owned(), None),
            ("get", "/notes", "/notes?q=words&venture=acme".to_owned(), None),
            ("get", "/notes/day", "/notes/day?venture=acme&most=5&characters=1000".to_owned(), None),
            ("get", "/notes/{id}", format!("/notes/{note}"), None),
            ("post", "/notes/{id}/update", format!("/notes/{note}/update"), Some(json!({ "schema_version": "1.0", "venture": null }))),
            ("post", "/notes/{id}/archive", format!("/notes/{note}/archive"), Some(json!({ "schema_version": "1.0" }))),
            ("get", "/ventures", "/ventures".to_owned(), None),
            ("post", "/machines", "/machines".to_owned(), Some(json!({ "schema_version": "1.0", "id": "mach_00000000000000000000000001", "name": "m", "os": "linux", "arch": "x", "version": "1", "build": "b" }))),
            ("get", "/machines", "/machines".to_owned(), None),
            ("post", "/machines/{id}/heartbeat", "/machines/mach_00000000000000000000000001/heartbeat".to_owned(), Some(json!({ "schema_version": "1.0" }))),
            ("get", "/admin/doc-requirements", "/admin/doc-requirements".to_owned(), None),
            ("get", "/admin/scripts", "/admin/scripts".to_owned(), None),
        ];
        for (method, route, path, body) in asked {
            let operation = &document["paths"][route][method];
            if let Some(body) = &body {
                let said = schema(&operation["requestBody"]["content"]["application/json"]["schema"]);
                let wrong: Vec<String> = said.iter_errors(body).map(|e| e.to_string()).collect();
                assert!(wrong.is_empty(), "{method} {route}: {wrong:?}");
            }
            let told = hand.ask(&method.to_uppercase(), &path, body, &[]).await;
            let answer = json_of(&told);
            assert_eq!(told.status, 200, "{method} {path}: {answer}");
            let said = schema(&operation["responses"]["200"]["content"]["application/json"]["schema"]);
            let wrong: Vec<String> = said.iter_errors(&answer).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "{method} {route}: {wrong:?} {answer}");
        }
        let served = hand.ask("GET", "/openapi.json", None, &[]).await;
        assert_eq!(json_of(&served), document);
        let wrong = json_of(&hand.ask("GET", "/nothing", None, &[]).await);
        let said = schema(&document["components"]["responses"]["error"]["content"]["application/json"]["schema"]);
        assert!(said.is_valid(&wrong), "{wrong}");
        running.end().await;
    });
}
