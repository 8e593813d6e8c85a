//! What sessions saw, where policy counts it: kept in memory, for as long as a process lives.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use policy::{Label, Seen};

use crate::call::Call;
use crate::consent::Consent;
use crate::engine::Engine;

/// Most sessions that are remembered; the one used longest ago makes room.
const MOST: usize = 4_096;

/// What sessions saw, shared by the engines of one process.
#[derive(Debug, Default)]
pub struct Taints(Mutex<BTreeMap<String, (Instant, Seen)>>);

impl Taints {
    fn with<T>(&self, session: &str, work: impl FnOnce(&mut Seen) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(session) && all.len() >= MOST {
            let oldest = all.iter().min_by_key(|(_, (used, _))| *used).map(|(name, _)| name.clone());
            oldest.and_then(|name| all.remove(&name));
        }
        let (used, seen) = all.entry(session.to_owned()).or_insert_with(|| (Instant::now(), Seen::default()));
        *used = Instant::now();
        work(seen)
    }
}

impl Engine {
    /// Why a call with these labels needs a person's word before it goes on, by what its session saw.
    pub(crate) fn tainted(&self, call: &Call, labels: &[Label]) -> Option<String> {
        if !self.parts.policy.taints() || matches!(call.consent, Consent::Given(_)) {
            return None;
        }
        let taints = self.parts.services.get::<Taints>()?;
        taints.with(&session(call), |seen| seen.asks(labels))
    }

    /// Notes what a call that is about to be made brings into its session.
    pub(crate) fn saw(&self, call: &Call, tool: &str, labels: &[Label]) {
        if !self.parts.policy.taints() {
            return;
        }
        if let Some(taints) = self.parts.services.get::<Taints>() {
            taints.with(&session(call), |seen| seen.saw(tool, labels));
        }
    }
}

/// The session of a call; where it has none, all that its principal does.
fn session(call: &Call) -> String {
    let of_principal = || call.principal.key().to_string();
    call.session.as_ref().map_or_else(of_principal, |session| session.id().to_owned())
}
