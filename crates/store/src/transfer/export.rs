//! Writing out.

use std::io::Write;

use contract::Digest;
use contract::digest::Hasher;
use serde_json::json;

use super::tables::TABLES;
use super::{FORMAT, MAX_LINE, TransferError, Transferred, row};
use crate::error::driver;
use crate::sql::Conn;
use crate::{NEWEST, Store};

const DOING: &str = "the store was exported";

/// The last line.
pub(super) fn end(rows: &[(&'static str, u64)], sha256: Digest) -> String {
    let counts: Vec<String> = rows.iter().map(|(table, rows)| format!("\"{table}\":{rows}")).collect();
    format!("{{\"end\":{{{}}},\"sha256\":\"{sha256}\"}}\n", counts.join(","))
}

pub(super) async fn export(
    store: &Store,
    into: &mut (dyn Write + Send),
) -> Result<Transferred, TransferError> {
    let mut tx = store.read(DOING).await?;
    patient(&mut tx).await?;
    let (made, from) = (json!(store.now()), json!(store.kind()));
    let head = format!(
        "{{\"gatewright\":\"store\",\"format\":{FORMAT},\"schema\":{NEWEST},\"made\":{made},\"from\":{from}}}\n"
    );
    into.write_all(head.as_bytes()).map_err(TransferError::Write)?;
    let done = body(&mut tx, NEWEST, into).await?;
    into.write_all(end(&done.rows, done.sha256).as_bytes()).map_err(TransferError::Write)?;
    into.flush().map_err(TransferError::Write)?;
    Ok(done)
}

/// Takes its time: a large table takes longer than a call may.
pub(super) async fn patient(tx: &mut Conn) -> Result<(), TransferError> {
    if tx.is_pg() {
        tx.execute("SET LOCAL statement_timeout = 0", Vec::new()).await?;
        tx.execute("SET LOCAL idle_in_transaction_session_timeout = 0", Vec::new()).await?;
    }
    Ok(())
}

/// The lines of all rows, as a schema had them.
pub(super) async fn body(
    tx: &mut Conn,
    schema: i64,
    into: &mut (dyn Write + Send),
) -> Result<Transferred, TransferError> {
    let (mut hasher, mut rows, mut line) = (Hasher::default(), Vec::new(), Vec::new());
    for table in TABLES.iter().filter(|table| table.since <= schema) {
        let mut count = 0;
        tx.each(table.all, |found| {
            line.clear();
            row::write(&mut line, table, schema, &mut found.fields())?;
            if line.len() > MAX_LINE {
                // Nobody could read it in again.
                let why =
                    format!("a row of {} has {} bytes, and exports take {MAX_LINE}", table.name, line.len());
                return Err(driver(DOING, why).into());
            }
            hasher.update(&line);
            count += 1;
            into.write_all(&line).map_err(TransferError::Write)
        })
        .await?;
        rows.push((table.name, count));
    }
    Ok(Transferred { rows, sha256: hasher.finish() })
}
