//! What uv is told of a project.

use toml::{Table, Value};

use super::project::texts;

/// `[tool.uv]` ([settings](https://docs.astral.sh/uv/reference/settings/)), as far as it says what is released.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uv {
    /// `package`: whether it is built at all; where it says nothing, a `[build-system]` decides.
    pub package: Option<bool>,
    /// `workspace.members`: patterns of folders.
    pub members: Vec<String>,
    /// `workspace.exclude`: patterns of folders that are none.
    pub exclude: Vec<String>,
}

/// Most patterns of one list that are read.
const MAX_PATTERNS: usize = 1_000;

impl Uv {
    pub(super) fn read(top: &Table) -> Self {
        let uv = top.get("tool").and_then(|tool| tool.get("uv"));
        let workspace = uv.and_then(|uv| uv.get("workspace"));
        let list = |key: &str| {
            let mut all = texts(workspace.and_then(|workspace| workspace.get(key)));
            all.truncate(MAX_PATTERNS);
            for pattern in &mut all {
                *pattern = pattern.trim_start_matches("./").trim_end_matches('/').to_owned();
            }
            all.retain(|pattern| !matches!(pattern.as_str(), "" | "."));
            all
        };
        Self {
            package: uv.and_then(|uv| uv.get("package")).and_then(Value::as_bool),
            members: list("members"),
            exclude: list("exclude"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::project::{Project, read};
    use crate::tree::MapTree;

    fn toml(text: &str) -> Project {
        read(&MapTree::new().with("pyproject.toml", text)).unwrap()
    }

    #[test]
    fn what_uv_is_told_is_read() {
        let project = toml(
            "[project]\nname='a'\n[tool.uv]\npackage=false\n[tool.uv.workspace]\nmembers=['./packages/*/','.',3]\nexclude=['packages/x']\n",
        );
        assert_eq!(
            project.uv,
            Uv {
                package: Some(false),
                members: vec!["packages/*".into()],
                exclude: vec!["packages/x".into()]
            }
        );
        let built = |more: &str| toml(&format!("[project]\nname='a'\n{more}")).is_built();
        assert!(!built("") && built("[tool.uv]\npackage=true\n"));
        assert!(
            built("[build-system]\nrequires=[]\n")
                && !built("[build-system]\nrequires=[]\n[tool.uv]\npackage=false\n")
        );
        assert_eq!(toml("[tool]\nuv=3\n").uv, Uv::default());
    }
}
