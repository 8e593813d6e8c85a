//! The client: a store whose rows are somewhere else.

mod keep;
mod send;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use contract::Digest;
use exec::fetch::{FetchError, Fetcher};
use store_api::StoreError;
use store_api::once::{Done, Once};
use store_api::outbox::Letter;
use url::Url;

use crate::wire::Endpoint;
use crate::wire::machine::{AllVentures, Venture, Ventures};
pub(crate) use keep::{add_note, change_note, checkpoint, eod, sod, update};
pub(crate) use send::{Sent, random, sent};

/// How long connecting may take.
const CONNECTING: Duration = Duration::from_millis(800);
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of an answer: 8 MiB.
const MOST: u64 = 8 << 20;

/// Why there is no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The address is none.
    #[error("the context's address: {0}")]
    Url(#[from] FetchError),
    /// The address has a query, or something that is none of a base.
    #[error("the context's address {0}: it is to be https://host[:port][/path] and no more")]
    Base(String),
}

/// A context somewhere else. Clones share their connections.
#[derive(Clone)]
pub struct Remote {
    inner: Arc<Inner>,
    /// How long a request may take, with all its tries.
    patience: Duration,
}

struct Inner {
    base: String,
    key: Key,
    admin: Option<String>,
    fetcher: Fetcher,
}

/// Where a key is from.
enum Key {
    /// Here.
    Known(Option<String>),
    /// Somewhere else: looked up when it is needed first.
    Asked(Box<dyn Fn() -> Option<String> + Send + Sync>, OnceLock<Option<String>>),
}

impl Key {
    fn get(&self) -> Option<&str> {
        match self {
            Self::Known(key) => key.as_deref(),
            Self::Asked(ask, key) => key.get_or_init(|| ask().filter(|key| is_one(key))).as_deref(),
        }
    }
}

fn is_one(key: &str) -> bool {
    !key.trim().is_empty()
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Remote({})", self.inner.base)
    }
}

impl Remote {
    /// The context at `base`, asked with `key`, and with `admin` where that takes an administrator. Nothing is asked yet.
    pub fn new(base: &str, key: Option<String>, admin: Option<String>) -> Result<Self, ClientError> {
        Self::with(base, Key::Known(key.filter(|key| is_one(key))), admin)
    }

    /// As [`Remote::new`], with a key that is looked up when it is needed first: `ask` may block.
    pub fn asking(
        base: &str,
        ask: impl Fn() -> Option<String> + Send + Sync + 'static,
        admin: Option<String>,
    ) -> Result<Self, ClientError> {
        Self::with(base, Key::Asked(Box::new(ask), OnceLock::new()), admin)
    }

    fn with(base: &str, key: Key, admin: Option<String>) -> Result<Self, ClientError> {
        let url = exec::fetch::checked(base)?;
        if url.query().is_some() || url.cannot_be_a_base() {
            return Err(ClientError::Base(without_query(&url)));
        }
        let base = url.as_str().trim_end_matches('/').to_owned();
        let admin = admin.filter(|key| is_one(key));
        let inner = Arc::new(Inner { base, key, admin, fetcher: Fetcher::default() });
        Ok(Self { inner, patience: TIMEOUT })
    }

    /// The same, whose requests may take so long and no longer.
    #[must_use]
    pub fn within(&self, patience: Duration) -> Self {
        Self { inner: Arc::clone(&self.inner), patience }
    }

    /// Where it is.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.inner.base
    }

    /// Whether there is a key to ask with.
    pub async fn has_key(&self) -> bool {
        let own = self.clone();
        tokio::task::spawn_blocking(move || own.inner.key.get().is_some()).await.unwrap_or(false)
    }

    /// Asks an endpoint. Not tried again where it writes and nothing makes it the same write.
    pub async fn call<E: Endpoint>(&self, request: &E) -> Result<E::Answer, StoreError> {
        Ok(self.asked(request, None).await?.value)
    }

    /// What the team works on.
    pub async fn ventures(&self) -> Result<Vec<Venture>, StoreError> {
        let AllVentures { ventures } = self.call(&Ventures {}).await?;
        Ok(ventures)
    }

    /// Whether the server's store answers.
    pub async fn ready(&self) -> Result<(), StoreError> {
        let told = self.plain("GET", "/ready").await?;
        match told.status {
            200 => Ok(()),
            503 => {
                Err(StoreError::Unreachable("the context's server is there, and its store is not".to_owned()))
            }
            status => Err(StoreError::Refused(not_one(status))),
        }
    }

    /// Asks, once where that is said: the answer, and whether it is the one of the first time.
    pub(crate) async fn asked<E: Endpoint>(
        &self,
        request: &E,
        once: Option<&Once>,
    ) -> Result<Done<E::Answer>, StoreError> {
        let is_once = once.is_some();
        let sent = sent(request, once)?;
        let (body, replayed) = self.send(&sent).await?;
        let value = serde_json::from_slice(&body)
            .map_err(|e| StoreError::Refused(format!("its answer cannot be read: {e}")))?;
        Ok(Done { value, replayed: replayed && is_once })
    }

    /// Sends a write that waited.
    pub(crate) async fn deliver(&self, letter: Letter) -> Result<Vec<u8>, StoreError> {
        let Letter { key, request, path, body, .. } = letter;
        let sent = Sent {
            method: "POST",
            target: path,
            body: Some(body),
            once: Some((key, request)),
            is_admin: false,
        };
        Ok(self.send(&sent).await?.0)
    }
}

fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

fn not_one(status: u16) -> String {
    format!("what answered there is no context (HTTP {status}): see that the address is right")
}

/// The digest of something that is sent.
fn digest(target: &str, body: &str) -> Digest {
    Digest::of_parts(&[target.as_bytes(), b"\n", body.as_bytes()])
}
