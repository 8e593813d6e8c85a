//! Images, sounds and films.

use super::{Rule, Verdict};
use crate::dom::NodeId;
use crate::scan::Scan;
use crate::text::clean;

pub(super) const RULES: &[Rule] = &[
    Rule::new("image-redundant-alt", |s, id| s.name(id) == "img" && !s.is_presentational(id), redundant),
    Rule::new("server-side-image-map", |s, id| s.name(id) == "img" && s.has(id, "ismap"), server_map),
    Rule::new("video-caption", |s, id| s.name(id) == "video", captions),
    Rule::new("audio-caption", |s, id| s.name(id) == "audio", captions),
    Rule::new("no-autoplay-audio", is_started, autoplay),
    Rule::new("blink", |s, id| s.name(id) == "blink", moves),
    Rule::new("marquee", |s, id| s.name(id) == "marquee", moves),
];

fn redundant(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let around = scan.closest(id, |at| {
        scan.is_one_of(at, &["button", "p", "li", "td", "th"])
            || scan.is(at, "role", "button")
            || (scan.name(at) == "a" && scan.has(at, "href"))
    });
    let text = around.map_or_else(String::new, |around| scan.visible_text(around, true)).to_lowercase();
    let is_repeated = !text.is_empty() && text == clean(&scan.accessible_name(id)).to_lowercase();
    Verdict::passes_if(!is_repeated, "The image's name repeats the text beside it: leave its alt empty.")
}

fn server_map(_: &Scan<'_>, _: NodeId) -> Verdict {
    Verdict::unsure("What a click on the image does depends on where it was, which the keyboard cannot say.")
}

fn captions(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let has_captions = scan.document.descendants(id).into_iter().any(|at| {
        let kind = scan.attribute(at, "kind").filter(|_| scan.name(at) == "track");
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case("captions"))
    });
    if has_captions {
        return Verdict::Passes;
    }
    Verdict::unsure("No track with captions is in it: see whether it needs one.")
}

/// Whether it begins to sound by itself, as far as markup says: it has a source, and is not told to be quiet.
fn is_started(scan: &Scan<'_>, id: NodeId) -> bool {
    let has_source = scan.has_filled(id, "src")
        || scan.document.child_elements(id).any(|at| scan.name(at) == "source" && scan.has_filled(at, "src"));
    scan.is_one_of(id, &["audio", "video"])
        && scan.has(id, "autoplay")
        && has_source
        && !scan.has(id, "muted")
        && !scan.has(id, "paused")
}

fn autoplay(scan: &Scan<'_>, id: NodeId) -> Verdict {
    if scan.has(id, "controls") {
        return Verdict::Passes;
    }
    Verdict::unsure(
        "It plays by itself without controls: if it sounds for more than three seconds, people cannot stop it.",
    )
}

fn moves(scan: &Scan<'_>, id: NodeId) -> Verdict {
    Verdict::passes_if(!scan.is_shown(id), "The text moves or blinks, and nobody can stop it.")
}
