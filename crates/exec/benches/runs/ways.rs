//! The ways of starting a program that are compared.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use contract::Principal;
use gatewright_exec::run::sight::{self, Surroundings};
use gatewright_exec::run::waiting::Begun;
use gatewright_exec::run::{self, Launcher, Level};
use gatewright_exec::workshop::Terms;
use gatewright_exec::{Rights, Root, StateDir, View, Workshop};
use launcher::{
    Bound, Ground as Stands, Isolation, Limits, Network, Report, SCRATCH_BYTES, Said, Spec, say_ground,
    say_spec,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Who runs.
const ME: Principal = Principal::Local { uid: 1 };

/// The launcher that is measured: the program that is shipped, where the chore has named it.
fn program() -> PathBuf {
    std::env::var_os("GATEWRIGHT_BENCH_LAUNCHER")
        .map_or_else(|| env!("CARGO_BIN_EXE_gatewright-exec-launch").into(), PathBuf::from)
}

/// A root, a state beside it, and what is needed to run over them.
pub(crate) struct Ground {
    pub(crate) place: PathBuf,
    root: Arc<Root>,
    state: StateDir,
    launcher: Arc<Launcher>,
    _scratch: TempDir,
}

impl Ground {
    /// An empty root, or `None` where this machine gives no world of its own; that is said.
    pub(crate) fn new() -> Option<Self> {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = scratch.path().canonicalize().unwrap();
        for name in ["root", "stage", "home"] {
            std::fs::create_dir(place.join(name)).unwrap();
        }
        let root = Arc::new(Root::open(&place.join("root"), "root", Rights::ReadWrite).unwrap());
        let state = StateDir::at(place.join("state")).unwrap();
        let launcher = Arc::new(Launcher::at(program()).at_least(Level::Full));
        let offer = launcher.offer(&place.join("stage"));
        if offer.level < Level::Full {
            eprintln!("SKIPPED: this machine gives no world of its own ({})", offer.missing.join("; "));
            return None;
        }
        Some(Self { place, root, state, launcher, _scratch: scratch })
    }

    pub(crate) fn top(&self) -> &Path {
        self.root.path()
    }

    /// A plain spawn, with its streams read as those of a run are.
    pub(crate) fn plain(&self, words: &[&str]) {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.top()).stdin(Stdio::null());
        assert!(command.output().unwrap().status.success(), "{words:?}");
    }

    /// By bubblewrap: as much of a world of its own as it makes in one call.
    pub(crate) fn bubblewrap(&self, program: &Path, words: &[&str]) {
        let top = self.top().to_str().unwrap();
        let mut command = Command::new(program);
        command.args(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        command.args([
            "--ro-bind",
            "/usr",
            "/usr",
            "--symlink",
            "usr/bin",
            "/bin",
            "--symlink",
            "usr/lib",
            "/lib",
        ]);
        command.args([
            "--symlink",
            "usr/lib64",
            "/lib64",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--tmpfs",
            "/tmp",
        ]);
        command.args(["--bind", top, top, "--chdir", top, "--"]).args(words).stdin(Stdio::null());
        let out = command.output().unwrap();
        assert!(out.status.success(), "bwrap: {}", String::from_utf8_lossy(&out.stderr));
    }

    /// What a run sees, with the root itself to write in: no layer over it.
    pub(crate) fn spec(&self, words: &[&str]) -> Spec {
        let path = self.launcher.path(self.top());
        let home = std::env::var_os("HOME").and_then(|home| std::fs::canonicalize(home).ok());
        let around = Surroundings { root: self.top(), state: self.state.path(), home: home.as_deref() };
        let program = run::find(words[0], &path, self.top()).unwrap();
        let sight = sight::of(&around, &path, &program);
        let mut env: BTreeMap<String, String> = sight.env;
        env.insert("PATH".into(), std::env::join_paths(&path).unwrap().into_string().unwrap());
        Spec {
            program,
            called: None,
            args: words[1..].iter().map(|word| (*word).to_owned()).collect(),
            env,
            dir: self.top().to_owned(),
            ground: Stands {
                isolation: Isolation::Full,
                is_online: false,
                stage: self.state.nowhere().unwrap(),
                readable: sight.ground,
                scratch_bytes: SCRATCH_BYTES,
            },
            readable: sight.readable,
            shown: Vec::new(),
            writable: vec![
                Bound::here(self.top().to_owned()),
                Bound { from: self.place.join("home"), at: "/home/run".into() },
            ],
            overlay: None,
            hidden: sight.hidden,
            network: Network::None,
            channel: None,
            observes: false,
            limits: Limits::default(),
            strict: false,
        }
    }

    /// The launcher's own start, with nobody there to tell it what to do.
    pub(crate) fn started(&self) {
        let mut command = Command::new(program());
        command
            .args(launcher::arguments())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.current_dir(self.top()).status().unwrap();
    }

    /// By the launcher, in a world of its own.
    pub(crate) fn confined(spec: &Spec) {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut command = Command::new(program());
        command.args(launcher::arguments()).env_clear().stdin(OwnedFd::from(theirs)).process_group(0);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        say_ground(&mut ours, &spec.ground).unwrap();
        say_spec(&mut ours, spec).unwrap();
        let mut said = Said::new(ours);
        Self::hear(&mut child, &mut said);
        child.wait().unwrap();
    }

    /// By a launcher that waits, where one does: as runs are started.
    pub(crate) fn begun(&self, spec: &Spec) {
        let Begun { mut child, mut said } = self.launcher.begin(spec).unwrap();
        Self::hear(&mut child, &mut said);
        self.launcher.ended(child, &spec.ground);
    }

    /// To the program's end, and that of its streams.
    fn hear(child: &mut Child, said: &mut Said) {
        let mut last = None;
        while let Some(report) = said.report().unwrap() {
            last = Some(report);
            if matches!(last, Some(Report::Exited { .. } | Report::Killed { .. } | Report::Failed { .. })) {
                break;
            }
        }
        let (mut out, mut err) = (Vec::new(), Vec::new());
        child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
        child.stderr.take().unwrap().read_to_end(&mut err).unwrap();
        assert_eq!(last, Some(Report::Exited { code: 0 }), "{}", String::from_utf8_lossy(&err));
    }

    pub(crate) fn view(&self) -> View {
        View::new(Arc::clone(&self.root), CancellationToken::new())
    }

    /// A layer over the root.
    pub(crate) fn workshop(&self) -> Workshop {
        let terms = Terms {
            programs: ["true", "sh"].map(Arc::from).into(),
            caches: &[],
            launcher: Arc::clone(&self.launcher),
            environment: BTreeMap::new(),
            owner: ME,
            clean: Arc::new(<[u8]>::to_vec),
            cloning: None,
        };
        let workshop = Workshop::open(&self.view(), &self.state, terms, &CancellationToken::new()).unwrap();
        assert!(workshop.is_layered(), "no layer can be laid over {}", self.top().display());
        workshop
    }
}

/// A run over a layer.
pub(crate) fn layered(workshop: &Workshop, words: &[&'static str]) {
    let ran = workshop.run(&run::Command::new(words[0], &words[1..])).unwrap();
    assert!(ran.is_success() && ran.level == Level::Full, "{words:?}: {}", ran.stderr.text());
}

/// What it changed, as a proposal: how many files are no part of it.
pub(crate) fn proposed(ground: &Ground, workshop: &Workshop) -> usize {
    workshop.changes(&ground.view(), &|_| false).unwrap().1.len()
}
