//! What is deployed from a checkout is what everybody has.

use std::process::Command;

use super::super::Place;

#[test]
fn a_checkout_with_changes_or_commits_that_nobody_else_has_is_not_deployed_from() {
    let place = Place::new();
    let file = place.scratch.path().join("fleet.toml");
    std::fs::write(&file, "[hosts.tower]\nssh = 'ana@127.0.0.1'\nport = 1\n").unwrap();
    let root = place.root();
    let [file, checkout] = [&file, &root].map(|path| path.to_str().unwrap());
    let deploy = || place.run(&["fleet", "deploy", "--hosts", file, "--from-checkout", checkout]);
    let refused = |part: &str| {
        let out = deploy();
        let error = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.code() == Some(2) && error.contains(part), "{part}: {error}");
    };
    // Its host refuses: it went as far as that.
    let accepted = || {
        let out = deploy();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.code() == Some(1) && text.contains("refuses connections"), "{text}");
    };
    refused("");
    place.commit();
    refused("not what its origin has");
    let origin = place.scratch.path().join("origin.git");
    let made = Command::new("git")
        .args(["init", "--quiet", "--bare", "--initial-branch=main"])
        .arg(&origin)
        .status();
    assert!(made.unwrap().success());
    place.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    place.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    let old = std::env::var_os("GIT_COMMITTER_DATE");
    assert!(old.is_none());
    refused("build it again");
    // The program of this test is older than a commit of now; one of then is older than the program.
    let past = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(args).current_dir(place.root());
        let git = git.env("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z").env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(git.status().unwrap().success(), "{args:?}");
    };
    past(&["commit", "--quiet", "--amend", "--no-edit"]);
    refused("not pushed");
    place.git(&["push", "--quiet", "--force"]);
    accepted();
    place.git(&["remote", "set-head", "origin", "main"]);
    accepted();
    std::fs::write(place.root().join("new"), "").unwrap();
    refused("1 change not committed");
    std::fs::remove_file(place.root().join("new")).unwrap();
    place.git(&["checkout", "--quiet", "-b", "topic"]);
    past(&["commit", "--quiet", "--allow-empty", "--message", "more"]);
    refused("not what its origin has");
    place.git(&["checkout", "--quiet", "main"]);
    accepted();
}
