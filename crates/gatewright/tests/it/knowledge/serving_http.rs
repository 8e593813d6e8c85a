//! Skills are served over HTTP, to a principal those that it finds.

use std::fs;

use serde_json::{Value, json};

use super::serving::{OURS, house_style, skill, uris};
use crate::oauth::{self, Issuer};
use crate::remote::Remote;
use crate::wire::meta;

/// A request of the newer era over HTTP.
fn over_http(remote: &Remote, token: Option<&str>, method: &str, mut params: Value) -> (u16, Value) {
    params["_meta"] = meta("2026-07-28");
    let bearer = token.map(|token| format!("Bearer {token}"));
    let uri = params["uri"].as_str().map(str::to_owned);
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    if method == "resources/read" {
        headers.extend(uri.as_deref().map(|uri| ("mcp-name", uri)));
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let answer = remote.post(&headers, &body);
    let message = if answer.body.is_empty() { Value::Null } else { answer.message() };
    (answer.status, message)
}

fn listed_over_http(remote: &Remote, token: Option<&str>) -> Vec<String> {
    let (status, message) = over_http(remote, token, "skills/list", json!({}));
    assert_eq!(status, 200, "{message}");
    uris(message["result"]["skills"].as_array().unwrap()).into_iter().map(str::to_owned).collect()
}

#[test]
fn over_http_skills_are_listed_read_and_looked_into() {
    let bench = house_style();
    let remote = Remote::start(&bench.place);
    let all = listed_over_http(&remote, None);
    assert!(
        all.contains(&"skill://project.root/house-style/SKILL.md".to_owned()) && all.len() == 11,
        "{all:?}"
    );
    let (_, read) = over_http(&remote, None, "resources/read", json!({ "uri": OURS[0] }));
    assert_eq!(read["result"]["ttlMs"], 300_000, "{read}");
    let (_, folder) = over_http(
        &remote,
        None,
        "resources/directory/read",
        json!({ "uri": "skill://project.root/house-style/references" }),
    );
    assert_eq!(folder["result"]["resources"].as_array().unwrap().len(), 2, "{folder}");
    for (method, uri) in [
        ("skills/get", "skill://project.root/house-style/x"),
        ("resources/directory/read", OURS[0]),
        ("resources/read", "skill://project.root/house-style/../../../README.md"),
    ] {
        let (_, refused) = over_http(&remote, None, method, json!({ "uri": uri }));
        assert_eq!(refused["error"]["code"], -32602, "{method} {uri}: {refused}");
    }
    remote.finish();
}

#[test]
fn over_http_a_principal_is_served_what_its_scopes_and_roots_let_it_find() {
    let Some(issuer) = Issuer::start("RS256") else { return };
    let bench = house_style();
    let teams = bench.path("../teams");
    for (team, name) in [("open", "for-all"), ("closed", "for-owner")] {
        let folder = teams.join(team).join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), skill(name)).unwrap();
    }
    let team = |name: &str, shared: bool| {
        format!("[library.team.{name}]\npath = {:?}\nshared = {shared}\n", teams.join(name).to_str().unwrap())
    };
    let config = format!("{}{}{}", issuer.config(""), team("open", true), team("closed", false));
    let remote = oauth::serve(&bench.place, &config);
    let own = "skill://project.root/house-style/SKILL.md".to_owned();
    let shared = "skill://team.open/for-all/SKILL.md".to_owned();
    let ours = OURS.map(str::to_owned).to_vec();
    let mint = |subject: &str, scopes: &[&str]| issuer.mint("good", subject, scopes);
    // Alice has the root; nobody gave bob one.
    let (alice, bob) = (mint("alice", &["gatewright:read"]), mint("bob", &["gatewright:read"]));
    let with =
        |more: &[&String]| -> Vec<String> { ours.iter().chain(more.iter().copied()).cloned().collect() };
    assert_eq!(listed_over_http(&remote, Some(&alice)), with(&[&shared, &own]));
    assert_eq!(listed_over_http(&remote, Some(&bob)), with(&[&shared]));
    let get =
        |token: &str, method: &str, uri: &str| over_http(&remote, Some(token), method, json!({ "uri": uri }));
    assert_eq!(get(&alice, "skills/get", &own).1["result"]["skill"]["uri"], own);
    assert_eq!(get(&bob, "resources/read", &shared).1["result"]["contents"][0]["text"], skill("for-all"));
    for method in ["skills/get", "resources/read"] {
        assert_eq!(get(&bob, method, &own).1["error"]["code"], -32602, "{method}");
        for uri in ["skill://team.closed/for-owner/SKILL.md", "skill://user/slow-query-review/SKILL.md"] {
            assert_eq!(get(&alice, method, uri).1["error"]["code"], -32602, "{method} {uri}");
        }
    }
    assert_eq!(
        get(&bob, "resources/directory/read", "skill://project.root/house-style").1["error"]["code"],
        -32602
    );
    // A scope of another toolset lists nothing and reads nothing; one of nothing here is challenged.
    let carol = mint("alice", &["design:read"]);
    assert_eq!(listed_over_http(&remote, Some(&carol)), Vec::<String>::new());
    for method in ["skills/get", "resources/read"] {
        let (_, refused) = get(&carol, method, OURS[0]);
        assert_eq!(refused["error"]["data"]["error"]["code"], "forbidden", "{method}: {refused}");
    }
    let nobody = mint("alice", &["docs:apply"]);
    assert_eq!(over_http(&remote, Some(&nobody), "skills/list", json!({})).0, 403);
    remote.finish();
}
