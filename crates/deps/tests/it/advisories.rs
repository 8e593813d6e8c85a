//! Reports of vulnerabilities and of newer versions, in the shapes that the auditors' documentation and their own words have.

use gatewright_deps::{Auditor, Fix, Lister, Severity, State, Step, audit, outdated};

const NPM: &str = r#"{"auditReportVersion":2,"vulnerabilities":{
    "lodash":{"name":"lodash","severity":"high","isDirect":true,"via":[
        {"source":1065,"name":"lodash","dependency":"lodash","title":"Prototype Pollution","url":"https://github.com/advisories/GHSA-jf85-cpcp-j695","severity":"high","range":"<4.17.12"},
        {"source":1673,"name":"lodash","dependency":"lodash","title":"Command Injection","url":"https://github.com/advisories/GHSA-35jh-r3h4-6jhm","severity":"critical","range":"<4.17.21"}],
        "effects":["shop"],"range":"<4.17.21","nodes":["node_modules/lodash"],"fixAvailable":{"name":"lodash","version":"5.0.0","isSemVerMajor":true}},
    "shop":{"name":"shop","severity":"high","isDirect":false,"via":["lodash"],"effects":[],"range":"*","nodes":["node_modules/shop"],"fixAvailable":true}},
    "metadata":{"vulnerabilities":{"high":1,"critical":1,"total":2},"dependencies":{"prod":3,"total":3}}}"#;

#[test]
fn npm_has_a_row_for_each_advisory_and_its_own_severity() {
    let told = audit(Auditor::Npm, NPM.as_bytes());
    assert_eq!((told.state, told.asked, told.advisories.len()), (State::Complete, Some(3), 2));
    let first = &told.advisories[0];
    assert_eq!(first.ids, ["GHSA-35jh-r3h4-6jhm", "npm:1673"]);
    assert_eq!((first.severity, first.direct), (Some(Severity::Critical), Some(true)));
    assert_eq!((first.range.as_deref(), first.paths[0].as_str()), (Some("<4.17.21"), "node_modules/lodash"));
    let fix = Fix { name: Some("lodash".into()), version: Some("5.0.0".into()), major: true };
    assert_eq!(first.fix, Some(fix));
}

#[test]
fn an_answer_that_could_not_be_had_is_never_that_nothing_was_found() {
    let npm_405 = r#"{"message":"405 Method Not Allowed - POST https://r.example/-/npm/v1/security/advisories/bulk","statusCode":405,"error":{"summary":"","detail":""}}"#;
    let pnpm_405 = r#"{"error":{"code":"ERR_PNPM_AUDIT_BAD_RESPONSE","message":"The audit endpoint responded with 405"}}"#;
    let yarn_405 = "{\"type\":\"info\",\"data\":\"Visit\"}\n{\"type\":\"error\",\"data\":\"Error: Request \\\"https://r.example\\\" returned a 405\\n    at x\"}\n";
    let skipped =
        r#"{"dependencies":[{"name":"own","skip_reason":"Dependency not found on PyPI"}],"fixes":[]}"#;
    let no_data = r#"{"database":{"advisory-count":0},"lockfile":{"dependency-count":2},"vulnerabilities":{"found":false,"count":0,"list":[]},"warnings":{}}"#;
    for (auditor, report, why) in [
        (Auditor::Npm, npm_405, "405 Method Not Allowed"),
        (Auditor::Npm, "", "gave no report"),
        (Auditor::Npm, "npm error network\nmore", "npm error network"),
        (Auditor::Npm, "{}", "not known here"),
        (Auditor::Npm, "[]", "not known here"),
        (
            Auditor::Npm,
            r#"{"error":{"code":"ENOLOCK","summary":"This command requires an existing lockfile."}}"#,
            "existing lockfile",
        ),
        (Auditor::Pnpm, pnpm_405, "405"),
        (Auditor::Pnpm, r#"{"vulnerabilities":{}}"#, "not known here"),
        (Auditor::Yarn, yarn_405, "returned a 405"),
        (Auditor::Yarn, "{\"type\":\"info\",\"data\":\"Visit\"}\n", "no report"),
        (Auditor::PipAudit, skipped, "0 of 1"),
        (Auditor::PipAudit, "ERROR:pip_audit:404", "404"),
        (Auditor::CargoAudit, no_data, "database is empty"),
        (Auditor::CargoAudit, "error: couldn't fetch advisory database", "couldn't fetch"),
    ] {
        let told = audit(auditor, report.as_bytes());
        assert_eq!(told.state, State::None, "{auditor:?} {report}");
        assert!(told.why.as_deref().is_some_and(|said| said.contains(why)), "{auditor:?} {report}: {told:?}");
    }
}

#[test]
fn what_is_understood_in_part_is_partial() {
    let counts = r#"{"auditReportVersion":2,"vulnerabilities":{},"metadata":{"vulnerabilities":{"high":2}}}"#;
    let newer = r#"{"auditReportVersion":3,"vulnerabilities":{}}"#;
    let odd = r#"{"auditReportVersion":2,"vulnerabilities":{"x":{"by":[]}}}"#;
    let nameless = r#"{"auditReportVersion":2,"vulnerabilities":{"x":{"via":[{"title":"t"}]}}}"#;
    for report in [counts, newer, odd, nameless] {
        assert_eq!(audit(Auditor::Npm, report.as_bytes()).state, State::Partial, "{report}");
    }
    let broken = "{\"type\":\"auditAdvisory\",\"data\":{\"advisory\":{\"id\":1,\"module_name\":\"a\"}}}\n";
    assert_eq!(audit(Auditor::Yarn, broken.as_bytes()).state, State::Partial);
    let muted = r#"{"advisories":{},"muted":[{}],"metadata":{}}"#;
    assert_eq!(audit(Auditor::Pnpm, muted.as_bytes()).state, State::Partial);
}

const OLDER: &str = r#"{"findings":[{"version":"4.17.4","paths":[".>lodash",".>a>lodash"]}],"id":1065,
    "github_advisory_id":"GHSA-jf85-cpcp-j695","cves":["CVE-2019-10744"],"module_name":"lodash","severity":"high","title":"Prototype Pollution",
    "url":"https://github.com/advisories/GHSA-jf85-cpcp-j695","vulnerable_versions":"<4.17.12","patched_versions":">=4.17.12"}"#;

#[test]
fn pnpm_and_yarn_1_have_the_same_rows() {
    let report = format!(
        r#"{{"actions":[],"advisories":{{"1065":{OLDER}}},"muted":[],"metadata":{{"vulnerabilities":{{"high":1}},"dependencies":2}}}}"#
    );
    let told = audit(Auditor::Pnpm, report.as_bytes());
    assert_eq!((told.state, told.asked), (State::Complete, Some(2)));
    let row = &told.advisories[0];
    assert_eq!(row.ids, ["GHSA-jf85-cpcp-j695", "CVE-2019-10744", "npm:1065"]);
    assert_eq!((row.installed.as_slice(), row.direct), (&["4.17.4".to_owned()][..], Some(true)));
    assert_eq!(row.fixed_in, [">=4.17.12"]);
    let one_line = OLDER.replace('\n', " ");
    let lines = format!(
        "{{\"type\":\"auditAdvisory\",\"data\":{{\"resolution\":{{\"id\":1065,\"path\":\"a>lodash\"}},\"advisory\":{one_line}}}}}\n\
         {{\"type\":\"auditAdvisory\",\"data\":{{\"resolution\":{{\"id\":1065,\"path\":\"lodash\"}},\"advisory\":{one_line}}}}}\n\
         {{\"type\":\"auditSummary\",\"data\":{{\"vulnerabilities\":{{\"high\":2}},\"dependencies\":2,\"totalDependencies\":2}}}}\n"
    );
    let told = audit(Auditor::Yarn, lines.as_bytes());
    assert_eq!((told.state, told.asked, told.advisories.len()), (State::Complete, Some(2), 1));
    assert_eq!(told.advisories[0].paths, ["a>lodash", "lodash"]);
    assert_eq!(told.advisories[0].direct, Some(true));
}

#[test]
fn pip_audit_has_no_severity_and_none_is_guessed() {
    let report = r#"{"dependencies":[
        {"name":"flask","version":"0.5","vulns":[{"id":"PYSEC-2018-66","fix_versions":["0.12.3"],"aliases":["CVE-2018-1000656","PYSEC-2018-66"],"description":"Denial of service.\nMore."}]},
        {"name":"click","version":"8.1.7","vulns":[]},
        {"name":"own","skip_reason":"Dependency not found on PyPI and could not be audited: own (1.0)"}],"fixes":[]}"#;
    let told = audit(Auditor::PipAudit, report.as_bytes());
    assert_eq!((told.state, told.asked), (State::Partial, Some(2)));
    assert_eq!(told.skipped[0].package, "own");
    let row = &told.advisories[0];
    assert_eq!(row.ids, ["PYSEC-2018-66", "CVE-2018-1000656"]);
    assert_eq!((row.severity, row.fixed_in.as_slice()), (None, &["0.12.3".to_owned()][..]));
    assert_eq!(row.title.as_deref(), Some("Denial of service."));
}

#[test]
fn cargo_audit_has_vulnerabilities_and_warnings_apart() {
    let report = r#"{"database":{"advisory-count":700,"last-commit":"abc","last-updated":"2026-11-01T00:00:00Z"},"lockfile":{"dependency-count":12},
        "settings":{},"vulnerabilities":{"found":true,"count":1,"list":[{"advisory":{"id":"RUSTSEC-2020-0071","package":"time","title":"Segfault","description":"d","date":"2020-11-18","aliases":["CVE-2020-26235"],"cvss":null,"url":"https://example.com/x"},
        "versions":{"patched":[">=0.2.23"],"unaffected":["=0.2.0"]},"affected":null,"package":{"name":"time","version":"0.1.43"}}]},
        "warnings":{"yanked":[{"kind":"yanked","package":{"name":"old","version":"1.0.0"},"advisory":null,"versions":null}],
                    "unmaintained":[{"kind":"unmaintained","package":{"name":"dead","version":"0.1.0"},"advisory":{"id":"RUSTSEC-2021-0001","title":"dead is unmaintained"}}]}}"#;
    let told = audit(Auditor::CargoAudit, report.as_bytes());
    assert_eq!(
        (told.state, told.asked, told.as_of.as_deref()),
        (State::Complete, Some(12), Some("2026-11-01T00:00:00Z"))
    );
    assert_eq!(told.advisories[0].ids, ["RUSTSEC-2020-0071", "CVE-2020-26235"]);
    let warned: Vec<_> = told.warnings.iter().map(|w| (w.package.as_str(), w.why.as_str())).collect();
    assert_eq!(
        warned,
        [("dead 0.1.0", "unmaintained (RUSTSEC-2021-0001: dead is unmaintained)"), ("old 1.0.0", "yanked")]
    );
}

#[test]
fn texts_of_advisories_are_one_bounded_line_without_control_characters() {
    let long = "x".repeat(5_000);
    let report = format!(
        r#"{{"auditReportVersion":2,"vulnerabilities":{{"a":{{"via":[{{"source":1,"title":"\u001b[31m{long}\nsecond"}}]}}}}}}"#
    );
    let told = audit(Auditor::Npm, report.as_bytes());
    let title = told.advisories[0].title.clone().unwrap_or_default();
    assert!(title.starts_with("[31mx") && title.chars().count() == 300, "{title}");
    assert_eq!(audit(Auditor::Npm, &vec![b' '; (64 << 20) + 1]).state, State::None);
}

#[test]
fn newer_versions_have_the_step_that_is_computed_here() {
    let npm = r#"{"lodash":{"current":"4.17.4","wanted":"4.17.21","latest":"5.0.0","dependent":"shop","type":"dependencies"},
                  "is-odd":[{"wanted":"3.0.1","latest":"3.0.1"},{"wanted":"3.0.1","latest":"3.0.1"}]}"#;
    let rows = outdated(Lister::Npm, npm.as_bytes()).unwrap_or_default();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[1].kind, rows[1].group.as_deref()), (Some(Step::Major), Some("dependencies")));
    assert_eq!((rows[0].current.as_deref(), rows[0].kind), (None, None));
    let pnpm = r#"{"a":{"current":"1.0.0","latest":"1.1.0","wanted":"1.0.0","isDeprecated":true,"dependencyType":"devDependencies"}}"#;
    let row = outdated(Lister::Pnpm, pnpm.as_bytes()).unwrap_or_default().remove(0);
    assert_eq!(
        (row.kind, row.deprecated, row.group.as_deref()),
        (Some(Step::Minor), true, Some("devDependencies"))
    );
    let yarn = "{\"type\":\"info\",\"data\":\"x\"}\n{\"type\":\"table\",\"data\":{\"head\":[\"Package\",\"Current\",\"Wanted\",\"Latest\",\"Package Type\",\"URL\"],\
                \"body\":[[\"a\",\"1.0.0\",\"1.0.1\",\"1.0.1\",\"dependencies\",\"https://x\"]]}}\n";
    let row = outdated(Lister::Yarn, yarn.as_bytes()).unwrap_or_default().remove(0);
    assert_eq!((row.kind, row.wanted.as_deref()), (Some(Step::Patch), Some("1.0.1")));
    let pip = r#"[{"name":"click","version":"8.0","latest_version":"8.1.7","latest_filetype":"wheel"}]"#;
    assert_eq!(outdated(Lister::Pip, pip.as_bytes()).unwrap_or_default()[0].kind, Some(Step::Minor));
    assert_eq!(outdated(Lister::Npm, b""), Some(Vec::new()));
    for refused in ["no", "[]", r#"{"error":{"code":"E404"}}"#] {
        assert_eq!(outdated(Lister::Npm, refused.as_bytes()), None, "{refused}");
    }
}
