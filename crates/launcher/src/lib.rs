//! Starts one program in a world of its own. The only crate with `unsafe` in it, all of it in `sys.rs`.
//!
//! Whoever wants a program run starts itself again with [`arguments`] and a socket as standard input, and writes a [`Ground`]
//! and a [`Spec`], one at once or much later; [`main_if_asked`] then never returns. It takes its own namespaces and forks the
//! first process of the new world (`init`), which puts a root together of the ground, waits for the specification, ends the
//! root with it, forks the program, reaps whatever is orphaned, and says how the program ended when nobody of its world is
//! left. When `init` ends, so does everything in its world, and it ends with the launcher, which ends with the thread that
//! started it.
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

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::process::{DumpableBehavior, Pid, set_dumpable_behavior};

pub use spec::{
    Bound, Channel, DOOR_PORT, Ground, Isolation, Layer, Limits, MIN_PROCESSES, Network, Overlay, Report,
    SCRATCH_BYTES, Spec,
};
pub use talk::{Said, TalkError, say_ground, say_spec};

/// The first argument of a process that is to be the launcher.
pub const MARK: &str = "--gatewright-launch";

/// The arguments that make a program of ours the launcher of this process: it must be known whose, since whoever asked may
/// be gone before the launcher has begun.
#[must_use]
pub fn arguments() -> [String; 2] {
    [MARK.to_owned(), std::process::id().to_string()]
}

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
    // Before anything else. Who asked may be gone already, with all that was to be said in the socket: then nobody's end
    // would ever be this one's.
    let tied = sys::die_with_parent().and_then(|()| sys::close_inherited());
    let asked = std::env::args().nth(2).and_then(|pid| pid.parse::<i32>().ok()).and_then(Pid::from_raw);
    if tied.is_err() || asked.is_none() || rustix::process::getppid() != asked {
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
    let ground: Ground = talk.hear()?;
    if ground.isolation == Isolation::Filters {
        return lone::begun(&talk.hear()?, talk);
    }
    world::namespaces(&ground)?;
    let (alive, held) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(Failure::doing("making a pipe"))?;
    // SAFETY-relevant: this process has one thread, see `sys::fork`.
    match sys::fork().map_err(Failure::doing("starting the first process"))? {
        sys::Fork::Parent(init) => {
            talk::let_streams_go()?;
            let code = sys::wait_for(init);
            drop(held);
            Ok(code)
        }
        sys::Fork::Child => {
            drop(held);
            let code = match init(&ground, talk, &alive) {
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

/// The first process of the new world. `alive` is a pipe that the launcher holds open.
fn init(ground: &Ground, talk: &mut talk::Talk, alive: &OwnedFd) -> Done<()> {
    sys::die_with_parent().map_err(Failure::doing("tying the world to the launcher"))?;
    // From here its number does not tell whether the launcher was gone before: that is in another world.
    if talk::is_hung_up(alive) {
        return Err(Failure { doing: "tying the world to the launcher".into(), why: "it is gone".into() });
    }
    // What the program may not do to the first process is to look into it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(Failure::doing("closing the first process"))?;
    let own_proc = world::ground(ground)?;
    // Here it may wait for long.
    let Some(spec) = talk.hear_or_end::<Spec>()? else { return Ok(()) };
    if spec.ground != *ground {
        let why = "its world was made of something else".to_owned();
        return Err(Failure { doing: "reading what to start".into(), why });
    }
    if spec.network == Network::Door {
        talk.give(&Report::Door, &world::door()?)?;
    }
    let channel = spec.channel.map(|_| channel(talk)).transpose()?;
    let mut layers = vec![Layer::Namespaces, Layer::Network, Layer::Root];
    match own_proc {
        Ok(()) => layers.push(Layer::Proc),
        Err(failure) if spec.strict => return Err(failure),
        // The program then has none.
        Err(_) => {}
    }
    world::root(&spec)?;
    if world::limit_processes(spec.limits.processes) {
        layers.push(Layer::Processes);
    }
    let (ours, theirs) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(Failure::doing("making a pipe"))?;
    match sys::fork().map_err(Failure::doing("forking the program"))? {
        sys::Fork::Child => {
            drop(ours);
            let failure = match last::exec(&spec, layers, &theirs, channel.as_ref()) {
                Ok(never) => match never {},
                Err(failure) => failure,
            };
            talk::tell_init(&theirs, &Report::Failed { doing: failure.doing, why: failure.why });
            std::process::exit(1);
        }
        sys::Fork::Parent(program) => {
            drop(theirs);
            drop(channel);
            talk::let_streams_go()?;
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
            // Whoever hears of the end need not wait for this world to be taken down: nobody is left in it.
            sys::end_everybody();
            world::leave(&spec);
            if started {
                talk.say(&ended);
            }
            Ok(())
        }
    }
}

/// Makes the program's channel: gives one end away, and returns the program's.
fn channel(talk: &mut talk::Talk) -> Done<OwnedFd> {
    let (ours, theirs) = UnixStream::pair().map_err(Failure::doing("making a channel"))?;
    talk.give(&Report::Channel, &OwnedFd::from(ours))?;
    Ok(OwnedFd::from(theirs))
}

/// Whether `path` can be given to the program: absolute, and no way up in it.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|part| matches!(part, std::path::Component::RootDir | std::path::Component::Normal(_)))
}
