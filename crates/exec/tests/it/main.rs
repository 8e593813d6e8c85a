//! What must hold at the door: the P- and G-cases of the attack suite by their ids, plans, crashes, undo.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests attack the files from outside")]

mod archives;
mod branches;
mod census;
mod clones;
mod confined;
mod hostile;
mod house;
mod jail;
mod killed;
mod lines;
mod plans;
mod pushes;
mod refs;
mod requests;
mod resident;
mod runs;
mod waiting;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{Digest, Fault, FileMode, Plan, Principal, RelPath, ToolName, TranscriptId};
use gatewright_exec::state::Durable;
use gatewright_exec::{Applied, Draft, Rights, Root, StateDir, View, apply};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A root and its state in a scratch folder.
struct Place {
    root: Arc<Root>,
    state: StateDir,
    scratch: TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("root");
        std::fs::create_dir(&path).unwrap();
        for (name, text) in files {
            std::fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            std::fs::write(path.join(name), text).unwrap();
        }
        let root = Arc::new(Root::open(&path, "root", Rights::ReadWrite).unwrap());
        let state = StateDir::at(scratch.path().join("state")).unwrap();
        Self { root, state, scratch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join("root").join(name)
    }

    fn outside(&self) -> &Path {
        self.scratch.path()
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    fn view(&self) -> View {
        View::new(Arc::clone(&self.root), CancellationToken::new())
    }

    /// Drafts, keeps and returns a plan.
    fn plan(&self, work: impl FnOnce(&mut Draft, &View) -> Result<(), Fault>) -> Result<Plan, Fault> {
        self.plan_in(Draft::default(), work)
    }

    /// The same, in a draft of whatever rights.
    fn plan_in(
        &self,
        mut draft: Draft,
        work: impl FnOnce(&mut Draft, &View) -> Result<(), Fault>,
    ) -> Result<Plan, Fault> {
        let view = self.view();
        work(&mut draft, &view)?;
        let tool = ToolName::new("test").unwrap();
        let proposal = draft.into_proposal(&view, tool, Digest::ZERO, &Principal::Local { uid: 0 });
        self.state.keep_plan(&proposal, serde_json::Value::Null)?;
        Ok(proposal.plan)
    }

    fn apply(&self, plan: &Plan) -> Result<Applied, Fault> {
        let transcript = TranscriptId::random().unwrap();
        apply(&self.root, &self.state, plan, &transcript, None, &CancellationToken::new())
    }

    fn undo(&self, applied: &Applied) -> Result<Applied, Fault> {
        let proposal = apply::plan_undo(&self.root, &self.state, applied)?;
        for (digest, bytes) in &proposal.blobs {
            self.state.put_blob(digest, bytes, Durable::Yes)?;
        }
        let transcript = TranscriptId::random().unwrap();
        apply::undo(&self.root, &self.state, applied, &proposal.plan, &transcript)
    }

    /// No temporary file and no journal is left.
    fn assert_tidy(&self) {
        let mut open = vec![self.path("")];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let entry = entry.unwrap();
                assert!(
                    !entry.file_name().to_string_lossy().starts_with(".gatewright-tmp-"),
                    "{}",
                    entry.path().display()
                );
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                }
            }
        }
        assert_eq!(std::fs::read_dir(self.outside().join("state/journal")).unwrap().count(), 0);
    }
}

/// Says loudly that a part was left out, where the summary of `cargo xtask test` counts it.
fn skip(part: &str) {
    eprintln!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{part}").unwrap();
    }
}

fn path(text: &str) -> RelPath {
    RelPath::new(text).unwrap()
}

fn put(draft: &mut Draft, view: &View, name: &str, text: &str) -> Result<(), Fault> {
    draft.put(view, &path(name), text.as_bytes().to_vec(), FileMode::Regular)
}
