//! What is wrong with examples for some people, by rule.

use maud::{Markup, html};

use super::bits::{Mark, Tone, badge, counted, impact, mark, text};
use super::component::elements;
use super::{Here, Site, heading};
use crate::looks::{self, Group, Since};

/// Most places that are listed for a rule.
const MOST_PLACES: usize = 200;

pub(super) fn body(site: &Site<'_>, here: Here) -> Markup {
    let tally = &site.tally;
    let kinds = [
        (Since::New, "new", "New", Mark::New),
        (Since::Unknown, "findings", "Findings", Mark::Fail),
        (Since::Old, "old", "At the base already", Mark::Note),
    ];
    let many = |since: Since| -> usize {
        site.groups.iter().filter(|g| g.since == since).map(|g| g.places.len()).sum()
    };
    html! {
        (heading("Accessibility", html! {
            "axe-core looked at " (counted(tally.examined, "example")) "."
            @if tally.other_findings > 0 { " Nobody looked at the base, so that nothing is known to be old." }
        }))
        ul class="numbers is-small" {
            @for (since, _, title, _) in kinds {
                @if many(since) > 0 || since == Since::New && tally.other_findings == 0 {
                    li { p class="number" { (many(since)) } p class="number-label" { (title) } }
                }
            }
            li { p class="number" { (tally.undecided) } p class="number-label" { "Undecided" } p class="quiet" { "somebody has to look" } }
            @if tally.unexamined > 0 {
                li { p class="number" { (tally.unexamined) } p class="number-label" { "Examples not scanned" } }
            }
        }
        @if site.groups.is_empty() {
            div class="nothing is-pass" {
                (mark(Mark::Pass))
                p class="nothing-title" { "No finding" }
                p { "A machine finds about half of what is wrong for people. Go through the examples with the keyboard and a screen reader too." }
            }
        } @else if many(Since::New) == 0 && tally.other_findings == 0 {
            p class="calm" { (badge(Tone::Pass, Mark::Pass, "nothing new")) " What is listed was there before this change." }
        }
        @for (since, anchor, title, sign) in kinds {
            @if many(since) > 0 {
                section class="block" aria-labelledby=(anchor) {
                    h2 id=(anchor) { (mark(sign)) (title) " " span class="count" { (many(since)) } }
                    @for group in site.groups.iter().filter(|g| g.since == since) { (of_group(site, here, group)) }
                }
            }
        }
        (unexamined(site, here))
    }
}

fn of_group(site: &Site<'_>, here: Here, group: &Group<'_>) -> Markup {
    let finding = group.first;
    let count: usize = group.places.iter().map(|(_, _, f)| f.elements.len()).sum();
    html! {
        article class="rule" {
            div class="rule-head" {
                h3 id=(group.anchor) { (text(&finding.help)) }
                p {
                    (impact(&finding.impact)) " " code { (text(&finding.rule)) }
                    " · " (counted(count, "element")) " in " (counted(group.places.len(), "example"))
                    @if is_address(&finding.help_url) {
                        " · " a href=(finding.help_url) target="_blank" rel="noreferrer noopener" {
                            "About this rule" (mark(Mark::Away)) span class="unseen" { " " (text(&finding.rule)) " (new page)" }
                        }
                    }
                }
            }
            ul class="places" {
                @for (c, e, found) in group.places.iter().take(MOST_PLACES) {
                    @if let Some(component) = looks::components(site.kit).get(*c) {
                        li {
                            p {
                                a href=(format!("{}#example-{}", here.to(&site.component(*c)), e + 1)) data-kit="" {
                                    (text(&component.name))
                                    @if let Some(example) = component.examples.get(*e) { " · " (text(&example.title)) }
                                }
                            }
                            (elements(&found.elements))
                        }
                    }
                }
            }
            @if group.places.len() > MOST_PLACES {
                p class="quiet" { "and " (group.places.len() - MOST_PLACES) " more, which kit.json has" }
            }
        }
    }
}

/// Whether an address may be a link: the facts are somebody else's text, and `javascript:` is an address too.
fn is_address(address: &str) -> bool {
    let rest = address.strip_prefix("https://").unwrap_or_default();
    !rest.is_empty()
        && rest.len() <= 1_000
        && rest.starts_with(|c: char| c.is_ascii_alphanumeric())
        && rest
            .bytes()
            .all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`' | b'@'))
}

fn unexamined(site: &Site<'_>, here: Here) -> Markup {
    let all = looks::components(site.kit).iter().enumerate();
    let without: Vec<_> = all.filter(|(_, c)| c.examples.iter().any(|e| e.findings.is_none())).collect();
    html! {
        @if !without.is_empty() {
            section class="block" aria-labelledby="unexamined" {
                h2 id="unexamined" { (mark(Mark::Unseen)) "Not scanned" }
                p class="quiet" { "Of these, nothing is known. An example is scanned where a browser opens it." }
                ul class="plain" {
                    @for (c, component) in without.iter().take(MOST_PLACES) {
                        li { a href=(here.to(&site.component(*c))) data-kit="" { (text(&component.name)) } }
                    }
                    @if without.len() > MOST_PLACES { li { "and " (without.len() - MOST_PLACES) " more" } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_links() {
        assert!(is_address("https://dequeuniversity.com/rules/axe/4.14/color-contrast?application=axeAPI"));
        for address in [
            "javascript:alert(1)",
            "http://x.example/",
            "https://",
            "https:///etc",
            "https://a b",
            "https://a\"b",
            "https://user@host/",
            "https://x\n",
            " https://x",
            "//x",
        ] {
            assert!(!is_address(address), "{address}");
        }
    }
}
