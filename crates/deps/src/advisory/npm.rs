//! The reports of npm, pnpm and yarn.

use serde_json::Value;

use super::{Advisory, Audit, Fix, MAX_PATHS, Severity, ghsa, line, no_report};

/// An `error` object, or a message with a status: the registry was not to be had.
fn refused(report: &Value) -> Option<Audit> {
    let error = report.get("error");
    let status = report.get("statusCode").and_then(Value::as_u64);
    if error.is_none() && status.is_none_or(|status| status < 400) {
        return None;
    }
    let said = |of: &Value, key: &str| {
        of.get(key).and_then(Value::as_str).map(str::to_owned).filter(|text| !text.is_empty())
    };
    let why = said(report, "message")
        .or_else(|| {
            error.and_then(|e| said(e, "message").or_else(|| said(e, "summary")).or_else(|| said(e, "code")))
        })
        .or_else(|| error.and_then(Value::as_str).map(str::to_owned))
        .or_else(|| status.map(|status| format!("the registry answered {status}")));
    Some(Audit::unknown(why.unwrap_or_else(|| "the registry gave no answer".to_owned())))
}

fn text(of: &Value, key: &str) -> Option<String> {
    of.get(key).and_then(Value::as_str).map(line).filter(|text| !text.is_empty())
}

fn texts(of: &Value, key: &str) -> Vec<String> {
    let all = of.get(key).and_then(Value::as_array);
    all.into_iter().flatten().filter_map(Value::as_str).map(line).collect()
}

fn severity(of: &Value) -> Option<Severity> {
    of.get("severity").and_then(Value::as_str).and_then(Severity::of)
}

/// `npm audit --json` (auditReportVersion 2): packages, each with what concerns it or those by which it is concerned.
pub(super) fn npm(report: &str) -> Audit {
    let Ok(report) = serde_json::from_str::<Value>(report) else { return no_report(report) };
    if let Some(audit) = refused(&report) {
        return audit;
    }
    let version = report.get("auditReportVersion").and_then(Value::as_u64);
    let Some(packages) = report.get("vulnerabilities").and_then(Value::as_object) else {
        return Audit::unknown("the report has no `vulnerabilities`: its form is not known here");
    };
    let mut audit = Audit::complete();
    audit.asked = report.pointer("/metadata/dependencies/total").and_then(Value::as_u64);
    if version != Some(2) {
        audit.lacks("the report is of a version that is not known here");
    }
    for (name, package) in packages {
        let Some(via) = package.get("via").and_then(Value::as_array) else {
            audit.lacks("a package of the report is not understood");
            continue;
        };
        let fix = match package.get("fixAvailable") {
            Some(Value::Bool(true)) => Some(Fix { name: None, version: None, major: false }),
            Some(fix @ Value::Object(_)) => Some(Fix {
                name: text(fix, "name"),
                version: text(fix, "version"),
                major: fix.get("isSemVerMajor").and_then(Value::as_bool).unwrap_or(false),
            }),
            _ => None,
        };
        let mut paths = texts(package, "nodes");
        paths.truncate(MAX_PATHS);
        // Words among them are packages that have rows of their own.
        for cause in via.iter().filter(|cause| cause.is_object()) {
            let url = text(cause, "url");
            let source = cause.get("source").and_then(Value::as_u64).map(|source| format!("npm:{source}"));
            audit.add(Advisory {
                package: text(cause, "dependency").unwrap_or_else(|| name.clone()),
                ids: url.as_deref().and_then(ghsa).into_iter().chain(source).collect(),
                severity: severity(cause),
                range: text(cause, "range"),
                title: text(cause, "title"),
                url,
                direct: package.get("isDirect").and_then(Value::as_bool),
                paths: paths.clone(),
                fix: fix.clone(),
                ..Advisory::default()
            });
        }
    }
    counted(&mut audit, report.pointer("/metadata/vulnerabilities"));
    audit
}

/// Totals that say more than the rows do are no complete report.
fn counted(audit: &mut Audit, totals: Option<&Value>) {
    let sum = |totals: &Value| {
        ["info", "low", "moderate", "high", "critical"]
            .iter()
            .filter_map(|level| totals.get(level).and_then(Value::as_u64))
            .fold(0_u64, u64::saturating_add)
    };
    if audit.advisories.is_empty() && totals.is_some_and(|totals| sum(totals) > 0) {
        audit.lacks("the report counts vulnerabilities and names none");
    }
}

/// An advisory in the form of npm 6, as pnpm and yarn 1 have it.
fn older(advisory: &Value) -> Advisory {
    let id = advisory.get("id").and_then(Value::as_u64).map(|id| format!("npm:{id}"));
    let url = text(advisory, "url");
    let known = text(advisory, "github_advisory_id").or_else(|| url.as_deref().and_then(ghsa));
    let mut found = Advisory {
        package: text(advisory, "module_name").unwrap_or_default(),
        ids: known.into_iter().chain(texts(advisory, "cves")).chain(id).collect(),
        severity: severity(advisory),
        range: text(advisory, "vulnerable_versions"),
        fixed_in: text(advisory, "patched_versions").filter(|range| range != "<0.0.0").into_iter().collect(),
        title: text(advisory, "title"),
        url,
        ..Advisory::default()
    };
    for finding in advisory.get("findings").and_then(Value::as_array).into_iter().flatten() {
        found.installed.extend(text(finding, "version"));
        found.paths.extend(texts(finding, "paths"));
    }
    found.installed.dedup();
    if !found.paths.is_empty() {
        // `.>a` or `a` is what the project asks for itself, `.>a>b` what that brings.
        found.direct = Some(found.paths.iter().any(|path| {
            let own = path.strip_prefix(".>").unwrap_or(path);
            !own.contains('>')
        }));
    }
    found.paths.truncate(MAX_PATHS);
    found
}

/// `pnpm audit --json`.
pub(super) fn pnpm(report: &str) -> Audit {
    let Ok(report) = serde_json::from_str::<Value>(report) else { return no_report(report) };
    if let Some(audit) = refused(&report) {
        return audit;
    }
    let Some(advisories) = report.get("advisories").and_then(Value::as_object) else {
        return Audit::unknown("the report has no `advisories`: its form is not known here");
    };
    let mut audit = Audit::complete();
    let dependencies = report.pointer("/metadata/dependencies");
    audit.asked = dependencies.and_then(Value::as_u64);
    advisories.values().for_each(|advisory| audit.add(older(advisory)));
    counted(&mut audit, report.pointer("/metadata/vulnerabilities"));
    if report.get("muted").and_then(Value::as_array).is_some_and(|muted| !muted.is_empty()) {
        audit.lacks("the project mutes advisories");
    }
    audit
}

/// `yarn audit --json` of yarn 1. Only a summary says that it came to its end.
pub(super) fn yarn(report: &str) -> Audit {
    let mut audit = Audit::complete();
    let (mut ended, mut failed, mut any) = (None, None, false);
    for said in report.lines().filter(|said| !said.trim().is_empty()) {
        let Ok(said) = serde_json::from_str::<Value>(said) else {
            audit.lacks("a line of the report is not understood");
            continue;
        };
        any = true;
        let data = said.get("data");
        match said.get("type").and_then(Value::as_str) {
            Some("auditAdvisory") => {
                let Some(data) = data else { continue };
                let mut found = data.get("advisory").map(older).unwrap_or_default();
                if let Some(path) = data.get("resolution").and_then(|to| text(to, "path")) {
                    found.direct = Some(!path.contains('>'));
                    found.paths = vec![path];
                }
                audit.add(found);
            }
            Some("auditSummary") => ended = data.cloned(),
            Some("error") => failed = data.and_then(Value::as_str).map(line),
            _ => {}
        }
    }
    match (ended, failed) {
        (Some(totals), _) => {
            let sum = ["dependencies", "devDependencies", "optionalDependencies"]
                .iter()
                .filter_map(|kind| totals.get(kind).and_then(Value::as_u64))
                .fold(0, u64::saturating_add);
            audit.asked = totals.get("totalDependencies").and_then(Value::as_u64).or(Some(sum));
            counted(&mut audit, totals.get("vulnerabilities"));
        }
        (None, Some(why)) => return Audit { advisories: audit.advisories, ..Audit::unknown(why) },
        (None, None) if any && !audit.advisories.is_empty() => {
            audit.lacks("the report has no summary: it broke off");
        }
        (None, None) => return no_report(report),
    }
    audit
}
