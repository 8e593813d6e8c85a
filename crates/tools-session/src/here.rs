//! Where a call is: which repository, which venture, whose session.

use contract::{Digest, Fault, Principal};
use exec::history::{HistoryError, Repo};
use kit::ReadDesk;
use kit::desk::git;
use std::sync::Arc;
use store_api::session::{SessionKey, Speaker, Standing};

use crate::settings::VentureEntry;
use crate::slug::{self, of_remotes};
use crate::workplace::Workplace;

/// Who works where nobody says a name.
const NOBODY: &str = "agent";
/// The environment variable that names a track.
const TRACK: &str = "GATEWRIGHT_TRACK";

/// A venture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Venture {
    pub(crate) code: String,
    pub(crate) name: String,
}

/// The repository of the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// `host/owner/name`; or a name for one that is nowhere else.
    pub(crate) slug: String,
    /// What is checked out.
    pub(crate) standing: Standing,
    /// Whether it is a git repository.
    pub(crate) is_git: bool,
}

/// Where a call is.
#[derive(Clone)]
pub(crate) struct Here {
    pub(crate) workplace: Arc<dyn Workplace>,
    /// None without a root.
    pub(crate) repository: Option<Repository>,
    /// None where the repository belongs to no venture that is configured.
    pub(crate) venture: Option<Venture>,
}

impl Here {
    /// Finds out.
    pub(crate) async fn find(desk: &ReadDesk) -> Result<Self, Fault> {
        let workplace =
            desk.service::<dyn Workplace>().ok_or_else(|| Fault::internal("no workplace was provided"))?;
        workplace.settle().await;
        if !desk.has_root() {
            return Ok(Self { workplace, repository: None, venture: None });
        }
        let path = desk.view().root().path().to_owned();
        let folder =
            path.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned());
        // One that is nowhere else is told apart by the machine and the place that it is in.
        let machine = workplace.machine()?.id;
        let digest =
            Digest::of_parts(&[machine.as_str().as_bytes(), b"\0", path.as_os_str().as_encoded_bytes()]);
        let local = format!("local/{}-{}", plain(&folder), digest.short(8));
        let repository = match git::read(desk, |repo, _, _| look(repo)).await {
            Ok((slug, standing)) => Repository { slug: slug.unwrap_or(local), standing, is_git: true },
            Err(fault) if fault.code == contract::Code::Cancelled => return Err(fault),
            Err(_) => Repository { slug: local, standing: Standing::default(), is_git: false },
        };
        let venture = venture_of(&repository.slug, &workplace.ventures());
        Ok(Self { workplace, repository: Some(repository), venture })
    }

    /// Whether what was written waits for a context that does not answer.
    pub(crate) async fn is_queued(&self) -> bool {
        self.workplace.link().await.is_some_and(|link| link.waiting > 0)
    }

    /// The repository, where there must be one.
    pub(crate) fn repository(&self) -> Result<&Repository, Fault> {
        self.repository.as_ref().ok_or_else(|| {
            Fault::new(contract::Code::NoRoot, "there is no root to work in")
                .suggest("Start the server in a git repository, or name a directory with `--root PATH`.")
        })
    }

    /// Who works.
    pub(crate) fn agent(&self, desk: &ReadDesk) -> Result<String, Fault> {
        if let (Some(agent), Principal::Local { .. }) = (&self.workplace.settings().agent, desk.principal()) {
            return Ok(agent.clone());
        }
        let client = desk.client().map_or(NOBODY, |client| client.name.as_str());
        let whose = match desk.principal() {
            Principal::Local { .. } => self.workplace.machine()?.name,
            // Two issuers may know somebody by the same name.
            Principal::Token { issuer, subject, .. } => {
                format!("{subject}-{}", Digest::of(issuer.as_bytes()).short(6))
            }
        };
        Ok(cut(&format!("{client}@{whose}"), 200))
    }

    /// The track: what the call says, else the process, else the user.
    pub(crate) fn track(&self, asked: Option<&str>) -> String {
        let of_process = || std::env::var(TRACK).ok().filter(|track| !track.is_empty());
        let track =
            asked.map(str::to_owned).or_else(of_process).or_else(|| self.workplace.settings().track.clone());
        track.unwrap_or_default()
    }

    /// What makes a session of this caller here the same.
    pub(crate) fn key(
        &self,
        desk: &ReadDesk,
        venture: &Venture,
        track: Option<&str>,
    ) -> Result<SessionKey, Fault> {
        Ok(SessionKey {
            agent: self.agent(desk)?,
            venture: venture.code.clone(),
            repo: self.repository()?.slug.clone(),
            track: self.track(track),
        })
    }

    /// Who speaks.
    pub(crate) fn speaker(&self, desk: &ReadDesk) -> Result<Speaker, Fault> {
        let client = desk.client();
        Ok(Speaker {
            client: client.map(|client| client.name.clone()),
            client_version: client.and_then(|client| client.version.clone()),
            machine: Some(self.workplace.machine()?.id),
        })
    }

    /// What tells this caller's work in this root, as this agent and on this track, from all others'.
    pub(crate) fn place(&self, desk: &ReadDesk, track: Option<&str>) -> Result<(Digest, String), Fault> {
        let (agent, track) = (self.agent(desk)?, self.track(track));
        Ok((desk.principal().key(), format!("{}\0{agent}\0{track}", desk.view().root().name())))
    }

    /// Whose an idempotency key is: of this caller, on this machine, in this repository, for `tool`.
    pub(crate) fn owner(&self, desk: &ReadDesk, tool: &str) -> Result<String, Fault> {
        // The local user of one machine is another than that of the next, whatever the numbers say.
        let machine = match desk.principal() {
            Principal::Local { .. } => self.workplace.machine()?.id.to_string(),
            Principal::Token { .. } => String::new(),
        };
        let repository =
            self.repository.as_ref().map(|repository| repository.slug.as_str()).unwrap_or_default();
        Ok(format!("{}/{machine}/{repository}/{tool}", desk.principal().key()))
    }
}

/// The repository's name and what is checked out.
fn look(repo: &Repo) -> Result<(Option<String>, Standing), HistoryError> {
    let remotes = repo.remotes()?;
    let found = of_remotes(&remotes);
    let (branch, commit) = repo.checked_out()?;
    Ok((found, Standing { branch, commit, issue: None }))
}

/// The venture that a repository belongs to: by its whole name, else by its whole owner. Where none is configured the repository is one.
pub(crate) fn venture_of(
    repository: &str,
    ventures: &std::collections::BTreeMap<String, VentureEntry>,
) -> Option<Venture> {
    if ventures.is_empty() {
        // Repositories of one name are two ventures; and none is called like what belongs to all.
        let name = slug::name(repository).to_owned();
        let code = format!("{}-{}", plain(&name), Digest::of(repository.as_bytes()).short(8));
        return Some(Venture { code, name });
    }
    let named =
        |(code, entry): (&String, &VentureEntry)| Venture { code: code.clone(), name: called(code, entry) };
    let by_name = |entry: &VentureEntry| entry.repositories.iter().any(|own| slug::meant(own) == repository);
    let by_owner = |entry: &VentureEntry| {
        entry.organisation.as_deref().is_some_and(|own| slug::meant(own) == slug::owner(repository))
    };
    let found = ventures.iter().find(|(_, entry)| by_name(entry));
    found.or_else(|| ventures.iter().find(|(_, entry)| by_owner(entry))).map(named)
}

/// What people call a venture.
pub(crate) fn called(code: &str, entry: &VentureEntry) -> String {
    if entry.name.is_empty() { code.to_owned() } else { entry.name.clone() }
}

/// A name of letters, digits, `.`, `_` and `-` that begins with one of the first two.
pub(crate) fn plain(text: &str) -> String {
    let mapped: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let trimmed = mapped.trim_start_matches(['.', '_', '-']);
    if trimmed.is_empty() { "here".to_owned() } else { cut(trimmed, 100) }
}

fn cut(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn ventures() -> BTreeMap<String, VentureEntry> {
        let entry = |organisation: Option<&str>, repositories: &[&str]| VentureEntry {
            organisation: organisation.map(str::to_owned),
            repositories: repositories.iter().map(|r| (*r).to_owned()).collect(),
            ..VentureEntry::default()
        };
        BTreeMap::from([
            ("ac".to_owned(), entry(Some("acme"), &[])),
            ("labs".to_owned(), entry(Some("https://github.com/acme-labs"), &[])),
            ("app".to_owned(), entry(None, &["Acme/App", "git@gitlab.com:acme/app.git"])),
        ])
    }

    #[test]
    fn a_venture_is_matched_by_its_whole_repository_or_organisation() {
        let code = |slug: &str| venture_of(slug, &ventures()).map(|v| v.code);
        assert_eq!(code("github.com/acme/tool").as_deref(), Some("ac"));
        assert_eq!(code("github.com/acme-labs/tool").as_deref(), Some("labs"));
        assert_eq!(code("github.com/acme/app").as_deref(), Some("app"), "a repository goes before an owner");
        assert_eq!(code("gitlab.com/acme/app").as_deref(), Some("app"));
        for other in [
            "github.com/notacme/tool",
            "github.com/acme2/tool",
            "gitlab.com/acme/tool",
            "github.com/acm/e",
            "evil.com/acme/app",
        ] {
            assert_eq!(code(other), None, "{other}");
        }
    }

    #[test]
    fn without_ventures_the_repository_is_one() {
        let venture = venture_of("github.com/acme/My App", &BTreeMap::new()).unwrap();
        assert_eq!(venture.name, "My App");
        assert!(venture.code.starts_with("my-app-"), "{}", venture.code);
        let other = venture_of("github.com/evil/My App", &BTreeMap::new()).unwrap();
        assert_ne!(venture.code, other.code, "a repository of another owner is another venture");
        assert_ne!(venture_of("github.com/evil/global", &BTreeMap::new()).unwrap().code, "global");
        assert_eq!(plain("…"), "here");
    }
}
