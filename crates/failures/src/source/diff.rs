//! Unified diffs, as git writes them: only lines that were added, with their numbers in the new file.

use super::{SOURCE_BYTES, SOURCE_MATCHES, SourceAnalysis, hits, line_at, said, start_of};
use crate::pattern::Language;

/// Reads the added lines of a diff, each file in the language of its name. Lines that were there before help to tell
/// code from strings, but nothing in them is reported.
#[must_use]
pub fn analyze_diff(diff: &str) -> SourceAnalysis {
    let read = diff.get(..diff.floor_char_boundary(SOURCE_BYTES)).unwrap_or_default();
    let mut analysis = SourceAnalysis { cut: read.len() < diff.len(), ..SourceAnalysis::default() };
    let mut file: Option<String> = None;
    let mut hunk = Hunk::default();
    for line in read.split_inclusive('\n') {
        let line = line.strip_suffix('\n').unwrap_or(line);
        if hunk.open() && hunk.take(line) {
            continue;
        }
        hunk.report(file.as_deref(), &mut analysis);
        hunk = Hunk::default();
        if let Some(path) = line.strip_prefix("+++ ") {
            file = path_of(path);
        } else if let Some(header) = line.strip_prefix("@@ ") {
            hunk = Hunk::new(header);
        }
    }
    hunk.report(file.as_deref(), &mut analysis);
    analysis
}

/// `b/src/x.rs`, perhaps with a time behind a tab; none for `/dev/null`. A name that git quoted stays as it is said.
fn path_of(path: &str) -> Option<String> {
    let path = path.split('\t').next().unwrap_or_default().trim_end().trim_matches('"');
    (path != "/dev/null").then(|| path.strip_prefix("b/").unwrap_or(path).to_owned())
}

/// The new side of a hunk.
#[derive(Default)]
struct Hunk {
    text: String,
    /// For each line of the text: its number, and whether it was added.
    lines: Vec<(usize, bool)>,
    next: usize,
    old_left: usize,
    new_left: usize,
}

impl Hunk {
    /// From `-a,b +c,d @@ …`.
    fn new(header: &str) -> Self {
        let mut sides = header.split(' ').map(|side| {
            let mut numbers =
                side.trim_start_matches(['-', '+']).splitn(2, ',').map(|n| n.parse::<usize>().ok());
            let start = numbers.next().flatten();
            (start, numbers.next().map_or(Some(1), |count| count))
        });
        let (Some((_, Some(old_left))), Some((Some(next), Some(new_left)))) = (sides.next(), sides.next())
        else {
            return Self::default();
        };
        Self { next, old_left, new_left, ..Self::default() }
    }

    const fn open(&self) -> bool {
        self.old_left > 0 || self.new_left > 0
    }

    /// Takes a line of the hunk; whether it is one.
    fn take(&mut self, line: &str) -> bool {
        let (added, text) = match line.as_bytes().first() {
            Some(b'+') => (true, line.get(1..).unwrap_or_default()),
            Some(b'-') => {
                self.old_left = self.old_left.saturating_sub(1);
                return true;
            }
            Some(b' ') => (false, line.get(1..).unwrap_or_default()),
            Some(b'\\') => return true,
            None => (false, ""),
            Some(_) => return false,
        };
        if !added {
            self.old_left = self.old_left.saturating_sub(1);
        }
        self.new_left = self.new_left.saturating_sub(1);
        self.text.push_str(text);
        self.text.push('\n');
        self.lines.push((self.next, added));
        self.next = self.next.saturating_add(1);
        true
    }

    fn report(&self, file: Option<&str>, analysis: &mut SourceAnalysis) {
        let (mut index, mut seen) = (0, 0);
        for hit in hits(&self.text, file.and_then(Language::of_path)) {
            index += self.text.get(seen..hit.at).unwrap_or_default().bytes().filter(|&b| b == b'\n').count();
            seen = hit.at;
            let Some(&(number, true)) = self.lines.get(index) else { continue };
            analysis.total += 1;
            if analysis.matches.len() < SOURCE_MATCHES {
                let at = hit.at - start_of(&self.text, hit.at);
                analysis.matches.push(said(hit.pattern, file, number, line_at(&self.text, hit.at), at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_added_lines_count_with_the_new_files_numbers() {
        let diff = "\
diff --git a/shop.py b/shop.py
index 1..2 100644
--- a/shop.py
+++ b/shop.py
@@ -10,3 +10,4 @@ def f():
 PASSWORD = \"already-there-1\"
-PASSWORD = \"goes-away-1\"
+PASSWORD = \"comes-in-1\"
+++ x = 1
 y = 2
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-PASSWORD = \"goes-away-1\"
";
        let analysis = analyze_diff(diff);
        assert_eq!(analysis.total, 1);
        let found = &analysis.matches[0];
        assert_eq!((found.file.as_deref(), found.line), (Some("shop.py"), 11));
        assert_eq!(found.excerpt, "PASSWORD = \"[secret]\"");
    }
}
