//! Is everything there to begin a day.
//!
//! Four checks, each with what to do: the key of the context, GitHub's program, the git repository, the context itself. Says what is
//! written to, and whether the program on disk was replaced since it started.

use std::time::Duration;

use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use store_api::StoreError;

use crate::asking::{self, Gh};
use crate::here::Here;
use crate::workplace::{Build, Link, StoreKind};
use kit::markdown::text;

/// How long the context may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The arguments: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// The key of a context that is elsewhere.
    ContextKey,
    /// GitHub's own program.
    GithubCli,
    /// The root's repository.
    GitRepository,
    /// Whether the context answers.
    ContextHealth,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is as it should be.
    Pass,
    /// It is not.
    Fail,
    /// Something is left out for it.
    Warn,
}

/// A check.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Check {
    /// What was checked.
    name: Name,
    /// How it ended.
    status: Verdict,
    /// In words.
    message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// What is written to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Using {
    /// Of which kind it is.
    store: StoreKind,
    /// How the context stands, where it is somewhere else.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    link: Option<Link>,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Whether every check passed.
    all_passed: bool,
    /// Whether no day can begin.
    has_critical_failure: bool,
    /// The checks.
    checks: Vec<Check>,
    /// What is written to.
    using: Using,
    /// The program that answers.
    build: Build,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Preflight;

impl Define for Preflight {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "preflight";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("preflight.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Read for Preflight {
    async fn read(&self, _: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let using = here.workplace.using();
        let (health, github) = tokio::join!(health(&desk, using), github(&desk, &here));
        let checks = vec![key(here.workplace.has_key().await), github?, repository(&here), health];
        let link = here.workplace.link().await;
        let is_critical = |check: &&Check| matches!(check.name, Name::ContextKey | Name::ContextHealth);
        let has_critical_failure =
            checks.iter().filter(is_critical).any(|check| check.status == Verdict::Fail);
        let all_passed = checks.iter().all(|check| check.status == Verdict::Pass);
        let mut message = String::new();
        for check in &checks {
            let word = match check.status {
                Verdict::Pass => "pass",
                Verdict::Fail => "fail",
                Verdict::Warn => "warn",
            };
            message.push_str(&format!("- {word}: {}", text(&check.message)));
            if let Some(fix) = &check.fix {
                message.push_str(&format!(" Next: {fix}"));
            }
            message.push('\n');
        }
        let build = here.workplace.build();
        if build.replaced {
            message.push_str(
                "- warn: the program on disk was replaced: exit and relaunch the client to use it\n",
            );
        }
        let mut answer = Answer::new(
            message,
            Output { all_passed, has_critical_failure, checks, using: Using { store: using, link }, build },
        );
        answer.success = !has_critical_failure;
        Ok(answer)
    }
}

fn passed(name: Name, message: impl Into<String>) -> Check {
    Check { name, status: Verdict::Pass, message: message.into(), fix: None }
}

fn key(has: Option<bool>) -> Check {
    match has {
        None => passed(Name::ContextKey, "the store needs no key"),
        Some(true) => passed(Name::ContextKey, "there is a key for the context"),
        Some(false) => Check {
            name: Name::ContextKey,
            status: Verdict::Fail,
            message: "there is no key for the context".to_owned(),
            fix: Some("`gatewright context login`, or set GATEWRIGHT_CONTEXT_KEY".to_owned()),
        },
    }
}

async fn github(desk: &ReadDesk, here: &Here) -> Result<Check, Fault> {
    let has_token = here.workplace.github_token().is_some();
    let failed = |message: &str, fix: &str| Check {
        name: Name::GithubCli,
        status: Verdict::Fail,
        message: format!("{message}, so issues are not shown"),
        fix: Some(fix.to_owned()),
    };
    let host = &here.workplace.github().host;
    Ok(match (asking::gh(desk, &*here.workplace).await?, has_token) {
        (Gh::Signed, _) => passed(Name::GithubCli, "gh is signed in"),
        (_, true) => passed(Name::GithubCli, "the REST API is asked, with the token of the environment"),
        (Gh::Missing, false) => {
            failed("gh is not installed", "install it from https://cli.github.com, then `gh auth login`")
        }
        (Gh::Unsigned, false) => failed("gh is not signed in", &format!("`gh auth login --hostname {host}`")),
        (Gh::Unwanted, false) => {
            failed("gh is switched off, and there is no token", "set GH_TOKEN, or `gh = true` in [github]")
        }
    })
}

fn repository(here: &Here) -> Check {
    let warn = |message: &str, fix: &str| Check {
        name: Name::GitRepository,
        status: Verdict::Warn,
        message: message.to_owned(),
        fix: Some(fix.to_owned()),
    };
    match &here.repository {
        None => warn(
            "there is no root: sessions need one",
            "start the server in a git repository, or name one with `--root PATH`",
        ),
        Some(repository) if !repository.is_git => {
            warn("this is no git repository: handoffs cannot be held against it", "`git init`")
        }
        Some(repository) => passed(Name::GitRepository, format!("{} is a git repository", repository.slug)),
    }
}

async fn health(desk: &ReadDesk, using: StoreKind) -> Check {
    let failed = |message: String| Check {
        name: Name::ContextHealth,
        status: Verdict::Fail,
        message,
        fix: Some("`gatewright doctor` says more".to_owned()),
    };
    let store = match crate::sod::store(desk) {
        Ok(store) => store,
        Err(fault) => return failed(fault.message),
    };
    match tokio::time::timeout(PATIENCE, store.machines()).await {
        Ok(Ok(_)) => {
            let what = match using {
                StoreKind::Sqlite => "the store of this machine",
                StoreKind::Postgres => "the team's database",
                StoreKind::Remote => "the team's context",
            };
            passed(Name::ContextHealth, format!("{what} answers"))
        }
        // The day goes on without it.
        Ok(Err(StoreError::Unreachable(why))) if using == StoreKind::Remote => Check {
            name: Name::ContextHealth,
            status: Verdict::Warn,
            message: format!(
                "the context does not answer ({why}): what is written waits here, what is read is of before"
            ),
            fix: Some("see that you are in its network, then call again".to_owned()),
        },
        Ok(Err(error)) => failed(error.to_string()),
        Err(_) => failed("the store did not answer within 5 s".to_owned()),
    }
}
