//! Patterns and paths as sequences: how a pattern is split, and where its parts may stand in a path.

use super::meter::{Meter, PatternError};
use super::part::Part;
use super::subject::Subject;

const SLASH: u16 = b'/' as u16;
const STAR: u16 = b'*' as u16;
const DOT: u16 = b'.' as u16;

/// Sections between `**` that are looked for; with more of them minimatch gives up.
const MAX_SECTIONS: usize = 200;

/// A pattern's parts, with `..` and surplus `**` resolved as far as minimatch does.
pub(super) fn parts(pattern: &[u16], walk: bool) -> Vec<Vec<u16>> {
    let pieces: Vec<&[u16]> = pattern.split(|unit| *unit == SLASH).collect();
    let last = pieces.len() - 1;
    // Slashes in a row are one; the empty parts at both ends stay.
    let kept = pieces.iter().enumerate().filter(|(at, piece)| !piece.is_empty() || *at == 0 || *at == last);
    let parts = kept.map(|(_, piece)| piece.to_vec()).collect();
    if walk { resolved(parts) } else { reduced(parts) }
}

/// Of an ignore rule: `x/..` goes where `x` is a name, `.` stays (and so matches nothing).
fn reduced(parts: Vec<Vec<u16>>) -> Vec<Vec<u16>> {
    let mut out: Vec<Vec<u16>> = Vec::new();
    for part in parts {
        let before = out.last();
        if part == [STAR, STAR] && before.is_some_and(|before| *before == [STAR, STAR]) {
            continue;
        }
        if part == [DOT, DOT] && before.is_some_and(|before| is_name(before)) {
            out.pop();
            continue;
        }
        out.push(part);
    }
    if out.is_empty() { vec![Vec::new()] } else { out }
}

/// Of a pattern that a tree is walked by: `.` goes as well.
fn resolved(parts: Vec<Vec<u16>>) -> Vec<Vec<u16>> {
    let last = parts.len().saturating_sub(1);
    let mut out: Vec<Vec<u16>> = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let idle = part.is_empty() || part == [DOT];
        if idle && index > 0 && (index < last || (out.len() == 1 && out.first().is_some_and(|p| *p == [DOT])))
        {
            continue;
        }
        let before = out.last();
        if part == [STAR, STAR] && before.is_some_and(|before| *before == [STAR, STAR]) {
            continue;
        }
        if part == [DOT, DOT] && before.is_some_and(|before| is_name(before)) {
            out.pop();
            continue;
        }
        out.push(part);
    }
    if out.is_empty() { vec![vec![DOT]] } else { out }
}

/// Whether a part is none of those that `..` does not take away.
fn is_name(part: &[u16]) -> bool {
    !part.is_empty() && part != [DOT] && part != [DOT, DOT] && part != [STAR, STAR]
}

/// Whether a path fits the parts, or, partially, their beginning.
pub(super) fn matches(
    path: Subject<'_>,
    parts: &[Part],
    partial: bool,
    meter: &Meter,
) -> Result<bool, PatternError> {
    let Some(first) = parts.iter().position(Part::is_globstar) else {
        return straight(path, parts, partial, meter);
    };
    let head = parts.get(..first).unwrap_or_default();
    if partial {
        // Once `**` is reached, anything may follow.
        let fits = path.len().min(head.len());
        return run_of(path, 0, head.get(..fits).unwrap_or_default(), meter);
    }
    if path.len() < head.len() || !run_of(path, 0, head, meter)? {
        return Ok(false);
    }
    let rest = parts.get(first + 1..).unwrap_or_default();
    let mut sections: Vec<&[Part]> = rest.split(Part::is_globstar).collect();
    let tail = sections.pop().unwrap_or_default();
    let Some(end) = tail_at(path, head.len(), tail, meter)? else { return Ok(false) };
    let Some(after) = sections_at(path, head.len(), end, &sections, meter)? else { return Ok(false) };
    // `**` at the end needs something to stand for.
    Ok(end < path.len() || after < path.len())
}

/// Whether all parts fit the names from a place on.
fn run_of(path: Subject<'_>, from: usize, parts: &[Part], meter: &Meter) -> Result<bool, PatternError> {
    if from + parts.len() > path.len() {
        return Ok(false);
    }
    for (index, part) in parts.iter().enumerate() {
        if !part.fits(path.at(from + index), meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Without `**`: one name for each part; a slash at the path's end may be left over.
fn straight(path: Subject<'_>, parts: &[Part], partial: bool, meter: &Meter) -> Result<bool, PatternError> {
    let both = path.len().min(parts.len());
    if !run_of(path, 0, parts.get(..both).unwrap_or_default(), meter)? {
        return Ok(false);
    }
    Ok(match path.len().cmp(&parts.len()) {
        std::cmp::Ordering::Equal => true,
        std::cmp::Ordering::Less => partial,
        std::cmp::Ordering::Greater => path.len() == parts.len() + 1 && path.at(both).units.is_empty(),
    })
}

/// Where the parts behind the last `**` begin in the path; a slash at the path's end may be left over.
fn tail_at(
    path: Subject<'_>,
    from: usize,
    tail: &[Part],
    meter: &Meter,
) -> Result<Option<usize>, PatternError> {
    if tail.is_empty() {
        return Ok(Some(path.len()));
    }
    let Some(start) = path.len().checked_sub(tail.len()).filter(|start| *start >= from) else {
        return Ok(None);
    };
    if run_of(path, start, tail, meter)? {
        return Ok(Some(start));
    }
    let spare = path.at(path.len() - 1).units.is_empty() && start > from;
    if spare && run_of(path, start - 1, tail, meter)? { Ok(Some(start - 1)) } else { Ok(None) }
}

/// Where the last section ends when each is placed as far left as it goes, in order.
fn sections_at(
    path: Subject<'_>,
    from: usize,
    end: usize,
    sections: &[&[Part]],
    meter: &Meter,
) -> Result<Option<usize>, PatternError> {
    if sections.len() > MAX_SECTIONS {
        return Ok(None);
    }
    let mut at = from;
    for (index, section) in sections.iter().enumerate() {
        // minimatch reserves room for as many sections as still come, but measures the first ones instead of the last. What it
        // misses by that is missed here too.
        let coming = sections.len() - 1 - index;
        let reserved: usize = sections.iter().take(coming).map(|section| section.len()).sum();
        let Some(last) = end.checked_sub(reserved + section.len()) else { return Ok(None) };
        loop {
            if at > last {
                return Ok(None);
            }
            meter.spend(1)?;
            if run_of(path, at, section, meter)? {
                break;
            }
            at += 1;
        }
        at += section.len();
    }
    Ok(Some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pattern: &str, walk: bool) -> Vec<String> {
        let units: Vec<u16> = pattern.encode_utf16().collect();
        parts(&units, walk).iter().map(|part| String::from_utf16(part).unwrap()).collect()
    }

    #[test]
    fn slashes_in_a_row_are_one() {
        assert_eq!(shown("a//b///c", false), ["a", "b", "c"]);
        assert_eq!(shown("//a//", false), ["", "a", ""]);
        assert_eq!(shown("/", false), ["", ""]);
        assert_eq!(shown("", false), [""]);
        assert_eq!(shown("//", false), ["", ""]);
    }

    #[test]
    fn names_before_dots_go_and_dots_stay() {
        assert_eq!(shown("a/../b", false), ["b"]);
        assert_eq!(shown("./a", false), [".", "a"]);
        assert_eq!(shown("a/..", false), [""]);
        assert_eq!(shown("../a", false), ["..", "a"]);
        assert_eq!(shown("a/**/**/b", false), ["a", "**", "b"]);
    }

    #[test]
    fn a_walk_resolves_dots_too() {
        assert_eq!(shown("./a/./b", true), [".", "a", "b"]);
        assert_eq!(shown("a/../b", true), ["b"]);
        assert_eq!(shown("a/.", true), ["a", "."]);
        assert_eq!(shown("a/", true), ["a", ""]);
        assert_eq!(shown("./", true), ["."]);
    }
}
