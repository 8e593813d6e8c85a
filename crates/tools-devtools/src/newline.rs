//! How a text file ends, and what it lacks.

/// How many bytes are looked at to tell text from other files.
const LOOKED: usize = 8 * 1024;

/// What a file's lines end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
}

impl Ending {
    /// What most lines end with; of a file without an end of a line, `\n`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let (mut all, mut with_return, mut before) = (0_usize, 0_usize, 0);
        for byte in bytes {
            if *byte == b'\n' {
                all += 1;
                with_return += usize::from(before == b'\r');
            }
            before = *byte;
        }
        if with_return * 2 > all { Self::CrLf } else { Self::Lf }
    }
}

/// What `bytes` lack at their end: nothing where they are none, or end with a line's end.
pub(crate) fn lacking(bytes: &[u8]) -> Option<&'static [u8]> {
    match bytes.last() {
        None | Some(b'\n') => None,
        // Half of it is there.
        Some(b'\r') => Some(b"\n"),
        Some(_) => Some(match Ending::of(bytes) {
            Ending::Lf => b"\n",
            Ending::CrLf => b"\r\n",
        }),
    }
}

/// Whether these are no text: a NUL, or more than three in ten bytes of the first 8 KiB that are neither printed nor white.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let looked = bytes.get(..LOOKED.min(bytes.len())).unwrap_or_default();
    if looked.contains(&0) {
        return true;
    }
    let mut odd = 0;
    for chunk in looked.utf8_chunks() {
        odd += chunk.valid().bytes().filter(|byte| is_odd(*byte)).count();
        // A character that the cut went through is none of these.
        let is_cut =
            chunk.invalid().len() < 4 && ends_with(looked, chunk.invalid()) && looked.len() == LOOKED;
        odd += if is_cut { 0 } else { chunk.invalid().len() };
    }
    odd * 10 > looked.len() * 3
}

fn ends_with(all: &[u8], part: &[u8]) -> bool {
    part.as_ptr_range().end == all.as_ptr_range().end
}

/// Whether text has no use for it.
const fn is_odd(byte: u8) -> bool {
    matches!(byte, 0..=7 | 11 | 14..=26 | 28..=31 | 127)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_gets_the_ending_that_its_lines_have() {
        assert_eq!(lacking(b""), None);
        assert_eq!(lacking(b"\n"), None);
        assert_eq!(lacking(b"a\r\n"), None);
        assert_eq!(lacking(b"a"), Some(&b"\n"[..]));
        assert_eq!(lacking(b"a\nb"), Some(&b"\n"[..]));
        assert_eq!(lacking(b"a\r\nb"), Some(&b"\r\n"[..]));
        assert_eq!(lacking(b"a\r\nb\nc"), Some(&b"\n"[..]), "as many of either");
        assert_eq!(lacking(b"a\r\nb\r\nc\nd"), Some(&b"\r\n"[..]), "most");
        assert_eq!(lacking(b"a\r"), Some(&b"\n"[..]));
    }

    #[test]
    fn what_has_a_nul_or_much_that_is_not_printed_is_no_text() {
        assert!(is_binary(b"a\0b"));
        assert!(!is_binary(&[&vec![b'a'; LOOKED][..], b"\0"].concat()), "beyond what is looked at");
        assert!(!is_binary("ünïcödé \u{1b}[1m\t\r\n日本語".as_bytes()));
        assert!(is_binary(b"\x01\x02\x03\x04abcdefg"), "4 of 11");
        assert!(!is_binary(b"\x01\x02\x03abcdefg"), "3 of 10");
        assert!(is_binary(&[0xff, 0xfe, 0xfd, b'a']));
        let long = format!("a{}", "é".repeat(LOOKED));
        assert!(!is_binary(long.as_bytes()), "a character that is cut is one");
    }

    proptest! {
        #[test]
        fn whatever_is_added_once_is_enough_and_changes_nothing_before_it(bytes in "([a-z\r\n]|\r\n){0,40}") {
            let bytes = bytes.into_bytes();
            let Some(added) = lacking(&bytes) else {
                prop_assert!(bytes.is_empty() || bytes.ends_with(b"\n"));
                return Ok(());
            };
            let whole = [&bytes[..], added].concat();
            prop_assert_eq!(lacking(&whole), None);
            // No other ending comes in where there was one alone.
            if !bytes.contains(&b'\n') || bytes.ends_with(b"\r") { return Ok(()); }
            let text = String::from_utf8(whole).unwrap();
            let was_pure = !text[..bytes.len()].replace("\r\n", "").contains('\n');
            prop_assert_eq!(was_pure, !text.replace("\r\n", "").contains('\n'));
        }
    }
}
