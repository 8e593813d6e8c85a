//! Building a Python package by its own backend, in a confined run without network.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Fault, RelPath};
use exec::Workshop;
use exec::run::Command;
use kit::ReadDesk;
use packaging::python::build::{self, Installed};
use packaging::python::{api, wheel};

use super::Found;
use crate::release::Asked;
use crate::release::theirs::has;

/// How long a build may take, or an import.
const TIME: Duration = Duration::from_mins(1);

/// Where it is built, below the package's folder; none of it stays.
const OUT: &str = "build/gatewright-release";

/// The interpreters, in this order.
const PYTHONS: [&str; 2] = ["python3", "python"];

/// How a reason ends that is a module that is missing.
pub(super) const NOT_INSTALLED: &str = " is not installed beside Python";

/// Words of the line that says why a build failed; what comes last is often where to read on.
const TELLING: [&str; 5] = ["error:", "Error:", "Missing dependencies", "Cannot import", "invalid command"];

/// Unpacks a wheel into a folder of its own and imports what it gives.
const IMPORTS: &str = "import importlib, sys, tempfile, zipfile\nplace = tempfile.mkdtemp()\n\
    zipfile.ZipFile(sys.argv[1]).extractall(place)\nsys.path.insert(0, place)\n\
    for name in sys.argv[2:]:\n    importlib.import_module(name)\n";

/// An archive that was made twice.
pub(super) struct Twice {
    pub(super) file: String,
    pub(super) first: Vec<u8>,
    pub(super) second: Vec<u8>,
}

/// A package as its backend built it.
pub(super) struct Build {
    pub(super) wheel: Twice,
    pub(super) sdist: Option<Twice>,
    /// What [`api::SCRIPT`] printed of the wheel, and of the last release's.
    pub(super) names: Result<Vec<u8>, String>,
    pub(super) before: Option<Result<Vec<u8>, String>>,
    /// Whether it can be imported from its wheel, where that was asked.
    pub(super) imported: Option<Result<(), String>>,
}

/// All packages as they were built, by folder; or why they were not.
#[derive(Default)]
pub(crate) struct Builds(BTreeMap<String, Result<Build, String>>);

impl Builds {
    pub(super) fn of(&self, found: &Found) -> Result<&Build, String> {
        match self.0.get(&found.folder) {
            Some(Ok(build)) => Ok(build),
            Some(Err(why)) => Err(why.clone()),
            None => Err("it was not built".to_owned()),
        }
    }
}

/// Builds all packages, twice.
pub(crate) async fn build_all(desk: &ReadDesk, all: &[Found], asked: &Asked) -> Result<Builds, Fault> {
    let mut builds = Builds::default();
    for found in all {
        let built = one(desk, found, asked).await?;
        builds.0.insert(found.folder.clone(), built);
    }
    Ok(builds)
}

/// Python in a package's folder.
struct Python<'a> {
    desk: &'a ReadDesk,
    workshop: Arc<Workshop>,
    program: &'static str,
    folder: &'a str,
    /// What is set for all that runs.
    environment: BTreeMap<String, String>,
}

async fn one(desk: &ReadDesk, found: &Found, asked: &Asked) -> Result<Result<Build, String>, Fault> {
    let Some(program) = PYTHONS.into_iter().find(|program| has(desk, program)) else {
        return Ok(Err("Python is not installed here".to_owned()));
    };
    let told = build::from_tags(&found.project, &asked.version).map(|(_, told)| told);
    let all = build::ENVIRONMENT.map(|(name, value)| (name, value.to_owned())).into_iter().chain(told);
    let environment = all.map(|(name, value)| (name.to_owned(), value)).collect();
    let workshop = desk.workshop().await?;
    let python = Python { desk, workshop, program, folder: &found.folder, environment };
    // Backends pack what lies about: what the first build made is not there for the second.
    let other =
        Python { workshop: desk.workshop().await?, environment: python.environment.clone(), ..python };
    let installed = match python.said(&build::PROBE.map(str::to_owned)).await? {
        Ok(printed) => Installed::read(&printed),
        Err(why) => return Ok(Err(why)),
    };
    let mut made: Vec<Vec<(String, Vec<u8>)>> = Vec::new();
    for python in [&python, &other] {
        match python.built(installed, OUT).await? {
            Ok(archives) => made.push(archives),
            Err(why) => return Ok(Err(why)),
        }
    }
    let mut second: BTreeMap<String, Vec<u8>> = made.pop().unwrap_or_default().into_iter().collect();
    let (mut wheel, mut sdist) = (None, None);
    for (file, first) in made.pop().unwrap_or_default() {
        let again = second.remove(&file).unwrap_or_default();
        let place = if wheel::file_name(&file).is_some() { &mut wheel } else { &mut sdist };
        *place = Some(Twice { file, first, second: again });
    }
    let Some(wheel) = wheel else { return Ok(Err("no wheel was made".to_owned())) };
    let path = format!("{OUT}/{}", wheel.file);
    let names = python.said(&api::arguments(&path)).await?.map(String::into_bytes);
    let mut before = None;
    if let Some(previous) = &asked.previous {
        // Relative to the package's folder, where Python is run.
        let up = found.folder.split('/').filter(|part| !part.is_empty()).map(|_| "../").collect::<String>();
        before =
            Some(python.said(&api::arguments(&format!("{up}{previous}"))).await?.map(String::into_bytes));
    }
    let mut imported = None;
    if asked.smoke {
        let tops = match wheel::read(&wheel.file, &wheel.first) {
            Ok(read) => wheel::top_names(&read.packed),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut words = ["-I", "-c", IMPORTS, path.as_str()].map(str::to_owned).to_vec();
        words.extend(tops);
        imported = Some(python.said(&words).await?.map(drop));
    }
    Ok(Ok(Build { wheel, sdist, names, before, imported }))
}

impl Python<'_> {
    /// Builds into `out`: the archives, by name.
    async fn built(
        &self,
        installed: Installed,
        out: &str,
    ) -> Result<Result<Vec<(String, Vec<u8>)>, String>, Fault> {
        let Some(command) = build::command(installed, out) else {
            let why = "neither `build` nor `pip` is installed beside Python";
            return Ok(Err(why.to_owned()));
        };
        let printed = match self.said(&command.arguments).await? {
            Ok(printed) => printed,
            Err(why) => return Ok(Err(why)),
        };
        let mut archives = Vec::new();
        for file in build::said(&printed) {
            let at = [self.folder, out, &file].into_iter().filter(|part| !part.is_empty());
            let path = at.collect::<Vec<_>>().join("/");
            let path = RelPath::new(&path).map_err(|e| Fault::internal(e.to_string()))?;
            match self.workshop.read(&path) {
                Ok(bytes) => archives.push((file, bytes)),
                // Words that look like a name and are none.
                Err(fault) if fault.code == Code::NotFound => {}
                Err(fault) => return Ok(Err(fault.message)),
            }
        }
        Ok(Ok(archives))
    }

    /// What Python printed; or what it said was wrong.
    async fn said(&self, words: &[String]) -> Result<Result<String, String>, Fault> {
        let mut command = Command::new(self.program, &[]);
        command.args = words.to_vec();
        command.timeout = TIME;
        command.env = self.environment.clone();
        if !self.folder.is_empty() {
            command.dir = Some(RelPath::new(self.folder).map_err(|e| Fault::invalid(e.to_string()))?);
        }
        let ran = match self.desk.run_in(&self.workshop, command).await {
            Ok(ran) => ran,
            Err(fault)
                if matches!(
                    fault.code,
                    Code::Timeout | Code::ToolExecutionFailed | Code::ResourceExhausted
                ) =>
            {
                return Ok(Err(fault.message));
            }
            Err(fault) => return Err(fault),
        };
        if ran.is_success() {
            return Ok(Ok(ran.stdout.text()));
        }
        let stderr = format!("{}\n{}", ran.stdout.text(), ran.stderr.text());
        if let Some(module) = build::missing(&stderr) {
            return Ok(Err(format!("{module}{NOT_INSTALLED}")));
        }
        let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
        let says = |line: &&str| TELLING.iter().any(|words| line.contains(words));
        let line = lines().find(says).or_else(|| lines().next_back()).unwrap_or("it said nothing");
        Ok(Err(line.chars().take(300).collect()))
    }
}
