//! The tools of Python, with the real programs.

use serde_json::{Value, json};

use super::{Bench, Session, installed};

const SHOP: &str = "\"\"\"A shop.\"\"\"\n\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n\n\ndef never() -> int:\n    return 1\n";

const TESTS: &str = "import pytest\n\nfrom shop import total\n\n\ndef test_adds():\n    assert total([1, 2]) == 3\n\n\ndef test_pays():\n    assert total([]) == 7, \"somebody pays\"\n\n\n@pytest.mark.slow\ndef test_slow():\n    pass\n";

const BAD: &str = "import os\nimport subprocess\n\n\ndef label(number: int) -> str:\n    subprocess.call(\"ls \" + str(number), shell=True)\n    return number\n\n\ndef pick(value):\n    match value:\n        case 1:\n            return  undefined\n";

/// A bench with the programs that were installed for these tests on its PATH.
pub(super) fn with_programs(bench: Bench) -> Option<Bench> {
    let programs = installed("the Python tools", "python/devtools/bin")?;
    let bench = bench.with(programs).patient();
    // Interpreters are found by the home of whoever serves; the one of these tests is empty.
    Some(match std::env::home_dir() {
        Some(home) => bench.telling("HOME", home),
        None => bench,
    })
}

fn serve(files: &[(&str, &str)]) -> Option<(Bench, Session)> {
    let bench = with_programs(Bench::new(files))?;
    let session = bench.serve();
    Some((bench, session))
}

fn command_of(result: &Value) -> &str {
    result["runs"][0]["command"].as_str().unwrap()
}

fn of_rule<'v>(result: &'v Value, rule: &str) -> &'v Value {
    let all = result["diagnostics"].as_array().unwrap_or_else(|| panic!("{result:#}"));
    all.iter().find(|found| found["rule"] == rule).unwrap_or_else(|| panic!("{rule}: {result:#}"))
}

#[test]
fn python_lint_finds_says_what_it_can_put_right_and_proposes_it() {
    let Some((bench, mut session)) = serve(&[("src/bad.py", BAD), ("good.py", SHOP)]) else { return };
    let found = session.ok("python_lint", json!({}));
    let unused = of_rule(&found, "F401");
    assert_eq!(
        (&found["success"], &unused["file"], &unused["line"], &unused["fix"], &found["fixable"]),
        (&json!(false), &json!("src/bad.py"), &json!(1), &json!(true), &json!(1)),
        "{found:#}"
    );
    assert_eq!(of_rule(&found, "F821")["fix"], Value::Null, "{found:#}");
    assert_eq!(session.ok("python_lint", json!({ "files": ["good.py"] }))["success"], true);
    let fixed = session.ok("python_lint", json!({ "fix": true }));
    assert!(fixed["plan"]["diff"].as_str().unwrap().contains("-import os"), "{fixed:#}");
    assert_eq!(fixed["fixable"], 0);
    assert_eq!(bench.dirt(), "", "nothing is left beside sources");
    bench.put("ruff.toml", "fix = true\n");
    let looked = session.ok("python_lint", json!({ "check": true }));
    assert_eq!(looked["plan"]["effects"], json!([]), "{looked:#}");
    assert_eq!(
        session.fails("python_lint", json!({ "check": true, "fix": true }))["code"],
        "invalid_argument"
    );
    bench.put("ruff.toml", "no-such-setting = 1\n");
    let broken = session.fails("python_lint", json!({}));
    assert_eq!(broken["code"], "tool_execution_failed", "{broken:#}");
    assert!(broken["message"].as_str().unwrap().contains("no-such-setting"), "{broken:#}");
    let refused = session.fails("python_lint", json!({ "args": ["--config", "extend = '/etc/x'"] }));
    assert_eq!(refused["code"], "invalid_argument");
}

#[test]
fn python_format_names_proposes_and_tells_what_it_cannot_parse() {
    let Some((bench, mut session)) = serve(&[("a/bad.py", "x = {  'a':1 }\n"), ("good.py", SHOP)]) else {
        return;
    };
    let looked = session.ok("python_format", json!({ "check": true }));
    assert_eq!(
        (&looked["success"], &looked["unformatted"], &looked["plan"]["effects"]),
        (&json!(false), &json!(["a/bad.py"]), &json!([])),
        "{looked:#}"
    );
    let written = session.ok("python_format", json!({}));
    assert_eq!(written["success"], true, "{written:#}");
    assert!(written["plan"]["diff"].as_str().unwrap().contains("+x = {\"a\": 1}"), "{written:#}");
    assert_eq!(session.ok("python_format", json!({ "check": true, "files": ["good.py"] }))["success"], true);
    bench.put("broken.py", "def f(\n");
    let broken = session.ok("python_format", json!({ "check": true }));
    let syntax = of_rule(&broken, "invalid-syntax");
    assert_eq!((&broken["success"], &syntax["file"]), (&json!(false), &json!("broken.py")), "{broken:#}");
    assert_eq!(broken["unformatted"], json!(["a/bad.py"]), "{broken:#}");
}

#[test]
fn python_test_runs_pytest_and_says_what_did_not_hold_and_what_was_covered() {
    let files = [
        ("shop.py", SHOP),
        ("tests/test_shop.py", TESTS),
        ("pytest.ini", "[pytest]\npythonpath = .\nmarkers = slow\n"),
    ];
    let Some((bench, mut session)) = serve(&files) else { return };
    let ran = session.ok("python_test", json!({ "verbose": true }));
    assert_eq!((&ran["success"], &ran["runner"]), (&json!(false), &json!("pytest")), "{ran:#}");
    let pays = &ran["tests"][0];
    assert_eq!(
        (&pays["name"], &pays["file"], &pays["line"], &ran["counts"]["passed"]),
        (&json!("test_pays"), &json!("tests/test_shop.py"), &json!(11), &json!(2)),
        "{ran:#}"
    );
    assert!(pays["message"].as_str().unwrap().contains("somebody pays"), "{ran:#}");
    assert_eq!(ran["passed"].as_array().map(Vec::len), Some(2), "{ran:#}");
    let one = session.ok("python_test", json!({ "testPath": "tests/test_shop.py::test_adds" }));
    assert_eq!((&one["success"], &one["counts"]["total"]), (&json!(true), &json!(1)), "{one:#}");
    let named = session.ok("python_test", json!({ "pattern": "adds or slow" }));
    assert_eq!(named["counts"]["passed"], 2, "{named:#}");
    let marked = session.ok("python_test", json!({ "markers": "slow" }));
    assert_eq!(marked["counts"]["passed"], 1, "{marked:#}");
    let covered = session.ok("python_test", json!({ "pattern": "adds", "coverage": true }));
    let parts = covered["coverage"]["parts"].as_array().unwrap_or_else(|| panic!("{covered:#}"));
    let shop = parts.iter().find(|part| part["name"] == "shop.py").unwrap();
    assert_eq!(shop["percent"], 75.0, "{covered:#}");
    assert!(covered["runs"][1]["command"].as_str().unwrap().starts_with("coverage json"), "{covered:#}");
    assert_eq!(covered["plan"]["effects"], json!([]), "nothing of it is left in the project: {covered:#}");
    bench.put("tests/test_torn.py", "import nosuchmodule\n");
    let torn = session.ok("python_test", json!({ "testPath": "tests/test_torn.py" }));
    assert_eq!((&torn["success"], &torn["counts"]["errored"]), (&json!(false), &json!(1)), "{torn:#}");
    assert_eq!(session.fails("python_test", json!({ "args": ["-p", "evil"] }))["code"], "invalid_argument");
    assert_eq!(session.fails("python_test", json!({ "testPath": "/etc" }))["code"], "invalid_argument");
}

#[test]
fn without_pytest_the_tests_run_with_unittest_and_only_its_exit_code_is_known() {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|said| said.status.success()) {
        return crate::skip("python3 of this machine (Debian: apt-get install python3)");
    }
    let case = |held: &str| {
        format!(
            "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue({held})\n\n    def test_other(self):\n        pass\n"
        )
    };
    let bench = Bench::new(&[("good/test_a.py", &case("True")), ("bad/test_a.py", &case("False"))]);
    // An environment without pytest, and a PATH that has none either.
    let programs = tempfile::tempdir().unwrap();
    let real =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let real = String::from_utf8(real.unwrap().stdout).unwrap();
    std::os::unix::fs::symlink(real.trim(), programs.path().join("python3")).unwrap();
    let mut command = bench.command();
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.path().display()));
    if let Some(home) = std::env::home_dir() {
        command.env("HOME", home);
    }
    if std::path::Path::new("/usr/bin/pytest").exists() {
        return crate::skip("a machine without pytest of its own");
    }
    let mut session = Session::over(&mut command);
    let good = session.ok("python_test", json!({ "testPath": "good", "verbose": true }));
    assert_eq!((&good["success"], &good["runner"]), (&json!(true), &json!("unittest")), "{good:#}");
    assert_eq!(command_of(&good), "python3 -m unittest discover -s good -v");
    let bad = session.ok("python_test", json!({ "testPath": "bad" }));
    assert_eq!((&bad["success"], &bad["counts"]), (&json!(false), &Value::Null), "{bad:#}");
    assert!(bad["message"].as_str().unwrap().contains("only its exit code is known"), "{bad:#}");
    let named = session.ok("python_test", json!({ "testPath": "bad", "pattern": "other" }));
    assert_eq!(named["success"], true, "{named:#}");
    for input in
        [json!({ "coverage": true }), json!({ "markers": "slow" }), json!({ "testPath": "bad/test_a.py" })]
    {
        assert_eq!(session.fails("python_test", input.clone())["code"], "invalid_argument", "{input}");
    }
}

#[test]
fn python_check_types_finds_with_pyright_and_with_mypy() {
    let Some((bench, _)) = serve(&[("src/bad.py", BAD), ("good.py", SHOP), ("mypy.ini", "[mypy]\n")]) else {
        return;
    };
    let Some(node) = installed("the programs of npm", "npm/devtools/node_modules/.bin") else { return };
    let bench = bench.with(node);
    let mut session = bench.serve();
    for (checker, rule, column) in [("pyright", "reportReturnType", 12), ("mypy", "return-value", 12)] {
        let found = session.ok("python_check_types", json!({ "checker": checker, "files": ["src/bad.py"] }));
        let wrong = of_rule(&found, rule);
        assert_eq!(
            (&found["success"], &found["checker"], &wrong["file"], &wrong["line"], &wrong["column"]),
            (&json!(false), &json!(checker), &json!("src/bad.py"), &json!(7), &json!(column)),
            "{found:#}"
        );
        let clean = session.ok("python_check_types", json!({ "checker": checker, "files": ["good.py"] }));
        assert_eq!(clean["success"], true, "{clean:#}");
        assert_eq!(clean["plan"]["effects"], json!([]), "{clean:#}");
    }
    let configured = session.ok("python_check_types", json!({}));
    assert_eq!(configured["checker"], "mypy", "mypy.ini says so: {configured:#}");
    let more = session
        .ok("python_check_types", json!({ "verbose": true, "checker": "mypy", "files": ["src/bad.py"] }));
    assert!(command_of(&more).contains("--show-error-code-links"), "{more:#}");
    let refused = session
        .fails("python_check_types", json!({ "args": ["--python-executable=/tmp/x"], "checker": "mypy" }));
    assert_eq!(refused["code"], "invalid_argument");
}

#[test]
fn types_are_checked_again_after_a_change_until_it_is_cancelled() {
    let Some((bench, mut session)) = serve(&[("a.py", "X: int = 1\n")]) else { return };
    let left = session.ok("python_check_types", json!({ "watch": true, "checker": "mypy" }));
    assert_eq!(left["status"], "detached", "{left:#}");
    let job = left["job"].clone();
    let told = |session: &mut Session, round: &str| {
        let began = std::time::Instant::now();
        loop {
            let status = session.ok("job_status", json!({ "job": job }));
            if status["jobs"][0]["progress"].as_str().is_some_and(|said| said.contains(round)) {
                return;
            }
            assert!(began.elapsed() < std::time::Duration::from_secs(90), "{status:#}");
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    };
    told(&mut session, "round 1: `mypy` succeeded");
    bench.put("a.py", "X: int = \"one\"\n");
    told(&mut session, "round 2: `mypy` failed");
    let ended = session.ok("job_cancel", json!({ "job": job }));
    assert_eq!(ended["job"]["state"], "cancelled", "{ended:#}");
}

#[test]
fn python_version_says_what_is_there_and_until_when_it_is_maintained() {
    let Some((_bench, mut session)) = serve(&[("pyproject.toml", "[project]\nname = \"x\"\n")]) else {
        return;
    };
    let all = session.ok("python_version", json!({}));
    let tools = all["tools"].as_array().unwrap();
    let named: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(named, ["python", "pip", "uv", "poetry", "pyright", "ruff", "pytest"], "{all:#}");
    let python = &tools[0];
    assert!(python["version"].as_str().unwrap().starts_with("3."), "{all:#}");
    assert_eq!(python["from"], "machine", "{all:#}");
    assert!(python["endOfLife"]["pep"].as_str().unwrap().starts_with("PEP "), "{all:#}");
    let ruff = session.ok("python_version", json!({ "tool": "ruff" }));
    assert_eq!(ruff["tools"].as_array().map(Vec::len), Some(1));
    assert!(ruff["tools"][0]["version"].as_str().unwrap().starts_with("0."), "{ruff:#}");
    let none = Bench::new(&[]).serve().ok("python_version", json!({ "tool": "poetry" }));
    assert_eq!((&none["success"], &none["tools"][0]["missing"]), (&json!(true), &json!(true)), "{none:#}");
    assert_eq!(session.fails("python_version", json!({ "directory": "gone" }))["code"], "not_found");
}

#[test]
fn python_project_info_describes_what_manifests_say_and_names_what_it_does_not_understand() {
    let manifest = "[project]\nname = \"shop\"\nversion = \"1.2.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"attrs>=23\"]\n\n[project.optional-dependencies]\nweb = [\"requests\"]\n\n[project.scripts]\nshop = \"shop:main\"\n\n[dependency-groups]\ndev = [\"pytest\"]\n\n[build-system]\nrequires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n";
    let lock = "version = 1\nrequires-python = \">=3.9\"\n\n[[package]]\nname = \"attrs\"\nversion = \"23.1.0\"\nsource = { registry = \"https://pypi.org/simple\" }\n\n[[package]]\nname = \"shop\"\nversion = \"1.2.0\"\nsource = { editable = \".\" }\n";
    let files = [
        ("pyproject.toml", manifest),
        ("uv.lock", lock),
        ("broken/pyproject.toml", "[project\n"),
        ("old/requirements.txt", "six==1.16.0\n-e .\n"),
    ];
    let Some((_bench, mut session)) = serve(&files) else { return };
    let info = session.ok("python_project_info", json!({}));
    assert_eq!(
        (
            &info["name"],
            &info["version"],
            &info["requiresPython"],
            &info["backend"],
            &info["manager"]["name"]
        ),
        (&json!("shop"), &json!("1.2.0"), &json!(">=3.9"), &json!("hatchling.build"), &json!("uv")),
        "{info:#}"
    );
    let groups: Vec<&str> =
        info["groups"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect();
    assert_eq!(groups, ["main", "extra web", "group dev"], "{info:#}");
    assert_eq!((&info["lock"]["packages"], &info["scripts"]), (&json!(1), &json!(["shop"])), "{info:#}");
    assert!(info["python"].as_str().unwrap().starts_with("3."), "{info:#}");
    let old = session.ok("python_project_info", json!({ "directory": "old" }));
    assert_eq!(old["groups"][0]["requirements"], json!(["six==1.16.0"]), "{old:#}");
    let broken = session.ok("python_project_info", json!({ "directory": "broken" }));
    assert!(broken["problems"][0].as_str().unwrap().starts_with("pyproject.toml"), "{broken:#}");
    assert_eq!(session.fails("python_project_info", json!({ "directory": "gone" }))["code"], "not_found");
}

#[test]
fn python_compatibility_says_what_needs_a_newer_python_and_where() {
    let lock = "version = 1\n\n[[package]]\nname = \"new\"\nversion = \"2.0\"\nsource = { registry = \"https://pypi.org/simple\" }\n\n[package.metadata]\n";
    let poetry = "[[package]]\nname = \"new\"\nversion = \"2.0\"\npython-versions = \">=3.11\"\nfiles = []\n\n[metadata]\nlock-version = \"2.1\"\n";
    let _ = lock;
    let files = [
        ("pyproject.toml", "[project]\nname = \"x\"\nrequires-python = \">=3.8\"\n"),
        ("src/bad.py", BAD),
        ("good.py", "X = 1\n"),
        ("locked/poetry.lock", poetry),
        ("locked/a.py", "X = 1\n"),
    ];
    let Some((_bench, mut session)) = serve(&files) else { return };
    let found = session.ok("python_compatibility", json!({}));
    assert_eq!(
        (&found["success"], &found["target"], &found["minimum"]),
        (&json!(false), &json!("3.8"), &json!("3.10")),
        "{found:#}"
    );
    let first = &found["violations"][0];
    assert_eq!((&first["file"], &first["line"]), (&json!("src/bad.py"), &json!(11)), "{found:#}");
    assert_eq!(session.ok("python_compatibility", json!({ "targetVersion": "3.10" }))["success"], true);
    let good = session.ok("python_compatibility", json!({ "files": ["good.py"] }));
    assert_eq!((&good["success"], &good["minimum"]), (&json!(true), &Value::Null), "{good:#}");
    let locked = session.ok("python_compatibility", json!({ "directory": "locked", "targetVersion": "3.9" }));
    assert_eq!(
        locked["packages"],
        json!([{ "package": "new", "version": "2.0", "wants": ">=3.11" }]),
        "{locked:#}"
    );
    let told = session.ok("python_compatibility", json!({ "suggest": true }));
    assert!(told["suggestionsForOlder"].as_array().is_some_and(|told| !told.is_empty()), "{told:#}");
    assert_eq!(
        session.fails("python_compatibility", json!({ "targetVersion": "three" }))["code"],
        "invalid_argument"
    );
}

#[test]
fn python_profile_names_the_function_that_takes_longest() {
    let app = "import sys\n\n\ndef hot(rounds):\n    total = 0\n    for number in range(rounds):\n        total += number * number\n    return total\n\n\ndef cold():\n    return 1\n\n\nfor _ in range(20):\n    hot(20_000)\n    cold()\nif len(sys.argv) > 1:\n    raise ValueError(sys.argv[1])\n";
    let Some((bench, mut session)) = serve(&[("app.py", app), ("sub/app.py", app)]) else { return };
    let found = session.ok("python_profile", json!({ "command": "python app.py", "topN": 3 }));
    let first = &found["top"][0];
    assert_eq!(
        (&found["success"], &first["function"], &first["file"], &first["line"], &first["calls"]),
        (&json!(true), &json!("hot"), &json!("app.py"), &json!(4), &json!(20)),
        "{found:#}"
    );
    assert_eq!(found["top"].as_array().map(Vec::len), Some(3), "{found:#}");
    let failed =
        session.ok("python_profile", json!({ "command": "app.py 3", "format": "json", "directory": "sub" }));
    assert_eq!(
        (&failed["success"], &failed["top"][0]["file"]),
        (&json!(false), &json!("sub/app.py")),
        "{failed:#}"
    );
    assert!(failed["message"].as_str().unwrap().trim_start().starts_with('{'), "{failed:#}");
    let kept = session.ok("python_profile", json!({ "command": "app.py", "outputFile": "out/app.pstats" }));
    assert!(kept["plan"]["effects"][0].as_str().unwrap().starts_with("create out/app.pstats"), "{kept:#}");
    assert_eq!(bench.dirt(), "");
    for refused in [
        "python app.py | sh",
        "python -c 'print(1)'",
        "python -m http.server",
        "sh app.py",
        "python ../x.py",
        "python -m pip install x",
    ] {
        let fault = session.fails("python_profile", json!({ "command": refused }));
        let code = fault["code"].as_str().unwrap();
        assert!(["invalid_argument", "path_not_allowed"].contains(&code), "{refused}: {fault:#}");
    }
    assert_eq!(session.fails("python_profile", json!({ "command": "python gone.py" }))["code"], "not_found");
    let graph = session.fails("python_profile", json!({ "command": "app.py", "format": "flamegraph" }));
    assert_eq!(graph["code"], "invalid_argument");
}

#[test]
fn python_profile_ends_as_the_program_ends() {
    let ends = "import sys\n\n\ndef main():\n    sys.exit(int(sys.argv[1]))\n\n\nif __name__ == '__main__':\n    main()\n";
    let told = "import helper\nimport sys\n\nsys.exit(helper.WORD)\n";
    let test = "def test_red():\n    assert 1 == 2\n";
    let files = [
        ("ends.py", ends),
        ("sub/told.py", told),
        ("sub/helper.py", "WORD = 'no stock'\n"),
        ("tests/test_red.py", test),
    ];
    let Some((_bench, mut session)) = serve(&files) else { return };
    let mut profiled = |arguments: Value| session.ok("python_profile", arguments);
    for (code, success) in [(0, true), (3, false)] {
        let ran = profiled(json!({ "command": format!("python ends.py {code}") }));
        assert_eq!((&ran["exitCode"], &ran["success"]), (&json!(code), &json!(success)), "{ran:#}");
        assert!(ran["top"].to_string().contains("ends.py"), "it was measured all the same: {ran:#}");
    }
    // A module beside the file is found, and a text is 1.
    let ran = profiled(json!({ "command": "python sub/told.py" }));
    assert_eq!(ran["exitCode"], 1, "{ran:#}");
    let ran = profiled(json!({ "command": "python -m pytest -q tests" }));
    assert_eq!((&ran["exitCode"], &ran["success"]), (&json!(1), &json!(false)), "a red test: {ran:#}");
    assert!(ran["calls"].as_u64().unwrap() > 1_000, "{ran:#}");
}

#[test]
fn python_profile_samples_without_stopping_the_program_and_draws_where_its_time_went() {
    let app = "import sys\nimport time\n\n\ndef hot(until):\n    total = 0\n    while time.monotonic() < until:\n        total += sum(range(1000))\n    return total\n\n\ndef main():\n    hot(time.monotonic() + float(sys.argv[1]))\n\n\nif __name__ == '__main__':\n    main()\n    sys.exit(len(sys.argv) - 2)\n";
    let Some((bench, mut session)) = serve(&[
        ("app.py", app),
        ("sub/app.py", app),
        ("fails.py", "import time\ntime.sleep(0.3)\nraise ValueError('no')\n"),
    ]) else {
        return;
    };
    let found = session.ok(
        "python_profile",
        json!({ "command": "python app.py 1.5", "profiler": "pyspy", "topN": 2, "outputFile": "out/stacks.txt" }),
    );
    let (sampled, first) = (&found["sampled"], &found["sampled"]["top"][0]);
    assert_eq!(
        (&found["success"], &found["exitCode"], &first["function"], &first["file"]),
        (&json!(true), &json!(0), &json!("hot"), &json!("app.py")),
        "{found:#}"
    );
    assert!(first["line"] == 7 || first["line"] == 8, "{found:#}");
    assert!(
        first["totalSeconds"].as_f64().unwrap() > 0.05 && sampled["samples"].as_u64().unwrap() > 5,
        "{found:#}"
    );
    assert!(sampled["rate"] == 100 && sampled["top"].as_array().unwrap().len() == 2, "{found:#}");
    assert!(!sampled.to_string().contains("measured_by_gatewright"), "what measures is left out: {found:#}");
    assert!(found["plan"]["effects"].to_string().contains("create out/stacks.txt"), "{found:#}");
    // The program's own end, from a folder of its own, with the graph.
    let graph = session.ok(
        "python_profile",
        json!({
            "command": "app.py 0.6 more", "directory": "sub", "profiler": "pyspy", "format": "flamegraph",
            "outputFile": "graph.html",
        }),
    );
    assert_eq!((&graph["exitCode"], &graph["success"]), (&json!(1), &json!(false)), "{graph:#}");
    assert_eq!(graph["sampled"]["top"][0]["file"], "sub/app.py", "{graph:#}");
    assert!(graph["plan"]["effects"].to_string().contains("create sub/graph.html"), "{graph:#}");
    let report = format!("report://{}/flamegraph.html", graph["report"].as_str().unwrap());
    let read = session.0.request("resources/read", json!({ "uri": report }));
    let page = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read:#}"));
    assert!(
        page.contains("hot (sub/app.py)") && page.contains("<svg") && !page.contains("<script"),
        "{page}"
    );
    let raised =
        session.ok("python_profile", json!({ "command": "fails.py", "profiler": "pyspy", "format": "json" }));
    assert_eq!((&raised["exitCode"], &raised["success"]), (&json!(1), &json!(false)), "{raised:#}");
    assert!(raised["message"].as_str().unwrap().trim_start().starts_with('{'), "{raised:#}");
    assert_eq!(bench.dirt(), "");
}

#[test]
fn python_profile_names_the_line_that_allocates_most_and_draws_a_flame_graph() {
    let app = "import sys\n\n\ndef hold(many):\n    return [bytearray(1000) for _ in range(many)]\n\n\nheld = hold(5000)\nsys.exit(len(sys.argv) - 1)\n";
    let Some((bench, mut session)) = serve(&[("app.py", app), ("sub/app.py", app)]) else { return };
    let found = session.ok("python_profile", json!({ "command": "app.py", "profiler": "memray", "topN": 3 }));
    let (memory, first) = (&found["memory"], &found["memory"]["top"][0]);
    assert_eq!(
        (&found["success"], &first["file"], &first["line"], &found["exitCode"]),
        (&json!(true), &json!("app.py"), &json!(5), &json!(0)),
        "{found:#}"
    );
    assert!(first["bytes"].as_u64().unwrap() >= 5_000_000, "{found:#}");
    assert!(
        memory["peakBytes"].as_u64().unwrap() >= 5_000_000 && memory["top"].as_array().unwrap().len() <= 3
    );
    let graph = session.ok(
        "python_profile",
        json!({
            "command": "app.py x", "directory": "sub", "profiler": "memray", "format": "flamegraph",
            "outputFile": "graph.html",
        }),
    );
    assert_eq!((&graph["exitCode"], &graph["success"]), (&json!(1), &json!(false)), "{graph:#}");
    assert_eq!(graph["memory"]["top"][0]["file"], "sub/app.py", "{graph:#}");
    assert!(graph["plan"]["effects"].to_string().contains("create sub/graph.html"), "{graph:#}");
    let report = format!("report://{}/flamegraph.html", graph["report"].as_str().unwrap());
    let read = session.0.request("resources/read", json!({ "uri": report }));
    let page = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read:#}"));
    assert!(
        page.contains("<html") && page.contains("hold") && !page.contains("cdn.jsdelivr"),
        "a page of its own"
    );
    assert_eq!(bench.dirt(), "");
}

#[test]
fn python_benchmark_measures_saves_and_compares() {
    let benches = "def test_sum(benchmark):\n    benchmark(sum, [1, 2])\n\n\ndef test_sort(benchmark):\n    benchmark(sorted, [2, 1])\n\n\ndef test_plain():\n    pass\n";
    let files = [("bench/test_speed.py", benches), ("empty/test_none.py", "def test_plain():\n    pass\n")];
    let Some((bench, mut session)) = serve(&files) else { return };
    let quick = json!(["--benchmark-max-time=0.05", "--benchmark-min-rounds=1"]);
    let ran = session.ok(
        "python_benchmark",
        json!({ "args": quick, "benchmarks": "bench", "save": "before", "json": true }),
    );
    let rows = ran["benchmarks"].as_array().unwrap_or_else(|| panic!("{ran:#}"));
    assert_eq!(
        (&ran["success"], rows.len(), &rows[0]["suite"]),
        (&json!(true), 2, &json!("bench/test_speed.py")),
        "{ran:#}"
    );
    assert!(rows[0]["nsPerOp"].as_f64().unwrap() > 1.0, "{ran:#}");
    assert!(ran["report"].as_str().unwrap().starts_with("report_"), "{ran:#}");
    assert!(ran["plan"]["effects"].to_string().contains("_before.json"), "{ran:#}");
    let applied = session.ok(
        "python_benchmark",
        json!({ "args": quick, "benchmarks": "sort", "save": "kept", "apply": true }),
    );
    assert_eq!(applied["benchmarks"].as_array().map(Vec::len), Some(1), "{applied:#}");
    let compared = session.ok(
        "python_benchmark",
        json!({ "args": quick, "benchmarks": "sort", "compare": "0001", "warmup": 10 }),
    );
    assert!(compared["comparison"].as_str().is_some_and(|table| table.contains("0001_kept")), "{compared:#}");
    assert!(command_of(&compared).contains("--benchmark-warmup-iterations=10"), "{compared:#}");
    let none = session.ok("python_benchmark", json!({ "benchmarks": "empty/test_none.py" }));
    assert!(none["benchmarks"].as_array().is_none_or(Vec::is_empty), "{none:#}");
    let out = session.fails("python_benchmark", json!({ "args": ["--benchmark-storage=file:///tmp"] }));
    assert_eq!(out["code"], "invalid_argument");
    drop(bench);
}
