//! Our entry in a client's file. The file's own bytes all stay: what is added is inserted between them.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::clients::{Client, Form, NAME, Start};

/// Most bytes of a file that is edited.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// How deep a file may nest.
const MAX_DEPTH: usize = 100;

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edited {
    /// It holds our entry as it is to be.
    Same,
    /// It becomes this.
    Made(Vec<u8>),
}

/// Why a file is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is larger than any client's file.
    #[error("it is larger than {} MiB", MAX_BYTES >> 20)]
    Large,
    /// It is no text.
    #[error("it is not UTF-8 text (byte {0})")]
    NotText(usize),
    /// It cannot be read as what it should be.
    #[error("it cannot be read: {0}")]
    Broken(String),
    /// It nests deeper than any client's file.
    #[error("it nests deeper than {MAX_DEPTH}")]
    Deep,
    /// Something is there in whose place servers should be.
    #[error("`{0}` in it is something else than a table of servers")]
    NoTable(String),
    /// A name is there twice.
    #[error("`{0}` is in it twice: take one of them out")]
    Twice(String),
    /// Our name is taken by another command.
    #[error("it has another `{NAME}` already, which starts `{0}`")]
    Other(String),
}

/// The file of `client` with our entry; `bytes` is the file as it is, where there is one.
pub fn with_entry(client: Client, bytes: Option<&[u8]>, start: &Start) -> Result<Edited, Unfit> {
    let bytes = bytes.unwrap_or_default();
    if bytes.len() > MAX_BYTES {
        return Err(Unfit::Large);
    }
    let text = std::str::from_utf8(bytes).map_err(|e| Unfit::NotText(e.valid_up_to()))?;
    let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    let made = match client.form() {
        Form::Json { servers, is_typed } => in_json(text, servers, is_typed, start)?,
        Form::Toml { servers } => in_toml(text, servers, start)?,
    };
    Ok(made.map_or(Edited::Same, |made| Edited::Made(format!("{mark}{made}").into_bytes())))
}

/// The end of lines that a text has: what its first line ends with.
fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn in_json(text: &str, servers: &str, is_typed: bool, start: &Start) -> Result<Option<String>, Unfit> {
    let end = line_end(text);
    if text.trim().is_empty() {
        let entry = entry(is_typed, start).written(end, "  ", 2);
        let whole = format!(
            "{{{end}  {}: {{{end}    {}: {entry}{end}  }}{end}}}{end}",
            quoted(servers),
            quoted(NAME)
        );
        return Ok(Some(format!("{text}{whole}")));
    }
    if nesting(text) > MAX_DEPTH {
        return Err(Unfit::Deep);
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        ..ParseOptions::default()
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| Unfit::Broken(error.to_string()))?;
    let Some(Value::Object(whole)) = &parsed.value else {
        return Err(Unfit::NoTable("the whole".to_owned()));
    };
    once(whole, servers)?;
    let unit = unit(text, whole);
    let Some(table) = whole.get(servers) else {
        let level = level_of(text, whole, &unit);
        let entry = entry(is_typed, start).written(end, &unit, level + 2);
        let inner = format!(
            "{{{end}{}{}: {entry}{end}{}}}",
            unit.repeat(level + 2),
            quoted(NAME),
            unit.repeat(level + 1)
        );
        return Ok(Some(inserted(text, whole, servers, &inner, &unit, end)));
    };
    let Value::Object(table) = &table.value else { return Err(Unfit::NoTable(servers.to_owned())) };
    once(table, NAME)?;
    if let Some(there) = table.get(NAME) {
        return match &there.value {
            Value::Object(there) => same(there, start).map(|()| None),
            _ => Err(Unfit::Other("nothing".to_owned())),
        };
    }
    let level = level_of(text, table, &unit);
    let entry = entry(is_typed, start).written(end, &unit, level + 1);
    Ok(Some(inserted(text, table, NAME, &entry, &unit, end)))
}

/// Whether a command is what would be started: the same, or this program wherever else it is installed. What a person wrote by hand or
/// a client's own command added stays.
fn is_program(command: &str, start: &Start) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    command == start.command || name.strip_suffix(".exe").unwrap_or(name) == NAME
}

/// Fails where a name is there twice: which of them counts is the reader's own affair.
fn once(object: &Object<'_>, name: &str) -> Result<(), Unfit> {
    let is_it = |property: &&jsonc_parser::ast::ObjectProp<'_>| property.name.as_str() == name;
    if object.properties.iter().filter(is_it).count() > 1 {
        Err(Unfit::Twice(name.to_owned()))
    } else {
        Ok(())
    }
}

/// Fails where an entry starts something else.
fn same(there: &Object<'_>, start: &Start) -> Result<(), Unfit> {
    let command = match there.get("command").map(|property| &property.value) {
        Some(Value::StringLit(command)) => command.value.to_string(),
        _ => String::new(),
    };
    let args: Vec<String> = match there.get("args").map(|property| &property.value) {
        Some(Value::Array(args)) => args
            .elements
            .iter()
            .filter_map(|arg| arg.as_string_lit())
            .map(|arg| arg.value.to_string())
            .collect(),
        _ => Vec::new(),
    };
    if is_program(&command, start) && args == start.args {
        return Ok(());
    }
    Err(Unfit::Other(std::iter::once(command).chain(args).collect::<Vec<_>>().join(" ")))
}

/// The text with a property more at the end of `object`.
fn inserted(text: &str, object: &Object<'_>, name: &str, value: &str, unit: &str, end: &str) -> String {
    let range = object.range();
    let level = level_of(text, object, unit);
    let property = format!("{}: {value}", quoted(name));
    let (at_line, close) = (unit.repeat(level + 1), unit.repeat(level));
    let Some(last) = object.properties.last() else {
        // Whatever stands between the braces, a comment say, comes after it.
        let (before, after) = text.split_at(range.start + 1);
        let rest = after.strip_prefix('}').map_or_else(String::new, |_| format!("{end}{close}"));
        return format!("{before}{end}{at_line}{property}{rest}{after}");
    };
    let last = last.range().end;
    let inside = &text[last..range.end - 1];
    let comma = comma(inside).map(|at| last + at);
    let is_one_line = !text[range.start..range.end].contains('\n');
    if is_one_line {
        let value = one_line(&property, end, unit);
        return match comma {
            None => format!("{}, {value}{}", &text[..last], &text[last..]),
            Some(comma) => format!("{} {value},{}", &text[..=comma], &text[comma + 1..]),
        };
    }
    // After the line that the last property ends on, with the comment that belongs to it.
    let from = comma.map_or(last, |comma| comma + 1);
    let line = from + text[from..range.end - 1].find('\n').unwrap_or(0);
    let has_line = text[from..range.end - 1].contains('\n');
    let line = if has_line { line } else { from };
    let line = if text[..line].ends_with('\r') { line - 1 } else { line };
    let open = if is_within_comment(&text[from..line]) { from } else { line };
    let (first, trailing) = if comma.is_some() { ("", ",") } else { (",", "") };
    format!(
        "{}{first}{}{end}{at_line}{property}{trailing}{}",
        &text[..from],
        &text[from..open],
        &text[open..]
    )
}

/// Whether a comment goes on beyond the line.
fn is_within_comment(line: &str) -> bool {
    line.rfind("/*").is_some_and(|open| !line[open..].contains("*/"))
}

/// Where a comma is between the last property and the end of its object; comments are skipped.
fn comma(inside: &str) -> Option<usize> {
    let mut rest = 0;
    while let Some(here) = inside.get(rest..).filter(|here| !here.is_empty()) {
        if here.starts_with(',') {
            return Some(rest);
        }
        rest += if here.starts_with("//") {
            here.find('\n').unwrap_or(here.len())
        } else if here.starts_with("/*") {
            here.find("*/").map_or(here.len(), |close| close + 2)
        } else {
            here.chars().next().map_or(1, char::len_utf8)
        };
    }
    None
}

/// What a level is indented by: the front of the first property's line, else two blanks.
fn unit(text: &str, whole: &Object<'_>) -> String {
    let first = whole.properties.first().map(|property| front(text, property.range().start));
    first.filter(|front| !front.is_empty()).unwrap_or("  ").to_owned()
}

/// How many levels in the line is that an object begins on.
fn level_of(text: &str, object: &Object<'_>, unit: &str) -> usize {
    front(text, object.range().start).len() / unit.len().max(1)
}

/// The blanks that the line of `at` begins with.
fn front(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let blank = text[line..].len() - text[line..].trim_start_matches([' ', '\t']).len();
    &text[line..line + blank]
}

/// How deep a JSON text nests, without parsing it; what is in comments counts too.
fn nesting(text: &str) -> usize {
    let (mut depth, mut most, mut is_quoted, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'\n' => is_quoted = false,
            _ if is_quoted => {}
            b'{' | b'[' => {
                depth += 1;
                most = most.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// An entry, to be written at whatever level.
struct Entry(Vec<(&'static str, String)>);

fn entry(is_typed: bool, start: &Start) -> Entry {
    let args: Vec<String> = start.args.iter().map(|arg| quoted(arg)).collect();
    let mut fields = Vec::new();
    if is_typed {
        fields.push(("type", quoted("stdio")));
    }
    fields.push(("command", quoted(&start.command)));
    fields.push(("args", format!("[{}]", args.join(", "))));
    Entry(fields)
}

impl Entry {
    fn written(&self, end: &str, unit: &str, level: usize) -> String {
        let fields: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| format!("{end}{}{}: {value}", unit.repeat(level + 1), quoted(name)))
            .collect();
        format!("{{{}{end}{}}}", fields.join(","), unit.repeat(level))
    }
}

/// A property of several lines on one.
fn one_line(property: &str, end: &str, unit: &str) -> String {
    property.split(end).map(|line| line.trim_start_matches(unit).trim_start()).collect::<Vec<_>>().join(" ")
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn in_toml(text: &str, servers: &str, start: &Start) -> Result<Option<String>, Unfit> {
    let broken = |error: toml::de::Error| Unfit::Broken(error.message().to_owned());
    let before: toml::Table = text.parse().map_err(broken)?;
    match before.get(servers) {
        None => {}
        Some(toml::Value::Table(table)) => match table.get(NAME) {
            None => {}
            Some(there) => {
                let command = there.get("command").and_then(toml::Value::as_str).unwrap_or_default();
                let args: Vec<&str> = there
                    .get("args")
                    .and_then(toml::Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(toml::Value::as_str)
                    .collect();
                if is_program(command, start) && args == start.args {
                    return Ok(None);
                }
                let said: Vec<&str> = std::iter::once(command).chain(args).collect();
                return Err(Unfit::Other(said.join(" ")));
            }
        },
        Some(_) => return Err(Unfit::NoTable(servers.to_owned())),
    }
    let end = line_end(text);
    let string = |text: &str| toml::Value::from(text).to_string();
    let args: Vec<String> = start.args.iter().map(|arg| string(arg)).collect();
    let gap = match text {
        "" => String::new(),
        text if text.ends_with('\n') => end.to_owned(),
        _ => format!("{end}{end}"),
    };
    let made = format!(
        "{text}{gap}[{servers}.{NAME}]{end}command = {}{end}args = [{}]{end}",
        string(&start.command),
        args.join(", ")
    );
    // A table that was written in one piece takes nothing more.
    let after: toml::Table = made.parse().map_err(|_| Unfit::NoTable(servers.to_owned()))?;
    let is_same = after.iter().all(|(key, value)| key == servers || before.get(key) == Some(value));
    if is_same { Ok(Some(made)) } else { Err(Unfit::NoTable(servers.to_owned())) }
}
