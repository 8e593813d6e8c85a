//! Tools without their types, as the registry holds them, and the adapters that take the types away.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use contract::{Annotations, Fault, Kind, Spec, ToolName};
use exec::{Draft, View};
use serde_json::{Map, Value};

use crate::desk::{ChangeDesk, ReadDesk, RecordDesk, Setting};
use crate::kinds::{Answer, Change, Define, Read, Record};
use crate::limits::Limits;
use crate::schema;

/// A future that can be boxed and sent.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a tool's code gave: its answer and, where it changes something, its draft.
pub struct Invoked {
    /// The answer, its output as JSON.
    pub answer: Answer<Map<String, Value>>,
    /// What was drafted, with the view that it was made with.
    pub draft: Option<(Draft, Arc<View>)>,
}

/// A tool without its types.
pub trait Tool: Send + Sync {
    /// Its public contract.
    fn spec(&self) -> &Spec;

    /// How long, how often and how many at a time.
    fn limits(&self) -> Limits;

    /// Its examples.
    fn examples(&self) -> Vec<Value>;

    /// Runs the tool's code on arguments that fit its schema, without `apply` and `plan`.
    fn invoke(&self, arguments: Value, setting: Setting) -> Boxed<'_, Result<Invoked, Fault>>;
}

pub(crate) struct ReadTool<T>(Spec, T);
pub(crate) struct ChangeTool<T>(Spec, T);
pub(crate) struct RecordTool<T>(Spec, T);

fn spec<T: Define>(kind: Kind, annotations: Annotations) -> Spec {
    let changes = matches!(kind, Kind::Change | Kind::Run);
    let (output_schema, required_when_completed) = schema::output::<T::Output>();
    Spec {
        // A name that does not fit is found by the laws and by the registry; here it becomes one that never collides.
        name: ToolName::new(T::NAME).unwrap_or_else(|_| bad_name()),
        title: T::DOC.title(),
        description: T::DOC.description(),
        kind,
        toolset: T::TOOLSET.0.to_owned(),
        aliases: T::ALIASES.iter().map(|a| (*a).to_owned()).collect(),
        input_schema: schema::input::<T::Input>(changes),
        output_schema,
        required_when_completed,
        annotations,
    }
}

#[expect(clippy::expect_used, reason = "a constant that fits the grammar")]
fn bad_name() -> ToolName {
    ToolName::new("badly_named").expect("it fits")
}

fn decode<T: Define>(arguments: Value) -> Result<T::Input, Fault> {
    serde_json::from_value(arguments).map_err(|e| Fault::invalid(format!("{}: {e}", T::NAME)))
}

fn erase<T: serde::Serialize>(answer: Answer<T>) -> Result<Answer<Map<String, Value>>, Fault> {
    let output = match serde_json::to_value(answer.output) {
        Ok(Value::Object(map)) => map,
        Ok(_) => return Err(Fault::internal("an output is not an object")),
        Err(error) => return Err(Fault::internal(error.to_string())),
    };
    Ok(Answer {
        success: answer.success,
        message: answer.message,
        output,
        results: answer.results,
        truncated: answer.truncated,
    })
}

pub(crate) fn read<T: Read + Default>() -> Arc<dyn Tool> {
    let annotations = Annotations {
        read_only_hint: true,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: T::OPEN_WORLD,
    };
    Arc::new(ReadTool(spec::<T>(Kind::Read, annotations), T::default()))
}

pub(crate) fn change<T: Change + Default>() -> Arc<dyn Tool> {
    let annotations = Annotations {
        read_only_hint: false,
        destructive_hint: T::DESTRUCTIVE,
        idempotent_hint: T::IDEMPOTENT,
        open_world_hint: T::OPEN_WORLD,
    };
    Arc::new(ChangeTool(spec::<T>(Kind::Change, annotations), T::default()))
}

pub(crate) fn record<T: Record + Default>() -> Arc<dyn Tool> {
    let annotations = Annotations {
        read_only_hint: false,
        destructive_hint: false,
        idempotent_hint: false,
        open_world_hint: T::OPEN_WORLD,
    };
    Arc::new(RecordTool(spec::<T>(Kind::Record, annotations), T::default()))
}

impl<T: Read> Tool for ReadTool<T> {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn limits(&self) -> Limits {
        T::LIMITS
    }

    fn examples(&self) -> Vec<Value> {
        T::examples()
    }

    fn invoke(&self, arguments: Value, setting: Setting) -> Boxed<'_, Result<Invoked, Fault>> {
        Box::pin(async move {
            let input = decode::<T>(arguments)?;
            let answer = self.1.read(input, ReadDesk::new(setting)?).await?;
            Ok(Invoked { answer: erase(answer)?, draft: None })
        })
    }
}

impl<T: Change> Tool for ChangeTool<T> {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn limits(&self) -> Limits {
        T::LIMITS
    }

    fn examples(&self) -> Vec<Value> {
        T::examples()
    }

    fn invoke(&self, arguments: Value, setting: Setting) -> Boxed<'_, Result<Invoked, Fault>> {
        Box::pin(async move {
            let input = decode::<T>(arguments)?;
            let desk = ChangeDesk::new(setting)?;
            let answer = self.1.plan(input, desk.clone()).await?;
            Ok(Invoked { answer: erase(answer)?, draft: Some(desk.into_parts()) })
        })
    }
}

impl<T: Record> Tool for RecordTool<T> {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn limits(&self) -> Limits {
        T::LIMITS
    }

    fn examples(&self) -> Vec<Value> {
        T::examples()
    }

    fn invoke(&self, arguments: Value, setting: Setting) -> Boxed<'_, Result<Invoked, Fault>> {
        Box::pin(async move {
            let input = decode::<T>(arguments)?;
            let answer = self.1.record(input, RecordDesk::<T::Store>::new(setting)?).await?;
            Ok(Invoked { answer: erase(answer)?, draft: None })
        })
    }
}
