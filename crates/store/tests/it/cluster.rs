//! A PostgreSQL server that goes with the process that started it.
//!
//! One for all tests of a process, a database for each: what is forgotten is forgotten in all roots. The server listens on a socket
//! in its own folder and nowhere else. It writes without waiting for the disk: tests kill its clients, not it. Who is root starts it in a user namespace as somebody else, because it refuses root.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _};

/// Makes a cluster, starts it, says so, and stops it and removes its folder when its input ends: when the process that holds the
/// other end is gone, however it went.
const SCRIPT: &str = r#"
    trap '' INT
    bin=$1 dir=$2
    stop() { "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1; rm -rf "$dir"; }
    "$bin/initdb" -A trust -U gw --no-sync -E UTF8 --locale=C.UTF-8 -D "$dir/data" >"$dir/log" 2>&1 &&
    "$bin/pg_ctl" -w -D "$dir/data" -l "$dir/log" -o "-k $dir -c listen_addresses= -c max_connections=60 -c fsync=off" start >/dev/null 2>&1 ||
    { echo "failed: $(tail -n 5 "$dir/log")"; rm -rf "$dir"; exit 1; }
    echo started
    cat >/dev/null
    stop
"#;

/// The running server; its folder.
pub(crate) struct Cluster {
    folder: PathBuf,
    _running: Child,
}

/// The newest version that is installed: Debian keeps servers off the PATH.
fn programs() -> Option<PathBuf> {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let newest = installed.filter_map(|entry| Some(entry.ok()?.path())).max_by_key(|path| version(path))?;
    let programs = newest.join("bin");
    ["initdb", "pg_ctl", "postgres"].iter().all(|name| programs.join(name).is_file()).then_some(programs)
}

fn start() -> Result<Cluster, String> {
    let programs = programs().ok_or("no PostgreSQL server is installed")?;
    // Socket names are short.
    let folder = tempfile::Builder::new().prefix("gwpg").tempdir().unwrap().keep();
    let is_root = rustix::process::geteuid().is_root();
    let mut command = if is_root {
        let mut other = Command::new("unshare");
        other.args(["--user", "--map-user=1000", "--map-group=1000", "sh"]);
        other
    } else {
        Command::new("sh")
    };
    let mut running = command
        .args(["-c", SCRIPT, "sh"])
        .args([&programs, &folder])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("no PostgreSQL server is started: {error}"))?;
    let mut said = String::new();
    BufReader::new(running.stdout.take().unwrap()).read_line(&mut said).unwrap();
    if said.trim() == "started" {
        Ok(Cluster { folder, _running: running })
    } else {
        // It is installed and does not start: that is no reason to leave tests out.
        panic!("the PostgreSQL server of {} did not start: {said}", programs.display());
    }
}

/// The address of a fresh database; none, said loudly, where there is no server.
pub(crate) fn database() -> Option<String> {
    static CLUSTER: OnceLock<Result<Cluster, String>> = OnceLock::new();
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let cluster = match CLUSTER.get_or_init(start) {
        Ok(cluster) => cluster,
        Err(why) => {
            skip(&format!("the store in PostgreSQL ({why})"));
            return None;
        }
    };
    let name = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let made = Command::new(programs()?.join("createdb"))
        .args(["-h".as_ref(), cluster.folder.as_os_str()])
        .args(["-U", "gw", &name])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let socket = cluster.folder.to_str().unwrap().replace('/', "%2F");
    Some(format!("postgres://gw@{socket}/{name}"))
}

/// Runs a script behind the store's back, where the store has its tables.
pub(crate) async fn behind(url: &str, script: &'static str) {
    let mut connection = connect(url).await;
    sqlx::raw_sql(script).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

pub(crate) async fn connect(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    options.options([("search_path", "gatewright")]).connect().await.unwrap()
}

/// Waits until nobody else is connected to a database: a server that is still at what a killed client asked may finish it.
pub(crate) async fn alone(url: &str) {
    let mut connection = connect(url).await;
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let began = std::time::Instant::now();
    while sqlx::query_scalar::<_, i64>(others).fetch_one(&mut connection).await.unwrap() > 0 {
        assert!(began.elapsed().as_secs() < 60, "somebody stays connected");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    connection.close().await.unwrap();
}

/// Says loudly that a part was left out, where the summary of `cargo xtask test` counts it.
fn skip(part: &str) {
    eprintln!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{part}").unwrap();
    }
}
