//! How good answers to judged questions are: ours beside SQLite's FTS5 and ripgrep, on the half that nothing was tuned on.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use search::judge::{Grades, Scores};
use serde_json::Value;

use super::ripgrep::{Ripgrep, words};
use crate::bench::samples::Aim;
use crate::sh::{Done, output, top};

/// Asks FTS5.
const FTS5: &str = include_str!("fts5.py");
/// Questions whose words the wanted texts do not have.
const ABSENT: &str = "absent";
const CLASSES: [&str; 8] = ["plain", "identifiers", "typos", "forms", "phrases", "initials", "noisy", ABSENT];
/// How many answers are judged.
pub(super) const FIRST: usize = 10;

/// What the first ten answers to each question are, by its id.
pub(super) type Answers = BTreeMap<String, Vec<String>>;

pub(super) fn run(ripgrep: Option<Ripgrep>) -> Done<Vec<Aim>> {
    let args = ["run", "--quiet", "-p", "gatewright-tools-knowledge", "--example", "judged"];
    let given: Value = serde_json::from_str(&output("cargo", &args)?).map_err(|e| e.to_string())?;
    let mut peers: Vec<(&str, Answers)> = Vec::new();
    for mode in ["fast", "comprehensive"] {
        let of = |question: &Value| (text(&question["id"]), strings(&question[mode]));
        peers.push((mode, list(&given["questions"]).iter().map(of).collect()));
    }
    match fts5(&given) {
        Ok(mut said) => {
            println!(
                "FTS5 of SQLite, porter unicode61, bm25 with our fields' weights, any word; fts5-prefix: the last word may go on"
            );
            for peer in ["fts5", "fts5-prefix"] {
                peers.push((peer, said.remove(peer).unwrap_or_default()));
            }
        }
        Err(why) => println!("SKIPPED: FTS5 ({why})"),
    }
    match ripgrep {
        Some(ripgrep) => {
            let folder = top().join("examples/patterns");
            peers.push(("ripgrep", of_ripgrep(ripgrep, &folder, &given)?));
        }
        None => println!("SKIPPED: ripgrep is not installed (Debian: apt-get install ripgrep)"),
    }
    Ok(print(&given, &peers))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<String> {
    list(value).iter().map(text).collect()
}

/// What FTS5 answers to what is `given`, plainly and with the last word going on.
pub(super) fn fts5(given: &Value) -> Done<BTreeMap<String, Answers>> {
    let mut child = Command::new("python3")
        .args(["-c", FTS5])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("python3: {e}"))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(given.to_string().as_bytes()).map_err(|e| format!("python3: {e}"))?;
    }
    let ended = child.wait_with_output().map_err(|e| e.to_string())?;
    if !ended.status.success() {
        return Err(format!("python3 ended with {}", ended.status));
    }
    let said: Value = serde_json::from_slice(&ended.stdout).map_err(|e| e.to_string())?;
    let of = |(peer, found): (&String, &Value)| {
        let found = found.as_object().into_iter().flatten();
        (peer.clone(), found.map(|(id, found)| (id.clone(), strings(found))).collect())
    };
    Ok(said["found"].as_object().into_iter().flatten().map(of).collect())
}

/// Documents by how many of the question's words their files have, then by how often, then by id.
pub(super) fn of_ripgrep(ripgrep: Ripgrep, folder: &Path, given: &Value) -> Done<Answers> {
    let files = list(&given["documents"]).iter().flat_map(|document| {
        strings(&document["files"]).into_iter().map(move |file| (file, text(&document["id"])))
    });
    let owner: BTreeMap<String, String> = files.collect();
    let mut answers = Answers::new();
    for question in list(&given["questions"]) {
        let mut hits: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for word in words(&text(&question["text"])) {
            let mut of_word: BTreeMap<&str, u64> = BTreeMap::new();
            for (file, count) in ripgrep.counts(folder, &word)? {
                if let Some(id) = owner.get(&file) {
                    *of_word.entry(id).or_default() += count;
                }
            }
            for (id, count) in of_word {
                let sum = hits.entry(id).or_default();
                *sum = (sum.0 + 1, sum.1 + count);
            }
        }
        let mut ranked: Vec<(&str, (u64, u64))> = hits.into_iter().collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let first = ranked.into_iter().take(FIRST).map(|(id, _)| id.to_owned()).collect();
        answers.insert(text(&question["id"]), first);
    }
    Ok(answers)
}

/// The means over questions of a class that were held out, or over all of them.
fn scores(given: &Value, answers: &Answers, takes: impl Fn(&str) -> bool) -> Scores {
    let mut scores = Scores::default();
    let held = list(&given["questions"]).iter().filter(|question| question["held"] == true);
    for question in held.filter(|question| takes(&text(&question["class"]))) {
        let grades: Grades = question["grades"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(id, grade)| Some((id.clone(), u8::try_from(grade.as_u64()?).ok()?)))
            .collect();
        let none = Vec::new();
        scores.add(answers.get(&text(&question["id"])).unwrap_or(&none), &grades);
    }
    scores
}

/// Above [`row`]s.
pub(super) fn heading() {
    println!(
        "{:<26} {:<14} {:>9} {:>7} {:>7} {:>7} {:>7} {:>8}",
        "", "", "questions", "R@1", "R@5", "R@10", "MRR@10", "nDCG@10"
    );
}

/// How good the answers of one peer are to the questions of a class.
pub(super) fn row(class: &str, peer: &str, scores: &Scores) {
    let [one, five, ten] = scores.recall;
    println!(
        "{class:<26} {peer:<14} {:>9} {one:>7.3} {five:>7.3} {ten:>7.3} {:>7.3} {:>8.4}",
        scores.questions, scores.mrr, scores.ndcg
    );
}

fn print(given: &Value, peers: &[(&str, Answers)]) -> Vec<Aim> {
    println!("\nanswers to judged questions over examples/patterns, the half that nothing was tuned on");
    heading();
    for class in CLASSES {
        for (peer, answers) in peers {
            row(class, peer, &scores(given, answers, |of| of == class));
        }
    }
    let mut all = BTreeMap::new();
    for (peer, answers) in peers {
        let scores = scores(given, answers, |_| true);
        row("all", peer, &scores);
        all.insert(*peer, scores.ndcg);
    }
    for (peer, answers) in peers {
        row("all but absent", peer, &scores(given, answers, |of| of != ABSENT));
    }
    let of = |peer: &str| all.get(peer).copied();
    let mut aims = Vec::new();
    for mode in ["fast", "comprehensive"] {
        let Some(ours) = of(mode) else { continue };
        let what = format!("{mode}: nDCG@10 of the half held out at least 0.85");
        aims.push(Aim { met: ours >= 0.85, what, there: format!("{ours:.4}") });
        for peer in ["fts5", "fts5-prefix", "ripgrep"] {
            let Some(theirs) = of(peer) else { continue };
            let what = format!("{mode}: no worse than {peer}");
            aims.push(Aim { met: ours >= theirs, what, there: format!("{ours:.4}, {peer} {theirs:.4}") });
        }
    }
    aims
}
