//! What the facts come to: how components changed, what was found, how many of each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::facts::{Component, Example, Finding, Judgement, Kit, Pictures};

/// How something looks against the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// Another picture than before.
    Changed,
    /// It was not there.
    New,
    /// It is not there any more.
    Gone,
    /// The same picture.
    Same,
    /// A picture, and nothing to compare it with.
    Shown,
    /// No picture.
    Unseen,
}

impl Look {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Same => "unchanged",
            Self::Shown => "not compared",
            Self::Unseen => "no picture",
        }
    }
}

pub(crate) fn of_pictures(pictures: &Pictures) -> Look {
    match (&pictures.before, &pictures.after) {
        (None, None) => Look::Unseen,
        (Some(_), None) => Look::Gone,
        (None, Some(_)) => {
            if pictures.is_new {
                Look::New
            } else {
                Look::Shown
            }
        }
        (Some(before), Some(after)) => {
            let is_same =
                pictures.pixels == 0 && (before.width, before.height) == (after.width, after.height);
            if is_same { Look::Same } else { Look::Changed }
        }
    }
}

pub(crate) fn of_example(example: &Example) -> Look {
    together(example.pictures.iter().map(of_pictures))
}

pub(crate) fn of_component(component: &Component) -> Look {
    together(component.examples.iter().map(of_example))
}

/// What several looks are together: all alike, or changed where one is changed, new or gone.
fn together(looks: impl Iterator<Item = Look>) -> Look {
    let mut seen: Vec<Look> = looks.filter(|l| *l != Look::Unseen).collect();
    seen.sort_unstable();
    seen.dedup();
    match seen.as_slice() {
        [] => Look::Unseen,
        [one] => *one,
        _ if seen.iter().any(|l| matches!(l, Look::Changed | Look::New | Look::Gone)) => Look::Changed,
        _ => Look::Same,
    }
}

/// The greatest share of pixels that differ, over all pictures of a component.
pub(crate) fn share(component: &Component) -> f64 {
    let pictures = component.examples.iter().flat_map(|e| &e.pictures);
    pictures.map(|p| p.share).filter(|s| s.is_finite()).fold(0.0, f64::max)
}

/// Whether the base had a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Since {
    /// It is new.
    New,
    /// Nobody looked at the base.
    Unknown,
    /// It was there.
    Old,
}

pub(crate) fn since(finding: &Finding) -> Since {
    match finding.is_old {
        Some(false) => Since::New,
        Some(true) => Since::Old,
        None => Since::Unknown,
    }
}

/// The worse, the smaller.
pub(crate) fn rank(impact: &str) -> u8 {
    match impact {
        "critical" => 0,
        "serious" => 1,
        "moderate" => 2,
        "minor" => 3,
        _ => 4,
    }
}

/// Findings of one rule that are equally old and grave.
pub(crate) struct Group<'k> {
    /// Its place in the page.
    pub(crate) anchor: String,
    pub(crate) since: Since,
    pub(crate) first: &'k Finding,
    /// Where: the component's place in the gallery, the example's in the component.
    pub(crate) places: Vec<(usize, usize, &'k Finding)>,
}

/// What makes two findings one group.
pub(crate) fn key(finding: &Finding) -> (Since, u8, &str, &str) {
    (since(finding), rank(&finding.impact), &finding.rule, &finding.impact)
}

/// Findings by age, impact and rule.
pub(crate) fn groups(kit: &Kit) -> Vec<Group<'_>> {
    let mut by_key: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (c, component) in components(kit).iter().enumerate() {
        for (e, example) in component.examples.iter().enumerate() {
            for finding in example.findings.iter().flatten() {
                by_key.entry(key(finding)).or_default().push((c, e, finding));
            }
        }
    }
    let mut out = Vec::new();
    for (number, ((since, ..), places)) in by_key.into_iter().enumerate() {
        if let Some((_, _, first)) = places.first().copied() {
            out.push(Group { anchor: format!("rule-{}", number + 1), since, first, places });
        }
    }
    out
}

pub(crate) fn components(kit: &Kit) -> &[Component] {
    kit.gallery.as_ref().map_or(&[], |g| g.components.as_slice())
}

/// How many of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) tokens: usize,
    pub(crate) components: usize,
    pub(crate) changed: usize,
    pub(crate) new: usize,
    pub(crate) gone: usize,
    /// Examples that somebody looked at for accessibility, and others.
    pub(crate) examined: usize,
    pub(crate) unexamined: usize,
    pub(crate) new_findings: usize,
    pub(crate) old_findings: usize,
    pub(crate) other_findings: usize,
    pub(crate) undecided: u64,
    pub(crate) commits: usize,
    pub(crate) breaking: usize,
}

impl Tally {
    pub(crate) fn of(kit: &Kit) -> Self {
        let mut tally = Self::default();
        if let Some(tokens) = &kit.tokens {
            tally.tokens =
                tokens.added.len() + tokens.changed.len() + tokens.renamed.len() + tokens.removed.len();
        }
        for component in components(kit) {
            tally.components += 1;
            match of_component(component) {
                Look::Changed => tally.changed += 1,
                Look::New => tally.new += 1,
                Look::Gone => tally.gone += 1,
                Look::Same | Look::Shown | Look::Unseen => {}
            }
            for example in &component.examples {
                tally.undecided = tally.undecided.saturating_add(example.undecided);
                match &example.findings {
                    Some(_) => tally.examined += 1,
                    None => tally.unexamined += 1,
                }
                for finding in example.findings.iter().flatten() {
                    match since(finding) {
                        Since::New => tally.new_findings += 1,
                        Since::Old => tally.old_findings += 1,
                        Since::Unknown => tally.other_findings += 1,
                    }
                }
            }
        }
        for note in kit.notes.iter().flat_map(|n| &n.sections).flat_map(|s| &s.entries) {
            tally.commits += 1;
            tally.breaking += usize::from(note.breaking);
        }
        tally
    }

    /// Findings that the base did not have, as far as anybody knows.
    pub(crate) const fn fresh(&self) -> usize {
        self.new_findings + self.other_findings
    }
}

/// The worst of the verdicts; `None` where there is none.
pub(crate) fn worst(kit: &Kit) -> Option<Judgement> {
    kit.verdicts.iter().map(|v| v.verdict).min()
}

/// Places in the gallery: what changed most first, then what is new and gone, then the rest by name as given.
pub(crate) fn by_interest(kit: &Kit) -> Vec<usize> {
    let mut places: Vec<(Look, Reverse<u64>, usize)> = components(kit)
        .iter()
        .enumerate()
        .map(|(at, component)| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share is from 0 to 1; `as` keeps what is not within range"
            )]
            let parts = (share(component) * 1e9) as u64;
            (of_component(component), Reverse(parts), at)
        })
        .collect();
    places.sort_unstable();
    places.into_iter().map(|(_, _, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Gallery, Picture, Revision};

    fn pictures(before: bool, after: bool, pixels: u64) -> Pictures {
        let one = |there: bool| there.then(|| Picture { path: "p.png".into(), width: 1, height: 1 });
        let (before, after) = (one(before), one(after));
        Pictures { is_new: before.is_none(), before, after, pixels, share: 0.5, ..Pictures::default() }
    }

    fn component(all: Vec<Pictures>) -> Component {
        Component { name: "x".into(), examples: vec![Example { pictures: all, ..Example::default() }] }
    }

    #[test]
    fn a_component_is_what_its_pictures_are_together() {
        for (all, look) in [
            (vec![], Look::Unseen),
            (vec![pictures(true, true, 0)], Look::Same),
            (vec![pictures(true, true, 0), pictures(true, true, 3)], Look::Changed),
            (vec![pictures(false, true, 0)], Look::New),
            (vec![pictures(true, false, 0)], Look::Gone),
            (vec![pictures(false, true, 0), pictures(true, true, 0)], Look::Changed),
            (vec![pictures(false, false, 0), pictures(true, true, 0)], Look::Same),
        ] {
            assert_eq!(of_component(&component(all)), look);
        }
        let unknown = Pictures { is_new: false, ..pictures(false, true, 0) };
        assert_eq!(of_component(&component(vec![unknown])), Look::Shown);
        let mut resized = pictures(true, true, 0);
        resized.after = Some(Picture { path: "p.png".into(), width: 1, height: 2 });
        assert_eq!(of_pictures(&resized), Look::Changed);
    }

    #[test]
    fn findings_are_grouped_by_age_impact_and_rule_and_counted() {
        let finding = |rule: &str, impact: &str, is_old| Finding {
            rule: rule.into(),
            impact: impact.into(),
            is_old,
            ..Finding::default()
        };
        let findings = vec![
            finding("b", "minor", Some(true)),
            finding("b", "minor", Some(false)),
            finding("z", "critical", Some(false)),
            finding("a", "odd", None),
            finding("z", "critical", Some(false)),
        ];
        let example = Example { findings: Some(findings), undecided: 2, ..Example::default() };
        let kit = Kit {
            gallery: Some(Gallery {
                components: vec![Component { name: "c".into(), examples: vec![example, Example::default()] }],
                ..Gallery::default()
            }),
            base: Some(Revision { name: "main".into(), commit: "c".into() }),
            ..Kit::default()
        };
        let groups = groups(&kit);
        let seen: Vec<_> = groups.iter().map(|g| (g.since, g.first.rule.as_str(), g.places.len())).collect();
        assert_eq!(
            seen,
            [(Since::New, "z", 2), (Since::New, "b", 1), (Since::Unknown, "a", 1), (Since::Old, "b", 1)]
        );
        let tally = Tally::of(&kit);
        assert_eq!((tally.new_findings, tally.other_findings, tally.old_findings), (3, 1, 1));
        assert_eq!((tally.examined, tally.unexamined, tally.undecided, tally.fresh()), (1, 1, 2, 4));
    }
}
