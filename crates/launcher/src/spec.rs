//! What is to be started, and what the program may see: written by whoever starts the launcher, read by it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a world is made of before it is known what runs in it: a launcher may wait with this done. Every path is absolute
/// and without links: whoever writes this has resolved them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// How much of a world of its own a program gets.
    pub isolation: Isolation,
    /// Whether it reaches whatever this machine reaches, instead of a network of its own.
    pub is_online: bool,
    /// An empty folder of ours, over which the new root is put together. It is not seen by the program.
    pub stage: PathBuf,
    /// What every program may read, each with all that is below.
    pub readable: Vec<PathBuf>,
    /// Bytes of each of its private temporary folders.
    pub scratch_bytes: u64,
}

/// Bytes of each private temporary folder, unless something else is asked for.
pub const SCRATCH_BYTES: u64 = 1 << 30;

/// One program, on its ground. Every path is absolute and without links, as there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// What its world is made of: that which the launcher was told before.
    pub ground: Ground,
    /// The program.
    pub program: PathBuf,
    /// What the program is told that it is called, where that is not its own place.
    pub called: Option<PathBuf>,
    /// Its arguments, without its own name.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// Where it starts: in one of the places below.
    pub dir: PathBuf,
    /// What it may read besides what every program may, each with all that is below.
    pub readable: Vec<PathBuf>,
    /// What it reads in the place of something else, below what it may see. [`Isolation::Filters`] cannot do so: there this is empty.
    pub shown: Vec<Bound>,
    /// What it may read and write, and where it finds it.
    pub writable: Vec<Bound>,
    /// A folder that it sees with its own changes on top.
    pub overlay: Option<Overlay>,
    /// Files and folders among these that are not to be seen: an empty one stands in their place.
    pub hidden: Vec<PathBuf>,
    /// What it may connect to.
    pub network: Network,
    /// Where it is given one end of a socket, whose other end comes with [`Report::Channel`]. [`Isolation::Filters`] gives none.
    pub channel: Option<Channel>,
    /// Whether its programs may read the memory of each other. [`Isolation::Filters`] starts none that would: others are to be seen there.
    #[serde(default)]
    pub observes: bool,
    /// How much it may use.
    pub limits: Limits,
    /// Whether a missing layer is a failure, rather than reported.
    pub strict: bool,
}

/// A folder or file of this machine, and where the program finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Where it is.
    pub from: PathBuf,
    /// Where it is seen. [`Isolation::Filters`] cannot move anything: there this is the same.
    pub at: PathBuf,
}

impl Bound {
    /// What is seen where it is.
    #[must_use]
    pub fn here(path: PathBuf) -> Self {
        Self { from: path.clone(), at: path }
    }
}

/// The descriptors under which a program finds its channel: one to read, one to write, both the same socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// 3 and 4, as Chromium wants it.
    Beside,
    /// Its standard input and output.
    Streams,
}

impl Channel {
    /// The descriptors.
    pub(crate) const fn places(self) -> [i32; 2] {
        match self {
            Self::Beside => [3, 4],
            Self::Streams => [0, 1],
        }
    }
}

/// The port of the door of [`Network::Door`], on the program's own loopback.
pub const DOOR_PORT: u16 = 3128;

/// What a program on a network of its own may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Its own loopback (with [`Isolation::Filters`] not even that, unless its ground is online).
    None,
    /// Its own loopback, where whoever asked for the run listens on [`DOOR_PORT`]: the listening socket comes with
    /// [`Report::Door`].
    Door,
}

/// How much of a world of its own a program gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Namespaces and a root made of what it may see, and the filters within.
    Full,
    /// Landlock and the filter of system calls alone: for machines that let nobody make namespaces. Files are guarded by
    /// rules instead of being absent, nothing can be put over anything, and whoever it leaves behind is killed by the
    /// launcher, which must live for that.
    Filters,
}

/// A folder that is read from one place and written to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlay {
    /// The folder; it is seen at its own place.
    pub lower: PathBuf,
    /// Where what is written lands: an empty folder.
    pub upper: PathBuf,
    /// The kernel's own work folder: empty, on the same file system as `upper`.
    pub work: PathBuf,
}

/// Resource limits (`setrlimit(2)`), each for one process but the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time, in seconds.
    pub cpu_seconds: u64,
    /// The largest file that it may write, in bytes.
    pub file_bytes: u64,
    /// Open files.
    pub files: u64,
    /// Processes and threads, of all that it starts; at least [`MIN_PROCESSES`].
    pub processes: u64,
}

/// The fewest processes that a world can be held to: kernels number the first ones for themselves.
pub const MIN_PROCESSES: u64 = 400;

impl Default for Limits {
    fn default() -> Self {
        Self { cpu_seconds: 600, file_bytes: 4 << 30, files: 4_096, processes: 2_048 }
    }
}

/// A layer of confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Its own users, mounts, processes, messages and names.
    Namespaces,
    /// No network but a loopback of its own, or the machine's where that was asked for.
    Network,
    /// A root made of what it may see.
    Root,
    /// The processes of its own world alone in `/proc`.
    Proc,
    /// A limit on the processes of its world that holds for root, too.
    Processes,
    /// No capabilities and no way to new ones.
    Capabilities,
    /// Landlock rules on files.
    Landlock,
    /// A filter on system calls.
    Seccomp,
}

/// What the launcher says, one JSON object a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// The door of [`Network::Door`] is open; its listening socket came with this.
    Door,
    /// The other end of the program's channel came with this.
    Channel,
    /// The program is about to be started within these layers.
    Ready {
        /// The layers that hold.
        layers: Vec<Layer>,
    },
    /// It cannot be started.
    Failed {
        /// What was being done.
        doing: String,
        /// What the system said.
        why: String,
    },
    /// It ended by itself, with this code.
    Exited {
        /// The code.
        code: i32,
    },
    /// A signal ended it.
    Killed {
        /// The signal's number.
        signal: i32,
    },
}
