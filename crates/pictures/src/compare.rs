//! What differs between two pictures.

use crate::Picture;

/// How pixels are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Every bit counts.
    #[default]
    Exact,
    /// As people see it: shades that nobody tells apart are the same, and so are edges that are smoothed another way.
    Perceptual,
}

/// Where something is, in pixels from the top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "a rectangle")]
pub struct Area {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// What differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// How many pixels; where one picture is larger, all that the other does not have.
    pub pixels: u64,
    /// The share of the larger picture's pixels, from 0 to 1.
    pub share: f64,
    /// The smallest area that holds all of them.
    pub area: Option<Area>,
    /// The later picture, paled, with what differs in red.
    pub shown: Picture,
}

/// The largest difference of two colours in YIQ: of black and white.
const MOST: f64 = 35_215.0;

/// The share of it that nobody sees.
const UNSEEN: f64 = 0.1;

/// What differs from `before` to `after`.
#[must_use]
pub fn compare(before: &Picture, after: &Picture, method: Method) -> Difference {
    let (width, height) = (before.width().max(after.width()), before.height().max(after.height()));
    let mut shown = Picture::plain(width, height, [255; 4]);
    let (mut pixels, mut area) = (0_u64, None::<(u32, u32, u32, u32)>);
    for y in 0..height {
        for x in 0..width {
            let (then, now) = (before.at(x, y), after.at(x, y));
            let differs = match (then, now, method) {
                (Some(then), Some(now), Method::Exact) => then != now,
                (Some(then), Some(now), Method::Perceptual) => {
                    is_seen(then, now)
                        && !(is_smoothed(before, after, x, y) || is_smoothed(after, before, x, y))
                }
                _ => true,
            };
            if differs {
                pixels += 1;
                shown.set(x, y, [220, 0, 40, 255]);
                area = Some(match area {
                    None => (x, y, x, y),
                    Some((left, top, right, bottom)) => {
                        (left.min(x), top.min(y), right.max(x), bottom.max(y))
                    }
                });
            } else if let Some(now) = now {
                shown.set(x, y, paled(now));
            }
        }
    }
    let all = u64::from(width) * u64::from(height);
    #[expect(clippy::cast_precision_loss, reason = "a share is read to a few digits")]
    let share = if all == 0 { 0.0 } else { pixels as f64 / all as f64 };
    let area = area.map(|(left, top, right, bottom)| Area {
        x: left,
        y: top,
        width: right - left + 1,
        height: bottom - top + 1,
    });
    Difference { pixels, share, area, shown }
}

/// A colour on white.
fn flat([r, g, b, a]: [u8; 4]) -> [f64; 3] {
    let alpha = f64::from(a) / 255.0;
    [r, g, b].map(|part| 255.0 + (f64::from(part) - 255.0) * alpha)
}

fn luma([r, g, b]: [f64; 3]) -> f64 {
    r * 0.298_895_31 + g * 0.586_622_47 + b * 0.114_482_23
}

fn is_seen(one: [u8; 4], other: [u8; 4]) -> bool {
    if one == other {
        return false;
    }
    let (one, other) = (flat(one), flat(other));
    let i = |[r, g, b]: [f64; 3]| r * 0.595_977_99 - g * 0.274_176_10 - b * 0.321_801_89;
    let q = |[r, g, b]: [f64; 3]| r * 0.211_470_17 - g * 0.522_617_11 + b * 0.311_146_94;
    let (dy, di, dq) = (luma(one) - luma(other), i(one) - i(other), q(one) - q(other));
    0.5053 * dy * dy + 0.299 * di * di + 0.1957 * dq * dq > MOST * UNSEEN * UNSEEN
}

/// The pixels around a place, the place itself left out.
fn around(picture: &Picture, x: u32, y: u32) -> impl Iterator<Item = (u32, u32, [u8; 4])> + '_ {
    let (left, top) = (x.saturating_sub(1), y.saturating_sub(1));
    (top..=y + 1).flat_map(move |row| (left..=x + 1).map(move |column| (column, row))).filter_map(
        move |(column, row)| {
            let color = picture.at(column, row).filter(|_| (column, row) != (x, y))?;
            Some((column, row, color))
        },
    )
}

/// Whether a pixel smooths an edge: it lies between a darker and a lighter one, one of which stands in a plain area of both
/// pictures.
fn is_smoothed(picture: &Picture, other: &Picture, x: u32, y: u32) -> bool {
    let Some(own) = picture.at(x, y) else { return false };
    let level = luma(flat(own));
    let at_the_edge = x == 0 || y == 0 || x + 1 == picture.width() || y + 1 == picture.height();
    let mut same = u32::from(at_the_edge);
    let (mut darkest, mut lightest) = (None::<(f64, u32, u32)>, None::<(f64, u32, u32)>);
    for (column, row, color) in around(picture, x, y) {
        let step = luma(flat(color)) - level;
        if step == 0.0 {
            same += 1;
            // Three of a colour are a plain area, not an edge.
            if same > 2 {
                return false;
            }
        } else if step < 0.0 && darkest.is_none_or(|(least, ..)| step < least) {
            darkest = Some((step, column, row));
        } else if step > 0.0 && lightest.is_none_or(|(most, ..)| step > most) {
            lightest = Some((step, column, row));
        }
    }
    let (Some((_, dx, dy)), Some((_, lx, ly))) = (darkest, lightest) else { return false };
    (is_plain(picture, dx, dy) && is_plain(other, dx, dy))
        || (is_plain(picture, lx, ly) && is_plain(other, lx, ly))
}

/// Whether at least three pixels around a place have its colour.
fn is_plain(picture: &Picture, x: u32, y: u32) -> bool {
    let at_the_edge = x == 0 || y == 0 || x + 1 >= picture.width() || y + 1 >= picture.height();
    let own = picture.at(x, y);
    let same = around(picture, x, y).filter(|(_, _, color)| Some(*color) == own).count();
    same + usize::from(at_the_edge) > 2
}

fn paled(color: [u8; 4]) -> [u8; 4] {
    let level = 255.0 + (luma(flat(color)) - 255.0) * 0.25;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    let level = level.clamp(0.0, 255.0) as u8;
    [level, level, level, 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(picture: &Picture, places: &[(u32, u32)], color: [u8; 4]) -> Picture {
        let mut changed = picture.clone();
        for (x, y) in places {
            changed.set(*x, *y, color);
        }
        changed
    }

    #[test]
    fn every_bit_counts_where_it_is_to_and_nobody_sees_it() {
        let before = Picture::plain(10, 10, [200, 200, 200, 255]);
        let after = with(&before, &[(3, 4), (5, 7)], [201, 200, 200, 255]);
        let exact = compare(&before, &after, Method::Exact);
        assert_eq!((exact.pixels, exact.area), (2, Some(Area { x: 3, y: 4, width: 3, height: 4 })));
        assert!((exact.share - 0.02).abs() < 1e-12);
        assert_eq!(exact.shown.at(3, 4), Some([220, 0, 40, 255]));
        assert_eq!(compare(&before, &after, Method::Perceptual).pixels, 0);
        let red = with(&before, &[(3, 4)], [255, 0, 0, 255]);
        assert_eq!(compare(&before, &red, Method::Perceptual).pixels, 1);
        assert_eq!(compare(&before, &before, Method::Exact).area, None);
    }

    #[test]
    fn what_one_of_them_does_not_have_differs() {
        let (small, large) = (Picture::plain(4, 4, [0, 0, 0, 255]), Picture::plain(4, 6, [0, 0, 0, 255]));
        for (one, other) in [(&small, &large), (&large, &small)] {
            let found = compare(one, other, Method::Perceptual);
            assert_eq!((found.pixels, found.area), (8, Some(Area { x: 0, y: 4, width: 4, height: 2 })));
        }
    }

    /// Black to the left of a slanted edge, white to its right, the pixels on it of `grey`.
    fn edge(grey: u8) -> Picture {
        let mut picture = Picture::plain(16, 16, [255; 4]);
        for y in 0..16 {
            let at = 4 + y / 2;
            (0..at).for_each(|x| picture.set(x, y, [0, 0, 0, 255]));
            picture.set(at, y, [grey, grey, grey, 255]);
        }
        picture
    }

    #[test]
    fn an_edge_that_is_smoothed_another_way_is_the_same_to_people() {
        let (one, other) = (edge(96), edge(160));
        assert!(compare(&one, &other, Method::Exact).pixels >= 16);
        assert_eq!(compare(&one, &other, Method::Perceptual).pixels, 0);
        // A line that is there in one alone is no edge.
        let line = with(
            &Picture::plain(16, 16, [255; 4]),
            &(0..16).map(|x| (x, 8)).collect::<Vec<_>>(),
            [0, 0, 0, 255],
        );
        assert_eq!(compare(&Picture::plain(16, 16, [255; 4]), &line, Method::Perceptual).pixels, 16);
    }

    proptest::proptest! {
        #[test]
        fn nothing_differs_from_itself_and_people_see_no_more_than_there_is(
            width in 1_u32..8, height in 1_u32..8, colors in proptest::collection::vec(proptest::array::uniform4(0_u8..), 1..20),
        ) {
            let mut one = Picture::plain(width, height, [255; 4]);
            let mut other = one.clone();
            for (at, color) in colors.iter().enumerate() {
                let at = u32::try_from(at).unwrap();
                one.set(at % width, at / width % height, *color);
                other.set((at * 3) % width, (at * 5) % height, *color);
            }
            for method in [Method::Exact, Method::Perceptual] {
                proptest::prop_assert_eq!(compare(&one, &one, method).pixels, 0);
                let (there, back) = (compare(&one, &other, method), compare(&other, &one, method));
                proptest::prop_assert_eq!(there.pixels, back.pixels);
            }
            proptest::prop_assert!(compare(&one, &other, Method::Perceptual).pixels <= compare(&one, &other, Method::Exact).pixels);
        }
    }
}
