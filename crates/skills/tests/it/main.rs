//! What must hold of code of skills.

mod blanked;
mod conversation;
mod engine;
mod errors;
mod hostile;
mod killed;
mod modules;
mod refusals;
mod support;
mod texts;
