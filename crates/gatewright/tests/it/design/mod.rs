//! The tools of design systems, over the protocol, with the real programs.

mod crates;
mod kit;
mod lint;
mod real;
mod release;
mod scan;
mod tokens;
mod usage;
mod visual;
mod wheels;

use super::bench::Bench;
