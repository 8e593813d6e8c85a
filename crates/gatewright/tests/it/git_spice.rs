//! The argument lists of git-spice's six tools, to the word, through the protocol and a recorder in its place: the real program cannot
//! be had on this machine. What would make them work on a repository (a throw-away clone, refs as effects, pushes as
//! requests) is not built, so the plugin is a test's and is not offered.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::bench::Bench;
use super::trust::{fails, ok};

const PLUGIN: &str = r#"schema = 1
[plugin]
name = "git-spice"
version = "0.1.0"
description = "Stacked branches."
required-commands = ["git-spice"]
[config.defaultBranch]
type = "ref"
description = "The trunk."
[[tool]]
name = "branch_create"
title = "Create a stacked branch"
description = "Creates a branch on top of the current one, and commits what is staged."
kind = "read"
program = "git-spice"
args = ["branch", "create", "--no-prompt", "--target={base}", { when = "message", then = ["--message={message}"], else = ["--no-commit"] }, "--", "{name}"]
input.name = { type = "ref", required = true, max-length = 250, description = "The branch." }
input.base = { type = "ref", description = "What it stands on." }
input.message = { type = "text", description = "The commit's message." }
output = { parser = "json-lines" }
example = [{ input = { name = "a", message = "feat: a (b)" }, argv = ["branch", "create", "--no-prompt", "--message=feat: a (b)", "--", "a"] }]
refuses = [{ input = { name = "-x" }, why = "name" }]
[[tool]]
name = "branch_checkout"
title = "Check a branch out"
description = "Goes to a branch."
kind = "read"
program = "git-spice"
args = ["branch", "checkout", "--no-prompt", "--", "{name}"]
input.name = { type = "ref", required = true, max-length = 250, description = "The branch." }
output = { parser = "json-lines" }
example = [{ input = { name = "a/b" }, argv = ["branch", "checkout", "--no-prompt", "--", "a/b"] }]
[[tool]]
name = "stack_submit"
title = "Submit the stack"
description = "Submits change requests for the stack."
kind = "read"
program = "git-spice"
args = ["stack", "submit", "--no-prompt", { when = "fill", then = ["--fill"] }, { when = "draft", is = true, then = ["--draft"] }, { when = "draft", is = false, then = ["--no-draft"] }]
input.fill = { type = "boolean", description = "Fill titles from commits." }
input.draft = { type = "boolean", description = "As drafts." }
output = { parser = "json-lines" }
example = [{ argv = ["stack", "submit", "--no-prompt"] }, { input = { fill = true, draft = true }, argv = ["stack", "submit", "--no-prompt", "--fill", "--draft"] }, { input = { draft = false }, argv = ["stack", "submit", "--no-prompt", "--no-draft"] }]
[[tool]]
name = "stack_restack"
title = "Restack"
description = "Rebases the stack."
kind = "read"
program = "git-spice"
args = ["stack", "restack", "--no-prompt"]
output = { parser = "json-lines" }
example = [{ argv = ["stack", "restack", "--no-prompt"] }]
[[tool]]
name = "log_short"
title = "The stack"
description = "Shows the stack."
kind = "read"
program = "git-spice"
args = ["log", "short", "--no-prompt", "--json", "--no-cr-status"]
output = { parser = "json-lines" }
example = [{ argv = ["log", "short", "--no-prompt", "--json", "--no-cr-status"] }]
[[tool]]
name = "repo_sync"
title = "Sync with the remote"
description = "Pulls, and removes merged branches."
kind = "read"
program = "git-spice"
args = ["repo", "sync", "--no-prompt", "--restack={autoRestack}"]
input.autoRestack = { type = "enum", values = ["none", "aboves", "upstack"], description = "What is restacked." }
output = { parser = "json-lines" }
example = [{ argv = ["repo", "sync", "--no-prompt"] }]
"#;

/// Says its arguments as a line of JSON.
const RECORDER: &str =
    "#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps({'argv': sys.argv[1:]}))\n";

#[test]
fn the_six_tools_of_git_spice_make_exactly_these_argument_lists() {
    let bench = Bench::new(&[("a.txt", "a\n")]);
    let folder = bench.place.scratch.path().join("recorder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("git-spice"), RECORDER).unwrap();
    std::fs::set_permissions(folder.join("git-spice"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let bench = bench.with(folder);
    let plugins = bench.place.scratch.path().join("config/gatewright/plugins");
    std::fs::create_dir_all(&plugins).unwrap();
    std::fs::write(plugins.join("git-spice.toml"), PLUGIN).unwrap();
    fails(&bench, &["approvals", "accept", "plugin:git-spice"]);
    ok(&bench, &["approvals", "accept", "plugin:git-spice"]);
    let mut session = bench.serve();
    let create = ["branch", "create", "--no-prompt"];
    let long = "n".repeat(250);
    let cases: Vec<(&str, Value, Vec<&str>)> = vec![
        ("branch_create", json!({ "name": "a" }), [&create[..], &["--no-commit", "--", "a"]].concat()),
        (
            "branch_create",
            json!({ "name": "a", "base": "main" }),
            [&create[..], &["--target=main", "--no-commit", "--", "a"]].concat(),
        ),
        (
            "branch_create",
            json!({ "name": "x/y", "message": "feat(api): a (b) \"c\" $(id); `d` && e" }),
            [&create[..], &["--message=feat(api): a (b) \"c\" $(id); `d` && e", "--", "x/y"]].concat(),
        ),
        (
            "branch_create",
            json!({ "name": "a", "message": "one\n\ntwo" }),
            [&create[..], &["--message=one\n\ntwo", "--", "a"]].concat(),
        ),
        (
            "branch_create",
            json!({ "name": "a", "message": "--amend" }),
            [&create[..], &["--message=--amend", "--", "a"]].concat(),
        ),
        ("branch_checkout", json!({ "name": long }), vec!["branch", "checkout", "--no-prompt", "--", &long]),
        ("stack_submit", json!({}), vec!["stack", "submit", "--no-prompt"]),
        (
            "stack_submit",
            json!({ "fill": true, "draft": true }),
            vec!["stack", "submit", "--no-prompt", "--fill", "--draft"],
        ),
        (
            "stack_submit",
            json!({ "fill": false, "draft": false }),
            vec!["stack", "submit", "--no-prompt", "--no-draft"],
        ),
        ("stack_restack", json!({}), vec!["stack", "restack", "--no-prompt"]),
        ("log_short", json!({}), vec!["log", "short", "--no-prompt", "--json", "--no-cr-status"]),
        ("repo_sync", json!({}), vec!["repo", "sync", "--no-prompt"]),
        (
            "repo_sync",
            json!({ "autoRestack": "aboves" }),
            vec!["repo", "sync", "--no-prompt", "--restack=aboves"],
        ),
    ];
    for (tool, given, want) in cases {
        let answer = session.ok(&format!("git_spice_{tool}"), given.clone());
        assert_eq!(answer["result"]["values"][0]["argv"], json!(want), "{tool} {given}: {answer}");
    }
    for (tool, given) in [
        ("branch_create", json!({ "name": "-x" })),
        ("branch_create", json!({ "name": "a..b" })),
        ("branch_create", json!({ "name": "a b" })),
        ("branch_checkout", json!({ "name": "n".repeat(251) })),
        ("branch_checkout", json!({})),
        ("repo_sync", json!({ "autoRestack": "all" })),
        ("stack_submit", json!({ "fill": "yes" })),
    ] {
        let error = session.fails(&format!("git_spice_{tool}"), given.clone());
        assert_eq!(error["code"], "invalid_argument", "{tool} {given}: {error}");
    }
}
