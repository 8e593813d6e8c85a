//! `plan://…`: rehearsed plans, with every line of their difference.

use std::collections::BTreeMap;

use contract::{Effect, Fault, Principal};

use super::{Resource, Template};
use crate::engine::Engine;

/// Most bytes of a difference.
const MAX_DIFF: usize = 64 * 1024;

pub(super) struct Plans;

impl Resource for Plans {
    fn template(&self) -> Template {
        Template {
            scheme: "plan",
            title: "Rehearsed plan",
            description: "What a rehearsed call would do, effect by effect, with the whole difference: read it to \
                          review a plan before it is applied.",
            mime: "text/markdown",
            has_parts: false,
        }
    }

    fn list(&self, engine: &Engine, owner: &Principal) -> Result<Vec<(String, String, String)>, Fault> {
        let plans = engine.state().plans(owner, super::MAX_LISTED);
        let title = |tool: &str, effects: usize| {
            format!("{tool}: {effects} {}", if effects == 1 { "effect" } else { "effects" })
        };
        Ok(plans
            .into_iter()
            .map(|(id, file)| {
                (id.to_string(), title(file.plan.tool.as_str(), file.plan.effects.len()), file.planned)
            })
            .collect())
    }

    fn read(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<String, Fault> {
        let id = id.parse().map_err(|_| super::unknown(id))?;
        let file = engine.state().plan(&id, owner)?;
        let cleaner = engine.cleaner();
        let mut text = format!(
            "# {id}\n\nBy {}, planned {}, expires {}.\n\n",
            file.plan.tool, file.planned, file.expires
        );
        for effect in &file.plan.effects {
            text.push_str(&format!("- {}\n", cleaner.text(&effect.summary())));
        }
        let Some(root) = engine.root() else { return Ok(text) };
        let mut blobs = BTreeMap::new();
        for digest in file.plan.effects.iter().flat_map(Effect::blobs) {
            blobs.insert(digest, engine.state().blob(&digest)?);
        }
        let diff = exec::diff::of(root, &file.plan.effects, &blobs, MAX_DIFF, &|t| cleaner.reviewed(t));
        let shown = cleaner.reviewed(&diff.text);
        let fence = super::fence(&shown);
        text.push_str(&format!("\n{fence}diff\n{shown}{fence}\n"));
        if diff.shown < diff.total {
            text.push_str(&format!("\n{} of {} lines shown.\n", diff.shown, diff.total));
        }
        Ok(text)
    }
}
