//! `gatewright fleet`: this program on other machines, over OpenSSH.

mod binary;
mod deploy;
mod hosts;
mod remote;
mod status;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use self::hosts::Host;
use self::remote::Reach;
use super::{CommandError, CommandResult, runtime};
use crate::cli::FleetCommand;
use crate::compose;
use crate::term::{BAD, NOTE};

pub fn run(command: FleetCommand) -> CommandResult {
    match command {
        FleetCommand::Deploy(args) => deploy::run(&args),
        FleetCommand::Status(args) => status::run(&args),
    }
}

/// What became of one host.
trait Row {
    /// The host's name.
    fn host(&self) -> &str;
    /// Why it failed, and what to try, where it did.
    fn trouble(&self) -> Option<(&str, Option<&str>)>;
    /// Prints it for people, its name as wide as the widest.
    fn print(&self, width: usize);
}

/// What hosts are dealt with by.
struct Stage {
    jobs: usize,
    nowhere: PathBuf,
    cancel: CancellationToken,
}

impl Stage {
    /// Several hosts at once, until a signal ends it.
    fn new(jobs: u8) -> Result<Self, CommandError> {
        let cancel = CancellationToken::new();
        cancel_by_signals(&cancel)?;
        Ok(Self { jobs: usize::from(jobs), nowhere: compose::state(None)?.nowhere()?, cancel })
    }

    /// Deals with every host, several at once, and says of each how it went when it is done. The rows are in the hosts' order.
    fn all<R: Row + Send>(
        &self,
        hosts: &[Host],
        says: bool,
        work: impl Fn(&Host, &Reach<'_>) -> R + Sync,
    ) -> Vec<R> {
        let width = hosts.iter().map(|host| host.name.len()).max().unwrap_or_default();
        let reach = Reach { nowhere: &self.nowhere, cancel: &self.cancel };
        let (next, work) = (AtomicUsize::new(0), &work);
        let (sender, receiver) = mpsc::channel();
        let mut rows = std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(hosts.len()) {
                let (sender, next, reach) = (sender.clone(), &next, &reach);
                scope.spawn(move || {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(host) = hosts.get(place) else { return };
                        if sender.send((place, work(host, reach))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut rows = Vec::new();
            for (place, row) in receiver {
                if says {
                    row.print(width);
                }
                rows.push((place, row));
            }
            rows
        });
        rows.sort_by_key(|(place, _)| *place);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// Has an interrupt end what is under way, so that every host comes to an end that is told.
fn cancel_by_signals(cancel: &CancellationToken) -> Result<(), CommandError> {
    let (runtime, cancel) = (runtime()?, cancel.clone());
    std::thread::spawn(move || {
        runtime.block_on(async {
            let both = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
            if let (Ok(mut interrupt), Ok(mut terminate)) = both {
                tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
                cancel.cancel();
            }
        });
    });
    Ok(())
}

/// What failed, at the end of the list, with what to try.
fn collected<R: Row>(rows: &[R]) {
    for row in rows {
        if let Some((why, advice)) = row.trouble() {
            say!("{BAD}{}{BAD:#}: {why}", row.host());
            if let Some(advice) = advice {
                say!("  {NOTE}→{NOTE:#} {advice}");
            }
        }
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
