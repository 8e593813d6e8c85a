//! Documents.

use std::sync::Arc;

use store_api::day::DAY;
use store_api::document::Origin;
use store_api::once::Once;
use store_api::server::TextKind;

use crate::serve::App;
use crate::serve::table::{Handle, Reply};
use crate::wire::DoneOrNot;
use crate::wire::admin::Requirement;
use crate::wire::document::{
    Audit, Doc, DocList, Docs, Generated, MaybeDocument, OneDocument, RemoveDoc, Written,
};
use crate::wire::error::{ApiError, ErrorCode};
use crate::wire::session::DocAudit;

/// Rows of an index that asks for no number.
const ROWS: u32 = 100;
/// Most documents of a venture that are looked through.
const MOST: u32 = 1_000;
/// Days after which a document counts as stale.
const STALE: u32 = 90;

impl Handle for Docs {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<DocList>, ApiError> {
        let scopes = self.scope.split(',').map(str::to_owned).collect();
        let index = app.store.index(scopes, self.limit.unwrap_or(ROWS)).await?;
        Ok(DocList::from(index).into())
    }
}

impl Handle for Audit {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<DocAudit>, ApiError> {
        Ok(audited(&app, &self.venture).await?.into())
    }
}

/// Which of the documents that a venture needs are there.
pub(super) async fn audited(app: &App, venture: &str) -> Result<DocAudit, ApiError> {
    let mut said = DocAudit::default();
    let rows = app.store.index(vec![venture.to_owned()], MOST).await?.rows;
    let known = app.ventures.iter().find(|known| known.code == venture);
    for text in app.store.texts(TextKind::Requirement).await? {
        let requirement: Requirement = serde_json::from_str(&text.content)
            .map_err(|e| ApiError::new(ErrorCode::Internal, format!("a requirement cannot be read: {e}")))?;
        let is_needed = requirement
            .capability
            .as_ref()
            .is_none_or(|needed| known.is_some_and(|known| known.capabilities.contains(needed)));
        if !is_needed {
            continue;
        }
        let document = rows.iter().find(|row| row.name == requirement.name);
        let most = i64::from(requirement.max_age_days.unwrap_or(STALE)).saturating_mul(DAY);
        let list = match document {
            None => &mut said.missing,
            Some(row) if app.now().as_millis() - row.updated.as_millis() >= most => &mut said.stale,
            Some(_) => &mut said.present,
        };
        list.push(requirement.name);
    }
    Ok(said)
}

impl Handle for Doc {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<MaybeDocument>, ApiError> {
        let document = app.store.document(self.scope, self.name).await?;
        let etag = document.as_ref().map(|document| document.row.sha256.clone());
        Ok(Reply { etag, ..MaybeDocument { document }.into() })
    }
}

impl Handle for Generated {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<OneDocument>, ApiError> {
        let document = app.store.put(self.doc.kept(Origin::Generated)).await?;
        Ok(OneDocument { document }.into())
    }
}

impl Handle for Written {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<OneDocument>, ApiError> {
        let document = app.store.put(self.doc.kept(Origin::Written)).await?;
        Ok(OneDocument { document }.into())
    }
}

impl Handle for RemoveDoc {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<DoneOrNot>, ApiError> {
        Ok(DoneOrNot { done: app.store.remove(self.scope, self.name).await? }.into())
    }
}
