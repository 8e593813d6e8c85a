//! The go command (1.19 to 1.27), go vet, staticcheck and golangci-lint.

use serde_json::json;

use super::{Draft, draft};
use crate::pattern::{Category, Language, PatternSpec, Priority, Severity};

const AT: &str = r"^(?:vet: )?(?<file>[^\s:][^:]*\.go):(?<line>\d+)(?::(?<column>\d+))?: ";

pub(super) fn patterns() -> Vec<PatternSpec> {
    [missing_dep(), build_fail(), race(), test_fail(), lint()].map(|draft| draft.0).into()
}

fn missing_dep() -> Draft {
    draft("go-missing-dep", Category::Dependencies, Severity::High, &[Language::Go], "A Go package is missing")
        .because("The code imports a package that go.mod or go.sum does not list, or that could not be downloaded.")
        .find(
            &["no required module provides package "],
            &format!(r"(?:{AT})?no required module provides package (?<package>[^\s;:]+)"),
        )
        .find(
            &["missing go.sum entry for "],
            &format!(r"(?:{AT})?missing go\.sum entry for (?:module providing package |go\.mod file; |\S+ )?(?<package>[^\s;:]+)?"),
        )
        .find(&[" is not in std", " is not in GOROOT"], &format!(r"(?:{AT})?package (?<package>\S+) is not in (?:std|GOROOT)\b"))
        .find(&["cannot find module providing package ", "cannot find package "], &format!(r#"(?:{AT})?cannot find (?:module providing )?package "?(?<package>[^\s;:"]+)"#))
        .find(&["updates to go.mod needed", "updates to go.sum needed", "go.mod file not found"], r"updates to go\.(?:mod|sum) needed|go\.mod file not found")
        .find(&["@v/", "unknown revision", "410 Gone", "404 Not Found"], r"^(?:go: |\t)(?<package>[^\s:@]+\.[^\s:@/]+/[^\s:@]+)(?:@\S+)?: .*(?:/@v/|unknown revision|410 Gone|404 Not Found)")
        .say(Priority::High, 0.9, "Add {package|the missing package} to go.mod and go.sum: `go mod tidy`.")
        .call("go_mod_tidy", json!({ "verbose": true }))
        .say(Priority::Medium, 0.7, "If go.mod lists {package|it} already, download the modules; that needs the module proxy.")
        .call("go_mod_download", json!({}))
        .say(Priority::Low, 0.4, "Check the spelling of the import path {package|}: a path without a dot in its first element is looked for in the standard library.")
}

fn build_fail() -> Draft {
    // go vet prints the same shape for what it finds, so a message must be one of the compiler's, unless the
    // command line says that a compiler ran.
    const MESSAGES: &str = r"undefined: |undeclared name|cannot use |cannot infer |cannot assign |cannot convert |cannot range over|cannot call |imported and not used|declared and not used|syntax error|missing return|not enough arguments|too many arguments|not enough return values|too many return values|assignment mismatch|invalid operation|invalid argument|mismatched types|redeclared|has no field or method|does not implement|undefined \(type|unknown field|is not a type|is not an expression|non-name|non-boolean|non-constant|not exported|duplicate case|import cycle|expected |use of internal package|found packages|label .* (?:not defined|defined and not used)|missing function body|method .* already declared|no new variables";
    draft("go-build-fail", Category::Build, Severity::High, &[Language::Go], "Go code does not compile")
        .because("The compiler refuses the package; nothing that depends on it was built or tested.")
        .find(&["vet: "], r"^vet: (?<file>[^\s:][^:]*\.go):(?<line>\d+)(?::(?<column>\d+))?: (?<message>.+)")
        .find(&[".go:"], &format!(r"{AT}(?<message>.*(?:{MESSAGES}).*)"))
        .find(&["[build failed]"], r"^FAIL\s+(?<package>\S+) \[build failed\]")
        .find(&["import cycle not allowed"], r"import cycle not allowed")
        .find(
            &["build constraints exclude all Go files"],
            r"build constraints exclude all Go files in (?<name>\S+)",
        )
        .say(Priority::High, 0.9, "Repair {file} at line {line}: {message}")
        .say(Priority::High, 0.8, "Build again after the repair; the first error often causes the others.")
        .call("go_build", json!({ "package": "{package|./...}" }))
        .say(Priority::Low, 0.4, "If an import is missing or unused, run `goimports` or `go mod tidy`.")
        .call("go_mod_tidy", json!({}))
}

fn race() -> Draft {
    draft("go-race-condition", Category::Test, Severity::High, &[Language::Go], "Goroutines race")
        .because(
            "Two goroutines use the same memory without synchronisation, and at least one of them writes.",
        )
        .find(&["WARNING: DATA RACE"], r"^WARNING: DATA RACE")
        .near(0, 8, r"^\s+(?<file>\S+\.go):(?<line>\d+) \+0x")
        .near(0, 20, r"^FAIL\t(?<package>[^\s\[]+)\t")
        .find(&["race detected during execution of test"], r"race detected during execution of test")
        .find(
            &["fatal error: concurrent map"],
            r"^fatal error: (?<message>concurrent map (?:writes|read and map write|iteration and map write))",
        )
        .near(0, 20, r"^\s+(?<file>\S+_test\.go|\./\S+\.go):(?<line>\d+) \+0x")
        .say(
            Priority::High,
            0.8,
            "Protect what is shared at {file} line {line} with a mutex, a channel or sync/atomic.",
        )
        .say(Priority::High, 0.7, "Run the tests with the race detector until it is silent.")
        .call("go_test", json!({ "race": true, "package": "{package|./...}", "verbose": true }))
}

fn test_fail() -> Draft {
    draft("go-test-fail", Category::Test, Severity::High, &[Language::Go], "Go tests fail")
        .because("A test reported a failure or panicked.")
        .find(&["--- FAIL: "], r"^\s*--- FAIL: (?<name>\S+) \(")
        .near(3, 6, r"^\s+(?<file>\S+_test\.go):(?<line>\d+): (?<message>.*)")
        .near(0, 20, r"^FAIL\t(?<package>[^\s\[]+)\t")
        .find(
            &[r#""Action":"fail""#],
            r#"^\{.*"Action":"fail","Package":"(?<package>[^"]+)"(?:,"Test":"(?<name>[^"]+)")?"#,
        )
        .find(&["FAIL\t"], r"^FAIL\t(?<package>[^\s\[]+)\t[\d.]+s$")
        .say(Priority::High, 0.9, "Run the failing test {name} alone and read what it says.")
        .call("go_test", json!({ "package": "{package|./...}", "verbose": true, "args": ["-run={name}"] }))
        .say(Priority::High, 0.7, "{name} says at {file} line {line}: {message}")
        .say(Priority::Low, 0.4, "If it fails only now and then, look for a race.")
        .call("go_test", json!({ "package": "{package|./...}", "race": true }))
}

fn lint() -> Draft {
    const VET: &str = r"unreachable code|format %|wrong type|has arg|but has|wrong number of args|self-assignment|struct field tag|passes lock by value|copies lock|unkeyed fields|loop variable|possible formatting directive|should have signature|is not used on all paths|cancel function|possible misuse|nil dereference|result of .* call not used|unusedresult|redundant or:|suspect or:|call to .* copies|unmarshal|non-pointer|the .* verb";
    draft("go-lint-issues", Category::Lint, Severity::Medium, &[Language::Go], "A Go linter found something")
        .because("The code compiles, but go vet, staticcheck or golangci-lint objects to it.")
        .find(&[".go:"], &format!(r"{AT}(?<message>.+) \((?<code>[a-z][a-z0-9]+|[A-Z]{{1,2}}\d{{4}})\)$"))
        .find(
            &[".go:"],
            &format!(r"^(?<file>[^\s:][^:]*\.go):(?<line>\d+):(?<column>\d+): (?<message>.*(?:{VET}).*)$"),
        )
        .find(&["issues:"], r"^(?<count>[1-9]\d*) issues:$")
        .say(Priority::Medium, 0.8, "Let golangci-lint repair what it can, then do the rest by hand.")
        .call("go_lint", json!({ "fix": true }))
        .say(Priority::Medium, 0.7, "Repair {file} at line {line}: {message}")
        .say(Priority::Low, 0.4, "Format the code.")
        .call("go_fmt", json!({ "simplify": true }))
}
