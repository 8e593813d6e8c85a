//! dump
use gatewright_reports::*;
#[test]
#[allow(warnings)]
fn dump() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let want = std::env::var("DUMP").unwrap_or_default();
    let mut paths: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .flat_map(|d| std::fs::read_dir(d.unwrap().path()).unwrap())
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        if path.extension().is_some_and(|e| e == "stderr" || e == "md") {
            continue;
        }
        let name = path.strip_prefix(&dir).unwrap().to_str().unwrap().to_owned();
        if !name.starts_with(&want) {
            continue;
        }
        let family = name.split('/').next().unwrap();
        let format = match family {
            "go-test" => Format::GoTestJson,
            "go-build" => Format::GoBuild,
            "junit" => Format::Junit,
            "tap" => Format::Tap,
            "pytest" => Format::Pytest,
            "jest" => Format::JestJson,
            "vitest" => Format::VitestJson,
            "mocha" => Format::MochaJson,
            "libtest" => Format::Libtest,
            "nextest" => Format::Nextest,
            "cargo" => Format::CargoJson,
            "gcc" if name.ends_with(".json") => Format::GccJson,
            "gcc" => Format::Gcc,
            "tsc" => Format::Tsc,
            "eslint" => Format::EslintJson,
            "markdownlint" => Format::Markdownlint,
            "yamllint" => Format::YamllintParsable,
            "commitlint" => Format::Commitlint,
            "actionlint" => Format::ActionlintJson,
            "golangci" => Format::GolangciJson,
            "staticcheck" => Format::StaticcheckJson,
            "govulncheck" => Format::GovulncheckJson,
            "sarif" => Format::Sarif,
            "make" => Format::Make,
            other => panic!("{other}"),
        };
        let out = std::fs::read(&path).unwrap();
        let err = std::fs::read(format!("{}.stderr", path.display())).unwrap_or_default();
        let dir = match family {
            "go-test" | "go-build" | "staticcheck" => "go",
            "jest" | "vitest" | "mocha" | "tap" | "tsc" | "eslint" | "markdownlint" => "js",
            "pytest" | "yamllint" => "py",
            "gcc" => "c",
            "make" => "make",
            "cargo" | "libtest" | "nextest" => "rs",
            _ => "",
        };
        let exit = if name.contains("pass") { Some(0) } else { Some(1) };
        let r = read(
            format,
            &out,
            &err,
            exit,
            &Context { root: "/srv/shop", dir, modules: &[("example.com/shop", "go")] },
        );
        println!(
            "=== {name}: {:?} {:?} {:?} dis={:?} cov={:?}",
            r.parsed, r.counts, r.levels, r.disagreements, r.coverage
        );
        for t in &r.tests {
            println!(
                "  T {:?} {:?} {:?} {:?}:{:?} {:?}ms | {:?} | detail {}",
                t.outcome,
                t.suite.as_deref().unwrap_or("-"),
                t.name,
                t.file,
                t.line,
                t.duration_ms,
                t.message,
                t.detail.as_ref().map_or(0, |d| d.len())
            );
        }
        for d in r.diagnostics.iter().take(12) {
            println!(
                "  D {:?} {:?}:{:?}:{:?}-{:?}:{:?} [{:?}] {:?} help={:?} src={} fix={} out={}",
                d.severity,
                d.file,
                d.line,
                d.column,
                d.end_line,
                d.end_column,
                d.rule,
                d.message,
                d.help.as_ref().map(|h| h.chars().take(120).collect::<String>()),
                d.source,
                d.fix,
                d.outside
            );
        }
        for b in &r.benchmarks {
            println!("  B {b:?}");
        }
        println!(
            "  first {:?}",
            r.first_failure().map(|f| match f {
                Failure::Test(t) => t.name.clone(),
                Failure::Diagnostic(d) => d.message.clone(),
            })
        );
    }
}
