//! Packages of Python: what a project says, what is in its wheels and source distributions, what they bring along, and how the names
//! that they give differ between releases.
//!
//! Building runs the project's own code, so it is done elsewhere, confined; here is what to run and how to read what it gives.

pub mod api;
pub mod archive;
pub mod bill;
pub mod build;
pub mod checks;
pub mod metadata;
pub mod name;
pub mod project;
pub mod sdist;
pub mod uv;
pub mod version;
pub mod wheel;
