//! PostgreSQL servers that go with the process that started them.
//!
//! One serves most tests of a process, with a database for each: what is forgotten is forgotten in all roots. Servers listen on
//! a socket in their own folder. Who is root starts them as somebody else, because they refuse root.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

/// Makes a cluster, starts it, says so, lets it crash and recover when it is told to, and stops it and removes its folder when its
/// input ends: when the process that holds the other end is gone, however it went.
const SCRIPT: &str = r#"
    trap '' INT
    bin=$1 dir=$2
    start() { "$bin/pg_ctl" -w -D "$dir/data" -l "$dir/log" -o "-k $dir -c max_connections=60 $3" start >/dev/null 2>&1; }
    stop() { "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1; }
    "$bin/initdb" -A trust -U gw --no-sync -E UTF8 --locale=C.UTF-8 -D "$dir/data" >"$dir/log" 2>&1 && start "$@" ||
    { echo "failed: $(tail -n 5 "$dir/log")"; rm -rf "$dir"; exit 1; }
    echo started
    while read -r line; do stop; start "$@"; echo started; done
    stop
    rm -rf "$dir"
"#;

/// A running server.
pub(crate) struct Cluster {
    pub(crate) folder: PathBuf,
    running: Mutex<(Child, BufReader<ChildStdout>)>,
}

impl Cluster {
    /// Lets it crash in the middle of whatever it does, and start again.
    pub(crate) fn crash(&self) {
        let mut running = self.running.lock().unwrap();
        running.0.stdin.as_ref().unwrap().write_all(b"crash\n").unwrap();
        assert_eq!(said(&mut running.1), "started");
    }

    /// The address of a fresh database.
    pub(crate) fn database(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let made = Command::new(programs().unwrap().join("createdb"))
            .args(["-h".as_ref(), self.folder.as_os_str()])
            .args(["-U", "gw", &name])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let socket = self.folder.to_str().unwrap().replace('/', "%2F");
        format!("postgres://gw@{socket}/{name}")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap();
        drop(running.0.stdin.take());
        let _ = running.0.wait();
    }
}

fn said(from: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// The newest version that is installed: Debian keeps servers off the PATH.
fn programs() -> Option<PathBuf> {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let is_whole =
        |path: &PathBuf| ["initdb", "pg_ctl", "postgres"].iter().all(|name| path.join(name).is_file());
    let installed =
        std::fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let newest = installed.filter(|path| is_whole(&path.join("bin"))).max_by_key(|path| version(path))?;
    Some(newest.join("bin"))
}

/// Who servers run as where we are root: an account that there is, or they could not look up its name.
fn somebody() -> (u32, u32) {
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let mut fields = accounts.lines().find(|line| line.starts_with(name))?.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    ids("postgres:").or_else(|| ids("nobody:")).expect("there is somebody who is not root")
}

/// What runs a shell as somebody who may start a server on `folder`: a user namespace needs no change of owner; where there are none,
/// another user does.
fn shell(folder: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new("sh");
    }
    let (user, group) = somebody();
    let mapped = ["--user".to_owned(), format!("--map-user={user}"), format!("--map-group={group}")];
    let can_map =
        Command::new("unshare").args(&mapped).arg("true").output().is_ok_and(|out| out.status.success());
    let (program, with) = if can_map {
        ("unshare", mapped)
    } else {
        std::os::unix::fs::chown(folder, Some(user), Some(group)).unwrap();
        ("setpriv", [format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".to_owned()])
    };
    let mut command = Command::new(program);
    command.args(with).arg("sh");
    command
}

/// Starts a server with options of its own and private files in its folder; none, said loudly, where there is none to start.
pub(crate) fn start(options: &str, files: &[(&str, &str)]) -> Option<Cluster> {
    let Some(programs) = programs() else {
        skip("the store in PostgreSQL (no server is installed)");
        return None;
    };
    // The names of sockets are short.
    let folder = tempfile::Builder::new().prefix("gwpg").tempdir().unwrap().keep();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
        std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let mut running = shell(&folder)
        .args(["-c", SCRIPT, "sh"])
        .args([&programs, &folder])
        .arg(options)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(running.stdout.take().unwrap());
    // One that is installed and does not start is no reason to leave tests out.
    assert_eq!(said(&mut output), "started", "the PostgreSQL server of {}", programs.display());
    Some(Cluster { folder, running: Mutex::new((running, output)) })
}

/// The address of a fresh database of the server that tests share. It writes without waiting for the disk: clients are killed, not it.
pub(crate) fn database() -> Option<String> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| start("-c listen_addresses= -c fsync=off", &[]));
    if shared.is_none() {
        skip("a test of the store in PostgreSQL");
    }
    Some(shared.as_ref()?.database())
}

/// Says loudly that a part was left out, where the summary of `cargo xtask test` counts it.
fn skip(part: &str) {
    eprintln!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{part}").unwrap();
    }
}
