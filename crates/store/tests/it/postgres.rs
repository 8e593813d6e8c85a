//! PostgreSQL alone: addresses, schemas, servers that go away.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gatewright_store::Store;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use sqlx::Row as _;
use store_api::id::NoteId;
use store_api::note::NoteQuery;
use store_api::testing::context::{Watch, once};
use store_api::testing::documents::document;
use store_api::testing::notes::note;
use store_api::{Documents, Notes, StoreError};

use crate::behind::{behind, connect};
use crate::cluster::start;
use crate::{Place, runtime};

#[test]
fn what_is_no_address_is_refused_and_not_repeated() {
    for url in [
        "",
        "mysql://root:secret@host/db",
        "/var/lib/store.db",
        "postgres://gw:secret@[::1/db",
        "postgres://gw:secret@host/db?sslmode=secret",
    ] {
        let Err(error) = Store::connect(url) else { panic!("{url}") };
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_said_at_once_and_without_the_password() {
    runtime().block_on(async {
        let nowhere = tempfile::tempdir().unwrap();
        let socket = nowhere.path().to_str().unwrap().replace('/', "%2F");
        let began = std::time::Instant::now();
        for url in [format!("postgres://gw:secret@{socket}/db"), "postgres://gw:secret@127.0.0.1:1/db".into()]
        {
            let error = Store::connect(&url).unwrap().put(document("global", "d", "text")).await.unwrap_err();
            assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    });
}

#[test]
fn a_server_that_takes_connections_and_says_nothing_is_given_up() {
    runtime().block_on(async {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://gw@{}/db", silent.local_addr().unwrap());
        let watched = std::time::Instant::now();
        let error = Store::connect(&url).unwrap().put(document("global", "d", "text")).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
        assert!(watched.elapsed().as_secs() < 15, "{:?}", watched.elapsed());
    });
}

#[test]
fn a_connection_that_broke_is_made_again() {
    let Some(place) = Place::in_postgres() else { return };
    runtime().block_on(async {
        let store = place.store();
        store.put(document("global", "d", "one")).await.unwrap();
        place
            .behind(
                "",
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
            .await;
        assert_eq!(store.put(document("global", "d", "two")).await.unwrap().row.version, 2);
    });
}

#[test]
fn a_newer_schema_or_one_of_something_else_is_refused_and_left_as_it_is() {
    let (Some(newer), Some(foreign)) = (Place::in_postgres(), Place::in_postgres()) else { return };
    runtime().block_on(async {
        let running = newer.store();
        running.put(document("global", "d", "one")).await.unwrap();
        newer.behind("", "UPDATE gatewright_schema SET version = 5").await;
        for store in [running, newer.store()] {
            let refused = store.put(document("global", "d", "two")).await;
            assert!(matches!(refused, Err(StoreError::NewerSchema { found: 5, known: 4 })), "{refused:?}");
            let refused = store.document("global".to_owned(), "d".to_owned()).await;
            assert!(matches!(refused, Err(StoreError::NewerSchema { .. })), "{refused:?}");
        }
        let url = foreign.url.as_deref().unwrap();
        behind(url, "CREATE SCHEMA gatewright; CREATE TABLE gatewright.notes (text TEXT)").await;
        let refused = foreign.store().put(document("global", "d", "one")).await;
        assert!(matches!(refused, Err(StoreError::Foreign)), "{refused:?}");
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'gatewright'";
        let count: i64 = sqlx::query_scalar(tables).fetch_one(&mut connect(url).await).await.unwrap();
        assert_eq!(count, 1);
    });
}

#[test]
fn tables_of_other_programs_with_the_same_names_are_left_alone() {
    let Some(place) = Place::in_postgres() else { return };
    runtime().block_on(async {
        let url = place.url.as_deref().unwrap();
        behind(
            url,
            "CREATE TABLE public.documents (mine TEXT); CREATE TABLE public.gatewright_schema (mine TEXT)",
        )
        .await;
        place.store().put(document("global", "d", "one")).await.unwrap();
        let mine: i64 = sqlx::query_scalar("SELECT count(*) FROM public.documents")
            .fetch_one(&mut connect(url).await)
            .await
            .unwrap();
        assert_eq!(mine, 0);
    });
}

/// An authority, and a certificate of its for the loopback with its key.
fn issue() -> [String; 3] {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    [authority.pem(), certificate.pem() + &authority.pem(), key.serialize_pem()]
}

#[test]
fn a_server_that_cannot_show_who_it_is_gets_no_word_from_who_asks_for_it() {
    let ([trusted, chain, key], [other, ..]) = (issue(), issue());
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = format!(
        "-c listen_addresses=127.0.0.1 -p {port} -c fsync=off -c ssl=on -c ssl_cert_file=../crt -c ssl_key_file=../key"
    );
    let Some(cluster) = start(&options, &[("crt", &chain), ("key", &key)]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).display().to_string()
    };
    let (trusted, other) = (file("trusted", &trusted), file("other", &other));
    runtime().block_on(async {
        let put = async |host: &str, rest: &str| {
            let store = Store::connect(&format!("postgres://gw@{host}:{port}/postgres?{rest}")).unwrap();
            store.put(document("global", "d", "text")).await
        };
        for (host, rest) in [
            ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={trusted}")),
            ("localhost", format!("sslmode=verify-full&sslrootcert={trusted}")),
            ("127.0.0.1", "sslmode=require".to_owned()),
        ] {
            put(host, &rest).await.unwrap();
        }
        for rest in [format!("sslmode=verify-full&sslrootcert={other}"), "sslmode=verify-full".to_owned()] {
            let refused = put("127.0.0.1", &rest).await.unwrap_err();
            let said = refused.to_string();
            assert!(matches!(refused, StoreError::Unreachable(_)) && said.contains("certificate"), "{said}");
        }
    });
    drop(cluster);
}

#[test]
fn a_server_that_crashes_keeps_what_was_answered_and_what_is_sent_again_is_done_once() {
    const WRITERS: u64 = 4;
    const CRASHES: u64 = 3;
    /// Writes from one crash to the next.
    const BETWEEN: u64 = 40;
    let Some(cluster) = start("-c listen_addresses= -c fsync=off", &[]) else { return };
    let store = Store::connect(&cluster.database()).unwrap();
    let written = Arc::new(AtomicU64::new(0));
    runtime().block_on(async {
        let tasks: Vec<_> = (0..WRITERS)
            .map(|writer| {
                tokio::spawn(write_on(store.clone(), writer, Arc::clone(&written), (CRASHES + 1) * BETWEEN))
            })
            .collect();
        for crash in 1..=CRASHES {
            while written.load(Ordering::SeqCst) < crash * BETWEEN {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            tokio::task::block_in_place(|| cluster.crash());
        }
        let (mut all, mut cut) = (0, 0);
        for task in tasks {
            let (kept, missed) = task.await.unwrap();
            for id in &kept {
                assert!(store.note(id.clone()).await.unwrap().is_some(), "it was answered");
            }
            all += kept.len() as u64;
            cut += missed;
        }
        let query = NoteQuery { limit: 1, ..NoteQuery::default() };
        assert_eq!(store.notes(query).await.unwrap().total, all, "each is there once");
        assert!(cut > 0, "the crashes came while somebody wrote");
    });
}

/// Writes until so many are written by all, each again until it is answered; what was answered, and how often nothing was.
async fn write_on(store: Store, writer: u64, written: Arc<AtomicU64>, enough: u64) -> (Vec<NoteId>, u64) {
    let watch = Watch::at(0);
    let (mut kept, mut cut) = (Vec::new(), 0);
    while written.load(Ordering::SeqCst) < enough {
        let key = format!("{writer}-{}", kept.len());
        loop {
            // Another id each time: the key makes it the same.
            let new = note(&watch, Some(&key), "title", "text");
            match store.add_note(new, Some(once("crash", &key, &key))).await {
                Ok(done) => break kept.push(done.value.id),
                Err(StoreError::Unreachable(_)) => cut += 1,
                Err(error) => panic!("{error:?}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        written.fetch_add(1, Ordering::SeqCst);
    }
    (kept, cut)
}

/// Columns by table: name, type, whether it may be null.
pub(crate) type Columns = BTreeMap<String, Vec<(String, String, bool)>>;

/// What each database has alone: how words are indexed, and where the schema's number stands.
fn is_shared(table: &str) -> bool {
    !table.starts_with("note_words") && !table.starts_with("sqlite_") && table != "gatewright_schema"
}

#[test]
fn both_databases_have_the_same_tables_and_columns() {
    let Some(place) = Place::in_postgres() else { return };
    runtime().block_on(async {
        let there = Place::new();
        for store in [place.store(), there.store()] {
            store.put(document("global", "d", "one")).await.unwrap();
            store.close().await;
        }
        let (pg, lite) = (columns_of_postgres(&place).await, columns_of_sqlite(&there).await);
        assert_eq!(pg, lite);
        assert!(pg.len() >= 11, "{:?}", pg.keys());
    });
}

pub(crate) async fn columns_of_postgres(place: &Place) -> Columns {
    let rows = sqlx::query(
        "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES'
         FROM information_schema.columns WHERE table_schema = 'gatewright' ORDER BY ordinal_position",
    );
    let rows = rows.fetch_all(&mut connect(place.url.as_deref().unwrap()).await).await.unwrap();
    let mut columns = Columns::new();
    for row in rows.iter().filter(|row| is_shared(row.get(0))) {
        let of = if row.get::<String, _>(2) == "bigint" { "integer".to_owned() } else { row.get(2) };
        columns.entry(row.get(0)).or_default().push((row.get(1), of, row.get(3)));
    }
    columns
}

pub(crate) async fn columns_of_sqlite(place: &Place) -> Columns {
    use sqlx::ConnectOptions as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(place.path());
    let rows = sqlx::query(
        "SELECT t.name, c.name, lower(c.type), c.\"notnull\" = 0 AND c.pk = 0
         FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' ORDER BY t.name, c.cid",
    );
    let rows = rows.fetch_all(&mut options.connect().await.unwrap()).await.unwrap();
    let mut columns = Columns::new();
    for row in rows.iter().filter(|row| is_shared(row.get(0))) {
        columns.entry(row.get(0)).or_default().push((row.get(1), row.get(2), row.get::<i64, _>(3) != 0));
    }
    columns
}
