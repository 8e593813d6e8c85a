//! The resource server, against a real authorization server on loopback (npm `oidc-provider`).

use serde_json::{Value, json};

use super::remote::{Answer, Remote, request};
use super::scripts::{Peer, node};
use super::{Place, exists};

/// This server as its clients name it: by a name, as behind a proxy.
const RESOURCE: &str = "https://tools.example/mcp";

/// The authorization server.
pub(crate) struct Issuer {
    peer: Peer,
}

impl Issuer {
    pub(crate) fn start(algorithm: &str) -> Option<Self> {
        Some(Self { peer: Peer::start(&node()?, &["oidc.mjs", algorithm]) })
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.peer.ready[name].as_str().unwrap()
    }

    fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        let address = self.text("control").trim_start_matches("http://");
        let answer =
            request(address, method, path, &[("content-type", "application/json")], &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// A token of this kind for this server.
    pub(crate) fn mint(&self, kind: &str, subject: &str, scopes: &[&str]) -> String {
        let asked = json!({ "kind": kind, "audience": RESOURCE, "subject": subject, "scopes": scopes });
        self.control("POST", "/mint", &asked)["token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn asked(&self, path: &str) -> u64 {
        self.control("GET", "/requests", &json!({}))[path].as_u64().unwrap_or(0)
    }

    /// A configuration that trusts this issuer and gives `alice` the root.
    pub(crate) fn config(&self, more: &str) -> String {
        format!(
            "[oauth]\nresource = \"{RESOURCE}\"\n\
             [[oauth.issuers]]\nissuer = \"{}\"\n{more}\n\
             [[oauth.access]]\nsubjects = [\"alice\"]\nroots = [\"root\"]\n",
            self.text("issuer")
        )
    }
}

pub(crate) fn serve(place: &Place, config: &str) -> Remote {
    let dir = place.scratch.path().join("config/gatewright");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), config).unwrap();
    let mut command = place.command();
    command.env("INTROSPECTION_SECRET", "secret-of-gateway");
    Remote::with(command.args(["serve", "--http", "127.0.0.1:0"]))
}

/// A stateless call of the newer era, with whatever headers.
pub(crate) fn call(remote: &Remote, headers: &[(&str, &str)], name: &str, arguments: &Value) -> Answer {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "name": name, "arguments": arguments });
    let mut all =
        vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)];
    all.extend_from_slice(headers);
    remote.post(&all, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
}

fn build(remote: &Remote, token: &str, apply: bool) -> Answer {
    let arguments = json!({ "source": "tokens", "platforms": ["css"], "apply": apply });
    call(remote, &[("authorization", &format!("Bearer {token}"))], "tokens_build", &arguments)
}

#[test]
fn recipe_008_a_token_is_asked_for_found_by_metadata_and_let_in() {
    let Some(issuer) = Issuer::start("RS256") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    // Without a token: where to get one.
    let refused = call(&remote, &[], "tokens_build", &json!({}));
    let challenge = refused.header("www-authenticate").unwrap().to_owned();
    assert_eq!(refused.status, 401);
    assert!(!challenge.contains("error="), "nothing is wrong yet: {challenge}");
    let place_of = "https://tools.example/.well-known/oauth-protected-resource/mcp";
    assert!(challenge.contains(&format!("resource_metadata=\"{place_of}\"")), "{challenge}");
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let document = remote.request("GET", path, &[], "");
        assert_eq!((document.status, document.header("content-type")), (200, Some("application/json")));
        let document: Value = serde_json::from_str(&document.body).unwrap();
        assert_eq!(document["resource"], RESOURCE);
        assert_eq!(document["authorization_servers"], json!([issuer.text("issuer")]));
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
        let scopes = document["scopes_supported"].as_array().unwrap();
        assert!(
            scopes.contains(&json!("design:apply")) && scopes.contains(&json!("gatewright:read")),
            "{scopes:?}"
        );
    }
    // With one.
    let token = issuer.mint("good", "alice", &["design:apply"]);
    let applied = build(&remote, &token, true);
    assert_eq!(applied.status, 200, "{}", applied.body);
    assert_eq!(applied.message()["result"]["structuredContent"]["status"], "completed", "{}", applied.body);
    assert_eq!(build(&remote, &issuer.mint("audience_array", "alice", &["design:read"]), false).status, 200);
    // Health is nobody's secret.
    assert_eq!(remote.request("GET", "/readyz", &[], "").status, 200);
    remote.finish();
    let record = place.ok(&["audit", "tail", "--output", "json"]);
    assert!(record.contains(&format!("token:alice@{}", issuer.text("issuer"))), "{record}");
    assert!(!record.contains(&token), "no token is ever recorded");
}

#[test]
fn the_authorization_server_of_these_tests_is_what_it_says() {
    let Some(node) = node() else { return };
    let answer = node.run(&Place::new(), "oidc.check.mjs", &[]);
    let checked = answer["checked"].as_array().unwrap_or_else(|| panic!("{answer}"));
    for name in ["RS256: good", "ES256: wrong_key", "EdDSA: alg_none", "rotate: new keys only", "jwks: down"]
    {
        assert!(checked.contains(&json!(name)), "{name}: {answer}");
    }
    assert_eq!(answer["warnings"], json!([]));
}

#[test]
fn tokens_of_every_algorithm_are_read_and_those_of_others_refused_where_one_is_named() {
    let algorithms = ["RS256", "ES256", "EdDSA"];
    for algorithm in algorithms {
        let Some(issuer) = Issuer::start(algorithm) else { return };
        let place = Place::new();
        let remote = serve(&place, &issuer.config(&format!("algorithms = [\"{algorithm}\"]")));
        for signed in algorithms {
            let asked = json!({ "kind": "good", "audience": RESOURCE, "subject": "alice", "algorithm": signed,
                "scopes": ["design:read"] });
            let minted = issuer.control("POST", "/mint", &asked);
            assert_eq!(minted["header"]["alg"], signed);
            let answer = build(&remote, minted["token"].as_str().unwrap(), false);
            if signed == algorithm {
                assert_eq!(answer.status, 200, "{signed}: {}", answer.body);
                assert_eq!(answer.message()["result"]["structuredContent"]["status"], "proposed");
            } else {
                assert_eq!(answer.status, 401, "{signed} where {algorithm} is wanted: {}", answer.body);
                let says = &answer.message()["error"];
                assert_eq!(says["code"], -32_000, "{says}");
                assert!(says["message"].as_str().unwrap().contains("WWW-Authenticate"), "{says}");
            }
        }
        assert_eq!(build(&remote, &issuer.mint("tampered", "alice", &["design:read"]), false).status, 401);
        remote.finish();
    }
}

#[test]
fn h04_every_token_that_is_not_ours_is_refused_and_leaves_nothing() {
    let Some(issuer) = Issuer::start("ES256") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let scopes = ["design:apply"];
    for kind in [
        "wrong_audience",
        "wrong_issuer",
        "expired",
        "not_yet_valid",
        "no_expiry",
        "alg_none",
        "tampered",
        "hs256_with_public_key",
        "unknown_kid",
        "wrong_key",
        "embedded_key",
        "plain_jwt_type",
        "id_token_type",
        "no_subject",
        "no_audience",
        "opaque",
    ] {
        let token = issuer.mint(kind, if kind == "no_subject" { "" } else { "alice" }, &scopes);
        let refused = build(&remote, &token, true);
        assert_eq!(refused.status, 401, "{kind}: {}", refused.body);
        let challenge = refused.header("www-authenticate").unwrap_or_default();
        assert!(challenge.contains("error=\"invalid_token\""), "{kind}: {challenge}");
        assert!(!refused.body.contains(&token) && !challenge.contains(&token));
    }
    // The other places where a token might stand.
    let token = issuer.mint("good", "alice", &scopes);
    let bearer = format!("Bearer {token}");
    let json = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    for path in [format!("/mcp?access_token={token}"), format!("/mcp?token={token}")] {
        assert_eq!(remote.request("POST", &path, &json, "{}").status, 401, "a token in the query");
    }
    for header in ["", "Bearer", "Bearer ", "Basic YTpi", "bearer a b", &token, "Bearer a, Bearer b"] {
        let refused = call(&remote, &[("authorization", header)], "tokens_build", &json!({}));
        assert_eq!(refused.status, 401, "{header}");
    }
    let long = format!("Bearer {}", "x".repeat(20_000));
    assert_eq!(call(&remote, &[("authorization", &long)], "tokens_build", &json!({})).status, 401);
    let twice = [("authorization", bearer.as_str()), ("authorization", bearer.as_str())];
    assert_eq!(call(&remote, &twice, "tokens_build", &json!({})).status, 400);
    assert!(!exists(&place.root().join("artifacts")));
    assert_eq!(build(&remote, &token, true).status, 200, "after all that, a good one");
    remote.finish();
}

#[test]
fn recipe_009_a_token_for_another_resource_is_refused_though_all_else_is_right() {
    let Some(issuer) = Issuer::start("RS256") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let good = issuer.mint("good", "alice", &["design:apply"]);
    assert_eq!(build(&remote, &good, false).status, 200);
    let elsewhere = issuer.mint("wrong_audience", "alice", &["design:apply"]);
    let refused = build(&remote, &elsewhere, true);
    assert_eq!(refused.status, 401, "{}", refused.body);
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(challenge.contains("invalid_token") && challenge.contains("resource_metadata="), "{challenge}");
    assert!(!exists(&place.root().join("artifacts")));
    remote.finish();
}

#[test]
fn recipe_012_what_a_token_does_not_grant_is_one_challenge_and_a_record() {
    let Some(issuer) = Issuer::start("EdDSA") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let reader = issuer.mint("good", "alice", &["design:read"]);
    let rehearsed = build(&remote, &reader, false);
    assert_eq!(rehearsed.status, 200, "{}", rehearsed.body);
    let refused = build(&remote, &reader, true);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let challenges: Vec<&str> = refused.head.lines().filter(|l| l.starts_with("www-authenticate")).collect();
    assert_eq!(challenges.len(), 1, "one challenge");
    assert!(challenges[0].contains("error=\"insufficient_scope\""), "{challenges:?}");
    assert!(
        challenges[0].contains("scope=\"design:apply design:read\""),
        "all that is needed: {challenges:?}"
    );
    assert!(refused.message()["result"]["content"][0]["text"].as_str().unwrap().contains("forbidden"));
    // Through the menu's tools the inner tool's scope counts, and to find tools any scope will do.
    let bearer = format!("Bearer {reader}");
    let inner = json!({ "tool": "tokens_build", "arguments": { "source": "tokens", "platforms": ["css"], "apply": true } });
    assert_eq!(call(&remote, &[("authorization", &bearer)], "tool_call", &inner).status, 403);
    let found = call(&remote, &[("authorization", &bearer)], "tools_search", &json!({ "query": "tokens" }));
    assert_eq!(found.status, 200, "{}", found.body);
    let none = issuer.mint("no_scope", "alice", &[]);
    let bearer = format!("Bearer {none}");
    let refused = call(&remote, &[("authorization", &bearer)], "tools_search", &json!({ "query": "tokens" }));
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(!exists(&place.root().join("artifacts")));
    // A higher right of all toolsets covers the lower ones of each.
    let all = issuer.mint("good", "alice", &["gatewright:apply"]);
    assert_eq!(build(&remote, &all, true).status, 200);
    remote.finish();
    let records = place.json(&["audit", "tail", "--output", "json"]);
    let refusals = records.as_array().unwrap().iter().filter(|r| r.to_string().contains("forbidden")).count();
    assert_eq!(refusals, 3, "refusals are calls too: {records}");
}

#[test]
fn h14_plans_roots_and_sessions_are_their_owners() {
    let Some(issuer) = Issuer::start("RS256") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let scopes = ["gatewright:apply"];
    let (alice, bob) = (issuer.mint("good", "alice", &scopes), issuer.mint("good", "bob", &scopes));
    // Nobody gave bob a root.
    let refused = build(&remote, &bob, false);
    assert!(refused.message().to_string().contains("no_root"), "{}", refused.body);
    // Which roots there are is nobody's to find out.
    let own = format!("Bearer {bob}");
    let named = |root: &str| {
        let arguments = json!({ "source": "tokens", "platforms": ["css"], "root": root });
        let answer = call(&remote, &[("authorization", &own)], "tokens_build", &arguments).message();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        serde_json::from_str::<Value>(&text).unwrap()["error"].clone()
    };
    assert_eq!((&named("root"), &named("root")["code"]), (&named("nope"), &json!("no_root")));
    // A session that alice begins is not there for bob, nor for nobody; a fresh token of alice's goes on with it.
    let bearer = |token: &str| format!("Bearer {token}");
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let begun = remote.post(
        &[("authorization", &bearer(&alice))],
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
    );
    let session = begun.header("mcp-session-id").unwrap().to_owned();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let within = |token: &str| {
        let own = bearer(token);
        remote.post(
            &[("authorization", &own), ("mcp-session-id", &session), ("mcp-protocol-version", "2025-11-25")],
            &list,
        )
    };
    assert_eq!(within(&bob).status, 404);
    let without = remote.post(&[("mcp-session-id", &session), ("mcp-protocol-version", "2025-11-25")], &list);
    assert_eq!(without.status, 401);
    let again = issuer.mint("good", "alice", &scopes);
    assert_eq!(within(&again).status, 200);
    // Every request is looked at: the session does not outlive the token that began it.
    assert_eq!(within(&issuer.mint("expired", "alice", &scopes)).status, 401);
    remote.finish();
}

#[test]
fn h06_keys_are_fetched_seldom_rotate_and_cannot_be_had_from_elsewhere() {
    let Some(issuer) = Issuer::start("RS256") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let token = issuer.mint("good", "alice", &["design:read"]);
    assert_eq!(issuer.asked("/jwks"), 0, "nobody is asked before somebody calls");
    for _ in 0..5 {
        assert_eq!(build(&remote, &token, false).status, 200);
    }
    assert_eq!(issuer.asked("/jwks"), 1);
    // A flood of unknown keys asks no more than once in the cooldown.
    for _ in 0..20 {
        assert_eq!(build(&remote, &issuer.mint("unknown_kid", "alice", &["design:read"]), false).status, 401);
    }
    assert_eq!(issuer.asked("/jwks"), 1, "the issuer was asked a moment ago");
    remote.finish();
    // A server that cannot get keys says that it is not the caller's fault, and leaks no detail.
    for mode in ["down", "huge", "redirect"] {
        issuer.control("POST", "/jwks", &json!({ "mode": mode }));
        let before = issuer.asked("/elsewhere");
        let place = Place::new();
        let remote = serve(&place, &issuer.config(""));
        for _ in 0..3 {
            let refused = build(&remote, &token, false);
            assert_eq!(
                (refused.status, refused.header("retry-after")),
                (503, Some("5")),
                "{mode}: {}",
                refused.body
            );
            assert!(refused.message()["error"]["message"].as_str().unwrap().contains("again in 5 seconds"));
        }
        assert_eq!(issuer.asked("/elsewhere"), before, "no redirect is followed");
        remote.finish();
    }
    issuer.control("POST", "/jwks", &json!({ "mode": "ok" }));
    // Metadata that names another issuer is not this one's.
    issuer.control("POST", "/metadata", &json!({ "mode": "other_issuer" }));
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    assert_eq!(build(&remote, &token, false).status, 503);
    remote.finish();
    issuer.control("POST", "/metadata", &json!({ "mode": "ok" }));
    // New keys are found by a server that has none yet; the old ones are gone.
    issuer.control("POST", "/rotate", &json!({}));
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    assert_eq!(build(&remote, &token, false).status, 401);
    assert_eq!(build(&remote, &issuer.mint("good", "alice", &["design:read"]), false).status, 200);
    remote.finish();
}

#[test]
fn tokens_that_only_their_issuer_reads_are_asked_about() {
    let Some(issuer) = Issuer::start("RS256") else { return };
    let place = Place::new();
    let asks = "[oauth.issuers.introspection]\nclient-id = \"gateway\"\nclient-secret-env = \"INTROSPECTION_SECRET\"\n";
    let remote = serve(&place, &issuer.config(asks));
    let opaque = issuer.mint("opaque", "alice", &["design:read"]);
    assert!(!opaque.contains('.'));
    for _ in 0..5 {
        let rehearsed = build(&remote, &opaque, false);
        assert_eq!(rehearsed.status, 200, "{}", rehearsed.body);
    }
    assert_eq!(issuer.asked("/token/introspection"), 1, "an answer counts for a while");
    assert_eq!(build(&remote, &opaque, true).status, 403);
    assert_eq!(build(&remote, "made-up", false).status, 401);
    // Signed ones are read here.
    assert_eq!(build(&remote, &issuer.mint("good", "alice", &["design:read"]), false).status, 200);
    remote.finish();
}

#[test]
fn a_configuration_that_would_let_the_wrong_ones_in_is_refused_at_the_start() {
    let place = Place::new();
    let dir = place.scratch.path().join("config/gatewright");
    std::fs::create_dir_all(&dir).unwrap();
    let issuer = "[[oauth.issuers]]\nissuer = \"https://id.example\"\n";
    let resource = format!("[oauth]\nresource = \"{RESOURCE}\"\n");
    for (config, expected) in [
        (resource.clone(), "no issuer"),
        (format!("[oauth]\nresource = \"http://tools.example/mcp\"\n{issuer}"), "resource"),
        (format!("{resource}{issuer}{issuer}"), "stands twice"),
        (format!("{resource}{issuer}algorithms = [\"HS256\"]\n"), "HS256"),
        (format!("{resource}{issuer}algorithms = [\"none\"]\n"), "none"),
        (format!("{resource}{issuer}jwks-uri = \"http://id.example/keys\"\n"), "jwks-uri"),
        (format!("{resource}[[oauth.issuers]]\nissuer = \"http://id.example\"\n"), "issuer"),
        (format!("{resource}{issuer}algorithm = [\"RS256\"]\n"), "did you mean `algorithms`"),
    ] {
        std::fs::write(dir.join("config.toml"), &config).unwrap();
        let (_, message) = place.fails(&["serve", "--http", "127.0.0.1:0"]);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    // On standard input nobody asks for tokens; what is said about them must still be understood.
    let (_, message) = place.fails(&["serve"]);
    assert!(message.contains("did you mean `algorithms`"), "{message}");
}

#[test]
fn what_a_challenge_asks_for_can_be_had_and_scopes_of_others_open_nothing() {
    let Some(issuer) = Issuer::start("ES256") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config(""));
    let metadata = remote.request("GET", "/.well-known/oauth-protected-resource/mcp", &[], "").body;
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let supported = metadata["scopes_supported"].as_array().unwrap();
    // Nothing of ours, and something that only looks like it.
    let foreign = json!({ "kind": "good", "audience": RESOURCE, "subject": "alice", "claims": { "scope": "calendar:read openid" } });
    let foreign = issuer.control("POST", "/mint", &foreign)["token"].as_str().unwrap().to_owned();
    for token in [issuer.mint("no_scope", "alice", &[]), foreign] {
        let bearer = format!("Bearer {token}");
        let with = [("authorization", bearer.as_str())];
        let search = call(&remote, &with, "tools_search", &json!({ "query": "x" }));
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "resources/list"), with[0]];
        let list =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": { "_meta": meta } });
        for refused in [search, remote.post(&headers, &list)] {
            assert_eq!(refused.status, 403, "{}", refused.body);
            let challenge = refused.header("www-authenticate").unwrap();
            let asked = challenge.split("scope=\"").nth(1).unwrap().split('"').next().unwrap();
            assert!(
                !asked.is_empty() && asked.split(' ').all(|s| supported.contains(&json!(s))),
                "{challenge}"
            );
        }
    }
    // What does not fit is not a matter of scopes.
    let reader = format!("Bearer {}", issuer.mint("good", "alice", &["design:read"]));
    let mistyped = json!({ "tool": "tokens_bild", "arguments": {} });
    let answer = call(&remote, &[("authorization", &reader)], "tool_call", &mistyped);
    assert!(
        answer.status == 200 && answer.body.contains("tokens_build"),
        "{} {}",
        answer.status,
        answer.body
    );
    // Nor is a request that is refused for another reason.
    let odd = call(
        &remote,
        &[("authorization", &reader), ("origin", "https://evil.example")],
        "tokens_build",
        &json!({ "apply": true }),
    );
    assert_eq!((odd.status, odd.header("www-authenticate")), (403, None), "{}", odd.body);
    remote.finish();
}

#[test]
fn plans_and_records_of_others_do_not_exist() {
    let Some(issuer) = Issuer::start("ES256") else { return };
    let place = Place::new();
    let remote = serve(&place, &issuer.config("").replace("[\"alice\"]", "[\"alice\", \"bob\"]"));
    let [alice, bob] = ["alice", "bob"].map(|who| issuer.mint("good", who, &["gatewright:read"]));
    let rehearsed = build(&remote, &alice, false).message()["result"]["structuredContent"].clone();
    let ask = |token: &str, method: &str, name: Option<&str>, mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let bearer = format!("Bearer {token}");
        let mut headers = vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("authorization", bearer.as_str()),
        ];
        headers.extend(name.map(|name| ("mcp-name", name)));
        remote
            .post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
            .message()
    };
    let uris = [
        format!("plan://{}", rehearsed["plan"]["id"].as_str().unwrap()),
        format!("transcript://{}", rehearsed["metadata"]["transcript"].as_str().unwrap()),
    ];
    for uri in &uris {
        let read = |token: &str| ask(token, "resources/read", Some(uri), json!({ "uri": uri }));
        assert!(read(&alice)["result"]["contents"][0]["text"].is_string(), "{}", read(&alice));
        assert_eq!(read(&bob)["error"]["code"], -32602, "{}", read(&bob));
    }
    let listed = |token: &str| {
        let listed = ask(token, "resources/list", None, json!({}))["result"]["resources"].clone();
        let is_own = |one: &&Value| !one["uri"].as_str().unwrap().starts_with("skill://gatewright/");
        listed.as_array().unwrap().iter().filter(is_own).count()
    };
    assert_eq!((listed(&alice), listed(&bob)), (2, 0));
    let about = json!({ "ref": { "type": "ref/prompt", "name": "review_change" }, "argument": { "name": "plan", "value": "" } });
    let completed = |token: &str| {
        ask(token, "completion/complete", None, about.clone())["result"]["completion"]["total"].clone()
    };
    assert_eq!((completed(&alice), completed(&bob)), (json!(1), json!(0)));
    remote.finish();
}

#[test]
fn access_that_could_mean_somebody_else_is_refused_at_the_start() {
    let place = Place::new();
    let dir = place.scratch.path().join("config/gatewright");
    std::fs::create_dir_all(&dir).unwrap();
    let base =
        format!("[oauth]\nresource = \"{RESOURCE}\"\n[[oauth.issuers]]\nissuer = \"https://id.example\"\n");
    let second = "[[oauth.issuers]]\nissuer = \"https://other.example\"\n";
    let access = |more: &str| format!("[[oauth.access]]\nsubjects = [\"alice\"]\n{more}\n");
    for (config, expected) in [
        (format!("{base}{}", access("roots = [\"rot\"]")), "no root \"rot\""),
        (format!("{base}{}", access("roots = [\"root\"]\nissuer = \"https://id.exmple\"")), "no issuer"),
        (format!("{base}{second}{}", access("roots = [\"root\"]")), "several issuers"),
        (base.replace("id.example", "id.example/a@b"), "`@`"),
        (base.replace("/mcp", "/:mcp"), "characters in its path"),
    ] {
        std::fs::write(dir.join("config.toml"), &config).unwrap();
        let (_, message) = place.fails(&["serve", "--http", "127.0.0.1:0"]);
        assert!(message.contains(expected), "{expected}: {message}");
    }
}
