//! What is worked on.
//!
//! Lists the ventures that are configured, with their repositories, and where each is checked out on this machine. Where none is
//! configured, this repository is one.

use contract::text::counted;
use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::here::{self, Here};
use crate::slug;
use crate::workplace::Checkout;
use kit::markdown::{code, text};

/// The arguments: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// A venture.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Venture {
    /// Its code.
    pub code: String,
    /// Its name.
    pub name: String,
    /// Whose repositories belong to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organisation: Option<String>,
    /// Repositories that are named.
    pub repositories: Vec<String>,
    /// What it has.
    pub capabilities: Vec<String>,
    /// Whether one of its repositories is here.
    pub checked_out: bool,
    /// Where.
    pub checkouts: Vec<Checkout>,
}

/// Where the list is from.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// `[ventures]` of the user's configuration.
    Configuration,
    /// The context's, as its server is configured.
    Context,
    /// None is configured.
    ThisRepository,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The ventures.
    ventures: Vec<Venture>,
    /// Where the list is from.
    from: From,
    /// Folders that were looked through.
    looked_in: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Ventures;

impl Define for Ventures {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "ventures";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("ventures.rs");
    const NEEDS_ROOT: bool = false;
    const LIST: Option<&'static str> = Some("ventures");

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Read for Ventures {
    async fn read(&self, _: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let workplace = here.workplace.clone();
        let checkouts = desk.blocking(move |_| Ok(workplace.checkouts())).await?;
        let ventures = known(&here, &checkouts.found);
        let from = match (here.workplace.ventures().is_empty(), here.workplace.has_own_ventures()) {
            (true, _) => From::ThisRepository,
            (false, true) => From::Configuration,
            (false, false) => From::Context,
        };
        let mut message = match from {
            From::Configuration | From::Context => {
                format!("{}.\n", counted(ventures.len() as u64, "venture"))
            }
            From::ThisRepository => "No ventures are configured: this repository is one.\n".to_owned(),
        };
        for venture in &ventures {
            let places: Vec<String> =
                venture.checkouts.iter().map(|checkout| code(&checkout.place)).collect();
            let places =
                if places.is_empty() { "not checked out here".to_owned() } else { places.join(", ") };
            message.push_str(&format!("- **{}** ({}): {places}\n", text(&venture.name), code(&venture.code)));
        }
        Ok(Answer::new(message, Output { ventures, from, looked_in: checkouts.looked_in }))
    }
}

/// All ventures, with their checkouts.
pub(crate) fn known(here: &Here, found: &[Checkout]) -> Vec<Venture> {
    let configured = here.workplace.ventures();
    let of = |code: &str| -> Vec<Checkout> {
        let belongs =
            |repository: &str| here::venture_of(repository, &configured).is_some_and(|v| v.code == code);
        found.iter().filter(|checkout| belongs(&checkout.repository)).cloned().collect()
    };
    if configured.is_empty() {
        let (Some(venture), Some(repository)) = (&here.venture, &here.repository) else { return Vec::new() };
        let checkouts: Vec<Checkout> =
            found.iter().filter(|checkout| checkout.repository == repository.slug).cloned().collect();
        return vec![Venture {
            code: venture.code.clone(),
            name: venture.name.clone(),
            organisation: None,
            repositories: vec![repository.slug.clone()],
            capabilities: Vec::new(),
            checked_out: true,
            checkouts,
        }];
    }
    let venture = |(code, entry): (&String, &crate::settings::VentureEntry)| {
        let checkouts = of(code);
        Venture {
            code: code.clone(),
            name: here::called(code, entry),
            organisation: entry.organisation.as_deref().map(slug::meant),
            repositories: entry.repositories.iter().map(|own| slug::meant(own)).collect(),
            capabilities: entry.capabilities.clone(),
            checked_out: !checkouts.is_empty(),
            checkouts,
        }
    };
    configured.iter().map(venture).collect()
}
