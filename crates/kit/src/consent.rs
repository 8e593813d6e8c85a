//! Where policy wants a person's consent: the question, what the person said, and what a caller hears who cannot ask.

use contract::{Code, Digest, Fault, PlanId};
use serde_json::Value;

use crate::shape;

/// Most effects that a question names.
const SHOWN: usize = 20;

/// Longest arguments that a question shows, in bytes.
const MAX_ARGUMENTS: usize = 1000;

/// What the caller's user said, where the front door could ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Nobody was asked yet. Where the caller's client `can_ask`, naming a plan is no consent.
    Unasked {
        /// Whether the front door can ask the user.
        can_ask: bool,
    },
    /// The user agreed: to this plan, or to a call that has none.
    Given(Option<PlanId>),
    /// The user said no to this plan, or to a call that has none.
    Refused(Option<PlanId>),
    /// The user was asked about this plan and gave no answer: nobody sits there, or the question was closed.
    Unanswered(Option<PlanId>),
}

impl Default for Consent {
    fn default() -> Self {
        Self::Unasked { can_ask: false }
    }
}

/// A question for the caller's user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The plan that waits for the answer; none where nothing can rehearse the tool.
    pub plan: Option<PlanId>,
    /// What the user reads: plain text, without secrets.
    pub text: String,
}

/// What a caller hears whose user cannot be asked, where no plan that is named is consent.
pub(crate) fn for_a_person(tool: &str) -> Fault {
    let message = format!("{tool}: only a person applies this: it sets up what agents may do");
    Fault::new(Code::ConfirmationRequired, message)
        .suggest("Ask the user to run `gatewright init` in the repository: it shows the same plan and asks.")
}

impl Question {
    /// Whether to apply a plan of `tool` with these effects.
    pub(crate) fn about_plan(tool: &str, plan: Option<PlanId>, effects: &[String]) -> Self {
        let mut text = format!("Apply what {tool} rehearsed?\n");
        for effect in effects.iter().take(SHOWN) {
            text.push_str(&format!("- {effect}\n"));
        }
        if effects.len() > SHOWN {
            text.push_str(&format!("… and {} more\n", effects.len() - SHOWN));
        }
        if let Some(plan) = &plan {
            text.push_str(&format!("`gatewright plan show {plan}` shows every line.\n"));
        }
        Self { plan, text }
    }

    /// Whether to call `tool` with `arguments`, already without secrets. `digest` is that of the arguments as they were: an
    /// answer is for these and no others.
    pub(crate) fn about_call(tool: &str, arguments: &Value, digest: &Digest) -> Self {
        let arguments = shape::bounded(&arguments.to_string(), MAX_ARGUMENTS);
        let text = format!(
            "Call {tool}? It cannot be rehearsed and may not be undone.\nArguments: {arguments}\nTheir hash: {}\n",
            digest.short(16)
        );
        Self { plan: None, text }
    }

    /// Whether to call `tool` with `arguments`, already without secrets, which has code of packages run at once.
    pub(crate) fn about_code(tool: &str, arguments: &Value) -> Self {
        let arguments = shape::bounded(&arguments.to_string(), MAX_ARGUMENTS);
        let text = format!(
            "Call {tool}? Code of packages runs before there is a plan: confined, and nobody here has read it.\nArguments: {arguments}\n"
        );
        Self { plan: None, text }
    }

    /// The same question with why it is asked.
    pub(crate) fn because(mut self, why: &str) -> Self {
        self.text = format!("{}Why: {why}\n", self.text);
        self
    }

    /// What the caller hears whose user cannot be asked.
    pub(crate) fn unanswered(&self, tool: &str) -> Fault {
        let Some(id) = &self.plan else {
            let message =
                format!("{tool}: policy wants a person's consent, and nothing can rehearse this call");
            return Fault::new(Code::ConfirmationRequired, message)
                .suggest(format!(
                "Ask the user: they can run `gatewright call {tool}` with these arguments themselves, or allow it in their own configuration (`[policy] rules`)."
            ));
        };
        let message = format!("{tool}: policy wants the plan reviewed before it is applied");
        Fault::new(Code::ConfirmationRequired, message).suggest(format!(
            "Show the user the plan, then call again with \"apply\": true, \"plan\": \"{id}\"."
        ))
    }
}

/// What the caller hears whose user said no.
pub(crate) fn refused(tool: &str) -> Fault {
    Fault::new(Code::Forbidden, format!("{tool}: the user was asked and said no"))
        .suggest("Do not try again; ask the user what they want instead.")
}
