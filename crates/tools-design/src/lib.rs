//! Tools for design systems: one file each under `tools/`, one line each in [`FAMILY`].

mod artifacts;
mod consumers;
mod release;
pub mod review;
mod scan;
mod secrets;
mod tokens;
pub mod tools;
mod usage;
mod visual;

use contract::Toolset;
use kit::settings::SectionEntry;
use kit::{Entry, Family};

/// The toolset of every tool here.
pub const DESIGN: Toolset = Toolset("design");

/// The tools.
pub static FAMILY: Family = Family {
    name: "design",
    guide: "Design tokens to CSS, SCSS or JavaScript: tokens_build; what a branch changes of them: tokens_diff; what is wrong with them, with fixes: tokens_lint; values that should be tokens, with a codemod: tokens_usage. Accessibility of pages, files and tokens: a11y_scan; how pages look against pictures of them: visual_diff. A change as pages for reviewers: review_kit_create. Before a release: release_pack_verify.",
    shelves: &[],
    markers: &["tokens", "design-tokens", "*.tokens.json", "*.tokens", "*.resolver.json", "style-dictionary"],
    toolsets: &[DESIGN],
    // In the order in which a menu that has not room for all takes them.
    tools: &[
        Entry::change::<tools::tokens_build::TokensBuild>(),
        Entry::read::<tools::a11y_scan::A11yScan>(),
        Entry::change::<tools::review_kit_create::ReviewKitCreate>(),
        Entry::change::<tools::release_pack_verify::ReleasePackVerify>(),
        Entry::read::<tools::tokens_diff::TokensDiff>(),
        Entry::change::<tools::visual_diff::VisualDiff>(),
        Entry::change::<tools::tokens_lint::TokensLint>(),
        Entry::change::<tools::tokens_usage::TokensUsage>(),
    ],
    sections: &[
        SectionEntry::of::<tokens::TokensSection>(),
        SectionEntry::of::<scan::A11ySection>(),
        SectionEntry::of::<review::ReviewSection>(),
    ],
};
