//! How an upstream stands, for whoever looks after this machine: what of it is there, whether it answers, whether it says what
//! was approved. No program is started that nobody approved.

use std::sync::Arc;

use contract::Fault;
use kit::lock::Lock;
use serde_json::Value;

use crate::link::Link;
use crate::{Gateway, Health, program};

/// How an upstream stands.
#[derive(Debug)]
pub enum Stand {
    /// Its program is not there, or is one that is not started.
    Absent(Fault),
    /// Nothing of it is approved: it is not started and not connected to.
    Unapproved,
    /// Its program or the code that this runs is other than all that was approved: it is not started.
    Other,
    /// It was asked, and does not answer as it should.
    Failed(Fault),
    /// It answers; the tools that are not as they were approved, or gone, are named.
    Asked(Health, Vec<String>),
}

impl Gateway {
    /// How each upstream stands.
    pub async fn stands(&self, approved: &Lock) -> Vec<(&str, Stand)> {
        // Each is told what is approved of it; what is offered of that is not asked for here.
        drop(self.approved(approved));
        let asked = self.links.iter().map(|(name, link)| async move { (name.as_str(), stands(link).await) });
        futures_util::future::join_all(asked).await
    }
}

async fn stands(link: &Arc<Link>) -> Stand {
    let identities = link.identities();
    if let Some(program) = link.upstream().program() {
        let (program, ground) = (program.clone(), Arc::clone(link.ground()));
        let found = tokio::task::spawn_blocking(move || program::now(&program, &ground)).await;
        match found {
            Err(_) => return Stand::Absent(Fault::internal("a program could not be looked for")),
            Ok(Err(fault)) => return Stand::Absent(fault),
            Ok(Ok(_)) if identities.is_empty() => return Stand::Unapproved,
            Ok(Ok(now)) => {
                let is_it = |identity: &Value| identity.pointer("/upstream/program") == Some(&now);
                if !identities.iter().any(is_it) {
                    return Stand::Other;
                }
            }
        }
    }
    if identities.is_empty() {
        return Stand::Unapproved;
    }
    match link.health().await {
        Ok(health) => Stand::Asked(health, link.held_back().into_iter().collect()),
        Err(fault) => Stand::Failed(fault),
    }
}
