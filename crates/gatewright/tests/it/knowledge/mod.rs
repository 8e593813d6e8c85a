//! What a team knows, through the protocol and the command line, over real files.

mod memory;
mod patterns;
mod skills;
