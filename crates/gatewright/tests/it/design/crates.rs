//! Crates verified before they are released, with the real Cargo.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Bench;

const CORE: &str = "[package]\nname = \"tide-core\"\nversion.workspace = true\nedition.workspace = true\nlicense.workspace = true\n\
    description = \"What tides are made of.\"\nrepository = \"https://example.com/tides\"\nreadme = \"README.md\"\n";

const CLI: &str = "[package]\nname = \"tide\"\nversion.workspace = true\nedition.workspace = true\nlicense.workspace = true\n\
    description = \"Tides on the command line.\"\nrepository = \"https://example.com/tides\"\nreadme = \"README.md\"\n\n\
    [dependencies]\ntide-core = { path = \"../core\", version = \"1.1.0\" }\n";

fn top(version: &str) -> String {
    format!(
        "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n\n\
         [workspace.package]\nversion = \"{version}\"\nedition = \"2021\"\nlicense = \"MIT\"\n"
    )
}

/// A workspace of a library and a program that was released as 1.0.0; since then the library has a function more.
fn tides() -> Option<Bench> {
    tides_in("")
}

/// The same below a folder, which ends in a slash.
fn tides_in(folder: &str) -> Option<Bench> {
    if std::process::Command::new("cargo").arg("--version").output().is_err() {
        super::super::skip("crates (cargo is not installed)");
        return None;
    }
    let cli = CLI.replace("1.1.0", "1.0.0");
    let workspace = top("1.0.0");
    let files = [
        ("Cargo.toml", workspace.as_str()),
        ("crates/core/Cargo.toml", CORE),
        (
            "crates/core/src/lib.rs",
            "//! Tides.\n\n/// How high.\npub fn height(hour: u8) -> f64 {\n    f64::from(hour)\n}\n",
        ),
        ("crates/core/README.md", "# Core\n"),
        ("crates/core/LICENSE", "MIT\n"),
        ("crates/cli/Cargo.toml", &cli),
        ("crates/cli/src/main.rs", "fn main() {\n    println!(\"{}\", tide_core::height(3));\n}\n"),
        ("crates/cli/README.md", "# Tide\n"),
        ("crates/cli/LICENSE", "MIT\n"),
        (
            "crates/private/Cargo.toml",
            "[package]\nname = \"tide-private\"\nversion.workspace = true\npublish = false\n",
        ),
        ("crates/private/src/lib.rs", ""),
        ("CHANGELOG.md", "# Changelog\n\n## 1.1.0\n\n- Lows.\n\n## 1.0.0\n\n- First.\n"),
        (".gitignore", "target/\n"),
    ];
    let placed = files.map(|(path, text)| (format!("{folder}{path}"), text));
    let bench = Bench::new(&placed.each_ref().map(|(path, text)| (path.as_str(), *text)));
    bench.git(&["tag", "v1.0.0"]);
    let put = |path: &str, text: &str| bench.put(&format!("{folder}{path}"), text);
    let lib = bench.read(&format!("{folder}crates/core/src/lib.rs")).unwrap();
    put(
        "crates/core/src/lib.rs",
        &format!("{lib}\n/// How low.\npub fn low(hour: u8) -> f64 {{\n    -height(hour)\n}}\n"),
    );
    put("Cargo.toml", &top("1.1.0"));
    put("crates/cli/Cargo.toml", CLI);
    let lock = std::process::Command::new("cargo")
        .args(["generate-lockfile", "--offline"])
        .current_dir(bench.place.root().join(folder))
        .output()
        .unwrap();
    assert!(lock.status.success(), "{}", String::from_utf8_lossy(&lock.stderr));
    bench.commit("feat: lows");
    Some(bench.patient())
}

fn of<'v>(answer: &'v Value, name: &str, package: &str) -> &'v Value {
    let checks = answer["verificationChecks"].as_array().unwrap();
    let found =
        checks.iter().find(|c| c["checkName"] == name && (c["package"] == package || package.is_empty()));
    found.unwrap_or_else(|| panic!("{name}: {answer:#}"))
}

fn errors(answer: &Value) -> BTreeSet<&str> {
    let checks = answer["verificationChecks"].as_array().unwrap().iter();
    checks.filter(|c| c["severity"] == "error").map(|c| c["checkName"].as_str().unwrap()).collect()
}

#[test]
fn release_pack_verify_packs_crates_as_cargo_does_and_those_of_a_workspace_together() {
    let Some(bench) = tides() else { return };
    let mut session = bench.serve();
    let dry = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!((&dry["success"], errors(&dry)), (&json!(true), BTreeSet::new()), "{dry:#}");
    let packages: Vec<(&str, &str)> = dry["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["archive"].as_str().unwrap(), p["ecosystem"].as_str().unwrap()))
        .collect();
    assert_eq!(packages, [("tide-1.1.0.crate", "cargo"), ("tide-core-1.1.0.crate", "cargo")]);
    assert_eq!(of(&dry, "cargo.pack.twice", "")["details"], "passed for 2 packages");
    assert_eq!(of(&dry, "cargo.files.equal", "")["passed"], true);
    let bump = &dry["bumps"]["tide-core"];
    assert_eq!((&bump["from"], &bump["required"]), (&json!("1.0.0"), &json!("minor")), "{bump}");
    assert!(bump["because"].to_string().contains("low"), "{bump}");
    assert_eq!(bench.dirt(), "", "what Cargo built is gone");

    let args = json!({ "version": "1.1.0", "package": "crates/core", "ecosystem": "cargo", "smoke": true, "apply": true });
    let applied = session.ok("release_pack_verify", args);
    assert_eq!(of(&applied, "cargo.smoke", "")["passed"], true, "{applied:#}");
    assert_eq!(of(&applied, "cargo.vcs", "")["passed"], true);
    let branch = applied["branchName"].as_str().unwrap();
    assert!(branch.starts_with("sbx/release-tide-core-1.1.0-"), "{branch}");
    let folder = "releases/tide-core-1.1.0";
    let names = bench.git(&["ls-tree", "-r", "--name-only", branch, folder]);
    assert_eq!(
        names.lines().map(|l| l.rsplit('/').next().unwrap()).collect::<Vec<_>>(),
        ["SHA256SUMS", "provenance.intoto.json", "sbom.cdx.json", "tide-core-1.1.0.crate"]
    );
    let bill: Value =
        serde_json::from_str(&bench.git(&["show", &format!("{branch}:{folder}/sbom.cdx.json")])).unwrap();
    assert_eq!(bill["metadata"]["component"]["purl"], "pkg:cargo/tide-core@1.1.0");
}

#[test]
fn release_pack_verify_says_what_stops_a_crate() {
    let Some(bench) = tides() else { return };
    let mut session = bench.serve();
    let core = |version: &str| json!({ "version": version, "package": "crates/core" });
    // A function is gone, and the release says that it is a minor one.
    bench.put(
        "crates/core/src/lib.rs",
        "//! Tides.\n\n/// How low.\npub fn low(hour: u8) -> f64 {\n    -f64::from(hour)\n}\n",
    );
    bench.commit("fix: less");
    let gone = session.ok("release_pack_verify", core("1.1.0"));
    assert_eq!(errors(&gone), BTreeSet::from(["release.bump"]), "{gone:#}");
    assert!(gone["bumps"]["tide-core"]["because"].to_string().contains("height is gone"), "{gone:#}");
    // It is another version than the manifest has.
    let other = session.ok("release_pack_verify", core("2.0.0"));
    assert_eq!(errors(&other), BTreeSet::from(["cargo.version.manifest"]), "{other:#}");
    // What crates.io does not take, and what does not build from its archive.
    bench.put("crates/core/Cargo.toml", &CORE.replace("description = \"What tides are made of.\"\n", ""));
    bench.put("crates/core/src/lib.rs", "include!(\"../../shared.rs\");\n");
    bench.put("crates/shared.rs", "pub fn height(hour: u8) -> f64 { f64::from(hour) }\n");
    bench.commit("fix: share");
    let mut asked = core("1.1.0");
    asked["smoke"] = json!(true);
    let broken = session.ok("release_pack_verify", asked);
    let found = errors(&broken);
    assert!(
        found.contains("cargo.smoke") && found.contains("cargo.manifest.described"),
        "{found:?} {broken:#}"
    );
    assert_eq!(broken.get("branchName"), None);
    // It cannot even be packed.
    bench.put("crates/core/Cargo.toml", &format!("{CORE}\n[dependencies]\nnobody-has-this-crate = \"1\"\n"));
    let unpacked = session.ok("release_pack_verify", core("1.1.0"));
    assert!(
        of(&unpacked, "cargo.pack", "")["details"].as_str().unwrap().contains("nobody-has-this-crate"),
        "{unpacked:#}"
    );
    bench.put("crates/core/Cargo.toml", "[package");
    for (arguments, code) in [
        (core("1.1.0"), "invalid_source"),
        (json!({ "version": "1.1.0", "package": "crates/none" }), "not_found"),
        (json!({ "version": "1.1.0", "package": "crates/cli", "ecosystem": "npm" }), "not_found"),
        (json!({ "version": "1.1.0", "ecosystem": "conda" }), "invalid_argument"),
    ] {
        let fault = session.fails("release_pack_verify", arguments.clone());
        assert_eq!(fault["code"], code, "{arguments}: {fault}");
    }
}

#[test]
fn release_pack_verify_packs_and_checks_the_others_where_cargo_refuses_one() {
    let Some(bench) = tides() else { return };
    bench.put("crates/cli/Cargo.toml", &CLI.replace(", version = \"1.1.0\"", ""));
    bench.commit("fix: no version");
    let mut session = bench.serve();
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    assert_eq!(
        (&told["success"], errors(&told)),
        (&json!(false), BTreeSet::from(["cargo.dependencies.versions", "cargo.pack"])),
        "{told:#}"
    );
    let refused = of(&told, "cargo.pack", "tide")["details"].as_str().unwrap();
    assert!(refused.contains("tide-core"), "as Cargo says it: {refused}");
    assert_eq!(of(&told, "cargo.dependencies.versions", "tide")["severity"], "error");
    assert_eq!(of(&told, "cargo.version.manifest", "")["details"], "passed for 2 packages");
    for name in ["cargo.pack.twice", "cargo.files.equal", "cargo.smoke", "cargo.secrets"] {
        let found = of(&told, name, "tide-core");
        assert_eq!(found["passed"], true, "{found}");
    }
    let archives: Vec<&Value> =
        told["packages"].as_array().unwrap().iter().map(|package| &package["archive"]).collect();
    assert_eq!(archives, ["tide-core-1.1.0.crate"]);
    assert_eq!(told["bumps"]["tide-core"]["required"], "minor", "{told:#}");
}

#[test]
fn release_pack_verify_builds_crates_of_a_workspace_beside_each_others_new_versions() {
    let Some(bench) = tides() else { return };
    bench.put("crates/cli/src/main.rs", "fn main() {\n    println!(\"{}\", tide_core::low(3));\n}\n");
    bench.commit("feat: show lows");
    let mut session = bench.serve();
    let both = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    assert_eq!((&both["success"], errors(&both)), (&json!(true), BTreeSet::new()), "{both:#}");
    assert_eq!(of(&both, "cargo.smoke", "")["details"], "passed for 2 packages");
    // What does not build is told of the crate that does not, and of no other.
    bench.put("crates/shared.rs", "fn main() {}\n");
    bench.put("crates/cli/src/main.rs", "include!(\"../../shared.rs\");\n");
    bench.commit("fix: share");
    let one = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    assert_eq!(errors(&one), BTreeSet::from(["cargo.smoke"]), "{one:#}");
    assert_eq!(of(&one, "cargo.smoke", "tide")["passed"], false);
    assert_eq!(of(&one, "cargo.smoke", "tide-core")["passed"], true, "{one:#}");
}

#[test]
fn release_pack_verify_takes_a_library_that_is_gone_for_a_break() {
    let Some(bench) = tides() else { return };
    std::fs::remove_file(bench.place.root().join("crates/core/src/lib.rs")).unwrap();
    bench.put("crates/core/src/main.rs", "fn main() {}\n");
    bench.put("crates/core/Cargo.toml", &format!("{CORE}\n[features]\nmore = []\n"));
    bench.commit("feat: a program");
    let mut session = bench.serve();
    let gone = session.ok("release_pack_verify", json!({ "version": "1.1.0", "package": "crates/core" }));
    assert_eq!(errors(&gone), BTreeSet::from(["release.bump"]), "{gone:#}");
    let bump = &gone["bumps"]["tide-core"];
    assert_eq!(bump["required"], "major", "{bump}");
    let because = bump["because"].to_string();
    assert!(
        because.contains("the library is gone") && because.contains("more"),
        "features are compared: {because}"
    );
    assert!(of(&gone, "cargo.api", "")["details"].as_str().unwrap().contains("gone"), "{gone:#}");
}

#[test]
fn release_pack_verify_looks_at_a_package_of_npm_beside_a_manifest_that_cannot_be_read() {
    let bench = Bench::new(&[
        (
            "package.json",
            r#"{ "name": "@acme/ui", "version": "2.0.0", "license": "MIT", "main": "index.js" }"#,
        ),
        ("index.js", "exports.a = 1;\n"),
        ("pyproject.toml", "[project\n"),
    ]);
    let mut session = bench.serve();
    let mut manifests = |version: &str| {
        let told = session.ok("release_pack_verify", json!({ "version": version }));
        assert_eq!((&told["success"], told.get("branchName")), (&json!(false), None), "{told:#}");
        assert_eq!(told["packages"][0]["name"], "@acme/ui", "{told:#}");
        assert_eq!(of(&told, "npm.pack.twice", "@acme/ui")["passed"], true);
        let checks = told["verificationChecks"].as_array().unwrap().iter();
        let failed: Vec<String> = checks
            .filter(|check| check["checkName"] == "release.manifest")
            .map(|check| {
                assert_eq!(
                    (&check["severity"], &check["package"]),
                    (&json!("error"), &json!(".")),
                    "{check}"
                );
                assert!(!check["fix"].as_str().unwrap().is_empty());
                check["details"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(errors(&told), BTreeSet::from(["release.manifest"]), "{told:#}");
        failed
    };
    let [python] = manifests("2.0.0").try_into().unwrap();
    assert!(python.contains("pyproject.toml"), "{python}");
    bench.put("Cargo.toml", "[package\n");
    bench.put("pyproject.toml", "[tool.ruff]\n");
    bench.commit("chore: another");
    let [cargo] = manifests("2.0.0").try_into().unwrap();
    assert!(cargo.contains("Cargo.toml"), "{cargo}");
    bench.put("pyproject.toml", "[project\n");
    bench.commit("chore: both");
    assert_eq!(manifests("2.0.0").len(), 2);
}

#[test]
fn release_pack_verify_takes_of_crates_with_versions_of_their_own_those_that_have_the_version() {
    let Some(bench) = tides() else { return };
    // The program is released; the library that it needs was before, and no registry that is at hand has it.
    bench.put("crates/cli/Cargo.toml", &CLI.replace("version.workspace = true", "version = \"2.0.0\""));
    bench.commit("feat!: another program");
    let mut session = bench.serve();
    let archives = |told: &Value| -> Vec<String> {
        told["packages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["archive"].as_str().unwrap().to_owned())
            .collect()
    };
    let told = session.ok("release_pack_verify", json!({ "version": "2.0.0", "smoke": true }));
    assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{told:#}");
    assert_eq!(archives(&told), ["tide-2.0.0.crate"]);
    let others = of(&told, "release.version.others", "");
    assert_eq!((&others["passed"], &others["severity"]), (&json!(false), &json!("note")), "{others}");
    assert!(others["details"].as_str().unwrap().contains("tide-core is 1.1.0"), "{others}");
    assert!(told["undecided"].to_string().contains("packed beside tide-core@1.1.0"), "{told:#}");
    assert_eq!(of(&told, "cargo.smoke", "")["passed"], true, "{told:#}");
    // By its name alone, too; the library needs nobody.
    let named = session.ok("release_pack_verify", json!({ "version": "2.0.0", "package": "crates/cli" }));
    assert_eq!((errors(&named), archives(&named)), (BTreeSet::new(), vec!["tide-2.0.0.crate".to_owned()]));
    let core = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!((errors(&core), archives(&core)), (BTreeSet::new(), vec!["tide-core-1.1.0.crate".to_owned()]));
    assert!(!core["undecided"].to_string().contains("packed beside"), "{core:#}");
    // A version that none has was forgotten in all.
    let none = session.ok("release_pack_verify", json!({ "version": "3.0.0" }));
    assert_eq!(errors(&none), BTreeSet::from(["cargo.version.manifest"]), "{none:#}");
    assert_eq!(archives(&none).len(), 2, "{none:#}");
    assert!(!none["verificationChecks"].to_string().contains("release.version.others"), "{none:#}");
}

#[test]
fn release_pack_verify_takes_a_crate_of_a_workspace_that_is_not_at_the_top() {
    let Some(bench) = tides_in("rust/") else { return };
    let mut session = bench.serve();
    let asked = json!({ "version": "1.1.0", "package": "rust/crates/core", "smoke": true });
    let told = session.ok("release_pack_verify", asked);
    assert_eq!((&told["success"], errors(&told)), (&json!(true), BTreeSet::new()), "{told:#}");
    assert_eq!(told["packages"][0]["folder"], "rust/crates/core");
    assert_eq!(of(&told, "cargo.version.manifest", "")["passed"], true, "what it inherits is known");
    assert_eq!(of(&told, "cargo.vcs", "")["passed"], true, "{told:#}");
    assert_eq!(told["bumps"]["tide-core"]["required"], "minor", "{told:#}");
    // One that needs a member beside it, and one that is in no workspace although there is one above it.
    let cli = session.ok("release_pack_verify", json!({ "version": "1.1.0", "package": "rust/crates/cli" }));
    assert_eq!(errors(&cli), BTreeSet::new(), "{cli:#}");
    bench.put("rust/Cargo.toml", &top("1.1.0").replace("resolver", "exclude = [\"crates/core\"]\nresolver"));
    let fault =
        session.fails("release_pack_verify", json!({ "version": "1.1.0", "package": "rust/crates/core" }));
    assert_eq!(fault["code"], "invalid_source", "{fault}");
    assert!(fault["message"].as_str().unwrap().contains(".workspace = true"), "{fault}");
}

#[test]
fn release_pack_verify_tells_members_what_their_workspace_gives_them_and_no_commit_holds() {
    let Some(bench) = tides() else { return };
    bench.put(
        "Cargo.toml",
        &format!("{}\n[patch.crates-io]\ntide-private = {{ path = \"crates/private\" }}\n", top("1.1.0")),
    );
    let mut session = bench.serve();
    let core = json!({ "version": "1.1.0", "package": "crates/core" });
    let told = session.ok("release_pack_verify", core.clone());
    let patch = of(&told, "cargo.manifest.patch", "");
    assert_eq!((&patch["passed"], &patch["severity"]), (&json!(false), &json!("warning")), "{patch}");
    assert!(patch["details"].as_str().unwrap().contains("[patch.crates-io] tide-private"), "{patch}");
    // The version that it inherits is nowhere to be checked out.
    let dirty = of(&told, "release.clean-tree", "");
    assert_eq!((&dirty["severity"], &dirty["files"]), (&json!("error"), &json!(["Cargo.toml"])), "{dirty}");
    bench.put("Cargo.toml", &top("1.1.0"));
    assert_eq!(
        of(&session.ok("release_pack_verify", core.clone()), "release.clean-tree", "")["passed"],
        true
    );
    let lock = bench.read("Cargo.lock").unwrap();
    bench.put("Cargo.lock", &format!("{lock}\n# by hand\n"));
    let locked = session.ok("release_pack_verify", core.clone());
    assert_eq!(of(&locked, "release.clean-tree", "")["files"], json!(["Cargo.lock"]), "{locked:#}");
    bench.put("Cargo.lock", &lock);
    // What lies beside it is somebody else's.
    bench.put("crates/cli/README.md", "# Tides\n");
    assert_eq!(of(&session.ok("release_pack_verify", core), "release.clean-tree", "")["passed"], true);
}
