//! `go test -json`: the events of test2json, of Go 1.19 to 1.27.
//!
//! Source: `go doc test2json` and captured runs. Since Go 1.24 build output is among the events (`build-output`,
//! `build-fail`), before it is on standard error; since Go 1.27 lines of failures are marked (`OutputType`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Outcome;
use crate::draft::{Case, Draft};
use crate::format::Input;
use crate::formats::go_build::Build;
use crate::formats::milliseconds;
use crate::text::{documents, lines};

mod output;

use output::Said;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow, default)]
    package: Cow<'a, str>,
    #[serde(borrow, default)]
    import_path: Cow<'a, str>,
    #[serde(borrow, default)]
    test: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    output: Cow<'a, str>,
    #[serde(borrow, default)]
    output_type: Cow<'a, str>,
    #[serde(default)]
    elapsed: Option<f64>,
    #[serde(borrow, default)]
    failed_build: Option<Cow<'a, str>>,
}

/// A package while its tests run.
#[derive(Default)]
struct Package {
    said: Said,
    /// Tests that began and did not end, each with its number in the order of their beginning.
    running: BTreeMap<String, (u64, Said)>,
    begun: u64,
    failed: bool,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    let mut builds: BTreeMap<String, Build> = BTreeMap::new();
    let mut stray = Build::default();
    // Before Go 1.24 the errors of a build are on standard error, and come before what is said of its package.
    for line in lines(input.stderr) {
        if !stray.line(draft, &line) {
            draft.unread(&line);
        }
    }
    stray.end(draft);
    let mut stray = Build::default();
    let mut events = documents(input.stdout);
    while let Some(line) = events.next() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        match serde_json::from_str::<Event<'_>>(line) {
            Ok(event) => {
                draft.recognised();
                take(draft, &mut packages, &mut builds, &event);
            }
            // The last line has no end: it is a part of one.
            Err(_) if !events.ended => draft.cut = true,
            Err(_) if line.starts_with('{') => draft.unread(line),
            Err(_) => {
                if !stray.line(draft, line) {
                    draft.unread(line);
                }
            }
        }
    }
    stray.end(draft);
    for build in builds.values_mut() {
        build.end(draft);
    }
    // A package that did not end was broken off: what its tests did is not known, but for those that have said it.
    for (name, mut package) in packages {
        draft.cut = true;
        package.said.end_line(draft, &name);
        let (running, late) = package.unfinished(draft, &name);
        for (test, said) in running.into_iter().rev().filter(|(_, said)| late || said.panicked()) {
            let outcome = if late { Outcome::TimedOut } else { Outcome::Errored };
            draft.test(said.case(draft.context, &name, &test, outcome, None));
        }
    }
}

fn take(
    draft: &mut Draft<'_>,
    packages: &mut BTreeMap<String, Package>,
    builds: &mut BTreeMap<String, Build>,
    event: &Event<'_>,
) {
    match event.action.as_ref() {
        "build-output" => {
            let build = builds.entry(event.import_path.clone().into_owned()).or_default();
            for line in event.output.lines() {
                if !build.line(draft, crate::text::head(line, crate::text::MAX_LINE)) {
                    draft.unread(line);
                }
            }
            return;
        }
        "build-fail" => {
            if let Some(mut build) = builds.remove(event.import_path.as_ref()) {
                build.end(draft);
            }
            return;
        }
        _ => {}
    }
    let name = event.package.as_ref();
    let package = packages.entry(name.to_owned()).or_default();
    let Some(test) = event.test.as_deref() else {
        match event.action.as_ref() {
            "output" => package.said.push(draft, name, &event.output, &event.output_type),
            "pass" | "skip" | "fail" => {
                if let Some(package) = packages.remove(name) {
                    end_package(draft, name, package, event);
                }
            }
            "start" | "run" | "pause" | "cont" | "bench" | "attr" | "artifacts" => {}
            other => draft.unread(other),
        }
        return;
    };
    match event.action.as_ref() {
        "output" => package.test(test).push(draft, name, &event.output, &event.output_type),
        "run" => {
            package.test(test);
        }
        "pass" => package.end_test(draft, name, test, Outcome::Passed, event.elapsed),
        "skip" => package.end_test(draft, name, test, Outcome::Skipped, event.elapsed),
        "fail" => package.end_test(draft, name, test, Outcome::Failed, event.elapsed),
        "bench" => {
            package.take(test);
        }
        "pause" | "cont" | "attr" | "artifacts" => {}
        other => draft.unread(other),
    }
}

impl Package {
    fn test(&mut self, test: &str) -> &mut Said {
        if !self.running.contains_key(test) {
            self.begun += 1;
        }
        let begun = self.begun;
        &mut self.running.entry(test.to_owned()).or_insert_with(|| (begun, Said::default())).1
    }

    fn take(&mut self, test: &str) -> Said {
        self.running.remove(test).map(|(_, said)| said).unwrap_or_default()
    }

    /// The tests that began and did not end, in the order of their beginning, and whether time was up for them.
    fn unfinished(&mut self, draft: &mut Draft<'_>, package: &str) -> (Vec<(String, Said)>, bool) {
        let mut running: Vec<_> = std::mem::take(&mut self.running).into_iter().collect();
        running.sort_by_key(|(_, (begun, _))| *begun);
        for (_, (_, said)) in &mut running {
            said.end_line(draft, package);
        }
        let late = self.said.timed_out || running.iter().any(|(_, (_, said))| said.timed_out);
        (running.into_iter().map(|(test, (_, said))| (test, said)).collect(), late)
    }

    fn end_test(
        &mut self,
        draft: &mut Draft<'_>,
        package: &str,
        test: &str,
        outcome: Outcome,
        elapsed: Option<f64>,
    ) {
        let mut said = self.take(test);
        said.end_line(draft, package);
        if said.benchmarked && outcome == Outcome::Passed {
            return;
        }
        let outcome = if outcome == Outcome::Failed && said.timed_out { Outcome::TimedOut } else { outcome };
        self.failed |= outcome.is_bad();
        draft.test(said.case(
            draft.context,
            package,
            test,
            outcome,
            elapsed.and_then(|s| milliseconds(s * 1e3)),
        ));
    }
}

fn end_package(draft: &mut Draft<'_>, name: &str, mut package: Package, event: &Event<'_>) {
    package.said.end_line(draft, name);
    if let Some(percent) = package.said.coverage {
        draft.cover(name, percent);
    }
    let (running, late) = package.unfinished(draft, name);
    let failed = event.action == "fail";
    // Children first, as Go itself reports them: the first failure is the innermost.
    for (test, said) in running.into_iter().rev() {
        // Benchmarks end without an event.
        if said.benchmarked || (!failed && test.starts_with("Benchmark")) {
            continue;
        }
        let outcome = if late { Outcome::TimedOut } else { Outcome::Errored };
        package.failed = true;
        let mut case = said.case(draft.context, name, &test, outcome, None);
        if case.message.is_empty() {
            let why = if late { "was running when the time was up" } else { "did not end" };
            why.clone_into(&mut case.message);
        }
        draft.test(case);
    }
    // A package fails by itself when it cannot be started, exits or panics outside of a test. One that was not built
    // has said so by diagnostics.
    let unbuilt = event.failed_build.is_some() || package.said.unbuilt;
    if failed && !package.failed && !unbuilt {
        let outcome = if late { Outcome::TimedOut } else { Outcome::Errored };
        let elapsed = event.elapsed.and_then(|seconds| milliseconds(seconds * 1e3));
        let mut case: Case = package.said.case(draft.context, name, "(package)", outcome, elapsed);
        if case.message.is_empty() {
            "the package failed outside of its tests".clone_into(&mut case.message);
        }
        draft.test(case);
    }
}
