//! The tags of a repository.

use gix::bstr::ByteSlice as _;

use crate::error::HistoryError;

/// Most tags that are listed.
const MAX_TAGS: usize = 20_000;

/// What the full names of tags begin with.
const PREFIX: &str = "refs/tags/";

impl crate::Repo {
    /// The names of all tags without `refs/tags/`, sorted. What a name leads to is not looked at.
    pub fn tags(&self) -> Result<Vec<String>, HistoryError> {
        let unread = "the tags of the repository could not be read";
        let platform = self.git.refs.iter().map_err(HistoryError::git(unread))?;
        let prefix: &gix::path::RelativePath = PREFIX.try_into().map_err(HistoryError::git(unread))?;
        let mut found = Vec::new();
        for tag in platform.prefixed(prefix).map_err(HistoryError::io(unread))? {
            let tag = tag.map_err(HistoryError::git(unread))?;
            let Some(name) = tag.name.as_bstr().to_str().ok().and_then(|n| n.strip_prefix(PREFIX)) else {
                continue;
            };
            if found.len() == MAX_TAGS {
                return Err(HistoryError::TooLarge { what: "tags", limit: MAX_TAGS as u64 });
            }
            found.push(name.to_owned());
        }
        found.sort_unstable();
        Ok(found)
    }
}
