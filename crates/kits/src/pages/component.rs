//! One component: each of its examples before and after.

use maud::{Markup, html};

use super::bits::{Mark, Tone, badge, counted, impact, look, mark, name, percent, text};
use super::{Here, Part, Site, compare, heading, nothing};
use crate::facts::{Component, Example, Finding};
use crate::looks::{self, Look, Since};

/// Most examples that the page of a component shows.
const MOST_EXAMPLES: usize = 200;
/// Most elements that are listed for a finding.
pub(super) const MOST_ELEMENTS: usize = 50;

pub(super) fn body(site: &Site<'_>, here: Here, at: usize, component: &Component) -> Markup {
    let seen = looks::of_component(component);
    html! {
        p class="crumbs" { a href=(here.to(Part::Components.path())) data-kit="" { "← All components" } }
        (heading(&component.name, html! {
            (look(seen)) " "
            (counted(component.examples.len(), "example"))
            @if seen == Look::Changed { " · up to " (percent(looks::share(component))) " of pixels differ" }
        }))
        @if component.examples.len() > 1 {
            nav class="jumps" aria-label="Examples" {
                @for (e, example) in component.examples.iter().enumerate().take(MOST_EXAMPLES) {
                    a href=(format!("#example-{}", e + 1)) { (text(&example.title)) }
                }
            }
        }
        @if component.examples.is_empty() {
            (nothing("No example", "Write an example of this component, and it is pictured and scanned the next time."))
        }
        @for (e, example) in component.examples.iter().enumerate().take(MOST_EXAMPLES) {
            (of_example(site, here, e + 1, example))
        }
        @if component.examples.len() > MOST_EXAMPLES {
            p class="quiet" { "and " (component.examples.len() - MOST_EXAMPLES) " more examples, which kit.json has" }
        }
        (neighbours(site, here, at))
    }
}

fn of_example(site: &Site<'_>, here: Here, number: usize, example: &Example) -> Markup {
    let seen = looks::of_example(example);
    let address = example.page.as_ref().and_then(|named| site.addresses.get(named.as_str()));
    let address = address.map(|a| format!("{}{a}", here.up));
    let heading = format!("example-{number}");
    html! {
        section class="example" aria-labelledby=(heading) {
            div class="example-head" {
                div {
                    h2 id=(heading) { (text(&example.title)) }
                    p class="source" { (name(&example.source)) }
                }
                p class="example-badges" {
                    (look(seen))
                    @match &example.findings {
                        None => (badge(Tone::Quiet, Mark::Unseen, "not scanned")),
                        Some(all) if all.is_empty() => (badge(Tone::Pass, Mark::Pass, "no findings")),
                        Some(all) => {
                            @let fresh = all.iter().filter(|f| looks::since(f) != Since::Old).count();
                            @if fresh > 0 { (badge(Tone::Fail, Mark::Fail, &counted(fresh, "finding"))) }
                            @if all.len() > fresh { (badge(Tone::Quiet, Mark::Note, &format!("{} old", all.len() - fresh))) }
                        },
                    }
                    @if let Some(address) = &address {
                        a class="button" href=(address) target="_blank" rel="noopener noreferrer" {
                            "Open" span class="unseen" { " " (text(&example.title)) " (new page)" } (mark(Mark::Away))
                        }
                    }
                }
            }
            (compare::body(here, number, example))
            @if let Some(address) = &address { (embedded(example, address)) }
            @if let Some(findings) = &example.findings { (found(site, here, findings, example.undecided)) }
        }
    }
}

/// The example itself. It has no origin: it reaches neither this page nor anything that a browser keeps for it.
fn embedded(example: &Example, address: &str) -> Markup {
    html! {
        details class="live" {
            summary { "Live" }
            p class="file-only quiet" {
                "From a file, an example in a frame loads nothing beside itself: where its styles are files of their own, open it as a page."
            }
            iframe src=(address) sandbox="allow-scripts" loading="lazy" referrerpolicy="no-referrer"
                title=(format!("{}, live", text(&example.title))) {}
        }
    }
}

fn found(site: &Site<'_>, here: Here, findings: &[Finding], undecided: u64) -> Markup {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by(|a, b| looks::key(a).cmp(&looks::key(b)));
    html! {
        @if !sorted.is_empty() {
            div class="found" {
                h3 { "Accessibility" }
                ul {
                    @for finding in sorted {
                        li {
                            p {
                                (impact(&finding.impact)) " "
                                @match looks::since(finding) {
                                    Since::New => { (badge(Tone::Info, Mark::New, "new")) " " },
                                    Since::Old => { (badge(Tone::Quiet, Mark::Note, "at the base too")) " " },
                                    Since::Unknown => {},
                                }
                                (text(&finding.help)) " "
                                a href=(here.to("accessibility.html") + &anchor(site, finding)) data-kit="" { code { (text(&finding.rule)) } }
                            }
                            (elements(&finding.elements))
                        }
                    }
                }
            }
        }
        @if undecided > 0 {
            p class="quiet undecided" { (undecided) " could not be decided by a machine: somebody has to look." }
        }
    }
}

fn anchor(site: &Site<'_>, finding: &Finding) -> String {
    let key = looks::key(finding);
    let place = site.groups.binary_search_by(|group| looks::key(group.first).cmp(&key));
    place
        .ok()
        .and_then(|at| site.groups.get(at))
        .map(|group| format!("#{}", group.anchor))
        .unwrap_or_default()
}

/// Selectors of elements.
pub(super) fn elements(selectors: &[String]) -> Markup {
    html! {
        @if !selectors.is_empty() {
            ul class="elements" {
                @for selector in selectors.iter().take(MOST_ELEMENTS) { li { (name(selector)) } }
                @if selectors.len() > MOST_ELEMENTS { li { "and " (selectors.len() - MOST_ELEMENTS) " more, which kit.json has" } }
            }
        }
    }
}

/// The components before and after this one, as the overview of components has them.
fn neighbours(site: &Site<'_>, here: Here, at: usize) -> Markup {
    let order = &site.order;
    let place = site.stands.get(at).copied().unwrap_or_default();
    let link = |to: Option<&usize>, class: &str, word: &str| {
        let named = to.and_then(|p| Some((*p, looks::components(site.kit).get(*p)?)));
        html! {
            @if let Some((p, component)) = named {
                a class=(class) href=(here.to(&site.component(p))) data-kit="" { span { (word) } (text(&component.name)) }
            }
        }
    };
    html! {
        @if order.len() > 1 {
            nav class="neighbours" aria-label="Other components" {
                (link(place.checked_sub(1).and_then(|p| order.get(p)), "previous", "Previous"))
                (link(order.get(place + 1), "next", "Next"))
            }
        }
    }
}
