//! What the documentation says works.

use std::process::Command;

use serde_json::{Value, json};

use super::agents::path;
use super::remote::Remote;
use super::scripts::{ended, node};
use super::wire::Wire;
use super::{Place, exists};

/// The commands of every `sh` block of a page, without comments.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (line.trim(), inside) {
            ("```sh", _) => inside = true,
            ("```", true) => inside = false,
            (line, true) => {
                let words = line.split(" #").next().unwrap().split_whitespace();
                found.push(words.map(str::to_owned).collect());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_command_of_the_guide_works() {
    let page = include_str!("../../../../docs/guide/start.md");
    let place = Place::new();
    let all = commands(page);
    assert!(all.len() >= 8, "{all:?}");
    for words in all {
        assert_eq!(words[0], "gatewright");
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        place.ok(&args);
    }
    assert!(!exists(&place.root().join("artifacts")), "the last apply was undone");
}

#[test]
fn the_commands_of_the_readme_are_understood() {
    let page = include_str!("../../../../README.md");
    let place = Place::new();
    for words in commands(page).iter().filter(|w| w.first().is_some_and(|w| w == "gatewright")) {
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        if args != ["doctor"] {
            place.ok(&args);
        }
    }
}

#[test]
fn the_settings_of_the_guide_are_understood() {
    let page = include_str!("../../../../docs/guide/tokens.md");
    let toml = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    std::fs::write(place.root().join("gatewright.toml"), toml).unwrap();
    std::fs::create_dir(place.root().join("themes")).unwrap();
    std::fs::write(place.root().join("themes/dark.json"), "{}").unwrap();
    place.ok(&["config", "show"]);
    let text = place.ok(&["call", "tokens_build", "--source", "tokens", "--platforms", "css"]);
    assert!(text.contains("--harbor-space-s"), "{text}");
}

#[test]
fn the_roots_of_the_guide_are_understood() {
    let page = include_str!("../../../../docs/guide/clients.md");
    let toml = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    std::fs::create_dir_all(place.scratch.path().join("config/gatewright")).unwrap();
    std::fs::create_dir_all(place.scratch.path().join("work/library/tokens")).unwrap();
    std::fs::write(place.scratch.path().join("work/library/tokens/a.json"), super::TOKENS).unwrap();
    std::fs::write(place.scratch.path().join("config/gatewright/config.toml"), toml).unwrap();
    let call = ["call", "tokens_build", "--source", "tokens", "--platforms", "css", "--root", "library"];
    assert!(place.fails(&call).1.contains("read-only"));
}

/// The blocks of a page that are in `language`.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    page.split(begin.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The words of a command line, with what stands in single quotes as one.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (n, part) in line.trim().split('\'').enumerate() {
        if n % 2 == 1 {
            words.last_mut().unwrap().push_str(part);
            continue;
        }
        for c in part.chars() {
            if !c.is_whitespace() {
                words.last_mut().unwrap().push(c);
            } else if !words.last().unwrap().is_empty() {
                words.push(String::new());
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The server's command in a line that adds it to a client: what stands after the name and `--`.
fn added(line: &str) -> Vec<String> {
    let all = words(line);
    let mut rest = all.iter().map(String::as_str);
    let client = rest.next().unwrap();
    assert_eq!([rest.next(), rest.next()], [Some("mcp"), Some("add")], "{line}");
    let name = loop {
        match (client, rest.next().unwrap_or_else(|| panic!("{line}"))) {
            ("claude", "--transport") => assert_eq!(rest.next(), Some("stdio"), "{line}"),
            ("claude", "--scope") => {
                assert!(["local", "project", "user"].contains(&rest.next().unwrap()), "{line}");
            }
            (_, word) => break word,
        }
    };
    assert_eq!((name, rest.next()), ("gatewright", Some("--")), "{line}");
    rest.map(str::to_owned).collect()
}

/// The server's command in a client's configuration: `mcpServers`, VS Code's `servers` or Codex's `mcp_servers`.
fn configured(config: &Value) -> Vec<String> {
    let (key, servers) = config.as_object().unwrap().iter().next().unwrap();
    let (name, server) = servers.as_object().unwrap().iter().next().unwrap();
    let known = ["type", "command", "args"];
    assert!(["mcpServers", "servers", "mcp_servers"].contains(&key.as_str()) && name == "gatewright");
    assert!(server.as_object().unwrap().keys().all(|k| known.contains(&k.as_str())), "{config}");
    let kind = server.get("type");
    assert!(kind.map_or(key != "servers", |kind| kind == "stdio"), "VS Code wants the type: {config}");
    let args = server["args"].as_array().unwrap().iter();
    [&server["command"]].into_iter().chain(args).map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Starts the server as a client in the repository would, shakes hands and has it rehearse.
fn starts(command: &[String]) {
    let place = repository();
    let root = place.root().display().to_string();
    let filled = command
        .iter()
        .map(|word| word.replace("/path/to/repository", &root).replace("${workspaceFolder}", &root));
    let filled: Vec<String> = filled.collect();
    assert_eq!(filled[..2], ["gatewright", "serve"], "{command:?}");
    let mut client = Command::new(&filled[0]);
    let client = place.home(&mut client).current_dir(place.root()).env("PATH", path()).args(&filled[1..]);
    let mut wire = Wire::greeted(client, &json!({}));
    let rehearsed = wire.call(json!({ "source": "tokens", "platforms": ["css"] }));
    assert_eq!(rehearsed["structuredContent"]["status"], "proposed", "{command:?}: {rehearsed}");
    wire.finish();
}

/// A root that is a repository of its own: what a server is started in when nobody names a root.
fn repository() -> Place {
    let place = Place::new();
    let made = Command::new("git").args(["init", "--quiet"]).current_dir(place.root()).status().unwrap();
    assert!(made.success());
    place
}

#[test]
fn every_local_client_of_the_guide_can_start_the_server() {
    let page = include_str!("../../../../docs/guide/local-clients.md");
    let lines: Vec<String> = blocks(page, "sh").iter().flat_map(|b| b.lines()).map(str::to_owned).collect();
    let of = |client: &str| lines.iter().filter(|line| line.starts_with(client)).collect::<Vec<_>>();
    let (claude, codex, inspector) =
        (of("claude "), of("codex "), of("npx @modelcontextprotocol/inspector "));
    assert_eq!((claude.len(), codex.len(), inspector.len()), (2, 1, 3), "{lines:?}");
    assert_eq!(lines.len(), 6, "every line is one that a test knows");
    assert_eq!(claude[0], "claude mcp add --transport stdio gatewright -- gatewright serve");
    for line in claude.into_iter().chain(codex) {
        starts(&added(line));
    }
    let json = blocks(page, "json");
    assert_eq!(json.len(), 4, "a project's file, Claude Desktop, Cursor, VS Code");
    for text in json {
        starts(&configured(&serde_json::from_str(&text).unwrap()));
    }
    let [toml] = blocks(page, "toml").try_into().unwrap();
    let toml: toml::Table = toml.parse().unwrap();
    starts(&configured(&serde_json::to_value(toml).unwrap()));
    let [js] = blocks(page, "js").try_into().unwrap();
    assert!(
        js.contains("new MCPServerStdio({ name: \"gatewright\", command: \"gatewright\", args: ["),
        "{js}"
    );
    let args = js.split("args: ").nth(1).and_then(|rest| rest.split_inclusive(']').next()).unwrap();
    let args: Vec<String> = serde_json::from_str(args).unwrap();
    starts(&[&["gatewright".to_owned()][..], &args].concat());
    let packaged = r"%LOCALAPPDATA%\Packages\Claude_…\LocalCache\Roaming\Claude";
    for file in ["~/Library/Application Support/Claude", packaged] {
        assert!(["/", r"\"].iter().any(|s| page.contains(&format!("{file}{s}claude_desktop_config.json"))));
    }
    assert!(page.contains(r"`%APPDATA%\Claude`, which is the place of older installations"));
}

#[test]
fn the_inspectors_command_lines_of_the_guide_work() {
    let page = include_str!("../../../../docs/guide/local-clients.md");
    let Some(node) = node() else { return };
    let inspector =
        node.dir.join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let place = repository();
    for line in page.lines().filter(|line| line.starts_with("npx ")) {
        let words = words(line);
        assert_eq!(words[1], "@modelcontextprotocol/inspector");
        assert_eq!(words[words.len() - 2..], ["gatewright", "serve"], "{line}");
        // The other one opens a window.
        if words[2] != "--cli" {
            continue;
        }
        let mut command = Command::new(&node.program);
        let command = place.home(&mut command).current_dir(place.root()).env("PATH", path());
        let out =
            ended(command.env("MCP_STORAGE_DIR", place.scratch.path()).arg(&inspector).args(&words[2..]));
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{line}: {text}{}", String::from_utf8_lossy(&out.stderr));
        assert!(text.contains("tokens_build") || text.contains("--space-s: 4px"), "{line}: {text}");
    }
}

#[test]
fn what_the_readme_and_the_quickstart_tell_clients_starts_the_server() {
    let readme = include_str!("../../../../README.md");
    let told = readme.split('`').filter(|text| text.starts_with("claude mcp add"));
    let told: Vec<&str> = told.collect();
    assert_eq!(told, ["claude mcp add --transport stdio gatewright -- gatewright serve"]);
    starts(&added(told[0]));
    let session = include_str!("../../../../docs/guide/session.txt");
    let (_, clients) = session.split_once("Add it to your client").unwrap();
    let lines = clients.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|l| l.starts_with("claude ") || l.starts_with("codex ")).collect();
    assert_eq!(lines.len(), 2, "{clients}");
    for line in lines {
        starts(&added(line));
    }
    let objects: Vec<&str> =
        clients.split("\n{\n").skip(1).map(|rest| rest.split("\n}").next().unwrap()).collect();
    assert_eq!(objects.len(), 2, "{clients}");
    for object in objects {
        starts(&configured(&serde_json::from_str(&format!("{{{object}}}")).unwrap()));
    }
    let (_, command) = clients.split_once("fullCommand: \"").unwrap();
    starts(&words(command.split('"').next().unwrap()));
}

#[test]
fn the_upstreams_of_the_guide_are_understood() {
    let page = include_str!("../../../../docs/guide/upstreams.md");
    let toml: Vec<&str> =
        page.split("```toml").skip(1).map(|part| part.split("```").next().unwrap()).collect();
    let place = Place::new();
    place.configure(&toml.concat());
    let out = place
        .command()
        .env("DOCS_TOKEN", "x")
        .env("GATEWRIGHT_SECRET", "y")
        .args(["config", "show"])
        .output();
    let shown: Value = serde_json::from_slice(&out.unwrap().stdout).unwrap();
    assert_eq!(shown["upstreams"]["docs"]["url"], "https://docs.example/mcp");
    assert_eq!(shown["upstreams"]["wiki"]["exchange"]["scopes"], serde_json::json!(["wiki:read"]));
    let tools =
        place.command().env("DOCS_TOKEN", "x").env("GATEWRIGHT_SECRET", "y").arg("tools").output().unwrap();
    assert!(tools.status.success() && tools.stderr.is_empty(), "{}", String::from_utf8_lossy(&tools.stderr));
    for key in ["token-env", "headers-env", "exchange", "pin-key", "timeout-seconds"] {
        assert!(
            page.contains(&format!("`{key}")) || page.contains(&format!("\n{key} =")),
            "{key} is explained"
        );
        assert!(place.ok(&["config", "schema"]).contains(&format!("\"{key}\"")), "{key} is there");
    }
}

#[test]
fn the_team_server_of_the_guide_is_understood() {
    let page = include_str!("../../../../docs/guide/team.md");
    let toml = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    let dir = place.scratch.path().join("config/gatewright");
    std::fs::create_dir_all(&dir).unwrap();
    // The same, with folders that are here.
    let here = place.scratch.path().join("srv").display().to_string();
    for name in ["app", "handbook"] {
        std::fs::create_dir_all(place.scratch.path().join("srv").join(name)).unwrap();
    }
    std::fs::write(dir.join("config.toml"), toml.replace("/srv", &here)).unwrap();
    let remote = Remote::with(place.command().args(["serve", "--http", "127.0.0.1:0"]));
    let metadata = remote.request("GET", "/.well-known/oauth-protected-resource/mcp", &[], "");
    let metadata: Value = serde_json::from_str(&metadata.body).unwrap();
    assert_eq!(metadata["resource"], "https://tools.example/mcp");
    assert_eq!(remote.request("POST", "/mcp", &[("host", "tools.example")], "{}").status, 401);
    remote.finish();
    for key in ["jwks-uri", "algorithms", "plain-jwt", "audiences", "introspection"] {
        assert!(page.contains(&format!("| `{key}")), "{key} is explained");
        assert!(place.ok(&["config", "schema"]).contains(&format!("\"{key}\"")), "{key} is there");
    }
}

#[test]
fn the_guide_to_plugins_takes_a_newcomer_to_a_working_tool() {
    let page = include_str!("../../../../docs/guide/plugins.md");
    let place = Place::new();
    std::fs::write(place.root().join("README.md"), "one\ntwo\n").unwrap();
    for words in commands(page) {
        assert_eq!(words[0], "gatewright");
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        place.ok(&args);
    }
    let file = place.scratch.path().join("config/gatewright/plugins/line-count.toml");
    let told = place.ok(&["plugin", "check", file.to_str().unwrap()]);
    assert!(
        told.contains("line_count_path") && told.contains("leaves the root"),
        "what `new` writes holds: {told}"
    );
    // The file of the page in its place.
    let toml = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    std::fs::write(&file, toml).unwrap();
    let told = place.ok(&["plugin", "check", file.to_str().unwrap()]);
    assert!(told.contains(r#"wc ["-l","-L","--","a.txt"]"#), "{told}");
    assert!(place.fails(&["call", "line_count_of_file", "--file", "README.md"]).1.contains("approv"));
    assert!(place.fails(&["approvals", "accept", "plugin:line-count"]).1.contains("was not shown"));
    place.ok(&["approvals", "accept", "plugin:line-count"]);
    let counted = place.json(&["call", "line_count_of_file", "--file", "README.md", "--output", "json"]);
    assert_eq!(counted["result"]["lines"], json!(["2 README.md"]), "{counted}");
    place.configure("[plugins.line-count]\nbytes = true\n");
    let counted = place.json(&["call", "line_count_of_file", "--file", "README.md", "--output", "json"]);
    assert_eq!(counted["result"]["lines"], json!(["2 8 README.md"]), "{counted}");
    place.configure("[plugins.line-count]\nbytse = true\n");
    assert!(place.ok(&["plugin", "list"]).contains("bytse: there is no such key"));
    let twice = place.fails(&["plugin", "new", "line-count", "--program", "wc"]).1;
    assert!(twice.contains("another name"), "{twice}");
}
