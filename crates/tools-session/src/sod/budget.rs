//! What a day's page may cost: beyond it texts give way, and that is said.

use contract::Fault;
use serde::Serialize;

use super::output::Output;
use kit::markdown::front;

/// Characters from which a page is too long.
pub(crate) const MOST: usize = 50_000;
/// Characters that the envelope takes besides.
const ENVELOPE: usize = 700;
/// What is left of a text that gives way.
const LEFT: usize = 300;

/// How many characters a page takes as JSON.
pub(crate) fn cost(message: &str, output: &impl Serialize) -> Result<usize, Fault> {
    let written = |text: Result<String, serde_json::Error>| {
        text.map(|text| text.chars().count()).map_err(|e| Fault::internal(e.to_string()))
    };
    Ok(written(serde_json::to_string(message))? + written(serde_json::to_string(output))? + ENVELOPE)
}

/// Makes texts give way, the least needed first: notes, handoffs, the plan, the index; says so in the warnings. `render` puts the page
/// together of what is left.
pub(crate) fn fit(
    output: &mut Output,
    notes: &mut Vec<String>,
    render: impl Fn(&Output, &[String]) -> String,
) -> Result<String, Fault> {
    let mut message = render(output, notes);
    let whole = cost(&message, output)?;
    if whole <= MOST {
        return Ok(message);
    }
    output
        .warnings
        .push(format!("the whole page has {whole} characters, and {MOST} are the most: texts were cut"));
    let steps: [fn(&mut Output, &mut Vec<String>) -> bool; 6] = [
        |output, notes| {
            let had = notes.pop().is_some();
            if had {
                output.notes.items.pop();
                output.notes.shown = output.notes.items.len() as u64;
                output.notes.characters = output.notes.items.iter().map(|note| note.characters).sum();
            }
            had
        },
        |output, _| {
            let long =
                output.handoffs.iter_mut().rev().find(|handoff| handoff.summary.chars().count() > LEFT);
            long.is_some_and(|handoff| {
                handoff.summary = front(&handoff.summary, LEFT).0.to_owned();
                handoff.cut = true;
                true
            })
        },
        |output, _| output.weekly_plan.as_mut().is_some_and(|plan| plan.priority.take().is_some()),
        |output, _| {
            let had = output.documents.rows.pop().is_some();
            output.documents.shown = output.documents.rows.len() as u64;
            had
        },
        |output, _| output.handoffs.pop().is_some(),
        |output, _| output.sessions.pop().is_some(),
    ];
    for step in steps {
        while cost(&message, output)? > MOST && step(output, notes) {
            message = render(output, notes);
        }
    }
    Ok(message)
}
