//! Search, as those who use it see it.
#![allow(missing_docs, reason = "tests say what they do in their names")]

mod common;
mod laws;
mod rules;
mod stems;
