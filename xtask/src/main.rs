//! The project's chores. `cargo xtask` lists them.
#![allow(clippy::disallowed_methods, reason = "a build tool: it works on the project's own files")]
#![allow(clippy::print_stdout, reason = "a command line prints")]
#![allow(unreachable_pub, reason = "a binary has no public surface")]

mod attacks;
mod bench;
mod compare;
mod conformance;
mod debian;
mod dice;
mod fuzz;
mod r#gen;
mod guests;
mod node;
mod picture_book;
mod python;
mod session;
mod sh;
mod shipped;
mod soak;
mod test;
mod tidy;
mod token_rule;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test [--fast]     everything that CI checks; installs what the tests need, or says what is missing
cargo xtask record            run the quickstart and keep what it prints in docs/guide/session.txt
cargo xtask gen [--check]     write the generated reference, or check that it is current
cargo xtask pictures          take the guide's pictures anew, of what the program makes of the example
cargo xtask guests            build the plugins of the examples that are WebAssembly into target/plugins
cargo xtask tidy              edges between crates, names, lengths, what the page of attacks claims
cargo xtask dist [--fresh]    build gatewright as it is shipped: target/dist/gatewright. It is arranged by a profile of practice,
                              which is taken where there is none that fits, or anew
cargo xtask practise PROGRAM [--whole]
                              put a gatewright through that practice, in brief or whole: does all of it still go?
cargo xtask soak kill [N]     N rounds of killing a process while it applies plans and appends (default 200)
cargo xtask soak scans [N]    N scans (default 10000) by one server: what grows, who is left
cargo xtask soak kills [--rounds N] N rounds (default 1000) of killing a server with runs under way: who survives, what is lost
cargo xtask fuzz TARGET [S]   fuzz one of the targets, guided by coverage, for S seconds (default 300); `list` names them
cargo xtask compare [--check] token builds against Style Dictionary's and Terrazzo's, every difference explained
cargo xtask conformance       the protocol's conformance suite, both revisions, against its fixtures on our HTTP stack
cargo xtask bench tokens      token builds against Style Dictionary and Terrazzo, and growth
cargo xtask bench protocol [N] [--program PATH]
                              calls a second, latency, start and memory against rmcp alone and the TypeScript SDK,
                              medians of N rounds (default 5)
cargo xtask bench gateway [[--short] --program PATH]
                              calls through upstreams, starts with some, menus with many tools
cargo xtask bench pipeline    what a call costs, the ledger, the jail
cargo xtask bench runs [--repo PATH] [--rounds N] [--only PARTS]
                              confined runs against plain ones, files, detection, git (of PATH), parsers, the analysis of
                              failures, N kill rounds (default 1000); PARTS: overhead, files, detection, git, …
cargo xtask bench session [--notes N,N] [--only PARTS] [--program PATH] [--quick]
                            the working day as data grows: a day, searches, the context API, on both databases
cargo xtask bench knowledge [--only PARTS] [--scale N] [--rounds N] [--program PATH] [--quick]
                              how good answers about patterns are, beside FTS5 and ripgrep; libraries of 100, 10,000 and N
                              patterns: looking through, finding, loading, memory; how far the rule for tokens is off, kept for `gain` and the
                              page; PARTS: quality, build, search, load, tokens
cargo xtask bench design [--pages N] [--packages N] [--only PARTS] [--program PATH] [--quick]
                              scans against pa11y and @axe-core/cli, findings against plain axe-core, review kits by part, packs
                              against npm pack, publint and attw; PARTS: scan, agreement, kit, pack; PATH: a gatewright that is
                              built already";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test::run(false),
        ["test", "--fast"] => test::run(true),
        ["gen"] => r#gen::run(false),
        ["gen", "--check"] => r#gen::run(true),
        ["record"] => r#gen::record(),
        ["guests"] => guests::run(),
        ["tidy"] => tidy::run(),
        ["dist"] => shipped::build().map(drop),
        ["dist", "--fresh"] => shipped::build_afresh().map(drop),
        ["practise", program] => shipped::practised(program, false),
        ["practise", program, "--whole"] => shipped::practised(program, true),
        ["link", args @ ..] => shipped::link(args),
        ["soak", "kill"] => soak::kill(200),
        ["soak", "kill", rounds] => number(rounds).and_then(soak::kill),
        ["soak", "scans"] => soak::looking(10_000),
        ["soak", "scans", scans] => number(scans).and_then(soak::looking),
        ["soak", "scans", scans, "--program", program] => {
            number(scans).and_then(|scans| soak::looking_with(scans, program))
        }
        ["soak", "kills"] => soak::servers(soak::ROUNDS),
        ["soak", "kills", "--rounds", rounds] => number(rounds).and_then(soak::servers),
        ["fuzz", target] => fuzz::run(target, 300),
        ["fuzz", target, seconds] => number(seconds).and_then(|s| fuzz::run(target, s)),
        ["compare"] => compare::run(false),
        ["compare", "--check"] => compare::run(true),
        ["conformance"] => conformance::run(),
        ["pictures"] => picture_book::run(),
        ["bench", "tokens"] => bench::tokens(),
        ["bench", "protocol", rest @ ..] => bench::protocol::run(rest),
        ["bench", "pipeline"] => bench::pipeline(),
        ["bench", "runs", rest @ ..] => bench::runs::run(rest),
        ["bench", "gateway", rest @ ..] => bench::gateway::run(rest),
        ["gateway-proxy", command @ ..] => bench::gateway::proxy(command),
        ["gateway-http-proxy", listen, port] => bench::gateway::http::proxy(listen, port),
        ["bench", "design", rest @ ..] => bench::design::run(rest),
        ["bench", "knowledge", rest @ ..] => bench::knowledge::run(rest),
        ["bench", "session", rest @ ..] => bench::session::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// A number that somebody typed.
fn number<N: std::str::FromStr<Err = std::num::ParseIntError>>(text: &str) -> sh::Done<N> {
    text.parse().map_err(|e| format!("{text}: {e}"))
}
