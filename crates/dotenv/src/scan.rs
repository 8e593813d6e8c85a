//! The reading itself: from one line's beginning to the next, every byte looked at a bounded number of times.

use std::collections::BTreeSet;

use crate::{File, Problem, Trouble, Variable};

/// Most names that a value is said to refer to.
const MAX_REFERENCES: usize = 100;

/// Reads a file. Any text is one: what assigns nothing is a problem, never an error.
#[must_use]
pub fn parse(text: &str) -> File {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut file, mut names) = (File::default(), BTreeSet::new());
    let (mut rest, mut line) = (text.as_str(), 1);
    while !rest.is_empty() {
        let before = file.variables.len();
        let taken = one(rest, line, &mut file);
        let (read, after) = rest.split_at(taken.max(1).min(rest.len()));
        line += read.matches('\n').count();
        rest = after;
        if let Some(new) = file.variables.get(before)
            && !names.insert(new.name.clone())
        {
            file.problems.push(Problem { line: new.line, what: Trouble::Twice });
        }
    }
    file
}

/// Blank as JavaScript has it: what Unicode calls white space, and the byte order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\u{85}' || c == '\u{feff}'
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The end of the line that `text` begins in, its `\n` not included.
fn line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Reads what begins at the start of a line, and says how many bytes that took.
fn one(text: &str, line: usize, file: &mut File) -> usize {
    let end = line_end(text);
    let whole = &text[..end];
    let said = whole.trim_start_matches(is_blank);
    let next = (end + 1).min(text.len());
    if said.is_empty() || said.starts_with('#') {
        return next;
    }
    let Some((name, after)) = assigned(said) else {
        file.problems.push(Problem { line, what: Trouble::NoAssignment });
        return next;
    };
    let begin = end - after.len();
    let (value, taken, trouble) = value(&text[begin..]);
    if let Some(what) = trouble {
        file.problems.push(Problem { line, what });
    }
    let references = if value.quote == Some('\'') { Vec::new() } else { references(&value.text) };
    file.variables.push(Variable { name: name.to_owned(), value: value.text, line, references });
    let read = begin + taken;
    (read + line_end(&text[read..]) + 1).min(text.len())
}

/// The name that a line assigns, and what comes after the sign.
fn assigned(said: &str) -> Option<(&str, &str)> {
    let exported = said.strip_prefix("export").filter(|rest| rest.starts_with(is_blank));
    let tries = [exported.map(|rest| rest.trim_start_matches(is_blank)), Some(said)];
    tries.into_iter().flatten().find_map(|said| {
        let end = said.find(|c| !is_name(c)).unwrap_or(said.len());
        let (name, rest) = said.split_at(end);
        let sign = rest.trim_start_matches(is_blank);
        let after = match sign.strip_prefix('=') {
            Some(after) => after,
            // A colon counts where a blank follows it.
            None => rest.strip_prefix(':').filter(|after| after.starts_with(is_blank))?,
        };
        (!name.is_empty()).then_some((name, after))
    })
}

struct Value {
    text: String,
    quote: Option<char>,
}

/// The value at the beginning of `text`, how many bytes it takes, and what is odd about it.
fn value(text: &str) -> (Value, usize, Option<Trouble>) {
    let end = line_end(text);
    let blank = end - text[..end].trim_start_matches(is_blank).len();
    let quote = text[blank..end].chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let mut trouble = None;
    if let Some(quote) = quote {
        match closed(&text[blank..], quote) {
            Ok(length) => {
                let inner = &text[blank + 1..blank + length - 1];
                return (Value { text: unescaped(inner, quote), quote: Some(quote) }, blank + length, None);
            }
            Err(why) => trouble = Some(why),
        }
    }
    let plain = &text[..end];
    let plain = plain.split('#').next().unwrap_or_default();
    let trimmed = plain.trim_matches(is_blank);
    // Quotes around it leave even where they do not belong together.
    let stripped = quote.and_then(|quote| trimmed.strip_prefix(quote)?.strip_suffix(quote));
    let kept = stripped.unwrap_or(trimmed);
    let text = match quote {
        Some(quote) => unescaped(kept, quote),
        None => kept.to_owned(),
    };
    (Value { text, quote: None }, plain.len(), trouble)
}

/// How long the quoted value is that `text` begins with, both quotes included.
///
/// A quote after a backslash does not close, unless no other does; what comes after the closing one is a comment or nothing.
fn closed(text: &str, quote: char) -> Result<usize, Trouble> {
    let mut escaped = Vec::new();
    let mut plain = None;
    for (at, _) in text.match_indices(quote).skip(1) {
        if text[..at].ends_with('\\') {
            escaped.push(at);
        } else {
            plain = Some(at);
            break;
        }
    }
    let tried = plain.into_iter().chain(escaped.into_iter().rev());
    let (mut trouble, first_line) = (Trouble::Unclosed, line_end(text));
    for at in tried {
        // No further than need be: a line may have any number of quotes.
        let rest = text[at + 1..].trim_start_matches(|c| is_blank(c) && c != '\n');
        if rest.is_empty() || rest.starts_with(['#', '\n']) {
            return Ok(at + 1);
        }
        if at < first_line {
            trouble = Trouble::AfterQuote;
        }
    }
    Err(trouble)
}

/// Within `"`, `\n` and `\r` are line ends; nothing else is escaped.
fn unescaped(text: &str, quote: char) -> String {
    if quote == '"' { text.replace("\\n", "\n").replace("\\r", "\r") } else { text.to_owned() }
}

/// The names that a value refers to, the first of them.
fn references(value: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in value.match_indices('$') {
        if found.len() == MAX_REFERENCES {
            break;
        }
        if value[..at].ends_with('\\') {
            continue;
        }
        let after = &value[at + 1..];
        let after = after.strip_prefix('{').unwrap_or(after);
        let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
        let name = &after[..end];
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_name && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}
