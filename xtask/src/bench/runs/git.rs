//! Questions about a repository: to a server that is up, and to `git`, a process for each. That is the choice an agent has.
//! Asked again, some answers come from memory: so there are two servers, and one of them has none.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::repositories::{COMMITS, FILES, history, seldom};
use crate::bench::samples::{Samples, timed};
use crate::sh::Done;

/// Counted rounds; one more goes before.
const ROUNDS: usize = 15;

/// A question, to both.
struct Question {
    name: &'static str,
    git: Vec<String>,
    tool: &'static str,
    arguments: Value,
    /// What both answers must agree on.
    same: fn(&Value, &str) -> bool,
}

fn list<'a>(answer: &'a Value, field: &str) -> &'a [Value] {
    answer[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn same_status(answer: &Value, text: &str) -> bool {
    let number = |field: &str| answer["counts"][field].as_u64().unwrap_or(u64::MAX);
    let lines = |first: &str| text.lines().filter(|line| line.starts_with(first)).count() as u64;
    // `1 XY …` and `2 XY …`: what the index says of HEAD, and what the file says of the index.
    let changed = |at: usize| {
        let is =
            |line: &&str| line.starts_with(['1', '2']) && line.as_bytes().get(at).is_some_and(|b| *b != b'.');
        text.lines().filter(is).count() as u64
    };
    number("untracked") == lines("? ")
        && number("conflicted") == lines("u ")
        && number("staged") == changed(2)
        && number("unstaged") == changed(3)
}

fn same_commits(answer: &Value, text: &str) -> bool {
    let ours = list(answer, "commits").iter().filter_map(|commit| commit["id"].as_str());
    ours.eq(text
        .lines()
        .filter_map(|line| line.strip_prefix("commit "))
        .map(|id| id.split(' ').next().unwrap_or(id)))
}

fn same_files(answer: &Value, text: &str) -> bool {
    let files = text.lines().filter(|line| line.starts_with("diff --git ")).count();
    answer["diff"]["stats"]["files"].as_u64() == Some(files as u64)
}

fn questions(path: &str) -> Vec<Question> {
    let git =
        |words: &[&str]| ["git", "--no-pager"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    vec![
        Question {
            name: "status",
            git: git(&["status", "--porcelain=v2", "--branch"]),
            tool: "git_status",
            arguments: json!({}),
            same: same_status,
        },
        Question {
            name: "log -n 20",
            git: git(&["log", "-n", "20"]),
            tool: "git_log",
            arguments: json!({ "limit": 20 }),
            same: same_commits,
        },
        Question {
            name: "log -n 20 -- one file",
            git: git(&["log", "-n", "20", "--", path]),
            tool: "git_log",
            arguments: json!({ "limit": 20, "paths": [path] }),
            same: same_commits,
        },
        Question {
            name: "diff HEAD~50",
            git: git(&["diff", "HEAD~50"]),
            tool: "git_diff",
            arguments: json!({ "range": "HEAD~50" }),
            same: same_files,
        },
    ]
}

pub(super) fn measure(ours: &Path, repo: Option<&Path>, scratch: &Path) -> Done {
    let own = scratch.join("root");
    let root = repo.unwrap_or(&own);
    let path = if repo.is_some() {
        let (_, files) = timed(root, &["git", "ls-files"])?;
        let middle = files.lines().count() / 2;
        files.lines().nth(middle).ok_or("--repo: no file is tracked there")?.to_owned()
    } else {
        println!("\n▶ a history of {COMMITS} commits over {FILES} files");
        fs::create_dir_all(&own).map_err(|e| format!("{}: {e}", own.display()))?;
        history(&own)?;
        seldom()
    };
    let questions = questions(&path);
    let folder = |name: &str| super::place(ours, root, &scratch.join(name));
    let mut anew = folder("anew")?.without_cache()?.serve()?;
    let mut again = folder("again")?.serve()?;
    let mut times: Vec<[Vec<Duration>; 3]> = questions.iter().map(|_| Default::default()).collect();
    let mut same = Vec::new();
    for round in 0..=ROUNDS {
        for (question, times) in questions.iter().zip(&mut times) {
            let words: Vec<&str> = question.git.iter().map(String::as_str).collect();
            let (alone, text) = timed(root, &words)?;
            let (computed, answer) = anew.timed(question.tool, &question.arguments)?;
            let (repeated, kept) = again.timed(question.tool, &question.arguments)?;
            if round == 0 {
                same.push((question.same)(&answer, &text) && (question.same)(&kept, &text));
                continue;
            }
            for (times, took) in times.iter_mut().zip([alone, computed, repeated]) {
                times.push(took);
            }
        }
    }
    anew.finish()?;
    again.finish()?;
    let (_, commits) = timed(root, &["git", "rev-list", "--count", "HEAD"])?;
    println!(
        "\ngit: {} ({} commits), ms, median of {ROUNDS} interleaved rounds: one process of git for each question, and a call \
         of a server that is up, record and all; `{path}` is the file. call: computed each time ([cache] enabled = false); \
         again: the same question, as by default. A call's answer is cut to its budget, git's is whole.",
        repo.map_or("generated".to_owned(), |repo| repo.display().to_string()),
        commits.trim()
    );
    println!(
        "{:<24} {:>8} {:>8} {:>9} {:>8} {:>9} {:>10} {:>10} {:>6}",
        "", "git p50", "p95", "call p50", "p95", "call/git", "again p50", "again/git", "agree"
    );
    for ((question, times), same) in questions.iter().zip(&times).zip(&same) {
        let [git, call, again] = times.each_ref().map(|times| Samples::of(times));
        println!(
            "{:<24} {:>8.1} {:>8.1} {:>9.1} {:>8.1} {:>8.2}x {:>10.1} {:>9.2}x {:>6}",
            question.name,
            git.median(),
            git.p95(),
            call.median(),
            call.p95(),
            call.median() / git.median(),
            again.median(),
            again.median() / git.median(),
            if *same { "yes" } else { "NO" }
        );
    }
    if same.contains(&false) {
        return Err("git and a call do not agree: see the last column".into());
    }
    Ok(())
}
