//! What a program says: held in memory up to a bound, and whole in a file while it runs.

use std::fs::File;
use std::io::{Read, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::launch::TICK;

/// Most bytes of each stream that are held in memory, for whoever reads what a program says.
pub const MAX_HELD: usize = 64 * 1024 * 1024;

/// Most bytes of each stream that are kept; what comes after is counted.
pub const MAX_WHOLE: u64 = 1024 * 1024 * 1024;

/// How long whoever is left may go on talking after a run has ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// One stream's bytes: the beginning, and how many there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first [`MAX_HELD`] bytes at most.
    pub bytes: Vec<u8>,
    /// How many were written.
    pub total: u64,
    /// Where the first [`MAX_WHOLE`] of them are while the call lasts, where they are more than is held.
    pub file: Option<PathBuf>,
}

impl Captured {
    /// What was held, as text; bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Whether something was written that is not held.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.total > self.bytes.len() as u64
    }
}

/// Reads a stream to its end, or until it is silent and the program is `over`. What it says stands in `file` as it comes.
pub(crate) fn capture(mut stream: impl Read + AsFd, over: &AtomicBool, file: &Path) -> Captured {
    let mut captured = Captured::default();
    // Without the file everything still works, but for what is more than is held.
    let mut whole = File::create_new(file).ok();
    let mut buffer = vec![0; 64 * 1024];
    let mut ended: Option<Instant> = None;
    loop {
        let was_over = over.load(Ordering::Relaxed);
        // Somebody who got away may go on talking for ever.
        if was_over && ended.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            break;
        }
        match poll(&mut [PollFd::new(&stream, PollFlags::IN)], Some(&TICK)) {
            Ok(0) if was_over => break,
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => break,
        }
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                let said = &buffer[..n];
                let room = MAX_HELD.saturating_sub(captured.bytes.len());
                captured.bytes.extend_from_slice(&said[..n.min(room)]);
                let room = usize::try_from(MAX_WHOLE.saturating_sub(captured.total)).unwrap_or(usize::MAX);
                // A full disk ends what is kept, not the run.
                if whole.as_mut().is_some_and(|whole| whole.write_all(&said[..n.min(room)]).is_err()) {
                    whole = None;
                }
                captured.total += n as u64;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    captured.file = whole.filter(|_| captured.is_cut()).map(|_| file.to_owned());
    captured
}
