//! Where what is remembered is kept: a file of this machine, or a database that several share.

use contract::{Code, Fault};
use exec::StateDir;
use store::Store;
use tools_session::workplace::StoreKind;
use url::Url;

use crate::config::StoreSection;

/// The environment variable that names a database.
pub const URL: &str = "GATEWRIGHT_STORE_URL";

/// The store, and of which kind it is. Nothing is opened before it is asked for.
pub fn store(section: &StoreSection) -> Result<(Store, StoreKind), Fault> {
    let told = std::env::var(URL).ok().filter(|url| !url.is_empty());
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

/// The secret of the address in the environment, which nothing may show.
#[must_use]
pub fn secret() -> Option<String> {
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
