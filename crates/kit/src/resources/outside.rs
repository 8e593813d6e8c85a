//! Resources and prompts that tools of others give: listed beside ours under names that cannot be taken for ours, and read
//! by calls of the tools that give them, so that approval, policy, record, limits and cleaning hold for them as they are.

use contract::{Code, Fault, Media, Principal};
use serde_json::{Map, Value, json};

use crate::authorise::lacking;
use crate::call::Call;
use crate::house::House;
use crate::registry::{Registered, Registry};
use crate::resources::unknown;
use crate::shape;

/// The scheme that the URIs of others are wrapped in.
pub const SCHEME: &str = "upstream";

/// What a tool of others gives by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offers {
    /// Resources, by their URIs.
    pub resources: Vec<Thing>,
    /// Templates of such URIs (RFC 6570).
    pub templates: Vec<Thing>,
    /// Prompts, by their names.
    pub prompts: Vec<Prompt>,
}

/// A resource, or a template of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thing {
    /// Its URI, as whoever serves it has it.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub mime: Option<String>,
}

/// A prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Its name here, which begins with that of its server.
    pub name: String,
    /// Its name there.
    pub there: String,
    /// For people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// What it takes: names, descriptions, and whether each must be given.
    pub arguments: Vec<(String, Option<String>, bool)>,
}

/// What a resource of others holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its URI here.
    pub uri: String,
    /// Its media type.
    pub mime: String,
    /// Its text; of bytes that do not come along, what they are.
    pub text: String,
    /// Its bytes, where they come along.
    pub media: Option<Media>,
}

/// A message of a prompt of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Whether the user says it, or else the model.
    pub is_users: bool,
    /// What is said.
    pub text: String,
    /// What is shown in its place.
    pub media: Option<Media>,
}

/// The URI of others' resource here: it names whose it is, and holds the other one so that it comes back as it was.
#[must_use]
pub fn wrapped(server: &str, uri: &str) -> String {
    format!("{SCHEME}://{server}/{}", escaped(uri))
}

/// The same for a template, whose expressions stay: they are filled in by whoever reads.
fn wrapped_template(server: &str, template: &str) -> String {
    let mut out = format!("{SCHEME}://{server}/");
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(&escaped(before));
        let Some((expression, next)) = after.split_once('}') else {
            rest = "";
            break;
        };
        out.push_str(&format!("{{{expression}}}"));
        rest = next;
    }
    out.push_str(&escaped(rest));
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// What was wrapped. What a reader filled into a template stays as it wrote it, but for the characters that a URI is made of.
fn unwrapped(escaped: &str) -> Option<String> {
    let (mut out, mut rest) = (Vec::new(), escaped.as_bytes());
    while let Some((first, more)) = rest.split_first() {
        let byte = match (first, more.get(..2)) {
            (b'%', Some(digits)) => {
                let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
                b"%:/?#[]@!$&'()*+,;=".contains(&byte).then_some(byte)
            }
            _ => None,
        };
        match byte {
            Some(byte) => {
                out.push(byte);
                rest = more.get(2..)?;
            }
            None => {
                out.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8(out).ok()
}

impl House {
    /// The tools of others that `owner` may call and that give something.
    fn givers<'a>(
        registry: &'a Registry,
        owner: &Principal,
    ) -> impl Iterator<Item = (&'a Registered, &'a Offers)> {
        let call = Call { arguments: json!({}), ..Call::of_nothing(owner.clone()) };
        registry.listed().filter_map(move |tool| {
            let offers = tool.offers()?;
            lacking(tool, &call, registry).is_none().then_some((&**tool, offers))
        })
    }

    /// The resources of others that `owner` may read, under their URIs here.
    #[must_use]
    pub fn outside_resources(&self, owner: &Principal) -> Vec<Thing> {
        self.things(owner, |server, offers| {
            let own = offers.resources.iter();
            own.map(|thing| Thing { uri: wrapped(server, &thing.uri), ..thing.clone() }).collect()
        })
    }

    /// The same for templates.
    #[must_use]
    pub fn outside_templates(&self, owner: &Principal) -> Vec<Thing> {
        self.things(owner, |server, offers| {
            let own = offers.templates.iter();
            own.map(|thing| Thing { uri: wrapped_template(server, &thing.uri), ..thing.clone() }).collect()
        })
    }

    fn things(&self, owner: &Principal, of: impl Fn(&str, &Offers) -> Vec<Thing>) -> Vec<Thing> {
        let registry = self.registry();
        let all = Self::givers(&registry, owner).flat_map(|(tool, offers)| of(&tool.head().toolset, offers));
        all.collect()
    }

    /// The prompts of others that `owner` may get.
    #[must_use]
    pub fn outside_prompts(&self, owner: &Principal) -> Vec<Prompt> {
        let registry = self.registry();
        Self::givers(&registry, owner).flat_map(|(_, offers)| offers.prompts.clone()).collect()
    }

    /// The names of all that others offer: of resources and their templates, and of prompts.
    #[must_use]
    pub fn outside(&self) -> (Vec<String>, Vec<String>) {
        let registry = self.registry();
        let (mut uris, mut prompts) = (Vec::new(), Vec::new());
        for offers in registry.listed().filter_map(|tool| tool.offers()) {
            uris.extend(offers.resources.iter().chain(&offers.templates).map(|thing| thing.uri.clone()));
            prompts.extend(offers.prompts.iter().map(|prompt| prompt.name.clone()));
        }
        (uris, prompts)
    }

    /// Reads a resource of others, by a call of the tool that gives it.
    pub async fn read_outside(&self, uri: &str, call: Call) -> Result<Vec<Held>, Fault> {
        let missing = || unknown(&shape::bounded(uri, 256));
        let rest = uri.strip_prefix(SCHEME).and_then(|rest| rest.strip_prefix("://")).ok_or_else(missing)?;
        let (server, path) = rest.split_once('/').ok_or_else(missing)?;
        let registry = self.registry();
        let gives = |tool: &&Registered| {
            tool.head().toolset == server
                && tool.offers().is_some_and(|o| !o.resources.is_empty() || !o.templates.is_empty())
        };
        let tool = registry.ready().map(|tool| &**tool).find(gives).ok_or_else(missing)?;
        let listed = tool.offers().and_then(|offers| {
            offers.resources.iter().find(|thing| escaped(&thing.uri) == path).map(|thing| thing.uri.clone())
        });
        let there = listed.or_else(|| unwrapped(path)).ok_or_else(missing)?;
        let arguments = json!({ "uri": there });
        let (output, media) = self.given(tool.head().name.as_str(), arguments, call).await?;
        let contents = output.get("contents").and_then(Value::as_array).into_iter().flatten();
        Ok(contents.map(|content| held(server, uri, content, &media)).collect())
    }

    /// Gets a prompt of others, by a call of the tool that gives it; `None` where there is none of that name.
    pub async fn say_outside(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        call: Call,
    ) -> Option<Result<Vec<Message>, Fault>> {
        let registry = self.registry();
        let found = registry.ready().find_map(|tool| {
            let prompt = tool.offers()?.prompts.iter().find(|prompt| prompt.name == name)?;
            Some((tool.head().name.to_string(), prompt.there.clone()))
        });
        let (tool, there) = found?;
        let arguments = json!({ "name": there, "arguments": arguments });
        let (output, media) = match self.given(&tool, arguments, call).await {
            Ok(given) => given,
            Err(fault) => return Some(Err(fault)),
        };
        let messages = output.get("messages").and_then(Value::as_array).into_iter().flatten();
        Some(Ok(messages.map(|said| message(said, &media)).collect()))
    }

    /// What a tool of others answers, without the envelope, and what comes along.
    async fn given(
        &self,
        tool: &str,
        arguments: Value,
        call: Call,
    ) -> Result<(Map<String, Value>, Vec<Media>), Fault> {
        let done = self.call(Call { tool: tool.to_owned(), arguments, ..call }).await;
        let mut reply = done.result?;
        match reply.output.remove("result") {
            Some(Value::Object(own)) => Ok((own, reply.media)),
            _ => Err(Fault::new(Code::ToolExecutionFailed, format!("{tool}: it answered with nothing"))),
        }
    }
}

/// What of `media` a part of an output stands for.
fn attached(part: &Value, media: &[Media]) -> Option<Media> {
    media.get(usize::try_from(part.get("attached")?.as_u64()?).ok()?).cloned()
}

fn held(server: &str, uri: &str, content: &Value, media: &[Media]) -> Held {
    let text = |field: &str| content.get(field).and_then(Value::as_str);
    let uri = text("uri").map_or_else(|| uri.to_owned(), |there| wrapped(server, there));
    match (text("text"), attached(content, media)) {
        (Some(said), _) => {
            let mime = text("mimeType").unwrap_or("text/plain").to_owned();
            Held { uri, mime, text: said.to_owned(), media: None }
        }
        (None, Some(media)) => {
            Held { uri, mime: media.mime.clone(), text: String::new(), media: Some(media) }
        }
        // What is not passed on is described.
        (None, None) => {
            Held { uri, mime: "application/json".to_owned(), text: content.to_string(), media: None }
        }
    }
}

fn message(said: &Value, media: &[Media]) -> Message {
    let content = said.get("content").cloned().unwrap_or_default();
    let text = content.get("text").or_else(|| content.pointer("/resource/text")).and_then(Value::as_str);
    let text = text.map_or_else(|| content.to_string(), str::to_owned);
    let is_users = said.get("role").and_then(Value::as_str) != Some("assistant");
    Message { is_users, text, media: attached(&content, media) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m28_a_uri_of_others_comes_back_as_it_was_and_is_none_of_ours() {
        for uri in ["demo://a/b?c=d#e", "file:///etc/pass wd", "plan://plan_1", "x:%2Fy%20z", "../..", "é"] {
            let here = wrapped("docs", uri);
            assert!(here.starts_with("upstream://docs/"), "{here}");
            let path = here.strip_prefix("upstream://docs/").unwrap();
            assert!(!path.contains('/') && !path.contains(':'), "{here}");
            if !uri.contains([' ', 'é']) {
                assert_eq!(unwrapped(path).as_deref(), Some(uri));
            }
        }
        assert_ne!(wrapped("docs", "a/b"), wrapped("docs", "a%2Fb"));
    }

    #[test]
    fn what_is_filled_into_a_template_stays_as_it_was_written() {
        let here = wrapped_template("docs", "demo://text/{id}/x{?q}");
        assert_eq!(here, "upstream://docs/demo%3A%2F%2Ftext%2F{id}%2Fx{?q}");
        let filled = here.replace("{id}", "a%20b").replace("{?q}", "?q=1");
        let path = filled.strip_prefix("upstream://docs/").unwrap();
        assert_eq!(unwrapped(path).as_deref(), Some("demo://text/a%20b/x?q=1"));
        assert_eq!(unwrapped("a%"), Some("a%".into()));
        assert_eq!(unwrapped("%zz"), None);
    }
}
