//! `gatewright serve`.

use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{CommandError, CommandResult, runtime};
use crate::cli::ServeArgs;
use crate::compose::{self, Offer};
use crate::roots::Asked;

pub fn run(asked: &Asked, args: ServeArgs) -> CommandResult {
    let offer = Offer { toolsets: args.toolsets, read_only: args.read_only, check_outputs: true };
    let house = compose::house(asked, &offer)?;
    if house.registry().iter().all(|tool| tool.spec().toolset == tools_front::FRONT.0) {
        return Err(CommandError::Usage("no tool is left to offer: check --toolsets and --read-only".into()));
    }
    let menu = offer.menu(&house);
    let runtime = runtime()?;
    let served = runtime.block_on(async move {
        let stop = CancellationToken::new();
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let stopper = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            stopper.cancel();
        });
        tracing::info!(
            listed = menu.len(),
            tools = house.registry().len(),
            "serving on standard input and output"
        );
        mcp::serve_stdio(house, &menu, stop).await.map_err(std::io::Error::other)
    });
    // Calls that were cancelled end their programs. A read of standard input may be pending: it is left.
    runtime.shutdown_timeout(Duration::from_millis(500));
    served?;
    Ok(ExitCode::SUCCESS)
}
