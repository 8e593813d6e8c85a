//! The context API: a real server over real stores, asked by our client and by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests look at the disk from outside")]

mod api;
#[path = "../../../store/tests/it/cluster.rs"]
#[expect(dead_code, reason = "made for the store's own tests too")]
mod cluster;
mod conformance;
mod offline;

use std::net::SocketAddr;
use std::sync::Arc;

use context::Remote;
use context::serve::{Options, serve};
use context::wire::key::Key;
use context::wire::machine::Venture;
use gatewright_context as context;
use store::Store;
use store_api::id::KeyId;
use store_api::server::NewKey;
use store_api::testing::Watch;
use store_api::testing::context::next;
use store_api::{Keys, Timestamp};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// 2026-11-22, a Sunday.
const SUNDAY: i64 = 1_795_305_600_000;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap()
}

/// A store, and the folder of one that is a file.
struct Place {
    store: Store,
    kind: &'static str,
    watch: Watch,
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    fn lite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let watch = Watch::at(SUNDAY);
        let store = Store::open(&folder.path().join("store/store.db")).unwrap().with_clock(watch.clock());
        Self { store, kind: "sqlite", watch, _folder: Some(folder) }
    }

    /// Each kind of database that is here.
    fn all() -> Vec<Self> {
        let postgres = cluster::database().map(|url| {
            let watch = Watch::at(SUNDAY);
            let store = Store::connect(&url).unwrap().with_clock(watch.clock());
            Self { store, kind: "postgresql", watch, _folder: None }
        });
        [Some(Self::lite()), postgres].into_iter().flatten().collect()
    }
}

/// A server that runs.
struct Running {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl Running {
    async fn start(place: &Place, per_minute: u64) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), place, per_minute).await
    }

    async fn at(address: SocketAddr, place: &Place, per_minute: u64) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let options = Options {
            store: Arc::new(place.store.clone()),
            clock: place.watch.clock(),
            ventures: vec![Venture {
                code: "acme".to_owned(),
                name: "Acme".to_owned(),
                organisation: Some("github.com/acme".to_owned()),
                repositories: Vec::new(),
                capabilities: vec!["api".to_owned()],
            }],
            hosts: vec!["context.example".to_owned()],
            per_minute,
            tls: None,
            keep_days: None,
            connections: 64,
            version: "1.2.3".to_owned(),
            build: "test".to_owned(),
        };
        let serving = tokio::spawn(serve(listener, options, stop.clone()));
        Self { address, stop, serving }
    }

    fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    async fn end(self) {
        self.stop.cancel();
        self.serving.await.unwrap();
    }
}

/// Keeps a key, and gives it.
async fn key(place: &Place, name: &str, admin: bool) -> Key {
    let number = next();
    let mut random = [7; 32];
    random[..16].copy_from_slice(&number.to_le_bytes());
    let key = Key::new(KeyId::new(Timestamp::from_millis(SUNDAY), number), &random);
    let new = NewKey { id: key.id.clone(), name: name.to_owned(), admin, hash: key.digest() };
    place.store.add_key(new).await.unwrap();
    key
}

async fn remote(place: &Place, running: &Running) -> Remote {
    let (own, admin) = (key(place, "own", false).await, key(place, "admin", true).await);
    Remote::new(&running.base(), Some(own.reveal()), Some(admin.reveal())).unwrap()
}
