//! Packages of npm's registry: installed, updated and examined by the real managers, through the door.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use serde_json::{Value, json};

use super::{Bench, Session, installed};
use crate::Place;
use crate::secure::{Answer, Ask, Secure};

/// Registries of some machines are mirrors at addresses that are not public.
const PUBLIC: &str = "[security]\nprivate-hosts = [\"registry.npmjs.org\", \"registry.yarnpkg.com\"]\n";

const LIMITS: &str = "[limits]\ndetach-after = 900\n[devtools]\ntimeout = 600000\n";

const MANIFEST: &str = "{ \"name\": \"shop\", \"version\": \"1.0.0\", \"license\": \"MIT\", \"dependencies\": { \"is-odd\": \"^3.0.0\" } }\n";

fn project(manifest: &str) -> Bench {
    let bench = Bench::new(&[("package.json", manifest), (".gitignore", "node_modules/\n")]);
    bench.place.configure(&format!("{PUBLIC}{LIMITS}"));
    bench
}

/// With pnpm and yarn on the PATH, as a machine has them.
fn managers(bench: Bench) -> Option<Bench> {
    Some(bench.with(installed("pnpm and yarn", "npm/devtools/node_modules/.bin")?))
}

/// Whether the registry was reached; where nothing is, nothing can be said.
fn is_reached(told: &Value) -> bool {
    let is_reached = told["reached"].as_array().is_some_and(|hosts| !hosts.is_empty());
    if !is_reached {
        crate::skip(&format!("the registry of npm (a network): {told}"));
    }
    is_reached
}

fn names(list: &Value) -> Vec<&str> {
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
struct Shelf(Vec<(&'static str, &'static str, Value)>);

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
        let Some(last) = versions.keys().last().cloned() else {
            return (404, "application/json", b"{\"error\":\"Not found\"}".to_vec());
        };
        let told = json!({ "name": path, "dist-tags": { "latest": last }, "versions": versions });
        (200, "application/json", told.to_string().into_bytes())
    }
}

/// A registry of the user's own at this machine.
fn served(
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

fn of_registry(bench: &Bench, server: &Secure) {
    let registry = format!("[registries]\nnpm = {{ url = \"https://{}/\" }}\n", server.host);
    bench.place.configure(&format!("{}{registry}{LIMITS}", server.configuration()));
}

fn marked() -> Shelf {
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
