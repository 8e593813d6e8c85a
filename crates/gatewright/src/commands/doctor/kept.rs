//! What is kept: the record, plans that were cut short, the store.

use std::time::Duration;

use ::audit::Ledger;
use contract::Fault;
use contract::text::counted;
use store_api::StoreError;
use tools_session::workplace::StoreKind;

use super::{Look, Place, waited};
use crate::remembered::{self, Remembered};

/// How long a store may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn ledger(place: &Place<'_>) -> Look {
    const FIX: &str = "free disk space, or restore write access to the state folder";
    let state = match place.state() {
        Ok(state) => state,
        Err(fault) => return Look::fail(fault.message, FIX),
    };
    let looked = Ledger::open(&state.ledger()).and_then(|ledger| Ok((ledger.anchor()?, ledger)));
    let (anchor, ledger) = match looked {
        Ok(looked) => looked,
        Err(error) => return Look::fail(error.to_string(), FIX),
    };
    let records = anchor.map_or(0, |anchor| anchor.seq + 1);
    let key = if ledger.initial_key().is_some() {
        let place = state.ledger().join("initial.key");
        format!(
            "; its first key is still beside it: keep a copy of {} elsewhere and remove it",
            place.display()
        )
    } else {
        "; its first key is kept elsewhere".to_owned()
    };
    Look::ok(format!("writable, {}{key}", counted(records, "record")))
}

/// Plans that an earlier process left in the middle.
pub(super) fn unfinished(place: &Place<'_>) -> Look {
    if place.root().is_none() {
        return Look::skipped("there is no root");
    }
    let left = match place.state().and_then(|state| exec::unfinished(&state)) {
        Ok(left) => left,
        Err(fault) => return fault.into(),
    };
    if let Some(blocked) = left.blocked.first() {
        let fix = "look at the path; when it is as you want it, run `gatewright recover --accept`";
        return Look::fail(format!("a plan could not be taken back whole: {blocked}"), fix);
    }
    if left.interrupted > 0 {
        let said = format!("{} cut short", counted(left.interrupted, "plan"));
        return Look::fail(said, "run `gatewright recover`: the next server does it, too");
    }
    Look::ok("no plan was cut short")
}

/// Finishes or takes back what was cut short. What cannot be is left for a person.
pub(super) fn recover(place: &Place<'_>) -> Result<(), Fault> {
    let Some(root) = place.root() else { return Ok(()) };
    let state = place.state()?;
    let recovered = exec::recover(root, &state)?;
    let recorded =
        Ledger::open(&state.ledger()).and_then(|ledger| kit::recovery::record(&ledger, &recovered));
    recorded.map_err(|error| {
        Fault::new(contract::Code::LedgerUnavailable, error.to_string())
            .suggest("Free disk space, or restore write access to the state folder.")
    })
}

/// What is remembered, where it is, and whether it answers.
pub(super) fn store(place: &Place<'_>) -> Look {
    let Ok(config) = &place.config else {
        return Look::skipped("the configuration is not understood");
    };
    let Remembered { store, context, using, .. } = match remembered::remembered(config) {
        Ok(remembered) => remembered,
        Err(fault) => return fault.into(),
    };
    let what = match using {
        StoreKind::Sqlite => "the store of this machine",
        StoreKind::Postgres => "the team's database",
        StoreKind::Remote => "the team's context",
    };
    let asked = waited(async {
        let answer = tokio::time::timeout(PATIENCE, context.machines()).await;
        store.close().await;
        answer
    });
    match asked {
        Err(look) => look,
        Ok(Ok(Ok(_))) => Look::ok(format!("{what} answers")),
        Ok(Ok(Err(StoreError::Unreachable(why)))) if using == StoreKind::Remote => Look::warn(
            format!("{what} does not answer ({why}): what is written waits here"),
            "see that you are in its network; `gatewright context status` says more",
        ),
        Ok(Ok(Err(error))) => Look::fail(
            format!("{what}: {error}"),
            "`gatewright store status` says more; [store] and [context] are in your own configuration",
        ),
        Ok(Err(_)) => Look::fail(
            format!("{what} did not answer within {} s", PATIENCE.as_secs()),
            "see that its server runs and can be reached",
        ),
    }
}
