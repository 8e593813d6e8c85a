//! `CPython` 3 and pytest.

use serde_json::json;

use super::draft;
use crate::pattern::{Category, Language, PatternSpec, Priority, Severity};

pub(super) fn patterns() -> Vec<PatternSpec> {
    let import_error = draft(
        "python-import-error",
        Category::Dependencies,
        Severity::High,
        &[Language::Python],
        "A Python import fails",
    )
    .because("A module is not installed in this environment, is not on the path, or has no such name.")
    .find(&["ModuleNotFoundError: "], r"^(?:E\s+)?ModuleNotFoundError: No module named '(?<package>[^']+)'")
    .near(6, 0, r#"^\s*File "(?<file>[^"<]+)", line (?<line>\d+)"#)
    .near(6, 0, r"^(?<file>[^\s:]+\.py):(?<line>\d+): in ")
    .find(&["ImportError: "], r"^(?:E\s+)?ImportError: cannot import name '(?<name>[^']+)' from (?:partially initialized module )?'(?<module>[^']+)'")
    .near(6, 0, r#"^\s*File "(?<file>[^"<]+)", line (?<line>\d+)"#)
    .near(6, 0, r"^(?<file>[^\s:]+\.py):(?<line>\d+): in ")
    .find(&["ImportError: "], r"^(?:E\s+)?ImportError: (?<message>.+)")
    .find(&["ImportError while importing test module"], r"^ImportError while importing test module '(?<file>[^']+)'")
    .find(&["No module named "], r"python[\d.]*(?:\.exe)?: No module named (?<package>\S+)")
    .say(Priority::High, 0.8, "Install the dependencies into the project's environment: {package} could not be imported.")
    .call("python_install_deps", json!({ "packageManager": "auto", "dev": true }))
    .say(Priority::High, 0.8, "`{name}` is not in {module}: check its spelling, and whether two modules import each other.")
    .say(Priority::Medium, 0.5, "See whether the project's virtual environment exists and is the one in use.")
    .call("python_venv", json!({ "action": "info" }))
    .say(Priority::Low, 0.4, "If {package} is the project's own, run from its root, or install it in editable form.");
    vec![import_error.0]
}
