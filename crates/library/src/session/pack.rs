//! Finalization packs: a session as JSON.

use serde_json::{Map, Value};

use super::Session;
use crate::code::Block;
use crate::problem::{Code, Place, Problems};

/// Largest pack that is read, in bytes: 4 MiB.
pub const MAX_PACK: usize = 4 << 20;

/// What an item may call its text, and what it may call the reason beside it.
const MAIN: [&str; 13] = [
    "decision",
    "challenge",
    "implementation",
    "step",
    "task",
    "title",
    "name",
    "text",
    "content",
    "summary",
    "problem",
    "what",
    "description",
];
const BESIDE: [&str; 8] =
    ["rationale", "reason", "why", "solution", "resolution", "description", "details", "outcome"];

/// A session from a `finalization-pack.json`: `summary`, `decisions`, `implementations`, `challenges`, `nextSteps` or `next_steps`,
/// `codeBlocks` or `code_blocks`. Lists hold texts, or objects that name theirs. The pack itself is given back too, for its figures.
pub fn read_pack(text: &str, problems: &mut Problems) -> Option<(Session, Value)> {
    if text.len() > MAX_PACK {
        problems.whole(Code::TooLarge, "a finalization pack has at most 4 MiB: it is not read");
        return None;
    }
    let value: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => value,
        Err(error) => {
            let line = u32::try_from(error.line()).unwrap_or(1).max(1);
            let column = u32::try_from(error.column()).ok();
            problems.at(
                Place { line, column },
                Code::SessionInvalid,
                "the pack is no JSON from here on: it is not read",
            );
            return None;
        }
    };
    let Value::Object(map) = &value else {
        problems.at(Place::line(1), Code::SessionInvalid, "the pack is no JSON object: it is not read");
        return None;
    };
    let get = |names: &[&str]| names.iter().find_map(|name| map.get(*name));
    let list = |names: &[&str]| get(names).map(items).unwrap_or_default();
    let session = Session {
        title: get(&["title", "name"]).and_then(Value::as_str).map(str::to_owned),
        summary: get(&["summary"]).and_then(item).unwrap_or_default(),
        decisions: list(&["decisions"]),
        implementations: list(&["implementations"]),
        challenges: list(&["challenges", "blockers"]),
        next_steps: list(&["nextSteps", "next_steps"]),
        code_blocks: get(&["codeBlocks", "code_blocks"]).map(blocks).unwrap_or_default(),
    };
    Some((session.normal(), value))
}

fn items(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().filter_map(item).collect(),
        other => item(other).into_iter().collect(),
    }
}

fn item(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(map) => {
            let main = text(map, &MAIN, None)?;
            let beside = text(map, &BESIDE, Some(main));
            Some(beside.map_or_else(|| main.to_owned(), |beside| format!("{main}\n{beside}")))
        }
        _ => None,
    }
}

fn text<'a>(map: &'a Map<String, Value>, names: &[&str], but: Option<&str>) -> Option<&'a str> {
    names.iter().find_map(|name| map.get(*name)?.as_str().filter(|text| Some(*text) != but))
}

fn blocks(value: &Value) -> Vec<Block> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|block| {
            let map = block.as_object()?;
            let code = text(map, &["code", "content", "text"], None)?.to_owned();
            let language = text(map, &["language", "lang"], None).unwrap_or_default().to_owned();
            let file = text(map, &["file", "filename", "path"], None).map(str::to_owned);
            Some(Block { language, code, file, line: None })
        })
        .collect()
}
