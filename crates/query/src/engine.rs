//! One filter over one value.
//!
//! What a filter finds is jq's language with its library. What it does not find: files, modules, further inputs, the
//! environment, the clock, the zone of this machine, and what would end the process or speak past the answer.

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, compile, data, load, unwrap_valr};
use jaq_json::Val;

use crate::json;
use crate::limits;
use crate::talk::{Answer, Kind, Place, Question};

/// What of the engine's library is left out: each would reach beyond the value, or end or interrupt the process.
const WITHOUT: &[&str] = &[
    "env",
    "now",
    "localtime",
    "strflocaltime",
    "halt",
    "halt_error",
    "debug",
    "debug_empty",
    "stderr",
    "stderr_empty",
    "input_filename",
];

/// What jq has and the engine's library has not.
const LIBRARY: &str = include_str!("library.jq");

/// Runs a filter. Must be called on a thread with [`limits::STACK`] bytes of stack, in a process that can be killed.
pub fn run(question: &Question) -> Answer {
    let arena = Arena::default();
    let own = load::parse(LIBRARY, |parser| parser.defs()).unwrap_or_default();
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let defs = defs.filter(|def| !WITHOUT.contains(&def.name)).chain(own);
    let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let funs = funs.filter(|(name, ..)| !WITHOUT.contains(name));
    let code = question.filter.as_str();
    let modules = match Loader::new(defs).load(&arena, File { code, path: () }) {
        Ok(modules) => modules,
        Err(errors) => return unread(code, &errors),
    };
    let filter = match Compiler::default().with_funs(funs).compile(modules) {
        Ok(filter) => filter,
        Err(errors) => return undefined(code, &errors),
    };
    let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
    gathered(filter.id.run((context, json::val(&question.input))).map(unwrap_valr), question)
}

/// Takes what a filter gives, up to the limits.
fn gathered(given: impl Iterator<Item = jaq_json::ValR>, question: &Question) -> Answer {
    let (mut results, mut text, mut bytes) = (Vec::new(), question.style.map(|_| String::new()), 0);
    let (mut is_cut, mut error) = (false, None);
    for one in given {
        if results.len() == limits::VALUES {
            is_cut = true;
            break;
        }
        let one = match one {
            Ok(one) => one,
            Err(thrown) => {
                error = Some(said(thrown));
                break;
            }
        };
        let value = match json::value(&one) {
            Ok(value) => value,
            Err(why) => {
                error = Some(why.to_string());
                break;
            }
        };
        let before = text.as_ref().map(String::len);
        if let (Some(text), Some(style)) = (&mut text, question.style)
            && let Err(why) = json::write(text, &one, style)
        {
            error = Some(why.to_string());
            break;
        }
        bytes += value.to_string().len() + 1;
        if bytes > limits::OUTPUT_BYTES || text.as_ref().is_some_and(|text| text.len() > limits::OUTPUT_BYTES)
        {
            if let (Some(text), Some(before)) = (&mut text, before) {
                text.truncate(before);
            }
            is_cut = true;
            break;
        }
        results.push(value);
    }
    Answer::Done { results, text, is_cut, error }
}

/// What a filter threw, as it is told: a string as it is, another value as JSON.
fn said(thrown: jaq_json::Error) -> String {
    let message = match thrown.into_val() {
        Val::TStr(text) => String::from_utf8_lossy(&text).into_owned(),
        other => {
            json::value(&other).map_or_else(|why| why.to_string(), |value| format!("{value} (not a string)"))
        }
    };
    limits::cut(&message, limits::MESSAGE_BYTES)
}

/// The first thing that is wrong with a filter's spelling.
fn unread(code: &str, errors: &load::Errors<&str, ()>) -> Answer {
    let found = errors.iter().find_map(|(_, error)| match error {
        load::Error::Io(all) => all.first().map(|(at, _)| {
            (
                *at,
                "a module is wanted, and there are none here: write its definitions into the filter"
                    .to_owned(),
            )
        }),
        load::Error::Lex(all) => all.first().map(|(wanted, at)| {
            let place = if at.is_empty() { " at its end" } else { "" };
            (*at, format!("the filter cannot be read{place}: {} is missing", wanted.as_str()))
        }),
        load::Error::Parse(all) => all.first().map(|(wanted, at)| {
            let instead =
                if at.is_empty() { "its end".to_owned() } else { format!("{:?}", limits::cut(at, 40)) };
            (*at, format!("the filter cannot be read: {} is wanted, and {instead} is there", wanted.as_str()))
        }),
    });
    wrong(code, found)
}

/// The first name of a filter that means nothing.
fn undefined(code: &str, errors: &compile::Errors<&str, ()>) -> Answer {
    let found = errors.iter().flat_map(|(_, all)| all).next().map(|(name, what)| {
        let without = if WITHOUT.contains(name)
            || name.starts_with("input")
            || matches!(*name, "$ENV" | "$__prog_args")
        {
            ": it would reach beyond the input"
        } else {
            ""
        };
        let arity = match what {
            compile::Undefined::Filter(arity) if *arity > 0 => format!("/{arity}"),
            _ => String::new(),
        };
        (*name, format!("there is no {} `{}{arity}` here{without}", what.as_str(), limits::cut(name, 80)))
    });
    wrong(code, found)
}

fn wrong(code: &str, found: Option<(&str, String)>) -> Answer {
    match found {
        Some((at, message)) => Answer::failed(Kind::Filter, &message, place(code, at)),
        None => Answer::failed(Kind::Filter, "the filter cannot be read", None),
    }
}

/// Where `part` of `code` is; nothing, where it is no part of it.
fn place(code: &str, part: &str) -> Option<Place> {
    let at = (part.as_ptr() as usize).checked_sub(code.as_ptr() as usize)?;
    let before = code.get(..at)?;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some(Place { line: u32::try_from(line).ok()?, column: u32::try_from(column).ok()? })
}
