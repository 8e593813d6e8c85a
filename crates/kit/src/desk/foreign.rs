//! The desk of a tool of others.

use contract::Principal;
use tokio_util::sync::CancellationToken;

use super::Setting;
use crate::call::Bearer;
use crate::inquiry::{Question, Replied};

/// The desk of a foreign tool: who calls, and whether the call goes on. What it reaches is its own upstream.
#[derive(Clone)]
pub struct ForeignDesk {
    setting: Setting,
}

impl ForeignDesk {
    pub(crate) const fn new(setting: Setting) -> Self {
        Self { setting }
    }

    /// Who calls.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.setting.principal
    }

    /// The token that the caller came with. It is for whoever issued it, in exchange for another (RFC 8693), and goes
    /// nowhere else.
    #[must_use]
    pub const fn bearer(&self) -> Option<&Bearer> {
        self.setting.bearer.as_ref()
    }

    /// Cancelled when the call is.
    #[must_use]
    pub const fn cancelled(&self) -> &CancellationToken {
        &self.setting.cancel
    }

    /// Says how far the call has come.
    pub fn progress(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        self.setting.step(done, total, &message.into());
    }

    /// Asks the caller's user, where the front door can. The time that this takes is not the call's.
    pub async fn ask(&self, question: Question) -> Replied {
        match &self.setting.inquiries {
            None => Replied::Unasked,
            Some(inquiries) => inquiries.ask(question).await,
        }
    }
}
