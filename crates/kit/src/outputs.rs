//! What a tool says of its results.

use std::sync::OnceLock;

use serde_json::Value;

use crate::schema;

/// The schema of results: it is needed to list the tool, and to compile it, and it is by far the largest thing that a tool says of
/// itself. So it is made each time, and only the names in it are kept.
pub(crate) struct Outputs {
    make: Box<dyn Fn() -> schema::Output + Send + Sync>,
    names: OnceLock<Names>,
}

/// What [`schema::Output`] says beside the schema.
pub(crate) struct Names {
    pub(crate) required: Vec<String>,
    pub(crate) shadowed: Vec<String>,
}

impl Outputs {
    pub(crate) fn new(make: impl Fn() -> schema::Output + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), names: OnceLock::new() }
    }

    pub(crate) fn schema(&self) -> Value {
        let schema::Output { schema, required, shadowed } = (self.make)();
        self.names.get_or_init(|| Names { required, shadowed });
        schema
    }

    pub(crate) fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let schema::Output { required, shadowed, .. } = (self.make)();
            Names { required, shadowed }
        })
    }
}
