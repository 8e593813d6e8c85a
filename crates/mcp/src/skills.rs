//! The skills extension (SEP-2640): which skills there are, with the digest of every file, and what is in their folders. Their bytes
//! are resources.

use contract::{Code, Fault, Principal};
use kit::House;
use kit::skills::{Child, File, Folder, Skill as Served, skill_of};
use rmcp::model::{
    DIRECTORY_MIME_TYPE, ErrorData, GetSkillResult, JsonObject, ListSkillsResult,
    ReadResourceDirectoryResult, Resource, SKILLS_EXTENSION_ID, ServerCapabilities, Skill, SkillFrontmatter,
    SkillResource, SkillResources,
};
use serde_json::{Value, json};

use crate::reading::{self, FLEETING};

/// How long what is part of the program counts as fresh, in milliseconds: another program may be started at the same place.
const BUILT_IN: u64 = 300_000;

/// Says that there are skills, and that their folders can be looked into.
pub(crate) fn declare(capabilities: &mut ServerCapabilities) {
    let mut settings = JsonObject::new();
    settings.insert("directoryRead".to_owned(), Value::Bool(true));
    capabilities.extensions.get_or_insert_default().insert(SKILLS_EXTENSION_ID.to_owned(), settings);
}

/// How long what is read at `uri` counts as fresh, in milliseconds: files of libraries change without a word.
pub(crate) fn freshness_of(uri: &str) -> u64 {
    let is_built_in = skill_of(uri).is_some_and(|main| main.starts_with("skill://gatewright/"));
    if is_built_in { BUILT_IN } else { FLEETING }
}

/// What is not there is a parameter that does not fit (the extension, "Error handling").
fn error(fault: &Fault, uri: &str) -> ErrorData {
    match fault.code {
        Code::NotFound => {
            let said = std::iter::once(&fault.message).chain(&fault.suggestions).cloned();
            let uri = kit::shape::bounded(uri, 256);
            ErrorData::invalid_params(said.collect::<Vec<_>>().join(". "), Some(json!({ "uri": uri })))
        }
        _ => reading::error(fault),
    }
}

/// A page of the skills that are served.
pub(crate) async fn list(
    house: &House,
    caller: &Principal,
    cursor: Option<String>,
) -> Result<ListSkillsResult, ErrorData> {
    let offset = reading::offset(cursor, "skills/list")?;
    let (page, next) = house.skills(caller, offset).await.map_err(|fault| reading::error(&fault))?;
    let mut result = ListSkillsResult::with_all_items(page.into_iter().map(entry).collect());
    result.next_cursor = next.map(reading::cursor);
    Ok(result)
}

/// One skill.
pub(crate) async fn get(house: &House, caller: &Principal, uri: &str) -> Result<GetSkillResult, ErrorData> {
    let skill = house.skill(caller, uri).await.map_err(|fault| error(&fault, uri))?;
    Ok(GetSkillResult::new(entry(skill)))
}

/// What stands directly in a folder.
pub(crate) async fn folder(
    house: &House,
    caller: &Principal,
    uri: &str,
    cursor: Option<String>,
) -> Result<ReadResourceDirectoryResult, ErrorData> {
    let offset = reading::offset(cursor, "resources/directory/read")?;
    let found = house.folder(caller, uri, offset).await.map_err(|fault| error(&fault, uri))?;
    let Folder { children, next } = found;
    let mut result = ReadResourceDirectoryResult::with_all_items(children.into_iter().map(child).collect());
    result.next_cursor = next.map(reading::cursor);
    Ok(result)
}

fn entry(skill: Served) -> Skill {
    let Served { uri, name, description, front, files, .. } = skill;
    let known = |key: &str| matches!(key, "name" | "description");
    let mut told = SkillFrontmatter::new(name, description);
    for (key, value) in front.into_iter().filter(|(key, _)| !known(key)) {
        told = told.with_field(key, value);
    }
    let resource = |file: File| SkillResource::new(file.uri, format!("sha256:{}", file.digest), file.size);
    Skill::new(uri, told, SkillResources::Files(files.into_iter().map(resource).collect()))
}

fn child(child: Child) -> Resource {
    match child {
        Child::Folder(uri, name) => Resource::new(uri, name).with_mime_type(DIRECTORY_MIME_TYPE),
        Child::File(file, named) => {
            let File { uri, path, size, mime, .. } = file;
            let own = path.rsplit('/').next().unwrap_or(&path).to_owned();
            let resource = match named {
                None => Resource::new(uri, own),
                Some((name, description)) => Resource::new(uri, name).with_description(description),
            };
            resource.with_mime_type(mime).with_size(size)
        }
    }
}
