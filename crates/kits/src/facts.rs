//! What a kit is made of. Every path is relative to the kit's folder, `/` between components, and names a file that is handed over
//! with the facts.

use serde::Serialize;

/// Everything that a kit says.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kit {
    /// The feature, as it was named.
    pub feature: String,
    /// The ticket.
    pub ticket: String,
    /// The project: its manifest's name, or its folder's.
    pub project: String,
    /// What the change is compared with; `None` outside a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Revision>,
    /// The commit that it was made on; `None` outside a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Revision>,
    /// Whether files differ from `head`.
    pub has_changes: bool,
    /// What was judged, the worst first.
    pub verdicts: Vec<Verdict>,
    /// Parts that are missing, and why.
    pub missing: Vec<Missing>,
    /// What changed of the tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gallery: Option<Gallery>,
    /// What is new, from the commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Notes>,
}

/// A commit.
#[derive(Debug, Clone, Serialize)]
pub struct Revision {
    /// As people call it: a branch, a tag, or the short id.
    pub name: String,
    /// The whole id.
    pub commit: String,
}

/// How something was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// It must not go on like this.
    Fail,
    /// Somebody should look.
    Warn,
    /// Nothing to say against it.
    Pass,
}

/// One thing that was judged.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// What: `Tokens`, `Contrast`, `Accessibility`, `Pictures`, `Notes`.
    pub name: String,
    /// How.
    pub verdict: Judgement,
    /// Why, in a sentence.
    pub detail: String,
}

/// A part that is missing.
#[derive(Debug, Clone, Serialize)]
pub struct Missing {
    /// `tokens`, `gallery`, `pictures`, `accessibility`, `notes`.
    pub part: String,
    /// In a sentence.
    pub why: String,
}

/// What changed of the tokens.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// What was compiled.
    pub source: String,
    /// The bump that the changes require: `major`, `minor`, `patch` or `none`.
    pub bump: String,
    /// How many tokens there are.
    pub count: u64,
    /// The modes, the default first (it is called `default`).
    pub modes: Vec<String>,
    /// Those that are new.
    pub added: Vec<TokenRow>,
    /// Those whose value or type is another.
    pub changed: Vec<TokenRow>,
    /// Those that have another name.
    pub renamed: Vec<TokenRow>,
    /// Those that are gone.
    pub removed: Vec<TokenRow>,
    /// The pairs of colours that the tokens declare.
    pub contrast: Vec<ContrastRow>,
}

/// A token that is not as it was.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenRow {
    /// Its name, with dots.
    pub id: String,
    /// What it was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was_called: Option<String>,
    /// Its type, as DTCG calls it.
    pub kind: String,
    /// Its values by mode; only modes in which it changed.
    pub values: Vec<ValueRow>,
    /// Files of the repository that use it: `path:line`.
    pub used_in: Vec<String>,
}

/// A token's value in a mode.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValueRow {
    /// The mode.
    pub mode: String,
    /// Before, as CSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// After, as CSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// For colours: how far apart they are (ΔE OK × 100).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
}

/// Two colours on each other.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContrastRow {
    /// The token in front.
    pub foreground: String,
    /// The token behind.
    pub background: String,
    /// The mode.
    pub mode: String,
    /// Their colours as CSS (`#rrggbb` or a function).
    pub colors: (String, String),
    /// The ratio by WCAG 2, from 1 to 21.
    pub ratio: f64,
    /// What it was at the base, when it was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// What is asked of it: 4.5 or 3.
    pub required: f64,
}

/// The components.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gallery {
    /// Where they come from: `storybook` or `examples`.
    pub origin: String,
    /// The project's own Storybook in the kit: the path of its `index.html`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storybook: Option<String>,
    /// One by one.
    pub components: Vec<Component>,
}

/// A component.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// As people call it.
    pub name: String,
    /// How it is shown.
    pub examples: Vec<Example>,
}

/// A component as it is shown.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Example {
    /// As people call it.
    pub title: String,
    /// Where it is in the repository: `path` or `story:ID`.
    pub source: String,
    /// The example itself in the kit, to be opened: a file, or a file with a query (`storybook/iframe.html?id=…`), since all
    /// stories of a Storybook are one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// How it looks, by colour scheme.
    pub pictures: Vec<Pictures>,
    /// What is wrong with it for some people. `None`: nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// How many things could not be decided.
    pub undecided: u64,
}

/// How an example looks in a colour scheme.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pictures {
    /// `light` or `dark`.
    pub scheme: String,
    /// At the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Picture>,
    /// Now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Picture>,
    /// What differs, painted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Picture>,
    /// How many pixels differ; 0 when it looks the same.
    pub pixels: u64,
    /// Their share, from 0 to 1.
    pub share: f64,
    /// Whether the base did not have it. Where it is not so and there is no picture of before, nobody could compare.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
}

/// A picture of the kit.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Picture {
    /// The PNG.
    pub path: String,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// What is wrong with an example for some people.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule, as axe calls it.
    pub rule: String,
    /// `minor`, `moderate`, `serious` or `critical`.
    pub impact: String,
    /// What it asks.
    pub help: String,
    /// Where it is explained (shown as a link; nothing is loaded).
    pub help_url: String,
    /// Selectors of the elements.
    pub elements: Vec<String>,
    /// Whether the base had it too. `None`: nobody looked there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_old: Option<bool>,
}

/// What is new, from the commits.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Notes {
    /// In the order in which people read them: breaking changes, features, fixes, the rest.
    pub sections: Vec<Section>,
}

/// Commits of a kind.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Section {
    /// As people call it.
    pub title: String,
    /// The commits, the newest first.
    pub entries: Vec<Note>,
}

/// A commit.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Note {
    /// What it is about, when it says so: `button` of `feat(button): …`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// What it does.
    pub text: String,
    /// Its short id.
    pub commit: String,
    /// Whether it breaks something for those who use the project.
    pub breaking: bool,
}
