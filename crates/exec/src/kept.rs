//! What runs said, kept whole: compressed, by the digest of what is kept, without secrets, until it expires.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::sync::Arc;

use contract::{Code, Digest, Fault, Principal};
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::handle::Handle;
use crate::run::{Captured, Exit, Level, Ran};
use crate::state::{StateDir, broken};

/// The handles' kind.
const KIND: &str = "run";

/// How much is looked at for secrets at a time. What belongs together is longer only by mistake.
const WINDOW: usize = 1024 * 1024;

/// The longest line that is looked at whole.
const LINE: usize = 32 * 1024 * 1024;

/// What begins and ends a block of lines that is one secret.
const BLOCK: (&[u8], &[u8]) = (b"-----BEGIN ", b"-----END ");

/// Takes secrets out of bytes.
pub type Clean = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// One run, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptRun {
    /// The command line.
    pub line: Vec<String>,
    /// How it ended.
    pub exit: Exit,
    /// How long it took, in milliseconds.
    pub duration: u64,
    /// How far it was confined.
    pub confinement: Level,
    /// When it ended.
    pub at: String,
    /// Its standard output.
    pub stdout: KeptStream,
    /// Its standard error.
    pub stderr: KeptStream,
}

/// One stream of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptStream {
    /// Of what is kept; none where nothing was said.
    pub digest: Option<Digest>,
    /// Bytes that are kept.
    pub bytes: u64,
    /// Lines that are kept.
    pub lines: u64,
    /// Bytes that were said: more than are kept where a run says more than is kept of any.
    pub said: u64,
}

impl KeptRun {
    /// What is known before its output is kept.
    #[must_use]
    pub(crate) fn of(ran: &Ran) -> Self {
        Self {
            line: ran.line.clone(),
            exit: ran.exit,
            duration: u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX),
            confinement: ran.level,
            at: format!("{:.3}", Timestamp::now()),
            stdout: KeptStream::default(),
            stderr: KeptStream::default(),
        }
    }
}

impl StateDir {
    /// Keeps what a run said for `owner`, under the handle that is given back.
    pub(crate) fn keep_run(
        &self,
        run: &KeptRun,
        ran: &Ran,
        owner: &Principal,
        clean: &Clean,
    ) -> Result<Handle, Fault> {
        let words = run.line.iter().map(|word| String::from_utf8_lossy(&clean(word.as_bytes())).into_owned());
        let run = KeptRun {
            line: words.collect(),
            stdout: self.keep_captured(&ran.stdout, clean)?,
            stderr: self.keep_captured(&ran.stderr, clean)?,
            ..run.clone()
        };
        self.keep_handle(KIND, owner, &run)
    }

    fn keep_captured(&self, captured: &Captured, clean: &Clean) -> Result<KeptStream, Fault> {
        let kept = match &captured.file {
            Some(file) => File::open(file).and_then(|file| self.keep_stream(BufReader::new(file), clean)),
            None => self.keep_stream(&captured.bytes[..], clean),
        };
        let kept = kept.map_err(|e| broken("kept output", &e))?;
        Ok(KeptStream { said: captured.total, ..kept })
    }

    /// Keeps what `stream` says. What is kept stands under its own digest, so the same is kept once.
    pub(crate) fn keep_stream(&self, mut stream: impl BufRead, clean: &Clean) -> std::io::Result<KeptStream> {
        if stream.fill_buf()?.is_empty() {
            return Ok(KeptStream::default());
        }
        let folder = self.path().join("outputs");
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let name = Handle::random("part").map_err(|_| std::io::ErrorKind::Other)?;
        let part = folder.join(format!(".{name}"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        let mut written = GzEncoder::new(file, Compression::fast());
        let mut hash = contract::digest::Hasher::default();
        let (mut bytes, mut lines, mut last) = (0, 0, b'\n');
        let mut windows = Windows { stream, rest: Vec::new() };
        while let Some(window) = windows.next()? {
            let window = clean(&window);
            hash.update(&window);
            written.write_all(&window)?;
            bytes += window.len() as u64;
            lines += memchr::memchr_iter(b'\n', &window).count() as u64;
            last = window.last().copied().unwrap_or(last);
        }
        written.finish()?;
        let digest = hash.finish();
        std::fs::rename(&part, self.output_path(&digest)?)?;
        Ok(KeptStream { digest: Some(digest), bytes, lines: lines + u64::from(last != b'\n'), said: bytes })
    }

    fn output_path(&self, digest: &Digest) -> std::io::Result<std::path::PathBuf> {
        let hex = digest.to_string();
        let folder = self.path().join("outputs").join(&hex[..2]);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(folder.join(format!("{}.gz", &hex[2..])))
    }

    /// A run of `owner`. One that expired, is unknown or belongs to someone else does not exist.
    pub fn run(&self, handle: &str, owner: &Principal) -> Result<KeptRun, Fault> {
        self.handle(KIND, handle, owner).map_err(|fault: Fault| match fault.code {
            Code::NotFound => {
                Fault::new(Code::NotFound, format!("there is no run {handle:?}: it expired, or never was"))
                    .suggest("Run the tool again: its result names the new run.")
            }
            _ => fault,
        })
    }

    /// The runs of `owner`, the latest first, `most` at most.
    #[must_use]
    pub fn runs(&self, owner: &Principal, most: usize) -> Vec<(String, KeptRun)> {
        let mut runs: Vec<(String, KeptRun)> = self.handles(KIND, owner);
        runs.sort_by(|a, b| b.1.at.cmp(&a.1.at));
        runs.truncate(most);
        runs
    }

    /// What a stream said, from its beginning.
    pub fn output(&self, stream: &KeptStream) -> Result<Box<dyn BufRead + Send>, Fault> {
        let Some(digest) = &stream.digest else { return Ok(Box::new(std::io::empty())) };
        let opened = self.output_path(digest).and_then(File::open);
        let file = opened.map_err(|_| {
            Fault::new(Code::NotFound, "what the run said has expired").suggest("Run the tool again.")
        })?;
        Ok(Box::new(BufReader::new(GzDecoder::new(BufReader::new(file)))))
    }
}

/// A stream in parts that end with lines, and within no block that is one secret.
struct Windows<R> {
    stream: R,
    rest: Vec<u8>,
}

impl<R: Read> Windows<R> {
    fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut window = std::mem::take(&mut self.rest);
        let wanted = WINDOW.saturating_sub(window.len()) as u64;
        self.stream.by_ref().take(wanted).read_to_end(&mut window)?;
        if window.is_empty() {
            return Ok(None);
        }
        // A line that goes on is read on: cut in the middle, what is secret in it would not be known for it.
        while window.len() >= WINDOW && window.len() < LINE && !window.contains(&b'\n') {
            if self.stream.by_ref().take(WINDOW as u64).read_to_end(&mut window)? == 0 {
                break;
            }
        }
        if window.len() >= WINDOW {
            let line = memchr::memrchr(b'\n', &window).map_or(window.len(), |end| end + 1);
            let begun = memchr::memmem::rfind(&window[..line], BLOCK.0);
            let open =
                begun.filter(|at| *at > 0 && memchr::memmem::find(&window[*at..line], BLOCK.1).is_none());
            self.rest = window.split_off(open.unwrap_or(line));
        }
        Ok(Some(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(state: &StateDir, said: &[u8], clean: &Clean) -> (KeptStream, Vec<u8>) {
        let stream = state.keep_stream(said, clean).unwrap();
        let mut back = Vec::new();
        state.output(&stream).unwrap().read_to_end(&mut back).unwrap();
        (stream, back)
    }

    #[test]
    fn what_was_said_is_read_back_whole_whatever_its_size() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state")).unwrap();
        let clean: Clean = Arc::new(<[u8]>::to_vec);
        for said in [
            String::new(),
            "one".into(),
            "one\ntwo\n".into(),
            "x".repeat(3 * WINDOW + 7),
            "line\n".repeat(700_000),
        ] {
            let (stream, back) = kept(&state, said.as_bytes(), &clean);
            assert_eq!(back, said.as_bytes());
            assert_eq!((stream.bytes, stream.lines), (said.len() as u64, said.lines().count() as u64));
        }
    }

    #[test]
    fn a_secret_of_several_lines_is_looked_at_whole() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state")).unwrap();
        let clean: Clean = Arc::new(|bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            match (text.find("-----BEGIN KEY-----"), text.find("-----END KEY-----")) {
                (Some(begin), Some(end)) => {
                    format!("{}[key]{}", &text[..begin], &text[end + 17..]).into_bytes()
                }
                _ => bytes.to_vec(),
            }
        });
        let key = format!("-----BEGIN KEY-----\n{}-----END KEY-----\n", "secret\n".repeat(200));
        let said = format!("{}{key}after\n", "x".repeat(99).repeat(WINDOW / 99 - 5) + "\n");
        let (_, back) = kept(&state, said.as_bytes(), &clean);
        let back = String::from_utf8(back).unwrap();
        assert!(!back.contains("secret") && back.ends_with("[key]\nafter\n"), "{}", &back[back.len() - 80..]);
    }
}
