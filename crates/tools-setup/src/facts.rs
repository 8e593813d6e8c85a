//! What is known before anything is decided, gathered through views.

use std::path::{Path, PathBuf};

use contract::{Code, Fault, FileMode, RelPath, State};
use exec::View;
use exec::run::find;
use kit::desk::look::Window;
use kit::{ChangeDesk, ReadDesk};
use onboard::clients::Start;
use onboard::{CONFIGURATION, Client, Facts, File, Scope, Seen, edit, migrate};
use projects::{Project, detect};

/// This program, as clients are to start it: a service of the binary's.
pub struct Itself {
    /// Where it is.
    pub program: PathBuf,
    /// Whether the plain name finds the program of this place on the PATH.
    pub is_on_path: fn(&Path) -> bool,
    /// Says what is wrong with the configuration of the project in a folder.
    pub judge: fn(&Path) -> Result<(), String>,
}

impl Itself {
    /// How a client starts it: one of the repository there, one of the user's wherever it is, for `root`.
    #[must_use]
    pub fn start(&self, root: Option<&Path>) -> Start {
        let program = self.program.to_string_lossy().into_owned();
        let mut args = vec!["serve".to_owned()];
        match root {
            None if (self.is_on_path)(&self.program) => Start { command: "gatewright".to_owned(), args },
            None => Start { command: program, args },
            // It starts where nobody chose, and without the PATH of a shell.
            Some(root) => {
                args.extend(["--root".to_owned(), root.to_string_lossy().into_owned()]);
                Start { command: program, args }
            }
        }
    }
}

impl std::fmt::Debug for Itself {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Itself").field("program", &self.program).finish_non_exhaustive()
    }
}

/// What a service that is missing means.
fn itself(desk: &ReadDesk) -> Result<std::sync::Arc<Itself>, Fault> {
    desk.service::<Itself>().ok_or_else(|| Fault::internal("nothing was provided that clients could start"))
}

/// What the project is.
pub fn project(desk: &ReadDesk) -> Result<Project, Fault> {
    detect(&Window(desk.view()), &[]).map_err(|error| {
        Fault::new(Code::FilesystemError, format!("the project cannot be looked at: {error}"))
    })
}

/// Which of the project's programs are on this machine.
pub fn installed(desk: &ReadDesk, project: &Project) -> Vec<String> {
    let (path, root) = (desk.programs(), desk.view().root().path());
    project.programs.iter().filter(|program| find(program, &path, root).is_ok()).cloned().collect()
}

/// A file as it is, or why it is not read. Only what a client's file can be is read.
pub fn seen(view: &View, name: &str) -> Result<Seen, Fault> {
    let path = exec::view::path_argument(name)?;
    if view.size(&path).is_some_and(|size| size > edit::MAX_BYTES as u64) {
        return Ok(Seen::Unfit(edit::Unfit::Large.to_string()));
    }
    let state = match view.state(&path) {
        Ok(state) => state,
        // Something that is no file, or is beyond a link.
        Err(fault) if fault.code != Code::Cancelled => return Ok(Seen::Unfit(fault.message)),
        Err(fault) => return Err(fault),
    };
    Ok(match state {
        State::Absent => Seen::Absent,
        State::Symlink { .. } => {
            Seen::Unfit("it is a link: what it leads to is not changed through it".to_owned())
        }
        State::Directory { .. } => Seen::Unfit("it is a folder".to_owned()),
        State::File { .. } => match view.read(&path) {
            Ok(bytes) => Seen::Bytes(bytes),
            Err(fault) => Seen::Unfit(fault.message),
        },
    })
}

/// The clients that a repository shows traces of; `.mcp.json` for others, where there are none.
pub fn traced(view: &View) -> Result<Vec<Client>, Fault> {
    let top: Vec<String> = view.list(None)?.into_iter().map(|entry| entry.name).collect();
    let is_used = |client: &Client| client.traces().iter().any(|trace| top.iter().any(|name| name == trace));
    let project = Client::ALL.into_iter().filter(|client| client.scope() == Scope::Project);
    let mut found: Vec<Client> = project.filter(is_used).collect();
    if found.is_empty() {
        found.push(Client::Generic);
    }
    Ok(found)
}

/// All that the wizard is told, for these clients.
pub fn gathered(desk: &ReadDesk, home: &ReadDesk, clients: &[Client]) -> Result<Facts, Fault> {
    let (own, itself) = (home.view(), itself(home)?);
    let project = project(home)?;
    let installed = installed(home, &project);
    let is_users = clients.iter().any(|client| client.scope() == Scope::User);
    let configuration = if is_users { Seen::Absent } else { seen(own, CONFIGURATION)? };
    let judged = || (itself.judge)(own.root().path()).err();
    let misunderstood = if matches!(configuration, Seen::Bytes(_)) { judged() } else { None };
    let files = clients.iter().map(|client| Ok((*client, seen(desk.view(), client.file())?)));
    Ok(Facts {
        project,
        configuration,
        misunderstood,
        old: if is_users { Seen::Absent } else { seen(own, migrate::FILE)? },
        clients: files.collect::<Result<_, Fault>>()?,
        start: itself.start(is_users.then(|| own.root().path())),
        installed,
    })
}

/// Proposes what is to be written.
pub fn propose(desk: &ChangeDesk, files: &[File]) -> Result<(), Fault> {
    for file in files {
        let path =
            RelPath::new(&file.path).map_err(|why| Fault::internal(format!("{}: {why}", file.path)))?;
        desk.put(&path, file.bytes.clone(), FileMode::Regular)?;
    }
    Ok(())
}
