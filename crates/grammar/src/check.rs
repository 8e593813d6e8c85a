//! Arguments against a grammar, from the first to the last.

mod flags;

use contract::RelPath;

use crate::model::{Command, Flag, Grammar, Level, Slot};
use crate::place::Place;
use crate::refusal::{Refusal, Why, looks_like_dash, shown};
use crate::suggest;
use crate::value::At;

/// Most arguments of one run.
pub const MAX_ARGUMENTS: usize = 1000;

/// Most bytes of all arguments of one run together.
pub const MAX_BYTES: usize = 128 * 1024;

/// Arguments that a grammar accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The sub-command's words, such as `mod tidy`.
    pub sub_command: Option<String>,
    /// What flags and arguments name as output, from the root.
    pub writes: Vec<RelPath>,
    /// The arguments, unchanged.
    pub args: Vec<String>,
}

impl Grammar {
    /// Whether the program may be given `args`, the arguments behind its name, in a run at `place`.
    pub fn check(&self, args: &[String], place: &Place) -> Result<Accepted, Refusal> {
        let refuse = |index: usize, why| {
            let argument = args.get(index).map(|a| shown(a)).unwrap_or_default();
            let why = Box::new(why);
            Err(Refusal { program: self.program.clone(), index, argument, why, suggestion: None })
        };
        if args.len() > MAX_ARGUMENTS {
            return refuse(args.len(), Why::TooMany(args.len()));
        }
        let bytes = args.iter().map(|a| a.len() + 1).sum();
        if bytes > MAX_BYTES {
            return refuse(args.len(), Why::TooLong(bytes));
        }
        if let Some(index) = args.iter().position(|a| a.contains('\0')) {
            return refuse(index, Why::Nul);
        }
        let mut walk = Walk::new(self, args, place, 0, self.program.clone());
        walk.program()?;
        Ok(Accepted { sub_command: walk.command, writes: walk.writes, args: args.to_vec() })
    }

    /// The command that `args` begin with, by its longest spelling, and how many words that is.
    fn command(&self, args: &[String]) -> Option<(&Command, usize)> {
        self.commands
            .iter()
            .flat_map(|command| command.names.iter().map(move |words| (command, words)))
            .filter(|(_, words)| args.get(..words.len()).is_some_and(|front| front == words.as_slice()))
            .map(|(command, words)| (command, words.len()))
            .max_by_key(|(_, words)| *words)
    }
}

/// How far the slots of a level are filled.
struct Filling<'a> {
    slots: &'a [Slot],
    at: usize,
    count: usize,
}

impl<'a> Filling<'a> {
    fn of(slots: Option<&'a Vec<Slot>>) -> Self {
        Self { slots: slots.map_or(&[], Vec::as_slice), at: 0, count: 0 }
    }

    /// A slot that wants more.
    fn missing(&self) -> Option<&'a Slot> {
        let now = self.slots.get(self.at).filter(|slot| self.count < slot.min);
        now.or_else(|| self.slots.iter().skip(self.at + 1).find(|slot| slot.min > 0))
    }
}

struct Walk<'a> {
    grammar: &'a Grammar,
    args: &'a [String],
    at: At<'a>,
    next: usize,
    /// What is said in refusals.
    label: String,
    command: Option<String>,
    writes: Vec<RelPath>,
    /// Flags seen: the level's place in the stack and the flag's in the level.
    seen: Vec<(usize, usize)>,
}

impl<'a> Walk<'a> {
    fn new(grammar: &'a Grammar, args: &'a [String], place: &'a Place, next: usize, label: String) -> Self {
        let (command, writes, seen) = (None, Vec::new(), Vec::new());
        Self { grammar, args, at: At { place }, next, label, command, writes, seen }
    }

    fn refusal(&self, index: usize, why: Why) -> Refusal {
        let argument = self.args.get(index).map(|a| shown(a)).unwrap_or_default();
        Refusal { program: self.label.clone(), index, argument, why: Box::new(why), suggestion: None }
    }

    fn program(&mut self) -> Result<(), Refusal> {
        let args = self.args;
        if self.grammar.spelling.response_files
            && let Some(at) =
                (self.next..args.len()).find(|i| args.get(*i).is_some_and(|a| a.starts_with('@')))
        {
            return Err(self.refusal(at, Why::ResponseFile));
        }
        let top = &self.grammar.top;
        if self.grammar.commands.is_empty() {
            self.refused_command(args.get(self.next))?;
            return self.level(&[top]);
        }
        loop {
            let rest = args.get(self.next..).unwrap_or_default();
            if let Some((command, words)) = self.grammar.command(rest) {
                return self.sub_command(command, words);
            }
            match rest.first() {
                Some(arg) if arg.starts_with('-') && arg != "-" && arg != "--" => self.flag(&[top])?,
                first => return self.without_command(first),
            }
        }
    }

    fn sub_command(&mut self, command: &'a Command, words: usize) -> Result<(), Refusal> {
        self.next += words;
        let name = command.name();
        self.label = format!("{} {name}", self.grammar.program);
        self.command = Some(name);
        if let Some(other) = &command.delegate {
            let Some(grammar) = Grammar::of(other) else {
                return Err(self.refusal(self.next, Why::NoGrammar(other.clone())));
            };
            let mut inner = Walk::new(grammar, self.args, self.at.place, self.next, self.label.clone());
            inner.program()?;
            self.writes.append(&mut inner.writes);
            return Ok(());
        }
        if self.grammar.global_anywhere {
            // What was seen before the command is of the level that now comes second.
            for (level, _) in &mut self.seen {
                *level += 1;
            }
            self.level(&[&command.level, &self.grammar.top])
        } else {
            self.seen.clear();
            self.level(&[&command.level])
        }
    }

    /// A word that stands where a command does, and is refused with a reason of its own.
    fn refused_command(&self, word: Option<&String>) -> Result<(), Refusal> {
        let Some(word) = word else { return Ok(()) };
        let refused = self.grammar.refused_commands.iter().find(|(name, _)| match name.strip_suffix('*') {
            Some(front) => word.starts_with(front),
            None => *name == word,
        });
        let Some((command, reason)) = refused else { return Ok(()) };
        let why = Why::RefusedCommand { command: command.clone(), reason: reason.clone() };
        Err(self.refusal(self.next, why))
    }

    /// No known command comes next.
    fn without_command(&mut self, first: Option<&String>) -> Result<(), Refusal> {
        self.refused_command(first)?;
        if self.grammar.top.positionals.is_some() {
            return self.level(&[&self.grammar.top]);
        }
        let (why, text) = match first {
            Some(first) => (Why::UnknownCommand(self.grammar.program.clone()), first.as_str()),
            None => (Why::CommandMissing, ""),
        };
        let mut refusal = self.refusal(self.next, why);
        refusal.suggestion = Some(suggest::commands(self.grammar, text));
        Err(refusal)
    }

    /// The rest of the arguments, by `levels`: the first has the positionals, the others only flags.
    fn level(&mut self, levels: &[&'a Level]) -> Result<(), Refusal> {
        let Some(own) = levels.first() else { return Ok(()) };
        let mut slots = Filling::of(own.positionals.as_ref());
        let mut behind = own.after.as_ref().map(|after| Filling::of(Some(after)));
        let mut positional = false;
        while let Some(arg) = self.args.get(self.next) {
            let index = self.next;
            if arg == "--" {
                if !self.grammar.spelling.double_dash && own.rest.is_none() {
                    return Err(self.refusal(index, Why::DoubleDash));
                }
                self.next += 1;
                self.needed(own)?;
                if let Some(rest) = &own.rest {
                    self.filled(&slots)?;
                    self.seen.clear();
                    return self.level(&[rest]);
                }
                while let Some(arg) = self.args.get(self.next) {
                    self.positional(behind.as_mut().unwrap_or(&mut slots), arg, true)?;
                }
                self.filled(&slots)?;
                return behind.as_ref().map_or(Ok(()), |behind| self.filled(behind));
            }
            if arg == "-" {
                return Err(self.refusal(index, Why::StandardInput));
            }
            if arg.starts_with('-') {
                if positional && self.grammar.spelling.flags_first && !own.flags_anywhere {
                    return Err(self.refusal(index, Why::FlagsFirst));
                }
                self.flag(levels)?;
            } else {
                positional = true;
                self.positional(&mut slots, arg, false)?;
            }
        }
        self.needed(own)?;
        self.filled(&slots)
    }

    fn filled(&self, slots: &Filling<'_>) -> Result<(), Refusal> {
        match slots.missing() {
            Some(slot) => Err(self.refusal(self.args.len(), Why::PositionalMissing(slot.said.clone()))),
            None => Ok(()),
        }
    }

    /// What flags need and exclude of one another.
    fn needed(&self, own: &Level) -> Result<(), Refusal> {
        let has = |flag: &usize| self.seen.contains(&(0, *flag));
        let name = |flag: &usize| own.flags.get(*flag).map(Flag::name).unwrap_or_default().to_owned();
        for group in &own.conflicts {
            let mut there = group.iter().filter(|flag| has(flag));
            if let (Some(one), Some(other)) = (there.next(), there.next()) {
                return Err(self.refusal(self.args.len(), Why::Conflict(name(one), name(other))));
            }
        }
        if own.one_of.is_empty() || own.one_of.iter().any(has) {
            return Ok(());
        }
        let names: Vec<String> = own.one_of.iter().map(name).collect();
        Err(self.refusal(self.args.len(), Why::OneOf(names.join(", "))))
    }

    fn positional(&mut self, slots: &mut Filling<'a>, arg: &str, shielded: bool) -> Result<(), Refusal> {
        let index = self.next;
        if arg.chars().next().is_some_and(|c| looks_like_dash(c) || contract::text::is_deceptive(c)) {
            return Err(self.refusal(index, Why::LookAlike));
        }
        let mut last = None;
        while let Some(slot) = slots.slots.get(slots.at) {
            if slots.count < slot.max {
                match self.fits(slot, arg, index, shielded) {
                    Ok(()) => {
                        slots.count += 1;
                        self.next += 1;
                        if slot.writes {
                            self.writes.append(&mut slot.kind.written(arg, self.at));
                        }
                        return Ok(());
                    }
                    Err(refusal) if slots.count < slot.min => return Err(refusal),
                    Err(refusal) => last = Some(refusal),
                }
            }
            slots.at += 1;
            slots.count = 0;
        }
        Err(last.unwrap_or_else(|| self.refusal(index, Why::TooManyPositionals(self.label.clone()))))
    }

    fn fits(&self, slot: &Slot, arg: &str, index: usize, shielded: bool) -> Result<(), Refusal> {
        if shielded && arg.starts_with('-') && !slot.kind.may_begin_with_dash() {
            return Err(self.refusal(index, Why::ValueDash(slot.said.clone())));
        }
        slot.kind.check(arg, self.at).map_err(|unfit| {
            self.refusal(
                index,
                Why::Value { what: "the argument".to_owned(), expected: slot.said.clone(), unfit },
            )
        })
    }
}
