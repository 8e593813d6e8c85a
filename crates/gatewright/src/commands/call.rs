//! `gatewright call`.

mod asking;
mod details;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use contract::{CallId, Fault, Key, Kind, PlanId, Principal, Spec, Status};
use indicatif::{ProgressBar, ProgressStyle};
use kit::call::ClientInfo;
use kit::choice::{Choice, Chosen, Offered};
use kit::consent::{Consent, Question};
use kit::house::ROOT;
use kit::{Call, Done, House, Progress};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{CommandError, CommandResult, runtime};
use crate::cli::CallArgs;
use crate::compose::{self, Offer};
use crate::roots::Asked;
use crate::term::{self, BOLD, DIM, GOOD, NOTE};

pub fn run(asked: &Asked, args: &CallArgs) -> CommandResult {
    let house = compose::house(asked, &Offer::default())?;
    let registry = house.registry();
    let tool = registry.resolve(&args.tool).ok_or_else(|| registry.unknown(&args.tool))?;
    let Parsed { mut arguments, as_json } = parse(&tool.spec(), &args.rest)?;
    whole_plan_id(&house, &mut arguments)?;
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let (progress, bar) = bar(as_json);
        let cancel = CancellationToken::new();
        let stopper = cancel.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                stopper.cancel();
            }
        });
        let mut call = Call {
            id: CallId(format!("cli-{}", Key::random().map(|k| k.to_string()).unwrap_or_default())),
            tool: args.tool.clone(),
            arguments: Value::Object(arguments),
            consent: Consent::Unasked { can_ask: can_ask(as_json) },
            inquiries: asking::inquiries(can_ask(as_json)),
            principal: Principal::Local { uid: house.first().uid() },
            bearer: None,
            client: ClientInfo::new("gatewright", env!("CARGO_PKG_VERSION")),
            from: None,
            // Who reads what is printed, and what of it, is not known.
            session: None,
            detach: false,
            cancel,
            progress,
        };
        let mut done = house.call(call.clone()).await;
        bar.finish_and_clear();
        if let Some(choice) = done.choice.clone().filter(|_| can_ask(as_json))
            && let (Some(chosen), Value::Object(arguments)) = (chosen_here(&choice), &call.arguments)
        {
            call.arguments = Value::Object(chosen.applied_to(arguments.clone()));
            done = house.call(call.clone()).await;
        }
        // What was chosen may want consent.
        if let Some(question) = done.question.as_ref().filter(|_| can_ask(as_json)) {
            done = house.call(Call { consent: asked_here(question), ..call }).await;
        }
        done
    });
    if as_json {
        say!("{}", done.to_value());
    } else {
        show(asked, args, &done, tool.head().kind);
    }
    Ok(match &done.result {
        Ok(reply) if reply.envelope.success => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(fault) => ExitCode::from(CommandError::Fault(fault.clone()).exit_code()),
    })
}

/// Whether somebody sits at the terminal.
fn can_ask(as_json: bool) -> bool {
    !as_json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks whoever sits at the terminal.
fn asked_here(question: &Question) -> Consent {
    anstream::eprint!("{}[y/N] ", question.text);
    let mut answer = String::new();
    match std::io::stdin().read_line(&mut answer) {
        Ok(read) if read > 0 => match answer.trim() {
            "y" | "Y" | "yes" => Consent::Given(question.plan),
            _ => Consent::Refused(question.plan),
        },
        _ => Consent::Unanswered(question.plan),
    }
}

/// Has whoever sits at the terminal choose, by numbers; an empty line takes what is marked.
fn chosen_here(choice: &Choice) -> Option<Chosen> {
    anstream::eprintln!("{}", choice.text);
    for (number, option) in choice.offered().enumerate() {
        let mark = if option.chosen { '*' } else { ' ' };
        anstream::eprintln!(" {mark}{:>3}  {}", number + 1, option.title);
    }
    anstream::eprint!("Numbers, or Enter for those with a star: ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).ok().filter(|read| *read > 0)?;
    let words: Vec<&str> = answer.split([',', ' ', '\n']).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return choice.chosen(|option| option.chosen);
    }
    let all: Vec<&Offered> = choice.offered().collect();
    let numbered =
        |word: &str| all.get(word.parse::<usize>().ok()?.checked_sub(1)?).map(|option| &option.name);
    let names: Vec<&String> = words.into_iter().map(numbered).collect::<Option<_>>()?;
    choice.chosen(|option| names.contains(&&option.name))
}

fn bar(quiet: bool) -> (Progress, ProgressBar) {
    if quiet || !std::io::stderr().is_terminal() {
        return (Arc::new(|_| {}), ProgressBar::hidden());
    }
    let bar = ProgressBar::new(100);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{bar:30}] {percent}%") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    let shown = bar.clone();
    let progress: Progress = Arc::new(move |step| {
        shown.set_message(step.message);
        if let Some(total) = step.total.filter(|t| *t > 0.0) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentage")]
            shown.set_position((step.done / total * 100.0).clamp(0.0, 100.0) as u64);
        }
    });
    (progress, bar)
}

/// People name a plan by the beginning of its id.
fn whole_plan_id(house: &House, arguments: &mut Map<String, Value>) -> Result<(), Fault> {
    let Some(Value::String(named)) = arguments.get("plan") else { return Ok(()) };
    let root = arguments.get(ROOT).and_then(Value::as_str);
    let meant = house.engines().find(|e| root.is_some() && e.root().map(|r| r.name()) == root);
    let id = match meant.unwrap_or(house.first()).state().plan_named(named) {
        Ok(id) => id,
        // Of a tool that changes a library it is kept with that.
        Err(unknown) => house
            .find(|engine| engine.state().plan_named(named).is_ok())
            .map_or(Err(unknown), |library| library.state().plan_named(named))?,
    };
    arguments.insert("plan".into(), json!(id));
    Ok(())
}

/// The command that applies exactly what `args` rehearsed.
fn apply_command(asked: &Asked, args: &CallArgs, plan: PlanId) -> String {
    let mut words = vec!["gatewright".to_owned()];
    words.extend(asked.words().iter().map(|word| quoted(word)));
    words.extend(["call".to_owned(), args.tool.clone()]);
    let mut rest = args.rest.iter().peekable();
    while let Some(word) = rest.next() {
        match word.split_once('=').map_or(word.as_str(), |(flag, _)| flag) {
            "--plan" if !word.contains('=') => drop(rest.next()),
            "--plan" => {}
            "--dry-run" | "--apply" => drop(rest.next_if(|w| matches!(w.as_str(), "true" | "false"))),
            _ => words.push(quoted(word)),
        }
    }
    words.extend(["--apply".to_owned(), "--plan".to_owned(), plan.to_string()]);
    words.join(" ")
}

/// `word` as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,=:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn show(asked: &Asked, args: &CallArgs, done: &Done, kind: Kind) {
    match &done.result {
        Err(fault) => term::fault(fault),
        Ok(reply) => {
            say!("{}", reply.envelope.message);
            // What changes something or runs says what it did; of what looks or only computes, people want to see what came of it.
            let looks = matches!(kind, Kind::Read | Kind::Record | Kind::Foreign);
            if looks || reply.envelope.plan.is_none() {
                let lines = details::lines(&reply.output, &reply.envelope.message);
                for line in lines {
                    say!("{line}");
                }
            }
            if let Some(plan) = &reply.envelope.plan {
                if plan.effects.is_empty() {
                    say!("\n{DIM}Nothing would change.{DIM:#}");
                } else {
                    let heading = if reply.envelope.status == Status::Proposed { "Would" } else { "Done" };
                    say!("\n{BOLD}{heading}{BOLD:#}");
                    plan.effects.iter().for_each(|effect| say!("  {effect}"));
                    say!();
                    term::diff(&plan.diff);
                }
                if reply.envelope.status == Status::Proposed {
                    say!("\n{NOTE}A rehearsal: nothing was changed.{NOTE:#} To do exactly this:");
                    say!("  {}", apply_command(asked, args, plan.id));
                }
            }
            for blocked in &reply.envelope.blocked {
                say!("{NOTE}Cannot be applied:{NOTE:#} {blocked}");
            }
            if let Some(side) = reply.envelope.side_writes.as_ref().filter(|side| !side.paths.is_empty()) {
                say!(
                    "{DIM}Kept without a plan, since the project ignores it: {}{DIM:#}",
                    side.paths.join(", ")
                );
            }
            for suggestion in &reply.envelope.suggestions {
                say!("  → {suggestion}");
            }
            if let Some(cut) = &reply.envelope.truncated {
                let (shown, total, next) = (cut.shown, cut.total, &cut.next);
                if next.starts_with("cursor_") {
                    say!("{DIM}showing {shown} of {total}; go on with --cursor {next}{DIM:#}");
                } else {
                    say!("{DIM}showing {shown} of {total} lines; all: {next}{DIM:#}");
                }
            }
            let changed = reply.envelope.plan.as_ref().is_some_and(|p| !p.effects.is_empty());
            if reply.envelope.status == Status::Completed && changed {
                let id = done.metadata.transcript.as_ref().map(ToString::to_string).unwrap_or_default();
                let roots = asked.words().iter().fold(String::new(), |all, word| all + &quoted(word) + " ");
                say!("{GOOD}Recorded{GOOD:#} as {id}; `gatewright {roots}undo {id}` takes it back.");
            }
        }
    }
}

struct Parsed {
    arguments: Map<String, Value>,
    as_json: bool,
}

/// Turns `--field value` into arguments, by the types that the tool's schema gives.
fn parse(spec: &Spec, rest: &[String]) -> Result<Parsed, CommandError> {
    let usage = CommandError::Usage;
    let mut arguments = Map::new();
    let (mut as_json, mut dry_run) = (false, false);
    let mut words = rest.iter().peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--") else {
            let json = if word.starts_with('{') { ", or `--json JSON` for all of them" } else { "" };
            return Err(usage(format!("{word:?} has no field: write `--field value`{json}")));
        };
        let (flag, inline) = match flag.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (flag, None),
        };
        let mut value = || {
            inline
                .clone()
                .or_else(|| words.next().cloned())
                .ok_or_else(|| usage(format!("--{flag} needs a value")))
        };
        match flag {
            "output" => match value()?.as_str() {
                "json" => as_json = true,
                "text" => as_json = false,
                other => return Err(usage(format!("--output is text or json, not {other:?}"))),
            },
            "dry-run" => dry_run = true,
            "json" => match serde_json::from_str(&value()?) {
                Ok(Value::Object(object)) => arguments.extend(object),
                Ok(_) => return Err(usage("--json takes an object".into())),
                Err(error) => return Err(usage(format!("--json: {error}"))),
            },
            _ => field(spec, flag, &mut arguments, inline.as_deref(), &mut words)?,
        }
    }
    if dry_run {
        if arguments.get("apply") == Some(&json!(true)) {
            return Err(usage("--dry-run and --apply contradict each other".into()));
        }
        if arguments.contains_key("plan") {
            arguments.insert("apply".into(), json!(false));
        }
    }
    Ok(Parsed { arguments, as_json })
}

fn field(
    spec: &Spec,
    flag: &str,
    arguments: &mut Map<String, Value>,
    inline: Option<&str>,
    words: &mut std::iter::Peekable<std::slice::Iter<'_, String>>,
) -> Result<(), CommandError> {
    let empty = Map::new();
    let properties = spec.input_schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let name = [flag.to_owned(), flag.replace('-', "_"), camel(flag)]
        .into_iter()
        .find(|n| properties.contains_key(n));
    let Some((name, schema)) = name.and_then(|n| properties.get(&n).map(|schema| (n, schema))) else {
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        return Err(CommandError::Usage(format!(
            "{} has no --{flag}; it has --{}",
            spec.head.name,
            known.join(", --")
        )));
    };
    let kind = schema.get("type").and_then(Value::as_str);
    let kind = kind.unwrap_or(if takes_anything(schema) { "any" } else { "string" });
    if kind == "boolean" {
        let explicit =
            inline.or_else(|| words.next_if(|w| matches!(w.as_str(), "true" | "false")).map(String::as_str));
        let value = match explicit {
            None | Some("true") => true,
            Some("false") => false,
            Some(other) => {
                return Err(CommandError::Usage(format!("--{flag} is true or false, not {other:?}")));
            }
        };
        arguments.insert(name, json!(value));
        return Ok(());
    }
    let text = match inline {
        Some(text) => text.to_owned(),
        None => {
            words.next().cloned().ok_or_else(|| CommandError::Usage(format!("--{flag} needs a value")))?
        }
    };
    let wrong = |error: serde_json::Error| CommandError::Usage(format!("--{flag} {text}: {error}"));
    let value = match kind {
        "integer" | "number" => serde_json::from_str(&text).map_err(wrong)?,
        "object" => serde_json::from_str(&text).map_err(wrong)?,
        "array" => {
            let mut all = arguments.remove(&name).and_then(|v| v.as_array().cloned()).unwrap_or_default();
            all.extend(items(&text));
            Value::Array(all)
        }
        // What reads as JSON is meant as such; anything else is a text.
        "any" => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        _ => Value::String(text),
    };
    arguments.insert(name, value);
    Ok(())
}

/// Whether an argument may be any JSON value.
fn takes_anything(schema: &Value) -> bool {
    let narrows = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];
    !narrows.iter().any(|word| schema.get(word).is_some())
}

/// What a list's flag means: a JSON array, or words with commas between them. A comma within braces belongs to a pattern.
fn items(text: &str) -> Vec<Value> {
    if let Ok(Value::Array(items)) = serde_json::from_str(text) {
        return items;
    }
    let mut depth = 0_usize;
    let words = text.split(|c| {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    words.map(str::trim).filter(|word| !word.is_empty()).map(|word| json!(word)).collect()
}

fn camel(flag: &str) -> String {
    let mut parts = flag.split('-');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut chars = part.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(chars.as_str());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_written_with_commas_or_as_json_and_patterns_keep_theirs() {
        assert_eq!(items("css, scss,"), [json!("css"), json!("scss")]);
        assert_eq!(items("src/{a,b}/*.json,x[,]y"), [json!("src/{a,b}/*.json"), json!("x[,]y")]);
        assert_eq!(items(r#"["css", "a,b", 3]"#), [json!("css"), json!("a,b"), json!(3)]);
        assert_eq!(items("}a,b"), [json!("}a"), json!("b")]);
    }

    #[test]
    fn the_command_that_applies_reads_back_as_it_was_meant() {
        let words = |rest: &[&str]| CallArgs {
            tool: "t".into(),
            rest: rest.iter().map(|w| (*w).to_owned()).collect(),
        };
        let plan = PlanId::from_digest(contract::Digest::ZERO);
        let args =
            words(&["--source", "it's here/*.json", "--dry-run", "--apply", "false", "--platforms=css,js"]);
        let zeros = "0".repeat(64);
        assert_eq!(
            apply_command(&Asked(vec!["lib=/srv/a b".parse().unwrap()]), &args, plan),
            format!(
                "gatewright --root 'lib=/srv/a b' call t --source 'it'\\''s here/*.json' --platforms=css,js --apply --plan plan_{zeros}"
            )
        );
    }
}
