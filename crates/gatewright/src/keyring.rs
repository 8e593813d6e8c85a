//! Keys of contexts in the user's keyring, by `secret-tool` (libsecret): it asks the desktop's secret service, unconfined, which is
//! what it is for. A key goes to its standard input, never into its arguments.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::time::Duration;

use contract::{Code, Fault};
use exec::helper::{self, HelperError, Input, Program, Said};
use exec::state::StateDir;
use rustix::fs::{MemfdFlags, memfd_create};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// How long the keyring may take to answer; longer where a person may have to unlock it.
const LOOKS: Duration = Duration::from_secs(5);
const KEEPS: Duration = Duration::from_mins(2);

/// What secrets of ours are found by, beside the address.
const SERVICE: [&str; 2] = ["service", "gatewright-context"];

/// The key that is kept for the context at `base`. None where there is none, or no keyring.
pub fn key(base: &str) -> Option<String> {
    let said = run(&["lookup", SERVICE[0], SERVICE[1], "context", base], Input::Nothing, LOOKS).ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    (said.code == Some(0) && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Keeps a key for the context at `base`, in place of another.
pub fn keep(base: &str, key: &str) -> Result<(), Fault> {
    let label = format!("--label=gatewright context {base}");
    let failed = |why: String| Fault::new(Code::ToolExecutionFailed, format!("the key was not kept: {why}"));
    let input = in_memory(key).map_err(|e| failed(e.to_string()))?;
    let args = ["store", &label, SERVICE[0], SERVICE[1], "context", base];
    let said = run(&args, Input::File(input), KEEPS)?;
    if said.code == Some(0) { Ok(()) } else { Err(failed(said.stderr.trim().to_owned()).suggest(OTHERWISE)) }
}

/// Forgets the key of the context at `base`; whether there was one.
pub fn forget(base: &str) -> Result<bool, Fault> {
    let had = key(base).is_some();
    run(&["clear", SERVICE[0], SERVICE[1], "context", base], Input::Nothing, LOOKS)?;
    Ok(had)
}

/// What to do without a keyring.
const OTHERWISE: &str = "Without a keyring, set GATEWRIGHT_CONTEXT_KEY where gatewright is started (a file that only you may read, sourced there).";

/// A key where only this process and its child can read it.
fn in_memory(key: &str) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("key", MemfdFlags::CLOEXEC)?);
    let text = Zeroizing::new(key.to_owned());
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

fn run(args: &[&str], input: Input, longest: Duration) -> Result<Said, Fault> {
    let state = StateDir::at(StateDir::base()?.join("no-root"))?;
    let nowhere = state.nowhere()?;
    // No root is in play: nothing below a folder that nobody can write is taken for the program.
    let places = (nowhere.as_path(), nowhere.as_path());
    helper::fed(Program::SecretTool, places, args, input, longest, &CancellationToken::new()).map_err(
        |error| {
            let message = match error {
                HelperError::Missing(_) => {
                    "there is no secret-tool (Debian: libsecret-tools; Fedora: libsecret)".to_owned()
                }
                other => other.to_string(),
            };
            Fault::new(Code::ToolExecutionFailed, message).suggest(OTHERWISE)
        },
    )
}
