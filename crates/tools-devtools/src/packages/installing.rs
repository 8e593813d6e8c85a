//! What follows once the plan stands: packages are fetched and unpacked with the network to their registry and without any code of theirs;
//! their scripts, where they are wanted, run afterwards and without network.

use contract::{Code, Fault};
use deps::Format;
use exec::run::{Command, Ran};
use kit::{Answer, RunDesk};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Failure, Packages, alone, berry, reached};
use crate::node::Manager;
use crate::running::{configured, words};

/// What was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Installed {
    /// The folder.
    pub folder: String,
    /// Packages in it, where the manager says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages: Option<u64>,
}

/// What became of packages' install scripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Scripts {
    /// Packages whose scripts were not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// The program that ran scripts, without network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran: Option<String>,
}

/// What an installation came to.
pub(crate) struct Came {
    pub(crate) success: bool,
    pub(crate) message: String,
    pub(crate) code: Option<String>,
    pub(crate) installed: Option<Installed>,
    pub(crate) scripts: Scripts,
    pub(crate) reached: Vec<String>,
}

impl Came {
    /// As an answer that is added to that of the rehearsal.
    pub(crate) fn answer<T>(self, output: impl FnOnce(Self) -> T) -> Answer<T> {
        let (success, message) = (self.success, self.message.clone());
        Answer { success, ..Answer::new(message, output(self)) }
    }
}

/// What is installed, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wish {
    /// Without what only development needs.
    pub(crate) production: bool,
    /// With the packages' scripts.
    pub(crate) scripts: bool,
}

/// Installs what the lock holds.
pub(crate) async fn install(desk: &RunDesk, packages: &Packages, wish: Wish) -> Result<Came, Fault> {
    let place = packages.modules()?;
    let mut came = Came {
        success: false,
        message: String::new(),
        code: None,
        installed: None,
        scripts: Scripts::default(),
        reached: Vec::new(),
    };
    if let Some(why) = desk.unkept(&place).await? {
        came.message = format!("Nothing was installed: it would not stay. {why}.");
        return Ok(came);
    }
    if let Some(why) = berry::unlinked(desk, packages).await? {
        came.message = format!("Nothing was installed: {why}.");
        return Ok(came);
    }
    if packages.lock.is_none() && !has_lock(desk, packages).await? {
        came.message = "Nothing to install: the project has no lock, and no dependencies.".into();
        came.success = true;
        return Ok(came);
    }
    let ran = desk.run(configured(desk, packages.fetching(desk, unpacking(packages, wish))?).await?).await?;
    came.reached = reached([&ran]);
    if !ran.is_success() {
        return Ok(came.failed("Nothing was installed", &ran));
    }
    let (skipped, count) = looked(desk, packages).await?;
    came.scripts.skipped = skipped;
    let many =
        count.map_or_else(|| "The packages of the lock".to_owned(), |count| format!("{count} packages"));
    came.message = format!("{many} are in {place}; no code of theirs ran.");
    if wish.scripts {
        let command = rebuilding(packages);
        let line = format!("{} {}", command.program, command.args.join(" "));
        let ran = desk.run(configured(desk, command).await?).await?;
        if !ran.is_success() {
            return Ok(
                came.failed("Their scripts failed (they have no network), so nothing was installed", &ran)
            );
        }
        came.message = format!("{many} are in {place}; their scripts ran afterwards, without network.");
        came.scripts = Scripts { skipped: Vec::new(), ran: Some(line) };
    } else if !came.scripts.skipped.is_empty() {
        came.message.push_str(&format!(
            " Install scripts were not run of: {}. `scripts: true` runs them, without network.",
            came.scripts.skipped.join(", ")
        ));
    }
    came.installed = Some(Installed { folder: place.to_string(), packages: count });
    came.success = true;
    Ok(came)
}

impl Came {
    fn failed(mut self, what: &str, ran: &Ran) -> Self {
        let failure = Failure::of(ran);
        self.success = false;
        self.message = format!("{what}: {}", failure.why);
        self.code = failure.code;
        self
    }
}

fn unpacking(packages: &Packages, wish: Wish) -> Vec<String> {
    if packages.berry {
        return words(&["install", "--immutable", "--mode=skip-build"]);
    }
    let (all, production) = match packages.manager {
        Manager::Npm => (&["ci", "--ignore-scripts"][..], "--omit=dev"),
        Manager::Pnpm => (&["install", "--frozen-lockfile", "--ignore-scripts"][..], "--prod"),
        Manager::Bun => {
            (&["install", "--frozen-lockfile", "--ignore-scripts", "--backend=copyfile"][..], "--production")
        }
        Manager::Yarn => (
            &["install", "--frozen-lockfile", "--ignore-scripts", "--non-interactive"][..],
            "--production=true",
        ),
    };
    let mut args = words(all);
    args.extend(wish.production.then(|| production.to_owned()));
    args
}

/// What runs the packages' scripts. No caller's word is in it, so no grammar has to admit it.
fn rebuilding(packages: &Packages) -> Command {
    let (program, args) = match packages.manager {
        Manager::Npm | Manager::Bun => ("npm", &["rebuild", "--foreground-scripts"][..]),
        Manager::Pnpm => ("pnpm", &["rebuild"][..]),
        Manager::Yarn => {
            ("yarn", &["install", "--force", "--offline", "--frozen-lockfile", "--non-interactive"][..])
        }
    };
    let mut command = alone(Command::new(program, args));
    command.dir.clone_from(&packages.home);
    command.env.insert("npm_config_ignore_scripts".into(), "false".into());
    command
}

/// Whether the plan brought a lock.
async fn has_lock(desk: &RunDesk, packages: &Packages) -> Result<bool, Fault> {
    let path = packages.lock_path()?;
    desk.blocking(move |desk| Ok(desk.view().read_optional(&path)?.is_some())).await
}

/// Packages with install scripts, and how many are there: from what the manager writes beside them.
async fn looked(desk: &RunDesk, packages: &Packages) -> Result<(Vec<String>, Option<u64>), Fault> {
    let modules = packages.modules()?;
    let (name, format) = match packages.manager {
        Manager::Npm => (".package-lock.json", Some(Format::Npm)),
        Manager::Pnpm => (".modules.yaml", None),
        Manager::Yarn | Manager::Bun => (".yarn-integrity", None),
    };
    let path = modules.join(name).map_err(|e| Fault::internal(e.to_string()))?;
    let Some(workshop) = desk.workshop().cloned() else { return Ok((Vec::new(), None)) };
    desk.blocking(move |_| {
        let bytes = match workshop.read(&path) {
            Ok(bytes) => bytes,
            Err(fault) if fault.code == Code::NotFound => return Ok((Vec::new(), None)),
            Err(fault) => return Err(fault),
        };
        let Some(format) = format else {
            let json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let entries = json.get("lockfileEntries").and_then(Value::as_object).map(|all| all.len() as u64);
            let ignored = json.get("ignoredBuilds").and_then(Value::as_array);
            let names = ignored.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            return Ok((names.collect(), entries));
        };
        let Ok(lock) = deps::read(format, &bytes) else { return Ok((Vec::new(), None)) };
        let with = lock.packages.iter().filter(|package| package.scripts == Some(true));
        Ok((with.map(|package| package.name.clone()).collect(), Some(lock.packages.len() as u64)))
    })
    .await
}
