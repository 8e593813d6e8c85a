//! The tools of design systems, over the protocol, with the real programs.

mod scan;
mod tokens;
mod visual;

use super::bench::Bench;
