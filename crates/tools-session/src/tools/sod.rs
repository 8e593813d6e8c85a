//! Begin the day.
//!
//! One call: begins or resumes the session and brings what was handed over, held against git as it is now, others at work, the
//! plan of the week, the documents and the notes that matter. What is late is left out and named. Call it first, and `handoff`
//! at the end.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Record, RecordDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store_api::Context;
use store_api::id::SessionId;
use store_api::session::Begin;

use crate::here::{Here, Venture as Known};
use crate::settings::DocumentsSection;
use crate::sod::output::{DayStatus, Output};
use crate::sod::told::told;
use crate::sod::{budget, compose, sources};
use crate::tools::ventures;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A venture's code; without, the one of this repository.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    venture: Option<String>,
    /// What tells two sessions of one agent here apart.
    #[serde(default)]
    #[schemars(length(max = 200))]
    track: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Sod;

impl Define for Sod {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "sod";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("sod.rs");
    const NEEDS_ROOT: bool = false;
    // 50,000 characters.
    const BUDGET: Option<u64> = Some(13_750);

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "venture": "acme", "track": "refactoring" })]
    }
}

impl Record for Sod {
    type Store = dyn Context;

    async fn record(&self, input: Input, desk: RecordDesk<dyn Context>) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let venture = match begins(&desk, &here, input.venture.as_deref()).await? {
            Ok(venture) => venture,
            Err(elsewhere) => {
                let message = compose::page(&elsewhere, &[]);
                let mut answer = Answer::new(message, *elsewhere);
                answer.success = false;
                return Ok(answer);
            }
        };
        let begin = Begin {
            id: SessionId::new(here.workplace.now(), here.workplace.random()?),
            key: here.key(&desk, &venture, input.track.as_deref())?,
            speaker: here.speaker(&desk)?,
            standing: here.repository()?.standing.clone(),
            by: desk.principal().label(),
        };
        let day = sources::gather(&desk, &here, &**desk.store(), begin).await?;
        if let Ok(begun) = &day.begun {
            let (who, root) = here.place(&desk, input.track.as_deref())?;
            here.workplace.begun(&who, &root, &begun.session.id);
        }
        let max_age = i64::from(desk.settings::<DocumentsSection>()?.max_age_days);
        let (mut output, mut notes) = told(day, &venture, here.workplace.now(), max_age);
        output.context = here.workplace.link().await;
        if let Some(link) = &output.context {
            output.warnings.extend(link.warnings());
        }
        if here.workplace.build().replaced {
            output
                .warnings
                .push("the program on disk was replaced: exit and relaunch the client to use it".to_owned());
        }
        let message = budget::fit(&mut output, &mut notes, compose::page)?;
        let mut answer = Answer::new(message, output);
        answer.success = answer.output.day == DayStatus::Valid;
        Ok(answer)
    }
}

/// The venture in which the day begins here; or why it does not.
async fn begins(
    desk: &RecordDesk<dyn Context>,
    here: &Here,
    asked: Option<&str>,
) -> Result<Result<Known, Box<Output>>, Fault> {
    match (asked, &here.venture) {
        (None, Some(venture)) => return Ok(Ok(venture.clone())),
        (Some(code), Some(venture)) if venture.code == code => return Ok(Ok(venture.clone())),
        _ => {}
    }
    let workplace = here.workplace.clone();
    let found = desk.blocking(move |_| Ok(workplace.checkouts().found)).await?;
    let known = ventures::known(here, &found);
    let Some(code) = asked else {
        let mut output = Output::of(DayStatus::SelectVenture);
        output.next = Some(if here.repository.is_some() {
            "this repository belongs to no venture that is configured: add it to `[ventures]`, or go to one of these.".to_owned()
        } else if known.is_empty() {
            "start the server in a git repository, or name one with `--root PATH`.".to_owned()
        } else {
            "call `sod` with the code of one of these as `venture`.".to_owned()
        });
        output.ventures = Some(known);
        return Ok(Err(Box::new(output)));
    };
    let Some(venture) = known.iter().find(|venture| venture.code == code) else {
        let codes: Vec<&str> = known.iter().map(|venture| venture.code.as_str()).collect();
        let fault =
            Fault::new(contract::Code::NotFound, format!("venture: there is none of the code {code:?}"));
        return Err(if codes.is_empty() {
            fault.suggest("None is configured: `[ventures]` of your configuration names them.")
        } else {
            fault.suggest(format!("The codes are {}.", codes.join(", ")))
        });
    };
    let mut output =
        Output::of(if venture.checked_out { DayStatus::NeedsNavigation } else { DayStatus::NeedsClone });
    output.next =
        Some(match (venture.checkouts.first(), venture.repositories.first(), &venture.organisation) {
            (Some(checkout), _, _) => {
                format!("work in `{}`: start the server there, or offer it as a root.", checkout.place)
            }
            (None, Some(repository), _) => {
                format!("`git clone https://{repository}.git`, then start the server there.")
            }
            (None, None, Some(owner)) => {
                format!("clone a repository of https://{owner}, then start the server there.")
            }
            (None, None, None) => "no repository is configured for it.".to_owned(),
        });
    output.ventures = Some(vec![venture.clone()]);
    Ok(Err(Box::new(output)))
}
