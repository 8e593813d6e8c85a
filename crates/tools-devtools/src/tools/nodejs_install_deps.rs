//! Install Node packages.
//!
//! Resolves a project's packages into its lock, which is the plan; once it is applied, they are fetched from the registry and unpacked
//! into `node_modules`, which git must ignore. No code of packages runs unless `scripts` is set, and then without network.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, ForeignCode, ForeignCodeOf, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::node::Manager;
use crate::packages::berry;
use crate::packages::installing::{Installed, Scripts, Wish, install};
use crate::packages::locked::{Changed, locked};
use crate::packages::{self, Chosen, Failure, Packages, reached};
use crate::running::{configured, words};

/// Which manager.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum PackageManager {
    /// As the project says.
    #[default]
    Auto,
    Npm,
    Yarn,
    Pnpm,
    Bun,
}

impl PackageManager {
    const fn wanted(self) -> Option<Manager> {
        match self {
            Self::Auto => None,
            Self::Npm => Some(Manager::Npm),
            Self::Yarn => Some(Manager::Yarn),
            Self::Pnpm => Some(Manager::Pnpm),
            Self::Bun => Some(Manager::Bun),
        }
    }
}

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Package manager; else what the project says.
    #[serde(default)]
    pub package_manager: PackageManager,
    /// Without development dependencies.
    #[serde(default)]
    pub production: bool,
    /// The lock must not change.
    #[serde(default)]
    pub frozen: bool,
    /// Run packages' install scripts, without network.
    #[serde(default)]
    pub scripts: bool,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The package manager.
    pub manager: Chosen,
    /// What changes of the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Changed>,
    /// The manager's code of its failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What was installed, after an apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<Installed>,
    /// What became of install scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<Scripts>,
    /// Hosts that were reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<String>,
    /// What is worth knowing besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsInstallDeps;

impl Define for NodejsInstallDeps {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_install_deps";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_install_deps.rs");
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = packages::PROGRAMS;
    const CACHES: &'static [Cache] = packages::CACHES;
    const SETTLES: &'static [&'static str] = packages::SETTLES;
    const ASKED: &'static [&'static str] = packages::ASKED;
    const FOREIGN_CODE: Option<ForeignCodeOf> =
        Some(|arguments| (arguments.get("scripts") == Some(&json!(true))).then_some(ForeignCode::Applied));

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "frozen": true, "production": true, "packageManager": "npm" })]
    }
}

/// How the lock is resolved, or held to the manifest, and nothing unpacked.
fn resolving(packages: &Packages, frozen: bool) -> Vec<String> {
    if packages.berry {
        return words(if frozen {
            &["install", "--immutable", "--mode=skip-build"]
        } else {
            &["install", "--mode=update-lockfile"]
        });
    }
    words(match (packages.manager, frozen) {
        (Manager::Npm, false) => &["install", "--package-lock-only", "--ignore-scripts"],
        (Manager::Npm, true) => &["ci", "--dry-run", "--ignore-scripts"],
        (Manager::Pnpm, false) => &["install", "--no-frozen-lockfile", "--lockfile-only", "--ignore-scripts"],
        (Manager::Pnpm, true) => &["install", "--frozen-lockfile", "--lockfile-only", "--ignore-scripts"],
        (Manager::Bun, false) => &["install", "--lockfile-only", "--ignore-scripts"],
        (Manager::Bun, true) => &["install", "--frozen-lockfile", "--dry-run", "--ignore-scripts"],
        (Manager::Yarn, false) => &["install", "--ignore-scripts", "--non-interactive"],
        (Manager::Yarn, true) => &["install", "--frozen-lockfile", "--ignore-scripts", "--non-interactive"],
    })
}

impl Run for NodejsInstallDeps {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let packages = Packages::of(&desk, input.package_manager.wanted()).await?;
        berry::possible(&packages, input.production, input.scripts)?;
        let command = packages.locking(&desk, resolving(&packages, input.frozen))?;
        let ran = desk.run(configured(&desk, command).await?).await?;
        let mut output = Output {
            manager: packages.chosen.clone(),
            lock: None,
            code: None,
            installed: None,
            scripts: None,
            reached: reached([&ran]),
            notes: packages.notes.clone(),
        };
        let program = packages.manager.program();
        if !ran.is_success() {
            let failure = Failure::of(&ran);
            output.code = failure.code;
            let message = format!("`{program}` could not resolve the packages: {}", failure.why);
            return Ok(Answer { success: false, ..Answer::new(message, output) });
        }
        let locked = locked(&desk, &packages).await?;
        let mut message = locked.in_words();
        if !locked.changed.with_scripts.is_empty() {
            output.scripts = Some(Scripts { skipped: locked.changed.with_scripts.clone(), ran: None });
        }
        if let Some(why) = desk.unkept(&packages.modules()?).await? {
            output.notes.push(format!("Nothing can be installed: {why}."));
        }
        if let Some(why) = berry::unlinked(&desk, &packages).await? {
            output.notes.push(format!("Nothing is installed: {why}."));
        }
        let refused = locked.refused();
        let success = refused.is_none();
        message.extend(refused.map(|refused| format!(" {refused}")));
        output.lock = Some(locked.changed);
        Ok(Answer { success, ..Answer::new(message, output) })
    }

    async fn settle(&self, input: Input, desk: RunDesk) -> Result<Option<Answer<Output>>, Fault> {
        let packages = Packages::of(&desk, input.package_manager.wanted()).await?;
        let wish = Wish { production: input.production, scripts: input.scripts };
        let came = install(&desk, &packages, wish).await?;
        Ok(Some(came.answer(|came| Output {
            manager: packages.chosen,
            lock: None,
            code: came.code,
            installed: came.installed,
            scripts: Some(came.scripts),
            reached: came.reached,
            notes: Vec::new(),
        })))
    }
}
