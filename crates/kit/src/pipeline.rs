//! The one way that every call takes. It reads from top to bottom:
//!
//! resolve → authorise → admit → approved → validate → decide → plan (or load the reviewed plan) → confirm → apply → shape →
//! transcript → reply.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use audit::record::ExecutionMode;
use audit::{Body, Durability, Intent, Ledger, Redactor, ledger};
use contract::reply::Envelope;
use contract::{
    Code, Digest, Effect, Fault, Kind, Plan, PlanId, PlanView, Principal, Reply, Status, TranscriptId,
    Truncated,
};
use exec::draft::Proposal;
use exec::request::Sender;
use exec::{Root, StateDir};
use futures_util::FutureExt as _;
use policy::{Decision, Facts, Policy, Right, Scope};
use serde_json::{Map, Value};

use crate::approvals::Approvals;
use crate::call::{Call, Done};
use crate::consent::{self, Consent, Question};
use crate::desk::{Services, Setting};
use crate::kinds::{Answer, List};
use crate::limits::Limiter;
use crate::notes::{MAX_STREAM, Notes};
use crate::paging;
use crate::registry::{Registered, Registry};
use crate::running::{blocking, cancelled, invoke, panic_text};
use crate::settings::Settings;
use crate::shape::{self, Cleaner};
use crate::transcribe::{ledger_fault, transcribe};
use crate::wish::{self, Wish};

/// Most effects that a reply lists one by one.
const MAX_EFFECTS: usize = 50;

/// What the binary puts together.
pub struct Parts {
    /// The tools.
    pub registry: Arc<Registry>,
    /// The rules.
    pub policy: Policy,
    /// The definitions of others that a person approved.
    pub approvals: Approvals,
    /// Counts and gates, shared by the engines of one process.
    pub limiter: Arc<Limiter>,
    /// Takes secrets out.
    pub redactor: Redactor,
    /// The record.
    pub ledger: Ledger,
    /// Where tools work; none means `no_root` for those that need one.
    pub root: Option<Arc<Root>>,
    /// The other roots of the process, whose places are not shown either.
    pub other_roots: Vec<Arc<Root>>,
    /// Where plans are kept.
    pub state: StateDir,
    /// The user's sections of the configuration.
    pub settings: Settings,
    /// What recording tools need.
    pub services: Services,
    /// What sends a plan's request, when connections are allowed.
    pub sender: Option<Arc<dyn Sender>>,
    /// What a result may cost, in tokens.
    pub budget: u64,
    /// Whether results of our own tools are held to their schemas, too: those of others always are. A server's are; one
    /// call from the command line would spend more on compiling the schema than on the call.
    pub check_outputs: bool,
    /// The numeric id of the user that the process runs under.
    pub uid: u32,
}

/// The engine behind every front door.
pub struct Engine {
    parts: Parts,
    places: Vec<(String, String)>,
}

/// An answer, with the plan that goes with it.
struct Planned {
    answer: Answer<Map<String, Value>>,
    proposal: Option<(PlanId, Proposal)>,
}

impl Engine {
    /// An engine of `parts`.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        let mut places = Vec::new();
        if let Some(root) = &parts.root {
            places.push((root.path().display().to_string(), "<root>".to_owned()));
        }
        for root in &parts.other_roots {
            places.push((root.path().display().to_string(), format!("<root {}>", root.name())));
        }
        places.push((parts.state.path().display().to_string(), "<state>".to_owned()));
        if let Some(home) =
            std::env::var_os("HOME").map(|h| h.to_string_lossy().into_owned()).filter(|h| h.len() > 1)
        {
            places.push((home, "~".to_owned()));
        }
        places.retain(|(place, _)| place.len() > 1);
        places.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        Arc::new(Self { parts, places })
    }

    /// The tools.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.parts.registry
    }

    /// The numeric id of the user that the process runs under: the local principal.
    #[must_use]
    pub const fn uid(&self) -> u32 {
        self.parts.uid
    }

    /// The record.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.parts.ledger
    }

    /// Where tools work.
    #[must_use]
    pub const fn root(&self) -> Option<&Arc<Root>> {
        self.parts.root.as_ref()
    }

    /// Where plans are kept.
    #[must_use]
    pub const fn state(&self) -> &StateDir {
        &self.parts.state
    }

    /// What cleans everything that goes out.
    #[must_use]
    pub fn cleaner(&self) -> Cleaner<'_> {
        Cleaner { redactor: &self.parts.redactor, places: &self.places }
    }

    /// Makes a call. It goes on to its transcript even when the caller goes away.
    pub async fn call(self: &Arc<Self>, call: Call) -> Done {
        let running = tokio::spawn(Arc::clone(self).recorded(call));
        running.await.unwrap_or_else(|_| refused(Fault::internal("the call was lost")))
    }

    /// Makes a call on the caller's own task, which must not be dropped before its end.
    pub(crate) async fn recorded(self: Arc<Self>, call: Call) -> Done {
        let id = match TranscriptId::random() {
            Ok(id) => id,
            Err(error) => return refused(Fault::internal(error.to_string())),
        };
        let mut notes = Notes::begin(&call, id, &self.parts.redactor, &self.cleaner());
        let steps = AssertUnwindSafe(self.steps(&call, &mut notes)).catch_unwind().await;
        let result = steps.unwrap_or_else(|panic| {
            tracing::error!(panic = panic_text(&panic), "a step of the pipeline panicked");
            Err(Fault::internal("the call failed unexpectedly"))
        });
        let result = result.map_err(|fault| self.cleaner().fault(fault));
        self.close(&call, notes, result).await
    }

    /// Everything between a call and its record.
    async fn steps(self: &Arc<Self>, call: &Call, notes: &mut Notes) -> Result<Reply, Fault> {
        let tool = self.resolve(call, notes)?;
        authorise(&tool, call)?;
        let limits = tool.tool.limits();
        let name = tool.spec().name.as_str().to_owned();
        self.parts.limiter.count(call.principal.key(), &name, limits).map_err(|refused| {
            notes.record = refused.record;
            refused.fault
        })?;
        self.parts.approvals.check(&tool)?;
        let (arguments, mut wish) = wish::validate(&tool, call, &self.parts.state)?;
        match call.consent {
            Consent::Unasked => {}
            Consent::Refused => return Err(consent::refused(&name)),
            Consent::Given(plan) => {
                // Exactly what was shown is agreed to, whatever the arguments say about it.
                wish.apply |= plan.is_some();
                wish.plan = plan.or(wish.plan);
            }
        }
        let performs = wish.apply || tool.spec().kind.always_performs();
        notes.mode = if performs { ExecutionMode::Apply } else { ExecutionMode::DryRun };
        let decision = self.decide(&tool, call, &wish, performs, notes)?;
        if decision == Decision::Confirm && tool.spec().kind.always_performs() {
            return Err(ask(Question::about_call(&name, &notes.arguments), &name, notes));
        }
        let _place = tokio::select! {
            place = self.parts.limiter.enter(&name, limits) => place,
            () = call.cancel.cancelled() => return Err(cancelled()),
        };
        let planned = match wish.plan {
            Some(id) => {
                let (engine, tool, owner) = (Arc::clone(self), Arc::clone(&tool), call.principal.clone());
                let arguments = wish.arguments;
                blocking(move || engine.reviewed(&tool, &owner, id, arguments)).await?
            }
            None if tool.spec().kind == Kind::Foreign => {
                // What it does cannot be taken back: that it was asked is on record before it is.
                self.intend(call, notes, None).await?;
                self.plan(&tool, call, arguments, &wish).await?
            }
            None => self.plan(&tool, call, arguments, &wish).await?,
        };
        let planned = self.note_plan(planned, notes).await?;
        let applies = wish.apply && planned.proposal.as_ref().is_some_and(|(_, p)| !p.plan.is_empty());
        if applies && decision == Decision::Confirm {
            let plan = planned.proposal.as_ref().map(|(id, _)| *id);
            return Err(ask(Question::about_plan(&name, plan, &notes.effects), &name, notes));
        }
        let effects = planned.proposal.as_ref().filter(|_| applies).map(|(id, p)| (*id, p.plan.clone()));
        // The reply is put together first: one that cannot be given must not follow an apply.
        let mut reply = self.reply(&tool, call, planned, &wish, notes)?;
        if let Some((id, plan)) = effects {
            self.apply(call, notes, id, &plan).await?;
            if notes.artifacts.is_empty() && plan.effects.iter().all(|e| e.change().is_some()) {
                // The same plan was applied before.
                notes.effects.clear();
                notes.diff.clear();
                reply.envelope.message = String::from("Nothing to do: what the plan makes stands already.");
                if let Some(shown) = &mut reply.envelope.plan {
                    shown.effects.clear();
                    shown.diff.clear();
                }
            }
        }
        Ok(reply)
    }

    fn resolve(&self, call: &Call, notes: &mut Notes) -> Result<Arc<Registered>, Fault> {
        let Some(tool) = self.parts.registry.resolve(&call.tool) else {
            notes.unknown_tool = true;
            return Err(self.parts.registry.unknown(&notes.tool));
        };
        tool.spec().name.as_str().clone_into(&mut notes.tool);
        notes.definition = Some(tool.definition);
        Ok(Arc::clone(tool))
    }

    fn decide(
        &self,
        tool: &Registered,
        call: &Call,
        wish: &Wish,
        performs: bool,
        notes: &mut Notes,
    ) -> Result<Decision, Fault> {
        let spec = tool.spec();
        let facts = Facts {
            tool: spec.name.as_str(),
            toolset: &spec.toolset,
            kind: spec.kind,
            apply: performs,
            consent: match (call.consent, wish.plan) {
                (Consent::Given(_), _) => Some("the user agreed"),
                (_, Some(_)) => Some("reviewed plan"),
                _ => None,
            },
        };
        let decided = self.parts.policy.decide(&facts);
        let word = match decided.decision {
            Decision::Allow => "allow",
            Decision::Confirm => "confirm",
            Decision::Forbid => "forbid",
        };
        notes.decision = format!("{word} ({})", decided.because);
        if decided.decision == Decision::Forbid {
            return Err(Fault::new(
                Code::Forbidden,
                format!("{}: policy forbids it ({})", spec.name, decided.because),
            )
            .suggest("A person can change the policy in the configuration."));
        }
        Ok(decided.decision)
    }

    /// Runs the tool's code: cancellable, bounded in time, its panics caught.
    async fn plan(
        self: &Arc<Self>,
        tool: &Arc<Registered>,
        call: &Call,
        arguments: Value,
        wish: &Wish,
    ) -> Result<Planned, Fault> {
        let cancel = call.cancel.child_token();
        let setting = Setting {
            root: self.parts.root.clone(),
            state: self.parts.state.clone(),
            registry: Arc::clone(&self.parts.registry),
            programs: tool.tool.programs(),
            page: wish.page,
            settings: self.parts.settings.clone(),
            services: self.parts.services.clone(),
            principal: call.principal.clone(),
            cancel: cancel.clone(),
            progress: Arc::clone(&call.progress),
        };
        let invoked = invoke(Arc::clone(tool), arguments, setting, &call.cancel, &cancel).await?;
        let Some((draft, view)) = invoked.draft else {
            return Ok(Planned { answer: invoked.answer, proposal: None });
        };
        let (engine, name, owner) = (Arc::clone(self), tool.spec().name.clone(), call.principal.clone());
        let digest = wish.arguments;
        blocking(move || {
            let proposal = draft.into_proposal(&view, name, digest, &owner);
            // Beside the plan the answer is kept as it is returned: without secrets.
            let cleaner = engine.cleaner();
            let mut answer = invoked.answer;
            answer.message = cleaner.text(&answer.message);
            if let Value::Object(output) = cleaner.value(&Value::Object(std::mem::take(&mut answer.output))) {
                answer.output = output;
            }
            let kept = serde_json::to_value(&answer).map_err(|e| Fault::internal(e.to_string()))?;
            let id = engine.parts.state.keep_plan(&proposal, kept)?;
            Ok(Planned { answer, proposal: Some((id, proposal)) })
        })
        .await
    }

    /// The plan that was rehearsed and is now passed back.
    fn reviewed(
        &self,
        tool: &Registered,
        owner: &Principal,
        id: PlanId,
        arguments: Digest,
    ) -> Result<Planned, Fault> {
        let file = self.parts.state.plan(&id, owner)?;
        if file.plan.tool != tool.spec().name || file.plan.arguments != arguments {
            return Err(Fault::invalid(format!("the plan {id} was made by another call"))
                .suggest("Pass the same arguments as in the rehearsal, with `plan` and `apply`."));
        }
        let answer = serde_json::from_value(file.answer).map_err(|e| Fault::internal(e.to_string()))?;
        let mut blobs = std::collections::BTreeMap::new();
        for digest in file.plan.effects.iter().flat_map(Effect::blobs) {
            blobs.insert(digest, self.parts.state.blob(&digest)?);
        }
        Ok(Planned { answer, proposal: Some((id, Proposal { plan: file.plan, blobs })) })
    }

    /// Notes what the plan would do. Comparing is blocking work.
    async fn note_plan(self: &Arc<Self>, planned: Planned, notes: &mut Notes) -> Result<Planned, Fault> {
        let (Some((id, _)), Some(root)) = (&planned.proposal, &self.parts.root) else { return Ok(planned) };
        notes.plan = Some(*id);
        let (engine, root) = (Arc::clone(self), Arc::clone(root));
        let (planned, effects, diff) = blocking(move || {
            let cleaner = engine.cleaner();
            let Some((_, proposal)) = &planned.proposal else {
                return Ok((planned, Vec::new(), String::new()));
            };
            let effects = proposal.plan.effects.iter().map(|e| cleaner.text(&e.summary())).collect();
            let clean = |text: &str| cleaner.reviewed(text);
            let diff = exec::diff::of(&root, &proposal.plan.effects, &proposal.blobs, MAX_STREAM, &clean);
            let mut text = cleaner.reviewed(&diff.text);
            if diff.shown < diff.total {
                text.push_str(&format!("… {} of {} lines shown\n", diff.shown, diff.total));
            }
            Ok((planned, effects, text))
        })
        .await?;
        notes.effects = effects;
        notes.diff = diff;
        Ok(planned)
    }

    /// Puts on record, and on the disk, that something is about to be done.
    async fn intend(self: &Arc<Self>, call: &Call, notes: &Notes, plan: Option<PlanId>) -> Result<(), Fault> {
        let intent = Body::Intent(Intent {
            id: notes.id.clone(),
            tool_name: notes.tool.clone(),
            plan_id: plan,
            principal: call.principal.label(),
            timestamp: ledger::now(),
        });
        let engine = Arc::clone(self);
        let append =
            move || engine.parts.ledger.append(&intent, Durability::Now).map_err(|e| ledger_fault(&e));
        blocking(append).await.map(|_| ())
    }

    /// Intent on disk, effects, and nothing else.
    async fn apply(
        self: &Arc<Self>,
        call: &Call,
        notes: &mut Notes,
        id: PlanId,
        plan: &Plan,
    ) -> Result<(), Fault> {
        let root = self.parts.root.clone().ok_or_else(|| Fault::internal("a plan without a root"))?;
        self.intend(call, notes, Some(id)).await?;
        let (engine, plan, transcript) = (Arc::clone(self), plan.clone(), notes.id.clone());
        let cancel = call.cancel.clone();
        let applied = blocking(move || {
            let sender = engine.parts.sender.as_deref();
            exec::apply(&root, &engine.parts.state, &plan, &transcript, sender, &cancel)
        })
        .await?;
        notes.artifacts =
            applied.receipt.effects.iter().filter_map(|e| e.change().map(|c| c.path.to_string())).collect();
        match applied.request {
            Some(outcome) if !outcome.is_success() => Err(outcome.into_fault()),
            _ => Ok(()),
        }
    }

    fn reply(
        &self,
        tool: &Registered,
        call: &Call,
        planned: Planned,
        wish: &Wish,
        notes: &mut Notes,
    ) -> Result<Reply, Fault> {
        let cleaner = self.cleaner();
        let mut answer = planned.answer;
        let mut truncated = answer.truncated.take();
        let (plan, status) = match planned.proposal {
            None => (None, Status::Completed),
            Some((id, proposal)) => {
                let mut effects = notes.effects.clone();
                if effects.len() > MAX_EFFECTS {
                    let more = effects.len() - MAX_EFFECTS;
                    effects.truncate(MAX_EFFECTS);
                    effects.push(format!("… and {more} more"));
                    truncated.get_or_insert(Truncated {
                        shown: MAX_EFFECTS as u64,
                        total: (MAX_EFFECTS + more) as u64,
                        next: format!("gatewright plan show {id}"),
                    });
                }
                let done = wish.apply || proposal.plan.is_empty();
                let status = if done { Status::Completed } else { Status::Proposed };
                (Some(PlanView { id, effects, diff: notes.diff.clone() }), status)
            }
        };
        let mut output = match cleaner.value(&Value::Object(answer.output)) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        if let Some(list) = listed(tool, answer.list, &output) {
            answer.results = Some(list.total);
            let room = shape::room(&answer.message, &output, &list.field, self.parts.budget);
            let (state, name) = (&self.parts.state, tool.spec().name.as_str());
            let cut = paging::cut(&mut output, &list, wish.page, room, |offset| {
                paging::keep(state, name, wish.arguments, offset, &call.principal)
            })?;
            truncated = cut.or(truncated);
        }
        let mut metadata = shape::metadata();
        metadata.results_count = answer.results;
        let envelope = Envelope {
            success: answer.success,
            status,
            message: cleaner.text(&answer.message),
            plan,
            truncated,
            metadata,
        };
        let reply = shape::reply(envelope, output, self.parts.budget)?;
        if self.parts.check_outputs || tool.spec().kind == Kind::Foreign {
            let value = reply.to_value().map_err(|e| Fault::internal(e.to_string()))?;
            tool.check_output(&value, reply.envelope.status == Status::Completed)?;
        }
        Ok(reply)
    }

    /// The one transcript of the call.
    async fn close(self: &Arc<Self>, call: &Call, notes: Notes, result: Result<Reply, Fault>) -> Done {
        let duration = u64::try_from(notes.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (mode, record, id, unknown_tool) =
            (notes.mode, notes.record, notes.id.clone(), notes.unknown_tool);
        let question = notes.question.clone();
        let root = self.parts.root.as_ref().map(|r| r.name());
        let transcript = notes.into_transcript(call, root, &result);
        let mut result = result;
        let durability = if mode == ExecutionMode::Apply { Durability::Now } else { Durability::Soon };
        let mut anchor = None;
        if record {
            match transcribe(self, transcript, durability).await {
                Ok(at) => anchor = Some(at),
                Err(fault) => result = Err(self.cleaner().fault(fault)),
            }
        }
        let transcript = anchor.is_some().then_some(id);
        let mut metadata = match &result {
            Ok(reply) => reply.envelope.metadata.clone(),
            Err(_) => shape::metadata(),
        };
        metadata.duration = duration;
        metadata.transcript = transcript;
        if let Ok(reply) = &mut result {
            reply.envelope.metadata = metadata.clone();
        }
        Done { result, metadata, anchor, unknown_tool, question }
    }
}

/// The local user may call everything that is switched on. A token must grant what the call needs.
fn authorise(tool: &Registered, call: &Call) -> Result<(), Fault> {
    let Some(scope) = lacking(tool, call) else { return Ok(()) };
    Err(Fault::new(Code::Forbidden, format!("{}: the token lacks the scope {scope}", tool.spec().name))
        .suggest(format!("Ask for a token with the scope {scope}, then call again.")))
}

/// The scope that `call` needs and its principal was not granted.
pub(crate) fn lacking(tool: &Registered, call: &Call) -> Option<Scope> {
    let Principal::Token { scopes, .. } = &call.principal else { return None };
    let spec = tool.spec();
    let right = Right::needed(spec.kind, wish::performs(tool, &call.arguments));
    Some(Scope::new(&spec.toolset, right)).filter(|scope| !scope.is_granted(scopes))
}

/// The list that pages and gives way: what the tool said, or all that its list's field holds.
fn listed(tool: &Registered, said: Option<List>, output: &Map<String, Value>) -> Option<List> {
    let field = tool.tool.list()?;
    said.or_else(|| {
        let entries = output.get(field)?.as_array()?;
        Some(List { field: field.to_owned(), total: entries.len() as u64, offset: 0 })
    })
}

/// Leaves `question` for whoever can ask it; the fault is for whoever cannot.
fn ask(question: Question, tool: &str, notes: &mut Notes) -> Fault {
    let fault = question.unanswered(tool);
    notes.question = Some(question);
    fault
}

fn refused(fault: Fault) -> Done {
    let metadata = shape::metadata();
    Done { result: Err(fault), metadata, anchor: None, unknown_tool: false, question: None }
}
