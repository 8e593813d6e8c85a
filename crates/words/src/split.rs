//! Where words are: by the boundaries of UAX #29, whose pieces are put together again where an identifier goes on over a
//! hyphen, and taken apart where it joins words.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::chars::{Class, class};

/// What stands together in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Group {
    /// Words joined by `_`, `-`, an apostrophe, or in numbers by a comma; mostly just one. Byte ranges, in order.
    Joined(Vec<Range<usize>>),
    /// Characters of a script without spaces, each with the marks on it.
    Run(Vec<Range<usize>>),
}

/// The groups of a text, in order.
pub(crate) fn groups(text: &str) -> Groups<'_> {
    Groups {
        segments: text.split_word_bound_indices(),
        text,
        found: std::collections::VecDeque::new(),
        open: None,
        end: 0,
        joint: false,
    }
}

pub(crate) struct Groups<'t> {
    segments: unicode_segmentation::UWordBoundIndices<'t>,
    text: &'t str,
    found: std::collections::VecDeque<Group>,
    open: Option<Group>,
    /// Where the open group ends so far, its last joint included.
    end: usize,
    /// Whether a joint was the last.
    joint: bool,
}

impl Iterator for Groups<'_> {
    type Item = Group;

    fn next(&mut self) -> Option<Group> {
        loop {
            if let Some(found) = self.found.pop_front() {
                return Some(found);
            }
            let Some((at, segment)) = self.segments.next() else {
                self.close();
                return self.found.pop_front();
            };
            self.segment(at, segment);
        }
    }
}

impl Groups<'_> {
    fn close(&mut self) {
        self.found.extend(self.open.take());
        self.joint = false;
    }

    fn segment(&mut self, at: usize, segment: &str) {
        if matches!(segment, "-" | "\u{2010}" | "\u{2011}") {
            if matches!(self.open, Some(Group::Joined(_))) && self.end == at && !self.joint {
                self.end += segment.len();
                self.joint = true;
            } else {
                self.close();
            }
            return;
        }
        let is_word = segment.chars().nth(1).is_some();
        // A boundary without anything between (`m²`, another script) is one all the same.
        let mut is_first = true;
        for (offset, c) in segment.char_indices() {
            let here = at + offset..at + offset + c.len_utf8();
            match class(c) {
                Class::Letter => self.letter(here, is_first),
                Class::Unspaced => self.unspaced(here),
                Class::Mark => self.mark(&here),
                Class::Tail
                    if !is_first && self.end == here.start && matches!(self.open, Some(Group::Run(_))) =>
                {
                    self.mark(&here);
                }
                Class::Tail => self.unspaced(here),
                Class::Other
                    if is_word
                        && matches!(c, '_' | '\'' | '\u{2019}' | ',' | '"' | '\u{5f4}' | '\u{5f3}') =>
                {
                    self.joint = matches!(self.open, Some(Group::Joined(_))) && self.end == here.start;
                    if self.joint {
                        self.end = here.end;
                    } else {
                        self.close();
                    }
                }
                Class::Other => self.close(),
            }
            is_first = false;
        }
    }

    fn letter(&mut self, here: Range<usize>, is_first: bool) {
        let goes_on = self.end == here.start;
        match &mut self.open {
            Some(Group::Joined(words)) if goes_on && self.joint => words.push(here.clone()),
            Some(Group::Joined(words)) if goes_on && !is_first => {
                if let Some(last) = words.last_mut() {
                    last.end = here.end;
                }
            }
            _ => {
                self.close();
                self.open = Some(Group::Joined(vec![here.clone()]));
            }
        }
        self.joint = false;
        self.end = here.end;
    }

    fn unspaced(&mut self, here: Range<usize>) {
        match &mut self.open {
            Some(Group::Run(units)) if self.end == here.start => units.push(here.clone()),
            _ => {
                self.close();
                self.open = Some(Group::Run(vec![here.clone()]));
            }
        }
        self.end = here.end;
    }

    fn mark(&mut self, here: &Range<usize>) {
        debug_assert!(self.text.is_char_boundary(here.start), "offsets come from the text");
        if self.end != here.start || self.joint {
            return self.close();
        }
        if let Some(Group::Joined(parts) | Group::Run(parts)) = &mut self.open
            && let Some(last) = parts.last_mut()
        {
            last.end = here.end;
            self.end = here.end;
        }
    }
}

/// The parts of a word by its capitals and digits: `HTTPServer2` is HTTP, Server, 2; and runs of several capitalised parts
/// beside digits (`HTTPServer`). Nothing for words of one part, and for those of more than [`MAX_PARTS`]: those are digests.
pub(crate) fn parts(word: &str) -> Vec<Range<usize>> {
    let kinds: Vec<(usize, Kind)> = word
        .char_indices()
        .filter(|(_, c)| class(*c) == Class::Letter)
        .take(MAX_LOOKED_AT)
        .map(|(at, c)| (at, kind(c)))
        .collect();
    let (mut starts, mut runs) = (vec![0], vec![0]);
    for (i, pair) in kinds.windows(2).enumerate() {
        let [(_, before), (at, now)] = pair else { continue };
        let next = kinds.get(i + 2).map(|(_, kind)| *kind);
        if (*before == Kind::Digit) != (*now == Kind::Digit) {
            runs.push(*at);
            starts.push(*at);
        } else if *now == Kind::Upper
            && (*before == Kind::Lower || (*before == Kind::Upper && next == Some(Kind::Lower)))
        {
            starts.push(*at);
        }
    }
    if starts.len() < 2 || starts.len() > MAX_PARTS {
        return Vec::new();
    }
    let ranges = |of: &[usize]| -> Vec<Range<usize>> {
        let ends = of.iter().skip(1).copied().chain([word.len()]);
        of.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    };
    let mut found = ranges(&starts);
    if runs.len() > 1 {
        let more: Vec<_> = ranges(&runs).into_iter().filter(|run| !found.contains(run)).collect();
        found.extend(more);
    }
    found
}

/// Most parts of a word that are worth finding.
pub(crate) const MAX_PARTS: usize = 8;

/// How many characters of a word are looked at for parts.
const MAX_LOOKED_AT: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Upper,
    Lower,
    Digit,
    Neither,
}

fn kind(c: char) -> Kind {
    if c.is_numeric() {
        Kind::Digit
    } else if c.is_uppercase() {
        Kind::Upper
    } else if c.is_lowercase() {
        Kind::Lower
    } else {
        Kind::Neither
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<Vec<&str>> {
        let words = |ranges: Vec<Range<usize>>| ranges.into_iter().map(|r| &text[r]).collect();
        groups(text)
            .map(|g| match g {
                Group::Joined(r) => words(r),
                Group::Run(r) => std::iter::once("run").chain(words(r)).collect(),
            })
            .collect()
    }

    #[test]
    fn words_are_where_readers_see_them() {
        for (text, expected) in [
            ("use_auth-token, now", vec![vec!["use", "auth", "token"], vec!["now"]]),
            ("don't l’amour", vec![vec!["don", "t"], vec!["l", "amour"]]),
            ("__init__.py", vec![vec!["init"], vec!["py"]]),
            ("--apply -x a--b a- -", vec![vec!["apply"], vec!["x"], vec!["a"], vec!["b"], vec!["a"]]),
            ("1,000.50 1, 2", vec![vec!["1", "000"], vec!["50"], vec!["1"], vec!["2"]]),
            (
                "crates/words/src/lib.rs:12",
                vec![vec!["crates"], vec!["words"], vec!["src"], vec!["lib"], vec!["rs"], vec!["12"]],
            ),
            ("said \"hello\" he", vec![vec!["said"], vec!["hello"], vec!["he"]]),
            ("m² cafe\u{301}s", vec![vec!["m"], vec!["²"], vec!["cafe\u{301}s"]]),
            (
                "日本語text, か\u{3099}く",
                vec![vec!["run", "日", "本", "語"], vec!["text"], vec!["run", "か\u{3099}", "く"]],
            ),
            ("a-日", vec![vec!["a"], vec!["run", "日"]]),
            ("한국어 สวัสดี", vec![vec!["run", "한", "국", "어"], vec!["run", "ส", "วั", "ส", "ดี"]]),
            ("\u{301}a 🙂", vec![vec!["a"]]),
            (
                "\u{1112}\u{1161}\u{11ab}x\u{11ab}",
                vec![vec!["run", "\u{1112}\u{1161}\u{11ab}"], vec!["x"], vec!["run", "\u{11ab}"]],
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn words_have_parts() {
        let of = |word: &'static str| parts(word).into_iter().map(|r| &word[r]).collect::<Vec<_>>();
        assert_eq!(of("useAuthToken"), ["use", "Auth", "Token"]);
        assert_eq!(of("HTTPServer"), ["HTTP", "Server"]);
        assert_eq!(of("OAuth2"), ["O", "Auth", "2", "OAuth"]);
        assert_eq!(of("sha256"), ["sha", "256"]);
        assert_eq!(of("ÉcoleÉtude"), ["École", "Étude"]);
        for word in ["README", "word", "2026", "a1b2c3d4e5f6", ""] {
            assert!(of(word).is_empty(), "{word}");
        }
    }
}
