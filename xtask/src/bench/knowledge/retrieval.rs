//! Long conversations, as LongMemEval and LoCoMo have them: which session, or which turn, answers a question. What is measured is
//! retrieval, not answers: no model reads anything, and nothing is tuned to these texts.
//!
//! The files are the user's own (`--longmemeval FILE`, `--locomo FILE`): nothing of them is fetched or kept.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use search::judge::{Grades, Scores};
use search::{Analyst, Document, Field, Filters, Memory, Mode, Order, Query};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::quality::{Answers, FIRST, fts5, of_ripgrep};
use super::ripgrep::Ripgrep;
use crate::sh::{Done, target};

/// Questions of LongMemEval that nothing in their sessions answers.
const ABSTAIN: &str = "_abs";
/// Longest question that a search takes, in characters.
const MOST: usize = search::MAX_QUERY;

/// Texts, and questions that some of them answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Haystack {
    /// By id.
    texts: BTreeMap<String, String>,
    questions: Vec<Question>,
}

#[derive(Debug, PartialEq, Eq)]
struct Question {
    id: String,
    kind: String,
    text: String,
    wanted: BTreeSet<String>,
}

/// What was read of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    haystacks: Vec<Haystack>,
    /// Questions that nothing answers, or that name what is not there.
    left_out: usize,
}

/// As LongMemEval has it (`longmemeval_s.json`): a list of questions, each with its own sessions.
#[derive(Deserialize)]
struct LongMemEval {
    question_id: String,
    question_type: String,
    question: String,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<Said>>,
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Said {
    role: String,
    content: String,
}

/// As LoCoMo has it (`locomo10.json`): a list of conversations, each with its questions.
#[derive(Deserialize)]
struct LoCoMo {
    #[serde(default)]
    sample_id: Option<String>,
    /// `session_N` beside `session_N_date_time`, `speaker_a`, `speaker_b`.
    conversation: Map<String, Value>,
    qa: Vec<Asked>,
}

#[derive(Deserialize)]
struct Turn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    /// What is to be seen on a picture that was sent.
    #[serde(default)]
    blip_caption: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    #[serde(default)]
    category: Value,
}

/// The records of a file.
fn parsed<T: for<'de> Deserialize<'de>>(from: impl io::Read) -> Done<Vec<T>> {
    serde_json::from_reader(io::BufReader::new(from)).map_err(|e| e.to_string())
}

/// Reads a file as `read` does.
pub(super) fn of_file(file: &Path, read: fn(std::fs::File) -> Done<Read>) -> Done<Read> {
    let open = std::fs::File::open(file).map_err(|e| e.to_string());
    open.and_then(read).map_err(|e| format!("{}: {e}", file.display()))
}

/// Reads a file of LongMemEval: what is looked for is a session.
pub(super) fn longmemeval(from: impl io::Read) -> Done<Read> {
    let mut read = Read::default();
    for one in parsed::<LongMemEval>(from)? {
        if one.haystack_session_ids.len() != one.haystack_sessions.len() {
            let why = "it has another number of sessions than of their ids";
            return Err(format!("{}: {why}", one.question_id));
        }
        let text = |said: Vec<Said>| -> String {
            let lines: Vec<String> =
                said.into_iter().map(|s| format!("{}: {}\n", s.role, s.content)).collect();
            lines.join("\n")
        };
        let texts = one.haystack_session_ids.into_iter().zip(one.haystack_sessions.into_iter().map(text));
        let texts: BTreeMap<String, String> = texts.collect();
        let wanted = one.answer_session_ids.into_iter().collect();
        let (id, kind) = (one.question_id, one.question_type);
        let is_left_out = id.ends_with(ABSTAIN);
        let question = Question { id, kind, text: one.question, wanted };
        read.take(texts, vec![question], |_| is_left_out);
    }
    Ok(read)
}

/// Reads a file of LoCoMo: what is looked for is a turn.
pub(super) fn locomo(from: impl io::Read) -> Done<Read> {
    let mut read = Read::default();
    for (at, one) in parsed::<LoCoMo>(from)?.into_iter().enumerate() {
        let mut texts = BTreeMap::new();
        for (key, value) in one.conversation {
            let is_session = key.strip_prefix("session_").is_some_and(|number| number.parse::<u32>().is_ok());
            if !is_session {
                continue;
            }
            let turns: Vec<Turn> = serde_json::from_value(value).map_err(|e| format!("{key}: {e}"))?;
            for turn in turns {
                let picture = turn.blip_caption.map(|caption| format!("\n{caption}")).unwrap_or_default();
                texts.insert(turn.dia_id, format!("{}: {}{picture}", turn.speaker, turn.text));
            }
        }
        let name = one.sample_id.unwrap_or_else(|| format!("conversation {at}"));
        let questions = one.qa.into_iter().enumerate().map(|(number, asked)| Question {
            id: format!("{name} {number}"),
            kind: format!("category {}", asked.category),
            text: asked.question,
            // Some name several in one text.
            wanted: asked
                .evidence
                .iter()
                .flat_map(|evidence| evidence.split([';', ',', ' ']))
                .filter(|id| !id.is_empty())
                .map(str::to_owned)
                .collect(),
        });
        read.take(texts, questions.collect(), |_| false);
    }
    Ok(read)
}

impl Read {
    /// Takes those that something answers that is there.
    fn take(
        &mut self,
        texts: BTreeMap<String, String>,
        questions: Vec<Question>,
        is_left_out: impl Fn(&Question) -> bool,
    ) {
        let before = questions.len();
        let is_there = |question: &Question| {
            !question.wanted.is_empty() && question.wanted.iter().all(|id| texts.contains_key(id))
        };
        let questions: Vec<Question> =
            questions.into_iter().filter(|question| !is_left_out(question) && is_there(question)).collect();
        self.left_out += before - questions.len();
        if !questions.is_empty() {
            self.haystacks.push(Haystack { texts, questions });
        }
    }
}

/// A question of a person, as a search is asked: no quotes and no signs that would rule words out, and no longer than it takes.
fn asked(text: &str) -> String {
    let words = text.split_whitespace().map(|word| word.replace('"', ""));
    let words = words.map(|word| word.trim_start_matches('-').to_owned()).filter(|word| !word.is_empty());
    let mut question = String::new();
    for word in words {
        if question.chars().count() + word.chars().count() >= MOST {
            break;
        }
        question.push_str(&word);
        question.push(' ');
    }
    question.trim_end().to_owned()
}

fn indexed(haystack: &Haystack) -> Done<Memory> {
    let mut analyst = Analyst::new();
    let analysed = haystack.texts.iter().map(|(id, text)| {
        analyst.analyse(&Document {
            id,
            category: "",
            quality: None,
            executable: false,
            verified: false,
            name: "",
            title: "",
            tags: &[],
            description: "",
            headings: &[],
            code: "",
            body: text,
        })
    });
    Memory::build(analysed.collect::<Vec<_>>()).map_err(|e| e.to_string())
}

fn ours(memory: &Memory, haystack: &Haystack, mode: Mode) -> Done<Answers> {
    let mut answers = Answers::new();
    for question in &haystack.questions {
        let query =
            Query::parse(&asked(&question.text), mode, Filters::default()).map_err(|e| e.to_string())?;
        let found = memory.search(&query, Order::Score, FIRST).map_err(|e| e.to_string())?;
        answers.insert(question.id.clone(), found.hits.into_iter().map(|hit| hit.id).collect());
    }
    Ok(answers)
}

/// As the peers are given it.
fn given(haystack: &Haystack) -> Value {
    let documents = haystack.texts.iter().enumerate().map(|(at, (id, text))| {
        json!({ "id": id, "name": "", "category": "", "title": "", "tags": "", "description": "", "headings": "", "code": "",
                "body": text, "files": [format!("{at}.txt")] })
    });
    let questions =
        haystack.questions.iter().map(|question| json!({ "id": question.id, "text": asked(&question.text) }));
    let weights: Map<String, Value> =
        Field::ALL.into_iter().map(|f| (f.word().to_owned(), json!(1))).collect();
    json!({ "documents": documents.collect::<Vec<_>>(), "questions": questions.collect::<Vec<_>>(), "weights": weights })
}

/// Asks everybody everything, and prints how good the answers are.
pub(super) fn run(name: &str, unit: &str, read: &Read, ripgrep: Option<Ripgrep>) -> Done {
    let questions: usize = read.haystacks.iter().map(|haystack| haystack.questions.len()).sum();
    let texts: usize = read.haystacks.iter().map(|haystack| haystack.texts.len()).sum();
    println!(
        "\n{name}: which {unit} answers ({questions} questions over {texts} texts in {} collections; {} left out that nothing answers); retrieval alone, nothing tuned",
        read.haystacks.len(),
        read.left_out
    );
    let mut scores: BTreeMap<(String, &'static str), Scores> = BTreeMap::new();
    let scratch = target().join(format!("bench-retrieval-{}", std::process::id()));
    let mut has_fts5 = true;
    for haystack in &read.haystacks {
        let memory = indexed(haystack)?;
        let mut peers: Vec<(&'static str, Answers)> = vec![
            ("fast", ours(&memory, haystack, Mode::Fast)?),
            ("comprehensive", ours(&memory, haystack, Mode::Comprehensive)?),
        ];
        let given = given(haystack);
        if has_fts5 {
            match fts5(&given) {
                Ok(mut said) => peers.push(("fts5", said.remove("fts5").unwrap_or_default())),
                Err(why) => {
                    println!("SKIPPED: FTS5 ({why})");
                    has_fts5 = false;
                }
            }
        }
        if let Some(ripgrep) = ripgrep {
            let _ = std::fs::remove_dir_all(&scratch);
            std::fs::create_dir_all(&scratch).map_err(|e| e.to_string())?;
            for (at, text) in haystack.texts.values().enumerate() {
                std::fs::write(scratch.join(format!("{at}.txt")), text).map_err(|e| e.to_string())?;
            }
            peers.push(("ripgrep", of_ripgrep(ripgrep, &scratch, &given)?));
        }
        for question in &haystack.questions {
            let grades: Grades = question.wanted.iter().map(|id| (id.clone(), 1)).collect();
            for (peer, answers) in &peers {
                let none = Vec::new();
                let found = answers.get(&question.id).unwrap_or(&none);
                for kind in [question.kind.as_str(), "~ all"] {
                    scores.entry((kind.to_owned(), peer)).or_default().add(found, &grades);
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(&scratch);
    super::quality::heading();
    for ((kind, peer), scores) in &scores {
        super::quality::row(kind.trim_start_matches("~ "), peer, scores);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSIONS: &str = r#"[
      {"question_id": "q1", "question_type": "single-session-user", "question": "Where did I park the \"old\" van?", "answer": "-",
       "question_date": "2025/01/02", "haystack_dates": ["a", "b"], "haystack_session_ids": ["s1", "s2"],
       "haystack_sessions": [[{"role": "user", "content": "The van is parked behind the mill.", "has_answer": true}],
                             [{"role": "assistant", "content": "A cake needs flour."}]],
       "answer_session_ids": ["s1"]},
      {"question_id": "q2_abs", "question_type": "single-session-user", "question": "Which ship?", "haystack_session_ids": [],
       "haystack_sessions": [], "answer_session_ids": []},
      {"question_id": "q3", "question_type": "multi-session", "question": "-flour for what cake", "haystack_session_ids": ["s2"],
       "haystack_sessions": [[{"role": "assistant", "content": "A cake needs flour."}]], "answer_session_ids": ["s2"]}
    ]"#;

    #[test]
    fn longmemeval_is_read_and_answered() {
        let read = longmemeval(SESSIONS.as_bytes()).unwrap();
        assert_eq!((read.haystacks.len(), read.left_out), (2, 1));
        let first = &read.haystacks[0];
        assert_eq!(first.texts["s1"], "user: The van is parked behind the mill.\n");
        for mode in [Mode::Fast, Mode::Comprehensive] {
            let answers = ours(&indexed(first).unwrap(), first, mode).unwrap();
            assert_eq!(answers["q1"][0], "s1");
            let other = &read.haystacks[1];
            assert_eq!(
                ours(&indexed(other).unwrap(), other, mode).unwrap()["q3"],
                ["s2"],
                "nothing is ruled out"
            );
        }
        let torn = SESSIONS.replacen("\"s1\", \"s2\"", "\"s1\"", 1);
        assert!(longmemeval(torn.as_bytes()).unwrap_err().contains("q1"));
        assert!(longmemeval("{}".as_bytes()).is_err());
    }

    #[test]
    fn locomo_is_read_by_turns() {
        let text = r#"[{"sample_id": "c-1", "conversation": {"speaker_a": "Ada", "speaker_b": "Bo", "session_1_date_time": "then",
            "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a greyhound."},
                          {"speaker": "Bo", "dia_id": "D1:2", "text": "", "blip_caption": "a photo of a kite"}]},
            "qa": [{"question": "What dog does Ada have?", "answer": "-", "evidence": ["D1:1"], "category": 1},
                   {"question": "What did Bo fly, and who has a dog?", "evidence": ["D1:2; D1:1"], "category": 2},
                   {"question": "Who?", "evidence": ["D9:9"], "category": 5}, {"question": "Why?", "evidence": []}]}]"#;
        let read = locomo(text.as_bytes()).unwrap();
        assert_eq!((read.haystacks.len(), read.left_out), (1, 2));
        let one = &read.haystacks[0];
        assert_eq!(one.texts["D1:2"], "Bo: \na photo of a kite");
        assert_eq!(one.questions[1].wanted.len(), 2);
        assert_eq!(one.questions[0].kind, "category 1");
    }

    #[test]
    fn questions_are_as_long_as_a_search_takes() {
        assert_eq!(asked("Is \"this\"  -that?"), "Is this that?");
        let long = "word ".repeat(200);
        assert!(asked(&long).chars().count() <= MOST && asked(&long).len() > MOST - 10);
    }
}
