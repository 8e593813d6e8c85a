//! Where a page ended, in one word: a version, what the list is ordered by, and which list it was.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::Digest;
use store_api::Cursor;

/// It is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is none of this list: leave it out to begin anew")]
pub struct BadCursor;

/// Hexadecimal digits of the list's digest.
const OF_LIST: usize = 12;

/// A cursor of the list that `question` names.
#[must_use]
pub fn written(cursor: Cursor, question: &str) -> String {
    let list = Digest::of(question.as_bytes()).short(OF_LIST);
    URL_SAFE_NO_PAD.encode(format!("1.{}.{}.{list}", cursor.rank, cursor.number))
}

fn parts(text: &str) -> Option<(Cursor, String)> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let mut parts = text.split('.');
    if parts.next() != Some("1") {
        return None;
    }
    let cursor = Cursor { rank: parts.next()?.parse().ok()?, number: parts.next()?.parse().ok()? };
    let list = parts.next()?.to_owned();
    parts.next().is_none().then_some((cursor, list))
}

/// Reads a cursor, of whatever list.
pub fn read(text: &str) -> Result<Cursor, BadCursor> {
    parts(text).map(|(cursor, _)| cursor).ok_or(BadCursor)
}

/// Reads a cursor of the list that `question` names, and of no other.
pub fn read_of(text: &str, question: &str) -> Result<Cursor, BadCursor> {
    let (cursor, list) = parts(text).ok_or(BadCursor)?;
    if list == Digest::of(question.as_bytes()).short(OF_LIST) { Ok(cursor) } else { Err(BadCursor) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_on_with_its_own_list_only() {
        let cursor = Cursor { rank: -3, number: i64::MAX };
        let text = written(cursor, "notes of acme");
        assert_eq!(read_of(&text, "notes of acme"), Ok(cursor));
        assert_eq!(read(&text), Ok(cursor));
        assert_eq!(read_of(&text, "notes of others"), Err(BadCursor));
        for bad in
            ["", "!", &text[1..], &URL_SAFE_NO_PAD.encode("2.1.1.x"), &URL_SAFE_NO_PAD.encode("1.1.1.x.y")]
        {
            assert_eq!(read(bad), Err(BadCursor), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_sent_is_a_cursor_or_none(text in ".{0,80}") {
            let _ = read(&text);
        }
    }
}
