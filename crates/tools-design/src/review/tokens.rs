//! What a change does to design tokens.

use contract::{Code, Fault};
use design_tokens::diff::{Bump, ChangeKind, TokenChange, diff};
use design_tokens::{Compiled, Pair};
use kit::ReadDesk;
use kits::{ContrastRow, TokenRow, Tokens, ValueRow};

use super::before::Before;
use crate::consumers::search;
use crate::tokens::{self, Committed, TokensSection};

/// How many places of a token's uses are named.
const USES: usize = 8;

fn mode(name: &str) -> String {
    if name.is_empty() { "default".to_owned() } else { name.to_owned() }
}

/// What changed of the tokens that `source` means, and what could not be told of it.
pub(crate) fn of(
    desk: &ReadDesk,
    source: &str,
    before: Option<&Before>,
) -> Result<(Tokens, Option<String>), Fault> {
    let TokensSection(options) = desk.settings()?;
    let after = tokens::read(source, desk.view(), &options)?;
    let (mut earlier, mut why) = (None, None);
    if let Some(before) = before {
        let snapshot = before.again()?;
        match tokens::earlier(source, &Committed { snapshot, desk }, &options) {
            Ok(compiled) => earlier = Some(compiled),
            // A change may be what mends them.
            Err(fault) if fault.code == Code::InvalidSource => {
                why =
                    Some(format!("the tokens at {} cannot be read: {}", before.revision.name, fault.message));
            }
            Err(fault) => return Err(fault),
        }
    }
    let mut found = Tokens {
        source: source.to_owned(),
        bump: "none".to_owned(),
        count: after.tokens.len() as u64,
        modes: after.permutations().map(|(name, _)| mode(name)).collect(),
        contrast: contrast(&after, earlier.as_ref(), &options),
        ..Tokens::default()
    };
    let Some(earlier) = earlier else { return Ok((found, why)) };
    let difference = diff(&earlier, &after);
    match difference.bump() {
        Bump::None => "none",
        Bump::Patch => "patch",
        Bump::Minor => "minor",
        Bump::Major => "major",
    }
    .clone_into(&mut found.bump);
    let named: Vec<_> = difference.tokens.iter().map(|change| token(change, &earlier, &after)).collect();
    let wanted: Vec<_> = named.iter().flatten().copied().collect();
    let mut places = search(&wanted, desk)?.0.into_iter();
    for (change, token) in difference.tokens.iter().zip(&named) {
        let used = if token.is_some() {
            places.next().unwrap_or_default()
        } else {
            crate::consumers::Uses::default()
        };
        let row = TokenRow {
            id: change.id.clone(),
            was_called: change.was.clone(),
            kind: change.ty.name().to_owned(),
            values: change
                .values
                .iter()
                .map(|v| ValueRow {
                    mode: mode(&v.mode),
                    before: v.before.clone(),
                    after: v.after.clone(),
                    distance: v.distance.filter(|_| change.ty.name() == "color"),
                })
                .collect(),
            used_in: used.places.iter().take(USES).map(|p| format!("{}:{}", p.path, p.line)).collect(),
        };
        match change.kind {
            ChangeKind::Added => found.added.push(row),
            ChangeKind::Removed => found.removed.push(row),
            ChangeKind::Renamed => found.renamed.push(row),
            ChangeKind::Changed => found.changed.push(row),
        }
    }
    Ok((found, why))
}

/// The token by whose name a change is felt.
fn token<'c>(
    change: &TokenChange,
    before: &'c Compiled,
    after: &'c Compiled,
) -> Option<&'c design_tokens::Token> {
    let find =
        |compiled: &'c Compiled, id: &str| compiled.permutations().find_map(|(_, tokens)| tokens.get(id));
    find(before, change.was.as_deref().unwrap_or(&change.id)).or_else(|| find(after, &change.id))
}

/// The pairs of colours that the tokens declare, those that fall short first.
fn contrast(
    after: &Compiled,
    before: Option<&Compiled>,
    options: &design_tokens::Options,
) -> Vec<ContrastRow> {
    let earlier: Vec<Pair> = before.map(|compiled| compiled.contrast(options)).unwrap_or_default();
    let css = |pair: &Pair, id: &str| {
        after
            .permutations()
            .find(|(name, _)| *name == pair.mode)
            .and_then(|(_, tokens)| tokens.get(id))
            .map(|t| design_tokens::css_value(&t.value))
    };
    let mut rows: Vec<ContrastRow> = after
        .contrast(options)
        .into_iter()
        .filter_map(|pair| {
            let ratio = pair.ratio?;
            let was = earlier
                .iter()
                .find(|p| {
                    p.foreground == pair.foreground && p.background == pair.background && p.mode == pair.mode
                })
                .and_then(|p| p.ratio);
            Some(ContrastRow {
                colors: (css(&pair, &pair.foreground)?, css(&pair, &pair.background)?),
                foreground: pair.foreground,
                background: pair.background,
                mode: mode(&pair.mode),
                ratio: hundredth(ratio),
                before: was.map(hundredth).filter(|was| (was - hundredth(ratio)).abs() > f64::EPSILON),
                required: pair.minimum,
            })
        })
        .collect();
    rows.sort_by(|a, b| {
        let misses = |row: &ContrastRow| row.ratio >= row.required;
        misses(a)
            .cmp(&misses(b))
            .then_with(|| a.foreground.cmp(&b.foreground))
            .then_with(|| a.mode.cmp(&b.mode))
    });
    rows
}

/// To two places, downwards: what falls short is not rounded into passing.
fn hundredth(ratio: f64) -> f64 {
    (ratio * 100.0).floor() / 100.0
}
