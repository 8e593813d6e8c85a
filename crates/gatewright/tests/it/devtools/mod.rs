//! The development tools, over the protocol, with the real programs.

mod cache;
mod cargo;
mod cargo_audit;
mod choices;
mod commands;
mod files;
mod foreign_code;
mod git;
mod go;
#[path = "../../../../exec/tests/it/hostile.rs"]
mod hostile;
mod inputs;
mod lint;
mod make;
mod managers;
mod node;
mod node_tests;
mod packages;
mod python;
mod python_deps;
mod python_newest;
mod python_pipenv;
mod python_security;
mod python_venvs;
mod registries;
mod remote;
mod runs;
mod rust;
mod settings;
mod shared;
mod smart;
mod story;
mod tasks;
mod tests;

pub(crate) use super::bench::{Bench, Session, installed};
