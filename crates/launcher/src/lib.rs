//! Starts one program in a world of its own. The only crate with `unsafe` in it, all of it in `sys.rs`.
//!
//! Whoever wants a program run starts itself again with [`MARK`] as its first argument and a socket as standard input, and
//! writes a [`Spec`]; [`main_if_asked`] then never returns. It reads the specification, takes its own namespaces, and
//! forks the first process of the new world (`init`), which puts a root together, forks the program, reaps whatever is
//! orphaned, and says how the program ended. When `init` ends, so does everything in its world, and it ends with the
//! launcher, which ends with the thread that started it.
//!
//! The layers are those of `docs/design/confinement.md`: each is reported, none is skipped silently.

#![allow(
    clippy::disallowed_methods,
    reason = "this crate stands behind exec's door: the lint keeps others away from it"
)]

mod last;
mod lone;
mod spec;
mod sys;
mod talk;
mod world;

use std::path::Path;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

pub use spec::{Bound, DOOR_PORT, Isolation, Layer, Limits, MIN_PROCESSES, Network, Overlay, Report, Spec};
pub use talk::{Said, TalkError, say_spec};

/// The first argument of a process that is to be the launcher.
pub const MARK: &str = "--gatewright-launch";

/// Why the program cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {why}")]
struct Failure {
    doing: String,
    why: String,
}

impl Failure {
    /// For `map_err`: what was being done, and what the system said.
    fn doing<E: std::fmt::Display>(doing: impl Into<String>) -> impl FnOnce(E) -> Self {
        move |error| Self { doing: doing.into(), why: error.to_string() }
    }
}

type Done<T> = Result<T, Failure>;

/// Becomes the launcher, and never returns, where this process was started to be it.
pub fn main_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|first| first == MARK) {
        std::process::exit(launch());
    }
}

fn launch() -> i32 {
    // Before anything else: who started this may be gone already.
    let parent = rustix::process::getppid();
    let tied = sys::die_with_parent().and_then(|()| sys::close_inherited());
    if tied.is_err() || rustix::process::getppid() != parent {
        return 1;
    }
    let Ok(mut talk) = talk::Talk::take_stdin() else { return 1 };
    match begun(&mut talk) {
        Ok(code) => code,
        Err(failure) => {
            talk.say(&Report::Failed { doing: failure.doing, why: failure.why });
            1
        }
    }
}

/// Takes the namespaces and forks `init`; its status is this process's.
fn begun(talk: &mut talk::Talk) -> Done<i32> {
    let spec = talk.spec()?;
    if spec.isolation == Isolation::Filters {
        return lone::begun(&spec, talk);
    }
    world::namespaces(&spec)?;
    if spec.network == Network::Door {
        talk.open_door(&world::door()?)?;
    }
    // SAFETY-relevant: this process has one thread, see `sys::fork`.
    match sys::fork().map_err(Failure::doing("starting the first process"))? {
        sys::Fork::Parent(init) => Ok(sys::wait_for(init)),
        sys::Fork::Child => {
            let code = match init(&spec, talk) {
                Ok(()) => 0,
                Err(failure) => {
                    talk.say(&Report::Failed { doing: failure.doing, why: failure.why });
                    1
                }
            };
            std::process::exit(code);
        }
    }
}

/// The first process of the new world.
fn init(spec: &Spec, talk: &mut talk::Talk) -> Done<()> {
    sys::die_with_parent().map_err(Failure::doing("tying the world to the launcher"))?;
    // What the program may not do to the first process is to look into it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(Failure::doing("closing the first process"))?;
    let mut layers = vec![Layer::Namespaces, Layer::Network];
    layers.extend(world::root(spec)?);
    if world::limit_processes(spec.limits.processes) {
        layers.push(Layer::Processes);
    }
    let (ours, theirs) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(Failure::doing("making a pipe"))?;
    match sys::fork().map_err(Failure::doing("forking the program"))? {
        sys::Fork::Child => {
            drop(ours);
            let failure = match last::exec(spec, layers, &theirs) {
                Ok(never) => match never {},
                Err(failure) => failure,
            };
            talk::tell_init(&theirs, &Report::Failed { doing: failure.doing, why: failure.why });
            std::process::exit(1);
        }
        sys::Fork::Parent(program) => {
            drop(theirs);
            // What holds, or what failed; then the pipe closes, because the program runs or is no more.
            let mut started = false;
            for report in talk::heard(&ours) {
                started |= matches!(report, Report::Ready { .. });
                let failed = matches!(report, Report::Failed { .. });
                talk.say(&report);
                if failed {
                    return Ok(());
                }
            }
            let ended = sys::reap_until(program);
            if started {
                talk.say(&ended);
            }
            Ok(())
        }
    }
}

/// Whether `path` can be given to the program: absolute, and no way up in it.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|part| matches!(part, std::path::Component::RootDir | std::path::Component::Normal(_)))
}
