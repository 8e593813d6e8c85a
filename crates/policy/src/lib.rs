//! Facts about a call and rules give a decision: allow, confirm or forbid. No I/O, and no way to widen: where two
//! parties have rules, the stricter decision counts.

pub mod scope;
pub mod taint;

use contract::Kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use scope::{Right, Scope};
pub use taint::{Label, Seen};

/// What happens to a call, from the most to the least permissive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It goes ahead.
    Allow,
    /// A person must consent: by an answered question, or by applying the reviewed plan by its id.
    Confirm,
    /// It does not happen.
    Forbid,
}

/// What a rule can ask about.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The tool's wire name.
    pub tool: &'a str,
    /// The tool's toolset.
    pub toolset: &'a str,
    /// What the tool is.
    pub kind: Kind,
    /// Whether the call is to perform, rather than to rehearse.
    pub apply: bool,
    /// Whether it would run code of packages, which nobody here has read.
    pub foreign_code: bool,
    /// How a person consented, if one did: by naming a plan that was shown before, or by an answer.
    pub consent: Option<&'a str>,
}

/// One rule. Every condition that is given must hold; the first rule that holds decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Names of tools; `*` at the end stands for anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Names of toolsets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub toolsets: Vec<String>,
    /// Only calls that perform (`true`) or only calls that do not (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<bool>,
    /// Only calls that run code of packages (`true`) or only calls that do not (`false`).
    #[serde(default, rename = "foreign-code", skip_serializing_if = "Option::is_none")]
    pub foreign_code: Option<bool>,
    /// What happens.
    pub decision: Decision,
}

impl Rule {
    fn holds(&self, facts: &Facts<'_>) -> bool {
        let named = |patterns: &[String], name: &str| {
            patterns.is_empty()
                || patterns
                    .iter()
                    .any(|p| p.strip_suffix('*').map_or(p == name, |front| name.starts_with(front)))
        };
        named(&self.tools, facts.tool)
            && named(&self.toolsets, facts.toolset)
            && self.apply.is_none_or(|apply| apply == facts.apply)
            && self.foreign_code.is_none_or(|foreign| foreign == facts.foreign_code)
    }
}

/// The rules of one party, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Tried in order.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Whether a session that saw private data and words of others asks before it tells somebody outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taint: bool,
}

/// A decision and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What happens.
    pub decision: Decision,
    /// Which rule said so, for the record: `user rule 2`, `default`.
    pub because: String,
}

/// The rules of the user, who may allow, and of the project, which may only narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// From the user's own configuration.
    pub user: Rules,
    /// From the repository.
    pub project: Rules,
}

impl Policy {
    /// Whether what sessions saw counts: either party may say so, and neither may say otherwise.
    #[must_use]
    pub const fn taints(&self) -> bool {
        self.user.taint || self.project.taint
    }

    /// The stricter of what the two parties decide. Without a rule everything is allowed, since performing takes an explicit
    /// `apply` already, but for code of packages: a rule of the user allows that.
    #[must_use]
    pub fn decide(&self, facts: &Facts<'_>) -> Decided {
        let of = |rules: &Rules, whose: &str| {
            rules.rules.iter().enumerate().find(|(_, rule)| rule.holds(facts)).map_or_else(
                || Decided { decision: Decision::Allow, because: "default".into() },
                |(i, rule)| Decided { decision: rule.decision, because: format!("{whose} rule {}", i + 1) },
            )
        };
        let (mut user, project) = (of(&self.user, "user"), of(&self.project, "project"));
        if facts.foreign_code && user.because == "default" {
            user = Decided { decision: Decision::Confirm, because: "it runs code of packages".to_owned() };
        }
        let mut decided = if project.decision > user.decision { project } else { user };
        if let (Decision::Confirm, Some(how)) = (decided.decision, facts.consent) {
            decided = Decided { decision: Decision::Allow, because: format!("{}, {how}", decided.because) };
        }
        decided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts<'_> = Facts {
        tool: "tokens_build",
        toolset: "design",
        kind: Kind::Change,
        apply: true,
        foreign_code: false,
        consent: None,
    };

    fn rule(tools: &[&str], decision: Decision) -> Rules {
        let tools = tools.iter().map(|t| (*t).to_owned()).collect();
        Rules {
            rules: vec![Rule { tools, toolsets: vec![], apply: Some(true), foreign_code: None, decision }],
            ..Rules::default()
        }
    }

    #[test]
    fn a_project_narrows_and_never_widens() {
        let user = rule(&["tokens_*"], Decision::Confirm);
        let widening = Policy { user: user.clone(), project: rule(&["*"], Decision::Allow) };
        assert_eq!(widening.decide(&FACTS).decision, Decision::Confirm);
        let narrowing = Policy { user, project: rule(&["*"], Decision::Forbid) };
        assert_eq!(narrowing.decide(&FACTS).decision, Decision::Forbid);
    }

    #[test]
    fn a_reviewed_plan_is_consent_but_lifts_no_ban() {
        let facts = Facts { consent: Some("reviewed plan"), ..FACTS };
        let confirm = Policy { user: rule(&[], Decision::Confirm), project: Rules::default() };
        assert_eq!(confirm.decide(&facts).decision, Decision::Allow);
        let forbid = Policy { user: rule(&[], Decision::Forbid), project: Rules::default() };
        assert_eq!(forbid.decide(&facts).decision, Decision::Forbid);
    }

    #[test]
    fn code_of_packages_wants_consent_unless_a_rule_of_the_user_says_otherwise() {
        let facts = Facts { foreign_code: true, ..FACTS };
        let of = |decision| Rules {
            rules: vec![Rule {
                tools: vec![],
                toolsets: vec![],
                apply: None,
                foreign_code: Some(true),
                decision,
            }],
            ..Rules::default()
        };
        let nobody = Policy::default();
        assert_eq!(nobody.decide(&facts).decision, Decision::Confirm);
        assert_eq!(nobody.decide(&FACTS).decision, Decision::Allow);
        let agreed = Facts { consent: Some("the user agreed"), ..facts };
        assert_eq!(nobody.decide(&agreed).decision, Decision::Allow);
        let allowing = of(Decision::Allow);
        let by_user = Policy { user: allowing.clone(), project: Rules::default() };
        assert_eq!(by_user.decide(&facts).decision, Decision::Allow);
        let by_project = Policy { user: Rules::default(), project: allowing };
        assert_eq!(by_project.decide(&facts).decision, Decision::Confirm);
        let forbidding = of(Decision::Forbid);
        let narrowed = Policy { user: Rules::default(), project: forbidding };
        assert_eq!(narrowed.decide(&facts).decision, Decision::Forbid);
        assert_eq!(narrowed.decide(&FACTS).decision, Decision::Allow, "the rule is of nothing else");
    }

    #[test]
    fn rules_about_apply_leave_rehearsals_alone() {
        let policy = Policy { user: rule(&["tokens_build"], Decision::Forbid), project: Rules::default() };
        assert_eq!(policy.decide(&Facts { apply: false, ..FACTS }).decision, Decision::Allow);
        assert_eq!(policy.decide(&Facts { tool: "tokens_build_x", ..FACTS }).decision, Decision::Allow);
    }
}
