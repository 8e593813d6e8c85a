//! The project that a call names.

use contract::{Code, Fault, RelPath};
use exec::view::path_argument;
use kit::ReadDesk;

/// The folder below the root that `given` names; `None` for the root itself.
pub(crate) fn folder(given: &str) -> Result<Option<RelPath>, Fault> {
    if given == "." || given == "./" {
        return Ok(None);
    }
    if given.starts_with(['/', '~']) {
        // Where it leads, if anywhere, is not said.
        return Err(Fault::new(
            Code::PathNotAllowed,
            "projectPath: it is in none of the roots that you may work in",
        )
        .suggest("Give `.` for the root, a folder below it, or `root` where there are several."));
    }
    path_argument(given.trim_end_matches('/').trim_start_matches("./")).map(Some)
}

/// `name` in the project's folder.
pub(crate) fn within(project: Option<&RelPath>, name: &str) -> Result<RelPath, Fault> {
    match project {
        None => RelPath::new(name).map_err(|why| Fault::internal(why.to_string())),
        Some(project) => {
            project.join(name).map_err(|why| Fault::new(Code::PathNotAllowed, format!("projectPath: {why}")))
        }
    }
}

/// Fails where the project's folder is not there.
pub(crate) fn check(desk: &ReadDesk, project: Option<&RelPath>) -> Result<(), Fault> {
    match project {
        Some(project) if !desk.view().is_folder(project) => {
            Err(Fault::new(Code::NotFound, format!("projectPath: there is no folder {project}"))
                .about(project.as_str()))
        }
        _ => Ok(()),
    }
}
