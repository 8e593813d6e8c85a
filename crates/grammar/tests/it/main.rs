//! Behaviour of the grammars: one binary, a module for each reason.
mod files;
