//! Setting a repository and its clients up: one file per tool, one line each in [`FAMILY`]. What is decided is decided by `onboard`;
//! here its facts are gathered and its files proposed. Over MCP nothing of it is applied but by a person (invariant 7).

pub mod facts;
pub mod tools;

use contract::Toolset;
use kit::{Entry, Family};

/// Setting up.
pub const SETUP: Toolset = Toolset("setup");

/// All of this crate.
pub static FAMILY: Family = Family {
    name: "setup",
    guide: "Setting up: detect_project, onboarding_wizard; validate_setup says what is wrong.",
    shelves: &[],
    markers: &[],
    toolsets: &[SETUP],
    tools: &[
        Entry::read::<tools::detect_project::DetectProject>(),
        Entry::change::<tools::generate_config::GenerateConfig>(),
        Entry::change::<tools::onboarding_wizard::OnboardingWizard>(),
        Entry::read::<tools::validate_setup::ValidateSetup>(),
        Entry::change::<tools::rollback_setup::RollbackSetup>(),
    ],
    sections: &[],
};
