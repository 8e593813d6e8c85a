//! A PostgreSQL server for a bench: on a socket in a folder of its own, writing to the disk as it would in life.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::sh::{Done, output};

/// Makes a cluster, starts it, says so, and stops it when its input ends.
const SCRIPT: &str = r#"
    bin=$1 dir=$2
    "$bin/initdb" -A trust -U gw -E UTF8 --locale=C.UTF-8 -D "$dir/data" >"$dir/log" 2>&1 &&
        "$bin/pg_ctl" -w -D "$dir/data" -l "$dir/log" -o "-k $dir -c listen_addresses= -c max_connections=60" start >/dev/null 2>&1 ||
        { echo "failed: $(tail -n 5 "$dir/log")"; exit 1; }
    echo started
    cat >/dev/null
    "$bin/pg_ctl" -D "$dir/data" -m fast stop >/dev/null 2>&1
"#;

pub(super) struct Cluster {
    programs: PathBuf,
    /// Of the socket: its name must be short.
    folder: PathBuf,
    running: Child,
}

impl Cluster {
    /// None where no server is installed.
    pub(super) fn start(_: &Path) -> Done<Option<Self>> {
        let Some(programs) = programs() else {
            println!("SKIPPED: PostgreSQL (no server is installed)");
            return Ok(None);
        };
        let folder = PathBuf::from(output("mktemp", &["-d", "/tmp/gwpgXXXXXX"])?.trim());
        let mut command = shell(&folder)?;
        let mut running = command
            .args(["-c", SCRIPT, "sh"])
            .args([&programs, &folder])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("a PostgreSQL server: {e}"))?;
        let mut said = String::new();
        let from = running.stdout.take().ok_or("no output")?;
        BufReader::new(from).read_line(&mut said).map_err(|e| e.to_string())?;
        if said.trim() == "started" {
            Ok(Some(Self { programs, folder, running }))
        } else {
            Err(format!("the PostgreSQL server of {}: {said}", programs.display()))
        }
    }

    /// The address of a fresh database.
    pub(super) fn database(&self, number: usize) -> Done<String> {
        let folder = self.folder.display().to_string();
        let name = format!("b{number}");
        let program = self.programs.join("createdb").display().to_string();
        output(&program, &["-h", &folder, "-U", "gw", &name])?;
        Ok(format!("postgres://gw@{}/{name}", folder.replace('/', "%2F")))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.running.stdin.take());
        let _ = self.running.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The newest version that is installed: Debian keeps servers off the PATH.
fn programs() -> Option<PathBuf> {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let installed =
        std::fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let whole = installed.filter(|path| path.join("bin/initdb").is_file());
    Some(whole.max_by_key(|path| version(path))?.join("bin"))
}

/// A shell as somebody who may start a server, which root may not.
fn shell(folder: &Path) -> Done<Command> {
    if output("id", &["-u"])?.trim() != "0" {
        return Ok(Command::new("sh"));
    }
    output("chown", &["postgres:postgres", &folder.display().to_string()])?;
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
    Ok(command)
}
