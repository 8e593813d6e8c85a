//! What processes said of files that they looked at: the same files need not be looked at again.
//!
//! Whoever wrote a file may have taken over the process that parsed it. So what is said is remembered of all that a call had looked at
//! until then, and not of the last files alone: nobody else's files were ever seen by a process whose word is taken for them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use contract::{Digest, Fault};
use serde::Serialize;
use skills::SourceFile;
use skills::talk::Inspected;

/// Bytes of texts that are remembered: some two hundred skills of usual size.
const MOST: usize = 4 << 20;

/// Remembers looks, the last ones last.
#[derive(Default)]
pub(super) struct Looks(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    looks: VecDeque<Look>,
    bytes: usize,
}

#[derive(Clone)]
struct Look {
    of: Digest,
    found: Arc<Vec<Inspected>>,
    bytes: usize,
}

/// All files that a call had looked at so far, by their digest.
#[derive(Debug, Default)]
pub(super) struct Seen(Option<Digest>);

impl Seen {
    fn add(&mut self, files: &[SourceFile]) -> Result<Digest, Fault> {
        #[derive(Serialize)]
        struct Both<'f>(&'f Option<Digest>, &'f [SourceFile]);
        let both = serde_json::to_vec(&Both(&self.0, files)).map_err(|e| Fault::internal(e.to_string()))?;
        Ok(*self.0.insert(Digest::of(&both)))
    }
}

impl Looks {
    /// What is said of these files, behind those that were seen before: by `look`, unless it was said already.
    pub(super) fn at(
        &self,
        seen: &mut Seen,
        files: &[SourceFile],
        look: impl FnOnce() -> Result<Vec<Inspected>, Fault>,
    ) -> Result<Arc<Vec<Inspected>>, Fault> {
        let of = seen.add(files)?;
        if let Some(found) = self.again(&of) {
            return Ok(found);
        }
        let found = Arc::new(look()?);
        // A refusal may be the machine's, which had no room for a parser.
        if found.iter().all(|file| file.refused.is_none()) {
            let bytes = size_of::<Look>() + found.iter().map(size).sum::<usize>();
            self.keep(Look { of, found: Arc::clone(&found), bytes });
        }
        Ok(found)
    }

    fn again(&self, of: &Digest) -> Option<Arc<Vec<Inspected>>> {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = remembered.looks.iter().position(|look| look.of == *of)?;
        let look = remembered.looks.remove(at)?;
        remembered.looks.push_back(look.clone());
        Some(look.found)
    }

    fn keep(&self, look: Look) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = &mut *remembered;
        if look.bytes > MOST || remembered.looks.iter().any(|known| known.of == look.of) {
            return;
        }
        remembered.bytes += look.bytes;
        remembered.looks.push_back(look);
        while remembered.bytes > MOST {
            let Some(oldest) = remembered.looks.pop_front() else { return };
            remembered.bytes -= oldest.bytes;
        }
    }
}

/// About how much memory what is said of a file takes, which was not refused.
fn size(said: &Inspected) -> usize {
    let imports = said.imports.iter().map(|import| size_of_val(import) + import.specifier.len());
    let exports = said.exports.iter().map(|export| size_of_val(export) + export.name.len());
    let text = said.text.as_ref().map_or(0, String::len);
    size_of::<Inspected>() + said.path.len() + text + imports.chain(exports).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use skills::strip::Refusal;

    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn said(path: &str, text: String) -> Vec<Inspected> {
        let path = path.to_owned();
        vec![Inspected { path, refused: None, imports: Vec::new(), exports: Vec::new(), text: Some(text) }]
    }

    #[test]
    fn the_same_files_are_looked_at_once_and_others_anew() {
        let looks = Looks::default();
        let mut times = 0;
        let mut at = |files: &[SourceFile]| {
            looks.at(&mut Seen::default(), files, || {
                times += 1;
                Ok(said("a.ts", times.to_string()))
            })
        };
        let first = at(&[file("a.ts", "1")]).unwrap();
        assert_eq!(at(&[file("a.ts", "1")]).unwrap(), first);
        for other in
            [vec![file("a.ts", "2")], vec![file("b.ts", "1")], vec![file("a.ts", "1"), file("b.ts", "")]]
        {
            assert_ne!(at(&other).unwrap(), first);
        }
        assert_eq!(times, 4);
    }

    #[test]
    fn what_a_process_says_behind_other_files_is_taken_for_these_only_behind_the_same() {
        let looks = Looks::default();
        let shared = [file("shared.ts", "")];
        let behind = |first: &str, says: &str| {
            let mut seen = Seen::default();
            looks.at(&mut seen, &[file(first, "")], || Ok(said(first, String::new()))).unwrap();
            looks.at(&mut seen, &shared, || Ok(said("shared.ts", says.to_owned()))).unwrap()
        };
        let lie = behind("hostile.ts", "a lie");
        assert_eq!(behind("hostile.ts", "the truth"), lie);
        assert_eq!(*behind("other.ts", "the truth"), said("shared.ts", "the truth".to_owned()));
        let alone = looks.at(&mut Seen::default(), &shared, || Ok(said("shared.ts", "alone".to_owned())));
        assert_eq!(*alone.unwrap(), said("shared.ts", "alone".to_owned()));
    }

    #[test]
    fn a_look_that_failed_is_none_and_one_that_refused_is_looked_again() {
        let looks = Looks::default();
        let files = [file("a.ts", "1")];
        let at = |said: Result<Vec<Inspected>, Fault>| looks.at(&mut Seen::default(), &files, || said);
        assert!(at(Err(Fault::internal("it ended"))).is_err());
        let refused = Some(Refusal { line: 1, column: 1, message: "no room".to_owned() });
        at(Ok(vec![Inspected { refused, ..said("a.ts", String::new()).remove(0) }])).unwrap();
        assert!(at(Ok(said("a.ts", String::new()))).unwrap().iter().all(|file| file.refused.is_none()));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_oldest_goes_first() {
        let looks = Looks::default();
        let large = |name: &str| {
            let files = [file(name, "")];
            let mut looked = false;
            let answered = looks.at(&mut Seen::default(), &files, || {
                looked = true;
                Ok(said(name, "x".repeat(MOST / 3)))
            });
            answered.unwrap();
            looked
        };
        assert!(large("a") && large("b"));
        assert!(!large("a"), "it is there, and used again");
        assert!(large("c"), "there is no room for three");
        assert!(!large("a") && large("b"), "the one that was not used is gone");
        let remembered = looks.0.lock().unwrap();
        assert!(remembered.bytes <= MOST);
        assert_eq!(remembered.bytes, remembered.looks.iter().map(|look| look.bytes).sum::<usize>());
    }
}
