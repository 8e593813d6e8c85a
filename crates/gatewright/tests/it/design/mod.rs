//! The tools of design systems, over the protocol, with the real programs.

mod scan;
mod tokens;

use super::bench::Bench;
