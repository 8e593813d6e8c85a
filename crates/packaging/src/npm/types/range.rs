//! Which version ranges hold for the TypeScript that is asked (§3.4, rule 6).
//!
//! `typesVersions` and `types@<range>` are tested as TypeScript tests them, not as npm does: a prerelease is a plain
//! version before its release.

use std::cmp::Ordering;

/// The version that ranges are tested with: 5.6.1-rc, as in @arethetypeswrong/core 0.18.5.
const TESTED: Version = Version { numbers: [5, 6, 1], pre: Pre::Word };

/// What stands behind the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pre {
    /// `-0`, before every other prerelease.
    Zero,
    /// A prerelease that comes after `-0` and before `-rc`.
    Before,
    /// `-rc`.
    Word,
    /// A prerelease after `-rc`.
    After,
    /// A release.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    numbers: [u64; 3],
    pre: Pre,
}

impl Version {
    const fn new(numbers: [u64; 3]) -> Self {
        Self { numbers, pre: Pre::None }
    }

    /// The next version that differs in this number: 0 the major one, 1 the minor one, 2 the patch.
    fn next(self, number: usize) -> Self {
        let [major, minor, patch] = self.numbers;
        Self::new(match number {
            0 => [major.saturating_add(1), 0, 0],
            1 => [major, minor.saturating_add(1), 0],
            _ => [major, minor, patch.saturating_add(1)],
        })
    }

    fn before(self) -> Self {
        Self { pre: Pre::Zero, ..self }
    }

    /// How the tested version stands to this one.
    fn tested(self) -> Ordering {
        TESTED.numbers.cmp(&self.numbers).then_with(|| (TESTED.pre as u8).cmp(&(self.pre as u8)))
    }
}

/// Whether a range holds for the tested version; `None` when it is no range.
pub(super) fn holds(range: &str) -> Option<bool> {
    let mut any = false;
    let mut empty = true;
    for alternative in range.trim().split("||") {
        if alternative.is_empty() {
            continue;
        }
        empty = false;
        any |= alternative_holds(alternative.trim())?;
    }
    Some(any || empty)
}

fn alternative_holds(text: &str) -> Option<bool> {
    if let Some(answer) = hyphen(text) {
        return answer;
    }
    let mut all = true;
    // Every part is read even when one has failed: a part that is no comparator makes the whole no range.
    for part in text.split(char::is_whitespace).filter(|part| !part.is_empty()) {
        all &= comparator(part)?;
    }
    (!text.is_empty()).then_some(all)
}

/// `1.2 - 3.4`: `None` when the text has not this form.
#[expect(
    clippy::option_option,
    reason = "another form, and a range of this form that is none, are two answers"
)]
fn hyphen(text: &str) -> Option<Option<bool>> {
    let (left, right) = text.split_once(" - ").or_else(|| text.split_once("\t-\t"))?;
    let (left, right) = (left.trim(), right.trim());
    let plain = |side: &str| !side.is_empty() && side.chars().all(partial_char);
    if !plain(left) || !plain(right) {
        return None;
    }
    Some(match (partial(left), partial(right)) {
        (Some(left), Some(right)) => {
            let above = left.wild[0] || left.version.tested().is_ge();
            let below = if right.wild[0] {
                true
            } else if right.wild[1] {
                right.version.next(0).tested().is_lt()
            } else if right.wild[2] {
                right.version.next(1).tested().is_lt()
            } else {
                right.version.tested().is_le()
            };
            Some(above && below)
        }
        _ => None,
    })
}

fn partial_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '*')
}

fn comparator(text: &str) -> Option<bool> {
    let length = if text.starts_with("<=") || text.starts_with(">=") {
        2
    } else {
        usize::from(text.starts_with(['~', '^', '<', '>', '=']))
    };
    let (operator, rest) = text.split_at(length);
    let Partial { version, wild: [major, minor, patch] } = partial(rest)?;
    if major {
        return Some(!matches!(operator, "<" | ">"));
    }
    Some(match operator {
        "~" => version.tested().is_ge() && version.next(usize::from(!minor)).tested().is_lt(),
        "^" => {
            let number = if version.numbers[0] > 0 || minor {
                0
            } else if version.numbers[1] > 0 || patch {
                1
            } else {
                2
            };
            version.tested().is_ge() && version.next(number).tested().is_lt()
        }
        "<" if minor || patch => version.before().tested().is_lt(),
        "<" => version.tested().is_lt(),
        ">=" if minor || patch => version.before().tested().is_ge(),
        ">=" => version.tested().is_ge(),
        "<=" if minor || patch => version.next(usize::from(!minor)).before().tested().is_lt(),
        "<=" => version.tested().is_le(),
        ">" if minor || patch => version.next(usize::from(!minor)).before().tested().is_ge(),
        ">" => version.tested().is_gt(),
        _ if minor || patch => {
            version.before().tested().is_ge() && version.next(usize::from(!minor)).before().tested().is_lt()
        }
        _ => version.tested().is_eq(),
    })
}

struct Partial {
    version: Version,
    /// Whether the major, minor and patch numbers are open.
    wild: [bool; 3],
}

/// `1`, `1.2`, `1.x`, `1.2.3-alpha`: numbers may be open or absent.
fn partial(text: &str) -> Option<Partial> {
    let (text, build) = match text.split_once('+') {
        Some((text, build)) => (text, Some(build)),
        None => (text, None),
    };
    let (numbers, pre) = match text.split_once('-') {
        Some((numbers, pre)) => (numbers, Some(pre)),
        None => (text, None),
    };
    let mut values = [0; 3];
    let mut wild = [true; 3];
    let mut count = 0;
    for part in numbers.split('.') {
        let (value, open) = (values.get_mut(count)?, wild.get_mut(count)?);
        *open = matches!(part, "*" | "x" | "X");
        if !*open {
            *value = number(part)?;
        }
        count += 1;
    }
    // Only a version with three numbers has a prerelease or a build.
    if build.is_some_and(|build| build.is_empty() || count < 3) {
        return None;
    }
    let pre = match pre {
        Some(_) if count < 3 => return None,
        Some(pre) => prerelease(pre)?,
        None => Pre::None,
    };
    if wild[0] {
        values = [0; 3];
    } else if wild[1] {
        values = [values[0], 0, 0];
    }
    Some(Partial { version: Version { numbers: values, pre }, wild })
}

fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain && !text.is_empty() { Some(text.parse().unwrap_or(u64::MAX)) } else { None }
}

fn prerelease(text: &str) -> Option<Pre> {
    let mut parts = text.split('.');
    let first = parts.next().filter(|part| !part.is_empty())?;
    let more = parts.clone().count() > 0;
    if parts.any(str::is_empty) {
        return None;
    }
    Some(match first {
        "0" if !more => Pre::Zero,
        _ if number(first).is_some() => Pre::Before,
        _ => match first.cmp("rc") {
            Ordering::Less => Pre::Before,
            Ordering::Equal if more => Pre::After,
            Ordering::Equal => Pre::Word,
            Ordering::Greater => Pre::After,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn ranges_hold_as_typescript_says() {
        // Seen: each was asked of TypeScript 5.6.1-rc's own test of ranges.
        for (range, expected) in [
            ("*", Some(true)),
            ("", Some(true)),
            (">=5.6", Some(true)),
            (">=5.6.1", Some(false)),
            (">=5.6.1-beta", Some(true)),
            (">=5.6.1-rc", Some(true)),
            (">=5.6.1-rc.1", Some(false)),
            ("<4.0", Some(false)),
            ("<=5.6", Some(true)),
            ("<=5", Some(true)),
            ("<=5.5", Some(false)),
            (">5", Some(false)),
            (">5.5", Some(true)),
            ("5", Some(true)),
            ("5.6", Some(true)),
            ("5.6.1", Some(false)),
            ("=5.6.x", Some(true)),
            ("~5.6", Some(true)),
            ("~5.5", Some(false)),
            ("^5.1", Some(true)),
            ("^4", Some(false)),
            ("4.2 - 5.6", Some(true)),
            ("4.2 - 5.5", Some(false)),
            (">=3.1 <4 || >=5", Some(true)),
            (">x", Some(false)),
            ("latest", None),
            ("ts5.6", None),
            ("05", None),
            ("5.6.1.2", None),
            ("5.x.1", Some(true)),
            ("5.6.1+a", Some(false)),
            ("5.6+a", None),
            ("5.6.1-", None),
            ("||", Some(true)),
            ("a || *", None),
            (">= 5", None),
        ] {
            assert_eq!(holds(range), expected, "{range}");
        }
    }
}
