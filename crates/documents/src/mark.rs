//! The line that says a document was generated, and how it is known whether it still is what was generated.
//!
//! `<!-- gatewright:generated NAME 1 sources=PATH:DIGEST,… body=SHA-256 -->` is the first line; the body is everything behind it.
//! A body with another digest was edited by somebody, and belongs to them from then on.

use sha2::Digest as _;

/// The version of the line that is written here. Another one is another program's business.
const VERSION: &str = "1";

const BEGIN: &str = "<!-- gatewright:generated ";
const END: &str = " -->";

/// How many sources are named one by one.
pub(crate) const MAX_NAMED: usize = 24;

/// Under which name the rest of many sources stands.
pub(crate) const REST: &str = "*";

/// How many hexadecimal digits of a source's SHA-256 are kept: they tell changes apart, they prove nothing.
const SHORT: usize = 16;

/// A file that a document was made from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Its path in the repository; `*` for all that are not named.
    pub path: String,
    /// The first 16 hexadecimal digits of its SHA-256.
    pub digest: String,
}

impl Source {
    /// A source with these bytes.
    pub fn new(path: &str, bytes: &[u8]) -> Self {
        Self { path: path.to_owned(), digest: sha256(bytes).chars().take(SHORT).collect() }
    }
}

/// What the first line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The requirement that it was generated for.
    pub name: String,
    /// What it was made from, sorted by path.
    pub sources: Vec<Source>,
}

/// Whose a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It has no mark, or one that cannot be read: somebody wrote it.
    Written,
    /// It was generated and then edited.
    Edited(Mark),
    /// It is as it was generated.
    Generated(Mark),
}

/// Reads a document's first line and compares the body with it. Line ends and a byte order mark make no difference: editors and
/// git change them by themselves.
pub fn read(text: &str) -> Origin {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (line, body) = text.split_once('\n').unwrap_or((text, ""));
    let Some((mark, digest)) = parse(line.trim_end()) else { return Origin::Written };
    if digest == sha256(unified(body).as_bytes()) { Origin::Generated(mark) } else { Origin::Edited(mark) }
}

/// A document with its mark.
#[must_use]
pub fn write(name: &str, sources: &[Source], body: &str) -> String {
    let mut named: Vec<String> =
        sources.iter().take(MAX_NAMED).map(|s| format!("{}:{}", escaped(&s.path), s.digest)).collect();
    if let Some(rest) = sources.get(MAX_NAMED..).filter(|rest| !rest.is_empty()) {
        let all = rest.iter().map(|s| format!("{}:{}\n", s.path, s.digest)).collect::<Vec<_>>().concat();
        named.push(format!("{REST}:{}", Source::new(REST, all.as_bytes()).digest));
    }
    let body = unified(body);
    let digest = sha256(body.as_bytes());
    format!("{BEGIN}{} {VERSION} sources={} body={digest}{END}\n{body}", escaped(name), named.join(","))
}

fn parse(line: &str) -> Option<(Mark, String)> {
    let inside = line.strip_prefix(BEGIN)?.strip_suffix(END)?;
    let mut words = inside.split(' ');
    let (name, version) = (words.next()?, words.next()?);
    let sources = words.next()?.strip_prefix("sources=")?;
    let body = words.next()?.strip_prefix("body=")?;
    if words.next().is_some() || version != VERSION || name.is_empty() || !is_hex(body, 64) {
        return None;
    }
    let mut found = Vec::new();
    for source in sources.split(',').filter(|s| !s.is_empty()) {
        let (path, digest) = source.rsplit_once(':')?;
        if !is_hex(digest, SHORT) || found.len() > MAX_NAMED {
            return None;
        }
        found.push(Source { path: unescaped(path)?, digest: digest.to_owned() });
    }
    Some((Mark { name: unescaped(name)?, sources: found }, body.to_owned()))
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Everything that would end the mark, or a part of it, as `%XX`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'*') || byte == b'-' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    // Two hyphens end a comment for some.
    out.replace("--", "-%2D")
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit =
            |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16)).and_then(|d| u8::try_from(d).ok());
        bytes.push(digit(rest.next())? * 16 + digit(rest.next())?);
    }
    String::from_utf8(bytes).ok()
}

fn unified(body: &str) -> String {
    body.replace("\r\n", "\n")
}

/// SHA-256 in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    sha2::Sha256::digest(bytes).iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(count: usize) -> Vec<Source> {
        (0..count).map(|n| Source::new(&format!("db/{n:03}, a--b é:c.sql"), b"x")).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let text = write("api", &sources(2), "# API\n\nwords\n");
        assert!(text.starts_with("<!-- gatewright:generated api 1 sources="), "{text}");
        let first = text.lines().next().unwrap();
        assert!(!first.trim_start_matches("<!--").trim_end_matches("-->").contains("--"), "{first}");
        assert_eq!(read(&text), Origin::Generated(Mark { name: "api".to_owned(), sources: sources(2) }));
        assert!(matches!(read(&text.replace('\n', "\r\n")), Origin::Generated(_)));
        assert!(matches!(read(&format!("\u{feff}{text}")), Origin::Generated(_)));
        assert_eq!(write("api", &[], "x"), write("api", &[], "x"));
    }

    #[test]
    fn many_sources_are_one_line() {
        let Origin::Generated(mark) = read(&write("schema", &sources(100), "body")) else { panic!() };
        assert_eq!(mark.sources.len(), MAX_NAMED + 1);
        assert_eq!(mark.sources.last().map(|s| s.path.as_str()), Some(REST));
    }

    #[test]
    fn what_was_edited_belongs_to_who_edited_it() {
        let text = write("api", &[], "# API\n");
        assert!(matches!(read(&format!("{text}more\n")), Origin::Edited(_)));
        assert!(matches!(read(text.trim_end()), Origin::Edited(_)));
        for written in [
            "# API\n".to_owned(),
            String::new(),
            format!("\n{text}"),
            text.replace(" 1 ", " 2 "),
            text.replace("body=", "body=0"),
            text.replace(" -->", " more -->"),
            "<!-- gatewright:generated x 1 sources=a body= -->\n".to_owned(),
        ] {
            assert_eq!(read(&written), Origin::Written, "{written}");
        }
    }
}
