//! Environments, packages and builds of Python: uv, pip, poetry and the real registry, through the door.

use std::io::{Cursor, Write as _};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::python::with_programs;
use super::{Bench, Session};
use crate::Place;
use crate::secure::{Answer, Ask, Secure};

/// Registries of some machines are mirrors at addresses that are not public.
const REACHED: &str = "[limits]\ndetach-after = 900\n[devtools]\ntimeout = 600000\n[security]\nprivate-hosts = [\"pypi.org\", \"files.pythonhosted.org\"]\n";

pub(super) fn serve(files: &[(&str, &str)]) -> Option<(Bench, Session)> {
    let ignored = [(".gitignore", ".venv/\nvenv-*/\ndist/\n")];
    let files: Vec<(&str, &str)> = files.iter().chain(&ignored).copied().collect();
    let bench = with_programs(Bench::new(&files))?;
    bench.place.configure(REACHED);
    let session = bench.serve();
    Some((bench, session))
}

/// Whether the call reached a registry; where it did not, that is said loudly.
pub(super) fn reached(result: &Value) -> bool {
    let runs = result["runs"].as_array().into_iter().flatten();
    let any = runs.flat_map(|run| run["reached"].as_array().into_iter().flatten()).next().is_some();
    if !any {
        crate::skip("pypi.org (a network)");
    }
    any
}

pub(super) const PROJECT: &str = "[project]\nname = \"shop\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"six>=1.15,<1.17\"]\n\n[dependency-groups]\ndev = [\"iniconfig==2.0.0\"]\n";

#[test]
fn python_venv_makes_describes_and_removes_an_environment() {
    let Some((bench, mut session)) =
        serve(&[("a.py", "X = 1\n"), ("kept/a.py", "X = 1\n"), ("open/a.py", "\n")])
    else {
        return;
    };
    assert_eq!(session.fails("python_venv", json!({}))["code"], "not_found");
    let planned = session.ok("python_venv", json!({ "action": "create" }));
    assert!(
        planned["message"].as_str().unwrap().starts_with("`.venv` would be made with Python 3."),
        "{planned:#}"
    );
    assert!(!bench.path(".venv").exists(), "a rehearsal makes nothing");
    let made =
        session.ok("python_venv", json!({ "action": "create", "systemSitePackages": true, "apply": true }));
    assert_eq!(made["success"], true, "{made:#}");
    assert!(bench.path(".venv/bin/python").exists(), "{made:#}");
    let info = session.ok("python_venv", json!({ "action": "info" }));
    let venv = &info["venvs"][0];
    assert_eq!((&venv["systemSitePackages"], &venv["problem"]), (&json!(true), &Value::Null), "{info:#}");
    assert!(venv["packages"].to_string().contains("pip "), "{info:#}");
    let again = session.fails("python_venv", json!({ "action": "create", "apply": true }));
    assert_eq!(again["code"], "conflict", "{again:#}");
    let cleared = session.ok("python_venv", json!({ "action": "create", "clear": true, "apply": true }));
    assert_eq!(cleared["success"], true, "{cleared:#}");
    assert_eq!(session.ok("python_venv", json!({}))["venvs"][0]["systemSitePackages"], false);
    let other = session.ok(
        "python_venv",
        json!({ "action": "create", "venvPath": "venv-x", "directory": "kept", "apply": true }),
    );
    assert_eq!(other["success"], true, "{other:#}");
    let listed = session.ok("python_venv", json!({ "action": "list" }));
    let paths: Vec<&str> =
        listed["venvs"].as_array().unwrap().iter().map(|v| v["path"].as_str().unwrap()).collect();
    assert_eq!(paths, [".venv", "kept/venv-x"], "{listed:#}");
    let gone = session.ok("python_venv", json!({ "action": "delete", "apply": true }));
    assert!(gone["success"] == true && !bench.path(".venv").exists(), "{gone:#}");
    for (input, code) in [
        (json!({ "action": "delete" }), "not_found"),
        (json!({ "action": "create", "venvPath": "../x" }), "path_not_allowed"),
        (json!({ "action": "create", "venvPath": "kept" }), "conflict"),
        (json!({ "action": "create", "python": "/tmp/python" }), "invalid_argument"),
        (json!({ "action": "create", "python": "2.7" }), "invalid_argument"),
    ] {
        assert_eq!(session.fails("python_venv", input.clone())["code"], code, "{input}");
    }
    let tracked =
        session.ok("python_venv", json!({ "action": "create", "venvPath": "open/venv", "apply": true }));
    assert_eq!(tracked["success"], false, "{tracked:#}");
    assert!(
        !bench.path("open/venv").exists() && tracked["message"].as_str().unwrap().contains(".gitignore"),
        "{tracked:#}"
    );
}

#[test]
fn python_install_deps_locks_with_uv_as_a_plan_and_installs_once_it_stands() {
    let Some((bench, mut session)) = serve(&[("pyproject.toml", PROJECT), ("app.py", "import six\n")]) else {
        return;
    };
    let input = json!({ "packageManager": "uv" });
    let planned = session.ok("python_install_deps", input.clone());
    if !reached(&planned) {
        return;
    }
    assert_eq!((&planned["success"], &planned["manager"]), (&json!(true), &json!("uv")), "{planned:#}");
    assert!(planned["plan"]["effects"][0].as_str().unwrap().starts_with("create uv.lock"), "{planned:#}");
    assert!(planned["lock"]["added"].to_string().contains("six 1.16.0"), "{planned:#}");
    assert!(!bench.path(".venv").exists() && !bench.path("uv.lock").exists());
    let plan = planned["plan"]["id"].clone();
    let mut apply = input.clone();
    apply["plan"] = plan;
    apply["apply"] = json!(true);
    let done = session.ok("python_install_deps", apply);
    assert_eq!((&done["success"], &done["installed"]["packages"]), (&json!(true), &json!(2)), "{done:#}");
    assert!(bench.read("uv.lock").is_some_and(|lock| lock.contains("six")), "{done:#}");
    assert!(bench.path(".venv/bin/python").exists(), "{done:#}");
    let info = session.ok("python_venv", json!({}));
    assert!(info["venvs"][0]["packages"].to_string().contains("six 1.16.0"), "{info:#}");
    assert_eq!(info["venvs"][0]["problem"], Value::Null, "{info:#}");
    let frozen = session.ok("python_install_deps", json!({ "frozen": true, "dev": false, "apply": true }));
    assert_eq!((&frozen["success"], &frozen["plan"]["effects"]), (&json!(true), &json!([])), "{frozen:#}");
    let info = session.ok("python_venv", json!({}));
    assert!(!info["venvs"][0]["packages"].to_string().contains("iniconfig"), "without dev: {info:#}");
    bench.put("pyproject.toml", &PROJECT.replace("six>=1.15,<1.17", "six>=1.15,<1.16"));
    let stale = session.fails("python_install_deps", json!({ "frozen": true }));
    assert_eq!(stale["code"], "tool_execution_failed", "{stale:#}");
    bench.put("pyproject.toml", &PROJECT.replace("six>=1.15,<1.17", "six>=1.17,<1.16"));
    let conflict = session.fails("python_install_deps", json!({}));
    assert_eq!(conflict["code"], "tool_execution_failed", "{conflict:#}");
}

#[test]
fn python_install_deps_installs_with_pip_and_names_what_would_have_to_be_built() {
    // `docopt` was only ever published as sources.
    let files = [
        ("requirements.txt", "six==1.16.0\n"),
        ("requirements-dev.txt", "iniconfig==2.0.0\n"),
        ("sources/requirements.txt", "docopt==0.6.2\n"),
    ];
    let Some((bench, mut session)) = serve(&files) else { return };
    let done = session.ok("python_install_deps", json!({ "apply": true }));
    if !reached(&done) {
        return;
    }
    assert_eq!((&done["success"], &done["manager"]), (&json!(true), &json!("pip")), "{done:#}");
    assert_eq!(done["installed"], json!({ "venv": ".venv", "packages": 2 }), "{done:#}");
    assert!(done["lock"]["added"].to_string().contains("six 1.16.0"), "{done:#}");
    let info = session.ok("python_venv", json!({}));
    assert!(info["venvs"][0]["packages"].to_string().contains("six 1.16.0"), "{info:#}");
    let sources = session.ok("python_install_deps", json!({ "directory": "sources", "apply": true }));
    assert_eq!(
        (&sources["success"], &sources["sdistsRefused"]),
        (&json!(false), &json!(["docopt"])),
        "{sources:#}"
    );
    assert!(!bench.path("sources/.venv").exists(), "{sources:#}");
    let unknown = session.fails("python_install_deps", json!({ "packageManager": "conda" }));
    assert_eq!(unknown["code"], "invalid_argument", "{unknown:#}");
}

#[test]
fn python_install_deps_asks_nobody_but_the_registries() {
    let hostile = "[project]\nname = \"x\"\nversion = \"1\"\nrequires-python = \">=3.9\"\ndependencies = [\"six\"]\n\n[[tool.uv.index]]\nurl = \"https://evil.example/simple\"\ndefault = true\n";
    let Some((_bench, mut session)) = serve(&[("pyproject.toml", hostile)]) else { return };
    let fault = session.fails("python_install_deps", json!({ "packageManager": "uv" }));
    assert_eq!(fault["code"], "tool_execution_failed", "{fault:#}");
    assert!(fault["suggestions"].to_string().contains("evil.example"), "{fault:#}");
}

#[test]
fn python_install_deps_locks_and_installs_with_poetry() {
    let manifest = "[project]\nname = \"shop\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"six (==1.16.0)\"]\n\n[tool.poetry]\npackage-mode = false\n\n# Mirrors of PyPI have the simple API, and seldom the other.\n[[tool.poetry.source]]\nname = \"simple\"\nurl = \"https://pypi.org/simple/\"\npriority = \"primary\"\n";
    let Some((bench, mut session)) = serve(&[("pyproject.toml", manifest)]) else { return };
    let planned = session.ok("python_install_deps", json!({ "packageManager": "poetry" }));
    if !reached(&planned) {
        return;
    }
    assert!(planned["plan"]["effects"].to_string().contains("poetry.lock"), "{planned:#}");
    let done = session.ok("python_install_deps", json!({ "packageManager": "poetry", "apply": true }));
    assert_eq!((&done["success"], &done["installed"]["venv"]), (&json!(true), &json!(".venv")), "{done:#}");
    let info = session.ok("python_venv", json!({}));
    assert!(info["venvs"][0]["packages"].to_string().contains("six 1.16.0"), "{info:#}");
    assert!(bench.path(".venv/bin/python").exists(), "{done:#}");
}

#[test]
fn python_update_deps_says_what_could_move_and_moves_it_as_far_as_is_asked() {
    let Some((bench, mut session)) =
        serve(&[("pyproject.toml", &PROJECT.replace("six>=1.15,<1.17", "six==1.15.0"))])
    else {
        return;
    };
    let locked = session.ok("python_install_deps", json!({ "packageManager": "uv", "apply": true }));
    if !reached(&locked) {
        return;
    }
    // Now the manifest allows more than the lock has.
    bench.put("pyproject.toml", PROJECT);
    let check = session.ok("python_update_deps", json!({}));
    let step = json!([{ "name": "six", "from": "1.15.0", "to": "1.16.0", "kind": "minor" }]);
    assert_eq!((&check["outdated"], &check["plan"]["effects"]), (&step, &json!([])), "{check:#}");
    let patch = session.ok("python_update_deps", json!({ "mode": "update-patch", "packages": ["six"] }));
    assert_eq!((&patch["outdated"], &patch["held"]), (&json!([]), &json!(["six"])), "{patch:#}");
    let dry = session.ok("python_update_deps", json!({ "mode": "update-minor", "dryRun": true }));
    assert_eq!((&dry["outdated"], &dry["plan"]["effects"]), (&step, &json!([])), "{dry:#}");
    let choices = session.ok("python_update_deps", json!({ "mode": "update-minor", "interactive": true }));
    assert!(choices["message"].as_str().unwrap().contains("as `packages`"), "{choices:#}");
    let moved = session
        .ok("python_update_deps", json!({ "mode": "update-minor", "packages": ["six"], "apply": true }));
    assert_eq!(moved["lock"]["changed"], step, "{moved:#}");
    assert!(bench.read("uv.lock").unwrap().contains("1.16.0"), "{moved:#}");
    let none = session.ok("python_update_deps", json!({ "mode": "update-major" }));
    assert_eq!(none["outdated"], json!([]), "the range forbids it, and is not widened: {none:#}");
    assert_eq!(session.fails("python_update_deps", json!({ "packages": ["nobody"] }))["code"], "not_found");
}

#[test]
fn python_update_deps_moves_what_poetry_locks() {
    let manifest = |six: &str| {
        format!(
            "[project]\nname = \"shop\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"six ({six})\", \"iniconfig (==1.1.1)\"]\n\n[tool.poetry]\npackage-mode = false\n\n[[tool.poetry.source]]\nname = \"simple\"\nurl = \"https://pypi.org/simple/\"\npriority = \"primary\"\n"
        )
    };
    let Some((bench, mut session)) = serve(&[("pyproject.toml", &manifest("==1.15.0"))]) else { return };
    let locked = session.ok("python_install_deps", json!({ "packageManager": "poetry", "apply": true }));
    if !reached(&locked) {
        return;
    }
    bench.put("pyproject.toml", &manifest(">=1.15,<1.17"));
    let step = json!([{ "name": "six", "from": "1.15.0", "to": "1.16.0", "kind": "minor" }]);
    let check = session.ok("python_update_deps", json!({}));
    assert_eq!((&check["manager"], &check["outdated"]), (&json!("poetry"), &step), "{check:#}");
    assert_eq!(check["plan"]["effects"], json!([]), "{check:#}");
    let patch = session.fails("python_update_deps", json!({ "mode": "update-patch" }));
    assert_eq!(patch["code"], "invalid_argument", "{patch:#}");
    let moved = session
        .ok("python_update_deps", json!({ "mode": "update-major", "packages": ["six"], "apply": true }));
    assert_eq!(moved["lock"]["changed"], step, "{moved:#}");
    assert!(bench.read("poetry.lock").unwrap().contains("version = \"1.16.0\""), "{moved:#}");
}

#[test]
fn python_build_makes_a_wheel_and_sources_without_network() {
    let manifest = "[build-system]\nrequires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n\n[project]\nname = \"shop\"\nversion = \"0.1.0\"\n";
    let files = [
        ("pyproject.toml", manifest),
        ("shop/__init__.py", "X = 1\n"),
        (
            "broken/pyproject.toml",
            "[build-system]\nrequires = []\nbuild-backend = \"nowhere\"\n\n[project]\nname = \"b\"\nversion = \"1\"\n",
        ),
    ];
    let Some((bench, mut session)) = serve(&files) else { return };
    let built = session.ok("python_build", json!({ "noBuildIsolation": true }));
    let artifacts = built["artifacts"].as_array().unwrap();
    let paths: Vec<&str> = artifacts.iter().map(|artifact| artifact["path"].as_str().unwrap()).collect();
    assert_eq!(paths[0], "dist/shop-0.1.0.tar.gz", "{built:#}");
    assert!(paths[1].ends_with("-none-any.whl") && paths.len() == 2, "{built:#}");
    assert_eq!(artifacts[0]["sha256"].as_str().map(str::len), Some(64), "{built:#}");
    assert!(bench.path("dist/shop-0.1.0.tar.gz").is_file(), "what is ignored is kept: {built:#}");
    assert_eq!(built["runs"][0]["reached"], Value::Null, "{built:#}");
    let wheel = session.ok(
        "python_build",
        json!({ "sdist": false, "outdir": "out", "noBuildIsolation": true, "skipDependencyCheck": true }),
    );
    assert_eq!(wheel["artifacts"].as_array().map(Vec::len), Some(1), "{wheel:#}");
    assert!(
        wheel["plan"]["effects"][0].as_str().unwrap().starts_with("create out/shop-0.1.0-py"),
        "{wheel:#}"
    );
    let broken = session.fails("python_build", json!({ "directory": "broken", "noBuildIsolation": true }));
    assert_eq!(broken["code"], "tool_execution_failed", "{broken:#}");
    assert!(broken["message"].as_str().unwrap().contains("nowhere"), "{broken:#}");
    assert_eq!(
        session.fails("python_build", json!({ "sdist": false, "wheel": false }))["code"],
        "invalid_argument"
    );
    assert_eq!(session.fails("python_build", json!({ "outdir": "/tmp/x" }))["code"], "invalid_argument");
    let isolated = session.ok("python_build", json!({ "wheel": false, "directory": "" }));
    if reached(&isolated) {
        assert_eq!(isolated["artifacts"].as_array().map(Vec::len), Some(1), "{isolated:#}");
    }
}

/// A wheel of `greet` (packaging.python.org, "Binary distribution format").
pub(super) fn wheel(version: &str) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let below = format!("greet-{version}.dist-info");
    for (name, text) in [
        ("greet/__init__.py".to_owned(), "HELLO = 'hello'\n".to_owned()),
        (format!("{below}/METADATA"), format!("Metadata-Version: 2.1\nName: greet\nVersion: {version}\n")),
        (
            format!("{below}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned(),
        ),
        (
            format!("{below}/RECORD"),
            format!("greet/__init__.py,,\n{below}/METADATA,,\n{below}/WHEEL,,\n{below}/RECORD,,\n"),
        ),
    ] {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A registry by the simple API (PEP 503) that has one package.
fn packages(ask: &Ask) -> Answer {
    match ask.path.as_str() {
        "/simple/greet/" => {
            let page = "<!DOCTYPE html><html><body><a href=\"/files/greet-1.2.0-py3-none-any.whl\">greet-1.2.0-py3-none-any.whl</a></body></html>";
            (200, "text/html", page.as_bytes().to_vec())
        }
        "/files/greet-1.2.0-py3-none-any.whl" => (200, "application/octet-stream", wheel("1.2.0")),
        _ => (404, "text/plain", b"not found".to_vec()),
    }
}

#[test]
fn packages_of_python_come_from_the_registry_that_the_user_names() {
    let manifest = "[project]\nname = \"shop\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"greet\"]\n";
    let files = [
        ("uv/pyproject.toml", manifest),
        ("pip/requirements.txt", "greet==1.2.0\n"),
        ("pipenv/Pipfile", "[packages]\ngreet = \"*\"\n"),
        ("gone/requirements.txt", "nobody==1\n"),
    ];
    let Some((bench, _)) = serve(&files) else { return };
    let place = Place::new();
    let server = Secure::serve(&place, packages);
    let registry = format!("[registries]\npython = {{ url = \"https://{}/simple/\" }}\n", server.host);
    bench.place.configure(&format!("{}{registry}[limits]\ndetach-after = 900\n", server.configuration()));
    let mut session = bench.serve();
    for manager in ["uv", "pip", "pipenv"] {
        let input = json!({ "directory": manager, "packageManager": manager, "apply": true });
        let done = session.ok("python_install_deps", input);
        assert_eq!(done["success"], true, "{manager}: {done:#}");
        // Environments of pipenv's have pip, too.
        let many = done["installed"]["packages"].as_u64();
        assert!(many == Some(1) || (manager == "pipenv" && many > Some(1)), "{manager}: {done:#}");
        for run in done["runs"].as_array().unwrap() {
            let reached = run["reached"].as_array().cloned().unwrap_or_default();
            assert!(reached.iter().all(|host| *host == json!(server.host)), "{manager}: {done:#}");
        }
        let info = session.ok("python_venv", json!({ "directory": manager }));
        assert!(info["venvs"][0]["packages"].to_string().contains("greet 1.2.0"), "{manager}: {info:#}");
    }
    assert!(server.asked().iter().any(|ask| ask.path.ends_with(".whl")), "{:?}", server.asked());
    let gone = session.ok("python_install_deps", json!({ "directory": "gone" }));
    assert_eq!((&gone["success"], &gone["sdistsRefused"]), (&json!(false), &json!(["nobody"])), "{gone:#}");
}
