//! What the tools that read git have in common: nothing that a repository defines is run, and nothing leads out of the root.

use contract::Fault;
pub(crate) use kit::desk::git::{read, read_again};

/// The paths that a caller names, seen from its directory, as the repository knows them.
pub(crate) fn paths(directory: Option<&str>, named: &[String]) -> Result<Vec<String>, Fault> {
    let dir = crate::running::directory(directory)?;
    if named.is_empty() {
        return Ok(dir.map(|dir| dir.to_string()).into_iter().collect());
    }
    named
        .iter()
        .map(|path| match &dir {
            Some(dir) => dir
                .join(path)
                .map(|path| path.to_string())
                .map_err(|e| Fault::invalid(format!("{path}: {e}"))),
            None => exec::view::path_argument(path).map(|path| path.to_string()),
        })
        .collect()
}

/// Whether `path` is below `folder`; everything is below none.
pub(crate) fn is_below(path: &str, folder: Option<&str>) -> bool {
    folder.is_none_or(|folder| {
        path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
