//! What is new, from the commits.

use maud::{Markup, html};

use super::bits::{Mark, Tone, badge, counted, prose, text};
use super::{Here, Part, Site, heading};
use crate::facts::Note;

/// Most commits of a section that the page shows.
const MOST_NOTES: usize = 1_000;
/// Most breaking changes that the overview shows.
const MOST_BREAKING: usize = 5;

pub(super) fn body(site: &Site<'_>) -> Markup {
    let tally = &site.tally;
    html! {
        (heading("Notes", html! {
            (counted(tally.commits, "commit")) " since the base"
            @if tally.breaking > 0 { ", " (tally.breaking) " of them breaking something for those who use the project" }
            "."
        }))
        @for (number, section) in site.kit.notes.iter().flat_map(|n| &n.sections).enumerate() {
            @let anchor = format!("section-{}", number + 1);
            @if !section.entries.is_empty() {
                section class="block" aria-labelledby=(anchor) {
                    h2 id=(anchor) { (text(&section.title)) " " span class="count" { (section.entries.len()) } }
                    ul class="notes" { @for note in section.entries.iter().take(MOST_NOTES) { (entry(note)) } }
                    @if section.entries.len() > MOST_NOTES {
                        p class="quiet" { "and " (section.entries.len() - MOST_NOTES) " more, which kit.json has" }
                    }
                }
            }
        }
    }
}

fn entry(note: &Note) -> Markup {
    html! {
        li class=[note.breaking.then_some("is-breaking")] {
            p class="note-text" {
                @if note.breaking { (badge(Tone::Fail, Mark::Break, "breaking")) " " }
                @if let Some(scope) = &note.scope { span class="scope" { (text(scope)) } " " }
                (prose(&note.text))
            }
            code class="commit" { (text(&note.commit)) }
        }
    }
}

/// What breaks, for the overview.
pub(super) fn breaking(site: &Site<'_>, here: Here) -> Markup {
    let all = site.kit.notes.iter().flat_map(|n| &n.sections).flat_map(|s| &s.entries);
    // The same commit may stand in two sections.
    let mut notes: Vec<&Note> = Vec::new();
    for note in all.filter(|n| n.breaking) {
        if notes.len() <= MOST_BREAKING
            && !notes.iter().any(|n| n.commit == note.commit && n.text == note.text)
        {
            notes.push(note);
        }
    }
    html! {
        @if !notes.is_empty() {
            section class="block" aria-labelledby="breaking" {
                div class="block-head" {
                    h2 id="breaking" { "What breaks" }
                    a href=(here.to(Part::Notes.path())) data-kit="" { "All " (counted(site.tally.commits, "commit")) }
                }
                ul class="notes" { @for note in notes.iter().take(MOST_BREAKING) { (entry(note)) } }
            }
        }
    }
}
