//! One command, one file.

mod approvals;
mod audit;
mod call;
mod context;
pub mod doctor;
mod find;
mod fleet;
pub mod gain;
pub mod init;
mod kits;
mod library;
pub mod plugin;
mod quickstart;
mod recover;
mod report;
mod scratch;
mod selftest;
mod serve;
mod setup;
mod store;
mod tools;
pub mod trust;
mod undo;
pub mod upstreams;

use std::process::ExitCode;

use clap::CommandFactory as _;
use contract::Fault;

use crate::cli::{Cli, Command, ConfigCommand, ContextCommand, PlanCommand};
use crate::config;
use crate::roots::Asked;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The call, or what it needs.
    #[error("{0}")]
    Fault(#[from] Fault),
    /// The command was used wrongly.
    #[error("{0}")]
    Usage(String),
    /// The record could not be read.
    #[error("{0}")]
    Ledger(#[from] ::audit::LedgerError),
    /// Something could not be written or read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The demonstration did not go as it should.
    #[error("{0}")]
    Quickstart(String),
}

impl CommandError {
    /// 2 for wrong usage, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Fault(fault) if fault.code == contract::Code::InvalidArgument => 2,
            _ => 1,
        }
    }
}

pub type CommandResult = Result<ExitCode, CommandError>;

/// Runs a command.
pub fn run(cli: Cli) -> CommandResult {
    let asked = Asked(cli.everywhere.root).with_configured();
    let root = &asked;
    let serves = matches!(cli.command, Command::Serve(_) | Command::Context(ContextCommand::Serve(_)));
    init_logging(serves);
    match cli.command {
        Command::Serve(args) => serve::run(root, args),
        Command::Call(args) => call::run(root, &args),
        Command::Tools(args) => tools::run(root, &args),
        Command::Plan(PlanCommand::Show { id }) => undo::show_plan(root, &id),
        Command::Undo(args) => undo::run(root, &args),
        Command::Recover(args) => recover::run(root, &args),
        Command::Audit(command) => audit::run(root, command),
        Command::Approvals(command) => approvals::run(root, command),
        Command::Trust { command } => trust::run(root, command),
        Command::Plugin(command) => plugin::run(root, command),
        Command::Upstreams(command) => upstreams::run(root, command),
        Command::Config(ConfigCommand::Schema) => print_json(&config::schema()),
        Command::Config(ConfigCommand::Show) => show_config(root),
        Command::Store(command) => store::run(command),
        Command::Doctor(args) => doctor::run(root, &args),
        Command::Report(command) => report::run(root, command),
        Command::Library(command) => library::run(root, &command),
        Command::Context(command) => context::run(command),
        Command::Gain(args) => gain::run(root, &args),
        Command::Kits(command) => kits::run(root, command),
        Command::Init(args) => init::run(root, &args),
        Command::Setup(part) => setup::run(part),
        Command::Quickstart(args) => quickstart::run(&args),
        Command::Selftest(args) => selftest::run(&args),
        Command::Fleet(command) => fleet::run(command),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "gatewright", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
        Command::Man => {
            clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Logs go to standard error: warnings for people, `LOG_LEVEL` for more.
fn init_logging(serving: bool) {
    // What became of a connection to an upstream is said by whoever wanted it.
    let default = if serving { "info,rmcp=warn,rmcp::transport::worker=off" } else { "warn,rmcp=off" };
    let filter = std::env::var("LOG_LEVEL").ok().filter(|l| !l.is_empty()).unwrap_or_else(|| default.into());
    let filter = tracing_subscriber::EnvFilter::try_new(&filter)
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(default));
    let built =
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(filter).with_ansi(false);
    // A second initialisation can only come from a test; the first one stays.
    let _ = built.without_time().try_init();
}

fn print_json(value: &serde_json::Value) -> CommandResult {
    let text = serde_json::to_string_pretty(value).map_err(|e| Fault::internal(e.to_string()))?;
    say!("{}", contract::text::escaped_json(&text));
    Ok(ExitCode::SUCCESS)
}

fn show_config(asked: &Asked) -> CommandResult {
    let root = asked.first_path();
    let config = config::load(root.as_deref()).map_err(|e| CommandError::Usage(e.to_string()))?;
    let user = config::user_path().map(|p| p.display().to_string()).unwrap_or_default();
    print_json(&serde_json::json!({
        "files": { "user": user, "project": root.map(|r| r.join("gatewright.toml").display().to_string()) },
        "policy": { "user": config.policy.user, "project": config.policy.project },
        "limits": config.limits,
        "egress": config.egress,
        "browser": config.browser,
        "store": config.store,
        "roots": config.roots,
        "upstreams": config.upstreams,
        "sections": config.settings.overlaid(&config.project).sections(),
        "inert": config.inert,
        "trusted": config.trusted,
    }))
}

/// A runtime for one call.
fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
