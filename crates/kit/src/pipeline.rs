//! The one way that every call takes. It reads from top to bottom:
//!
//! resolve → authorise → admit → approved → validate → decide → plan (or load the reviewed plan) → confirm → apply → settle →
//! shape → transcript → reply.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use audit::record::{ExecutionMode, Upstream};
use audit::{Body, Durability, Intent, ledger};
use contract::{Code, Digest, Effect, Fault, Kind, Plan, PlanId, Principal, Reply, Source, TranscriptId};
use exec::draft::Proposal;
use exec::state::Said;
use exec::workshop::Unplannable;
use exec::workshop::persist::SideWrites;
use futures_util::FutureExt as _;
use policy::{Decided, Decision, Facts};
use serde_json::{Map, Value};

use crate::authorise::authorise;
use crate::call::{Call, Done};
use crate::consent::{self, Consent, Question};
use crate::course::Course;
use crate::desk::Setting;
use crate::engine::Engine;
use crate::erased::Drafted;
use crate::inquiry::Inquiries;
use crate::jobs::Job;
use crate::kinds::{Answer, ForeignCode};
use crate::limits::Limits;
use crate::notes::{MAX_STREAM, Notes};
use crate::registry::Registered;
use crate::running::{blocking, cancelled, invoke, panic_text};
use crate::settling::Later;
use crate::shape;
use crate::transcribe::ledger_fault;
use crate::wish::{self, Wish};

/// Under which name calls of tools that are not there are counted.
const UNKNOWN: &str = "an unknown tool";

/// An answer, with the plan that goes with it.
pub(crate) struct Planned {
    pub(crate) answer: Answer<Map<String, Value>>,
    pub(crate) proposal: Option<(PlanId, Proposal)>,
    /// What a run leaves without a plan.
    pub(crate) side: SideWrites,
    /// What no plan can have of what a run changed.
    pub(crate) blocked: Vec<Unplannable>,
}

impl Planned {
    /// An answer with or without a plan, of something that ran no program.
    fn of(answer: Answer<Map<String, Value>>, proposal: Option<(PlanId, Proposal)>) -> Self {
        Self { answer, proposal, side: SideWrites::default(), blocked: Vec::new() }
    }
}

impl Engine {
    /// Makes a call. It goes on to its transcript even when the caller goes away.
    pub async fn call(self: &Arc<Self>, call: Call) -> Done {
        let running = tokio::spawn(Arc::clone(self).recorded(call));
        running.await.unwrap_or_else(|_| refused(Fault::internal("the call was lost")))
    }

    /// Makes a call on the caller's own task, which must not be dropped before its end.
    pub(crate) async fn recorded(self: Arc<Self>, call: Call) -> Done {
        match TranscriptId::random() {
            Ok(id) => self.recorded_as(call, id, Course::default()).await,
            Err(error) => refused(Fault::internal(error.to_string())),
        }
    }

    /// The same, under a transcript's name that is known already, its course followed by others.
    pub(crate) async fn recorded_as(self: Arc<Self>, call: Call, id: TranscriptId, course: Course) -> Done {
        let mut notes = self.notes(&call, id, course);
        // In boxes: whoever holds a call would move all of both with it.
        let steps = AssertUnwindSafe(Box::pin(self.steps(&call, &mut notes))).catch_unwind().await;
        let result = steps.unwrap_or_else(|panic| {
            tracing::error!(panic = panic_text(&panic), "a step of the pipeline panicked");
            Err(Fault::internal("the call failed unexpectedly"))
        });
        let result = result.map_err(|fault| self.cleaner().fault(fault));
        let asked = call.inquiries.as_ref().map(Inquiries::said).unwrap_or_default();
        if !asked.is_empty() {
            notes.decision.push_str(&format!("; its server asked the user: {}", asked.join(", ")));
        }
        Box::pin(self.close(&call, notes, result)).await
    }

    /// What is known of a call before its first step.
    pub(crate) fn notes(&self, call: &Call, id: TranscriptId, course: Course) -> Notes {
        Notes::begin(call, id, course, &self.parts.redactor, &self.cleaner())
    }

    /// Counts a call of `name`, or refuses it.
    pub(crate) fn admit(
        &self,
        call: &Call,
        name: &str,
        limits: Limits,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        self.parts.limiter.count(|| call.principal.key(), name, limits).map_err(|refused| {
            notes.record = refused.record;
            refused.fault
        })
    }

    /// Everything between a call and its record.
    async fn steps(self: &Arc<Self>, call: &Call, notes: &mut Notes) -> Result<Reply, Fault> {
        let tool = match self.resolve(call, notes) {
            Ok(tool) => tool,
            Err(fault) => {
                self.admit(call, UNKNOWN, Limits::DEFAULT, notes)?;
                return Err(fault);
            }
        };
        let limits = tool.tool.limits();
        let name = tool.head().name.as_str().to_owned();
        // Before anything else: what is refused later leaves a record, and those must not be without number.
        self.admit(call, &name, limits, notes)?;
        authorise(&tool, call, &self.registry())?;
        self.approved(&tool).await?;
        let (arguments, mut wish) = wish::validate(&tool, call, &self.parts.ledger)?;
        self.heard(call, &name, &mut wish).await?;
        let performs = wish.apply || tool.tool.always_performs();
        notes.mode = if performs { ExecutionMode::Apply } else { ExecutionMode::DryRun };
        let code = tool.tool.foreign_code(&arguments).filter(|when| performs || *when == ForeignCode::Always);
        let decision = self.decide(&tool, call, &wish, (performs, code.is_some()), notes)?;
        if decision == Decision::Confirm && code == Some(ForeignCode::Always) {
            return Err(ask(Question::about_code(&name, &notes.arguments), &name, notes));
        }
        if decision == Decision::Confirm && tool.tool.always_performs() {
            let question = Question::about_call(&name, &notes.arguments, &wish.arguments);
            return Err(ask(question, &name, notes));
        }
        let labels = tool.tool.labels();
        if self.parts.policy.taints() {
            notes.labels = labels.iter().map(|label| format!("{label:?}").to_ascii_lowercase()).collect();
        }
        if let Some(why) = self.tainted(call, &labels) {
            notes.decision = format!("confirm ({why})");
            let question = Question::about_call(&name, &notes.arguments, &wish.arguments).because(&why);
            return Err(ask(question, &name, notes));
        }
        self.saw(call, &name, &labels);
        let _place = tokio::select! {
            biased;
            place = self.parts.limiter.enter(&name, limits) => place,
            () = call.cancel.cancelled() => return Err(cancelled()),
        };
        let later = (wish.apply && tool.tool.settles()).then(|| arguments.clone());
        let planned = match wish.plan {
            Some(id) => {
                let (engine, tool, owner) = (Arc::clone(self), Arc::clone(&tool), call.principal.clone());
                let arguments = wish.arguments;
                blocking(move || engine.reviewed(&tool, &owner, id, arguments)).await?
            }
            None if tool.head().kind == Kind::Foreign => {
                self.still_approved(&tool, call).await?;
                if tool.tool.always_performs() {
                    // What it does cannot be taken back: that it was asked is on record before it is.
                    Box::pin(self.intend(call, notes, None)).await?;
                }
                self.plan(&tool, call, arguments, &wish, notes).await?
            }
            None => self.plan(&tool, call, arguments, &wish, notes).await?,
        };
        let mut planned = self.note_plan(planned, notes).await?;
        let applies = wish.apply && planned.proposal.as_ref().is_some_and(|(_, p)| !p.plan.is_empty());
        // Nothing follows an answer that asks: what its user chooses is a call of its own.
        let asks = planned.answer.choice.is_some();
        let later = later.filter(|_| planned.answer.success && planned.blocked.is_empty() && !asks);
        let sends = |(_, proposal): &(PlanId, Proposal)| proposal.plan.effects.iter().any(Effect::sends);
        let tainted = match &planned.proposal {
            Some(proposal) if applies && sends(proposal) => self.tainted(call, &[policy::Label::Egress]),
            _ => None,
        };
        if let Some(why) = &tainted {
            notes.decision = format!("confirm ({why})");
        }
        if (applies || later.is_some()) && (decision == Decision::Confirm || tainted.is_some()) {
            let plan = planned.proposal.as_ref().map(|(id, _)| *id);
            let question = Question::about_plan(&name, plan, &notes.effects);
            let code =
                code.map(|_| "code of packages runs then, confined; nobody here has read it".to_owned());
            let question = tainted.iter().chain(&code).fold(question, |question, why| question.because(why));
            let fault = ask(question, &name, notes);
            return Err(if tool.tool.person_applies() { consent::for_a_person(&name) } else { fault });
        }
        let effects = planned.proposal.as_ref().filter(|_| applies).map(|(id, p)| (*id, p.plan.clone()));
        // The reply is put together first: one that cannot be given must not follow an apply.
        // What follows adds to the answer.
        let answer = if later.is_some() { planned.answer.clone() } else { planned.answer.take() };
        let mut reply = self.reply((&tool, call, &wish), answer, &planned, notes)?;
        if let Some((id, plan)) = effects {
            Box::pin(self.apply(call, notes, id, &plan)).await?;
            if notes.artifacts.is_empty() && plan.effects.iter().all(|e| e.change().is_some()) {
                stands_already(notes, &mut planned, &mut reply);
            }
        }
        match later {
            Some(arguments) => {
                let later = Later { tool: &tool, call, wish: &wish, arguments, planned };
                Ok(Box::pin(self.settled(later, reply, notes)).await)
            }
            None => Ok(reply),
        }
    }

    /// What the caller's user said, where they were asked about this call.
    async fn heard(self: &Arc<Self>, call: &Call, name: &str, wish: &mut Wish) -> Result<(), Fault> {
        match call.consent {
            Consent::Unasked { .. } => {}
            Consent::Refused(plan) => {
                self.keep_answer(call, plan, Said::No).await?;
                return Err(consent::refused(name));
            }
            Consent::Unanswered(plan) => {
                self.keep_answer(call, plan, Said::Nothing).await?;
                return Err(Question::about_plan(name, plan, &[]).unanswered(name));
            }
            Consent::Given(plan) => {
                // Exactly what was shown is agreed to, whatever the arguments say about it.
                wish.apply |= plan.is_some();
                wish.plan = plan.or(wish.plan);
            }
        }
        Ok(())
    }

    fn resolve(&self, call: &Call, notes: &mut Notes) -> Result<Arc<Registered>, Fault> {
        let registry = self.registry();
        let Some(tool) = registry.resolve(&call.tool) else {
            notes.unknown_tool = true;
            return Err(registry.unknown(&notes.tool));
        };
        tool.head().name.as_str().clone_into(&mut notes.tool);
        notes.definition = Some(tool.hash()?);
        notes.upstream = tool.tool.identity().map(|identity| served_by(&tool.head().toolset, identity));
        Ok(Arc::clone(tool))
    }

    fn decide(
        &self,
        tool: &Registered,
        call: &Call,
        wish: &Wish,
        (performs, foreign_code): (bool, bool),
        notes: &mut Notes,
    ) -> Result<Decision, Fault> {
        let head = tool.head();
        let facts = Facts {
            tool: head.name.as_str(),
            toolset: &head.toolset,
            kind: head.kind,
            apply: performs,
            foreign_code,
            consent: match (call.consent, wish.plan) {
                (Consent::Given(_), _) => Some("the user agreed"),
                (consent, Some(plan)) => self.reviewed_plan(consent, &plan),
                _ => None,
            },
        };
        let mut decided = self.parts.policy.decide(&facts);
        if let Some(from) = &call.from {
            // What a project narrows holds for what is done from within it.
            let there = from.parts.policy.decide(&facts);
            if there.decision > decided.decision {
                let name = from.root().map_or("", |root| root.name());
                decided = Decided { because: format!("{} of the root {name}", there.because), ..there };
            }
        }
        let is_answered = matches!(call.consent, Consent::Given(_));
        if tool.tool.person_applies() && performs && !is_answered && decided.decision == Decision::Allow {
            decided = Decided { decision: Decision::Confirm, because: "only a person applies it".to_owned() };
        }
        let is_default = decided.decision == Decision::Allow && decided.because == "default";
        if tool.tool.asks() && performs && !is_answered && is_default {
            decided =
                Decided { decision: Decision::Confirm, because: "it says that it may destroy".to_owned() };
        }
        let word = match decided.decision {
            Decision::Allow => "allow",
            Decision::Confirm => "confirm",
            Decision::Forbid => "forbid",
        };
        notes.decision = format!("{word} ({})", decided.because);
        if decided.decision == Decision::Forbid {
            return Err(Fault::new(
                Code::Forbidden,
                format!("{}: policy forbids it ({})", head.name, decided.because),
            )
            .suggest("A person can change the policy in the configuration."));
        }
        Ok(decided.decision)
    }

    /// Naming a plan that was shown is consent where nobody can be asked, or where nobody answered; never where somebody
    /// said no.
    fn reviewed_plan(&self, consent: Consent, plan: &PlanId) -> Option<&'static str> {
        match self.parts.state.answer(plan) {
            Some(Said::No) => None,
            Some(Said::Nothing) => Some("reviewed plan, nobody answered"),
            None => (consent == Consent::Unasked { can_ask: false }).then_some("reviewed plan"),
        }
    }

    async fn keep_answer(
        self: &Arc<Self>,
        call: &Call,
        plan: Option<PlanId>,
        said: Said,
    ) -> Result<(), Fault> {
        let Some(plan) = plan else { return Ok(()) };
        let (engine, owner) = (Arc::clone(self), call.principal.clone());
        blocking(move || engine.parts.state.keep_answer(&plan, &owner, said)).await
    }

    /// Runs the tool's code: cancellable, bounded in time, its panics caught.
    async fn plan(
        self: &Arc<Self>,
        tool: &Arc<Registered>,
        call: &Call,
        arguments: Value,
        wish: &Wish,
        notes: &Notes,
    ) -> Result<Planned, Fault> {
        let cancel = call.cancel.child_token();
        let setting = Setting { page: wish.page, ..self.setting(tool, call, cancel.clone(), &notes.course) };
        let invoked = invoke(Arc::clone(tool), arguments, setting, &call.cancel, &cancel).await?;
        let Some(Drafted { draft, view, home, side, blocked }) = invoked.draft else {
            return Ok(Planned::of(invoked.answer, None));
        };
        if !blocked.is_empty() {
            if wish.apply {
                return Err(unappliable(&blocked));
            }
            return Ok(Planned { side, blocked, ..Planned::of(invoked.answer, None) });
        }
        let (engine, name, owner) = (Arc::clone(self), tool.head().name.clone(), call.principal.clone());
        let digest = wish.arguments;
        blocking(move || {
            let mut proposal = draft.into_proposal(&view, name, digest, &owner);
            proposal.plan.source =
                home.map(|home| Source { root: home.root().id().to_owned(), observed: home.observed() });
            // Beside the plan the answer is kept as it is returned: without secrets.
            let cleaner = engine.cleaner();
            let mut answer = invoked.answer;
            answer.message = cleaner.text(&answer.message);
            if let Value::Object(output) = cleaner.value(&Value::Object(std::mem::take(&mut answer.output))) {
                answer.output = output;
            }
            let kept = serde_json::to_value(&answer).map_err(|e| Fault::internal(e.to_string()))?;
            let id = engine.parts.state.keep_plan(&proposal, kept)?;
            Ok(Planned { side, ..Planned::of(answer, Some((id, proposal))) })
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
        if file.plan.tool != tool.head().name || file.plan.arguments != arguments {
            return Err(Fault::invalid(format!("the plan {id} was made by another call"))
                .suggest("Pass the same arguments as in the rehearsal, with `plan` and `apply`."));
        }
        let answer = serde_json::from_value(file.answer).map_err(|e| Fault::internal(e.to_string()))?;
        let mut blobs = std::collections::BTreeMap::new();
        for digest in file.plan.effects.iter().flat_map(Effect::blobs) {
            blobs.insert(digest, self.parts.state.blob(&digest)?);
        }
        Ok(Planned::of(answer, Some((id, Proposal { plan: file.plan, blobs }))))
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

    /// Puts on record, and on the disk, that a call goes on after its caller was answered.
    pub(crate) async fn goes_on(self: &Arc<Self>, call: &Call, job: &Job) -> Result<(), Fault> {
        let intent = Body::Intent(Intent {
            id: job.transcript().clone(),
            tool_name: job.tool().to_owned(),
            plan_id: None,
            principal: call.principal.label(),
            timestamp: ledger::now(),
        });
        let engine = Arc::clone(self);
        let append =
            move || engine.parts.ledger.append(&intent, Durability::Now).map_err(|e| ledger_fault(&e));
        blocking(append).await.map(|_| ())
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
        let (cancel, from) = (call.cancel.clone(), call.from.clone());
        let applied = blocking(move || {
            let (sender, state) = (engine.parts.sender.as_deref(), &engine.parts.state);
            let source = from.as_ref().and_then(|from| from.root()).map(|root| &**root);
            exec::apply_from(source, &root, state, &plan, &transcript, sender, &cancel)
        })
        .await?;
        notes.artifacts =
            applied.receipt.effects.iter().filter_map(|e| e.change().map(|c| c.path.to_string())).collect();
        match applied.request {
            Some(outcome) if !outcome.is_success() => Err(outcome.into_fault()),
            _ => Ok(()),
        }
    }
}

/// The fault of a call that was to apply what no plan can have.
fn unappliable(blocked: &[Unplannable]) -> Fault {
    let named: Vec<String> = blocked.iter().map(|b| format!("{}: {}", b.path, b.why)).collect();
    let named = named.join("; ");
    let fault = if blocked.iter().all(|b| b.moved) {
        let message = format!("{named}; nothing was changed");
        Fault::new(Code::Conflict, message).suggest("Call the tool again.")
    } else {
        let message = format!("no plan can have what it changed: {named}");
        Fault::new(Code::PathNotAllowed, message)
            .suggest("Call it without `apply` for what it says; its changes cannot be applied.")
    };
    blocked.iter().fold(fault, |fault, b| fault.about(b.path.as_str()))
}

/// Whose tool it is, as its identity has it.
fn served_by(toolset: &str, identity: &Value) -> Upstream {
    let text = |pointer: &str| identity.pointer(pointer).and_then(Value::as_str);
    let at = text("/upstream/url").or_else(|| text("/upstream/program/path")).unwrap_or_default();
    let named = [text("/upstream/server/name"), text("/upstream/server/version")];
    let server = named.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Upstream {
        name: toolset.to_owned(),
        at: contract::text::visible(at),
        server: shape::bounded(&contract::text::visible(&server), 200),
    }
}

/// The same plan was applied before: says so, in place of what it would do.
fn stands_already(notes: &mut Notes, planned: &mut Planned, reply: &mut Reply) {
    notes.effects.clear();
    notes.diff.clear();
    notes.measured.cut = 0;
    let message = String::from("Nothing to do: what the plan makes stands already.");
    planned.answer.message.clone_from(&message);
    reply.envelope.message = message;
    if let Some(shown) = &mut reply.envelope.plan {
        shown.effects.clear();
        shown.diff.clear();
    }
}

/// Leaves `question` for whoever can ask it; the fault is for whoever cannot.
fn ask(question: Question, tool: &str, notes: &mut Notes) -> Fault {
    let fault = question.unanswered(tool);
    notes.question = Some(question);
    fault
}

pub(crate) fn refused(fault: Fault) -> Done {
    Done {
        metadata: shape::failed(&fault),
        result: Err(fault),
        anchor: None,
        unknown_tool: false,
        question: None,
        choice: None,
    }
}
