//! What a skill's code is: its files with all that they import, what it takes, what it asks for. Code is looked at in a process of its own;
//! nothing here parses it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::{Code, Digest, Fault, RelPath};
use kit::ReadDesk;
use library::PatternId;
use library::grants::{Asks, Runtime};
use serde_json::{Map, Value, json};
use skills::imports::{Source, functions, resolve};
use skills::talk::Inspected;
use skills::{SourceFile, limits};
use store_api::uses::Used;

use super::looks::Seen;
use super::workers::{Worker, Workers};
use crate::libraries::{Library, PROJECT, service, used};
use crate::stock::{Item, read};

/// A skill, ready to be executed.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(crate) id: PatternId,
    pub(crate) library: String,
    pub(crate) entry: String,
    pub(crate) files: Vec<SourceFile>,
    /// The same without types: as Node gets them.
    pub(crate) blanked: BTreeMap<String, String>,
    pub(crate) asks: Asks,
    pub(crate) schema: Option<Value>,
    /// The function that is called, where one is seen.
    pub(crate) function: Option<String>,
    /// What it imports that is none of its own files.
    pub(crate) packages: BTreeSet<String>,
    /// Whether it imports what only its run decides.
    computes_imports: bool,
    /// The call's root.
    root: String,
}

impl Prepared {
    /// What an approval is bound to: all that decides what runs, and with which rights.
    pub(crate) fn identity(&self) -> Value {
        let files: BTreeMap<&str, String> = self
            .files
            .iter()
            .map(|file| (file.path.as_str(), Digest::of(file.text.as_bytes()).to_string()))
            .collect();
        let schema =
            self.schema.as_ref().map(|schema| Digest::of(&contract::canonical::of(schema)).to_string());
        json!({
            "library": self.library,
            "id": self.id.short(),
            "entry": self.entry,
            "files": files,
            "schema": schema,
            "asks": self.asks,
            "packages": self.packages,
            "root": self.is_of_one_root().then_some(&self.root),
        })
    }

    /// What it is called where it is approved.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.library, self.id.short())
    }

    /// Whether it needs Node: it says so, or it imports what is not its own, or it wants hosts and does not say that the engine is
    /// enough, which has no network.
    pub(crate) fn needs_node(&self) -> bool {
        let wants_hosts = !self.asks.network.is_empty() && self.asks.runtime.is_none();
        self.asks.runtime == Some(Runtime::Node) || wants_hosts || !self.packages.is_empty()
    }

    /// Whether an approval is for one repository alone: where its code, or packages that it imports, are the repository's.
    fn is_of_one_root(&self) -> bool {
        self.needs_node() || self.library == PROJECT
    }

    /// Fails unless an input fits the declared schema.
    pub(crate) fn takes(&self, input: &Map<String, Value>) -> Result<(), Fault> {
        let mut misfits = self.misfits(input)?.into_iter();
        let Some(first) = misfits.next() else { return Ok(()) };
        let mut fault = Fault::invalid(format!("input: {first}"));
        fault.suggestions.extend(misfits);
        Err(fault.suggest("`load_skill` shows what it takes (`metadata.schema`)."))
    }

    /// What is wrong with an input, by the declared schema.
    pub(crate) fn misfits(&self, input: &Map<String, Value>) -> Result<Vec<String>, Fault> {
        let Some(schema) = &self.schema else { return Ok(Vec::new()) };
        if has_reference(schema) {
            let message =
                format!("{}: its declared parameters refer to one another ($ref): write them out", self.id);
            return Err(Fault::new(Code::InvalidSource, message));
        }
        let compiled = kit::schema::Compiled::new(schema).map_err(|why| {
            Fault::new(
                Code::InvalidSource,
                format!("{}: its declared parameters are no JSON Schema: {why}", self.id),
            )
        })?;
        Ok(compiled.errors(&Value::Object(input.clone()), 8))
    }
}

/// Whether a schema refers to parts of itself: a few lines of that take longer to hold a value to than anybody waits.
fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            map.keys().any(|key| matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef"))
                || map.values().any(has_reference)
        }
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

/// A skill as a person is shown it before they approve that its code runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Reviewed {
    /// What it is called where it is approved: `LIBRARY:CATEGORY/NAME`.
    pub name: String,
    /// What an approval is bound to.
    pub identity: Value,
    /// All that runs: paths and texts.
    pub files: Vec<(String, String)>,
}

/// Reads a skill's code for a person.
pub async fn review(desk: &ReadDesk, id: &str) -> Result<Reviewed, Fault> {
    let id = PatternId::new(id).map_err(|e| Fault::invalid(e.to_string()))?;
    let used = used(desk).await?;
    let prepared = desk.blocking(move |desk| found(desk, &id, &used).map(|(prepared, _)| prepared)).await?;
    let (name, identity) = (prepared.name(), prepared.identity());
    let files = prepared.files.into_iter().map(|file| (file.path, file.text)).collect();
    Ok(Reviewed { name, identity, files })
}

/// The skill of an id with all that its code imports, and the process that looked at it, if one had to. Blocking.
pub(crate) fn found(
    desk: &ReadDesk,
    id: &PatternId,
    used: &[Used],
) -> Result<(Prepared, Option<Worker>), Fault> {
    let workers = desk
        .service::<Workers>()
        .ok_or_else(|| Fault::internal("nothing was provided that skills run in"))?;
    let (library, item) = service(desk)?.pattern(desk, used, id)?;
    let (mut seen, mut worker) = (Seen::default(), None);
    let look = |files: &[SourceFile]| workers.look(files, (&mut seen, &mut worker), desk.cancelled());
    let mut prepared = prepare(&library, &item, look)?;
    desk.view().root().id().clone_into(&mut prepared.root);
    if prepared.needs_node() && prepared.computes_imports {
        let message =
            format!("{}: what it imports is computed when it runs, so nobody can approve it", prepared.id);
        return Err(Fault::new(Code::InvalidSource, message).about(prepared.entry));
    }
    Ok((prepared, worker))
}

/// The folder that imports may not leave: a skill's own, or its category's.
fn home(entry: &str) -> &str {
    entry.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Reads a skill's code and all that it imports. Blocking.
fn prepare(
    library: &Library,
    item: &Item,
    mut look: impl FnMut(&[SourceFile]) -> Result<Arc<Vec<Inspected>>, Fault>,
) -> Result<Prepared, Fault> {
    let main = item.executable.as_ref().ok_or_else(|| {
        Fault::new(Code::SkillExecutionFailed, format!("{} has no code that could be executed", item.id))
            .suggest("`load_skill` reads its documentation; patterns with code have `hasExecutable`.")
    })?;
    let (found, _) = read(library, &item.found, item.base.as_ref())?;
    let entry = found.entry.ok_or_else(|| {
        Fault::new(
            Code::InvalidSource,
            format!("{} cannot be read: `index_pattern_library` says why", item.id),
        )
    })?;
    let home = home(main.as_str()).to_owned();
    let mut prepared = Prepared {
        id: item.id.clone(),
        library: library.name.to_string(),
        entry: main.to_string(),
        files: Vec::new(),
        blanked: BTreeMap::new(),
        asks: entry.asks,
        schema: entry.schema.map(|declared| declared.schema),
        function: None,
        packages: BTreeSet::new(),
        computes_imports: false,
        root: String::new(),
    };
    let (mut wanted, mut bytes) = (vec![main.to_string()], 0_usize);
    while !wanted.is_empty() {
        let mut fresh = Vec::new();
        for path in wanted.drain(..) {
            let place = RelPath::new(&path).map_err(|why| Fault::internal(format!("{path}: {why}")))?;
            let (text, _) = library.root.read(&place, limits::FILE_BYTES as u64)?;
            bytes += text.len();
            let text = String::from_utf8(text).map_err(|_| {
                Fault::new(Code::InvalidSource, format!("{path} is not UTF-8 text")).about(path.clone())
            })?;
            fresh.push(SourceFile { path, text });
        }
        if prepared.files.len() + fresh.len() > limits::FILES || bytes > limits::FILES_BYTES {
            let message = format!(
                "{}: its files are more than {} or larger than 512 KiB together",
                item.id,
                limits::FILES
            );
            return Err(Fault::new(Code::TooLarge, message));
        }
        let looked = look(&fresh)?;
        prepared.files.extend(fresh);
        for file in looked.iter() {
            if let Some(refusal) = &file.refused {
                return Err(Fault::new(
                    Code::InvalidSource,
                    format!("{}:{}:{}: {}", file.path, refusal.line, refusal.column, refusal.message),
                )
                .about(file.path.clone()));
            }
            if let Some(text) = &file.text {
                prepared.blanked.insert(file.path.clone(), text.clone());
            }
            if file.path == prepared.entry {
                let names = functions(item.id.name());
                let has = |name: &&String| file.exports.iter().any(|export| export.name == **name);
                prepared.function = names.iter().find(has).cloned();
            }
            for import in &file.imports {
                if matches!(import.source, Source::Computed | Source::Other) {
                    prepared.computes_imports = true;
                    continue;
                }
                if Source::of(&import.specifier) != Source::Relative {
                    prepared.packages.insert(import.specifier.clone());
                    continue;
                }
                let is_there = |path: &str| {
                    let inside =
                        home.is_empty() || path.strip_prefix(&home).is_some_and(|rest| rest.starts_with('/'));
                    inside && RelPath::new(path).is_ok_and(|path| library.root.glance(&path).is_some())
                };
                let Some(path) = resolve(&file.path, &import.specifier, is_there) else {
                    let message = format!(
                        "{}: imports {:?}, which is no file of the skill",
                        file.path, import.specifier
                    );
                    return Err(Fault::new(Code::SkillExecutionFailed, message).about(file.path.clone()));
                };
                if !prepared.files.iter().any(|known| known.path == path) && !wanted.contains(&path) {
                    wanted.push(path);
                }
            }
        }
    }
    Ok(prepared)
}
