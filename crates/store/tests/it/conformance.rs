//! The suite of `store-api`, against each database.

use gatewright_store::IndexStore;
use store_api::testing::{Watch, context};
use store_api::{Indexes as _, StoreError};

use crate::{Place, runtime};

/// 2026-11-22, a Sunday.
pub(crate) const SUNDAY: i64 = 1_795_305_600_000;

#[test]
fn sqlite_conforms() {
    runtime().block_on(conforms(Place::new()));
}

#[test]
fn postgresql_conforms() {
    let Some(place) = Place::in_postgres() else { return };
    runtime().block_on(conforms(place));
}

async fn conforms(place: Place) {
    store_api::testing::failures(&place.store(), place.kind()).await;
}

#[test]
fn sqlite_keeps_what_a_team_shares() {
    runtime().block_on(shares(Place::new()));
}

#[test]
fn postgresql_keeps_what_a_team_shares() {
    let Some(place) = Place::in_postgres() else { return };
    runtime().block_on(shares(place));
}

async fn shares(place: Place) {
    let watch = Watch::at(SUNDAY);
    context(&place.store().with_clock(watch.clock()), &watch, place.kind()).await;
}

#[test]
fn each_database_keeps_what_a_server_and_a_client_need() {
    for place in Place::all() {
        runtime().block_on(async {
            let watch = Watch::at(SUNDAY);
            let store = place.store().with_clock(watch.clock());
            store_api::testing::server(&store, &watch).await;
            store_api::testing::outbox(&store, &watch).await;
            store_api::testing::uses(&store, &watch).await;
        });
    }
}

#[test]
fn indexes_of_libraries_are_kept() {
    let place = Place::new();
    runtime().block_on(async {
        let watch = Watch::at(SUNDAY);
        let store = IndexStore::open(&place.path()).unwrap().with_clock(watch.clock());
        store_api::testing::indexes(&store, &watch).await;
    });
}

#[test]
fn a_store_is_no_database_of_indexes_and_the_other_way_round() {
    let place = Place::new();
    runtime().block_on(async {
        store_api::Uses::all_used(&place.store()).await.unwrap();
        let refused = IndexStore::open(&place.path()).unwrap().begin().await;
        assert!(matches!(refused, Err(StoreError::Foreign)));
    });
    let other = Place::new();
    runtime().block_on(async {
        IndexStore::open(&other.path()).unwrap().begin().await.unwrap();
        let refused = store_api::Uses::all_used(&other.store()).await;
        assert!(matches!(refused, Err(StoreError::Foreign)));
    });
}
