//! How what a package exports differs between two releases, and what that asks of the version.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::version::Bump;

use super::{ExportKind, Exported, Exports};

/// What happened to a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "what")]
pub enum What {
    /// It is no longer exported.
    Removed,
    /// It was not exported before.
    Added,
    /// It is declared otherwise. Both are [`Exported::signature`].
    Changed {
        /// As it was declared.
        before: String,
        /// As it is declared.
        after: String,
    },
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiChange {
    /// The entry point's subpath.
    pub entry: String,
    /// The name; empty for an entry point that has no names, as a style sheet.
    pub name: String,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

impl fmt::Display for ApiChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = self.entry.trim_start_matches("./");
        match (self.name.as_str(), entry) {
            ("", entry) => write!(f, "the entry point {entry}")?,
            (name, "" | ".") => f.write_str(name)?,
            (name, entry) => write!(f, "{name} of {entry}")?,
        }
        f.write_str(match self.what {
            What::Removed => " is gone",
            What::Added => " is new",
            What::Changed { .. } => " is declared otherwise",
        })
    }
}

impl ApiChange {
    /// What it asks of the version: a removed name a major one, an added name a minor one. A changed name asks for a look
    /// at least and counts as major, unless nothing but optional members or parameters were added.
    pub fn bump(&self) -> Bump {
        match &self.what {
            What::Removed => Bump::Major,
            What::Added => Bump::Minor,
            What::Changed { before, after } if only_optional_added(before, after) => Bump::Minor,
            What::Changed { .. } => Bump::Major,
        }
    }
}

/// What all changes together ask of the version; `None` when there are none.
pub fn bump(changes: &[ApiChange]) -> Option<Bump> {
    changes.iter().map(ApiChange::bump).max()
}

/// The differences between two releases, by entry point and name.
pub fn compare(before: &Exports, after: &Exports) -> Vec<ApiChange> {
    let none = BTreeMap::new();
    let mut changes = Vec::new();
    let entries: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for entry in entries {
        let (old, new) = (before.get(entry), after.get(entry));
        let mut add = |name: &str, what: What| {
            changes.push(ApiChange { entry: entry.clone(), name: name.to_owned(), what });
        };
        match (old, new) {
            (Some(old), None) if old.is_empty() => add("", What::Removed),
            (None, Some(new)) if new.is_empty() => add("", What::Added),
            _ => {}
        }
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        for (name, was) in old {
            match new.get(name) {
                // What is no name of its own only goes when what it was part of changes.
                None if was.kind == ExportKind::Hidden => {}
                None => add(name, What::Removed),
                Some(is) if differs(was, is) => {
                    add(name, What::Changed { before: was.signature.clone(), after: is.signature.clone() });
                }
                Some(_) => {}
            }
        }
        for (name, is) in new {
            if !old.contains_key(name) && is.kind != ExportKind::Hidden {
                add(name, What::Added);
            }
        }
    }
    changes
}

fn differs(was: &Exported, is: &Exported) -> bool {
    // A script says nothing of what a name is; types that are new cannot be compared with that.
    let silent = was.kind == ExportKind::Value && was.signature.is_empty();
    !silent && (was.signature != is.signature || was.kind != is.kind)
}

/// Whether the second text is the first with optional members (`a?: T`) and optional or rest parameters at the end of
/// lists, and nothing else.
fn only_optional_added(before: &str, after: &str) -> bool {
    let (before, after) = (tokens(before), tokens(after));
    let mut old = before.iter().copied().peekable();
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(token) = after.get(at).copied() {
        if old.peek() == Some(&token) && !starts_item(&open, &after, at, old.clone()) {
            match token {
                "(" | "{" | "[" => open.push(token),
                ")" | "}" | "]" => {
                    open.pop();
                }
                _ => {}
            }
            old.next();
            at += 1;
            continue;
        }
        // A parameter before those that were there would move them.
        let in_list = open.last() == Some(&"(");
        match added(&open, &after, at).filter(|_| !in_list || old.peek() == Some(&")")) {
            Some(end) => at = end,
            None => return false,
        }
    }
    old.next().is_none()
}

/// Whether an item is added here although its first token is the one expected: a separator before another member.
fn starts_item<'t>(
    open: &[&str],
    after: &[&'t str],
    at: usize,
    mut old: std::iter::Peekable<impl Iterator<Item = &'t str>>,
) -> bool {
    let separator = open.last() == Some(&"{") && matches!(after.get(at), Some(&(";" | ",")));
    old.next();
    separator && old.peek() != after.get(at + 1) && added(open, after, at).is_some()
}

/// Where an added item ends that starts here: with the separator before it, or with the one behind it.
fn added(open: &[&str], tokens: &[&str], at: usize) -> Option<usize> {
    let led = matches!(tokens.get(at), Some(&(";" | ",")));
    let start = at + usize::from(led);
    match *open.last()? {
        "{" => {
            let end = member(tokens, start)?;
            let follows = tokens.get(end).copied();
            match (led, follows) {
                (true, Some(";" | "," | "}")) | (false, Some("}")) => Some(end),
                (false, Some(";" | ",")) => Some(end + 1),
                _ => None,
            }
        }
        "(" => {
            let end = parameter(tokens, start)?;
            // Nothing that is required may follow: what does is looked at next.
            let last = matches!(tokens.get(end).copied(), Some(")" | ","));
            let first = tokens.get(at.checked_sub(1)?) == Some(&"(");
            (last && (led || first)).then_some(end)
        }
        _ => None,
    }
}

/// The end of `a?: T` or `a?(): T`, which may be `readonly`, `public` or `static`.
fn member(tokens: &[&str], mut at: usize) -> Option<usize> {
    while matches!(tokens.get(at), Some(&("readonly" | "public" | "static")))
        && tokens.get(at + 1) != Some(&"?")
    {
        at += 1;
    }
    is_name(tokens.get(at)?).then_some(())?;
    (tokens.get(at + 1) == Some(&"?") && matches!(tokens.get(at + 2), Some(&(":" | "(" | "<"))))
        .then_some(())?;
    end_of_type(tokens, at + 2)
}

/// The end of `a?: T` or `...a: T[]`.
fn parameter(tokens: &[&str], at: usize) -> Option<usize> {
    if tokens.get(at..at + 3) == Some(&[".", ".", "."]) {
        is_name(tokens.get(at + 3)?).then_some(())?;
        return end_of_type(tokens, at + 4);
    }
    is_name(tokens.get(at)?).then_some(())?;
    (tokens.get(at + 1) == Some(&"?") && tokens.get(at + 2) == Some(&":")).then_some(())?;
    end_of_type(tokens, at + 2)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '"' | '\''))
}

/// Where a type ends: at a separator or a closing bracket that is not its own.
fn end_of_type(tokens: &[&str], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in from..tokens.len() {
        match *tokens.get(at)? {
            "(" | "{" | "[" | "<" => depth += 1,
            ">" if tokens.get(at.checked_sub(1)?) == Some(&"=") => {}
            ")" | "}" | "]" | ">" => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return Some(at),
            },
            ";" | "," if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Words, strings, and single characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if matches!(first, '"' | '\'' | '`') {
            super::text::quoted(rest, first)
        } else {
            first.len_utf8()
        };
        let (token, next) = rest.split_at(length);
        if token != " " {
            tokens.push(token);
        }
        rest = next;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_member_or_parameter_is_no_break() {
        for (before, after) in [
            ("interface A{a:string}", "interface A{a:string;b?:number}"),
            ("interface A{a:string}", "interface A{b?:number;a:string}"),
            ("interface A{a:string;c:X}", "interface A{a:string;b?:{d:string};c:X}"),
            ("interface A{}", "interface A{b?(x:string):void}"),
            ("function f(a:string):void", "function f(a:string,b?:Map<string,()=>void>):void"),
            ("function f():void", "function f(b?:string):void"),
            ("function f(a:A):void", "function f(a:A,...rest:string[]):void"),
            ("class A{m(a:A):void}", "class A{m(a:A,b?:B):void;readonly c?:C}"),
        ] {
            assert!(only_optional_added(before, after), "{before} -> {after}");
        }
    }

    #[test]
    fn anything_else_is_a_break() {
        for (before, after) in [
            ("interface A{a:string}", "interface A{a:string;b:number}"),
            ("interface A{a?:string}", "interface A{a:string}"),
            ("interface A{a:string}", "interface A{a?:string}"),
            ("interface A{a:string;b?:number}", "interface A{a:string}"),
            ("function f(a:string):void", "function f(a:string,b:number):void"),
            ("function f(a:string):void", "function f(a:number,b?:number):void"),
            ("function f(a:string):void", "function f(b?:number,a:string):void"),
            ("function f(a:A,c?:C):void", "function f(a:A,b?:B,c?:C):void"),
            ("function f(a:string):void", "function f(a:string,b?:number):string"),
            ("type A=\"a\"", "type A=\"a\"|\"b\""),
            ("class A{a:A}", "class A{a:A;private b?:B}"),
            ("const a:A", "const a:B"),
        ] {
            assert!(!only_optional_added(before, after), "{before} -> {after}");
        }
    }
}
