//! Which documents a repository must have ([`requirements`]), how they stand ([`audit()`]), and those that can be made from it
//! ([`generate()`]). What a document says of its repository is taken out of it ([`claims()`]) and held against what is there
//! ([`check()`]); what cannot be decided is no finding.
//!
//! What somebody wrote or edited is reported and never written over: [`heal`] makes what is missing, and again what was generated and has
//! not been touched since ([`mark`]).
//!
//! There is no I/O here: a repository is looked at through [`projects::Look`], within bounds, once ([`Ground`]).

mod audit;
mod check;
mod claims;
mod generate;
mod ground;
pub mod mark;
mod md;
mod requirement;
#[cfg(test)]
mod testing;

pub use audit::{Audited, By, Held, MAX_AUDITED, Reason, State, audit, heal, judge};
pub use check::{Finding, FindingKind, MAX_FINDINGS, check};
pub use claims::{Claim, ClaimKind, Command, Folder, MAX_CLAIMS, claims};
pub use generate::{GenerateError, MAX_DOCUMENT, MAX_SOURCES, Made, generate};
pub use ground::{Ground, Runtime};
pub use projects::{DetectError, Entry, EntryKind, Look, LookError};
pub use requirement::{
    Documents, Generator, Level, MAX_AGE_DAYS, MAX_REQUIREMENTS, Requirement, RequirementError, Wish,
    capabilities, defaults, requirements,
};
