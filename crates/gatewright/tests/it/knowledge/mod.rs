//! What a team knows, through the protocol and the command line, over real files.

mod artifacts;
mod memory;
mod patterns;
mod skills;
