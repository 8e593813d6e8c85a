//! Examples are the project's own pages. A policy at their beginning also holds where they are opened as files.
//!
//! The place is found as an HTML parser reads the beginning of a document (HTML, "The initial insertion mode" to "before head"):
//! after the byte order mark, white space, comments, the document type, `<html>` and `<head>`. Whatever else comes first is what
//! the policy is put before: a parser that meets `<meta>` there opens the head itself.

use crate::policy;

/// How the document's bytes are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    /// UTF-8, or anything else that has ASCII at its places.
    Bytes,
    /// UTF-16, by its byte order mark.
    Little,
    /// The same, the other way round.
    Big,
}

/// Puts the policy of examples first into the head of an HTML document. A document that begins so already is given back as it is.
///
/// Not for XHTML: a `meta` element has no place before the root of a document of XML.
#[must_use]
pub fn guard_example(html: &[u8]) -> Vec<u8> {
    let (coding, mark) = match html {
        [0xEF, 0xBB, 0xBF, ..] => (Coding::Bytes, 3),
        [0xFF, 0xFE, ..] => (Coding::Little, 2),
        [0xFE, 0xFF, ..] => (Coding::Big, 2),
        _ => (Coding::Bytes, 0),
    };
    let text = html.get(mark..).unwrap_or_default();
    let meta = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", policy::of_examples());
    let (at, meta) = if coding == Coding::Bytes {
        (place(text), meta.into_bytes())
    } else {
        let pair = |p: &[u8; 2]| {
            if coding == Coding::Little { u16::from_le_bytes(*p) } else { u16::from_be_bytes(*p) }
        };
        // What is no ASCII ends a name and begins a text, whichever it is.
        let units: Vec<u8> = text
            .as_chunks::<2>()
            .0
            .iter()
            .map(|p| u8::try_from(pair(p)).ok().filter(u8::is_ascii).unwrap_or(0xFF))
            .collect();
        let written = meta
            .encode_utf16()
            .flat_map(|unit| if coding == Coding::Little { unit.to_le_bytes() } else { unit.to_be_bytes() });
        (place(&units) * 2, written.collect())
    };
    let (before, after) = html.split_at(mark + at);
    if after.starts_with(&meta) {
        return html.to_vec();
    }
    [before, &meta, after].concat()
}

/// Where `<meta>` becomes the first element of the head, at no cost to what follows.
fn place(text: &[u8]) -> usize {
    let mut prolog = Prolog { text, at: 0 };
    prolog.skip();
    if prolog.declares() {
        prolog.skip();
    }
    if prolog.opens(b"html") {
        prolog.skip();
    }
    prolog.opens(b"head");
    prolog.at
}

/// The beginning of a document, read as HTML's tokenizer does.
struct Prolog<'t> {
    text: &'t [u8],
    at: usize,
}

impl Prolog<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Goes past white space, comments, and what a parser takes for comments.
    fn skip(&mut self) {
        loop {
            let blank = self.rest().iter().take_while(|b| is_blank(**b)).count();
            self.at += blank;
            let length = comment(self.rest());
            if blank + length == 0 {
                return;
            }
            self.at += length;
        }
    }

    /// Goes past a document type: it ends at the first `>`, wherever that stands.
    fn declares(&mut self) -> bool {
        let is_one = self.rest().get(..9).is_some_and(|b| b.eq_ignore_ascii_case(b"<!doctype"));
        let length = if is_one { until(self.rest(), b">") } else { 0 };
        self.at += length;
        length > 0
    }

    /// Goes past the start tag of an element, if it is whole.
    fn opens(&mut self, name: &[u8]) -> bool {
        let rest = self.rest();
        let is_one = rest.first() == Some(&b'<')
            && rest.get(1..=name.len()).is_some_and(|b| b.eq_ignore_ascii_case(name))
            && rest.get(name.len() + 1).is_some_and(|b| is_blank(*b) || matches!(b, b'/' | b'>'));
        let length = if is_one { tag(rest, name.len() + 1) } else { 0 };
        self.at += length;
        length > 0
    }
}

/// HTML's white space. A tokenizer turns carriage returns into line feeds before it sees them.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C)
}

/// How many bytes there are until after `end`; 0 when it does not come.
fn until(text: &[u8], end: &[u8]) -> usize {
    text.windows(end.len()).position(|w| w == end).map_or(0, |at| at + end.len())
}

/// How long the comment at the beginning is; 0 where none begins or none ends.
fn comment(text: &[u8]) -> usize {
    match text {
        [b'<', b'!', b'-', b'-', b'>', ..] => 5,
        [b'<', b'!', b'-', b'-', b'-', b'>', ..] => 6,
        [b'<', b'!', b'-', b'-', rest @ ..] => {
            // `-->` or `--!>`, whichever comes first; its dashes may be among the first two after `<!--`, which are no dashes
            // of the opening.
            let mut at = 0;
            loop {
                let step = until(rest.get(at..).unwrap_or_default(), b"--");
                if step == 0 {
                    return 0;
                }
                at += step;
                match rest.get(at..).unwrap_or_default() {
                    [b'>', ..] => return at + 5,
                    [b'!', b'>', ..] => return at + 6,
                    // A third dash may begin the end.
                    [b'-', ..] => at -= 1,
                    _ => {}
                }
            }
        }
        // `<?…>`, `<!…>` and `</1>` are comments until the first `>`; a document type is none.
        [b'<', b'!', ..] if text.get(2..9).is_some_and(|b| b.eq_ignore_ascii_case(b"doctype")) => 0,
        [b'<', b'!' | b'?', ..] => until(text, b">"),
        [b'<', b'/', b'>', ..] => 3,
        [b'<', b'/', other, ..] if !other.is_ascii_alphabetic() => until(text, b">"),
        _ => 0,
    }
}

/// Where an attribute is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    /// Before a name.
    Before,
    /// In a name or after it.
    Name,
    /// After `=`.
    Equals,
    /// In a value without quotes.
    Bare,
    /// In a value with these quotes.
    Quoted(u8),
}

/// How long a start tag is, its attributes read from `from`; 0 where it does not end.
fn tag(text: &[u8], from: usize) -> usize {
    let mut spot = Spot::Before;
    for (at, &byte) in text.iter().enumerate().skip(from) {
        spot = match (spot, byte) {
            (Spot::Quoted(quote), b) if b == quote => Spot::Before,
            (Spot::Quoted(_), _) => spot,
            (_, b'>') => return at + 1,
            (Spot::Equals, b'"' | b'\'') => Spot::Quoted(byte),
            (Spot::Equals, b) if is_blank(b) => Spot::Equals,
            (Spot::Equals, _) => Spot::Bare,
            (Spot::Bare, b) if is_blank(b) => Spot::Before,
            (Spot::Bare, _) => Spot::Bare,
            (Spot::Before | Spot::Name, b'/') => Spot::Before,
            // A name may begin with `=`.
            (Spot::Before, b'=') => Spot::Name,
            (Spot::Name, b'=') => Spot::Equals,
            // White space after a name: `=` may still come.
            (Spot::Before | Spot::Name, b) if is_blank(b) => spot,
            (Spot::Before | Spot::Name, _) => Spot::Name,
        };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(html: &str) -> String {
        String::from_utf8(guard_example(html.as_bytes())).unwrap().replace(policy::of_examples(), "P")
    }

    #[test]
    fn the_policy_is_first_in_the_head() {
        const M: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"P\">";
        for (before, after) in [
            ("", ""),
            ("", "<p>x"),
            ("", "text"),
            ("\u{feff}", "text"),
            ("<!doctype html>", "<title>x</title>"),
            ("\u{feff}<!DOCTYPE html PUBLIC \"a>", "b\"><html><head>"),
            (
                "<!-- a --><!doctype html>\n<!-- <head> --><html lang='>'>\n<HEAD data-x=a/b>",
                "<script>1</script>",
            ),
            ("<html><head/>", "<title>"),
            ("<html a = \"<head>\" b=c'>\n", "<header>"),
            ("<!--><html =\"><head>", "x"),
            ("<!---><!--a--!><!----><?xml version='1.0'?><!x></ ><html>", "</p><head>"),
            ("<html>", "<body><head>"),
            ("", "<htmlx><head>"),
            ("", "<html lang='never closed><head>"),
            ("", "<!-- never closed <html>"),
            ("", "<!doctype never closed"),
        ] {
            assert_eq!(
                guarded(&format!("{before}{after}")),
                format!("{before}{M}{after}"),
                "{before:?} {after:?}"
            );
        }
        // A comment ends at the last of its dashes.
        assert_eq!(guarded("<!-- a---><p>"), format!("<!-- a--->{M}<p>"));
    }

    #[test]
    fn a_page_is_guarded_once() {
        for html in ["<!doctype html><html><head><p>", "", "\u{feff}x"] {
            let once = guard_example(html.as_bytes());
            assert_eq!(guard_example(&once), once);
        }
    }

    #[test]
    fn two_bytes_a_character_are_guarded_in_two_bytes_a_character() {
        let text = "<!doctype html><html><head><title>ü</title>";
        for (mark, coding) in [([0xFF, 0xFE], true), ([0xFE, 0xFF], false)] {
            let write = |text: &str| -> Vec<u8> {
                let unit = |u: u16| if coding { u.to_le_bytes() } else { u.to_be_bytes() };
                mark.into_iter().chain(text.encode_utf16().flat_map(unit)).collect()
            };
            let meta = format!(
                "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">",
                policy::of_examples()
            );
            let wanted = write(&text.replace("<title>", &format!("{meta}<title>")));
            assert_eq!(guard_example(&write(text)), wanted);
            assert_eq!(guard_example(&wanted), wanted);
        }
    }

    #[test]
    fn long_beginnings_take_time_in_proportion() {
        for unit in ["<!--", "<!-- --", "-", "<!-->", "<?", "<html a='", " "] {
            let text = unit.repeat(1_000_000 / unit.len());
            assert!(guard_example(text.as_bytes()).len() > text.len());
        }
    }
}
