//! Changes of texts by byte ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// Other text for a range of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edit {
    /// The number of the file.
    pub(super) file: usize,
    /// From; the same as `end` where something is put in.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

impl Edit {
    pub(super) fn new(file: usize, range: Range<usize>, text: impl Into<String>) -> Self {
        Self { file, start: range.start, end: range.end, text: text.into() }
    }
}

/// Edits that belong together: all of them, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repair {
    pub(super) edits: Vec<Edit>,
    /// The tokens whose paths it changes.
    pub(super) renames: Vec<String>,
}

/// The edits of several repairs, sorted. A repair that touches what an earlier one touches is left for another time.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken {
    /// By file and start; ranges do not touch.
    edits: BTreeMap<(usize, usize), Edit>,
}

impl Taken {
    /// Takes a repair, if it touches nothing that was taken.
    pub(super) fn take(&mut self, repair: &Repair) -> bool {
        let mut own = Self::default();
        let fits = repair.edits.iter().all(|edit| {
            let free = self.is_free(edit) && own.is_free(edit);
            own.edits.insert((edit.file, edit.start), edit.clone());
            free
        });
        if fits {
            self.edits.append(&mut own.edits);
        }
        fits
    }

    fn is_free(&self, edit: &Edit) -> bool {
        let before = self.edits.range(..=(edit.file, edit.start)).next_back();
        let after = self.edits.range((edit.file, edit.start)..).next();
        before.is_none_or(|((file, start), other)| {
            *file != edit.file || (other.end <= edit.start && *start != edit.start)
        }) && after.is_none_or(|((file, start), _)| *file != edit.file || edit.end <= *start)
    }

    /// The texts of the files that change, by number.
    pub(super) fn applied<'t>(&self, text_of: impl Fn(usize) -> &'t str) -> BTreeMap<usize, String> {
        let mut out: BTreeMap<usize, (String, usize)> = BTreeMap::new();
        for edit in self.edits.values() {
            let text = text_of(edit.file);
            let (done, at) = out.entry(edit.file).or_default();
            done.push_str(text.get(*at..edit.start).unwrap_or_default());
            done.push_str(&edit.text);
            *at = edit.end;
        }
        let rest = |file: usize, at: usize| text_of(file).get(at..).unwrap_or_default();
        out.into_iter().map(|(file, (done, at))| (file, done + rest(file, at))).collect()
    }

    /// Where the bytes of the texts before are in the texts after.
    pub(super) fn moves(&self) -> Moves {
        let mut moves = Moves::default();
        for edit in self.edits.values() {
            let steps = moves.0.entry(edit.file).or_default();
            let (end, after) = steps.last().map_or((0, 0), |step| (step.end, step.after));
            let begins = after + (edit.start - end);
            let step = Step { start: edit.start, end: edit.end, begins, after: begins + edit.text.len() };
            steps.push(step);
        }
        moves
    }
}

/// Where the bytes of texts are after they were edited.
#[derive(Debug, Default)]
pub(super) struct Moves(BTreeMap<usize, Vec<Step>>);

/// One edit: its range before, and after.
#[derive(Debug)]
struct Step {
    start: usize,
    end: usize,
    begins: usize,
    after: usize,
}

impl Moves {
    /// Where `byte` is now; what was replaced is where its replacement begins.
    pub(super) fn of(&self, file: usize, byte: usize) -> usize {
        let steps = self.0.get(&file).map(Vec::as_slice).unwrap_or_default();
        let before = steps.partition_point(|step| step.start <= byte);
        match before.checked_sub(1).and_then(|last| steps.get(last)) {
            None => byte,
            Some(step) if byte < step.end => step.begins,
            Some(step) => step.after + (byte - step.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repair(edits: &[(usize, usize, &str)]) -> Repair {
        let edits = edits.iter().map(|(start, end, text)| Edit::new(0, *start..*end, *text)).collect();
        Repair { edits, renames: Vec::new() }
    }

    #[test]
    fn repairs_are_taken_whole_or_not_at_all() {
        let mut taken = Taken::default();
        assert!(taken.take(&repair(&[(0, 1, "AA"), (4, 4, "+")])));
        assert!(!taken.take(&repair(&[(2, 3, "C"), (4, 5, "E")])), "two begin at one byte");
        assert!(!taken.take(&repair(&[(3, 5, "")])), "it would swallow an edit");
        assert!(!taken.take(&repair(&[(5, 7, ""), (6, 8, "")])), "its own edits touch");
        assert!(taken.take(&repair(&[(1, 2, ""), (6, 6, "!")])));
        let applied = taken.applied(|_| "abcdef");
        assert_eq!(applied, BTreeMap::from([(0, "AAcd+ef!".to_owned())]));
    }

    #[test]
    fn places_move_with_what_is_before_them() {
        let mut taken = Taken::default();
        taken.take(&repair(&[(1, 3, "four"), (5, 5, "++")]));
        let moves = taken.moves();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|byte| moves.of(0, byte)), [0, 1, 1, 5, 6, 9, 10]);
        assert_eq!(moves.of(1, 5), 5, "another file");
    }
}
