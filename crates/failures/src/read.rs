//! The lines of an output, tried with the expressions that may match them.

use std::collections::{BTreeMap, BTreeSet};

use regex::{Captures, Regex};

use crate::{
    analysis::{AFFECTED_FILES, PLACES, Stream},
    analyzer::FailedRun,
    output::Output,
    place::{Place, Where},
    rule::{Context, Expression, Rule},
};

/// Matches of one pattern whose surroundings are read; later ones are only counted.
const READ: usize = 200;

/// What one rule found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) count: usize,
    pub(crate) outcome: bool,
    pub(crate) places: Vec<Place>,
    pub(crate) files: Vec<String>,
}

pub(crate) struct Reader<'r, 'f> {
    pub(crate) rules: &'r [Rule],
    pub(crate) output: &'r Output<'r>,
    pub(crate) stream: Stream,
    pub(crate) run: &'r FailedRun<'r>,
    pub(crate) command: &'r str,
    /// Whether an expression's `command` lets it be tried.
    pub(crate) allowed: BTreeMap<(usize, usize), bool>,
    pub(crate) found: &'f mut [Found],
}

impl<'r> Reader<'r, '_> {
    /// Tries expressions on a line. The first of a rule that matches is the rule's match on that line.
    pub(crate) fn line(&mut self, line: usize, wanted: &BTreeSet<(usize, usize)>) {
        let mut done = None;
        for &(r, e) in wanted {
            if done == Some(r) {
                continue;
            }
            let Some(expression) = self.rules.get(r).and_then(|rule| rule.expressions.get(e)) else {
                continue;
            };
            let allowed = *self.allowed.entry((r, e)).or_insert_with(|| {
                let only = expression.command.as_ref();
                only.is_none_or(|only| only.get().is_some_and(|regex| regex.is_match(self.command)))
            });
            if allowed && self.matches(r, expression, line) {
                done = Some(r);
            }
        }
    }

    fn matches(&mut self, r: usize, expression: &'r Expression, line: usize) -> bool {
        let Some(found) = self.found.get_mut(r) else { return false };
        let text = self.output.line(line);
        let reading = found.count < READ || expression.context.iter().any(|context| context.required);
        if !reading {
            let matched = expression.find.get().is_some_and(|regex| regex.is_match(text));
            found.count += usize::from(matched);
            return matched;
        }
        let Some(regex) = expression.find.get() else { return false };
        let Some(captures) = regex.captures(text) else { return false };
        let whole = captures.get(0).map_or(0..0, |whole| whole.range());
        let at = Where { stream: self.stream, line: self.output.number(line) };
        let mut place = Place::new(at, text, whole, self.run.root, self.run.dir);
        place.add(text, regex, &captures);
        for context in &expression.context {
            let near = self.near(context, line);
            if near.is_none() && context.required {
                return false;
            }
            if let Some((text, regex, captures)) = near {
                place.add(text, regex, &captures);
            }
        }
        let Some(found) = self.found.get_mut(r) else { return false };
        found.count += 1;
        place.resolve(self.run.files);
        if let Some(file) = place.captures.get("file")
            && found.files.len() < AFFECTED_FILES
            && !found.files.contains(file)
        {
            found.files.push(file.clone());
        }
        // The suggestions' lists are made of twice as many places as are shown.
        if found.places.len() < PLACES * 2 {
            found.places.push(place);
        }
        true
    }

    fn near(&self, context: &'r Context, line: usize) -> Option<(&'r str, &'r Regex, Captures<'r>)> {
        let output = self.output;
        let regex = context.find.get()?;
        let after = line.saturating_add(1)..line.saturating_add(1 + context.after).min(output.len());
        let before = line.saturating_sub(context.before)..line;
        after.chain(before.rev()).find_map(|index| {
            let text = output.line(index);
            Some((text, regex, regex.captures(text)?))
        })
    }
}
