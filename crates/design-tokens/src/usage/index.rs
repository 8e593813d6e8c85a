//! Tokens by their values, and the one that is meant.

use std::collections::{BTreeMap, BTreeSet};

use super::role::{Role, Sort, fit, meant};
use super::sheet::{self, Syntax};
use crate::compile::Compiled;
use crate::emit::{Platform, css_value};
use crate::options::Options;
use crate::value::color::apart;
use crate::value::{Color, Dimension, Shadow, Slot, Space, Value};

/// Pixels of a rem, where tolerances in pixels are applied to lengths in rem.
const PX_PER_REM: f64 = 16.0;

/// A value that stands in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Color(Color),
    /// In the unit that is written.
    Length(f64, String),
    Number(f64),
    /// In milliseconds.
    Time(f64),
    Curve([f64; 4]),
    Weight(f64),
    Family(Vec<String>),
    Shadow(Vec<Shadow>),
}

impl Literal {
    pub(super) const fn sort(&self) -> Sort {
        match self {
            Self::Color(_) => Sort::Color,
            Self::Length(..) => Sort::Length,
            Self::Number(_) => Sort::Number,
            Self::Time(_) => Sort::Time,
            Self::Curve(_) => Sort::Curve,
            Self::Weight(_) => Sort::Weight,
            Self::Family(_) => Sort::Family,
            Self::Shadow(_) => Sort::Shadow,
        }
    }

    /// What exactly equal values have in common.
    fn key(&self) -> String {
        match self {
            Self::Color(color) => color_key(color),
            Self::Length(value, unit) => format!("{} {unit}", rounded(*value)),
            Self::Number(value) | Self::Time(value) | Self::Weight(value) => rounded(*value).to_string(),
            Self::Curve(curve) => format!("{:?}", curve.map(rounded)),
            Self::Family(names) => names.join("\0").to_lowercase(),
            Self::Shadow(layers) => {
                let length = |slot: &Slot<Dimension>| {
                    // A zero has no unit to differ in.
                    let unit = if slot.value.value == 0.0 { "" } else { slot.value.unit };
                    format!("{}{unit}", rounded(slot.value.value))
                };
                let one = |s: &Shadow| {
                    let lengths = [&s.x, &s.y, &s.blur, &s.spread].map(length).join(" ");
                    format!("{} {lengths} {}", s.inset, color_key(&s.color.value))
                };
                layers.iter().map(one).collect::<Vec<_>>().join(",")
            }
        }
    }
}

/// A number to what no screen can tell apart, without negative zero.
fn rounded(n: f64) -> f64 {
    (n * 1e6).round() / 1e6 + 0.0
}

/// Colours of sRGB by the bytes that browsers make of them; others as they are written.
fn color_key(color: &Color) -> String {
    let is_legacy = matches!(color.space, Space::Srgb | Space::Hsl | Space::Hwb);
    if is_legacy && color.in_srgb_gamut() && color.components.iter().all(Option::is_some) {
        format!("{:?} {}", color.nearest_bytes(), (color.alpha * 1e4).round() / 1e4)
    } else {
        css_value(&Value::Color(color.clone()))
    }
}

/// A token that may stand for a value.
#[derive(Debug)]
struct Candidate {
    id: String,
    roles: Vec<Role>,
    /// Whether every mode has the same value.
    is_same: bool,
}

/// Tokens by what they are worth.
#[derive(Debug)]
pub struct Index {
    candidates: Vec<Candidate>,
    /// By kind and exact value.
    exact: BTreeMap<(Sort, String), Vec<usize>>,
    /// Colours in Oklab, by their lightness.
    colors: Vec<([f64; 4], usize)>,
    /// Lengths by unit and value.
    lengths: BTreeMap<String, Vec<(f64, usize)>>,
    /// Paths by name in output.
    names: BTreeMap<String, String>,
    /// Name in output by path.
    ids: BTreeMap<String, String>,
    /// The values that the build itself gives to names, with their `--` or `$`.
    built: BTreeMap<String, BTreeSet<String>>,
    /// What there are tokens for: by kind, and whether some say nothing of it.
    roles: BTreeMap<Sort, (BTreeSet<Role>, bool)>,
    /// What conditions of modes look like, without spaces and quotes.
    conditions: Vec<String>,
    /// What the build's files are called, without extension.
    pub(super) file: String,
}

/// The token that is meant by a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub(super) token: String,
    /// Others that are as good.
    pub(super) others: Vec<String>,
    /// See [`super::Usage::distance`].
    pub(super) distance: f64,
    pub(super) is_exact: bool,
}

impl Index {
    /// The tokens of a build.
    #[must_use]
    pub fn new(compiled: &Compiled, options: &Options) -> Self {
        let mut index = Self {
            candidates: Vec::new(),
            exact: BTreeMap::new(),
            colors: Vec::new(),
            lengths: BTreeMap::new(),
            names: BTreeMap::new(),
            ids: BTreeMap::new(),
            built: built(compiled, options),
            roles: BTreeMap::new(),
            conditions: conditions(compiled),
            file: options.file.clone(),
        };
        for (_, tokens) in compiled.permutations() {
            for (id, token) in tokens {
                index.ids.entry(id.clone()).or_insert_with(|| token.name.clone());
                for name in token.names() {
                    index.names.entry(name).or_insert_with(|| id.clone());
                }
            }
        }
        for (id, token) in compiled.tokens.iter().filter(|(_, token)| token.deprecated.is_none()) {
            let Some(literal) = literal(&token.value, options) else { continue };
            let is_same = compiled
                .modes
                .iter()
                .all(|mode| mode.tokens.get(id).is_some_and(|other| other.value == token.value));
            let number = index.candidates.len();
            match &literal {
                Literal::Color(color) => index.colors.push((color.oklab(), number)),
                Literal::Length(value, unit) => {
                    index.lengths.entry(unit.clone()).or_default().push((*value, number));
                }
                _ => {}
            }
            index.exact.entry((literal.sort(), literal.key())).or_default().push(number);
            let roles = meant(literal.sort(), &token.path);
            let (known, some_silent) = index.roles.entry(literal.sort()).or_default();
            known.extend(&roles);
            *some_silent |= roles.is_empty();
            index.candidates.push(Candidate { id: id.clone(), roles, is_same });
        }
        index.colors.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
        index.lengths.values_mut().for_each(|all| all.sort_by(|a, b| a.0.total_cmp(&b.0)));
        index
    }

    /// The path of the token that has this name in output, without `--` and `$`. In Sass, `-` and `_` are the same.
    pub(super) fn named(&self, name: &str) -> Option<&str> {
        let found = self.names.get(name).or_else(|| self.names.get(&name.replace('_', "-")));
        found.map(String::as_str)
    }

    /// What a token is called in output.
    pub(super) fn name_of(&self, id: &str) -> Option<&str> {
        self.ids.get(id).map(String::as_str)
    }

    /// Whether a definition (with its `--` or `$`) of a token's name gives it another value than the build does.
    pub(super) fn is_foreign(&self, name: &str, value: &str) -> bool {
        self.built.get(name).is_some_and(|values| !values.contains(value))
    }

    /// Whether a prelude is a condition on which tokens may have other values than by default.
    pub(super) fn is_mode(&self, prelude: &str) -> bool {
        let bare = bare(prelude);
        ["prefers-color-scheme", "prefers-contrast"].iter().any(|feature| bare.contains(feature))
            || self.conditions.iter().any(|condition| bare.contains(condition))
    }

    /// Whether there are tokens for such a place at all.
    pub(super) fn has_any(&self, sort: Sort, wanted: &[Role]) -> bool {
        self.roles.get(&sort).is_some_and(|(known, some_silent)| {
            let known: Vec<Role> = known.iter().copied().collect();
            (!known.is_empty() && fit(sort, &known, wanted) > 0)
                || (*some_silent && fit(sort, &[], wanted) > 0)
        })
    }

    /// The token for a value where something for `wanted` is, at most `tolerance` away.
    pub(super) fn choose(
        &self,
        literal: &Literal,
        wanted: &[Role],
        tolerance: f64,
        in_mode: bool,
    ) -> Option<Choice> {
        let sort = literal.sort();
        // Where a mode may be in force, only what is the same in all of them is the same.
        let fits = |number: &usize| {
            let candidate = self.candidates.get(*number)?;
            let fit = fit(sort, &candidate.roles, wanted);
            (fit > 0 && (candidate.is_same || !in_mode)).then_some((fit, candidate))
        };
        let exact = self.exact.get(&(sort, literal.key())).into_iter().flatten().filter_map(fits);
        let mut best: Vec<(f64, u8, &Candidate)> =
            exact.map(|(fit, candidate)| (0.0, fit, candidate)).collect();
        let is_exact = !best.is_empty();
        if !is_exact && tolerance > 0.0 {
            let near = self.near(literal, tolerance);
            best = near.filter_map(|(d, number)| fits(&number).map(|(fit, c)| (d, fit, c))).collect();
        }
        let nearest = best.iter().map(|(distance, ..)| *distance).min_by(f64::total_cmp)?;
        best.retain(|(distance, ..)| *distance <= nearest);
        let most = best.iter().map(|(_, fit, _)| *fit).max()?;
        let mut named =
            best.iter().filter(|(_, fit, _)| *fit == most).map(|(.., candidate)| candidate.id.clone());
        let token = named.next()?;
        Some(Choice { token, others: named.collect(), distance: nearest, is_exact })
    }

    /// Tokens at most `tolerance` away: colours by their distance, lengths in pixels.
    fn near(&self, literal: &Literal, tolerance: f64) -> Box<dyn Iterator<Item = (f64, usize)> + '_> {
        match literal.clone() {
            Literal::Color(color) => {
                // The distance is no less than that of the lightness alone.
                let (here, reach) = (color.oklab(), tolerance / 100.0);
                let from = self.colors.partition_point(|(there, _)| there[0] < here[0] - reach);
                let to = self.colors.partition_point(|(there, _)| there[0] <= here[0] + reach);
                let all = self.colors.get(from..to).unwrap_or_default().iter();
                let apart = all.map(move |(there, number)| (apart(here, *there), *number));
                Box::new(apart.filter(move |(distance, _)| *distance <= tolerance))
            }
            Literal::Length(value, unit) => {
                let scale = match unit.as_str() {
                    "px" => 1.0,
                    "rem" => PX_PER_REM,
                    _ => return Box::new(std::iter::empty()),
                };
                let all = self.lengths.get(&unit).map(Vec::as_slice).unwrap_or_default();
                let reach = tolerance / scale;
                let from = all.partition_point(|(there, _)| *there < value - reach);
                let to = all.partition_point(|(there, _)| *there <= value + reach);
                let near = all.get(from..to).unwrap_or_default().iter();
                Box::new(near.map(move |(there, number)| (rounded((there - value).abs() * scale), *number)))
            }
            _ => Box::new(std::iter::empty()),
        }
    }
}

/// What a token's value is in a file that is not a token's.
fn literal(value: &Value, options: &Options) -> Option<Literal> {
    Some(match value {
        Value::Color(color) => Literal::Color(color.clone()),
        Value::Dimension(Dimension { value, .. }) if *value == 0.0 => return None,
        Value::Dimension(Dimension { value, unit }) => match options.px_per_rem {
            Some(size) if *unit == "px" => Literal::Length(value / size, "rem".into()),
            _ => Literal::Length(*value, (*unit).into()),
        },
        Value::Number(n) => Literal::Number(*n),
        Value::Duration(d) => Literal::Time(d.value * if d.unit == "s" { 1_000.0 } else { 1.0 }),
        Value::CubicBezier(curve) => Literal::Curve(*curve),
        Value::FontWeight(weight) => Literal::Weight(weight.0),
        Value::FontFamily(names) => Literal::Family(names.clone()),
        Value::Shadow(layers) if options.px_per_rem.is_none() => {
            Literal::Shadow(layers.iter().map(|layer| layer.value.clone()).collect())
        }
        _ => return None,
    })
}

/// The values that the build gives to names.
fn built(compiled: &Compiled, options: &Options) -> BTreeMap<String, BTreeSet<String>> {
    let mut built: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (platform, syntax) in [(Platform::Css, Syntax::Css), (Platform::Scss, Syntax::Scss)] {
        for output in compiled.emit(platform, options).unwrap_or_default() {
            let said = sheet::read(&output.text, 0, syntax, &|_| false, &mut |_| {});
            for (name, value) in said.defined {
                built.entry(name).or_default().insert(value);
            }
        }
    }
    built
}

/// What stands in front of the blocks of modes.
fn conditions(compiled: &Compiled) -> Vec<String> {
    let mut all = Vec::new();
    for mode in compiled.modes.iter().map(|mode| &mode.options) {
        match (&mode.selector, &mode.media) {
            (None, None) => all.push(bare(&format!("[data-theme={}]", mode.name))),
            (selector, media) => all.extend(selector.iter().chain(media).map(|text| bare(text))),
        }
    }
    all.retain(|condition| !condition.is_empty() && condition != ":root");
    all
}

/// A prelude without what writers may put in or leave out.
fn bare(prelude: &str) -> String {
    prelude.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect()
}
