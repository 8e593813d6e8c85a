//! What changed of the tokens, before and after.

use maud::{Markup, html};

use super::bits::{Mark, Tone, badge, counted, grouped, mark, name, text};
use super::{Here, Site, contrast, heading};
use crate::draw::{self, Ids};
use crate::facts::{TokenRow, Tokens, ValueRow};

/// Most tokens of a section that the page shows.
const MOST_ROWS: usize = 1_000;
/// Most places of use that are listed for a token.
const MOST_USES: usize = 100;
/// So many are shown without being asked for.
const FEW_USES: usize = 3;

/// What a section holds.
struct Kind<'k> {
    anchor: &'static str,
    title: &'static str,
    sign: Mark,
    rows: &'k [TokenRow],
}

pub(super) fn body(site: &Site<'_>, _here: Here) -> Markup {
    let Some(tokens) = &site.kit.tokens else { return html! {} };
    let kind = |anchor, title, sign, rows| Kind { anchor, title, sign, rows };
    let kinds = [
        kind("removed", "Removed", Mark::Gone, tokens.removed.as_slice()),
        kind("renamed", "Renamed", Mark::Renamed, tokens.renamed.as_slice()),
        kind("changed", "Changed", Mark::Changed, tokens.changed.as_slice()),
        kind("added", "New", Mark::New, tokens.added.as_slice()),
    ];
    let ids = Ids::default();
    html! {
        (heading("Tokens", lead(tokens)))
        (bump(tokens))
        div class="bar" {
            nav class="jumps" aria-label="Parts of this page" {
                @for kind in kinds.iter().filter(|k| !k.rows.is_empty()) {
                    a href=(format!("#{}", kind.anchor)) { (mark(kind.sign)) (kind.title) " " span class="count" { (kind.rows.len()) } }
                }
                @if !tokens.contrast.is_empty() {
                    a href="#contrast" { (mark(Mark::Light)) "Contrast " span class="count" { (tokens.contrast.len()) } }
                }
            }
            @if site.tally.tokens > 8 {
                label class="filter needs-js" {
                    span class="unseen" { "Only tokens whose name has" }
                    input type="search" data-filter="" placeholder="Filter by name" autocomplete="off";
                    output data-told="" {}
                }
            }
        }
        @if site.tally.tokens == 0 {
            p class="quiet" { "No token is another than at the base. The pairs of colours that they declare are below." }
        }
        @for kind in kinds.iter().filter(|k| !k.rows.is_empty()) {
            section class="block" aria-labelledby=(kind.anchor) {
                h2 id=(kind.anchor) { (mark(kind.sign)) (kind.title) " " span class="count" { (kind.rows.len()) } }
                div class="rows" {
                    @for row in kind.rows.iter().take(MOST_ROWS) { (of_row(row, tokens, &ids)) }
                }
                @if kind.rows.len() > MOST_ROWS {
                    p class="quiet" { "and " (kind.rows.len() - MOST_ROWS) " more, which kit.json has" }
                }
            }
        }
        (contrast::section(tokens))
    }
}

fn lead(tokens: &Tokens) -> Markup {
    html! {
        (grouped(tokens.count)) " tokens in " (counted(tokens.modes.len().max(1), "mode")) ", compiled from "
        (name(&tokens.source)) "."
        @if tokens.changed.iter().flat_map(|row| &row.values).any(|v| v.distance.is_some()) {
            " ΔE is the distance of two colours in OKLab, times 100: below 2, few people see it."
        }
    }
}

/// What the changes ask of the version.
fn bump(tokens: &Tokens) -> Markup {
    let (tone, why) = match tokens.bump.as_str() {
        "major" => {
            (Tone::Fail, "A major version follows: names or types that others use are gone, or are others.")
        }
        "minor" => (
            Tone::Warn,
            "A minor version follows: there is more than before, and all that was there still works.",
        ),
        "patch" => (Tone::Info, "A patch follows: values change, names do not."),
        "none" => (Tone::Quiet, "No version needs to follow: nothing changes for those who use the tokens."),
        _ => (Tone::Quiet, "This is what the changes ask of the next version."),
    };
    let sign = if tokens.bump == "major" { Mark::Break } else { Mark::Note };
    html! {
        p class="bump" { (badge(tone, sign, &text(&tokens.bump))) span { (why) } }
    }
}

fn of_row(row: &TokenRow, tokens: &Tokens, ids: &Ids) -> Markup {
    html! {
        article class="row" data-row="" {
            div class="row-name" {
                h3 { (name(&row.id)) }
                @if let Some(was) = &row.was_called {
                    p class="was-called" { "was " (name(was)) }
                }
                p class="kind" { (text(&row.kind)) }
                (uses(&row.used_in))
            }
            div class="row-values" {
                @for value in &row.values { (of_value(row, value, tokens.modes.len() > 1, ids)) }
                @if row.values.is_empty() { p class="quiet" { "The value is as it was." } }
            }
        }
    }
}

fn of_value(row: &TokenRow, value: &ValueRow, has_modes: bool, ids: &Ids) -> Markup {
    let on_dark = value.mode.to_ascii_lowercase().contains("dark");
    let drawing =
        draw::drawing(&row.kind, &row.id, value.before.as_deref(), value.after.as_deref(), on_dark, ids);
    let class = if drawing.as_ref().is_some_and(|d| d.is_wide) { "value is-wide" } else { "value" };
    html! {
        div class=(class) {
            @if has_modes { p class="mode" { (text(&value.mode)) } }
            @if let Some(drawing) = &drawing { div class="drawing" { (drawing.markup) } }
            p class="texts" {
                @match (&value.before, &value.after) {
                    (Some(before), Some(after)) => {
                        span class="unseen" { "before " }
                        code class="before" { (text(before)) }
                        " " span class="to" aria-hidden="true" { "→" } " "
                        span class="unseen" { "after " }
                        code { (text(after)) }
                    },
                    (Some(before), None) => { span class="unseen" { "was " } del { code { (text(before)) } } },
                    (None, Some(after)) => code { (text(after)) },
                    (None, None) => span class="quiet" { "no value" },
                }
                @if let Some(distance) = value.distance.filter(|d| d.is_finite()) {
                    " " span class="distance" { "ΔE\u{a0}" (format!("{distance:.1}")) }
                }
            }
        }
    }
}

fn uses(places: &[String]) -> Markup {
    let (few, more) = places.split_at(places.len().min(FEW_USES));
    html! {
        @if !places.is_empty() {
            ul class="uses" aria-label="Used in" { @for place in few { li { (name(place)) } } }
            @if !more.is_empty() {
                details class="more" {
                    summary { "and " (counted(more.len(), "more place")) }
                    ul class="uses" {
                        @for place in more.iter().take(MOST_USES) { li { (name(place)) } }
                        @if more.len() > MOST_USES { li { "and " (more.len() - MOST_USES) " more, which kit.json has" } }
                    }
                }
            }
        }
    }
}
