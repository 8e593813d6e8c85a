//! What an upstream asks users: whose call a question belongs to, what of it is shown, and what of the answer goes back.
//!
//! A question is text of a stranger's that a person reads and answers. So it is shown as that stranger's, cleaned and
//! bounded, its form of the primitive kinds that the protocol has and no others; what goes back is what was asked for.

use std::sync::{Arc, Mutex, PoisonError};

use contract::{Digest, text};
use kit::ForeignDesk;
use kit::inquiry::{Question, Replied, Wanted};
use reqwest::Url;
use rmcp::model::{ElicitRequestParams, InputRequest, InputRequests, InputResponses};
use serde_json::{Map, Value, json};

use crate::config::{Questions, Upstream};
use crate::defang::defanged;

/// Longest text of a question, in bytes.
const MAX_TEXT: usize = 1_000;

/// Most fields of a form, and most choices of one field.
const MAX_FIELDS: usize = 24;
const MAX_CHOICES: usize = 100;

/// Longest title, description, value or name in a form, in bytes.
const MAX_LABEL: usize = 200;

/// Longest address of a page.
const MAX_URL: usize = 2_000;

/// Most reasons that one answer gives why something was not asked.
const MAX_REASONS: usize = 3;

/// The calls that are being made over a connection.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Vec<Arc<Asker>>>>);

/// One of them, as far as it may ask.
pub(crate) struct Asker {
    desk: ForeignDesk,
    /// What its tool is called here.
    tool: String,
    upstream: String,
    questions: Questions,
    defangs: bool,
    /// Whether it is still approved: that may end while somebody reads a question.
    is_approved: Box<dyn Fn() -> bool + Send + Sync>,
    /// Why something was not asked.
    untold: Mutex<Vec<String>>,
}

/// A call that may ask, until it is dropped.
pub(crate) struct Asking {
    calls: Calls,
    pub(crate) asker: Arc<Asker>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|other| !Arc::ptr_eq(other, &self.asker));
    }
}

impl Calls {
    /// Notes that a call of `tool` is being made for the caller at `desk`.
    pub(crate) fn begin(
        &self,
        upstream: &Upstream,
        tool: &str,
        desk: ForeignDesk,
        is_approved: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Asking {
        let asker = Arc::new(Asker {
            desk,
            tool: tool.to_owned(),
            upstream: upstream.name.clone(),
            questions: upstream.questions,
            defangs: upstream.defang,
            is_approved: Box::new(is_approved),
            untold: Mutex::default(),
        });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&asker));
        Asking { calls: self.clone(), asker }
    }

    /// Asks for whichever call it is: a request does not say. Where calls of several callers are being made, nobody knows
    /// whose user is meant, and nobody is asked.
    pub(crate) async fn ask(&self, params: &ElicitRequestParams) -> Replied {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let callers: Vec<Digest> = all.iter().map(|call| call.desk.principal().key()).collect();
        let Some(last) = all.last() else { return Replied::Declined };
        if callers.iter().any(|caller| Some(caller) != callers.first()) {
            for call in &all {
                call.leave("calls of others were made over the same connection");
            }
            return Replied::Declined;
        }
        last.ask(params).await
    }
}

impl Asker {
    fn leave(&self, why: &str) {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        if untold.len() < MAX_REASONS && !untold.iter().any(|other| other == why) {
            untold.push(why.to_owned());
        }
    }

    /// What an answer says of what was not asked; nothing where all was.
    pub(crate) fn untold(&self) -> Option<String> {
        let untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        (!untold.is_empty()).then(|| {
            let why = untold.join("; ");
            format!("`{}` wanted to ask the user something and was declined: {why}.", self.upstream)
        })
    }

    /// Asks, and gives what the upstream is to be told.
    pub(crate) async fn ask(&self, params: &ElicitRequestParams) -> Replied {
        let question = match self.question(params) {
            Ok(question) => question,
            Err(why) => {
                self.leave(&why);
                return Replied::Declined;
            }
        };
        let form = match &question.wanted {
            Wanted::Form(form) => Some(form.clone()),
            Wanted::Page(_) => None,
        };
        match self.desk.ask(question).await {
            Replied::Unasked => {
                self.leave("whoever calls cannot show its question to a user");
                Replied::Declined
            }
            Replied::Accepted(_) if !(self.is_approved)() => {
                self.leave("its approval was taken back meanwhile");
                Replied::Declined
            }
            Replied::Accepted(given) => match form {
                None => Replied::Accepted(Map::new()),
                Some(form) => filled(&form, given).map_or(Replied::Cancelled, Replied::Accepted),
            },
            other => other,
        }
    }

    /// The question as it is shown.
    fn question(&self, params: &ElicitRequestParams) -> Result<Question, String> {
        if self.questions == Questions::Never {
            return Err("the user's configuration lets it ask nothing".to_owned());
        }
        let (said, wanted) = match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(requested_schema).map_err(|e| e.to_string())?;
                (message, Wanted::Form(form(&schema)?))
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                if self.questions != Questions::Pages {
                    return Err("the user's configuration does not let it open pages".to_owned());
                }
                (message, Wanted::Page(page(url)?))
            }
            _ => return Err("its question is of a kind that is not understood".to_owned()),
        };
        let said = if self.defangs { defanged(said) } else { said.clone() };
        let said = kit::shape::bounded(&text::visible(&said), MAX_TEXT);
        // Each line is marked as its own: none passes for ours.
        let said: Vec<String> = said.lines().map(|line| format!("> {line}")).collect();
        let (upstream, tool, said) = (&self.upstream, &self.tool, said.join("\n"));
        let text = match &wanted {
            Wanted::Form(_) => format!(
                "The upstream server `{upstream}` asks, for its tool {tool}:\n{said}\nWhat you answer goes to that server. \
                 Give it no passwords and no keys.\n"
            ),
            Wanted::Page(url) => format!(
                "The upstream server `{upstream}` asks, for its tool {tool}, that you open {url}\n{said}\nGatewright does \
                 not know that page.\n"
            ),
        };
        Ok(Question { text, wanted })
    }
}

/// What the requests of an answer that asks are answered with; or why it is not.
pub(crate) async fn answers(asker: &Asker, requests: &InputRequests) -> Result<InputResponses, &'static str> {
    let mut answers = InputResponses::new();
    for (key, request) in requests {
        let InputRequest::Elicitation(request) = request else {
            return Err("asks for a model's answer or for roots, which it is not given");
        };
        answers.insert(key.clone(), result(&asker.ask(&request.params).await));
    }
    Ok(answers)
}

/// An answer in the protocol's words.
pub(crate) fn result(replied: &Replied) -> Value {
    match replied {
        Replied::Accepted(given) => json!({ "action": "accept", "content": given }),
        Replied::Cancelled => json!({ "action": "cancel" }),
        Replied::Declined | Replied::Unasked => json!({ "action": "decline" }),
    }
}

/// The address of a page that may be opened.
fn page(url: &str) -> Result<String, String> {
    let parsed = Url::parse(url).map_err(|_| "the page that it wants opened has no address".to_owned())?;
    let is_here = matches!(parsed.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let is_safe = parsed.scheme() == "https" || parsed.scheme() == "http" && is_here;
    let is_plain = parsed.username().is_empty() && parsed.password().is_none();
    if !is_safe || !is_plain || parsed.as_str().len() > MAX_URL {
        return Err("the page that it wants opened is none of https".to_owned());
    }
    Ok(parsed.to_string())
}

/// A form as it is shown: of the protocol's primitive kinds, without what is hidden.
fn form(schema: &Value) -> Result<Value, String> {
    let none = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if fields.len() > MAX_FIELDS {
        return Err(format!("its form has more than {MAX_FIELDS} fields"));
    }
    let mut shown = Map::new();
    for (name, own) in fields {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || name.len() > MAX_LABEL || !name.chars().all(is_name) {
            return Err("its form has a field with a name that cannot be shown".to_owned());
        }
        let own = own.as_object().ok_or("its form has a field that is none")?;
        shown.insert(name.clone(), Value::Object(field(own)?));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&Value> =
        required.filter(|name| name.as_str().is_some_and(|name| shown.contains_key(name))).collect();
    let mut form = json!({ "type": "object", "required": required });
    form["properties"] = Value::Object(shown);
    Ok(form)
}

fn field(own: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut shown = Map::new();
    for (key, said) in own {
        let kept = match (key.as_str(), said) {
            ("title" | "description", Value::String(said)) => json!(label(said)),
            ("type" | "format", Value::String(_))
            | (
                "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems",
                Value::Number(_),
            )
            | ("default", Value::Bool(_) | Value::Number(_)) => said.clone(),
            ("default" | "const", Value::String(said)) => json!(value(said)?),
            ("default" | "enum", Value::Array(all)) => Value::Array(few(all, text_value)?),
            ("enumNames", Value::Array(all)) => {
                Value::Array(few(all, |one| Ok(json!(label(one.as_str().unwrap_or_default()))))?)
            }
            ("oneOf" | "anyOf", Value::Array(all)) => Value::Array(few(all, |one| {
                let one = one.as_object().ok_or("its form has a choice that is none")?;
                Ok(Value::Object(field(one)?))
            })?),
            ("items", Value::Object(inner)) => Value::Object(field(inner)?),
            _ => continue,
        };
        shown.insert(key.clone(), kept);
    }
    Ok(shown)
}

fn few(all: &[Value], shown: impl Fn(&Value) -> Result<Value, String>) -> Result<Vec<Value>, String> {
    if all.len() > MAX_CHOICES {
        return Err(format!("its form has a field with more than {MAX_CHOICES} choices"));
    }
    all.iter().map(shown).collect()
}

fn text_value(said: &Value) -> Result<Value, String> {
    Ok(json!(value(said.as_str().ok_or("its form has a choice that is no text")?)?))
}

/// What goes back as it is, so it is shown as it is, or not at all.
fn value(said: &str) -> Result<&str, String> {
    if said.len() > MAX_LABEL || text::visible(said) != said {
        return Err("its form has a value that cannot be shown".to_owned());
    }
    Ok(said)
}

fn label(said: &str) -> String {
    kit::shape::bounded(&text::visible(said).replace('\n', " "), MAX_LABEL)
}

/// What was given, as far as it was asked for; nothing where it does not fit.
fn filled(form: &Value, given: Map<String, Value>) -> Option<Map<String, Value>> {
    let fields = form.get("properties")?.as_object()?;
    let given: Map<String, Value> =
        given.into_iter().filter(|(name, value)| fields.contains_key(name) && !value.is_null()).collect();
    let fits_all = given.iter().all(|(name, value)| fields.get(name).is_some_and(|field| fits(field, value)));
    let required = form.get("required").and_then(Value::as_array).into_iter().flatten();
    let is_whole = required.filter_map(Value::as_str).all(|name| given.contains_key(name));
    (fits_all && is_whole).then_some(given)
}

fn fits(field: &Value, value: &Value) -> bool {
    let bound = |name: &str| field.get(name).and_then(Value::as_f64);
    let within = |n: f64, least: &str, most: &str| {
        bound(least).is_none_or(|least| n >= least) && bound(most).is_none_or(|most| n <= most)
    };
    #[expect(clippy::cast_precision_loss, reason = "lengths are small")]
    let long = |n: usize| n as f64;
    match (field.get("type").and_then(Value::as_str), value) {
        (Some("boolean"), Value::Bool(_)) => true,
        (Some("integer"), Value::Number(n)) => {
            n.as_f64().is_some_and(|n| n.fract() == 0.0 && within(n, "minimum", "maximum"))
        }
        (Some("number"), Value::Number(n)) => n.as_f64().is_some_and(|n| within(n, "minimum", "maximum")),
        (Some("string"), Value::String(said)) => {
            let is_choice = choices(field).is_none_or(|all| all.contains(&said.as_str()));
            is_choice && within(long(said.chars().count()), "minLength", "maxLength")
        }
        (Some("array"), Value::Array(all)) => {
            let known = field.get("items").and_then(choices).unwrap_or_default();
            let is_known = |one: &Value| one.as_str().is_some_and(|one| known.contains(&one));
            all.iter().all(is_known) && within(long(all.len()), "minItems", "maxItems")
        }
        _ => false,
    }
}

/// What a field may be, where it is one of a few.
fn choices(field: &Value) -> Option<Vec<&str>> {
    let listed = field.get("enum").and_then(Value::as_array);
    if let Some(listed) = listed {
        return Some(listed.iter().filter_map(Value::as_str).collect());
    }
    let titled = field.get("oneOf").or_else(|| field.get("anyOf"))?.as_array()?;
    Some(titled.iter().filter_map(|one| one.get("const")?.as_str()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_of_the_primitive_kinds_and_nothing_in_them_hides() {
        let schema = json!({ "type": "object", "x-own": 1, "required": ["name", "gone"], "properties": {
            "name": { "type": "string", "title": "Na\u{200b}me", "description": "Yo\u{1b}[2Jurs\nall", "x-own": {} },
            "pet": { "type": "string", "oneOf": [{ "const": "cat", "title": "A c\u{202e}at" }] },
        } });
        let shown = form(&schema).unwrap();
        assert_eq!(
            shown["properties"]["name"],
            json!({ "type": "string", "title": "Name", "description": "Yo[2Jurs all" })
        );
        assert_eq!(shown["properties"]["pet"]["oneOf"][0], json!({ "const": "cat", "title": "A cat" }));
        assert_eq!((&shown["required"], shown.get("x-own")), (&json!(["name"]), None));
        let many: Map<String, Value> =
            (0..30).map(|n| (format!("f{n}"), json!({ "type": "boolean" }))).collect();
        for (wrong, why) in [
            (json!({ "properties": { "a\u{200b}": { "type": "string" } } }), "name"),
            (json!({ "properties": { "a": { "type": "string", "enum": ["x\u{200b}"] } } }), "value"),
            (json!({ "properties": { "a": { "type": "string", "enum": vec!["x"; 200] } } }), "choices"),
            (json!({ "properties": many }), "fields"),
        ] {
            assert!(form(&wrong).unwrap_err().contains(why), "{wrong}");
        }
    }

    #[test]
    fn what_goes_back_is_what_was_asked_for_and_fits() {
        let form = json!({ "required": ["n"], "properties": {
            "n": { "type": "integer", "minimum": 1, "maximum": 9 },
            "pet": { "type": "string", "enum": ["cat", "dog"] },
            "some": { "type": "array", "maxItems": 1, "items": { "anyOf": [{ "const": "a" }, { "const": "b" }] } },
            "yes": { "type": "boolean" },
            "text": { "type": "string", "maxLength": 3 },
        } });
        let given = |value: Value| filled(&form, value.as_object().unwrap().clone());
        let whole = given(
            json!({ "n": 3, "pet": "dog", "some": ["a"], "yes": true, "text": "abc", "more": "secret" }),
        );
        assert_eq!(
            Value::Object(whole.unwrap()),
            json!({ "n": 3, "pet": "dog", "some": ["a"], "yes": true, "text": "abc" })
        );
        for wrong in [
            json!({}),
            json!({ "n": 10 }),
            json!({ "n": 1.5 }),
            json!({ "n": "1" }),
            json!({ "n": 1, "pet": "cow" }),
            json!({ "n": 1, "some": ["a", "b"] }),
            json!({ "n": 1, "some": ["c"] }),
            json!({ "n": 1, "text": "long" }),
            json!({ "n": 1, "yes": "true" }),
        ] {
            assert_eq!(given(wrong.clone()), None, "{wrong}");
        }
    }

    #[test]
    fn pages_are_of_https_or_of_this_machine_and_carry_no_credentials() {
        assert!(page("https://docs.example/sign-in?id=1").is_ok() && page("http://127.0.0.1:9/x").is_ok());
        for wrong in [
            "http://docs.example/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://me@docs.example/",
            "x",
        ] {
            assert!(page(wrong).is_err(), "{wrong}");
        }
    }
}
