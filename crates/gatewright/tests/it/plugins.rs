//! Plugins: other programs as tools, found, approved, rehearsed, and taken away again.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::bench::{Bench, Session, installed};
use super::secure::Secure;
use super::trust::{cli, fails, names, ok, until};

const RUFF: &str = include_str!("../../../../examples/plugins/ruff.toml");

/// A plugin of `wc`.
pub(crate) const COUNT: &str = r#"schema = 1
[plugin]
name = "word-count"
version = "1.0.0"
description = "Counts lines."
required-commands = ["wc"]
[[tool]]
name = "lines"
title = "Lines of a file"
description = "How many lines a file has."
kind = "read"
program = "wc"
directory = true
args = ["-l", "--", "{file}"]
input.file = { type = "path", required = true, description = "The file." }
output = { parser = "lines" }
example = [{ input = { file = "a" }, argv = ["-l", "--", "a"] }]
"#;

/// A plugin that writes: `cp`, proposing what is in `out` and no more, and the same as one that only looks.
const COPY: &str = r#"schema = 1
[plugin]
name = "copy"
version = "1.0.0"
description = "Copies files."
required-commands = ["cp"]
[[tool]]
name = "file"
title = "Copy a file"
description = "Copies a file into out."
kind = "run"
program = "cp"
idempotent = true
args = ["--", "{from}", "{to}"]
input.from = { type = "path", required = true, description = "The file." }
input.to = { type = "path", required = true, description = "Its copy." }
writes = { paths = ["out/**", "b.txt.copy"] }
example = [{ input = { from = "a", to = "out/a" }, argv = ["--", "a", "out/a"] }]
[[tool]]
name = "nothing"
title = "Copy nothing"
description = "Copies a file, and throws the copy away."
kind = "read"
program = "cp"
args = ["--", "{from}", "{to}"]
input.from = { type = "path", required = true, description = "The file." }
input.to = { type = "path", required = true, description = "Its copy." }
example = [{ input = { from = "a", to = "b" }, argv = ["--", "a", "b"] }]
"#;

/// Puts a plugin where the user's are.
pub(crate) fn put(bench: &Bench, name: &str, text: &str) {
    let folder = bench.place.scratch.path().join("config/gatewright/plugins");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}

/// Shows a plugin to the user, who accepts it.
pub(crate) fn accept(bench: &Bench, name: &str) -> String {
    let shown = fails(bench, &["approvals", "accept", name]);
    ok(bench, &["approvals", "accept", name]);
    shown
}

/// Whatever a call of `tool` with a file answers, an error of the protocol too.
fn raw(session: &mut Session, tool: &str) -> String {
    let call = json!({ "name": tool, "arguments": { "file": "a.txt" } });
    session.0.request("tools/call", call).to_string()
}

fn is_found(session: &mut Session, tool: &str) -> bool {
    let found = session.ok("tools_search", json!({ "query": tool }));
    found["tools"].as_array().unwrap().iter().any(|found| found["name"] == tool)
}

fn list(bench: &Bench) -> Value {
    let out = bench.command().args(["plugin", "list", "--output", "json"]).output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn a_real_program_is_approved_finds_and_has_its_fixes_rehearsed_applied_and_undone() {
    let Some(python) = installed("ruff", "python/devtools/bin") else { return };
    let bench =
        Bench::new(&[("src/a.py", "import os\n\n\ndef f():\n    return 1\n"), ("ok/b.py", "X = 1\n")])
            .with(python);
    put(&bench, "ruff.toml", RUFF);
    let shown = accept(&bench, "plugin:ruff-plugin");
    assert!(shown.contains("It runs ruff") && shown.contains("proposes changes of **/*.py"), "{shown}");
    assert!(shown.contains("sha256") && shown.contains("args = ["), "program and file: {shown}");
    let mut session = bench.serve();
    assert!(names(&mut session).contains(&"ruff_plugin_findings".to_owned()));

    let found = session.ok("ruff_plugin_findings", json!({}));
    assert_eq!(found["success"], false, "{found}");
    let first = &found["result"]["diagnostics"][0];
    assert_eq!((&first["file"], &first["line"]), (&json!("src/a.py"), &json!(1)), "{found}");
    assert!(first.to_string().contains("F401"), "{found}");
    assert_eq!(found["result"]["exitCode"], 1);
    let clean = session.ok("ruff_plugin_findings", json!({ "path": "ok" }));
    assert_eq!((&clean["success"], &clean["result"]["exitCode"]), (&json!(true), &json!(0)), "{clean}");
    let other = session.ok("ruff_plugin_findings", json!({ "directory": "src", "select": ["E501"] }));
    assert_eq!(other["success"], true, "another rule, below a folder: {other}");

    let planned = session.ok("ruff_plugin_fix", json!({}));
    assert!(planned["plan"]["diff"].as_str().unwrap().contains("-import os"), "{planned}");
    assert!(bench.read("src/a.py").unwrap().contains("import os"), "a rehearsal changes nothing");
    let plan = planned["plan"]["id"].as_str().unwrap();
    session.ok("ruff_plugin_fix", json!({ "apply": true, "plan": plan }));
    assert!(!bench.read("src/a.py").unwrap().contains("import os"));
    let again = session.ok("ruff_plugin_fix", json!({ "path": "src" }));
    assert_eq!(again["success"], true, "{again}");
    drop(session);
    ok(&bench, &["undo", "last"]);
    assert!(bench.read("src/a.py").unwrap().contains("import os"));

    // The same by the command line; a syntax error is a finding, a rule that is none a failure with ruff's own words.
    bench.put("ok/bad.py", "def f(:\n");
    let said = cli(&bench, &["call", "ruff_plugin_findings", "--path", "ok"]);
    assert!(said.1.contains("ok/bad.py"), "{said:?}");
    let said = cli(&bench, &["call", "ruff_plugin_findings", "--select", "[\"NOPE999\"]"]);
    assert!(!said.0 && said.1.contains("NOPE999"), "{said:?}");
}

#[test]
fn values_are_words_and_never_options_or_ways_out() {
    let bench = Bench::new(&[("a.txt", "1\n2\n")]);
    put(&bench, "count.toml", COUNT);
    accept(&bench, "plugin:word-count");
    let mut session = bench.serve();
    let counted = session.ok("word_count_lines", json!({ "file": "a.txt" }));
    assert_eq!(counted["result"]["lines"], json!(["2 a.txt"]), "{counted}");
    assert_eq!(counted["runs"][0]["exitCode"], 0, "{counted}");
    for file in ["../../etc/passwd", "/etc/passwd", ".git/config"] {
        let error = session.fails("word_count_lines", json!({ "file": file }));
        assert_eq!(error["code"], "invalid_argument", "{file}: {error}");
    }
    // What looks like an option, or like the shell's, is a name of a file, which is not there.
    for file in ["--files0-from=a.txt", "$(id)", "a.txt; id", "a.txt b.txt"] {
        let error = session.fails("word_count_lines", json!({ "file": file }));
        let code = error["code"].as_str().unwrap();
        assert!(matches!(code, "tool_execution_failed" | "invalid_argument"), "{file}: {error}");
    }
    for arguments in
        [json!({ "file": "a.txt", "args": ["-c"] }), json!({ "file": "a.txt", "apply": true }), json!({})]
    {
        assert_eq!(session.fails("word_count_lines", arguments)["code"], "invalid_argument");
    }
    let error = session.fails("word_count_lines", json!({ "file": "a.txt", "directory": "nowhere" }));
    assert_eq!(error["code"], "not_found", "{error}");
}

#[test]
fn a_plugin_writes_what_it_declares_and_a_reader_nothing() {
    let bench = Bench::new(&[("a.txt", "a\n"), ("out/keep", "")]);
    put(&bench, "copy.toml", COPY);
    accept(&bench, "plugin:copy");
    let mut session = bench.serve();
    let planned = session.ok("copy_file", json!({ "from": "a.txt", "to": "out/a.txt" }));
    assert!(planned["plan"]["effects"].to_string().contains("out/a.txt"), "{planned}");
    assert!(bench.read("out/a.txt").is_none());
    session.ok("copy_file", json!({ "from": "a.txt", "to": "out/a.txt", "apply": true }));
    assert_eq!(bench.read("out/a.txt").as_deref(), Some("a\n"));
    let error = session.fails("copy_file", json!({ "from": "a.txt", "to": "elsewhere.txt", "apply": true }));
    assert_eq!(error["code"], "path_not_allowed", "{error}");
    assert!(error["message"].as_str().unwrap().contains("does not declare"), "{error}");
    let looked = session.ok("copy_nothing", json!({ "from": "a.txt", "to": "elsewhere.txt" }));
    assert!(looked.get("plan").is_none(), "{looked}");
    assert!(bench.read("elsewhere.txt").is_none());
}

#[test]
fn m06_another_program_of_the_same_name_is_another_approval() {
    let bench = Bench::new(&[("a.txt", "1\n")]);
    let folder = bench.place.scratch.path().join("programs");
    std::fs::create_dir(&folder).unwrap();
    let write = |text: &str| {
        std::fs::write(folder.join("counter"), text).unwrap();
        std::fs::set_permissions(folder.join("counter"), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("#!/bin/sh\necho counted\n");
    let bench = bench.with(folder.clone());
    let text = COUNT.replace("\"wc\"", "\"counter\"").replace(
        "required-commands",
        "health = { program = 'counter', args = ['--version'], matches = '^counted' }\nrequired-commands",
    );
    put(&bench, "count.toml", &text);
    let mut session = bench.serve();
    let error = session.fails("word_count_lines", json!({ "file": "a.txt" }));
    assert_eq!(error["code"], "approval_required", "{error}");
    assert!(
        !names(&mut session).contains(&"word_count_lines".to_owned()),
        "what nobody approved is on no list"
    );
    accept(&bench, "plugin:word-count");
    until("the tool is listed", || names(&mut session).contains(&"word_count_lines".to_owned()));
    let counted = session.ok("word_count_lines", json!({ "file": "a.txt" }));
    assert_eq!(counted["result"]["lines"], json!(["counted"]), "{counted}");
    assert!(counted["result"].get("degraded").is_none(), "{counted}");

    write("#!/bin/sh\necho evil\n");
    let error = session.fails("word_count_lines", json!({ "file": "a.txt" }));
    assert_eq!(error["code"], "approval_required", "{error}");
    assert!(error["message"].as_str().unwrap().contains("programs.counter.sha256"), "{error}");
    let said = ok(&bench, &["approvals", "diff"]);
    assert!(said.contains("word_count_lines") && said.contains("sha256"), "{said}");
    drop(session);
    // Accepted as it is now, it is called, and is said not to be what the plugin expects.
    ok(&bench, &["approvals", "accept", "plugin:word-count"]);
    let mut session = bench.serve();
    let counted = session.ok("word_count_lines", json!({ "file": "a.txt" }));
    assert!(
        counted["result"]["degraded"].as_str().unwrap().contains("not what the plugin expects"),
        "{counted}"
    );
    std::fs::remove_file(folder.join("counter")).unwrap();
    let error = session.fails("word_count_lines", json!({ "file": "a.txt" }));
    assert!(error["message"].as_str().unwrap().contains("not installed"), "{error}");
    assert_eq!(list(&bench)[0]["state"], "unhealthy");
    ok(&bench, &["approvals", "revoke", "plugin:word-count"]);
    assert!(fails(&bench, &["approvals", "revoke", "plugin:word-count"]).contains("not approved"));
}

#[test]
fn what_is_wrong_is_told_and_skipped_and_the_first_of_a_name_stays() {
    let bench = Bench::new(&[("a.txt", "1\n"), (".gatewright/plugins/count.toml", COUNT)]);
    put(&bench, "count.toml", COUNT);
    put(&bench, "broken.toml", &COUNT.replace("schema = 1", "schema = 9"));
    put(&bench, "go.toml", &COUNT.replace("word-count", "go").replace("name = \"lines\"", "name = \"test\""));
    put(&bench, "off.toml", &COUNT.replace("word-count", "off"));
    put(
        &bench,
        "never.toml",
        &COUNT.replace("word-count", "never").replace("version = ", "default-enabled = false\nversion = "),
    );
    put(&bench, "gone.toml", &COUNT.replace("word-count", "gone").replace("\"wc\"", "\"no-such-program\""));
    put(
        &bench,
        "told.toml",
        &RUFF.replace("ruff-plugin", "told").replace("\"ruff\"", "\"wc\"").replace("^ruff", "^wc"),
    );
    let link = bench.place.scratch.path().join("config/gatewright/plugins/link.toml");
    std::os::unix::fs::symlink("/etc/passwd", link).unwrap();
    bench.place.configure("[plugins]\ndisabled = ['off']\n[plugins.told]\ntargetVersion = 'four'\n");
    let all = list(&bench);
    let state = |file: &str, origin: &str| {
        let of = |row: &&Value| row["file"].as_str().unwrap().ends_with(file) && row["origin"] == origin;
        let row = all.as_array().unwrap().iter().find(of).unwrap();
        (row["state"].as_str().unwrap().to_owned(), row["why"].as_str().unwrap().to_owned())
    };
    assert_eq!(state("count.toml", "user").0, "unapproved");
    assert_eq!(state("count.toml", "project").0, "inert");
    assert!(state("broken.toml", "user").1.contains("schema: it is 9"));
    assert_eq!(state("off.toml", "user").0, "disabled");
    assert_eq!(state("never.toml", "user").0, "disabled");
    assert_eq!(state("gone.toml", "user").0, "unhealthy");
    assert!(state("told.toml", "user").1.contains("targetVersion: it does not match"), "{all}");
    assert!(state("link.toml", "user").1.contains("links are not followed"));
    // Trusted, the repository's is still shadowed by the user's.
    ok(&bench, &["trust"]);
    ok(&bench, &["trust", "accept", "plugin:count"]);
    assert!(list(&bench).to_string().contains("\"shadowed\""));
    accept(&bench, "plugin:word-count");
    let mut session = bench.serve();
    let tools = names(&mut session);
    assert!(tools.contains(&"word_count_lines".to_owned()) && tools.contains(&"go_test".to_owned()));
    session.ok("word_count_lines", json!({ "file": "a.txt" }));
    assert!(raw(&mut session, "off_lines").contains("there is no tool"));
    // A tool of ours is what it was.
    let ours = session.fails("go_test", json!({ "file": "a.txt" }));
    assert_eq!(ours["code"], "invalid_argument", "{ours}");
}

#[test]
fn a_repositorys_plugin_has_no_effect_before_it_is_trusted_comes_into_a_running_server_and_goes_when_it_changes()
 {
    let bench = Bench::new(&[("a.txt", "1\n2\n3\n"), (".gatewright/plugins/word-count.toml", COUNT)]);
    let mut session = bench.serve();
    assert!(raw(&mut session, "word_count_lines").contains("there is no tool"));
    assert!(!is_found(&mut session, "word_count_lines"));
    assert!(
        fails(&bench, &["approvals", "accept", "plugin:word-count"]).contains("cannot be used")
            || !names(&mut session).contains(&"word_count_lines".to_owned())
    );
    let said = ok(&bench, &["trust"]);
    assert!(
        said.contains("plugin:word-count") && said.contains("inert") && said.contains("program = \"wc\""),
        "{said}"
    );
    ok(&bench, &["trust", "accept", "plugin:word-count"]);
    until("it is there, and wants an approval", || {
        raw(&mut session, "word_count_lines").contains("approval_required")
    });
    accept(&bench, "plugin:word-count");
    until("it is listed", || names(&mut session).contains(&"word_count_lines".to_owned()));
    assert!(session.0.list_changes, "the client was told");
    assert!(is_found(&mut session, "word_count_lines"), "a search before it came does not hide it");
    let counted = session.ok("word_count_lines", json!({ "file": "a.txt" }));
    assert_eq!(counted["result"]["lines"], json!(["3 a.txt"]));
    // One byte, in a comment even.
    bench.put(".gatewright/plugins/word-count.toml", &format!("{COUNT}#"));
    until("it is gone", || raw(&mut session, "word_count_lines").contains("there is no tool"));
    assert!(!is_found(&mut session, "word_count_lines"));
    assert!(ok(&bench, &["trust"]).contains("sha256"));
    bench.put(".gatewright/plugins/word-count.toml", COUNT);
    until("it is back", || names(&mut session).contains(&"word_count_lines".to_owned()));
}

#[test]
fn the_projects_settings_for_plugins_are_inert_until_they_are_trusted() {
    let Some(python) = installed("ruff", "python/devtools/bin") else { return };
    let bench = Bench::new(&[
        ("a.py", "X = 1\n"),
        ("gatewright.toml", "[plugins.ruff-plugin]\ntargetVersion = 'py311'\n"),
    ])
    .with(python);
    put(&bench, "ruff.toml", RUFF);
    accept(&bench, "plugin:ruff-plugin");
    let command = |bench: &Bench| {
        let ran = bench.serve().ok("ruff_plugin_findings", json!({}));
        ran["runs"].as_array().unwrap().last().unwrap()["command"].as_str().unwrap().to_owned()
    };
    let before = command(&bench);
    assert!(before.contains("ruff check") && !before.contains("py311"), "{before}");
    ok(&bench, &["trust"]);
    ok(&bench, &["trust", "accept", "section:plugins"]);
    assert!(command(&bench).contains("--target-version=py311"));
}

#[test]
fn a_plugin_reaches_the_hosts_that_it_names_only_where_the_user_grants_it() {
    let bench = Bench::new(&[("a.txt", "a\n")]);
    let server = Secure::serve(&bench.place, |_| (200, "text/plain", b"from afar".to_vec()));
    let folder = bench.place.scratch.path().join("programs");
    std::fs::create_dir(&folder).unwrap();
    let text = "#!/usr/bin/env python3\nimport sys, urllib.request\n\
                print(urllib.request.urlopen('https://' + sys.argv[1] + '/x', timeout=20).read().decode())\n";
    std::fs::write(folder.join("asker"), text).unwrap();
    std::fs::set_permissions(folder.join("asker"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let bench = bench.with(folder);
    let host = &server.host;
    let plugin = format!(
        "schema = 1\n[plugin]\nname = 'asker'\nversion = '1.0.0'\ndescription = 'Asks.'\nrequired-commands = ['asker']\n\
         [[tool]]\nname = 'ask'\ntitle = 'Ask'\ndescription = 'Asks a host.'\nkind = 'read'\nprogram = 'asker'\nargs = ['{{host}}']\n\
         input.host = {{ type = 'line', required = true, description = 'The host.' }}\noutput = {{ parser = 'text' }}\n\
         network = {{ hosts = ['{host}'] }}\nexample = [{{ input = {{ host = 'x' }}, argv = ['x'] }}]\n"
    );
    put(&bench, "asker.toml", &plugin);
    bench.place.configure(&server.configuration());
    let shown = accept(&bench, "plugin:asker");
    assert!(shown.contains(&format!("It wants to reach {host}")), "{shown}");
    let error = bench.serve().fails("asker_ask", json!({ "host": host }));
    assert!(error.to_string().contains("It ran without network"), "{error}");
    assert!(server.asked().is_empty(), "{:?}", server.asked());

    bench.place.configure(&format!("{}[plugins.asker]\nnetwork = true\n", server.configuration()));
    let mut session = bench.serve();
    let asked = session.ok("asker_ask", json!({ "host": host }));
    assert!(asked["result"]["text"].as_str().unwrap().contains("from afar"), "{asked}");
    assert_eq!(asked["runs"][0]["reached"], json!([host]), "{asked}");
    assert_eq!(server.asked()[0].path, "/x");
    // Another host is none of its.
    let error = session.fails("asker_ask", json!({ "host": "example.com" }));
    assert_eq!(error["code"], "tool_execution_failed", "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn folders_that_are_links_pipes_large_files_and_names_that_meet_stop_nothing() {
    let bench = Bench::new(&[("a.txt", "1\n"), (".gatewright/keep", "")]);
    let elsewhere = bench.place.scratch.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("x.toml"), COUNT.replace("word-count", "linked")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, bench.path(".gatewright/plugins")).unwrap();
    put(&bench, "a.toml", &COUNT.replace("word-count", "a").replace("name = \"lines\"", "name = \"b_c\""));
    put(&bench, "b.toml", &COUNT.replace("word-count", "a-b").replace("name = \"lines\"", "name = \"c\""));
    put(&bench, "large.toml", &format!("{COUNT}# {}\n", "x".repeat(300_000)));
    put(&bench, "other.txt", "no plugin's file");
    let folder = bench.place.scratch.path().join("config/gatewright/plugins");
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.toml")).status().unwrap();
    assert!(made.success());
    std::fs::write(folder.join("bytes.toml"), [0xff, 0xfe, 0]).unwrap();
    let all = list(&bench);
    let why = |file: &str| {
        let row = all.as_array().unwrap().iter().find(|row| row["file"].as_str().unwrap().ends_with(file));
        row.map(|row| row["why"].as_str().unwrap().to_owned())
    };
    assert!(why("pipe.toml").unwrap().contains("no regular file"), "{all}");
    assert!(why("large.toml").unwrap().contains("more than 262144 bytes"), "{all}");
    assert!(why("bytes.toml").is_some() && why("other.txt").is_none() && why("x.toml").is_none(), "{all}");
    assert!(
        !ok(&bench, &["trust"]).contains("linked"),
        "a folder that is a link is none of the repository's"
    );
    accept(&bench, "plugin:a");
    let mut session = bench.serve();
    assert_eq!(session.ok("a_b_c", json!({ "file": "a.txt" }))["result"]["lines"], json!(["1 a.txt"]));
    // A name in [plugins] that nobody has is said, with what was probably meant.
    bench.place.configure("[plugins]\ndisabled = ['lage']\n[plugins.aa]\n");
    let said = ok(&bench, &["plugin", "list"]);
    assert!(said.contains("[plugins] names lage"), "{said}");
}
