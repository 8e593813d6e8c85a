//! The suite of `store-api`, against SQLite.

use store_api::testing::{Watch, context};

use crate::{Place, runtime};

/// 2026-11-22, a Sunday.
pub(crate) const SUNDAY: i64 = 1_795_305_600_000;

#[test]
fn sqlite_conforms() {
    runtime().block_on(async {
        let place = Place::new();
        store_api::testing::failures(&place.store(), "sqlite").await;
    });
}

#[test]
fn sqlite_keeps_what_a_team_shares() {
    runtime().block_on(async {
        let place = Place::new();
        let watch = Watch::at(SUNDAY);
        context(&place.store().with_clock(watch.clock()), &watch, "sqlite").await;
    });
}
