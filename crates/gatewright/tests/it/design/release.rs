//! Releases verified before they are made, with the real npm and Node.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::Bench;

const TOKENS: &str =
    r##"{ "color": { "$type": "color", "red": { "$value": "#ff0000" }, "ink": { "$value": "#111111" } } }"##;

/// `more` replaces fields. The order of conditions counts, which a `Value` does not keep: they are written as text.
fn manifest(version: &str, more: &Value) -> String {
    let mut fields = vec![
        ("name", json!("@acme/ui").to_string()),
        ("version", json!(version).to_string()),
        ("license", json!("MIT").to_string()),
        ("description", json!("Buttons").to_string()),
        ("repository", json!({ "type": "git", "url": "git+https://example.com/acme/ui.git" }).to_string()),
        ("main", json!("./dist/index.js").to_string()),
        ("types", json!("./dist/index.d.ts").to_string()),
        ("exports", r#"{ ".": { "types": "./dist/index.d.ts", "default": "./dist/index.js" } }"#.to_owned()),
        ("type", json!("commonjs").to_string()),
        ("files", json!(["dist", "tokens"]).to_string()),
        ("engines", json!({ "node": ">=20" }).to_string()),
    ];
    for (name, value) in more.as_object().into_iter().flatten() {
        fields.retain(|(field, _)| field != name);
        fields.push((name, value.to_string()));
    }
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
    format!("{{\n{}\n}}\n", fields.join(",\n"))
}

/// A package that was released as 1.0.0; since then it has a function and a token more, and its version is `version`.
fn released(version: &str, more: &Value) -> Bench {
    let bench = Bench::new(&[
        ("package.json", &manifest("1.0.0", &json!({}))),
        ("dist/index.js", "exports.button = () => 'button';\n"),
        ("dist/index.d.ts", "export declare const button: () => string;\n"),
        ("tokens/base.json", TOKENS),
        ("README.md", "# UI\n"),
        ("LICENSE", "MIT\n"),
        ("CHANGELOG.md", "# Changelog\n\n## 1.1.0\n\n- Cards.\n\n## 1.0.0\n\n- First.\n"),
    ]);
    bench.git(&["tag", "v1.0.0"]);
    bench.put("dist/index.js", "exports.button = () => 'button';\nexports.card = () => 'card';\n");
    bench.put(
        "dist/index.d.ts",
        "export declare const button: () => string;\nexport declare const card: () => string;\n",
    );
    bench
        .put("tokens/base.json", &TOKENS.replace("\"ink\"", "\"sky\": { \"$value\": \"#0088ff\" }, \"ink\""));
    bench.put("package.json", &manifest(version, more));
    bench.commit("feat: cards");
    bench
}

fn check<'v>(answer: &'v Value, name: &str) -> &'v Value {
    let checks = answer["verificationChecks"].as_array().unwrap();
    checks.iter().find(|c| c["checkName"] == name).unwrap_or_else(|| panic!("{name}: {answer:#}"))
}

fn failed(answer: &Value) -> Vec<&str> {
    let checks = answer["verificationChecks"].as_array().unwrap();
    checks.iter().filter(|c| c["passed"] == false).map(|c| c["checkName"].as_str().unwrap()).collect()
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success())
}

/// A file of a branch, as it is.
fn of_branch(bench: &Bench, branch: &str, path: &str, to: &Path) {
    let out = Command::new("git")
        .args(["show", &format!("{branch}:{path}")])
        .current_dir(bench.place.root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{path}: {}", String::from_utf8_lossy(&out.stderr));
    std::fs::write(to, out.stdout).unwrap();
}

#[test]
fn release_pack_verify_puts_a_good_release_on_a_branch_and_a_repeat_is_nothing() {
    let bench = released("1.1.0", &json!({}));
    let mut session = bench.serve();
    let dry = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!(
        (&dry["success"], &dry["errorCount"], failed(&dry)),
        (&json!(true), &json!(0), vec![]),
        "{dry:#}"
    );
    for name in [
        "npm.pack.twice",
        "npm.manifest.name",
        "npm.secrets",
        "npm.junk",
        "npm.publint",
        "npm.types",
        "release.clean-tree",
        "release.changelog",
        "release.bump",
    ] {
        assert_eq!(check(&dry, name)["passed"], true, "{name}");
    }
    if has("npm") {
        assert_eq!(check(&dry, "npm.files.equal")["passed"], true, "{dry:#}");
    }
    assert_eq!(dry["packages"][0]["files"], 6, "{dry:#}");
    let bump = &dry["bumps"]["@acme/ui"];
    assert_eq!((&bump["from"], &bump["required"]), (&json!("1.0.0"), &json!("minor")), "{bump}");
    let because = bump["because"].to_string();
    assert!(
        because.contains("color.sky")
            && because.contains("card")
            && because.contains("feat") | because.contains("cards"),
        "{because}"
    );
    let branch = dry["branchName"].as_str().unwrap().to_owned();
    assert!(branch.starts_with("sbx/release-acme-ui-1.1.0-"), "{branch}");
    assert_eq!(bench.git(&["branch", "--list", "sbx/*"]), "", "a rehearsal makes no branch");

    let applied = session.ok("release_pack_verify", json!({ "version": "1.1.0", "apply": true }));
    assert_eq!((&applied["branchName"], bench.dirt()), (&json!(branch), String::new()), "{applied:#}");
    let folder = "releases/acme-ui-1.1.0";
    let names = bench.git(&["ls-tree", "-r", "--name-only", &branch, "releases"]);
    assert_eq!(
        names.lines().map(|l| l.rsplit('/').next().unwrap()).collect::<Vec<_>>(),
        ["SHA256SUMS", "acme-ui-1.1.0.tgz", "provenance.intoto.json", "sbom.cdx.json"]
    );
    let place = tempfile::tempdir().unwrap();
    for name in names.lines() {
        let name = name.rsplit('/').next().unwrap();
        of_branch(&bench, &branch, &format!("{folder}/{name}"), &place.path().join(name));
    }
    let sums = Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(place.path())
        .output()
        .unwrap();
    assert!(sums.status.success(), "{}", String::from_utf8_lossy(&sums.stdout));
    let read = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(place.path().join(name)).unwrap()).unwrap()
    };
    let (bill, provenance) = (read("sbom.cdx.json"), read("provenance.intoto.json"));
    assert_eq!(
        (&bill["bomFormat"], &bill["metadata"]["component"]["purl"]),
        (&json!("CycloneDX"), &json!("pkg:npm/%40acme/ui@1.1.0"))
    );
    assert_eq!(provenance["subject"][0]["digest"]["sha256"], dry["packages"][0]["sha256"]);
    let head = bench.git(&["rev-parse", "HEAD"]);
    let source = &provenance["predicate"]["buildDefinition"]["resolvedDependencies"][0];
    assert_eq!(source["digest"]["gitCommit"], head.trim());
    if has("npm") {
        same_as_npms(&bench, place.path());
    }
    let again = session.ok("release_pack_verify", json!({ "version": "1.1.0", "apply": true }));
    assert_eq!((&again["branchName"], &again["plan"]["effects"]), (&json!(branch), &json!([])), "{again:#}");
    assert_eq!(bench.git(&["rev-list", "--count", &format!("main..{branch}")]).trim(), "1");
}

/// What npm packs itself has the same tar stream; compression is another library's.
fn same_as_npms(bench: &Bench, ours: &Path) {
    let theirs = tempfile::tempdir().unwrap();
    let out = Command::new("npm")
        .args(["pack", "--ignore-scripts", "--pack-destination", theirs.path().to_str().unwrap()])
        .current_dir(bench.place.root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let inflated = |path: &Path| {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
        bytes
    };
    let name = "acme-ui-1.1.0.tgz";
    assert_eq!(inflated(&ours.join(name)), inflated(&theirs.path().join(name)), "the tar streams are equal");
}

#[test]
fn release_pack_verify_says_what_stands_in_the_way_and_makes_nothing() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let bench = released(
        "1.0.1",
        &json!({ "files": ["dist", "tokens", ".env"], "exports": "./dist/gone.js", "dependencies": { "x": "file:../x" } }),
    );
    bench.put("dist/config.js", &format!("export const ok = 1;\nexport const token = \"{secret}\";\n"));
    let mut blob = vec![0, 0xff, 0xfe, b'\n'];
    blob.extend_from_slice(format!("\0{secret}\0").as_bytes());
    std::fs::write(bench.place.root().join("dist/blob.bin"), blob).unwrap();
    let long = format!("{}{secret}\n", "// nothing to see\n".repeat(300_000));
    bench.put("dist/long.js", &long);
    bench.put(".env", "A=b\n");
    bench.put("tokens/base.json", &TOKENS.replace("\"ink\"", "\"coal\"").replace("#111111", "#222222"));
    let mut session = bench.serve();
    let answer = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!((&answer["success"], answer.get("branchName")), (&json!(false), None), "{answer:#}");
    for (name, severity) in [
        ("npm.version.manifest", "error"),
        ("npm.dependencies.ranges", "error"),
        ("npm.junk", "error"),
        ("npm.secrets", "error"),
        ("npm.publint.FILE_DOES_NOT_EXIST", "error"),
        ("release.clean-tree", "error"),
        ("release.bump", "error"),
    ] {
        let found = check(&answer, name);
        assert_eq!(
            (&found["passed"], found["severity"].as_str()),
            (&json!(false), Some(severity)),
            "{found}"
        );
        assert!(!found["fix"].as_str().unwrap().is_empty(), "{found}");
    }
    let places = json!(["dist/blob.bin:2", "dist/config.js:2", "dist/long.js:300001"]);
    assert_eq!(check(&answer, "npm.secrets")["files"], places, "whatever they stand in");
    assert!(!answer.to_string().contains(&secret), "a secret is named by its place alone");
    let bump = &answer["bumps"]["@acme/ui"];
    assert_eq!(bump["required"], "major", "a token is gone: {bump}");
    assert!(answer["verificationChecks"][0]["severity"] == "error", "the gravest come first");
    let applied = session.ok("release_pack_verify", json!({ "version": "1.1.0", "apply": true }));
    assert_eq!((applied.get("branchName"), bench.git(&["branch", "--list", "sbx/*"])), (None, String::new()));

    bench.git(&["tag", "v1.1.0"]);
    let taken = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert_eq!(check(&taken, "release.version.free")["passed"], false);
    let older = session.ok("release_pack_verify", json!({ "version": "1.0.5" }));
    assert_eq!(check(&older, "release.version.newer")["severity"], "warning");

    for (arguments, code) in [
        (json!({ "version": "1.2" }), "invalid_argument"),
        (json!({ "version": "v1.2.3" }), "invalid_argument"),
        (json!({ "version": "1.2.3", "package": "../x" }), "path_not_allowed"),
        (json!({ "version": "1.2.3", "package": "nowhere" }), "not_found"),
        (json!({ "version": "1.2.3", "previous": "none.tgz" }), "not_found"),
        (json!({ "version": "1.2.3", "previous": "README.md" }), "invalid_argument"),
    ] {
        let fault = session.fails("release_pack_verify", arguments.clone());
        assert_eq!(fault["code"], code, "{arguments}: {fault}");
    }
    bench.put("package.json", "{");
    assert_eq!(session.fails("release_pack_verify", json!({ "version": "1.2.3" }))["code"], "invalid_source");
}

#[test]
fn release_pack_verify_compares_with_what_it_is_told_to() {
    let bench = released("1.1.0", &json!({}));
    let mut session = bench.serve();
    let same = session.ok("release_pack_verify", json!({ "version": "1.1.0", "base": "HEAD" }));
    assert_eq!(check(&same, "npm.api")["details"], "what is exported is as it was", "{same:#}");
    assert_eq!(check(&same, "release.tokens")["details"], "the tokens are as they were");
    bench.put("other/base.json", TOKENS);
    bench.commit("chore: other tokens");
    let other =
        session.ok("release_pack_verify", json!({ "version": "1.1.0", "base": "HEAD", "tokens": "other" }));
    assert_eq!(check(&other, "release.tokens")["passed"], true);
    let none = session.ok("release_pack_verify", json!({ "version": "1.1.0", "tokens": "nowhere" }));
    assert!(none["undecided"].to_string().contains("release.tokens"), "{none:#}");

    let tight = session.ok("release_pack_verify", json!({ "version": "1.1.0", "budget": 100 }));
    assert_eq!((&tight["success"], &check(&tight, "npm.size")["severity"]), (&json!(false), &json!("error")));
    if has("npm") {
        let out = Command::new("npm")
            .args(["pack", "--ignore-scripts"])
            .current_dir(bench.place.root())
            .output()
            .unwrap();
        assert!(out.status.success());
        bench.commit("chore: keep the archive");
        bench.put("dist/index.d.ts", "export declare const button: () => number;\n");
        bench.commit("fix: types");
        let told =
            session.ok("release_pack_verify", json!({ "version": "1.1.0", "previous": "acme-ui-1.1.0.tgz" }));
        let bump = &told["bumps"]["@acme/ui"];
        assert_eq!(bump["required"], "major", "an export is gone and one is another: {told:#}");
        assert_eq!(check(&told, "release.bump")["severity"], "error");
    }
}

#[test]
fn release_pack_verify_tries_the_archive_out_where_it_is_asked_to() {
    if !has("node") {
        super::super::skip("smoke imports (Node is not installed)");
        return;
    }
    let bench = released("1.1.0", &json!({}));
    let mut session = bench.serve();
    let fine = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    assert_eq!(check(&fine, "npm.smoke")["passed"], true, "{fine:#}");
    assert_eq!(bench.dirt(), "", "what it unpacked is gone");
    // What works in the repository and not for those who install it: a file that is not packed.
    bench.put("src/helper.js", "export const x = 1;\n");
    bench.put("dist/index.js", "require('../src/helper.js');\nexports.button = 1;\nexports.card = 1;\n");
    bench.commit("fix: help");
    let broken = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    let smoke = check(&broken, "npm.smoke");
    assert_eq!((&smoke["passed"], &smoke["severity"]), (&json!(false), &json!("error")), "{smoke}");
    assert!(smoke["details"].as_str().unwrap().contains("helper.js"), "{smoke}");
    bench.put("dist/index.js", "process.exit(0);\n");
    bench.commit("fix: leave");
    let left = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    assert_eq!(check(&left, "npm.smoke")["passed"], false, "who ends Node has not been imported");
    // It sees nothing of this machine.
    bench.put("dist/index.js", "exports.a = require('node:fs').readFileSync('/etc/shadow', 'utf8');\n");
    bench.commit("fix: look");
    let hostile = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    let details = check(&hostile, "npm.smoke")["details"].as_str().unwrap().to_owned();
    assert!(details.contains("ENOENT") || details.contains("EACCES"), "{details}");
}

#[test]
fn release_pack_verify_takes_the_packages_of_a_workspace() {
    let bench = Bench::new(&[
        (
            "package.json",
            r#"{ "name": "top", "private": true, "workspaces": ["packages/*", "!packages/skipped"] }"#,
        ),
        (
            "packages/a/package.json",
            r#"{ "name": "@acme/a", "version": "2.0.0", "license": "MIT", "main": "index.js" }"#,
        ),
        ("packages/a/index.js", "exports.a = 1;\n"),
        (
            "packages/b/package.json",
            r#"{ "name": "@acme/b", "version": "2.0.0", "license": "MIT", "main": "gone.js" }"#,
        ),
        ("packages/c/package.json", r#"{ "name": "@acme/c", "private": true }"#),
        ("packages/skipped/package.json", r#"{ "name": "@acme/d", "version": "2.0.0" }"#),
    ]);
    let mut session = bench.serve();
    let both = session.ok("release_pack_verify", json!({ "version": "2.0.0" }));
    let names: Vec<&str> =
        both["packages"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["@acme/a", "@acme/b"], "{both:#}");
    let broken = check(&both, "npm.publint.FILE_DOES_NOT_EXIST");
    assert_eq!((&broken["package"], &both["success"]), (&json!("@acme/b"), &json!(false)));
    let one = session
        .ok("release_pack_verify", json!({ "version": "2.0.0", "package": "packages/a", "apply": true }));
    assert_eq!(
        (&one["success"], &one["packages"][0]["folder"]),
        (&json!(true), &json!("packages/a")),
        "{one:#}"
    );
    let branch = one["branchName"].as_str().unwrap();
    assert!(
        bench
            .git(&["ls-tree", "-r", "--name-only", branch])
            .contains("releases/acme-a-2.0.0/acme-a-2.0.0.tgz")
    );
    bench.git(&["tag", "@acme/a@2.0.0"]);
    let next = session.ok("release_pack_verify", json!({ "version": "2.0.0", "package": "packages/a" }));
    assert_eq!(check(&next, "release.version.free")["passed"], false);
    // A member's tree is that of the workspace's top too; a folder that is no member has nothing of it.
    bench.put("package.json", r#"{ "private": true, "workspaces": ["packages/*", "!packages/skipped"] }"#);
    let mut clean = |folder: &str| {
        let told = session.ok("release_pack_verify", json!({ "version": "2.0.0", "package": folder }));
        check(&told, "release.clean-tree")["files"].clone()
    };
    assert_eq!((clean("packages/a"), clean("packages/skipped")), (json!(["package.json"]), Value::Null));
    // One with a version of its own is left out, and said.
    bench.put(
        "packages/b/package.json",
        r#"{ "name": "@acme/b", "version": "3.0.0", "license": "MIT", "main": "gone.js" }"#,
    );
    bench.commit("feat: a version of its own");
    let own = session.ok("release_pack_verify", json!({ "version": "2.0.0", "apply": false }));
    assert_eq!(own["packages"].as_array().unwrap().len(), 1, "{own:#}");
    let others = check(&own, "release.version.others")["details"].as_str().unwrap();
    assert!(others.ends_with("@acme/b is 3.0.0"), "{others}");
}

/// Packages of a workspace that names its members, without a tag and, unless asked, without a repository.
fn members() -> Bench {
    let package = |name: &str| {
        format!(
            r#"{{ "name": "{name}", "version": "2.0.0", "license": "MIT", "main": "index.js", "files": ["index.js"] }}"#
        )
    };
    Bench::new(&[
        (
            "package.json",
            r#"{ "private": true, "workspaces": ["packages/one", "../elsewhere/*", "packages/two"] }"#,
        ),
        ("packages/one/package.json", &package("@acme/ui")),
        ("packages/one/index.js", "exports.a = 1;\n"),
        ("packages/two/package.json", &package("acme-ui")),
        ("packages/two/index.js", "exports.a = 2;\n"),
    ])
}

#[test]
fn release_pack_verify_takes_members_that_are_named_and_two_of_one_plain_name_have_two_folders() {
    let bench = members();
    let mut session = bench.serve();
    let both = session.ok("release_pack_verify", json!({ "version": "2.0.0", "apply": true }));
    assert_eq!((&both["success"], both["packages"].as_array().unwrap().len()), (&json!(true), 2), "{both:#}");
    assert!(both["undecided"].to_string().contains("../elsewhere/*"), "{both:#}");
    let branch = both["branchName"].as_str().unwrap();
    let sums = bench.git(&["ls-tree", "-r", "--name-only", branch, "releases"]);
    assert_eq!(sums.lines().filter(|path| path.ends_with("SHA256SUMS")).count(), 2, "{sums}");
    assert_eq!(check(&both, "npm.pack.twice")["details"], "passed for 2 packages");
    // One that cannot be read is said, and the other is looked at all the same.
    bench.put("packages/two/package.json", "{");
    let broken = session.ok("release_pack_verify", json!({ "version": "2.0.0" }));
    let manifest = check(&broken, "release.manifest");
    assert_eq!((&manifest["severity"], &manifest["package"]), (&json!("error"), &json!("packages/two")));
    assert_eq!(broken["packages"][0]["name"], "@acme/ui", "{broken:#}");
    // A file where the branch needs a folder is no folder's to take.
    bench.put("packages/two/package.json", r#"{ "name": "two", "version": "2.0.0", "private": true }"#);
    bench.put("releases", "notes\n");
    bench.commit("docs: notes of releases");
    let fault = session.fails("release_pack_verify", json!({ "version": "2.0.0" }));
    assert_eq!(fault["code"], "conflict", "{fault}");
}

#[test]
fn release_pack_verify_without_a_repository_says_what_it_can() {
    let bench = members();
    std::fs::remove_dir_all(bench.place.root().join(".git")).unwrap();
    let mut session = bench.serve();
    let told = session.ok("release_pack_verify", json!({ "version": "2.0.0", "apply": true }));
    assert_eq!((&told["success"], told.get("branchName")), (&json!(true), None), "{told:#}");
    assert!(told["undecided"].to_string().contains("release.branch"), "{told:#}");
    assert!(told["message"].as_str().unwrap().contains("No branch is made here"), "{told:#}");
    assert_eq!(told["packages"].as_array().unwrap().len(), 2);
}

#[test]
fn release_pack_verify_knows_the_release_before_without_a_tag_and_what_was_built() {
    let bench = released("1.1.0", &json!({}));
    bench.git(&["tag", "--delete", "v1.0.0"]);
    bench.git(&["branch", "old", "HEAD~1"]);
    bench.put("dist/index.js", "exports.card = () => 'card';\n");
    bench.put("dist/index.d.ts", "export declare const card: () => string;\n");
    bench.commit("fix: less");
    let mut session = bench.serve();
    let none = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    assert!(none["undecided"].to_string().contains("release.bump"), "{none:#}");
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0", "base": "old" }));
    let bump = &told["bumps"]["@acme/ui"];
    assert_eq!((&bump["from"], &bump["required"]), (&json!("1.0.0"), &json!("major")), "{told:#}");
    assert_eq!(check(&told, "release.bump")["severity"], "error");
    let commits = check(&told, "release.commits")["details"].as_str().unwrap().to_owned();
    assert!(commits.starts_with("2 commits"), "only those since the base: {commits}");
    // What is built and ignored is packed, and no commit is said to hold it.
    bench.put(".gitignore", "dist/\n");
    bench.git(&["rm", "-r", "--cached", "--quiet", "dist"]);
    bench.commit("chore: builds are not kept");
    let built = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
    let source = check(&built, "release.source");
    assert_eq!(source["files"], json!(["dist/index.d.ts", "dist/index.js"]), "{source}");
    // The last release's archive beside the work is no change of it.
    if has("npm") {
        let out =
            Command::new("npm").args(["pack", "--ignore-scripts"]).current_dir(bench.place.root()).output();
        assert!(out.unwrap().status.success());
        let dirty = session.ok("release_pack_verify", json!({ "version": "1.1.0" }));
        assert_eq!(check(&dirty, "release.clean-tree")["passed"], false);
        let told =
            session.ok("release_pack_verify", json!({ "version": "1.2.0", "previous": "acme-ui-1.1.0.tgz" }));
        assert_eq!(check(&told, "release.clean-tree")["passed"], true, "{told:#}");
        assert_eq!(told["bumps"]["@acme/ui"]["from"], "1.1.0", "{told:#}");
    }
}

#[test]
fn release_pack_verify_tells_a_package_that_hangs_and_one_that_talks() {
    if !has("node") {
        super::super::skip("smoke imports (Node is not installed)");
        return;
    }
    let bench = released("1.1.0", &json!({ "type": "module" })).patient();
    bench.put(
        "dist/index.js",
        "for (let i = 0; i < 3000; i++) process.stdout.write('x'.repeat(1000) + '\\n');\nexport const button = 1, card = 2;\n",
    );
    bench.commit("fix: talk");
    let mut session = bench.serve();
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    assert_eq!(check(&told, "npm.smoke")["passed"], true, "{told:#}");
    bench.put("dist/index.js", "setInterval(() => {}, 1000);\nawait new Promise(() => {});\n");
    bench.commit("fix: hang");
    let told = session.ok("release_pack_verify", json!({ "version": "1.1.0", "smoke": true }));
    let smoke = check(&told, "npm.smoke");
    assert!(smoke["details"].as_str().unwrap().contains("did not end within"), "{smoke}");
}
