//! How much a finding counts, and which rules there are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a rule's findings count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// They are not reported.
    Off,
    /// Worth changing.
    Warning,
    /// To be changed.
    Error,
}

/// How the names of groups and tokens are to be spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// `brand-primary`.
    #[default]
    Kebab,
    /// `brandPrimary`.
    Camel,
    /// `brand_primary`.
    Snake,
    /// As most of the source's names of several words are.
    Consistent,
    /// In any way.
    Any,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its stable name.
    pub code: &'static str,
    /// What its findings count for where nobody says otherwise.
    pub default: Level,
}

const fn warns(code: &'static str) -> Rule {
    Rule { code, default: Level::Warning }
}

/// Every rule: the linter's own first, then what the compiler warns of. Its errors are findings too, and always errors.
pub const RULES: &[Rule] = &[
    warns("alias-depth"),
    warns("deprecated-use"),
    warns("duplicate-value"),
    Rule { code: "missing-description", default: Level::Off },
    warns("missing-type"),
    warns("mode-missing"),
    warns("naming"),
    warns("unused"),
    warns("color-hex"),
    warns("contrast"),
    warns("contrast-pair"),
    warns("dotted-name"),
    warns("extra-member"),
    warns("group-over-token"),
    warns("legacy-type"),
    warns("legacy-value"),
    warns("missing-member"),
    warns("mode-only"),
    warns("no-value"),
    warns("redefined"),
    warns("resolver-contexts"),
    warns("shadow-layers"),
    warns("stop-position"),
    warns("studio-modify"),
    warns("token-over-group"),
    warns("unit"),
    warns("unknown-property"),
];

/// What the linter calls something that the compiler has another word for.
pub(super) fn renamed(code: &'static str) -> &'static str {
    match code {
        "no-type" => "missing-type",
        "unused-primitive" => "unused",
        code => code,
    }
}

/// A name that no rule has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code:?} is no rule{}", hint.map_or_else(String::new, |hint| format!("; did you mean {hint:?}?")))]
pub struct UnknownRule {
    /// The name.
    pub code: String,
    /// The rule whose name is most like it, where one is.
    pub hint: Option<&'static str>,
}

/// The level of every rule.
#[derive(Debug, Clone, Default)]
pub struct Levels(BTreeMap<&'static str, Level>);

impl Levels {
    /// The defaults with `chosen` over them, later ones over earlier ones. The compiler's own words for two of the rules are
    /// understood.
    pub fn new<'c>(
        chosen: impl IntoIterator<Item = &'c BTreeMap<String, Level>>,
    ) -> Result<Self, UnknownRule> {
        let mut levels = BTreeMap::new();
        for (code, level) in chosen.into_iter().flatten() {
            let code = match code.as_str() {
                "unused-primitive" => "unused",
                "no-type" => "missing-type",
                code => code,
            };
            match RULES.iter().find(|rule| rule.code == code) {
                Some(rule) => levels.insert(rule.code, *level),
                None => {
                    let scored = RULES.iter().map(|rule| (strsim::jaro_winkler(code, rule.code), rule.code));
                    let close = scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.8);
                    return Err(UnknownRule { code: code.to_owned(), hint: close.map(|(_, code)| code) });
                }
            };
        }
        Ok(Self(levels))
    }

    /// The level of a rule; a warning, where there is no such rule.
    pub(super) fn of(&self, code: &str) -> Level {
        let default = || RULES.iter().find(|rule| rule.code == code).map(|rule| rule.default);
        self.0.get(code).copied().or_else(default).unwrap_or(Level::Warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_levels_win_and_unknown_names_are_refused_with_a_hint() {
        let map = |all: &[(&str, Level)]| all.iter().map(|(c, l)| ((*c).to_owned(), *l)).collect();
        let project: BTreeMap<String, Level> = map(&[("naming", Level::Off), ("unused", Level::Error)]);
        let call = map(&[("naming", Level::Error), ("no-type", Level::Off)]);
        let levels = Levels::new([&project, &call]).unwrap();
        assert_eq!(
            ["naming", "unused", "missing-type", "missing-description", "contrast"].map(|c| levels.of(c)),
            [Level::Error, Level::Error, Level::Off, Level::Off, Level::Warning]
        );
        let wrong = Levels::new([&map(&[("alias-dept", Level::Off)])]).unwrap_err();
        assert_eq!(wrong.to_string(), "\"alias-dept\" is no rule; did you mean \"alias-depth\"?");
        assert_eq!(
            Levels::new([&map(&[("xyz", Level::Off)])]).unwrap_err().to_string(),
            "\"xyz\" is no rule"
        );
    }

    #[test]
    fn no_rule_stands_twice() {
        let codes: std::collections::BTreeSet<_> = RULES.iter().map(|rule| rule.code).collect();
        assert_eq!(codes.len(), RULES.len());
    }
}
