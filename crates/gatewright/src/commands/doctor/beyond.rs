//! What lies beyond this program: a browser, registries, other servers.

use contract::Fault;
use contract::text::{counted, spelled_out};
use gateway::Stand;
use tools_devtools::registries::Registries;

use super::{Look, Place, State as Grade, waited};
use crate::plugged::{Origin, State};
use crate::{approved, compose};

/// What scans of pages are made with. Nothing of it is needed by anything else.
pub(super) fn browser(place: &Place<'_>) -> Look {
    let config = place.config().browser;
    let program = match browser::find(config.program.as_deref()) {
        Ok(program) => program,
        // What the user named has to be there; what nobody named is only missed by scans.
        Err(fault) if config.program.is_some() => return fault.into(),
        Err(fault) => {
            let fix = fault.suggestions.first().cloned().unwrap_or_default();
            return Look::warn("none: a11y_scan looks at markup alone", fix);
        }
    };
    let axe = match (&config.axe, crate::setup::axe().filter(|axe| axe.is_file())) {
        (Some(axe), _) if !axe.is_file() => {
            let fix = "correct `axe` in the section [browser] of your own configuration";
            return Look::fail(format!("{}: axe-core is not there", axe.display()), fix);
        }
        (Some(axe), _) => format!("axe-core at {}", axe.display()),
        (None, Some(_)) => "axe-core is set up".to_owned(),
        (None, None) => "axe-core of the project alone; `gatewright setup a11y` fetches one".to_owned(),
    };
    Look::ok(format!("{}; {axe}", program.display()))
}

/// Where packages come from. Nobody is asked: that a registry answers is seen by what installs from it.
pub(super) fn registries(place: &Place<'_>) -> Look {
    let registries = match Registries::of(&place.config().registries) {
        Ok(registries) => registries,
        Err(fault) => return fault.into(),
    };
    let all = [
        ("npm", &registries.npm),
        ("python", &registries.python),
        ("cargo", &registries.cargo),
        ("go", &registries.go),
    ];
    let own: Vec<String> = all
        .iter()
        .filter_map(|(name, registry)| {
            let host = registry.url.as_ref()?.host_str()?;
            Some(format!("{name}: {host}"))
        })
        .collect();
    if own.is_empty() {
        return Look::ok("the public ones");
    }
    Look::ok(format!("{}; the public ones else", own.join(", ")))
}

pub(super) fn upstreams(place: &Place<'_>) -> Look {
    let Ok(config) = &place.config else {
        return Look::skipped("the configuration is not understood");
    };
    if config.upstreams.is_empty() {
        return Look::skipped("none configured");
    }
    let approved = match approved::own() {
        Ok(approved) => approved,
        Err(fault) => return Fault::into(fault),
    };
    for (name, upstream) in config.upstreams.iter().filter(|(_, upstream)| upstream.enabled) {
        if let Some(variable) = upstream.missing() {
            let fix =
                format!("set {variable} where gatewright is started: until then its tools are not offered");
            return Look::fail(format!("{name}: the environment variable {variable} is not set"), fix);
        }
    }
    let gateway = match compose::gateway(place.root()) {
        Ok(gateway) => gateway,
        Err(fault) => return fault.into(),
    };
    let stands = match waited(gateway.stands(&approved)) {
        Ok(stands) => stands,
        Err(look) => return look,
    };
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for (name, stand) in stands {
        let own = approved.iter().filter(|(tool, _)| gateway::upstream_of(tool) == Some(name)).count();
        match stand_of(name, stand) {
            Ok(said) => lines.push(format!("{name}: {} approved, {said}", counted(own, "tool"))),
            Err(look) => wrong.push(look),
        }
    }
    // Every one that is wrong is named; what to do about the gravest goes first.
    wrong.sort_by_key(|look| look.state != Grade::Fail);
    let said: Vec<String> = wrong.iter().map(|look| look.said.clone()).collect();
    match wrong.into_iter().next() {
        Some(first) => Look { said: said.join("; "), ..first },
        None if lines.is_empty() => Look::skipped("none enabled"),
        None => Look::ok(lines.join("; ")),
    }
}

/// How an upstream stands, where nothing is wrong with it; else what is, and what to do.
fn stand_of(name: &str, stand: Stand) -> Result<String, Look> {
    let look = format!("`gatewright approvals diff` shows a person what {name} offers now");
    match stand {
        Stand::Absent(fault) => {
            let fix = fault.suggestions.first().cloned();
            let fix = fix.unwrap_or_else(|| format!("correct `command` of [upstreams.{name}]"));
            Err(Look::fail(format!("{name}: {}", spelled_out(&fault.message)), fix))
        }
        Stand::Unapproved => {
            Err(Look::warn(format!("{name}: nothing is approved, so it was not started or asked"), look))
        }
        Stand::Other => {
            let said =
                format!("{name}: its program or its code is not what was approved: it was not started");
            Err(Look::warn(said, look))
        }
        Stand::Failed(fault) => {
            let fix = "`gatewright upstreams list` says more; then check its configuration";
            Err(Look::fail(spelled_out(&fault.message), fix))
        }
        Stand::Asked(_, changed) if !changed.is_empty() => {
            let said = format!("{}: not as approved, or gone", changed.join(", "));
            Err(Look::warn(said, look))
        }
        Stand::Asked(health, _) => Ok(format!("answers in {} ms", health.took.as_millis())),
    }
}

/// Plugins: one that is faulty or unhealthy is left out, and the server goes on.
pub(super) fn plugins(place: &Place<'_>) -> Look {
    if place.config.is_err() {
        return Look::skipped("the configuration is not understood");
    }
    let all = match compose::plugins(place.root()) {
        Ok(all) => all,
        Err(fault) => return fault.into(),
    };
    let fix = "`gatewright plugin list` says what each needs; `gatewright plugin check FILE` what is wrong with one";
    let mut ready = 0_u64;
    for found in &all {
        match &found.state {
            State::Ready(_) => ready += 1,
            // A part of this program, whose own program nobody asked for.
            State::Unhealthy(..) if found.origin == Origin::BuiltIn => {}
            State::Faulty(why) | State::Unhealthy(_, why) => {
                return Look::warn(format!("{} is left out: {why}", found.name), fix);
            }
            State::Inert(_) => {
                let said = format!("{} is the repository's and inert", found.name);
                return Look::warn(said, "`gatewright trust` shows what it may do, and puts it in force");
            }
            State::Disabled(_) | State::Shadowed(_) => {}
        }
    }
    if ready == 0 { Look::skipped("none in force") } else { Look::ok(counted(ready, "plugin")) }
}
