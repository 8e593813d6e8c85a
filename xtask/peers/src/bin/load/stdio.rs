//! Load over standard input and output: one connection, any number of calls in flight.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use gatewright_peers::Error;
use memchr::memmem::Finder;

use crate::process::Process;
use crate::wire::{self, Era, Request, Spell, Talk};

/// Longest that a server may take for its first answers.
const LONGEST: Duration = Duration::from_secs(20);

/// A server at the other end of two pipes.
pub struct Line {
    /// Its process.
    pub process: Process,
    input: ChildStdin,
    output: ChildStdout,
    buffer: Vec<u8>,
    chunk: Vec<u8>,
    call: Request,
}

impl Line {
    /// Starts `words` and asks for its tools; says how long that took, from before the start.
    pub fn start(words: &[String], talk: &Talk) -> Result<(Self, Duration), Error> {
        let began = Instant::now();
        let mut process = Process::start(words, true)?;
        let (input, output) = (process.0.stdin.take(), process.0.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("no pipes".into()) };
        let call = Talk::line(talk.call())?;
        let mut line = Self { process, input, output, buffer: Vec::new(), chunk: vec![0; 64 * 1024], call };
        let _watch = line.process.watched(LONGEST);
        if talk.era == Era::Session {
            line.ask(Talk::line(talk.initialize())?)?;
            let mut last = talk.initialized();
            last.push(b'\n');
            line.input.write_all(&last)?;
        }
        line.ask(Talk::line(talk.list())?)?;
        Ok((line, began.elapsed()))
    }

    fn ask(&mut self, mut request: Request) -> Result<(), Error> {
        self.input.write_all(request.next().0)?;
        while !self.buffer.contains(&b'\n') {
            self.read()?;
        }
        wire::check(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn read(&mut self) -> Result<(), Error> {
        let read = self.output.read(&mut self.chunk)?;
        if read == 0 {
            return Err("the server went away".into());
        }
        self.buffer.extend_from_slice(&self.chunk[..read]);
        Ok(())
    }

    /// Keeps `awaited` calls in flight for `spell`.
    pub fn load(&mut self, awaited: usize, spell: Duration) -> Result<Spell, Error> {
        let _watch = self.process.watched(spell + LONGEST);
        let id = Finder::new(br#""id":"#);
        let mut given = Spell::default();
        let began = Instant::now();
        // Answers need not come in the order of the calls.
        let (mut sent, mut out, mut wanted) = (BTreeMap::new(), Vec::new(), awaited);
        loop {
            let now = Instant::now();
            // A spell of no time is one call for each place.
            if given.took.is_empty() && sent.is_empty() || now - began < spell {
                out.clear();
                for _ in 0..wanted {
                    let (bytes, id) = self.call.next();
                    out.extend_from_slice(bytes);
                    sent.insert(id, now);
                }
                self.input.write_all(&out)?;
            }
            if sent.is_empty() {
                break;
            }
            self.read()?;
            let now = Instant::now();
            let mut used = 0;
            wanted = 0;
            for end in memchr::memchr_iter(b'\n', &self.buffer) {
                let answer = &self.buffer[used..end];
                used = end + 1;
                wire::check(answer)?;
                let at = id.find(answer).ok_or("an answer without an id")? + id.needle().len();
                let digits = answer[at..].iter().take_while(|b| b.is_ascii_digit());
                let number = digits.fold(0, |n: u64, b| n * 10 + u64::from(b - b'0'));
                let asked = sent.remove(&number).ok_or("an answer to nothing")?;
                given.took.push(now - asked);
                given.answer = answer.len();
                wanted += 1;
            }
            self.buffer.drain(..used);
        }
        given.elapsed = began.elapsed();
        Ok(given)
    }
}
