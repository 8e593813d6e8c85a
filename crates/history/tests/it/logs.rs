//! `log`, `commit` and `resolve` against `git log` and `git rev-parse`.

use gatewright_history::{Grep, HistoryError, Limits, LogQuery};

use super::place::{GO_ON, Place};

/// A history with two merges, a tag, a second root's worth of paths and odd messages.
fn history() -> Place {
    let place = Place::with(&[("a", "1\n"), ("dir/b", "1\n")]);
    place.write("a", "2\n");
    place.commit("second: change a\n\nA body,\nwith lines.\n\nSigned-off-by: Ann Ä <ann@example.org>\nFixes: #12\n  folded");
    place.git(&["tag", "-a", "v1.0", "-m", "one"]);
    place.git(&["checkout", "-qb", "topic"]);
    place.write("dir/b", "topic\n");
    place.commit("topic changes b");
    place.write("c", "1\n");
    place.commit("topic adds c (title\nover two lines)");
    place.git(&["checkout", "-q", "main"]);
    place.write("a", "3\n");
    place.commit("main changes a");
    place.git(&["merge", "-q", "--no-ff", "-m", "merge topic", "topic"]);
    place.git(&["checkout", "-qb", "same", "HEAD~2"]);
    place.write("d", "1\n");
    place.commit("side adds d");
    place.git(&["checkout", "-q", "main"]);
    place.git(&["merge", "-q", "-m", "merge same", "same"]);
    place.write("a", "4\n");
    place.commit("last");
    place
}

fn ids(place: &Place, query: &LogQuery) -> Vec<String> {
    place.log(query).commits.into_iter().map(|c| c.id).collect()
}

fn git_ids(place: &Place, args: &[&str]) -> Vec<String> {
    let mut all = vec!["log", "--format=%H"];
    all.extend(args);
    place.git(&all).lines().map(str::to_owned).collect()
}

fn query(revision: &str, set: impl FnOnce(&mut LogQuery)) -> LogQuery {
    let mut query = LogQuery::new(revision);
    set(&mut query);
    query
}

#[test]
fn every_field_is_what_git_prints() {
    let place = history();
    let format =
        "%H%x00%h%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%s%x00%b%x00%(trailers:only,unfold)%x01";
    let out = place.git(&["log", &format!("--format={format}"), "HEAD"]);
    let log = place.log(&LogQuery::new("HEAD"));
    assert!(!log.truncated && !log.shallow);
    let lines: Vec<&str> =
        out.split('\u{1}').map(|l| l.trim_start_matches('\n')).filter(|l| !l.is_empty()).collect();
    assert_eq!(lines.len(), log.commits.len());
    for (line, commit) in lines.iter().zip(&log.commits) {
        let fields: Vec<&str> = line.split('\0').collect();
        let trailers: String = commit.trailers.iter().map(|t| format!("{}: {}\n", t.key, t.value)).collect();
        let parents = commit.parents.join(" ");
        let (a, c) = (&commit.author, &commit.committer);
        assert_eq!(
            fields,
            [
                &*commit.id,
                &commit.short,
                &parents,
                &a.name,
                &a.email,
                &a.time,
                &c.name,
                &c.email,
                &c.time,
                &commit.summary,
                &commit.body,
                &trailers
            ]
        );
        assert_eq!(commit.time, c.time);
    }
}

#[test]
fn order_ranges_and_filters_are_gits() {
    let place = history();
    let date = place.git(&["log", "-1", "--format=%cI", "HEAD~2"]);
    let since = format!("--since={date}");
    let until = format!("--until={date}");
    let cases: Vec<(LogQuery, Vec<&str>)> = vec![
        (LogQuery::new("HEAD"), vec!["HEAD"]),
        (LogQuery::new("v1.0..main"), vec!["v1.0..main"]),
        (LogQuery::new("topic.."), vec!["topic.."]),
        (LogQuery::new("topic...same"), vec!["topic...same"]),
        (query("main", |q| q.first_parent = true), vec!["--first-parent", "main"]),
        (query("v1.0..main", |q| q.first_parent = true), vec!["--first-parent", "v1.0..main"]),
        (query("main", |q| q.merges = Some(true)), vec!["--merges", "main"]),
        (query("main", |q| q.merges = Some(false)), vec!["--no-merges", "main"]),
        (query("main", |q| q.skip = 2), vec!["--skip=2", "main"]),
        (query("main", |q| q.paths = vec!["a".into()]), vec!["main", "--", "a"]),
        (query("main", |q| q.paths = vec!["dir".into()]), vec!["main", "--", "dir"]),
        (query("main", |q| q.paths = vec!["c".into(), "d".into()]), vec!["main", "--", "c", "d"]),
        (query("v1.0..main", |q| q.paths = vec!["dir/b".into()]), vec!["v1.0..main", "--", "dir/b"]),
        (query("topic..main", |q| q.paths = vec!["dir/b".into()]), vec!["topic..main", "--", "dir/b"]),
        (
            query("main", |q| (q.first_parent, q.paths) = (true, vec!["dir".into()])),
            vec!["--first-parent", "main", "--", "dir"],
        ),
        (query("main", |q| q.paths = vec!["none".into()]), vec!["main", "--", "none"]),
        (query("main", |q| q.since = Some(date.clone())), vec![&since, "main"]),
        (query("main", |q| q.until = Some(date.clone())), vec![&until, "main"]),
        (query("main", |q| q.author = Some("nn Ä <ann@".into())), vec!["--author=nn Ä <ann@", "main"]),
        (query("main", |q| q.author = Some("Bob".into())), vec!["--author=Bob", "main"]),
        (query("main", |q| q.grep = Some(Grep::Text("(title".into()))), vec!["-F", "--grep=(title", "main"]),
        (
            query("main", |q| q.grep = Some(Grep::Regex("^(side|last)".into()))),
            vec!["-E", "--grep=^(side|last)", "main"],
        ),
    ];
    for (query, args) in cases {
        assert_eq!(ids(&place, &query), git_ids(&place, &args), "{args:?}");
    }
    let log = place.log(&query("main", |q| q.limit = 3));
    assert!(log.truncated);
    assert_eq!(log.commits.len(), 3);
}

#[test]
fn a_commit_has_its_sums() {
    let place = history();
    let sums =
        |commit: &gatewright_history::Commit| commit.stats.map(|s| (s.files, s.additions, s.deletions));
    let commit = place.repo().commit("main", &Limits::default(), &GO_ON).unwrap();
    assert_eq!(sums(&commit), Some((1, 1, 1)));
    let first = place.repo().commit("v1.0~1", &Limits::default(), &GO_ON).unwrap();
    assert_eq!(sums(&first), Some((2, 2, 0)));
    let log = place.log(&query("main", |q| q.stats = true));
    assert!(log.commits.iter().all(|c| c.stats.is_some()));
}

#[test]
fn revisions_resolve_as_git_resolves_them() {
    let place = history();
    place.git(&["branch", "release/1.x"]);
    place.git(&["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
    place.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    let id = place.git(&["rev-parse", "HEAD"]);
    let described = place.git(&["describe", "HEAD"]);
    for pack in [false, true] {
        if pack {
            place.git(&["gc", "-q"]);
        }
        for text in [
            "HEAD",
            "@",
            "HEAD~2",
            "HEAD^",
            "HEAD~1^2",
            "v1.0",
            "v1.0^{}",
            "v1.0^{commit}",
            "v1.0^0",
            "v1.0^{tree}",
            "main",
            "heads/main",
            "refs/heads/main",
            "tags/v1.0",
            "release/1.x",
            "origin",
            "origin/main",
            "topic~1^0",
            &id,
            &id[..7],
            &id[..4],
            &described,
            "ORIG_HEAD",
        ] {
            let ours = place.repo().resolve(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(ours, place.git(&["rev-parse", "--verify", text]), "{text}");
        }
    }
    for text in ["nothing", "main^3", "HEAD~100", "0000000", "v1.0^{blob}"] {
        assert!(place.repo().resolve(text).is_err(), "{text}");
    }
    assert!(matches!(Place::new().repo().resolve("HEAD"), Err(HistoryError::Unborn)));
}

#[test]
fn a_shallow_history_ends_and_says_so() {
    let place = history();
    let clone = Place::bare_folder();
    clone.git(&["clone", "-q", "--depth=3", &format!("file://{}", place.root().display()), "."]);
    let log = clone.log(&LogQuery::new("HEAD"));
    assert!(log.shallow);
    let found: Vec<_> = log.commits.into_iter().map(|c| c.id).collect();
    assert_eq!(found, git_ids(&clone, &["HEAD"]));
}

#[test]
fn g10_option_like_text_names_no_revision() {
    let place = history();
    let canary = place.path("canary");
    for text in [
        format!("--output={}", canary.display()),
        "-O".into(),
        "--all".into(),
        "-1".into(),
        "HEAD --stat".into(),
    ] {
        let refused = place.try_log(&LogQuery::new(&text));
        assert!(matches!(refused, Err(HistoryError::BadRevision { .. })), "{text}");
        assert!(place.repo().resolve(&text).is_err());
    }
    // As a path it is a path, and nothing more.
    let log = place
        .log(&query("HEAD", |q| q.paths = vec![format!("--output={}", canary.display()).replace('/', "_")]));
    assert!(log.commits.is_empty() && !canary.exists());
}

#[test]
fn clocks_that_went_wrong_do_not_hide_commits() {
    let place = Place::with(&[("a", "1\n")]);
    let base = place.git(&["rev-parse", "HEAD"]);
    let tree = place.git(&["rev-parse", "HEAD^{tree}"]);
    let commit = |parent: &str, time: u64| {
        let out = std::process::Command::new("git")
            .args(["commit-tree", &tree, "-p", parent, "-m", "x"])
            .current_dir(place.root())
            .envs([
                ("GIT_AUTHOR_NAME", "x"),
                ("GIT_AUTHOR_EMAIL", "x"),
                ("GIT_COMMITTER_NAME", "x"),
                ("GIT_COMMITTER_EMAIL", "x"),
            ])
            .env("GIT_COMMITTER_DATE", format!("@{time} +0000"))
            .env("GIT_AUTHOR_DATE", "@1 +0000")
            .output()
            .unwrap();
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    // The common part has times far before and after what stands on it.
    let shared = commit(&commit(&base, 2_000_000_000), 100);
    let left = commit(&commit(&shared, 1_900_000_000), 50);
    let right = commit(&commit(&shared, 1_000), 1_950_000_000);
    for (range, expected) in [(format!("{left}..{right}"), 2), (format!("{right}..{left}"), 2)] {
        let log = place.log(&LogQuery::new(&range));
        assert_eq!(log.commits.len(), expected);
        assert_eq!(ids(&place, &LogQuery::new(&range)), git_ids(&place, &[&range]));
    }
    assert_eq!(place.repo().merge_base(&left, &right, &Limits::default(), &GO_ON).unwrap(), shared);
}
