//! The root, and how it is set up.

use std::sync::Arc;

use contract::text::counted;
use contract::{CallId, Principal};
use exec::run::{Launcher, find};
use kit::call::ClientInfo;
use kit::consent::Consent;
use kit::{Call, Progress};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools_devtools::settings::DevtoolsSection;

use super::{Finding, Look, Place, State, waited};
use crate::compose::{self, Offer};
use crate::config;

/// The tool that says how a project and its clients are set up.
const SETUP: &str = "validate_setup";

pub(super) fn root(place: &Place<'_>) -> Look {
    match &place.root {
        Ok(Some(root)) => Look::ok(format!("tools work in {}", root.path().display())),
        Ok(None) => Look::fail(
            "tools that need a directory will answer `no_root`",
            "run this inside a git repository, or give --root DIR",
        ),
        Err(fault) => fault.clone().into(),
    }
}

pub(super) fn configuration(place: &Place<'_>) -> Look {
    let user = config::user_path().map(|path| path.display().to_string()).unwrap_or_default();
    let config = match &place.config {
        Ok(config) => config,
        Err(error) => {
            let fix = format!(
                "`gatewright config schema` prints what is understood; your own configuration is {user}"
            );
            return Look::fail(error.to_string(), fix);
        }
    };
    match config.inert.as_slice() {
        [] => Look::ok("understood"),
        inert => Look::fail(
            format!("gatewright.toml says [{}], which only your own configuration may", inert.join("], [")),
            format!("move it to {user}, or accept it as it is: `gatewright trust`"),
        ),
    }
}

/// The project's own commands: each can be split, and its program is there.
pub(super) fn commands(place: &Place<'_>) -> Look {
    let Some(root) = place.root() else { return Look::skipped("there is no root") };
    let config = place.config();
    let section = match config.settings.overlaid(&config.project).section::<DevtoolsSection>() {
        Ok(section) => section,
        Err(fault) => return fault.into(),
    };
    let path = Launcher::own().path(root.path());
    let mut fine = Vec::new();
    for (key, text) in section.commands.all() {
        let words = match grammar::split(text) {
            Ok(words) => words,
            Err(why) => {
                let fix = format!("correct `{key}` under [devtools.commands]: no shell reads it");
                return Look::fail(format!("{key}: {why}"), fix);
            }
        };
        let Some(program) = words.first() else {
            return Look::fail(format!("{key} is empty"), format!("give it a command, or take {key} out"));
        };
        if grammar::Grammar::of(program).is_none() {
            let fix = "name a program that gatewright knows: `docs/guide/development.md` lists them";
            return Look::fail(format!("{key}: there is no grammar for the program {program:?}"), fix);
        }
        if let Err(fault) = find(program, &path, root.path()) {
            return Look::warn(format!("{key}: {}", fault.message), fault.suggestions.join(" "));
        }
        fine.push(key);
    }
    if fine.is_empty() {
        return Look::skipped("the project has none of its own");
    }
    Look::ok(format!("{} can be run", fine.join(", ")))
}

pub(super) fn git(place: &Place<'_>) -> Look {
    let Some(root) = place.root() else { return Look::skipped("no repository is needed") };
    match exec::branch::head(root) {
        Ok(Some(commit)) => Look::ok(format!("HEAD is {}", commit.get(..12).unwrap_or(&commit))),
        Ok(None) => Look::ok("no commit yet"),
        Err(fault) => fault.into(),
    }
}

/// What `validate_setup` says. A project that nobody set up works all the same: what is wrong there is a warning here.
pub(super) fn set_up(place: &Place<'_>) -> Vec<Finding> {
    let alone = |look: Look| {
        vec![Finding {
            id: "setup".to_owned(),
            state: look.state,
            said: look.said,
            fix: look.fix,
            fixable: false,
        }]
    };
    if place.root().is_none() {
        return alone(Look::skipped("there is no root"));
    }
    if place.config.is_err() {
        return alone(Look::skipped("the configuration is not understood"));
    }
    let house = match compose::house(place.asked, &Offer::default()) {
        Ok(house) => house,
        Err(fault) => return alone(fault.into()),
    };
    let progress: Progress = Arc::new(|_| {});
    let called = waited(house.call(Call {
        id: CallId("doctor".to_owned()),
        tool: SETUP.to_owned(),
        arguments: json!({}),
        consent: Consent::default(),
        principal: Principal::Local { uid: house.first().uid() },
        bearer: None,
        client: ClientInfo::new("gatewright", env!("CARGO_PKG_VERSION")),
        from: None,
        inquiries: None,
        session: None,
        detach: false,
        cancel: CancellationToken::new(),
        progress,
    }));
    let output = match called.map(|done| done.result) {
        Ok(Ok(reply)) => Value::Object(reply.output),
        Ok(Err(fault)) => return alone(fault.into()),
        Err(look) => return alone(look),
    };
    let text = |check: &Value, key: &str| check.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut findings = Vec::new();
    let mut fine = 0_u32;
    for check in output.get("checks").and_then(Value::as_array).into_iter().flatten() {
        match check.get("state").and_then(Value::as_str) {
            Some("warning" | "error") => findings.push(Finding {
                id: format!("setup/{}", text(check, "name").unwrap_or_default()),
                state: State::Warn,
                said: text(check, "said").unwrap_or_default(),
                fix: text(check, "fix"),
                fixable: false,
            }),
            _ => fine += 1,
        }
    }
    if fine > 0 {
        findings.extend(alone(Look::ok(format!(
            "{} of the project and its clients hold",
            counted(fine, "check")
        ))));
    }
    findings
}
