//! Findings as files: a page for people ([`html`]), and SARIF for programs ([`sarif`]).

mod html;
mod sarif;

pub use html::html;
pub use sarif::sarif;

use crate::finding::Findings;

/// What was found on one page.
#[derive(Debug, Clone, Copy)]
pub struct PageFindings<'f> {
    /// The page, as it was named; `root:PATH` is a file.
    pub page: &'f str,
    /// What was found.
    pub findings: &'f Findings,
    /// A picture of it as PNG, and its width in CSS pixels.
    pub picture: Option<(&'f [u8], u32)>,
}

/// What looked.
#[derive(Debug, Clone, Copy)]
pub struct Looker<'f> {
    /// Its name, `axe-core` or `static`.
    pub name: &'f str,
    /// Its version.
    pub version: &'f str,
}
