//! rustc and cargo (checked with 1.95), and what tokio says.

use serde_json::json;

use super::{Draft, draft};
use crate::pattern::{Category, Language, PatternSpec, Priority, Severity};

/// The place follows the message.
const ARROW: &str = r"^\s*--> (?<file>[^\s:]+):(?<line>\d+):(?<column>\d+)";
/// `--message-format short` has it in front.
const SHORT: &str = r"^(?:(?<file>[^\s:]+):(?<line>\d+):(?<column>\d+): )?";

pub(super) fn patterns() -> Vec<PatternSpec> {
    [dependency(), borrow(), lifetime(), asynchronous()].map(|draft| draft.0).into()
}

fn error(draft: Draft, codes: &[&str]) -> Draft {
    let literals: Vec<String> = codes.iter().map(|code| format!("error[{code}]")).collect();
    let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
    // A pattern takes at most 20 literals an expression.
    literals.chunks(20).zip(codes.chunks(20)).fold(draft, |draft, (literals, codes)| {
        draft
            .find(literals, &format!(r"{SHORT}error\[(?<code>{})\]: (?<message>.+)", codes.join("|")))
            .near(0, 3, ARROW)
    })
}

fn borrow() -> Draft {
    let draft = draft(
        "rust-borrow-checker",
        Category::Build,
        Severity::High,
        &[Language::Rust],
        "The borrow checker refuses the code",
    )
    .because("A value is used after it moved, changed while it is borrowed, or changed through something immutable.");
    error(
        draft,
        &[
            "E0381", "E0382", "E0384", "E0499", "E0502", "E0503", "E0505", "E0506", "E0507", "E0508",
            "E0509", "E0594", "E0596", "E0713",
        ],
    )
    .say(Priority::High, 0.8, "Repair {file} at line {line} ({code}): {message}")
    .say(
        Priority::Medium,
        0.6,
        "Shorten the borrow, clone the value, or take it by reference; then check again.",
    )
    .call("cargo_check", json!({}))
    .say(Priority::Low, 0.4, "Read `rustc --explain {code}`.")
}

fn lifetime() -> Draft {
    let draft = draft(
        "rust-lifetime-error",
        Category::Build,
        Severity::High,
        &[Language::Rust],
        "A Rust lifetime is missing or too short",
    )
    .because("A reference may outlive what it points to, or the compiler cannot tell how long it lives.");
    error(
        draft,
        &[
            "E0106", "E0195", "E0226", "E0261", "E0262", "E0263", "E0309", "E0310", "E0373", "E0478",
            "E0491", "E0495", "E0515", "E0521", "E0597", "E0621", "E0623", "E0637", "E0700", "E0716",
            "E0759", "E0792",
        ],
    )
    .find(
        &["error: lifetime may not live long enough"],
        &format!(r"{SHORT}error: (?<message>lifetime may not live long enough)"),
    )
    .near(0, 3, ARROW)
    .say(Priority::High, 0.8, "Repair {file} at line {line}: {message}")
    .say(
        Priority::Medium,
        0.6,
        "Name the lifetimes and how they relate, or return an owned value; then check again.",
    )
    .call("cargo_check", json!({}))
    .say(Priority::Low, 0.4, "Read `rustc --explain {code}`.")
}

fn asynchronous() -> Draft {
    let draft = draft(
        "rust-async-error",
        Category::Build,
        Severity::Medium,
        &[Language::Rust],
        "Asynchronous Rust is used where it cannot run",
    )
    .because(
        "Something is awaited outside async code, is no future, cannot change threads, or has no runtime.",
    );
    error(draft, &["E0728", "E0752", "E0706", "E0744", "E0733"])
        .find(
            &[" is not a future", "cannot be sent between threads safely"],
            &format!(r"{SHORT}error(?:\[(?<code>E0277)\])?: (?<message>`.+` is not a future|future cannot be sent between threads safely)"),
        )
        .near(0, 3, ARROW)
        .find(
            &["there is no reactor running", "Cannot start a runtime from within a runtime", "Cannot drop a runtime in a context"],
            r"^(?<message>there is no reactor running|Cannot start a runtime from within a runtime|Cannot drop a runtime in a context)",
        )
        .near(2, 0, r"panicked at (?<file>[^\s:]+):(?<line>\d+):(?<column>\d+)")
        .say(Priority::High, 0.7, "Repair {file} at line {line}: {message}")
        .say(Priority::Medium, 0.6, "Make the caller async (or start one runtime at the top), and drop what is not `Send` before an await; then check again.")
        .call("cargo_check", json!({}))
}

fn dependency() -> Draft {
    draft(
        "rust-cargo-dependency",
        Category::Dependencies,
        Severity::High,
        &[Language::Rust],
        "A Rust crate is missing or does not fit",
    )
    .because("Cargo cannot find a crate, a version or a feature, or the code uses a crate that Cargo.toml does not list.")
    .find(&["no matching package"], r"error: no matching packages? named `(?<package>[^`]+)` found")
    .find(&["failed to select a version for"], r"^error: failed to select a version for (?:the requirement )?`(?<package>[\w-]+)")
    .near(0, 6, r"depends on `[^`]+` with feature `(?<feature>[^`]+)`")
    .find(&["does not have that feature", "does not have feature", "does not have these features"], r"`(?<package>[\w-]+)` does not have (?:that feature|feature `(?<feature>[^`]+)`|these features)")
    .find(&["--locked was passed", "--frozen was passed"], r"^error: .*because --(?:locked|frozen) was passed")
    .find(&["unlinked crate `"], r"use of unresolved module or unlinked crate `(?<package>[^`]+)`")
    .near(6, 0, ARROW)
    .find(&["can't find crate for"], r"error\[E0463\]: can't find crate for `(?<package>[^`]+)`")
    .near(0, 3, ARROW)
    .find(&["failed to load source for dependency", "failed to get `", "Unable to update registry"], r"^error: (?:failed to get `(?<package>[^`]+)` as a dependency|failed to load source for dependency)")
    .say(Priority::High, 0.8, "List {package} in Cargo.toml (`cargo add {package}`), or correct its name, version or features.")
    .say(Priority::Medium, 0.6, "Check again; without --locked cargo writes the lock file anew.")
    .call("cargo_check", json!({}))
}
