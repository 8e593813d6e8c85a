//! Sessions.

use std::sync::Arc;

use store_api::day::{DOCUMENTS, HANDOFFS, HANDOFFS_SINCE, NOTES, SESSIONS};
use store_api::document::GLOBAL;
use store_api::handoff::HandoffQuery;
use store_api::id::{HandoffId, SessionId};
use store_api::once::Once;
use store_api::session::{Begin, Begun, LiveQuery};
use store_api::{Timestamp, session};

use super::{document, done, next_heartbeat, part};
use crate::serve::App;
use crate::serve::table::{Handle, Reply};
use crate::wire::Page;
use crate::wire::error::ApiError;
use crate::wire::question;
use crate::wire::session::{
    Active, Alive, Current, Day, DocIndex, Ended, Eod, Heartbeat, MaybeSession, Morning, SessionById,
    Siblings, Sod, Update,
};

impl Handle for Sod {
    async fn handle(self, app: Arc<App>, once: Option<Once>) -> Result<Reply<Day>, ApiError> {
        let made = SessionId::new(app.now(), App::random()?);
        let new = Begin {
            id: self.session_id.unwrap_or(made),
            key: self.key,
            speaker: self.speaker,
            standing: self.standing,
            by: self.by,
        };
        let begun = app.store.begin(new, once).await?;
        let morning = if self.only_session {
            None
        } else {
            Some(morning(&app, &begun.value, self.notes_characters).await?)
        };
        let next_heartbeat_at = next_heartbeat(&app);
        Ok(done(begun, |Begun { session, resumed, ended }| Day {
            session,
            resumed,
            ended,
            next_heartbeat_at,
            morning,
        }))
    }
}

async fn morning(app: &App, begun: &Begun, characters: u64) -> Result<Morning, ApiError> {
    let key = &begun.session.key;
    let (venture, repo) = (Some(key.venture.clone()), Some(key.repo.clone()));
    let since = Timestamp::from_millis(app.now().as_millis().saturating_sub(HANDOFFS_SINCE));
    let place = HandoffQuery { venture: venture.clone(), repo, ..HandoffQuery::all(HANDOFFS) };
    let last = HandoffQuery { track: Some(key.track.clone()), limit: 1, ..place.clone() };
    let live = LiveQuery { except: Some(begun.session.id.clone()), venture, ..LiveQuery::all(SESSIONS) };
    let (handoffs, last, live, index, audit, notes) = tokio::join!(
        app.store.handoffs(HandoffQuery { since: Some(since), ..place }),
        app.store.handoffs(last),
        app.store.live(live),
        app.store.index(vec![key.venture.clone(), GLOBAL.to_owned()], DOCUMENTS),
        document::audited(app, &key.venture),
        app.store.for_day(key.venture.clone(), NOTES, characters),
    );
    let (index, notes) = (index?, notes?);
    Ok(Morning {
        handoffs: handoffs?.items,
        last_handoff: last?.items.into_iter().next(),
        active_sessions: live?.items,
        doc_index: DocIndex { total: index.total, docs: index.rows },
        doc_audit: audit?,
        notes: notes.notes,
        notes_cut: notes.cut,
        notes_total: notes.total,
    })
}

impl Handle for Eod {
    async fn handle(self, app: Arc<App>, once: Option<Once>) -> Result<Reply<Ended>, ApiError> {
        let made = HandoffId::new(app.now(), App::random()?);
        let handoff = self.handoff.map(|handoff| handoff.kept(made));
        let ended = app.store.end(self.session_id, handoff, self.reason, once).await?;
        Ok(done(ended, |(session, handoff)| Ended { session, handoff }))
    }
}

impl Handle for Update {
    async fn handle(self, app: Arc<App>, once: Option<Once>) -> Result<Reply<Alive>, ApiError> {
        let update =
            session::Update { id: self.session_id, expected: self.expected_version, standing: self.standing };
        let updated = app.store.update(update, once).await?;
        let next_heartbeat_at = next_heartbeat(&app);
        Ok(done(updated, |session| Alive { session, next_heartbeat_at }))
    }
}

impl Handle for Heartbeat {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<Alive>, ApiError> {
        let session = app.store.heartbeat(self.session_id).await?;
        Ok(Alive { session, next_heartbeat_at: next_heartbeat(&app) }.into())
    }
}

impl Handle for SessionById {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<MaybeSession>, ApiError> {
        Ok(MaybeSession { session: app.store.session(self.session_id).await? }.into())
    }
}

impl Handle for Current {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<MaybeSession>, ApiError> {
        Ok(MaybeSession { session: app.store.current(self.key).await? }.into())
    }
}

impl Handle for Siblings {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<Page<session::Session>>, ApiError> {
        let question = question(&self);
        let id = self.session_id;
        let own = app.store.session(id.clone()).await?;
        let own = own.ok_or_else(|| ApiError::missing("session", id.as_str()))?;
        let (limit, after) = part(self.part, &question)?;
        let query = LiveQuery { except: Some(id), venture: Some(own.key.venture), repo: None, limit, after };
        Ok(Page::of(app.store.live(query).await?, &question).into())
    }
}

impl Handle for Active {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<Page<session::Session>>, ApiError> {
        let question = question(&self);
        let (limit, after) = part(self.part, &question)?;
        let query = LiveQuery { except: self.except, venture: self.venture, repo: self.repo, limit, after };
        Ok(Page::of(app.store.live(query).await?, &question).into())
    }
}
