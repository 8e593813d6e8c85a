//! Programs in a clone of the repository: what they do to its refs is proposed, and nothing else of it is believed.

use std::process::Command;
use std::sync::Arc;

use contract::{Code, Principal, ToolName, TranscriptId};
use gatewright_exec::run::Level;
use gatewright_exec::workshop::Cloning;
use gatewright_exec::{Workshop, apply};
use tokio_util::sync::CancellationToken;

use super::house::{House, nothing, proposed, sh};

fn cloning(pushes: bool) -> Cloning {
    Cloning {
        sections: vec!["spice".into()],
        refs: vec!["refs/heads/*".into(), "refs/spice/data".into()],
        pushes,
        sets: vec![("spice.submit.publish".into(), "false".into())],
    }
}

fn git(house: &House, args: &[&str]) -> String {
    let out = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(house.path("root"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// A house with a repository that has a remote beside it.
fn house() -> Option<House> {
    let house = House::full()?;
    house.put("a", "1");
    house.put("dir/b", "1");
    git(&house, &["init", "-q"]);
    for (key, value) in [("user.name", "Who"), ("user.email", "who@example.com"), ("spice.mark", "kept")] {
        git(&house, &["config", key, value]);
    }
    git(&house, &["add", "."]);
    git(&house, &["commit", "-qm", "first"]);
    git(&house, &["init", "-q", "--bare", "../origin.git"]);
    git(&house, &["remote", "add", "origin", &house.path("origin.git").display().to_string()]);
    git(&house, &["push", "-q", "origin", "main"]);
    git(&house, &["branch", "topic"]);
    Some(house)
}

fn open(house: &House, pushes: bool) -> Workshop {
    let terms =
        gatewright_exec::workshop::Terms { cloning: Some(Arc::new(cloning(pushes))), ..house.terms() };
    Workshop::open(&house.view(), &house.state, terms, &CancellationToken::new()).unwrap()
}

/// What a script leaves of the refs: the effects, and what no plan can have.
fn after(house: &House, script: &str) -> (Vec<String>, Vec<String>) {
    let workshop = open(house, true);
    let ran = workshop.run(&sh(&format!("set -e\n{script}"))).unwrap();
    assert!(ran.is_success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr.bytes));
    let (effects, blocked) = proposed(house, &workshop);
    (effects, blocked.into_iter().map(|one| format!("{}: {}", one.path, one.why)).collect())
}

#[test]
fn what_programs_do_to_refs_is_a_plan_and_the_rest_is_gone() {
    let Some(house) = house() else { return };
    let before = git(&house, &["for-each-ref"]);
    let workshop = open(&house, true);
    let script = "set -e; git config spice.submit.publish; git config spice.mark; git config user.name
        git checkout -q -b new; echo 2 > a; git commit -qam 'new'; git branch -f topic; git update-ref refs/spice/data new
        git push -q origin new:new; git branch other main
        git remote get-url origin; rm -f dir/b";
    let ran = workshop.run(&sh(script)).unwrap();
    let said = String::from_utf8_lossy(&ran.stdout.bytes).into_owned();
    assert!(ran.is_success(), "{said}{}", String::from_utf8_lossy(&ran.stderr.bytes));
    assert_eq!(said.lines().collect::<Vec<_>>(), ["false", "kept", "Who", "/home/remotes/0.git"]);
    assert_eq!(workshop.heads(), (Some("main".into()), Some("new".into())));
    assert!(workshop.had_ref("refs/heads/topic") && !workshop.had_ref("refs/heads/new"));
    let (draft, blocked) = workshop.changes(&house.view(), &nothing).unwrap();
    assert_eq!(blocked, []);
    let tool = ToolName::new("t").unwrap();
    let proposal =
        draft.into_proposal(&house.view(), tool, contract::Digest::ZERO, &Principal::Local { uid: 0 });
    house.state.keep_plan(&proposal, serde_json::Value::Null).unwrap();
    let summaries: Vec<String> = proposal.plan.effects.iter().map(contract::Effect::summary).collect();
    assert_eq!(summaries[0], "refs: create new, create other, move topic, create refs/spice/data");
    assert!(
        summaries[1].starts_with("push to origin (") && summaries[1].ends_with("create new"),
        "{summaries:?}"
    );
    // The pack is one that git itself takes.
    let pack = house.path("some.pack");
    std::fs::write(&pack, proposal.blobs.values().next().unwrap()).unwrap();
    git(&house, &["index-pack", "--strict", &pack.display().to_string()]);
    assert_eq!(git(&house, &["for-each-ref"]), before);
    let transcript = TranscriptId::random().unwrap();
    apply(&house.root, &house.state, &proposal.plan, &transcript, None, &CancellationToken::new()).unwrap();
    assert_eq!(git(&house, &["show", "topic:a"]), "2");
    assert_eq!(git(&house, &["status", "--porcelain"]), "", "nothing of the work tree");
    git(&house, &["fsck", "--strict"]);
    drop(workshop);
    assert!(house.is_empty_of_scratch());
}

#[test]
fn what_a_plan_cannot_have_is_named_and_what_is_spoilt_is_refused() {
    let Some(house) = house() else { return };
    for (script, why) in [
        ("git tag v1", "refs/tags/v1: the plugin does not declare"),
        ("git update-ref refs/other/x main", "refs/other/x: the plugin does not declare"),
        ("git commit -q --allow-empty -m x", "refs/heads/main: it is checked out"),
        ("git push -q origin main:refs/tags/v1", "refs/tags/v1: only branches are pushed"),
        (
            "c=$(git commit-tree -m x main^{tree}); git push -q origin $c:refs/heads/loose",
            "refs/heads/loose: what is pushed is on no branch here",
        ),
    ] {
        let (effects, blocked) = after(&house, script);
        assert!(
            effects.is_empty() && blocked.len() == 1 && blocked[0].starts_with(why),
            "{script}: {effects:?} {blocked:?}"
        );
    }
    let workshop = open(&house, false);
    workshop.run(&sh("git push -q origin topic:refs/heads/new")).unwrap();
    let (_, blocked) = proposed(&house, &workshop);
    assert!(blocked[0].why.contains("does not declare that it pushes"), "{blocked:?}");
    let spoilt = [
        (
            "git checkout -q -b x; git commit -q --allow-empty -m x; c=.git/objects/$(git rev-parse x | cut -c1-2)/$(git rev-parse x | cut -c3-); rm -f $c; echo y > $c",
            "cannot be unpacked",
        ),
        (
            "git checkout -q -b x; git commit -q --allow-empty -m x; c=.git/objects/$(git rev-parse x | cut -c1-2)/$(git rev-parse x | cut -c3-); rm -f $c; ln -s /etc/passwd $c",
            "not there",
        ),
        ("echo 1111111111111111111111111111111111111111 > .git/refs/heads/x", "not there"),
        ("ln -s /etc/passwd .git/refs/heads/x", "is not read: refs/heads/x"),
        ("mkfifo .git/refs/heads/x", "is not read: refs/heads/x"),
        ("echo nonsense > .git/refs/heads/x", "is not read: refs/heads/x"),
        ("printf 'nonsense refs/heads/x\\n' >> .git/packed-refs", "is not read: refs/heads/x"),
        (
            "git checkout -q -b x; git commit -q --allow-empty -m x; git repack -q -a -d -l",
            "not there, or not a file of its own",
        ),
    ];
    for (script, why) in spoilt {
        let workshop = open(&house, true);
        let ran = workshop.run(&sh(script)).unwrap();
        assert!(ran.is_success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr.bytes));
        match workshop.changes(&house.view(), &nothing) {
            Ok((draft, blocked)) => panic!("{script}: {draft:?} {blocked:?}"),
            Err(fault) => assert!(fault.message.contains(why), "{script}: {fault:?}"),
        }
    }
    // The objects are the project's, and only to be read.
    let before = git(&house, &["count-objects", "-v"]);
    let workshop = open(&house, true);
    let ran = workshop
        .run(&sh("rm -rf .git/borrowed/* 2>/dev/null; touch .git/borrowed/x 2>/dev/null && exit 3; git fsck"))
        .unwrap();
    assert!(ran.is_success(), "{}", String::from_utf8_lossy(&ran.stderr.bytes));
    assert_eq!(git(&house, &["count-objects", "-v"]), before);
    git(&house, &["fsck"]);
}

#[test]
fn there_is_no_clone_in_the_middle_of_a_rebase_or_without_a_world_of_its_own() {
    let Some(house) = house() else { return };
    let refused = |house: &House| {
        let terms =
            gatewright_exec::workshop::Terms { cloning: Some(Arc::new(cloning(true))), ..house.terms() };
        Workshop::open(&house.view(), &house.state, terms, &CancellationToken::new()).err().unwrap()
    };
    std::fs::write(house.path("root/.git/MERGE_HEAD"), "").unwrap();
    assert_eq!(refused(&house).code, Code::Conflict);
    let plain = House::at_most(Level::None);
    plain.put("a", "1");
    git(&plain, &["init", "-q"]);
    assert_eq!(refused(&plain).code, Code::ConfinementUnavailable);
    let Some(none) = House::full() else { return };
    assert_eq!(refused(&none).code, Code::NotFound);
}
