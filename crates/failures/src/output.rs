//! What a run said, as numbered lines without colours; of a very long output its beginning and its end.

use std::{borrow::Cow, ops::Range};

/// How much of each stream is looked at, in bytes: half of it from the beginning, half from the end.
pub const ANALYSED_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, Copy)]
struct Span {
    number: usize,
    start: usize,
    end: usize,
}

/// A stream's lines.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    pub(crate) text: Cow<'a, str>,
    spans: Vec<Span>,
    /// How many bytes were looked at, before colours were taken away.
    pub(crate) analysed: usize,
}

impl<'a> Output<'a> {
    pub(crate) fn new(said: &'a str) -> Self {
        if said.len() <= ANALYSED_BYTES {
            let text = plain(said);
            let mut spans = Vec::new();
            number(&text, 0..text.len(), 1, &mut spans);
            return Self { text, spans, analysed: said.len() };
        }
        let half = ANALYSED_BYTES / 2;
        let head = said.floor_char_boundary(half);
        let head = said.get(..head).map_or(0, |front| front.rfind('\n').map_or(head, |at| at + 1));
        let tail = said.ceil_char_boundary(said.len() - half);
        let tail = said.get(tail..).and_then(|back| back.find('\n')).map_or(tail, |at| tail + at + 1);
        let (front, back) = (said.get(..head).unwrap_or_default(), said.get(tail..).unwrap_or_default());
        let before = said.get(..tail).unwrap_or_default().bytes().filter(|&b| b == b'\n').count();
        let mut text = plain(front).into_owned();
        let front_end = text.len();
        // What is left out is a line of its own, so that nothing matches across the cut.
        text.push('\n');
        let back_start = text.len();
        text.push_str(&plain(back));
        let mut spans = Vec::new();
        number(&text, 0..front_end, 1, &mut spans);
        number(&text, back_start..text.len(), before + 1, &mut spans);
        Self { text: Cow::Owned(text), spans, analysed: front.len() + back.len() }
    }

    pub(crate) const fn len(&self) -> usize {
        self.spans.len()
    }

    /// The text of a line by its index.
    pub(crate) fn line(&self, index: usize) -> &str {
        self.spans.get(index).and_then(|span| self.text.get(span.start..span.end)).unwrap_or_default()
    }

    /// The line's number in the whole output, from 1.
    pub(crate) fn number(&self, index: usize) -> usize {
        self.spans.get(index).map_or(0, |span| span.number)
    }

    /// The index of the line that a byte of the text is in, looking from `from` on.
    pub(crate) fn index_of(&self, byte: usize, from: usize) -> usize {
        let mut index = from;
        while self.spans.get(index).is_some_and(|span| span.end <= byte) {
            index += 1;
        }
        index
    }
}

fn number(text: &str, range: Range<usize>, first: usize, spans: &mut Vec<Span>) {
    let mut start = range.start;
    for (offset, line) in text.get(range).unwrap_or_default().split_inclusive('\n').enumerate() {
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        spans.push(Span { number: first + offset, start, end });
        start += line.len();
    }
}

/// Without colours and other terminal control.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.as_bytes().contains(&0x1b) {
        return Cow::Borrowed(text);
    }
    // The strict reader takes a whole line for a sequence that is never closed; nothing but control is lost.
    Cow::Owned(anstream::adapter::strip_str(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_from_one_and_have_no_line_ends() {
        let output = Output::new("a\r\n\nb");
        assert_eq!([output.line(0), output.line(1), output.line(2)], ["a", "", "b"]);
        assert_eq!(output.number(2), 3);
        assert_eq!(output.len(), 3);
    }

    #[test]
    fn a_long_output_keeps_its_ends_and_its_numbers() {
        let said = (1..=400_000).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let output = Output::new(&said);
        assert!(output.analysed <= ANALYSED_BYTES && output.analysed > ANALYSED_BYTES - 64);
        let last = output.len() - 1;
        assert_eq!(output.line(0), "line 1");
        assert_eq!(output.line(last), format!("line {}", output.number(last)));
        assert_eq!(output.number(last), 400_000);
    }

    #[test]
    fn one_endless_line_is_cut_at_characters() {
        let said = "é".repeat(ANALYSED_BYTES);
        let output = Output::new(&said);
        assert!(output.analysed <= ANALYSED_BYTES);
        assert_eq!(output.len(), 2);
    }

    #[test]
    fn colours_go_and_line_numbers_stay() {
        let output = Output::new("\u{1b}[31mred\u{1b}[0m\nplain");
        assert_eq!([output.line(0), output.line(1)], ["red", "plain"]);
    }
}
