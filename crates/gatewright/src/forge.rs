//! The user's own account at GitHub, for requests that plans send to its API: that of GitHub's own program, where it is signed in, else
//! the token of the environment. It is asked for when something is sent, and goes to that one host.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use exec::helper::{self, Program};
use exec::push::Remote;
use exec::request::{Egress, Told};
use exec::{Root, StateDir};
use tokio_util::sync::CancellationToken;
use tools_session::settings::GithubSection;

use crate::workplace::token;

/// How long GitHub's own program may take to say its token.
const PATIENCE: Duration = Duration::from_secs(5);

/// `egress` with the account that `[github]` is about.
pub fn signed(egress: Egress, github: &GithubSection, root: Option<&Root>, state: &StateDir) -> Egress {
    let api = github.api.clone().unwrap_or_else(|| github::api(&github.host));
    let Some(host) = Remote::of_url(&api) else { return egress };
    let github = github.clone();
    let nowhere = state.nowhere().ok();
    let root = root.map(|root| root.path().to_owned()).or_else(|| nowhere.clone());
    let told: Told = Arc::new(move || {
        // The same account as is asked beforehand: see `Asking`.
        let of_gh = || of_program(&github, root.clone()?, nowhere.clone()?);
        of_gh().or_else(|| token(&github)).map(|token| format!("Bearer {token}"))
    });
    egress.with_credential(&host.to_string(), "authorization", told)
}

/// The token that `gh` has for the host. It is for that host's own API, and not for another address.
fn of_program(github: &GithubSection, root: PathBuf, nowhere: PathBuf) -> Option<String> {
    if !github.gh || github.api.is_some() {
        return None;
    }
    let args = ["auth", "token", "--hostname", &github.host];
    let said =
        helper::run(Program::Gh, (&root, &nowhere), &args, PATIENCE, &CancellationToken::new()).ok()?;
    let token = String::from_utf8(said.stdout).ok().filter(|_| said.code == Some(0))?;
    let token = token.trim();
    (!token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic())).then(|| token.to_owned())
}
