//! The desk of a tool that changes something.

use std::sync::{Arc, Mutex, PoisonError};

use contract::{Fault, FileMode, RelPath, TranscriptId};
use exec::{Draft, View};

use super::{ReadDesk, Setting, join};

/// The desk of a tool that changes something: looks like a reader's, and has a draft.
#[derive(Clone)]
pub struct ChangeDesk {
    read: ReadDesk,
    /// At the root that the call came from, where the one that is changed is another.
    home: Option<ReadDesk>,
    draft: Arc<Mutex<Draft>>,
}

impl ChangeDesk {
    pub(crate) fn new(mut setting: Setting, by_person: bool) -> Result<Self, Fault> {
        let home = setting.home.take().map(|home| ReadDesk::of(*home, false)).transpose()?;
        let draft = if by_person { Draft::by_person() } else { Draft::default() };
        Ok(Self { read: ReadDesk::new(setting)?, home, draft: Arc::new(Mutex::new(draft)) })
    }

    /// Proposes to take back what the call with this transcript applied to files here. Folders that it made are left to
    /// `gatewright undo`.
    pub fn take_back(&self, transcript: &TranscriptId) -> Result<(), Fault> {
        let state = &self.read.setting.state;
        let applied = state.applied(transcript)?;
        let back = exec::apply::plan_undo(self.read.view().root(), state, &applied)?;
        self.with(|draft, view| draft.adopt(view, back))
    }

    /// The desk at the root that the call came from; it may have none. What is read there becomes a precondition of the plan, as what is
    /// read here does. It is this one's own, but where a library is changed.
    #[must_use]
    pub const fn home(&self) -> &ReadDesk {
        match &self.home {
            Some(home) => home,
            None => &self.read,
        }
    }

    /// Whether a library is changed, rather than the call's own root.
    #[must_use]
    pub const fn is_in_library(&self) -> bool {
        self.home.is_some()
    }

    pub(crate) fn home_view(&self) -> Option<Arc<View>> {
        self.home.as_ref().filter(|home| home.has_root()).map(|home| Arc::clone(&home.view))
    }

    /// Puts a file.
    pub fn put(&self, path: &RelPath, bytes: Vec<u8>, mode: FileMode) -> Result<(), Fault> {
        self.with(|draft, view| draft.put(view, path, bytes, mode))
    }

    /// Removes a file or link.
    pub fn remove(&self, path: &RelPath) -> Result<(), Fault> {
        self.with(|draft, view| draft.remove(view, path))
    }

    /// Makes a symbolic link whose target lies inside the root.
    pub fn symlink(&self, path: &RelPath, target: &str) -> Result<(), Fault> {
        self.with(|draft, view| draft.symlink(view, path, target))
    }

    /// Appends a line.
    pub fn append(&self, path: &RelPath, line: &str) -> Result<(), Fault> {
        self.with(|draft, view| draft.append(view, path, line))
    }

    /// Writes files as a commit on a new branch.
    pub fn branch(
        &self,
        name: &str,
        message: &str,
        files: Vec<exec::draft::BranchFile>,
    ) -> Result<(), Fault> {
        self.with(|draft, view| draft.branch(view, name, message, files))
    }

    /// Sends one request after everything else.
    pub fn request(
        &self,
        method: &str,
        url: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<(), Fault> {
        self.with(|draft, _| draft.request(method, url, headers, body))
    }

    /// As [`ReadDesk::blocking`], with the draft at hand.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let desk = self.clone();
        join(tokio::task::spawn_blocking(move || work(&desk)).await)
    }

    fn with(&self, work: impl FnOnce(&mut Draft, &View) -> Result<(), Fault>) -> Result<(), Fault> {
        work(&mut self.draft.lock().unwrap_or_else(PoisonError::into_inner), self.read.view())
    }

    /// What was drafted, and the view that it was made with.
    pub(crate) fn into_parts(self) -> (Draft, Arc<View>) {
        let draft = std::mem::take(&mut *self.draft.lock().unwrap_or_else(PoisonError::into_inner));
        (draft, self.read.view)
    }
}

impl std::ops::Deref for ChangeDesk {
    type Target = ReadDesk;

    fn deref(&self) -> &ReadDesk {
        &self.read
    }
}
