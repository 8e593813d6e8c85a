//! The branch effect on real repositories: the G-cases.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use contract::{Code, Digest, FileMode, TranscriptId};
use gatewright_exec::apply::{plan_undo, undo};

use super::{Place, path};

pub(crate) fn git(place: &Place, args: &[&str]) -> String {
    let out = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(place.path(""))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", place.outside())
        .output()
        .unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

pub(crate) fn repository() -> Place {
    let place = Place::new(&[("kept", "1"), ("dir/changed", "1"), ("removed", "1")]);
    git(&place, &["init", "-q"]);
    git(&place, &["add", "."]);
    git(&place, &["commit", "-qm", "first"]);
    place
}

fn plan(place: &Place, name: &str) -> Result<contract::Plan, contract::Fault> {
    let file = |text: &str| Some((text.as_bytes().to_vec(), FileMode::Regular));
    place.plan(|draft, view| {
        let files =
            vec![(path("dir/changed"), file("2")), (path("new/x"), file("3")), (path("removed"), None)];
        draft.branch(view, name, "Change things", files)
    })
}

/// HEAD, the index and every file of the work tree.
pub(crate) fn fingerprint(place: &Place) -> Vec<(String, Digest)> {
    let mut out = Vec::new();
    for name in [".git/HEAD", ".git/index", "kept", "dir/changed", "removed", ".git/config"] {
        if let Ok(bytes) = fs::read(place.path(name)) {
            out.push((name.to_owned(), Digest::of(&bytes)));
        }
    }
    out
}

#[test]
fn g18_a_branch_is_written_without_touching_head_index_or_work_tree() {
    let place = repository();
    // A dirty tree with something staged and a detached HEAD.
    fs::write(place.path("kept"), "dirty").unwrap();
    fs::write(place.path("staged"), "s").unwrap();
    git(&place, &["add", "staged"]);
    git(&place, &["checkout", "-q", "--detach"]);
    let before = fingerprint(&place);
    let applied = place.apply(&plan(&place, "sbx/change-1").unwrap()).unwrap();
    assert_eq!(fingerprint(&place), before);
    assert_eq!(git(&place, &["show", "sbx/change-1:dir/changed"]), "2");
    assert_eq!(git(&place, &["ls-tree", "-r", "--name-only", "sbx/change-1"]), "dir/changed\nkept\nnew/x");
    assert_eq!(git(&place, &["rev-parse", "sbx/change-1^"]), git(&place, &["rev-parse", "HEAD"]));
    let message = git(&place, &["log", "-1", "--format=%B", "sbx/change-1"]);
    assert!(message.contains(&format!("Gatewright-Transcript: {}", applied.receipt.transcript)), "{message}");
    git(&place, &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn g18_an_unborn_head_gets_a_root_commit() {
    let place = Place::new(&[]);
    git(&place, &["init", "-q"]);
    let plan = place
        .plan(|draft, view| {
            draft.branch(
                view,
                "sbx/first",
                "First",
                vec![(path("x"), Some((b"1".to_vec(), FileMode::Executable)))],
            )
        })
        .unwrap();
    place.apply(&plan).unwrap();
    assert_eq!(git(&place, &["ls-tree", "sbx/first"]).split_whitespace().next(), Some("100755"));
    git(&place, &["fsck", "--strict"]);
}

#[test]
fn a_branch_is_undone_only_while_it_points_at_our_commit() {
    let place = repository();
    let take_back = |applied: &gatewright_exec::Applied| {
        let proposal = plan_undo(&place.root, &place.state, applied).unwrap();
        undo(&place.root, &place.state, applied, &proposal.plan, &TranscriptId::random().unwrap())
    };
    let applied = place.apply(&plan(&place, "sbx/one").unwrap()).unwrap();
    take_back(&applied).unwrap();
    assert_eq!(git(&place, &["branch", "--list", "sbx/*"]), "");
    let applied = place.apply(&plan(&place, "sbx/two").unwrap()).unwrap();
    let tree = git(&place, &["rev-parse", "sbx/two^{tree}"]);
    let later = git(&place, &["commit-tree", &tree, "-p", "sbx/two", "-m", "later"]);
    git(&place, &["update-ref", "refs/heads/sbx/two", &later]);
    assert_eq!(take_back(&applied).unwrap_err().code, Code::Conflict);
    assert_eq!(git(&place, &["rev-parse", "sbx/two"]), later);
}

#[test]
fn a_branch_that_is_what_it_would_become_is_no_effect() {
    let place = repository();
    place.apply(&plan(&place, "sbx/same").unwrap()).unwrap();
    assert!(plan(&place, "sbx/same").unwrap().effects.is_empty());
    // Another name, another base, other files and a later commit are effects.
    assert_eq!(plan(&place, "sbx/other").unwrap().effects.len(), 1);
    let head = git(&place, &["rev-parse", "HEAD"]);
    git(&place, &["commit", "-q", "--allow-empty", "-m", "second"]);
    assert_eq!(plan(&place, "sbx/same").unwrap().effects.len(), 1);
    git(&place, &["reset", "-q", "--hard", &head]);
    assert!(plan(&place, "sbx/same").unwrap().effects.is_empty());
    let file = |text: &str| Some((text.as_bytes().to_vec(), FileMode::Regular));
    let other = place.plan(|draft, view| {
        draft.branch(view, "sbx/same", "Change things", vec![(path("dir/changed"), file("3"))])
    });
    assert_eq!(other.unwrap().effects.len(), 1);
    let later = git(&place, &["commit-tree", "sbx/same^{tree}", "-p", "sbx/same", "-m", "later"]);
    git(&place, &["update-ref", "refs/heads/sbx/same", &later]);
    assert_eq!(plan(&place, "sbx/same").unwrap().effects.len(), 1);
}

#[test]
fn a_file_of_the_base_is_not_replaced_by_a_folder_of_the_branch() {
    let place = repository();
    let file = |text: &str| Some((text.as_bytes().to_vec(), FileMode::Regular));
    let planned = |files| place.plan(|draft, view| draft.branch(view, "sbx/x", "x", files));
    let refused = planned(vec![(path("kept/deep/x"), file("1"))]).unwrap_err();
    assert_eq!((refused.code, refused.message.contains("`kept`")), (Code::Conflict, true), "{refused:?}");
    // Who takes the file away may have a folder there.
    let plan = planned(vec![(path("kept/deep/x"), file("1")), (path("kept"), None)]).unwrap();
    place.apply(&plan).unwrap();
    assert_eq!(git(&place, &["show", "sbx/x:kept/deep/x"]), "1");
}

#[test]
fn an_existing_branch_and_a_moved_head_are_conflicts() {
    let place = repository();
    git(&place, &["branch", "sbx/taken"]);
    assert_eq!(place.apply(&plan(&place, "sbx/taken").unwrap()).unwrap_err().code, Code::Conflict);
    place.assert_tidy();
    let stale = plan(&place, "sbx/stale").unwrap();
    git(&place, &["commit", "-q", "--allow-empty", "-m", "second"]);
    assert_eq!(place.apply(&stale).unwrap_err().code, Code::Conflict);
    assert_eq!(git(&place, &["branch", "--list", "sbx/stale"]), "");
    place.assert_tidy();
}

#[test]
fn g12_repositories_that_lead_elsewhere_are_refused() {
    let other = repository();
    let victim = other.path(".git").display().to_string();
    type Trap = fn(&Place, &str);
    let traps: [(&str, Trap); 5] = [
        (".git file", |p, v| fs::write(p.path(".git"), format!("gitdir: {v}\n")).unwrap()),
        (".git link", |p, v| symlink(v, p.path(".git")).unwrap()),
        ("commondir", |p, v| {
            git(p, &["init", "-q"]);
            fs::write(p.path(".git/commondir"), format!("{v}\n")).unwrap();
        }),
        ("alternates", |p, v| {
            git(p, &["init", "-q"]);
            fs::write(p.path(".git/objects/info/alternates"), format!("{v}/objects\n")).unwrap();
        }),
        ("refs link", |p, v| {
            git(p, &["init", "-q"]);
            fs::remove_dir_all(p.path(".git/refs/heads")).unwrap();
            symlink(format!("{v}/refs/heads"), p.path(".git/refs/heads")).unwrap();
        }),
    ];
    let before = git(&other, &["for-each-ref"]);
    for (name, trap) in traps {
        let place = Place::new(&[]);
        trap(&place, &victim);
        assert_eq!(plan(&place, "sbx/x").unwrap_err().code, Code::PathNotAllowed, "{name}");
    }
    assert_eq!(git(&other, &["for-each-ref"]), before);
}

#[test]
fn g14_no_repository_is_looked_for_above_or_below() {
    let outer = repository();
    fs::create_dir(outer.path("inner")).unwrap();
    let root = gatewright_exec::Root::open(&outer.path("inner"), "inner", gatewright_exec::Rights::ReadWrite)
        .unwrap();
    assert_eq!(gatewright_exec::branch::head(&root).unwrap_err().code, Code::NotFound);
    let bare = Place::new(&[]);
    git(&bare, &["init", "-q", "--bare", "planted.git"]);
    assert_eq!(plan(&bare, "sbx/x").unwrap_err().code, Code::NotFound);
}

#[test]
fn g02_g06_hooks_filters_and_aliases_of_the_repository_never_run() {
    let place = repository();
    let canary = place.outside().join("canary");
    let script = format!("#!/bin/sh\ntouch {}\n", canary.display());
    for hook in ["reference-transaction", "pre-commit", "post-commit", "post-index-change", "post-checkout"] {
        let file = place.path(&format!(".git/hooks/{hook}"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &script).unwrap();
        Command::new("chmod").arg("+x").arg(&file).status().unwrap();
    }
    let touch = format!("sh -c 'touch {}'", canary.display());
    let config = fs::read_to_string(place.path(".git/config")).unwrap();
    let evil = format!(
        "{config}[filter \"f\"]\n\tclean = {touch}\n\tsmudge = {touch}\n[core]\n\tfsmonitor = {touch}\n\thooksPath = .git/hooks\n\
         [alias]\n\tst = !{touch}\n[diff]\n\texternal = {touch}\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {touch}\n"
    );
    fs::write(place.path(".git/config"), evil).unwrap();
    fs::write(place.path(".git/info/attributes"), "* filter=f diff=f\n").unwrap();
    place.apply(&plan(&place, "sbx/quiet").unwrap()).unwrap();
    assert!(!canary.exists());
}

#[test]
fn g20_a_stale_lock_is_a_conflict_that_names_the_way_out_and_a_second_try_succeeds() {
    let place = repository();
    fs::create_dir_all(place.path(".git/refs/heads/sbx")).unwrap();
    fs::write(place.path(".git/refs/heads/sbx/locked.lock"), "").unwrap();
    let planned = plan(&place, "sbx/locked").unwrap();
    let fault = place.apply(&planned).unwrap_err();
    assert_eq!(fault.code, Code::Conflict, "{fault:?}");
    fs::remove_file(place.path(".git/refs/heads/sbx/locked.lock")).unwrap();
    place.apply(&planned).unwrap();
    git(&place, &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn g24_no_checkout_of_the_git_library_is_called() {
    let source = include_str!("../../src/branch.rs");
    assert!(!source.contains("checkout(") && !source.contains("worktree_state"));
    let manifest = include_str!("../../../../Cargo.toml");
    let line = manifest.lines().find(|l| l.starts_with("gix = ")).unwrap();
    assert!(!line.contains("worktree-mutation") && line.contains("default-features = false"));
}

#[test]
fn shallow_and_sparse_clones_get_branches_and_others_are_refused_with_the_reason() {
    // A shallow clone: the base's parents are not there, and are not needed.
    let origin = repository();
    fs::write(origin.path("kept"), "2").unwrap();
    git(&origin, &["commit", "-qam", "second"]);
    let clone = Place::new(&[]);
    let from = format!("file://{}", origin.path("").display());
    git(&clone, &["clone", "-q", "--depth", "1", &from, "."]);
    let done = clone.apply(&plan(&clone, "sbx/shallow").unwrap()).unwrap();
    assert_eq!(git(&clone, &["log", "--format=%s", "sbx/shallow"]), "Change things\nsecond");
    git(&clone, &["fsck", "--strict"]);
    take_back(&clone, &done);
    // A sparse checkout: what is not checked out stays in the branch's tree.
    let sparse = repository();
    git(&sparse, &["sparse-checkout", "set", "--no-cone", "/kept"]);
    assert!(!sparse.path("dir/changed").exists());
    let before = fingerprint(&sparse);
    sparse.apply(&plan(&sparse, "sbx/sparse").unwrap()).unwrap();
    assert_eq!(fingerprint(&sparse), before);
    let tree = git(&sparse, &["ls-tree", "-r", "--name-only", "sbx/sparse"]);
    assert_eq!(tree, "dir/changed\nkept\nnew/x");
    git(&sparse, &["fsck", "--strict"]);
    // A linked work tree's repository lies elsewhere; objects of another format cannot be written.
    let main = repository();
    let linked = Place::new(&[]);
    fs::remove_dir(linked.path("")).unwrap();
    git(&main, &["worktree", "add", "-q", "-b", "linked", linked.path("").to_str().unwrap()]);
    let root =
        gatewright_exec::Root::open(&linked.path(""), "root", gatewright_exec::Rights::ReadWrite).unwrap();
    let fault = gatewright_exec::branch::head(&root).unwrap_err();
    assert!(
        fault.message.contains("a linked worktree of a repository outside this folder"),
        "{}",
        fault.message
    );
    let other = Place::new(&[("kept", "1")]);
    git(&other, &["init", "-q", "--object-format=sha256"]);
    git(&other, &["add", "."]);
    git(&other, &["commit", "-qm", "first"]);
    let fault = plan(&other, "sbx/x").unwrap_err();
    assert!(fault.code == Code::PathNotAllowed && !fault.suggestions.is_empty(), "{fault:?}");
}

fn take_back(place: &Place, done: &gatewright_exec::Applied) {
    let proposal = plan_undo(&place.root, &place.state, done).unwrap();
    undo(&place.root, &place.state, done, &proposal.plan, &TranscriptId::random().unwrap()).unwrap();
    assert_eq!(git(place, &["branch", "--list", "sbx/*"]), "");
}

/// A loose object of `content` under `id`, compressed as git does (stored blocks: no library is needed).
fn loose(place: &Place, id: &str, content: &[u8]) {
    let mut zlib = vec![0x78, 0x01];
    let mut chunks = content.chunks(65_535).peekable();
    while let Some(chunk) = chunks.next() {
        let length = u16::try_from(chunk.len()).unwrap();
        zlib.push(u8::from(chunks.peek().is_none()));
        zlib.extend_from_slice(&length.to_le_bytes());
        zlib.extend_from_slice(&(!length).to_le_bytes());
        zlib.extend_from_slice(chunk);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in content {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    zlib.extend_from_slice(&(b << 16 | a).to_be_bytes());
    let file = place.path(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let _ = fs::remove_file(&file);
    fs::write(file, zlib).unwrap();
}

#[test]
fn g22_bombs_in_a_repository_fail_within_bounds() {
    let began = std::time::Instant::now();
    // A million refs, of which none is asked for.
    let place = repository();
    let head = git(&place, &["rev-parse", "HEAD"]);
    let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted \n");
    for n in 0..1_000_000 {
        packed.push_str(&format!("{head} refs/heads/r/{n:07}\n"));
    }
    fs::write(place.path(".git/packed-refs"), packed).unwrap();
    place.apply(&plan(&place, "sbx/many-refs").unwrap()).unwrap();
    // A wide tree.
    let wide = repository();
    let blob = git(&wide, &["rev-parse", "HEAD:kept"]);
    let mut index = String::new();
    for n in 0..100_000 {
        index.push_str(&format!("100644 {blob}\tw/{n:06}\n"));
    }
    let mut child = Command::new("git")
        .args(["update-index", "--index-info"])
        .current_dir(wide.path(""))
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), index.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    git(&wide, &["commit", "-qm", "wide"]);
    wide.apply(&plan(&wide, "sbx/wide").unwrap()).unwrap();
    // Objects that say they are larger than all memory, and ones that are cut off.
    for lie in [&b"commit 9223372036854775807\0tree "[..], b"commit 4294967296\0", b"commit 10\0tree"] {
        let place = repository();
        let head = git(&place, &["rev-parse", "HEAD"]);
        loose(&place, &head, lie);
        let planned = plan(&place, "sbx/lie");
        let outcome = planned.and_then(|plan| place.apply(&plan));
        assert!(outcome.is_err(), "{}", String::from_utf8_lossy(lie));
        assert!(!place.path(".git/refs/heads/sbx/lie").exists());
        place.assert_tidy();
    }
    assert!(began.elapsed() < std::time::Duration::from_mins(2), "{:?}", began.elapsed());
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse().ok());
    assert!(peak.unwrap_or(0) < 2 * 1024 * 1024_u64, "{peak:?} kB");
}
