//! What must hold of tools that install something once their plan stands.

use std::sync::Arc;

use contract::{Code, Fault, Principal, Status, Toolset};
use exec::run::{Command, Launcher, Level};
use gatewright_kit as kit;
use kit::testing::Bench;
use kit::testing::bench::Setup;
use kit::{Answer, Define, Doc, Entry, Family, Run, RunDesk};
use policy::{Decision, Policy, Rule, Rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const INSTALLING: Toolset = Toolset("installing");

/// What the specimen takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What the rehearsal does.
    #[serde(default)]
    first: Option<String>,
    /// What follows.
    #[serde(default)]
    then: Option<String>,
}

/// What it answers.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// What the rehearsal said.
    #[serde(skip_serializing_if = "Option::is_none")]
    locked: Option<String>,
    /// What was said afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    installed: Option<String>,
}

#[derive(Default)]
struct Installs;

impl Define for Installs {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "installs";
    const TOOLSET: Toolset = INSTALLING;
    const DOC: Doc = Doc { title: "Specimen", description: "Locks and installs." };
    // The specimen is the test's own; no shipped tool starts a shell.
    const PROGRAMS: &'static [&'static str] = &["sh"];
    const SETTLES: &'static [&'static str] = &["**/modules", "env"];

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Run for Installs {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let script =
            input.first.unwrap_or_else(|| "echo 1 > lock; mkdir modules; echo early > modules/early".into());
        let ran = desk.run(Command::new("sh", &["-c", &script])).await?;
        let output = Output { locked: Some(ran.stdout.text()), installed: None };
        Ok(Answer { success: ran.is_success(), ..Answer::new("Locked.".into(), output) })
    }

    async fn settle(&self, input: Input, desk: RunDesk) -> Result<Option<Answer<Output>>, Fault> {
        let script = match input.then.as_deref() {
            None => {
                "mkdir -p modules/.bin modules/a && (cat lock || true) > modules/a/index && ln -s ../a/index modules/.bin/a"
            }
            Some("nothing") => return Ok(None),
            Some("panic") => panic!("a defect"),
            Some("refuse") => {
                return Err(Fault::new(Code::ConfinementUnavailable, "no network here").suggest("Use Linux."));
            }
            Some(script) => script,
        };
        let ran = desk.run(Command::new("sh", &["-c", script])).await?;
        let output = Output { locked: None, installed: Some(ran.stdout.text()) };
        Ok(Some(Answer { success: ran.is_success(), ..Answer::new("Installed.".into(), output) }))
    }
}

static FAMILY: Family = Family {
    name: "installing",
    guide: "What tests need: installs.",
    shelves: &[],
    markers: &[],
    toolsets: &[INSTALLING],
    tools: &[Entry::run::<Installs>()],
    sections: &[],
};

fn git(bench: &Bench, args: &[&str]) {
    let git = std::process::Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(bench.root())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output();
    assert!(git.unwrap().status.success(), "git {args:?}");
}

const IGNORED: &str = "modules/\nenv/\n.env\n";

/// A repository that ignores what is installed.
fn bench(setup: Setup) -> Bench {
    let bench = Bench::with(&[&FAMILY], &[("tracked", "t\n"), (".gitignore", IGNORED)], setup);
    git(&bench, &["init", "--quiet", "--initial-branch=main"]);
    git(&bench, &["add", "--all"]);
    git(&bench, &["commit", "--quiet", "--message", "first"]);
    bench
}

fn copied() -> Setup {
    let launcher = Launcher::clone(&kit::testing::launcher()).at_most(Level::Filters);
    Setup { launcher: Some(Arc::new(launcher)), ..Setup::default() }
}

#[test]
fn nothing_is_installed_before_the_plan_stands_and_then_it_is_over_that_plan() {
    for setup in [Setup::default(), copied()] {
        let bench = bench(setup);
        let before = bench.snapshot();
        let rehearsed = bench.reply("installs", json!({}));
        assert_eq!(rehearsed.envelope.status, Status::Proposed);
        assert_eq!(bench.snapshot(), before, "a rehearsal installs nothing");
        let plan = rehearsed.envelope.plan.unwrap();
        assert_eq!(plan.effects, ["create lock (2 bytes)"], "what is installed is no part of a plan");

        let plan = json!({ "first": "echo 1 > lock" });
        let plan = bench.reply("installs", plan).envelope.plan.unwrap().id.to_string();
        let earlier = bench.transcripts().len();
        let done = bench.call("installs", json!({ "first": "echo 1 > lock", "apply": true, "plan": plan }));
        let reply = done.result.unwrap();
        assert!(reply.envelope.success, "{reply:?}");
        assert_eq!(reply.envelope.message, "Locked. Installed.");
        assert_eq!(reply.envelope.side_writes.as_ref().unwrap().paths, ["modules/"]);
        assert_eq!(reply.envelope.runs.len(), 1, "the rehearsal does not run again");
        assert_eq!(reply.output["installed"], "");
        assert_eq!(reply.output["locked"], "", "what was rehearsed is still said");
        let after = bench.snapshot();
        assert_eq!(after["modules/a/index"], b"0644\n1\n", "it saw the lock that was applied");
        assert_eq!(after["modules/.bin/a"], b"../a/index");
        let transcripts = bench.transcripts();
        assert_eq!(transcripts.len() - earlier, 1, "one call, one transcript");
        assert_eq!(transcripts.last().unwrap().exit_code, Some(0));

        let target = done.metadata.transcript.unwrap();
        kit::undo::undo(&bench.engine, &target, &Principal::Local { uid: 0 }, true).unwrap();
        let undone = bench.snapshot();
        assert!(!undone.contains_key("lock") && undone.contains_key("modules/a/index"));
    }
}

#[test]
fn nothing_stays_but_what_is_declared_and_ignored_and_no_secret() {
    let then = "mkdir -p modules/a src/modules other env && echo x > modules/a/x && echo s > modules/a/.env && \
                echo x > src/modules/x && echo x > other/x && echo changed > tracked && echo 2 > lock && \
                echo hook > .git/hooks/post-commit; touch gatewright.toml; ln -s /etc/passwd env/file; \
                ln -s /bin/sh env/sh; ln -s ../../x env/up; exit 0";
    for setup in [Setup::default(), copied()] {
        let bench = bench(setup);
        let asked = json!({ "first": "echo 1 > lock", "then": then, "apply": true });
        let reply = bench.reply("installs", asked);
        let after = bench.snapshot();
        let left: Vec<&str> = after
            .keys()
            .filter(|path| !path.starts_with(".git/") && !path.ends_with('/'))
            .map(String::as_str)
            .collect();
        assert_eq!(
            left,
            [".gitignore", "env/sh", "lock", "modules/a/x", "src/modules/x", "tracked"],
            "{reply:?}"
        );
        assert_eq!((&after["lock"][..], &after["tracked"][..]), (&b"0644\n1\n"[..], &b"0644\nt\n"[..]));
        assert!(!after.contains_key(".git/hooks/post-commit"));
        assert!(!reply.envelope.success, "what did not stay is no success");
        for said in ["env/file", "env/up", "1 file(s) called `.env…`"] {
            assert!(reply.envelope.message.contains(said), "{said}: {}", reply.envelope.message);
        }
    }
}

#[test]
fn what_the_project_does_not_ignore_is_not_kept_and_the_answer_says_why() {
    let bench = bench(Setup::default());
    std::fs::write(bench.root().join(".gitignore"), "other/\n").unwrap();
    let before = bench.snapshot();
    let reply = bench.reply("installs", json!({ "first": "true", "apply": true }));
    assert!(!reply.envelope.success);
    let said = "Not kept: modules: git does not ignore it here; add `modules/` to .gitignore.";
    assert!(reply.envelope.message.contains(said), "{}", reply.envelope.message);
    assert_eq!(bench.snapshot(), before);
}

#[test]
fn a_failure_after_the_apply_leaves_the_plan_and_nothing_else_and_says_so() {
    let half = "mkdir modules && echo half > modules/half; exit 3";
    for (then, said) in [
        (half, "Locked. Installed. What was planned is applied and stays."),
        ("panic", "The plan is applied and stays; what was to follow failed: it failed unexpectedly."),
        ("refuse", "The plan is applied and stays; what was to follow failed: no network here. Use Linux."),
    ] {
        let bench = bench(Setup::default());
        let reply = bench.reply("installs", json!({ "first": "echo 1 > lock", "then": then, "apply": true }));
        assert!(!reply.envelope.success, "{then}");
        assert!(reply.envelope.message.contains(said), "{then}: {}", reply.envelope.message);
        let after = bench.snapshot();
        assert!(after.contains_key("lock") && !after.contains_key("modules/"), "{then}");
        // The next call has nothing to lock, and installs.
        let again = bench.reply("installs", json!({ "first": "true", "apply": true }));
        assert!(again.envelope.success && bench.snapshot().contains_key("modules/a/index"), "{again:?}");
    }
}

#[test]
fn a_rehearsal_without_success_is_followed_by_nothing() {
    let bench = bench(Setup::default());
    let before = bench.snapshot();
    let reply = bench.reply("installs", json!({ "first": "exit 1", "apply": true }));
    assert!(!reply.envelope.success && reply.envelope.runs.len() == 1);
    let fault = bench.fault("installs", json!({ "first": "mkfifo pipe", "apply": true }));
    assert_eq!(fault.code, Code::PathNotAllowed);
    assert_eq!(bench.snapshot(), before);
    let quiet = bench.reply("installs", json!({ "first": "true", "then": "nothing", "apply": true }));
    assert_eq!(quiet.envelope.message, "Locked.");
}

#[test]
fn what_was_installed_before_is_replaced_whatever_it_was() {
    let bench = bench(Setup::default());
    let first = "mkdir -p modules/old/deep modules/kept packages/b && echo 1 > modules/old/deep/x && echo 1 > modules/kept/x \
                 && ln -s ../packages/b modules/b && echo f > modules/dir";
    bench.reply("installs", json!({ "first": "true", "then": first, "apply": true }));
    let then = "rm -r modules && mkdir -p modules/kept modules/b modules/dir && echo 2 > modules/kept/x && \
                echo 2 > modules/b/x && echo 2 > modules/dir/x && mkdir -p modules/old && ln -s kept/x modules/old/deep";
    let reply = bench.reply("installs", json!({ "first": "true", "then": then, "apply": true }));
    assert!(reply.envelope.success, "{reply:?}");
    let after = bench.snapshot();
    assert_eq!(after["modules/kept/x"], b"0644\n2\n");
    assert_eq!(
        (&after["modules/b/x"][..], &after["modules/dir/x"][..]),
        (&b"0644\n2\n"[..], &b"0644\n2\n"[..])
    );
    assert_eq!(after["modules/old/deep"], b"kept/x");
    let then = "rm -r modules/old modules/b";
    bench.reply("installs", json!({ "first": "true", "then": then, "apply": true }));
    let after = bench.snapshot();
    assert!(
        !after.contains_key("modules/old/") && !after.contains_key("modules/b/"),
        "empty folders go, too"
    );
    assert!(after.contains_key("modules/kept/x"));
}

#[test]
fn policy_that_wants_consent_is_asked_for_an_installation_without_a_plan_too() {
    let rules = vec![Rule {
        tools: vec!["installs".into()],
        toolsets: vec![],
        apply: Some(true),
        foreign_code: None,
        decision: Decision::Confirm,
    }];
    let policy = Policy { user: Rules { rules, ..Rules::default() }, project: Rules::default() };
    let bench = bench(Setup { policy, ..Setup::default() });
    let asked = json!({ "first": "true", "apply": true });
    let fault = bench.fault("installs", asked.clone());
    assert_eq!(fault.code, Code::ConfirmationRequired);
    assert!(!bench.snapshot().contains_key("modules/"));
    let plan = bench.reply("installs", json!({ "first": "true" })).envelope.plan.unwrap().id.to_string();
    let reply = bench.reply("installs", json!({ "first": "true", "apply": true, "plan": plan }));
    assert!(reply.envelope.success && bench.snapshot().contains_key("modules/a/index"), "{reply:?}");
}

#[test]
fn the_laws_of_runs_hold_for_tools_that_install() {
    for most in [Level::Full, Level::Filters] {
        let held = kit::testing::runs(&[&FAMILY], &[], most);
        assert_eq!(held.tools, ["installs"]);
    }
}
