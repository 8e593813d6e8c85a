//! Resources and prompts: what the engine has to be read, in the protocol's words.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::{CallId, Code, Fault, Principal};
use kit::consent::Consent;
use kit::resources::outside::{Message, Prompt as Theirs, Thing};
use kit::resources::{Body, Content, Listed, PAGE, READ, Template};
use kit::{Call, House, Session};
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, Prompt, PromptArgument, PromptMessage, ReadResourceResult, Reference, Resource,
    ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::block;

/// How long a list that cannot change while the server runs counts as fresh, in milliseconds.
pub(crate) const STEADY: u64 = 3_600_000;

/// The same for what changes with every call.
pub(crate) const FLEETING: u64 = 0;

/// A fault where the protocol has no result that could carry it.
pub(crate) fn error(fault: &Fault) -> ErrorData {
    let code = match fault.code {
        Code::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        Code::InvalidArgument => ErrorCode::INVALID_PARAMS,
        Code::Internal => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    };
    let said = std::iter::once(&fault.message).chain(&fault.suggestions).cloned().collect::<Vec<_>>();
    ErrorData::new(code, said.join(". "), Some(json!({ "error": fault })))
}

/// A read, as the pipeline's call.
pub(crate) fn call(id: String, caller: Principal, session: Session, cancel: CancellationToken) -> Call {
    Call {
        id: CallId(id),
        tool: READ.to_owned(),
        arguments: Value::Null,
        principal: caller,
        bearer: None,
        client: None,
        from: None,
        inquiries: None,
        session: Some(session),
        consent: Consent::default(),
        detach: false,
        cancel,
        progress: std::sync::Arc::new(|_| {}),
    }
}

/// Where a page begins, by its cursor.
pub(crate) fn offset(cursor: Option<String>, method: &str) -> Result<usize, ErrorData> {
    let unknown = || ErrorData::invalid_params(format!("unknown cursor: call {method} without one"), None);
    match cursor {
        None => Ok(0),
        Some(text) => text.strip_prefix("from-").and_then(|n| n.parse().ok()).ok_or_else(unknown),
    }
}

/// The cursor of the page that begins there.
pub(crate) fn cursor(offset: usize) -> String {
    format!("from-{offset}")
}

pub(crate) async fn resources(
    house: &House,
    caller: &Principal,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let offset = offset(cursor, "resources/list")?;
    let (page, next, ours) = house.resources(caller, offset).await.map_err(|fault| error(&fault))?;
    let resource = |listed: Listed| {
        let described = format!("{}, {}", listed.template.title, listed.since);
        let (name, description) = listed.named.unwrap_or_else(|| (listed.uri.clone(), described));
        Resource::new(listed.uri, name)
            .with_title(listed.title)
            .with_description(description)
            .with_mime_type(listed.template.mime)
    };
    let mut page: Vec<Resource> = page.into_iter().map(resource).collect();
    // What is others' follows on the last page of ours, and goes on in pages of its own.
    let (mut next, room) = (next, PAGE.saturating_sub(page.len()));
    if next.is_none() {
        let theirs = house.outside_resources(caller);
        let begin = offset.saturating_sub(ours);
        let shown: Vec<Resource> = theirs.iter().skip(begin).take(room).map(outside).collect();
        let end = begin + shown.len();
        next = (end < theirs.len()).then_some(ours + end);
        page.extend(shown);
    }
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = next.map(self::cursor);
    Ok(result)
}

/// A resource of others, as it is listed.
fn outside(thing: &Thing) -> Resource {
    let mut listed = Resource::new(thing.uri.clone(), thing.name.clone());
    listed.title.clone_from(&thing.title);
    listed.description.clone_from(&thing.description);
    listed.mime_type.clone_from(&thing.mime);
    listed
}

pub(crate) fn templates(house: &House, caller: &Principal) -> ListResourceTemplatesResult {
    let template = |template: Template| {
        ResourceTemplate::new(template.uri(), template.scheme)
            .with_title(template.title)
            .with_description(template.description)
            .with_mime_type(template.mime)
    };
    let outside = |thing: Thing| {
        let mut listed = ResourceTemplate::new(thing.uri, thing.name);
        (listed.title, listed.description) = (thing.title, thing.description);
        listed.mime_type = thing.mime;
        listed
    };
    let ours = house.templates().into_iter().map(template);
    let theirs = house.outside_templates(caller).into_iter().map(outside);
    ListResourceTemplatesResult::with_all_items(ours.chain(theirs).collect())
}

pub(crate) async fn read(house: &House, uri: &str, call: Call) -> Result<ReadResourceResult, ErrorData> {
    if uri.starts_with("upstream://") {
        let held = house.read_outside(uri, call).await.map_err(|fault| error(&fault))?;
        let all = held.into_iter().map(|held| {
            let contents = match held.media {
                Some(media) => ResourceContents::blob(media.data, held.uri),
                None => ResourceContents::text(held.text, held.uri),
            };
            contents.with_mime_type(held.mime)
        });
        return Ok(ReadResourceResult::new(all.collect()));
    }
    let content = house.read(uri, call).await.map_err(|fault| error(&fault))?;
    Ok(ReadResourceResult::new(vec![contents(content, uri)]))
}

/// What is read, as the protocol has it: bytes that are no text in base64.
fn contents(content: Content, uri: &str) -> ResourceContents {
    let Content { mime, body } = content;
    match body {
        Body::Text(text) => ResourceContents::text(text, uri).with_mime_type(mime),
        Body::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(mime),
    }
}

pub(crate) fn prompts(house: &House, caller: &Principal) -> ListPromptsResult {
    let prompt = |prompt: &kit::prompts::Prompt| {
        let argument = |argument: &kit::prompts::Argument| {
            PromptArgument::new(argument.name)
                .with_description(argument.description)
                .with_required(argument.required)
        };
        let arguments = prompt.arguments.iter().map(argument).collect();
        Prompt::new(prompt.name, Some(prompt.description), Some(arguments)).with_title(prompt.title)
    };
    let outside = |theirs: Theirs| {
        let argument = |(name, about, required): (String, Option<String>, bool)| {
            let argument = PromptArgument::new(name).with_required(required);
            about.into_iter().fold(argument, PromptArgument::with_description)
        };
        let arguments = theirs.arguments.into_iter().map(argument).collect();
        let mut listed = Prompt::new(theirs.name, theirs.description, Some(arguments));
        listed.title = theirs.title;
        listed
    };
    let theirs = house.outside_prompts(caller).into_iter().map(outside);
    ListPromptsResult::with_all_items(house.prompts().map(prompt).chain(theirs).collect())
}

pub(crate) async fn prompt(
    house: &House,
    request: GetPromptRequestParams,
    call: Call,
) -> Result<GetPromptResult, ErrorData> {
    if request.name.contains("__") {
        let given = request.arguments.clone().unwrap_or_default();
        if let Some(said) = house.say_outside(&request.name, &given, call.clone()).await {
            let said = said.map_err(|fault| error(&fault))?;
            let message = |message: Message| {
                let role = if message.is_users { Role::User } else { Role::Assistant };
                match message.media.and_then(block) {
                    Some(shown) => PromptMessage::new(role, shown),
                    None => PromptMessage::new_text(role, message.text),
                }
            };
            return Ok(GetPromptResult::new(said.into_iter().map(message).collect()));
        }
    }
    let mut arguments = BTreeMap::new();
    for (name, value) in request.arguments.unwrap_or_default() {
        let Value::String(text) = value else {
            return Err(ErrorData::invalid_params(format!("{name} is not a text"), None));
        };
        arguments.insert(name, text);
    }
    let said = house.say(&request.name, &arguments, call).await.map_err(|fault| match fault.code {
        // A prompt that is not there is an argument that does not fit, not a resource that is missing.
        Code::NotFound if house.prompt(&request.name).is_err() => {
            ErrorData::invalid_params(error(&fault).message, None)
        }
        _ => error(&fault),
    })?;
    let shown = said.shown.map(|(uri, content)| ContentBlock::resource(contents(content, &uri)));
    let mut messages = vec![PromptMessage::new_text(Role::User, said.text)];
    messages.extend(shown.map(|shown| PromptMessage::new(Role::User, shown)));
    Ok(GetPromptResult::new(messages))
}

/// What begins like the value that is being entered.
pub(crate) async fn complete(
    house: &House,
    request: &CompleteRequestParams,
    caller: &Principal,
) -> Result<CompleteResult, ErrorData> {
    let wrong = |why: String| ErrorData::invalid_params(why, None);
    let scheme = match &request.r#ref {
        Reference::Prompt(named) => {
            let theirs = house.outside_prompts(caller);
            if theirs.iter().any(|prompt| prompt.name == named.name) {
                // What is entered is not told to anybody before it is sent off.
                return Ok(CompleteResult::default());
            }
            let prompt = house.prompt(&named.name).map_err(|fault| wrong(fault.message))?;
            let argument = prompt.arguments.iter().find(|argument| argument.name == request.argument.name);
            let argument = argument
                .ok_or_else(|| wrong(format!("{} takes no {}", named.name, request.argument.name)))?;
            argument.completed_by
        }
        Reference::Resource(named) => {
            if house.outside_templates(caller).iter().any(|thing| thing.uri == named.uri) {
                return Ok(CompleteResult::default());
            }
            let template = house.templates().into_iter().find(|template| template.uri() == named.uri);
            let template = template.ok_or_else(|| wrong(format!("there is no template {}", named.uri)))?;
            Some(template.scheme).filter(|_| request.argument.name == "id")
        }
        _ => return Err(wrong("a completion is about a prompt or a resource template".into())),
    };
    let names = match scheme {
        None => Vec::new(),
        Some(scheme) => {
            let names = house.names(caller, scheme, &request.argument.value).await;
            names.map_err(|fault| error(&fault))?
        }
    };
    let total = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let shown: Vec<String> = names.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    let has_more = total as usize > shown.len();
    let completion = CompletionInfo::with_pagination(shown, Some(total), has_more)
        .map_err(|e| ErrorData::internal_error(e, None))?;
    Ok(CompleteResult::new(completion))
}
