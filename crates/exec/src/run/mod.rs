//! One program, started by argv in a world of its own: absolute, from a trusted place, with an environment of its own,
//! seeing what [`sight`] names and no more, its output kept whole.
//!
//! - [`find`]: where programs come from; [`interpreter`]: one that the project names.
//! - [`sight`]: what a run may read besides its root.
//! - [`launcher`]: how programs are started, and what this machine offers them.
//! - [`waiting`]: launchers that wait for their run.
//! - [`launch`]: starting, watching and ending one.
//! - [`watch`] and [`memory`]: what may end one early.
//! - [`capture`]: what it says.
//! - [`door`]: the one way to the network; [`outside`]: what is there.
//! - [`resident`]: a program that goes on; [`installed`]: which one it is, to the last byte.

pub mod capture;
pub mod door;
pub mod find;
pub mod installed;
pub mod interpreter;
pub mod launch;
pub mod launcher;
mod memory;
mod outside;
pub mod resident;
pub mod sight;
pub mod waiting;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use contract::RelPath;
use serde::{Deserialize, Serialize};

pub use ::launcher::main_if_asked;
pub use ::launcher::{Channel, DOOR_PORT};
pub use capture::Captured;
pub use door::web::{Resolve, Shut, Web};
pub use find::{candidates, find, placed, read_small, trusted};
pub use installed::{Code as InstalledCode, Installed, installed};
pub use launcher::{Launcher, Offer};
pub use outside::Outside;
pub use resident::{Needs, Resident, Works};

use crate::handle::Handle;

/// How long a run may take unless its tool says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// The longest that any run may take.
pub const MAX_TIMEOUT: Duration = Duration::from_mins(10);

/// Most arguments of one command.
pub const MAX_ARGS: usize = 4_096;

/// Most bytes of all arguments of one command: a quarter of what Linux takes of one.
pub const MAX_ARG_BYTES: usize = 512 * 1024;

/// Begins an argument that stands for one of a command's inputs. No caller's argument has a control character in it that
/// passes a grammar.
pub const INPUT: &str = "\u{1}input:";

/// A program and its arguments. No shell reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program's plain name, one that the tool declares.
    pub program: Arc<str>,
    /// The project's own interpreter, a link in the root, in the place of a program of the path: its program is then what
    /// the record calls it.
    pub interpreter: Option<RelPath>,
    /// Its arguments, each passed as it is.
    pub args: Vec<String>,
    /// Where in the root it starts; the root itself when `None`.
    pub dir: Option<RelPath>,
    /// Variables besides those that every run has.
    pub env: BTreeMap<String, String>,
    /// Files that it finds in its home: an argument or variable that is [`INPUT`] and a name, behind a flag and `=` or
    /// without, becomes the place of that one.
    /// What it leaves there: `Workshop::left`.
    pub inputs: BTreeMap<String, Vec<u8>>,
    /// How long it may take, at most [`MAX_TIMEOUT`].
    pub timeout: Duration,
    /// The hosts that it may reach by TLS, `*.example.com` for those below one, `:8443` behind one whose port is not 443: none,
    /// and there is no network.
    pub hosts: Vec<String>,
    /// Names of its tool's [`Cache`]s that it is not told of.
    pub without: Vec<&'static str>,
    /// Whether it measures what it starts by reading its memory: for a profiler, in a world of its own alone.
    pub observes: bool,
}

impl Command {
    /// `program` with `args` at the root's top, for at most [`DEFAULT_TIMEOUT`], without network.
    #[must_use]
    pub fn new(program: impl Into<Arc<str>>, args: &[&str]) -> Self {
        Self {
            program: program.into(),
            interpreter: None,
            args: args.iter().map(|a| (*a).to_owned()).collect(),
            dir: None,
            env: BTreeMap::new(),
            inputs: BTreeMap::new(),
            timeout: DEFAULT_TIMEOUT,
            hosts: Vec::new(),
            without: Vec::new(),
            observes: false,
        }
    }
}

/// A folder outside the root that a program fills and finds again: its own cache, private to the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Its name: tools that name the same one share it.
    pub name: &'static str,
    /// The variable by which the program is told where it is.
    pub variable: &'static str,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// How far a run was confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not at all: it had the rights of whoever runs gatewright.
    None,
    /// Landlock and a filter of system calls.
    Filters,
    /// Namespaces and a root of its own, without capabilities, and the filters within.
    Full,
}

impl Level {
    /// The word for results, transcripts and configuration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Filters => "filters",
            Self::Full => "full",
        }
    }
}

/// What a program did.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The command line, as it was.
    pub line: Vec<String>,
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to its standard output.
    pub stdout: Captured,
    /// What it wrote to its standard error.
    pub stderr: Captured,
    /// How long it took.
    pub took: Duration,
    /// How far it was confined.
    pub level: Level,
    /// The hosts that it reached.
    pub reached: Vec<String>,
    /// The hosts that it asked for and that the door did not let it reach, at most 20.
    pub refused: Vec<String>,
    /// Under which its whole output is kept.
    pub handle: Option<Handle>,
}

impl Ran {
    /// Whether it ended by itself with code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.exit == Exit::Code(0)
    }

    /// The code, when it ended by itself.
    #[must_use]
    pub const fn code(&self) -> Option<i32> {
        match self.exit {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) => None,
        }
    }
}
