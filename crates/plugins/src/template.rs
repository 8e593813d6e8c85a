//! The argument list that inputs make. A value becomes a part of exactly one word: it is never split, and no shell reads it.

use serde_json::{Map, Value};

use crate::file::Word;
use crate::input::Inputs;

/// Most words of an argument list.
const MAX_WORDS: usize = 200;

/// What of a word comes from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Slot {
    /// This input's value.
    Input(String),
    /// The value that the words are for: `{}`.
    This,
}

/// A word: text, and one value at most.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    before: String,
    slot: Option<Slot>,
    after: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Word(Pattern),
    When { input: String, is: Option<Value>, then: Vec<Pattern>, otherwise: Vec<Pattern> },
    Each { input: String, words: Vec<Pattern> },
    Config { key: String, then: Vec<Pattern> },
}

/// An argument list with places for values.
#[derive(Debug, Clone, PartialEq)]
pub struct Template(Vec<Part>);

impl Template {
    /// Understands `words`, whose names must be among `inputs` and `config`.
    pub(crate) fn of(words: &[Word], inputs: &Inputs, config: &Inputs) -> Result<Self, String> {
        let patterns = |words: &[String], this: bool| -> Result<Vec<Pattern>, String> {
            words.iter().map(|word| Pattern::of(word, inputs, this)).collect()
        };
        let known = |name: &String| inputs.get(name).ok_or_else(|| format!("{name}: there is no such input"));
        let part = |word: &Word| {
            Ok(match word {
                Word::Literal(word) => Part::Word(Pattern::of(word, inputs, false)?),
                Word::When(when) => {
                    let input = known(&when.when)?;
                    if let Some(is) = &when.is {
                        input
                            .check(is, &grammar::Place::root())
                            .map_err(|why| format!("is, of {}: {why}: it would never be so", when.when))?;
                    }
                    Part::When {
                        input: when.when.clone(),
                        is: when.is.clone(),
                        then: patterns(&when.then, false)?,
                        otherwise: patterns(&when.otherwise, false)?,
                    }
                }
                Word::Each(each) => {
                    if !known(&each.each)?.input.list {
                        return Err(format!("{}: it is no list", each.each));
                    }
                    Part::Each { input: each.each.clone(), words: patterns(&each.words, true)? }
                }
                Word::Config(of) => {
                    match config.get(&of.config) {
                        None => return Err(format!("{}: there is no such key in [config]", of.config)),
                        Some(key) if key.input.list => {
                            return Err(format!("{}: a list is no word", of.config));
                        }
                        Some(_) => {}
                    }
                    Part::Config { key: of.config.clone(), then: patterns(&of.then, true)? }
                }
            })
        };
        let parts: Vec<Part> = words.iter().map(part).collect::<Result<_, String>>()?;
        Ok(Self(parts))
    }

    /// The names of inputs that it uses.
    pub(crate) fn uses(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for part in &self.0 {
            match part {
                Part::Word(word) => names.extend(word.input()),
                Part::When { input, then, otherwise, .. } => {
                    names.push(input);
                    names.extend(then.iter().chain(otherwise).filter_map(Pattern::input));
                }
                Part::Each { input, words } => {
                    names.push(input);
                    names.extend(words.iter().filter_map(Pattern::input));
                }
                Part::Config { then, .. } => names.extend(then.iter().filter_map(Pattern::input)),
            }
        }
        names
    }

    /// The argument list for `values` and `config`, both held to what they must be.
    pub fn words(
        &self,
        values: &Map<String, Value>,
        config: &Map<String, Value>,
    ) -> Result<Vec<String>, String> {
        let mut list = List::default();
        for part in &self.0 {
            match part {
                Part::Word(word) => list.add(word, values, None)?,
                Part::When { input, is, then, otherwise } => {
                    let value = values.get(input);
                    let holds = match is {
                        Some(is) => value == Some(is),
                        None => value.is_some_and(|value| *value != Value::Bool(false)),
                    };
                    let words = if holds { then } else { otherwise };
                    words.iter().try_for_each(|word| list.add(word, values, None))?;
                }
                Part::Each { input, words } => {
                    let items = values.get(input).and_then(Value::as_array).into_iter().flatten();
                    for item in items {
                        words.iter().try_for_each(|word| list.add(word, values, Some(item)))?;
                    }
                }
                Part::Config { key, then } => {
                    if let Some(value) = config.get(key) {
                        then.iter().try_for_each(|word| list.add(word, values, Some(value)))?;
                    }
                }
            }
        }
        Ok(list.words)
    }
}

impl Pattern {
    fn of(text: &str, inputs: &Inputs, this: bool) -> Result<Self, String> {
        let wrong = |why: &str| format!("the word `{text}`: {why}");
        if let Some(hidden) = text.chars().find(|c| c.is_control() || contract::text::is_deceptive(*c)) {
            return Err(wrong(&format!("it has the hidden character U+{:04X}", u32::from(hidden))));
        }
        let (mut before, mut after, mut slot) = (String::new(), String::new(), None);
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let into = if slot.is_some() { &mut after } else { &mut before };
            into.push_str(&rest[..at]);
            let brace = &rest[at..];
            if brace.starts_with("{{") || brace.starts_with("}}") {
                into.push_str(&brace[..1]);
                rest = &brace[2..];
                continue;
            }
            let Some((name, behind)) = brace.strip_prefix('{').and_then(|inner| inner.split_once('}')) else {
                return Err(wrong("a brace stands alone; `{{` and `}}` are braces"));
            };
            if slot.is_some() {
                return Err(wrong("it has more than one value"));
            }
            slot = Some(match (name, inputs.get(name)) {
                ("", _) if this => Slot::This,
                ("", _) => return Err(wrong("`{}` stands for an item or a setting, and there is none here")),
                (name, None) => return Err(wrong(&format!("there is no input {name}"))),
                (_, Some(input)) if input.input.list => return Err(wrong("a list is no word; use `each`")),
                (name, Some(_)) => Slot::Input(name.to_owned()),
            });
            rest = behind;
        }
        if slot.is_some() { &mut after } else { &mut before }.push_str(rest);
        Ok(Self { before, slot, after })
    }

    fn input(&self) -> Option<&str> {
        match &self.slot {
            Some(Slot::Input(name)) => Some(name),
            _ => None,
        }
    }
}

/// An argument list as it grows.
#[derive(Default)]
struct List {
    words: Vec<String>,
    /// Whether a literal `--` stands before what comes.
    options_ended: bool,
}

impl List {
    fn add(
        &mut self,
        word: &Pattern,
        values: &Map<String, Value>,
        this: Option<&Value>,
    ) -> Result<(), String> {
        let value = match &word.slot {
            None => None,
            Some(Slot::This) => this,
            Some(Slot::Input(name)) => values.get(name),
        };
        let text = match (&word.slot, value) {
            (None, _) => word.before.clone(),
            // What is not given leaves no word.
            (Some(_), None) => return Ok(()),
            (Some(_), Some(value)) => {
                let value = match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                if value.contains('\0') {
                    return Err("a value has a NUL".to_owned());
                }
                if word.before.is_empty() && value.starts_with('-') && !self.options_ended {
                    let name = word.input().unwrap_or("an item");
                    return Err(format!("{name}: it begins with `-` and would be taken for an option"));
                }
                format!("{}{value}{}", word.before, word.after)
            }
        };
        self.options_ended |= word.slot.is_none() && text == "--";
        if self.words.len() == MAX_WORDS {
            return Err(format!("it makes more than {MAX_WORDS} words"));
        }
        self.words.push(text);
        Ok(())
    }
}
