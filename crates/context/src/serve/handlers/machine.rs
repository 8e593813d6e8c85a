//! Machines and ventures.

use std::sync::Arc;

use store_api::once::Once;

use crate::serve::App;
use crate::serve::table::{Handle, Reply};
use crate::wire::DoneOrNot;
use crate::wire::error::ApiError;
use crate::wire::machine::{AllMachines, AllVentures, Machines, OneMachine, Register, Seen, Ventures};

impl Handle for Register {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<OneMachine>, ApiError> {
        Ok(OneMachine { machine: app.store.register(self.machine).await? }.into())
    }
}

impl Handle for Machines {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<AllMachines>, ApiError> {
        Ok(AllMachines { machines: app.store.machines().await? }.into())
    }
}

impl Handle for Seen {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<DoneOrNot>, ApiError> {
        Ok(DoneOrNot { done: app.store.seen(self.id).await? }.into())
    }
}

impl Handle for Ventures {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<AllVentures>, ApiError> {
        Ok(AllVentures { ventures: app.ventures.clone() }.into())
    }
}
