//! JSON as programs write it: with other output around it, several documents in a row, or cut off.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::draft::Draft;
use crate::text::{documents, looked_at};

/// Places that are tried as the beginning of a document.
const MAX_BEGINNINGS: usize = 16;

/// The first JSON document of type `T` in `bytes`. Lines around it are counted as unread; of a document that breaks
/// off, what is whole is read, and the draft is marked as cut.
pub(crate) fn document<T: DeserializeOwned>(bytes: &[u8], draft: &mut Draft<'_>) -> Option<T> {
    let text = String::from_utf8_lossy(bytes);
    let mut tried = 0;
    for start in beginnings(&text) {
        tried += 1;
        if tried > MAX_BEGINNINGS {
            break;
        }
        let rest = text.get(start..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        let next = stream.next();
        looked_at(if next.is_some() { stream.byte_offset().max(1) } else { 0 });
        let value = match next {
            Some(Ok(value)) => {
                let after = rest.get(stream.byte_offset()..).unwrap_or_default();
                count_unread(after, draft);
                value
            }
            Some(Err(error)) if error.is_eof() => {
                let Some(value) = whole_part(rest).and_then(|part| serde_json::from_str(&part).ok()) else {
                    continue;
                };
                draft.cut = true;
                value
            }
            _ => continue,
        };
        count_unread(text.get(..start).unwrap_or_default(), draft);
        draft.recognised();
        return Some(value);
    }
    None
}

/// Every JSON document of type `T`, one after the other, whatever space is between them. Other lines are unread.
pub(crate) fn stream<T: DeserializeOwned>(
    bytes: &[u8],
    draft: &mut Draft<'_>,
    mut take: impl FnMut(&mut Draft<'_>, T),
) {
    let text = String::from_utf8_lossy(bytes);
    let mut rest: &str = &text;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return;
        }
        if rest.starts_with(['{', '[']) {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<T>();
            let next = stream.next();
            looked_at(stream.byte_offset().max(1));
            match next {
                Some(Ok(value)) => {
                    draft.recognised();
                    rest = rest.get(stream.byte_offset()..).unwrap_or_default();
                    take(draft, value);
                    continue;
                }
                // Without this, each line of a broken document would be parsed to its end again.
                Some(Err(error)) if error.is_eof() => {
                    draft.cut = true;
                    count_unread(rest, draft);
                    return;
                }
                _ => {}
            }
        }
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        draft.unread(line);
        rest = after;
    }
}

/// Every line that is a JSON document of type `T`; `other` gets the rest of the lines. The end of the output in the
/// middle of a document marks the draft as cut.
pub(crate) fn each_line<T: DeserializeOwned>(
    bytes: &[u8],
    draft: &mut Draft<'_>,
    mut take: impl FnMut(&mut Draft<'_>, T),
    mut other: impl FnMut(&mut Draft<'_>, &str),
) {
    let mut lines = documents(bytes);
    while let Some(line) = lines.next() {
        let line = line.trim();
        if !line.starts_with(['{', '[']) {
            other(draft, line);
            continue;
        }
        match serde_json::from_str(line) {
            Ok(value) => {
                draft.recognised();
                take(draft, value);
            }
            Err(error) if error.is_eof() && !lines.ended => {
                draft.cut = true;
                // Of a list, the elements before the end are whole; half an object says too little.
                let part = whole_part(line).filter(|_| line.starts_with('['));
                if let Some(value) = part.and_then(|part| serde_json::from_str(&part).ok()) {
                    draft.recognised();
                    take(draft, value);
                }
            }
            Err(_) => other(draft, line),
        }
    }
}

/// A line or column. What is none (gcc says -1 where it knows none) is absent, and the document is read all the same.
pub(crate) fn position<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    Ok(value.as_ref().and_then(Value::as_u64).and_then(|at| u32::try_from(at).ok()).filter(|at| *at > 0))
}

/// Leaves a line unread.
pub(crate) fn leave(draft: &mut Draft<'_>, line: &str) {
    draft.unread(line);
}

fn count_unread(text: &str, draft: &mut Draft<'_>) {
    let many = text.lines().filter(|line| !line.trim().is_empty()).count();
    draft.unread_lines(many as u64);
}

/// Where a document may begin: at the first character, and at a bracket that begins a line.
fn beginnings(text: &str) -> impl Iterator<Item = usize> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        text.get(start..)?.starts_with(['{', '[']).then_some(start)
    })
}

/// The part of a JSON text that is whole, with its open brackets closed: up to the last comma, the last closed bracket
/// or the beginning of a list, whichever is last. Linear; nothing when no bracket is open.
fn whole_part(text: &str) -> Option<Cow<'_, str>> {
    let mut open: Vec<u8> = Vec::new();
    let mut safe: Option<(usize, usize)> = None;
    let (mut quoted, mut escaped) = (false, false);
    looked_at(text.len());
    for (at, byte) in text.bytes().enumerate() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' => open.push(b'}'),
            b'[' => {
                open.push(b']');
                safe = Some((at + 1, open.len()));
            }
            b'}' | b']' => {
                open.pop();
                safe = Some((at + 1, open.len()));
            }
            b',' => safe = Some((at, open.len())),
            _ => {}
        }
    }
    let (end, depth) = safe?;
    let mut part = text.get(..end)?.to_owned();
    // What was opened after the safe place is above `depth`, and what was closed after it would have moved it.
    part.extend(open.get(..depth)?.iter().rev().map(|byte| char::from(*byte)));
    Some(Cow::Owned(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Context;
    use crate::draft::Kind;

    #[test]
    fn of_a_document_that_breaks_off_the_whole_part_is_read() {
        let part = |text| whole_part(text).map(|part| serde_json::from_str::<Value>(&part).unwrap());
        assert_eq!(part(r#"{"a": [1, 2, {"b": "x,]", "c": "#), Some(json!({"a": [1, 2, {"b": "x,]"}]})));
        assert_eq!(part(r#"[{"a": 1}, {"#), Some(json!([{"a": 1}])));
        assert_eq!(part(r#"{"a": ["#), Some(json!({"a": []})));
        assert_eq!(part(r#"{"a"#), None);
    }

    #[test]
    fn a_document_is_found_among_other_output() {
        let context = Context::default();
        let mut draft = Draft::new(&context, "x", Kind::Document);
        let value: Option<Value> = document(b"loud\n{not json\n{\"a\": 1}\nbye\n", &mut draft);
        assert_eq!(value, Some(json!({"a": 1})));
        let report = draft.finish(Some(0));
        assert_eq!(report.parsed, crate::Parsed::Partly { unread_lines: 3, cut: false });
    }
}
