//! `gatewright setup`.

use std::path::Path;
use std::process::ExitCode;

use contract::{Code, Digest, Fault};
use exec::Fetcher;

use super::{CommandError, CommandResult};
use crate::cli::SetupPart;
use crate::setup;

/// axe-core's script in its package.
const SCRIPT: &str = "package/axe.min.js";

/// Its licence: MPL-2.0 asks that it goes with it.
const LICENSE: &str = "package/LICENSE";

pub fn run(part: SetupPart) -> CommandResult {
    let SetupPart::A11y { registry, from } = part;
    let package = match from {
        Some(file) => std::fs::read(&file).map_err(|e| {
            Fault::new(Code::NotFound, format!("{}: {e}", file.display()))
                .suggest("Give axe-core's package as npm has it: `npm pack axe-core`.")
        })?,
        None => fetched(&registry)?,
    };
    let place = setup::axe().ok_or_else(|| {
        CommandError::Usage(
            "there is no place for it: neither XDG_DATA_HOME nor HOME is an absolute path".into(),
        )
    })?;
    let version = put(&package, &place)?;
    say!("axe-core {version} is in {}", place.display());
    Ok(ExitCode::SUCCESS)
}

fn fetched(registry: &str) -> Result<Vec<u8>, Fault> {
    let version = a11y::engine::NEWEST;
    let url = format!("{}/axe-core/-/axe-core-{version}.tgz", registry.trim_end_matches('/'));
    let failed = |why: String| {
        Fault::new(Code::ToolExecutionFailed, format!("{url}: {why}"))
            .suggest("Name another registry with --registry URL.")
            .suggest("Or fetch the package yourself (`npm pack axe-core`) and give it with --from FILE.")
    };
    let answer = Fetcher::default().download(&url).map_err(|e| failed(e.to_string()))?;
    if answer.status != 200 {
        return Err(failed(format!("the registry answered {}", answer.status)));
    }
    Ok(answer.body)
}

/// Puts the script and its licence where they are found, if the script is a release of axe-core's as it was published.
fn put(package: &[u8], place: &Path) -> Result<&'static str, CommandError> {
    let files = exec::archive::files(package)?;
    let of =
        |name: &str| files.iter().find(|file| file.path.as_str() == name).map(|file| file.bytes.as_slice());
    let script = of(SCRIPT).ok_or_else(|| {
        Fault::new(Code::InvalidSource, format!("the package has no {SCRIPT}: it is not axe-core's"))
    })?;
    let version = a11y::engine::release(&Digest::of(script).to_string()).ok_or_else(|| {
        let message =
            "the package's axe.min.js is no release of axe-core that is known here; nothing was put in place";
        Fault::new(Code::InvalidSource, message).suggest(
            "A release that is newer than this program can be used as `axe` in the section `[browser]`.",
        )
    })?;
    let folder = place.parent().unwrap_or(place);
    std::fs::create_dir_all(folder)?;
    for (path, bytes) in [(place.to_owned(), Some(script)), (folder.join("LICENSE"), of(LICENSE))] {
        let Some(bytes) = bytes else { continue };
        // Another gatewright may be reading it: it is there whole or not at all.
        let fresh = tempfile::NamedTempFile::new_in(folder)?;
        std::fs::write(fresh.path(), bytes)?;
        fresh.persist(&path).map_err(|e| e.error)?;
    }
    Ok(version)
}
