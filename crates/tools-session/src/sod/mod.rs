//! The start of a day: where its parts are from, and how they become one page.

pub(crate) mod budget;
pub(crate) mod compose;
pub(crate) mod healed;
pub mod output;
pub(crate) mod sources;
pub(crate) mod told;

use std::sync::Arc;

use contract::{Digest, Fault, canonical};
use kit::ReadDesk;
use serde_json::Value;
use store_api::Context;

/// What a team shares.
pub(crate) fn store(desk: &ReadDesk) -> Result<Arc<dyn Context>, Fault> {
    desk.service::<dyn Context>().ok_or_else(|| Fault::internal("no store was provided"))
}

/// The digest of what is asked for, however it was written.
pub(crate) fn digest(value: &Value) -> Digest {
    Digest::of(&canonical::of(value))
}

/// Takes secrets out of what is remembered, and counts the texts that had any.
pub(crate) struct Cleaning<'d> {
    desk: &'d ReadDesk,
    /// How many texts had a secret.
    pub(crate) count: u64,
}

impl<'d> Cleaning<'d> {
    pub(crate) const fn new(desk: &'d ReadDesk) -> Self {
        Self { desk, count: 0 }
    }

    /// The text without secrets.
    pub(crate) fn take(&mut self, text: &str) -> String {
        let clean = self.desk.cleaned(text);
        if clean != text {
            self.count += 1;
        }
        clean
    }
}
