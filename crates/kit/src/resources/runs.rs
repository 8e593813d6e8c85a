//! `run://…`: what programs said, beginning and end of each stream.

use std::io::{BufRead, Read as _};

use contract::{Fault, Principal};
use exec::kept::{KeptRun, KeptStream};
use exec::run::Exit;

use super::{Resource, Template};
use crate::engine::Engine;

/// Most bytes that are shown of a stream's beginning, and of its end.
const MAX_SHOWN: usize = 24 * 1024;

pub(super) struct Runs;

impl Resource for Runs {
    fn template(&self) -> Template {
        Template {
            scheme: "run",
            title: "What a program said",
            description: "The command, how it ended, and the beginning and end of both streams; `run_output` shows any \
                          other part.",
            mime: "text/markdown",
            has_parts: false,
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
    let said = engine.state().output(stream)?;
    let (begin, end) = ends(said, MAX_SHOWN)
        .map_err(|_| Fault::new(contract::Code::FilesystemError, "the kept output cannot be read"))?;
    let between = stream.bytes.saturating_sub((begin.len() + end.len()) as u64);
    let (begin, end) = (String::from_utf8_lossy(&begin), String::from_utf8_lossy(&end));
    Ok(match between {
        0 => format!("{begin}{end}"),
        left => format!("{begin}… {left} bytes left out …\n{end}"),
    })
}

/// The first and the last `most` bytes, each without the part of a line where something lies between; however long the
/// stream is, no more of it is held.
fn ends(mut said: impl BufRead, most: usize) -> std::io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut begin, mut end) = (Vec::new(), Vec::new());
    said.by_ref().take(most as u64).read_to_end(&mut begin)?;
    let mut is_cut = false;
    loop {
        let part = said.fill_buf()?;
        if part.is_empty() {
            break;
        }
        end.extend_from_slice(part);
        let read = part.len();
        said.consume(read);
        if end.len() > 2 * most {
            end.drain(..end.len() - most);
            is_cut = true;
        }
    }
    if end.len() > most {
        end.drain(..end.len() - most);
        is_cut = true;
    }
    if is_cut {
        begin.truncate(memchr::memrchr(b'\n', &begin).map_or(begin.len(), |at| at + 1));
        end.drain(..memchr::memchr(b'\n', &end).map_or(0, |at| at + 1));
    }
    Ok((begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_stream_the_beginning_and_the_real_end_are_shown_in_whole_lines() {
        let lines = |n: usize| (0..n).map(|i| format!("line {i}\n")).collect::<Vec<_>>().concat();
        let both = |text: &str| {
            let (begin, end) = ends(text.as_bytes(), 1_000).unwrap();
            (String::from_utf8(begin).unwrap(), String::from_utf8(end).unwrap())
        };
        let short = lines(150);
        let (begin, end) = both(&short);
        assert_eq!(format!("{begin}{end}"), short, "all of it");
        let long = lines(100_000);
        let (begin, end) = both(&long);
        assert!(begin.starts_with("line 0\n") && begin.ends_with('\n'), "{begin:?}");
        assert!(end.starts_with("line 99") && end.ends_with("line 99999\n"), "{end:?}");
        assert!(begin.len() <= 1_000 && end.len() <= 1_000 && end.len() > 900);
    }
}
