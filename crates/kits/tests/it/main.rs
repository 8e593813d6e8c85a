//! Kits as a browser's parser reads them.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

extern crate gatewright_kits as kits;

mod fixture;
mod guard;
mod manifest;
mod pages;
mod tree;
