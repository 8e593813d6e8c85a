//! Two texts compared line by line, as unified hunks.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use gix::diff::blob::{Algorithm, Diff, Hunk, InternedInput};

/// How two texts differ.
pub(crate) struct Patch {
    pub(crate) additions: u64,
    pub(crate) deletions: u64,
    /// The hunks, each with its `@@` line.
    pub(crate) hunks: Vec<String>,
}

/// A line that is the same as another when their keys are.
#[derive(Default)]
struct Line<'a> {
    raw: &'a [u8],
    key: Cow<'a, [u8]>,
}

impl PartialEq for Line<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Line<'_> {}

impl Hash for Line<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl AsRef<[u8]> for Line<'_> {
    fn as_ref(&self) -> &[u8] {
        self.raw
    }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|b| *b == b'\n').collect()
}

fn keyed<'a>(lines: &[&'a [u8]], ignore_whitespace: bool) -> impl Iterator<Item = Line<'a>> {
    lines.iter().map(move |raw| {
        // What git takes for white space.
        let key = if ignore_whitespace {
            raw.iter().copied().filter(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r')).collect()
        } else {
            Cow::Borrowed(*raw)
        };
        Line { raw, key }
    })
}

/// Compares two texts. `context` is how many unchanged lines stand around each change; hunks are made only if `text`.
pub(crate) fn compare(old: &[u8], new: &[u8], context: u32, ignore_whitespace: bool, text: bool) -> Patch {
    let (before, after) = (lines(old), lines(new));
    let mut input: InternedInput<Line<'_>> = InternedInput::default();
    input.update_before(keyed(&before, ignore_whitespace));
    input.update_after(keyed(&after, ignore_whitespace));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let mut patch = Patch {
        additions: u64::from(diff.count_additions()),
        deletions: u64::from(diff.count_removals()),
        hunks: Vec::new(),
    };
    if text {
        let mut printer = Printer { before: &before, after: &after, heading: None, looked: 0 };
        let mut group: Vec<Hunk> = Vec::new();
        for hunk in diff.hunks() {
            let apart = group.last().is_some_and(|last| hunk.before.start - last.before.end > 2 * context);
            if apart {
                patch.hunks.push(printer.print(&group, context));
                group.clear();
            }
            group.push(hunk);
        }
        if !group.is_empty() {
            patch.hunks.push(printer.print(&group, context));
        }
    }
    patch
}

struct Printer<'a> {
    before: &'a [&'a [u8]],
    after: &'a [&'a [u8]],
    /// The last line above that begins like a name, as git shows it behind `@@`.
    heading: Option<String>,
    looked: usize,
}

impl Printer<'_> {
    fn print(&mut self, group: &[Hunk], context: u32) -> String {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return String::new() };
        let lead = context.min(first.before.start).min(first.after.start);
        let tail = context.min(len(self.before).saturating_sub(last.before.end));
        let old = first.before.start - lead..last.before.end + tail;
        let new = first.after.start - lead..(last.after.end + tail).min(len(self.after));
        self.look(old.start as usize);
        let heading = self.heading.as_deref().map(|h| format!(" {h}")).unwrap_or_default();
        let mut out = format!("@@ -{} +{} @@{heading}\n", span(&old), span(&new));
        let mut at = old.start;
        for hunk in group {
            // Context is shown as it is on the new side.
            let ahead = hunk.before.start - at;
            Self::put(&mut out, ' ', self.after, hunk.after.start - ahead..hunk.after.start);
            Self::put(&mut out, '-', self.before, hunk.before.clone());
            Self::put(&mut out, '+', self.after, hunk.after.clone());
            at = hunk.before.end;
        }
        Self::put(&mut out, ' ', self.after, last.after.end..new.end);
        out
    }

    fn put(out: &mut String, sign: char, from: &[&[u8]], range: Range<u32>) {
        for line in from.get(range.start as usize..range.end as usize).unwrap_or_default() {
            out.push(sign);
            out.push_str(&String::from_utf8_lossy(line));
            if !line.ends_with(b"\n") {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }

    fn look(&mut self, until: usize) {
        for line in self.before.get(self.looked..until).unwrap_or_default() {
            if line.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$')) {
                let line = line.get(..80).unwrap_or(line);
                self.heading = Some(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
            }
        }
        self.looked = until.max(self.looked);
    }
}

fn len(lines: &[&[u8]]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

/// A range as `@@` has it: from 1, the count left out where it is 1, the line before where it is 0.
fn span(range: &Range<u32>) -> String {
    match range.end - range.start {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        count => format!("{},{count}", range.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_have_their_context_and_heading() {
        let old: String =
            (1..=20).map(|n| if n == 2 { "fn x() {\n".to_owned() } else { format!(" {n}\n") }).collect();
        let new = old.replace(" 10\n", " ten\n").replace(" 20\n", " 20");
        let patch = compare(old.as_bytes(), new.as_bytes(), 1, false, true);
        assert_eq!(
            patch.hunks,
            [
                "@@ -9,3 +9,3 @@ fn x() {\n  9\n- 10\n+ ten\n  11\n",
                "@@ -19,2 +19,2 @@ fn x() {\n  19\n- 20\n+ 20\n\\ No newline at end of file\n"
            ]
        );
        assert_eq!((patch.additions, patch.deletions), (2, 2));
    }

    #[test]
    fn white_space_can_be_left_out_of_the_comparison() {
        let patch = compare(b"a b\n c\nd\n", b"ab\nc \nD\n", 3, true, true);
        assert_eq!(patch.hunks, ["@@ -1,3 +1,3 @@\n ab\n c \n-d\n+D\n"]);
    }

    proptest::proptest! {
        #[test]
        fn any_two_texts_are_compared(old in "[ab\n\r ]{0,60}", new in "[ab\n\r ]{0,60}", context in 0_u32..4) {
            let patch = compare(old.as_bytes(), new.as_bytes(), context, false, true);
            let count = |sign: char| {
                let body = patch.hunks.iter().flat_map(|h| h.lines().skip(1));
                body.filter(|l| l.starts_with(sign)).count() as u64
            };
            // A lone carriage return does not end a line.
            if !old.contains('\r') && !new.contains('\r') {
                proptest::prop_assert_eq!((count('+'), count('-')), (patch.additions, patch.deletions));
            }
            proptest::prop_assert_eq!(patch.hunks.is_empty(), old == new);
        }
    }
}
