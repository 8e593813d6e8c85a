//! What follows an apply: a tool that installs does so once its plan stands, over the root as it then is.
//!
//! Whatever comes of it, the plan stays applied: a failure here is an answer without success and no fault.

use std::sync::Arc;

use contract::{Code, Fault, Reply};
use exec::workshop::persist::Settled;

use crate::call::Call;
use crate::engine::Engine;
use crate::notes::Notes;
use crate::pipeline::Planned;
use crate::registry::Registered;
use crate::running;
use crate::wish::Wish;

/// What is left to be done.
pub(crate) struct Later<'a> {
    pub(crate) tool: &'a Arc<Registered>,
    pub(crate) call: &'a Call,
    pub(crate) wish: &'a Wish,
    pub(crate) arguments: serde_json::Value,
    /// What was applied.
    pub(crate) planned: Planned,
}

impl Engine {
    /// Does what follows the apply that `reply` tells of, and gives the reply about both.
    pub(crate) async fn settled(
        self: &Arc<Self>,
        later: Later<'_>,
        mut reply: Reply,
        notes: &mut Notes,
    ) -> Reply {
        let Later { tool, call, wish, arguments, mut planned } = later;
        let applied = !notes.artifacts.is_empty();
        let cancel = call.cancel.child_token();
        let setting = self.setting(tool, call, cancel.clone(), &notes.course);
        let answer = &mut planned.answer;
        match running::settle(Arc::clone(tool), arguments, setting, &call.cancel, &cancel).await {
            Ok(None) => return reply,
            Ok(Some(after)) => {
                answer.success = after.answer.success && after.settled.unkept.is_empty();
                answer.message = added(&answer.message, &after.answer.message);
                answer.output.extend(after.answer.output);
                answer.results = after.answer.results.or(answer.results);
                if !after.answer.success && applied {
                    answer.message = added(&answer.message, "What was planned is applied and stays.");
                }
                answer.message = added(&answer.message, &said(&after.settled));
                planned.side = after.settled.side;
            }
            Err(fault) => {
                answer.success = false;
                answer.message = added(&answer.message, &failed(&fault, applied));
            }
        }
        notes.measured.cut = 0;
        let answer = planned.answer.take();
        match self.reply((tool, call, wish), answer, &planned, notes) {
            Ok(both) => both,
            // What was done is done: it is told in the form that could be given before.
            Err(fault) => {
                reply.envelope.success = false;
                reply.envelope.message = added(&reply.envelope.message, &failed(&fault, applied));
                reply
            }
        }
    }
}

fn added(message: &str, more: &str) -> String {
    match (message.trim_end(), more.trim()) {
        ("", more) => more.to_owned(),
        (message, "") => message.to_owned(),
        // Beside a list or a table a paragraph of its own.
        (message, more) if message.contains('\n') || more.contains('\n') => format!("{message}\n\n{more}"),
        (message, more) => format!("{message} {more}"),
    }
}

/// What of an installation did not stay.
fn said(settled: &Settled) -> String {
    let mut text = String::new();
    if !settled.unkept.is_empty() {
        text = format!("Not kept: {}.", settled.unkept.join("; "));
    }
    if settled.secrets > 0 {
        let files = settled.secrets;
        text = added(
            &text,
            &format!("{files} file(s) called `.env…` were left out: such names are never kept."),
        );
    }
    text
}

/// What a fault after the apply means.
fn failed(fault: &Fault, applied: bool) -> String {
    let why = match fault.code {
        Code::Cancelled => "it was cancelled",
        Code::Internal => "it failed unexpectedly",
        _ => fault.message.as_str(),
    };
    let stands = if applied { "The plan is applied and stays; what" } else { "What" };
    let mut text = format!("{stands} was to follow failed: {}.", why.trim_end_matches('.'));
    for suggestion in fault.suggestions.iter().take(2) {
        text = format!("{text} {suggestion}");
    }
    text
}
