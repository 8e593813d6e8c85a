//! Output as text: its lines without escapes, and pieces of it cut to a size.

use std::borrow::Cow;

/// A line of a text format is read up to here, in bytes; what follows is passed over. It bounds the work of every
/// pattern.
pub(crate) const MAX_LINE: usize = 8 * 1024;

/// The lines of an output in order. A carriage return alone ends a line too: programs that show progress use it so.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    limit: usize,
    /// Whether the last line that was given ended where lines end, and not where the output does.
    pub(crate) ended: bool,
}

/// Lines for patterns: each is cut at [`MAX_LINE`]. A last one that has no end is left out: half a name would be told
/// as a whole one.
pub(crate) fn lines(bytes: &[u8]) -> Lines<'_> {
    let end = memchr::memrchr2(b'\n', b'\r', bytes).map_or(0, |at| at + 1);
    Lines { rest: bytes.get(..end).unwrap_or_default(), limit: MAX_LINE, ended: true }
}

/// Whether the last line has no end. Every program ends its lines, so it was cut off.
pub(crate) fn torn(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r")
}

/// Lines at their whole length, for formats with one document on each.
pub(crate) fn documents(bytes: &[u8]) -> Lines<'_> {
    Lines { rest: bytes, limit: usize::MAX, ended: true }
}

/// Work that was done, in bytes that were looked at: what the tests of linearity count.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local!(static BYTES: Cell<usize> = const { Cell::new(0) });

    pub(crate) fn add(bytes: usize) {
        BYTES.set(BYTES.get() + bytes);
    }

    pub(crate) fn take() -> usize {
        BYTES.take()
    }
}

/// Counts bytes that are looked at, in tests alone.
pub(crate) fn looked_at(bytes: usize) {
    #[cfg(test)]
    work::add(bytes);
    let _ = bytes;
}

impl<'a> Iterator for Lines<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr::memchr2(b'\n', b'\r', self.rest) {
            Some(at) => {
                let (line, tail) = self.rest.split_at(at);
                self.ended = true;
                let tail = tail.strip_prefix(b"\r\n").or_else(|| tail.get(1..)).unwrap_or_default();
                (line, tail)
            }
            None => {
                self.ended = false;
                (self.rest, &[][..])
            }
        };
        self.rest = rest;
        looked_at(line.len() + 1);
        let text = String::from_utf8_lossy(line.get(..self.limit).unwrap_or(line));
        Some(match plain(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(stripped) => Cow::Owned(stripped),
        })
    }
}

/// `text` without terminal escapes.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_some() {
        Cow::Owned(anstream::adapter::strip_str(text).to_string())
    } else {
        Cow::Borrowed(text)
    }
}

/// At most `max` bytes of `text`, cut between characters; a cut shows as `…`.
pub(crate) fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    format!("{}…", head(text, max))
}

/// At most some `max` bytes of `text`: two thirds from its beginning, one third from its end, and between them how
/// much is missing.
pub(crate) fn clip_middle(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let first = head(text, max / 3 * 2);
    let last = tail(text, max / 3);
    let missing = text.len() - first.len() - last.len();
    format!("{first}\n… {missing} bytes left out …\n{last}")
}

/// The longest beginning of at most `max` bytes.
pub(crate) fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

fn tail(text: &str, max: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(max))..).unwrap_or(text)
}

/// The first `count` lines that hold more than space, without the space around them. They end where a stack trace
/// begins.
pub(crate) fn first_lines(text: &str, count: usize) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate();
    let said =
        lines.take_while(|(nth, line)| *nth == 0 || !(line.starts_with("at ") || line.starts_with("❯ ")));
    said.take(count).map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// A text that grows up to a bound: what comes first is kept, and of the rest what came last.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    first: String,
    last: String,
    missing: usize,
}

/// Bytes that [`Kept`] holds of each end.
pub(crate) const KEPT_END: usize = 8 * 1024;

impl Kept {
    /// Appends a piece.
    pub(crate) fn push(&mut self, piece: &str) {
        looked_at(piece.len());
        let piece = if self.last.is_empty() && self.missing == 0 {
            let taken = head(piece, KEPT_END.saturating_sub(self.first.len()));
            self.first.push_str(taken);
            piece.get(taken.len()..).unwrap_or_default()
        } else {
            piece
        };
        let taken = tail(piece, KEPT_END);
        self.missing += piece.len() - taken.len();
        self.last.push_str(taken);
        // Cut only when twice full, so that each byte moves a bounded number of times.
        if self.last.len() > 2 * KEPT_END {
            looked_at(self.last.len());
            let rest = tail(&self.last, KEPT_END).to_owned();
            self.missing += self.last.len() - rest.len();
            self.last = rest;
        }
    }

    /// Appends a line and its end.
    pub(crate) fn line(&mut self, line: &str) {
        self.push(line);
        self.push("\n");
    }

    /// All that was kept.
    pub(crate) fn text(&self) -> String {
        looked_at(self.first.len() + self.last.len());
        if self.missing == 0 {
            return format!("{}{}", self.first, self.last);
        }
        format!("{}\n… {} bytes left out …\n{}", self.first, self.missing, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_newlines_and_at_returns() {
        let got: Vec<_> = lines(b"a\r\nb\rc\n\nhalf").map(Cow::into_owned).collect();
        assert_eq!(got, ["a", "b", "c", ""]);
        let mut whole = documents(b"a\nhalf");
        assert_eq!(whole.by_ref().map(Cow::into_owned).collect::<Vec<_>>(), ["a", "half"]);
        assert!(!whole.ended);
    }

    #[test]
    fn escapes_are_taken_out_and_bad_bytes_are_replaced() {
        let got: Vec<_> = lines(b"\x1b[31mred\x1b[m\xff\n").map(Cow::into_owned).collect();
        assert_eq!(got, ["red\u{fffd}"]);
    }

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!(clip("äöü", 3), "ä…");
        assert_eq!(clip_middle("äöü", 5), "ä\n… 4 bytes left out …\n");
    }

    #[test]
    fn kept_text_is_bounded_and_says_what_is_missing() {
        let mut kept = Kept::default();
        for _ in 0..100_000 {
            kept.push("0123456789");
        }
        let text = kept.text();
        assert!(text.len() < 4 * KEPT_END, "{}", text.len());
        let ends = text.split('\n').map(str::len).sum::<usize>();
        assert!(text.contains("bytes left out") && ends < 1_000_000);
        let mut small = Kept::default();
        small.line("all of it");
        assert_eq!(small.text(), "all of it\n");
    }
}
