//! What runs of cargo have in common.

use exec::run::Command;

/// A cargo command that looks nothing up: neither crates nor toolchains.
pub(crate) fn offline(mut command: Command) -> Command {
    command.env.insert("CARGO_NET_OFFLINE".into(), "true".into());
    command.env.insert("RUSTUP_AUTO_INSTALL".into(), "0".into());
    command
}
