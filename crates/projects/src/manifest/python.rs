//! `pyproject.toml` (PEP 621, PEP 735, Poetry 2, uv, PDM, Hatch), requirements files (pip's format), `Pipfile`, and the
//! sections of `setup.cfg` and `tox.ini`.

use toml::{Table, Value};

use super::{Dependency, texts, toml};

/// What is read of a pyproject.toml or Pipfile.
#[derive(Debug, Default)]
pub(crate) struct PyProject {
    pub(crate) name: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Tables under `[tool]`, one level (`ruff`) and two (`pytest.ini_options`).
    pub(crate) tools: Vec<String>,
    /// `[build-system] build-backend`.
    pub(crate) backend: Option<String>,
    /// `[tool.uv.workspace]`: members, and what is left out.
    pub(crate) members: Vec<String>,
    pub(crate) excluded: Vec<String>,
}

/// Reads `pyproject.toml`. The error is a line, from 1, and what is wrong.
pub(crate) fn parse(bytes: &[u8]) -> Result<PyProject, (Option<usize>, String)> {
    let top = toml(bytes)?;
    let mut found = PyProject::default();
    let mut add = |list: Option<&Value>, dev: bool| {
        found.dependencies.extend(texts(list).iter().filter_map(|text| requirement(text, dev)));
    };
    let project = table(&top, "project");
    let tool = table(&top, "tool");
    let poetry = tool.and_then(|t| table(t, "poetry"));
    let uv = tool.and_then(|t| table(t, "uv"));
    add(project.and_then(|p| p.get("dependencies")), false);
    for extra in tables(project, "optional-dependencies") {
        add(Some(extra), true);
    }
    for group in tables(Some(&top), "dependency-groups") {
        add(Some(group), true);
    }
    add(uv.and_then(|u| u.get("dev-dependencies")), true);
    for group in tables(tool.and_then(|t| table(t, "pdm")), "dev-dependencies") {
        add(Some(group), true);
    }
    for env in tables(tool.and_then(|t| table(t, "hatch")), "envs") {
        for key in ["dependencies", "extra-dependencies"] {
            add(env.get(key), true);
        }
    }
    if let Some(poetry) = poetry {
        named(poetry.get("dependencies"), false, &mut found.dependencies);
        named(poetry.get("dev-dependencies"), true, &mut found.dependencies);
        for group in tables(Some(poetry), "group") {
            named(group.get("dependencies"), true, &mut found.dependencies);
        }
    }
    let name = |t: Option<&Table>| t.and_then(|t| t.get("name")).and_then(Value::as_str).map(str::to_owned);
    found.name = name(project).or_else(|| name(poetry));
    found.backend = table(&top, "build-system")
        .and_then(|b| b.get("build-backend"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    for (name, value) in tool.into_iter().flatten() {
        found.tools.push(name.clone());
        let below = value.as_table().into_iter().flatten().filter(|(_, v)| v.is_table());
        found.tools.extend(below.map(|(below, _)| format!("{name}.{below}")));
    }
    let workspace = uv.and_then(|u| table(u, "workspace"));
    found.members = texts(workspace.and_then(|w| w.get("members")));
    found.excluded = texts(workspace.and_then(|w| w.get("exclude")));
    Ok(found)
}

/// Reads a `Pipfile`.
pub(crate) fn pipfile(bytes: &[u8]) -> Result<Vec<Dependency>, (Option<usize>, String)> {
    let top = toml(bytes)?;
    let mut found = Vec::new();
    named(top.get("packages"), false, &mut found);
    named(top.get("dev-packages"), true, &mut found);
    Ok(found)
}

/// Reads a requirements file: a requirement a line, `#` comments, `\` continuations. Options (`-r`, `--hash`, URLs
/// without a name) are passed over.
pub(crate) fn requirements(text: &str, dev: bool) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut continued = false;
    for line in text.lines() {
        let first = !std::mem::replace(&mut continued, line.ends_with('\\'));
        let line = line.trim().trim_end_matches('\\');
        // A comment begins the line or stands behind a blank.
        let line = if line.starts_with('#') { "" } else { line.split(" #").next().unwrap_or_default() };
        if first && !line.starts_with('-') {
            let line = line.split(" --").next().unwrap_or_default();
            found.extend(requirement(line, dev));
        }
    }
    found
}

/// Sections of an INI file, as `[tool:pytest]` in `setup.cfg`.
pub(crate) fn sections(text: &str) -> Vec<String> {
    let header = |line: &str| Some(line.trim_end().strip_prefix('[')?.strip_suffix(']')?.trim().to_owned());
    text.lines().filter_map(header).collect()
}

/// A requirement (PEP 508): `name[extras] <versions> ; marker`, or `name @ url`.
fn requirement(text: &str, dev: bool) -> Option<Dependency> {
    let text = text.split(';').next().unwrap_or_default().trim();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let name = text.get(..end.unwrap_or(text.len()))?;
    let rest = text.get(name.len()..)?.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1.trim_start(),
        None => rest,
    };
    // A path or an address, or something else altogether.
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || rest.starts_with([':', '/', '\\', '[', '+'])
    {
        return None;
    }
    let version = rest.trim_start_matches('(').trim_end_matches(')');
    let version = if rest.starts_with('@') { None } else { Some(version) };
    Some(Dependency::new(normal(name), version, dev))
}

/// PEP 503: lower case, and runs of `-`, `_`, `.` are one `-`.
fn normal(name: &str) -> String {
    let mut found = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') {
            if !found.ends_with('-') {
                found.push('-');
            }
        } else {
            found.push(c.to_ascii_lowercase());
        }
    }
    found
}

/// A table of names, as Poetry and Pipenv have them: a version, or a table with one.
fn named(value: Option<&Value>, dev: bool, found: &mut Vec<Dependency>) {
    for (name, value) in value.and_then(Value::as_table).into_iter().flatten() {
        let version = value.as_str().or_else(|| value.get("version")?.as_str());
        if name != "python" {
            found.push(Dependency::new(normal(name), version, dev));
        }
    }
}

fn table<'a>(within: &'a Table, name: &str) -> Option<&'a Table> {
    within.get(name).and_then(Value::as_table)
}

/// The values of a table's entries.
fn tables<'a>(within: Option<&'a Table>, name: &str) -> impl Iterator<Item = &'a Value> {
    within.and_then(|w| table(w, name)).into_iter().flatten().map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[Dependency]) -> Vec<(&str, bool)> {
        found.iter().map(|d| (d.name.as_str(), d.dev)).collect()
    }

    #[test]
    fn pep_621_groups_and_uv_are_read() {
        let found = parse(
            br#"
            [project]
            name = "x"
            dependencies = ["Flask[async]>=3 ; python_version > '3.9'", "typing_extensions"]
            [project.optional-dependencies]
            docs = ["sphinx"]
            [dependency-groups]
            dev = ["pytest>=8", {include-group = "docs"}]
            [tool.uv.workspace]
            members = ["packages/*"]
            [tool.pytest.ini_options]
            a = 1
            [build-system]
            build-backend = "hatchling.build"
            "#,
        )
        .unwrap();
        assert_eq!(
            names(&found.dependencies),
            [("flask", false), ("typing-extensions", false), ("sphinx", true), ("pytest", true)]
        );
        assert_eq!(found.dependencies.first().unwrap().version.as_deref(), Some(">=3"));
        assert_eq!(found.members, ["packages/*"]);
        assert!(found.tools.contains(&"pytest.ini_options".to_owned()));
        assert_eq!(found.backend.as_deref(), Some("hatchling.build"));
    }

    #[test]
    fn poetry_is_read() {
        let found = parse(
            br#"
            [tool.poetry]
            name = "y"
            [tool.poetry.dependencies]
            python = "^3.11"
            Django = {version = "^5", optional = true}
            [tool.poetry.group.test.dependencies]
            pytest = "*"
            "#,
        )
        .unwrap();
        assert_eq!(found.name.as_deref(), Some("y"));
        assert_eq!(names(&found.dependencies), [("django", false), ("pytest", true)]);
    }

    #[test]
    fn requirements_are_read_with_all_that_pip_allows() {
        let found = requirements(
            "# top\nrequests [security,tests] >= 2.8.1, == 2.8.* ; python_version < '3'\n-r other.txt\n\
             --index-url https://example.com\nfastapi==0.1 \\\n    --hash=sha256:abc\nDjango # web\n\
             pip @ https://example.com/pip.whl\n./local\nhttps://example.com/x.whl\ngit+https://example.com/y\n\
             zope.interface (>=1.0)\n\n",
            false,
        );
        let found_names: Vec<_> = names(&found).iter().map(|(name, _)| *name).collect();
        assert_eq!(found_names, ["requests", "fastapi", "django", "pip", "zope-interface"]);
        assert_eq!(found.first().unwrap().version.as_deref(), Some(">= 2.8.1, == 2.8.*"));
        assert_eq!(found.get(1).unwrap().version.as_deref(), Some("==0.1"));
        assert_eq!(found.last().unwrap().version.as_deref(), Some(">=1.0"));
    }

    #[test]
    fn an_error_has_its_line() {
        assert_eq!(parse(b"[project]\nname = \n").unwrap_err().0, Some(2));
    }
}
