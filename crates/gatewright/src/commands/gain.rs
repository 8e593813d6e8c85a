//! `gatewright gain`: what answers saved in tokens, and what that is less by.

use std::process::ExitCode;

use ::audit::gain::book::CAP;
use ::audit::gain::{Errors, Gain, Line, Minus, Rules, of_ledger};
use ::audit::record::Cost;
use contract::Fault;
use contract::text::{counted, spelled_name};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{CommandError, CommandResult, print_json};
use crate::cli::GainArgs;
use crate::compose;
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};

/// How it is counted.
const METHOD: [&str; 5] = [
    "Tokens are estimated from characters by one rule in integers, ceil(characters × 11 / 40), for what was shown and what was not.",
    "Saved is what programs said, or a list or diff had before it was cut, each up to the cap, less the answer as it went out.",
    "Taken off are menus (names, descriptions and input schemas of each answer to tools/list), tools_search, reading again within 60 minutes what an answer left out, asking after jobs, errors, and \
     what answers were longer than what programs said.",
    "The same call again within 30 minutes (performing what was rehearsed, too), with nothing applied between and after an answer that left something out, takes its own answer off, and \
     what had been counted as saved before.",
    "Searches, loads, executions and everything that has nothing to be compared with claim nothing.",
];

/// What is not known.
const NOT_SEEN: [&str; 7] = [
    "commands that run outside gatewright, and files edited there: a test that is run again after such an edit counts as the same call again",
    "menus of conversations in which no call followed, and what a client says again in every turn; output schemas, which most clients keep from \
     models and which are several times as long as the rest of a menu",
    "what clients keep, shorten or show twice (a result goes out as text and as structured content), and what prompt caching makes of prices",
    "programs are asked for output that machines read, which may be longer or shorter than what a person's command prints",
    "calls by `gatewright call`: who reads what is printed is not known; commands of people and records of before answers were measured neither",
    "over HTTP without a session, where one conversation ends and the next begins: what a caller asks within an hour is taken for one",
    "whether what was left out was needed and never asked for: work that is worse for it has no tokens",
];

/// What is printed for programs. Fields are added, never renamed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'g> {
    root: Option<&'g str>,
    /// `empty`, `not_measured` or `measured`.
    state: &'static str,
    since: Option<String>,
    cap: u64,
    from: Option<String>,
    to: Option<String>,
    #[serde(flatten)]
    gain: &'g Gain,
    rule: RuleError<'g>,
    method: [&'static str; 5],
    not_seen: [&'static str; 7],
}

/// Where the band comes from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleError<'g> {
    measured: &'g str,
    tokenizer: Option<&'g str>,
    /// Thousandths by which the rule says too much, by kind of text.
    errors: Vec<OfKind<'g>>,
}

#[derive(Serialize)]
struct OfKind<'g> {
    kind: &'g str,
    total: i64,
    p5: i64,
    p95: i64,
}

pub fn run(asked: &Asked, args: &GainArgs) -> CommandResult {
    let since = args.since.as_deref().map(|text| since(text, Timestamp::now())).transpose()?;
    let root = asked.first()?;
    let state = compose::state(root.as_deref())?;
    let errors = Errors::measured().map_err(|e| Fault::internal(format!("the measured errors: {e}")))?;
    let rules = Rules { cap: args.cap, since: since.map(Timestamp::as_millisecond), errors: errors.clone() };
    let gain = of_ledger(&state.ledger(), rules)?;
    let at = |millis: Option<i64>| {
        millis.and_then(|millis| Timestamp::from_millisecond(millis).ok()).map(|at| format!("{at:.3}"))
    };
    let tokenizer = errors.tokenizers.first().map(String::as_str);
    let of_kind =
        |kind: &'_ ::audit::gain::band::Measured| tokenizer.and_then(|name| kind.by.get(name)).copied();
    let told = Told {
        root: root.as_deref().map(exec::Root::name),
        state: match gain.records {
            records if records.measured > 0 => "measured",
            records if records.calls > 0 => "not_measured",
            _ => "empty",
        },
        since: since.map(|since| format!("{since:.3}")),
        cap: args.cap,
        from: at(gain.from),
        to: at(gain.to),
        rule: RuleError {
            measured: &errors.measured,
            tokenizer,
            errors: errors
                .kinds
                .iter()
                .filter_map(|kind| of_kind(kind).map(|by| (kind, by)))
                .map(|(kind, by)| OfKind { kind: &kind.kind, total: by.total, p5: by.p5, p95: by.p95 })
                .collect(),
        },
        gain: &gain,
        method: METHOD,
        not_seen: NOT_SEEN,
    };
    if args.json {
        print_json(&serde_json::to_value(&told).map_err(|e| Fault::internal(e.to_string()))?)?;
    } else {
        print(&told);
    }
    Ok(ExitCode::SUCCESS)
}

/// A moment: a day, a time, or so long before `now`.
fn since(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    let wrong = || {
        CommandError::Usage(format!(
            "--since {text:?}: give a day (2026-11-01), a time (2026-11-01T08:00:00Z), or how long ago (30m, 12h, 7d, 4w)"
        ))
    };
    let at = match text.parse::<Timestamp>() {
        Ok(at) => at,
        Err(_) => match text.parse::<jiff::civil::Date>() {
            Ok(day) => day.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| wrong())?.timestamp(),
            Err(_) => {
                let (number, minutes) = text
                    .strip_suffix('m')
                    .map(|n| (n, 1))
                    .or_else(|| text.strip_suffix('h').map(|n| (n, 60)))
                    .or_else(|| text.strip_suffix('d').map(|n| (n, 24 * 60)))
                    .or_else(|| text.strip_suffix('w').map(|n| (n, 7 * 24 * 60)))
                    .ok_or_else(wrong)?;
                let number: u32 = number.parse().map_err(|_| wrong())?;
                let long = SignedDuration::from_mins(i64::from(number) * minutes);
                now.checked_sub(long).map_err(|_| wrong())?
            }
        },
    };
    if at > now {
        return Err(CommandError::Usage(format!("--since {text:?} has not come yet: it is {now:.0} now")));
    }
    Ok(at)
}

/// A number with its thousands apart.
fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "−" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn print(told: &Told<'_>) {
    let gain = told.gain;
    let records = gain.records;
    if told.state != "measured" {
        say!("{NOTE}Nothing was measured.{NOTE:#}");
        match (told.state, &told.since) {
            ("empty", None) => say!("The record of this root is empty: nothing was called here yet."),
            ("empty", Some(since)) => say!("No call is on record since {since}."),
            _ => say!(
                "{} on record, of none of which the answer was measured: only calls of clients are (`gatewright serve`).",
                counted(records.calls, "call")
            ),
        }
        damaged(records.damaged);
        return;
    }
    let style = if gain.net < 0 { BAD } else { GOOD };
    say!("{style}{BOLD}{} tokens{BOLD:#}{style:#} net, estimated", grouped(gain.net));
    let band = gain.band;
    say!(
        "  by {}: likely {}, between {} and {}",
        told.rule.tokenizer.unwrap_or("no tokenizer"),
        grouped(band.likely),
        grouped(band.low),
        grouped(band.high)
    );
    say!();
    row("saved", "", gain.saved, "call");
    let Minus { menus, lookups, rereads, reruns, taken_back, polls, errors, longer } = gain.minus;
    row("menus", "− ", menus, "answer");
    row("looking for tools", "− ", lookups, "call");
    row("read again", "− ", rereads, "call");
    row("called again", "− ", reruns, "call");
    row("taken back for those", "− ", taken_back, "call");
    row("asking after jobs", "− ", polls, "call");
    row("errors", "− ", errors, "call");
    row("longer than what was said", "− ", longer, "call");
    by_tool(gain);
    say!("\n{BOLD}Of{BOLD:#}");
    say!(
        "  {} in {}, {} to {}",
        counted(records.measured, "call"),
        counted(gain.sessions, "conversation"),
        told.from.as_deref().unwrap_or("?"),
        told.to.as_deref().unwrap_or("?")
    );
    say!(
        "  {} not measured; the cap is {} tokens an answer",
        counted(records.not_measured, "call"),
        grouped(i64::try_from(told.cap).unwrap_or(i64::MAX))
    );
    damaged(records.damaged);
    say!("\n{BOLD}Method{BOLD:#}");
    told.method.iter().for_each(|sentence| say!("  {sentence}"));
    say!(
        "\n{BOLD}How far the rule is off{BOLD:#} (against {}, measured {})",
        told.rule.tokenizer.unwrap_or("?"),
        told.rule.measured
    );
    for kind in &told.rule.errors {
        let percent = |thousandths: i64| {
            format!(
                "{}{}.{} %",
                if thousandths < 0 { '−' } else { '+' },
                thousandths.abs() / 10,
                thousandths.abs() % 10
            )
        };
        say!(
            "  {}: {} in total, {} to {} for nine texts of ten",
            kind.kind,
            percent(kind.total),
            percent(kind.p5),
            percent(kind.p95)
        );
    }
    say!("\n{BOLD}Not seen{BOLD:#}");
    told.not_seen.iter().for_each(|what| say!("  {what}"));
}

/// What each tool saved, and what is not counted.
fn by_tool(gain: &Gain) {
    if !gain.tools.is_empty() {
        say!(
            "\n{DIM}{:<28} {:>7} {:>12} {:>12} {:>12} {:>12} {:>12}{DIM:#}",
            "by tool",
            "calls",
            "whole",
            "shown",
            "saved",
            "taken off",
            "net"
        );
        for tool in &gain.tools {
            let [whole, shown] =
                [tool.whole, tool.shown].map(|n| grouped(i64::try_from(n).unwrap_or(i64::MAX)));
            say!(
                "{:<28} {:>7} {whole:>12} {shown:>12} {:>12} {:>12} {:>12}",
                spelled_name(&tool.tool),
                tool.calls,
                grouped(tool.saved),
                grouped(tool.minus),
                grouped(tool.net)
            );
        }
    }
    if !gain.not_counted.is_empty() {
        say!("\n{BOLD}Not counted{BOLD:#}");
        for row in &gain.not_counted {
            let shown = grouped(i64::try_from(row.shown).unwrap_or(i64::MAX));
            say!("  {}: {}, {shown} tokens shown", spelled_name(&row.tool), counted(row.calls, "call"));
        }
    }
}

fn row(what: &str, sign: &str, line: Line, one: &str) {
    say!(
        "  {what:<26} {:>14}  {DIM}{}{DIM:#}",
        format!("{sign}{}", grouped(line.tokens)),
        counted(line.calls, one)
    );
}

fn damaged(lines: u64) {
    if lines > 0 {
        say!(
            "  {BAD}{} no record{BAD:#}: `gatewright audit verify` says what is wrong",
            if lines == 1 { "1 line is".to_owned() } else { format!("{lines} lines are") }
        );
    }
}

/// The cap where nobody says otherwise.
pub const DEFAULT_CAP: u64 = CAP;

/// The largest one: more is not counted of any answer.
pub const MOST_CAP: u64 = Cost::MOST;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_day_a_time_or_so_long_ago_and_has_been() {
        let now: Timestamp = "2026-11-23T08:00:00Z".parse().unwrap();
        let at = |text: &str| since(text, now).map(|at| at.to_string());
        for (text, is) in [
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01T08:00:00+02:00", "2026-11-01T06:00:00Z"),
            ("30m", "2026-11-23T07:30:00Z"),
            ("12h", "2026-11-22T20:00:00Z"),
            ("7d", "2026-11-16T08:00:00Z"),
            ("2w", "2026-11-09T08:00:00Z"),
        ] {
            assert_eq!(at(text).unwrap(), is, "{text}");
        }
        for text in [
            "",
            "yesterday",
            "7",
            "d",
            "-7d",
            "7 d",
            "1.5h",
            "4294967295w",
            "99999999999d",
            "2026-13-01",
            "2026-11-24",
            "2026-11-23T08:00:01Z",
        ] {
            let error = at(text).unwrap_err();
            assert!(
                matches!(error, CommandError::Usage(_)) && error.to_string().contains("--since"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 12, 1_234, -1_234_567].map(grouped), ["0", "12", "1,234", "−1,234,567"]);
        assert_eq!(grouped(i64::MIN), "−9,223,372,036,854,775,808");
    }
}
