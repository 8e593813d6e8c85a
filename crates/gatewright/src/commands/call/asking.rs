//! What a tool of others wants to know of whoever sits at the terminal: a line for each field of its form.

use std::io::BufRead as _;

use kit::inquiry::{Inquiries, Inquiry, Question, Replied, Wanted};
use serde_json::{Map, Value, json};

/// The way to the terminal, where somebody sits there: each question is asked as it comes.
pub(super) fn inquiries(can_ask: bool) -> Option<Inquiries> {
    let (inquiries, mut heard) = Inquiries::new(false);
    can_ask.then(|| {
        tokio::spawn(async move {
            while let Some(Inquiry { question, answer }) = heard.recv().await {
                let asked = tokio::task::spawn_blocking(move || asked_here(&question)).await;
                let _ = answer.send(asked.unwrap_or(Replied::Cancelled));
            }
        });
        inquiries
    })
}

fn asked_here(question: &Question) -> Replied {
    let Wanted::Form(form) = &question.wanted else { return Replied::Unasked };
    anstream::eprintln!("\n{}", question.text);
    anstream::eprint!("Answer it? [y/N] ");
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    match lines.next() {
        None => return Replied::Cancelled,
        Some(line) if !matches!(line.trim(), "y" | "Y" | "yes") => return Replied::Declined,
        Some(_) => {}
    }
    let none = Map::new();
    let mut given = Map::new();
    for (name, field) in form.get("properties").and_then(Value::as_object).unwrap_or(&none) {
        let text = |key: &str| field.get(key).and_then(Value::as_str).unwrap_or_default();
        let choices: Vec<String> = choices(field).collect();
        let hint = if choices.is_empty() { text("type").to_owned() } else { choices.join(", ") };
        let usual = field.get("default").map(|usual| format!("; Enter: {usual}")).unwrap_or_default();
        anstream::eprint!("{name} {} ({hint}{usual}): ", text("description"));
        let Some(line) = lines.next() else { return Replied::Cancelled };
        if let Some(value) = value(field, line.trim()) {
            given.insert(name.clone(), value);
        }
    }
    Replied::Accepted(given)
}

/// What a line means for a field; nothing where it is left out.
fn value(field: &Value, line: &str) -> Option<Value> {
    if line.is_empty() {
        return field.get("default").cloned();
    }
    Some(match field.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(matches!(line, "y" | "Y" | "yes" | "true")),
        Some("integer" | "number") => serde_json::from_str(line).unwrap_or_else(|_| json!(line)),
        Some("array") => line.split(',').map(str::trim).filter(|one| !one.is_empty()).collect(),
        _ => json!(line),
    })
}

fn choices(field: &Value) -> impl Iterator<Item = String> {
    let of = field.get("items").unwrap_or(field);
    let plain = of.get("enum").and_then(Value::as_array).into_iter().flatten();
    let titled = of.get("oneOf").or_else(|| of.get("anyOf")).and_then(Value::as_array).into_iter().flatten();
    plain.chain(titled.filter_map(|one| one.get("const"))).filter_map(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_of_its_fields_type_and_an_empty_one_what_is_usual() {
        let of = |kind: &str| json!({ "type": kind, "default": 7 });
        assert_eq!(value(&of("integer"), ""), Some(json!(7)));
        assert_eq!(value(&of("integer"), "12"), Some(json!(12)));
        assert_eq!(value(&of("boolean"), "y"), Some(json!(true)));
        assert_eq!(value(&of("array"), "a, b"), Some(json!(["a", "b"])));
        assert_eq!(value(&json!({ "type": "string" }), ""), None);
        let field = json!({ "items": { "anyOf": [{ "const": "a" }] } });
        assert_eq!(choices(&field).collect::<Vec<_>>(), ["a"]);
    }
}
