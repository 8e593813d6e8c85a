//! A root, a state, and programs over them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use contract::{Effect, Principal, RelPath};
use gatewright_exec::kept::Clean;
use gatewright_exec::run::{Cache, Command, Launcher, Level, Ran};
use gatewright_exec::workshop::{Terms, Unplannable};
use gatewright_exec::{Draft, Rights, Root, StateDir, View, Workshop};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const ME: Principal = Principal::Local { uid: 1 };

/// A root, a state, and how programs are started.
pub(crate) struct House {
    pub(crate) scratch: TempDir,
    pub(crate) root: Arc<Root>,
    pub(crate) state: StateDir,
    pub(crate) launcher: Arc<Launcher>,
}

pub(crate) fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_gatewright-exec-launch").into())
}

impl House {
    pub(crate) fn at_most(level: Level) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().canonicalize().unwrap();
        fs::create_dir(place.join("root")).unwrap();
        let root = Arc::new(Root::open(&place.join("root"), "root", Rights::ReadWrite).unwrap());
        let state = StateDir::at(place.join("state")).unwrap();
        let launcher = Arc::new(launcher().at_most(level).at_least(Level::None));
        Self { scratch, root, state, launcher }
    }

    /// A house where programs get a world of their own; else it is said loudly that this machine gives none.
    pub(crate) fn full() -> Option<Self> {
        let house = Self::at_most(Level::Full);
        let offer = house.launcher.offer(&house.stage()).clone();
        if offer.level == Level::Full {
            return Some(house);
        }
        crate::skip(&format!("programs in a world of their own ({})", offer.missing.join("; ")));
        None
    }

    pub(crate) fn stage(&self) -> PathBuf {
        let stage = self.path("stage");
        let _ = fs::create_dir(&stage);
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path("root").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn view(&self) -> View {
        View::new(Arc::clone(&self.root), CancellationToken::new())
    }

    pub(crate) fn terms(&self) -> Terms {
        Terms {
            programs: ["sh", "git", "python3"].map(Arc::from).into(),
            caches: &[Cache { name: "things", variable: "THINGS" }],
            launcher: Arc::clone(&self.launcher),
            environment: [("COLOUR".to_owned(), "blue".to_owned())].into(),
            owner: ME,
            clean: clean(),
            cloning: None,
        }
    }

    pub(crate) fn open(&self) -> Workshop {
        Workshop::open(&self.view(), &self.state, self.terms(), &CancellationToken::new()).unwrap()
    }

    pub(crate) fn run(&self, script: &str) -> (Workshop, Ran) {
        let workshop = self.open();
        let ran = workshop.run(&sh(script)).unwrap();
        (workshop, ran)
    }

    pub(crate) fn is_empty_of_scratch(&self) -> bool {
        fs::read_dir(self.state.path().join("scratch")).unwrap().next().is_none()
            && !fs::read_dir(self.path(""))
                .unwrap()
                .flatten()
                .any(|e| e.file_name().to_string_lossy().starts_with(".gatewright"))
    }
}

/// A cleaner that knows one secret.
pub(crate) fn clean() -> Clean {
    Arc::new(|bytes: &[u8]| String::from_utf8_lossy(bytes).replace("hunter2", "[redacted]").into_bytes())
}

pub(crate) fn sh(script: &str) -> Command {
    Command::new("sh", &["-c", script])
}

pub(crate) fn nothing(_: &RelPath) -> bool {
    false
}

pub(crate) fn proposed(house: &House, workshop: &Workshop) -> (Vec<String>, Vec<Unplannable>) {
    let (draft, blocked) = workshop.changes(&house.view(), &nothing).unwrap();
    (effects(draft, house), blocked)
}

pub(crate) fn effects(draft: Draft, house: &House) -> Vec<String> {
    let tool = contract::ToolName::new("t").unwrap();
    let proposal = draft.into_proposal(&house.view(), tool, contract::Digest::ZERO, &ME);
    proposal.plan.effects.iter().map(Effect::summary).collect()
}

/// What holds at every level of confinement.
pub(crate) fn over_each_floor(work: impl Fn(&mut House)) {
    for level in [Level::Full, Level::Filters, Level::None] {
        let mut house = House::at_most(level);
        let offer = house.launcher.offer(&house.stage()).clone();
        if offer.level < level {
            crate::skip(&format!("runs at the level {:?} ({})", level.word(), offer.missing.join("; ")));
            continue;
        }
        work(&mut house);
        assert!(house.is_empty_of_scratch(), "{level:?}: nothing is left behind");
    }
}
