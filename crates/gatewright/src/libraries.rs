//! Where patterns and skills are kept: what the user configured, and `~/.shared-patterns`.

use std::path::PathBuf;
use std::sync::Arc;

use contract::Fault;
use exec::{Rights, Root, StateDir};
use kit::{Annex, Engine};
use library::LibraryName;
use tools_knowledge::settings::LibrarySection;
use tools_knowledge::{Libraries, Place, Tier};

use crate::built_in;
use crate::roots;

/// The user's own library, where none is configured.
const USUAL: &str = "~/.shared-patterns";
/// Names that are not a team's.
const TAKEN: [&str; 3] = ["user", "project", "gatewright"];

/// The libraries of this machine. Their folders need not be there.
pub fn libraries(configured: &LibrarySection) -> Result<Libraries, Fault> {
    let name = |text: &str| {
        LibraryName::new(text).map_err(|e| Fault::invalid(format!("[library.team.{text}]: {e}")))
    };
    let mut places = Vec::new();
    for (team, library) in &configured.team {
        if TAKEN.contains(&team.as_str()) {
            return Err(Fault::invalid(format!("[library.team.{team}]: the name is taken"))
                .suggest("Call it as the team is called."));
        }
        let Some(path) = at_home(&library.path) else {
            return Err(Fault::invalid(format!("[library.team.{team}] path: it is not absolute"))
                .suggest("Give the whole path, or one that begins with `~/`."));
        };
        let (shared, write) = (library.shared, library.write);
        places.push(Place { name: name(team)?, tier: Tier::Team, path, shared, write });
    }
    let own = configured.user.as_deref();
    match (at_home(own.unwrap_or(USUAL)), own) {
        (Some(path), _) => {
            let write = configured.user_write;
            places.push(Place { name: name("user")?, tier: Tier::User, path, shared: false, write });
        }
        // Without a home there is none, unless it was asked for.
        (None, None) => {}
        (None, Some(_)) => {
            return Err(Fault::invalid("[library] user: it is not absolute")
                .suggest("Give the whole path, or one that begins with `~/`."));
        }
    }
    Ok(Libraries::new(places).with_built_in(built_in::SKILLS))
}

/// Those that tools may change, as roots of their own, each with an engine that `engine` makes. One in which something was done before is
/// opened at once: what a crash left in it is settled before anybody reads it, and what was done is found.
pub fn annexes(
    libraries: &Libraries,
    engine: impl Fn(&Arc<Root>) -> Result<Arc<Engine>, Fault> + Send + Sync + 'static,
) -> Vec<Annex> {
    let engine = Arc::new(engine);
    let base = StateDir::base().ok();
    let made = libraries.places().iter().filter(|place| place.write).map(|place| {
        let (engine, path, name) = (Arc::clone(&engine), place.path.clone(), place.name.to_string());
        let open = move || roots::open(&path, &name, Rights::ReadWrite);
        let was_used =
            base.as_deref().is_some_and(|base| open().is_ok_and(|root| StateDir::is_there(base, &root)));
        let annex =
            Annex::new(place.name.as_str(), place.shared, place.path.clone(), move || engine(&open()?));
        if was_used && let Err(fault) = annex.engine() {
            tracing::warn!("the library {}: {}", place.name, fault.message);
        }
        annex
    });
    made.collect()
}

/// An absolute path, `~` at its front being the home.
fn at_home(path: &str) -> Option<PathBuf> {
    let path = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            PathBuf::from(std::env::var_os("HOME")?).join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
}
