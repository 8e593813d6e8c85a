//! What a project is, and its scripts.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{Bench, bench, command, serve, text};

const LOCK: &str = "{ \"name\": \"shop\", \"lockfileVersion\": 3, \"packages\": {
  \"\": { \"name\": \"shop\", \"dependencies\": { \"a\": \"^1.0.0\" } },
  \"node_modules/a\": { \"version\": \"1.2.0\", \"resolved\": \"https://registry.npmjs.org/a/-/a-1.2.0.tgz\", \"integrity\": \"sha512-x\" },
  \"node_modules/b\": { \"version\": \"2.0.0\", \"resolved\": \"https://registry.npmjs.org/b/-/b-2.0.0.tgz\", \"integrity\": \"sha512-y\", \"hasInstallScript\": true }
} }
";

#[test]
fn nodejs_project_info_says_what_npm_would_and_whether_it_is_installed() {
    let manifest = "{ \"name\": \"shop\", \"version\": \"1.0.0\", \"private\": true, \"type\": \"module\", \"engines\": { \"node\": \">=20\" }, \"scripts\": { \"build\": \"tsc\", \"a\": \"b\" }, \"dependencies\": { \"a\": \"^1.0.0\" }, \"devDependencies\": { \"x\": \"1\", \"y\": \"2\" } }\n";
    let bench = Bench::new(&[
        (".gitignore", "node_modules\n"),
        ("package.json", manifest),
        ("package-lock.json", LOCK),
        ("torn/package.json", "{\n  \"name\": \"torn\",\n}\n"),
        ("none/a.txt", "\n"),
    ]);
    let mut session = serve(&bench);
    let told = session.ok("nodejs_project_info", json!({}));
    assert_eq!(
        told["project"],
        json!({ "name": "shop", "version": "1.0.0", "private": true, "type": "module" }),
        "{told}"
    );
    assert_eq!(told["engines"], json!({ "node": ">=20" }));
    assert_eq!(told["scripts"][1], json!({ "name": "build", "command": "tsc" }), "{told}");
    assert_eq!(told["dependencies"], json!({ "dependencies": 1, "devDependencies": 2 }));
    assert_eq!(
        told["lock"],
        json!({ "edition": "3", "packages": 2, "direct": 3, "withScripts": ["b"] }),
        "{told}"
    );
    assert_eq!(told["installed"], json!({ "present": false }));
    assert_eq!(
        (told["manager"]["name"].as_str(), told["manager"]["lock"].as_str()),
        (Some("npm"), Some("package-lock.json"))
    );
    assert!(told["manager"]["version"].as_str().unwrap().contains('.'), "{told}");
    assert!(told["node"].as_str().unwrap().contains('.'), "{told}");
    bench.put("node_modules/.package-lock.json", LOCK);
    assert_eq!(
        session.ok("nodejs_project_info", json!({}))["installed"],
        json!({ "present": true, "matches": true })
    );
    bench.put(
        "node_modules/.package-lock.json",
        &LOCK.replace("1.2.0\", \"resolved\"", "1.1.0\", \"resolved\""),
    );
    let stale = session.ok("nodejs_project_info", json!({}));
    assert_eq!(stale["installed"]["matches"], false, "{stale}");
    let torn = session.ok("nodejs_project_info", json!({ "directory": "torn" }));
    assert_eq!(
        (torn["problems"][0]["file"].as_str(), torn["problems"][0]["line"].as_u64()),
        (Some("package.json"), Some(3)),
        "{torn}"
    );
    assert_eq!(session.fails("nodejs_project_info", json!({ "directory": "none" }))["code"], "not_found");
}

#[test]
fn nodejs_project_info_finds_the_manager_of_a_member_in_its_workspace() {
    let Some(bench) = bench(&[
        ("package.json", "{ \"name\": \"all\", \"private\": true, \"packageManager\": \"pnpm@10.1.0\" }\n"),
        ("pnpm-workspace.yaml", "packages:\n  - packages/*\n"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n"),
        ("yarn.lock", "# yarn lockfile v1\n"),
        ("packages/web/package.json", "{ \"name\": \"web\" }\n"),
        ("packages/api/package.json", "{ \"name\": \"api\", \"scripts\": { \"x\": \"y\" } }\n"),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    let told = session.ok("nodejs_project_info", json!({}));
    let names: Vec<&str> =
        told["workspaces"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["api", "web"], "{told}");
    let manager = &told["manager"];
    assert_eq!(
        (manager["name"].as_str(), manager["pinned"].as_str(), manager["lock"].as_str()),
        (Some("pnpm"), Some("10.1.0"), Some("pnpm-lock.yaml")),
        "{told}"
    );
    assert!(manager["version"].as_str().is_some_and(|version| version.starts_with("10.")), "{told}");
    assert!(told["notes"].to_string().contains("yarn.lock"), "{told}");
    let member = session.ok("nodejs_project_info", json!({ "directory": "packages/api" }));
    assert_eq!(
        (
            member["project"]["name"].as_str(),
            member["manager"]["name"].as_str(),
            member["manager"]["lock"].as_str()
        ),
        (Some("api"), Some("pnpm"), Some("pnpm-lock.yaml")),
        "{member}"
    );
}

#[test]
fn nodejs_version_says_what_is_here_and_until_when_and_what_is_not() {
    let Some(bench) = bench(&[("package.json", "{}\n"), ("sub/package.json", "{}\n")]) else { return };
    let mut session = serve(&bench);
    let all = session.ok("nodejs_version", json!({}));
    assert_eq!(all["success"], true, "{all}");
    let tool = |name: &str| -> Value {
        let found = all["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {all}")).clone()
    };
    let node = tool("node");
    assert!(node["version"].as_str().unwrap().split('.').count() == 3, "{all}");
    if node["version"].as_str().unwrap().starts_with("20.") {
        assert_eq!((node["endOfLife"].as_str(), node["ended"].as_bool()), (Some("2026-04-30"), Some(true)));
        assert!(text(&all).contains("gets no more fixes"), "{all}");
    }
    assert_eq!(all["scheduleOf"], "2026-07-02");
    assert!(tool("npm")["version"].is_string(), "{all}");
    assert_eq!(
        (tool("pnpm")["own"].as_bool(), tool("yarn")["own"].as_bool()),
        (Some(true), Some(true)),
        "{all}"
    );
    assert!(tool("yarn")["version"].as_str().unwrap().starts_with("1."), "{all}");
    let one = session.ok("nodejs_version", json!({ "tool": "yarn", "directory": "sub" }));
    assert_eq!(one["tools"].as_array().unwrap().len(), 1, "{one}");
    // One that nobody has installed is said to be missing, and that is no failure.
    let lacks = session.ok("nodejs_version", json!({ "tool": "bun" }));
    if lacks["tools"][0].get("version").is_none() {
        assert!(lacks["tools"][0]["missing"].as_str().unwrap().contains("bun"), "{lacks}");
        assert_eq!((lacks["success"].as_bool(), text(&lacks)), (Some(true), "- bun: not here"), "{lacks}");
    }
    assert_eq!(session.fails("nodejs_version", json!({ "tool": "deno" }))["code"], "invalid_argument");
    assert_eq!(session.fails("nodejs_version", json!({ "directory": "gone" }))["code"], "not_found");
}

const MANIFEST: &str = "{ \"name\": \"x\", \"scripts\": {
  \"build\": \"tsc --outDir dist src/a.ts\",
  \"bad\": \"tsc --noEmit src/b.ts\",
  \"three\": \"node -e 'console.log(process.env.NODE_ENV); process.exit(3)'\",
  \"say\": \"node say.js\",
  \"write\": \"node write.js\"
} }
";

/// A project with scripts, of the manager that `lock` is of.
fn scripts(lock: &str) -> Option<Bench> {
    bench(&[
        ("package.json", MANIFEST),
        (
            lock,
            if lock == "package-lock.json" {
                "{ \"lockfileVersion\": 3, \"packages\": {} }\n"
            } else {
                "lockfileVersion: '9.0'\n"
            },
        ),
        ("src/a.ts", "export const a: number = 1;\n"),
        ("src/b.ts", "export const b: number = \"one\";\n"),
        ("say.js", "console.log(process.env.NODE_ENV ?? 'unset', ...process.argv.slice(2));\n"),
        ("write.js", "require('fs').writeFileSync('made.txt', 'made\\n');\n"),
        ("sub/package.json", "{ \"scripts\": { \"build\": \"node -p 6*7\" } }\n"),
    ])
}

#[test]
fn nodejs_build_builds_and_says_what_does_not_compile() {
    let Some(bench) = scripts("package-lock.json") else { return };
    let mut session = serve(&bench);
    let built = session.ok("nodejs_build", json!({}));
    assert_eq!(
        (built["success"].as_bool(), built["script"].as_str(), built["rounds"].as_u64(), command(&built)),
        (Some(true), Some("build"), Some(1), "npm run --silent build"),
        "{built}"
    );
    assert_eq!(built["sideWrites"]["paths"], json!(["dist/"]), "{built}");
    assert!(bench.path("dist/a.js").exists());
    let bad = session.ok("nodejs_build", json!({ "script": "bad" }));
    let first = &bad["diagnostics"][0];
    assert_eq!(
        (bad["success"].as_bool(), first["rule"].as_str(), first["file"].as_str(), first["line"].as_u64()),
        (Some(false), Some("TS2322"), Some("src/b.ts"), Some(1)),
        "{bad}"
    );
    assert_eq!(bad["history"][0]["is"], "new", "{bad}");
    let said = |session: &mut super::Session, result: &Value| {
        session.ok("run_output", json!({ "run": result["runs"][0]["run"] })).to_string()
    };
    let plain = session.ok("nodejs_build", json!({ "script": "say" }));
    assert!(said(&mut session, &plain).contains("unset"), "{plain}");
    let production =
        session.ok("nodejs_build", json!({ "script": "say", "production": true, "args": ["--", "one"] }));
    assert!(said(&mut session, &production).contains("production one"), "{production}");
    let below = session.ok("nodejs_build", json!({ "directory": "sub" }));
    assert!(said(&mut session, &below).contains("42"), "{below}");
    let gone = session.fails("nodejs_build", json!({ "script": "gone" }));
    assert_eq!(gone["code"], "not_found", "{gone}");
    assert!(gone.to_string().contains("bad, build, say, three"), "{gone}");
    let refused = session.fails("nodejs_build", json!({ "args": ["--script-shell=/tmp/x"] }));
    assert_eq!(refused["code"], "invalid_argument");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn nodejs_build_watches_until_it_is_cancelled() {
    let Some(bench) = scripts("package-lock.json") else { return };
    let mut session = serve(&bench);
    let begun = session.ok("nodejs_build", json!({ "script": "bad", "watch": true }));
    let job = begun["job"].clone();
    let mut seen = |what: &str| {
        for _ in 0..240 {
            let status = session.ok("job_status", json!({ "job": job }));
            if status["jobs"][0]["progress"].as_str().is_some_and(|said| said.contains(what)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(250));
        }
        panic!("{what} was not seen");
    };
    seen("round 1: `npm run bad` failed");
    bench.put("src/b.ts", "export const b: number = 1;\n");
    seen("round 2: `npm run bad` succeeded");
    assert_eq!(session.ok("job_cancel", json!({ "job": job }))["job"]["state"], "cancelled");
}

#[test]
fn nodejs_scripts_lists_them_and_runs_one() {
    let Some(bench) = scripts("package-lock.json") else { return };
    let mut session = serve(&bench);
    let listed = session.ok("nodejs_scripts", json!({}));
    let names: Vec<&str> =
        listed["scripts"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names.len(), 5, "{listed}");
    assert!(names.contains(&"three") && listed.get("runs").is_none(), "{listed}");
    let three = session.ok("nodejs_scripts", json!({ "script": "three", "list": true }));
    assert_eq!(
        (three["success"].as_bool(), three["exitCode"].as_i64(), three["script"].as_str()),
        (Some(false), Some(3), Some("three")),
        "{three}"
    );
    assert_eq!(three["scripts"], listed["scripts"]);
    assert!(three["said"].as_str().unwrap().contains("undefined"), "{three}");
    let said = session.ok("nodejs_scripts", json!({ "script": "say", "args": ["--", "one"] }));
    assert_eq!((said["success"].as_bool(), said["said"].as_str()), (Some(true), Some("unset one")), "{said}");
    let wrote = session.ok("nodejs_scripts", json!({ "script": "write" }));
    assert_eq!(wrote["plan"]["effects"], json!(["create made.txt (5 bytes)"]), "{wrote}");
    assert!(bench.read("made.txt").is_none(), "nothing is written without apply");
    assert_eq!(session.fails("nodejs_scripts", json!({ "script": "nope" }))["code"], "not_found");
    assert_eq!(session.fails("nodejs_scripts", json!({ "directory": "src" }))["code"], "not_found");
    for script in ["", "build; id", "--eval", "../x"] {
        let fault = session.fails("nodejs_scripts", json!({ "script": script }));
        assert_eq!(fault["code"], "not_found", "{script}: {fault}");
    }
}

#[test]
fn scripts_are_run_by_the_manager_whose_lock_is_there() {
    let Some(bench) = scripts("pnpm-lock.yaml") else { return };
    let mut session = serve(&bench);
    let said = session.ok("nodejs_scripts", json!({ "script": "say" }));
    assert_eq!(command(&said), "node node_modules/.bin/pnpm run --silent say", "{said}");
    assert_eq!((said["success"].as_bool(), said["said"].as_str()), (Some(true), Some("unset")), "{said}");
    let Some(bench) = scripts("yarn.lock") else { return };
    let mut session = serve(&bench);
    let said = session.ok("nodejs_scripts", json!({ "script": "three" }));
    assert_eq!(command(&said), "node node_modules/.bin/yarn run three", "{said}");
    assert_eq!((said["success"].as_bool(), said["exitCode"].as_i64()), (Some(false), Some(3)), "{said}");
    let bench = Bench::new(&[("package.json", MANIFEST), ("bun.lock", "{}\n")]);
    let fault = serve(&bench).fails("nodejs_build", json!({}));
    assert_eq!(fault["code"], "tool_execution_failed", "{fault}");
    assert!(text(&fault).contains("bun"), "{fault}");
    // One that is named and not installed is said to be missing, and nothing fetches it.
    let programs = tempfile::tempdir().unwrap();
    let npm = programs.path().join("npm");
    std::fs::write(&npm, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&npm, std::fs::Permissions::from_mode(0o755)).unwrap();
    let bench =
        Bench::new(&[("package.json", MANIFEST), ("yarn.lock", "\n")]).with(programs.path().to_owned());
    let mut session = serve(&bench);
    let has = session.ok("nodejs_version", json!({ "tool": "yarn" }));
    if has["tools"][0].get("version").is_none() {
        let fault = session.fails("nodejs_build", json!({}));
        assert_eq!(fault["code"], "tool_execution_failed", "{fault}");
        assert!(fault.to_string().contains("yarn"), "{fault}");
    }
}
