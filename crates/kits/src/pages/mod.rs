//! The pages of a kit.

mod accessibility;
mod bits;
mod compare;
mod component;
mod components;
mod contrast;
mod index;
mod notes;
mod tokens;

use std::collections::BTreeMap;

use bits::{Mark, grouped, mark, revision, text};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::error::KitError;
use crate::facts::{Judgement, Kit};
use crate::looks::{self, Group, Tally};
use crate::{paths, policy};

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("../style.css");

/// A part of the kit that has a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Overview,
    Tokens,
    Components,
    Accessibility,
    Notes,
}

impl Part {
    const fn path(self) -> &'static str {
        match self {
            Self::Overview => "index.html",
            Self::Tokens => "tokens.html",
            Self::Components => "components.html",
            Self::Accessibility => "accessibility.html",
            Self::Notes => "notes.html",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Tokens => "Tokens",
            Self::Components => "Components",
            Self::Accessibility => "Accessibility",
            Self::Notes => "Notes",
        }
    }
}

/// What all pages know.
struct Site<'k> {
    kit: &'k Kit,
    tally: Tally,
    groups: Vec<Group<'k>>,
    /// What the page of each component is called, in the gallery's order.
    slugs: Vec<String>,
    /// The address of each example that has a page, as the facts name it.
    addresses: BTreeMap<&'k str, String>,
    parts: Vec<Part>,
    /// Places in the gallery, what differs most first; and where each place stands among them.
    order: Vec<usize>,
    stands: Vec<usize>,
}

impl<'k> Site<'k> {
    fn new<V>(kit: &'k Kit, files: &BTreeMap<String, V>) -> Result<Self, KitError> {
        let tally = Tally::of(kit);
        let components = looks::components(kit);
        let mut addresses = BTreeMap::new();
        for named in components.iter().flat_map(|c| &c.examples).filter_map(|e| e.page.as_deref()) {
            addresses.insert(named, paths::address(named, "an example's page", files)?);
        }
        if let Some(named) = kit.gallery.as_ref().and_then(|g| g.storybook.as_deref()) {
            addresses.insert(named, paths::address(named, "the page of Storybook", files)?);
        }
        let has_tokens = kit.tokens.as_ref().is_some_and(|t| tally.tokens + t.contrast.len() > 0);
        let parts = [
            (Part::Overview, true),
            (Part::Tokens, has_tokens),
            (Part::Components, tally.components > 0),
            (Part::Accessibility, tally.examined > 0),
            (Part::Notes, tally.commits > 0),
        ];
        let order = looks::by_interest(kit);
        let mut stands = vec![0; order.len()];
        for (stand, at) in order.iter().enumerate() {
            if let Some(slot) = stands.get_mut(*at) {
                *slot = stand;
            }
        }
        Ok(Self {
            kit,
            tally,
            groups: looks::groups(kit),
            slugs: paths::slugs(components.iter().map(|c| c.name.as_str())),
            addresses,
            parts: parts.into_iter().filter(|(_, has)| *has).map(|(part, _)| part).collect(),
            order,
            stands,
        })
    }

    fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// The path of a component's page.
    fn component(&self, at: usize) -> String {
        let slug = self.slugs.get(at).map_or("component", String::as_str);
        format!("{}/{slug}.html", paths::COMPONENTS)
    }

    /// How many things of a part want to be seen; `None` for the overview.
    fn count(&self, part: Part) -> Option<usize> {
        match part {
            Part::Overview => None,
            Part::Tokens => Some(self.tally.tokens),
            Part::Components => Some(self.tally.components),
            Part::Accessibility => Some(self.tally.fresh()),
            Part::Notes => Some(self.tally.commits),
        }
    }
}

/// A page that is being written.
#[derive(Clone, Copy)]
struct Here {
    part: Part,
    /// What leads from the page's folder to the kit's: nothing or `../`.
    up: &'static str,
}

impl Here {
    const fn top(part: Part) -> Self {
        Self { part, up: "" }
    }

    /// The address of a page of the kit or a file in it.
    fn to(self, path: &str) -> String {
        format!("{}{}", self.up, paths::href(path))
    }
}

/// All pages, by path.
pub(crate) fn all<V>(kit: &Kit, files: &BTreeMap<String, V>) -> Result<Vec<(String, String)>, KitError> {
    let site = Site::new(kit, files)?;
    let mut out = Vec::new();
    for part in &site.parts {
        let here = Here::top(*part);
        let body = match part {
            Part::Overview => index::body(&site, here),
            Part::Tokens => tokens::body(&site, here),
            Part::Components => components::body(&site, here),
            Part::Accessibility => accessibility::body(&site, here),
            Part::Notes => notes::body(&site),
        };
        out.push((part.path().to_owned(), page(&site, here, part.name(), body)));
    }
    for (at, component) in looks::components(kit).iter().enumerate() {
        let here = Here { part: Part::Components, up: "../" };
        let body = component::body(&site, here, at, component);
        out.push((site.component(at), page(&site, here, &component.name, body)));
    }
    Ok(out)
}

/// A small picture for a browser's tab: two squares, the front one coloured by the worst verdict.
pub(crate) fn icon(kit: &Kit) -> String {
    let color = match looks::worst(kit) {
        Some(Judgement::Fail) => "#d92d20",
        Some(Judgement::Warn) => "#dc8a00",
        Some(Judgement::Pass) => "#12905a",
        None => "#5b5bd6",
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\"><rect x=\"3\" y=\"3\" width=\"19\" height=\"19\" rx=\"5\" \
         fill=\"#8b8f98\"/><rect x=\"10\" y=\"10\" width=\"19\" height=\"19\" rx=\"5\" fill=\"{color}\" stroke=\"#fff\" \
         stroke-width=\"2\"/></svg>\n"
    )
}

fn page(site: &Site<'_>, here: Here, title: &str, body: Markup) -> String {
    let kit = site.kit;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy::of_pages());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (text(title)) " · " (text(&kit.feature)) " · " (text(&kit.ticket)) }
                link rel="icon" type="image/svg+xml" href=(here.to("icon.svg"));
                link rel="stylesheet" href=(here.to("style.css"));
                script { (PreEscaped(policy::SCRIPT)) }
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                (header(site, here))
                main id="main" tabindex="-1" { (body) }
                footer class="foot" {
                    p {
                        "A review kit of " strong { (text(&kit.project)) } ". It asks nothing of a network. "
                        a href=(here.to("kit.json")) { code { "kit.json" } } " has its facts and the SHA-256 of every file."
                    }
                }
            }
        }
    };
    let mut text = page.into_string();
    text.push('\n');
    text
}

fn header(site: &Site<'_>, here: Here) -> Markup {
    let kit = site.kit;
    html! {
        header class="top" {
            div class="top-row" {
                a class="name" href=(here.to("index.html")) data-kit="" {
                    svg class="logo" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" {
                        rect class="logo-was" x="3" y="3" width="19" height="19" rx="5" {}
                        rect class="logo-is" x="10" y="10" width="19" height="19" rx="5" {}
                    }
                    span class="feature" { (text(&kit.feature)) }
                }
                @if !kit.ticket.is_empty() { span class="ticket" { (text(&kit.ticket)) } }
                (range(kit))
                (themes())
            }
            nav class="tabs" aria-label="Parts of this kit" {
                @for part in &site.parts {
                    a href=(here.to(part.path())) data-kit="" aria-current=[(*part == here.part).then_some("page")] {
                        (part.name())
                        @if let Some(n) = site.count(*part) {
                            " " span class="count" { (grouped(u64::try_from(n).unwrap_or(u64::MAX))) }
                        }
                    }
                }
            }
        }
    }
}

/// From which commit to which.
fn range(kit: &Kit) -> Markup {
    html! {
        p class="range" {
            @if let Some(base) = &kit.base { (revision(base)) } @else { span class="revision" { "no base" } }
            span class="to" { span aria-hidden="true" { "→" } span class="unseen" { " to " } }
            @if let Some(head) = &kit.head { (revision(head)) } @else { span class="revision" { "working tree" } }
            @if kit.has_changes && kit.head.is_some() { span class="dirty" title="Files are not as the commit has them" { "+ edits" } }
        }
    }
}

fn themes() -> Markup {
    let all = [
        ("auto", "As the system", Mark::System),
        ("light", "Light", Mark::Light),
        ("dark", "Dark", Mark::Dark),
    ];
    html! {
        fieldset class="choice themes" {
            legend class="unseen" { "Colours" }
            @for (value, name, sign) in all {
                label title=(name) {
                    input type="radio" name="theme" id=(format!("theme-{value}")) value=(value) autocomplete="off" checked[value == "auto"];
                    span { (mark(sign)) span class="unseen" { (name) } }
                }
            }
        }
    }
}

/// The heading of a page, with what it is about in a sentence.
fn heading(title: &str, lead: Markup) -> Markup {
    html! {
        div class="heading" {
            h1 { (text(title)) }
            p class="lead" { (lead) }
        }
    }
}

/// What stands where nothing is: what it means, and what to do.
fn nothing(title: &str, what: &str) -> Markup {
    html! {
        div class="nothing" {
            (mark(Mark::Unseen))
            p class="nothing-title" { (title) }
            p { (what) }
        }
    }
}
