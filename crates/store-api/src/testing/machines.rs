//! Machines that work is done on.

use super::context::{MINUTE, Watch, next, refused};
use crate::Context;
use crate::id::MachineId;
use crate::machine::{Machine, NewMachine};

pub(super) async fn all(store: &dyn Context, watch: &Watch, name: &str) {
    two_machines_without_a_host_name_of_their_own_are_two(store, watch, name).await;
    a_machine_says_what_it_is_now(store, watch, name).await;
    what_does_not_fit_is_refused(store, watch, name).await;
}

/// A machine with an id of its own.
#[must_use]
pub fn machine(watch: &Watch, name: &str) -> NewMachine {
    NewMachine {
        id: MachineId::new(watch.now(), next()),
        name: name.to_owned(),
        os: "Linux".to_owned(),
        arch: "x86_64".to_owned(),
        version: "0.1.0".to_owned(),
        build: "abc".to_owned(),
    }
}

async fn named(store: &dyn Context, name: &str) -> Vec<Machine> {
    let all = store.machines().await.expect("machines are read");
    all.into_iter().filter(|machine| machine.told.name == name).collect()
}

/// Containers are all called the same. (In the original they were one machine.)
pub async fn two_machines_without_a_host_name_of_their_own_are_two(
    store: &dyn Context,
    watch: &Watch,
    name: &str,
) {
    let host = format!("{name} localhost");
    let one = store.register(machine(watch, &host)).await.unwrap();
    watch.turn(MINUTE);
    let two = store.register(machine(watch, &host)).await.unwrap();
    assert_eq!(named(store, &host).await, [two, one], "the last seen first");
}

/// When it was registered first stays.
pub async fn a_machine_says_what_it_is_now(store: &dyn Context, watch: &Watch, name: &str) {
    let host = format!("{name} host");
    let told = machine(watch, &host);
    let registered = store.register(told.clone()).await.unwrap();
    assert_eq!(registered, Machine { told: told.clone(), registered: watch.now(), seen: watch.now() });
    watch.turn(MINUTE);
    assert!(store.seen(told.id.clone()).await.unwrap());
    let seen = Machine { seen: watch.now(), ..registered };
    assert_eq!(named(store, &host).await, std::slice::from_ref(&seen));
    watch.turn(MINUTE);
    let newer = NewMachine { version: "0.2.0".to_owned(), ..told };
    let newer = Machine { told: newer.clone(), seen: watch.now(), ..seen };
    assert_eq!(store.register(newer.told.clone()).await.unwrap(), newer);
    assert_eq!(named(store, &host).await, [newer]);
    assert!(!store.seen(MachineId::new(watch.now(), next())).await.unwrap());
}

/// Empty, too long, NUL.
pub async fn what_does_not_fit_is_refused(store: &dyn Context, watch: &Watch, name: &str) {
    for (name, os) in [("", "Linux"), (name, "a\0b"), (name, &*"x".repeat(201))] {
        let case = NewMachine { os: os.to_owned(), ..machine(watch, name) };
        refused(store.register(case).await, "a machine");
    }
}
