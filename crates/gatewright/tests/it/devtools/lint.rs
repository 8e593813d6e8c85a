//! Linters, with the real programs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Bench, Session, installed};
use crate::wire::Wire;

fn node() -> Option<PathBuf> {
    installed("the linters of npm", "npm/devtools/node_modules/.bin")
}

fn python() -> Option<PathBuf> {
    installed("the Python tools", "python/devtools/bin")
}

#[test]
fn markdownlint_finds_and_fixes() {
    let Some(node) = node() else { return };
    let bench =
        Bench::new(&[("good.md", "# Title\n\nText.\n"), ("docs/bad.md", "# Title\nText.\n\n\n\nMore.\n")])
            .with(node);
    let mut session = bench.serve();
    let found = session.ok("markdownlint", json!({}));
    assert_eq!(found["success"], false, "{found}");
    let first = &found["diagnostics"][0];
    assert_eq!(first["file"], "docs/bad.md", "{found}");
    assert!(first["rule"].as_str().unwrap().starts_with("MD"), "{found}");
    assert_eq!(session.ok("markdownlint", json!({ "files": ["good.md"] }))["success"], true);
    let fixed = session.ok("markdownlint", json!({ "files": ["docs"], "fix": true }));
    assert!(fixed["plan"]["effects"][0].as_str().unwrap().starts_with("replace docs/bad.md"), "{fixed}");
    assert_eq!(bench.dirt(), "");
    assert_eq!(session.fails("markdownlint", json!({ "files": ["/etc/motd"] }))["code"], "invalid_argument");
}

#[test]
fn yamllint_finds_with_line_and_column() {
    let Some(python) = python() else { return };
    let bench = Bench::new(&[("good.yaml", "---\na: 1\n"), ("bad.yaml", "---\na:   [1,2\n")]).with(python);
    let mut session = bench.serve();
    let found = session.ok("yamllint", json!({}));
    assert_eq!(found["success"], false);
    assert_eq!(found["diagnostics"][0]["file"], "bad.yaml", "{found}");
    assert!(found["diagnostics"][0]["line"].as_u64() >= Some(2), "{found}");
    assert_eq!(session.ok("yamllint", json!({ "files": ["good.yaml"] }))["success"], true);
    assert_eq!(
        session.fails("yamllint", json!({ "args": ["-d", "{extends: /etc/x}"] }))["code"],
        "invalid_argument"
    );
}

#[test]
fn yamllint_looks_at_the_files_that_the_projects_own_configuration_names() {
    let Some(python) = python() else { return };
    let own = "extends: default\nyaml-files: ['*.tpl']\n";
    let bench = Bench::new(&[
        (".yamllint", own),
        ("a.yaml", "---\na:   1\n"),
        ("b.tpl", "---\nb:   1\n"),
        ("sub/c.tpl", "---\nc:   1\n"),
    ])
    .with(python);
    let mut session = bench.serve();
    let files = |found: &Value| {
        let mut all: Vec<String> = found["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["file"].as_str().unwrap().to_owned())
            .collect();
        all.sort();
        all.dedup();
        all
    };
    assert_eq!(files(&session.ok("yamllint", json!({}))), ["b.tpl", "sub/c.tpl"]);
    assert_eq!(files(&session.ok("yamllint", json!({ "directory": "sub" }))), ["sub/c.tpl"]);
    let all = session.ok("lint_all", json!({}));
    assert_eq!(files(&all["linters"][0]), ["b.tpl", "sub/c.tpl"], "{all}");
    // Whether it names them is seen each time.
    bench.put(".yamllint", "---\nextends: default\n# yaml-files: none\n");
    assert_eq!(files(&session.ok("yamllint", json!({}))), ["a.yaml"]);
    bench.put(".yamllint", own);
    assert_eq!(files(&session.ok("yamllint", json!({}))), ["b.tpl", "sub/c.tpl"]);
}

/// The server's command without what root may do to folders that are closed to it: then they are closed to these tests, too.
fn without_overrides(server: &std::process::Command) -> std::process::Command {
    let mut command = std::process::Command::new("setpriv");
    command.arg("--bounding-set=-dac_override,-dac_read_search").arg("--").arg(server.get_program());
    command.args(server.get_args());
    command.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    for (name, _) in server.get_envs().filter(|(_, value)| value.is_none()) {
        command.env_remove(name);
    }
    command.current_dir(server.get_current_dir().unwrap());
    command
}

#[test]
fn a_folder_that_cannot_be_looked_into_has_nothing_for_a_linter() {
    let bench = Bench::new(&[("a.yaml", "---\na: 1\n"), ("db/b.yaml", "---\nb: 1\n")]);
    let bench = recorder(bench, "yamllint", "exit 0");
    let mode = |mode| {
        let folder = bench.place.root().join("db");
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o000);
    let mut server = bench.command();
    if std::fs::read_dir(bench.place.root().join("db")).is_ok() {
        if std::process::Command::new("setpriv").arg("--version").output().is_err() {
            mode(0o755);
            return crate::skip("a folder that is closed to root (Debian: apt-get install util-linux)");
        }
        server = without_overrides(&server);
    }
    let server = server.args(["serve", "--toolsets", "all"]);
    let mut session = Session(Wire::greeted(server, &json!({})));
    let linted = session.ok("yamllint", json!({}));
    assert_eq!(recorded(&mut session, &linted), ["-f", "parsable", "a.yaml"]);
    mode(0o755);
    let linted = session.ok("yamllint", json!({}));
    assert_eq!(
        recorded(&mut session, &linted),
        ["-f", "parsable", "a.yaml", "db/b.yaml"],
        "it is seen again"
    );
}

#[test]
fn linters_of_go_look_nothing_up_whoever_starts_them() {
    let bench = Bench::new(&[
        ("go.mod", "module x\n"),
        ("gatewright.toml", "[devtools]\nlinters = ['golangci-lint']\n"),
    ]);
    let says = "echo $GOTOOLCHAIN $GOPROXY $GOTELEMETRY >&2; echo '{}'";
    let bench = recorder(recorder(bench, "golangci-lint", says), "govulncheck", says);
    let mut session = bench.serve();
    for (tool, arguments) in [
        ("go_lint", json!({})),
        ("lint_all", json!({})),
        ("analyze_command", json!({ "command": "golangci-lint run" })),
        ("analyze_command", json!({ "command": "govulncheck ./..." })),
    ] {
        let linted = session.ok(tool, arguments.clone());
        let said = recorded(&mut session, &linted);
        assert_eq!(said.last().unwrap(), "local off off", "{tool} {arguments}");
    }
}

#[test]
fn eslint_of_the_project_itself_finds_and_fixes() {
    let Some(node) = node() else { return };
    let bench = Bench::new(&[
        (
            "package.json",
            "{ \"name\": \"web\", \"type\": \"module\", \"devDependencies\": { \"eslint\": \"10\" } }\n",
        ),
        (
            "eslint.config.js",
            "export default [{ rules: { \"no-undef\": \"error\", \"no-extra-boolean-cast\": \"error\" } }];\n",
        ),
        ("src/good.js", "export const a = 1;\n"),
        ("src/bad.js", "export const b = missing;\nif (!!b) { b(); }\n"),
        (".gitignore", "node_modules\n"),
    ]);
    // The project's own installation: a link into a folder of programs that is not on the PATH.
    std::os::unix::fs::symlink(node.parent().unwrap(), bench.place.root().join("node_modules")).unwrap();
    let bench = bench.with(node);
    let mut session = bench.serve();
    let found = session.ok("eslint", json!({ "files": ["src"] }));
    assert_eq!(found["success"], false, "{found}");
    let rules: Vec<&str> =
        found["diagnostics"].as_array().unwrap().iter().filter_map(|d| d["rule"].as_str()).collect();
    assert!(rules.contains(&"no-undef"), "{found}");
    assert_eq!(found["diagnostics"][0]["file"], "src/bad.js");
    assert_eq!(session.ok("eslint", json!({ "files": ["src/good.js"] }))["success"], true);
    let fixed = session.ok("eslint", json!({ "files": ["src"], "fix": true }));
    assert!(fixed["plan"]["diff"].as_str().unwrap().contains("+if (b)"), "{fixed}");
    assert_eq!(
        session.fails("eslint", json!({ "args": ["--rulesdir", "/tmp/x"] }))["code"],
        "invalid_argument"
    );
    let all = session.ok("lint_all", json!({ "fix": true }));
    let eslint = all["linters"].as_array().unwrap().iter().find(|l| l["linter"] == "eslint").unwrap();
    assert_eq!(eslint["success"], false, "{all}");
    assert!(all["plan"]["diff"].as_str().unwrap().contains("+if (b)"), "{all}");
    assert!(session.ok("lint_all", json!({}))["plan"]["effects"].as_array().unwrap().is_empty());
}

#[test]
fn commitlint_checks_a_message_that_no_argument_carries() {
    let Some(node) = node() else { return };
    let bench = Bench::new(&[
        ("package.json", "{ \"name\": \"x\", \"type\": \"module\" }\n"),
        ("commitlint.config.js", "export default { rules: { \"type-enum\": [2, \"always\", [\"feat\", \"fix\"]], \"type-empty\": [2, \"never\"] } };\n"),
    ])
    .with(node);
    let mut session = bench.serve();
    let good = session.ok("commitlint", json!({ "message": "feat: a && b > c; `x`" }));
    assert_eq!(good["success"], true, "{good}");
    assert_eq!(good["runs"][0]["command"], "commitlint --edit message");
    let bad = session.ok("commitlint", json!({ "message": "nope: something" }));
    assert_eq!(bad["success"], false, "{bad}");
    assert!(bad["diagnostics"].to_string().contains("type-enum"), "{bad}");
    // Without one, it is that of the last commit.
    assert_eq!(session.ok("commitlint", json!({}))["success"], false, "the first commit has no type");
    bench.commit("fix: nothing much");
    assert_eq!(session.ok("commitlint", json!({}))["success"], true);
    assert_eq!(session.fails("commitlint", json!({ "message": "" }))["code"], "invalid_argument");
}

/// A program that stands for one that no registry here carries: it answers with the arguments that it was given.
fn recorder(bench: Bench, program: &str, says: &str) -> Bench {
    let folder = bench.place.root().parent().unwrap().join("recorders");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(program);
    std::fs::write(&file, format!("#!/bin/sh\nfor a in \"$@\"; do echo \"$a\" >&2; done\n{says}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.with(folder)
}

fn recorded(session: &mut Session, result: &Value) -> Vec<String> {
    let shown = session.ok("run_output", json!({ "run": result["runs"][0]["run"], "stream": "stderr" }));
    shown["lines"].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn actionlint_is_given_exactly_what_is_asked_recorded_since_it_cannot_be_had() {
    let finding = r#"[{"message":"bad","filepath":".github/workflows/ci.yml","line":3,"column":5,"kind":"syntax-check","snippet":"","end_column":6}]"#;
    let bench = Bench::new(&[(".github/workflows/ci.yml", "on: push\n")]);
    let bench = recorder(bench, "actionlint", &format!("echo '{finding}'; exit 1"));
    let mut session = bench.serve();
    let found = session.ok(
        "actionlint",
        json!({ "files": [".github/workflows/ci.yml"], "shellcheck": false, "ignore": ["SC2086"], "noColor": true, "verbose": true, "format": "sarif" }),
    );
    assert_eq!(found["success"], false, "{found}");
    assert_eq!(
        recorded(&mut session, &found),
        [
            "-format",
            "{{json .}}",
            "-shellcheck=",
            "-pyflakes=",
            "-verbose",
            "-no-color",
            "-ignore",
            "SC2086",
            ".github/workflows/ci.yml"
        ]
    );
    assert_eq!(
        (found["diagnostics"][0]["line"].as_u64(), found["sarif"]["version"].as_str()),
        (Some(3), Some("2.1.0")),
        "{found}"
    );
    let json = session.ok("actionlint", json!({ "format": "json", "pyflakes": true, "color": true }));
    assert_eq!(json["raw"][0]["kind"], "syntax-check", "{json}");
    assert_eq!(recorded(&mut session, &json), ["-format", "{{json .}}", "-color"]);
}

#[test]
fn golangci_lint_and_govulncheck_are_given_exactly_what_is_asked_recorded_since_they_cannot_be_had() {
    let bench = Bench::new(&[("go.mod", "module x\n")]);
    let bench = recorder(
        recorder(bench, "golangci-lint", "echo '{\"Issues\":[]}'"),
        "govulncheck",
        "echo '{\"config\":{}}'",
    );
    let mut session = bench.serve();
    let linted = session.ok(
        "go_lint",
        json!({ "config": ".golangci.yml", "fix": true, "verbose": true, "concurrency": 2, "enabledLinters": ["errcheck", "unused"], "disabledLinters": ["govet"], "paths": ["./store/..."] }),
    );
    assert_eq!(
        recorded(&mut session, &linted),
        [
            "run",
            "--output.json.path=stdout",
            "--config=.golangci.yml",
            "--fix",
            "--verbose",
            "--concurrency=2",
            "--enable=errcheck,unused",
            "--disable=govet",
            "./store/..."
        ]
    );
    let checked = session
        .ok("go_vulncheck", json!({ "mode": "binary", "package": "bin/app", "json": true, "verbose": true }));
    assert_eq!(recorded(&mut session, &checked), ["-format=json", "-mode=binary", "bin/app"]);
    assert!(checked["messages"][0]["config"].is_object(), "{checked}");
    let sources = session.ok("go_vulncheck", json!({}));
    assert_eq!(recorded(&mut session, &sources), ["-format=json", "-mode=source", "./..."]);
    assert_eq!((&sources["success"], &sources["messages"]), (&json!(true), &Value::Null), "{sources}");
    assert_eq!(session.fails("go_vulncheck", json!({ "mode": "binary" }))["code"], "invalid_argument");
    let formatted = session.ok("go_lint", json!({ "format": "sarif" }));
    assert_eq!(recorded(&mut session, &formatted), ["run", "--output.sarif.path=stdout", "./..."]);
    assert_ne!(formatted["parsed"]["state"], "fully", "what cannot be read is said to be so: {formatted}");
}

/// As govulncheck says them: asked for JSON, it ends well whatever it finds.
const FINDING: &str = r#"cat <<'END'
{"osv":{"id":"GO-2021-0113","summary":"Out-of-bounds read in x/text"}}
{"finding":{"osv":"GO-2021-0113","fixed_version":"v0.3.7","trace":[{"module":"golang.org/x/text","version":"v0.3.5","package":"golang.org/x/text/language","function":"Parse"},{"module":"example.com/m","package":"example.com/m","function":"main","position":{"filename":"main.go","line":9,"column":20}}]}}
END"#;

#[test]
fn go_vulncheck_fails_where_something_vulnerable_is_called_recorded_since_it_cannot_be_had() {
    let bench = recorder(Bench::new(&[("go.mod", "module x\n")]), "govulncheck", FINDING);
    let mut session = bench.serve();
    let found = session.ok("go_vulncheck", json!({ "verbose": true }));
    assert_eq!(found["success"], false, "its exit code says nothing of it: {found}");
    assert!(found["message"].as_str().unwrap().contains("1 vulnerability"), "{found}");
    assert_eq!(found["diagnostics"][0]["rule"], "GO-2021-0113", "{found}");
    let trace =
        json!({ "osv": "GO-2021-0113", "calls": ["example.com/m.main", "golang.org/x/text/language.Parse"] });
    assert_eq!(found["traces"], json!([trace]), "{found}");
    assert!(session.ok("go_vulncheck", json!({})).get("traces").is_none());
}

#[test]
fn go_lint_says_what_it_found_recorded_since_it_cannot_be_had() {
    let issue = "echo '{\"Issues\":[{\"FromLinter\":\"errcheck\",\"Text\":\"unchecked\",\"Pos\":{\"Filename\":\"a.go\",\"Line\":3,\"Column\":2}}]}'; exit 1";
    let bench = recorder(Bench::new(&[("go.mod", "module x\n")]), "golangci-lint", issue);
    let mut session = bench.serve();
    let found = session.ok("go_lint", json!({}));
    assert_eq!(found["success"], false, "{found}");
    let first = &found["diagnostics"][0];
    assert_eq!(
        (&first["file"], &first["line"], &first["rule"]),
        (&json!("a.go"), &json!(3), &json!("errcheck"))
    );
}

#[test]
fn a_program_that_is_missing_is_said_with_what_to_do() {
    let bench = Bench::new(&[("a.md", "# A\n")]);
    let mut session = bench.serve();
    let fault = session.fails("go_vulncheck", json!({}));
    assert_eq!(fault["code"], "tool_execution_failed");
    assert!(fault["message"].as_str().unwrap().contains("govulncheck"), "{fault}");
    assert!(
        fault["suggestions"][0].as_str().unwrap().contains("go install golang.org/x/vuln/cmd/govulncheck"),
        "{fault}"
    );
}
