//! Setting a repository and its clients up.
//!
//! There is no I/O here: [`Facts`] go in, an [`Outcome`] comes out, and whoever asks makes plans of it. Files of clients are
//! edited by inserting our entry: every byte that stood there stands there afterwards ([`edit`]).

pub mod clients;
pub mod edit;
pub mod migrate;
pub mod servers;
mod wizard;

pub use clients::{Client, Form, Scope};
pub use edit::{Edited, Unfit, with_entry};
pub use wizard::{
    CONFIGURATION, Check, Facts, File, Options, Outcome, Phase, PhaseName, Seen, State, configuration, score,
    wizard,
};
