//! `gatewright context login` and `logout`.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use context::Remote;
use context::wire::key::Key;
use contract::Fault;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::super::CommandResult;
use crate::config::Config;
use crate::keyring;
use crate::remembered::CONTEXT_URL;
use crate::term::{BOLD, GOOD};

/// The address that is meant, as keys are kept under it.
fn base(config: &Config, url: Option<String>) -> Result<String, Fault> {
    let of_environment = || std::env::var(CONTEXT_URL).ok().filter(|url| !url.is_empty());
    let url = url.or_else(of_environment).or_else(|| config.context.url.clone()).ok_or_else(|| {
        Fault::invalid("which context?").suggest("Name its address, or configure `[context] url`.")
    })?;
    let remote = Remote::new(&url, None, None).map_err(|e| Fault::invalid(e.to_string()))?;
    Ok(remote.base().to_owned())
}

pub async fn login(config: &Config, url: Option<String>) -> CommandResult {
    let base = base(config, url)?;
    let text = asked(&base)?;
    Key::read(&text).map_err(|bad| {
        Fault::invalid(bad.to_string()).suggest("`gatewright context key add NAME` on the server makes one.")
    })?;
    let remote =
        Remote::new(&base, Some(text.to_string()), None).map_err(|e| Fault::invalid(e.to_string()))?;
    remote.ventures().await.map_err(Fault::from)?;
    keyring::keep(&base, &text)?;
    say!("{GOOD}✓{GOOD:#} {base} takes the key, and the keyring keeps it");
    Ok(ExitCode::SUCCESS)
}

pub fn logout(config: &Config, url: Option<String>) -> CommandResult {
    let base = base(config, url)?;
    let had = keyring::forget(&base)?;
    say!(
        "{}",
        if had {
            format!("the key of {base} is forgotten here; on the server it counts until it is revoked")
        } else {
            format!("there was no key of {base}")
        }
    );
    Ok(ExitCode::SUCCESS)
}

/// A line of standard input: from a terminal without showing it.
fn asked(base: &str) -> Result<Zeroizing<String>, Fault> {
    let stdin = std::io::stdin();
    let is_terminal = stdin.is_terminal();
    let before = if is_terminal { tcgetattr(&stdin).ok() } else { None };
    if let Some(before) = &before {
        anstream::eprint!("{BOLD}Key of {base}:{BOLD:#} ");
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let _ = tcsetattr(&stdin, OptionalActions::Flush, &silent);
    }
    let mut line = Zeroizing::new(String::new());
    let read = stdin.lock().read_line(&mut line);
    if let Some(before) = before {
        let _ = tcsetattr(&stdin, OptionalActions::Flush, &before);
        anstream::eprintln!();
    }
    read.map_err(|e| Fault::invalid(format!("the key could not be read: {e}")))?;
    Ok(Zeroizing::new(line.trim().to_owned()))
}
