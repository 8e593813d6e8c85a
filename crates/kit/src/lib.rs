//! What a tool is made with and goes through.
//!
//! - [`kinds`]: the traits, one per kind of tool; the kind decides what the call's desk offers.
//! - [`desk`]: what a call works at: a view, a draft, a store; never the machine.
//! - [`family`] and [`registry`]: static slices of tools, and everything a server offers.
//! - [`catalog`]: the registry in force, which changes where tools of others come and go.
//! - [`markdown`]: messages that are put together of what others wrote.
//! - [`annex`]: roots that only tools work in which say so: libraries.
//! - [`approvals`]: consent to definitions that arrive from elsewhere.
//! - [`lock`]: the file of definitions that a team has looked at.
//! - [`cost`]: what an answer costs whoever asked.
//! - [`consent`]: where policy wants a person to agree.
//! - [`house`]: several named roots behind one front door.
//! - [`menu`]: what is listed of what is enabled.
//! - [`engine`]: what the binary puts together; its `pipeline` is the one way that every call takes, from name to transcript.
//! - [`prompts`]: work that a person begins by name.
//! - [`resources`]: what is read by URI.
//! - [`skills`]: folders of instructions that are served as they are.
//! - [`testing`]: the laws that every family is held to (feature `testing`).

pub mod annex;
mod answer;
pub mod approvals;
mod authorise;
pub mod call;
pub mod catalog;
pub mod choice;
pub mod consent;
pub mod cost;
mod course;
pub mod desk;
pub mod doc;
pub mod engine;
pub mod erased;
pub mod family;
pub mod house;
pub mod inquiry;
pub mod jobs;
pub mod kinds;
pub mod limits;
pub mod lock;
pub mod markdown;
pub mod menu;
mod misfit;
mod notes;
mod outputs;
pub mod paging;
mod pipeline;
pub mod prompts;
pub mod recovery;
pub mod registry;
pub mod resources;
mod running;
pub mod schema;
pub mod settings;
mod settling;
pub mod shape;
pub mod skills;
pub mod taint;
#[cfg(feature = "testing")]
pub mod testing;
mod transcribe;
pub mod undo;
mod wish;

pub use annex::Annex;
pub use approvals::{Approvals, Approver};
pub use call::{Call, Done, Progress};
pub use catalog::Catalog;
pub use cost::Session;
pub use desk::{ChangeDesk, ForeignDesk, ReadDesk, RecordDesk, RunDesk};
pub use doc::Doc;
pub use engine::Engine;
pub use family::{Entry, Family};
pub use house::House;
pub use kinds::{
    Answer, Change, Define, Definition, Foreign, ForeignCode, ForeignCodeOf, Guest, Means, Read, Record, Run,
};
pub use policy::Label;
pub use policy::scope::FRONT;
pub use registry::{Registered, Registry};
pub use settings::{Section, Settings};
