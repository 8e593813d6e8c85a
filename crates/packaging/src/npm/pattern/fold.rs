//! Letters' cases as JavaScript's regular expressions compare them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A unit for comparison under `i` without `u`: upper case where that is one unit, and not an ASCII one for a letter outside ASCII.
/// Source: ECMA-262, *Canonicalize*.
pub(super) fn unit(unit: u16) -> u16 {
    if unit < 128 {
        return if (97..=122).contains(&unit) { unit - 32 } else { unit };
    }
    let Some(letter) = char::from_u32(u32::from(unit)) else { return unit };
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => u16::try_from(u32::from(one)).ok().filter(|one| *one >= 128).unwrap_or(unit),
        _ => unit,
    }
}

/// A code point for comparison under `iu`. Source: ECMA-262, *Canonicalize*, which takes Unicode's simple folding; lower case of upper
/// case is that, but for a handful of letters that no file name has.
pub(super) fn point(point: u32) -> u32 {
    let Some(letter) = char::from_u32(point) else { return point };
    let one = |mut cased: Box<dyn Iterator<Item = char>>| match (cased.next(), cased.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    };
    let upper = one(Box::new(letter.to_uppercase())).unwrap_or(letter);
    one(Box::new(upper.to_lowercase())).map_or(point, u32::from)
}

/// Units that compare the same, by what they are compared as, where there is more than one.
static SAME: LazyLock<BTreeMap<u16, Vec<u16>>> = LazyLock::new(|| {
    let mut all: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for of in 0..=u16::MAX {
        all.entry(unit(of)).or_default().push(of);
    }
    all.retain(|_, same| same.len() > 1);
    all
});

/// Whether something is true of a unit or of one that compares the same.
pub(super) fn any_case(of: u16, holds: impl Fn(u16) -> bool) -> bool {
    holds(of) || SAME.get(&unit(of)).is_some_and(|same| same.iter().any(|case| holds(*case)))
}
