//! Where patterns and skills are kept: what the user configured, and `~/.shared-patterns`.

use std::path::PathBuf;

use contract::Fault;
use library::LibraryName;
use tools_knowledge::settings::LibrarySection;
use tools_knowledge::{Libraries, Place, Tier};

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
        places.push(Place { name: name(team)?, tier: Tier::Team, path, shared: library.shared });
    }
    let own = configured.user.as_deref();
    match (at_home(own.unwrap_or(USUAL)), own) {
        (Some(path), _) => places.push(Place { name: name("user")?, tier: Tier::User, path, shared: false }),
        // Without a home there is none, unless it was asked for.
        (None, None) => {}
        (None, Some(_)) => {
            return Err(Fault::invalid("[library] user: it is not absolute")
                .suggest("Give the whole path, or one that begins with `~/`."));
        }
    }
    Ok(Libraries::new(places))
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
