//! Tools for the working day: one file each under `tools/`, one line each in [`FAMILY`].
//!
//! - [`Workplace`]: what the binary knows of this machine and its user.
//! - [`grade`]: what became of what was handed over.

mod age;
mod anchor;
pub mod asking;
mod audit;
pub mod grade;
mod here;
mod issues;
mod past;
pub mod settings;
mod shelves;
mod slug;
pub mod sod;
pub mod tools;
pub mod weekly;
pub mod workplace;

use contract::Toolset;
use kit::settings::SectionEntry;
use kit::{Entry, Family};

pub use asking::Asking;
pub use slug::{of_remotes, slug};
pub use workplace::Workplace;

/// The toolset of every tool here.
pub const SESSION: Toolset = Toolset("session");

/// The tools.
pub static FAMILY: Family = Family {
    name: "session",
    guide: "A day begins with sod: the session, what was handed over and whether it still holds, others at work, notes, the plan. It ends with handoff. In between: notes and note for what the team knows, doc for its documents, doc_audit for those a repository must have, plan for the week, status for the repository's issues, context for where you are.",
    shelves: &[&shelves::Documents, &shelves::Plan, &shelves::Sessions],
    markers: &[],
    toolsets: &[SESSION],
    // In the order in which a menu that has not room for all takes them.
    tools: &[
        Entry::record::<tools::sod::Sod>(),
        Entry::record::<tools::handoff::Handoff>(),
        Entry::read::<tools::notes::Notes>(),
        Entry::record::<tools::note::Note>(),
        Entry::read::<tools::context::Context>(),
        Entry::read::<tools::doc::Doc>(),
        Entry::change::<tools::doc_audit::DocAudit>(),
        Entry::read::<tools::status::Status>(),
        Entry::read::<tools::plan::Plan>(),
        Entry::read::<tools::ventures::Ventures>(),
        Entry::read::<tools::preflight::Preflight>(),
    ],
    sections: &[
        SectionEntry::of::<settings::DocumentsSection>(),
        SectionEntry::of::<settings::IssuesSection>(),
    ],
};
