//! The socket between whoever wants a program run and the launcher: one specification in, reports out.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead as _, BufReader, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::spec::{Ground, Report, Spec};
use crate::{Done, Failure};

/// Largest specification, in bytes.
const MAX_SPEC: u32 = 16 * 1024 * 1024;

/// Why whoever started a launcher cannot talk with it.
#[derive(Debug, thiserror::Error)]
pub enum TalkError {
    /// The socket failed.
    #[error("the launcher cannot be talked with: {0}")]
    Io(#[from] std::io::Error),
    /// What is written or read is not what it should be.
    #[error("the launcher said what is not understood: {0}")]
    Json(#[from] serde_json::Error),
    /// It is larger than any launcher reads.
    #[error("the specification is larger than {MAX_SPEC} bytes")]
    TooLarge,
}

/// Tells a launcher what to make its world of. It waits then, until it is told what to start or its socket is closed.
pub fn say_ground(socket: &mut UnixStream, ground: &Ground) -> Result<(), TalkError> {
    say(socket, ground)
}

/// Tells a launcher that knows its ground what to start.
pub fn say_spec(socket: &mut UnixStream, spec: &Spec) -> Result<(), TalkError> {
    say(socket, spec)
}

fn say(socket: &mut UnixStream, message: &impl Serialize) -> Result<(), TalkError> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).ok().filter(|n| *n <= MAX_SPEC).ok_or(TalkError::TooLarge)?;
    socket.write_all(&length.to_le_bytes())?;
    socket.write_all(&text)?;
    Ok(())
}

/// What a launcher says, to its end.
#[derive(Debug)]
pub struct Said {
    socket: UnixStream,
    heard: Vec<u8>,
    given: VecDeque<OwnedFd>,
}

impl Said {
    /// Listens on `socket`.
    #[must_use]
    pub const fn new(socket: UnixStream) -> Self {
        Self { socket, heard: Vec::new(), given: VecDeque::new() }
    }

    /// The next report; `None` when the launcher and its world are gone.
    pub fn report(&mut self) -> Result<Option<Report>, TalkError> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            if self.hear()? == 0 {
                return Ok(None);
            }
        }
    }

    /// The socket that came with the last [`Report::Door`] or [`Report::Channel`], once.
    pub fn take_given(&mut self) -> Option<OwnedFd> {
        self.given.pop_front()
    }

    /// Hangs up: a launcher that outlives whoever asked ends the run then.
    pub fn hang_up(&self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }

    fn hear(&mut self) -> Result<usize, TalkError> {
        let mut buffer = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut with = RecvAncillaryBuffer::new(&mut space);
        let read = loop {
            let mut parts = [IoSliceMut::new(&mut buffer)];
            match recvmsg(&self.socket, &mut parts, &mut with, RecvFlags::CMSG_CLOEXEC) {
                Ok(message) => break message.bytes,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(std::io::Error::from(error).into()),
            }
        };
        for message in with.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                self.given.extend(fds);
            }
        }
        self.heard.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

impl AsFd for Said {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The launcher's end.
pub(crate) struct Talk(UnixStream);

impl Talk {
    /// Takes standard input for the socket and puts nothing in its place.
    pub(crate) fn take_stdin() -> std::io::Result<Self> {
        let stdin = std::io::stdin();
        let socket: OwnedFd = stdin.as_fd().try_clone_to_owned()?;
        fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(&null)?;
        Ok(Self(UnixStream::from(socket)))
    }

    /// What is said next.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self) -> Done<T> {
        let none = || Failure { doing: "reading what to start".into(), why: "nothing was said".into() };
        self.hear_or_end()?.ok_or_else(none)
    }

    /// What is said next, unless the other side has hung up.
    pub(crate) fn hear_or_end<T: DeserializeOwned>(&mut self) -> Done<Option<T>> {
        let mut length = [0; 4];
        let read = |e: std::io::Error| Failure { doing: "reading what to start".into(), why: e.to_string() };
        match self.0.read_exact(&mut length) {
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other.map_err(read)?,
        }
        let length = u32::from_le_bytes(length);
        if length > MAX_SPEC {
            return Err(Failure { doing: "reading what to start".into(), why: "it is too large".into() });
        }
        let mut text = vec![0; length as usize];
        self.0.read_exact(&mut text).map_err(read)?;
        serde_json::from_slice(&text).map(Some).map_err(Failure::doing("reading what to start"))
    }

    /// Gives a socket away, with the report of it.
    pub(crate) fn give(&mut self, report: &Report, socket: &OwnedFd) -> Done<()> {
        let mut line = serde_json::to_vec(report).map_err(Failure::doing("giving a socket away"))?;
        line.push(b'\n');
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut with = SendAncillaryBuffer::new(&mut space);
        let fds = [socket.as_fd()];
        with.push(SendAncillaryMessage::ScmRights(&fds));
        sendmsg(&self.0, &[IoSlice::new(&line)], &mut with, SendFlags::empty())
            .map(drop)
            .map_err(Failure::doing("giving a socket away"))
    }

    pub(crate) fn say(&mut self, report: &Report) {
        if let Ok(mut line) = serde_json::to_vec(report) {
            line.push(b'\n');
            // Whoever listened may be gone, and so will this be.
            let _ = self.0.write_all(&line);
        }
    }
}

impl AsFd for Talk {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Lets standard output and error go: they are the program's, whose end is then the end of what is said.
pub(crate) fn let_streams_go() -> Done<()> {
    let let_go = || -> rustix::io::Result<()> {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)
    };
    let_go().map_err(Failure::doing("letting the program's streams go"))
}

/// Tells `init` something over the pipe that closes when the program is executed.
pub(crate) fn tell_init(pipe: impl AsFd, report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let _ = rustix::io::write(pipe, &line);
    }
}

/// Whether nobody holds the other end of a pipe any more.
pub(crate) fn is_hung_up(pipe: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    loop {
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&now)) {
            Ok(0) => return false,
            Err(rustix::io::Errno::INTR) => {}
            // Nothing is ever said over it.
            Ok(_) | Err(_) => return true,
        }
    }
}

/// Everything that is told over the pipe, until it closes.
pub(crate) fn heard(pipe: &OwnedFd) -> Vec<Report> {
    let Ok(copy) = pipe.try_clone() else { return Vec::new() };
    let lines = BufReader::new(File::from(copy)).lines();
    lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()).collect()
}
