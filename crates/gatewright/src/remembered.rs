//! Where what is remembered is kept: a file of this machine, a database that several share, or a context over HTTP.

use std::sync::Arc;

use context::{Offline, Remote};
use contract::{Code, Fault};
use exec::StateDir;
use store::{IndexStore, Store};
use store_api::{Context, Timestamp};
use tools_session::workplace::StoreKind;
use url::Url;

use crate::config::{Config, ContextSection, StoreSection};
use crate::{keyring, workplace};

/// The environment variable that names a database.
pub const URL: &str = "GATEWRIGHT_STORE_URL";
/// The environment variable that names a context.
pub const CONTEXT_URL: &str = "GATEWRIGHT_CONTEXT_URL";
/// The environment variable that has the key of a context.
pub const CONTEXT_KEY: &str = "GATEWRIGHT_CONTEXT_KEY";

/// What is remembered, and where.
pub struct Remembered {
    /// What is of this machine alone, and what waits for a context.
    pub store: Store,
    /// What a team shares.
    pub context: Arc<dyn Context>,
    /// The context, where it is somewhere else.
    pub offline: Option<Offline>,
    /// Of which kind it is.
    pub using: StoreKind,
}

/// What is remembered, as it is configured. Nothing is opened and nobody asked before it is used.
pub fn remembered(config: &Config) -> Result<Remembered, Fault> {
    let (store, using) = store(&config.store)?;
    let Some(remote) = remote(&config.context)? else {
        let context = Arc::new(store.clone());
        return Ok(Remembered { store, context, offline: None, using });
    };
    if using != StoreKind::Sqlite {
        let fault = Fault::invalid("[store] url and [context] url: a team's work is in one of them");
        return Err(fault
            .suggest("Leave out one: a context server has the database, and its clients have the server."));
    }
    let holder = format!("{:032x}", workplace::random()?);
    let clock = Arc::new(|| Timestamp::from(jiff::Timestamp::now()));
    let offline = Offline::new(remote, Arc::new(store.clone()), clock, &holder);
    let context = Arc::new(offline.clone());
    Ok(Remembered { store, context, offline: Some(offline), using: StoreKind::Remote })
}

fn of_environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The context that is configured: its key is looked up when it is used first.
pub fn remote(section: &ContextSection) -> Result<Option<Remote>, Fault> {
    let Some(url) = of_environment(CONTEXT_URL).or_else(|| section.url.clone()) else { return Ok(None) };
    let place = url.trim_end_matches('/').to_owned();
    let remote =
        Remote::asking(&url, move || of_environment(CONTEXT_KEY).or_else(|| keyring::key(&place)), None)
            .map_err(|e| {
                Fault::invalid(format!("[context] url: {e}"))
                    .suggest("It is to be https://host[:port][/path].")
            })?;
    Ok(Some(remote))
}

/// The store, and of which kind it is. Nothing is opened before it is asked for.
pub fn store(section: &StoreSection) -> Result<(Store, StoreKind), Fault> {
    let told = of_environment(URL);
    match (told, &section.url) {
        (Some(url), _) => Ok((Store::connect(&url).map_err(Fault::from)?, StoreKind::Postgres)),
        (None, Some(url)) => {
            if has_password(url) {
                return Err(Fault::new(
                    Code::InvalidArgument,
                    "[store] url: a password does not belong into the configuration",
                )
                .suggest("Leave it out of the address, and put it into `~/.pgpass` or PGPASSWORD."));
            }
            Ok((Store::connect(url).map_err(Fault::from)?, StoreKind::Postgres))
        }
        (None, None) => {
            let place = StateDir::base()?.join("store").join("store.db");
            Ok((Store::open(&place).map_err(Fault::from)?, StoreKind::Sqlite))
        }
    }
}

/// Indexes of libraries: of files of this machine, so in a file of its own wherever the store is. Nothing is opened before it is asked
/// for, and whoever deletes it has it made anew.
pub fn indexes() -> Result<IndexStore, Fault> {
    IndexStore::open(&StateDir::base()?.join("store").join("library.db")).map_err(Fault::from)
}

/// The secrets of the environment, which nothing may show: of the address of a database, and the key of a context.
pub fn secrets() -> impl Iterator<Item = String> {
    password().into_iter().chain(of_environment(CONTEXT_KEY))
}

fn password() -> Option<String> {
    let url = Url::parse(&std::env::var(URL).ok()?).ok()?;
    let of_query = url.query_pairs().find(|(key, _)| key == "password").map(|(_, value)| value.into_owned());
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    url.password().map(decoded).or(of_query).filter(|secret| !secret.is_empty())
}

fn has_password(url: &str) -> bool {
    Url::parse(url)
        .is_ok_and(|url| url.password().is_some() || url.query_pairs().any(|(key, _)| key == "password"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_the_configuration_is_refused_wherever_it_stands() {
        for (url, refused) in [
            ("postgres://a:b@h/d", true),
            ("postgres://a@h/d?password=b", true),
            ("postgres://a@h/d?sslmode=verify-full", false),
        ] {
            let section = StoreSection { url: Some(url.to_owned()), ..StoreSection::default() };
            assert_eq!(has_password(url), refused, "{url}");
            let store = store(&section);
            assert_eq!(store.is_err(), refused, "{url}");
            if let Err(fault) = store {
                assert!(!fault.message.contains(":b@") && fault.suggestions[0].contains(".pgpass"));
            }
        }
    }
}
