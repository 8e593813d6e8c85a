//! What the peers have in common: the one tool that each offers, and what it answers.
//!
//! The tool has the name, the arguments and the shape of answer of the tool of gatewright's that is measured, so that all
//! get the same bytes and send about as many.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// Any error: the bench's programs end with it.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The tool's name.
pub const TOOL: &str = "tools_search";

/// The tool's one argument.
pub const ARGUMENT: &str = "query";

/// What the tool answers, as structured content; its text is the same once more.
#[must_use]
pub fn answer() -> Value {
    json!({
        "tools": [],
        "success": true,
        "status": "completed",
        "message": "No tool of 1 has any of these words.",
        "metadata": { "tokensUsed": 27, "duration": 0, "resultsCount": 0, "transcript": "a3bb189e-8bf9-4888-9912-ace4e6543002" },
    })
}

/// The address after `--http`; without one a peer serves standard input and output.
pub fn address(args: &[String]) -> Result<Option<SocketAddr>, Error> {
    let Some(at) = args.iter().position(|arg| arg == "--http") else { return Ok(None) };
    let address = args.get(at + 1).ok_or("--http takes an address")?;
    Ok(Some(address.parse()?))
}
