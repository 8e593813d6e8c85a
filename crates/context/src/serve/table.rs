//! What the API takes: router and OpenAPI document are made from this list.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;
use store_api::once::Once;

use super::App;
use crate::wire::error::ApiError;
use crate::wire::{Auth, Endpoint, Method, admin, document, handoff, machine, note, session};

/// What an endpoint gives.
pub(super) struct Reply<T> {
    pub(super) value: T,
    /// Whether it is the answer of the first time.
    pub(super) replayed: bool,
    /// What changes when the answer does.
    pub(super) etag: Option<String>,
}

impl<T> From<T> for Reply<T> {
    fn from(value: T) -> Self {
        Self { value, replayed: false, etag: None }
    }
}

/// What an endpoint does.
pub(super) trait Handle: Endpoint {
    fn handle(
        self,
        app: Arc<App>,
        once: Option<Once>,
    ) -> impl Future<Output = Result<Reply<Self::Answer>, ApiError>> + Send;
}

/// An answer as bytes.
pub(super) struct Answered {
    pub(super) body: Vec<u8>,
    pub(super) replayed: bool,
    pub(super) etag: Option<String>,
}

/// What a field is where it stands in a query or a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Text,
    Number,
    Flag,
}

type Answering = Pin<Box<dyn Future<Output = Result<Answered, ApiError>> + Send>>;

/// An endpoint, whatever its type.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) auth: Auth,
    pub(super) large: bool,
    pub(super) once: bool,
    pub(super) about: &'static str,
    pub(super) request: fn(&mut SchemaGenerator) -> Schema,
    pub(super) answer: fn(&mut SchemaGenerator) -> Schema,
    pub(super) fields: BTreeMap<String, Field>,
    pub(super) run: fn(Arc<App>, Value, Option<Once>) -> Answering,
}

impl Route {
    fn of<E: Handle>() -> Self {
        Self {
            method: E::METHOD,
            path: E::PATH,
            auth: E::AUTH,
            large: E::LARGE,
            once: E::ONCE,
            about: E::ABOUT,
            request: E::json_schema,
            answer: SchemaGenerator::subschema_for::<E::Answer>,
            fields: fields(E::json_schema(&mut generator()).as_value()),
            run: |app, asked, once| Box::pin(run::<E>(app, asked, once)),
        }
    }
}

/// As OpenAPI wants schemas: beside each other.
pub(super) fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    settings.into_generator()
}

async fn run<E: Handle>(app: Arc<App>, asked: Value, once: Option<Once>) -> Result<Answered, ApiError> {
    let request: E = serde_json::from_value(asked).map_err(|e| ApiError::invalid(e.to_string()))?;
    let Reply { value, replayed, etag } = request.handle(app, once).await?;
    let body = serde_json::to_vec(&value)
        .map_err(|e| ApiError::new(crate::wire::ErrorCode::Internal, e.to_string()))?;
    Ok(Answered { body, replayed, etag })
}

/// The fields of a request, and what each is.
fn fields(schema: &Value) -> BTreeMap<String, Field> {
    let is = |field: &Value, word: &str| match &field["type"] {
        Value::Array(words) => words.iter().any(|one| one == word),
        one => one == word,
    };
    let kind = |field: &Value| {
        if is(field, "integer") {
            Field::Number
        } else if is(field, "boolean") {
            Field::Flag
        } else {
            Field::Text
        }
    };
    let properties = schema["properties"].as_object();
    properties.into_iter().flatten().map(|(name, field)| (name.clone(), kind(field))).collect()
}

/// The endpoints.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::of::<session::Sod>(),
        Route::of::<session::Eod>(),
        Route::of::<session::Update>(),
        Route::of::<session::Heartbeat>(),
        Route::of::<session::SessionById>(),
        Route::of::<session::Current>(),
        Route::of::<session::Siblings>(),
        Route::of::<session::Active>(),
        Route::of::<handoff::CheckpointIn>(),
        Route::of::<handoff::Checkpoints>(),
        Route::of::<handoff::Handoffs>(),
        Route::of::<handoff::Latest>(),
        Route::of::<document::Docs>(),
        Route::of::<document::Audit>(),
        Route::of::<document::Doc>(),
        Route::of::<document::Generated>(),
        Route::of::<document::Written>(),
        Route::of::<document::RemoveDoc>(),
        Route::of::<note::NoteIn>(),
        Route::of::<note::Notes>(),
        Route::of::<note::ForDay>(),
        Route::of::<note::NoteById>(),
        Route::of::<note::NoteChange>(),
        Route::of::<note::Archive>(),
        Route::of::<machine::Ventures>(),
        Route::of::<machine::Register>(),
        Route::of::<machine::Machines>(),
        Route::of::<machine::Seen>(),
        Route::of::<admin::Requirements>(),
        Route::of::<admin::PutRequirement>(),
        Route::of::<admin::RemoveRequirement>(),
        Route::of::<admin::Scripts>(),
        Route::of::<admin::Script>(),
        Route::of::<admin::PutScript>(),
        Route::of::<admin::RemoveScript>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_path_names_is_a_field_and_fields_are_known_through_what_is_flattened() {
        for route in routes() {
            for name in route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                assert!(route.fields.contains_key(name), "{} {name}: {:?}", route.path, route.fields);
            }
        }
        let sod = Route::of::<session::Sod>();
        for (name, field) in [
            ("agent", Field::Text),
            ("branch", Field::Text),
            ("issue", Field::Number),
            ("only_session", Field::Flag),
        ] {
            assert_eq!(sod.fields.get(name), Some(&field), "{name}");
        }
        assert_eq!(Route::of::<note::Notes>().fields.get("limit"), Some(&Field::Number));
    }
}
