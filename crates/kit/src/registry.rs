//! Everything that a server offers, by name, in one deterministic order.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{Digest, Spec};

use crate::erased::Tool;
use crate::family::Family;
use crate::schema::Compiled;

/// A registered tool, with what is computed from it once.
pub struct Registered {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// Its input schema, compiled.
    pub input: Compiled,
    /// Its output schema, compiled.
    pub output: Compiled,
    /// The hash of its definition.
    pub definition: Digest,
}

impl Registered {
    /// Its public contract.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        self.tool.spec()
    }
}

/// Why families cannot be registered together: a defect of ours.
#[derive(Debug, thiserror::Error)]
pub enum BadRegistry {
    /// Two tools answer to one name.
    #[error("two tools answer to {0:?}")]
    Twice(String),
    /// A schema does not compile.
    #[error("a schema of {tool} does not compile: {why}")]
    Schema {
        /// The tool.
        tool: String,
        /// What is wrong.
        why: String,
    },
}

/// Everything that a server offers.
#[derive(Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<Registered>>,
    aliases: BTreeMap<String, String>,
}

impl Registry {
    /// The tools of `families` that `wanted` says yes to.
    pub fn new(families: &[&Family], wanted: impl Fn(&Spec) -> bool) -> Result<Self, BadRegistry> {
        let mut registry = Self::default();
        for tool in families.iter().flat_map(|family| family.tools).map(super::family::Entry::make) {
            if wanted(tool.spec()) {
                registry.add(tool)?;
            }
        }
        Ok(registry)
    }

    fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), BadRegistry> {
        let spec = tool.spec();
        let name = spec.name.to_string();
        let compile =
            |schema| Compiled::new(schema).map_err(|why| BadRegistry::Schema { tool: name.clone(), why });
        let (input, output) = (compile(&spec.input_schema)?, compile(&spec.output_schema)?);
        let definition = spec
            .definition_hash()
            .map_err(|e| BadRegistry::Schema { tool: name.clone(), why: e.to_string() })?;
        for alias in &spec.aliases {
            if self.resolve(alias).is_some() || self.aliases.insert(alias.clone(), name.clone()).is_some() {
                return Err(BadRegistry::Twice(alias.clone()));
            }
        }
        if self.aliases.contains_key(&name) {
            return Err(BadRegistry::Twice(name));
        }
        let registered = Arc::new(Registered { tool, input, output, definition });
        match self.tools.insert(name.clone(), registered) {
            Some(_) => Err(BadRegistry::Twice(name)),
            None => Ok(()),
        }
    }

    /// The tool that answers to `name`, listed or alias.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<&Arc<Registered>> {
        self.tools.get(name).or_else(|| self.tools.get(self.aliases.get(name)?))
    }

    /// The name closest to `name`, for a caller who mistyped.
    #[must_use]
    pub fn closest(&self, name: &str) -> Option<&str> {
        let scored = self.tools.keys().map(|known| (strsim::jaro_winkler(name, known), known.as_str()));
        scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
    }

    /// Every tool, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.tools.values()
    }

    /// How many tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}
