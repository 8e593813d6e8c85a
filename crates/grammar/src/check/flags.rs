//! Flags: how they are spelled, what is attached to them, and what is said of unknown ones.

use super::Walk;
use crate::model::{Flag, Join, Level, Style};
use crate::refusal::{Refusal, Why, looks_like_dash};
use crate::suggest;
use crate::value::Kind;

impl<'a> Walk<'a> {
    /// The flag (or the cluster of flags) at `next`, with its value.
    pub(super) fn flag(&mut self, levels: &[&'a Level]) -> Result<(), Refusal> {
        let index = self.next;
        let Some(arg) = self.args.get(index).map(String::as_str) else { return Ok(()) };
        self.next += 1;
        let find = |name: &str| {
            levels.iter().enumerate().find_map(|(i, level)| level.names.get(name).map(|flag| (i, *flag)))
        };
        let (name, joined) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg, None),
        };
        if self.grammar.spelling.style == Style::Single {
            let name = format!("-{}", name.trim_start_matches('-'));
            return match find(&name) {
                Some(found) if arg.len() - arg.trim_start_matches('-').len() <= 2 => {
                    self.take(levels, found, joined, index)
                }
                _ => Err(self.unknown(levels, &name, index)),
            };
        }
        if let Some(found) = find(arg) {
            return self.take(levels, found, None, index);
        }
        if arg.starts_with("--") {
            return match find(name) {
                Some(found) => self.take(levels, found, joined, index),
                None => Err(self.unknown(levels, name, index)),
            };
        }
        let digits = arg.strip_prefix('-').unwrap_or_default();
        if !digits.is_empty()
            && digits.len() <= 9
            && digits.bytes().all(|b| b.is_ascii_digit())
            && let Some(found) = find("-#")
        {
            return self.take(levels, found, None, index);
        }
        self.short(levels, digits, index)
    }

    /// One-letter flags behind one `-`: the last may have its value joined.
    fn short(&mut self, levels: &[&'a Level], letters: &str, index: usize) -> Result<(), Refusal> {
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let found = levels
                .iter()
                .enumerate()
                .find_map(|(i, level)| level.names.get(&name).map(|flag| (i, *flag)));
            let Some(found) = found else { return Err(self.unknown(levels, &name, index)) };
            let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            if let Some(kind) = flag_at(levels, found).and_then(|flag| flag.value.as_ref()) {
                // `-overlay=x` is `-o` with `verlay=x` to some programs and another flag to a reader: only a pattern
                // that stands right behind its letter (`-Sa=b`) may have a `=`.
                let free = at == 0 && matches!(kind, Kind::Text | Kind::Regex);
                let doubtful = rest.starts_with('=') || (rest.contains('=') && !free);
                if doubtful || (!rest.is_empty() && !self.grammar.spelling.stuck) {
                    return Err(self.refusal(index, Why::Attachment(name)));
                }
                return self.take(levels, found, Some(rest).filter(|r| !r.is_empty()), index);
            }
            let cluster = self.grammar.spelling.cluster || levels.first().is_some_and(|own| own.cluster);
            if !rest.is_empty() && !cluster {
                return Err(match levels.iter().find_map(|l| l.refused.get(&name)) {
                    Some(_) => self.unknown(levels, &name, index),
                    None => self.refusal(index, Why::Cluster),
                });
            }
            self.take(levels, found, None, index)?;
        }
        Ok(())
    }

    /// A flag that is known, with what is joined to it or follows.
    fn take(
        &mut self,
        levels: &[&'a Level],
        found: (usize, usize),
        joined: Option<&str>,
        index: usize,
    ) -> Result<(), Refusal> {
        let Some(flag) = flag_at(levels, found) else { return Ok(()) };
        let name = flag.name().to_owned();
        if self.seen.contains(&found) && !flag.many {
            return Err(self.refusal(index, Why::Repeated(name)));
        }
        self.seen.push(found);
        let Some(kind) = &flag.value else {
            let single = self.grammar.spelling.style == Style::Single;
            return match joined {
                None => Ok(()),
                Some("true" | "false") if single => Ok(()),
                Some(_) => Err(self.refusal(index, Why::ValueUnwanted(name))),
            };
        };
        self.attached(flag, kind, joined, index)?;
        while flag.greedy
            && let Some(more) = self.args.get(self.next).filter(|more| !more.starts_with('-'))
        {
            let index = self.next;
            if more.starts_with(|c| looks_like_dash(c) || contract::text::is_deceptive(c)) {
                return Err(self.refusal(index, Why::LookAlike));
            }
            self.next += 1;
            self.value(flag, kind, more, index)?;
        }
        Ok(())
    }

    /// The value that is joined to a flag or follows it.
    fn attached(
        &mut self,
        flag: &Flag,
        kind: &Kind,
        joined: Option<&str>,
        index: usize,
    ) -> Result<(), Refusal> {
        let name = flag.name().to_owned();
        match (joined, flag.join) {
            (Some(_), Join::Separate) => Err(self.refusal(index, Why::Attachment(name))),
            (Some(value), _) => self.value(flag, kind, value, index),
            (None, Join::Optional) => Ok(()),
            (None, Join::Last) if self.next >= self.args.len() => Ok(()),
            (None, Join::Joined) => {
                let mut refusal = self.refusal(index, Why::ValueMissing(name.clone()));
                refusal.suggestion = Some(format!("join it: `{name}=…`"));
                Err(refusal)
            }
            (None, Join::Either | Join::Separate | Join::Last) => {
                let Some(value) = self.args.get(self.next) else {
                    return Err(self.refusal(index, Why::ValueMissing(name)));
                };
                // Go's `flag` takes the next argument whatever it is; only kinds that are flags themselves are let through.
                let own_dash = self.grammar.spelling.style == Style::Single && kind.is_of_flags();
                if value.starts_with('-') && !own_dash {
                    let mut refusal = self.refusal(self.next, Why::ValueDash(name.clone()));
                    if flag.join != Join::Separate {
                        let long = flag.names.iter().find(|n| n.starts_with("--") || own_style(self.grammar));
                        refusal.suggestion = long.map(|long| format!("join it: `{long}=…`"));
                    }
                    return Err(refusal);
                }
                self.next += 1;
                self.value(flag, kind, value, self.next - 1)
            }
        }
    }

    fn value(&mut self, flag: &Flag, kind: &Kind, value: &str, index: usize) -> Result<(), Refusal> {
        kind.check(value, self.at).map_err(|unfit| {
            let (what, expected) = (format!("the value of `{}`", flag.name()), kind.to_string());
            self.refusal(index, Why::Value { what, expected, unfit })
        })?;
        if flag.writes {
            self.writes.append(&mut kind.written(value, self.at));
        }
        Ok(())
    }

    /// Says of a flag that no level has what is wrong with it.
    fn unknown(&self, levels: &[&'a Level], name: &str, index: usize) -> Refusal {
        let refused =
            levels.iter().chain(std::iter::once(&&self.grammar.top)).find_map(|l| l.refused.get(name));
        if let Some(reason) = refused {
            let why = Why::RefusedFlag { flag: name.to_owned(), reason: reason.clone() };
            return self.refusal(index, why);
        }
        let hidden = |c: char| looks_like_dash(c) || contract::text::is_deceptive(c) || !c.is_ascii();
        if name.chars().any(hidden) {
            return self.refusal(index, Why::LookAlike);
        }
        let (near, abbreviated) = suggest::flag(levels, name);
        let why = if abbreviated { Why::Abbreviated } else { Why::UnknownFlag(self.label.clone()) };
        let mut refusal = self.refusal(index, why);
        refusal.suggestion = near;
        refusal
    }
}

fn flag_at<'a>(levels: &[&'a Level], (level, flag): (usize, usize)) -> Option<&'a Flag> {
    levels.get(level).and_then(|level| level.flags.get(flag))
}

/// Whether a value may be joined by `=` to every flag.
fn own_style(grammar: &crate::model::Grammar) -> bool {
    grammar.spelling.style == Style::Single
}
