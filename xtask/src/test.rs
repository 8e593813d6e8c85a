//! `cargo xtask test`: everything that CI checks.

use std::process::Command;

use crate::sh::{self, Done, has, target, top};
use crate::{compare, conformance, debian, r#gen, guests, node, python, shipped, soak, tidy, tools};

/// Installs what the tests need, then formatting, lints, tests. `fast` leaves out what needs the network.
pub(crate) fn run_all(fast: bool) -> Done<Vec<String>> {
    let mut skipped = Vec::new();
    skipped.extend(debian::install());
    if !has("git") {
        return Err("git is missing: install it (Debian: apt-get install git)".into());
    }
    if !fast {
        for project in [
            node::TOKENS,
            node::CLIENTS,
            node::DEVTOOLS,
            node::MANAGERS,
            node::DESIGN,
            node::STORYBOOK,
            node::UPSTREAMS,
        ] {
            let installed = project.install();
            installed
                .map_err(|why| format!("the npm packages that tests use could not be installed: {why}"))?;
        }
        for project in [python::CLIENTS, python::DEVTOOLS] {
            let installed = project.install();
            installed
                .map_err(|why| format!("the Python packages that tests use could not be installed: {why}"))?;
        }
        python::sources().map_err(|why| format!("the sources of Python packages that tests use: {why}"))?;
        tools::AUDIT.at_hand().map_err(|why| format!("cargo-audit, which a tool runs: {why}"))?;
    }
    sh::run("cargo", &["fmt", "--all", "--check"])?;
    sh::run("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])?;
    tidy::run()?;
    // A build without WebAssembly is what some want: it stays one that compiles.
    sh::run("cargo", &["check", "-p", "gatewright", "--no-default-features", "--quiet"])?;
    skipped.extend(guests::build()?);
    sh::run("cargo", &["build", "--workspace", "--quiet"])?;
    skipped.extend(tests()?);
    shipped::practised(&target().join("debug/gatewright").display().to_string(), false)?;
    soak::kills::run(&target().join("debug/gatewright"), soak::FEW)?;
    if !fast {
        match soak::scans::possible() {
            None => soak::scans::run(&target().join("debug/gatewright"), soak::FEW_SCANS)?,
            Some(why) => skipped.push(format!("scans again and again ({why})")),
        }
    }
    r#gen::run(true)?;
    if fast {
        skipped.push(
            "the conformance suite, the comparison with the peers, cargo-deny and the book (--fast)"
                .to_owned(),
        );
    } else {
        let fixtures =
            ["clippy", "-p", "gatewright", "--features", "conformance", "--quiet", "--", "-D", "warnings"];
        sh::run("cargo", &fixtures)?;
        conformance::run()?;
        compare::run(true)?;
        let deny = tools::DENY.program()?.display().to_string();
        sh::run(&deny, &["--offline", "check", "bans", "licenses", "sources"])?;
        // Advisories come from a repository that not every machine reaches.
        if sh::output(&deny, &["fetch", "db"]).is_ok() {
            sh::run(&deny, &["--offline", "check", "advisories"])?;
        } else {
            skipped.push("advisories of dependencies: their database cannot be fetched here".to_owned());
        }
        let book = target().join("book").display().to_string();
        sh::run(&tools::MDBOOK.program()?.display().to_string(), &["build", "docs", "--dest-dir", &book])?;
    }
    Ok(skipped)
}

/// Every test; what they had to leave out on this machine they write into a file, which is returned.
fn tests() -> Done<Vec<String>> {
    let skips = target().join("skips.txt");
    let _ = std::fs::remove_file(&skips);
    // One failure in an early crate must not hide those of the later ones: a whole run costs half an hour.
    let args = ["test", "--workspace", "--no-fail-fast", "--quiet", "--", "--test-threads", "4"];
    sh::step(
        "cargo",
        Command::new("cargo").args(args).current_dir(top()).env("GATEWRIGHT_SKIPS", &skips),
        &args,
    )?;
    let text = std::fs::read_to_string(&skips).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines.dedup();
    Ok(lines)
}

pub(crate) fn run(fast: bool) -> Done {
    let skipped = run_all(fast)?;
    println!("\nAll checks passed; {} parts skipped.", skipped.len());
    for part in skipped {
        println!("  SKIPPED: {part}");
    }
    Ok(())
}
