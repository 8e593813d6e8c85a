//! Node, the bundlers (webpack, esbuild, Vite), TypeScript and `ESLint`.

use serde_json::json;

use super::{Draft, draft};
use crate::pattern::{Category, Language, PatternSpec, Priority, Severity};

const BOTH: &[Language] = &[Language::Javascript, Language::Typescript];

pub(super) fn patterns() -> Vec<PatternSpec> {
    [module_not_found(), typescript(), eslint()].map(|draft| draft.0).into()
}

fn module_not_found() -> Draft {
    draft("js-module-not-found", Category::Dependencies, Severity::High, BOTH, "A JavaScript module is missing")
        .because("An import names a package that is not installed, or a file that is not there.")
        .find(&["error TS2307", "error TS2792"], r"^(?<file>[^\s(:]+)(?:\(|:)(?<line>\d+)[,:](?<column>\d+)\)?(?: -|:) error TS(?:2307|2792): Cannot find module '(?:(?<module>(?:\.{0,2}/|@/|~/|#)[^']*)|(?<package>(?:@[^/']+/)?[^/']+)[^']*)'")
        .find(&["Cannot find package '"], r"Cannot find package '(?:(?<module>(?:\.{0,2}/|@/|~/|#)[^']*)|(?<package>(?:@[^/']+/)?[^/']+)[^']*)' imported from (?<file>[^\s']+)")
        .find(&["Cannot find module '"], r"Cannot find module '(?:(?<module>(?:\.{0,2}/|@/|~/|#)[^']*)|(?<package>(?:@[^/']+/)?[^/']+)[^']*)'(?: (?:imported )?from '?(?<file>[^\s'()]+))?")
        .near(0, 3, r"^- (?<file>/\S+)")
        .find(&["Can't resolve '"], r"Module not found: Error: Can't resolve '(?:(?<module>(?:\.{0,2}/|@/|~/|#)[^']*)|(?<package>(?:@[^/']+/)?[^/']+)[^']*)'")
        .near(2, 0, r"^ERROR in (?<file>\S+)")
        .find(&["Could not resolve \""], r#"Could not resolve "(?:(?<module>(?:\.{0,2}/|@/|~/|#)[^"]*)|(?<package>(?:@[^/"]+/)?[^/"]+)[^"]*)""#)
        .near(0, 3, r"^\s+(?<file>[^\s:]+):(?<line>\d+):(?<column>\d+):")
        .find(&["Failed to resolve import \""], r#"Failed to resolve import "(?:(?<module>(?:\.{0,2}/|@/|~/|#)[^"]*)|(?<package>(?:@[^/"]+/)?[^/"]+)[^"]*)" from "(?<file>[^"]+)""#)
        .say(Priority::High, 0.9, "Install the dependencies: {package} is not there.")
        .call("nodejs_install_deps", json!({ "packageManager": "auto" }))
        .say(Priority::High, 0.8, "There is no {module}: check its path, its case and its extension.")
        .say(Priority::Medium, 0.6, "If {package} is not in package.json, add it.")
        .call("nodejs_package_info", json!({ "packageName": "{package}" }))
}

fn typescript() -> Draft {
    draft(
        "js-typescript-error",
        Category::Build,
        Severity::Medium,
        &[Language::Typescript],
        "TypeScript finds type errors",
    )
    .because("The compiler cannot prove that the types fit.")
    .find(
        &["error TS"],
        r"^(?<file>[^\s(:][^(:]*)\((?<line>\d+),(?<column>\d+)\): error (?<code>TS\d+): (?<message>.+)",
    )
    .find(
        &["error TS"],
        r"^(?<file>[^\s:][^:]*):(?<line>\d+):(?<column>\d+) - error (?<code>TS\d+): (?<message>.+)",
    )
    .say(Priority::High, 0.8, "Repair {file} at line {line} ({code}): {message}")
    .say(Priority::Medium, 0.8, "Check the types again without emitting anything.")
    .call("nodejs_check_types", json!({ "noEmit": true }))
    .say(Priority::Low, 0.4, "If types of a package are missing, install its `@types` package.")
    .call("nodejs_install_deps", json!({ "packageManager": "auto" }))
}

fn eslint() -> Draft {
    draft("js-eslint-errors", Category::Lint, Severity::Medium, BOTH, "ESLint finds errors")
        .because("The code breaks rules that the project's ESLint configuration calls errors.")
        .find(
            &["  error  "],
            r"^\s+(?<line>\d+):(?<column>\d+)\s+error\s{2,}(?<message>\S.*?)(?:\s{2,}(?<code>[@\w/-]+))?$",
        )
        .near(20, 0, r"^(?<file>(?:/|\.{0,2}/?[\w@.-]+/)\S*|\S+\.[cm]?[jt]sx?)$")
        .find(&["problem"], r"^✖ \d+ problems? \((?:[1-9]\d* errors?)")
        .find(&["\"severity\":2"], r#"^\[?\{"filePath":"(?<file>[^"]+)","messages":\[.*"severity":2"#)
        .find(&["too many warnings"], r"ESLint found too many warnings")
        .say(Priority::High, 0.8, "Let ESLint repair what it can, then do the rest by hand.")
        .call("eslint", json!({ "fix": true, "files": ["{file}"] }))
        .say(Priority::Medium, 0.7, "Repair {file} at line {line} ({code}): {message}")
}
