//! Pages of a list: what was asked for, what is shown, and the handle that goes on.
//!
//! A cursor is random, belongs to the principal that got it and to the call that it came from, and expires.

use contract::{Code, Digest, Fault, Principal, Truncated};
use exec::StateDir;
use exec::handle::Handle;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cost;
use crate::kinds::List;

/// Which part of a list a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Entries before the first that is wanted.
    pub offset: u64,
    /// Most entries wanted.
    pub limit: u64,
}

impl Default for Page {
    fn default() -> Self {
        Self { offset: 0, limit: u64::MAX }
    }
}

/// Where a call may go on, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    tool: String,
    arguments: Digest,
    offset: u64,
}

/// Most characters of one entry, so that a result with it is below the hard cap.
const MAX_ENTRY: u64 = crate::shape::chars(crate::shape::HARD_CAP) - 2_000;

/// The handles' kind.
const KIND: &str = "cursor";

/// The offset that `cursor` stands for, when it came from the same call of the same caller.
pub(crate) fn resume(
    state: &StateDir,
    cursor: &str,
    tool: &str,
    arguments: Digest,
    owner: &Principal,
) -> Result<u64, Fault> {
    let renew = |fault: Fault| fault.suggest(format!("Call {tool} again without `cursor`."));
    let kept: Kept = state.handle(KIND, cursor, owner).map_err(|fault| match fault.code {
        Code::NotFound => {
            renew(Fault::new(Code::NotFound, "there is no such cursor: it expired, or never was"))
        }
        _ => fault,
    })?;
    if kept.tool != tool || kept.arguments != arguments {
        let message = "the cursor was made by another call";
        return Err(
            renew(Fault::invalid(message)).suggest("Pass the same arguments as before, with `cursor`.")
        );
    }
    Ok(kept.offset)
}

/// Cuts the list of `output` to `page` and to at most `most` characters, and says what was cut.
///
/// The handle that goes on is kept for `owner`. At least one entry is shown, so that going on ends.
pub(crate) fn cut(
    output: &mut Map<String, Value>,
    list: &List,
    page: Page,
    most: u64,
    go_on: impl FnOnce(u64) -> Result<Handle, Fault>,
) -> Result<Option<Cut>, Fault> {
    let Some(Value::Array(entries)) = output.get_mut(&list.field) else { return Ok(None) };
    let before = page.offset.saturating_sub(list.offset).min(entries.len() as u64);
    entries.drain(..usize::try_from(before).unwrap_or(usize::MAX));
    let (mut shown, mut used) = (0, 0);
    for entry in entries.iter() {
        used += entry.to_string().chars().count() as u64 + 1;
        if shown > 0 && (used > most || shown as u64 >= page.limit) {
            break;
        }
        shown += 1;
    }
    let rest = entries.split_off(shown);
    let end = list.offset + before + shown as u64;
    // The last page of several is a part too, though nothing follows it; and nothing follows nothing.
    if end >= list.total || shown == 0 {
        return Ok(None);
    }
    let handle = go_on(end)?;
    if shown == 1 && used > MAX_ENTRY {
        let message = format!("the next entry alone has {used} characters, more than a result may have");
        return Err(Fault::new(Code::TooLarge, message)
            .suggest(format!("Go on behind it with \"cursor\": \"{handle}\".")));
    }
    let truncated = Truncated { shown: shown as u64, total: list.total, next: handle.to_string() };
    Ok(Some(Cut { truncated, rest }))
}

/// What was cut off a list.
#[derive(Debug, PartialEq)]
pub(crate) struct Cut {
    /// As the caller is told.
    pub(crate) truncated: Truncated,
    /// The entries behind those that are shown, as far as the tool had them.
    rest: Vec<Value>,
}

impl Cut {
    /// Characters of the entries that were cut off although the caller wanted them: all, where it did not say how many. They
    /// are counted as far as they count.
    pub(crate) fn characters(&self, wanted: Option<u64>) -> u64 {
        let more = wanted.map_or(u64::MAX, |wanted| wanted.saturating_sub(self.truncated.shown));
        let mut counted = 0;
        for entry in self.rest.iter().take(usize::try_from(more).unwrap_or(usize::MAX)) {
            if counted >= cost::MOST_CHARACTERS {
                break;
            }
            counted += cost::characters(entry) + 1;
        }
        counted
    }
}

/// Keeps the handle of `tool`'s list from `offset` on.
pub(crate) fn keep(
    state: &StateDir,
    tool: &str,
    arguments: Digest,
    offset: u64,
    owner: &Principal,
) -> Result<Handle, Fault> {
    state.keep_handle(KIND, owner, &Kept { tool: tool.to_owned(), arguments, offset })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(count: u64) -> (Map<String, Value>, List) {
        let entries: Vec<Value> = (0..count).map(|n| json!({ "n": n })).collect();
        let map = json!({ "entries": entries, "other": 1 }).as_object().unwrap().clone();
        (map, List { field: "entries".into(), total: count, offset: 0 })
    }

    fn handle(_: u64) -> Result<Handle, Fault> {
        Handle::random(KIND)
    }

    #[test]
    fn a_list_is_cut_to_its_page_and_says_how_to_go_on() {
        let (mut map, list) = output(10);
        let mut next = 0;
        let cut = cut(&mut map, &list, Page { offset: 3, limit: 4 }, 10_000, |end| {
            next = end;
            handle(end)
        });
        let cut = cut.unwrap().unwrap();
        assert_eq!(map["entries"], json!([{"n": 3}, {"n": 4}, {"n": 5}, {"n": 6}]));
        assert_eq!((cut.truncated.shown, cut.truncated.total, next), (4, 10, 7));
        // `{"n":7}` and a comma, three times; who wanted five misses one.
        assert_eq!([None, Some(5), Some(4), Some(0)].map(|wanted| cut.characters(wanted)), [24, 8, 0, 0]);
    }

    #[test]
    fn a_list_over_its_budget_gives_way_entry_by_entry_and_always_moves() {
        let (mut map, list) = output(10);
        let said = cut(&mut map, &list, Page::default(), 20, handle).unwrap().unwrap();
        assert_eq!((said.truncated.shown, map["entries"].as_array().unwrap().len()), (2, 2));
        let (mut map, list) = output(10);
        assert_eq!(cut(&mut map, &list, Page::default(), 1, handle).unwrap().unwrap().truncated.shown, 1);
    }

    #[test]
    fn an_entry_that_is_too_large_is_said_and_can_be_passed_over() {
        let (mut map, list) = output(3);
        map["entries"][0] = json!("x".repeat(100_000));
        let fault = cut(&mut map, &list, Page::default(), 100, handle).unwrap_err();
        assert!(fault.code == Code::TooLarge && fault.suggestions[0].contains("cursor_"), "{fault:?}");
        // A tool that says there is more than it gives does not send its caller round in a circle.
        let (mut map, list) = output(3);
        let list = List { total: 500, ..list };
        assert_eq!(cut(&mut map, &list, Page { offset: 3, limit: 5 }, 100, handle).unwrap(), None);
    }

    #[test]
    fn the_last_page_has_no_next() {
        let (mut map, list) = output(5);
        assert_eq!(cut(&mut map, &list, Page { offset: 3, limit: 50 }, 10_000, handle).unwrap(), None);
        assert_eq!(map["entries"].as_array().unwrap().len(), 2);
        let (mut map, list) = output(5);
        assert_eq!(cut(&mut map, &list, Page { offset: 9, limit: 50 }, 10_000, handle).unwrap(), None);
        assert_eq!(map["entries"], json!([]));
    }
}
