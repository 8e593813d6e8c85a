//! `gatewright recover`.

use std::process::ExitCode;

use contract::text::counted;
use contract::{Code, Fault};

use super::CommandResult;
use crate::cli::RecoverArgs;
use crate::compose;
use crate::roots::Asked;
use crate::term::{BAD, GOOD};

pub fn run(asked: &Asked, args: &RecoverArgs) -> CommandResult {
    let root = asked.first()?.ok_or_else(|| Fault::new(Code::NoRoot, "there is no root to recover"))?;
    let state = compose::state(Some(&root))?;
    if args.accept {
        let accepted = exec::apply::accept_blocked(&state)?;
        say!("{GOOD}Accepted{GOOD:#} {} as they are.", counted(accepted.len(), "path"));
        return Ok(ExitCode::SUCCESS);
    }
    let recovered = exec::recover(&root, &state)?;
    kit::recovery::record(&::audit::Ledger::open(&state.ledger())?, &recovered)?;
    let (finished, back) = (recovered.finished.len(), recovered.taken_back.len());
    say!("{} finished, {back} taken back.", counted(finished, "plan"));
    for blocked in &recovered.blocked {
        say!("{BAD}look{BAD:#} {blocked}");
    }
    if recovered.blocked.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    say!("When the paths are as you want them: gatewright recover --accept");
    Ok(ExitCode::from(1))
}
