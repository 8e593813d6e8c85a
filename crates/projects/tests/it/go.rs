//! Go modules: what is said of small ones, and where the go command is there, that it says the same.

use std::collections::BTreeSet;
use std::process::Command;

use gatewright_projects::{go_module, go_modules, parse_go_mod};

use crate::folder;

#[test]
fn the_modules_of_a_folder_are_the_one_above_it_and_those_of_the_workspace_above_it() {
    let (_scratch, look) = folder(&[
        ("go.mod", "module example.com/top\n"),
        ("docs/a.txt", ""),
        ("w/go.work", "go 1.25\nuse (\n\t./a\n\t./b\n\t./gone\n\t../../out\n)\n"),
        ("w/a/go.mod", "module example.com/a\n"),
        ("w/a/in/x.go", "package in\n"),
        ("w/b/go.mod", "module example.com/b\n"),
    ]);
    let of = |dir| {
        let all = go_modules(&look, dir).into_iter();
        all.filter_map(|used| Some((used.module?, used.dir))).collect::<Vec<_>>()
    };
    let named = |all: &[(&str, &str)]| {
        all.iter().map(|(name, dir)| (format!("example.com/{name}"), (*dir).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(of(""), named(&[("top", "")]));
    assert_eq!(of("docs"), named(&[("top", "")]));
    assert_eq!(of("w/a/in"), named(&[("a", "w/a"), ("b", "w/b")]));
    assert_eq!(of("w"), named(&[("top", ""), ("a", "w/a"), ("b", "w/b")]));
}

#[test]
fn packages_tests_commands_and_tags_are_found() {
    let (_scratch, look) = folder(&[
        ("go.mod", "module example.com/m\ngo 1.25\nignore ./web\nrequire a.b/c v1.0.0\n"),
        ("go.sum", ""),
        ("m.go", "// Package m.\npackage m\n"),
        ("m_test.go", "package m_test\n"),
        ("m_windows.go", "package m\n"),
        ("gen.go", "//go:build ignore\n\npackage main\n"),
        ("cmd/x/main.go", "//go:build extra && !slow\n\npackage main\n"),
        ("only/x_test.go", "package only\n"),
        ("bad/x.go", "func main() {}\n"),
        ("vendor/v/v.go", "package v\n"),
        ("testdata/t.go", "package t\n"),
        ("_skip/s.go", "package s\n"),
        ("web/w.go", "package w\n"),
        ("nested/go.mod", "module n\n"),
        ("nested/n.go", "package n\n"),
    ]);
    let found = go_module(&look).unwrap().unwrap();
    let packages: Vec<_> =
        found.packages.iter().map(|p| (p.dir.as_str(), p.name.as_str(), p.files, p.test_files)).collect();
    assert_eq!(packages, [("", "m", 2, 1), ("cmd/x", "main", 1, 0), ("only", "only", 0, 1)]);
    assert_eq!(found.commands, ["example.com/m/cmd/x"]);
    assert_eq!(found.build_tags, ["extra", "slow", "windows"]);
    assert_eq!((found.direct, found.indirect, found.sum), (1, 0, true));
    assert_eq!(found.problems.iter().map(|p| p.file.as_str()).collect::<Vec<_>>(), ["bad/x.go"]);
}

#[test]
fn a_workspace_is_its_modules() {
    let (_scratch, look) = folder(&[
        ("go.work", "go 1.25\nuse (\n\t./a\n\t./b\n\t../out\n\t./gone\n)\n"),
        ("a/go.mod", "module a.example\n"),
        ("a/a.go", "package a\n"),
        ("b/go.mod", "module b.example\nrequire x.y/z v1.0.0 // indirect\n"),
        ("b/sub/b.go", "package main\n"),
    ]);
    let found = go_module(&look).unwrap().unwrap();
    let imports: Vec<_> = found.packages.iter().filter_map(|p| p.import_path.as_deref()).collect();
    assert_eq!(imports, ["a.example", "b.example/sub"]);
    assert_eq!(found.indirect, 1);
    let problems: Vec<_> = found.problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(go_module(&folder(&[("x.go", "package x\n")]).1).unwrap(), None);
}

#[test]
fn a_clause_far_down_is_found() {
    let text = format!("/*\n{}\n*/\npackage far\n", "about this package\n".repeat(5_000));
    let (_scratch, look) = folder(&[("go.mod", "module m\n"), ("doc.go", &text)]);
    assert_eq!(go_module(&look).unwrap().unwrap().packages[0].name, "far");
}

/// `go env GOROOT`; nothing where there is no Go.
fn go(args: &[&str], dir: &std::path::Path) -> Option<String> {
    let output = Command::new("go")
        .args(args)
        .current_dir(dir)
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off")
        .env("GOWORK", "off")
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn go_reads_the_module_file_as_we_do() {
    let text = "module \"example.com/q\" // Deprecated: no.\ngo 1.17\nrequire (\n\ta.b/c v1.0.0 // indirect; why\n\
                \n\t`d.e/f` v0.0.0-20200101000000-abcdefabcdef\n)\nrequire g.h/i/v2 v2.1.0\nexclude a.b/c v1.0.1\n\
                replace a.b/c v1.0.0 => ./local\nreplace d.e/f => j.k/l v1.2.3\nretract [v1.0.0, v1.1.0] // bad\n";
    let (scratch, _look) = folder(&[("go.mod", text)]);
    let Some(json) = go(&["mod", "edit", "-json"], scratch.path()).filter(|j| !j.is_empty()) else {
        eprintln!("go is not installed: nothing to compare with");
        return;
    };
    let theirs: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut problems = Vec::new();
    let ours = parse_go_mod("go.mod", text, &mut problems);
    assert_eq!(problems, []);
    assert_eq!(theirs["Module"]["Path"].as_str(), ours.module.as_deref());
    assert_eq!(theirs["Go"].as_str(), ours.go.as_deref());
    let wanted: Vec<_> = theirs["Require"].as_array().unwrap().iter().collect();
    assert_eq!(wanted.len(), ours.requires.len());
    for (theirs, ours) in wanted.iter().zip(&ours.requires) {
        assert_eq!(theirs["Path"], ours.path.as_str());
        assert_eq!(theirs["Version"], ours.version.as_str());
        assert_eq!(theirs["Indirect"].as_bool().unwrap_or(false), ours.indirect);
    }
    assert_eq!(theirs["Replace"][0]["New"]["Path"], "./local");
    assert_eq!(ours.replaces[0].new, "./local");
    assert_eq!(ours.replaces[1].new, "j.k/l@v1.2.3");
    assert_eq!(theirs["Retract"][0]["High"].as_str(), Some(ours.retracts[0].high.as_str()));
    assert_eq!(theirs["Retract"][0]["Rationale"].as_str(), ours.retracts[0].why.as_deref());
}

#[test]
fn go_lists_the_packages_that_we_find_in_its_own_library() {
    let here = std::env::temp_dir();
    let Some(root) = go(&["env", "GOROOT"], &here).map(|r| r.trim().to_owned()).filter(|r| !r.is_empty())
    else {
        eprintln!("go is not installed: nothing to compare with");
        return;
    };
    // `-e`, and every tag aside: a package that no file of this machine builds is listed with an error.
    let src = std::path::Path::new(&root).join("src");
    let src = std::fs::canonicalize(src).unwrap().join("encoding");
    let Some(listed) = go(
        &[
            "list",
            "-e",
            "-f",
            "{{.ImportPath}} {{.Name}} {{len .TestGoFiles}} {{len .XTestGoFiles}}",
            "./...",
        ],
        &src,
    ) else {
        return;
    };
    let theirs: BTreeSet<String> = listed
        .lines()
        .map(|line| {
            let parts: Vec<_> = line.split(' ').collect();
            let tests: usize = parts[2].parse::<usize>().unwrap() + parts[3].parse::<usize>().unwrap();
            format!("{} {} {tests}", parts[0], parts[1])
        })
        .collect();
    // Its library's `go.mod` is one folder up: seen as a module of its own here.
    let look = crate::disk::Disk(src);
    struct Module<'a>(&'a crate::disk::Disk);
    impl gatewright_projects::Look for Module<'_> {
        fn read(&self, path: &str) -> Result<Option<Vec<u8>>, gatewright_projects::LookError> {
            if path == "go.mod" { Ok(Some(b"module encoding\n".to_vec())) } else { self.0.read(path) }
        }
        fn list(&self, dir: &str) -> Result<Vec<gatewright_projects::Entry>, gatewright_projects::LookError> {
            self.0.list(dir)
        }
    }
    let found = go_module(&Module(&look)).unwrap().unwrap();
    assert_eq!(found.problems, []);
    let ours: BTreeSet<String> = found
        .packages
        .iter()
        .map(|p| format!("{} {} {}", p.import_path.clone().unwrap(), p.name, p.test_files))
        .collect();
    assert!(ours.len() > 8);
    assert_eq!(ours, theirs);
}
