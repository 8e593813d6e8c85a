//! The one way that every call takes. It reads from top to bottom:
//!
//! resolve → authorise → admit → validate → decide → plan (or load the reviewed plan) → confirm → apply → shape →
//! transcript → reply.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use audit::record::ExecutionMode;
use audit::{Body, Durability, Intent, Ledger, Redactor, Transcript, ledger};
use contract::reply::Envelope;
use contract::{
    Code, Digest, Effect, Fault, Kind, Plan, PlanId, PlanView, Principal, Reply, Status, TranscriptId,
    Truncated, canonical,
};
use exec::draft::Proposal;
use exec::request::Sender;
use exec::{Root, StateDir};
use futures_util::FutureExt as _;
use policy::{Decision, Facts, Policy};
use serde_json::{Map, Value};

use crate::call::{Call, Done};
use crate::desk::{Services, Setting};
use crate::kept::{Kept, exact};
use crate::kinds::Answer;
use crate::limits::Limiter;
use crate::registry::{Registered, Registry};
use crate::running::{blocking, cancelled, invoke, panic_text};
use crate::settings::Settings;
use crate::shape::{self, Cleaner};

/// Most bytes of arguments that a transcript keeps; larger ones are named by digest.
const MAX_ARGUMENTS: usize = 256 * 1024;

/// Most bytes of text that a transcript keeps of each stream and of the diff.
const MAX_STREAM: usize = 64 * 1024;

/// Most effects that a reply lists one by one.
const MAX_EFFECTS: usize = 50;

/// What the binary puts together.
pub struct Parts {
    /// The tools.
    pub registry: Registry,
    /// The rules.
    pub policy: Policy,
    /// Counts and gates.
    pub limiter: Limiter,
    /// Takes secrets out.
    pub redactor: Redactor,
    /// The record.
    pub ledger: Ledger,
    /// Where tools work; none means `no_root` for those that need one.
    pub root: Option<Arc<Root>>,
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
    /// The numeric id of the user that the process runs under.
    pub uid: u32,
}

/// The engine behind every front door.
pub struct Engine {
    parts: Parts,
    places: Vec<(String, &'static str)>,
}

/// What the caller asked for besides the tool's own arguments.
#[derive(Debug, Default)]
struct Wish {
    apply: bool,
    plan: Option<PlanId>,
}

/// What was gathered for the transcript so far.
struct Notes {
    id: TranscriptId,
    started: Instant,
    started_at: String,
    tool: String,
    arguments: Value,
    redactions: Vec<String>,
    mode: ExecutionMode,
    decision: String,
    plan: Option<PlanId>,
    definition: Option<Digest>,
    effects: Vec<String>,
    diff: String,
    artifacts: Vec<String>,
    unknown_tool: bool,
    record: bool,
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
            places.push((root.path().display().to_string(), "<root>"));
        }
        places.push((parts.state.path().display().to_string(), "<state>"));
        if let Some(home) =
            std::env::var_os("HOME").map(|h| h.to_string_lossy().into_owned()).filter(|h| h.len() > 1)
        {
            places.push((home, "~"));
        }
        places.retain(|(place, _)| place.len() > 1);
        places.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        Arc::new(Self { parts, places })
    }

    /// The tools.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
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
        let engine = Arc::clone(self);
        let id = match TranscriptId::random() {
            Ok(id) => id,
            Err(error) => return refused(Fault::internal(error.to_string())),
        };
        let running = tokio::spawn(async move { engine.recorded(call, id).await });
        running.await.unwrap_or_else(|_| refused(Fault::internal("the call was lost")))
    }

    async fn recorded(self: Arc<Self>, call: Call, id: TranscriptId) -> Done {
        let mut notes = self.begin(&call, id);
        let steps = AssertUnwindSafe(self.steps(&call, &mut notes)).catch_unwind().await;
        let result = steps.unwrap_or_else(|panic| {
            tracing::error!(panic = panic_text(&panic), "a step of the pipeline panicked");
            Err(Fault::internal("the call failed unexpectedly"))
        });
        let result = result.map_err(|fault| self.cleaner().fault(fault));
        let engine = Arc::clone(&self);
        let ended = tokio::task::spawn_blocking(move || engine.close(&call, notes, result)).await;
        ended.unwrap_or_else(|_| refused(Fault::internal("the call could not be recorded")))
    }

    /// Everything between a call and its record.
    async fn steps(self: &Arc<Self>, call: &Call, notes: &mut Notes) -> Result<Reply, Fault> {
        let tool = self.resolve(call, notes)?;
        self.authorise(&tool, call)?;
        let limits = tool.tool.limits();
        let name = tool.spec().name.as_str().to_owned();
        self.parts.limiter.count(call.principal.key(), &name, limits).map_err(|refused| {
            notes.record = refused.record;
            refused.fault
        })?;
        let (arguments, wish) = validate(&tool, call)?;
        notes.mode = if wish.apply { ExecutionMode::Apply } else { ExecutionMode::DryRun };
        let digest = Digest::of(&canonical::to_vec(&arguments).map_err(|e| Fault::internal(e.to_string()))?);
        let decision = self.decide(&tool, &wish, notes)?;
        let _place = tokio::select! {
            place = self.parts.limiter.enter(&name, limits) => place,
            () = call.cancel.cancelled() => return Err(cancelled()),
        };
        let planned = match wish.plan {
            Some(id) => self.reviewed(&tool, call, id, digest)?,
            None => self.plan(&tool, call, arguments, digest).await?,
        };
        self.note_plan(&planned, notes);
        let applies = wish.apply && planned.proposal.as_ref().is_some_and(|(_, p)| !p.plan.is_empty());
        if applies && decision == Decision::Confirm {
            return Err(confirmation(&name, &planned));
        }
        let effects = planned.proposal.as_ref().filter(|_| applies).map(|(id, p)| (*id, p.plan.clone()));
        // The reply is put together first: one that cannot be given must not follow an apply.
        let mut reply = self.reply(planned, &wish, notes)?;
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

    fn begin(&self, call: &Call, id: TranscriptId) -> Notes {
        let redacted = self.parts.redactor.value(&call.arguments);
        let size = redacted.value.to_string().len();
        let arguments = if size > MAX_ARGUMENTS {
            let digest = Digest::of(redacted.value.to_string().as_bytes());
            serde_json::json!({ "omitted": format!("{size} bytes"), "digest": digest })
        } else {
            exact(&redacted.value, 0)
        };
        Notes {
            id,
            started: Instant::now(),
            started_at: ledger::now(),
            tool: self.cleaner().text(&shape::bounded(&call.tool, 256)),
            arguments,
            redactions: redacted.redactions,
            mode: ExecutionMode::DryRun,
            decision: "refused before policy".into(),
            plan: None,
            definition: None,
            effects: Vec::new(),
            diff: String::new(),
            artifacts: Vec::new(),
            unknown_tool: false,
            record: true,
        }
    }

    fn resolve(&self, call: &Call, notes: &mut Notes) -> Result<Arc<Registered>, Fault> {
        let Some(tool) = self.parts.registry.resolve(&call.tool) else {
            notes.unknown_tool = true;
            let fault = Fault::new(Code::NotFound, format!("there is no tool {:?}", notes.tool));
            return Err(match self.parts.registry.closest(&call.tool) {
                Some(close) => fault.suggest(format!("Did you mean `{close}`?")),
                None => fault.suggest("`tools/list`, or `gatewright tools`, names them all."),
            });
        };
        tool.spec().name.as_str().clone_into(&mut notes.tool);
        notes.definition = Some(tool.definition);
        Ok(Arc::clone(tool))
    }

    /// The local user may call everything that is switched on. A token must grant the tool's toolset.
    #[expect(clippy::unused_self, reason = "the protocol issue's scopes are the engine's configuration")]
    fn authorise(&self, tool: &Registered, call: &Call) -> Result<(), Fault> {
        match &call.principal {
            Principal::Local { .. } => Ok(()),
            Principal::Token { scopes, .. } => {
                let needed = &tool.spec().toolset;
                if scopes.iter().any(|s| s == needed) {
                    return Ok(());
                }
                Err(Fault::new(Code::Forbidden, format!("the token lacks the scope {needed:?}"))
                    .suggest("Ask for a token with that scope."))
            }
        }
    }

    fn decide(&self, tool: &Registered, wish: &Wish, notes: &mut Notes) -> Result<Decision, Fault> {
        let spec = tool.spec();
        let facts = Facts {
            tool: spec.name.as_str(),
            toolset: &spec.toolset,
            kind: spec.kind,
            apply: wish.apply,
            reviewed: wish.plan.is_some(),
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
        digest: Digest,
    ) -> Result<Planned, Fault> {
        let cancel = call.cancel.child_token();
        let setting = Setting {
            root: self.parts.root.clone(),
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
        blocking(move || {
            let proposal = draft.into_proposal(&view, name, digest, &owner);
            // Beside the plan the answer is kept as it is returned: without secrets.
            let cleaner = engine.cleaner();
            let mut answer = invoked.answer;
            answer.message = cleaner.text(&answer.message);
            if let Value::Object(output) = cleaner.value(&Value::Object(std::mem::take(&mut answer.output))) {
                answer.output = output;
            }
            let kept = Kept::of(&answer);
            let kept = serde_json::to_value(kept).map_err(|e| Fault::internal(e.to_string()))?;
            let id = engine.parts.state.keep_plan(&proposal, kept)?;
            Ok(Planned { answer, proposal: Some((id, proposal)) })
        })
        .await
    }

    /// The plan that was rehearsed and is now passed back.
    fn reviewed(
        &self,
        tool: &Registered,
        call: &Call,
        id: PlanId,
        arguments: Digest,
    ) -> Result<Planned, Fault> {
        let file = self.parts.state.plan(&id, &call.principal)?;
        if file.plan.tool != tool.spec().name || file.plan.arguments != arguments {
            return Err(Fault::invalid(format!("the plan {id} was made by another call"))
                .suggest("Pass the same arguments as in the rehearsal, with `plan` and `apply`."));
        }
        let kept: Kept = serde_json::from_value(file.answer).map_err(|e| Fault::internal(e.to_string()))?;
        let mut blobs = std::collections::BTreeMap::new();
        for change in file.plan.effects.iter().filter_map(Effect::change) {
            if let contract::State::File { digest, .. } = change.after {
                blobs.insert(digest, self.parts.state.blob(&digest)?);
            }
        }
        Ok(Planned { answer: kept.into_answer(), proposal: Some((id, Proposal { plan: file.plan, blobs })) })
    }

    fn note_plan(&self, planned: &Planned, notes: &mut Notes) {
        let (Some((id, proposal)), Some(root)) = (&planned.proposal, &self.parts.root) else { return };
        notes.plan = Some(*id);
        let cleaner = self.cleaner();
        notes.effects = proposal.plan.effects.iter().map(|e| cleaner.text(&e.summary())).collect();
        let diff =
            exec::diff::of(root, &proposal.plan.effects, &proposal.blobs, MAX_STREAM, &|t| cleaner.text(t));
        notes.diff = cleaner.text(&diff.text);
        if diff.shown < diff.total {
            notes.diff.push_str(&format!("… {} of {} lines shown\n", diff.shown, diff.total));
        }
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
        let intent = Body::Intent(Intent {
            id: notes.id.clone(),
            tool_name: notes.tool.clone(),
            plan_id: id,
            principal: call.principal.label(),
            timestamp: ledger::now(),
        });
        let (engine, plan, transcript) = (Arc::clone(self), plan.clone(), notes.id.clone());
        let cancel = call.cancel.clone();
        let applied = blocking(move || {
            engine.parts.ledger.append(&intent, Durability::Now).map_err(|e| ledger_fault(&e))?;
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

    fn reply(&self, planned: Planned, wish: &Wish, notes: &mut Notes) -> Result<Reply, Fault> {
        let cleaner = self.cleaner();
        let answer = planned.answer;
        let mut truncated = answer.truncated;
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
        let output = match cleaner.value(&Value::Object(answer.output)) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
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
        shape::reply(envelope, output, self.parts.budget)
    }

    /// The one transcript of the call.
    fn close(&self, call: &Call, notes: Notes, result: Result<Reply, Fault>) -> Done {
        let duration = u64::try_from(notes.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (message, error) = match &result {
            Ok(reply) => (reply.envelope.message.clone(), None),
            Err(fault) => (String::new(), Some(fault.clone())),
        };
        let transcript = Transcript {
            id: notes.id.clone(),
            tool_call_id: call.id.clone(),
            timestamp_start: notes.started_at,
            timestamp_end: ledger::now(),
            tool_name: notes.tool,
            tool_args: notes.arguments,
            execution_mode: notes.mode,
            exit_code: None,
            stdout: shape::bounded(&message, MAX_STREAM),
            stderr: error.as_ref().map(|f| shape::bounded(&f.message, MAX_STREAM)).unwrap_or_default(),
            artifacts: notes.artifacts,
            redactions: notes.redactions,
            principal: call.principal.label(),
            decision: notes.decision,
            plan_id: notes.plan,
            definition_hash: notes.definition,
            confinement: "none".into(),
            error,
            root: self.parts.root.as_ref().map(|r| r.name().to_owned()),
            effects: notes.effects,
            diff: notes.diff,
        };
        let mut result = result;
        let durability = if notes.mode == ExecutionMode::Apply { Durability::Now } else { Durability::Soon };
        let mut anchor = None;
        let recorded = notes
            .record
            .then(|| self.parts.ledger.append(&Body::Transcript(Box::new(transcript)), durability));
        match recorded {
            None => {}
            Some(Ok(at)) => anchor = Some(at),
            Some(Err(error)) => {
                tracing::error!(%error, "the ledger cannot be written");
                result = Err(self.cleaner().fault(ledger_fault(&error)));
            }
        }
        let transcript = anchor.is_some().then_some(notes.id);
        let mut metadata = match &result {
            Ok(reply) => reply.envelope.metadata.clone(),
            Err(_) => shape::metadata(),
        };
        metadata.duration = duration;
        metadata.transcript = transcript;
        if let Ok(reply) = &mut result {
            reply.envelope.metadata = metadata.clone();
        }
        Done { result, metadata, anchor, unknown_tool: notes.unknown_tool }
    }
}

/// Checks the arguments against the tool's schema and takes out what is not the tool's own.
fn validate(tool: &Registered, call: &Call) -> Result<(Value, Wish), Fault> {
    let errors = tool.input.errors(&call.arguments, 8);
    if !errors.is_empty() {
        let name = &tool.spec().name;
        return Err(Fault::invalid(format!("{name}: {}", errors.join("; ")))
            .suggest(format!("`gatewright tools {name}` shows the arguments with examples.")));
    }
    let mut arguments = call.arguments.as_object().cloned().unwrap_or_default();
    let mut wish = Wish::default();
    if matches!(tool.spec().kind, Kind::Change | Kind::Run) {
        let apply = arguments.remove("apply").and_then(|v| v.as_bool());
        if let Some(plan) = arguments.remove("plan") {
            let text = plan.as_str().unwrap_or_default();
            wish.plan = Some(text.parse().map_err(|e| Fault::invalid(format!("plan: {e}")))?);
        }
        // Naming a reviewed plan asks for it, unless `apply` says otherwise.
        wish.apply = apply.unwrap_or(wish.plan.is_some());
    }
    Ok((Value::Object(arguments), wish))
}

fn confirmation(tool: &str, planned: &Planned) -> Fault {
    let id = planned.proposal.as_ref().map(|(id, _)| id.to_string()).unwrap_or_default();
    Fault::new(
        Code::ConfirmationRequired,
        format!("{tool}: policy wants the plan reviewed before it is applied"),
    )
    .suggest(format!("Show the user the plan, then call again with \"apply\": true, \"plan\": \"{id}\"."))
}

fn ledger_fault(error: &audit::LedgerError) -> Fault {
    Fault::new(Code::LedgerUnavailable, error.to_string())
        .suggest("Free disk space or restore write access to the state folder, then try again.")
}

fn refused(fault: Fault) -> Done {
    Done { result: Err(fault), metadata: shape::metadata(), anchor: None, unknown_tool: false }
}
