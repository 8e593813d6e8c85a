//! The end of a call: its reply, shaped to its budget, and its one transcript.

use std::sync::Arc;

use audit::Durability;
use audit::record::ExecutionMode;
use contract::reply::Envelope;
use contract::{Fault, Kind, Metadata, PlanView, Reply, RunView, Severity, SideWrites, Status, Truncated};
use failures::{Merged, Suggestion};
use serde_json::{Map, Value};

use crate::call::{Call, Done};
use crate::choice::Choice;
use crate::course::Ended;
use crate::engine::Engine;
use crate::kinds::{Answer, List};
use crate::notes::Notes;
use crate::paging;
use crate::pipeline::Planned;
use crate::registry::Registered;
use crate::resources::READ;
use crate::shape::{self, Shaped};
use crate::transcribe::transcribe;
use crate::wish::Wish;

/// Most effects that a reply lists one by one.
const MAX_EFFECTS: usize = 50;

impl Engine {
    /// What the caller gets of `answer`, which is that of what was planned or done.
    pub(crate) fn reply(
        &self,
        (tool, call, wish): (&Registered, &Call, &Wish),
        mut answer: Answer<Map<String, Value>>,
        planned: &Planned,
        notes: &mut Notes,
    ) -> Result<Reply, Fault> {
        let cleaner = self.cleaner();
        let budget = tool.tool.budget(self.parts.budget);
        let mut truncated = answer.truncated.take();
        let media = std::mem::take(&mut answer.media);
        notes.choice =
            answer.choice.take().map(|choice| Choice { text: cleaner.text(&choice.text), ..choice });
        let (plan, status) = match &planned.proposal {
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
                (Some(PlanView { id: *id, effects, diff: notes.diff.clone() }), status)
            }
        };
        let mut output = match cleaner.taken(Value::Object(answer.output)) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        if let Some(list) = listed(tool, answer.list, &output) {
            answer.results = Some(list.total);
            let room = shape::room(&answer.message, &output, &list.field, budget);
            // A list beside a plan leaves the diff its share.
            let diff = plan.as_ref().map_or(0, |plan| plan.diff.chars().count() as u64);
            let room = room - diff.min(room / 2);
            let tool = tool.head().name.as_str();
            let of = paging::Of { tool, arguments: wish.arguments, owner: &call.principal };
            let cut = paging::cut(&mut output, &list, wish.page, room, |offset| {
                paging::keep(&self.parts.ledger, of, offset)
            })?;
            if let Some(cut) = cut {
                notes.measured.cut = cut.characters(wish.wanted);
                truncated = Some(cut.truncated);
            }
        }
        let mut metadata = shape::metadata();
        metadata.results_count = answer.results;
        let side = Some(&planned.side).filter(|side| side.files > 0);
        let side_writes = side.map(|side| SideWrites { paths: side.paths.clone(), bytes: side.bytes });
        let blocked =
            planned.blocked.iter().map(|b| cleaner.text(&format!("{}: {}", b.path, b.why))).collect();
        let shown = |run: &Ended| {
            let view = run.view();
            RunView { command: cleaner.text(&view.command), ..view }
        };
        let explained = notes.course.explained();
        let runs = notes.course.ended().iter().map(shown).collect();
        let envelope = Envelope {
            plan,
            side_writes,
            blocked,
            runs,
            suggestions: explained.as_ref().map(|merged| self.suggested(merged)).unwrap_or_default(),
            affected_files: explained
                .as_ref()
                .map(|merged| merged.affected_files.clone())
                .unwrap_or_default(),
            severity: explained.as_ref().map(|merged| severity(merged.severity)),
            truncated,
            ..Envelope::new(answer.success, status, cleaner.text(&answer.message), metadata)
        };
        let Shaped { mut reply, shown, whole } = shape::reply(envelope, output, budget)?;
        reply.media = media;
        notes.measured.shown = Some(shown);
        notes.measured.cut = notes.measured.cut.saturating_add(whole.saturating_sub(shown));
        if self.parts.check_outputs || tool.head().kind == Kind::Foreign {
            let value = reply.to_value().map_err(|e| Fault::internal(e.to_string()))?;
            tool.check_output(&value, reply.envelope.status == Status::Completed)?;
        }
        Ok(reply)
    }

    /// What an analysis suggests, in words: with the call to make, where it is one that is offered here.
    fn suggested(&self, merged: &Merged) -> Vec<String> {
        let (cleaner, registry) = (self.cleaner(), self.registry());
        let in_words = |suggestion: &Suggestion| match &suggestion.tool {
            Some(tool) if registry.resolve(&tool.name).is_some() => {
                let arguments = serde_json::to_string(&tool.arguments).unwrap_or_default();
                format!("{} Next: `{} {arguments}`.", suggestion.text, tool.name)
            }
            _ => suggestion.text.clone(),
        };
        merged.suggestions.iter().map(in_words).map(|text| cleaner.text(&text)).collect()
    }

    /// The one transcript of the call.
    pub(crate) async fn close(
        self: &Arc<Self>,
        call: &Call,
        notes: Notes,
        result: Result<Reply, Fault>,
    ) -> Done {
        let duration = u64::try_from(notes.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (mode, record, id, unknown_tool) =
            (notes.mode, notes.record, notes.id.clone(), notes.unknown_tool);
        let (question, choice) = (notes.question.clone(), notes.choice.clone());
        let root = self.parts.root.as_ref().map(|r| r.name());
        let about = |mut metadata: Metadata| {
            metadata.duration = duration;
            metadata.transcript = record.then(|| id.clone());
            metadata
        };
        let cost = call.session.as_ref().filter(|_| record).and_then(|session| {
            let (mut measured, course) = (notes.measured, &notes.course);
            match &result {
                Ok(_) if call.tool == READ => measured.cost(session, None, course),
                Ok(reply) => measured.cost(session, Some(&about(reply.envelope.metadata.clone())), course),
                Err(fault) => {
                    // A read's fault goes out otherwise, and is about as long.
                    measured.shown = Some(shape::of_fault(fault));
                    measured.cost(session, Some(&about(shape::failed(fault))), course)
                }
            }
        });
        let transcript = Box::new(notes.into_transcript(call, root, &result, cost));
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
            Err(fault) => shape::failed(fault),
        };
        metadata.duration = duration;
        metadata.transcript = transcript;
        if let Ok(reply) = &mut result {
            reply.envelope.metadata = metadata.clone();
        }
        let choice = choice.filter(|_| result.is_ok());
        Done { result, metadata, anchor, unknown_tool, question, choice }
    }
}

const fn severity(severity: failures::Severity) -> Severity {
    match severity {
        failures::Severity::Low => Severity::Low,
        failures::Severity::Medium => Severity::Medium,
        failures::Severity::High => Severity::High,
    }
}

/// The list that pages and gives way: what the tool said, or all that its list's field holds.
fn listed(tool: &Registered, said: Option<List>, output: &Map<String, Value>) -> Option<List> {
    let field = tool.tool.list()?;
    said.or_else(|| {
        let entries = output.get(field)?.as_array()?;
        Some(List { field: field.to_owned(), total: entries.len() as u64, offset: 0 })
    })
}
