//! One file per tool.

pub mod tool_call;
pub mod tool_read;
pub mod tools_search;
