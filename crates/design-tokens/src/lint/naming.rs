//! How the names of groups and tokens are spelled, and how they are spelled another way where that is safe.

use std::collections::BTreeMap;

use super::edit::Repair;
use super::level::Style;
use super::rename::Renames;
use super::source::Site;
use super::{Raw, View};
use crate::names::words;

/// What a style is called, for messages.
const fn called(style: Style) -> &'static str {
    match style {
        Style::Camel => "camelCase",
        Style::Snake => "snake_case",
        _ => "kebab-case",
    }
}

/// `name` in a style. Signs that are no letters or digits are not the style's business: such a name has none.
fn spelled(name: &str, style: Style) -> Option<String> {
    let separates = |c: char| matches!(c, '-' | '_') || c.is_whitespace();
    let plain = name.chars().all(|c| c.is_alphanumeric() || separates(c));
    if !plain || name.starts_with(separates) || name.ends_with(separates) {
        return None;
    }
    let mut out = String::with_capacity(name.len() + 2);
    words(name, |word| {
        let mut chars = word.chars();
        match style {
            Style::Camel if !out.is_empty() => {
                out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
                out.push_str(chars.as_str());
            }
            Style::Camel => out.push_str(word),
            _ => {
                if !out.is_empty() {
                    out.push(if style == Style::Snake { '_' } else { '-' });
                }
                out.push_str(word);
            }
        }
    });
    Some(out)
}

/// Whether `name` is spelled in a style. Only case and what stands between words count.
fn is_spelled(name: &str, style: Style) -> bool {
    let fits = |c: char| match style {
        Style::Kebab => !c.is_uppercase() && c != '_' && !c.is_whitespace(),
        Style::Snake => !c.is_uppercase() && c != '-' && !c.is_whitespace(),
        Style::Camel => !matches!(c, '-' | '_') && !c.is_whitespace(),
        Style::Consistent | Style::Any => true,
    };
    // A minus before a number is a sign.
    let name = if name.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        name.get(1..).unwrap_or_default()
    } else {
        name
    };
    name.chars().all(fits) && (style != Style::Camel || !name.starts_with(char::is_uppercase))
}

/// The style that most names of more than one word have.
fn prevailing<'n>(names: impl Iterator<Item = &'n str>) -> Style {
    let mut counts = [0_usize; 3];
    let styles = [Style::Kebab, Style::Camel, Style::Snake];
    for name in names {
        let fits = styles.map(|style| is_spelled(name, style));
        // A name that fits several says nothing.
        if fits.iter().filter(|fits| **fits).count() == 1 {
            for (count, fits) in counts.iter_mut().zip(fits) {
                *count += usize::from(fits);
            }
        }
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    styles.into_iter().zip(counts).find(|(_, count)| *count == most).map_or(Style::Kebab, |(style, _)| style)
}

/// Names that are spelled another way.
pub(super) fn check(view: &View<'_>, found: &mut Vec<Raw>, repairs: &mut Vec<Repair>) {
    let style = match view.options.lint_naming {
        Style::Any => return,
        Style::Consistent => prevailing(view.sites.all.iter().map(Site::name)),
        style => style,
    };
    let is_odd = |site: &&Site<'_>| site.name() != "$root" && !is_spelled(site.name(), style);
    let odd: Vec<&Site<'_>> = view.sites.all.iter().filter(is_odd).collect();
    if odd.is_empty() {
        return;
    }
    let renames = Renames::prepare(view, &odd, style);
    let mut numbers: BTreeMap<&[String], Option<usize>> = BTreeMap::new();
    for site in odd {
        let (id, name) = (site.id(), site.name());
        let target = target(name, style);
        let kind = if site.is_token { "token" } else { "group" };
        let message = format!("the {kind} {id} is not in {}", called(style));
        let advice = match &target {
            Some(target) => format!("call it {target:?}, here and where it is referred to"),
            None => format!("spell it in {}", called(style)),
        };
        let repair = *numbers.entry(&site.path).or_insert_with(|| {
            let repair = renames.of(&site.path, target.as_deref()?)?;
            repairs.push(repair);
            Some(repairs.len() - 1)
        });
        found.push(Raw {
            code: "naming",
            file: site.file,
            byte: site.key.start,
            token: site.is_token.then_some(id),
            message,
            advice,
            repair,
            is_error: false,
        });
    }
}

/// What a name is in a style, where that is another and beyond doubt.
pub(super) fn target(name: &str, style: Style) -> Option<String> {
    spelled(name, style).filter(|target| is_spelled(target, style) && target != name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_case_and_separators_count() {
        for (name, kebab, camel, snake) in [
            ("brand", true, true, true),
            ("brand-primary", true, false, false),
            ("brandPrimary", false, true, false),
            ("BrandPrimary", false, false, false),
            ("brand_primary", false, false, true),
            ("brand primary", false, false, false),
            ("2xl", true, true, true),
            ("-1", true, true, true),
            ("50%", true, true, true),
        ] {
            let fits = [Style::Kebab, Style::Camel, Style::Snake].map(|style| is_spelled(name, style));
            assert_eq!(fits, [kebab, camel, snake], "{name}");
        }
        assert_eq!(spelled("brandPrimary 2XL", Style::Kebab).as_deref(), Some("brand-primary-2-xl"));
        assert_eq!(spelled("brand-primary", Style::Camel).as_deref(), Some("brandPrimary"));
        assert_eq!(spelled("brandPrimary", Style::Snake).as_deref(), Some("brand_primary"));
        assert_eq!(spelled("1/2Up", Style::Kebab), None, "what the sign says would be lost");
    }

    #[test]
    fn the_prevailing_style_is_that_of_most_names_of_several_words() {
        assert_eq!(prevailing(["a", "bC", "dE", "f-g"].into_iter()), Style::Camel);
        assert_eq!(prevailing(["a", "b"].into_iter()), Style::Kebab);
        assert_eq!(prevailing(["a_b", "A b", "X"].into_iter()), Style::Snake);
    }
}
