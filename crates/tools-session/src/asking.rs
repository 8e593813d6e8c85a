//! How GitHub is asked about a repository: by its own program where that is signed in, else by the REST API with a token.

use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Fault};
use exec::fetch::Fetcher;
use exec::helper::{self, Program};
use github::{api, refused};
use kit::ReadDesk;
use schemars::JsonSchema;
use serde::Serialize;

use crate::workplace::Workplace;

/// How long a question may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long `gh` may take to say whether it is signed in.
const SIGNED: Duration = Duration::from_secs(3);

/// How GitHub is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// By its own program.
    Gh,
    /// By its API.
    Rest,
}

/// Whether `gh` can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gh {
    /// It is signed in.
    Signed,
    /// It is not.
    Unsigned,
    /// It is not installed.
    Missing,
    /// The user does not want it.
    Unwanted,
}

/// Who is asked, about which repository.
#[derive(Clone)]
pub struct Asking {
    pub(crate) via: Via,
    workplace: Arc<dyn Workplace>,
    host: String,
    /// `owner/name`.
    pub repository: String,
}

/// Whether `gh` can be asked here.
pub(crate) async fn gh(desk: &ReadDesk, workplace: &dyn Workplace) -> Result<Gh, Fault> {
    let settings = workplace.github();
    // It would ask the host, and not another address.
    if !settings.gh || settings.api.is_some() {
        return Ok(Gh::Unwanted);
    }
    if helper::place(Program::Gh, desk.view().root().path()).is_err() {
        return Ok(Gh::Missing);
    }
    // Asks nobody: it looks whether there are credentials. What it prints is dropped.
    let args = ["auth", "token", "--hostname", &settings.host].map(str::to_owned).to_vec();
    let said = desk.helper(Program::Gh, args, SIGNED).await?;
    Ok(if said.is_ok_and(|said| said.code == Some(0)) { Gh::Signed } else { Gh::Unsigned })
}

impl Asking {
    /// How the repository that is called `slug` (`host/owner/name`) is asked about; or why it is not.
    pub async fn of(
        desk: &ReadDesk,
        workplace: Arc<dyn Workplace>,
        slug: &str,
    ) -> Result<Result<Self, String>, Fault> {
        let host = workplace.github().host.to_lowercase();
        let Some(repository) = slug.strip_prefix(&format!("{host}/")).map(str::to_owned) else {
            return Ok(Err(format!("{slug} is not at {host}")));
        };
        let via = match (gh(desk, &*workplace).await?, workplace.github_token()) {
            (Gh::Signed, _) => Via::Gh,
            (_, Some(_)) => Via::Rest,
            (Gh::Missing, None) => {
                return Ok(Err("gh is not installed, and there is no token: install it (https://cli.github.com) and run gh auth login, or set GH_TOKEN".to_owned()));
            }
            (Gh::Unsigned, None) => {
                return Ok(Err(format!(
                    "gh is not signed in at {host}, and there is no token: run gh auth login --hostname {host}"
                )));
            }
            (Gh::Unwanted, None) => {
                return Ok(Err("there is no token: set GH_TOKEN, or token-env of [github]".to_owned()));
            }
        };
        Ok(Ok(Self { via, workplace, host, repository }))
    }

    /// Where a path of the API is.
    #[must_use]
    pub fn url(&self, endpoint: &str) -> String {
        let settings = self.workplace.github();
        let base = settings.api.clone().unwrap_or_else(|| api(&self.host));
        format!("{}/{endpoint}", base.trim_end_matches('/'))
    }

    /// What is answered to a question.
    pub async fn get(&self, desk: &ReadDesk, endpoint: String) -> Result<Vec<u8>, Fault> {
        match self.via {
            Via::Gh => self.by_gh(desk, endpoint).await,
            Via::Rest => self.by_rest(desk, &endpoint).await,
        }
    }

    async fn by_gh(&self, desk: &ReadDesk, endpoint: String) -> Result<Vec<u8>, Fault> {
        let version = format!("X-GitHub-Api-Version: {}", github::VERSION);
        let args = ["api", "--hostname", &self.host, "--method", "GET", "--header", &version, &endpoint];
        let said = desk.helper(Program::Gh, args.map(str::to_owned).to_vec(), PATIENCE).await?;
        let said = said.map_err(|error| failed(&error.to_string()))?;
        if said.code == Some(0) {
            return Ok(said.stdout);
        }
        // `gh: Not Found (HTTP 404)`; the body is on standard output.
        let status = said
            .stderr
            .rsplit_once("(HTTP ")
            .and_then(|(_, rest)| rest.get(..3))
            .and_then(|text| text.parse().ok());
        Err(match (status, said.code) {
            (Some(status), _) => failed(&refused(status, &said.stdout).to_string()),
            (None, Some(4)) => failed(&refused(401, b"").to_string()),
            (None, _) => {
                let line = said
                    .stderr
                    .lines()
                    .map(str::trim)
                    .find(|line| !line.is_empty())
                    .unwrap_or("it said nothing");
                failed(&format!("gh: {}", line.chars().take(200).collect::<String>()))
            }
        })
    }

    async fn by_rest(&self, desk: &ReadDesk, endpoint: &str) -> Result<Vec<u8>, Fault> {
        let url = self.url(endpoint);
        let token = self.workplace.github_token().unwrap_or_default();
        let answer = desk
            .blocking(move |_| {
                let authorization = format!("Bearer {token}");
                let headers = [
                    ("accept", "application/vnd.github+json"),
                    ("x-github-api-version", github::VERSION),
                    ("authorization", authorization.as_str()),
                ];
                Fetcher::default()
                    .get_with(&url, &headers, PATIENCE)
                    .map_err(|error| failed(&error.to_string()))
            })
            .await?;
        match answer.status {
            200 => Ok(answer.body),
            status => Err(failed(&refused(status, &answer.body).to_string())),
        }
    }
}

pub(crate) fn failed(why: &str) -> Fault {
    Fault::new(Code::ToolExecutionFailed, why.to_owned())
}
