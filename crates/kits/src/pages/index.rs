//! The overview: what was judged, how much changes, what to look at first, what is missing.

use maud::{Markup, html};

use super::bits::{Mark, Tone, badge, counted, mark, name, of_judgement, prose, text};
use super::{Here, Part, Site, components, notes, nothing};
use crate::draw;
use crate::facts::{Judgement, Kit, TokenRow, ValueRow};
use crate::looks::{self, Look};

/// Most colours and components that the overview shows.
const MOST_COLORS: usize = 10;
const MOST_COMPONENTS: usize = 6;

pub(super) fn body(site: &Site<'_>, here: Here) -> Markup {
    let kit = site.kit;
    let colors = colors(kit);
    let places: Vec<usize> = site
        .order
        .iter()
        .copied()
        .filter(|at| {
            looks::components(kit)
                .get(*at)
                .is_some_and(|c| matches!(looks::of_component(c), Look::Changed | Look::New | Look::Gone))
        })
        .collect();
    html! {
        div class="hero" {
            p class="eyebrow" { (text(&kit.project)) @if !kit.ticket.is_empty() { " · " (text(&kit.ticket)) } }
            h1 { (text(&kit.feature)) }
            p class="lead" { (summary(site)) }
        }
        (verdicts(site, here))
        (numbers(site, here))
        @if !places.is_empty() {
            section class="block" aria-labelledby="looks" {
                div class="block-head" {
                    h2 id="looks" { "What looks different" }
                    a href=(here.to(Part::Components.path())) data-kit="" { "All " (counted(site.tally.components, "component")) }
                }
                ul class="gallery" {
                    @for at in places.iter().take(MOST_COMPONENTS) { (components::card(site, here, *at)) }
                }
                @if places.len() > MOST_COMPONENTS {
                    p class="quiet more-of" { "and " (places.len() - MOST_COMPONENTS) " more" }
                }
            }
        }
        @if !colors.is_empty() {
            section class="block" aria-labelledby="colors" {
                div class="block-head" {
                    h2 id="colors" { "Colours" }
                    a href=(here.to(Part::Tokens.path())) data-kit="" { "All " (counted(site.tally.tokens, "token")) }
                }
                ul class="palette" {
                    @for (row, value, drawing) in colors.iter().take(MOST_COLORS) {
                        li {
                            (drawing)
                            p class="palette-name" { (name(&row.id)) }
                            p class="quiet" { (palette_note(value)) }
                        }
                    }
                }
            }
        }
        (notes::breaking(site, here))
        (missing(kit))
        (compared(kit))
    }
}

/// Which commits were compared, whole.
fn compared(kit: &Kit) -> Markup {
    let commits = [("Base", &kit.base), ("Head", &kit.head)];
    html! {
        @if commits.iter().any(|(_, revision)| revision.is_some()) {
            section class="block" aria-labelledby="compared" {
                h2 id="compared" { "What was compared" }
                dl class="compared" {
                    @for (what, revision) in commits {
                        @if let Some(revision) = revision {
                            dt { (what) }
                            dd { (name(&revision.name)) " " code class="quiet" { (text(&revision.commit)) } }
                        }
                    }
                    @if kit.has_changes { dt { "Also" } dd { "files that are not committed" } }
                }
            }
        }
    }
}

/// What changes, in a sentence.
fn summary(site: &Site<'_>) -> String {
    let tally = &site.tally;
    let mut parts = Vec::new();
    if tally.tokens > 0 {
        let verb = if tally.tokens == 1 { "changes" } else { "change" };
        parts.push(format!("{} {verb}", counted(tally.tokens, "token")));
    }
    let different = tally.changed + tally.new + tally.gone;
    if different > 0 {
        let verb = if different == 1 { "looks" } else { "look" };
        parts.push(format!("{different} of {} {verb} different", counted(tally.components, "component")));
    }
    if tally.new_findings > 0 {
        let verb = if tally.new_findings == 1 { "is" } else { "are" };
        parts.push(format!("{} {verb} new", counted(tally.new_findings, "accessibility finding")));
    } else if tally.other_findings > 0 {
        parts.push(format!("there are {}", counted(tally.other_findings, "accessibility finding")));
    }
    if tally.breaking > 0 {
        let verb = if tally.breaking == 1 { "breaks" } else { "break" };
        parts.push(format!("{} {verb} something", counted(tally.breaking, "commit")));
    }
    match parts.split_last() {
        None if site.parts.len() == 1 => {
            "There is nothing to show yet. What is missing, and why, is below.".to_owned()
        }
        None => "Nothing that a kit shows is different from its base.".to_owned(),
        Some((last, [])) => sentence(last),
        Some((last, front)) => sentence(&format!("{} and {last}", front.join(", "))),
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", chars.as_str())
}

fn verdicts(site: &Site<'_>, here: Here) -> Markup {
    let kit = site.kit;
    let Some(worst) = looks::worst(kit) else {
        return nothing(
            "Nothing was judged",
            "A verdict needs tokens, pictures or scans. What is missing is listed below; make the kit again once it is there.",
        );
    };
    let said = match worst {
        Judgement::Fail => "Something stops this change",
        Judgement::Warn => "Somebody should look before this goes on",
        Judgement::Pass => "Nothing stands against this change",
    };
    let many = |judgement| kit.verdicts.iter().filter(|v| v.verdict == judgement).count();
    let (tone, sign, _) = of_judgement(worst);
    html! {
        section class="verdicts" aria-labelledby="verdicts" {
            div class=(format!("overall {}", tone.class())) {
                (mark(sign))
                h2 id="verdicts" { (said) }
                p {
                    @for (i, judgement) in [Judgement::Fail, Judgement::Warn, Judgement::Pass].into_iter().enumerate() {
                        @if i > 0 { " · " }
                        (many(judgement)) " " (of_judgement(judgement).2.to_lowercase())
                    }
                }
            }
            ul class="cards" {
                @for verdict in &kit.verdicts {
                    @let (tone, sign, word) = of_judgement(verdict.verdict);
                    li class=(format!("card {}", tone.class())) {
                        div class="card-head" {
                            h3 {
                                @if let Some(path) = goes_to(site, &verdict.name) {
                                    a href=(format!("{}{path}", here.up)) data-kit="" { (text(&verdict.name)) }
                                } @else { (text(&verdict.name)) }
                            }
                            (badge(tone, sign, word))
                        }
                        p { (prose(&verdict.detail)) }
                    }
                }
            }
        }
    }
}

/// Where a verdict is explained.
fn goes_to(site: &Site<'_>, name: &str) -> Option<&'static str> {
    let (part, path) = match name {
        "Tokens" => (Part::Tokens, "tokens.html"),
        "Contrast" => (Part::Tokens, "tokens.html#contrast"),
        "Accessibility" => (Part::Accessibility, "accessibility.html"),
        "Pictures" => (Part::Components, "components.html"),
        "Notes" => (Part::Notes, "notes.html"),
        _ => return None,
    };
    site.has(part).then_some(path)
}

fn numbers(site: &Site<'_>, here: Here) -> Markup {
    let (kit, tally) = (site.kit, &site.tally);
    let mut all: Vec<(Part, usize, &str, String)> = Vec::new();
    if let Some(tokens) = kit.tokens.as_ref() {
        let parts = format!(
            "{} new, {} changed, {} renamed, {} removed · of {}",
            tokens.added.len(),
            tokens.changed.len(),
            tokens.renamed.len(),
            tokens.removed.len(),
            tokens.count
        );
        all.push((Part::Tokens, tally.tokens, "tokens that change", parts));
    }
    if tally.components > 0 {
        let parts = format!(
            "{} changed, {} new, {} gone · of {}",
            tally.changed, tally.new, tally.gone, tally.components
        );
        let different = tally.changed + tally.new + tally.gone;
        all.push((Part::Components, different, "components that look different", parts));
    }
    if tally.examined > 0 {
        let parts = format!(
            "{} at the base already, {} undecided · {} scanned",
            tally.old_findings,
            tally.undecided,
            counted(tally.examined, "example")
        );
        let label =
            if tally.other_findings > 0 { "accessibility findings" } else { "new accessibility findings" };
        all.push((Part::Accessibility, tally.fresh(), label, parts));
    }
    if tally.commits > 0 {
        all.push((Part::Notes, tally.commits, "commits", format!("{} breaking", tally.breaking)));
    }
    html! {
        @if !all.is_empty() {
            ul class="numbers" {
                @for (part, number, label, parts) in &all {
                    li {
                        p class="number" { (number) }
                        p class="number-label" {
                            @if site.has(*part) { a href=(here.to(part.path())) data-kit="" { (label) } } @else { (label) }
                        }
                        p class="quiet" { (parts) }
                    }
                }
            }
        }
    }
}

/// Colours that are others, those that moved furthest first, then new ones.
fn colors(kit: &Kit) -> Vec<(&TokenRow, &ValueRow, Markup)> {
    let Some(tokens) = &kit.tokens else { return Vec::new() };
    let mut out: Vec<(&TokenRow, &ValueRow)> = tokens
        .changed
        .iter()
        .chain(&tokens.added)
        .filter(|row| row.kind == "color")
        .filter_map(|row| {
            let distance = |v: &&ValueRow| v.distance.filter(|d| d.is_finite()).unwrap_or(0.0);
            Some((row, row.values.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))?))
        })
        .collect();
    out.sort_by(|(_, a), (_, b)| b.distance.unwrap_or(-1.0).total_cmp(&a.distance.unwrap_or(-1.0)));
    out.into_iter()
        .filter_map(|(row, value)| {
            Some((row, value, draw::small_swatch(value.before.as_deref(), value.after.as_deref())?))
        })
        .take(MOST_COLORS)
        .collect()
}

fn palette_note(value: &ValueRow) -> Markup {
    html! {
        @match (value.before.is_some(), value.distance) {
            (false, _) => "new",
            (true, Some(distance)) => { "ΔE " (format!("{distance:.1}")) },
            (true, None) => "changed",
        }
        @if value.mode != "default" { " · " (text(&value.mode)) }
    }
}

fn missing(kit: &Kit) -> Markup {
    html! {
        @if !kit.missing.is_empty() {
            section class="block" aria-labelledby="missing" {
                h2 id="missing" { "What is not here" }
                ul class="missing" {
                    @for part in &kit.missing {
                        li {
                            (badge(Tone::Quiet, Mark::Unseen, &text(&part.part)))
                            p { (prose(&part.why)) }
                        }
                    }
                }
            }
        }
    }
}
