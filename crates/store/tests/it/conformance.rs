//! The suite of `store-api`, against SQLite.

use crate::{Place, runtime};

#[test]
fn sqlite_conforms() {
    runtime().block_on(async {
        let place = Place::new();
        store_api::testing::failures(&place.store(), "sqlite").await;
    });
}
