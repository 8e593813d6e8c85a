//! The project's own interpreter: an environment in the root, and what is not taken for one.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::python::with_programs;
use super::{Bench, installed};

/// What pytest and its coverage need.
const PACKAGES: [&str; 9] =
    ["py", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "coverage", "pytest_cov"];

/// An environment in the root that has pytest, as `python -m venv` makes it.
fn with_venv(files: &[(&str, &str)]) -> Option<Bench> {
    let programs = installed("the Python tools", "python/devtools/bin")?;
    let ignored = [(".gitignore", ".venv/\n")];
    let files: Vec<(&str, &str)> = files.iter().chain(&ignored).copied().collect();
    let bench = Bench::new(&files);
    let venv = bench.path(".venv");
    let made = Command::new(programs.join("python3"))
        .args(["-m", "venv", "--without-pip"])
        .arg(&venv)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let own = site(&venv);
    let theirs = site(programs.parent().unwrap());
    for entry in std::fs::read_dir(&theirs).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let stem = name.split(['-', '.']).next().unwrap().to_lowercase();
        if PACKAGES.contains(&stem.as_str()) {
            let copied = Command::new("cp").arg("-a").arg(entry.path()).arg(&own).output().unwrap();
            assert!(copied.status.success());
        }
    }
    with_programs(bench)
}

fn site(venv: &Path) -> std::path::PathBuf {
    let lib = std::fs::read_dir(venv.join("lib")).unwrap().flatten().next().unwrap().path();
    lib.join("site-packages")
}

const INSIDE: &str = "import sys\n\n\ndef test_inside():\n    assert sys.prefix.endswith('.venv'), sys.prefix\n    assert sys.executable.endswith('.venv/bin/python'), sys.executable\n";

#[test]
fn programs_of_the_environment_run_by_its_interpreter_and_find_it() {
    let Some(bench) = with_venv(&[("test_inside.py", INSIDE), ("sub/test_inside.py", INSIDE)]) else {
        return;
    };
    let mut session = bench.serve();
    let ran = session.ok("python_test", json!({ "testPath": "test_inside.py" }));
    assert_eq!(ran["success"], true, "{ran:#}");
    assert!(
        ran["runs"][0]["command"].as_str().unwrap().starts_with(".venv/bin/python -m pytest "),
        "{ran:#}"
    );
    let below = session.ok("python_test", json!({ "directory": "sub" }));
    assert_eq!(below["success"], true, "{below:#}");
    // What it does not have comes from the machine.
    let linted = session.ok("python_lint", json!({ "files": ["test_inside.py"] }));
    assert!(linted["runs"][0]["command"].as_str().unwrap().starts_with("ruff check "), "{linted:#}");
    let told = session.ok("python_version", json!({ "tool": "pytest" }));
    assert_eq!(told["tools"][0]["from"], ".venv", "{told:#}");
    let info = session.ok("python_project_info", json!({}));
    assert_eq!(
        (&info["venv"]["path"], &info["venv"]["problem"]),
        (&json!(".venv"), &json!(null)),
        "{info:#}"
    );
    let profiled = session.ok("python_profile", json!({ "command": "python -m pytest -q test_inside.py" }));
    assert_eq!(profiled["success"], true, "{profiled:#}");
}

#[test]
fn an_interpreter_that_is_a_file_of_the_repository_or_leads_to_one_is_refused_with_the_reason() {
    let Some(bench) = with_venv(&[("test_inside.py", INSIDE), ("evil/python3", "#!/bin/sh\ntouch marked\n")])
    else {
        return;
    };
    let evil = bench.path("evil/python3");
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).unwrap();
    let link = bench.path(".venv/bin/python");
    let elsewhere = tempfile::tempdir().unwrap();
    let stranger = elsewhere.path().join("python3");
    std::fs::copy("/bin/sh", &stranger).unwrap();
    let mut session = bench.serve();
    let mut refused = |why: &str| {
        let fault = session.fails("python_test", json!({}));
        assert_eq!(fault["code"], "forbidden", "{fault:#}");
        assert!(fault["message"].as_str().unwrap().contains(why), "{why}: {fault:#}");
        let info = session.ok("python_project_info", json!({}));
        assert!(info["venv"]["problem"].as_str().is_some_and(|told| told.contains(why)), "{info:#}");
    };
    std::fs::remove_file(&link).unwrap();
    std::fs::copy(&evil, &link).unwrap();
    refused("a file of the repository");
    for (target, why) in [
        (evil.as_path(), "leads to a file of the repository"),
        (Path::new("../../evil/python3"), "leads to a file of the repository"),
        (Path::new("/bin/sh"), "is no Python"),
        (stranger.as_path(), "lies neither beside an interpreter on the PATH"),
        (Path::new("/nowhere/python3"), "leads nowhere"),
    ] {
        std::fs::remove_file(&link).unwrap();
        symlink(target, &link).unwrap();
        refused(why);
    }
    // A folder of the environment that is a link leads elsewhere.
    let bin = bench.path(".venv/bin");
    std::fs::rename(&bin, bench.path(".venv/real")).unwrap();
    symlink("real", &bin).unwrap();
    refused("is no folder of the root");
    assert!(!bench.path("marked").exists());
}

#[test]
fn an_interpreter_that_is_swapped_by_what_runs_is_not_started() {
    let swaps = "import os, stat\n\n\ndef test_swaps():\n    os.remove('.venv/bin/python')\n    with open('.venv/bin/python', 'w') as file:\n        file.write('#!/bin/sh\\ntouch marked\\n')\n    os.chmod('.venv/bin/python', 0o755)\n";
    let Some(bench) = with_venv(&[("test_swaps.py", swaps)]) else { return };
    let before = std::fs::read_link(bench.path(".venv/bin/python")).unwrap();
    let mut session = bench.serve();
    let ran = session.ok("python_test", json!({ "coverage": true }));
    assert_eq!(ran["success"], true, "{ran:#}");
    assert!(ran["runs"][1]["command"].as_str().unwrap().contains("-m coverage json"), "{ran:#}");
    assert!(ran["coverage"]["percent"].as_f64().is_some(), "the real interpreter ran: {ran:#}");
    assert!(!ran["plan"]["effects"].to_string().contains("marked"), "{ran:#}");
    assert!(!bench.path("marked").exists());
    // What was swapped is ignored by the project, and persists as anything there would: then it is refused.
    if std::fs::read_link(bench.path(".venv/bin/python")).ok() != Some(before) {
        assert_eq!(session.fails("python_test", json!({}))["code"], "forbidden");
    }
}
