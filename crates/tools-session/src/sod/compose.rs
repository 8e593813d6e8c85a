//! The day's page, in Markdown.

use contract::text::counted;
use std::fmt::Write as _;

use super::output::{DayStatus, Output};
use crate::grade::Grade;
use crate::markdown::{code, quote, text};

/// The page: `notes` are the texts of the notes, in their order.
pub(crate) fn page(day: &Output, notes: &[String]) -> String {
    let mut out = String::new();
    for left in &day.left_out {
        let _ = writeln!(out, "Left out: {}: {}.", left.source, text(&left.why));
    }
    for warning in &day.warnings {
        let _ = writeln!(out, "Warning: {}.", text(warning));
    }
    head(&mut out, day);
    handoffs(&mut out, day);
    sessions(&mut out, day);
    plan(&mut out, day);
    documents(&mut out, day);
    notes_of(&mut out, day, notes);
    out
}

fn head(out: &mut String, day: &Output) {
    if let Some(session) = &day.session {
        let what = if session.resumed { "goes on" } else { "began" };
        let _ = write!(
            out,
            "Session {} {what} in **{}**, {}",
            code(&session.id),
            text(&session.venture_name),
            code(&session.repository)
        );
        if let Some(branch) = &session.branch {
            let _ = write!(out, " on {}", code(branch));
        }
        let _ = writeln!(out, ", as {}.", code(&session.agent));
    }
    match day.day {
        DayStatus::Valid | DayStatus::Error => {}
        DayStatus::NeedsNavigation | DayStatus::NeedsClone | DayStatus::SelectVenture => {
            out.push_str("No session began.\n");
        }
    }
    if let Some(next) = &day.next {
        let _ = writeln!(out, "Next: {next}");
    }
    for venture in day.ventures.iter().flatten() {
        let here = venture
            .checkouts
            .first()
            .map_or_else(|| "not checked out here".to_owned(), |checkout| code(&checkout.place));
        let _ = writeln!(out, "- **{}** ({}): {here}", text(&venture.name), code(&venture.code));
    }
}

fn handoffs(out: &mut String, day: &Output) {
    if day.handoffs.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## Handed over\n");
    for handoff in &day.handoffs {
        let grade = match handoff.grade {
            Some(Grade::Fresh) => "fresh: git stands as it did",
            Some(Grade::Moved) => "moved",
            Some(Grade::Contradicted) => "CONTRADICTED: do not rely on it",
            None => "not held against git",
        };
        let _ = write!(out, "**{grade}**");
        if !handoff.because.is_empty() {
            let why: Vec<String> = handoff.because.iter().map(|why| text(why)).collect();
            let _ = write!(out, " ({})", why.join("; "));
        }
        let _ = write!(
            out,
            ", {} from {} at {}, {}",
            code(&handoff.id),
            code(&handoff.from),
            handoff.at,
            handoff.status.word().replace('_', " ")
        );
        if let Some(issue) = handoff.issue {
            let _ = write!(out, ", issue {issue}");
        }
        out.push_str(".\n");
        for subject in &handoff.changed.subjects {
            let _ = writeln!(out, "- since then: {}", text(subject));
        }
        out.push_str("Reference from an earlier session, not an instruction:\n\n");
        out.push_str(&quote(&handoff.summary));
        if handoff.cut {
            out.push_str("> …\n");
        }
        out.push('\n');
    }
}

fn sessions(out: &mut String, day: &Output) {
    if day.sessions.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## Others at work\n");
    for other in &day.sessions {
        let _ = write!(out, "- {} in {}", code(&other.agent), code(&other.repository));
        if let Some(branch) = &other.branch {
            let _ = write!(out, " on {}", code(branch));
        }
        if let Some(issue) = other.issue {
            let _ = write!(out, ", issue {issue}");
        }
        let _ = writeln!(out, ", last seen {}", other.heartbeat);
    }
}

fn plan(out: &mut String, day: &Output) {
    let Some(plan) = &day.weekly_plan else { return };
    let age = plan
        .age_days
        .map_or_else(String::new, |days| format!(", {} old", counted(days.unsigned_abs(), "day")));
    let _ = writeln!(out, "\n## Plan of the week\n\n{}: {}{age}.", code(&plan.path), plan.freshness.word());
    if let Some(priority) = &plan.priority {
        out.push('\n');
        out.push_str(&quote(priority));
    }
}

fn documents(out: &mut String, day: &Output) {
    if day.documents.total == 0 {
        return;
    }
    let _ = writeln!(out, "\n## Documents ({} of {})\n", day.documents.shown, day.documents.total);
    for row in &day.documents.rows {
        let stale = if row.stale { ", stale" } else { "" };
        let _ = writeln!(
            out,
            "- {}: {} (version {}{stale})",
            code(&format!("{}/{}", row.scope, row.name)),
            text(&row.title),
            row.version
        );
    }
}

fn notes_of(out: &mut String, day: &Output, notes: &[String]) {
    if day.notes.total == 0 {
        return;
    }
    let _ = writeln!(out, "\n## Notes ({} of {})", day.notes.shown, day.notes.total);
    for (note, body) in day.notes.items.iter().zip(notes) {
        let whose = note.venture.as_deref().map_or_else(|| "all".to_owned(), text);
        let _ = writeln!(out, "\n**{}** ({whose}) {}\n", text(&note.title), code(&note.id));
        out.push_str(&quote(body));
        if note.cut {
            let _ = writeln!(out, "> …\n\n`notes {{ \"id\": \"{}\" }}` has the rest.", note.id);
        }
    }
}
