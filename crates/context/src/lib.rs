//! The context API: what a team shares, as JSON over HTTP (`docs/guide/team-context.md`).
//!
//! - [`wire`]: what goes over the wire. Each request is a type that names its method, path and answer ([`wire::Endpoint`]); server,
//!   client and OpenAPI document are derived from it.
//! - [`serve`]: the server, over any store.
//! - [`client`]: the client, which is a store itself ([`store_api::Context`]).
//! - [`offline`]: the same while nobody answers: writes wait in an outbox, the last answers are shown.

pub mod client;
pub mod offline;
pub mod serve;
pub mod wire;

pub use client::Remote;
pub use offline::Offline;
