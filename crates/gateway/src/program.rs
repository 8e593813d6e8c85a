//! An upstream that is a program: started in a world of its own, and known again by its code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::Fault;
use exec::run::{Channel, Installed, Needs, Resident, Works, installed};
use serde_json::{Value, json};

use crate::config::{Ground, Program, ROOT, RootAccess};
use crate::error::SessionError;

/// What the root is called for a program while there is none: its own home.
const NO_ROOT: &str = "/tmp";

/// Programs that are given a script to run.
const INTERPRETERS: &[&str] =
    &["bash", "bun", "deno", "java", "node", "nodejs", "perl", "php", "python", "ruby", "sh", "tsx"];

/// A program that was started.
pub(crate) struct Started {
    /// It ends with this.
    pub(crate) resident: Resident,
    /// Its standard input and output.
    pub(crate) socket: std::os::unix::net::UnixStream,
    /// What tells it from any other.
    pub(crate) identity: Value,
}

/// A program as it is installed now, and what it is started with.
struct Located {
    found: Installed,
    args: Vec<String>,
    root: Option<PathBuf>,
}

/// Looks for `program`, and digests what it runs. This blocks.
fn located(program: &Program, ground: &Ground) -> Result<Located, Fault> {
    let nowhere = ground.state.nowhere()?;
    let path = ground.launcher.path(&nowhere);
    let root = ground.root.clone().filter(|_| program.root != RootAccess::None);
    let called = root.as_deref().unwrap_or(Path::new(NO_ROOT)).display().to_string();
    let mut args: Vec<String> = program.args.iter().map(|arg| arg.replace(ROOT, &called)).collect();
    let apart: Vec<&Path> = [ground.home.as_deref(), ground.root.as_deref(), Some(ground.state.path())]
        .into_iter()
        .flatten()
        .collect();
    let script = script(&program.command, &args);
    let named: Vec<String> = script.and_then(|at| args.get(at)).into_iter().cloned().collect();
    let found = installed(&program.command, &named, &path, &apart)?;
    // It is shown where it really is, however its folder is named.
    if let (Some(at), Some(real)) = (script, found.script.as_ref()) {
        args.splice(at..=at, [real.display().to_string()]);
    }
    Ok(Located { found, args, root })
}

/// What an approval of `program` is bound to now: nothing of it is started. This blocks.
pub(crate) fn now(program: &Program, ground: &Ground) -> Result<Value, Fault> {
    located(program, ground).map(|located| identity(program, &located.found))
}

/// Starts `program`; where nothing of it may write, what it could write is shown to it read-only. This blocks.
fn started(program: &Program, ground: &Ground, may_write: bool) -> Result<Started, Fault> {
    let Located { found, args, root } = located(program, ground)?;
    let mut works = Works {
        reads: program.reads.clone(),
        hosts: program.hosts.clone(),
        hidden: ground.hidden.clone(),
        ..Works::default()
    };
    works.reads.extend(found.code.iter().map(|code| code.place.clone()));
    let writable =
        program.writes.iter().cloned().chain(root.clone().filter(|_| program.root == RootAccess::Write));
    if may_write {
        works.writes.extend(writable);
    } else {
        works.reads.extend(writable);
    }
    works.reads.extend(root.filter(|_| program.root == RootAccess::Read));
    works.reads.retain(|place| !works.writes.contains(place));
    let own = [("PYTHONPYCACHEPREFIX", "/tmp/pycache"), ("PYTHONDONTWRITEBYTECODE", "1"), ("NO_COLOR", "1")];
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let secrets = program.secrets.iter().map(|(name, value)| (name.clone(), value.to_string()));
    let identity = identity(program, &found);
    let needs = Needs {
        program: found.program,
        args,
        env: own.into_iter().chain(program.env.iter().cloned()).chain(secrets).collect(),
        memory: program.memory,
        web: None,
        channel: Channel::Streams,
        works: Some(works),
    };
    let (resident, socket) = Resident::start(&ground.launcher, &ground.state, ground.home.as_deref(), needs)?;
    Ok(Started { resident, socket, identity })
}

/// As [`started`], beside whatever else goes on.
pub(crate) async fn start(
    program: Program,
    ground: Arc<Ground>,
    may_write: bool,
) -> Result<Started, SessionError> {
    let starting = tokio::task::spawn_blocking(move || started(&program, &ground, may_write));
    match starting.await {
        Ok(started) => started.map_err(|fault| SessionError::Failed(fault.message)),
        Err(_) => Err(SessionError::Failed("it could not be started".to_owned())),
    }
}

/// Which argument is a script, where the program is given one.
fn script(command: &str, args: &[String]) -> Option<usize> {
    let name = Path::new(command).file_name().unwrap_or_default().to_string_lossy();
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_script = |arg: &String| Path::new(arg).is_absolute() && Path::new(arg).extension().is_some();
    INTERPRETERS.contains(&plain).then(|| args.iter().position(is_script))?
}

/// What an approval of its tools is bound to: how it is started, and all the code that this runs. Where it lies is a
/// part of the command.
fn identity(program: &Program, found: &Installed) -> Value {
    let packages = found.code.iter().map(|code| {
        let mut package = json!({ "digest": code.digest });
        if let Some((name, version)) = &code.named {
            package["name"] = json!(name);
            package["version"] = json!(version);
        }
        package
    });
    json!({
        "command": program.command,
        "args": program.args,
        "path": found.program,
        "digest": found.digest,
        "packages": packages.collect::<Vec<_>>(),
    })
}
