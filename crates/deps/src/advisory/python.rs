//! The report of pip-audit.

use serde::Deserialize;

use super::{Advisory, Audit, Remark, line, no_report};

#[derive(Deserialize)]
struct Report {
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    version: Option<String>,
    #[serde(default)]
    vulns: Vec<Vulnerability>,
    skip_reason: Option<String>,
}

#[derive(Deserialize)]
struct Vulnerability {
    id: String,
    #[serde(default)]
    fix_versions: Vec<String>,
    #[serde(default)]
    aliases: Vec<String>,
    description: Option<String>,
}

pub(super) fn read(report: &str) -> Audit {
    let Ok(report) = serde_json::from_str::<Report>(report) else { return no_report(report) };
    let mut audit = Audit::complete();
    let all = report.dependencies.len();
    for dependency in report.dependencies {
        let package = line(&dependency.name);
        if let Some(why) = dependency.skip_reason {
            audit.skipped.push(Remark { package, why: line(&why) });
            continue;
        }
        for found in dependency.vulns {
            let mut aliases = found.aliases;
            aliases.retain(|alias| *alias != found.id);
            audit.add(Advisory {
                package: package.clone(),
                installed: dependency.version.iter().map(|version| line(version)).collect(),
                ids: std::iter::once(line(&found.id))
                    .chain(aliases.iter().map(|alias| line(alias)))
                    .collect(),
                fixed_in: found.fix_versions.iter().map(|version| line(version)).collect(),
                title: found.description.as_deref().map(line).filter(|title| !title.is_empty()),
                ..Advisory::default()
            });
        }
    }
    let skipped = audit.skipped.len();
    audit.asked = u64::try_from(all - skipped).ok();
    if skipped > 0 && skipped == all {
        return Audit {
            skipped: audit.skipped,
            ..Audit::unknown(format!("0 of {all} packages could be asked about"))
        };
    }
    if skipped > 0 {
        audit.lacks(&format!("{skipped} of {all} packages could not be asked about"));
    }
    audit
}
