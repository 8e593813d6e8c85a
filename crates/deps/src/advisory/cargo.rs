//! The report of cargo-audit.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Advisory, Audit, Remark, line, no_report};

#[derive(Deserialize)]
struct Report {
    database: Option<Database>,
    lockfile: Option<Lockfile>,
    #[serde(default)]
    settings: Settings,
    vulnerabilities: Vulnerabilities,
    #[serde(default)]
    warnings: BTreeMap<String, Vec<Warning>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Database {
    advisory_count: Option<u64>,
    last_updated: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Lockfile {
    dependency_count: Option<u64>,
}

/// What was to be left out: `.cargo/audit.toml` says so.
#[derive(Default, Deserialize)]
struct Settings {
    #[serde(default)]
    ignore: Vec<String>,
    severity: Option<String>,
    #[serde(default)]
    target_arch: Vec<String>,
    #[serde(default)]
    target_os: Vec<String>,
}

#[derive(Deserialize)]
struct Vulnerabilities {
    #[serde(default)]
    count: u64,
    list: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    advisory: About,
    #[serde(default)]
    versions: Versions,
    package: Crate,
}

#[derive(Default, Deserialize)]
struct Versions {
    #[serde(default)]
    patched: Vec<String>,
}

#[derive(Deserialize)]
struct About {
    id: String,
    title: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    url: Option<String>,
}

#[derive(Deserialize)]
struct Crate {
    name: String,
    version: Option<String>,
}

#[derive(Deserialize)]
struct Warning {
    package: Crate,
    advisory: Option<About>,
}

pub(super) fn read(report: &str) -> Audit {
    let Ok(report) = serde_json::from_str::<Report>(report) else { return no_report(report) };
    let mut audit = Audit::complete();
    audit.asked = report.lockfile.and_then(|lock| lock.dependency_count);
    audit.as_of = report.database.as_ref().and_then(|data| data.last_updated.as_deref()).map(line);
    if report.database.as_ref().and_then(|data| data.advisory_count) == Some(0) {
        return Audit { as_of: audit.as_of, ..Audit::unknown("the advisory database is empty") };
    }
    for id in &report.settings.ignore {
        audit.lacks("advisories were to be ignored (`.cargo/audit.toml`)");
        audit.skipped.push(Remark { package: line(id), why: "ignored".to_owned() });
    }
    let narrowed = report.settings.target_arch.len() + report.settings.target_os.len();
    if report.settings.severity.is_some() || narrowed > 0 {
        audit.lacks("only some severities or targets were to be looked at (`.cargo/audit.toml`)");
    }
    let counted = report.vulnerabilities.count;
    for found in report.vulnerabilities.list {
        audit.add(Advisory {
            package: line(&found.package.name),
            installed: found.package.version.iter().map(|version| line(version)).collect(),
            ids: std::iter::once(&found.advisory.id)
                .chain(&found.advisory.aliases)
                .map(|id| line(id))
                .collect(),
            fixed_in: found.versions.patched.iter().map(|range| line(range)).collect(),
            title: found.advisory.title.as_deref().map(line),
            url: found.advisory.url.as_deref().map(line),
            ..Advisory::default()
        });
    }
    for (kind, warnings) in report.warnings {
        for warning in warnings {
            let name = warning.package.version.map_or_else(
                || line(&warning.package.name),
                |version| format!("{} {}", line(&warning.package.name), line(&version)),
            );
            let about = warning.advisory.map_or(String::new(), |about| {
                format!(" ({}: {})", line(&about.id), line(&about.title.unwrap_or_default()))
            });
            audit.warnings.push(Remark { package: name, why: format!("{}{about}", line(&kind)) });
        }
    }
    if counted > 0 && audit.advisories.is_empty() {
        audit.lacks("the report counts vulnerabilities and names none");
    }
    audit
}
