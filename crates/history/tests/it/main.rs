//! What must hold of reading repositories that the git program made, field by field, and of hostile ones.

mod bounded;
mod diffs;
mod generated;
mod hostile;
mod ignores;
mod logs;
mod opened;
mod place;
mod statuses;
mod unchanged;
