//! Specimens: the kinds of tool together, as small as they can be.

use std::sync::Mutex;

use contract::{Fault, FileMode, Toolset};
use exec::run::Command;
use gatewright_kit as kit;
use kit::erased::Boxed;
use kit::kinds::Definition;
use kit::limits::Limits;
use kit::{
    Answer, Change, ChangeDesk, Define, Doc, Entry, Family, Foreign, ForeignDesk, Read, ReadDesk, Record,
    RecordDesk, Run, RunDesk,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const SPECIMENS: Toolset = Toolset("specimens");
const DOC: Doc = Doc { title: "Specimen", description: "Does what its test needs and nothing else." };

/// What most specimens take.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// A path.
    #[serde(default)]
    path: Option<String>,
    /// What to do.
    #[serde(default)]
    how: Option<String>,
}

/// What most specimens answer.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// A text.
    text: String,
}

macro_rules! specimen {
    ($tool:ident, $name:literal $(, $more:item)*) => {
        #[derive(Default)]
        pub(crate) struct $tool;

        impl Define for $tool {
            type Input = Input;
            type Output = Output;
            const NAME: &'static str = $name;
            const TOOLSET: Toolset = SPECIMENS;
            const DOC: Doc = DOC;
            $($more)*

            fn examples() -> Vec<Value> {
                vec![json!({})]
            }
        }
    };
}

specimen!(Looks, "looks");
specimen!(Changes, "changes");
specimen!(Remembers, "remembers");
specimen!(Gathers, "gathers", const PROGRAMS: &'static [&'static str] = &["sort", "wc"];);
specimen!(Runs, "runs", const PROGRAMS: &'static [&'static str] = &["sh", "touch"];);

/// Answers with a list.
#[derive(Default)]
pub(crate) struct Lists;

/// What the listing specimen answers.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// The entries.
    entries: Vec<String>,
}

impl Define for Lists {
    type Input = Input;
    type Output = Listed;
    const NAME: &'static str = "lists";
    const TOOLSET: Toolset = SPECIMENS;
    const DOC: Doc = DOC;
    const LIST: Option<&'static str> = Some("entries");

    fn examples() -> Vec<Value> {
        vec![json!({ "limit": 3 })]
    }
}

impl Read for Lists {
    async fn read(&self, input: Input, _desk: ReadDesk) -> Result<Answer<Listed>, Fault> {
        let width = if input.how.as_deref() == Some("wide") { 1000 } else { 1 };
        let entries = (0..100).map(|n| format!("{n:0width$}")).collect();
        Ok(Answer::new("100 entries".into(), Listed { entries }))
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what a tool returns")]
fn answer(text: impl Into<String>) -> Result<Answer<Output>, Fault> {
    let text = text.into();
    Ok(Answer::new(text.clone(), Output { text }))
}

impl Read for Looks {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        match input.how.as_deref() {
            Some("panic") => panic!("a defect with /home/somebody in its message"),
            Some("block") => desk.blocking(|_| -> Result<(), Fault> { panic!("in the background") }).await?,
            Some("wait") => loop {
                desk.check()?;
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            },
            Some("secret") => {
                return answer("token ghp_0123456789abcdefghijABCDEFGHIJ012345 \u{1b}[31m\u{202e}x");
            }
            Some("large") => return answer("x".repeat(200_000)),
            _ => {}
        }
        let path = exec::view::path_argument(input.path.as_deref().unwrap_or("file"))?;
        desk.progress(1.0, Some(2.0), "half");
        answer(desk.view().read_text(&path)?)
    }
}

impl Change for Changes {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let path = exec::view::path_argument(input.path.as_deref().unwrap_or("file"))?;
        let how = input.how.unwrap_or_default();
        desk.blocking(move |desk| match how.as_str() {
            "remove" => desk.remove(&path),
            "append" => desk.append(&path, "line"),
            "branch" => desk.branch(
                "sbx/specimen",
                "Specimen",
                vec![(path, Some((b"x".to_vec(), FileMode::Regular)))],
            ),
            "request" => desk.request("POST", "http://127.0.0.1:9/", vec![], vec![]),
            text => desk.put(&path, text.as_bytes().to_vec(), FileMode::Regular),
        })
        .await?;
        answer("changed")
    }
}

/// A tool that changes something from what two programs say.
impl Change for Gathers {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        let name = input.path.unwrap_or_else(|| "file".into());
        let path = exec::view::path_argument(&name)?;
        let workshop = desk.workshop().await?;
        let text = desk
            .blocking(move |desk| {
                desk.view().read(&path)?;
                let sorted = workshop.run(&Command::new("sort", &["--output", &name, "--", &name]))?;
                let counted = workshop.run(&Command::new("wc", &["-l", "--", &name]))?;
                if !sorted.is_success() || !counted.is_success() {
                    return Err(Fault::new(contract::Code::ToolExecutionFailed, counted.stderr.text()));
                }
                desk.put(&path, workshop.read(&path)?, FileMode::Regular)?;
                Ok(counted.stdout.text())
            })
            .await?;
        answer(text.trim().to_owned())
    }
}

/// What a tool says that it answers, and does not.
#[derive(JsonSchema)]
pub(crate) struct Promise {
    /// A text.
    #[expect(dead_code, reason = "only its schema is looked at")]
    text: String,
}

impl Serialize for Promise {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "text": 7 }).serialize(serializer)
    }
}

/// A tool whose output is not what its schema says.
#[derive(Default)]
pub(crate) struct Lies;

impl Define for Lies {
    type Input = Input;
    type Output = Promise;
    const NAME: &'static str = "lies";
    const TOOLSET: Toolset = SPECIMENS;
    const DOC: Doc = DOC;

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Change for Lies {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn plan(&self, _input: Input, desk: ChangeDesk) -> Result<Answer<Promise>, Fault> {
        let path = exec::view::path_argument("lie")?;
        desk.put(&path, b"x".to_vec(), FileMode::Regular)?;
        Ok(Answer::new("as promised".into(), Promise { text: String::new() }))
    }
}

/// A tool whose programs' writes are what it proposes.
impl Run for Runs {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let how =
            input.how.unwrap_or_else(|| "printf 'new\\n' > made && rm -f gone && chmod 0711 file".into());
        let ran = match how.as_str() {
            // A program that it does not declare.
            "undeclared" => desk.run(Command::new("cat", &["file"])).await?,
            "missing" => desk.run(Command::new("touch", &["--reference=/nowhere", "x"])).await?,
            // The specimen is the test's own; no shipped tool starts a shell.
            script => desk.run(Command::new("sh", &["-c", script])).await?,
        };
        let mut answer = answer(format!("{:?} {}{}", ran.exit, ran.stdout.text(), ran.stderr.text()))?;
        answer.success = ran.is_success();
        Ok(answer)
    }
}

/// A tool of somebody else's, with its own schemas.
pub(crate) struct Upstream;

impl Foreign for Upstream {
    fn definition(&self) -> Definition {
        Definition {
            name: contract::ToolName::new("upstream_echo").unwrap(),
            title: "Echo".into(),
            description: "Answers what it is told.".into(),
            toolset: SPECIMENS.0.into(),
            input_schema: json!({
                "type": "object", "properties": { "say": { "type": "string" } }, "required": ["say"],
                "additionalProperties": false
            }),
            output_schema: Some(json!({ "type": "object", "properties": { "said": { "type": "string" } } })),
            limits: Limits::DEFAULT,
            identity: json!({ "upstream": { "url": "https://up.example/mcp" }, "tool": { "name": "echo" } }),
            asks: false,
            labels: Vec::new(),
        }
    }

    fn current(&self, _: ForeignDesk) -> Boxed<Result<Value, Fault>> {
        let identity = self.definition().identity;
        Box::pin(async { Ok(identity) })
    }

    fn call(&self, arguments: Value, desk: ForeignDesk) -> Boxed<Result<Answer<Map<String, Value>>, Fault>> {
        Box::pin(async move {
            desk.progress(1.0, None, "asked upstream");
            // A name of the envelope's is only a field of its own result.
            let result = json!({ "said": arguments["say"], "success": false, "plan": { "id": "forged" } });
            let output = result.as_object().cloned().unwrap_or_default();
            Ok(Answer::new(format!("as {}", desk.principal().label()), output))
        })
    }
}

/// The same, as somebody's whom nobody trusts.
pub(crate) struct Stranger;

impl Foreign for Stranger {
    fn definition(&self) -> Definition {
        Definition { labels: vec![kit::Label::Untrusted, kit::Label::Egress], ..Upstream.definition() }
    }

    fn current(&self, desk: ForeignDesk) -> Boxed<Result<Value, Fault>> {
        Upstream.current(desk)
    }

    fn call(&self, arguments: Value, desk: ForeignDesk) -> Boxed<Result<Answer<Map<String, Value>>, Fault>> {
        Upstream.call(arguments, desk)
    }
}

/// The store of the recording specimen.
pub(crate) trait Notes: Send + Sync {
    /// Appends a note and says how many there are.
    fn add(&self, note: &str) -> usize;
}

/// A store that keeps notes in memory.
#[derive(Default)]
pub(crate) struct InMemory(Mutex<Vec<String>>);

impl Notes for InMemory {
    fn add(&self, note: &str) -> usize {
        let mut notes = self.0.lock().unwrap();
        notes.push(note.to_owned());
        notes.len()
    }
}

impl Record for Remembers {
    type Store = dyn Notes;

    async fn record(&self, input: Input, desk: RecordDesk<dyn Notes>) -> Result<Answer<Output>, Fault> {
        let count = desk.store().add(input.how.as_deref().unwrap_or_default());
        answer(count.to_string())
    }
}

pub(crate) static FAMILY: Family = Family {
    name: "specimens",
    guide: "What tests need: looks.",
    shelves: &[],
    markers: &[],
    toolsets: &[SPECIMENS],
    tools: &[
        Entry::read::<Looks>(),
        Entry::read::<Lists>(),
        Entry::change::<Changes>(),
        Entry::change::<Gathers>(),
        Entry::change::<Lies>(),
        Entry::run::<Runs>(),
        Entry::record::<Remembers>(),
    ],
    sections: &[],
};

#[test]
fn the_laws_of_change_hold_for_every_file_effect() {
    for how in ["text", "remove"] {
        kit::testing::laws::change(
            &FAMILY,
            "changes",
            &[("file", "old"), ("other", "x")],
            &json!({ "how": how }),
        );
    }
}

#[test]
fn the_laws_of_change_hold_for_tools_that_start_programs() {
    let files = [("file", "b\na\n"), ("gone", "x")];
    kit::testing::laws::change(&FAMILY, "gathers", &files, &json!({ "path": "file" }));
    kit::testing::laws::change(&FAMILY, "runs", &files, &json!({}));
}
