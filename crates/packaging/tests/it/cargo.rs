//! What the real Cargo packs, held against what is read of it.

#![allow(clippy::disallowed_methods, reason = "these tests run Cargo in folders of their own")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use gatewright_packaging::cargo::manifest::Manifest;
use gatewright_packaging::cargo::{api, archive, bill, checks, members};
use gatewright_packaging::{Check, MapTree, Severity, paths};
use semver::Version;

fn program() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

fn run(folder: &Path, program: &str, args: &[&str]) -> Output {
    Command::new(program)
        .args(args)
        .current_dir(folder)
        .env_remove("CARGO_TARGET_DIR")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap_or_else(|e| panic!("{program}: {e}"))
}

fn cargo(folder: &Path, args: &[&str]) -> Output {
    run(folder, &program(), args)
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn write(folder: &Path, files: &[(&str, &str)]) -> MapTree {
    let mut tree = MapTree::new();
    for (path, content) in files {
        let place = folder.join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, content).unwrap();
        tree = tree.with(path, *content);
    }
    tree
}

fn commit(folder: &Path) -> String {
    for args in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "x"],
    ] {
        text(run(folder, "git", args));
    }
    text(run(folder, "git", &["rev-parse", "HEAD"])).trim().to_owned()
}

const FILES: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"crates/out\"]\nresolver = \"2\"\n[workspace.package]\nversion = \"1.2.3\"\n\
         license = \"MIT\"\nreadme = \"README.md\"\nedition = \"2021\"\nrust-version = \"1.70\"\nrepository = \"https://example.com/x\"\n\
         [workspace.dependencies]\nacme-base = { path = \"base\", version = \"0.1\" }\n",
    ),
    (
        "crates/ui/Cargo.toml",
        "[package]\nname = \"acme-ui\"\nversion.workspace = true\nlicense.workspace = true\nreadme.workspace = true\nedition.workspace = true\n\
         rust-version.workspace = true\nrepository.workspace = true\ndescription = \"What it is\"\nexclude = [\"notes\"]\n\
         [dependencies]\nacme-base.workspace = true\n[dev-dependencies]\nacme-tests = { path = \"../tests\" }\n",
    ),
    ("crates/ui/src/lib.rs", "pub fn shown() -> acme_base::Base { acme_base::Base }\n"),
    ("crates/ui/src/bin/acme.rs", "fn main() {}\n"),
    ("crates/ui/LICENSE", "MIT\n"),
    ("crates/ui/notes/x.md", "no\n"),
    (
        "crates/tests/Cargo.toml",
        "[package]\nname = \"acme-tests\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n",
    ),
    ("crates/tests/src/lib.rs", ""),
    ("crates/out/Cargo.toml", "[package]\nname = \"acme-out\"\nversion = \"0.0.0\"\nedition = \"2021\"\n"),
    ("crates/out/src/lib.rs", ""),
    (
        "base/Cargo.toml",
        "[package]\nname = \"acme-base\"\nversion = \"0.1.0\"\nedition = \"2021\"\nlicense = \"ISC\"\ndescription = \"d\"\n",
    ),
    ("base/src/lib.rs", "pub struct Base;\n"),
    ("README.md", "# Acme\n"),
    (".gitignore", "target\n"),
];

fn failures(checks: &[Check]) -> Vec<(&str, Severity)> {
    checks.iter().filter(|c| !c.passed).map(|c| (c.id.as_str(), c.severity)).collect()
}

#[test]
fn a_member_of_a_workspace_is_packed_as_cargo_packs_it() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let tree = write(top, FILES);
    text(cargo(top, &["generate-lockfile", "--offline"]));
    let head = commit(top);
    let ui = top.join("crates/ui");

    let found = members::members(&tree).unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&text(cargo(
        top,
        &["metadata", "--no-deps", "--offline", "--format-version", "1"],
    )))
    .unwrap();
    let theirs: BTreeSet<String> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| {
            let path = p["manifest_path"].as_str().unwrap().trim_end_matches("/Cargo.toml");
            let top = top.canonicalize().unwrap();
            Path::new(path).canonicalize().unwrap().strip_prefix(top).unwrap().to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(found.packages.keys().cloned().collect::<BTreeSet<_>>(), theirs);

    let listed = archive::list(&text(cargo(&ui, &["package", "--list", "--offline"])));
    // What acme-base has in the registry is not asked: `--exclude-lockfile` keeps Cargo from resolving.
    let pack = || {
        text(cargo(&ui, &["package", "--no-verify", "--offline", "--exclude-lockfile"]));
        std::fs::read(top.join("target/package/acme-ui-1.2.3.crate")).unwrap()
    };
    let first = pack();
    assert_eq!(archive::file_name("acme-ui", "1.2.3"), "acme-ui-1.2.3.crate");
    std::fs::write(ui.join("src/lib.rs"), FILES[2].1).unwrap();
    let second = pack();
    let twice = archive::twice(&first, &second);
    assert!(twice.passed, "{twice:?}");

    let packed = archive::read(&first, "acme-ui", "1.2.3").unwrap();
    assert!(archive::read(&first, "acme-ui", "1.2.4").is_err());
    let listed: Vec<String> = listed.into_iter().filter(|path| path != "Cargo.lock").collect();
    let agrees = archive::agrees(&packed, &listed);
    assert!(agrees.passed, "{agrees:?}");
    assert!(!packed.has("notes/x.md") && packed.has("README.md"));
    let vcs = archive::vcs(&packed, Some(&head), "crates/ui").unwrap();
    assert!(vcs.passed, "{vcs:?}");

    let manifest = &found.packages["crates/ui"];
    let checks = checks::check(manifest, &packed, &Version::new(1, 2, 3)).unwrap();
    assert_eq!(failures(&checks), []);
    assert_eq!(failures(&paths::check("cargo", &packed)), []);

    let lock = std::fs::read(top.join("Cargo.lock")).unwrap();
    let others = |name: &str| found.packages.values().find(|m| m.name() == name).cloned();
    let bill = bill::bill(manifest, Some(&lock), &others);
    let said: Vec<(&str, Option<&str>)> =
        bill.components.iter().map(|c| (c.purl.as_str(), c.license.as_deref())).collect();
    assert_eq!(said, [("pkg:cargo/acme-base@0.1.0", Some("ISC"))]);

    let library = manifest.targets(&packed).unwrap().library.unwrap();
    assert_eq!(library, ("acme_ui".to_owned(), "src/lib.rs".to_owned()));
    let names = api::exported(&packed, &library.1, manifest.edition()).unwrap();
    assert_eq!(names.names().collect::<Vec<_>>(), ["shown"]);

    std::fs::write(ui.join("src/lib.rs"), "pub fn other() {}\n").unwrap();
    text(cargo(&ui, &["package", "--no-verify", "--offline", "--exclude-lockfile", "--allow-dirty"]));
    let dirty = std::fs::read(top.join("target/package/acme-ui-1.2.3.crate")).unwrap();
    assert_eq!(archive::twice(&first, &dirty).files, [".cargo_vcs_info.json", "src/lib.rs"]);
    let dirty = archive::read(&dirty, "acme-ui", "1.2.3").unwrap();
    assert_eq!(
        failures(&[archive::vcs(&dirty, Some(&head), "crates/ui").unwrap()]),
        [("cargo.vcs", Severity::Error)]
    );
}

/// A package that Cargo itself refuses fails a check here, and the other way round what Cargo packs fails none of these.
#[test]
fn what_cargo_refuses_is_refused() {
    let cases: &[(&str, Option<&str>)] = &[
        ("", None),
        ("[dependencies]\nd = { path = \"d\" }\n", Some("cargo.dependencies.versions")),
        ("[build-dependencies]\nd = { path = \"d\" }\n", Some("cargo.dependencies.versions")),
        ("[dev-dependencies]\nd = { path = \"d\" }\n", None),
        ("[lib]\npath = \"src/none.rs\"\n", Some("cargo.manifest.targets")),
    ];
    for (more, id) in cases {
        let folder = tempfile::tempdir().unwrap();
        let manifest = format!(
            "[package]\nname = \"acme\"\nversion = \"1.0.0\"\nedition = \"2021\"\nlicense = \"MIT\"\ndescription = \"d\"\n{more}\n[workspace]\n"
        );
        let tree = write(
            folder.path(),
            &[
                ("Cargo.toml", &manifest),
                ("src/lib.rs", ""),
                ("d/Cargo.toml", "[package]\nname = \"d\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"),
                ("d/src/lib.rs", ""),
            ],
        );
        let output = cargo(folder.path(), &["package", "--no-verify", "--offline", "--allow-dirty"]);
        assert_eq!(
            output.status.success(),
            id.is_none(),
            "{more}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let ours = members::members(&tree).unwrap().packages.remove("").unwrap();
        let mut packed =
            gatewright_packaging::Packed::new().with("src/lib.rs", "").with("Cargo.toml.orig", "");
        packed.put("Cargo.toml", b"[package]\nname='acme'\nversion='1.0.0'", false);
        let checks = checks::check(&ours, &packed, &Version::new(1, 0, 0)).unwrap();
        let errors: Vec<&str> =
            failures(&checks).into_iter().filter(|(_, s)| *s == Severity::Error).map(|(id, _)| id).collect();
        assert_eq!(errors, id.iter().copied().collect::<Vec<_>>(), "{more}");
    }
    for (more, refused) in [
        ("rust-version = \"1.55\"", true),
        ("rust-version = \"1.56\"", false),
        ("rust-version = \">1.60\"", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "[package]\nname = \"acme\"\nversion = \"1.0.0\"\nedition = \"2021\"\n{more}\n[workspace]\n"
        );
        write(folder.path(), &[("Cargo.toml", &text), ("src/lib.rs", "")]);
        let output = cargo(folder.path(), &["package", "--list", "--allow-dirty", "--offline"]);
        assert_eq!(output.status.success(), !refused, "{more}");
        let manifest = Manifest::read(text.as_bytes(), None).unwrap();
        let packed = gatewright_packaging::Packed::new();
        let checks = checks::check(&manifest, &packed, &Version::new(1, 0, 0)).unwrap();
        let said = checks
            .iter()
            .any(|c| c.id == "cargo.manifest.rust-version" && !c.passed && c.severity == Severity::Error);
        assert_eq!(said, refused, "{more}");
    }
}
