//! Review kits, and which part of one takes how long.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Asked, Scratch, projects, scans};
use crate::bench::samples::Samples;
use crate::sh::Done;

/// Kits of one project, at most: each takes its pictures anew.
const ROUNDS: usize = 5;

/// Components of the generated system; and with `--quick`.
const COMPONENTS: [usize; 2] = [24, 4];

/// The part that is the call's own: what no part says.
const REST: &str = "the rest of the call";

pub(super) fn measure(ours: &Path, asked: &Asked, scratch: &Scratch) -> Done {
    let components = if asked.quick { COMPONENTS[1] } else { COMPONENTS[0] };
    let rounds = asked.rounds.min(ROUNDS);
    let harbor = scratch.folder("harbor")?;
    projects::harbor(&harbor)?;
    let system = scratch.folder("system")?;
    projects::system(&system, components)?;
    let examples = json!(["app/*.html"]);
    kit(
        ours,
        scratch,
        rounds,
        ("examples/harbor, 1 page", harbor, json!({ "source": "tokens", "examples": examples })),
    )?;
    let name = format!("a generated system, {components} pages, 300 tokens");
    kit(ours, scratch, rounds, (&name, system, json!({ "source": "tokens" })))
}

fn kit(
    ours: &Path,
    scratch: &Scratch,
    rounds: usize,
    (name, root, mut arguments): (&str, PathBuf, Value),
) -> Done {
    println!("\n▶ review kits of {name}, {rounds} rounds");
    scans::with_axe(&root)?;
    arguments["featureName"] = "calm".into();
    arguments["ticketId"] = "DS-42".into();
    let server =
        format!("kit-{}", root.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default());
    let mut session = scratch.place(ours, &root, &server)?.serve()?;
    let mut order: Vec<String> = Vec::new();
    let mut parts: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    let (mut whole, mut first, mut last) = (Vec::new(), Duration::ZERO, Value::Null);
    for round in 0..=rounds {
        let (took, answer) = session.timed("review_kit_create", &arguments)?;
        if round == 0 {
            first = took;
            last = answer;
            continue;
        }
        let mut rest = took;
        for part in answer["parts"].as_array().into_iter().flatten() {
            let time = Duration::from_millis(part["milliseconds"].as_u64().unwrap_or(0));
            let name = part["name"].as_str().unwrap_or_default().to_owned();
            if !order.contains(&name) {
                order.push(name.clone());
            }
            parts.entry(name).or_default().push(time);
            rest = rest.saturating_sub(time);
        }
        parts.entry(REST.to_owned()).or_default().push(rest);
        whole.push(took);
        if last["kit"] != answer["kit"] {
            println!("  NOT THE SAME: {} and then {}", last["kit"], answer["kit"]);
        }
        last = answer;
    }
    session.finish()?;
    order.push(REST.to_owned());
    let whole = Samples::of(&whole).median();
    println!(
        "\nreview kit of {name}: {} files, {} bytes; milliseconds, medians of {rounds} kits by a server that runs (the first: {:.0})",
        last["fileCount"],
        last["bytes"],
        first.as_secs_f64() * 1e3
    );
    println!("{:<24} {:>8} {:>7}", "", "ms", "share");
    for name in &order {
        let median = parts.get(name).map_or(f64::NAN, |times| Samples::of(times).median());
        println!("{name:<24} {median:>8.0} {:>6.0}%", median / whole * 100.0);
    }
    println!("{:<24} {whole:>8.0}", "whole call");
    for part in last["parts"].as_array().into_iter().flatten() {
        for why in part["why"].as_array().into_iter().flatten() {
            println!("  {}: {why}", part["name"]);
        }
    }
    Ok(())
}
