//! What callers give, and what a user configures: held to a kind of value before any word is made of it.

use std::collections::BTreeMap;

use contract::RelPath;
use grammar::{Place, ValueKind};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::file::{Input, Type};

/// Most characters of a text that says nothing else.
const MAX_LENGTH: u32 = 4_096;

/// Most items of a list that says nothing else.
const MAX_ITEMS: u32 = 100;

/// An input that was understood.
#[derive(Debug, Clone)]
pub struct Checked {
    /// As it stands in the file.
    pub input: Input,
    kind: Option<ValueKind>,
    pattern: Option<Regex>,
}

impl Checked {
    /// Understands `input`.
    pub(crate) fn of(input: &Input) -> Result<Self, String> {
        let kind = match input.of {
            Type::Text => Some("text"),
            Type::Line | Type::Url | Type::Date => Some("line"),
            Type::Word => Some("word"),
            Type::Identifier => Some("identifier"),
            Type::Ref => Some("ref"),
            Type::Path => Some("path"),
            Type::Glob => Some("glob"),
            Type::Version => Some("version"),
            Type::Enum | Type::Integer | Type::Number | Type::Boolean => None,
        };
        visible("description", &input.description, 300)?;
        if (input.of == Type::Enum) == input.values.is_empty() {
            return Err("`values` belong to an enum, and an enum has some".to_owned());
        }
        let is_number = matches!(input.of, Type::Integer | Type::Number);
        if !is_number && (input.min.is_some() || input.max.is_some()) {
            return Err("`min` and `max` belong to numbers".to_owned());
        }
        if !input.list && input.max_items.is_some() {
            return Err("`max-items` belongs to a list".to_owned());
        }
        if input.required && input.default.is_some() {
            return Err("what is required has no default".to_owned());
        }
        let pattern = input.pattern.as_deref().map(|text| {
            let whole = format!("^(?:{text})$");
            let built = regex::RegexBuilder::new(&whole).size_limit(1 << 20).build();
            built.map_err(|e| format!("the pattern is none: {e}"))
        });
        let checked = Self {
            input: input.clone(),
            kind: kind.and_then(ValueKind::parse),
            pattern: pattern.transpose()?,
        };
        if let Some(default) = &input.default {
            checked.check(default, &Place::root()).map_err(|why| format!("its default: {why}"))?;
        }
        Ok(checked)
    }

    /// Fails unless `value` fits.
    pub fn check(&self, value: &Value, place: &Place) -> Result<(), String> {
        if !self.input.list {
            return self.one(value, place);
        }
        let Value::Array(items) = value else { return Err("it is not a list".to_owned()) };
        let most = self.input.max_items.unwrap_or(MAX_ITEMS);
        if items.len() > most as usize {
            return Err(format!("it has {} items, at most {most} are taken", items.len()));
        }
        items
            .iter()
            .enumerate()
            .try_for_each(|(i, item)| self.one(item, place).map_err(|why| format!("item {}: {why}", i + 1)))
    }

    fn one(&self, value: &Value, place: &Place) -> Result<(), String> {
        let within = |n: f64| {
            let (min, max) = (self.input.min, self.input.max);
            #[expect(clippy::cast_precision_loss, reason = "bounds that people write")]
            let fits = min.is_none_or(|m| n >= m as f64) && max.is_none_or(|m| n <= m as f64);
            if fits { Ok(()) } else { Err("it is out of its range".to_owned()) }
        };
        let text = match (self.input.of, value) {
            (Type::Boolean, Value::Bool(_)) => return Ok(()),
            (Type::Boolean, _) => return Err("it is neither true nor false".to_owned()),
            (Type::Integer, value) => {
                return match value.as_i64() {
                    #[expect(clippy::cast_precision_loss, reason = "bounds that people write")]
                    Some(n) => within(n as f64),
                    None => Err("it is not a whole number".to_owned()),
                };
            }
            (Type::Number, value) => {
                return match value.as_f64() {
                    Some(n) if n.is_finite() => within(n),
                    _ => Err("it is not a number".to_owned()),
                };
            }
            (_, Value::String(text)) => text,
            _ => return Err("it is not a text".to_owned()),
        };
        let most = self.input.max_length.unwrap_or(MAX_LENGTH) as usize;
        if text.chars().count() > most {
            return Err(format!("it is longer than {most} characters"));
        }
        match self.input.of {
            Type::Enum if !self.input.values.contains(text) => {
                return Err(format!("it is none of {}", self.input.values.join(", ")));
            }
            Type::Url if !text.starts_with("https://") => return Err("it is no https URL".to_owned()),
            Type::Date if !is_date(text) => return Err("it is no date, such as 2026-11-24".to_owned()),
            _ => {}
        }
        if let Some(kind) = &self.kind {
            kind.check(text, place).map_err(|unfit| unfit.to_string())?;
        }
        match &self.pattern {
            Some(pattern) if !pattern.is_match(text) => {
                Err(format!("it does not match `{}`", self.input.pattern.as_deref().unwrap_or_default()))
            }
            _ => Ok(()),
        }
    }

    /// JSON Schema of it.
    #[must_use]
    pub fn schema(&self) -> Value {
        let input = &self.input;
        let mut one = match input.of {
            Type::Boolean => json!({ "type": "boolean" }),
            Type::Integer => json!({ "type": "integer" }),
            Type::Number => json!({ "type": "number" }),
            Type::Enum => json!({ "type": "string", "enum": input.values }),
            _ => json!({ "type": "string", "maxLength": input.max_length.unwrap_or(MAX_LENGTH) }),
        };
        if let Some(min) = input.min {
            one["minimum"] = min.into();
        }
        if let Some(max) = input.max {
            one["maximum"] = max.into();
        }
        if input.list {
            one = json!({ "type": "array", "items": one, "maxItems": input.max_items.unwrap_or(MAX_ITEMS) });
        }
        one["description"] = input.description.as_str().into();
        if let Some(default) = &input.default {
            one["default"] = default.clone();
        }
        one
    }
}

fn is_date(text: &str) -> bool {
    let number = |part: Option<&str>, digits: usize, most: u32| {
        part.filter(|part| part.len() == digits)
            .and_then(|part| part.parse::<u32>().ok())
            .is_some_and(|n| (1..=most).contains(&n))
    };
    let mut parts = text.split('-');
    number(parts.next(), 4, 9999)
        && number(parts.next(), 2, 12)
        && number(parts.next(), 2, 31)
        && parts.next().is_none()
}

/// Fails unless `text` is something that a person reads: 1 to `most` characters, none of which hides.
pub(crate) fn visible(what: &str, text: &str, most: usize) -> Result<(), String> {
    let count = text.chars().count();
    if text.trim().is_empty() || count > most {
        return Err(format!("{what}: 1 to {most} characters are taken"));
    }
    match text.chars().find(|c| c.is_control() || contract::text::is_deceptive(*c)) {
        Some(hidden) => Err(format!("{what}: it has the hidden character U+{:04X}", u32::from(hidden))),
        None => Ok(()),
    }
}

/// Inputs by name.
pub type Inputs = BTreeMap<String, Checked>;

/// Holds `given` to `inputs`: every value with its default, nothing that is not declared.
pub fn held(
    inputs: &Inputs,
    given: &Map<String, Value>,
    dir: Option<&RelPath>,
) -> Result<Map<String, Value>, String> {
    let place = dir.map_or_else(Place::root, |dir| Place::at(dir.clone()));
    if let Some(unknown) = given.keys().find(|name| !inputs.contains_key(*name)) {
        let known: Vec<&str> = inputs.keys().map(String::as_str).collect();
        return Err(format!("{unknown}: there is no such key; known are: {}", known.join(", ")));
    }
    let mut all = Map::new();
    for (name, input) in inputs {
        match given.get(name).or(input.input.default.as_ref()) {
            Some(value) => {
                input.check(value, &place).map_err(|why| format!("{name}: {why}"))?;
                all.insert(name.clone(), value.clone());
            }
            None if input.input.required => return Err(format!("{name}: it is required")),
            None => {}
        }
    }
    Ok(all)
}
