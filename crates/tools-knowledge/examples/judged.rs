//! The fields of the example library, the judged questions and what is answered to them, as one line of JSON: `cargo xtask bench knowledge`
//! asks others the same.
#![allow(clippy::print_stdout, reason = "an example prints")]

#[path = "../tests/it/judged.rs"]
mod judged;

use search::{Field, Mode, Tuning};
use serde_json::{Map, Value, json};

use crate::judged::{asked, indexed, patterns, questions};

fn main() {
    let (patterns, questions, tuning) = (patterns(), questions(), Tuning::DEFAULT);
    let memory = indexed(&patterns, tuning);
    let documents: Vec<Value> = patterns
        .iter()
        .map(|one| {
            one.pattern().as_document(|document| {
                json!({
                    "id": document.id,
                    "files": one.files,
                    "name": document.name,
                    "category": document.category,
                    "title": document.title,
                    "tags": document.tags.join("\n"),
                    "description": document.description,
                    "headings": document.headings.join("\n"),
                    "code": document.code,
                    "body": document.body,
                })
            })
        })
        .collect();
    let questions: Vec<Value> = questions
        .iter()
        .map(|question| {
            json!({
                "id": question.id,
                "class": question.class,
                "text": question.text,
                "grades": question.grades,
                "held": question.is_held_out(),
                "fast": asked(&memory, &question.text, Mode::Fast, tuning),
                "comprehensive": asked(&memory, &question.text, Mode::Comprehensive, tuning),
            })
        })
        .collect();
    let weights: Map<String, Value> = Field::ALL
        .iter()
        .zip(tuning.fields)
        .map(|(field, shape)| (field.word().to_owned(), json!(shape.weight)))
        .collect();
    println!("{}", json!({ "weights": weights, "documents": documents, "questions": questions }));
}
