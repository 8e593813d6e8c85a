//! The desk of a tool that records.

use std::sync::Arc;

use contract::{Fault, Principal};

use super::{ReadDesk, Setting};

/// The desk of a tool that records.
pub struct RecordDesk<S: ?Sized> {
    store: Arc<S>,
    setting: Setting,
}

impl<S: ?Sized + Send + Sync + 'static> RecordDesk<S> {
    pub(crate) fn new(setting: Setting) -> Result<Self, Fault> {
        let store = setting.services.get::<S>().ok_or_else(|| {
            Fault::internal(format!("no store of type {} was provided", std::any::type_name::<S>()))
        })?;
        Ok(Self { store, setting })
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Who calls.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.setting.principal
    }

    /// A window on the root, for what a record is about.
    pub fn read(&self) -> Result<ReadDesk, Fault> {
        ReadDesk::new(self.setting.clone())
    }
}
