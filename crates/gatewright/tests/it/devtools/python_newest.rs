//! Versions beyond what a manifest allows, as each manager of Python knows them, from a registry of this machine.

use serde_json::{Value, json};

use super::python_deps::{serve, wheel};
use super::{Bench, Session};
use crate::Place;
use crate::secure::{Answer, Ask, Secure};

/// What the registry has: a release candidate is the last, and newest for nobody who did not ask for one.
const VERSIONS: [&str; 4] = ["1.2.0", "1.3.0", "2.0.0", "3.0.0rc1"];

fn packages(ask: &Ask) -> Answer {
    let below = |version: &str| format!("greet-{version}-py3-none-any.whl");
    if ask.path == "/simple/greet/" {
        let links = VERSIONS.map(|version| format!("<a href=\"/files/{0}\">{0}</a>", below(version)));
        let page = format!("<!DOCTYPE html><html><body>{}</body></html>", links.concat());
        return (200, "text/html", page.into_bytes());
    }
    let asked = VERSIONS.iter().find(|version| ask.path == format!("/files/{}", below(version)));
    match asked {
        Some(version) => (200, "application/octet-stream", wheel(version)),
        None => (404, "text/plain", b"not found".to_vec()),
    }
}

/// The manifest of a manager that wants `greet` so; poetry is told of registries by its manifest alone.
fn manifest(manager: &str, host: &str, range: &str) -> (String, String) {
    let project = format!(
        "[project]\nname = \"shop\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"greet{range}\"]\n"
    );
    match manager {
        "uv" => ("uv/pyproject.toml".to_owned(), project),
        "poetry" => (
            "poetry/pyproject.toml".to_owned(),
            format!(
                "{project}\n[tool.poetry]\npackage-mode = false\n\n[[tool.poetry.source]]\nname = \"simple\"\nurl = \"https://{host}/simple/\"\npriority = \"primary\"\n"
            ),
        ),
        _ => ("pipenv/Pipfile".to_owned(), format!("[packages]\ngreet = \"{range}\"\n")),
    }
}

/// A session whose registry is the server; the place holds that one's certificate.
fn served() -> Option<(Bench, Session, Secure, Place)> {
    let files = [("uv/.keep", ""), ("poetry/.keep", ""), ("pipenv/.keep", "")];
    let (bench, _) = serve(&files)?;
    let place = Place::new();
    let server = Secure::serve(&place, packages);
    let registry = format!("[registries]\npython = {{ url = \"https://{}/simple/\" }}\n", server.host);
    bench.place.configure(&format!("{}{registry}[limits]\ndetach-after = 900\n", server.configuration()));
    let session = bench.serve();
    Some((bench, session, server, place))
}

#[test]
fn python_update_deps_names_what_is_newer_than_the_manifest_allows() {
    let Some((bench, mut session, server, _place)) = served() else { return };
    for manager in ["uv", "poetry", "pipenv"] {
        let write = |range: &str| {
            let (path, text) = manifest(manager, &server.host, range);
            bench.put(&path, &text);
        };
        write("==1.2.0");
        let input = json!({ "directory": manager, "packageManager": manager, "apply": true });
        let done = session.ok("python_install_deps", input);
        assert_eq!(done["success"], true, "{manager}: {done:#}");
        let still = session.ok("python_update_deps", json!({ "directory": manager }));
        assert_eq!((&still["manager"], &still["outdated"]), (&json!(manager), &json!([])), "{still:#}");
        let row = json!([{ "name": "greet", "current": "1.2.0", "wanted": "1.2.0", "latest": "2.0.0", "kind": "major" }]);
        assert_eq!((&still["beyond"], &still["unknown"]), (&row, &Value::Null), "{still:#}");
        assert!(still["message"].as_str().unwrap().contains("newest 2.0.0"), "{still:#}");
        write(">=1,<2");
        let step = json!([{ "name": "greet", "from": "1.2.0", "to": "1.3.0", "kind": "minor" }]);
        let row = json!([{ "name": "greet", "current": "1.2.0", "wanted": "1.3.0", "latest": "2.0.0", "kind": "major" }]);
        for input in [json!({}), json!({ "mode": "update-major", "dryRun": true, "packages": ["greet"] })] {
            let mut input = input;
            input["directory"] = json!(manager);
            let check = session.ok("python_update_deps", input);
            assert_eq!((&check["outdated"], &check["beyond"]), (&step, &row), "{manager}: {check:#}");
            assert_eq!(check["plan"]["effects"], json!([]), "{manager}: {check:#}");
        }
        write(">=1");
        let none = session.ok("python_update_deps", json!({ "directory": manager }));
        assert_eq!((&none["outdated"][0]["to"], &none["beyond"]), (&json!("2.0.0"), &json!([])), "{none:#}");
        // Whoever is at a candidate is told of candidates.
        if manager == "pipenv" {
            write("==3.0.0rc1");
            let early = session.ok("python_update_deps", json!({ "directory": manager }));
            assert_eq!((&early["beyond"], &early["unknown"]), (&json!([]), &Value::Null), "{early:#}");
        }
    }
}

#[test]
fn a_newest_version_that_nobody_could_tell_is_unknown_and_not_the_locked_one() {
    let Some((bench, mut session, server, _place)) = served() else { return };
    // Another index may have another package of this name.
    let two = format!(
        "[[source]]\nurl = \"https://pypi.org/simple\"\nname = \"pypi\"\nverify_ssl = true\n\n[[source]]\nurl = \"https://{}/other\"\nname = \"other\"\nverify_ssl = true\n\n[packages]\ngreet = \"==1.2.0\"\n",
        server.host
    );
    bench.put("pipenv/Pipfile", &two);
    let done = session.ok("python_install_deps", json!({ "directory": "pipenv", "apply": true }));
    assert_eq!(done["success"], true, "{done:#}");
    let check = session.ok("python_update_deps", json!({ "directory": "pipenv" }));
    assert_eq!(
        (&check["success"], &check["beyond"], &check["unknown"]),
        (&json!(true), &Value::Null, &json!(["greet"])),
        "{check:#}"
    );
    assert!(check["message"].as_str().unwrap().contains("other indexes"), "{check:#}");
}
