//! What an upstream has besides tools: resources, templates of them, and prompts. Where the user wants them they are offered as
//! two tools, whose definitions hold all that is said of them, so that a person approves them as anything else, and
//! another list, another template or other instructions are another definition.

use contract::{Code, Fault, text};
use kit::Answer;
use kit::resources::outside::{Offers, Prompt, Thing};
use rmcp::model::{
    ClientRequest, GetPromptRequestParams, GetPromptResponse, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerResult,
};
use serde_json::{Map, Value, json};

use crate::error::SessionError;
use crate::media::Gallery;
use crate::name;
use crate::session::Session;
use crate::tool::{described, resource};

/// The tool that reads resources, and that which gives prompts.
pub(crate) const READ: &str = "resource_read";
/// The same, for prompts.
pub(crate) const PROMPT: &str = "prompt_get";

/// The key of a definition that is one of these, with what it offers.
const OFFERS: &str = "gatewright/offers";

/// Most resources, templates or prompts of one upstream, each.
const MOST: usize = 500;

/// Most pages of a list.
const MAX_PAGES: usize = 32;

/// Longest description that models are shown, in bytes.
const MAX_DESCRIBED: usize = 3_000;

/// Longest description of one thing that is listed, in bytes.
const MAX_ABOUT: usize = 1_000;

/// What of it is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) resources: bool,
    pub(crate) prompts: bool,
}

/// Which kind of thing a definition offers, where it is one of ours about them.
pub(crate) fn offers(identity: &Value) -> Option<&Value> {
    identity.get("tool")?.get(OFFERS)
}

/// What a definition offers, for lists: without what is hidden. Prompts have names like tools; of those that would have one
/// name none is there.
pub(crate) fn offered(upstream: &str, offers: &Value) -> Offers {
    let all = |list: &str| offers.get(list).and_then(Value::as_array).into_iter().flatten();
    let said = |of: &Value, field: &str| of.get(field).and_then(Value::as_str).map(text::visible);
    let short = |of: &Value, field: &str| said(of, field).map(|text| kit::shape::bounded(&text, MAX_ABOUT));
    let thing = |uri: &'static str| {
        move |of: &Value| {
            Some(Thing {
                uri: of.get(uri)?.as_str()?.to_owned(),
                name: said(of, "name").unwrap_or_default(),
                title: short(of, "title"),
                description: short(of, "description"),
                mime: said(of, "mimeType"),
            })
        }
    };
    let argument = |of: &Value| {
        let is_required = of.get("required").and_then(Value::as_bool).unwrap_or_default();
        // A name goes back as it is.
        let name = said(of, "name").filter(|name| of.get("name").and_then(Value::as_str) == Some(name))?;
        Some((name, short(of, "description"), is_required))
    };
    let prompt = |of: &Value| {
        let there = of.get("name")?.as_str()?;
        let arguments = of.get("arguments").and_then(Value::as_array).into_iter().flatten();
        Some(Prompt {
            name: name::wire(upstream, there).ok()?.to_string(),
            there: there.to_owned(),
            title: short(of, "title"),
            description: short(of, "description"),
            arguments: arguments.filter_map(argument).collect(),
        })
    };
    let mut prompts: Vec<Prompt> = all("prompts").filter_map(prompt).collect();
    let looks: Vec<String> = prompts.iter().map(|prompt| name::skeleton(&prompt.name)).collect();
    prompts.retain(|prompt| {
        let look = name::skeleton(&prompt.name);
        looks.iter().filter(|other| **other == look).count() == 1
    });
    let resources = all("resources").filter_map(thing("uri")).collect();
    let templates = all("templates").filter_map(thing("uriTemplate")).collect();
    Offers { resources, templates, prompts }
}

/// A list of things, as far as anything of them is passed on: what is not understood is dropped, and reaches nobody.
macro_rules! every {
    ($session:expr, $request:ident, $result:ident, $field:ident) => {{
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let request = ClientRequest::$request($request::with_param(params));
            let ServerResult::$result(page) = $session.ask(request).await? else {
                return Err(SessionError::Failed("a list of it is none".to_owned()));
            };
            for item in page.$field {
                let mut item = serde_json::to_value(item)
                    .map_err(|e| SessionError::Failed(format!("a list of it cannot be kept: {e}")))?;
                if let Some(item) = item.as_object_mut() {
                    item.remove("icons");
                    item.remove("_meta");
                }
                all.push(item);
            }
            if all.len() > MOST {
                return Err(SessionError::Failed(format!("one of its lists has more than {MOST} entries")));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        if cursor.is_some() {
            return Err(SessionError::Failed(format!("one of its lists has more than {MAX_PAGES} pages")));
        }
        all
    }};
}

/// The definitions of what is wanted and there, as the upstream says it now.
pub(crate) async fn definitions(session: &Session, wanted: Wanted) -> Result<Vec<Value>, SessionError> {
    let mut all = Vec::new();
    let instructions = session.instructions();
    if wanted.resources {
        let resources = every!(session, ListResourcesRequest, ListResourcesResult, resources);
        // Not every server knows of templates.
        let templates = async {
            Ok(every!(session, ListResourceTemplatesRequest, ListResourceTemplatesResult, resource_templates))
        };
        let templates = match templates.await {
            Err(SessionError::Answered { .. }) => Vec::new(),
            templates => templates?,
        };
        let named = resources.iter().map(|r| ("uri", r)).chain(templates.iter().map(|t| ("uriTemplate", t)));
        all.push(json!({
            "name": READ,
            "title": "Read a resource",
            "description": listed("Reads one of these resources:", named),
            "inputSchema": {
                "type": "object",
                "properties": { "uri": { "type": "string", "description": "Its URI." } },
                "required": ["uri"],
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": true },
            OFFERS: { "resources": resources, "templates": templates, "instructions": instructions },
        }));
    }
    if wanted.prompts {
        let prompts = every!(session, ListPromptsRequest, ListPromptsResult, prompts);
        all.push(json!({
            "name": PROMPT,
            "title": "Get a prompt",
            "description": listed("Gives one of these prompts:", prompts.iter().map(|p| ("name", p))),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "name": { "type": "string", "description": "Its name." },
                    "arguments": {
                        "type": "object",
                        "additionalProperties": { "type": "string" },
                        "description": "What it takes, by name.",
                    },
                },
                "required": ["name"],
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": true },
            OFFERS: { "prompts": prompts, "instructions": instructions },
        }));
    }
    Ok(all)
}

/// What there is, for models: a line each, as many as fit.
fn listed<'a>(intro: &str, things: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let (mut said, mut left) = (intro.to_owned(), 0);
    for (key, thing) in things {
        let text = |field: &str| thing.get(field).and_then(Value::as_str).unwrap_or_default();
        let about = [text("title"), text("description")].into_iter().find(|text| !text.is_empty());
        let takes = thing.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let takes: Vec<&str> = takes.filter_map(|a| a.get("name")?.as_str()).collect();
        let takes = if takes.is_empty() { String::new() } else { format!(" ({})", takes.join(", ")) };
        let about = about.or(Some(text("name"))).filter(|about| !about.is_empty() && key != "name");
        let about = about.or_else(|| Some(text("description")).filter(|text| !text.is_empty()));
        let about = about.map(|about| format!(": {}", kit::shape::bounded(about, 200))).unwrap_or_default();
        let line = text::visible(&format!("\n- {}{takes}{about}", text(key)));
        if said.len() + line.len() > MAX_DESCRIBED {
            left += 1;
        } else {
            said.push_str(&line.replace('\n', " ").replacen(" - ", "\n- ", 1));
        }
    }
    if left > 0 {
        said.push_str(&format!("\n… and {left} more"));
    }
    said
}

/// Reads a resource, or gets a prompt, of those that were approved.
pub(crate) async fn call(
    (session, mut gallery): (&Session, Gallery),
    offered: &Value,
    arguments: &Map<String, Value>,
    wire: &str,
) -> Result<Result<Answer<Map<String, Value>>, Fault>, SessionError> {
    let text = |field: &str| arguments.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    if offered.get("prompts").is_some() {
        let name = text("name");
        if !has(offered, "prompts", "name", &name) {
            return Ok(Err(unknown(wire, "prompt", &name)));
        }
        let mut params = GetPromptRequestParams::new(name);
        if let Some(Value::Object(given)) = arguments.get("arguments") {
            params = params.with_arguments(given.clone());
        }
        return Ok(match session.prompt(params).await? {
            GetPromptResponse::Complete(result) => {
                let messages = result.messages.into_iter().map(|message| {
                    let role = serde_json::to_value(message.role).unwrap_or_default();
                    Ok(json!({ "role": role, "content": described(message.content, &mut gallery)? }))
                });
                messages.collect::<Result<Vec<Value>, Fault>>().map(|messages| {
                    let said = messages.iter().filter_map(|m| m.pointer("/content/text")?.as_str());
                    let said = said.collect::<Vec<_>>().join("\n\n");
                    let output = Map::from_iter([("messages".to_owned(), Value::Array(messages))]);
                    Answer { media: gallery.all, ..Answer::new(said, output) }
                })
            }
            _ => Err(asks_for_more(wire)),
        });
    }
    let uri = text("uri");
    let templates = offered.get("templates").and_then(Value::as_array).into_iter().flatten();
    let is_meant = |template: &Value| {
        template.get("uriTemplate").and_then(Value::as_str).is_some_and(|template| fits(template, &uri))
    };
    if !has(offered, "resources", "uri", &uri) && !templates.clone().any(is_meant) {
        return Ok(Err(unknown(wire, "resource", &uri)));
    }
    Ok(match session.resource(ReadResourceRequestParams::new(uri)).await? {
        ReadResourceResponse::Complete(result) => {
            let contents = result.contents.into_iter().map(|contents| resource(contents, &mut gallery));
            contents.collect::<Result<Vec<Value>, Fault>>().map(|contents| {
                let said = contents.iter().filter_map(|content| content.get("text")?.as_str());
                let said = said.collect::<Vec<_>>().join("\n\n");
                let message = if said.is_empty() { format!("{wire} answered.") } else { said };
                let output = Map::from_iter([("contents".to_owned(), Value::Array(contents))]);
                Answer { media: gallery.all, ..Answer::new(message, output) }
            })
        }
        _ => Err(asks_for_more(wire)),
    })
}

fn has(offered: &Value, list: &str, field: &str, wanted: &str) -> bool {
    let all = offered.get(list).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|one| one.get(field)?.as_str()).any(|one| one == wanted)
}

fn unknown(wire: &str, what: &str, name: &str) -> Fault {
    let name = kit::shape::bounded(&text::visible(name), 200);
    Fault::new(Code::NotFound, format!("{wire}: no {what} {name:?} was approved"))
        .suggest(format!("The description of {wire} names what there is."))
}

fn asks_for_more(wire: &str) -> Fault {
    let message = format!("{wire}: its upstream asks for more from the user, which is not passed on");
    Fault::new(Code::ToolExecutionFailed, message)
}

/// Whether a URI is one of a template's (RFC 6570): what stands between its expressions is there, in order, and no expression of
/// the plain kind has a `/` in it.
fn fits(template: &str, uri: &str) -> bool {
    let (mut template, mut left) = (template, uri);
    loop {
        let Some((before, rest)) = template.split_once('{') else { return left == template };
        let Some(after) = left.strip_prefix(before) else { return false };
        let Some((expression, next)) = rest.split_once('}') else { return false };
        let literal = next.split('{').next().unwrap_or_default();
        let end = if literal.is_empty() {
            if next.is_empty() { Some(after.len()) } else { Some(0) }
        } else if next.contains('{') {
            after.find(literal)
        } else {
            after.len().checked_sub(literal.len()).filter(|end| after.get(*end..) == Some(literal))
        };
        let Some((value, rest)) = end.and_then(|end| after.split_at_checked(end)) else { return false };
        let is_plain = !expression.starts_with(['+', '#', '/', '.', ';', '?', '&']);
        if is_plain && (value.is_empty() || value.contains(['/', '?', '#'])) || value.contains("..") {
            return false;
        }
        (template, left) = (next, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m28_only_uris_of_an_approved_template_are_read() {
        for (template, uri, is_meant) in [
            ("demo://text/{id}", "demo://text/7", true),
            ("demo://text/{id}", "demo://text/", false),
            ("demo://text/{id}", "demo://text/a/b", false),
            ("demo://text/{id}", "file:///etc/passwd", false),
            ("demo://{a}/x/{b}.md", "demo://1/x/2.md", true),
            ("demo://{a}/x/{b}.md", "demo://1/x/2.txt", false),
            ("file:///{+path}", "file:///a/b", true),
            ("file:///{+path}", "file:///a/../../etc/passwd", false),
            ("demo://plain", "demo://plain", true),
            ("demo://plain", "demo://plainer", false),
            ("demo://{broken", "demo://x", false),
        ] {
            assert_eq!(fits(template, uri), is_meant, "{template} {uri}");
        }
    }

    #[test]
    fn what_there_is_is_told_a_line_each_and_nothing_hidden() {
        let things: Vec<Value> = (0..200)
            .map(|n| json!({ "uri": format!("demo://{n}"), "name": "one", "description": "Two\nlines\u{200b}." }))
            .collect();
        let said = listed("These:", things.iter().map(|thing| ("uri", thing)));
        assert!(said.starts_with("These:\n- demo://0: Two lines."), "{said}");
        assert!(said.len() < MAX_DESCRIBED + 100 && said.contains("more") && !said.contains('\u{200b}'));
    }
}
