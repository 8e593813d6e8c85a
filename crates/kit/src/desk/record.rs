//! The desk of a tool that records.

use std::sync::Arc;

use contract::Fault;

use super::{ReadDesk, Setting};

/// The desk of a tool that records: what a tool that looks has, and a store.
pub struct RecordDesk<S: ?Sized> {
    store: Arc<S>,
    desk: ReadDesk,
}

impl<S: ?Sized + Send + Sync + 'static> RecordDesk<S> {
    pub(crate) fn new(setting: Setting, needs_root: bool) -> Result<Self, Fault> {
        let store = setting.services.get::<S>().ok_or_else(|| {
            Fault::internal(format!("no store of type {} was provided", std::any::type_name::<S>()))
        })?;
        Ok(Self { store, desk: ReadDesk::of(setting, needs_root)? })
    }

    /// The store.
    #[must_use]
    pub const fn store(&self) -> &Arc<S> {
        &self.store
    }
}

impl<S: ?Sized> std::ops::Deref for RecordDesk<S> {
    type Target = ReadDesk;

    fn deref(&self) -> &ReadDesk {
        &self.desk
    }
}
