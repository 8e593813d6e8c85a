//! Packages of npm's registry: installed, updated and examined by the real managers, through the door.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use serde_json::{Value, json};

use super::{Bench, Session, installed};
use crate::Place;
use crate::secure::{Answer, Ask, Secure};

/// Registries of some machines are mirrors at addresses that are not public.
pub(super) const PUBLIC: &str =
    "[security]\nprivate-hosts = [\"registry.npmjs.org\", \"registry.yarnpkg.com\"]\n";

pub(super) const LIMITS: &str = "[limits]\ndetach-after = 900\n[devtools]\ntimeout = 600000\n";

pub(super) const MANIFEST: &str = "{ \"name\": \"shop\", \"version\": \"1.0.0\", \"license\": \"MIT\", \"dependencies\": { \"is-odd\": \"^3.0.0\" } }\n";

pub(super) fn project(manifest: &str) -> Bench {
    let bench = Bench::new(&[("package.json", manifest), (".gitignore", "node_modules/\n")]);
    bench.place.configure(&format!("{PUBLIC}{LIMITS}"));
    bench
}

/// With pnpm and yarn on the PATH, as a machine has them.
pub(super) fn managers(bench: Bench) -> Option<Bench> {
    Some(bench.with(installed("pnpm and yarn", "npm/devtools/node_modules/.bin")?))
}

/// Whether the registry was reached; where nothing is, nothing can be said.
pub(super) fn is_reached(told: &Value) -> bool {
    let is_reached = told["reached"].as_array().is_some_and(|hosts| !hosts.is_empty());
    if !is_reached {
        crate::skip(&format!("the registry of npm (a network): {told}"));
    }
    is_reached
}

pub(super) fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|entry| entry["name"].as_str()).collect()
}

#[test]
fn npm_locks_as_a_plan_and_installs_once_it_is_applied() {
    let bench = project(MANIFEST);
    let mut session = bench.serve();
    let rehearsed = session.ok("nodejs_install_deps", json!({}));
    if !is_reached(&rehearsed) {
        return;
    }
    assert_eq!(rehearsed["success"], true, "{rehearsed:#}");
    assert_eq!(rehearsed["status"], "proposed", "{rehearsed:#}");
    assert_eq!(rehearsed["manager"]["name"], "npm");
    assert_eq!(names(&rehearsed["lock"]["added"]), ["is-number", "is-odd"], "{rehearsed:#}");
    assert_eq!(rehearsed["reached"], json!(["registry.npmjs.org"]));
    let effects = rehearsed["plan"]["effects"].as_array().unwrap();
    assert!(effects.len() == 1 && effects[0].as_str().unwrap().contains("package-lock.json"), "{effects:?}");
    assert!(!bench.path("node_modules").exists() && !bench.path("package-lock.json").exists());

    let plan = rehearsed["plan"]["id"].clone();
    let applied = session.ok("nodejs_install_deps", json!({ "apply": true, "plan": plan }));
    assert_eq!(applied["success"], true, "{applied:#}");
    assert_eq!(applied["installed"], json!({ "folder": "node_modules", "packages": 2 }), "{applied:#}");
    assert_eq!(applied["sideWrites"]["paths"], json!(["node_modules/"]), "{applied:#}");
    assert_eq!(applied["runs"].as_array().unwrap().len(), 1, "the lock is not resolved again");
    assert_eq!(names(&applied["lock"]["added"]).len(), 2, "what was rehearsed is still told");
    assert!(bench.read("node_modules/is-odd/index.js").is_some());

    // Everything is there: frozen, it is checked, and nothing changes.
    let again = session.ok("nodejs_install_deps", json!({ "frozen": true, "apply": true }));
    assert_eq!((&again["success"], &again["plan"]["effects"]), (&json!(true), &json!([])), "{again:#}");
    assert!(bench.read("node_modules/is-number/index.js").is_some());

    bench.put("package.json", &MANIFEST.replace("^3.0.0", "^2.0.0"));
    let outdated = session.ok("nodejs_install_deps", json!({ "frozen": true, "apply": true }));
    assert_eq!((&outdated["success"], &outdated["code"]), (&json!(false), &json!("EUSAGE")), "{outdated:#}");
    assert_eq!(outdated["runs"].as_array().unwrap().len(), 1, "nothing was installed: {outdated:#}");
}

#[test]
fn pnpm_locks_as_a_plan_and_installs_once_it_is_applied() {
    let manifest = MANIFEST.replace("\"license\"", "\"packageManager\": \"pnpm@10.0.0\", \"license\"");
    let Some(bench) = managers(project(&manifest)) else { return };
    let mut session = bench.serve();
    let applied = session.ok("nodejs_install_deps", json!({ "apply": true }));
    if !is_reached(&applied) {
        return;
    }
    assert_eq!(applied["success"], true, "{applied:#}");
    assert_eq!(applied["manager"]["version"], "10.0.0", "{applied:#}");
    assert_eq!(applied["lock"]["file"], "pnpm-lock.yaml");
    assert_eq!(names(&applied["lock"]["added"]), ["is-number", "is-odd"], "{applied:#}");
    assert!(bench.read("node_modules/is-odd/index.js").is_some(), "its links are kept: {applied:#}");
    assert!(bench.path("node_modules/.pnpm/is-number@6.0.0").is_dir());
    assert!(bench.read("pnpm-lock.yaml").unwrap().contains("is-number@6.0.0"));

    bench.put("package.json", &manifest.replace("^3.0.0", "^2.0.0"));
    let outdated = session.ok("nodejs_install_deps", json!({ "frozen": true }));
    assert_eq!(outdated["code"], "ERR_PNPM_OUTDATED_LOCKFILE", "{outdated:#}");
    assert_eq!(outdated["success"], false);
}

#[test]
fn yarn_1_locks_as_a_plan_and_installs_once_it_is_applied() {
    let Some(bench) = managers(project(MANIFEST)) else { return };
    bench.put("yarn.lock", "# yarn lockfile v1\n\n");
    let mut session = bench.serve();
    let rehearsed = session.ok("nodejs_install_deps", json!({}));
    if !is_reached(&rehearsed) {
        return;
    }
    assert_eq!(names(&rehearsed["lock"]["added"]), ["is-number", "is-odd"], "{rehearsed:#}");
    assert_eq!(rehearsed["plan"]["effects"].as_array().unwrap().len(), 1, "{rehearsed:#}");
    let applied = session.ok("nodejs_install_deps", json!({ "apply": true }));
    assert_eq!(applied["success"], true, "{applied:#}");
    assert!(bench.read("node_modules/is-odd/index.js").is_some(), "{applied:#}");
    bench.put("package.json", &MANIFEST.replace("^3.0.0", "^2.0.0"));
    let outdated = session.ok("nodejs_install_deps", json!({ "frozen": true }));
    assert_eq!(outdated["success"], false, "{outdated:#}");
    assert!(outdated["message"].as_str().unwrap().contains("lockfile needs to be updated"), "{outdated:#}");
}

#[test]
fn what_git_does_not_ignore_is_not_installed_and_what_is_not_offered_is_said() {
    let bench = project(MANIFEST);
    bench.put(".gitignore", "dist/\n");
    let mut session = bench.serve();
    let applied = session.ok("nodejs_install_deps", json!({ "apply": true }));
    if is_reached(&applied) {
        assert_eq!(applied["success"], false, "{applied:#}");
        assert!(
            applied["message"].as_str().unwrap().contains("add `node_modules/` to .gitignore"),
            "{applied:#}"
        );
        assert!(!bench.path("node_modules").exists());
    }
    let bun = session.fails("nodejs_install_deps", json!({ "packageManager": "bun" }));
    assert_eq!(bun["code"], "tool_execution_failed", "{bun:#}");
    let nowhere = session.fails("nodejs_install_deps", json!({ "directory": "docs" }));
    assert_eq!(nowhere["code"], "not_found", "{nowhere:#}");
}

/// A registry of npm's with packages of one file: a name, a version, what else its manifest says.
pub(super) struct Shelf(pub(super) Vec<(&'static str, &'static str, Value)>);

impl Shelf {
    fn packed(name: &str, version: &str, more: &Value) -> Vec<u8> {
        let mut manifest = json!({ "name": name, "version": version });
        manifest.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut archive =
            tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        let mark = "require('fs').writeFileSync(process.env.INIT_CWD + '/marked.txt', 'x');\
                    require('fs').writeFileSync('own.txt', 'x')\n";
        for (name, text) in
            [("package/package.json", manifest.to_string()), ("package/mark.js", mark.to_owned())]
        {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            archive.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap()
    }

    fn answer(&self, host: &str, ask: &Ask) -> Answer {
        let path = ask.path.trim_start_matches('/');
        for (name, version, more) in &self.0 {
            if path == format!("{name}/-/{name}-{version}.tgz") {
                return (200, "application/octet-stream", Self::packed(name, version, more));
            }
        }
        let mut versions = serde_json::Map::new();
        for (name, version, more) in self.0.iter().filter(|(name, _, _)| *name == path) {
            let digest = contract::Digest::of(&Self::packed(name, version, more)).to_string();
            let digest = digest.trim_start_matches("sha256:");
            let bytes: Vec<u8> =
                (0..32).map(|at| u8::from_str_radix(&digest[at * 2..at * 2 + 2], 16).unwrap()).collect();
            let seal = base64::engine::general_purpose::STANDARD.encode(bytes);
            let mut about = json!({
                "name": name, "version": version,
                "dist": { "tarball": format!("https://{host}/{name}/-/{name}-{version}.tgz"), "integrity": format!("sha256-{seal}") }
            });
            about.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            if more["scripts"]["postinstall"].is_string() {
                about["hasInstallScript"] = json!(true);
            }
            versions.insert((*version).to_owned(), about);
        }
        let Some(last) = versions.keys().next_back().cloned() else {
            return (404, "application/json", b"{\"error\":\"Not found\"}".to_vec());
        };
        // What is young some managers leave alone.
        let time: serde_json::Map<String, Value> =
            versions.keys().map(|version| (version.clone(), json!("2020-01-02T03:04:05.000Z"))).collect();
        let told =
            json!({ "name": path, "dist-tags": { "latest": last }, "versions": versions, "time": time });
        (200, "application/json", told.to_string().into_bytes())
    }
}

/// A registry of the user's own at this machine.
pub(super) fn served(
    place: &Place,
    shelf: Shelf,
    more: impl Fn(&Ask) -> Option<Answer> + Send + Sync + 'static,
) -> Secure {
    let host = Arc::new(OnceLock::<String>::new());
    let at = Arc::clone(&host);
    let server = Secure::serve(place, move |ask| {
        more(ask).unwrap_or_else(|| shelf.answer(at.get().map_or("", String::as_str), ask))
    });
    host.set(server.host.clone()).unwrap();
    server
}

pub(super) fn of_registry(bench: &Bench, server: &Secure) {
    of_registry_and(bench, server, "");
}

/// The same, with more in the user's configuration.
pub(super) fn of_registry_and(bench: &Bench, server: &Secure, more: &str) {
    let registry = format!("[registries]\nnpm = {{ url = \"https://{}/\" }}\n", server.host);
    bench.place.configure(&format!("{}{registry}{LIMITS}{more}", server.configuration()));
}

pub(super) fn marked() -> Shelf {
    Shelf(vec![("marked", "1.0.0", json!({ "scripts": { "postinstall": "node mark.js" } }))])
}

#[test]
fn code_of_packages_runs_only_when_it_is_asked_for_and_never_with_a_network() {
    let place = Place::new();
    let server = served(&place, marked(), |_| None);
    let bench =
        project("{ \"name\": \"shop\", \"version\": \"1.0.0\", \"dependencies\": { \"marked\": \"1\" } }\n");
    of_registry(&bench, &server);
    let mut session: Session = bench.serve();
    let quiet = session.ok("nodejs_install_deps", json!({ "apply": true }));
    assert_eq!(quiet["success"], true, "{quiet:#}");
    assert_eq!(quiet["lock"]["withScripts"], json!(["marked"]), "{quiet:#}");
    assert_eq!(quiet["scripts"]["skipped"], json!(["marked"]), "{quiet:#}");
    assert_eq!(quiet["reached"], json!([server.host]), "{quiet:#}");
    assert!(bench.read("node_modules/marked/mark.js").is_some());
    assert!(bench.read("node_modules/marked/own.txt").is_none() && bench.read("marked.txt").is_none());

    // As the user allows it.
    of_registry_and(&bench, &server, "[[policy.rules]]\nforeign-code = true\ndecision = \"allow\"\n");
    let mut session: Session = bench.serve();
    let run = session.ok("nodejs_install_deps", json!({ "scripts": true, "apply": true }));
    assert_eq!(run["success"], true, "{run:#}");
    let last = run["runs"].as_array().unwrap().last().unwrap().clone();
    assert!(last["command"].as_str().unwrap().contains("rebuild") && last["reached"].is_null(), "{last:#}");
    assert!(bench.read("node_modules/marked/own.txt").is_some(), "what it makes of itself stays: {run:#}");
    assert!(bench.read("marked.txt").is_none(), "what it writes elsewhere does not");
}

#[test]
fn a_registry_that_a_project_names_is_refused_at_the_door_and_so_is_other_content() {
    let place = Place::new();
    let server = served(&place, marked(), |_| None);
    let bench = project(
        "{ \"name\": \"shop\", \"version\": \"1.0.0\", \"dependencies\": { \"@s/marked\": \"1\" } }\n",
    );
    bench.put(".npmrc", &format!("@s:registry=https://{}/\nfetch-retries=0\n", server.host));
    bench.place.configure(&format!("{}{LIMITS}", server.configuration()));
    let refused = bench.serve().ok("nodejs_install_deps", json!({ "apply": true }));
    assert_eq!(refused["success"], false, "{refused:#}");
    assert!(refused["message"].as_str().unwrap().contains("[registries] npm"), "{refused:#}");
    assert_eq!(refused["runs"][0]["refused"], json!([server.host]), "{refused:#}");
    assert!(server.asked().is_empty());

    // The same version with other bytes than the lock has a digest of.
    let swapped = served(&place, marked(), |ask| {
        ask.path
            .ends_with(".tgz")
            .then(|| (200, "application/octet-stream", Shelf::packed("marked", "1.0.0", &json!({ "x": 1 }))))
    });
    let bench =
        project("{ \"name\": \"shop\", \"version\": \"1.0.0\", \"dependencies\": { \"marked\": \"1\" } }\n");
    of_registry(&bench, &swapped);
    let broken = bench.serve().ok("nodejs_install_deps", json!({ "apply": true }));
    assert_eq!((&broken["success"], &broken["code"]), (&json!(false), &json!("EINTEGRITY")), "{broken:#}");
    assert!(
        broken["message"].as_str().unwrap().contains("What was planned is applied and stays"),
        "{broken:#}"
    );
    assert!(bench.path("package-lock.json").exists() && !bench.path("node_modules").exists());
}

#[test]
fn vulnerabilities_that_could_not_be_asked_for_are_not_known() {
    let Some(bench) = managers(project(MANIFEST)) else { return };
    let mut session = bench.serve();
    let unlocked = session.ok("nodejs_security", json!({}));
    assert_eq!(
        (&unlocked["success"], &unlocked["data"]["state"]),
        (&json!(false), &json!("none")),
        "{unlocked:#}"
    );
    let locked = session.ok("nodejs_install_deps", json!({ "apply": true }));
    if !is_reached(&locked) {
        return;
    }
    let told = session.ok("nodejs_security", json!({ "fix": true }));
    let (state, message) = (told["data"]["state"].as_str().unwrap(), told["message"].as_str().unwrap());
    match state {
        // A mirror that is only read, as some machines have.
        "none" => {
            assert!(message.starts_with("Not known:") && message.contains("Nothing was fixed"), "{told:#}");
            assert_eq!((&told["success"], told["advisories"].as_array()), (&json!(false), None), "{told:#}");
        }
        _ => assert_eq!((state, message), ("complete", "No known vulnerability."), "{told:#}"),
    }
    let nothing = session.fails("nodejs_security", json!({ "audit": false }));
    assert_eq!(nothing["code"], "invalid_argument");
}

pub(super) fn lockstep() -> Shelf {
    Shelf(vec![("left", "1.0.0", json!({})), ("left", "1.0.1", json!({})), ("left", "2.0.0", json!({}))])
}

/// The bulk endpoint of npm's registry, and the older one that pnpm and yarn ask.
pub(super) fn advisories(ask: &Ask) -> Option<Answer> {
    let json = |told: Value| Some((200, "application/json", told.to_string().into_bytes()));
    let url = "https://github.com/advisories/GHSA-aaaa-bbbb-cccc";
    match (ask.method.as_str(), ask.path.as_str()) {
        ("POST", "/-/npm/v1/security/advisories/bulk") => json(json!({ "left": [{
            "id": 7, "url": url, "title": "Left is wrong", "severity": "high", "vulnerable_versions": "<1.0.1", "cwe": [], "cvss": {}
        }] })),
        ("POST", path) if path.starts_with("/-/npm/v1/security/audits") => json(json!({
            "actions": [], "muted": [], "metadata": { "vulnerabilities": { "high": 1 }, "dependencies": 1, "totalDependencies": 1 },
            "advisories": { "7": {
                "id": 7, "github_advisory_id": "GHSA-aaaa-bbbb-cccc", "cves": ["CVE-2026-0001"], "module_name": "left", "severity": "high",
                "title": "Left is wrong", "url": url, "vulnerable_versions": "<1.0.1", "patched_versions": ">=1.0.1",
                "findings": [{ "version": "1.0.0", "paths": [".>left"] }]
            } }
        })),
        _ => None,
    }
}

pub(super) const LEFT: &str =
    "{ \"name\": \"shop\", \"version\": \"1.0.0\", \"dependencies\": { \"left\": \"1.0.0\" } }\n";

#[test]
fn npm_names_what_is_vulnerable_and_proposes_a_fix() {
    let place = Place::new();
    let server = served(&place, lockstep(), advisories);
    let bench = project(LEFT);
    of_registry(&bench, &server);
    let mut session = bench.serve();
    let locked = session.ok("nodejs_install_deps", json!({ "apply": true }));
    assert_eq!(locked["success"], true, "{locked:#}");
    bench.put("package.json", &LEFT.replace("\"1.0.0\" }", "\"^1.0.0\" }"));
    bench.put(
        "package-lock.json",
        &bench.read("package-lock.json").unwrap().replace("\"left\": \"1.0.0\"", "\"left\": \"^1.0.0\""),
    );
    let found = session.ok("nodejs_security", json!({}));
    assert_eq!(
        (&found["success"], &found["data"]["state"]),
        (&json!(false), &json!("complete")),
        "{found:#}"
    );
    let row = &found["advisories"][0];
    assert_eq!((&row["package"], &row["severity"]), (&json!("left"), &json!("high")), "{found:#}");
    assert_eq!(
        (&row["installed"], &row["ids"][0]),
        (&json!(["1.0.0"]), &json!("GHSA-aaaa-bbbb-cccc")),
        "{found:#}"
    );
    assert_eq!((&row["direct"], &row["fix"]["major"]), (&json!(true), &json!(false)), "{found:#}");
    let fixed = session.ok("nodejs_security", json!({ "fix": true }));
    assert_eq!(
        fixed["lock"]["changed"][0],
        json!({ "name": "left", "from": "1.0.0", "to": "1.0.1", "step": "patch" }),
        "{fixed:#}"
    );
    assert_eq!(fixed["plan"]["effects"].as_array().unwrap().len(), 1, "{fixed:#}");
}

#[test]
fn pnpm_names_what_is_vulnerable() {
    let place = Place::new();
    let server = served(&place, lockstep(), advisories);
    let Some(bench) = managers(project(LEFT)) else { return };
    of_registry(&bench, &server);
    let mut session = bench.serve();
    let locked = session.ok("nodejs_install_deps", json!({ "apply": true, "packageManager": "pnpm" }));
    assert_eq!(locked["success"], true, "{locked:#}");
    let found = session.ok("nodejs_security", json!({ "production": true }));
    assert_eq!(found["manager"]["name"], "pnpm", "{found:#}");
    let row = &found["advisories"][0];
    assert_eq!(row["ids"], json!(["GHSA-aaaa-bbbb-cccc", "CVE-2026-0001", "npm:7"]), "{found:#}");
    assert_eq!((&row["fixedIn"], &row["installed"]), (&json!([">=1.0.1"]), &json!(["1.0.0"])), "{found:#}");
}

#[test]
fn packages_move_within_their_ranges_and_beyond_them_when_that_is_asked_for() {
    let place = Place::new();
    let server = served(&place, lockstep(), |_| None);
    let bench = project(LEFT);
    of_registry(&bench, &server);
    let mut session = bench.serve();
    session.ok("nodejs_install_deps", json!({ "apply": true }));
    let ranged = LEFT.replace("\"1.0.0\" }", "\"^1.0.0\" }");
    bench.put("package.json", &ranged);
    let choices = session.ok("nodejs_update_deps", json!({ "interactive": true }));
    let row = json!({ "name": "left", "group": "dependencies", "current": "1.0.0", "wanted": "1.0.1", "latest": "2.0.0", "kind": "major" });
    assert_eq!((&choices["outdated"][0], &choices["plan"]["effects"]), (&row, &json!([])), "{choices:#}");
    let within = session.ok("nodejs_update_deps", json!({ "apply": true }));
    assert_eq!(within["success"], true, "{within:#}");
    assert_eq!(within["lock"]["changed"][0]["to"], "1.0.1", "{within:#}");
    assert!(bench.read("node_modules/left/package.json").unwrap().contains("1.0.1"), "{within:#}");
    assert_eq!(bench.read("package.json").unwrap(), ranged, "a range that forbids it is not widened");
    let beyond = session.ok("nodejs_update_deps", json!({ "latest": true, "packages": ["left"] }));
    assert_eq!(
        beyond["lock"]["changed"][0],
        json!({ "name": "left", "from": "1.0.1", "to": "2.0.0", "step": "major" }),
        "{beyond:#}"
    );
    assert!(beyond["plan"]["effects"].to_string().contains("package.json"), "{beyond:#}");
    let dev = session.ok("nodejs_update_deps", json!({ "dev": true }));
    assert!(dev["message"].as_str().unwrap().contains("nothing to update"), "{dev:#}");
    let unknown = session.fails("nodejs_update_deps", json!({ "packages": ["right"] }));
    assert_eq!(unknown["code"], "invalid_argument", "{unknown:#}");
}

#[test]
fn the_registry_says_what_a_package_is() {
    let bench = project(MANIFEST);
    let mut session = bench.serve();
    let result = session.call(
        "nodejs_package_info",
        json!({ "packageName": "is-number", "versionLimit": 2, "includeDeprecations": false }),
    );
    if result["isError"] == true {
        crate::skip("the registry of npm (a network)");
    } else {
        let told = &result["structuredContent"];
        assert_eq!((&told["name"], &told["license"]), (&json!("is-number"), &json!("MIT")), "{told:#}");
        assert_eq!(told["versions"].as_array().unwrap().len(), 2, "{told:#}");
        assert!(told["total"].as_u64().unwrap() > 2, "{told:#}");
        let missing = session
            .fails("nodejs_package_info", json!({ "packageName": "gatewright-there-is-no-such-package" }));
        assert_eq!(missing["code"], "not_found", "{missing:#}");
    }
    let named = session.fails("nodejs_package_info", json!({ "packageName": "a@1" }));
    assert_eq!(named["code"], "invalid_argument", "{named:#}");

    let place = Place::new();
    let old = Shelf(vec![("old", "1.0.0", json!({ "deprecated": "use new" })), ("old", "1.1.0", json!({}))]);
    let server = served(&place, old, |_| None);
    of_registry(&bench, &server);
    let told = bench.serve().ok("nodejs_package_info", json!({ "packageName": "old" }));
    assert_eq!(told["versions"][1]["deprecated"], "use new", "{told:#}");
    assert!(told["versions"][0]["deprecated"].is_null(), "{told:#}");
}

#[test]
fn crates_that_cannot_be_held_against_a_database_are_not_known_to_be_safe() {
    let bench = Bench::new(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
        ("src/lib.rs", "\n"),
    ]);
    let bench = match std::env::home_dir() {
        Some(home) => bench.telling("HOME", home),
        None => bench,
    };
    let told = bench.serve().ok("cargo_audit", json!({}));
    // A machine that has both the program and the database says otherwise.
    if told["data"]["state"] != "complete" {
        assert_eq!((&told["success"], &told["data"]["state"]), (&json!(false), &json!("none")), "{told:#}");
        assert!(told["message"].as_str().unwrap().starts_with("Not known: "), "{told:#}");
        assert!(told["data"]["why"].as_str().unwrap().contains("cargo"), "{told:#}");
    }
}
