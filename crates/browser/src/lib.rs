//! Headless Chromium over its DevTools pipe (Chrome DevTools Protocol, stable and "tip of tree" domains), started by the executor in
//! a world of its own.
//!
//! - [`pool`]: browsers that are kept warm, each for one principal and what that one may reach.
//! - [`page`]: a tab with cookies and storage of its own: opened, waited for, acted on, drawn.
//! - [`frame`]: a document of a page, asked from a world that its scripts do not see.
//! - [`policy`]: what becomes of each request that a page makes. The door of the browser's world enforces it once more, on the
//!   addresses that names turn out to have.
//!
//! Everything here blocks: it is for threads that may wait.

mod events;
mod find;
mod flags;
pub mod frame;
pub mod page;
pub mod policy;
pub mod pool;
mod wire;

pub use find::find;
pub use frame::Frame;
pub use page::{Opened, Page, Scheme, Window};
pub use policy::{Credential, Given, Pages, Served};
pub use pool::{Options, Pool, Secret, Tab, Wear};

use contract::{Code, Fault};

/// Why the browser did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// It is no more, or what it says is not understood.
    #[error("the browser ended: {0}")]
    Ended(String),
    /// The page's process is no more.
    #[error("the page crashed")]
    Crashed,
    /// It took longer than it may.
    #[error("{0} took too long")]
    Timeout(&'static str),
    /// The caller does not wait any more.
    #[error("the call was cancelled")]
    Cancelled,
    /// It refused a command.
    #[error("{method}: {message}")]
    Command {
        /// The command.
        method: &'static str,
        /// What it said.
        message: String,
    },
    /// A page may not be opened.
    #[error("{url} is not opened: {why}")]
    Refused {
        /// The page.
        url: String,
        /// Why not.
        why: String,
    },
    /// A page could not be opened.
    #[error("{url} could not be opened: {why}")]
    Unreached {
        /// The page.
        url: String,
        /// What the browser said.
        why: String,
    },
    /// A selector that matches nothing, or is none.
    #[error("no element matches {0:?}")]
    NoElement(String),
    /// A program in the page failed.
    #[error("a program failed in the page: {0}")]
    Script(String),
}

impl From<BrowserError> for Fault {
    fn from(error: BrowserError) -> Self {
        let code = match &error {
            BrowserError::Refused { .. } => Code::Forbidden,
            BrowserError::Unreached { .. } | BrowserError::NoElement(_) => Code::NotFound,
            BrowserError::Timeout(_) => Code::Timeout,
            BrowserError::Cancelled => Code::Cancelled,
            _ => Code::ToolExecutionFailed,
        };
        Self::new(code, error.to_string())
    }
}

/// What a command gives.
pub(crate) type Done<T> = Result<T, BrowserError>;
