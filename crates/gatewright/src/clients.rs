//! What setting up needs of this machine: this program, and the folders of users' clients.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{Fault, RelPath};
use exec::{Rights, Root, StateDir};
use kit::{Annex, Engine};
use onboard::Client;
use onboard::clients::{Home, folder};
use tools_setup::facts::Itself;
use tools_setup::tools::onboarding_wizard::annex_of;

use crate::config;

/// This program, as clients are to start it.
pub fn itself() -> Itself {
    Itself {
        program: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("gatewright")),
        is_on_path,
        judge: |root| config::load(Some(root)).map(drop).map_err(|e| e.to_string()),
    }
}

/// Whether `gatewright` on the PATH is `program`.
fn is_on_path(program: &Path) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("gatewright")).find(|file| file.is_file());
    let found = found.and_then(|file| std::fs::canonicalize(file).ok());
    found.is_some_and(|found| std::fs::canonicalize(program).is_ok_and(|real| real == found))
}

/// What this machine's environment says of users' files.
pub fn home() -> Home {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let local = set("LOCALAPPDATA");
    let packages = local.as_deref().map(|local| packages(&local.join("Packages"))).unwrap_or_default();
    Home {
        os: std::env::consts::OS.to_owned(),
        home: set("HOME").or_else(|| set("USERPROFILE")),
        config: set("XDG_CONFIG_HOME"),
        codex: set("CODEX_HOME"),
        roaming: set("APPDATA"),
        local,
        packages,
    }
}

fn packages(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.starts_with("Claude_"));
    names.sort();
    names
}

/// The folders of users' clients, each with its one file as all that may be looked at, for the local user alone.
pub fn annexes(
    engine: impl Fn(&Arc<Root>) -> Result<Arc<Engine>, Fault> + Send + Sync + 'static,
) -> Vec<Annex> {
    let (engine, home, base) = (Arc::new(engine), home(), StateDir::base().ok());
    let of = |client: Client| {
        let name = annex_of(client)?;
        let place = folder(client, &home).ok()?;
        let (engine, path) = (Arc::clone(&engine), place.clone());
        let open = move || -> Result<Arc<Root>, Fault> {
            let file = RelPath::new(client.file()).map_err(|e| Fault::internal(e.to_string()))?;
            Ok(Arc::new(Root::open(&path, name, Rights::ReadWrite)?.only(vec![file])))
        };
        let was_used =
            base.as_deref().is_some_and(|base| open().is_ok_and(|root| StateDir::is_there(base, &root)));
        let annex = Annex::new(name, false, place, move || engine(&open()?));
        // What was done before is found, and what a crash left is settled.
        if was_used && let Err(fault) = annex.engine() {
            tracing::warn!("{name}: {}", fault.message);
        }
        Some(annex)
    };
    Client::ALL.into_iter().filter_map(of).collect()
}
