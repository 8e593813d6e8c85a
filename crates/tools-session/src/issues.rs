//! Issues of this repository.

use contract::Fault;
use github::{Found, Question, read};
use kit::ReadDesk;

use crate::asking::{Asking, failed};
use crate::here::Here;
use crate::settings::IssueList;

/// How this repository's issues are asked for; or why they are not.
pub(crate) async fn asking(desk: &ReadDesk, here: &Here) -> Result<Result<Asking, String>, Fault> {
    Asking::of(desk, here.workplace.clone(), &here.repository()?.slug).await
}

/// Asks for a list.
pub(crate) async fn ask(asking: &Asking, desk: &ReadDesk, list: &IssueList) -> Result<Found, Fault> {
    let question = Question { repository: &asking.repository, labels: &list.labels, most: list.most };
    let endpoint = question.endpoint().map_err(|e| Fault::invalid(e.to_string()).about("gatewright.toml"))?;
    read(&asking.get(desk, endpoint).await?).map_err(|error| failed(&error.to_string()))
}
