//! Lock files that their package managers wrote, and files that nobody should trust.

#![allow(clippy::panic, reason = "a test ends by it")]

mod advisories;
mod difference;
mod formats;
mod hostile;
mod managers;

use gatewright_deps::{Format, Lock, Package, read};

fn lock(format: Format, text: &str) -> Lock {
    read(format, text.as_bytes()).unwrap_or_else(|unread| panic!("{format:?}: {unread}"))
}

fn named<'l>(lock: &'l Lock, name: &str) -> Vec<&'l Package> {
    lock.packages.iter().filter(|package| package.name == name).collect()
}
