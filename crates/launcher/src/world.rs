//! The namespaces, and a root made of what the program may see: everything else is not there.
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

use crate::spec::{DOOR_PORT, Layer, MIN_PROCESSES, Network, Overlay, Spec};
use crate::{Done, Failure, is_plain, sys};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | HARMLESS;
const HARMLESS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Top-level names that are folders on some systems and links into `/usr` on others.
const TOP: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// Devices that no program does without.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Takes namespaces of its own for this process's children, as the user that it runs as.
pub(crate) fn namespaces(spec: &Spec) -> Done<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if spec.network != Network::Whole {
        flags |= UnshareFlags::NEWNET;
    }
    sys::unshare(flags).map_err(Failure::doing("taking namespaces"))?;
    // Without this the kernel lets nobody write a map of groups.
    fs::write("/proc/self/setgroups", "deny").map_err(Failure::doing("giving up groups"))?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))
        .map_err(Failure::doing("mapping the user"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
        .map_err(Failure::doing("mapping the group"))?;
    if spec.network != Network::Whole {
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

/// Everything that is to be put somewhere, opened: what, and where.
fn opened(spec: &Spec) -> Done<Vec<(Piece, PathBuf)>> {
    let named = spec.readable.iter().map(|path| (path, path, READ_ONLY));
    let named = named.chain(spec.shown.iter().map(|bound| (&bound.from, &bound.at, READ_ONLY)));
    let named = named.chain(spec.writable.iter().map(|bound| (&bound.from, &bound.at, HARMLESS)));
    let mut all = Vec::new();
    for (path, at, attributes) in named {
        if !is_plain(path) || !is_plain(at) {
            let why = "it is not absolute, or leads up".to_owned();
            return Err(Failure { doing: format!("opening {}", path.display()), why });
        }
        let own = (attributes == READ_ONLY && path == at).then(|| content(path)).flatten();
        let is_folder = fs::symlink_metadata(path).is_ok_and(|there| there.is_dir());
        let piece = match own {
            Some(content) => content,
            None => Piece::Mount(copy_of(path, attributes)?, is_folder),
        };
        all.push((piece, at.clone()));
    }
    for name in TOP {
        let path = Path::new("/").join(name);
        if fs::symlink_metadata(&path).is_ok_and(|there| there.is_dir()) {
            all.push((Piece::Mount(copy_of(&path, READ_ONLY)?, true), path));
        }
    }
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        // A device is what this is: the flag that makes devices dead stays off.
        let device = copy_of(&path, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC)?;
        all.push((Piece::Mount(device, false), path));
    }
    if let Some(overlay) = &spec.overlay {
        all.push((Piece::Mount(overlay_of(overlay)?, true), overlay.lower.clone()));
    }
    // What lies within another is attached after it.
    all.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(all)
}

/// Puts the root together and moves into it. Gives the layers that hold.
pub(crate) fn root(spec: &Spec) -> Done<Vec<Layer>> {
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
        .map_err(Failure::doing("keeping mounts to itself"))?;
    let links: Vec<(&str, PathBuf)> = TOP
        .into_iter()
        .filter_map(|name| fs::read_link(Path::new("/").join(name)).ok().map(|target| (name, target)))
        .collect();
    let all = opened(spec)?;
    tmpfs(&spec.stage, "mode=0755,size=16m")?;
    chdir(&spec.stage).map_err(Failure::doing("entering the new root"))?;
    let scratch = format!("mode=1777,size={}", spec.limits.scratch_bytes);
    for private in ["tmp", "var/tmp", "run", "dev/shm"] {
        place(Path::new(private), true)?;
        tmpfs(Path::new(private), &scratch)?;
    }
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
    for (name, target) in links {
        std::os::unix::fs::symlink(target, name).map_err(Failure::doing(format!("linking {name}")))?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        std::os::unix::fs::symlink(target, Path::new("dev").join(name))
            .map_err(Failure::doing("linking /dev"))?;
    }
    for path in &spec.hidden {
        hide(&inside(path))?;
    }
    let mut layers = vec![Layer::Root];
    place(Path::new("proc"), true)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    match mount("proc", "proc", "proc", flags, None::<&std::ffi::CStr>) {
        Ok(()) => layers.push(Layer::Proc),
        Err(error) if spec.strict => return Err(Failure::doing("mounting /proc")(error)),
        // Machines whose own /proc is masked do not let anybody have a whole one. The program then has none.
        Err(_) => {}
    }
    pivot_root(".", ".").map_err(Failure::doing("changing the root"))?;
    unmount(".", UnmountFlags::DETACH).map_err(Failure::doing("letting the old root go"))?;
    chdir("/").map_err(Failure::doing("entering the root"))?;
    let top =
        open_tree(CWD, "/", OpenTreeFlags::OPEN_TREE_CLOEXEC).map_err(Failure::doing("opening the root"))?;
    sys::set_mount_attributes(&top, READ_ONLY, false).map_err(Failure::doing("closing the root"))?;
    Ok(layers)
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
