//! The documents of a day: what is missing in the store is made there, what is missing in the repository becomes a plan.

use contract::{Code, Fault};
use kit::ReadDesk;
use serde_json::Value;
use store_api::Context;

use super::output::{Audit, Proposal};
use crate::audit;
use crate::here::Here;
use crate::tools::doc_audit::DocAudit;

/// Holds the documents against the repository, and heals what is missing or was generated otherwise. Dropping it ends it.
pub(crate) async fn audited(
    desk: &ReadDesk,
    here: &Here,
    store: &dyn Context,
) -> Result<Option<Audit>, Fault> {
    let Some(venture) = &here.venture else { return Ok(None) };
    let requirements = audit::requirements(desk)?;
    let kept = audit::kept(store, venture, &requirements).await?;
    let leave = desk.cancelled().child_token();
    let _leaving = leave.clone().drop_guard();
    let place = here.clone();
    let found = desk.blocking(move |desk| audit::look(desk, &place, &requirements, &kept, &leave)).await?;
    let mut said = Audit::default();
    let mut proposes = false;
    for document in &found {
        let name = document.said.path.clone().unwrap_or_else(|| document.said.name.clone());
        if let Some((None, made)) = &document.heals {
            store.put(audit::kept_of(venture, document, made)).await?;
            said.healed.push(name);
            said.present += 1;
            continue;
        }
        proposes |= document.heals.is_some();
        match document.said.state {
            documents::State::Missing => said.missing.push(name),
            documents::State::Stale => said.stale.push(name),
            documents::State::Fresh | documents::State::HandWritten => said.present += 1,
        }
    }
    if proposes {
        said.plan = proposal(desk).await?;
    }
    Ok(Some(said))
}

async fn proposal(desk: &ReadDesk) -> Result<Option<Proposal>, Fault> {
    let (input, arguments) = DocAudit::fixing();
    let Value::Object(arguments) = arguments else { return Ok(None) };
    match desk.propose(&DocAudit, input, &arguments).await {
        Ok(proposed) => Ok(proposed.map(|proposed| Proposal {
            id: proposed.plan.to_string(),
            tool: "doc_audit".to_owned(),
            arguments,
            effects: proposed.effects,
        })),
        // Nothing may be written here: what is missing is told all the same.
        Err(fault) if matches!(fault.code, Code::Forbidden | Code::PathNotAllowed) => Ok(None),
        Err(fault) => Err(fault),
    }
}
