use gatewright_failures::Severity;

use crate::fixture::{all, analyzer, ids};

/// Looked for in sources only.
const OF_SOURCES: &str = "perf-nested-loops";

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap()
}

#[test]
fn every_pattern_matches_the_outputs_that_it_must_and_no_near_miss() {
    let mut wrong = Vec::new();
    for known in analyzer().knowledge(None).patterns {
        if known.id == OF_SOURCES {
            continue;
        }
        let (mut must, mut must_not) = (0, 0);
        for captured in all(&known.id) {
            let analysis = captured.analyze();
            let found = ids(&analysis).contains(&known.id.as_str());
            if file_name(&captured.name).starts_with("match-") {
                must += 1;
                if !found {
                    wrong.push(format!("{} is not recognised: {:?}", captured.name, ids(&analysis)));
                }
                if known.severity > analysis.severity {
                    wrong.push(format!("{} is {:?}", captured.name, analysis.severity));
                }
            } else {
                assert!(file_name(&captured.name).starts_with("near-"), "{}", captured.name);
                must_not += 1;
                if found {
                    wrong
                        .push(format!("{} is taken for {}: {:?}", captured.name, known.id, analysis.matches));
                }
            }
        }
        if must == 0 || must_not == 0 {
            wrong.push(format!("{}: {must} that must match, {must_not} near misses", known.id));
        }
    }
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
}

#[test]
fn a_failure_of_one_language_is_not_taken_for_one_of_another() {
    let language = |id: &str| id.split('-').next().unwrap().to_owned();
    let languages = ["go", "js", "python", "rust", "java", "cpp"];
    let mut wrong = Vec::new();
    for known in analyzer().knowledge(None).patterns {
        let own = language(&known.id);
        if !languages.contains(&own.as_str()) {
            continue;
        }
        for captured in all(&known.id).iter().filter(|c| file_name(&c.name).starts_with("match-")) {
            for id in ids(&captured.analyze()) {
                if languages.contains(&language(id).as_str()) && language(id) != own {
                    wrong.push(format!("{} is taken for {id}", captured.name));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
}

#[test]
fn outputs_of_successful_runs_match_nothing_of_high_severity() {
    let captured = all("success");
    assert!(captured.len() > 30);
    let mut wrong = Vec::new();
    for run in captured {
        let analysis = run.analyze();
        let high = analysis.findings.iter().filter(|finding| finding.severity == Severity::High);
        wrong.extend(
            high.map(|finding| format!("{} matches {}: {:?}", run.name, finding.pattern, analysis.matches)),
        );
    }
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
}
