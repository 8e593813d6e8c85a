//! The other managers of Node's packages, the real programs: what pnpm and yarn 1 update and fix, yarn 4 and bun.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::packages::{
    LEFT, MANIFEST, advisories, is_reached, lockstep, managers, names, of_registry, project, served,
};
use super::{Bench, installed};
use crate::Place;

/// What puts a manager's program on the PATH.
type With = fn(Bench) -> Option<Bench>;

/// With one program of a package on the PATH, under the name that people call it by.
fn with_program(bench: Bench, what: &str, place: &str, name: &str) -> Option<Bench> {
    let program = installed(what, place)?;
    let folder = bench.place.scratch.path().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    symlink(program, folder.join(name)).unwrap();
    Some(bench.with(folder))
}

fn yarn_4(bench: Bench) -> Option<Bench> {
    with_program(bench, "yarn 4", "npm/managers/node_modules/@yarnpkg/cli-dist/bin/yarn.js", "yarn")
}

fn bun(bench: Bench) -> Option<Bench> {
    with_program(bench, "bun", "npm/managers/node_modules/@oven/bun-linux-x64/bin/bun", "bun")
}

/// Every manager that updates, as it is chosen, with its program.
#[test]
fn every_manager_moves_packages_within_their_ranges_and_beyond_them_when_that_is_asked_for() {
    let all: [(&str, &str, &str, With); 4] = [
        ("pnpm", "pnpm@10.0.0", "pnpm-lock.yaml", managers),
        ("yarn", "yarn@1.22.22", "yarn.lock", managers),
        ("yarn", "yarn@4.18.1", "yarn.lock", yarn_4),
        ("bun", "bun@1.4.5", "bun.lock", bun),
    ];
    for (name, version, file, with) in all {
        let place = Place::new();
        let server = served(&place, lockstep(), |_| None);
        let pinned = |range: &str| {
            format!(
                "{{\n  \"name\": \"shop\",\n  \"version\": \"1.0.0\",\n  \"packageManager\": \"{version}\",\n  \"dependencies\": {{\n    \"left\": \"{range}\"\n  }}\n}}\n"
            )
        };
        let bench = project(&pinned("1.0.0"));
        bench.put(".yarnrc.yml", "nodeLinker: node-modules\n");
        let Some(bench) = with(bench) else { continue };
        of_registry(&bench, &server);
        let mut session = bench.serve();
        let locked = session.ok("nodejs_install_deps", json!({ "apply": true }));
        assert_eq!(
            (&locked["success"], &locked["manager"]["name"]),
            (&json!(true), &json!(name)),
            "{version}: {locked:#}"
        );
        assert!(
            bench.read("node_modules/left/package.json").unwrap().contains("1.0.0"),
            "{version}: {locked:#}"
        );
        bench.put("package.json", &pinned("^1.0.0"));
        // As it was locked when nothing newer was there: yarn 1 looks at no lock that lacks what the manifest says.
        if version.starts_with("yarn@1") {
            bench.put(file, &bench.read(file).unwrap().replace("left@1.0.0:\n", "left@^1.0.0:\n"));
        }
        let listed = session.ok("nodejs_update_deps", json!({ "interactive": true }));
        let row = &listed["outdated"][0];
        assert_eq!(
            (&row["current"], &row["wanted"], &row["latest"]),
            (&json!("1.0.0"), &json!("1.0.1"), &json!("2.0.0")),
            "{version}: {listed:#}"
        );
        let within = session.ok("nodejs_update_deps", json!({ "apply": true }));
        assert_eq!(within["lock"]["changed"][0]["to"], "1.0.1", "{version}: {within:#}");
        assert_eq!(within["success"], true, "{version}: {within:#}");
        assert!(
            bench.read("node_modules/left/package.json").unwrap().contains("1.0.1"),
            "{version}: {within:#}"
        );
        assert!(bench.read(file).unwrap().contains("1.0.1"), "{version}");
        let beyond = session.ok("nodejs_update_deps", json!({ "latest": true, "packages": ["left"] }));
        assert_eq!(
            beyond["lock"]["changed"][0],
            json!({ "name": "left", "from": "1.0.1", "to": "2.0.0", "step": "major" }),
            "{version}: {beyond:#}"
        );
        assert!(beyond["plan"]["effects"].to_string().contains("package.json"), "{version}: {beyond:#}");
        assert!(
            !beyond["plan"]["effects"].to_string().contains("create"),
            "nothing else comes: {version}: {beyond:#}"
        );
        let unknown = session.fails("nodejs_update_deps", json!({ "packages": ["right"] }));
        assert_eq!(unknown["code"], "invalid_argument", "{version}: {unknown:#}");
        assert!(
            server.asked().iter().any(|ask| ask.path.contains("left-2.0.0") || ask.path == "/left"),
            "{version}"
        );
    }
}

#[test]
fn pnpm_overrides_what_is_vulnerable_and_yarn_1_asks_its_own_registry_alone() {
    let place = Place::new();
    let server = served(&place, lockstep(), advisories);
    let Some(bench) = managers(project(&LEFT.replace("\"1.0.0\" }", "\"^1.0.0\" }"))) else { return };
    bench.put("package.json", LEFT);
    of_registry(&bench, &server);
    let mut session = bench.serve();
    let locked = session.ok("nodejs_install_deps", json!({ "apply": true, "packageManager": "pnpm" }));
    assert_eq!(locked["success"], true, "{locked:#}");
    let fixed = session.ok("nodejs_security", json!({ "fix": true }));
    assert_eq!(names(&fixed["lock"]["changed"]), ["left"], "{fixed:#}");
    // What it overrides may be any version without the hole, and it takes the newest.
    assert_eq!(
        fixed["lock"]["changed"][0],
        json!({ "name": "left", "from": "1.0.0", "to": "2.0.0", "step": "major" }),
        "{fixed:#}"
    );
    let plan = fixed["plan"].to_string();
    assert!(
        plan.contains("pnpm-lock.yaml") && plan.contains("left@<1.0.1"),
        "its overrides are shown: {plan}"
    );

    let Some(bench) = managers(project(LEFT)) else { return };
    bench.put("yarn.lock", "# yarn lockfile v1\n\n");
    of_registry(&bench, &server);
    let mut session = bench.serve();
    let locked = session.ok("nodejs_install_deps", json!({ "apply": true }));
    assert_eq!(locked["success"], true, "{locked:#}");
    let told = session.ok("nodejs_security", json!({}));
    assert_eq!((&told["success"], &told["data"]["state"]), (&json!(false), &json!("none")), "{told:#}");
    assert!(
        told["message"].as_str().unwrap().starts_with("Not known: yarn 1 asks registry.yarnpkg.com"),
        "{told:#}"
    );

    // Where that is the registry, it is asked; of a mirror that is only read nothing is known.
    let Some(bench) = managers(project(MANIFEST)) else { return };
    bench.put("yarn.lock", "# yarn lockfile v1\n\n");
    let mut session = bench.serve();
    let locked = session.ok("nodejs_install_deps", json!({ "apply": true }));
    if !is_reached(&locked) {
        return;
    }
    let told = session.ok("nodejs_security", json!({ "fix": true }));
    let run = told["runs"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&run["command"], &run["reached"]),
        (&json!("yarn audit --json"), &json!(["registry.yarnpkg.com"])),
        "{told:#}"
    );
    assert_eq!(told["success"], false, "it fixes nothing by itself: {told:#}");
    let message = told["message"].as_str().unwrap();
    match told["data"]["state"].as_str().unwrap() {
        "none" => {
            assert!(message.starts_with("Not known:") && message.contains("Nothing was fixed"), "{told:#}");
        }
        _ => assert!(message.contains("yarn 1 fixes nothing by itself"), "{told:#}"),
    }
}

#[test]
fn yarn_4_and_bun_lock_as_a_plan_and_install_once_it_is_applied_from_the_public_registry() {
    let all: [(&str, &str, With, &str); 2] = [
        ("yarn@4.18.1", "yarn.lock", yarn_4, "would have been modified"),
        ("bun@1.4.5", "bun.lock", bun, "lockfile is frozen"),
    ];
    for (version, file, with, stale) in all {
        let manifest = format!(
            "{{\n  \"name\": \"shop\",\n  \"version\": \"1.0.0\",\n  \"packageManager\": \"{version}\",\n  \"dependencies\": {{\n    \"is-odd\": \"^3.0.0\"\n  }}\n}}\n"
        );
        let bench = project(&manifest);
        bench.put(".yarnrc.yml", "nodeLinker: node-modules\n");
        let Some(bench) = with(bench) else { continue };
        let mut session = bench.serve();
        let rehearsed = session.ok("nodejs_install_deps", json!({}));
        if !is_reached(&rehearsed) {
            return;
        }
        assert_eq!(
            (&rehearsed["success"], &rehearsed["status"]),
            (&json!(true), &json!("proposed")),
            "{rehearsed:#}"
        );
        assert_eq!(names(&rehearsed["lock"]["added"]), ["is-number", "is-odd"], "{rehearsed:#}");
        assert_eq!(rehearsed["reached"], json!(["registry.npmjs.org"]), "{rehearsed:#}");
        assert_eq!(rehearsed["plan"]["effects"].as_array().map(Vec::len), Some(1), "{rehearsed:#}");
        let plan = rehearsed["plan"]["id"].clone();
        let applied = session.ok("nodejs_install_deps", json!({ "apply": true, "plan": plan }));
        assert_eq!(
            (&applied["success"], &applied["installed"]["folder"]),
            (&json!(true), &json!("node_modules")),
            "{applied:#}"
        );
        assert!(bench.read("node_modules/is-odd/index.js").is_some(), "{applied:#}");
        assert_eq!(
            bench
                .dirt()
                .lines()
                .filter(|line| !line.contains(file)
                    && !line.contains("node_modules")
                    && !line.contains(".yarnrc"))
                .count(),
            0,
            "{}",
            bench.dirt()
        );
        let (name, number) = version.split_once('@').unwrap();
        let info = session.ok("nodejs_project_info", json!({}));
        assert_eq!(
            (&info["manager"]["name"], &info["lock"]["packages"]),
            (&json!(name), &json!(2)),
            "{info:#}"
        );
        let versions = session.ok("nodejs_version", json!({ "tool": name }));
        assert_eq!(versions["tools"][0]["version"], number, "{versions:#}");
        let again = session.ok("nodejs_install_deps", json!({ "frozen": true }));
        assert_eq!((&again["success"], &again["plan"]["effects"]), (&json!(true), &json!([])), "{again:#}");
        bench.put("package.json", &manifest.replace("^3.0.0", "^2.0.0"));
        let outdated = session.ok("nodejs_install_deps", json!({ "frozen": true }));
        assert_eq!(outdated["success"], false, "{outdated:#}");
        assert!(outdated["message"].as_str().unwrap().contains(stale), "{outdated:#}");
        let audit = session.ok("nodejs_security", json!({}));
        assert_eq!(
            (&audit["success"], &audit["data"]["state"]),
            (&json!(false), &json!("none")),
            "{audit:#}"
        );
        let scripts = session.fails("nodejs_install_deps", json!({ "scripts": true }));
        assert_eq!(scripts["code"], "invalid_argument", "{scripts:#}");
    }
}

#[test]
fn settings_that_run_code_locks_that_nobody_reads_and_another_yarn_are_refused_by_name() {
    let yarn = MANIFEST.replace("\"license\"", "\"packageManager\": \"yarn@4.18.1\", \"license\"");
    if let Some(bench) = yarn_4(project(&yarn)) {
        bench.put(".yarnrc.yml", "\"plugins\":\n  - path: .yarn/plugins/evil.cjs\n");
        bench.put(".yarn/plugins/evil.cjs", "require('fs').writeFileSync('evil.txt', 'x');\n");
        let fault = bench.serve().fails("nodejs_install_deps", json!({ "apply": true }));
        assert!(fault["message"].as_str().unwrap().contains("loads plugins"), "{fault:#}");
        // Without a folder of packages only the lock is made.
        bench.put(".yarnrc.yml", "enableTelemetry: false\n");
        let told = bench.serve().ok("nodejs_install_deps", json!({ "apply": true }));
        if is_reached(&told) {
            assert_eq!(told["success"], false, "{told:#}");
            assert!(told["message"].as_str().unwrap().contains("Plug'n'Play"), "{told:#}");
            assert!(bench.path("yarn.lock").exists() && !bench.path(".pnp.cjs").exists(), "{}", bench.dirt());
        }
        assert!(!bench.path("evil.txt").exists());
    }
    if let Some(bench) = managers(project(&yarn)) {
        let fault = bench.serve().fails("nodejs_install_deps", json!({}));
        assert!(fault["message"].as_str().unwrap().contains("the yarn on the PATH is 1.22.22"), "{fault:#}");
    }
    let manifest = MANIFEST.replace("\"license\"", "\"packageManager\": \"bun@1.4.5\", \"license\"");
    if let Some(bench) = bun(project(&manifest)) {
        bench.put("bunfig.toml", "[install.security]\nscanner = \"evil\"\n");
        let fault = bench.serve().fails("nodejs_install_deps", json!({}));
        assert!(fault["message"].as_str().unwrap().contains("names a scanner"), "{fault:#}");
        bench.put("bunfig.toml", "\n");
        bench.put("bun.lockb", "\0");
        let fault = bench.serve().fails("nodejs_install_deps", json!({}));
        assert!(fault["suggestions"].to_string().contains("--save-text-lockfile"), "{fault:#}");
    }
}
