//! JSON Schemas, derived from the Rust types that are deserialised: there is no second copy.

use std::sync::LazyLock;

use contract::Kind;
use contract::reply::Envelope;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::misfit;

/// Any JSON, of whose texts none has more than `MOST` characters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnyJson<const MOST: usize>(pub Value);

impl<const MOST: usize> JsonSchema for AnyJson<MOST> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("AnyJson{MOST}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> Schema {
        // Strict clients want a schema that says something: of a text this does, of everything else there is nothing to say.
        schemars::json_schema!({ "maxLength": MOST })
    }
}

/// What every tool that changes something takes besides its own inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Common {
    /// Perform it; otherwise only rehearse.
    #[serde(default)]
    pub apply: bool,
    /// Apply exactly this rehearsed plan (its id).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^plan_[0-9a-f]{64}$"))]
    pub plan: Option<String>,
}

/// What every tool that starts programs takes besides its own inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Folder below the root to work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// More arguments for the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// Milliseconds that it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1_000, max = 600_000))]
    pub timeout: Option<u64>,
}

impl Asked {
    /// The names.
    pub const NAMES: &'static [&'static str] = &["directory", "args", "timeout"];

    /// Takes them out of arguments that fit the schema.
    pub(crate) fn take(arguments: &mut Map<String, Value>) -> Result<Self, serde_json::Error> {
        let own = Self::NAMES.iter().filter_map(|name| arguments.remove_entry(*name)).collect();
        serde_json::from_value(Value::Object(own))
    }
}

/// What every tool whose output is a list takes besides its own inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Paged {
    /// Most entries to return.
    #[schemars(range(min = 1, max = 500))]
    pub limit: u32,
    /// Where to go on: `truncated.next` of the call before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^cursor_[0-9a-f]{32}$"))]
    pub cursor: Option<String>,
}

impl Default for Paged {
    fn default() -> Self {
        Self { limit: 50, cursor: None }
    }
}

/// What strict clients warn about goes: `null` types, titles, Rust's integer formats.
fn tidy(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("title");
    object.remove("$schema");
    if object
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|f| f.starts_with("uint") || f.starts_with("int") || f == "double" || f == "float")
    {
        object.remove("format");
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".into(), one);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = object.get_mut(key) else { continue };
        branches.retain(|b| b.get("type").and_then(Value::as_str) != Some("null"));
        if let [Value::Object(one)] = branches.as_slice() {
            let one = one.clone();
            object.remove(key);
            for (k, v) in one {
                object.entry(k).or_insert(v);
            }
        }
    }
    constants_to_enum(object);
}

/// Documented enums come out as one branch per value; clients understand a plain `enum` better.
fn constants_to_enum(object: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = object.get("oneOf") else { return };
    let values: Option<Vec<Value>> = branches
        .iter()
        .map(|b| {
            let constant = b.get("const").cloned().map(|c| vec![c]);
            constant.or_else(|| b.get("enum").and_then(Value::as_array).cloned())
        })
        .collect::<Option<Vec<_>>>()
        .map(|v| v.into_iter().flatten().collect());
    if let Some(values) = values.filter(|v| v.iter().all(Value::is_string)) {
        object.remove("oneOf");
        object.insert("type".into(), "string".into());
        object.insert("enum".into(), values.into());
    }
}

/// The schema of `T` (JSON Schema 2020-12), inlined and tidied.
#[must_use]
pub fn plain<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut generator = settings
        .with(|s| {
            s.meta_schema = None;
            s.inline_subschemas = true;
        })
        .with_transform(RecursiveTransform(tidy as fn(&mut Schema)))
        .into_generator();
    let mut schema = generator.root_schema_for::<T>().to_value();
    // The type's own documentation is for readers of the code; the tool's description is what models read.
    if let Some(object) = schema.as_object_mut() {
        object.remove("description");
    }
    schema
}

/// What a tool takes.
#[derive(Debug)]
pub struct Input {
    /// JSON Schema of the arguments.
    pub schema: Value,
    /// Names that the type must not use, and does.
    pub shadowed: Vec<String>,
}

/// What a tool gives.
#[derive(Debug)]
pub struct Output {
    /// JSON Schema of the results.
    pub schema: Value,
    /// What the type requires of a completed reply.
    pub required: Vec<String>,
    /// Names that the type must not use, and does.
    pub shadowed: Vec<String>,
}

/// Entries on the pages of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pages {
    /// When the caller does not say.
    pub usual: u32,
    /// At most.
    pub most: u32,
}

/// What a tool takes besides the inputs of its type.
#[derive(Debug, Clone, Copy)]
pub struct Besides {
    /// Whether it is rehearsed, and whether it runs programs.
    pub kind: Kind,
    /// Of [`Asked`], where it runs programs.
    pub asked: &'static [&'static str],
    /// Of a list that it answers with.
    pub pages: Option<Pages>,
}

/// The input schema of a tool: the type's, with properties of [`Asked`] where the tool runs programs, [`Common`]'s where it changes
/// something and [`Paged`]'s where it answers with a list.
#[must_use]
pub fn input<T: JsonSchema>(besides: Besides) -> Input {
    let Besides { kind, asked, pages } = besides;
    let mut schema = plain::<T>();
    let mut shadowed = Vec::new();
    let asked = (kind == Kind::Run).then(|| {
        let mut schema = plain::<Asked>();
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| asked.contains(&name.as_str()));
        }
        schema
    });
    let common = kind.is_rehearsed().then(plain::<Common>);
    let paged = pages.map(|pages| {
        let mut schema = plain::<Paged>();
        for (name, value) in [("default", pages.usual), ("maximum", pages.most)] {
            if let Some(limit) = schema.pointer_mut(&format!("/properties/limit/{name}")) {
                *limit = value.into();
            }
        }
        schema
    });
    for more in [asked, common, paged].into_iter().flatten() {
        let properties = more.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        shadowed.extend(merge_properties(&mut schema, properties));
    }
    if let Some(object) = schema.as_object_mut() {
        object.entry("properties").or_insert_with(|| json!({}));
        object.insert("additionalProperties".into(), false.into());
    }
    Input { schema, shadowed }
}

/// The published output schema: the type's properties and the envelope's, of which only what every reply has is
/// required.
#[must_use]
pub fn output<T: JsonSchema>(runs: bool) -> Output {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let shadowed = enveloped(&mut schema, runs);
    Output { schema, required, shadowed }
}

/// The published output schema of a foreign tool: its own output stands in `result`, so that no name of its choosing
/// passes for one of the envelope's.
#[must_use]
pub fn foreign_output(own: Option<Value>) -> Output {
    let mut result = own.unwrap_or_else(|| json!({ "type": "object" }));
    if let Some(object) = result.as_object_mut() {
        object.entry("description").or_insert_with(|| "What the tool answered.".into());
    }
    let mut schema = json!({ "type": "object", "properties": { "result": result } });
    let shadowed = enveloped(&mut schema, false);
    Output { schema, required: Vec::new(), shadowed }
}

/// The published output schema of a plugin's tool: as [`foreign_output`], with what is said of runs.
#[must_use]
pub fn guest_output(own: Option<Value>) -> Output {
    let mut result = own.unwrap_or_else(|| json!({ "type": "object" }));
    if let Some(object) = result.as_object_mut() {
        object.entry("description").or_insert_with(|| "What the tool found.".into());
    }
    let mut schema = json!({ "type": "object", "properties": { "result": result } });
    let shadowed = enveloped(&mut schema, true);
    Output { schema, required: Vec::new(), shadowed }
}

/// An input schema that arrives from elsewhere, with what every tool takes that is rehearsed.
#[must_use]
pub fn with_common(mut schema: Value) -> Input {
    let common = plain::<Common>();
    let properties = common.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let shadowed = merge_properties(&mut schema, properties);
    Input { schema, shadowed }
}

/// Adds the envelope's properties, those of runs where it is one; returns the names that were there already.
fn enveloped(schema: &mut Value, runs: bool) -> Vec<String> {
    static ENVELOPE: LazyLock<Value> =
        LazyLock::new(|| generate::<Envelope>(SchemaSettings::draft2020_12().for_serialize()));
    let envelope = &*ENVELOPE;
    let properties = envelope.get("properties").and_then(Value::as_object).into_iter().flatten();
    let has = |name: &str| runs || !Envelope::OF_RUNS.contains(&name);
    let properties =
        properties.filter(|(name, _)| has(name)).map(|(name, said)| (name.clone(), said.clone()));
    let shadowed = merge_properties(schema, properties);
    if let Some(object) = schema.as_object_mut() {
        object.insert("required".into(), json!(["success", "message", "metadata"]));
        object.remove("additionalProperties");
    }
    shadowed
}

/// Adds `more`; returns the names that were there already, which are the type's mistake: its field would be shadowed.
fn merge_properties(schema: &mut Value, more: impl IntoIterator<Item = (String, Value)>) -> Vec<String> {
    let Some(object) = schema.as_object_mut() else { return Vec::new() };
    let Some(properties) = object.entry("properties").or_insert_with(|| json!({})).as_object_mut() else {
        return Vec::new();
    };
    more.into_iter()
        .filter_map(|(name, property)| {
            let shadowed = properties.contains_key(&name).then(|| name.clone());
            properties.insert(name, property);
            shadowed
        })
        .collect()
}

/// A compiled schema.
#[derive(Debug)]
pub struct Compiled(jsonschema::Validator);

impl Compiled {
    /// Compiles `schema`; patterns run in linear time, and nothing is fetched.
    pub fn new(schema: &Value) -> Result<Self, String> {
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map(Self)
            .map_err(|e| e.to_string())
    }

    /// What does not fit, at most `most` findings: `path: message`. Values are not repeated.
    #[must_use]
    pub fn errors(&self, value: &Value, most: usize) -> Vec<String> {
        // Nearly all fit, which is quicker to see.
        if self.0.is_valid(value) {
            return Vec::new();
        }
        self.0.iter_errors(value).take(most).map(|error| misfit::said(&error)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGE: Besides = Besides { kind: Kind::Change, asked: Asked::NAMES, pages: None };
    const LISTS: Besides = Besides { pages: Some(Pages { usual: 20, most: 50 }), ..CHANGE };

    /// Not shown to models.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Input {
        /// Which.
        which: Which,
        /// Maybe.
        maybe: Option<u32>,
        /// One of them, maybe.
        optional: Option<Which>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Which {
        /// The first.
        One,
        /// The second.
        Two,
    }

    #[test]
    fn schemas_have_no_nulls_and_plain_enums() {
        let schema = input::<Input>(CHANGE).schema;
        assert_eq!(schema["properties"]["which"]["enum"], json!(["one", "two"]));
        assert_eq!(schema["properties"]["optional"]["enum"], json!(["one", "two"]));
        assert_eq!(schema["properties"]["maybe"]["type"], "integer");
        assert_eq!(schema["required"], json!(["which"]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["apply"]["default"], false);
        assert!(!schema.to_string().contains("null") && schema.get("description").is_none());
    }

    #[test]
    fn a_tool_offers_what_it_takes_of_what_others_take() {
        let schema = input::<Input>(Besides { kind: Kind::Run, asked: &["timeout"], ..LISTS }).schema;
        let properties = schema["properties"].as_object().unwrap();
        assert!(properties.contains_key("timeout") && !properties.contains_key("args"), "{schema}");
        assert_eq!(schema["properties"]["limit"]["maximum"], 50);
        assert_eq!(schema["properties"]["limit"]["default"], 20);
    }

    /// Takes names that are the engine's.
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Greedy {
        /// Not the tool's to say.
        plan: String,
        /// Nor this.
        cursor: u8,
    }

    #[test]
    fn names_of_the_engine_are_found_in_a_tools_types() {
        assert_eq!(input::<Greedy>(LISTS).shadowed, ["plan", "cursor"]);
        assert_eq!(input::<Greedy>(CHANGE).shadowed, ["plan"]);
        assert_eq!(output::<Greedy>(false).shadowed, ["plan"]);
        assert!(input::<Input>(LISTS).shadowed.is_empty());
    }

    #[test]
    fn findings_name_the_place_and_not_the_value() {
        let compiled = Compiled::new(&input::<Input>(CHANGE).schema).unwrap();
        let errors = compiled.errors(&json!({"which": "hunter2", "surprise": 1}), 8);
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors.iter().all(|e| !e.contains("hunter2")), "{errors:?}");
    }
}
