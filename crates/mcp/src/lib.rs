//! Gatewright over the Model Context Protocol: the only server-side user of rmcp.
//!
//! - `conformance` (a feature): what the protocol's conformance suite calls, on the same stack as the product.
//! - [`http`]: Streamable HTTP, with whoever asks identified first.
//! - [`line`]: newline-delimited JSON over any pair of streams, strict about what it lets through.
//! - [`server`]: rmcp's handler over the engine, in both protocol eras.
//! - [`serve_stdio`]: standard input and output, until the input ends.

mod choosing;
mod confirm;
#[cfg(feature = "conformance")]
pub mod conformance;
mod conversation;
mod direct;
pub mod http;
mod inquiring;
pub mod line;
mod listing;
mod reading;
mod running;
pub mod server;
mod skills;
mod tasks;
mod visits;

use std::time::Duration;

use kit::House;
use kit::menu::Choose;
use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use line::LineTransport;
use server::Server;

/// Why serving ended other than by the end of the input.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The protocol could not be begun.
    #[error("the protocol could not be begun: {0}")]
    Begin(String),
    /// The server's task failed.
    #[error("the server failed: {0}")]
    Task(String),
}

/// Serves on standard input and output, listing what `menu` chooses, until the input ends or `stop` is cancelled.
pub async fn serve_stdio(house: House, menu: Choose, stop: CancellationToken) -> Result<(), ServeError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    Box::pin(serve(house, menu, input, output, stop)).await
}

/// Serves on any pair of streams.
pub async fn serve(
    house: House,
    menu: Choose,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    // The calls end with the server, whatever ended it; each gets its record before this returns.
    let calls = stop.child_token();
    let server = Server::new(house, menu, calls.clone())?;
    let transport = LineTransport::new(input, output, server.clone());
    let ended = Box::pin(served(server.clone(), transport, stop)).await;
    calls.cancel();
    server.drained(DRAIN).await;
    ended
}

/// How long the end of a server waits for the records of its calls.
const DRAIN: Duration = Duration::from_secs(10);

async fn served(server: Server, transport: LineTransport, stop: CancellationToken) -> Result<(), ServeError> {
    match Box::pin(server.serve_with_ct(transport, stop)).await {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::JoinError(error)) => Err(ServeError::Task(error.to_string())),
            Ok(_) => Ok(()),
            Err(error) => Err(ServeError::Task(error.to_string())),
        },
        // The client left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(ServeError::Begin(error.to_string())),
    }
}
