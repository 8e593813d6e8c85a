//! What is remembered of runs: which failures are new, which are known, which come and go.

use contract::text::counted;
use exec::history::HistoryError;
use exec::run::Ran;
use kit::{Answer, ReadDesk, RunDesk};
use reports::{Outcome, Parsed, Report};
use schemars::JsonSchema;
use serde::Serialize;
use store_api::{FailureKind, FailureSeen, Failures, RunOutcome, TestSeen, Timestamp, Verdict, Verdicts};

use crate::findings::Findings;
use crate::{git, running};

/// How a failure stands to those before it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Judged {
    /// The failure's id.
    pub id: String,
    /// How it stands to those before it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Remembers a run of `tool`, and says how its failures stand to those before. What cannot be remembered does not hold the
/// result up: it is said in the log.
pub(crate) async fn remember(desk: &RunDesk, tool: &str, ran: &Ran, report: &Report) -> Option<Verdicts> {
    let store = desk.service::<dyn Failures>()?;
    let outcome = outcome(desk, tool, ran, report).await;
    match store.record(outcome).await {
        Ok(verdicts) => Some(verdicts),
        Err(error) => {
            tracing::warn!(%error, "a run could not be remembered");
            None
        }
    }
}

async fn outcome(desk: &RunDesk, tool: &str, ran: &Ran, report: &Report) -> RunOutcome {
    let (commit, dirty, branch) = standing(desk).await;
    let bad = |outcome: Outcome| outcome.is_bad();
    let seen = report.tests.iter().map(|test| TestSeen {
        id: test.id.as_str().to_owned(),
        name: desk.cleaned(&test.name),
        suite: test.suite.clone(),
        outcome: match test.outcome {
            Outcome::Passed => store_api::Outcome::Passed,
            Outcome::Skipped => store_api::Outcome::Skipped,
            outcome if bad(outcome) => store_api::Outcome::Failed,
            _ => store_api::Outcome::Skipped,
        },
        duration: test.duration_ms,
    });
    let tests = report.failures().map(|test| FailureSeen {
        id: test.id.as_str().to_owned(),
        kind: FailureKind::Test,
        name: desk.cleaned(&test.name),
        suite: test.suite.clone(),
        file: test.file.clone(),
        line: test.line,
        message: desk.cleaned(test.message.as_deref().unwrap_or_default()),
    });
    let errors = report.diagnostics.iter().filter(|found| found.severity == reports::Level::Error);
    let errors = errors.map(|found| FailureSeen {
        id: found.id.as_str().to_owned(),
        kind: FailureKind::Diagnostic,
        name: found.rule.clone().unwrap_or_else(|| found.source.clone()),
        suite: None,
        file: found.file.clone(),
        line: found.line,
        message: desk.cleaned(&found.message),
    });
    // The same words in another folder run other things.
    let line = desk.cleaned(&ran.line.join(" "));
    let scope = match running::directory(desk.asked().directory.as_deref()) {
        Ok(Some(dir)) => format!("{dir}: {line}"),
        _ => line,
    };
    let outcome = RunOutcome {
        root: desk.view().root().id().to_owned(),
        tool: tool.to_owned(),
        scope,
        commit,
        dirty,
        branch,
        at: Timestamp::from(jiff::Timestamp::now()),
        transcript: None,
        ran: seen.collect(),
        failures: tests.chain(errors).collect(),
        complete: report.parsed == Parsed::Fully && report.left_out() == 0 && ran.code().is_some(),
    };
    outcome.bounded()
}

/// The commit, whether files differ from it, and the branch; nothing of a folder that git does not keep.
async fn standing(desk: &ReadDesk) -> (Option<String>, bool, Option<String>) {
    let read = git::read(desk, |repository, limits, cancel| match repository.status(limits, cancel) {
        Ok(status) => Ok(Some((status.head, !status.clean, status.branch))),
        Err(HistoryError::NotARepository) => Ok(None),
        Err(error) => Err(error),
    });
    read.await.ok().flatten().unwrap_or((None, true, None))
}

/// The answer with what is known of its failures.
pub(crate) fn told(mut answer: Answer<Findings>, verdicts: Option<Verdicts>) -> Answer<Findings> {
    let Some(verdicts) = verdicts else { return answer };
    let of =
        |is: &dyn Fn(&Verdict) -> bool| verdicts.failures.iter().filter(|judged| is(&judged.verdict)).count();
    let kinds = [
        (of(&|v| matches!(v, Verdict::New)), "new"),
        (of(&|v| matches!(v, Verdict::Known { .. })), "known"),
        (of(&|v| matches!(v, Verdict::Flaky { .. })), "flaky"),
        (of(&|v| matches!(v, Verdict::FixedBefore { .. })), "fixed before and back"),
    ];
    let said: Vec<String> =
        kinds.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if !said.is_empty() {
        answer.message.push_str(&format!("\n\nOf the failures: {}.", said.join(", ")));
    }
    if !verdicts.recovered.is_empty() {
        let many = counted(verdicts.recovered.len() as u64, "failure");
        answer.message.push_str(&format!(" {many} of before held this time."));
    }
    answer.output.recovered = verdicts.recovered.iter().map(|recovery| recovery.name.clone()).collect();
    answer.output.history = verdicts
        .failures
        .into_iter()
        .take(40)
        .map(|judged| Judged { id: judged.id, verdict: judged.verdict })
        .collect();
    answer
}
