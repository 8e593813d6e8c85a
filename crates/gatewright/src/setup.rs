//! Parts that are not in this program and that a user sets up once.

use std::path::PathBuf;

/// Where this user's parts are: `$XDG_DATA_HOME/gatewright`.
pub fn place() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base =
        absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))?;
    Some(base.join("gatewright"))
}

/// Where axe-core is put.
pub fn axe() -> Option<PathBuf> {
    Some(place()?.join("a11y/axe-core/axe.min.js"))
}
