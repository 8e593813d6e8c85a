//! Numbers and texts in bytes: what every encoding here is made of. Numbers are written with seven bits a byte, the
//! low ones first.

/// Writes a number in one to five bytes.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        let [low, ..] = value.to_le_bytes();
        out.push(low | 0x80);
        value >>= 7;
    }
    let [low, ..] = value.to_le_bytes();
    out.push(low);
}

/// Writes bytes behind their length.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, small(bytes.len()));
    out.extend_from_slice(bytes);
}

/// A length as it is written; what is longer than a `u32` says was refused before.
pub(crate) fn small(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// A number as a place in memory.
pub(crate) fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Reads what [`put`] wrote; whatever is not there is `None`, never a panic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What is still to be read.
    #[inline]
    pub(crate) const fn rest(&self) -> &'b [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Option<u32> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(u32::from(first));
        }
        let mut value = u32::from(first & 0x7f);
        for shift in [7u32, 14, 21, 28] {
            let byte = self.byte()?;
            if shift == 28 && byte > 0x0f {
                return None;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = self.number()?;
        self.take(place(length))
    }

    pub(crate) fn text(&mut self) -> Option<&'b str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_overlong_ones_are_refused() {
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, u32::MAX - 1, u32::MAX] {
            let mut out = Vec::new();
            put(&mut out, value);
            let mut reader = Reader::new(&out);
            assert_eq!((reader.number(), reader.is_empty()), (Some(value), true), "{value}");
        }
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]).number(), None);
        assert_eq!(Reader::new(&[0x80]).number(), None);
        assert_eq!(Reader::new(&[5, b'a']).text(), None);
    }
}
