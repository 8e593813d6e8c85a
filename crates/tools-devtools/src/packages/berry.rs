//! Yarn 2 and later, and bun: what they do otherwise than npm, pnpm and yarn 1, and what of theirs would run code.

use contract::{Code, Fault, RelPath};
use exec::run::{Command, DOOR_PORT};
use kit::{ReadDesk, RunDesk};

use super::Packages;
use crate::node::{self, Manager};
use crate::registries::registries;
use crate::running::{configured, words};

/// Refuses settings of the project that have its code run while there is a network, and locks that only their manager reads.
pub(super) fn without_code(
    desk: &ReadDesk,
    manager: Manager,
    berry: bool,
    home: Option<&RelPath>,
    lock: Option<&RelPath>,
) -> Result<(), Fault> {
    let refused = |file: &str, why: &str, then: &str| {
        Err(Fault::new(Code::ToolExecutionFailed, format!("{file} {why}")).about(file).suggest(then))
    };
    let yourself = "Run the manager yourself, outside of gatewright.";
    if berry && settings(desk, home, ".yarnrc.yml")?.is_some_and(|text| has_key(&text, "plugins")) {
        return refused(
            ".yarnrc.yml",
            "loads plugins: code of the project, which is not run with a network",
            yourself,
        );
    }
    if manager == Manager::Bun {
        if settings(desk, home, "bunfig.toml")?.is_some_and(|text| text.contains("scanner")) {
            return refused(
                "bunfig.toml",
                "names a scanner: a package whose code runs while others are fetched",
                yourself,
            );
        }
        if let Some(lock) = lock.filter(|lock| lock.as_str().rsplit('/').next() == Some("bun.lockb")) {
            let then =
                "`bun install --save-text-lockfile --lockfile-only` writes it as text, which is read here.";
            return refused(lock.as_str(), "is bun's binary lock, which nobody else reads", then);
        }
    }
    Ok(())
}

fn settings(desk: &ReadDesk, home: Option<&RelPath>, name: &str) -> Result<Option<String>, Fault> {
    let bytes = desk.view().read_optional(&node::at(home, name)?)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whether a file of YAML has this key at its top, quoted or not.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(['\u{feff}', '{', ' ']).trim_start_matches(['"', '\'']);
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
    })
}

/// Yarn 1 and its successors read each other's locks wrongly: the one on the PATH must be the project's.
pub(super) async fn is_of_the_project(desk: &RunDesk, packages: &Packages) -> Result<(), Fault> {
    let command = packages.command(words(&["--version"]))?;
    let ran = desk.run(configured(desk, command).await?).await?;
    let said = ran.stdout.text();
    let here = said.trim();
    if !ran.is_success() || here.is_empty() {
        return Ok(());
    }
    if here.starts_with("1.") == packages.berry {
        let wants = if packages.berry { "yarn 2 or later" } else { "yarn 1" };
        return Err(Fault::new(
            Code::ToolExecutionFailed,
            format!("the yarn on the PATH is {here}, and {} is of {wants}", packages.chosen.from),
        )
        .suggest("Put the project's yarn before it on the PATH that gatewright is started with; it is never fetched (`packageManager`, `yarnPath`)."));
    }
    Ok(())
}

/// A command of yarn 2 or later that runs no code of packages, and leaves nothing in the project but its lock and its packages.
pub(super) fn alone(mut command: Command) -> Command {
    for (name, value) in [
        ("YARN_ENABLE_SCRIPTS", "false"),
        ("YARN_ENABLE_TELEMETRY", "false"),
        ("YARN_ENABLE_GLOBAL_CACHE", "false"),
        // `yarn.config.cjs` is code of the project.
        ("YARN_ENABLE_CONSTRAINTS_CHECKS", "false"),
        // `--immutable` says so, and not that this is no terminal.
        ("YARN_ENABLE_IMMUTABLE_INSTALLS", "false"),
        ("YARN_ENABLE_PROGRESS_BARS", "false"),
        ("YARN_ENABLE_COLORS", "false"),
        ("YARN_INSTALL_STATE_PATH", "/tmp/install-state.gz"),
    ] {
        command.env.insert(name.to_owned(), value.to_owned());
    }
    command
}

/// The command, let through to the registry: it takes neither npm's settings nor the usual variable of a proxy.
pub(super) fn reaching(desk: &ReadDesk, mut command: Command) -> Command {
    let registry = registries(desk).npm;
    let url =
        registry.url.as_ref().map_or_else(|| "https://registry.npmjs.org".to_owned(), ToString::to_string);
    command.env.insert("YARN_NPM_REGISTRY_SERVER".to_owned(), url);
    command.env.insert("YARN_HTTPS_PROXY".to_owned(), format!("http://127.0.0.1:{DOOR_PORT}"));
    registry.reached_by(command)
}

/// Why what is locked would not be installed as packages in a folder; nothing where it would.
pub(crate) async fn unlinked(desk: &RunDesk, packages: &Packages) -> Result<Option<String>, Fault> {
    if !packages.berry {
        return Ok(None);
    }
    let home = packages.home.clone();
    let text = desk.blocking(move |desk| settings(desk, home.as_ref(), ".yarnrc.yml")).await?;
    let linked = text.is_some_and(|text| {
        text.lines().any(|line| {
            let value = line.strip_prefix("nodeLinker:").map(|value| value.trim().trim_matches(['"', '\'']));
            value == Some("node-modules")
        })
    });
    Ok((!linked).then(|| {
        "the project's yarn works by Plug'n'Play (`nodeLinker` of .yarnrc.yml is not `node-modules`), which is not installed here: run `yarn install` yourself".to_owned()
    }))
}

/// Refuses wishes that only the others have a way for.
pub(crate) fn possible(packages: &Packages, production: bool, scripts: bool) -> Result<(), Fault> {
    let name = match (packages.berry, packages.manager) {
        (true, _) => "yarn 2 and later",
        (_, Manager::Bun) => "bun",
        _ => return Ok(()),
    };
    if scripts {
        return Err(Fault::invalid(format!(
            "scripts: of {name} none are run here, since it has no way to run them without a network"
        ))
        .suggest("Leave `scripts` out, and run what has to be built yourself."));
    }
    if production && packages.berry {
        return Err(Fault::invalid("production: yarn 2 and later leaves nothing out when it installs")
            .suggest("Leave it out, or run `yarn workspaces focus --production` yourself."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_as_yaml_may_write_it() {
        for text in [
            "plugins:\n  - x\n",
            "a: 1\nplugins: []\n",
            "\"plugins\" : []\n",
            "'plugins': []",
            "{plugins: []}",
        ] {
            assert!(has_key(text, "plugins"), "{text}");
        }
        for text in ["a: plugins\n", "# plugins: x\n", "pluginsFolder: x\n"] {
            assert!(!has_key(text, "plugins"), "{text}");
        }
    }
}
