//! What other files pin and offer: versions of runtimes, just's recipes.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::{Least, Runtime, numbers};

/// Files that say what is used, not what is needed.
const PINS: [&str; 5] =
    [".nvmrc", ".node-version", ".python-version", "rust-toolchain.toml", "rust-toolchain"];

/// Least versions beside those of manifests of npm and Cargo.
pub(crate) fn least(read: &dyn Fn(&str) -> Option<String>, found: &mut Vec<Least>) {
    let mut add = |runtime: Runtime, from: &str, version: Option<Vec<u64>>| {
        if let Some(version) = version {
            found.push(Least { is_pin: PINS.contains(&from), runtime, version, from: from.to_owned() });
        }
    };
    let line = |path: &str| read(path).and_then(|text| numbers(text.lines().next().unwrap_or_default()));
    let go = read("go.mod").and_then(|text| {
        text.lines().find_map(|line| line.trim().strip_prefix("go ").and_then(|v| numbers(v.trim())))
    });
    add(Runtime::Go, "go.mod", go);
    add(Runtime::Node, ".nvmrc", line(".nvmrc"));
    add(Runtime::Node, ".node-version", line(".node-version"));
    add(Runtime::Python, ".python-version", line(".python-version"));
    let table = |path: &str| read(path).and_then(|text| text.parse::<Table>().ok());
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let toolchain = table("rust-toolchain.toml").and_then(|t| text(t.get("toolchain")?.get("channel")));
    add(Runtime::Rust, "rust-toolchain.toml", toolchain.as_deref().and_then(numbers));
    add(Runtime::Rust, "rust-toolchain", line("rust-toolchain"));
    let python = table("pyproject.toml").and_then(|t| text(t.get("project")?.get("requires-python")));
    add(
        Runtime::Python,
        "pyproject.toml",
        python.as_deref().filter(|range| !range.starts_with(['<', '!'])).and_then(numbers),
    );
}

/// Recipes of a justfile.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recipes {
    pub(crate) file: String,
    pub(crate) names: BTreeSet<String>,
    /// Whether there may be more than are known: other files are imported.
    pub(crate) is_open: bool,
}

/// The names of recipes and aliases (the just manual, "Recipes", "Aliases"): lines at the margin with a colon that is no
/// assignment.
pub(crate) fn recipes(read: &dyn Fn(&str) -> Option<String>) -> Option<Recipes> {
    let names = ["justfile", "Justfile", ".justfile"];
    let (file, text) = names.iter().find_map(|name| Some(((*name).to_owned(), read(name)?)))?;
    let mut found = Recipes { file, ..Recipes::default() };
    for line in text.lines() {
        if line.starts_with([' ', '\t', '#', '[']) || line.trim().is_empty() {
            continue;
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        if matches!(first, "import" | "import?" | "mod" | "mod?") || line.starts_with("set fallback") {
            found.is_open = true;
        }
        let rest = line.strip_prefix("alias ").unwrap_or(line);
        let name: String = rest
            .trim_start_matches('@')
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
            .collect();
        let is_recipe = line.contains(':') && (line.starts_with("alias ") || !line.contains(":="));
        let has_defaults =
            line.find(':').is_some_and(|at| line.get(at..).is_some_and(|rest| !rest.starts_with(":=")));
        if !name.is_empty() && (is_recipe || has_defaults) {
            found.names.insert(name);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_read() {
        let text = "set shell := [\"bash\"]\nx := \"1\"\nalias t := test\n# words: none\n[private]\n@build arg='a':\n  echo a: b\ntest *args: build\n  x\n";
        let found = recipes(&|path| (path == "justfile").then(|| text.to_owned())).unwrap();
        assert_eq!(found.names.iter().collect::<Vec<_>>(), ["build", "t", "test"]);
        assert!(!found.is_open);
        assert!(recipes(&|_| Some("import 'x.just'\n".to_owned())).unwrap().is_open);
    }

    #[test]
    fn pinned_versions_are_read() {
        let mut found = Vec::new();
        let read = |path: &str| {
            let text = match path {
                "go.mod" => "module x\n\ngo 1.22.1\n",
                ".nvmrc" => "v20.11\n",
                "pyproject.toml" => "[project]\nrequires-python = \">=3.10,<4\"\n",
                _ => return None,
            };
            Some(text.to_owned())
        };
        least(&read, &mut found);
        let shown: Vec<_> = found.into_iter().map(|l| (l.runtime, l.version)).collect();
        assert_eq!(
            shown,
            [(Runtime::Go, vec![1, 22, 1]), (Runtime::Node, vec![20, 11]), (Runtime::Python, vec![3, 10])]
        );
    }
}
