//! pipenv: locks, environments and what it is not let do, with the real program and the real registry, through the door.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::python_deps::{reached, serve};

const SOURCE: &str = "[[source]]\nurl = \"https://pypi.org/simple\"\nverify_ssl = true\nname = \"pypi\"\n\n";

/// A Pipfile with these packages and these of development.
fn pipfile(packages: &str, dev: &str) -> String {
    format!("{SOURCE}[packages]\n{packages}\n\n[dev-packages]\n{dev}\n")
}

const SIX: &str = "six = \">=1.15,<1.17\"";
const INICONFIG: &str = "iniconfig = \"==2.0.0\"";

#[test]
fn python_install_deps_locks_with_pipenv_as_a_plan_and_installs_once_it_stands() {
    let first = pipfile(SIX, INICONFIG);
    let Some((bench, mut session)) =
        serve(&[("Pipfile", &first), ("lean/Pipfile", &first), ("bare/a.py", "X = 1\n")])
    else {
        return;
    };
    let planned = session.ok("python_install_deps", json!({}));
    if !reached(&planned) {
        return;
    }
    assert_eq!((&planned["success"], &planned["manager"]), (&json!(true), &json!("pipenv")), "{planned:#}");
    let effects = planned["plan"]["effects"].as_array().unwrap();
    assert!(
        effects.len() == 1 && effects[0].as_str().unwrap().starts_with("create Pipfile.lock"),
        "{planned:#}"
    );
    assert!(planned["lock"]["added"].to_string().contains("six 1.16.0"), "{planned:#}");
    assert!(!bench.path(".venv").exists() && !bench.path("Pipfile.lock").exists(), "{planned:#}");
    let done = session.ok("python_install_deps", json!({ "plan": planned["plan"]["id"], "apply": true }));
    assert_eq!((&done["success"], &done["installed"]["venv"]), (&json!(true), &json!(".venv")), "{done:#}");
    assert!(done["installed"]["packages"].as_u64().is_some_and(|many| many >= 2), "{done:#}");
    assert!(bench.read("Pipfile.lock").is_some_and(|lock| lock.contains("==1.16.0")), "{done:#}");
    let info = session.ok("python_venv", json!({}));
    let packages = info["venvs"][0]["packages"].to_string();
    assert!(packages.contains("six 1.16.0") && packages.contains("iniconfig 2.0.0"), "{info:#}");
    assert_eq!(info["venvs"][0]["problem"], Value::Null, "{info:#}");
    // A lock that stands is left as it is, although six could move now.
    let loose = session.ok("python_install_deps", json!({}));
    assert_eq!((&loose["success"], &loose["plan"]["effects"]), (&json!(true), &json!([])), "{loose:#}");
    assert!(loose["runs"][0]["command"].as_str().unwrap().ends_with("pipenv verify"), "{loose:#}");
    let frozen = session.ok("python_install_deps", json!({ "frozen": true, "packageManager": "pipenv" }));
    assert_eq!((&frozen["success"], &frozen["plan"]["effects"]), (&json!(true), &json!([])), "{frozen:#}");
    let lean = session.ok("python_install_deps", json!({ "directory": "lean", "dev": false, "apply": true }));
    assert_eq!(lean["installed"]["venv"], "lean/.venv", "pipenv has its own: {lean:#}");
    let info = session.ok("python_venv", json!({ "directory": "lean" }));
    let packages = info["venvs"][0]["packages"].to_string();
    assert!(packages.contains("six 1.16.0") && !packages.contains("iniconfig"), "without dev: {info:#}");
    bench.put("Pipfile", &pipfile("six = \">=1.15,<1.16\"", INICONFIG));
    let stale = session.fails("python_install_deps", json!({ "frozen": true }));
    assert_eq!(stale["code"], "tool_execution_failed", "{stale:#}");
    assert!(stale["message"].as_str().unwrap().contains("out-of-date"), "{stale:#}");
    bench.put("Pipfile", &pipfile("six = \">=1.17,<1.16\"", INICONFIG));
    let conflict = session.fails("python_install_deps", json!({}));
    assert_eq!(conflict["code"], "tool_execution_failed", "no sources would help: {conflict:#}");
    assert!(conflict["message"].as_str().unwrap().contains("six"), "{conflict:#}");
    let bare =
        session.fails("python_install_deps", json!({ "directory": "bare", "packageManager": "pipenv" }));
    assert_eq!(bare["code"], "not_found", "{bare:#}");
}

#[test]
fn nothing_of_a_pipfile_is_built_unless_that_is_asked_for() {
    // `docopt` was only ever published as sources; the project's own setup.py would run when it is resolved.
    let setup =
        "open('ran.txt', 'w').write('x')\nfrom setuptools import setup\nsetup(name='own', version='1')\n";
    let hostile = r#"{"_meta": {"hash": {"sha256": "0"}, "pipfile-spec": 6, "requires": {}, "sources": []}, "default": {"six": {"version": "==1.16.0 @ ./own"}}, "develop": {}}"#;
    let files = [
        ("sources/Pipfile", &*pipfile("docopt = \"==0.6.2\"", "")),
        ("own/Pipfile", &pipfile("own = {path = \".\", editable = true}", "")),
        ("own/setup.py", setup),
        ("locked/Pipfile", &pipfile(SIX, "")),
        ("locked/Pipfile.lock", hostile),
    ];
    // Another resolver builds what it asks about; a lock's entry may have pip build; a path is a program, and so is another environment's.
    let runs = "#!/bin/sh\necho x > \"$(dirname \"$0\")/ran.txt\"\nexec python3 \"$@\"\n";
    let no_binary = hostile.replace("==1.16.0 @ ./own\"", "==1.16.0\", \"no_binary\": true");
    let more = [
        (
            "backend/Pipfile",
            &*format!(
                "{}[pipenv]\nresolver_backend = \"pure-python\"\n",
                pipfile("docopt = \"==0.6.2\"", "")
            ),
        ),
        ("binary/Pipfile", &pipfile(SIX, "")),
        ("binary/Pipfile.lock", &no_binary),
        ("requires/Pipfile", &format!("{}[requires]\npython_version = \"tools/evil\"\n", pipfile(SIX, ""))),
        ("requires/tools/evil", runs),
        ("elsewhere/Pipfile", &pipfile(SIX, "")),
        ("elsewhere/.venv", "tools/env"),
        ("elsewhere/tools/env/bin/python", runs),
    ];
    let files: Vec<(&str, &str)> = files.iter().chain(&more).map(|(name, text)| (*name, *text)).collect();
    let Some((bench, mut session)) = serve(&files) else { return };
    for program in ["requires/tools/evil", "elsewhere/tools/env/bin/python"] {
        std::fs::set_permissions(bench.path(program), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for directory in ["requires", "elsewhere"] {
        for tool in ["python_install_deps", "python_update_deps"] {
            let refused = session.fails(tool, json!({ "directory": directory }));
            assert_eq!(refused["code"], "invalid_argument", "{refused:#}");
        }
    }
    assert!(!bench.dirt().contains("ran.txt"));
    let built =
        [("own", "own"), ("locked", "six"), ("backend", "[pipenv] resolver_backend"), ("binary", "six")];
    for (directory, named) in built {
        let refused = session.ok("python_install_deps", json!({ "directory": directory, "apply": true }));
        assert_eq!(
            (&refused["success"], &refused["sdistsRefused"], &refused["manager"]),
            (&json!(false), &json!([named]), &json!("pipenv")),
            "{refused:#}"
        );
        assert!(!bench.path(&format!("{directory}/.venv")).exists(), "{refused:#}");
        let update = session.fails("python_update_deps", json!({ "directory": directory }));
        assert_eq!(update["code"], "invalid_argument", "{update:#}");
    }
    assert!(!bench.path("own/ran.txt").exists());
    let sources = session.ok("python_install_deps", json!({ "directory": "sources", "apply": true }));
    if !reached(&sources) {
        return;
    }
    assert_eq!(
        (&sources["success"], &sources["sdistsRefused"]),
        (&json!(false), &json!(["docopt"])),
        "{sources:#}"
    );
    assert!(!bench.path("sources/.venv").exists() && !bench.path("sources/Pipfile.lock").exists());
}

#[test]
fn pipenv_asks_nobody_but_the_registries() {
    let hostile = "[[source]]\nurl = \"https://evil.example/simple\"\nverify_ssl = true\nname = \"evil\"\n\n[packages]\nsix = \"*\"\n";
    let trusting = SOURCE.replace("= true", "= false");
    let Some((_bench, mut session)) = serve(&[("Pipfile", hostile), ("trusting/Pipfile", &trusting)]) else {
        return;
    };
    for tool in ["python_install_deps", "python_update_deps"] {
        let fault = session.fails(tool, json!({}));
        assert_eq!(fault["code"], "tool_execution_failed", "{fault:#}");
        assert!(fault["suggestions"].to_string().contains("evil.example"), "{fault:#}");
        let fault = session.fails(tool, json!({ "directory": "trusting" }));
        assert_eq!(fault["code"], "invalid_argument", "{fault:#}");
        assert!(
            fault["message"].as_str().unwrap().contains("no https source whose certificate is verified"),
            "{fault:#}"
        );
    }
}

#[test]
fn python_update_deps_moves_what_pipenv_locks_and_no_lock_is_left_that_does_not_hold() {
    let old = pipfile("six = \"==1.15.0\"", "iniconfig = \"==1.1.1\"");
    let Some((bench, mut session)) = serve(&[("Pipfile", &old)]) else { return };
    let locked = session.ok("python_install_deps", json!({ "apply": true }));
    if !reached(&locked) {
        return;
    }
    bench.put("Pipfile", &pipfile(SIX, "iniconfig = \">=1.1.1,<2.1\""));
    let six = json!({ "name": "six", "from": "1.15.0", "to": "1.16.0", "kind": "minor" });
    let iniconfig = json!({ "name": "iniconfig", "from": "1.1.1", "to": "2.0.0", "kind": "major" });
    let check = session.ok("python_update_deps", json!({}));
    assert_eq!(
        (&check["manager"], &check["outdated"], &check["plan"]["effects"]),
        (&json!("pipenv"), &json!([iniconfig, six]), &json!([])),
        "{check:#}"
    );
    let beyond: Vec<&Value> = check["beyond"].as_array().unwrap().iter().collect();
    let rows: Vec<_> = beyond.iter().map(|row| (&row["name"], &row["current"], &row["wanted"])).collect();
    let (one, two) = (
        (json!("iniconfig"), json!("1.1.1"), json!("2.0.0")),
        (json!("six"), json!("1.15.0"), json!("1.16.0")),
    );
    assert_eq!(rows, [(&one.0, &one.1, &one.2), (&two.0, &two.1, &two.2)], "{check:#}");
    for mode in ["update-patch", "update-minor"] {
        let bounded = session.fails("python_update_deps", json!({ "mode": mode }));
        assert_eq!(bounded["code"], "invalid_argument", "{bounded:#}");
    }
    let dry = session
        .ok("python_update_deps", json!({ "mode": "update-major", "packages": ["six"], "dryRun": true }));
    assert_eq!((&dry["outdated"], &dry["plan"]["effects"]), (&json!([six]), &json!([])), "{dry:#}");
    let choices = session.ok("python_update_deps", json!({ "mode": "update-major", "interactive": true }));
    assert!(choices["message"].as_str().unwrap().contains("as `packages`"), "{choices:#}");
    let moved = session
        .ok("python_update_deps", json!({ "mode": "update-major", "packages": ["six"], "apply": true }));
    assert_eq!((&moved["lock"]["changed"], &moved["beyond"]), (&json!([six]), &Value::Null), "{moved:#}");
    let lock = bench.read("Pipfile.lock").unwrap();
    assert!(lock.contains("==1.16.0") && lock.contains("==1.1.1"), "{lock}");
    let rest = session.ok("python_update_deps", json!({ "mode": "update-major", "apply": true }));
    assert_eq!(rest["lock"]["changed"], json!([iniconfig]), "{rest:#}");
    assert_eq!(session.fails("python_update_deps", json!({ "packages": ["nobody"] }))["code"], "not_found");
    // requests 2.19.1 needs chardet, which its newest does not: pipenv would take that out of the lock.
    bench.put("Pipfile", &pipfile("requests = \"==2.19.1\"\nsix = \"==1.15.0\"", ""));
    session.ok("python_install_deps", json!({ "apply": true }));
    bench.put("Pipfile", &pipfile("requests = \">=2.19.1\"\nsix = \">=1.15.0\"", ""));
    let unsound = session.fails("python_update_deps", json!({ "mode": "update-major", "packages": ["six"] }));
    assert_eq!(unsound["code"], "tool_execution_failed", "{unsound:#}");
    assert!(unsound["message"].as_str().unwrap().contains("chardet"), "{unsound:#}");
    let all = session.ok("python_update_deps", json!({ "mode": "update-major" }));
    assert!(all["lock"]["removed"].to_string().contains("chardet 3.0.4"), "{all:#}");
}
