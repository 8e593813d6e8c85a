//! Shadows as CSS draws them, in SVG: a rectangle, grown by the spread, moved, and blurred by half the blur (CSS Backgrounds 3,
//! 6.1: the standard deviation is half of the radius).

use maud::{Markup, html};

use super::values::Shadow;
use super::{Ids, short};

/// The rectangle that has the shadow: left, top, width, height, in pixels.
const BOX: [f64; 4] = [32.0, 26.0, 56.0, 36.0];
/// Its rounded corners.
const CORNER: f64 = 6.0;
/// Most that a shadow is moved, grown or blurred, so that no page asks for a filter of any size.
const MOST: f64 = 64.0;

/// A box with these layers, on a light ground or a dark one.
pub(super) fn stage(layers: &[Shadow], on_dark: bool, ids: &Ids) -> Markup {
    let class = if on_dark { "stage on-dark" } else { "stage" };
    let layers: Vec<(String, &Shadow)> = layers.iter().map(|layer| (ids.next(), layer)).collect();
    let hole = ids.next();
    let has_inset = layers.iter().any(|(_, layer)| layer.inset);
    let [x, y, width, height] = BOX;
    html! {
        svg class=(class) viewBox="0 0 120 88" width="120" height="88" aria-hidden="true" {
            @for (id, layer) in &layers {
                filter id=(id) filterUnits="userSpaceOnUse" x="-60" y="-60" width="240" height="208" {
                    feGaussianBlur stdDeviation=(short(layer.blur.min(MOST) / 2.0)) {}
                }
            }
            @for (id, layer) in layers.iter().rev().filter(|(_, layer)| !layer.inset) {
                rect x=(short(x + within(layer.x) - within(layer.spread))) y=(short(y + within(layer.y) - within(layer.spread)))
                    width=(short((width + 2.0 * within(layer.spread)).max(0.0)))
                    height=(short((height + 2.0 * within(layer.spread)).max(0.0)))
                    rx=(short((CORNER + within(layer.spread)).max(0.0)))
                    fill=(layer.color.as_str()) filter=(format!("url(#{id})")) {}
            }
            rect class="box" x=(x) y=(y) width=(width) height=(height) rx=(CORNER) {}
            @if has_inset {
                clipPath id=(hole) { rect x=(x) y=(y) width=(width) height=(height) rx=(CORNER) {} }
                g clip-path=(format!("url(#{hole})")) {
                    @for (id, layer) in layers.iter().rev().filter(|(_, layer)| layer.inset) {
                        path fill-rule="evenodd" fill=(layer.color.as_str()) filter=(format!("url(#{id})")) d=(frame(layer)) {}
                    }
                }
            }
        }
    }
}

fn within(n: f64) -> f64 {
    n.clamp(-MOST, MOST)
}

/// Everything around the hole that an inset shadow leaves.
fn frame(layer: &Shadow) -> String {
    let [x, y, width, height] = BOX;
    let (left, top) =
        (x + within(layer.x) + within(layer.spread), y + within(layer.y) + within(layer.spread));
    let (right, bottom) =
        (left + width - 2.0 * within(layer.spread), top + height - 2.0 * within(layer.spread));
    let hole = if right > left && bottom > top {
        format!("M{} {}H{}V{}H{}Z", short(left), short(top), short(right), short(bottom), short(left))
    } else {
        String::new()
    };
    format!("M-60-60H180V148H-60Z{hole}")
}
