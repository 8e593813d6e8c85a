//! Copies of a store's file.

use std::os::unix::fs::PermissionsExt as _;

use gatewright_store::Store;
use gatewright_store::transfer::TransferError;
use store_api::Documents;
use store_api::testing::documents::document;

use crate::transfer::exported;
use crate::{Place, runtime};

#[test]
fn a_copy_is_the_store_as_it_was_for_nobody_elses_eyes_and_over_nothing() {
    runtime().block_on(async {
        let place = Place::new();
        let store = place.store();
        for n in 0..50 {
            store.put(document("global", &format!("d{n}"), &"text ".repeat(1_000))).await.unwrap();
        }
        let (before, told) = exported(&store).await;
        let file = place.folder.path().join("copies.db");
        let writing = async {
            for n in 50..100 {
                store.put(document("global", &format!("d{n}"), "text")).await.unwrap();
            }
        };
        let (copied, ()) = tokio::join!(store.backup(&file), writing);
        copied.unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // A store is alone in its folder: a copy is put there to be one.
        let there = place.folder.path().join("there/store.db");
        std::fs::create_dir(there.parent().unwrap()).unwrap();
        std::fs::copy(&file, &there).unwrap();
        let copy = Store::open(&there).unwrap();
        let (_, copied) = exported(&copy).await;
        assert!((50..=100).contains(&copied.total()), "{}", copied.total());
        copy.put(document("global", "new", "text")).await.unwrap();

        let again = store.backup(&file).await;
        assert!(matches!(again, Err(TransferError::BackupExists)), "{again:?}");
        let alone = Place::new();
        let still = alone.folder.path().join("still.db");
        let fresh = alone.store();
        fresh.import(&mut std::io::Cursor::new(&before)).await.unwrap();
        std::fs::write(&still, "").unwrap();
        fresh.backup(&still).await.unwrap();
        std::fs::create_dir(alone.folder.path().join("of")).unwrap();
        std::fs::rename(&still, alone.folder.path().join("of/store.db")).unwrap();
        let of_it = Store::open(&alone.folder.path().join("of/store.db")).unwrap();
        assert_eq!(exported(&of_it).await.1, told, "what nobody wrote into is the same");
        let nowhere = store.backup(&place.folder.path().join("no/such/folder.db")).await;
        assert!(
            matches!(nowhere, Err(TransferError::Store(store_api::StoreError::Place { .. }))),
            "{nowhere:?}"
        );
    });
}

#[test]
fn postgresql_is_copied_by_its_own_program() {
    let Some(place) = Place::in_postgres() else { return };
    runtime().block_on(async {
        let file = place.folder.path().join("copy");
        let refused = place.store().backup(&file).await.unwrap_err().to_string();
        assert!(refused.contains("pg_dump") && refused.contains("gatewright store export"), "{refused}");
        assert!(!std::fs::exists(&file).unwrap());
    });
}
