//! The arithmetic: one record after the other, as they stand in the ledger.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Digest, canonical};
use serde_json::{Map, Value};

use super::band::{Amount, Errors, Kind};
use super::{Band, Gain, Line, Minus, NotCounted, OfTool, Records, Seen, ordered};
use crate::record::{Basis, Cost};

/// What shells of agents show of a command's output at most: 30,000 characters.
pub const CAP: u64 = contract::tokens_used(30_000);

/// How long after an answer reading it again is taken off, and how long after one the same call again is.
const REREAD: i64 = 60 * 60_000;
const RERUN: i64 = 30 * 60_000;

/// Arguments that are the pipeline's and not the tool's: which part, and whether to perform.
const OF_THE_PIPELINE: [&str; 4] = ["apply", "cursor", "limit", "plan"];

/// What a conversation is remembered of: beyond that, what is too old to matter is let go of.
const MOST_REMEMBERED: usize = 4_096;

/// Names of the record.
const READ: &str = "resources/read";
const RUN_OUTPUT: &str = "run_output";
const LOOKUPS: [&str; 1] = ["tools_search"];
const POLLS: [&str; 2] = ["job_cancel", "job_status"];

/// Whether nothing is claimed for a tool: it searches, loads or executes, and nobody knows what would have been read instead.
fn claims_nothing(tool: &str) -> bool {
    let begins = ["search_", "find_", "load_", "execute_"].iter().any(|start| tool.starts_with(start));
    begins || tool == RUN_OUTPUT || tool == READ || tool == "notes"
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Most tokens that would have been read of one answer: [`CAP`] where nobody says otherwise.
    pub cap: u64,
    /// Only calls that began then or later count, milliseconds since 1970.
    pub since: Option<i64>,
    /// How far the rule is off.
    pub errors: Errors,
}

/// What was taken in so far.
#[derive(Debug)]
pub struct Book {
    rules: Rules,
    sessions: BTreeMap<String, Session>,
    counted: BTreeSet<String>,
    tools: BTreeMap<String, OfTool>,
    not_counted: BTreeMap<String, NotCounted>,
    saved: Line,
    minus: Minus,
    net: Amount,
    records: Records,
    from: Option<i64>,
    to: Option<i64>,
}

/// What is remembered of a conversation.
#[derive(Debug, Default)]
struct Session {
    /// How often something was applied in it.
    applied: u64,
    /// The last answer of every call that could have said more, by its tool and arguments.
    last: BTreeMap<(String, Digest), Answered>,
    /// Which tool had what can be read again: runs by their digits, plans and transcripts by their names.
    origins: BTreeMap<String, (i64, String)>,
}

/// An answer that could have said more.
#[derive(Debug, Clone, Copy)]
struct Answered {
    at: i64,
    /// Whether it left something out.
    left_out: bool,
    /// What was counted as saved.
    claim: Amount,
    /// How often something had been applied by then.
    applied: u64,
}

impl Session {
    /// Lets go of what nothing can refer to any more.
    fn forget(&mut self, now: i64) {
        if self.last.len() + self.origins.len() > MOST_REMEMBERED {
            self.last.retain(|_, answered| now.saturating_sub(answered.at) <= REREAD);
            self.origins.retain(|_, (at, _)| now.saturating_sub(*at) <= REREAD);
        }
        if self.last.len() + self.origins.len() > MOST_REMEMBERED {
            // All of them are young: the older half goes, so that a busy hour costs each call no look at all others.
            let mut times: Vec<i64> = self.last.values().map(|answered| answered.at).collect();
            times.extend(self.origins.values().map(|(at, _)| *at));
            times.sort_unstable();
            let middle = times.get(times.len() / 2).copied().unwrap_or(now);
            self.last.retain(|_, answered| answered.at > middle);
            self.origins.retain(|_, (at, _)| *at > middle);
        }
    }
}

/// What a call is, in the sum.
enum Role {
    Failed,
    Lookup,
    Poll,
    /// It reads what `.0`'s answer left out.
    Reread(String),
    /// It reads something else again.
    Read,
    /// It has a whole that can be compared.
    Compared,
    Other,
}

impl Book {
    /// An empty one.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            sessions: BTreeMap::new(),
            counted: BTreeSet::new(),
            tools: BTreeMap::new(),
            not_counted: BTreeMap::new(),
            saved: Line::default(),
            minus: Minus::default(),
            net: Amount::default(),
            records: Records::default(),
            from: None,
            to: None,
        }
    }

    /// Takes in the next record.
    pub fn take(&mut self, seen: &Seen) {
        let counts = self.rules.since.is_none_or(|since| seen.began >= since);
        self.records.calls = self.records.calls.saturating_add(u64::from(counts));
        let Some(cost) = &seen.cost else {
            self.records.not_measured = self.records.not_measured.saturating_add(u64::from(counts));
            return;
        };
        let mut session = self.sessions.remove(&cost.session).unwrap_or_default();
        if counts {
            self.records.measured = self.records.measured.saturating_add(1);
            self.counted.insert(cost.session.clone());
            self.from = Some(self.from.map_or(seen.began, |from| from.min(seen.began)));
            self.to = Some(self.to.map_or(seen.ended, |to| to.max(seen.ended)));
            if cost.menus > 0 {
                self.minus.menus.calls = self.minus.menus.calls.saturating_add(cost.menus);
                let menu = self.rules.errors.spent(Kind::Menu, cost.menu);
                self.minus.menus.tokens = self.minus.menus.tokens.saturating_add(menu.rule());
                self.net += -menu;
            }
            let tool = self.tool(&seen.tool);
            tool.calls = tool.calls.saturating_add(1);
            tool.shown = tool.shown.saturating_add(cost.shown);
            tool.whole = tool.whole.saturating_add(cost.whole);
        }
        let arguments: Map<String, Value> = serde_json::from_str(&seen.arguments).unwrap_or_default();
        let key = key(&arguments);
        let role = role(seen, cost, &arguments, &key, &session);
        if let Role::Compared = role {
            self.compare(seen, cost, key, &mut session, counts);
        } else if counts {
            self.other(seen, cost, role);
        }
        if seen.applied {
            session.applied = session.applied.saturating_add(1);
        }
        for run in &cost.runs {
            session.origins.insert(run.clone(), (seen.ended, seen.tool.clone()));
        }
        if let (Basis::Cut, Some(plan)) = (cost.basis, &seen.plan) {
            session.origins.insert(plan.clone(), (seen.ended, seen.tool.clone()));
        }
        session.forget(seen.ended);
        self.sessions.insert(cost.session.clone(), session);
    }

    /// A call whose answer could have said more: what it saved, and what it takes back.
    fn compare(&mut self, seen: &Seen, cost: &Cost, key: Digest, session: &mut Session, counts: bool) {
        let kind = shown_as(seen);
        let shown = self.rules.errors.spent(kind, cost.shown);
        let whole = cost.whole.min(self.rules.cap);
        let (claim, longer) = match cost.basis {
            Basis::Output => {
                let whole = self.rules.errors.saved(Kind::Output, whole);
                (whole.over(shown), shown.over(whole))
            }
            // The same text, once cut and once whole: it is off in the same way.
            _ => (
                self.rules.errors.saved(kind, whole.saturating_sub(cost.shown)),
                self.rules.errors.spent(kind, cost.shown.saturating_sub(whole)),
            ),
        };
        let last = session.last.get(&(seen.tool.clone(), key)).copied();
        let again = last.filter(|last| {
            last.left_out
                && (0..=RERUN).contains(&seen.began.saturating_sub(last.at))
                && last.applied == session.applied
        });
        if counts {
            if let Some(last) = again {
                self.minus.reruns.calls = self.minus.reruns.calls.saturating_add(1);
                self.minus.reruns.tokens = self.minus.reruns.tokens.saturating_add(shown.rule());
                self.spend(&seen.tool, shown);
                if last.claim != Amount::default() {
                    self.minus.taken_back.calls = self.minus.taken_back.calls.saturating_add(1);
                    self.minus.taken_back.tokens =
                        self.minus.taken_back.tokens.saturating_add(last.claim.rule());
                    self.spend(&seen.tool, last.claim);
                }
            }
            if longer.rule() > 0 {
                self.minus.longer.calls = self.minus.longer.calls.saturating_add(1);
                self.minus.longer.tokens = self.minus.longer.tokens.saturating_add(longer.rule());
            }
            self.spend(&seen.tool, longer);
            if claim.rule() > 0 {
                self.saved.calls = self.saved.calls.saturating_add(1);
                self.saved.tokens = self.saved.tokens.saturating_add(claim.rule());
                let tool = self.tool(&seen.tool);
                tool.saved = tool.saved.saturating_add(claim.rule());
            }
            self.net += claim;
        }
        let claim = if counts { claim } else { Amount::default() };
        let left_out = cost.whole > cost.shown;
        let answered = Answered { at: seen.ended, left_out, claim, applied: session.applied };
        session.last.insert((seen.tool.clone(), key), answered);
        if left_out {
            session.origins.insert(seen.id.clone(), (seen.ended, seen.tool.clone()));
        }
    }

    /// Every other call.
    fn other(&mut self, seen: &Seen, cost: &Cost, role: Role) {
        let (line, tool) = match role {
            Role::Failed => (&mut self.minus.errors, seen.tool.clone()),
            Role::Lookup => (&mut self.minus.lookups, seen.tool.clone()),
            Role::Poll => (&mut self.minus.polls, seen.tool.clone()),
            Role::Reread(origin) => (&mut self.minus.rereads, origin),
            Role::Read | Role::Compared | Role::Other => {
                let row = self.not_counted.entry(seen.tool.clone()).or_default();
                row.calls = row.calls.saturating_add(1);
                row.shown = row.shown.saturating_add(cost.shown);
                return;
            }
        };
        let shown = self.rules.errors.spent(shown_as(seen), cost.shown);
        line.calls = line.calls.saturating_add(1);
        line.tokens = line.tokens.saturating_add(shown.rule());
        self.spend(&tool, shown);
    }

    fn tool(&mut self, name: &str) -> &mut OfTool {
        self.tools
            .entry(name.to_owned())
            .or_insert_with(|| OfTool { tool: name.to_owned(), ..OfTool::default() })
    }

    /// Takes `amount` off, because of `tool`.
    fn spend(&mut self, tool: &str, amount: Amount) {
        self.net += -amount;
        let tool = self.tool(tool);
        tool.minus = tool.minus.saturating_add(amount.rule());
    }

    /// What came out so far.
    #[must_use]
    pub fn gain(self) -> Gain {
        let [net, likely, low, high] = self.net.0;
        let mut tools = self.tools;
        for tool in tools.values_mut() {
            tool.net = tool.saved.saturating_sub(tool.minus);
        }
        let mut not_counted: Vec<NotCounted> =
            self.not_counted.into_iter().map(|(tool, row)| NotCounted { tool, ..row }).collect();
        not_counted.sort_by(|a, b| b.shown.cmp(&a.shown).then_with(|| a.tool.cmp(&b.tool)));
        Gain {
            net,
            band: Band { low, likely, high },
            saved: self.saved,
            minus: self.minus,
            tools: ordered(tools),
            not_counted,
            sessions: self.counted.len() as u64,
            records: self.records,
            from: self.from,
            to: self.to,
        }
    }
}

/// What the answer of a call is, where errors are concerned.
fn shown_as(seen: &Seen) -> Kind {
    if seen.tool == READ && !seen.failed { Kind::Output } else { Kind::Result }
}

/// The digest of a tool's own arguments.
fn key(arguments: &Map<String, Value>) -> Digest {
    if !OF_THE_PIPELINE.iter().any(|name| arguments.contains_key(*name)) {
        return Digest::of(&canonical::of_object(arguments));
    }
    let mut own = arguments.clone();
    own.retain(|name, _| !OF_THE_PIPELINE.contains(&name.as_str()));
    Digest::of(&canonical::of_object(&own))
}

fn role(seen: &Seen, cost: &Cost, arguments: &Map<String, Value>, key: &Digest, session: &Session) -> Role {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    // A clock that was put back makes nothing recent.
    let is_recent = |at: i64| (0..=REREAD).contains(&seen.began.saturating_sub(at));
    let of = |name: &str| {
        let origin = session.origins.get(name).filter(|(at, _)| is_recent(*at));
        origin.map_or(Role::Read, |(_, tool)| Role::Reread(tool.clone()))
    };
    let of_run = |handle: &str| of(handle.get(..Cost::RUN).unwrap_or(handle));
    if seen.failed {
        return Role::Failed;
    }
    if LOOKUPS.contains(&seen.tool.as_str()) {
        return Role::Lookup;
    }
    if POLLS.contains(&seen.tool.as_str()) {
        return Role::Poll;
    }
    if seen.tool == RUN_OUTPUT {
        return text("run").and_then(|run| run.strip_prefix("run_")).map_or(Role::Read, of_run);
    }
    if seen.tool == READ {
        return match text("uri").and_then(|uri| uri.split_once("://")) {
            Some(("run", id)) => id.strip_prefix("run_").map_or(Role::Read, of_run),
            Some(("plan" | "transcript", id)) => of(id),
            _ => Role::Read,
        };
    }
    if text("cursor").is_some() {
        let first = session.last.get(&(seen.tool.clone(), *key)).filter(|first| is_recent(first.at));
        return if first.is_some() { Role::Reread(seen.tool.clone()) } else { Role::Read };
    }
    if cost.basis == Basis::None || claims_nothing(&seen.tool) { Role::Other } else { Role::Compared }
}
