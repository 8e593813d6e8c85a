//! What an answer costs whoever asked: how long it is, how long it would have been, and in which conversation.
//!
//! A front door that speaks with models says which conversation a call is of ([`Session`]) and counts the menus that it gave;
//! the pipeline measures the answer. It ends as [`audit::record::Cost`] in the call's transcript.

use std::sync::{Arc, Mutex, PoisonError};

use audit::record::{Basis, Cost};
use contract::{Digest, Fault, Metadata, tokens_used};
use exec::handle::Handle;
use serde::Serialize;

use crate::course::Course;

/// How many hexadecimal digits name a session.
const DIGITS: usize = 16;

/// Most characters that are counted of what was not shown.
pub(crate) const MOST_CHARACTERS: u64 = 1_000_000;

/// One conversation of a client, as far as it can be told. Cheap to share.
#[derive(Debug, Clone)]
pub struct Session(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: String,
    /// Menus that were given since the last transcript, and their tokens.
    menus: Mutex<(u64, u64)>,
}

impl Session {
    fn of(id: String) -> Self {
        Self(Arc::new(Inner { id, menus: Mutex::default() }))
    }

    /// Of a connection that nothing else names.
    pub fn random() -> Result<Self, Fault> {
        let id = Handle::random("s")?.to_string();
        Ok(Self::of(id.chars().skip(2).take(DIGITS).collect()))
    }

    /// The one that `parts` together name; what they are cannot be told from its id.
    #[must_use]
    pub fn named(parts: &[&[u8]]) -> Self {
        Self::of(Digest::of_parts(parts).short(DIGITS))
    }

    /// Its id: 16 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Counts a menu of so many tokens, given in it.
    pub fn listed(&self, tokens: u64) {
        let mut menus = self.0.menus.lock().unwrap_or_else(PoisonError::into_inner);
        *menus = (menus.0.saturating_add(1), menus.1.saturating_add(tokens));
    }

    /// What was counted and is on no record yet.
    fn take(&self) -> (u64, u64) {
        std::mem::take(&mut self.0.menus.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the pipeline measures of an answer while it is made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    /// Characters that go out, metadata left out; none where nothing was counted.
    pub(crate) shown: Option<u64>,
    /// Characters that were cut from it.
    pub(crate) cut: u64,
}

impl Measured {
    /// The cost of an answer in `session`, whose programs were those of `course`; `metadata` goes out with it.
    pub(crate) fn cost(
        self,
        session: &Session,
        metadata: Option<&Metadata>,
        course: &Course,
    ) -> Option<Cost> {
        let about = metadata.map_or(0, field);
        let shown = self.shown?.saturating_add(about);
        let (basis, whole) = match course.said() {
            Some(said) => (Basis::Output, said),
            None if self.cut > 0 => (Basis::Cut, shown.saturating_add(self.cut)),
            None => (Basis::None, 0),
        };
        let (menus, menu) = session.take();
        Some(Cost {
            shown: tokens_used(shown),
            whole: tokens_used(whole.min(MOST_CHARACTERS)),
            basis,
            session: session.id().to_owned(),
            menus,
            menu,
            runs: course.runs(),
        })
    }
}

/// Characters of the metadata as a field of its object.
fn field(metadata: &Metadata) -> u64 {
    // `"metadata":` and a comma.
    characters(metadata) + 12
}

/// Characters of `value` as JSON, without a copy.
pub(crate) fn characters(value: &impl Serialize) -> u64 {
    let mut written = Characters(0);
    // It counts, and cannot fail.
    let _ = serde_json::to_writer(&mut written, value);
    written.0
}

/// Characters of bytes that are UTF-8.
pub(crate) fn characters_of(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64
}

/// Counts the characters that are written to it.
pub(crate) struct Characters(pub(crate) u64);

impl std::io::Write for Characters {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += characters_of(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_told_by_what_names_it_and_its_menus_are_taken_once() {
        let one = Session::named(&[b"a", b"b"]);
        assert_eq!(one.id(), Session::named(&[b"a", b"b"]).id());
        assert_ne!(one.id(), Session::named(&[b"a", b"c"]).id());
        let random = Session::random().unwrap();
        for session in [&one, &random] {
            assert!(session.id().len() == DIGITS && session.id().bytes().all(|b| b.is_ascii_hexdigit()));
        }
        one.listed(10);
        one.clone().listed(5);
        assert_eq!((one.take(), one.take()), ((2, 15), (0, 0)));
    }

    #[test]
    fn what_was_not_counted_has_no_cost_and_keeps_its_menus_for_the_next() {
        let session = Session::named(&[b"x"]);
        session.listed(7);
        assert_eq!(Measured::default().cost(&session, None, &Course::default()), None);
        let measured = Measured { shown: Some(40), cut: 80 };
        let cost = measured.cost(&session, None, &Course::default()).unwrap();
        assert_eq!((cost.shown, cost.whole, cost.basis), (11, 33, Basis::Cut));
        assert_eq!((cost.menus, cost.menu), (1, 7));
        let most = Measured { shown: Some(1), cut: u64::MAX }.cost(&session, None, &Course::default());
        assert_eq!(most.unwrap().whole, Cost::MOST);
    }
}
