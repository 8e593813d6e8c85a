//! The example library, indexed as a server indexes it, and the questions that somebody judged. The quality test and the bench
//! share it.
#![allow(
    dead_code,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "of tests and of an example that prints; each uses its part"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gatewright_tools_knowledge::indexing::{Pattern, executable};
use library::entry::{Entry, Text, of_files, of_folder};
use library::pattern::{Found, Layout, is_entered, survey};
use library::quality::is_verified;
use search::judge::{Grades, Scores};
use search::{Analyst, Filters, Memory, Mode, Order, Plan, Query, Tuning, answer};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

/// How many answers are judged.
pub(crate) const FIRST: usize = 10;
/// The class of questions whose words the wanted texts do not have: a lexical search loses them.
pub(crate) const ABSENT: &str = "absent";
/// Classes in the order in which they are told.
pub(crate) const CLASSES: [&str; 8] =
    ["plain", "identifiers", "typos", "forms", "phrases", "initials", "noisy", ABSENT];
/// Both ways of asking, and what they are called.
pub(crate) const MODES: [(&str, Mode); 2] = [("fast", Mode::Fast), ("comprehensive", Mode::Comprehensive)];

#[derive(Deserialize)]
struct File {
    query: Vec<Judged>,
}

/// A question, and what somebody would want to be shown.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judged {
    pub(crate) id: String,
    pub(crate) class: String,
    pub(crate) text: String,
    pub(crate) grades: Grades,
}

impl Judged {
    /// Whether nothing is tuned on it: the last bit of its id's SHA-256 is one.
    pub(crate) fn is_held_out(&self) -> bool {
        Sha256::digest(self.id.as_bytes()).last().is_some_and(|byte| byte & 1 == 1)
    }
}

/// A pattern of the library, read.
pub(crate) struct One {
    pub(crate) name: String,
    pub(crate) entry: Entry,
    pub(crate) document: String,
    pub(crate) code: String,
    pub(crate) executable: bool,
    /// Below the library.
    pub(crate) files: Vec<String>,
}

impl One {
    pub(crate) fn pattern(&self) -> Pattern<'_> {
        Pattern {
            name: &self.name,
            entry: &self.entry,
            description: &self.entry.description,
            document: &self.document,
            code: &self.code,
            executable: self.executable,
            verified: is_verified(self.entry.reuse_count),
        }
    }
}

/// Where the library is.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/patterns").canonicalize().unwrap()
}

/// The questions.
pub(crate) fn questions() -> Vec<Judged> {
    let text = std::fs::read_to_string(folder().join("judged.toml")).unwrap();
    toml::from_str::<File>(&text).unwrap().query
}

/// Everything that the library holds.
pub(crate) fn patterns() -> Vec<One> {
    let folder = folder();
    let mut paths = Vec::new();
    walk(&folder, "", &mut paths);
    let surveyed = survey(paths.iter().map(String::as_str));
    assert_eq!(surveyed.problems, []);
    surveyed.found.iter().map(|found| read(&folder, found)).collect()
}

fn walk(folder: &Path, below: &str, paths: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if !entry.file_type().unwrap().is_dir() {
            paths.push(path);
        } else if is_entered(&name) {
            walk(&entry.path(), &path, paths);
        }
    }
}

fn read(folder: &Path, found: &Found) -> One {
    let text = |file: &String| std::fs::read_to_string(folder.join(file)).unwrap();
    let main = found.main();
    let document = text(&main);
    let own = Text { file: &main, text: &document };
    let read = match &found.layout {
        Layout::Files { meta, .. } => {
            let beside = meta.as_ref().map(text);
            let beside = meta.as_ref().zip(beside.as_ref());
            of_files(found, own, beside.map(|(file, text)| Text { file, text }))
        }
        Layout::Folder { .. } => of_folder(found, own),
    };
    let entry = read.entry.unwrap_or_else(|| panic!("{main}: {:?}", read.problems));
    let file = executable(found, &entry);
    One {
        name: found.name.clone(),
        code: file.as_ref().map(text).unwrap_or_default(),
        executable: file.is_some(),
        files: found.files().into_iter().map(str::to_owned).collect(),
        entry,
        document,
    }
}

/// The library's index, with these numbers.
pub(crate) fn indexed(patterns: &[One], tuning: Tuning) -> Memory {
    let mut analyst = Analyst::tuned(tuning);
    let analysed = patterns.iter().map(|one| one.pattern().as_document(|document| analyst.analyse(document)));
    Memory::build(analysed).unwrap()
}

/// The first answers to a question, with these numbers.
pub(crate) fn asked(memory: &Memory, text: &str, mode: Mode, tuning: Tuning) -> Vec<String> {
    let query = Query::parse(text, mode, Filters::default()).unwrap();
    let views = [memory.view()];
    let plan = Plan::tuned(&query, &views, tuning);
    let found = answer(&views, &plan, &[memory.blobs(&plan, 0)], Order::Score, FIRST).unwrap();
    found.hits.into_iter().map(|hit| hit.id).collect()
}

/// How good answers to some questions are, by class.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) by_class: BTreeMap<String, Scores>,
    pub(crate) all: Scores,
    pub(crate) without_absent: Scores,
}

impl Told {
    pub(crate) fn of<'q>(
        questions: impl IntoIterator<Item = &'q Judged>,
        mut answers: impl FnMut(&Judged) -> Vec<String>,
    ) -> Self {
        let mut told = Self::default();
        for question in questions {
            let found = answers(question);
            told.by_class.entry(question.class.clone()).or_default().add(&found, &question.grades);
            told.all.add(&found, &question.grades);
            if question.class != ABSENT {
                told.without_absent.add(&found, &question.grades);
            }
        }
        told
    }

    pub(crate) fn print(&self, title: &str) {
        println!("\n{title}");
        println!(
            "{:<16} {:>9} {:>7} {:>7} {:>7} {:>7} {:>8}",
            "", "questions", "R@1", "R@5", "R@10", "MRR@10", "nDCG@10"
        );
        let classes = CLASSES.iter().filter_map(|class| Some((*class, self.by_class.get(*class)?)));
        for (name, scores) in classes.chain([("all", &self.all), ("all but absent", &self.without_absent)]) {
            let [one, five, ten] = scores.recall;
            println!(
                "{name:<16} {:>9} {one:>7.3} {five:>7.3} {ten:>7.3} {:>7.3} {:>8.4}",
                scores.questions, scores.mrr, scores.ndcg
            );
        }
    }
}
