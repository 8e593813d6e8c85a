//! Handoffs and checkpoints.

use std::sync::Arc;

use store_api::handoff::{Checkpoint, Handoff, HandoffQuery, NewCheckpoint};
use store_api::id::CheckpointId;
use store_api::once::Once;

use super::{done, next_heartbeat, part};
use crate::serve::App;
use crate::serve::table::{Handle, Reply};
use crate::wire::Page;
use crate::wire::error::ApiError;
use crate::wire::handoff::{Checked, CheckpointIn, Checkpoints, Handoffs, Latest, MaybeHandoff};
use crate::wire::question;

impl Handle for CheckpointIn {
    async fn handle(self, app: Arc<App>, once: Option<Once>) -> Result<Reply<Checked>, ApiError> {
        let Self { id, session_id: session, summary, anchor, payload } = self;
        let id = id.unwrap_or(CheckpointId::new(app.now(), App::random()?));
        let new = NewCheckpoint { id, session, summary, anchor, payload };
        let kept = app.store.checkpoint(new, once).await?;
        let next_heartbeat_at = next_heartbeat(&app);
        Ok(done(kept, |checkpoint| Checked { checkpoint, next_heartbeat_at }))
    }
}

impl Handle for Checkpoints {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<Page<Checkpoint>>, ApiError> {
        let question = question(&self);
        let (limit, after) = part(self.part, &question)?;
        Ok(Page::of(app.store.checkpoints(self.session_id, limit, after).await?, &question).into())
    }
}

impl Handle for Handoffs {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<Page<Handoff>>, ApiError> {
        let question = question(&self);
        let Self { venture, repo, track, session_id: session, since, part: asked } = self;
        let (limit, after) = part(asked, &question)?;
        let query = HandoffQuery { venture, repo, track, session, since, limit, after };
        Ok(Page::of(app.store.handoffs(query).await?, &question).into())
    }
}

impl Handle for Latest {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<MaybeHandoff>, ApiError> {
        let Self { venture, repo, track } = self;
        let query = HandoffQuery { venture, repo, track, ..HandoffQuery::all(1) };
        let handoff = app.store.handoffs(query).await?.items.into_iter().next();
        Ok(MaybeHandoff { handoff }.into())
    }
}
