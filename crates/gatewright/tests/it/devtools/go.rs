//! The tools of Go, with the real toolchain.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::{Bench, Session, installed};

const FILES: &[(&str, &str)] = &[
    (".gitignore", "bin/\n*.out\n"),
    ("go.mod", "module example.com/shop\n\ngo 1.21\n"),
    (
        "shop.go",
        "// Package shop sells.\npackage shop\n\n// Total adds prices.\nfunc Total(prices ...int) int {\n\tsum := 0\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n",
    ),
    (
        "shop_test.go",
        "package shop\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total(1, 2); got != 3 {\n\t\tt.Fatalf(\"got %d\", got)\n\t}\n}\n\nfunc TestWrites(t *testing.T) {\n\t_ = os.WriteFile(\"left-behind\", []byte(\"x\"), 0o644)\n}\n\nfunc BenchmarkTotal(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tTotal(1, 2, 3)\n\t}\n}\n",
    ),
    (
        "tagged_test.go",
        "//go:build extra\n\npackage shop\n\nimport \"testing\"\n\nfunc TestExtra(t *testing.T) {}\n",
    ),
    (
        "cmd/app/main.go",
        "package main\n\nimport \"fmt\"\n\nvar version = \"none\"\n\nfunc main() { fmt.Println(version) }\n",
    ),
    ("broken/broken.go", "package broken\n\nfunc F() int { return missing }\n"),
    (
        "failing/failing_test.go",
        "package failing\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) {\n\tt.Errorf(\"the sum is %d\", 4)\n}\n",
    ),
    (
        "racing/racing_test.go",
        "package racing\n\nimport \"testing\"\n\nfunc TestRaces(t *testing.T) {\n\tn := 0\n\tdone := make(chan bool)\n\tgo func() { n++; done <- true }()\n\tn++\n\t<-done\n\t_ = n\n}\n",
    ),
    (
        "vetted/vetted.go",
        "package vetted\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\\n\", \"text\") }\n",
    ),
    ("ugly/ugly.go", "package ugly\nfunc  F( ) {\nfor _ = range []int{} {\n}\n}\n"),
    (
        "generated/generate.go",
        "package generated\n\n//go:generate cp ../go.mod copied.txt\n//go:generate cp ../shop.go other.txt\n",
    ),
    ("other/go.mod", "module example.com/other\n\ngo 1.21\n"),
    ("other/other.go", "package other\n"),
    (
        "other/inner/inner_test.go",
        "package inner\n\nimport \"testing\"\n\nfunc TestInner(t *testing.T) {\n\tt.Errorf(\"the rest is %d\", 5)\n}\n",
    ),
];

/// Where the Go toolchain is that tests use.
pub(crate) fn toolchain() -> Option<PathBuf> {
    installed("the Go tools", "python/devtools/lib/*/site-packages/go/bin")
}

/// One root for all of these tests: Go compiles its own library once for each.
fn bench() -> Option<&'static Bench> {
    static BENCH: OnceLock<Option<Bench>> = OnceLock::new();
    BENCH.get_or_init(|| toolchain().map(|go| Bench::new(FILES).with(go).patient())).as_ref()
}

fn serve() -> Option<Session> {
    let bench = bench()?;
    Some(bench.serve())
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|test| test["name"].as_str()).collect()
}

#[test]
fn go_test_says_what_held_and_what_did_not_and_leaves_nothing_behind() {
    let Some(mut session) = serve() else { return };
    let passed =
        session.ok("go_test", json!({ "package": ".", "verbose": true, "cover": true, "tags": ["extra"] }));
    assert_eq!(passed["success"], true, "{passed}");
    assert_eq!((passed["counts"]["total"].as_u64(), passed["counts"]["passed"].as_u64()), (Some(3), Some(3)));
    let mut held: Vec<&str> = passed["passed"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    held.sort_unstable();
    assert_eq!(held, ["TestExtra", "TestTotal", "TestWrites"]);
    assert_eq!(passed["coverage"]["parts"][0]["percent"], 100.0, "{passed}");
    assert_eq!(passed["plan"]["effects"], json!(["create left-behind (1 byte)"]));
    assert_eq!(passed["runs"][0]["command"], "go test -json -cover -tags=extra .");
    assert!(["full", "filters"].contains(&passed["runs"][0]["confinement"].as_str().unwrap()));
    let plain = session.ok("go_test", json!({ "package": "." }));
    assert!(
        plain["passed"].is_null() && plain["coverage"].is_null() && plain["counts"]["total"] == 2,
        "{plain}"
    );
    let failed = session.ok("go_test", json!({ "package": "./failing" }));
    assert_eq!(failed["success"], false);
    assert_eq!(names(&failed["tests"]), ["TestFails"]);
    let test = &failed["tests"][0];
    assert_eq!(test["line"], 6, "{test}");
    assert!(test["message"].as_str().unwrap().contains("the sum is 4"), "{test}");
    let broken = session.ok("go_test", json!({ "package": "./broken" }));
    assert_eq!(broken["success"], false);
    assert!(broken["diagnostics"].to_string().contains("undefined: missing"), "{broken}");
    let selected = session.ok("go_test", json!({ "package": ".", "args": ["-run", "TestTotal|TestNone"] }));
    assert_eq!(selected["counts"]["total"], 1, "{selected}");
    let refused = session.fails("go_test", json!({ "package": ".", "args": ["-exec", "/bin/sh"] }));
    assert_eq!(refused["code"], "invalid_argument");
    assert!(bench().unwrap().read("left-behind").is_none());
}

#[test]
fn a_go_test_that_failed_is_said_from_the_root_wherever_its_package_and_the_run_were() {
    let Some(mut session) = serve() else { return };
    let file = |failed: &Value| failed["tests"][0]["file"].clone();
    let package = session.ok("go_test", json!({ "package": "./failing" }));
    assert_eq!(file(&package), "failing/failing_test.go", "{package}");
    let below = session.ok("go_test", json!({ "directory": "other" }));
    assert_eq!(file(&below), "other/inner/inner_test.go", "{below}");
    // The call that is suggested is one that can be made as it stands.
    let said = below["suggestions"].as_array().unwrap().iter().filter_map(Value::as_str);
    let calls: Vec<&str> =
        said.filter_map(|said| said.split_once("Next: `go_test ")?.1.strip_suffix("`.")).collect();
    let call: Value = serde_json::from_str(calls.first().unwrap()).unwrap();
    assert_eq!((&call["directory"], &call["package"]), (&json!("other"), &json!("example.com/other/inner")));
    assert_eq!(names(&session.ok("go_test", call)["tests"]), ["TestInner"]);
    let mut open = |directory: &str| {
        let status = session.ok("test_status", json!({ "directory": directory }));
        names(&status["failing"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(open("failing"), ["TestFails"]);
    assert_eq!(open("other"), ["TestInner"]);
}

#[test]
fn go_test_finds_races_where_it_is_asked_to() {
    let Some(mut session) = serve() else { return };
    let calm = session.ok("go_test", json!({ "package": "./racing" }));
    assert_eq!(calm["success"], true, "{calm}");
    let raced = session.ok("go_test", json!({ "package": "./racing", "race": true, "timeout": 300_000 }));
    assert_eq!(raced["success"], false, "{raced}");
    assert!(raced["diagnostics"].to_string().contains("data-race"), "{raced}");
}

#[test]
fn go_build_says_what_does_not_compile_and_builds_for_others() {
    let Some(mut session) = serve() else { return };
    let bench = bench().unwrap();
    let broken = session.ok("go_build", json!({ "package": "./broken" }));
    let first = &broken["diagnostics"][0];
    assert_eq!(
        (first["file"].as_str(), first["line"].as_u64()),
        (Some("broken/broken.go"), Some(3)),
        "{broken}"
    );
    let built = session.ok(
        "go_build",
        json!({ "package": "./cmd/app", "output": "bin/app", "ldflags": "-s -w -X main.version=1.2", "verbose": true }),
    );
    assert_eq!(built["success"], true, "{built}");
    assert_eq!(built["sideWrites"]["paths"], json!(["bin/"]));
    let said = std::process::Command::new(bench.place.root().join("bin/app")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "1.2\n");
    assert!(built["packages"].to_string().contains("example.com/shop/cmd/app"), "{built}");
    let other = session.ok(
        "go_build",
        json!({ "package": "./cmd/app", "output": "bin/other", "goos": "windows", "goarch": "amd64", "buildFlags": ["-trimpath"], "timeout": 600_000 }),
    );
    assert_eq!(other["success"], true, "{other}");
    let bytes = std::fs::read(bench.place.root().join("bin/other")).unwrap();
    assert!(bytes.starts_with(b"MZ"));
    assert_eq!(session.fails("go_build", json!({ "output": "/tmp/x" }))["code"], "invalid_argument");
    assert_eq!(session.fails("go_build", json!({ "ldflags": "-extld=/tmp/x" }))["code"], "invalid_argument");
}

#[test]
fn go_fmt_shows_its_diff_applies_it_and_is_undone() {
    let Some(go) = toolchain() else { return };
    let bench = Bench::new(&[("ugly.go", FILES[10].1), ("fine.go", "package ugly\n")]).with(go).patient();
    let mut session = bench.serve();
    let listed = session.ok("go_fmt", json!({ "write": false }));
    assert_eq!((listed["success"].as_bool(), &listed["unformatted"]), (Some(false), &json!(["ugly.go"])));
    assert!(listed["plan"]["effects"].as_array().unwrap().is_empty());
    let plain = session.ok("go_fmt", json!({ "files": ["ugly.go"] }));
    assert!(plain["plan"]["diff"].as_str().unwrap().contains("+func F() {"), "{plain}");
    assert!(plain["plan"]["diff"].as_str().unwrap().contains("for _ = range"), "{plain}");
    let simple = session.ok("go_fmt", json!({ "simplify": true }));
    assert!(simple["plan"]["diff"].as_str().unwrap().contains("+\tfor range []int{} {"), "{simple}");
    assert_eq!(bench.dirt(), "", "a dry run changes nothing");
    let applied =
        session.ok("go_fmt", json!({ "simplify": true, "apply": true, "plan": simple["plan"]["id"] }));
    assert_eq!(applied["status"], "completed");
    assert!(bench.read("ugly.go").unwrap().contains("\tfor range []int{} {"));
    assert_eq!(session.ok("go_fmt", json!({ "simplify": true }))["unformatted"], json!([]));
    session.0.finish();
    bench.place.ok(&["undo", applied["metadata"]["transcript"].as_str().unwrap()]);
    assert_eq!(bench.dirt(), "");
    bench.put("bad.go", "package {\n");
    let mut session = bench.serve();
    let bad = session.ok("go_fmt", json!({}));
    assert_eq!(bad["success"], false);
    assert_eq!(
        (bad["diagnostics"][0]["file"].as_str(), bad["diagnostics"][0]["line"].as_u64()),
        (Some("bad.go"), Some(1)),
        "{bad}"
    );
    assert_eq!(session.fails("go_fmt", json!({ "files": ["/etc/passwd"] }))["code"], "invalid_argument");
}

#[test]
fn go_fmt_names_files_whose_names_have_blanks() {
    let Some(go) = toolchain() else { return };
    let bench = Bench::new(&[("my file.go", FILES[10].1)]).with(go).patient();
    let mut session = bench.serve();
    let listed = session.ok("go_fmt", json!({ "write": false }));
    assert_eq!((&listed["success"], &listed["unformatted"]), (&json!(false), &json!(["my file.go"])));
    // Where it says differences, too, none of their lines is taken for a name.
    bench.put("ugly.go", &format!("{}// See other.go\n", FILES[10].1));
    let differs = session.ok("go_fmt", json!({ "write": false, "args": ["-d"], "files": ["ugly.go"] }));
    assert_eq!(differs["unformatted"], json!(["ugly.go"]), "{differs}");
}

#[test]
fn go_vet_finds_mistakes_with_their_place() {
    let Some(mut session) = serve() else { return };
    let found = session.ok("go_vet", json!({ "package": "./vetted" }));
    let first = &found["diagnostics"][0];
    assert_eq!(
        (found["success"].as_bool(), first["file"].as_str(), first["line"].as_u64()),
        (Some(false), Some("vetted/vetted.go"), Some(5)),
        "{found}"
    );
    assert_eq!(session.ok("go_vet", json!({ "package": "." }))["success"], true);
    assert_eq!(session.fails("go_vet", json!({ "args": ["-vettool=/tmp/x"] }))["code"], "invalid_argument");
}

#[test]
fn go_benchmark_gives_figures() {
    let Some(mut session) = serve() else { return };
    let arguments = json!({ "package": ".", "benchmarks": "Total", "benchtime": "50x", "benchmem": true, "cpu": [1, 2], "count": 2 });
    let measured = session.ok("go_benchmark", arguments);
    let results = measured["benchmarks"].as_array().unwrap();
    assert_eq!(results.len(), 4, "two counts on one and on two processors: {measured}");
    assert!(results.iter().all(|r| r["iterations"] == 50 && r["allocsPerOp"] == 0.0), "{measured}");
    assert!(measured["counts"].is_null() || measured["counts"]["total"] == 0, "no test runs: {measured}");
    let none = session.ok("go_benchmark", json!({ "package": ".", "benchmarks": "None" }));
    assert!(none["benchmarks"].is_null(), "{none}");
    assert_eq!(session.ok("go_benchmark", json!({ "package": "./broken" }))["success"], false);
}

#[test]
fn go_generate_proposes_what_generators_write() {
    let Some(mut session) = serve() else { return };
    let bench = bench().unwrap();
    let all = session.ok("go_generate", json!({ "package": "./generated", "verbose": true }));
    assert_eq!(all["plan"]["effects"].as_array().unwrap().len(), 2, "{all}");
    assert!(all["files"].to_string().contains("generate.go"), "{all}");
    let one = session.ok("go_generate", json!({ "package": "./generated", "run": "copied" }));
    assert!(one["plan"]["effects"][0].as_str().unwrap().starts_with("create generated/copied.txt"), "{one}");
    assert_eq!(one["plan"]["effects"].as_array().unwrap().len(), 1);
    let other = session.ok("go_generate", json!({ "package": "./generated", "skip": "copied" }));
    assert!(
        other["plan"]["effects"][0].as_str().unwrap().starts_with("create generated/other.txt"),
        "{other}"
    );
    let said = session.ok("go_generate", json!({ "package": "./generated", "dryRun": true }));
    assert!(said["commands"].to_string().contains("cp ../go.mod copied.txt"), "{said}");
    assert!(said["plan"]["effects"].as_array().unwrap().is_empty());
    assert!(bench.read("generated/copied.txt").is_none());
    assert_eq!(session.ok("go_generate", json!({ "package": "./nowhere" }))["success"], false);
}

#[test]
fn go_work_makes_and_changes_a_workspace() {
    let Some(mut session) = serve() else { return };
    let made = session.ok("go_work", json!({ "command": "init", "modules": [".", "./other"] }));
    assert!(made["plan"]["diff"].as_str().unwrap().contains("./other"), "{made}");
    assert!(bench().unwrap().read("go.work").is_none());
    let edited = session.ok("go_work", json!({ "command": "edit", "modules": ["./other"] }));
    assert_eq!(edited["success"], false, "there is no go.work to edit: {edited}");
    assert_eq!(session.fails("go_work", json!({ "command": "vendor" }))["code"], "invalid_argument");
}

#[test]
fn go_mod_tidy_and_download_say_what_they_could_not_have() {
    let Some(mut session) = serve() else { return };
    let bench = bench().unwrap();
    let tidy = session.ok("go_mod_tidy", json!({ "verbose": true }));
    assert_eq!(tidy["success"], true, "{tidy}");
    assert_eq!(tidy["runs"][0]["command"], "go mod tidy -v");
    bench.put(
        "needs/go.mod",
        "module example.com/needs\n\ngo 1.21\n\nrequire example.invalid/nothing v1.0.0\n",
    );
    bench.put("needs/needs.go", "package needs\n\nimport _ \"example.invalid/nothing\"\n");
    let missing = session.ok("go_mod_tidy", json!({ "directory": "needs" }));
    assert_eq!(missing["success"], false, "{missing}");
    let missing = session.ok("go_mod_download", json!({ "directory": "needs", "verbose": true }));
    assert_eq!((missing["success"].as_bool(), &missing["modules"]), (Some(false), &json!([])), "{missing}");
    assert!(missing["diagnostics"].to_string().contains("example.invalid/nothing"), "{missing}");
    assert!(missing["suggestions"].to_string().contains("go_mod_tidy"), "the next call is named: {missing}");
    assert_eq!(missing["runs"][0]["command"], "go mod download -json -x");
    let none = session.ok("go_mod_download", json!({}));
    assert_eq!((none["success"].as_bool(), &none["modules"]), (Some(true), &json!([])), "{none}");
}

#[test]
fn staticcheck_finds_what_compiles_and_is_wrong() {
    let is_there = |program: &str| std::process::Command::new(program).arg("-version").output().is_ok();
    if !is_there("go-staticcheck") || !is_there("go") {
        crate::skip("staticcheck (Debian: apt-get install go-staticcheck golang-go)");
        return;
    }
    // With the Go of the machine, for which it was built.
    let bench = Bench::new(&[
        ("go.mod", "module example.com/x\n\ngo 1.19\n"),
        ("good/good.go", "// Package good is.\npackage good\n"),
        ("bad/bad.go", "package bad\n\nimport \"regexp\"\n\nvar R = regexp.MustCompile(\"(\")\n"),
    ])
    .patient();
    let mut session = bench.serve();
    let found = session.ok("staticcheck", json!({ "package": "./bad", "timeout": 300_000 }));
    let first = &found["diagnostics"][0];
    assert_eq!(
        (found["success"].as_bool(), first["file"].as_str(), first["rule"].as_str()),
        (Some(false), Some("bad/bad.go"), Some("SA1000")),
        "{found}"
    );
    assert_eq!(session.ok("staticcheck", json!({ "package": "./good" }))["success"], true);
    assert_eq!(session.fails("staticcheck", json!({ "package": "-x" }))["code"], "invalid_argument");
}
