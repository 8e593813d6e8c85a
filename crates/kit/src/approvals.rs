//! Consent to tool definitions that arrive from elsewhere, bound to the hash of the whole definition.
//!
//! What is compiled in needs none: it cannot change under a user's feet. A tool of others is callable only while its
//! definition is the one that a person approved.

use std::collections::BTreeMap;

use contract::{Code, Digest, Fault, Kind};

use crate::registry::Registered;

/// The definitions that a person approved, by tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approvals(BTreeMap<String, Digest>);

impl Approvals {
    /// Approves `definition` for `tool`, in place of any other.
    #[must_use]
    pub fn with(mut self, tool: &str, definition: Digest) -> Self {
        self.0.insert(tool.to_owned(), definition);
        self
    }

    /// Fails unless `tool` is as it was approved, or needs no approval.
    pub(crate) fn check(&self, tool: &Registered) -> Result<(), Fault> {
        let spec = tool.spec();
        if spec.kind != Kind::Foreign {
            return Ok(());
        }
        let name = spec.name.as_str();
        let message = match self.0.get(name) {
            Some(approved) if *approved == tool.definition => return Ok(()),
            Some(_) => format!("{name}: its definition has changed since it was approved"),
            None => format!("{name}: nobody has approved its definition"),
        };
        Err(Fault::new(Code::ApprovalRequired, message)
            .suggest("A person looks at the definition and approves it; until then it is not called."))
    }
}
