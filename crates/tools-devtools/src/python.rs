//! What runs of Python have in common: the project's environment, the program that is meant, and where programs keep what is theirs.

pub(crate) mod audit;
pub(crate) mod driver;
pub(crate) mod managers;
pub(crate) mod memray;
pub(crate) mod newest;
pub(crate) mod pins;
pub(crate) mod pipenv;
pub(crate) mod spy;

use contract::{Code, Fault, RelPath};
use exec::run::{Cache, Command, INPUT, find};
use kit::{ReadDesk, RunDesk};

use crate::running::Asked;

/// What programs of Python keep for themselves. What they compile is not kept: it would lie beside every source.
pub(crate) const CACHES: &[Cache] = &[
    Cache { name: "pip", variable: "PIP_CACHE_DIR" },
    Cache { name: "uv", variable: "UV_CACHE_DIR" },
    Cache { name: "ruff", variable: "RUFF_CACHE_DIR" },
    Cache { name: "mypy", variable: "MYPY_CACHE_DIR" },
    Cache { name: "pytest", variable: "PYTEST_KEEPS_AT" },
    Cache { name: "xdg", variable: "XDG_CACHE_HOME" },
];

/// Where environments are looked for, the usual name first.
pub(crate) const VENVS: [&str; 2] = [".venv", "venv"];

/// Folders that checks of all of a project leave out.
pub(crate) const NOT_OURS: [&str; 5] = [".venv", "venv", "node_modules", ".tox", ".nox"];

/// The module of a program, where that is called otherwise.
fn module(program: &str) -> &str {
    match program {
        "pip-audit" => "pip_audit",
        "pip3" => "pip",
        other => other,
    }
}

/// An environment of the project's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Venv {
    pub(crate) dir: RelPath,
}

impl Venv {
    /// The nearest one: of `dir`, then of the folders above.
    pub(crate) fn near(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Option<Self>, Fault> {
        let mut above: Vec<Option<RelPath>> = dir.into_iter().cloned().map(Some).collect();
        above.extend(dir.iter().flat_map(|dir| dir.ancestors().into_iter().rev()).map(Some));
        above.push(None);
        for place in above {
            for name in VENVS {
                let at = match &place {
                    Some(dir) => dir.join(name),
                    None => RelPath::new(name),
                };
                let dir = at.map_err(|e| Fault::internal(e.to_string()))?;
                let venv = Self { dir };
                if venv.configuration(desk)?.is_some() {
                    return Ok(Some(venv));
                }
            }
        }
        Ok(None)
    }

    fn below(&self, name: &str) -> Result<RelPath, Fault> {
        self.dir.join(name).map_err(|e| Fault::internal(e.to_string()))
    }

    /// What its `pyvenv.cfg` says; nothing where there is none.
    pub(crate) fn configuration(&self, desk: &ReadDesk) -> Result<Option<String>, Fault> {
        let bytes = desk.view().read_optional(&self.below("pyvenv.cfg")?);
        Ok(bytes.ok().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The link to its interpreter.
    pub(crate) fn interpreter(&self) -> Result<RelPath, Fault> {
        self.below("bin/python")
    }

    /// The folders of its packages.
    pub(crate) fn packages(&self, desk: &ReadDesk) -> Vec<RelPath> {
        let Ok(lib) = self.below("lib") else { return Vec::new() };
        let versions = desk.view().list(Some(&lib)).unwrap_or_default();
        let folders = versions.iter().filter_map(|of| lib.join(&format!("{}/site-packages", of.name)).ok());
        folders.filter(|folder| desk.view().is_folder(folder)).collect()
    }

    /// Whether a module is installed in it.
    pub(crate) fn has(&self, desk: &ReadDesk, module: &str) -> bool {
        self.packages(desk).iter().any(|packages| {
            let single = packages.join(&format!("{module}.py"));
            packages.join(module).is_ok_and(|package| desk.view().is_folder(&package))
                || single.is_ok_and(|single| desk.view().size(&single).is_some())
        })
    }
}

/// Where a program comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum From {
    /// The project's environment, whose interpreter runs it.
    Venv(Venv),
    /// The machine.
    Path,
}

/// Where `program` is, for a run in `dir`: in the project's environment, else on the machine; nothing where it is in neither.
pub(crate) fn placed(desk: &ReadDesk, program: &str, dir: Option<&RelPath>) -> Result<Option<From>, Fault> {
    if let Some(venv) = Venv::near(desk, dir)?.filter(|venv| venv.has(desk, module(program))) {
        return Ok(Some(From::Venv(venv)));
    }
    let on_path = find(program, &desk.programs(), desk.view().root().path()).is_ok();
    Ok(on_path.then_some(From::Path))
}

impl Asked<'_> {
    /// As [`Asked::command`], with the project's own installation of a program of Python where it has one: its interpreter runs it
    /// then. Else the machine's.
    pub(crate) fn python_command(
        &self,
        desk: &ReadDesk,
        program: &'static str,
        flags: Vec<String>,
        rest: Vec<String>,
    ) -> Result<Command, Fault> {
        let mut command = self.command(program, flags, rest)?;
        if let Some(From::Venv(venv)) = placed(desk, program, command.dir.as_ref())? {
            command.args.splice(0..0, ["-m".to_owned(), module(program).to_owned()]);
            command.program = "python".into();
            command.interpreter = Some(venv.interpreter()?);
        }
        Ok(quiet(command))
    }
}

/// A command of the interpreter itself: the environment's, else the machine's `python3`. What it is given is held to no grammar here.
pub(crate) fn interpreter(
    desk: &ReadDesk,
    dir: Option<RelPath>,
    args: Vec<String>,
) -> Result<Command, Fault> {
    let mut command = Command::new("python3", &[]);
    command.args = args;
    if let Some(venv) = Venv::near(desk, dir.as_ref())? {
        command.program = "python".into();
        command.interpreter = Some(venv.interpreter()?);
    }
    command.dir = dir;
    Ok(quiet(command))
}

/// A command that writes nothing beside sources, and looks for no new version of itself.
pub(crate) fn quiet(mut command: Command) -> Command {
    for (name, value) in [
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PYTHONUNBUFFERED", "1"),
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        ("PIP_NO_INPUT", "1"),
        ("UV_NO_PROGRESS", "1"),
        ("UV_PYTHON_DOWNLOADS", "never"),
        ("POETRY_NO_INTERACTION", "1"),
        ("VIRTUALENV_NO_PERIODIC_UPDATE", "1"),
    ] {
        command.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
    command
}

/// pytest, told to keep what it remembers outside the project.
pub(crate) fn remembering(mut command: Command) -> Command {
    command.args.extend(["-o".to_owned(), "cache_dir=$PYTEST_KEEPS_AT".to_owned()]);
    command
}

/// Has `command` write a file that is read afterwards and is nobody's proposal; gives the argument that stands for it.
pub(crate) fn beside(command: &mut Command, name: &str) -> String {
    command.inputs.insert(name.to_owned(), Vec::new());
    format!("{INPUT}{name}")
}

/// What a command left in a file that [`beside`] made; nothing where that is empty.
pub(crate) async fn left(desk: &RunDesk, name: &'static str) -> Result<Option<Vec<u8>>, Fault> {
    let Some(workshop) = desk.workshop().cloned() else { return Ok(None) };
    desk.blocking(move |_| match workshop.left(name) {
        Ok(bytes) => Ok((!bytes.is_empty()).then_some(bytes)),
        Err(fault) if fault.code == Code::NotFound => Ok(None),
        Err(fault) => Err(fault),
    })
    .await
}

/// Whether a name is that of a file of Python.
pub(crate) fn is_source(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|ending| ending == "py")
}

/// The fault of a program that is in neither the environment nor the machine.
pub(crate) fn missing(program: &str) -> Fault {
    Fault::new(
        Code::ToolExecutionFailed,
        format!("{program} is neither in the project's environment nor on the PATH"),
    )
    .suggest(format!("Add {program} to the project's development dependencies and install them, or `pip install {program}` where gatewright finds it."))
}

/// What a program said when it could not begin, on few lines.
pub(crate) fn said(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(6);
    lines.get(from..).unwrap_or_default().join("\n").chars().take(1_200).collect()
}
