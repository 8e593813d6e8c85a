//! What skills cost: a run of one, and five questions of an agent, solved by search, load and execute over a library of real size: what that costs in tokens, beside reading
//! the library.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::compose::Library;
use crate::bench::samples::{Aim, Samples};
use crate::session::{Place, Session};
use crate::sh::{Done, top};
use crate::token_rule;

/// The pattern that the questions are about.
const PATTERN: &str = "backend/retry-backoff";
/// What the seed says that search, load and execute save.
const SAVED: f64 = 98.7;
/// Where the pattern is.
const EXAMPLES: &str = "examples/patterns";

/// A question, what is called for it, and what its answer must have.
struct Step {
    question: &'static str,
    tool: &'static str,
    arguments: Value,
    answer: fn(&Value) -> bool,
}

fn has(value: &Value, text: &str) -> bool {
    value.to_string().contains(text)
}

fn steps() -> Vec<Step> {
    vec![
        Step {
            question: "Which pattern says how a failing call is tried again?",
            tool: "find_patterns",
            arguments: json!({ "query": "retry exponential backoff jitter", "limit": 3 }),
            answer: |given| given["data"][0]["id"] == PATTERN,
        },
        Step {
            question: "What does it warn of?",
            tool: "load_skill",
            arguments: json!({ "skillId": PATTERN, "section": "Pitfalls", "includeMetadata": false }),
            answer: |given| has(&given["data"]["documentation"], "an outage doubles the load"),
        },
        Step {
            question: "How long are the waits of five attempts from 100 ms on?",
            tool: "execute_skill",
            arguments: json!({ "skillId": PATTERN, "input": { "attempts": 5, "baseMs": 100, "capMs": 2000, "jitter": "none" } }),
            answer: |given| has(&given["data"]["result"], "[100,200,400,800]"),
        },
        Step {
            question: "What was decided about retries here?",
            tool: "get_decisions",
            arguments: json!({ "projectPath": "." }),
            answer: |given| has(&given["data"], "at most three attempts"),
        },
        Step {
            question: "What is in the way?",
            tool: "get_blockers",
            arguments: json!({ "projectPath": "." }),
            answer: |given| has(&given["data"], "no idempotency keys"),
        },
    ]
}

/// Tokens of a text by the integer rule.
fn tokens(text: &str) -> f64 {
    token_rule::tokens(text.chars().count())
}

/// A person looks at a skill, and approves it.
fn approve(place: &Place) -> Done {
    let name = format!("skill:user:{PATTERN}");
    for is_last in [false, true] {
        let out = place.command(&["approvals", "accept", &name]).output().map_err(|e| e.to_string())?;
        if is_last && !out.status.success() {
            return Err(format!("approvals accept {name}: {}", String::from_utf8_lossy(&out.stderr)));
        }
    }
    Ok(())
}

/// Tokens of the definitions of these tools, as a menu has them.
fn menu(session: &mut Session, of: &[Step]) -> Done<f64> {
    let mut all = 0.0;
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = session.result("tools/list", params)?;
        for tool in page["tools"].as_array().into_iter().flatten() {
            if of.iter().any(|step| tool["name"] == step.tool) {
                all += tokens(&tool.to_string());
            }
        }
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return Ok(all);
        }
    }
}

/// Tokens of all files of a library.
fn whole(folder: &Path) -> Done<f64> {
    let mut sum = 0.0;
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten() {
        let path = entry.path();
        sum += if path.is_dir() {
            whole(&path)?
        } else {
            tokens(&String::from_utf8_lossy(&std::fs::read(&path).map_err(|e| e.to_string())?))
        };
    }
    Ok(sum)
}

/// Runs of a skill that are counted.
const RUNS: usize = 200;
/// How long after a call an agent makes the next one, at least.
const THOUGHT: Duration = Duration::from_millis(50);
/// What a run of a skill may take beside the skill's own time, in milliseconds: the seed's figure, and the aim.
const OVERHEAD: [f64; 2] = [20.0, 5.0];

/// A server over the library with the examples among it, in which the pattern's code is approved.
fn placed(program: &Path, scratch: &Path, library: &Library) -> Done<Place> {
    let from = top().join(EXAMPLES).join("backend");
    let copied = Command::new("cp").arg("-r").arg(from).arg(&library.folder).status();
    if !copied.is_ok_and(|status| status.success()) {
        return Err("the example patterns could not be copied".to_owned());
    }
    let root = scratch.join("task");
    std::fs::create_dir_all(&root).map_err(|e| e.to_string())?;
    let place = Place::new(program, &root, scratch, &scratch.join("task-state"))?;
    place.configured(&format!("[library]\nuser = {:?}\n", library.folder.display().to_string()))?;
    approve(&place)?;
    Ok(place)
}

/// How long a run of a skill takes whose own work is nothing to speak of.
pub(super) fn execute(program: &Path, scratch: &Path, library: &Library) -> Done<Vec<Aim>> {
    let place = placed(program, scratch, library)?;
    let mut session = place.serve()?;
    let steps = steps();
    let step = steps.iter().find(|step| step.tool == "execute_skill").ok_or("no skill is run")?;
    let load = json!({ "skillId": PATTERN });
    // The first ones start the processes that the others find waiting.
    for _ in 0..3 {
        session.call(step.tool, step.arguments.clone())?;
        session.call("load_skill", load.clone())?;
    }
    // An agent thinks between its calls; a script does not.
    let thinking = measured(&mut session, step, THOUGHT)?;
    let at_once = measured(&mut session, step, Duration::ZERO)?;
    let loads: Done<Vec<Duration>> = (0..RUNS).map(|_| Ok(session.timed("load_skill", &load)?.0)).collect();
    session.finish()?;
    println!("\nexecute_skill through MCP, a pure function, ms, p50 / p95 / p99 of {RUNS}");
    println!("  {} ms after the call before: {}", THOUGHT.as_millis(), three(&thinking));
    println!("  right after the call before: {}", three(&at_once));
    println!("  load_skill of the same, right after the call before: {}", three(&Samples::of(&loads?)));
    let aim = |most: f64| Aim {
        met: thinking.p95() <= most,
        what: format!(
            "{} patterns: execute_skill at most {most} ms, all of the call, {} ms after the one before",
            library.documents.len(),
            THOUGHT.as_millis()
        ),
        there: format!("p95 {:.2} ms", thinking.p95()),
    };
    Ok(OVERHEAD.map(aim).into())
}

/// Runs of a skill, each so long after the one before.
fn measured(session: &mut Session, step: &Step, pause: Duration) -> Done<Samples> {
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        std::thread::sleep(pause);
        let (took, given) = session.timed(step.tool, &step.arguments)?;
        if !(step.answer)(&given) {
            return Err(format!("{PATTERN}: {given}"));
        }
        runs.push(took);
    }
    Ok(Samples::of(&runs))
}

fn three(samples: &Samples) -> String {
    format!("{:.2} / {:.2} / {:.2}", samples.median(), samples.p95(), samples.p99())
}

/// Solves the task over a composed library with the examples among it.
pub(super) fn run(program: &Path, scratch: &Path, library: &Library) -> Done<Vec<Aim>> {
    let place = placed(program, scratch, library)?;
    let mut session = place.serve()?;
    for (kind, content) in [
        (
            "decision",
            "Calls to the payment service are tried again with at most three attempts, full jitter.",
        ),
        ("blocker", "The payment service takes no idempotency keys: writes must not be tried again."),
    ] {
        session.call("add_note", json!({ "projectPath": ".", "type": kind, "content": content }))?;
    }
    let patterns = session.call("index_pattern_library", json!({}))?["data"]["totalPatterns"].clone();
    println!("\nfive questions over a library of {patterns} patterns, tokens by the integer rule");
    let steps = steps();
    let (mut sum, mut right) = (0.0, 0);
    for step in &steps {
        let given = session.call(step.tool, step.arguments.clone())?;
        let is_right = (step.answer)(&given);
        right += usize::from(is_right);
        let cost = given["metadata"]["tokensUsed"].as_f64().unwrap_or(f64::NAN)
            + tokens(&step.arguments.to_string());
        sum += cost;
        println!(
            "  {cost:>8.0}  {:<18} {}{}",
            step.tool,
            step.question,
            if is_right { "" } else { " WRONG" }
        );
        if !is_right {
            println!("            {given}");
        }
    }
    let menu = menu(&mut session, &steps)?;
    session.finish()?;
    let whole = whole(&library.folder)?;
    let saved = 100.0 * (1.0 - (sum + menu) / whole);
    println!("  {menu:>8.0}  their definitions in the menu, once a conversation");
    println!("  {whole:>8.0}  the library read whole: {saved:.2} % fewer");
    Ok(vec![
        Aim {
            met: right == steps.len(),
            what: "five questions answered".to_owned(),
            there: format!("{right} of {}", steps.len()),
        },
        Aim {
            met: saved >= SAVED,
            what: format!(
                "five questions: at least {SAVED} % fewer tokens than the library (the seed's figure)"
            ),
            there: format!("{saved:.3} %, {:.0} tokens", sum + menu),
        },
    ])
}
