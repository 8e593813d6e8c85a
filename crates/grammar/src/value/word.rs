//! Numbers, durations, names and texts.

use std::ops::RangeInclusive;

use contract::text::is_deceptive;

use super::{Fits, Unfit};

/// Longest regular expression, in bytes.
pub(crate) const MAX_REGEX: usize = 1000;

/// Longest name, in bytes.
pub(super) const MAX_NAME: usize = 200;

pub(super) fn hidden(c: char) -> bool {
    c.is_control() || is_deceptive(c)
}

pub(super) fn plain(value: &str) -> Fits {
    match value.chars().find(|c| hidden(*c)) {
        Some(c) => Err(Unfit::Hidden(u32::from(c))),
        None => Ok(()),
    }
}

pub(super) fn int(value: &str, range: &RangeInclusive<i64>) -> Fits {
    let wrong = Unfit::Number(*range.start(), *range.end());
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong);
    }
    match value.parse() {
        Ok(number) if range.contains(&number) => Ok(()),
        _ => Err(wrong),
    }
}

pub(super) fn number(value: &str) -> Fits {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
    let digits =
        |text: &str| !text.is_empty() && text.len() <= 12 && text.bytes().all(|b| b.is_ascii_digit());
    if digits(whole) && digits(fraction) { Ok(()) } else { Err(Unfit::Form("is not a decimal number")) }
}

pub(super) fn duration(value: &str) -> Fits {
    let wrong = || Unfit::Form("is not a duration such as `30s`, `1m30s` or `500ms`");
    if value.is_empty() || value.len() > 40 {
        return Err(wrong());
    }
    let mut rest = value;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (count, tail) = rest.split_at_checked(end).ok_or_else(wrong)?;
        number(count).map_err(|_| wrong())?;
        let unit = ["ns", "us", "µs", "ms", "s", "m", "h", "d"]
            .into_iter()
            .find(|u| tail.starts_with(u) && !longer(u, tail));
        rest = match unit {
            Some(unit) => tail.strip_prefix(unit).unwrap_or_default(),
            // A bare number is the whole value.
            None if tail.is_empty() && rest.len() == value.len() => "",
            None => return Err(wrong()),
        };
    }
    Ok(())
}

/// `m` before `s` is the first letter of `ms`.
fn longer(unit: &str, tail: &str) -> bool {
    unit == "m" && tail.starts_with("ms")
}

pub(super) fn line(value: &str) -> Fits {
    plain(value)
}

pub(super) fn regex(value: &str) -> Fits {
    if value.len() > MAX_REGEX {
        return Err(Unfit::TooLong(MAX_REGEX));
    }
    plain(value)
}

/// Without anything that a shell acts on, wildcards apart: they stay inside where their path does.
pub(super) fn shell_safe(value: &str) -> Fits {
    plain(value)?;
    match value.chars().find(|c| ";&|<>$`\"'\\()!".contains(*c)) {
        Some(c) => Err(Unfit::Character(c)),
        None if value.starts_with(['~', '#', '-']) => Err(Unfit::Form("begins with `~`, `#` or `-`")),
        None => Ok(()),
    }
}

fn named(value: &str, extra: &str) -> Fits {
    if value.is_empty() {
        return Err(Unfit::Empty);
    }
    if value.len() > MAX_NAME {
        return Err(Unfit::TooLong(MAX_NAME));
    }
    if value.starts_with('-') {
        return Err(Unfit::Character('-'));
    }
    match value.chars().find(|c| !c.is_ascii_alphanumeric() && !extra.contains(*c)) {
        Some(c) if hidden(c) => Err(Unfit::Hidden(u32::from(c))),
        Some(c) => Err(Unfit::Character(c)),
        None => Ok(()),
    }
}

pub(super) fn identifier(value: &str) -> Fits {
    named(value, "_.:-")
}

pub(super) fn word(value: &str) -> Fits {
    named(value, "_.:-/@+*,")?;
    if value.starts_with('/') || value.contains("://") {
        return Err(Unfit::Absolute);
    }
    if value.split('/').any(|part| part == "..") {
        return Err(Unfit::Leaves);
    }
    Ok(())
}

pub(super) fn selector(value: &str) -> Fits {
    named(value.strip_prefix(['-', '+', '!', '^']).unwrap_or(value), "_.:-*/")
}

pub(super) fn setting(value: &str) -> Fits {
    let (name, set) = value.split_once('=').ok_or(Unfit::Form("is not `name=value`"))?;
    identifier(name).and_then(|()| identifier(set))
}

pub(super) fn percent(value: &str) -> Fits {
    match value.strip_suffix('%') {
        Some(number) => int(number, &(1..=100)),
        None => Err(Unfit::Form("is not a percentage such as `50%`")),
    }
}

pub(super) fn fraction(value: &str) -> Fits {
    let range = 1..=10_000;
    match value.split_once('/') {
        Some((part, whole)) if int(part, &range).is_ok() && int(whole, &range).is_ok() => Ok(()),
        _ => Err(Unfit::Form("is not a part such as `1/3`")),
    }
}

/// Configuration as text may extend another file by name, which would be read from anywhere.
pub(super) fn yamllint_data(value: &str) -> Fits {
    const BUILT_IN: [&str; 3] = ["default", "relaxed", "empty"];
    plain(value)?;
    if !value.contains(':') {
        let named = BUILT_IN.contains(&value);
        return if named { Ok(()) } else { Err(Unfit::NotOneOf(BUILT_IN.join(", "))) };
    }
    // What could spell the key in another way.
    if let Some(c) = value.chars().find(|c| "\\&*!?|>%@`".contains(*c)) {
        return Err(Unfit::Character(c));
    }
    for after in value.split("extends").skip(1) {
        let name: String = after
            .trim_start_matches(['"', '\'', ' ', ':'])
            .chars()
            .take_while(|c| !" ,}\"'".contains(*c))
            .collect();
        if !BUILT_IN.contains(&name.as_str()) {
            return Err(Unfit::NotOneOf(BUILT_IN.join(", ")));
        }
    }
    Ok(())
}

pub(super) fn version(value: &str) -> Fits {
    let bare = value.trim_start_matches(['>', '<', '=', '~', '^', '!']);
    if value.len() - bare.len() > 2 {
        return Err(Unfit::Form("is not a version such as `1.2.3`"));
    }
    named(bare, "._+*-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_gos_or_a_number() {
        for good in ["10s", "1m30s", "500ms", "1h", "0", "30", "1.5s", "2h45m", "100us"] {
            assert!(duration(good).is_ok(), "{good}");
        }
        for bad in ["", "s", "10x", "1 s", "-1s", "1s2", "1..5s", "10sm0", "٣s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn integers_are_plain_and_in_range() {
        for good in ["0", "16", "-1"] {
            assert!(int(good, &(-1..=16)).is_ok(), "{good}");
        }
        for bad in ["17", "", "-", "+1", "1e3", "0x10", "99999999999999999999", "１"] {
            assert!(int(bad, &(-1..=16)).is_err(), "{bad}");
        }
    }

    #[test]
    fn small_kinds_are_what_they_say() {
        assert!(percent("50%").is_ok() && percent("0%").is_err() && percent("50").is_err());
        assert!(fraction("1/3").is_ok() && fraction("1/").is_err() && fraction("../3").is_err());
        assert!(selector("-ST1000").is_ok() && selector("--x").is_err() && selector("^!x").is_err());
        assert!(shell_safe("a b/c*.js").is_ok());
        for bad in ["a;b", "$(x)", "`x`", "a|b", "a'b", "~x", "-x", "a\nb", "(x)"] {
            assert!(shell_safe(bad).is_err(), "{bad}");
        }
        for good in ["relaxed", "{extends: default, rules: {line-length: disable}}", "extends: 'empty'"] {
            assert!(yamllint_data(good).is_ok(), "{good}");
        }
        for bad in
            ["/etc/passwd", "{extends: /etc/passwd}", "{\"ext\\x65nds\": x}", "a: *b", "extends: defaultx"]
        {
            assert!(yamllint_data(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_ascii_and_do_not_leave() {
        assert!(
            identifier("acc.feature-x_1").is_ok() && word("@scope/name").is_ok() && version(">=18").is_ok()
        );
        for bad in ["", "-x", "a b", "аdmin", "a;b", "a\u{200b}b"] {
            assert!(identifier(bad).is_err() && word(bad).is_err(), "{bad}");
        }
        assert!(word("a/../../b").is_err() && word("/etc").is_err() && word("http://x").is_err());
    }
}
