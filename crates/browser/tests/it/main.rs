//! What must hold of a real Chromium in a world of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests look at the machine from outside, and say what they skip"
)]

mod pages;
mod pools;
mod servers;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exec::StateDir;
use exec::address::Reach;
use exec::run::{Launcher, Level};
use gatewright_browser::{Given, Options, Pages, Pool, Served, Tab, Window, find};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Says loudly that a part is not tested on this machine; `cargo xtask test` counts these lines.
fn skip(part: &str) {
    println!("SKIPPED: {part}");
}

/// A pool and its state.
struct House {
    pool: Arc<Pool>,
    _scratch: TempDir,
}

impl House {
    /// Where this machine has a browser and makes worlds; else that is said loudly.
    fn possible() -> Option<Self> {
        Self::with(Options::default())
    }

    fn with(options: Options) -> Option<Self> {
        let scratch = tempfile::tempdir().unwrap();
        let state = StateDir::at(scratch.path().canonicalize().unwrap().join("state")).unwrap();
        let launcher = Launcher::at(env!("CARGO_BIN_EXE_gatewright-browser-launch").into());
        let offer = launcher.offer(&state.nowhere().unwrap()).clone();
        if offer.level < Level::Full {
            skip(&format!("browsers in a world of their own ({})", offer.missing.join("; ")));
            return None;
        }
        if let Err(fault) = find(None) {
            skip(&format!("browsers ({})", fault.message));
            return None;
        }
        let pool = Pool::new(Arc::new(launcher), state, options);
        Some(Self { pool, _scratch: scratch })
    }

    fn tab(&self, reach: &Reach, pages: Option<Pages>) -> Tab {
        self.tab_in(reach, Window::default(), pages)
    }

    fn tab_in(&self, reach: &Reach, window: Window, pages: Option<Pages>) -> Tab {
        let bounds = (Instant::now() + Duration::from_mins(1), &CancellationToken::new());
        self.pool.tab("test", reach, (window, Given { pages, ..Given::default() }), bounds).unwrap()
    }
}

/// Pages by their paths, of any host.
fn site(files: &'static [(&'static str, &'static str)]) -> Pages {
    Arc::new(move |url| {
        let found = files.iter().find(|(path, _)| *path == url.path());
        let mime = match Path::new(url.path()).extension().and_then(|e| e.to_str()) {
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            _ => "text/html; charset=utf-8",
        };
        Served {
            status: if found.is_some() { 200 } else { 404 },
            mime: mime.to_owned(),
            headers: Vec::new(),
            body: found.map_or("not here", |(_, text)| text).as_bytes().to_vec(),
        }
    })
}

const SOON: Duration = Duration::from_secs(30);
