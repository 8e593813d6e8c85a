//! One round: a server is started, does things, and is killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::left::{Wanted, descendants, end};
use crate::dice::Dice;
use crate::session::{Place, Session, transcript};
use crate::sh::Done;

/// How long whoever is left may take to go.
const SETTLE: Duration = Duration::from_secs(2);

/// How long a run may take to have everybody up.
const UP: Duration = Duration::from_secs(30);

/// The last children of the target `stay`: in the foreground, deaf to signals, daemonised in a session of its own, and of
/// one that went through two forks.
const SLEEPERS: usize = 5;

const MAKEFILE: &str = "\
.PHONY: build change stay
build:
\t@true
change:
\t@echo $(WORD) > changed
stay:
\t@sh -c 'trap \"\" HUP INT TERM; sleep $(MARK) & sleep $(MARK) & wait' & \\
\t(setsid sh -c 'trap \"\" HUP INT TERM; (sleep $(MARK) &); sleep $(MARK) & wait' &); \\
\tsleep $(MARK)
";

/// When the server is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Around its start.
    Starting,
    /// While it answers calls, applies a plan and starts a run, all at once.
    Calling,
    /// When everybody of the run is up.
    Running,
}

/// What a round came to.
pub(crate) struct Round {
    pub(crate) moment: Moment,
    /// The transcripts that answers named.
    pub(crate) acknowledged: BTreeSet<String>,
    /// How many of its processes lived when it was killed, without itself.
    pub(crate) alive: usize,
    /// Who still lived after [`SETTLE`].
    pub(crate) survivors: Vec<String>,
    /// From the signal until nobody was left.
    pub(crate) gone: Duration,
}

/// A git repository with the Makefile above.
pub(crate) fn repository(root: &Path) -> Done {
    fs::create_dir_all(root)
        .and_then(|()| fs::write(root.join("Makefile"), MAKEFILE))
        .map_err(|e| format!("{}: {e}", root.display()))?;
    let who = ["-c", "user.name=Soak", "-c", "user.email=soak@example.com"];
    let steps: [&[&str]; 3] = [
        &["init", "--quiet", "--initial-branch=main"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "first"],
    ];
    for step in steps {
        let done = Command::new("git").args(who).args(step).current_dir(root).status();
        if !done.is_ok_and(|status| status.success()) {
            return Err(format!("git {} failed in {}", step.join(" "), root.display()));
        }
    }
    Ok(())
}

/// What the server is told while it is up.
fn told(session: &mut Session, number: u64, mark: &str) -> Done {
    let change = json!({ "target": "change", "args": [format!("WORD=round-{number}")], "apply": true });
    session.begin("git_status", json!({}))?;
    session.begin("make_test", change)?;
    session.begin("project_status", json!({}))?;
    session.begin("make_build", json!({}))?;
    session.begin("git_log", json!({}))?;
    let stay = json!({ "target": "stay", "args": [format!("MARK={mark}")], "timeout": 600_000 });
    session.begin("make_test", stay)?;
    Ok(())
}

/// Starts a server at `place`, kills it at a moment that nobody foresees, and waits for everything of it to go.
///
/// The first server of a place is always killed around its start: that is where everything is begun.
pub(crate) fn round(place: &Place, number: u64, mark: String, dice: &mut Dice) -> Done<Round> {
    let wanted = Wanted::new(mark, &place.program)?;
    let moment = match dice.below(10) {
        _ if place.own_state().is_none() => Moment::Starting,
        0 => Moment::Starting,
        1..=5 => Moment::Calling,
        _ => Moment::Running,
    };
    let mut session = if moment == Moment::Starting { place.start()? } else { place.serve()? };
    let mut said = Vec::new();
    if moment == Moment::Starting {
        std::thread::sleep(dice.moment(Duration::from_millis(40)));
    } else {
        told(&mut session, number, &wanted.mark)?;
        if moment == Moment::Calling {
            std::thread::sleep(dice.moment(Duration::from_millis(300)));
        } else {
            let began = Instant::now();
            while wanted.sleepers() < SLEEPERS {
                if began.elapsed() > UP {
                    return Err(format!("round {number}: the run did not start within {} s", UP.as_secs()));
                }
                said.extend(session.heard(Duration::from_millis(10)));
            }
            std::thread::sleep(dice.moment(Duration::from_millis(30)));
        }
    }
    let known = descendants(session.pid());
    let killed = Instant::now();
    let rest = session.kill();
    let mut left = wanted.left(&known);
    let mut gone = killed.elapsed();
    while !left.is_empty() && killed.elapsed() < SETTLE {
        std::thread::sleep(Duration::from_millis(1));
        left = wanted.left(&known);
        gone = killed.elapsed();
    }
    for process in left.keys() {
        end(*process);
    }
    said.extend(rest.map_err(|why| format!("round {number}: {why}"))?);
    Ok(Round {
        moment,
        acknowledged: said.iter().filter_map(transcript).map(str::to_owned).collect(),
        alive: known.len().saturating_sub(1),
        survivors: left.into_values().collect(),
        gone,
    })
}
