//! A real sshd on loopback, with keys of its own and a home that is thrown away.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::super::{Place, skip};

/// Where systems put it, off the PATH.
const PLACES: [&str; 2] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"];

/// A place whose user has a fleet, and the machine that all of its hosts are.
pub(crate) struct Far {
    pub(crate) place: Place,
    pub(crate) port: u16,
    user: String,
    sshd: Child,
}

impl Drop for Far {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}

fn output(command: &mut Command) -> String {
    let out = command.output().unwrap();
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

fn key(at: &Path) -> String {
    output(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"]).arg(at));
    std::fs::read_to_string(at.with_extension("pub")).unwrap()
}

/// As who is root it wants a folder in `/run`, which is made where nobody else sees it.
fn server(sshd: &str) -> Option<Command> {
    if !rustix::process::geteuid().is_root() || Path::new("/run/sshd").is_dir() {
        return Some(Command::new(sshd));
    }
    let prepared = "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec \"$@\"";
    let within = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", prepared, "sh", program]);
        command
    };
    within("true").output().is_ok_and(|out| out.status.success()).then(|| within(sshd))
}

/// Starts one; none, said loudly, where there is none to start.
pub(crate) fn far() -> Option<Far> {
    let on_path = |name: &str| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|dir| dir.join(name).is_file())
    };
    let sshd = PLACES.into_iter().find(|sshd| Path::new(sshd).is_file());
    let Some(sshd) = sshd.filter(|_| on_path("ssh") && on_path("ssh-keygen")) else {
        skip("fleets over ssh (openssh-server or openssh-client is not installed)");
        return None;
    };
    let Some(command) = server(sshd) else {
        skip("fleets over ssh (sshd wants /run/sshd, and it cannot be made out of sight)");
        return None;
    };
    Some(start(command))
}

fn start(mut command: Command) -> Far {
    let place = Place::new();
    let dir = place.scratch.path().to_path_buf();
    let (host_key, own_key) = (dir.join("host-key"), dir.join("own-key"));
    let (public, own) = (key(&host_key), key(&own_key));
    std::fs::write(dir.join("authorized"), own).unwrap();
    for part in ["far/bin", "far/state", "far/config/gatewright"] {
        std::fs::create_dir_all(dir.join(part)).unwrap();
    }
    // Nobody else is there between the two.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let shown = dir.display();
    let far = format!("{shown}/far");
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {shown}/host-key\nAuthorizedKeysFile {shown}/authorized\nPidFile none\n\
         UsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n\
         KbdInteractiveAuthentication no\n\
         SetEnv HOME={far} XDG_STATE_HOME={far}/state XDG_CONFIG_HOME={far}/config PATH={far}/bin:/usr/local/bin:/usr/bin:/bin\n\
         ForceCommand cd {far} && exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
    );
    std::fs::write(dir.join("sshd_config"), config).unwrap();
    std::fs::write(dir.join("known"), format!("[127.0.0.1]:{port} {public}")).unwrap();
    let client = |known: &str| {
        format!(
            "IdentityFile {shown}/own-key\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile {known}\n\
             GlobalKnownHostsFile /dev/null\n"
        )
    };
    std::fs::write(dir.join("ssh.config"), client(&format!("{shown}/known"))).unwrap();
    std::fs::write(dir.join("strange.config"), client("/dev/null")).unwrap();
    let mut sshd =
        command.args(["-D", "-e", "-f"]).arg(dir.join("sshd_config")).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(sshd.stderr.take().unwrap());
    let mut line = String::new();
    log.read_line(&mut line).unwrap();
    assert!(line.contains("listening"), "{line}");
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    let user = output(Command::new("id").arg("-un"));
    Far { place, port, user, sshd }
}

impl Far {
    /// What is on the other machine, from its home.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.place.scratch.path().join("far").join(path)
    }

    /// `[hosts.NAME]` with further lines.
    pub(crate) fn host(&self, name: &str, more: &str) -> String {
        let port = if more.contains("port") { String::new() } else { format!("port = {}\n", self.port) };
        let config = if more.contains("config") { "" } else { "config = 'ssh.config'\n" };
        format!("[hosts.{name}]\nssh = '{}@127.0.0.1'\n{port}{config}{more}\n", self.user)
    }

    /// Writes the user's hosts.
    pub(crate) fn hosts(&self, hosts: &[String]) {
        std::fs::write(self.place.scratch.path().join("fleet.toml"), hosts.concat()).unwrap();
    }

    /// A command about them, its exit code and what it answered.
    pub(crate) fn fleet(&self, args: &[&str]) -> (i32, serde_json::Value) {
        let mut command = self.place.command();
        command.arg("fleet").args(args).args(["--output", "json", "--hosts"]);
        let out = command.arg(self.place.scratch.path().join("fleet.toml")).output().unwrap();
        let said = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{args:?}: {e}: {}", String::from_utf8_lossy(&out.stderr)));
        (out.status.code().unwrap(), said)
    }

    /// What is in a folder of the other machine, sorted.
    pub(crate) fn list(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.at(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
