//! The tools of design systems, over the protocol, with the real programs.

mod tokens;

use super::bench::Bench;
