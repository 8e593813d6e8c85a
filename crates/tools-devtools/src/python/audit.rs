//! What pip-audit says of pinned packages, told by whether it could be known.

use std::collections::BTreeSet;

use contract::{Code, Fault};
use exec::run::{Command, INPUT, Ran};
use kit::RunDesk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pins::Pins;
use crate::registries::registries;
use crate::running::{self, Asked, words};

/// A known vulnerability of a package that is pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Advisory {
    /// The package.
    pub package: String,
    /// The version that is pinned.
    pub installed: String,
    /// Its names, the first that of the source.
    pub ids: Vec<String>,
    /// What it is.
    pub title: String,
    /// Versions without it.
    pub fixed_in: Vec<String>,
    /// The next version without it is another major one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub major: bool,
    /// More about it.
    pub url: String,
}

/// How much is known of vulnerabilities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// Whether all, some or nothing is known.
    pub state: Known,
    /// Who was asked.
    pub asked: Vec<String>,
    /// Where the packages are pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Packages that were asked about.
    pub packages: u64,
    /// Packages of which nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Why not all is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
}

/// How much is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// Every package was asked about and answered.
    Complete,
    /// Some were.
    Partial,
    /// Nothing is known.
    None,
}

impl Data {
    fn none(why: String) -> Self {
        let (asked, unknown) = (Vec::new(), Vec::new());
        Self { state: Known::None, asked, from: None, packages: 0, unknown, why: Some(why), as_of: None }
    }
}

/// What was found out.
#[derive(Debug)]
pub(crate) struct Audited {
    pub(crate) advisories: Vec<Advisory>,
    pub(crate) data: Data,
}

/// Most advisories and names that are told.
const MAX_TOLD: usize = 100;
const MAX_TITLE: usize = 300;

/// Where pip-audit asks without being told otherwise.
const PYPI: &str = "pypi.org";

const PINNED: &str = "pinned.txt";

/// Asks about everything that the project pins. Nothing is resolved, installed or built for it.
pub(crate) async fn audited(desk: &RunDesk) -> Result<Audited, Fault> {
    // What a caller adds is held to the program's grammar, where there is one that it could be for.
    let asked = Asked::of(desk);
    let dir = running::directory(asked.directory)?;
    let nothing = |why: &str| Audited { advisories: Vec::new(), data: Data::none(why.to_owned()) };
    let (mut command, host) = match asking(desk, &asked)? {
        Ok(asking) => asking,
        Err(why) => return Ok(nothing(&why)),
    };
    let at = dir.clone();
    let Some(pins) = desk.blocking(move |desk| Pins::of(desk, at.as_ref())).await? else {
        return Ok(nothing("there is neither a lock file, nor requirements.txt, nor an environment"));
    };
    let file = pins.file();
    if file.is_empty() {
        return Ok(nothing(&format!("{} names no version that could be asked about", pins.from)));
    }
    command.args.extend(["-r".to_owned(), format!("{INPUT}{PINNED}")]);
    command.inputs.insert(PINNED.to_owned(), file.into_bytes());
    let command = running::configured(desk, command).await?;
    let ran = desk.run(command).await?;
    Ok(read(&ran, &pins, host))
}

/// Has pip-audit write fixed versions into requirements.txt.
pub(crate) async fn fixed(desk: &RunDesk) -> Result<Ran, Fault> {
    let asked = Asked::of(desk);
    let (mut command, _) = asking(desk, &asked)?.map_err(|why| Fault::new(Code::ToolExecutionFailed, why))?;
    command.args.extend(words(&["--fix", "-r", "requirements.txt"]));
    let command = running::configured(desk, command).await?;
    desk.run(command).await
}

/// pip-audit, told whom to ask, and who that is; or why nobody is asked.
fn asking(desk: &RunDesk, asked: &Asked<'_>) -> Result<Result<(Command, String), String>, Fault> {
    let all = registries(desk);
    let mut flags = words(&["-f", "json", "--progress-spinner", "off", "--no-deps", "--disable-pip"]);
    let (own, host) = match (&all.osv.url, &all.python.url) {
        (Some(url), _) => (Some(url.to_string()), url.host_str().unwrap_or_default().to_owned()),
        // Names of packages of one's own are nobody's business.
        (None, Some(url)) => {
            let host = url.host_str().unwrap_or_default();
            return Ok(Err(format!(
                "packages come from {host}, which has no advisories; name one that has in the user's configuration: [registries] osv = {{ url = \"https://…/v1/query\" }}"
            )));
        }
        (None, None) => (None, PYPI.to_owned()),
    };
    flags.extend(own.iter().flat_map(|_| words(&["-s", "osv"])));
    let mut command = asked.python_command(desk, "pip-audit", flags, Vec::new())?;
    // Behind what the grammar holds: no caller says these.
    command.args.extend(own.iter().flat_map(|url| ["--osv-url".to_owned(), url.clone()]));
    let registry = if own.is_some() { all.osv } else { all.python };
    Ok(Ok((registry.reached_by(command), host)))
}

#[derive(Deserialize)]
struct Said {
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
    aliases: Vec<String>,
    #[serde(default)]
    fix_versions: Vec<String>,
    description: Option<String>,
}

/// What pip-audit says (its documentation, "--format json"). Its own "No known vulnerabilities found" is not taken: it says so of
/// packages that nobody knew.
fn read(ran: &Ran, pins: &Pins, host: String) -> Audited {
    let said: Option<Said> = serde_json::from_slice(&ran.stdout.bytes).ok();
    let Some(said) = said else {
        let refused = if ran.refused.is_empty() {
            String::new()
        } else {
            format!(" ({} could not be reached)", ran.refused.join(", "))
        };
        let why =
            format!("{host} gave no answer that is understood{refused}: {}", super::said(&ran.stderr.text()));
        let mut data = Data::none(why);
        data.asked = vec![host];
        data.from = Some(pins.from.clone());
        return Audited { advisories: Vec::new(), data };
    };
    let mut unknown: BTreeSet<String> = pins.skipped.iter().cloned().collect();
    let (mut answered, mut why) = (0_u64, None);
    let mut advisories: Vec<Advisory> = Vec::new();
    for dependency in said.dependencies {
        let Some(version) = dependency.version.filter(|_| dependency.skip_reason.is_none()) else {
            why = dependency.skip_reason.or(why);
            unknown.insert(dependency.name);
            continue;
        };
        answered += 1;
        for vulnerability in dependency.vulns {
            advisories.push(told(&dependency.name, &version, vulnerability));
        }
    }
    advisories.sort_by(|a, b| (&a.package, &a.ids).cmp(&(&b.package, &b.ids)));
    // One row for an advisory, however many names it has.
    advisories.dedup_by(|later, earlier| {
        later.package == earlier.package && later.ids.iter().any(|id| earlier.ids.contains(id))
    });
    advisories.truncate(MAX_TOLD);
    let state = match (answered, unknown.is_empty()) {
        (0, _) => Known::None,
        (_, true) => Known::Complete,
        (_, false) => Known::Partial,
    };
    if why.is_none() && !pins.skipped.is_empty() {
        why = Some(format!("{} does not name one version of each", pins.from));
    }
    let data = Data {
        state,
        asked: vec![host],
        from: Some(pins.from.clone()),
        packages: answered,
        unknown: unknown.into_iter().take(MAX_TOLD).collect(),
        why: why.filter(|_| state != Known::Complete),
        as_of: (state != Known::None)
            .then(|| jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
    };
    Audited { advisories, data }
}

fn told(package: &str, installed: &str, said: Vulnerability) -> Advisory {
    let major = said.fix_versions.first().is_some_and(|fixed| {
        deps::step(deps::Ecosystem::Python, installed, fixed) == Some(deps::Step::Major)
    });
    let line = said.description.unwrap_or_default();
    let title = line.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let mut ids = vec![said.id];
    ids.extend(said.aliases);
    ids.dedup();
    Advisory {
        package: package.to_owned(),
        installed: installed.to_owned(),
        url: format!("https://osv.dev/vulnerability/{}", ids.first().map_or("", String::as_str)),
        ids,
        title: title.chars().take(MAX_TITLE).collect(),
        fixed_in: said.fix_versions,
        major,
    }
}

/// What is known, in words: never more than that.
pub(crate) fn message(audited: &Audited) -> String {
    let data = &audited.data;
    let why = data.why.as_deref().unwrap_or("nobody answered");
    if data.state == Known::None {
        return format!("Not known: whether packages are vulnerable; {why}.");
    }
    let many = audited.advisories.len();
    let mut text = match (many, data.state) {
        (0, Known::Complete) => {
            format!("No known vulnerability in {} packages ({}).", data.packages, data.asked.join(", "))
        }
        (0, _) => format!(
            "None known in {} packages; of {} nothing is known: {why}.",
            data.packages,
            data.unknown.len()
        ),
        _ => format!("{many} known vulnerabilities in {} packages.", data.packages),
    };
    for advisory in audited.advisories.iter().take(10) {
        let fixed = match advisory.fixed_in.first() {
            Some(version) if advisory.major => format!("fixed in {version}, another major version"),
            Some(version) => format!("fixed in {version}"),
            None => "no fixed version is known".to_owned(),
        };
        let id = advisory.ids.first().map_or("", String::as_str);
        text.push_str(&format!(
            "\n- `{}` {}: {id}, {fixed}: {}",
            advisory.package, advisory.installed, advisory.title
        ));
    }
    if many > 0 && data.state == Known::Partial {
        text.push_str(&format!("\n\nOf {} more nothing is known: {why}.", data.unknown.len()));
    }
    text
}
