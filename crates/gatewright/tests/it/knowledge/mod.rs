//! What a team knows, through the protocol and the command line, over real files.

mod artifacts;
mod index;
mod memory;
mod ours;
mod patterns;
mod promote;
mod recorded;
mod serving;
mod serving_http;
mod shared;
mod skills;
