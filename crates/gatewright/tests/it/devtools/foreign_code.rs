//! Code of packages runs as policy says: its user is asked in both eras and at the terminal, and a rule of the user's own allows it.

use std::io::Read as _;

use serde_json::{Value, json};

use super::choices::sent;
use super::packages::{marked, of_registry, of_registry_and, project, served};
use super::{Bench, python_deps};
use crate::Place;
use crate::confirm::{at_terminal, round};
use crate::remote::Remote;
use crate::secure::{Answer, Ask, Secure};
use crate::wire::Wire;

const MARKED: &str =
    "{ \"name\": \"shop\", \"version\": \"1.0.0\", \"dependencies\": { \"marked\": \"1\" } }\n";

/// What a client of the older era is asked, and what it gets for its answer.
fn older(bench: &Bench, tool: &str, arguments: &Value, action: &str) -> (Value, Value) {
    let mut command = bench.command();
    let mut wire = Wire::greeted(command.args(["serve", "--toolsets", "all"]), &json!({ "elicitation": {} }));
    let params = json!({ "name": tool, "arguments": arguments });
    wire.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string());
    let question = wire.receive();
    assert_eq!(question["method"], "elicitation/create", "{question:#}");
    let answer = json!({ "action": action, "content": {} });
    wire.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
    (question["params"]["message"].clone(), wire.receive()["result"].clone())
}

#[test]
fn scripts_of_packages_run_once_their_user_agrees_in_both_eras_and_at_the_terminal() {
    let place = Place::new();
    let server = served(&place, marked(), |_| None);
    let bench = project(MARKED);
    of_registry(&bench, &server);
    let ran = || bench.read("node_modules/marked/own.txt").is_some();
    let arguments = json!({ "scripts": true, "apply": true });

    // To be rehearsed it takes nobody's consent: nothing runs then.
    let mut session = bench.serve();
    let rehearsed = session.ok("nodejs_install_deps", json!({ "scripts": true }));
    assert_eq!((&rehearsed["status"], ran()), (&json!("proposed"), false), "{rehearsed:#}");
    // Nobody to ask: the next call, with the plan.
    let fault = session.fails("nodejs_install_deps", arguments.clone());
    assert_eq!(fault["code"], "confirmation_required", "{fault:#}");
    let next = fault["suggestions"][0].as_str().unwrap();
    assert!(next.contains("\"apply\": true, \"plan\": \"plan_"), "{next}");
    assert!(!ran() && bench.read("package-lock.json").is_none());
    let quiet = json!({ "apply": true, "plan": rehearsed["plan"]["id"] });
    let other = session.fails("nodejs_install_deps", quiet);
    assert_eq!(
        other["code"], "invalid_argument",
        "a plan of other arguments is none of this call: {other:#}"
    );

    let (text, declined) = older(&bench, "nodejs_install_deps", &arguments, "decline");
    let text = text.as_str().unwrap();
    assert!(text.contains("create package-lock.json") && text.contains("code of packages runs"), "{text}");
    assert!(declined.to_string().contains("said no") && !ran(), "{declined:#}");

    let remote = Remote::start(&bench.place);
    let ask = |back: &Value| round(&remote, "nodejs_install_deps", &arguments, back).message();
    let state = |asked: &Value| asked["result"]["requestState"].clone();
    let first = ask(&json!({}));
    assert!(
        first["result"]["inputRequests"]["confirm"]["params"]["message"]
            .as_str()
            .unwrap()
            .contains("code of packages"),
        "{first:#}"
    );
    assert!(ask(&sent(&state(&first), "decline", &json!({}))).to_string().contains("said no"));
    assert!(!ran());
    let accepted = ask(&sent(&state(&ask(&json!({}))), "accept", &json!({})));
    assert_eq!(accepted["result"]["structuredContent"]["status"], "completed", "{accepted:#}");
    assert!(ran(), "{accepted:#}");
    remote.finish();
    let records = bench.place.json(&["audit", "tail", "--output", "json"]);
    let last = records.as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("it runs code of packages, the user agreed"), "{last}");

    let words = ["call", "nodejs_install_deps", "--scripts", "--apply"];
    std::fs::remove_dir_all(bench.path("node_modules")).unwrap();
    let Some(shown) = at_terminal(&bench.place, &words, "n\n") else { return };
    assert!(shown.contains("code of packages runs") && shown.contains("said no") && !ran(), "{shown}");
    let shown = at_terminal(&bench.place, &words, "y\n").unwrap();
    assert!(ran(), "{shown}");
}

#[test]
fn scripts_of_packages_run_unasked_as_the_named_plan_or_by_a_rule_of_the_users_and_never_by_the_projects() {
    let place = Place::new();
    let server = served(&place, marked(), |_| None);
    let bench = project(MARKED);
    of_registry(&bench, &server);
    let ran = || bench.read("node_modules/marked/own.txt").is_some();
    let rule =
        "[[policy.rules]]\ntools = [\"nodejs_install_deps\"]\nforeign-code = true\ndecision = \"allow\"\n";
    bench.put("gatewright.toml", rule);
    let mut session = bench.serve();
    let fault = session.fails("nodejs_install_deps", json!({ "scripts": true, "apply": true }));
    assert_eq!(fault["code"], "confirmation_required", "a project allows nothing: {fault:#}");
    let plan =
        fault["suggestions"][0].as_str().unwrap().split('"').find(|word| word.starts_with("plan_")).unwrap();
    let done = session.ok("nodejs_install_deps", json!({ "scripts": true, "apply": true, "plan": plan }));
    assert_eq!((&done["success"], ran()), (&json!(true), true), "{done:#}");

    std::fs::remove_dir_all(bench.path("node_modules")).unwrap();
    of_registry_and(&bench, &server, rule);
    let done = bench.serve().ok("nodejs_install_deps", json!({ "scripts": true, "apply": true }));
    assert_eq!((&done["success"], ran()), (&json!(true), true), "{done:#}");
    of_registry_and(&bench, &server, &rule.replace("allow", "forbid"));
    let fault = bench.serve().fails("nodejs_install_deps", json!({ "scripts": true, "apply": true }));
    assert_eq!(fault["code"], "forbidden", "{fault:#}");
    let quiet = bench.serve().ok("nodejs_install_deps", json!({ "apply": true }));
    assert_eq!(quiet["success"], true, "the rule is of code alone: {quiet:#}");
}

/// A source distribution that builds itself, without any package, and says by what it makes that its code ran.
fn sources() -> Vec<u8> {
    let backend = "import os, zipfile\n\nNAME = 'brew-1.0.0'\nABOUT = 'Metadata-Version: 2.1\\nName: brew\\nVersion: 1.0.0\\n'\n\n\ndef build_wheel(folder, config_settings=None, metadata_directory=None):\n    name = NAME + '-py3-none-any.whl'\n    with zipfile.ZipFile(os.path.join(folder, name), 'w') as wheel:\n        wheel.writestr('brewed.py', 'BUILT = True\\n')\n        wheel.writestr(NAME + '.dist-info/METADATA', ABOUT)\n        wheel.writestr(NAME + '.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: brew\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n        wheel.writestr(NAME + '.dist-info/RECORD', 'brewed.py,,\\n' + NAME + '.dist-info/METADATA,,\\n' + NAME + '.dist-info/WHEEL,,\\n' + NAME + '.dist-info/RECORD,,\\n')\n    return name\n";
    let manifest = "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n\n[project]\nname = \"brew\"\nversion = \"1.0.0\"\n";
    let about = "Metadata-Version: 2.1\nName: brew\nVersion: 1.0.0\n";
    let mut archive =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, text) in [("PKG-INFO", about), ("pyproject.toml", manifest), ("backend.py", backend)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, format!("brew-1.0.0/{name}"), text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

/// A registry by the simple API (PEP 503) that has nothing but these sources.
fn brewery(ask: &Ask) -> Answer {
    match ask.path.as_str() {
        "/simple/brew/" => {
            let page = "<!DOCTYPE html><html><body><a href=\"/files/brew-1.0.0.tar.gz\">brew-1.0.0.tar.gz</a></body></html>";
            (200, "text/html", page.as_bytes().to_vec())
        }
        "/files/brew-1.0.0.tar.gz" => (200, "application/octet-stream", sources()),
        _ => (404, "text/plain", b"not found".to_vec()),
    }
}

#[test]
fn a_source_distribution_is_built_once_its_user_agrees_or_a_rule_of_the_users_allows_it() {
    let mut read = Vec::new();
    flate2::read::GzDecoder::new(sources().as_slice()).read_to_end(&mut read).unwrap();
    assert!(!read.is_empty());
    let manifest = "[project]\nname = \"shop\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"brew\"]\n";
    let files = [("pip/requirements.txt", "brew==1.0.0\n"), ("uv/pyproject.toml", manifest)];
    let Some((bench, _)) = python_deps::serve(&files) else { return };
    let place = Place::new();
    let server = Secure::serve(&place, brewery);
    let registry = format!(
        "{}[registries]\npython = {{ url = \"https://{}/simple/\" }}\n[limits]\ndetach-after = 900\n",
        server.configuration(),
        server.host
    );
    bench.place.configure(&registry);
    let built = |of: &str| {
        let lib = bench.path(&format!("{of}/.venv/lib"));
        let versions = std::fs::read_dir(lib).into_iter().flatten().flatten();
        versions.into_iter().any(|version| version.path().join("site-packages/brewed.py").is_file())
    };
    let mut session = bench.serve();
    let refused = session.ok("python_install_deps", json!({ "directory": "pip", "apply": true }));
    assert_eq!(
        (&refused["success"], &refused["sdistsRefused"]),
        (&json!(false), &json!(["brew"])),
        "{refused:#}"
    );

    // Resolving may build already: consent is wanted before anything runs, also for a rehearsal.
    let before = server.asked().len();
    for apply in [false, true] {
        let arguments = json!({ "directory": "pip", "build": true, "apply": apply });
        let fault = session.fails("python_install_deps", arguments);
        assert_eq!(fault["code"], "confirmation_required", "{fault:#}");
        assert!(
            fault["suggestions"][0].as_str().unwrap().contains("gatewright call python_install_deps"),
            "{fault:#}"
        );
    }
    assert_eq!((server.asked().len(), built("pip")), (before, false), "nobody was asked, and nothing ran");

    let arguments = json!({ "directory": "pip", "build": true, "apply": true });
    let (text, declined) = older(&bench, "python_install_deps", &arguments, "decline");
    assert!(text.as_str().unwrap().contains("Code of packages runs before there is a plan"), "{text}");
    assert!(declined.to_string().contains("said no") && !built("pip"), "{declined:#}");
    let (_, done) = older(&bench, "python_install_deps", &arguments, "accept");
    let told = &done["structuredContent"];
    assert_eq!((&told["success"], &told["installed"]["packages"]), (&json!(true), &json!(1)), "{done:#}");
    assert!(built("pip"), "{done:#}");

    let rule = "[[policy.rules]]\ntools = [\"python_*\"]\nforeign-code = true\ndecision = \"allow\"\n";
    bench.place.configure(&format!("{registry}{rule}"));
    let done = bench.serve().ok(
        "python_install_deps",
        json!({ "directory": "uv", "packageManager": "uv", "build": true, "apply": true }),
    );
    assert_eq!((&done["success"], built("uv")), (&json!(true), true), "{done:#}");
}
