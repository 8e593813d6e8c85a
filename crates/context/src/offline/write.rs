//! Writings: sent to the context, else kept for it and answered from here.

use serde::de::DeserializeOwned;
use store_api::document::{Document, Index, NewDocument};
use store_api::handoff::{Checkpoint, From as Sender, Handoff, HandoffQuery, NewCheckpoint, NewHandoff};
use store_api::id::{MachineId, NoteId, SessionId};
use store_api::machine::{Machine, NewMachine};
use store_api::note::{DayNotes, EXCERPT, NewNote, Note, NoteHit, NotePage, NotePatch, NoteQuery, sorted};
use store_api::once::{Done, Once};
use store_api::outbox::Letter;
use store_api::session::{Begin, Begun, LiveQuery, Session, SessionKey, SessionStatus, Standing, Update};
use store_api::{Answer, Cursor, Documents, Machines, Notes, Page, Sessions, StoreError};

use super::stand_in;
use super::{Offline, PATIENCE};
use crate::client::{self, Sent};
use crate::wire::Endpoint;
use crate::wire::note::DayNotesOut;

impl Offline {
    /// Sends a write, after what waits; where nobody answers it is kept, and `None` says that an answer from here is wanted.
    async fn sent<E: Endpoint>(
        &self,
        request: &E,
        once: Option<&Once>,
    ) -> Result<Result<Done<E::Answer>, Sent>, StoreError>
    where
        E::Answer: DeserializeOwned,
    {
        once.map_or(Ok(()), Once::check)?;
        let sent = client::sent(request, once)?;
        if !self.remote.has_key().await {
            // Nothing would ever arrive.
            self.remote.send(&sent).await?;
        }
        if !self.caught_up().await? || self.rests() {
            return Ok(Err(sent));
        }
        match tokio::time::timeout(PATIENCE, self.remote.send(&sent)).await {
            Ok(Ok((body, replayed))) => {
                self.is_back();
                match serde_json::from_slice(&body) {
                    Ok(value) => Ok(Ok(Done { value, replayed: replayed && once.is_some() })),
                    Err(error) => Err(StoreError::Refused(format!("its answer cannot be read: {error}"))),
                }
            }
            Ok(Err(StoreError::Unreachable(_))) | Err(_) => {
                self.is_away();
                Ok(Err(sent))
            }
            Ok(Err(error)) => Err(error),
        }
    }

    /// Keeps a write for later: before anybody is told that it was done.
    async fn kept(&self, sent: Sent) -> Result<(), StoreError> {
        let Sent { target, body, once, .. } = sent;
        let (Some(body), Some((key, request))) = (body, once) else {
            return Err(StoreError::Refused("only writes wait".to_owned()));
        };
        self.outbox.post(Letter { key, request, context: self.context(), path: target, body }).await?;
        Ok(())
    }

    pub(super) async fn keep_session(&self, session: &Session) -> Result<(), StoreError> {
        self.keep(&stand_in::session(&session.id), &Some(session)).await?;
        let active = (session.status == SessionStatus::Active).then_some(session);
        self.keep(&stand_in::current(&session.key), &active).await
    }

    /// A session that is known here and goes on.
    async fn open(&self, id: &SessionId) -> Result<Session, StoreError> {
        let kept: Option<Session> = self.last(&stand_in::session(id)).await?.flatten();
        let session = kept.ok_or_else(|| {
            StoreError::Unreachable(format!("the context does not answer, and {id} is not known here"))
        })?;
        match session.status {
            SessionStatus::Active => Ok(session),
            status => Err(StoreError::Closed { id: session.id, status }),
        }
    }

    async fn begin_here(&self, begin: Begin, known: Option<Session>) -> Result<Begun, StoreError> {
        let now = self.now();
        let resumed = known.is_some();
        let Begin { id, key, speaker, standing, by } = begin;
        let session = match known {
            Some(known) => {
                let goes = if standing == Standing::default() { known.standing } else { standing };
                Session { heartbeat: now, version: known.version + 1, standing: goes, speaker, ..known }
            }
            None => Session {
                id,
                key,
                status: SessionStatus::Active,
                speaker,
                started_commit: standing.commit.clone(),
                standing,
                started: now,
                heartbeat: now,
                ended: None,
                version: 1,
                by,
            },
        };
        self.keep_session(&session).await?;
        Ok(Begun { session, resumed, ended: Vec::new() })
    }

    async fn end_here(
        &self,
        id: &SessionId,
        new: Option<NewHandoff>,
    ) -> Result<(Session, Option<Handoff>), StoreError> {
        let now = self.now();
        let open = self.open(id).await?;
        let session = Session {
            status: SessionStatus::Ended,
            ended: Some(now),
            heartbeat: now,
            version: open.version + 1,
            ..open
        };
        let handoff = new.map(|new| Handoff {
            id: new.id,
            session: session.id.clone(),
            venture: session.key.venture.clone(),
            repo: session.key.repo.clone(),
            track: session.key.track.clone(),
            summary: new.summary,
            status: new.status,
            issue: new.issue,
            anchor: new.anchor,
            payload: new.payload,
            at: now,
            from: Sender { agent: session.key.agent.clone(), machine: session.speaker.machine.clone() },
        });
        self.keep_session(&session).await?;
        if let Some(handoff) = &handoff {
            let place = [Some(&*handoff.venture), Some(&*handoff.repo), None, None];
            for recent in [true, false] {
                self.prepend(&stand_in::handoffs(place, recent), handoff.clone()).await?;
            }
        }
        Ok((session, handoff))
    }

    async fn add_here(&self, new: NewNote) -> Result<Note, StoreError> {
        let now = self.now();
        let NewNote { id, venture, title, content, tags, by } = new;
        let tags = sorted(&tags);
        let note = Note {
            id,
            venture,
            title,
            content,
            tags,
            version: 1,
            archived: false,
            created: now,
            updated: now,
            by,
        };
        self.keep(&stand_in::note(&note.id), &Some(&note)).await?;
        let hit = NoteHit {
            id: note.id.clone(),
            venture: note.venture.clone(),
            title: note.title.clone(),
            tags: note.tags.clone(),
            version: 1,
            updated: now,
            characters: note.content.chars().count() as u64,
            excerpt: note.content.chars().take(EXCERPT).collect(),
            snippet: None,
        };
        let own = match &note.venture {
            Some(venture) => [Some(&**venture), None, None],
            None => [None, Some("global"), None],
        };
        for question in [stand_in::notes(own), stand_in::notes([None, None, None])] {
            self.prepend(&question, hit.clone()).await?;
        }
        if let Some(venture) = &note.venture {
            self.first_of_day(venture, &note).await?;
        }
        Ok(note)
    }

    /// A note before the others of a day.
    async fn first_of_day(&self, venture: &str, note: &Note) -> Result<(), StoreError> {
        let question = stand_in::for_day(venture);
        let Some(mut day) = self.last::<DayNotesOut>(&question).await? else { return Ok(()) };
        day.total += 1;
        day.characters += (note.title.chars().count() + note.content.chars().count()) as u64;
        day.notes.insert(0, note.clone());
        self.keep(&question, &day).await
    }

    async fn change_here(&self, patch: NotePatch) -> Result<Note, StoreError> {
        let kept: Option<Note> = self.last(&stand_in::note(&patch.id)).await?.flatten();
        let note = kept.ok_or_else(|| {
            let why = format!("the context does not answer, and {} is not known here", patch.id);
            StoreError::Unreachable(why)
        })?;
        if let Some(expected) = patch.expected.filter(|expected| *expected != note.version) {
            return Err(StoreError::Stale { found: note.version, expected });
        }
        let changed = Note {
            title: patch.title.unwrap_or(note.title),
            content: patch.content.unwrap_or(note.content),
            tags: patch.tags.as_deref().map_or(note.tags, sorted),
            venture: patch.venture.unwrap_or(note.venture),
            archived: patch.archived.unwrap_or(note.archived),
            version: note.version + 1,
            updated: self.now(),
            by: patch.by,
            ..note
        };
        Ok(changed)
    }
}

impl Sessions for Offline {
    fn begin(&self, begin: Begin, once: Option<Once>) -> Answer<Done<Begun>> {
        let own = self.clone();
        Box::pin(async move {
            let request = client::sod(begin.clone())?;
            match own.sent(&request, once.as_ref()).await? {
                Ok(day) => {
                    own.keep_session(&day.value.session).await?;
                    let (session, resumed, ended) = (day.value.session, day.value.resumed, day.value.ended);
                    Ok(Done { value: Begun { session, resumed, ended }, replayed: day.replayed })
                }
                Err(sent) => {
                    // What goes on here goes on there under the name that is known.
                    let known = own.known(&stand_in::current(&begin.key)).await?;
                    let sent = match &known {
                        Some(known) => {
                            let again = Begin { id: known.id.clone(), ..begin.clone() };
                            Sent { once: sent.once, ..client::sent(&client::sod(again)?, None)? }
                        }
                        None => sent,
                    };
                    own.kept(sent).await?;
                    Ok(Done::now(own.begin_here(begin, known).await?))
                }
            }
        })
    }

    fn update(&self, update: Update, once: Option<Once>) -> Answer<Done<Session>> {
        let own = self.clone();
        Box::pin(async move {
            own.caught_up().await?;
            let update = Update { id: own.named(update.id).await?, ..update };
            match own.sent(&client::update(update.clone())?, once.as_ref()).await? {
                Ok(alive) => {
                    own.keep_session(&alive.value.session).await?;
                    Ok(Done { value: alive.value.session, replayed: alive.replayed })
                }
                Err(sent) => {
                    let open = own.open(&update.id).await?;
                    own.kept(sent).await?;
                    let Standing { branch, commit, issue } = update.standing;
                    let standing = Standing {
                        branch: branch.or(open.standing.branch),
                        commit: commit.or(open.standing.commit),
                        issue: issue.or(open.standing.issue),
                    };
                    let (heartbeat, version) = (own.now(), open.version + 1);
                    let session = Session { standing, heartbeat, version, ..open };
                    own.keep_session(&session).await?;
                    Ok(Done::now(session))
                }
            }
        })
    }

    fn heartbeat(&self, id: SessionId) -> Answer<Session> {
        let own = self.clone();
        Box::pin(async move {
            own.caught_up().await?;
            let id = own.named(id).await?;
            match own.try_asking(own.remote.heartbeat(id.clone())).await {
                Ok(session) => {
                    own.keep_session(&session).await?;
                    Ok(session)
                }
                // A sign of life that comes late is none: it is given here alone.
                Err(StoreError::Unreachable(_)) => {
                    let session = Session { heartbeat: own.now(), ..own.open(&id).await? };
                    own.keep_session(&session).await?;
                    Ok(session)
                }
                Err(error) => Err(error),
            }
        })
    }

    fn end(
        &self,
        id: SessionId,
        handoff: Option<NewHandoff>,
        reason: String,
        once: Option<Once>,
    ) -> Answer<Done<(Session, Option<Handoff>)>> {
        let own = self.clone();
        Box::pin(async move {
            own.caught_up().await?;
            let id = own.named(id).await?;
            match own.sent(&client::eod(id.clone(), handoff.clone(), reason)?, once.as_ref()).await? {
                Ok(ended) => {
                    own.keep_session(&ended.value.session).await?;
                    Ok(Done { value: (ended.value.session, ended.value.handoff), replayed: ended.replayed })
                }
                Err(sent) => {
                    // Looked at first: what cannot be ended is not kept either.
                    own.open(&id).await?;
                    own.kept(sent).await?;
                    Ok(Done::now(own.end_here(&id, handoff).await?))
                }
            }
        })
    }

    fn checkpoint(&self, new: NewCheckpoint, once: Option<Once>) -> Answer<Done<Checkpoint>> {
        let own = self.clone();
        Box::pin(async move {
            own.caught_up().await?;
            let new = NewCheckpoint { session: own.named(new.session).await?, ..new };
            match own.sent(&client::checkpoint(new.clone())?, once.as_ref()).await? {
                Ok(kept) => Ok(Done { value: kept.value.checkpoint, replayed: kept.replayed }),
                Err(sent) => {
                    own.open(&new.session).await?;
                    own.kept(sent).await?;
                    let NewCheckpoint { id, session, summary, anchor, payload } = new;
                    // Which one it is only the context can say.
                    let (ordinal, at) = (0, own.now());
                    Ok(Done::now(Checkpoint { id, session, ordinal, summary, anchor, payload, at }))
                }
            }
        })
    }

    fn checkpoints(&self, session: SessionId, limit: u32, after: Option<Cursor>) -> Answer<Page<Checkpoint>> {
        let own = self.clone();
        Box::pin(async move {
            let session = own.named(session).await?;
            own.try_asking(own.remote.checkpoints(session, limit, after)).await
        })
    }

    fn session(&self, id: SessionId) -> Answer<Option<Session>> {
        let own = self.clone();
        Box::pin(async move { own.read_session(id).await })
    }

    fn current(&self, key: SessionKey) -> Answer<Option<Session>> {
        let own = self.clone();
        Box::pin(async move { own.read_current(key).await })
    }

    fn live(&self, query: LiveQuery) -> Answer<Page<Session>> {
        let own = self.clone();
        Box::pin(async move { own.read_live(query).await })
    }

    fn handoffs(&self, query: HandoffQuery) -> Answer<Page<Handoff>> {
        let own = self.clone();
        Box::pin(async move { own.read_handoffs(query).await })
    }
}

impl Notes for Offline {
    fn add_note(&self, note: NewNote, once: Option<Once>) -> Answer<Done<Note>> {
        let own = self.clone();
        Box::pin(async move {
            match own.sent(&client::add_note(note.clone())?, once.as_ref()).await? {
                Ok(kept) => {
                    own.keep(&stand_in::note(&kept.value.note.id), &Some(&kept.value.note)).await?;
                    Ok(Done { value: kept.value.note, replayed: kept.replayed })
                }
                Err(sent) => {
                    own.kept(sent).await?;
                    Ok(Done::now(own.add_here(note).await?))
                }
            }
        })
    }

    fn change_note(&self, patch: NotePatch, once: Option<Once>) -> Answer<Done<Note>> {
        let own = self.clone();
        Box::pin(async move {
            match own.sent(&client::change_note(patch.clone())?, once.as_ref()).await? {
                Ok(changed) => {
                    own.keep(&stand_in::note(&changed.value.note.id), &Some(&changed.value.note)).await?;
                    Ok(Done { value: changed.value.note, replayed: changed.replayed })
                }
                Err(sent) => {
                    let changed = own.change_here(patch).await?;
                    own.kept(sent).await?;
                    own.keep(&stand_in::note(&changed.id), &Some(&changed)).await?;
                    Ok(Done::now(changed))
                }
            }
        })
    }

    fn note(&self, id: NoteId) -> Answer<Option<Note>> {
        let own = self.clone();
        Box::pin(async move { own.read_note(id).await })
    }

    fn notes(&self, query: NoteQuery) -> Answer<NotePage> {
        let own = self.clone();
        Box::pin(async move { own.read_notes(query).await })
    }

    fn for_day(&self, venture: String, most: u32, characters: u64) -> Answer<DayNotes> {
        let own = self.clone();
        Box::pin(async move { own.read_for_day(venture, most, characters).await })
    }
}

impl Documents for Offline {
    fn put(&self, document: NewDocument) -> Answer<Document> {
        let own = self.clone();
        Box::pin(async move { own.try_asking(own.remote.put(document)).await })
    }

    fn document(&self, scope: String, name: String) -> Answer<Option<Document>> {
        let own = self.clone();
        Box::pin(async move { own.read_document(scope, name).await })
    }

    fn index(&self, scopes: Vec<String>, limit: u32) -> Answer<Index> {
        let own = self.clone();
        Box::pin(async move { own.read_index(scopes, limit).await })
    }

    fn remove(&self, scope: String, name: String) -> Answer<bool> {
        let own = self.clone();
        Box::pin(async move { own.try_asking(own.remote.remove(scope, name)).await })
    }
}

impl Machines for Offline {
    fn register(&self, machine: NewMachine) -> Answer<Machine> {
        let own = self.clone();
        Box::pin(async move { own.try_asking(own.remote.register(machine)).await })
    }

    fn machines(&self) -> Answer<Vec<Machine>> {
        let own = self.clone();
        Box::pin(async move { own.try_asking(own.remote.machines()).await })
    }

    fn seen(&self, id: MachineId) -> Answer<bool> {
        let own = self.clone();
        Box::pin(async move { own.try_asking(own.remote.seen(id)).await })
    }
}
