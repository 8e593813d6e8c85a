//! What properties take, and what tokens are for: told by the property's name, and by the words of the token's path.

use crate::names::words;

/// What a value, or a token, is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Text,
    Background,
    Border,
    Icon,
    Shadow,
    Spacing,
    Size,
    Radius,
    BorderWidth,
    FontSize,
    LineHeight,
    LetterSpacing,
    Opacity,
    Layer,
    Duration,
    Delay,
    Curve,
    FontWeight,
    FontFamily,
    /// For something that no declaration of a property is, such as breakpoints.
    Elsewhere,
}

/// What kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    Color,
    Length,
    Number,
    Time,
    Curve,
    Weight,
    Family,
    Shadow,
}

/// What a property takes: kinds of values, and what they are for there. Empty where no token is proposed.
pub(super) fn taken(property: &str) -> &'static [(Sort, &'static [Role])] {
    use Role::{
        Background, Border, BorderWidth, Curve, Delay, Duration, FontFamily, FontSize, FontWeight, Icon,
        Layer, LetterSpacing, LineHeight, Opacity, Shadow, Size, Spacing, Text,
    };
    let bare =
        property.strip_prefix('-').and_then(|rest| rest.split_once('-')).map_or(property, |(_, name)| name);
    match bare {
        "color" | "text-fill-color" => &[(Sort::Color, &[Text, Icon])],
        "background" | "background-color" | "background-image" => &[(Sort::Color, &[Background])],
        "fill" | "stop-color" | "flood-color" => &[(Sort::Color, &[Icon, Background, Text])],
        "stroke" => &[(Sort::Color, &[Icon, Border])],
        "caret-color"
        | "accent-color"
        | "text-decoration"
        | "text-decoration-color"
        | "text-emphasis"
        | "text-emphasis-color" => &[(Sort::Color, &[Text, Icon])],
        "outline" | "column-rule" => &[(Sort::Color, &[Border]), (Sort::Length, &[BorderWidth])],
        "box-shadow" => &[(Sort::Shadow, &[Shadow]), (Sort::Color, &[Shadow])],
        "text-shadow" | "filter" | "backdrop-filter" => &[(Sort::Color, &[Shadow])],
        "outline-width" | "column-rule-width" | "stroke-width" | "text-decoration-thickness" => {
            &[(Sort::Length, &[BorderWidth])]
        }
        "outline-color" | "column-rule-color" | "text-stroke-color" => &[(Sort::Color, &[Border])],
        "gap" | "row-gap" | "column-gap" | "grid-gap" | "grid-row-gap" | "grid-column-gap"
        | "border-spacing" | "text-indent" | "top" | "right" | "bottom" | "left" => {
            &[(Sort::Length, &[Spacing])]
        }
        "width" | "height" | "min-width" | "min-height" | "max-width" | "max-height" | "inline-size"
        | "block-size" | "min-inline-size" | "min-block-size" | "max-inline-size" | "max-block-size"
        | "flex-basis" | "column-width" => &[(Sort::Length, &[Size])],
        "font-size" => &[(Sort::Length, &[FontSize])],
        "line-height" => &[(Sort::Length, &[LineHeight]), (Sort::Number, &[LineHeight])],
        "letter-spacing" | "word-spacing" => &[(Sort::Length, &[LetterSpacing])],
        "font-weight" => &[(Sort::Weight, &[FontWeight])],
        "font-family" => &[(Sort::Family, &[FontFamily])],
        "opacity" => &[(Sort::Number, &[Opacity])],
        "z-index" => &[(Sort::Number, &[Layer])],
        "transition-duration" | "animation-duration" => &[(Sort::Time, &[Duration])],
        "transition-delay" | "animation-delay" => &[(Sort::Time, &[Delay, Duration])],
        "transition" | "animation" => &[(Sort::Time, &[Duration, Delay]), (Sort::Curve, &[Curve])],
        "transition-timing-function" | "animation-timing-function" => &[(Sort::Curve, &[Curve])],
        _ if ["margin", "padding", "scroll-margin", "scroll-padding", "inset"].iter().any(|front| {
            bare.strip_prefix(front).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }) =>
        {
            &[(Sort::Length, &[Spacing])]
        }
        _ => of_border(bare),
    }
}

fn of_border(bare: &str) -> &'static [(Sort, &'static [Role])] {
    const SIDES: [&str; 11] = [
        "",
        "-top",
        "-right",
        "-bottom",
        "-left",
        "-block",
        "-inline",
        "-block-start",
        "-block-end",
        "-inline-start",
        "-inline-end",
    ];
    let Some(rest) = bare.strip_prefix("border") else { return &[] };
    if rest.ends_with("-radius") {
        &[(Sort::Length, &[Role::Radius])]
    } else if rest.strip_suffix("-color").is_some_and(|side| SIDES.contains(&side)) {
        &[(Sort::Color, &[Role::Border])]
    } else if rest.strip_suffix("-width").is_some_and(|side| SIDES.contains(&side)) {
        &[(Sort::Length, &[Role::BorderWidth])]
    } else if SIDES.contains(&rest) {
        &[(Sort::Color, &[Role::Border]), (Sort::Length, &[Role::BorderWidth])]
    } else {
        &[]
    }
}

/// What a token is for, by the words of its path; empty where they do not say.
pub(super) fn meant(sort: Sort, path: &[String]) -> Vec<Role> {
    let mut all: Vec<String> = Vec::new();
    let mut is_on = false;
    for segment in path {
        let from = all.len();
        words(segment, |word| all.push(word.to_owned()));
        is_on |= all.get(from).is_some_and(|first| first == "on") && all.len() > from + 1;
    }
    let has = |list: &[&str]| all.iter().any(|word| list.contains(&word.as_str()));
    match sort {
        Sort::Color => of_color(&has, is_on),
        Sort::Length => of_length(&has),
        Sort::Number => of_number(&has),
        Sort::Time if has(&["delay", "delays"]) => vec![Role::Delay],
        Sort::Time => vec![Role::Duration],
        Sort::Curve => vec![Role::Curve],
        Sort::Weight => vec![Role::FontWeight],
        Sort::Family => vec![Role::FontFamily],
        Sort::Shadow => vec![Role::Shadow],
    }
}

fn of_color(has: &dyn Fn(&[&str]) -> bool, is_on: bool) -> Vec<Role> {
    let mut roles = Vec::new();
    let mut add = |role, list: &[&str]| {
        if has(list) {
            roles.push(role);
        }
    };
    add(
        Role::Text,
        &[
            "text",
            "fg",
            "foreground",
            "ink",
            "content",
            "copy",
            "heading",
            "label",
            "placeholder",
            "link",
            "typography",
        ],
    );
    add(
        Role::Background,
        &["bg", "background", "backgrounds", "surface", "surfaces", "canvas", "backdrop", "page", "overlay"],
    );
    add(
        Role::Border,
        &["border", "borders", "outline", "divider", "dividers", "separator", "stroke", "ring"],
    );
    add(Role::Icon, &["icon", "icons", "fill", "glyph"]);
    add(Role::Shadow, &["shadow", "shadows", "elevation"]);
    // What is written on something, whatever that is called.
    if is_on { vec![Role::Text, Role::Icon] } else { roles }
}

fn of_length(has: &dyn Fn(&[&str]) -> bool) -> Vec<Role> {
    let is_font =
        has(&["font", "fonts", "text", "type", "typography", "fontsize", "fontsizes", "heading", "body"]);
    let role = if has(&[
        "breakpoint",
        "breakpoints",
        "screen",
        "screens",
        "viewport",
        "media",
        "blur",
        "shadow",
        "shadows",
    ]) || has(&["elevation", "offset", "paragraph", "breakpoint"])
    {
        Role::Elsewhere
    } else if has(&["radius", "radii", "rounded", "corner", "corners", "borderradius"]) {
        Role::Radius
    } else if (has(&["line"]) && has(&["height", "heights"]))
        || has(&["leading", "lineheight", "lineheights"])
    {
        Role::LineHeight
    } else if (has(&["letter", "word"]) && has(&["spacing"])) || has(&["tracking", "letterspacing"]) {
        Role::LetterSpacing
    } else if is_font {
        Role::FontSize
    } else if has(&["border", "borders", "stroke", "outline", "divider", "borderwidth", "hairline"]) {
        Role::BorderWidth
    } else if has(&[
        "space", "spaces", "spacing", "spacer", "gap", "gutter", "margin", "padding", "inset", "stack",
    ]) {
        Role::Spacing
    } else if has(&[
        "width",
        "height",
        "icon",
        "icons",
        "avatar",
        "container",
        "measure",
        "content",
        "control",
    ]) {
        Role::Size
    } else {
        return Vec::new();
    };
    vec![role]
}

fn of_number(has: &dyn Fn(&[&str]) -> bool) -> Vec<Role> {
    let role = if (has(&["line"]) && has(&["height", "heights"]))
        || has(&["leading", "lineheight", "lineheights"])
    {
        Role::LineHeight
    } else if has(&["opacity", "opacities", "alpha", "transparency"]) {
        Role::Opacity
    } else if has(&["z", "zindex", "layer", "layers"]) {
        Role::Layer
    } else {
        Role::Elsewhere
    };
    vec![role]
}

/// How well a token that is for `meant` fits where something for `wanted` is: none, in a pinch, or exactly.
pub(super) fn fit(sort: Sort, meant: &[Role], wanted: &[Role]) -> u8 {
    /// Where a scale of lengths that is called nothing in particular may be used.
    const OF_SCALES: [Role; 3] = [Role::Spacing, Role::Size, Role::Radius];
    if meant.iter().any(|role| wanted.contains(role)) {
        2
    } else if meant.is_empty() {
        u8::from(sort != Sort::Length || wanted.iter().any(|role| OF_SCALES.contains(role)))
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(sort: Sort, path: &str, property: &str) -> u8 {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        let wanted = taken(property).iter().find(|(taken, _)| *taken == sort);
        wanted.map_or(9, |(_, wanted)| fit(sort, &meant(sort, &path), wanted))
    }

    #[test]
    fn lengths_go_where_their_names_say() {
        for (path, property, fit) in [
            ("space.s", "padding-inline-start", 2),
            ("space.s", "width", 0),
            ("font.size.m", "font-size", 2),
            ("fontSizes.m", "font-size", 2),
            ("font.size.m", "width", 0),
            ("font.size.m", "line-height", 0),
            ("lineHeight.tight", "line-height", 2),
            ("border-radius.s", "border-top-left-radius", 2),
            ("border.radius.s", "border-width", 0),
            ("border.width.s", "border-left", 2),
            ("size.icon.s", "width", 2),
            ("size.100", "width", 1),
            ("size.100", "margin", 1),
            ("size.100", "font-size", 0),
            ("breakpoint.md", "max-width", 0),
            ("letter-spacing.wide", "margin", 0),
            ("letter-spacing.wide", "letter-spacing", 2),
            ("space.s", "color", 9),
            ("space.s", "border-image-width", 9),
            ("space.s", "-webkit-margin-start", 2),
        ] {
            assert_eq!(fits(Sort::Length, path, property), fit, "{path} {property}");
        }
    }

    #[test]
    fn colours_go_where_their_names_say_and_those_that_say_nothing_anywhere() {
        for (path, property, fit) in [
            ("color.red.500", "color", 1),
            ("color.red.500", "border-inline-color", 1),
            ("text.default", "color", 2),
            ("text.default", "background-color", 0),
            ("color.onPrimary", "color", 2),
            ("color.on-surface", "background", 0),
            ("surface.page", "background", 2),
            ("border.subtle", "border", 2),
            ("border.subtle", "outline-color", 2),
            ("shadow.color", "box-shadow", 2),
            ("surface.page", "box-shadow", 0),
            ("icon.muted", "fill", 2),
        ] {
            assert_eq!(fits(Sort::Color, path, property), fit, "{path} {property}");
        }
    }

    #[test]
    fn numbers_need_a_name_and_other_types_say_enough() {
        assert_eq!(fits(Sort::Number, "opacity.half", "opacity"), 2);
        assert_eq!(fits(Sort::Number, "ratio.half", "opacity"), 0);
        assert_eq!(fits(Sort::Number, "z-index.modal", "z-index"), 2);
        assert_eq!(fits(Sort::Time, "motion.fast", "transition-duration"), 2);
        assert_eq!(fits(Sort::Time, "motion.delay", "transition-duration"), 0);
        assert_eq!(fits(Sort::Weight, "anything", "font-weight"), 2);
    }
}
