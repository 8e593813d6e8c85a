//! One tool, one file.

pub mod detect_project;
pub mod generate_config;
pub mod onboarding_wizard;
pub mod rollback_setup;
pub mod validate_setup;
