//! The laws of tools that start programs.
//!
//! They are tried with a stand-in for every program, which writes what a program may write and some things that it may not,
//! always the same: what is held to the law is what a tool declares and what the engine makes of it. What the real programs do
//! is tested through the protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::Arc;

use contract::{Code, Kind, Principal, Reply, Status};
use exec::run::Level;
use policy::{Decision, Policy, Rule, Rules};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::erased::Tool;
use crate::family::Family;
use crate::registry::Registry;
use crate::schema::Compiled;
use crate::testing::bench::{Bench, Setup};

/// What git ignores in the fixture.
const IGNORED: &str = "build/\n.env\n";

/// What the stand-in changes, adds and removes of what is tracked: the proposal.
const PROPOSED: [&str; 3] = ["doomed.txt", "made.txt", "tracked.txt"];

/// Where it leaves what was built: ignored.
const BUILT: &str = "build/out.o";

/// A secret that it leaves: ignored, too, and yet never kept without a plan.
const SECRET: &str = ".env";

type Files = BTreeMap<String, Vec<u8>>;

/// Checks every tool of `families` that starts programs and proposes what they write, on a repository with `files`, with the first
/// of its examples; and that a rehearsal with any other of them changes nothing that was not declared.
///
/// Programs are confined as far as this machine does, and no further than `most`: below that of namespaces they work over a copy
/// instead of a layer, and what needs the network is refused.
pub fn runs(families: &[&Family], files: &[(&str, &str)], most: Level) -> Held {
    let registry = Registry::new(families, |_| true).expect("names are unique and schemas compile");
    let mut held = Held::default();
    for registered in registry.iter().filter(|registered| registered.head().kind == Kind::Run) {
        let tool = &registered.tool;
        let House { bench, .. } = &House::new(families, files, tool.programs(), most, Policy::default());
        let name = tool.head().name.to_string();
        if refused(bench, tool) {
            held.refused.push(name);
            continue;
        }
        // What goes on until it is cancelled is tried through the protocol.
        for example in tool.examples().iter().filter(|example| example["watch"] != true) {
            rehearsal(bench, tool, example);
        }
        whole(bench, tool);
        owner(bench, tool);
        denied(families, files, most, tool);
        held.tools.push(name);
    }
    held
}

/// Which tools were held to the law.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Those that did something.
    pub tools: Vec<String>,
    /// Those that are refused where programs are confined no further: they did nothing.
    pub refused: Vec<String>,
}

/// Whether the tool is refused for want of confinement; then it has left nothing.
fn refused(bench: &Bench, tool: &Tool) -> bool {
    let before = bench.snapshot();
    let arguments = tool.examples().first().expect("an example").clone();
    let done = bench.call(tool.head().name.as_str(), arguments);
    let is_refused = done.result.is_err_and(|fault| fault.code == Code::ConfinementUnavailable);
    assert!(
        !is_refused || bench.snapshot() == before,
        "{}: it was refused and left something",
        tool.head().name
    );
    is_refused
}

/// A repository, an engine over it, and stand-ins for the programs of one tool.
struct House {
    bench: Bench,
    _programs: TempDir,
}

impl House {
    fn new(
        families: &[&Family],
        files: &[(&str, &str)],
        programs: &[Arc<str>],
        most: Level,
        policy: Policy,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = vec![folder.path().to_owned(), "/usr/bin".into(), "/bin".into()];
        let launcher = Arc::new(super::launcher().as_ref().clone().at_most(most).searching(path));
        let setup = Setup { policy, launcher: Some(launcher), ..Setup::default() };
        let tracked = [("tracked.txt", "as it was\n"), ("doomed.txt", "here\n"), (".gitignore", IGNORED)];
        let all: Vec<(&str, &str)> = files.iter().copied().chain(tracked).collect();
        let bench = Bench::with(families, &all, setup);
        for program in programs {
            let file = folder.path().join(&**program);
            std::fs::write(&file, stand_in()).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]);
            let done =
                git.args(args).current_dir(bench.root()).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
            assert!(done.unwrap().status.success(), "git {args:?}");
        };
        git(&["init", "--quiet", "--initial-branch=main"]);
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", "first"]);
        Self { bench, _programs: folder }
    }
}

/// Whatever it is called and asked, and wherever in the root or in a copy of it, it does the same.
fn stand_in() -> String {
    format!(
        "#!/bin/sh\nwhile [ ! -e tracked.txt ]; do [ \"$PWD\" != / ] || exit 9; cd ..; done\n\
         echo 'by a program' > tracked.txt\necho made > made.txt\nrm -f doomed.txt\nmkdir -p build\n\
         echo object > {BUILT}\necho S=1 > {SECRET}\necho x > \"$HOME/left\"\n\
         echo hook > .git/hooks/post-commit\nexit 0\n"
    )
}

/// What is there in one and not, or otherwise, in the other; without folders.
fn differing(before: &Files, after: &Files) -> BTreeSet<String> {
    let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differs = |path: &&&String| !path.ends_with('/') && before.get(**path) != after.get(**path);
    all.iter().filter(differs).map(|path| (*path).clone()).collect()
}

/// The paths that effects are about.
fn about(effects: &[String]) -> BTreeSet<String> {
    effects.iter().filter_map(|effect| effect.split(' ').nth(1)).map(str::to_owned).collect()
}

/// Rehearses, and checks that nothing but what was declared is left, and that this is told.
fn rehearsal(bench: &Bench, tool: &Tool, arguments: &Value) -> Option<Reply> {
    let name = tool.head().name.as_str();
    let before = bench.snapshot();
    let done = bench.call(name, arguments.clone());
    let left = differing(&before, &bench.snapshot());
    let Ok(reply) = done.result else {
        assert!(left.is_empty(), "{name} {arguments}: it failed and left {left:?}");
        return None;
    };
    let told = reply.envelope.side_writes.as_ref().map(|side| side.paths.clone()).unwrap_or_default();
    for path in &left {
        let is_told =
            told.iter().any(|told| path == told || told.ends_with('/') && path.starts_with(told.as_str()));
        assert!(is_told, "{name} {arguments}: {path} was left and not told: {told:?}");
        assert_eq!(path, BUILT, "{name} {arguments}: it was left without a plan");
    }
    let declares = exec::workshop::persist::Declared::new(&tool.declared().persists).unwrap();
    let built = contract::RelPath::new(BUILT).unwrap();
    if !declares.has(&built) {
        assert!(left.is_empty(), "{name} {arguments}: {left:?} is left and not declared");
    }
    Some(reply)
}

/// Rehearsed, applied, applied again, taken back.
fn whole(bench: &Bench, tool: &Tool) {
    let name = tool.head().name.as_str();
    let arguments = tool.examples().first().expect("an example").clone();
    let earlier = bench.transcripts().len();
    let reply = rehearsal(bench, tool, &arguments)
        .unwrap_or_else(|| panic!("{name} {arguments}: its first example must run over the fixture"));
    assert_eq!(reply.envelope.status, Status::Proposed, "{name}");
    assert!(!reply.envelope.runs.is_empty(), "{name}: what ran is told");
    let plan = reply.envelope.plan.clone().unwrap_or_else(|| panic!("{name}: {:?}", reply.envelope.blocked));
    let proposed = about(&plan.effects);
    for path in PROPOSED {
        assert!(proposed.contains(path), "{name}: {path} is proposed: {proposed:?}");
        assert!(plan.diff.contains(path), "{name}: its diff shows {path}");
    }
    assert!(proposed.contains(SECRET), "{name}: a secret needs a plan: {proposed:?}");
    let standing = bench.snapshot();
    let again = bench.reply(name, arguments.clone());
    let same = again.envelope.plan.as_ref().map(|plan| plan.id);
    assert_eq!(same, Some(plan.id), "{name}: the same rehearsal has the same plan");

    let mut with_plan = arguments;
    with_plan["apply"] = json!(true);
    with_plan["plan"] = json!(plan.id.to_string());
    let applied = bench.call(name, with_plan.clone());
    let reply = applied.result.unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
    assert_eq!(reply.envelope.status, Status::Completed, "{name}");
    // What installs runs again, over the root as the plan made it, and leaves what it declares.
    let settles = tool.declared().settles;
    let runs = &reply.envelope.runs;
    assert!(
        runs.is_empty() || tool.settles(),
        "{name}: what was rehearsed is applied, and nothing runs again"
    );
    fits(tool, &reply);
    let after = bench.snapshot();
    let installed = exec::workshop::persist::Declared::new(settles).unwrap();
    let by_plan = |path: &String| !contract::RelPath::new(path).is_ok_and(|path| installed.has(&path));
    let done: BTreeSet<String> = differing(&standing, &after).into_iter().filter(by_plan).collect();
    assert_eq!(done, proposed, "{name}: what is applied is what was proposed");
    assert_eq!(after["tracked.txt"], b"0644\nby a program\n", "{name}");
    let repeated = bench.reply(name, with_plan);
    assert!(repeated.envelope.plan.is_some_and(|plan| plan.effects.is_empty()), "{name}: applied once");

    let target = applied.metadata.transcript.expect("a transcript");
    crate::undo::undo(&bench.engine, &target, &Principal::Local { uid: 0 }, true)
        .unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
    assert_eq!(bench.snapshot(), standing, "{name}: undo restores the bytes");
    // Two rehearsals, two applies, an undo.
    assert_eq!(bench.transcripts().len() - earlier, 5, "{name}: every call leaves exactly one transcript");
}

fn fits(tool: &Tool, reply: &Reply) {
    let value = reply.to_value().unwrap();
    for field in tool.required_when_completed() {
        assert!(
            value.get(field).is_some(),
            "{}: {field} is missing from a completed reply",
            tool.head().name
        );
    }
    let output = Compiled::new(&tool.output_schema()).expect("the output schema compiles");
    let invalid = output.errors(&value, 8);
    assert!(invalid.is_empty(), "{}: the reply does not fit its schema: {invalid:?}", tool.head().name);
}

/// What its owner edits between the rehearsal and the apply is a conflict, and stays.
fn owner(bench: &Bench, tool: &Tool) {
    let name = tool.head().name.as_str();
    let mut arguments = tool.examples().first().expect("an example").clone();
    let plan = bench.reply(name, arguments.clone()).envelope.plan.expect("a plan");
    std::fs::write(bench.root().join("tracked.txt"), "by its owner\n").unwrap();
    let standing = bench.snapshot();
    arguments["apply"] = json!(true);
    arguments["plan"] = json!(plan.id.to_string());
    assert_eq!(bench.fault(name, arguments).code, Code::Conflict, "{name}");
    assert_eq!(bench.snapshot(), standing, "{name}: a conflict changes nothing");
}

/// A call that policy forbids runs nothing, and is on record.
fn denied(families: &[&Family], files: &[(&str, &str)], most: Level, tool: &Tool) {
    let name = tool.head().name.to_string();
    let rule = Rule {
        tools: vec![name.clone()],
        toolsets: vec![],
        apply: None,
        foreign_code: None,
        decision: Decision::Forbid,
    };
    let policy = Policy { user: Rules { rules: vec![rule], ..Rules::default() }, project: Rules::default() };
    let house = House::new(families, files, tool.programs(), most, policy);
    let before = house.bench.snapshot();
    let arguments = tool.examples().first().expect("an example").clone();
    assert_eq!(house.bench.fault(&name, arguments).code, Code::Forbidden, "{name}");
    assert_eq!(house.bench.snapshot(), before, "{name}: a denied call has no effect");
    let transcripts = house.bench.transcripts();
    assert_eq!(transcripts.len(), 1, "{name}");
    assert!(transcripts[0].decision.starts_with("forbid"), "{}", transcripts[0].decision);
}
