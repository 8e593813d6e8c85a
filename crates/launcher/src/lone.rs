//! A program without a world of its own: for machines that let nobody make namespaces.
//!
//! What is left are the filters of [`crate::last`]. Nothing ends with a first process here, so the launcher takes its
//! place: orphans become its children (`PR_SET_CHILD_SUBREAPER`), and when the program has ended, or whoever asked for it
//! has gone, it kills what is left, until nothing is. A launcher that is itself killed leaves them.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, pidfd_open, set_child_subreaper, set_parent_process_death_signal,
};

use crate::spec::{Network, Report, Spec};
use crate::{Done, Failure, last, sys, talk};

/// How long it is tried to kill whoever is left, before that is given up.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts the program and waits for its end, or for the end of whoever asked for it.
pub(crate) fn begun(spec: &Spec, talk: &mut talk::Talk) -> Done<i32> {
    if spec.network == Network::Door {
        let why = "there is no network of its own that a door could be in".to_owned();
        return Err(Failure { doing: "opening the door".into(), why });
    }
    if spec.channel.is_some() {
        let why = "a program without a world of its own gets none".to_owned();
        return Err(Failure { doing: "making a channel".into(), why });
    }
    set_child_subreaper(Some(rustix::process::getpid())).map_err(Failure::doing("adopting orphans"))?;
    // Whoever asked may go: this one then still has something to do. Its socket tells.
    set_parent_process_death_signal(None).map_err(Failure::doing("outliving whoever asked"))?;
    let (ours, theirs) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(Failure::doing("making a pipe"))?;
    let program = match sys::fork().map_err(Failure::doing("forking the program"))? {
        sys::Fork::Child => {
            drop(ours);
            let tied = sys::die_with_parent().map_err(Failure::doing("tying the program to the launcher"));
            let failure = match tied.and_then(|()| last::exec(spec, Vec::new(), &theirs, None)) {
                Ok(never) => match never {},
                Err(failure) => failure,
            };
            talk::tell_init(&theirs, &Report::Failed { doing: failure.doing, why: failure.why });
            std::process::exit(1);
        }
        sys::Fork::Parent(program) => program,
    };
    drop(theirs);
    let mut started = false;
    for report in talk::heard(&ours) {
        started |= matches!(report, Report::Ready { .. });
        let failed = matches!(report, Report::Failed { .. });
        talk.say(&report);
        if failed {
            sys::wait_for(program);
            return Ok(1);
        }
    }
    wait(program, talk)?;
    let ended = sys::reap_or_kill(program);
    kill_the_rest();
    if started {
        talk.say(&ended);
    }
    Ok(0)
}

/// Waits until the program has ended, or whoever asked for it has hung up.
fn wait(program: Pid, talk: &talk::Talk) -> Done<()> {
    let handle = pidfd_open(program, PidfdFlags::empty()).map_err(Failure::doing("watching the program"))?;
    loop {
        let mut watched =
            [PollFd::new(&handle, PollFlags::IN), PollFd::from_borrowed_fd(talk.as_fd(), PollFlags::RDHUP)];
        match poll(&mut watched, None) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Failure::doing("watching the program")(error)),
        }
    }
}

/// Kills every child, and its children as they become this one's, until there is none.
fn kill_the_rest() {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let left = children();
        if left.is_empty() {
            return;
        }
        for child in left {
            let _ = kill_process(child, Signal::KILL);
        }
        sys::reap_some();
    }
}

/// This process's children. It has one thread, so these are all.
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero();
    let listed = std::fs::read_to_string(format!("/proc/self/task/{own}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}
