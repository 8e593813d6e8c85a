//! The desk of a tool that looks.

use std::sync::Arc;
use std::time::Duration;

use audit::Redactor;
use contract::{Code, Digest, Fault, PlanId, Principal, ToolName, canonical};
use exec::history::Repo;
use exec::reports::ReportFile;
use exec::run::Level;
use exec::{Rights, Root, View};
use tokio_util::sync::CancellationToken;

use serde_json::{Map, Value};

use super::{ChangeDesk, Setting, join, no_root, unread};
use crate::call::ClientInfo;
use crate::kinds::{Answer, Change};
use crate::paging::Page;
use crate::registry::Registry;
use crate::settings::{self, Section};
use crate::shape::Cleaner;

/// A plan of another tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// Its id.
    pub plan: PlanId,
    /// What it would do, one line each.
    pub effects: Vec<String>,
}

/// The desk of a tool that looks.
#[derive(Clone)]
pub struct ReadDesk {
    pub(super) view: Arc<View>,
    pub(super) setting: Setting,
}

impl ReadDesk {
    pub(crate) fn new(setting: Setting) -> Result<Self, Fault> {
        Self::of(setting, true)
    }

    /// The desk of a tool that may do without a root: it then looks at nothing.
    pub(crate) fn of(setting: Setting, needs_root: bool) -> Result<Self, Fault> {
        let root = match (&setting.root, needs_root) {
            (Some(root), _) => Arc::clone(root),
            (None, true) => return Err(no_root()),
            (None, false) => Arc::new(Root::open(&setting.state.nowhere()?, "none", Rights::Read)?),
        };
        let view = Arc::new(View::new(root, setting.cancel.clone()));
        Ok(Self { view, setting })
    }

    /// The window on the root.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Whether there is a root to work in: a tool that may do without one looks at nothing then.
    #[must_use]
    pub const fn has_root(&self) -> bool {
        self.setting.root.is_some()
    }

    /// The program that calls, where it says its name.
    #[must_use]
    pub const fn client(&self) -> Option<&ClientInfo> {
        self.setting.client.as_ref()
    }

    /// Who calls.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.setting.principal
    }

    /// A section of the configuration: the project's `gatewright.toml`, read through the view, over the user's.
    pub fn settings<S: Section>(&self) -> Result<S, Fault> {
        let project = settings::of_project(&self.view)?;
        self.setting.settings.overlaid(&project).section()
    }

    /// The page that was asked for, of a tool whose answer is a list. A tool need not look: an answer that has it all
    /// is cut to the page.
    #[must_use]
    pub const fn page(&self) -> Page {
        self.setting.page
    }

    /// Everything that is offered here.
    #[must_use]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.setting.registry
    }

    /// A service that the binary provides, where it does.
    #[must_use]
    pub fn service<S: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<S>> {
        self.setting.services.get::<S>()
    }

    /// `text` without secrets: for what is remembered.
    #[must_use]
    pub fn cleaned(&self, text: &str) -> String {
        String::from_utf8_lossy(&(self.setting.clean)(text.as_bytes())).into_owned()
    }

    /// What finds secrets, for files that leave the project.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.setting.redactor
    }

    /// The project's git repository, to be read; nothing of it is run or followed.
    pub fn repository(&self) -> Result<Repo, Fault> {
        Repo::open(self.view.root().path()).map_err(unread)
    }

    /// Keeps a report for the caller; its handle is `report://` and what this gives.
    pub fn keep_report(&self, title: &str, files: &[ReportFile]) -> Result<String, Fault> {
        let Setting { state, principal, clean, .. } = &self.setting;
        state.keep_report(title, files, principal, clean).map(|handle| handle.to_string())
    }

    /// Keeps a review kit for the caller: `kit://` and its name.
    pub fn keep_kit(&self, name: &str, files: &[ReportFile]) -> Result<(), Fault> {
        self.setting.state.keep_kit(name, files, &self.setting.principal)
    }

    /// Has `tool` rehearse with this input, and keeps its plan for the caller: `arguments` are the input as a call would have it. Nothing,
    /// where it would change nothing. The plan is the other tool's: a call of that one applies it.
    pub async fn propose<T: Change>(
        &self,
        tool: &T,
        input: T::Input,
        arguments: &Map<String, Value>,
    ) -> Result<Option<Proposed>, Fault> {
        let name = ToolName::new(T::NAME).map_err(|e| Fault::internal(e.to_string()))?;
        let desk = ChangeDesk::new(self.setting.clone(), T::PERSON_APPLIES)?;
        let answer = tool.plan(input, desk.clone()).await?;
        let output = serde_json::to_value(&answer.output).map_err(|e| Fault::internal(e.to_string()))?;
        let (draft, view) = desk.into_parts();
        if draft.is_empty() {
            return Ok(None);
        }
        let (state, owner) = (self.setting.state.clone(), self.setting.principal.clone());
        let (redactor, digest) =
            (Arc::clone(&self.setting.redactor), Digest::of(&canonical::of_object(arguments)));
        self.blocking(move |_| {
            let proposal = draft.into_proposal(&view, name, digest, &owner);
            let cleaner = Cleaner { redactor: &redactor, places: &[] };
            let answer =
                Answer { message: cleaner.text(&answer.message), ..answer.map(|_| cleaner.value(&output)) };
            let kept = serde_json::to_value(&answer).map_err(|e| Fault::internal(e.to_string()))?;
            let effects = proposal.plan.effects.iter().map(|e| cleaner.text(&e.summary())).collect();
            Ok(Some(Proposed { plan: state.keep_plan(&proposal, kept)?, effects }))
        })
        .await
    }

    /// Fails unless a person approved the code of the skill `name` (`LIBRARY:CATEGORY/NAME`) as `identity` has it.
    pub async fn approved_skill(&self, name: String, identity: Value) -> Result<(), Fault> {
        let approver = Arc::clone(&self.setting.approvals);
        self.blocking(move |_| approver.approved()?.check_skill(&name, &identity)).await
    }

    /// Says that something worked for the call that is no run of a program, and how far it was confined.
    pub fn note_level(&self, level: Level) {
        self.setting.course.note_level(level);
    }

    /// Says how far the call has come.
    pub fn progress(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        self.setting.step(done, total, &message.into());
    }

    /// Says that this call is one that goes on: whoever made it need not wait. It becomes a job at once.
    pub fn go_on_alone(&self) {
        self.setting.course.leave();
    }

    /// Cancelled when the call is.
    #[must_use]
    pub const fn cancelled(&self) -> &CancellationToken {
        &self.setting.cancel
    }

    /// Waits for as long, or until the call is cancelled; says whether it was.
    pub async fn pause(&self, time: Duration) -> bool {
        self.setting.cancel.run_until_cancelled(tokio::time::sleep(time)).await.is_none()
    }

    /// Fails when the call was cancelled.
    pub fn check(&self) -> Result<(), Fault> {
        if self.setting.cancel.is_cancelled() {
            return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }

    /// Runs file work, hashing and other blocking work off the protocol's thread.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let desk = self.clone();
        join(tokio::task::spawn_blocking(move || work(&desk)).await)
    }
}
