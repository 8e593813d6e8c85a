//! Behaviour of the grammars: one binary, a module for each reason.
mod files;
mod laws;
mod limits;
mod names;
mod splitting;
mod suites;
