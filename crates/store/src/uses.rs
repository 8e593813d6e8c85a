//! Uses of patterns in tables.

use std::sync::Arc;
use std::time::Instant;

use store_api::once::{Done, Once};
use store_api::uses::{MAX_LISTED, NewUse, Used, Uses};
use store_api::{Answer, StoreError, Timestamp};

use crate::Store;
use crate::once::Write;
use crate::sql::{Conn, Fields, sql, values};

/// Most roots that one pattern's uses name.
const PROJECTS: u32 = 1_000;

/// A statement with the columns that [`read`] reads.
macro_rules! used {
    ($before:literal, $after:literal) => {
        sql!($before "library, pattern, stated, recorded, first, last" $after)
    };
}

fn read(row: &mut Fields<'_>) -> Result<Used, StoreError> {
    Ok(Used {
        library: row.text()?,
        pattern: row.text()?,
        stated: row.count()?,
        recorded: row.count()?,
        first: row.time()?,
        last: row.time()?,
        projects: Vec::new(),
    })
}

/// The roots that a pattern was used in.
async fn projects(tx: &mut Conn, used: Used) -> Result<Used, StoreError> {
    let list = "SELECT DISTINCT project FROM pattern_uses WHERE library = $1 AND pattern = $2 AND project IS NOT NULL
                ORDER BY project LIMIT $3";
    let rows = tx.rows(list, values![&used.library, &used.pattern, PROJECTS]).await?;
    let projects = rows.iter().map(|row| row.fields().text()).collect::<Result<_, _>>()?;
    Ok(Used { projects, ..used })
}

impl Uses for Store {
    fn record_use(&self, used: NewUse, once: Option<Once>) -> Answer<Done<Used>> {
        self.once(used, once)
    }

    fn used(&self, library: String, pattern: String) -> Answer<Option<Used>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("a pattern's uses were read").await?;
            let one = used!("SELECT ", " FROM used_patterns WHERE library = $1 AND pattern = $2");
            let Some(row) = tx.maybe(one, values![library, pattern]).await? else { return Ok(None) };
            let used = read(&mut row.fields())?;
            projects(&mut tx, used).await.map(Some)
        })
    }

    fn all_used(&self) -> Answer<Arc<[Used]>> {
        let store = self.clone();
        Box::pin(async move {
            let (stamp, asked) = (store.stamp(), Instant::now());
            if let Some(known) = stamp.and_then(|stamp| store.used.get(&stamp)) {
                return Ok(known);
            }
            let all: Arc<[Used]> = all_used(&store).await?.into();
            if let Some(stamp) = stamp {
                store.used.keep(stamp, asked, Arc::clone(&all));
            }
            Ok(all)
        })
    }
}

async fn all_used(store: &Store) -> Result<Vec<Used>, StoreError> {
    let mut tx = store.single("uses of patterns were read").await?;
    let list = used!("SELECT ", " FROM used_patterns ORDER BY library, pattern LIMIT $1");
    let rows = tx.rows(list, values![MAX_LISTED]).await?;
    let mut all = rows.iter().map(|row| read(&mut row.fields())).collect::<Result<Vec<_>, _>>()?;
    if all.is_empty() {
        return Ok(all);
    }
    let places = "SELECT DISTINCT library, pattern, project FROM pattern_uses WHERE project IS NOT NULL
                  ORDER BY library, pattern, project";
    for row in tx.rows(places, values![]).await? {
        let mut row = row.fields();
        let (library, pattern) = (row.text()?, row.text()?);
        let whose = all.binary_search_by(|used| {
            (used.library.as_str(), used.pattern.as_str()).cmp(&(library.as_str(), pattern.as_str()))
        });
        if let Some(used) = whose.ok().and_then(|at| all.get_mut(at)) {
            used.projects.push(row.text()?);
        }
    }
    Ok(all)
}

impl Write for NewUse {
    type Answer = Used;
    const DOING: &'static str = "a use of a pattern was recorded";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Used, StoreError> {
        let count = used!(
            "INSERT INTO used_patterns (library, pattern, stated, recorded, first, last) VALUES ($1, $2, $3, 1, $4, $4)
             ON CONFLICT (library, pattern) DO UPDATE SET recorded = used_patterns.recorded + 1, last = excluded.last
             RETURNING ",
            ""
        );
        let stated = i64::try_from(self.stated).unwrap_or(i64::MAX);
        let row = tx.one(count, values![&self.library, &self.pattern, stated, now]).await?;
        let used = read(&mut row.fields())?;
        let keep =
            "INSERT INTO pattern_uses (library, pattern, project, context, at) VALUES ($1, $2, $3, $4, $5)";
        let project = self.project.as_deref();
        tx.execute(keep, values![&self.library, &self.pattern, project, &self.context, now]).await?;
        projects(tx, used).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use store_api::testing::uses::a_use;

    #[test]
    fn what_others_record_is_read_by_who_remembers_what_there_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store").join("a.db");
        let (own, other) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            other.record_use(a_use("one"), None).await.unwrap();
            let before = own.all_used().await.unwrap();
            assert!(own.stamp().is_none(), "it was written just now");
            let settled = async {
                loop {
                    match own.stamp() {
                        Some(stamp) => break stamp,
                        None => tokio::time::sleep(Duration::from_millis(200)).await,
                    }
                }
            };
            let stamp = tokio::time::timeout(Duration::from_mins(1), settled).await.unwrap();
            assert_eq!(own.used.get(&stamp), None);
            assert_eq!(own.all_used().await.unwrap(), before);
            assert_eq!(own.used.get(&stamp), Some(before.clone()), "it is remembered");
            assert_eq!(own.all_used().await.unwrap(), before);
            let recorded =
                async || own.all_used().await.unwrap().iter().map(|used| used.recorded).sum::<u64>();
            other.record_use(a_use("one"), None).await.unwrap();
            assert_eq!(recorded().await, 2);
            own.record_use(a_use("one"), None).await.unwrap();
            assert_eq!(own.used.get(&stamp), None, "who writes forgets");
            assert_eq!(recorded().await, 3);
            own.close().await;
            other.close().await;
        });
    }
}
