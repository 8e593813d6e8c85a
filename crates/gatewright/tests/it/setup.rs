//! Setting a repository and its clients up: proposed over MCP, applied by a person, taken back without a trace.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::bench::{Bench, Session};
use super::wire::Wire;
use super::{Place, exists};

const NODE: &[(&str, &str)] = &[
    ("package.json", "{ \"name\": \"shop\", \"scripts\": { \"test\": \"node --test\" } }\n"),
    ("package-lock.json", "{ \"lockfileVersion\": 3 }\n"),
    ("CLAUDE.md", "# Shop\n"),
];

/// Every file, folder and link below `from` with its bytes and mode.
fn all(from: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![from.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let (path, there) = (entry.path(), entry.path().symlink_metadata().unwrap());
            let bytes = if there.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            if there.is_dir() {
                open.push(path.clone());
            }
            let name = path.strip_prefix(from).unwrap().to_string_lossy().into_owned();
            found.insert(name, (there.permissions().mode(), bytes));
        }
    }
    found
}

fn parsed(bench: &Bench, name: &str) -> Value {
    serde_json::from_str(&bench.read(name).unwrap_or_else(|| panic!("{name}"))).unwrap()
}

fn check<'r>(result: &'r Value, name: &str) -> &'r Value {
    let all = result["checks"].as_array().unwrap();
    all.iter()
        .find(|check| check["name"].as_str().unwrap().contains(name))
        .unwrap_or_else(|| panic!("{name}: {result}"))
}

#[test]
fn init_writes_what_it_shows_a_second_time_nothing_and_undo_leaves_no_trace() {
    let bench = Bench::new(NODE);
    let before = all(&bench.place.root());
    let shown = bench.place.ok(&[
        "init",
        "--dry-run",
        "--client",
        "claude-code",
        "--client",
        "vscode",
        "--client",
        "cursor",
    ]);
    for word in [
        "gatewright.toml",
        ".mcp.json",
        ".vscode/mcp.json",
        ".cursor/mcp.json",
        "+  \"servers\": {",
        "A rehearsal",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert_eq!(all(&bench.place.root()), before, "a rehearsal");
    // Nobody sits at this terminal.
    let out = bench.place.run(&["init"]);
    assert!(!out.status.success() && String::from_utf8_lossy(&out.stdout).contains("Nothing was changed"));
    assert_eq!(all(&bench.place.root()), before, "without consent");

    let words = ["init", "--yes", "--client", "claude-code", "--client", "vscode", "--client", "cursor"];
    let written = bench.place.ok(&words);
    assert!(
        written.contains("Written.") && written.contains("started as the clients start it answers: "),
        "{written}"
    );
    let command = env!("CARGO_BIN_EXE_gatewright");
    assert_eq!(
        parsed(&bench, ".mcp.json")["mcpServers"]["gatewright"],
        json!({ "type": "stdio", "command": command, "args": ["serve"] })
    );
    assert_eq!(parsed(&bench, ".vscode/mcp.json")["servers"]["gatewright"]["command"], command);
    assert_eq!(
        parsed(&bench, ".cursor/mcp.json")["mcpServers"]["gatewright"],
        json!({ "command": command, "args": ["serve"] })
    );
    assert!(bench.read("gatewright.toml").unwrap().starts_with("# What gatewright"));
    bench.place.ok(&["config", "show"]);

    let again = bench.place.ok(&words);
    assert!(again.contains("Nothing is to be written") && !again.contains("Written."), "{again}");
    let rehearsed = bench.place.ok(&["init", "--undo", "--dry-run"]);
    assert!(rehearsed.contains("remove .mcp.json") && exists(&bench.path(".mcp.json")), "{rehearsed}");
    bench.place.ok(&["init", "--undo"]);
    assert_eq!(all(&bench.place.root()), before, "no trace");
    assert!(bench.place.ok(&["init", "--undo"]).contains("Nothing to take back"));
    let (code, message) = bench.place.fails(&["init", "--client", "emacs"]);
    assert!(code == 2 && message.contains("claude-desktop"), "{message}");
}

#[test]
fn a_client_that_is_set_up_starts_the_server_and_sees_tools() {
    let bench = Bench::new(NODE);
    bench.place.ok(&["init", "--yes"]);
    let entry = parsed(&bench, ".mcp.json")["mcpServers"]["gatewright"].clone();
    let mut command = std::process::Command::new(entry["command"].as_str().unwrap());
    bench.place.home(&mut command).current_dir(bench.place.root());
    command.args(entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()));
    let mut wire = Wire::greeted(&mut command, &json!({}));
    let tools = wire.request("tools/list", json!({}))["result"]["tools"].clone();
    assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "run_tests"), "{tools}");
    wire.finish();
}

#[test]
fn files_of_clients_keep_every_other_byte_and_what_is_wrong_with_one_does_not_stop_the_others() {
    let bench = Bench::new(NODE);
    let commented = "\u{feff}{\r\n\t// ours\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { \"command\": \"x\" }, // keep\r\n\t},\r\n\t\"z\": 1\r\n}";
    bench.put(".cursor/mcp.json", commented);
    bench.put(".vscode/mcp.json", "{ broken");
    std::os::unix::fs::symlink("package.json", bench.path(".mcp.json")).unwrap();
    let before = all(&bench.place.root());
    let mut session = bench.serve();
    let input = json!({ "clients": ["claude-code", "cursor", "vscode"] });
    let proposed = session.ok("onboarding_wizard", input);
    assert_eq!(
        (&proposed["success"], &proposed["files"]),
        (&json!(false), &json!(["gatewright.toml", ".cursor/mcp.json"])),
        "{proposed}"
    );
    assert_eq!(
        (&check(&proposed, "Claude Code")["state"], &check(&proposed, "VS Code")["state"]),
        (&json!("error"), &json!("error"))
    );
    assert!(check(&proposed, "Claude Code")["said"].as_str().unwrap().contains("link"), "{proposed}");
    bench.place.run(&[
        "init",
        "--yes",
        "--client",
        "claude-code",
        "--client",
        "cursor",
        "--client",
        "vscode",
    ]);
    let after = bench.read(".cursor/mcp.json").unwrap();
    let (front, back) = commented.split_at(commented.find("\r\n\t},").unwrap());
    assert!(after.starts_with(front) && after.ends_with(back) && after.len() > commented.len(), "{after:?}");
    assert!(!after.replace("\r\n", "").contains('\n'), "{after:?}");
    for left in [".vscode/mcp.json", ".mcp.json"] {
        assert_eq!(all(&bench.place.root())[left], before[left], "{left}");
    }
    bench.place.ok(&["init", "--undo"]);
    assert_eq!(all(&bench.place.root()), before, "no trace");
}

#[test]
fn whatever_lies_in_the_place_of_a_file_is_a_check_with_a_reason() {
    let bench = Bench::new(&[]);
    type Make = fn(&Path);
    let kinds: [(&str, Make, &str); 6] = [
        (
            "a FIFO",
            |path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
            "regular",
        ),
        ("a folder", |path| std::fs::create_dir(path).unwrap(), "folder"),
        ("a link", |path| std::os::unix::fs::symlink("/etc/passwd", path).unwrap(), "link"),
        ("large", |path| std::fs::File::create(path).unwrap().set_len(1 << 30).unwrap(), "larger"),
        ("no text", |path| std::fs::write(path, b"{\"a\": \"\xff\"}").unwrap(), "UTF-8"),
        ("broken", |path| std::fs::write(path, b"{\"a\": }").unwrap(), "cannot be read"),
    ];
    for (kind, make, word) in kinds {
        for file in [".mcp.json", "gatewright.toml"] {
            if file == "gatewright.toml" && matches!(kind, "no text" | "broken") {
                continue;
            }
            let path = bench.path(file);
            make(&path);
            if file == "gatewright.toml" {
                // Nothing is done where nobody knows what the project wants.
                let (_, message) = bench.place.fails(&["init", "--dry-run"]);
                assert!(message.contains("gatewright.toml"), "{kind}: {message}");
            } else {
                let result = bench.place.run(&["call", "onboarding_wizard", "--output", "json"]);
                let answer: Value = serde_json::from_slice(&result.stdout).unwrap();
                let said = check(&answer, ".mcp.json");
                assert!(
                    said["state"] == "error" && said["said"].as_str().unwrap().contains(word),
                    "{kind}: {said}"
                );
                assert!(said["fix"].is_string(), "{kind}: {said}");
            }
            if path.is_dir() && !path.is_symlink() {
                std::fs::remove_dir(&path).unwrap();
            } else {
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}

#[test]
fn over_mcp_nobody_but_a_person_applies_what_sets_up() {
    let bench = Bench::new(NODE);
    let mut session = bench.serve();
    let proposed = session.ok("onboarding_wizard", json!({}));
    assert_eq!(proposed["status"], "proposed", "{proposed}");
    for arguments in [
        json!({ "apply": true }),
        json!({ "apply": true, "plan": proposed["plan"]["id"] }),
        json!({ "plan": proposed["plan"]["id"] }),
    ] {
        let refused = session.fails("onboarding_wizard", arguments.clone());
        assert_eq!(
            (&refused["code"], &refused["type"]),
            (&json!("confirmation_required"), &json!("policy")),
            "{arguments}"
        );
        assert!(refused["suggestions"].to_string().contains("gatewright init"), "{refused}");
        assert!(!exists(&bench.path("gatewright.toml")));
    }
    assert_eq!(session.fails("generate_config", json!({ "apply": true }))["code"], "confirmation_required");
    // A rule that allows everything allows no more.
    bench.place.configure("[policy]\nrules = [{ apply = true, decision = \"allow\" }]\n");
    assert_eq!(
        bench.serve().fails("onboarding_wizard", json!({ "apply": true }))["code"],
        "confirmation_required"
    );
    drop(session);

    for (action, wanted) in [("decline", false), ("accept", true)] {
        let mut wire = Wire::greeted(
            bench.command().args(["serve", "--toolsets", "all"]),
            &json!({ "elicitation": {} }),
        );
        let params = json!({ "name": "onboarding_wizard", "arguments": { "apply": true } });
        wire.send(
            &json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string(),
        );
        let question = wire.receive();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert!(
            question["params"]["message"].as_str().unwrap().contains("create gatewright.toml"),
            "{question}"
        );
        let answer = json!({ "action": action, "content": {} });
        wire.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
        let result = wire.receive();
        assert_eq!(exists(&bench.path("gatewright.toml")), wanted, "{result}");
    }
    bench.place.ok(&["init", "--undo"]);
    assert!(!exists(&bench.path("gatewright.toml")) && !exists(&bench.path(".mcp.json")));
}

#[test]
fn a_file_that_changed_between_plan_and_apply_is_a_conflict() {
    let bench = Bench::new(NODE);
    bench.put(".mcp.json", "{}\n");
    let mut wire =
        Wire::greeted(bench.command().args(["serve", "--toolsets", "all"]), &json!({ "elicitation": {} }));
    let params = json!({ "name": "onboarding_wizard", "arguments": { "apply": true } });
    wire.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string());
    let question = wire.receive();
    bench.put(".mcp.json", "{\"mine\": 1}\n");
    wire.send(
        &json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": {} } })
            .to_string(),
    );
    let result = wire.receive();
    assert!(result.to_string().contains("conflict"), "{result}");
    assert_eq!(bench.read(".mcp.json").unwrap(), "{\"mine\": 1}\n");
    assert!(!exists(&bench.path("gatewright.toml")), "all or nothing");
}

#[test]
fn each_input_of_the_wizard_does_what_it_says() {
    let bench = Bench::new(NODE);
    let mut session = bench.serve();
    let asked = |session: &mut Session, input: Value| session.ok("onboarding_wizard", input);
    let state = |result: &Value, phase: &str| {
        let phases = result["phases"].as_array().unwrap();
        assert_eq!(phases.len(), 7);
        phases.iter().find(|one| one["name"] == phase).unwrap()["state"].as_str().unwrap().to_owned()
    };
    let usual = asked(&mut session, json!({}));
    assert_eq!(usual["files"], json!(["gatewright.toml", ".mcp.json"]), "CLAUDE.md is there: {usual}");
    for (input, phase) in [
        (json!({ "generateConfig": false }), "generate"),
        (json!({ "backupExisting": false }), "backup"),
        (json!({ "skipToolVerification": true }), "verify"),
        (json!({ "validateSetup": false }), "validate"),
    ] {
        let result = asked(&mut session, input.clone());
        assert_eq!(
            (state(&usual, phase).as_str() != "skipped", state(&result, phase).as_str()),
            (true, "skipped"),
            "{input}"
        );
    }
    assert_eq!(asked(&mut session, json!({ "generateConfig": false }))["files"], json!([".mcp.json"]));
    let choices = asked(&mut session, json!({ "interactive": true }));
    assert!(
        choices["choices"].as_array().unwrap().len() == 6 && choices["plan"]["effects"] == json!([]),
        "{choices}"
    );
    assert!(usual.get("choices").is_none() && usual["next"] == json!([]));
    let install = asked(&mut session, json!({ "autoInstall": true }));
    assert!(install["next"].to_string().contains("nodejs_install_deps"), "{install}");
    assert_eq!(
        session.fails("onboarding_wizard", json!({ "dryRun": true, "apply": true }))["code"],
        "invalid_argument"
    );
    assert_eq!(asked(&mut session, json!({ "dryRun": true }))["status"], "proposed");
    let both = session.fails("onboarding_wizard", json!({ "clients": ["codex", "cursor"] }));
    assert!(
        both["code"] == "invalid_argument" && both["message"].as_str().unwrap().contains("codex"),
        "{both}"
    );
    assert_eq!(
        session.fails("onboarding_wizard", json!({ "clients": ["codex"] }))["code"],
        "not_found",
        "it was never started here"
    );
    assert_eq!(
        session.fails("onboarding_wizard", json!({ "clients": ["emacs"] }))["code"],
        "invalid_argument"
    );
}

#[test]
fn the_users_own_files_are_edited_and_nothing_else_in_their_folders_is_looked_at() {
    let bench = Bench::new(NODE);
    let home = bench.place.scratch.path();
    let codex = "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\"\n[mcp_servers.other.env]\nAPI_KEY = \"sk-verysecretvalue123456\"\n";
    for (folder, file, text) in [
        (".codex", "config.toml", codex),
        ("config/Claude", "claude_desktop_config.json", "{\"mcpServers\":{}}"),
    ] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
        std::fs::write(home.join(folder).join(file), text).unwrap();
        std::fs::write(home.join(folder).join("auth.json"), "private").unwrap();
    }
    let (of_codex, of_claude) = (all(&home.join(".codex")), all(&home.join("config/Claude")));
    let shown = bench.place.ok(&["init", "--yes", "--client", "codex", "--client", "claude-desktop"]);
    assert!(!shown.contains("verysecret"), "{shown}");
    let read = |place: &str| std::fs::read_to_string(home.join(place)).unwrap();
    let written = read(".codex/config.toml");
    assert!(written.starts_with(codex), "{written}");
    let table: toml::Table = written.parse().unwrap();
    let root = std::fs::canonicalize(bench.place.root()).unwrap();
    assert_eq!(table["mcp_servers"]["gatewright"]["args"][2].as_str(), root.to_str());
    let claude: Value = serde_json::from_str(&read("config/Claude/claude_desktop_config.json")).unwrap();
    assert_eq!(claude["mcpServers"]["gatewright"]["args"], json!(["serve", "--root", root]));
    assert!(!exists(&bench.path("gatewright.toml")), "the repository was not asked for");
    let again = bench.place.ok(&["init", "--yes", "--client", "codex", "--client", "claude-desktop"]);
    assert!(!again.contains("Written."), "{again}");
    bench.place.ok(&["init", "--undo"]);
    assert_eq!(
        (all(&home.join(".codex")), all(&home.join("config/Claude"))),
        (of_codex, of_claude),
        "no trace"
    );
}

#[test]
fn the_old_programs_configuration_is_taken_over_and_told() {
    let bench = Bench::new(NODE);
    bench.put(
        ".mcp-devtools.json",
        "{ \"timeout\": 5000, \"linters\": [\"eslint\"], \"security\": {}, \"timeuot\": 1, \"plugins\": { \"disabled\": [\"git-spice\"] } }\n",
    );
    let mut session = bench.serve();
    let proposed = session.ok("generate_config", json!({}));
    assert!(proposed["text"].as_str().unwrap().contains("timeout = 5000"), "{proposed}");
    assert!(
        proposed["text"].as_str().unwrap().contains("[plugins]\ndisabled = [\"git-spice\"]"),
        "{proposed}"
    );
    assert_eq!(proposed["notes"].as_array().unwrap().len(), 3, "{proposed}");
    let stands = session.ok("validate_setup", json!({}));
    assert!(
        check(&stands, ".mcp-devtools.json")["said"].as_str().unwrap().contains("takes it over"),
        "{stands}"
    );
    drop(session);
    bench.place.ok(&["init", "--yes"]);
    let config = bench.place.json(&["config", "show"]);
    assert_eq!(config["sections"]["devtools"]["timeout"], 5000, "{config}");
    assert!(bench.read(".mcp-devtools.json").is_some(), "it stays");
    // What it said of plugins waits for a person.
    let trust = bench.place.ok(&["trust"]);
    assert!(trust.contains("section:plugins") && trust.contains("inert"), "{trust}");
}

#[test]
fn validate_setup_says_what_is_missing_and_is_content_once_it_was_set_up() {
    let bench = Bench::new(NODE);
    let mut session = bench.serve();
    let bare = session.ok("validate_setup", json!({}));
    assert_eq!(
        (&bare["success"], &check(&bare, "Claude Code")["state"], &check(&bare, "gatewright.toml")["state"]),
        (&json!(false), &json!("error"), &json!("warning")),
        "{bare}"
    );
    bench.put("old/settings.json", "{ \"timeout\": 1 }");
    let other = session.ok("validate_setup", json!({ "configPath": "old/settings.json" }));
    assert_eq!(check(&other, "old/settings.json")["state"], "warning");
    drop(session);
    bench.place.ok(&["init", "--yes"]);
    let mut session = bench.serve();
    let set_up = session.ok("validate_setup", json!({}));
    assert_eq!(
        (&set_up["success"], &check(&set_up, "Claude Code")["state"]),
        (&json!(true), &json!("ok")),
        "{set_up}"
    );
    assert!(set_up["score"].as_u64() > bare["score"].as_u64(), "{set_up}");
    let found = session.ok("detect_project", json!({}));
    assert_eq!(
        (&found["project"]["type"], &found["clients"]),
        (&json!("node"), &json!(["claude-code", "generic"])),
        "{found}"
    );
}

#[test]
fn rollback_setup_proposes_what_a_person_applies() {
    let bench = Bench::new(NODE);
    bench.put(".mcp.json", "{ }\n");
    let written = bench.place.ok(&["init", "--yes"]);
    let id = written.split("Recorded as ").nth(1).unwrap().split('.').next().unwrap().to_owned();
    let mut session = bench.serve();
    let proposed = session.ok("rollback_setup", json!({ "backupPath": id }));
    assert!(proposed["plan"]["effects"].to_string().contains("remove gatewright.toml"), "{proposed}");
    assert_eq!(
        session.fails("rollback_setup", json!({ "backupPath": id, "apply": true }))["code"],
        "confirmation_required"
    );
    assert_eq!(session.fails("rollback_setup", json!({ "backupPath": "/etc" }))["code"], "invalid_argument");
    assert_eq!(
        session.fails("rollback_setup", json!({ "backupPath": "1b4e28ba-2fa1-41d2-883f-0016d3cca427" }))["code"],
        "not_found"
    );
    drop(session);
    bench.place.ok(&["init", "--undo"]);
    assert_eq!(bench.read(".mcp.json").unwrap(), "{ }\n");
}

#[test]
fn init_where_there_is_no_repository_says_so() {
    let place = Place::new();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gatewright"));
    let out = place.home(&mut command).args(["init"]).output().unwrap();
    assert!(!out.status.success());
    assert!(String::from_utf8_lossy(&out.stderr).contains("no repository"), "{out:?}");
}
