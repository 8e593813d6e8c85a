//! The desk of a tool that starts programs.

use std::sync::{Arc, Mutex, PoisonError};

use contract::{Code, Fault, FileMode, RelPath, SeenRef};
use exec::push::Remote;
use exec::run::{Command, Ran};
use exec::workshop::persist::{Declared as Declaration, Settled, SideWrites};
use exec::{Draft, View, Workshop};

use super::{ReadDesk, Setting};
use crate::erased::Drafted;
use crate::schema::Asked;

/// The desk of a tool that starts programs: looks like a reader's, and what its programs write is its proposal.
#[derive(Clone)]
pub struct RunDesk {
    read: ReadDesk,
    workshop: Arc<tokio::sync::OnceCell<Arc<Workshop>>>,
    planned: Arc<Mutex<Planned>>,
}

/// What the tool itself proposes, where it does not leave that to what its programs write.
#[derive(Default)]
struct Planned(Draft);

impl RunDesk {
    pub(crate) fn new(setting: Setting) -> Result<Self, Fault> {
        Ok(Self { read: ReadDesk::new(setting)?, workshop: Arc::default(), planned: Arc::default() })
    }

    /// Where, with which further arguments and for how long its programs are to run.
    #[must_use]
    pub fn asked(&self) -> &Asked {
        &self.read.setting.asked
    }

    /// Runs a program that the tool declares, over the call's copy of the root.
    pub async fn run(&self, command: Command) -> Result<Ran, Fault> {
        let workshop = Arc::clone(self.workshop.get_or_try_init(|| self.read.workshop()).await?);
        self.read.run_in(&workshop, command).await
    }

    /// Proposes a file with this content. What programs of the same call wrote is then to be nobody's proposal:
    /// see [`Self::afresh`].
    pub fn put(&self, path: &RelPath, bytes: Vec<u8>) -> Result<(), Fault> {
        self.propose(|draft, view| draft.put(view, path, bytes, FileMode::Regular))
    }

    /// Proposes that a file or link be removed.
    pub fn remove(&self, path: &RelPath) -> Result<(), Fault> {
        self.propose(|draft, view| draft.remove(view, path))
    }

    /// Proposes one more line.
    pub fn append(&self, path: &RelPath, line: &str) -> Result<(), Fault> {
        self.propose(|draft, view| draft.append(view, path, line))
    }

    /// Proposes one request after everything else, whatever programs of the same call wrote: only while the refs that it is about are
    /// where they were `seen`.
    pub fn request(
        &self,
        method: &str,
        url: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
        seen: Vec<SeenRef>,
    ) -> Result<(), Fault> {
        self.propose(|draft, _| draft.request_about(method, url, headers, body, seen))
    }

    /// Fails unless a plan's request may go to this address.
    pub fn check_reaches(&self, url: &str) -> Result<(), Fault> {
        let reached = match (Remote::of_url(url), &self.read.setting.sender) {
            (Some(host), Some(sender)) => sender.reaches(&host),
            (Some(host), None) => Err(format!("{host} is not allowed by configuration: no connections are")),
            (None, _) => Err("it is no address of a host".to_owned()),
        };
        reached.map_err(|why| {
            Fault::new(Code::Forbidden, format!("nothing can be sent to {url}: {why}")).suggest(
                "A person's [egress] hosts in the user's configuration names the hosts that gatewright may connect to.",
            )
        })
    }

    fn propose(&self, work: impl FnOnce(&mut Draft, &View) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut planned.0, self.read.view())
    }

    /// The same desk over the root as it is now: for a tool that runs again and again. What its programs write is nobody's
    /// proposal.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self { read: self.read.clone(), workshop: Arc::default(), planned: Arc::default() }
    }

    /// Where the programs worked, once one has.
    #[must_use]
    pub fn workshop(&self) -> Option<&Arc<Workshop>> {
        self.workshop.get()
    }

    /// Where the programs are to work, made where it is not there yet.
    pub async fn opened(&self) -> Result<Arc<Workshop>, Fault> {
        Ok(Arc::clone(self.workshop.get_or_try_init(|| self.read.workshop()).await?))
    }

    /// Fetches what a remote has now through the user's own git, for programs that work in a clone; the record says so.
    pub async fn fetch(&self, remote: String) -> Result<(), Fault> {
        let workshop = self.opened().await?;
        let Some(sender) = self.read.setting.sender.clone() else {
            let message = format!("{remote} is not fetched: nothing may be connected to");
            return Err(Fault::new(Code::Forbidden, message).suggest(
                "A person's [egress] hosts in the user's configuration names the hosts that gatewright may connect to.",
            ));
        };
        self.read.note_level(exec::run::Level::None);
        self.read.blocking(move |_| workshop.fetch(&remote, &*sender)).await
    }

    /// Where tools called `of` stand in the record of this root, newest first, as long as the user's own place is `head`.
    #[must_use]
    pub fn stands(&self, of: &str, head: Option<&str>) -> Vec<String> {
        self.read.setting.state.stands(of, head)
    }

    /// Keeps where they stand.
    pub async fn stand(&self, of: String, head: Option<String>, places: Vec<String>) -> Result<(), Fault> {
        self.read.blocking(move |desk| desk.setting.state.stand(&of, head.as_deref(), &places)).await
    }

    /// Why what is installed at `place` would not stay; nothing where it would. For a tool that [installs](crate::Define::SETTLES), before
    /// it fetches anything.
    pub async fn unkept(&self, place: &RelPath) -> Result<Option<String>, Fault> {
        let workshop = Arc::clone(self.workshop.get_or_try_init(|| self.read.workshop()).await?);
        let place = place.clone();
        self.read
            .blocking(move |desk| {
                Ok(workshop.unkept(&Declaration::new(desk.setting.declared.settles)?, &place))
            })
            .await
    }

    /// What the programs installed is moved into the root; all else that they wrote is gone.
    pub(crate) async fn into_settled(self) -> Result<Settled, Fault> {
        let Some(workshop) = self.workshop.get().cloned() else { return Ok(Settled::default()) };
        let settled = |desk: &ReadDesk| Declaration::new(desk.setting.declared.settles);
        self.read.blocking(move |desk| workshop.settle(&settled(desk)?)).await
    }

    /// What the programs left: what persists is moved into the root, everything else becomes a draft. Nothing, where no program ran
    /// and nothing is proposed: nobody could do anything with such a plan.
    pub(crate) async fn into_drafted(self) -> Result<Option<Drafted>, Fault> {
        let view = Arc::clone(&self.read.view);
        let planned = std::mem::take(&mut *self.planned.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(workshop) = self.workshop.get().cloned() else {
            let (draft, side, blocked) = (planned.0, SideWrites::default(), Vec::new());
            let (settles, course) = (&self.read.setting.declared.settles, &self.read.setting.course);
            let says = !draft.is_empty() || !settles.is_empty() || course.said().is_some();
            return Ok(says.then_some(Drafted { draft, view, home: None, side, blocked }));
        };
        if !planned.0.only_sends() {
            return Err(Fault::internal("a tool proposes changes, and leaves them to its programs as well"));
        }
        self.read
            .blocking(move |desk| {
                let declared = Declaration::new(&desk.setting.declared.persists)?;
                let persists = |path: &RelPath| declared.has(path) && workshop.ignores(path);
                // What is installed follows the apply: it is no part of a plan.
                let settles = Declaration::new(desk.setting.declared.settles)?;
                let apart = |path: &RelPath| persists(path) || settles.has(path) && workshop.ignores(path);
                let (mut draft, blocked) = workshop.changes(&desk.view, &apart)?;
                draft.send(planned.0)?;
                let side = workshop.persist(&persists)?;
                Ok(Some(Drafted { draft, view: Arc::clone(&desk.view), home: None, side, blocked }))
            })
            .await
    }
}

impl std::ops::Deref for RunDesk {
    type Target = ReadDesk;

    fn deref(&self) -> &ReadDesk {
        &self.read
    }
}
