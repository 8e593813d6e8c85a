//! What a desk does with programs: a private copy of the root, and one run after another over it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Fault, RelPath};
use exec::Workshop;
use exec::helper::{self, HelperError, Program, Said};
use exec::run::{Command, Level, Ran};
use exec::workshop::Terms;
use failures::FailedRun;

use super::ReadDesk;

impl ReadDesk {
    /// Where programs come from.
    #[must_use]
    pub fn programs(&self) -> Vec<PathBuf> {
        self.setting.launcher.path(self.view.root().path())
    }

    /// The real place of the interpreter that a link in the root leads to, where it is one that runs start.
    pub fn interpreter(&self, link: &RelPath) -> Result<PathBuf, Fault> {
        exec::run::interpreter::of_root(link, self.view.root(), &self.setting.state, &self.programs())
    }

    /// Runs a helper of the user's, which acts with the user's own credentials and is not confined; the record says so.
    pub async fn helper(
        &self,
        program: Program,
        args: Vec<String>,
        after: Duration,
    ) -> Result<Result<Said, HelperError>, Fault> {
        self.note_level(Level::None);
        // Whoever stops waiting ends it.
        let leave = self.cancelled().child_token();
        let _leaving = leave.clone().drop_guard();
        self.blocking(move |desk| {
            let nowhere = desk.setting.state.nowhere()?;
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let root = desk.setting.root.as_ref().map_or(nowhere.as_path(), |root| root.path());
            Ok(helper::run(program, (root, &nowhere), &args, after, &leave))
        })
        .await
    }

    /// A private copy of the root, where the programs that the tool declares may run. What they write stays there.
    pub async fn workshop(&self) -> Result<Arc<Workshop>, Fault> {
        self.blocking(|desk| {
            let setting = &desk.setting;
            let terms = Terms {
                programs: Arc::clone(&setting.declared.programs),
                caches: setting.declared.caches,
                launcher: Arc::clone(&setting.launcher),
                environment: BTreeMap::new(),
                owner: setting.principal.clone(),
                clean: Arc::clone(&setting.clean),
                cloning: setting.declared.cloning.clone(),
            };
            Workshop::open(&desk.view, &setting.state, terms, &setting.cancel).map(Arc::new)
        })
        .await
    }

    /// Runs a program that the tool declares, over `workshop`.
    pub async fn run_in(&self, workshop: &Arc<Workshop>, command: Command) -> Result<Ran, Fault> {
        let at_work = Arc::clone(workshop);
        self.setting.course.at_work(workshop);
        self.blocking(move |desk| {
            let ran = match at_work.run(&command) {
                Ok(ran) => ran,
                Err(fault) => return Err(desk.explained(&command, fault)),
            };
            desk.setting.course.note(&ran);
            if !ran.is_success() {
                desk.explain(&ran, command.dir.as_ref());
            }
            Ok(ran)
        })
        .await
    }

    /// Has the failure analysis look at a program that failed: every one, before it is answered.
    fn explain(&self, ran: &Ran, dir: Option<&RelPath>) {
        self.setting.course.explain(self.analysis_of(ran, dir, false, &[]));
    }

    /// The fault of a program that came to no end of its own, with what is to be done about it.
    fn explained(&self, command: &Command, fault: Fault) -> Fault {
        if !matches!(fault.code, Code::Timeout | Code::ResourceExhausted) {
            return fault;
        }
        let analysis = self.setting.analyzer.analyze(&FailedRun {
            program: &command.program,
            args: &command.args,
            timed_out: fault.code == Code::Timeout,
            duration_ms: u64::try_from(command.timeout.as_millis()).unwrap_or(u64::MAX),
            ..FailedRun::default()
        });
        analysis.suggestions.iter().fold(fault, |fault, suggestion| fault.suggest(suggestion.text.clone()))
    }
}
