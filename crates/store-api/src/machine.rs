//! Machines that work is done on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::id::MachineId;
use crate::text::{MAX_KEY, named};
use crate::time::Timestamp;

/// What a machine says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewMachine {
    /// Its id, which it made itself and keeps: host names are shared by many.
    pub id: MachineId,
    /// What people call it.
    pub name: String,
    /// Its operating system.
    pub os: String,
    /// Its processor.
    pub arch: String,
    /// The program's version.
    pub version: String,
    /// The program's build.
    pub build: String,
}

impl NewMachine {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        let all = [
            ("name", &self.name),
            ("os", &self.os),
            ("arch", &self.arch),
            ("version", &self.version),
            ("build", &self.build),
        ];
        all.into_iter().try_for_each(|(what, text)| named(what, text, MAX_KEY))
    }
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// What it says of itself.
    #[serde(flatten)]
    pub told: NewMachine,
    /// When it was registered.
    pub registered: Timestamp,
    /// Its last sign of life.
    pub seen: Timestamp,
}
