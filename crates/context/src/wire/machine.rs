//! Machines and ventures over the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store_api::id::MachineId;
use store_api::machine::{Machine, NewMachine};

use super::{DoneOrNot, endpoint};

/// Registers a machine, or what it says of itself now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Register {
    /// What it says of itself.
    #[serde(flatten)]
    pub machine: NewMachine,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneMachine {
    /// It.
    pub machine: Machine,
}

endpoint!(Register: Post "/machines", "Registers a machine, or what it says of itself now" => OneMachine);

/// The machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machines {}

/// The machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllMachines {
    /// The last seen first: the first 10,000.
    pub machines: Vec<Machine>,
}

endpoint!(Machines: Get "/machines", "The machines, the last seen first" => AllMachines);

/// A machine's sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// The machine.
    pub id: MachineId,
}

endpoint!(Seen: Post "/machines/{id}/heartbeat", "A machine's sign of life" => DoneOrNot);

/// What a team works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Venture {
    /// Its code.
    pub code: String,
    /// Its name.
    pub name: String,
    /// Its organisation, as `host/owner`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organisation: Option<String>,
    /// Its repositories, as `host/owner/name`.
    #[serde(default)]
    pub repositories: Vec<String>,
    /// What it has, such as `api` or `database`.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

/// The ventures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ventures {}

/// The ventures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AllVentures {
    /// By code.
    pub ventures: Vec<Venture>,
}

endpoint!(Ventures: Get "/ventures", "What the team works on, as the server is configured" => AllVentures);
