//! Argument grammars: what a program may be given.
//!
//! Text of a user or a model reaches a program only through the typed grammar of that program (DESIGN §5). A grammar is a
//! file of its own, `programs/<program>.toml`: its sub-commands, their flags and what each takes, their positionals, and
//! examples that must and must not match. Whatever a grammar does not have is refused with the reason; nothing is searched
//! for bad substrings. `docs/design/grammars.md` says how a file is written.
//!
//! A grammar is the first of two layers: it keeps out what would make a program start others, load code or configuration
//! from elsewhere, write where it likes or open the network. What the repository itself makes a program do (its
//! configuration, its scripts) is for the confinement of the run.
//!
//! # Examples
//!
//! ```
//! use gatewright_grammar::{Grammar, Place, program_of};
//!
//! let words = gatewright_grammar::split("go test -run 'TestA|TestB/sub$' ./...").unwrap();
//! let (program, args) = words.split_first().unwrap();
//! let grammar = Grammar::of(program_of(program).unwrap()).unwrap();
//! assert_eq!(grammar.check(args, &Place::root()).unwrap().sub_command.as_deref(), Some("test"));
//!
//! let refusal = grammar.check(&["test".into(), "-exec=/tmp/x".into()], &Place::root()).unwrap_err();
//! assert!(refusal.to_string().contains("`-exec` is refused"));
//! ```

mod check;
mod file;
mod load;
mod model;
mod place;
mod programs;
mod refusal;
mod split;
mod suggest;
mod value;

pub use check::{Accepted, MAX_ARGUMENTS, MAX_BYTES};
pub use load::LoadError;
pub use model::Grammar;
pub use place::Place;
pub use programs::{NAMES, ProgramRefusal, program_of, programs, verify};
pub use refusal::{Refusal, Why};
pub use split::{SplitError, join, split};
pub use suggest::describe;
pub use value::{Unfit, ValueKind, variable_chooses};
