//! markdownlint, yamllint, commitlint, actionlint, golangci-lint, staticcheck, govulncheck, SARIF.

use gatewright_reports::{Format, Level, Parsed};

use crate::{at, err, fixture, out, ruled};

#[test]
fn markdownlint_is_read_in_text_and_json_alike() {
    let text = err(Format::Markdownlint, "js", fixture!("markdownlint/fail.txt.stderr"), 1);
    let json = err(Format::Markdownlint, "js", fixture!("markdownlint/fail.json.stderr"), 1);
    let ids = |report: &gatewright_reports::Report| {
        let mut ids: Vec<_> = report.diagnostics.iter().map(|found| found.id.clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&text), ids(&json));
    assert_eq!((text.levels.errors, at(ruled(&text, "MD019")).as_str()), (10, "js/bad.md:1:3"));
    assert_eq!((ruled(&json, "MD019").fix, ruled(&json, "MD025").fix), (true, false));
    let two = gatewright_reports::read(
        Format::Markdownlint,
        fixture!("markdownlint/cli2.txt"),
        fixture!("markdownlint/cli2.txt.stderr"),
        Some(1),
        &crate::context("js"),
    );
    assert_eq!((ids(&two), two.parsed, two.disagreements.len()), (ids(&text), Parsed::Fully, 0));
}

#[test]
fn yamllint_has_rules_and_levels() {
    let report = out(Format::YamllintParsable, "py", fixture!("yamllint/fail.txt"), 1);
    let twice = ruled(&report, "key-duplicates");
    assert_eq!(
        (at(twice).as_str(), twice.message.as_str()),
        ("py/y/bad.yaml:2:1", "duplication of key \"a\" in mapping")
    );
    assert_eq!((report.levels.errors, report.levels.warnings), (7, 2));
    let warned = out(Format::YamllintParsable, "py", fixture!("yamllint/warn.txt"), 0);
    assert_eq!((warned.first, warned.diagnostics[0].severity), (None, Level::Warning));
}

#[test]
fn commitlint_is_read_in_text_and_json() {
    let report = out(Format::Commitlint, "", fixture!("commitlint/fail.txt"), 1);
    assert_eq!((report.levels.errors, report.levels.warnings, &report.parsed), (3, 1, &Parsed::Fully));
    assert_eq!(ruled(&report, "type-empty").message, "type may not be empty");
    let json = out(Format::Commitlint, "", fixture!("commitlint/fail.json"), 1);
    assert_eq!(ruled(&json, "type-empty").id, ruled(&report, "type-empty").id);
    assert_eq!(out(Format::Commitlint, "", fixture!("commitlint/warn.txt"), 0).levels.warnings, 1);
    assert_eq!(out(Format::Commitlint, "", fixture!("commitlint/pass.json"), 0).parsed, Parsed::Fully);
    let wrong = "⧗   input: x\n✖   no [r]\n\n✖   found 2 problems, 0 warnings\n";
    assert_eq!(
        out(Format::Commitlint, "", wrong.as_bytes(), 1).disagreements,
        ["it says 2 problems, and 1 were read"]
    );
}

#[test]
fn actionlint_has_kinds_and_ranges() {
    let report = out(Format::ActionlintJson, "", fixture!("actionlint/fail.json"), 1);
    let label = ruled(&report, "runner-label");
    assert_eq!((at(label).as_str(), label.end_column), (".github/workflows/ci.yml:4:14", Some(28)));
    assert_eq!(out(Format::ActionlintJson, "", b"null\n", 0).parsed, Parsed::Fully);
}

#[test]
fn golangci_is_read_in_both_versions() {
    let report = out(Format::GolangciJson, "go", fixture!("golangci/fail-v1.json"), 1);
    assert_eq!((report.levels.errors, report.levels.warnings, report.levels.notes), (2, 1, 1));
    let format = ruled(&report, "gofmt");
    assert_eq!((at(format).as_str(), format.end_line, format.fix), ("go/cart/cart.go:5", Some(6), true));
    assert_eq!(ruled(&report, "typecheck").severity, Level::Error);
    let second = out(Format::GolangciJson, "go", fixture!("golangci/fail-v2.json"), 1);
    assert_eq!((second.parsed, second.diagnostics[0].fix), (Parsed::Fully, true));
    let broken = out(Format::GolangciJson, "go", fixture!("golangci/error.json"), 7);
    assert_eq!(broken.diagnostics[0].message, "no go files to analyze");
}

#[test]
fn staticcheck_is_read_in_text_and_json_alike() {
    let json = out(Format::StaticcheckJson, "go", fixture!("staticcheck/fail.json"), 1);
    let text = out(Format::StaticcheckJson, "go", fixture!("staticcheck/fail.txt"), 1);
    assert_eq!((json.diagnostics.len(), text.diagnostics.len()), (5, 5));
    for (one, other) in json.diagnostics.iter().zip(&text.diagnostics) {
        assert_eq!((&one.id, at(one)), (&other.id, at(other)));
    }
    assert_eq!(ruled(&json, "S1002").end_column, Some(15));
    let compile = out(Format::StaticcheckJson, "go", fixture!("staticcheck/compile.json"), 1);
    assert_eq!(at(ruled(&compile, "compile")), "go/broken/broken.go:4:6");
}

#[test]
fn a_vulnerability_counts_by_its_deepest_trace() {
    let report = out(Format::GovulncheckJson, "go", fixture!("govulncheck/fail.json"), 3);
    let called = ruled(&report, "GO-2021-0113");
    assert_eq!((called.severity, at(called).as_str()), (Level::Error, "go/cart/locale.go:14:29"));
    assert!(called.message.ends_with("golang.org/x/text/language.Parse is called"));
    assert_eq!(called.help.as_deref(), Some("golang.org/x/text v0.3.5 is affected; fixed in v0.3.7"));
    let imported = ruled(&report, "GO-2024-2611");
    assert_eq!(imported.severity, Level::Warning);
    assert!(imported.help.as_deref().unwrap().ends_with("no version fixes it"));
    assert_eq!(report.levels.errors + report.levels.warnings + report.levels.notes, 2);
}

#[test]
fn sarif_has_the_tool_as_its_source() {
    let report = out(Format::Sarif, "js", fixture!("sarif/eslint.sarif"), 1);
    assert_eq!(report.source, "ESLint");
    let var = ruled(&report, "no-var");
    assert_eq!(
        (at(var).as_str(), var.severity, var.end_column),
        ("js/src/cart.js:5:3", Level::Error, Some(45))
    );
    assert_eq!(report.disagreements, ["the tool says that it did not run to its end"]);
    let report = out(Format::Sarif, "go", fixture!("sarif/staticcheck.sarif"), 0);
    assert_eq!(
        (ruled(&report, "S1002").fix, at(ruled(&report, "S1002")).as_str()),
        (true, "go/sc/sc.go:8:5")
    );
    assert_eq!(ruled(&report, "SA5009").severity, Level::Error, "by the rule's own configuration");
}

#[test]
fn sarif_resolves_messages_bases_and_indexes_and_leaves_what_is_no_finding() {
    let log = br#"{"version": "2.1.0", "runs": [{
        "tool": {"driver": {"name": "x", "rules": [
            {"id": "R1", "messageStrings": {"m": {"text": "no {0} in {1}"}}, "defaultConfiguration": {"level": "note"}}]}},
        "originalUriBaseIds": {"SRC": {"uri": "file:///srv/shop/", "uriBaseId": "SRC"}},
        "artifacts": [{"location": {"uri": "a%20b.c", "uriBaseId": "SRC"}}],
        "results": [
            {"ruleIndex": 0, "message": {"id": "m", "arguments": ["x", "y"]},
             "locations": [{"physicalLocation": {"artifactLocation": {"uri": "lib/a%20b.c", "uriBaseId": "SRC", "index": 0}, "region": {"startLine": 3}}}]},
            {"ruleId": "R1", "kind": "pass", "message": {"text": "fine"}},
            {"ruleId": "R1", "message": {"text": "not now"}, "suppressions": [{"kind": "inSource"}]}]}]}"#;
    let report = out(Format::Sarif, "c", log, 0);
    assert_eq!(report.diagnostics.len(), 1);
    let found = &report.diagnostics[0];
    assert_eq!(
        (found.message.as_str(), found.severity, found.rule.as_deref()),
        ("no x in y", Level::Note, Some("R1"))
    );
    // A base that is relative to itself ends after some steps.
    assert_eq!(found.line, Some(3));
}
