//! A grammar from its file, with everything that can be wrong with the file found here.

use std::collections::BTreeMap;

use crate::file::{self, File, Sets};
use crate::model::{Command, Flag, Grammar, Join, Level, Slot, Spelling};
use crate::place::Place;
use crate::value::Kind;

/// What is wrong with a grammar's file.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Not TOML, or not the form of a grammar.
    #[error("not a grammar: {0}")]
    Form(#[from] toml::de::Error),
    /// What a flag takes, or a slot, is not understood.
    #[error("`{place}`: `{said}` is not understood")]
    Spec {
        /// The flag or slot.
        place: String,
        /// As the file says it.
        said: String,
    },
    /// A spelling that no flag has.
    #[error("`{0}` is not the spelling of a flag")]
    Spelling(String),
    /// Something is named that the file does not have.
    #[error("there is no `{0}` in this file")]
    Missing(String),
    /// A spelling stands twice in one place, or is both accepted and refused.
    #[error("`{0}` is said twice in one place")]
    Twice(String),
    /// An example that should be accepted is refused.
    #[error("the example {args:?} is refused: {refusal}")]
    Match {
        /// The example.
        args: Vec<String>,
        /// Why.
        refusal: Box<crate::Refusal>,
    },
    /// An example that should be refused is accepted, or refused for another reason.
    #[error("the example {args:?} should be refused with `{wanted}`: {got}")]
    NoMatch {
        /// The example.
        args: Vec<String>,
        /// Words of the reason.
        wanted: String,
        /// What happened.
        got: String,
    },
}

/// Flags that several programs have.
const SHARED: &str = include_str!("../programs/sets.toml");

/// Understands `text` and tries its examples.
pub(crate) fn load(text: &str) -> Result<Grammar, LoadError> {
    let file: File = toml::from_str(text)?;
    let shared: Sets = toml::from_str(SHARED)?;
    let maker = Maker { sets: &file.sets, shared: &shared, rests: &file.rests };
    let mut commands = Vec::new();
    for (name, said) in &file.commands {
        let spellings = std::iter::once(name).chain(&said.alias);
        commands.push(Command {
            names: spellings.map(|words| words.split(' ').map(str::to_owned).collect()).collect(),
            level: maker.level(said, true)?,
            delegate: said.delegate.clone(),
        });
    }
    let grammar = Grammar {
        program: file.program,
        also: file.also,
        follows: file.follows,
        spelling: Spelling {
            style: file.style,
            cluster: file.cluster,
            stuck: !file.no_stuck,
            response_files: file.response_files,
            flags_first: file.flags_first,
            double_dash: !file.no_double_dash,
        },
        global_anywhere: file.global_anywhere,
        top: maker.level(&file.top, true)?,
        commands,
        refused_commands: file.refused_commands,
    };
    examples(&grammar, file.accepts, file.refuses)?;
    Ok(grammar)
}

fn examples(
    grammar: &Grammar,
    accepts: Vec<Vec<String>>,
    refuses: Vec<file::NoMatch>,
) -> Result<(), LoadError> {
    let place = Place::root();
    for args in accepts {
        if let Err(refusal) = grammar.check(&args, &place) {
            return Err(LoadError::Match { args, refusal: Box::new(refusal) });
        }
    }
    for file::NoMatch { args, why } in refuses {
        let got = match grammar.check(&args, &place) {
            Ok(_) => "it is accepted".to_owned(),
            Err(refusal) => refusal.to_string(),
        };
        if !got.contains(&why) || got == "it is accepted" {
            return Err(LoadError::NoMatch { args, wanted: why, got });
        }
    }
    Ok(())
}

struct Maker<'a> {
    sets: &'a Sets,
    shared: &'a Sets,
    rests: &'a BTreeMap<String, file::Level>,
}

impl Maker<'_> {
    fn level(&self, said: &file::Level, outer: bool) -> Result<Level, LoadError> {
        let (refused, flags_anywhere) = (refused(&said.refused), said.flags_anywhere);
        let mut level = Level { refused, flags_anywhere, cluster: said.cluster, ..Level::default() };
        for name in &said.uses {
            let set = self.sets.get(name).or_else(|| self.shared.get(name));
            let set = set.ok_or_else(|| LoadError::Missing(name.clone()))?;
            add(&mut level, set)?;
        }
        add(&mut level, &said.flags)?;
        if let Some(twice) = level.names.keys().find(|name| level.refused.contains_key(*name)) {
            return Err(LoadError::Twice(twice.clone()));
        }
        let slots = |said: &Option<Vec<String>>| {
            said.as_ref()
                .map(|all| all.iter().map(|one| slot(one)).collect::<Result<Vec<_>, _>>())
                .transpose()
        };
        level.positionals = slots(&said.positionals)?;
        level.after = slots(&said.after)?;
        if let Some(name) = &said.rest {
            let rest =
                self.rests.get(name).filter(|_| outer).ok_or_else(|| LoadError::Missing(name.clone()))?;
            level.rest = Some(Box::new(self.level(rest, false)?));
        }
        let place =
            |name: &String| level.names.get(name).copied().ok_or_else(|| LoadError::Missing(name.clone()));
        let conflicts: Result<_, LoadError> = said
            .conflicts
            .iter()
            .map(|group| group.iter().map(place).collect::<Result<Vec<_>, _>>())
            .collect();
        let one_of: Result<_, LoadError> = said.one_of.iter().map(place).collect();
        (level.conflicts, level.one_of) = (conflicts?, one_of?);
        Ok(level)
    }
}

/// The spellings of one key: `-n, --max-count`, `--[no-]color`.
fn spellings(key: &str) -> Vec<String> {
    key.split(", ")
        .flat_map(|one| match one.split_once("[no-]") {
            Some((dashes, name)) => vec![format!("{dashes}{name}"), format!("{dashes}no-{name}")],
            None => vec![one.to_owned()],
        })
        .collect()
}

fn refused(said: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    said.iter()
        .flat_map(|(key, reason)| spellings(key).into_iter().map(|name| (name, reason.clone())))
        .collect()
}

fn add(level: &mut Level, said: &BTreeMap<String, String>) -> Result<(), LoadError> {
    for (key, spec) in said {
        let names = spellings(key);
        for name in &names {
            let bare = name.trim_start_matches('-');
            let fits = name.starts_with('-')
                && !bare.is_empty()
                && bare.chars().all(|c| c.is_ascii_alphanumeric() || "-_.#+:=".contains(c));
            if !fits {
                return Err(LoadError::Spelling(name.clone()));
            }
            if level.names.insert(name.clone(), level.flags.len()).is_some() {
                return Err(LoadError::Twice(name.clone()));
            }
        }
        level.flags.push(flag(names, key, spec)?);
    }
    Ok(())
}

/// `[many|greedy] [joined|separate|optional|last] [writes] KIND`, or `[many] flag`.
fn flag(names: Vec<String>, key: &str, said: &str) -> Result<Flag, LoadError> {
    let mut flag = Flag {
        names,
        value: None,
        join: Join::Either,
        many: false,
        greedy: false,
        writes: false,
        said: said.to_owned(),
    };
    let mut rest = said;
    loop {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "many" => flag.many = true,
            "greedy" => (flag.many, flag.greedy) = (true, true),
            "joined" => flag.join = Join::Joined,
            "separate" => flag.join = Join::Separate,
            "optional" => flag.join = Join::Optional,
            "last" => flag.join = Join::Last,
            "writes" => flag.writes = true,
            "flag" if after.is_empty() => return Ok(flag),
            _ => break,
        }
        rest = after;
    }
    let kind =
        Kind::parse(rest).ok_or_else(|| LoadError::Spec { place: key.to_owned(), said: said.to_owned() })?;
    flag.value = Some(kind);
    Ok(flag)
}

/// `COUNT [writes] KIND`, where the count is `1`, `0..1`, `0..`.
fn slot(said: &str) -> Result<Slot, LoadError> {
    let wrong = || LoadError::Spec { place: "positionals".to_owned(), said: said.to_owned() };
    let (count, kind) = said.split_once(' ').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
    let (min, max) = match count.split_once("..") {
        Some((min, "")) => (number(min)?, usize::MAX),
        Some((min, max)) => (number(min)?, number(max)?),
        None => (number(count)?, number(count)?),
    };
    let (writes, kind) = kind.strip_prefix("writes ").map_or((false, kind), |kind| (true, kind));
    Ok(Slot { min, max, writes, kind: Kind::parse(kind).ok_or_else(wrong)?, said: kind.to_owned() })
}
