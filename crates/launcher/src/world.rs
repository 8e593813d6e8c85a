//! The namespaces, and a root made of what the program may see: everything else is not there. What every program sees is
//! put there first (`ground`), before it is known which one runs.
//!
//! What is to be seen is opened as detached copies of mounts before the root is changed, and attached by handle: no path
//! that somebody else may change meanwhile is looked at twice, and no link is followed.

use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
    mount, mount_change, move_mount, open_tree, unmount,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{chdir, getegid, geteuid, pivot_root};
use rustix::thread::UnshareFlags;

use crate::spec::{DOOR_PORT, Ground, MIN_PROCESSES, Overlay, Spec};
use crate::{Done, Failure, is_plain, sys};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | HARMLESS;
const HARMLESS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Top-level names that are folders on some systems and links into `/usr` on others.
const TOP: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// Folders that are the program's own, and empty.
const PRIVATE: [&str; 4] = ["tmp", "var/tmp", "run", "dev/shm"];

/// Devices that no program does without.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Takes namespaces of its own for this process's children, as the user that it runs as.
pub(crate) fn namespaces(ground: &Ground) -> Done<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if !ground.is_online {
        flags |= UnshareFlags::NEWNET;
    }
    sys::unshare(flags).map_err(Failure::doing("taking namespaces"))?;
    // Without this the kernel lets nobody write a map of groups.
    fs::write("/proc/self/setgroups", "deny").map_err(Failure::doing("giving up groups"))?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))
        .map_err(Failure::doing("mapping the user"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
        .map_err(Failure::doing("mapping the group"))?;
    if !ground.is_online {
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
            .map_err(Failure::doing("opening a socket"))?;
        sys::loopback_up(&socket).map_err(Failure::doing("bringing the loopback up"))?;
    }
    Ok(())
}

/// A socket that listens on the loopback of this world, whoever holds it.
pub(crate) fn door() -> Done<OwnedFd> {
    let listener =
        std::net::TcpListener::bind(("127.0.0.1", DOOR_PORT)).map_err(Failure::doing("opening the door"))?;
    Ok(listener.into())
}

/// Limits how many processes there may be in this world at once; since Linux 6.14 each has a limit of its own. Gives
/// whether it holds.
pub(crate) fn limit_processes(most: u64) -> bool {
    // On an older kernel this is the machine's, and root could write it.
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
    if (numbers.next(), numbers.next()) < (Some(6), Some(14)) {
        return false;
    }
    let most = most.max(MIN_PROCESSES).to_string();
    fs::write("/proc/sys/kernel/pid_max", &most).is_ok()
        && fs::read_to_string("/proc/sys/kernel/pid_max").is_ok_and(|now| now.trim() == most)
}

/// A detached copy of the mount at `path`, which is a folder, a file or a device, and no link.
fn copy_of(path: &Path, attributes: u64) -> Done<OwnedFd> {
    let what = || format!("opening {}", path.display());
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = open_tree(CWD, path, flags).map_err(Failure::doing(what()))?;
    sys::set_mount_attributes(&tree, attributes, true).map_err(Failure::doing(what()))?;
    Ok(tree)
}

/// Where a path is below the new root, before that is the root.
fn inside(path: &Path) -> PathBuf {
    Path::new(".").join(path.strip_prefix("/").unwrap_or(path))
}

/// A place for something to be attached at: a folder or a file, in the new root's own file system.
fn place(path: &Path, is_folder: bool) -> Done<()> {
    let made = if is_folder {
        fs::create_dir_all(path)
    } else {
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| if path.exists() { Ok(()) } else { fs::File::create_new(path).map(drop) })
    };
    made.map_err(Failure::doing(format!("making a place for {}", path.display())))
}

fn attach(tree: &OwnedFd, to: &Path) -> Done<()> {
    move_mount(tree, "", CWD, to, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(Failure::doing(format!("attaching {}", to.display())))
}

fn tmpfs(to: &Path, options: &str) -> Done<()> {
    let options = CString::new(options).map_err(Failure::doing("making a private folder"))?;
    mount("tmpfs", to, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(options.as_c_str()))
        .map_err(Failure::doing(format!("making a private {}", to.display())))
}

/// An overlay, not attached anywhere yet.
fn overlay_of(overlay: &Overlay) -> Done<OwnedFd> {
    let set = |context: &OwnedFd, key: &str, value: &Path| {
        // A colon would part one lower folder from the next.
        let value = value.to_string_lossy().replace('\\', "\\\\").replace(':', "\\:");
        fsconfig_set_string(context, key, value).map_err(Failure::doing("making the overlay"))
    };
    let context =
        fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC).map_err(Failure::doing("opening an overlay"))?;
    set(&context, "lowerdir", &overlay.lower)?;
    set(&context, "upperdir", &overlay.upper)?;
    set(&context, "workdir", &overlay.work)?;
    fsconfig_set_flag(&context, "userxattr").map_err(Failure::doing("making the overlay"))?;
    fsconfig_create(&context).map_err(Failure::doing("making the overlay"))?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        .map_err(Failure::doing("mounting the overlay"))
}

/// What is put somewhere in the new root.
enum Piece {
    /// A mount, of a folder or not.
    Mount(OwnedFd, bool),
    /// The content of a small file: to write it takes a fraction of what a mount does, which is also taken down at the end.
    Content(Vec<u8>),
}

/// Small files of the system are there as content, up to as many bytes.
const MAX_CONTENT: u64 = 256 * 1024;

/// The content of `path`, where that is a small file below `/etc` that can be read.
fn content(path: &Path) -> Option<Piece> {
    let there = fs::symlink_metadata(path).ok()?;
    let is_small = there.is_file() && there.len() <= MAX_CONTENT && path.starts_with("/etc");
    is_small.then(|| fs::read(path).ok().map(Piece::Content))?
}

/// Something that is to be put somewhere, and where that is.
type Placed = (Piece, PathBuf);

/// What may be read, opened.
fn read_only(paths: &[PathBuf]) -> impl Iterator<Item = Done<Placed>> {
    paths.iter().map(|path| match is_plain(path).then(|| content(path)).flatten() {
        Some(content) => Ok((content, path.clone())),
        None => bound(path, path, READ_ONLY),
    })
}

/// A mount of `from`, for `at`.
fn bound(from: &Path, at: &Path, attributes: u64) -> Done<Placed> {
    if !is_plain(from) || !is_plain(at) {
        let why = "it is not absolute, or leads up".to_owned();
        return Err(Failure { doing: format!("opening {}", from.display()), why });
    }
    let is_folder = fs::symlink_metadata(from).is_ok_and(|there| there.is_dir());
    Ok((Piece::Mount(copy_of(from, attributes)?, is_folder), at.to_owned()))
}

/// Puts what was opened below the new root. What lies within another is attached after it.
fn put(mut all: Vec<Placed>) -> Done<()> {
    all.sort_by(|a, b| a.1.cmp(&b.1));
    for (piece, path) in &all {
        let to = inside(path);
        match piece {
            Piece::Mount(tree, is_folder) => {
                place(&to, *is_folder)?;
                attach(tree, &to)?;
            }
            Piece::Content(bytes) => {
                place(&to, false)?;
                fs::write(&to, bytes).map_err(Failure::doing(format!("writing {}", path.display())))?;
            }
        }
    }
    Ok(())
}

fn links(all: impl IntoIterator<Item = (PathBuf, PathBuf)>) -> Done<()> {
    for (name, target) in all {
        std::os::unix::fs::symlink(target, &name)
            .map_err(Failure::doing(format!("linking {}", name.display())))?;
    }
    Ok(())
}

/// Begins a root with what every program has, and moves to where it is put together. What failed of `/proc` is given: a
/// machine whose own is masked lets nobody have a whole one.
pub(crate) fn ground(ground: &Ground) -> Done<Result<(), Failure>> {
    // What the machine mounts and lets go while this waits reaches this world, too.
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)
        .map_err(Failure::doing("keeping mounts to itself"))?;
    let mut all = read_only(&ground.readable).collect::<Done<Vec<_>>>()?;
    let mut linked = Vec::new();
    for name in TOP {
        let path = Path::new("/").join(name);
        if let Ok(target) = fs::read_link(&path) {
            linked.push((name.into(), target));
        } else if path.is_dir() {
            all.push(bound(&path, &path, READ_ONLY)?);
        }
    }
    for name in DEVICES {
        // A device is what this is: the flag that makes devices dead stays off.
        let alive = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
        let path = Path::new("/dev").join(name);
        all.push(bound(&path, &path, alive)?);
    }
    tmpfs(&ground.stage, "mode=0755,size=16m")?;
    chdir(&ground.stage).map_err(Failure::doing("entering the new root"))?;
    let scratch = format!("mode=1777,size={}", ground.scratch_bytes);
    for private in PRIVATE {
        place(Path::new(private), true)?;
        tmpfs(Path::new(private), &scratch)?;
    }
    put(all)?;
    links(linked)?;
    let streams = [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")]
        .map(|(name, at)| (Path::new("dev").join(name), Path::new("/proc/self").join(at)));
    links(streams)?;
    place(Path::new("proc"), true)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let mounted = mount("proc", "proc", "proc", flags, None::<&std::ffi::CStr>);
    Ok(mounted.map_err(Failure::doing("mounting /proc")))
}

/// Ends the root with what this program has, and moves into it.
pub(crate) fn root(spec: &Spec) -> Done<()> {
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
        .map_err(Failure::doing("keeping mounts to itself"))?;
    let shown = spec.shown.iter().map(|shown| bound(&shown.from, &shown.at, READ_ONLY));
    let writable = spec.writable.iter().map(|place| bound(&place.from, &place.at, HARMLESS));
    let over =
        spec.overlay.iter().map(|over| Ok((Piece::Mount(overlay_of(over)?, true), over.lower.clone())));
    put(read_only(&spec.readable).chain(shown).chain(writable).chain(over).collect::<Done<Vec<_>>>()?)?;
    for path in &spec.hidden {
        hide(&inside(path))?;
    }
    pivot_root(".", ".").map_err(Failure::doing("changing the root"))?;
    unmount(".", UnmountFlags::DETACH).map_err(Failure::doing("letting the old root go"))?;
    chdir("/").map_err(Failure::doing("entering the root"))?;
    let top =
        open_tree(CWD, "/", OpenTreeFlags::OPEN_TREE_CLOEXEC).map_err(Failure::doing("opening the root"))?;
    sys::set_mount_attributes(&top, READ_ONLY, false).map_err(Failure::doing("closing the root"))
}

/// Lets go of what the program worked over, once nobody is left that does: the next run over it finds it free.
pub(crate) fn leave(spec: &Spec) {
    if let Some(over) = &spec.overlay {
        // What is not let go here goes with this world.
        let _ = unmount(&over.lower, UnmountFlags::DETACH);
    }
}

/// Puts an empty folder, or an empty file, in the place of what stands at `path`. What is not there needs nothing.
fn hide(path: &Path) -> Done<()> {
    let Ok(there) = fs::symlink_metadata(path) else { return Ok(()) };
    if there.is_dir() {
        return tmpfs(path, "mode=0555,size=4k");
    }
    let null = copy_of(Path::new("./dev/null"), READ_ONLY | libc::MOUNT_ATTR_NOEXEC)?;
    attach(&null, path)
}
