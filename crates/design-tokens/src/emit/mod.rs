//! Output: the same tokens as CSS, SCSS, JavaScript and a page to look at. Byte-stable.

mod css;
mod js;
mod preview;
mod scss;
mod text;

use crate::compile::Compiled;
use crate::options::Options;
use crate::resolve::Token;
use crate::value::{Slot, Value};

pub use preview::preview;
pub(crate) use scss::variable as scss_variable;
pub(crate) use text::css_text;
pub use text::css_value;

/// What to build for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// Custom properties.
    Css,
    /// An ES module with types.
    Js,
    /// Variables and maps.
    Scss,
}

impl Platform {
    /// As the tool's input spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Css => "css",
            Self::Js => "js",
            Self::Scss => "scss",
        }
    }
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its name, without a folder.
    pub name: String,
    /// What is in it.
    pub text: String,
}

pub(crate) fn emit(
    compiled: &Compiled,
    platform: Platform,
    options: &Options,
) -> Result<Vec<Output>, String> {
    let name = |extension: &str| format!("{}.{extension}", options.file);
    Ok(match platform {
        Platform::Css => vec![Output { name: name("css"), text: css::stylesheet(compiled, options) }],
        Platform::Scss => vec![Output { name: name("scss"), text: scss::stylesheet(compiled, options) }],
        Platform::Js => {
            let mut outputs = vec![
                Output { name: name("js"), text: js::module(compiled, options) },
                Output { name: name("d.ts"), text: js::types(compiled, options) },
            ];
            if options.json {
                let text = js::json(compiled, options).map_err(|e| e.to_string())?;
                outputs.push(Output { name: name("json"), text });
            }
            outputs
        }
    })
}

/// Every name that a token takes up: composites have parts beside the whole.
pub(crate) fn names_of(name: &str, value: &Value) -> Vec<String> {
    let mut names = Vec::with_capacity(1);
    match value {
        Value::Typography(t) => {
            if t.family.is_some() && t.size.is_some() {
                names.push(name.to_owned());
            }
            for (part, there) in [
                ("font-family", t.family.is_some()),
                ("font-size", t.size.is_some()),
                ("font-weight", t.weight.is_some()),
                ("letter-spacing", t.letter_spacing.is_some()),
                ("line-height", t.line_height.is_some()),
            ] {
                if there {
                    names.push(format!("{name}-{part}"));
                }
            }
        }
        _ => names.push(name.to_owned()),
    }
    names
}

/// Calls `each` with every token that `token` refers to.
pub(crate) fn references(token: &Token, each: &mut dyn FnMut(&str)) {
    fn slot<T>(slot: &Slot<T>, each: &mut dyn FnMut(&str)) {
        if let Some(id) = &slot.alias {
            each(id);
        }
    }
    if let Some(id) = &token.alias {
        each(id);
        return;
    }
    match &token.value {
        Value::Border(b) => {
            slot(&b.color, each);
            slot(&b.width, each);
            slot(&b.style, each);
        }
        Value::Transition(t) => {
            slot(&t.duration, each);
            slot(&t.delay, each);
            slot(&t.timing, each);
        }
        Value::Shadow(layers) => {
            for layer in layers {
                slot(layer, each);
                for length in [&layer.value.x, &layer.value.y, &layer.value.blur, &layer.value.spread] {
                    slot(length, each);
                }
                slot(&layer.value.color, each);
            }
        }
        Value::Gradient(stops) => {
            for stop in stops {
                slot(&stop.color, each);
                slot(&stop.position, each);
            }
        }
        Value::Typography(t) => {
            t.family.iter().for_each(|s| slot(s, each));
            t.size.iter().for_each(|s| slot(s, each));
            t.weight.iter().for_each(|s| slot(s, each));
            t.letter_spacing.iter().for_each(|s| slot(s, each));
            t.line_height.iter().for_each(|s| slot(s, each));
        }
        Value::Text(parts) => {
            for part in parts {
                if let crate::value::Part::Token(id, _) = part {
                    each(id);
                }
            }
        }
        _ => {}
    }
}
