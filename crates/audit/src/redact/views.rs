//! Other ways to read the same bytes: without terminal escapes, and without the zeros of UTF-16.

use super::Hit;

/// Bytes to search, with the way back to where they stood.
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    /// Where each byte stood.
    origin: Vec<usize>,
}

impl View {
    /// The hit as it lies in the original bytes.
    pub(super) fn original(&self, hit: Hit) -> Hit {
        if hit.range.is_empty() {
            return hit;
        }
        let (first, last) = (self.origin[hit.range.start], self.origin[hit.range.end - 1]);
        Hit { range: first..last + 1, kind: hit.kind }
    }
}

/// The views that differ from the bytes as they are: of most, none.
pub(super) fn others(bytes: &[u8]) -> Vec<View> {
    let mut views = Vec::new();
    if memchr::memchr(0x1b, bytes).is_some() {
        views.push(keep(bytes, escapes(bytes)));
    }
    // Text in UTF-16 is half zeros; binary data with a few is not text in disguise.
    let zeros = memchr::memchr_iter(0, bytes).count();
    if zeros > 0 && zeros >= bytes.len() / 16 {
        views.push(keep(bytes, bytes.iter().map(|b| *b != 0).collect()));
    }
    views
}

fn keep(bytes: &[u8], kept: Vec<bool>) -> View {
    let origin: Vec<usize> = kept.iter().enumerate().filter_map(|(i, keep)| keep.then_some(i)).collect();
    View { bytes: origin.iter().map(|i| bytes[*i]).collect(), origin }
}

/// Which bytes are no part of a terminal escape sequence (ECMA-48: CSI, OSC and the other string sequences).
fn escapes(bytes: &[u8]) -> Vec<bool> {
    let mut kept = vec![true; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != 0x1b {
            at += 1;
            continue;
        }
        let end = match bytes.get(at + 1) {
            Some(b'[') => {
                let body = bytes[at + 2..].iter().position(|b| (0x40..=0x7e).contains(b));
                body.map_or(bytes.len(), |n| at + 2 + n + 1)
            }
            Some(b']' | b'P' | b'X' | b'^' | b'_') => {
                let body = bytes[at + 2..].iter().position(|b| matches!(b, 0x07 | 0x1b));
                body.map_or(bytes.len(), |n| {
                    let stop = at + 2 + n;
                    if bytes[stop] == 0x1b { (stop + 2).min(bytes.len()) } else { stop + 1 }
                })
            }
            Some(_) => at + 2,
            None => at + 1,
        };
        kept[at..end].fill(false);
        at = end;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;

    #[test]
    fn r10_a_token_in_utf16_is_masked_in_either_byte_order() {
        let redactor = Redactor::new(&[], [1; 32]);
        let text = "token ghp_0123456789abcdefghijABCDEFGHIJ012345 end";
        for big in [false, true] {
            let bytes: Vec<u8> = text
                .encode_utf16()
                .flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() })
                .collect();
            let clean = redactor.bytes(&bytes);
            let needle: Vec<u8> = "ghp_0123"
                .encode_utf16()
                .flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() })
                .collect();
            assert!(!clean.windows(needle.len()).any(|w| w == needle), "big endian: {big}");
        }
    }

    #[test]
    fn an_unfinished_escape_hides_nothing_else() {
        let redactor = Redactor::new(&["hunter2hunter2".into()], [1; 32]);
        assert!(redactor.text("hunter2hunter2 \u{1b}[").contains("[redacted"));
    }
}
