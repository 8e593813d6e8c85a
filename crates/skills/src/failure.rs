//! What went wrong in a skill, told so that its author finds the place: bounded, and in the skill's own files alone.

use std::collections::BTreeMap;

use rquickjs::{CaughtError, Coerced, Ctx, Object, Value};

use crate::engine::Clock;
use crate::limits;
use crate::strip::Refusal;
use crate::talk::{Failure, Frame, Kind};

/// A file that is not run.
pub(crate) fn refused(file: &str, refusal: &Refusal) -> Failure {
    let mut failure = Failure::new(Kind::Source, "SyntaxError", &refusal.message);
    let (line, column) = (refusal.line, refusal.column);
    failure.frames.push(Frame { function: String::new(), file: file.to_owned(), line, column });
    failure
}

/// What happens before anything of the skill runs: its syntax is wrong where the parser does not look.
pub(crate) fn of_source(failure: Failure) -> Failure {
    let kind = match failure.kind {
        Kind::Thrown if failure.name == "SyntaxError" => Kind::Source,
        kind => kind,
    };
    Failure { kind, ..failure }
}

/// The time is over.
pub(crate) fn timeout() -> Failure {
    Failure::new(Kind::Timeout, "Timeout", "the skill's time is over before it returned")
}

/// The JSON text that the prelude made, if it made one.
pub(crate) fn json_of(value: &Value<'_>) -> rquickjs::Result<Option<String>> {
    value.as_string().map(rquickjs::String::to_string).transpose()
}

/// What was thrown.
pub(crate) fn of<'js>(
    ctx: &Ctx<'js>,
    error: CaughtError<'js>,
    clock: &Clock,
    files: &BTreeMap<String, String>,
) -> Failure {
    if clock.is_over() {
        return timeout();
    }
    match error {
        CaughtError::Exception(exception) => {
            let object = exception.into_object();
            let name = told(&object, "name").unwrap_or_else(|| "Error".to_owned());
            let message = told(&object, "message").unwrap_or_default();
            let stack = told(&object, "stack").unwrap_or_default();
            // Telling it may have run code of the skill.
            drop(ctx.catch());
            if clock.is_over() {
                return timeout();
            }
            let kind = kind(&name, &message);
            let mut failure = Failure::new(kind, &name, hint(&name, message));
            failure.frames = frames(&stack, files);
            failure
        }
        CaughtError::Value(value) if value.is_null() || value.is_undefined() => {
            // Without memory no error can be made either.
            Failure::new(
                Kind::Memory,
                "InternalError",
                "the skill threw nothing, or had no memory left to throw it",
            )
        }
        CaughtError::Value(value) => {
            let text = value.get::<Coerced<String>>().map(|text| text.0).unwrap_or_default();
            drop(ctx.catch());
            Failure::new(Kind::Thrown, "thrown", text)
        }
        CaughtError::Error(rquickjs::Error::Allocation) => {
            Failure::new(Kind::Memory, "InternalError", "out of memory")
        }
        CaughtError::Error(error) => Failure::new(Kind::Engine, "Error", error.to_string()),
    }
}

fn told(object: &Object<'_>, key: &str) -> Option<String> {
    // Whatever the skill put there: a getter that throws or loops is a text that is missing, or the end of the time.
    let text = object.get::<_, Option<Coerced<String>>>(key).ok().flatten()?.0;
    Some(limits::cut(&text, 64 * 1024))
}

fn kind(name: &str, message: &str) -> Kind {
    match name {
        "InternalError" if matches!(message, "out of memory" | "string too long") => Kind::Memory,
        "InternalError" | "RangeError" if message.contains("stack") => Kind::Stack,
        "ReferenceError" | "Error" if message.starts_with("Error resolving module") => Kind::Import,
        "SyntaxError" if message.starts_with("Could not find export") => Kind::Import,
        _ => Kind::Thrown,
    }
}

/// What Node and browsers have, and an embedded skill does not.
const ELSEWHERE: [&str; 10] = [
    "setTimeout",
    "setInterval",
    "setImmediate",
    "fetch",
    "process",
    "require",
    "module",
    "exports",
    "Buffer",
    "crypto",
];

/// What helps with errors that have one cause.
fn hint(name: &str, message: String) -> String {
    let missing = message.strip_suffix(" is not defined").filter(|_| name == "ReferenceError");
    let help = match missing.map(|missing| missing.trim_matches('\'')) {
        Some("Date") => "the clock is there for skills that ask for it and are granted it",
        Some("eval") => "a skill makes no code from text",
        Some(missing) if ELSEWHERE.contains(&missing) => {
            "an embedded skill has no timers, no network, no processes and nothing of Node"
        }
        None if name == "SyntaxError" && message.starts_with("Could not find export") => {
            "if it is a type, write `import type`"
        }
        _ => return message,
    };
    format!("{} ({help})", limits::cut(&message, limits::MESSAGE_BYTES / 2))
}

/// The frames of a stack that are in the skill's own files. The text may be anything: a skill can write its own.
pub(crate) fn frames(stack: &str, files: &BTreeMap<String, String>) -> Vec<Frame> {
    stack.lines().filter_map(|line| frame(line, files)).take(limits::FRAMES).collect()
}

/// `    at name (file:line:column)` or `    at file:line:column`.
fn frame(line: &str, files: &BTreeMap<String, String>) -> Option<Frame> {
    let text = line.trim().strip_prefix("at ")?;
    let (function, place) = match text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("", text),
    };
    let mut parts = place.rsplitn(3, ':');
    let column: u32 = parts.next()?.parse().ok()?;
    let line: u32 = parts.next()?.parse().ok()?;
    let file = parts.next()?;
    let text = files.get(file).filter(|_| line > 0 && column > 0)?;
    let function = if function == "<anonymous>" { "" } else { function };
    let function = limits::cut(function, limits::NAME_BYTES);
    Some(Frame { function, file: file.to_owned(), line, column: in_units(text, line, column) })
}

/// The engine counts columns in bytes; everybody else, and [`crate::Refusal`], in UTF-16 units.
fn in_units(text: &str, line: u32, column: u32) -> u32 {
    let line = usize::try_from(line - 1).ok().and_then(|before| text.split('\n').nth(before));
    let before = usize::try_from(column - 1).ok().and_then(|bytes| line?.get(..bytes));
    let units = before.map(|before| before.encode_utf16().count() + 1);
    units.and_then(|units| u32::try_from(units).ok()).unwrap_or(column)
}
