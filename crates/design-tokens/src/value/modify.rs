//! Colours modified as Tokens Studio does: lightened, darkened, mixed, made transparent, each in a space of its choice.

use ::color::{ColorSpaceTag, DynamicColor, HueDirection};

use super::color::{Color, Space};

/// What is done to a colour.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// Towards white by this part of the way.
    Lighten(f64),
    /// Towards black by this part of the way.
    Darken(f64),
    /// Towards another colour by this part of the way.
    Mix(f64, Box<Color>),
    /// Its alpha is set.
    Alpha(f64),
}

/// The spaces that a change can be made in, as Tokens Studio spells them.
pub(crate) fn space(name: &str) -> Option<Space> {
    Some(match name {
        "lch" => Space::Lch,
        "hsl" => Space::Hsl,
        "srgb" => Space::Srgb,
        "p3" => Space::DisplayP3,
        _ => return None,
    })
}

/// `color` changed, in `space`.
pub(crate) fn changed(color: &Color, change: &Change, space: Space) -> Color {
    let here = color.dynamic().convert(space.tag());
    let mut out = here;
    let c = &mut out.components;
    match (change, space) {
        (Change::Lighten(by), Space::Lch) => {
            c[1] = (c[1] - single(*by) * c[1]).max(0.0);
            c[0] = (c[0] + (100.0 - c[0]) * single(*by)).min(100.0);
        }
        (Change::Darken(by), Space::Lch) => {
            c[1] = (c[1] - single(*by) * c[1]).max(0.0);
            c[0] = (c[0] - c[0] * single(*by)).max(0.0);
        }
        (Change::Lighten(by), Space::Hsl) => c[2] = (c[2] + (100.0 - c[2]) * single(*by)).min(100.0),
        (Change::Darken(by), Space::Hsl) => c[2] = (c[2] - c[2] * single(*by)).max(0.0),
        (Change::Lighten(by), _) => {
            c[..3].iter_mut().for_each(|c| *c = (*c + single(*by) * (1.0 - *c)).min(1.0));
        }
        (Change::Darken(by), _) => {
            c[..3].iter_mut().for_each(|c| *c = (*c - single(*by) * *c).max(0.0));
        }
        (Change::Mix(by, other), _) => {
            let other = other.dynamic().convert(space.tag());
            out = mixed(here, other, single(by.clamp(0.0, 1.0)), space.tag());
        }
        (Change::Alpha(alpha), _) => c[3] = single(alpha.clamp(0.0, 1.0)),
    }
    Color::of_dynamic(&out, space)
}

/// Neither colour is weighted by its alpha, and hues go the shorter way round: as Tokens Studio mixes.
fn mixed(from: DynamicColor, to: DynamicColor, by: f32, tag: ColorSpaceTag) -> DynamicColor {
    let opaque = |mut color: DynamicColor| {
        color.components[3] = 1.0;
        color
    };
    let between = opaque(from).interpolate(opaque(to), tag, HueDirection::Shorter).eval(by);
    let mut out = between;
    out.components[3] = from.components[3] + (to.components[3] - from.components[3]) * by;
    out
}

#[expect(clippy::cast_possible_truncation, reason = "the colour crate computes in single precision")]
const fn single(n: f64) -> f32 {
    n as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Tokens Studio's own program gives for 0.25 of each, in sRGB.
    #[test]
    fn changes_are_those_of_tokens_studio() {
        let mix = || Change::Mix(0.25, Box::new(Color::from_css("#ffcc00").unwrap()));
        let cases: [(&str, Change, &str, [f64; 4]); 20] = [
            ("#3366cc", Change::Lighten(0.25), "lch", [0.45, 0.5386, 0.8533, 1.0]),
            ("#3366cc", Change::Lighten(0.25), "hsl", [0.4, 0.55, 0.85, 1.0]),
            ("#3366cc", Change::Lighten(0.25), "srgb", [0.4, 0.55, 0.85, 1.0]),
            ("#3366cc", Change::Lighten(0.25), "p3", [0.4077, 0.5504, 0.8528, 1.0]),
            ("#3366cc", Change::Darken(0.25), "lch", [0.1744, 0.2984, 0.5833, 1.0]),
            ("#3366cc", Change::Darken(0.25), "hsl", [0.15, 0.3, 0.6, 1.0]),
            ("#3366cc", Change::Darken(0.25), "srgb", [0.15, 0.3, 0.6, 1.0]),
            ("#3366cc", Change::Darken(0.25), "p3", [0.1509, 0.3, 0.6002, 1.0]),
            ("#3366cc", mix(), "lch", [0.7377, 0.3551, 0.7953, 1.0]),
            ("#3366cc", mix(), "hsl", [0.15, 0.85, 0.815, 1.0]),
            ("#3366cc", mix(), "srgb", [0.4, 0.5, 0.6, 1.0]),
            ("#3366cc", mix(), "p3", [0.412, 0.501, 0.6619, 1.0]),
            ("#3366cc", Change::Alpha(0.25), "lch", [0.2, 0.4, 0.8, 0.25]),
            ("#3366cc", Change::Alpha(0.25), "p3", [0.2, 0.4, 0.8, 0.25]),
            ("rgba(10,20,30,0.5)", Change::Lighten(0.25), "lch", [0.2493, 0.2746, 0.3088, 0.5]),
            ("rgba(10,20,30,0.5)", Change::Darken(0.25), "hsl", [0.0294, 0.0588, 0.0882, 0.5]),
            ("rgba(10,20,30,0.5)", mix(), "lch", [-0.1308, 0.2749, 0.3317, 0.625]),
            ("rgba(10,20,30,0.5)", mix(), "hsl", [0.0689, 0.2987, 0.2585, 0.625]),
            ("rgba(10,20,30,0.5)", mix(), "srgb", [0.2794, 0.2588, 0.0882, 0.625]),
            ("rgba(10,20,30,0.5)", mix(), "p3", [0.2818, 0.2592, 0.1383, 0.625]),
        ];
        for (base, change, space_name, expected) in cases {
            let color = Color::from_css(base).unwrap();
            let out = changed(&color, &change, space(space_name).unwrap());
            assert_eq!(out.space, space(space_name).unwrap());
            for (got, expected) in out.to_srgb().iter().zip(expected) {
                assert!(
                    (got - expected).abs() < 0.002,
                    "{base} {change:?} {space_name}: {:?}",
                    out.to_srgb()
                );
            }
        }
    }
}
