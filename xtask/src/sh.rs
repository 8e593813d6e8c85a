//! Running programs and saying what was run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A chore's result; the error is for people.
pub(crate) type Done<T = ()> = Result<T, String>;

/// The workspace's top.
pub(crate) fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    // As cargo has it when it is run at the top: an absolute one stays.
    top().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Runs a program in the workspace and fails when it fails.
pub(crate) fn run(program: &str, args: &[&str]) -> Done {
    step(program, Command::new(program).args(args).current_dir(top()), args)
}

/// Runs a prepared command.
pub(crate) fn step(program: &str, command: &mut Command, args: &[&str]) -> Done {
    let shown = format!("{program} {}", args.join(" "));
    println!("\n▶ {shown}");
    let began = Instant::now();
    let status = command.status().map_err(|e| format!("{program} could not be started: {e}"))?;
    println!("  {:.1} s", began.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(format!("✗ {shown} ({status})")) }
}

/// What a program prints, when it succeeds.
pub(crate) fn output(program: &str, args: &[&str]) -> Done<String> {
    let out = Command::new(program)
        .args(args)
        .current_dir(top())
        .output()
        .map_err(|e| format!("{program} could not be started: {e}"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    Err(format!("{program} {}: {}", args.join(" "), String::from_utf8_lossy(&out.stderr)))
}

/// Whether a program is there.
pub(crate) fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}
