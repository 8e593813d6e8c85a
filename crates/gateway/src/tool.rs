//! A tool of an upstream's, as the kit calls it.

use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Digest, Fault, ToolName};
use kit::erased::Boxed;
use kit::kinds::Definition;
use kit::resources::outside::Offers;
use kit::{Answer, Foreign, ForeignDesk};
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

use crate::asking::{self, Asker};
use crate::beside;
use crate::defang::defanged;
use crate::error::{SessionError, their_words};
use crate::identity::{self, Refusal};
use crate::link::{Link, gone};
use crate::media::{self, Gallery};
use crate::session::Session;

/// How long an upstream is left to itself that wants to be called again without having asked anything.
const AGAIN: Duration = Duration::from_millis(500);

/// A tool of an upstream's.
pub(crate) struct UpstreamTool {
    link: Arc<Link>,
    definition: Definition,
    there: String,
}

impl UpstreamTool {
    /// The tool with this identity, offered as `wire`.
    pub(crate) fn new(link: &Arc<Link>, wire: &str, identity: Value) -> Result<Self, Refusal> {
        let name = ToolName::new(wire).map_err(|e| Refusal(e.to_string()))?;
        let there =
            identity::name_there(&identity).ok_or_else(|| Refusal("it has no name".into()))?.to_owned();
        let definition = identity::definition(link.upstream(), name, identity)?;
        Ok(Self { link: Arc::clone(link), definition, there })
    }
}

impl Foreign for UpstreamTool {
    fn definition(&self) -> Definition {
        self.definition.clone()
    }

    fn offers(&self) -> Option<Offers> {
        let offers = beside::offers(&self.definition.identity)?;
        Some(beside::offered(self.link.name(), offers))
    }

    fn current(&self, desk: ForeignDesk) -> Boxed<Result<Value, Fault>> {
        let (link, there) = (Arc::clone(&self.link), self.there.clone());
        let (wire, approved) = (self.definition.name.clone(), self.definition.identity.clone());
        Box::pin(async move {
            if !link.wants(&there) {
                return Err(gone(wire.as_str(), None));
            }
            let (_, listed) = link.listed(desk.bearer()).await?;
            let mut named = listed.identities().filter(|i| identity::name_there(i) == Some(there.as_str()));
            match (named.next(), named.next()) {
                (Some(identity), None) => Ok(identity),
                (None, _) => Err(gone(wire.as_str(), link.renamed(&listed, &approved))),
                (Some(_), Some(_)) => Err(Fault::new(
                    Code::ApprovalRequired,
                    format!("{wire}: its upstream offers two tools of this name"),
                )),
            }
        })
    }

    fn call(&self, arguments: Value, desk: ForeignDesk) -> Boxed<Result<Answer<Map<String, Value>>, Fault>> {
        let (link, there, wire) = (Arc::clone(&self.link), self.there.clone(), self.definition.name.clone());
        let approved = self.definition.identity.clone();
        let wanted = identity::digest(&approved);
        Box::pin(async move {
            let Value::Object(arguments) = arguments else {
                return Err(Fault::internal("the arguments are no object"));
            };
            // Over the connection that its definition was asked for on: another may lead to another server.
            let mut session = link.session(desk.bearer()).await?;
            if session.last_said(&there) != Some(wanted) {
                session = link.listed(desk.bearer()).await?.0;
            }
            if session.last_said(&there) != Some(wanted) {
                return Err(Fault::new(
                    Code::ApprovalRequired,
                    format!("{wire}: its definition changed while it was called"),
                )
                .suggest("A person reads `gatewright approvals diff`."));
            }
            desk.progress(0.0, None, format!("asking {}", link.name()));
            let given_up = GivenUp { link: &link, session: &session };
            let (of, name) = (Arc::clone(&link), wire.to_string());
            let asking = session
                .calls()
                .begin(link.upstream(), wire.as_str(), desk.clone(), move || of.is_approved(&name, &wanted));
            let offered = beside::offers(&approved);
            let answered = match offered {
                None => {
                    let params = CallToolRequestParams::new(there.clone()).with_arguments(arguments);
                    rounds(&link, &session, params, (&desk, &asking.asker), wanted).await
                }
                Some(offered) => {
                    let answered =
                        beside::call((&session, link.gallery()), offered, &arguments, wire.as_str()).await;
                    answered.map(Answered::Beside)
                }
            };
            std::mem::forget(given_up);
            let answered = match answered {
                Ok(answered) => {
                    link.worked();
                    answered
                }
                Err(error) => {
                    let error = session.explained(error, link.name()).await;
                    link.failed(&error);
                    return Err(masked_fault(&session, error.of_call(link.name(), wire.as_str())));
                }
            };
            let answered = match answered {
                Answered::Tool(answered) => answered,
                Answered::Asks(why) => {
                    let message = format!("{wire}: its upstream {why}");
                    return Err(Fault::new(Code::ToolExecutionFailed, message));
                }
                Answered::Changed => {
                    let message = format!("{wire}: its definition changed while it was called");
                    return Err(Fault::new(Code::ApprovalRequired, message)
                        .suggest("A person reads `gatewright approvals diff`."));
                }
                Answered::Beside(answered) => {
                    return answered
                        .map(|answer| masked_answer(&session, answer))
                        .map(|answer| if link.defangs() { harmless(answer) } else { answer })
                        .map_err(|fault| masked_fault(&session, fault));
                }
            };
            match answered {
                CallToolResponse::Complete(result) => answer(wire.as_str(), result, link.gallery())
                    .map(|answer| masked_answer(&session, answer))
                    .map(|answer| if link.defangs() { harmless(answer) } else { answer })
                    .map(|mut answer| {
                        if let Some(untold) = asking.asker.untold() {
                            answer.message = format!("{}\n\n{untold}", answer.message);
                        }
                        answer
                    })
                    .map_err(|fault| masked_fault(&session, fault))
                    .map_err(|mut fault| {
                        if link.defangs() {
                            fault.message = defanged(&fault.message);
                        }
                        fault.suggestions.extend(asking.asker.untold());
                        fault
                    }),
                _ => Err(Fault::new(
                    Code::ToolExecutionFailed,
                    format!("{wire}: its upstream made a task of the call, which was not offered to it"),
                )),
            }
        })
    }
}

/// What came of a call.
enum Answered {
    /// Of a tool of its own.
    Tool(CallToolResponse),
    /// It asks for what it does not get.
    Asks(&'static str),
    /// It is not what was approved any more.
    Changed,
    /// Of what it has besides.
    Beside(Result<Answer<Map<String, Value>>, Fault>),
}

/// Calls a tool until it asks for nothing more: in the newer era a question is an answer, and the call is made again with
/// what the user said. Each round is looked at like a call.
async fn rounds(
    link: &Arc<Link>,
    session: &Arc<Session>,
    mut params: CallToolRequestParams,
    (desk, asker): (&ForeignDesk, &Asker),
    wanted: Digest,
) -> Result<Answered, SessionError> {
    let there = params.name.to_string();
    for round in 0..=kit::inquiry::MOST {
        if round > 0 {
            session.tools().await?;
            if session.last_said(&there) != Some(wanted) {
                return Ok(Answered::Changed);
            }
        }
        let required = match session.call(params.clone(), link.name(), desk).await? {
            CallToolResponse::InputRequired(required) => required,
            other => return Ok(Answered::Tool(other)),
        };
        match required.input_requests.filter(|requests| !requests.is_empty()) {
            None => {
                params.input_responses = None;
                tokio::time::sleep(AGAIN).await;
            }
            Some(requests) => match asking::answers(asker, &requests).await {
                Ok(answers) => params.input_responses = Some(answers),
                Err(why) => return Ok(Answered::Asks(why)),
            },
        }
        params.request_state = required.request_state;
    }
    Ok(Answered::Asks("asks for more again and again"))
}

/// A call that nobody waits for any more, when it is dropped.
struct GivenUp<'a> {
    link: &'a Arc<Link>,
    session: &'a Arc<Session>,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.link.gave_up(self.session);
    }
}

/// An answer in which nothing is fetched unasked and no link carries anything away.
fn harmless(mut answer: Answer<Map<String, Value>>) -> Answer<Map<String, Value>> {
    answer.message = defanged(&answer.message);
    answer.output = answer.output.into_iter().map(|(key, value)| (key, links_apart(value))).collect();
    answer
}

fn links_apart(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(defanged(&text)),
        Value::Array(items) => items.into_iter().map(links_apart).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (defanged(&key), links_apart(value))).collect()
        }
        other => other,
    }
}

/// The upstream's result as ours: its structured content, or what of its content is no text; the text is the message.
fn answer(
    wire: &str,
    result: CallToolResult,
    mut gallery: Gallery,
) -> Result<Answer<Map<String, Value>>, Fault> {
    let (mut text, mut rest) = (Vec::new(), Vec::new());
    for block in result.content {
        match block {
            ContentBlock::Text(block) => text.push(block.text),
            other => rest.push(described(other, &mut gallery)?),
        }
    }
    let text = text.join("\n\n");
    if result.is_error == Some(true) {
        return Err(their_words(wire, &text));
    }
    match result.structured_content {
        Some(Value::Object(output)) => {
            let mut message = if text.is_empty() { format!("{wire} answered.") } else { text };
            // Its output has no place for what comes beside it; the record is to have it all the same.
            let beside =
                rest.iter().filter(|part| part.get("attached").or_else(|| part.get("omitted")).is_some());
            for part in beside {
                message.push_str(&format!("\n\nBeside it: `{part}`."));
            }
            Ok(Answer { media: gallery.all, ..Answer::new(message, output) })
        }
        Some(_) => Err(Fault::new(
            Code::ToolExecutionFailed,
            format!("{wire}: its upstream answers with structured content that is no object"),
        )),
        None => {
            let count = rest.len();
            let message = match (text.is_empty(), count) {
                (true, 0) => format!("{wire} answered without content."),
                (true, _) => format!("{wire} answered with {}.", contract::text::counted(count, "block")),
                (false, _) => text,
            };
            let output = Map::from_iter([("content".to_owned(), Value::Array(rest))]);
            Ok(Answer { media: gallery.all, ..Answer::new(message, output) })
        }
    }
}

fn masked_fault(session: &Session, mut fault: Fault) -> Fault {
    fault.message = session.masked(fault.message);
    fault
}

fn masked_answer(session: &Session, mut answer: Answer<Map<String, Value>>) -> Answer<Map<String, Value>> {
    answer.message = session.masked(answer.message);
    if let Value::Object(output) = masked(session, Value::Object(std::mem::take(&mut answer.output))) {
        answer.output = output;
    }
    answer
}

fn masked(session: &Session, value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(session.masked(text)),
        Value::Array(items) => items.into_iter().map(|item| masked(session, item)).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (session.masked(key), masked(session, value))).collect()
        }
        other => other,
    }
}

/// A block that is no text. Bytes go into the gallery, and what they are is said.
pub(crate) fn described(block: ContentBlock, gallery: &mut Gallery) -> Result<Value, Fault> {
    let described = match block {
        ContentBlock::Image(image) => gallery.hung("image", Some(&image.mime_type), &image.data),
        ContentBlock::Audio(audio) => gallery.hung("audio", Some(&audio.mime_type), &audio.data),
        ContentBlock::Resource(inner) => match inner.resource {
            blob @ ResourceContents::BlobResourceContents { .. } => resource(blob, gallery)?,
            text => json!({ "type": "resource", "resource": resource(text, gallery)? }),
        },
        other => plain(&other)?,
    };
    Ok(without_looks(described))
}

/// What a resource holds. Bytes go into the gallery, and what they are is said.
pub(crate) fn resource(contents: ResourceContents, gallery: &mut Gallery) -> Result<Value, Fault> {
    Ok(match contents {
        ResourceContents::BlobResourceContents { mime_type, blob, uri, .. } => {
            if let Some(text) = media::text(mime_type.as_deref(), &blob) {
                return Ok(json!({ "uri": uri, "mimeType": mime_type, "text": text }));
            }
            let mut told = gallery.hung("resource", mime_type.as_deref(), &blob);
            told["uri"] = json!(uri);
            told
        }
        text => without_looks(plain(&text)?),
    })
}

/// A block without icons, which clients would fetch or draw, and without what is for programs that know more than we do.
fn without_looks(mut block: Value) -> Value {
    if let Some(block) = block.as_object_mut() {
        for name in ["icons", "_meta"] {
            block.remove(name);
        }
        if let Some(Value::Object(inner)) = block.get_mut("resource") {
            inner.remove("_meta");
        }
    }
    block
}

fn plain(value: &impl serde::Serialize) -> Result<Value, Fault> {
    serde_json::to_value(value).map_err(|e| Fault::internal(e.to_string()))
}
