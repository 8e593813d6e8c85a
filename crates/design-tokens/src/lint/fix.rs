//! Edits tried, and taken where they leave everything as it is but what they are for.

use std::collections::{BTreeMap, BTreeSet};

use super::edit::Taken;
use super::{Finding, Level, Raw, Report, Seen, Task, examine, finding, sort};
use crate::compile::{Loader, on_a_deep_stack};
use crate::diff;
use crate::emit;

/// Most rounds: what one round's edits make possible, the next one takes.
const ROUNDS: usize = 8;

/// Most times that the files are compiled to try edits.
const TRIALS: usize = 200;

/// Rules that look only at what compiles: what they find once it does was there before.
const OF_COMPILED: [&str; 8] = [
    "alias-depth",
    "contrast",
    "contrast-pair",
    "deprecated-use",
    "duplicate-value",
    "missing-description",
    "mode-missing",
    "unused",
];

/// What was fixed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fixed {
    /// What was found before, with what is fixed of it. What shows only once the files compile stands with its place in the new
    /// texts.
    pub report: Report,
    /// The new texts of the files that change, by name.
    pub texts: BTreeMap<String, String>,
}

/// Fixes what can be fixed safely and has a level other than off. The paths of the `frozen` tokens stay.
#[must_use]
pub fn fix(task: Task<'_>, frozen: &BTreeSet<String>) -> Fixed {
    on_a_deep_stack(|| Fixing { task, frozen, texts: BTreeMap::new(), trials: TRIALS }.run())
}

/// Texts over those of a loader.
struct Overlay<'o> {
    under: &'o dyn Loader,
    texts: &'o BTreeMap<String, String>,
}

impl Loader for Overlay<'_> {
    fn load(&self, name: &str) -> Result<String, String> {
        self.texts.get(name).map_or_else(|| self.under.load(name), |text| Ok(text.clone()))
    }

    fn relative(&self, from: &str, reference: &str) -> Result<(String, String), String> {
        let (name, text) = self.under.relative(from, reference)?;
        let text = self.texts.get(&name).cloned().unwrap_or(text);
        Ok((name, text))
    }
}

struct Fixing<'t> {
    task: Task<'t>,
    frozen: &'t BTreeSet<String>,
    /// What was accepted so far.
    texts: BTreeMap<String, String>,
    /// How many trials are left.
    trials: usize,
}

impl Fixing<'_> {
    fn run(mut self) -> Fixed {
        let first = self.look(&self.texts);
        let mut places: Vec<(usize, usize)> = first.raws.iter().map(|raw| (raw.file, raw.byte)).collect();
        let mut last: Option<Seen> = None;
        for _ in 0..ROUNDS {
            let Some((taken, texts, after)) = self.round(last.as_ref().unwrap_or(&first)) else { break };
            let moves = taken.moves();
            for (file, byte) in &mut places {
                *byte = moves.of(*file, *byte);
            }
            self.texts = texts;
            last = Some(after);
        }
        let report = self.report(&first, &places, last.as_ref());
        Fixed { report, texts: self.texts }
    }

    fn look(&self, texts: &BTreeMap<String, String>) -> Seen {
        examine(self.task.sources, &Overlay { under: self.task.loader, texts }, self.task.options)
    }

    /// The edits of one round, the texts with them, and what is seen then.
    fn round(&mut self, seen: &Seen) -> Option<(Taken, BTreeMap<String, String>, Seen)> {
        let wanted = |raw: &&Raw| raw.is_error || self.task.levels.of(raw.code) != Level::Off;
        let mut numbers: Vec<usize> = seen.raws.iter().filter(wanted).filter_map(|raw| raw.repair).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|number| {
            let repair = seen.repairs.get(*number);
            repair.is_some_and(|repair| !repair.renames.iter().any(|id| self.frozen.contains(id)))
        });
        let mut best: Option<(Taken, BTreeMap<String, String>, Seen)> = None;
        // Where all together are refused, each half is tried, down to the one that is to blame.
        let mut open = vec![numbers];
        while let Some(mut chunk) = open.pop() {
            let mut taken = best.as_ref().map(|(taken, ..)| taken.clone()).unwrap_or_default();
            chunk.retain(|number| seen.repairs.get(*number).is_some_and(|repair| taken.take(repair)));
            if chunk.is_empty() {
                continue;
            }
            if self.trials == 0 {
                break;
            }
            self.trials -= 1;
            let mut texts = self.texts.clone();
            for (file, text) in taken.applied(|file| seen.docs.get(file).map_or("", |doc| &doc.text)) {
                if let Some(doc) = seen.docs.get(file) {
                    texts.insert(doc.name.clone(), text);
                }
            }
            let after = self.look(&texts);
            if is_better(best.as_ref().map_or(seen, |(.., seen)| seen), &after) {
                best = Some((taken, texts, after));
            } else if chunk.len() > 1 {
                let second = chunk.split_off(chunk.len() / 2);
                open.push(second);
                open.push(chunk);
            }
        }
        best
    }

    /// What was found at first, with what is left of it.
    fn report(&self, first: &Seen, places: &[(usize, usize)], last: Option<&Seen>) -> Report {
        let found: Vec<(usize, Finding)> = first
            .raws
            .iter()
            .enumerate()
            .filter_map(|(number, raw)| Some((number, finding(raw, first, self.task.levels)?)))
            .collect();
        let files = first.docs.iter().map(|doc| doc.name.clone()).collect();
        let mut report = Report { findings: Vec::new(), renames: BTreeSet::new(), files };
        let Some(last) = last else {
            report.findings = found.into_iter().map(|(_, finding)| finding).collect();
            sort(&mut report.findings);
            return report;
        };
        let is_found = |raw: &&Raw| raw.is_error || self.task.levels.of(raw.code) != Level::Off;
        let left: Vec<&Raw> = last.raws.iter().filter(is_found).collect();
        let here = |number: usize| places.get(number).copied().unwrap_or_default();
        let mut pairing = Pairing { found, is_left: BTreeSet::new(), left };
        // What stands where it stood is the same; then what is about the same token, then what is as it was otherwise.
        pairing
            .pair(|(number, f)| (f.code, here(*number), None), |raw| (raw.code, (raw.file, raw.byte), None));
        pairing.pair(
            |(number, f)| (f.code, (here(*number).0, 0), f.token.clone()),
            |raw| (raw.code, (raw.file, 0), raw.token.clone()),
        );
        pairing
            .pair(|(number, f)| (f.code, (here(*number).0, 0), None), |raw| (raw.code, (raw.file, 0), None));
        let Pairing { found, is_left, left } = pairing;
        report.findings = found
            .into_iter()
            .map(|(number, finding)| Finding { is_fixed: !is_left.contains(&number), ..finding })
            .chain(left.into_iter().filter_map(|raw| finding(raw, last, self.task.levels)))
            .collect();
        sort(&mut report.findings);
        report
    }
}

/// By what findings before and after are told to be the same: the code, the place, the token.
type Key = (&'static str, (usize, usize), Option<String>);

/// Findings before, and those after that were not yet recognised among them.
struct Pairing<'l> {
    found: Vec<(usize, Finding)>,
    /// The numbers of those that are still there.
    is_left: BTreeSet<usize>,
    left: Vec<&'l Raw>,
}

impl Pairing<'_> {
    fn pair(&mut self, before: impl Fn(&(usize, Finding)) -> Key, after: impl Fn(&Raw) -> Key) {
        let mut open: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for found in self.found.iter().rev().filter(|(number, _)| !self.is_left.contains(number)) {
            open.entry(before(found)).or_default().push(found.0);
        }
        self.left.retain(|raw| match open.get_mut(&after(raw)).and_then(Vec::pop) {
            Some(number) => {
                self.is_left.insert(number);
                false
            }
            None => true,
        });
    }
}

/// Whether files are as good as before: every token as it was, no finding more, and at least one less.
fn is_better(before: &Seen, after: &Seen) -> bool {
    let known = signatures(before);
    let now = signatures(after);
    if !known.iter().all(|(name, signature)| now.get(name) == Some(signature)) {
        return false;
    }
    let had_errors = before.outcome.diagnostics.has_errors();
    let ids: BTreeSet<&str> = before
        .outcome
        .compiled
        .permutations()
        .flat_map(|(_, tokens)| tokens.keys().map(String::as_str))
        .collect();
    // Of what could not be resolved before, nothing was said.
    let is_new = |raw: &Raw| {
        let resolved = raw.token.as_deref().is_none_or(|id| ids.contains(id));
        had_errors && !raw.is_error && (!resolved || OF_COMPILED.contains(&raw.code))
    };
    let (was, is) = (counts(before, |_| false), counts(after, is_new));
    let grew = is.iter().any(|(key, count)| *count > was.get(key).copied().unwrap_or_default());
    let sum = |counts: &BTreeMap<(bool, &str, usize), usize>, of_errors: bool| -> usize {
        counts.iter().filter(|((is_error, ..), _)| *is_error == of_errors).map(|(_, count)| count).sum()
    };
    let (errors, warnings) = (sum(&is, true), sum(&is, false));
    !grew && (errors < sum(&was, true) || (errors == sum(&was, true) && warnings < sum(&was, false)))
}

/// How many findings there are, by whether they are errors, code and file.
fn counts(seen: &Seen, leave_out: impl Fn(&Raw) -> bool) -> BTreeMap<(bool, &'static str, usize), usize> {
    let mut counts = BTreeMap::new();
    for raw in seen.raws.iter().filter(|raw| !leave_out(raw)) {
        *counts.entry((raw.is_error, raw.code, raw.file)).or_insert(0) += 1;
    }
    counts
}

/// What of every token its users see, by mode and name in output.
fn signatures(seen: &Seen) -> BTreeMap<(&str, &str), String> {
    let mut all = BTreeMap::new();
    for (mode, tokens) in seen.outcome.compiled.permutations() {
        for token in tokens.values() {
            let mut refers = Vec::new();
            emit::references(token, &mut |id| {
                refers.push(tokens.get(id).map_or(id, |target| &target.name).to_owned());
            });
            let value = diff::shown(&token.value);
            let signature = (token.ty, value, refers, &token.description, &token.deprecated);
            all.insert((mode, token.name.as_str()), format!("{signature:?}"));
        }
    }
    all
}
