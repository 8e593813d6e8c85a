//! Put a pattern into a library, or what is known of it.
//!
//! `promote` takes a pattern of the project's library into yours or a team's, `extract` makes one of an earlier session's code,
//! `write_back` writes uses and criteria into `-SKILL.md`. Libraries take 7.0 of 10 and better. It rehearses unless `apply`.

use contract::text::counted;
use contract::{Fault, Toolset};
use kit::markdown::{code, text};
use kit::{Answer, Change, ChangeDesk, Define, doc};
use library::quality::{Criteria, Criterion, Score, is_verified};
use library::{Category, LibraryName, PatternId, ProjectName, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::libraries::{Looked, PROJECT, service, used};
use crate::promoting::extracted::{self, extract};
use crate::promoting::{Done, Target, USER, counted::write_back, moved::promote};
use crate::stock::Again;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A pattern of the project's library into another.
    Promote,
    /// What is recorded and judged into the pattern's file.
    WriteBack,
    /// A new pattern of a session's code.
    Extract,
}

impl Action {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Promote => "promote",
            Self::WriteBack => "write_back",
            Self::Extract => "extract",
        }
    }
}

/// Code of a session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Origin {
    /// The project: the name of the call's root, or of its folder.
    project: ProjectName,
    /// The session's id.
    session_id: SessionId,
    /// Which of its blocks, counted from 1 as `get_session_code` lists them all.
    #[schemars(range(min = 1, max = 1000))]
    block: u32,
}

/// Scores, 0 to 10.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Scores {
    /// It does what it says.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    correctness: Option<f64>,
    /// It can be used elsewhere.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    reusability: Option<f64>,
    /// It says how it is used.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    documentation: Option<f64>,
    /// It is tested.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    test_coverage: Option<f64>,
    /// It is fast enough.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    performance: Option<f64>,
}

impl Scores {
    /// In tenths; more decimals are cut off.
    fn criteria(self) -> Result<Criteria, Fault> {
        let given =
            [self.correctness, self.reusability, self.documentation, self.test_coverage, self.performance];
        let mut criteria = Criteria::default();
        for (criterion, points) in Criterion::ALL.into_iter().zip(given) {
            if let Some(points) = points {
                let score = Score::parse(&points.to_string())
                    .map_err(|e| Fault::invalid(format!("criteria: {e}")))?;
                criteria.set(criterion, score);
            }
        }
        Ok(criteria)
    }
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What is done.
    action: Action,
    /// Of `promote` and `write_back`: the pattern, `category/name`.
    #[serde(default)]
    pattern_id: Option<PatternId>,
    /// The library that is changed: `user`, a team's, or `project`. Without: `user` for `promote`, else the one that the id names, or `project`.
    #[serde(default)]
    library: Option<LibraryName>,
    /// Of `extract`: the code.
    #[serde(default)]
    from: Option<Origin>,
    /// Of `extract`: the new pattern's name.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$"))]
    name: Option<String>,
    /// Of `extract`: what it is filed under.
    #[serde(default)]
    category: Option<Category>,
    /// Of `extract` all five; of `write_back` those that change.
    #[serde(default)]
    criteria: Option<Scores>,
}

/// The pattern in its library.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Promoted {
    /// Its id.
    id: String,
    /// The library that is changed.
    library: String,
    /// 0 to 10, where it is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<f64>,
    /// Its files that this is about, from the root that is changed: the library's own, or the call's.
    files: Vec<String>,
    /// Of `write_back`: how often it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_count: Option<u64>,
    /// Of `write_back`: whether that is three times or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The pattern.
    data: Promoted,
}

/// The tool.
#[derive(Debug, Default)]
pub struct PromotePattern;

/// The library that is changed, where that is not the call's own root.
fn library_of<'a>(action: &str, id: Option<&'a str>, library: Option<&'a str>) -> Option<&'a str> {
    let usual = match action {
        "promote" => Some(USER),
        "write_back" => id.and_then(|id| id.split_once(':')).map(|(library, _)| library),
        _ => None,
    };
    library.or(usual).filter(|name| *name != PROJECT)
}

fn of_arguments(arguments: &Map<String, Value>) -> Option<&str> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    library_of(text("action")?, text("patternId"), text("library"))
}

/// What a call asks for, its arguments held to what its action takes.
enum Wish {
    Promote(PatternId),
    WriteBack { id: PatternId, criteria: Criteria, is_named: bool },
    Extract { id: PatternId, from: extracted::From, criteria: Criteria },
}

impl Define for PromotePattern {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "promote_pattern";
    const TOOLSET: Toolset = crate::PATTERNS;
    const DOC: kit::Doc = doc!("promote_pattern.rs");
    const ALIASES: &'static [&'static str] = &["promotePattern"];
    const LIBRARY: Option<kit::kinds::LibraryOf> = Some(of_arguments);

    fn examples() -> Vec<Value> {
        vec![
            json!({ "action": "promote", "patternId": "database/rls-policy", "library": "user" }),
            json!({ "action": "write_back", "patternId": "user:backend/retry-backoff", "criteria": { "testCoverage": 8.5 } }),
            json!({
                "action": "extract", "from": { "project": "web-app", "sessionId": "2025-11-05-rls-policies", "block": 1 },
                "name": "rls-policy", "category": "database",
                "criteria": { "correctness": 9, "reusability": 8, "documentation": 7, "testCoverage": 7, "performance": 8 }
            }),
        ]
    }
}

impl Change for PromotePattern {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let (libraries, used) = (service(&desk)?, used(&desk).await?);
        let wish = wish(&input)?;
        desk.blocking(move |desk| {
            let named = library_of(
                input.action.as_str(),
                input.pattern_id.as_ref().map(PatternId::as_str),
                input.library.as_ref().map(LibraryName::as_str),
            );
            let target = Target::of(desk, &libraries, named)?;
            let looked = libraries.look(desk.home(), &used, Again::Looked)?;
            let done = match &wish {
                Wish::Promote(id) => promote(desk, &target, &looked, id),
                Wish::WriteBack { id, criteria, is_named } => {
                    if !is_named {
                        meant(&looked, &target, id)?;
                    }
                    write_back(desk, &target, &looked, (id, criteria, &used))
                }
                Wish::Extract { id, from, criteria } => extract(desk, &target, &looked, (id, from, criteria)),
            };
            Ok(answer(input.action, &target, done?))
        })
        .await
    }
}

/// Fails where an id that names no library stands for another library's pattern: uses are recorded with that one.
fn meant(looked: &Looked, target: &Target, id: &PatternId) -> Result<(), Fault> {
    let (opened, _) = looked.resolve(id)?;
    let library = &opened.library;
    if library.name == target.name {
        return Ok(());
    }
    Err(Fault::invalid(format!("{id} is one of the library {} here, not of {}", library.name, target.name))
        .suggest(format!("Say which is meant: `library: {}` or `library: {}`.", library.name, target.name)))
}

fn wish(input: &Input) -> Result<Wish, Fault> {
    let given = [
        ("patternId", input.pattern_id.is_some()),
        ("from", input.from.is_some()),
        ("name", input.name.is_some()),
        ("category", input.category.is_some()),
        ("criteria", input.criteria.is_some()),
    ];
    let (needs, takes): (&[&str], &[&str]) = match input.action {
        Action::Promote => (&["patternId"], &[]),
        Action::WriteBack => (&["patternId"], &["criteria"]),
        Action::Extract => (&["from", "name", "category", "criteria"], &[]),
    };
    let action = input.action.as_str();
    for (name, is_given) in given {
        if is_given && !needs.contains(&name) && !takes.contains(&name) {
            return Err(
                Fault::invalid(format!("{name}: `{action}` does not take it")).suggest("Leave it out.")
            );
        }
        if !is_given && needs.contains(&name) {
            return Err(Fault::invalid(format!("{name}: `{action}` needs it")));
        }
    }
    let criteria = input.criteria.unwrap_or_default().criteria()?;
    let pattern = || {
        let none = || Fault::internal("an action without its pattern");
        input.pattern_id.clone().ok_or_else(none)
    };
    match input.action {
        Action::Promote => {
            let id = pattern()?;
            if let Some(library) = id.library().filter(|library| library.as_str() != PROJECT) {
                return Err(Fault::invalid(format!(
                    "patternId: only patterns of the project's library are promoted, not those of {library}"
                )));
            }
            if input.library.as_ref().is_some_and(|library| library.as_str() == PROJECT) {
                return Err(Fault::invalid(
                    "library: a pattern of the project's library is promoted into another: `user`, or a team's",
                ));
            }
            let project = LibraryName::new(PROJECT).map_err(|e| Fault::internal(e.to_string()))?;
            Ok(Wish::Promote(id.within(&project)))
        }
        Action::WriteBack => {
            let id = pattern()?;
            let named = id.library();
            if let (Some(named), Some(given)) = (&named, &input.library)
                && named != given
            {
                return Err(Fault::invalid(format!("library: the id says {named}, `library` {given}"))
                    .suggest("Leave one of them out."));
            }
            let is_named = named.is_some() || input.library.is_some();
            Ok(Wish::WriteBack { id, criteria, is_named })
        }
        Action::Extract => {
            let (Some(from), Some(category)) = (&input.from, input.category) else {
                return Err(Fault::internal("extract without what it needs"));
            };
            let id =
                PatternId::from_parts(None, category.as_str(), input.name.as_deref().unwrap_or_default());
            let id = id.map_err(|e| Fault::invalid(format!("name: {e}")))?;
            let block = usize::try_from(from.block).unwrap_or(usize::MAX);
            let from =
                extracted::From { project: from.project.clone(), session: from.session_id.clone(), block };
            Ok(Wish::Extract { id, from, criteria })
        }
    }
}

fn answer(action: Action, target: &Target, done: Done) -> Answer<Output> {
    let files: Vec<String> = done.files.iter().map(ToString::to_string).collect();
    let data = Promoted {
        id: done.id.short().to_owned(),
        library: target.name.to_string(),
        quality: done.quality.map(Score::points),
        files,
        usage_count: done.uses,
        verified: done.uses.map(is_verified),
    };
    let what = code(&data.id);
    let library = text(&data.library);
    let quality = done.quality.map(|score| format!(", quality {score}")).unwrap_or_default();
    let message = match action {
        Action::WriteBack if data.files.is_empty() => {
            format!("Nothing is recorded of {what} of the library {library}: there is nothing to write.")
        }
        Action::WriteBack => {
            let uses = counted(done.uses.unwrap_or_default(), "use");
            let verified = if data.verified == Some(true) { ", verified" } else { "" };
            format!("{what} of the library {library}: {uses}{verified}{quality}.")
        }
        Action::Promote => {
            format!("{what} for the library {library}{quality}: {}.", counted(data.files.len(), "file"))
        }
        Action::Extract => format!(
            "{what}, new in the library {library}{quality}: {}. Its code comes from a session: look at it before it is used.",
            counted(data.files.len(), "file")
        ),
    };
    Answer::new(message, Output { data })
}
