//! Pages of a list: what was asked for, what is shown, and the cursor that goes on.
//!
//! A cursor says where to go on and until when it holds, sealed with this machine's key for the principal that got it and the call that
//! it came from. Nothing of it is kept.

use audit::Ledger;
use contract::{Code, Digest, Fault, Principal, Truncated};
use jiff::Timestamp;
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

/// Most characters of one entry, so that a result with it is below the hard cap.
const MAX_ENTRY: u64 = crate::shape::chars(crate::shape::HARD_CAP) - 2_000;

/// What a cursor begins with.
const KIND: &str = "cursor_";

/// How long a cursor holds, in hours.
const LIFETIME: u64 = 24;

/// Hexadecimal digits of the offset, of the hour until which it holds, and of the seal.
const DIGITS: [usize; 3] = [8, 6, 18];

/// The call that a cursor belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'a> {
    pub(crate) tool: &'a str,
    /// The digest of its arguments.
    pub(crate) arguments: Digest,
    pub(crate) owner: &'a Principal,
}

/// Hours since 1970.
fn hour() -> u64 {
    u64::try_from(Timestamp::now().as_second() / 3_600).unwrap_or(0)
}

fn seal(ledger: &Ledger, head: &str, of: Of<'_>) -> String {
    let Of { tool, arguments, owner } = of;
    let text = [head.as_bytes(), owner.key().as_bytes(), arguments.as_bytes(), tool.as_bytes()].concat();
    ledger.keyed("cursor", &text).short(DIGITS[2])
}

/// The cursor from `offset` on.
pub(crate) fn keep(ledger: &Ledger, of: Of<'_>, offset: u64) -> Result<String, Fault> {
    if offset > u64::from(u32::MAX) {
        return Err(Fault::new(Code::TooLarge, format!("the list has more than {} entries", u32::MAX)));
    }
    Ok(made(ledger, of, offset, hour() + LIFETIME))
}

fn made(ledger: &Ledger, of: Of<'_>, offset: u64, until: u64) -> String {
    let head = format!("{offset:08x}{until:06x}");
    format!("{KIND}{head}{}", seal(ledger, &head, of))
}

/// The offset that `cursor` stands for, when it came from the same call of the same caller.
pub(crate) fn resume(ledger: &Ledger, cursor: &str, of: Of<'_>) -> Result<u64, Fault> {
    let again = format!("Call {} again without `cursor`.", of.tool);
    let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let whole = cursor.strip_prefix(KIND).filter(|whole| whole.len() == DIGITS.iter().sum::<usize>());
    let parts = whole.and_then(|whole| whole.split_at_checked(DIGITS[0] + DIGITS[1]));
    // What is sealed was written here: numbers, and nothing else that could be read as one.
    let head = parts.filter(|(head, sealed)| seal(ledger, head, of) == *sealed).map(|(head, _)| head);
    let told = head.and_then(|head| Some((number(&head[..DIGITS[0]])?, number(&head[DIGITS[0]..])?)));
    match told {
        Some((offset, until)) if hour() <= until => Ok(offset),
        Some(_) => Err(Fault::new(Code::NotFound, "the cursor has expired").suggest(again)),
        None => {
            let message = "there is no such cursor of this call: it came from another, or never was";
            Err(Fault::new(Code::NotFound, message)
                .suggest("Pass the same arguments as before, with `cursor`.")
                .suggest(again))
        }
    }
}

/// Cuts the list of `output` to `page` and to at most `most` characters, and says what was cut.
///
/// `go_on` gives the cursor that goes on. At least one entry is shown, so that going on ends.
pub(crate) fn cut(
    output: &mut Map<String, Value>,
    list: &List,
    page: Page,
    most: u64,
    go_on: impl FnOnce(u64) -> Result<String, Fault>,
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
    let cursor = go_on(end)?;
    if shown == 1 && used > MAX_ENTRY {
        let message = format!("the next entry alone has {used} characters, more than a result may have");
        return Err(Fault::new(Code::TooLarge, message)
            .suggest(format!("Go on behind it with \"cursor\": \"{cursor}\".")));
    }
    let truncated = Truncated { shown: shown as u64, total: list.total, next: cursor };
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(count: u64) -> (Map<String, Value>, List) {
        let entries: Vec<Value> = (0..count).map(|n| json!({ "n": n })).collect();
        let map = json!({ "entries": entries, "other": 1 }).as_object().unwrap().clone();
        (map, List { field: "entries".into(), total: count, offset: 0 })
    }

    fn handle(end: u64) -> Result<String, Fault> {
        let end = u32::try_from(end).map_err(|e| Fault::internal(e.to_string()))?;
        Ok(format!("cursor_{end}"))
    }

    #[test]
    fn a_cursor_holds_for_its_call_its_caller_and_its_machine() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (ledger, other) = (Ledger::open(one.path()).unwrap(), Ledger::open(two.path()).unwrap());
        let (me, you) = (Principal::Local { uid: 1 }, Principal::Local { uid: 2 });
        let of = Of { tool: "list", arguments: Digest::of(b"a"), owner: &me };
        for offset in [0, 7, u64::from(u32::MAX)] {
            let cursor = keep(&ledger, of, offset).unwrap();
            assert!(cursor.len() == 39 && resume(&ledger, &cursor, of) == Ok(offset), "{cursor}");
            for wrong in [
                Of { tool: "lists", ..of },
                Of { arguments: Digest::of(b"b"), ..of },
                Of { owner: &you, ..of },
            ] {
                assert_eq!(resume(&ledger, &cursor, wrong).unwrap_err().code, Code::NotFound);
            }
            assert!(resume(&other, &cursor, of).is_err());
            for at in 7..39 {
                let mut changed = cursor.clone().into_bytes();
                changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
                assert!(resume(&ledger, std::str::from_utf8(&changed).unwrap(), of).is_err(), "{at}");
            }
        }
        for none in
            ["", "cursor_", "cursor_0", "cursor_ü", "../../etc", &format!("cursor_{}", "0".repeat(32))]
        {
            assert!(resume(&ledger, none, of).is_err(), "{none}");
        }
        assert!(keep(&ledger, of, 1 << 33).is_err());
    }

    #[test]
    fn a_cursor_ends_after_a_day() {
        let scratch = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(scratch.path()).unwrap();
        let me = Principal::Local { uid: 1 };
        let of = Of { tool: "list", arguments: Digest::of(b"a"), owner: &me };
        let old = made(&ledger, of, 3, hour() - 1);
        let fault = resume(&ledger, &old, of).unwrap_err();
        assert!(fault.code == Code::NotFound && fault.message.contains("expired"), "{fault:?}");
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
