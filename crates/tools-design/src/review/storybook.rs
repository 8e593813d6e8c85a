//! The project's own Storybook: as it lies there built, or built in a confined run when the project has it installed. It is
//! never installed for the user.

use std::collections::BTreeMap;
use std::time::Duration;

use contract::{Code, Fault, RelPath};
use exec::run::{Command, INPUT};
use kit::ReadDesk;

/// Where Storybook builds to, and where it is looked for.
const BUILT: &str = "storybook-static";

/// Its program, as npm installs it.
const PROGRAM: &str = "node_modules/storybook";

/// What says to it where modules are.
const CONFIGS: [&str; 2] = ["tsconfig.json", "jsconfig.json"];

/// How long a build may take.
const TIME: Duration = Duration::from_mins(5);

/// The largest build that is taken, in files and bytes.
const MAX_FILES: usize = 5_000;
const MAX_BYTES: usize = 96 << 20;

const LIST: &str = include_str!("list.mjs");
const BUILD: &str = include_str!("build.mjs");

/// A build by its files, relative to its folder; or why there is none.
pub(crate) type Built = Result<BTreeMap<String, Vec<u8>>, String>;

fn path(text: &str) -> Result<RelPath, Fault> {
    RelPath::new(text).map_err(|e| Fault::internal(e.to_string()))
}

/// Whether the project has one at all.
pub(crate) fn is_there(desk: &ReadDesk) -> Result<bool, Fault> {
    Ok(desk.view().is_folder(&path(BUILT)?) || desk.view().is_folder(&path(PROGRAM)?))
}

/// The project's Storybook. A build that fails is no fault of the call: the kit says it and shows the rest.
pub(crate) async fn built(desk: &ReadDesk) -> Result<Built, Fault> {
    if desk.view().is_folder(&path(BUILT)?) {
        return desk.blocking(lying).await;
    }
    let Some(entry) = entry(desk)? else {
        return Ok(Err("the installed Storybook does not say how it is started".to_owned()));
    };
    desk.progress(0.0, None, "building Storybook");
    let workshop = desk.workshop().await?;
    let mut command = Command::new("node", &[]);
    if !is_typescript(desk)? {
        command.args = vec![format!("{INPUT}build.mjs"), format!("{INPUT}tsconfig.json")];
        command.inputs.insert("build.mjs".to_owned(), BUILD.as_bytes().to_vec());
        command.inputs.insert("tsconfig.json".to_owned(), b"{}".to_vec());
    }
    let own = [entry.as_str(), "build", "--output-dir", BUILT, "--disable-telemetry", "--quiet"];
    command.args.extend(own.map(str::to_owned));
    command.timeout = TIME;
    // What would ask, asks nobody; what would count, counts nothing.
    command.env = [("CI", "1"), ("STORYBOOK_DISABLE_TELEMETRY", "1"), ("NODE_ENV", "production")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let ran = match desk.run_in(&workshop, command).await {
        Ok(ran) => ran,
        Err(fault)
            if matches!(fault.code, Code::Timeout | Code::ToolExecutionFailed | Code::ResourceExhausted) =>
        {
            return Ok(Err(format!("Storybook could not be built: {}", fault.message)));
        }
        Err(fault) => return Err(fault),
    };
    if !ran.is_success() {
        let said = ran.stderr.text();
        let said = if said.trim().is_empty() { ran.stdout.text() } else { said };
        let line = said
            .lines()
            .find(|line| line.contains("Error: "))
            .or_else(|| said.lines().rev().find(|line| !line.trim().is_empty()))
            .unwrap_or("it said nothing")
            .trim_start_matches(|c: char| !c.is_alphanumeric());
        return Ok(Err(format!(
            "Storybook could not be built: {}",
            line.chars().take(200).collect::<String>()
        )));
    }
    let mut list = Command::new("node", &[]);
    list.args = vec![format!("{INPUT}list.mjs"), BUILT.to_owned()];
    list.inputs.insert("list.mjs".to_owned(), LIST.as_bytes().to_vec());
    let listed = desk.run_in(&workshop, list).await?;
    let Ok(names) = serde_json::from_str::<Vec<String>>(&listed.stdout.text()) else {
        return Ok(Err("what Storybook built could not be listed".to_owned()));
    };
    desk.blocking(move |_| take(names, |path| workshop.read(path))).await
}

/// Whether the project says to TypeScript where its modules are.
fn is_typescript(desk: &ReadDesk) -> Result<bool, Fault> {
    for name in CONFIGS {
        if desk.view().read_optional(&path(name)?)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The build that lies in the root.
fn lying(desk: &ReadDesk) -> Result<Built, Fault> {
    let names = desk.view().glob(&format!("{BUILT}/**/*"))?;
    take(names.iter().map(ToString::to_string).collect(), |path| desk.view().read(path))
}

fn take(names: Vec<String>, read: impl Fn(&RelPath) -> Result<Vec<u8>, Fault>) -> Result<Built, Fault> {
    if names.len() > MAX_FILES {
        return Ok(Err(format!("the Storybook has {} files, more than {MAX_FILES}", names.len())));
    }
    let (mut files, mut bytes) = (BTreeMap::new(), 0);
    for name in names {
        let Some(within) = name.strip_prefix(BUILT).and_then(|n| n.strip_prefix('/')) else { continue };
        let Ok(place) = RelPath::new(&name) else { continue };
        // Source maps show the sources and serve nobody who reviews.
        if within.rsplit_once('.').is_some_and(|(_, ending)| ending == "map") || !kits::is_path(within) {
            continue;
        }
        let content = read(&place)?;
        bytes += content.len();
        if bytes > MAX_BYTES {
            return Ok(Err(format!("the Storybook has more than {} MiB", MAX_BYTES >> 20)));
        }
        files.insert(within.to_owned(), content);
    }
    Ok(Ok(files))
}

/// The script that npm links as `storybook`, relative to the root.
fn entry(desk: &ReadDesk) -> Result<Option<String>, Fault> {
    let manifest = path(&format!("{PROGRAM}/package.json"))?;
    let Some(bytes) = desk.view().read_optional(&manifest)? else { return Ok(None) };
    let Ok(manifest) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return Ok(None) };
    let bin = &manifest["bin"];
    let script = bin.as_str().or_else(|| bin["storybook"].as_str());
    Ok(script.map(|script| format!("{PROGRAM}/{}", script.trim_start_matches("./"))))
}
