//! Weaknesses of Python code and packages, with the real bandit and the real pip-audit.

use serde_json::{Value, json};

use super::python::with_programs;
use super::{Bench, Session};
use crate::Place;
use crate::secure::{Answer, Ask, Secure};

const SHELL: &str =
    "import subprocess\n\n\ndef show(name):\n    return subprocess.call('ls ' + name, shell=True)\n";

const PINNED: &str = "requests==2.19.0\nsix==1.16.0\n";

fn serve(files: &[(&str, &str)]) -> Option<(Bench, Session)> {
    let bench = with_programs(Bench::new(files))?;
    let session = bench.serve();
    Some((bench, session))
}

fn rules(result: &Value) -> Vec<&str> {
    result["diagnostics"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|found| found["rule"].as_str())
        .collect()
}

#[test]
fn python_security_finds_weak_code_by_its_severity_and_keeps_it_as_sarif() {
    let files = [("app.py", SHELL), (".venv/x.py", SHELL), ("clean/good.py", "X = 1\n")];
    let Some((bench, mut session)) = serve(&files) else { return };
    let all = session.ok("python_security", json!({ "tool": "bandit" }));
    assert_eq!((all["success"].as_bool(), rules(&all)), (Some(false), vec!["B602", "B404"]), "{all:#}");
    let shell = &all["diagnostics"][0];
    assert_eq!(
        (&shell["file"], &shell["line"], &shell["severity"]),
        (&json!("app.py"), &json!(5), &json!("error")),
        "{all:#}"
    );
    let high = session.ok("python_security", json!({ "tool": "bandit", "severity": "high" }));
    assert_eq!(rules(&high), ["B602"], "{high:#}");
    let clean = session.ok("python_security", json!({ "tool": "bandit", "directory": "clean" }));
    assert_eq!((&clean["success"], &clean["data"]), (&json!(true), &Value::Null), "{clean:#}");
    let kept = session.ok("python_security", json!({ "tool": "bandit", "format": "sarif" }));
    assert!(kept["report"].as_str().unwrap().starts_with("report_"), "{kept:#}");
    let text = session.ok("python_security", json!({ "tool": "bandit", "format": "json" }));
    assert!(text["message"].as_str().unwrap().starts_with('{'), "{text:#}");
    for input in [
        json!({ "tool": "bandit", "fix": true }),
        json!({ "args": ["-v"] }),
        json!({ "tool": "bandit", "args": ["-o", "/tmp/x"] }),
        json!({ "tool": "pip-audit", "args": ["--index-url", "http://evil"] }),
    ] {
        assert_eq!(session.fails("python_security", input.clone())["code"], "invalid_argument", "{input}");
    }
    assert!(bench.git(&["status", "--porcelain"]).is_empty());
}

/// An API of advisories (ossf.github.io/osv-schema, google.github.io/osv.dev/post-v1-query) that knows one of one package.
fn advisories(ask: &Ask) -> Answer {
    let is_requests = String::from_utf8_lossy(&ask.body).contains("2.19.0");
    let known = json!({ "vulns": [{
        "id": "GHSA-x84v-xcm2-53pg", "aliases": ["CVE-2018-18074"], "summary": "Sends credentials to another host.",
        "affected": [{
            "package": { "name": "requests", "ecosystem": "PyPI" },
            "ranges": [{ "type": "ECOSYSTEM", "events": [{ "introduced": "0" }, { "fixed": "2.20.0" }] }],
        }],
    }] });
    let body = if is_requests { known.to_string() } else { "{}".to_owned() };
    (200, "application/json", body.into_bytes())
}

#[test]
fn known_vulnerabilities_come_from_whom_the_user_names_and_are_fixed_by_a_plan() {
    let Some((bench, _)) = serve(&[
        ("requirements.txt", PINNED),
        ("clean/requirements.txt", "six==1.16.0\n"),
        ("loose/requirements.txt", "six==1.16.0\nattrs>=2\n"),
    ]) else {
        return;
    };
    let place = Place::new();
    let server = Secure::serve(&place, advisories);
    let osv = format!("[registries]\nosv = {{ url = \"https://{}/v1/query\" }}\n", server.host);
    bench.place.configure(&format!("{}{osv}", server.configuration()));
    let mut session = bench.serve();
    let found = session.ok("python_security", json!({ "tool": "pip-audit" }));
    let advisory = &found["advisories"][0];
    assert_eq!(
        (&found["success"], &advisory["package"], &advisory["installed"], &advisory["fixedIn"]),
        (&json!(false), &json!("requests"), &json!("2.19.0"), &json!(["2.20.0"])),
        "{found:#}"
    );
    assert_eq!(advisory["ids"], json!(["CVE-2018-18074", "GHSA-x84v-xcm2-53pg"]), "{found:#}");
    assert_eq!(
        (&found["data"]["state"], &found["data"]["packages"]),
        (&json!("complete"), &json!(2)),
        "{found:#}"
    );
    assert_eq!(found["runs"][0]["reached"], json!([server.host]), "{found:#}");
    assert_eq!(found["plan"]["effects"], json!([]), "{found:#}");
    let clean = session.ok("python_security", json!({ "tool": "pip-audit", "directory": "clean" }));
    assert_eq!(clean["success"], true, "{clean:#}");
    assert!(
        clean["message"].as_str().unwrap().starts_with("No known vulnerability in 1 packages"),
        "{clean:#}"
    );
    let loose = session.ok("python_security", json!({ "tool": "pip-audit", "directory": "loose" }));
    assert_eq!(
        (&loose["data"]["state"], &loose["data"]["unknown"]),
        (&json!("partial"), &json!(["attrs>=2"])),
        "{loose:#}"
    );
    assert!(!loose["message"].as_str().unwrap().contains("No known"), "{loose:#}");
    let fixed = session.ok("python_security", json!({ "tool": "pip-audit", "fix": true }));
    assert!(fixed["plan"]["diff"].as_str().unwrap().contains("+requests==2.20.0"), "{fixed:#}");
}

#[test]
fn what_nobody_answered_is_not_known_and_never_safe() {
    let Some((bench, mut session)) = serve(&[("requirements.txt", PINNED), ("none/a.py", "X = 1\n")]) else {
        return;
    };
    let none = session.ok("python_security", json!({ "tool": "pip-audit", "directory": "none" }));
    assert_eq!((&none["success"], &none["data"]["state"]), (&json!(false), &json!("none")), "{none:#}");
    assert!(none["message"].as_str().unwrap().starts_with("Not known:"), "{none:#}");
    // A registry of one's own: PyPI is not told what is in it.
    bench.place.configure("[registries]\npython = { url = \"https://python.example/simple\" }\n");
    let own = bench.serve().ok("python_security", json!({ "tool": "pip-audit" }));
    assert_eq!((&own["data"]["state"], &own["runs"]), (&json!("none"), &Value::Null), "{own:#}");
    // A service that fails.
    let place = Place::new();
    let server = Secure::serve(&place, |_| (503, "text/plain", b"no".to_vec()));
    let osv = format!("[registries]\nosv = {{ url = \"https://{}/v1/query\" }}\n", server.host);
    bench.place.configure(&format!("{}{osv}", server.configuration()));
    let failed = bench.serve().ok("python_security", json!({ "tool": "pip-audit" }));
    assert_eq!((&failed["success"], &failed["data"]["state"]), (&json!(false), &json!("none")), "{failed:#}");
    assert!(failed["message"].as_str().unwrap().starts_with("Not known:"), "{failed:#}");
}

#[test]
fn pypi_is_asked_where_it_can_be_and_its_silence_is_told() {
    let Some((bench, _)) = serve(&[("requirements.txt", PINNED)]) else { return };
    // Registries of some machines are mirrors at addresses that are not public, and have no advisories.
    bench.place.configure("[security]\nprivate-hosts = [\"pypi.org\"]\n");
    let asked = bench.serve().ok("python_security", json!({ "tool": "pip-audit" }));
    if asked["runs"][0]["reached"].as_array().is_none_or(Vec::is_empty) {
        crate::skip("pypi.org (a network)");
        return;
    }
    let known = asked["data"]["state"] != "none";
    let message = asked["message"].as_str().unwrap();
    assert_eq!(known, !message.starts_with("Not known:"), "{asked:#}");
    assert!(known || asked["success"] == false, "{asked:#}");
    if known {
        assert!(asked["advisories"].to_string().contains("CVE-2018-18074"), "{asked:#}");
    }
}
