//! The command line.

mod fleet;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::doctor::DoctorArgs;
use crate::commands::gain::{DEFAULT_CAP, MOST_CAP};
use crate::commands::init::InitArgs;
use crate::roots::RootArg;

pub use fleet::{DeployArgs, FleetCommand, StatusArgs};

/// Gives coding agents hands on your engineering work, safely.
///
/// Everything an agent does through gatewright is typed, rehearsed before it is done, recorded so that anyone can check
/// it, and undoable. `gatewright serve` is the MCP server that agents talk to; `gatewright call` runs the same tools
/// from here.
#[derive(Debug, Parser)]
#[command(name = "gatewright", version, propagate_version = true, arg_required_else_help = true, after_help = AFTER)]
pub struct Cli {
    #[command(flatten)]
    pub everywhere: Everywhere,

    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct Everywhere {
    /// The directory that tools work in. Default: the git top level of the working directory. Give several, each with a
    /// name, and a call says which with `root`; the first is meant where it does not.
    #[arg(long, global = true, value_name = "[NAME=]DIR")]
    pub root: Vec<RootArg>,
}

const AFTER: &str = "\
Examples:
  gatewright quickstart                                  see all of it on a scratch copy, under a minute
  gatewright call tokens_build --source tokens --platforms css,scss
                                                         rehearse: what would change, and a plan id
  gatewright call tokens_build --source tokens --platforms css,scss --apply
                                                         do it
  gatewright undo last                                   take it back
  gatewright audit verify                                check the record

Exit codes: 0 done; 1 the call failed or the record is broken; 2 wrong usage; 3 an anchor was required and none matched.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve tools over the Model Context Protocol on standard input and output.
    Serve(ServeArgs),
    /// Call one tool: rehearse by default, perform with --apply.
    // Tools have a `--version` of their own.
    #[command(after_help = CALL, disable_version_flag = true)]
    Call(CallArgs),
    /// List the tools, or show one with its arguments and examples.
    Tools(ToolsArgs),
    /// Show a rehearsed plan.
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Take back what a call applied.
    Undo(UndoArgs),
    /// Finish or take back what a crash left, and say what needs a look.
    Recover(RecoverArgs),
    /// Check, show, export and prove the record of all calls.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Look at tool definitions, and keep what you have looked at in gatewright.lock.
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Show what this repository asks for that only you may say; accept it as it is, or take that back.
    Trust {
        /// What is to be done. Default: show.
        #[command(subcommand)]
        command: Option<crate::commands::trust::TrustCommand>,
    },
    /// Write, check and list plugins: other programs as tools.
    #[command(subcommand)]
    Plugin(crate::commands::plugin::PluginCommand),
    /// Ask the servers upstream how they are, or take over those that stand in the files of clients.
    #[command(subcommand)]
    Upstreams(crate::commands::upstreams::UpstreamsCommand),
    /// Show the configuration in force, or its JSON Schema.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look at what is remembered; write it out, read it in, copy it; let go of what is over.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Say what is wrong here, in your words, with the fix.
    Doctor(DoctorArgs),
    /// List the reports that scans left, or write one into a folder.
    #[command(subcommand)]
    Report(ReportCommand),
    /// Say where patterns and skills are kept, and what is wrong with their files.
    #[command(subcommand)]
    Library(LibraryCommand),
    /// Say what answers saved in tokens, less menus, reading again and calling again, with the method beside the number.
    #[command(after_help = GAIN)]
    Gain(GainArgs),
    /// List review kits, show them in a browser, or write one into a folder.
    #[command(subcommand)]
    Kits(KitsCommand),
    /// Serve what a team shares to its machines, and look after it.
    #[command(subcommand)]
    Context(ContextCommand),
    /// Set this repository and its clients up: shows what would be written, asks, writes.
    Init(InitArgs),
    /// Set up once what is not in this program.
    #[command(subcommand)]
    Setup(SetupPart),
    /// See it work: rehearse, apply, verify, tamper, undo, on a scratch copy of the example.
    Quickstart(QuickstartArgs),
    /// Say whether all of it works on this machine, and register it where a team's store is configured.
    Selftest(SelftestArgs),
    /// Put this program on other machines over ssh, and say what they have.
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

const GAIN: &str = "\
The figure is an estimate, and may be negative. It is read from the record, not verified: `gatewright audit verify` is for that.

Examples:
  gatewright gain                  all that is on record of this root
  gatewright gain --since 7d       of the last seven days
  gatewright gain --json           for programs";

/// What is asked of the record.
#[derive(Debug, Args)]
pub struct GainArgs {
    /// Only calls since then: a day (2026-11-01), a time (2026-11-01T08:00:00Z), or how long ago (30m, 12h, 7d, 4w).
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Print JSON, for programs.
    #[arg(long)]
    pub json: bool,
    /// Most tokens that would have been read of one answer without gatewright: what shells of agents show, 30,000 characters.
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_CAP, value_parser = clap::value_parser!(u64).range(1..=MOST_CAP))]
    pub cap: u64,
}

/// What is done with the store. Which one: `GATEWRIGHT_STORE_URL`, else `[store] url`, else the file of this machine.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Write all of it as lines of JSON, the same from every database.
    Export {
        /// The file. Default: standard output, as with `-`.
        file: Option<PathBuf>,
        /// Replace a file that is there.
        #[arg(long)]
        force: bool,
    },
    /// Take an export into an empty store, all of it or nothing. The file is checked whole before.
    Import {
        /// The file that `export` wrote.
        file: PathBuf,
    },
    /// Copy the store's file while it is in use. PostgreSQL has `pg_dump`.
    Backup {
        /// The copy, which is a database of its own.
        file: PathBuf,
        /// Replace a file that is there.
        #[arg(long)]
        force: bool,
    },
    /// Let go of what is over. A server does it once a day.
    Sweep {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Say which store it is and how much is in it.
    Status {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
}

/// Libraries of patterns and skills.
#[derive(Debug, clap::Subcommand)]
pub enum LibraryCommand {
    /// List the libraries that a call here looks into, the first one first, with how many patterns each has.
    List {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Say what is wrong with which file and line. Exits with 1 where something is.
    Check {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
}

/// What is done with reports.
#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// List them, the newest first.
    List,
    /// Write one as files: a page to open, SARIF, pictures.
    Export {
        /// The report (`report://…`), or `last`.
        report: String,
        /// The folder, which is made where it is not there.
        folder: PathBuf,
    },
}

/// What is done with contexts.
#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// Serve sessions, notes and documents over HTTP, out of the store that is configured.
    #[command(after_help = CONTEXT)]
    Serve(ContextServeArgs),
    /// Make, list and revoke keys of the server.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Take the key of a context, see that it counts, and keep it in the keyring.
    Login {
        /// The context's address; that of the configuration where none is named.
        url: Option<String>,
    },
    /// Forget the key of a context.
    Logout {
        /// The context's address; that of the configuration where none is named.
        url: Option<String>,
    },
    /// Say which context is in use here, whether it answers, and what waits for it.
    Status,
    /// Look at what waits for the context, or was refused by it.
    #[command(subcommand)]
    Outbox(OutboxCommand),
}

const CONTEXT: &str = "\
The store is a file of this machine, or the PostgreSQL database of `[store] url` or GATEWRIGHT_STORE_URL; any number
of servers may share one database. Make a key for each machine with `gatewright context key add NAME`.

Examples:
  gatewright context serve --listen 127.0.0.1:7410       behind a proxy that ends TLS
  gatewright context serve --listen 0.0.0.0:7410 --tls-cert chain.pem --tls-key key.pem --allow-host context.example.com";

/// How contexts are served.
#[derive(Debug, Args)]
pub struct ContextServeArgs {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7410")]
    pub listen: SocketAddr,
    /// The certificate chain as PEM, the server's own first.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Its private key as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// A name that requests may be addressed to (`Host`), besides this machine's own; any where none is given.
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Requests that each key may make in a minute.
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub per_minute: u64,
}

/// What is done with keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and print it, once.
    Add {
        /// Whose it is: a machine, or a person.
        name: String,
        /// It may keep documents that people wrote, requirements and scripts.
        #[arg(long)]
        admin: bool,
    },
    /// List them.
    List,
    /// Refuse a key from now on.
    Revoke {
        /// Its id (`key_…`).
        id: String,
    },
}

/// What is done with what waits.
#[derive(Debug, Subcommand)]
pub enum OutboxCommand {
    /// List it, in order.
    List,
    /// Send what waits now, and what was refused once more.
    Retry,
    /// Let go of something: it is never sent.
    Drop {
        /// Its number.
        number: i64,
    },
}

/// What is done with review kits.
#[derive(Debug, Subcommand)]
pub enum KitsCommand {
    /// List them, the newest first.
    List,
    /// Show them on this machine, until it is stopped: to nobody but whoever is on this machine.
    Serve {
        /// The port; 0 for any. Else that of `[review] port`.
        #[arg(long)]
        port: Option<u16>,
    },
    /// Write one as files: `index.html` is to be opened.
    Export {
        /// The kit (`kit://…`), or `last`.
        kit: String,
        /// The folder, which is made where it is not there.
        folder: PathBuf,
    },
}

/// What can be set up.
#[derive(Debug, Subcommand)]
pub enum SetupPart {
    /// axe-core, which looks at pages in the browser: fetched from the npm registry and checked by its digest.
    A11y {
        /// The npm registry.
        #[arg(long, value_name = "URL", default_value = "https://registry.npmjs.org")]
        registry: String,
        /// axe-core's package (`npm pack axe-core`), instead of fetching it.
        #[arg(long, value_name = "FILE", conflicts_with = "registry")]
        from: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Which toolsets to offer: names with commas, or `all`. Default: `auto`, all of them enabled, and a menu of at most 16
    /// tools and 2,500 tokens listed, chosen by what the project has; the rest is found with `tools_search`.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub toolsets: Vec<String>,
    /// Offer only tools that look.
    #[arg(long)]
    pub read_only: bool,
    /// Serve Streamable HTTP on this address, at `/mcp`, instead of standard input and output.
    #[arg(long, value_name = "ADDR:PORT")]
    pub http: Option<SocketAddr>,
    /// Let everyone who reaches a loopback address in as you. For development only.
    #[arg(long, requires = "http")]
    pub insecure_loopback: bool,
    /// A name that the `Host` header may have, besides loopback's. Repeatable.
    #[arg(long, requires = "http", value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// An origin that a browser may come from, with scheme and port, besides loopback's. Repeatable.
    #[arg(long, requires = "http", value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
    /// Serve by TLS with this certificate: a PEM file, the server's own certificate first.
    #[arg(long, requires_all = ["http", "tls_key"], value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key: a PEM file.
    #[arg(long, requires_all = ["http", "tls_cert"], value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Serve what the protocol's conformance suite calls, instead of tools.
    #[cfg(feature = "conformance")]
    #[arg(long, requires = "http", hide = true)]
    pub conformance: bool,
}

const CALL: &str = "\
Arguments are named as in `gatewright tools NAME`. Lists take commas or repetition; a flag without a value is true.
  gatewright call tokens_build --source tokens/colors.json --platforms css
  gatewright call tokens_build --json '{\"source\":\"tokens\",\"platforms\":[\"css\"]}' --output json";

#[derive(Debug, Args)]
pub struct CallArgs {
    /// The tool.
    pub tool: String,
    /// The tool's arguments: `--field value`, and `--apply`, `--dry-run`, `--plan ID`, `--json JSON`, `--output json`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "--FIELD VALUE")]
    pub rest: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// Show one tool whole.
    pub name: Option<String>,
    /// Print what each tool costs a model, and the whole menu.
    #[arg(long)]
    pub tokens: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    pub output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Show a rehearsed plan with its whole diff.
    Show {
        /// The plan's id, or the beginning of it.
        id: String,
    },
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The call's transcript id, the beginning of one, or `last`.
    pub transcript: String,
    /// Only show what would be taken back.
    #[arg(long)]
    pub dry_run: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct RecoverArgs {
    /// Accept the paths that recovery had to leave, as they are now.
    #[arg(long)]
    pub accept: bool,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check every record, the chain, the checkpoints and the anchors given.
    Verify {
        /// An anchor kept outside, `SEQ:ROOT` or a file of the JSON that results carry. Repeatable.
        #[arg(long, value_name = "ANCHOR")]
        anchor: Vec<String>,
        /// The first key, where it was taken away from the ledger's folder.
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
        /// Exit with 3 unless an anchor matched.
        #[arg(long)]
        require_anchor: bool,
        /// Another ledger's folder, such as a copy.
        #[arg(long, value_name = "DIR")]
        ledger: Option<PathBuf>,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Show one call whole.
    Show {
        /// The transcript id, the beginning of one, or `last`.
        transcript: String,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// List the latest calls.
    Tail {
        /// How many.
        #[arg(short = 'n', default_value_t = 20)]
        count: usize,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Write all calls as JSON lines, or as one HTML page.
    Export {
        /// What to write.
        #[arg(long, value_enum, default_value_t)]
        format: ExportFormat,
        /// Where to write. Default: standard output.
        #[arg(long, short = 'o', value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// Prove that a call stands in the record, in a form that can be checked without it.
    Prove {
        /// The transcript id, the beginning of one, or `last`.
        transcript: Option<String>,
        /// Also prove that this earlier anchor (`SEQ:ROOT`) is a prefix.
        #[arg(long, value_name = "ANCHOR")]
        since: Option<String>,
        /// Check a proof instead of making one.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["transcript", "since"])]
        check: Option<PathBuf>,
    },
    /// Begin a new segment, or replace the signing key.
    Rotate {
        /// Replace the signing key; the old one signs the new one.
        #[arg(long)]
        key: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ExportFormat {
    /// One record per line, exactly as it stands.
    #[default]
    Jsonl,
    /// One page to look at.
    Html,
}

#[derive(Debug, Subcommand)]
pub enum ApprovalsCommand {
    /// List every tool with the hash of its whole definition.
    List {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Say field by field how the definitions differ from gatewright.lock, or from an earlier release's.
    Diff {
        /// Compare with this release instead: what an upgrade from it has changed.
        #[arg(long, value_name = "VERSION")]
        since: Option<String>,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
    /// Print all that a definition says.
    Show {
        /// The tool.
        name: String,
    },
    /// Accept definitions as they are now: gatewright's own into gatewright.lock, an upstream's as you were last shown it, for
    /// you alone and into gatewright.lock where there is one.
    Accept {
        /// The tools. `NAME@HASH` approves an upstream's tool by the beginning of its hash, without a look. One of
        /// gatewright's own that is gone is dropped.
        names: Vec<String>,
        /// All of gatewright's own, and no other.
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
    /// Take back that an upstream's tools are called.
    Revoke {
        /// The tools.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// As `diff`; exit with 1 when anything differs.
    Verify {
        /// Fail when there is no gatewright.lock, too.
        #[arg(long)]
        frozen: bool,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        output: Format,
    },
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the configuration in force.
    Show,
    /// Print the JSON Schema of `gatewright.toml`.
    Schema,
}

#[derive(Debug, Args)]
pub struct QuickstartArgs {
    /// Keep the scratch copy and say where it is.
    #[arg(long)]
    pub keep: bool,
}

#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    pub output: Format,
}
