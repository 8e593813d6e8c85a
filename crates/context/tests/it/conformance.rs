//! The suite of `store-api`, through client and server, over each database.

use std::sync::Arc;

use gatewright_context::Offline;
use store_api::testing::context;

use crate::{Place, Running, remote, runtime};

#[test]
fn a_store_over_the_wire_does_what_every_store_does() {
    for place in Place::all() {
        runtime().block_on(async {
            let running = Running::start(&place, u64::MAX).await;
            let remote = remote(&place, &running).await;
            context(&remote, &place.watch, place.kind).await;
            running.end().await;
        });
    }
}

#[test]
fn while_the_context_answers_nothing_is_different_with_an_outbox() {
    let (place, home) = (Place::lite(), Place::lite());
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let remote = remote(&place, &running).await;
        let offline = Offline::new(remote, Arc::new(home.store.clone()), place.watch.clock(), "test");
        context(&offline, &place.watch, "outbox").await;
        let link = offline.link().await.unwrap();
        assert_eq!((link.offline_since, link.shown_from, link.line.waiting), (None, None, 0));
        running.end().await;
    });
}
