//! A repository in memory, for tests.

use std::collections::{BTreeMap, BTreeSet};

use projects::{Entry, EntryKind, Look, LookError};

#[derive(Debug, Default)]
pub(crate) struct Files(BTreeMap<String, String>);

impl Files {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::owned(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    pub(crate) fn owned(files: Vec<(String, String)>) -> Self {
        Self(files.into_iter().collect())
    }

    pub(crate) fn with(mut self, path: &str, text: &str) -> Self {
        self.0.insert(path.to_owned(), text.to_owned());
        self
    }
}

impl Look for Files {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        Ok(self.0.get(path).map(|text| text.clone().into_bytes()))
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        let begin = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let below = self.0.range(begin.clone()..).map_while(|(path, _)| path.strip_prefix(begin.as_str()));
        let entries: BTreeSet<Entry> = below
            .map(|rest| match rest.split_once('/') {
                Some((folder, _)) => Entry { name: folder.to_owned(), kind: EntryKind::Folder },
                None => Entry { name: rest.to_owned(), kind: EntryKind::File },
            })
            .collect();
        Ok(entries.into_iter().collect())
    }
}
