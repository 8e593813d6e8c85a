//! Whether TypeScript finds the types of a package, and whether they say what the files do.
//!
//! The questions, and what they are called, are those of are-the-types-wrong (@arethetypeswrong/core 0.18.5 with
//! TypeScript 5.6.1-rc): `docs/design/npm-packing.md` §3, whose sections the comments here name. What only TypeScript's
//! checker can say is not guessed: [`Analysis::undecided`] names it.

mod bundled;
mod checks;
mod declared;
mod entries;
pub(crate) mod json;
mod library;
mod lookup;
mod path;
mod problem;
mod program;
mod range;
mod resolve;
mod script;
mod shape;
mod value;
mod world;

pub use self::entries::EntryOptions;
pub(in crate::npm) use self::lookup::{Lookup, lookup};
pub use self::problem::Problem;
pub use self::resolve::{Format, ResolutionOption};
use super::syntax::{Unreadable, with_stack};
use crate::Packed;

/// Bytes of the longest package name; npm allows 214.
const MAX_NAME_BYTES: usize = 1024;
/// Files asked for, targets tried and files followed, over a whole analysis. The largest packages looked at took less
/// than a tenth.
const MAX_STEPS: u64 = 10_000_000;

/// Why a package is not analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no package.json.
    #[error("there is no package.json")]
    NoManifest,
    /// The package.json is no JSON object.
    #[error("package.json cannot be read: {why}")]
    BadManifest {
        /// In words.
        why: String,
    },
    /// The package has no name, or one that npm would not take.
    #[error("package.json has no usable name: `{name}`")]
    BadName {
        /// As it is written; empty when there is none.
        name: String,
    },
    /// It would take too long: some files, conditions or patterns multiply each other.
    #[error("the package has too many entry points, patterns or imports to be analysed")]
    TooMuch,
    /// The system gave no thread to read sources on, or reading broke off.
    #[error("sources cannot be read: no thread with enough stack, or the parser broke off")]
    NoThread,
}

/// How an import is resolved: what programs and settings do it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResolutionKind {
    /// TypeScript's `node10`: no `exports`.
    Node10,
    /// `require` in Node 16 and later.
    Node16Cjs,
    /// `import` in Node 16 and later.
    Node16Esm,
    /// `import` in a bundler.
    Bundler,
}

impl ResolutionKind {
    /// All, in the order in which they are looked at.
    pub const ALL: [Self; 4] = [Self::Node10, Self::Node16Cjs, Self::Node16Esm, Self::Bundler];

    /// As are-the-types-wrong writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node10 => "node10",
            Self::Node16Cjs => "node16-cjs",
            Self::Node16Esm => "node16-esm",
            Self::Bundler => "bundler",
        }
    }

    /// The setting that it is a part of.
    pub fn option(self) -> ResolutionOption {
        match self {
            Self::Node10 => ResolutionOption::Node10,
            Self::Node16Cjs | Self::Node16Esm => ResolutionOption::Node16,
            Self::Bundler => ResolutionOption::Bundler,
        }
    }

    fn mode(self) -> Option<Format> {
        match self {
            Self::Node10 | Self::Bundler => None,
            Self::Node16Cjs => Some(Format::Cjs),
            Self::Node16Esm => Some(Format::Esm),
        }
    }
}

/// What decided which module format a file has in Node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Its extension.
    Extension,
    /// The `type` of the nearest package.json.
    Type,
    /// That the nearest package.json has no `type`.
    NoType,
}

/// Which module format a file has in Node (§3.5).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleKind {
    /// The format.
    pub format: Format,
    /// What decided it.
    pub reason: Reason,
    /// The file that decided it: the file itself, or a package.json.
    pub reason_file: String,
}

/// A file that an entry point leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it is packed.
    pub file: String,
    /// Whether its name is one of TypeScript's: a source or a declaration file.
    pub is_typescript: bool,
    /// Whether it is JSON.
    pub is_json: bool,
    /// Its format; `None` for JSON and other files, and where formats mean nothing (`node10`, `bundler`).
    pub module: Option<ModuleKind>,
}

/// Where an entry point leads in one kind of resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryResolution {
    /// Which kind.
    pub kind: ResolutionKind,
    /// What types are taken from: a declaration file, a source, or at last JavaScript or JSON.
    pub types: Option<Target>,
    /// What runs.
    pub implementation: Option<Target>,
    /// The problems that are seen here: indices into [`Analysis::problems`].
    pub problems: Vec<usize>,
}

/// A name that can be imported from the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    /// `.`, or `./` and a path, as `exports` has it.
    pub subpath: String,
    /// Whether it has a `*`: such are not resolved.
    pub wildcard: bool,
    /// One for each kind, in the order of [`ResolutionKind::ALL`]; none for a wildcard.
    pub resolutions: Vec<EntryResolution>,
}

/// What was found of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// Whether any file in the package has one of TypeScript's extensions. If not, nothing else is looked at.
    pub has_types: bool,
    /// The entry points, in the order of `exports`.
    pub entries: Vec<EntryPoint>,
    /// What is wrong, each thing once.
    pub problems: Vec<Problem>,
    /// The kinds of problems, sorted, that may be there as well: TypeScript's checker would have to say.
    pub undecided: Vec<&'static str>,
    /// The files that could not be read, sorted, and why: what depends on them is not decided either.
    pub unread: Vec<(String, Unreadable)>,
}

/// Analyses a package, with all entry points that it has.
pub fn analyze(packed: &Packed) -> Result<Analysis, Error> {
    analyze_entries(packed, &EntryOptions::default())
}

/// Analyses a package, with the entry points that are asked for.
pub fn analyze_entries(packed: &Packed, options: &EntryOptions) -> Result<Analysis, Error> {
    with_stack(|| checks::run(packed, options)).unwrap_or(Err(Error::NoThread))
}
