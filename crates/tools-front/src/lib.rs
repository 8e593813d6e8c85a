//! The front door: tools that find and call the others, for menus that do not show everything.

mod rank;
pub mod tools;

use contract::Toolset;
use kit::{Entry, Family};

/// The toolset of every tool here. It is always on the menu.
pub const FRONT: Toolset = Toolset(kit::FRONT);

/// The tools.
pub static FAMILY: Family = Family {
    name: "front",
    guide: "More tools than you see: tools_search finds them by what they do; call them by name, or with tool_read and tool_call.",
    shelves: &[],
    markers: &[],
    toolsets: &[FRONT],
    tools: &[
        Entry::read::<tools::tools_search::ToolsSearch>(),
        Entry::envoy::<tools::tool_read::ToolRead>(),
        Entry::envoy::<tools::tool_call::ToolCall>(),
    ],
    sections: &[],
};
