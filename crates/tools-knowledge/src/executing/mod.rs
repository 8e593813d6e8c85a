//! Code of skills, executed: what it is, what it is granted, and the process that it runs in.

pub mod grants;
mod looks;
pub(crate) mod node;
pub mod prepare;
pub mod workers;
