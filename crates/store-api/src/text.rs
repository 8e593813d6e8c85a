//! What texts must be to be stored.

use crate::error::StoreError;

/// Most bytes of a part of a session's key, a name or a title.
pub const MAX_KEY: usize = 200;
/// Most bytes of a title.
pub const MAX_TITLE: usize = 300;

/// A text of one to `most` bytes.
pub(crate) fn named(what: &'static str, text: &str, most: usize) -> Result<(), StoreError> {
    if text.trim().is_empty() {
        return Err(StoreError::Invalid { what, why: "it is empty" });
    }
    at_most(what, text, most)
}

/// A text of at most `most` bytes, also none.
pub(crate) fn at_most(what: &'static str, text: &str, most: usize) -> Result<(), StoreError> {
    if text.len() > most {
        return Err(StoreError::TooLarge { what, got: text.len(), most });
    }
    // PostgreSQL cannot store it in a text, and both databases take the same.
    if text.contains('\0') {
        return Err(StoreError::Invalid { what, why: "it has a NUL character" });
    }
    Ok(())
}

/// Every text that is given is one of at most `most` bytes.
pub(crate) fn each<'t>(
    what: &'static str,
    texts: impl IntoIterator<Item = &'t Option<String>>,
    most: usize,
) -> Result<(), StoreError> {
    texts.into_iter().flatten().try_for_each(|text| at_most(what, text, most))
}
