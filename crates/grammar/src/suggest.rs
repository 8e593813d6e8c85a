//! What was probably meant, and what there is.

use std::fmt;

use crate::model::{Flag, Grammar, Level, Slot};
use crate::value::Kind;

/// Two spellings nearer than this are a slip.
const NEAR: f64 = 0.75;

fn nearest<'a>(wanted: &str, all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    all.map(|name| (strsim::normalized_damerau_levenshtein(wanted, name), name))
        .filter(|(score, _)| *score >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The accepted flag near `name`, and whether `name` is only its beginning.
pub(crate) fn flag(levels: &[&Level], name: &str) -> (Option<String>, bool) {
    // A long name would make the comparison slow, and no flag is that long.
    if name.len() > 60 {
        return (None, false);
    }
    let names = || levels.iter().flat_map(|level| level.names.keys().map(String::as_str));
    if name.len() >= 4
        && let Some(whole) = names().find(|n| n.starts_with(name))
    {
        return (Some(format!("write `{whole}`")), true);
    }
    let near = nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
    (near, false)
}

/// The command near `word`, or those that there are.
pub(crate) fn commands(grammar: &Grammar, word: &str) -> String {
    let all: Vec<String> = grammar.commands.iter().map(crate::model::Command::name).collect();
    let below: Vec<&str> =
        all.iter().map(String::as_str).filter(|n| n.split(' ').next() == Some(word)).collect();
    if !below.is_empty() {
        return format!("there is `{}`", below.join("`, `"));
    }
    let near = Some(word).filter(|w| w.len() <= 60).and_then(|w| nearest(w, all.iter().map(String::as_str)));
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is `{}`", all.join("`, `")),
    }
}

/// What `program` may be given, in short: one line for each sub-command and its flags. `None` without a grammar.
pub fn describe(program: &str) -> Option<String> {
    Grammar::of(program).map(Grammar::describe)
}

impl Grammar {
    fn describe(&self) -> String {
        let mut out = format!("{} (after {})\n", self.program, self.follows);
        line(&mut out, &self.program, &self.top);
        for command in &self.commands {
            let name = format!("{} {}", self.program, command.name());
            match &command.delegate {
                Some(other) => out.push_str(&format!("{name} …: as {other}\n")),
                None => line(&mut out, &name, &command.level),
            }
        }
        for (command, reason) in &self.refused_commands {
            out.push_str(&format!("not {command}: it {reason}\n"));
        }
        out
    }
}

fn line(out: &mut String, name: &str, level: &Level) {
    let slot = |slot: &Slot| {
        let more = if slot.max > 1 { "…" } else { "" };
        if slot.min == 0 { format!(" [{}{more}]", slot.said) } else { format!(" {}{more}", slot.said) }
    };
    let slots = |slots: &Option<Vec<Slot>>| slots.iter().flatten().map(slot).collect::<String>();
    out.push_str(&format!("{name}{}", slots(&level.positionals)));
    if level.after.is_some() {
        out.push_str(&format!(" --{}", slots(&level.after)));
    }
    if let Some(rest) = &level.rest {
        out.push_str(&format!(" -- [{}]{}", flags(rest), slots(&rest.positionals)));
    }
    if !level.flags.is_empty() {
        out.push_str(&format!(": {}", flags(level)));
    }
    out.push('\n');
}

fn flags(level: &Level) -> String {
    let one = |flag: &Flag| match &flag.value {
        Some(_) => format!("{} <{}>", flag.names.join("|"), flag.said),
        None => flag.names.join("|"),
    };
    level.flags.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// For refusals: `must be …`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(range) => write!(f, "a number from {} to {}", range.start(), range.end()),
            Self::Number => f.write_str("a decimal number"),
            Self::Duration => f.write_str("a duration"),
            Self::Enum(values) => write!(f, "one of {}", values.join(", ")),
            Self::Text => f.write_str("text"),
            Self::Line => f.write_str("one line of text"),
            Self::Regex => f.write_str("a regular expression"),
            Self::Identifier => f.write_str("a name of letters, digits and `_.:-`"),
            Self::Word => f.write_str("a word of letters, digits and `_.:-/@+*`"),
            Self::Selector => f.write_str("a name, perhaps with `-` before it"),
            Self::Percent => f.write_str("a percentage"),
            Self::Fraction => f.write_str("a part such as `1/3`"),
            Self::Empty => f.write_str("empty"),
            Self::YamllintData => f.write_str("configuration that extends `default`, `relaxed` or `empty`"),
            Self::Version => f.write_str("a version"),
            Self::Path => f.write_str("a path inside the root"),
            Self::File => f.write_str("a path inside the root"),
            Self::Setting => f.write_str("`name=value`"),
            Self::Filter => f.write_str("a pattern of paths inside the root"),
            Self::Output => f.write_str("a path inside the root that may be written"),
            Self::Glob => f.write_str("a path or pattern inside the root"),
            Self::TestId => f.write_str("a path inside the root, or a place in a file"),
            Self::Pathspec => f.write_str("a path specification inside the root"),
            Self::Ref => f.write_str("the name of a branch or tag"),
            Self::Revision => f.write_str("a revision"),
            Self::Range => f.write_str("a range of revisions"),
            Self::Pretty => f.write_str("a format"),
            Self::Lines => f.write_str("a range of lines"),
            Self::GoPackage => f.write_str("a Go package or pattern"),
            Self::GoLdflags => f.write_str("flags of Go's linker"),
            Self::GoGcflags => f.write_str("flags of Go's compiler"),
            Self::GoBenchtime => f.write_str("a duration or a count such as `100x`"),
            Self::NpmPackage => f.write_str("a package of the npm registry"),
            Self::PythonPackage => f.write_str("a Python requirement by name"),
            Self::CargoPackage => f.write_str("a Cargo package by name"),
            Self::Assignment => f.write_str("a harmless `NAME=value`"),
            Self::Target => f.write_str("a target"),
            Self::List(inner) => write!(f, "a list, separated by commas, each {inner}"),
            Self::Safe(inner) => write!(f, "{inner}, without anything that a shell acts on"),
            Self::After(prefix, inner) => write!(f, "`{prefix}` and {inner}"),
            Self::Any(kinds) => {
                for (i, kind) in kinds.iter().enumerate() {
                    write!(f, "{}{kind}", if i == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
        }
    }
}
