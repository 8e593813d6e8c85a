//! Every byte of a client's file stays, ours come between them, and a second time nothing comes.

use gatewright_onboard::clients::Start;
use gatewright_onboard::{Client, Edited, Unfit, with_entry};
use proptest::prelude::*;
use serde_json::{Value, json};

fn start() -> Start {
    Start {
        command: "/opt/a \"b\"/gatewright".to_owned(),
        args: vec!["serve".to_owned(), "--root".to_owned(), "C:\\x".to_owned()],
    }
}

fn made(client: Client, text: &str) -> String {
    match with_entry(client, Some(text.as_bytes()), &start()) {
        Ok(Edited::Made(bytes)) => String::from_utf8(bytes).unwrap(),
        other => panic!("{text:?}: {other:?}"),
    }
}

/// Whether all of `before` is in `after` in its order, in at most two pieces.
fn is_kept(before: &str, after: &str) -> bool {
    (0..=before.len()).filter(|at| before.is_char_boundary(*at)).any(|at| {
        let (front, back) = before.split_at(at);
        let Some(rest) = after.strip_prefix(front) else { return false };
        rest.ends_with(back)
            || rest.strip_prefix(',').is_some_and(|rest| {
                (0..=back.len()).filter(|at| back.is_char_boundary(*at)).any(|at| {
                    let (middle, end) = back.split_at(at);
                    rest.strip_prefix(middle).is_some_and(|rest| rest.ends_with(end))
                })
            })
    })
}

fn parsed(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    jsonc_parser::parse_to_serde_value::<Value>(text, &jsonc_parser::ParseOptions::default()).unwrap()
}

fn entry(client: Client) -> Value {
    let Start { command, args } = start();
    let is_typed = matches!(client, Client::ClaudeCode | Client::Generic | Client::Vscode);
    let plain = json!({ "command": command, "args": args });
    let typed = json!({ "type": "stdio", "command": command, "args": args });
    if is_typed { typed } else { plain }
}

fn servers(client: Client) -> &'static str {
    if client == Client::Vscode { "servers" } else { "mcpServers" }
}

const FILES: &[&str] = &[
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{\n\n}\n",
    "{ // nothing\n}\n",
    "{\"a\":1}",
    "{\"a\":1,}",
    "{ \"a\": 1 }\n",
    "{\n  \"a\": 1\n}\n",
    "{\n  \"a\": 1,\n}\n",
    "{\n\t\"a\": 1\n}\n",
    "{\n    \"a\": {\n        \"b\": 1\n    }\n}\n",
    "{\r\n  \"a\": 1\r\n}\r\n",
    "\u{feff}{\n  \"a\": 1\n}\n",
    "{\n  \"a\": 1 // one\n}\n",
    "{\n  \"a\": 1, // one\n}\n",
    "{\n  \"a\": 1 /* one */\n}",
    "{\n  \"a\": 1 /* one\n  two */\n}",
    "{\n  \"a\": 1 // }\n  // \"mcpServers\": {}\n}\n",
    "{\n  \"mcpServers\": {}\n}\n",
    "{\n  \"mcpServers\": {\n  }\n}\n",
    "{\"mcpServers\":{}}",
    "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  },\n  \"z\": [1, 2]\n}\n",
    "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\", // why\n    }, // more\n  },\n}\n",
    "{\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {}\r\n\t}\r\n}",
    "{\"mcpServers\":{\"o\":{}},\"z\":0}",
    "{ \"mcpServers\": { \"o\": {}, /* , */ } }",
    "// first\n{\n  // in\n  \"é\": \"\\u00e9 , } \\\"\"\n  // out\n}\n// last\n",
];

#[test]
fn every_byte_of_a_file_of_json_stays_and_the_entry_is_there() {
    for client in [Client::ClaudeCode, Client::Cursor, Client::Vscode, Client::ClaudeDesktop] {
        for file in FILES {
            let file = &file.replace("mcpServers", servers(client));
            let made = made(client, file);
            assert!(is_kept(file, &made), "{file:?}\n{made:?}");
            let mut want = parsed(file);
            want[servers(client)]["gatewright"] = entry(client);
            assert_eq!(parsed(&made), want, "{file}\n{made}");
            assert_eq!(with_entry(client, Some(made.as_bytes()), &start()), Ok(Edited::Same), "{made}");
            if file.contains("\r\n") {
                assert!(!made.replace("\r\n", "").contains('\n'), "{made:?}");
            }
        }
    }
}

#[test]
fn a_new_file_and_one_in_use_look_as_people_write_them() {
    let start = Start { command: "gatewright".to_owned(), args: vec!["serve".to_owned()] };
    let text =
        |client, before: Option<&str>| match with_entry(client, before.map(str::as_bytes), &start).unwrap() {
            Edited::Made(bytes) => String::from_utf8(bytes).unwrap(),
            Edited::Same => panic!(),
        };
    let new = "{\n  \"mcpServers\": {\n    \"gatewright\": {\n      \"type\": \"stdio\",\n      \"command\": \"gatewright\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n";
    assert_eq!(text(Client::ClaudeCode, None), new);
    let before = "{\n\t\"servers\": {\n\t\t\"a\": {} // a\n\t}\n}\n";
    let after = "{\n\t\"servers\": {\n\t\t\"a\": {}, // a\n\t\t\"gatewright\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"gatewright\",\n\t\t\t\"args\": [\"serve\"]\n\t\t}\n\t}\n}\n";
    assert_eq!(text(Client::Vscode, Some(before)), after);
    assert_eq!(
        text(Client::Cursor, Some("{\"mcpServers\":{\"a\":{}}}")),
        "{\"mcpServers\":{\"a\":{}, \"gatewright\": { \"command\": \"gatewright\", \"args\": [\"serve\"] }}}"
    );
    assert_eq!(
        text(Client::Codex, None),
        "[mcp_servers.gatewright]\ncommand = \"gatewright\"\nargs = [\"serve\"]\n"
    );
}

#[test]
fn every_byte_of_a_file_of_toml_stays_and_the_entry_is_there() {
    for file in [
        "",
        "a = 1",
        "a = 1\n",
        "# c\r\n[x]\r\na = 1 # d\r\n",
        "\u{feff}model = \"x\"\n",
        "[mcp_servers.other]\ncommand = \"y\"\n[z]\n",
        "[mcp_servers]\n",
        "[[x]]\na = 1\n",
    ] {
        let made = made(Client::Codex, file);
        assert!(made.starts_with(file), "{file:?}\n{made:?}");
        let read: toml::Table = made.trim_start_matches('\u{feff}').parse().unwrap();
        let entry = &read["mcp_servers"]["gatewright"];
        assert_eq!(entry["command"].as_str(), Some(start().command.as_str()));
        assert_eq!(entry["args"][2].as_str(), Some("C:\\x"));
        assert_eq!(with_entry(Client::Codex, Some(made.as_bytes()), &start()), Ok(Edited::Same));
    }
}

#[test]
fn what_cannot_be_read_or_is_taken_is_left() {
    let unfit = |client, bytes: &[u8]| with_entry(client, Some(bytes), &start()).unwrap_err();
    for broken in ["{", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "nonsense", "{'a':1}", "{\"a\":1}}"] {
        assert!(matches!(unfit(Client::Cursor, broken.as_bytes()), Unfit::Broken(_)), "{broken}");
    }
    assert!(matches!(unfit(Client::Codex, b"a = = 1"), Unfit::Broken(_)));
    assert_eq!(unfit(Client::Cursor, b"{\xff}"), Unfit::NotText(1));
    assert_eq!(unfit(Client::Cursor, b"[]"), Unfit::NoTable("the whole".to_owned()));
    assert_eq!(unfit(Client::Cursor, b"{\"mcpServers\": []}"), Unfit::NoTable("mcpServers".to_owned()));
    assert_eq!(
        unfit(Client::Codex, b"mcp_servers = { a = { command = 'x' } }"),
        Unfit::NoTable("mcp_servers".to_owned())
    );
    assert_eq!(unfit(Client::Codex, b"mcp_servers = 1"), Unfit::NoTable("mcp_servers".to_owned()));
    assert_eq!(unfit(Client::Cursor, "[".repeat(200).as_bytes()), Unfit::Deep);
    assert_eq!(unfit(Client::Cursor, &vec![b' '; (4 << 20) + 1]), Unfit::Large);
    let other = b"{\"mcpServers\":{\"gatewright\":{\"command\":\"old\",\"args\":[\"serve\"]}}}";
    assert_eq!(unfit(Client::Cursor, other), Unfit::Other("old serve".to_owned()));
    let elsewhere = br#"{"mcpServers":{"gatewright":{"command":"C:\\bin\\gatewright.exe","args":["serve","--root","C:\\x"],"env":{}}}}"#;
    assert_eq!(
        with_entry(Client::Cursor, Some(elsewhere), &start()),
        Ok(Edited::Same),
        "installed elsewhere"
    );
    for twice in
        ["{\"mcpServers\":{},\"mcpServers\":{}}", "{\"mcpServers\":{\"gatewright\":{},\"gatewright\":{}}}"]
    {
        assert!(matches!(unfit(Client::Cursor, twice.as_bytes()), Unfit::Twice(_)), "{twice}");
    }
    let other = b"[mcp_servers.gatewright]\ncommand = \"old\"\n";
    assert_eq!(unfit(Client::Codex, other), Unfit::Other("old".to_owned()));
}

proptest! {
    #[test]
    fn any_json_keeps_its_bytes(
        value in proptest::collection::btree_map("[a-zé\"\\\\]{1,4}", "[^\u{0}-\u{1f}]{0,6}", 0..5),
        is_pretty: bool,
        with_return: bool
    ) {
        let value = serde_json::to_value(value).unwrap();
        let text = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let text = if with_return { text.replace('\n', "\r\n") } else { text };
        let made = made(Client::Cursor, &text);
        prop_assert!(is_kept(&text, &made), "{} {}", text, made);
        let mut want = value;
        want["mcpServers"]["gatewright"] = entry(Client::Cursor);
        prop_assert_eq!(parsed(&made), want);
    }

    #[test]
    fn no_text_is_more_than_refused(text in "[\\[\\]{}\",:/* \na1]{0,60}") {
        if let Ok(Edited::Made(made)) = with_entry(Client::Cursor, Some(text.as_bytes()), &start()) {
            prop_assert!(is_kept(&text, std::str::from_utf8(&made).unwrap()));
            prop_assert_eq!(with_entry(Client::Cursor, Some(&made), &start()), Ok(Edited::Same));
        }
    }
}
