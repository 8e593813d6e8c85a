//! The system calls that no safe interface offers. All `unsafe` of the project is here.
#![allow(unsafe_code, reason = "fork, kill, mount_setattr, close_range and an ioctl: each with its argument")]

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process, set_parent_process_death_signal, wait, waitpid,
};

use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::spec::Report;

/// Which side of a fork this is.
pub(crate) enum Fork {
    /// The one that forked, with the other's number.
    Parent(Pid),
    /// The new one.
    Child,
}

/// Forks.
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: this process has one thread: `main_if_asked` is called before anything starts another, and nothing in this
    // crate does. So no lock is held by a thread that the child does not have, and the child may do whatever the parent
    // may.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        child => {
            Pid::from_raw(child).map(Fork::Parent).ok_or_else(|| io::Error::other("a child without a number"))
        }
    }
}

/// Takes namespaces of its own.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: none of the flags that are given here ends the sharing of descriptors between threads, which is what makes
    // this call unsafe; and there is one thread.
    unsafe { unshare_unsafe(flags) }.map_err(io::Error::from)
}

/// Has the system end this process when the thread that started it ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from)
}

/// Waits for a child, and gives the code to exit with.
pub(crate) fn wait_for(child: Pid) -> i32 {
    loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Ok(Some((_, status))) => return status.exit_status().unwrap_or(1),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return 1,
        }
    }
}

/// The end of `program`, which is made to end now where it has not. Nobody else is reaped.
pub(crate) fn reap_or_kill(program: Pid) -> Report {
    loop {
        match waitpid(Some(program), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => return ended(status),
            Ok(None) => {
                let _ = kill_process(program, Signal::KILL);
                match waitpid(Some(program), WaitOptions::empty()) {
                    Ok(Some((_, status))) => return ended(status),
                    Ok(None) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return lost(error),
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return lost(error),
        }
    }
}

/// Reaps every child that has ended, waiting a moment for one.
pub(crate) fn reap_some() {
    std::thread::sleep(std::time::Duration::from_millis(1));
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
}

fn ended(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited { code },
        (None, signal) => Report::Killed { signal: signal.unwrap_or(0) },
    }
}

fn lost(error: rustix::io::Errno) -> Report {
    Report::Failed { doing: "waiting for the program".into(), why: error.to_string() }
}

/// Kills everybody in this world but this process, which is its first, and waits until nobody is left. What a process's end
/// leaves behind becomes this one's child, so without a child there is nobody.
pub(crate) fn end_everybody() {
    if rustix::process::getpid() != Pid::INIT {
        return;
    }
    loop {
        // SAFETY: no memory is involved. To the first process of a world, everybody is whoever else is in that world.
        let _ = unsafe { libc::kill(-1, libc::SIGKILL) };
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Reaps every child until `program` has ended, and says how.
pub(crate) fn reap_until(program: Pid) -> Report {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => return ended(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return lost(error),
        }
    }
}

/// `struct mount_attr` (`mount_setattr(2)`).
#[repr(C)]
struct MountAttr {
    attr_set: u64,
    attr_clr: u64,
    propagation: u64,
    userns_fd: u64,
}

/// Sets attributes (`MOUNT_ATTR_…`) of the mount that `tree` is, and of all below it where `recursive`.
pub(crate) fn set_mount_attributes(tree: impl AsFd, attributes: u64, recursive: bool) -> io::Result<()> {
    let attr = MountAttr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the descriptor is open for the length of the call, the path is a constant that ends with NUL, and the
    // structure is the kernel's `struct mount_attr`, alive during the call and given with its size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Closes every descriptor above standard error: what was inherited is nobody's here.
pub(crate) fn close_inherited() -> io::Result<()> {
    // SAFETY: this is the first thing that the launcher does: nothing in this process owns a descriptor yet.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Marks every descriptor above standard error to be closed when a program is executed.
pub(crate) fn close_others_on_exec() -> io::Result<()> {
    // SAFETY: no descriptor is closed here, only marked: whoever owns one keeps it until the program is executed, and then
    // this process is no more.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Puts a copy of `descriptor` in `place`, where the program that is executed next finds it.
pub(crate) fn give(descriptor: &OwnedFd, place: i32) -> io::Result<()> {
    // SAFETY: what `place` was before is closed under whoever owned it in this process. That owner never uses it again: this
    // is the last step before the program is executed, what is still used was moved above every place that is given away
    // (`last::exec`), and where executing fails the process only says so over one of those, and exits without dropping.
    let result = unsafe { libc::dup2(descriptor.as_raw_fd(), place) };
    if result == place { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Brings the loopback of this network namespace up.
pub(crate) fn loopback_up(socket: &OwnedFd) -> io::Result<()> {
    // SAFETY: `ifreq` is plain data, for which zeros are a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the two flags fit")]
    let flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    request.ifr_ifru.ifru_flags = flags;
    // SAFETY: the descriptor is an open socket, and the request is a whole `ifreq` with the name and flags set, as
    // SIOCSIFFLAGS reads it (netdevice(7)).
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
