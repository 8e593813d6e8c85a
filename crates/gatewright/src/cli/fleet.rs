//! The command line of `gatewright fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

/// What is done with a fleet.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Put the program on every host and have it test itself there: rehearse by default, perform with --apply.
    Deploy(DeployArgs),
    /// Say which program every host has, and when it was last seen.
    Status(StatusArgs),
}

/// Which hosts are meant.
#[derive(Debug, Args)]
pub struct FleetArgs {
    /// The hosts. Default: `fleet.toml` beside your own configuration.
    #[arg(long, value_name = "FILE")]
    pub hosts: Option<PathBuf>,
    /// Only this host. Repeatable.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// How many at once.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub jobs: u8,
    /// The program that they are to have. Default: this one.
    #[arg(long, value_name = "FILE")]
    pub binary: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct DeployArgs {
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Do it.
    #[arg(long)]
    pub apply: bool,
    /// Refuse unless this checkout, which the program was built from, is what its origin has on the default branch, with nothing changed
    /// or unpushed, and older than the program.
    #[arg(long, value_name = "DIR")]
    pub from_checkout: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub fleet: FleetArgs,
}
