//! Values of the engine as JSON. The engine knows more than JSON has: not-a-number and infinities become what jq makes of them;
//! byte strings, and keys that are no strings, are refused.

use jaq_json::{Num, Val};
use serde_json::{Map, Number, Value};

use crate::limits;
use crate::talk::Style;

/// Why a value is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotJson {
    #[error("a result nests deeper than {depth}", depth = limits::DEPTH)]
    Deep,
    #[error("a result holds bytes, which JSON has none of: `tostring` makes text of them")]
    Bytes,
    #[error("a result has a key that is no string, which JSON has none of: `tostring` makes one of it")]
    Key,
}

/// The engine's form of a value.
pub(crate) fn val(value: &Value) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(is) => Val::Bool(*is),
        Value::Number(number) => Val::Num(
            // As it is written: integers of any size stay exact.
            number
                .as_i64()
                .and_then(|small| isize::try_from(small).ok())
                .map(Num::Int)
                .or_else(|| number.is_u64().then(|| Num::from_str_radix(&number.to_string(), 10)).flatten())
                .unwrap_or_else(|| Num::Float(number.as_f64().unwrap_or(f64::NAN))),
        ),
        Value::String(text) => Val::utf8_str(text.clone()),
        Value::Array(items) => items.iter().map(val).collect(),
        Value::Object(map) => {
            Val::obj(map.iter().map(|(key, value)| (Val::utf8_str(key.clone()), val(value))).collect())
        }
    }
}

/// A value as JSON.
pub(crate) fn value(val: &Val) -> Result<Value, NotJson> {
    below(val, limits::DEPTH)
}

fn below(val: &Val, most: usize) -> Result<Value, NotJson> {
    let deeper = || most.checked_sub(1).ok_or(NotJson::Deep);
    Ok(match val {
        Val::Null => Value::Null,
        Val::Bool(is) => Value::Bool(*is),
        Val::Num(number) => self::number(number),
        Val::TStr(text) => Value::String(String::from_utf8_lossy(text).into_owned()),
        Val::BStr(_) => return Err(NotJson::Bytes),
        Val::Arr(items) => {
            let most = deeper()?;
            Value::Array(items.iter().map(|item| below(item, most)).collect::<Result<_, _>>()?)
        }
        Val::Obj(entries) => {
            let most = deeper()?;
            let mut map = Map::new();
            for (key, value) in entries.iter() {
                map.insert(self::key(key)?, below(value, most)?);
            }
            Value::Object(map)
        }
    })
}

fn key(key: &Val) -> Result<String, NotJson> {
    match key {
        Val::TStr(text) => Ok(String::from_utf8_lossy(text).into_owned()),
        _ => Err(NotJson::Key),
    }
}

/// Whole numbers as such; what is none becomes `null`, and what is too large the largest there is.
fn number(number: &Num) -> Value {
    /// Up to here every whole number has a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = match number {
        Num::Int(int) => return Value::from(*int as i64),
        Num::BigInt(big) => match big.to_string().parse::<u64>() {
            Ok(int) => return Value::from(int),
            Err(_) => big.to_string().parse().unwrap_or(f64::NAN),
        },
        Num::Float(float) => *float,
        Num::Dec(text) => text.parse().unwrap_or(f64::NAN),
    };
    if float.fract() == 0.0 && float.abs() <= EXACT {
        #[allow(clippy::cast_possible_truncation, reason = "whole, and in range")]
        return Value::from(float as i64);
    }
    let finite = if float.is_infinite() { f64::MAX.copysign(float) } else { float };
    Number::from_f64(finite).map_or(Value::Null, Value::Number)
}

/// Writes a value that [`value`] took, with a line's end.
pub(crate) fn write(out: &mut String, val: &Val, style: Style) -> Result<(), NotJson> {
    match val {
        Val::TStr(text) if style.raw => out.push_str(&String::from_utf8_lossy(text)),
        _ => written(out, val, style, 0)?,
    }
    out.push('\n');
    Ok(())
}

fn written(out: &mut String, val: &Val, style: Style, level: usize) -> Result<(), NotJson> {
    match val {
        Val::Arr(items) if !items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                begun(out, style, level + 1, at);
                written(out, item, style, level + 1)?;
            }
            ended(out, style, level);
            out.push(']');
        }
        Val::Obj(entries) if !entries.is_empty() => {
            let mut named = Vec::with_capacity(entries.len());
            for (key, value) in entries.iter() {
                named.push((self::key(key)?, value));
            }
            if style.sort_keys {
                named.sort_by(|(a, _), (b, _)| a.cmp(b));
            }
            out.push('{');
            for (at, (key, value)) in named.into_iter().enumerate() {
                begun(out, style, level + 1, at);
                out.push_str(&Value::String(key).to_string());
                out.push_str(if style.compact { ":" } else { ": " });
                written(out, value, style, level + 1)?;
            }
            ended(out, style, level);
            out.push('}');
        }
        scalar => out.push_str(&below(scalar, 1)?.to_string()),
    }
    Ok(())
}

fn begun(out: &mut String, style: Style, level: usize, at: usize) {
    if at > 0 {
        out.push(',');
    }
    ended(out, style, level);
}

fn ended(out: &mut String, style: Style, level: usize) {
    if !style.compact {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    }
}
