//! Values of tokens as drawings. All of them are SVG with presentation attributes: no style attribute and no stylesheet of
//! values is needed, so that a page's policy allows neither. Every number and colour was read and is written by us.

mod color;
mod shadow;
mod values;

use std::cell::Cell;

pub(crate) use color::CssColor;
use maud::{Markup, html};

/// Width of bars and gradients, in pixels.
const BAR: f64 = 158.0;

/// Names of what a drawing refers to, each once in a page.
#[derive(Default)]
pub(crate) struct Ids(Cell<u32>);

impl Ids {
    fn next(&self) -> String {
        self.0.set(self.0.get() + 1);
        format!("d{}", self.0.get())
    }
}

/// How a value looks before and after.
pub(crate) struct Drawing {
    pub(crate) markup: Markup,
    /// Whether it wants the width of the page.
    pub(crate) is_wide: bool,
}

/// A value before and after; the token's name tells a corner from a width. `None` where its kind is not drawn or neither reads.
pub(crate) fn drawing(
    kind: &str,
    name: &str,
    before: Option<&str>,
    after: Option<&str>,
    on_dark: bool,
    ids: &Ids,
) -> Option<Drawing> {
    let markup = match kind {
        "color" => swatch(both(before, after, CssColor::parse)?),
        "dimension" if name.to_ascii_lowercase().contains("radius") => {
            pair(both(before, after, values::length)?, |radius| corner(*radius))
        }
        "dimension" => bars(both(before, after, values::length)?, 1.0),
        "duration" => bars(both(before, after, values::milliseconds)?, f64::INFINITY),
        "cubicBezier" => curves(both(before, after, values::bezier)?),
        "transition" => {
            let (before, after) = both(before, after, values::transition)?;
            let shapes = (before.map(|t| t.1), after.map(|t| t.1));
            let times = (before.map(|t| t.0), after.map(|t| t.0));
            let markup = html! { (curves(shapes)) (bars(times, f64::INFINITY)) };
            return Some(Drawing { markup, is_wide: true });
        }
        "fontWeight" => pair(both(before, after, values::weight)?, |w| letters(Some(*w), None)),
        "fontFamily" => pair(both(before, after, values::family)?, |f| letters(None, Some(f.as_str()))),
        "shadow" => {
            let layers = both(before, after, values::shadows)?;
            let markup = pair(layers, |layers| shadow::stage(layers, on_dark, ids));
            return Some(Drawing { markup, is_wide: true });
        }
        "gradient" => gradients(both(before, after, values::gradient)?, ids),
        "border" => pair(both(before, after, values::border)?, |(width, style, color)| {
            line(*width, style, Some(color), on_dark)
        }),
        "strokeStyle" => pair(both(before, after, values::stroke)?, |style| line(3.0, style, None, on_dark)),
        "typography" => {
            let lines = typography(both(before, after, values::typography)?);
            let markup = html! { div class="lines" { (lines) } };
            return Some(Drawing { markup, is_wide: true });
        }
        _ => return None,
    };
    Some(Drawing { markup, is_wide: false })
}

/// Reads both; `None` when neither reads.
fn both<T>(
    before: Option<&str>,
    after: Option<&str>,
    read: impl Fn(&str) -> Option<T>,
) -> Option<(Option<T>, Option<T>)> {
    let (before, after) = (before.and_then(&read), after.and_then(&read));
    (before.is_some() || after.is_some()).then_some((before, after))
}

/// One drawing for each that there is, with an arrow between.
fn pair<T>((before, after): (Option<T>, Option<T>), draw: impl Fn(&T) -> Markup) -> Markup {
    html! {
        @if let Some(before) = &before { (draw(before)) }
        @if before.is_some() && after.is_some() { span class="to" aria-hidden="true" { "→" } }
        @if let Some(after) = &after { (draw(after)) }
    }
}

/// Two decimals are more than a screen shows.
fn short(n: f64) -> String {
    let n = (n * 100.0).round() / 100.0;
    if n == 0.0 { "0".into() } else { n.to_string() }
}

/// Two colours that touch, so that a small difference shows as an edge.
fn swatch((before, after): (Option<CssColor>, Option<CssColor>)) -> Markup {
    let colors: Vec<&CssColor> = before.iter().chain(&after).collect();
    let width = if colors.len() == 2 { 80 } else { 160 };
    html! {
        svg class="swatch check" viewBox="0 0 160 56" width="160" height="56" aria-hidden="true" preserveAspectRatio="none" {
            @for (i, color) in colors.iter().enumerate() {
                rect x=(i * 80) width=(width) height="56" fill=(color.as_str()) {}
            }
        }
    }
}

/// A small swatch of one pair, for an overview.
pub(crate) fn small_swatch(before: Option<&str>, after: Option<&str>) -> Option<Markup> {
    both(before, after, CssColor::parse).map(swatch)
}

/// Text on its ground, as two tokens give it.
pub(crate) fn on_ground(front: &str, ground: &str) -> Option<Markup> {
    let (front, ground) = (CssColor::parse(front)?, CssColor::parse(ground)?);
    Some(html! {
        svg class="swatch check" viewBox="0 0 88 48" width="88" height="48" aria-hidden="true" {
            rect width="88" height="48" fill=(ground.as_str()) {}
            text x="44" y="31" text-anchor="middle" font-size="21" font-weight="600" fill=(front.as_str()) { "Ag" }
        }
    })
}

/// Two bars above each other, in pixels where they fit.
fn bars((before, after): (Option<f64>, Option<f64>), most: f64) -> Markup {
    let longest = before.into_iter().chain(after).map(f64::abs).fold(0.0, f64::max);
    let scale = if longest > 0.0 { (BAR / longest).min(most) } else { 1.0 };
    let wide = |n: f64| short((n.abs() * scale).max(1.0));
    html! {
        svg class="bars" viewBox="0 0 160 40" width="160" height="40" aria-hidden="true" {
            @if let Some(n) = before { rect class="was" x="1" y="6" height="11" rx="2" width=(wide(n)) {} }
            @if let Some(n) = after { rect class="is" x="1" y="23" height="11" rx="2" width=(wide(n)) {} }
        }
    }
}

/// Timing curves in one box, from lower left to upper right.
fn curves((before, after): (Option<[f64; 4]>, Option<[f64; 4]>)) -> Markup {
    let path = |[x1, y1, x2, y2]: [f64; 4]| {
        let (x, y) = (|n: f64| short(16.0 + 40.0 * n), |n: f64| short(56.0 - 40.0 * n));
        format!("M16 56C{} {} {} {} 56 16", x(x1), y(y1), x(x2), y(y2))
    };
    html! {
        svg class="curve" viewBox="0 0 72 72" width="72" height="72" aria-hidden="true" {
            rect class="box" x="16" y="16" width="40" height="40" {}
            @if let Some(points) = before { path class="was" d=(path(points)) {} }
            @if let Some(points) = after { path class="is" d=(path(points)) {} }
        }
    }
}

/// The corner of a box, twice as large as it is.
fn corner(radius: f64) -> Markup {
    let radius = (radius.max(0.0) * 2.0).min(40.0);
    let path = format!(
        "M4 52V{}A{} {} 0 0 1 {} 8H60",
        short(8.0 + radius),
        short(radius),
        short(radius),
        short(4.0 + radius)
    );
    html! {
        svg class="corner" viewBox="0 0 64 56" width="64" height="56" aria-hidden="true" { path d=(path) {} }
    }
}

fn letters(weight: Option<f64>, family: Option<&str>) -> Markup {
    html! {
        svg class="letters" viewBox="0 0 64 48" width="64" height="48" aria-hidden="true" {
            text x="32" y="35" text-anchor="middle" font-size="32" font-weight=[weight.map(short)] font-family=[family] { "Ag" }
        }
    }
}

/// Lines of text, each in its type; the size is cut at 72 pixels.
fn typography((before, after): (Option<values::Type>, Option<values::Type>)) -> Markup {
    let one = |t: &values::Type, class: &str| {
        let size = t.size.min(72.0);
        let height = (size * 1.4).max(20.0);
        html! {
            svg class=(class) width="100%" height=(short(height)) aria-hidden="true" {
                text y=(short(height * 0.5 + size * 0.34)) font-size=(short(size)) font-weight=(short(t.weight)) font-family=(t.family) {
                    "Ag The quick brown fox"
                }
            }
        }
    };
    html! {
        @if let Some(t) = &before { (one(t, "type was")) }
        @if let Some(t) = &after { (one(t, "type is")) }
    }
}

fn gradients((before, after): (Option<values::Stops>, Option<values::Stops>), ids: &Ids) -> Markup {
    let all: Vec<_> = before.iter().chain(&after).map(|stops| (ids.next(), stops)).collect();
    let height = if all.len() == 2 { 28 } else { 56 };
    html! {
        svg class="swatch check" viewBox="0 0 160 56" width="160" height="56" aria-hidden="true" preserveAspectRatio="none" {
            @for (i, (id, stops)) in all.iter().enumerate() {
                linearGradient id=(id) {
                    @for (color, place) in stops.iter() { stop offset=(short(*place)) stop-color=(color.as_str()) {} }
                }
                rect y=(i * 28) width="160" height=(height) fill=(format!("url(#{id})")) {}
            }
        }
    }
}

/// A line in its style: the edge of a box where it has a colour.
fn line(width: f64, style: &str, color: Option<&CssColor>, on_dark: bool) -> Markup {
    let width = width.min(16.0);
    let (dashes, cap) = match style {
        "dashed" => (Some(format!("{} {}", short(width * 3.0), short(width * 2.0))), "butt"),
        "dotted" => (Some(format!("0 {}", short(width * 2.0))), "round"),
        _ => (None, "butt"),
    };
    // A double line is three thirds, the middle one empty.
    let edges: Vec<(f64, f64)> = match style {
        "double" if width >= 3.0 => vec![(width / 3.0, -width / 3.0), (width / 3.0, width / 3.0)],
        _ => vec![(width, 0.0)],
    };
    let class = if on_dark { "stage on-dark" } else { "stage" };
    html! {
        svg class=(class) viewBox="8 4 72 48" width="66" height="44" aria-hidden="true" {
            @for (width, inset) in edges.into_iter().filter(|(width, _)| *width > 0.0) {
                rect x=(short(18.0 + inset)) y=(short(14.0 + inset)) width=(short(52.0 - 2.0 * inset)) height=(short(28.0 - 2.0 * inset))
                    rx="4" fill="none" stroke=(color.map_or("currentColor", CssColor::as_str)) stroke-width=(short(width))
                    stroke-dasharray=[dashes.as_deref()] stroke-linecap=(cap) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(kind: &str, before: Option<&str>, after: Option<&str>) -> Option<String> {
        drawing(kind, "x", before, after, false, &Ids::default()).map(|d| d.markup.into_string())
    }

    #[test]
    fn every_kind_of_value_has_its_drawing() {
        for (kind, value, part) in [
            ("color", "#4f46e5", "fill=\"#4f46e5\""),
            ("dimension", "24px", "width=\"24\""),
            ("duration", "200ms", "width=\"158\""),
            ("cubicBezier", "cubic-bezier(0.4, 0, 0.2, 1)", "M16 56C32 56 24 16 56 16"),
            ("transition", "200ms cubic-bezier(0, 0, 1, 1) 0ms", "class=\"curve\""),
            ("fontWeight", "650", "font-weight=\"650\""),
            ("fontFamily", "\"Inter\", serif", "font-family=\"'Inter', serif\""),
            ("shadow", "0 1px 2px #0003", "fill=\"#0003\""),
            ("gradient", "#000 0%, #fff 100%", "stop-color=\"#fff\""),
            ("border", "2px dashed #123456", "stroke-dasharray=\"6 4\""),
            ("strokeStyle", "dotted", "stroke-linecap=\"round\""),
            ("typography", "600 16px/1.5 \"Inter\"", "font-size=\"16\""),
        ] {
            let one = drawn(kind, None, Some(value)).unwrap();
            assert!(one.contains(part), "{kind}: {one}");
            let two = drawn(kind, Some(value), Some(value)).unwrap();
            assert!(two.len() > one.len() && !two.contains("style="), "{kind}: {two}");
            assert_eq!(drawn(kind, None, Some("\"><script>")), None, "{kind}");
            assert_eq!(drawn(kind, None, None), None, "{kind}");
        }
        assert_eq!(drawn("number", None, Some("5")), None);
    }

    #[test]
    fn lengths_are_true_until_they_are_too_long() {
        let two = drawn("dimension", Some("600px"), Some("300px")).unwrap();
        assert!(two.contains("width=\"158\"") && two.contains("width=\"79\""), "{two}");
    }

    #[test]
    fn names_in_a_page_are_used_once() {
        let ids = Ids::default();
        let draw = || {
            drawing("gradient", "x", None, Some("#000 0%, #fff 100%"), false, &ids)
                .unwrap()
                .markup
                .into_string()
        };
        assert!(draw().contains("id=\"d1\"") && draw().contains("id=\"d2\""));
    }
}
