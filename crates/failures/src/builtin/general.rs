//! Patterns of no single language: memory, environment, time, and what security linters report.

use serde_json::json;

use super::{Draft, NESTED_LOOPS, SECRETS, SQL, draft};
use crate::pattern::{Category, Language, OutcomeSpec, PatternSpec, Priority, Severity};

/// Before the languages' own: what ends a run whatever it was doing.
pub(super) fn first() -> Vec<PatternSpec> {
    vec![out_of_memory().0, missing_env().0]
}

/// After them.
pub(super) fn last() -> Vec<PatternSpec> {
    [timeout(), secrets(), sql(), nested_loops()].map(|draft| draft.0).into()
}

fn out_of_memory() -> Draft {
    let killed = |exit_code, signal| OutcomeSpec { exit_code, signal, timed_out: Some(false), command: None };
    draft("build-out-of-memory", Category::Build, Severity::High, &[], "The run had too little memory")
        .because("A program could not allocate memory, or the system killed it for using too much.")
        .find(&["JavaScript heap out of memory"], r"JavaScript heap out of memory")
        .find(&["java.lang.OutOfMemoryError", "GC overhead limit exceeded"], r"java\.lang\.OutOfMemoryError(?:: (?<message>.+))?")
        .find(&["out of memory"], r"^(?:fatal error: (?:runtime: )?out of memory|runtime: out of memory: .+|.*ld(?:\.\w+)?: (?:final link failed: )?(?:out of memory|memory exhausted).*|LLVM ERROR: out of memory.*)")
        .find(&["memory exhausted", "Cannot allocate memory", "ENOMEM"], r"virtual memory exhausted|^(?:\S+: )*(?:fork|mmap|cc1plus|cc1|as|ld)\S*: .*Cannot allocate memory|spawn ENOMEM|errno: .*ENOMEM")
        .find(&["memory allocation of "], r"^memory allocation of \d+ bytes failed")
        .find(&["MemoryError"], r"^(?:E\s+)?MemoryError(?:: .*)?$")
        .find(&["std::bad_alloc"], r"(?:terminate called after throwing an instance of|what\(\):)\s+'?std::bad_alloc")
        .find(&["Killed"], r"^(?:.*: \*\*\* \[.+\] )?Killed$|Killed signal terminated program|^\S+: line \d+:\s+\d+ Killed\b")
        .find(&["signal: 9, SIGKILL", "signal: killed", "oom-kill", "OOMKilled"], r"\(signal: 9, SIGKILL: kill\)|^signal: killed$|: signal: killed$|oom-kill|OOMKilled")
        .outcome(killed(Some(137), None))
        .outcome(killed(None, Some(9)))
        .say(Priority::High, 0.7, "Give the run more memory, or raise the program's own limit (`--max-old-space-size`, `-Xmx`, `ulimit -v`).")
        .say(Priority::Medium, 0.6, "Do less at a time: fewer parallel jobs, one package or test file at once.")
        .say(Priority::Low, 0.4, "If it grows without end, profile it: something keeps what it should let go.")
}

fn missing_env() -> Draft {
    draft("config-missing-env", Category::Configuration, Severity::Medium, &[], "An environment variable is missing")
        .because("The program wants a setting from its environment. Runs get only the variables that are configured for them.")
        .find(&["nvironment variable"], r#"(?i)(?:missing|undefined|unset|required)\b.{0,40}\benvironment variables?:?\s*[`'"]?(?<name>[A-Z][A-Z0-9_]+)\b"#)
        .find(&["nvironment variable"], r#"(?i)\benvironment variable\s+[`'"$]?(?-i:(?<name>[A-Z][A-Z0-9_]+))[`'"]?\s+(?:is |was )?(?:not (?:set|defined|found)|missing|required|unset|undefined|must be set)"#)
        .find(&["nvironment variable not found"], r#"(?i)environment variable not found(?:: ['"`]?(?-i:(?<name>[A-Z][A-Z0-9_]+)))?"#)
        .find(&["KeyError: '"], r"^(?:E\s+)?KeyError: '(?<name>[A-Z][A-Z0-9_]{2,})'$")
        .need(4, 0, r"os\.environ|<frozen os>|/os\.py\W|\benviron\[")
        .find(&["unbound variable"], r"line \d+: (?<name>[A-Za-z_][A-Za-z0-9_]*): unbound variable$")
        .find(&[": line "], r"line \d+: (?<name>[A-Z][A-Z0-9_]*): (?:must be set|is not set|not set|parameter (?:null or )?not set|.*required.*)$")
        .find(&["NotPresent"], r"on an `Err` value: NotPresent")
        .near(2, 0, r"panicked at (?<file>[^\s:]+):(?<line>\d+):(?<column>\d+)")
        .say(Priority::High, 0.8, "Set {name|the variable} for the run: in the configuration's `environment`, or in the project's .env file.")
        .say(Priority::Medium, 0.6, "See which variables the project's .env file sets; values are masked.")
        .call("dotenv_environment", json!({ "mask": true }))
}

fn timeout() -> Draft {
    const TESTS: &str = r"(?i)\btests?\b|py\.?test|jest|vitest|mocha|nextest|ctest|\bava\b|playwright";
    draft("test-timeout", Category::Test, Severity::Medium, &[], "A test took too long")
        .because("A test waits for something that does not come, or has too little time.")
        .find(&["test timed out after"], r"^panic: test timed out after (?<limit>\S+)")
        .near(0, 3, r"^\s+(?<name>Test\S+) \(")
        .find(&["Exceeded timeout of "], r"Exceeded timeout of (?<limit>[\d,]+ ms) for a (?:test|hook)")
        .near(3, 0, r"^\s*● (?<name>.+)$")
        .near(
            0,
            20,
            r"\((?<file>(?:[\w@.-]+/)*[\w@.-]+\.(?:test|spec)\.[cm]?[jt]sx?):(?<line>\d+):(?<column>\d+)\)",
        )
        .find(&["timed out in "], r"(?:Test|Hook) timed out in (?<limit>\d+ms)")
        .near(3, 0, r"^\s*FAIL\s+(?<file>\S+) > (?<name>.+)$")
        .find(&["Timeout of "], r"Error: Timeout of (?<limit>\d+ms) exceeded\.")
        .near(3, 0, r"^\s+(?<name>\S[^\n]*):$")
        .find(
            &["from pytest-timeout"],
            r"^(?:E\s+)?Failed: Timeout \([><=]*(?<limit>[\d.]+s)\) from pytest-timeout",
        )
        .near(0, 3, r"^(?<file>[^\s:]+\.py):(?<line>\d+): ")
        .find(
            &["TIMEOUT ["],
            r"^\s*TIMEOUT \[\s*(?<limit>[\d.]+s)\]\s+(?:\([^)]*\)\s+)?(?<package>\S+)\s+(?<name>\S+)",
        )
        .outcome(OutcomeSpec {
            timed_out: Some(true),
            command: Some(TESTS.to_owned()),
            ..OutcomeSpec::default()
        })
        .say(Priority::High, 0.6, "Run {name} alone: if it still hangs, see what it waits for.")
        .call("run_tests", json!({ "pattern": "{name}", "verbose": true }))
        .say(
            Priority::Medium,
            0.6,
            "Await every promise, stop every timer and goroutine, and fake what is remote.",
        )
        .say(Priority::Low, 0.5, "If the time ({limit|the limit}) is really too short, raise it.")
}

fn secrets() -> Draft {
    draft(SECRETS, Category::Security, Severity::High, &[], "A secret is written into the code")
        .because("Whoever can read the repository can read the secret, in every past version too.")
        .find(
            &["[B105:", "[B106:", "[B107:"],
            r"^>> Issue: \[B10[567]:\w+\] (?<message>Possible hardcoded password)",
        )
        .near(0, 6, r"^\s+Location: (?<file>[^\s:]+):(?<line>\d+)")
        .find(
            &["S105 ", "S106 ", "S107 "],
            r"^(?<file>[^\s:]+):(?<line>\d+):(?<column>\d+): (?<code>S10[567]) ",
        )
        .find(&["S105 ", "S106 ", "S107 "], r"^(?<code>S10[567]) (?:\[\*\] )?Possible hardcoded password")
        .near(0, 2, r"^\s*--> (?<file>[^\s:]+):(?<line>\d+):(?<column>\d+)")
        .find(&["G101"], r"^\[?(?<file>[^\s:]+):(?<line>\d+)\]? - G101 \(CWE-798\)")
        .find(&["leaks found: "], r"leaks found: [1-9]\d*")
        .say(
            Priority::High,
            0.9,
            "Revoke the secret, then read it from the environment or a secret store in {file|the code}.",
        )
        .say(Priority::Medium, 0.7, "Look for more of them in the change.")
        .call("code_review", json!({ "focus": "security" }))
}

fn sql() -> Draft {
    draft(SQL, Category::Security, Severity::High, &[], "SQL is put together from values")
        .because(
            "A value that holds SQL changes the statement: what a user types can read or delete anything.",
        )
        .find(&["[B608:"], r"^>> Issue: \[B608:\w+\] (?<message>Possible SQL injection)")
        .near(0, 6, r"^\s+Location: (?<file>[^\s:]+):(?<line>\d+)")
        .find(&["S608 "], r"^(?<file>[^\s:]+):(?<line>\d+):(?<column>\d+): (?<code>S608) ")
        .find(&["S608 "], r"^(?<code>S608) (?:\[\*\] )?Possible SQL injection")
        .near(0, 2, r"^\s*--> (?<file>[^\s:]+):(?<line>\d+):(?<column>\d+)")
        .find(&["G201", "G202"], r"^\[?(?<file>[^\s:]+):(?<line>\d+)\]? - (?<code>G20[12]) \(CWE-89\)")
        .say(
            Priority::High,
            0.9,
            "Use a parameter (`?`, `$1`, `%s` given apart) in place of the value in {file|the statement}.",
        )
        .say(Priority::Medium, 0.6, "Look for more of them in the change.")
        .call("code_review", json!({ "focus": "security" }))
}

fn nested_loops() -> Draft {
    draft(NESTED_LOOPS, Category::Performance, Severity::Low, Language::ALL, "A loop runs inside another")
        .because("The work grows with the product of the two lengths. Looked for in sources, not in output.")
        .say(Priority::Low, 0.5, "If both are long, look the inner one up in a map or set, or sort once.")
}
