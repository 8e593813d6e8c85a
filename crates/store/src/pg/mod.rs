//! PostgreSQL: a pool of connections to one server, opened by the first call.

mod schema;

use std::str::FromStr as _;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use store_api::StoreError;
use tokio::sync::Mutex;

use crate::PATIENCE;
use crate::error::{Doing as _, busy};
use crate::sql::Conn;
pub(crate) use schema::NEWEST;

/// Most connections.
const CONNECTIONS: u32 = 8;
/// How long making a connection may take.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long a statement may take, and wait for others' locks: what [`SETTINGS`] say.
pub(crate) const STATEMENTS: Duration = Duration::from_secs(10);
pub(crate) const LOCKS: Duration = Duration::from_secs(5);
/// How connections are set up: what is ours is found without its schema's name, and nothing waits for ever.
const SETTINGS: [(&str, &str); 4] = [
    ("search_path", schema::NAME),
    ("statement_timeout", "10s"),
    ("lock_timeout", "5s"),
    ("idle_in_transaction_session_timeout", "60s"),
];

/// A server and, once used, the connections to it.
pub(crate) struct Postgres {
    options: PgConnectOptions,
    opened: Mutex<Option<PgPool>>,
}

impl Postgres {
    pub(crate) fn new(url: &str) -> Result<Self, StoreError> {
        let what = "the store's address";
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(StoreError::Invalid { what, why: "it does not begin with postgres://" });
        }
        // What is wrong with it is not repeated: it may hold a password.
        let options = PgConnectOptions::from_str(url)
            .map_err(|_| StoreError::Invalid { what, why: "it is not postgres://user@host/database" })?;
        let options = options.application_name("gatewright").options(SETTINGS).disable_statement_logging();
        Ok(Self { options, opened: Mutex::const_new(None) })
    }

    pub(crate) async fn close(&self) {
        if let Some(opened) = self.opened.lock().await.take() {
            opened.close().await;
        }
    }

    /// The database's name, server and user.
    pub(crate) fn place(&self) -> String {
        let options = &self.options;
        let (user, port) = (options.get_username(), options.get_port());
        let server = match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => options.get_host().to_owned(),
        };
        let database = options.get_database().unwrap_or(user);
        format!("{database} at {server}:{port} as {user}")
    }

    /// A transaction in which each statement sees what was committed before it: whoever waited for a lock sees what its holder did.
    pub(crate) async fn write(&self, doing: &'static str) -> Result<Conn, StoreError> {
        self.begin(doing, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE").await
    }

    /// A transaction that sees one state of the database.
    pub(crate) async fn read(&self, doing: &'static str) -> Result<Conn, StoreError> {
        self.begin(doing, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    async fn begin(&self, doing: &'static str, how: &'static str) -> Result<Conn, StoreError> {
        let pool = self.opened().await?;
        let began = match pool.begin_with(how).await {
            // All were taken, or none could be made: a pool does not say which, and trying does.
            Err(sqlx::Error::PoolTimedOut) => {
                self.knock("a connection was made").await?;
                return Err(busy(PATIENCE));
            }
            began => began.doing("a transaction began")?,
        };
        let mut tx = Conn::from(began).doing(doing);
        // A newer program may have moved the schema on since the first call.
        schema::check(&mut tx).await?;
        Ok(tx)
    }

    /// Has the server note which pages everybody sees, as it would by itself after a while: until then the first count of what came
    /// in reads all of it. Nothing is lost where it may not.
    pub(crate) async fn settle(&self) {
        let Ok(mut own) = self.options.connect().await else { return };
        for statement in ["SET statement_timeout = 0", "VACUUM notes, note_words"] {
            let _ = sqlx::raw_sql(statement).execute(&mut own).await;
        }
        let _ = own.close().await;
    }

    /// Connects and goes away again. One that takes the connection and says nothing is no server.
    async fn knock(&self, doing: &'static str) -> Result<(), StoreError> {
        let knocking = async { self.options.connect().await.doing(doing)?.close().await.doing(doing) };
        let silent =
            || StoreError::Unreachable(format!("it did not answer within {} s", CONNECTING.as_secs()));
        tokio::time::timeout(CONNECTING, knocking).await.unwrap_or_else(|_| Err(silent()))
    }

    async fn opened(&self) -> Result<PgPool, StoreError> {
        let mut slot = self.opened.lock().await;
        if let Some(opened) = &*slot {
            return Ok(opened.clone());
        }
        // What a pool cannot connect to it tries again until its patience ends: here the first refusal says why.
        self.knock("the store was opened").await?;
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(PATIENCE);
        let pool = pool.connect_lazy_with(self.options.clone());
        schema::migrate(&pool).await?;
        *slot = Some(pool.clone());
        Ok(pool)
    }
}
