//! Secrets in what is packed.

use kit::ReadDesk;
use packaging::{Check, Packed, Severity};

use crate::secrets::{is_by_shape, is_configuration};

/// A file is looked through in pieces of about so many bytes, cut between lines where there are lines.
const PIECE: usize = 1 << 20;

/// How much of a piece without lines is looked at again with the next: no secret is longer.
const OVERLAP: usize = 4 << 10;

/// How many places a check names.
const NAMED: usize = 10;

/// A file's text: what is not UTF-8 is read as far as it is, and UTF-16 as its mark says.
fn text(bytes: &[u8]) -> String {
    let wide = |of: fn([u8; 2]) -> u16| {
        let units = bytes.get(2..).unwrap_or_default().as_chunks::<2>().0.iter().map(|pair| of(*pair));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The pieces of a text, each with the number of lines before it.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut at, mut lines) = (0, 0);
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let mut end = rest.floor_char_boundary(PIECE.min(rest.len()));
        let mut next = end;
        if end < rest.len() {
            match rest.get(..end).and_then(|piece| piece.rfind('\n')) {
                Some(line) => (end, next) = (line + 1, line + 1),
                None => next = rest.floor_char_boundary(end - OVERLAP),
            }
        }
        let piece = rest.get(..end)?;
        let before = lines;
        at += next;
        lines += rest.get(..next).map_or(0, |passed| passed.matches('\n').count());
        Some((before, piece))
    })
}

/// Looks through what is packed.
pub(crate) fn check(ecosystem: &str, packed: &Packed, desk: &ReadDesk) -> Check {
    let id = format!("{ecosystem}.secrets");
    let (mut found, mut weak) = (Vec::new(), Vec::new());
    for (path, file) in packed.iter() {
        for (lines, piece) in pieces(&text(&file.bytes)) {
            look(path, lines, piece, &desk.cleaned(piece), (&mut found, &mut weak));
        }
    }
    for places in [&mut found, &mut weak] {
        places.dedup();
    }
    let (places, severity, detail) = if !found.is_empty() {
        let detail = format!("{} places hold what looks like a credential", found.len());
        (found, Severity::Error, detail)
    } else if !weak.is_empty() {
        let detail = format!("{} places give a value to something that is called a secret", weak.len());
        (weak, Severity::Warning, detail)
    } else {
        return Check::passed(id, "nothing looks like a credential");
    };
    let mut check = Check::failed(id, severity, detail)
        .fix("Take it out, and revoke what was ever in a repository or a package.");
    check.files = places.into_iter().take(NAMED).collect();
    check
}

/// Notes where `clean` differs from `text`, whose first line is the `lines + 1`th of its file.
fn look(
    path: &str,
    lines: usize,
    text: &str,
    clean: &str,
    (found, weak): (&mut Vec<String>, &mut Vec<String>),
) {
    if clean == text {
        return;
    }
    // A key of several lines becomes one: what follows it stands elsewhere, and is not compared.
    let same_lines = text.lines().count() == clean.lines().count();
    for (number, (before, after)) in text.lines().zip(clean.lines()).enumerate() {
        if before == after {
            continue;
        }
        let place = format!("{path}:{}", lines + number + 1);
        if is_by_shape(after) {
            found.push(place);
        } else if is_configuration(path) {
            weak.push(place);
        }
        if !same_lines {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_seen_whole_and_its_lines_are_counted() {
        let long = format!("{}secret\n", "a line of some length\n".repeat(200_000));
        let all: Vec<(usize, &str)> = pieces(&long).collect();
        assert!(all.len() > 3);
        assert_eq!(all.iter().map(|(_, piece)| *piece).collect::<String>(), long);
        let (lines, last) = all.last().unwrap();
        assert_eq!(lines + last.lines().count(), 200_001);
        // Without lines every place of the length of a secret is whole in some piece.
        let flat = format!("{}secret{}", "ä".repeat(PIECE / 2 - 1), "x".repeat(PIECE));
        assert!(pieces(&flat).any(|(_, piece)| piece.contains("secret")));
        assert_eq!(pieces("").count(), 0);
    }

    #[test]
    fn text_is_read_in_whatever_it_was_written() {
        let wide: Vec<u8> =
            [0xff, 0xfe].into_iter().chain("ghp_x".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(text(&wide), "ghp_x");
        assert!(text(b"\0\xff\xfeghp_x").contains("ghp_x"));
    }
}
