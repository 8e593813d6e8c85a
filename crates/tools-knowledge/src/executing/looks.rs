//! What processes said of files that they looked at. What they say depends on those files alone, and of one look's files nobody
//! else's say anything: the same files need not be looked at again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use contract::{Digest, Fault};
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

impl Looks {
    /// What is said of these files: by `look`, unless it was said before.
    pub(super) fn at(
        &self,
        files: &[SourceFile],
        look: impl FnOnce() -> Result<Vec<Inspected>, Fault>,
    ) -> Result<Arc<Vec<Inspected>>, Fault> {
        let of = serde_json::to_vec(files).map_err(|e| Fault::internal(e.to_string()))?;
        let of = Digest::of(&of);
        if let Some(found) = self.again(&of) {
            return Ok(found);
        }
        let found = Arc::new(look()?);
        let bytes = found.iter().map(size).sum();
        self.keep(Look { of, found: Arc::clone(&found), bytes });
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

/// About how much memory what is said of a file takes.
fn size(said: &Inspected) -> usize {
    let names = said.imports.iter().map(|import| import.specifier.len());
    let names = names.chain(said.exports.iter().map(|export| export.name.len()));
    let names: usize = names.map(|length| length + size_of::<Inspected>()).sum();
    size_of::<Look>() + said.path.len() + said.text.as_ref().map_or(0, String::len) + names
}

#[cfg(test)]
mod tests {
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
            looks.at(files, || {
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
    fn a_look_that_failed_is_none() {
        let looks = Looks::default();
        let files = [file("a.ts", "1")];
        assert!(looks.at(&files, || Err(Fault::internal("it ended"))).is_err());
        assert!(looks.at(&files, || Ok(said("a.ts", String::new()))).is_ok());
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_oldest_goes_first() {
        let looks = Looks::default();
        let large = |name: &str| {
            let files = [file(name, "")];
            let mut looked = false;
            let answered = looks.at(&files, || {
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
