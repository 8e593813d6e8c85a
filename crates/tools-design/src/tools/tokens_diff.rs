//! Differences of design tokens.
//!
//! Compares the tokens of two revisions, or of a revision with the work tree: what is added, removed, changed and
//! renamed, in every mode, who uses it, and which release it asks for. Use it before a release or a review; without
//! revisions it shows what this branch changes.

use std::sync::atomic::AtomicBool;

use contract::text::counted;
use contract::{Code, Fault, Toolset};
use design_tokens::diff::{Aspect, Bump, ChangeKind, Difference, TokenChange};
use design_tokens::{Compiled, Options};
use exec::history::Limits;
use kit::desk::unread;
use kit::{Answer, Define, Doc, Read, ReadDesk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::consumers::{Place, Searched, Uses, search};
use crate::tokens::{self, Committed, TokensSection};

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Token file, folder, glob or resolver document, relative.
    #[schemars(length(min = 1))]
    source: String,
    /// Revision before; else where this branch began.
    #[serde(default)]
    from: Option<String>,
    /// Revision after; else the work tree.
    #[serde(default)]
    to: Option<String>,
    /// Whether to look for who uses them now.
    #[serde(default = "yes")]
    consumers: bool,
}

const fn yes() -> bool {
    true
}

/// What became of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It is gone.
    Removed,
    /// It has another name.
    Renamed,
    /// It is not what it was.
    Changed,
    /// It is new.
    Added,
}

/// What of a token is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Its type.
    Type,
    /// Its value.
    Value,
    /// The token that it refers to.
    Reference,
    /// Whether it is deprecated.
    Deprecated,
}

/// The release that the change asks for, by Semantic Versioning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Release {
    /// None: nothing differs.
    None,
    /// Values differ.
    Patch,
    /// There is more than before.
    Minor,
    /// Names or types that were there are not.
    Major,
}

/// A value on both sides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Values {
    /// The mode; absent for the default.
    #[serde(skip_serializing_if = "String::is_empty")]
    mode: String,
    /// As CSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// As CSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// Of colours the distance in Oklab times 100 (2 is just noticeable), else the difference in their unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<f64>,
}

/// One token that differs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What became of it.
    kind: Kind,
    /// Its path; of a removed one, as it was.
    id: String,
    /// Its path before it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    /// Its type, as the format spells it.
    #[serde(rename = "type")]
    ty: String,
    /// What is not as it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    what: Vec<What>,
    /// Its values, the default first.
    values: Vec<Values>,
    /// The release that this one asks for.
    bump: Release,
    /// Where it is used, by its name before: the first ten places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    consumers: Vec<Place>,
    /// How many places use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    consumer_count: Option<u64>,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The commit before.
    from: String,
    /// The commit after, or `worktree`.
    to: String,
    /// Tokens that are new.
    added_count: u64,
    /// Tokens that are gone.
    removed_count: u64,
    /// Tokens that are not what they were.
    changed_count: u64,
    /// Tokens with another name.
    renamed_count: u64,
    /// Modes that are new.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modes_added: Vec<String>,
    /// Modes that are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modes_removed: Vec<String>,
    /// The release that all of it asks for.
    bump: Release,
    /// What differs, the gravest first.
    changes: Vec<Change>,
    /// The files in which consumers were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<Searched>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct TokensDiff;

impl Define for TokensDiff {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "tokens_diff";
    const TOOLSET: Toolset = crate::DESIGN;
    const DOC: Doc = kit::doc!("tokens_diff.rs");
    const ALIASES: &'static [&'static str] = &["tokens.diff"];
    const LIST: Option<&'static str> = Some("changes");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "source": "tokens" }),
            json!({ "source": "tokens", "from": "v1.4.0", "to": "HEAD", "consumers": false }),
        ]
    }
}

impl Read for TokensDiff {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| compare(&input, desk)).await
    }
}

fn compare(input: &Input, desk: &ReadDesk) -> Result<Answer<Output>, Fault> {
    let TokensSection(options) = desk.settings()?;
    let from = match &input.from {
        Some(revision) => revision.clone(),
        None => beginning(desk, input.to.as_deref())?,
    };
    let (before, commit) = at(&from, &input.source, &options, desk)?;
    desk.check()?;
    let (after, to) = match &input.to {
        Some(revision) => at(revision, &input.source, &options, desk)?,
        None => {
            let compiled = tokens::read(&input.source, desk.view(), &options);
            (compiled.map_err(|fault| side("in the work tree", fault))?, "worktree".to_owned())
        }
    };
    desk.check()?;
    let difference = design_tokens::diff::diff(&before, &after);
    let (uses, searched) = if input.consumers {
        let named: Vec<_> =
            difference.tokens.iter().filter_map(|change| used(change, &before, &after)).collect();
        let (uses, searched) = search(&named, desk)?;
        (Some(uses), Some(searched))
    } else {
        (None, None)
    };
    Ok(answer(difference, uses, searched, commit, to))
}

/// The token by whose name a change is felt: what it was called before, where it was there.
fn used<'c>(
    change: &TokenChange,
    before: &'c Compiled,
    after: &'c Compiled,
) -> Option<&'c design_tokens::Token> {
    let find =
        |compiled: &'c Compiled, id: &str| compiled.permutations().find_map(|(_, tokens)| tokens.get(id));
    find(before, change.was.as_deref().unwrap_or(&change.id)).or_else(|| find(after, &change.id))
}

/// The commit where `to`, else HEAD, left the default branch; without such a branch, HEAD itself.
fn beginning(desk: &ReadDesk, to: Option<&str>) -> Result<String, Fault> {
    let repository = desk.repository().map_err(|fault| {
        fault.suggest("tokens_diff compares with a commit: it needs a git repository at the root's top.")
    })?;
    let here = to.unwrap_or("HEAD");
    match repository.default_branch().map_err(unread)? {
        None => Ok(here.to_owned()),
        Some(branch) => repository
            .merge_base(&branch, here, &Limits::default(), &AtomicBool::new(false))
            .map_err(|error| unread(error).suggest("Name the revision to compare with as `from`.")),
    }
}

/// The tokens of a revision, and its commit.
fn at(revision: &str, source: &str, options: &Options, desk: &ReadDesk) -> Result<(Compiled, String), Fault> {
    let snapshot =
        desk.repository()?.snapshot(revision, &Limits::default(), &AtomicBool::new(false)).map_err(unread)?;
    let commit = snapshot.commit();
    let compiled = tokens::read(source, &Committed { snapshot, desk }, options)
        .map_err(|fault| side(&format!("in {revision}"), fault))?;
    Ok((compiled, commit))
}

/// A fault that says on which side it is.
fn side(which: &str, mut fault: Fault) -> Fault {
    fault.message = format!("{which}: {}", fault.message);
    if fault.code == Code::NotFound {
        fault = fault.suggest("Name the tokens where they are on both sides, or another revision.");
    }
    fault
}

fn answer(
    difference: Difference,
    uses: Option<Vec<Uses>>,
    searched: Option<Searched>,
    from: String,
    to: String,
) -> Answer<Output> {
    let count = |kind| difference.count(kind) as u64;
    let bump = release(difference.bump());
    let (added, removed) = (count(ChangeKind::Added), count(ChangeKind::Removed));
    let (other, renamed) = (count(ChangeKind::Changed), count(ChangeKind::Renamed));
    let mut uses = uses.map(Vec::into_iter);
    let mut in_use = 0;
    let changes: Vec<Change> = difference
        .tokens
        .into_iter()
        .map(|token| {
            let uses = uses.as_mut().map(|uses| uses.next().unwrap_or_default());
            let is_gone = matches!(token.kind, ChangeKind::Removed | ChangeKind::Renamed);
            if is_gone && uses.as_ref().is_some_and(|uses| uses.count > 0) {
                in_use += 1;
            }
            shown(token, uses)
        })
        .collect();
    let mut message =
        if changes.is_empty() && difference.modes_added.is_empty() && difference.modes_removed.is_empty() {
            "No token differs.".to_owned()
        } else {
            let word = match bump {
                Release::Major => "major",
                Release::Minor => "minor",
                Release::Patch | Release::None => "patch",
            };
            format!(
                "{}: {added} added, {removed} removed, {other} changed, {renamed} renamed: a {word} release.",
                counted(changes.len() as u64, "token"),
            )
        };
    if in_use > 0 {
        message.push_str(&format!(" {} removed or renamed, still used by name.", counted(in_use, "token")));
    }
    let output = Output {
        from,
        to,
        added_count: added,
        removed_count: removed,
        changed_count: other,
        renamed_count: renamed,
        modes_added: difference.modes_added,
        modes_removed: difference.modes_removed,
        bump,
        changes,
        searched,
    };
    Answer::new(message, output)
}

fn shown(token: TokenChange, uses: Option<Uses>) -> Change {
    Change {
        kind: match token.kind {
            ChangeKind::Removed => Kind::Removed,
            ChangeKind::Renamed => Kind::Renamed,
            ChangeKind::Changed => Kind::Changed,
            ChangeKind::Added => Kind::Added,
        },
        id: token.id,
        was: token.was,
        ty: token.ty.name().to_owned(),
        what: token
            .aspects
            .into_iter()
            .map(|aspect| match aspect {
                Aspect::Type => What::Type,
                Aspect::Value => What::Value,
                Aspect::Reference => What::Reference,
                Aspect::Deprecated => What::Deprecated,
            })
            .collect(),
        values: token
            .values
            .into_iter()
            .map(|v| Values { mode: v.mode, before: v.before, after: v.after, difference: v.distance })
            .collect(),
        bump: release(token.bump),
        consumer_count: uses.as_ref().map(|uses| uses.count),
        consumers: uses.map(|uses| uses.places).unwrap_or_default(),
    }
}

const fn release(bump: Bump) -> Release {
    match bump {
        Bump::None => Release::None,
        Bump::Patch => Release::Patch,
        Bump::Minor => Release::Minor,
        Bump::Major => Release::Major,
    }
}
