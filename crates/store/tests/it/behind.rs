//! The database behind the store's back.

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _};

/// Runs a script behind the store's back, where the store has its tables.
pub(crate) async fn behind(url: &str, script: &'static str) {
    let mut connection = connect(url).await;
    sqlx::raw_sql(script).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

pub(crate) async fn connect(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    options.options([("search_path", "gatewright")]).connect().await.unwrap()
}

/// Waits until nobody else is connected to a database: a server that is still at what a killed client asked may finish it.
pub(crate) async fn alone(url: &str) {
    let mut connection = connect(url).await;
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let began = std::time::Instant::now();
    while sqlx::query_scalar::<_, i64>(others).fetch_one(&mut connection).await.unwrap() > 0 {
        assert!(began.elapsed().as_secs() < 60, "somebody stays connected");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    connection.close().await.unwrap();
}
