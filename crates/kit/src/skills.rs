//! Skills as whole folders, for clients that take them as they are (the skills extension, SEP-2640): entries with digests, exact
//! bytes, folders. What a caller is told is what the same caller finds with the tool that reads skills.
//!
//! A skill's `SKILL.md` is `skill://HOLDER/NAME/SKILL.md`, its other files stand below `skill://HOLDER/NAME/`. URIs are compared as they
//! are: one that is spelled otherwise stands for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::{Code, Digest, Fault, Principal};
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::call::Call;
use crate::desk::ReadDesk;
use crate::engine::Engine;
use crate::house::House;
use crate::limits::Limits;
use crate::resources::{Content, Listed, PAGE, Reading, Template, bounded, desk};
use crate::shape;

/// Most skills that a caller is told of: beyond them the list is a part of what there is, as the extension allows.
pub const MOST: usize = 500;
/// Most files of one skill.
pub const MOST_FILES: usize = 512;
/// Most bytes of one skill's files together.
pub const MOST_BYTES: u64 = 16 << 20;
/// What the scheme of every skill's URIs is.
pub const SCHEME: &str = "skill";
/// The file that a skill is known by.
pub const MAIN: &str = "SKILL.md";

/// What skills have in common as things that are read by URI.
pub(crate) const TEMPLATE: Template = Template {
    scheme: SCHEME,
    title: "A skill's file",
    description: "A file of a skill, exactly as it is: SKILL.md holds the instructions and names the others. Read it when \
                  a task is of the kind that its description names.",
    mime: "text/markdown",
    has_parts: true,
};

/// A file of a skill, as it was when the skill was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What it is read by.
    pub uri: String,
    /// From the skill's folder.
    pub path: String,
    /// Of its bytes.
    pub digest: Digest,
    /// In bytes.
    pub size: u64,
    /// Its media type.
    pub mime: &'static str,
}

/// A skill that is served, as it was when it was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Of its `SKILL.md`.
    pub uri: String,
    /// As the front matter has it.
    pub name: String,
    /// As the front matter has it.
    pub description: String,
    /// The front matter, all of it.
    pub front: Map<String, Value>,
    /// All files, `SKILL.md` among them, by path: at most [`MOST_FILES`] of at most [`MOST_BYTES`] together.
    pub files: Vec<File>,
    /// When its `SKILL.md` was changed last: RFC 3339.
    pub since: String,
}

/// What keeps skills: a service of the binary's.
pub trait Served: std::fmt::Debug + Send + Sync {
    /// The tool that reads the same: who may not call it is served nothing.
    fn tool(&self) -> &'static str;

    /// The URIs of the skills that whoever has the desk may know of, those that go before others first. None of them was looked at:
    /// one may turn out not to be served.
    fn uris(self: Arc<Self>, desk: ReadDesk) -> Reading<Vec<String>>;

    /// Those of `uris` that are served, in their order, and how many of `uris` were looked at: at least one, and fewer than all where it
    /// would take long.
    fn skills(self: Arc<Self>, desk: ReadDesk, uris: Vec<String>) -> Reading<(Vec<Skill>, usize)>;

    /// The bytes of a file of a skill that is served; `not_found` where there is none of that URI.
    fn read(self: Arc<Self>, desk: ReadDesk, uri: String) -> Reading<Content>;
}

/// What stands directly in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Child {
    /// A file; of a `SKILL.md` with the skill's name and description.
    File(File, Option<(String, String)>),
    /// A folder: its URI and name.
    Folder(String, String),
}

/// What is in a folder of a skill, or a page of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// By name.
    pub children: Vec<Child>,
    /// Where the next page begins.
    pub next: Option<usize>,
}

/// The URI of the `SKILL.md` of the skill that `uri` is in or below; `None` where it can be none.
#[must_use]
pub fn skill_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("skill://")?;
    let mut parts = rest.splitn(3, '/');
    let (holder, name) = (parts.next()?, parts.next()?);
    let fits = |part: &str| !part.is_empty() && !part.contains(['?', '#']);
    (fits(holder) && fits(name)).then(|| format!("skill://{holder}/{name}/{MAIN}"))
}

/// There is no such thing, or it is not for who asks: neither is told from the other.
#[must_use]
pub fn missing(uri: &str) -> Fault {
    let message = format!("no skill is served at {}", shape::bounded(uri, 256));
    Fault::new(Code::NotFound, message).suggest(
        "`skills/list` has those that there are; `gatewright library check` says why a skill is not served.",
    )
}

/// The desks that a caller's skills are looked at from; what they begin ends with them.
struct Desks {
    served: Arc<dyn Served>,
    all: Vec<(Arc<Engine>, ReadDesk)>,
    _gone: DropGuard,
    /// One of those who look at a time.
    _place: Option<OwnedSemaphorePermit>,
}

impl House {
    fn served(&self) -> Option<Arc<dyn Served>> {
        self.first().parts.services.get::<dyn Served>()
    }

    /// Whether there is anything that keeps skills.
    #[must_use]
    pub fn serves_skills(&self) -> bool {
        self.served().is_some()
    }

    /// One desk for each root that is open to `caller` and in which it may read skills, or one without a root. Fails where there is none.
    async fn desks(&self, caller: &Principal) -> Result<Desks, Fault> {
        let served = self.served().ok_or_else(|| missing("skill://"))?;
        let gone = CancellationToken::new();
        let call = Call { cancel: gone.clone(), ..Call::of_nothing(caller.clone()) };
        let mut engines: Vec<&Arc<Engine>> = self.open_to(caller).collect();
        if engines.is_empty() {
            engines.push(self.usual(caller));
        }
        let (mut all, mut refused) = (Vec::new(), None);
        for engine in engines {
            match desk(engine, served.tool(), SCHEME, &call) {
                Ok(desk) => all.push((Arc::clone(engine), desk)),
                Err(fault) => refused = Some(fault),
            }
        }
        if let Some(fault) = refused.filter(|_| all.is_empty()) {
            return Err(fault);
        }
        let place = self.first().parts.limiter.enter(SCHEME, Limits::DEFAULT).await;
        Ok(Desks { served, all, _gone: gone.drop_guard(), _place: place })
    }

    /// A page of the skills that are served to `caller`, from the `offset`th on, and where the next page begins. A page may have fewer than
    /// the next one's beginning says: those that are not served are left out.
    pub async fn skills(
        &self,
        caller: &Principal,
        offset: usize,
    ) -> Result<(Vec<Skill>, Option<usize>), Fault> {
        self.may_list(caller)?;
        // As with every list: what may not be read is not on it.
        let Ok(desks) = self.desks(caller).await else { return Ok((Vec::new(), None)) };
        let known = desks.known().await?;
        let page: Vec<&(usize, String)> = known.iter().skip(offset).take(PAGE).collect();
        let (mut found, mut looked) = (Vec::new(), 0);
        while let Some((at, _)) = page.get(looked) {
            let of_it = page.iter().skip(looked).take_while(|(other, _)| other == at);
            let uris: Vec<String> = of_it.map(|(_, uri)| uri.clone()).collect();
            let asked = uris.len();
            let (skills, done) = desks.skills(*at, uris).await?;
            found.extend(skills);
            looked += done.clamp(1, asked);
            if done < asked {
                break;
            }
        }
        let next = offset.saturating_add(looked);
        Ok((found, (next < known.len()).then_some(next)))
    }

    /// The skill whose `SKILL.md` is `uri`; `not_found` where none is served to `caller`.
    pub async fn skill(&self, caller: &Principal, uri: &str) -> Result<Skill, Fault> {
        self.may_list(caller)?;
        self.desks(caller).await?.skill(uri).await
    }

    /// What stands directly in the folder `uri` of a skill, from the `offset`th on; `not_found` where that is no folder of a skill that is
    /// served to `caller`.
    pub async fn folder(&self, caller: &Principal, uri: &str, offset: usize) -> Result<Folder, Fault> {
        self.may_list(caller)?;
        let main = skill_of(uri).ok_or_else(|| missing(uri))?;
        let skill = self.desks(caller).await?.skill(&main).await.map_err(|fault| match fault.code {
            Code::NotFound => missing(uri),
            _ => fault,
        })?;
        let children = children(&skill, uri);
        if children.is_empty() {
            let message = format!("{} is no folder of a skill", shape::bounded(uri, 256));
            return Err(Fault::new(Code::NotFound, message)
                .suggest("Give a folder's URI without a slash at its end, such as that of SKILL.md without `/SKILL.md`."));
        }
        let total = children.len();
        let children: Vec<Child> = children.into_iter().skip(offset).take(PAGE).collect();
        let next = offset.saturating_add(children.len());
        Ok(Folder { children, next: (next < total).then_some(next) })
    }

    /// What `uri` names, of a skill that is served to whoever calls.
    pub(crate) async fn skill_file(&self, uri: &str, call: &Call) -> Result<Content, Fault> {
        let desks = self.desks(&call.principal).await?;
        for (engine, desk) in &desks.all {
            let reading = Arc::clone(&desks.served).read(desk.clone(), uri.to_owned());
            match bounded(engine, desks.served.tool(), reading).await {
                Err(fault) if fault.code == Code::NotFound => {}
                there => return there,
            }
        }
        Err(missing(uri))
    }

    /// The `SKILL.md` of every skill that is served to `owner`. Those that it would take long to look at are left out until they were
    /// looked at for another question.
    pub(crate) async fn skills_listed(&self, owner: &Principal) -> Vec<Listed> {
        let Ok(desks) = self.desks(owner).await else { return Vec::new() };
        let mut by_desk: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let known = desks.known().await.unwrap_or_else(|fault| {
            // Whatever else there is is listed all the same.
            tracing::warn!("skills were not listed: {}", fault.message);
            Vec::new()
        });
        for (at, uri) in known {
            by_desk.entry(at).or_default().push(uri);
        }
        let mut all = Vec::new();
        for (at, uris) in by_desk {
            let cleaner = self.first().cleaner();
            match desks.skills(at, uris).await {
                Ok((skills, _)) => all.extend(skills.into_iter().map(|skill| Listed {
                    uri: skill.uri,
                    template: TEMPLATE,
                    title: skill.name.clone(),
                    since: skill.since,
                    named: Some((skill.name, cleaner.text(&skill.description))),
                })),
                Err(fault) => tracing::warn!("skills were not listed: {}", fault.message),
            }
        }
        all
    }
}

impl Desks {
    /// The skills that there are, each with the desk from which it is looked at.
    async fn known(&self) -> Result<Vec<(usize, String)>, Fault> {
        let (mut seen, mut all) = (BTreeSet::new(), Vec::new());
        for (at, (engine, desk)) in self.all.iter().enumerate() {
            let uris =
                bounded(engine, self.served.tool(), Arc::clone(&self.served).uris(desk.clone())).await?;
            // What is of no root is known from each.
            all.extend(uris.into_iter().filter(|uri| seen.insert(uri.clone())).map(|uri| (at, uri)));
        }
        all.truncate(MOST);
        Ok(all)
    }

    async fn skills(&self, at: usize, uris: Vec<String>) -> Result<(Vec<Skill>, usize), Fault> {
        let Some((engine, desk)) = self.all.get(at) else { return Ok((Vec::new(), uris.len())) };
        bounded(engine, self.served.tool(), Arc::clone(&self.served).skills(desk.clone(), uris)).await
    }

    async fn skill(&self, uri: &str) -> Result<Skill, Fault> {
        for at in 0..self.all.len() {
            if let Some(skill) = self.skills(at, vec![uri.to_owned()]).await?.0.pop() {
                return Ok(skill);
            }
        }
        Err(missing(uri))
    }
}

/// What stands directly in the folder `uri` of `skill`, by name.
fn children(skill: &Skill, uri: &str) -> Vec<Child> {
    let mut all: BTreeMap<String, Child> = BTreeMap::new();
    for file in &skill.files {
        let Some(rest) = file.uri.strip_prefix(uri).and_then(|rest| rest.strip_prefix('/')) else { continue };
        match rest.split_once('/') {
            None => {
                let named = (file.uri == skill.uri).then(|| (skill.name.clone(), skill.description.clone()));
                all.insert(rest.to_owned(), Child::File(file.clone(), named));
            }
            Some((folder, _)) => {
                let deep = rest.matches('/').count();
                let name = file.path.rsplit('/').nth(deep).unwrap_or(folder);
                let child = Child::Folder(format!("{uri}/{folder}"), name.to_owned());
                all.entry(folder.to_owned()).or_insert(child);
            }
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(paths: &[&str]) -> Skill {
        let file = |path: &&str| File {
            uri: format!("skill://user/demo/{}", path.replace(' ', "%20")),
            path: (*path).to_owned(),
            digest: Digest::ZERO,
            size: 0,
            mime: "text/plain",
        };
        Skill {
            uri: "skill://user/demo/SKILL.md".into(),
            name: "demo".into(),
            description: "d".into(),
            front: Map::new(),
            files: paths.iter().map(file).collect(),
            since: String::new(),
        }
    }

    #[test]
    fn a_skill_is_found_by_anything_in_it_and_by_nothing_else() {
        let main = Some("skill://user/demo/SKILL.md".to_owned());
        for uri in
            ["skill://user/demo", "skill://user/demo/", "skill://user/demo/a/b.md", "skill://user/demo/../x"]
        {
            assert_eq!(skill_of(uri), main, "{uri}");
        }
        for uri in [
            "skill://user",
            "skill://user/",
            "skill:///demo/x",
            "pattern://user/demo",
            "skill://u?r/demo",
            "skill://user/d#o",
        ] {
            assert_eq!(skill_of(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_folder_has_its_direct_children_by_name() {
        let skill = skill(&["SKILL.md", "a b/c d/e.md", "a b/f.md", "z.txt"]);
        let told = |uri: &str| -> Vec<String> {
            let one = |child: Child| match child {
                Child::File(file, named) => {
                    format!("{}{}", file.path, if named.is_some() { " named" } else { "" })
                }
                Child::Folder(uri, name) => format!("{uri} = {name}"),
            };
            children(&skill, uri).into_iter().map(one).collect()
        };
        assert_eq!(told("skill://user/demo"), ["SKILL.md named", "skill://user/demo/a%20b = a b", "z.txt"]);
        assert_eq!(told("skill://user/demo/a%20b"), ["skill://user/demo/a%20b/c%20d = c d", "a b/f.md"]);
        for none in [
            "skill://user/demo/SKILL.md",
            "skill://user/demo/",
            "skill://user/dem",
            "skill://user/demo/a%20b/..",
        ] {
            assert!(told(none).is_empty(), "{none}");
        }
    }
}
