//! The components at a glance.

use maud::{Markup, html};

use super::bits::{Mark, Tone, badge, counted, look, mark, percent, text};
use super::{Here, Part, Site, heading};
use crate::facts::{Component, Picture, Pictures};
use crate::looks::{self, Look, Since};

pub(super) fn body(site: &Site<'_>, here: Here) -> Markup {
    let kit = site.kit;
    let Some(gallery) = &kit.gallery else { return html! {} };
    let different = |c: &Component| matches!(looks::of_component(c), Look::Changed | Look::New | Look::Gone);
    let some = gallery.components.iter().filter(|c| different(c)).count();
    let found = gallery.components.iter().filter(|c| findings(c).0 + findings(c).1 > 0).count();
    let choices = [
        ("all", "All", gallery.components.len()),
        ("different", "Different", some),
        ("found", "With findings", found),
    ];
    let origin =
        if gallery.origin == "storybook" { "the project's Storybook" } else { "the project's examples" };
    html! {
        (heading("Components", html! {
            (counted(gallery.components.len(), "component")) " from " (origin) ", what differs most first."
        }))
        @if let Some(address) = gallery.storybook.as_ref().and_then(|named| site.addresses.get(named.as_str())) {
            p class="aside" {
                a class="button" href=(format!("{}{address}", here.up)) target="_blank" rel="noopener noreferrer" {
                    "Open Storybook" (mark(Mark::Away)) span class="unseen" { " (new page)" }
                }
                span class="file-only quiet" { "From a file it stays empty: its scripts are modules, which browsers load from servers only." }
            }
        }
        fieldset class="choice shown" {
            legend class="unseen" { "Which components are shown" }
            @for (value, name, many) in choices {
                label {
                    input type="radio" name="shown" id=(format!("shown-{value}")) value=(value) autocomplete="off" checked[value == "all"];
                    span { (name) " " span class="count" { (many) } }
                }
            }
        }
        ul class="gallery" { @for at in &site.order { (card(site, here, *at)) } }
        @if some == 0 { p class="none-different quiet" { "No component looks different from its base." } }
        @if found == 0 { p class="none-found quiet" { "No component has findings." } }
    }
}

/// Findings that are not known to be old, and others.
fn findings(component: &Component) -> (usize, usize) {
    let all = || component.examples.iter().flat_map(|e| e.findings.iter().flatten());
    let old = all().filter(|f| looks::since(f) == Since::Old).count();
    (all().count() - old, old)
}

/// A component with its picture.
pub(super) fn card(site: &Site<'_>, here: Here, at: usize) -> Markup {
    let Some(component) = looks::components(site.kit).get(at) else { return html! {} };
    let seen = looks::of_component(component);
    let (fresh, old) = findings(component);
    let share = looks::share(component);
    let is_different = matches!(seen, Look::Changed | Look::New | Look::Gone);
    let link = html! { a href=(here.to(&site.component(at))) data-kit="" { (text(&component.name)) } };
    html! {
        li class="thumb" data-different[is_different] data-found[fresh + old > 0] {
            div class="thumb-picture" { (thumbnail(component, here)) }
            div class="thumb-text" {
                // Below the page's heading, or below that of a section.
                @if here.part == Part::Components { h2 class="thumb-name" { (link) } } @else { h3 class="thumb-name" { (link) } }
                p class="thumb-badges" {
                    (look(seen))
                    @if fresh > 0 { (badge(Tone::Fail, Mark::Fail, &counted(fresh, "finding"))) }
                    @else if old > 0 { (badge(Tone::Quiet, Mark::Note, &format!("{old} old"))) }
                }
                p class="quiet" {
                    (counted(component.examples.len(), "example"))
                    @if share > 0.0 && seen == Look::Changed { " · up to " (percent(share)) " of pixels" }
                }
            }
        }
    }
}

/// The picture that changed most, in the colours of the page where there are both.
fn thumbnail(component: &Component, here: Here) -> Markup {
    let weight = |e: &crate::facts::Example| e.pictures.iter().map(|p| p.share).fold(0.0, f64::max);
    let with_picture = component.examples.iter().filter(|e| e.pictures.iter().any(|p| of(p).is_some()));
    // The first of the greatest: `max_by` would take the last.
    let example = with_picture.rev().max_by(|a, b| weight(a).total_cmp(&weight(b)));
    let in_scheme = |scheme: &str| {
        example.into_iter().flat_map(|e| &e.pictures).filter(|p| p.scheme == scheme).find_map(of)
    };
    let image = |picture: &Picture, class: &str| {
        let is_tall = u64::from(picture.height) * 2 > u64::from(picture.width) * 3;
        html! {
            img class=(if is_tall { format!("{class} is-tall") } else { class.to_owned() }) src=(here.to(&picture.path)) alt=""
                width=(picture.width) height=(picture.height) loading="lazy" decoding="async";
        }
    };
    html! {
        @match (in_scheme("light"), in_scheme("dark")) {
            (Some(light), Some(dark)) => { (image(light, "only-light")) (image(dark, "only-dark")) },
            (light, dark) => {
                @if let Some(one) = light.or(dark).or_else(|| example.into_iter().flat_map(|e| &e.pictures).find_map(of)) {
                    (image(one, ""))
                } @else {
                    span class="thumb-none" { (mark(Mark::Unseen)) "no picture" }
                }
            },
        }
    }
}

/// How it looks now, or how it looked.
fn of(pictures: &Pictures) -> Option<&Picture> {
    pictures.after.as_ref().or(pictures.before.as_ref())
}
