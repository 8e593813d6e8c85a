//! Lines of JSON, each bounded in length and depth.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits;
use crate::talk::TalkError;

/// How many levels a message has around what it carries. JSON of guests is carried as text.
const WRAPPED: usize = 12;

/// The line that says it, with its end.
pub(crate) fn encode(message: &impl Serialize, most: usize) -> Result<Vec<u8>, TalkError> {
    let mut line = serde_json::to_vec(message).map_err(unread)?;
    line.push(b'\n');
    if line.len() > most { Err(TalkError::Long(most)) } else { Ok(line) }
}

/// What a line says, without its end.
pub(crate) fn decode<T: DeserializeOwned>(line: &[u8], most: usize) -> Result<T, TalkError> {
    if line.len() > most {
        return Err(TalkError::Long(most));
    }
    if depth(line) > WRAPPED {
        return Err(TalkError::Wrong("a line nests deeper than any that is said here"));
    }
    serde_json::from_slice(line).map_err(unread)
}

#[allow(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn unread(error: serde_json::Error) -> TalkError {
    TalkError::Json(limits::cut(&error.to_string(), limits::MESSAGE_BYTES))
}

/// How deep a JSON text nests, without parsing it.
pub(crate) fn depth(text: &[u8]) -> usize {
    let (mut now, mut most) = (0_usize, 0_usize);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                now += 1;
                most = most.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            b'"' => {
                // To the end of the string: a backslash takes what follows with it.
                while let Some(inner) = bytes.next() {
                    match inner {
                        b'\\' => drop(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    most
}

/// Bytes as they come, cut into lines of at most so many bytes.
#[derive(Debug)]
pub(crate) struct Lines {
    most: usize,
    held: Vec<u8>,
    /// Up to where no end of a line is.
    searched: usize,
}

impl Lines {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, held: Vec::new(), searched: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// The next whole line, without its end. One that is too long is an error as soon as that is known.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, TalkError> {
        let fresh = self.held.get(self.searched..).unwrap_or_default();
        match fresh.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let rest = self.held.split_off(self.searched + end + 1);
                let mut line = std::mem::replace(&mut self.held, rest);
                line.pop();
                self.searched = 0;
                if line.len() > self.most { Err(TalkError::Long(self.most)) } else { Ok(Some(line)) }
            }
            None => {
                self.searched = self.held.len();
                if self.held.len() > self.most { Err(TalkError::Long(self.most)) } else { Ok(None) }
            }
        }
    }

    /// Whether there is a part of a line.
    pub(crate) const fn is_within(&self) -> bool {
        !self.held.is_empty()
    }
}
