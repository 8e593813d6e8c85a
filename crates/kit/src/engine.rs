//! The engine: what the binary puts together, and what everyone may ask of it. What it does with a call is in
//! [`crate::pipeline`].

use std::sync::Arc;
use std::time::Duration;

use audit::{Ledger, Redactor};
use cache::Cache;
use contract::{Fault, Principal};
use exec::kept::Clean;
use exec::request::Sender;
use exec::run::Launcher;
use exec::{Root, StateDir, View};
use failures::Analyzer;
use policy::Policy;
use tokio_util::sync::CancellationToken;

use crate::approvals::Approver;
use crate::call::Call;
use crate::catalog::Catalog;
use crate::course::Course;
use crate::desk::{ReadDesk, Services, Setting};
use crate::jobs::Jobs;
use crate::limits::Limiter;
use crate::paging::Page;
use crate::registry::{Registered, Registry};
use crate::schema::Asked;
use crate::settings::{self, Section, Settings};
use crate::shape::Cleaner;

/// What the binary puts together.
pub struct Parts {
    /// The tools, shared by the engines of one process.
    pub catalog: Arc<Catalog>,
    /// The rules.
    pub policy: Policy,
    /// The definitions of others that a person approved.
    pub approvals: Arc<dyn Approver>,
    /// Counts and gates, shared by the engines of one process.
    pub limiter: Arc<Limiter>,
    /// Takes secrets out.
    pub redactor: Arc<Redactor>,
    /// The record.
    pub ledger: Ledger,
    /// Where tools work; none means `no_root` for those that need one.
    pub root: Option<Arc<Root>>,
    /// The other roots of the process, whose places are not shown either.
    pub other_roots: Vec<Arc<Root>>,
    /// Where plans are kept.
    pub state: StateDir,
    /// The user's sections of the configuration.
    pub settings: Settings,
    /// What recording tools need.
    pub services: Services,
    /// What sends a plan's request, when connections are allowed.
    pub sender: Option<Arc<dyn Sender>>,
    /// How programs are started.
    pub launcher: Arc<Launcher>,
    /// The calls that go on after they were answered, of all engines of the process.
    pub jobs: Arc<Jobs>,
    /// How long a call is attended to before it goes on as one of them.
    pub detach_after: Duration,
    /// Says what to do about programs that failed.
    pub analyzer: Arc<Analyzer>,
    /// The answers that are kept for a while.
    pub cache: Arc<Cache>,
    /// What a result may cost, in tokens.
    pub budget: u64,
    /// Whether results of our own tools are held to their schemas, too: those of others always are. A server's are; one
    /// call from the command line would spend more on compiling the schema than on the call.
    pub check_outputs: bool,
    /// The numeric id of the user that the process runs under.
    pub uid: u32,
}

/// The engine behind every front door.
pub struct Engine {
    pub(crate) parts: Parts,
    places: Vec<(String, String)>,
    /// Takes secrets out of what programs say.
    clean: Clean,
}

impl Engine {
    /// An engine of `parts`.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        let mut places = Vec::new();
        if let Some(root) = &parts.root {
            places.push((root.path().display().to_string(), "<root>".to_owned()));
        }
        for root in &parts.other_roots {
            places.push((root.path().display().to_string(), format!("<root {}>", root.name())));
        }
        places.push((parts.state.path().display().to_string(), "<state>".to_owned()));
        if let Some(home) =
            std::env::var_os("HOME").map(|h| h.to_string_lossy().into_owned()).filter(|h| h.len() > 1)
        {
            places.push((home, "~".to_owned()));
        }
        places.retain(|(place, _)| place.len() > 1);
        places.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        let redactor = Arc::clone(&parts.redactor);
        let clean: Clean = Arc::new(move |bytes: &[u8]| redactor.bytes(bytes).into_owned());
        Arc::new(Self { parts, places, clean })
    }

    /// The tools, as they are now.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        self.parts.catalog.now()
    }

    /// What a call's desk is made of.
    pub(crate) fn setting(
        &self,
        tool: &Registered,
        call: &Call,
        cancel: CancellationToken,
        course: &Course,
    ) -> Setting {
        let home = call.from.as_ref().map(|from| {
            let call = Call { from: None, ..call.clone() };
            Box::new(from.setting(tool, &call, cancel.clone(), course))
        });
        Setting {
            home,
            root: self.parts.root.clone(),
            state: self.parts.state.clone(),
            registry: self.registry(),
            asked: Asked::default(),
            declared: tool.tool.declared(),
            launcher: Arc::clone(&self.parts.launcher),
            sender: self.parts.sender.clone(),
            approvals: Arc::clone(&self.parts.approvals),
            clean: Arc::clone(&self.clean),
            redactor: Arc::clone(&self.parts.redactor),
            course: course.clone(),
            jobs: Arc::clone(&self.parts.jobs),
            analyzer: Arc::clone(&self.parts.analyzer),
            cache: Arc::clone(&self.parts.cache),
            page: Page::default(),
            settings: self.parts.settings.clone(),
            services: self.parts.services.clone(),
            principal: call.principal.clone(),
            bearer: call.bearer.clone(),
            client: call.client.clone(),
            cancel,
            progress: Arc::clone(&call.progress),
            inquiries: call.inquiries.clone(),
        }
    }

    /// A desk for the person who started the process, as `tool` would get it: for commands that show what a tool sees. No call is
    /// made, and none is on record.
    pub fn desk(&self, tool: &str) -> Result<ReadDesk, Fault> {
        let registry = self.registry();
        let tool = registry.resolve(tool).ok_or_else(|| registry.unknown(tool))?;
        let call = Call::of_nothing(Principal::Local { uid: self.parts.uid });
        ReadDesk::of(self.setting(tool, &call, call.cancel.clone(), &Course::default()), false)
    }

    /// A section of the configuration as tools see it: the user's, with the project's own laid over it.
    pub fn settings<S: Section>(&self) -> Result<S, Fault> {
        let project = match &self.parts.root {
            Some(root) => settings::of_project(&View::new(Arc::clone(root), CancellationToken::new()))?,
            None => Settings::default(),
        };
        self.parts.settings.overlaid(&project).section()
    }

    /// The numeric id of the user that the process runs under: the local principal.
    #[must_use]
    pub const fn uid(&self) -> u32 {
        self.parts.uid
    }

    /// The record.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.parts.ledger
    }

    /// Where tools work.
    #[must_use]
    pub const fn root(&self) -> Option<&Arc<Root>> {
        self.parts.root.as_ref()
    }

    /// Where plans are kept.
    #[must_use]
    pub const fn state(&self) -> &StateDir {
        &self.parts.state
    }

    /// What cleans everything that goes out.
    #[must_use]
    pub fn cleaner(&self) -> Cleaner<'_> {
        Cleaner { redactor: &self.parts.redactor, places: &self.places }
    }
}
