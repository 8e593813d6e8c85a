//! Large repositories, made by `git fast-import`: the same ones every time.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::samples::timed;
use crate::sh::Done;

/// Commits and files of the history.
pub(super) const COMMITS: usize = 20_000;
pub(super) const FILES: usize = 5_000;

/// Files of the monorepo: those that are kept, and those of dependencies that are not.
pub(super) const KEPT: usize = 60_000;
pub(super) const IGNORED: usize = 40_000;

/// One of the history's files that few commits touch.
pub(super) fn seldom() -> String {
    path(FILES / 2)
}

fn path(file: usize) -> String {
    format!("src/d{:02}/f{file:04}.rs", file / 50)
}

/// A file of the history, as commit number `commit` leaves it.
fn text(file: usize, commit: usize) -> String {
    let line = |number: usize| format!("fn f{file}_{number}() -> u32 {{ {} }}\n", file * number);
    (0..30)
        .map(|number| if number == commit % 30 { format!("// commit {commit}\n") } else { line(number) })
        .collect()
}

/// Makes `dir` a repository of what `write` says to fast-import, checked out.
fn imported(dir: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Done {
    timed(dir, &["git", "init", "--quiet", "--initial-branch=main"])?;
    let io = |e: std::io::Error| format!("git fast-import: {e}");
    let mut child = Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(dir)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(io)?;
    let mut input = BufWriter::new(child.stdin.take().ok_or("git fast-import takes no input")?);
    write(&mut input).and_then(|()| input.flush()).map_err(io)?;
    drop(input);
    let status = child.wait().map_err(io)?;
    if !status.success() {
        return Err(format!("git fast-import ({status})"));
    }
    timed(dir, &["git", "reset", "--quiet", "--hard"]).map(drop)
}

fn commit(out: &mut dyn Write, number: usize) -> std::io::Result<()> {
    let (who, when) = (number % 12, 1_600_000_000 + number * 600);
    let message = format!("Change number {number}\n\nIt was time.\n");
    write!(out, "commit refs/heads/main\ncommitter Dev {who} <dev{who}@example.com> {when} +0000\n")?;
    write!(out, "data {}\n{message}", message.len())
}

fn file(out: &mut dyn Write, path: &str, text: &str) -> std::io::Result<()> {
    write!(out, "M 100644 inline {path}\ndata {}\n{text}\n", text.len())
}

/// [`COMMITS`] commits in a row over [`FILES`] files, each of which changes two; a work tree with some changes.
pub(super) fn history(dir: &Path) -> Done {
    imported(dir, |out| {
        commit(out, 0)?;
        for number in 0..FILES {
            file(out, &path(number), &text(number, 0))?;
        }
        for number in 1..COMMITS {
            commit(out, number)?;
            for step in [7, 13] {
                let touched = number * step % FILES;
                file(out, &path(touched), &text(touched, number))?;
            }
        }
        Ok(())
    })?;
    let put = |name: &str, text: &str| fs::write(dir.join(name), text).map_err(|e| format!("{name}: {e}"));
    for number in 0..10 {
        put(&path(number * 100), "changed\n")?;
        put(&format!("new-{number}.txt"), "new\n")?;
    }
    Ok(())
}

/// A monorepo of Node, Go and Python packages, [`KEPT`] files in sixty of them, and [`IGNORED`] in `node_modules`.
pub(super) fn monorepo(dir: &Path) -> Done {
    imported(dir, |out| {
        commit(out, 0)?;
        file(out, ".gitignore", "node_modules/\n__pycache__/\n")?;
        file(
            out,
            "package.json",
            r#"{ "name": "shop", "private": true, "workspaces": ["web/*"], "devDependencies": { "eslint": "9", "typescript": "5" } }"#,
        )?;
        file(out, "Makefile", ".PHONY: build test\nbuild:\n\tgo build ./...\ntest:\n\tgo test ./...\n")?;
        let (packages, each) = (60, KEPT / 60);
        for package in 0..packages {
            let (folder, ending, manifest, text) = match package % 3 {
                0 => (
                    format!("web/p{package}"),
                    "ts",
                    "package.json",
                    format!("{{ \"name\": \"p{package}\", \"dependencies\": {{ \"react\": \"19\" }} }}"),
                ),
                1 => (
                    format!("services/p{package}"),
                    "go",
                    "go.mod",
                    format!("module example.com/p{package}\n\ngo 1.23\n"),
                ),
                _ => (
                    format!("lib/p{package}"),
                    "py",
                    "pyproject.toml",
                    format!(
                        "[project]\nname = \"p{package}\"\ndependencies = [\"httpx\"]\n[tool.pytest.ini_options]\n"
                    ),
                ),
            };
            file(out, &format!("{folder}/{manifest}"), &text)?;
            for number in 1..each {
                let name = format!("{folder}/src/d{:02}/f{number:03}.{ending}", number / 50);
                file(out, &name, &format!("a file of package {package}, number {number}\n"))?;
            }
        }
        Ok(())
    })?;
    let io = |e: std::io::Error| format!("{}: {e}", dir.display());
    for module in 0..IGNORED / 100 {
        let place = dir.join(format!("node_modules/m{module}/lib"));
        fs::create_dir_all(&place).map_err(io)?;
        fs::write(dir.join(format!("node_modules/m{module}/package.json")), "{}").map_err(io)?;
        for number in 1..100 {
            fs::write(place.join(format!("{number}.js")), "module.exports = 1;\n").map_err(io)?;
        }
    }
    Ok(())
}
