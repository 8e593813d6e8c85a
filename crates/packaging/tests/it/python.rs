//! What real backends build, held against what is read of it. Needs the packages of `xtask/python/devtools`, which `cargo xtask test`
//! installs.

#![allow(clippy::disallowed_methods, reason = "these tests build packages in folders of their own")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gatewright_packaging::python::{api, bill, build, checks, project, sdist, wheel};
use gatewright_packaging::{Check, MapTree, Severity, paths};
use semver::Version;

/// The interpreter that has the backends.
fn python() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/devtools/bin/python");
    let has = |python: &Path| {
        let script = "import build, flit_core, hatchling, setuptools, wheel";
        Command::new(python).args(["-I", "-c", script]).output().is_ok_and(|o| o.status.success())
    };
    if has(&place) {
        return Some(place);
    }
    let part = "backends of Python (not in target/python/devtools; `cargo xtask test` installs them)";
    println!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{part}").unwrap();
    }
    None
}

fn run(python: &Path, folder: &Path, args: &[String]) -> Output {
    Command::new(python)
        .args(args)
        .current_dir(folder)
        .envs(build::ENVIRONMENT)
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", python.display()))
}

fn text(output: Output) -> String {
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
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

const REST: &str = "name = \"acme-ui\"\nversion = \"1.2.0rc1\"\ndescription = \"What it is\"\nreadme = \"README.md\"\nrequires-python = \">=3.9\"\n\
    license = \"MIT\"\nlicense-files = [\"LICENSE\"]\ndependencies = [\"idna>=3\"]\n[project.scripts]\nacme = \"acme_ui.cli:main\"\n[project.urls]\nRepository = \"https://example.com/acme\"\n";

fn files(backend: &str) -> Vec<(&'static str, String)> {
    let system = match backend {
        "setuptools" => {
            "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n[tool.setuptools.packages.find]\nwhere = [\"src\"]\n[tool.setuptools.package-data]\nacme_ui = [\"py.typed\"]\n"
        }
        "hatchling" => {
            "[build-system]\nrequires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n[tool.hatch.build.targets.wheel]\npackages = [\"src/acme_ui\"]\n"
        }
        _ => "[build-system]\nrequires = [\"flit_core\"]\nbuild-backend = \"flit_core.buildapi\"\n",
    };
    vec![
        ("pyproject.toml", format!("{system}[project]\n{REST}")),
        ("README.md", "# Acme\n".to_owned()),
        ("LICENSE", "MIT\n".to_owned()),
        (
            "src/acme_ui/__init__.py",
            "\"\"\"Acme.\"\"\"\nfrom .part import shown\n__all__ = ['shown']\n".to_owned(),
        ),
        ("src/acme_ui/part.py", "def shown(a, *, b=1):\n    return a\n".to_owned()),
        ("src/acme_ui/cli.py", "def main():\n    print(1)\n".to_owned()),
        ("src/acme_ui/py.typed", String::new()),
    ]
}

fn failures(checks: &[Check]) -> Vec<(String, Severity, String)> {
    checks.iter().filter(|c| !c.passed).map(|c| (c.id.clone(), c.severity, c.detail.clone())).collect()
}

fn put(folder: &Path, backend: &str) -> MapTree {
    let files = files(backend);
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    write(folder, &borrowed)
}

#[test]
fn what_backends_build_is_as_they_say() {
    let Some(python) = python() else { return };
    let installed =
        build::Installed::read(&text(run(&python, Path::new("."), &build::PROBE.map(str::to_owned))));
    assert_eq!(installed, build::Installed { build: true, pip: true });
    let asked = Version::parse("1.2.0-rc.1").unwrap();
    for backend in ["setuptools", "hatchling", "flit_core"] {
        let mut made: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for _ in 0..2 {
            let folder = tempfile::tempdir().unwrap();
            let tree = put(folder.path(), backend);
            let command = build::command(installed, "out").unwrap();
            assert!(command.makes_sdist);
            let said = build::said(&text(run(&python, folder.path(), &command.arguments)));
            let names: Vec<String> = std::fs::read_dir(folder.path().join("out"))
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            let (wheels, sdists) = build::made(names.iter().map(String::as_str));
            assert_eq!(
                (wheels.as_slice(), sdists.as_slice()),
                (&["acme_ui-1.2.0rc1-py3-none-any.whl"][..], &["acme_ui-1.2.0rc1.tar.gz"][..]),
                "{backend}"
            );
            assert_eq!(said, ["acme_ui-1.2.0rc1-py3-none-any.whl", "acme_ui-1.2.0rc1.tar.gz"], "{backend}");
            let bytes = |name: &str| std::fs::read(folder.path().join("out").join(name)).unwrap();
            let (whl, tar) = (bytes(wheels[0]), bytes(sdists[0]));
            let built = wheel::read(wheels[0], &whl).unwrap();
            let source = sdist::read(sdists[0], &tar).unwrap();
            let says = project::read(&tree).unwrap();
            let mut all = checks::project(&says, Some(&built), &asked);
            all.extend(wheel::check(&built));
            all.extend(sdist::check(&source));
            all.push(checks::metadata("wheel", &built.metadata, &says, &asked));
            all.push(checks::metadata("sdist", source.metadata.as_ref().unwrap(), &says, &asked));
            all.extend(checks::modules(&tree, &built, Some(&source)).unwrap());
            all.extend(paths::check("python", &built.packed));
            assert_eq!(failures(&all), [], "{backend}");
            assert_eq!(
                wheel::entries(&built),
                [("console_scripts".into(), "acme".into(), "acme_ui.cli:main".into())]
            );
            let requires: Vec<(String, bool)> =
                built.metadata.all("Requires-Dist").map(|r| (r.to_owned(), r.contains("extra =="))).collect();
            let bill = bill::bill("acme-ui", Some("1.2.0rc1"), Some("MIT"), &requires, None);
            assert_eq!(
                bill.components.iter().map(|c| c.purl.as_str()).collect::<Vec<_>>(),
                ["pkg:pypi/idna"]
            );
            made.push((whl, tar));
        }
        let [(whl, tar), (whl_again, tar_again)] = made.as_slice() else { panic!("two builds") };
        assert_eq!(failures(&[checks::twice("wheel", whl, whl_again)]), [], "{backend}");
        let sdists = checks::twice("sdist", tar, tar_again);
        println!("{backend}: {}", sdists.detail);
        // What differs of source distributions is times, where a backend does not keep to SOURCE_DATE_EPOCH: setuptools.
        assert!(
            sdists.passed || backend == "setuptools" && sdists.severity == Severity::Warning,
            "{backend}: {sdists:?}"
        );
    }
}

#[test]
fn a_wheel_is_built_without_build_too_and_forgotten_modules_are_found() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let tree = put(folder.path(), "setuptools").with("src/acme_ui/deep/one.py", "x = 1\n");
    let named = files("setuptools")[0].1.replace(
        "[tool.setuptools.packages.find]\nwhere = [\"src\"]",
        "[tool.setuptools]\npackages = [\"acme_ui\"]\npackage-dir = { \"\" = \"src\" }",
    );
    write(folder.path(), &[("src/acme_ui/deep/one.py", "x = 1\n"), ("pyproject.toml", &named)]);
    let command = build::command(build::Installed { build: false, pip: true }, "out").unwrap();
    let said = build::said(&text(run(&python, folder.path(), &command.arguments)));
    assert_eq!(said, ["acme_ui-1.2.0rc1-py3-none-any.whl"]);
    let bytes = std::fs::read(folder.path().join("out").join(&said[0])).unwrap();
    let built = wheel::read(&said[0], &bytes).unwrap();
    assert_eq!(failures(&wheel::check(&built)), []);
    // Packages that are named one by one are forgotten.
    let found = checks::modules(&tree, &built, None).unwrap();
    assert_eq!(
        (found[0].passed, found[0].files.as_slice()),
        (false, &["acme_ui/deep/one.py".to_owned()][..])
    );
}

#[test]
fn a_backend_that_is_missing_is_named() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[(
            "pyproject.toml",
            "[build-system]\nrequires = []\nbuild-backend = \"no_such_backend.api\"\n[project]\nname = \"a\"\nversion = \"1\"\n",
        )],
    );
    for installed in
        [build::Installed { build: true, pip: true }, build::Installed { build: false, pip: true }]
    {
        let output = run(&python, folder.path(), &build::command(installed, "out").unwrap().arguments);
        assert!(!output.status.success());
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(build::missing(&said).is_some_and(|name| name.starts_with("no_such_backend")), "{said}");
    }
}

/// The names of a wheel that is made of some files; it only has to be a zip.
fn names(python: &Path, files: &[(&str, &str)]) -> api::Api {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("in"), files);
    let script = "import shutil; shutil.make_archive('w', 'zip', 'in')".to_owned();
    text(run(python, folder.path(), &["-c".to_owned(), script]));
    let printed = text(run(python, folder.path(), &api::arguments("w.zip")));
    api::read(printed.as_bytes()).unwrap()
}

#[test]
fn names_are_read_by_python_itself_and_nothing_is_run() {
    let python = PathBuf::from("python3");
    if Command::new(&python).arg("--version").output().is_err() {
        println!("SKIPPED: there is no python3");
        return;
    }
    let one = names(
        &python,
        &[
            (
                "m/__init__.py",
                "raise SystemExit(9)\nfrom ._impl import f, g as _g, C\nfrom os import path\nfrom .stars import *\nif True:\n    LATE = 1\n",
            ),
            (
                "m/_impl.py",
                "import typing as t\ndef f(a, /, b, *c, d=1, **e): ...\ndef g(): ...\nclass B:\n    def m(self): ...\nclass C(B):\n    x: int = 1\n    def __init__(self, y):\n        self.y = y\n    @property\n    def p(self): return 1\n    def _q(self): ...\n",
            ),
            ("m/stars.py", "__all__ = ['one']\n__all__ += ['two']\none = two = three = 1\n"),
            (
                "m/typed.pyi",
                "from .stars import one\nfrom .stars import two as two\ndef h(x: int) -> str: ...\n",
            ),
            ("m/typed.py", "def other(): ...\n"),
            ("m/broken.py", "def ("),
            ("m/_c.cpython-311-x86_64-linux-gnu.so", ""),
            ("m-1.dist-info/METADATA", "Name: m\n"),
        ],
    );
    assert_eq!(
        one.names().collect::<Vec<_>>(),
        [
            "m",
            "m.C",
            "m.LATE",
            "m.f",
            "m.one",
            "m.stars",
            "m.stars.one",
            "m.stars.two",
            "m.two",
            "m.typed",
            "m.typed.h",
            "m.typed.two"
        ]
    );
    assert_eq!(one.undecided().len(), 1, "{:?}", one.undecided());
    let other = names(
        &python,
        &[
            ("m/__init__.py", "from ._impl import f, C\nfrom .stars import *\nLATE = 2\n"),
            (
                "m/_impl.py",
                "def f(x, /, b, *c, d, **e): ...\nclass C:\n    x: int = 1\n    def __init__(self, y, z=None):\n        self.y = y\n    p = 1\n",
            ),
            ("m/stars.py", "__all__ = ['one', 'two']\none = two = 1\n"),
            ("m/typed.pyi", "from .stars import two as two\ndef h(x: str, y: int = ...) -> str: ...\n"),
        ],
    );
    let difference = api::compare(&one, &other);
    let said: Vec<String> = difference.changes.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "m.C.__init__: z is new",
            "m.C.m is gone",
            "m.C: it no longer is a B",
            "m.f: d must be given now",
            "m.typed.h: y is new"
        ]
    );
    assert_eq!(api::compare(&one, &one).changes, []);
}
