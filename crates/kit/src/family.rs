//! Families: a crate's tools as one static slice.

use std::sync::Arc;

use contract::{Head, Toolset};

use crate::erased::{self, Tool};
use crate::kinds::{Change, Read, Record, Run};
use crate::resources::Shelf;
use crate::settings::SectionEntry;

/// A crate of tools.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The crate's short name: `design`, `devtools`, …
    pub name: &'static str,
    /// One line for models: when to reach for its tools. It becomes a part of the server's instructions.
    pub guide: &'static str,
    /// Names at a project's top that say it has use for these tools; `*` at the front stands for anything.
    pub markers: &'static [&'static str],
    /// The toolsets that its tools are in.
    pub toolsets: &'static [Toolset],
    /// One line per tool.
    pub tools: &'static [Entry],
    /// What is read by URI of what its tools keep.
    pub shelves: &'static [&'static dyn Shelf],
    /// The configuration sections that its tools read.
    pub sections: &'static [SectionEntry],
}

/// One tool in a family's slice.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    head: fn() -> Head,
    make: fn() -> Arc<Tool>,
}

impl Entry {
    /// A tool that looks.
    #[must_use]
    pub const fn read<T: Read + Default>() -> Self {
        Self { head: erased::head_of_read::<T>, make: erased::read::<T> }
    }

    /// A tool that changes something.
    #[must_use]
    pub const fn change<T: Change + Default>() -> Self {
        Self { head: erased::head_of_change::<T>, make: erased::change::<T> }
    }

    /// A tool that makes the calls of others, which the engine unwraps.
    #[must_use]
    pub const fn envoy<T: Read + Default>() -> Self {
        Self { head: erased::head_of_envoy::<T>, make: erased::envoy::<T> }
    }

    /// A tool that starts programs.
    #[must_use]
    pub const fn run<T: Run + Default>() -> Self {
        Self { head: erased::head_of_run::<T>, make: erased::run::<T> }
    }

    /// A tool that records.
    #[must_use]
    pub const fn record<T: Record + Default>() -> Self {
        Self { head: erased::head_of_record::<T>, make: erased::record::<T> }
    }

    /// What the tool says about itself without its schemas.
    #[must_use]
    pub fn head(&self) -> Head {
        (self.head)()
    }

    /// The tool.
    #[must_use]
    pub fn make(&self) -> Arc<Tool> {
        (self.make)()
    }
}
