//! Calls of the working day over a store of some size: how long they take, and what a day's page costs in tokens.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Home;
use super::data::{Data, word};
use crate::bench::samples::{Aim, Samples};
use crate::dice::Dice;
use crate::session::Session;
use crate::sh::{Done, output};
use crate::token_rule::tokens;

/// Searches of each kind.
const SEARCHES: usize = 100;
/// What a day may take, in milliseconds: with a store of 10,000 notes and 500 documents that nobody has read yet.
const COLD: f64 = 2_000.0;

/// What was measured over one store.
pub(super) struct Measured {
    kind: &'static str,
    notes: usize,
    read_in: Duration,
    cold: Samples,
    warm: Samples,
    /// Days that named a source that was too slow for them, cold and warm.
    late: [usize; 2],
    /// Tokens of a day's page, as the result says; and of everything that it stands for.
    tokens: [f64; 3],
    /// By what was searched for.
    searches: Vec<(&'static str, Samples)>,
    /// Other calls.
    calls: Vec<(&'static str, Samples)>,
}

pub(super) fn measured(home: &Home, data: &Data, notes: usize, rounds: usize) -> Done<Measured> {
    let file = data.file.display().to_string();
    let began = Instant::now();
    let out = home.place.command(&["store", "import", &file]).output().map_err(|e| e.to_string())?;
    if !out.status.success() {
        return Err(format!("store import: {}", String::from_utf8_lossy(&out.stderr)));
    }
    let read_in = began.elapsed();
    println!("▶ {} with {notes} notes, read in within {:.1} s", home.kind(), read_in.as_secs_f64());
    let (mut cold, mut late) = (Vec::new(), [0, 0]);
    for _ in 0..rounds.min(5) {
        forget(home)?;
        let mut session = home.place.serve()?;
        let (took, _, is_late) = day(&mut session)?;
        cold.push(took);
        late[0] += usize::from(is_late);
        session.finish()?;
    }
    let mut session = home.place.serve()?;
    let mut warm = Vec::new();
    let mut page = Value::Null;
    for round in 0..=rounds {
        let (took, given, is_late) = day(&mut session)?;
        if round > 0 {
            warm.push(took);
            late[1] += usize::from(is_late);
        }
        if !is_late {
            page = given;
        }
    }
    let said = page["metadata"]["tokensUsed"].as_f64().unwrap_or(f64::NAN);
    let [documents, all_notes, handoffs] = data.characters;
    let tokens = [said, tokens(documents), tokens(documents + all_notes + handoffs)];
    let searches = searches(&mut session)?;
    let calls = calls(&mut session, rounds)?;
    session.finish()?;
    let (cold, warm) = (Samples::of(&cold), Samples::of(&warm));
    Ok(Measured { kind: home.kind(), notes, read_in, cold, warm, late, tokens, searches, calls })
}

/// How long a day takes, what it says, and whether something was too slow for it.
fn day(session: &mut Session) -> Done<(Duration, Value, bool)> {
    let (took, given) = session.timed("sod", &json!({}))?;
    let is_late = given["left_out"] != json!([]);
    if given["day"] == "valid" || is_late {
        Ok((took, given, is_late))
    } else {
        Err(format!("sod: {} {}", given["day"], given["left_out"]))
    }
}

/// Has the system forget what it has read of the store: what a database's own server keeps stays.
fn forget(home: &Home) -> Done {
    let folder = home.place.state.join("gatewright/store");
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let file = format!("if={}", entry.path().display());
        output("dd", &[&file, "iflag=nocache", "count=0", "status=none"])?;
    }
    Ok(())
}

fn searches(session: &mut Session) -> Done<Vec<(&'static str, Samples)>> {
    let mut dice = Dice::new();
    // Neither the commonest nor the rarest: what somebody would search for.
    let mut one = || word(20 + dice.below(2_000));
    let mut asked: Vec<(&'static str, Vec<String>)> = vec![
        ("one word", (0..SEARCHES).map(|_| one()).collect()),
        ("two words", (0..SEARCHES).map(|_| format!("{} {}", one(), one())).collect()),
        (
            "a beginning",
            (0..SEARCHES).map(|_| format!("{}*", one().chars().take(5).collect::<String>())).collect(),
        ),
    ];
    let mut found = Vec::new();
    for (what, questions) in &mut asked {
        let mut times = Vec::new();
        for question in questions.iter() {
            times.push(session.timed("notes", &json!({ "q": question }))?.0);
        }
        found.push((*what, Samples::of(&times)));
    }
    Ok(found)
}

fn calls(session: &mut Session, rounds: usize) -> Done<Vec<(&'static str, Samples)>> {
    let mut all = Vec::new();
    let mut time = |name: &'static str, tool: &str, ask: &dyn Fn(usize) -> Value| {
        let times: Done<Vec<Duration>> = (0..rounds).map(|n| Ok(session.timed(tool, &ask(n))?.0)).collect();
        all.push((name, Samples::of(&times?)));
        Ok::<(), String>(())
    };
    time("notes, the newest", "notes", &|_| json!({}))?;
    time(
        "note, a new one",
        "note",
        &|n| json!({ "action": "create", "title": format!("note {n}"), "content": word(77) }),
    )?;
    time("doc", "doc", &|n| json!({ "scope": "acme", "doc_name": format!("d{n:04}.md") }))?;
    time("context", "context", &|_| json!({}))?;
    Ok(all)
}

pub(super) fn print(all: &[Measured], rounds: usize) {
    if all.is_empty() {
        return;
    }
    println!(
        "\na day, ms; cold: a fresh server, and nothing of the file in memory (PostgreSQL keeps its own); medians of {rounds}, cold of 5"
    );
    println!(
        "{:<12} {:>10} {:>9} {:>9} {:>9} {:>10} {:>12} {:>12} {:>10}",
        "", "notes", "cold", "warm", "warm p95", "late", "tokens", "documents", "everything"
    );
    for one in all {
        let [page, documents, everything] = one.tokens;
        println!(
            "{:<12} {:>10} {:>9.1} {:>9.1} {:>9.1} {:>10} {:>12.0} {:>11.1}% {:>9.2}%",
            one.kind,
            one.notes,
            one.cold.median(),
            one.warm.median(),
            one.warm.p95(),
            format!("{} + {}", one.late[0], one.late[1]),
            page,
            100.0 * (1.0 - page / documents),
            100.0 * (1.0 - page / everything),
        );
    }
    println!(
        "(late: cold and warm days that named a source that was too slow for them; percent: what the page saves against all documents whole, and against all that the store has)"
    );
    println!("\nsearching notes through MCP, ms, p50 / p95 of {SEARCHES}; other calls, p50 of {rounds}");
    let names = all
        .first()
        .map(|one| one.searches.iter().chain(&one.calls).map(|(name, _)| *name))
        .into_iter()
        .flatten();
    print!("{:<12} {:>10}", "", "notes");
    names.for_each(|name| print!(" {name:>19}"));
    println!(" {:>12}", "read in, s");
    for one in all {
        print!("{:<12} {:>10}", one.kind, one.notes);
        for (_, times) in &one.searches {
            print!(" {:>19}", format!("{:.1} / {:.1}", times.median(), times.p95()));
        }
        for (_, times) in &one.calls {
            print!(" {:>19.1}", times.median());
        }
        println!(" {:>12.1}", one.read_in.as_secs_f64());
    }
    println!("\nwhat each costs with ten times the notes, as a ratio");
    for pair in all.iter().flat_map(|one| {
        all.iter()
            .filter(move |more| more.kind == one.kind && more.notes == one.notes * 10)
            .map(move |more| (one, more))
    }) {
        let (one, more) = pair;
        let ratio = |a: &Samples, b: &Samples| b.median() / a.median();
        print!(
            "{:<12} {:>9} → {:<9} sod {:.2}",
            one.kind,
            one.notes,
            more.notes,
            ratio(&one.warm, &more.warm)
        );
        for ((name, a), (_, b)) in
            one.searches.iter().chain(&one.calls).zip(more.searches.iter().chain(&more.calls))
        {
            print!("; {name} {:.2}", ratio(a, b));
        }
        println!();
    }
    for one in all.iter().filter(|one| one.notes == 10_000) {
        let there = format!("{:.0} ms cold, {:.0} warm", one.cold.median(), one.warm.median());
        let what = format!("a day under two seconds over 10,000 notes and 500 documents, {}", one.kind);
        Aim { met: one.cold.median() < COLD, what, there }.print();
    }
}
