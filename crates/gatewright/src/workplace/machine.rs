//! The machine: an id that it makes itself and keeps. Host names are shared by many, above all in containers.

use std::io::Write as _;
use std::path::Path;

use contract::{Code, Fault};
use store_api::Timestamp;
use store_api::id::MachineId;
use store_api::machine::NewMachine;

/// The file that has the id, beside the state of all roots.
const FILE: &str = "machine";
/// Characters of the id that its name has.
const TAIL: usize = 5;
/// Most characters of a host's name that are shown.
const HOST: usize = 60;

/// What this machine says of itself; its id is made the first time.
pub fn here(base: &Path) -> Result<NewMachine, Fault> {
    let id = id(base)?;
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Ok(NewMachine {
        name: name(&host, &id),
        id,
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: build(),
    })
}

/// What this program was built for.
pub fn build() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}

/// The host's name, and what tells it from others of that name.
fn name(host: &str, id: &MachineId) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let host: String = host.split('.').next().unwrap_or(host).chars().map(kept).take(HOST).collect();
    let host = if host.is_empty() { "machine".to_owned() } else { host };
    let text = id.as_str();
    let tail = text.get(text.len().saturating_sub(TAIL)..).unwrap_or(text).to_lowercase();
    format!("{host}-{tail}")
}

fn id(base: &Path) -> Result<MachineId, Fault> {
    let path = base.join(FILE);
    let failed = |e: std::io::Error| {
        Fault::new(Code::FilesystemError, format!("the machine's id cannot be kept: {e}"))
    };
    let there = std::fs::read_to_string(&path);
    if let Ok(text) = &there
        && let Ok(id) = text.trim().parse()
    {
        return Ok(id);
    }
    std::fs::create_dir_all(base).map_err(failed)?;
    let made = MachineId::new(Timestamp::from(jiff::Timestamp::now()), random()?);
    // Of several processes that begin together one makes it; a file that holds no id is replaced.
    let mut file = tempfile::NamedTempFile::new_in(base).map_err(failed)?;
    writeln!(file, "{made}").and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let kept = if there.is_ok() { file.persist(&path) } else { file.persist_noclobber(&path) };
    match kept {
        Ok(_) => Ok(made),
        Err(lost) if lost.error.kind() == std::io::ErrorKind::AlreadyExists => {
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            text.trim().parse().map_err(Fault::from)
        }
        Err(lost) => Err(failed(lost.error)),
    }
}

/// Randomness from the system.
pub fn random() -> Result<u128, Fault> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| Fault::internal(format!("there is no randomness: {e}")))?;
    Ok(u128::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_machines_without_a_host_name_of_their_own_are_two() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (a, b) = (here(one.path()).unwrap(), here(other.path()).unwrap());
        assert_ne!((&a.id, &a.name), (&b.id, &b.name));
        assert_ne!(name("localhost", &a.id), name("localhost", &b.id));
        assert_eq!(here(one.path()).unwrap(), a, "it keeps its id");
        assert!(name("", &a.id).starts_with("machine-"));
        assert!(name("a b\n.example.com", &a.id).starts_with("a-b--"));
    }

    #[test]
    fn an_id_that_is_none_is_made_anew_and_many_processes_agree() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), "rubbish").unwrap();
        let id_now = id(dir.path()).unwrap();
        assert_eq!(id(dir.path()).unwrap(), id_now);
        let fresh = tempfile::tempdir().unwrap();
        let all: std::collections::BTreeSet<MachineId> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| id(fresh.path()).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all.len(), 1);
    }
}
