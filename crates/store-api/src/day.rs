//! How much a day begins with, whoever gathers it: the tool over its store, or a server of contexts.

/// Milliseconds of a day.
pub const DAY: i64 = 24 * 60 * 60 * 1_000;
/// How far back handoffs are given along, in milliseconds.
pub const HANDOFFS_SINCE: i64 = DAY;
/// Most handoffs that are given along.
pub const HANDOFFS: u32 = 10;
/// Most other sessions that are given along.
pub const SESSIONS: u32 = 20;
/// Most documents of the index that are given along.
pub const DOCUMENTS: u32 = 30;
/// Most notes that are given along.
pub const NOTES: u32 = 10;
/// Most characters of their titles and texts.
pub const NOTE_CHARACTERS: u64 = 12_000;
