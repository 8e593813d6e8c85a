//! Two pictures of an example: beside each other, under a slider, over each other, and what differs.

use maud::{Markup, html};

use super::Here;
use super::bits::{grouped, percent, text};
use crate::facts::{Example, Picture, Pictures};
use crate::looks::{self, Look};

/// Wider pictures stand in two columns, not three, in pixels.
const BROAD: u32 = 640;
/// So many colour schemes can be switched between; where there are more, all are shown.
const SWITCHED: usize = 2;

/// What is written around one example's pictures.
struct Frame<'k> {
    here: Here,
    title: &'k str,
    /// The example's number in its page.
    number: usize,
}

pub(super) fn body(here: Here, number: usize, example: &Example) -> Markup {
    let frame = Frame { here, title: &example.title, number };
    let is_switched = (2..=SWITCHED).contains(&example.pictures.len());
    let differs = |p: &Pictures| looks::of_pictures(p) == Look::Changed;
    // The first that differs is what a reviewer came for.
    let first = example.pictures.iter().position(differs).unwrap_or_default();
    html! {
        @if example.pictures.is_empty() {
            p class="quiet" { "Nobody took a picture of it: pictures need a browser, and an example that it can open." }
        } @else {
            div class="compare" {
                div class="tools" {
                    @if is_switched {
                        fieldset class="choice" {
                            legend class="unseen" { "Colour scheme of the pictures" }
                            @for (s, pictures) in example.pictures.iter().enumerate() {
                                label {
                                    input type="radio" name=(format!("scheme-{number}")) value=(format!("scheme-{s}")) autocomplete="off" checked[s == first];
                                    span { (capital(&pictures.scheme)) @if differs(pictures) { " " span class="count" { (percent(pictures.share)) } } }
                                }
                            }
                        }
                    }
                    @if example.pictures.iter().any(differs) {
                        fieldset class="choice" {
                            legend class="unseen" { "How to look" }
                            @for (value, name) in [("side", "Side by side"), ("swipe", "Swipe"), ("onion", "Onion"), ("difference", "Difference")] {
                                label class=[matches!(value, "swipe" | "onion").then_some("needs-js")] {
                                    input type="radio" name=(format!("view-{number}")) value=(value) autocomplete="off" checked[value == "side"];
                                    span { (name) }
                                }
                            }
                        }
                    }
                }
                @for (s, pictures) in example.pictures.iter().enumerate() {
                    div class=(if is_switched { format!("scheme scheme-{s}") } else { "scheme".to_owned() }) {
                        (of_scheme(&frame, s, pictures, looks::of_pictures(pictures), is_switched))
                    }
                }
            }
        }
    }
}

fn capital(scheme: &str) -> String {
    match scheme {
        "light" => "Light".to_owned(),
        "dark" => "Dark".to_owned(),
        other => text(other).into_owned(),
    }
}

fn of_scheme(frame: &Frame<'_>, s: usize, pictures: &Pictures, look: Look, is_switched: bool) -> Markup {
    let one = |picture: &Option<Picture>, caption: &str| {
        html! { @if let Some(picture) = picture { div class="side" { (figure(frame, picture, &pictures.scheme, caption)) } } }
    };
    html! {
        h3 class=(if is_switched { "scheme-name is-switched" } else { "scheme-name" }) { (capital(&pictures.scheme)) }
        @match (look, &pictures.before, &pictures.after) {
            (Look::Changed, Some(before), Some(after)) => (both(frame, s, pictures, before, after)),
            (Look::Same, _, after) => (one(after, "As before")),
            (Look::Gone, before, _) => (one(before, "Before; it is gone")),
            (Look::New, _, after) => (one(after, "New")),
            (_, _, after) => (one(after, "Now")),
        }
    }
}

fn both(frame: &Frame<'_>, s: usize, pictures: &Pictures, before: &Picture, after: &Picture) -> Markup {
    let scheme = &pictures.scheme;
    let is_broad = before.width.max(after.width) > BROAD;
    html! {
        p class="difference quiet" {
            (percent(pictures.share)) " of pixels differ (" (grouped(pictures.pixels)) ")"
            @if (before.width, before.height) != (after.width, after.height) {
                " · the size too: " (before.width) " × " (before.height) " → " (after.width) " × " (after.height)
            }
        }
        div class=(if is_broad { "view view-side side is-broad" } else { "view view-side side" }) {
            (figure(frame, before, scheme, "Before"))
            (figure(frame, after, scheme, "After"))
            @if let Some(difference) = &pictures.difference { (figure(frame, difference, scheme, "Difference")) }
        }
        div class="view view-swipe" data-compare="" { (stack(frame, s, scheme, before, after, Way::Swipe)) }
        div class="view view-onion" data-compare="" { (stack(frame, s, scheme, before, after, Way::Onion)) }
        div class="view view-difference" {
            @if let Some(difference) = &pictures.difference { (figure(frame, difference, scheme, "What differs, painted")) }
            @else { (stack(frame, s, scheme, before, after, Way::Blend)) }
        }
    }
}

/// A picture that opens in its own size.
fn figure(frame: &Frame<'_>, picture: &Picture, scheme: &str, caption: &str) -> Markup {
    let src = frame.here.to(&picture.path);
    html! {
        figure {
            figcaption { (caption) }
            a class="shot" href=(src) {
                img src=(src) width=(picture.width) height=(picture.height) loading="lazy" decoding="async"
                    alt=(format!("{}, {}, {}", text(frame.title), caption.to_lowercase(), text(scheme)));
            }
        }
    }
}

/// How two pictures lie over each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One left of an edge, the other right of it.
    Swipe,
    /// One shines through the other.
    Onion,
    /// What is equal turns black.
    Blend,
}

fn stack(frame: &Frame<'_>, s: usize, scheme: &str, before: &Picture, after: &Picture, way: Way) -> Markup {
    let (width, height) = (before.width.max(after.width), before.height.max(after.height));
    let clip = format!("clip-{}-{s}", frame.number);
    let half = f64::from(width) / 2.0;
    let (said, name) = match way {
        Way::Swipe => ("before at the left, after at the right", "Where before ends and after begins"),
        Way::Onion => ("before and after over each other", "How much of after is seen"),
        Way::Blend => ("what differs", ""),
    };
    html! {
        svg class="stack" viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="img"
            aria-label=(format!("{}, {said}, {}", text(frame.title), text(scheme))) {
            image href=(frame.here.to(&before.path)) width=(before.width) height=(before.height) {}
            @match way {
                Way::Swipe => {
                    clipPath id=(clip) { rect class="clip" x=(half) width=(half) height=(height) {} }
                    g class="after" clip-path=(format!("url(#{clip})")) {
                        rect class="ground" width=(width) height=(height) {}
                        image href=(frame.here.to(&after.path)) width=(after.width) height=(after.height) {}
                    }
                    path class="edge" d=(format!("M{half} 0V{height}")) {}
                },
                Way::Onion => image class="after" href=(frame.here.to(&after.path)) width=(after.width) height=(after.height) opacity="0.5" {},
                Way::Blend => image class="blend" href=(frame.here.to(&after.path)) width=(after.width) height=(after.height) {},
            }
        }
        @if way != Way::Blend {
            div class="slide" {
                span aria-hidden="true" { "Before" }
                input type="range" min="0" max="100" value="50" step="any" autocomplete="off" aria-label=(name);
                span aria-hidden="true" { "After" }
            }
        }
    }
}
