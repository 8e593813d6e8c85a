//! What a call leaves beside a plan and in a record, in the form that it is kept in.

use contract::{Truncated, canonical};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::kinds::Answer;

/// A tool's answer as it is kept beside a plan.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    success: bool,
    message: String,
    output: Map<String, Value>,
    results: Option<u64>,
    truncated: Option<Truncated>,
}

impl Kept {
    pub(crate) fn of(answer: &Answer<Map<String, Value>>) -> Self {
        let Answer { success, message, output, results, truncated } = answer.clone();
        Self { success, message, output, results, truncated }
    }

    pub(crate) fn into_answer(self) -> Answer<Map<String, Value>> {
        let Self { success, message, output, results, truncated } = self;
        Answer { success, message, output, results, truncated }
    }
}

/// Deepest nesting of arguments that a transcript keeps as it is.
const MAX_DEPTH: usize = 48;

/// Numbers that have no exact double, and what is nested too deep, become text: a record reads back as it was written.
pub(crate) fn exact(value: &Value, depth: usize) -> Value {
    match value {
        Value::Number(n) => {
            #[expect(clippy::cast_precision_loss, reason = "compared with the bound itself")]
            let safe =
                n.as_f64().is_some_and(|f| f.fract() != 0.0 || f.abs() <= canonical::MAX_SAFE_INTEGER as f64);
            if safe { value.clone() } else { Value::String(n.to_string()) }
        }
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => Value::String(value.to_string()),
        Value::Array(items) => items.iter().map(|v| exact(v, depth + 1)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(k, v)| (k.clone(), exact(v, depth + 1))).collect())
        }
        other => other.clone(),
    }
}
