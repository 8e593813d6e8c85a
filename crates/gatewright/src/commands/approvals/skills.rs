//! Code of skills: what a person reads before it runs.

use contract::text::spelled_out;
use contract::{Digest, canonical};
use kit::approvals::SKILL;
use serde_json::Value;
use tools_knowledge::{Reviewed, review};

use crate::commands::{CommandError, runtime};
use crate::compose::{self, Offer};
use crate::roots::Asked;
use crate::term::{BOLD, DIM, NOTE};

/// A skill as it is now.
pub struct Skill(pub Reviewed);

impl Skill {
    /// The skill of an id, with a library in front or not; `skill:` is left out.
    pub fn look(asked: &Asked, id: &str) -> Result<Self, CommandError> {
        let house = compose::house(asked, &Offer::default())?;
        let desk = house.first().desk("execute_skill")?;
        Ok(Self(runtime()?.block_on(review(&desk, id))?))
    }

    /// What is approved, in short.
    pub fn hash(&self) -> Digest {
        Digest::of(&canonical::of(&self.0.identity))
    }

    /// As it is named beside tools.
    pub fn named(&self) -> String {
        format!("{SKILL}{}", self.0.name)
    }

    /// Shows all of it: what it asks for, and its code.
    pub fn print(&self) {
        say!("{BOLD}{}{BOLD:#} {DIM}{}{DIM:#}", self.named(), self.hash());
        let of_it = |name: &str| {
            let value = self.0.identity.get(name);
            let is_empty = |value: &&Value| {
                value.as_object().is_some_and(serde_json::Map::is_empty)
                    || value.as_array().is_some_and(Vec::is_empty)
            };
            value.filter(|value| !is_empty(value)).map(|value| spelled_out(&value.to_string()))
        };
        match of_it("asks") {
            Some(asks) => say!("{NOTE}It asks for{NOTE:#} {asks}"),
            None => say!("It asks for nothing but computing."),
        }
        if let Some(packages) = of_it("packages") {
            say!("{NOTE}It imports{NOTE:#} {packages}");
        }
        for (file, text) in &self.0.files {
            say!("\n{BOLD}{}{BOLD:#}", spelled_out(file));
            text.lines().for_each(|line| say!("    {}", spelled_out(line)));
        }
    }
}
