//! Specimens: the kinds of tool together, as small as they can be.

use std::sync::Mutex;

use contract::{Fault, FileMode, Toolset};
use gatewright_kit as kit;
use kit::{Answer, Change, ChangeDesk, Define, Doc, Entry, Family, Read, ReadDesk, Record, RecordDesk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const SPECIMENS: Toolset = Toolset("specimens");
const DOC: Doc = Doc("//! Specimen.\n//!\n//! Does what its test needs and nothing else.\n");

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
    ($tool:ident, $name:literal) => {
        #[derive(Default)]
        pub(crate) struct $tool;

        impl Define for $tool {
            type Input = Input;
            type Output = Output;
            const NAME: &'static str = $name;
            const TOOLSET: Toolset = SPECIMENS;
            const DOC: Doc = DOC;

            fn examples() -> Vec<Value> {
                vec![json!({})]
            }
        }
    };
}

specimen!(Looks, "looks");
specimen!(Changes, "changes");
specimen!(Remembers, "remembers");

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
    toolsets: &[SPECIMENS],
    tools: &[Entry::read::<Looks>(), Entry::change::<Changes>(), Entry::record::<Remembers>()],
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
