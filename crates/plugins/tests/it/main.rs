//! Plugins' files: what is taken, what is refused and why, and which argument lists they make.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]

mod laws;
mod refused;

use gatewright_plugins::Plugin;

/// The smallest plugin, with `more` behind its only tool's own keys.
pub(crate) fn with(args: &str, more: &str) -> String {
    format!(
        "schema = 1\n[plugin]\nname = 'word-count'\nversion = '1.0.0'\ndescription = 'Counts.'\nrequired-commands = ['wc']\n\
         [[tool]]\nname = 'lines'\ntitle = 'Lines'\ndescription = 'Counts lines.'\nkind = 'read'\nprogram = 'wc'\n\
         args = {args}\n{more}\n"
    )
}

pub(crate) fn read(text: &str) -> Result<Plugin, String> {
    Plugin::read(text, "0.1.0").map_err(|e| e.to_string())
}

/// Why a file is refused.
pub(crate) fn why(text: &str) -> String {
    read(text).map(|plugin| plugin.name().to_owned()).expect_err("it is refused")
}
