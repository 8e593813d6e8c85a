//! A question with choices for the caller's user. What is chosen becomes an argument of the same call, made again: nothing is remembered
//! between the two.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Most that is offered in one question.
pub const MOST: usize = 50;

/// A question with choices. An answer that has one is whole without it: who cannot be asked reads there what can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What the user reads: plain text, without secrets.
    pub text: String,
    /// What is offered: the first [`MOST`] are.
    pub options: Vec<Offered>,
    /// The argument that a list of the chosen names becomes.
    pub argument: String,
    /// The argument that asked for the question, which the call that follows leaves out.
    pub instead_of: String,
    /// What the call that follows says besides.
    #[serde(default)]
    pub besides: Map<String, Value>,
}

/// One thing that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// What the argument takes.
    pub name: String,
    /// What the user reads.
    pub title: String,
    /// Whether it is chosen unless the user says otherwise.
    pub chosen: bool,
}

/// What a user chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    argument: String,
    instead_of: String,
    besides: Map<String, Value>,
    names: Vec<String>,
}

impl Choice {
    /// What is offered of it.
    pub fn offered(&self) -> impl Iterator<Item = &Offered> {
        self.options.iter().take(MOST)
    }

    /// The choice of those that `is_chosen`: only what is offered can be. Nothing where none is.
    #[must_use]
    pub fn chosen(&self, is_chosen: impl Fn(&Offered) -> bool) -> Option<Chosen> {
        let names: Vec<String> =
            self.offered().filter(|option| is_chosen(option)).map(|option| option.name.clone()).collect();
        let Self { argument, instead_of, besides, .. } = self.clone();
        (!names.is_empty()).then_some(Chosen { argument, instead_of, besides, names })
    }
}

impl Chosen {
    /// The arguments of the call that follows.
    #[must_use]
    pub fn applied_to(&self, mut arguments: Map<String, Value>) -> Map<String, Value> {
        arguments.remove(&self.instead_of);
        arguments.extend(self.besides.clone());
        arguments.insert(self.argument.clone(), json!(self.names));
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice() -> Choice {
        let offered =
            |name: &str| Offered { name: name.to_owned(), title: name.to_uppercase(), chosen: false };
        Choice {
            text: "Which?".to_owned(),
            options: vec![offered("a"), offered("b")],
            argument: "which".to_owned(),
            instead_of: "interactive".to_owned(),
            besides: json!({ "mode": "move" }).as_object().unwrap().clone(),
        }
    }

    #[test]
    fn what_is_chosen_takes_the_place_of_the_argument_that_asked() {
        let chosen = choice().chosen(|option| option.name == "b").unwrap();
        let arguments = json!({ "interactive": true, "deep": 2, "mode": "look", "which": ["a"] });
        let applied = chosen.applied_to(arguments.as_object().unwrap().clone());
        assert_eq!(Value::Object(applied), json!({ "deep": 2, "mode": "move", "which": ["b"] }));
    }

    #[test]
    fn nothing_chosen_is_no_choice() {
        assert_eq!(choice().chosen(|_| false), None);
    }
}
