//! The push effect: the real git, to a real repository on this disk.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use contract::{Code, Plan, Push, RefMove, TranscriptId};
use gatewright_exec::apply::plan_undo;
use gatewright_exec::request::{Egress, Outcome, Sender};
use gatewright_exec::{Applied, apply};
use tokio_util::sync::CancellationToken;

use super::Place;
use super::branches::{git, repository};

/// A repository whose `origin` is a bare one beside it, which has its `main`.
fn with_remote() -> (Place, String) {
    let place = repository();
    git(&place, &["init", "-q", "--bare", "../remote.git"]);
    let url = fs::canonicalize(place.outside().join("remote.git")).unwrap().display().to_string();
    git(&place, &["remote", "add", "origin", &url]);
    git(&place, &["push", "-q", "origin", "main"]);
    (place, url)
}

fn there(place: &Place) -> String {
    git(place, &["-C", "../remote.git", "for-each-ref", "--format=%(refname:short) %(objectname)"])
}

fn to(name: &str, before: Option<&str>, after: Option<&str>) -> RefMove {
    RefMove {
        name: format!("refs/heads/{name}"),
        before: before.map(Into::into),
        after: after.map(Into::into),
    }
}

fn plan(place: &Place, url: &str, refs: &[RefMove]) -> Result<Plan, contract::Fault> {
    let push = Push { remote: "origin".into(), url: url.into(), refs: refs.to_vec() };
    place.plan(|draft, view| draft.push(view, push))
}

fn pushed(place: &Place, plan: &Plan, hosts: &[&str]) -> Applied {
    let egress = Egress::new(hosts.iter().map(ToString::to_string).collect(), false);
    let sender: Option<&dyn Sender> = Some(&egress);
    apply(
        &place.root,
        &place.state,
        plan,
        &TranscriptId::random().unwrap(),
        sender,
        &CancellationToken::new(),
    )
    .unwrap()
}

#[test]
fn branches_are_pushed_together_each_from_where_it_was_seen() {
    let (place, url) = with_remote();
    let main = git(&place, &["rev-parse", "main"]);
    git(&place, &["checkout", "-q", "-b", "one"]);
    git(&place, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let one = git(&place, &["rev-parse", "HEAD"]);
    // A hook, and settings, of the repository: none of them is heard.
    let mark = place.outside().join("mark");
    for hook in ["pre-push", "reference-transaction"] {
        fs::create_dir_all(place.path(".git/hooks")).unwrap();
        fs::write(
            place.path(".git/hooks").join(hook),
            format!("#!/bin/sh\ntouch {}\nexit 1\n", mark.display()),
        )
        .unwrap();
        fs::set_permissions(place.path(".git/hooks").join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (key, value) in [
        ("core.sshCommand", format!("touch {}", mark.display())),
        ("remote.origin.receivepack", format!("touch {}; git-receive-pack", mark.display())),
        ("credential.helper", format!("!touch {}", mark.display())),
    ] {
        fs::OpenOptions::new().append(true).open(place.path(".git/config")).unwrap();
        git(&place, &["config", key, &value]);
    }
    let refs = [to("one", None, Some(&one)), to("two", None, Some(&main))];
    let planned = plan(&place, &url, &refs).unwrap();
    let applied = pushed(&place, &planned, &[]);
    assert!(
        matches!(&applied.request, Some(Outcome::NotSent { why }) if why.contains("[egress]")),
        "{:?}",
        applied.request
    );
    assert_eq!(there(&place), format!("main {main}"));
    let applied = pushed(&place, &planned, &[&url]);
    assert_eq!(applied.request, Some(Outcome::Pushed));
    assert_eq!(there(&place), format!("main {main}\none {one}\ntwo {main}"));
    fs::remove_dir_all(place.path(".git/hooks")).unwrap();
    assert_eq!(
        git(&place, &["rev-parse", "refs/remotes/origin/one"]),
        one,
        "what the remote has is known, as after git's own push"
    );
    assert!(!mark.exists(), "nothing of the repository's ran");
    // Again: nothing happens twice. What was pushed is not taken back.
    assert_eq!(pushed(&place, &planned, &[&url]).request, Some(Outcome::Pushed));
    assert!(plan_undo(&place.root, &place.state, &applied).unwrap().plan.effects.is_empty());
    // Somebody else was there meanwhile: not one of the refs moves.
    git(&place, &["-C", "../remote.git", "update-ref", "refs/heads/one", &main]);
    let before = there(&place);
    let refs = [
        to("one", Some(&one), Some(&main)),
        to("three", None, Some(&one)),
        to("two", Some(&main), Some(&one)),
    ];
    git(&place, &["-C", "../remote.git", "update-ref", "refs/heads/two", &one]);
    let planned = plan(&place, &url, &refs[1..]).unwrap();
    git(&place, &["-C", "../remote.git", "update-ref", "refs/heads/three", &main]);
    let outcome = pushed(&place, &planned, &[&url]).request.unwrap();
    let Outcome::Refused { why } = &outcome else { panic!("{outcome:?}") };
    assert!(why.contains("stale info") && why.contains("three"), "{why}");
    let fault = outcome.clone().into_fault();
    assert!(
        fault.code == Code::ToolExecutionFailed && fault.message.contains("nothing was pushed"),
        "{fault:?}"
    );
    assert_ne!(there(&place), before);
    assert!(!there(&place).contains(&format!("three {one}")));
    // Moved backwards and deleted, with the right lease.
    let refs = [to("two", Some(&one), Some(&main)), to("three", Some(&main), None)];
    assert_eq!(pushed(&place, &plan(&place, &url, &refs).unwrap(), &[&url]).request, Some(Outcome::Pushed));
    assert_eq!(there(&place), format!("main {main}\none {main}\ntwo {main}"));
    place.assert_tidy();
}

#[test]
fn nothing_is_pushed_to_what_comes_with_the_project_or_is_no_branch() {
    let (place, url) = with_remote();
    let main = git(&place, &["rev-parse", "main"]);
    git(&place, &["init", "-q", "--bare", "inside.git"]);
    let inside = fs::canonicalize(place.path("inside.git")).unwrap().display().to_string();
    for bad in [&inside, "inside.git", "ext::sh -c id", "https://user:pw@git.example/r"] {
        let fault = plan(&place, bad, &[to("one", None, Some(&main))]).unwrap_err();
        assert_eq!(fault.code, Code::Forbidden, "{bad}");
    }
    for name in ["refs/tags/v1", "refs/spice/data"] {
        let push = Push {
            remote: "origin".into(),
            url: url.clone(),
            refs: vec![RefMove { name: name.into(), before: None, after: Some(main.clone()) }],
        };
        assert!(place.plan(|draft, view| draft.push(view, push)).is_err(), "{name}");
    }
    // A repository that is gone, and one that nobody serves: said, and not sent.
    let planned = plan(&place, &url, &[to("one", None, Some(&main))]).unwrap();
    fs::rename(place.outside().join("remote.git"), place.outside().join("gone.git")).unwrap();
    let egress = Egress::new(vec![url], false);
    let transcript = TranscriptId::random().unwrap();
    let fault =
        apply(&place.root, &place.state, &planned, &transcript, Some(&egress), &CancellationToken::new())
            .unwrap_err();
    assert_eq!(fault.code, Code::Forbidden);
}
