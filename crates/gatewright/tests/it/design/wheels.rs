//! Python packages verified before they are released, built by their own backend.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::bench::installed;
use super::Bench;

fn project(version: &str, more: &str) -> String {
    format!(
        "[build-system]\nrequires = [\"flit_core >=4,<5\"]\nbuild-backend = \"flit_core.buildapi\"\n\n\
         [project]\nname = \"harbor-tides\"\nversion = \"{version}\"\ndescription = \"Tides.\"\nreadme = \"README.md\"\n\
         license = \"MIT\"\nlicense-files = [\"LICENSE\"]\nrequires-python = \">=3.9\"\ndependencies = []\n{more}\n\
         [project.urls]\nSource = \"https://example.com/tides\"\n"
    )
}

const CODE: &str = "\"\"\"Tides.\"\"\"\n\n\ndef height(hour: int) -> float:\n    return float(hour)\n";

/// A package that was released as 1.0.0; since then it has a function more.
fn tides() -> Option<Bench> {
    let programs = installed("building Python packages", "python/devtools/bin/python3")?;
    let bench = Bench::new(&[
        ("pyproject.toml", &project("1.0.0", "")),
        ("harbor_tides/__init__.py", CODE),
        ("README.md", "# Tides\n"),
        ("LICENSE", "MIT\n"),
        ("CHANGELOG.md", "# Changelog\n\n## 1.1.0\n\n- Lows.\n\n## 1.0.0\n\n- First.\n"),
    ]);
    bench.git(&["tag", "v1.0.0"]);
    bench.put("pyproject.toml", &project("1.1.0", ""));
    bench.put(
        "harbor_tides/__init__.py",
        &format!("{CODE}\n\ndef low(hour: int) -> float:\n    return -height(hour)\n"),
    );
    bench.commit("feat: lows");
    Some(bench.with(programs.parent().unwrap().to_owned()).patient())
}

fn check<'v>(answer: &'v Value, name: &str) -> &'v Value {
    let checks = answer["verificationChecks"].as_array().unwrap();
    checks.iter().find(|c| c["checkName"] == name).unwrap_or_else(|| panic!("{name}: {answer:#}"))
}

fn errors(answer: &Value) -> BTreeSet<&str> {
    let checks = answer["verificationChecks"].as_array().unwrap().iter();
    checks.filter(|c| c["severity"] == "error").map(|c| c["checkName"].as_str().unwrap()).collect()
}

#[test]
fn release_pack_verify_builds_a_wheel_and_its_source_and_puts_both_on_a_branch() {
    let Some(bench) = tides() else { return };
    let mut session = bench.serve();
    let done = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true, "apply": true }));
    assert_eq!((&done["success"], errors(&done)), (&json!(true), BTreeSet::new()), "{done:#}");
    for name in
        ["python.wheel.twice", "python.sdist.twice", "python.wheel.says", "python.smoke", "python.secrets"]
    {
        assert_eq!(check(&done, name)["passed"], true, "{name}: {done:#}");
    }
    let archives: Vec<&str> =
        done["packages"].as_array().unwrap().iter().map(|p| p["archive"].as_str().unwrap()).collect();
    assert_eq!(archives, ["harbor_tides-1.1.0-py3-none-any.whl", "harbor_tides-1.1.0.tar.gz"]);
    assert_eq!(bench.dirt(), "", "what was built is gone");
    let branch = done["branchName"].as_str().unwrap();
    let folder = "releases/harbor-tides-1.1.0";
    let names = bench.git(&["ls-tree", "-r", "--name-only", branch, folder]);
    assert_eq!(names.lines().count(), 5, "{names}");
    let read = |name: &str| -> Value {
        serde_json::from_str(&bench.git(&["show", &format!("{branch}:{folder}/{name}")])).unwrap()
    };
    assert_eq!(read("sbom.cdx.json")["metadata"]["component"]["purl"], "pkg:pypi/harbor-tides@1.1.0");
    assert_eq!(read("provenance.intoto.json")["subject"].as_array().unwrap().len(), 2);
    assert!(
        done["undecided"].to_string().contains("python.api"),
        "there is no wheel to compare with: {done:#}"
    );
}

#[test]
fn release_pack_verify_compares_wheels_and_says_what_stops_a_python_package() {
    let Some(bench) = tides() else { return };
    // The last release's wheel, as its users have it.
    let python = installed("building Python packages", "python/devtools/bin/python3").unwrap();
    bench.git(&["worktree", "add", "--quiet", "../old", "v1.0.0"]);
    let old = bench.place.root().parent().unwrap().join("old");
    let out = std::process::Command::new(&python)
        .args(["-m", "build", "--wheel", "--no-isolation", "--outdir"])
        .arg(bench.place.root())
        .arg(&old)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    bench.git(&["worktree", "remove", "--force", "../old"]);
    let mut session = bench.serve();
    let previous = "harbor_tides-1.0.0-py3-none-any.whl";
    let more = session.ok("release_pack_verify", json!({ "version": "1.1.0", "previous": previous }));
    let bump = &more["bumps"]["harbor-tides"];
    assert_eq!((&bump["from"], &bump["required"]), (&json!("1.0.0"), &json!("minor")), "{more:#}");
    assert_eq!(more["success"], true, "{more:#}");
    bench.put(
        "harbor_tides/__init__.py",
        "\"\"\"Tides.\"\"\"\n\nimport nobody_has_this\n\n\ndef low(hour: int) -> float:\n    return 0.0\n",
    );
    bench.commit("fix: less");
    let asked = json!({ "version": "1.1.0", "previous": previous, "smoke": true, "ecosystem": "python" });
    let less = session.ok("release_pack_verify", asked);
    assert_eq!(errors(&less), BTreeSet::from(["python.smoke", "release.bump"]), "{less:#}");
    assert!(check(&less, "python.api")["details"].as_str().unwrap().contains("height is gone"), "{less:#}");
    assert!(
        check(&less, "python.smoke")["details"].as_str().unwrap().contains("nobody_has_this"),
        "{less:#}"
    );
    assert_eq!(less.get("branchName"), None);
    // Another version than the project says, a dependency that PyPI does not take, and a backend that is not there.
    let other = session.ok("release_pack_verify", json!({ "version": "1.2.0" }));
    assert!(errors(&other).contains("python.version.manifest"), "{other:#}");
    bench.put(
        "pyproject.toml",
        &project("1.1.0", "")
            .replace("dependencies = []", "dependencies = [\"x @ https://example.com/x.whl\"]"),
    );
    let direct = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert!(errors(&direct).iter().any(|id| id.starts_with("python.dependencies")), "{direct:#}");
    bench.put("pyproject.toml", &project("1.1.0", "").replace("flit_core", "no_such_backend"));
    let unbuilt = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert!(
        check(&unbuilt, "python.build")["details"].as_str().unwrap().contains("no_such_backend"),
        "{unbuilt:#}"
    );
    bench.put("pyproject.toml", "[tool.ruff]\nline-length = 100\n");
    let fault = session.fails("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!(fault["code"], "not_found", "a file that only says what tools do is no package: {fault}");
    bench.put("pyproject.toml", "[project");
    assert_eq!(session.fails("release_pack_verify", json!({ "version": "1.1.0" }))["code"], "invalid_source");
}

#[test]
fn release_pack_verify_builds_with_what_is_installed_and_not_with_a_script_of_the_project() {
    let Some(bench) = tides() else { return };
    bench.put("build.py", "raise SystemExit('the script of the project itself was run')\n");
    bench.put("pip.py", "raise SystemExit('the script of the project itself was run')\n");
    bench.commit("chore: a script");
    let mut session = bench.serve();
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{told:#}");
    assert_eq!(check(&told, "python.smoke")["passed"], true);
    assert_eq!(told["packages"].as_array().unwrap().len(), 2, "{told:#}");
}

#[test]
fn release_pack_verify_leaves_undecided_what_dependencies_that_are_not_installed_would_say() {
    let Some(bench) = tides() else { return };
    let asks =
        |list: &str| project("1.1.0", "").replace("dependencies = []", &format!("dependencies = [{list}]"));
    bench.put("pyproject.toml", &asks("\"nobody-has-this>=1\""));
    bench.put("harbor_tides/__init__.py", &format!("{CODE}\n\nimport nobody_has_this\n"));
    bench.commit("feat: depend");
    let mut session = bench.serve();
    let mut smoked = || session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    let told = smoked();
    assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{told:#}");
    assert!(told["undecided"].to_string().contains("python.smoke: nobody_has_this"), "{told:#}");
    assert!(!told["verificationChecks"].to_string().contains("python.smoke"), "{told:#}");
    // A module of its own that is not packed is missing at its users' too, and so is what only an extra asks for.
    bench.put("harbor_tides/__init__.py", &format!("{CODE}\n\nimport harbor_tides.nowhere\n"));
    bench.commit("fix: forget a module");
    let own = smoked();
    assert_eq!(errors(&own), BTreeSet::from(["python.smoke"]), "{own:#}");
    bench.put("harbor_tides/__init__.py", &format!("{CODE}\n\nimport nobody_has_this\n"));
    let extra = "\n[project.optional-dependencies]\nmore = [\"nobody-has-this>=1\"]\n";
    bench.put("pyproject.toml", &format!("{}{extra}", asks("")));
    bench.commit("fix: depend by an extra");
    let extra = smoked();
    assert_eq!(errors(&extra), BTreeSet::from(["python.smoke"]), "{extra:#}");
}

#[test]
fn release_pack_verify_tells_what_lies_about_in_a_source_distribution() {
    let Some(bench) = tides() else { return };
    bench.put(
        "pyproject.toml",
        &format!("{}\n[tool.flit.sdist]\ninclude = [\"notes.log\", \"conf/.env\"]\n", project("1.1.0", "")),
    );
    bench.put("notes.log", "x\n");
    bench.put("conf/.env", "A=b\n");
    bench.commit("chore: notes");
    let mut session = bench.serve();
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0", "budget": 1 << 20 }));
    let junk = check(&told, "python.sdist.junk");
    assert_eq!(
        (&junk["severity"], &junk["files"]),
        (&json!("error"), &json!(["conf/.env", "notes.log"])),
        "{junk}"
    );
    for name in ["python.junk", "python.sdist.secrets", "python.sdist.paths.unsafe", "python.sdist.size"] {
        assert_eq!(check(&told, name)["passed"], true, "{name}: {told:#}");
    }
    let tight = session.ok("release_pack_verify", json!({ "version": "1.1.0", "budget": 100 }));
    assert!(errors(&tight).is_superset(&BTreeSet::from(["python.size", "python.sdist.size"])), "{tight:#}");
}

#[test]
fn release_pack_verify_takes_the_packages_of_a_workspace_of_uv() {
    let Some(bench) = tides() else { return };
    let member =
        |name: &str, more: &str| format!("{}{more}", project("1.1.0", "").replace("harbor-tides", name));
    let put = |folder: &str, module: &str, text: &str| {
        bench.put(&format!("{folder}/pyproject.toml"), text);
        bench.put(&format!("{folder}/{module}/__init__.py"), CODE);
        for file in ["README.md", "LICENSE"] {
            bench.put(&format!("{folder}/{file}"), "x\n");
        }
    };
    let workspace = "\n[tool.uv]\npackage = false\n\n[tool.uv.workspace]\nmembers = [\"packages/*\"]\nexclude = [\"packages/left\"]\n";
    bench.put("pyproject.toml", &format!("{}{workspace}", project("1.1.0", "")));
    put("packages/ebb", "harbor_ebb", &member("harbor-ebb", ""));
    put("packages/flow", "harbor_flow", &member("harbor-flow", ""));
    put("packages/left", "harbor_left", &member("harbor-left", ""));
    put("packages/app", "harbor_app", &member("harbor-app", "\n[tool.uv]\npackage = false\n"));
    bench.commit("feat: a workspace");
    let mut session = bench.serve();
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{told:#}");
    let wheels: Vec<&str> = told["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| package["archive"].as_str().unwrap())
        .filter(|archive| archive.ends_with(".whl"))
        .collect();
    assert_eq!(wheels, ["harbor_ebb-1.1.0-py3-none-any.whl", "harbor_flow-1.1.0-py3-none-any.whl"]);
    // What is named is built, whatever uv does with it; one that cannot be read stands in the way alone.
    let named = session.ok("release_pack_verify", json!({ "version": "1.1.0", "package": "packages/app" }));
    assert_eq!(named["packages"][0]["name"], "harbor-app", "{named:#}");
    bench.put("packages/flow/pyproject.toml", "[project\n");
    bench.put("pyproject.toml", &format!("# by hand\n{}{workspace}", project("1.1.0", "")));
    let broken = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!(check(&broken, "release.manifest")["package"], "packages/flow", "{broken:#}");
    let dirty = check(&broken, "release.clean-tree");
    assert_eq!(
        (&dirty["package"], &dirty["files"]),
        (&json!("harbor-ebb"), &json!(["pyproject.toml"])),
        "{dirty}"
    );
}

#[test]
fn release_pack_verify_reads_tags_and_headings_as_python_writes_versions() {
    let Some(bench) = tides() else { return };
    bench.put("pyproject.toml", &project("1.1.0rc2", ""));
    bench.put("CHANGELOG.md", "# Changelog\n\n## 1.1.0rc2 (2026-11-22)\n\n- Lows.\n");
    bench.commit("chore: a candidate");
    bench.git(&["tag", "v1.1.0rc1"]);
    let mut session = bench.serve();
    let asked = json!({ "version": "1.1.0-rc.2" });
    let told = session.ok("release_pack_verify", asked.clone());
    assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{told:#}");
    assert_eq!(check(&told, "release.changelog")["passed"], true, "{told:#}");
    assert_eq!(told["bumps"]["harbor-tides"]["from"], "1.0.0");
    let first = session.ok("release_pack_verify", json!({ "version": "1.1.0-rc.1" }));
    let taken = check(&first, "release.version.free")["details"].as_str().unwrap();
    assert!(taken.contains("v1.1.0rc1"), "{taken}");
    // Tags of its own are those that begin with its name, however that is spelled.
    bench.git(&["tag", "harbor_tides-0.9"]);
    let own = session.ok("release_pack_verify", asked);
    assert_eq!(own["bumps"]["harbor-tides"]["from"], "0.9.0", "{own:#}");
}

#[test]
fn release_pack_verify_tells_a_backend_that_looks_for_tags_the_version_that_is_not_tagged_yet() {
    let Some(bench) = tides() else { return };
    let Some(_) = installed("versions from tags", "python/devtools/lib/*/site-packages/setuptools_scm")
    else {
        return;
    };
    for (requires, backend, more) in [
        ("\"setuptools>=80\", \"setuptools-scm>=8\"", "setuptools.build_meta", "[tool.setuptools_scm]\n"),
        ("\"hatchling\", \"hatch-vcs\"", "hatchling.build", "[tool.hatch.version]\nsource = \"vcs\"\n"),
    ] {
        let text = project("1.1.0", "")
            .replace("\"flit_core >=4,<5\"", requires)
            .replace("flit_core.buildapi", backend)
            .replace("version = \"1.1.0\"", "dynamic = [\"version\"]");
        bench.put("pyproject.toml", &format!("{text}\n{more}"));
        bench.commit("chore: versions from tags");
        let mut session = bench.serve();
        let told = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
        assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{backend}: {told:#}");
        assert_eq!(told["packages"][0]["archive"], "harbor_tides-1.1.0-py3-none-any.whl", "{told:#}");
        assert!(told["undecided"].to_string().contains("takes the version from a tag"), "{told:#}");
    }
}

#[test]
fn release_pack_verify_warns_of_a_wheel_of_a_compiler_and_says_who_mends_it() {
    let Some(bench) = tides() else { return };
    if std::process::Command::new("cc").arg("--version").output().is_err() {
        super::super::skip("wheels with native code (there is no C compiler)");
        return;
    }
    bench.put(
        "pyproject.toml",
        &project("1.1.0", "")
            .replace("\"flit_core >=4,<5\"", "\"setuptools>=80\"")
            .replace("flit_core.buildapi", "setuptools.build_meta"),
    );
    bench.put(
        "setup.py",
        "from setuptools import Extension, setup\n\nsetup(ext_modules=[Extension('harbor_tides._c', ['harbor_tides/_c.c'])])\n",
    );
    bench.put(
        "harbor_tides/_c.c",
        "#include <Python.h>\nstatic struct PyModuleDef it = {PyModuleDef_HEAD_INIT, \"_c\", 0, -1, 0};\n\
         PyMODINIT_FUNC PyInit__c(void) { return PyModule_Create(&it); }\n",
    );
    bench.commit("feat: quicker");
    let mut session = bench.serve();
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{told:#}");
    let tags = check(&told, "python.wheel.tags");
    assert_eq!(tags["severity"], "warning", "{tags}");
    assert!(tags["details"].as_str().unwrap().contains("linux_"), "{tags}");
    let fix = tags["fix"].as_str().unwrap();
    assert!(fix.contains("auditwheel") && fix.contains("cibuildwheel"), "{fix}");
    assert_eq!(check(&told, "python.smoke")["passed"], true, "{told:#}");
}

#[test]
fn release_pack_verify_takes_the_name_of_a_package_that_only_its_script_knows_from_its_wheel() {
    let Some(bench) = tides() else { return };
    std::fs::remove_file(bench.place.root().join("pyproject.toml")).unwrap();
    let script = "from setuptools import setup\n\nsetup(name='harbor-tides', version='1.1.0', packages=['harbor_tides'])\n";
    bench.put("setup.py", script);
    bench.commit("chore: a script");
    let mut session = bench.serve();
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0", "apply": true }));
    assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{told:#}");
    assert_eq!(told["packages"][0]["name"], "harbor-tides", "{told:#}");
    assert!(told["branchName"].as_str().unwrap().starts_with("sbx/release-harbor-tides-1.1.0-"), "{told:#}");
    // Beside a package of others it may be any script, unless it is asked for.
    bench.put(
        "package.json",
        r#"{ "name": "tides", "version": "1.1.0", "license": "MIT", "main": "index.js" }"#,
    );
    bench.put("index.js", "exports.a = 1;\n");
    bench.commit("feat: tides in JavaScript");
    let names = |told: &Value| -> BTreeSet<String> {
        told["packages"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap().to_owned()).collect()
    };
    let beside = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!(names(&beside), BTreeSet::from(["tides".to_owned()]), "{beside:#}");
    let asked = session.ok("release_pack_verify", json!({ "version": "1.1.0", "ecosystem": "python" }));
    assert_eq!(names(&asked), BTreeSet::from(["harbor-tides".to_owned()]), "{asked:#}");
}
