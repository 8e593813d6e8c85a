//! Tools for design systems: one file each under `tools/`, one line each in [`FAMILY`].

mod artifacts;
mod consumers;
mod scan;
mod tokens;
pub mod tools;
mod visual;

use contract::Toolset;
use kit::settings::SectionEntry;
use kit::{Entry, Family};

/// The toolset of every tool here.
pub const DESIGN: Toolset = Toolset("design");

/// The tools.
pub static FAMILY: Family = Family {
    name: "design",
    guide: "Design tokens to CSS, SCSS or JavaScript: tokens_build; what a branch changes of them: tokens_diff. Accessibility of pages, files and tokens: a11y_scan; how pages look against pictures of them: visual_diff.",
    markers: &["tokens", "design-tokens", "*.tokens.json", "*.tokens", "*.resolver.json", "style-dictionary"],
    toolsets: &[DESIGN],
    tools: &[
        Entry::change::<tools::tokens_build::TokensBuild>(),
        Entry::read::<tools::tokens_diff::TokensDiff>(),
        Entry::read::<tools::a11y_scan::A11yScan>(),
        Entry::change::<tools::visual_diff::VisualDiff>(),
    ],
    sections: &[SectionEntry::of::<tokens::TokensSection>(), SectionEntry::of::<scan::A11ySection>()],
};
