//! Machines in tables.

use store_api::id::MachineId;
use store_api::machine::{Machine, NewMachine};
use store_api::{Answer, Machines, StoreError, Timestamp};

use crate::Store;
use crate::once::Write;
use crate::sql::{Conn, Fields, sql, values};

/// Most machines that are listed.
const LISTED: u32 = 10_000;

/// A statement with the columns that [`read`] reads.
macro_rules! machine {
    ($before:literal, $after:literal) => {
        sql!($before "id, name, os, arch, version, build, registered, seen" $after)
    };
}

fn read(row: &mut Fields<'_>) -> Result<Machine, StoreError> {
    Ok(Machine {
        told: NewMachine {
            id: row.parsed(|id| id.parse().ok())?,
            name: row.text()?,
            os: row.text()?,
            arch: row.text()?,
            version: row.text()?,
            build: row.text()?,
        },
        registered: row.time()?,
        seen: row.time()?,
    })
}

impl Machines for Store {
    fn register(&self, machine: NewMachine) -> Answer<Machine> {
        self.plain(machine)
    }

    fn machines(&self) -> Answer<Vec<Machine>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("machines were read").await?;
            let list = machine!("SELECT ", " FROM machines ORDER BY seen DESC, id DESC LIMIT $1");
            tx.rows(list, values![LISTED]).await?.iter().map(|row| read(&mut row.fields())).collect()
        })
    }

    fn seen(&self, id: MachineId) -> Answer<bool> {
        self.plain(Seen(id))
    }
}

impl Write for NewMachine {
    type Answer = Machine;
    const DOING: &'static str = "a machine was registered";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Machine, StoreError> {
        let register = machine!(
            "INSERT INTO machines (id, name, os, arch, version, build, registered, seen)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, os = excluded.os, arch = excluded.arch,
                    version = excluded.version, build = excluded.build, seen = excluded.seen
             RETURNING ",
            ""
        );
        let Self { id, name, os, arch, version, build } = self;
        let row = tx.one(register, values![id.as_str(), name, os, arch, version, build, now]).await?;
        read(&mut row.fields())
    }
}

struct Seen(MachineId);

impl Write for Seen {
    type Answer = bool;
    const DOING: &'static str = "a machine gave a sign of life";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<bool, StoreError> {
        let seen = "UPDATE machines SET seen = $2 WHERE id = $1";
        Ok(tx.execute(seen, values![self.0.as_str(), now]).await? > 0)
    }
}
