//! `run://…`: what programs said, beginning and end of each stream.

use std::io::Read as _;

use contract::{Fault, Principal};
use exec::kept::{KeptRun, KeptStream};
use exec::run::Exit;

use super::{Resource, Template};
use crate::engine::Engine;

/// Most bytes that are shown of a stream's beginning, and of its end.
const MAX_SHOWN: usize = 24 * 1024;

/// Most bytes of a stream that are read for its end.
const MAX_READ: u64 = 64 * 1024 * 1024;

pub(super) struct Runs;

impl Resource for Runs {
    fn template(&self) -> Template {
        Template {
            scheme: "run",
            title: "What a program said",
            description: "The command, how it ended, and the beginning and end of both streams; `run_output` shows any \
                          other part.",
            mime: "text/markdown",
        }
    }

    fn list(&self, engine: &Engine, owner: &Principal) -> Result<Vec<(String, String, String)>, Fault> {
        let cleaner = engine.cleaner();
        let runs = engine.state().runs(owner, super::MAX_LISTED);
        let title = |run: &KeptRun| cleaner.text(&format!("{}: {}", run.line.join(" "), ended(run)));
        Ok(runs.into_iter().map(|(handle, run)| (handle, title(&run), run.at)).collect())
    }

    fn read(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<String, Fault> {
        let run = engine.state().run(id, owner)?;
        let cleaner = engine.cleaner();
        let line = cleaner.text(&run.line.join(" "));
        let mut text = format!(
            "# {id}\n\n`{line}`\n\n{}, after {} ms, confined: {}.\n",
            ended(&run),
            run.duration,
            run.confinement.word()
        );
        for (name, stream) in [("Standard output", &run.stdout), ("Standard error", &run.stderr)] {
            text.push_str(&format!("\n## {name}\n\n{} lines.\n", stream.lines));
            let said = cleaner.text(&shown(engine, stream)?);
            if !said.is_empty() {
                let fence = super::fence(&said);
                text.push_str(&format!("\n{fence}text\n{}\n{fence}\n", said.trim_end_matches('\n')));
            }
        }
        Ok(text)
    }
}

fn ended(run: &KeptRun) -> String {
    match run.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
    }
}

/// The beginning and the end of a stream, whole lines of it.
fn shown(engine: &Engine, stream: &KeptStream) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    engine
        .state()
        .output(stream)?
        .take(MAX_READ)
        .read_to_end(&mut bytes)
        .map_err(|_| Fault::new(contract::Code::FilesystemError, "the kept output cannot be read"))?;
    let text = String::from_utf8_lossy(&bytes);
    if text.len() <= 2 * MAX_SHOWN {
        return Ok(text.into_owned());
    }
    let (begin, end) = (text.floor_char_boundary(MAX_SHOWN), text.ceil_char_boundary(text.len() - MAX_SHOWN));
    let begin = text[..begin].rfind('\n').map_or(begin, |at| at + 1);
    let end = text[end..].find('\n').map_or(end, |at| end + at + 1);
    Ok(format!("{}… {} bytes left out …\n{}", &text[..begin], end - begin, &text[end..]))
}
